/* Binary cross entropy of few elements. */
#include "native.h"
#include "vector_math.h"

enum { MOST = 8 << 10 };        /* elements */

/* max(log x, -100), as the loss of what is certain and wrong is no infinity. */
GW_INLINE double bounded(double log) { return log < -100 ? -100 : log; }

#define LOSSES(name, TYPE)                                                                     \
    GW_VECTOR_MATH static bool name(const TYPE *p, const TYPE *target, double *losses,         \
                                    int64_t n) {                                               \
        int inside = 1;                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                      \
            double x = (double)p[i], t = (double)target[i];                                    \
            inside &= (x >= 0) & (x <= 1) & (t >= 0) & (t <= 1);                               \
            losses[i] = -(t * bounded(gw_log_double(x))                                        \
                          + (1 - t) * bounded(gw_log1p_double(-x)));                           \
        }                                                                                      \
        return inside != 0;                                                                    \
    }

LOSSES(losses_f32, float)
LOSSES(losses_f64, double)

static void put(GwTensor *out, int64_t i, double value) {
    if (out->dtype == GW_FLOAT32) {
        ((float *)out->data)[i] = (float)value;
    } else {
        ((double *)out->data)[i] = value;
    }
}

/* Contiguous reals, few of them but one at least. */
static const GwTensor *few(PyObject *o) {
    const GwTensor *t = gw_plain_tensor(o);
    bool plain = t != NULL && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64)
                 && (t->flags & GW_CONTIGUOUS) != 0 && t->numel > 0 && t->numel <= MOST;
    return plain ? t : NULL;
}

/* input, target, weight, reduction */
GW_KERNEL(binary_cross_entropy) {
    const GwTensor *p = few(args[0]), *target = few(args[1]);
    double losses[MOST], sum = 0;
    if (p == NULL || target == NULL || args[2] != Py_None || !PyUnicode_CheckExact(args[3])
        || p->dtype != target->dtype || p->ndim != target->ndim
        || memcmp(p->sizes, target->sizes, (size_t)p->ndim * sizeof(int64_t)) != 0
        || !(p->dtype == GW_FLOAT32
                 ? losses_f32((const float *)p->data, (const float *)target->data, losses, p->numel)
                 : losses_f64((const double *)p->data, (const double *)target->data, losses,
                              p->numel))) {
        return NULL;
    }
    bool none = PyUnicode_CompareWithASCIIString(args[3], "none") == 0;
    bool mean = PyUnicode_CompareWithASCIIString(args[3], "mean") == 0;
    if (!none && !mean && PyUnicode_CompareWithASCIIString(args[3], "sum") != 0) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, p->dtype, none ? p->ndim : 0, p->sizes, NULL);
    for (int64_t i = 0; out != NULL && i < p->numel; i++) {
        sum += losses[i];
        if (none) {
            put(out, i, losses[i]);
        }
    }
    if (out != NULL && !none) {
        put(out, 0, mean ? sum / (double)p->numel : sum);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_probability_kernels[] = {
    {"binary_cross_entropy", 4, binary_cross_entropy},
    {NULL, 0, NULL},
};
