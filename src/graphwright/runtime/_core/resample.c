/* Resampling along one dimension: out[o, i, :] = sum over k of weight[i, k] * x[o, index[i, k], :],
 * and its transpose. Interpolation of any kind is such a step for each dimension. */
#define _GNU_SOURCE
#include "core.h"
#include "pool.h"

#include <string.h>

typedef struct {
    const char *from;
    char *to;
    const int64_t *index;
    const void *weight;
    int64_t size, count, taps, inner;   /* of x's dimension, of out's; terms; elements within */
} Resample;

#define REAL float
#define NAME(x) x##_f32
#include "resample_kernel.h"
#define REAL double
#define NAME(x) x##_f64
#include "resample_kernel.h"

static bool is_fit(PyArrayObject *array, int ndim, int type) {
    return PyArray_NDIM(array) == ndim && PyArray_TYPE(array) == type
           && PyArray_ISCARRAY_RO(array);
}

static bool is_within(PyArrayObject *index, int64_t size) {
    const int64_t *at = PyArray_DATA(index);
    for (int64_t i = 0; i < PyArray_SIZE(index); i++) {
        if (at[i] < 0 || at[i] >= size) {
            return false;
        }
    }
    return true;
}

static PyObject *resample(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    int transposed;
    PyArrayObject *from, *index, *weight, *to;
    if (!PyArg_ParseTuple(args, "pO!O!O!O!", &transposed, &PyArray_Type, &from, &PyArray_Type,
                          &index, &PyArray_Type, &weight, &PyArray_Type, &to)) {
        return NULL;
    }
    int type = PyArray_TYPE(to);
    PyArrayObject *wide = transposed ? to : from, *narrow = transposed ? from : to;
    bool fit = (type == NPY_FLOAT32 || type == NPY_FLOAT64) && is_fit(from, 3, type)
               && is_fit(to, 3, type) && PyArray_ISWRITEABLE(to) && is_fit(index, 2, NPY_INT64)
               && is_fit(weight, 2, type) && PyArray_SAMESHAPE(index, weight)
               && PyArray_DIM(from, 0) == PyArray_DIM(to, 0)
               && PyArray_DIM(from, 2) == PyArray_DIM(to, 2)
               && PyArray_DIM(narrow, 1) == PyArray_DIM(index, 0)
               && is_within(index, PyArray_DIM(wide, 1));
    if (!fit) {
        PyErr_SetString(PyExc_ValueError, "resample takes contiguous arrays [outer, size, inner] "
                        "of float32 or float64, and index and weight [count, taps] that fit");
        return NULL;
    }
    Resample job = {PyArray_DATA(from), PyArray_DATA(to), PyArray_DATA(index),
                    PyArray_DATA(weight), PyArray_DIM(wide, 1), PyArray_DIM(narrow, 1),
                    PyArray_DIM(index, 1), PyArray_DIM(to, 2)};
    gw_ctx ctx;
    gw_context(&ctx);
    double work = (double)PyArray_SIZE(narrow) * (double)job.taps + (double)PyArray_SIZE(to);
    int64_t each = (job.count * job.taps + job.size) * job.inner;
    int64_t grain = each > 0 && each < 16384 ? 16384 / each : 1;
    gw_body body = type == NPY_FLOAT32 ? (transposed ? spread_f32 : gather_f32)
                                       : (transposed ? spread_f64 : gather_f64);
    PyThreadState *released = work > 32e3 ? PyEval_SaveThread() : NULL;
    gw_parallel_for(&ctx, body, &job, PyArray_DIM(to, 0), grain);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
    Py_RETURN_NONE;
}

PyMethodDef gw_resample_methods[] = {
    {"resample", resample, METH_VARARGS,
     "resample(transposed, x, index, weight, out): out[o, i, :] = sum over k of weight[i, k] * "
     "x[o, index[i, k], :]; or transposed, out[o, index[i, k], :] += weight[i, k] * x[o, i, :] "
     "from zeros. Contiguous float32 or float64; index int64."},
    {NULL, NULL, 0, NULL},
};
