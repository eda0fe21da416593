/* Routines of the runtime that compiled code calls by number. */
#ifndef GRAPHWRIGHT_ROUTINES_H
#define GRAPHWRIGHT_ROUTINES_H

#include "core.h"
#include "pool.h"

/* The numbers are part of the ABI: new ones come last. */
enum {
    GW_ROUTINE_ATTENTION,
    GW_ROUTINE_ATTENTION_BACKWARD,
    GW_ROUTINE_RECURRENCE,
    GW_ROUTINE_RECURRENCE_BACKWARD,
    GW_ROUTINE_CONVOLUTION,
    GW_ROUTINES,
};

extern const gw_routine gw_routines[GW_ROUTINES];
extern PyMethodDef gw_routine_methods[];

/* Sets `ROUTINES` of the module: the numbers by name. -1 with an exception. */
int gw_add_routine_names(PyObject *module);

/* Runs all of what follows a result; for routines that do not run it on parts of theirs. */
static inline void gw_follow_all(const gw_ctx *ctx, const gw_then *then) {
    if (then != NULL) {
        gw_parallel_for(ctx, then->body, then->closure, then->count, then->grain);
    }
}

/* attention.c. Sizes: the dtype's code, batch, heads, rows, columns, size and value_size, whether
 * causal; the strides of the operands' first three dims. Numbers: the scale. */
int32_t gw_attention_routine(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes,
                             const double *numbers, const gw_then *then);
int32_t gw_attention_backward_routine(const gw_ctx *ctx, void *const *arrays,
                                      const int64_t *sizes, const double *numbers,
                                      const gw_then *then);

/* recurrence.c. Sizes: the kind's number, the dtype's code, steps, batch, hidden, whether from the
 * last step to the first, whether the cells of all steps are wanted, the input's width; the strides of
 * the first operand's steps and rows. Operands are contiguous otherwise.
 * Results: the states, the cells, what backward reads. Operands: the input, the first state, its cell
 * or NULL, weight, its bias or NULL; the input's weight, or NULL where it is its share of the gates,
 * and its bias or NULL. */
int32_t gw_recurrence_routine(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes,
                              const double *numbers, const gw_then *then);
/* Results: the gradients of both shares of the gates (NULL for the second but of a GRU), of the first
 * state and its cell. Operands: the gradient of the states, that of the last cell or NULL, the first
 * state, its cell or NULL, weight, the three results of the routine above. */
int32_t gw_recurrence_backward_routine(const gw_ctx *ctx, void *const *arrays,
                                       const int64_t *sizes, const double *numbers,
                                       const gw_then *then);

#endif
