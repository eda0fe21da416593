/* Random numbers in tensors of few elements: what their kernels share. */
#ifndef GRAPHWRIGHT_RANDOM_H
#define GRAPHWRIGHT_RANDOM_H

#include "native.h"

enum { GW_FEW = 8 << 10 };
#define GW_ANY INT64_MAX

static inline bool gw_is_real(int dtype) { return dtype == GW_FLOAT32 || dtype == GW_FLOAT64; }

/* Writes random numbers into a new tensor; false, without an exception, where that was no
 * generator. */
typedef bool (*GwFill)(PyObject *generator, GwTensor *out);

bool gw_draw_reals(PyObject *generator, GwTensor *out);     /* few, in [0, 1) */
bool gw_draw_normal(PyObject *generator, GwTensor *out);    /* of mean 0 and deviation 1: normals.c */
void gw_scale(GwTensor *t, double by, double and);

/* size, -, dtype, device: a new tensor of at most so many elements; NULL, without an exception,
 * where it would be another. */
GwTensor *gw_new_reals(PyTypeObject *cls, PyObject *const *args, int64_t most);

/* Fills the tensor `o` of at most so many elements and scales it; NULL, without an exception, where
 * it is no plain one. */
PyObject *gw_fill_in_place(PyTypeObject *cls, PyObject *o, int64_t most, GwFill fill,
                           PyObject *generator, double by, double and);

extern const GwKernelEntry gw_distribution_kernels[];

#endif
