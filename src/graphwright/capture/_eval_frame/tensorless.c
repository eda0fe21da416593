/* Calls of code in which capture found nothing: as long as nothing of another kind is met in what
 * they are given and in the places that the code reads, they run natively and nobody is asked.
 *
 * A kind is a type; of functions and generators their code, and each class and module is one.
 * Kinds are compared by address and not held: one made later at the address of one that ended is
 * taken for it, which leaves a call to Python. What a value holds is what its type shows to the
 * collector: no code of a program's runs, and nothing can change meanwhile. */
#include "fields.h"

enum { MOST_KINDS = 64, MOST_EMPTIED = 64, DEPTH = 16 };
enum { MOST_VALUES = 128, MOST_MEMBERS = 64, MOST_OTHERS = 16 };

struct EfTensorless {
    PyObject *places;           /* tuple of dict, cell or class, name, dict, name, ... */
    int n_kinds, emptied;
    const void *kinds[MOST_KINDS];
};

/* left: how many more values are looked at. */
typedef struct {
    EfTensorless *seen;
    int left;
    bool learn, known;
} Look;

/* The members of one value: how many more of them, and of those that are no scalars. */
typedef struct {
    Look *look;
    int depth, members, others;
} Members;

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

static void look_at(Look *look, PyObject *value, int depth);

static int look_at_member(PyObject *member, void *arg) {
    Members *of = arg;
    if (--of->members < 0) {
        return 1;
    }
    if (is_scalar(Py_TYPE(member))) {
        return 0;
    }
    if (--of->others < 0) {
        return 1;
    }
    look_at(of->look, member, of->depth);
    return !of->look->known;
}

/* A value, and what it holds: some members of containers, and the attributes of instances. */
static void look_at(Look *look, PyObject *value, int depth) {
    if (value == NULL || is_scalar(Py_TYPE(value)) || --look->left < 0) {
        return;
    }
    PyFunctionObject *wrapped = ef_compiled_from(value);
    value = wrapped == NULL ? value : (PyObject *)wrapped;
    look->known = is_known(look->seen, kind_of(value), look->learn);
    traverseproc traverse = PyType_IS_GC(Py_TYPE(value)) ? Py_TYPE(value)->tp_traverse : NULL;
    if (!look->known || depth == 0 || traverse == NULL || PyType_Check(value)
        || PyModule_Check(value)) {
        return;
    }
    if (!PyFunction_Check(value)) {
        Members members = {look, depth - 1, MOST_MEMBERS, MOST_OTHERS};
        traverse(value, look_at_member, &members);
        return;
    }
    PyObject *held[] = {PyFunction_GET_CLOSURE(value), PyFunction_GET_DEFAULTS(value),
                        PyFunction_GET_KW_DEFAULTS(value)};
    for (int i = 0; i < 3 && look->known; i++) {
        look_at(look, held[i], depth - 1);
    }
}

static bool knows_value(EfTensorless *seen, PyObject *value, bool learn) {
    Look look = {seen, MOST_VALUES, learn, true};
    look_at(&look, value, DEPTH);
    return look.known;
}

/* What a dict holds under a name; found without comparing keys of a program's own classes. */
static PyObject *item_of(PyObject *dict, PyObject *name) {
    EfTable table;
    PyObject *key, *value;
    if (ef_dict_table(dict, &table)) {
        value = PyDict_GetItemWithError(dict, name);
        if (value == NULL) {
            PyErr_Clear();
        }
        return value;
    }
    for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
        if (PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0) {
            return value;
        }
    }
    return NULL;
}

static PyObject *value_at(PyObject *holder, PyObject *name) {
    if (PyCell_Check(holder)) {
        return PyCell_GET(holder);
    }
    return item_of(PyType_Check(holder) ? ((PyTypeObject *)holder)->tp_dict : holder, name);
}

static bool knows_call(EfTensorless *seen, PyObject *const *args, Py_ssize_t n, bool learn) {
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!knows_value(seen, args[i], learn)) {
            return false;
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(seen->places); i += 2) {
        PyObject *value = value_at(PyTuple_GET_ITEM(seen->places, i),
                                   PyTuple_GET_ITEM(seen->places, i + 1));
        if (!knows_value(seen, value, learn)) {
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
        PyObject *holder = PyTuple_GET_ITEM(places, i);
        if (!(PyDict_Check(holder) || PyCell_Check(holder)
              || (PyType_Check(holder) && ((PyTypeObject *)holder)->tp_dict != NULL))
            || !PyUnicode_CheckExact(PyTuple_GET_ITEM(places, i + 1))) {
            return false;
        }
    }
    return n % 2 == 0;
}

int ef_tensorless_note(EfTensorless **seen, PyObject *places, PyObject *const *args,
                       Py_ssize_t n) {
    if (!are_places(places)) {
        PyErr_SetString(PyExc_TypeError,
                        "places are dicts, cells and classes, each with a name behind it");
        return -1;
    }
    if (*seen == NULL && (*seen = PyMem_Calloc(1, sizeof **seen)) == NULL) {
        return PyErr_NoMemory(), -1;
    }
    EfTensorless *noted = *seen;
    PyObject *before = noted->places;
    noted->places = Py_NewRef(places);
    if (!knows_call(noted, args, n, true)) {
        noted->n_kinds = 0;
        noted->emptied++;
        knows_call(noted, args, n, true);
    }
    int goes_on = noted->emptied <= MOST_EMPTIED;
    Py_XDECREF(before);         /* may run code that resets the list, and frees `noted` */
    return goes_on;
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
