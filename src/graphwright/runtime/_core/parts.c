/* Numbers and tensors taken apart: frexp, split_with_sizes. */
#include "views.h"

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

/* Parts of these lengths, which make up the dim. */
PyObject *gw_split_with_sizes(PyTypeObject *cls, PyObject *const *args) {
    GwView v;
    int d;
    int64_t lengths[GW_MAX_DIMS], total = 0;
    int count = gw_plain_sizes(args[1], lengths);
    if (!gw_view_begin(&v, cls, args[0]) || !gw_plain_dim(args[2], v.ndim, &d) || count < 1) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        total += lengths[i];
    }
    PyObject *views = total != v.sizes[d] ? NULL : PyTuple_New(count);
    for (int i = 0; views != NULL && i < count; i++) {
        v.sizes[d] = lengths[i];
        PyObject *view = gw_view_finish(&v);
        if (view == NULL) {
            Py_CLEAR(views);
            break;
        }
        ((GwTensor *)view)->flags |= GW_MULTI_VIEW;
        PyTuple_SET_ITEM(views, i, view);
        v.offset += lengths[i] * v.strides[d];
    }
    return views;
}

const GwKernelEntry gw_part_kernels[] = {
    {"frexp_parts", 1, frexp_parts},
    {"split_with_sizes", 3, gw_split_with_sizes},
    {NULL, 0, NULL},
};
