/* Random numbers in tensors, but for normal ones of few elements: the draws and formulas are those
 * of random/draws.py, which does the others on all threads. */
#include "layout.h"
#include "random.h"
#include "vector_math.h"
#include "write_checks.h"

#include <float.h>
#include <math.h>

enum { MOST_SCALED = 1 << 24 };     /* integers of one draw */

/* A tensor of at most so many elements that random numbers are written into; NULL where that is left
 * to Python. */
static GwTensor *writable(PyObject *o, int64_t most) {
    GwTensor *t = gw_plain_tensor(o);
    bool plain = t != NULL && gw_is_real(t->dtype) && (t->flags & GW_CONTIGUOUS) != 0
                 && t->numel <= most && gw_is_open(t->storage);
    return plain ? t : NULL;
}

/* A new tensor of sizes that are not too large. */
static GwTensor *fresh(PyTypeObject *cls, PyObject *size, int dtype, int64_t most) {
    int64_t sizes[GW_MAX_DIMS], numel = 1;
    int ndim = gw_plain_sizes(size, sizes);
    for (int d = 0; d < ndim; d++) {
        if (__builtin_mul_overflow(numel, sizes[d], &numel) || numel > most) {
            return NULL;
        }
    }
    return ndim < 0 ? NULL : gw_tensor_empty(cls, dtype, ndim, sizes, NULL);
}

/* Numbers in [0, 1), from as many bits in both dtypes. */
bool gw_draw_reals(PyObject *generator, GwTensor *out) {
    if (out->dtype == GW_FLOAT32) {
        return gw_draw_uniform(generator, (float *)out->data, out->numel);
    }
    float uniforms[GW_FEW];
    bool drawn = gw_draw_uniform(generator, uniforms, out->numel);
    for (int64_t i = 0; drawn && i < out->numel; i++) {
        ((double *)out->data)[i] = (double)uniforms[i];
    }
    return drawn;
}

/* The tensor, filled; NULL without an exception where there is none or it was no generator. */
static PyObject *filled(GwTensor *out, GwFill fill, PyObject *generator) {
    if (out != NULL && !fill(generator, out)) {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}

/* ---- rand, randn: size, generator, dtype, device ---- */

GwTensor *gw_new_reals(PyTypeObject *cls, PyObject *const *args, int64_t most) {
    int dtype = gw_plain_dtype(args[2], gw_default_dtype());
    return gw_is_real(dtype) && gw_on_cpu(args[3]) ? fresh(cls, args[0], dtype, most) : NULL;
}

GW_KERNEL(uniform_numbers) {
    return filled(gw_new_reals(cls, args, GW_FEW), gw_draw_reals, args[1]);
}

GW_KERNEL(normal_numbers) {
    return filled(gw_new_reals(cls, args, GW_ANY), gw_draw_normal, args[1]);
}

/* ---- rand_like, randn_like: input, generator, dtype, device ---- */

static PyObject *drawn_like(PyTypeObject *cls, PyObject *const *args, GwFill fill, int64_t most) {
    GwTensor *t = gw_plain_tensor(args[0]);
    int dtype = t == NULL ? -1 : gw_plain_dtype(args[2], t->dtype);
    if (t == NULL || (t->flags & GW_CONTIGUOUS) == 0 || t->numel > most || !gw_is_real(dtype)
        || !gw_on_cpu(args[3])) {
        return NULL;
    }
    return filled(gw_tensor_like(cls, t, dtype), fill, args[1]);
}

GW_KERNEL(rand_like) { return drawn_like(cls, args, gw_draw_reals, GW_FEW); }
GW_KERNEL(randn_like) { return drawn_like(cls, args, gw_draw_normal, GW_ANY); }

/* ---- uniform_, normal_: input, two numbers, generator ---- */

/* A generator of Python's may change the tensor: what that draws is written after. */
PyObject *gw_fill_in_place(PyTypeObject *cls, PyObject *o, int64_t most, GwFill fill,
                           PyObject *generator, double by, double and) {
    GwTensor *t = writable(o, most);
    if (t == NULL) {
        return NULL;
    }
    bool apart = generator != Py_None;
    GwTensor *drawn = apart ? gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, NULL)
                            : (GwTensor *)Py_NewRef(o);
    bool done = drawn != NULL && fill(generator, drawn);
    if (done && apart) {
        t = writable(o, most);
        done = t != NULL && t->dtype == drawn->dtype && t->numel == drawn->numel;
        if (done && t->numel > 0) {
            memcpy(t->data, drawn->data, (size_t)(t->numel * gw_itemsize(t)));
        }
    }
    Py_XDECREF(drawn);
    if (!done) {
        return NULL;
    }
    gw_scale(t, by, and);
    t->storage->version++;
    return Py_NewRef(o);
}

