/* Elementwise loops that NumPy lacks, or has in several passes. */
#include "loops.h"
#include "vector_math.h"

#include <math.h>

#define LOOP(name) \
    static void name(char **args, const npy_intp *count, const npy_intp *steps, void *data)

/* ---- one operand: a loop over rows and one over anything else ---- */

#define UNARY(name, T, expression)                                                         \
    GW_VECTOR_MATH static void name##_row(const T *in, T *out, int64_t n) {                \
        for (int64_t i = 0; i < n; i++) {                                                  \
            T x = in[i];                                                                   \
            out[i] = (expression);                                                         \
        }                                                                                  \
    }                                                                                      \
    LOOP(name) {                                                                           \
        GW_UNUSED(data);                                                                   \
        if (steps[0] == sizeof(T) && steps[1] == sizeof(T)) {                              \
            name##_row((const T *)args[0], (T *)args[1], *count);                          \
            return;                                                                        \
        }                                                                                  \
        enum { BLOCK = 256 };                                                              \
        T in[BLOCK], out[BLOCK];                                                           \
        for (npy_intp i = 0; i < *count; i += BLOCK) {                                     \
            npy_intp n = *count - i < BLOCK ? *count - i : BLOCK;                          \
            for (npy_intp j = 0; j < n; j++) {                                             \
                in[j] = *(const T *)(args[0] + (i + j) * steps[0]);                        \
            }                                                                              \
            name##_row(in, out, n);                                                        \
            for (npy_intp j = 0; j < n; j++) {                                             \
                *(T *)(args[1] + (i + j) * steps[1]) = out[j];                             \
            }                                                                              \
        }                                                                                  \
    }

#define FLOATS(name, in_float, in_double)    \
    UNARY(name##_float32, float, in_float)   \
    UNARY(name##_float64, double, in_double)

FLOATS(sigmoid, 1.0f / (1.0f + gw_exp_float(-x)), 1.0 / (1.0 + gw_exp_double(-x)))
FLOATS(silu, x / (1.0f + gw_exp_float(-x)), x / (1.0 + gw_exp_double(-x)))
FLOATS(erf, gw_erf_float(x), gw_erf_double(x))
FLOATS(gelu, 0.5f * x * (1.0f + gw_erf_float(x * 0.70710678f)),
       0.5 * x * (1.0 + gw_erf_double(x * 0.70710678118654752440)))
FLOATS(relu, x <= 0 ? 0 : x, x <= 0 ? 0 : x)
FLOATS(rsqrt, 1.0f / __builtin_sqrtf(x), 1.0 / __builtin_sqrt(x))
FLOATS(cube, x * x * x, x * x * x)
FLOATS(reciprocal, 1.0f / x, 1.0 / x)
UNARY(relu_int8, int8_t, x <= 0 ? 0 : x)
UNARY(relu_int16, int16_t, x <= 0 ? 0 : x)
UNARY(relu_int32, int32_t, x <= 0 ? 0 : x)
UNARY(relu_int64, int64_t, x <= 0 ? 0 : x)

/* ---- two operands: the gradient of relu, given its result ---- */

#define RELU_BACKWARD(name, T)                                                             \
    GW_VECTOR_MATH static void name##_row(const T *grad, const T *y, T *out, int64_t n) {  \
        for (int64_t i = 0; i < n; i++) {                                                  \
            out[i] = y[i] <= 0 ? 0 : grad[i];                                              \
        }                                                                                  \
    }                                                                                      \
    LOOP(name) {                                                                           \
        GW_UNUSED(data);                                                                   \
        npy_intp size = sizeof(T);                                                         \
        if (steps[0] == size && steps[1] == size && steps[2] == size) {                    \
            name##_row((const T *)args[0], (const T *)args[1], (T *)args[2], *count);      \
            return;                                                                        \
        }                                                                                  \
        for (npy_intp i = 0; i < *count; i++) {                                            \
            T y = *(const T *)(args[1] + i * steps[1]);                                    \
            *(T *)(args[2] + i * steps[2]) =                                               \
                y <= 0 ? 0 : *(const T *)(args[0] + i * steps[0]);                         \
        }                                                                                  \
    }

RELU_BACKWARD(relu_backward_float32, float)
RELU_BACKWARD(relu_backward_float64, double)

/* ---- where: mask, kept, other ---- */

#define WHERE(bits)                                                                        \
    GW_VECTORISED static void where##bits##_row(const uint8_t *mask, const uint##bits##_t *a, \
                                                const uint##bits##_t *b,                   \
                                                uint##bits##_t *out, int64_t n) {          \
        for (int64_t i = 0; i < n; i++) {                                                  \
            uint##bits##_t x = a[i], y = b[i];                                             \
            out[i] = mask[i] ? x : y;                                                      \
        }                                                                                  \
    }                                                                                      \
    GW_VECTORISED static void where##bits##_first(const uint8_t *mask, uint##bits##_t x,   \
                                                  const uint##bits##_t *b,                 \
                                                  uint##bits##_t *out, int64_t n) {        \
        for (int64_t i = 0; i < n; i++) {                                                  \
            uint##bits##_t y = b[i];                                                       \
            out[i] = mask[i] ? x : y;                                                      \
        }                                                                                  \
    }                                                                                      \
    GW_VECTORISED static void where##bits##_second(const uint8_t *mask,                    \
                                                   const uint##bits##_t *a, uint##bits##_t y, \
                                                   uint##bits##_t *out, int64_t n) {       \
        for (int64_t i = 0; i < n; i++) {                                                  \
            uint##bits##_t x = a[i];                                                       \
            out[i] = mask[i] ? x : y;                                                      \
        }                                                                                  \
    }                                                                                      \
    LOOP(where##bits) {                                                                    \
        GW_UNUSED(data);                                                                   \
        typedef uint##bits##_t T;                                                          \
        npy_intp size = bits / 8;                                                          \
        const uint8_t *mask = (const uint8_t *)args[0];                                    \
        const T *a = (const T *)args[1], *b = (const T *)args[2];                          \
        if (steps[0] == 1 && steps[3] == size) {                                           \
            if (steps[1] == size && steps[2] == size) {                                    \
                where##bits##_row(mask, a, b, (T *)args[3], *count);                       \
                return;                                                                    \
            }                                                                              \
            if (steps[1] == 0 && steps[2] == size) {                                       \
                where##bits##_first(mask, *a, b, (T *)args[3], *count);                    \
                return;                                                                    \
            }                                                                              \
            if (steps[1] == size && steps[2] == 0) {                                       \
                where##bits##_second(mask, a, *b, (T *)args[3], *count);                   \
                return;                                                                    \
            }                                                                              \
        }                                                                                  \
        for (npy_intp i = 0; i < *count; i++) {                                            \
            bool chosen = *(const uint8_t *)(args[0] + i * steps[0]) != 0;                 \
            T x = *(const T *)(args[1] + i * steps[1]), y = *(const T *)(args[2] + i * steps[2]); \
            *(T *)(args[3] + i * steps[3]) = chosen ? x : y;                               \
        }                                                                                  \
    }

