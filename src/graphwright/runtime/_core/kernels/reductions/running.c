/* Running sums, products and extrema along one dim of contiguous tensors, which are read as
 * [outer, n, inner], on all threads. Sums and products of float32 are made in double. How the work
 * is cut, and so every bit of the result, depends on the shape alone. */
#include "arguments.h"
#include "loops.h"
#include "vector_math.h"

enum {
    COLUMNS = 128,          /* neighbouring lines that are done side by side */
    TOGETHER = 4,           /* rows that are, lest each step waits for the one before */
    BLOCK = 32,             /* elements that are looked at together for a new extreme */
    STEP = 8,               /* elements whose running sums are made apart: lanes of a vector */
};

enum { SUM, PRODUCT, MAXIMUM, MINIMUM };

typedef struct {
    void (*row)(const void *in, void *out, int64_t *places, int64_t n);     /* of few rows */
    void (*last)(const void *in, void *out, int64_t *places, int64_t n);    /* behind `rows` */
    void (*rows)(const void *in, void *out, int64_t *places, int64_t n);    /* TOGETHER; or NULL */
    void (*columns)(const void *in, void *out, int64_t *places, int64_t n, int64_t step,
                    int64_t lines);
    void (*short_rows)(const void *in, void *out, int64_t *places, int64_t n, int64_t lines);
} Kernel;

/* Lanes of two vectors. */
#ifdef __clang__
#define MIXED(V, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIXED(V, a, b, ...) __builtin_shuffle(a, b, (V){__VA_ARGS__})
#endif

/* Before a loop over lines, whose elements are written where no other line is read. */
#define GW_APART _Pragma("GCC ivdep")

#define NAME(x) x##_f32
#define MISSING(x) ((x) != (x))
#define T float
#define A double
#define M int64_t
#include "running_kernel.h"
#define NAME(x) x##_f64
#define MISSING(x) ((x) != (x))
#define T double
#define A double
#define M int64_t
#include "running_kernel.h"
#define NAME(x) x##_i32
#define MISSING(x) false
#define T int32_t
#define A uint32_t
#define M int32_t
#include "running_kernel.h"
#define NAME(x) x##_i64
#define MISSING(x) false
#define T int64_t
#define A uint64_t
#define M int64_t
#include "running_kernel.h"

typedef struct {
    const Kernel *kernel;
    const char *in;
    char *out;
    int64_t *places;        /* of extrema, or NULL */
    int64_t outer, n, inner, itemsize;
    int64_t tiles;          /* of the inner dims of one outer index */
} Lines;

static void run_columns(const Lines *l, int64_t task) {
    int64_t column = task % l->tiles * COLUMNS, left = l->inner - column;
    int64_t at = task / l->tiles * l->n * l->inner + column;
    l->kernel->columns(l->in + at * l->itemsize, l->out + at * l->itemsize,
                       l->places == NULL ? NULL : l->places + at, l->n, l->inner,
                       left < COLUMNS ? left : COLUMNS);
}

static void run_rows(const Lines *l, int64_t task) {
    int64_t row = task * TOGETHER, end = row + TOGETHER < l->outer ? row + TOGETHER : l->outer;
    bool together = l->kernel->rows != NULL && end - row == TOGETHER;
    for (; row < end; row += together ? TOGETHER : 1) {
        int64_t at = row * l->n;
        (together ? l->kernel->rows : l->outer < TOGETHER ? l->kernel->row : l->kernel->last)(
            l->in + at * l->itemsize, l->out + at * l->itemsize,
            l->places == NULL ? NULL : l->places + at, l->n);
    }
}

/* Rows of less than STEP elements, side by side as columns are. */
static void run_short_rows(const Lines *l, int64_t task) {
    int64_t row = task * COLUMNS, left = l->outer - row, at = row * l->n;
    l->kernel->short_rows(l->in + at * l->itemsize, l->out + at * l->itemsize,
                          l->places == NULL ? NULL : l->places + at, l->n,
                          left < COLUMNS ? left : COLUMNS);
}

static void run_tasks(void *closure, int64_t begin, int64_t end) {
    const Lines *l = closure;
    for (int64_t task = begin; task < end; task++) {
        (l->inner > 1 ? run_columns : l->n < STEP ? run_short_rows : run_rows)(l, task);
    }
}

