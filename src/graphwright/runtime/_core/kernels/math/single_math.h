/* exp and log of numbers of float32, computed in double by short polynomials: to 1e-10 of the value,
 * so that what is made of them is rounded once. Chebyshev fits, the highest power first. */
#ifndef GRAPHWRIGHT_SINGLE_MATH_H
#define GRAPHWRIGHT_SINGLE_MATH_H

#include "elements.h"

#define LN2 0.69314718055994530942
#define MAGIC 6755399441055744.0    /* numbers around it are integers, their last bits in its own */

/* (e^r - 1 - r) / r^2 of |r| <= log(2) / 2. */
static const double expm1_single[] = {
    2.485963629410833e-05, 0.00019899332056564083, 0.0013888853979832356, 0.008333298413941455,
    0.04166666671913807, 0.166666667191548, 0.5,
};
/* log(1 + f) / f of |f| <= 1/3. */
static const double log_single[] = {
    0.10659336298619443, -0.11506621709705657, 0.08651429212123955, -0.09530208037029564,
    0.11141318278758437, -0.12532282951746945, 0.14284718923330145, -0.16665603041515692,
    0.20000013949765266, -0.2500001490542423, 0.33333333277770555, -0.49999999940632406, 1.0,
};

/* 2^n of the integer in the last bits of n + MAGIC. */
GW_INLINE double power_of_two(double shifted) {
    return gw_double_bits((int64_t)(((uint64_t)gw_bits_double(shifted) + 1023) << 52));
}

/* e^x - 1 of a number of float32, whose powers of two all are numbers of double. */
GW_INLINE double single_expm1(double given) {
    double x = given < -110 ? -110 : given;
    x = x > 90 ? 90 : x;
    double shifted = x * 1.4426950408889634 + MAGIC;
    double r = x - (shifted - MAGIC) * LN2, scale = power_of_two(shifted);
    double part = r + r * r * GW_POLYNOMIAL(expm1_single, r);
    return part * scale + (scale - 1);
}

/* e^x of -690 <= x <= 90. */
GW_INLINE double single_exp(double x) {
    double shifted = x * 1.4426950408889634 + MAGIC;
    double r = x - (shifted - MAGIC) * LN2;
    return (1 + (r + r * r * GW_POLYNOMIAL(expm1_single, r))) * power_of_two(shifted);
}

#define TWO_THIRDS 0x3fe5555555555555u
#define ONE 0x3ff0000000000000u

/* f with x = (1 + f) 2^e of a positive normal number, where 1 + f is at least the number whose bits
 * are `least`, and less than twice as much. */
GW_INLINE double mantissa_of(double x, uint64_t least, double *e) {
    uint64_t bits = (uint64_t)gw_bits_double(x) - least + ONE;
    *e = gw_double_bits((int64_t)(bits >> 52 | 0x4330000000000000u)) - (0x1p52 + 1023);
    return gw_double_bits((int64_t)((bits & 0xfffffffffffffu) + least)) - 1;
}

/* The logarithm to the base whose log2(base)^-1 is `unit` and log(base)^-1 is `scale`. */
GW_INLINE double single_log(double x, double unit, double scale) {
    double e, f = mantissa_of(x, TWO_THIRDS, &e);
    return e * unit + f * GW_POLYNOMIAL(log_single, f) * scale;
}

#endif
