/* Marks in a queue: `CudaEvent`, which Python has, and those of the allocators. */
#include "driver.h"

enum { BLOCKING = 1, NO_TIMING = 2 };   /* of CUevent_flags */

void *gw_cuda_mark(const GwCudaStream *stream) {
    void *event;
    if (!GW_CUDA_CALL(cuEventCreate, &event, NO_TIMING)) {
        return NULL;
    }
    if (!GW_CUDA_CALL(cuEventRecord, event, stream->handle)) {
        gw_driver.cuEventDestroy(event);
        return NULL;
    }
    return event;
}

int gw_cuda_mark_is_done(void *event, int device) {
    int before = gw_cuda_switch(device), result = gw_driver.cuEventQuery(event);
    gw_cuda_switch_back(before);
    return result == GW_CUDA_NOT_READY ? 0 : gw_cuda_check(result, "cuEventQuery") ? 1 : -1;
}

void gw_cuda_mark_free(void *event, int device) {
    if (event != NULL && !gw_cuda_is_forked()) {
        int before = gw_cuda_switch(device);
        gw_driver.cuEventDestroy(event);
        gw_cuda_switch_back(before);
    }
}

bool gw_cuda_stream_waits_for(const GwCudaStream *waiting, const GwCudaStream *other) {
    void *event = gw_cuda_enter(other->device) ? gw_cuda_mark(other) : NULL;
    bool waits = event != NULL && gw_cuda_enter(waiting->device)
                 && GW_CUDA_CALL(cuStreamWaitEvent, waiting->handle, event, 0);
    gw_cuda_mark_free(event, other->device);
    return waits;
}

/* ---- CudaEvent ---- */

typedef struct {
    PyObject_HEAD
    void *handle;           /* made when it is first recorded */
    int device;
    bool timing, blocking;
} Event;

static PyObject *event_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"enable_timing", "blocking", NULL};
    int timing = 0, blocking = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|pp:CudaEvent", names, &timing, &blocking)) {
        return NULL;
    }
    Event *e = (Event *)cls->tp_alloc(cls, 0);
    if (e != NULL) {
        e->handle = NULL;
        e->device = -1;
        e->timing = timing != 0;
        e->blocking = blocking != 0;
    }
    return (PyObject *)e;
}

static void event_dealloc(PyObject *self) {
    PyTypeObject *cls = Py_TYPE(self);
    gw_cuda_mark_free(((Event *)self)->handle, ((Event *)self)->device);
    cls->tp_free(self);
}

static PyObject *event_record(PyObject *self, PyObject *id) {
    Event *e = (Event *)self;
    const GwCudaStream *stream = gw_cuda_stream_of(id);
    if (stream == NULL || !gw_cuda_enter(stream->device)) {
        return NULL;
    }
    if (e->handle != NULL && e->device != stream->device) {
        return PyErr_Format(PyExc_RuntimeError, "Event device cuda:%d does not match recording "
                            "stream's device cuda:%d.", e->device, stream->device);
    }
    unsigned flags = (e->timing ? 0 : NO_TIMING) | (e->blocking ? BLOCKING : 0);
    if (e->handle == NULL && !GW_CUDA_CALL(cuEventCreate, &e->handle, flags)) {
        e->handle = NULL;
        return NULL;
    }
    e->device = stream->device;
    return GW_CUDA_CALL(cuEventRecord, e->handle, stream->handle) ? Py_NewRef(Py_None) : NULL;
}

/* An event that was never recorded is done, and nothing waits for it. */
static PyObject *event_wait(PyObject *self, PyObject *id) {
    Event *e = (Event *)self;
    const GwCudaStream *stream = gw_cuda_stream_of(id);
    if (stream == NULL) {
        return NULL;
    }
    if (e->handle == NULL) {
        Py_RETURN_NONE;
    }
    return gw_cuda_enter(stream->device)
           && GW_CUDA_CALL(cuStreamWaitEvent, stream->handle, e->handle, 0)
           ? Py_NewRef(Py_None) : NULL;
}

static PyObject *event_query(PyObject *self, PyObject *unused) {
    GW_UNUSED(unused);
    Event *e = (Event *)self;
    if (e->handle == NULL) {
        Py_RETURN_TRUE;
    }
    int done = gw_cuda_enter(e->device) ? gw_cuda_mark_is_done(e->handle, e->device) : -1;
    if (done == 1 && !gw_cuda_reports(NULL, -1)) {
        return NULL;
    }
    return done < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject *event_synchronize(PyObject *self, PyObject *unused) {
    GW_UNUSED(unused);
    Event *e = (Event *)self;
    if (e->handle == NULL) {
        Py_RETURN_NONE;
    }
    if (!gw_cuda_enter(e->device)) {
        return NULL;
    }
    int result;
    GW_CUDA_WAIT(result, cuEventSynchronize, e->handle);
    return gw_cuda_check(result, "cuEventSynchronize") && gw_cuda_reports(NULL, -1)
           ? Py_NewRef(Py_None) : NULL;
}

static PyObject *event_elapsed(PyObject *self, PyObject *other) {
    Event *e = (Event *)self, *end = (Event *)other;
    if (!PyObject_TypeCheck(other, &GwCudaEvent_Type)) {
        return PyErr_Format(PyExc_TypeError, "elapsed_time() needs an event, not %s",
                            Py_TYPE(other)->tp_name);
    }
    if (e->handle == NULL || end->handle == NULL) {
        PyErr_SetString(PyExc_RuntimeError,
                        "Both events must be recorded before calculating elapsed time.");
        return NULL;
    }
    if (!e->timing || !end->timing) {
        PyErr_SetString(PyExc_RuntimeError,
                        "Both events must be created with argument 'enable_timing=True'.");
        return NULL;
    }
    float ms;
    int result = gw_cuda_enter(e->device)
                 ? gw_driver.cuEventElapsedTime(&ms, e->handle, end->handle) : -1;
    if (result == GW_CUDA_NOT_READY) {
        PyErr_SetString(PyExc_RuntimeError, "Both events must be completed before calculating "
                        "elapsed time: synchronize first.");
        return NULL;
    }
    return result >= 0 && gw_cuda_check(result, "cuEventElapsedTime")
           ? PyFloat_FromDouble((double)ms) : NULL;
}

static PyObject *event_handle(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    return PyLong_FromVoidPtr(((Event *)self)->handle);
}

static PyObject *event_device(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    return PyLong_FromLong(((Event *)self)->device);
}

static PyGetSetDef event_getset[] = {
    {"handle", event_handle, NULL, "The driver's event; 0 before it is recorded.", NULL},
    {"device", event_device, NULL, "The GPU's index; -1 before it is recorded.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef event_methods[] = {
    {"record", event_record, METH_O, "record(stream): mark what was put there until now."},
    {"wait", event_wait, METH_O, "wait(stream): what is put there later runs after the mark."},
    {"query", event_query, METH_NOARGS, "Whether the work before the mark is done."},
    {"synchronize", event_synchronize, METH_NOARGS, "Wait for the work before the mark."},
    {"elapsed_time", event_elapsed, METH_O,
     "elapsed_time(end): milliseconds from this mark to another."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject GwCudaEvent_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.CudaEvent",
    .tp_doc = "CudaEvent(enable_timing=False, blocking=False): a mark in a stream's work.",
    .tp_basicsize = sizeof(Event),
    .tp_new = event_new,
    .tp_dealloc = event_dealloc,
    .tp_getset = event_getset,
    .tp_methods = event_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};
