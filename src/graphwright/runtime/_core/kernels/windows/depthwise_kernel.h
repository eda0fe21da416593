/* The loops of depthwise convolutions of one element type, a part of conv_kernel.h. Rows are
 * written in whole vectors, from the first to the last, so that what one writes past its end is
 * overwritten by the next. */

enum { NAME(ROOM) = BAND_BYTES / sizeof(REAL) + BAND_SPARE };

/* The lines [first, first + extent) of the phases of one channel, zeros around them. */
static inline __attribute__((always_inline)) void
NAME(fill_band)(const Depthwise *d, int64_t first, const REAL *plane, const REAL *limit, REAL *to) {
    const Layout *l = &d->layout;
    int64_t width = l->extent[2], step = l->step[2];
    for (int64_t py = 0; py < l->phases[1]; py++) {
        int64_t start = d->line_start[py] + first * l->step[1];
        for (int64_t px = 0; px < l->phases[2]; px++) {
            int64_t low = d->low[px], high = d->high[px], y = start;
            for (int64_t r = 0; r < l->extent[1]; r++, y += l->step[1], to += width) {
                if (y < 0 || y >= l->size[1]) {
                    NAME(zero)(to, width);
                    continue;
                }
                NAME(zero)(to, low);
                NAME(copy)(plane + y * l->size[2] + d->column_start[px], step, high - low, limit,
                           to + low);
                NAME(zero)(to + high, width - high);
            }
        }
    }
}

/* to[i] = bias + sum over t of w[t] * from[offsets[t] + i] for `count` vectors. */
static inline __attribute__((always_inline)) void
NAME(block)(const int count, int64_t taps, const REAL *w, const int64_t *offsets,
            const REAL *from, REAL bias, REAL *to) {
    NAME(Vec) sums[4], start = (NAME(Vec)){0} + bias;
    for (int v = 0; v < count; v++) {
        sums[v] = start;
    }
    for (int64_t t = 0; t < taps; t++) {
        const REAL *row = from + offsets[t];
        for (int v = 0; v < count; v++) {
            sums[v] += w[t] * *(const NAME(Vec) *)(row + v * NAME(LANES));
        }
    }
    for (int v = 0; v < count; v++) {
        *(NAME(Vec) *)(to + v * NAME(LANES)) = sums[v];
    }
}

/* The sums at n places, one behind the other whatever the lines. */
static inline __attribute__((always_inline)) void
NAME(sums)(int64_t n, int64_t taps, const REAL *w, const int64_t *offsets, const REAL *from,
           REAL bias, REAL *to) {
    int64_t i = 0;
    for (; n - i > 3 * NAME(LANES); i += 4 * NAME(LANES)) {
        NAME(block)(4, taps, w, offsets, from + i, bias, to + i);
    }
    for (; n - i > NAME(LANES); i += 2 * NAME(LANES)) {
        NAME(block)(2, taps, w, offsets, from + i, bias, to + i);
    }
    if (n > i) {
        NAME(block)(1, taps, w, offsets, from + i, bias, to + i);
    }
}

/* acc[r][v] += w[t] * from[(r + t) * line + v vectors] for `taps` lines. */
static inline __attribute__((always_inline)) void
NAME(add_column)(const int taps, const int count, const REAL *w, const REAL *from, int64_t line,
                 NAME(Vec) (*acc)[2]) {
    for (int r = 0; r < ROW_BLOCK + taps - 1; r++) {
        for (int v = 0; v < count; v++) {
            NAME(Vec) x = *(const NAME(Vec) *)(from + r * line + v * NAME(LANES));
            for (int to = 0; to < ROW_BLOCK; to++) {
                if (r - to >= 0 && r - to < taps) {
                    acc[to][v] += w[r - to] * x;
                }
            }
        }
    }
}

