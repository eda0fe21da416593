/* Variances and softmax of one element type along the middle one of three dimensions.
 * Included with REAL, EXP, LOG and NAME(x) defined, after
 * sums_kernel.h. */

/* ---- variances, and norms: the same around 0 ---- */

/* From the sums of the gaps to something near the mean and of their squares. */
static REAL NAME(spread)(const Lines *l, double gaps, double squares) {
    if (l->around_zero) {
        return (REAL)sqrt(squares);
    }
    double freedom = (double)l->n - l->correction;
    double variance = NAME(centred)(squares, gaps, (double)l->n) / (freedom > 0 ? freedom : 0);
    return (REAL)(l->root ? sqrt(variance) : variance);
}

GW_INLINE void NAME(few_norms)(const REAL *x, int64_t n, int64_t rows, REAL *out) {
    for (int64_t r = 0; r < rows; r++) {
        double squares = 0;
        for (int64_t i = 0; i < n; i++) {
            squares += (double)x[r * n + i] * (double)x[r * n + i];
        }
        out[r] = (REAL)sqrt(squares);
    }
}

/* Norms of lines of few elements. */
GW_VECTOR_MATH static void NAME(short_norms)(const REAL *x, int64_t n, int64_t rows, REAL *out) {
    switch (n) {
        case 2: NAME(few_norms)(x, 2, rows, out); break;
        case 3: NAME(few_norms)(x, 3, rows, out); break;
        case 4: NAME(few_norms)(x, 4, rows, out); break;
        default: NAME(few_norms)(x, n, rows, out);
    }
}

/* The sum of squares: none cancels another, so that lanes are added as they are. */
GW_VECTOR_MATH static double NAME(squares_of_piece)(const REAL *x, int64_t n) {
    REAL lanes[NAME(SUM_LANES)];
    NAME(clear_lanes)(lanes);
    int64_t whole = n / NAME(SUM_LANES) * NAME(SUM_LANES);
    for (int64_t i = 0; i < whole; i += NAME(SUM_LANES)) {
        for (int j = 0; j < NAME(SUM_LANES); j++) {
            lanes[j] += x[i + j] * x[i + j];
        }
    }
    for (int64_t i = whole; i < n; i++) {
        lanes[i - whole] += x[i] * x[i];
    }
    for (int half = NAME(SUM_LANES) / 2; half >= 4; half /= 2) {
        for (int j = 0; j < half; j++) {
            lanes[j] += lanes[j + half];
        }
    }
    return ((double)lanes[0] + (double)lanes[2]) + ((double)lanes[1] + (double)lanes[3]);
}

static double NAME(squares)(const Lines *l, int64_t at, int64_t n) {
    if (l->dtype == GW_BFLOAT16) {
        return squares_of_bfloat16((const uint16_t *)l->in + at, n);
    }
    double total = 0;
    for (int64_t i = 0; i < n; i += PIECE) {
        total += NAME(squares_of_piece)((const REAL *)l->in + at + i, n - i < PIECE ? n - i : PIECE);
    }
    return total;
}

/* `count` elements of half precision from `at` on. */
static void NAME(widen)(const Lines *l, int64_t at, npy_intp count, REAL *own) {
    npy_intp steps[2] = {sizeof(uint16_t), sizeof(REAL)};
    char *pair[2] = {(char *)(uintptr_t)l->in + at * steps[0], (char *)own};
    l->widen(pair, &count, steps, NULL);
}

/* The sum of elements, or those of their gaps to a mean and of the squares of these. */
GW_INLINE void NAME(take)(const REAL *x, int64_t n, const double *mean, double sums[2]) {
    double more[2] = {0, 0};
    if (mean == NULL) {
        more[0] = NAME(sum_line)(x, n, NULL);
    } else {
        NAME(gap_sums)(x, n, (REAL)*mean, more);
    }
    sums[0] += more[0];
    sums[1] += more[1];
}

/* The same of `count` elements from `at` on. */
static void NAME(total)(const Lines *l, int64_t at, int64_t count, const double *mean,
                        double sums[2]) {
    sums[0] = sums[1] = 0;
    if (l->widen == NULL) {
        NAME(take)((const REAL *)l->in + at, count, mean, sums);
        return;
    }
    REAL own[WIDENED];
    for (int64_t done = 0; done < count; done += WIDENED) {
        int64_t n = count - done < WIDENED ? count - done : WIDENED;
        NAME(widen)(l, at + done, n, own);
        NAME(take)(own, n, mean, sums);
    }
}

