/* Sampling of one element type. Included with REAL and NAME(x) defined. */

/* The elements of an axis that a place is read as: where (-1: outside, zero), the weight, and the
 * weight's derivative with respect to the grid. */
typedef struct {
    int count;
    int64_t at[TAPS];
    REAL weight[TAPS], slope[TAPS];
} NAME(Taps);

/* What is no number is the first place. */
static REAL NAME(clamped)(REAL x, REAL high, REAL *slope) {
    if (x >= 0 && x <= high) {
        return x;
    }
    *slope = 0;
    return x > high ? high : 0;
}

static REAL NAME(reflected)(REAL x, int64_t size, bool corners, REAL *slope) {
    REAL low = corners ? 0 : (REAL)-0.5, high = corners ? (REAL)(size - 1) : (REAL)size - (REAL)0.5;
    REAL span = high - low;
    if (span == 0) {
        *slope = 0;
        return 0;
    }
    REAL distance = x - low, sign = (REAL)((distance > 0) - (distance < 0));
    distance = distance < 0 ? -distance : distance;
    REAL extra = (REAL)fmod(distance, span);
    bool even = fmod(floor(distance / span), 2) == 0;
    *slope *= even ? sign : -sign;
    return even ? extra + low : span + low - extra;
}

/* A place after the padding, which may change how it depends on the grid. */
static REAL NAME(bounded)(const Sampling *s, REAL x, int64_t size, REAL *slope) {
    if (s->padding == REFLECTION) {
        x = NAME(reflected)(x, size, s->corners, slope);
    }
    return s->padding == ZEROS ? x : NAME(clamped)(x, (REAL)(size - 1), slope);
}

static void NAME(add_tap)(NAME(Taps) *taps, REAL at, int64_t size, REAL weight, REAL slope) {
    int i = taps->count++;
    taps->at[i] = at >= 0 && at <= (REAL)(size - 1) ? (int64_t)at : -1;
    taps->weight[i] = weight;
    taps->slope[i] = slope;
}

/* Weights of Keys (1981) at the distances 1 + t, t, 1 - t, 2 - t. */
static void NAME(cubic_taps)(const Sampling *s, NAME(Taps) *taps, REAL x, int64_t size,
                             REAL scale) {
    const REAL a = (REAL)-0.75;
    REAL low = (REAL)floor(x), t = x - low;
    for (int i = 0; i < 4; i++) {
        REAL d = i == 0 ? 1 + t : i == 1 ? t : i == 2 ? 1 - t : 2 - t, sign = i < 2 ? 1 : -1;
        bool near = i == 1 || i == 2;
        REAL weight = near ? ((a + 2) * d - (a + 3)) * d * d + 1
                           : (((d - 5) * d + 8) * d - 4) * a;
        REAL slope = near ? (3 * (a + 2) * d - 2 * (a + 3)) * d : ((3 * d - 10) * d + 8) * a;
        REAL unused = 1, at = NAME(bounded)(s, low + (REAL)(i - 1), size, &unused);
        NAME(add_tap)(taps, at, size, weight, slope * sign * scale);
    }
}

/* The taps of the grid's number `g` along an axis; false where it is beyond all images. */
static bool NAME(taps_of)(const Sampling *s, NAME(Taps) *taps, REAL g, int64_t size) {
    REAL scale = s->corners ? (REAL)(size - 1) / 2 : (REAL)size / 2;
    REAL x = s->corners ? (g + 1) * scale : ((g + 1) * (REAL)size - 1) / 2;
    taps->count = 0;
    if (!(fabs((double)x) < 1e9) && (s->padding == ZEROS || s->mode == BICUBIC)) {
        return false;
    }
    if (s->mode == BICUBIC) {
        NAME(cubic_taps)(s, taps, x, size, scale);
        return true;
    }
    x = NAME(bounded)(s, x, size, &scale);
    if (s->mode == NEAREST) {
        NAME(add_tap)(taps, (REAL)rint((double)x), size, 1, 0);
        return true;
    }
    REAL low = (REAL)floor((double)x), part = x - low;
    NAME(add_tap)(taps, low, size, 1 - part, -scale);
    NAME(add_tap)(taps, low + 1, size, part, scale);
    return true;
}

