/* Queues of a GPU's work. As in PyTorch, a device has a fixed number of them for each priority,
 * handed out in turn; none is ever destroyed, so that a number names a stream for good. */
#include "driver.h"

enum { STREAMS_PER_PRIORITY = 32, NON_BLOCKING = 1 };

static GwCudaStream **streams;      /* by id */
static int count;
static GwCudaStream *defaults[GW_CUDA_DEVICES];
static _Thread_local GwCudaStream *current[GW_CUDA_DEVICES];

static GwCudaStream *add_stream(int device, int priority, void *handle, bool foreign) {
    GwCudaStream *made = PyMem_RawCalloc(1, sizeof *made);
    GwCudaStream **grown = made == NULL ? NULL
        : PyMem_RawRealloc(streams, (size_t)(count + 1) * sizeof *streams);
    if (grown == NULL) {
        PyMem_RawFree(made);
        PyErr_NoMemory();
        return NULL;
    }
    *made = (GwCudaStream){
        .handle = handle, .device = device, .priority = priority, .id = count, .foreign = foreign};
    streams = grown;
    streams[count++] = made;
    return made;
}

/* A stream that the legacy default stream of other libraries does not wait for. */
static GwCudaStream *create(int device, int priority) {
    void *handle;
    if (!gw_cuda_enter(device)
        || !GW_CUDA_CALL(cuStreamCreateWithPriority, &handle, NON_BLOCKING, priority)) {
        return NULL;
    }
    return add_stream(device, priority, handle, false);
}

static GwCudaStream *default_stream(int device) {
    if (defaults[device] == NULL) {
        defaults[device] = create(device, 0);
    }
    return defaults[device];
}

GwCudaStream *gw_cuda_current_stream(int device) {
    return current[device] != NULL ? current[device] : default_stream(device);
}

GwCudaStream *gw_cuda_stream_of(PyObject *id) {
    long value = PyLong_AsLong(id);
    if (value == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (value < 0 || value >= count) {
        PyErr_Format(PyExc_ValueError, "no stream has the number %ld", value);
        return NULL;
    }
    return streams[value];
}

GwCudaStream *gw_cuda_stream_at(int id) { return id < count ? streams[id] : NULL; }

bool gw_cuda_synchronize_stream(const GwCudaStream *stream) {
    int result;
    GW_CUDA_WAIT(result, cuStreamSynchronize, stream->handle);
    return gw_cuda_check(result, "cuStreamSynchronize")
           && gw_cuda_reports(stream, stream->device);
}

bool gw_cuda_settle(const GwCudaStream *stream) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    int result, before = gw_cuda_switch(stream->device);
    GW_CUDA_WAIT(result, cuStreamSynchronize, stream->handle);
    gw_cuda_switch_back(before);
    PyErr_Restore(type, value, traceback);
    return result == GW_CUDA_SUCCESS;
}

void gw_cuda_settle_or_keep(const GwCudaStream *stream, PyObject *memory) {
    if (!gw_cuda_settle(stream)) {
        Py_INCREF(memory);
    }
}

/* The device's streams of a priority in turn, which are made as they are first needed. */
static GwCudaStream *next_stream(int device, int priority) {
    static unsigned turns[GW_CUDA_DEVICES];
    int made = 0, turn = (int)(turns[device]++ % STREAMS_PER_PRIORITY);
    GwCudaStream *chosen = NULL;
    for (int i = 0; i < count; i++) {
        const GwCudaStream *s = streams[i];
        if (s->device == device && s->priority == priority && !s->foreign
            && s != defaults[device]) {
            chosen = made == turn ? streams[i] : chosen;
            made++;
        }
    }
    return made < STREAMS_PER_PRIORITY ? create(device, priority) : chosen;
}

/* ---- Python ---- */

static PyObject *number_of(const GwCudaStream *stream) {
    return stream == NULL ? NULL : PyLong_FromLong(stream->id);
}

static PyObject *cuda_stream(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *index;
    int device, priority, least, greatest;
    if (!PyArg_ParseTuple(args, "Oi:cuda_stream", &index, &priority)
        || !gw_cuda_index(index, &device) || default_stream(device) == NULL
        || !gw_cuda_enter(device)
        || !GW_CUDA_CALL(cuCtxGetStreamPriorityRange, &least, &greatest)) {
        return NULL;
    }
    priority = priority > least ? least : priority < greatest ? greatest : priority;
    return number_of(next_stream(device, priority));
}

