/* The thread-local state that dispatch depends on. */
#include "binding.h"
#include "float8.h"
#include "generator.h"
#include "layout.h"
#include "write_checks.h"

typedef struct {
    bool grad_disabled;
    bool recording;     /* disabled only while a node records what its kernel does */
    bool overrides_off; /* classes of arguments are not asked what ops do with them */
    uint32_t modes;     /* without those that follow from the objects below */
    PyObject *tracer;   /* GW_MODE_TRACE; or NULL */
    PyObject *levels;   /* MODE_MAPPED: the calls of vmap, a tuple; NULL for none */
} State;

static _Thread_local State state;

/* Where this thread makes tensors: a device, which lives for ever; NULL for the CPU. */
static _Thread_local PyObject *default_device;

/* Beside those of GwMode and of autocast, for dispatch alone. */
enum { MODE_MAPPED = 64, MODE_FUNCTIONS = 128, MODE_DEVICE = 256 };

enum { FLAG_MODES = 2, FLAG_FAKE = 4, FLAG_DEVICE = 8 };

int gw_grad_enabled(void) { return !state.grad_disabled; }

int gw_set_grad_enabled(int enabled) {
    int old = !state.grad_disabled;
    state.grad_disabled = !enabled;
    state.recording = false;
    return old;
}

bool gw_user_disabled_grad(void) { return state.grad_disabled && !state.recording; }

void gw_start_recording(void) {
    state.grad_disabled = true;
    state.recording = true;
}

bool gw_may_write(const GwTensor *t) {
    bool apart = t->storage != NULL && t->storage->inference && (t->flags & GW_FAKE) == 0
                 && (state.modes & GW_MODE_INFERENCE) == 0;
    if (apart) {
        PyErr_SetString(PyExc_RuntimeError, "Inplace update to inference tensor outside "
                        "InferenceMode is not allowed. You can make a clone to get a normal "
                        "tensor before doing inplace update.");
    }
    return !apart;
}

static PyObject *check_may_write(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    const GwTensor *t = gw_tensor_arg(arg);
    return t == NULL || !gw_may_write(t) ? NULL : Py_NewRef(Py_None);
}

uint32_t gw_modes(void) {
    return state.modes | (state.tracer != NULL ? GW_MODE_TRACE : 0)
           | (state.levels != NULL ? MODE_MAPPED : 0)
           | (default_device != NULL ? MODE_DEVICE : 0);
}

static PyObject *grad_enabled(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return PyBool_FromLong(!state.grad_disabled);
}

static PyObject *set_grad_enabled(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    int enabled = PyObject_IsTrue(arg);
    if (enabled < 0) {
        return NULL;
    }
    int old = gw_set_grad_enabled(enabled);
    state.recording = arg == Py_None;
    return PyBool_FromLong(old);
}

static PyObject *user_disabled_grad(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return PyBool_FromLong(gw_user_disabled_grad());
}

static PyObject *set_overrides_enabled(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    int enabled = PyObject_IsTrue(arg);
    if (enabled < 0) {
        return NULL;
    }
    bool old = !state.overrides_off;
    state.overrides_off = !enabled;
    return PyBool_FromLong(old);
}

static PyObject *overrides_enabled(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return PyBool_FromLong(!state.overrides_off);
}

static PyObject *modes(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return PyLong_FromUnsignedLong(gw_modes());
}

