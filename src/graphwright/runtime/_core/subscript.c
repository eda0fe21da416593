/* x[key] of tensors that nothing else has to know of: ints, slices, None and ... make a view, and
 * one mask or tensors of positions beside whole dims make a copy. */
#include "pick.h"
#include "views.h"

typedef struct {
    GwView view;
    PyObject *indices[GW_MAX_DIMS];     /* borrowed; of each dim of the view, or NULL */
    bool viewed, indexed;
} Subscript;

static bool is_whole(PyObject *o) {
    const PySliceObject *s = (PySliceObject *)o;
    return s->start == Py_None && s->stop == Py_None && s->step == Py_None;
}

static bool is_position_tensor(PyObject *o) {
    const GwTensor *t = gw_plain_tensor(o);
    return t != NULL && t->dtype == GW_INT64 && t->ndim > 0;
}

/* A tensor of one position stands for its number. A new reference. */
static PyObject *number_of(PyObject *item) {
    const GwTensor *t = gw_plain_tensor(item);
    bool position = t != NULL && t->dtype == GW_INT64 && t->ndim == 0;
    return position ? PyLong_FromLongLong(*(const int64_t *)t->data) : Py_NewRef(item);
}

/* Takes an item at dim `*d` of the view; false where the rules in Python have to look at it. */
static bool take(Subscript *s, PyObject *item, int *d) {
    GwView *v = &s->view;
    if (item == Py_None) {
        s->viewed = true;
        if (v->ndim == GW_MAX_DIMS) {
            return false;
        }
        gw_view_insert(v, *d);
        s->indices[(*d)++] = NULL;
        return true;
    }
    if (*d >= v->ndim) {
        return false;
    }
    if (PySlice_Check(item)) {
        const PySliceObject *slice = (PySliceObject *)item;
        s->viewed = s->viewed || !is_whole(item);
        s->indices[*d] = NULL;
        return gw_view_slice(v, (*d)++, slice->start, slice->stop, slice->step);
    }
    if (is_position_tensor(item)) {
        s->indexed = true;
        s->indices[(*d)++] = item;
        return true;
    }
    s->viewed = true;
    PyObject *number = number_of(item);
    bool selected = number != NULL && gw_view_select(v, *d, number);
    Py_XDECREF(number);
    return selected;
}

/* How many dims the items stand for; -1 where there are several ellipses. */
static int dims_of(PyObject *const *items, Py_ssize_t n) {
    int used = 0, ellipses = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        ellipses += items[i] == Py_Ellipsis;
        used += items[i] != Py_Ellipsis && items[i] != Py_None;
    }
    return ellipses > 1 ? -1 : used;
}

static bool parse(Subscript *s, PyObject *const *items, Py_ssize_t n) {
    int used = n <= GW_MAX_DIMS ? dims_of(items, n) : -1, left = s->view.ndim - used, d = 0;
    if (used < 0 || left < 0) {
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (items[i] == Py_Ellipsis) {
            for (int k = 0; k < left; k++) {
                s->indices[d++] = NULL;
            }
        } else if (!take(s, items[i], &d)) {
            return false;
        }
    }
    for (; d < s->view.ndim; d++) {
        s->indices[d] = NULL;
    }
    return true;
}

/* The elements at the positions; NULL without an exception where that is left to Python. */
static PyObject *read_positions(const Subscript *s, PyTypeObject *cls, PyObject *tensor) {
    PyObject *out = NULL, *view = s->viewed ? gw_view_finish(&s->view) : Py_NewRef(tensor);
    PyObject *indices = view == NULL ? NULL : PyTuple_New(s->view.ndim);
    for (int d = 0; indices != NULL && d < s->view.ndim; d++) {
        PyObject *index = s->indices[d] != NULL ? s->indices[d] : Py_None;
        PyTuple_SET_ITEM(indices, d, Py_NewRef(index));
    }
    if (indices != NULL) {
        PyObject *args[2] = {view, indices};
        out = gw_index_kernel(cls, args);
    }
    Py_XDECREF(indices);
    Py_XDECREF(view);
    return out;
}

