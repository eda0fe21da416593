/* The convolution loops of one element type and vector width. Included with REAL, NAME(x), BYTES (of
 * a vector: no more than registers have, or compilers split it in memory), TALLEST (rows of a
 * tile that fit into them) and KERNEL (the attribute that selects instructions) defined; heights and
 * widths of tiles are constants once inlined, so that the accumulators stay in registers. */

#define WIDTH 2     /* vectors in a panel's row */
enum { NAME(LANES) = BYTES / sizeof(REAL), NAME(PANEL) = WIDTH * BYTES / sizeof(REAL) };
typedef REAL NAME(Vec) __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));
typedef REAL NAME(HalfVec) __attribute__((vector_size(BYTES / 2), aligned(sizeof(REAL)), may_alias));
typedef REAL NAME(QuarterVec) __attribute__((vector_size(BYTES / 4), aligned(sizeof(REAL)), may_alias));

#include "planes_kernel.h"

/* Taps [base, stop) of one row tile, as [k][height], zeros after the last row. */
static inline __attribute__((always_inline)) void
NAME(pack_tile)(const Job *job, int64_t tile, int64_t base, int64_t stop) {
    const Pass *pass = job->pass;
    int64_t height = job->height, first = tile % job->tiles * height;
    REAL *to = (REAL *)pass->packed + tile * job->depth * pass->taps * height;
    const REAL *from = (const REAL *)job->weights + tile / job->tiles * job->weight_group;
    for (int64_t i = 0; i < height; i++) {
        bool real = first + i < job->rows;
        const REAL *row = from + (real ? first + i : 0) * job->weight_row;
        for (int64_t p = base; p < stop; p++) {
            to[p * height + i] = real ? row[pass->weight_offsets[p]] : 0;
        }
    }
}

/* Weights of row tiles [begin, end) (counted over groups): tile by tile, or taps by taps of all
 * tiles where those of one tile lie far apart, as in gradients. */
KERNEL static void NAME(pack_weights)(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    int64_t k = job->depth * job->pass->taps;
    int64_t together = job->weight_row < k ? end - begin : 1;
    for (int64_t first = begin; first < end; first += together) {
        for (int64_t base = 0; base < k; base += PACK_BLOCK) {
            int64_t stop = k - base < PACK_BLOCK ? k : base + PACK_BLOCK;
            for (int64_t tile = first; tile < first + together; tile++) {
                NAME(pack_tile)(job, tile, base, stop);
            }
        }
    }
}

/* acc[height][width vectors] = sum over p of a[p][height] * b[offsets[p] ...]. */
static inline __attribute__((always_inline)) void
NAME(conv_tile)(const int height, int64_t k, const REAL *a, const REAL *b,
                const int64_t *offsets, REAL *acc) {
    NAME(Vec) sums[MAX_HEIGHT][WIDTH];
    for (int i = 0; i < height; i++) {
        for (int v = 0; v < WIDTH; v++) {
            sums[i][v] = (NAME(Vec)){0};
        }
    }
    for (int64_t p = 0; p < k; p++) {
        const REAL *row = b + offsets[p];
        NAME(Vec) columns[WIDTH];
        for (int v = 0; v < WIDTH; v++) {
            columns[v] = *(const NAME(Vec) *)(row + v * NAME(LANES));
        }
        for (int i = 0; i < height; i++) {
            REAL factor = a[p * height + i];
            for (int v = 0; v < WIDTH; v++) {
                sums[i][v] += factor * columns[v];
            }
        }
    }
    for (int i = 0; i < height; i++) {
        for (int v = 0; v < WIDTH; v++) {
            *(NAME(Vec) *)(acc + (i * WIDTH + v) * NAME(LANES)) = sums[i][v];
        }
    }
}

/* out = acc + bias, or out += acc, for the columns of a panel. */
static inline __attribute__((always_inline)) void
NAME(store_row)(const REAL *acc, const Columns *columns, bool add, REAL bias, REAL *out) {
    REAL sums[NAME(PANEL)];
    for (int j = 0; j < NAME(PANEL); j++) {
        sums[j] = acc[j] + bias;
    }
    int64_t step = columns->step;
    for (int r = 0; r < columns->runs; r++) {
        int64_t first = columns->run[r], n = columns->run_length[r];
        REAL *to = out + columns->to[first];
        if (!add && step == 1 && n == NAME(PANEL)) {
            memcpy(to, sums, sizeof sums);
        } else if (step == 1) {
            for (int64_t j = 0; j < n; j++) {
                to[j] = (add ? to[j] : 0) + sums[first + j];
            }
        } else {
            for (int64_t j = 0; j < n; j++) {
                to[j * step] = (add ? to[j * step] : 0) + sums[first + j];
            }
        }
    }
}

