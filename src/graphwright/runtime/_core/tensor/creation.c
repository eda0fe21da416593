/* Making tensors of given values: zeros and their like, ranges, identity, fill_. */
#include "layout.h"
#include "float8.h"
#include "half.h"
#include "native.h"
#include "pool.h"
#include "write_checks.h"

#include <float.h>
#include <math.h>

/* One element, as its bytes. */
typedef struct {
    _Alignas(16) char bytes[16];
    int size;
    bool zero;
} Element;

static bool in_range(int64_t value, int dtype) {
    switch (dtype) {
        case GW_UINT8: return value >= 0 && value <= UINT8_MAX;
        case GW_INT8: return value >= INT8_MIN && value <= INT8_MAX;
        case GW_INT16: return value >= INT16_MIN && value <= INT16_MAX;
        case GW_INT32: return value >= INT32_MIN && value <= INT32_MAX;
        default: return true;
    }
}

static bool write_float(double value, int dtype, char *to) {
    if (dtype == GW_FLOAT32 && !(fabs(value) > FLT_MAX && isfinite(value))) {
        *(float *)to = (float)value;
    } else if (dtype == GW_FLOAT64) {
        *(double *)to = value;
    } else if (dtype == GW_FLOAT16 && !(fabs(value) > 65504 && isfinite(value))) {
        *(uint16_t *)to = gw_to_float16((float)value);
    } else if (dtype == GW_BFLOAT16 && !(fabs(value) > 3e38 && isfinite(value))) {
        *(uint16_t *)to = gw_to_bfloat16((float)value);
    } else if (gw_is_float8(dtype) && gw_float8_holds(dtype, value)) {
        *(uint8_t *)to = gw_to_float8(dtype, (float)value);
    } else {
        return false;
    }
    return true;
}

static bool write_int(int64_t value, int dtype, char *to) {
    switch (dtype) {
        case GW_BOOL: *(uint8_t *)to = value != 0; return true;
        case GW_UINT8: case GW_INT8: *(int8_t *)to = (int8_t)value; return true;
        case GW_INT16: *(int16_t *)to = (int16_t)value; return true;
        case GW_INT32: *(int32_t *)to = (int32_t)value; return true;
        case GW_INT64: *(int64_t *)to = value; return true;
        default: return write_float((double)value, dtype, to);
    }
}

bool gw_element(PyObject *number, int dtype, char bytes[16]) {
    memset(bytes, 0, 16);
    if (PyFloat_CheckExact(number)) {
        double value = PyFloat_AS_DOUBLE(number);
        bool nothing = value == 0 && !signbit(value) && gw_dtypes[dtype].floating
                       && !gw_is_float8(dtype);
        return nothing || write_float(value, dtype, bytes);
    }
    int64_t value = number == Py_True;
    if (!PyBool_Check(number) && !gw_plain_int(number, &value)) {
        return false;
    }
    return in_range(value, dtype) && (value == 0 || write_int(value, dtype, bytes));
}

static bool element_of(PyObject *number, int dtype, Element *e) {
    static const char none[sizeof e->bytes];
    bool known = gw_element(number, dtype, e->bytes);
    e->size = gw_dtypes[dtype].itemsize;
    e->zero = known && memcmp(e->bytes, none, sizeof none) == 0;
    return known;
}

GW_VECTORISED static void fill_words(char *to, int64_t n, const char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    for (int64_t i = 0; i < n; i++) {
        ((uint32_t *)(void *)to)[i] = word;
    }
}

static void fill_row(char *to, int64_t n, int64_t step, const Element *e) {
    if (step == e->size && e->zero) {
        memset(to, 0, (size_t)(n * step));
        return;
    }
    if (step == e->size && e->size == 4) {
        fill_words(to, n, e->bytes);
        return;
    }
    for (int64_t i = 0; i < n; i++, to += step) {
        switch (e->size) {
            case 1: *to = e->bytes[0]; break;
            case 4: memcpy(to, e->bytes, 4); break;
            case 8: memcpy(to, e->bytes, 8); break;
            default: memcpy(to, e->bytes, (size_t)e->size);
        }
    }
}

static void fill_dims(char *to, int d, const GwTensor *t, const Element *e) {
    int64_t step = t->strides[d] * e->size;
    if (d == t->ndim - 1) {
        fill_row(to, t->sizes[d], step, e);
        return;
    }
    for (int64_t i = 0; i < t->sizes[d]; i++) {
        fill_dims(to + i * step, d + 1, t, e);
    }
}

