/* Matrix products of bfloat16 by the processor's dot products of pairs (AVX512_BF16), summed in
 * float32 and rounded once. Both factors are laid out anew: `a` in tiles of ROWS rows, `b` in
 * panels of COLUMNS columns, each a sequence of pairs along k. */
#include "gemm_bfloat16.h"
#include "core.h"
#include "half.h"
#include "pool.h"

#include <stdlib.h>

typedef struct {
    const uint16_t *a, *b;
    uint16_t *c;
    int64_t m, n, k, ldc;
    int64_t a_row, a_column, b_row, b_column;           /* steps, in elements */
    int64_t stride_a, stride_b, stride_c;
    float alpha, beta;
    int64_t pairs, tiles, panels;       /* a panel of few rows has TOGETHER columns */
    uint32_t *left, *right;     /* [batch][tile][pair][ROWS], [batch][panel][pair][COLUMNS] */
} Halves;

/* One result after the other, where there are no pairs or no memory. */
static void multiply_plainly(const Halves *h, int64_t batch) {
    for (int64_t at = 0; at < batch * h->m * h->n; at++) {
        int64_t column = at % h->n, row = at / h->n % h->m, entry = at / (h->m * h->n);
        const uint16_t *a = h->a + entry * h->stride_a + row * h->a_row;
        const uint16_t *b = h->b + entry * h->stride_b + column * h->b_column;
        uint16_t *c = h->c + entry * h->stride_c + row * h->ldc + column;
        float sum = 0;
        for (int64_t p = 0; p < h->k; p++) {
            sum += gw_from_bfloat16(a[p * h->a_column]) * gw_from_bfloat16(b[p * h->b_row]);
        }
        sum *= h->alpha;
        *c = gw_to_bfloat16(h->beta == 0 ? sum : sum + h->beta * gw_from_bfloat16(*c));
    }
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11 && defined(__x86_64__)
#include <immintrin.h>

#define PAIRWISE __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"), optimize("O3")))

enum {
    ROWS = 12,
    COLUMNS = 32,           /* two vectors of float32 */
    LANES = 16,
    TOGETHER = 4,           /* columns of few rows */
    FEW = 8,                /* rows for which nothing is laid out */
    TASK = 64 << 10,        /* multiplications that are worth a thread */
};


bool gw_has_bfloat16_products(void) {
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw")
           && __builtin_cpu_supports("avx512vl");
}

/* Turns 16 rows of 16 words into columns: words change places, then pairs of them, then quarters of
 * vectors. */
PAIRWISE static inline void turn_words(__m512i *rows) {
    __m512i words[LANES];
    for (int i = 0; i < LANES; i += 2) {
        words[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        words[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    __m512i pairs[LANES];
    for (int i = 0; i < LANES; i += 4) {
        pairs[i] = _mm512_unpacklo_epi64(words[i], words[i + 2]);
        pairs[i + 1] = _mm512_unpackhi_epi64(words[i], words[i + 2]);
        pairs[i + 2] = _mm512_unpacklo_epi64(words[i + 1], words[i + 3]);
        pairs[i + 3] = _mm512_unpackhi_epi64(words[i + 1], words[i + 3]);
    }
    enum { EVEN = 0x88, ODD = 0xdd };       /* quarters 0 and 2 of either, 1 and 3 */
    for (int i = 0; i < 4; i++) {
        __m512i low = _mm512_shuffle_i32x4(pairs[i], pairs[4 + i], EVEN);
        __m512i high = _mm512_shuffle_i32x4(pairs[8 + i], pairs[12 + i], EVEN);
        rows[i] = _mm512_shuffle_i32x4(low, high, EVEN);
        rows[8 + i] = _mm512_shuffle_i32x4(low, high, ODD);
        low = _mm512_shuffle_i32x4(pairs[i], pairs[4 + i], ODD);
        high = _mm512_shuffle_i32x4(pairs[8 + i], pairs[12 + i], ODD);
        rows[4 + i] = _mm512_shuffle_i32x4(low, high, EVEN);
        rows[12 + i] = _mm512_shuffle_i32x4(low, high, ODD);
    }
}

/* Pairs of lines that go along k, where they are words already. */
PAIRWISE static void lay_out_words(const uint16_t *x, int64_t line, int64_t count, int64_t width,
                                   int64_t pairs, uint32_t *to) {
    for (int64_t first = 0; first < width; first += LANES) {
        __mmask16 lanes = (__mmask16)(width - first < LANES ? (1u << (width - first)) - 1 : 0xffff);
        for (int64_t p = 0; p < pairs; p += LANES) {
            int64_t left = pairs - p < LANES ? pairs - p : LANES;
            __mmask16 some = (__mmask16)(left < LANES ? (1u << left) - 1 : 0xffff);
            __m512i rows[LANES];
            for (int64_t i = 0; i < LANES; i++) {
                rows[i] = first + i < count
                          ? _mm512_maskz_loadu_epi32(some, x + (first + i) * line + 2 * p)
                          : _mm512_setzero_si512();
            }
            turn_words(rows);
            for (int64_t i = 0; i < left; i++) {
                _mm512_mask_storeu_epi32(to + (p + i) * width + first, lanes, rows[i]);
            }
        }
    }
}

/* Pairs of lines that do not. */
PAIRWISE __attribute__((always_inline)) static inline void
lay_out_pairs(const uint16_t *x, int64_t line, int64_t step, int64_t count, int64_t width,
              int64_t pairs, uint32_t *to) {
    for (int64_t p = 0; p < pairs; p++) {
        const uint16_t *low = x + 2 * p * step, *high = low + step;
        for (int64_t i = 0; i < count; i++) {
            to[p * width + i] = low[i * line] | (uint32_t)high[i * line] << 16;
        }
    }
}

/* Pairs of the lines x[i * line + p * step], [pair][width]; lines from `count` on are 0. */
PAIRWISE static void lay_out(const uint16_t *x, int64_t line, int64_t step, int64_t count,
                             int64_t width, int64_t k, uint32_t *to) {
    int64_t whole = k / 2;
    if (count < width || k % 2 != 0) {
        memset(to, 0, (size_t)((k + 1) / 2 * width) * sizeof(uint32_t));
    }
    if (step == 1) {
        lay_out_words(x, line, count, width, whole, to);
    } else if (line == 1) {
        lay_out_pairs(x, 1, step, count, width, whole, to);
    } else {
        lay_out_pairs(x, line, step, count, width, whole, to);
    }
    for (int64_t i = 0; i < count && k % 2 != 0; i++) {
        to[whole * width + i] = x[i * line + (k - 1) * step];
    }
}

static void lay_out_tiles(void *closure, int64_t begin, int64_t end) {
    const Halves *h = closure;
    for (int64_t task = begin; task < end; task++) {
        int64_t row = task % h->tiles * ROWS, left = h->m - row;
        lay_out(h->a + task / h->tiles * h->stride_a + row * h->a_row, h->a_row, h->a_column,
                left < ROWS ? left : ROWS, ROWS, h->k, h->left + task * h->pairs * ROWS);
    }
}

/* `count` columns of a row of the result, from sums of 16. */
PAIRWISE static inline void store(const Halves *h, __m512 sums, int64_t count, uint16_t *c) {
    __mmask16 some = (__mmask16)(count < LANES ? (1u << count) - 1 : 0xffff);
    __m512 values = _mm512_mul_ps(sums, _mm512_set1_ps(h->alpha));
    if (h->beta != 0) {
        __m512i before = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, c));
        values = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(before, 16)),
                                 _mm512_set1_ps(h->beta), values);
    }
    _mm256_mask_storeu_epi16(c, some, (__m256i)_mm512_cvtneps_pbh(values));
}

