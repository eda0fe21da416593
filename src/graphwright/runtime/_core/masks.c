/* Ops by a mask that broadcasts, of few elements: masked_select, masked_scatter, masked_fill. */
#include "walk.h"

/* The elements where the mask, which is walked second, holds; the walk ends where it began. */
static int64_t count_true(GwSteps *w) {
    int64_t count = 0;
    for (int64_t i = 0; i < w->numel; i++, gw_walk_next(w)) {
        count += *w->at[1] != 0;
    }
    return count;
}

GW_KERNEL(masked_select) {
    GwTensor *both[2] = {gw_plain_tensor(args[0]), gw_plain_tensor(args[1])};
    GwSteps w;
    if (both[0] == NULL || both[1] == NULL || both[1]->dtype != GW_BOOL || !gw_walk_begin(&w, 2, both)) {
        return NULL;
    }
    int64_t count = count_true(&w);
    size_t size = (size_t)gw_itemsize(both[0]);
    GwTensor *out = gw_tensor_empty(cls, both[0]->dtype, 1, &count, NULL);
    char *to = out == NULL ? NULL : out->data;
    for (int64_t i = 0; out != NULL && i < w.numel; i++, gw_walk_next(&w)) {
        if (*w.at[1] != 0) {
            memcpy(to, w.at[0], size);
            to += size;
        }
    }
    return (PyObject *)out;
}

/* input, mask, source: the n-th true element takes the n-th of the source. */
GW_KERNEL(masked_scatter) {
    GwTensor *both[2] = {gw_plain_tensor(args[0]), gw_plain_tensor(args[1])};
    const GwTensor *source = gw_plain_tensor(args[2]);
    GwSteps w;
    if (both[0] == NULL || both[1] == NULL || both[1]->dtype != GW_BOOL || source == NULL
        || (source->flags & GW_CONTIGUOUS) == 0 || source->dtype != both[0]->dtype
        || !gw_walk_begin(&w, 2, both)
        || count_true(&w) > source->numel) {
        return NULL;
    }
    size_t size = (size_t)gw_itemsize(source);
    GwTensor *out = gw_tensor_empty(cls, source->dtype, w.ndim, w.sizes, NULL);
    const char *given = source->data;
    for (int64_t i = 0; out != NULL && i < w.numel; i++, gw_walk_next(&w)) {
        bool taken = *w.at[1] != 0;
        memcpy(out->data + (size_t)i * size, taken ? given : w.at[0], size);
        given += taken ? size : 0;
    }
    return (PyObject *)out;
}

/* A number that fits the dtype, or a tensor of one element of that dtype. */
static bool read_value(PyObject *value, int dtype, char bytes[16]) {
    const GwTensor *t = gw_plain_tensor(value);
    if (t == NULL) {
        return !gw_is_tensor(value) && gw_element(value, dtype, bytes);
    }
    if (t->ndim == 0 && t->dtype == dtype) {
        memcpy(bytes, t->data, (size_t)gw_itemsize(t));
        return true;
    }
    return false;
}

typedef struct {
    GwTensor *both[2];
    GwSteps walk;
    char value[16];
} Fill;

/* input, mask, value */
static bool read_fill(Fill *f, PyObject *const *args) {
    f->both[0] = gw_plain_tensor(args[0]);
    f->both[1] = gw_plain_tensor(args[1]);
    return f->both[0] != NULL && f->both[1] != NULL && f->both[1]->dtype == GW_BOOL
           && gw_walk_begin(&f->walk, 2, f->both)
           && read_value(args[2], f->both[0]->dtype, f->value);
}

GW_KERNEL(masked_fill) {
    Fill f;
    if (!read_fill(&f, args)) {
        return NULL;
    }
    GwSteps *w = &f.walk;
    GwTensor *out = gw_tensor_empty(cls, f.both[0]->dtype, w->ndim, w->sizes, NULL);
    size_t size = (size_t)gw_itemsize(f.both[0]);
    for (int64_t i = 0; out != NULL && i < w->numel; i++, gw_walk_next(w)) {
        memcpy(out->data + (size_t)i * size, *w->at[1] != 0 ? f.value : w->at[0], size);
    }
    return (PyObject *)out;
}

GW_KERNEL(masked_fill_) {
    GW_UNUSED(cls);
    Fill f;
    if (!read_fill(&f, args) || f.both[0]->storage->readonly
        || f.walk.numel != f.both[0]->numel || f.walk.ndim != f.both[0]->ndim
        || f.both[0]->storage == f.both[1]->storage) {
        return NULL;
    }
    size_t size = (size_t)gw_itemsize(f.both[0]);
    for (int64_t i = 0; i < f.walk.numel; i++, gw_walk_next(&f.walk)) {
        if (*f.walk.at[1] != 0) {
            memcpy(f.walk.at[0], f.value, size);
        }
    }
    f.both[0]->storage->version++;
    return Py_NewRef(args[0]);
}

const GwKernelEntry gw_mask_kernels[] = {
    {"masked_fill", 3, masked_fill},
    {"masked_fill_", 3, masked_fill_},
    {"masked_scatter", 3, masked_scatter},
    {"masked_select", 2, masked_select},
    {NULL, 0, NULL},
};
