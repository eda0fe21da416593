/* The element of a tensor that has one, as Python's number: `item`, bool(), int() and float(). What
 * has no data, or not one element, goes to methods in Python, which word the refusals. */
#include "float8.h"
#include "half.h"
#include "native.h"

static PyObject *number_of(const GwTensor *t) {
    const void *p = t->data;
    switch (t->dtype) {
        case GW_BOOL: return PyBool_FromLong(*(const uint8_t *)p != 0);
        case GW_UINT8: return PyLong_FromLong(*(const uint8_t *)p);
        case GW_INT8: return PyLong_FromLong(*(const int8_t *)p);
        case GW_INT16: return PyLong_FromLong(*(const int16_t *)p);
        case GW_UINT16: return PyLong_FromLong(*(const uint16_t *)p);
        case GW_INT32: return PyLong_FromLong(*(const int32_t *)p);
        case GW_UINT32: return PyLong_FromUnsignedLong(*(const uint32_t *)p);
        case GW_INT64: return PyLong_FromLongLong(*(const int64_t *)p);
        case GW_UINT64: return PyLong_FromUnsignedLongLong(*(const uint64_t *)p);
        case GW_FLOAT16: return PyFloat_FromDouble(gw_from_float16(*(const uint16_t *)p));
        case GW_BFLOAT16: return PyFloat_FromDouble(gw_from_bfloat16(*(const uint16_t *)p));
        case GW_FLOAT32: return PyFloat_FromDouble(*(const float *)p);
        case GW_FLOAT64: return PyFloat_FromDouble(*(const double *)p);
        case GW_COMPLEX64:
            return PyComplex_FromDoubles(((const float *)p)[0], ((const float *)p)[1]);
        case GW_COMPLEX128:
            return PyComplex_FromDoubles(((const double *)p)[0], ((const double *)p)[1]);
        default: return PyFloat_FromDouble(gw_from_float8(t->dtype, *(const uint8_t *)p));
    }
}

/* What `method` gives where the tensor has no element to read here, or not one. */
static PyObject *number_or(PyObject *self, const char *method) {
    const GwTensor *t = gw_plain_tensor(self);
    if (t != NULL && t->numel == 1) {
        return number_of(t);
    }
    return gw_tensor_arg(self) == NULL ? NULL : PyObject_CallMethod(self, method, NULL);
}

PyObject *gw_tensor_item(PyObject *self, PyObject *unused) {
    GW_UNUSED(unused);
    return number_or(self, "_item");
}

static int tensor_bool(PyObject *self) {
    PyObject *number = number_or(self, "_truth");
    int truth = number == NULL ? -1 : PyObject_IsTrue(number);
    Py_XDECREF(number);
    return truth;
}

/* The number by Python's own conversion; complex ones by the method. */
static PyObject *converted(PyObject *self, const char *method,
                           PyObject *(*convert)(PyObject *number)) {
    const GwTensor *t = gw_plain_tensor(self);
    bool paired = t != NULL && (t->dtype == GW_COMPLEX64 || t->dtype == GW_COMPLEX128);
    PyObject *number = paired ? PyObject_CallMethod(self, method, NULL) : number_or(self, method);
    PyObject *out = number == NULL ? NULL : convert(number);
    Py_XDECREF(number);
    return out;
}

static PyObject *tensor_int(PyObject *self) { return converted(self, "_as_int", PyNumber_Long); }

static PyObject *tensor_float(PyObject *self) {
    return converted(self, "_as_float", PyNumber_Float);
}

PyNumberMethods gw_tensor_number = {
    .nb_bool = tensor_bool,
    .nb_int = tensor_int,
    .nb_float = tensor_float,
};