/* panel[p][i] = from[offsets[p] + i] for i < n: from both ends where a narrower vector does not
 * reach over all. */
#define COPY_ROWS(Vector)                                                                         \
    for (int64_t p = 0; p < k; p++) {                                                             \
        const REAL *row = from + offsets[p];                                                      \
        REAL *to = panel + p * NAME(PANEL);                                                       \
        *(Vector *)to = *(const Vector *)row;                                                     \
        *(Vector *)(to + last) = *(const Vector *)(row + last);                                   \
    }
static inline __attribute__((always_inline)) void
NAME(gather_segment)(int64_t n, int64_t k, const REAL *from, const int64_t *offsets,
                     REAL *panel) {
    for (; n >= NAME(LANES); n -= NAME(LANES), from += NAME(LANES), panel += NAME(LANES)) {
        for (int64_t p = 0; p < k; p++) {
            *(NAME(Vec) *)(panel + p * NAME(PANEL)) = *(const NAME(Vec) *)(from + offsets[p]);
        }
    }
    if (2 * n >= NAME(LANES)) {
        int64_t last = n - NAME(LANES) / 2;
        COPY_ROWS(NAME(HalfVec))
    } else if (4 * n >= NAME(LANES)) {
        int64_t last = n - NAME(LANES) / 4;
        COPY_ROWS(NAME(QuarterVec))
    } else if (n > 0) {
        for (int64_t p = 0; p < k; p++) {
            for (int64_t i = 0; i < n; i++) {
                panel[p * NAME(PANEL) + i] = from[offsets[p] + i];
            }
        }
    }
}
#undef COPY_ROWS

/* panel[p][...] = source[offsets[p] + the columns' places]. */
static inline __attribute__((always_inline)) void
NAME(gather_panel)(const Columns *columns, int64_t k, const REAL *source, const int64_t *offsets,
                   REAL *panel) {
    for (int r = 0; r < columns->segments; r++) {
        int first = columns->segment[r];
        NAME(gather_segment)(columns->segment_length[r], k, source + columns->from[first], offsets,
                             panel + first);
    }
}

/* Panels [begin, end), counted over images, groups and blocks of row tiles. */
KERNEL static void NAME(convolve)(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    const Pass *pass = job->pass;
    int64_t depth = job->depth * pass->taps, k_block = even_part(depth, K_BLOCK);
    REAL acc[MAX_HEIGHT * NAME(PANEL)] __attribute__((aligned(64)));
    REAL panel[K_BLOCK * NAME(PANEL)] __attribute__((aligned(64)));
    memset(panel, 0, (size_t)(k_block * NAME(PANEL)) * sizeof(REAL));
    for (int64_t task = begin; task < end; task++) {
        int64_t block = task % job->blocks, rest = task / job->blocks;
        Columns columns;
        find_columns(job, rest % job->panels, NAME(PANEL), &columns);
        rest /= job->panels;
        int64_t group = rest % job->groups, image = rest / job->groups;
        int64_t channels = job->groups * job->depth;
        const REAL *source = (const REAL *)job->planes
                             + (image * channels + group * job->depth) * job->layout.plane;
        REAL *out = (REAL *)job->output
                    + (image * job->groups + group) * job->rows * job->out_plane;
        int64_t last = (block + 1) * job->block_tiles;
        last = last < job->tiles ? last : job->tiles;
        for (int64_t first = 0; first < depth; first += k_block) {
            int64_t k = depth - first < k_block ? depth - first : k_block;
            const REAL *b = source + columns.from[0];
            const int64_t *offsets = pass->offsets + first;
            if (!columns.contiguous) {
                NAME(gather_panel)(&columns, k, source, offsets, panel);
                b = panel;
                offsets = job->steps;
            }
            for (int64_t tile = block * job->block_tiles; tile < last; tile++) {
                const REAL *a = (const REAL *)pass->packed
                                + ((group * job->tiles + tile) * depth + first) * job->height;
#define TILE(h) case h: NAME(conv_tile)(h, k, a, b, offsets, acc); break;
                switch (job->height) {
                    TILE(1) TILE(2) TILE(4) TILE(6) TILE(8) TILE(10) TILE(12)
                }
#undef TILE
                for (int64_t i = 0; i < job->height; i++) {
                    int64_t row = tile * job->height + i;
                    if (row < job->rows) {
                        const REAL *bias = job->bias;
                        REAL start = bias != NULL && first == 0
                                         ? bias[group * job->rows + row] : 0;
                        NAME(store_row)(acc + i * NAME(PANEL), &columns, first > 0, start,
                                        out + row * job->out_plane);
                    }
                }
            }
        }
    }
}