static PyObject *set_modes(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    unsigned long bits = PyLong_AsUnsignedLong(arg);
    if (bits == (unsigned long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    uint32_t old = gw_modes();
    state.modes = (uint32_t)bits & ~(uint32_t)(GW_MODE_TRACE | MODE_MAPPED | MODE_DEVICE);
    return PyLong_FromUnsignedLong(old);
}

PyObject *gw_place(void) { return default_device != NULL ? default_device : Py_None; }

static PyObject *place(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return Py_NewRef(gw_place());
}

static PyObject *set_place(PyObject *self, PyObject *device) {
    GW_UNUSED(self);
    default_device = device == Py_None ? NULL : device;
    Py_RETURN_NONE;
}

static PyObject *tracer(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return Py_NewRef(state.tracer != NULL ? state.tracer : Py_None);
}

static PyObject *set_tracer(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    PyObject *old = state.tracer != NULL ? state.tracer : Py_NewRef(Py_None);
    state.tracer = arg == Py_None ? NULL : Py_NewRef(arg);
    return old;
}

static PyObject *levels(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return state.levels != NULL ? Py_NewRef(state.levels) : PyTuple_New(0);
}

static PyObject *set_levels(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    if (!PyTuple_CheckExact(arg)) {
        PyErr_SetString(PyExc_TypeError, "set_levels takes a tuple");
        return NULL;
    }
    Py_XSETREF(state.levels, PyTuple_GET_SIZE(arg) == 0 ? NULL : Py_NewRef(arg));
    Py_RETURN_NONE;
}

/* Calls args[0] with the rest and puts the state back to `before`, whose objects it owns. A signal's
 * exception has no moment at which the state stays changed: Python looks for signals between its
 * own instructions only, so a `finally` that puts back what the line before it set can be missed. */
static PyObject *call_and_restore(State before, PyObject *const *args, Py_ssize_t n,
                                  PyObject *names) {
    PyObject *result = PyObject_Vectorcall(args[0], args + 1, (size_t)n - 1, names);
    PyObject *tracer = state.tracer, *levels = state.levels;
    state = before;
    Py_XDECREF(tracer);
    Py_XDECREF(levels);
    return result;
}

#define SAVED_NAME "graphwright.runtime._core.saved modes"

static void free_saved(PyObject *capsule) {
    State *saved = PyCapsule_GetPointer(capsule, SAVED_NAME);
    Py_XDECREF(saved->tracer);
    Py_XDECREF(saved->levels);
    PyMem_Free(saved);
}

static PyObject *saved_modes(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    State *saved = PyMem_Malloc(sizeof *saved);
    if (saved == NULL) {
        return PyErr_NoMemory();
    }
    *saved = state;
    PyObject *capsule = PyCapsule_New(saved, SAVED_NAME, free_saved);
    if (capsule == NULL) {
        PyMem_Free(saved);
        return NULL;
    }
    Py_XINCREF(saved->tracer);
    Py_XINCREF(saved->levels);
    return capsule;
}

static PyObject *call_in_modes(PyObject *self, PyObject *const *args, Py_ssize_t n,
                               PyObject *names) {
    GW_UNUSED(self);
    if (n < 2) {
        PyErr_SetString(PyExc_TypeError, "call_in_modes takes saved modes and a function");
        return NULL;
    }
    const State *saved = PyCapsule_GetPointer(args[0], SAVED_NAME);
    if (saved == NULL) {
        return NULL;
    }
    State before = state;
    state = *saved;
    Py_XINCREF(before.tracer);
    Py_XINCREF(before.levels);
    Py_XINCREF(state.tracer);
    Py_XINCREF(state.levels);
    return call_and_restore(before, args + 1, n - 1, names);
}

static PyObject *keeping_modes(PyObject *self, PyObject *const *args, Py_ssize_t n,
                               PyObject *names) {
    GW_UNUSED(self);
    if (n < 1) {
        return PyErr_SetString(PyExc_TypeError, "keeping_modes takes a function"), NULL;
    }
    Py_XINCREF(state.tracer);
    Py_XINCREF(state.levels);
    return call_and_restore(state, args, n, names);
}

static PyObject *with_grad_mode(PyObject *self, PyObject *const *args, Py_ssize_t n,
                                PyObject *names) {
    GW_UNUSED(self);
    if (n < 2) {
        return PyErr_SetString(PyExc_TypeError, "with_grad_mode takes a mode and a function"), NULL;
    }
    int enabled = PyObject_IsTrue(args[0]);
    if (enabled < 0) {
        return NULL;
    }
    State before = state;
    gw_set_grad_enabled(enabled);
    state.recording = args[0] == Py_None;
    Py_XINCREF(before.tracer);
    Py_XINCREF(before.levels);
    return call_and_restore(before, args + 1, n - 1, names);
}

static PyObject *unrecorded(PyObject *self, PyObject *const *args, Py_ssize_t n,
                            PyObject *names) {
    GW_UNUSED(self);
    if (n < 1) {
        return PyErr_SetString(PyExc_TypeError, "unrecorded takes a function"), NULL;
    }
    State before = state;
    gw_set_grad_enabled(0);
    state.modes &= ~(uint32_t)GW_MODE_AUTOCAST;
    Py_XINCREF(before.tracer);
    Py_XINCREF(before.levels);
    return call_and_restore(before, args, n, names);
}

static inline int tensor_flags(const GwTensor *t) {
    return (gw_requires_grad(t) && !state.grad_disabled ? GW_FLAG_GRAD : 0)
           | (t->flags & GW_FAKE ? FLAG_FAKE : 0) | (t->device != GW_CPU ? FLAG_DEVICE : 0)
           | (t->flags & GW_OVERRIDES && !state.overrides_off ? GW_FLAG_OVERRIDE : 0)
           | (gw_is_float8(t->dtype) ? GW_FLAG_FLOAT8 : 0);
}

/* What is no tensor: whether its class says what ops do with it. */
static int foreign_flags(PyObject *item) {
    static PyObject *name;
    if (name == NULL && (name = PyUnicode_InternFromString("__torch_function__")) == NULL) {
        PyErr_Clear();
        return GW_FLAG_FOREIGN;
    }
    bool asked = !state.overrides_off && _PyType_Lookup(Py_TYPE(item), name) != NULL;
    return GW_FLAG_FOREIGN | (asked ? GW_FLAG_OVERRIDE : 0);
}

static inline bool cannot_be_tensor(const PyTypeObject *type) {
    return type == &PyLong_Type || type == &PyBool_Type || type == &PyFloat_Type
           || type == &PyUnicode_Type || type == Py_TYPE(Py_None)
           || type == Py_TYPE(Py_Ellipsis);     /* an argument that was not given */
}

/* Whether all of a tuple is of types that are plain arguments, as the dims of `tensordot` are. */
static bool holds_no_tensor(PyObject *tuple) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        if (!cannot_be_tensor(Py_TYPE(PyTuple_GET_ITEM(tuple, i)))) {
            return false;
        }
    }
    return true;
}

