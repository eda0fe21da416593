/* Elementwise kernels of one half type, eight numbers at a time. Included by elements_halves.c with
 * these defined: HALF_ROW(name, tensors, operands, one, expression), OWN(name) (what the kernel of
 * tensors alone is called), NAME(name) (that with numbers), OWN_TABLE and TABLE (of those and these), CODE (the
 * dtype) and perhaps WAVES: coarse_wave has all its numbers. */

#define ROW_1(name, expression) HALF_ROW(OWN(name), 1, 1, ONE_1, expression)
#define ROW_2(name, expression) HALF_ROW(OWN(name), 2, 2, ONE_2, expression)

/* ---- tensors alone ---- */

ROW_1(sqrt, GW_SQRT(x))
ROW_1(rsqrt, 1 / GW_SQRT(x))
ROW_1(reciprocal, 1 / x)
ROW_1(square, x * x)
ROW_1(cube, x * x * x)
ROW_1(floor, GW_FLOOR(x))
ROW_1(ceil, GW_CEIL(x))
ROW_1(trunc, GW_TRUNC(x))
ROW_1(round, GW_RINT(x))
ROW_1(frac, x - GW_TRUNC(x))
ROW_1(sign, (x > 0) - (x < 0))

#define CUT(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
ROW_1(hardsigmoid, CUT(x + 3, 0, 6) / 6)
ROW_1(hardswish, x * CUT(x + 3, 0, 6) / 6)

#ifdef WAVES
ROW_1(sin, coarse_wave(x, 0))
ROW_1(cos, coarse_wave(x, 1))
#define NAMES_OF_WAVES NAMES(sin), NAMES(cos),
#else
#define NAMES_OF_WAVES
#endif

ROW_2(add, x + y)
ROW_2(subtract, x - y)
ROW_2(multiply, x * y)
ROW_2(divide, x / y)
ROW_2(maximum, x > y || x != x ? x : y)
ROW_2(minimum, x < y || x != x ? x : y)

/* ---- tensors x, y, z and then numbers a, b, c ---- */

#define MIXED_1_1(name, expression) HALF_ROW(NAME(name), 1, 2, ONE_1 NUMBER(a, 1), expression)
#define MIXED_1_2(name, expression) \
    HALF_ROW(NAME(name), 1, 3, ONE_1 NUMBER(a, 1) NUMBER(b, 2), expression)
#define MIXED_1_3(name, expression) \
    HALF_ROW(NAME(name), 1, 4, ONE_1 NUMBER(a, 1) NUMBER(b, 2) NUMBER(c, 3), expression)
#define MIXED_2_1(name, expression) HALF_ROW(NAME(name), 2, 3, ONE_2 NUMBER(a, 2), expression)
#define MIXED_3_1(name, expression) HALF_ROW(NAME(name), 3, 4, ONE_3 NUMBER(a, 3), expression)

#include "tensor_number_rows_kernel.h"

#define NAMES(name) {#name, {[CODE] = OWN(name)}}

const GwRowTable OWN_TABLE[] = {
    NAMES(sqrt), NAMES(rsqrt), NAMES(reciprocal), NAMES(square), NAMES(cube), NAMES(floor),
    NAMES(ceil), NAMES(trunc), NAMES(round), NAMES(frac), NAMES(sign),
    NAMES(hardsigmoid), NAMES(hardswish), NAMES(add), NAMES(subtract), NAMES(multiply),
    NAMES(divide), NAMES(maximum), NAMES(minimum), NAMES_OF_WAVES
    {NULL, {NULL}},
};

#undef ROW_1
#undef ROW_2
#undef CUT
#undef MIXED_1_1
#undef MIXED_1_2
#undef MIXED_1_3
#undef MIXED_2_1
#undef MIXED_3_1
#undef NAMES
#undef NAMES_OF_WAVES
#undef HALF_ROW
#undef OWN
#undef OWN_TABLE
#undef CODE
