/* Launcher: a compiled graph as a callable. A call checks the inputs, allocates the outputs,
 * leases an arena and runs the native function; no Python code and, but for the outputs, no
 * allocation is on the way. */
#include "core.h"
#include "pool.h"
#include "profiling.h"
#include "weights.h"
#include "write_checks.h"

#include <stddef.h>
#include <structmember.h>

enum { MAX_STACK_VALUES = 64, IDLE_ARENAS = 4 };

typedef struct {
    int dtype, ndim;
    bool symbolic, contiguous;
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS];
} Output;

typedef struct {
    Py_ssize_t input;
    int place;          /* the dimension of a size, GW_MAX_DIMS + that of a stride, -1: an int */
} Symbol;

typedef struct {
    char *memory;
    size_t capacity;
} Arena;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    gw_run run;
    gw_shapes shapes;
    PyTypeObject *cls;
    PyObject *keepalive, *label;
    PyObject *constants, *messages;     /* tuples */
    Py_ssize_t n_inputs, n_constants, n_outputs, n_symbols, n_mutated, n_shapes;
    Output *outputs;
    Symbol *symbols;
    Py_ssize_t *mutated;
    GwWeightInputs *weights;        /* or NULL */
    int64_t arena_bytes;    /* -1: from shapes() */
    unsigned long long rng_ops;
    bool single, release_gil, blas;
    Arena idle[IDLE_ARENAS];
    int n_idle;
} Launcher;

/* ---- arenas: each is leased to one call at a time; the GIL guards the list ----
 * Those that the allocator keeps for whoever asks next go back to it: between calls, and while
 * another graph runs, their memory serves others. */

static bool lease(Launcher *self, size_t bytes, Arena *arena) {
    if (self->n_idle > 0) {
        *arena = self->idle[--self->n_idle];
        if (arena->capacity >= bytes) {
            return true;
        }
        gw_block_free(arena->memory, arena->capacity);
    }
    arena->memory = gw_block_alloc(bytes, &arena->capacity);
    if (arena->memory == NULL) {
        PyErr_NoMemory();
        return false;
    }
    return true;
}

static void give_back(Launcher *self, const Arena *arena) {
    if (self->n_idle < IDLE_ARENAS && !gw_block_is_cached(arena->capacity)) {
        self->idle[self->n_idle++] = *arena;
    } else {
        gw_block_free(arena->memory, arena->capacity);
    }
}

/* ---- one call ---- */

typedef struct {
    PyObject *const *args;
    void **ptrs;            /* inputs, constants, outputs, arena */
    int64_t *ints;          /* [n_inputs]: the inputs that are ints */
    int64_t *sizes;         /* [n_symbols] */
    int64_t *shapes;        /* [n_shapes]: what shapes() wrote */
    int64_t arena_bytes;
} Call;

static bool bad_input(Py_ssize_t index, const char *what) {
    PyErr_Format(PyExc_TypeError, "input %zd of a compiled graph %s", index, what);
    return false;
}

static bool read_tensor(const GwTensor *t, Py_ssize_t index, void **ptr) {
    if (t->data == NULL || t->device != GW_CPU) {
        return bad_input(index, "has no data in the CPU's memory");
    }
    *ptr = t->data;
    return true;
}

static bool read_inputs(const Launcher *self, Call *call) {
    for (Py_ssize_t i = 0; i < self->n_inputs; i++) {
        PyObject *arg = call->args[i];
        if (Py_TYPE(arg) == self->cls || gw_is_tensor(arg)) {
            if (!read_tensor((GwTensor *)arg, i, &call->ptrs[i])) {
                return false;
            }
        } else if (PyLong_Check(arg)) {
            call->ints[i] = PyLong_AsLongLong(arg);
            if (call->ints[i] == -1 && PyErr_Occurred()) {
                return false;
            }
            call->ptrs[i] = &call->ints[i];
        } else {
            return bad_input(i, "is neither a Tensor nor an int");
        }
    }
    for (Py_ssize_t i = 0; i < self->n_constants; i++) {
        const GwTensor *t = (GwTensor *)PyTuple_GET_ITEM(self->constants, i);
        call->ptrs[self->n_inputs + i] = t->data;
    }
    return true;
}