/* ROW_BLOCK lines of `count` vectors: what is read is used for all of them. */
static inline __attribute__((always_inline)) void
NAME(row_block)(const int count, const Chains *chains, const REAL *w, const REAL *from, REAL bias,
                int64_t line, REAL *to) {
    NAME(Vec) acc[ROW_BLOCK][2];
    for (int r = 0; r < ROW_BLOCK; r++) {
        for (int v = 0; v < count; v++) {
            acc[r][v] = (NAME(Vec)){0} + bias;
        }
    }
    for (int64_t c = 0; c < chains->count; c++) {
        const REAL *source = from + chains->source[c];
#define COLUMN(n) case n: NAME(add_column)(n, count, w, source, line, acc); break;
        switch (chains->length[c]) {
            COLUMN(1) COLUMN(2) COLUMN(3) COLUMN(4) COLUMN(5) COLUMN(6) COLUMN(7)
        }
#undef COLUMN
        w += chains->length[c];
    }
    for (int r = 0; r < ROW_BLOCK; r++) {
        for (int v = 0; v < count; v++) {
            *(NAME(Vec) *)(to + r * line + v * NAME(LANES)) = acc[r][v];
        }
    }
}

/* The sums at `lines` lines of n columns, of which there are ROW_BLOCK or more. The last vectors
 * and lines overlap those before. */
static inline __attribute__((always_inline)) void
NAME(row_sums)(int64_t lines, int64_t n, const Chains *chains, const REAL *w, const REAL *from,
               REAL bias, int64_t line, REAL *to) {
    for (int64_t y = 0; y < lines; y += ROW_BLOCK) {
        int64_t at = (y < lines - ROW_BLOCK ? y : lines - ROW_BLOCK) * line, x = 0;
        for (; n - x >= 2 * NAME(LANES); x += 2 * NAME(LANES)) {
            NAME(row_block)(2, chains, w, from + at + x, bias, line, to + at + x);
        }
        for (; x < n; x += NAME(LANES)) {
            int64_t last = n - NAME(LANES) > 0 ? n - NAME(LANES) : 0;
            int64_t own = at + (x < last ? x : last);
            NAME(row_block)(1, chains, w, from + own, bias, line, to + own);
        }
    }
}

/* The lines of a pass, from where they lie one behind the other to where they belong. Before
 * `limit` it may be written past a line's end. */
static inline __attribute__((always_inline)) void
NAME(store_lines)(const Pass *pass, int64_t lines, const REAL *restrict from, REAL *restrict to,
                  const REAL *limit) {
    int64_t n = pass->count[2], step = pass->to_step[2];
    int64_t whole = (n + NAME(LANES) - 1) / NAME(LANES) * NAME(LANES);
    for (int64_t r = 0; r < lines; r++, from += pass->from_step[1], to += pass->to_step[1]) {
        int64_t i = 0;
        if (step == 1) {
            bool spare = whole <= limit - to;
            for (; i + (spare ? 1 : NAME(LANES)) <= n; i += NAME(LANES)) {
                *(NAME(Vec) *)(to + i) = *(const NAME(Vec) *)(from + i);
            }
        }
        for (; i < n; i++) {
            to[i * step] = from[i];
        }
    }
}

/* The sums of one pass at its lines [begin, end), which are in a band from line `first` on. */
static inline __attribute__((always_inline)) void
NAME(run_pass)(const Depthwise *d, const Pass *pass, int64_t channel, int64_t first,
               int64_t begin, int64_t end, const REAL *band, REAL *flat) {
    REAL w[MOST_TAPS], bias = d->bias != NULL ? ((const REAL *)d->bias)[channel] : 0;
    const REAL *weights = (const REAL *)d->weights + channel * d->taps;
    const Chains *chains = d->chains + (pass - d->pass);
    int64_t line = pass->from_step[1], lines = end - begin;
    const REAL *from = band + pass->from + (begin - first) * line;
    if (lines >= ROW_BLOCK && pass->count[2] >= NARROW_LINE) {
        for (int64_t t = 0; t < pass->taps; t++) {
            w[t] = weights[chains->weight[t]];
        }
        NAME(row_sums)(lines, pass->count[2], chains, w, from, bias, line, flat);
        return;
    }
    for (int64_t t = 0; t < pass->taps; t++) {
        w[t] = weights[pass->weight[t]];
    }
    int64_t n = (lines - 1) * line + pass->count[2];
    if (pass->taps == 9) {
        NAME(sums)(n, 9, w, pass->source, from, bias, flat);
    } else {
        NAME(sums)(n, pass->taps, w, pass->source, from, bias, flat);
    }
}

