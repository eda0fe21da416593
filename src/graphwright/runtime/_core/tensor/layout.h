/* Sizes and strides as Python gives them; for the files that make tensors. */
#ifndef GW_LAYOUT_H
#define GW_LAYOUT_H

#include "core.h"

#define FASTCALL(function) (PyCFunction)(void (*)(void))(function)

/* TypeError that shows `signature` unless as many arguments were given. */
bool gw_expect_args(Py_ssize_t given, Py_ssize_t expected, const char *signature);

/* Reads a tuple or list of ints. Returns the length or -1. With `symbolic`, other objects count
 * as unknown: they become -1 and set *symbolic. */
int gw_read_ints(PyObject *sequence, int64_t *values, bool *symbolic);

/* Whether the strides are those of a new tensor, those of dims of one element too. */
bool gw_row_major(const GwTensor *t);

/* Whether both have the same elements in the same order, given that they begin at one place: dims
 * of one element aside. */
bool gw_same_steps(const GwTensor *a, const GwTensor *b);

/* One past the last element reached, counted from the first; 0 if there are none, -1 if that
 * does not fit. */
int64_t gw_extent(const int64_t *sizes, const int64_t *strides, int ndim);

/* iterate.c: strides of a dense result whose dims are in the order of the operands' strides. */
void gw_dense_strides(int count, GwTensor *const *tensors, int ndim, const int64_t *sizes,
                      int64_t *strides);

/* iterate.c: strides of what is like a tensor: its own where it is dense, those of dims of one
 * element too, which say nothing about memory; false where they are those of a new tensor. */
bool gw_kept_strides(GwTensor *t, int64_t *strides);
/* A new tensor of those strides. */
GwTensor *gw_tensor_like(PyTypeObject *cls, GwTensor *t, int dtype);
/* A copy of a contiguous tensor, of its strides; NULL without an exception for others. */
GwTensor *gw_copy_of_row(PyTypeObject *cls, GwTensor *t);

/* Keeps the tuples of a layout that has symbolic entries. */
bool gw_keep_symbolic(GwTensor *t, PyObject *shape, PyObject *strides);

PyObject *gw_not_strided(void);   /* NULL, with ValueError: sizes and strides differ in length */

#endif
