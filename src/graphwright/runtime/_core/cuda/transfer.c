/* Copies between the host and GPUs, and memory set to a pattern. All of it is put into current
 * streams; what reads memory of the host that is not pinned has read it on return. */
#include "blocks.h"
#include "layout.h"

enum { PIECE = 4 << 20, PIECES_AHEAD = 4 };

static bool done(const GwCudaStream *stream, bool wait) {
    return !(wait || gw_cuda_waits()) || gw_cuda_synchronize_stream(stream);
}

/* Through pinned memory, which the stream reads while the program goes on. Pieces that are under
 * way are bounded by waiting for the stream. */
static bool upload_pageable(uint64_t to, const char *from, size_t bytes, GwCudaStream *stream) {
    for (int pieces = 1; bytes > 0; pieces++) {
        size_t part = bytes < PIECE ? bytes : PIECE;
        GwPinned *staged = gw_pinned_new(part);
        if (staged == NULL || !gw_cuda_enter(stream->device)) {
            Py_XDECREF(staged);
            return false;
        }
        char *place = gw_pinned_data(staged);
        Py_BEGIN_ALLOW_THREADS
        memcpy(place, from, part);
        Py_END_ALLOW_THREADS
        bool good = GW_CUDA_CALL(cuMemcpyHtoDAsync, to, place, part, stream->handle)
                    && gw_pinned_use(staged, stream);
        Py_DECREF(staged);
        if (!good || (pieces % PIECES_AHEAD == 0 && bytes > part
                      && !gw_cuda_synchronize_stream(stream))) {
            return false;
        }
        to += part;
        from += part;
        bytes -= part;
    }
    return true;
}

bool gw_cuda_upload(GwTensor *to, const GwTensor *from) {
    GwCudaStream *stream = gw_cuda_current_stream(to->device_index);
    return stream != NULL
           && upload_pageable(gw_cuda_address(to), from->data,
                              (size_t)(to->numel * gw_itemsize(to)), stream);
}

static bool upload(GwTensor *to, const GwTensor *from, size_t bytes, bool wait) {
    GwCudaStream *stream = gw_cuda_current_stream(to->device_index);
    GwPinned *pinned = gw_pinned_of(from);
    if (stream == NULL) {
        return false;
    }
    if (pinned == NULL) {
        return upload_pageable(gw_cuda_address(to), from->data, bytes, stream)
               && done(stream, false);
    }
    return GW_CUDA_CALL(cuMemcpyHtoDAsync, gw_cuda_address(to), from->data, bytes, stream->handle)
           && gw_pinned_use(pinned, stream) && done(stream, wait);
}

/* Memory that is not pinned is whole on return. */
static bool download(const GwTensor *to, const GwTensor *from, size_t bytes, bool wait) {
    GwCudaStream *stream = gw_cuda_current_stream(from->device_index);
    GwPinned *pinned = gw_pinned_of(to);
    if (stream == NULL) {
        return false;
    }
    int result;
    GW_CUDA_WAIT(result, cuMemcpyDtoHAsync, to->data, gw_cuda_address(from), bytes,
                 stream->handle);
    if (!gw_cuda_check(result, "cuMemcpyDtoHAsync")) {
        return false;
    }
    if (pinned != NULL) {
        return gw_pinned_use(pinned, stream) && done(stream, wait);
    }
    bool whole = done(stream, true);
    if (!whole) {
        gw_cuda_settle_or_keep(stream, (PyObject *)to->storage);
    }
    return whole;
}

/* The source's stream copies, after what the target's has to do before, and before what comes. */
static bool copy_to_peer(const GwTensor *to, const GwTensor *from, size_t bytes) {
    int target = to->device_index, source = from->device_index;
    GwCudaStream *reading = gw_cuda_enter(source) ? gw_cuda_current_stream(source) : NULL;
    GwCudaStream *writing = reading != NULL && gw_cuda_enter(target)
                            ? gw_cuda_current_stream(target) : NULL;
    if (writing == NULL || !gw_cuda_stream_waits_for(reading, writing) || !gw_cuda_enter(source)
        || !GW_CUDA_CALL(cuMemcpyPeerAsync, gw_cuda_address(to), gw_cuda_context(target),
                         gw_cuda_address(from), gw_cuda_context(source), bytes,
                         reading->handle)) {
        return false;
    }
    if (!gw_cuda_stream_waits_for(writing, reading)) {
        gw_cuda_settle_or_keep(reading, (PyObject *)to->storage);
        return false;
    }
    return done(reading, false);
}

static bool copy_on_gpu(const GwTensor *to, const GwTensor *from, size_t bytes) {
    if (to->device_index != from->device_index) {
        return copy_to_peer(to, from, bytes);
    }
    GwCudaStream *stream = gw_cuda_current_stream(to->device_index);
    return stream != NULL
           && GW_CUDA_CALL(cuMemcpyDtoDAsync, gw_cuda_address(to), gw_cuda_address(from), bytes,
                           stream->handle)
           && done(stream, false);
}

