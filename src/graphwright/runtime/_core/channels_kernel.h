/* Batch norm of one element type. Included with REAL, SQRT and NAME(x) defined, after
 * sums_kernel.h. */

/* The sum of g (x - shift). */
GW_VECTOR_MATH static double NAME(dots_piece)(const REAL *g, const REAL *x, int64_t n,
                                              REAL shift) {
    REAL lanes[NAME(SUM_LANES)] = {0};
    int64_t whole = n / NAME(SUM_LANES) * NAME(SUM_LANES);
    for (int64_t i = 0; i < whole; i += NAME(SUM_LANES)) {
        for (int j = 0; j < NAME(SUM_LANES); j++) {
            lanes[j] += g[i + j] * (x[i + j] - shift);
        }
    }
    for (int64_t i = whole; i < n; i++) {
        lanes[i - whole] += g[i] * (x[i] - shift);
    }
    return NAME(lane_sum)(lanes);
}

static double NAME(dots_line)(const REAL *g, const REAL *x, int64_t n, REAL shift) {
    double total = 0;
    for (int64_t i = 0; i < n; i += PIECE) {
        total += NAME(dots_piece)(g + i, x + i, n - i < PIECE ? n - i : PIECE, shift);
    }
    return total;
}

/* y = (x - mean) scale + bias. */
GW_VECTOR_MATH static void NAME(scale_line)(const REAL *x, REAL *y, int64_t n, REAL mean,
                                            REAL scale, REAL bias) {
    GW_TOGETHER
    for (int64_t i = 0; i < n; i++) {
        y[i] = (x[i] - mean) * scale + bias;
    }
}

/* y = (g - shift - (x - mean) slope) scale. */
GW_VECTOR_MATH static void NAME(slope_line)(const REAL *g, const REAL *x, REAL *y, int64_t n,
                                            const REAL *by) {
    REAL mean = by[0], shift = by[1], slope = by[2], scale = by[3];
    GW_TOGETHER
    for (int64_t i = 0; i < n; i++) {
        y[i] = (g[i] - shift - (x[i] - mean) * slope) * scale;
    }
}

/* The factor and the statistics of a channel whose squares were summed around its mean in REAL. */
static REAL NAME(settle)(const Channels *b, int64_t c, double mean, double squares) {
    double off = mean - (double)(REAL)mean, variance = squares / b->count - off * off;
    variance = variance < 0 ? 0 : variance;
    ((REAL *)b->mean)[c] = (REAL)mean;
    ((REAL *)b->second)[c] = (REAL)variance;
    REAL scale = (REAL)(1 / sqrt(variance + b->eps));
    return b->weight == NULL ? scale : scale * ((const REAL *)b->weight)[c];
}

/* Channels [begin, end), whose elements lie together in each sample. */
static void NAME(forward_lines)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    int64_t step = b->channels * b->inner;
    for (int64_t c = begin; c < end; c++) {
        const REAL *x = (const REAL *)b->x + c * b->inner;
        REAL *y = (REAL *)b->y + c * b->inner;
        double total = 0, squares = 0;
        for (int64_t i = 0; i < b->batch; i++) {
            total += NAME(sum_line)(x + i * step, b->inner, NULL);
        }
        double mean = total / b->count;
        for (int64_t i = 0; i < b->batch; i++) {
            squares += NAME(sum_line)(x + i * step, b->inner, &mean);
        }
        REAL scale = NAME(settle)(b, c, mean, squares);
        REAL bias = b->bias == NULL ? 0 : ((const REAL *)b->bias)[c];
        for (int64_t i = 0; i < b->batch; i++) {
            NAME(scale_line)(x + i * step, y + i * step, b->inner, (REAL)mean, scale, bias);
        }
    }
}

/* The gradients of weight and bias, and what slope_line needs, from sums over a channel. */
static void NAME(settle_slope)(const Channels *b, int64_t c, double grads, double dots,
                               REAL *by) {
    REAL mean = ((const REAL *)b->mean)[c], rstd = ((const REAL *)b->second)[c];
    double to_weight = dots * (double)rstd;
    ((REAL *)b->to_weight)[c] = (REAL)to_weight;
    ((REAL *)b->to_bias)[c] = (REAL)grads;
    by[0] = mean;
    by[1] = (REAL)(grads / b->count);
    by[2] = (REAL)(to_weight / b->count * (double)rstd);
    by[3] = b->weight == NULL ? rstd : rstd * ((const REAL *)b->weight)[c];
}

