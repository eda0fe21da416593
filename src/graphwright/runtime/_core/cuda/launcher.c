/* `CudaLauncher`: a compiled graph of a GPU as a callable. A call reads the sizes of the inputs,
 * allocates the outputs, and puts the launches of its program into the current stream; it waits
 * for nothing. What the kernels do not hold for (addresses that are no multiples of 16 bytes,
 * sizes past 32 bits) goes to a callable of Python. */
#include "program.h"
#include "blocks.h"
#include "generator.h"
#include "profiling.h"
#include "reports.h"
#include "write_checks.h"

#include <stddef.h>
#include <structmember.h>

enum { FEW_BUFFERS = 64, FEW_NUMBERS = 64, ALIGNMENT = 16 };

typedef struct {
    int dtype, ndim;
    GwOperand *layout;          /* sizes, then strides */
} Output;

typedef struct {
    int input, place;           /* the dimension of a size, GW_MAX_DIMS + that of a stride, -1: an
                                 * int */
} Symbol;

typedef struct {
    GwOperand value;
    int64_t most;
} Limit;

enum { UNUSED, TOUCHED, ALIGNED };      /* at an address that is a multiple of ALIGNMENT */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    GwCudaProgram *program;
    PyTypeObject *cls;
    PyObject *otherwise, *label, *messages, *generator;
    int n_inputs, n_outputs, n_symbols, n_mutated, n_limits, device;
    Output *outputs;
    Symbol *symbols;
    int *mutated;
    Limit *limits;
    char *uses;                 /* of each input: what kernels do with it */
    GwOperand *reported;        /* the numbers of the messages, see reports.h */
    int n_reported;
    unsigned long long rng_ops;
    GwReport *report;           /* of the last launch that may report, while it is awaited */
} Launcher;

typedef struct {
    PyObject *const *args;
    GwTensor **buffers;         /* inputs, outputs */
    GwNumber *numbers;
    PyObject *generator;        /* that draws the random numbers */
    PyObject *uploaded;         /* a list that keeps copies of numbers on the CPU, or NULL */
    int device;
    bool elsewhere;             /* to be run by `otherwise` */
} Call;

static bool bad_input(int index, const char *what) {
    PyErr_Format(PyExc_TypeError, "input %d of a compiled graph %s", index, what);
    return false;
}

/* ---- inputs ---- */

static bool find_device(const Launcher *self, Call *call) {
    call->device = self->device;
    for (int i = 0; i < self->n_inputs; i++) {
        PyObject *arg = call->args[i];
        if (!gw_is_tensor(arg)) {
            if (self->uses[i] != UNUSED) {
                return bad_input(i, "should be a Tensor");
            }
            if (!PyLong_Check(arg)) {
                return bad_input(i, "is neither a Tensor nor an int");
            }
            continue;
        }
        const GwTensor *t = (GwTensor *)arg;
        if (self->uses[i] == UNUSED) {
            continue;
        }
        if (!gw_on_gpu(t)) {
            if (t->data == NULL || t->device != GW_CPU || t->ndim > 0) {
                return bad_input(i, "is not in a GPU's memory");
            }
        } else if (call->device >= 0 && t->device_index != call->device) {
            PyErr_Format(PyExc_RuntimeError, "input %d of a compiled graph is on cuda:%d, and not "
                         "on cuda:%d", i, t->device_index, call->device);
            return false;
        } else {
            call->device = t->device_index;
        }
    }
    if (call->device < 0) {
        PyErr_SetString(PyExc_TypeError, "no input of a compiled graph is on a GPU");
        return false;
    }
    return gw_cuda_enter(call->device);
}

