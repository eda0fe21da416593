/* Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) and the
 * default generator.
 *
 * Element i of a draw: key = seed, counter = (i >> 2, offset) as 64-bit words, output word i & 3,
 * uniform = (word >> 8) * 2^-24. */
#include "generator.h"
#include "pool.h"

static uint64_t generator_seed = 67280421310721u;
static uint64_t generator_offset;

void gw_reserve_random(uint64_t n, uint64_t *seed, uint64_t *offset) {
    *seed = generator_seed;
    *offset = generator_offset;
    generator_offset += n;
}

/* Eight counters at a time, each 32-bit word in a 64-bit lane, as the multiplications want it. */
typedef uint64_t Lanes __attribute__((vector_size(64)));
enum { LANES = 8, VECTORS = 2, STEP = 4 * LANES * VECTORS };
static const uint64_t LOW = 0xFFFFFFFFu;

/* The words of LANES * VECTORS counters from `block` on, in the order of the elements. */
static inline __attribute__((always_inline)) void
philox_blocks(uint64_t block, uint64_t offset, uint64_t seed, uint32_t words[STEP]) {
    Lanes x[VECTORS][4];
    for (int v = 0; v < VECTORS; v++) {
        Lanes counter = (Lanes){0, 1, 2, 3, 4, 5, 6, 7} + (block + (uint64_t)(v * LANES));
        x[v][0] = counter & LOW;
        x[v][1] = counter >> 32;
        x[v][2] = (Lanes){0} + (offset & LOW);
        x[v][3] = (Lanes){0} + (offset >> 32);
    }
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        for (int v = 0; v < VECTORS; v++) {
            Lanes p0 = 0xD2511F53u * (x[v][0] & LOW), p1 = 0xCD9E8D57u * (x[v][2] & LOW);
            x[v][0] = (p1 >> 32) ^ x[v][1] ^ k0;
            x[v][2] = (p0 >> 32) ^ x[v][3] ^ k1;
            x[v][1] = p1 & LOW;
            x[v][3] = p0 & LOW;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int v = 0; v < VECTORS; v++) {
        Lanes low = x[v][0] | x[v][1] << 32, high = x[v][2] | x[v][3] << 32;
        for (int i = 0; i < LANES; i++) {
            uint64_t pair[2] = {low[i], high[i]};
            memcpy(words + 4 * (v * LANES + i), pair, sizeof pair);
        }
    }
}

typedef struct {
    void *out;
    uint64_t seed, offset;
} Draw;

/* Elements [begin, end); begin is a multiple of 4. */
GW_VECTORISED static void draw_words(void *closure, int64_t begin, int64_t end) {
    const Draw *draw = closure;
    uint32_t words[STEP];
    for (int64_t i = begin; i < end; i += STEP) {
        philox_blocks((uint64_t)i >> 2, draw->offset, draw->seed, words);
        size_t n = (size_t)(end - i < STEP ? end - i : STEP);
        memcpy((uint32_t *)draw->out + i, words, n * sizeof *words);
    }
}

GW_VECTORISED static void draw_uniform(void *closure, int64_t begin, int64_t end) {
    const Draw *draw = closure;
    uint32_t words[STEP];
    float uniforms[STEP];
    for (int64_t i = begin; i < end; i += STEP) {
        philox_blocks((uint64_t)i >> 2, draw->offset, draw->seed, words);
        for (int j = 0; j < STEP; j++) {
            uniforms[j] = (float)(int32_t)(words[j] >> 8) * 0x1p-24f;
        }
        size_t n = (size_t)(end - i < STEP ? end - i : STEP);
        memcpy((float *)draw->out + i, uniforms, n * sizeof *uniforms);
    }
}

/* A stream of its own, which Python's Generator is built on. */
typedef struct {
    PyObject_HEAD
    uint64_t seed, offset;
} Generator;

/* Takes the seed and the offset of the next draw. False, with what the generator raised but where
 * that says that it is none. */
static bool place_of(PyObject *generator, Draw *draw) {
    if (generator == Py_None) {
        gw_reserve_random(1, &draw->seed, &draw->offset);
        return true;
    }
    if (Py_TYPE(generator)->tp_base == &GwGenerator_Type) {     /* nothing overrides `draw` */
        draw->seed = ((Generator *)generator)->seed;
        draw->offset = ((Generator *)generator)->offset++;
        return true;
    }
    unsigned long long seed, offset;
    PyObject *place = PyObject_CallMethod(generator, "draw", NULL);
    if (place != NULL && !PyTuple_Check(place)) {
        PyErr_SetString(PyExc_TypeError, "a draw is a tuple");
    }
    bool taken = place != NULL && PyTuple_Check(place)
                 && PyArg_ParseTuple(place, "KK", &seed, &offset);
    Py_XDECREF(place);
    if (!taken) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)
            || PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
        }
        return false;
    }
    draw->seed = seed;
    draw->offset = offset;
    return true;
}

static bool draw_of(PyObject *generator, void *out, int64_t n, gw_body body) {
    Draw closure = {.out = out};
    bool taken = place_of(generator, &closure);
    if (taken) {
        body(&closure, 0, n);
    }
    return taken;
}

bool gw_draw_words(PyObject *generator, uint32_t *out, int64_t n) {
    return draw_of(generator, out, n, draw_words);
}

bool gw_draw_uniform(PyObject *generator, float *out, int64_t n) {
    return draw_of(generator, out, n, draw_uniform);
}

/* ---- the type ---- */

static PyObject *generator_draw(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    Generator *g = (Generator *)self;
    unsigned long long count = nargs == 0 ? 1 : PyLong_AsUnsignedLongLong(args[0]);
    if (nargs > 1 || PyErr_Occurred()) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "draw(count=1)");
    }
    uint64_t offset = g->offset;
    g->offset += count;
    return Py_BuildValue("KK", (unsigned long long)g->seed, (unsigned long long)offset);
}

static PyObject *generator_get(PyObject *self, PyObject *unused) {
    GW_UNUSED(unused);
    const Generator *g = (const Generator *)self;
    return Py_BuildValue("KK", (unsigned long long)g->seed, (unsigned long long)g->offset);
}

static PyObject *generator_set(PyObject *self, PyObject *args) {
    unsigned long long seed, offset;
    if (!PyArg_ParseTuple(args, "KK", &seed, &offset)) {
        return NULL;
    }
    ((Generator *)self)->seed = seed;
    ((Generator *)self)->offset = offset;
    Py_RETURN_NONE;
}

static PyMethodDef generator_methods[] = {
    {"draw", (PyCFunction)(void (*)(void))generator_draw, METH_FASTCALL,
     "draw(count=1): take `count` draws: the seed, and the offset of the first."},
    {"_get", generator_get, METH_NOARGS, "(seed, offset)"},
    {"_set", generator_set, METH_VARARGS, "_set(seed, offset)"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject GwGenerator_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.GeneratorBase",
    .tp_doc = "Seed and offset of a stream of random numbers.",
    .tp_basicsize = sizeof(Generator),
    .tp_new = PyType_GenericNew,
    .tp_methods = generator_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
};

/* ---- Python ---- */

enum { GRAIN = 8 << 10, RELEASE_GIL = 128 << 10 };

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
