/* What an iterator gives next, without asking it. */
#include "eval_frame.h"

PyObject *ef_next_number(PyObject *iterator) {
    if (!Py_IS_TYPE(iterator, &PyRangeIter_Type)) {
        return NULL;
    }
    /* (iter, (range,), position): the position is None where the range begins at it */
    PyObject *parts = PyObject_CallMethod(iterator, "__reduce__", NULL), *found = NULL;
    if (parts != NULL && PyTuple_Check(parts) && PyTuple_GET_SIZE(parts) == 3) {
        PyObject *given = PyTuple_GET_ITEM(parts, 1), *place = PyTuple_GET_ITEM(parts, 2);
        Py_ssize_t position = place == Py_None ? 0 : PyLong_AsSsize_t(place);
        if (!PyErr_Occurred() && PyTuple_Check(given) && PyTuple_GET_SIZE(given) == 1) {
            found = PySequence_GetItem(PyTuple_GET_ITEM(given, 0), position);
        }
    }
    Py_XDECREF(parts);
    PyErr_Clear();
    return found;
}

static PyObject *next_number(PyObject *Py_UNUSED(module), PyObject *iterator) {
    PyObject *found = ef_next_number(iterator);
    return found == NULL ? Py_NewRef(ef_missing) : found;
}

PyMethodDef ef_iterator_methods[] = {
    {"next_number", next_number, METH_O, NULL},
    {NULL, NULL, 0, NULL}};