typedef struct {
    char *data;
    const Element *element;
} Filling;

static void fill_part(void *closure, int64_t first, int64_t last) {
    const Filling *f = closure;
    int64_t size = f->element->size;
    fill_row(f->data + first * size, last - first, size, f->element);
}

enum { LONGEST = 1 << 16 };     /* elements that one thread writes */

/* n elements that lie together. Needs the GIL. */
static void fill_dense(char *data, int64_t n, const Element *e) {
    Filling f = {data, e};
    if (n <= LONGEST) {
        fill_part(&f, 0, n);
        return;
    }
    gw_ctx ctx;
    gw_context(&ctx);
    Py_BEGIN_ALLOW_THREADS
    gw_parallel_for(&ctx, fill_part, &f, n, LONGEST);
    Py_END_ALLOW_THREADS
}

/* Writes every element of a tensor that has some. */
static void fill(const GwTensor *t, const Element *e) {
    if (t->flags & GW_CONTIGUOUS) {
        fill_dense(t->data, t->numel, e);
    } else if (t->numel > 0) {
        fill_dims(t->data, 0, t, e);
    }
}

/* ---- new tensors ---- */

static PyObject *filled(PyTypeObject *cls, int dtype, int ndim, const int64_t *sizes,
                        const int64_t *strides, PyObject *number) {
    Element e;
    int64_t bytes = gw_dtypes[dtype].itemsize;
    for (int d = 0; d < ndim; d++) {
        if (__builtin_mul_overflow(bytes, sizes[d], &bytes)) {
            return NULL;
        }
    }
    if (number != NULL && !element_of(number, dtype, &e)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, dtype, ndim, sizes, strides);
    if (out != NULL && number != NULL) {
        fill_dense(out->data, out->numel, &e);          /* in whatever order */
    }
    return (PyObject *)out;
}

/* In the layout of `input`, if dtype and device are plain. */
static PyObject *filled_like(PyTypeObject *cls, PyObject *input, PyObject *number, PyObject *dtype,
                             PyObject *device) {
    GwTensor *model = gw_plain_tensor(input);
    int64_t strides[GW_MAX_DIMS];
    if (model == NULL || !gw_on_cpu(device)) {
        return NULL;
    }
    int code = gw_plain_dtype(dtype, model->dtype);
    bool strided = gw_kept_strides(model, strides);
    return code < 0 ? NULL
           : filled(cls, code, model->ndim, model->sizes, strided ? strides : NULL, number);
}

static PyObject *filled_sizes(PyTypeObject *cls, PyObject *size, PyObject *number, PyObject *dtype,
                              PyObject *device) {
    int64_t sizes[GW_MAX_DIMS];
    int ndim = gw_on_cpu(device) ? gw_plain_sizes(size, sizes) : -1;
    int code = gw_plain_dtype(dtype, gw_default_dtype());
    return ndim < 0 || code < 0 ? NULL : filled(cls, code, ndim, sizes, NULL, number);
}

static PyObject *with_number(PyTypeObject *cls, PyObject *const *args, long number, bool like) {
    PyObject *value = PyLong_FromLong(number);      /* one that the interpreter keeps */
    PyObject *out = value == NULL ? NULL
                    : (like ? filled_like : filled_sizes)(cls, args[0], value, args[1], args[2]);
    Py_XDECREF(value);
    return out;
}

GW_KERNEL(zeros) { return with_number(cls, args, 0, false); }
GW_KERNEL(ones) { return with_number(cls, args, 1, false); }
GW_KERNEL(empty) { return filled_sizes(cls, args[0], NULL, args[1], args[2]); }
GW_KERNEL(zeros_like) { return with_number(cls, args, 0, true); }
GW_KERNEL(ones_like) { return with_number(cls, args, 1, true); }
GW_KERNEL(empty_like) { return filled_like(cls, args[0], NULL, args[1], args[2]); }
GW_KERNEL(full_like) { return filled_like(cls, args[0], args[1], args[2], args[3]); }

/* The dtype is that of the number where none is given. */
GW_KERNEL(full) {
    int64_t sizes[GW_MAX_DIMS];
    int ndim = gw_on_cpu(args[3]) ? gw_plain_sizes(args[0], sizes) : -1;
    int own = PyBool_Check(args[1]) ? GW_BOOL : PyLong_CheckExact(args[1]) ? GW_INT64
              : PyFloat_CheckExact(args[1]) ? gw_default_dtype() : -1;
    int code = own < 0 ? -1 : gw_plain_dtype(args[2], own);
    return ndim < 0 || code < 0 ? NULL : filled(cls, code, ndim, sizes, NULL, args[1]);
}