static int item_flags(PyObject *const *items, Py_ssize_t n, bool nested) {
    int flags = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = items[i];
        if (PyLong_CheckExact(item)) {
            continue;
        }
        if (cannot_be_tensor(Py_TYPE(item))) {
            bool absent = !nested && (item == Py_None || item == Py_Ellipsis);
            flags |= absent ? 0 : GW_FLAG_NO_INT;
            continue;
        }
        if (gw_is_tensor(item)) {
            bool first = !nested && i == 0;
            flags |= tensor_flags((GwTensor *)item) | (first ? 0 : GW_FLAG_NO_INT);
        } else if (!nested && PyTuple_Check(item)) {
            flags |= item_flags(PySequence_Fast_ITEMS(item), PyTuple_GET_SIZE(item), true);
        } else if (!nested && PyList_Check(item)) {
            flags |= GW_FLAG_LIST
                     | item_flags(PySequence_Fast_ITEMS(item), PyList_GET_SIZE(item), true);
        } else if (PyTuple_CheckExact(item) && holds_no_tensor(item)) {
            flags |= GW_FLAG_NO_INT;
        } else if (gw_is_dtype_or_device(item)) {
            bool float8 = gw_is_float8(gw_plain_dtype(item, -1));
            flags |= GW_FLAG_NO_INT | (float8 ? GW_FLAG_FLOAT8 : 0);
        } else if (Py_TYPE(item)->tp_base != &GwGenerator_Type) {
            flags |= foreign_flags(item);
        }
    }
    return flags;
}

/* Whether some stride may be 0. */
static bool may_repeat(PyObject *strides) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(strides); i++) {
        PyObject *stride = PyTuple_GET_ITEM(strides, i);
        if (!PyLong_CheckExact(stride) || !PyObject_IsTrue(stride)) {
            return true;
        }
    }
    return false;
}

/* Whether elements of the first argument share memory with one another, or may, where that is
   for the expressions of sizes to say. */
static bool overlaps(PyObject *const *items, Py_ssize_t n) {
    if (n == 0 || !gw_is_tensor(items[0])) {
        return false;
    }
    const GwTensor *t = (GwTensor *)items[0];
    if (t->flags & GW_SYMBOLIC) {
        return may_repeat(t->strides_obj);
    }
    if (t->flags & GW_CONTIGUOUS) {
        return false;
    }
    for (int i = 0; i < t->ndim; i++) {
        if (t->strides[i] == 0 && t->sizes[i] > 1) {
            return true;
        }
    }
    return false;
}

/* Whether elements lie side by side without gaps, in whatever order of the dims. */
static bool is_dense(const GwTensor *t) {
    if (t->flags & GW_CONTIGUOUS) {
        return true;
    }
    int64_t reach = 1;
    for (int i = 0; i < t->ndim; i++) {
        if (t->sizes[i] > 1 && t->strides[i] == 0) {
            return false;
        }
        reach += (t->sizes[i] - 1) * t->strides[i];
    }
    return reach == t->numel;
}

bool gw_partly_shared(PyObject *const *items, Py_ssize_t n) {
    if (n < 2 || !gw_is_tensor(items[0]) || !gw_is_tensor(items[1])) {
        return false;
    }
    const GwTensor *a = (GwTensor *)items[0], *b = (GwTensor *)items[1];
    if (a == b || a->storage != b->storage || a->data == NULL || a->numel == 0 || b->numel == 0
        || !is_dense(a) || !is_dense(b)) {
        return false;
    }
    int64_t a_bytes = a->numel * gw_itemsize(a), b_bytes = b->numel * gw_itemsize(b);
    if (a->data == b->data && a_bytes == b_bytes) {
        return !gw_same_steps(a, b);
    }
    return a->data < b->data + b_bytes && b->data < a->data + a_bytes;
}

