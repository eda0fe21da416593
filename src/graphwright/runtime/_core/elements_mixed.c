/* Elementwise kernels of bfloat16 tensors with numbers, which stay float32: without a detour over
 * buffers of float32. The tensors x, y, z come first, then the numbers a, b, c. */
#include "elements.h"
#include "half.h"

#define TENSOR(name, at) float name = gw_from_bfloat16(((const uint16_t *)args[at])[i]);
#define NUMBER(name, at) float name = ((const float *)args[at])[i];
#define MIXED(name, out, operands, expression)                                             \
    GW_ROW(name##_mixed) {                                                                 \
        GW_UNUSED(trouble);                                                                \
        uint16_t *result = (uint16_t *)args[out];                                          \
        GW_EACH(i, n) {                                                                    \
            operands                                                                       \
            result[i] = gw_to_bfloat16(expression);                                        \
        }                                                                                  \
    }
#define ONE_1(name, expression) \
    MIXED(name, 2, TENSOR(x, 0) NUMBER(a, 1), expression)
#define ONE_2(name, expression) \
    MIXED(name, 3, TENSOR(x, 0) NUMBER(a, 1) NUMBER(b, 2), expression)
#define ONE_3(name, expression) \
    MIXED(name, 4, TENSOR(x, 0) NUMBER(a, 1) NUMBER(b, 2) NUMBER(c, 3), expression)
#define TWO_1(name, expression) \
    MIXED(name, 3, TENSOR(x, 0) TENSOR(y, 1) NUMBER(a, 2), expression)
#define THREE_1(name, expression) \
    MIXED(name, 4, TENSOR(x, 0) TENSOR(y, 1) TENSOR(z, 2) NUMBER(a, 3), expression)

ONE_1(add, x + a)
ONE_1(subtract, x - a)
ONE_1(multiply, x * a)
ONE_1(divide, x / a)
ONE_1(leaky_relu, x > 0 ? x : x * a)
ONE_1(hardshrink, x >= -a && x <= a ? 0 : x)
ONE_1(softshrink, x > a ? x - a : x < -a ? x + a : x * 0)

/* Between two bounds; a NaN among the three is the result. */
#define LOW(x, low) ((x) < (low) || (low) != (low) ? (low) : (x))
#define HIGH(x, high) ((x) > (high) || (high) != (high) ? (high) : (x))
ONE_2(clamp, HIGH(LOW(x, a), b))
ONE_2(threshold, x <= a ? b : x)
ONE_3(nan_to_num, x != x ? a : x == __builtin_inff() ? b : x == -__builtin_inff() ? c : x)

TWO_1(lerp, GW_ABS(a) < 0.5f ? x + a * (y - x) : y - (y - x) * (1 - a))
TWO_1(add_scaled, x + y * a)
TWO_1(sub_scaled, x - y * a)
THREE_1(addcmul, x + a * (y * z))
THREE_1(addcdiv, x + a * (y / z))

const GwMixedRow gw_mixed_rows[] = {
    {"add", 1, add_mixed}, {"subtract", 1, subtract_mixed}, {"multiply", 1, multiply_mixed},
    {"divide", 1, divide_mixed}, {"leaky_relu", 1, leaky_relu_mixed},
    {"hardshrink", 1, hardshrink_mixed}, {"softshrink", 1, softshrink_mixed},
    {"clamp", 1, clamp_mixed}, {"threshold", 1, threshold_mixed},
    {"nan_to_num", 1, nan_to_num_mixed}, {"lerp", 2, lerp_mixed},
    {"add_scaled", 2, add_scaled_mixed}, {"sub_scaled", 2, sub_scaled_mixed},
    {"addcmul", 3, addcmul_mixed}, {"addcdiv", 3, addcdiv_mixed},
    {NULL, 0, NULL},
};
