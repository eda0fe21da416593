/* Elementwise kernels made of exp, log and erf, in one precision. Included with these defined:
 * REAL (the type), F(name) (a function of vector_math.h in it) and NAME(name) (a kernel). The
 * gradient comes first in kernels of gradients. */

#define ROW_1(name, expression) GW_ROW_OF_1(NAME(name), REAL, REAL, expression)
#define ROW_2(name, expression) GW_ROW_OF_2(NAME(name), REAL, REAL, expression)
#define ROW_3(name, expression) GW_ROW_OF_3(NAME(name), REAL, REAL, expression)
#define ROW_4(name, expression) GW_ROW_OF_4(NAME(name), REAL, REAL, expression)
#define C(number) ((REAL)(number))

/* 1 / (1 + e^-x), without overflow. */
GW_INLINE REAL NAME(logistic)(REAL x) {
    REAL scale, inverse, part = F(exp_parts)(x, &scale, &inverse);
    return part / (inverse + part);
}

/* x / (1 + e^-x), scaled where e^-x may overflow and the quotient be subnormal. */
GW_INLINE REAL NAME(gated_by_itself)(REAL x) {
    REAL scale, inverse, part = F(exp_parts)(-x, &scale, &inverse);
    REAL small = x < 0 ? (sizeof(REAL) == sizeof(float) ? C(0x1p-30) : C(0x1p-80)) : 1;
    return x / (small + part * (scale * small)) * small;
}

/* log(1 + e^x) */
GW_INLINE REAL NAME(soft)(REAL x) {
    return F(log1p)(F(exp)(-GW_ABS(x))) + (x > 0 ? x : 0);
}

ROW_1(sigmoid, NAME(logistic)(x))
ROW_1(silu, NAME(gated_by_itself)(x))
ROW_2(gated, x * NAME(logistic)(y))
ROW_1(erf, F(erf)(x))
ROW_1(normal_cdf, F(normal)(x))
ROW_1(gelu, x * F(normal)(x))

/* tanh's argument in the approximation of gelu */
#define CUBIC(x) (C(0.79788456080286535588) * (x) * (1 + C(0.044715) * (x) * (x)))
ROW_1(gelu_tanh, C(0.5) * x * (1 + F(tanh)(CUBIC(x))))

ROW_1(logsigmoid, (x < 0 ? x : 0) - F(log1p)(F(exp)(-GW_ABS(x))))
ROW_3(softplus, x * y > z ? x : NAME(soft)(x * y) / y)

/* tanh(log(1 + e^x)) = z / (z + 2) with z = e^x (e^x + 2) */
GW_INLINE REAL NAME(soft_tanh)(REAL x) {
    REAL e = F(exp)(x < 20 ? x : x != x ? x : 20), z = e * (e + 2);
    return z / (z + 2);
}

/* Below this x e^x is 0, and exp_parts gives the factors of a greater exponential. */
#define UNDERFLOW (sizeof(REAL) == sizeof(float) ? C(-126) : C(-770))

GW_INLINE REAL NAME(gated_by_soft)(REAL x) {
    REAL scale, inverse;
    REAL part = F(exp_parts)(x < 20 ? x : x != x ? x : 20, &scale, &inverse);
    REAL e = part * scale, z = e * (e + 2);
    REAL y = x * (part * (e + 2) / (z + 2)) * scale, none = x * 0;
    return x < UNDERFLOW ? none : y;
}
ROW_1(mish, NAME(gated_by_soft)(x))
ROW_1(softsign, x / (1 + GW_ABS(x)))
ROW_1(tanhshrink, x - F(tanh)(x))

/* x where it is positive, else y (e^x - 1) */
ROW_2(elu, x > 0 ? x : y * F(expm1)(x))
ROW_2(celu, x > 0 ? x : y * F(expm1)(x / y))
ROW_1(selu, C(1.0507009873554804934193349852946)
                * (x > 0 ? x : C(1.6732632423543772848170429916717) * F(expm1)(x)))

ROW_2(logaddexp, x == y && GW_ABS(x) == GW_INFINITY(x)
                     ? x : (x > y ? x : y) + F(log1p)(F(exp)(-GW_ABS(x - y))))
ROW_2(logaddexp2, x == y && GW_ABS(x) == GW_INFINITY(x)
                      ? x : (x > y ? x : y) + F(log1p)(F(exp)(-C(0.69314718055994530942)
                                                              * GW_ABS(x - y)))
                                              * C(1.4426950408889634074))
ROW_2(xlogy, y != y ? y : x == 0 ? 0 : x * F(log)(y))
ROW_2(xlog1py, y != y ? y : x == 0 ? 0 : x * F(log1p)(y))
ROW_1(logit, F(log)(x / (1 - x)))
ROW_1(entr, x > 0 ? -x * F(log)(x) : x == 0 ? 0 : x != x ? x : -GW_INFINITY(x))

/* ---- gradients ---- */

ROW_2(sigmoid_backward, x * (y * (1 - y)))
ROW_2(tanh_backward, x * (1 - y * y))
ROW_2(logit_backward, y < 0 || y > 1 ? GW_NAN(x) : x / (y * (1 - y)))
GW_INLINE REAL NAME(silu_slope)(REAL x) {
    REAL s = NAME(logistic)(x);
    return s * (1 + x * (1 - s));
}
ROW_2(silu_backward, x * NAME(silu_slope)(y))
ROW_2(gelu_backward, x * (F(normal)(y)
                          + y * C(0.39894228040143267794) * F(exp)(C(-0.5) * y * y)))

GW_INLINE REAL NAME(gelu_tanh_slope)(REAL x) {
    REAL t = F(tanh)(CUBIC(x));
    REAL inner = C(0.79788456080286535588) * (1 + C(0.134145) * x * x);
    return C(0.5) * (1 + t + x * (1 - t * t) * inner);
}
ROW_2(gelu_tanh_backward, x * NAME(gelu_tanh_slope)(y))
ROW_4(softplus_backward, y * z > w ? x : x * NAME(logistic)(y * z))
ROW_2(logsigmoid_backward, x * NAME(logistic)(-y))

GW_INLINE REAL NAME(mish_slope)(REAL x) {
    REAL t = NAME(soft_tanh)(x);
    return t + x * NAME(logistic)(x) * (1 - t * t);
}
ROW_2(mish_backward, x * NAME(mish_slope)(y))
ROW_3(elu_backward, y > 0 ? x : x * z * F(exp)(y))
ROW_3(celu_backward, y > 0 ? x : x * F(exp)(y / z))
ROW_2(selu_backward, x * C(1.0507009873554804934193349852946)
                         * (y > 0 ? 1 : C(1.6732632423543772848170429916717) * F(exp)(y)))

#undef ROW_1
#undef ROW_2
#undef ROW_3
#undef ROW_4
#undef C
#undef CUBIC
#undef UNDERFLOW
