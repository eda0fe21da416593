/* Memory exchanged with other libraries by DLPack (structures after its C header, versions 0 and
 * 1): export as a capsule that keeps the Storage alive, import as a Storage that owns the capsule's
 * content. */
#include "blocks.h"
#include "packs.h"

enum { DEVICE_CPU = 1, DEVICE_CUDA, DEVICE_CUDA_HOST };
enum { CODE_INT, CODE_UINT, CODE_FLOAT, CODE_HANDLE, CODE_BFLOAT, CODE_COMPLEX, CODE_BOOL,
       CODE_E4M3FN = 10, CODE_E4M3FNUZ, CODE_E5M2, CODE_E5M2FNUZ, CODE_E8M0FNU };
enum { FLAG_READ_ONLY = 1, FLAG_COPIED = 2 };

typedef struct {
    int32_t type, id;
} Device;

typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} DataType;

typedef struct {
    void *data;
    Device device;
    int32_t ndim;
    DataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} Array;

typedef struct Managed {
    Array array;
    void *context;
    void (*deleter)(struct Managed *);
} Managed;

typedef struct Versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct Versioned *);
    uint64_t flags;
    Array array;
} Versioned;

static const char *const PLAIN = "dltensor", *const USED_PLAIN = "used_dltensor";
static const char *const VERSIONED = "dltensor_versioned";
static const char *const USED_VERSIONED = "used_dltensor_versioned";

static const DataType codes[GW_NUM_DTYPES] = {
    [GW_BOOL] = {CODE_BOOL, 8, 1}, [GW_UINT8] = {CODE_UINT, 8, 1}, [GW_INT8] = {CODE_INT, 8, 1},
    [GW_INT16] = {CODE_INT, 16, 1}, [GW_INT32] = {CODE_INT, 32, 1}, [GW_INT64] = {CODE_INT, 64, 1},
    [GW_FLOAT16] = {CODE_FLOAT, 16, 1}, [GW_BFLOAT16] = {CODE_BFLOAT, 16, 1},
    [GW_FLOAT32] = {CODE_FLOAT, 32, 1}, [GW_FLOAT64] = {CODE_FLOAT, 64, 1},
    [GW_COMPLEX64] = {CODE_COMPLEX, 64, 1}, [GW_COMPLEX128] = {CODE_COMPLEX, 128, 1},
    [GW_UINT16] = {CODE_UINT, 16, 1}, [GW_UINT32] = {CODE_UINT, 32, 1},
    [GW_UINT64] = {CODE_UINT, 64, 1},
    [GW_FLOAT8_E4M3FN] = {CODE_E4M3FN, 8, 1}, [GW_FLOAT8_E5M2] = {CODE_E5M2, 8, 1},
    [GW_FLOAT8_E4M3FNUZ] = {CODE_E4M3FNUZ, 8, 1}, [GW_FLOAT8_E5M2FNUZ] = {CODE_E5M2FNUZ, 8, 1},
    [GW_FLOAT8_E8M0FNU] = {CODE_E8M0FNU, 8, 1},
};

/* ---- export ---- */

/* What a consumer holds: the structure, the Storage, and the sizes and strides. */
typedef struct {
    union {
        Managed plain;
        Versioned versioned;
    } head;
    GwStorage *storage;
    int64_t layout[];
} Export;

static void drop_export(Export *e) {
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        gw_lent_back(e->storage);
        Py_DECREF(e->storage);
        PyGILState_Release(state);
    }
    PyMem_RawFree(e);
}

static void drop_plain(Managed *m) { drop_export(m->context); }
static void drop_versioned(Versioned *m) { drop_export(m->context); }

/* A consumer renames the capsule and calls the deleter itself. */
static void exported_destructor(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, PLAIN)) {
        Managed *m = PyCapsule_GetPointer(capsule, PLAIN);
        m->deleter(m);
    } else if (PyCapsule_IsValid(capsule, VERSIONED)) {
        Versioned *m = PyCapsule_GetPointer(capsule, VERSIONED);
        m->deleter(m);
    }
}

static void fill_array(Array *array, const GwTensor *t, int64_t *layout) {
    memcpy(layout, t->sizes, (size_t)t->ndim * sizeof(int64_t));
    for (int i = 0; i < t->ndim; i++) {
        layout[t->ndim + i] = t->sizes[i] < 2 ? 1 : t->strides[i];
    }
    bool on_gpu = gw_on_gpu(t);
    void *data = on_gpu ? (void *)(uintptr_t)gw_cuda_address(t) : t->data;
    *array = (Array){
        .data = t->numel != 0 ? data : NULL, .device = {DEVICE_CPU, 0}, .ndim = t->ndim,
        .dtype = codes[t->dtype], .shape = layout, .strides = layout + t->ndim,
    };
    if (on_gpu) {
        array->device = (Device){DEVICE_CUDA, gw_cuda_ordinal(t->device_index)};
    }
}