/* Whether the dtype holds the bounds and what lies between them. */
static bool spans(const GwTensor *t, double low, double high) {
    double most = t->dtype == GW_FLOAT32 ? (double)FLT_MAX : DBL_MAX;
    return fabs(low) <= most && fabs(high) <= most && high - low <= most;
}

GW_KERNEL(fill_uniform) {
    double low, high;
    const GwTensor *t = writable(args[0], GW_FEW);
    if (t == NULL || !gw_plain_number(args[1], &low) || !gw_plain_number(args[2], &high)
        || !(low <= high) || !spans(t, low, high)) {
        return NULL;
    }
    return gw_fill_in_place(cls, args[0], GW_FEW, gw_draw_reals, args[3], high - low, low);
}

GW_KERNEL(fill_normal) {
    double mean, deviation;
    if (writable(args[0], GW_ANY) == NULL || !gw_plain_number(args[1], &mean)
        || !gw_plain_number(args[2], &deviation) || !(deviation >= 0)) {
        return NULL;
    }
    return gw_fill_in_place(cls, args[0], GW_ANY, gw_draw_normal, args[3], deviation, mean);
}

/* ---- bernoulli: input, p, generator ---- */

/* Copies the chances, a number as a comparison with float32 sees it; false where these are no chances
 * of the input's shape. */
static bool read_chances(const GwTensor *input, PyObject *p, double *chances) {
    const GwTensor *given = p == Py_None ? input : gw_plain_tensor(p);
    double number = 0;
    bool fits = given == NULL ? gw_plain_number(p, &number)
                : gw_is_real(given->dtype) && (given->flags & GW_CONTIGUOUS) != 0
                  && given->ndim == input->ndim
                  && memcmp(given->sizes, input->sizes,
                            (size_t)input->ndim * sizeof(int64_t)) == 0;
    fits = fits && number >= 0 && number <= 1;
    for (int64_t i = 0; fits && i < input->numel; i++) {
        chances[i] = given == NULL ? (double)(float)number
                     : given->dtype == GW_FLOAT32 ? ((const float *)given->data)[i]
                                                  : ((const double *)given->data)[i];
        fits = chances[i] >= 0 && chances[i] <= 1;
    }
    return fits;
}

/* Writes 1 with the chances. */
static void write_truths(GwTensor *out, const float *uniforms, const double *chances) {
    for (int64_t i = 0; i < out->numel; i++) {
        bool truth = (double)uniforms[i] < chances[i];
        if (out->dtype == GW_FLOAT32) {
            ((float *)out->data)[i] = truth;
        } else {
            ((double *)out->data)[i] = truth;
        }
    }
}

