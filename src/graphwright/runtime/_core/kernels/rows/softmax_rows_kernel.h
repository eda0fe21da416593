/* Softmax and layer norm of rows of one element type. Included with REAL, EXP, LOG, SQRT and
 * NAME(x) defined, after sums_kernel.h. Sums and maxima are kept in LANES parts, so that the loops
 * vectorise. */

enum { NAME(LANES) = 64 / (int)sizeof(REAL) };

GW_INLINE REAL NAME(largest)(const REAL *x, int64_t n) {
    REAL parts[NAME(LANES)];
    for (int l = 0; l < (int)NAME(LANES); l++) {
        parts[l] = -(REAL)INFINITY;
    }
    int64_t i = 0;
    for (; i + (int)NAME(LANES) <= n; i += NAME(LANES)) {
        for (int l = 0; l < (int)NAME(LANES); l++) {
            parts[l] = x[i + l] > parts[l] ? x[i + l] : parts[l];
        }
    }
    REAL most = parts[0];
    for (int l = 1; l < (int)NAME(LANES); l++) {
        most = parts[l] > most ? parts[l] : most;
    }
    for (; i < n; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

GW_INLINE double NAME(folded)(REAL *parts) {
    for (int half = NAME(LANES) / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; l++) {
            parts[l] += parts[l + half];
        }
    }
    return (double)parts[0];
}

/* A function whose `parts` take TERM(i) for all i < n, and which returns their sum: that of pieces,
 * in double. */
#define SUM_OF(name, parameters, TERM)                                                  \
    GW_INLINE REAL NAME(name) parameters {                                              \
        double total = 0;                                                               \
        for (int64_t begin = 0; begin < n; begin += ROW_PIECE) {                        \
            REAL parts[NAME(LANES)] = {0};                                              \
            int64_t left = n - begin, count = left < ROW_PIECE ? left : ROW_PIECE;      \
            int64_t end = begin + count, whole = end - count % (int)NAME(LANES);        \
            for (int64_t i = begin; i < whole; i += NAME(LANES)) {                      \
                for (int l = 0; l < (int)NAME(LANES); l++) {                            \
                    parts[l] += TERM(i + l);                                            \
                }                                                                       \
            }                                                                           \
            REAL rest = 0;                                                              \
            for (int64_t i = whole; i < end; i++) {                                     \
                rest += TERM(i);                                                        \
            }                                                                           \
            total += NAME(folded)(parts) + (double)rest;                                \
        }                                                                               \
        return (REAL)total;                                                             \
    }
#define ELEMENT(i) x[i]
#define PRODUCT(i) x[i] * y[i]
#define EXPONENTIAL(i) EXP(x[i] - shift)
#define KEPT_EXPONENTIAL(i) (y[i] = EXP(x[i] - shift))

SUM_OF(sum, (const REAL *x, int64_t n), ELEMENT)
SUM_OF(product, (const REAL *x, const REAL *y, int64_t n), PRODUCT)
SUM_OF(exponentials, (const REAL *x, REAL shift, REAL *y, int64_t n), KEPT_EXPONENTIAL)
SUM_OF(sum_of_exponentials, (const REAL *x, REAL shift, int64_t n), EXPONENTIAL)

#undef SUM_OF
#undef ELEMENT
#undef PRODUCT
#undef EXPONENTIAL
#undef KEPT_EXPONENTIAL

GW_VECTOR_MATH static void NAME(softmax)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    for (int64_t row = begin; row < end; row++) {
        const REAL *x = (const REAL *)r->inputs[0] + row * r->n;
        REAL *y = (REAL *)r->out + row * r->n;
        REAL sum = NAME(exponentials)(x, NAME(largest)(x, r->n), y, r->n), scale = 1 / sum;
        for (int64_t i = 0; i < r->n; i++) {
            y[i] *= scale;
        }
    }
}

GW_VECTOR_MATH static void NAME(log_softmax)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    for (int64_t row = begin; row < end; row++) {
        const REAL *x = (const REAL *)r->inputs[0] + row * r->n;
        REAL *y = (REAL *)r->out + row * r->n;
        REAL most = NAME(largest)(x, r->n);
        REAL rest = LOG(NAME(sum_of_exponentials)(x, most, r->n));
        for (int64_t i = 0; i < r->n; i++) {
            y[i] = (x[i] - most) - rest;
        }
    }
}

