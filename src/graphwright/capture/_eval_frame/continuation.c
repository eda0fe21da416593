/* Continuation: what is left of a function after a graph break, and the loop that goes on with it.
 *
 * Code that breaks returns one to whoever evaluates its frame. That frame is gone, and so are its
 * locals, when the rest of the function runs in its place: one frame of the user's function at a
 * time, however many breaks there are.
 */
#include "eval_frame.h"
#include <stddef.h>

struct EfContinuation {
    PyObject_VAR_HEAD
    PyObject *items[1];     /* the function, then its arguments; NULL once a frame has them */
};

static _Thread_local EfContinuation *starting;     /* borrowed: its frame has not begun */

static PyObject *make(PyObject *type, PyObject *const *items, size_t nargsf, PyObject *kwnames) {
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    if (n == 0 || kwnames != NULL || !PyCallable_Check(items[0])) {
        PyErr_SetString(PyExc_TypeError, "Continuation(function, *args)");
        return NULL;
    }
    EfContinuation *made = PyObject_GC_NewVar(EfContinuation, (PyTypeObject *)type, n);
    if (made == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        made->items[i] = Py_NewRef(items[i]);
    }
    PyObject_GC_Track((PyObject *)made);
    return (PyObject *)made;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        Py_VISIT(((EfContinuation *)self)->items[i]);
    }
    return 0;
}

static int clear(PyObject *self) {
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
    .tp_doc = "Continuation(function, *args): what a frame leaves to whoever evaluated it.",
    .tp_vectorcall = make,
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
    starting = next;
    PyObject *result = PyObject_Vectorcall(next->items[0], next->items + 1, n_args, NULL);
    if (starting == next) {
        starting = NULL;
    }
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
        result = start(next);
        Py_DECREF((PyObject *)next);
    }
    if (result == NULL) {
        leave_handlers(handled);
    }
    return result;
}
