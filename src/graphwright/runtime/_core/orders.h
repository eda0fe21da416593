/* Orders of lines: short ones in orders.c, long ones in sorting.c. */
#ifndef GRAPHWRIGHT_ORDERS_H
#define GRAPHWRIGHT_ORDERS_H

#include "native.h"

/* The places of the first `count` elements in order along a dim, of all where that is negative;
 * NULL, without an exception, where the input is not contiguous or its dtype is another. */
PyObject *gw_long_order(PyTypeObject *cls, PyObject *input, PyObject *dim, int64_t count,
                        bool descending);

#endif