/* A band of `planes` planes from `part` on. Each step is done for all of them before the next, so
 * that nothing is read in other pieces than it was written in while it is on its way to memory. */
static inline __attribute__((always_inline)) void
NAME(run_band)(const Depthwise *d, int64_t part, int64_t planes, int64_t first, REAL *band,
               REAL *flat, const REAL *limit) {
    int64_t volume = d->layout.size[1] * d->layout.size[2], line = d->layout.extent[2];
    for (int64_t i = 0; i < planes; i++) {
        const REAL *plane = (const REAL *)d->input + (part + i) * volume;
        NAME(fill_band)(d, first, plane, d->input_end, band + i * d->layout.plane);
    }
    for (const Pass *pass = d->pass; pass < d->pass + d->passes; pass++) {
        int64_t lead = pass->from >= line;     /* lines of the grid before the pass' own */
        int64_t begin = first > lead ? first - lead : 0, end = first + d->band - lead;
        end = end < pass->count[1] ? end : pass->count[1];
        if (end <= begin) {
            continue;
        }
        for (int64_t i = 0, channel = part % d->channels; i < planes; i++) {
            NAME(run_pass)(d, pass, channel, first, begin, end, band + i * d->layout.plane,
                           flat + i * d->band * line);
            channel = channel + 1 < d->channels ? channel + 1 : 0;
        }
        bool dense = pass->to_step[1] == pass->count[2];
        for (int64_t i = 0; i < planes; i++) {
            REAL *to = (REAL *)d->output + (part + i) * d->out_plane + pass->to
                       + begin * pass->to_step[1];
            NAME(store_lines)(pass, end - begin, flat + i * d->band * line, to,
                              dense ? limit : to);
        }
    }
}

/* The results of planes [begin, end), counted over images. */
KERNEL static void NAME(convolve_planes)(void *closure, int64_t begin, int64_t end) {
    const Depthwise *d = closure;
    REAL band[NAME(ROOM)] __attribute__((aligned(64)));
    REAL flat[NAME(ROOM)] __attribute__((aligned(64)));
    const REAL *limit = (const REAL *)d->output + end * d->out_plane;
    for (int64_t part = begin; part < end; part += d->together) {
        int64_t planes = end - part < d->together ? end - part : d->together;
        for (int64_t first = 0; first < d->grid; first += d->band) {
            NAME(run_band)(d, part, planes, first, band, flat, limit);
        }
    }
}

/* acc[t] += the lanes' products of g with x at each of `count` offsets. */
static inline __attribute__((always_inline)) void
NAME(dots)(const int count, int64_t n, const REAL *x, const int64_t *offsets, const REAL *g,
           NAME(Vec) *acc) {
    NAME(Vec) sums[9];
    for (int t = 0; t < count; t++) {
        sums[t] = (NAME(Vec)){0};
    }
    for (int64_t i = 0; i < n; i += NAME(LANES)) {
        NAME(Vec) own = *(const NAME(Vec) *)(g + i);
        for (int t = 0; t < count; t++) {
            sums[t] += own * *(const NAME(Vec) *)(x + offsets[t] + i);
        }
    }
    for (int t = 0; t < count; t++) {
        acc[t] += sums[t];
    }
}

