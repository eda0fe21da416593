/* The products of one element type and vector width. Included with REAL, NAME(x), BYTES (of a vector:
 * no more than registers have), DOT_ROWS, STREAM_ROWS, STREAM_WIDTH (see add_rows) and KERNEL (the
 * attribute that selects instructions) defined; the small loops have constant bounds, so that the
 * accumulators stay in registers. */

enum { NAME(LANES) = BYTES / sizeof(REAL) };
typedef REAL NAME(Vector) __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));
typedef REAL NAME(Quarter) __attribute__((vector_size(16), aligned(sizeof(REAL)), may_alias));

static inline __attribute__((always_inline)) REAL NAME(total)(const NAME(Vector) *v) {
    const NAME(Quarter) *quarters = (const NAME(Quarter) *)v;
    NAME(Quarter) sums = quarters[0] + quarters[1];
    for (int i = 2; i < BYTES / 16; i += 2) {
        sums += quarters[i] + quarters[i + 1];
    }
    REAL sum = sums[0] + sums[1];
    for (int lane = 2; lane < (int)(16 / sizeof(REAL)); lane += 2) {
        sum += sums[lane] + sums[lane + 1];
    }
    return sum;
}

/* acc[rows, 2 vectors] = sum over p of a[p * step + i * stride] * b[p * ldb + 0..2 vectors). */
static inline __attribute__((always_inline)) void
NAME(tile)(int rows, int64_t k, const REAL *a, int64_t stride, int64_t step, const REAL *b,
           int64_t ldb, REAL *acc) {
    NAME(Vector) sums[TILE_ROWS][2];
    for (int i = 0; i < rows; i++) {
        sums[i][0] = (NAME(Vector)){0};
        sums[i][1] = (NAME(Vector)){0};
    }
    for (int64_t p = 0; p < k; p++) {
        const REAL *row = b + p * ldb;
        NAME(Vector) low = *(const NAME(Vector) *)row;
        NAME(Vector) high = *(const NAME(Vector) *)(row + NAME(LANES));
        for (int i = 0; i < rows; i++) {
            REAL factor = a[i * stride + p * step];
            sums[i][0] += factor * low;
            sums[i][1] += factor * high;
        }
    }
    for (int i = 0; i < rows; i++) {
        *(NAME(Vector) *)(acc + i * 2 * NAME(LANES)) = sums[i][0];
        *(NAME(Vector) *)(acc + i * 2 * NAME(LANES) + NAME(LANES)) = sums[i][1];
    }
}

/* acc[rows, 4] = the products of `rows` rows of a and 4 rows of b, all contiguous in k. */
static inline __attribute__((always_inline)) void
NAME(dots)(int rows, int64_t k, const REAL *a, int64_t lda, const REAL *b, int64_t ldb,
           REAL *acc) {
    NAME(Vector) sums[MAX_DOT_ROWS][4];
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < 4; j++) {
            sums[i][j] = (NAME(Vector)){0};
        }
    }
    int64_t p = 0;
    for (; p + NAME(LANES) <= k; p += NAME(LANES)) {
        NAME(Vector) columns[4];
        for (int j = 0; j < 4; j++) {
            columns[j] = *(const NAME(Vector) *)(b + j * ldb + p);
        }
        for (int i = 0; i < rows; i++) {
            NAME(Vector) row = *(const NAME(Vector) *)(a + i * lda + p);
            for (int j = 0; j < 4; j++) {
                sums[i][j] += row * columns[j];
            }
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < 4; j++) {
            REAL sum = NAME(total)(&sums[i][j]);
            for (int64_t q = p; q < k; q++) {
                sum += a[i * lda + q] * b[j * ldb + q];
            }
            acc[i * 4 + j] = sum;
        }
    }
}

/* c[rows, cols] = alpha * acc + beta * c, acc having `width` columns. */
static inline __attribute__((always_inline)) void
NAME(store)(const REAL *acc, int width, int64_t rows, int64_t cols, REAL alpha, REAL beta,
            REAL *c, int64_t ldc) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            REAL old = beta == 0 ? 0 : beta * c[i * ldc + j];
            c[i * ldc + j] = alpha * acc[i * width + j] + old;
        }
    }
}

#define UP_TO_4(call)               \
    switch (rows) {                 \
        case 1: call(1); break;     \
        case 2: call(2); break;     \
        case 3: call(3); break;     \
        default: call(4); break;    \
    }
