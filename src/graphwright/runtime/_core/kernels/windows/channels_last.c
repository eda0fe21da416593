/* Indirect convolutions: Dukhan (2019), "The Indirect Convolution Algorithm".
 *
 * A product of matrices whose left rows are found by pointers: of each place and each tap one to the
 * channels of the input that the tap reads there, or to zeros. Tiles of places by output channels are
 * summed up in registers, and panels of the weight are read as in products of packed factors. */
#if defined(__GNUC__) && !defined(__clang__)
/* Python's builds let integers wrap, for which tiles of 6 rows take a seventh longer. */
#pragma GCC optimize("no-wrapv")
#endif
#include "channels_last.h"
#include "following.h"
#include "packed.h"
#include "packs.h"
#include "pool.h"
#include "widths.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 6,           /* places of a tile: with two vectors each, 12 sums in registers */
    TALL = 33 * ROWS,   /* places of a task, whose pointers are found once, and which a near cache
                         * holds: for each of its blocks all panels are read */
    DEEP = 128,         /* rows of a panel that are summed up at a time: so many rounding errors */
    MOST_TAPS = 25,     /* whose pointers are found at a time */
    FEW_WEIGHTS = 24 << 10,     /* bytes of panels that the nearest cache holds beside places */
    NEAR_WEIGHTS = 256 << 10,   /* and that the next one holds: blocks read them again and again */
    SHORT = 4 * ROWS,           /* least places of a block that is made for want of tasks */
};

/* Multiplications that are worth a thread. */
static const double WORK = 200e3;

/* A convolution as it is computed. `ins` are the numbers that a tap reads of each place. */
typedef struct {
    const float *x, *zeros, *panels, *bias;
    float *y;
    int64_t in[2], out[2], kernel[2], stride[2], pad[2], dilation[2];
    int64_t groups, ins, outs;
    int64_t pixel, line, image;         /* from one to the next, in the input */
    int64_t places, block;              /* of the output; and of a task */
    int64_t group_panels, panel_rows;   /* panels of a group; rows of each */
    int64_t shares, share_panels;       /* into how many the panels of a block are split */
    int64_t parts, part_taps, part_depth;
    bool depthwise;
    const gw_then *then;                /* on each block, or NULL */
    bool by_places;                     /* all panels for one tile after the other */
} Job;

/* What is summed up at a time: taps, and of each `depth` numbers from `channel` on. */
typedef struct {
    int64_t tap, taps, channel, depth;
    int64_t row;                        /* of the panels */
    bool adds, ends;                    /* to parts before; the last one */
} Part;

/* Places by output channels of one part. */
typedef struct {
    const float *panel, *const *places, *bias;
    const float *next;          /* what the cache is asked for: a share of the next panel, */
    int64_t apart;              /* so many numbers of it for each row of this one */
    float *y;
    int64_t taps, depth, offset, row;
    bool adds;
} Tile;

static Part part_of(const Job *job, int64_t number) {
    int64_t depth = job->depthwise ? 1 : job->ins, taps = job->kernel[0] * job->kernel[1];
    int64_t slices = (depth + job->part_depth - 1) / job->part_depth;
    Part p = {.tap = number / slices * job->part_taps,
              .channel = number % slices * job->part_depth};
    p.taps = taps - p.tap < job->part_taps ? taps - p.tap : job->part_taps;
    p.depth = depth - p.channel < job->part_depth ? depth - p.channel : job->part_depth;
    p.row = p.tap * depth + p.channel;
    p.adds = number > 0;
    p.ends = number == job->parts - 1;
    return p;
}

/* Where a tap reads for places side by side, from column x of the output on: `line` is its line of
 * the input, NULL where that lies outside. */
static inline __attribute__((always_inline)) void
find_run(const Job *job, const float *line, int64_t tap_x, int64_t x, int64_t count,
         const float **places) {
    int64_t at = x * job->stride[1] - job->pad[1] + tap_x * job->dilation[1];
    int64_t step = job->stride[1], pixel = job->pixel, width = line == NULL ? 0 : job->in[1];
    for (int64_t i = 0; i < count; i++, at += step) {
        bool inside = (uint64_t)at < (uint64_t)width;
        places[i] = inside ? line + at * pixel : job->zeros;
    }
}

/* Where the part's taps read for `rows` places from `first` on; see TALL. */
static inline __attribute__((always_inline)) void
find_places(const Job *job, const Part *part, int64_t first, int64_t rows, const float **places) {
    for (int64_t tap = 0; tap < part->taps; tap++) {
        int64_t tap_y = (part->tap + tap) / job->kernel[1];
        int64_t tap_x = (part->tap + tap) % job->kernel[1];
        int64_t x = first % job->out[1], row = first / job->out[1];
        for (int64_t i = 0; i < rows; x = 0, row++) {
            int64_t left = job->out[1] - x, count = left < rows - i ? left : rows - i;
            int64_t at = row % job->out[0] * job->stride[0] - job->pad[0]
                         + tap_y * job->dilation[0];
            const float *line = job->x + row / job->out[0] * job->image + at * job->line;
            bool inside = at >= 0 && at < job->in[0];
            find_run(job, inside ? line : NULL, tap_x, x, count, places + tap * TALL + i);
            i += count;
        }
    }
}

