/* Continuation: what is left of a function after a graph break, and the loop that goes on with it.
 *
 * Code that breaks returns one to whoever evaluates its frame. That frame is gone, and so are its
 * locals, when the rest of the function runs in its place: one frame of the user's function at a
 * time, however many breaks there are.
 *
 * So does code whose graph failed, with a continuation that runs the whole function plainly: no
 * frame of it is captured, and a listener hears of the failure where it gives a result. A failure
 * that is an exception is raised where the function begins.
 */
#include "eval_frame.h"
#include <stddef.h>

struct EfContinuation {
    PyObject_VAR_HEAD
    PyObject *failure;      /* that sent the function its plain way; NULL: it may be captured */
    PyObject *listener;     /* called with it, or None */
    PyObject *kwnames;      /* of the last arguments, or NULL */
    PyObject *items[1];     /* the function, then its arguments; NULL once a frame has them */
};

static _Thread_local EfContinuation *starting;     /* borrowed: its frame has not begun */

static EfContinuation *made_of(PyObject *const *items, Py_ssize_t n) {
    EfContinuation *made = PyObject_GC_NewVar(EfContinuation, &EfContinuation_Type, n);
    if (made == NULL) {
        return NULL;
    }
    made->failure = made->listener = made->kwnames = NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        made->items[i] = Py_NewRef(items[i]);
    }
    PyObject_GC_Track((PyObject *)made);
    ef_frame_breaks();
    return made;
}

/* `continued[function, *args]`: a Continuation, without the look for signals behind a call. */
static PyObject *subscripted(PyObject *Py_UNUSED(self), PyObject *items) {
    if (!PyTuple_CheckExact(items) || PyTuple_GET_SIZE(items) == 0 ||
        !PyCallable_Check(PyTuple_GET_ITEM(items, 0))) {
        PyErr_SetString(PyExc_TypeError, "continued[function, *args]");
        return NULL;
    }
    return (PyObject *)made_of(PySequence_Fast_ITEMS(items), PyTuple_GET_SIZE(items));
}

static PyMappingMethods by_subscript = {.mp_subscript = subscripted};

static PyTypeObject Continued_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.capture._eval_frame.Continued",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_as_mapping = &by_subscript,
};

/* `called[function, *args]`: a call without that look. Where the last arguments have names, the key
 * is a tuple of one: (function, *args, names). */
static PyObject *called(PyObject *Py_UNUSED(self), PyObject *items) {
    PyObject *names = NULL;
    if (PyTuple_CheckExact(items) && PyTuple_GET_SIZE(items) == 1
        && PyTuple_CheckExact(PyTuple_GET_ITEM(items, 0))) {
        items = PyTuple_GET_ITEM(items, 0);
        Py_ssize_t last = PyTuple_GET_SIZE(items) - 1;
        names = last < 0 ? NULL : PyTuple_GET_ITEM(items, last);
    }
    bool named = names != NULL && PyTuple_CheckExact(names);
    Py_ssize_t n = !PyTuple_CheckExact(items) ? 0
        : PyTuple_GET_SIZE(items) - (named ? 1 + PyTuple_GET_SIZE(names) : 0);
    if (n < 1 || (names != NULL && !named)) {
        PyErr_SetString(PyExc_TypeError, "called[function, *args] or called[(..., names),]");
        return NULL;
    }
    PyObject *const *args = PySequence_Fast_ITEMS(items);
    return PyObject_Vectorcall(args[0], args + 1, (size_t)n - 1, names);
}

static PyMappingMethods call_by_subscript = {.mp_subscript = called};

static PyTypeObject Called_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.capture._eval_frame.Called",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_as_mapping = &call_by_subscript,
};

static int add_instance(PyObject *module, const char *name, PyTypeObject *type) {
    if (PyType_Ready(type) < 0) {
        return -1;
    }
    PyObject *made = PyObject_New(PyObject, type);
    int status = made == NULL ? -1 : PyModule_AddObjectRef(module, name, made);
    Py_XDECREF(made);
    return status;
}

int ef_add_subscripted(PyObject *module) {
    return add_instance(module, "continued", &Continued_Type) < 0
        || add_instance(module, "called", &Called_Type) < 0 ? -1 : 0;
}

