/* Elementwise kernels of the gamma function's relatives: lgamma, digamma, polygamma, zeta, the
 * incomplete gamma functions. Computed in float64. */
#include "elements.h"

#include <math.h>

enum { CHUNK = 64 };

/* ---- the gamma function's logarithm and its derivative ---- */

#define FROM_2_5_TO(most, x, place, product)                                               \
    for (int k = 2; k < (most); k++) {                                                     \
        double less = (place) - 1, times = (product) * ((place) + 1);                      \
        bool above = (place) > 0.5;                                                        \
        (product) = above ? times : (product);                                             \
        (place) = above ? less : (place);                                                  \
    }

/* log(gamma(x)) of x > 0: the recurrence brings those below `MOST` to 2 + place, where a polynomial
 * takes over; the others have Stirling's series (DLMF 5.11.1). Keeps its relative accuracy at the
 * zeros 1 and 2, where `place` and the product are exact. */
#define LGAMMA_POSITIVE(name, MOST)                                                        \
    GW_INLINE double name##_positive(double x) {                                           \
        double place = x - 2, product = 1;                                                 \
        FROM_2_5_TO(MOST, x, place, product)                                               \
        bool low = x < 1.5, least = x < 0.5;                                               \
        double raised = least ? x * (x + 1) : x, moved = least ? x : x - 1;                \
        product = low ? raised : product;                                                  \
        place = low ? moved : place;                                                       \
        double logarithm = gw_log_positive_double(x < MOST ? product : x);                 \
        double near = place * GW_POLYNOMIAL(name##_near, place);                           \
        near = low ? near - logarithm : near + logarithm;                                  \
        double inverse = 1 / x, square = inverse * inverse;                                \
        double far = (x - 0.5) * logarithm - x + 0.91893853320467274178                    \
                     + inverse * GW_POLYNOMIAL(name##_far, square);                        \
        return x < MOST ? near : far;                                                      \
    }

/* log(gamma(2 + t)) / t of |t| <= 1/2, a Chebyshev fit; what Stirling's formula leaves. */
static const double fine_near[] = {
    2.7475390051909663e-07, -5.811277768921246e-07, 9.242852225162277e-07, -1.9743106888421067e-06,
    4.3828545383846665e-06, -9.45628851510172e-06, 2.050601970174762e-05, -4.4923727564247656e-05,
    9.945761692157133e-05, -0.00022315497746292723, 0.0005096695196526673, -0.0011927539009983087,
    0.002890510330865901, -0.007385551028935545, 0.02058080842778338, -0.06735230105319563,
    0.3224670334241132, 0.42278433509846713,
};
static const double fine_far[] = {
    -3617.0 / 122400, 1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360,
    1.0 / 12,
};
static const double coarse_near[] = {
    0.00011347281994554691, -0.0002538170956727826, 0.0005065171429518161, -0.0011858600344983208,
    0.002890795321559696, -0.007386174155633413, 0.020580799471518252, -0.0673522814721006,
    0.3224670334689425, 0.4227843350004583,
};
static const double coarse_far[] = {-1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};

LGAMMA_POSITIVE(fine, 9)
LGAMMA_POSITIVE(coarse, 5)

/* sin(pi t) / t and cos(pi t) of |t| <= 1/2 by powers of t^2, from the highest. */
static const double sine_of_pi[] = {
    -1.0518471716932065e-11, 5.392664662608129e-10, -2.2948428997269873e-08,
    7.952054001475513e-07, -2.1915353447830217e-05, 0.00046630280576761255, -0.0073704309457143504,
    0.08214588661112823, -0.5992645293207921, 2.5501640398773455, -5.16771278004997,
    3.141592653589793,
};
static const double cosine_of_pi[] = {
    1.3768647280377414e-12, -7.700707130601354e-11, 3.604730797462501e-09, -1.3878952462213771e-07,
    4.303069587032947e-06, -0.0001046381049248457, 0.0019295743094039231, -0.02580689139001406,
    0.2353306303588932, -1.3352627688545895, 4.0587121264167685, -4.934802200544679, 1,
};

/* Of x <= 0 by reflection (DLMF 5.5.3); infinite at 0, -1, -2, ... */
GW_INLINE double lgamma_reflected(double x) {
    double part = x - GW_RINT(x), sine = GW_ABS(part) * GW_POLYNOMIAL(sine_of_pi, part * part);
    double value = 1.1447298858494002 - gw_log_positive_double(sine) - fine_positive(1 - x);
    return part == 0 ? GW_INFINITY(x) : value;
}

/* Elsewhere, and of infinities and NaN. */
static double lgamma_rest(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* Whether the reflection has cancelled too much of a result, or lost x: float32 has digits to
 * spare. */
#define LGAMMA_DOUBTFUL(x, value) \
    (sizeof(x) == sizeof(double) && (GW_ABS(value) < 0.25 || GW_ABS(x) < 1e-290))

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

/* Of x <= 0 by reflection (DLMF 5.5.4); infinite at 0, nan at -1, -2, ... */
GW_INLINE double digamma_reflected(double x) {
    double part = x - GW_RINT(x), square = part * part;
    double sine = part * GW_POLYNOMIAL(sine_of_pi, square);
    double turned = 3.14159265358979323846 * GW_POLYNOMIAL(cosine_of_pi, square) / sine;
    double pole = x == 0 ? GW_COPYSIGN(GW_INFINITY(x), -x) : GW_NAN(x);
    return part == 0 ? pole : digamma_positive(1 - x) - turned;
}

static double digamma_number(double x) {
    return x > 0 ? digamma_positive(x) : digamma_reflected(x);
}

#define NEVER_DOUBTFUL(x, value) false

/* Rows of `plain`, of `reflected` where x <= 0, and of `rest` of what is not finite or `doubtful`. */
#define GUARDED(name, T, plain, reflected, doubtful, rest)                                 \
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
                other |= !(x > 0 && x < GW_INFINITY(x));                                   \
                values[i] = (T)plain(x);                                                   \
            }                                                                              \
            int unsure = 0;                                                                \
            for (int64_t i = 0; other && i < count; i++) {                                 \
                T x = a[begin + i], value = (T)reflected(x);                               \
                bool odd = !(GW_ABS(x) < GW_INFINITY(x)) | (x <= 0 && doubtful(x, value)); \
                unsure |= odd;                                                             \
                values[i] = x > 0 ? values[i] : value;                                     \
            }                                                                              \
            for (int64_t i = 0; unsure && i < count; i++) {                                \
                T x = a[begin + i];                                                        \
                bool odd = !(GW_ABS(x) < GW_INFINITY(x))                                   \
                           || (x <= 0 && doubtful(x, values[i]));                          \
                values[i] = odd ? (T)rest(x) : values[i];                                  \
            }                                                                              \
            memcpy(out + begin, values, (size_t)count * sizeof(T));                        \
        }                                                                                  \
    }