static PyObject *cuda_external_stream(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *index;
    unsigned long long handle;
    int device;
    if (!PyArg_ParseTuple(args, "OK:cuda_external_stream", &index, &handle)
        || !gw_cuda_index(index, &device) || !gw_cuda_enter(device)) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (streams[i]->device == device && streams[i]->handle == (void *)(uintptr_t)handle) {
            return number_of(streams[i]);
        }
    }
    return number_of(add_stream(device, 0, (void *)(uintptr_t)handle, true));
}

static PyObject *cuda_current_stream(PyObject *self, PyObject *index) {
    GW_UNUSED(self);
    int device;
    return gw_cuda_index(index, &device) ? number_of(gw_cuda_current_stream(device)) : NULL;
}

static PyObject *cuda_default_stream(PyObject *self, PyObject *index) {
    GW_UNUSED(self);
    int device;
    return gw_cuda_index(index, &device) ? number_of(default_stream(device)) : NULL;
}

static PyObject *cuda_set_stream(PyObject *self, PyObject *id) {
    GW_UNUSED(self);
    GwCudaStream *stream = gw_cuda_stream_of(id);
    if (stream == NULL) {
        return NULL;
    }
    current[stream->device] = stream;
    Py_RETURN_NONE;
}

static PyObject *cuda_stream_facts(PyObject *self, PyObject *id) {
    GW_UNUSED(self);
    const GwCudaStream *s = gw_cuda_stream_of(id);
    return s == NULL ? NULL : Py_BuildValue("iiK", s->device, s->priority,
                                            (unsigned long long)(uintptr_t)s->handle);
}

static GwCudaStream *entered(PyObject *id) {
    GwCudaStream *stream = gw_cuda_stream_of(id);
    return stream != NULL && gw_cuda_enter(stream->device) ? stream : NULL;
}

static PyObject *cuda_stream_synchronize(PyObject *self, PyObject *id) {
    GW_UNUSED(self);
    const GwCudaStream *stream = entered(id);
    return stream != NULL && gw_cuda_synchronize_stream(stream) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *cuda_stream_query(PyObject *self, PyObject *id) {
    GW_UNUSED(self);
    const GwCudaStream *stream = entered(id);
    if (stream == NULL) {
        return NULL;
    }
    int result = gw_driver.cuStreamQuery(stream->handle);
    if (result != GW_CUDA_NOT_READY && !(gw_cuda_check(result, "cuStreamQuery")
                                         && gw_cuda_reports(stream, stream->device))) {
        return NULL;
    }
    return PyBool_FromLong(result == GW_CUDA_SUCCESS);
}

static PyObject *cuda_stream_is_capturing(PyObject *self, PyObject *id) {
    GW_UNUSED(self);
    const GwCudaStream *stream = entered(id);
    int status = 0;
    return stream != NULL && GW_CUDA_CALL(cuStreamIsCapturing, stream->handle, &status)
           ? PyBool_FromLong(status != 0) : NULL;
}

PyMethodDef gw_cuda_stream_methods[] = {
    {"cuda_stream", cuda_stream, METH_VARARGS,
     "cuda_stream(device, priority): the number of a stream, negative priorities going first."},
    {"cuda_external_stream", cuda_external_stream, METH_VARARGS,
     "cuda_external_stream(device, handle): the number of a stream of another library."},
    {"cuda_current_stream", cuda_current_stream, METH_O,
     "cuda_current_stream(device): the number of the one that this thread uses."},
    {"cuda_default_stream", cuda_default_stream, METH_O,
     "cuda_default_stream(device): the number of the one that threads use at first."},
    {"cuda_set_stream", cuda_set_stream, METH_O,
     "cuda_set_stream(stream): this thread uses it from now on, on its device."},
    {"cuda_stream_facts", cuda_stream_facts, METH_O,
     "cuda_stream_facts(stream): (device, priority, handle)."},
    {"cuda_stream_synchronize", cuda_stream_synchronize, METH_O,
     "cuda_stream_synchronize(stream): wait for what was put there."},
    {"cuda_stream_query", cuda_stream_query, METH_O,
     "cuda_stream_query(stream): whether all that was put there is done."},
    {"cuda_stream_is_capturing", cuda_stream_is_capturing, METH_O,
     "cuda_stream_is_capturing(stream): whether a graph is being recorded from it."},
    {NULL, NULL, 0, NULL},
};
