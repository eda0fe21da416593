/* Elementwise kernels of the gamma function's relatives: lgamma, digamma, polygamma, zeta, the
 * incomplete gamma functions. Computed in float64. */
#include "elements.h"

#include <math.h>

enum { CHUNK = 64 };

/* ---- the gamma function's logarithm (of the C library) and its derivative ---- */

#define LGAMMA(name, T, library)                                                           \
    static void name(char *const *args, int64_t n, int *trouble) {                         \
        GW_UNUSED(trouble);                                                                \
        const T *a = (const T *)args[0];                                                   \
        T *out = (T *)args[1];                                                             \
        for (int64_t i = 0; i < n; i++) {                                                  \
            int sign;                                                                      \
            out[i] = library(a[i], &sign);                                                 \
        }                                                                                  \
    }

LGAMMA(lgamma_float32, float, lgammaf_r)
LGAMMA(lgamma_float64, double, lgamma_r)

/* Of x > 0: the recurrence up to 10, then the asymptotic series (DLMF 5.11.2). */
GW_INLINE double digamma_positive(double x) {
    double shift = 0;
    for (int k = 0; k < 10; k++) {
        double inverse = 1 / x, less = shift - inverse, more = x + 1;
        shift = x < 10 ? less : shift;
        x = x < 10 ? more : x;
    }
    static const double series[] = {
        -3617.0 / 8160, 1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120,
        1.0 / 12,
    };
    double inverse = 1 / x, square = inverse * inverse;
    return shift + gw_log_double(x) - 0.5 * inverse - square * GW_POLYNOMIAL(series, square);
}

/* Elsewhere: reflection (DLMF 5.5.4); infinite at 0, nan at -1, -2, ... */
static double digamma_reflected(double x) {
    if (x == 0) {
        return copysign(INFINITY, -x);
    }
    if (x != x || x == floor(x)) {
        return NAN;
    }
    double pi = 3.14159265358979323846;
    return digamma_positive(1 - x) - pi / tan(pi * (x - rint(x)));
}

#define DIGAMMA(name, T)                                                                   \
    GW_ROW(name) {                                                                         \
        GW_UNUSED(trouble);                                                                \
        const T *a = (const T *)args[0];                                                   \
        T *out = (T *)args[1];                                                             \
        for (int64_t begin = 0; begin < n; begin += CHUNK) {                               \
            T values[CHUNK];                                                               \
            int64_t count = n - begin < CHUNK ? n - begin : CHUNK;                         \
            int other = 0;                                                                 \
            for (int64_t i = 0; i < count; i++) {                                          \
                T x = a[begin + i];                                                        \
                other |= !(x > 0);                                                         \
                values[i] = (T)digamma_positive(x);                                        \
            }                                                                              \
            for (int64_t i = 0; other && i < count; i++) {                                 \
                T x = a[begin + i];                                                        \
                values[i] = x > 0 ? values[i] : (T)digamma_reflected(x);                   \
            }                                                                              \
            memcpy(out + begin, values, (size_t)count * sizeof(T));                        \
        }                                                                                  \
    }

DIGAMMA(digamma_float32, float)
DIGAMMA(digamma_float64, double)

/* ---- Hurwitz's zeta function and the higher derivatives ---- */

enum { SUMMED = 12, SMALL_ORDER = 8 };

/* base^-s; few whole powers by multiplication. */
static double inverse_power(double base, double s) {
    if (s > SMALL_ORDER || s != floor(s)) {
        return pow(base, -s);
    }
    double factor = 1 / base, value = factor;
    for (int k = 1; k < (int)s; k++) {
        value *= factor;
    }
    return value;
}

/* The sum of (q + k)^-s for q > 0, s > 1: Euler and Maclaurin after 12 terms (DLMF 25.11.5). */
static double hurwitz(double s, double q) {
    static const double euler[] = {     /* B_2k / (2k)! */
        1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160,
        -691.0 / 1307674368000, 1.0 / 74724249600, -3617.0 / 10670622842880000,
        43867.0 / 5109094217170944000,
    };
    double total = 0, a = q + SUMMED;
    for (int k = 0; k < SUMMED; k++) {
        total += inverse_power(q + k, s);
    }
    double last = inverse_power(a, s), factor = last * s / a;
    total += last * a / (s - 1) + 0.5 * last;
    for (int k = 0; k < 9; k++) {
        total += euler[k] * factor;
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (a * a);
    }
    return total;
}

static double zeta_number(double s, double q) {
    if (s != s || q != q) {
        return s + q;
    }
    bool whole = q == floor(q);
    if (s == 1 || (s > 1 && q <= 0 && whole)) {
        return INFINITY;
    }
    if (s < 1 || (q < 0 && (s != floor(s) || isinf(s)))) {
        return NAN;
    }
    if (isinf(s)) {
        return q < 1 ? INFINITY : q == 1;
    }
    if (isinf(q)) {
        return 0;
    }
    if (q > 0) {
        return hurwitz(s, q);
    }
    double part = q - floor(q), below = hurwitz(s, 1 - part) - hurwitz(s, 1 - q);
    return hurwitz(s, part) + (fmod(s, 2) != 0 ? -below : below);
}