GUARDED(lgamma_float32, float, coarse_positive, lgamma_reflected, LGAMMA_DOUBTFUL, lgamma_rest)
GUARDED(lgamma_float64, double, fine_positive, lgamma_reflected, LGAMMA_DOUBTFUL, lgamma_rest)
GUARDED(digamma_float32, float, digamma_positive, digamma_reflected, NEVER_DOUBTFUL, digamma_number)
GUARDED(digamma_float64, double, digamma_positive, digamma_reflected, NEVER_DOUBTFUL, digamma_number)

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

/* The second derivative of log(gamma(x)) for x > 0: the recurrence `TERMS` times, two terms with
 * one division, then the asymptotic series (DLMF 5.15.8), which is all there is of huge x. */
#define TRIGAMMA(name, TERMS)                                                              \
    GW_INLINE double name##_trigamma(double x) {                                           \
        double total = 0, bounded = x > 1e60 ? 1e60 : x;                                   \
        _Pragma("GCC unroll 16")                                                           \
        for (int k = 0; k < (TERMS); k += 2) {                                             \
            double a = (bounded + k) * (bounded + k);                                      \
            double b = (bounded + (k + 1)) * (bounded + (k + 1));                          \
            total += (a + b) / (a * b);                                                    \
        }                                                                                  \
        double inverse = 1 / (x + (TERMS)), square = inverse * inverse;                    \
        double rest = inverse * (1 + inverse * (0.5 + inverse                              \
                                 * GW_POLYNOMIAL(name##_bernoulli, square)));              \
        return bounded < x ? rest : total + rest;                                          \
    }

static const double fine_bernoulli[] = {
    -3617.0 / 510, 7.0 / 6, -691.0 / 2730, 5.0 / 66, -1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6,
};
static const double coarse_bernoulli[] = {5.0 / 66, -1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6};

TRIGAMMA(fine, 12)
TRIGAMMA(coarse, 4)

static double trigamma_rest(double x) { return zeta_number(2, x); }

/* Of x <= 0 by reflection (DLMF 5.15.6); infinite at 0, -1, -2, ... */
GW_INLINE double trigamma_reflected(double x) {
    double part = x - GW_RINT(x), sine = part * GW_POLYNOMIAL(sine_of_pi, part * part);
    double value = 9.869604401089358 / (sine * sine) - fine_trigamma(1 - x);
    return part == 0 ? GW_INFINITY(x) : value;
}

GUARDED(trigamma_float32, float, coarse_trigamma, trigamma_reflected, NEVER_DOUBTFUL, trigamma_rest)
GUARDED(trigamma_float64, double, fine_trigamma, trigamma_reflected, NEVER_DOUBTFUL, trigamma_rest)

/* (-1)^(n+1) n! zeta(n + 1, x) (DLMF 25.11.12) of orders n, nearly always one. */
#define POLYGAMMA(name, T, first)                                                          \
    static void name(char *const *args, int64_t n, int *trouble) {                         \
        const T *orders = (const T *)args[0], *a = (const T *)args[1];                     \
        T *out = (T *)args[2];                                                             \
        int64_t end;                                                                       \
        for (int64_t i = 0; i < n; i = end) {                                              \
            for (end = i + 1; end < n && orders[end] == orders[i]; end++) {                \
            }                                                                              \
            if (orders[i] == 1) {                                                          \
                char *rows[] = {args[1] + i * (int64_t)sizeof(T),                          \
                                args[2] + i * (int64_t)sizeof(T)};                         \
                first(rows, end - i, trouble);                                             \
                continue;                                                                  \
            }                                                                              \
            double order = orders[i];                                                      \
            double scale = tgamma(order + 1) * (fmod(order, 2) != 0 ? 1 : -1);             \
            for (int64_t k = i; k < end; k++) {                                            \
                out[k] = (T)(order == 0 ? digamma_number(a[k])                             \
                                        : scale * zeta_number(order + 1, a[k]));           \
            }                                                                              \
        }                                                                                  \
    }

POLYGAMMA(polygamma_float32, float, trigamma_float32)
POLYGAMMA(polygamma_float64, double, trigamma_float64)

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

/* Large a and x within a tenth of it, where series take some sqrt(a) terms: Temme's uniform
 * expansion (DLMF 8.12.3 and 8.12.4), with c_0 and c_1 (8.12.11) as series in eta. */
enum { LARGE = 1000000 };

static double gamma_uniform(double a, double x, bool upper) {
    static const double first[] = {
        -281.0 / 151559100, -571.0 / 261273600, 1.0 / 25515, -139.0 / 777600, 1.0 / 2835,
        1.0 / 864, -2.0 / 135, 1.0 / 12, -1.0 / 3,
    };
    static const double second[] = {-77.0 / 77760, 1.0 / 378, -1.0 / 288, -1.0 / 540};
    double gap = (x - a) / a, excess = 0;       /* excess: (gap - log(1 + gap)) / gap^2 */
    for (int k = 18; k >= 2; k--) {
        excess = 1.0 / k - gap * excess;
    }
    double eta = gap * sqrt(2 * excess), side = eta * sqrt(0.5 * a);
    double rest = GW_POLYNOMIAL(first, eta) + GW_POLYNOMIAL(second, eta) / a;
    rest *= exp(-side * side) / sqrt(6.28318530717958647693) / sqrt(a);
    return upper ? 0.5 * erfc(side) + rest : 0.5 * erfc(-side) - rest;
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
    if (a >= LARGE && fabs(x - a) < 0.1 * a) {
        return gamma_uniform(a, x, upper);
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
