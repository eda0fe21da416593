/* Numbers taken apart: frexp. */
#include "native.h"

#include <math.h>

enum { LARGEST = 8 << 10 };

/* Mantissas and exponents: of float32 by frexp of C's double, which is exact. */
GW_KERNEL(frexp_parts) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    if (t == NULL || (t->dtype != GW_FLOAT32 && t->dtype != GW_FLOAT64)
        || (t->flags & GW_CONTIGUOUS) == 0 || t->numel > LARGEST) {
        return NULL;
    }
    GwTensor *mantissas = gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, NULL);
    GwTensor *exponents = gw_tensor_empty(cls, GW_INT32, t->ndim, t->sizes, NULL);
    PyObject *both = mantissas == NULL || exponents == NULL ? NULL
                     : PyTuple_Pack(2, mantissas, exponents);
    for (int64_t i = 0; both != NULL && i < t->numel; i++) {
        bool single = t->dtype == GW_FLOAT32;
        double value = single ? ((const float *)t->data)[i] : ((const double *)t->data)[i];
        int exponent = 0;
        double mantissa = isfinite(value) ? frexp(value, &exponent) : value;
        if (single) {
            ((float *)mantissas->data)[i] = (float)mantissa;
        } else {
            ((double *)mantissas->data)[i] = mantissa;
        }
        ((int32_t *)exponents->data)[i] = exponent;
    }
    Py_XDECREF(mantissas);
    Py_XDECREF(exponents);
    return both;
}

const GwKernelEntry gw_part_kernels[] = {
    {"frexp_parts", 1, frexp_parts},
    {NULL, 0, NULL},
};
