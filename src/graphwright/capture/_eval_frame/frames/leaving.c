/* What the locals of a function hold when an exception leaves it from a handler.
 *
 * In plain Python the traceback has one frame of the function, which keeps them. Behind a graph
 * break handlers run in a frame of their own, and an exception that they raise again leaves that
 * without a trace; its traceback has the frame that raised it first. So that one is given what
 * the other's locals hold.
 */
#include "frame.h"

#if EF_SUPPORTED

#if EF_CLEARS_FRAME

/* Whether an exception that the frame did not raise itself may leave it: one that is handled, or
 * one on its way, among the arguments. */
static bool may_pass_on(PyThreadState *tstate, EfFrame *frame) {
    PyObject *handled = tstate->exc_info->exc_value;
    bool found = handled != NULL && handled != Py_None;
    for (int i = 0; !found && i < EF_FRAME_CODE(frame)->co_argcount; i++) {
        found = PyExceptionInstance_Check(frame->localsplus[i]);
    }
    return found;
}

/* The object of a frame that has not begun, which keeps its locals when it ends; NULL where none
 * is needed, or memory has run out. Python makes it of the current frame only, and of none that is
 * before its first line. */
static PyFrameObject *object_of(PyThreadState *tstate, EfFrame *frame) {
    if (!may_pass_on(tstate, frame)) {
        return NULL;
    }
    PyCodeObject *code = EF_FRAME_CODE(frame);
    _Py_CODEUNIT *line = _PyCode_CODE(code) + code->_co_firsttraceable;
#if PY_VERSION_HEX >= 0x030D0000
    EfFrame **current = &tstate->current_frame;
    _Py_CODEUNIT **place = &frame->instr_ptr;
#else
    EfFrame **current = &tstate->cframe->current_frame;
    _Py_CODEUNIT **place = &frame->prev_instr;
#endif
    _Py_CODEUNIT *start = *place;
    EfFrame *caller = *current;
    *place = line;
    *current = frame;
    PyFrameObject *made = PyThreadState_GetFrame(tstate);
    *current = caller;
    *place = start;
    return made;
}

static PyTracebackObject *traceback_of(PyThreadState *tstate) {
    return (PyTracebackObject *)((PyBaseExceptionObject *)tstate->current_exception)->traceback;
}

#else

static PyFrameObject *object_of(PyThreadState *Py_UNUSED(tstate), EfFrame *Py_UNUSED(frame)) {
    return NULL;        /* whoever called the function clears the frame */
}

static PyTracebackObject *traceback_of(PyThreadState *tstate) {
    return (PyTracebackObject *)tstate->curexc_traceback;
}

#endif

static bool are_pieces_of_one(PyCodeObject *left, PyCodeObject *right) {
    return left->co_firstlineno == right->co_firstlineno
        && PyUnicode_Compare(left->co_filename, right->co_filename) == 0
        && PyUnicode_Compare(left->co_qualname, right->co_qualname) == 0;
}

/* Whether a slot is for a local; one of what is behind others, which goes last, has a `$` more. */
static bool is_for(PyObject *slot, PyObject *local) {
    Py_ssize_t n = PyUnicode_GET_LENGTH(local), more = PyUnicode_GET_LENGTH(slot) - n;
    return more >= 0 && more <= 1 && PyUnicode_Tailmatch(slot, local, 0, n, -1) == 1
        && (more == 0 || PyUnicode_READ_CHAR(slot, n) == '$');
}

/* Move a value to the slot of the frame that is for the same local, if there is one. */
static void move_to(EfFrame *frame, PyObject *slot, PyObject **value) {
    PyCodeObject *code = EF_FRAME_CODE(frame);
    for (int i = 0; i < code->co_nlocals; i++) {
        if (is_for(slot, PyTuple_GET_ITEM(code->co_localsplusnames, i))) {
            PyObject *before = frame->localsplus[i];
            frame->localsplus[i] = *value;
            *value = NULL;
            Py_XDECREF(before);
            return;
        }
    }
}

static void keep_locals(EfFrame *ended, PyTracebackObject *traceback) {
    EfFrame *kept = traceback == NULL ? NULL : traceback->tb_frame->f_frame;
    if (kept == NULL || kept == ended || kept->owner != FRAME_OWNED_BY_FRAME_OBJECT
        || EF_FRAME_CODE(kept)->co_ncellvars > 0
        || !are_pieces_of_one(EF_FRAME_CODE(kept), EF_FRAME_CODE(ended))) {
        return;
    }
    PyCodeObject *code = EF_FRAME_CODE(ended);
    for (int i = 0; i < code->co_nlocals; i++) {
        PyObject **value = &ended->localsplus[i];
        PyObject *slot = PyTuple_GET_ITEM(code->co_localsplusnames, i);
        if (*value != NULL && *value != Py_None && PyUnicode_READ_CHAR(slot, 0) != '$') {
            move_to(kept, slot, value);
        }
    }
}

PyObject *ef_run_continued(PyThreadState *tstate, EfFrame *frame, EfRun run) {
    PyFrameObject *object = object_of(tstate, frame);
    PyObject *result = run(tstate, frame, 0);
    EfFrame *ended = EF_CLEARS_FRAME ? (object == NULL ? NULL : object->f_frame) : frame;
    if (result == NULL && ended != NULL) {
        keep_locals(ended, traceback_of(tstate));
    }
    Py_XDECREF(object);
    return result;
}

#endif