/* inputs: gradient, result. */
GW_VECTOR_MATH static void NAME(softmax_backward)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    for (int64_t row = begin; row < end; row++) {
        const REAL *g = (const REAL *)r->inputs[0] + row * r->n;
        const REAL *y = (const REAL *)r->inputs[1] + row * r->n;
        REAL *out = (REAL *)r->out + row * r->n;
        REAL total = NAME(product)(g, y, r->n);
        for (int64_t i = 0; i < r->n; i++) {
            out[i] = (g[i] - total) * y[i];
        }
    }
}

GW_VECTOR_MATH static void NAME(log_softmax_backward)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    for (int64_t row = begin; row < end; row++) {
        const REAL *g = (const REAL *)r->inputs[0] + row * r->n;
        const REAL *y = (const REAL *)r->inputs[1] + row * r->n;
        REAL *out = (REAL *)r->out + row * r->n;
        REAL total = NAME(sum)(g, r->n);
        for (int64_t i = 0; i < r->n; i++) {
            out[i] = g[i] - EXP(y[i]) * total;
        }
    }
}

/* inputs: x, weight or NULL, bias or NULL; mean and rstd [rows], where there are, are written. */
GW_VECTOR_MATH static void NAME(layer_norm)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    const REAL *w = r->inputs[1], *b = r->inputs[2];
    int64_t n = r->n;
    for (int64_t row = begin; row < end; row++) {
        const REAL *x = (const REAL *)r->inputs[0] + row * n;
        REAL *y = (REAL *)r->out + row * n;
        double lacks, variance;
        REAL mean = NAME(line_moments)(x, n, &lacks, &variance);
        REAL rstd = 1 / SQRT((REAL)variance + (REAL)r->eps), low = (REAL)lacks * rstd;
        if (r->mean != NULL) {
            ((REAL *)r->mean)[row] = mean;
            ((REAL *)r->rstd)[row] = rstd;
        }
        if (w != NULL && b != NULL) {
            for (int64_t i = 0; i < n; i++) {
                y[i] = ((x[i] - mean) * rstd - low) * w[i] + b[i];
            }
            continue;
        }
        if (w == NULL && b == NULL) {
            for (int64_t i = 0; i < n; i++) {
                y[i] = (x[i] - mean) * rstd - low + 0;
            }
            continue;
        }
        for (int64_t i = 0; i < n; i++) {
            REAL scale = w != NULL ? w[i] : 1;
            y[i] = ((x[i] - mean) * rstd - low) * scale + (b != NULL ? b[i] : 0);
        }
    }
}

/* inputs: x, weight or NULL. */
GW_VECTOR_MATH static void NAME(rms_norm)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    const REAL *w = r->inputs[1];
    const double zero = 0;
    for (int64_t row = begin; row < end; row++) {
        const REAL *x = (const REAL *)r->inputs[0] + row * r->n;
        REAL *y = (REAL *)r->out + row * r->n;
        double square = NAME(sum_line)(x, r->n, &zero) / (double)r->n;
        REAL scale = (REAL)(1 / sqrt(square + r->eps));
        for (int64_t i = 0; i < r->n; i++) {
            y[i] = x[i] * scale * (w != NULL ? w[i] : 1);
        }
    }
}

/* inputs: x, weight or NULL, bias or NULL [groups, channels]; rows are [images, groups]. */
GW_VECTOR_MATH static void NAME(group_norm)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    const REAL *w = r->inputs[1], *b = r->inputs[2];
    for (int64_t row = begin; row < end; row++) {
        const REAL *x = (const REAL *)r->inputs[0] + row * r->n;
        REAL *y = (REAL *)r->out + row * r->n;
        double lacks, variance;
        REAL mean = NAME(line_moments)(x, r->n, &lacks, &variance);
        REAL rstd = 1 / SQRT((REAL)variance + (REAL)r->eps);
        int64_t channel = row % r->groups * r->channels;
        for (int64_t c = 0; c < r->channels; c++, channel++, x += r->inner, y += r->inner) {
            REAL scale = w != NULL ? rstd * w[channel] : rstd;
            REAL shift = (b != NULL ? b[channel] : 0) - (REAL)lacks * scale;
            for (int64_t i = 0; i < r->inner; i++) {
                y[i] = (x[i] - mean) * scale + shift;
            }
        }
    }
}
