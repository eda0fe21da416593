/* Size: the sizes of a tensor, a tuple that knows its product. Slices, sums and multiples of Sizes
 * are Sizes too. */
#include "core.h"

/* Sizes of few dims are kept here when they end, as Python keeps its tuples. */
enum { CACHED_DIMS = GW_INLINE_DIMS, CACHE = 64 };
static PyObject *cache[CACHED_DIMS + 1][CACHE];
static int cached[CACHED_DIMS + 1];

/* Without items. It holds nothing but numbers, so the collector need not know it. */
static PyObject *blank(Py_ssize_t n) {
    PyTupleObject *size;
    if (n <= CACHED_DIMS && cached[n] > 0) {
        size = (PyTupleObject *)cache[n][--cached[n]];
        PyObject_InitVar((PyVarObject *)size, &GwSize_Type, n);
    } else {
        size = PyObject_GC_NewVar(PyTupleObject, &GwSize_Type, n);
    }
    if (size != NULL) {
        memset(size->ob_item, 0, (size_t)n * sizeof *size->ob_item);
    }
    return (PyObject *)size;
}

static void size_dealloc(PyObject *self) {
    Py_ssize_t n = PyTuple_GET_SIZE(self);
    PyObject_GC_UnTrack(self);
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_XDECREF(PyTuple_GET_ITEM(self, i));
    }
    if (n <= CACHED_DIMS && cached[n] < CACHE) {
        cache[n][cached[n]++] = self;
    } else {
        PyObject_GC_Del(self);
    }
}

/* Takes over the reference. */
static PyObject *from_tuple(PyObject *tuple) {
    if (tuple == NULL || !PyTuple_Check(tuple)) {
        return tuple;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    PyObject *size = blank(n);
    for (Py_ssize_t i = 0; size != NULL && i < n; i++) {
        PyTuple_SET_ITEM(size, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
    }
    Py_DECREF(tuple);
    return size;
}

PyObject *gw_size_new(const int64_t *values, int n) {
    PyObject *size = blank(n);
    for (int i = 0; size != NULL && i < n; i++) {
        PyObject *value = PyLong_FromLongLong(values[i]);
        if (value == NULL) {
            Py_CLEAR(size);
            break;
        }
        PyTuple_SET_ITEM(size, i, value);
    }
    return size;
}

PyObject *gw_size_of(PyObject *sequence) {
    return Py_IS_TYPE(sequence, &GwSize_Type) ? Py_NewRef(sequence)
                                              : from_tuple(PySequence_Tuple(sequence));
}

/* An int as it is, what stands for one while tracing (a SymInt) too, other integers as ints. */
static PyObject *size_item(PyObject *item, Py_ssize_t position) {
    if (PyLong_CheckExact(item) || PyObject_HasAttrString((PyObject *)Py_TYPE(item), "expr")) {
        return Py_NewRef(item);
    }
    if (!PyIndex_Check(item)) {
        return PyErr_Format(PyExc_TypeError,
                            "graphwright.Size() takes an iterable of 'int' (item %zd is '%s')",
                            position, Py_TYPE(item)->tp_name);
    }
    return PyNumber_Index(item);
}

static PyObject *size_make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    GW_UNUSED(type);
    PyObject *items = PyTuple_Type.tp_new(&PyTuple_Type, args, kwargs);
    PyObject *size = items == NULL ? NULL : blank(PyTuple_GET_SIZE(items));
    for (Py_ssize_t i = 0; size != NULL && i < PyTuple_GET_SIZE(items); i++) {
        PyObject *value = size_item(PyTuple_GET_ITEM(items, i), i);
        if (value == NULL) {
            Py_CLEAR(size);
            break;
        }
        PyTuple_SET_ITEM(size, i, value);
    }
    Py_XDECREF(items);
    return size;
}

/* What the package is called in reprs; NULL: "graphwright". */
static PyObject *root;

static PyObject *size_set_root(PyObject *type, PyObject *name) {
    GW_UNUSED(type);
    if (!PyUnicode_Check(name)) {
        return PyErr_Format(PyExc_TypeError, "the package's name must be a str, not %s",
                            Py_TYPE(name)->tp_name);
    }
    Py_XSETREF(root, Py_NewRef(name));
    Py_RETURN_NONE;
}

static PyObject *size_repr(PyObject *self) {
    PyObject *list = PySequence_List(self);
    if (list == NULL) {
        return NULL;
    }
    PyObject *text = root == NULL ? PyUnicode_FromFormat("graphwright.Size(%R)", list)
                                  : PyUnicode_FromFormat("%U.Size(%R)", root, list);
    Py_DECREF(list);
    return text;
}

static PyObject *size_add(PyObject *left, PyObject *right) {
    if (!PyTuple_Check(left) || !PyTuple_Check(right)) {
        PyObject *other = PyTuple_Check(left) ? right : left;
        return PyErr_Format(PyExc_TypeError,
                            "can only concatenate tuple (not \"%s\") to graphwright.Size",
                            Py_TYPE(other)->tp_name);
    }
    return from_tuple(PySequence_Concat(left, right));
}

static PyObject *size_repeat(PyObject *self, Py_ssize_t count) {
    return from_tuple(PyTuple_Type.tp_as_sequence->sq_repeat(self, count));
}

static PyObject *size_subscript(PyObject *self, PyObject *index) {
    PyObject *found = PyTuple_Type.tp_as_mapping->mp_subscript(self, index);
    return PySlice_Check(index) ? from_tuple(found) : found;
}

static PyObject *size_numel(PyObject *self, PyObject *unused) {
    GW_UNUSED(unused);
    PyObject *product = PyLong_FromLong(1);
    for (Py_ssize_t i = 0; product != NULL && i < PyTuple_GET_SIZE(self); i++) {
        Py_SETREF(product, PyNumber_Multiply(product, PyTuple_GET_ITEM(self, i)));
    }
    return product;
}

static PyObject *size_reduce(PyObject *self, PyObject *unused) {
    GW_UNUSED(unused);
    PyObject *items = PyTuple_GetSlice(self, 0, PyTuple_GET_SIZE(self));
    return items == NULL ? NULL : Py_BuildValue("O(N)", Py_TYPE(self), items);
}

static PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS,
     "numel(): the number of elements of a tensor of these sizes; 1 without dims."},
    {"__reduce__", size_reduce, METH_NOARGS, "How to pickle it."},
    {"_set_root", size_set_root, METH_O | METH_CLASS, "What reprs call the package."},
    {NULL, NULL, 0, NULL},
};

static PyNumberMethods size_as_number = {.nb_add = size_add};
static PySequenceMethods size_as_sequence = {.sq_repeat = size_repeat};
static PyMappingMethods size_as_mapping = {.mp_subscript = size_subscript};

PyTypeObject GwSize_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.Size",
    .tp_doc = "Size(iterable=()): the sizes of a tensor, a tuple of ints that knows its product; "
              "slices, sums and multiples are Sizes too.",
    .tp_base = &PyTuple_Type,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = size_make,
    .tp_dealloc = size_dealloc,
    .tp_repr = size_repr,
    .tp_as_number = &size_as_number,
    .tp_as_sequence = &size_as_sequence,
    .tp_as_mapping = &size_as_mapping,
    .tp_methods = size_methods,
};
