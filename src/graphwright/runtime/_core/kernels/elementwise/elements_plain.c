/* Elementwise kernels of a few arithmetic operations: signs, parts, powers, hard activations. */
#include "elements.h"
#include "half.h"

/* bfloat16 without a detour over a buffer of float32. */
#define BFLOAT16_2(name, expression)                                                       \
    GW_ROW(name##_bfloat16) {                                                              \
        GW_UNUSED(trouble);                                                                \
        const uint16_t *a = (const uint16_t *)args[0], *b = (const uint16_t *)args[1];     \
        uint16_t *out = (uint16_t *)args[2];                                               \
        GW_EACH(i, n) {                                                                    \
            float x = gw_from_bfloat16(a[i]), y = gw_from_bfloat16(b[i]);                  \
            out[i] = gw_to_bfloat16(expression);                                           \
        }                                                                                  \
    }

#define FLOATS_1(name, expression)                              \
    GW_ROW_OF_1(name##_float32, float, float, expression)       \
    GW_ROW_OF_1(name##_float64, double, double, expression)
#define FLOATS_2(name, expression)                              \
    GW_ROW_OF_2(name##_float32, float, float, expression)       \
    GW_ROW_OF_2(name##_float64, double, double, expression)
#define FLOATS_3(name, expression)                              \
    GW_ROW_OF_3(name##_float32, float, float, expression)       \
    GW_ROW_OF_3(name##_float64, double, double, expression)
#define FLOATS_4(name, expression)                              \
    GW_ROW_OF_4(name##_float32, float, float, expression)       \
    GW_ROW_OF_4(name##_float64, double, double, expression)
#define ALL_1(name, expression) FLOATS_1(name, expression) GW_BFLOAT16_ROW(name, expression)
#define ALL_2(name, expression) FLOATS_2(name, expression) BFLOAT16_2(name, expression)

/* ---- one operand ---- */

ALL_1(sign, (x > 0) - (x < 0))
ALL_1(frac, x - GW_TRUNC(x))
ALL_1(round, GW_RINT(x))
ALL_1(square, x * x)
ALL_1(cube, x * x * x)
ALL_1(sqrt, GW_SQRT(x))
ALL_1(rsqrt, 1 / GW_SQRT(x))
ALL_1(reciprocal, 1 / x)
FLOATS_1(relu, x < 0 ? 0 : x)
GW_BFLOAT16_ROW(floor, GW_FLOOR(x))
GW_BFLOAT16_ROW(ceil, GW_CEIL(x))
GW_BFLOAT16_ROW(trunc, GW_TRUNC(x))
GW_ROW_OF_1(absolute_half, uint16_t, uint16_t, x & 0x7fff)
GW_ROW_OF_1(negative_half, uint16_t, uint16_t, x ^ 0x8000)

/* NumPy 2.4's `negative` goes wrong where it reads and writes the same strided memory. */
FLOATS_1(negative, -x)
GW_ROW_OF_1(negative_8, uint8_t, uint8_t, 0 - x)
GW_ROW_OF_1(negative_16, uint16_t, uint16_t, 0 - x)
GW_ROW_OF_1(negative_32, uint32_t, uint32_t, 0 - x)
GW_ROW_OF_1(negative_64, uint64_t, uint64_t, 0 - x)

#define INTEGERS_1(name, expression)                            \
    GW_ROW_OF_1(name##_int8, int8_t, int8_t, expression)        \
    GW_ROW_OF_1(name##_int16, int16_t, int16_t, expression)     \
    GW_ROW_OF_1(name##_int32, int32_t, int32_t, expression)     \
    GW_ROW_OF_1(name##_int64, int64_t, int64_t, expression)

INTEGERS_1(relu, x < 0 ? 0 : x)
INTEGERS_1(sign, (x > 0) - (x < 0))

/* ---- two operands ---- */

BFLOAT16_2(add, x + y)
BFLOAT16_2(subtract, x - y)
BFLOAT16_2(multiply, x * y)
BFLOAT16_2(divide, x / y)
BFLOAT16_2(maximum, x > y || x != x ? x : y)
BFLOAT16_2(minimum, x < y || x != x ? x : y)
FLOATS_2(copysign, GW_COPYSIGN(x, y))
GW_ROW_OF_2(copysign_half, uint16_t, uint16_t, (x & 0x7fff) | (y & 0x8000))
FLOATS_2(relu_backward, y <= 0 ? 0 : x)
FLOATS_2(heaviside, x == 0 ? y : (x > 0))
FLOATS_2(round_multiple, GW_RINT(x / y) * y)
FLOATS_2(round_fraction, GW_RINT(x * y) / y)
FLOATS_2(fmax, x > y || y != y ? x : y)
FLOATS_2(fmin, x < y || y != y ? x : y)

/* The neighbour of x on the side of y: the next number in the order of the bits. */
#define NEXTAFTER(name, T, I, of_bits, bits_of)                                            \
    GW_INLINE T name##_number(T x, T y) {                                                  \
        I bits = bits_of(x);                                                               \
        T moved = of_bits((x < y) == (x > 0) ? bits + 1 : bits - 1);                       \
        moved = x == 0 ? GW_COPYSIGN(of_bits(1), y) : moved;                               \
        return x == y ? y : x != x || y != y ? x + y : moved;                              \
    }                                                                                      \
    GW_ROW_OF_2(name, T, T, name##_number(x, y))

NEXTAFTER(nextafter_float32, float, int32_t, gw_float_bits, gw_bits_float)
NEXTAFTER(nextafter_float64, double, int64_t, gw_double_bits, gw_bits_double)

/* In float64, whose exponents suffice; infinite where a side is, even beside nan. */
GW_ROW_OF_2(hypot_float32, float, float,
            GW_ABS(x) == GW_INFINITY(x) || GW_ABS(y) == GW_INFINITY(y)
                ? GW_INFINITY(x) : (float)__builtin_sqrt((double)x * x + (double)y * y))

/* With the sides scaled so that their squares neither overflow nor vanish; 1 ulp. */
GW_INLINE double hypot_number(double x, double y) {
    double a = GW_ABS(x), b = GW_ABS(y), high = a > b ? a : b;
    double down = high > 0x1p500 ? 0x1p-600 : high < 0x1p-500 ? 0x1p600 : 1.0;
    double up = high > 0x1p500 ? 0x1p600 : high < 0x1p-500 ? 0x1p-600 : 1.0;
    double p = a * down, q = b * down;
    double length = up * __builtin_sqrt(p * p + q * q);
    return a == GW_INFINITY(a) || b == GW_INFINITY(b) ? GW_INFINITY(a) : length;
}
GW_ROW_OF_2(hypot_float64, double, double, hypot_number(x, y))

/* ---- three and more ---- */

FLOATS_3(lerp, GW_ABS(z) < 0.5f ? x + z * (y - x) : y - (y - x) * (1 - z))
FLOATS_3(add_scaled, x + y * z)
FLOATS_3(sub_scaled, x - y * z)
FLOATS_4(addcmul, x + w * y * z)
FLOATS_4(addcdiv, x + w * y / z)
FLOATS_4(nan_to_num, x != x ? y : x == GW_INFINITY(x) ? z : x == -GW_INFINITY(x) ? w : x)

/* ---- hard activations, and their gradients: the gradient comes first ---- */

FLOATS_2(leaky_relu, x > 0 ? x : x * y)
FLOATS_3(leaky_relu_backward, y > 0 ? x : x * z)

#define CUT(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
ALL_1(hardsigmoid, CUT(x + 3, 0, 6) / 6)
ALL_1(hardswish, x * CUT(x + 3, 0, 6) / 6)
FLOATS_2(hardsigmoid_backward, y > -3 && y < 3 ? x / 6 : 0)
FLOATS_2(hardswish_backward, y <= -3 ? 0 : y < 3 ? x * (y / 3 + 0.5f) : x)
FLOATS_2(hardshrink, x >= -y && x <= y ? 0 : x)
FLOATS_3(hardshrink_backward, y >= -z && y <= z ? 0 : x)
FLOATS_2(softshrink, x > y ? x - y : x < -y ? x + y : x - x)
FLOATS_4(hardtanh_backward, y > z && y < w ? x : 0)
FLOATS_3(threshold, x <= y ? z : x)

#define NAMES(name) GW_FLOAT_ROWS(name)
#define OF_BFLOAT16(name) {#name, {[GW_BFLOAT16] = name##_bfloat16}}
#define OF_HALVES(name) {#name, {[GW_BFLOAT16] = name##_half, [GW_FLOAT16] = name##_half}}
#define WITH_BFLOAT16(name)                                                   \
    {#name, {[GW_FLOAT32] = name##_float32, [GW_FLOAT64] = name##_float64,    \
             [GW_BFLOAT16] = name##_bfloat16}}
#define WITH_HALVES(name)                                                     \
    {#name, {[GW_FLOAT32] = name##_float32, [GW_FLOAT64] = name##_float64,    \
             [GW_BFLOAT16] = name##_half, [GW_FLOAT16] = name##_half}}
#define BY_WIDTH(name)                                                        \
    {#name, {[GW_FLOAT32] = name##_float32, [GW_FLOAT64] = name##_float64,    \
             [GW_BFLOAT16] = name##_half, [GW_FLOAT16] = name##_half,         \
             [GW_INT8] = name##_8, [GW_UINT8] = name##_8,                     \
             [GW_INT16] = name##_16, [GW_UINT16] = name##_16,                 \
             [GW_INT32] = name##_32, [GW_UINT32] = name##_32,                 \
             [GW_INT64] = name##_64, [GW_UINT64] = name##_64}}
#define OF_INTEGERS(name)                                                     \
    {#name, {[GW_INT8] = name##_int8, [GW_INT16] = name##_int16,              \
             [GW_INT32] = name##_int32, [GW_INT64] = name##_int64}}

const GwRowTable gw_plain_rows[] = {
    NAMES(relu), OF_INTEGERS(relu), WITH_BFLOAT16(sign), OF_INTEGERS(sign),
    OF_HALVES(absolute), BY_WIDTH(negative),
    WITH_HALVES(copysign), OF_BFLOAT16(floor), OF_BFLOAT16(ceil), OF_BFLOAT16(trunc),
    OF_BFLOAT16(maximum), OF_BFLOAT16(minimum), WITH_BFLOAT16(frac), WITH_BFLOAT16(round),
    WITH_BFLOAT16(square), WITH_BFLOAT16(cube), WITH_BFLOAT16(sqrt), WITH_BFLOAT16(rsqrt),
    WITH_BFLOAT16(reciprocal), OF_BFLOAT16(add), OF_BFLOAT16(subtract), OF_BFLOAT16(multiply),
    OF_BFLOAT16(divide), NAMES(relu_backward), WITH_BFLOAT16(hardsigmoid),
    WITH_BFLOAT16(hardswish), NAMES(heaviside), NAMES(round_multiple),
    NAMES(round_fraction), NAMES(fmax), NAMES(fmin), NAMES(nextafter),
    NAMES(hypot), NAMES(lerp), NAMES(add_scaled), NAMES(sub_scaled), NAMES(addcmul),
    NAMES(addcdiv), NAMES(nan_to_num), NAMES(leaky_relu), NAMES(leaky_relu_backward),
    NAMES(hardsigmoid_backward), NAMES(hardswish_backward), NAMES(hardshrink),
    NAMES(hardshrink_backward), NAMES(softshrink), NAMES(hardtanh_backward), NAMES(threshold),
    {NULL, {NULL}},
};
