/* The frame hook (PEP 523): installed while code runs whose nested frames are to be captured. */
#include "frame.h"
#include "code_cache.h"

static _Thread_local struct {
    PyObject *callback;     /* owned; NULL: frames of this thread run as they are */
    int limit;
} here;

enum { DEFAULT_LIMIT = 8 };

PyObject *ef_hook_suspend(void) {
    PyObject *callback = here.callback;
    here.callback = NULL;
    return callback;
}

void ef_hook_resume(PyObject *callback) { here.callback = callback; }

#if EF_SUPPORTED

static int needed;          /* running calls that need the hook, in all threads */
static _PyFrameEvalFunction next_evaluator = _PyEval_EvalFrameDefault;
static int64_t frames_offered, frames_replaced;
static bool covered;        /* another evaluator was installed over ours, and chains to it */

static const int KINDS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
    | CO_ITERABLE_COROUTINE | CO_OPTIMIZED | CO_NEWLOCALS;

enum {
    UNITS_PER_CALL = 2,         /* of C recursion, that a hooked call takes from its limit */
    BYTES_PER_UNIT = 640,       /* of C stack, at most, that one of them needs */
    RESERVE = 512 * 1024,
    LEAST = 48 * 1024           /* of C stack, to begin a frame with */
};

/* Bytes of C stack that this thread has left. */
static ptrdiff_t stack_left(void) {
    char *now = __builtin_frame_address(0), *lowest = ef_stack_lowest();
    return lowest == NULL ? RESERVE : now - lowest;
}

/* Every hooked call is a call of C, and counts against the C recursion limit of 3.12 and 3.13,
 * which is lower than Python's own. Where the stack has room for all the recursion that the limit
 * would still allow, the call is not counted, so that code recurses as deeply as without the
 * hook. Threads with small stacks get the RecursionError before their stack ends. */
static PyObject *run_frame(PyThreadState *tstate, EfFrame *frame, int throwflag) {
    ptrdiff_t left = stack_left();
    if (left < LEAST && !throwflag) {
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: C stack");
        return next_evaluator(tstate, frame, 1);
    }
#if PY_VERSION_HEX >= 0x030C0000
    ptrdiff_t allowed = (ptrdiff_t)tstate->c_recursion_remaining * BYTES_PER_UNIT;
    int units = left > RESERVE + allowed ? UNITS_PER_CALL : 0;
    tstate->c_recursion_remaining += units;
    PyObject *result = next_evaluator(tstate, frame, throwflag);
    tstate->c_recursion_remaining -= units;
    return result;
#else
    return next_evaluator(tstate, frame, throwflag);
#endif
}

/* The same for a frame of which `continued` says that it follows a graph break. */
static PyObject *run_begun(PyThreadState *tstate, EfFrame *frame, bool continued) {
    return continued ? ef_run_continued(tstate, frame, run_frame) : run_frame(tstate, frame, 0);
}

/* Code that does not fit in the frame's chunk runs in a frame of its own. */
static PyObject *run_apart(PyThreadState *tstate, EfFrame *frame, EfEntry *entry) {
    PyFunctionObject *function = (PyFunctionObject *)EF_FRAME_FUNCTION(frame);
    PyObject *made = ef_entry_function(entry, function);
    PyObject *result = NULL;
    if (made != NULL) {
        Py_INCREF(made);
        result = PyObject_Vectorcall(made, frame->localsplus, (size_t)entry->program->n_slots,
                                     NULL);
        Py_DECREF(made);
        Py_CLEAR(entry->made);
        Py_CLEAR(entry->made_for);
    }
    ef_frame_drop(tstate, frame);
    return result;
}

/* Run an entry's code, and what follows its graph breaks: `continued` says that the frame itself
 * follows one, and that who began it goes on. Takes the entry, whose locks are held. */
static PyObject *run_entry(PyThreadState *tstate, EfFrame *frame, EfEntry *entry,
                           bool continued) {
    PyObject *handled = ef_handled();
    bool swapped = ef_frame_swap(tstate, frame, entry->code);
    PyObject *result = swapped ? run_begun(tstate, frame, continued)
                               : run_apart(tstate, frame, entry);
    ef_entry_unlock(entry);
    Py_DECREF((PyObject *)entry);
    if (!continued && result != NULL && Py_IS_TYPE(result, &EfContinuation_Type)) {
        ef_frame_empty(frame);
        result = ef_continue(result, handled);
    }
    Py_XDECREF(handled);
    return result;
}