/* out[x] = bias + sum over p of w[p] * b[offsets[p] + x] for `count` vectors of columns, of which
 * `kept` elements are written. */
static inline __attribute__((always_inline)) void
NAME(direct_block)(const int count, int64_t k, const REAL *w, const REAL *b,
                   const int64_t *offsets, REAL bias, REAL *out, int64_t out_step, int kept) {
    NAME(Vec) sums[4], start = (NAME(Vec)){0} + bias;
    for (int v = 0; v < count; v++) {
        sums[v] = start;
    }
    for (int64_t p = 0; p < k; p++) {
        const REAL *row = b + offsets[p];
        for (int v = 0; v < count; v++) {
            sums[v] += w[p] * *(const NAME(Vec) *)(row + v * NAME(LANES));
        }
    }
    if (out_step == 1 && kept == count * NAME(LANES)) {
        for (int v = 0; v < count; v++) {
            *(NAME(Vec) *)(out + v * NAME(LANES)) = sums[v];
        }
        return;
    }
    REAL values[4 * NAME(LANES)] = {0};
    for (int v = 0; v < count; v++) {
        *(NAME(Vec) *)(values + v * NAME(LANES)) = sums[v];
    }
    for (int x = 0; x < kept; x++) {
        out[x * out_step] = values[x];
    }
}

/* A line of columns. The last vector overlaps the one before; a line that is shorter than one
 * reads past its end where the planes are copies, which have room for that. */
static inline __attribute__((always_inline)) void
NAME(direct_line)(int64_t k, const REAL *w, const REAL *b, const int64_t *offsets, REAL bias,
                  int64_t n, bool copied, REAL *out, int64_t out_step) {
    int64_t x = 0;
    while (n - x >= NAME(LANES)) {
        int64_t left = (n - x) / NAME(LANES);
        int count = left >= 4 ? 4 : left >= 2 ? 2 : 1;
        REAL *to = out + x * out_step;
        if (count == 4) {
            NAME(direct_block)(4, k, w, b + x, offsets, bias, to, out_step, 4 * NAME(LANES));
        } else if (count == 2) {
            NAME(direct_block)(2, k, w, b + x, offsets, bias, to, out_step, 2 * NAME(LANES));
        } else {
            NAME(direct_block)(1, k, w, b + x, offsets, bias, to, out_step, NAME(LANES));
        }
        x += count * NAME(LANES);
    }
    if (x == n) {
        return;
    }
    if (n >= NAME(LANES)) {
        x = n - NAME(LANES);
        NAME(direct_block)(1, k, w, b + x, offsets, bias, out + x * out_step, out_step,
                           NAME(LANES));
    } else if (copied) {
        NAME(direct_block)(1, k, w, b, offsets, bias, out, out_step, (int)n);
    } else {
        for (; x < n; x++) {
            REAL sum = bias;
            for (int64_t p = 0; p < k; p++) {
                sum += w[p] * b[offsets[p] + x];
            }
            out[x * out_step] = sum;
        }
    }
}

/* Images and groups [begin, end) where a group has few output channels: line by line. */
KERNEL static void NAME(convolve_directly)(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    const Pass *pass = job->pass;
    int64_t depth = job->depth * pass->taps;
    const REAL *bias = job->bias;
    for (int64_t part = begin; part < end; part++) {
        int64_t group = part % job->groups;
        const REAL *source = (const REAL *)job->planes + part * job->depth * job->layout.plane;
        for (int64_t row = 0; row < job->rows; row++) {
            const REAL *w = (const REAL *)pass->packed + (group * job->rows + row) * depth;
            REAL start = bias != NULL ? bias[group * job->rows + row] : 0;
            REAL *out = (REAL *)job->output + (part * job->rows + row) * job->out_plane + pass->to;
            for (int64_t z = 0; z < pass->count[0]; z++) {
                for (int64_t y = 0; y < pass->count[1]; y++) {
                    NAME(direct_line)(
                        depth, w, source + pass->from + z * pass->from_step[0]
                                      + y * pass->from_step[1],
                        pass->offsets, start, pass->count[2], job->copies != NULL,
                        out + z * pass->to_step[0] + y * pass->to_step[1], pass->to_step[2]);
                }
            }
        }
    }
}

/* ---- the gradient with regard to the weights ---- */

