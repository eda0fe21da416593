/* The dtypes and devices that the Python side registered, by code. */
#include "core.h"

GwDTypeInfo gw_dtypes[GW_NUM_DTYPES];

enum { MAX_DEVICES = 16 };
static PyObject *device_class;
static PyObject *devices[GW_NUM_DEVICES][MAX_DEVICES + 1];  /* [code][index + 1] */

int gw_dtype_code(PyObject *dtype) {
    for (int code = GW_NUM_DTYPES - 1; code >= 0; code--) {
        if (gw_dtypes[code].object == dtype) {
            return code;
        }
    }
    PyErr_Format(PyExc_TypeError, "expected a graphwright dtype, got %R", dtype);
    return -1;
}

static int default_dtype = GW_FLOAT32;

int gw_default_dtype(void) { return default_dtype; }

static PyObject *set_default_dtype(PyObject *self, PyObject *dtype) {
    GW_UNUSED(self);
    int code = gw_dtype_code(dtype);
    if (code < 0) {
        return NULL;
    }
    default_dtype = code;
    Py_RETURN_NONE;
}

static PyObject *register_dtype(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    int code, floating;
    PyObject *object, *descr;
    if (!PyArg_ParseTuple(args, "iOO!p", &code, &object, &PyArrayDescr_Type, &descr, &floating)) {
        return NULL;
    }
    if (code < 0 || code >= GW_NUM_DTYPES) {
        return PyErr_Format(PyExc_ValueError, "no dtype has the code %d", code);
    }
    GwDTypeInfo *info = &gw_dtypes[code];
    Py_XSETREF(info->object, Py_NewRef(object));
    Py_XSETREF(info->descr, (PyArray_Descr *)Py_NewRef(descr));
    info->itemsize = (int)PyDataType_ELSIZE(info->descr);
    info->floating = floating;
    Py_RETURN_NONE;
}

static PyObject *register_device_class(PyObject *self, PyObject *cls) {
    GW_UNUSED(self);
    Py_XSETREF(device_class, Py_NewRef(cls));
    Py_RETURN_NONE;
}

PyObject *gw_device_object(int code, int index) {
    PyObject **slot = &devices[code][index + 1];
    if (*slot == NULL) {
        static const char *const names[] = {"cpu", "cuda", "meta"};
        if (device_class == NULL) {
            PyErr_SetString(PyExc_RuntimeError, "graphwright.runtime.tensor.device is not imported");
            return NULL;
        }
        *slot = index < 0 ? PyObject_CallFunction(device_class, "s", names[code])
                          : PyObject_CallFunction(device_class, "si", names[code], index);
    }
    return Py_XNewRef(*slot);
}

bool gw_is_dtype_or_device(PyObject *o) {
    PyObject *dtype = gw_dtypes[GW_FLOAT32].object;
    return (dtype != NULL && Py_TYPE(o) == Py_TYPE(dtype))
           || (device_class != NULL && Py_TYPE(o) == GW_CLASS(device_class));
}

static int int_attribute(PyObject *o, const char *name, long *value) {
    PyObject *attribute = PyObject_GetAttrString(o, name);
    if (attribute == NULL) {
        return -1;
    }
    *value = attribute == Py_None ? -1 : PyLong_AsLong(attribute);
    Py_DECREF(attribute);
    return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

int gw_device_parse(PyObject *device, int8_t *code, int16_t *index) {
    if (device_class == NULL || !PyObject_TypeCheck(device, GW_CLASS(device_class))) {
        PyErr_Format(PyExc_TypeError, "expected a graphwright device, got %R", device);
        return -1;
    }
    long c, i;
    if (int_attribute(device, "code", &c) < 0 || int_attribute(device, "index", &i) < 0) {
        return -1;
    }
    if (c < 0 || c >= GW_NUM_DEVICES || i < -1 || i >= MAX_DEVICES) {
        PyErr_Format(PyExc_ValueError, "no such device: %R", device);
        return -1;
    }
    *code = (int8_t)c;
    *index = (int16_t)i;
    return 0;
}

PyMethodDef gw_dtype_methods[] = {
    {"register_dtype", register_dtype, METH_VARARGS,
     "register_dtype(code, dtype, numpy_dtype, floating)"},
    {"set_default_dtype", set_default_dtype, METH_O,
     "The dtype of tensors made from Python floats; float32 at first."},
    {"register_device_class", register_device_class, METH_O, "The class of Tensor.device."},
    {NULL, NULL, 0, NULL},
};
