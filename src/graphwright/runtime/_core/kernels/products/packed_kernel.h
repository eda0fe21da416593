/* Packing, and products of packed factors, in one vector width. Included with NAME(x), BYTES (of a
 * vector) and KERNEL (the attribute that selects instructions) defined. */

enum { NAME(LANES) = BYTES / sizeof(float), NAME(WIDTH) = 2 * NAME(LANES) };
typedef float NAME(Vector) __attribute__((vector_size(BYTES), aligned(sizeof(float)), may_alias));

/* Panels [begin, end). */
KERNEL static void NAME(pack)(void *closure, int64_t begin, int64_t end) {
    const Packing *p = closure;
    const GwFactorForm *f = p->form;
    int64_t per_group = (f->n + NAME(WIDTH) - 1) / NAME(WIDTH), depth = f->k / f->taps;
    for (int64_t panel = begin; panel < end; panel++) {
        float *to = p->panels + panel * NAME(WIDTH) * f->k;
        int64_t first = panel % per_group * NAME(WIDTH), left = f->n - first;
        int64_t columns = left < NAME(WIDTH) ? left : NAME(WIDTH);
        int64_t row = f->transposed ? 1 : f->ld, column = f->transposed ? f->ld : 1;
        const float *from = p->b + panel / per_group * f->n * f->ld + first * column;
        if (columns < NAME(WIDTH)) {
            memset(to, 0, (size_t)(NAME(WIDTH) * f->k) * sizeof *to);
        }
        for (int64_t start = 0; start < depth; start += LINE) {  /* a cache line of each column */
            int64_t stop = depth - start < LINE ? depth : start + LINE;
            for (int64_t tap = 0; tap < f->taps; tap++) {
                float *rows = to + tap * depth * NAME(WIDTH);
                for (int64_t j = 0; j < columns; j++) {
                    const float *at = from + j * column + tap * row;
                    for (int64_t q = start; q < stop; q++) {
                        rows[q * NAME(WIDTH) + j] = at[q * f->taps * row];
                    }
                }
            }
        }
    }
}

/* c[rows, panels * WIDTH], or its first `columns`, = alpha * a @ b + beta * c over k rows of panels
 * that lie `apart`. */
static inline __attribute__((always_inline)) void
NAME(tile)(const GwPackedProduct *p, const int rows, const int panels, int64_t k, const float *a,
           const float *b, int64_t apart, float beta, float *c, int64_t columns) {
    _Alignas(BYTES) NAME(Vector) totals[MOST_SUMS][2];
    NAME(Vector) sums[MOST_SUMS][2];
    const float *lines[ROWS];
    for (int i = 0; i < rows; i++) {
        lines[i] = a + i * p->lda;
    }
    int64_t first = 0;
    do {        /* a run */
        int64_t end = k - first < RUN ? k : first + RUN;
        for (int i = 0; i < rows * panels; i++) {
            sums[i][0] = sums[i][1] = (NAME(Vector)){0};
        }
        for (int64_t q = first; q < end; q++, b += NAME(WIDTH)) {
            for (int panel = 0; panel < panels; panel++) {
                const float *at = b + panel * apart;
                if (rows > 2) {     /* one or two panels are one stream, which stops at each page */
                    __builtin_prefetch(at + AHEAD);
                }
                NAME(Vector) low = *(const NAME(Vector) *)at;
                NAME(Vector) high = *(const NAME(Vector) *)(at + NAME(LANES));
                for (int i = 0; i < rows; i++) {
                    float factor = lines[i][q];
                    sums[panel * rows + i][0] += factor * low;
                    sums[panel * rows + i][1] += factor * high;
                }
            }
        }
        for (int i = 0; i < rows * panels; i++) {
            for (int v = 0; v < 2; v++) {
                if (first > 0) {
                    sums[i][v] += totals[i][v];
                }
                totals[i][v] = sums[i][v];
            }
        }
        IN_MEMORY(totals);
        first += RUN;
    } while (first < k);
    for (int i = 0; i < rows * panels; i++) {
        float *row = c + i % rows * p->ldc + i / rows * NAME(WIDTH);
        int64_t left = columns - i / rows * NAME(WIDTH);
        if (left >= NAME(WIDTH)) {
            for (int v = 0; v < 2; v++) {
                NAME(Vector) *to = (NAME(Vector) *)(row + v * NAME(LANES)), old = {0};
                if (beta != 0) {
                    old = beta * *to;
                }
                *to = p->alpha * totals[i][v] + old;
            }
        } else {
            for (int64_t j = 0; j < left; j++) {
                float sum = totals[i][j / NAME(LANES)][j % NAME(LANES)];
                row[j] = p->alpha * sum + (beta == 0 ? 0 : beta * row[j]);
            }
        }
    }
}

