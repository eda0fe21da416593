/* Elements as those of another dtype: convert_into, which writes them into a tensor, and to_dtype,
 * whose result has the layout of the input. */
#include "layout.h"
#include "arguments.h"
#include "float8.h"

static bool is_narrow(int dtype) { return gw_is_half(dtype) || gw_is_float8(dtype); }

/* Whether elements pass through float32: half types and float8 are read and written so, also from
 * wider numbers. */
static bool passes_float32(int from, int to) {
    return (is_narrow(from) || is_narrow(to)) && from != to && from != GW_FLOAT32
           && to != GW_FLOAT32;
}

static bool can_convert(int from, int to) {
    if (!passes_float32(from, to)) {
        return gw_convert_loop(from, to) != NULL;
    }
    return gw_convert_loop(from, GW_FLOAT32) != NULL && gw_convert_loop(GW_FLOAT32, to) != NULL;
}

static bool plan_copy(GwPlan *plan, GwTensor *out, GwTensor *in) {
    int from = in->dtype, to = out->dtype;
    bool widen = passes_float32(from, to);
    if (!can_convert(from, to)) {
        return false;
    }
    plan->count = 2;
    plan->costly = false;
    plan->convert[0] = widen ? gw_convert_loop(from, GW_FLOAT32) : NULL;
    plan->convert[1] = NULL;
    plan->width[0] = widen ? (int)sizeof(float) : gw_itemsize(in);
    plan->width[1] = gw_itemsize(out);
    plan->loop = (GwLoopRef){gw_convert_loop(widen ? GW_FLOAT32 : from, to), NULL};
    gw_plan_tensor(plan, 0, in, out->ndim, out->sizes);
    gw_plan_tensor(plan, 1, out, out->ndim, out->sizes);
    gw_plan_finish(plan, out->ndim, out->sizes);
    return true;
}

static bool fits_into(GwTensor *out, GwTensor *in) {
    GwTensor *both[2] = {out, in};
    int64_t sizes[GW_MAX_DIMS];
    int ndim = gw_broadcast(2, both, sizes);
    return ndim == out->ndim && memcmp(sizes, out->sizes, (size_t)ndim * sizeof(int64_t)) == 0;
}

bool gw_convert_tensor(GwTensor *out, GwTensor *in) {
    GwPlan plan;
    bool done = gw_has_elements(out) && gw_has_elements(in) && !out->storage->readonly
                && fits_into(out, in) && !gw_may_clobber(out, in) && plan_copy(&plan, out, in);
    if (done) {
        gw_plan_run(&plan);
    }
    return done;
}

GwTensor *gw_cast(PyTypeObject *cls, GwTensor *t, int dtype) {
    if (!can_convert(t->dtype, dtype)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_like(cls, t, dtype);
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

static PyObject *convert_into(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "convert_into(out, source) takes 2 arguments");
        return NULL;
    }
    GwTensor *out = gw_tensor_arg(args[0]);
    GwTensor *in = out == NULL ? NULL : gw_tensor_arg(args[1]);
    if (in == NULL) {
        return NULL;
    }
    return PyBool_FromLong(gw_convert_tensor(out, in));
}

PyMethodDef gw_casting_methods[] = {
    {"convert_into", (PyCFunction)(void (*)(void))convert_into, METH_FASTCALL,
     "convert_into(out, source): write the elements of `source`, broadcast and cast. False, and "
     "nothing done, where the dtypes, shapes or an overlap of the memory do not allow it."},
    {NULL, NULL, 0, NULL},
};
