/* The right factors of a compiled graph's products that are parameters: a launch lends the products
 * their packs, and keeps those that they made. */
#ifndef GRAPHWRIGHT_WEIGHTS_H
#define GRAPHWRIGHT_WEIGHTS_H

#include "packed.h"
#include "packs.h"

/* Which input is one, and how it lies: the offset counts from the tensor's first element. */
typedef struct {
    Py_ssize_t input;
    GwFactor factor;
} GwWeightInput;

typedef struct {
    Py_ssize_t count;
    PyTypeObject *cls;          /* only inputs of this class */
    int64_t packed, bytes;      /* of the last launch */
    GwWeightInput list[];
} GwWeightInputs;

/* From a list of (input, offset in bytes, transposed, n, k, ld, taps, groups) and a class; NULL where
 * there is no list. False with an exception. */
bool gw_read_weight_inputs(PyObject *list, PyObject *cls, Py_ssize_t n_inputs,
                           GwWeightInputs **inputs);
PyObject *gw_packed_counts(const GwWeightInputs *inputs);   /* how many, in how many bytes */
void gw_free_weight_inputs(GwWeightInputs *inputs);     /* or NULL */

/* What one launch has borrowed. Both are called with the GIL. */
typedef struct GwBorrowed GwBorrowed;
GwBorrowed *gw_borrow_weights(const GwWeightInputs *inputs, PyObject *const *args, gw_ctx *ctx);
void gw_return_weights(GwWeightInputs *inputs, GwBorrowed *borrowed, PyObject *const *args);

#endif
