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

bool ef_watched(PyCodeObject *code) {
    PyThreadState *tstate = PyThreadState_Get();
    return ef_forced_eager() || tstate->c_tracefunc != NULL || monitored(tstate->interp, code);
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
