/* Gradients of layer norm and group norm of one element type. Included with REAL, SQRT and NAME(x)
 * defined, after sums_kernel.h. */

/* out = (g w - shift - (x - mean) slope) scale, where w may be NULL. */
GW_INLINE void NAME(slope_row)(const REAL *g, const REAL *x, const REAL *w, REAL *out, int64_t n,
                               const REAL by[4]) {
    REAL mean = by[0], shift = by[1], slope = by[2], scale = by[3];
    GW_TOGETHER
    for (int64_t i = 0; i < n; i++) {
        REAL grad = w != NULL ? g[i] * w[i] : g[i];
        out[i] = (grad - shift - (x[i] - mean) * slope) * scale;
    }
}

/* What slope_row needs for a row of a layer norm; what the mean lacks. */
GW_INLINE REAL NAME(settle_row)(const Rows *r, int64_t row, const REAL *g, const REAL *x,
                                REAL by[4]) {
    REAL mean = ((const REAL *)r->mean)[row], rstd = ((const REAL *)r->rstd)[row];
    double sums[3];
    NAME(slope_sums)(g, x, r->inputs[2], r->n, mean, sums);
    double shift = sums[0] / (double)r->n, lacks = sums[2] / (double)r->n;
    by[0] = mean;
    by[2] = (REAL)(sums[1] / (double)r->n - lacks * shift) * rstd * rstd;
    by[1] = (REAL)(shift - lacks * (double)by[2]);
    by[3] = rstd;
    return (REAL)lacks;
}

/* inputs: gradient, x, weight or NULL; mean and rstd are read. */
GW_VECTOR_MATH static void NAME(layer_norm_backward)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    for (int64_t row = begin; row < end; row++) {
        const REAL *g = (const REAL *)r->inputs[0] + row * r->n;
        const REAL *x = (const REAL *)r->inputs[1] + row * r->n;
        REAL by[4];
        NAME(settle_row)(r, row, g, x, by);
        NAME(slope_row)(g, x, r->inputs[2], (REAL *)r->out + row * r->n, r->n, by);
    }
}

/* The same for blocks of rows, and what each adds to the gradients of weight and bias. */
GW_VECTOR_MATH static void NAME(layer_norm_block)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    int64_t n = r->n;
    for (int64_t block = begin; block < end; block++) {
        REAL *to_weight = (REAL *)r->parts + block * 2 * n, *to_bias = to_weight + n;
        int64_t first = block * r->each, last = first + r->each < r->rows ? first + r->each : r->rows;
        memset(to_weight, 0, (size_t)n * 2 * sizeof(REAL));
        for (int64_t row = first; row < last; row++) {
            const REAL *g = (const REAL *)r->inputs[0] + row * n;
            const REAL *x = (const REAL *)r->inputs[1] + row * n;
            REAL by[4];
            REAL lacks = NAME(settle_row)(r, row, g, x, by), mean = by[0], rstd = by[3];
            GW_TOGETHER
            for (int64_t i = 0; i < n; i++) {
                to_weight[i] += g[i] * (x[i] - mean - lacks) * rstd;
                to_bias[i] += g[i];
            }
            NAME(slope_row)(g, x, r->inputs[2], (REAL *)r->out + row * n, n, by);
        }
    }
}

/* inputs: gradient, x, weight or NULL [groups, channels]; rows are [images, groups], and each
 * image adds a block to the gradients of weight and bias. */
GW_VECTOR_MATH static void NAME(group_norm_backward)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    int64_t affine = r->groups * r->channels;
    for (int64_t row = begin; row < end; row++) {
        const REAL *g = (const REAL *)r->inputs[0] + row * r->n;
        const REAL *x = (const REAL *)r->inputs[1] + row * r->n;
        REAL *out = (REAL *)r->out + row * r->n;
        int64_t first = row % r->groups * r->channels;
        REAL *to_weight = (REAL *)r->parts + row / r->groups * 2 * affine + first;
        const REAL *w = r->inputs[2] != NULL ? (const REAL *)r->inputs[2] + first : NULL;
        double lacks, variance, shift = 0, slope = 0, sums[3];
        REAL mean = NAME(line_moments)(x, r->n, &lacks, &variance);
        REAL rstd = 1 / SQRT((REAL)variance + (REAL)r->eps);
        for (int64_t c = 0; c < r->channels; c++) {
            NAME(slope_sums)(g + c * r->inner, x + c * r->inner, NULL, r->inner, mean, sums);
            sums[1] -= lacks * sums[0];
            to_weight[c] = (REAL)sums[1] * rstd;
            to_weight[c + affine] = (REAL)sums[0];
            shift += (w != NULL ? (double)w[c] : 1) * sums[0];
            slope += (w != NULL ? (double)w[c] : 1) * sums[1];
        }
        shift /= (double)r->n;
        slope *= (double)rstd * (double)rstd / (double)r->n;
        shift -= lacks * slope;
        for (int64_t c = 0; c < r->channels; c++, g += r->inner, x += r->inner, out += r->inner) {
            REAL weight = w != NULL ? w[c] : 1;
            GW_TOGETHER
            for (int64_t i = 0; i < r->inner; i++) {
                out[i] = (g[i] * weight - (REAL)shift - (x[i] - mean) * (REAL)slope) * rstd;
            }
        }
    }
}

/* The sums over blocks; tasks are COLUMNS elements of the weight and of the bias. */
GW_VECTOR_MATH static void NAME(fold_blocks)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    int64_t affine = r->affine;
    for (int64_t task = begin; task < end; task++) {
        int64_t at = task * COLUMNS, n = 2 * affine - at < COLUMNS ? 2 * affine - at : COLUMNS;
        double totals[COLUMNS] = {0};
        for (int64_t block = 0; block < r->blocks; block++) {
            const REAL *part = (const REAL *)r->parts + block * 2 * affine + at;
            for (int64_t i = 0; i < n; i++) {
                totals[i] += (double)part[i];
            }
        }
        for (int64_t i = 0; i < n; i++) {
            bool bias = at + i >= affine;
            ((REAL *)(bias ? r->to_bias : r->to_weight))[at + i - (bias ? affine : 0)] =
                (REAL)totals[i];
        }
    }
}
