/* What an iterator gives next, without asking it. */
#include "eval_frame.h"

static PyObject *next_of_parts(PyTypeObject *type, PyObject *parts, bool *ended);

static bool is_leaf(PyTypeObject *type) {
    return type == &PyRangeIter_Type || type == &PyListIter_Type || type == &PyTupleIter_Type
        || type == &PyDictIterKey_Type || type == &PyDictIterValue_Type
        || type == &PyDictIterItem_Type;
}

/* NULL where it is not known, or at the end: then `ended` is set. */
static PyObject *next_of(PyObject *iterator, bool *ended) {
    PyObject *parts = PyObject_CallMethod(iterator, "__reduce__", NULL), *found = NULL;
    if (parts != NULL && PyTuple_Check(parts)) {
        found = next_of_parts(Py_TYPE(iterator), parts, ended);
    }
    Py_XDECREF(parts);
    PyErr_Clear();
    return found;
}

/* The items that different iterators would give next, as a tuple; NULL where one is at its end. */
static PyObject *next_of_all(PyObject *iterators, bool *ended) {
    Py_ssize_t n = PyTuple_GET_SIZE(iterators);
    PyObject *items = n == 0 ? NULL : PyTuple_New(n);
    for (Py_ssize_t i = 0; items != NULL && i < n; i++) {
        PyObject *own = PyTuple_GET_ITEM(iterators, i), *item = NULL;
        bool another = is_leaf(Py_TYPE(own));
        for (Py_ssize_t j = 0; another && j < i; j++) {
            another = PyTuple_GET_ITEM(iterators, j) != own;
        }
        item = another ? next_of(own, ended) : NULL;
        if (item == NULL) {
            Py_CLEAR(items);
        } else {
            PyTuple_SET_ITEM(items, i, item);
        }
    }
    return items;
}

/* Of what `__reduce__` says the iterator is: a new reference. */
static PyObject *next_of_parts(PyTypeObject *type, PyObject *parts, bool *ended) {
    Py_ssize_t n = PyTuple_GET_SIZE(parts);
    PyObject *given = n < 2 ? NULL : PyTuple_GET_ITEM(parts, 1);
    if (given == NULL || !PyTuple_Check(given) || PyTuple_GET_SIZE(given) == 0) {
        return NULL;
    }
    PyObject *first = PyTuple_GET_ITEM(given, 0);
    if (type == &PyZip_Type) {      /* (zip, (iterator, ...)[, strict]) */
        return n > 2 ? NULL : next_of_all(given, ended);
    }
    if (type == &PyEnum_Type) {     /* (enumerate, (iterator, number)) */
        bool plain = is_leaf(Py_TYPE(first)) || Py_IS_TYPE(first, &PyZip_Type);
        PyObject *item = plain && PyTuple_GET_SIZE(given) == 2
            ? next_of(first, ended) : NULL;
        PyObject *pair = item == NULL ? NULL : PyTuple_Pack(2, PyTuple_GET_ITEM(given, 1), item);
        Py_XDECREF(item);
        return pair;
    }
    /* (iter, (sequence,)[, position]): none, or None, at the beginning; a dict's has a list of
     * what is left */
    PyObject *place = n > 2 ? PyTuple_GET_ITEM(parts, 2) : Py_None;
    Py_ssize_t position = place == Py_None ? 0 : PyLong_AsSsize_t(place);
    if (PyErr_Occurred() || position < 0) {
        return NULL;
    }
    if (!(PyRange_Check(first) || PyList_CheckExact(first) || PyTuple_CheckExact(first))) {
        return NULL;
    }
    PyObject *item = PySequence_GetItem(first, position);
    *ended = item == NULL && PyErr_ExceptionMatches(PyExc_IndexError);
    return item;
}

static PyObject *next_if_known(PyObject *iterator, bool *ended) {
    PyTypeObject *type = Py_TYPE(iterator);
    bool known = is_leaf(type) || type == &PyEnum_Type || type == &PyZip_Type;
    return known ? next_of(iterator, ended) : NULL;
}

PyObject *ef_next_item(PyObject *iterator) {
    bool ended = false;
    return next_if_known(iterator, &ended);
}

PyObject *ef_at_end(PyObject *iterator) {
    bool ended = false;
    PyObject *item = next_if_known(iterator, &ended);
    if (item == NULL && !ended) {
        return NULL;
    }
    Py_XDECREF(item);
    return PyBool_FromLong(item == NULL);
}

static PyObject *next_item(PyObject *Py_UNUSED(module), PyObject *iterator) {
    PyObject *found = ef_next_item(iterator);
    return found == NULL ? Py_NewRef(ef_missing) : found;
}

static PyObject *at_end(PyObject *Py_UNUSED(module), PyObject *iterator) {
    PyObject *found = ef_at_end(iterator);
    return found == NULL ? Py_NewRef(ef_missing) : found;
}

PyMethodDef ef_iterator_methods[] = {
    {"at_end", at_end, METH_O, NULL},
    {"next_item", next_item, METH_O, NULL},
    {NULL, NULL, 0, NULL}};
