/* The copies around the matrix products of conv_columns.c, of one element type. Included with REAL
 * and NAME(x) defined. */

enum { NAME(LANES) = 32 / sizeof(REAL) };   /* of AVX2: compilers take longer ones apart there */
typedef REAL NAME(Vec) __attribute__((vector_size(32), aligned(sizeof(REAL)), may_alias));

/* to[i] = from[i], i < n; whole vectors where both may be overrun. */
static inline __attribute__((always_inline)) void
NAME(copy_line)(const REAL *from, int64_t n, bool spare, REAL *to) {
    int64_t i = 0;
    for (; i + (spare ? 1 : NAME(LANES)) <= n; i += NAME(LANES)) {
        *(NAME(Vec) *)(to + i) = *(const NAME(Vec) *)(from + i);
    }
    for (; i < n; i++) {
        to[i] = from[i];
    }
}

/* The rows [channel, tap] of channels [begin, end): what each tap reads, image after image. */
GW_VECTORISED static void NAME(gather_columns)(void *closure, int64_t begin, int64_t end) {
    const Places *c = closure;
    const Pass *pass = &c->pass;
    const int64_t *count = pass->count;
    REAL *to = (REAL *)c->columns + begin * pass->taps * c->wide;
    const REAL *limit = (REAL *)c->columns + end * pass->taps * c->wide;
    const REAL *source_end = (const REAL *)c->planes_end;
    for (int64_t row = begin * pass->taps; row < end * pass->taps; row++) {
        const REAL *from = (const REAL *)c->planes + row / pass->taps * c->layout.plane
                           + pass->source[row % pass->taps];
        for (int64_t image = 0; image < c->images; image++, from += c->image_step) {
            for (int64_t line = 0; line < count[0] * count[1]; line++, to += count[2]) {
                const REAL *own = from + line / count[1] * pass->from_step[0]
                                  + line % count[1] * pass->from_step[1];
                bool spare = limit - to >= count[2] + NAME(LANES)
                             && source_end - own >= count[2] + NAME(LANES);
                NAME(copy_line)(own, count[2], spare, to);
            }
        }
    }
}

/* to[i] += from[i], i < n */
static inline __attribute__((always_inline)) void
NAME(add_line)(const REAL *restrict from, int64_t n, REAL *restrict to) {
    for (int64_t i = 0; i < n; i++) {
        to[i] += from[i];
    }
}

/* The planes of channels [begin, end) as the sums of what each tap says. */
GW_VECTORISED static void NAME(add_columns)(void *closure, int64_t begin, int64_t end) {
    const Places *c = closure;
    const Pass *pass = &c->pass;
    const int64_t *count = pass->count;
    for (int64_t channel = begin; channel < end; channel++) {
        for (int64_t image = 0; image < c->images; image++) {
            REAL *plane = (REAL *)c->copies + image * c->image_step + channel * c->layout.plane;
            memset(plane, 0, (size_t)c->layout.plane * sizeof(REAL));
            for (int64_t t = 0; t < pass->taps; t++) {
                const REAL *from = (const REAL *)c->columns
                                   + (channel * pass->taps + t) * c->wide + image * c->out_plane;
                for (int64_t line = 0; line < count[0] * count[1]; line++, from += count[2]) {
                    NAME(add_line)(from, count[2],
                                   plane + pass->source[t] + line / count[1] * pass->from_step[0]
                                       + line % count[1] * pass->from_step[1]);
                }
            }
        }
    }
}

/* One line of a plane to where it came from. */
static inline __attribute__((always_inline)) void
NAME(return_line)(const REAL *restrict row, int64_t start, int64_t step, int64_t n, int64_t size,
                  REAL bias, REAL *restrict to) {
    int64_t low = start < 0 ? (step - 1 - start) / step : 0;
    int64_t high = start < size ? (size - start + step - 1) / step : 0;
    high = high < n ? high : n;
    if (step == 1) {
        for (int64_t i = low; i < high; i++) {
            to[start + i] = row[i] + bias;
        }
        return;
    }
    for (int64_t i = low; i < high; i++) {
        to[start + i * step] = row[i] + bias;
    }
}

/* The planes of channels [begin, end), counted over images, to where fill_planes takes them from,
 * and the bias wherever no plane reaches. */
GW_VECTORISED static void NAME(return_planes)(void *closure, int64_t begin, int64_t end) {
    const Places *c = closure;
    const Layout *l = &c->layout;
    int64_t volume = l->size[0] * l->size[1] * l->size[2], lines = l->plane / l->extent[2];
    for (int64_t part = begin; part < end; part++) {
        const REAL *row = (const REAL *)c->copies + part * l->plane;
        REAL *to = (REAL *)c->output + part * volume;
        REAL bias = c->bias != NULL ? ((const REAL *)c->bias)[part % c->channels] : 0;
        for (int64_t i = 0; i < volume; i++) {
            to[i] = bias;
        }
        for (int64_t r = 0; r < lines; r++, row += l->extent[2]) {
            int64_t rest = r, at[2], phase[AXES];
            at[1] = rest % l->extent[1], rest /= l->extent[1];
            at[0] = rest % l->extent[0], rest /= l->extent[0];
            phase[2] = rest % l->phases[2], rest /= l->phases[2];
            phase[1] = rest % l->phases[1], phase[0] = rest / l->phases[1];
            int64_t z = gw_conv_place(l, 0, phase[0], at[0]);
            int64_t y = gw_conv_place(l, 1, phase[1], at[1]);
            if (z >= 0 && z < l->size[0] && y >= 0 && y < l->size[1]) {
                NAME(return_line)(row, gw_conv_place(l, 2, phase[2], 0), l->step[2],
                                  l->extent[2], l->size[2], bias,
                                  to + (z * l->size[1] + y) * l->size[2]);
            }
        }
    }
}

/* Channels [begin, end): planes of images one after the other, from (`gather`) or to a tensor. */
GW_VECTORISED static void NAME(move_planes)(void *closure, int64_t begin, int64_t end) {
    const Rows *r = closure;
    for (int64_t channel = begin; channel < end; channel++) {
        for (int64_t image = 0; image < r->images; image++) {
            REAL *own = (REAL *)r->rows + (channel * r->images + image) * r->plane;
            REAL *other = (REAL *)r->tensor + (image * r->channels + channel) * r->plane;
            memcpy(r->gather ? own : other, r->gather ? other : own,
                   (size_t)r->plane * sizeof(REAL));
        }
    }
}

/* Rows [begin, end) become their bias. */
GW_VECTORISED static void NAME(fill_bias)(void *closure, int64_t begin, int64_t end) {
    const Places *c = closure;
    for (int64_t row = begin; row < end; row++) {
        REAL *to = (REAL *)c->product + row * c->wide, bias = ((const REAL *)c->bias)[row];
        for (int64_t i = 0; i < c->wide; i++) {
            to[i] = bias;
        }
    }
}

static const Steps NAME(steps) = {NAME(gather_columns), NAME(add_columns), NAME(return_planes),
                                  NAME(move_planes), NAME(fill_bias)};

#undef REAL
#undef NAME
