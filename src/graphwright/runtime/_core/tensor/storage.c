/* Storage: memory, who owns it, and how often it was written in place. */
#include "blocks.h"
#include "packs.h"

enum { CACHE = 256 };
static GwStorage *cache[CACHE];
static int cached;

static GwStorage *storage_object(void) {
    GwStorage *s;
    if (cached > 0) {
        s = cache[--cached];
        PyObject_Init((PyObject *)s, &GwStorage_Type);
    } else {
        s = PyObject_New(GwStorage, &GwStorage_Type);
        if (s == NULL) {
            return NULL;
        }
    }
    s->data = NULL;
    s->nbytes = 0;
    s->version = 0;
    s->owner = NULL;
    s->block = 0;
    s->cuda = NULL;
    s->packs = NULL;
    s->rewritten = 0;
    s->lent = 0;
    s->readonly = false;
    s->inference = (gw_modes() & GW_MODE_INFERENCE) != 0;
    return s;
}

bool gw_storage_fill(GwStorage *s) {
    s->data = gw_block_alloc((size_t)s->nbytes, &s->block);
    if (s->data == NULL) {
        s->block = 0;
        PyErr_Format(gw_out_of_memory, "cannot allocate %lld bytes", (long long)s->nbytes);
        return false;
    }
    return true;
}

GwStorage *gw_storage_new(int64_t nbytes) {
    GwStorage *s = storage_object();
    if (s != NULL) {
        s->nbytes = nbytes;
        if (!gw_storage_fill(s)) {
            Py_CLEAR(s);
        }
    }
    return s;
}

GwStorage *gw_storage_borrow(PyObject *owner, char *data, int64_t nbytes, bool readonly) {
    GwStorage *s = storage_object();
    if (s != NULL) {
        s->owner = Py_NewRef(owner);
        s->data = data;
        s->nbytes = nbytes;
        s->readonly = readonly;
    }
    return s;
}

GwStorage *gw_storage_meta(void) { return storage_object(); }

static void storage_dealloc(PyObject *self) {
    GwStorage *s = (GwStorage *)self;
    gw_packs_drop(s);
    gw_alias_ended(s);
    if (s->block != 0) {
        gw_block_free(s->data, s->block);
    }
    if (s->cuda != NULL && s->owner == NULL) {
        gw_cuda_free(s->cuda);
    }
    PyObject *owner = s->owner;
    if (cached < CACHE) {
        cache[cached++] = s;
    } else {
        PyObject_Free(s);
    }
    Py_XDECREF(owner);
}

static PyObject *storage_repr(PyObject *self) {
    const GwStorage *s = (GwStorage *)self;
    return PyUnicode_FromFormat("<Storage of %lld bytes at %p>", (long long)s->nbytes, s->data);
}

static PyObject *storage_nbytes(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    return PyLong_FromLongLong(((GwStorage *)self)->nbytes);
}

static PyObject *storage_readonly(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    return PyBool_FromLong(((GwStorage *)self)->readonly);
}

static PyObject *storage_version(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    return PyLong_FromLongLong(((GwStorage *)self)->version);
}

static PyObject *storage_address(PyObject *self, PyObject *args) {
    GW_UNUSED(args);
    const GwStorage *s = (GwStorage *)self;
    return s->cuda != NULL ? PyLong_FromUnsignedLongLong(s->cuda->address)
                           : PyLong_FromVoidPtr(s->data);
}

static PyObject *storage_data_ptr(PyObject *self, PyObject *args) {
    gw_lend((GwStorage *)self);
    return storage_address(self, args);
}

static PyGetSetDef storage_getset[] = {
    {"nbytes", storage_nbytes, NULL, "Size in bytes.", NULL},
    {"readonly", storage_readonly, NULL, "Whether the memory must not be written to.", NULL},
    {"_version", storage_version, NULL, "How many in-place writes were counted.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef storage_methods[] = {
    {"data_ptr", storage_data_ptr, METH_NOARGS,
     "Address of the first byte; 0 without memory. Whoever has it may write there."},
    {"_address", storage_address, METH_NOARGS, "The same, for comparisons alone."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject GwStorage_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.Storage",
    .tp_doc = "The memory of tensors. Equal objects only if the same.",
    .tp_basicsize = sizeof(GwStorage),
    .tp_dealloc = storage_dealloc,
    .tp_repr = storage_repr,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_getset = storage_getset,
    .tp_methods = storage_methods,
};
