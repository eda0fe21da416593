/* Random numbers of the default generator, in tensors of few elements: the draws and formulas are
 * those of ops/random.py, which does the others on all threads. */
#include "native.h"

#include <math.h>

enum { LARGEST = 8 << 10 };

/* A tensor that random numbers are written into; NULL where that is left to Python. */
static GwTensor *writable(PyObject *o) {
    GwTensor *t = gw_plain_tensor(o);
    bool plain = t != NULL && t->dtype == GW_FLOAT32 && (t->flags & GW_CONTIGUOUS) != 0
                 && t->numel <= LARGEST && !t->storage->readonly;
    return plain ? t : NULL;
}

/* A new tensor of sizes that are not too large. */
static GwTensor *fresh(PyTypeObject *cls, PyObject *size, int dtype) {
    int64_t sizes[GW_MAX_DIMS], numel = 1;
    int ndim = gw_plain_sizes(size, sizes);
    for (int d = 0; d < ndim; d++) {
        if (__builtin_mul_overflow(numel, sizes[d], &numel) || numel > LARGEST) {
            return NULL;
        }
    }
    return ndim < 0 ? NULL : gw_tensor_empty(cls, dtype, ndim, sizes, NULL);
}

static bool plain_number(PyObject *o, double *value) {
    int64_t whole;
    if (PyFloat_CheckExact(o)) {
        *value = PyFloat_AS_DOUBLE(o);
        return true;
    }
    bool ok = gw_plain_int(o, &whole);
    *value = ok ? (double)whole : 0;
    return ok;
}

/* Box-Muller: sqrt(-2 ln(1-u)) cos(2 pi v) of two draws. */
static void draw_normal(float *out, int64_t n) {
    float angles[LARGEST];
    gw_draw_uniform(out, n);
    gw_draw_uniform(angles, n);
    for (int64_t i = 0; i < n; i++) {
        float length = sqrtf(log1pf(-out[i]) * -2.0f);
        out[i] = length * cosf(angles[i] * 6.28318530717958648f);
    }
}

static void scale(float *out, int64_t n, double by, double and) {
    float factor = (float)by, term = (float)and;
    for (int64_t i = 0; i < n; i++) {
        out[i] = out[i] * factor + term;
    }
}

/* ---- rand, randn: size, generator, dtype, device ---- */

static GwTensor *floats(PyTypeObject *cls, PyObject *const *args) {
    bool plain = args[1] == Py_None && gw_plain_dtype(args[2], gw_default_dtype()) == GW_FLOAT32
                 && gw_on_cpu(args[3]);
    return plain ? fresh(cls, args[0], GW_FLOAT32) : NULL;
}

GW_KERNEL(uniform_numbers) {
    GwTensor *out = floats(cls, args);
    if (out != NULL) {
        gw_draw_uniform((float *)out->data, out->numel);
    }
    return (PyObject *)out;
}

GW_KERNEL(normal_numbers) {
    GwTensor *out = floats(cls, args);
    if (out != NULL) {
        draw_normal((float *)out->data, out->numel);
    }
    return (PyObject *)out;
}

/* ---- uniform_, normal_: input, two numbers, generator ---- */

GW_KERNEL(fill_uniform) {
    GW_UNUSED(cls);
    GwTensor *t = writable(args[0]);
    double low, high;
    if (t == NULL || !plain_number(args[1], &low) || !plain_number(args[2], &high)
        || !(low <= high) || args[3] != Py_None) {
        return NULL;
    }
    gw_draw_uniform((float *)t->data, t->numel);
    scale((float *)t->data, t->numel, high - low, low);
    t->storage->version++;
    return Py_NewRef(args[0]);
}

GW_KERNEL(fill_normal) {
    GW_UNUSED(cls);
    GwTensor *t = writable(args[0]);
    double mean, deviation;
    if (t == NULL || !plain_number(args[1], &mean) || !plain_number(args[2], &deviation)
        || !(deviation >= 0) || args[3] != Py_None) {
        return NULL;
    }
    draw_normal((float *)t->data, t->numel);
    scale((float *)t->data, t->numel, deviation, mean);
    t->storage->version++;
    return Py_NewRef(args[0]);
}

/* ---- whole numbers ---- */

/* size, low, width, generator, device: floor(u width) + low. */
GW_KERNEL(scaled) {
    int64_t low, width;
    if (!gw_plain_int(args[1], &low) || !gw_plain_int(args[2], &width) || args[3] != Py_None
        || !gw_on_cpu(args[4])) {
        return NULL;
    }
    GwTensor *out = fresh(cls, args[0], GW_INT64);
    if (out != NULL) {
        float uniforms[LARGEST];
        int64_t *values = (int64_t *)out->data;
        gw_draw_uniform(uniforms, out->numel);
        for (int64_t i = 0; i < out->numel; i++) {
            values[i] = (int64_t)((double)uniforms[i] * (double)width) + low;
        }
    }
    return (PyObject *)out;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* n, generator, dtype, device: places in the order of random bits. */
GW_KERNEL(permutation) {
    enum { MOST = 1024 };
    int64_t n;
    if (!gw_plain_int(args[0], &n) || n < 0 || n > MOST || args[1] != Py_None
        || gw_plain_dtype(args[2], GW_INT64) != GW_INT64 || !gw_on_cpu(args[3])) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, 1, &n, NULL);
    if (out == NULL) {
        return NULL;
    }
    static const struct { int drop, shift; } parts[3] = {{8, 40}, {8, 16}, {16, 0}};
    uint64_t *keys = (uint64_t *)out->data;
    uint32_t words[MOST];
    int bits = 0;
    while (n >> bits != 0) {
        bits++;
    }
    for (int part = 0; part < 3; part++) {
        gw_draw_words(words, n);
        for (int64_t i = 0; i < n; i++) {
            uint64_t own = (uint64_t)(words[i] >> parts[part].drop) << parts[part].shift;
            keys[i] = part == 0 ? own : keys[i] | own;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        keys[i] = keys[i] << bits | (uint64_t)i;
    }
    qsort(keys, (size_t)n, sizeof *keys, compare);
    for (int64_t i = 0; i < n; i++) {
        keys[i] &= ((uint64_t)1 << bits) - 1;
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_random_kernels[] = {
    {"normal_", 4, fill_normal},
    {"rand", 4, uniform_numbers},
    {"randn", 4, normal_numbers},
    {"random_scaled", 5, scaled},
    {"randperm", 4, permutation},
    {"uniform_", 4, fill_uniform},
    {NULL, 0, NULL},
};
