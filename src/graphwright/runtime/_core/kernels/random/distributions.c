/* Numbers of distributions other than the uniform and the standard normal one, in tensors of few
 * elements: the formulas are those of random/draws.py and random/inplace.py. */
#include "generator.h"
#include "random.h"
#include "vector_math.h"

#include <float.h>
#include <math.h>

/* tan x of |x| <= pi/2, to the accuracy of float32: quotients of Taylor's series. */
GW_INLINE float tangent(float x) {
    double quarter = GW_RINT((double)x * 0.63661977236758134308);
    double r = (double)x - quarter * 1.57079632679489661923, s = r * r;
    double even = 1 + s * (-1.0 / 2 + s * (1.0 / 24 + s * (-1.0 / 720 + s * (1.0 / 40320
                  - s / 3628800))));
    double odd = r * (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880
                 - s / 39916800)))));
    return (float)(quarter == 0 ? odd / even : -even / odd);
}

GW_VECTOR_MATH static void logs(float *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        x[i] = gw_log1p_float(-x[i]);
    }
}

GW_VECTOR_MATH static void logs_double(double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        x[i] = gw_log1p_double(-x[i]);
    }
}

GW_VECTOR_MATH static void tangents(float *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        x[i] = tangent((x[i] - 0.5f) * 3.14159265358979f);
    }
}

GW_VECTOR_MATH static void powers(float *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        x[i] = gw_exp_float(x[i]);
    }
}

GW_VECTOR_MATH static void powers_double(double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        x[i] = gw_exp_double(x[i]);
    }
}

/* ln(1 - u) */
static bool draw_logs(PyObject *generator, GwTensor *out) {
    if (!gw_draw_reals(generator, out)) {
        return false;
    }
    if (out->dtype == GW_FLOAT32) {
        logs((float *)out->data, out->numel);
    } else {
        logs_double((double *)out->data, out->numel);
    }
    return true;
}

/* tan(pi (u - 1/2)) */
static bool draw_tangents(PyObject *generator, GwTensor *out) {
    if (!gw_draw_reals(generator, out)) {
        return false;
    }
    if (out->dtype == GW_FLOAT32) {
        tangents((float *)out->data, out->numel);
        return true;
    }
    double *values = (double *)out->data;
    for (int64_t i = 0; i < out->numel; i++) {
        values[i] = tan((values[i] - 0.5) * 3.14159265358979323846);
    }
    return true;
}

/* A number that both dtypes hold. */
static bool plain_factor(PyObject *o, double *value) {
    return gw_plain_number(o, value) && fabs(*value) <= (double)FLT_MAX;
}

/* ---- in place: input, numbers, generator ---- */

GW_KERNEL(fill_exponential) {
    double rate;
    if (!gw_plain_number(args[1], &rate) || !(rate >= 1 / (double)FLT_MAX)) {
        return NULL;
    }
    return gw_fill_in_place(cls, args[0], GW_FEW, draw_logs, args[2], -1.0 / rate, 0);
}

GW_KERNEL(fill_cauchy) {
    double median, sigma;
    if (!plain_factor(args[1], &median) || !plain_factor(args[2], &sigma) || !(sigma > 0)) {
        return NULL;
    }
    return gw_fill_in_place(cls, args[0], GW_FEW, draw_tangents, args[3], sigma, median);
}

GW_KERNEL(fill_log_normal) {
    double mean, deviation;
    if (!plain_factor(args[1], &mean) || !plain_factor(args[2], &deviation)
        || !(deviation > 0)) {
        return NULL;
    }
    PyObject *out = gw_fill_in_place(cls, args[0], GW_FEW, gw_draw_normal, args[3], deviation,
                                     mean);
    if (out != NULL) {
        GwTensor *t = (GwTensor *)out;
        if (t->dtype == GW_FLOAT32) {
            powers((float *)t->data, t->numel);
        } else {
            powers_double((double *)t->data, t->numel);
        }
    }
    return out;
}

