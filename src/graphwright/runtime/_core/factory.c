/* Making tensors: over new memory, over an array's memory, as views, without data. */
#include "core.h"

#define FASTCALL(function) (PyCFunction)(void (*)(void))(function)

PyTypeObject *gw_tensor_class(PyObject *cls) {
    if (!PyType_Check(cls) || !PyType_IsSubtype(GW_CLASS(cls), &GwTensor_Type)) {
        PyErr_Format(PyExc_TypeError, "expected a subclass of TensorBase, got %R", cls);
        return NULL;
    }
    return GW_CLASS(cls);
}

static bool expect_args(Py_ssize_t given, Py_ssize_t expected, const char *signature) {
    if (given == expected) {
        return true;
    }
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, got %zd", signature, expected, given);
    return false;
}

/* Reads a tuple or list of ints. Returns the length or -1. With `symbolic`, other objects count
 * as unknown: they become -1 and set *symbolic. */
static int read_ints(PyObject *sequence, int64_t *values, bool *symbolic) {
    if (!PyTuple_Check(sequence) && !PyList_Check(sequence)) {
        PyErr_Format(PyExc_TypeError, "expected a tuple of ints, got %s",
                     Py_TYPE(sequence)->tp_name);
        return -1;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(sequence);
    if (n > GW_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "a tensor has at most %d dimensions, got %zd",
                     GW_MAX_DIMS, n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(sequence, i);
        if (symbolic != NULL && !PyLong_Check(item)) {
            *symbolic = true;
            values[i] = -1;
            continue;
        }
        Py_ssize_t value = PyNumber_AsSsize_t(item, PyExc_OverflowError);
        if (value == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (value < 0) {
            PyErr_Format(PyExc_RuntimeError, "sizes and strides must not be negative: %R",
                         sequence);
            return -1;
        }
        values[i] = value;
    }
    return (int)n;
}

int64_t gw_contiguous(const int64_t *sizes, int ndim, int64_t *strides) {
    int64_t numel = 1, step = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = step;
        if (__builtin_mul_overflow(step, sizes[i] > 1 ? sizes[i] : 1, &step)) {
            return -1;
        }
        numel *= sizes[i] != 0 ? 1 : 0;
    }
    return numel == 0 ? 0 : step;
}

/* One past the last element reached, counted from the first; 0 if there are none, -1 if that
 * does not fit. */
static int64_t extent(const int64_t *sizes, const int64_t *strides, int ndim) {
    int64_t last = 0;
    bool empty = false, overflow = false;
    for (int i = 0; i < ndim; i++) {
        int64_t reach;
        empty = empty || sizes[i] == 0;
        overflow = overflow || __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach)
                   || __builtin_add_overflow(last, reach, &last);
    }
    return empty ? 0 : overflow || last == INT64_MAX ? -1 : last + 1;
}

static PyObject *too_large(void) {
    PyErr_SetString(PyExc_RuntimeError, "the tensor's size in bytes does not fit in 63 bits");
    return NULL;
}

static PyObject *not_strided(void) {
    PyErr_SetString(PyExc_ValueError, "sizes and strides differ in length");
    return NULL;
}

GwTensor *gw_tensor_empty(PyTypeObject *cls, int dtype, int ndim, const int64_t *sizes,
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
        elements = extent(sizes, strides, ndim);
    }
    if (elements < 0
        || __builtin_mul_overflow(elements, (int64_t)gw_dtypes[dtype].itemsize, &nbytes)) {
        Py_DECREF(t);
        return (GwTensor *)too_large();
    }
    t->storage = gw_storage_new(nbytes);
    if (t->storage == NULL) {
        Py_DECREF(t);
        return NULL;
    }
    t->data = t->storage->data;
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

static PyObject *empty(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    int64_t sizes[GW_MAX_DIMS];
    if (!expect_args(nargs, 3, "empty(cls, shape, dtype)")) {
        return NULL;
    }
    PyTypeObject *cls = gw_tensor_class(args[0]);
    int ndim = cls == NULL ? -1 : read_ints(args[1], sizes, NULL);
    int dtype = ndim < 0 ? -1 : gw_dtype_code(args[2]);
    return dtype < 0 ? NULL : (PyObject *)gw_tensor_empty(cls, dtype, ndim, sizes, NULL);
}

