/* exp, log, erf and their kin, written so that the compiler vectorises loops over them: no
 * branches, no calls. The polynomials are those of codegen/emit/math. */
#ifndef GRAPHWRIGHT_VECTOR_MATH_H
#define GRAPHWRIGHT_VECTOR_MATH_H

#include "pool.h"

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) \
    && !defined(__SANITIZE_ADDRESS__)
#define GW_VECTOR_MATH                                                                     \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"),           \
                   optimize("O3", "fp-contract=fast", "no-trapping-math", "no-math-errno", \
                            "no-thread-jumps", /* bounds stay selections */                 \
                            "no-tree-loop-distribute-patterns"))) /* no memset of lanes */
#else
#define GW_VECTOR_MATH
#endif

#define GW_INLINE static inline __attribute__((always_inline))

/* Functions of C for the type of x. */
#define GW_ABS(x) \
    _Generic((x), float: __builtin_fabsf((float)(x)), double: __builtin_fabs(x))
#define GW_SQRT(x) _Generic((x), float: __builtin_sqrtf(x), double: __builtin_sqrt(x))
#define GW_FLOOR(x) _Generic((x), float: __builtin_floorf(x), double: __builtin_floor(x))
#define GW_CEIL(x) _Generic((x), float: __builtin_ceilf(x), double: __builtin_ceil(x))
#define GW_TRUNC(x) _Generic((x), float: __builtin_truncf(x), double: __builtin_trunc(x))
#define GW_RINT(x) _Generic((x), float: __builtin_rintf(x), double: __builtin_rint(x))
#define GW_COPYSIGN(x, y) \
    _Generic((x), float: __builtin_copysignf(x, y), double: __builtin_copysign(x, y))
#define GW_FMA(x, y, z) \
    _Generic((x), float: __builtin_fmaf(x, y, z), double: __builtin_fma(x, y, z))
#define GW_INFINITY(x) _Generic((x), float: __builtin_inff(), double: __builtin_inf())
#define GW_NAN(x) _Generic((x), float: __builtin_nanf(""), double: __builtin_nan(""))

