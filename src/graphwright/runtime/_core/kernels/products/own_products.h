/* Matrix products by own kernels, and how they are shared out among threads: for the core, which
 * hands large ones to a library, and for packages of exported programs, which have none.
 *
 * Included behind the declarations of abi.h, with these defined: NARROW, the attribute of kernels with
 * vectors of 32 bytes; HAS_WIDE, WIDE and gw_has_wide(), where there are kernels of 64;
 * GW_PARALLEL_FOR, the pool's; GW_FLOAT32 and GW_FLOAT64, the dtypes, and GW_ONLY_FLOAT32, whether there
 * is only the first, so that the compiler drops the other's kernels. */

#include "following.h"

enum {
    TILE_ROWS = 6,      /* with two vectors a row: 12 accumulators */
    MAX_DOT_ROWS = 4,   /* of all vector widths */
    THIN_ROWS = 8,      /* up to here own kernels beat BLAS, which packs b first; */
    THIN_DOTS = 64,     /* up to here, where both factors lie along k, */
    LONG_DOT = 128,     /* and k is so long that sums across a vector cost little */
    K_BLOCK = 256,
    PACKED = 16,        /* rows of a transposed b that are packed at a time */
};

/* Below this many multiplications a product stays on the calling thread. */
static const double PARALLEL_WORK = 200e3;

typedef struct {
    int64_t m, n, k, lda, ldb, ldc, stride_a, stride_b, stride_c;
    const void *a, *b;
    void *c;
    double alpha, beta;
    int32_t dtype;
    bool transa, transb, by_rows;
    bool own;           /* whether no library may have it, */
    bool library;       /* or a library gets it in any case */
    const gw_then *then;    /* what follows its parts, or NULL; */
    int64_t before, total;  /* elements of c in earlier batches, and in all */
} Product;

typedef struct {
    gw_body thin_dots, thin_stream, panels, outer;
} Kernels;

#define BYTES 32
#define DOT_ROWS 3
#define STREAM_ROWS 4
#define STREAM_WIDTH 2
#define KERNEL NARROW
#define REAL float
#define NAME(x) x##_f32
#include "gemm_kernel.h"
#define BYTES 32
#define DOT_ROWS 3
#define STREAM_ROWS 4
#define STREAM_WIDTH 2
#define KERNEL NARROW
#define REAL double
#define NAME(x) x##_f64
#include "gemm_kernel.h"

#ifdef HAS_WIDE
#define BYTES 64
#define DOT_ROWS 4
#define STREAM_ROWS 8
#define STREAM_WIDTH 1
#define KERNEL WIDE
#define REAL float
#define NAME(x) x##_wide_f32
#include "gemm_kernel.h"
#define BYTES 64
#define DOT_ROWS 4
#define STREAM_ROWS 8
#define STREAM_WIDTH 1
#define KERNEL WIDE
#define REAL double
#define NAME(x) x##_wide_f64
#include "gemm_kernel.h"
#endif

static const Kernels *kernels_of(int32_t dtype) {
#ifdef HAS_WIDE
    if (gw_has_wide()) {
        return dtype == GW_FLOAT32 || GW_ONLY_FLOAT32 ? &kernels_wide_f32 : &kernels_wide_f64;
    }
#endif
    return dtype == GW_FLOAT32 || GW_ONLY_FLOAT32 ? &kernels_f32 : &kernels_f64;
}

/* Makes a product by a library; false where there is none, or it is slower. */
static bool by_library(const Product *p);

/* ---- one product, or a part of it ---- */

/* A product of one column as one of one row, which own kernels make. */
static Product column_as_row(const Product *p) {
    Product q = *p;
    q.m = 1, q.n = p->m;
    q.a = p->b, q.b = p->a;
    q.lda = p->ldb, q.ldb = p->lda;
    q.transa = !p->transb && p->ldb != 1;
    q.transb = !p->transa;
    return q;
}

/* Rows of a and columns of b that lie along k, few enough to be multiplied where they are. On
 * processors with vectors of 64 bytes own panels are faster from fewer rows on. */
static bool are_dots(const Product *p) {
    if (p->transa || !p->transb) {
        return false;
    }
    int64_t most = THIN_DOTS;
#ifdef HAS_WIDE
    if (gw_has_wide()) {
        most = p->k < 2048 ? 24 : 48;
    }
#endif
    return p->m <= THIN_ROWS || (p->dtype == GW_FLOAT32 && p->m <= most && p->k >= LONG_DOT);
}

static void multiply(const Product *p) {
    if (p->n == 1 && p->m > 1 && p->ldc == 1) {
        Product row = column_as_row(p);
        multiply(&row);
        return;
    }
    const Kernels *kernels = kernels_of(p->dtype);
    if (p->library && by_library(p)) {
        return;
    }
    if (p->k == 1 && (!p->transb || p->ldb == 1)) {
        kernels->outer((void *)p, 0, p->m);
    } else if (are_dots(p)) {
        kernels->thin_dots((void *)p, 0, p->n);
    } else if (p->m <= THIN_ROWS && !p->transb && p->n > 1) {
        kernels->thin_stream((void *)p, 0, p->n);
    } else if (p->own || !by_library(p)) {
        kernels->panels((void *)p, 0, p->n);
    }
}