static REAL NAME(spread_of_row)(const Lines *l, const REAL *x) {
    double mean = 0, sums[2] = {0, 0};
    if (l->around_zero) {
        return NAME(spread)(l, 0, NAME(sum_line)(x, l->n, &mean));
    }
    mean = NAME(sum_line)(x, l->n, NULL) / (double)l->n;
    NAME(take)(x, l->n, &mean, sums);
    return NAME(spread)(l, sums[0], sums[1]);
}

/* Lines of half precision, several of which are converted at a time. */
static void NAME(widened_rows)(const Lines *l, int64_t begin, int64_t end) {
    REAL own[WIDENED];
    int64_t together = WIDENED / l->n;
    for (int64_t first = begin; first < end; first += together) {
        int64_t rows = end - first < together ? end - first : together;
        NAME(widen)(l, first * l->n, rows * l->n, own);
        for (int64_t row = 0; row < rows; row++) {
            ((REAL *)l->out)[first + row] = NAME(spread_of_row)(l, own + row * l->n);
        }
    }
}

/* Each task one line, both passes over it. */
static void NAME(variance_rows)(void *closure, int64_t begin, int64_t end) {
    const Lines *l = closure;
    if (l->around_zero && l->n < FEW) {
        NAME(short_norms)((const REAL *)l->in + begin * l->n, l->n, end - begin,
                          (REAL *)l->out + begin);
        return;
    }
    if (l->around_zero && l->dtype != GW_FLOAT16) {
        for (int64_t row = begin; row < end; row++) {
            double squares = NAME(squares)(l, row * l->n, l->n);
            ((REAL *)l->out)[row] = NAME(spread)(l, 0, squares);
        }
        return;
    }
    if (l->widen != NULL && l->n <= WIDENED) {
        NAME(widened_rows)(l, begin, end);
        return;
    }
    for (int64_t row = begin; row < end; row++) {
        if (l->widen == NULL) {
            ((REAL *)l->out)[row] = NAME(spread_of_row)(l, (const REAL *)l->in + row * l->n);
            continue;
        }
        double sums[2] = {0, 0}, mean;
        if (!l->around_zero) {
            NAME(total)(l, row * l->n, l->n, NULL, sums);
        }
        mean = sums[0] / (double)l->n;
        NAME(total)(l, row * l->n, l->n, &mean, sums);
        ((REAL *)l->out)[row] = NAME(spread)(l, sums[0], sums[1]);
    }
}

/* One block of one long line: its sum, or that of the squares where there are means. */
static void NAME(variance_blocks)(void *closure, int64_t begin, int64_t end) {
    const Lines *l = closure;
    for (int64_t task = begin; task < end; task++) {
        int64_t row = task / l->blocks, from = task % l->blocks * BLOCK;
        int64_t count = l->n - from < BLOCK ? l->n - from : BLOCK;
        NAME(total)(l, row * l->n + from, count, l->means == NULL ? NULL : l->means + row,
                    l->partial + 2 * task);
    }
}

GW_VECTOR_MATH static void NAME(variance_tile)(const REAL *x, int64_t n, int64_t step,
                                               int64_t columns, bool around_zero,
                                               double *squares) {
    double means[COLUMNS];
    for (int64_t c = 0; c < columns; c++) {
        means[c] = squares[c] = 0;
    }
    for (int64_t i = 0; i < n && !around_zero; i++) {
        for (int64_t c = 0; c < columns; c++) {
            means[c] += (double)x[i * step + c];
        }
    }
    for (int64_t c = 0; c < columns; c++) {
        means[c] /= (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < columns; c++) {
            double d = (double)x[i * step + c] - means[c];
            squares[c] += d * d;
        }
    }
}

static void NAME(variance_columns)(void *closure, int64_t begin, int64_t end) {
    const Lines *l = closure;
    double squares[COLUMNS];
    for (int64_t task = begin; task < end; task++) {
        Tile t = tile_of(l, task);
        NAME(variance_tile)((const REAL *)l->in + t.at, l->n, l->inner, t.columns, l->around_zero,
                            squares);
        for (int64_t c = 0; c < t.columns; c++) {
            ((REAL *)l->out)[t.result + c] = NAME(spread)(l, 0, squares[c]);
        }
    }
}

