/* Softmax, layer norm, RMS norm and group norm over rows of contiguous matrices, and gradients of
 * all but RMS norm, on the pool. */
#include "loops.h"
#include "native.h"
#include "vector_math.h"

#include <math.h>
#include <stdatomic.h>

enum {
    GRAIN = 16 << 10,
    RELEASE_GIL = 128 << 10,
    INPUTS = 3,
    PIECE = 4096,           /* elements that are summed in their own precision */
    ROW_PIECE = 1024,       /* the same, in fewer lanes */
    FEWEST = 16,            /* rows of a block, whose gradients of a weight are summed so too */
    MOST = 128,
    BLOCKS = 64, COLUMNS = 256,
};

typedef struct {
    const void *inputs[INPUTS];
    void *out, *mean, *rstd;
    int64_t n;   /* elements of a row */
    double eps;
    int64_t channels, inner, groups;    /* of a group norm: channels of a row, their elements */
    /* Of gradients: [blocks, 2, affine], what blocks of `each` rows add to those of weight and bias. */
    void *parts, *to_weight, *to_bias;
    int64_t rows, each, blocks, affine;
} Rows;

/* Before a loop that writes a fresh result, none of what it reads. */
#define GW_TOGETHER _Pragma("GCC ivdep")

#define REAL float
#define EXP gw_exp_float
#define LOG logf
#define SQRT sqrtf
#define NAME(x) x##_f32
#include "sums_kernel.h"
#include "softmax_rows_kernel.h"
#include "slopes_kernel.h"
#undef REAL
#undef EXP
#undef LOG
#undef SQRT
#undef NAME
#define REAL double
#define EXP gw_exp_double
#define LOG log
#define SQRT sqrt
#define NAME(x) x##_f64
#include "sums_kernel.h"
#include "softmax_rows_kernel.h"
#include "slopes_kernel.h"

#include "half_rows.h"

/* The array's data if it is contiguous, of `type` and `size` elements; NULL with ValueError. */
static void *data_of(PyObject *object, int type, int64_t size) {
    if (PyArray_Check(object)) {
        PyArrayObject *array = (PyArrayObject *)object;
        if (PyArray_TYPE(array) == type && PyArray_IS_C_CONTIGUOUS(array)
            && PyArray_ISALIGNED(array) && PyArray_SIZE(array) == size) {
            return PyArray_DATA(array);
        }
    }
    PyErr_SetString(PyExc_ValueError, "expected contiguous arrays, all of float32 or all of "
                    "float64, that fit the matrix out");
    return NULL;
}

static bool matrix(PyObject *object, int *type, int64_t *rows, int64_t *n) {
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_NDIM(array) != 2 || !PyArray_ISWRITEABLE(array)
        || (PyArray_TYPE(array) != NPY_FLOAT && PyArray_TYPE(array) != NPY_DOUBLE)) {
        PyErr_SetString(PyExc_ValueError, "out must be a matrix of float32 or float64");
        return false;
    }
    *type = PyArray_TYPE(array);
    *rows = PyArray_DIM(array, 0);
    *n = PyArray_DIM(array, 1);
    return true;
}

static void compute(gw_body body, Rows *r, int64_t rows) {
    gw_ctx ctx;
    gw_context(&ctx);
    PyThreadState *released = rows * r->n >= RELEASE_GIL ? PyEval_SaveThread() : NULL;
    gw_parallel_for(&ctx, body, r, rows, r->n < GRAIN ? GRAIN / r->n : 1);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
}

static PyObject *run(gw_body body, Rows *r, int64_t rows) {
    if (rows > 0 && r->n > 0) {
        compute(body, r, rows);
    }
    Py_RETURN_NONE;
}

/* args[0..count): matrices like out, which is args[count]. */
static PyObject *like_out(PyObject *const *args, Py_ssize_t n_args, int count, gw_body single,
                          gw_body wide) {
    Rows r = {.eps = 0};
    int type;
    int64_t rows;
    if (n_args != count + 1) {
        PyErr_Format(PyExc_TypeError, "expected %d arrays", count + 1);
        return NULL;
    }
    if (!matrix(args[count], &type, &rows, &r.n)
        || (r.out = data_of(args[count], type, rows * r.n)) == NULL) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if ((r.inputs[i] = data_of(args[i], type, rows * r.n)) == NULL) {
            return NULL;
        }
    }
    return run(type == NPY_FLOAT ? single : wide, &r, rows);
}