/* A copy on the GPU of a number in main memory, which the call keeps. */
static GwTensor *uploaded(const Launcher *self, Call *call, GwTensor *number) {
    if (call->uploaded == NULL && (call->uploaded = PyList_New(0)) == NULL) {
        return NULL;
    }
    GwTensor *copy = gw_cuda_tensor_empty(self->cls, number->dtype, 0, NULL, NULL, call->device);
    bool good = copy != NULL && gw_cuda_upload(copy, number)
                && PyList_Append(call->uploaded, (PyObject *)copy) == 0;
    Py_XDECREF(copy);
    return good ? copy : NULL;
}

static bool read_inputs(const Launcher *self, Call *call) {
    for (int i = 0; i < self->n_inputs; i++) {
        PyObject *arg = call->args[i];
        if (!gw_is_tensor(arg) || self->uses[i] == UNUSED) {
            continue;
        }
        GwTensor *t = (GwTensor *)arg;
        if (!gw_on_gpu(t) && (t = uploaded(self, call, t)) == NULL) {
            return false;
        }
        call->buffers[i] = t;
        if (self->uses[i] == ALIGNED && gw_cuda_address(t) % ALIGNMENT != 0) {
            call->elsewhere = true;
        }
    }
    return true;
}

static bool read_sizes(const Launcher *self, Call *call) {
    for (int i = 0; i < self->n_symbols; i++) {
        const Symbol *symbol = &self->symbols[i];
        PyObject *arg = call->args[symbol->input];
        GwNumber *number = &call->numbers[i];
        *number = (GwNumber){0, 0.0, false};
        if (symbol->place < 0) {
            if (!PyLong_Check(arg)) {
                return bad_input(symbol->input, "should be an int");
            }
            number->i = PyLong_AsLongLong(arg);
            if (number->i == -1 && PyErr_Occurred()) {
                return false;
            }
            continue;
        }
        const GwTensor *t = (GwTensor *)arg;
        if (PyLong_Check(arg) || t->ndim <= symbol->place % GW_MAX_DIMS) {
            return bad_input(symbol->input, "has too few dimensions");
        }
        number->i = symbol->place < GW_MAX_DIMS ? t->sizes[symbol->place]
                                                : t->strides[symbol->place - GW_MAX_DIMS];
    }
    return gw_program_derive(self->program, call->numbers);
}

static bool check_limits(const Launcher *self, Call *call) {
    for (int i = 0; i < self->n_limits; i++) {
        int64_t value;
        if (!gw_count_value(&self->limits[i].value, call->numbers, &value)) {
            return false;
        }
        call->elsewhere = call->elsewhere || value >= self->limits[i].most;
    }
    return true;
}

static bool check_mutated(const Launcher *self, const Call *call) {
    for (int i = 0; i < self->n_mutated; i++) {
        PyObject *arg = call->args[self->mutated[i]];
        if (!gw_is_tensor(arg) || !gw_on_gpu((GwTensor *)arg)) {
            return bad_input(self->mutated[i], "is written to, but is no Tensor on a GPU");
        }
        if (!gw_may_write((GwTensor *)arg)) {
            return false;
        }
    }
    return true;
}

/* ---- outputs ---- */

static GwTensor *make_output(const Launcher *self, const Call *call, const Output *output) {
    int64_t layout[2 * GW_MAX_DIMS];
    for (int i = 0; i < 2 * output->ndim; i++) {
        if (!gw_count_value(&output->layout[i], call->numbers, &layout[i])) {
            return NULL;
        }
        if (layout[i] < 0) {
            PyErr_SetString(PyExc_RuntimeError, "a compiled graph gave an output a negative size "
                            "or stride");
            return NULL;
        }
    }
    return gw_cuda_tensor_empty(self->cls, output->dtype, output->ndim, layout,
                                layout + output->ndim, call->device);
}

static PyObject *make_outputs(const Launcher *self, Call *call) {
    PyObject *result = PyTuple_New(self->n_outputs);
    for (int i = 0; result != NULL && i < self->n_outputs; i++) {
        GwTensor *t = make_output(self, call, &self->outputs[i]);
        if (t == NULL) {
            Py_CLEAR(result);
            break;
        }
        call->buffers[self->n_inputs + i] = t;
        PyTuple_SET_ITEM(result, i, (PyObject *)t);
    }
    return result;
}

