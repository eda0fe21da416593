/* Who may write to a tensor's memory without counting it in the version: arrays and other libraries
 * that share it, holders of its address, and tensors with a version counter of their own. */
#include "packs.h"

enum { FOR_GOOD = 1 << 20 };

void gw_lend(GwStorage *s) { s->lent |= FOR_GOOD; }

void gw_lend_for_now(GwStorage *s) { s->lent++; }

void gw_lent_back(GwStorage *s) {
    s->lent--;
    s->rewritten++;
}

static int64_t writes_of(const GwStorage *s) { return s->version + s->rewritten; }

/* Whether the storage is one of gw_unversioned over another's memory. */
static bool is_alias(const GwStorage *s) {
    return s->owner != NULL && Py_IS_TYPE(s->owner, &GwStorage_Type);
}

/* Memory of the allocator, or of an array that nothing refers to but the storage and the tensor. */
static bool is_own_memory(const GwStorage *s, const GwTensor *t) {
    if (s->block != 0) {
        return true;
    }
    PyObject *owner = s->owner;
    return owner != NULL && PyArray_CheckExact(owner)
           && PyArray_CHKFLAGS((PyArrayObject *)owner, NPY_ARRAY_OWNDATA)
           && Py_REFCNT(owner) == 1 + (t->nd == owner);
}

bool gw_writes_are_counted(const GwTensor *t, int64_t *writes) {
    const GwStorage *s = t->storage;
    *writes = writes_of(s);
    if (s->lent != 0) {
        return false;
    }
    if (!is_alias(s)) {
        return is_own_memory(s, t);
    }
    const GwStorage *root = (GwStorage *)s->owner;
    *writes += writes_of(root);
    return Py_REFCNT(root) == 1 && root->lent == 1 && is_own_memory(root, t);
}

void gw_alias_begun(GwStorage *alias) {
    gw_lend_for_now((GwStorage *)alias->owner);
    alias->rewritten = -alias->version;
}

void gw_alias_ended(GwStorage *s) {
    if (!is_alias(s)) {
        return;
    }
    GwStorage *root = (GwStorage *)s->owner;
    if (s->lent != 0) {
        gw_lend(root);
    }
    root->lent--;
    root->rewritten += writes_of(s) != 0;
}

/* ---- arrays ---- */

/* The base object of arrays that users get: they are known to be gone when it is. */
typedef struct {
    PyObject_HEAD
    GwStorage *storage;
} Lease;

static void lease_dealloc(PyObject *self) {
    GwStorage *s = ((Lease *)self)->storage;
    gw_lent_back(s);
    Py_DECREF(s);
    PyObject_Free(self);
}

PyTypeObject GwLease_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.Lease",
    .tp_doc = "What keeps a tensor's memory for an array that shares it.",
    .tp_basicsize = sizeof(Lease),
    .tp_dealloc = lease_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

static PyObject *shared_array(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    GwTensor *t = gw_tensor_arg(arg);
    PyObject *own = t == NULL ? NULL : gw_tensor_nd(t);
    if (own == NULL) {
        return NULL;
    }
    PyArrayObject *like = (PyArrayObject *)own;
    PyArray_Descr *descr = (PyArray_Descr *)Py_NewRef(PyArray_DESCR(like));
    PyObject *array = PyArray_NewFromDescr(
        &PyArray_Type, descr, PyArray_NDIM(like), PyArray_DIMS(like), PyArray_STRIDES(like),
        PyArray_DATA(like), PyArray_FLAGS(like) & NPY_ARRAY_WRITEABLE, NULL);
    Lease *lease = array == NULL ? NULL : PyObject_New(Lease, &GwLease_Type);
    if (lease == NULL) {
        Py_XDECREF(array);
        return NULL;
    }
    lease->storage = (GwStorage *)Py_NewRef(t->storage);
    gw_lend_for_now(t->storage);
    if (PyArray_SetBaseObject((PyArrayObject *)array, (PyObject *)lease) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

static PyObject *writes_are_counted(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    const GwTensor *t = gw_tensor_arg(arg);
    int64_t writes;
    return t == NULL ? NULL : PyBool_FromLong(gw_writes_are_counted(t, &writes));
}

PyMethodDef gw_lending_methods[] = {
    {"shared_array", shared_array, METH_O,
     "shared_array(tensor): a new ndarray over the tensor's memory, for users."},
    {"writes_are_counted", writes_are_counted, METH_O,
     "writes_are_counted(tensor): whether its memory is its own, and nobody shares it who may "
     "write there without counting it in the version."},
    {NULL, NULL, 0, NULL},
};
