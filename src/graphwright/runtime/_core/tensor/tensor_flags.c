/* The base of TensorBase: what a tensor says of itself in one word. */
#include "promote.h"
#include "tensor_flags.h"

#define FACT(name) static PyObject *name(PyObject *self, void *closure)
#define TENSOR_OR_NULL                  \
    GW_UNUSED(closure);                 \
    GwTensor *t = gw_tensor_arg(self);  \
    if (t == NULL) {                    \
        return NULL;                    \
    }

FACT(is_cpu) { TENSOR_OR_NULL return PyBool_FromLong(t->device == GW_CPU); }
FACT(is_cuda) { TENSOR_OR_NULL return PyBool_FromLong(t->device == GW_CUDA); }
FACT(is_meta) { TENSOR_OR_NULL return PyBool_FromLong(t->device == GW_META); }
FACT(itemsize) { TENSOR_OR_NULL return PyLong_FromLong(gw_itemsize(t)); }

FACT(never) {
    TENSOR_OR_NULL
    Py_RETURN_FALSE;
}

FACT(nbytes) {
    TENSOR_OR_NULL
    if ((t->flags & GW_SYMBOLIC) == 0) {
        return PyLong_FromLongLong(t->numel * gw_itemsize(t));
    }
    PyObject *count = gw_tensor_numel(t), *size = PyLong_FromLong(gw_itemsize(t));
    PyObject *bytes = count == NULL || size == NULL ? NULL : PyNumber_Multiply(count, size);
    Py_XDECREF(count);
    Py_XDECREF(size);
    return bytes;
}

FACT(retains_grad) {
    TENSOR_OR_NULL
    if (t->extra == NULL || t->extra == Py_None) {
        Py_RETURN_FALSE;
    }
    return PyObject_GetAttrString(t->extra, "retains_grad");
}

static PyGetSetDef facts[] = {
    {"is_cpu", is_cpu, NULL, "Whether the tensor lies in main memory.", NULL},
    {"is_cuda", is_cuda, NULL, "Whether the tensor lies on a GPU.", NULL},
    {"is_meta", is_meta, NULL, "Whether the tensor has no memory, only a type.", NULL},
    {"is_sparse", never, NULL, "False: every tensor is dense.", NULL},
    {"is_sparse_csr", never, NULL, "False: every tensor is dense.", NULL},
    {"is_quantized", never, NULL, "False: there are no quantised dtypes.", NULL},
    {"is_nested", never, NULL, "False: every tensor has one shape.", NULL},
    {"itemsize", itemsize, NULL, "Bytes of one element.", NULL},
    {"nbytes", nbytes, NULL, "Bytes of all elements.", NULL},
    {"retains_grad", retains_grad, NULL,
     "Whether `retain_grad` was called on a tensor that is no leaf.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *get_device(PyObject *self, PyObject *closure) {
    TENSOR_OR_NULL
    return PyLong_FromLong(t->device != GW_CUDA ? -1 : t->device_index < 0 ? 0 : t->device_index);
}

static PyObject *ndimension(PyObject *self, PyObject *closure) {
    TENSOR_OR_NULL
    return PyLong_FromLong(t->ndim);
}

static PyObject *nelement(PyObject *self, PyObject *closure) {
    TENSOR_OR_NULL
    return gw_tensor_numel(t);
}

static PyMethodDef methods[] = {
    {"get_device", get_device, METH_NOARGS,
     "The index of the GPU that the tensor lies on; -1 for one in main memory."},
    {"ndimension", ndimension, METH_NOARGS, "The number of dims."},
    {"nelement", nelement, METH_NOARGS, "The number of elements."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject GwFacts_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.TensorFacts",
    .tp_doc = "What follows from the fields of a tensor.",
    .tp_basicsize = sizeof(PyObject),
    .tp_getset = facts,
    .tp_methods = methods,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
};

/* ---- the dtype of a result ---- */

static bool is_plain_number(PyObject *o) {
    return PyLong_CheckExact(o) || PyFloat_CheckExact(o) || PyBool_Check(o);
}

static PyObject *result_dtype(PyObject *self, PyObject *const *operands, Py_ssize_t n) {
    GW_UNUSED(self);
    GwPromotion promotion = GW_NO_PROMOTION;
    for (Py_ssize_t i = 0; i < n; i++) {
        const GwTensor *t = gw_is_tensor(operands[i]) ? (GwTensor *)operands[i] : NULL;
        if (t != NULL && t->storage != NULL && gw_can_promote(t->dtype)) {
            gw_promote_tensor(&promotion, t);
        } else if (is_plain_number(operands[i])) {
            gw_promote_number(&promotion, operands[i]);
        } else {
            Py_RETURN_NONE;
        }
    }
    int dtype = gw_promoted(&promotion);
    return Py_NewRef(dtype < 0 ? Py_None : gw_dtypes[dtype].object);
}

PyMethodDef gw_fact_methods[] = {
    {"result_dtype", (PyCFunction)(void (*)(void))result_dtype, METH_FASTCALL,
     "result_dtype(*operands): the dtype to which tensors and Python's numbers promote; None "
     "where one is neither, or of a dtype beyond bool, integers and floats."},
    {NULL, NULL, 0, NULL},
};