/* ---- one call ---- */

static bool reported_now(const Launcher *self, const Call *call, int64_t *numbers) {
    for (int i = 0; i < self->n_reported; i++) {
        if (!gw_count_value(&self->reported[i], call->numbers, &numbers[i])) {
            return false;
        }
    }
    return true;
}

/* The word that the launch may report in; 0 for kernels without checks. False with an exception. */
static bool word_for(Launcher *self, const Call *call, GwCudaStream *stream, uint64_t *word) {
    *word = 0;
    if (self->n_reported == 0) {
        return true;
    }
    int64_t *numbers = PyMem_Malloc((size_t)self->n_reported * sizeof *numbers);
    if (numbers == NULL) {
        PyErr_NoMemory();
        return false;
    }
    bool good = reported_now(self, call, numbers)
                && gw_report_await(&self->report, self->messages, numbers, self->n_reported,
                                   stream);
    PyMem_Free(numbers);
    *word = good ? gw_report_word(self->report) : 0;
    return good;
}

static void take_random(const Launcher *self, Call *call) {
    if (self->rng_ops > 0) {
        GwPlace place;
        gw_take_places(call->generator, self->rng_ops, &place);
        call->numbers[self->n_symbols] = (GwNumber){(int64_t)place.seed, 0.0, false};
        call->numbers[self->n_symbols + 1] = (GwNumber){(int64_t)place.offset, 0.0, false};
    }
}

static PyObject *run_here(Launcher *self, Call *call) {
    GwCudaStream *stream = gw_cuda_current_stream(call->device);
    uint64_t word;
    if (stream == NULL || !check_mutated(self, call)) {
        return NULL;
    }
    PyObject *result = make_outputs(self, call);
    if (result == NULL || !word_for(self, call, stream, &word)) {
        Py_XDECREF(result);
        return NULL;
    }
    take_random(self, call);
    bool good = gw_program_launch(self->program, stream, call->buffers, call->numbers, word);
    for (int i = 0; i < self->n_mutated; i++) {
        ((GwTensor *)call->args[self->mutated[i]])->storage->version++;
    }
    if (!good) {
        Py_CLEAR(result);
    }
    return result;
}

static PyObject *run_call(Launcher *self, Call *call, PyObject *kwnames) {
    bool good = find_device(self, call) && read_inputs(self, call) && read_sizes(self, call)
                && check_limits(self, call);
    PyObject *result = !good ? NULL
                       : call->elsewhere ? PyObject_Vectorcall(self->otherwise, call->args,
                                                               (size_t)self->n_inputs, kwnames)
                       : run_here(self, call);
    Py_XDECREF(call->uploaded);
    return result;
}

/* The keyword argument of that name, or the launcher's own; NULL for other keywords. */
static PyObject *generator_of(const Launcher *self, PyObject *const *given, PyObject *kwnames) {
    if (kwnames == NULL || PyTuple_GET_SIZE(kwnames) == 0) {
        return self->generator;
    }
    bool good = PyTuple_GET_SIZE(kwnames) == 1
                && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "generator") == 0
                && PyObject_TypeCheck(given[0], &GwGenerator_Type);
    return good ? given[0] : NULL;
}

