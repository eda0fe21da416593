/* Scaled dot product attention and its gradient: blocks of rows whose scores stay in cache, on
 * the pool. The weights of the whole are never in memory at once (Rabe & Staats, 2021). */
#include "native.h"
#include "packed.h"
#include "pool.h"
#include "routines.h"
#include "vector_math.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCORES = 32 << 10, MOST_ROWS = 128, LEAST_ROWS = 16,
    LITTLE = 256 << 10,         /* products of numbers for which no other thread is asked to help */
    LINE = 64,
    PACKED_ROWS = 8,            /* of a head from which laying its keys and values out pays */
};

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

static size_t in_lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

/* The keys and values of a head as panels; of none where `keys` is NULL. */
typedef struct {
    float *keys, *values;
} Panels;

static GwFactorForm keys_form(const Attention *a) {
    return (GwFactorForm){a->columns, a->size, a->key.row, 1, 1, true};
}

static GwFactorForm values_form(const Attention *a) {
    return (GwFactorForm){a->value_size, a->columns, a->value.row, 1, 1, false};
}

static size_t keys_count(const Attention *a) {
    GwFactorForm keys = keys_form(a);
    return gw_panels_bytes(&keys) / sizeof(float);
}

static size_t panels_count(const Attention *a) {
    GwFactorForm values = values_form(a);
    bool packed = a->code == GW_FLOAT32 && a->rows >= PACKED_ROWS && a->columns > 0
                  && a->size > 0;
    return !packed ? 0 : keys_count(a) + gw_panels_bytes(&values) / sizeof(float);
}

static Panels panels_in(const Attention *a, void *memory) {
    bool packed = panels_count(a) > 0;
    float *keys = packed ? memory : NULL;
    return (Panels){keys, packed ? keys + keys_count(a) : NULL};
}

static void pack_head(const Attention *a, const Head *h, const Panels *to) {
    if (to->keys != NULL) {
        GwFactorForm keys = keys_form(a), values = values_form(a);
        gw_pack_panels(&a->ctx, h->key, &keys, to->keys);
        gw_pack_panels(&a->ctx, h->value, &values, to->values);
    }
}

/* scores = scale * query @ key^T, for the first `columns` keys. */
static void times_keys(const Attention *a, const Head *h, const Panels *panels, int64_t rows,
                       int64_t columns, const void *query, void *scores) {
    if (panels->keys == NULL) {
        gw_gemm(&a->ctx, a->code, 0, 1, rows, columns, a->size, a->scale, query, a->query.row, 0,
                h->key, a->key.row, 0, 0, scores, columns, 0, 1);
        return;
    }
    gw_multiply_packed(&a->ctx, &(GwPackedProduct){
        .m = rows, .n = columns, .k = a->size, .ldc = columns, .a = query, .lda = a->query.row,
        .depth = a->size, .alpha = (float)a->scale, .c = scores}, panels->keys, NULL);
}

