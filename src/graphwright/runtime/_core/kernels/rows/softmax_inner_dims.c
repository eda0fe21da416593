/* Variances and softmax along neighbouring dimensions of contiguous tensors, which
 * are read as [outer, n, inner], on all threads. How the work is cut, and so every bit of the
 * result, depends on the shape alone. */
#include "half.h"
#include "loops.h"
#include "native.h"
#include "vector_math.h"

#include <math.h>

enum {
    COLUMNS = 128,          /* neighbouring lines that are done side by side, */
    ROWS = 32,              /* of which so many elements are summed in their own precision */
    PIECE = 4096,           /* elements that are summed in their own precision */
    BLOCK = 32 << 10,       /* elements of a part of a long line */
    FEW = 8,                /* elements of lines that are done one element after the other */
    WIDENED = 2048,         /* elements of half precision that are converted at a time, */
    LEAST_WIDENED = 64,     /* of lines of at least so many */
};

typedef struct {
    const void *in;
    int dtype;
    GwLoop widen;           /* of half precision to float32, or NULL */
    const void *result;     /* whose gradient `in` is */
    void *out;
    int64_t outer, n, inner, tiles;
    double correction;
    bool root, logarithm, around_zero;
    int64_t blocks;         /* of a long line, whose */
    double *partial;        /* sums these are, [outer][blocks][2]: of elements; then of gaps to the
                             * means, and of their squares */
    const double *means;    /* [outer] */
} Lines;

typedef struct {
    int64_t at;             /* of the first element */
    int64_t result;         /* of the first line, in what has one element for each */
    int64_t columns;
} Tile;

static Tile tile_of(const Lines *l, int64_t task) {
    int64_t outer = task / l->tiles, column = task % l->tiles * COLUMNS;
    int64_t left = l->inner - column;
    return (Tile){outer * l->n * l->inner + column, outer * l->inner + column,
                  left < COLUMNS ? left : COLUMNS};
}

static double block_sum(const Lines *l, int64_t row, int which) {
    double total = 0;
    for (int64_t b = 0; b < l->blocks; b++) {
        total += l->partial[2 * (row * l->blocks + b) + which];
    }
    return total;
}

/* Pairs of bfloat16, each half of which is the upper half of a number of float32. */
typedef uint32_t Pair __attribute__((aligned(2), may_alias));

GW_VECTOR_MATH static double squares_of_pairs(const Pair *pairs, int64_t n) {
    enum { LANES = 32 };
    float low[LANES], high[LANES];
    int64_t whole = n / LANES * LANES;
    for (int j = 0; j < LANES; j++) {
        low[j] = high[j] = 0;
    }
    for (int64_t i = 0; i < whole; i += LANES) {
        for (int j = 0; j < LANES; j++) {
            float a = gw_half_float(pairs[i + j] << 16);
            float b = gw_half_float(pairs[i + j] & 0xffff0000);
            low[j] += a * a;
            high[j] += b * b;
        }
    }
    for (int64_t i = whole; i < n; i++) {
        float a = gw_half_float(pairs[i] << 16), b = gw_half_float(pairs[i] & 0xffff0000);
        low[i - whole] += a * a;
        high[i - whole] += b * b;
    }
    double total = 0;
    for (int half = LANES / 2; half >= 4; half /= 2) {
        for (int j = 0; j < half; j++) {
            low[j] += low[j + half];
            high[j] += high[j + half];
        }
    }
    for (int j = 0; j < 4; j++) {
        total += (double)low[j] + (double)high[j];
    }
    return total;
}

/* The sum of the squares of n elements of bfloat16. */
static double squares_of_bfloat16(const uint16_t *x, int64_t n) {
    double last = n % 2 == 1 ? (double)gw_from_bfloat16(x[n - 1]) : 0, total = last * last;
    for (int64_t i = 0; i < n / 2; i += PIECE) {
        total += squares_of_pairs((const Pair *)(const void *)x + i,
                                  n / 2 - i < PIECE ? n / 2 - i : PIECE);
    }
    return total;
}

/* Before a loop that writes a fresh result, none of what it reads. */
#define GW_TOGETHER _Pragma("GCC ivdep")

#define REAL float
#define EXP gw_exp_float
#define LOG logf
#define NAME(x) x##_f32
#include "sums_kernel.h"
#include "softmax_inner_dims_kernel.h"
#undef REAL
#undef EXP
#undef LOG
#undef NAME
#define REAL double
#define EXP gw_exp_double
#define LOG log
#define NAME(x) x##_f64
#include "sums_kernel.h"
#include "softmax_inner_dims_kernel.h"

/* Reads the tensor as [outer, n, inner] with the dims [first, last] in the middle; false where it
 * is not one of floats, contiguous and with elements, those of half precision in long lines. */
