/* Memory that several processes have: a file without a name, mapped by each of them. */
#include "layout.h"

#include <structmember.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    PyObject_HEAD
    char *data;
    Py_ssize_t nbytes;
    int fd;             /* -1 where it is not kept */
    PyObject *weakrefs;
} SharedMemory;

static PyTypeObject *const shared_type = &GwSharedMemory_Type;

static PyObject *shared_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"fd", "nbytes", "keep", NULL};
    int fd, keep;
    Py_ssize_t nbytes;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "inp", names, &fd, &nbytes, &keep)) {
        return NULL;
    }
    struct stat file;
    if (fstat(fd, &file) != 0) {
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    if (nbytes < 1 || nbytes > file.st_size) {      /* memory behind the end cannot be touched */
        return PyErr_Format(PyExc_ValueError, "a file of %lld bytes has no %zd to share",
                            (long long)file.st_size, nbytes);
    }
    SharedMemory *made = (SharedMemory *)cls->tp_alloc(cls, 0);
    if (made == NULL) {
        return NULL;
    }
    made->fd = -1;
    made->nbytes = nbytes;
    made->data = mmap(NULL, (size_t)nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (made->data == MAP_FAILED) {
        made->data = NULL;
        Py_DECREF(made);
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    if (keep) {
        made->fd = fd;
    } else {
        close(fd);
    }
    return (PyObject *)made;
}

static void shared_dealloc(PyObject *self) {
    SharedMemory *memory = (SharedMemory *)self;
    if (memory->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    if (memory->data != NULL) {
        munmap(memory->data, (size_t)memory->nbytes);
    }
    if (memory->fd >= 0) {
        close(memory->fd);
    }
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef shared_members[] = {
    {"fd", T_INT, offsetof(SharedMemory, fd), READONLY, "The file; -1 where it is not kept."},
    {"nbytes", T_PYSSIZET, offsetof(SharedMemory, nbytes), READONLY, "Size in bytes."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject GwSharedMemory_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.SharedMemory",
    .tp_doc = "SharedMemory(fd, nbytes, keep): the first bytes of a file, mapped; what is written "
              "to them shows in all processes that map it. It takes over the descriptor, which "
              "lives as long as the memory with `keep`, and is closed at once without.\n\n"
              "Raises ValueError for a shorter file, OSError where it cannot be mapped; the "
              "descriptor is then still the caller's.",
    .tp_basicsize = sizeof(SharedMemory),
    .tp_new = shared_new,
    .tp_dealloc = shared_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_members = shared_members,
    .tp_weaklistoffset = offsetof(SharedMemory, weakrefs),
};

static bool inside(const SharedMemory *memory, Py_ssize_t offset, int64_t nbytes) {
    if (offset >= 0 && nbytes >= 0 && offset <= memory->nbytes
        && nbytes <= memory->nbytes - offset) {
        return true;
    }
    PyErr_Format(PyExc_ValueError, "%lld bytes from byte %zd on do not lie in %zd of shared memory",
                 (long long)nbytes, offset, memory->nbytes);
    return false;
}

static PyObject *shared_tensor(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *cls;
    SharedMemory *memory;
    Py_ssize_t offset, nbytes;
    if (!PyArg_ParseTuple(args, "OO!nn", &cls, shared_type, &memory, &offset, &nbytes)) {
        return NULL;
    }
    PyTypeObject *type = gw_tensor_class(cls);
    if (type == NULL || !inside(memory, offset, nbytes)) {
        return NULL;
    }
    GwTensor *t = gw_tensor_alloc(type, 1);
    if (t == NULL) {
        return NULL;
    }
    t->dtype = GW_UINT8;
    t->device_index = -1;
    t->sizes[0] = nbytes;
    t->strides[0] = 1;
    t->data = memory->data + offset;
    t->storage = gw_storage_borrow((PyObject *)memory, t->data, nbytes, false);
    if (t->storage == NULL || !gw_tensor_seal(t)) {
        Py_CLEAR(t);
    }
    return (PyObject *)t;
}

static SharedMemory *memory_of(const GwStorage *s) {
    PyObject *owner = s->owner;
    while (owner != NULL && Py_IS_TYPE(owner, &GwStorage_Type)) {
        owner = ((GwStorage *)owner)->owner;
    }
    return owner != NULL && Py_IS_TYPE(owner, shared_type) ? (SharedMemory *)owner : NULL;
}

static PyObject *shared_place(PyObject *self, PyObject *storage) {
    GW_UNUSED(self);
    if (!Py_IS_TYPE(storage, &GwStorage_Type)) {
        return PyErr_Format(PyExc_TypeError, "expected a Storage, got %s",
                            Py_TYPE(storage)->tp_name);
    }
    const GwStorage *s = (GwStorage *)storage;
    SharedMemory *memory = memory_of(s);
    if (memory == NULL) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("On", memory, (Py_ssize_t)(s->data - memory->data));
}

/* Neither another tensor nor an array that someone may have refers to the storage. */
static PyObject *owns_alone(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    GwTensor *t = gw_tensor_arg(arg);
    if (t == NULL) {
        return NULL;
    }
    const GwStorage *s = t->storage;
    bool own_array = t->nd != NULL && PyArray_BASE((PyArrayObject *)t->nd) == (PyObject *)s;
    bool borrowed = s->owner != NULL && Py_IS_TYPE(s->owner, &GwStorage_Type);
    return PyBool_FromLong(!borrowed && Py_REFCNT(s) == (own_array ? 2 : 1)
                           && (!own_array || Py_REFCNT(t->nd) == 1));
}

/* Appends the tensors among the objects to the lists that a dict has of their memory's address. */
static PyObject *find_holders(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *objects, *found;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &objects, &PyDict_Type, &found)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects); i++) {
        PyObject *object = PyList_GET_ITEM(objects, i);
        const GwTensor *t = (GwTensor *)object;
        if (!gw_is_tensor(object) || t->storage == NULL || t->storage->data == NULL) {
            continue;
        }
        PyObject *address = PyLong_FromVoidPtr(t->storage->data);
        PyObject *list = address == NULL ? NULL : PyDict_GetItemWithError(found, address);
        Py_XDECREF(address);
        if (list != NULL && PyList_Check(list)) {
            if (PyList_Append(list, object) < 0) {
                return NULL;
            }
        } else if (PyErr_Occurred()) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

/* The storage at the new place that takes the part of `old`, made once for each. */
static GwStorage *successor(PyObject *made, GwStorage *old, SharedMemory *memory,
                            Py_ssize_t offset) {
    PyObject *known = PyDict_GetItemWithError(made, (PyObject *)old);
    if (known != NULL || PyErr_Occurred() || !inside(memory, offset, old->nbytes)) {
        return (GwStorage *)known;
    }
    GwStorage *s = gw_storage_borrow((PyObject *)memory, memory->data + offset, old->nbytes,
                                     old->readonly);
    if (s == NULL) {
        return NULL;
    }
    s->version = old->version;
    s->inference = old->inference;
    int failed = PyDict_SetItem(made, (PyObject *)old, (PyObject *)s);
    Py_DECREF(s);       /* the dict has it */
    return failed ? NULL : s;
}

static void move_to(GwTensor *t, GwStorage *s) {
    GwStorage *old = t->storage;
    PyObject *nd = t->nd;
    t->data = s->data + (t->data - old->data);
    t->storage = (GwStorage *)Py_NewRef(s);
    t->nd = NULL;
    Py_DECREF(old);
    Py_XDECREF(nd);
}

static PyObject *relocate(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *tensors;
    SharedMemory *memory;
    Py_ssize_t offset;
    if (!PyArg_ParseTuple(args, "O!O!n", &PyTuple_Type, &tensors, shared_type, &memory, &offset)) {
        return NULL;
    }
    PyObject *made = PyDict_New();
    bool ready = made != NULL;
    for (Py_ssize_t i = 0; ready && i < PyTuple_GET_SIZE(tensors); i++) {
        GwTensor *t = gw_tensor_arg(PyTuple_GET_ITEM(tensors, i));
        ready = t != NULL && successor(made, t->storage, memory, offset) != NULL;
    }
    for (Py_ssize_t i = 0; ready && i < PyTuple_GET_SIZE(tensors); i++) {
        GwTensor *t = (GwTensor *)PyTuple_GET_ITEM(tensors, i);
        PyObject *s = PyDict_GetItemWithError(made, (PyObject *)t->storage);
        if (s != NULL) {        /* a tensor that comes twice has moved already */
            move_to(t, (GwStorage *)s);
        }
        ready = s != NULL || !PyErr_Occurred();
    }
    Py_XDECREF(made);
    if (!ready) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef gw_sharing_methods[] = {
    {"shared_tensor", shared_tensor, METH_VARARGS,
     "shared_tensor(cls, memory, offset, nbytes): uint8 elements over a part of SharedMemory."},
    {"shared_place", shared_place, METH_O,
     "shared_place(storage): its SharedMemory and the offset there in bytes, or None."},
    {"owns_alone", owns_alone, METH_O,
     "owns_alone(tensor): no other tensor and no array shares its memory."},
    {"find_holders", find_holders, METH_VARARGS,
     "find_holders(objects, found): append the tensors of a list of objects to the lists that "
     "`found` has by the address of their storage."},
    {"relocate", relocate, METH_VARARGS,
     "relocate(tensors, memory, offset): the tensors of a tuple, all over one memory, lie at a "
     "place in SharedMemory from now on, which has the bytes already. Versions stay; arrays of "
     "the old memory keep it."},
    {NULL, NULL, 0, NULL},
};
