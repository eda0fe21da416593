/* Equality of constants: same type and same value, floats by their bits. */
#include "eval_frame.h"

static bool is_atom(PyTypeObject *tp) {
    return tp == Py_TYPE(Py_None) || tp == &PyBool_Type || tp == &PyLong_Type
        || tp == &PyFloat_Type || tp == &PyComplex_Type || tp == &PyUnicode_Type
        || tp == &PyBytes_Type || tp == Py_TYPE(Py_Ellipsis) || tp == Py_TYPE(Py_NotImplemented)
        || tp == &PyRange_Type;
}

static bool set_is_constant(PyObject *set) {
    PyObject *iterator = PyObject_GetIter(set), *item;
    bool constant = iterator != NULL;
    while (constant && (item = PyIter_Next(iterator)) != NULL) {
        constant = ef_is_constant(item);
        Py_DECREF(item);
    }
    Py_XDECREF(iterator);
    PyErr_Clear();
    return constant;
}

bool ef_is_constant(PyObject *value) {
    PyTypeObject *tp = Py_TYPE(value);
    if (is_atom(tp)) {
        return true;
    }
    if (tp == &PyTuple_Type) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
            if (!ef_is_constant(PyTuple_GET_ITEM(value, i))) {
                return false;
            }
        }
        return true;
    }
    if (tp == &PySlice_Type) {
        PySliceObject *slice = (PySliceObject *)value;
        return ef_is_constant(slice->start) && ef_is_constant(slice->stop)
            && ef_is_constant(slice->step);
    }
    return tp == &PyFrozenSet_Type && set_is_constant(value);
}

static bool compare(PyObject *a, PyObject *b) {
    int equal = PyObject_RichCompareBool(a, b, Py_EQ);
    if (equal < 0) {
        PyErr_Clear();
    }
    return equal == 1;
}

static bool same_tuple(PyObject *a, PyObject *b) {
    Py_ssize_t n = PyTuple_GET_SIZE(a);
    if (n != PyTuple_GET_SIZE(b)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!ef_same_constant(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) {
            return false;
        }
    }
    return true;
}

/* Whether each item of `a` has its like in `b`; sets of constants are small. */
static bool same_set(PyObject *a, PyObject *b) {
    if (PySet_GET_SIZE(a) != PySet_GET_SIZE(b)) {
        return false;
    }
    PyObject *left = PySequence_Tuple(a), *right = PySequence_Tuple(b);
    bool same = left != NULL && right != NULL;
    for (Py_ssize_t i = 0; same && i < PyTuple_GET_SIZE(left); i++) {
        bool found = false;
        for (Py_ssize_t j = 0; !found && j < PyTuple_GET_SIZE(right); j++) {
            found = ef_same_constant(PyTuple_GET_ITEM(left, i), PyTuple_GET_ITEM(right, j));
        }
        same = found;
    }
    Py_XDECREF(left);
    Py_XDECREF(right);
    PyErr_Clear();
    return same;
}

bool ef_same_constant(PyObject *a, PyObject *b) {
    PyTypeObject *tp = Py_TYPE(a);
    if (tp != Py_TYPE(b)) {
        return false;
    }
    if (tp == &PyFloat_Type) {
        double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    if (tp == &PyComplex_Type) {
        Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    if (a == b) {
        return true;
    }
    if (tp == &PyLong_Type || tp == &PyUnicode_Type || tp == &PyBytes_Type
        || tp == &PyRange_Type) {
        return compare(a, b);
    }
    if (tp == &PyTuple_Type) {
        return same_tuple(a, b);
    }
    if (tp == &PySlice_Type) {
        PySliceObject *x = (PySliceObject *)a, *y = (PySliceObject *)b;
        return ef_same_constant(x->start, y->start) && ef_same_constant(x->stop, y->stop)
            && ef_same_constant(x->step, y->step);
    }
    return tp == &PyFrozenSet_Type && same_set(a, b);
}

enum { MOST_BYTES = 4096 };

PyObject *ef_contents(PyObject *array) {
    Py_buffer view;
    if (!PyObject_CheckBuffer(array)) {
        return NULL;
    }
    if (PyObject_GetBuffer(array, &view, PyBUF_FULL_RO) < 0) {
        return PyErr_Clear(), NULL;
    }
    PyObject *bytes = view.len > MOST_BYTES ? NULL : PyBytes_FromStringAndSize(NULL, view.len);
    if (bytes != NULL
        && PyBuffer_ToContiguous(PyBytes_AS_STRING(bytes), &view, view.len, 'C') < 0) {
        Py_CLEAR(bytes);
    }
    PyErr_Clear();
    PyBuffer_Release(&view);
    return bytes;
}
