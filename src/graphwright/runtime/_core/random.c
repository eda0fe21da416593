/* Random numbers of the default generator, in tensors of few elements: the draws and formulas are
 * those of ops/random.py, which does the others on all threads. */
#include "native.h"
#include "vector_math.h"

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

/* cos x of 0 <= x <= 2 pi, to the accuracy of float32: Taylor's series around the quarters. */
GW_INLINE float cosine(float x) {
    double quarter = GW_RINT((double)x * 0.63661977236758134308);
    double r = (double)x - quarter * 1.57079632679489661923, s = r * r;
    double even = 1 + s * (-1.0 / 2 + s * (1.0 / 24 + s * (-1.0 / 720 + s / 40320)));
    double odd = r * (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s / 362880))));
    double value = quarter == 1 || quarter == 3 ? odd : even;
    return (float)(quarter == 1 || quarter == 2 ? -value : value);
}

/* Box-Muller: sqrt(-2 ln(1-u)) cos(2 pi v) of two draws, the first of which is in `out`. */
GW_VECTOR_MATH static void combine(float *out, const float *angles, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        float length = GW_SQRT(gw_log1p_float(-out[i]) * -2.0f);
        out[i] = length * cosine(angles[i] * 6.28318530717958648f);
    }
}

static void draw_normal(float *out, int64_t n) {
    float angles[LARGEST];
    gw_draw_uniform(out, n);
    gw_draw_uniform(angles, n);
    combine(out, angles, n);
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

/* ---- rand_like, randn_like: input, generator, dtype, device ---- */

static PyObject *drawn_like(PyTypeObject *cls, PyObject *const *args, bool normal) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    if (t == NULL || (t->flags & GW_CONTIGUOUS) == 0 || t->numel > LARGEST || args[1] != Py_None
        || gw_plain_dtype(args[2], t->dtype) != GW_FLOAT32 || !gw_on_cpu(args[3])) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, GW_FLOAT32, t->ndim, t->sizes, NULL);
    if (out != NULL) {
        (normal ? draw_normal : gw_draw_uniform)((float *)out->data, out->numel);
    }
    return (PyObject *)out;
}

GW_KERNEL(rand_like) { return drawn_like(cls, args, false); }
GW_KERNEL(randn_like) { return drawn_like(cls, args, true); }

/* ---- uniform_, normal_: input, two numbers, generator ---- */

GW_KERNEL(fill_uniform) {
    GW_UNUSED(cls);
    GwTensor *t = writable(args[0]);
    double low, high;
    if (t == NULL || !gw_plain_number(args[1], &low) || !gw_plain_number(args[2], &high)
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
    if (t == NULL || !gw_plain_number(args[1], &mean) || !gw_plain_number(args[2], &deviation)
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

const GwKernelEntry gw_random_kernels[] = {
    {"normal_", 4, fill_normal},
    {"rand", 4, uniform_numbers},
    {"rand_like", 4, rand_like},
    {"randn", 4, normal_numbers},
    {"randn_like", 4, randn_like},
    {"random_scaled", 5, scaled},
    {"uniform_", 4, fill_uniform},
    {NULL, 0, NULL},
};