static PyObject *launcher_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                               PyObject *kwnames) {
    Launcher *self = (Launcher *)callable;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    PyObject *generator = generator_of(self, args + nargs, kwnames);
    if (nargs != self->n_inputs || generator == NULL) {
        return PyErr_Format(PyExc_TypeError, "a compiled graph takes %d positional arguments, and "
                            "perhaps a generator; got %zd", self->n_inputs, nargs);
    }
    int n_buffers = self->program->buffers;
    int n_numbers = self->program->scalars + self->program->derived;
    GwTensor *few_buffers[FEW_BUFFERS];
    GwNumber few_numbers[FEW_NUMBERS];
    Call call = {args, few_buffers, few_numbers, generator, NULL, -1, false};
    if (n_buffers > FEW_BUFFERS) {
        call.buffers = PyMem_Malloc((size_t)n_buffers * sizeof *call.buffers);
    }
    if (n_numbers > FEW_NUMBERS) {
        call.numbers = PyMem_Malloc((size_t)n_numbers * sizeof *call.numbers);
    }
    PyObject *result = NULL;
    if (call.buffers == NULL || call.numbers == NULL) {
        PyErr_NoMemory();
    } else {
        GwMark mark = {0, -1};
        if (GW_UNLIKELY(gw_profiling)) {
            mark = gw_span_begin(GW_SPAN_GRAPH, self->label);
        }
        result = run_call(self, &call, kwnames);
        if (GW_UNLIKELY(mark.index >= 0)) {
            gw_span_end(mark);
        }
    }
    if (call.buffers != few_buffers) {
        PyMem_Free(call.buffers);
    }
    if (call.numbers != few_numbers) {
        PyMem_Free(call.numbers);
    }
    return result;
}

/* ---- construction ---- */

static bool value_error(const char *what) {
    PyErr_Format(PyExc_ValueError, "CudaLauncher: %s", what);
    return false;
}

/* Zeroed room for each item of a tuple, and one more. */
static void *room_for(PyObject *tuple, size_t size, int *count) {
    *count = (int)PyTuple_GET_SIZE(tuple);
    void *room = PyMem_Calloc((size_t)*count + 1, size);
    if (room == NULL) {
        PyErr_NoMemory();
    }
    return room;
}

static int numbers_of(const Launcher *self) {
    return self->program->scalars + self->program->derived;
}

static bool read_layout(const Launcher *self, PyObject *counts, GwOperand *layout) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(counts); i++) {
        if (!gw_count_read(PyTuple_GET_ITEM(counts, i), numbers_of(self), &layout[i])) {
            return false;
        }
    }
    return true;
}

static bool read_output(const Launcher *self, PyObject *given, Output *output) {
    PyObject *dtype, *shape, *strides;
    if (!PyArg_ParseTuple(given, "OO!O!:an output", &dtype, &PyTuple_Type, &shape, &PyTuple_Type,
                          &strides)) {
        return false;
    }
    output->dtype = gw_dtype_code(dtype);
    output->ndim = (int)PyTuple_GET_SIZE(shape);
    if (output->dtype < 0) {
        return false;
    }
    if (output->ndim > GW_MAX_DIMS || PyTuple_GET_SIZE(strides) != output->ndim) {
        return value_error("an output has a stride for each of at most 32 dimensions");
    }
    output->layout = PyMem_Calloc((size_t)output->ndim * 2 + 1, sizeof *output->layout);
    if (output->layout == NULL) {
        PyErr_NoMemory();
        return false;
    }
    return read_layout(self, shape, output->layout)
           && read_layout(self, strides, output->layout + output->ndim);
}

static bool read_outputs(Launcher *self, PyObject *tuple) {
    self->outputs = room_for(tuple, sizeof *self->outputs, &self->n_outputs);
    for (int i = 0; self->outputs != NULL && i < self->n_outputs; i++) {
        if (!read_output(self, PyTuple_GET_ITEM(tuple, i), &self->outputs[i])) {
            return false;
        }
    }
    return self->outputs != NULL;
}

static bool read_symbols(Launcher *self, PyObject *tuple) {
    self->symbols = room_for(tuple, sizeof *self->symbols, &self->n_symbols);
    for (int i = 0; self->symbols != NULL && i < self->n_symbols; i++) {
        Symbol *symbol = &self->symbols[i];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(tuple, i), "ii:a symbol", &symbol->input,
                              &symbol->place)) {
            return false;
        }
        if (symbol->input < 0 || symbol->input >= self->n_inputs || symbol->place < -1
            || symbol->place >= 2 * GW_MAX_DIMS) {
            return value_error("a symbol names no input");
        }
    }
    return self->symbols != NULL;
}