static PyObject *to_dlpack(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *object;
    int versioned, copied;
    if (!PyArg_ParseTuple(args, "Opp:to_dlpack", &object, &versioned, &copied)) {
        return NULL;
    }
    GwTensor *t = gw_tensor_arg(object);
    if (t == NULL) {
        return NULL;
    }
    if (!gw_on_gpu(t) && (t->data == NULL || t->device != GW_CPU)) {
        PyErr_SetString(PyExc_BufferError, "only tensors that have memory can be exported");
        return NULL;
    }
    if (t->storage->readonly && !versioned) {
        PyErr_SetString(PyExc_BufferError, "read-only memory can be exported only to consumers "
                        "of DLPack 1.0 or later");
        return NULL;
    }
    Export *e = PyMem_RawMalloc(sizeof(Export) + 2 * (size_t)t->ndim * sizeof(int64_t));
    if (e == NULL) {
        return PyErr_NoMemory();
    }
    e->storage = (GwStorage *)Py_NewRef(t->storage);
    gw_lend_for_now(t->storage);
    if (versioned) {
        e->head.versioned = (Versioned){
            .major = 1, .minor = 0, .context = e, .deleter = drop_versioned,
            .flags = (t->storage->readonly ? FLAG_READ_ONLY : 0) | (copied ? FLAG_COPIED : 0),
        };
        fill_array(&e->head.versioned.array, t, e->layout);
    } else {
        e->head.plain = (Managed){.context = e, .deleter = drop_plain};
        fill_array(&e->head.plain.array, t, e->layout);
    }
    PyObject *capsule = PyCapsule_New(e, versioned ? VERSIONED : PLAIN, exported_destructor);
    if (capsule == NULL) {
        drop_export(e);
    }
    return capsule;
}

/* ---- import ---- */

static void taken_destructor(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, USED_PLAIN)) {
        Managed *m = PyCapsule_GetPointer(capsule, USED_PLAIN);
        if (m->deleter != NULL) {
            m->deleter(m);
        }
    } else if (PyCapsule_IsValid(capsule, USED_VERSIONED)) {
        Versioned *m = PyCapsule_GetPointer(capsule, USED_VERSIONED);
        if (m->deleter != NULL) {
            m->deleter(m);
        }
    }
}

static int dtype_of(const Array *array) {
    for (int code = 0; code < GW_NUM_DTYPES; code++) {
        if (codes[code].code == array->dtype.code && codes[code].bits == array->dtype.bits
            && array->dtype.lanes == 1) {
            return code;
        }
    }
    PyErr_Format(PyExc_BufferError, "no dtype for DLPack type code %d, %d bits, %d lanes",
                 array->dtype.code, array->dtype.bits, array->dtype.lanes);
    return -1;
}

/* Whether memory of the device can be used; else BufferError. */
static bool is_known(const Device *device) {
    if (device->type == DEVICE_CPU || device->type == DEVICE_CUDA_HOST
        || (device->type == DEVICE_CUDA && gw_cuda_usable()
            && gw_cuda_device_at(device->id) >= 0)) {
        return true;
    }
    PyErr_Format(PyExc_BufferError, "memory of the DLPack device (%d, %d) is neither the CPU's nor "
                 "a GPU's that can be used", device->type, device->id);
    return false;
}

static bool can_take(const Array *array, int dtype) {
    if (!is_known(&array->device)) {
        return false;
    }
    if (array->ndim < 0 || array->ndim > GW_MAX_DIMS) {
        PyErr_Format(PyExc_BufferError, "%d dimensions; at most %d are supported", array->ndim,
                     GW_MAX_DIMS);
        return false;
    }
    if (array->ndim > 0 && array->shape == NULL) {
        PyErr_Format(PyExc_BufferError, "an array of %d dimensions without a shape", array->ndim);
        return false;
    }
    for (int i = 0; i < array->ndim; i++) {
        if (array->shape[i] < 0 || (array->strides != NULL && array->strides[i] < 0)) {
            PyErr_SetString(PyExc_BufferError, "negative sizes and strides are not supported; "
                            "copy the array first");
            return false;
        }
    }
    int itemsize = gw_dtypes[dtype].itemsize, alignment = itemsize < 8 ? itemsize : 8;
    if (((uintptr_t)array->data + array->byte_offset) % (uintptr_t)alignment != 0) {
        PyErr_SetString(PyExc_BufferError, "the memory is not aligned to its elements");
        return false;
    }
    return true;
}

/* Whether there are so many bytes of memory behind the offset; else BufferError. */
static bool has_memory(const Array *array, int64_t bytes) {
    uintptr_t end;
    if (bytes > 0
        && (array->data == NULL
            || __builtin_add_overflow((uintptr_t)array->data, array->byte_offset, &end)
            || __builtin_add_overflow(end, (uint64_t)bytes, &end))) {
        PyErr_SetString(PyExc_BufferError, array->data == NULL
                        ? "an array with elements, but without memory"
                        : "the memory's offset and size do not fit in an address");
        return false;
    }
    return true;
}

