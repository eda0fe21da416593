/* What would run code of the program amid a capture, and with it on fake tensors: the collector, for
 * finalizers and callbacks, which a capture holds off; and signals, whose handlers in Python run
 * outside of it, in the modes and under the handlers that the thread had before.
 *
 * One thread captures at a time; what is kept here is of that capture, and guarded by the GIL.
 */
#define _GNU_SOURCE
#include "frame.h"
#include <pthread.h>
#include <signal.h>

#if EF_SUPPORTED

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <internal/pycore_interp.h>
#pragma GCC diagnostic pop
#if PY_VERSION_HEX >= 0x030D0000
#include <internal/pycore_signal.h>
#endif

/* ---- the collector: due when a count passes a threshold. Neither of these says whether it is
 * enabled, which is for the threads of the program to change at any time. ---- */

enum { FAR_BELOW = INT_MIN / 2 };

static int counts[NUM_GENERATIONS];
static bool collector_held;

static struct gc_generation *generations(void) {
    return PyInterpreterState_Main()->gc.generations;
}

static void hold_collector(void) {
    for (int i = 0; i < NUM_GENERATIONS; i++) {
        counts[i] = generations()[i].count;
        generations()[i].count = FAR_BELOW;
    }
    collector_held = true;
}

/* What was allocated meanwhile counts. A collection that somebody asked for began a new count. */
static void release_collector(void) {
    for (int i = 0; i < NUM_GENERATIONS; i++) {
        int *count = &generations()[i].count;
        *count = *count < 0 ? counts[i] + (*count - FAR_BELOW) : *count;
    }
    collector_held = false;
}

/* A fork's child does not have the thread that would release the collector. */
static void release_in_child(void) {
    if (collector_held && !ef_capturing() && PyGILState_Check()) {
        release_collector();
    }
}

/* ---- signals ---- */

static PyObject *get_handler, *set_handler, *save_modes, *call_in_modes;
static PyObject *handlers[NSIG], *wrappers[NSIG];       /* NULL: not wrapped */
static PyObject *outside;       /* the thread's modes before the capture, where some are */

enum { MOST_TRIES = 100 };      /* to put a handler back: exceptions of other handlers end some */

static PyObject *run_outside(PyObject *handler, PyObject *const *args, Py_ssize_t n);
static PyMethodDef wrapper = {"handler", (PyCFunction)(void (*)(void))run_outside, METH_FASTCALL,
                              NULL};

static PyObject *handler_of(int number) {
    PyObject *argument = PyLong_FromLong(number);
    PyObject *found = argument == NULL ? NULL : PyObject_CallOneArg(get_handler, argument);
    Py_XDECREF(argument);
    return found;
}

/* As signal.signal does, but for the flags of the signal, which stay. -1 where a handler that was
 * due raised. */
static int assign(int number, PyObject *handler) {
    struct sigaction action;
    bool known = sigaction(number, NULL, &action) == 0;
    PyObject *before = PyObject_CallFunction(set_handler, "iO", number, handler);
    if (known && before != NULL) {
        sigaction(number, &action, NULL);
    }
    Py_XDECREF(before);
    return before == NULL ? -1 : 0;
}

static int wrap(int number) {
    PyObject *found = handler_of(number);
    if (found == NULL) {
        return -1;
    }
    if (!PyCallable_Check(found) || PyCFunction_Check(found)) {
        Py_DECREF(found);
        return 0;
    }
    Py_XSETREF(handlers[number], found);
    Py_XSETREF(wrappers[number], PyCFunction_New(&wrapper, found));
    return wrappers[number] == NULL ? -1 : assign(number, wrappers[number]);
}

static int unwrap(int number) {
    PyObject *found = handler_of(number);
    int status = found == NULL || (found == wrappers[number] && assign(number, handlers[number]) < 0)
        ? -1 : 0;
    Py_XDECREF(found);
    return status;
}

/* Puts the program's handlers back, whatever is being raised. Where handlers that are due raise
 * meanwhile, what the last of them raises takes the place of that, and the result is -1. */
static int unwrap_all(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    int status = 0;
    for (int number = 1; number < NSIG; number++) {
        for (int tries = 0; wrappers[number] != NULL && tries < MOST_TRIES; tries++) {
            if (unwrap(number) == 0) {
                Py_CLEAR(wrappers[number]);
                Py_CLEAR(handlers[number]);
                continue;
            }
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(traceback);
            PyErr_Fetch(&type, &value, &traceback);
            status = -1;
        }
    }
    Py_CLEAR(outside);
    PyErr_Restore(type, value, traceback);
    return status;
}

