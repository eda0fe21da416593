/* The float8 dtypes, whose formats runtime/tensor/float8.py describes. */
#ifndef GRAPHWRIGHT_FLOAT8_H
#define GRAPHWRIGHT_FLOAT8_H

#include "loops.h"

static inline bool gw_is_float8(int dtype) { return dtype >= GW_FLOAT8_E4M3FN; }

float gw_from_float8(int dtype, uint8_t code);
uint8_t gw_to_float8(int dtype, float number);

/* Whether a number lies in the dtype's range, or is one of its infinities or nan. */
bool gw_float8_holds(int dtype, double number);

/* The loop from a float8 dtype to float32, or the other way; NULL for other pairs. */
GwLoop gw_float8_loop(int from, int to);

#endif
