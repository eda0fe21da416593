/* Launcher: a compiled graph as a callable. A call checks the inputs, allocates the outputs,
 * leases an arena and runs the native function; no Python code and, but for the outputs, no
 * allocation is on the way. */
#include "launcher.h"
#include "pool.h"
#include "profiling.h"
#include "routines.h"
#include "write_checks.h"

#include <stddef.h>
#include <structmember.h>

enum { MAX_STACK_VALUES = 64 };

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
    PyObject **given;       /* the same where the call owns them, else NULL */
    void **ptrs;            /* inputs, constants, outputs, arena, blocks */
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

/* late: it gets its memory when its stage begins, if that is large. */
static GwTensor *make_output(const Launcher *self, const Output *output, const int64_t *layout,
                             bool late) {
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
    GwTensor *t = gw_tensor_unfilled(self->cls, output->dtype, output->ndim, sizes, strides);
    if (t != NULL && !(late && gw_block_is_large((size_t)t->storage->nbytes))) {
        if (gw_storage_fill(t->storage)) {
            t->data = t->storage->data;
        } else {
            Py_CLEAR(t);
        }
    }
    return t;
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
        bool late = self->stages.count > 0 && self->stages.late[i];
        GwTensor *t = make_output(self, &self->outputs[i], layout, late);
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

static int32_t execute(Launcher *self, Call *call, GwStaging *staging, int64_t *error_info) {
    gw_ctx *ctx = &staging->ctx;
    gw_context(ctx);
    ctx->error_info = error_info;
    ctx->enter_stage = gw_enter_stage;
    ctx->routines = gw_routines;
    if (!self->blas) {
        ctx->gemm = gw_own_gemm;
    }
    if (self->rng_ops > 0) {
        gw_reserve_random(self->rng_ops, &ctx->seed, &ctx->offset);
    }
    GwBorrowed *borrowed = self->weights == NULL ? NULL
                           : gw_borrow_weights(self->weights, call->args, ctx);
    GwKernels *kernels = GW_UNLIKELY(gw_profiling) ? gw_kernels_begin(ctx) : NULL;
    bool release = self->release_gil && !staging->profiled;
    PyThreadState *released = release ? PyEval_SaveThread() : NULL;
    int32_t code = self->run(ctx, call->ptrs, call->sizes);
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
    GwStaging staging;
    if (!gw_staging_begin(&staging, &self->stages, call->ptrs + self->n_inputs + self->n_constants,
                          call->given, result)) {
        Py_CLEAR(result);
    }
    int32_t code = result == NULL ? GW_OK : execute(self, call, &staging, error_info);
    gw_staging_end(&staging);
    if (arena.memory != NULL) {
        give_back(self, &arena);
    }
    for (Py_ssize_t i = 0; i < self->n_mutated; i++) {
        ((GwTensor *)call->args[self->mutated[i]])->storage->version++;
    }
    if (code != GW_OK) {
        Py_SETREF(result, code == GW_NO_MEMORY ? PyErr_NoMemory()
                                                 : report(self, code, error_info));
    }
    return result;
}

/* given: see `Call`. */
static PyObject *call_with(Launcher *self, PyObject *const *args, PyObject **given) {
    Py_ssize_t arena = self->n_inputs + self->n_constants + self->n_outputs;
    Py_ssize_t n_ptrs = arena + 1 + self->stages.n_blocks;
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
    ptrs[arena] = NULL;
    Call call = {args, given, ptrs, values, values + self->n_inputs,
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

static PyObject *wrong_count(const Launcher *self, Py_ssize_t count) {
    return PyErr_Format(PyExc_TypeError, "a compiled graph takes %zd positional arguments, got %zd",
                        self->n_inputs, count);
}

static PyObject *launcher_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames) {
    Launcher *self = (Launcher *)callable;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (nargs != self->n_inputs || (kwnames != NULL && PyTuple_GET_SIZE(kwnames) > 0)) {
        return wrong_count(self, nargs);
    }
    return call_with(self, args, NULL);
}

static PyObject *launcher_consume(PyObject *callable, PyObject *list) {
    Launcher *self = (Launcher *)callable;
    if (!PyList_CheckExact(list)) {
        return PyErr_Format(PyExc_TypeError, "consume() takes a list, not %.100s",
                            Py_TYPE(list)->tp_name);
    }
    Py_ssize_t count = PyList_GET_SIZE(list);
    if (count != self->n_inputs) {
        return wrong_count(self, count);
    }
    PyObject **given = PyMem_New(PyObject *, count + 1);
    if (given == NULL) {
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        given[i] = Py_NewRef(PyList_GET_ITEM(list, i));
    }
    PyObject *result = NULL;
    if (PyList_SetSlice(list, 0, count, NULL) == 0) {
        result = call_with(self, given, given);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_XDECREF(given[i]);
    }
    PyMem_Free(given);
    return result;
}

static PyMethodDef launcher_methods[] = {
    {"consume", launcher_consume, METH_O,
     "As a call with the inputs in a list, which is emptied: the memory of inputs that nothing\n"
     "else refers to is freed at the stage behind their last use."},
    {NULL, NULL, 0, NULL},
};

/* ---- the type ---- */

static PyObject *launcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    Launcher *self = (Launcher *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->vectorcall = launcher_call;
        if (!gw_parse_launcher(self, args, kwargs)) {
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
    gw_free_stages(&self->stages);
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
    .tp_methods = launcher_methods,
};
