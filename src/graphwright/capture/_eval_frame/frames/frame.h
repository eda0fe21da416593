/* Frames of 3.11, 3.12 and 3.13 under one name. Include before anything else. */
#ifndef GRAPHWRIGHT_FRAME_H
#define GRAPHWRIGHT_FRAME_H

#define Py_BUILD_CORE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "eval_frame.h"

#if EF_SUPPORTED
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#pragma GCC diagnostic pop

typedef struct _PyInterpreterFrame EfFrame;

#if PY_VERSION_HEX >= 0x030D0000
#define EF_FRAME_CODE(frame) ((PyCodeObject *)(frame)->f_executable)
#define EF_FRAME_FUNCTION(frame) ((frame)->f_funcobj)
#define EF_CLEARS_FRAME 1       /* whoever evaluates a frame also drops it */
#elif PY_VERSION_HEX >= 0x030C0000
#define EF_FRAME_CODE(frame) ((frame)->f_code)
#define EF_FRAME_FUNCTION(frame) ((frame)->f_funcobj)
#define EF_CLEARS_FRAME 1
#else
#define EF_FRAME_CODE(frame) ((frame)->f_code)
#define EF_FRAME_FUNCTION(frame) ((PyObject *)(frame)->f_func)
#define EF_CLEARS_FRAME 0
#endif

/* Whether the frame has not begun, and may be run as other code or dropped. */
bool ef_frame_is_fresh(PyThreadState *tstate, EfFrame *frame);
/* Make the un-started frame one of `code`; false if there is no room. */
bool ef_frame_swap(PyThreadState *tstate, EfFrame *frame, PyCodeObject *code);
/* Drop the un-started frame, where its evaluator has to. */
void ef_frame_drop(PyThreadState *tstate, EfFrame *frame);
/* Empty the frame, which has ended or never ran, where its evaluator does not drop it. */
void ef_frame_empty(EfFrame *frame);

/* leaving.c: run the un-started frame of a continuation by `run`. Where an exception leaves it that
 * another frame of the same function raised, that frame gets what its locals hold. */
typedef PyObject *(*EfRun)(PyThreadState *tstate, EfFrame *frame, int throwflag);
PyObject *ef_run_continued(PyThreadState *tstate, EfFrame *frame, EfRun run);

#endif
#endif