GW_KERNEL(eye) {
    int64_t sizes[2];
    Element one;
    int code = gw_plain_dtype(args[2], gw_default_dtype());
    if (!gw_plain_int(args[0], &sizes[0]) || code < 0 || !gw_on_cpu(args[3])
        || !element_of(Py_True, code, &one)) {
        return NULL;
    }
    sizes[1] = sizes[0];
    if ((args[1] != Py_None && !gw_plain_int(args[1], &sizes[1])) || sizes[0] < 0
        || sizes[1] < 0) {
        return NULL;
    }
    PyObject *out = filled(cls, code, 2, sizes, NULL, Py_False);
    if (out != NULL) {
        int64_t n = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
        fill_row(((GwTensor *)out)->data, n, (sizes[1] + 1) * one.size, &one);
    }
    return out;
}

/* ---- ranges ---- */

static bool exact_number(PyObject *o, double *value) {
    int64_t whole;
    if (PyFloat_CheckExact(o)) {
        *value = PyFloat_AS_DOUBLE(o);
        return isfinite(*value);
    }
    bool ok = gw_plain_int(o, &whole) && whole > -((int64_t)1 << 53) && whole < (int64_t)1 << 53;
    *value = ok ? (double)whole : 0;
    return ok;
}

/* A new vector of float32 or float64; NULL, without an exception, for other dtypes. */
static PyObject *floats(PyTypeObject *cls, int dtype, int64_t n) {
    if ((dtype != GW_FLOAT32 && dtype != GW_FLOAT64) || n < 0) {
        return NULL;
    }
    return (PyObject *)gw_tensor_empty(cls, dtype, 1, &n, NULL);
}

static void set_float(GwTensor *t, int64_t at, double value) {
    if (t->dtype == GW_FLOAT32) {
        ((float *)t->data)[at] = (float)value;
    } else {
        ((double *)t->data)[at] = value;
    }
}

typedef struct {
    GwTensor *out;
    double start, step;
} Range;

/* Elements [begin, end); int32 is counted in vectors. */
GW_VECTORISED static void write_range(void *closure, int64_t begin, int64_t end) {
    const Range *r = closure;
    double start = r->start, step = r->step;
    int32_t last = (int32_t)end;
    if (r->out->dtype == GW_FLOAT32) {
        float *out = (float *)r->out->data;
        for (int32_t i = (int32_t)begin; i < last; i++) {
            out[i] = (float)(start + (double)i * step);
        }
        return;
    }
    double *out = (double *)r->out->data;
    for (int32_t i = (int32_t)begin; i < last; i++) {
        out[i] = start + (double)i * step;
    }
}

static PyObject *float_range(PyTypeObject *cls, double start, double end, double step, int dtype) {
    double length = ceil((end - start) / step);
    if (step == 0 || !(length >= 0 && length < INT32_MAX)) {
        return NULL;
    }
    PyObject *out = floats(cls, dtype, (int64_t)length);
    if (out != NULL) {
        Range r = {(GwTensor *)out, start, step};
        gw_run_tasks(write_range, &r, (int64_t)length, 1);
    }
    return out;
}

GW_KERNEL(arange) {
    bool one = args[0] == Py_None || args[1] == Py_None, fraction = false;
    PyObject *given[3] = {one ? NULL : args[0], args[1] == Py_None ? args[0] : args[1], args[2]};
    double values[3] = {0, 0, 1};
    for (int i = one ? 1 : 0; i < 3; i++) {
        if (!exact_number(given[i], &values[i])) {
            return NULL;
        }
        fraction = fraction || PyFloat_CheckExact(given[i]);
    }
    int code = gw_plain_dtype(args[3], fraction ? gw_default_dtype() : GW_INT64);
    if (!gw_on_cpu(args[4]) || code < 0) {
        return NULL;
    }
    if (code != GW_INT64) {
        return float_range(cls, values[0], values[1], values[2], code);
    }
    int64_t start = (int64_t)values[0], end = (int64_t)values[1], step = (int64_t)values[2];
    int64_t away = step < 0 ? -1 : 1, span = (end - start) * away, stride = step * away;
    if (fraction || step == 0 || span < 0 || span / stride >= LONGEST) {
        return NULL;
    }
    int64_t n = (span + stride - 1) / stride;
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, 1, &n, NULL);
    for (int64_t i = 0; out != NULL && i < n; i++) {
        ((int64_t *)out->data)[i] = start + i * step;
    }
    return (PyObject *)out;
}

