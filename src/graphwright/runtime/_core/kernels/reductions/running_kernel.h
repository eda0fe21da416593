/* Running sums, products and extrema of one element type. Included with T (elements), A
 * (totals), M (integers of A's size), MISSING(x) and NAME(x) defined. Element i of line c lies at i * step + c * apart. */

#define PLACE(i, c) ((i) * step + (c) * apart)

GW_INLINE void NAME(sums)(const T *x, T *y, int64_t n, int64_t step, int64_t apart,
                          int64_t lines) {
    A totals[COLUMNS];
    for (int64_t c = 0; c < lines; c++) {
        totals[c] = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        GW_APART
        for (int64_t c = 0; c < lines; c++) {
            totals[c] += (A)x[PLACE(i, c)];
            y[PLACE(i, c)] = (T)totals[c];
        }
    }
}

GW_INLINE void NAME(products)(const T *x, T *y, int64_t n, int64_t step, int64_t apart,
                              int64_t lines) {
    A totals[COLUMNS];
    for (int64_t c = 0; c < lines; c++) {
        totals[c] = 1;
    }
    for (int64_t i = 0; i < n; i++) {
        GW_APART
        for (int64_t c = 0; c < lines; c++) {
            totals[c] *= (A)x[PLACE(i, c)];
            y[PLACE(i, c)] = (T)totals[c];
        }
    }
}

/* The last of equal elements counts; a NaN is the extreme from its place on. */
GW_INLINE void NAME(extremes)(const T *x, T *y, int64_t *places, int64_t n, int64_t step,
                              int64_t apart, int64_t lines, bool least) {
    T best[COLUMNS];
    int64_t place[COLUMNS];
    for (int64_t c = 0; c < lines; c++) {
        best[c] = x[PLACE(0, c)];
        place[c] = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        GW_APART
        for (int64_t c = 0; c < lines; c++) {
            T value = x[PLACE(i, c)], most = best[c];
            int64_t before = place[c];
            bool taken = (least ? value <= most : value >= most) | MISSING(value);
            best[c] = taken ? value : most;
            place[c] = taken ? i : before;
            y[PLACE(i, c)] = best[c];
            places[PLACE(i, c)] = place[c];
        }
    }
}

/* Along one line. Where none of a block is taken, the extreme before it stands all along. */
GW_INLINE void NAME(extreme_line)(const T *x, T *y, int64_t *places, int64_t n, bool least) {
    T best = x[0];
    int64_t place = 0;
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        bool whole = begin + BLOCK <= n;
        int any = !whole;
        for (int64_t i = begin; whole && i < begin + BLOCK; i++) {
            any |= (least ? x[i] <= best : x[i] >= best) | MISSING(x[i]);
        }
        int64_t end = whole ? begin + BLOCK : n;
        for (int64_t i = begin; any && i < end; i++) {
            T value = x[i];
            bool taken = (least ? value <= best : value >= best) | MISSING(value);
            best = taken ? value : best;
            place = taken ? i : place;
            y[i] = best;
            places[i] = place;
        }
        for (int64_t i = begin; !any && i < begin + BLOCK; i++) {
            y[i] = best;
            places[i] = place;
        }
    }
}

typedef A NAME(Totals) __attribute__((vector_size(STEP * sizeof(A))));
typedef T NAME(Elements) __attribute__((vector_size(STEP * sizeof(T)), aligned(sizeof(T)),
                                        may_alias));
typedef M NAME(Lanes) __attribute__((vector_size(STEP * sizeof(M))));

/* The sums within STEP elements do not wait for the total before them: each lane takes what is one,
 * two, then four before it. */
GW_INLINE void NAME(sum_line)(const T *x, T *y, int64_t n) {
    NAME(Totals) zeros = {0}, total = {0};
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        NAME(Totals) sums = __builtin_convertvector(*(const NAME(Elements) *)(x + i), NAME(Totals));
        sums += MIXED(NAME(Lanes), sums, zeros, 8, 0, 1, 2, 3, 4, 5, 6);
        sums += MIXED(NAME(Lanes), sums, zeros, 8, 8, 0, 1, 2, 3, 4, 5);
        sums += MIXED(NAME(Lanes), sums, zeros, 8, 8, 8, 8, 0, 1, 2, 3);
        *(NAME(Elements) *)(y + i) = __builtin_convertvector(total + sums, NAME(Elements));
        total += MIXED(NAME(Lanes), sums, sums, 7, 7, 7, 7, 7, 7, 7, 7);
    }
    A rest = total[0];
    for (; i < n; i++) {
        rest += (A)x[i];
        y[i] = (T)rest;
    }
}