GW_KERNEL(bernoulli) {
    const GwTensor *input = gw_plain_tensor(args[0]);
    double chances[GW_FEW];
    float uniforms[GW_FEW];
    if (input == NULL || !gw_is_real(input->dtype) || (input->flags & GW_CONTIGUOUS) == 0
        || input->numel > GW_FEW || !read_chances(input, args[1], chances)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, input->dtype, input->ndim, input->sizes, NULL);
    if (out != NULL && gw_draw_uniform(args[2], uniforms, out->numel)) {
        write_truths(out, uniforms, chances);
    } else {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}

GW_KERNEL(fill_bernoulli) {
    GW_UNUSED(cls);
    GwTensor *t = writable(args[0], GW_FEW);
    int64_t n = t == NULL ? 0 : t->numel;
    double chances[GW_FEW];
    float uniforms[GW_FEW];
    if (t == NULL || args[1] == Py_None || !read_chances(t, args[1], chances)
        || !gw_draw_uniform(args[2], uniforms, n)
        || (t = writable(args[0], GW_FEW)) == NULL || t->numel != n) {
        return NULL;
    }
    write_truths(t, uniforms, chances);
    t->storage->version++;
    return Py_NewRef(args[0]);
}

/* ---- whole numbers ---- */

/* Of int32, int64 or a real dtype: floor(u width) + low. */
static void write_whole(GwTensor *t, const float *uniforms, int64_t low, int64_t width) {
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t value = (int64_t)((double)uniforms[i] * (double)width) + low;
        switch (t->dtype) {
            case GW_INT32: ((int32_t *)t->data)[i] = (int32_t)value; break;
            case GW_INT64: ((int64_t *)t->data)[i] = value; break;
            case GW_FLOAT32: ((float *)t->data)[i] = (float)value; break;
            default: ((double *)t->data)[i] = (double)value;
        }
    }
}

/* Whether the dtype has such numbers in [low, low + width). */
static bool has_whole(int dtype, int64_t low, int64_t width) {
    return dtype == GW_INT64
           || (low >= -MOST_SCALED && low <= MOST_SCALED - width + 1
               && (dtype == GW_INT32 || (dtype >= 0 && gw_is_real(dtype))));
}

/* A tensor, filled with such numbers; steals it. */
static PyObject *filled_with_whole(GwTensor *out, int64_t low, int64_t width,
                                   PyObject *generator) {
    float uniforms[GW_FEW];
    if (out != NULL && !gw_draw_uniform(generator, uniforms, out->numel)) {
        Py_CLEAR(out);
    }
    if (out != NULL) {
        write_whole(out, uniforms, low, width);
    }
    return (PyObject *)out;
}

static PyObject *whole_numbers(PyTypeObject *cls, PyObject *size, int dtype, int64_t low,
                               int64_t width, PyObject *generator) {
    bool has = has_whole(dtype, low, width);
    return has ? filled_with_whole(fresh(cls, size, dtype, GW_FEW), low, width, generator) : NULL;
}

/* size, low, width, generator, device */
GW_KERNEL(scaled) {
    int64_t low, width;
    bool plain = gw_plain_int(args[1], &low) && gw_plain_int(args[2], &width) && gw_on_cpu(args[4]);
    return plain ? whole_numbers(cls, args[0], GW_INT64, low, width, args[3]) : NULL;
}

/* low, high, size, generator, dtype, device; or high, size, None, .. */
GW_KERNEL(randint) {
    bool both = args[2] != Py_Ellipsis;
    int64_t low = 0, high, width;
    if ((both && !gw_plain_int(args[0], &low)) || !gw_plain_int(args[both], &high)
        || __builtin_sub_overflow(high, low, &width) || width <= 0 || width > MOST_SCALED
        || !gw_on_cpu(args[5])) {
        return NULL;
    }
    return whole_numbers(cls, args[1 + both], gw_plain_dtype(args[4], GW_INT64), low, width,
                         args[3]);
}

/* input, low, high, dtype, device; the high is in the place of the low where it is alone */
GW_KERNEL(randint_like) {
    GwTensor *t = gw_plain_tensor(args[0]);
    bool both = args[1] != Py_None && args[2] != Py_None;
    PyObject *last = args[2] != Py_None ? args[2] : args[1];
    int64_t low = 0, high, width;
    if (t == NULL || (t->flags & GW_CONTIGUOUS) == 0 || t->numel > GW_FEW
        || (both && !gw_plain_int(args[1], &low)) || !gw_plain_int(last, &high)
        || __builtin_sub_overflow(high, low, &width) || width <= 0 || width > MOST_SCALED
        || !gw_on_cpu(args[4])) {
        return NULL;
    }
    int dtype = gw_plain_dtype(args[3], t->dtype);
    if (!has_whole(dtype, low, width)) {
        return NULL;
    }
    return filled_with_whole(gw_tensor_like(cls, t, dtype), low, width, Py_None);
}

