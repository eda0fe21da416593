/* Conversions between dtypes as elementwise loops. Numbers out of the target's range become
 * what NumPy's astype makes of them on this machine. */
#include "float8.h"
#include "half.h"
#include "pool.h"

#define LOOP(name) \
    static void name(char **args, const npy_intp *count, const npy_intp *steps, void *data)

/* ---- half types ---- */

static void floats_from_float16_any(const uint16_t *in, float *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = gw_from_float16(in[i]);
    }
}

GW_VECTORISED
static void bfloat16_from_floats_any(const float *in, uint16_t *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = gw_to_bfloat16(in[i]);
    }
}

static void float16_from_floats_any(const float *in, uint16_t *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = gw_to_float16(in[i]);
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
#include "half_eight.h"

__attribute__((target("avx,f16c")))
static void floats_from_float16_f16c(const uint16_t *in, float *out, int64_t n) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)(in + i));
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
    }
    if (i < n) {
        floats_from_float16_any(in + i, out + i, n - i);
    }
}

__attribute__((target("avx,f16c")))
static void float16_from_floats_f16c(const float *in, uint16_t *out, int64_t n) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(out + i), halves);
    }
    if (i < n) {
        float16_from_floats_any(in + i, out + i, n - i);
    }
}

__attribute__((target("avx512f")))
static void floats_from_float16_avx512(const uint16_t *in, float *out, int64_t n) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i halves = _mm256_loadu_si256((const __m256i *)(const void *)(in + i));
        _mm512_storeu_ps(out + i, _mm512_cvtph_ps(halves));
    }
    if (i < n) {
        floats_from_float16_any(in + i, out + i, n - i);
    }
}

__attribute__((target("avx512f")))
static void float16_from_floats_avx512(const float *in, uint16_t *out, int64_t n) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i halves = _mm512_cvtps_ph(_mm512_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
        _mm256_storeu_si256((__m256i *)(void *)(out + i), halves);
    }
    if (i < n) {
        float16_from_floats_any(in + i, out + i, n - i);
    }
}

/* As gw_to_bfloat16. Every number is read once: what compilers make of the loop reads it three
 * times, which takes twice as long where it comes from beyond the second cache. */
__attribute__((target("avx512f")))
static void bfloat16_from_floats_avx512(const float *in, uint16_t *out, int64_t n) {
    const __m512i half = _mm512_set1_epi32(0x7fff), one = _mm512_set1_epi32(1);
    const __m512i sign = _mm512_set1_epi32(INT32_MIN), quiet = _mm512_set1_epi32(0x7fc00000);
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512 x = _mm512_loadu_ps(in + i);
        __m512i bits = _mm512_castps_si512(x);
        __m512i last = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
        __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, half), last);
        __m512i nan = _mm512_or_si512(_mm512_and_si512(bits, sign), quiet);
        __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
        __m512i chosen = _mm512_mask_mov_epi32(rounded, is_nan, nan);
        __m256i halves = _mm512_cvtepi32_epi16(_mm512_srli_epi32(chosen, 16));
        _mm256_storeu_si256((__m256i *)(void *)(out + i), halves);
    }
    bfloat16_from_floats_any(in + i, out + i, n - i);
}

__attribute__((target("avx2")))
static void bfloat16_from_floats_avx2(const float *in, uint16_t *out, int64_t n) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i first = gw_bfloat16_of_eight(_mm256_loadu_ps(in + i));
        __m256i second = gw_bfloat16_of_eight(_mm256_loadu_ps(in + i + 8));
        __m256i mixed = _mm256_packus_epi32(first, second);     /* quarters 0 2 1 3 */
        _mm256_storeu_si256((__m256i *)(void *)(out + i), _mm256_permute4x64_epi64(mixed, 0xd8));
    }
    bfloat16_from_floats_any(in + i, out + i, n - i);
}

static void floats_from_float16(const uint16_t *in, float *out, int64_t n) {
    (__builtin_cpu_supports("avx512f") ? floats_from_float16_avx512
     : __builtin_cpu_supports("f16c") ? floats_from_float16_f16c
                                      : floats_from_float16_any)(in, out, n);
}

static void float16_from_floats(const float *in, uint16_t *out, int64_t n) {
    (__builtin_cpu_supports("avx512f") ? float16_from_floats_avx512
     : __builtin_cpu_supports("f16c") ? float16_from_floats_f16c
                                      : float16_from_floats_any)(in, out, n);
}

