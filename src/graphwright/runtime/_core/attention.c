/* Scaled dot product attention and its gradient: blocks of rows whose scores stay in cache, on
 * the pool. The weights of the whole are never in memory at once (Rabe & Staats, 2021). */
#include "core.h"
#include "vector_math.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SCORES = 32 << 10, MOST_ROWS = 128, LEAST_ROWS = 16 };

/* Strides in elements of an operand [batch, heads, rows, size]; rows are contiguous. */
typedef struct {
    int64_t batch, head, row;
} Strides;

typedef struct {
    gw_ctx ctx;                 /* of one thread: for the products inside a unit */
    int32_t code;
    bool causal;
    double scale;
    int64_t batch, heads, rows, columns, size, value_size;
    int64_t block, blocks;      /* rows of a block, blocks of a head */
    const void *query_data, *key_data, *value_data, *mask_data, *grad;
    Strides query, key, value, mask;
    void *out, *levels, *to_query, *to_key, *to_value;   /* contiguous */
    _Atomic bool failed;
} Attention;

typedef struct {
    const void *query, *key, *value, *mask;
} Head;

static const void *at(const Attention *a, const void *data, const Strides *s, int64_t index) {
    size_t size = a->code == GW_FLOAT32 ? sizeof(float) : sizeof(double);
    int64_t offset = index / a->heads * s->batch + index % a->heads * s->head;
    return data == NULL ? NULL : (const char *)data + (size_t)offset * size;
}

static Head head(const Attention *a, int64_t index) {
    return (Head){at(a, a->query_data, &a->query, index), at(a, a->key_data, &a->key, index),
                  at(a, a->value_data, &a->value, index), at(a, a->mask_data, &a->mask, index)};
}

#define REAL float
#define EXP gw_exp_float
#define NAME(x) x##_f32
#include "attention_kernel.h"
#undef REAL
#undef EXP
#undef NAME
#define REAL double
#define EXP gw_exp_double
#define NAME(x) x##_f64
#include "attention_kernel.h"

/* ---- Python ---- */

static bool fail(const char *message) {
    PyErr_SetString(PyExc_ValueError, message);
    return false;
}

/* An array [batch, heads, rows, columns] whose last dimension is contiguous. */
static bool operand(PyObject *object, int type, const int64_t *shape, const void **data,
                    Strides *strides) {
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_NDIM(array) != 4 || PyArray_TYPE(array) != type
        || !PyArray_ISBEHAVED_RO(array)) {
        return fail("attention takes arrays of 4 dimensions, all of float32 or all of float64");
    }
    for (int i = 0; i < 4; i++) {
        if (PyArray_DIM(array, i) != shape[i]) {
            return fail("the shapes of attention's operands do not fit together");
        }
    }
    int64_t size = PyArray_ITEMSIZE(array);
    if (shape[3] > 1 && PyArray_STRIDE(array, 3) != size) {
        return fail("the last dimension of attention's operands must be contiguous");
    }
    *data = PyArray_DATA(array);
    int64_t row = shape[2] > 1 ? PyArray_STRIDE(array, 2) / size : shape[3];
    *strides = (Strides){PyArray_STRIDE(array, 0) / size, PyArray_STRIDE(array, 1) / size, row};
    return true;
}

static void *result(PyObject *object, int type, int64_t count) {
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_TYPE(array) != type || !PyArray_ISCARRAY(array)
        || PyArray_SIZE(array) != count) {
        fail("results of attention must be contiguous and of the right size");
        return NULL;
    }
    return PyArray_DATA(array);
}

