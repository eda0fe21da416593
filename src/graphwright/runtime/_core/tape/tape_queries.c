/* What nodes that Python makes, and the engine, ask of many tensors at once. */
#include "layout.h"
#include "node.h"

/* ---- versions ---- */

/* The tensor's storage, or NULL for anything else. */
static const GwStorage *storage_of(PyObject *o) {
    return gw_is_tensor(o) ? ((GwTensor *)o)->storage : NULL;
}

static int64_t version_of(PyObject *o) {
    const GwStorage *storage = storage_of(o);
    return storage == NULL ? 0 : storage->version;
}

static PyObject *versions(PyObject *self, PyObject *values) {
    GW_UNUSED(self);
    if (!PyTuple_Check(values)) {
        PyErr_SetString(PyExc_TypeError, "versions() takes a tuple");
        return NULL;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(values);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, n * (Py_ssize_t)sizeof(int64_t));
    for (Py_ssize_t i = 0; bytes != NULL && i < n; i++) {
        PyObject *value = PyTuple_GET_ITEM(values, i);
        int64_t version = version_of(value);
        memcpy(PyBytes_AS_STRING(bytes) + i * (Py_ssize_t)sizeof version, &version, sizeof version);
        if (storage_of(value) != NULL && !gw_may_save((GwTensor *)value)) {
            Py_CLEAR(bytes);
        }
    }
    return bytes;
}

/* The i-th of a tuple of places below `n`; -1 with an exception. */
static Py_ssize_t place_at(PyObject *places, Py_ssize_t i, Py_ssize_t n) {
    Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(places, i));
    if (place >= 0 && place < n) {
        return place;
    }
    if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_IndexError, "no value at that place");
    }
    return -1;
}

static PyObject *same_versions(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *values, *bytes, *places;
    if (!PyArg_ParseTuple(args, "O!O!O!:same_versions", &PyTuple_Type, &values, &PyBytes_Type,
                          &bytes, &PyTuple_Type, &places)) {
        return NULL;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(values);
    if (PyBytes_GET_SIZE(bytes) != n * (Py_ssize_t)sizeof(int64_t)) {
        PyErr_SetString(PyExc_ValueError, "as many versions are needed as there are values");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(places); i++) {
        int64_t before;
        Py_ssize_t place = place_at(places, i, n);
        if (place < 0) {
            return NULL;
        }
        memcpy(&before, PyBytes_AS_STRING(bytes) + place * (Py_ssize_t)sizeof before,
               sizeof before);
        if (version_of(PyTuple_GET_ITEM(values, place)) != before) {
            Py_RETURN_FALSE;
        }
    }
    Py_RETURN_TRUE;
}

/* ---- edges ---- */

static PyObject *edge_to(PyObject *tensor) {
    GwKept kept = {.kind = GW_KEPT_VALUE};
    PyObject *edge = gw_keep_edge(&kept, tensor) ? gw_kept_edge(&kept) : NULL;
    Py_XDECREF(kept.target);
    return edge;
}

static PyObject *gradient_edges(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *values, *places;
    if (!PyArg_ParseTuple(args, "O!O!:gradient_edges", &PyTuple_Type, &values, &PyTuple_Type,
                          &places)) {
        return NULL;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(places);
    PyObject *edges = PyTuple_New(n);
    for (Py_ssize_t i = 0; edges != NULL && i < n; i++) {
        Py_ssize_t place = place_at(places, i, PyTuple_GET_SIZE(values));
        PyObject *edge = place < 0 ? NULL : edge_to(PyTuple_GET_ITEM(values, place));
        if (edge == NULL) {
            Py_CLEAR(edges);
        } else {
            PyTuple_SET_ITEM(edges, i, edge);
        }
    }
    return edges;
}

/* ---- gradients ---- */

static bool same_layout(const GwTensor *one, const GwTensor *other) {
    size_t bytes = (size_t)one->ndim * sizeof *one->sizes;
    return one->ndim == other->ndim && memcmp(one->sizes, other->sizes, bytes) == 0
           && memcmp(one->strides, other->strides, bytes) == 0;
}

/* The memory may be held by the tensor, and by its array once there is one. No tuple of arguments
 * adds a reference to those that the caller counts. */
static PyObject *is_private(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    GW_UNUSED(self);
    if (n != 3 || !gw_is_tensor(args[0]) || !gw_is_tensor(args[1])) {
        PyErr_SetString(PyExc_TypeError, "is_private() takes two tensors and a number");
        return NULL;
    }
    PyObject *gradient = args[0], *leaf = args[1];
    Py_ssize_t references = PyLong_AsSsize_t(args[2]);
    if (references == -1 && PyErr_Occurred()) {
        return NULL;
    }
    const GwTensor *grad = (GwTensor *)gradient, *like = (GwTensor *)leaf;
    if (grad->base != NULL || grad->grad_fn != NULL || grad->storage == NULL || grad->data == NULL
        || ((grad->flags | like->flags) & (GW_SYMBOLIC | GW_FAKE)) != 0 || !same_layout(grad, like)
        || !PyType_IsSubtype(Py_TYPE(leaf), Py_TYPE(gradient))) {
        Py_RETURN_FALSE;
    }
    Py_ssize_t holders = 1 + (grad->nd != NULL);
    return PyBool_FromLong(Py_REFCNT(gradient) <= references
                           && Py_REFCNT(grad->storage) <= holders
                           && (grad->nd == NULL || Py_REFCNT(grad->nd) == 1));
}

PyMethodDef gw_tape_methods[] = {
    {"versions", versions, METH_O,
     "versions(values): the versions of the tensors of a tuple, 0 for anything else, as bytes. "
     "Raises RuntimeError for tensors of inference mode."},
    {"same_versions", same_versions, METH_VARARGS,
     "same_versions(values, versions, places): whether no tensor at these places of a tuple was "
     "written in place since `versions(values)` was asked for."},
    {"gradient_edges", gradient_edges, METH_VARARGS,
     "gradient_edges(values, places): where the gradients of the tensors at these places of a tuple "
     "go: pairs (node or leaf, output number), or None."},
    {"is_private", FASTCALL(is_private), METH_FASTCALL,
     "is_private(gradient, leaf, references): whether nothing but the holders of that many "
     "references can see the gradient's memory, and it is laid out like the leaf's."},
    {NULL, NULL, 0, NULL},
};
