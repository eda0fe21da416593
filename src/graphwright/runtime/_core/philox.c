/* Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) and the
 * default generator.
 *
 * Element i of a draw: key = seed, counter = (i >> 2, offset) as 64-bit words, output word i & 3,
 * uniform = (word >> 8) * 2^-24. */
#include "core.h"
#include "pool.h"

static uint64_t generator_seed = 67280421310721u;
static uint64_t generator_offset;

void gw_reserve_random(uint64_t n, uint64_t *seed, uint64_t *offset) {
    *seed = generator_seed;
    *offset = generator_offset;
    generator_offset += n;
}

enum { LANES = 16 };

/* The four words of LANES counters that start at `block`: words[w * LANES + lane]. */
static inline __attribute__((always_inline)) void
philox_blocks(uint64_t block, uint64_t offset, uint64_t seed, uint32_t words[4 * LANES]) {
    uint32_t x0[LANES], x1[LANES], x2[LANES], x3[LANES];
    for (int i = 0; i < LANES; i++) {
        x0[i] = (uint32_t)(block + (uint64_t)i);
        x1[i] = (uint32_t)((block + (uint64_t)i) >> 32);
        x2[i] = (uint32_t)offset;
        x3[i] = (uint32_t)(offset >> 32);
    }
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < LANES; i++) {
            uint64_t p0 = (uint64_t)0xD2511F53u * x0[i], p1 = (uint64_t)0xCD9E8D57u * x2[i];
            x0[i] = (uint32_t)(p1 >> 32) ^ x1[i] ^ k0;
            x2[i] = (uint32_t)(p0 >> 32) ^ x3[i] ^ k1;
            x1[i] = (uint32_t)p1;
            x3[i] = (uint32_t)p0;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    memcpy(words, x0, sizeof x0);
    memcpy(words + LANES, x1, sizeof x1);
    memcpy(words + 2 * LANES, x2, sizeof x2);
    memcpy(words + 3 * LANES, x3, sizeof x3);
}

typedef struct {
    void *out;
    uint64_t seed, offset;
} Draw;

/* Elements [begin, end); begin is a multiple of 4. */
GW_VECTORISED static void draw_words(void *closure, int64_t begin, int64_t end) {
    const Draw *draw = closure;
    uint32_t *out = draw->out, words[4 * LANES];
    for (int64_t i = begin; i < end; i += 4 * LANES) {
        philox_blocks((uint64_t)i >> 2, draw->offset, draw->seed, words);
        int64_t n = end - i < 4 * LANES ? end - i : 4 * LANES;
        for (int64_t j = 0; j < n; j++) {
            out[i + j] = words[(j & 3) * LANES + (j >> 2)];
        }
    }
}

GW_VECTORISED static void draw_uniform(void *closure, int64_t begin, int64_t end) {
    const Draw *draw = closure;
    float *out = draw->out;
    uint32_t words[4 * LANES];
    for (int64_t i = begin; i < end; i += 4 * LANES) {
        philox_blocks((uint64_t)i >> 2, draw->offset, draw->seed, words);
        int64_t n = end - i < 4 * LANES ? end - i : 4 * LANES;
        for (int64_t j = 0; j < n; j++) {
            out[i + j] = (float)(int32_t)(words[(j & 3) * LANES + (j >> 2)] >> 8) * 0x1p-24f;
        }
    }
}

/* ---- Python ---- */

enum { GRAIN = 32 << 10, RELEASE_GIL = 128 << 10 };

static PyObject *draw(PyObject *args, int typenum, gw_body body) {
    PyObject *object;
    unsigned long long key, offset;
    if (!PyArg_ParseTuple(args, "O!KK", &PyArray_Type, &object, &key, &offset)) {
        return NULL;
    }
    PyArrayObject *out = (PyArrayObject *)object;
    if (PyArray_TYPE(out) != typenum || !PyArray_ISCARRAY(out)) {
        PyErr_SetString(PyExc_ValueError, "out must be C-contiguous, writeable and of "
                        "the function's dtype (uint32 for words, float32 for uniforms)");
        return NULL;
    }
    gw_ctx ctx;
    gw_context(&ctx);
    Draw closure = {PyArray_DATA(out), key, offset};
    int64_t n = PyArray_SIZE(out);
    PyThreadState *released = n >= RELEASE_GIL ? PyEval_SaveThread() : NULL;
    gw_parallel_for(&ctx, body, &closure, n, GRAIN);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
    Py_RETURN_NONE;
}

static PyObject *philox_words(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    return draw(args, NPY_UINT32, draw_words);
}

static PyObject *philox_uniform(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    return draw(args, NPY_FLOAT32, draw_uniform);
}

static PyObject *seed(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return PyLong_FromUnsignedLongLong(generator_seed);
}

static PyObject *manual_seed(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    unsigned long long value = PyLong_AsUnsignedLongLongMask(arg);
    if (value == (unsigned long long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    generator_seed = value;
    generator_offset = 0;
    Py_RETURN_NONE;
}

static PyObject *reserve_offset(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    unsigned long long n = PyLong_AsUnsignedLongLong(arg);
    if (n == (unsigned long long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    uint64_t key, offset;
    gw_reserve_random(n, &key, &offset);
    return PyLong_FromUnsignedLongLong(offset);
}

static PyObject *rng_state(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return Py_BuildValue("KK", (unsigned long long)generator_seed,
                         (unsigned long long)generator_offset);
}

static PyObject *set_rng_state(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    unsigned long long key, offset;
    if (!PyArg_ParseTuple(args, "KK", &key, &offset)) {
        return NULL;
    }
    generator_seed = key;
    generator_offset = offset;
    Py_RETURN_NONE;
}

PyMethodDef gw_philox_methods[] = {
    {"philox_words", philox_words, METH_VARARGS,
     "philox_words(out, seed, offset): fill a uint32 array with the random words."},
    {"philox_uniform", philox_uniform, METH_VARARGS,
     "philox_uniform(out, seed, offset): fill a float32 array with uniforms in [0, 1)."},
    {"seed", seed, METH_NOARGS, "The default generator's seed."},
    {"manual_seed", manual_seed, METH_O, "Set the seed (modulo 2^64) and start at offset 0."},
    {"reserve_offset", reserve_offset, METH_O, "Advance the offset by n; returns the old one."},
    {"rng_state", rng_state, METH_NOARGS, "(seed, offset) of the default generator."},
    {"set_rng_state", set_rng_state, METH_VARARGS, "set_rng_state(seed, offset)"},
    {NULL, NULL, 0, NULL},
};
