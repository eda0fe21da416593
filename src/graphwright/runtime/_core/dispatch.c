/* dispatch: the one door of all ops. What needs nothing but the kernel is called from here; the
 * rest of the order (autocast, autograd, trace, fake kernels) is in runtime/dispatch.py. */
#include "record.h"

static PyObject *modes_hook;    /* (op, args, flags): where flags are not 0 */
static PyObject *failed_hook;   /* (op, args, error): gives a result after all, or raises */

static PyObject *failed(PyObject *op, PyObject *args) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    PyObject *out = PyObject_CallFunctionObjArgs(failed_hook, op, args, value, NULL);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return out;
}

static PyObject *run_modes(PyObject *op, PyObject *args, int flags) {
    PyObject *number = PyLong_FromLong(flags);
    if (number == NULL) {
        return NULL;
    }
    PyObject *out = PyObject_CallFunctionObjArgs(modes_hook, op, args, number, NULL);
    Py_DECREF(number);
    return out;
}

/* An op without a gradient of its own is recorded as the ops that it is made of. */
static PyObject *run_parts(PyObject *op, PyObject *const *items, Py_ssize_t count) {
    PyObject *decompose = PyObject_GetAttrString(op, "decompose");
    PyObject *out = decompose == NULL ? NULL
                    : PyObject_Vectorcall(decompose, items, (size_t)count, NULL);
    Py_XDECREF(decompose);
    return out;
}

static PyObject *record(PyObject *op, PyObject *run, PyObject *args) {
    const GwRecipe *recipe = &((const GwOpBase *)op)->recipe;
    if (!recipe->by_parts) {
        return gw_record(op, recipe, run, args);
    }
    PyObject *out = gw_record_whole(op, recipe, run, args);
    if (out != NULL || PyErr_Occurred()) {
        return out;
    }
    return run_parts(op, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args));
}

/* The first use of an op: reading `run` sets it. */
static bool complete(PyObject *op) {
    PyObject *run = PyObject_GetAttrString(op, "run");
    Py_XDECREF(run);
    if (run != NULL && ((GwOpBase *)op)->run == NULL) {
        PyErr_Format(PyExc_NotImplementedError, "%R has no kernel", op);
        return false;
    }
    return run != NULL;
}

static PyObject *dispatch(PyObject *self, PyObject *const *given, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (nargs != 2 || !PyObject_TypeCheck(given[0], &GwOpBase_Type)
        || !PyTuple_CheckExact(given[1])) {
        PyErr_SetString(PyExc_TypeError, "dispatch(op, args) takes an op and a tuple");
        return NULL;
    }
    PyObject *op = given[0], *args = given[1];
    PyObject *const *items = PySequence_Fast_ITEMS(args);
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    GwOpBase *base = (GwOpBase *)op;
    if (base->run == NULL && !complete(op)) {
        return NULL;
    }
    int flags = gw_dispatch_flags(items, count);
    if (base->inplace && gw_partly_shared(items, count)) {
        flags |= GW_FLAG_OVERLAP;
    }
    PyObject *out, *run = Py_NewRef(base->run);   /* another thread may set it meanwhile */
    if (flags == 0) {
        out = PyObject_Vectorcall(run, items, (size_t)count, NULL);
    } else if (flags == GW_FLAG_GRAD && !base->inplace && gw_can_record(op, &base->recipe)) {
        out = record(op, run, args);
    } else if (flags == GW_FLAG_GRAD && base->recipe.by_parts) {
        out = run_parts(op, items, count);
    } else {
        out = run_modes(op, args, flags);
    }
    Py_DECREF(run);
    return out != NULL || !PyErr_ExceptionMatches(PyExc_Exception) ? out : failed(op, args);
}

static PyObject *set_dispatch_hooks(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *modes, *failure;
    if (!PyArg_ParseTuple(args, "OO:set_dispatch_hooks", &modes, &failure)) {
        return NULL;
    }
    Py_XSETREF(modes_hook, Py_NewRef(modes));
    Py_XSETREF(failed_hook, Py_NewRef(failure));
    Py_RETURN_NONE;
}

PyMethodDef gw_dispatch_methods[] = {
    {"dispatch", (PyCFunction)(void (*)(void))dispatch, METH_FASTCALL,
     "dispatch(op, args): run `op` on its bound arguments; tensors among them decide how."},
    {"set_dispatch_hooks", set_dispatch_hooks, METH_VARARGS,
     "set_dispatch_hooks(modes, failed): modes(op, args, flags) runs what needs more than the "
     "kernel; failed(op, args, error) gives the result after all, or raises."},
    {NULL, NULL, 0, NULL},
};

/* ---- the base of Op ---- */

static int op_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((GwOpBase *)self)->run);
    return 0;
}

static int op_clear(PyObject *self) {
    Py_CLEAR(((GwOpBase *)self)->run);
    return 0;
}

static void op_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    op_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *get_run(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    PyObject *run = ((GwOpBase *)self)->run;
    if (run == NULL) {
        PyErr_SetString(PyExc_AttributeError, "run");
    }
    return Py_XNewRef(run);
}

static int set_run(PyObject *self, PyObject *run, void *closure) {
    GW_UNUSED(closure);
    GwOpBase *op = (GwOpBase *)self;
    Py_XSETREF(op->run, Py_XNewRef(run));
    op->recipe.known = false;
    return 0;
}

static PyObject *get_inplace(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    GwOpBase *op = (GwOpBase *)self;
    if (!op->known) {
        PyErr_SetString(PyExc_AttributeError, "is_inplace");
        return NULL;
    }
    return PyBool_FromLong(op->inplace);
}

static int set_inplace(PyObject *self, PyObject *value, void *closure) {
    GW_UNUSED(closure);
    GwOpBase *op = (GwOpBase *)self;
    int inplace = value == NULL ? 0 : PyObject_IsTrue(value);
    op->inplace = inplace > 0;
    op->known = value != NULL;
    return inplace < 0 ? -1 : 0;
}

static PyGetSetDef op_getset[] = {
    {"is_inplace", get_inplace, set_inplace, "Whether the first argument is written.", NULL},
    {"run", get_run, set_run, "What computes the op on real CPU tensors. Set it last.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject GwOpBase_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.OpBase",
    .tp_doc = "The fields of an op that dispatch reads.",
    .tp_basicsize = sizeof(GwOpBase),
    .tp_new = PyType_GenericNew,
    .tp_dealloc = op_dealloc,
    .tp_traverse = op_traverse,
    .tp_clear = op_clear,
    .tp_getset = op_getset,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
};
