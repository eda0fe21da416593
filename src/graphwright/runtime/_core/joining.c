/* cat and stack of small tensors of one dtype. */
#include "native.h"

enum { LARGEST = 1 << 15 };     /* elements of the result; others are copied by threads */

typedef struct {
    int count, ndim, dim, dtype;    /* ndim and dim are the result's */
    int64_t sizes[GW_MAX_DIMS];
    PyObject *const *parts;
} Join;

/* Whether a part is contiguous and has the sizes of the first, but along `skipped`. */
static bool fits(PyObject *o, const GwTensor *first, int skipped) {
    const GwTensor *t = gw_plain_tensor(o);
    if (t == NULL || t->dtype != first->dtype || t->ndim != first->ndim
        || (t->flags & GW_CONTIGUOUS) == 0) {
        return false;
    }
    for (int d = 0; d < t->ndim; d++) {
        if (d != skipped && t->sizes[d] != first->sizes[d]) {
            return false;
        }
    }
    return true;
}

/* Copies the parts' rows, each of which goes on from the joined dim to the end, in turns. */
static PyObject *join(PyTypeObject *cls, const Join *j) {
    GwTensor *out = gw_tensor_empty(cls, j->dtype, j->ndim, j->sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    int64_t rows = 1;
    for (int d = 0; d < j->dim; d++) {
        rows *= j->sizes[d];
    }
    char *to = out->data;
    for (int64_t row = 0; row < rows; row++) {
        for (int i = 0; i < j->count; i++) {
            const GwTensor *t = (const GwTensor *)j->parts[i];
            size_t bytes = (size_t)(t->numel / rows * gw_itemsize(t));
            memcpy(to, t->data + (size_t)row * bytes, bytes);
            to += bytes;
        }
    }
    return (PyObject *)out;
}

/* The first of a tuple of tensors, which has to be plain and contiguous; else NULL. */
static const GwTensor *first_of(PyObject *tuple, Join *j) {
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) == 0
        || PyTuple_GET_SIZE(tuple) > LARGEST) {
        return NULL;
    }
    j->count = (int)PyTuple_GET_SIZE(tuple);
    j->parts = PySequence_Fast_ITEMS(tuple);
    const GwTensor *first = gw_plain_tensor(j->parts[0]);
    if (first == NULL || first->numel == 0 || (first->flags & GW_CONTIGUOUS) == 0) {
        return NULL;
    }
    j->dtype = first->dtype;
    j->ndim = first->ndim;
    memcpy(j->sizes, first->sizes, (size_t)j->ndim * sizeof(int64_t));
    return first;
}

/* A vector without elements, which joins whatever the others' shapes. */
static bool is_nothing(PyObject *o, int dtype) {
    const GwTensor *t = gw_plain_tensor(o);
    return t != NULL && t->ndim == 1 && t->numel == 0 && t->dtype == dtype;
}

GW_KERNEL(cat) {
    Join j;
    const GwTensor *first = first_of(args[0], &j);
    if (first == NULL || !gw_wrapped_dim(args[1], j.ndim, &j.dim)) {
        return NULL;
    }
    int64_t total = 0, elements = 0;
    for (int i = 0; i < j.count; i++) {
        if (is_nothing(j.parts[i], j.dtype)) {
            continue;
        }
        if (!fits(j.parts[i], first, j.dim)) {
            return NULL;
        }
        total += ((GwTensor *)j.parts[i])->sizes[j.dim];
        elements += ((GwTensor *)j.parts[i])->numel;
    }
    j.sizes[j.dim] = total;
    return elements > LARGEST ? NULL : join(cls, &j);
}

GW_KERNEL(stack) {
    Join j;
    const GwTensor *first = first_of(args[0], &j);
    if (first == NULL || j.ndim == GW_MAX_DIMS || !gw_wrapped_dim(args[1], ++j.ndim, &j.dim)
        || j.count * first->numel > LARGEST) {
        return NULL;
    }
    for (int i = 0; i < j.count; i++) {
        if (!fits(j.parts[i], first, -1)) {
            return NULL;
        }
    }
    size_t rest = (size_t)(j.ndim - 1 - j.dim) * sizeof(int64_t);
    memmove(j.sizes + j.dim + 1, j.sizes + j.dim, rest);
    j.sizes[j.dim] = j.count;
    return join(cls, &j);
}

const GwKernelEntry gw_joining_kernels[] = {
    {"cat", 2, cat},
    {"stack", 2, stack},
    {NULL, 0, NULL},
};