/* The tensor of whole numbers up to MOST_SCALED, which these dtypes hold. */
static GwTensor *whole_writable(PyObject *o) {
    GwTensor *t = gw_plain_tensor(o);
    bool plain = t != NULL && (gw_is_real(t->dtype) || t->dtype == GW_INT32 || t->dtype == GW_INT64)
                 && (t->flags & GW_CONTIGUOUS) != 0 && t->numel <= GW_FEW && gw_is_open(t->storage);
    return plain ? t : NULL;
}

/* input, low, to, generator; or input, to, Ellipsis, generator */
GW_KERNEL(fill_whole) {
    GW_UNUSED(cls);
    GwTensor *t = whole_writable(args[0]);
    bool both = args[2] != Py_Ellipsis;
    int64_t low = 0, to, n = t == NULL ? 0 : t->numel;
    float uniforms[GW_FEW];
    if (t == NULL || (both && !gw_plain_int(args[1], &low)) || !gw_plain_int(args[1 + both], &to)
        || low < -MOST_SCALED / 2 || to > MOST_SCALED / 2 || low >= to
        || !gw_draw_uniform(args[3], uniforms, n)
        || (t = whole_writable(args[0])) == NULL || t->numel != n) {
        return NULL;
    }
    write_whole(t, uniforms, low, to - low);
    t->storage->version++;
    return Py_NewRef(args[0]);
}

/* ---- poisson ---- */

/* Uniform numbers one after the other, a draw of the generator for so many of them. */
typedef struct {
    PyObject *generator;
    float numbers[64];
    int used;
} Uniforms;

/* In (0, 1); 0 with the generator's exception, or without one where it is none. */
static double next_uniform(Uniforms *u) {
    enum { COUNT = sizeof u->numbers / sizeof *u->numbers };
    if (u->used == COUNT) {
        if (!gw_draw_uniform(u->generator, u->numbers, COUNT)) {
            return 0;
        }
        u->used = 0;
    }
    return (double)u->numbers[u->used++] + 0x1p-25;
}

/* The number of factors that take a product of uniforms below exp(-rate); negative on failure. */
static double poisson_by_products(Uniforms *u, double rate) {
    double least = exp(-rate), product = 1;
    for (double count = 0;; count++) {
        double uniform = next_uniform(u);
        product *= uniform;
        if (uniform == 0 || product <= least) {
            return uniform == 0 ? -1 : count;
        }
    }
}

/* For rates from 10 on: W. Hoermann, "The transformed rejection method for generating Poisson
 * random variables" (1993), algorithm PTRS. Negative on failure. */
static double poisson_by_rejection(Uniforms *u, double rate) {
    double root = sqrt(rate), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    double scale = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double x = next_uniform(u), y = next_uniform(u);
        if (x == 0 || y == 0) {
            return -1;
        }
        x -= 0.5;
        double away = 0.5 - fabs(x), count = floor((2 * a / away + b) * x + rate + 0.43);
        if (away >= 0.07 && y <= bound) {
            return count;
        }
        if (count >= 0 && !(away < 0.013 && y > away)
            && log(y * scale / (a / (away * away) + b))
                   <= count * log(rate) - rate - lgamma(count + 1)) {
            return count;
        }
    }
}

static double element_at(const GwTensor *t, int64_t i) {
    return t->dtype == GW_FLOAT32 ? (double)((const float *)t->data)[i]
                                  : ((const double *)t->data)[i];
}

static void set_element(GwTensor *t, int64_t i, double value) {
    if (t->dtype == GW_FLOAT32) {
        ((float *)t->data)[i] = (float)value;
    } else {
        ((double *)t->data)[i] = value;
    }
}

/* Contiguous, of float32 or float64, with as many elements as are read here; else NULL. */
static const GwTensor *few_reals(PyObject *o) {
    const GwTensor *t = gw_plain_tensor(o);
    bool plain = t != NULL && gw_is_real(t->dtype) && (t->flags & GW_CONTIGUOUS) != 0
                 && t->numel <= GW_FEW;
    return plain ? t : NULL;
}

