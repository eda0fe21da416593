/* Convolutions as matrix products: where few places share the weights, laying these out for tiles
 * costs more than a matrix of what every tap reads, and a kernel of one tap needs no such matrix.
 *
 *     output[outs, places]        = weights[outs, ins * taps] @ columns[ins * taps, places]
 *     columns' gradient           = weights.T @ gradient[outs, places]; taps add up in the input
 *     gradient of the weights     = gradient @ columns.T
 *
 * for each group. Where images are small, the places of several lie side by side. */
#define _GNU_SOURCE
#include "conv.h"

#include <string.h>

enum {
    FEW_PLACES = 64,            /* of all images, for several taps */
    LEAST_ROWS = 8,             /* channels of a group, and taps of all of them */
    WHOLE_PLACES = 96,          /* with fewer, images lie side by side, */
    SIDE_BY_SIDE = 256,         /* up to so many places */
    COLUMN_BYTES = 1 << 20,
};

typedef struct {
    Layout layout;
    Pass pass;                          /* what each tap reads in the planes */
    const void *planes, *planes_end, *bias;
    void *copies, *columns, *product, *output;
    int64_t images, image_step;         /* of a chunk, and between their planes */
    int64_t channels, wide, out_plane;  /* places of a chunk, and of an image */
} Places;

/* The planes of one tensor as rows [channel, (image, place)]. */
typedef struct {
    void *rows, *tensor;
    int64_t images, channels, plane;
    bool gather;
} Rows;

typedef struct {
    gw_body gather_columns, add_columns, return_planes, move_planes, fill_bias;
} Steps;

#define REAL float
#define NAME(x) x##_f32
#include "conv_columns_kernel.h"
#define REAL double
#define NAME(x) x##_f64
#include "conv_columns_kernel.h"

/* What all parts of one call share. */
typedef struct {
    Memory *memory;
    const gw_ctx *ctx;
    const Conv *conv;
    const Steps *steps;
    Places places;
    int64_t depth, chunk;               /* rows of a group's columns; images at a time */
    int32_t dtype;
    bool padded, spread;                /* planes are copied; columns are made of them */
    void *gradient;                     /* rows of a chunk of several images */
} Call;

bool gw_conv_columns_take(const Conv *conv) {
    int64_t taps = volume_of(conv->kernel);
    bool real = conv->type == NPY_FLOAT32 || conv->type == NPY_FLOAT64;
    return real && (taps == 1 || conv->images * volume_of(conv->out) <= FEW_PLACES) && conv->outs >= LEAST_ROWS
           && conv->ins * taps >= LEAST_ROWS;
}

/* Images whose columns are made at a time. */
static int64_t chunk_of(const Conv *conv, int64_t depth) {
    int64_t places = volume_of(conv->out), size = conv->kernels->size;
    int64_t most = COLUMN_BYTES / size / (depth * conv->groups) / places;
    int64_t wanted = places < WHOLE_PLACES ? SIDE_BY_SIDE / places : 1;
    wanted = wanted < most ? wanted : most;
    wanted = wanted > 1 ? wanted : 1;
    return wanted < conv->images ? wanted : conv->images;
}

static Call begin(Memory *memory, const gw_ctx *ctx, const Conv *conv) {
    bool single = conv->type == NPY_FLOAT32;
    Call c = {.memory = memory, .ctx = ctx, .conv = conv,
              .steps = single ? &steps_f32 : &steps_f64,
              .dtype = single ? GW_FLOAT32 : GW_FLOAT64,
              .depth = conv->ins * volume_of(conv->kernel)};
    Places *own = &c.places;
    own->layout = gw_conv_input_layout(memory, conv);
    gw_conv_input_pass(memory, conv, &own->layout, &own->pass);
    own->channels = conv->groups * conv->ins;
    own->image_step = gw_conv_times(memory, own->channels, own->layout.plane);
    own->out_plane = volume_of(conv->out);
    own->bias = conv->bias;
    c.chunk = chunk_of(conv, c.depth);
    c.padded = !gw_conv_is_identity(&own->layout);
    c.spread = c.chunk > 1 || volume_of(conv->kernel) > 1;
    int64_t size = conv->kernels->size, wide = gw_conv_times(memory, c.chunk, own->out_plane);
    int64_t rows = gw_conv_times(memory, conv->groups, c.depth);
    if (c.padded) {
        own->copies = gw_conv_take(memory, gw_conv_times(memory, c.chunk, own->image_step), size);
    }
    if (c.spread) {
        own->columns = gw_conv_take(memory, gw_conv_times(memory, rows, wide), size);
    }
    if (c.chunk > 1) {
        int64_t outs = gw_conv_times(memory, conv->groups * conv->outs, wide);
        c.gradient = gw_conv_take(memory, outs, size);
    }
    return c;
}

static void *at(const Call *c, const void *base, int64_t elements) {
    return (char *)(uintptr_t)base + elements * c->conv->kernels->size;
}

