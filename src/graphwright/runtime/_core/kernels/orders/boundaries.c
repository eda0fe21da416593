/* Where values belong in sorted rows.
 *
 * Several values are searched for at once, each step without a branch: the steps of one wait for
 * memory while those of the others go on, and nothing is mispredicted.
 */
#include "pool.h"
#include "searching.h"

enum { AT_ONCE = 16, PART = 1024 };

typedef struct {
    const char *rows, *values;
    int64_t length, each, numel;    /* of a row; values for each row; of the values */
    char *out;
    bool right, narrow;
} Places;

#define SEARCH(T, name)                                                                    \
    /* How many elements of the row lie before each of `count` values. */                  \
    static inline __attribute__((always_inline)) void find_##name(                         \
        const T *row, int64_t n, const T *x, int64_t *low, int64_t count, bool right) {    \
        for (int64_t j = 0; j < count; j++) {                                              \
            low[j] = 0;                                                                    \
        }                                                                                  \
        while (n > 0) {                                                                    \
            int64_t half = (n + 1) / 2;                                                    \
            for (int64_t j = 0; j < count; j++) {                                          \
                T other = row[low[j] + half - 1];                                          \
                bool before = right ? !(other > x[j]) : !(other >= x[j]);                  \
                low[j] += before ? half : 0;                                               \
            }                                                                              \
            n -= half;                                                                     \
        }                                                                                  \
    }                                                                                      \
    /* Parts of PART values each: [begin, end). */                                         \
    GW_VECTORISED static void places_##name(void *closure, int64_t begin, int64_t end) {   \
        const Places *p = closure;                                                         \
        int64_t last = end * PART < p->numel ? end * PART : p->numel, low[AT_ONCE];        \
        for (int64_t i = begin * PART, count; i < last; i += count) {                      \
            const T *row = (const T *)p->rows + i / p->each * p->length;                   \
            int64_t in_row = p->each - i % p->each;                                        \
            count = last - i < AT_ONCE ? last - i : AT_ONCE;                               \
            count = in_row < count ? in_row : count;                                       \
            const T *x = (const T *)p->values + i;                                         \
            if (p->right) {                                                                \
                find_##name(row, p->length, x, low, count, true);                          \
            } else {                                                                       \
                find_##name(row, p->length, x, low, count, false);                         \
            }                                                                              \
            for (int64_t j = 0; j < count; j++) {                                          \
                if (p->narrow) {                                                           \
                    ((int32_t *)p->out)[i + j] = (int32_t)low[j];                          \
                } else {                                                                   \
                    ((int64_t *)p->out)[i + j] = low[j];                                   \
                }                                                                          \
            }                                                                              \
        }                                                                                  \
    }

SEARCH(float, float)
SEARCH(double, double)
SEARCH(int32_t, int32)
SEARCH(int64_t, int64)

static gw_body body_of(int dtype) {
    switch (dtype) {
        case GW_FLOAT32: return places_float;
        case GW_FLOAT64: return places_double;
        case GW_INT32: return places_int32;
        case GW_INT64: return places_int64;
        default: return NULL;
    }
}

/* In the only row, or each row of values in its own. */
static PyObject *places(PyTypeObject *cls, PyObject *sequence, PyObject *values,
                        PyObject *narrow, bool right) {
    const GwTensor *rows = gw_plain_tensor(sequence);
    GwWanted wanted;
    gw_body body = rows == NULL ? NULL : body_of(rows->dtype);
    if (body == NULL || (rows->flags & GW_CONTIGUOUS) == 0 || rows->ndim == 0
        || !gw_read_wanted(&wanted, values, rows->dtype) || !PyBool_Check(narrow)) {
        return NULL;
    }
    const GwTensor *t = wanted.tensor;
    int ndim = t == NULL ? 0 : t->ndim, last = rows->ndim - 1;
    bool same = last == 0 || (ndim == rows->ndim && wanted.numel > 0
                && memcmp(t->sizes, rows->sizes, (size_t)last * sizeof(int64_t)) == 0);
    if (!same) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, narrow == Py_True ? GW_INT32 : GW_INT64, ndim,
                                    t == NULL ? NULL : t->sizes, NULL);
    if (out != NULL) {
        Places p = {rows->data, wanted.data, rows->sizes[last],
                    last == 0 ? wanted.numel : t->sizes[last], wanted.numel, out->data, right,
                    narrow == Py_True};
        gw_run_tasks(body, &p, (wanted.numel + PART - 1) / PART, 16 * PART);
    }
    return (PyObject *)out;
}

/* input, boundaries, out_int32, right */
GW_KERNEL(bucketize) {
    const GwTensor *boundaries = gw_plain_tensor(args[1]);
    bool plain = boundaries != NULL && boundaries->ndim == 1 && PyBool_Check(args[3]);
    return plain ? places(cls, args[1], args[0], args[2], args[3] == Py_True) : NULL;
}

/* sorted_sequence, input, out_int32, right, side, sorter */
GW_KERNEL(searchsorted) {
    bool plain = PyBool_Check(args[3]) && args[4] == Py_None && args[5] == Py_None;
    return plain ? places(cls, args[0], args[1], args[2], args[3] == Py_True) : NULL;
}

/* sequence, values, out_int32, right, sorter */
GW_KERNEL(search_positions) {
    bool plain = PyBool_Check(args[3]) && args[4] == Py_None;
    return plain ? places(cls, args[0], args[1], args[2], args[3] == Py_True) : NULL;
}

const GwKernelEntry gw_boundary_kernels[] = {
    {"bucketize", 4, bucketize},
    {"search_positions", 5, search_positions},
    {"searchsorted", 6, searchsorted},
    {NULL, 0, NULL},
};