static void bfloat16_from_floats(const float *in, uint16_t *out, int64_t n) {
    (__builtin_cpu_supports("avx512f") ? bfloat16_from_floats_avx512
     : __builtin_cpu_supports("avx2") ? bfloat16_from_floats_avx2
                                      : bfloat16_from_floats_any)(in, out, n);
}
#else
#define bfloat16_from_floats bfloat16_from_floats_any
#define floats_from_float16 floats_from_float16_any
#define float16_from_floats float16_from_floats_any
#endif

GW_VECTORISED static void floats_from_bfloat16(const uint16_t *in, float *out, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = gw_from_bfloat16(in[i]);
    }
}

#define HALF_LOOPS(half)                                                                        \
    LOOP(half##_to_float32) {                                                                   \
        GW_UNUSED(data);                                                                        \
        if (steps[0] == 2 && steps[1] == 4) {                                                   \
            floats_from_##half((const uint16_t *)args[0], (float *)args[1], *count);            \
            return;                                                                             \
        }                                                                                       \
        for (npy_intp i = 0; i < *count; i++) {                                                 \
            *(float *)(args[1] + i * steps[1]) =                                                \
                gw_from_##half(*(const uint16_t *)(args[0] + i * steps[0]));                       \
        }                                                                                       \
    }                                                                                           \
    LOOP(float32_to_##half) {                                                                   \
        GW_UNUSED(data);                                                                        \
        if (steps[0] == 4 && steps[1] == 2) {                                                   \
            half##_from_floats((const float *)args[0], (uint16_t *)args[1], *count);            \
            return;                                                                             \
        }                                                                                       \
        for (npy_intp i = 0; i < *count; i++) {                                                 \
            *(uint16_t *)(args[1] + i * steps[1]) =                                             \
                gw_to_##half(*(const float *)(args[0] + i * steps[0]));                            \
        }                                                                                       \
    }

HALF_LOOPS(float16)
HALF_LOOPS(bfloat16)

/* ---- everything else: FROM, TO, and the expression that converts x ---- */

#define CONVERT(from, to, FROM, TO, expression)                                                 \
    GW_VECTORISED static void from##_to_##to##_row(const FROM *in, TO *out, int64_t n) {        \
        for (int64_t i = 0; i < n; i++) {                                                       \
            FROM x = in[i];                                                                     \
            out[i] = (TO)(expression);                                                          \
        }                                                                                       \
    }                                                                                           \
    LOOP(from##_to_##to) {                                                                      \
        GW_UNUSED(data);                                                                        \
        if (steps[0] == sizeof(FROM) && steps[1] == sizeof(TO)) {                               \
            from##_to_##to##_row((const FROM *)args[0], (TO *)args[1], *count);                 \
            return;                                                                             \
        }                                                                                       \
        for (npy_intp i = 0; i < *count; i++) {                                                 \
            FROM x = *(const FROM *)(args[0] + i * steps[0]);                                   \
            *(TO *)(args[1] + i * steps[1]) = (TO)(expression);                                 \
        }                                                                                       \
    }

#define TO_NUMBERS(from, FROM, narrow)      \
    CONVERT(from, boolean, FROM, uint8_t, x != 0)      \
    CONVERT(from, uint8, FROM, uint8_t, narrow)     \
    CONVERT(from, int8, FROM, int8_t, narrow)       \
    CONVERT(from, int16, FROM, int16_t, narrow)     \
    CONVERT(from, int32, FROM, int32_t, x)          \
    CONVERT(from, int64, FROM, int64_t, x)          \
    CONVERT(from, float32, FROM, float, x)          \
    CONVERT(from, float64, FROM, double, x)

TO_NUMBERS(boolean, uint8_t, x)
TO_NUMBERS(uint8, uint8_t, x)
TO_NUMBERS(int8, int8_t, x)
TO_NUMBERS(int16, int16_t, x)
TO_NUMBERS(int32, int32_t, x)
TO_NUMBERS(int64, int64_t, x)
TO_NUMBERS(float32, float, (int32_t)x)
TO_NUMBERS(float64, double, (int32_t)x)