#define BYTES 32
#define KERNEL NARROW
#define NAME(x) x##_narrow
#include "channels_last_kernel.h"

#ifdef HAS_WIDE
#define BYTES 64
#define KERNEL WIDE
#define NAME(x) x##_wide
#include "channels_last_kernel.h"
#endif

static gw_body kernel(void) {
#ifdef HAS_WIDE
    if (gw_has_wide()) {
        return convolve_wide;
    }
#endif
    return convolve_narrow;
}

/* ---- what is computed ---- */

/* The size of the fewest equal parts of n that are no larger than `most`. */
static int64_t even_part(int64_t n, int64_t most) {
    int64_t parts = (n + most - 1) / most;
    return (n + parts - 1) / parts;
}

static void split_sums(Job *job) {
    int64_t depth = job->depthwise ? 1 : job->ins, taps = job->kernel[0] * job->kernel[1];
    int64_t most = depth < DEEP ? DEEP / depth : 1;
    job->part_depth = even_part(depth, DEEP);
    job->part_taps = even_part(taps, most < MOST_TAPS ? most : MOST_TAPS);
    int64_t bytes = job->groups * job->group_panels * gw_panel_width() * (int64_t)sizeof(float);
    job->by_places = bytes * job->part_taps * job->part_depth <= FEW_WEIGHTS;
    job->parts = (taps + job->part_taps - 1) / job->part_taps
                 * ((depth + job->part_depth - 1) / job->part_depth);
}

/* The places of a block of `most` or fewer, so that nothing which follows on it has elements of two
 * blocks; where there are no such blocks it does not follow on them. */
static int64_t block_of(const gw_ctx *ctx, Job *job, int64_t most) {
    int64_t block = (even_part(job->places, most) + ROWS - 1) / ROWS * ROWS;
    if (job->then == NULL || ctx->num_threads == 1) {
        return block;
    }
    int64_t whole = gw_whole_rows(job->then, job->groups * job->outs);
    if (whole > TALL) {
        job->then = NULL;
        return block;
    }
    return block < whole ? whole : block / whole * whole;
}

/* The most places of a block: fewer than TALL where that makes tasks which shares of the panels do
 * not make, or which would find all pointers again for few weights. */
static int64_t most_places(const Job *job, int64_t panels, int64_t wanted) {
    int64_t bytes = panels * gw_panel_width() * job->panel_rows * (int64_t)sizeof(float);
    int64_t blocks = bytes <= NEAR_WEIGHTS ? wanted : (wanted + panels - 1) / panels;
    int64_t most = (job->places + blocks - 1) / blocks;
    most = most < SHORT ? SHORT : most;
    return most < TALL ? most : TALL;
}

/* Blocks of places, and where these are too few for the threads, shares of the panels. */
static int64_t split_tasks(const gw_ctx *ctx, Job *job) {
    int64_t panels = job->groups * job->group_panels;
    int64_t wanted = ctx->num_threads == 1 ? 1 : 4 * ctx->num_threads;
    job->block = block_of(ctx, job, most_places(job, panels, wanted));
    int64_t blocks = (job->places + job->block - 1) / job->block;
    int64_t shares = blocks < wanted ? (wanted + blocks - 1) / blocks : 1;
    shares = shares < panels ? shares : panels;
    job->share_panels = (panels + shares - 1) / shares;
    job->shares = (panels + job->share_panels - 1) / job->share_panels;
    job->then = job->shares == 1 ? job->then : NULL;
    return blocks * job->shares;
}

/* strides: of images, lines and pixels of x. */
static Job job_of(const GwConvSizes *s, void *const *arrays, const int64_t *strides) {
    Job job = {.y = arrays[0], .x = arrays[1], .bias = arrays[3], .groups = s->groups,
               .ins = s->ins, .outs = s->outs, .image = strides[0], .line = strides[1],
               .pixel = strides[2]};
    for (int a = 0; a < 2; a++) {
        job.in[a] = s->in[a], job.out[a] = s->out[a], job.kernel[a] = s->kernel[a];
        job.stride[a] = s->stride[a], job.pad[a] = s->pad[a], job.dilation[a] = s->dilation[a];
    }
    job.places = job.out[0] > 0 && job.out[1] > 0 ? s->images * job.out[0] * job.out[1] : 0;
    job.depthwise = s->ins == 1 && s->outs == 1;
    if (job.depthwise) {
        job.outs = job.groups;
        job.groups = 1;
    }
    return job;
}

