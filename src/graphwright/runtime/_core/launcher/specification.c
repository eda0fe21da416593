/* What a Launcher is made from: its arguments, checked. */
#include "launcher.h"

#include <string.h>

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

static bool parse_stages(Launcher *self, PyObject *stages, PyObject *blocks) {
    self->stages.n_inputs = self->n_inputs;
    self->stages.n_outputs = self->n_outputs;
    return gw_parse_stages(&self->stages, stages, blocks);
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

bool gw_parse_launcher(Launcher *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"run", "shapes", "keepalive", "n_inputs", "outputs", "arena_bytes",
                            "symbols", "rng_ops", "mutated", "messages", "cls", "release_gil",
                            "single", "constants", "label", "blas", "weights", "weight_class",
                            "stages", "blocks", NULL};
    unsigned long long run, shapes;
    long long arena_bytes;
    int release_gil, single = 0, blas = 1;
    PyObject *keepalive, *outputs, *symbols, *mutated, *messages, *cls, *constants = NULL;
    PyObject *label = NULL, *weights = NULL, *weight_class = NULL, *stages = NULL, *blocks = NULL;
    if (PyTuple_GET_SIZE(args) > 0) {
        PyErr_SetString(PyExc_TypeError, "Launcher takes keyword arguments only");
        return false;
    }
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KKOnO!LO!KO!OOp|pOUpO!O!O!O!:Launcher",
                                     names, &run, &shapes, &keepalive, &self->n_inputs, &PyList_Type, &outputs,
                                     &arena_bytes, &PyList_Type, &symbols, &self->rng_ops,
                                     &PyList_Type, &mutated, &messages, &cls, &release_gil,
                                     &single, &constants, &label, &blas, &PyList_Type, &weights,
                                     &PyType_Type, &weight_class, &PyList_Type, &stages,
                                     &PyList_Type, &blocks)) {
        return false;
    }
    if (run == 0 || self->n_inputs < 0) {
        return value_error("run must be an address, n_inputs not negative");
    }
    if ((stages == NULL) != (blocks == NULL)) {
        return value_error("stages and blocks come together");
    }
    if (stages != NULL && PyList_GET_SIZE(stages) > 0 && weights != NULL
        && PyList_GET_SIZE(weights) > 0) {
        return value_error("it has stages or weights, not both: stages free inputs during a call, "
                           "and weights are inputs that are read after it");
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
           && gw_read_weight_inputs(weights, weight_class, self->n_inputs, &self->weights)
           && (stages == NULL || parse_stages(self, stages, blocks));
}
