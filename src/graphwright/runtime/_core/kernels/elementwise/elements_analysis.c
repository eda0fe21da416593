/* Elementwise kernels of exponentials, logarithms, hyperbolic and trigonometric functions and their
 * inverses, in place of NumPy's, of which many call the C library for each element. float32 is
 * computed in double by shorter polynomials, to 1e-9 of the value: it is rounded once. The tables
 * are Chebyshev fits made for this file, the highest power first. */
#include "coarse_wave.h"
#include "half.h"
#include "single_math.h"

#include <math.h>

enum { CHUNK = 64 };

#define PI 3.14159265358979323846
#define HALF_PI 1.57079632679489661923
#define HALF_PI_LOW 6.123233995736766e-17
#define ROOT_OF_HALF 0x3fe6a09e667f3bcdu

/* ---- exponentials ---- */

/* 2^r of |r| <= 1/2. */
static const double exp2_single[] = {
    0.00015461560778872135, 0.0013400562264223321, 0.009618056388057775, 0.055503268911533885,
    0.24022650923651495, 0.6931472068602362, 1.0,
};
/* (sinh(x) / x - 1) / x^2 of |x| <= 1 by powers of x^2. */
static const double sinh_near[] = {
    7.746178593018827e-13, 1.6057679623801638e-10, 2.5052117695907823e-08,
    2.7557319191381816e-06, 0.00019841269841324198, 0.008333333333333299, 0.16666666666666666,
};

GW_INLINE float single_exp2(float given) {
    double x = given < -160 ? -160 : given;
    x = x > 130 ? 130 : x;
    double shifted = x + MAGIC, r = x - (shifted - MAGIC);
    return (float)(GW_POLYNOMIAL(exp2_single, r) * power_of_two(shifted));
}

/* -0 keeps its sign. */
GW_INLINE float single_sinh(float x) {
    double z = single_expm1(GW_ABS(x));
    return GW_COPYSIGN((float)(0.5 * (z + z / (z + 1))), x);
}

GW_INLINE float single_cosh(float x) {
    double e = single_expm1(GW_ABS(x)) + 1;
    return (float)(0.5 * (e + 1 / e));
}

/* e^x / 2 of x >= 0, which is finite where the hyperbolic functions are. */
GW_INLINE double half_exp(double given) {
    double x = given > 711 ? 711 : given;
    double shifted = x * 1.4426950408889634 + MAGIC, n = shifted - MAGIC;
    double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    return gw_exp_rest_double(r) * power_of_two(shifted - 2) * 2;
}

GW_INLINE double double_sinh(double x) {
    double size = GW_ABS(x), square = size < 1 ? x * x : 1, e = half_exp(size);
    double near = size + size * square * GW_POLYNOMIAL(sinh_near, square);
    double value = size < 1 ? near : e - 0.25 / e;
    return GW_COPYSIGN(value, x);
}

GW_INLINE double double_cosh(double x) {
    double e = half_exp(GW_ABS(x));
    return e + 0.25 / e;
}

GW_ROW_OF_1(exp_float32, float, float, gw_exp_float(x))
GW_ROW_OF_1(exp_float64, double, double, gw_exp_double(x))
GW_ROW_OF_1(exp2_float32, float, float, single_exp2(x))
GW_ROW_OF_1(exp2_float64, double, double, gw_exp2_double(x))
GW_ROW_OF_1(expm1_float32, float, float, x == 0 ? x : (float)single_expm1(x))
GW_ROW_OF_1(expm1_float64, double, double, GW_ABS(x) < 0x1p-60 ? x : gw_expm1_double(x))
GW_ROW_OF_1(sinh_float32, float, float, single_sinh(x))
GW_ROW_OF_1(sinh_float64, double, double, double_sinh(x))
GW_ROW_OF_1(cosh_float32, float, float, single_cosh(x))
GW_ROW_OF_1(cosh_float64, double, double, double_cosh(x))
GW_ROW_OF_1(tanh_float64, double, double, gw_tanh_double(x))

/* ---- logarithms ---- */

/* What 1 + x loses of a small float32 is put back to first order. */
GW_INLINE double single_log1p(double x) {
    double u = 1 + x, lost = x < 1 ? x - (u - 1) : 0;
    return single_log(u, LN2, 1) + lost;
}

/* log(1 + f) - f + f^2 / 2: fdlibm's rational function. */
GW_INLINE double log_rest(double f, double half_square) {
    static const double rest[] = {
        1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
        2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
        6.666666666666735130e-01,
    };
    double s = f / (f + 2), square = s * s;
    return s * (half_square + square * GW_POLYNOMIAL(rest, square));
}

