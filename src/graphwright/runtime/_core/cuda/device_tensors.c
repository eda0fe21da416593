/* Tensors whose memory is a GPU's. The host cannot reach it: their `data` is NULL, so that no
 * kernel of the CPU takes them, and the address stands in the storage's block. */
#include "blocks.h"
#include "layout.h"

bool gw_on_gpu(const GwTensor *t) {
    return t->storage != NULL && t->storage->cuda != NULL && t->device == GW_CUDA;
}

uint64_t gw_cuda_address(const GwTensor *t) {
    uint64_t start = t->storage->cuda->address;
    return start == 0 ? 0 : start + (uint64_t)(t->offset * gw_itemsize(t));
}

static GwTensor *described(PyTypeObject *cls, int dtype, int ndim, const int64_t *sizes,
                           const int64_t *steps, int64_t *bytes) {
    int64_t count = gw_extent(sizes, steps, ndim);
    if (count < 0 || __builtin_mul_overflow(count, (int64_t)gw_dtypes[dtype].itemsize, bytes)) {
        PyErr_SetString(PyExc_RuntimeError, "the tensor's size in bytes does not fit in 63 bits");
        return NULL;
    }
    GwTensor *t = gw_tensor_alloc(cls, ndim);
    if (t == NULL) {
        return NULL;
    }
    memcpy(t->sizes, sizes, (size_t)ndim * sizeof *sizes);
    memcpy(t->strides, steps, (size_t)ndim * sizeof *steps);
    t->dtype = (int8_t)dtype;
    t->device_index = -1;
    if (!gw_tensor_seal(t)) {
        Py_CLEAR(t);
    }
    return t;
}

GwTensor *gw_tensor_described(PyObject *const args[4], int64_t *bytes) {
    int64_t sizes[GW_MAX_DIMS], steps[GW_MAX_DIMS];
    PyTypeObject *cls = gw_tensor_class(args[0]);
    int ndim = cls == NULL ? -1 : gw_read_ints(args[1], sizes, NULL);
    int n = ndim < 0 ? -1 : gw_read_ints(args[2], steps, NULL);
    int dtype = n < 0 ? -1 : gw_dtype_code(args[3]);
    if (dtype < 0 || n != ndim) {
        return dtype < 0 ? NULL : (GwTensor *)gw_not_strided();
    }
    return described(cls, dtype, ndim, sizes, steps, bytes);
}

/* The tensor, which is given memory of an entered device; NULL, and the tensor is gone, without. */
static GwTensor *placed(GwTensor *t, int64_t bytes, int device) {
    if (t == NULL) {
        return NULL;
    }
    t->device = GW_CUDA;
    t->device_index = (int16_t)device;
    t->storage = gw_storage_meta();
    if (t->storage == NULL
        || (t->storage->cuda = gw_cuda_alloc(device, (size_t)bytes)) == NULL) {
        Py_DECREF(t);
        return NULL;
    }
    t->storage->nbytes = bytes;
    return t;
}

GwTensor *gw_cuda_tensor_empty(PyTypeObject *cls, int dtype, int ndim, const int64_t *sizes,
                               const int64_t *strides, int device) {
    int64_t dense[GW_MAX_DIMS], bytes;
    if (strides == NULL && gw_contiguous(sizes, ndim, dense) < 0) {
        PyErr_SetString(PyExc_RuntimeError, "the tensor's size does not fit in 63 bits");
        return NULL;
    }
    GwTensor *t = described(cls, dtype, ndim, sizes, strides == NULL ? dense : strides, &bytes);
    return placed(t, bytes, device);
}

static PyObject *cuda_empty(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    int64_t bytes;
    int device;
    if (!gw_expect_args(nargs, 5, "cuda_empty(cls, shape, strides, dtype, device)")
        || !gw_cuda_index(args[4], &device) || !gw_cuda_enter(device)) {
        return NULL;
    }
    GwTensor *t = gw_tensor_described(args, &bytes);
    return (PyObject *)placed(t, bytes, device);
}

