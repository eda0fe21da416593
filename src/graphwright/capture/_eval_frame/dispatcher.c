/* CompiledFunction: the callable that `compile` returns.
 *
 * A call binds its arguments to slots, runs the first entry whose guards hold, and asks the
 * callback if none does. Where nothing can be compiled the original function is called with the
 * arguments as they came.
 */
#include "eval_frame.h"
#include <structmember.h>

typedef struct EfCompiledFunction {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyFunctionObject *function;
    PyCodeObject *code;         /* that the entries are for */
    PyObject *callback;
    PyObject *dict;
    PyObject *weakrefs;
    EfEntryList list;
    int64_t misses;
    int limit;
    int n_slots;
    bool enabled;
    bool eligible;              /* a plain function, not a generator or coroutine */
    bool plain;                 /* positional parameters only */
    struct EfCompiledFunction *previous, *next;
} EfCompiledFunction;

static EfCompiledFunction *all_functions;

static void adopt_code(EfCompiledFunction *f) {
    PyCodeObject *code = (PyCodeObject *)Py_NewRef(f->function->func_code);
    const int kinds = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE
        | CO_OPTIMIZED | CO_NEWLOCALS;
    f->eligible = EF_SUPPORTED && PyInterpreterState_Get() == PyInterpreterState_Main()
        && (code->co_flags & kinds) == (CO_OPTIMIZED | CO_NEWLOCALS);
    f->n_slots = ef_code_slots(code);
    f->plain = code->co_argcount == f->n_slots;
    Py_XSETREF(f->code, code);
    ef_list_clear(&f->list);
}

PyFunctionObject *ef_compiled_from(PyObject *value) {
    return Py_IS_TYPE(value, &EfCompiledFunction_Type)
        ? ((EfCompiledFunction *)value)->function : NULL;
}

static PyObject *call_original(EfCompiledFunction *f, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames) {
    return PyObject_Vectorcall((PyObject *)f->function, args, nargsf, kwnames);
}

/* NULL without an exception: run natively. */
static PyObject *run_code(EfCompiledFunction *f, EfEntry *entry, PyObject *const *slots) {
    PyObject *made = ef_entry_function(entry, f->function);
    if (made == NULL || ef_entry_lock(entry, f->function, slots) <= 0) {
        return NULL;
    }
    EfHookState state;
    if (entry->hooked && ef_hook_enter(f->callback, f->limit, &state) < 0) {
        ef_entry_unlock(entry);
        return NULL;
    }
    Py_INCREF(made);
    PyObject *handled = ef_handled();
    PyObject *result = PyObject_Vectorcall(made, slots, (size_t)f->n_slots, NULL);
    Py_DECREF(made);
    ef_entry_unlock(entry);
    result = ef_continue(result, handled);
    Py_XDECREF(handled);
    if (entry->hooked) {
        ef_hook_leave(&state);
    }
    return result;
}

/* Look up, capture on a miss, look up again. EF_MISS: run natively. */
static EfOutcome find_entry(EfCompiledFunction *f, PyObject *const *slots, EfEntry **entry,
                            PyObject **result) {
    EfOutcome outcome = ef_list_lookup(&f->list, f->function, slots, entry, result);
    if (outcome != EF_MISS || f->list.skip
        || ef_tensorless_call(f->list.tensorless, slots, f->n_slots)) {
        return outcome;
    }
    EfEntry *made;
    f->misses++;
    if (ef_capture(&f->list, f->callback, f->limit, f->function, slots, &made) < 0) {
        return EF_ERROR;
    }
    if (made == NULL || (PyObject *)f->code != f->function->func_code) {
        Py_XDECREF((PyObject *)made);
        return EF_MISS;
    }
    Py_DECREF((PyObject *)made);
    return ef_list_lookup(&f->list, f->function, slots, entry, result);
}

/* NULL without an exception: run natively. */
static PyObject *run_slots(EfCompiledFunction *f, PyObject *const *slots) {
    EfEntry *entry;
    PyObject *result = NULL;
    if (find_entry(f, slots, &entry, &result) != EF_HIT) {
        return NULL;
    }
    if (result == NULL) {
        result = run_code(f, entry, slots);
    }
    Py_DECREF((PyObject *)entry);
    return result;
}