/* log(x + lost) of a positive normal number. */
GW_INLINE double double_log_sum(double x, double lost) {
    double e, f = mantissa_of(x, ROOT_OF_HALF, &e), half_square = f * f * 0.5;
    double low = e * 1.90821492927058770002e-10 + (log_rest(f, half_square) + lost);
    return e * 6.93147180369123816490e-01 + (f - (half_square - low));
}

/* A logarithm to another base: `unit` and `scale` as above, in two parts each; e times the first part
 * of `unit` is exact. */
GW_INLINE double double_log_based(double given, const double unit[2], const double scale[2]) {
    bool tiny = given < 0x1p-1022;
    double x = tiny ? given * 0x1p54 : given, e, f = mantissa_of(x, ROOT_OF_HALF, &e);
    double half_square = f * f * 0.5, lost = GW_FMA(f * 0.5, f, -half_square);
    double high = f - half_square;
    double low = (((f - high) - half_square) - lost) + log_rest(f, half_square);
    e -= tiny ? 54 : 0;
    double product = high * scale[0], whole = e * unit[0], sum = whole + product;
    double rest = GW_FMA(high, scale[0], -product) + (high * scale[1] + low * scale[0]);
    rest += e * unit[1] + ((whole - sum) + product);
    return sum + rest;
}

/* A logarithm of x, of which `value` holds where x is positive and finite. */
#define LOG_OF(x, value)                                                                    \
    ((x) < 0 ? GW_NAN(x) : (x) == 0 ? -GW_INFINITY(x) : (x) < GW_INFINITY(x) ? (value) : (x))

static const double to_two[] = {1.4426950408889634, 2.0355273740931033e-17};
static const double to_ten[] = {0.4342944819032518, 1.098319650216765e-17};
static const double two_of_two[] = {1, 0};
static const double two_of_ten[] = {3.01029995663611771306e-01, 3.69423907715893078616e-13};

GW_INLINE float float_log(float x, double unit, double scale) {
    float value = (float)single_log(x, unit, scale);
    return LOG_OF(x, value);
}

GW_INLINE float float_log1p(float x) {
    double u = 1 + (double)x;
    float value = (float)single_log1p(x);
    value = LOG_OF(u, value);
    return x == 0 ? x : value;
}

GW_INLINE double double_log(double x, const double unit[2], const double scale[2]) {
    double value = double_log_based(x, unit, scale);
    return LOG_OF(x, value);
}

GW_INLINE double double_natural(double given) {
    bool tiny = given < 0x1p-1022;
    double value = double_log_sum(tiny ? given * 0x1p54 : given, 0) - (tiny ? 54 * LN2 : 0);
    return LOG_OF(given, value);
}

GW_INLINE double double_log1p(double x) {
    double u = 1 + x, part = u - x, lost = (1 - part) + (x - (u - part));
    double value = double_log_sum(u, lost / u);
    value = LOG_OF(u, value);
    return x == 0 ? x : value;
}

GW_ROW_OF_1(log_float32, float, float, float_log(x, LN2, 1))
GW_ROW_OF_1(log_float64, double, double, double_natural(x))
GW_ROW_OF_1(log2_float32, float, float, float_log(x, 1, 1.4426950408889634))
GW_ROW_OF_1(log2_float64, double, double, double_log(x, two_of_two, to_two))
GW_ROW_OF_1(log10_float32, float, float, float_log(x, 0.3010299956639812, 0.4342944819032518))
GW_ROW_OF_1(log10_float64, double, double, double_log(x, two_of_ten, to_ten))
GW_ROW_OF_1(log1p_float32, float, float, float_log1p(x))
GW_ROW_OF_1(log1p_float64, double, double, double_log1p(x))

/* log((1 + x) / (1 - x)) / 2 */
GW_INLINE float float_atanh(float given) {
    double x = given, size = GW_ABS(x), near = x + x * x * x * (1.0 / 3);
    double value = 0.5 * single_log((1 + x) / (1 - x), LN2, 1);
    value = size < 0x1p-10 ? near : value;
    value = size < 1 ? value : size == 1 ? x * GW_INFINITY(x) : GW_NAN(x);
    return (float)value;
}

GW_INLINE double double_atanh(double x) {
    double size = GW_ABS(x), twice = size + size, less = 1 - size;
    double ratio = size < 0.5 ? twice + twice * size / less : twice / less;
    double value = size < 1 ? 0.5 * double_log1p(ratio) : size == 1 ? GW_INFINITY(x) : GW_NAN(x);
    return GW_COPYSIGN(value, x);
}

