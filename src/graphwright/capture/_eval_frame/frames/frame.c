/* Running other code in an intercepted frame, and dropping a frame that never runs. */
#include "frame.h"

#if EF_SUPPORTED

static Py_ssize_t frame_size(const PyCodeObject *code) {
#if PY_VERSION_HEX >= 0x030C0000
    return code->co_framesize;
#else
    return code->co_nlocalsplus + code->co_stacksize + (Py_ssize_t)FRAME_SPECIALS_SIZE;
#endif
}

static bool has_not_begun(EfFrame *frame) {
#if PY_VERSION_HEX >= 0x030D0000
    return frame->instr_ptr == _PyCode_CODE(EF_FRAME_CODE(frame));
#else
    return frame->prev_instr == _PyCode_CODE(EF_FRAME_CODE(frame)) - 1;
#endif
}

bool ef_frame_is_fresh(PyThreadState *tstate, EfFrame *frame) {
    return frame->owner == FRAME_OWNED_BY_THREAD && has_not_begun(frame)
        && frame->frame_obj == NULL && PyFunction_Check(EF_FRAME_FUNCTION(frame))
        && (PyObject **)frame + frame_size(EF_FRAME_CODE(frame)) == tstate->datastack_top;
}

bool ef_frame_swap(PyThreadState *tstate, EfFrame *frame, PyCodeObject *code) {
    PyObject **top = (PyObject **)frame + frame_size(code);
    if (top > tstate->datastack_limit) {
        return false;
    }
    PyCodeObject *old = EF_FRAME_CODE(frame);
    for (int i = old->co_nlocalsplus; i < code->co_nlocalsplus; i++) {
        frame->localsplus[i] = NULL;
    }
    for (int i = code->co_nlocalsplus; i < old->co_nlocalsplus; i++) {
        Py_CLEAR(frame->localsplus[i]);
    }
    Py_INCREF(code);
#if PY_VERSION_HEX >= 0x030D0000
    frame->f_executable = (PyObject *)code;
    frame->instr_ptr = _PyCode_CODE(code);
#else
    frame->f_code = code;
    frame->prev_instr = _PyCode_CODE(code) - 1;
#endif
    frame->stacktop = code->co_nlocalsplus;
    tstate->datastack_top = top;
    Py_DECREF(old);
    return true;
}

#if EF_CLEARS_FRAME

/* A frame that begins its chunk of the data stack takes the chunk with it when it goes. */
static bool begins_chunk(PyThreadState *tstate, EfFrame *frame) {
    return (PyObject **)frame == &tstate->datastack_chunk->data[0];
}

/* `lambda: None`, in whose guise a frame at the beginning of a chunk goes. */
static PyCodeObject *code_of_nothing(void) {
    static PyCodeObject *code;
    if (code == NULL) {
        PyObject *namespace = PyDict_New();
        PyObject *function = namespace == NULL ? NULL
            : PyRun_String("lambda: None", Py_eval_input, namespace, namespace);
        if (function != NULL) {
            code = (PyCodeObject *)Py_NewRef(PyFunction_GET_CODE(function));
        }
        Py_XDECREF(function);
        Py_XDECREF(namespace);
    }
    return code;
}

/* Only the evaluator can give a chunk back. */
static void drop_with_chunk(PyThreadState *tstate, EfFrame *frame) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyCodeObject *nothing = code_of_nothing();
    if (nothing == NULL || !ef_frame_swap(tstate, frame, nothing)) {
        Py_FatalError("graphwright: cannot drop a frame");
    }
    Py_XDECREF(_PyEval_EvalFrameDefault(tstate, frame, 0));
    PyErr_Restore(type, value, traceback);
}

void ef_frame_drop(PyThreadState *tstate, EfFrame *frame) {
    if (begins_chunk(tstate, frame)) {
        drop_with_chunk(tstate, frame);
        return;
    }
    for (int i = 0; i < frame->stacktop; i++) {
        Py_CLEAR(frame->localsplus[i]);
    }
    Py_CLEAR(frame->f_locals);
    Py_DECREF(EF_FRAME_FUNCTION(frame));
    Py_DECREF(EF_FRAME_CODE(frame));
    tstate->datastack_top = (PyObject **)frame;
}

void ef_frame_empty(EfFrame *Py_UNUSED(frame)) {}

#else

void ef_frame_drop(PyThreadState *Py_UNUSED(tstate), EfFrame *Py_UNUSED(frame)) {}

/* A frame object that somebody else holds keeps the locals, as at the end of any call. */
void ef_frame_empty(EfFrame *frame) {
    if (frame->frame_obj != NULL && Py_REFCNT(frame->frame_obj) > 1) {
        return;
    }
    for (int i = 0; i < EF_FRAME_CODE(frame)->co_nlocalsplus; i++) {
        Py_CLEAR(frame->localsplus[i]);
    }
}

#endif
#endif