int gw_argument_flags(PyObject *const *items, Py_ssize_t n) {
    uint32_t modes = gw_modes();
    return item_flags(items, n, false) | (modes != 0 ? FLAG_MODES : 0)
           | (modes & MODE_FUNCTIONS ? GW_FLAG_OVERRIDE : 0)
           | (overlaps(items, n) ? GW_FLAG_OVERLAP : 0);
}

int gw_dispatch_flags(PyObject *const *items, Py_ssize_t n) {
    int flags = gw_argument_flags(items, n);
    int foreign = flags & GW_FLAG_LIST ? GW_FLAG_FOREIGN : 0;
    return (flags & ~(GW_FLAG_LIST | GW_FLAG_NO_INT)) | foreign;
}

static PyObject *dispatch_flags(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    if (!PyTuple_Check(args)) {
        PyErr_SetString(PyExc_TypeError, "dispatch_flags takes the tuple of arguments");
        return NULL;
    }
    return PyLong_FromLong(gw_dispatch_flags(PySequence_Fast_ITEMS(args),
                                             PyTuple_GET_SIZE(args)));
}

PyMethodDef gw_modes_methods[] = {
    {"grad_enabled", grad_enabled, METH_NOARGS, "Whether this thread records operations."},
    {"set_grad_enabled", set_grad_enabled, METH_O,
     "Returns the previous setting. None: disabled while a node records its own kernel."},
    {"user_disabled_grad", user_disabled_grad, METH_NOARGS,
     "Whether gradients are off, and not only while a node records its own kernel."},
    {"check_may_write", check_may_write, METH_O,
     "Raises RuntimeError for tensors of inference mode outside of it."},
    {"modes", modes, METH_NOARGS,
     "This thread's mode bits; TRACE follows from the tracer, MAPPED from levels, DEVICE from the "
     "place."},
    {"set_modes", set_modes, METH_O, "Returns the previous bits."},
    {"overrides_enabled", overrides_enabled, METH_NOARGS,
     "Whether classes with __torch_function__ are asked what ops do with their instances."},
    {"set_overrides_enabled", set_overrides_enabled, METH_O, "Returns the previous setting."},
    {"place", place, METH_NOARGS,
     "The device on which this thread makes tensors; None is the CPU."},
    {"set_place", set_place, METH_O, "Make tensors there: a device that is never freed, or None."},
    {"tracer", tracer, METH_NOARGS, "This thread's tracer, or None."},
    {"set_tracer", set_tracer, METH_O, "Returns the previous tracer, or None."},
    {"levels", levels, METH_NOARGS, "The calls of vmap that this thread is in, outermost first."},
    {"set_levels", set_levels, METH_O, "Be in these calls of vmap, a tuple."},
    {"keeping_modes", (PyCFunction)(void (*)(void))keeping_modes,
     METH_FASTCALL | METH_KEYWORDS,
     "keeping_modes(function, *args, **kwargs): call it; grad mode, modes, tracer and levels are "
     "afterwards what they were before, whatever it did and raised."},
    {"saved_modes", saved_modes, METH_NOARGS,
     "All that keeping_modes puts back, as it is, for call_in_modes."},
    {"call_in_modes", (PyCFunction)(void (*)(void))call_in_modes,
     METH_FASTCALL | METH_KEYWORDS,
     "call_in_modes(saved, function, *args, **kwargs): as keeping_modes, in saved modes."},
    {"with_grad_mode", (PyCFunction)(void (*)(void))with_grad_mode,
     METH_FASTCALL | METH_KEYWORDS,
     "with_grad_mode(mode, function, *args, **kwargs): as keeping_modes, with gradients recorded "
     "or not meanwhile (None: as set_grad_enabled takes it)."},
    {"unrecorded", (PyCFunction)(void (*)(void))unrecorded, METH_FASTCALL | METH_KEYWORDS,
     "unrecorded(function, *args, **kwargs): as keeping_modes, without gradients and without "
     "autocast meanwhile."},
    {"dispatch_flags", dispatch_flags, METH_O,
     "0 if nothing but the kernel has to run for these arguments. Bits: 1 a gradient is "
     "recorded, 2 some mode is on, 4 a fake tensor, 8 a device other than the CPU, 16 something "
     "that is no tensor, number, text, dtype or device, 32 the first is a tensor some of whose "
     "elements share memory, 128 an override, 1024 a float8 tensor or dtype. Lists "
     "and tuples are looked into one level deep."},
    {NULL, NULL, 0, NULL},
};
