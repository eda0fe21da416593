/* Of the error function's complement and inverse what kernels of several widths need, in float64. */
#ifndef GRAPHWRIGHT_ERROR_FUNCTIONS_H
#define GRAPHWRIGHT_ERROR_FUNCTIONS_H

#include "elements.h"

#define SQRT_HALF 0.70710678118654752440

/* e^-(x^2), with what the square loses put back. */
GW_INLINE double gauss(double x) {
    double square = x * x, lost = GW_FMA(x, x, -square);
    return gw_exp_double(-square) * (1 - lost);
}

/* erfinv(x) / x in w - 3.125, sqrt(w) - 3.25 and sqrt(w) - 5 for w = -log(1 - x^2): Chebyshev fits,
 * the highest power first. */
static const double centre_fine[] = {
    3.240704459379902e-21, -1.113483769832702e-21, -3.4996044354754177e-19, 1.150022252066253e-18,
    1.557432024623325e-17, -1.3016928016796445e-16, -4.0282154327661744e-17,
    6.596407712420834e-15, -4.001237735091896e-14, -8.118399443074353e-14, 2.6304834740560442e-12,
    -1.2976885526532075e-11, -5.414287198084716e-11, 1.0512181539804126e-09,
    -4.11266082002324e-09, -2.9070382262927266e-08, 4.234788173782339e-07,
    -1.3654691850603575e-06, -1.3882523394405316e-05, 0.00018673420802464837,
    -0.000740702534154477, -0.00603367087142785, 0.2401581824255883, 1.6536545626831027,
};
static const double middle_fine[] = {
    -3.831039946072411e-10, 9.071950571029922e-08, -2.6860975725571463e-07, 1.832399988132858e-08,
    1.4958263152984917e-06, -4.013946398190292e-06, 2.9273722115986924e-06,
    1.2475343474376931e-05, -4.731952918337189e-05, 6.828484052292924e-05, 2.4031363245440546e-05,
    -0.00035503751863069763, 0.0009532893521118177, -0.0016882755561681802, 0.0024914420976198813,
    -0.0037512085075638536, 0.0053709145535581985, 1.0052589676941592, 3.0838856104922208,
};
static const double tail_fine[] = {
    3.385526100493994e-11, -2.3766290787161847e-11, -3.9961910433563754e-10,
    1.4942715290569149e-09, -3.5369882331572003e-09, 7.63750927921423e-09, -1.519490709668205e-08,
    2.9129416280241148e-08, -6.758750397429899e-08, 2.290135705282797e-07, -9.930201756094202e-07,
    4.526060349765045e-06, -1.968177213025297e-05, 7.59952773143257e-05, -0.00021503011972868823,
    -0.00013871931834997337, 1.0103004648645433, 4.849906401408584,
};

/* `value` is erfinv(x) / x. */
GW_INLINE double erfinv_finished(double x, double value) {
    double product = value * x, size = GW_ABS(x);
    product = size == 1 ? x * GW_INFINITY(x) : product;
    return size <= 1 ? product : GW_NAN(x);
}

GW_INLINE double erfinv_number(double x) {
    double near = -gw_log1p_double(-x * x), w = -gw_log_double((1 - x) * (1 + x));
    w = GW_ABS(x) < 0.5 ? near : w;
    double root = GW_SQRT(w), middle = GW_POLYNOMIAL(middle_fine, root - 3.25);
    double tail = GW_POLYNOMIAL(tail_fine, root - 5), value = GW_POLYNOMIAL(centre_fine, w - 3.125);
    value = w < 6.25 ? value : middle;
    value = w < 16 ? value : tail;
    return erfinv_finished(x, value);
}

#endif
