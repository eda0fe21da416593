/* Where the random numbers of each GPU come from: a seed, and how many draws were taken. GPUs that
 * were not seeded alone have one seed. */
#include "blocks.h"

typedef struct {
    uint64_t seed, offset;
} Stream;

static Stream streams[GW_CUDA_DEVICES];
static bool seeded;

static Stream *stream_of(int device) {
    if (!seeded) {
        for (int i = 0; i < GW_CUDA_DEVICES; i++) {
            streams[i].seed = GW_DEFAULT_SEED;
        }
        seeded = true;
    }
    return &streams[device];
}

void gw_cuda_reserve_random(int device, uint64_t n, uint64_t *seed, uint64_t *offset) {
    Stream *stream = stream_of(device);
    *seed = stream->seed;
    *offset = stream->offset;
    stream->offset += n;
}

/* The stream of an index, of which no device need be there: seeds are set beforehand. */
static Stream *argument(PyObject *index) {
    long device = PyLong_AsLong(index);
    if (device < 0 || device >= GW_CUDA_DEVICES) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_IndexError, "GPUs have numbers from 0 to %d", GW_CUDA_DEVICES - 1);
        }
        return NULL;
    }
    return stream_of((int)device);
}

static PyObject *cuda_random(PyObject *self, PyObject *index) {
    GW_UNUSED(self);
    const Stream *s = argument(index);
    return s == NULL ? NULL : Py_BuildValue("KK", (unsigned long long)s->seed,
                                            (unsigned long long)s->offset);
}

static PyObject *cuda_set_random(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *index;
    unsigned long long seed, offset;
    if (!PyArg_ParseTuple(args, "OKK:cuda_set_random", &index, &seed, &offset)) {
        return NULL;
    }
    Stream *s = argument(index);
    if (s == NULL) {
        return NULL;
    }
    *s = (Stream){seed, offset};
    Py_RETURN_NONE;
}

PyMethodDef gw_cuda_random_methods[] = {
    {"cuda_random", cuda_random, METH_O,
     "cuda_random(device): (seed, offset) of the next draw on a GPU."},
    {"cuda_set_random", cuda_set_random, METH_VARARGS,
     "cuda_set_random(device, seed, offset): draw from there on."},
    {NULL, NULL, 0, NULL},
};