static bool read_lines(const GwTensor *t, int first, int last, Lines *l) {
    if (t->storage == NULL || t->data == NULL || t->device != GW_CPU
        || (t->flags & (GW_FAKE | GW_SYMBOLIC)) != 0 || (t->flags & GW_CONTIGUOUS) == 0
        || t->dtype < GW_FLOAT16 || t->dtype > GW_FLOAT64 || t->numel == 0) {
        return false;
    }
    memset(l, 0, sizeof *l);
    l->widen = gw_is_half(t->dtype) ? gw_convert_loop(t->dtype, GW_FLOAT32) : NULL;
    l->dtype = t->dtype;
    l->in = t->data;
    l->outer = l->n = l->inner = 1;
    for (int d = 0; d < t->ndim; d++) {
        *(d < first ? &l->outer : d <= last ? &l->n : &l->inner) *= t->sizes[d];
    }
    l->tiles = (l->inner + COLUMNS - 1) / COLUMNS;
    return l->widen == NULL || (l->inner == 1 && l->n >= LEAST_WIDENED);
}

/* ---- variances ---- */

/* The dims of a tuple, which have to follow one another. */
static bool read_dims(PyObject *dims, int ndim, int *first, int *last) {
    Py_ssize_t count = PyTuple_CheckExact(dims) ? PyTuple_GET_SIZE(dims) : 0;
    if (count == 0) {
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GET_ITEM(dims, i);
        long d = PyLong_CheckExact(item) ? PyLong_AsLong(item) : -1;
        if (d < 0 || d >= ndim || (i > 0 && d != *last + 1)) {
            PyErr_Clear();
            return false;
        }
        *first = i == 0 ? (int)d : *first;
        *last = (int)d;
    }
    return true;
}

static GwTensor *without_dims(PyTypeObject *cls, const GwTensor *in, int first, int last,
                              bool keepdim) {
    int64_t sizes[GW_MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < in->ndim; d++) {
        bool reduced = d >= first && d <= last;
        if (!reduced || keepdim) {
            sizes[ndim++] = reduced ? 1 : in->sizes[d];
        }
    }
    int dtype = gw_is_half(in->dtype) ? GW_FLOAT32 : in->dtype;
    return gw_tensor_empty(cls, dtype, ndim, sizes, NULL);
}

/* Few long lines: their blocks on all threads, in two passes. False with MemoryError. */
static bool long_lines(Lines *l, bool single) {
    l->blocks = (l->n + BLOCK - 1) / BLOCK;
    int64_t tasks = l->outer * l->blocks;
    double *memory = PyMem_RawMalloc((size_t)(2 * tasks + l->outer) * sizeof(double));
    if (memory == NULL) {
        PyErr_NoMemory();
        return false;
    }
    double *means = memory + 2 * tasks;
    l->partial = memory;
    if (!l->around_zero) {
        gw_run_tasks(single ? variance_blocks_f32 : variance_blocks_f64, l, tasks, BLOCK);
    }
    for (int64_t row = 0; row < l->outer; row++) {
        means[row] = l->around_zero ? 0 : block_sum(l, row, 0) / (double)l->n;
    }
    l->means = means;
    gw_run_tasks(single ? variance_blocks_f32 : variance_blocks_f64, l, tasks, BLOCK);
    (single ? finish_blocks_f32 : finish_blocks_f64)(l);
    PyMem_RawFree(memory);
    return true;
}

