/* Elementwise kernels of float16 without a detour over buffers of float32: eight numbers at a time
 * are widened, computed and rounded in registers, by instructions that compilers do not choose on
 * their own. A machine without them has the kernels of float32, and so have costly
 * functions, which gain more from longer vectors than they lose by the detour. */
#include "elements.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>

enum { LANES = 8 };

#define BY_EIGHT                                                                           \
    __attribute__((target("avx2,fma,f16c"),                                                \
                   optimize("O3", "fp-contract=fast", "no-trapping-math", "no-math-errno")))

#define WIDENED(x, from)                                                                   \
    float x##s[LANES];                                                                     \
    _mm256_storeu_ps(x##s,                                                                 \
                     _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from))));

/* A row of `tensors` operands (x, y, z), behind which there may be numbers, of float32: `widened`
 * reads eight elements of each, `one` names one of each and the numbers. The last few elements
 * pass through eight of their own. */
#define FLOAT16_ROW(name, tensors, operands, widened, one, expression) \
    ROW_NAMED(name, tensors, operands, widened, one, expression)
#define ROW_NAMED(name, tensors, operands, widened, one, expression)                       \
    BY_EIGHT GW_INLINE void name##_eight(const uint16_t *const *from, char *const *args,   \
                                         uint16_t *to) {                                   \
        float results[LANES];                                                              \
        GW_UNUSED(args);                                                                   \
        widened                                                                            \
        for (int j = 0; j < LANES; j++) {                                                  \
            one                                                                            \
            results[j] = (expression);                                                     \
        }                                                                                  \
        _mm_storeu_si128((__m128i *)(void *)to,                                            \
                         _mm256_cvtps_ph(_mm256_loadu_ps(results), _MM_FROUND_TO_NEAREST_INT)); \
    }                                                                                      \
    BY_EIGHT static void name(char *const *args, int64_t n, int *trouble) {                \
        GW_UNUSED(trouble);                                                                \
        int64_t whole = n - n % LANES;                                                     \
        const uint16_t *from[tensors];                                                     \
        uint16_t *out = (uint16_t *)args[operands];                                        \
        for (int64_t i = 0; i < whole; i += LANES) {                                       \
            for (int k = 0; k < (tensors); k++) {                                          \
                from[k] = (const uint16_t *)args[k] + i;                                   \
            }                                                                              \
            name##_eight(from, args, out + i);                                             \
        }                                                                                  \
        if (whole < n) {                                                                   \
            uint16_t rest[tensors][LANES] = {{0}}, result[LANES];                          \
            size_t bytes = (size_t)(n - whole) * sizeof(uint16_t);                         \
            for (int k = 0; k < (tensors); k++) {                                          \
                memcpy(rest[k], (const uint16_t *)args[k] + whole, bytes);                 \
                from[k] = rest[k];                                                         \
            }                                                                              \
            name##_eight(from, args, result);                                              \
            memcpy(out + whole, result, bytes);                                            \
        }                                                                                  \
    }

#define WIDENED_1 WIDENED(x, from[0])
#define WIDENED_2 WIDENED_1 WIDENED(y, from[1])
#define WIDENED_3 WIDENED_2 WIDENED(z, from[2])
#define ONE_1 float x = xs[j];
#define ONE_2 ONE_1 float y = ys[j];
#define ONE_3 ONE_2 float z = zs[j];
#define NUMBER(name, at) float name = *(const float *)args[at];

/* ---- tensors alone ---- */

#define ROW_1(name, expression) \
    FLOAT16_ROW(name##_float16, 1, 1, WIDENED_1, ONE_1, expression)
#define ROW_2(name, expression) \
    FLOAT16_ROW(name##_float16, 2, 2, WIDENED_2, ONE_2, expression)

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

ROW_2(add, x + y)
ROW_2(subtract, x - y)
ROW_2(multiply, x * y)
ROW_2(divide, x / y)
ROW_2(maximum, x > y || x != x ? x : y)
ROW_2(minimum, x < y || x != x ? x : y)

/* ---- tensors x, y, z and then numbers a, b, c ---- */

#define MIXED_1_1(name, expression) \
    FLOAT16_ROW(NAME(name), 1, 2, WIDENED_1, ONE_1 NUMBER(a, 1), expression)
#define MIXED_1_2(name, expression) \
    FLOAT16_ROW(NAME(name), 1, 3, WIDENED_1, ONE_1 NUMBER(a, 1) NUMBER(b, 2), expression)
#define MIXED_1_3(name, expression)                                                        \
    FLOAT16_ROW(NAME(name), 1, 4, WIDENED_1,                                             \
                ONE_1 NUMBER(a, 1) NUMBER(b, 2) NUMBER(c, 3), expression)
#define MIXED_2_1(name, expression) \
    FLOAT16_ROW(NAME(name), 2, 3, WIDENED_2, ONE_2 NUMBER(a, 2), expression)
#define MIXED_3_1(name, expression) \
    FLOAT16_ROW(NAME(name), 3, 4, WIDENED_3, ONE_3 NUMBER(a, 3), expression)

#define NAME(name) name##_of_float16
#define TABLE gw_mixed_float16_rows
#include "elements_mixed_kernel.h"

#define NAMES(name) {#name, {[GW_FLOAT16] = name##_float16}}

const GwRowTable gw_float16_rows[] = {
    NAMES(sqrt), NAMES(rsqrt), NAMES(reciprocal), NAMES(square), NAMES(cube), NAMES(floor),
    NAMES(ceil), NAMES(trunc), NAMES(round), NAMES(frac), NAMES(sign),
    NAMES(hardsigmoid), NAMES(hardswish), NAMES(add), NAMES(subtract), NAMES(multiply),
    NAMES(divide), NAMES(maximum), NAMES(minimum),
    {NULL, {NULL}},
};

bool gw_has_float16_rows(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
           && __builtin_cpu_supports("f16c");
}
#else
const GwRowTable gw_float16_rows[] = {{NULL, {NULL}}};
const GwMixedRow gw_mixed_float16_rows[] = {{NULL, 0, NULL}};
bool gw_has_float16_rows(void) { return false; }
#endif