/* The columns of a chunk of the input's images from `input` on. */
static void make_columns(Call *c, const void *input) {
    Places *own = &c->places;
    const Kernels *kernels = c->conv->kernels;
    int64_t planes = own->images * own->channels;
    own->planes = input;
    if (c->padded) {
        Job job = {.layout = own->layout, .input = input, .copies = own->copies};
        gw_parallel_for(c->ctx, kernels->fill_planes, &job, planes, 1);
        own->planes = own->copies;
    }
    own->planes_end = at(c, own->planes, own->images * own->image_step);
    if (c->spread) {
        gw_parallel_for(c->ctx, c->steps->gather_columns, own, own->channels, 1);
    } else {
        own->columns = (void *)(uintptr_t)own->planes;
    }
}

/* Between rows [channel, (image, place)] and the chunk's planes of a tensor. */
static void move(const Call *c, void *rows, const void *tensor, int64_t channels, bool gather) {
    Rows r = {rows, (void *)(uintptr_t)tensor, c->places.images, channels, c->places.out_plane,
              gather};
    gw_parallel_for(c->ctx, c->steps->move_planes, &r, channels, 8);
}

/* The rows of the chunk's planes of the output's gradient; in place for one image. */
static const void *gradient_rows(const Call *c, const void *tensor) {
    if (c->chunk == 1) {
        return tensor;
    }
    move(c, c->gradient, tensor, c->conv->groups * c->conv->outs, true);
    return c->gradient;
}

/* The next chunk of images; false after the last. */
static bool next_chunk(Call *c, int64_t first) {
    int64_t left = c->conv->images - first;
    c->places.images = left < c->chunk ? left : c->chunk;
    c->places.wide = c->places.images * c->places.out_plane;
    return left > 0 && c->memory->failed == DONE;
}

void gw_conv_columns_forward(Memory *memory, const gw_ctx *ctx, const Conv *conv) {
    Call c = begin(memory, ctx, conv);
    Places *own = &c.places;
    int64_t volume = volume_of(conv->in) * own->channels, outs = conv->groups * conv->outs;
    for (int64_t first = 0; next_chunk(&c, first); first += c.chunk) {
        void *out = at(&c, conv->output, first * outs * own->out_plane);
        make_columns(&c, at(&c, conv->a, first * volume));
        own->product = c.chunk > 1 ? c.gradient : out;
        if (conv->bias != NULL) {
            gw_parallel_for(ctx, c.steps->fill_bias, own, outs, 8);
        }
        gw_gemm(ctx, c.dtype, 0, 0, conv->outs, own->wide, c.depth, 1, conv->b, c.depth,
                conv->outs * c.depth, own->columns, own->wide, c.depth * own->wide,
                conv->bias != NULL, own->product, own->wide, conv->outs * own->wide,
                conv->groups);
        if (c.chunk > 1) {
            move(&c, c.gradient, out, outs, false);
        }
    }
}

void gw_conv_columns_weight_gradient(Memory *memory, const gw_ctx *ctx, const Conv *conv) {
    Call c = begin(memory, ctx, conv);
    Places *own = &c.places;
    int64_t volume = volume_of(conv->in) * own->channels, outs = conv->groups * conv->outs;
    for (int64_t first = 0; next_chunk(&c, first); first += c.chunk) {
        const void *gradient = at(&c, conv->a, first * outs * own->out_plane);
        make_columns(&c, at(&c, conv->b, first * volume));
        gw_gemm(ctx, c.dtype, 0, 1, conv->outs, c.depth, own->wide, 1,
                gradient_rows(&c, gradient), own->wide, conv->outs * own->wide, own->columns,
                own->wide, c.depth * own->wide, first > 0, conv->output, c.depth,
                conv->outs * c.depth, conv->groups);
    }
}

/* What each tap says, added up in the planes, and these as the input's gradient. */
static void return_columns(Call *c) {
    Places *own = &c->places;
    if (c->spread) {
        gw_parallel_for(c->ctx, c->steps->add_columns, own, own->channels, 1);
    }
    gw_parallel_for(c->ctx, c->steps->return_planes, own, own->images * own->channels, 1);
}

void gw_conv_columns_input_gradient(Memory *memory, const gw_ctx *ctx, const Conv *conv) {
    Call c = begin(memory, ctx, conv);
    Places *own = &c.places;
    int64_t volume = volume_of(conv->in) * own->channels, outs = conv->groups * conv->outs;
    bool plain = !c.padded && own->pass.taps == 1 && conv->bias == NULL;
    if (!c.padded && !plain) {
        own->copies = gw_conv_take(memory, gw_conv_times(memory, c.chunk, own->image_step),
                                   conv->kernels->size);
    }
    if (!c.spread && !plain) {
        own->columns = own->copies;
    }
    for (int64_t first = 0; next_chunk(&c, first); first += c.chunk) {
        const void *gradient = at(&c, conv->a, first * outs * own->out_plane);
        own->output = at(&c, conv->output, first * volume);
        void *columns = plain && c.chunk == 1 ? own->output : own->columns;
        gw_gemm(ctx, c.dtype, 1, 0, c.depth, own->wide, conv->outs, 1, conv->b, c.depth,
                conv->outs * c.depth, gradient_rows(&c, gradient), own->wide,
                conv->outs * own->wide, 0, columns, own->wide, c.depth * own->wide, conv->groups);
        if (plain && c.chunk > 1) {
            move(&c, own->columns, own->output, own->channels, false);
        } else if (!plain) {
            return_columns(&c);
        }
    }
}
