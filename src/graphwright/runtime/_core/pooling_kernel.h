/* Pooling of one element type. Included with REAL, NAME(x), IS_NAN(v), LOWEST, and WHOLE for
 * types without division, defined. */

/* The maximum of one window, the last nan if there is one, and its place. */
static inline __attribute__((always_inline)) void
NAME(window_maximum)(const Windows *w, const REAL *x, int64_t i, int64_t j, int64_t k, REAL *best,
                     int64_t *where) {
    const Axis *a = w->axis;
    int64_t width = a[2].size, place = (a[0].begin[i] * a[1].size + a[1].begin[j]) * width
                                       + a[2].begin[k];
    REAL most = LOWEST;
    for (int64_t z = a[0].begin[i]; z < a[0].end[i]; z += a[0].step) {
        for (int64_t y = a[1].begin[j]; y < a[1].end[j]; y += a[1].step) {
            int64_t line = (z * a[1].size + y) * width;
            for (int64_t at = a[2].begin[k]; at < a[2].end[k]; at += a[2].step) {
                REAL value = x[line + at];
                bool better = value > most || IS_NAN(value);
                most = better ? value : most;
                place = better ? line + at : place;
            }
        }
    }
    *best = most;
    *where = place;
}

GW_VECTORISED static void NAME(maximum)(void *closure, int64_t begin, int64_t end) {
    const Windows *w = closure;
    const Axis *a = w->axis;
    for (int64_t plane = begin; plane < end; plane++) {
        const REAL *x = (const REAL *)w->input + plane * w->in_plane;
        REAL *out = (REAL *)w->output + plane * w->out_plane;
        int64_t *indices = w->indices != NULL ? w->indices + plane * w->out_plane : NULL;
        int64_t n = 0, where;
        for (int64_t i = 0; i < a[0].count; i++) {
            for (int64_t j = 0; j < a[1].count; j++) {
                for (int64_t k = 0; k < a[2].count; k++, n++) {
                    NAME(window_maximum)(w, x, i, j, k, out + n, &where);
                    if (indices != NULL) {
                        indices[n] = where;
                    }
                }
            }
        }
    }
}

#ifndef WHOLE
GW_VECTORISED static void NAME(sum)(void *closure, int64_t begin, int64_t end) {
    const Windows *w = closure;
    const Axis *a = w->axis;
    for (int64_t plane = begin; plane < end; plane++) {
        const REAL *x = (const REAL *)w->input + plane * w->in_plane, *divisor = w->divisors;
        REAL *out = (REAL *)w->output + plane * w->out_plane;
        for (int64_t i = 0; i < a[0].count; i++) {
            for (int64_t j = 0; j < a[1].count; j++) {
                for (int64_t k = 0; k < a[2].count; k++) {
                    REAL total = 0;
                    for (int64_t z = a[0].begin[i]; z < a[0].end[i]; z += a[0].step) {
                        for (int64_t y = a[1].begin[j]; y < a[1].end[j]; y += a[1].step) {
                            const REAL *line = x + (z * a[1].size + y) * a[2].size;
                            for (int64_t at = a[2].begin[k]; at < a[2].end[k];
                                 at += a[2].step) {
                                total += line[at];
                            }
                        }
                    }
                    *out++ = total / *divisor++;
                }
            }
        }
    }
}

GW_VECTORISED static void NAME(spread)(void *closure, int64_t begin, int64_t end) {
    const Windows *w = closure;
    const Axis *a = w->axis;
    for (int64_t plane = begin; plane < end; plane++) {
        const REAL *x = (const REAL *)w->input + plane * w->out_plane, *divisor = w->divisors;
        REAL *out = (REAL *)w->output + plane * w->in_plane;
        memset(out, 0, (size_t)w->in_plane * sizeof(REAL));
        for (int64_t i = 0; i < a[0].count; i++) {
            for (int64_t j = 0; j < a[1].count; j++) {
                for (int64_t k = 0; k < a[2].count; k++) {
                    REAL share = *x++ / *divisor++;
                    for (int64_t z = a[0].begin[i]; z < a[0].end[i]; z += a[0].step) {
                        for (int64_t y = a[1].begin[j]; y < a[1].end[j]; y += a[1].step) {
                            REAL *line = out + (z * a[1].size + y) * a[2].size;
                            for (int64_t at = a[2].begin[k]; at < a[2].end[k];
                                 at += a[2].step) {
                                line[at] += share;
                            }
                        }
                    }
                }
            }
        }
    }
}

static const gw_body NAME(bodies)[] = {NAME(maximum), NAME(sum), NAME(spread)};
#else
static const gw_body NAME(bodies)[] = {NAME(maximum), NULL, NULL};
#endif

#undef REAL
#undef NAME
#undef IS_NAN
#undef LOWEST
#undef WHOLE
