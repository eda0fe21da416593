/* segment_reduce along the first dim of few contiguous elements. */
#include "native.h"

#include <math.h>

enum { LARGEST = 32 << 10 };
enum { SUM, MEAN, PROD, MAX, MIN };

typedef struct {
    const int64_t *given;       /* lengths, or offsets with the end of the last */
    int64_t count, rows, inner;
    bool offsets;
    int how;
    double start;               /* of every segment */
    bool given_start;
} Segments;

static int read_reduction(PyObject *name) {
    static const char *const names[] = {"sum", "mean", "prod", "max", "min"};
    for (int i = 0; PyUnicode_Check(name) && i < 5; i++) {
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* Where segment `i` begins, if the one before it ended at `end`. */
static int64_t begin_of(const Segments *s, int64_t i, int64_t end) {
    return s->offsets ? s->given[i] : end;
}

static int64_t end_of(const Segments *s, int64_t i, int64_t begin) {
    return s->offsets ? s->given[i + 1] : begin + s->given[i];
}

/* Whether the segments follow each other within the rows, all of them where these are lengths. */
static bool covers(const Segments *s, bool all) {
    int64_t end = 0;
    for (int64_t i = 0; i < s->count; i++) {
        int64_t begin = begin_of(s, i, end), next;
        if ((i > 0 && begin != end) || begin < 0 || begin > s->rows
            || (!s->offsets && s->given[i] > s->rows)) {
            return false;
        }
        next = end_of(s, i, begin);
        if (next < begin || next > s->rows) {
            return false;
        }
        end = next;
    }
    return !all || end == s->rows;
}

/* lengths, indices, offsets, axis, unsafe, initial */
static bool read_segments(Segments *s, PyObject *const *args) {
    static const double starts[] = {0, 0, 1, -INFINITY, INFINITY};
    int64_t axis;
    s->offsets = args[2] != Py_None;
    const GwTensor *given = gw_plain_tensor(s->offsets ? args[2] : args[0]);
    if (given == NULL || given->dtype != GW_INT64 || given->ndim != 1
        || (given->flags & GW_CONTIGUOUS) == 0 || given->numel < s->offsets
        || args[1] != Py_None || !gw_plain_int(args[3], &axis) || axis != 0) {
        return false;
    }
    s->given = (const int64_t *)given->data;
    s->count = given->numel - s->offsets;
    s->given_start = args[5] != Py_None;
    s->start = starts[s->how];
    return (!s->given_start || gw_plain_number(args[5], &s->start))
           && covers(s, !s->offsets && args[4] == Py_False);
}

static inline double joined(int how, double total, double value) {
    switch (how) {
        case PROD: return total * value;
        case MAX: return value > total || value != value ? value : total;
        case MIN: return value < total || value != value ? value : total;
        default: return total + value;
    }
}

#define REDUCE(T, name)                                                                      \
    static void name(const Segments *s, const T *data, T *out) {                             \
        int64_t end = 0;                                                                     \
        for (int64_t i = 0; i < s->count; i++) {                                             \
            int64_t begin = begin_of(s, i, end);                                             \
            end = end_of(s, i, begin);                                                       \
            for (int64_t k = 0; k < s->inner; k++) {                                         \
                double total = s->start;                                                     \
                for (int64_t row = begin; row < end; row++) {                                \
                    total = joined(s->how, total, (double)data[row * s->inner + k]);         \
                }                                                                            \
                if (s->how == MEAN && end > begin) {                                         \
                    total /= (double)(end - begin);                                          \
                } else if (s->how == MEAN && !s->given_start) {                              \
                    total = NAN;                                                             \
                }                                                                            \
                *out++ = (T)total;                                                           \
            }                                                                                \
        }                                                                                    \
    }

REDUCE(float, reduce_float)
REDUCE(double, reduce_double)

/* data, reduce, lengths, indices, offsets, axis, unsafe, initial. What has no rule here is left to
 * the parts where it is recorded. */
GW_KERNEL(segment_reduce) {
    const GwTensor *data = gw_plain_tensor(args[0]);
    bool recording = !gw_grad_enabled() && !gw_user_disabled_grad();
    Segments s = {.how = read_reduction(args[1]), .inner = 1};
    if (s.how < 0 || (recording && s.how > MEAN) || data == NULL || data->ndim == 0
        || (data->dtype != GW_FLOAT32 && data->dtype != GW_FLOAT64)
        || (data->flags & GW_CONTIGUOUS) == 0 || data->numel > LARGEST) {
        return NULL;
    }
    int64_t sizes[GW_MAX_DIMS];
    memcpy(sizes, data->sizes, (size_t)data->ndim * sizeof(int64_t));
    s.rows = sizes[0];
    for (int d = 1; d < data->ndim; d++) {
        s.inner *= sizes[d];
    }
    if (!read_segments(&s, args + 2)) {
        return NULL;
    }
    sizes[0] = s.count;
    GwTensor *out = gw_tensor_empty(cls, data->dtype, data->ndim, sizes, NULL);
    if (out != NULL && data->dtype == GW_FLOAT32) {
        reduce_float(&s, (const float *)data->data, (float *)out->data);
    } else if (out != NULL) {
        reduce_double(&s, (const double *)data->data, (double *)out->data);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_segment_kernels[] = {
    {"segment_reduce", 8, segment_reduce},
    {NULL, 0, NULL},
};
