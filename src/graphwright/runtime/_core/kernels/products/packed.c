/* Products of packed factors; see packed.h. */
#if defined(__GNUC__) && !defined(__clang__)
/* Python's builds let integers wrap, for which tiles of 6 rows take a seventh longer. */
#pragma GCC optimize("no-wrapv")
#endif
#include "packed.h"
#include "following.h"
#include "packs.h"
#include "pool.h"
#include "widths.h"

#include <string.h>

enum {
    ROWS = 6,           /* of a tile: with two vectors each, 12 sums in registers */
    MOST_SUMS = 6,
    DEEP = 512,         /* rows of a panel that the nearest cache holds */
    RUN = 128,          /* terms that are summed up one after the other: rounding errors grow with
                         * their number */
    TALL = 16 * ROWS,   /* rows of a that the next one holds, DEEP numbers of each */
    NEAR = 64 << 10,    /* numbers of a that the next one holds beside panels */
    FEW = 4,            /* rows: with fewer, a tile waits for panels, and takes as long as with FEW */
    AHEAD = 1024,       /* numbers of a panel that are asked for before their turn: a page */
    LINE = 16,
};

/* Keeps totals out of registers, which the sums of a run need. */
#define IN_MEMORY(totals) __asm__ volatile("" : : "r"(totals) : "memory")

/* Multiplications that are worth a thread, and numbers to lay out. */
static const double MULTIPLY_WORK = 200e3, PACK_WORK = 64e3;

typedef struct {
    const float *b;
    const GwFactorForm *form;
    float *panels;
} Packing;

typedef struct {
    const GwPackedProduct *product;
    const float *panels;
    bool by_rows;
    const gw_then *then;    /* what follows blocks of its rows, or NULL */
} Task;

typedef struct {
    gw_body pack, multiply;
    int64_t width;      /* of a panel */
} Kernels;

#define BYTES 32
#define KERNEL NARROW
#define NAME(x) x##_narrow
#include "packed_kernel.h"

#ifdef HAS_WIDE
#define BYTES 64
#define KERNEL WIDE
#define NAME(x) x##_wide
#include "packed_kernel.h"
#endif

static const Kernels *kernels(void) {
#ifdef HAS_WIDE
    if (gw_has_wide()) {
        return &kernels_wide;
    }
#endif
    return &kernels_narrow;
}

int64_t gw_panel_width(void) { return kernels()->width; }

static int64_t panels_of(int64_t n) { return (n + kernels()->width - 1) / kernels()->width; }

size_t gw_panels_bytes(const GwFactorForm *f) {
    return (size_t)(f->groups * panels_of(f->n) * kernels()->width * f->k) * sizeof(float);
}

/* How many of `count` a thread gets, all at once: threads are not worth it for less than `least`. */
static int64_t grain(const gw_ctx *ctx, int64_t count, double work, double least) {
    int64_t share = (count + ctx->num_threads - 1) / ctx->num_threads;
    return work > least ? share : count;
}

void gw_pack_panels(const gw_ctx *ctx, const float *b, const GwFactorForm *f, float *panels) {
    Packing packing = {b, f, panels};
    int64_t count = f->groups * panels_of(f->n);
    double work = (double)f->groups * (double)f->n * (double)f->k;
    gw_parallel_for(ctx, kernels()->pack, &packing, count, grain(ctx, count, work, PACK_WORK));
}

static const float *packed_now(const gw_ctx *ctx, const GwWeight *w) {
    float *panels = gw_panels_alloc(gw_panels_bytes(&w->form));
    if (panels != NULL) {
        gw_pack_panels(ctx, w->b, &w->form, panels);
    }
    return panels;
}

const float *gw_packed_weight(const gw_ctx *ctx, const float *b, const GwFactorForm *form) {
    struct gw_weights *all = ctx->weights;
    for (int64_t i = 0; all != NULL && i < all->count; i++) {
        int64_t index = (all->next + i) % all->count;
        GwWeight *w = &all->list[index];
        if (w->b == b && gw_same_form(&w->form, form)) {
            all->next = index + 1;
            if (w->panels == NULL && w->may_pack) {
                w->panels = packed_now(ctx, w);
            }
            return w->panels;
        }
    }
    return NULL;
}

/* One grain a thread. Rows are shared out where there are many, and sooner where something follows that
 * can have them. */
void gw_multiply_packed(const gw_ctx *ctx, const GwPackedProduct *p, const float *panels,
                        const gw_then *then) {
    Task task = {p, panels, p->m > p->n && p->m > TALL, NULL};
    double work = (double)(p->m < FEW ? FEW : p->m) * (double)p->n * (double)p->k;
    bool split = work > MULTIPLY_WORK && ctx->num_threads > 1;
    int64_t threads = split ? ctx->num_threads : 1, rows = ROWS;
    if (then != NULL && (task.by_rows || !split || p->m >= threads * TALL / 2)
        && (split || ctx->num_threads == 1)) {
        int64_t whole = gw_whole_rows(then, p->n);
        bool fits = !split || whole == 1 || p->m % (threads * whole) == 0;
        task.then = fits ? then : NULL;
        task.by_rows |= fits;
        rows = fits && whole > 1 ? whole : ROWS;
    }
    int64_t count = task.by_rows ? p->m : panels_of(p->n);
    int64_t share = (count + threads - 1) / threads;
    share = task.by_rows ? (share + rows - 1) / rows * rows : share;
    gw_parallel_for(ctx, kernels()->multiply, &task, count, share);
    if (then != NULL && task.then == NULL) {
        gw_parallel_for(ctx, then->body, then->closure, then->count, then->grain);
    }
}
