/* Batch norm of one element type. Included with REAL, SQRT and NAME(x) defined, after
 * sums_kernel.h. */

/* The sums of g, of g (x - mean) and of x - mean. */
GW_VECTOR_MATH static void NAME(slopes_of_line)(const REAL *g, const REAL *x, int64_t n, REAL mean,
                                                double sums[3]) {
    NAME(slope_sums)(g, x, NULL, n, mean, sums);
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

/* The factor of a channel, whose statistics are written. */
static REAL NAME(settle)(const Channels *b, int64_t c, double mean, double variance) {
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
        double total = 0, gaps = 0, squares = 0, sums[2];
        for (int64_t i = 0; i < b->batch; i++) {
            total += NAME(sum_line)(x + i * step, b->inner, NULL);
        }
        REAL mean = (REAL)(total / b->count);
        for (int64_t i = 0; i < b->batch; i++) {
            NAME(gap_sums)(x + i * step, b->inner, mean, sums);
            gaps += sums[0];
            squares += sums[1];
        }
        double lacks = gaps / b->count;
        double variance = NAME(centred)(squares, gaps, b->count) / b->count;
        REAL scale = NAME(settle)(b, c, (double)mean, variance);
        REAL bias = b->bias == NULL ? 0 : ((const REAL *)b->bias)[c];
        bias -= (REAL)lacks * scale;
        for (int64_t i = 0; i < b->batch; i++) {
            NAME(scale_line)(x + i * step, y + i * step, b->inner, mean, scale, bias);
        }
    }
}

/* The gradients of weight and bias, and what slope_line needs, from sums over a channel: `gaps` of
 * x - mean, which is what the mean lacks. */
static void NAME(settle_slope)(const Channels *b, int64_t c, double grads, double dots,
                               double gaps, REAL *by) {
    REAL mean = ((const REAL *)b->mean)[c], rstd = ((const REAL *)b->second)[c];
    double lacks = gaps / b->count, to_weight = (dots - lacks * grads) * (double)rstd;
    ((REAL *)b->to_weight)[c] = (REAL)to_weight;
    ((REAL *)b->to_bias)[c] = (REAL)grads;
    by[0] = mean;
    by[2] = (REAL)(to_weight / b->count * (double)rstd);
    by[1] = (REAL)(grads / b->count - lacks * (double)by[2]);
    by[3] = b->weight == NULL ? rstd : rstd * ((const REAL *)b->weight)[c];
}

static void NAME(backward_lines)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    int64_t step = b->channels * b->inner;
    for (int64_t c = begin; c < end; c++) {
        const REAL *x = (const REAL *)b->x + c * b->inner;
        const REAL *g = (const REAL *)b->grad + c * b->inner;
        REAL *y = (REAL *)b->y + c * b->inner, mean = ((const REAL *)b->mean)[c], by[4];
        double totals[3] = {0}, sums[3];
        for (int64_t i = 0; i < b->batch; i++) {
            NAME(slopes_of_line)(g + i * step, x + i * step, b->inner, mean, sums);
            for (int k = 0; k < 3; k++) {
                totals[k] += sums[k];
            }
        }
        NAME(settle_slope)(b, c, totals[0], totals[1], totals[2], by);
        for (int64_t i = 0; i < b->batch; i++) {
            NAME(slope_line)(g + i * step, x + i * step, y + i * step, b->inner, by);
        }
    }
}

/* ---- one element of each channel in a sample: channels side by side ---- */

/* Vectors no longer than most machines' registers: compilers split longer ones in memory. */
enum {
    NAME(TILE) = TILE_BYTES / sizeof(REAL),
    NAME(COLUMNS) = GROUP_BYTES / sizeof(REAL),
    NAME(VECS) = TILE_BYTES / 32,
};
typedef REAL NAME(Vec) __attribute__((vector_size(32), aligned(sizeof(REAL)), may_alias));

typedef struct {
    int64_t c, n;               /* channels [c, c + n) */
    int64_t begin, end;         /* of the rows */
    double *sums, *others, *gaps;   /* of this part, from channel c on */
} NAME(Part);