GW_ROW_OF_1(arctanh_float32, float, float, float_atanh(x))
GW_ROW_OF_1(arctanh_float64, double, double, double_atanh(x))

/* ---- sine, cosine, tangent: of huge numbers by the C library. A sum of parts with the sign of r
 * loses that of 0, which is put back. ---- */

/* (sin(r) / r - 1) / r^2 and (cos(r) - 1) / r^2 of |r| <= pi / 4 by powers of r^2. */
static const double sine_single[] = {
    2.7249314054698804e-06, -0.00019840082012765537, 0.008333331865959415, -0.16666666663832763,
};
static const double cosine_single[] = {
    -2.723650327085515e-07, 2.4799855304504668e-05, -0.0013888885068618752, 0.041666666637161585,
    -0.4999999999996353,
};
static const double sine_double[] = {
    -7.585486485235938e-13, 1.6058510875319195e-10, -2.505210610025599e-08,
    2.7557319218954762e-06, -0.00019841269841264567, 0.008333333333333331, -0.16666666666666666,
};
static const double cosine_double[] = {    /* (cos(r) - 1 + r^2 / 2) / r^4 */
    4.745198807202876e-14, -1.1470449354466773e-11, 2.0876755717784403e-09,
    -2.75573192211891e-07, 2.4801587301584367e-05, -0.0013888888888888887, 0.041666666666666664,
};

/* r + low = x - n pi / 2 of |x| < 2^20, and n in the last bits of the result. */
GW_INLINE int64_t quarters_of(double x, double *r, double *low) {
    double shifted = x * 0.63661977236758134308 + MAGIC, n = shifted - MAGIC;
    double first = GW_FMA(-n, 1.5707963267948966, x);
    *r = GW_FMA(-n, HALF_PI_LOW, first);
    *low = GW_FMA(-n, HALF_PI_LOW, first - *r);
    return gw_bits_double(shifted);
}

GW_INLINE float single_wave(float x, int64_t quarters) {
    double r, low;
    int64_t turn = quarters_of(x, &r, &low) + quarters;
    double s = r * r, sine = GW_COPYSIGN(r + r * s * GW_POLYNOMIAL(sine_single, s), r);
    double cosine = 1 + s * GW_POLYNOMIAL(cosine_single, s);
    double value = (turn & 1) != 0 ? cosine : sine;
    return (float)((turn & 2) != 0 ? -value : value);
}

GW_INLINE float single_tangent(float x) {
    double r, low;
    int64_t turn = quarters_of(x, &r, &low);
    double s = r * r, sine = GW_COPYSIGN(r + r * s * GW_POLYNOMIAL(sine_single, s), r);
    double cosine = 1 + s * GW_POLYNOMIAL(cosine_single, s);
    bool even = (turn & 1) == 0;
    return (float)((even ? sine : -cosine) / (even ? cosine : sine));
}

GW_INLINE double double_tangent(double x) {
    double r, low;
    int64_t turn = quarters_of(x, &r, &low);
    double s = r * r, half = 0.5 * s, most = 1 - half;
    double sine = GW_COPYSIGN(r + (r * s * GW_POLYNOMIAL(sine_double, s) + low), r);
    double cosine = most + (((1 - most) - half) + (s * s * GW_POLYNOMIAL(cosine_double, s) - r * low));
    bool even = (turn & 1) == 0;
    return (even ? sine : -cosine) / (even ? cosine : sine);
}

/* A row of numbers x of type T, which READ and WRITE make of elements of type E. */
#define WAVE(name, E, T, READ, WRITE, MOST, expression, library)                           \
    GW_ROW(name) {                                                                         \
        GW_UNUSED(trouble);                                                                \
        const E *a = (const E *)args[0];                                                   \
        E *out = (E *)args[1];                                                             \
        for (int64_t begin = 0; begin < n; begin += CHUNK) {                               \
            E values[CHUNK];                                                               \
            int64_t count = n - begin < CHUNK ? n - begin : CHUNK;                         \
            int far = 0;                                                                   \
            for (int64_t i = 0; i < count; i++) {                                          \
                T x = READ(a[begin + i]);                                                  \
                far |= !(GW_ABS(x) < MOST);                                                \
                values[i] = WRITE(expression);                                             \
            }                                                                              \
            for (int64_t i = 0; far && i < count; i++) {                                   \
                values[i] = WRITE(library(READ(a[begin + i])));                            \
            }                                                                              \
            memcpy(out + begin, values, (size_t)count * sizeof *values);                   \
        }                                                                                  \
    }