#define LIKE_OUT(name, count)                                                              \
    static PyObject *name##_rows(PyObject *self, PyObject *const *args, Py_ssize_t n) {   \
        GW_UNUSED(self);                                                                  \
        return like_out(args, n, count, name##_f32, name##_f64);                          \
    }

LIKE_OUT(softmax, 1)
LIKE_OUT(log_softmax, 1)
LIKE_OUT(softmax_backward, 2)
LIKE_OUT(log_softmax_backward, 2)

/* An optional vector of one row's size; false with an exception. */
static bool vector(PyObject *object, int type, int64_t n, const void **data) {
    *data = object == Py_None ? NULL : data_of(object, type, n);
    return object == Py_None || *data != NULL;
}

static PyObject *layer_norm_rows(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *x, *weight, *bias, *out, *mean, *rstd;
    Rows r = {.eps = 0};
    int type;
    int64_t rows;
    if (!PyArg_ParseTuple(args, "OOOdOOO", &x, &weight, &bias, &r.eps, &out, &mean, &rstd)
        || !matrix(out, &type, &rows, &r.n)
        || (r.out = data_of(out, type, rows * r.n)) == NULL
        || (r.inputs[0] = data_of(x, type, rows * r.n)) == NULL
        || !vector(weight, type, r.n, &r.inputs[1]) || !vector(bias, type, r.n, &r.inputs[2])
        || (r.mean = data_of(mean, type, rows)) == NULL
        || (r.rstd = data_of(rstd, type, rows)) == NULL) {
        return NULL;
    }
    return run(type == NPY_FLOAT ? layer_norm_f32 : layer_norm_f64, &r, rows);
}

static PyObject *rms_norm_rows(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *x, *weight, *out;
    Rows r = {.eps = 0};
    int type;
    int64_t rows;
    if (!PyArg_ParseTuple(args, "OOdO", &x, &weight, &r.eps, &out)
        || !matrix(out, &type, &rows, &r.n)
        || (r.out = data_of(out, type, rows * r.n)) == NULL
        || (r.inputs[0] = data_of(x, type, rows * r.n)) == NULL
        || !vector(weight, type, r.n, &r.inputs[1])) {
        return NULL;
    }
    return run(type == NPY_FLOAT ? rms_norm_f32 : rms_norm_f64, &r, rows);
}

static PyObject *layer_norm_backward_rows(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *grad, *x, *weight, *mean, *rstd, *out;
    Rows r = {.eps = 0};
    int type;
    int64_t rows;
    if (!PyArg_ParseTuple(args, "OOOOOO", &grad, &x, &weight, &mean, &rstd, &out)
        || !matrix(out, &type, &rows, &r.n)
        || (r.out = data_of(out, type, rows * r.n)) == NULL
        || (r.inputs[0] = data_of(grad, type, rows * r.n)) == NULL
        || (r.inputs[1] = data_of(x, type, rows * r.n)) == NULL
        || !vector(weight, type, r.n, &r.inputs[2])
        || (r.mean = data_of(mean, type, rows)) == NULL
        || (r.rstd = data_of(rstd, type, rows)) == NULL) {
        return NULL;
    }
    return run(type == NPY_FLOAT ? layer_norm_backward_f32 : layer_norm_backward_f64, &r, rows);
}

/* ---- plain calls of the ops ---- */

static bool is_real(const GwTensor *t) {
    return t != NULL && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64) && t->numel > 0
           && (t->flags & GW_CONTIGUOUS) != 0;
}

/* A contiguous tensor with elements of a type that has kernels here; else NULL. */
static GwTensor *real_tensor(PyObject *o) {
    GwTensor *t = gw_plain_tensor(o);
    return is_real(t) ? t : NULL;
}

static bool same_sizes(const GwTensor *a, const GwTensor *b) {
    return a->dtype == b->dtype && a->ndim == b->ndim
           && memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof(int64_t)) == 0;
}