static PyObject *empty_strided(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS];
    if (!expect_args(nargs, 4, "empty_strided(cls, shape, strides, dtype)")) {
        return NULL;
    }
    PyTypeObject *cls = gw_tensor_class(args[0]);
    int ndim = cls == NULL ? -1 : read_ints(args[1], sizes, NULL);
    int n = ndim < 0 ? -1 : read_ints(args[2], strides, NULL);
    int dtype = n < 0 ? -1 : gw_dtype_code(args[3]);
    if (dtype < 0) {
        return NULL;
    }
    return n != ndim ? not_strided()
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

static PyObject *from_ndarray(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (!expect_args(nargs, 3, "from_ndarray(cls, array, dtype)")) {
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
                                   extent(t->sizes, t->strides, t->ndim) * itemsize,
                                   !PyArray_ISWRITEABLE(array));
    if (t->storage == NULL) {
        Py_DECREF(t);
        return NULL;
    }
    if (private) {
        t->nd = Py_NewRef(args[1]);
    }
    if (!gw_tensor_seal(t)) {
        Py_CLEAR(t);
    }
    return (PyObject *)t;
}

/* ---- views ---- */

/* Another tensor over the memory of `t`, with its own room for the layout. */
static GwTensor *share(PyTypeObject *cls, const GwTensor *t, int ndim) {
    GwTensor *view = gw_tensor_alloc(cls, ndim);
    if (view != NULL) {
        view->storage = (GwStorage *)Py_NewRef(t->storage);
        view->dtype = t->dtype;
        view->device = t->device;
        view->device_index = t->device_index;
        view->flags = t->flags & GW_FAKE;
    }
    return view;
}

/* Points the view at its first element; false if it reaches out of the storage. A view without
 * elements is inside whatever its offset, and points at the storage's start. */
static bool point_inside(GwTensor *view) {
    int64_t count = extent(view->sizes, view->strides, view->ndim), end;
    view->data = view->storage->data;
    if (view->offset < 0 || count <= 0) {
        return view->offset >= 0 && count == 0;
    }
    if (__builtin_add_overflow(view->offset, count, &end)
        || end > view->storage->nbytes / gw_itemsize(view)) {
        return false;
    }
    view->data += view->offset * gw_itemsize(view);
    return true;
}

static PyObject *out_of_bounds(GwTensor *view, PyObject *shape, PyObject *strides,
                               PyObject *offset) {
    PyErr_Format(PyExc_RuntimeError, "a view of shape %R, strides %R and offset %R of %R reaches "
                 "out of its storage of %lld bytes", shape, strides, offset,
                 gw_dtypes[view->dtype].object, (long long)view->storage->nbytes);
    Py_DECREF(view);
    return NULL;
}

/* Keeps the tuples of a layout that has symbolic entries. */
static bool keep_symbolic(GwTensor *t, PyObject *shape, PyObject *strides) {
    t->flags |= GW_SYMBOLIC;
    t->numel = -1;
    t->shape_obj = gw_size_of(shape);
    t->strides_obj = PySequence_Tuple(strides);
    return t->shape_obj != NULL && t->strides_obj != NULL;
}

/* Places the view at `offset`, an int or, without data, whatever counts elements. */
static bool set_offset(GwTensor *view, PyObject *offset, bool allow_symbolic) {
    if (allow_symbolic && !PyLong_Check(offset)) {
        view->offset = -1;
        view->offset_obj = Py_NewRef(offset);
        return true;
    }
    view->offset = PyNumber_AsSsize_t(offset, PyExc_OverflowError);
    return view->offset != -1 || !PyErr_Occurred();
}

/* How a view came about decides whether it may be written while gradients are recorded. */
static void mark_origin(GwTensor *view, const GwTensor *base) {
    view->view_version = base->storage->version;
    view->flags |= base->flags & (GW_NO_GRAD_VIEW | GW_MULTI_VIEW);
    if (gw_user_disabled_grad()) {
        view->flags |= GW_NO_GRAD_VIEW;
    }
}

static PyObject *mark_multi_view(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    GwTensor *t = gw_tensor_arg(arg);
    if (t == NULL) {
        return NULL;
    }
    t->flags |= GW_MULTI_VIEW;
    Py_RETURN_NONE;
}

static PyObject *view_origin(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    GwTensor *t = gw_tensor_arg(arg);
    return t == NULL ? NULL : PyLong_FromLong(((t->flags & GW_NO_GRAD_VIEW) != 0)
                                              + 2 * ((t->flags & GW_MULTI_VIEW) != 0)
                                              + 4 * gw_own_grad(t));
}

