/* Sums of one element type over lines of contiguous elements. Included with REAL and NAME(x)
 * defined, after vector_math.h and PIECE: elements that are summed in their own precision. */

enum { NAME(SUM_LANES) = 256 / sizeof(REAL) };

/* An initialiser is a call of memset or a slow instruction, in memory and not in registers. */
GW_INLINE void NAME(clear_lanes)(REAL *lanes) {
    for (int j = 0; j < NAME(SUM_LANES); j++) {
        lanes[j] = 0;
    }
}

/* In double, eight lanes at a time. */
GW_INLINE double NAME(lane_sum)(const REAL *lanes) {
    double sums[8] = {0};
    for (int k = 0; k < NAME(SUM_LANES); k += 8) {
        for (int j = 0; j < 8; j++) {
            sums[j] += (double)lanes[k + j];
        }
    }
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

GW_VECTOR_MATH static double NAME(sum_piece)(const REAL *x, int64_t n) {
    REAL lanes[NAME(SUM_LANES)];
    NAME(clear_lanes)(lanes);
    int64_t whole = n / NAME(SUM_LANES) * NAME(SUM_LANES);
    for (int64_t i = 0; i < whole; i += NAME(SUM_LANES)) {
        for (int j = 0; j < NAME(SUM_LANES); j++) {
            lanes[j] += x[i + j];
        }
    }
    for (int64_t i = whole; i < n; i++) {
        lanes[i - whole] += x[i];
    }
    return NAME(lane_sum)(lanes);
}

GW_VECTOR_MATH static double NAME(squares_piece)(const REAL *x, int64_t n, REAL shift) {
    REAL lanes[NAME(SUM_LANES)];
    NAME(clear_lanes)(lanes);
    int64_t whole = n / NAME(SUM_LANES) * NAME(SUM_LANES);
    for (int64_t i = 0; i < whole; i += NAME(SUM_LANES)) {
        for (int j = 0; j < NAME(SUM_LANES); j++) {
            REAL d = x[i + j] - shift;
            lanes[j] += d * d;
        }
    }
    for (int64_t i = whole; i < n; i++) {
        REAL d = x[i] - shift;
        lanes[i - whole] += d * d;
    }
    return NAME(lane_sum)(lanes);
}

/* In pieces of PIECE elements, so that the lanes stay exact enough. */
static double NAME(sum_line)(const REAL *x, int64_t n, const double *mean) {
    double total = 0;
    for (int64_t i = 0; i < n; i += PIECE) {
        int64_t count = n - i < PIECE ? n - i : PIECE;
        total += mean == NULL ? NAME(sum_piece)(x + i, count)
                              : NAME(squares_piece)(x + i, count, (REAL)*mean);
    }
    return total;
}

/* The sums of x - mean, which is what rounding took from the mean, and of its square. */
GW_VECTOR_MATH static void NAME(gap_sums)(const REAL *x, int64_t n, REAL mean, double sums[2]) {
    sums[0] = sums[1] = 0;
    for (int64_t begin = 0; begin < n; begin += PIECE) {
        REAL gaps[NAME(SUM_LANES)], squares[NAME(SUM_LANES)];
        NAME(clear_lanes)(gaps);
        NAME(clear_lanes)(squares);
        int64_t end = n - begin < PIECE ? n : begin + PIECE, i = begin;
        for (; i + NAME(SUM_LANES) <= end; i += NAME(SUM_LANES)) {
            for (int j = 0; j < NAME(SUM_LANES); j++) {
                REAL d = x[i + j] - mean;
                gaps[j] += d;
                squares[j] += d * d;
            }
        }
        for (int j = 0; i + j < end; j++) {
            REAL d = x[i + j] - mean;
            gaps[j] += d;
            squares[j] += d * d;
        }
        sums[0] += NAME(lane_sum)(gaps);
        sums[1] += NAME(lane_sum)(squares);
    }
}

/* The sum of squares around the mean, from that around something near it and the sum of the gaps
 * to it; inf where a square overflows. */
GW_INLINE double NAME(centred)(double squares, double gaps, double n) {
    double centred = squares - gaps * (gaps / n);
    return squares == (double)INFINITY ? squares : centred < 0 ? 0 : centred;
}

/* The mean of a line, what it lacks, and the variance. */
GW_INLINE REAL NAME(line_moments)(const REAL *x, int64_t n, double *lacks, double *variance) {
    REAL mean = (REAL)(NAME(sum_line)(x, n, NULL) / (double)n);
    double sums[2];
    NAME(gap_sums)(x, n, mean, sums);
    *lacks = sums[0] / (double)n;
    *variance = NAME(centred)(sums[1], sums[0], (double)n) / (double)n;
    return mean;
}

/* The sums of g, with g times w where that is not NULL, of g (x - mean) and of x - mean. */
GW_INLINE void NAME(slope_sums)(const REAL *g, const REAL *x, const REAL *w, int64_t n, REAL mean,
                                double sums[3]) {
    sums[0] = sums[1] = sums[2] = 0;
    for (int64_t begin = 0; begin < n; begin += PIECE) {
        REAL grads[NAME(SUM_LANES)], dots[NAME(SUM_LANES)], gaps[NAME(SUM_LANES)];
        NAME(clear_lanes)(grads);
        NAME(clear_lanes)(dots);
        NAME(clear_lanes)(gaps);
        int64_t end = n - begin < PIECE ? n : begin + PIECE, i = begin;
        for (; i + NAME(SUM_LANES) <= end; i += NAME(SUM_LANES)) {
            for (int j = 0; j < NAME(SUM_LANES); j++) {
                REAL grad = w != NULL ? g[i + j] * w[i + j] : g[i + j], gap = x[i + j] - mean;
                grads[j] += grad;
                dots[j] += grad * gap;
                gaps[j] += gap;
            }
        }
        for (int j = 0; i + j < end; j++) {
            REAL grad = w != NULL ? g[i + j] * w[i + j] : g[i + j], gap = x[i + j] - mean;
            grads[j] += grad;
            dots[j] += grad * gap;
            gaps[j] += gap;
        }
        sums[0] += NAME(lane_sum)(grads);
        sums[1] += NAME(lane_sum)(dots);
        sums[2] += NAME(lane_sum)(gaps);
    }
}
