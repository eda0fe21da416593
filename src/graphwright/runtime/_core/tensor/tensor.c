/* TensorBase: the object. What makes tensors is in factory.c. */
#include "blocks.h"
#include "packs.h"
#include "tensor_flags.h"
#include "node.h"

#include <stddef.h>
#include <structmember.h>

/* Objects of the plain layout are kept here, so that a result costs no allocation. */
enum { CACHE = 128 };
static GwTensor *cache[CACHE];
static int cached;

/* No managed dict or weakrefs before the object (inline values, 3.13: bit 2), no __del__. */
static bool plain_layout(const PyTypeObject *cls) {
    return cls->tp_basicsize == (Py_ssize_t)sizeof(GwTensor) && (cls->tp_flags & 0x1c) == 0
           && cls->tp_finalize == NULL;
}

GwTensor *gw_tensor_alloc(PyTypeObject *cls, int ndim) {
    GwTensor *t;
    if (cached > 0 && plain_layout(cls)) {
        t = cache[--cached];
        memset((char *)t + sizeof(PyObject), 0, offsetof(GwTensor, inline_dims) - sizeof(PyObject));
        PyObject_Init((PyObject *)t, cls);
        PyObject_GC_Track(t);
    } else {
        t = (GwTensor *)cls->tp_alloc(cls, 0);
        if (t == NULL) {
            return NULL;
        }
    }
    t->sizes = t->inline_dims;
    if (ndim > GW_INLINE_DIMS) {
        t->sizes = PyMem_Malloc((size_t)ndim * 2 * sizeof(int64_t));
        if (t->sizes == NULL) {
            t->sizes = t->inline_dims;
            Py_DECREF(t);
            PyErr_NoMemory();
            return NULL;
        }
    }
    t->strides = t->sizes + ndim;
    t->ndim = (int8_t)ndim;
    return t;
}

bool gw_tensor_seal(GwTensor *t) {
    int64_t numel = 1;
    bool contiguous = true, overflow = false, empty = false;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->sizes[i] != 1) {
            contiguous = contiguous && t->strides[i] == numel;
            empty = empty || t->sizes[i] == 0;
            overflow = overflow || __builtin_mul_overflow(numel, t->sizes[i], &numel);
        }
    }
    if (overflow && !empty) {
        PyErr_SetString(PyExc_RuntimeError, "the number of elements does not fit in 63 bits");
        return false;
    }
    t->numel = empty ? 0 : numel;
    t->flags = (uint8_t)((t->flags & ~GW_CONTIGUOUS) | (contiguous || empty ? GW_CONTIGUOUS : 0));
    return true;
}

/* ---- life ---- */

static PyObject *tensor_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    GW_UNUSED(args);
    GW_UNUSED(kwargs);
    return (PyObject *)gw_tensor_alloc(cls, 0);
}

static int tensor_traverse(PyObject *self, visitproc visit, void *arg) {
    GwTensor *t = (GwTensor *)self;
    Py_VISIT(t->base);
    Py_VISIT(t->grad);
    Py_VISIT(t->grad_fn);
    Py_VISIT(t->shape_obj);
    Py_VISIT(t->strides_obj);
    Py_VISIT(t->offset_obj);
    Py_VISIT(t->dict);
    Py_VISIT(t->extra);
    return 0;
}

static int tensor_clear(PyObject *self) {
    GwTensor *t = (GwTensor *)self;
    Py_CLEAR(t->base);
    Py_CLEAR(t->grad);
    Py_CLEAR(t->grad_fn);
    Py_CLEAR(t->dict);
    Py_CLEAR(t->extra);
    return 0;
}

static void tensor_dealloc(PyObject *self) {
    GwTensor *t = (GwTensor *)self;
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, tensor_dealloc)
    if (t->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    tensor_clear(self);
    Py_CLEAR(t->nd);
    Py_CLEAR(t->storage);
    Py_CLEAR(t->shape_obj);
    Py_CLEAR(t->strides_obj);
    Py_CLEAR(t->offset_obj);
    if (t->sizes != t->inline_dims) {
        PyMem_Free(t->sizes);
    }
    if (cached < CACHE && plain_layout(Py_TYPE(self))) {
        cache[cached++] = t;
    } else {
        Py_TYPE(self)->tp_free(self);
    }
    Py_TRASHCAN_END
}