GW_VECTOR_MATH static void NAME(sum_row)(const void *in, void *out, int64_t *places, int64_t n) {
    GW_UNUSED(places);
    NAME(sum_line)(in, out, n);
}

/* Of several rows side by side, each element after the other. */
static void NAME(sum_rows)(const void *in, void *out, int64_t *places, int64_t n) {
    GW_UNUSED(places);
    const T *x = in;
    T *y = out;
    A totals[TOGETHER] = {0};
    for (int64_t i = 0; i < n; i++) {
        _Pragma("GCC unroll 4")
        for (int64_t row = 0; row < TOGETHER; row++) {
            totals[row] += (A)x[row * n + i];
            y[row * n + i] = (T)totals[row];
        }
    }
}

static void NAME(sum_after_rows)(const void *in, void *out, int64_t *places, int64_t n) {
    GW_UNUSED(places);
    NAME(sums)(in, out, n, 1, n, 1);
}

static void NAME(product_row)(const void *in, void *out, int64_t *places, int64_t n) {
    GW_UNUSED(places);
    NAME(products)(in, out, n, 1, n, 1);
}

static void NAME(product_rows)(const void *in, void *out, int64_t *places, int64_t n) {
    GW_UNUSED(places);
    NAME(products)(in, out, n, 1, n, TOGETHER);
}

GW_VECTOR_MATH static void NAME(short_sum_rows)(const void *in, void *out, int64_t *places,
                                                int64_t n, int64_t lines) {
    GW_UNUSED(places);
    NAME(sums)(in, out, n, 1, n, lines);
}

GW_VECTOR_MATH static void NAME(short_product_rows)(const void *in, void *out, int64_t *places,
                                                    int64_t n, int64_t lines) {
    GW_UNUSED(places);
    NAME(products)(in, out, n, 1, n, lines);
}

GW_VECTOR_MATH static void NAME(sum_columns)(const void *in, void *out, int64_t *places, int64_t n,
                                             int64_t step, int64_t lines) {
    GW_UNUSED(places);
    NAME(sums)(in, out, n, step, 1, lines);
}

GW_VECTOR_MATH static void NAME(product_columns)(const void *in, void *out, int64_t *places,
                                                 int64_t n, int64_t step, int64_t lines) {
    GW_UNUSED(places);
    NAME(products)(in, out, n, step, 1, lines);
}

#define EXTREME(name, least)                                                                    \
    GW_VECTOR_MATH static void NAME(name##_row)(const void *in, void *out, int64_t *places,     \
                                                int64_t n) {                                    \
        NAME(extreme_line)(in, out, places, n, least);                                          \
    }                                                                                           \
    GW_VECTOR_MATH static void NAME(name##_columns)(const void *in, void *out, int64_t *places, \
                                                    int64_t n, int64_t step, int64_t lines) {   \
        NAME(extremes)(in, out, places, n, step, 1, lines, least);                              \
    }                                                                                           \
    static void NAME(short_##name##_rows)(const void *in, void *out, int64_t *places,           \
                                          int64_t n, int64_t lines) {                           \
        NAME(extremes)(in, out, places, n, 1, n, lines, least);                                 \
    }

EXTREME(maximum, false)
EXTREME(minimum, true)

static const Kernel NAME(kernels)[] = {
    [SUM] = {NAME(sum_row), NAME(sum_after_rows), NAME(sum_rows), NAME(sum_columns),
             NAME(short_sum_rows)},
    [PRODUCT] = {NAME(product_row), NAME(product_row), NAME(product_rows), NAME(product_columns),
                 NAME(short_product_rows)},
    [MAXIMUM] = {NAME(maximum_row), NAME(maximum_row), NULL, NAME(maximum_columns),
                 NAME(short_maximum_rows)},
    [MINIMUM] = {NAME(minimum_row), NAME(minimum_row), NULL, NAME(minimum_columns),
                 NAME(short_minimum_rows)},
};

#undef EXTREME
#undef PLACE
#undef NAME
#undef MISSING
#undef T
#undef M
#undef A
