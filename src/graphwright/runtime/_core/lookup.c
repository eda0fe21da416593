/* Rows of small tables at the places that indices give, the gradient of the table, and one_hot. */
#include "native.h"

enum { LARGEST = 1 << 16 };     /* elements of the result */

/* Contiguous indices, of int64 or int32. */
typedef struct {
    const char *data;
    bool wide;
    int64_t count;
} Indices;

static bool read_indices(PyObject *o, Indices *indices) {
    const GwTensor *t = gw_plain_tensor(o);
    if (t == NULL || (t->dtype != GW_INT64 && t->dtype != GW_INT32)
        || (t->flags & GW_CONTIGUOUS) == 0) {
        return false;
    }
    *indices = (Indices){t->data, t->dtype == GW_INT64, t->numel};
    return true;
}

static int64_t index_at(const Indices *indices, int64_t i) {
    return indices->wide ? ((const int64_t *)indices->data)[i]
                         : ((const int32_t *)indices->data)[i];
}

/* weight, indices, padding_idx, scale_grad_by_freq, sparse */
GW_KERNEL(embedding) {
    const GwTensor *weight = gw_plain_tensor(args[0]);
    Indices indices;
    if (weight == NULL || weight->ndim != 2 || (weight->flags & GW_CONTIGUOUS) == 0
        || !read_indices(args[1], &indices)) {
        return NULL;
    }
    const GwTensor *places = (const GwTensor *)args[1];
    int64_t rows = weight->sizes[0], width = weight->sizes[1], sizes[GW_MAX_DIMS];
    if (places->ndim == GW_MAX_DIMS || width == 0 || indices.count > LARGEST / width) {
        return NULL;
    }
    for (int64_t i = 0; i < indices.count; i++) {
        int64_t row = index_at(&indices, i);
        if (row < 0 || row >= rows) {
            return NULL;
        }
    }
    memcpy(sizes, places->sizes, (size_t)places->ndim * sizeof *sizes);
    sizes[places->ndim] = width;
    GwTensor *out = gw_tensor_empty(cls, weight->dtype, places->ndim + 1, sizes, NULL);
    if (out != NULL) {
        size_t bytes = (size_t)(width * gw_itemsize(weight));
        for (int64_t i = 0; i < indices.count; i++) {
            memcpy(out->data + (size_t)i * bytes,
                   weight->data + (size_t)index_at(&indices, i) * bytes, bytes);
        }
    }
    return (PyObject *)out;
}

static void add_row(char *to, const char *from, int64_t n, int dtype) {
    for (int64_t i = 0; i < n; i++) {
        if (dtype == GW_FLOAT32) {
            ((float *)to)[i] += ((const float *)from)[i];
        } else {
            ((double *)to)[i] += ((const double *)from)[i];
        }
    }
}

/* grad, indices, rows, padding_idx, scale_grad_by_freq */
GW_KERNEL(embedding_backward) {
    const GwTensor *grad = gw_plain_tensor(args[0]);
    Indices indices;
    int64_t rows, skipped;
    if (grad == NULL || (grad->dtype != GW_FLOAT32 && grad->dtype != GW_FLOAT64)
        || grad->ndim == 0 || (grad->flags & GW_CONTIGUOUS) == 0
        || !read_indices(args[1], &indices) || !gw_plain_int(args[2], &rows)
        || !gw_plain_int(args[3], &skipped) || args[4] != Py_False) {
        return NULL;
    }
    int64_t width = grad->sizes[grad->ndim - 1];
    if (width == 0 || rows <= 0 || rows > LARGEST / width || grad->numel > LARGEST
        || grad->numel != indices.count * width) {
        return NULL;
    }
    int64_t sizes[2] = {rows, width}, bytes = width * gw_itemsize(grad);
    for (int64_t i = 0; i < indices.count; i++) {
        int64_t row = index_at(&indices, i);
        if (row < 0 || row >= rows) {
            return NULL;
        }
    }
    GwTensor *out = gw_tensor_empty(cls, grad->dtype, 2, sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    memset(out->data, 0, (size_t)(rows * bytes));
    for (int64_t i = 0; i < indices.count; i++) {
        int64_t row = index_at(&indices, i);
        if (row != skipped) {
            add_row(out->data + row * bytes, grad->data + i * bytes, width, grad->dtype);
        }
    }
    return (PyObject *)out;
}

/* input, num_classes or -1 for as many as there are */
GW_KERNEL(one_hot) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    int64_t classes, sizes[GW_MAX_DIMS], most = -1;
    if (t == NULL || t->dtype != GW_INT64 || (t->flags & GW_CONTIGUOUS) == 0 || t->numel == 0
        || t->ndim == GW_MAX_DIMS || !gw_plain_int(args[1], &classes)
        || (classes <= 0 && classes != -1)) {
        return NULL;
    }
    const int64_t *places = (const int64_t *)t->data;
    for (int64_t i = 0; i < t->numel; i++) {
        if (places[i] < 0) {
            return NULL;
        }
        most = places[i] > most ? places[i] : most;
    }
    if (most > LARGEST || (classes >= 0 && most >= classes)) {
        return NULL;
    }
    classes = classes < 0 ? most + 1 : classes;
    if (classes > LARGEST / t->numel) {
        return NULL;
    }
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof *sizes);
    sizes[t->ndim] = classes;
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, t->ndim + 1, sizes, NULL);
    if (out != NULL) {
        memset(out->data, 0, (size_t)out->numel * sizeof(int64_t));
        for (int64_t i = 0; i < t->numel; i++) {
            ((int64_t *)out->data)[i * classes + places[i]] = 1;
        }
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_lookup_kernels[] = {
    {"embedding", 5, embedding},
    {"embedding_backward", 5, embedding_backward},
    {"one_hot", 2, one_hot},
    {NULL, 0, NULL},
};