/* Gradients of images and groups [begin, end) as [position][channel], zeros after the last
 * channel. */
KERNEL static void NAME(transpose_gradient)(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    for (int64_t part = begin; part < end; part++) {
        const REAL *from = (const REAL *)job->gradient + part * job->rows * job->out_plane;
        REAL *to = (REAL *)job->transposed + part * job->out_plane * job->padded_rows;
        for (int64_t base = 0; base < job->out_plane; base += 16) {
            int64_t stop = base + 16 < job->out_plane ? base + 16 : job->out_plane;
            for (int64_t row = 0; row < job->padded_rows; row++) {
                for (int64_t at = base; at < stop; at++) {
                    to[at * job->padded_rows + row] =
                        row < job->rows ? from[row * job->out_plane + at] : 0;
                }
            }
        }
    }
}

/* acc[WEIGHT_HEIGHT][width vectors] += x[offsets[i] + place] * g[place][...] over the places of
 * lines `first`.. of the slices (images times depths) [slice, last). */
static inline __attribute__((always_inline)) void
NAME(weight_tile)(const int width, const Job *job, int64_t slice, int64_t last, int64_t first,
                  int64_t lines, const REAL *x, const int64_t *offsets, const REAL *gradient,
                  REAL *acc) {
    const Pass *pass = job->pass;
    int64_t channels = job->groups * job->depth, length = pass->count[2], step = job->padded_rows;
    NAME(Vec) sums[WEIGHT_HEIGHT][2];
    for (int i = 0; i < WEIGHT_HEIGHT; i++) {
        for (int v = 0; v < width; v++) {
            sums[i][v] = *(const NAME(Vec) *)(acc + i * step + v * NAME(LANES));
        }
    }
    for (; slice < last; slice++) {
        int64_t image = slice / pass->count[0], z = slice % pass->count[0];
        const REAL *from[WEIGHT_HEIGHT];
        for (int i = 0; i < WEIGHT_HEIGHT; i++) {
            from[i] = x + image * channels * job->layout.plane + z * pass->from_step[0]
                      + first * pass->from_step[1] + offsets[i];
        }
        const REAL *g = gradient + (image * job->groups * job->out_plane
                                    + (z * pass->count[1] + first) * length) * step;
        for (int64_t line = 0; line < lines; line++) {
            for (int64_t at = 0; at < length; at++, g += step) {
                NAME(Vec) columns[2];
                for (int v = 0; v < width; v++) {
                    columns[v] = *(const NAME(Vec) *)(g + v * NAME(LANES));
                }
                for (int i = 0; i < WEIGHT_HEIGHT; i++) {
                    REAL factor = from[i][line * pass->from_step[1] + at];
                    for (int v = 0; v < width; v++) {
                        sums[i][v] += factor * columns[v];
                    }
                }
            }
        }
    }
    for (int i = 0; i < WEIGHT_HEIGHT; i++) {
        for (int v = 0; v < width; v++) {
            *(NAME(Vec) *)(acc + i * step + v * NAME(LANES)) = sums[i][v];
        }
    }
}

/* One block of lines for the tiles [begin, end). */
static inline __attribute__((always_inline)) void
NAME(weight_block)(const Job *job, int64_t begin, int64_t end, int64_t slice, int64_t last,
                   int64_t first, int64_t lines) {
    int64_t width = job->padded_rows;
    for (int64_t tile = begin; tile < end; tile++) {
        int64_t group = tile / job->tiles;
        const REAL *g = (const REAL *)job->transposed + group * job->out_plane * width;
        const REAL *x = (const REAL *)job->planes + group * job->depth * job->layout.plane;
        const int64_t *offsets = job->pass->offsets + tile % job->tiles * WEIGHT_HEIGHT;
        REAL *acc = (REAL *)job->output + tile * WEIGHT_HEIGHT * width;
        int64_t v = 0;
        for (; v + 2 * NAME(LANES) <= width && TALLEST > WEIGHT_HEIGHT; v += 2 * NAME(LANES)) {
            NAME(weight_tile)(2, job, slice, last, first, lines, x, offsets, g + v, acc + v);
        }
        for (; v < width; v += NAME(LANES)) {
            NAME(weight_tile)(1, job, slice, last, first, lines, x, offsets, g + v, acc + v);
        }
    }
}

