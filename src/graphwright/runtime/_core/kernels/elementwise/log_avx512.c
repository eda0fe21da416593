/* log of float32 in vectors of 64 bytes, for AVX-512: it looks up 32 numbers in two registers,
 * which compilers do not do on their own, and computes in float32 what other machines compute in
 * double. */
#include "elements.h"
#include "widths.h"

#ifdef HAS_WIDE
#include <immintrin.h>

enum { LANES = 16, ENTRIES = 2 * LANES };

/* Of numbers 1 + i/32 to 1 + (i+1)/32 about the inverse, of so few bits that x times it, less 1, is
 * a number of float32; around 1 and 2 exactly 1 and 1/2, so that nothing cancels there. */
static const float reciprocals[ENTRIES] = {
    1.0f, 0.953125f, 0.921875f, 0.90625f, 0.875f, 0.8515625f, 0.828125f, 0.8125f, 0.7890625f,
    0.7734375f, 0.75f, 0.734375f, 0.71875f, 0.703125f, 0.6875f, 0.671875f, 0.65625f, 0.6484375f,
    0.6328125f, 0.625f, 0.609375f, 0.6015625f, 0.5859375f, 0.578125f, 0.5625f, 0.5546875f,
    0.546875f, 0.5390625f, 0.53125f, 0.5234375f, 0.515625f, 0.5f,
};
/* -log of these, to a multiple of 2^-17 as log(2) is: their sums with multiples of it are exact. */
static const float high_logs[ENTRIES] = {
    0.0f, 0.04801178f, 0.081344604f, 0.09844208f, 0.13352966f, 0.16068268f, 0.188591f,
    0.2076416f, 0.23690796f, 0.25691223f, 0.28768158f, 0.3087387f, 0.33023834f, 0.35221863f,
    0.37469482f, 0.3976822f, 0.42121124f, 0.4331894f, 0.45758057f, 0.47000122f, 0.49532318f,
    0.5082245f, 0.53453827f, 0.547966f, 0.57536316f, 0.58934784f, 0.6035309f, 0.6179199f,
    0.6325226f, 0.64733887f, 0.6623764f, 0.69314575f,
};
/* What is left of them. */
static const float low_logs[ENTRIES] = {
    0.0f, -2.560599e-06f, 1.0349618e-06f, -2.0048235e-06f, 1.7295386e-06f, -2.965322e-07f,
    1.6638958e-07f, -2.2367842e-06f, 1.788094e-06f, -1.8176603e-06f, 4.9286194e-07f,
    -3.2268465e-06f, 3.3445854e-06f, 1.9656597e-06f, -1.3747773e-06f, 7.777247e-07f,
    2.2224006e-06f, 2.6403313e-07f, 5.428409e-07f, 2.4085425e-06f, -1.7439223e-06f,
    3.547612e-07f, 3.8813405e-06f, -8.327026e-07f, 9.857238e-07f, 2.5475229e-06f,
    4.1380813e-06f, 3.8374474e-06f, -2.4264358e-08f, -1.2226589e-06f, -8.8191547e-07f,
    1.4286068e-06f,
};

#define HIGH_LN2 0.69314575f
#define LOW_LN2 1.4286068e-06f

/* (log(1 + r) - r) / r^2 of |r| <= 1/32, fitted where log(x) is small; the highest power first. */
static const float log_rest[] = {0.19560386f, -0.25006026f, 0.33333474f, -0.5f};

/* What _mm512_fixupimm_ps makes of quiet and signalling nan (quiet nan), 0 (-inf), 1 (the result),
 * -inf (nan), inf (inf), negative numbers (nan) and positive ones (the result), four bits each, the
 * first lowest. */
enum { SPECIAL_VALUES = 0x03530422 };

WIDE GW_INLINE __m512 entry_of(const float *table, __m512i index) {
    return _mm512_permutex2var_ps(_mm512_loadu_ps(table), index, _mm512_loadu_ps(table + LANES));
}

/* log(m 2^k) = (k log(2) - log(c) + r) + log(1 + r) - r with r = c m - 1, c from the table; the
 * rounding of the sum in parentheses is kept. At most 0.522 ulp, tried on all numbers. */
WIDE GW_INLINE __m512 log_of(__m512 x) {
    __m512 k = _mm512_getexp_ps(x);
    __m512 m = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
    __m512i index = _mm512_srli_epi32(_mm512_castps_si512(m), 18); /* its last 5 bits count */
    __m512 r = _mm512_fmsub_ps(m, entry_of(reciprocals, index), _mm512_set1_ps(1));
    __m512 high = _mm512_fmadd_ps(k, _mm512_set1_ps(HIGH_LN2), entry_of(high_logs, index));
    __m512 low = _mm512_fmadd_ps(k, _mm512_set1_ps(LOW_LN2), entry_of(low_logs, index));
    __m512 rest = _mm512_set1_ps(log_rest[0]);
    for (size_t i = 1; i < sizeof log_rest / sizeof *log_rest; i++) {
        rest = _mm512_fmadd_ps(rest, r, _mm512_set1_ps(log_rest[i]));
    }
    low = _mm512_fmadd_ps(rest, _mm512_mul_ps(r, r), low);
    __m512 sum = _mm512_add_ps(high, r), lost = _mm512_sub_ps(r, _mm512_sub_ps(sum, high));
    __m512 value = _mm512_add_ps(sum, _mm512_add_ps(lost, low));
    return _mm512_fixupimm_ps(value, x, _mm512_set1_epi32(SPECIAL_VALUES), 0);
}

WIDE static void log_float32(char *const *args, int64_t n, int *trouble) {
    GW_UNUSED(trouble);
    const float *a = (const float *)args[0];
    float *out = (float *)args[1];
    int64_t whole = n - n % LANES;
    for (int64_t i = 0; i < whole; i += LANES) {
        _mm512_storeu_ps(out + i, log_of(_mm512_loadu_ps(a + i)));
    }
    if (whole < n) {
        __mmask16 rest = (__mmask16)((1u << (n - whole)) - 1);
        __m512 value = log_of(_mm512_maskz_loadu_ps(rest, a + whole));
        _mm512_mask_storeu_ps(out + whole, rest, value);
    }
}

bool gw_has_wide_rows(void) { return gw_has_wide(); }

const GwRowTable gw_wide_rows[] = {
    {"log", {[GW_FLOAT32] = log_float32}},
    {NULL, {NULL}},
};
#else
bool gw_has_wide_rows(void) { return false; }

const GwRowTable gw_wide_rows[] = {{NULL, {NULL}}};
#endif