GW_KERNEL(fill_geometric) {
    double p;
    if (!gw_plain_number(args[1], &p) || !(p > 1e-30 && p < 1)) {
        return NULL;
    }
    PyObject *out = gw_fill_in_place(cls, args[0], GW_FEW, draw_logs, args[2], 1.0 / log1p(-p), 0);
    GwTensor *t = (GwTensor *)out;
    for (int64_t i = 0; out != NULL && i < t->numel; i++) {
        if (t->dtype == GW_FLOAT32) {
            ((float *)t->data)[i] = floorf(((float *)t->data)[i]) + 1.0f;
        } else {
            ((double *)t->data)[i] = floor(((double *)t->data)[i]) + 1.0;
        }
    }
    return out;
}

/* ---- normal: mean, std, size, generator, dtype, device ---- */

/* Contiguous reals, few of them; NULL, without an exception, for anything else. */
static const GwTensor *few_reals(PyObject *o) {
    const GwTensor *t = gw_plain_tensor(o);
    bool plain = t != NULL && gw_is_real(t->dtype) && (t->flags & GW_CONTIGUOUS) != 0
                 && t->numel <= GW_FEW;
    return plain ? t : NULL;
}

static bool none_negative(const GwTensor *t) {
    for (int64_t i = 0; i < t->numel; i++) {
        bool fits = t->dtype == GW_FLOAT32 ? ((const float *)t->data)[i] >= 0
                                           : ((const double *)t->data)[i] >= 0;
        if (!fits) {
            return false;
        }
    }
    return true;
}

#define TIMES_AND_PLUS(TYPE)                                                                  \
    for (int64_t i = 0; i < out->numel; i++) {                                                \
        TYPE by = deviations == NULL ? (TYPE)deviation : ((const TYPE *)deviations->data)[i]; \
        TYPE and = means == NULL ? (TYPE)mean : ((const TYPE *)means->data)[i];               \
        ((TYPE *)out->data)[i] = ((TYPE *)out->data)[i] * by + and;                           \
    }

/* Of one tensor or two of one shape. A generator that runs Python's code could change them. */
static PyObject *normal_of_tensors(PyTypeObject *cls, PyObject *const *args, double mean,
                                   double deviation) {
    const GwTensor *means = few_reals(args[0]), *deviations = few_reals(args[1]);
    const GwTensor *like = means != NULL ? means : deviations;
    bool both = means != NULL && deviations != NULL, options = args[2] != Py_None
                || args[4] != Py_None || !gw_on_cpu(args[5]);
    if (options || (args[3] != Py_None && Py_TYPE(args[3])->tp_base != &GwGenerator_Type)
        || (means == NULL && gw_is_tensor(args[0]))
        || (deviations == NULL ? gw_is_tensor(args[1]) : !none_negative(deviations))
        || (both && (means->dtype != deviations->dtype || means->ndim != deviations->ndim
                     || memcmp(means->sizes, deviations->sizes,
                               (size_t)means->ndim * sizeof(int64_t)) != 0))) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, like->dtype, like->ndim, like->sizes, NULL);
    if (out == NULL || !gw_draw_normal(args[3], out)) {
        Py_XDECREF(out);
        return NULL;
    }
    if (out->dtype == GW_FLOAT32) {
        TIMES_AND_PLUS(float)
    } else {
        TIMES_AND_PLUS(double)
    }
    return (PyObject *)out;
}

GW_KERNEL(normal) {
    double mean = 0, deviation = 0;
    bool first = plain_factor(args[0], &mean), second = plain_factor(args[1], &deviation);
    if (!(deviation >= 0) || (!first && !gw_is_tensor(args[0]))
        || (!second && !gw_is_tensor(args[1]))) {
        return NULL;
    }
    if (!first || !second) {
        return normal_of_tensors(cls, args, mean, deviation);
    }
    GwTensor *out = gw_new_reals(cls, args + 2, GW_FEW);
    if (out != NULL && gw_draw_normal(args[3], out)) {
        gw_scale(out, deviation, mean);
    } else {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_distribution_kernels[] = {
    {"cauchy_", 4, fill_cauchy},
    {"exponential_", 3, fill_exponential},
    {"geometric_", 3, fill_geometric},
    {"log_normal_", 4, fill_log_normal},
    {"normal", 6, normal},
    {NULL, 0, NULL},
};
