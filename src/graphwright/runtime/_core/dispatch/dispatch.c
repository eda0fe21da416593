/* dispatch: the one door of all ops. What needs nothing but the kernel is called from here; the
 * rest of the order (autocast, autograd, trace, fake kernels) is in runtime/dispatch.py. */
#include "binding.h"
#include "profiling.h"
#include "write_checks.h"

static PyObject *modes_hook;    /* (op, args, flags): where flags are not 0 */
static PyObject *override_hook; /* (op, args): where the class of an argument decides; or NULL */
static PyObject *failed_hook;   /* (op, args, error): gives a result after all, or raises */

PyObject *gw_tuple(PyObject *const *items, Py_ssize_t n) {
    PyObject *made = PyTuple_New(n);
    for (Py_ssize_t i = 0; made != NULL && i < n; i++) {
        PyTuple_SET_ITEM(made, i, Py_NewRef(items[i]));
    }
    return made;
}

PyObject *gw_ask_about_error(PyObject *hook, PyObject *op, PyObject *const *items,
                             Py_ssize_t count, PyObject *args) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    PyObject *tuple = args != NULL ? Py_NewRef(args) : gw_tuple(items, count);
    PyObject *out = tuple == NULL ? NULL
                    : PyObject_CallFunctionObjArgs(hook, op, tuple, value, NULL);
    Py_XDECREF(tuple);
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

/* What is known of the op's parameters; NULL, without an exception, where that cannot be read. */
static const GwRecipe *recipe_of(PyObject *op) {
    GwRecipe *recipe = &((GwOpBase *)op)->recipe;
    if (!recipe->known && !gw_read_recipe(op, recipe)) {
        PyErr_Clear();
        return NULL;
    }
    return recipe;
}

/* Whether no list is where the op takes a tensor: those of numbers are plain arguments. */
static bool lists_are_values(const GwRecipe *recipe, PyObject *const *items, Py_ssize_t n) {
    for (Py_ssize_t i = 0; recipe != NULL && i < n; i++) {
        if (PyList_Check(items[i])
            && (i >= recipe->params || recipe->param[i].kind != GW_PARAM_VALUE)) {
            return false;
        }
    }
    return recipe != NULL;
}

static bool is_no_int(PyObject *item) {
    return PyBool_Check(item) || PyFloat_Check(item) || PyUnicode_Check(item) || gw_is_tensor(item)
           || gw_is_dtype_or_device(item);
}

/* Whether a tuple or list holds something beside ints. */
static bool holds_no_int(PyObject *list) {
    PyObject *const *items = PySequence_Fast_ITEMS(list);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
        if (!PyLong_CheckExact(items[i])) {
            return true;
        }
    }
    return false;
}

