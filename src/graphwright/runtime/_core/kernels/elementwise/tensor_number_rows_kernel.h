/* Elementwise kernels of tensors x, y, z of one float dtype with numbers a, b, c behind them, which
 * are float32 where the tensors are of half precision. Included with these defined:
 * MIXED_t_n(name, expression) (the kernel of t tensors and n numbers), NAME(name) (what it is
 * called) and TABLE (of them all). */

MIXED_1_1(add, x + a)
MIXED_1_1(subtract, x - a)
MIXED_1_1(multiply, x * a)
MIXED_1_1(divide, x / a)
MIXED_1_1(leaky_relu, x > 0 ? x : x * a)
MIXED_1_1(hardshrink, x >= -a && x <= a ? 0 : x)
MIXED_1_1(softshrink, x > a ? x - a : x < -a ? x + a : x - x)

/* Between two bounds; a NaN among the three is the result. */
#define LOW(x, low) ((x) < (low) || (low) != (low) ? (low) : (x))
#define HIGH(x, high) ((x) > (high) || (high) != (high) ? (high) : (x))
MIXED_1_2(clamp, HIGH(LOW(x, a), b))
MIXED_1_2(threshold, x <= a ? b : x)
MIXED_1_3(nan_to_num, x != x ? a : x == GW_INFINITY(x) ? b : x == -GW_INFINITY(x) ? c : x)

MIXED_2_1(lerp, GW_ABS(a) < 0.5f ? x + a * (y - x) : y - (y - x) * (1 - a))
MIXED_2_1(add_scaled, x + y * a)
MIXED_2_1(sub_scaled, x - y * a)
MIXED_2_1(hardshrink_backward, y >= -a && y <= a ? 0 : x)
MIXED_3_1(addcmul, x + a * y * z)
MIXED_3_1(addcdiv, x + a * y / z)

const GwMixedRow TABLE[] = {
    {"add", 1, NAME(add)}, {"subtract", 1, NAME(subtract)}, {"multiply", 1, NAME(multiply)},
    {"divide", 1, NAME(divide)}, {"leaky_relu", 1, NAME(leaky_relu)},
    {"hardshrink", 1, NAME(hardshrink)}, {"softshrink", 1, NAME(softshrink)},
    {"clamp", 1, NAME(clamp)}, {"threshold", 1, NAME(threshold)},
    {"nan_to_num", 1, NAME(nan_to_num)}, {"lerp", 2, NAME(lerp)},
    {"add_scaled", 2, NAME(add_scaled)}, {"sub_scaled", 2, NAME(sub_scaled)},
    {"hardshrink_backward", 2, NAME(hardshrink_backward)}, {"addcmul", 3, NAME(addcmul)},
    {"addcdiv", 3, NAME(addcdiv)}, {NULL, 0, NULL},
};

#undef LOW
#undef HIGH
#undef NAME
#undef TABLE
