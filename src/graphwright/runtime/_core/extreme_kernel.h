/* NAME(fold_row) of reduce_kernel.h for the extremes of floats: an extreme that passes over NaNs,
 * beside the greatest bits without the sign, by which a NaN is told. That is faster than a
 * comparison that lets NaNs win. Included with what reduce_kernel.h needs and U (unsigned, of the
 * size of T), BITS(x) (of x, without the sign) and BEFORE(a, b) defined; undefines U. */

/* Lane j with what may come before it. */
#define MEET(j, x, bits)                           \
    {                                              \
        T value = (x), lane = lanes[j];            \
        U size = (bits), top = tops[j];            \
        lanes[j] = BEFORE(value, lane) ? value : lane; \
        tops[j] = size > top ? size : top;         \
    }
#define MEET_HALF(half)                                      \
    for (int j = 0; j < (half); j++) {                       \
        MEET(j, lanes[j + (half)], tops[j + (half)])         \
    }

GW_VECTOR_MATH static void NAME(fold_row)(T *total, const T *in, int64_t n) {
    enum { LANES = 128 / sizeof(T) };     /* with their bits they fill eight short vectors */
    T lanes[LANES];
    U tops[LANES];
    int64_t whole = n / LANES * LANES;
    for (int j = 0; j < LANES; j++) {
        lanes[j] = START;
        tops[j] = 0;
    }
    for (int64_t i = 0; i < whole; i += LANES) {
        for (int j = 0; j < LANES; j++) {
            MEET(j, in[i + j], BITS(in[i + j]))
        }
    }
    for (int64_t i = whole; i < n; i++) {
        MEET(i - whole, in[i], BITS(in[i]))
    }
    MEET_HALF(LANES / 2)
    MEET_HALF(LANES / 4)
    MEET_HALF(LANES / 8)
    MEET_HALF(LANES / 16)
    MEET_HALF(LANES / 32)
    T found = tops[0] > BITS((T)INFINITY) ? (T)NAN : lanes[0];
    *total = MERGE(*total, found);
}

#undef MEET
#undef MEET_HALF
#undef U
