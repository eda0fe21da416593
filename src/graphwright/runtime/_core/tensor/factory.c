/* Making tensors: over new memory, over an array's memory, without data. */
#include "layout.h"
#include "packs.h"

static PyObject *too_large(void) {
    PyErr_SetString(PyExc_RuntimeError, "the tensor's size in bytes does not fit in 63 bits");
    return NULL;
}

GwTensor *gw_tensor_unfilled(PyTypeObject *cls, int dtype, int ndim, const int64_t *sizes,
                             const int64_t *strides) {
    GwTensor *t = gw_tensor_alloc(cls, ndim);
    if (t == NULL) {
        return NULL;
    }
    for (int i = 0; i < ndim; i++) {
        t->sizes[i] = sizes[i];
    }
    int64_t elements, nbytes;
    if (strides == NULL) {
        elements = gw_contiguous(sizes, ndim, t->strides);
    } else {
        for (int i = 0; i < ndim; i++) {
            t->strides[i] = strides[i];
        }
        elements = gw_extent(sizes, strides, ndim);
    }
    if (elements < 0
        || __builtin_mul_overflow(elements, (int64_t)gw_dtypes[dtype].itemsize, &nbytes)) {
        Py_DECREF(t);
        return (GwTensor *)too_large();
    }
    t->storage = gw_storage_meta();
    if (t->storage == NULL) {
        Py_DECREF(t);
        return NULL;
    }
    t->storage->nbytes = nbytes;
    t->dtype = (int8_t)dtype;
    t->device_index = -1;
    if (strides == NULL) {
        t->numel = elements;
        t->flags = GW_CONTIGUOUS;
    } else if (!gw_tensor_seal(t)) {
        Py_CLEAR(t);
    }
    return t;
}

GwTensor *gw_tensor_empty(PyTypeObject *cls, int dtype, int ndim, const int64_t *sizes,
                          const int64_t *strides) {
    GwTensor *t = gw_tensor_unfilled(cls, dtype, ndim, sizes, strides);
    if (t != NULL && !gw_storage_fill(t->storage)) {
        Py_CLEAR(t);
    }
    if (t != NULL) {
        t->data = t->storage->data;
    }
    return t;
}

static PyObject *empty(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    int64_t sizes[GW_MAX_DIMS];
    if (!gw_expect_args(nargs, 3, "empty(cls, shape, dtype)")) {
        return NULL;
    }
    PyTypeObject *cls = gw_tensor_class(args[0]);
    int ndim = cls == NULL ? -1 : gw_read_ints(args[1], sizes, NULL);
    int dtype = ndim < 0 ? -1 : gw_dtype_code(args[2]);
    return dtype < 0 ? NULL : (PyObject *)gw_tensor_empty(cls, dtype, ndim, sizes, NULL);
}

static PyObject *empty_strided(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS];
    if (!gw_expect_args(nargs, 4, "empty_strided(cls, shape, strides, dtype)")) {
        return NULL;
    }
    PyTypeObject *cls = gw_tensor_class(args[0]);
    int ndim = cls == NULL ? -1 : gw_read_ints(args[1], sizes, NULL);
    int n = ndim < 0 ? -1 : gw_read_ints(args[2], strides, NULL);
    int dtype = n < 0 ? -1 : gw_dtype_code(args[3]);
    if (dtype < 0) {
        return NULL;
    }
    return n != ndim ? gw_not_strided()
                     : (PyObject *)gw_tensor_empty(cls, dtype, ndim, sizes, strides);
}

/* ---- over an array ---- */

static bool same_dtype(PyArrayObject *array, int dtype) {
    PyArray_Descr *have = PyArray_DESCR(array), *want = gw_dtypes[dtype].descr;
    if (have == want) {
        return true;
    }
    if (PyArray_EquivTypes(have, want)) {
        return true;
    }
    PyErr_Format(PyExc_TypeError, "an array of %R is no memory for %R", have,
                 gw_dtypes[dtype].object);
    return false;
}

/* Fills sizes and strides (in elements); false with ValueError if they cannot be expressed. */
static bool array_layout(PyArrayObject *array, GwTensor *t, int itemsize) {
    const npy_intp *dims = PyArray_DIMS(array), *steps = PyArray_STRIDES(array);
    for (int i = 0; i < t->ndim; i++) {
        t->sizes[i] = dims[i];
    }
    gw_contiguous(t->sizes, t->ndim, t->strides);
    if (PyArray_IS_C_CONTIGUOUS(array)) {
        return true;
    }
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (dims[i] == 1) {
            t->strides[i] = i + 1 < t->ndim ? t->strides[i + 1] * t->sizes[i + 1] : 1;
        } else if (steps[i] < 0 || steps[i] % itemsize != 0) {
            PyErr_SetString(PyExc_ValueError, "negative strides, or strides that are no multiple "
                            "of the element's size, are not supported; copy the array first");
            return false;
        } else {
            t->strides[i] = steps[i] / itemsize;
        }
    }
    return true;
}