/* out = weights @ value, for the first `columns` values. */
static void times_values(const Attention *a, const Head *h, const Panels *panels, int64_t rows,
                         int64_t columns, const void *weights, void *out) {
    if (panels->keys == NULL) {
        gw_gemm(&a->ctx, a->code, 0, 0, rows, a->value_size, columns, 1, weights, columns, 0,
                h->value, a->value.row, 0, 0, out, a->value_size, 0, 1);
        return;
    }
    gw_multiply_packed(&a->ctx, &(GwPackedProduct){
        .m = rows, .n = a->value_size, .k = columns, .ldc = a->value_size, .a = weights,
        .lda = columns, .depth = a->columns, .alpha = 1, .c = out}, panels->values, NULL);
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

/* Cuts the rows into blocks, from the sizes. */
static void cut(Attention *a) {
    int64_t block = SCORES / (a->columns > 0 ? a->columns : 1);
    block = block < LEAST_ROWS ? LEAST_ROWS : (block > MOST_ROWS ? MOST_ROWS : block);
    a->block = block;
    a->blocks = (a->rows + block - 1) / block;
}

static bool is_little(const Attention *a) {
    double scores = (double)(a->batch * a->heads) * (double)(a->rows * a->columns);
    return scores * (double)(a->size + a->value_size) <= LITTLE;
}

static void run(const gw_ctx *ctx, Attention *a, bool backward) {
    int64_t heads = a->batch * a->heads;
    gw_body body = a->code == GW_FLOAT32 ? (backward ? backward_f32 : forward_f32)
                                         : (backward ? backward_f64 : forward_f64);
    a->ctx = *ctx;
    a->ctx.num_threads = 1;
    a->ctx.weights = NULL;      /* for the launch's own thread alone */
    int64_t units = backward ? heads : heads * a->blocks;
    gw_parallel_for(ctx, body, a, units, is_little(a) ? units : 1);
}

/* False with MemoryError. */
static bool run_here(Attention *a, bool backward) {
    gw_ctx ctx;
    gw_context(&ctx);
    PyThreadState *released = is_little(a) ? NULL : PyEval_SaveThread();
    run(&ctx, a, backward);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
    return !atomic_load(&a->failed) || PyErr_NoMemory() != NULL;
}

static bool run_forward(Attention *a) { return run_here(a, false); }

static bool run_backward(Attention *a) { return run_here(a, true); }

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
    cut(&a);
    return run_forward(&a) ? Py_NewRef(Py_None) : NULL;
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
    cut(&a);
    return run_backward(&a) ? Py_NewRef(Py_None) : NULL;
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

/* ---- compiled code ---- */

/* arrays: query, key, value, mask or NULL. */
static void describe(Attention *a, void *const *arrays, const int64_t *sizes,
                     const double *numbers) {
    const Strides *strides = (const Strides *)(const void *)(sizes + 8);
    *a = (Attention){
        .code = (int32_t)sizes[0], .batch = sizes[1], .heads = sizes[2], .rows = sizes[3],
        .columns = sizes[4], .size = sizes[5], .value_size = sizes[6], .causal = sizes[7] != 0,
        .scale = numbers[0], .query_data = arrays[0], .key_data = arrays[1],
        .value_data = arrays[2], .mask_data = arrays[3],
        .query = strides[0], .key = strides[1], .value = strides[2],
    };
    if (a->mask_data != NULL) {
        a->mask = strides[3];
    }
    cut(a);
}

static int32_t finished(Attention *a) {
    return atomic_load(&a->failed) ? GW_NO_MEMORY : GW_OK;
}

/* arrays: the result, its levels or NULL, then the operands */
int32_t gw_attention_routine(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes,
                             const double *numbers, const gw_then *then) {
    Attention a;
    describe(&a, arrays + 2, sizes, numbers);
    a.out = arrays[0];
    a.levels = arrays[1];
    run(ctx, &a, false);
    gw_follow_all(ctx, then);
    return finished(&a);
}

/* arrays: the gradients of query, key and value, these, the mask, the gradient of the result, the
 * result and its levels */
int32_t gw_attention_backward_routine(const gw_ctx *ctx, void *const *arrays,
                                      const int64_t *sizes, const double *numbers,
                                      const gw_then *then) {
    Attention a;
    describe(&a, arrays + 3, sizes, numbers);
    const int64_t heads = a.batch * a.heads;
    const int64_t counts[] = {heads * a.rows * a.size, heads * a.columns * a.size,
                              heads * a.columns * a.value_size};
    void **const to[] = {&a.to_query, &a.to_key, &a.to_value}, *scratch[3] = {NULL};
    for (int i = 0; i < 3; i++) {
        *to[i] = arrays[i];
        if (arrays[i] == NULL) {        /* nobody reads it, but all are made together */
            *to[i] = scratch[i] = malloc((size_t)(counts[i] * gw_dtypes[a.code].itemsize) + 1);
            atomic_store(&a.failed, atomic_load(&a.failed) || scratch[i] == NULL);
        }
    }
    a.grad = arrays[7];
    a.out = arrays[8];
    a.levels = arrays[9];
    if (!atomic_load(&a.failed)) {
        run(ctx, &a, true);
        gw_follow_all(ctx, then);
    }
    for (int i = 0; i < 3; i++) {
        free(scratch[i]);
    }
    return finished(&a);
}

/* ---- plain calls: tensors of one dtype with the same dims in front ---- */

/* A tensor [.., rows, size] whose rows are contiguous and whose dims in front are `lead`; two of
 * these at most, which are its batch and heads. */
static bool read_operand(PyObject *o, int dtype, const GwTensor *lead, const void **data,
                         Strides *strides) {
    const GwTensor *t = gw_plain_tensor(o);
    int n = lead->ndim;
    if (t == NULL || t->dtype != dtype || t->ndim != n || t->numel == 0
        || memcmp(t->sizes, lead->sizes, (size_t)(n - 2) * sizeof(int64_t)) != 0) {
        return false;
    }
    int64_t rows = t->sizes[n - 2], size = t->sizes[n - 1];
    int64_t row = rows > 1 ? t->strides[n - 2] : size;
    *data = t->data;
    *strides = (Strides){n > 3 ? t->strides[n - 4] : 0, n > 2 ? t->strides[n - 3] : 0, row};
    return (size == 1 || t->strides[n - 1] == 1) && row >= size;
}

/* query, key and value, from which all sizes come. */
static bool read_operands(Attention *a, PyObject *const *args) {
    const GwTensor *q = gw_plain_tensor(args[0]), *k = gw_plain_tensor(args[1]),
                   *v = gw_plain_tensor(args[2]);
    if (q == NULL || k == NULL || v == NULL || q->ndim < 2 || q->ndim > 4
        || (q->dtype != GW_FLOAT32 && q->dtype != GW_FLOAT64)
        || !read_operand(args[0], q->dtype, q, &a->query_data, &a->query)
        || !read_operand(args[1], q->dtype, q, &a->key_data, &a->key)
        || !read_operand(args[2], q->dtype, q, &a->value_data, &a->value)) {
        return false;
    }
    int n = q->ndim;
    a->code = q->dtype;
    a->batch = n > 3 ? q->sizes[n - 4] : 1;
    a->heads = n > 2 ? q->sizes[n - 3] : 1;
    a->rows = q->sizes[n - 2];
    a->size = q->sizes[n - 1];
    a->columns = k->sizes[n - 2];
    a->value_size = v->sizes[n - 1];
    cut(a);
    return k->sizes[n - 1] == a->size && v->sizes[n - 2] == a->columns;
}

#define WRITE_MASK(TYPE)                                                            \
    for (int64_t j = 0; j < n; j++) {                                               \
        ((TYPE *)(void *)to)[j] = from[j * step] ? (TYPE)0 : -(TYPE)INFINITY;       \
    }

/* A row of truths as what is added to the scores. */
static void write_mask(char *to, const char *from, int64_t n, int64_t step, int code) {
    if (code == GW_FLOAT32) {
        WRITE_MASK(float)
    } else {
        WRITE_MASK(double)
    }
}

/* The mask's sizes and strides as [batch, heads, rows, columns], strides of 0 where one element
 * serves all; false where it is no plain mask of these scores. */
static bool mask_layout(const Attention *a, const GwTensor *mask, int ndim, int64_t *sizes,
                        int64_t *strides) {
    const int64_t scores[] = {a->batch, a->heads, a->rows, a->columns};
    bool fits = mask != NULL && mask->ndim <= ndim && (mask->dtype == GW_BOOL
                                                       || mask->dtype == a->code);
    for (int d = 0; fits && d < 4; d++) {
        int own = d - 4 + mask->ndim;
        sizes[d] = own < 0 ? 1 : mask->sizes[own];
        strides[d] = own < 0 || sizes[d] == 1 ? 0 : mask->strides[own];
        fits = sizes[d] == 1 || sizes[d] == scores[d];
    }
    return fits;
}

/* Sets the mask, which is added to the scores; -inf where a bool one says no. `room` is what was
 * allocated for it. False, without an exception, where it is no plain one. */
static bool read_mask(Attention *a, PyObject *given, int ndim, void **room) {
    *room = NULL;
    if (given == Py_None) {
        return true;
    }
    int64_t sizes[4], strides[4];
    const GwTensor *mask = gw_plain_tensor(given);
    if (a->causal || !mask_layout(a, mask, ndim, sizes, strides)) {
        return false;
    }
    int64_t columns = a->columns, rows = sizes[0] * sizes[1] * sizes[2];
    if (mask->dtype == a->code) {
        a->mask_data = mask->data;
        a->mask = (Strides){strides[0], strides[1], strides[2]};
        return strides[3] == 1 || columns == 1;
    }
    int size = gw_dtypes[a->code].itemsize;
    char *to = *room = PyMem_Malloc((size_t)(rows * columns * size));
    if (to == NULL) {
        return false;
    }
    for (int64_t i = 0; i < rows; i++, to += columns * size) {
        int64_t row = i % sizes[2], above = i / sizes[2];
        int64_t place = row * strides[2] + above % sizes[1] * strides[1]
                        + above / sizes[1] * strides[0];
        write_mask(to, mask->data + place, columns, strides[3], a->code);
    }
    a->mask_data = *room;
    a->mask = (Strides){sizes[0] == 1 ? 0 : sizes[1] * sizes[2] * columns,
                        sizes[1] == 1 ? 0 : sizes[2] * columns, sizes[2] == 1 ? 0 : columns};
    return true;
}

/* A tensor of the query's dims with another last one. */
static GwTensor *with_last(PyTypeObject *cls, PyObject *query, int64_t last) {
    const GwTensor *q = (const GwTensor *)query;
    int64_t sizes[4];
    memcpy(sizes, q->sizes, (size_t)q->ndim * sizeof(int64_t));
    sizes[q->ndim - 1] = last;
    return gw_tensor_empty(cls, q->dtype, q->ndim, sizes, NULL);
}

/* The result, and the levels of its rows where `levels` is not NULL. */
static GwTensor *forward_of(PyTypeObject *cls, Attention *a, PyObject *query, GwTensor **levels) {
    GwTensor *out = with_last(cls, query, a->value_size);
    GwTensor *kept = out == NULL ? NULL : with_last(cls, query, 2);
    if (kept != NULL) {
        a->out = out->data;
        a->levels = kept->data;
    }
    if (kept == NULL || !run_forward(a)) {
        Py_CLEAR(out);
        Py_CLEAR(kept);
    }
    if (levels != NULL) {
        *levels = kept;
    } else {
        Py_XDECREF(kept);
    }
    return out;
}

static int ndim_of(PyObject *query) { return ((const GwTensor *)query)->ndim; }

/* query, key, value, attn_mask, is_causal, scale: the result and its levels */
GW_KERNEL(fused_attention) {
    Attention a = {.causal = args[4] == Py_True};
    void *room;
    if (!PyBool_Check(args[4]) || !gw_plain_number(args[5], &a.scale)
        || !read_operands(&a, args) || !read_mask(&a, args[3], ndim_of(args[0]), &room)) {
        return NULL;
    }
    GwTensor *levels, *out = forward_of(cls, &a, args[0], &levels);
    PyMem_Free(room);
    PyObject *pair = out == NULL ? NULL : PyTuple_Pack(2, out, levels);
    Py_XDECREF(out);
    Py_XDECREF(levels);
    return pair;
}

/* query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa */
GW_KERNEL(scaled_dot_product_attention) {
    Attention a = {.causal = args[5] == Py_True};
    double dropout;
    void *room;
    if (!PyBool_Check(args[5]) || args[7] != Py_False || !gw_plain_number(args[4], &dropout)
        || dropout != 0 || !read_operands(&a, args)) {
        return NULL;
    }
    a.scale = 1 / sqrt((double)a.size);
    if ((args[6] != Py_None && !gw_plain_number(args[6], &a.scale))
        || !read_mask(&a, args[3], ndim_of(args[0]), &room)) {
        return NULL;
    }
    GwTensor *out = forward_of(cls, &a, args[0], NULL);
    PyMem_Free(room);
    return (PyObject *)out;
}

/* A contiguous tensor of the query's dims with another last one; its memory, or NULL. */
static void *read_result(PyObject *o, const GwTensor *query, int64_t last) {
    const GwTensor *t = gw_plain_tensor(o);
    int n = query->ndim;
    bool fits = t != NULL && t->dtype == query->dtype && (t->flags & GW_CONTIGUOUS) != 0
                && t->ndim == n && t->sizes[n - 1] == last
                && memcmp(t->sizes, query->sizes, (size_t)(n - 1) * sizeof(int64_t)) == 0;
    return fits ? t->data : NULL;
}

/* grad, query, key, value, attn_mask, out, levels, is_causal, scale: the gradients of the three */
GW_KERNEL(attention_backward_kernel) {
    Attention a = {.causal = args[7] == Py_True};
    PyObject *to[3] = {NULL, NULL, NULL}, *all = NULL;
    void *room;
    if (!PyBool_Check(args[7]) || !gw_plain_number(args[8], &a.scale)
        || !read_operands(&a, args + 1) || !read_mask(&a, args[4], ndim_of(args[1]), &room)) {
        return NULL;
    }
    const GwTensor *query = (const GwTensor *)args[1];
    a.grad = read_result(args[0], query, a.value_size);
    a.out = read_result(args[5], query, a.value_size);
    a.levels = read_result(args[6], query, 2);
    if (a.grad == NULL || a.out == NULL || a.levels == NULL) {
        goto done;
    }
    for (int i = 0; i < 3; i++) {
        const GwTensor *t = (const GwTensor *)args[1 + i];
        to[i] = (PyObject *)gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, NULL);
        if (to[i] == NULL) {
            goto done;
        }
    }
    a.to_query = ((GwTensor *)to[0])->data;
    a.to_key = ((GwTensor *)to[1])->data;
    a.to_value = ((GwTensor *)to[2])->data;
    all = run_backward(&a) ? PyTuple_Pack(3, to[0], to[1], to[2]) : NULL;
done:
    PyMem_Free(room);
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(to[i]);
    }
    return all;
}

const GwKernelEntry gw_attention_kernels[] = {
    {"attention_backward", 9, attention_backward_kernel},
    {"fused_attention", 6, fused_attention},
    {"scaled_dot_product_attention", 8, scaled_dot_product_attention},
    {NULL, 0, NULL},
};