GW_ROW_OF_2(zeta_float32, float, float, zeta_number(x, y))
GW_ROW_OF_2(zeta_float64, double, double, zeta_number(x, y))

/* (-1)^(n+1) n! zeta(n + 1, x) (DLMF 25.11.12) of orders n, nearly always one. */
#define POLYGAMMA(name, T)                                                                 \
    static void name(char *const *args, int64_t n, int *trouble) {                         \
        GW_UNUSED(trouble);                                                                \
        const T *orders = (const T *)args[0], *a = (const T *)args[1];                     \
        T *out = (T *)args[2];                                                             \
        double order = -1, scale = 0;                                                      \
        for (int64_t i = 0; i < n; i++) {                                                  \
            if (orders[i] != order) {                                                      \
                order = orders[i];                                                         \
                scale = tgamma(order + 1) * (fmod(order, 2) != 0 ? 1 : -1);                \
            }                                                                              \
            double x = a[i];                                                               \
            out[i] = (T)(order != 0 ? scale * zeta_number(order + 1, x)                    \
                         : x > 0 ? digamma_positive(x) : digamma_reflected(x));            \
        }                                                                                  \
    }

POLYGAMMA(polygamma_float32, float)
POLYGAMMA(polygamma_float64, double)

/* ---- incomplete gamma functions ---- */

enum { MOST_TERMS = 20000 };

/* x^a e^-x / gamma(a + 1); of large a by log(x / a), so that little cancels. */
static double gamma_density(double a, double x) {
    if (a < 20) {
        int sign;
        return exp(a * log(x) - x - lgamma_r(a + 1, &sign));
    }
    static const double stirling[] = {
        -3617.0 / 122400, 1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260,
        -1.0 / 360, 1.0 / 12,
    };
    double gap = x / a - 1, inverse = 1 / a;
    double excess = (fabs(gap) < 0.5 ? log1p(gap) : log(x / a)) - gap;
    double tail = GW_POLYNOMIAL(stirling, inverse * inverse) * inverse;
    return exp(a * excess - tail) / sqrt(6.28318530717958647693 * a);
}

/* The lower function by its power series (DLMF 8.7.1). */
static double gamma_series(double a, double x, double accuracy) {
    double term = 1, total = 1;
    for (int k = 1; k < MOST_TERMS && term > total * accuracy; k++) {
        term *= x / (a + k);
        total += term;
    }
    return fmin(total * gamma_density(a, x), 1);
}

/* The upper one by Lentz's continued fraction (DLMF 8.9.2). */
static double gamma_fraction(double a, double x, double accuracy) {
    const double tiny = 1e-300;
    double b = x + 1 - a, c = 1 / tiny, d = 1 / (b == 0 ? tiny : b), value = d, step = 0;
    for (int k = 1; k < MOST_TERMS && fabs(step - 1) > 4 * accuracy; k++) {
        double numerator = -k * (k - a);
        b += 2;
        d = numerator * d + b;
        c = b + numerator / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        step = d * c;
        value *= step;
    }
    return value * gamma_density(a, x) * a;
}

/* The upper one where 1 less the lower one cancels: x^a / gamma(a + 1) and the series apart. */
static double gamma_small(double a, double x, double accuracy) {
    int sign;
    double exponent = a * log(x) - lgamma_r(a + 1, &sign), term = 1, total = 0;
    for (int k = 1; k < MOST_TERMS && fabs(term) > accuracy; k++) {
        term *= -x / k;
        total += term * a / (a + k);
    }
    return -expm1(exponent) - exp(exponent) * total;
}

static double incomplete(double a, double x, double accuracy, bool upper) {
    bool undefined = !(a >= 0) || !(x >= 0) || (a == 0 && x == 0) || (isinf(a) && isinf(x));
    if (undefined) {
        return NAN;
    }
    if (a == 0 || isinf(x)) {
        return upper ? 0 : 1;
    }
    if (x == 0 || isinf(a)) {
        return upper ? 1 : 0;
    }
    if (x > a && x > (upper ? 1.1 : 1)) {
        double value = gamma_fraction(a, x, accuracy);
        return upper ? value : 1 - value;
    }
    if (upper && x <= 1.1 && a < 1) {
        return gamma_small(a, x, accuracy);
    }
    double value = gamma_series(a, x, accuracy);
    return upper ? 1 - value : value;
}

GW_ROW_OF_2(igamma_float32, float, float, incomplete(x, y, 1e-9, false))
GW_ROW_OF_2(igamma_float64, double, double, incomplete(x, y, 1e-16, false))
GW_ROW_OF_2(igammac_float32, float, float, incomplete(x, y, 1e-9, true))
GW_ROW_OF_2(igammac_float64, double, double, incomplete(x, y, 1e-16, true))

#define NAMES(name) GW_FLOAT_ROWS(name)

const GwRowTable gw_gamma_rows[] = {
    NAMES(lgamma), NAMES(digamma), NAMES(polygamma), NAMES(zeta), NAMES(igamma), NAMES(igammac),
    {NULL, {NULL}},
};
