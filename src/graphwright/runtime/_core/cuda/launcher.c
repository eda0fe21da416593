/* `CudaLauncher`: a compiled graph of a GPU as a callable. A call reads the sizes of the inputs,
 * allocates the outputs, and puts the launches of its program into the current stream; it waits
 * for nothing. What the kernels do not hold for (addresses or sizes that are no multiples of 16,
 * sizes past 32 bits) goes to another launcher, or to a callable of Python. */
#include "launcher.h"
#include "blocks.h"
#include "generator.h"
#include "profiling.h"
#include "write_checks.h"

#include <stddef.h>
#include <structmember.h>

enum { FEW_BUFFERS = 64, FEW_NUMBERS = 64 };

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

static bool find_device(const GwCudaLauncher *self, Call *call) {
    call->device = self->device;
    for (int i = 0; i < self->n_inputs; i++) {
        PyObject *arg = call->args[i];
        if (!gw_is_tensor(arg)) {
            if (self->uses[i] != GW_UNUSED_INPUT) {
                return bad_input(i, "should be a Tensor");
            }
            if (!PyLong_Check(arg)) {
                return bad_input(i, "is neither a Tensor nor an int");
            }
            continue;
        }
        const GwTensor *t = (GwTensor *)arg;
        if (self->uses[i] == GW_UNUSED_INPUT) {
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
static GwTensor *uploaded(const GwCudaLauncher *self, Call *call, GwTensor *number) {
    if (call->uploaded == NULL && (call->uploaded = PyList_New(0)) == NULL) {
        return NULL;
    }
    GwTensor *copy = gw_cuda_tensor_empty(self->cls, number->dtype, 0, NULL, NULL, call->device);
    bool good = copy != NULL && gw_cuda_upload(copy, number)
                && PyList_Append(call->uploaded, (PyObject *)copy) == 0;
    Py_XDECREF(copy);
    return good ? copy : NULL;
}

static bool read_inputs(const GwCudaLauncher *self, Call *call) {
    for (int i = 0; i < self->n_inputs; i++) {
        PyObject *arg = call->args[i];
        if (!gw_is_tensor(arg) || self->uses[i] == GW_UNUSED_INPUT) {
            continue;
        }
        GwTensor *t = (GwTensor *)arg;
        if (!gw_on_gpu(t) && (t = uploaded(self, call, t)) == NULL) {
            return false;
        }
        call->buffers[i] = t;
        if (self->uses[i] == GW_ALIGNED && gw_cuda_address(t) % GW_ALIGNMENT != 0) {
            call->elsewhere = true;
        }
    }
    return true;
}

static bool read_sizes(const GwCudaLauncher *self, Call *call) {
    for (int i = 0; i < self->n_symbols; i++) {
        const GwSymbol *symbol = &self->symbols[i];
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

static bool check_limits(const GwCudaLauncher *self, Call *call) {
    for (int i = 0; i < self->n_limits; i++) {
        int64_t value;
        if (!gw_count_value(&self->limits[i].value, call->numbers, &value)) {
            return false;
        }
        call->elsewhere = call->elsewhere || value >= self->limits[i].most;
    }
    return true;
}

static bool check_mutated(const GwCudaLauncher *self, const Call *call) {
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

static GwTensor *make_output(const GwCudaLauncher *self, const Call *call,
                             const GwOutput *output) {
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

static PyObject *make_outputs(const GwCudaLauncher *self, Call *call) {
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

static bool reported_now(const GwCudaLauncher *self, const Call *call, int64_t *numbers) {
    for (int i = 0; i < self->n_reported; i++) {
        if (!gw_count_value(&self->reported[i], call->numbers, &numbers[i])) {
            return false;
        }
    }
    return true;
}

/* The word that the launch may report in; 0 without checks. False with an exception. */
static bool word_for(GwCudaLauncher *self, const Call *call, GwCudaStream *stream,
                     uint64_t *word) {
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

static void take_random(const GwCudaLauncher *self, Call *call) {
    if (self->rng_ops > 0) {
        GwPlace place;
        gw_take_places(call->generator, self->rng_ops, &place);
        call->numbers[self->n_symbols] = (GwNumber){(int64_t)place.seed, 0.0, false};
        call->numbers[self->n_symbols + 1] = (GwNumber){(int64_t)place.offset, 0.0, false};
    }
}

static PyObject *run_here(GwCudaLauncher *self, Call *call) {
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

static PyObject *run_elsewhere(const GwCudaLauncher *self, const Call *call, PyObject *kwnames) {
    if (self->otherwise == NULL) {      /* in a cycle that is collected */
        PyErr_SetString(PyExc_RuntimeError, "the compiled graph is no more");
        return NULL;
    }
    if (Py_EnterRecursiveCall(" in a compiled graph")) {
        return NULL;
    }
    PyObject *otherwise = Py_NewRef(self->otherwise);       /* which the call may replace */
    PyObject *result = PyObject_Vectorcall(otherwise, call->args, (size_t)self->n_inputs, kwnames);
    Py_DECREF(otherwise);
    Py_LeaveRecursiveCall();
    return result;
}

static PyObject *run_call(GwCudaLauncher *self, Call *call, PyObject *kwnames) {
    bool good = find_device(self, call) && read_inputs(self, call) && read_sizes(self, call)
                && check_limits(self, call);
    PyObject *result = !good ? NULL
                       : call->elsewhere ? run_elsewhere(self, call, kwnames)
                       : run_here(self, call);
    Py_XDECREF(call->uploaded);
    return result;
}

/* The keyword argument of that name, or the launcher's own; NULL for other keywords. */
static PyObject *generator_of(const GwCudaLauncher *self, PyObject *const *given,
                              PyObject *kwnames) {
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
    GwCudaLauncher *self = (GwCudaLauncher *)callable;
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

/* ---- Python ---- */

static PyObject *launcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    GwCudaLauncher *self = (GwCudaLauncher *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->vectorcall = launcher_call;
        if (!gw_launcher_read(self, args, kwargs)) {
            Py_CLEAR(self);
        }
    }
    return (PyObject *)self;
}

static int launcher_traverse(PyObject *object, visitproc visit, void *arg) {
    GwCudaLauncher *self = (GwCudaLauncher *)object;
    Py_VISIT(self->cls);
    Py_VISIT(self->otherwise);
    Py_VISIT(self->generator);
    return 0;
}

static int launcher_clear(PyObject *object) {
    Py_CLEAR(((GwCudaLauncher *)object)->otherwise);
    return 0;
}

static void launcher_dealloc(PyObject *object) {
    PyObject_GC_UnTrack(object);
    gw_launcher_clear((GwCudaLauncher *)object);
    Py_TYPE(object)->tp_free(object);
}

static PyMemberDef launcher_members[] = {
    {"n_inputs", T_INT, offsetof(GwCudaLauncher, n_inputs), READONLY, "Arguments of a call."},
    {"n_outputs", T_INT, offsetof(GwCudaLauncher, n_outputs), READONLY, "Tensors it returns."},
    {"program", T_OBJECT, offsetof(GwCudaLauncher, program), READONLY, "What it launches."},
    {"label", T_OBJECT, offsetof(GwCudaLauncher, label), READONLY, "What profiles call it."},
    {"otherwise", T_OBJECT, offsetof(GwCudaLauncher, otherwise), 0, "Runs what it does not."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject GwCudaLauncher_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.CudaLauncher",
    .tp_doc = "A compiled graph of a GPU as a callable of its inputs.",
    .tp_basicsize = sizeof(GwCudaLauncher),
    .tp_new = launcher_new,
    .tp_dealloc = launcher_dealloc,
    .tp_traverse = launcher_traverse,
    .tp_clear = launcher_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(GwCudaLauncher, vectorcall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_members = launcher_members,
};