static NAME(Part) NAME(part)(const Channels *b, int64_t task) {
    int64_t c = task % b->groups * NAME(COLUMNS), index = task / b->groups;
    int64_t begin = index * b->rows, left = b->channels - c, end = begin + b->rows;
    double *sums = b->sums + index * SUMS * b->channels + c;
    return (NAME(Part)){c, left < NAME(COLUMNS) ? left : NAME(COLUMNS),
                        begin < b->batch ? begin : b->batch, end < b->batch ? end : b->batch,
                        sums, sums + b->channels, sums + 2 * b->channels};
}

/* The means of a tile's rows less the first of them, in their own precision, and the sums of the
 * squares around these. */
GW_INLINE void NAME(take_tile)(const REAL *x, int64_t step, int64_t rows, REAL *means,
                               REAL *squares) {
    NAME(Vec) first[NAME(VECS)], mean[NAME(VECS)] = {0}, sums[NAME(VECS)] = {0};
    memcpy(first, x, sizeof first);
    for (int64_t row = 1; row < rows; row++) {
        const NAME(Vec) *from = (const NAME(Vec) *)(x + row * step);
        _Pragma("GCC unroll 8")
        for (int v = 0; v < NAME(VECS); v++) {
            mean[v] += from[v] - first[v];
        }
    }
    for (int v = 0; v < NAME(VECS); v++) {
        mean[v] /= (REAL)rows;
    }
    for (int64_t row = 0; row < rows; row++) {
        const NAME(Vec) *from = (const NAME(Vec) *)(x + row * step);
        _Pragma("GCC unroll 8")
        for (int v = 0; v < NAME(VECS); v++) {
            NAME(Vec) value = from[v] - first[v] - mean[v];
            sums[v] += value * value;
        }
    }
    memcpy(means, mean, sizeof mean);
    memcpy(squares, sums, sizeof sums);
}

GW_INLINE void NAME(take_some)(const REAL *x, int64_t step, int64_t rows, int64_t n, REAL *means,
                               REAL *squares) {
    for (int64_t k = 0; k < n; k++) {
        REAL mean = 0, sum = 0;
        for (int64_t row = 1; row < rows; row++) {
            mean += x[row * step + k] - x[k];
        }
        mean /= (REAL)rows;
        for (int64_t row = 0; row < rows; row++) {
            REAL value = x[row * step + k] - x[k] - mean;
            sum += value * value;
        }
        means[k] = mean;
        squares[k] = sum;
    }
}

/* The sums of a tile's rows in their own precision: of g, of g (x - mean) and of x - mean. */
GW_INLINE void NAME(add_slope_tile)(const REAL *g, const REAL *x, int64_t step, int64_t rows,
                                    const REAL *means, REAL *grads, REAL *dots, REAL *gaps) {
    NAME(Vec) sums[NAME(VECS)], others[NAME(VECS)], lacks[NAME(VECS)];
    for (int v = 0; v < NAME(VECS); v++) {
        sums[v] = others[v] = lacks[v] = (NAME(Vec)){0};
    }
    for (int64_t row = 0; row < rows; row++) {
        const NAME(Vec) *of_g = (const NAME(Vec) *)(g + row * step);
        const NAME(Vec) *of_x = (const NAME(Vec) *)(x + row * step);
        _Pragma("GCC unroll 8")
        for (int v = 0; v < NAME(VECS); v++) {
            sums[v] += of_g[v];
            NAME(Vec) gap = of_x[v] - ((const NAME(Vec) *)means)[v];
            others[v] += of_g[v] * gap;
            lacks[v] += gap;
        }
    }
    memcpy(gaps, lacks, sizeof lacks);
    memcpy(grads, sums, sizeof sums);
    memcpy(dots, others, sizeof others);
}

GW_INLINE void NAME(add_some_slopes)(const REAL *g, const REAL *x, int64_t step, int64_t rows,
                                     int64_t n, const REAL *means, REAL *grads, REAL *dots,
                                     REAL *gaps) {
    memset(gaps, 0, (size_t)n * sizeof(REAL));
    memset(grads, 0, (size_t)n * sizeof(REAL));
    memset(dots, 0, (size_t)n * sizeof(REAL));
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t k = 0; k < n; k++) {
            REAL grad = g[row * step + k], gap = x[row * step + k] - means[k];
            grads[k] += grad;
            dots[k] += grad * gap;
            gaps[k] += gap;
        }
    }
}