static PyObject *dispatch_bound(EfCompiledFunction *f, PyObject *const *args, Py_ssize_t nargs,
                                PyObject *kwnames) {
    PyObject *slots[f->n_slots + 1];
    EfBound bound = {NULL, NULL};
    PyObject *result = NULL;
    if (ef_bind(f->function, args, nargs, kwnames, slots, &bound)) {
        result = run_slots(f, slots);
    }
    ef_bound_release(&bound);
    return result;
}

static bool is_left_to_python(EfEntryList *list, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *kwnames) {
    if (kwnames != NULL) {
        nargs += PyTuple_GET_SIZE(kwnames);
    }
    return list->n == 0 && (list->skip || ef_tensorless_call(list->tensorless, args, nargs));
}

static PyObject *dispatch(PyObject *self, PyObject *const *args, size_t nargsf,
                          PyObject *kwnames) {
    EfCompiledFunction *f = (EfCompiledFunction *)self;
    if ((PyObject *)f->code != f->function->func_code) {
        adopt_code(f);
    }
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (!f->enabled || !f->eligible || ef_capturing()
        || is_left_to_python(&f->list, args, nargs, kwnames) || ef_watched(f->code)) {
        return call_original(f, args, nargsf, kwnames);
    }
    Py_INCREF(self);
    bool ready = f->plain && kwnames == NULL && nargs == f->n_slots;
    EfSpan span = ef_span_begin(EF_SPAN_CALL, f->function->func_qualname);
    PyObject *result = ready ? run_slots(f, args) : dispatch_bound(f, args, nargs, kwnames);
    if (result == NULL && !PyErr_Occurred()) {
        PyObject *failure = ef_take_failure();
        result = call_original(f, args, nargsf, kwnames);
        result = ef_tell_failure(f->callback, f->code, result, failure);
    }
    ef_span_end(span);
    Py_DECREF(self);
    return result;
}

static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"function", "callback", "limit", NULL};
    PyObject *function, *callback;
    int limit = 8;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O|i:CompiledFunction", names,
                                     &PyFunction_Type, &function, &callback, &limit)) {
        return NULL;
    }
    if (!PyCallable_Check(callback)) {
        return PyErr_SetString(PyExc_TypeError, "callback must be callable"), NULL;
    }
    EfCompiledFunction *f = (EfCompiledFunction *)type->tp_alloc(type, 0);
    if (f == NULL) {
        return NULL;
    }
    if (ef_need_core() < 0) {
        PyErr_Clear();      /* nothing is recorded */
    }
    f->vectorcall = dispatch;
    f->function = (PyFunctionObject *)Py_NewRef(function);
    f->callback = Py_NewRef(callback);
    f->limit = limit;
    f->enabled = true;
    f->next = all_functions;
    if (all_functions != NULL) {
        all_functions->previous = f;
    }
    all_functions = f;
    adopt_code(f);
    return (PyObject *)f;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg) {
    EfCompiledFunction *f = (EfCompiledFunction *)self;
    Py_VISIT((PyObject *)f->function);
    Py_VISIT(f->callback);
    Py_VISIT(f->dict);
    return ef_list_traverse(&f->list, visit, arg);
}

static int function_clear(PyObject *self) {
    EfCompiledFunction *f = (EfCompiledFunction *)self;
    Py_CLEAR(f->dict);
    ef_list_clear(&f->list);
    return 0;
}

static void function_dealloc(PyObject *self) {
    EfCompiledFunction *f = (EfCompiledFunction *)self;
    PyObject_GC_UnTrack(self);
    if (f->previous != NULL) {
        f->previous->next = f->next;
    } else if (all_functions == f) {
        all_functions = f->next;
    }
    if (f->next != NULL) {
        f->next->previous = f->previous;
    }
    if (f->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    function_clear(self);
    Py_CLEAR(f->function);
    Py_CLEAR(f->callback);
    Py_CLEAR(f->code);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *function_bind(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(owner)) {
    return instance == NULL || instance == Py_None ? Py_NewRef(self)
                                                   : PyMethod_New(self, instance);
}

static PyObject *function_getattr(PyObject *self, PyObject *name) {
    PyObject *value = PyObject_GenericGetAttr(self, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        value = PyObject_GetAttr((PyObject *)((EfCompiledFunction *)self)->function, name);
    }
    return value;
}

/* What a call depends on belongs to the function; other attributes are the object's own. */
static int function_setattr(PyObject *self, PyObject *name, PyObject *value) {
    static const char *const of_function[] = {
        "__code__", "__defaults__", "__kwdefaults__", "__name__", "__qualname__", "__doc__",
        "__module__", "__annotations__", "__type_params__", NULL};
    for (const char *const *known = of_function; *known != NULL; known++) {
        if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, *known) == 0) {
            return PyObject_SetAttr((PyObject *)((EfCompiledFunction *)self)->function, name,
                                    value);
        }
    }
    return PyObject_GenericSetAttr(self, name, value);
}

