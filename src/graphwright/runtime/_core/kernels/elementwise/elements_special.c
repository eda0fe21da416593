/* Elementwise kernels of special functions: erfc and its kin, erfinv, modified Bessel functions;
 * sine and cosine in float64. The polynomials are Chebyshev fits made for this file. */
#include "error_functions.h"
#include "half.h"
#include "single_math.h"

#include <math.h>

enum { CHUNK = 64 };

/* (1 + 2x) e^(x^2) erfc(x) of x >= 0 in (x - 2) / (x + 2), and in (x - 3) / (x + 3); then
 * erfinv(x) / x in w - 2.5 and sqrt(w) - 3 for w = -log(1 - x^2), to the accuracy of float32. */
static const double scaled_fine[] = {
    4.752424040739112e-09, 2.9115174912334345e-10, -4.515927686002036e-08, -2.644971268139338e-08,
    1.7986347916002516e-07, 2.369185588570434e-07, -2.7684409428376166e-07,
    -9.500039459796959e-07, -6.883411118543695e-07, 1.5944441711460475e-06, 5.221327995736825e-06,
    3.661467410486007e-06, -1.3492120628345732e-05, -3.6404720139120156e-05,
    -1.510055014697402e-06, 0.00015103435873054077, 0.0002063672554900935, -0.0004543400070213104,
    -0.001456813952819064, 0.0012713388781666975, 0.008722653876123063, -0.008034015077164825,
    -0.054220000992050155, 0.1640512800332955, -0.16603039761528926, -0.0927638265857448,
    1.2769783815525286,
};
static const double scaled_coarse[] = {
    -1.1481641468961008e-05, 3.858826870501334e-06, 0.00011462995701111817,
    -0.00010412154102442731, -0.000773109938915649, 0.0018881023957935195, 0.0025271155205983213,
    -0.02377032914854471, 0.06830839969281499, -0.11927369264668239, 0.12964513564845567,
    -0.0475622925783465, -0.13562110588976525, 1.253008058251719,
};
static const double centre_coarse[] = {
    -8.931925970244222e-09, 2.3335967195708108e-08, 4.6813134805534123e-07,
    -3.4639852676333717e-06, -4.9724196894547514e-06, 0.00021834938623976644,
    -0.001252726391773229, -0.004177392875203149, 0.24664027905463662, 1.501409360450329,
};
static const double tail_coarse[] = {
    -9.792557200238276e-06, -1.690273293277201e-05, 0.000175500019527897, -0.00029765462058698545,
    -0.00012888083284148867, 0.0014865301639718606, -0.003564472104652307, 0.0056850504833846575,
    -0.007643148329019077, 0.009445514666919565, 1.0016752552445332, 2.8329767989038346,
};

/* ---- the complement of the error function: float64 2 ulp, float32 1 ulp ---- */

GW_INLINE double scaled_complement(double x) {
    return GW_POLYNOMIAL(scaled_fine, (x - 2) / (x + 2)) / (1 + 2 * x);
}

GW_INLINE double erfc_number(double x) {
    double size = GW_ABS(x), near = 1 - gw_erf_small_double(x);
    double upper = gauss(size) * scaled_complement(size);
    upper = size > 28 ? 0 : upper;
    double lower = 2 - upper, value = x < 0 ? lower : upper;
    return size < 0.25 ? near : value;
}

/* 1 / x of a number within the range of float32, to 1e-14: that of float32, and a step of Newton's. */
GW_INLINE double single_inverse(double x) {
    double inverse = 1 / (float)x;
    return inverse + inverse * (1 - inverse * x);
}

/* Of numbers of float32, which has no smaller one than erfc(12). */
GW_INLINE double erfc_coarse(double x) {
    double size = GW_ABS(x), bounded = size > 12 ? 12 : size, above = bounded + 3;
    double divisor = single_inverse(above * (1 + 2 * bounded)), place = (bounded - 3) * (1 + 2 * bounded) * divisor;
    double complement = GW_POLYNOMIAL(scaled_coarse, place) * above * divisor;
    double upper = single_exp(-bounded * bounded) * complement, lower = 2 - upper;
    return x < 0 ? lower : upper;
}

/* The logarithm of the normal distribution function. */
GW_INLINE double log_ndtr_number(double x) {
    double z = x * 0.70710678118654752440, size = GW_ABS(z);
    double low = gw_log_double(0.5 * scaled_complement(size)) - 0.5 * x * x;
    low = size > 1e150 ? -GW_INFINITY(x) : low;
    double high = gw_log1p_double(-0.5 * erfc_number(z));
    return x < -1 ? low : high;
}


/* The normal distribution function to 2e-4 of its value, for bfloat16: log2(erfc(z) / 2) is a
 * polynomial, fitted to 1.6e-4 for z up to 9.1, behind which the result is no normal number. The
 * power of two of a rest within 1/2 is one to 3e-6. */
