/* Small windows of one element type. Included with REAL and NAME(x) defined. */

/* The maximum of each window, the last nan if there is one, and its place in the plane. */
static void NAME(maxima)(const Windows *w, const REAL *x, REAL *out, int64_t *where) {
    const Axis *a = w->axis;
    for (int64_t p = 0; p < w->planes; p++, x += w->in_plane) {
        for (int64_t i = 0; i < a[0].count; i++) {
            Window u = window_of(w, 0, i);
            for (int64_t j = 0; j < a[1].count; j++) {
                Window v = window_of(w, 1, j);
                for (int64_t k = 0; k < a[2].count; k++) {
                    Window t = window_of(w, 2, k);
                    int64_t place = (u.begin * a[1].size + v.begin) * a[2].size + t.begin;
                    REAL most = -INFINITY;
                    for (int64_t z = u.begin; z < u.end; z += a[0].dilation) {
                        for (int64_t y = v.begin; y < v.end; y += a[1].dilation) {
                            int64_t line = (z * a[1].size + y) * a[2].size;
                            for (int64_t at = t.begin; at < t.end; at += a[2].dilation) {
                                REAL value = x[line + at];
                                if (value > most || isnan(value)) {
                                    most = value;
                                    place = line + at;
                                }
                            }
                        }
                    }
                    *out++ = most;
                    if (where != NULL) {
                        *where++ = place;
                    }
                }
            }
        }
    }
}

static void NAME(add_at)(REAL *out, const REAL *grad, const int64_t *at, int64_t planes,
                         int64_t plane, int64_t count) {
    for (int64_t p = 0; p < planes; p++, out += plane) {
        for (int64_t i = 0; i < count; i++) {
            out[*at++] += *grad++;
        }
    }
}

/* What a mean is divided by. */
static REAL NAME(divisor)(const Windows *w, Window u, Window v, Window t) {
    return (REAL)(w->divisor != 0 ? w->divisor : (double)(u.places * v.places * t.places));
}

static void NAME(means)(const Windows *w, const REAL *x, REAL *out) {
    const Axis *a = w->axis;
    for (int64_t p = 0; p < w->planes; p++, x += w->in_plane) {
        for (int64_t i = 0; i < a[0].count; i++) {
            Window u = window_of(w, 0, i);
            for (int64_t j = 0; j < a[1].count; j++) {
                Window v = window_of(w, 1, j);
                for (int64_t k = 0; k < a[2].count; k++) {
                    Window t = window_of(w, 2, k);
                    REAL sum = 0;
                    for (int64_t z = u.begin; z < u.end; z++) {
                        for (int64_t y = v.begin; y < v.end; y++) {
                            const REAL *line = x + (z * a[1].size + y) * a[2].size;
                            for (int64_t at = t.begin; at < t.end; at++) {
                                sum += line[at];
                            }
                        }
                    }
                    *out++ = sum / NAME(divisor)(w, u, v, t);
                }
            }
        }
    }
}

/* The transpose of `means`, added to `out`. */
static void NAME(spread)(const Windows *w, const REAL *grad, REAL *out) {
    const Axis *a = w->axis;
    for (int64_t p = 0; p < w->planes; p++, out += w->in_plane) {
        for (int64_t i = 0; i < a[0].count; i++) {
            Window u = window_of(w, 0, i);
            for (int64_t j = 0; j < a[1].count; j++) {
                Window v = window_of(w, 1, j);
                for (int64_t k = 0; k < a[2].count; k++) {
                    Window t = window_of(w, 2, k);
                    REAL part = *grad++ / NAME(divisor)(w, u, v, t);
                    for (int64_t z = u.begin; z < u.end; z++) {
                        for (int64_t y = v.begin; y < v.end; y++) {
                            REAL *line = out + (z * a[1].size + y) * a[2].size;
                            for (int64_t at = t.begin; at < t.end; at++) {
                                line[at] += part;
                            }
                        }
                    }
                }
            }
        }
    }
}

#undef REAL
#undef NAME
