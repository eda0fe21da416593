/* Depthwise convolutions of up to two dimensions, and their gradients.
 *
 * The lines of a channel, a band of them at a time, are copied into a buffer that stays in the
 * first cache: with zeros around, and with stride s split into phases, as conv.c says. Sums are
 * then made over the buffer as if it were one line, so that narrow planes fill vectors as well as
 * wide ones; those that belong to no column are left out when the lines are written. */
#define _GNU_SOURCE
#include "conv.h"

enum { GRAIN = 8 << 10 };   /* elements of the output for which a task is worth it */

/* The lines that the outputs, or for the gradient all inputs' passes together, are made of. */
static int64_t grid_of(const Conv *conv, const Layout *l) {
    return l->extent[1] - gw_conv_reach(conv, 1);
}

/* How many lines of the grid fit at a time; 0 where it would be too few to be worth it. */
static int64_t band_of(const Conv *conv, const Layout *l) {
    int64_t line = l->phases[1] * l->phases[2] * l->extent[2], grid = grid_of(conv, l);
    int64_t most = BAND_BYTES / conv->kernels->size / line - gw_conv_reach(conv, 1);
    if (most >= grid) {
        return grid;
    }
    return most > 2 * gw_conv_reach(conv, 1) ? most : 0;
}

bool gw_depthwise_takes(const Conv *conv) {
    Memory memory = {NULL, DONE};
    bool single = conv->ins == 1 && conv->outs == 1 && conv->in[0] == 1 && conv->kernel[0] == 1
                  && conv->out[0] == 1 && conv->pad[0] == 0 && conv->stride[0] == 1;
    if (!single || volume_of(conv->kernel) > MOST_TAPS) {
        return false;
    }
    Layout input = gw_conv_input_layout(&memory, conv);
    Layout gradient = gw_conv_gradient_layout(&memory, conv);
    return memory.failed == DONE && input.phases[1] <= MOST_PHASES
           && input.phases[2] <= MOST_PHASES && band_of(conv, &input) > 0 && band_of(conv, &gradient) > 0;
}

static Depthwise describe(const Conv *conv) {
    return (Depthwise){.weights = conv->b, .bias = conv->bias, .output = conv->output,
                       .images = conv->images, .channels = conv->groups,
                       .taps = volume_of(conv->kernel)};
}

static const void *end_of(const Conv *conv, const void *planes, const int64_t *size) {
    return (const char *)planes
           + conv->images * conv->groups * volume_of(size) * conv->kernels->size;
}

/* Where the phases begin, and which of their columns exist. */
static void find_phases(Depthwise *d) {
    const Layout *l = &d->layout;
    int64_t step = l->step[2], width = l->extent[2], size = l->size[2];
    for (int64_t phase = 0; phase < l->phases[1]; phase++) {
        d->line_start[phase] = gw_conv_place(l, 1, phase, 0);
    }
    for (int64_t phase = 0; phase < l->phases[2]; phase++) {
        int64_t start = gw_conv_place(l, 2, phase, 0);
        int64_t low = start < 0 ? (-start + step - 1) / step : 0;
        int64_t high = start < size ? (size - start + step - 1) / step : 0;
        low = low < width ? low : width;
        high = high < width ? high : width;
        d->low[phase] = low;
        d->high[phase] = high > low ? high : low;
        d->column_start[phase] = start + low * step;
    }
}

/* Makes the layout that of one band. */
static void cut_bands(Memory *memory, const Conv *conv, Depthwise *d) {
    d->grid = grid_of(conv, &d->layout);
    d->band = band_of(conv, &d->layout);
    d->layout.extent[1] = d->band + gw_conv_reach(conv, 1);
    gw_conv_finish_layout(memory, &d->layout);
    find_phases(d);
    d->together = TOGETHER_BYTES / conv->kernels->size / d->layout.plane + 1;
}

/* The first tap from `t` on, in steps of 1 or -1, that reads at an offset; -1 where none does. */
static int64_t find_tap(const Pass *pass, int64_t t, int64_t step, int64_t offset) {
    while (t >= 0 && t < pass->taps && pass->source[t] != offset) {
        t += step;
    }
    return t < pass->taps ? t : -1;
}

