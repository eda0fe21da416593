/* Calls of code in which capture found nothing: as long as nothing of another kind is met in what
 * they are given and in the globals that the code names, they run natively and nobody is asked.
 *
 * A kind is a type; of functions and generators their code, and each class and module is one.
 * Kinds are compared by address and not held: one made later at the address of one that ended is
 * taken for it, which leaves a call to Python. */
#include "fields.h"

enum { MOST_KINDS = 32, MOST_MEMBERS = 16, DEPTH = 2 };

struct EfTensorless {
    PyObject *places;           /* tuple of dict, key, dict, key, ... */
    int n_kinds;
    const void *kinds[MOST_KINDS];
};

static bool is_scalar(const PyTypeObject *tp) {
    return tp == &PyLong_Type || tp == &PyUnicode_Type || tp == &PyFloat_Type
        || tp == &PyBool_Type || tp == Py_TYPE(Py_None) || tp == &PyBytes_Type
        || tp == &PyComplex_Type;
}

static const void *code_of(PyObject *generator) {
#if PY_VERSION_HEX >= 0x030C0000
    PyCodeObject *code = PyGen_GetCode((PyGenObject *)generator);
    Py_DECREF(code);
    return code;
#else
    return ((PyGenObject *)generator)->gi_code;
#endif
}

static const void *kind_of(PyObject *value) {
    if (PyFunction_Check(value)) {
        return PyFunction_GET_CODE(value);
    }
    if (PyGen_CheckExact(value)) {
        return code_of(value);
    }
    return PyType_Check(value) || PyModule_Check(value) ? (const void *)value : Py_TYPE(value);
}

static bool is_known(EfTensorless *seen, const void *kind, bool learn) {
    for (int i = 0; i < seen->n_kinds; i++) {
        if (seen->kinds[i] == kind) {
            return true;
        }
    }
    if (!learn || seen->n_kinds == MOST_KINDS) {
        return false;
    }
    seen->kinds[seen->n_kinds++] = kind;
    return true;
}

static bool knows_value(EfTensorless *seen, PyObject *value, int depth, bool learn);

static bool knows_all(EfTensorless *seen, PyObject *const *items, Py_ssize_t n, int stride,
                      int depth, bool learn) {
    for (Py_ssize_t i = 0; i < n && i < MOST_MEMBERS; i++) {
        PyObject *item = items[i * stride];
        if (item != NULL && !knows_value(seen, item, depth, learn)) {
            return false;
        }
    }
    return true;
}

static bool knows_values(EfTensorless *seen, PyObject *dict, int depth, bool learn) {
    Py_ssize_t position = 0;
    PyObject *value;
    for (int i = 0; i < MOST_MEMBERS && PyDict_Next(dict, &position, NULL, &value); i++) {
        if (!knows_value(seen, value, depth, learn)) {
            return false;
        }
    }
    return true;
}

/* A value, and what it holds: the first members of containers and the attributes of instances. */
static bool knows_value(EfTensorless *seen, PyObject *value, int depth, bool learn) {
    if (is_scalar(Py_TYPE(value))) {
        return true;
    }
    const void *kind = kind_of(value);
    if (!is_known(seen, kind, learn)) {
        return false;
    }
    if (depth == 0 || kind != Py_TYPE(value)) {
        return true;
    }
    if (PyList_CheckExact(value)) {
        return knows_all(seen, ((PyListObject *)value)->ob_item, PyList_GET_SIZE(value), 1,
                         depth - 1, learn);
    }
    if (PyTuple_Check(value)) {
        return knows_all(seen, ((PyTupleObject *)value)->ob_item, PyTuple_GET_SIZE(value), 1,
                         depth - 1, learn);
    }
    if (PyDict_CheckExact(value)) {
        return knows_values(seen, value, depth - 1, learn);
    }
    EfTable table;
    if (!ef_instance_table(value, &table)) {
        return true;
    }
    return table.values != NULL
        ? knows_all(seen, table.values, table.n, 1, depth - 1, learn)
        : knows_all(seen, table.entries + 1, table.n, 2, depth - 1, learn);
}

static bool knows_call(EfTensorless *seen, PyObject *const *args, Py_ssize_t n, bool learn) {
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!knows_value(seen, args[i], DEPTH, learn)) {
            return false;
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(seen->places); i += 2) {
        PyObject *value = PyDict_GetItemWithError(PyTuple_GET_ITEM(seen->places, i),
                                                  PyTuple_GET_ITEM(seen->places, i + 1));
        if (value == NULL) {
            PyErr_Clear();
        } else if (!knows_value(seen, value, DEPTH, learn)) {
            return false;
        }
    }
    return true;
}

bool ef_tensorless_call(EfTensorless *seen, PyObject *const *args, Py_ssize_t n) {
    return seen != NULL && knows_call(seen, args, n, false);
}

static bool are_places(PyObject *places) {
    Py_ssize_t n = PyTuple_GET_SIZE(places);
    for (Py_ssize_t i = 0; i + 1 < n; i += 2) {
        if (!PyDict_Check(PyTuple_GET_ITEM(places, i))
            || !PyUnicode_CheckExact(PyTuple_GET_ITEM(places, i + 1))) {
            return false;
        }
    }
    return n % 2 == 0;
}

int ef_tensorless_note(EfTensorless **seen, PyObject *places, PyObject *const *args,
                       Py_ssize_t n) {
    if (!are_places(places)) {
        PyErr_SetString(PyExc_TypeError, "places are dicts, each with a name behind it");
        return -1;
    }
    if (*seen == NULL && (*seen = PyMem_Calloc(1, sizeof **seen)) == NULL) {
        return PyErr_NoMemory(), -1;
    }
    Py_XSETREF((*seen)->places, Py_NewRef(places));
    return knows_call(*seen, args, n, true);
}

int ef_tensorless_traverse(EfTensorless *seen, visitproc visit, void *arg) {
    if (seen != NULL) {
        Py_VISIT(seen->places);
    }
    return 0;
}

void ef_tensorless_free(EfTensorless *seen) {
    if (seen != NULL) {
        Py_XDECREF(seen->places);
        PyMem_Free(seen);
    }
}
