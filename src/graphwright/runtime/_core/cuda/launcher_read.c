/* The Python description of a launcher, read once. */
#include "launcher.h"
#include "generator.h"

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

static int numbers_of(const GwCudaLauncher *self) {
    return self->program->scalars + self->program->derived;
}

static bool read_layout(const GwCudaLauncher *self, PyObject *counts, GwOperand *layout) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(counts); i++) {
        if (!gw_count_read(PyTuple_GET_ITEM(counts, i), numbers_of(self), &layout[i])) {
            return false;
        }
    }
    return true;
}

static bool read_output(const GwCudaLauncher *self, PyObject *given, GwOutput *output) {
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

static bool read_outputs(GwCudaLauncher *self, PyObject *tuple) {
    self->outputs = room_for(tuple, sizeof *self->outputs, &self->n_outputs);
    for (int i = 0; self->outputs != NULL && i < self->n_outputs; i++) {
        if (!read_output(self, PyTuple_GET_ITEM(tuple, i), &self->outputs[i])) {
            return false;
        }
    }
    return self->outputs != NULL;
}

static bool read_symbols(GwCudaLauncher *self, PyObject *tuple) {
    self->symbols = room_for(tuple, sizeof *self->symbols, &self->n_symbols);
    for (int i = 0; self->symbols != NULL && i < self->n_symbols; i++) {
        GwSymbol *symbol = &self->symbols[i];
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

static bool read_input_index(const GwCudaLauncher *self, PyObject *given, int *index) {
    Py_ssize_t value = PyLong_AsSsize_t(given);
    if (value < 0 || value >= self->n_inputs) {
        return PyErr_Occurred() ? false : value_error("there is no input of that index");
    }
    *index = (int)value;
    return true;
}

static bool read_mutated(GwCudaLauncher *self, PyObject *tuple) {
    self->mutated = room_for(tuple, sizeof *self->mutated, &self->n_mutated);
    for (int i = 0; self->mutated != NULL && i < self->n_mutated; i++) {
        if (!read_input_index(self, PyTuple_GET_ITEM(tuple, i), &self->mutated[i])) {
            return false;
        }
    }
    return self->mutated != NULL;
}

/* Of (input, whether its address has to be aligned). */
static bool read_uses(GwCudaLauncher *self, PyObject *tuple) {
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
        self->uses[index] = aligned ? GW_ALIGNED : GW_TOUCHED;
    }
    return true;
}

static bool read_limits(GwCudaLauncher *self, PyObject *tuple) {
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

static bool add_reported(GwCudaLauncher *self, PyObject *count) {
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
static bool read_checks(GwCudaLauncher *self, PyObject *tuple) {
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

static bool is_consistent(const GwCudaLauncher *self) {
    if (self->program->buffers != self->n_inputs + self->n_outputs) {
        return value_error("the buffers of the program are the inputs and the outputs");
    }
    return self->program->scalars == self->n_symbols + (self->rng_ops > 0 ? 2 : 0)
           || value_error("the scalars of the program are the symbols, and of a random one the "
                          "seed and the offset");
}

bool gw_launcher_read(GwCudaLauncher *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"program", "n_inputs", "outputs", "symbols", "mutated", "touched",
                            "limits", "checks", "cls", "otherwise", "generator", "rng_ops",
                            "device", "label", NULL};
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
            &PyTuple_Type, &checks, &cls, &otherwise, &GwGenerator_Type, &generator,
            &self->rng_ops, &self->device, &label)) {
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

void gw_launcher_clear(GwCudaLauncher *self) {
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
}
