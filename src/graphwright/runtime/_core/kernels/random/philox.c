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

typedef struct {
    void *out;
    GwPlace place;
    int64_t first;          /* the element that `out` begins with */
} Draw;

enum { VECTORS = 2 };       /* at a time: their chains of products run side by side */
static const uint64_t LOW = 0xFFFFFFFFu;

#define PHILOX(name) plain_##name
#define PHILOX_TARGET
#define LANES 2
#define MULTIPLY(a, b) (((a) & LOW) * ((b) & LOW))
#include "philox_kernel.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#include <immintrin.h>

/* Compilers make several instructions of a product of 64-bit lanes, though its halves fit one. */
#define PHILOX(name) avx2_##name
#define PHILOX_TARGET __attribute__((target("avx2"), optimize("O3")))
#define LANES 4
#define MULTIPLY(a, b) ((avx2_Lanes)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#include "philox_kernel.h"

#define PHILOX(name) avx512_##name
#define PHILOX_TARGET __attribute__((target("avx512f,avx512dq,avx512vl"), optimize("O3")))
#define LANES 8
#define MULTIPLY(a, b) ((avx512_Lanes)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#include "philox_kernel.h"

static bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
           && __builtin_cpu_supports("avx512vl");
}

#define BEST(name)                                                  \
    (has_avx512() ? avx512_##name : __builtin_cpu_supports("avx2") ? avx2_##name : plain_##name)
#else
#define BEST(name) plain_##name
#endif

/* Elements [begin, end); begin is a multiple of 4. */
static void draw_words(void *closure, int64_t begin, int64_t end) {
    BEST(words)(closure, begin, end);
}

static void draw_uniform(void *closure, int64_t begin, int64_t end) {
    BEST(uniform)(closure, begin, end);
}

void gw_uniforms_at(const GwPlace *place, int64_t begin, int64_t n, float *out) {
    Draw closure = {out, *place, begin};
    draw_uniform(&closure, begin, begin + n);
}

/* A stream of its own, which Python's Generator is built on. */
typedef struct {
    PyObject_HEAD
    uint64_t seed, offset;
} Generator;

void gw_take_places(PyObject *generator, uint64_t n, GwPlace *place) {
    Generator *g = (Generator *)generator;
    *place = (GwPlace){g->seed, g->offset};
    g->offset += n;
}

bool gw_take_place(PyObject *generator, GwPlace *place) {
    if (generator == Py_None) {
        gw_reserve_random(1, &place->seed, &place->offset);
        return true;
    }
    if (Py_TYPE(generator)->tp_base == &GwGenerator_Type) {     /* nothing overrides `draw` */
        gw_take_places(generator, 1, place);
        return true;
    }
    unsigned long long seed, offset;
    PyObject *drawn = PyObject_CallMethod(generator, "draw", NULL);
    if (drawn != NULL && !PyTuple_Check(drawn)) {
        PyErr_SetString(PyExc_TypeError, "a draw is a tuple");
    }
    bool taken = drawn != NULL && PyTuple_Check(drawn)
                 && PyArg_ParseTuple(drawn, "KK", &seed, &offset);
    Py_XDECREF(drawn);
    if (!taken) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)
            || PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
        }
        return false;
    }
    *place = (GwPlace){seed, offset};
    return true;
}

static bool draw_of(PyObject *generator, void *out, int64_t n, gw_body body) {
    Draw closure = {.out = out};
    bool taken = gw_take_place(generator, &closure.place);
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
    Draw closure = {PyArray_DATA(out), {key, offset}, 0};
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
