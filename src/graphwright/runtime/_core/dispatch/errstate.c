/* Quiet: a callable that runs under a value of a context variable, such as the one in which NumPy
 * keeps how it treats floating-point errors. A token and two C calls are all that it costs. */
#include "core.h"

#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *function, *variable, *value;
} Quiet;

/* Whether the variable has that value already; -1 with an exception on failure. */
static int is_set(const Quiet *quiet) {
    PyObject *current;
    if (PyContextVar_Get(quiet->variable, NULL, &current) < 0) {
        return -1;
    }
    int same = current == quiet->value;
    Py_XDECREF(current);
    return same;
}

/* `result` (or the exception raised), once the variable is what it was. Steals both arguments. */
static PyObject *restored(const Quiet *quiet, PyObject *token, PyObject *result) {
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    if (result == NULL) {
        PyErr_Fetch(&type, &value, &traceback);
    }
    int failed = PyContextVar_Reset(quiet->variable, token);
    Py_DECREF(token);
    if (type != NULL) {
        PyErr_Restore(type, value, traceback);
    } else if (failed < 0) {
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *quiet_call(PyObject *self, PyObject *const *args, size_t nargsf,
                            PyObject *kwnames) {
    const Quiet *quiet = (Quiet *)self;
    int set = is_set(quiet);
    if (set < 0) {
        return NULL;
    }
    if (set) {
        return PyObject_Vectorcall(quiet->function, args, nargsf, kwnames);
    }
    PyObject *token = PyContextVar_Set(quiet->variable, quiet->value);
    if (token == NULL) {
        return NULL;
    }
    return restored(quiet, token, PyObject_Vectorcall(quiet->function, args, nargsf, kwnames));
}

/* ---- the type ---- */

static PyObject *quiet_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"function", "variable", "value", NULL};
    PyObject *function, *variable, *value;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O:Quiet", names, &function,
                                     &PyContextVar_Type, &variable, &value)) {
        return NULL;
    }
    Quiet *quiet = (Quiet *)type->tp_alloc(type, 0);
    if (quiet == NULL) {
        return NULL;
    }
    quiet->call = quiet_call;
    quiet->function = Py_NewRef(function);
    quiet->variable = Py_NewRef(variable);
    quiet->value = Py_NewRef(value);
    return (PyObject *)quiet;
}

static int quiet_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((Quiet *)self)->function);
    Py_VISIT(((Quiet *)self)->variable);
    Py_VISIT(((Quiet *)self)->value);
    return 0;
}

static void quiet_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((Quiet *)self)->function);
    Py_XDECREF(((Quiet *)self)->variable);
    Py_XDECREF(((Quiet *)self)->value);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef quiet_members[] = {
    {"function", T_OBJECT_EX, offsetof(Quiet, function), READONLY, "What is called."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject GwQuiet_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.Quiet",
    .tp_doc = "Quiet(function, variable, value): calls `function` while the context variable has "
              "that value.",
    .tp_basicsize = sizeof(Quiet),
    .tp_new = quiet_new,
    .tp_dealloc = quiet_dealloc,
    .tp_traverse = quiet_traverse,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Quiet, call),
    .tp_members = quiet_members,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
};