/* Bytes from the first element to the end of the last; -1 with BufferError on overflow. */
static int64_t reach(const GwTensor *t) {
    int64_t last = 0, bytes;
    bool overflow = false;
    for (int i = 0; i < t->ndim; i++) {
        int64_t step;
        overflow = overflow || __builtin_mul_overflow(t->sizes[i] - 1, t->strides[i], &step)
                   || __builtin_add_overflow(last, step, &last);
    }
    if (t->numel == 0) {
        return 0;
    }
    if (overflow || __builtin_mul_overflow(last + 1, (int64_t)gw_itemsize(t), &bytes)) {
        PyErr_SetString(PyExc_BufferError, "the size in bytes does not fit in 63 bits");
        return -1;
    }
    return bytes;
}

/* The owner's memory as the tensor's; false with an exception. */
static bool give_memory(GwTensor *t, const Array *array, int64_t bytes, PyObject *owner,
                        bool readonly) {
    static char nothing;
    char *data = bytes > 0 ? (char *)array->data + array->byte_offset : &nothing;
    if (array->device.type == DEVICE_CUDA) {
        return gw_cuda_lend(t, gw_cuda_device_at(array->device.id), (uint64_t)(uintptr_t)data,
                            bytes, owner, readonly);
    }
    t->storage = gw_storage_borrow(owner, data, bytes, readonly);
    t->data = data;
    return t->storage != NULL;
}

static GwTensor *over(PyTypeObject *cls, const Array *array, int dtype, PyObject *owner,
                      bool readonly) {
    GwTensor *t = gw_tensor_alloc(cls, array->ndim);
    if (t == NULL) {
        return NULL;
    }
    for (int i = 0; i < array->ndim; i++) {
        t->sizes[i] = array->shape[i];
    }
    int64_t count = gw_contiguous(t->sizes, t->ndim, t->strides);
    for (int i = 0; array->strides != NULL && i < array->ndim; i++) {
        t->strides[i] = array->strides[i];
    }
    t->dtype = (int8_t)dtype;
    t->device_index = -1;
    int64_t bytes = count < 0 || !gw_tensor_seal(t) ? -1 : reach(t);
    if (bytes < 0 || !has_memory(array, bytes) || !give_memory(t, array, bytes, owner, readonly)) {
        Py_DECREF(t);
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_BufferError, "the size in bytes does not fit in 63 bits");
        }
        return NULL;
    }
    return t;
}

static PyObject *from_dlpack(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *cls_object, *capsule;
    if (!PyArg_ParseTuple(args, "OO:from_dlpack", &cls_object, &capsule)) {
        return NULL;
    }
    PyTypeObject *cls = gw_tensor_class(cls_object);
    if (cls == NULL) {
        return NULL;
    }
    bool versioned = PyCapsule_IsValid(capsule, VERSIONED);
    if (!versioned && !PyCapsule_IsValid(capsule, PLAIN)) {
        PyErr_SetString(PyExc_RuntimeError, "from_dlpack received an invalid capsule; a DLPack "
                        "capsule can be consumed only once");
        return NULL;
    }
    const char *used = versioned ? USED_VERSIONED : USED_PLAIN;
    void *content = PyCapsule_GetPointer(capsule, versioned ? VERSIONED : PLAIN);
    const Versioned *modern = content;
    if (versioned && modern->major != 1) {
        PyErr_Format(PyExc_BufferError, "DLPack version %u.%u is not supported", modern->major,
                     modern->minor);
        return NULL;
    }
    const Array *array = versioned ? &modern->array : &((Managed *)content)->array;
    bool readonly = versioned && (modern->flags & FLAG_READ_ONLY) != 0;
    int dtype = dtype_of(array);
    if (dtype < 0 || !can_take(array, dtype)) {
        return NULL;
    }
    PyObject *owner = PyCapsule_New(content, used, NULL);
    GwTensor *t = owner == NULL ? NULL : over(cls, array, dtype, owner, readonly);
    if (t == NULL || PyCapsule_SetName(capsule, used) < 0
        || PyCapsule_SetDestructor(owner, taken_destructor) < 0) {
        Py_XDECREF(t);
        Py_XDECREF(owner);
        return NULL;
    }
    Py_DECREF(owner);
    return (PyObject *)t;
}

PyMethodDef gw_dlpack_methods[] = {
    {"to_dlpack", to_dlpack, METH_VARARGS,
     "to_dlpack(tensor, versioned, copied): a capsule over the tensor's memory, which it keeps."},
    {"from_dlpack", from_dlpack, METH_VARARGS,
     "from_dlpack(cls, capsule): a tensor over the capsule's memory, which it takes over."},
    {NULL, NULL, 0, NULL},
};
