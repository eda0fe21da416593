/* The lower median of all elements of small tensors. */
#include "sort_orders.h"

#include <math.h>

enum { MOST = 1024 };       /* elements */

/* Hoare's selection: the element that comes `rank`-th in order, of numbers none of which is NaN. */
#define SELECT(name, TYPE)                                                      \
    static TYPE name(TYPE *x, int64_t n, int64_t rank) {                        \
        int64_t low = 0, high = n - 1;                                          \
        while (low < high) {                                                    \
            TYPE pivot = x[low + (high - low) / 2];                             \
            int64_t i = low, j = high;                                          \
            while (i <= j) {                                                    \
                while (x[i] < pivot) {                                          \
                    i++;                                                        \
                }                                                               \
                while (pivot < x[j]) {                                          \
                    j--;                                                        \
                }                                                               \
                if (i <= j) {                                                   \
                    TYPE moved = x[i];                                          \
                    x[i++] = x[j];                                              \
                    x[j--] = moved;                                             \
                }                                                               \
            }                                                                   \
            low = rank > j ? (rank < i ? rank : i) : low;                       \
            high = rank < i ? (rank > j ? rank : j) : high;                     \
        }                                                                       \
        return x[rank];                                                         \
    }

SELECT(select_f32, float)
SELECT(select_f64, double)
SELECT(select_i32, int32_t)
SELECT(select_i64, int64_t)

/* The numbers in front, in their order; how many there are. */
#define COMPRESS(TYPE)                          \
    for (int64_t i = 0; i < n; i++) {           \
        ((TYPE *)x)[kept] = ((TYPE *)x)[i];     \
        kept += ((TYPE *)x)[i] == ((TYPE *)x)[i]; \
    }

/* Sets the median of `n` elements in `x`, of whose NaNs any is the median unless they are skipped.*/
#define MEDIAN(TYPE, select, missing)                                                   \
    do {                                                                                \
        int64_t kept = 0;                                                               \
        COMPRESS(TYPE)                                                                  \
        bool none = kept == 0 || (kept < n && !skip);                                   \
        *(TYPE *)to = none ? (TYPE)(missing) : select((TYPE *)x, kept, (kept - 1) / 2); \
    } while (0)

static void write_median(int dtype, void *x, int64_t n, bool skip, void *to) {
    switch (dtype) {
        case GW_FLOAT32: MEDIAN(float, select_f32, NAN); break;
        case GW_FLOAT64: MEDIAN(double, select_f64, (double)NAN); break;
        case GW_INT32: MEDIAN(int32_t, select_i32, 0); break;
        default: MEDIAN(int64_t, select_i64, 0);
    }
}

GwTensor *gw_median_of_few(PyTypeObject *cls, const GwTensor *t, bool skip_nan) {
    if (t->numel > MOST || (t->dtype != GW_FLOAT32 && t->dtype != GW_FLOAT64
                            && t->dtype != GW_INT32 && t->dtype != GW_INT64)) {
        return NULL;
    }
    int64_t room[MOST];
    GwTensor *out = gw_tensor_empty(cls, t->dtype, 0, NULL, NULL);
    if (out != NULL) {
        memcpy(room, t->data, (size_t)(t->numel * gw_itemsize(t)));
        write_median(t->dtype, room, t->numel, skip_nan, out->data);
    }
    return out;
}