/* The taps of all axes at a point, whose numbers the grid has in reverse order. */
static bool NAME(point)(const Sampling *s, int64_t index, NAME(Taps) taps[AXES]) {
    const REAL *grid = (const REAL *)s->grid + index * s->axes;
    taps[0] = (NAME(Taps)){.count = 1, .weight = {1}};
    for (int a = AXES - s->axes; a < AXES; a++) {
        if (!NAME(taps_of)(s, &taps[a], grid[AXES - 1 - a], s->sizes[a])) {
            return false;
        }
    }
    return true;
}

static int64_t NAME(place)(const Sampling *s, const NAME(Taps) taps[AXES], int i, int j, int k) {
    int64_t z = taps[0].at[i], y = taps[1].at[j], x = taps[2].at[k];
    return z < 0 || y < 0 || x < 0 ? -1 : (z * s->sizes[1] + y) * s->sizes[2] + x;
}

static void NAME(read_point)(const Sampling *s, int64_t n, int64_t p,
                             const NAME(Taps) taps[AXES]) {
    const REAL *image = (const REAL *)s->input + n * s->channels * s->plane;
    REAL *out = (REAL *)s->output + n * s->channels * s->points + p;
    for (int64_t c = 0; c < s->channels; c++) {
        out[c * s->points] = 0;
    }
    for (int i = 0; i < taps[0].count; i++) {
        for (int j = 0; j < taps[1].count; j++) {
            for (int k = 0; k < taps[2].count; k++) {
                int64_t at = NAME(place)(s, taps, i, j, k);
                REAL weight = taps[0].weight[i] * taps[1].weight[j] * taps[2].weight[k];
                for (int64_t c = 0; at >= 0 && c < s->channels; c++) {
                    out[c * s->points] += image[c * s->plane + at] * weight;
                }
            }
        }
    }
}

/* Points [begin, end) of all images. */
static void NAME(read)(void *closure, int64_t begin, int64_t end) {
    Sampling *s = closure;
    NAME(Taps) taps[AXES];
    for (int64_t i = begin; i < end; i++) {
        if (!NAME(point)(s, i, taps)) {
            s->far = true;
            return;
        }
        NAME(read_point)(s, i / s->points, i % s->points, taps);
    }
}

static void NAME(spread_point)(const Sampling *s, int64_t n, int64_t p,
                               const NAME(Taps) taps[AXES]) {
    const REAL *image = (const REAL *)s->input + n * s->channels * s->plane;
    const REAL *grad = (const REAL *)s->grad + n * s->channels * s->points + p;
    REAL *to = s->to_input == NULL ? NULL
                                   : (REAL *)s->to_input + n * s->channels * s->plane;
    REAL slopes[AXES] = {0};
    for (int i = 0; i < taps[0].count; i++) {
        for (int j = 0; j < taps[1].count; j++) {
            for (int k = 0; k < taps[2].count; k++) {
                int64_t at = NAME(place)(s, taps, i, j, k);
                REAL w[AXES] = {taps[0].weight[i], taps[1].weight[j], taps[2].weight[k]};
                REAL product = 0;
                for (int64_t c = 0; at >= 0 && c < s->channels; c++) {
                    product += grad[c * s->points] * image[c * s->plane + at];
                    if (to != NULL) {
                        to[c * s->plane + at] += grad[c * s->points] * w[0] * w[1] * w[2];
                    }
                }
                slopes[0] += product * taps[0].slope[i] * w[1] * w[2];
                slopes[1] += product * w[0] * taps[1].slope[j] * w[2];
                slopes[2] += product * w[0] * w[1] * taps[2].slope[k];
            }
        }
    }
    if (s->to_grid != NULL) {
        REAL *grid = (REAL *)s->to_grid + (n * s->points + p) * s->axes;
        for (int a = AXES - s->axes; a < AXES; a++) {
            grid[AXES - 1 - a] = slopes[a];
        }
    }
}

/* Images [begin, end). */
static void NAME(spread)(void *closure, int64_t begin, int64_t end) {
    Sampling *s = closure;
    NAME(Taps) taps[AXES];
    for (int64_t n = begin; n < end; n++) {
        for (int64_t p = 0; p < s->points; p++) {
            if (NAME(point)(s, n * s->points + p, taps)) {
                NAME(spread_point)(s, n, p, taps);
            }
        }
    }
}

#undef REAL
#undef NAME