#define SAME(x) (x)
#define FLOAT_WAVE(name, expression, library) \
    WAVE(name##_float32, float, float, SAME, SAME, 0x1p20f, expression, library)
#define BFLOAT16_WAVE(name, expression, library)                                       \
    WAVE(name##_bfloat16, uint16_t, float, gw_from_bfloat16, gw_to_bfloat16, 0x1p15f,  \
         expression, library)

FLOAT_WAVE(sin, single_wave(x, 0), sinf)
FLOAT_WAVE(cos, single_wave(x, 1), cosf)
FLOAT_WAVE(tan, single_tangent(x), tanf)
BFLOAT16_WAVE(sin, coarse_wave(x, 0), sinf)
BFLOAT16_WAVE(cos, coarse_wave(x, 1), cosf)
WAVE(tan_float64, double, double, SAME, SAME, 0x1p20, double_tangent(x), tan)

/* ---- their inverses ---- */

/* (asin(x) / x - 1) / x^2 of |x| <= 1/2, (atan(x) / x - 1) / x^2 of |x| <= tan(pi / 8) by powers of
 * x^2. */
static const double arcsine_single[] = {
    0.028373550216520615, 0.001042471333932456, 0.016873541508647026, 0.01690083674488631,
    0.02241261635907163, 0.03037993370401834, 0.04464290679872631, 0.07499999953085949,
    0.16666666666739222,
};
static const double arcsine_double[] = {
    0.03562071766934815, -0.04186101854240848, 0.03787646895883672, -0.011101366726034735,
    0.010289207750785685, 0.004523572914092647, 0.006661624136984923, 0.007284092376799855,
    0.008393177915593995, 0.009761396667453428, 0.011551812677148773, 0.013964843279179847,
    0.017352764436191156, 0.022372159090667792, 0.03038194444444714, 0.04464285714285713, 0.075,
    0.16666666666666666,
};
static const double arctangent_single[] = {
    0.03295604615970532, -0.06027265565380101, 0.07604790893047794, -0.09084100910061657,
    0.11110819662708163, -0.14285708108961764, 0.19999999949841366, -0.3333333333326618,
};
static const double arctangent_double[] = {
    -0.010324528800189647, 0.024375918031338185, -0.03394160640448415, 0.039342300106172776,
    -0.04337856188838461, 0.047608106278582, -0.05263070659602472, 0.05882347921961462,
    -0.06666666461892083, 0.07692307686564157, -0.09090909090803732, 0.11111111111109945,
    -0.1428571428571428, 0.2, -0.3333333333333333,
};

/* The root of a number of float32 to 1e-14: that of float32, and a step of Newton's. */
GW_INLINE double single_root(double z) {
    float root = GW_SQRT((float)z), half = root == 0 ? 0 : 0.5f / root;
    return root + (z - (double)root * root) * half;
}

/* What is lost by the root of a number of float64. */
GW_INLINE double double_lost(double z, double root) {
    return z == 0 ? 0 : GW_FMA(-root, root, z) / (root + root);
}

/* asin(s) = s + rest of s = |x| up to 1/2, of s = sqrt((1 - |x|) / 2) above, where asin(|x|) = pi/2 - 2 asin(s);
 * what the root loses is put back. */
#define ARCSINE(name, table, ROOT, LOST)                                                   \
    GW_INLINE double name(double size, bool low, double *rest) {                           \
        double z = low ? size * size : 0.5 - 0.5 * size, root = ROOT(z);                   \
        double s = low ? size : root;                                                      \
        *rest = s * z * GW_POLYNOMIAL(table, z) + (low ? 0 : LOST(z, root));               \
        return s;                                                                          \
    }                                                                                      \
    GW_INLINE double name##_asin(double x) {                                               \
        double size = GW_ABS(x), rest, s = name(size, size <= 0.5, &rest);                 \
        double high = (HALF_PI - 2 * s) - (2 * rest - HALF_PI_LOW);                        \
        return GW_COPYSIGN(size <= 0.5 ? s + rest : high, x);                              \
    }                                                                                      \
    GW_INLINE double name##_acos(double x) {                                               \
        double size = GW_ABS(x), rest, s = name(size, size <= 0.5, &rest), part = s + rest; \
        double low = HALF_PI - (GW_COPYSIGN(part, x) - HALF_PI_LOW), twice = part + part;  \
        double high = x < 0 ? PI - (twice - 2 * HALF_PI_LOW) : twice;                      \
        return size <= 0.5 ? low : high;                                                   \
    }