/* Offsets rise from tap to tap, or, for gradients, fall. */
static void find_chains(const Pass *pass, Chains *chains) {
    bool taken[MOST_TAPS] = {false};
    int64_t line = pass->from_step[1], at = 0;
    bool rise = pass->source[0] <= pass->source[pass->taps - 1];
    int64_t step = rise ? 1 : -1, first = rise ? 0 : pass->taps - 1;
    chains->count = 0;
    for (int64_t i = 0; i < pass->taps; i++) {
        int64_t c = chains->count, next = first + i * step;
        if (taken[next]) {
            continue;
        }
        chains->source[c] = pass->source[next];
        chains->length[c] = 0;
        while (next >= 0 && !taken[next] && chains->length[c] < LONGEST_CHAIN) {
            taken[next] = true;
            chains->weight[at++] = pass->weight[next];
            chains->length[c]++;
            next = find_tap(pass, next + step, step, pass->source[next] + line);
        }
        chains->count++;
    }
}

static void run_planes(Memory *memory, const gw_ctx *ctx, const Conv *conv, Depthwise *d) {
    Chains *chains = gw_conv_take(memory, d->passes, sizeof *chains);
    if (memory->failed != DONE) {
        return;
    }
    for (int i = 0; i < d->passes; i++) {
        find_chains(d->pass + i, chains + i);
    }
    d->chains = chains;
    gw_parallel_for(ctx, conv->kernels->convolve_planes, d, conv->images * conv->groups,
                    GRAIN / (d->out_plane + 1) + 1);
}

/* A convolution that reads the input by one pass. */
static Depthwise over_input(Memory *memory, const Conv *conv, Pass *pass) {
    Depthwise d = describe(conv);
    d.layout = gw_conv_input_layout(memory, conv);
    cut_bands(memory, conv, &d);
    gw_conv_input_pass(memory, conv, &d.layout, pass);
    d.pass = pass;
    return d;
}

void gw_depthwise_forward(Memory *memory, const gw_ctx *ctx, const Conv *conv) {
    Pass pass;
    Depthwise d = over_input(memory, conv, &pass);
    if (memory->failed == DONE) {
        pass.count[1] = d.grid;
        d.passes = 1;
        d.input = conv->a;
        d.input_end = end_of(conv, conv->a, conv->in);
        d.out_plane = volume_of(conv->out);
        run_planes(memory, ctx, conv, &d);
    }
}

void gw_depthwise_input_gradient(Memory *memory, const gw_ctx *ctx, const Conv *conv) {
    Depthwise d = describe(conv);
    d.layout = gw_conv_gradient_layout(memory, conv);
    cut_bands(memory, conv, &d);
    int64_t lines = gw_conv_phases(conv, 1), columns = gw_conv_phases(conv, 2);
    Pass *passes = gw_conv_take(memory, lines * columns, sizeof(Pass));
    for (int64_t i = 0; i < lines * columns && memory->failed == DONE; i++) {
        int64_t phase[AXES] = {0, i / columns, i % columns};
        if (gw_conv_gradient_pass(memory, conv, &d.layout, phase, passes + d.passes)) {
            d.passes++;
        }
    }
    if (memory->failed == DONE) {
        d.pass = passes;
        d.input = conv->a;
        d.input_end = end_of(conv, conv->a, conv->out);
        d.out_plane = volume_of(conv->in);
        if (lines < conv->stride[1] || columns < conv->stride[2]) {
            gw_conv_fill_with_bias(conv, conv->groups, d.out_plane);
        }
        run_planes(memory, ctx, conv, &d);
    }
}

void gw_depthwise_weight_gradient(Memory *memory, const gw_ctx *ctx, const Conv *conv) {
    Pass pass;
    Depthwise d = over_input(memory, conv, &pass);
    if (memory->failed == DONE) {
        d.input = conv->b;
        d.input_end = end_of(conv, conv->b, conv->in);
        d.gradient = conv->a;
        d.gradient_end = end_of(conv, conv->a, conv->out);
        d.out_plane = volume_of(conv->out);
        gw_parallel_for(ctx, conv->kernels->weigh_channels, &d, conv->groups,
                        GRAIN / (d.out_plane * conv->images + 1) + 1);
    }
}
