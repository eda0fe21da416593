/* Attention of one element type. Included with REAL, EXP and NAME(x) defined. */

GW_INLINE REAL NAME(row_maximum)(const REAL *x, int64_t n) {
    REAL parts[16];
    for (int l = 0; l < 16; l++) {
        parts[l] = -(REAL)INFINITY;
    }
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        for (int l = 0; l < 16; l++) {
            parts[l] = x[i + l] > parts[l] ? x[i + l] : parts[l];
        }
    }
    REAL most = parts[0];
    for (int l = 1; l < 16; l++) {
        most = parts[l] > most ? parts[l] : most;
    }
    for (; i < n; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

/* x = exp(x - shift); returns the sum. */
GW_INLINE REAL NAME(row_exponentials)(REAL *x, REAL shift, int64_t n) {
    REAL parts[16] = {0};
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        for (int l = 0; l < 16; l++) {
            REAL e = EXP(x[i + l] - shift);
            x[i + l] = e;
            parts[l] += e;
        }
    }
    REAL sum = 0;
    for (int l = 0; l < 16; l++) {
        sum += parts[l];
    }
    for (; i < n; i++) {
        x[i] = EXP(x[i] - shift);
        sum += x[i];
    }
    return sum;
}

/* scores [rows, columns] + mask, with nothing right of the diagonal where causal. */
GW_VECTOR_MATH static void NAME(add_mask)(const Attention *a, const Head *h, int64_t first,
                                          int64_t rows, int64_t columns, REAL *scores) {
    for (int64_t i = 0; i < rows; i++) {
        REAL *x = scores + i * columns;
        if (h->mask != NULL) {
            const REAL *mask = (const REAL *)h->mask + (first + i) * a->mask.row;
            for (int64_t j = 0; j < columns; j++) {
                x[j] += mask[j];
            }
        }
        if (a->causal) {
            for (int64_t j = first + i + 1; j < columns; j++) {
                x[j] = -(REAL)INFINITY;
            }
        }
    }
}

/* scores = exp(scores - row maximum); writes for each row its maximum and 1 / sum. They are kept
 * apart: in maximum + log(sum) the sum would be lost where all scores are huge, as those of a row
 * masked by the lowest number are. Rows without a place to attend to get weights of 0. */
GW_VECTOR_MATH static void NAME(weigh)(REAL *scores, int64_t rows, int64_t columns,
                                       REAL *levels) {
    for (int64_t i = 0; i < rows; i++) {
        REAL *x = scores + i * columns;
        REAL most = NAME(row_maximum)(x, columns);
        bool dead = most == -(REAL)INFINITY;
        for (int64_t j = 0; dead && j < columns; j++) {
            dead = x[j] == most;
        }
        levels[2 * i] = dead ? 0 : most;
        REAL sum = NAME(row_exponentials)(x, levels[2 * i], columns);
        levels[2 * i + 1] = dead ? 0 : 1 / sum;
    }
}

GW_VECTOR_MATH static void NAME(scale_rows)(REAL *x, int64_t rows, int64_t columns,
                                            const REAL *levels) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            x[i * columns + j] *= levels[2 * i + 1];
        }
    }
}

/* The scores of rows [first, first + rows) against the first `columns` keys. */
static void NAME(score)(const Attention *a, const Head *h, const Panels *panels, int64_t first,
                        int64_t rows, int64_t columns, REAL *scores) {
    times_keys(a, h, panels, rows, columns, (const REAL *)h->query + first * a->query.row, scores);
    if (h->mask != NULL || a->causal) {
        NAME(add_mask)(a, h, first, rows, columns, scores);
    }
}

/* Blocks of rows: unit = head * blocks + block. */
static void NAME(forward)(void *closure, int64_t begin, int64_t end) {
    Attention *a = closure;
    size_t numbers = in_lines((size_t)(a->block * (a->columns + 2)) * sizeof(REAL)) / sizeof(REAL);
    REAL *scores = aligned_alloc(LINE, in_lines((numbers + panels_count(a)) * sizeof(REAL)));
    if (scores == NULL) {
        atomic_store(&a->failed, true);
        return;
    }
    Panels panels = panels_in(a, (void *)(scores + numbers));
    int64_t packed = -1;
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t index = unit / a->blocks, first = unit % a->blocks * a->block;
        int64_t rows = a->rows - first < a->block ? a->rows - first : a->block;
        int64_t columns = a->causal && first + rows < a->columns ? first + rows : a->columns;
        Head h = head(a, index);
        if (packed != index) {
            packed = index;
            pack_head(a, &h, &panels);
        }
        NAME(score)(a, &h, &panels, first, rows, columns, scores);
        REAL *levels = a->levels == NULL ? scores + a->block * a->columns
                       : (REAL *)a->levels + 2 * (index * a->rows + first);
        NAME(weigh)(scores, rows, columns, levels);
        REAL *out = (REAL *)a->out + (index * a->rows + first) * a->value_size;
        times_values(a, &h, &panels, rows, columns, scores, out);
        NAME(scale_rows)(out, rows, a->value_size, levels);
    }
    free(scores);
}

