/* Small contractions without BLAS. */
#ifndef GRAPHWRIGHT_CONTRACT_H
#define GRAPHWRIGHT_CONTRACT_H

#include "native.h"

/* matmul of two tensors of two dims or more, whose batches broadcast; NULL without an exception
 * where they are not small or do not fit, or are of a half type, bool or complex. */
PyObject *gw_small_matmul(PyTypeObject *cls, PyObject *left, PyObject *right);

extern PyMethodDef gw_contraction_methods[];

#endif
