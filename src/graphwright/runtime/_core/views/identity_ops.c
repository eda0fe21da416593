/* Ops that give their argument itself where there is nothing to do; conjugates of few numbers. */
#include "layout.h"
#include "native.h"

#include <string.h>

enum { LARGEST = 8 << 10 };

/* The tensor, unless its dtype is among those that something is done to. */
static PyObject *itself(PyObject *o, bool but_complex, bool but_bool) {
    const GwTensor *t = gw_plain_tensor(o);
    bool paired = t != NULL && (t->dtype == GW_COMPLEX64 || t->dtype == GW_COMPLEX128);
    bool taken = t != NULL && !(but_complex && paired) && !(but_bool && t->dtype == GW_BOOL);
    return taken ? Py_NewRef(o) : NULL;
}

#define CONJUGATES(T, name)                                                                \
    static void name(const T *in, T *out, int64_t n) {                                     \
        for (int64_t i = 0; i < n; i++) {                                                  \
            out[2 * i] = in[2 * i];                                                        \
            out[2 * i + 1] = -in[2 * i + 1];                                               \
        }                                                                                  \
    }

CONJUGATES(float, conjugate_floats)
CONJUGATES(double, conjugate_doubles)

/* Of a tensor whose elements lie in memory without gaps, in the order that it has there. */
GW_KERNEL(conjugated) {
    GwTensor *t = gw_plain_tensor(args[0]);
    int64_t strides[GW_MAX_DIMS];
    if (t == NULL || (t->dtype != GW_COMPLEX64 && t->dtype != GW_COMPLEX128)
        || t->numel > LARGEST) {
        return NULL;
    }
    gw_dense_strides(1, &t, t->ndim, t->sizes, strides);
    if (memcmp(strides, t->strides, (size_t)t->ndim * sizeof *strides) != 0) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, strides);
    if (out != NULL && t->dtype == GW_COMPLEX64) {
        conjugate_floats((const float *)t->data, (float *)out->data, t->numel);
    } else if (out != NULL) {
        conjugate_doubles((const double *)t->data, (double *)out->data, t->numel);
    }
    return (PyObject *)out;
}

GW_KERNEL(conjugate) {
    PyObject *same = itself(args[0], true, false);
    return same != NULL ? same : conjugated(cls, args);
}
GW_KERNEL(positive) { GW_UNUSED(cls); return itself(args[0], false, true); }
GW_KERNEL(real_part) { GW_UNUSED(cls); return itself(args[0], true, false); }
GW_KERNEL(resolve) { GW_UNUSED(cls); return itself(args[0], false, false); }

const GwKernelEntry gw_same_kernels[] = {
    {"conj", 1, conjugate},
    {"conj_physical", 1, conjugate},
    {"conjugated", 1, conjugated},
    {"positive", 1, positive},
    {"real", 1, real_part},
    {"resolve_conj", 1, resolve},
    {"resolve_neg", 1, resolve},
    {NULL, 0, NULL},
};