WHERE(8)
WHERE(16)
WHERE(32)
WHERE(64)

/* ---- clamp between two bounds; a NaN among the three is the result ---- */

#define LOW(x, low) ((x) < (low) || (low) != (low) ? (low) : (x))
#define HIGH(x, high) ((x) > (high) || (high) != (high) ? (high) : (x))
#define CLAMP(name, T)                                                                     \
    GW_VECTOR_MATH static void name##_row(const T *in, T low, T high, T *out, int64_t n) { \
        for (int64_t i = 0; i < n; i++) {                                                  \
            T x = LOW(in[i], low);                                                         \
            out[i] = HIGH(x, high);                                                        \
        }                                                                                  \
    }                                                                                      \
    LOOP(name) {                                                                           \
        GW_UNUSED(data);                                                                   \
        npy_intp size = sizeof(T);                                                         \
        if (steps[0] == size && steps[3] == size && steps[1] == 0 && steps[2] == 0) {      \
            name##_row((const T *)args[0], *(const T *)args[1], *(const T *)args[2],       \
                       (T *)args[3], *count);                                              \
            return;                                                                        \
        }                                                                                  \
        for (npy_intp i = 0; i < *count; i++) {                                            \
            T x = *(const T *)(args[0] + i * steps[0]);                                    \
            T low = *(const T *)(args[1] + i * steps[1]);                                  \
            T high = *(const T *)(args[2] + i * steps[2]);                                 \
            x = LOW(x, low);                                                               \
            *(T *)(args[3] + i * steps[3]) = HIGH(x, high);                                \
        }                                                                                  \
    }

CLAMP(clamp_float32, float)
CLAMP(clamp_float64, double)
CLAMP(clamp_uint8, uint8_t)
CLAMP(clamp_int8, int8_t)
CLAMP(clamp_int16, int16_t)
CLAMP(clamp_int32, int32_t)
CLAMP(clamp_int64, int64_t)

/* ---- by name ---- */

#define BOTH(name) {#name, {[GW_FLOAT32] = name##_float32, [GW_FLOAT64] = name##_float64}}

static const struct {
    const char *name;
    GwLoop loops[GW_NUM_DTYPES];
} table[] = {
    BOTH(sigmoid), BOTH(silu), BOTH(erf), BOTH(gelu), BOTH(rsqrt), BOTH(reciprocal),
    BOTH(cube), BOTH(relu_backward),
    {"relu", {[GW_FLOAT32] = relu_float32, [GW_FLOAT64] = relu_float64, [GW_INT8] = relu_int8,
              [GW_INT16] = relu_int16, [GW_INT32] = relu_int32, [GW_INT64] = relu_int64}},
    {"clamp", {[GW_FLOAT32] = clamp_float32, [GW_FLOAT64] = clamp_float64,
               [GW_UINT8] = clamp_uint8, [GW_INT8] = clamp_int8, [GW_INT16] = clamp_int16,
               [GW_INT32] = clamp_int32, [GW_INT64] = clamp_int64}},
    {"where", {[GW_BOOL] = where8, [GW_UINT8] = where8, [GW_INT8] = where8, [GW_INT16] = where16,
               [GW_INT32] = where32, [GW_INT64] = where64, [GW_FLOAT16] = where16,
               [GW_BFLOAT16] = where16, [GW_FLOAT32] = where32, [GW_FLOAT64] = where64}},
};

bool gw_own_loop(const char *name, int dtype, GwLoopRef *found) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) == 0 && table[i].loops[dtype] != NULL) {
            *found = (GwLoopRef){table[i].loops[dtype], NULL};
            return true;
        }
    }
    return false;
}