static bool is_usable(const GwTensor *t) {
    return gw_on_gpu(t) || (t->device == GW_CPU && t->data != NULL);
}

static bool transfer(GwTensor *to, const GwTensor *from, size_t bytes, bool wait) {
    int device = gw_on_gpu(to) ? to->device_index : from->device_index;
    if (bytes == 0) {
        return true;
    }
    if (!gw_cuda_enter(device)) {
        return false;
    }
    return !gw_on_gpu(from) ? upload(to, from, bytes, wait)
           : !gw_on_gpu(to) ? download(to, from, bytes, wait)
           : copy_on_gpu(to, from, bytes);
}

/* The bytes from the first element to the last: layouts have to be the same, without gaps that
 * others may write to. */
static PyObject *cuda_transfer(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (!gw_expect_args(nargs, 3, "cuda_transfer(to, from, wait)")) {
        return NULL;
    }
    GwTensor *to = gw_tensor_arg(args[0]);
    GwTensor *from = to == NULL ? NULL : gw_tensor_arg(args[1]);
    if (from == NULL) {
        return NULL;
    }
    int64_t count = gw_extent(to->sizes, to->strides, to->ndim);
    if (!is_usable(to) || !is_usable(from) || !(gw_on_gpu(to) || gw_on_gpu(from))
        || to->storage->readonly || gw_itemsize(to) != gw_itemsize(from)
        || count != gw_extent(from->sizes, from->strides, from->ndim)) {
        PyErr_SetString(PyExc_RuntimeError, "cuda_transfer needs two tensors of one layout, one "
                        "of them on a GPU");
        return NULL;
    }
    bool good = transfer(to, from, (size_t)(count * gw_itemsize(to)), args[2] != Py_False);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* ---- patterns ---- */

static bool repeats(const char *bytes, Py_ssize_t n, Py_ssize_t period) {
    return n % period == 0 && memcmp(bytes, bytes + period, (size_t)(n - period)) == 0;
}

/* Sets n elements of `size` bytes; *known is false for an element that the driver has no call
 * for. */
static bool set_memory(uint64_t to, const char *element, Py_ssize_t size, size_t n, void *stream,
                       bool *known) {
    size_t bytes = n * (size_t)size;
    uint16_t pair;
    uint32_t word;
    if (repeats(element, size, 1)) {
        return GW_CUDA_CALL(cuMemsetD8Async, to, (unsigned char)element[0], bytes, stream);
    }
    if (repeats(element, size, 2)) {
        memcpy(&pair, element, sizeof pair);
        return GW_CUDA_CALL(cuMemsetD16Async, to, pair, bytes / 2, stream);
    }
    if (size % 4 == 0 && repeats(element, size, 4)) {
        memcpy(&word, element, sizeof word);
        return GW_CUDA_CALL(cuMemsetD32Async, to, word, bytes / 4, stream);
    }
    *known = false;
    return true;
}

static PyObject *cuda_fill(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *object;
    const char *element;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "Oy#:cuda_fill", &object, &element, &size)) {
        return NULL;
    }
    GwTensor *t = gw_tensor_arg(object);
    if (t == NULL) {
        return NULL;
    }
    int64_t count = gw_extent(t->sizes, t->strides, t->ndim);
    if (!gw_on_gpu(t) || size != gw_itemsize(t) || count != t->numel) {
        PyErr_SetString(PyExc_RuntimeError, "cuda_fill needs a dense tensor on a GPU and the "
                        "bytes of one element");
        return NULL;
    }
    bool known = true;
    if (count > 0) {
        GwCudaStream *stream = gw_cuda_enter(t->device_index)
                               ? gw_cuda_current_stream(t->device_index) : NULL;
        if (stream == NULL || !set_memory(gw_cuda_address(t), element, size, (size_t)count,
                                          stream->handle, &known) || !done(stream, false)) {
            return NULL;
        }
    }
    return PyBool_FromLong(known);
}

PyMethodDef gw_cuda_transfer_methods[] = {
    {"cuda_transfer", FASTCALL(cuda_transfer), METH_FASTCALL,
     "cuda_transfer(to, from, wait): copy the bytes of a tensor to one of the same layout, one of "
     "the two on a GPU. Unless `wait` is False, pinned memory of the host may be used at once."},
    {"cuda_fill", cuda_fill, METH_VARARGS,
     "cuda_fill(tensor, element): set each element of a dense tensor to these bytes; False, and "
     "nothing set, for bytes that the driver has no call for."},
    {NULL, NULL, 0, NULL},
};