bool gw_cuda_lend(GwTensor *t, int device, uint64_t address, int64_t bytes, PyObject *owner,
                  bool readonly) {
    t->device = GW_CUDA;
    t->device_index = (int16_t)device;
    t->storage = gw_storage_meta();
    if (t->storage == NULL || !gw_cuda_enter(device)) {
        return false;
    }
    t->storage->cuda = bytes == 0 ? &gw_cuda_nothing
                       : gw_cuda_adopt(device, address, (size_t)bytes, owner);
    t->storage->nbytes = bytes;
    t->storage->readonly = readonly;
    return t->storage->cuda != NULL;
}

enum { DEVICE_ORDINAL = 9 };    /* of CUpointer_attribute */

/* The device that has the memory of an address; -1 with ValueError. */
static int device_of_address(uint64_t address) {
    int ordinal;
    if (!gw_cuda_enter(gw_cuda_current_device())) {
        return -1;
    }
    int result = gw_driver.cuPointerGetAttribute(&ordinal, DEVICE_ORDINAL, address);
    int device = result == GW_CUDA_SUCCESS ? gw_cuda_device_at(ordinal) : -1;
    if (device < 0) {
        PyErr_Format(PyExc_ValueError, "the address %p is not in the memory of a GPU",
                     (void *)(uintptr_t)address);
    }
    return device;
}

static PyObject *cuda_borrow(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    int64_t bytes;
    if (!gw_expect_args(nargs, 7, "cuda_borrow(cls, shape, strides, dtype, address, owner, "
                        "readonly)")) {
        return NULL;
    }
    uint64_t address = PyLong_AsUnsignedLongLong(args[4]);
    if (address == (uint64_t)-1 && PyErr_Occurred()) {
        return NULL;
    }
    GwTensor *t = gw_tensor_described(args, &bytes);
    int device = t == NULL ? -1
                 : bytes == 0 ? gw_cuda_current_device() : device_of_address(address);
    if (device < 0
        || !gw_cuda_lend(t, device, address, bytes, args[5], args[6] == Py_True)) {
        Py_XDECREF(t);
        return NULL;
    }
    return (PyObject *)t;
}

static GwTensor *gpu_tensor(PyObject *object) {
    GwTensor *t = gw_tensor_arg(object);
    if (t != NULL && !gw_on_gpu(t)) {
        PyErr_SetString(PyExc_RuntimeError, "expected a tensor in the memory of a GPU");
        return NULL;
    }
    return t;
}

static PyObject *cuda_record_stream(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *tensor, *id;
    if (!PyArg_ParseTuple(args, "OO:cuda_record_stream", &tensor, &id)) {
        return NULL;
    }
    GwTensor *t = gpu_tensor(tensor);
    GwCudaStream *stream = t == NULL ? NULL : gw_cuda_stream_of(id);
    return stream != NULL && gw_cuda_record_use(t->storage->cuda, stream) ? Py_NewRef(Py_None)
                                                                          : NULL;
}

static PyObject *has_cuda_memory(PyObject *self, PyObject *object) {
    GW_UNUSED(self);
    GwTensor *t = gw_tensor_arg(object);
    return t == NULL ? NULL : PyBool_FromLong(gw_on_gpu(t));
}

PyMethodDef gw_cuda_tensor_methods[] = {
    {"cuda_empty", FASTCALL(cuda_empty), METH_FASTCALL,
     "cuda_empty(cls, shape, strides, dtype, device): in memory of a GPU, which the current "
     "stream may write to."},
    {"cuda_borrow", FASTCALL(cuda_borrow), METH_FASTCALL,
     "cuda_borrow(cls, shape, strides, dtype, address, owner, readonly): over memory of another "
     "library on a GPU. `owner` is released when memory is next asked for, or the GPU synchronized, "
     "after the work is done that the current stream has when the tensor is freed."},
    {"cuda_record_stream", cuda_record_stream, METH_VARARGS,
     "cuda_record_stream(tensor, stream): its memory is not used for others until the work that "
     "the stream has when the tensor is freed is done."},
    {"has_cuda_memory", has_cuda_memory, METH_O,
     "has_cuda_memory(tensor): whether it is on a GPU, and not without data."},
    {NULL, NULL, 0, NULL},
};