static void NAME(backward_lines)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    int64_t step = b->channels * b->inner;
    for (int64_t c = begin; c < end; c++) {
        const REAL *x = (const REAL *)b->x + c * b->inner;
        const REAL *g = (const REAL *)b->grad + c * b->inner;
        REAL *y = (REAL *)b->y + c * b->inner, mean = ((const REAL *)b->mean)[c], by[4];
        double grads = 0, dots = 0;
        for (int64_t i = 0; i < b->batch; i++) {
            grads += NAME(sum_line)(g + i * step, b->inner, NULL);
            dots += NAME(dots_line)(g + i * step, x + i * step, b->inner, mean);
        }
        NAME(settle_slope)(b, c, grads, dots, by);
        for (int64_t i = 0; i < b->batch; i++) {
            NAME(slope_line)(g + i * step, x + i * step, y + i * step, b->inner, by);
        }
    }
}

/* ---- one element of each channel in a sample: `n` channels side by side ---- */

GW_VECTOR_MATH static void NAME(forward_tile)(const Channels *b, int64_t c, int64_t n) {
    const REAL *x = (const REAL *)b->x + c;
    REAL *y = (REAL *)b->y + c, means[COLUMNS], scales[COLUMNS], biases[COLUMNS];
    double totals[COLUMNS] = {0}, squares[COLUMNS] = {0};
    for (int64_t i = 0; i < b->batch; i += ROWS) {
        int64_t last = i + ROWS < b->batch ? i + ROWS : b->batch;
        REAL parts[COLUMNS] = {0};
        for (int64_t row = i; row < last; row++) {
            for (int64_t k = 0; k < n; k++) {
                parts[k] += x[row * b->channels + k];
            }
        }
        for (int64_t k = 0; k < n; k++) {
            totals[k] += (double)parts[k];
        }
    }
    for (int64_t k = 0; k < n; k++) {
        totals[k] /= b->count;
        means[k] = (REAL)totals[k];
    }
    for (int64_t i = 0; i < b->batch; i += ROWS) {
        int64_t last = i + ROWS < b->batch ? i + ROWS : b->batch;
        REAL parts[COLUMNS] = {0};
        for (int64_t row = i; row < last; row++) {
            for (int64_t k = 0; k < n; k++) {
                REAL d = x[row * b->channels + k] - means[k];
                parts[k] += d * d;
            }
        }
        for (int64_t k = 0; k < n; k++) {
            squares[k] += (double)parts[k];
        }
    }
    for (int64_t k = 0; k < n; k++) {
        scales[k] = NAME(settle)(b, c + k, totals[k], squares[k]);
        biases[k] = b->bias == NULL ? 0 : ((const REAL *)b->bias)[c + k];
    }
    for (int64_t i = 0; i < b->batch; i++) {
        GW_TOGETHER
        for (int64_t k = 0; k < n; k++) {
            y[i * b->channels + k] = (x[i * b->channels + k] - means[k]) * scales[k] + biases[k];
        }
    }
}

GW_VECTOR_MATH static void NAME(backward_tile)(const Channels *b, int64_t c, int64_t n) {
    const REAL *x = (const REAL *)b->x + c, *g = (const REAL *)b->grad + c;
    const REAL *means = (const REAL *)b->mean + c;
    REAL *y = (REAL *)b->y + c, by[COLUMNS][4];
    REAL shifts[COLUMNS], slopes[COLUMNS], scales[COLUMNS];
    double grads[COLUMNS] = {0}, dots[COLUMNS] = {0};
    for (int64_t i = 0; i < b->batch; i++) {
        for (int64_t k = 0; k < n; k++) {
            REAL grad = g[i * b->channels + k];
            grads[k] += (double)grad;
            dots[k] += (double)(grad * (x[i * b->channels + k] - means[k]));
        }
    }
    for (int64_t k = 0; k < n; k++) {
        NAME(settle_slope)(b, c + k, grads[k], dots[k], by[k]);
        shifts[k] = by[k][1];
        slopes[k] = by[k][2];
        scales[k] = by[k][3];
    }
    for (int64_t i = 0; i < b->batch; i++) {
        GW_TOGETHER
        for (int64_t k = 0; k < n; k++) {
            int64_t at = i * b->channels + k;
            y[at] = (g[at] - shifts[k] - (x[at] - means[k]) * slopes[k]) * scales[k];
        }
    }
}

static void NAME(forward_columns)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    for (int64_t c = begin * COLUMNS; c < end * COLUMNS && c < b->channels; c += COLUMNS) {
        NAME(forward_tile)(b, c, b->channels - c < COLUMNS ? b->channels - c : COLUMNS);
    }
}

static void NAME(backward_columns)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    for (int64_t c = begin * COLUMNS; c < end * COLUMNS && c < b->channels; c += COLUMNS) {
        NAME(backward_tile)(b, c, b->channels - c < COLUMNS ? b->channels - c : COLUMNS);
    }
}
