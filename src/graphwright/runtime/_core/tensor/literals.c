/* Tensors of Python's numbers, alone or in nested lists: few elements, all of them plain. */
#include "arguments.h"

enum { LARGEST = 1024, WIDEST = 8 };    /* elements; bytes of each */

typedef struct {
    int ndim;
    int64_t sizes[GW_MAX_DIMS], numel;
    bool whole, fraction, truth;        /* there is an int, a float, a bool */
    int of_tensors;                     /* the dtype of those without dims, or -1 */
    int dtype;
    char elements[LARGEST * WIDEST], *end;
} Literal;

static bool is_sequence(PyObject *o) {
    return PyList_CheckExact(o) || PyTuple_CheckExact(o) || Py_TYPE(o) == &GwSize_Type;
}

/* The shape by the first item of each sequence; false where that is too much. */
static bool read_shape(Literal *l, PyObject *data) {
    l->numel = 1;
    for (l->ndim = 0; is_sequence(data); l->ndim++) {
        Py_ssize_t n = PySequence_Fast_GET_SIZE(data);
        if (l->ndim == GW_MAX_DIMS || n > LARGEST) {
            return false;
        }
        l->sizes[l->ndim] = n;
        l->numel *= n;
        if (n == 0 || l->numel > LARGEST) {
            l->ndim++;
            return n == 0;
        }
        data = PySequence_Fast_GET_ITEM(data, 0);
    }
    return true;
}

/* Whether it is a number too, of the same dtype as those before it. */
static bool read_tensor_kind(Literal *l, PyObject *data) {
    const GwTensor *t = gw_plain_tensor(data);
    if (t == NULL || t->ndim != 0 || l->ndim == 0 || gw_dispatch_flags(&data, 1) != 0) {
        return false;
    }
    bool fits = l->of_tensors < 0 || l->of_tensors == t->dtype;
    l->of_tensors = t->dtype;
    return fits;
}

/* Whether all sequences of level `d` fit the shape and hold plain numbers, whose kinds are kept. */
static bool read_kinds(Literal *l, PyObject *data, int d) {
    if (d == l->ndim) {
        if (gw_is_tensor(data)) {
            return read_tensor_kind(l, data);
        }
        l->whole = l->whole || PyLong_CheckExact(data);
        l->fraction = l->fraction || PyFloat_CheckExact(data);
        l->truth = l->truth || PyBool_Check(data);
        return PyLong_CheckExact(data) || PyFloat_CheckExact(data) || PyBool_Check(data);
    }
    bool fits = is_sequence(data) && PySequence_Fast_GET_SIZE(data) == l->sizes[d];
    for (Py_ssize_t i = 0; fits && i < l->sizes[d]; i++) {
        fits = read_kinds(l, PySequence_Fast_GET_ITEM(data, i), d + 1);
    }
    return fits;
}

/* Writes the numbers; false where one does not plainly fit the dtype. */
static bool read_numbers(Literal *l, PyObject *data, int d) {
    if (d == l->ndim) {
        char bytes[16];
        int size = gw_dtypes[l->dtype].itemsize;
        bool fits = l->of_tensors >= 0 || gw_element(data, l->dtype, bytes);
        memcpy(l->end, l->of_tensors >= 0 ? ((const GwTensor *)data)->data : bytes, (size_t)size);
        l->end += size;
        return fits;
    }
    bool fits = true;
    for (Py_ssize_t i = 0; fits && i < l->sizes[d]; i++) {
        fits = read_numbers(l, PySequence_Fast_GET_ITEM(data, i), d + 1);
    }
    return fits;
}

/* None where the data or the dtype is not plain. Nothing runs Python's code before the last number
 * is read, so that the sequences stay as they are. */
static PyObject *literal(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (nargs != 3) {
        PyErr_Format(PyExc_TypeError, "literal(cls, data, dtype) got %zd arguments", nargs);
        return NULL;
    }
    PyTypeObject *cls = gw_tensor_class(args[0]);
    Literal l;
    l.whole = l.fraction = l.truth = false;
    l.of_tensors = -1;
    l.end = l.elements;
    if (cls == NULL) {
        return NULL;
    }
    if (!read_shape(&l, args[1]) || !read_kinds(&l, args[1], 0)) {
        Py_RETURN_NONE;
    }
    int own = l.fraction || l.numel == 0 ? gw_default_dtype() : l.whole ? GW_INT64 : GW_BOOL;
    if (l.of_tensors >= 0) {
        if (l.whole || l.fraction || l.truth) {
            Py_RETURN_NONE;
        }
        own = l.of_tensors;
    }
    l.dtype = gw_plain_dtype(args[2], own);
    if (l.of_tensors >= 0 && l.dtype != own) {
        Py_RETURN_NONE;
    }
    if (l.dtype < 0 || gw_dtypes[l.dtype].itemsize > WIDEST || !read_numbers(&l, args[1], 0)) {
        Py_RETURN_NONE;
    }
    GwTensor *out = gw_tensor_empty(cls, l.dtype, l.ndim, l.sizes, NULL);
    if (out != NULL && l.numel > 0) {
        memcpy(out->data, l.elements, (size_t)(l.end - l.elements));
    }
    return (PyObject *)out;
}

PyMethodDef gw_literal_methods[] = {
    {"literal", (PyCFunction)(void (*)(void))literal, METH_FASTCALL,
     "literal(cls, data, dtype): a tensor of a bool, int or float, or of nested lists of them, or of "
     "tensors without dims and of one dtype, of "
     "the dtype or (None) of the one that these have. None where there are many or others, or they "
     "do not fit the dtype."},
    {NULL, NULL, 0, NULL},
};
