/* Resampling along one dimension: out[o, i, :] = sum over k of weight[i, k] * x[o, index[i, k], :],
 * and its transpose. Interpolation of any kind is such a step for each dimension. */
#define _GNU_SOURCE
#include "native.h"
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

/* Resamples each of `outer`, on all threads where there is enough to do. */
static void run(Resample *job, bool single, bool transposed, int64_t outer) {
    gw_ctx ctx;
    gw_context(&ctx);
    int64_t each = (job->count * job->taps + job->size) * job->inner;
    int64_t grain = each > 0 && each < 16384 ? 16384 / each : 1;
    gw_body body = single ? (transposed ? spread_f32 : gather_f32)
                          : (transposed ? spread_f64 : gather_f64);
    PyThreadState *released = (double)each * (double)outer > 32e3 ? PyEval_SaveThread() : NULL;
    gw_parallel_for(&ctx, body, job, outer, grain);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
}

static bool are_within(const int64_t *at, int64_t count, int64_t size) {
    for (int64_t i = 0; i < count; i++) {
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
               && are_within(PyArray_DATA(index), PyArray_SIZE(index), PyArray_DIM(wide, 1));
    if (!fit) {
        PyErr_SetString(PyExc_ValueError, "resample takes contiguous arrays [outer, size, inner] "
                        "of float32 or float64, and index and weight [count, taps] that fit");
        return NULL;
    }
    Resample job = {PyArray_DATA(from), PyArray_DATA(to), PyArray_DATA(index),
                    PyArray_DATA(weight), PyArray_DIM(wide, 1), PyArray_DIM(narrow, 1),
                    PyArray_DIM(index, 1), PyArray_DIM(to, 2)};
    run(&job, type == NPY_FLOAT32, transposed != 0, PyArray_DIM(to, 0));
    Py_RETURN_NONE;
}

/* ---- plain calls of the ops ---- */

static GwTensor *contiguous(PyObject *o) {
    GwTensor *t = gw_plain_tensor(o);
    return t != NULL && t->numel > 0 && (t->flags & GW_CONTIGUOUS) != 0 ? t : NULL;
}

/* input, dim, index, weight, whose dim becomes `size`, or as many as there are places. */
static PyObject *resampled(PyTypeObject *cls, PyObject *const *args, bool transposed,
                           int64_t size) {
    GwTensor *x = contiguous(args[0]), *index = contiguous(args[2]), *weight = contiguous(args[3]);
    int64_t sizes[GW_MAX_DIMS], outer = 1, inner = 1;
    int dim;
    if (x == NULL || index == NULL || weight == NULL || index->ndim != 2 || weight->ndim != 2
        || (x->dtype != GW_FLOAT32 && x->dtype != GW_FLOAT64) || weight->dtype != x->dtype
        || index->dtype != GW_INT64 || weight->numel != index->numel
        || weight->sizes[0] != index->sizes[0] || !gw_plain_dim(args[1], x->ndim, &dim)) {
        return NULL;
    }
    for (int d = 0; d < x->ndim; d++) {
        sizes[d] = x->sizes[d];
        *(d < dim ? &outer : &inner) *= d == dim ? 1 : x->sizes[d];
    }
    int64_t count = index->sizes[0], wide = transposed ? size : x->sizes[dim];
    if ((transposed && count != x->sizes[dim])
        || !are_within((const int64_t *)index->data, index->numel, wide)) {
        return NULL;
    }
    sizes[dim] = transposed ? size : count;
    GwTensor *out = gw_tensor_empty(cls, x->dtype, x->ndim, sizes, NULL);
    if (out != NULL) {
        Resample job = {x->data, out->data, (const int64_t *)index->data, weight->data, wide,
                        count, index->sizes[1], inner};
        run(&job, x->dtype == GW_FLOAT32, transposed, outer);
    }
    return (PyObject *)out;
}

GW_KERNEL(resample_op) { return resampled(cls, args, false, 0); }

GW_KERNEL(resample_backward) {
    int64_t size;
    return gw_plain_int(args[4], &size) && size > 0 ? resampled(cls, args, true, size) : NULL;
}

const GwKernelEntry gw_resample_kernels[] = {
    {"resample", 4, resample_op},
    {"resample_backward", 5, resample_backward},
    {NULL, 0, NULL},
};

PyMethodDef gw_resample_methods[] = {
    {"resample", resample, METH_VARARGS,
     "resample(transposed, x, index, weight, out): out[o, i, :] = sum over k of weight[i, k] * "
     "x[o, index[i, k], :]; or transposed, out[o, index[i, k], :] += weight[i, k] * x[o, i, :] "
     "from zeros. Contiguous float32 or float64; index int64."},
    {NULL, NULL, 0, NULL},
};