GwTensor *gw_tensor_arg(PyObject *o) {
    if (!gw_is_tensor(o)) {
        PyErr_Format(PyExc_TypeError, "expected a Tensor, got %s", Py_TYPE(o)->tp_name);
        return NULL;
    }
    GwTensor *t = (GwTensor *)o;
    if (t->storage == NULL) {
        PyErr_Format(PyExc_RuntimeError, "this %s was never initialised (made by __new__ alone)",
                     Py_TYPE(o)->tp_name);
        return NULL;
    }
    return t;
}

/* ---- layout as Python objects ---- */

PyObject *gw_int_tuple(const int64_t *values, int n) {
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple != NULL && i < n; i++) {
        PyObject *value = PyLong_FromLongLong(values[i]);
        if (value == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, value);
    }
    return tuple;
}

PyObject *gw_tensor_shape(GwTensor *t) {
    if (t->shape_obj == NULL) {
        t->shape_obj = gw_size_new(t->sizes, t->ndim);
    }
    return t->shape_obj;
}

PyObject *gw_tensor_strides(GwTensor *t) {
    if (t->strides_obj == NULL) {
        t->strides_obj = gw_int_tuple(t->strides, t->ndim);
    }
    return t->strides_obj;
}

/* The ndarray's base is the storage, so that it outlives the tensor. */
PyObject *gw_tensor_nd(GwTensor *t) {
    if (t->nd != NULL) {
        return t->nd;
    }
    if (t->data == NULL || t->device != GW_CPU) {
        PyErr_SetString(PyExc_RuntimeError, "this tensor has no data in the CPU's memory");
        return NULL;
    }
    npy_intp dims[GW_MAX_DIMS], strides[GW_MAX_DIMS];
    for (int i = 0; i < t->ndim; i++) {
        dims[i] = (npy_intp)t->sizes[i];
        strides[i] = (npy_intp)t->strides[i] * gw_itemsize(t);
    }
    PyArray_Descr *descr = (PyArray_Descr *)Py_NewRef(gw_dtypes[t->dtype].descr);
    PyObject *nd = PyArray_NewFromDescr(&PyArray_Type, descr, t->ndim, dims, strides, t->data,
                                        t->storage->readonly ? 0 : NPY_ARRAY_WRITEABLE, NULL);
    if (nd == NULL) {
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)nd, Py_NewRef(t->storage)) < 0) {
        Py_DECREF(nd);
        return NULL;
    }
    t->nd = nd;
    return nd;
}

/* ---- getters ---- */

#define GETTER(name) static PyObject *name(PyObject *self, void *closure)
#define TENSOR_OR_NULL                  \
    GW_UNUSED(closure);                 \
    GwTensor *t = gw_tensor_arg(self);  \
    if (t == NULL) {                    \
        return NULL;                    \
    }

GETTER(get_dtype) { TENSOR_OR_NULL return Py_NewRef(gw_dtypes[t->dtype].object); }
GETTER(get_device) { TENSOR_OR_NULL return gw_device_object(t->device, t->device_index); }
GETTER(get_shape) { TENSOR_OR_NULL return Py_XNewRef(gw_tensor_shape(t)); }
GETTER(get_ndim) { TENSOR_OR_NULL return PyLong_FromLong(t->ndim); }
GETTER(get_requires_grad) { TENSOR_OR_NULL return PyBool_FromLong(gw_requires_grad(t)); }
GETTER(get_is_fake) { TENSOR_OR_NULL return PyBool_FromLong(t->flags & GW_FAKE); }
GETTER(get_output_nr) { TENSOR_OR_NULL return PyLong_FromLong(t->output_nr); }
GETTER(get_version) {
    TENSOR_OR_NULL
    if (t->storage->inference && (t->flags & GW_FAKE) == 0) {
        PyErr_SetString(PyExc_RuntimeError, "Inference tensors do not track version counter.");
        return NULL;
    }
    return PyLong_FromLongLong(t->storage->version);
}
GETTER(get_nd) { TENSOR_OR_NULL return Py_XNewRef(gw_tensor_nd(t)); }
GETTER(get_storage) { TENSOR_OR_NULL return Py_NewRef(t->storage); }

static PyObject *or_none(PyObject *o) { return Py_NewRef(o != NULL ? o : Py_None); }