static Product part(const Product *p, int64_t begin, int64_t end) {
    Product q = *p;
    size_t size = p->dtype == GW_FLOAT32 ? sizeof(float) : sizeof(double);
    if (p->by_rows) {
        q.m = end - begin;
        q.a = (const char *)p->a + (size_t)(begin * (p->transa ? 1 : p->lda)) * size;
        q.c = (char *)p->c + (size_t)(begin * p->ldc) * size;
    } else {
        q.n = end - begin;
        q.b = (const char *)p->b + (size_t)(begin * (p->transb ? p->ldb : 1)) * size;
        q.c = (char *)p->c + (size_t)begin * size;
    }
    return q;
}

/* Rows, or columns, [begin, end). */
static void multiply_part(void *closure, int64_t begin, int64_t end) {
    const Product *p = closure;
    Product q = part(p, begin, end);
    multiply(&q);
    if (p->then != NULL) {
        gw_follow(p->then, p->before + begin * p->n, p->before + end * p->n, p->total);
    }
}

static Product batch_entry(const Product *p, int64_t index) {
    Product q = *p;
    size_t size = p->dtype == GW_FLOAT32 ? sizeof(float) : sizeof(double);
    q.a = (const char *)p->a + (size_t)(index * p->stride_a) * size;
    q.b = (const char *)p->b + (size_t)(index * p->stride_b) * size;
    q.c = (char *)p->c + (size_t)(index * p->stride_c) * size;
    q.before = index * p->m * p->n;
    return q;
}

static void multiply_batch(void *closure, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        Product q = batch_entry(closure, i);
        multiply(&q);
        if (q.then != NULL) {
            gw_follow(q.then, q.before, q.before + q.m * q.n, q.total);
        }
    }
}

/* k == 0: c = beta * c. */
static void scale(const Product *p) {
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->n; j++) {
            if (p->dtype == GW_FLOAT32) {
                float *c = (float *)p->c + i * p->ldc + j;
                *c = p->beta == 0 ? 0 : (float)p->beta * *c;
            } else {
                double *c = (double *)p->c + i * p->ldc + j;
                *c = p->beta == 0 ? 0 : p->beta * *c;
            }
        }
    }
}

/* One grain a thread: each part packs the operand that it shares with the others. */
static int64_t share_of(int64_t n, int64_t unit, int64_t num_threads) {
    int64_t units = (n + unit - 1) / unit;
    return (units + num_threads - 1) / num_threads * unit;
}

/* Which part of a product is a thread's: batches, or rows or columns of each. */
typedef struct {
    bool parallel, by_batch;
    int64_t share;
} Sharing;

static Sharing sharing_of(const Product *p, int64_t batch, int64_t num_threads) {
    double work = (double)p->m * (double)p->n * (double)p->k * (double)batch;
    Sharing s = {num_threads > 1 && work > PARALLEL_WORK, batch >= num_threads, 0};
    s.share = s.by_batch ? share_of(batch, 1, num_threads)
                         : share_of(p->by_rows ? p->m : p->n, 32, num_threads);
    return s;
}

/* Whether what follows can run on each thread's part: parts are whole rows that end where an iteration
 * does. A product that is not worth the threads leaves it to them. */
static bool may_follow(const gw_then *then, const Product *p, const Sharing *s, int64_t batch,
                       int64_t num_threads) {
    if (!s->parallel) {
        return num_threads == 1;
    }
    int64_t rows = gw_whole_rows(then, p->n);
    return s->by_batch ? s->share * p->m % rows == 0
           : p->by_rows && s->share % rows == 0 && (batch == 1 || p->m % rows == 0);
}

static void multiply_in_parts(const gw_ctx *ctx, Product *p, int64_t batch, const Sharing *s) {
    if (!s->parallel) {
        multiply_batch(p, 0, batch);
    } else if (s->by_batch) {
        GW_PARALLEL_FOR(ctx, multiply_batch, p, batch, s->share);
    } else {
        for (int64_t i = 0; i < batch; i++) {
            Product q = batch_entry(p, i);
            GW_PARALLEL_FOR(ctx, multiply_part, &q, q.by_rows ? q.m : q.n, s->share);
        }
    }
}

static void multiply_all(const gw_ctx *ctx, Product *p, int64_t batch, const gw_then *then) {
    p->total = p->m * p->n * batch;
    p->by_rows = p->m > p->n && p->m > THIN_ROWS;
    if (p->k == 0) {
        for (int64_t i = 0; i < batch; i++) {
            Product q = batch_entry(p, i);
            scale(&q);
        }
    } else if (p->total > 0) {
        Sharing s = sharing_of(p, batch, ctx->num_threads);
        bool follows = then != NULL && may_follow(then, p, &s, batch, ctx->num_threads);
        p->then = follows ? then : NULL;
        multiply_in_parts(ctx, p, batch, &s);
    }
    if (then != NULL && p->then == NULL) {
        GW_PARALLEL_FOR(ctx, then->body, then->closure, then->count, then->grain);
    }
}