GW_INLINE float ndtr_coarse(float x) {
    float size = GW_ABS(x) * (float)SQRT_HALF, z = size > 9.1f ? 9.1f : size;
    float power = 4.7337778e-7f;
    power = power * z - 2.09094928e-5f;
    power = power * z + 3.98617308e-4f;
    power = power * z - 4.33556229e-3f;
    power = power * z + 3.01730321e-2f;
    power = power * z - 1.44739015e-1f;
    power = power * z - 9.24486168e-1f;
    power = power * z - 1.62540407f;
    power = power * z - 1.00015719f;
    float shifted = power + 12582912.0f, rest = power - (shifted - 12582912.0f);
    float root = 9.57008735e-3f;
    root = root * rest + 5.59178686e-2f;
    root = root * rest + 2.40247453e-1f;
    root = root * rest + 6.93121814e-1f;
    root = root * rest + 9.99999261e-1f;
    uint32_t exponent = (uint32_t)gw_bits_float(shifted) << 23;
    float tail = gw_float_bits((int32_t)((uint32_t)gw_bits_float(root) + exponent));
    tail = size > 9.1f ? 0 : tail;
    tail = x != x ? x : tail;
    return x < 0 ? tail : 1 - tail;
}

GW_BFLOAT16_ROW(ndtr, ndtr_coarse(x))
GW_BFLOAT16_ROW(gelu, x * ndtr_coarse(x))

GW_ROW_OF_1(erfc_float32, float, float, erfc_coarse(x))
GW_ROW_OF_1(erfc_float64, double, double, erfc_number(x))
GW_ROW_OF_1(ndtr_float32, float, float, 0.5 * erfc_coarse(-(double)x * SQRT_HALF))
GW_ROW_OF_1(ndtr_float64, double, double, 0.5 * erfc_number(-x * SQRT_HALF))
GW_ROW_OF_1(log_ndtr_float32, float, float, log_ndtr_number(x))
GW_ROW_OF_1(log_ndtr_float64, double, double, log_ndtr_number(x))

/* ---- its inverse: float64 3 ulp, float32 1 ulp ---- */

/* Near 0, and `far` where that is left, also beyond -1 and 1, where the logarithm means nothing. */
GW_INLINE float erfinv_coarse(float given, bool *far) {
    double x = given, w = -single_log((1 - x) * (1 + x), LN2, 1);
    *far = !(w < 5) | !(GW_ABS(x) < 1);
    return (float)(GW_POLYNOMIAL(centre_coarse, w - 2.5) * x);
}

GW_INLINE float erfinv_tail(float given) {
    double x = given, w = -single_log((1 - x) * (1 + x), LN2, 1);
    return (float)erfinv_finished(x, GW_POLYNOMIAL(tail_coarse, GW_SQRT(w) - 3));
}

GW_ROW(erfinv_float32) {
    GW_UNUSED(trouble);
    const float *a = (const float *)args[0];
    float *out = (float *)args[1];
    for (int64_t begin = 0; begin < n; begin += CHUNK) {
        float values[CHUNK];
        int64_t count = n - begin < CHUNK ? n - begin : CHUNK;
        int any = 0;
        for (int64_t i = 0; i < count; i++) {
            bool far;
            values[i] = erfinv_coarse(a[begin + i], &far);
            any |= far;
        }
        for (int64_t i = 0; any && i < count; i++) {
            bool far;
            float near = erfinv_coarse(a[begin + i], &far), tail = erfinv_tail(a[begin + i]);
            values[i] = far ? tail : near;
        }
        memcpy(out + begin, values, (size_t)count * sizeof *values);
    }
}

GW_ROW_OF_1(erfinv_float64, double, double, erfinv_number(x))

/* ---- modified Bessel functions of order 0 and 1: float64 6 ulp ---- */

enum { POWERS = 52, INVERSE_POWERS = 24 };

/* e^-x I(x) for x >= 0: the series of powers (DLMF 10.25.2) up to 20, whose terms are positive,
 * then Hankel's expansion (DLMF 10.40.1). */
GW_INLINE double bessel_scaled(double x, int order) {
    double near = x < 20 ? x : 20, square = 0.25 * near * near, series = 1;
    _Pragma("GCC unroll 64")
    for (int k = POWERS; k >= 1; k--) {
        series = series * square * (1.0 / (k * (k + order))) + 1;
    }
    series *= (order == 1 ? 0.5 * near : 1) * gw_exp_double(-near);
    double far = x < 20 ? 20 : x, inverse = 0.125 / far, expansion = 1;
    _Pragma("GCC unroll 64")
    for (int k = INVERSE_POWERS; k >= 1; k--) {
        double odd = 2.0 * k - 1;
        expansion = 1 - expansion * inverse * ((4.0 * order - odd * odd) / k);
    }
    return x < 20 ? series : expansion * GW_SQRT(0.15915494309189533577 / far);
}

