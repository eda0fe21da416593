/* The usual views of tensors with data, without a detour through their shape rules. Whatever is
 * unusual, and what is to be refused, gives None: the rules in Python decide. */
#include "core.h"

typedef struct {
    GwTensor *tensor;
    PyTypeObject *cls;
    int ndim;
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS], offset;
} View;

/* The input's own layout; false (without an error) where it has no data. */
static bool begin(View *v, PyObject *const *args, Py_ssize_t nargs, Py_ssize_t expected) {
    v->cls = nargs == expected ? gw_tensor_class(args[0]) : NULL;
    v->tensor = v->cls != NULL ? gw_tensor_arg(args[1]) : NULL;
    if (v->tensor == NULL || v->tensor->data == NULL || (v->tensor->flags & GW_SYMBOLIC)) {
        PyErr_Clear();
        return false;
    }
    v->ndim = v->tensor->ndim;
    v->offset = v->tensor->offset;
    memcpy(v->sizes, v->tensor->sizes, (size_t)v->ndim * sizeof(int64_t));
    memcpy(v->strides, v->tensor->strides, (size_t)v->ndim * sizeof(int64_t));
    return true;
}

static PyObject *finish(const View *v) {
    return gw_view_of(v->cls, v->tensor, v->ndim, v->sizes, v->strides, v->offset);
}

static bool plain_int(PyObject *o, int64_t *value) {
    if (!PyLong_CheckExact(o)) {
        return false;
    }
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow == 0;
}

static bool dim_of(PyObject *o, int ndim, int *dim) {
    int64_t value;
    bool ok = plain_int(o, &value) && value >= 0 && value < ndim;
    *dim = ok ? (int)value : 0;
    return ok;
}

#define VIEW(name) \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs)

VIEW(transpose_view) {
    GW_UNUSED(self);
    View v;
    int a, b;
    if (!begin(&v, args, nargs, 4) || !dim_of(args[2], v.ndim, &a)
        || !dim_of(args[3], v.ndim, &b)) {
        Py_RETURN_NONE;
    }
    v.sizes[a] = v.tensor->sizes[b];
    v.strides[a] = v.tensor->strides[b];
    v.sizes[b] = v.tensor->sizes[a];
    v.strides[b] = v.tensor->strides[a];
    return finish(&v);
}

VIEW(permute_view) {
    GW_UNUSED(self);
    View v;
    if (!begin(&v, args, nargs, 3) || !PyTuple_Check(args[2])
        || PyTuple_GET_SIZE(args[2]) != v.ndim) {
        Py_RETURN_NONE;
    }
    for (int i = 0; i < v.ndim; i++) {
        int d;
        if (!dim_of(PyTuple_GET_ITEM(args[2], i), v.ndim, &d)) {
            Py_RETURN_NONE;
        }
        v.sizes[i] = v.tensor->sizes[d];
        v.strides[i] = v.tensor->strides[d];
    }
    return finish(&v);
}

VIEW(select_view) {
    GW_UNUSED(self);
    View v;
    int d;
    int64_t at;
    if (!begin(&v, args, nargs, 4) || !dim_of(args[2], v.ndim, &d) || !plain_int(args[3], &at)) {
        Py_RETURN_NONE;
    }
    int64_t size = v.sizes[d];
    if (at < -size || at >= size) {
        Py_RETURN_NONE;
    }
    v.offset += (at < 0 ? at + size : at) * v.strides[d];
    v.ndim--;
    size_t rest = (size_t)(v.ndim - d) * sizeof(int64_t);
    memmove(v.sizes + d, v.sizes + d + 1, rest);
    memmove(v.strides + d, v.strides + d + 1, rest);
    return finish(&v);
}

static bool bound_of(PyObject *o, int64_t size, int64_t missing, int64_t *bound) {
    *bound = missing;
    if (o == Py_None) {
        return true;
    }
    if (!plain_int(o, bound)) {
        return false;
    }
    *bound += *bound < 0 ? size : 0;
    *bound = *bound < 0 ? 0 : *bound > size ? size : *bound;
    return true;
}

VIEW(slice_view) {
    GW_UNUSED(self);
    View v;
    int d;
    int64_t start, end, step = 1;
    if (!begin(&v, args, nargs, 6) || !dim_of(args[2], v.ndim, &d)
        || !bound_of(args[3], v.sizes[d], 0, &start)
        || !bound_of(args[4], v.sizes[d], v.sizes[d], &end)
        || (args[5] != Py_None && !plain_int(args[5], &step)) || step <= 0
        || step > INT32_MAX) {
        Py_RETURN_NONE;
    }
    v.offset += start * v.strides[d];
    v.sizes[d] = end > start ? (end - start + step - 1) / step : 0;
    v.strides[d] *= step;
    return finish(&v);
}

VIEW(unsqueeze_view) {
    GW_UNUSED(self);
    View v;
    int d;
    if (!begin(&v, args, nargs, 3) || v.ndim == GW_MAX_DIMS
        || !dim_of(args[2], v.ndim + 1, &d)) {
        Py_RETURN_NONE;
    }
    int64_t stride = d < v.ndim ? v.sizes[d] * v.strides[d] : 1;
    size_t rest = (size_t)(v.ndim - d) * sizeof(int64_t);
    memmove(v.sizes + d + 1, v.sizes + d, rest);
    memmove(v.strides + d + 1, v.strides + d, rest);
    v.sizes[d] = 1;
    v.strides[d] = stride;
    v.ndim++;
    return finish(&v);
}

/* Of contiguous tensors with elements; one size may be -1. */
VIEW(reshape_view) {
    GW_UNUSED(self);
    View v;
    if (!begin(&v, args, nargs, 3) || !PyTuple_Check(args[2])
        || (v.tensor->flags & GW_CONTIGUOUS) == 0 || v.tensor->numel == 0
        || PyTuple_GET_SIZE(args[2]) > GW_MAX_DIMS) {
        Py_RETURN_NONE;
    }
    v.ndim = (int)PyTuple_GET_SIZE(args[2]);
    int hole = -1;
    int64_t known = 1;
    for (int i = 0; i < v.ndim; i++) {
        if (!plain_int(PyTuple_GET_ITEM(args[2], i), &v.sizes[i]) || v.sizes[i] == 0
            || v.sizes[i] < -1 || (v.sizes[i] == -1 && hole >= 0)) {
            Py_RETURN_NONE;
        }
        if (v.sizes[i] == -1) {
            hole = i;
        } else if (__builtin_mul_overflow(known, v.sizes[i], &known)) {
            Py_RETURN_NONE;
        }
    }
    if (hole >= 0) {
        v.sizes[hole] = v.tensor->numel / known;
        known *= v.sizes[hole];
    }
    if (known != v.tensor->numel) {
        Py_RETURN_NONE;
    }
    gw_contiguous(v.sizes, v.ndim, v.strides);
    return finish(&v);
}

#define ENTRY(name, text) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, text}

PyMethodDef gw_view_methods[] = {
    ENTRY(transpose_view, "transpose_view(cls, tensor, dim0, dim1), or None."),
    ENTRY(permute_view, "permute_view(cls, tensor, dims), or None."),
    ENTRY(select_view, "select_view(cls, tensor, dim, index), or None."),
    ENTRY(slice_view, "slice_view(cls, tensor, dim, start, end, step), or None."),
    ENTRY(unsqueeze_view, "unsqueeze_view(cls, tensor, dim), or None."),
    ENTRY(reshape_view, "reshape_view(cls, tensor, size), or None."),
    {NULL, NULL, 0, NULL},
};