/* scores become the weights, slopes (the gradient of the weights) that of the scores. */
GW_VECTOR_MATH static void NAME(slope)(const Attention *a, int64_t index, int64_t first,
                                       int64_t rows, int64_t columns, const REAL *weights,
                                       REAL *slopes) {
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = (index * a->rows + first + i) * a->value_size;
        const REAL *grad = (const REAL *)a->grad + row, *out = (const REAL *)a->out + row;
        REAL total = 0;
        for (int64_t j = 0; j < a->value_size; j++) {
            total += grad[j] * out[j];
        }
        for (int64_t j = 0; j < columns; j++) {
            int64_t at = i * columns + j;
            slopes[at] = weights[at] * (slopes[at] - total) * (REAL)a->scale;
        }
    }
}

GW_VECTOR_MATH static void NAME(weights_again)(const REAL *levels, int64_t rows, int64_t columns,
                                               REAL *scores) {
    for (int64_t i = 0; i < rows; i++) {
        REAL most = levels[2 * i], inverse = levels[2 * i + 1];
        for (int64_t j = 0; j < columns; j++) {
            scores[i * columns + j] = EXP(scores[i * columns + j] - most) * inverse;
        }
    }
}

/* One head after the other: all gradients of a head are its own. */
static void NAME(backward)(void *closure, int64_t begin, int64_t end) {
    Attention *a = closure;
    int64_t most = a->block * a->columns;
    REAL *weights = malloc((size_t)(2 * most) * sizeof(REAL));
    if (weights == NULL) {
        atomic_store(&a->failed, true);
        return;
    }
    REAL *slopes = weights + most;
    for (int64_t index = begin; index < end; index++) {
        Head h = head(a, index);
        REAL *to_query = (REAL *)a->to_query + index * a->rows * a->size;
        REAL *to_key = (REAL *)a->to_key + index * a->columns * a->size;
        REAL *to_value = (REAL *)a->to_value + index * a->columns * a->value_size;
        memset(to_key, 0, (size_t)(a->columns * a->size) * sizeof(REAL));
        memset(to_value, 0, (size_t)(a->columns * a->value_size) * sizeof(REAL));
        for (int64_t first = 0; first < a->rows; first += a->block) {
            int64_t rows = a->rows - first < a->block ? a->rows - first : a->block;
            int64_t columns = a->causal && first + rows < a->columns ? first + rows : a->columns;
            const REAL *grad = (const REAL *)a->grad + (index * a->rows + first) * a->value_size;
            NAME(score)(a, &h, &(Panels){0}, first, rows, columns, weights);
            NAME(weights_again)((const REAL *)a->levels + 2 * (index * a->rows + first), rows,
                                columns, weights);
            gw_gemm(&a->ctx, a->code, 1, 0, columns, a->value_size, rows, 1, weights, columns, 0,
                    grad, a->value_size, 0, 1, to_value, a->value_size, 0, 1);
            gw_gemm(&a->ctx, a->code, 0, 1, rows, columns, a->value_size, 1, grad, a->value_size,
                    0, h.value, a->value.row, 0, 0, slopes, columns, 0, 1);
            NAME(slope)(a, index, first, rows, columns, weights, slopes);
            gw_gemm(&a->ctx, a->code, 0, 0, rows, a->size, columns, 1, slopes, columns, 0, h.key,
                    a->key.row, 0, 0, to_query + first * a->size, a->size, 0, 1);
            gw_gemm(&a->ctx, a->code, 1, 0, columns, a->size, rows, 1, slopes, columns, 0,
                    (const REAL *)h.query + first * a->query.row, a->query.row, 0, 1, to_key,
                    a->size, 0, 1);
        }
    }
    free(weights);
}