static bool read_sizes(const Launcher *self, Call *call) {
    for (Py_ssize_t i = 0; i < self->n_symbols; i++) {
        const Symbol *symbol = &self->symbols[i];
        PyObject *arg = call->args[symbol->input];
        if (symbol->place < 0) {
            if (!PyLong_Check(arg)) {
                return bad_input(symbol->input, "should be an int");
            }
            call->sizes[i] = call->ints[symbol->input];
            continue;
        }
        const GwTensor *t = (GwTensor *)arg;
        if (PyLong_Check(arg) || t->ndim <= symbol->place % GW_MAX_DIMS) {
            return bad_input(symbol->input, "has too few dimensions");
        }
        call->sizes[i] = symbol->place < GW_MAX_DIMS ? t->sizes[symbol->place]
                                                     : t->strides[symbol->place - GW_MAX_DIMS];
    }
    call->arena_bytes = self->arena_bytes;
    if (self->n_shapes > 0) {
        self->shapes(call->sizes, call->shapes);
        if (self->arena_bytes < 0) {
            call->arena_bytes = call->shapes[0];
        }
    }
    if (call->arena_bytes < 0) {
        PyErr_SetString(PyExc_RuntimeError, "a compiled graph asked for an arena of negative size");
        return false;
    }
    return true;
}

static bool check_mutated(const Launcher *self, const Call *call) {
    for (Py_ssize_t i = 0; i < self->n_mutated; i++) {
        PyObject *arg = call->args[self->mutated[i]];
        if (!gw_is_tensor(arg)) {
            return bad_input(self->mutated[i], "is written to, but is no Tensor");
        }
        if (((GwTensor *)arg)->storage->readonly) {
            PyErr_SetString(PyExc_ValueError, "cannot write in place: the tensor's memory is "
                            "read-only");
            return false;
        }
        if (!gw_may_write((GwTensor *)arg)) {
            return false;
        }
    }
    return true;
}

static GwTensor *make_output(const Launcher *self, const Output *output, const int64_t *layout) {
    const int64_t *sizes = output->sizes;
    const int64_t *strides = output->contiguous ? NULL : output->strides;
    if (output->symbolic) {
        sizes = layout;
        strides = layout + output->ndim;
        for (int i = 0; i < output->ndim; i++) {
            if (sizes[i] < 0 || strides[i] < 0) {
                PyErr_SetString(PyExc_RuntimeError, "a compiled graph gave an output a negative "
                                "size or stride");
                return NULL;
            }
        }
    }
    return gw_tensor_empty(self->cls, output->dtype, output->ndim, sizes, strides);
}

/* A tuple of new tensors, or the lone tensor. */
static PyObject *make_outputs(const Launcher *self, Call *call) {
    void **ptrs = call->ptrs + self->n_inputs + self->n_constants;
    const int64_t *layout = call->shapes + 1;
    PyObject *result = self->single ? NULL : PyTuple_New(self->n_outputs);
    if (!self->single && result == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < self->n_outputs; i++) {
        GwTensor *t = make_output(self, &self->outputs[i], layout);
        if (t == NULL) {
            Py_XDECREF(result);
            return NULL;
        }
        ptrs[i] = t->data;
        layout += 2 * self->outputs[i].ndim;
        if (self->single) {
            return (PyObject *)t;
        }
        PyTuple_SET_ITEM(result, i, (PyObject *)t);
    }
    return result;
}