static PyObject *run_hit(PyThreadState *tstate, EfFrame *frame, EfEntry *entry, bool continued) {
    PyFunctionObject *function = (PyFunctionObject *)EF_FRAME_FUNCTION(frame);
    int locked = ef_entry_lock(entry, function, frame->localsplus);
    if (locked > 0) {
        frames_replaced += entry->code != EF_FRAME_CODE(frame);
        return run_entry(tstate, frame, entry, continued);
    }
    Py_DECREF((PyObject *)entry);
    if (locked == 0) {
        return run_begun(tstate, frame, continued);
    }
    ef_frame_drop(tstate, frame);
    return NULL;
}

static EfOutcome find_entry(EfEntryList *list, EfFrame *frame, EfEntry **entry,
                            PyObject **result) {
    PyFunctionObject *function = (PyFunctionObject *)EF_FRAME_FUNCTION(frame);
    EfOutcome outcome = ef_list_lookup(list, function, frame->localsplus, entry, result);
    if (outcome != EF_MISS || list->skip) {
        return outcome;
    }
    EfEntry *made;
    PyObject *callback = Py_NewRef(here.callback);
    int status = ef_capture(list, callback, here.limit, function, frame->localsplus, &made);
    Py_DECREF(callback);
    if (status < 0) {
        return EF_ERROR;
    }
    if (made == NULL) {
        if (list->tensorless != NULL) {     /* holds dicts, which no collector finds here */
            EfTensorless *tensorless = list->tensorless;
            list->skip = true;
            list->tensorless = NULL;
            ef_tensorless_free(tensorless);
        }
        return EF_MISS;
    }
    Py_DECREF((PyObject *)made);
    return ef_list_lookup(list, function, frame->localsplus, entry, result);
}

static EfEntryList *entries_for(PyThreadState *tstate, EfFrame *frame) {
    PyCodeObject *code = EF_FRAME_CODE(frame);
    if ((code->co_flags & KINDS) != (CO_OPTIMIZED | CO_NEWLOCALS)
        || !ef_frame_is_fresh(tstate, frame)
        || ((PyFunctionObject *)EF_FRAME_FUNCTION(frame))->func_code != (PyObject *)code) {
        return NULL;
    }
    EfCodeCache *cache = ef_code_cache(code, true);
    return cache == NULL || cache->skip ? NULL : ef_code_entries(cache, here.callback);
}

/* The frame as it is, after a direct call in its place has failed. */
static PyObject *run_failed(PyThreadState *tstate, EfFrame *frame, bool continued) {
    PyObject *failure = ef_take_failure(), *callback = Py_NewRef(here.callback);
    PyCodeObject *code = (PyCodeObject *)Py_NewRef(EF_FRAME_CODE(frame));
    PyObject *result = run_begun(tstate, frame, continued);
    result = ef_tell_failure(callback, code, result, failure);
    Py_DECREF(code);
    Py_DECREF(callback);
    return result;
}

static PyObject *evaluate(PyThreadState *tstate, EfFrame *frame, int throwflag) {
    bool continued = ef_continuation_begins((PyObject *)EF_FRAME_FUNCTION(frame));
    if (here.callback == NULL || throwflag) {
        return run_frame(tstate, frame, throwflag);
    }
    EfEntryList *list = entries_for(tstate, frame);
    if (list == NULL) {
        return run_begun(tstate, frame, continued);
    }
    frames_offered++;
    if ((list->skip && list->n == 0) || ef_watched(EF_FRAME_CODE(frame))) {
        return run_begun(tstate, frame, continued);
    }
    EfEntry *entry = NULL;
    PyObject *result = NULL;
    switch (find_entry(list, frame, &entry, &result)) {
    case EF_NATIVE: return run_failed(tstate, frame, continued);
    case EF_MISS: return run_begun(tstate, frame, continued);
    case EF_ERROR:
        if (continued && ef_raised_at_resume()) {
            return run_begun(tstate, frame, continued);
        }
        break;
    case EF_HIT:
        if (result == NULL) {
            return run_hit(tstate, frame, entry, continued);
        }
        frames_replaced++;
        Py_DECREF((PyObject *)entry);
    }
    ef_frame_drop(tstate, frame);
    return result;
}

static bool is_main_interpreter(void) {
    return PyInterpreterState_Get() == PyInterpreterState_Main();
}

static void install(void) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (needed++ > 0) {
        return;
    }
    _PyFrameEvalFunction current = _PyInterpreterState_GetEvalFrameFunc(interpreter);
    if (covered && current != _PyEval_EvalFrameDefault) {
        covered = current != evaluate;
        return;
    }
    covered = false;
    next_evaluator = current;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
}