static PyObject *plainly(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n,
                         PyObject *kwnames) {
    if (n < 3 || !PyCallable_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "plainly(listener, failure, function, *args, **kwargs)");
        return NULL;
    }
    Py_ssize_t n_keywords = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    EfContinuation *made = made_of(args + 2, n - 2 + n_keywords);
    if (made != NULL) {
        made->listener = Py_NewRef(args[0]);
        made->failure = Py_NewRef(args[1]);
        made->kwnames = Py_XNewRef(kwnames);
    }
    return (PyObject *)made;
}

PyMethodDef ef_continuation_methods[] = {
    {"plainly", (PyCFunction)(void (*)(void))plainly, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

static int traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((EfContinuation *)self)->listener);
    Py_VISIT(((EfContinuation *)self)->failure);
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        Py_VISIT(((EfContinuation *)self)->items[i]);
    }
    return 0;
}

static int clear(PyObject *self) {
    Py_CLEAR(((EfContinuation *)self)->listener);
    Py_CLEAR(((EfContinuation *)self)->failure);
    Py_CLEAR(((EfContinuation *)self)->kwnames);
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        Py_CLEAR(((EfContinuation *)self)->items[i]);
    }
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    PyObject_GC_Del(self);
}

PyTypeObject EfContinuation_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.capture._eval_frame.Continuation",
    .tp_basicsize = offsetof(EfContinuation, items),
    .tp_itemsize = sizeof(PyObject *),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "continued[function, *args]: what a frame leaves to whoever evaluated it.",
    .tp_dealloc = dealloc,
    .tp_traverse = traverse,
    .tp_clear = clear,
};

bool ef_continuation_begins(PyObject *function) {
    EfContinuation *next = starting;
    if (next == NULL || next->items[0] != function) {
        return false;
    }
    starting = NULL;
    for (Py_ssize_t i = 1; i < Py_SIZE((PyObject *)next); i++) {
        Py_CLEAR(next->items[i]);
    }
    return true;
}

static PyObject *start(EfContinuation *next) {
    size_t n_args = (size_t)Py_SIZE((PyObject *)next) - 1;
    if (next->kwnames != NULL) {
        n_args -= (size_t)PyTuple_GET_SIZE(next->kwnames);
    }
    starting = next;
    ef_frame_goes_on();
    PyObject *result = PyObject_Vectorcall(next->items[0], next->items + 1, n_args, next->kwnames);
    if (starting == next) {
        starting = NULL;
    }
    return result;
}

static PyObject *start_plainly(EfContinuation *next) {
    EfHookState state;
    if (ef_hook_enter(NULL, 0, &state) < 0) {
        return NULL;
    }
    bool interrupted = PyExceptionInstance_Check(next->failure);
    PyObject *result = interrupted && !ef_raise_at_resume(Py_NewRef(next->failure)) ? NULL
                                                                                   : start(next);
    if (result != NULL && next->listener != Py_None && !interrupted) {
        PyObject *told = PyObject_CallOneArg(next->listener, next->failure);
        if (told == NULL) {
            Py_CLEAR(result);
        }
        Py_XDECREF(told);
    }
    ef_hook_leave(&state);
    return result;
}

PyObject *ef_handled(void) {
    return Py_XNewRef(PyThreadState_Get()->exc_info->exc_value);
}

/* Continuations begin inside of the handlers that they end in. One that could not begin, for want
 * of stack or memory, leaves the thread in them. */
static void leave_handlers(PyObject *handled) {
    _PyErr_StackItem *top = PyThreadState_Get()->exc_info;
    if (top->exc_value != handled) {
        Py_XSETREF(top->exc_value, Py_XNewRef(handled));
    }
}

PyObject *ef_continue(PyObject *result, PyObject *handled) {
    while (result != NULL && Py_IS_TYPE(result, &EfContinuation_Type)) {
        EfContinuation *next = (EfContinuation *)result;
        result = next->failure == NULL ? start(next) : start_plainly(next);
        Py_DECREF((PyObject *)next);
        ef_frame_went_on(result);
    }
    if (result == NULL) {
        leave_handlers(handled);
    }
    return result;
}
