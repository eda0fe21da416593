/* NAME(fold_row) of reduce_kernel.h for the extremes of floats: an extreme that passes over NaNs,
 * beside whether there was one. That is faster than a comparison that lets NaNs win. Included with
 * what reduce_kernel.h needs and U (unsigned, of the size of T) and BEFORE(a, b) defined;
 * undefines U. */

/* Lane j with what may come before it, and with the NaNs seen so far. */
#define MEET(j, x, more)                               \
    {                                                  \
        T value = (x), lane = lanes[j];                \
        lanes[j] = BEFORE(value, lane) ? value : lane; \
        nans[j] |= (more);                             \
    }
#define MEET_HALF(half)                              \
    for (int j = 0; j < (half); j++) {               \
        MEET(j, lanes[j + (half)], nans[j + (half)]) \
    }
#define IF_NAN(x) ((x) != (x) ? ~(U)0 : 0)

GW_VECTOR_MATH static void NAME(fold_row)(T *total, const T *in, int64_t n) {
    enum { LANES = 128 / sizeof(T) };     /* with these they fill eight short vectors */
    T lanes[LANES];
    U nans[LANES];
    int64_t whole = n / LANES * LANES;
    for (int j = 0; j < LANES; j++) {
        lanes[j] = START;
        nans[j] = 0;
    }
    for (int64_t i = 0; i < whole; i += LANES) {
        GW_AS_ONE_VECTOR
        for (int j = 0; j < LANES; j++) {
            MEET(j, in[i + j], IF_NAN(in[i + j]))
        }
    }
    for (int64_t i = whole; i < n; i++) {
        MEET(i - whole, in[i], IF_NAN(in[i]))
    }
    MEET_HALF(LANES / 2)
    MEET_HALF(LANES / 4)
    MEET_HALF(LANES / 8)
    MEET_HALF(LANES / 16)
    MEET_HALF(LANES / 32)
    T found = nans[0] != 0 ? (T)NAN : lanes[0];
    *total = MERGE(*total, found);
}

#undef MEET
#undef MEET_HALF
#undef IF_NAN
#undef U