/* The product of a tile with so many rows and a panel. */
PAIRWISE __attribute__((always_inline)) static inline void
multiply_tile(const Halves *h, int rows, const uint32_t *a, const uint32_t *b, __m512 (*sums)[2]) {
    __m512 own[ROWS][2];
    for (int i = 0; i < rows; i++) {
        own[i][0] = own[i][1] = _mm512_setzero_ps();
    }
    for (int64_t p = 0; p < h->pairs; p++) {
        __m512bh low = (__m512bh)_mm512_loadu_si512(b + p * COLUMNS);
        __m512bh high = (__m512bh)_mm512_loadu_si512(b + p * COLUMNS + LANES);
        _Pragma("GCC unroll 12")
        for (int i = 0; i < rows; i++) {
            __m512bh pair = (__m512bh)_mm512_set1_epi32((int)a[p * ROWS + i]);
            own[i][0] = _mm512_dpbf16_ps(own[i][0], pair, low);
            own[i][1] = _mm512_dpbf16_ps(own[i][1], pair, high);
        }
    }
    for (int i = 0; i < rows; i++) {
        sums[i][0] = own[i][0];
        sums[i][1] = own[i][1];
    }
}

PAIRWISE static void multiply_panels(void *closure, int64_t begin, int64_t end) {
    const Halves *h = closure;
    for (int64_t task = begin; task < end; task++) {
        int64_t entry = task / h->panels, column = task % h->panels * COLUMNS;
        int64_t columns = h->n - column < COLUMNS ? h->n - column : COLUMNS;
        uint32_t *panel = h->right + task * h->pairs * COLUMNS;
        lay_out(h->b + entry * h->stride_b + column * h->b_column, h->b_column, h->b_row, columns,
                COLUMNS, h->k, panel);
        for (int64_t tile = 0; tile < h->tiles; tile++) {
            const uint32_t *a = h->left + (entry * h->tiles + tile) * h->pairs * ROWS;
            int64_t row = tile * ROWS, rows = h->m - row < ROWS ? h->m - row : ROWS;
            __m512 sums[ROWS][2];
            if (rows <= 2) {
                multiply_tile(h, 2, a, panel, sums);
            } else if (rows <= 6) {
                multiply_tile(h, 6, a, panel, sums);
            } else {
                multiply_tile(h, ROWS, a, panel, sums);
            }
            for (int64_t i = 0; i < rows; i++) {
                uint16_t *c = h->c + entry * h->stride_c + (row + i) * h->ldc + column;
                store(h, sums[i][0], columns, c);
                if (columns > LANES) {
                    store(h, sums[i][1], columns - LANES, c + LANES);
                }
            }
        }
    }
}

