/* Pooling of one element type. Included with REAL, PLACE (an integer as wide), NAME(x), IS_NAN(v),
 * LOWEST, and WHOLE for types without division, defined. */

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
    if (where != NULL) {
        *where = place;
    }
}

/* The same of windows k.. k + n - 1 of a line, side by side. */
static inline __attribute__((always_inline)) void
NAME(line_maximum)(const Windows *w, const REAL *x, int64_t i, int64_t j, int64_t k, int n,
                   const int64_t stride, REAL *out, int64_t *indices) {
    const Axis *a = w->axis;
    int64_t length = a[2].end[k] - a[2].begin[k], start = a[2].begin[k];
    int64_t top = (a[0].begin[i] * a[1].size + a[1].begin[j]) * a[2].size + start;
    REAL best[LINE];
    PLACE where[LINE];
    for (int p = 0; p < n; p++) {
        best[p] = LOWEST;
        where[p] = (PLACE)(top + p * stride);
    }
    for (int64_t z = a[0].begin[i]; z < a[0].end[i]; z += a[0].step) {
        for (int64_t y = a[1].begin[j]; y < a[1].end[j]; y += a[1].step) {
            for (int64_t at = 0; at < length; at += a[2].step) {
                int64_t line = (z * a[1].size + y) * a[2].size + start + at;
                const REAL *from = x + line;
                for (int p = 0; p < n; p++) {
                    REAL value = from[p * stride];
                    bool better = value > best[p] || IS_NAN(value);
                    best[p] = better ? value : best[p];
                    where[p] = better ? (PLACE)line + (PLACE)(p * stride) : where[p];
                }
            }
        }
    }
    memcpy(out, best, (size_t)n * sizeof(REAL));
    for (int p = 0; p < n && indices != NULL; p++) {
        indices[p] = where[p];
    }
}

GW_VECTORISED static void NAME(maximum)(void *closure, int64_t begin, int64_t end) {
    const Windows *w = closure;
    const Axis *a = w->axis;
    int64_t first = a[2].first, last = w->in_plane < INT32_MAX ? a[2].last : first;
    for (int64_t plane = begin; plane < end; plane++) {
        const REAL *x = (const REAL *)w->input + plane * w->in_plane;
        REAL *out = (REAL *)w->output + plane * w->out_plane;
        int64_t *at = w->indices != NULL ? w->indices + plane * w->out_plane : NULL;
        for (int64_t line = 0; line < a[0].count * a[1].count; line++) {
            int64_t i = line / a[1].count, j = line % a[1].count, k = 0;
            while (k < a[2].count) {
                int n = (int)(last - k < LINE ? last - k : LINE);
                if (k < first || k >= last) {
                    n = 1;
                    NAME(window_maximum)(w, x, i, j, k, out, at);
                } else if (a[2].stride == 1) {
                    NAME(line_maximum)(w, x, i, j, k, n, 1, out, at);
                } else if (a[2].stride == 2) {
                    NAME(line_maximum)(w, x, i, j, k, n, 2, out, at);
                } else {
                    NAME(line_maximum)(w, x, i, j, k, n, a[2].stride, out, at);
                }
                k += n;
                out += n;
                at = at != NULL ? at + n : NULL;
            }
        }
    }
}

#ifndef WHOLE
/* The sums of windows k.. k + n - 1 of a line, divided. */
static inline __attribute__((always_inline)) void
NAME(line_sum)(const Windows *w, const REAL *x, int64_t i, int64_t j, int64_t k, int n,
               const int64_t stride, const REAL *divisor, REAL *out) {
    const Axis *a = w->axis;
    int64_t length = a[2].end[k] - a[2].begin[k];
    REAL total[LINE];
    for (int p = 0; p < n; p++) {
        total[p] = 0;
    }
    for (int64_t z = a[0].begin[i]; z < a[0].end[i]; z += a[0].step) {
        for (int64_t y = a[1].begin[j]; y < a[1].end[j]; y += a[1].step) {
            const REAL *line = x + (z * a[1].size + y) * a[2].size + a[2].begin[k];
            for (int64_t at = 0; at < length; at += a[2].step) {
                for (int p = 0; p < n; p++) {
                    total[p] += line[at + p * stride];
                }
            }
        }
    }
    for (int p = 0; p < n; p++) {
        out[p] = total[p] / divisor[p];
    }
}