/* How many elements are next to one another along a dim; the only one of a tensor without dims. */
static int64_t read_line(const GwTensor *t, PyObject *o, int *dim, int64_t *inner) {
    if (!gw_plain_dim(o, t->ndim == 0 ? 1 : t->ndim, dim)) {
        return 0;
    }
    *inner = 1;
    for (int d = *dim + 1; d < t->ndim; d++) {
        *inner *= t->sizes[d];
    }
    return t->ndim == 0 ? 1 : t->sizes[*dim];
}

/* ---- softmax ---- */

/* `rows` rows of `inputs` tensors by the kernel of their dtype; what `out` is, or NULL with
 * MemoryError, which gives it up. */
static PyObject *filled(GwTensor *out, Rows *r, int64_t rows, int inputs, gw_body single,
                        gw_body wide) {
    if (!gw_is_half(out->dtype)) {
        compute(out->dtype == GW_FLOAT32 ? single : wide, r, rows);
        return (PyObject *)out;
    }
    HalfRows h = {.rows = r, .body = single, .inputs = inputs,
                  .widen = gw_convert_loop(out->dtype, GW_FLOAT32),
                  .narrow = gw_convert_loop(GW_FLOAT32, out->dtype)};
    gw_run_tasks(half_rows, &h, rows, r->n);
    if (h.failed) {
        Py_DECREF(out);
        return PyErr_NoMemory();
    }
    return (PyObject *)out;
}

/* A contiguous tensor with elements of float16, bfloat16, float32 or float64; else NULL. */
static GwTensor *floating_tensor(PyObject *o) {
    GwTensor *t = gw_plain_tensor(o);
    bool half = t != NULL && gw_is_half(t->dtype) && t->numel > 0
                && (t->flags & GW_CONTIGUOUS) != 0;
    return half ? t : real_tensor(o);
}

static PyObject *softmax_of(PyTypeObject *cls, PyObject *const *args, bool logarithm) {
    GwTensor *x = floating_tensor(args[0]);
    int dim;
    int64_t inner;
    Rows r = {.eps = 0};
    if (x == NULL || gw_plain_dtype(args[2], x->dtype) != x->dtype
        || (r.n = read_line(x, args[1], &dim, &inner)) == 0) {
        return NULL;
    }
    if (inner > 1) {
        return (PyObject *)gw_softmax_lines(cls, x, dim, logarithm);
    }
    GwTensor *out = gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    r.inputs[0] = x->data;
    r.out = out->data;
    return filled(out, &r, x->numel / r.n, 1, logarithm ? log_softmax_f32 : softmax_f32,
                  logarithm ? log_softmax_f64 : softmax_f64);
}

GW_KERNEL(softmax_op) { return softmax_of(cls, args, false); }
GW_KERNEL(log_softmax_op) { return softmax_of(cls, args, true); }

