/* The keys of dicts, in order: compared and found without running their `__eq__` or `__hash__`. */
#include "eval_frame.h"

static bool is_key(PyObject *key, PyObject *wanted) {
    if (wanted == ef_missing) {
        return true;
    }
    if (PyWeakref_CheckRefExact(wanted)) {
        return key == ef_referent(wanted) && key != Py_None;
    }
    if (key == wanted || ef_same_constant(key, wanted)) {
        return true;
    }
    if (!PyTuple_CheckExact(key) || !PyTuple_CheckExact(wanted)
        || PyTuple_GET_SIZE(key) != PyTuple_GET_SIZE(wanted)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        if (!is_key(PyTuple_GET_ITEM(key, i), PyTuple_GET_ITEM(wanted, i))) {
            return false;
        }
    }
    return true;
}

/* An OrderedDict has an order of its own, which only its iterator follows: that of the class itself,
   which runs no code of a user's. */
static bool has_ordered_keys(PyObject *dict, PyObject *wanted) {
    PyObject *iterator = PyODict_Type.tp_iter(dict), *key;
    Py_ssize_t i = 0, n = PyTuple_GET_SIZE(wanted);
    bool same = iterator != NULL;
    while (same && (key = PyIter_Next(iterator)) != NULL) {
        same = i < n && is_key(key, PyTuple_GET_ITEM(wanted, i));
        i++;
        Py_DECREF(key);
    }
    Py_XDECREF(iterator);
    PyErr_Clear();
    return same && i == n;
}

bool ef_has_keys(PyObject *dict, PyObject *wanted) {
    if (!PyDict_Check(dict) || PyDict_Size(dict) != PyTuple_GET_SIZE(wanted)) {
        return false;
    }
    if (PyODict_Check(dict)) {
        return has_ordered_keys(dict, wanted);
    }
    Py_ssize_t position = 0, i = 0;
    PyObject *key;
    while (PyDict_Next(dict, &position, &key, NULL)) {
        if (!is_key(key, PyTuple_GET_ITEM(wanted, i++))) {
            return false;
        }
    }
    return true;
}

bool ef_keys_are_dead(PyObject *wanted) {
    if (PyWeakref_CheckRefExact(wanted)) {
        return ef_referent(wanted) == Py_None;
    }
    for (Py_ssize_t i = 0; PyTuple_CheckExact(wanted) && i < PyTuple_GET_SIZE(wanted); i++) {
        if (ef_keys_are_dead(PyTuple_GET_ITEM(wanted, i))) {
            return true;
        }
    }
    return false;
}

/* The key at a position of an OrderedDict, which holds it. */
static PyObject *ordered_key(PyObject *dict, int64_t position) {
    PyObject *iterator = PyODict_Type.tp_iter(dict), *key = NULL;
    for (int64_t i = 0; iterator != NULL && i <= position; i++) {
        Py_XDECREF(key);
        key = PyIter_Next(iterator);
        if (key == NULL) {
            break;
        }
    }
    Py_XDECREF(iterator);
    Py_XDECREF(key);
    PyErr_Clear();
    return key;
}

PyObject *ef_dict_at(PyObject *dict, int64_t position, PyObject **value) {
    if (!PyDict_Check(dict) || position < 0 || position >= PyDict_Size(dict)) {
        return NULL;
    }
    bool ordered = PyODict_Check(dict);
    PyObject *wanted = ordered ? ordered_key(dict, position) : NULL, *key;
    if (ordered && wanted == NULL) {
        return NULL;
    }
    Py_ssize_t at = 0;
    for (int64_t i = 0; PyDict_Next(dict, &at, &key, value); i++) {
        if (ordered ? key == wanted : i == position) {
            return key;
        }
    }
    return NULL;
}
