/* Orders of lines: short ones in sort_short.c, long ones in sort_long.c. */
#ifndef GRAPHWRIGHT_ORDERS_H
#define GRAPHWRIGHT_ORDERS_H

#include "native.h"

/* The places of the first `count` elements in order along a dim, of all where that is negative;
 * NULL, without an exception, where the input is not contiguous or its dtype is another. */
PyObject *gw_long_order(PyTypeObject *cls, PyObject *input, PyObject *dim, int64_t count,
                        bool descending);

/* The places alone, with the dim kept; the arguments of the ops in sort_short.c's table. */
PyObject *gw_argsort_kernel(PyTypeObject *cls, PyObject *const *args);
PyObject *gw_topk_kernel(PyTypeObject *cls, PyObject *const *args);
PyObject *gw_kth_kernel(PyTypeObject *cls, PyObject *const *args);
PyObject *gw_median_kernel(PyTypeObject *cls, PyObject *const *args);
PyObject *gw_mode_kernel(PyTypeObject *cls, PyObject *const *args);

/* The lower median of few elements; NULL, without an exception, where they are others. */
PyObject *gw_median_of_all(PyTypeObject *cls, PyObject *input, bool skip_nan);

/* medians.c: of contiguous elements, which are at least one. */
GwTensor *gw_median_of_few(PyTypeObject *cls, const GwTensor *t, bool skip_nan);

/* extrema_with_indices.c: where the first greatest, or least, of each of few short lines is; input, dim,
 * keepdim. NULL, without an exception, where they are others. */
PyObject *gw_place_of_extreme(PyTypeObject *cls, PyObject *const *args, bool greatest);

#endif