/* Whether an int or a sequence of them has to be looked at: integers.py says what counts. */
static bool doubts_integers(const GwRecipe *recipe, PyObject *const *items, Py_ssize_t n) {
    uint32_t left = recipe != NULL ? recipe->kinds.integers : 0;
    for (Py_ssize_t i = 0; left != 0 && i < n; i++, left >>= 1) {
        bool list = PyTuple_Check(items[i]) || PyList_Check(items[i]);
        if ((left & 1) != 0 && (list ? holds_no_int(items[i]) : is_no_int(items[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_number(PyObject *item) {
    return PyFloat_CheckExact(item) || PyLong_CheckExact(item) || item == Py_None
           || PyBool_Check(item) || PyComplex_CheckExact(item);
}

enum { SEVERAL = Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS
                 | Py_TPFLAGS_UNICODE_SUBCLASS };

/* Whether a parameter has something else than its kind names at first sight. */
static bool doubts_kinds(const GwKinds *kinds, PyObject *const *items, Py_ssize_t n) {
    uint32_t given = n < 32 ? (UINT32_C(1) << n) - 1 : UINT32_MAX;
    for (uint32_t left = kinds->tensors & given; left != 0; left &= left - 1) {
        if (!gw_is_tensor(items[__builtin_ctz(left)])) {
            return true;
        }
    }
    for (uint32_t left = kinds->optional & given; left != 0; left &= left - 1) {
        PyObject *item = items[__builtin_ctz(left)];
        if (item != Py_None && !gw_is_tensor(item)) {
            return true;
        }
    }
    for (uint32_t left = kinds->bools & given; left != 0; left &= left - 1) {
        if (!PyBool_Check(items[__builtin_ctz(left)])) {
            return true;
        }
    }
    for (uint32_t left = kinds->numbers & given; left != 0; left &= left - 1) {
        if (!is_number(items[__builtin_ctz(left)])) {
            return true;
        }
    }
    for (uint32_t left = kinds->never_none & given; left != 0; left &= left - 1) {
        if (items[__builtin_ctz(left)] == Py_None) {
            return true;
        }
    }
    for (uint32_t left = kinds->singles & given; left != 0; left &= left - 1) {
        PyObject *item = items[__builtin_ctz(left)];
        if (PyType_HasFeature(Py_TYPE(item), SEVERAL) || gw_is_dtype_or_device(item)) {
            return true;
        }
    }
    return false;
}

/* dispatch_flags of an op's arguments, foreign where one is in doubt. */
static int flags_of(PyObject *op, PyObject *const *items, Py_ssize_t n) {
    int flags = gw_argument_flags(items, n), asked = flags & (GW_FLAG_LIST | GW_FLAG_NO_INT);
    const GwRecipe *recipe = recipe_of(op);
    bool foreign = (asked & GW_FLAG_LIST && !lists_are_values(recipe, items, n))
                   || ((asked & GW_FLAG_NO_INT || (recipe != NULL && recipe->kinds.integers & 1))
                       && doubts_integers(recipe, items, n))
                   || (recipe != NULL && doubts_kinds(&recipe->kinds, items, n));
    return (flags & ~asked) | (foreign ? GW_FLAG_FOREIGN : 0);
}

/* All but the plain call of the kernel. */
static PyObject *run_ordered(PyObject *op, PyObject *run, PyObject *args, int flags) {
    GwOpBase *base = (GwOpBase *)op;
    if (flags == GW_FLAG_GRAD && !base->inplace && gw_can_record(op, &base->recipe)) {
        return record(op, run, args);
    }
    if (flags == GW_FLAG_GRAD && base->recipe.by_parts) {
        return run_parts(op, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args));
    }
    return run_modes(op, args, flags);
}

/* Inlined twice: a call that nobody records pays one comparison. */
static inline __attribute__((always_inline)) PyObject *
run_op(PyObject *op, PyObject *const *items, Py_ssize_t count, PyObject *args) {
    GwOpBase *base = (GwOpBase *)op;
    if (base->run == NULL && !complete(op)) {
        return NULL;
    }
    int flags = flags_of(op, items, count);
    if (!base->inplace) {
        flags &= ~GW_FLAG_OVERLAP;      /* what is only read may share memory */
    } else if (count > 0 && gw_is_tensor(items[0]) && !gw_may_write((GwTensor *)items[0])) {
        return NULL;
    } else if (gw_partly_shared(items, count)) {
        flags |= GW_FLAG_OVERLAP;
    }
    PyObject *out, *run = Py_NewRef(base->run);   /* another thread may set it meanwhile */
    bool overridden = flags & GW_FLAG_OVERRIDE && override_hook != NULL;
    if (flags == 0) {
        out = PyObject_Vectorcall(run, items, (size_t)count, NULL);
    } else {
        PyObject *tuple = args != NULL ? Py_NewRef(args) : gw_tuple(items, count);
        out = tuple == NULL ? NULL
              : overridden ? PyObject_CallFunctionObjArgs(override_hook, op, tuple, NULL)
              : run_ordered(op, run, tuple, flags);
        Py_XDECREF(tuple);
    }
    Py_DECREF(run);
    bool refused = out == NULL && !overridden && PyErr_ExceptionMatches(PyExc_Exception);
    return refused ? gw_ask_about_error(failed_hook, op, items, count, args) : out;
}

static __attribute__((noinline)) PyObject *
run_recorded(PyObject *op, PyObject *const *items, Py_ssize_t count, PyObject *args) {
    GwMark mark = gw_span_begin_op(op, items, count);
    PyObject *out = run_op(op, items, count, args);
    gw_span_end_op(mark, out);
    return out;
}

PyObject *gw_dispatch(PyObject *op, PyObject *const *items, Py_ssize_t count, PyObject *args) {
    return GW_UNLIKELY(gw_profiling) ? run_recorded(op, items, count, args)
                                     : run_op(op, items, count, args);
}

static PyObject *dispatch(PyObject *self, PyObject *const *given, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (nargs != 2 || !PyObject_TypeCheck(given[0], &GwOpBase_Type)
        || !PyTuple_CheckExact(given[1])) {
        PyErr_SetString(PyExc_TypeError, "dispatch(op, args) takes an op and a tuple");
        return NULL;
    }
    return gw_dispatch(given[0], PySequence_Fast_ITEMS(given[1]), PyTuple_GET_SIZE(given[1]),
                       given[1]);
}

/* ---- out= ---- */

/* Whether a tensor among the arguments, or in a list of them, is in that memory. */
static bool uses_memory(PyObject *const *items, Py_ssize_t n, const GwStorage *memory) {
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = items[i];
        bool list = PyTuple_Check(item) || PyList_Check(item);
        if (list ? uses_memory(PySequence_Fast_ITEMS(item), PySequence_Fast_GET_SIZE(item), memory)
                 : gw_is_tensor(item) && ((GwTensor *)item)->storage == memory) {
            return true;
        }
    }
    return false;
}

/* Whether the result is of the dtype and layout of `out`. */
static bool can_move_into(const GwTensor *out, PyObject *result) {
    const GwTensor *t = gw_plain_tensor(result);
    return t != NULL && t->dtype == out->dtype && (t->flags & GW_CONTIGUOUS) != 0
           && (out->flags & GW_CONTIGUOUS) != 0 && t->ndim == out->ndim
           && memcmp(t->sizes, out->sizes, (size_t)t->ndim * sizeof(int64_t)) == 0;
}

static void move_into(GwTensor *out, PyObject *result) {
    const GwTensor *t = (const GwTensor *)result;
    memmove(out->data, t->data, (size_t)(t->numel * gw_itemsize(t)));
    out->storage->version++;
}

/* Whether a result can be written there with nothing more to check but what is read. */
static bool is_open_target(PyObject *target) {
    const GwTensor *out = gw_plain_tensor(target);
    return out != NULL && (out->flags & GW_CONTIGUOUS) != 0 && gw_is_open(out->storage)
           && gw_dispatch_flags(&target, 1) == 0;
}

/* Whether a result can be copied there with nothing more to check. */
static bool takes_results(PyObject *target, PyObject *const *items, Py_ssize_t count) {
    return is_open_target(target)
           && !uses_memory(items, count, ((GwTensor *)target)->storage);
}

/* The results' tuple, of whatever class, with `outs` in the place of what was copied into them;
 * as it is where not all could be. Steals it. */
static PyObject *moved_into_all(PyObject *results, PyObject *outs) {
    Py_ssize_t n = PyTuple_GET_SIZE(outs);
    bool fits = PyTuple_Check(results) && PyTuple_GET_SIZE(results) == n;
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        fits = can_move_into((GwTensor *)PyTuple_GET_ITEM(outs, i), PyTuple_GET_ITEM(results, i));
    }
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        move_into((GwTensor *)PyTuple_GET_ITEM(outs, i), PyTuple_GET_ITEM(results, i));
    }
    if (fits && PyTuple_CheckExact(results)) {
        Py_SETREF(results, Py_NewRef(outs));
    } else if (fits) {
        PyObject *one = PyTuple_Pack(1, outs);
        PyTypeObject *made = Py_TYPE(results);
        Py_SETREF(results, one == NULL ? NULL : PyTuple_Type.tp_new(made, one, NULL));
        Py_XDECREF(one);
    }
    return results;
}

/* What the kernel gives, written into `out` where it does that on its own; NULL without an
 * exception where nothing has run. */
static PyObject *run_into(PyObject *run, PyObject *const *items, Py_ssize_t count, PyObject *out) {
    PyObject *result = NULL;
    if (is_open_target(out)) {
        result = gw_pointwise_out(run, items, count, (GwTensor *)out);
        if (result == NULL && !PyErr_Occurred() && takes_results(out, items, count)) {
            result = PyObject_Vectorcall(run, items, (size_t)count, NULL);
        }
    }
    return result;
}

static PyObject *write_out(PyObject *op, PyObject *const *items, Py_ssize_t count, PyObject *out) {
    if (((GwOpBase *)op)->run == NULL && !complete(op)) {
        return NULL;
    }
    bool several = PyTuple_CheckExact(out), plain = flags_of(op, items, count) == 0;
    for (Py_ssize_t i = 0; plain && several && i < PyTuple_GET_SIZE(out); i++) {
        plain = takes_results(PyTuple_GET_ITEM(out, i), items, count);
    }
    if (!plain) {
        Py_RETURN_NONE;
    }
    PyObject *run = Py_NewRef(((GwOpBase *)op)->run);
    PyObject *result = several ? PyObject_Vectorcall(run, items, (size_t)count, NULL)
                               : run_into(run, items, count, out);
    Py_DECREF(run);
    if (result == NULL && !PyErr_Occurred()) {
        Py_RETURN_NONE;
    }
    if (result == NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
        result = gw_ask_about_error(failed_hook, op, items, count, NULL);
    }
    if (result != NULL && several) {
        return moved_into_all(result, out);
    }
    if (result != NULL && result != out && can_move_into((GwTensor *)out, result)) {
        move_into((GwTensor *)out, result);
        Py_SETREF(result, Py_NewRef(out));
    }
    return result;
}

PyObject *gw_compute_out(PyObject *op, PyObject *const *items, Py_ssize_t count, PyObject *out) {
    if (!GW_UNLIKELY(gw_profiling)) {
        return write_out(op, items, count, out);
    }
    GwMark mark = gw_span_begin_op(op, items, count);
    PyObject *result = write_out(op, items, count, out);
    if (result == Py_None) {
        gw_span_cancel(mark);
    } else {
        gw_span_end_op(mark, result);
    }
    return result;
}

static PyObject *compute_out(PyObject *self, PyObject *const *given, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (nargs != 3 || !PyObject_TypeCheck(given[0], &GwOpBase_Type)
        || !PyTuple_CheckExact(given[1])) {
        PyErr_SetString(PyExc_TypeError, "compute_out(op, args, out) takes an op and a tuple");
        return NULL;
    }
    return gw_compute_out(given[0], PySequence_Fast_ITEMS(given[1]), PyTuple_GET_SIZE(given[1]),
                          given[2]);
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

static PyObject *set_override_hook(PyObject *self, PyObject *hook) {
    GW_UNUSED(self);
    Py_XSETREF(override_hook, Py_NewRef(hook));
    Py_RETURN_NONE;
}

PyMethodDef gw_dispatch_methods[] = {
    {"dispatch", (PyCFunction)(void (*)(void))dispatch, METH_FASTCALL,
     "dispatch(op, args): run `op` on its bound arguments; tensors among them decide how."},
    {"compute_out", (PyCFunction)(void (*)(void))compute_out, METH_FASTCALL,
     "compute_out(op, args, out): `out` with the result's elements, where that has its dtype and "
     "layout, and the result where it has not; None, and nothing run, where more than the kernel "
     "has to run, or `out` is not contiguous or shares memory with an argument (a pointwise op's may "
     "be an argument). A tuple for several results gives one of their class, with all of its "
     "tensors or none."},
    {"set_dispatch_hooks", set_dispatch_hooks, METH_VARARGS,
     "set_dispatch_hooks(modes, failed): modes(op, args, flags) runs what needs more than the "
     "kernel; failed(op, args, error) gives the result after all, or raises."},
    {"set_override_hook", set_override_hook, METH_O,
     "set_override_hook(f): f(op, args) gives the result where the class of an argument, or a "
     "mode for functions, decides what the op does."},
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