/* Half types and those that their rows above do not reach pass through float32. */
#define THROUGH_FLOAT(half)                                                     \
    CONVERT(half, boolean, uint16_t, uint8_t, gw_from_##half(x) != 0)           \
    CONVERT(half, uint8, uint16_t, uint8_t, (int32_t)gw_from_##half(x))         \
    CONVERT(half, int8, uint16_t, int8_t, (int32_t)gw_from_##half(x))           \
    CONVERT(half, int16, uint16_t, int16_t, (int32_t)gw_from_##half(x))         \
    CONVERT(half, int32, uint16_t, int32_t, gw_from_##half(x))                  \
    CONVERT(half, int64, uint16_t, int64_t, gw_from_##half(x))                  \
    CONVERT(half, float64, uint16_t, double, gw_from_##half(x))                 \
    CONVERT(boolean, half, uint8_t, uint16_t, gw_to_##half((float)x))           \
    CONVERT(uint8, half, uint8_t, uint16_t, gw_to_##half((float)x))             \
    CONVERT(int8, half, int8_t, uint16_t, gw_to_##half((float)x))               \
    CONVERT(int16, half, int16_t, uint16_t, gw_to_##half((float)x))             \
    CONVERT(int32, half, int32_t, uint16_t, gw_to_##half((float)x))             \
    CONVERT(int64, half, int64_t, uint16_t, gw_to_##half((float)x))             \
    CONVERT(float64, half, double, uint16_t, gw_to_##half((float)x))

THROUGH_FLOAT(float16)
THROUGH_FLOAT(bfloat16)
CONVERT(float16, bfloat16, uint16_t, uint16_t, gw_to_bfloat16(gw_from_float16(x)))
CONVERT(bfloat16, float16, uint16_t, uint16_t, gw_to_float16(gw_from_bfloat16(x)))

/* ---- copies of one item size ---- */

#define COPY(bits)                                                                              \
    LOOP(copy##bits) {                                                                          \
        GW_UNUSED(data);                                                                        \
        if (steps[0] == bits / 8 && steps[1] == bits / 8) {                                     \
            memcpy(args[1], args[0], (size_t)*count * (bits / 8));                              \
            return;                                                                             \
        }                                                                                       \
        for (npy_intp i = 0; i < *count; i++) {                                                 \
            *(uint##bits##_t *)(args[1] + i * steps[1]) =                                       \
                *(const uint##bits##_t *)(args[0] + i * steps[0]);                              \
        }                                                                                       \
    }

COPY(8)
COPY(16)
COPY(32)
COPY(64)

LOOP(copy128) {
    GW_UNUSED(data);
    for (npy_intp i = 0; i < *count; i++) {
        memcpy(args[1] + i * steps[1], args[0] + i * steps[0], 16);
    }
}

static GwLoop copy_loop(int itemsize) {
    switch (itemsize) {
        case 1: return copy8;
        case 2: return copy16;
        case 4: return copy32;
        case 8: return copy64;
        case 16: return copy128;
        default: return NULL;
    }
}

/* The rows of the half types have no loop of their own for no change. */
#define float16_to_float16 copy16
#define bfloat16_to_bfloat16 copy16

#define ROW(from)                                                                              \
    {[GW_BOOL] = from##_to_boolean, [GW_UINT8] = from##_to_uint8, [GW_INT8] = from##_to_int8,  \
     [GW_INT16] = from##_to_int16, [GW_INT32] = from##_to_int32, [GW_INT64] = from##_to_int64, \
     [GW_FLOAT16] = from##_to_float16, [GW_BFLOAT16] = from##_to_bfloat16,                     \
     [GW_FLOAT32] = from##_to_float32, [GW_FLOAT64] = from##_to_float64}

static const GwLoop numbers[GW_NUM_DTYPES][GW_NUM_DTYPES] = {
    [GW_BOOL] = ROW(boolean), [GW_UINT8] = ROW(uint8), [GW_INT8] = ROW(int8),
    [GW_INT16] = ROW(int16), [GW_INT32] = ROW(int32), [GW_INT64] = ROW(int64),
    [GW_FLOAT16] = ROW(float16), [GW_BFLOAT16] = ROW(bfloat16),
    [GW_FLOAT32] = ROW(float32), [GW_FLOAT64] = ROW(float64),
};

GwLoop gw_convert_loop(int from, int to) {
    if (from == to) {
        return copy_loop(gw_dtypes[from].itemsize);
    }
    GwLoop loop = numbers[from][to];
    return loop != NULL ? loop : gw_float8_loop(from, to);
}