typedef struct {
    char *out;
    double start, end, step;
    int64_t n, middle;
    bool single;
} Spaced;

/* From both ends towards the middle, so that both ends are exact. */
static void space_out(void *closure, int64_t first, int64_t last) {
    const Spaced *s = closure;
    for (int64_t i = first; i < last; i++) {
        double value = i < s->middle ? s->start + (double)i * s->step
                                     : s->end + (double)(i - (s->n - 1)) * s->step;
        if (s->single) {
            ((float *)s->out)[i] = (float)value;
        } else {
            ((double *)s->out)[i] = value;
        }
    }
}

/* What reads start, end, steps, dtype and device; the values' code, or -1. */
static int read_spaced(Spaced *s, PyObject *const *args, PyObject *dtype, PyObject *device) {
    int code = gw_plain_dtype(dtype, gw_default_dtype());
    bool plain = exact_number(args[0], &s->start) && exact_number(args[1], &s->end)
                 && gw_plain_int(args[2], &s->n) && s->n >= 0 && gw_on_cpu(device)
                 && (code == GW_FLOAT32 || code == GW_FLOAT64);
    char bytes[16];
    plain = plain && gw_element(args[0], code, bytes) && gw_element(args[1], code, bytes);
    s->step = s->n > 1 ? (s->end - s->start) / (double)(s->n - 1) : 0;
    s->middle = s->n > 1 ? s->n / 2 : 1;
    s->single = code == GW_FLOAT32;
    return plain ? code : -1;
}

GW_KERNEL(linspace) {
    Spaced s = {0};
    int code = read_spaced(&s, args, args[3], args[4]);
    GwTensor *out = code < 0 ? NULL : gw_tensor_empty(cls, code, 1, &s.n, NULL);
    if (out == NULL) {
        return NULL;
    }
    s.out = out->data;
    if (s.n <= LONGEST) {
        space_out(&s, 0, s.n);
        return (PyObject *)out;
    }
    gw_ctx ctx;
    gw_context(&ctx);
    Py_BEGIN_ALLOW_THREADS
    gw_parallel_for(&ctx, space_out, &s, s.n, LONGEST);
    Py_END_ALLOW_THREADS
    return (PyObject *)out;
}

/* start, end, steps, base, dtype, device: powers of numbers that were rounded to the dtype. */
GW_KERNEL(logspace) {
    Spaced s = {0};
    double base;
    int code = read_spaced(&s, args, args[4], args[5]);
    if (code < 0 || s.n > LONGEST || !exact_number(args[3], &base)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, code, 1, &s.n, NULL);
    if (out == NULL) {
        return NULL;
    }
    s.out = out->data;
    space_out(&s, 0, s.n);
    for (int64_t i = 0; i < s.n; i++) {
        set_float(out, i, pow(base, s.single ? (double)((const float *)s.out)[i]
                                             : ((const double *)s.out)[i]));
    }
    return (PyObject *)out;
}

/* ---- windows of signals ---- */

enum { MOST_WAVES = 3 };

/* Elements i of i / last; periodic windows leave out the last place. */
static PyObject *window(PyTypeObject *cls, PyObject *const *args, PyObject *const *place,
                        double (*value)(double place, const double *factors),
                        const double *factors) {
    int64_t n;
    int code = gw_plain_dtype(place[0], gw_default_dtype());
    if (!gw_plain_int(args[0], &n) || n > LONGEST || !PyBool_Check(args[1])
        || !gw_on_cpu(place[1])) {
        return NULL;
    }
    PyObject *out = floats(cls, code, n);
    double last = (double)(args[1] == Py_True ? n : n - 1);
    for (int64_t i = 0; out != NULL && i < n; i++) {
        set_float((GwTensor *)out, i, n == 1 ? 1 : value((double)i / last, factors));
    }
    return out;
}

static double cosines(double place, const double *factors) {
    double angle = 6.28318530717958647693 * place;
    return factors[0] - factors[1] * cos(angle) + factors[2] * cos(2 * angle);
}

static double triangle(double place, const double *factors) {
    GW_UNUSED(factors);
    return 1 - fabs(2 * place - 1);
}

/* Kaiser's, of the factors beta and I0(beta). */
static double kaiser(double place, const double *factors) {
    double centred = 2 * place - 1, inside = 1 - centred * centred;
    return gw_bessel_i0(factors[0] * sqrt(inside > 0 ? inside : 0)) / factors[1];
}