/* Tiles [begin, end) of WEIGHT_HEIGHT rows of the transposed weight gradient, over groups. */
KERNEL static void NAME(weight_tiles)(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    const Pass *pass = job->pass;
    int64_t slices = job->images * pass->count[0], lines = pass->count[1];
    int64_t most = WEIGHT_BLOCK / (int64_t)sizeof(REAL) / (job->padded_rows * pass->count[2]);
    int64_t whole = most / lines > 1 ? most / lines : 1, part = most > 1 ? most : 1;
    part = part < lines ? part : lines;
    for (int64_t slice = 0; slice < slices; slice += whole) {
        int64_t last = slice + whole < slices ? slice + whole : slices;
        for (int64_t first = 0; first < lines; first += part) {
            int64_t count = lines - first < part ? lines - first : part;
            NAME(weight_block)(job, begin, end, slice, last, first, count);
        }
    }
}

/* sums[count] += the products of g with x at each of `count` offsets, over lines. */
static inline __attribute__((always_inline)) void
NAME(dot_lines)(const int count, int64_t lines, int64_t length, const REAL *x, int64_t x_step,
                const int64_t *offsets, const REAL *g, REAL *sums) {
    NAME(Vec) wide[DOT_TAPS];
    for (int i = 0; i < count; i++) {
        wide[i] = (NAME(Vec)){0};
    }
    for (int64_t line = 0; line < lines; line++, x += x_step, g += length) {
        int64_t at = 0;
        for (; at + NAME(LANES) <= length; at += NAME(LANES)) {
            NAME(Vec) own = *(const NAME(Vec) *)(g + at);
            for (int i = 0; i < count; i++) {
                wide[i] += own * *(const NAME(Vec) *)(x + offsets[i] + at);
            }
        }
        for (; at < length; at++) {
            for (int i = 0; i < count; i++) {
                sums[i] += g[at] * x[offsets[i] + at];
            }
        }
    }
    for (int i = 0; i < count; i++) {
        for (int lane = 0; lane < NAME(LANES); lane++) {
            sums[i] += wide[i][lane];
        }
    }
}

/* Rows [begin, end) of the weight gradient where a group has few of them: dot products. */
KERNEL static void NAME(weight_dots)(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    const Pass *pass = job->pass;
    int64_t depth = job->depth * pass->taps, channels = job->groups * job->depth;
    for (int64_t row = begin; row < end; row++) {
        REAL *out = (REAL *)job->output + row * depth;
        for (int64_t image = 0; image < job->images; image++) {
            const REAL *g = (const REAL *)job->gradient
                            + (image * job->groups * job->rows + row) * job->out_plane;
            const REAL *x = (const REAL *)job->planes
                            + (image * channels + row / job->rows * job->depth) * job->layout.plane;
            for (int64_t z = 0; z < pass->count[0]; z++) {
                const REAL *own = g + z * pass->count[1] * pass->count[2];
                const REAL *from = x + z * pass->from_step[0];
                int64_t t = 0;
                for (; t + DOT_TAPS <= depth; t += DOT_TAPS) {
                    NAME(dot_lines)(DOT_TAPS, pass->count[1], pass->count[2], from,
                                    pass->from_step[1], pass->offsets + t, own, out + t);
                }
                for (; t < depth; t++) {
                    NAME(dot_lines)(1, pass->count[1], pass->count[2], from,
                                    pass->from_step[1], pass->offsets + t, own, out + t);
                }
            }
        }
    }
}

/* Rows [begin, end), over groups, of the weight gradient [group][row][k] from [group][k][row]. */
KERNEL static void NAME(transpose_weights)(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    int64_t depth = job->depth * job->pass->taps, width = job->padded_rows;
    for (int64_t base = 0; base < depth; base += PACK_BLOCK) {
        int64_t stop = depth - base < PACK_BLOCK ? depth : base + PACK_BLOCK;
        for (int64_t row = begin; row < end; row++) {
            const REAL *from = (const REAL *)job->output + row % job->rows
                               + row / job->rows * job->tiles * WEIGHT_HEIGHT * width;
            REAL *to = (REAL *)job->copies + row * depth;
            for (int64_t k = base; k < stop; k++) {
                to[k] = from[k * width];
            }
        }
    }
}

#include "depthwise_kernel.h"

static const Kernels NAME(kernels) = {
    NAME(fill_planes), NAME(pack_weights), NAME(convolve), NAME(convolve_directly),
    NAME(transpose_gradient), NAME(weight_tiles), NAME(weight_dots), NAME(transpose_weights),
    NAME(convolve_planes), NAME(weigh_channels), NAME(PANEL), NAME(LANES), sizeof(REAL),
    TALLEST,
};

#undef REAL
#undef NAME
#undef WIDTH
#undef BYTES
#undef TALLEST
#undef KERNEL