/* An array that nothing else refers to may serve as the private ndarray itself. */
static bool array_is_private(PyArrayObject *array) {
    return Py_REFCNT(array) == 1 && PyArray_CheckExact(array)
           && PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE);
}

/* A part of a tensor's own array, over which another tensor is made. */
static void lend_base(PyArrayObject *array) {
    PyObject *base = PyArray_BASE(array);
    while (base != NULL && PyArray_Check(base)) {
        base = PyArray_BASE((PyArrayObject *)base);
    }
    if (base != NULL && Py_IS_TYPE(base, &GwStorage_Type)) {
        gw_lend((GwStorage *)base);
    }
}

static PyObject *from_ndarray(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (!gw_expect_args(nargs, 3, "from_ndarray(cls, array, dtype)")) {
        return NULL;
    }
    PyTypeObject *cls = gw_tensor_class(args[0]);
    int dtype = cls == NULL ? -1 : gw_dtype_code(args[2]);
    if (dtype < 0) {
        return NULL;
    }
    if (!PyArray_Check(args[1])) {
        return PyErr_Format(PyExc_TypeError, "expected an ndarray, got %s",
                            Py_TYPE(args[1])->tp_name);
    }
    PyArrayObject *array = (PyArrayObject *)args[1];
    if (!same_dtype(array, dtype)) {
        return NULL;
    }
    if (!PyArray_ISBEHAVED_RO(array) || PyArray_NDIM(array) > GW_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "the array must be aligned, in native byte order and of "
                     "at most %d dimensions", GW_MAX_DIMS);
        return NULL;
    }
    int itemsize = gw_dtypes[dtype].itemsize;
    GwTensor *t = gw_tensor_alloc(cls, PyArray_NDIM(array));
    if (t == NULL) {
        return NULL;
    }
    if (!array_layout(array, t, itemsize)) {
        Py_DECREF(t);
        return NULL;
    }
    bool private = array_is_private(array);
    t->data = PyArray_BYTES(array);
    t->dtype = (int8_t)dtype;
    t->device_index = -1;
    t->storage = gw_storage_borrow(args[1], t->data,
                                   gw_extent(t->sizes, t->strides, t->ndim) * itemsize,
                                   !PyArray_ISWRITEABLE(array));
    if (t->storage == NULL) {
        Py_DECREF(t);
        return NULL;
    }
    lend_base(array);
    if (private) {
        t->nd = Py_NewRef(args[1]);
    }
    if (!gw_tensor_seal(t)) {
        Py_CLEAR(t);
    }
    return (PyObject *)t;
}

/* ---- without data ---- */

static PyObject *meta(PyObject *self, PyObject *args, PyObject *kwargs) {
    GW_UNUSED(self);
    static char *names[] = {"cls", "shape", "strides", "dtype", "device", "fake", NULL};
    PyObject *cls, *shape, *strides, *dtype, *device;
    int fake = 0;
    int64_t sizes[GW_MAX_DIMS], steps[GW_MAX_DIMS];
    bool symbolic = false;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO|p:meta", names, &cls, &shape, &strides,
                                     &dtype, &device, &fake)) {
        return NULL;
    }
    int ndim = gw_tensor_class(cls) == NULL ? -1 : gw_read_ints(shape, sizes, &symbolic);
    int n = ndim < 0 ? -1 : gw_read_ints(strides, steps, &symbolic);
    int code = n < 0 ? -1 : gw_dtype_code(dtype);
    if (code < 0) {
        return NULL;
    }
    if (n != ndim) {
        return gw_not_strided();
    }
    GwTensor *t = gw_tensor_alloc(GW_CLASS(cls), ndim);
    if (t == NULL) {
        return NULL;
    }
    memcpy(t->sizes, sizes, (size_t)ndim * sizeof(int64_t));
    memcpy(t->strides, steps, (size_t)ndim * sizeof(int64_t));
    t->dtype = (int8_t)code;
    t->flags = fake ? GW_FAKE : 0;
    t->storage = gw_storage_meta();
    if (t->storage == NULL || gw_device_parse(device, &t->device, &t->device_index) < 0) {
        Py_DECREF(t);
        return NULL;
    }
    if (!(symbolic ? gw_keep_symbolic(t, shape, strides) : gw_tensor_seal(t))) {
        Py_CLEAR(t);
    }
    return (PyObject *)t;
}

PyMethodDef gw_factory_methods[] = {
    {"empty", FASTCALL(empty), METH_FASTCALL,
     "empty(cls, shape, dtype): C-contiguous, in memory of the allocator."},
    {"empty_strided", FASTCALL(empty_strided), METH_FASTCALL,
     "empty_strided(cls, shape, strides, dtype): strides in elements."},
    {"from_ndarray", FASTCALL(from_ndarray), METH_FASTCALL,
     "from_ndarray(cls, array, dtype): over the array's memory, without a copy."},
    {"meta", FASTCALL(meta), METH_VARARGS | METH_KEYWORDS,
     "meta(cls, shape, strides, dtype, device, fake=False): without data; sizes and strides may "
     "be symbolic."},
    {NULL, NULL, 0, NULL},
};