/* 1 unless a gradient is asked for that no pass will ever leave here; -1 with an exception. */
static int gradient_expected(const GwTensor *t) {
    if (t->grad != NULL || t->grad_fn == NULL || (t->flags & GW_FAKE) != 0) {
        return 1;
    }
    PyObject *retains = t->extra == NULL ? Py_NewRef(Py_False)
                                         : PyObject_GetAttrString(t->extra, "retains_grad");
    int yes = retains == NULL ? -1 : PyObject_IsTrue(retains);
    Py_XDECREF(retains);
    return yes;
}

GETTER(get_own_grad) { TENSOR_OR_NULL return or_none(t->grad); }

GETTER(get_grad) {
    TENSOR_OR_NULL
    int expected = gradient_expected(t);
    if (expected < 0
        || (expected == 0 && PyErr_WarnEx(
                PyExc_UserWarning, "The .grad attribute of a Tensor that is not a leaf Tensor is "
                "being accessed. Its .grad attribute won't be populated during "
                "autograd.backward(). If you indeed want the .grad field to be populated for a "
                "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor.", 1) < 0)) {
        return NULL;
    }
    return or_none(t->grad);
}

/* Called with a view whose memory was written since its grad_fn was set: gives it anew. */
static PyObject *view_hook;

static PyObject *stale_view(const GwTensor *t) {
    PyErr_Format(
        PyExc_RuntimeError,
        "A view was created %s and its base or another view of its base has been modified "
        "inplace with grad mode enabled. Given that this use case is ambiguous and error-prone, "
        "it is forbidden.",
        (t->flags & GW_NO_GRAD_VIEW) != 0 ? "in no_grad mode"
                                          : "by a function that returns multiple views");
    return NULL;
}

PyObject *gw_tensor_grad_fn(GwTensor *t) {
    if (t->base == NULL || t->storage->version == t->view_version || view_hook == NULL
        || !gw_own_grad((const GwTensor *)t->base) || !gw_requires_grad(t)) {
        return or_none(t->grad_fn);
    }
    if ((t->flags & (GW_NO_GRAD_VIEW | GW_MULTI_VIEW)) != 0) {
        return stale_view(t);
    }
    return PyObject_CallOneArg(view_hook, (PyObject *)t);
}

GETTER(get_grad_fn) { TENSOR_OR_NULL return gw_node_named(gw_tensor_grad_fn(t)); }

GETTER(get_is_leaf) {
    TENSOR_OR_NULL
    PyObject *node = gw_tensor_grad_fn(t);
    if (node == NULL) {
        return NULL;
    }
    Py_DECREF(node);
    return PyBool_FromLong(node == Py_None);
}

PyObject *gw_set_view_hook(PyObject *self, PyObject *hook) {
    GW_UNUSED(self);
    Py_XSETREF(view_hook, Py_NewRef(hook));
    Py_RETURN_NONE;
}
GETTER(get_base) { TENSOR_OR_NULL return or_none(t->base); }

/* ---- setters ---- */

static GwTensor *settable(PyObject *self, PyObject *value, const char *name) {
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "cannot delete %s", name);
        return NULL;
    }
    return gw_tensor_arg(self);
}

static int set_requires_grad(PyObject *self, PyObject *value, void *closure) {
    GW_UNUSED(closure);
    GwTensor *t = settable(self, value, "requires_grad");
    if (t == NULL) {
        return -1;
    }
    if (!PyBool_Check(value)) {
        PyErr_SetString(PyExc_RuntimeError, "requires_grad must be a bool");
        return -1;
    }
    bool on = value == Py_True;
    if (on && t->storage->inference && (gw_modes() & GW_MODE_INFERENCE) == 0) {
        PyErr_SetString(PyExc_RuntimeError, "Setting requires_grad=True on inference tensor "
                        "outside InferenceMode is not allowed.");
        return -1;
    }
    if (on && !gw_dtypes[t->dtype].floating) {
        PyErr_Format(PyExc_RuntimeError, "only Tensors of floating point dtype can require "
                     "gradients, not %R", gw_dtypes[t->dtype].object);
        return -1;
    }
    if (t->grad_fn != NULL) {
        PyErr_SetString(PyExc_RuntimeError, on
                        ? "you can only change requires_grad flags of leaf variables"
                        : "you can only change requires_grad flags of leaf variables; use "
                          "detach() to cut a tensor off its history");
        return -1;
    }
    t->flags = (uint8_t)(on ? t->flags | GW_REQUIRES_GRAD : t->flags & ~GW_REQUIRES_GRAD);
    return 0;
}