static void run(Lines *l) {
    int64_t together = l->n < STEP ? COLUMNS : TOGETHER;
    int64_t tasks = l->inner == 1 ? (l->outer + together - 1) / together : l->outer * l->tiles;
    gw_run_tasks(run_tasks, l, tasks, l->outer * l->n * l->inner / tasks);
}

static const Kernel *kernels_of(int dtype) {
    switch (dtype) {
        case GW_FLOAT32: return kernels_f32;
        case GW_FLOAT64: return kernels_f64;
        case GW_INT32: return kernels_i32;
        case GW_INT64: return kernels_i64;
        default: return NULL;
    }
}

/* The lines along a dim; false where the call is not a plain one. */
static bool read_lines(PyObject *input, PyObject *dim, int kind, Lines *l) {
    const GwTensor *t = gw_plain_tensor(input);
    int along;
    if (t == NULL || (t->flags & GW_CONTIGUOUS) == 0 || t->numel == 0
        || kernels_of(t->dtype) == NULL || !gw_plain_dim(dim, t->ndim, &along)) {
        return false;
    }
    *l = (Lines){.kernel = &kernels_of(t->dtype)[kind], .in = t->data, .outer = 1,
                 .n = t->sizes[along], .inner = 1, .itemsize = gw_itemsize(t)};
    for (int d = 0; d < t->ndim; d++) {
        *(d < along ? &l->outer : &l->inner) *= d == along ? 1 : t->sizes[d];
    }
    l->tiles = (l->inner + COLUMNS - 1) / COLUMNS;
    return true;
}

/* input, dim, dtype */
static PyObject *totals(PyTypeObject *cls, PyObject *const *args, int kind) {
    Lines l;
    if (!read_lines(args[0], args[1], kind, &l)) {
        return NULL;
    }
    const GwTensor *in = (const GwTensor *)args[0];
    if (in->dtype == GW_INT32 || gw_plain_dtype(args[2], in->dtype) != in->dtype) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, in->dtype, in->ndim, in->sizes, NULL);
    if (out != NULL) {
        l.out = out->data;
        run(&l);
    }
    return (PyObject *)out;
}

/* input, dim: values and places */
static PyObject *extremes_of(PyTypeObject *cls, PyObject *const *args, int kind) {
    Lines l;
    if (!read_lines(args[0], args[1], kind, &l)) {
        return NULL;
    }
    const GwTensor *in = (const GwTensor *)args[0];
    GwTensor *out = gw_tensor_empty(cls, in->dtype, in->ndim, in->sizes, NULL);
    GwTensor *places = out == NULL ? NULL
                       : gw_tensor_empty(cls, GW_INT64, in->ndim, in->sizes, NULL);
    PyObject *pair = NULL;
    if (places != NULL) {
        l.out = out->data;
        l.places = (int64_t *)(void *)places->data;
        run(&l);
        pair = PyTuple_Pack(2, out, places);
    }
    Py_XDECREF(out);
    Py_XDECREF(places);
    return pair;
}

/* Of half precision by way of float32, which has the same values. */
static PyObject *extremes(PyTypeObject *cls, PyObject *const *args, int kind) {
    GwTensor *in = gw_plain_tensor(args[0]);
    if (in == NULL || !gw_is_half(in->dtype)) {
        return extremes_of(cls, args, kind);
    }
    PyObject *const with[] = {(PyObject *)gw_cast(cls, in, GW_FLOAT32), args[1]};
    PyObject *pair = with[0] == NULL ? NULL : extremes_of(cls, with, kind), *out = NULL;
    if (pair != NULL) {
        GwTensor *values = gw_cast(cls, (GwTensor *)PyTuple_GET_ITEM(pair, 0), in->dtype);
        out = values == NULL ? NULL : PyTuple_Pack(2, values, PyTuple_GET_ITEM(pair, 1));
        Py_XDECREF(values);
    }
    Py_XDECREF(with[0]);
    Py_XDECREF(pair);
    return out;
}

GW_KERNEL(cumsum) { return totals(cls, args, SUM); }
GW_KERNEL(cumprod) { return totals(cls, args, PRODUCT); }
GW_KERNEL(running_max) { return extremes(cls, args, MAXIMUM); }
GW_KERNEL(running_min) { return extremes(cls, args, MINIMUM); }

const GwKernelEntry gw_running_kernels[] = {
    {"cumsum", 3, cumsum},
    {"cumprod", 3, cumprod},
    {"running_max", 2, running_max},
    {"running_min", 2, running_min},
    {NULL, 0, NULL},
};