#define UP_TO_6(call)               \
    switch (rows) {                 \
        case 5: call(5); break;     \
        case 6: call(6); break;     \
        default: UP_TO_4(call)      \
    }

/* Columns [begin, end) of a small-m product whose b is [n, k]. begin is a multiple of 4. */
KERNEL static void NAME(thin_dots)(void *closure, int64_t begin, int64_t end) {
    const Product *p = closure;
    const REAL *a = p->a, *b = p->b;
    REAL *c = p->c, acc[MAX_DOT_ROWS * 4];
    int64_t passes = (p->m + DOT_ROWS - 1) / DOT_ROWS, height = (p->m + passes - 1) / passes;
    for (int64_t j = begin; j < end; j += 4) {
        int64_t cols = end - j < 4 ? end - j : 4;
        int64_t ldb = cols == 4 ? p->ldb : 0;   /* at the edge: one column at a time */
        for (int64_t col = 0; col < (cols == 4 ? 1 : cols); col++) {
            for (int64_t i = 0; i < p->m; i += height) {
                int64_t rows = p->m - i < height ? p->m - i : height;
#define DOTS(r) NAME(dots)(r, p->k, a + i * p->lda, p->lda, b + (j + col) * p->ldb, ldb, acc)
                UP_TO_4(DOTS)
#undef DOTS
                NAME(store)(acc, 4, rows, cols == 4 ? 4 : 1, (REAL)p->alpha, (REAL)p->beta,
                            c + i * p->ldc + j + col, p->ldc);
            }
        }
    }
}

/* Adds STREAM_ROWS rows of b, scaled, to each row of c, STREAM_WIDTH vectors of columns at a time;
 * `first`: c is beta * c before. */
static inline __attribute__((always_inline)) void
NAME(add_rows)(const Product *p, const REAL *factors, const int count, const REAL *b, bool first,
               int64_t begin, int64_t end) {
    const int64_t width = STREAM_WIDTH * NAME(LANES);
    int64_t j = begin;
    REAL *c = p->c, beta = first ? (REAL)p->beta : 1;
    for (; j + width <= end; j += width) {
        NAME(Vector) rows[STREAM_ROWS][STREAM_WIDTH];
        for (int q = 0; q < count; q++) {
            for (int v = 0; v < STREAM_WIDTH; v++) {
                rows[q][v] = *(const NAME(Vector) *)(b + q * p->ldb + j + v * NAME(LANES));
            }
        }
        for (int64_t i = 0; i < p->m; i++) {
            NAME(Vector) *at = (NAME(Vector) *)(c + i * p->ldc + j), sums[STREAM_WIDTH];
            for (int v = 0; v < STREAM_WIDTH; v++) {
                sums[v] = (NAME(Vector)){0};
                if (beta != 0) {
                    sums[v] = beta * at[v];
                }
            }
            for (int q = 0; q < count; q++) {
                REAL factor = factors[i * STREAM_ROWS + q];
                for (int v = 0; v < STREAM_WIDTH; v++) {
                    sums[v] += factor * rows[q][v];
                }
            }
            for (int v = 0; v < STREAM_WIDTH; v++) {
                at[v] = sums[v];
            }
        }
    }
    for (; j < end; j++) {
        for (int64_t i = 0; i < p->m; i++) {
            REAL sum = beta == 0 ? 0 : beta * c[i * p->ldc + j];
            for (int q = 0; q < count; q++) {
                sum += factors[i * STREAM_ROWS + q] * b[q * p->ldb + j];
            }
            c[i * p->ldc + j] = sum;
        }
    }
}

/* Columns [begin, end) of a small-m product whose b is [k, n]: b is read once, in row order. */
KERNEL static void NAME(thin_stream)(void *closure, int64_t begin, int64_t end) {
    const Product *p = closure;
    int64_t stride = p->transa ? 1 : p->lda, step = p->transa ? p->lda : 1;
    for (int64_t q = 0; q < p->k; q += STREAM_ROWS) {
        int64_t count = p->k - q < STREAM_ROWS ? p->k - q : STREAM_ROWS;
        REAL factors[THIN_ROWS * STREAM_ROWS];
        for (int64_t i = 0; i < p->m; i++) {
            for (int64_t r = 0; r < count; r++) {
                factors[i * STREAM_ROWS + r] =
                    (REAL)p->alpha * ((const REAL *)p->a)[i * stride + (q + r) * step];
            }
        }
        const REAL *b = (const REAL *)p->b + q * p->ldb;
        if (count == STREAM_ROWS) {
            NAME(add_rows)(p, factors, STREAM_ROWS, b, q == 0, begin, end);
        } else {
            for (int64_t r = 0; r < count; r++) {
                NAME(add_rows)(p, factors + r, 1, b + r * p->ldb, q + r == 0, begin, end);
            }
        }
    }
}

