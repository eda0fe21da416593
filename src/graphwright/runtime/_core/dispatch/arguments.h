/* What dispatch reads from arguments beside the flags of core.h; casts, and tables of their own. */
#ifndef GRAPHWRIGHT_ARGUMENTS_H
#define GRAPHWRIGHT_ARGUMENTS_H

#include "native.h"

enum { GW_FLAG_FOREIGN = 16, GW_FLAG_LIST = 256, GW_FLAG_NO_INT = 512 };

/* modes.c: gw_dispatch_flags, with GW_FLAG_LIST where that has GW_FLAG_FOREIGN for a list, and
 * GW_FLAG_NO_INT for a bool, float, text or further tensor, or for a tuple or list of more than
 * ints. */
int gw_argument_flags(PyObject *const *items, Py_ssize_t n);

/* casting.c: the elements as another dtype; NULL, without an exception, where there is no
 * conversion. */
GwTensor *gw_cast(PyTypeObject *cls, GwTensor *t, int dtype);

extern const GwKernelEntry gw_casting_kernels[], gw_unfolding_kernels[], gw_detaching_kernels[],
    gw_selecting_kernels[], gw_attention_kernels[];
extern PyMethodDef gw_literal_methods[];    /* literals.c */

#endif