static PyObject *moment(PyObject *cls, PyObject *input, PyObject *dims, bool keepdim,
                        double correction, bool root, bool around_zero) {
    int first = 0, last = -1;
    Lines l;
    if (gw_tensor_class(cls) == NULL || gw_tensor_arg(input) == NULL) {
        return NULL;
    }
    GwTensor *in = (GwTensor *)input;
    if (!read_dims(dims, in->ndim, &first, &last) || !read_lines(in, first, last, &l)) {
        Py_RETURN_NONE;
    }
    GwTensor *out = without_dims((PyTypeObject *)cls, in, first, last, keepdim);
    if (out == NULL) {
        return NULL;
    }
    bool single = out->dtype == GW_FLOAT32, done = true;
    l.out = out->data;
    l.correction = correction;
    l.root = root;
    l.around_zero = around_zero;
    if (l.inner > 1) {
        int64_t tasks = l.outer * l.tiles;
        gw_run_tasks(single ? variance_columns_f32 : variance_columns_f64, &l, tasks, in->numel / tasks);
    } else if (l.n > 2 * BLOCK) {
        done = long_lines(&l, single);
    } else {
        gw_run_tasks(single ? variance_rows_f32 : variance_rows_f64, &l, l.outer, l.n);
    }
    if (!done) {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}

static PyObject *variance(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *cls, *input, *dims;
    int keepdim, root;
    double correction;
    if (!PyArg_ParseTuple(args, "OOOdpp:variance", &cls, &input, &dims, &correction, &keepdim,
                          &root)) {
        return NULL;
    }
    return moment(cls, input, dims, keepdim != 0, correction, root != 0, false);
}

static PyObject *two_norm(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *cls, *input, *dims;
    int keepdim;
    if (!PyArg_ParseTuple(args, "OOOp:two_norm", &cls, &input, &dims, &keepdim)) {
        return NULL;
    }
    return moment(cls, input, dims, keepdim != 0, 0, true, true);
}

/* ---- softmax ---- */

GwTensor *gw_softmax_lines(PyTypeObject *cls, const GwTensor *in, int dim, bool logarithm) {
    Lines l;
    GwTensor *out = !gw_is_half(in->dtype) && read_lines(in, dim, dim, &l)
                    ? gw_tensor_empty(cls, in->dtype, in->ndim, in->sizes, NULL) : NULL;
    if (out != NULL) {
        l.out = out->data;
        l.logarithm = logarithm;
        int64_t tasks = l.outer * l.tiles;
        gw_run_tasks(in->dtype == GW_FLOAT32 ? softmax_columns_f32 : softmax_columns_f64, &l, tasks,
            in->numel / tasks);
    }
    return out;
}

GwTensor *gw_softmax_slope_lines(PyTypeObject *cls, const GwTensor *grad, const GwTensor *result,
                                 int dim, bool logarithm) {
    Lines l, other;
    if (gw_is_half(grad->dtype) || !read_lines(grad, dim, dim, &l) || grad->dtype != result->dtype
        || grad->ndim != result->ndim || !read_lines(result, dim, dim, &other)
        || memcmp(grad->sizes, result->sizes, (size_t)grad->ndim * sizeof(int64_t)) != 0) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, grad->dtype, grad->ndim, grad->sizes, NULL);
    if (out != NULL) {
        l.result = result->data;
        l.out = out->data;
        l.logarithm = logarithm;
        int64_t tasks = l.outer * l.tiles;
        gw_run_tasks(grad->dtype == GW_FLOAT32 ? slope_columns_f32 : slope_columns_f64, &l, tasks,
            grad->numel / tasks);
    }
    return out;
}

/* None where the lines are not taken here. */
static PyObject *or_none(GwTensor *out) {
    return out != NULL || PyErr_Occurred() ? (PyObject *)out : Py_NewRef(Py_None);
}

static PyObject *softmax_columns(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *cls, *input;
    int dim, logarithm;
    if (!PyArg_ParseTuple(args, "OOip:softmax_columns", &cls, &input, &dim, &logarithm)
        || gw_tensor_class(cls) == NULL || gw_tensor_arg(input) == NULL) {
        return NULL;
    }
    GwTensor *in = (GwTensor *)input;
    bool fits = dim >= 0 && dim < in->ndim;
    return or_none(fits ? gw_softmax_lines((PyTypeObject *)cls, in, dim, logarithm != 0) : NULL);
}

static PyObject *softmax_columns_backward(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *cls, *grad, *result;
    int dim, logarithm;
    if (!PyArg_ParseTuple(args, "OOOip:softmax_columns_backward", &cls, &grad, &result, &dim,
                          &logarithm)
        || gw_tensor_class(cls) == NULL || gw_tensor_arg(grad) == NULL
        || gw_tensor_arg(result) == NULL) {
        return NULL;
    }
    bool fits = dim >= 0 && dim < ((GwTensor *)grad)->ndim;
    return or_none(!fits ? NULL
                   : gw_softmax_slope_lines((PyTypeObject *)cls, (GwTensor *)grad,
                                            (GwTensor *)result, dim, logarithm != 0));
}

PyMethodDef gw_lines_methods[] = {
    {"variance", variance, METH_VARARGS,
     "variance(cls, input, dims, correction, keepdim, root): over dims that follow one another, "
     "divided by their number less `correction`; `root`: the square root. Of half precision it is "
     "float32. None where the input is not contiguous, or its elements are no floats, or there are "
     "none, or of half precision in short lines."},
    {"two_norm", two_norm, METH_VARARGS,
     "two_norm(cls, input, dims, keepdim): the root of the sum of squares. None as variance."},
    {"softmax_columns", softmax_columns, METH_VARARGS,
     "softmax_columns(cls, input, dim, log): softmax or its logarithm along `dim`. None as "
     "variance."},
    {"softmax_columns_backward", softmax_columns_backward, METH_VARARGS,
     "softmax_columns_backward(cls, grad, result, dim, log): its gradient. None as variance, "
     "and where dtypes or shapes differ."},
    {NULL, NULL, 0, NULL},
};