static PyObject *as_view(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS];
    bool symbolic = false;
    if (nargs != 6 && !expect_args(nargs, 5, "as_view(cls, base, shape, strides, offset)")) {
        return NULL;
    }
    int dtype = nargs == 6 ? gw_dtype_code(args[5]) : GW_NUM_DTYPES;
    if (dtype < 0) {
        return NULL;
    }
    PyTypeObject *cls = gw_tensor_class(args[0]);
    GwTensor *base = cls == NULL ? NULL : gw_tensor_arg(args[1]);
    if (base == NULL) {
        return NULL;
    }
    bool *allow = base->data == NULL ? &symbolic : NULL;
    int ndim = read_ints(args[2], sizes, allow);
    int n = ndim < 0 ? -1 : read_ints(args[3], strides, allow);
    if (n < 0) {
        return NULL;
    }
    GwTensor *view = n != ndim ? (GwTensor *)not_strided() : share(cls, base, ndim);
    if (view == NULL) {
        return NULL;
    }
    if (dtype != GW_NUM_DTYPES) {
        view->dtype = (int8_t)dtype;
    }
    memcpy(view->sizes, sizes, (size_t)ndim * sizeof(int64_t));
    memcpy(view->strides, strides, (size_t)ndim * sizeof(int64_t));
    view->base = Py_NewRef(base->base != NULL ? base->base : args[1]);
    mark_origin(view, base);
    if (!set_offset(view, args[4], allow != NULL)) {
        Py_DECREF(view);
        return NULL;
    }
    if (base->data != NULL && !point_inside(view)) {
        return out_of_bounds(view, args[2], args[3], args[4]);
    }
    if (!(symbolic ? keep_symbolic(view, args[2], args[3]) : gw_tensor_seal(view))) {
        Py_CLEAR(view);
    }
    return (PyObject *)view;
}

PyObject *gw_view_of(PyTypeObject *cls, GwTensor *base, int ndim, const int64_t *sizes,
                     const int64_t *strides, int64_t offset) {
    GwTensor *view = share(cls, base, ndim);
    if (view == NULL) {
        return NULL;
    }
    memcpy(view->sizes, sizes, (size_t)ndim * sizeof(int64_t));
    memcpy(view->strides, strides, (size_t)ndim * sizeof(int64_t));
    view->base = Py_NewRef(base->base != NULL ? base->base : (PyObject *)base);
    mark_origin(view, base);
    view->offset = offset;
    if (!point_inside(view) || !gw_tensor_seal(view)) {
        Py_DECREF(view);
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    }
    return (PyObject *)view;
}

/* Shares memory and version counter; has no history. */
static GwTensor *same_layout(PyTypeObject *cls, GwTensor *t) {
    GwTensor *copy = share(cls, t, t->ndim);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy->sizes, t->sizes, (size_t)t->ndim * sizeof(int64_t));
    memcpy(copy->strides, t->strides, (size_t)t->ndim * sizeof(int64_t));
    copy->data = t->data;
    copy->offset = t->offset;
    copy->numel = t->numel;
    copy->flags = (uint8_t)(t->flags & ~(GW_REQUIRES_GRAD | GW_NO_GRAD_VIEW | GW_MULTI_VIEW));
    copy->shape_obj = Py_XNewRef(t->shape_obj);
    copy->strides_obj = Py_XNewRef(t->strides_obj);
    copy->offset_obj = Py_XNewRef(t->offset_obj);
    copy->nd = Py_XNewRef(t->nd);
    return copy;
}

GwTensor *gw_tensor_alias(GwTensor *t) { return same_layout(Py_TYPE(t), t); }

static GwTensor *class_and_tensor(PyObject *const *args, Py_ssize_t nargs, const char *signature) {
    if (!expect_args(nargs, 2, signature) || gw_tensor_class(args[0]) == NULL) {
        return NULL;
    }
    return gw_tensor_arg(args[1]);
}

static PyObject *detach(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    GwTensor *t = class_and_tensor(args, nargs, "detach(cls, tensor)");
    return t == NULL ? NULL : (PyObject *)same_layout(GW_CLASS(args[0]), t);
}

/* As detach, with a version counter of its own: what `Tensor.data` gives. */
static PyObject *unversioned(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    GwTensor *t = class_and_tensor(args, nargs, "unversioned(cls, tensor)");
    GwTensor *copy = t == NULL ? NULL : same_layout(GW_CLASS(args[0]), t);
    if (copy == NULL) {
        return NULL;
    }
    const GwStorage *s = t->storage;
    GwStorage *alias = gw_storage_borrow((PyObject *)s, s->data, s->nbytes, s->readonly);
    if (alias == NULL) {
        Py_DECREF(copy);
        return NULL;
    }
    Py_SETREF(copy->storage, alias);
    return (PyObject *)copy;
}

