/* segment_reduce of few contiguous elements. */
#include "native.h"

#include <math.h>

enum { LARGEST = 32 << 10, MOST_BOUNDS = 1024 };
enum { SUM, MEAN, PROD, MAX, MIN };

/* Data [outer, rows, inner]; for each of `outer` a row of bounds. */
typedef struct {
    int64_t outer, rows, inner, count;
    int64_t begins[MOST_BOUNDS], ends[MOST_BOUNDS];     /* [outer, count] */
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

/* Reads the bounds of one row of segments, from lengths or from offsets with the end of the last:
 * they have to follow each other within the rows, in all of them where `all`. */
static bool read_bounds(Segments *s, const int64_t *given, bool offsets, bool all, int64_t row) {
    int64_t *begins = s->begins + row * s->count, *ends = s->ends + row * s->count, end = 0;
    for (int64_t i = 0; i < s->count; i++) {
        int64_t begin = offsets && i == 0 ? given[0] : end, next = given[i + offsets];
        if (begin < 0 || begin > s->rows || next < 0 || next > s->rows) {
            return false;
        }
        end = offsets ? next : begin + next;
        if (end < begin || end > s->rows) {
            return false;
        }
        begins[i] = begin;
        ends[i] = end;
    }
    return !all || end == s->rows;
}

/* The lengths or offsets [outer, count], or [outer, count + 1], of segments along an axis. */
static const GwTensor *plain_bounds(PyObject *o, const GwTensor *data, int axis) {
    const GwTensor *t = gw_plain_tensor(o);
    bool plain = t != NULL && t->dtype == GW_INT64 && t->ndim == axis + 1
                 && (t->flags & GW_CONTIGUOUS) != 0
                 && memcmp(t->sizes, data->sizes, (size_t)axis * sizeof *t->sizes) == 0;
    return plain ? t : NULL;
}

/* lengths, indices, offsets, axis, unsafe, initial */
static bool read_segments(Segments *s, const GwTensor *data, int axis, PyObject *const *args) {
    static const double starts[] = {0, 0, 1, -INFINITY, INFINITY};
    bool offsets = args[2] != Py_None, all = !offsets && args[4] == Py_False;
    const GwTensor *given = plain_bounds(offsets ? args[2] : args[0], data, axis);
    if (given == NULL || given->sizes[axis] < offsets || given->numel > MOST_BOUNDS
        || args[1] != Py_None) {
        return false;
    }
    s->count = given->sizes[axis] - offsets;
    for (int64_t row = 0; row < s->outer; row++) {
        const int64_t *own = (const int64_t *)given->data + row * given->sizes[axis];
        if (!read_bounds(s, own, offsets, all, row)) {
            return false;
        }
    }
    s->given_start = args[5] != Py_None;
    s->start = starts[s->how];
    return !s->given_start || gw_plain_number(args[5], &s->start);
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
        for (int64_t i = 0; i < s->outer * s->count; i++) {                                  \
            const T *rows = data + i / s->count * s->rows * s->inner;                        \
            int64_t begin = s->begins[i], end = s->ends[i];                                  \
            for (int64_t k = 0; k < s->inner; k++) {                                         \
                double total = s->start;                                                     \
                for (int64_t row = begin; row < end; row++) {                                \
                    total = joined(s->how, total, (double)rows[row * s->inner + k]);         \
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
    Segments s;
    int axis;
    s.how = read_reduction(args[1]);
    if (s.how < 0 || data == NULL || (data->dtype != GW_FLOAT32 && data->dtype != GW_FLOAT64)
        || (data->flags & GW_CONTIGUOUS) == 0 || data->numel > LARGEST
        || !gw_plain_dim(args[5], data->ndim, &axis) || (recording && (s.how > MEAN || axis > 0))) {
        return NULL;
    }
    int64_t sizes[GW_MAX_DIMS];
    memcpy(sizes, data->sizes, (size_t)data->ndim * sizeof(int64_t));
    s.outer = s.inner = 1;
    s.rows = sizes[axis];
    for (int d = 0; d < data->ndim; d++) {
        s.outer *= d < axis ? sizes[d] : 1;
        s.inner *= d > axis ? sizes[d] : 1;
    }
    if (s.outer > MOST_BOUNDS || !read_segments(&s, data, axis, args + 2)) {
        return NULL;
    }
    sizes[axis] = s.count;
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
