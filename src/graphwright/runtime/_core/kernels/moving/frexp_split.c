/* Kernels that split and combine numbers and tensors: frexp, split_with_sizes, tensor_split and its
 * relatives, complex, polar. */
#include "layout.h"
#include "views.h"

#include <math.h>

enum { LARGEST = 8 << 10 };

/* Mantissas and exponents: of float32 by frexp of C's double, which is exact. */
GW_KERNEL(frexp_parts) {
    GwTensor *t = gw_plain_tensor(args[0]);
    if (t == NULL || (t->dtype != GW_FLOAT32 && t->dtype != GW_FLOAT64)
        || (t->flags & GW_CONTIGUOUS) == 0 || t->numel > LARGEST) {
        return NULL;
    }
    GwTensor *mantissas = gw_tensor_like(cls, t, t->dtype);
    GwTensor *exponents = gw_tensor_like(cls, t, GW_INT32);
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

/* ---- at places ---- */

/* So many parts, the first of which have one element more where it does not go up. */
static PyObject *even_parts(const GwView *whole, int d, int64_t count) {
    PyObject *views = PyTuple_New((Py_ssize_t)count);
    GwView part = *whole;
    for (int64_t i = 0; views != NULL && i < count; i++) {
        part.sizes[d] = whole->sizes[d] / count + (i < whole->sizes[d] % count);
        PyObject *view = gw_view_finish(&part);
        if (view == NULL) {
            Py_CLEAR(views);
            break;
        }
        PyTuple_SET_ITEM(views, (Py_ssize_t)i, view);
        part.offset += part.sizes[d] * part.strides[d];
    }
    return views;
}

/* The parts before, between and behind places, which count from the end where they are negative. */
static PyObject *parts_between(const GwView *whole, int d, PyObject *places) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(places);
    PyObject *views = PyTuple_New(n + 1), *start = Py_None;
    for (Py_ssize_t i = 0; views != NULL && i <= n; i++) {
        GwView part = *whole;
        PyObject *end = i < n ? PySequence_Fast_GET_ITEM(places, i) : Py_None;
        PyObject *view = gw_view_slice(&part, d, start, end, Py_None) ? gw_view_finish(&part) : NULL;
        if (view == NULL) {
            Py_CLEAR(views);
            break;
        }
        PyTuple_SET_ITEM(views, i, view);
        start = end;
    }
    return views;
}

/* Of `first`, `sections` and `indices`, one of which is given. `even`: the parts have to be. */
static PyObject *split_at(const GwView *v, int d, PyObject *first, PyObject *sections,
                          PyObject *indices, bool even) {
    enum { MOST = 1024 };
    PyObject *given = first != Py_None ? first : sections != Py_None ? sections : indices;
    int64_t count;
    if ((first != Py_None) + (sections != Py_None) + (indices != Py_None) != 1) {
        return NULL;
    }
    if (gw_plain_int(given, &count)) {
        bool plain = count > 0 && count <= MOST && (!even || v->sizes[d] % count == 0);
        return plain ? even_parts(v, d, count) : NULL;
    }
    if (PyTuple_CheckExact(given)) {
        return parts_between(v, d, given);
    }
    PyObject *places = PyList_CheckExact(given) ? PyList_AsTuple(given) : NULL;
    PyObject *views = places == NULL ? NULL : parts_between(v, d, places);
    Py_XDECREF(places);
    return views;
}

/* input, indices_or_sections, dim, sections, indices */
GW_KERNEL(tensor_split) {
    GwView v;
    int d;
    bool plain = gw_view_begin(&v, cls, args[0]) && gw_plain_dim(args[2], v.ndim, &d);
    return plain ? split_at(&v, d, args[1], args[3], args[4], false) : NULL;
}

/* Along a dim of tensors that have it: input, indices_or_sections, sections, indices. */
static PyObject *split_along(PyTypeObject *cls, PyObject *const *args, int d) {
    GwView v;
    bool plain = gw_view_begin(&v, cls, args[0]) && d < v.ndim;
    return plain ? split_at(&v, d, args[1], args[2], args[3], true) : NULL;
}

GW_KERNEL(hsplit) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    return t == NULL ? NULL : split_along(cls, args, t->ndim == 1 ? 0 : 1);
}

GW_KERNEL(vsplit) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    return t == NULL || t->ndim < 2 ? NULL : split_along(cls, args, 0);
}

GW_KERNEL(dsplit) { return split_along(cls, args, 2); }

/* ---- complex numbers of few pairs ---- */

#define PAIRS(T, name, COS, SIN)                                                           \
    static void name(const T *first, const T *second, T *out, int64_t n, bool polar) {     \
        for (int64_t i = 0; i < n; i++) {                                                  \
            T x = first[i], y = second[i];                                                 \
            out[2 * i] = polar ? x * COS(y) : x;                                           \
            out[2 * i + 1] = polar ? x * SIN(y) : y;                                       \
        }                                                                                  \
    }

PAIRS(float, pair_floats, cosf, sinf)
PAIRS(double, pair_doubles, cos, sin)

/* Real and imaginary parts, or sizes and angles, contiguous and of one shape. */
static PyObject *paired(PyTypeObject *cls, PyObject *const *args, bool polar) {
    const GwTensor *a = gw_plain_tensor(args[0]), *b = gw_plain_tensor(args[1]);
    if (a == NULL || b == NULL || (a->dtype != GW_FLOAT32 && a->dtype != GW_FLOAT64)
        || a->dtype != b->dtype || (a->flags & b->flags & GW_CONTIGUOUS) == 0
        || a->numel > LARGEST || a->ndim != b->ndim
        || memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes) != 0) {
        return NULL;
    }
    bool single = a->dtype == GW_FLOAT32;
    GwTensor *out = gw_tensor_empty(cls, single ? GW_COMPLEX64 : GW_COMPLEX128, a->ndim, a->sizes,
                                    NULL);
    if (out != NULL && single) {
        pair_floats((const float *)a->data, (const float *)b->data, (float *)out->data, a->numel,
                    polar);
    } else if (out != NULL) {
        pair_doubles((const double *)a->data, (const double *)b->data, (double *)out->data,
                     a->numel, polar);
    }
    return (PyObject *)out;
}

GW_KERNEL(complex_numbers) { return paired(cls, args, false); }
GW_KERNEL(polar_numbers) { return paired(cls, args, true); }

const GwKernelEntry gw_part_kernels[] = {
    {"complex", 2, complex_numbers},
    {"dsplit", 4, dsplit},
    {"frexp_parts", 1, frexp_parts},
    {"hsplit", 4, hsplit},
    {"polar", 2, polar_numbers},
    {"split_with_sizes", 3, gw_split_with_sizes},
    {"tensor_split", 5, tensor_split},
    {"vsplit", 4, vsplit},
    {NULL, 0, NULL},
};