static PyObject *bump_version(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    GwTensor *t = gw_tensor_arg(arg);
    if (t == NULL) {
        return NULL;
    }
    t->storage->version++;
    Py_RETURN_NONE;
}

/* ---- another layout for a tensor that exists ---- */

/* Room for `ndim` sizes and strides. */
static bool make_room(GwTensor *t, int ndim) {
    int64_t *room = t->inline_dims;
    if (ndim > GW_INLINE_DIMS) {
        room = PyMem_Malloc((size_t)ndim * 2 * sizeof(int64_t));
        if (room == NULL) {
            PyErr_NoMemory();
            return false;
        }
    }
    if (t->sizes != t->inline_dims) {
        PyMem_Free(t->sizes);
    }
    t->sizes = room;
    t->strides = room + ndim;
    t->ndim = (int8_t)ndim;
    return true;
}

/* The tensor takes memory, layout, dtype and device of another; class, gradient and history stay.
 * What other tensors see of the memory that it had does not change. */
static PyObject *become(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (!expect_args(nargs, 2, "become(tensor, source)")) {
        return NULL;
    }
    GwTensor *t = gw_tensor_arg(args[0]);
    GwTensor *source = t == NULL ? NULL : gw_tensor_arg(args[1]);
    if (source == NULL) {
        return NULL;
    }
    if (t == source) {
        Py_RETURN_NONE;
    }
    if (!make_room(t, source->ndim)) {
        return NULL;
    }
    const uint8_t kept = GW_REQUIRES_GRAD;
    memcpy(t->sizes, source->sizes, (size_t)t->ndim * sizeof(int64_t));
    memcpy(t->strides, source->strides, (size_t)t->ndim * sizeof(int64_t));
    t->data = source->data;
    t->offset = source->offset;
    t->numel = source->numel;
    t->dtype = source->dtype;
    t->device = source->device;
    t->device_index = source->device_index;
    t->flags = (uint8_t)((t->flags & kept) | (source->flags & ~kept));
    Py_XSETREF(t->storage, (GwStorage *)Py_NewRef(source->storage));
    Py_XSETREF(t->shape_obj, Py_XNewRef(source->shape_obj));
    Py_XSETREF(t->strides_obj, Py_XNewRef(source->strides_obj));
    Py_XSETREF(t->offset_obj, Py_XNewRef(source->offset_obj));
    Py_XSETREF(t->nd, Py_XNewRef(source->nd));
    PyObject *base = source->base == args[0] ? NULL : source->base;
    Py_XSETREF(t->base, Py_XNewRef(base));
    Py_RETURN_NONE;
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
    int ndim = gw_tensor_class(cls) == NULL ? -1 : read_ints(shape, sizes, &symbolic);
    int n = ndim < 0 ? -1 : read_ints(strides, steps, &symbolic);
    int code = n < 0 ? -1 : gw_dtype_code(dtype);
    if (code < 0) {
        return NULL;
    }
    if (n != ndim) {
        return not_strided();
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
    if (!(symbolic ? keep_symbolic(t, shape, strides) : gw_tensor_seal(t))) {
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
    {"as_view", FASTCALL(as_view), METH_FASTCALL,
     "as_view(cls, base, shape, strides, offset[, dtype]): over the base's storage; the offset "
     "counts elements from the storage's start."},
    {"set_view_hook", gw_set_view_hook, METH_O,
     "set_view_hook(f): f(view) gives the grad_fn of a view whose memory was written since it "
     "was made."},
    {"mark_multi_view", mark_multi_view, METH_O,
     "mark_multi_view(view): it is one of several that one op made."},
    {"view_origin", view_origin, METH_O,
     "view_origin(tensor): the sum of 1 if nothing was recorded when the view was made, 2 if it "
     "is one of several views, and 4 if it requires a gradient by itself, not by its base."},
    {"detach", FASTCALL(detach), METH_FASTCALL,
     "detach(cls, tensor): shares memory and version counter, has no history."},
    {"unversioned", FASTCALL(unversioned), METH_FASTCALL,
     "unversioned(cls, tensor): as detach, with a version counter of its own."},
    {"become", FASTCALL(become), METH_FASTCALL,
     "become(tensor, source): take memory, layout, dtype and device of another tensor."},
    {"bump_version", bump_version, METH_O, "Count one in-place write."},
    {"meta", FASTCALL(meta), METH_VARARGS | METH_KEYWORDS,
     "meta(cls, shape, strides, dtype, device, fake=False): without data; sizes and strides may "
     "be symbolic."},
    {NULL, NULL, 0, NULL},
};