GW_INLINE float gw_float_bits(int32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

GW_INLINE double gw_double_bits(int64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

GW_INLINE int32_t gw_bits_float(float f) {
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

GW_INLINE int64_t gw_bits_double(double d) {
    int64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* e^r of |r| <= log(2) / 2. */
GW_INLINE float gw_exp_rest_float(float r) {
    float p = 0.0013926926614021907f;
    p = p * r + 0.008363773874405574f;
    p = p * r + 0.04166655011030512f;
    p = p * r + 0.16666573381900845f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    return p * r + 1.0f;
}

/* e^x as two factors of which none is subnormal, the second a power of two, and its inverse: for
 * products and quotients that are rounded once and do not overflow. */
GW_INLINE float gw_exp_parts_float(float x, float *scale, float *inverse) {
    x = x < -130.0f ? -130.0f : x;
    x = x > 130.0f ? 130.0f : x;
    float shifted = x * 1.44269504f + 12582912.0f;
    float n = shifted - 12582912.0f;
    float r = (x - n * 0.693145751953125f) - n * 1.42860682030941723212e-06f;
    int32_t i = gw_bits_float(shifted) - 0x4b400000, half = i >> 1;
    *scale = gw_float_bits((i - half + 127) << 23);
    *inverse = gw_float_bits((half - i + 127) << 23);
    return gw_exp_rest_float(r) * gw_float_bits((half + 127) << 23);
}

/* e^x; about 1 ulp. */
GW_INLINE float gw_exp_float(float x) {
    float scale, inverse, part = gw_exp_parts_float(x, &scale, &inverse);
    return part * scale;
}

/* e^r of |r| <= log(2) / 2. */
GW_INLINE double gw_exp_rest_double(double r) {
    static const double tail[] = {
        1.6087177234380782e-10, 2.0918961837795778e-09, 2.5052069594795685e-08,
        2.755726102934377e-07, 2.7557319248633827e-06, 2.4801587338565345e-05,
        0.00019841269841262761, 0.0013888888888878269, 0.008333333333333333,
        0.04166666666666668, 0.16666666666666666, 0.5, 1.0, 1.0,
    };
    double p = tail[0];
    for (int k = 1; k < 14; k++) {
        p = p * r + tail[k];
    }
    return p;
}

/* e^r 2^n as two factors, with n in the last bits of `shifted`. */
GW_INLINE double gw_exp_scaled_double(double r, double shifted, double *scale, double *inverse) {
    int64_t n = gw_bits_double(shifted) - 0x4338000000000000, half = n >> 1;
    *scale = gw_double_bits((n - half + 1023) << 52);
    *inverse = gw_double_bits((half - n + 1023) << 52);
    return gw_exp_rest_double(r) * gw_double_bits((half + 1023) << 52);
}

GW_INLINE double gw_exp_parts_double(double x, double *scale, double *inverse) {
    x = x < -780.0 ? -780.0 : x;
    x = x > 780.0 ? 780.0 : x;
    double shifted = x * 1.4426950408889634 + 6755399441055744.0;
    double n = shifted - 6755399441055744.0;
    double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    return gw_exp_scaled_double(r, shifted, scale, inverse);
}

GW_INLINE double gw_exp_double(double x) {
    double scale, inverse, part = gw_exp_parts_double(x, &scale, &inverse);
    return part * scale;
}

/* 2^x; about 1 ulp. */
GW_INLINE double gw_exp2_double(double x) {
    x = x < -1080.0 ? -1080.0 : x;
    x = x > 1030.0 ? 1030.0 : x;
    double shifted = x + 6755399441055744.0;
    double r = (x - (shifted - 6755399441055744.0)) * 0.6931471805599453;
    double scale, inverse, part = gw_exp_scaled_double(r, shifted, &scale, &inverse);
    return part * scale;
}

/* e^x of |x| <= 87; about 1 ulp. */
GW_INLINE float gw_exp_near_float(float x) {
    float shifted = x * 1.44269504f + 12582912.0f;
    float n = shifted - 12582912.0f;
    float r = (x - n * 0.693145751953125f) - n * 1.42860682030941723212e-06f;
    uint32_t power = ((uint32_t)gw_bits_float(shifted) << 23) + (127u << 23);
    return gw_exp_rest_float(r) * gw_float_bits((int32_t)power);
}

/* 1 / (1 + e^-x); about 2 ulp, and 2e-38 where it is less. */
GW_INLINE float gw_sigmoid_float(float x) {
    float bounded = x < -87.0f ? -87.0f : x;
    bounded = bounded > 87.0f ? 87.0f : bounded;
    return 1.0f / (1.0f + gw_exp_near_float(-bounded));
}

GW_INLINE double gw_sigmoid_double(double x) {
    return 1.0 / (1.0 + gw_exp_double(-x));
}

/* e^x - 1 of -20 <= x <= 89, in float64 of -40 <= x <= 710; about 2 ulp. */
GW_INLINE float gw_expm1_near_float(float x) {
    float shifted = x * 1.44269504f + 12582912.0f;
    float n = shifted - 12582912.0f;
    float r = (x - n * 0.693145751953125f) - n * 1.42860682030941723212e-06f;
    float p = 0.0013926926614021907f;
    p = p * r + 0.008363773874405574f;
    p = p * r + 0.04166655011030512f;
    p = p * r + 0.16666573381900845f;
    p = p * r + 0.5f;
    float part = p * (r * r) + r;
    float half = gw_float_bits((gw_bits_float(shifted) - 0x4b400000 + 126) << 23);
    float doubled = part * half + (half - 0.5f);
    return doubled + doubled;
}

GW_INLINE double gw_expm1_near_double(double x) {
    double shifted = x * 1.4426950408889634 + 6755399441055744.0;
    double n = shifted - 6755399441055744.0;
    double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    static const double tail[] = {
        1.6087177234380782e-10, 2.0918961837795778e-09, 2.5052069594795685e-08,
        2.755726102934377e-07, 2.7557319248633827e-06, 2.4801587338565345e-05,
        0.00019841269841262761, 0.0013888888888878269, 0.008333333333333333,
        0.04166666666666668, 0.16666666666666666, 0.5,
    };
    double p = tail[0];
    for (int k = 1; k < 12; k++) {
        p = p * r + tail[k];
    }
    double part = p * (r * r) + r;
    double half = gw_double_bits((gw_bits_double(shifted) - 0x4338000000000000 + 1022) << 52);
    double doubled = part * half + (half - 0.5);
    return doubled + doubled;
}

/* e^x - 1; about 2 ulp. */
GW_INLINE float gw_expm1_float(float given) {
    float x = given < -20.0f ? -20.0f : given;
    x = x > 89.0f ? 89.0f : x;
    return given == 0.0f ? given : gw_expm1_near_float(x);
}

GW_INLINE double gw_expm1_double(double given) {
    double x = given < -40.0 ? -40.0 : given;
    x = x > 710.0 ? 710.0 : x;
    return given == 0.0 ? given : gw_expm1_near_double(x);
}

/* log x of a positive number; about 1 ulp. */
GW_INLINE float gw_log_positive_float(float x) {
    int32_t tiny = x < 0x1p-126f;
    uint32_t bits = (uint32_t)gw_bits_float(tiny ? x * 0x1p24f : x);
    int32_t exponent = (int32_t)(bits - 0x3f2aaaab) >> 23;
    float f = gw_float_bits((int32_t)(bits - ((uint32_t)exponent << 23))) - 1.0f;
    float e = (float)(exponent - (tiny ? 24 : 0)), p = -0.12125580650711652f;
    p = p * f + 0.13425749011418575f;
    p = p * f - 0.1234619024512849f;
    p = p * f + 0.1411830990265524f;
    p = p * f - 0.16670140691401691f;
    p = p * f + 0.20003780322455603f;
    p = p * f - 0.24999987901255855f;
    p = p * f + 0.33333320168349617f;
    return e * 0.6931471805599453f + ((f * f) * (p * f - 0.5f) + f);
}

GW_INLINE double gw_log_positive_double(double x) {
    int64_t tiny = x < 0x1p-1022;
    uint64_t bits = (uint64_t)gw_bits_double(tiny ? x * 0x1p54 : x);
    int64_t exponent = (int64_t)(bits - 0x3fe6a09e667f3bcd) >> 52;
    double f = gw_double_bits((int64_t)(bits - ((uint64_t)exponent << 52))) - 1.0;
    double e = (double)(int32_t)(exponent - (tiny ? 54 : 0));
    double s = f / (f + 2.0), square = s * s, half_square = f * f * 0.5;
    double p = 1.479819860511658591e-01;
    p = p * square + 1.531383769920937332e-01;
    p = p * square + 1.818357216161805012e-01;
    p = p * square + 2.222219843214978396e-01;
    p = p * square + 2.857142874366239149e-01;
    p = p * square + 3.999999999940941908e-01;
    p = p * square + 6.666666666666735130e-01;
    double correction = s * (half_square + square * p);
    double inner = half_square - (e * 1.90821492927058770002e-10 + correction);
    return e * 6.93147180369123816490e-01 + (f - inner);
}

GW_INLINE float gw_log_float(float x) {
    float value = gw_log_positive_float(x);
    value = x < __builtin_inff() ? value : x;
    value = x == 0 ? -__builtin_inff() : value;
    return x < 0 ? __builtin_nanf("") : value;
}

GW_INLINE double gw_log_double(double x) {
    double value = gw_log_positive_double(x);
    value = x < __builtin_inf() ? value : x;
    value = x == 0 ? -__builtin_inf() : value;
    return x < 0 ? __builtin_nan("") : value;
}

/* log(1 + x); about 2 ulp. What 1 + x loses is put back to first order. */
GW_INLINE float gw_log1p_float(float x) {
    float u = x + 1.0f, part = u - x, lost = (1.0f - part) + (x - (u - part));
    float value = gw_log_positive_float(u) + lost / u;
    value = u < __builtin_inff() ? value : u;
    value = u == 0 ? -__builtin_inff() : value;
    value = u < 0 ? __builtin_nanf("") : value;
    return x == 0 ? x : value;
}

GW_INLINE double gw_log1p_double(double x) {
    double u = x + 1.0, part = u - x, lost = (1.0 - part) + (x - (u - part));
    double value = gw_log_positive_double(u) + lost / u;
    value = u < __builtin_inf() ? value : u;
    value = u == 0 ? -__builtin_inf() : value;
    value = u < 0 ? __builtin_nan("") : value;
    return x == 0 ? x : value;
}

/* z / (z + 2) with z = e^(2|x|) - 1; about 2.5 ulp. */
GW_INLINE float gw_tanh_float(float x) {
    float size = __builtin_fabsf(x);
    float z = gw_expm1_near_float(2.0f * (size > 9.5f ? 9.5f : size));
    return __builtin_copysignf(z / (z + 2.0f), x);
}

GW_INLINE double gw_tanh_double(double x) {
    double size = __builtin_fabs(x);
    double z = gw_expm1_near_double(2.0 * (size > 20.0 ? 20.0 : size));
    return __builtin_copysign(z / (z + 2.0), x);
}

/* The error function. Two polynomials, after N. Juffa (public domain, 2016). */
GW_INLINE float gw_erf_float(float x) {
    float size = __builtin_fabsf(x), square = x * x;
    float small = -5.96761703e-4f;
    small = small * square + 4.99119423e-3f;
    small = small * square - 2.67681349e-2f;
    small = small * square + 1.12819925e-1f;
    small = small * square - 3.76125336e-1f;
    small = small * square + 1.28379166e-1f;
    small = small * x + x;
    float e = -1.72853470e-5f;
    e = e * size + 3.83197126e-4f;
    e = e * size - 3.88396438e-3f;
    e = e * size + 2.42546219e-2f;
    e = e * size - 1.06777877e-1f;
    e = e * size - 6.34846687e-1f;
    e = e * size - 1.28717512e-1f;
    e = e * size - size;
    float large = __builtin_copysignf(1.0f - gw_exp_float(e), x);
    large = size > 4.0f ? __builtin_copysignf(1.0f, x) : large;
    return size > 0.927734375f ? large : small;
}

/* The normal distribution function, whose logarithm to base 2 is a polynomial for x <= 0; 1 ulp of
 * 1, and of the tail's own to 4e-6 down to x = -5.65, behind which it is 0. */
GW_INLINE float gw_normal_float(float x) {
    float size = __builtin_fabsf(x), power = -2.902381907032847e-08f;
    power = power * size + 8.600847514195209e-07f;
    power = power * size - 1.0939114167191066e-05f;
    power = power * size + 7.6028019635238e-05f;
    power = power * size - 0.0002771919846919422f;
    power = power * size - 7.3002121116717475e-06f;
    power = power * size + 0.006958403264544734f;
    power = power * size - 0.05245056724807767f;
    power = power * size - 0.45921743657427555f;
    power = power * size - 1.1511045907400175f;
    power = power * size - 1.0f;
    float shifted = power + 12582912.0f, rest = power - (shifted - 12582912.0f);
    float root = 0.0001534580755424876f;
    root = root * rest + 0.0013399931183470555f;
    root = root * rest + 0.009618488973655082f;
    root = root * rest + 0.055503287770764326f;
    root = root * rest + 0.24022646890481275f;
    root = root * rest + 0.6931472057371977f;
    root = root * rest + 1.0f;
    uint32_t exponent = (uint32_t)gw_bits_float(shifted) - (0x4b400000 - 127);
    float tail = root * gw_float_bits((int32_t)(exponent << 23));
    tail = size > 5.65f ? 0.0f : tail;
    return x > 0 ? 1.0f - tail : tail;
}

/* erf of |x| <= 1. */
GW_INLINE double gw_erf_small_double(double x) {
    static const double low[] = {
        -4.230945824295338e-12, 8.709045129053106e-11, -1.216456005728345e-09,
        1.4792401209404813e-08, -1.6364642158167616e-07, 1.6462045441468418e-06,
        -1.4925647567519332e-05, 0.00012055332902888736, -0.000854832702193483,
        0.0052239776254232985, -0.02686617064512984, 0.1128379167095512,
        -0.37612638903183754, 0.1283791670955126,
    };
    double square = x * x, small = low[0];
    for (int k = 1; k < 14; k++) {
        small = small * square + low[k];
    }
    return small * x + x;
}

/* A polynomial below 1; above, 1 - exp(-x^2) * erfcx(x) with erfcx in 1/(x+3). */
GW_INLINE double gw_erf_double(double x) {
    static const double scaled[] = {
        -574656.0591928752, 4234.790466471097, 110706.6530450925, -7767.326147466117,
        -20465.008227451206, 1592.908076197768, 4338.2671872350575, 96.3886064799395,
        -1025.037214566465, -306.8672428878629, 175.63310338914033, 204.73636799658007,
        106.036470435407, 37.72498650435314, 10.242397946199057, 2.2113854643084956,
        0.20675157614059253,
    };
    double size = __builtin_fabs(x), bounded = size > 6.0 ? 6.0 : size;
    double small = gw_erf_small_double(x);
    double t = 1.0 / (bounded + 3.0) - 0.18, factor = scaled[0];
    for (int k = 1; k < 17; k++) {
        factor = factor * t + scaled[k];
    }
    double large = 1.0 - gw_exp_double(-(bounded * bounded)) * factor;
    large = x != x ? x : __builtin_copysign(large, x);
    return size > 1.0 ? large : small;
}

GW_INLINE double gw_normal_double(double x) {
    return 0.5 * (1.0 + gw_erf_double(x * 0.70710678118654752440));
}

#endif
