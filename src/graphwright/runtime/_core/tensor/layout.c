/* Sizes and strides as Python gives them, and what they reach. */
#include "layout.h"

PyTypeObject *gw_tensor_class(PyObject *cls) {
    if (!PyType_Check(cls) || !PyType_IsSubtype(GW_CLASS(cls), &GwTensor_Type)) {
        PyErr_Format(PyExc_TypeError, "expected a subclass of TensorBase, got %R", cls);
        return NULL;
    }
    return GW_CLASS(cls);
}

bool gw_expect_args(Py_ssize_t given, Py_ssize_t expected, const char *signature) {
    if (given == expected) {
        return true;
    }
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, got %zd", signature, expected, given);
    return false;
}

int gw_read_ints(PyObject *sequence, int64_t *values, bool *symbolic) {
    if (!PyTuple_Check(sequence) && !PyList_Check(sequence)) {
        PyErr_Format(PyExc_TypeError, "expected a tuple of ints, got %s",
                     Py_TYPE(sequence)->tp_name);
        return -1;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(sequence);
    if (n > GW_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "a tensor has at most %d dimensions, got %zd",
                     GW_MAX_DIMS, n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(sequence, i);
        if (symbolic != NULL && !PyLong_Check(item)) {
            *symbolic = true;
            values[i] = -1;
            continue;
        }
        Py_ssize_t value = PyNumber_AsSsize_t(item, PyExc_OverflowError);
        if (value == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (value < 0) {
            PyErr_Format(PyExc_RuntimeError, "sizes and strides must not be negative: %R",
                         sequence);
            return -1;
        }
        values[i] = value;
    }
    return (int)n;
}

int64_t gw_contiguous(const int64_t *sizes, int ndim, int64_t *strides) {
    int64_t numel = 1, step = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = step;
        if (__builtin_mul_overflow(step, sizes[i] > 1 ? sizes[i] : 1, &step)) {
            return -1;
        }
        numel *= sizes[i] != 0 ? 1 : 0;
    }
    return numel == 0 ? 0 : step;
}

bool gw_row_major(const GwTensor *t) {
    int64_t step = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (t->strides[d] != step) {
            return false;
        }
        step *= t->sizes[d] > 1 ? t->sizes[d] : 1;
    }
    return true;
}

bool gw_same_steps(const GwTensor *a, const GwTensor *b) {
    for (int i = a->ndim, j = b->ndim;; i--, j--) {
        while (i > 0 && a->sizes[i - 1] == 1) {
            i--;
        }
        while (j > 0 && b->sizes[j - 1] == 1) {
            j--;
        }
        if (i == 0 || j == 0) {
            return i == j;
        }
        if (a->sizes[i - 1] != b->sizes[j - 1] || a->strides[i - 1] != b->strides[j - 1]) {
            return false;
        }
    }
}

int64_t gw_extent(const int64_t *sizes, const int64_t *strides, int ndim) {
    int64_t last = 0;
    bool empty = false, overflow = false;
    for (int i = 0; i < ndim; i++) {
        int64_t reach;
        empty = empty || sizes[i] == 0;
        overflow = overflow || __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach)
                   || __builtin_add_overflow(last, reach, &last);
    }
    return empty ? 0 : overflow || last == INT64_MAX ? -1 : last + 1;
}

PyObject *gw_not_strided(void) {
    PyErr_SetString(PyExc_ValueError, "sizes and strides differ in length");
    return NULL;
}

bool gw_keep_symbolic(GwTensor *t, PyObject *shape, PyObject *strides) {
    t->flags |= GW_SYMBOLIC;
    t->numel = -1;
    t->shape_obj = gw_size_of(shape);
    t->strides_obj = PySequence_Tuple(strides);
    return t->shape_obj != NULL && t->strides_obj != NULL;
}