/* window_length, periodic, beta, dtype, device */
GW_KERNEL(kaiser_window) {
    double factors[2];
    if (!exact_number(args[2], &factors[0])) {
        return NULL;
    }
    factors[1] = gw_bessel_i0(factors[0]);
    return window(cls, args, args + 3, kaiser, factors);
}

/* window_length, periodic, dtype, device */
GW_KERNEL(hann_window) {
    static const double factors[MOST_WAVES] = {0.5, 0.5, 0};
    return window(cls, args, args + 2, cosines, factors);
}

GW_KERNEL(blackman_window) {
    static const double factors[MOST_WAVES] = {0.42, 0.5, 0.08};
    return window(cls, args, args + 2, cosines, factors);
}

GW_KERNEL(bartlett_window) { return window(cls, args, args + 2, triangle, NULL); }

/* window_length, periodic, alpha, beta, dtype, device */
GW_KERNEL(hamming_window) {
    double factors[MOST_WAVES] = {0};
    return !exact_number(args[2], &factors[0]) || !exact_number(args[3], &factors[1]) ? NULL
           : window(cls, args, args + 4, cosines, factors);
}

/* ---- in place ---- */

/* That of a tensor without dims; false, without an exception, where it is of another dtype. */
static bool only_element(PyObject *o, int dtype, Element *e) {
    const GwTensor *t = gw_plain_tensor(o);
    if (t == NULL || t->ndim != 0 || t->dtype != dtype) {
        return false;
    }
    static const char none[sizeof e->bytes];
    e->size = gw_dtypes[dtype].itemsize;
    memset(e->bytes, 0, sizeof e->bytes);
    memcpy(e->bytes, t->data, (size_t)e->size);
    e->zero = memcmp(e->bytes, none, sizeof none) == 0;
    return true;
}

static PyObject *fill_with(PyObject *target, PyObject *number) {
    Element e;
    GwTensor *t = gw_plain_tensor(target);
    bool plain = t != NULL && (t->numel <= LONGEST || (t->flags & GW_CONTIGUOUS) != 0);
    if (!plain || !gw_is_open(t->storage)
        || !(gw_is_tensor(number) ? only_element(number, t->dtype, &e)
                                  : element_of(number, t->dtype, &e))) {
        return NULL;
    }
    fill(t, &e);
    t->storage->version++;
    return Py_NewRef(target);
}

GW_KERNEL(fill_) {
    GW_UNUSED(cls);
    return fill_with(args[0], args[1]);
}

/* input, fill_value, wrap */
GW_KERNEL(fill_diagonal_) {
    GW_UNUSED(cls);
    Element e;
    GwTensor *t = gw_plain_tensor(args[0]);
    bool plain = t != NULL && t->ndim >= 2 && args[2] == Py_False && gw_is_open(t->storage);
    int64_t size = plain ? t->sizes[0] : 0, step = 0;
    for (int d = 0; plain && d < t->ndim; d++) {
        plain = t->ndim == 2 || t->sizes[d] == size;
        size = t->sizes[d] < size ? t->sizes[d] : size;
        step += t->strides[d];
    }
    if (!plain || !element_of(args[1], t->dtype, &e)) {
        return NULL;
    }
    fill_row(t->data, size, step * gw_itemsize(t), &e);
    t->storage->version++;
    return Py_NewRef(args[0]);
}

GW_KERNEL(zero_) {
    GW_UNUSED(cls);
    return fill_with(args[0], Py_False);
}

const GwKernelEntry gw_creation_kernels[] = {
    {"arange", 5, arange},
    {"bartlett_window", 4, bartlett_window},
    {"blackman_window", 4, blackman_window},
    {"empty", 3, empty},
    {"empty_like", 3, empty_like},
    {"eye", 4, eye},
    {"fill_", 2, fill_},
    {"fill_diagonal_", 3, fill_diagonal_},
    {"full", 4, full},
    {"full_like", 4, full_like},
    {"hamming_window", 6, hamming_window},
    {"hann_window", 4, hann_window},
    {"kaiser_window", 5, kaiser_window},
    {"linspace", 5, linspace},
    {"logspace", 6, logspace},
    {"ones", 3, ones},
    {"ones_like", 3, ones_like},
    {"zero_", 1, zero_},
    {"zeros", 3, zeros},
    {"zeros_like", 3, zeros_like},
    {NULL, 0, NULL},
};