GW_INLINE double bessel_i(double x, int order, bool scaled) {
    double size = GW_ABS(x), value = bessel_scaled(size, order);
    double root = gw_exp_double(0.5 * size), grown = value * root * root;
    grown = size > 1e3 ? GW_INFINITY(x) + (size - size) : grown;    /* nan at infinity */
    value = scaled ? value : grown;
    value = x != x ? x : value;
    return order == 1 ? GW_COPYSIGN(value, x) : value;
}

double gw_bessel_i0(double x) { return bessel_i(x, 0, false); }

#define BESSEL(name, order, scaled)                                                        \
    GW_ROW_OF_1(name##_float32, float, float, bessel_i(x, order, scaled))                  \
    GW_ROW_OF_1(name##_float64, double, double, bessel_i(x, order, scaled))

BESSEL(i0, 0, false)
BESSEL(i0e, 0, true)
BESSEL(i1, 1, false)
BESSEL(i1e, 1, true)

/* ---- sine and cosine of float64: 1 ulp below 2^20, then the C library ---- */

/* sin(x + quarters * pi/2) for |x| < 2^20 (Cody and Waite; Taylor's series to the last digit). */
GW_INLINE double sine_shifted(double x, int64_t quarters) {
    double shifted = x * 0.63661977236758134308 + 6755399441055744.0;
    double q = shifted - 6755399441055744.0;
    double r = GW_FMA(-q, 1.5707963267948966, x);
    r = GW_FMA(-q, 6.123233995736766e-17, r);
    int64_t turn = gw_bits_double(shifted) + quarters;
    double s = r * r, sine = 1.58962301576546568060e-10, cosine = -1.13585365213876817300e-11;
    sine = sine * s - 2.50507477628578072866e-8;
    sine = sine * s + 2.75573136213857245213e-6;
    sine = sine * s - 1.98412698295895385996e-4;
    sine = sine * s + 8.33333333332211858878e-3;
    sine = sine * s - 1.66666666666666307295e-1;
    sine = GW_COPYSIGN(sine * (s * r) + r, r);     /* of 0, too */
    cosine = cosine * s + 2.08757008419747316778e-9;
    cosine = cosine * s - 2.75573141792967388112e-7;
    cosine = cosine * s + 2.48015872888517045348e-5;
    cosine = cosine * s - 1.38888888888730564116e-3;
    cosine = cosine * s + 4.16666666666665929218e-2;
    cosine = cosine * (s * s) + (1 - 0.5 * s);
    double value = (turn & 1) != 0 ? cosine : sine;
    return (turn & 2) != 0 ? -value : value;
}

#define WAVE(name, quarters, library)                                                      \
    GW_ROW(name) {                                                                         \
        GW_UNUSED(trouble);                                                                \
        const double *a = (const double *)args[0];                                         \
        double *out = (double *)args[1];                                                   \
        for (int64_t begin = 0; begin < n; begin += CHUNK) {                               \
            double values[CHUNK];                                                          \
            int64_t count = n - begin < CHUNK ? n - begin : CHUNK, far = 0;                \
            for (int64_t i = 0; i < count; i++) {                                          \
                double x = a[begin + i];                                                   \
                far |= !(GW_ABS(x) < 0x1p20);                                              \
                values[i] = sine_shifted(x, quarters);                                     \
            }                                                                              \
            for (int64_t i = 0; far && i < count; i++) {                                   \
                values[i] = library(a[begin + i]);                                         \
            }                                                                              \
            memcpy(out + begin, values, (size_t)count * sizeof *values);                   \
        }                                                                                  \
    }

WAVE(sin_float64, 0, sin)
WAVE(cos_float64, 1, cos)

/* sin(pi x) / (pi x), 1 at 0. */
#define SINC(name, T, library)                                                             \
    static void name(char *const *args, int64_t n, int *trouble) {                         \
        GW_UNUSED(trouble);                                                                \
        const T *a = (const T *)args[0];                                                   \
        T *out = (T *)args[1];                                                             \
        for (int64_t i = 0; i < n; i++) {                                                  \
            T x = a[i] * (T)3.14159265358979323846;                                        \
            out[i] = a[i] == 0 ? 1 : library(x) / x;                                       \
        }                                                                                  \
    }

SINC(sinc_float32, float, sinf)
SINC(sinc_float64, double, sin)

#define NAMES(name) GW_FLOAT_ROWS(name)

const GwRowTable gw_special_rows[] = {
    NAMES(erfc), NAMES(ndtr), {"ndtr", {[GW_BFLOAT16] = ndtr_bfloat16}},
    {"gelu", {[GW_BFLOAT16] = gelu_bfloat16}}, NAMES(log_ndtr), NAMES(erfinv), NAMES(i0), NAMES(i0e),
    NAMES(i1), NAMES(i1e), NAMES(sinc),
    {"sin", {[GW_FLOAT64] = sin_float64}},
    {"cos", {[GW_FLOAT64] = cos_float64}},
    {NULL, {NULL}},
};
