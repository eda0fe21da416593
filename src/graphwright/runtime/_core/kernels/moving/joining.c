/* cat, stack and their relatives, of contiguous tensors of one dtype. */
#include "layout.h"
#include "native.h"
#include "pool.h"

enum { LARGEST = 1 << 15 };     /* elements of a result that one thread joins */

typedef struct {
    int count, ndim, dim, dtype;    /* ndim and dim are the result's */
    int64_t sizes[GW_MAX_DIMS];
    PyObject *const *parts;
    int64_t rows, row_bytes;        /* of the result, before and from the joined dim on */
    char *out;
} Join;

/* Whether a tensor is contiguous, and no image whose channels may lie together as well. */
static bool joins(const GwTensor *t) {
    return (t->flags & GW_CONTIGUOUS) != 0 && ((t->ndim != 4 && t->ndim != 5) || gw_row_major(t));
}

/* Whether a part is contiguous and has the sizes of the first, but along `skipped`. */
static bool fits(PyObject *o, const GwTensor *first, int skipped) {
    const GwTensor *t = gw_plain_tensor(o);
    if (t == NULL || t->dtype != first->dtype || t->ndim != first->ndim
        || !joins(t)) {
        return false;
    }
    for (int d = 0; d < t->ndim; d++) {
        if (d != skipped && t->sizes[d] != first->sizes[d]) {
            return false;
        }
    }
    return true;
}

/* Short pieces are not worth the call of a function. */
static inline void copy_piece(char *to, const char *from, size_t bytes) {
    switch (bytes) {
        case 32: memcpy(to, from, 32); return;
        case 64: memcpy(to, from, 64); return;
        case 128: memcpy(to, from, 128); return;
        default: break;
    }
    if (bytes % sizeof(uint64_t) != 0 || bytes > 128) {
        memcpy(to, from, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        memcpy(to + i, from + i, sizeof(uint64_t));
    }
}

/* The parts' rows [begin, end), each of which goes on from the joined dim to the end, in turns: a
 * few rows of each part at a time, whose places in the result stay in the caches. */
static void join_rows(void *closure, int64_t begin, int64_t end) {
    enum { TOGETHER = 8 };
    const Join *j = closure;
    int64_t itemsize = gw_dtypes[j->dtype].itemsize;
    char *to = j->out + begin * j->row_bytes;
    for (int64_t row = begin; row < end; row += TOGETHER) {
        int64_t count = end - row < TOGETHER ? end - row : TOGETHER;
        char *start = to;
        for (int i = 0; i < j->count; i++) {
            const GwTensor *t = (const GwTensor *)j->parts[i];
            int64_t bytes = t->numel / j->rows * itemsize;
            const char *from = t->data + row * bytes;
            for (int64_t k = 0; k < count; k++) {
                copy_piece(start + k * j->row_bytes, from + k * bytes, (size_t)bytes);
            }
            start += bytes;
        }
        to += count * j->row_bytes;
    }
}

/* NULL without an exception where the parts are better copied one after the other, each by all
 * threads: few long rows, or rows of which each part has few bytes. */
static PyObject *join(PyTypeObject *cls, Join *j, int64_t elements) {
    enum { FEW = 4, SHORT = 32 };
    j->rows = 1;
    for (int d = 0; d < j->dim; d++) {
        j->rows *= j->sizes[d];
    }
    if (elements > LARGEST) {
        int64_t part = elements / j->rows / j->count * gw_dtypes[j->dtype].itemsize;
        if (j->rows < FEW || part < SHORT) {
            return NULL;
        }
    }
    GwTensor *out = gw_tensor_empty(cls, j->dtype, j->ndim, j->sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    j->out = out->data;
    j->row_bytes = elements / j->rows * gw_itemsize(out);
    gw_run_tasks(join_rows, j, j->rows, elements / j->rows);
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
    if (first == NULL || first->numel == 0 || !joins(first)) {
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

/* Along `j->dim`, of tensors that have it. */
static PyObject *cat_along(PyTypeObject *cls, Join *j, const GwTensor *first) {
    int64_t total = 0, elements = 0;
    for (int i = 0; i < j->count; i++) {
        if (is_nothing(j->parts[i], j->dtype)) {
            continue;
        }
        if (!fits(j->parts[i], first, j->dim)) {
            return NULL;
        }
        total += ((GwTensor *)j->parts[i])->sizes[j->dim];
        elements += ((GwTensor *)j->parts[i])->numel;
    }
    j->sizes[j->dim] = total;
    return join(cls, j, elements);
}

/* Along a new dim `j->dim`. */
static PyObject *stack_along(PyTypeObject *cls, Join *j, const GwTensor *first) {
    for (int i = 0; i < j->count; i++) {
        if (!fits(j->parts[i], first, -1)) {
            return NULL;
        }
    }
    size_t rest = (size_t)(j->ndim++ - j->dim) * sizeof(int64_t);
    memmove(j->sizes + j->dim + 1, j->sizes + j->dim, rest);
    j->sizes[j->dim] = j->count;
    return join(cls, j, j->count * first->numel);
}

GW_KERNEL(cat) {
    Join j;
    const GwTensor *first = first_of(args[0], &j);
    bool plain = first != NULL && gw_wrapped_dim(args[1], j.ndim, &j.dim);
    return plain ? cat_along(cls, &j, first) : NULL;
}

GW_KERNEL(stack) {
    Join j;
    const GwTensor *first = first_of(args[0], &j);
    bool plain = first != NULL && j.ndim < GW_MAX_DIMS
                 && gw_wrapped_dim(args[1], j.ndim + 1, &j.dim);
    return plain ? stack_along(cls, &j, first) : NULL;
}

/* ---- by name of the dim ---- */

/* Tensors of at least `least` dims along dim `dim`; of one dim less, along a new dim `dim` where
 * `added`. All have to be of as many dims. */
static PyObject *joined(PyTypeObject *cls, PyObject *tensors, int least, int dim, bool added) {
    Join j;
    const GwTensor *first = first_of(tensors, &j);
    if (first == NULL || j.ndim < least - added) {
        return NULL;
    }
    for (int i = 0; i < j.count; i++) {
        const GwTensor *t = gw_plain_tensor(j.parts[i]);
        if (t == NULL || t->ndim != j.ndim) {
            return NULL;
        }
    }
    j.dim = dim;
    return j.ndim < least ? stack_along(cls, &j, first) : cat_along(cls, &j, first);
}

GW_KERNEL(vstack) { return joined(cls, args[0], 2, 0, true); }
GW_KERNEL(dstack) { return joined(cls, args[0], 3, 2, true); }
GW_KERNEL(column_stack) { return joined(cls, args[0], 2, 1, true); }

GW_KERNEL(hstack) {
    Join j;
    const GwTensor *first = first_of(args[0], &j);
    int dim = first == NULL || first->ndim == 1 ? 0 : 1;
    return joined(cls, args[0], dim + 1, dim, false);
}

const GwKernelEntry gw_joining_kernels[] = {
    {"cat", 2, cat},
    {"column_stack", 1, column_stack},
    {"dstack", 1, dstack},
    {"hstack", 1, hstack},
    {"stack", 2, stack},
    {"vstack", 1, vstack},
    {NULL, 0, NULL},
};
