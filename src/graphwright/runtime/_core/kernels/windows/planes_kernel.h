/* Planes of one element type, a part of conv_kernel.h: lines are copied in whole vectors, from the
 * first to the last, so that what one writes past its end is overwritten by the next. */

/* Zeros, in whole vectors. */
static inline __attribute__((always_inline)) void NAME(zero)(REAL *to, int64_t n) {
    for (int64_t i = 0; i < n; i += NAME(LANES)) {
        *(NAME(Vec) *)(to + i) = (NAME(Vec)){0};
    }
}

/* A vector of every second element. */
static inline __attribute__((always_inline)) void
NAME(every_second)(const REAL *restrict from, REAL *restrict to) {
#if defined(__clang__)
    for (int j = 0; j < NAME(LANES); j++) {
        to[j] = from[2 * j];
    }
#else
    __typeof__((NAME(Vec)){0} == (NAME(Vec)){0}) places;
    for (int j = 0; j < NAME(LANES); j++) {
        places[j] = 2 * j;
    }
    *(NAME(Vec) *)to = __builtin_shuffle(
        *(const NAME(Vec) *)from, *(const NAME(Vec) *)(from + NAME(LANES)), places);
#endif
}

/* to[i] = from[i * step], i < n. Before `limit` it may be read beyond n. */
static inline __attribute__((always_inline)) void
NAME(copy)(const REAL *restrict from, int64_t step, int64_t n, const REAL *limit,
           REAL *restrict to) {
    int64_t whole = (n + NAME(LANES) - 1) / NAME(LANES) * NAME(LANES), i = 0;
    bool spare = whole * step <= limit - from;
    if (step == 1) {
        for (; i + (spare ? 1 : NAME(LANES)) <= n; i += NAME(LANES)) {
            *(NAME(Vec) *)(to + i) = *(const NAME(Vec) *)(from + i);
        }
    } else if (step == 2) {
        for (; i + (spare ? 1 : NAME(LANES) + 1) <= n; i += NAME(LANES)) {
            NAME(every_second)(from + 2 * i, to + i);
        }
    }
    for (; i < n; i++) {
        to[i] = from[i * step];
    }
}

/* One line of a plane: elements [low, high) are line[(i - low) * step], the others 0. Nothing is
 * read from `limit` on (but what the line has), or written from `end` on. */
static inline __attribute__((always_inline)) void
NAME(fill_line)(const REAL *line, int64_t step, int64_t low, int64_t high, int64_t width,
                const REAL *limit, REAL *to, const REAL *end) {
    if (end - to >= width + NAME(LANES)) {
        NAME(zero)(to, low);
        NAME(copy)(line, step, high - low, limit, to + low);
        NAME(zero)(to + high, width - high);
        return;
    }
    for (int64_t i = 0; i < width; i++) {
        to[i] = i >= low && i < high ? line[(i - low) * step] : 0;
    }
}

/* The planes of one phase of a channel at `from`; where they end. */
static inline __attribute__((always_inline)) REAL *
NAME(fill_phase)(const Layout *l, const int64_t *phase, const REAL *from, const REAL *limit,
                 REAL *to, const REAL *end) {
    int64_t start[AXES], width = l->extent[2], step = l->step[2];
    for (int a = 0; a < AXES; a++) {
        start[a] = gw_conv_place(l, a, phase[a], 0);
    }
    int64_t low = start[2] < 0 ? (-start[2] + step - 1) / step : 0;
    int64_t high = start[2] < l->size[2] ? (l->size[2] - start[2] + step - 1) / step : 0;
    low = low < width ? low : width;
    high = high < width ? high : width;
    high = high > low ? high : low;
    for (int64_t i = 0, z = start[0]; i < l->extent[0]; i++, z += l->step[0]) {
        bool outside = z < 0 || z >= l->size[0];
        for (int64_t j = 0, y = start[1]; j < l->extent[1]; j++, y += l->step[1], to += width) {
            if (outside || y < 0 || y >= l->size[1]) {
                NAME(fill_line)(from, step, width, width, width, limit, to, end);
            } else {
                const REAL *line = from + (z * l->size[1] + y) * l->size[2] + start[2] + low * step;
                NAME(fill_line)(line, step, low, high, width, limit, to, end);
            }
        }
    }
    return to;
}

/* The copy of channels [begin, end) (counted over images) as planes that are read contiguously. */
KERNEL static void NAME(fill_planes)(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    const Layout *l = &job->layout;
    int64_t volume = volume_of(l->size), phase[AXES];
    for (int64_t channel = begin; channel < end; channel++) {
        const REAL *from = (const REAL *)job->input + channel * volume;
        REAL *to = (REAL *)job->copies + channel * l->plane;
        const REAL *own_end = to + l->plane;
        for (phase[0] = 0; phase[0] < l->phases[0]; phase[0]++) {
            for (phase[1] = 0; phase[1] < l->phases[1]; phase[1]++) {
                for (phase[2] = 0; phase[2] < l->phases[2]; phase[2]++) {
                    to = NAME(fill_phase)(l, phase, from, from + volume, to, own_end);
                }
            }
        }
    }
}