/* rates, generator: which may change the rates, so that they are copied before it draws. */
GW_KERNEL(poisson) {
    enum { FROM_HERE = 10 };
    const double most = 1e9;
    const GwTensor *rates = few_reals(args[0]);
    for (int64_t i = 0; rates != NULL && i < rates->numel; i++) {
        double rate = element_at(rates, i);
        if (!(rate >= 0 && rate <= most)) {
            return NULL;
        }
    }
    GwTensor *out = rates == NULL ? NULL
                    : gw_tensor_empty(cls, rates->dtype, rates->ndim, rates->sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    memcpy(out->data, rates->data, (size_t)(out->numel * gw_itemsize(out)));
    Uniforms u = {.generator = args[1], .used = sizeof u.numbers / sizeof *u.numbers};
    for (int64_t i = 0; i < out->numel; i++) {
        double rate = element_at(out, i);
        double count = rate == 0 ? 0 : rate < FROM_HERE ? poisson_by_products(&u, rate)
                                                        : poisson_by_rejection(&u, rate);
        if (count < 0) {
            Py_DECREF(out);
            return NULL;
        }
        set_element(out, i, count);
    }
    return (PyObject *)out;
}

/* ---- multinomial, with replacement ---- */

/* The sums of one row of weights, as parts of the last and rounded to the weights' dtype; false where
 * these are no weights. */
static bool parts_of(const GwTensor *weights, int64_t row, int64_t n, double *sums) {
    bool single = weights->dtype == GW_FLOAT32;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double weight = element_at(weights, row * n + i);
        if (!(weight >= 0 && isfinite(weight))) {
            return false;
        }
        sum = single ? (double)(float)(sum + weight) : sum + weight;
        sums[i] = sum;
    }
    for (int64_t i = 0; i < n; i++) {
        sums[i] = single ? (double)(float)(sums[i] / sum) : sums[i] / sum;
    }
    return sum > 0 && isfinite(sum);
}

/* The first place whose sum is above. */
static int64_t place_of(const double *sums, int64_t n, double value) {
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        low = sums[middle] > value ? low : middle + 1;
        high = sums[middle] > value ? middle : high;
    }
    return low < n ? low : n - 1;
}

/* input [rows, n] or [n], num_samples, replacement, generator */
GW_KERNEL(multinomial) {
    const GwTensor *t = few_reals(args[0]);
    int64_t count, n = t == NULL || t->ndim == 0 ? 0 : t->sizes[t->ndim - 1];
    double sums[GW_FEW];
    float uniforms[GW_FEW];
    if (n == 0 || t->ndim > 2 || args[2] != Py_True || !gw_plain_int(args[1], &count) || count < 2
        || count > GW_FEW || t->numel / n * count > GW_FEW) {
        return NULL;
    }
    int64_t rows = t->numel / n, sizes[2] = {rows, count};
    for (int64_t row = 0; row < rows; row++) {
        if (!parts_of(t, row, n, sums + row * n)) {
            return NULL;
        }
    }
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, t->ndim, t->ndim == 2 ? sizes : &count, NULL);
    if (out != NULL && !gw_draw_uniform(args[3], uniforms, out->numel)) {
        Py_CLEAR(out);
    }
    for (int64_t i = 0; out != NULL && i < out->numel; i++) {
        ((int64_t *)out->data)[i] = place_of(sums + i / count * n, n, (double)uniforms[i]);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_random_kernels[] = {
    {"bernoulli", 3, bernoulli},
    {"bernoulli_", 3, fill_bernoulli},
    {"multinomial", 4, multinomial},
    {"normal_", 4, fill_normal},
    {"poisson", 2, poisson},
    {"rand", 4, uniform_numbers},
    {"rand_like", 4, rand_like},
    {"randint", 6, randint},
    {"randint_like", 5, randint_like},
    {"randn", 4, normal_numbers},
    {"randn_like", 4, randn_like},
    {"random_", 4, fill_whole},
    {"random_scaled", 5, scaled},
    {"uniform_", 4, fill_uniform},
    {NULL, 0, NULL},
};