static bool read_input_index(const Launcher *self, PyObject *given, int *index) {
    Py_ssize_t value = PyLong_AsSsize_t(given);
    if (value < 0 || value >= self->n_inputs) {
        return PyErr_Occurred() ? false : value_error("there is no input of that index");
    }
    *index = (int)value;
    return true;
}

static bool read_mutated(Launcher *self, PyObject *tuple) {
    self->mutated = room_for(tuple, sizeof *self->mutated, &self->n_mutated);
    for (int i = 0; self->mutated != NULL && i < self->n_mutated; i++) {
        if (!read_input_index(self, PyTuple_GET_ITEM(tuple, i), &self->mutated[i])) {
            return false;
        }
    }
    return self->mutated != NULL;
}

/* Of (input, whether its address has to be aligned). */
static bool read_uses(Launcher *self, PyObject *tuple) {
    self->uses = PyMem_Calloc((size_t)self->n_inputs + 1, sizeof *self->uses);
    if (self->uses == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *given;
        int index, aligned;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(tuple, i), "Op:an input", &given, &aligned)
            || !read_input_index(self, given, &index)) {
            return false;
        }
        self->uses[index] = aligned ? ALIGNED : TOUCHED;
    }
    return true;
}

static bool read_limits(Launcher *self, PyObject *tuple) {
    self->limits = room_for(tuple, sizeof *self->limits, &self->n_limits);
    for (int i = 0; self->limits != NULL && i < self->n_limits; i++) {
        PyObject *count;
        long long most;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(tuple, i), "OL:a limit", &count, &most)
            || !gw_count_read(count, numbers_of(self), &self->limits[i].value)) {
            return false;
        }
        self->limits[i].most = most;
    }
    return self->limits != NULL;
}

static bool add_reported(Launcher *self, PyObject *count) {
    GwOperand *grown = PyMem_Realloc(
        self->reported, (size_t)(self->n_reported + 1) * sizeof *grown);
    if (grown == NULL) {
        PyErr_NoMemory();
        return false;
    }
    self->reported = grown;
    return gw_count_read(count, numbers_of(self), &grown[self->n_reported++]);
}

/* Of (text, bound, sizes): the texts are kept, the numbers computed at each launch. */
static bool read_checks(Launcher *self, PyObject *tuple) {
    self->messages = PyTuple_New(PyTuple_GET_SIZE(tuple));
    for (Py_ssize_t i = 0; self->messages != NULL && i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *text, *bound, *sizes;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(tuple, i), "UOO!:a check", &text, &bound,
                              &PyTuple_Type, &sizes) || !add_reported(self, bound)) {
            return false;
        }
        for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(sizes); d++) {
            if (!add_reported(self, PyTuple_GET_ITEM(sizes, d))) {
                return false;
            }
        }
        PyObject *message = Py_BuildValue("On", text, PyTuple_GET_SIZE(sizes) + 1);
        if (message == NULL) {
            return false;
        }
        PyTuple_SET_ITEM(self->messages, i, message);
    }
    return self->messages != NULL;
}

static bool is_consistent(const Launcher *self) {
    if (self->program->buffers != self->n_inputs + self->n_outputs) {
        return value_error("the buffers of the program are the inputs and the outputs");
    }
    return self->program->scalars == self->n_symbols + (self->rng_ops > 0 ? 2 : 0)
           || value_error("the scalars of the program are the symbols, and of a random one the "
                          "seed and the offset");
}