/* Functions of their own, for the compiler to keep all sums in registers. */
#define TILE(rows, panels)                                                                         \
    KERNEL __attribute__((noinline)) static void NAME(tile_##rows##_##panels)(                     \
        const GwPackedProduct *p, int64_t k, const float *a, const float *b, int64_t apart,        \
        float beta, float *c, int64_t columns) {                                                   \
        NAME(tile)(p, rows, panels, k, a, b, apart, beta, c, columns);                             \
    }
TILE(1, 1)
TILE(1, 4)
TILE(2, 1)
TILE(2, 2)
TILE(3, 1)
TILE(3, 2)
TILE(4, 1)
TILE(5, 1)
TILE(6, 1)
#undef TILE

/* Few rows: enough panels at a time for as many sums as hide how long one addition takes. */
static inline __attribute__((always_inline)) void
NAME(few_rows)(const GwPackedProduct *p, int64_t rows, int64_t k, const float *a, const float *b,
               float beta, float *c, int64_t columns) {
    int64_t apart = NAME(WIDTH) * p->depth;
    for (int64_t j = 0; j < columns;) {
        int64_t left = columns - j, panels = 1;
        const float *from = b + j * p->depth;
#define TILE(r, n) panels = n, NAME(tile_##r##_##n)(p, k, a, from, apart, beta, c + j, left)
        if (rows == 1 && left >= 4 * NAME(WIDTH)) {
            TILE(1, 4);
        } else if (rows == 1) {
            TILE(1, 1);
        } else if (rows == 2 && left >= 2 * NAME(WIDTH)) {
            TILE(2, 2);
        } else if (rows == 2) {
            TILE(2, 1);
        } else if (left >= 2 * NAME(WIDTH)) {
            TILE(3, 2);
        } else {
            TILE(3, 1);
        }
#undef TILE
        j += panels * NAME(WIDTH);
    }
}

/* `rows` rows of c, no more than TALL, and so many columns, for one part of k. */
static inline __attribute__((always_inline)) void
NAME(block)(const GwPackedProduct *p, int64_t rows, int64_t k, const float *a, const float *b,
            float beta, float *c, int64_t columns) {
    int64_t tiles = (rows + ROWS - 1) / ROWS, least = rows / tiles, higher = rows % tiles;
    if (rows < FEW) {
        NAME(few_rows)(p, rows, k, a, b, beta, c, columns);
        return;
    }
    for (int64_t j = 0; j < columns; j += NAME(WIDTH)) {
        for (int64_t i = 0, height; i < rows; i += height) {
            height = i < higher * (least + 1) ? least + 1 : least;
            const float *left = a + i * p->lda, *right = b + j * p->depth;
            float *to = c + i * p->ldc + j;
#define TILE(r) NAME(tile_##r##_1)(p, k, left, right, 0, beta, to, columns - j)
            switch (height) {
                case 1: TILE(1); break;
                case 2: TILE(2); break;
                case 3: TILE(3); break;
                case 4: TILE(4); break;
                case 5: TILE(5); break;
                default: TILE(6); break;
            }
#undef TILE
        }
    }
}

/* c[i.., first..] = alpha * a @ b + beta * c for `rows` rows, no more than TALL, and `columns` columns. */
static inline __attribute__((always_inline)) void
NAME(all_parts)(const Task *t, int64_t i, int64_t rows, int64_t first, int64_t columns) {
    const GwPackedProduct *p = t->product;
    for (int64_t q = 0; q < p->k; q += DEEP) {
        NAME(block)(p, rows, p->k - q < DEEP ? p->k - q : DEEP, p->a + i * p->lda + q,
                    t->panels + first * p->depth + q * NAME(WIDTH), q == 0 ? p->beta : 1,
                    p->c + i * p->ldc + first, columns);
    }
}

/* Rows and panels [begin, end) of either. A few panels at a time, while a cache has all of the rows:
 * then panels are read from memory as they lie there. */
KERNEL static void NAME(multiply)(void *closure, int64_t begin, int64_t end) {
    const Task *t = closure;
    const GwPackedProduct *p = t->product;
    int64_t top = t->by_rows ? begin : 0, bottom = t->by_rows ? end : p->m;
    int64_t start = t->by_rows ? 0 : begin * NAME(WIDTH);
    int64_t last = t->by_rows || end * NAME(WIDTH) > p->n ? p->n : end * NAME(WIDTH);
    for (int64_t i = top; i < bottom; i += TALL) {
        int64_t rows = bottom - i < TALL ? bottom - i : TALL;
        int64_t wide = rows * p->k <= NEAR ? 4 * NAME(WIDTH) : last - start;
        for (int64_t first = start; first < last; first += wide) {
            NAME(all_parts)(t, i, rows, first, last - first < wide ? last - first : wide);
        }
        if (t->then != NULL) {
            gw_follow(t->then, i * p->n, (i + rows) * p->n, p->m * p->n);
        }
    }
}

static const Kernels NAME(kernels) = {NAME(pack), NAME(multiply), NAME(WIDTH)};

#undef NAME
#undef BYTES
#undef KERNEL