/* Results [begin, end) of [batch][column]: few rows, whose lines and the columns go along k. */
PAIRWISE static void multiply_thin(void *closure, int64_t begin, int64_t end) {
    const Halves *h = closure;
    for (int64_t task = begin; task < end; task++) {
        int64_t entry = task / h->panels, column = task % h->panels * TOGETHER;
        int64_t columns = h->n - column < TOGETHER ? h->n - column : TOGETHER;
        const uint16_t *b[TOGETHER];
        for (int64_t j = 0; j < TOGETHER; j++) {
            int64_t at = j < columns ? column + j : column;
            b[j] = h->b + entry * h->stride_b + at * h->b_column;
        }
        for (int64_t i = 0; i < h->m; i++) {
            const uint16_t *a = h->a + entry * h->stride_a + i * h->a_row;
            uint16_t *c = h->c + entry * h->stride_c + i * h->ldc + column;
            __m512 sums[TOGETHER] = {_mm512_setzero_ps(), _mm512_setzero_ps(),
                                     _mm512_setzero_ps(), _mm512_setzero_ps()};
            for (int64_t p = 0; p < h->k; p += 2 * LANES) {
                int64_t left = h->k - p;
                __mmask32 some = left < 2 * LANES ? (1u << left) - 1 : 0xffffffffu;
                __m512bh own = (__m512bh)_mm512_maskz_loadu_epi16(some, a + p);
                _Pragma("GCC unroll 4")
                for (int j = 0; j < TOGETHER; j++) {
                    __m512bh other = (__m512bh)_mm512_maskz_loadu_epi16(some, b[j] + p);
                    sums[j] = _mm512_dpbf16_ps(sums[j], own, other);
                }
            }
            for (int64_t j = 0; j < columns; j++) {
                store(h, _mm512_set1_ps(_mm512_reduce_add_ps(sums[j])), 1, c + j);
            }
        }
    }
}

/* One column is one row, of the factors turned about. */
static void turn(Halves *h) {
    Halves from = *h;
    h->a = from.b;
    h->a_row = from.b_column;
    h->a_column = from.b_row;
    h->stride_a = from.stride_b;
    h->b = from.a;
    h->b_row = from.a_column;
    h->b_column = from.a_row;
    h->stride_b = from.stride_a;
    h->m = 1;
    h->n = from.m;
    h->ldc = from.m;
}

/* False where there is no memory. */
static bool multiply_pairs(const gw_ctx *ctx, Halves *h, int64_t batch) {
    if (h->n == 1 && h->ldc == 1) {
        turn(h);
    }
    if (h->m <= FEW && h->a_column == 1 && h->b_row == 1) {
        h->panels = (h->n + TOGETHER - 1) / TOGETHER;
        gw_parallel_for(ctx, multiply_thin, h, batch * h->panels,
                        TASK / (TOGETHER * h->m * h->k + 1) + 1);
        return true;
    }
    h->tiles = (h->m + ROWS - 1) / ROWS;
    h->panels = (h->n + COLUMNS - 1) / COLUMNS;
    int64_t tiles = batch * h->tiles * h->pairs * ROWS;
    int64_t panels = batch * h->panels * h->pairs * COLUMNS;
    h->left = malloc((size_t)(tiles + panels) * sizeof *h->left);
    if (h->left == NULL) {
        return false;
    }
    h->right = h->left + tiles;
    gw_parallel_for(ctx, lay_out_tiles, h, batch * h->tiles, TASK / (h->pairs * ROWS) + 1);
    gw_parallel_for(ctx, multiply_panels, h, batch * h->panels,
                    TASK / (h->pairs * COLUMNS * h->m) + 1);
    free(h->left);
    return true;
}
#else
bool gw_has_bfloat16_products(void) { return false; }

static bool multiply_pairs(const gw_ctx *ctx, Halves *h, int64_t batch) {
    GW_UNUSED(ctx);
    GW_UNUSED(h);
    GW_UNUSED(batch);
    return false;
}
#endif

void gw_gemm_bfloat16(const gw_ctx *ctx, bool transa, bool transb, int64_t m, int64_t n,
                      int64_t k, double alpha, const void *a, int64_t lda, int64_t stride_a,
                      const void *b, int64_t ldb, int64_t stride_b, double beta, void *c,
                      int64_t ldc, int64_t stride_c, int64_t batch) {
    Halves h = {.a = a, .b = b, .c = c, .m = m, .n = n, .k = k, .ldc = ldc,
                .a_row = transa ? 1 : lda, .a_column = transa ? lda : 1,
                .b_row = transb ? 1 : ldb, .b_column = transb ? ldb : 1,
                .stride_a = stride_a, .stride_b = stride_b, .stride_c = stride_c,
                .alpha = (float)alpha, .beta = (float)beta, .pairs = (k + 1) / 2};
    if (k == 0 || !gw_has_bfloat16_products() || !multiply_pairs(ctx, &h, batch)) {
        multiply_plainly(&h, batch);
    }
}
