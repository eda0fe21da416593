/* Routines of the runtime that compiled code calls by number. */
#ifndef GRAPHWRIGHT_ROUTINES_H
#define GRAPHWRIGHT_ROUTINES_H

#include "core.h"

/* The numbers are part of the ABI: new ones come last. */
enum {
    GW_ROUTINE_ATTENTION,
    GW_ROUTINE_ATTENTION_BACKWARD,
    GW_ROUTINE_CONVOLUTION,
    GW_ROUTINES,
};

extern const gw_routine gw_routines[GW_ROUTINES];
extern PyMethodDef gw_routine_methods[];

/* Sets `ROUTINES` of the module: the numbers by name. -1 with an exception. */
int gw_add_routine_names(PyObject *module);

/* attention.c. Sizes: the dtype's code, batch, heads, rows, columns, size and value_size, whether
 * causal; the strides of the operands' first three dims. Numbers: the scale. */
int32_t gw_attention_routine(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes,
                             const double *numbers);
int32_t gw_attention_backward_routine(const gw_ctx *ctx, void *const *arrays,
                                      const int64_t *sizes, const double *numbers);

#endif