static PyObject *function_repr(PyObject *self) {
    return PyUnicode_FromFormat("<compiled function %U at %p>",
                                ((EfCompiledFunction *)self)->function->func_qualname, self);
}

/* What the callback remembers of captures goes too, where it has a `reset` of its own. */
static PyObject *function_reset(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    EfCompiledFunction *f = (EfCompiledFunction *)self;
    ef_list_clear(&f->list);
    PyObject *reset = PyObject_GetAttrString(f->callback, "reset");
    if (reset == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return NULL;
        }
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    PyObject *done = PyObject_CallNoArgs(reset);
    Py_DECREF(reset);
    Py_XDECREF(done);
    return done == NULL ? NULL : Py_NewRef(Py_None);
}

/* As functions do: by qualified name, so that copies are the object itself. */
static PyObject *function_reduce(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    return Py_NewRef(((EfCompiledFunction *)self)->function->func_qualname);
}

void ef_reset_functions(void) {
    Py_ssize_t n = 0, i = 0;
    for (EfCompiledFunction *f = all_functions; f != NULL; f = f->next) {
        n++;
    }
    PyObject **alive = PyMem_Malloc(((size_t)n + 1) * sizeof *alive);
    if (alive == NULL) {
        return;
    }
    for (EfCompiledFunction *f = all_functions; f != NULL; f = f->next) {
        alive[i++] = Py_NewRef((PyObject *)f);
    }
    for (i = 0; i < n; i++) {
        ef_list_clear(&((EfCompiledFunction *)alive[i])->list);
        Py_DECREF(alive[i]);
    }
    PyMem_Free(alive);
}

static PyObject *get_entries(PyObject *self, void *Py_UNUSED(closure)) {
    return ef_list_tuple(&((EfCompiledFunction *)self)->list);
}

static PyObject *get_of_function(PyObject *self, void *name) {
    return PyObject_GetAttrString((PyObject *)((EfCompiledFunction *)self)->function, name);
}

static PyMethodDef methods[] = {
    {"reset", function_reset, METH_NOARGS, NULL},
    {"__reduce__", function_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {
    {"__wrapped__", T_OBJECT_EX, offsetof(EfCompiledFunction, function), READONLY, NULL},
    {"callback", T_OBJECT_EX, offsetof(EfCompiledFunction, callback), READONLY, NULL},
    {"limit", T_INT, offsetof(EfCompiledFunction, limit), 0, NULL},
    {"enabled", T_BOOL, offsetof(EfCompiledFunction, enabled), 0, NULL},
    {"misses", T_LONGLONG, offsetof(EfCompiledFunction, misses), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyGetSetDef getset[] = {
    {"entries", get_entries, NULL, NULL, NULL},
    {"__name__", get_of_function, NULL, NULL, "__name__"},
    {"__qualname__", get_of_function, NULL, NULL, "__qualname__"},
    {"__doc__", get_of_function, NULL, NULL, "__doc__"},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject EfCompiledFunction_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.capture._eval_frame.CompiledFunction",
    .tp_basicsize = sizeof(EfCompiledFunction),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL
        | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_new = function_new,
    .tp_dealloc = function_dealloc,
    .tp_traverse = function_traverse,
    .tp_clear = function_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(EfCompiledFunction, vectorcall),
    .tp_descr_get = function_bind,
    .tp_getattro = function_getattr,
    .tp_setattro = function_setattr,
    .tp_repr = function_repr,
    .tp_dictoffset = offsetof(EfCompiledFunction, dict),
    .tp_weaklistoffset = offsetof(EfCompiledFunction, weakrefs),
    .tp_methods = methods,
    .tp_members = members,
    .tp_getset = getset,
};