/* The gradient's lines [first, first + lines) at the distance of the input's, zeros between. */
static inline __attribute__((always_inline)) void
NAME(fill_gradient)(const Depthwise *d, int64_t first, int64_t lines, const REAL *from,
                    const REAL *limit, REAL *to) {
    int64_t n = d->pass->count[2], width = d->layout.extent[2];
    for (int64_t r = first; r < first + lines; r++, to += width) {
        NAME(copy)(from + r * n, 1, n, limit, to);
        NAME(zero)(to + n, width - n + NAME(LANES));
    }
}

/* The same without what lies between lines, which is NaN times the zeros there if a value of the
 * input is not finite; also past the last line, where values of another channel follow. */
static __attribute__((noinline)) void
NAME(weigh_lines)(const Depthwise *d, int64_t channel, REAL *band, REAL *sums) {
    const Pass *pass = d->pass;
    int64_t volume = d->layout.size[1] * d->layout.size[2], line = d->layout.extent[2];
    memset(sums, 0, (size_t)pass->taps * sizeof *sums);
    for (int64_t part = channel; part < d->images * d->channels; part += d->channels) {
        const REAL *plane = (const REAL *)d->input + part * volume;
        const REAL *g = (const REAL *)d->gradient + part * d->out_plane;
        for (int64_t first = 0; first < d->grid; first += d->band) {
            int64_t lines = d->grid - first < d->band ? d->grid - first : d->band;
            NAME(fill_band)(d, first, plane, d->input_end, band);
            for (int64_t t = 0; t < pass->taps; t++) {
                const REAL *x = band + pass->source[t];
                for (int64_t at = 0; at < lines * pass->count[2]; at++) {
                    int64_t r = at / pass->count[2], column = at % pass->count[2];
                    sums[t] += g[(first + r) * pass->count[2] + column] * x[r * line + column];
                }
            }
        }
    }
}

/* The gradient of the weights of channels [begin, end): dot products over lines' ends. */
KERNEL static void NAME(weigh_channels)(void *closure, int64_t begin, int64_t end) {
    const Depthwise *d = closure;
    const Pass *pass = d->pass;
    REAL band[NAME(ROOM)] __attribute__((aligned(64)));
    REAL grad[NAME(ROOM)] __attribute__((aligned(64)));
    int64_t volume = d->layout.size[1] * d->layout.size[2], taps = pass->taps;
    NAME(zero)(band + d->layout.plane, 2 * NAME(LANES));    /* which zeros of `grad` meet */
    for (int64_t channel = begin; channel < end; channel++) {
        NAME(Vec) acc[MOST_TAPS];
        memset(acc, 0, (size_t)taps * sizeof *acc);
        for (int64_t part = channel; part < d->images * d->channels; part += d->channels) {
            const REAL *plane = (const REAL *)d->input + part * volume;
            const REAL *g = (const REAL *)d->gradient + part * d->out_plane;
            for (int64_t first = 0; first < d->grid; first += d->band) {
                int64_t lines = d->grid - first < d->band ? d->grid - first : d->band;
                int64_t n = (lines - 1) * d->layout.extent[2] + pass->count[2], t = 0;
                NAME(fill_band)(d, first, plane, d->input_end, band);
                NAME(fill_gradient)(d, first, lines, g, d->gradient_end, grad);
#define DOTS(c) for (; taps - t >= c; t += c) { \
                    NAME(dots)(c, n, band, pass->source + t, grad, acc + t); \
                }
                DOTS(9) DOTS(7) DOTS(5) DOTS(3) DOTS(1)
#undef DOTS
            }
        }
        REAL *out = (REAL *)d->output + channel * taps, sums[MOST_TAPS] = {0};
        bool finite = true;
        for (int64_t t = 0; t < taps; t++) {
            for (int lane = 0; lane < NAME(LANES); lane++) {
                sums[t] += acc[t][lane];
            }
            finite = finite && sums[t] - sums[t] == 0;
        }
        if (!finite) {
            NAME(weigh_lines)(d, channel, band, sums);
            NAME(zero)(band + d->layout.plane, 2 * NAME(LANES));
        }
        for (int64_t t = 0; t < taps; t++) {
            out[pass->weight[t]] = sums[t];
        }
    }
}