void gw_raise_out_of_range(PyObject *text, PyObject *sizes, int64_t value, int64_t bound) {
    PyObject *format = PyObject_GetAttrString(text, "format");
    PyObject *values = Py_BuildValue(
        "{s:L,s:L,s:L}", "value", (long long)value, "index",
        (long long)(value < 0 ? value - bound : value), "bound", (long long)bound);
    PyObject *filled = format == NULL || values == NULL ? NULL
                       : PyObject_Call(format, sizes, values);
    Py_XDECREF(format);
    Py_XDECREF(values);
    if (filled != NULL) {
        PyErr_SetObject(gw_out_of_range, filled);
        Py_DECREF(filled);
    }
}

/* Raises what the native code reported. */
static PyObject *report(const Launcher *self, int32_t code, const int64_t *info) {
    if (code != GW_INDEX_ERROR || info[2] < 0 || info[2] >= PyTuple_GET_SIZE(self->messages)) {
        return PyErr_Format(PyExc_RuntimeError, "a compiled graph failed with code %d", code);
    }
    PyObject *none = PyTuple_New(0);
    if (none != NULL) {
        gw_raise_out_of_range(PyTuple_GET_ITEM(self->messages, info[2]), none, info[0], info[1]);
    }
    Py_XDECREF(none);
    return NULL;
}

static int32_t execute(Launcher *self, Call *call, int64_t *error_info) {
    gw_ctx ctx;
    gw_context(&ctx);
    ctx.error_info = error_info;
    if (!self->blas) {
        ctx.gemm = gw_own_gemm;
    }
    if (self->rng_ops > 0) {
        gw_reserve_random(self->rng_ops, &ctx.seed, &ctx.offset);
    }
    GwBorrowed *borrowed = self->weights == NULL ? NULL
                           : gw_borrow_weights(self->weights, call->args, &ctx);
    GwKernels *kernels = GW_UNLIKELY(gw_profiling) ? gw_kernels_begin(&ctx) : NULL;
    PyThreadState *released = self->release_gil ? PyEval_SaveThread() : NULL;
    int32_t code = self->run(&ctx, call->ptrs, call->sizes);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
    if (kernels != NULL) {
        gw_kernels_end(kernels, self->keepalive);
    }
    if (borrowed != NULL) {
        gw_return_weights(self->weights, borrowed, call->args);
    }
    return code;
}

static PyObject *run_call(Launcher *self, Call *call) {
    Arena arena = {NULL, 0};
    int64_t error_info[4] = {0, 0, -1, 0};
    if (!read_inputs(self, call) || !read_sizes(self, call) || !check_mutated(self, call)) {
        return NULL;
    }
    PyObject *result = make_outputs(self, call);
    if (result == NULL) {
        return NULL;
    }
    if (call->arena_bytes > 0) {
        if (!lease(self, (size_t)call->arena_bytes, &arena)) {
            Py_DECREF(result);
            return NULL;
        }
        call->ptrs[self->n_inputs + self->n_constants + self->n_outputs] = arena.memory;
    }
    int32_t code = execute(self, call, error_info);
    if (arena.memory != NULL) {
        give_back(self, &arena);
    }
    for (Py_ssize_t i = 0; i < self->n_mutated; i++) {
        ((GwTensor *)call->args[self->mutated[i]])->storage->version++;
    }
    if (code != GW_OK) {
        Py_SETREF(result, report(self, code, error_info));
    }
    return result;
}

