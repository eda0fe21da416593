/* One reduction of one element type. Included with these defined: NAME(part), T (elements),
 * L (lanes of a short run), A (accumulators), O (results), START, STEP(acc, x), MERGE(acc, more),
 * FINISH(acc, count), RESULT (a dtype, or -1 for the elements'), TINY: rows of fewer elements are
 * reduced in fewer lanes, and perhaps ROWS_APART: several rows at a time are no faster, and
 * OWN_FOLD_ROW: NAME(fold_row) is there already. */

#ifdef ROWS_APART
#define FOLD_LANES 32
#else
#define FOLD_LANES (sizeof(L) > 4 ? 32 : 64)
#endif

/* Of the lanes, the first `half` with the others; written out step by step they stay in
 * registers. */
#define HALVE(half)                                  \
    for (int j = 0; j < (half); j++) {               \
        lanes[j] = MERGE(lanes[j], lanes[j + (half)]); \
    }

static void NAME(start)(void *acc, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        ((A *)acc)[i] = START;
    }
}

#ifndef OWN_FOLD_ROW
enum { NAME(PIECE) = 4096 };

/* The lanes of a piece of a row. */
GW_INLINE void NAME(fold_lanes)(L *lanes, const T *from, int64_t count) {
    enum { LANES = FOLD_LANES };
    int64_t whole = count / LANES * LANES;
    for (int j = 0; j < LANES; j++) {
        lanes[j] = START;
    }
    for (int64_t i = 0; i < whole; i += LANES) {
        for (int j = 0; j < LANES; j++) {
            L x = (L)from[i + j], lane = lanes[j];
            lanes[j] = STEP(lane, x);
        }
    }
    for (int64_t i = whole; i < count; i++) {
        L x = (L)from[i];
        lanes[i - whole] = STEP(lanes[i - whole], x);
    }
}

/* In lanes of type L, so that the order depends on n alone and is vectorised; after a piece the
 * lanes go into the accumulator, which may be wider. */
GW_VECTOR_MATH static void NAME(fold_row)(A *total, const T *in, int64_t n) {
    enum { LANES = FOLD_LANES };
    for (int64_t begin = 0; begin < n; begin += NAME(PIECE)) {
        L lanes[LANES];
        NAME(fold_lanes)(lanes, in + begin, n - begin < NAME(PIECE) ? n - begin : NAME(PIECE));
        for (int half = LANES / 2; half > 0 && sizeof(L) > 4; half /= 2) {
            HALVE(half)
        }
        if (sizeof(L) <= 4) {
            HALVE(LANES / 2)
            HALVE(LANES / 4)
            HALVE(LANES / 8)
            HALVE(LANES / 16)
            HALVE(LANES / 32)
            HALVE(LANES / 64)
        }
        *total = MERGE(*total, (A)lanes[0]);
    }
}

/* Rows of at most a piece. The last eight lanes of several rows are merged side by side. */
GW_VECTOR_MATH static void NAME(fold_each)(A *totals, const char *in, int64_t stride,
                                           int64_t rows, int64_t n) {
    enum { LANES = FOLD_LANES, LEFT = 8, TOGETHER = 32 };
    L left[TOGETHER * LEFT];
    for (int64_t begin = 0; begin < rows; begin += TOGETHER) {
        int64_t count = rows - begin < TOGETHER ? rows - begin : TOGETHER;
        for (int64_t r = 0; r < count; r++) {
            L lanes[LANES];
            NAME(fold_lanes)(lanes, (const T *)(in + (begin + r) * stride), n);
            if (LANES > 32) {
                HALVE(32)
            }
            HALVE(16)
            HALVE(8)
            for (int j = 0; j < LEFT; j++) {
                left[r * LEFT + j] = lanes[j];
            }
        }
        for (int64_t r = 0; r < count; r++) {
            const L *own = left + r * LEFT;
            L a = MERGE(own[0], own[4]), b = MERGE(own[1], own[5]), c = MERGE(own[2], own[6]);
            L d = MERGE(own[3], own[7]), even = MERGE(a, c), odd = MERGE(b, d);
            totals[begin + r] = MERGE(totals[begin + r], (A)MERGE(even, odd));
        }
    }
}
#else
static void NAME(fold_each)(A *totals, const char *in, int64_t stride, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; r++) {
        NAME(fold_row)(totals + r, (const T *)(in + r * stride), n);
    }
}
#endif

/* Rows of few elements, `stride` bytes apart, each into its own accumulator. */
GW_VECTOR_MATH static void NAME(tiny_rows)(void *acc, const char *in, int64_t stride,
                                           int64_t rows, int64_t n) {
    enum { LANES = 8 };
    for (int64_t r = 0; r < rows; r++) {
        const T *row = (const T *)(in + r * stride);
        A lanes[LANES];
        for (int j = 0; j < LANES; j++) {
            lanes[j] = START;
        }
        int64_t whole = n / LANES * LANES;
        for (int64_t i = 0; i < whole; i += LANES) {
            GW_AS_ONE_VECTOR
            for (int j = 0; j < LANES; j++) {
                A x = (A)row[i + j], lane = lanes[j];
                lanes[j] = STEP(lane, x);
            }
        }
        for (int64_t i = whole; i < n; i++) {
            A x = (A)row[i];
            lanes[i - whole] = STEP(lanes[i - whole], x);
        }
        for (int half = LANES / 2; half > 0; half /= 2) {
            for (int j = 0; j < half; j++) {
                lanes[j] = MERGE(lanes[j], lanes[j + half]);
            }
        }
        ((A *)acc)[r] = lanes[0];
    }
}

