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

/* A contiguous tensor of few real numbers; else NULL. */
static const GwTensor *few_reals(PyObject *o) {
    const GwTensor *t = gw_plain_tensor(o);
    bool plain = t != NULL && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64)
                 && (t->flags & GW_CONTIGUOUS) != 0 && t->numel <= LARGEST;
    return plain ? t : NULL;
}

/* data, reduce, lengths, indices, offsets, axis, unsafe, initial; and the sizes of the result. NULL
 * where it is not computed here. */
static const GwTensor *begin(Segments *s, PyObject *const *args, int64_t *sizes) {
    const GwTensor *data = few_reals(args[0]);
    int axis;
    s->how = read_reduction(args[1]);
    if (s->how < 0 || data == NULL || !gw_plain_dim(args[5], data->ndim, &axis)) {
        return NULL;
    }
    memcpy(sizes, data->sizes, (size_t)data->ndim * sizeof(int64_t));
    s->outer = s->inner = 1;
    s->rows = sizes[axis];
    for (int d = 0; d < data->ndim; d++) {
        s->outer *= d < axis ? sizes[d] : 1;
        s->inner *= d > axis ? sizes[d] : 1;
    }
    if (s->outer > MOST_BOUNDS || !read_segments(s, data, axis, args + 2)) {
        return NULL;
    }
    sizes[axis] = s->count;
    return data;
}

GW_KERNEL(segment_reduce) {
    int64_t sizes[GW_MAX_DIMS];
    Segments s;
    const GwTensor *data = begin(&s, args, sizes);
    if (data == NULL) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, data->dtype, data->ndim, sizes, NULL);
    if (out != NULL && data->dtype == GW_FLOAT32) {
        reduce_float(&s, (const float *)data->data, (float *)out->data);
    } else if (out != NULL) {
        reduce_double(&s, (const double *)data->data, (double *)out->data);
    }
    return (PyObject *)out;
}

/* ---- the gradient ---- */

/* What a product has as its derivative by the factor at `skipped`, all `step` apart. */
#define OTHERS(T, name)                                                                      \
    static double name(const T *data, int64_t begin, int64_t end, int64_t step,              \
                       int64_t skipped, double product) {                                    \
        for (int64_t row = begin; row < end; row++) {                                        \
            product *= row == skipped ? 1 : (double)data[row * step];                        \
        }                                                                                    \
        return product;                                                                      \
    }

OTHERS(float, others_float)
OTHERS(double, others_double)

/* Whether an element is its segment's extremum: a NaN is, where there is one. */
static inline bool is_extremum(double value, double result) {
    return value == result || (value != value && result != result);
}

/* One column of one segment: its elements and their gradients are `inner` apart. */
#define SLOPE(T, name, others)                                                               \
    static void name(const Segments *s, const T *data, T *to, int64_t begin, int64_t end,    \
                     double grad, double result) {                                           \
        int64_t ties = 0, step = s->inner;                                                   \
        for (int64_t row = begin; s->how >= MAX && row < end; row++) {                       \
            ties += is_extremum((double)data[row * step], result);                           \
        }                                                                                    \
        for (int64_t row = begin; row < end; row++) {                                        \
            double value = (double)data[row * step], slope = grad;                           \
            if (s->how == MEAN) {                                                            \
                slope /= (double)(end - begin);                                              \
            } else if (s->how == PROD) {                                                     \
                slope *= others(data, begin, end, step, row, s->start);                      \
            } else if (s->how >= MAX) {                                                      \
                slope = is_extremum(value, result) ? grad / (double)ties : 0;                \
            }                                                                                \
            to[row * step] = (T)slope;                                                       \
        }                                                                                    \
    }

SLOPE(float, slope_float, others_float)
SLOPE(double, slope_double, others_double)

#define SLOPES(T, name, slope)                                                               \
    static void name(const Segments *s, const T *data, const T *grad, const T *result, T *to) {  \
        for (int64_t i = 0; i < s->outer * s->count; i++) {                                  \
            int64_t plane = i / s->count * s->rows * s->inner;                               \
            for (int64_t k = 0; k < s->inner; k++) {                                         \
                int64_t at = i * s->inner + k;                                               \
                slope(s, data + plane + k, to + plane + k, s->begins[i], s->ends[i],         \
                      (double)grad[at], (double)result[at]);                                 \
            }                                                                                \
        }                                                                                    \
    }

SLOPES(float, slopes_float, slope_float)
SLOPES(double, slopes_double, slope_double)

/* What segment_reduce takes, then the gradient of the result and the result. Elements in no segment
 * get zeros, those of equal extrema equal parts. */
GW_KERNEL(segment_reduce_backward) {
    int64_t sizes[GW_MAX_DIMS];
    Segments s;
    const GwTensor *data = begin(&s, args, sizes), *given[2];
    for (int i = 0; i < 2; i++) {
        given[i] = data == NULL ? NULL : few_reals(args[8 + i]);
        if (given[i] == NULL || given[i]->dtype != data->dtype || given[i]->ndim != data->ndim
            || memcmp(given[i]->sizes, sizes, (size_t)data->ndim * sizeof *sizes) != 0) {
            return NULL;
        }
    }
    GwTensor *out = gw_tensor_empty(cls, data->dtype, data->ndim, data->sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    memset(out->data, 0, (size_t)(out->numel * gw_itemsize(out)));
    if (data->dtype == GW_FLOAT32) {
        slopes_float(&s, (const float *)data->data, (const float *)given[0]->data,
                     (const float *)given[1]->data, (float *)out->data);
    } else {
        slopes_double(&s, (const double *)data->data, (const double *)given[0]->data,
                      (const double *)given[1]->data, (double *)out->data);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_segment_kernels[] = {
    {"segment_reduce", 8, segment_reduce},
    {"segment_reduce_backward", 10, segment_reduce_backward},
    {NULL, 0, NULL},
};
