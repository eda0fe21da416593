/* Elementwise kernels of half types without a detour over buffers of float32: eight numbers at a
 * time are widened, computed and rounded in registers, by instructions that compilers do not
 * choose on their own. A machine without them has the kernels of float32, and so have costly
 * functions of float16, which gain more from longer vectors than they lose by the detour. */
#include "coarse_wave.h"
#include "elements.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include "half_eight.h"

enum { EIGHT = 8 };

#define BY_EIGHT                                                                           \
    __attribute__((target("avx2,fma,f16c"),                                                \
                   optimize("O3", "fp-contract=fast", "no-trapping-math", "no-math-errno")))

#define ONE_1 float x = tensors[0][j];
#define ONE_2 ONE_1 float y = tensors[1][j];
#define ONE_3 ONE_2 float z = tensors[2][j];
#define NUMBER(name, at) float name = numbers[at];

/* A row of `count` operands (x, y, z), behind which there may be numbers, of float32: `one` names
 * one element of each and the numbers. `step` reads, computes and writes STEP elements; the last
 * few pass through memory of their own. */
#define ROW_OF(...) NAMED_ROW(__VA_ARGS__)
#define NAMED_ROW(name, count, operands, STEP, step, one, expression)                         \
    BY_EIGHT GW_INLINE __m256 name##_eight(const __m256 *from, const float *numbers) {     \
        float tensors[count][EIGHT], results[EIGHT];                                       \
        GW_UNUSED(numbers);                                                                \
        for (int k = 0; k < (count); k++) {                                                \
            _mm256_storeu_ps(tensors[k], from[k]);                                         \
        }                                                                                  \
        for (int j = 0; j < EIGHT; j++) {                                                  \
            one                                                                            \
            results[j] = (expression);                                                     \
        }                                                                                  \
        return _mm256_loadu_ps(results);                                                   \
    }                                                                                      \
    BY_EIGHT static void name(char *const *args, int64_t n, int *trouble) {                \
        GW_UNUSED(trouble);                                                                \
        int64_t whole = n - n % (STEP);                                                    \
        const uint16_t *from[count];                                                       \
        uint16_t *out = (uint16_t *)args[operands];                                        \
        float numbers[operands] = {0};  /* where no store reaches: they stay in registers */ \
        for (int k = (count); k < (operands); k++) {                                       \
            numbers[k] = *(const float *)args[k];                                          \
        }                                                                                  \
        for (int64_t i = 0; i < whole; i += (STEP)) {                                      \
            for (int k = 0; k < (count); k++) {                                            \
                from[k] = (const uint16_t *)args[k] + i;                                   \
            }                                                                              \
            step(name##_eight, count, out + i)                                             \
        }                                                                                  \
        if (whole < n) {                                                                   \
            uint16_t rest[count][STEP] = {{0}}, result[STEP];                              \
            size_t bytes = (size_t)(n - whole) * sizeof(uint16_t);                         \
            for (int k = 0; k < (count); k++) {                                            \
                memcpy(rest[k], (const uint16_t *)args[k] + whole, bytes);                 \
                from[k] = rest[k];                                                         \
            }                                                                              \
            step(name##_eight, count, result)                                              \
            memcpy(out + whole, result, bytes);                                            \
        }                                                                                  \
    }

/* ---- float16 ---- */

#define FLOAT16_STEP(eight, count, to)                                                     \
    {                                                                                      \
        __m256 wide[count];                                                                \
        for (int k = 0; k < (count); k++) {                                                \
            wide[k] = _mm256_cvtph_ps(                                                     \
                _mm_loadu_si128((const __m128i *)(const void *)from[k]));                  \
        }                                                                                  \
        _mm_storeu_si128((__m128i *)(void *)(to),                                          \
                         _mm256_cvtps_ph(eight(wide, numbers), _MM_FROUND_TO_NEAREST_INT));   \
    }

#define HALF_ROW(name, count, operands, one, expression) \
    ROW_OF(name, count, operands, EIGHT, FLOAT16_STEP, one, expression)
#define OWN(name) name##_float16
#define NAME(name) name##_of_float16
#define OWN_TABLE gw_float16_rows
#define TABLE gw_mixed_float16_rows
#define CODE GW_FLOAT16
#define WAVES
#include "elements_halves_kernel.h"
#undef WAVES

bool gw_has_float16_rows(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
           && __builtin_cpu_supports("f16c");
}

/* ---- bfloat16: sixteen, of which eight are those that fall into the same halves of registers
 * where they are widened and where they are put together ---- */

#define BFLOAT16_STEP(eight, count, to)                                                    \
    {                                                                                      \
        __m256 low[count], high[count];                                                    \
        for (int k = 0; k < (count); k++) {                                                \
            __m256i both = _mm256_loadu_si256((const __m256i *)(const void *)from[k]);     \
            __m256i zero = _mm256_setzero_si256();                                         \
            low[k] = _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, both));               \
            high[k] = _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, both));              \
        }                                                                                  \
        __m256i first = gw_bfloat16_of_eight(eight(low, numbers));                            \
        __m256i second = gw_bfloat16_of_eight(eight(high, numbers));                          \
        _mm256_storeu_si256((__m256i *)(void *)(to), _mm256_packus_epi32(first, second));  \
    }

#define HALF_ROW(name, count, operands, one, expression) \
    ROW_OF(name, count, operands, 2 * EIGHT, BFLOAT16_STEP, one, expression)
#define OWN(name) name##_bfloat16
#define NAME(name) name##_of_bfloat16
#define OWN_TABLE gw_bfloat16_rows
#define TABLE gw_mixed_bfloat16_quick_rows
#define CODE GW_BFLOAT16
#include "elements_halves_kernel.h"

/* Longer vectors make more of what compilers do on their own. */
bool gw_has_bfloat16_rows(void) {
    return gw_has_float16_rows() && !__builtin_cpu_supports("avx512f");
}
#else
const GwRowTable gw_float16_rows[] = {{NULL, {NULL}}}, gw_bfloat16_rows[] = {{NULL, {NULL}}};
const GwMixedRow gw_mixed_float16_rows[] = {{NULL, 0, NULL}};
const GwMixedRow gw_mixed_bfloat16_quick_rows[] = {{NULL, 0, NULL}};
bool gw_has_float16_rows(void) { return false; }
bool gw_has_bfloat16_rows(void) { return false; }
#endif