static PyObject *softmax_slope(PyTypeObject *cls, PyObject *const *args, bool logarithm) {
    GwTensor *grad = floating_tensor(args[0]), *y = floating_tensor(args[1]);
    int dim;
    int64_t inner;
    Rows r = {.eps = 0};
    if (grad == NULL || y == NULL || !same_sizes(grad, y)
        || (r.n = read_line(y, args[2], &dim, &inner)) == 0) {
        return NULL;
    }
    if (inner > 1) {
        return (PyObject *)gw_softmax_slope_lines(cls, grad, y, dim, logarithm);
    }
    GwTensor *out = gw_tensor_empty(cls, y->dtype, y->ndim, y->sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    r.inputs[0] = grad->data;
    r.inputs[1] = y->data;
    r.out = out->data;
    return filled(out, &r, y->numel / r.n, 2,
                  logarithm ? log_softmax_backward_f32 : softmax_backward_f32,
                  logarithm ? log_softmax_backward_f64 : softmax_backward_f64);
}

GW_KERNEL(softmax_backward_op) { return softmax_slope(cls, args, false); }
GW_KERNEL(log_softmax_backward_op) { return softmax_slope(cls, args, true); }

/* ---- norms ---- */

/* A scale or shift of `n` elements; true, and NULL, for None. */
static bool read_affine(PyObject *o, int dtype, int64_t n, const void **data) {
    GwTensor *t = o == Py_None ? NULL : floating_tensor(o);
    *data = t == NULL ? NULL : t->data;
    return o == Py_None || (t != NULL && t->dtype == dtype && t->numel == n);
}

/* Those of the shape's elements, which has to be the end of the input's; its ndim, or -1. */
static int read_normalised(const GwTensor *x, PyObject *shape, Rows *r) {
    int64_t sizes[GW_MAX_DIMS];
    int ndim = gw_plain_sizes(shape, sizes), lead = x->ndim - ndim;
    if (ndim < 1 || lead < 0
        || memcmp(x->sizes + lead, sizes, (size_t)ndim * sizeof *sizes) != 0) {
        return -1;
    }
    r->n = 1;
    for (int d = 0; d < ndim; d++) {
        r->n *= sizes[d];
    }
    return ndim;
}

static bool has_shape(PyObject *affine, const GwTensor *x, int ndim) {
    return affine == Py_None
           || (gw_is_tensor(affine) && ((GwTensor *)affine)->ndim == ndim
               && memcmp(((GwTensor *)affine)->sizes, x->sizes + x->ndim - ndim,
                         (size_t)ndim * sizeof(int64_t)) == 0);
}

/* input, shape, weight, bias, eps; the number of normalised dims, or -1. */
static int read_norm(const GwTensor *x, PyObject *const *args, Rows *r) {
    int ndim = x == NULL ? -1 : read_normalised(x, args[1], r);
    if (ndim < 0 || !gw_plain_number(args[4], &r->eps) || !has_shape(args[2], x, ndim)
        || !has_shape(args[3], x, ndim) || !read_affine(args[2], x->dtype, r->n, &r->inputs[1])
        || !read_affine(args[3], x->dtype, r->n, &r->inputs[2])) {
        return -1;
    }
    r->inputs[0] = x->data;
    return ndim;
}

/* Rows of `x` normalised into `out`, which it is, or NULL with MemoryError, which gives it up. */
static PyObject *normalised(const GwTensor *x, GwTensor *out, Rows *r) {
    float *own = NULL;
    if (gw_is_half(x->dtype) && (r->inputs[1] != NULL || r->inputs[2] != NULL)
        && (own = widen_vectors(r, gw_convert_loop(x->dtype, GW_FLOAT32))) == NULL) {
        Py_DECREF(out);
        return PyErr_NoMemory();
    }
    r->out = out->data;
    PyObject *done = filled(out, r, x->numel / r->n, 1, layer_norm_f32, layer_norm_f64);
    PyMem_RawFree(own);
    return done;
}

GW_KERNEL(layer_norm_op) {
    GwTensor *x = floating_tensor(args[0]), *out;
    Rows r = {.eps = 0};
    if (read_norm(x, args, &r) < 0
        || (out = gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, NULL)) == NULL) {
        return NULL;
    }
    return normalised(x, out, &r);
}

/* The same with mean and 1 / deviation of the rows, which are float32 for half types. */
GW_KERNEL(native_layer_norm_op) {
    GwTensor *x = floating_tensor(args[0]);
    Rows r = {.eps = 0};
    int64_t sizes[GW_MAX_DIMS];
    int ndim = read_norm(x, args, &r);
    if (ndim < 0) {
        return NULL;
    }
    for (int d = 0; d < x->ndim; d++) {
        sizes[d] = d < x->ndim - ndim ? x->sizes[d] : 1;
    }
    GwTensor *out = gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, NULL);
    int kind = gw_is_half(x->dtype) ? GW_FLOAT32 : x->dtype;
    GwTensor *mean = gw_tensor_empty(cls, kind, x->ndim, sizes, NULL);
    GwTensor *rstd = gw_tensor_empty(cls, kind, x->ndim, sizes, NULL);
    PyObject *all = NULL;
    if (out != NULL && mean != NULL && rstd != NULL) {
        r.mean = mean->data;
        r.rstd = rstd->data;
        out = (GwTensor *)normalised(x, out, &r);
        all = out == NULL ? NULL : PyTuple_Pack(3, out, mean, rstd);
    }
    Py_XDECREF(out);
    Py_XDECREF(mean);
    Py_XDECREF(rstd);
    return all;
}