/* A gradient is a tensor of the size, dtype and device of what it is the gradient of. */
static int check_grad(GwTensor *t, PyObject *value) {
    if (!gw_is_tensor(value)) {
        PyErr_Format(PyExc_TypeError, "assigned grad expected to be a Tensor or None but got grad "
                     "of type %s", Py_TYPE(value)->tp_name);
        return -1;
    }
    GwTensor *grad = gw_tensor_arg(value);
    if (grad == NULL) {
        return -1;
    }
    if (grad == t) {
        PyErr_SetString(PyExc_RuntimeError, "can't assign a tensor as its own grad");
        return -1;
    }
    if ((t->flags | grad->flags) & GW_SYMBOLIC) {
        return 0;
    }
    size_t bytes = (size_t)t->ndim * sizeof *t->sizes;
    if (t->ndim != grad->ndim || memcmp(t->sizes, grad->sizes, bytes) != 0) {
        PyErr_Format(PyExc_RuntimeError, "attempting to assign a gradient of size %S to a tensor "
                     "of size %S. Please ensure that the gradient and the tensor are the same "
                     "size", gw_tensor_shape(grad), gw_tensor_shape(t));
        return -1;
    }
    if (t->device != grad->device
        || (t->device == GW_CUDA && t->device_index != grad->device_index)) {
        PyObject *own = gw_device_object(t->device, t->device_index);
        PyObject *other = gw_device_object(grad->device, grad->device_index);
        if (own != NULL && other != NULL) {
            PyErr_Format(PyExc_RuntimeError, "attempting to assign a gradient with device '%S' to "
                         "a tensor with device '%S'. Please ensure that the gradient and the "
                         "tensor are on the same device", other, own);
        }
        Py_XDECREF(own);
        Py_XDECREF(other);
        return -1;
    }
    if (t->dtype != grad->dtype) {
        PyErr_Format(PyExc_RuntimeError, "attempting to assign a gradient with dtype '%S' to a "
                     "tensor with dtype '%S'. Please ensure that the gradient and the tensor have "
                     "the same dtype", gw_dtypes[grad->dtype].object, gw_dtypes[t->dtype].object);
        return -1;
    }
    return 0;
}

static int set_grad(PyObject *self, PyObject *value, void *closure) {
    GW_UNUSED(closure);
    value = value == NULL ? Py_None : value;
    GwTensor *t = gw_tensor_arg(self);
    if (t == NULL || (value != Py_None && check_grad(t, value) < 0)) {
        return -1;
    }
    Py_XSETREF(t->grad, value == Py_None ? NULL : Py_NewRef(value));
    return 0;
}

static int set_grad_fn(PyObject *self, PyObject *value, void *closure) {
    GW_UNUSED(closure);
    GwTensor *t = settable(self, value, "grad_fn");
    if (t == NULL) {
        return -1;
    }
    Py_XSETREF(t->grad_fn, value == Py_None ? NULL : Py_NewRef(value));
    t->view_version = t->storage->version;
    return 0;
}

static int set_output_nr(PyObject *self, PyObject *value, void *closure) {
    GW_UNUSED(closure);
    GwTensor *t = settable(self, value, "output_nr");
    long nr = t == NULL ? -1 : PyLong_AsLong(value);
    if (nr < 0 || nr > INT32_MAX) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "output_nr must be a small non-negative int");
        }
        return -1;
    }
    t->output_nr = (int32_t)nr;
    return 0;
}

