/* x[key] and x[key] = value of tensors that nothing else has to know of: ints, slices, None and ...
 * make a view, and tensors, arrays and lists of positions, or masks, pick elements of it. */
#include "loops.h"
#include "index_tensors.h"
#include "views.h"
#include "write_checks.h"

typedef struct {
    GwView view;
    GwPositions positions;
    bool viewed;
} Subscript;

static bool is_whole(PyObject *o) {
    const PySliceObject *s = (PySliceObject *)o;
    return s->start == Py_None && s->stop == Py_None && s->step == Py_None;
}

/* Takes an item at dim `*d` of the view; false where the rules in Python have to look at it. */
static bool take(Subscript *s, PyTypeObject *cls, PyObject *item, int *d) {
    GwView *v = &s->view;
    if (item == Py_None) {
        s->viewed = true;
        if (v->ndim == GW_MAX_DIMS) {
            return false;
        }
        gw_view_insert(v, *d);
        gw_positions_skip(&s->positions, (*d)++, 1);
        return true;
    }
    if (*d >= v->ndim) {
        return false;
    }
    if (PySlice_Check(item)) {
        const PySliceObject *slice = (PySliceObject *)item;
        s->viewed = s->viewed || !is_whole(item);
        gw_positions_skip(&s->positions, *d, 1);
        return gw_view_slice(v, (*d)++, slice->start, slice->stop, slice->step);
    }
    if (gw_is_positions(item)) {
        int taken = gw_positions_take(&s->positions, cls, item, *d, v->sizes + *d, v->ndim - *d);
        *d += taken;
        return taken > 0;
    }
    s->viewed = true;
    PyObject *number = gw_position_number(item);
    bool selected = number != NULL && gw_view_select(v, *d, number);
    Py_XDECREF(number);
    return selected;
}

/* How many dims the items stand for; -1 where there are several ellipses. */
static int dims_of(PyObject *const *items, Py_ssize_t n) {
    int used = 0, ellipses = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        ellipses += items[i] == Py_Ellipsis;
        used += items[i] == Py_Ellipsis || items[i] == Py_None ? 0 : gw_positions_dims(items[i]);
    }
    return ellipses > 1 ? -1 : used;
}

static bool parse(Subscript *s, PyTypeObject *cls, PyObject *const *items, Py_ssize_t n) {
    int used = n <= GW_MAX_DIMS ? dims_of(items, n) : -1, left = s->view.ndim - used, d = 0;
    if (used < 0 || left < 0) {
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (items[i] == Py_Ellipsis) {
            gw_positions_skip(&s->positions, d, left);
            d += left;
        } else if (!take(s, cls, items[i], &d)) {
            return false;
        }
    }
    gw_positions_skip(&s->positions, d, s->view.ndim - d);
    return true;
}

/* The tensor with the view's layout; NULL without an exception where it has none. */
static PyObject *viewed(const Subscript *s, PyObject *tensor) {
    return s->viewed ? gw_view_finish(&s->view) : Py_NewRef(tensor);
}

/* The elements at the positions; NULL without an exception where that is left to Python. */
static PyObject *read_positions(const Subscript *s, PyTypeObject *cls, PyObject *tensor) {
    PyObject *out = NULL, *view = viewed(s, tensor);
    PyObject *indices = view == NULL ? NULL : gw_positions_tuple(&s->positions, s->view.ndim);
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
    const char *end = to + (size_t)count * bytes;       /* other threads may write the mask */
    for (int64_t i = 0; i < mask->numel && to < end; i++) {
        if (kept[i] != 0) {
            memcpy(to, t->data + (size_t)i * bytes, bytes);
            to += bytes;
        }
    }
    return (PyObject *)out;
}

/* ---- Python ---- */

/* The subscript of a tensor that needs no more than a kernel; false for all others. What it made
 * is to be given back by `end` in either case. */
static bool begin(Subscript *s, PyTypeObject *cls, PyObject *tensor, PyObject *key) {
    bool tuple = PyTuple_CheckExact(key);
    s->viewed = false;
    gw_positions_begin(&s->positions);
    return gw_dispatch_flags(&tensor, 1) == 0 && gw_view_begin(&s->view, cls, tensor)
           && parse(s, cls, tuple ? PySequence_Fast_ITEMS(key) : &key,
                    tuple ? PyTuple_GET_SIZE(key) : 1);
}

static void end(Subscript *s) { gw_positions_end(&s->positions); }

static PyObject *or_none(PyObject *out) {
    return out != NULL || PyErr_Occurred() ? out : Py_NewRef(Py_None);
}

