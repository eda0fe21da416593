/* Softmax, layer norm and RMS norm over rows of contiguous matrices, and their gradients, on the pool. */
#include "core.h"
#include "vector_math.h"

#include <math.h>

enum { GRAIN = 16 << 10, RELEASE_GIL = 128 << 10, INPUTS = 3, PIECE = 4096 };

typedef struct {
    const void *inputs[INPUTS];
    void *out, *mean, *rstd;
    int64_t n;   /* elements of a row */
    double eps;
} Rows;

#define REAL float
#define EXP gw_exp_float
#define LOG logf
#define SQRT sqrtf
#define NAME(x) x##_f32
#include "sums_kernel.h"
#include "rows_kernel.h"
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
#include "rows_kernel.h"

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

static PyObject *run(gw_body body, Rows *r, int64_t rows) {
    gw_ctx ctx;
    gw_context(&ctx);
    if (rows > 0 && r->n > 0) {
        PyThreadState *released = rows * r->n >= RELEASE_GIL ? PyEval_SaveThread() : NULL;
        gw_parallel_for(&ctx, body, r, rows, r->n < GRAIN ? GRAIN / r->n : 1);
        if (released != NULL) {
            PyEval_RestoreThread(released);
        }
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