static void NAME(finish_blocks)(const Lines *l) {
    for (int64_t row = 0; row < l->outer; row++) {
        ((REAL *)l->out)[row] = NAME(spread)(l, block_sum(l, row, 0), block_sum(l, row, 1));
    }
}

/* ---- softmax of columns ---- */

/* After row i of n, now and then and at the end: the sums go into the totals. */
GW_INLINE void NAME(add_to_totals)(REAL *sums, int64_t columns, int64_t i, int64_t n,
                                   double *totals) {
    if ((i + 1) % ROWS == 0 || i + 1 == n) {
        for (int64_t c = 0; c < columns; c++) {
            totals[c] += (double)sums[c];
            sums[c] = 0;
        }
    }
}

GW_VECTOR_MATH static void NAME(softmax_tile)(const REAL *x, REAL *y, int64_t n, int64_t step,
                                              int64_t columns, bool logarithm) {
    REAL most[COLUMNS], sums[COLUMNS];
    double totals[COLUMNS];
    for (int64_t c = 0; c < columns; c++) {
        most[c] = x[c];
        totals[c] = sums[c] = 0;
    }
    for (int64_t i = 1; i < n; i++) {
        for (int64_t c = 0; c < columns; c++) {
            REAL v = x[i * step + c];
            most[c] = v > most[c] ? v : most[c];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        GW_TOGETHER
        for (int64_t c = 0; c < columns; c++) {
            REAL e = EXP(x[i * step + c] - most[c]);
            sums[c] += e;
            y[i * step + c] = e;
        }
        NAME(add_to_totals)(sums, columns, i, n, totals);
    }
    for (int64_t c = 0; c < columns; c++) {
        REAL sum = (REAL)totals[c];
        sums[c] = logarithm ? LOG(sum) : 1 / sum;
    }
    for (int64_t i = 0; i < n && logarithm; i++) {
        GW_TOGETHER
        for (int64_t c = 0; c < columns; c++) {
            y[i * step + c] = (x[i * step + c] - most[c]) - sums[c];
        }
    }
    for (int64_t i = 0; i < n && !logarithm; i++) {
        for (int64_t c = 0; c < columns; c++) {
            y[i * step + c] *= sums[c];
        }
    }
}

static void NAME(softmax_columns)(void *closure, int64_t begin, int64_t end) {
    const Lines *l = closure;
    for (int64_t task = begin; task < end; task++) {
        Tile t = tile_of(l, task);
        NAME(softmax_tile)((const REAL *)l->in + t.at, (REAL *)l->out + t.at, l->n, l->inner,
                           t.columns, l->logarithm);
    }
}

/* ---- the gradient of softmax of columns, from that of its result y ---- */

GW_VECTOR_MATH static void NAME(slope_tile)(const REAL *g, const REAL *y, REAL *out, int64_t n,
                                            int64_t step, int64_t columns, bool logarithm) {
    REAL sums[COLUMNS];
    double totals[COLUMNS];
    for (int64_t c = 0; c < columns; c++) {
        totals[c] = sums[c] = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < columns; c++) {
            REAL grad = g[i * step + c], weighted = grad * y[i * step + c];
            sums[c] += logarithm ? grad : weighted;
        }
        NAME(add_to_totals)(sums, columns, i, n, totals);
    }
    for (int64_t c = 0; c < columns; c++) {
        sums[c] = (REAL)totals[c];
    }
    for (int64_t i = 0; i < n && logarithm; i++) {
        GW_TOGETHER
        for (int64_t c = 0; c < columns; c++) {
            out[i * step + c] = g[i * step + c] - EXP(y[i * step + c]) * sums[c];
        }
    }
    for (int64_t i = 0; i < n && !logarithm; i++) {
        GW_TOGETHER
        for (int64_t c = 0; c < columns; c++) {
            out[i * step + c] = (g[i * step + c] - sums[c]) * y[i * step + c];
        }
    }
}

static void NAME(slope_columns)(void *closure, int64_t begin, int64_t end) {
    const Lines *l = closure;
    for (int64_t task = begin; task < end; task++) {
        Tile t = tile_of(l, task);
        NAME(slope_tile)((const REAL *)l->in + t.at, (const REAL *)l->result + t.at,
                         (REAL *)l->out + t.at, l->n, l->inner, t.columns, l->logarithm);
    }
}
