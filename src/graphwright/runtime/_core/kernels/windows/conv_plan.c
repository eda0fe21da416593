/* How a convolution is computed: its planes, and the passes of stride 1 over them. */
#define _GNU_SOURCE
#include "conv.h"

#include <stdlib.h>
#include <string.h>

void *gw_conv_take(Memory *memory, int64_t count, int64_t size) {
    int64_t bytes;
    const int64_t head = 64;
    if (memory->failed != DONE) {
        return NULL;
    }
    if (__builtin_mul_overflow(count, size, &bytes)
        || __builtin_add_overflow(bytes, 3 * head, &bytes) || bytes < 0) {
        memory->failed = TOO_LARGE;
        return NULL;
    }
    Block *block = aligned_alloc(64, (size_t)(bytes / head * head));
    if (block == NULL) {
        memory->failed = NO_MEMORY;
        return NULL;
    }
    block->next = memory->blocks;
    memory->blocks = block;
    return (char *)block + head;
}

void gw_conv_give_back(Memory *memory) {
    while (memory->blocks != NULL) {
        Block *next = memory->blocks->next;
        free(memory->blocks);
        memory->blocks = next;
    }
}

int64_t gw_conv_times(Memory *memory, int64_t a, int64_t b) {
    int64_t result;
    if (__builtin_mul_overflow(a, b, &result)) {
        memory->failed = TOO_LARGE;
        return 0;
    }
    return result;
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

/* After how many taps an axis' phases repeat. */
static int64_t period(const Conv *conv, int axis) {
    int64_t a = conv->stride[axis], b = conv->dilation[axis];
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return conv->stride[axis] / a;
}

int64_t gw_conv_phases(const Conv *conv, int axis) {
    int64_t repeats = period(conv, axis);
    return repeats < conv->kernel[axis] ? repeats : conv->kernel[axis];
}

int64_t gw_conv_reach(const Conv *conv, int axis) {
    return (conv->kernel[axis] - 1) * conv->dilation[axis] / conv->stride[axis];
}

void gw_conv_finish_layout(Memory *memory, Layout *l) {
    l->plane = 1;
    for (int a = 0; a < AXES; a++) {
        int64_t along = gw_conv_times(memory, l->phases[a], l->extent[a]);
        l->plane = gw_conv_times(memory, l->plane, along);
    }
}

/* The input's planes, for the forward pass and the gradient of the weights. */
Layout gw_conv_input_layout(Memory *memory, const Conv *conv) {
    Layout l;
    for (int a = 0; a < AXES; a++) {
        l.size[a] = conv->in[a];
        l.phases[a] = gw_conv_phases(conv, a);
        l.extent[a] = conv->out[a] + gw_conv_reach(conv, a);
        l.step[a] = l.stride[a] = conv->stride[a];
        l.dilation[a] = conv->dilation[a];
        l.origin[a] = -conv->pad[a];
    }
    gw_conv_finish_layout(memory, &l);
    return l;
}

/* The planes of the output's gradient: wide enough for every tap of every phase of the input. */
Layout gw_conv_gradient_layout(Memory *memory, const Conv *conv) {
    Layout l;
    for (int a = 0; a < AXES; a++) {
        int64_t low = floor_div(conv->pad[a], conv->stride[a]);
        int64_t high = floor_div(conv->in[a] - 1 + conv->pad[a], conv->stride[a]);
        l.size[a] = conv->out[a];
        l.phases[a] = l.step[a] = l.stride[a] = l.dilation[a] = 1;
        l.extent[a] = high - low + gw_conv_reach(conv, a) + 1;
        l.origin[a] = low - gw_conv_reach(conv, a);
    }
    gw_conv_finish_layout(memory, &l);
    return l;
}

bool gw_conv_is_identity(const Layout *l) {
    for (int a = 0; a < AXES; a++) {
        if (l->phases[a] != 1 || l->origin[a] != 0 || l->extent[a] != l->size[a]
            || (l->step[a] != 1 && l->extent[a] != 1)) {
            return false;
        }
    }
    return true;
}

static void set_steps(int64_t *steps, const int64_t *extent) {
    steps[2] = 1;
    steps[1] = extent[2];
    steps[0] = extent[1] * extent[2];
}

/* The forward pass: all taps, reading their phases. */
void gw_conv_input_pass(Memory *memory, const Conv *conv, const Layout *l, Pass *pass) {
    const int64_t *k = conv->kernel, *e = l->extent;
    int64_t taps = volume_of(k), t = 0;
    *pass = (Pass){.taps = taps};
    pass->source = gw_conv_take(memory, taps, sizeof(int64_t));
    pass->weight = gw_conv_take(memory, taps, sizeof(int64_t));
    memcpy(pass->count, conv->out, sizeof pass->count);
    set_steps(pass->from_step, e);
    set_steps(pass->to_step, conv->out);
    if (memory->failed != DONE) {
        return;
    }
    int64_t at[AXES];
    for (at[0] = 0; at[0] < k[0]; at[0]++) {
        for (at[1] = 0; at[1] < k[1]; at[1]++) {
            for (at[2] = 0; at[2] < k[2]; at[2]++, t++) {
                int64_t phase = 0, place = 0;
                for (int a = 0; a < AXES; a++) {
                    phase = phase * l->phases[a] + at[a] % period(conv, a);
                    place += at[a] * conv->dilation[a] / conv->stride[a] * pass->from_step[a];
                }
                pass->source[t] = phase * volume_of(e) + place;
                pass->weight[t] = t;
            }
        }
    }
}

/* The taps of one phase of the input's coordinates, reading the output's gradient. False where
 * the phase has no coordinates. */
bool gw_conv_gradient_pass(Memory *memory, const Conv *conv, const Layout *l, const int64_t *phase,
                          Pass *pass) {
    int64_t in_step[AXES], number[AXES], repeat[AXES];
    *pass = (Pass){.taps = 1};
    set_steps(pass->from_step, l->extent);
    set_steps(in_step, conv->in);
    for (int a = 0; a < AXES; a++) {
        int64_t s = conv->stride[a], remainder = phase[a] * conv->dilation[a] % s;
        int64_t low = ceil_div(conv->pad[a] - remainder, s);
        int64_t high = floor_div(conv->in[a] - 1 + conv->pad[a] - remainder, s);
        if (high < low) {
            return false;
        }
        pass->count[a] = high - low + 1;
        pass->from += (low - l->origin[a] - gw_conv_reach(conv, a)) * pass->from_step[a];
        pass->to += (low * s + remainder - conv->pad[a]) * in_step[a];
        pass->to_step[a] = s * in_step[a];
        repeat[a] = period(conv, a);
        number[a] = (conv->kernel[a] - phase[a] + repeat[a] - 1) / repeat[a];
        pass->taps *= number[a];
    }
    pass->source = gw_conv_take(memory, pass->taps, sizeof(int64_t));
    pass->weight = gw_conv_take(memory, pass->taps, sizeof(int64_t));
    for (int64_t t = 0; t < pass->taps && memory->failed == DONE; t++) {
        int64_t index[AXES] = {t / number[2] / number[1], t / number[2] % number[1],
                               t % number[2]};
        int64_t from = 0, weight = 0;
        for (int a = 0; a < AXES; a++) {
            int64_t tap = phase[a] + index[a] * repeat[a];
            int64_t shift = tap * conv->dilation[a] / conv->stride[a];
            from += (gw_conv_reach(conv, a) - shift) * pass->from_step[a];
            weight = weight * conv->kernel[a] + tap;
        }
        pass->source[t] = from;
        pass->weight[t] = weight;
    }
    return true;
}