/* The same for a whole line of windows far apart: first the lines of the input, then windows. */
static inline __attribute__((always_inline)) void
NAME(wide_sum)(const Windows *w, const REAL *x, int64_t i, int64_t j, const REAL *divisor,
               REAL *out) {
    const Axis *a = w->axis;
    REAL totals[WIDEST];
    memset(totals, 0, (size_t)a[2].size * sizeof(REAL));
    for (int64_t z = a[0].begin[i]; z < a[0].end[i]; z += a[0].step) {
        for (int64_t y = a[1].begin[j]; y < a[1].end[j]; y += a[1].step) {
            const REAL *line = x + (z * a[1].size + y) * a[2].size;
            for (int64_t at = 0; at < a[2].size; at++) {
                totals[at] += line[at];
            }
        }
    }
    for (int64_t k = 0; k < a[2].count; k++) {
        REAL total = 0;
        for (int64_t at = a[2].begin[k]; at < a[2].end[k]; at += a[2].step) {
            total += totals[at];
        }
        out[k] = total / divisor[k];
    }
}

/* Adds the shares of windows k.. k + n - 1 of a line to their places. */
static inline __attribute__((always_inline)) void
NAME(line_spread)(const Windows *w, REAL *out, int64_t i, int64_t j, int64_t k, int n,
                  const int64_t stride, const REAL *divisor, const REAL *x) {
    const Axis *a = w->axis;
    int64_t length = a[2].end[k] - a[2].begin[k];
    REAL share[LINE];
    for (int p = 0; p < n; p++) {
        share[p] = x[p] / divisor[p];
    }
    for (int64_t z = a[0].begin[i]; z < a[0].end[i]; z += a[0].step) {
        for (int64_t y = a[1].begin[j]; y < a[1].end[j]; y += a[1].step) {
            REAL *line = out + (z * a[1].size + y) * a[2].size + a[2].begin[k];
            for (int64_t at = 0; at < length; at += a[2].step) {
                for (int p = 0; p < n; p++) {
                    line[at + p * stride] += share[p];
                }
            }
        }
    }
}

GW_VECTORISED static void NAME(sum)(void *closure, int64_t begin, int64_t end) {
    const Windows *w = closure;
    const Axis *a = w->axis;
    for (int64_t plane = begin; plane < end; plane++) {
        const REAL *x = (const REAL *)w->input + plane * w->in_plane, *divisor = w->divisors;
        REAL *out = (REAL *)w->output + plane * w->out_plane;
        for (int64_t line = 0; line < a[0].count * a[1].count; line++) {
            int64_t i = line / a[1].count, j = line % a[1].count, k = 0;
            if (a[2].stride > 2 && a[2].size <= WIDEST) {
                NAME(wide_sum)(w, x, i, j, divisor, out);
                k = a[2].count;
                out += k;
                divisor += k;
            }
            while (k < a[2].count) {
                int n = (int)(a[2].last - k < LINE ? a[2].last - k : LINE);
                n = k < a[2].first || k >= a[2].last ? 1 : n;
                if (n > 1 && a[2].stride == 1) {
                    NAME(line_sum)(w, x, i, j, k, n, 1, divisor, out);
                } else if (n > 1 && a[2].stride == 2) {
                    NAME(line_sum)(w, x, i, j, k, n, 2, divisor, out);
                } else {
                    NAME(line_sum)(w, x, i, j, k, n, a[2].stride, divisor, out);
                }
                k += n;
                out += n;
                divisor += n;
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
        for (int64_t line = 0; line < a[0].count * a[1].count; line++) {
            int64_t i = line / a[1].count, j = line % a[1].count, k = 0;
            while (k < a[2].count) {
                int n = (int)(a[2].last - k < LINE ? a[2].last - k : LINE);
                n = k < a[2].first || k >= a[2].last ? 1 : n;
                if (n > 1 && a[2].stride == 1) {
                    NAME(line_spread)(w, out, i, j, k, n, 1, divisor, x);
                } else if (n > 1 && a[2].stride == 2) {
                    NAME(line_spread)(w, out, i, j, k, n, 2, divisor, x);
                } else {
                    NAME(line_spread)(w, out, i, j, k, n, a[2].stride, divisor, x);
                }
                k += n;
                x += n;
                divisor += n;
            }
        }
    }
}

static const gw_body NAME(bodies)[] = {NAME(maximum), NAME(sum), NAME(spread)};
#else
static const gw_body NAME(bodies)[] = {NAME(maximum), NULL, NULL};
#endif

#undef REAL
#undef PLACE
#undef NAME
#undef IS_NAN
#undef LOWEST
#undef WHOLE
