/* Tensors over the memory of other tensors: views, aliases without history, and a tensor that
 * takes the place of another. */
#include "arguments.h"
#include "blocks.h"
#include "layout.h"
#include "packs.h"

/* Another tensor over the memory of `t`, with its own room for the layout. */
static GwTensor *share(PyTypeObject *cls, const GwTensor *t, int ndim) {
    GwTensor *view = gw_tensor_alloc(cls, ndim);
    if (view != NULL) {
        view->storage = (GwStorage *)Py_NewRef(t->storage);
        view->dtype = t->dtype;
        view->device = t->device;
        view->device_index = t->device_index;
        view->flags = t->flags & (GW_FAKE | (cls == Py_TYPE(t) ? GW_OVERRIDES : 0));
    }
    return view;
}

/* Points the view at its first element; false if it reaches out of the storage. A view without
 * elements is inside whatever its offset, and points at the storage's start. */
static bool point_inside(GwTensor *view) {
    int64_t count = gw_extent(view->sizes, view->strides, view->ndim), end;
    view->data = view->storage->data;
    if (view->offset < 0 || count <= 0) {
        return view->offset >= 0 && count == 0;
    }
    if (__builtin_add_overflow(view->offset, count, &end)
        || end > view->storage->nbytes / gw_itemsize(view)) {
        return false;
    }
    if (view->data != NULL) {
        view->data += view->offset * gw_itemsize(view);
    }
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

static PyObject *mark_overwritten(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    GwTensor *t = gw_tensor_arg(arg);
    if (t == NULL) {
        return NULL;
    }
    t->view_version = t->storage->version - 1;
    Py_RETURN_NONE;
}

static PyObject *mark_overriding(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    GwTensor *t = gw_tensor_arg(arg);
    if (t == NULL) {
        return NULL;
    }
    t->flags |= GW_OVERRIDES;
    return Py_NewRef(arg);
}

static PyObject *view_origin(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    GwTensor *t = gw_tensor_arg(arg);
    return t == NULL ? NULL : PyLong_FromLong(((t->flags & GW_NO_GRAD_VIEW) != 0)
                                              + 2 * ((t->flags & GW_MULTI_VIEW) != 0)
                                              + 4 * gw_own_grad(t)
                                              + 8 * (t->base != NULL && t->view_version
                                                     != t->storage->version));
}

static PyObject *as_view(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS];
    bool symbolic = false;
    if (nargs != 6 && !gw_expect_args(nargs, 5, "as_view(cls, base, shape, strides, offset)")) {
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
    bool real = base->data != NULL || gw_on_gpu(base);
    bool *allow = real ? NULL : &symbolic;
    int ndim = gw_read_ints(args[2], sizes, allow);
    int n = ndim < 0 ? -1 : gw_read_ints(args[3], strides, allow);
    if (n < 0) {
        return NULL;
    }
    GwTensor *view = n != ndim ? (GwTensor *)gw_not_strided() : share(cls, base, ndim);
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
    if (real && !point_inside(view)) {
        return out_of_bounds(view, args[2], args[3], args[4]);
    }
    if (!(symbolic ? gw_keep_symbolic(view, args[2], args[3]) : gw_tensor_seal(view))) {
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
    const int own = GW_REQUIRES_GRAD | GW_NO_GRAD_VIEW | GW_MULTI_VIEW | GW_OVERRIDES;
    copy->flags = (uint8_t)((t->flags & ~own) | (copy->flags & GW_OVERRIDES));
    copy->shape_obj = Py_XNewRef(t->shape_obj);
    copy->strides_obj = Py_XNewRef(t->strides_obj);
    copy->offset_obj = Py_XNewRef(t->offset_obj);
    copy->nd = Py_XNewRef(t->nd);
    return copy;
}

GwTensor *gw_tensor_alias(GwTensor *t) { return same_layout(Py_TYPE(t), t); }

static GwTensor *class_and_tensor(PyObject *const *args, Py_ssize_t nargs, const char *signature) {
    if (!gw_expect_args(nargs, 2, signature) || gw_tensor_class(args[0]) == NULL) {
        return NULL;
    }
    return gw_tensor_arg(args[1]);
}

static PyObject *detach(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    GwTensor *t = class_and_tensor(args, nargs, "detach(cls, tensor)");
    return t == NULL ? NULL : (PyObject *)same_layout(GW_CLASS(args[0]), t);
}

GW_KERNEL(detached) {
    GwTensor *t = gw_plain_tensor(args[0]);
    return t == NULL ? NULL : (PyObject *)same_layout(cls, t);
}

/* input, dtype: of elements of one size, whose bytes are read as another dtype */
GW_KERNEL(view_dtype) {
    GwTensor *t = gw_plain_tensor(args[0]);
    int dtype = gw_plain_dtype(args[1], -1);
    if (t == NULL || dtype < 0 || gw_dtypes[dtype].itemsize != gw_itemsize(t)) {
        return NULL;
    }
    PyObject *view = gw_view_of(cls, t, t->ndim, t->sizes, t->strides, t->offset);
    if (view != NULL && gw_is_tensor(view)) {
        ((GwTensor *)view)->dtype = (int8_t)dtype;
    } else {
        Py_CLEAR(view);
    }
    return view;
}

const GwKernelEntry gw_detaching_kernels[] = {
    {"detach", 1, detached},
    {"view_dtype", 2, view_dtype},
    {NULL, 0, NULL},
};

/* The storage whose memory this one is: itself, unless it was borrowed from another. */
static PyObject *owning_storage(GwStorage *s) {
    while (s->owner != NULL && Py_IS_TYPE(s->owner, Py_TYPE(s))) {
        s = (GwStorage *)s->owner;
    }
    return (PyObject *)s;
}

/* As detach, with a version counter of its own: what `Tensor.data` gives. It goes on from that of
 * the third argument, if there is one. */
static PyObject *unversioned(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    GwTensor *counted = nargs == 3 ? gw_tensor_arg(args[2]) : NULL;
    if (nargs == 3 && counted == NULL) {
        return NULL;
    }
    GwTensor *t = class_and_tensor(args, nargs == 3 ? 2 : nargs,
                                   "unversioned(cls, tensor[, counted])");
    GwTensor *copy = t == NULL ? NULL : same_layout(GW_CLASS(args[0]), t);
    if (copy == NULL) {
        return NULL;
    }
    GwStorage *s = t->storage;
    GwStorage *alias = gw_storage_borrow(owning_storage(s), s->data, s->nbytes, s->readonly);
    if (alias == NULL) {
        Py_DECREF(copy);
        return NULL;
    }
    alias->cuda = s->cuda;
    alias->version = counted == NULL ? 0 : counted->storage->version;
    gw_alias_begun(alias);
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
    if (!gw_expect_args(nargs, 2, "become(tensor, source)")) {
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
    const uint8_t kept = GW_REQUIRES_GRAD | GW_OVERRIDES;
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

PyMethodDef gw_alias_methods[] = {
    {"as_view", FASTCALL(as_view), METH_FASTCALL,
     "as_view(cls, base, shape, strides, offset[, dtype]): over the base's storage; the offset "
     "counts elements from the storage's start."},
    {"set_view_hook", gw_set_view_hook, METH_O,
     "set_view_hook(f): f(view) gives the grad_fn of a view whose memory was written since it "
     "was made."},
    {"mark_multi_view", mark_multi_view, METH_O,
     "mark_multi_view(view): it is one of several that one op made."},
    {"mark_overwritten", mark_overwritten, METH_O,
     "mark_overwritten(view): its memory was written to since it was made."},
    {"mark_overriding", mark_overriding, METH_O,
     "mark_overriding(tensor): its class's __torch_function__ is asked about ops. Returns it."},
    {"view_origin", view_origin, METH_O,
     "view_origin(tensor): the sum of 1 if nothing was recorded when the view was made, 2 if it "
     "is one of several views, 4 if it requires a gradient by itself, not by its base, and 8 if "
     "the memory of a view was written to since its history was set."},
    {"detach", FASTCALL(detach), METH_FASTCALL,
     "detach(cls, tensor): shares memory and version counter, has no history."},
    {"unversioned", FASTCALL(unversioned), METH_FASTCALL,
     "unversioned(cls, tensor[, counted]): as detach, with a version counter of its own, which "
     "goes on from that of `counted`."},
    {"become", FASTCALL(become), METH_FASTCALL,
     "become(tensor, source): take memory, layout, dtype and device of another tensor."},
    {"bump_version", bump_version, METH_O, "Count one in-place write."},
    {NULL, NULL, 0, NULL},
};
