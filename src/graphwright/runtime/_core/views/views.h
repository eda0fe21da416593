/* A view that is being worked out. */
#ifndef GRAPHWRIGHT_VIEWS_H
#define GRAPHWRIGHT_VIEWS_H

#include "native.h"

typedef struct {
    GwTensor *tensor;       /* that is viewed */
    PyTypeObject *cls;      /* of the view */
    int ndim;
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS], offset;
} GwView;

/* The input's own layout; false where it has no data. */
bool gw_view_begin(GwView *v, PyTypeObject *cls, PyObject *input);

/* The view; NULL without an exception where it would reach out of the storage. */
PyObject *gw_view_finish(const GwView *v);

void gw_view_drop(GwView *v, int d);
void gw_view_insert(GwView *v, int d);      /* a dim of size 1 before dim `d` */

/* One index of dim `d`, which goes; false where that is no int in range. */
bool gw_view_select(GwView *v, int d, PyObject *index);

/* The diagonal of two dims, which becomes the last; false where there is none. */
bool gw_view_diagonal(GwView *v, PyObject *offset, PyObject *first, PyObject *second);

/* Keeps start, start + step, .. of dim `d`; false where these are no plain ints. */
bool gw_view_slice(GwView *v, int d, PyObject *from, PyObject *to, PyObject *by);

/* frexp_split.c: views of parts of given lengths. */
PyObject *gw_split_with_sizes(PyTypeObject *cls, PyObject *const *args);

#endif
