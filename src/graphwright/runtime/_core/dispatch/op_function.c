/* The functions and methods of ops: callables that bind their arguments by the op's schema and
 * dispatch. What an op's parameters are is asked for at the first call, which defines the op. */
#include "binding.h"

#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *op;
    PyObject *name, *qualname, *module;
    PyObject *door;             /* door(*args, **kwargs) is called instead; NULL: none */
    PyObject *weakrefs;
    bool bound;                 /* `binding` has been read */
    GwBinding binding;
} OpFunction;

static GwBindingHooks hooks;

static void release(GwBound *bound) {
    while (bound->kept_count > 0) {
        Py_DECREF(bound->kept[--bound->kept_count]);
    }
}

/* What the op's parameters are; NULL with an exception. */
static const GwBinding *binding_of(OpFunction *f) {
    if (!f->bound) {
        PyObject *described = hooks.describe == NULL ? NULL
                              : PyObject_CallFunctionObjArgs(hooks.describe, (PyObject *)f, NULL);
        if (described == NULL && !PyErr_Occurred()) {
            PyErr_SetString(PyExc_RuntimeError, "ops cannot be called before the op table is imported");
        }
        GwBinding read;
        bool ok = described != NULL && gw_read_binding(described, &read);
        Py_XDECREF(described);
        if (ok && !f->bound) {      /* describing may have run this very function */
            f->binding = read;
            f->bound = true;
        } else if (ok) {
            gw_clear_binding(&read);
        }
        if (!ok) {
            return NULL;
        }
    }
    return &f->binding;
}

/* The older overloads of ops that take numbers by position. */
static PyObject *call_older(OpFunction *f, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames) {
    PyObject *out = Py_None;
    for (Py_ssize_t k = 0; kwnames != NULL && k < PyTuple_GET_SIZE(kwnames); k++) {
        PyObject *word = PyTuple_GET_ITEM(kwnames, k);
        if (!f->binding.takes_out || PyUnicode_CompareWithASCIIString(word, "out") != 0) {
            return PyErr_Format(PyExc_TypeError, "%U() takes no argument '%U' beside so many by "
                                "position", f->name, word);
        }
        out = args[nargs + k];
    }
    PyObject *given = gw_tuple(args, nargs);
    PyObject *result = given == NULL ? NULL
                       : PyObject_CallFunctionObjArgs(hooks.older, (PyObject *)f, given, out, NULL);
    Py_XDECREF(given);
    return result;
}

/* What the classes of arguments make of those that cannot be brought to their form, or the refusal. */
static PyObject *call_not_bound(OpFunction *f, PyObject *const *given) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError) && !PyErr_ExceptionMatches(PyExc_IndexError)
        && !PyErr_ExceptionMatches(PyExc_RuntimeError)
        && !PyErr_ExceptionMatches(PyExc_TypeError)) {
        return NULL;
    }
    return gw_ask_about_error(hooks.not_bound, f->op, given, f->binding.count, NULL);
}

/* A factory's tensors are on this thread's place unless a device is given, and strided; without a
 * GPU they are not pinned. */
static bool settle_placement(OpFunction *f, GwBound *bound) {
    const GwBinding *b = &f->binding;
    if (b->device >= 0 && bound->value[b->device] == Py_None) {
        bound->value[b->device] = gw_place();
    }
    bool laid = bound->layout != NULL && bound->layout != Py_None;
    int pinned = bound->pin_memory == NULL ? 0 : PyObject_IsTrue(bound->pin_memory);
    if (pinned < 0) {
        return false;
    }
    if (laid || pinned) {
        PyObject *done = PyObject_CallFunctionObjArgs(
            hooks.check_placement, f->name, laid ? bound->layout : Py_None,
            pinned ? bound->pin_memory : Py_False, NULL);
        Py_XDECREF(done);
        return done != NULL;
    }
    return true;
}

/* The result as `memory_format`, `pin_memory` and `requires_grad` ask for. Steals it. */
static PyObject *finished(OpFunction *f, PyObject *result, const GwBound *bound) {
    if (result != NULL && bound->format != NULL && bound->format != Py_None) {
        Py_SETREF(result, PyObject_CallFunctionObjArgs(hooks.in_format, f->name, result,
                                                       bound->format, NULL));
    }
    int pins = result == NULL || bound->pin_memory == NULL ? 0
               : PyObject_IsTrue(bound->pin_memory);
    if (pins > 0) {
        Py_SETREF(result, PyObject_CallMethod(result, "pin_memory", NULL));
    }
    int records = pins < 0 ? -1 : result == NULL || bound->requires_grad == NULL ? 0
                  : PyObject_IsTrue(bound->requires_grad);
    if (records < 0
        || (records > 0 && PyObject_SetAttrString(result, "requires_grad", Py_True) < 0)) {
        Py_CLEAR(result);
    }
    return result;
}