/* grad, input, shape, weight, mean, rstd; the number of normalised dims, or -1. */
static int read_slope(PyObject *const *args, const GwTensor **input, Rows *r) {
    GwTensor *grad = real_tensor(args[0]), *x = real_tensor(args[1]);
    GwTensor *mean = real_tensor(args[4]), *rstd = real_tensor(args[5]);
    int ndim = x == NULL || grad == NULL || !same_sizes(grad, x) ? -1
               : read_normalised(x, args[2], r);
    if (ndim < 0 || !has_shape(args[3], x, ndim) || mean == NULL || rstd == NULL
        || mean->dtype != x->dtype || rstd->dtype != x->dtype || mean->numel != x->numel / r->n
        || rstd->numel != mean->numel || !read_affine(args[3], x->dtype, r->n, &r->inputs[2])) {
        return -1;
    }
    *input = x;
    r->inputs[0] = grad->data;
    r->inputs[1] = x->data;
    r->mean = mean->data;
    r->rstd = rstd->data;
    r->rows = mean->numel;
    return ndim;
}

/* The gradient of the input. */
GW_KERNEL(layer_norm_backward_op) {
    const GwTensor *x;
    GwTensor *out;
    Rows r = {.eps = 0};
    if (read_slope(args, &x, &r) < 0
        || (out = gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, NULL)) == NULL) {
        return NULL;
    }
    r.out = out->data;
    compute(x->dtype == GW_FLOAT32 ? layer_norm_backward_f32 : layer_norm_backward_f64, &r,
            r.rows);
    return (PyObject *)out;
}

/* Those of input, weight and bias, the last two of `ndim` sizes: `tasks` of r by `body` fill the
 * blocks, which are then added. */
static PyObject *slopes(PyTypeObject *cls, const GwTensor *x, int ndim, const int64_t *sizes,
                        Rows *r, gw_body body, int64_t tasks) {
    GwTensor *out = gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, NULL);
    GwTensor *to_weight = gw_tensor_empty(cls, x->dtype, ndim, sizes, NULL);
    GwTensor *to_bias = gw_tensor_empty(cls, x->dtype, ndim, sizes, NULL);
    PyObject *all = NULL;
    if (out != NULL && to_weight != NULL && to_bias != NULL) {
        r->affine = to_weight->numel;
        r->parts = PyMem_RawMalloc((size_t)(r->blocks * 2 * r->affine)
                                   * (size_t)gw_dtypes[x->dtype].itemsize);
        all = r->parts == NULL ? PyErr_NoMemory() : PyTuple_Pack(3, out, to_weight, to_bias);
    }
    if (all != NULL) {
        bool single = x->dtype == GW_FLOAT32;
        r->out = out->data;
        r->to_weight = to_weight->data;
        r->to_bias = to_bias->data;
        gw_run_tasks(body, r, tasks, x->numel / tasks);
        gw_run_tasks(single ? fold_blocks_f32 : fold_blocks_f64, r,
                     (2 * r->affine + COLUMNS - 1) / COLUMNS, COLUMNS * r->blocks);
    }
    PyMem_RawFree(r->parts);
    Py_XDECREF(out);
    Py_XDECREF(to_weight);
    Py_XDECREF(to_bias);
    return all;
}

GW_KERNEL(layer_norm_gradients_op) {
    const GwTensor *x;
    Rows r = {.eps = 0};
    int ndim = read_slope(args, &x, &r);
    if (ndim < 0) {
        return NULL;
    }
    int64_t each = r.rows / BLOCKS;
    r.each = each < FEWEST ? FEWEST : each > MOST ? MOST : each;
    r.blocks = (r.rows + r.each - 1) / r.each;
    return slopes(cls, x, ndim, x->sizes + x->ndim - ndim, &r,
                  x->dtype == GW_FLOAT32 ? layer_norm_block_f32 : layer_norm_block_f64, r.blocks);
}

/* input, shape, weight, eps (None: the dtype's) */
GW_KERNEL(rms_norm_op) {
    GwTensor *x = real_tensor(args[0]), *out;
    PyObject *const norm[5] = {args[0], args[1], args[2], Py_None, args[3]};
    Rows r = {.eps = 0};
    if (args[3] == Py_None || read_norm(x, norm, &r) < 0
        || (out = gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, NULL)) == NULL) {
        return NULL;
    }
    r.out = out->data;
    compute(x->dtype == GW_FLOAT32 ? rms_norm_f32 : rms_norm_f64, &r, x->numel / r.n);
    return (PyObject *)out;
}

