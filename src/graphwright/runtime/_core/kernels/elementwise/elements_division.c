/* Elementwise divisions with rounding and their remainders, of floats and of integers. */
#include "elements.h"

#include <math.h>

/* ---- floats: remainders are exact ---- */

enum { CHUNK = 64 };

/* x - y * trunc(x / y). The rounded quotient is at most one too great, and where it is below
 * 2^(digits - 1) the product with it is exact in one fused operation. Chunks with other numbers
 * are left to the C library. */
#define REMAINDERS(suffix, T, LIMIT, library)                                              \
    GW_INLINE T quick_mod_##suffix(T x, T y, int *hard) {                                  \
        T a = GW_ABS(x), b = GW_ABS(y), quotient = GW_TRUNC(a / b);                        \
        *hard |= !(quotient < LIMIT) | !(b < GW_INFINITY(b));                              \
        T rest = GW_FMA(-quotient, b, a);                                                  \
        return GW_COPYSIGN(rest < 0 ? rest + b : rest, x);                                 \
    }                                                                                      \
    GW_INLINE void mod_chunk_##suffix(const T *a, const T *b, T *out, int64_t n) {         \
        int hard = 0;                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                  \
            out[i] = quick_mod_##suffix(a[i], b[i], &hard);                                \
        }                                                                                  \
        for (int64_t i = 0; hard && i < n; i++) {                                          \
            out[i] = library(a[i], b[i]);                                                  \
        }                                                                                  \
    }                                                                                      \
    ROUNDED(fmod_##suffix, T, mod_chunk_##suffix, r)                                       \
    ROUNDED(remainder_##suffix, T, mod_chunk_##suffix, r != 0 && (y < 0) != (r < 0) ? r + y : r) \
    ROUNDED(floor_divide_##suffix, T, mod_chunk_##suffix, floored_##suffix(x, y, r))       \
    GW_ROW_OF_2(trunc_divide_##suffix, T, T, GW_TRUNC(x / y))

/* A row whose elements are made of x, y and r, the remainder of their division. */
#define ROUNDED(name, T, mod, expression)                                                  \
    GW_ROW(name) {                                                                         \
        GW_UNUSED(trouble);                                                                \
        const T *a = (const T *)args[0], *b = (const T *)args[1];                          \
        T *out = (T *)args[2];                                                             \
        for (int64_t begin = 0; begin < n; begin += CHUNK) {                               \
            T rests[CHUNK];                                                                \
            int64_t count = n - begin < CHUNK ? n - begin : CHUNK;                         \
            mod(a + begin, b + begin, rests, count);                                       \
            GW_EACH(i, count) {                                                            \
                T x = a[begin + i], y = b[begin + i], r = rests[i];                        \
                GW_UNUSED(x);                                                              \
                GW_UNUSED(y);                                                              \
                out[begin + i] = (expression);                                             \
            }                                                                              \
        }                                                                                  \
    }

/* Python's floor division, given the remainder: the quotient of x - r, which is whole but for
 * rounding. */
#define FLOORED(suffix, T)                                                                 \
    GW_INLINE T floored_##suffix(T x, T y, T r) {                                          \
        T quotient = (x - r) / y;                                                          \
        quotient -= r != 0 && (y < 0) != (r < 0) ? 1 : 0;                                  \
        T whole = GW_FLOOR(quotient);                                                      \
        whole += quotient - whole > (T)0.5 ? 1 : 0;                                        \
        whole = quotient == 0 ? GW_COPYSIGN((T)0, x / y) : whole;                          \
        return y == 0 ? x / y : whole;                                                     \
    }

FLOORED(float32, float)
FLOORED(float64, double)
REMAINDERS(float32, float, 0x1p22f, fmodf)
REMAINDERS(float64, double, 0x1p51, fmod)

/* ---- integers: a zero among the divisors is refused, -1 would trap for the least number ---- */

#define BELOW_ZERO(x) ((x) < 0)
#define NEVER(x) ((x) != (x))

#define DIVIDED(name, T, U, negative, expression)                                          \
    static void name(char *const *args, int64_t n, int *trouble) {                         \
        const T *a = (const T *)args[0], *b = (const T *)args[1];                          \
        T *out = (T *)args[2];                                                             \
        for (int64_t i = 0; i < n; i++) {                                                  \
            T x = a[i], y = b[i];                                                          \
            if (y == 0) {                                                                  \
                *trouble = 1;                                                              \
                return;                                                                    \
            }                                                                              \
            bool minus = negative(y) && y == (T)-1;                                        \
            T q = minus ? (T)(0 - (U)x) : (T)(x / y), r = minus ? 0 : (T)(x % y);          \
            bool below = r != 0 && negative(r) != negative(y);                             \
            GW_UNUSED(q);                                                                  \
            GW_UNUSED(below);                                                              \
            out[i] = (T)(expression);                                                      \
        }                                                                                  \
    }

#define INTEGERS(suffix, T, U, negative)                                                   \
    DIVIDED(fmod_##suffix, T, U, negative, r)                                              \
    DIVIDED(remainder_##suffix, T, U, negative, below ? r + y : r)                         \
    DIVIDED(floor_divide_##suffix, T, U, negative, below ? q - 1 : q)                      \
    DIVIDED(trunc_divide_##suffix, T, U, negative, q)

INTEGERS(uint8, uint8_t, uint8_t, NEVER)
INTEGERS(int8, int8_t, uint8_t, BELOW_ZERO)
INTEGERS(int16, int16_t, uint16_t, BELOW_ZERO)
INTEGERS(int32, int32_t, uint32_t, BELOW_ZERO)
DIVIDED(any_fmod, int64_t, uint64_t, BELOW_ZERO, r)
DIVIDED(any_remainder, int64_t, uint64_t, BELOW_ZERO, below ? r + y : r)
DIVIDED(any_floor_divide, int64_t, uint64_t, BELOW_ZERO, below ? q - 1 : q)
DIVIDED(any_trunc_divide, int64_t, uint64_t, BELOW_ZERO, q)

/* The quotients of a chunk, in float64, where they are exact: between -2^51 and 2^51 no quotient
 * that is not whole is rounded to a whole number. False where there are other numbers, or a zero
 * among the divisors. */
GW_INLINE bool quick_quotients(const int64_t *a, const int64_t *b, int64_t *out, int64_t n) {
    const uint64_t half = (uint64_t)1 << 51;
    uint64_t outside = 0, zeros = 0;
    for (int64_t i = 0; i < n; i++) {
        outside |= ((uint64_t)a[i] + half) >> 52 | ((uint64_t)b[i] + half) >> 52;
        zeros |= b[i] == 0;
    }
    for (int64_t i = 0; (outside | zeros) == 0 && i < n; i++) {
        out[i] = (int64_t)((double)a[i] / (double)b[i]);
    }
    return (outside | zeros) == 0;
}

/* A row of int64; chunks whose quotients are not quickly found are left to any_NAME. */
#define DIVIDED_64(name, expression)                                                       \
    GW_ROW(name##_int64) {                                                                 \
        const int64_t *a = (const int64_t *)args[0], *b = (const int64_t *)args[1];        \
        int64_t *out = (int64_t *)args[2], quotients[CHUNK];                               \
        for (int64_t begin = 0; begin < n && *trouble == 0; begin += CHUNK) {              \
            int64_t count = n - begin < CHUNK ? n - begin : CHUNK;                         \
            if (!quick_quotients(a + begin, b + begin, quotients, count)) {                \
                char *const rest[] = {args[0] + begin * 8, args[1] + begin * 8,            \
                                      args[2] + begin * 8};                                \
                any_##name(rest, count, trouble);                                          \
                continue;                                                                  \
            }                                                                              \
            GW_EACH(i, count) {                                                            \
                int64_t y = b[begin + i], q = quotients[i], r = a[begin + i] - q * y;      \
                bool below = r != 0 && (r < 0) != (y < 0);                                 \
                GW_UNUSED(below);                                                          \
                out[begin + i] = (expression);                                             \
            }                                                                              \
        }                                                                                  \
    }

DIVIDED_64(fmod, r)
DIVIDED_64(remainder, below ? r + y : r)
DIVIDED_64(floor_divide, below ? q - 1 : q)
DIVIDED_64(trunc_divide, q)

#define NAMES(name)                                                                        \
    {#name, {[GW_FLOAT32] = name##_float32, [GW_FLOAT64] = name##_float64,                 \
             [GW_UINT8] = name##_uint8, [GW_INT8] = name##_int8, [GW_INT16] = name##_int16, \
             [GW_INT32] = name##_int32, [GW_INT64] = name##_int64}}

const GwRowTable gw_division_rows[] = {
    NAMES(fmod), NAMES(remainder), NAMES(floor_divide), NAMES(trunc_divide),
    {NULL, {NULL}},
};