static bool parse(Launcher *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"program", "n_inputs", "outputs", "symbols", "mutated", "touched",
                            "limits", "checks", "cls", "otherwise", "generator", "rng_ops", "device", "label",
                            NULL};
    PyObject *program, *outputs, *symbols, *mutated, *touched, *limits, *checks, *cls, *otherwise;
    PyObject *generator, *label = NULL;
    self->device = -1;
    if (PyTuple_GET_SIZE(args) > 0) {
        PyErr_SetString(PyExc_TypeError, "CudaLauncher takes keyword arguments only");
        return false;
    }
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O!iO!O!O!O!O!O!OOO!|KiU:CudaLauncher", names, &GwCudaProgram_Type,
            &program, &self->n_inputs, &PyTuple_Type, &outputs, &PyTuple_Type, &symbols,
            &PyTuple_Type, &mutated, &PyTuple_Type, &touched, &PyTuple_Type, &limits,
            &PyTuple_Type, &checks, &cls, &otherwise, &GwGenerator_Type, &generator, &self->rng_ops,
            &self->device, &label)) {
        return false;
    }
    if (self->n_inputs < 0 || self->device < -1 || self->device >= GW_CUDA_DEVICES) {
        return value_error("n_inputs and device are not negative");
    }
    self->program = (GwCudaProgram *)Py_NewRef(program);
    self->otherwise = Py_NewRef(otherwise);
    self->generator = Py_NewRef(generator);
    self->label = label != NULL ? Py_NewRef(label) : PyUnicode_FromString("graph");
    if (self->label == NULL || gw_tensor_class(cls) == NULL) {
        return false;
    }
    self->cls = (PyTypeObject *)Py_NewRef(cls);
    return read_outputs(self, outputs) && read_symbols(self, symbols)
           && read_mutated(self, mutated) && read_uses(self, touched)
           && read_limits(self, limits) && read_checks(self, checks) && is_consistent(self);
}

static PyObject *launcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    Launcher *self = (Launcher *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->vectorcall = launcher_call;
        if (!parse(self, args, kwargs)) {
            Py_CLEAR(self);
        }
    }
    return (PyObject *)self;
}

static int launcher_traverse(PyObject *object, visitproc visit, void *arg) {
    Launcher *self = (Launcher *)object;
    Py_VISIT(self->cls);
    Py_VISIT(self->otherwise);
    Py_VISIT(self->generator);
    return 0;
}

static int launcher_clear(PyObject *object) {
    Py_CLEAR(((Launcher *)object)->otherwise);
    return 0;
}

static void launcher_dealloc(PyObject *object) {
    Launcher *self = (Launcher *)object;
    PyObject_GC_UnTrack(object);
    if (self->report != NULL) {
        gw_report_forget(&self->report);
    }
    for (int i = 0; self->outputs != NULL && i < self->n_outputs; i++) {
        PyMem_Free(self->outputs[i].layout);
    }
    PyMem_Free(self->outputs);
    PyMem_Free(self->symbols);
    PyMem_Free(self->mutated);
    PyMem_Free(self->limits);
    PyMem_Free(self->uses);
    PyMem_Free(self->reported);
    Py_XDECREF(self->program);
    Py_XDECREF(self->cls);
    Py_XDECREF(self->otherwise);
    Py_XDECREF(self->generator);
    Py_XDECREF(self->label);
    Py_XDECREF(self->messages);
    Py_TYPE(object)->tp_free(object);
}

static PyMemberDef launcher_members[] = {
    {"n_inputs", T_INT, offsetof(Launcher, n_inputs), READONLY, "Arguments of a call."},
    {"n_outputs", T_INT, offsetof(Launcher, n_outputs), READONLY, "Tensors it returns."},
    {"program", T_OBJECT, offsetof(Launcher, program), READONLY, "What it launches."},
    {"label", T_OBJECT, offsetof(Launcher, label), READONLY, "What profiles call it."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject GwCudaLauncher_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.CudaLauncher",
    .tp_doc = "A compiled graph of a GPU as a callable of its inputs.",
    .tp_basicsize = sizeof(Launcher),
    .tp_new = launcher_new,
    .tp_dealloc = launcher_dealloc,
    .tp_traverse = launcher_traverse,
    .tp_clear = launcher_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Launcher, vectorcall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_members = launcher_members,
};