/* ---- one mask over the first dims of a contiguous tensor ---- */

static bool covers(const GwTensor *mask, const GwTensor *t) {
    return mask->dtype == GW_BOOL && mask->ndim > 0 && mask->ndim <= t->ndim && t->numel > 0
           && (mask->flags & GW_CONTIGUOUS) != 0 && (t->flags & GW_CONTIGUOUS) != 0
           && memcmp(mask->sizes, t->sizes, (size_t)mask->ndim * sizeof(int64_t)) == 0;
}

static PyObject *read_mask(PyTypeObject *cls, const GwTensor *t, const GwTensor *mask) {
    const uint8_t *kept = (const uint8_t *)mask->data;
    int64_t sizes[GW_MAX_DIMS], count = 0;
    for (int64_t i = 0; i < mask->numel; i++) {
        count += kept[i] != 0;
    }
    sizes[0] = count;
    int ndim = 1;
    for (int d = mask->ndim; d < t->ndim; d++) {
        sizes[ndim++] = t->sizes[d];
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, ndim, sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    size_t bytes = (size_t)(t->numel / mask->numel * gw_itemsize(t));
    char *to = out->data;
    for (int64_t i = 0; i < mask->numel; i++) {
        if (kept[i] != 0) {
            memcpy(to, t->data + (size_t)i * bytes, bytes);
            to += bytes;
        }
    }
    return (PyObject *)out;
}

/* ---- Python ---- */

/* The subscript of a tensor that needs no more than a kernel; false for all others. */
static bool begin(Subscript *s, PyTypeObject *cls, PyObject *tensor, PyObject *key) {
    bool tuple = PyTuple_CheckExact(key);
    s->viewed = s->indexed = false;
    return gw_dispatch_flags(&tensor, 1) == 0 && gw_view_begin(&s->view, cls, tensor)
           && parse(s, tuple ? PySequence_Fast_ITEMS(key) : &key, tuple ? PyTuple_GET_SIZE(key) : 1);
}

static PyObject *or_none(PyObject *out) {
    return out != NULL || PyErr_Occurred() ? out : Py_NewRef(Py_None);
}

static PyObject *subscript(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    PyTypeObject *cls = nargs == 3 ? gw_tensor_class(args[0]) : NULL;
    if (cls == NULL) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    }
    const GwTensor *mask = gw_plain_tensor(args[2]);
    if (mask != NULL && mask->dtype == GW_BOOL) {
        const GwTensor *t = gw_plain_tensor(args[1]);
        bool plain = t != NULL && covers(mask, t) && gw_dispatch_flags(&args[1], 1) == 0;
        return plain ? read_mask(cls, t, mask) : Py_NewRef(Py_None);
    }
    Subscript s;
    if (!begin(&s, cls, args[1], args[2])) {
        Py_RETURN_NONE;
    }
    return or_none(s.indexed ? read_positions(&s, cls, args[1]) : gw_view_finish(&s.view));
}

static PyObject *subscript_view(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    PyTypeObject *cls = nargs == 3 ? gw_tensor_class(args[0]) : NULL;
    Subscript s;
    if (cls == NULL || !begin(&s, cls, args[1], args[2]) || s.indexed) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    }
    return or_none(gw_view_finish(&s.view));
}

PyMethodDef gw_subscript_methods[] = {
    {"subscript", (PyCFunction)(void (*)(void))subscript, METH_FASTCALL,
     "subscript(cls, tensor, key): tensor[key] of class `cls`, or None where a gradient, a mode or "
     "an unusual key asks for the ops."},
    {"subscript_view", (PyCFunction)(void (*)(void))subscript_view, METH_FASTCALL,
     "subscript_view(cls, tensor, key): as `subscript`, but only where that is a view."},
    {NULL, NULL, 0, NULL},
};
