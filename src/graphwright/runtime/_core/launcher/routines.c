/* The table of routines, and a way to call one on arrays. */
#include "routines.h"
#include "channels_last.h"

const gw_routine gw_routines[GW_ROUTINES] = {
    [GW_ROUTINE_ATTENTION] = gw_attention_routine,
    [GW_ROUTINE_ATTENTION_BACKWARD] = gw_attention_backward_routine,
    [GW_ROUTINE_RECURRENCE] = gw_recurrence_routine,
    [GW_ROUTINE_RECURRENCE_BACKWARD] = gw_recurrence_backward_routine,
    [GW_ROUTINE_CONVOLUTION] = gw_convolution_routine,
};

static const char *const NAMES[GW_ROUTINES] = {
    [GW_ROUTINE_ATTENTION] = "attention",
    [GW_ROUTINE_ATTENTION_BACKWARD] = "attention_backward",
    [GW_ROUTINE_RECURRENCE] = "recurrence",
    [GW_ROUTINE_RECURRENCE_BACKWARD] = "recurrence_backward",
    [GW_ROUTINE_CONVOLUTION] = "convolution",
};

int gw_add_routine_names(PyObject *module) {
    PyObject *names = PyDict_New();
    int failed = names == NULL ? -1 : 0;
    for (int i = 0; failed == 0 && i < GW_ROUTINES; i++) {
        PyObject *number = PyLong_FromLong(i);
        failed = number == NULL ? -1 : PyDict_SetItemString(names, NAMES[i], number);
        Py_XDECREF(number);
    }
    failed = failed == 0 ? PyModule_AddObjectRef(module, "ROUTINES", names) : failed;
    Py_XDECREF(names);
    return failed;
}

/* The memory of arrays, NULL for None. */
static bool read_arrays(PyObject *sequence, void **arrays, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *array = PyTuple_GET_ITEM(sequence, i);
        if (array != Py_None && !PyArray_Check(array)) {
            PyErr_SetString(PyExc_TypeError, "a routine takes arrays or None");
            return false;
        }
        arrays[i] = array == Py_None ? NULL : PyArray_DATA((PyArrayObject *)array);
    }
    return true;
}

static bool read_sizes(PyObject *sequence, int64_t *sizes, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        sizes[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(sequence, i));
    }
    return !PyErr_Occurred();
}

static bool read_numbers(PyObject *sequence, double *numbers, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        numbers[i] = PyFloat_AsDouble(PyTuple_GET_ITEM(sequence, i));
    }
    return !PyErr_Occurred();
}

static PyObject *call_routine(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    Py_ssize_t number;
    PyObject *arrays, *sizes, *numbers;
    if (!PyArg_ParseTuple(args, "nO!O!O!", &number, &PyTuple_Type, &arrays, &PyTuple_Type, &sizes,
                          &PyTuple_Type, &numbers)) {
        return NULL;
    }
    if (number < 0 || number >= GW_ROUTINES) {
        return PyErr_Format(PyExc_ValueError, "there is no routine %zd", number);
    }
    Py_ssize_t count = PyTuple_GET_SIZE(arrays);
    void **memory = PyMem_New(void *, count + 1);
    int64_t *ints = PyMem_New(int64_t, PyTuple_GET_SIZE(sizes) + 1);
    double *floats = PyMem_New(double, PyTuple_GET_SIZE(numbers) + 1);
    int32_t code = GW_NO_MEMORY;
    if (memory != NULL && ints != NULL && floats != NULL && read_arrays(arrays, memory, count)
        && read_sizes(sizes, ints, PyTuple_GET_SIZE(sizes))
        && read_numbers(numbers, floats, PyTuple_GET_SIZE(numbers))) {
        gw_ctx ctx;
        gw_context(&ctx);
        Py_BEGIN_ALLOW_THREADS
        code = gw_routines[number](&ctx, memory, ints, floats, NULL);
        Py_END_ALLOW_THREADS
    }
    PyMem_Free(memory);
    PyMem_Free(ints);
    PyMem_Free(floats);
    if (PyErr_Occurred()) {
        return NULL;
    }
    return code == GW_OK ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

PyMethodDef gw_routine_methods[] = {
    {"call_routine", call_routine, METH_VARARGS,
     "call_routine(number, arrays, sizes, numbers): run a routine of compiled code on arrays of\n"
     "the dtypes, sizes and strides that it expects, which is not checked. Arrays may be None."},
    {NULL, NULL, 0, NULL},
};