static PyObject *launcher_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames) {
    Launcher *self = (Launcher *)callable;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (nargs != self->n_inputs || (kwnames != NULL && PyTuple_GET_SIZE(kwnames) > 0)) {
        return PyErr_Format(PyExc_TypeError, "a compiled graph takes %zd positional arguments, "
                            "got %zd", self->n_inputs, nargs);
    }
    Py_ssize_t n_ptrs = self->n_inputs + self->n_constants + self->n_outputs + 1;
    Py_ssize_t n_values = self->n_inputs + self->n_symbols + self->n_shapes;
    void *stack_ptrs[MAX_STACK_VALUES];
    int64_t stack_values[MAX_STACK_VALUES];
    bool on_stack = n_ptrs <= MAX_STACK_VALUES && n_values <= MAX_STACK_VALUES;
    void **ptrs = stack_ptrs;
    int64_t *values = stack_values;
    if (!on_stack) {
        size_t bytes = (size_t)n_ptrs * sizeof *ptrs + (size_t)n_values * sizeof *values;
        ptrs = PyMem_Malloc(bytes);
        if (ptrs == NULL) {
            return PyErr_NoMemory();
        }
        values = (int64_t *)(ptrs + n_ptrs);
    }
    ptrs[n_ptrs - 1] = NULL;
    Call call = {args, ptrs, values, values + self->n_inputs,
                 values + self->n_inputs + self->n_symbols, 0};
    GwMark mark = {0, -1};
    if (GW_UNLIKELY(gw_profiling)) {
        mark = gw_span_begin(GW_SPAN_GRAPH, self->label);
    }
    PyObject *result = run_call(self, &call);
    if (GW_UNLIKELY(mark.index >= 0)) {
        gw_span_end(mark);
    }
    if (!on_stack) {
        PyMem_Free(ptrs);
    }
    return result;
}

/* ---- construction ---- */

static bool value_error(const char *what) {
    PyErr_Format(PyExc_ValueError, "Launcher: %s", what);
    return false;
}

static int read_dims(PyObject *sequence, int64_t *values) {
    Py_ssize_t n = PyTuple_Check(sequence) ? PyTuple_GET_SIZE(sequence) : -1;
    if (n < 0 || n > GW_MAX_DIMS) {
        value_error("sizes and strides must be tuples of at most 32 ints");
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        values[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(sequence, i));
        if (values[i] < 0) {
            if (!PyErr_Occurred()) {
                value_error("sizes and strides must not be negative");
            }
            return -1;
        }
    }
    return (int)n;
}

/* (dtype, shape tuple, strides tuple or None), or (dtype, ndim, None) if from shapes(). */
static bool parse_output(PyObject *spec, Output *output) {
    PyObject *dtype, *shape, *strides;
    if (!PyTuple_Check(spec) || !PyArg_ParseTuple(spec, "OOO", &dtype, &shape, &strides)) {
        return PyErr_Occurred() ? false : value_error("an output is (dtype, shape, strides)");
    }
    output->dtype = gw_dtype_code(dtype);
    if (output->dtype < 0) {
        return false;
    }
    if (PyLong_Check(shape)) {
        long ndim = PyLong_AsLong(shape);
        output->symbolic = true;
        output->ndim = (int)ndim;
        return ndim >= 0 && ndim <= GW_MAX_DIMS ? true
                                                : value_error("an output has 0 to 32 dimensions");
    }
    output->ndim = read_dims(shape, output->sizes);
    output->contiguous = strides == Py_None;
    if (output->ndim < 0) {
        return false;
    }
    if (!output->contiguous) {
        int n = read_dims(strides, output->strides);
        if (n != output->ndim) {
            return n < 0 ? false : value_error("an output's shape and strides differ in length");
        }
        int64_t dense[GW_MAX_DIMS];
        gw_contiguous(output->sizes, output->ndim, dense);
        output->contiguous = memcmp(dense, output->strides, (size_t)n * sizeof *dense) == 0;
    }
    return true;
}

static bool parse_outputs(Launcher *self, PyObject *list) {
    self->n_outputs = PyList_GET_SIZE(list);
    self->outputs = PyMem_Calloc((size_t)self->n_outputs + 1, sizeof(Output));
    if (self->outputs == NULL) {
        return PyErr_NoMemory() != NULL;
    }
    bool symbolic = self->arena_bytes < 0;
    Py_ssize_t n_shapes = 1;
    for (Py_ssize_t i = 0; i < self->n_outputs; i++) {
        if (!parse_output(PyList_GET_ITEM(list, i), &self->outputs[i])) {
            return false;
        }
        symbolic = symbolic || self->outputs[i].symbolic;
        n_shapes += 2 * self->outputs[i].ndim;
    }
    self->n_shapes = symbolic ? n_shapes : 0;
    if (symbolic && self->shapes == NULL) {
        return value_error("symbolic sizes need the function shapes");
    }
    return !self->single || self->n_outputs == 1
           || value_error("single needs exactly one output");
}