GW_INLINE void NAME(few)(A *acc, const char *in, int64_t stride, int64_t rows, int64_t n) {
    for (int64_t r = 0; r < rows; r++) {
        const T *row = (const T *)(in + r * stride);
        A total = START;
        for (int64_t i = 0; i < n; i++) {
            A x = (A)row[i];
            total = STEP(total, x);
        }
        acc[r] = total;
    }
}

/* Rows of so few elements that they would leave most lanes empty. */
GW_VECTOR_MATH static void NAME(few_rows)(A *acc, const char *in, int64_t stride, int64_t rows,
                                          int64_t n) {
    enum { WIDTH = sizeof(T) };
    if (n == 2 && stride == 2 * WIDTH) {
        NAME(few)(acc, in, 2 * WIDTH, rows, 2);
    } else if (n == 3 && stride == 3 * WIDTH) {
        NAME(few)(acc, in, 3 * WIDTH, rows, 3);
    } else if (n == 4 && stride == 4 * WIDTH) {
        NAME(few)(acc, in, 4 * WIDTH, rows, 4);
    } else {
        NAME(few)(acc, in, stride, rows, n);
    }
}

static void NAME(short_rows)(void *acc, const char *in, int64_t stride, int64_t rows, int64_t n) {
    if (n < FEW) {
        NAME(few_rows)(acc, in, stride, rows, n);
    } else if (n < TINY) {
        NAME(tiny_rows)(acc, in, stride, rows, n);
    } else {
        NAME(fold_each)(acc, in, stride, rows, n);
    }
}

static void NAME(fold)(void *acc, const char *in, int64_t step, int64_t n) {
    if (step == (int64_t)sizeof(T)) {
        NAME(fold_row)(acc, (const T *)in, n);
        return;
    }
    enum { APART = 8 };
    A lanes[APART];
    for (int j = 0; j < APART; j++) {
        lanes[j] = START;
    }
    int64_t whole = n / APART * APART;
    for (int64_t i = 0; i < whole; i += APART) {
        for (int j = 0; j < APART; j++) {
            A x = (A)*(const T *)(in + (i + j) * step), lane = lanes[j];
            lanes[j] = STEP(lane, x);
        }
    }
    for (int64_t i = whole; i < n; i++) {
        A x = (A)*(const T *)(in + i * step), lane = lanes[0];
        lanes[0] = STEP(lane, x);
    }
    HALVE(4)
    HALVE(2)
    HALVE(1)
    A total = *(A *)acc, more = lanes[0];
    *(A *)acc = MERGE(total, more);
}

GW_VECTOR_MATH static void NAME(columns_row)(A *acc, const T *in, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        A x = (A)in[i], total = acc[i];
        acc[i] = STEP(total, x);
    }
}

static void NAME(columns)(void *acc, const char *in, int64_t step, int64_t n) {
    if (step == (int64_t)sizeof(T)) {
        NAME(columns_row)(acc, (const T *)in, n);
        return;
    }
    A *totals = acc;
    for (int64_t i = 0; i < n; i++) {
        A x = (A)*(const T *)(in + i * step);
        totals[i] = STEP(totals[i], x);
    }
}

#ifdef ROWS_APART
static void NAME(column_rows)(void *acc, const char *in, int64_t stride, int64_t rows,
                              int64_t n) {
    for (int64_t r = 0; r < rows; r++) {
        NAME(columns_row)(acc, (const T *)(in + r * stride), n);
    }
}
#else
/* Several rows make a partial result of type L, which goes into the accumulators. */
GW_VECTOR_MATH static void NAME(column_rows)(void *acc, const char *in, int64_t stride,
                                             int64_t rows, int64_t n) {
    enum { TOGETHER = 8 };
    A *totals = acc;
    int64_t r = 0;
    for (; r + TOGETHER <= rows; r += TOGETHER) {
        const char *low = in + r * stride, *high = low + TOGETHER / 2 * stride;
        for (int64_t i = 0; i < n; i++) {
            L one = START, other = START;
            _Pragma("GCC unroll 4")
            for (int k = 0; k < TOGETHER / 2; k++) {
                L x = (L)((const T *)(low + k * stride))[i];
                L y = (L)((const T *)(high + k * stride))[i];
                one = STEP(one, x);
                other = STEP(other, y);
            }
            L both = MERGE(one, other);
            A total = totals[i], more = (A)both;
            totals[i] = MERGE(total, more);
        }
    }
    for (; r < rows; r++) {
        NAME(columns_row)(totals, (const T *)(in + r * stride), n);
    }
}
#endif

static void NAME(merge)(void *acc, const void *more, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        ((A *)acc)[i] = MERGE(((A *)acc)[i], ((const A *)more)[i]);
    }
}

static void NAME(finish)(const void *acc, char *out, int64_t step, int64_t n, int64_t count) {
    GW_UNUSED(count);
    for (int64_t i = 0; i < n; i++) {
        *(O *)(out + i * step) = (O)(FINISH(((const A *)acc)[i], count));
    }
}

static const GwReduction NAME(reduction) = {
    sizeof(A), RESULT, NAME(start), NAME(fold), NAME(columns), NAME(column_rows), NAME(short_rows),
    NAME(merge), NAME(finish),
};

#undef FOLD_LANES
#undef HALVE
#undef NAME
#undef T
#undef A
#undef L
#undef O
