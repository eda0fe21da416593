/* Locks that the code of an entry was captured under: it runs while this thread has all of them.
 *
 * They are taken as the call begins, without waiting, and the guards are looked at once more: so
 * other threads change nothing between what was read and what is written. A lock that another
 * thread has leaves the call to Python, which waits where the program says. */
#include "eval_frame.h"

static void release(PyObject *locks, Py_ssize_t n) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    while (n-- > 0) {
        PyObject *done = PyObject_CallMethod(PyTuple_GET_ITEM(locks, n), "release", NULL);
        if (done == NULL) {
            PyErr_WriteUnraisable(PyTuple_GET_ITEM(locks, n));
        }
        Py_XDECREF(done);
    }
    PyErr_Restore(type, value, traceback);
}

/* 1: all are taken; 0: another thread has one; -1 with an exception. */
static int take(PyObject *locks) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(locks); i++) {
        PyObject *taken = PyObject_CallMethod(PyTuple_GET_ITEM(locks, i), "acquire", "O",
                                              Py_False);
        int status = taken == NULL ? -1 : PyObject_IsTrue(taken);
        Py_XDECREF(taken);
        if (status <= 0) {
            release(locks, i);
            return status;
        }
    }
    return 1;
}

int ef_entry_lock(EfEntry *entry, PyFunctionObject *function, PyObject *const *slots) {
    if (entry->locks == NULL) {
        return 1;
    }
    int status = take(entry->locks);
    if (status > 0) {
        status = ef_guards_hold(entry->program, function, slots);
        if (status <= 0) {
            ef_entry_unlock(entry);
        }
    }
    return status;
}

void ef_entry_unlock(EfEntry *entry) {
    if (entry->locks != NULL) {
        release(entry->locks, PyTuple_GET_SIZE(entry->locks));
    }
}
