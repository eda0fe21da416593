/* Who watches Python run: debuggers, coverage and profilers. */
#include "frame.h"

#if EF_SUPPORTED && PY_VERSION_HEX >= 0x030C0000
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <internal/pycore_instruments.h>
#include <internal/pycore_interp.h>
#pragma GCC diagnostic pop

enum { SYS_TOOLS = 1 << 6 | 1 << 7 };   /* sys.setprofile, sys.settrace: per thread, asked there */

static bool any_tool(const uint8_t *tools, int n) {
    uint8_t all = 0;
    for (int event = 0; event < n; event++) {
        all |= tools[event];
    }
    return (all & ~SYS_TOOLS) != 0;
}

/* Whether a tool of sys.monitoring follows all code, or this. */
static bool monitored(PyInterpreterState *interpreter, PyCodeObject *code) {
    _PyCoMonitoringData *local = code->_co_monitoring;
    return any_tool(interpreter->monitors.tools, _PY_MONITORING_UNGROUPED_EVENTS)
        || (local != NULL
            && any_tool(local->local_monitors.tools, _PY_MONITORING_LOCAL_EVENTS));
}
#else
static bool monitored(PyInterpreterState *Py_UNUSED(interpreter), PyCodeObject *Py_UNUSED(code)) {
    return false;
}
#endif

/* Whether sys.setprofile has a function of the program: those of profilers in C take no calls. */
static bool profiled_by_program(const PyThreadState *tstate) {
    return tstate->c_profilefunc != NULL && tstate->c_profileobj != NULL
        && PyCallable_Check(tstate->c_profileobj);
}

bool ef_watched(PyCodeObject *code) {
    PyThreadState *tstate = PyThreadState_Get();
    return ef_forced_eager() || tstate->c_tracefunc != NULL || profiled_by_program(tstate)
        || monitored(tstate->interp, code);
}

/* A frame that breaks returns, and another goes on amid the same line: events that plain Python does
 * not have. They are kept from functions that began to watch during the frame. What the frame had
 * for a local trace function, its successor gets. */
static const char *const LOCAL[] = {"f_trace", "f_trace_lines", "f_trace_opcodes"};
enum { N_LOCAL = sizeof LOCAL / sizeof *LOCAL };

static _Thread_local struct {
    enum { BREAKS, BEGINS, BEGUN } phase;
    Py_tracefunc trace, profile;
    PyObject *local[N_LOCAL];       /* owned, or NULL */
    int line;                       /* of the break; 0: not known */
} seam;

static int over_seam(PyObject *self, PyFrameObject *frame, int what, PyObject *arg);
static int profile_over_seam(PyObject *self, PyFrameObject *frame, int what, PyObject *arg);

static void begin_seam(PyThreadState *tstate, int phase) {
    seam.phase = phase;
    if (tstate->c_tracefunc != NULL && tstate->c_tracefunc != over_seam) {
        seam.trace = tstate->c_tracefunc;
        tstate->c_tracefunc = over_seam;
    }
    if (profiled_by_program(tstate) && tstate->c_profilefunc != profile_over_seam) {
        seam.profile = tstate->c_profilefunc;
        tstate->c_profilefunc = profile_over_seam;
    }
}

static void end_trace_seam(PyThreadState *tstate) {
    if (tstate->c_tracefunc == over_seam) {
        tstate->c_tracefunc = seam.trace;
    }
}

static void end_profile_seam(PyThreadState *tstate) {
    if (tstate->c_profilefunc == profile_over_seam) {
        tstate->c_profilefunc = seam.profile;
    }
}

static void forget_local(void) {
    for (int i = 0; i < N_LOCAL; i++) {
        Py_CLEAR(seam.local[i]);
    }
    seam.line = 0;
}

static int keep_local(PyFrameObject *frame) {
    forget_local();
    seam.line = PyFrame_GetLineNumber(frame);
    for (int i = 0; i < N_LOCAL; i++) {
        seam.local[i] = PyObject_GetAttrString((PyObject *)frame, LOCAL[i]);
        if (seam.local[i] == NULL) {
            return -1;
        }
    }
    return 0;
}

static int give_local(PyFrameObject *frame) {
    int status = 0;
    for (int i = 0; i < N_LOCAL && status == 0 && seam.local[i] != NULL; i++) {
        status = PyObject_SetAttrString((PyObject *)frame, LOCAL[i], seam.local[i]);
    }
    return status;
}

static bool breaks(int what, PyObject *arg) {
    return what == PyTrace_RETURN && arg != NULL && Py_IS_TYPE(arg, &EfContinuation_Type);
}

/* Stands in for the trace function from the end of one frame to the next one's first event. */
static int over_seam(PyObject *self, PyFrameObject *frame, int what, PyObject *arg) {
    PyThreadState *tstate = PyThreadState_Get();
    Py_tracefunc trace = seam.trace;
    if (breaks(what, arg)) {
        end_trace_seam(tstate);
        return keep_local(frame);
    }
    if (what == PyTrace_CALL && seam.phase == BEGINS) {
        seam.phase = BEGUN;
        return give_local(frame);
    }
    if (seam.phase == BEGUN && what != PyTrace_OPCODE) {
        end_trace_seam(tstate);
        bool known = what == PyTrace_LINE && PyFrame_GetLineNumber(frame) == seam.line;
        forget_local();
        if (known) {
            return 0;
        }
    }
    return trace(self, frame, what, arg);
}

static int profile_over_seam(PyObject *self, PyFrameObject *frame, int what, PyObject *arg) {
    Py_tracefunc profile = seam.profile;
    if (!breaks(what, arg) && !(what == PyTrace_CALL && seam.phase != BREAKS)) {
        return profile(self, frame, what, arg);
    }
    end_profile_seam(PyThreadState_Get());
    return 0;
}

void ef_frame_breaks(void) { begin_seam(PyThreadState_Get(), BREAKS); }

void ef_frame_goes_on(void) {
    PyThreadState *tstate = PyThreadState_Get();
    end_trace_seam(tstate);
    end_profile_seam(tstate);
    begin_seam(tstate, BEGINS);
}

void ef_frame_went_on(PyObject *result) {
    if (result != NULL && Py_IS_TYPE(result, &EfContinuation_Type)) {
        return;
    }
    PyThreadState *tstate = PyThreadState_Get();
    end_trace_seam(tstate);
    end_profile_seam(tstate);
    forget_local();
}

bool ef_profiled(void) { return PyThreadState_Get()->c_profilefunc != NULL; }

/* A code object that only calls its first argument with the others, in the guise of another. */
PyCodeObject *ef_visible_code(PyCodeObject *guise, int line) {
    PyObject *space = PyDict_New();
    PyObject *function = space == NULL ? NULL
        : PyRun_String("lambda run, *inputs: run(*inputs)", Py_eval_input, space, space);
    PyObject *replace = function == NULL ? NULL
        : PyObject_GetAttrString(PyFunction_GET_CODE(function), "replace");
    PyObject *none = PyTuple_New(0);
    PyObject *changes = Py_BuildValue(
        "{s:O,s:O,s:O,s:i}", "co_name", guise->co_name, "co_qualname", guise->co_qualname,
        "co_filename", guise->co_filename, "co_firstlineno", line);
    PyObject *code = replace == NULL || none == NULL || changes == NULL
        ? NULL : PyObject_Call(replace, none, changes);
    Py_XDECREF(space);
    Py_XDECREF(function);
    Py_XDECREF(replace);
    Py_XDECREF(none);
    Py_XDECREF(changes);
    return (PyCodeObject *)code;
}