static PyObject *subscript(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    PyTypeObject *cls = nargs == 3 ? gw_tensor_class(args[0]) : NULL;
    if (cls == NULL) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    }
    const GwTensor *mask = gw_plain_tensor(args[2]), *t = gw_plain_tensor(args[1]);
    bool plain = mask != NULL && t != NULL && !(mask->flags & GW_OVERRIDES);
    if (plain && covers(mask, t) && gw_dispatch_flags(&args[1], 1) == 0) {
        return read_mask(cls, t, mask);
    }
    Subscript s;
    PyObject *out = NULL;
    if (begin(&s, cls, args[1], args[2])) {
        out = s.positions.count > 0 ? read_positions(&s, cls, args[1]) : gw_view_finish(&s.view);
    }
    end(&s);
    return or_none(out);
}

/* ---- assignment ---- */

/* An int that no int64 holds: PyTorch refuses it whatever the dtype. */
static bool is_wide_int(PyObject *value) {
    int overflow = 0;
    return PyLong_Check(value) && PyLong_AsLongLongAndOverflow(value, &overflow) == -1
           && overflow != 0;
}

/* The value as a tensor of that dtype or, with dims, of its own; NULL, without an exception, for
 * what only Python knows to write. Only copies cast. */
static GwTensor *value_of(PyTypeObject *cls, PyObject *value, int dtype, bool copied) {
    _Alignas(16) char bytes[16];
    GwTensor *t = gw_plain_tensor(value), *out;
    bool number = t == NULL && !gw_is_tensor(value) && !is_wide_int(value)
                  && gw_element(value, dtype, bytes);
    if ((t != NULL && t->ndim == 0 && t->dtype != dtype && !copied)
        || (t == NULL && !number) || (t != NULL && gw_dispatch_flags(&value, 1) != 0)) {
        return NULL;
    }
    if (t != NULL && (t->ndim > 0 || t->dtype == dtype)) {
        return (GwTensor *)Py_NewRef(value);
    }
    out = gw_tensor_empty(cls, dtype, 0, NULL, NULL);
    if (out != NULL && number) {
        memcpy(out->data, bytes, (size_t)gw_itemsize(out));
    } else if (out != NULL && !gw_convert_tensor(out, t)) {
        Py_CLEAR(out);
    }
    return out;
}

/* Whether the value was written where the key picks. */
static bool write_value(const Subscript *s, PyTypeObject *cls, PyObject *view, PyObject *value) {
    GwTensor *target = (GwTensor *)view, *values;
    values = value_of(cls, value, target->dtype, s->positions.count == 0);
    bool done = false;
    if (values != NULL && s->positions.count == 0) {
        done = gw_convert_tensor(target, values);
        target->storage->version += done;
    } else if (values != NULL) {
        PyObject *indices = gw_positions_tuple(&s->positions, s->view.ndim);
        PyObject *args[4] = {view, indices, (PyObject *)values, Py_False};
        PyObject *out = indices == NULL ? NULL : gw_index_put_kernel(cls, args);
        done = out != NULL;
        Py_XDECREF(out);
        Py_XDECREF(indices);
    }
    Py_XDECREF(values);
    return done;
}

static bool repeats(const GwView *v) {
    for (int d = 0; d < v->ndim; d++) {
        if (v->strides[d] == 0 && v->sizes[d] > 1) {
            return true;
        }
    }
    return false;
}

static PyObject *assign(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    PyTypeObject *cls = nargs == 4 ? gw_tensor_class(args[0]) : NULL;
    if (cls == NULL) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_False);
    }
    Subscript s;
    bool done = false;
    if (begin(&s, cls, args[1], args[2]) && gw_is_open(s.view.tensor->storage)
        && !repeats(&s.view)) {
        PyObject *view = viewed(&s, args[1]);
        done = view != NULL && write_value(&s, cls, view, args[3]);
        Py_XDECREF(view);
    }
    end(&s);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(done);
}

PyMethodDef gw_subscript_methods[] = {
    {"subscript", (PyCFunction)(void (*)(void))subscript, METH_FASTCALL,
     "subscript(cls, tensor, key): tensor[key] of class `cls`, or None where a gradient, a mode or "
     "an unusual key asks for the ops."},
    {"assign", (PyCFunction)(void (*)(void))assign, METH_FASTCALL,
     "assign(cls, tensor, key, value): tensor[key] = value; False, and nothing done, where a "
     "gradient, a mode, or an unusual key or value asks for the ops."},
    {NULL, NULL, 0, NULL},
};