/* Whether `out` is what the op gave, and holds it. */
static bool is_written(PyObject *result, PyObject *out) {
    return result == out
           || (PyTuple_Check(result) && PyTuple_CheckExact(out) && PyTuple_GET_SIZE(result) > 0
               && PyTuple_GET_SIZE(out) > 0
               && PyTuple_GET_ITEM(result, 0) == PyTuple_GET_ITEM(out, 0));
}

static PyObject *run_with_out(OpFunction *f, GwBound *bound) {
    const GwBinding *b = &f->binding;
    PyObject *out = bound->out, *result = NULL;
    if (b->plain_out && (gw_is_tensor(out) || PyTuple_CheckExact(out))) {
        result = gw_compute_out(f->op, bound->value, b->count, out);
        if (result == NULL || is_written(result, out)) {
            return result;
        }
    }
    PyObject *args = gw_tuple(bound->value, b->count);
    if (args != NULL) {
        Py_XSETREF(result, PyObject_CallFunctionObjArgs(hooks.with_out, f->op, args, out, result,
                                                        NULL));
        Py_DECREF(args);
    } else {
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *run(OpFunction *f, GwBound *bound) {
    const GwBinding *b = &f->binding;
    if (bound->out != NULL && bound->out != Py_None) {
        return run_with_out(f, bound);
    }
    PyObject *result = gw_dispatch(f->op, bound->value, b->count, NULL);
    bool plain = bound->format == NULL && bound->pin_memory == NULL && bound->requires_grad == NULL;
    return plain ? result : finished(f, result, bound);
}

static PyObject *call_bound(OpFunction *f, GwBound *bound) {
    const GwBinding *b = &f->binding;
    if ((b->takes_placement || b->device >= 0) && !settle_placement(f, bound)) {
        return NULL;
    }
    if (b->converted_count > 0) {
        PyObject *given[GW_BOUND_PARAMS];
        memcpy(given, bound->value, (size_t)b->count * sizeof *given);
        if (!gw_convert_bound(b, bound)) {
            return call_not_bound(f, given);
        }
    }
    return run(f, bound);
}

static PyObject *call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    OpFunction *f = (OpFunction *)self;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (f->door != NULL) {
        PyObject *door = Py_NewRef(f->door);
        PyObject *result = PyObject_Vectorcall(door, args, (size_t)nargs, kwnames);
        Py_DECREF(door);
        return result;
    }
    const GwBinding *b = binding_of(f);
    if (b == NULL) {
        return NULL;
    }
    if (b->takes_older && nargs > b->positional) {
        return call_older(f, args, nargs, kwnames);
    }
    GwBound bound;
    bound.kept_count = 0;
    bound.out = bound.format = bound.layout = bound.pin_memory = bound.requires_grad = NULL;
    PyObject *result = NULL;
    if (gw_bind(b, f->name, args, nargs, kwnames, &bound)) {
        result = call_bound(f, &bound);
    }
    release(&bound);
    return result;
}

/* ---- the types ---- */

static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"op", "name", "qualname", "module", NULL};
    PyObject *op, *name, *qualname, *module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!UUU:OpFunction", names, &GwOpBase_Type, &op,
                                     &name, &qualname, &module)) {
        return NULL;
    }
    OpFunction *f = (OpFunction *)type->tp_alloc(type, 0);
    if (f != NULL) {
        f->call = call;
        f->op = Py_NewRef(op);
        f->name = Py_NewRef(name);
        f->qualname = Py_NewRef(qualname);
        f->module = Py_NewRef(module);
    }
    return (PyObject *)f;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg) {
    OpFunction *f = (OpFunction *)self;
    Py_VISIT(f->op);
    Py_VISIT(f->door);
    return f->bound ? gw_visit_binding(&f->binding, visit, arg) : 0;
}

static int function_clear(PyObject *self) {
    OpFunction *f = (OpFunction *)self;
    Py_CLEAR(f->door);
    return 0;
}

