/* Random numbers in tensors of few elements: what their kernels share. */
#ifndef GRAPHWRIGHT_RANDOM_H
#define GRAPHWRIGHT_RANDOM_H

#include "native.h"

enum { GW_FEW = 8 << 10 };

static inline bool gw_is_real(int dtype) { return dtype == GW_FLOAT32 || dtype == GW_FLOAT64; }

/* Writes random numbers into a new tensor; false, without an exception, where that was no
 * generator. */
typedef bool (*GwFill)(PyObject *generator, GwTensor *out);

bool gw_draw_reals(PyObject *generator, GwTensor *out);     /* in [0, 1) */
bool gw_draw_normal(PyObject *generator, GwTensor *out);
void gw_scale(GwTensor *t, double by, double and);

/* A new tensor of few elements; NULL, without an exception, where it would be another. */
GwTensor *gw_fresh(PyTypeObject *cls, PyObject *size, int dtype);
GwTensor *gw_new_reals(PyTypeObject *cls, PyObject *const *args);   /* size, -, dtype, device */

/* Fills the tensor `o` and scales it; NULL, without an exception, where it is no plain one. */
PyObject *gw_fill_in_place(PyTypeObject *cls, PyObject *o, GwFill fill, PyObject *generator,
                           double by, double and);

extern const GwKernelEntry gw_distribution_kernels[];

#endif