/* Adds some rows to `known` others, given what take_tile says of them. */
GW_INLINE void NAME(join_rows)(const REAL *first, const REAL *more, const REAL *squares,
                               int64_t n, double rows, double known, double *means,
                               double *totals) {
    double share = rows / (rows + known), both = share * known;
    for (int64_t k = 0; k < n; k++) {
        double gap = (double)first[k] + (double)more[k] - means[k];
        means[k] += gap * share;
        totals[k] += (double)squares[k] + gap * gap * both;
    }
}

/* The means of parts of the batch, and the sums of squares around them. */
GW_VECTOR_MATH static void NAME(moments_of)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    for (int64_t task = begin; task < end; task++) {
        NAME(Part) p = NAME(part)(b, task);
        for (int64_t row = p.begin; row < p.end; row += ROWS) {
            int64_t rows = p.end - row < ROWS ? p.end - row : ROWS;
            double known = (double)(row - p.begin);
            for (int64_t c = 0; c < p.n; c += NAME(TILE)) {
                const REAL *x = (const REAL *)b->x + row * b->channels + p.c + c;
                REAL means[NAME(TILE)], squares[NAME(TILE)];
                if (p.n - c >= NAME(TILE)) {
                    NAME(take_tile)(x, b->channels, rows, means, squares);
                    NAME(join_rows)(x, means, squares, NAME(TILE), (double)rows, known,
                                    p.sums + c, p.others + c);
                } else {
                    NAME(take_some)(x, b->channels, rows, p.n - c, means, squares);
                    NAME(join_rows)(x, means, squares, p.n - c, (double)rows, known, p.sums + c,
                                    p.others + c);
                }
            }
        }
    }
}

GW_VECTOR_MATH static void NAME(slope_sums_of)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    for (int64_t task = begin; task < end; task++) {
        NAME(Part) p = NAME(part)(b, task);
        for (int64_t row = p.begin; row < p.end; row += ROWS) {
            int64_t rows = p.end - row < ROWS ? p.end - row : ROWS;
            for (int64_t c = 0; c < p.n; c += NAME(TILE)) {
                int64_t at = row * b->channels + p.c + c;
                int64_t n = p.n - c < NAME(TILE) ? p.n - c : NAME(TILE);
                const REAL *means = (const REAL *)b->mean + p.c + c;
                const REAL *x = (const REAL *)b->x + at, *g = (const REAL *)b->grad + at;
                REAL grads[NAME(TILE)], dots[NAME(TILE)], gaps[NAME(TILE)];
                if (n == NAME(TILE)) {
                    NAME(add_slope_tile)(g, x, b->channels, rows, means, grads, dots, gaps);
                } else {
                    NAME(add_some_slopes)(g, x, b->channels, rows, n, means, grads, dots, gaps);
                }
                for (int64_t k = 0; k < n; k++) {
                    p.sums[c + k] += (double)grads[k];
                    p.others[c + k] += (double)dots[k];
                    p.gaps[c + k] += (double)gaps[k];
                }
            }
        }
    }
}

/* Shifted sums lose what is infinite, and what their own precision does not hold: such a channel
 * is summed again as it is, first to its mean. */
static void NAME(sum_again)(const Channels *b, int64_t c) {
    const REAL *x = (const REAL *)b->x + c;
    double total = 0, squares = 0;
    for (int64_t row = 0; row < b->batch; row++) {
        total += (double)x[row * b->channels];
    }
    double mean = total / b->count;
    for (int64_t row = 0; row < b->batch && !isnan(mean); row++) {
        double value = (double)x[row * b->channels] - mean;
        squares += value * value;
    }
    b->sums[c] = mean;
    b->sums[b->channels + c] = isnan(mean) ? mean : squares;
}

/* by: means, scales and biases. */
static void NAME(settle_moments)(Channels *b) {
    REAL *means = b->by, *scales = means + b->channels, *biases = scales + b->channels;
    for (int64_t c = 0; c < b->channels; c++) {
        if (!isfinite(b->sums[c]) || !isfinite(b->sums[b->channels + c])) {
            NAME(sum_again)(b, c);
        }
        means[c] = (REAL)b->sums[c];
        scales[c] = NAME(settle)(b, c, b->sums[c], b->sums[b->channels + c] / b->count);
        biases[c] = b->bias == NULL ? 0 : ((const REAL *)b->bias)[c];
        biases[c] -= (REAL)(b->sums[c] - (double)means[c]) * scales[c];
    }
}

