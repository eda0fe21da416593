/* Elementwise kernels that choose or test: where, clamp, extrema, logic, relu of half types. */
#include "elements.h"

#define WHERE(bits)                                                                        \
    GW_ROW(where##bits) {                                                                  \
        GW_UNUSED(trouble);                                                                \
        const uint8_t *mask = (const uint8_t *)args[0];                                    \
        const uint##bits##_t *a = (const uint##bits##_t *)args[1];                         \
        const uint##bits##_t *b = (const uint##bits##_t *)args[2];                         \
        uint##bits##_t *out = (uint##bits##_t *)args[3];                                   \
        GW_EACH(i, n) {                                                                    \
            uint##bits##_t x = a[i], y = b[i];                                             \
            out[i] = mask[i] ? x : y;                                                      \
        }                                                                                  \
    }

WHERE(8)
WHERE(16)
WHERE(32)
WHERE(64)

/* Between two bounds; a NaN among the three is the result, and x where it is equal to a bound, as
 * zeros of two signs are. In steps of one condition each, which
 * are vectorised: one with `||` becomes branches. */
#define BETWEEN(name, T)                                                                   \
    GW_INLINE T between_##name(T x, T low, T high) {                                       \
        T larger = x < low ? low : x;                                                      \
        T raised = low != low ? low : larger;                                              \
        T smaller = raised > high ? high : raised;                                         \
        return high != high ? high : smaller;                                              \
    }                                                                                      \
    GW_ROW_OF_3(clamp_##name, T, T, between_##name(x, y, z))

#define NUMBERS(name, T)                                                                   \
    BETWEEN(name, T)                                                                       \
    GW_ROW_OF_2(logical_and_##name, T, uint8_t, (x != 0) & (y != 0))                       \
    GW_ROW_OF_2(logical_or_##name, T, uint8_t, (x != 0) | (y != 0))                        \
    GW_ROW_OF_2(logical_xor_##name, T, uint8_t, (x != 0) ^ (y != 0))                       \
    GW_ROW_OF_1(logical_not_##name, T, uint8_t, x == 0)

NUMBERS(float32, float)
NUMBERS(float64, double)
NUMBERS(uint8, uint8_t)
NUMBERS(int8, int8_t)
NUMBERS(int16, int16_t)
NUMBERS(int32, int32_t)
NUMBERS(int64, int64_t)

/* Tests of one number; half types are tested as they are. */
#define ENDLESS(name, sign, bits)                                                          \
    GW_ROW_OF_1(name##_float32, float, uint8_t, x == sign GW_INFINITY(x))                  \
    GW_ROW_OF_1(name##_float64, double, uint8_t, x == sign GW_INFINITY(x))                 \
    GW_ROW_OF_1(name##_float16, uint16_t, uint8_t, x == (0x7c00 | (bits)))                 \
    GW_ROW_OF_1(name##_bfloat16, uint16_t, uint8_t, x == (0x7f80 | (bits)))

ENDLESS(isposinf, +, 0)
ENDLESS(isneginf, -, 0x8000)

/* relu of half types moves or clears their bits: those of negative numbers follow 0x8000, which is
 * -0, up to minus infinity, and then come NaNs. */
#define RELU(name, infinity)                                                               \
    GW_ROW_OF_1(relu_##name, uint16_t, uint16_t, (uint16_t)(x - 0x8001) < (infinity) ? 0 : x) \
    GW_ROW_OF_2(relu_backward_##name, uint16_t, uint16_t,                                  \
                ((uint16_t)(y - 0x8000) <= (infinity)) | (y == 0) ? 0 : x)

RELU(float16, 0x7c00)
RELU(bfloat16, 0x7f80)

static void isreal(char *const *args, int64_t n, int *trouble) {
    GW_UNUSED(trouble);
    memset(args[1], 1, (size_t)n);
}

GW_ROW_OF_1(angle_float32, float, float, x < 0 ? 3.14159265358979323846f : x != x ? x : 0)
GW_ROW_OF_1(angle_float64, double, double, x < 0 ? 3.14159265358979323846 : x != x ? x : 0)

#define NAMES(name)                                                                        \
    {#name, {[GW_FLOAT32] = name##_float32, [GW_FLOAT64] = name##_float64,                 \
             [GW_BOOL] = name##_uint8, [GW_UINT8] = name##_uint8, [GW_INT8] = name##_int8, \
             [GW_INT16] = name##_int16, [GW_INT32] = name##_int32, [GW_INT64] = name##_int64}}

#define OF_FLOATS(name)                                                                    \
    {#name, {[GW_FLOAT32] = name##_float32, [GW_FLOAT64] = name##_float64,                 \
             [GW_FLOAT16] = name##_float16, [GW_BFLOAT16] = name##_bfloat16}}

#define OF_HALVES(name) {#name, {[GW_FLOAT16] = name##_float16, [GW_BFLOAT16] = name##_bfloat16}}

const GwRowTable gw_choice_rows[] = {
    {"where", {[GW_BOOL] = where8, [GW_UINT8] = where8, [GW_INT8] = where8, [GW_INT16] = where16,
               [GW_INT32] = where32, [GW_INT64] = where64, [GW_FLOAT16] = where16,
               [GW_BFLOAT16] = where16, [GW_FLOAT32] = where32, [GW_FLOAT64] = where64}},
    NAMES(clamp), NAMES(logical_and), NAMES(logical_or),
    NAMES(logical_xor), NAMES(logical_not), OF_FLOATS(isposinf), OF_FLOATS(isneginf),
    OF_HALVES(relu), OF_HALVES(relu_backward),
    {"isreal", {[GW_FLOAT32] = isreal, [GW_FLOAT64] = isreal, [GW_FLOAT16] = isreal,
                [GW_BFLOAT16] = isreal}},
    GW_FLOAT_ROWS(angle),
    {NULL, {NULL}},
};