/* Lines of x with zeros before and behind, pixel by pixel. */
typedef struct {
    const Job *job;
    int64_t channel, line;      /* strides of x and of the copy */
    float *copy;
} Lines;

static void copy_lines(void *closure, int64_t begin, int64_t end) {
    const Lines *l = closure;
    const Job *job = l->job;
    for (int64_t i = begin; i < end; i++) {
        const float *from = job->x + i / job->in[0] * job->image + i % job->in[0] * job->line;
        float *line = l->copy + i * l->line, *to = line + job->pad[1] * job->ins;
        int64_t count = job->in[1] * job->ins, behind = l->line - (to - line) - count;
        memset(line, 0, (size_t)(to - line) * sizeof *to);
        memset(to + count, 0, (size_t)behind * sizeof *to);
        for (int64_t c = 0; c < job->ins; c++) {
            for (int64_t x = 0; x < job->in[1]; x++) {
                to[x * job->ins + c] = from[x * job->pixel + c * l->channel];
            }
        }
    }
}

/* Takes all taps of a line as one: no tap reaches over the ends of lines that are copied so. */
static bool join_taps(const gw_ctx *ctx, Job *job, int64_t images, int64_t channel, float **copy) {
    enum { MANY = 64 << 10 };       /* numbers that are worth a thread */
    int64_t reach = (job->out[1] - 1) * job->stride[1] + job->kernel[1];
    int64_t width = job->pad[1] + job->in[1] > reach ? job->pad[1] + job->in[1] : reach;
    int64_t line = width * job->ins, lines = images * job->in[0];
    *copy = malloc((size_t)(lines * line) * sizeof **copy);
    if (*copy == NULL) {
        return false;
    }
    Lines closure = {job, channel, line, *copy};
    gw_parallel_for(ctx, copy_lines, &closure, lines, 1 + MANY / line);
    job->x = *copy;
    job->pixel = job->ins;
    job->line = line;
    job->image = job->in[0] * line;
    job->in[1] = width;
    job->pad[1] = 0;
    job->ins *= job->kernel[1];
    job->kernel[1] = 1;
    return true;
}

/* The weight's panels: those that the launch has, or in *own those made for this call. */
static const float *panels_of(const gw_ctx *ctx, const float *weight, const GwFactorForm *form,
                              float **own) {
    const float *panels = gw_packed_weight(ctx, weight, form);
    if (panels == NULL) {
        panels = *own = gw_panels_alloc(gw_panels_bytes(form));
    }
    if (*own != NULL) {
        gw_pack_panels(ctx, weight, form, *own);
    }
    return panels;
}

static void run(const gw_ctx *ctx, Job *job, const gw_then *then) {
    if (job->places > 0) {
        job->then = then;
        job->group_panels = (job->outs + gw_panel_width() - 1) / gw_panel_width();
        split_sums(job);
        int64_t tasks = split_tasks(ctx, job);
        double work = (double)job->places * (double)job->panel_rows;
        work *= (double)(job->groups * job->outs);
        gw_parallel_for(ctx, kernel(), job, tasks, work > WORK ? 1 : tasks);
    }
    if (then != NULL && job->then == NULL) {
        gw_parallel_for(ctx, then->body, then->closure, then->count, then->grain);
    }
}

int32_t gw_convolution_routine(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes,
                               const double *numbers, const gw_then *then) {
    (void)numbers;
    GwConvSizes s;
    memcpy(&s, sizes, sizeof s);
    const int64_t *strides = sizes + sizeof s / sizeof *sizes;
    Job job = job_of(&s, arrays, strides);
    int64_t taps = job.kernel[0] * job.kernel[1], depth = job.depthwise ? 1 : job.ins;
    GwFactorForm form = {job.outs, depth * taps, depth * taps, job.depthwise ? 1 : taps,
                         job.groups, true};
    int64_t widest = s.groups * s.ins * taps;
    float *own = NULL, *copy = NULL, *zeros = calloc((size_t)widest, sizeof *zeros);
    job.zeros = zeros;
    job.panels = panels_of(ctx, arrays[2], &form, &own);
    job.panel_rows = form.k;
    bool joins = s.joins && job.places > 0;
    bool ready = zeros != NULL && job.panels != NULL
                 && (!joins || join_taps(ctx, &job, s.images, strides[3], &copy));
    if (ready) {
        run(ctx, &job, then);
    }
    free(zeros);
    free(copy);
    if (own != NULL) {
        gw_panels_free(own, gw_panels_bytes(&form));
    }
    return ready ? GW_OK : GW_NO_MEMORY;
}