/* by: shifts, slopes and scales. */
static void NAME(settle_slopes)(Channels *b) {
    REAL *to = b->by;
    for (int64_t c = 0; c < b->channels; c++) {
        REAL by[4];
        const double *sums = b->sums + c;
        NAME(settle_slope)(b, c, sums[0], sums[b->channels], sums[2 * b->channels], by);
        for (int k = 1; k < 4; k++) {
            to[(k - 1) * b->channels + c] = by[k];
        }
    }
}

GW_VECTOR_MATH static void NAME(forward_columns)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    for (int64_t task = begin; task < end; task++) {
        NAME(Part) p = NAME(part)(b, task);
        const REAL *means = (const REAL *)b->by + p.c, *scales = means + b->channels;
        const REAL *biases = scales + b->channels;
        for (int64_t i = p.begin; i < p.end; i++) {
            const REAL *x = (const REAL *)b->x + i * b->channels + p.c;
            REAL *y = (REAL *)b->y + i * b->channels + p.c;
            GW_TOGETHER
            for (int64_t k = 0; k < p.n; k++) {
                y[k] = (x[k] - means[k]) * scales[k] + biases[k];
            }
        }
    }
}

GW_VECTOR_MATH static void NAME(backward_columns)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    for (int64_t task = begin; task < end; task++) {
        NAME(Part) p = NAME(part)(b, task);
        const REAL *means = (const REAL *)b->mean + p.c, *shifts = (const REAL *)b->by + p.c;
        const REAL *slopes = shifts + b->channels, *scales = slopes + b->channels;
        for (int64_t i = p.begin; i < p.end; i++) {
            int64_t at = i * b->channels + p.c;
            const REAL *x = (const REAL *)b->x + at, *g = (const REAL *)b->grad + at;
            REAL *y = (REAL *)b->y + at;
            GW_TOGETHER
            for (int64_t k = 0; k < p.n; k++) {
                y[k] = (g[k] - shifts[k] - (x[k] - means[k]) * slopes[k]) * scales[k];
            }
        }
    }
}

/* ---- given statistics: y = x scale + shift, rounded as its parts are ---- */

static void NAME(settle_affine)(const Channels *b, const void *variances) {
    REAL *scales = b->by, *shifts = scales + b->channels;
    for (int64_t c = 0; c < b->channels; c++) {
        REAL raised = ((const REAL *)variances)[c] + (REAL)b->eps;
        scales[c] = 1 / (REAL)sqrt((double)raised);
        scales[c] *= b->weight == NULL ? 1 : ((const REAL *)b->weight)[c];
        shifts[c] = b->bias == NULL ? 0 : ((const REAL *)b->bias)[c];
        shifts[c] -= ((const REAL *)b->mean)[c] * scales[c];
    }
}

/* Channels of samples [begin, end), whose elements lie together. */
GW_VECTORISED static void NAME(affine_lines)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    for (int64_t line = begin; line < end; line++) {
        REAL scale = ((const REAL *)b->by)[line % b->channels];
        REAL shift = ((const REAL *)b->by)[b->channels + line % b->channels];
        const REAL *x = (const REAL *)b->x + line * b->inner;
        REAL *y = (REAL *)b->y + line * b->inner;
        GW_TOGETHER
        for (int64_t i = 0; i < b->inner; i++) {
            y[i] = x[i] * scale + shift;
        }
    }
}

/* Rows [begin, end) of one element of each channel. */
GW_VECTORISED static void NAME(affine_columns)(void *closure, int64_t begin, int64_t end) {
    const Channels *b = closure;
    const REAL *scales = b->by, *shifts = scales + b->channels;
    for (int64_t row = begin; row < end; row++) {
        const REAL *x = (const REAL *)b->x + row * b->channels;
        REAL *y = (REAL *)b->y + row * b->channels;
        GW_TOGETHER
        for (int64_t k = 0; k < b->channels; k++) {
            y[k] = x[k] * scales[k] + shifts[k];
        }
    }
}
