/* Nests of loops over the products of few small tensors, summed over some of their dims. */
#ifndef GRAPHWRIGHT_NEST_H
#define GRAPHWRIGHT_NEST_H

#include "native.h"

enum { GW_NEST_OPERANDS = 4, GW_NEST_LABELS = 16, GW_NEST_STEPS = 4096 };

/* Labels are dims of the result, in its order, then those that are summed over. */
typedef struct {
    int count, dtype, labels, kept;
    int64_t sizes[GW_NEST_LABELS];
    int64_t steps[GW_NEST_OPERANDS][GW_NEST_LABELS];    /* in elements */
    int64_t out[GW_NEST_LABELS];
    const char *data[GW_NEST_OPERANDS];
} GwNest;

/* Whether the sizes multiply to few steps, none of them 0. */
bool gw_is_small_nest(const GwNest *n);

/* Whether gw_run_nest takes tensors of a dtype: float32, float64 and the signed integers and uint8,
 * whose sums wrap. */
bool gw_is_nest_dtype(int dtype);

/* Writes the sums, in place of what `out` held. No size may be 0. */
void gw_run_nest(const GwNest *n, char *out);

#endif
