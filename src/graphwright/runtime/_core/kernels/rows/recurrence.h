/* Routines that run all steps of one direction of a recurrent layer, and their gradient. */
#ifndef GRAPHWRIGHT_RECURRENCE_H
#define GRAPHWRIGHT_RECURRENCE_H

#include "abi.h"

/* Both take sizes {kind, dtype code, steps, batch, hidden, reverse, save} and return 0, or 1 where
 * there is no memory. Arrays are contiguous; those in brackets may be NULL.
 *
 * x, hidden, [cell], weight, [bias], [input_bias], out, [cells], [saved] */
int32_t gw_recurrence(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes);
/* grad, [last], hidden, [cell], weight, out, [cells], [saved], to_gates, [to_own], to_hidden,
 * [to_cell] */
int32_t gw_recurrence_backward(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes);

#endif
