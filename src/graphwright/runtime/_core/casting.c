/* to_dtype: the elements as another dtype, in the layout of the input. */
#include "arguments.h"
#include "loops.h"

GwTensor *gw_cast(PyTypeObject *cls, GwTensor *t, int dtype) {
    int64_t strides[GW_MAX_DIMS];
    if (gw_convert_loop(t->dtype, dtype) == NULL) {
        return NULL;
    }
    bool strided = gw_result_strides(1, &t, t->ndim, t->sizes, strides);
    GwTensor *out = gw_tensor_empty(cls, dtype, t->ndim, t->sizes, strided ? strides : NULL);
    if (out != NULL && !gw_convert_tensor(out, t)) {
        Py_CLEAR(out);
    }
    return out;
}

/* input, dtype: another one, copies within one being left to `clone`. */
GW_KERNEL(to_dtype) {
    GwTensor *t = gw_plain_tensor(args[0]);
    int dtype = gw_plain_dtype(args[1], -1);
    return t == NULL || dtype < 0 || dtype == t->dtype ? NULL : (PyObject *)gw_cast(cls, t, dtype);
}

const GwKernelEntry gw_casting_kernels[] = {
    {"to_dtype", 2, to_dtype},
    {NULL, 0, NULL},
};