static bool parse_symbols(Launcher *self, PyObject *list) {
    self->n_symbols = PyList_GET_SIZE(list);
    self->symbols = PyMem_Calloc((size_t)self->n_symbols + 1, sizeof(Symbol));
    if (self->symbols == NULL) {
        return PyErr_NoMemory() != NULL;
    }
    for (Py_ssize_t i = 0; i < self->n_symbols; i++) {
        Symbol *symbol = &self->symbols[i];
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "ni", &symbol->input, &symbol->place)) {
            return false;
        }
        if (symbol->input < 0 || symbol->input >= self->n_inputs || symbol->place < -1
            || symbol->place >= 2 * GW_MAX_DIMS) {
            return value_error("a symbol names no input");
        }
    }
    return true;
}

static bool parse_mutated(Launcher *self, PyObject *list) {
    self->n_mutated = PyList_GET_SIZE(list);
    self->mutated = PyMem_Calloc((size_t)self->n_mutated + 1, sizeof(Py_ssize_t));
    if (self->mutated == NULL) {
        return PyErr_NoMemory() != NULL;
    }
    for (Py_ssize_t i = 0; i < self->n_mutated; i++) {
        Py_ssize_t index = PyLong_AsSsize_t(PyList_GET_ITEM(list, i));
        if (index < 0 || index >= self->n_inputs) {
            return PyErr_Occurred() ? false : value_error("a mutated index names no input");
        }
        self->mutated[i] = index;
    }
    return true;
}

static bool check_tuples(Launcher *self) {
    self->n_constants = PyTuple_GET_SIZE(self->constants);
    for (Py_ssize_t i = 0; i < self->n_constants; i++) {
        const GwTensor *t = gw_tensor_arg(PyTuple_GET_ITEM(self->constants, i));
        if (t == NULL) {
            return false;
        }
        if (t->data == NULL || t->device != GW_CPU) {
            return value_error("a constant has no data in the CPU's memory");
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->messages); i++) {
        if (!PyUnicode_Check(PyTuple_GET_ITEM(self->messages, i))) {
            return value_error("messages must be strings");
        }
    }
    return true;
}

static bool parse_launcher(Launcher *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"run", "shapes", "keepalive", "n_inputs", "outputs", "arena_bytes",
                            "symbols", "rng_ops", "mutated", "messages", "cls", "release_gil",
                            "single", "constants", "label", "blas", "weights", "weight_class", NULL};
    unsigned long long run, shapes;
    long long arena_bytes;
    int release_gil, single = 0, blas = 1;
    PyObject *keepalive, *outputs, *symbols, *mutated, *messages, *cls, *constants = NULL;
    PyObject *label = NULL, *weights = NULL, *weight_class = NULL;
    if (PyTuple_GET_SIZE(args) > 0) {
        PyErr_SetString(PyExc_TypeError, "Launcher takes keyword arguments only");
        return false;
    }
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KKOnO!LO!KO!OOp|pOUpO!O!:Launcher", names, &run,
                                     &shapes, &keepalive, &self->n_inputs, &PyList_Type, &outputs,
                                     &arena_bytes, &PyList_Type, &symbols, &self->rng_ops,
                                     &PyList_Type, &mutated, &messages, &cls, &release_gil,
                                     &single, &constants, &label, &blas, &PyList_Type,
                                     &weights, &PyType_Type, &weight_class)) {
        return false;
    }
    if (run == 0 || self->n_inputs < 0) {
        return value_error("run must be an address, n_inputs not negative");
    }
    self->run = (gw_run)(uintptr_t)run;
    self->shapes = (gw_shapes)(uintptr_t)shapes;
    self->arena_bytes = arena_bytes < 0 ? -1 : arena_bytes;
    self->single = single;
    self->blas = blas;
    self->release_gil = release_gil;
    self->keepalive = Py_NewRef(keepalive);
    self->label = label != NULL ? Py_NewRef(label) : PyUnicode_FromString("graph");
    if (gw_tensor_class(cls) == NULL) {
        return false;
    }
    self->cls = (PyTypeObject *)Py_NewRef(cls);
    self->messages = PySequence_Tuple(messages);
    self->constants = constants != NULL ? PySequence_Tuple(constants) : PyTuple_New(0);
    return self->label != NULL && self->messages != NULL && self->constants != NULL
           && check_tuples(self) && parse_outputs(self, outputs) && parse_symbols(self, symbols)
           && parse_mutated(self, mutated)
           && gw_read_weight_inputs(weights, weight_class, self->n_inputs, &self->weights);
}