/* query, key, value and mask, from which all sizes come. */
static bool operands(Attention *a, PyObject *query, PyObject *key, PyObject *value,
                     PyObject *mask, int *type) {
    if (!PyArray_Check(query) || !PyArray_Check(value) || !PyArray_Check(key)
        || PyArray_NDIM((PyArrayObject *)query) != 4 || PyArray_NDIM((PyArrayObject *)key) != 4
        || PyArray_NDIM((PyArrayObject *)value) != 4) {
        return fail("attention takes arrays of 4 dimensions");
    }
    const npy_intp *q = PyArray_DIMS((PyArrayObject *)query);
    *type = PyArray_TYPE((PyArrayObject *)query);
    if (*type != NPY_FLOAT && *type != NPY_DOUBLE) {
        return fail("attention takes float32 or float64");
    }
    a->code = *type == NPY_FLOAT ? GW_FLOAT32 : GW_FLOAT64;
    a->batch = q[0];
    a->heads = q[1];
    a->rows = q[2];
    a->size = q[3];
    a->columns = PyArray_DIM((PyArrayObject *)key, 2);
    a->value_size = PyArray_DIM((PyArrayObject *)value, 3);
    int64_t block = SCORES / (a->columns > 0 ? a->columns : 1);
    block = block < LEAST_ROWS ? LEAST_ROWS : (block > MOST_ROWS ? MOST_ROWS : block);
    a->block = block;
    a->blocks = (a->rows + block - 1) / block;
    const int64_t of_query[] = {q[0], q[1], q[2], q[3]};
    const int64_t of_key[] = {q[0], q[1], a->columns, q[3]};
    const int64_t of_value[] = {q[0], q[1], a->columns, a->value_size};
    const int64_t of_mask[] = {q[0], q[1], q[2], a->columns};
    if (!operand(query, *type, of_query, &a->query_data, &a->query)
        || !operand(key, *type, of_key, &a->key_data, &a->key)
        || !operand(value, *type, of_value, &a->value_data, &a->value)
        || (mask != Py_None && !operand(mask, *type, of_mask, &a->mask_data, &a->mask))) {
        return false;
    }
    return (a->query.row >= a->size && a->key.row >= a->size && a->value.row >= a->value_size)
           || fail("rows of attention's operands must not overlap");
}

static PyObject *run(Attention *a, gw_body body, int64_t units) {
    gw_ctx ctx;
    gw_context(&ctx);
    a->ctx = ctx;
    a->ctx.num_threads = 1;
    Py_BEGIN_ALLOW_THREADS
    gw_parallel_for(&ctx, body, a, units, 1);
    Py_END_ALLOW_THREADS
    if (atomic_load(&a->failed)) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}

static PyObject *attention(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *query, *key, *value, *mask, *out, *levels;
    int causal, type;
    Attention a = {.scale = 1};
    if (!PyArg_ParseTuple(args, "OOOOpdOO", &query, &key, &value, &mask, &causal, &a.scale, &out,
                          &levels)
        || !operands(&a, query, key, value, mask, &type)) {
        return NULL;
    }
    a.causal = causal != 0;
    int64_t rows = a.batch * a.heads * a.rows;
    if ((a.out = result(out, type, rows * a.value_size)) == NULL
        || (a.levels = result(levels, type, 2 * rows)) == NULL) {
        return NULL;
    }
    return run(&a, type == NPY_FLOAT ? forward_f32 : forward_f64,
               a.batch * a.heads * a.blocks);
}

static PyObject *attention_backward(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *grad, *query, *key, *value, *mask, *out, *levels, *to_query, *to_key, *to_value;
    int causal, type;
    Attention a = {.scale = 1};
    if (!PyArg_ParseTuple(args, "OOOOOOOpdOOO", &grad, &query, &key, &value, &mask, &out, &levels,
                          &causal, &a.scale, &to_query, &to_key, &to_value)
        || !operands(&a, query, key, value, mask, &type)) {
        return NULL;
    }
    a.causal = causal != 0;
    int64_t heads = a.batch * a.heads, rows = heads * a.rows, columns = heads * a.columns;
    if ((a.grad = result(grad, type, rows * a.value_size)) == NULL
        || (a.out = result(out, type, rows * a.value_size)) == NULL
        || (a.levels = result(levels, type, 2 * rows)) == NULL
        || (a.to_query = result(to_query, type, rows * a.size)) == NULL
        || (a.to_key = result(to_key, type, columns * a.size)) == NULL
        || (a.to_value = result(to_value, type, columns * a.value_size)) == NULL) {
        return NULL;
    }
    return run(&a, type == NPY_FLOAT ? backward_f32 : backward_f64, heads);
}

PyMethodDef gw_attention_methods[] = {
    {"attention", attention, METH_VARARGS,
     "attention(query, key, value, mask, causal, scale, out, levels): softmax(query @ key^T * "
     "scale + mask) @ value for arrays [batch, heads, rows, size]; mask may be None. levels "
     "receives the greatest score of each row and the inverse of its sum of exponentials."},
    {"attention_backward", attention_backward, METH_VARARGS,
     "attention_backward(grad, query, key, value, mask, out, levels, causal, scale, to_query, "
     "to_key, to_value): the gradients of attention."},
    {NULL, NULL, 0, NULL},
};