/* A panel of op(b): k rows of `cols` columns from column j, padded with zeros to two vectors. */
static inline __attribute__((always_inline)) void
NAME(pack)(const Product *p, int64_t j, int64_t cols, int64_t first, int64_t k, REAL *panel) {
    const int width = 2 * NAME(LANES);
    const REAL *b = p->b;
    if (!p->transb) {
        for (int64_t q = 0; q < k; q++) {
            for (int64_t col = 0; col < width; col++) {
                panel[q * width + col] = col < cols ? b[(first + q) * p->ldb + j + col] : 0;
            }
        }
        return;
    }
    for (int64_t start = 0; start < k; start += PACKED) {     /* a cache line of each column */
        int64_t end = k - start < PACKED ? k : start + PACKED;
        for (int64_t col = 0; col < width; col++) {
            const REAL *column = col < cols ? b + (j + col) * p->ldb + first : NULL;
            for (int64_t q = start; q < end; q++) {
                panel[q * width + col] = column == NULL ? 0 : column[q];
            }
        }
    }
}

/* Columns [begin, end) of any product: panels of op(b), tiles of c, in blocks of k. */
KERNEL static void NAME(panels)(void *closure, int64_t begin, int64_t end) {
    const Product *p = closure;
    const int width = 2 * NAME(LANES);
    REAL panel[K_BLOCK * 2 * NAME(LANES)] __attribute__((aligned(64)));
    REAL acc[TILE_ROWS * 2 * NAME(LANES)] __attribute__((aligned(64)));
    int64_t stride = p->transa ? 1 : p->lda, step = p->transa ? p->lda : 1;
    for (int64_t j = begin; j < end; j += width) {
        int64_t cols = end - j < width ? end - j : width;
        for (int64_t first = 0; first < p->k; first += K_BLOCK) {
            int64_t k = p->k - first < K_BLOCK ? p->k - first : K_BLOCK;
            NAME(pack)(p, j, cols, first, k, panel);
            REAL beta = first == 0 ? (REAL)p->beta : 1;
            for (int64_t i = 0; i < p->m; i += TILE_ROWS) {
                int64_t rows = p->m - i < TILE_ROWS ? p->m - i : TILE_ROWS;
                const REAL *a = (const REAL *)p->a + i * stride + first * step;
#define TILE(r) NAME(tile)(r, k, a, stride, step, panel, width, acc)
                UP_TO_6(TILE)
#undef TILE
                NAME(store)(acc, width, rows, cols, (REAL)p->alpha, beta,
                            (REAL *)p->c + i * p->ldc + j, p->ldc);
            }
        }
    }
}

/* Rows [begin, end) of a product of one column and one row, whose numbers lie side by side. */
KERNEL static void NAME(outer)(void *closure, int64_t begin, int64_t end) {
    const Product *p = closure;
    const REAL *a = p->a, *b = p->b;
    int64_t step = p->transa ? 1 : p->lda;
    REAL beta = (REAL)p->beta;
    for (int64_t i = begin; i < end; i++) {
        REAL factor = (REAL)p->alpha * a[i * step], *c = (REAL *)p->c + i * p->ldc;
        int64_t j = 0;
        for (; j + NAME(LANES) <= p->n; j += NAME(LANES)) {
            NAME(Vector) *at = (NAME(Vector) *)(c + j), old = {0};
            if (beta != 0) {
                old = beta * *at;
            }
            *at = factor * *(const NAME(Vector) *)(b + j) + old;
        }
        for (; j < p->n; j++) {
            c[j] = factor * b[j] + (beta == 0 ? 0 : beta * c[j]);
        }
    }
}

static const Kernels NAME(kernels) = {NAME(thin_dots), NAME(thin_stream), NAME(panels),
                                      NAME(outer)};

#undef UP_TO_4
#undef UP_TO_6
#undef REAL
#undef NAME
#undef BYTES
#undef DOT_ROWS
#undef STREAM_ROWS
#undef STREAM_WIDTH
#undef KERNEL
