/* Asking the callback what to do about a call that no entry serves. */
#include "eval_frame.h"
#include <unistd.h>

#if PY_VERSION_HEX < 0x030D0000
#define Py_IsFinalizing _Py_IsFinalizing
#endif

static _Thread_local bool capturing;
static pid_t busy_in;   /* the process in which some thread captures; guarded by the GIL */

static int stance;      /* of the process: enum EfStance; guarded by the GIL */

bool ef_capturing(void) { return capturing; }
void ef_set_capturing(bool value) { capturing = value; }
bool ef_forced_eager(void) { return stance == EF_FORCE_EAGER; }

PyObject *ef_set_stance(PyObject *Py_UNUSED(module), PyObject *value) {
    int wanted = (int)PyLong_AsLong(value);
    if (PyErr_Occurred()) {
        return NULL;
    }
    stance = wanted;
    Py_RETURN_NONE;
}

static void drop_dead(EfEntryList *list) {
    for (int32_t i = list->n - 1; i >= 0; i--) {
        EfEntry *entry = list->items[i];
        if (ef_guard_is_dead(entry->program)) {
            list->n--;
            memmove(list->items + i, list->items + i + 1,
                    (size_t)(list->n - i) * sizeof *list->items);
            Py_DECREF(entry);
        }
    }
}

static PyObject *slots_tuple(PyObject *const *slots, int n) {
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple != NULL && i < n; i++) {
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(slots[i]));
    }
    return tuple;
}

enum {
    ROOM = 1500,                        /* calls of Python */
    NEEDED_STACK = 2 * 1024 * 1024      /* bytes of C stack for them */
};

static void take_room(int units) {
    PyThreadState *tstate = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030C0000
    tstate->py_recursion_remaining -= units;
#else
    tstate->recursion_remaining -= units;
#endif
}

/* What the callback calls is no part of the user's recursion: it has room of its own, where the
 * stack of the thread has. */
static int give_room(void) {
    char *now = __builtin_frame_address(0), *lowest = ef_stack_lowest();
    int units = lowest != NULL && now - lowest > NEEDED_STACK ? ROOM : 0;
    take_room(-units);
    return units;
}

/* Profilers and debuggers see the program's frames, not those of the translator. NULL: there are
 * none. */
static PyThreadState *pause_watchers(void) {
    PyThreadState *tstate = PyThreadState_Get();
    if (tstate->c_profilefunc == NULL && tstate->c_tracefunc == NULL) {
        return NULL;
    }
    PyThreadState_EnterTracing(tstate);
    return tstate;
}

static void resume_watchers(PyThreadState *paused) {
    if (paused != NULL) {
        PyThreadState_LeaveTracing(paused);
    }
}

/* callback(function, code, slots, entries), with capture and the hook off meanwhile, and with no code
 * of the program between its instructions. */
static PyObject *ask(PyObject *callback, EfEntryList *list, PyFunctionObject *function,
                     PyCodeObject *code, PyObject *const *slots) {
    PyObject *bound = slots_tuple(slots, ef_code_slots(code));
    PyObject *entries = ef_list_tuple(list);
    PyObject *answer = NULL;
    busy_in = getpid();
    if (bound != NULL && entries != NULL && ef_hold_interruptions() == 0) {
        PyObject *suspended = ef_hook_suspend();
        PyThreadState *paused = pause_watchers();
        capturing = true;
        int room = give_room();
        answer = PyObject_CallFunctionObjArgs(callback, (PyObject *)function, (PyObject *)code,
                                              bound, entries, NULL);
        take_room(room);
        capturing = false;
        if (ef_release_interruptions() < 0) {
            Py_CLEAR(answer);
        }
        resume_watchers(paused);
        ef_hook_resume(suspended);
    }
    busy_in = 0;
    Py_XDECREF(bound);
    Py_XDECREF(entries);
    return answer;
}

static int tell_limit(PyObject *callback, EfEntryList *list, PyFunctionObject *function,
                      PyCodeObject *code, PyObject *const *slots) {
    PyObject *listener = PyObject_GetAttrString(callback, "limit_reached");
    if (listener == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return -1;
        }
        PyErr_Clear();
        list->limit_told = true;
        return 0;
    }
    PyObject *answer = ask(listener, list, function, code, slots);
    list->limit_told = list->limit_told || answer != NULL;
    Py_DECREF(listener);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

PyObject *ef_tell_failure(PyObject *callback, PyCodeObject *code, PyObject *result,
                          PyObject *failure) {
    PyObject *listener = NULL;
    if (failure != NULL && result != NULL) {
        listener = PyObject_GetAttrString(callback, "graph_failed");
        if (listener == NULL) {
            PyErr_Clear();
        }
    }
    if (listener != NULL) {
        Py_INCREF(code);
        PyObject *suspended = ef_hook_suspend();
        PyThreadState *paused = pause_watchers();
        PyObject *told = PyObject_CallFunctionObjArgs(listener, (PyObject *)code, failure, NULL);
        resume_watchers(paused);
        ef_hook_resume(suspended);
        if (told == NULL) {
            Py_CLEAR(result);
        }
        Py_XDECREF(told);
        Py_DECREF(code);
        Py_DECREF(listener);
    }
    Py_XDECREF(failure);
    return result;
}

static int take(EfEntryList *list, PyObject *answer, PyCodeObject *code, PyObject *const *slots,
                EfEntry **entry) {
    if (answer == ef_run_natively) {
        return 0;
    }
    if (answer == Py_None) {
        list->skip = true;
        return 0;
    }
    if (PyTuple_Check(answer)) {
        int noted = ef_tensorless_note(&list->tensorless, answer, slots, ef_code_slots(code));
        list->skip = noted == 0;
        return noted < 0 ? -1 : 0;
    }
    if (!PyObject_TypeCheck(answer, &EfEntry_Type)) {
        PyErr_Format(PyExc_TypeError, "a capture callback returned %R, not an Entry", answer);
        return -1;
    }
    EfEntry *made = (EfEntry *)answer;
    if (ef_entry_fits(made, code) < 0
        || (made->code != NULL && ef_hook_skip(made->code) < 0)
        || ef_list_add(list, made) < 0) {
        return -1;
    }
    *entry = (EfEntry *)Py_NewRef(answer);
    return 0;
}

/* Whether to leave a frame as it is without asking. While the interpreter ends, nothing can be
 * imported that a translation may need. */
static bool is_declined(const EfEntryList *list) {
    return list->skip || capturing || (busy_in != 0 && busy_in == getpid()) || Py_IsFinalizing();
}

int ef_capture(EfEntryList *list, PyObject *callback, int limit, PyFunctionObject *function,
               PyObject *const *slots, EfEntry **entry) {
    *entry = NULL;
    if (is_declined(list)) {
        return 0;
    }
    drop_dead(list);
    PyCodeObject *code = (PyCodeObject *)Py_NewRef(function->func_code);
    int status = 0;
    if (list->n >= limit) {
        bool known = list->limit_told && stance != EF_FAIL_ON_RECOMPILE;
        status = known ? 0 : tell_limit(callback, list, function, code, slots);
    } else {
        PyObject *answer = ask(callback, list, function, code, slots);
        status = answer == NULL ? -1 : take(list, answer, code, slots, entry);
        Py_XDECREF(answer);
    }
    Py_DECREF(code);
    if (status < 0 && PyErr_ExceptionMatches(PyExc_RecursionError)) {
        PyErr_Clear();      /* too deep to capture now: the call runs natively this time */
        status = 0;
    }
    return status;
}