/* atan(low / high) of 0 <= low <= high, of which one is positive: from tan(pi / 8) on
 * atan(t) = pi/4 + atan((t - 1) / (t + 1)). FACTOR keeps sums of two finite, quotients exact. */
#define ARCTANGENT(name, table, FACTOR)                                                    \
    GW_INLINE double name(double low, double high) {                                       \
        bool turned = low > 0.41421356237309503 * high;                                    \
        double t = (turned ? low - high : low) / (turned ? low + high : high), z = t * t;  \
        double rest = t * z * GW_POLYNOMIAL(table, z) + (turned ? 0.5 * HALF_PI_LOW : 0);  \
        return (turned ? 0.5 * HALF_PI : 0) + (t + rest);                                  \
    }                                                                                      \
    GW_INLINE double name##_one(double x) {                                                \
        double size = GW_ABS(x);                                                           \
        bool large = size > 1;                                                             \
        double part = name(large ? 1 : size, large ? size : 1);                            \
        part = large ? HALF_PI - (part - HALF_PI_LOW) : part;                              \
        return GW_COPYSIGN(part, x);                                                       \
    }                                                                                      \
    GW_INLINE double name##_two(double y, double x) {                                      \
        double a = GW_ABS(y), b = GW_ABS(x), most = a > b ? a : b;                         \
        double factor = FACTOR(most);                                                      \
        bool steep = a > b, endless = most == GW_INFINITY(x);                              \
        double low = (steep ? b : a) * factor, high = most * factor;                       \
        double share = low == GW_INFINITY(x) ? 1 : 0;                                      \
        low = endless ? share : low;                                                       \
        high = endless ? 1 : high;                                                         \
        high = most == 0 ? 1 : high;                                                       \
        double part = name(low, high);                                                     \
        part = steep ? HALF_PI - (part - HALF_PI_LOW) : part;                              \
        part = GW_COPYSIGN(1.0, x) < 0 ? PI - (part - 2 * HALF_PI_LOW) : part;             \
        double sum = x + y;                                                                \
        part = x != x ? sum : part;                                                        \
        return y != y ? sum : GW_COPYSIGN(part, y);                                        \
    }

#define NOTHING_LOST(z, root) 0
ARCSINE(single_arcsine, arcsine_single, single_root, NOTHING_LOST)
ARCSINE(double_arcsine, arcsine_double, GW_SQRT, double_lost)
#define UNSCALED(most) 1
#define INTO_RANGE(most) ((most) > 0x1p1000 ? 0.25 : (most) < 0x1p-900 ? 0x1p200 : 1)
ARCTANGENT(single_arctangent, arctangent_single, UNSCALED)
ARCTANGENT(double_arctangent, arctangent_double, INTO_RANGE)

GW_ROW_OF_1(arcsin_float32, float, float, single_arcsine_asin(x))
GW_ROW_OF_1(arcsin_float64, double, double, double_arcsine_asin(x))
GW_ROW_OF_1(arccos_float32, float, float, single_arcsine_acos(x))
GW_ROW_OF_1(arccos_float64, double, double, double_arcsine_acos(x))
GW_ROW_OF_1(arctan_float32, float, float, single_arctangent_one(x))
GW_ROW_OF_1(arctan_float64, double, double, double_arctangent_one(x))
GW_ROW_OF_2(arctan2_float32, float, float, single_arctangent_two(x, y))
GW_ROW_OF_2(arctan2_float64, double, double, double_arctangent_two(x, y))

#define NAMES(name) GW_FLOAT_ROWS(name)

const GwRowTable gw_analysis_rows[] = {
    NAMES(exp), NAMES(exp2), NAMES(expm1), NAMES(sinh), NAMES(cosh),
    {"tanh", {[GW_FLOAT64] = tanh_float64}},
    NAMES(log), NAMES(log2), NAMES(log10), NAMES(log1p), NAMES(arctanh),
    {"sin", {[GW_FLOAT32] = sin_float32, [GW_BFLOAT16] = sin_bfloat16}},
    {"cos", {[GW_FLOAT32] = cos_float32, [GW_BFLOAT16] = cos_bfloat16}},
    NAMES(tan), NAMES(arcsin), NAMES(arccos), NAMES(arctan), NAMES(arctan2),
    {NULL, {NULL}},
};