static PyObject *of_module(const char *name, const char *function) {
    PyObject *module = PyImport_ImportModule(name);
    PyObject *found = module == NULL ? NULL : PyObject_GetAttrString(module, function);
    Py_XDECREF(module);
    return found;
}

static int import_functions(void) {
    static const char core[] = "graphwright.runtime._core", signals[] = "_signal";
    return (get_handler == NULL && (get_handler = of_module(signals, "getsignal")) == NULL)
        || (set_handler == NULL && (set_handler = of_module(signals, "signal")) == NULL)
        || (save_modes == NULL && (save_modes = of_module(core, "saved_modes")) == NULL)
        || (call_in_modes == NULL && (call_in_modes = of_module(core, "call_in_modes")) == NULL)
        ? -1 : 0;
}

/* Steals `modes`, and takes NULL with an exception. */
static int wrap_all(PyObject *modes) {
    int status = modes == NULL ? -1 : 0;
    outside = modes;
    for (int number = 1; status == 0 && number < NSIG; number++) {
        status = wrap(number);
    }
    if (status < 0) {
        unwrap_all();
    }
    return status;
}

static PyObject *run_outside(PyObject *handler, PyObject *const *args, Py_ssize_t n) {
    if (outside == NULL || !ef_capturing()) {
        return PyObject_Vectorcall(handler, args, (size_t)n, NULL);
    }
    if (n != 2) {
        return PyErr_SetString(PyExc_TypeError, "a handler takes a number and a frame"), NULL;
    }
    PyObject *arguments[] = {outside, handler, args[0], args[1]};
    PyObject *modes = Py_NewRef(outside), *result = NULL;
    Py_INCREF(handler);
    ef_set_capturing(false);
    if (unwrap_all() == 0) {
        result = PyObject_Vectorcall(call_in_modes, arguments, 4, NULL);
    }
    if (result == NULL) {
        Py_DECREF(modes);
    } else if (wrap_all(modes) < 0) {
        Py_CLEAR(result);
    }
    ef_set_capturing(true);
    Py_DECREF(handler);
    return result;
}

int ef_hold_interruptions(void) {
    hold_collector();
    if (_PyOS_IsMainThread()
        && (import_functions() < 0 || wrap_all(PyObject_CallNoArgs(save_modes)) < 0)) {
        release_collector();
        return -1;
    }
    return 0;
}

/* Before the collector is released: it would look through all that the capture has made. */
static void settle(void) {
    static PyObject *function;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (function == NULL) {
        function = of_module("graphwright.runtime.collecting", "settle");
    }
    PyObject *done = function == NULL ? NULL
        : PyObject_CallFunction(function, "i", generations()[0].count - FAR_BELOW);
    if (done == NULL) {
        PyErr_WriteUnraisable(function);
    }
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
}

int ef_release_interruptions(void) {
    int status = unwrap_all();
    if (generations()[0].count < 0) {       /* nobody has asked for a collection meanwhile */
        settle();
    }
    release_collector();
    return status;
}

/* ---- what is raised while a graph runs ---- */

int ef_came_from_outside(PyObject *exception) {
    static PyObject *test;
    if (test == NULL
        && (test = of_module("graphwright.capture.frame.async_exceptions", "came_from_outside")) == NULL) {
        return -1;
    }
    PyObject *told = PyObject_CallOneArg(test, exception);
    int outside = told == NULL ? -1 : told == Py_True;
    Py_XDECREF(told);
    return outside;
}

/* ---- what is raised before a frame begins that goes on in a block ---- */

static int raise_again(void *exception) {
#if PY_VERSION_HEX >= 0x030C0000
    PyErr_SetRaisedException(exception);
#else
    PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(exception)), exception,
                  PyException_GetTraceback(exception));
#endif
    return -1;
}

static PyObject *take_raised(void) {
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
#endif
}

bool ef_raise_at_resume(PyObject *exception) {
    if (!_PyOS_IsMainThread() || Py_AddPendingCall(raise_again, exception) < 0) {
        raise_again(exception);
        return false;
    }
    return true;
}

bool ef_raised_at_resume(void) { return ef_raise_at_resume(take_raised()); }

int ef_interruptions_init(void) {
    int error = pthread_atfork(NULL, NULL, release_in_child);
    if (error != 0) {
        errno = error;
        PyErr_SetFromErrno(PyExc_OSError);
    }
    return error == 0 ? 0 : -1;
}

#else

int ef_hold_interruptions(void) { return 0; }
int ef_release_interruptions(void) { return 0; }
int ef_interruptions_init(void) { return 0; }
int ef_came_from_outside(PyObject *exception) { (void)exception; return 0; }

#endif