static void uninstall(void) {
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (--needed > 0) {
        return;
    }
    covered = _PyInterpreterState_GetEvalFrameFunc(interpreter) != evaluate;
    if (!covered) {
        _PyInterpreterState_SetEvalFrameFunc(interpreter, next_evaluator);
    }
}

#else

static const int needed = 0;
static const int64_t frames_offered = 0, frames_replaced = 0;

static bool is_main_interpreter(void) { return false; }
static void install(void) {}
static void uninstall(void) {}

#endif

int ef_hook_enter(PyObject *callback, int limit, EfHookState *state) {
    state->callback = here.callback;
    state->limit = here.limit;
    state->installed = callback != NULL && is_main_interpreter();
    here.callback = state->installed ? Py_NewRef(callback) : NULL;
    here.limit = limit;
    if (state->installed) {
        install();
    }
    return 0;
}

void ef_hook_leave(EfHookState *state) {
    PyObject *callback = here.callback;
    if (state->installed) {
        uninstall();
    }
    here.callback = state->callback;
    here.limit = state->limit;
    Py_XDECREF(callback);
}

int ef_hook_skip(PyCodeObject *code) {
    EfCodeCache *cache = ef_code_cache(code, true);
    if (cache == NULL) {
        return PyErr_NoMemory(), -1;
    }
    cache->skip = true;
    return 0;
}

static PyObject *call_in(PyObject *callback, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames) {
    EfHookState state;
    if (ef_hook_enter(callback, DEFAULT_LIMIT, &state) < 0) {
        return NULL;
    }
    PyObject *result = PyObject_Vectorcall(args[0], args + 1, (size_t)nargs - 1, kwnames);
    ef_hook_leave(&state);
    return result;
}

static PyObject *run_hooked(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames) {
    if (nargs < 2 || !PyCallable_Check(args[0])) {
        return PyErr_SetString(PyExc_TypeError, "run_hooked needs two callables"), NULL;
    }
    return call_in(args[0], args + 1, nargs - 1, kwnames);
}

static PyObject *run_unhooked(PyObject *Py_UNUSED(module), PyObject *const *args,
                              Py_ssize_t nargs, PyObject *kwnames) {
    if (nargs < 1) {
        return PyErr_SetString(PyExc_TypeError, "run_unhooked needs a callable"), NULL;
    }
    return call_in(NULL, args, nargs, kwnames);
}

static PyObject *hook_installed(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyLong_FromLong(needed);
}

static PyObject *frame_counts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return Py_BuildValue("(LL)", (long long)frames_offered, (long long)frames_replaced);
}

static bool is_code(PyObject *code) {
    if (!PyCode_Check(code)) {
        PyErr_SetString(PyExc_TypeError, "a code object is needed");
        return false;
    }
    return true;
}

static PyObject *skip_code(PyObject *Py_UNUSED(module), PyObject *code) {
    if (!is_code(code) || ef_hook_skip((PyCodeObject *)code) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *code_entries(PyObject *Py_UNUSED(module), PyObject *code) {
    if (!is_code(code)) {
        return NULL;
    }
    PyObject *all = PyList_New(0);
    EfCodeCache *cache = ef_code_cache((PyCodeObject *)code, false);
    EfCallbackCache *item = cache == NULL ? NULL : cache->first;
    for (; all != NULL && item != NULL; item = item->next) {
        for (int32_t i = 0; i < item->list.n; i++) {
            if (PyList_Append(all, (PyObject *)item->list.items[i]) < 0) {
                Py_DECREF(all);
                return NULL;
            }
        }
    }
    PyObject *tuple = all == NULL ? NULL : PyList_AsTuple(all);
    Py_XDECREF(all);
    return tuple;
}

static PyObject *reset_code(PyObject *Py_UNUSED(module), PyObject *code) {
    if (!is_code(code)) {
        return NULL;
    }
    ef_reset_code((PyCodeObject *)code);
    Py_RETURN_NONE;
}

static PyObject *reset_all(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    ef_reset_codes();
    ef_reset_functions();
    Py_RETURN_NONE;
}

PyMethodDef ef_hook_methods[] = {
    {"run_hooked", (PyCFunction)(void (*)(void))run_hooked, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"run_unhooked", (PyCFunction)(void (*)(void))run_unhooked, METH_FASTCALL | METH_KEYWORDS,
     NULL},
    {"hook_installed", hook_installed, METH_NOARGS, NULL},
    {"frame_counts", frame_counts, METH_NOARGS, NULL},
    {"skip_code", skip_code, METH_O, NULL},
    {"code_entries", code_entries, METH_O, NULL},
    {"reset_code", reset_code, METH_O, NULL},
    {"reset_all", reset_all, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