static PyObject *launcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    Launcher *self = (Launcher *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->vectorcall = launcher_call;
        if (!parse_launcher(self, args, kwargs)) {
            Py_CLEAR(self);
        }
    }
    return (PyObject *)self;
}

static int launcher_traverse(PyObject *object, visitproc visit, void *arg) {
    Launcher *self = (Launcher *)object;
    Py_VISIT(self->cls);
    Py_VISIT(self->keepalive);
    Py_VISIT(self->constants);
    Py_VISIT(self->messages);
    return 0;
}

/* Cycles are broken elsewhere: native code must stay while it can be called. */
static void launcher_dealloc(PyObject *object) {
    Launcher *self = (Launcher *)object;
    PyObject_GC_UnTrack(object);
    while (self->n_idle > 0) {
        const Arena *arena = &self->idle[--self->n_idle];
        gw_block_free(arena->memory, arena->capacity);
    }
    PyMem_Free(self->outputs);
    PyMem_Free(self->symbols);
    PyMem_Free(self->mutated);
    gw_free_weight_inputs(self->weights);
    Py_XDECREF(self->cls);
    Py_XDECREF(self->keepalive);
    Py_XDECREF(self->label);
    Py_XDECREF(self->constants);
    Py_XDECREF(self->messages);
    Py_TYPE(object)->tp_free(object);
}

/* What the last launch read: see `packed_weights` of the module. */
static PyObject *launcher_packed(PyObject *object, void *closure) {
    GW_UNUSED(closure);
    return gw_packed_counts(((Launcher *)object)->weights);
}

static PyGetSetDef launcher_getset[] = {
    {"packed_weights", launcher_packed, NULL,
     "How many weights the last call had packed, and in how many bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef launcher_members[] = {
    {"n_inputs", T_PYSSIZET, offsetof(Launcher, n_inputs), READONLY, "Arguments of a call."},
    {"n_outputs", T_PYSSIZET, offsetof(Launcher, n_outputs), READONLY, "Tensors it returns."},
    {"single", T_BOOL, offsetof(Launcher, single), READONLY, "Whether it returns a lone tensor."},
    {"keepalive", T_OBJECT, offsetof(Launcher, keepalive), READONLY, "What the code needs."},
    {"label", T_OBJECT, offsetof(Launcher, label), READONLY, "What profiles call it."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject GwLauncher_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.Launcher",
    .tp_doc = "A compiled graph as a callable of its inputs.",
    .tp_basicsize = sizeof(Launcher),
    .tp_new = launcher_new,
    .tp_dealloc = launcher_dealloc,
    .tp_traverse = launcher_traverse,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Launcher, vectorcall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_members = launcher_members,
    .tp_getset = launcher_getset,
};