static void function_dealloc(PyObject *self) {
    OpFunction *f = (OpFunction *)self;
    PyObject_GC_UnTrack(self);
    if (f->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    if (f->bound) {
        gw_clear_binding(&f->binding);
    }
    Py_CLEAR(f->door);
    Py_CLEAR(f->op);
    Py_CLEAR(f->name);
    Py_CLEAR(f->qualname);
    Py_CLEAR(f->module);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *function_repr(PyObject *self) {
    return PyUnicode_FromFormat("<op %U>", ((OpFunction *)self)->qualname);
}

/* Pickled by its name, as functions are. */
static PyObject *function_reduce(PyObject *self, PyObject *unused) {
    GW_UNUSED(unused);
    return Py_NewRef(((OpFunction *)self)->qualname);
}

static PyObject *asked(PyObject *hook, PyObject *self) {
    if (hook == NULL) {
        Py_RETURN_NONE;
    }
    return PyObject_CallFunctionObjArgs(hook, self, NULL);
}

static PyObject *get_doc(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    return asked(hooks.document, self);
}

static PyObject *get_signature(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    return asked(hooks.signature, self);
}

static PyObject *get_door(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    PyObject *door = ((OpFunction *)self)->door;
    return Py_NewRef(door != NULL ? door : Py_None);
}

static int set_door(PyObject *self, PyObject *door, void *closure) {
    GW_UNUSED(closure);
    Py_XSETREF(((OpFunction *)self)->door,
               door == NULL || door == Py_None ? NULL : Py_NewRef(door));
    return 0;
}

/* A function stays what it is wherever it is read; a method becomes that of its object. */
static PyObject *function_get(PyObject *self, PyObject *object, PyObject *type) {
    GW_UNUSED(object);
    GW_UNUSED(type);
    return Py_NewRef(self);
}

static PyObject *method_get(PyObject *self, PyObject *object, PyObject *type) {
    GW_UNUSED(type);
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

static PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, "By name."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef function_members[] = {
    {"__gw_op__", T_OBJECT_EX, offsetof(OpFunction, op), READONLY, "The op."},
    {"__name__", T_OBJECT_EX, offsetof(OpFunction, name), READONLY, NULL},
    {"__qualname__", T_OBJECT_EX, offsetof(OpFunction, qualname), READONLY, NULL},
    {"__module__", T_OBJECT_EX, offsetof(OpFunction, module), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef function_getset[] = {
    {"__doc__", get_doc, NULL, NULL, NULL},
    {"__signature__", get_signature, NULL, NULL, NULL},
    {"door", get_door, set_door,
     "door(*args, **kwargs) is called in the function's place; None: the function itself.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject GwOpFunction_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.OpFunction",
    .tp_basicsize = sizeof(OpFunction),
    .tp_new = function_new,
    .tp_dealloc = function_dealloc,
    .tp_traverse = function_traverse,
    .tp_clear = function_clear,
    .tp_repr = function_repr,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(OpFunction, call),
    .tp_weaklistoffset = offsetof(OpFunction, weakrefs),
    .tp_descr_get = function_get,
    .tp_methods = function_methods,
    .tp_members = function_members,
    .tp_getset = function_getset,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
};

PyTypeObject GwOpMethod_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.OpMethod",
    .tp_base = &GwOpFunction_Type,
    .tp_basicsize = sizeof(OpFunction),
    .tp_dealloc = function_dealloc,
    .tp_traverse = function_traverse,
    .tp_clear = function_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(OpFunction, call),
    .tp_descr_get = method_get,
    .tp_getset = function_getset,   /* a type without a docstring has None as `__doc__` */
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL
                | Py_TPFLAGS_METHOD_DESCRIPTOR,
};

static PyObject *set_binding_hooks(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"describe", "not_bound", "with_out", "older", "check_placement",
                            "in_format", "document", "signature", NULL};
    GW_UNUSED(self);
    GwBindingHooks given;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOOOOO:set_binding_hooks", names,
                                     &given.describe, &given.not_bound, &given.with_out,
                                     &given.older, &given.check_placement, &given.in_format,
                                     &given.document, &given.signature)) {
        return NULL;
    }
    PyObject *const *from = (PyObject *const *)&given;
    PyObject **to = (PyObject **)&hooks;
    for (size_t i = 0; i < sizeof hooks / sizeof *to; i++) {
        Py_XSETREF(to[i], Py_NewRef(from[i]));
    }
    Py_RETURN_NONE;
}

PyMethodDef gw_op_function_methods[] = {
    {"set_binding_hooks", (PyCFunction)(void (*)(void))set_binding_hooks,
     METH_VARARGS | METH_KEYWORDS,
     "set_binding_hooks(...): describe(function) says what the parameters are; not_bound(op, args, "
     "error), with_out(op, args, out[, result]), older(function, args, out), check_placement(name, layout, "
     "pin_memory) and in_format(name, tensor, format) do what is rarely needed; "
     "document(function) and signature(function) give its docstring and its signature."},
    {NULL, NULL, 0, NULL},
};
