/* Copies of views: `permute_copy` is a contiguous `permute`, and so on. */
#include "native.h"
#include "views.h"

static PyObject *copied(PyTypeObject *cls, PyObject *view) {
    const GwTensor *t = (const GwTensor *)view;
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, NULL);
    if (out != NULL) {
        gw_copy_elements(t->ndim, t->sizes, gw_itemsize(t), out->data, out->strides, t->data,
                         t->strides);
    }
    return (PyObject *)out;
}

static PyObject *all_copied(PyTypeObject *cls, PyObject *views) {
    Py_ssize_t n = PyTuple_GET_SIZE(views);
    PyObject *copies = PyTuple_New(n);
    for (Py_ssize_t i = 0; copies != NULL && i < n; i++) {
        PyObject *copy = copied(cls, PyTuple_GET_ITEM(views, i));
        if (copy == NULL) {
            Py_CLEAR(copies);
        } else {
            PyTuple_SET_ITEM(copies, i, copy);
        }
    }
    return copies;
}

static const GwKernelEntry *entry_of(const char *name) {
    const GwKernelEntry *entry = gw_view_kernels;
    while (entry->name != NULL && strcmp(entry->name, name) != 0) {
        entry++;
    }
    return entry->name != NULL ? entry : NULL;
}

/* `entry` keeps the view's kernel between calls. */
static PyObject *copy_of(const GwKernelEntry **entry, const char *name, PyTypeObject *cls,
                         PyObject *const *args) {
    if (*entry == NULL) {
        *entry = entry_of(name);
    }
    PyObject *view = *entry == NULL ? NULL : (*entry)->kernel(cls, args);
    if (view == NULL) {
        return NULL;
    }
    PyObject *copy = PyTuple_Check(view) ? all_copied(cls, view) : copied(cls, view);
    Py_DECREF(view);
    return copy;
}

#define COPY_OF(view)                                           \
    GW_KERNEL(view##_copy) {                                    \
        static const GwKernelEntry *entry;                      \
        return copy_of(&entry, #view, cls, args);               \
    }

COPY_OF(alias)
COPY_OF(diagonal)
COPY_OF(expand)
COPY_OF(narrow)
COPY_OF(permute)
COPY_OF(select)
COPY_OF(slice)
COPY_OF(split)
COPY_OF(split_with_sizes)
COPY_OF(squeeze)
COPY_OF(t)
COPY_OF(transpose)
COPY_OF(unbind)
COPY_OF(unfold)
COPY_OF(unsqueeze)
COPY_OF(view)

const GwKernelEntry gw_view_copy_kernels[] = {
    {"alias_copy", 1, alias_copy},
    {"detach_copy", 1, alias_copy},
    {"diagonal_copy", 4, diagonal_copy},
    {"expand_copy", 2, expand_copy},
    {"narrow_copy", 4, narrow_copy},
    {"permute_copy", 2, permute_copy},
    {"select_copy", 3, select_copy},
    {"slice_copy", 5, slice_copy},
    {"split_copy", 3, split_copy},
    {"split_with_sizes_copy", 3, split_with_sizes_copy},
    {"squeeze_copy", 2, squeeze_copy},
    {"t_copy", 1, t_copy},
    {"transpose_copy", 3, transpose_copy},
    {"unbind_copy", 2, unbind_copy},
    {"unfold_copy", 4, unfold_copy},
    {"unsqueeze_copy", 2, unsqueeze_copy},
    {"view_copy", 2, view_copy},
    {NULL, 0, NULL},
};