/* How the channels of an image are grouped; the channels' number, or 0. */
static int64_t read_groups(const GwTensor *x, PyObject *groups, Rows *r) {
    if (x == NULL || x->ndim < 2 || !gw_plain_int(groups, &r->groups) || r->groups < 1
        || x->sizes[1] % r->groups != 0) {
        return 0;
    }
    r->channels = x->sizes[1] / r->groups;
    r->inner = x->numel / (x->sizes[0] * x->sizes[1]);
    r->n = r->channels * r->inner;
    return x->sizes[1];
}

/* input, groups, weight, bias, eps: rows are the groups of each image. */
GW_KERNEL(group_norm_op) {
    GwTensor *x = real_tensor(args[0]), *out;
    Rows r = {.eps = 0};
    int64_t channels = read_groups(x, args[1], &r);
    if (channels == 0 || !gw_plain_number(args[4], &r.eps)
        || !read_affine(args[2], x->dtype, channels, &r.inputs[1])
        || !read_affine(args[3], x->dtype, channels, &r.inputs[2])
        || (out = gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, NULL)) == NULL) {
        return NULL;
    }
    r.inputs[0] = x->data;
    r.out = out->data;
    compute(x->dtype == GW_FLOAT32 ? group_norm_f32 : group_norm_f64, &r, x->numel / r.n);
    return (PyObject *)out;
}

/* grad, input, groups, weight, eps: the gradients of input, weight and bias. */
GW_KERNEL(group_norm_backward_op) {
    GwTensor *grad = real_tensor(args[0]), *x = real_tensor(args[1]);
    Rows r = {.eps = 0};
    int64_t channels = read_groups(x, args[2], &r);
    if (channels == 0 || grad == NULL || !same_sizes(grad, x) || !gw_plain_number(args[4], &r.eps)
        || !read_affine(args[3], x->dtype, channels, &r.inputs[2])) {
        return NULL;
    }
    r.inputs[0] = grad->data;
    r.inputs[1] = x->data;
    r.blocks = x->sizes[0];
    return slopes(cls, x, 1, &channels, &r,
                  x->dtype == GW_FLOAT32 ? group_norm_backward_f32 : group_norm_backward_f64,
                  r.blocks * r.groups);
}

const GwKernelEntry gw_row_kernels[] = {
    {"softmax", 3, softmax_op},
    {"log_softmax", 3, log_softmax_op},
    {"softmax_backward", 3, softmax_backward_op},
    {"log_softmax_backward", 3, log_softmax_backward_op},
    {"layer_norm", 5, layer_norm_op},
    {"native_layer_norm", 5, native_layer_norm_op},
    {"layer_norm_backward", 6, layer_norm_backward_op},
    {"layer_norm_gradients", 6, layer_norm_gradients_op},
    {"rms_norm", 4, rms_norm_op},
    {"group_norm", 5, group_norm_op},
    {"group_norm_backward", 5, group_norm_backward_op},
    {NULL, 0, NULL},
};

#define FAST(name) (PyCFunction)(void (*)(void))name, METH_FASTCALL

PyMethodDef gw_rows_methods[] = {
    {"softmax_rows", FAST(softmax_rows), "softmax_rows(x, out): of every row of a matrix."},
    {"log_softmax_rows", FAST(log_softmax_rows),
     "log_softmax_rows(x, out): of every row of a matrix."},
    {"softmax_backward_rows", FAST(softmax_backward_rows),
     "softmax_backward_rows(grad, result, out): the gradient of softmax_rows."},
    {"log_softmax_backward_rows", FAST(log_softmax_backward_rows),
     "log_softmax_backward_rows(grad, result, out): the gradient of log_softmax_rows."},
    {"layer_norm_rows", layer_norm_rows, METH_VARARGS,
     "layer_norm_rows(x, weight, bias, eps, out, mean, rstd): every row of x normalised, times "
     "weight, plus bias (each may be None); writes the statistics too."},
    {"rms_norm_rows", rms_norm_rows, METH_VARARGS,
     "rms_norm_rows(x, weight, eps, out): every row of x over the root of its mean square plus "
     "eps, times weight (which may be None)."},
    {"layer_norm_backward_rows", layer_norm_backward_rows, METH_VARARGS,
     "layer_norm_backward_rows(grad, x, weight, mean, rstd, out): the gradient for x."},
    {NULL, NULL, 0, NULL},
};
