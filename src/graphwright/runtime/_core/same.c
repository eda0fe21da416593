/* Ops that give their argument itself where there is nothing to do. */
#include "native.h"

/* The tensor, unless its dtype is among those that something is done to. */
static PyObject *itself(PyObject *o, bool but_complex, bool but_bool) {
    const GwTensor *t = gw_plain_tensor(o);
    bool paired = t != NULL && (t->dtype == GW_COMPLEX64 || t->dtype == GW_COMPLEX128);
    bool taken = t != NULL && !(but_complex && paired) && !(but_bool && t->dtype == GW_BOOL);
    return taken ? Py_NewRef(o) : NULL;
}

GW_KERNEL(conjugate) { GW_UNUSED(cls); return itself(args[0], true, false); }
GW_KERNEL(positive) { GW_UNUSED(cls); return itself(args[0], false, true); }
GW_KERNEL(real_part) { GW_UNUSED(cls); return itself(args[0], true, false); }
GW_KERNEL(resolve) { GW_UNUSED(cls); return itself(args[0], false, false); }

const GwKernelEntry gw_same_kernels[] = {
    {"conj", 1, conjugate},
    {"conj_physical", 1, conjugate},
    {"positive", 1, positive},
    {"real", 1, real_part},
    {"resolve_conj", 1, resolve},
    {"resolve_neg", 1, resolve},
    {NULL, 0, NULL},
};
