/* The positions that a subscript gives, as tensors. */
#include "index_tensors.h"

enum { MOST = 1 << 15 };    /* elements of a mask whose positions are worked out here */

void gw_positions_begin(GwPositions *p) { p->count = p->dims = 0; }

void gw_positions_end(GwPositions *p) {
    for (int d = 0; d < p->dims; d++) {
        Py_XDECREF(p->indices[d]);
    }
}

/* Steals the tensor. */
static void set(GwPositions *p, int d, PyObject *tensor) {
    p->indices[d] = tensor;
    p->dims = d + 1;
    p->count += tensor != NULL;
}

void gw_positions_skip(GwPositions *p, int d, int n) {
    for (int k = 0; k < n; k++) {
        set(p, d + k, NULL);
    }
}

PyObject *gw_positions_tuple(const GwPositions *p, int ndim) {
    PyObject *tuple = PyTuple_New(ndim);
    for (int d = 0; tuple != NULL && d < ndim; d++) {
        PyObject *index = p->indices[d] != NULL ? p->indices[d] : Py_None;
        PyTuple_SET_ITEM(tuple, d, Py_NewRef(index));
    }
    return tuple;
}

/* The tensor that an item is; NULL also where its class has a say in what is picked. */
static const GwTensor *index_tensor(PyObject *item) {
    const GwTensor *t = gw_plain_tensor(item);
    return t != NULL && !(t->flags & GW_OVERRIDES) ? t : NULL;
}

PyObject *gw_position_number(PyObject *item) {
    const GwTensor *t = index_tensor(item);
    if (t != NULL && t->dtype == GW_INT64 && t->ndim == 0) {
        return PyLong_FromLongLong(*(const int64_t *)t->data);
    }
    return PyArray_IsScalar(item, Integer) ? PyNumber_Index(item) : Py_NewRef(item);
}

/* ---- what an item is ---- */

static const GwTensor *mask_tensor(PyObject *item) {
    const GwTensor *t = index_tensor(item);
    return t != NULL && t->dtype == GW_BOOL && t->ndim > 0 ? t : NULL;
}

/* An array of that type with dims that lies together; else NULL. */
static PyArrayObject *plain_array(PyObject *item, int type) {
    if (!PyArray_CheckExact(item)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)item;
    bool fits = PyArray_TYPE(array) == type && PyArray_NDIM(array) > 0
                && PyArray_NDIM(array) <= GW_MAX_DIMS && PyArray_ISCARRAY_RO(array);
    return fits ? array : NULL;
}

int gw_positions_dims(PyObject *item) {
    const GwTensor *mask = mask_tensor(item);
    const PyArrayObject *array = mask == NULL ? plain_array(item, NPY_BOOL) : NULL;
    return mask != NULL ? mask->ndim : array != NULL ? PyArray_NDIM(array) : 1;
}

bool gw_is_positions(PyObject *item) {
    if (PyList_CheckExact(item) || PyArray_CheckExact(item)) {
        return true;
    }
    const GwTensor *t = index_tensor(item);
    return t != NULL && t->ndim > 0;
}

/* ---- positions ---- */

/* A tensor of the list's ints; NULL, without an exception, where it has others. */
static PyObject *of_list(PyTypeObject *cls, PyObject *list) {
    int64_t n = PyList_GET_SIZE(list);
    GwTensor *out = n == 0 || !PyLong_CheckExact(PyList_GET_ITEM(list, 0)) ? NULL
                    : gw_tensor_empty(cls, GW_INT64, 1, &n, NULL);
    for (int64_t i = 0; out != NULL && i < n; i++) {     /* making it may have run Python */
        if (i >= PyList_GET_SIZE(list)
            || !gw_plain_int(PyList_GET_ITEM(list, i), (int64_t *)(void *)out->data + i)) {
            Py_CLEAR(out);
        }
    }
    return (PyObject *)out;
}

static PyObject *of_array(PyTypeObject *cls, PyArrayObject *array) {
    int64_t sizes[GW_MAX_DIMS];
    for (int d = 0; d < PyArray_NDIM(array); d++) {
        sizes[d] = PyArray_DIM(array, d);
    }
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, PyArray_NDIM(array), sizes, NULL);
    if (out != NULL && out->numel > 0) {
        memcpy(out->data, PyArray_DATA(array), (size_t)PyArray_NBYTES(array));
    }
    return (PyObject *)out;
}

/* The places of a mask's true elements, a tensor for each of its dims. */
static bool take_mask(GwPositions *p, PyTypeObject *cls, const uint8_t *mask, int d, int ndim,
                      const int64_t *sizes) {
    int64_t numel = 1, count = 0, place[GW_MAX_DIMS] = {0}, *to[GW_MAX_DIMS];
    for (int k = 0; k < ndim; k++) {
        numel *= sizes[k];
    }
    if (numel > MOST) {
        return false;
    }
    for (int64_t i = 0; i < numel; i++) {
        count += mask[i] != 0;
    }
    for (int k = 0; k < ndim; k++) {
        GwTensor *index = gw_tensor_empty(cls, GW_INT64, 1, &count, NULL);
        if (index == NULL) {
            return false;
        }
        to[k] = (int64_t *)(void *)index->data;
        set(p, d + k, (PyObject *)index);
    }
    for (int64_t i = 0; i < numel && count > 0; i++) {
        bool taken = mask[i] != 0;
        for (int k = 0; taken && k < ndim; k++) {
            *to[k]++ = place[k];
        }
        count -= taken;
        for (int k = ndim - 1; k >= 0 && ++place[k] == sizes[k]; k--) {
            place[k] = 0;
        }
    }
    return true;
}

int gw_positions_take(GwPositions *p, PyTypeObject *cls, PyObject *item, int d,
                      const int64_t *sizes, int ndim) {
    const GwTensor *t = index_tensor(item), *mask = mask_tensor(item);
    PyArrayObject *array = plain_array(item, NPY_INT64), *truths = plain_array(item, NPY_BOOL);
    if (mask != NULL) {
        bool fits = mask->ndim <= ndim && (mask->flags & GW_CONTIGUOUS) != 0
                    && memcmp(mask->sizes, sizes, (size_t)mask->ndim * sizeof(int64_t)) == 0;
        fits = fits && take_mask(p, cls, (const uint8_t *)mask->data, d, mask->ndim, sizes);
        return fits ? mask->ndim : 0;
    }
    if (truths != NULL) {
        bool fits = PyArray_NDIM(truths) <= ndim;
        for (int k = 0; fits && k < PyArray_NDIM(truths); k++) {
            fits = PyArray_DIM(truths, k) == sizes[k];
        }
        fits = fits && take_mask(p, cls, PyArray_DATA(truths), d, PyArray_NDIM(truths), sizes);
        return fits ? PyArray_NDIM(truths) : 0;
    }
    PyObject *index = NULL;
    if (t != NULL && t->ndim > 0 && (t->dtype == GW_INT64 || t->dtype == GW_INT32)) {
        index = Py_NewRef(item);
    } else if (array != NULL) {
        index = of_array(cls, array);
    } else if (PyList_CheckExact(item)) {
        index = of_list(cls, item);
    }
    if (index != NULL) {
        set(p, d, index);
    }
    return index != NULL;
}