static PyGetSetDef tensor_getset[] = {
    {"dtype", get_dtype, NULL, "The element type.", NULL},
    {"device", get_device, NULL, "Where the data lies.", NULL},
    {"shape", get_shape, NULL, "The sizes, a Size.", NULL},
    {"ndim", get_ndim, NULL, "The number of dimensions.", NULL},
    {"requires_grad", get_requires_grad, set_requires_grad,
     "Whether operations on this tensor are recorded for backward().", NULL},
    {"grad", get_grad, set_grad, "The gradient that backward() accumulated, or None.", NULL},
    {"_grad", get_own_grad, NULL, "`grad`, without a warning where none will come.", NULL},
    {"grad_fn", get_grad_fn, set_grad_fn, "The autograd node that made this tensor.", NULL},
    {"output_nr", get_output_nr, set_output_nr, "Which output of grad_fn this is.", NULL},
    {"is_leaf", get_is_leaf, NULL, "Whether no recorded operation made this tensor.", NULL},
    {"is_fake", get_is_fake, NULL, "Whether this stands for a tensor while tracing.", NULL},
    {"_version", get_version, NULL, "How many in-place writes its memory had.", NULL},
    {"_nd", get_nd, NULL, "The ndarray over the data; private to the runtime.", NULL},
    {"_storage", get_storage, NULL, "The Storage; the same object if memory is shared.", NULL},
    {"_base", get_base, NULL, "The tensor that this is a view of, or None.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef tensor_members[] = {
    {"_extra", T_OBJECT, offsetof(GwTensor, extra), 0, "Rarely needed state, private."},
    {NULL, 0, 0, 0, NULL},
};

/* ---- methods ---- */

#define METHOD(name) static PyObject *name(PyObject *self, PyObject *closure)

/* As integers.py has it for a dim: an int, NumPy's too, a tensor without dims, a SymInt. */
static bool is_dim(PyObject *o) {
    if (gw_is_tensor(o)) {
        return ((GwTensor *)o)->ndim == 0 && ((GwTensor *)o)->dtype != GW_BOOL;
    }
    return PyLong_CheckExact(o) || (PyLong_Check(o) && !PyBool_Check(o))
           || PyArray_IsScalar(o, Integer)
           || PyObject_HasAttrString((PyObject *)Py_TYPE(o), "expr");
}

/* One entry of a layout tuple (new reference), or the whole of it if there is no argument. */
static PyObject *layout_item(PyObject *tuple, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames) {
    Py_ssize_t named = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    if (nargs + named > 1
        || (named == 1
            && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "dim") != 0)) {
        PyErr_SetString(PyExc_TypeError, "expected at most one argument, dim");
        return NULL;
    }
    if (tuple == NULL || nargs + named == 0 || args[0] == Py_None) {
        return Py_XNewRef(tuple);
    }
    if (!is_dim(args[0])) {
        return PyErr_Format(PyExc_TypeError, "argument 'dim' must be int, not %s",
                            Py_TYPE(args[0])->tp_name);
    }
    Py_ssize_t ndim = PyTuple_GET_SIZE(tuple);
    Py_ssize_t dim = PyNumber_AsSsize_t(args[0], PyExc_IndexError);
    if (dim == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (dim < -ndim || dim >= ndim) {
        return PyErr_Format(PyExc_IndexError,
                            "Dimension out of range (a tensor of %zd dimensions, but got %zd)",
                            ndim, dim);
    }
    return Py_NewRef(PyTuple_GET_ITEM(tuple, dim < 0 ? dim + ndim : dim));
}

static PyObject *tensor_stride(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                               PyObject *kwnames) {
    GwTensor *t = gw_tensor_arg(self);
    return t == NULL ? NULL : layout_item(gw_tensor_strides(t), args, nargs, kwnames);
}

static PyObject *tensor_size(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *kwnames) {
    GwTensor *t = gw_tensor_arg(self);
    return t == NULL ? NULL : layout_item(gw_tensor_shape(t), args, nargs, kwnames);
}

/* The product of entries [first, ndim) of the shape. */
static PyObject *size_product(GwTensor *t, Py_ssize_t first) {
    PyObject *product = PyLong_FromLong(1);
    for (Py_ssize_t i = first; product != NULL && i < t->ndim; i++) {
        Py_SETREF(product, PyNumber_Multiply(product, PyTuple_GET_ITEM(t->shape_obj, i)));
    }
    return product;
}

PyObject *gw_tensor_numel(GwTensor *t) {
    return t->flags & GW_SYMBOLIC ? size_product(t, 0) : PyLong_FromLongLong(t->numel);
}

METHOD(tensor_numel) { TENSOR_OR_NULL return gw_tensor_numel(t); }

/* Compares as Python does, so that a SymInt records what was relied on. */
static bool is_literal(PyObject *size, long value) {
    return PyLong_CheckExact(size) && PyLong_AsLong(size) == value;
}

/* Sizes of 0 and 1 are never symbolic. */
static int symbolic_contiguous(GwTensor *t) {
    int yes = 1;
    for (Py_ssize_t i = 0; i < t->ndim; i++) {
        if (is_literal(PyTuple_GET_ITEM(t->shape_obj, i), 0)) {
            return yes;
        }
    }
    for (Py_ssize_t i = t->ndim - 1; i >= 0 && yes == 1; i--) {
        if (is_literal(PyTuple_GET_ITEM(t->shape_obj, i), 1)) {
            continue;
        }
        PyObject *expected = size_product(t, i + 1);
        yes = expected == NULL ? -1 : PyObject_RichCompareBool(
            PyTuple_GET_ITEM(t->strides_obj, i), expected, Py_EQ);
        Py_XDECREF(expected);
    }
    return yes;
}

static PyObject *tensor_is_contiguous(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                                      PyObject *kwnames) {
    GwTensor *t = gw_tensor_arg(self);
    if (t == NULL) {
        return NULL;
    }
    Py_ssize_t named = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    if (nargs + named > 1) {
        PyErr_SetString(PyExc_TypeError, "is_contiguous() takes at most one argument");
        return NULL;
    }
    if (nargs + named == 1) {
        return PyObject_CallMethod(self, "_is_in_format", "O", args[0]);
    }
    int yes = t->flags & GW_SYMBOLIC ? symbolic_contiguous(t) : (t->flags & GW_CONTIGUOUS) != 0;
    return yes < 0 ? NULL : PyBool_FromLong(yes);
}

METHOD(tensor_storage_offset) {
    TENSOR_OR_NULL
    return t->offset_obj != NULL ? Py_NewRef(t->offset_obj) : PyLong_FromLongLong(t->offset);
}

METHOD(tensor_is_view) { TENSOR_OR_NULL return PyBool_FromLong(t->base != NULL); }
METHOD(tensor_is_inference) { TENSOR_OR_NULL return PyBool_FromLong(t->storage->inference); }
METHOD(tensor_dim) { TENSOR_OR_NULL return PyLong_FromLong(t->ndim); }
METHOD(tensor_element_size) { TENSOR_OR_NULL return PyLong_FromLong(gw_itemsize(t)); }
METHOD(tensor_address) {
    TENSOR_OR_NULL
    return gw_on_gpu(t) ? PyLong_FromUnsignedLongLong(gw_cuda_address(t))
                        : PyLong_FromVoidPtr(t->data);
}
METHOD(tensor_data_ptr) {
    TENSOR_OR_NULL
    gw_lend(t->storage);
    return tensor_address(self, closure);
}

#define FASTCALL(function) (PyCFunction)(void (*)(void))(function)
static PyMethodDef tensor_methods[] = {
    {"stride", FASTCALL(tensor_stride), METH_FASTCALL | METH_KEYWORDS,
     "stride(dim=None): the strides in elements, or the one of `dim`."},
    {"size", FASTCALL(tensor_size), METH_FASTCALL | METH_KEYWORDS,
     "size(dim=None): the shape, or the size of `dim`."},
    {"storage_offset", tensor_storage_offset, METH_NOARGS, "Elements before the first."},
    {"numel", tensor_numel, METH_NOARGS, "The number of elements."},
    {"dim", tensor_dim, METH_NOARGS, "The number of dimensions."},
    {"element_size", tensor_element_size, METH_NOARGS, "Bytes of one element."},
    {"data_ptr", tensor_data_ptr, METH_NOARGS,
     "Address of the first element. Whoever has it may write there."},
    {"_address", tensor_address, METH_NOARGS, "The same, for comparisons alone."},
    {"is_contiguous", FASTCALL(tensor_is_contiguous), METH_FASTCALL | METH_KEYWORDS,
     "is_contiguous(memory_format=None): whether the elements lie one after the other, in "
     "row-major order or that of the format."},
    {"item", gw_tensor_item, METH_NOARGS,
     "The value of a one-element tensor as a Python number."},
    {"is_inference", tensor_is_inference, METH_NOARGS,
     "Whether the memory was allocated in inference mode."},
    {"_is_view", tensor_is_view, METH_NOARGS, "Whether this is a view of another tensor."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject GwTensor_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.TensorBase",
    .tp_doc = "A strided tensor: the layout, the storage and the autograd fields.",
    .tp_base = &GwFacts_Type,
    .tp_basicsize = sizeof(GwTensor),
    .tp_new = tensor_new,
    .tp_dealloc = tensor_dealloc,
    .tp_as_number = &gw_tensor_number,
    .tp_traverse = tensor_traverse,
    .tp_clear = tensor_clear,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_weaklistoffset = offsetof(GwTensor, weakrefs),
    .tp_dictoffset = offsetof(GwTensor, dict),
    .tp_getset = tensor_getset,
    .tp_members = tensor_members,
    .tp_methods = tensor_methods,
};
