/* The loops of prelu_smooth_l1.c of one element type. Included with REAL and NAME(x) defined. */

/* Lines [begin, end) of `inner` elements, with a weight for each line or for each element. */
GW_VECTORISED static void NAME(prelu)(void *closure, int64_t begin, int64_t end) {
    const Prelu *p = closure;
    const REAL *weight = p->weight;
    for (int64_t line = begin; line < end; line++) {
        int64_t first = line * p->inner, n = p->n - first < p->inner ? p->n - first : p->inner;
        const REAL *x = (const REAL *)p->x + first;
        REAL *y = (REAL *)p->y + first;
        if (p->inner_weights) {
            for (int64_t i = 0; i < n; i++) {
                REAL below = x[i] * weight[i];
                y[i] = x[i] > 0 ? x[i] : below;
            }
            continue;
        }
        REAL own = weight[line % p->weights];
        for (int64_t i = 0; i < n; i++) {
            REAL below = x[i] * own;
            y[i] = x[i] > 0 ? x[i] : below;
        }
    }
}

/* `scale` is 1 / beta; no factor is larger than the distance. */
static inline __attribute__((always_inline)) REAL
NAME(smooth_l1)(REAL x, REAL t, REAL beta, REAL scale) {
    REAL distance = (REAL)fabs((double)(x - t)), near = distance < beta ? distance : beta;
    return near * scale * (distance - (REAL)0.5 * near);
}

/* Pieces [begin, end): each loss, or their sum in double, made of sums of LANES in their own
 * precision. */
GW_VECTORISED static void NAME(smooth_l1_pieces)(void *closure, int64_t begin, int64_t end) {
    enum { LANES = 16 };
    const Smooth *s = closure;
    REAL beta = (REAL)s->beta, scale = (REAL)(1 / s->beta);
    for (int64_t piece = begin; piece < end; piece++) {
        int64_t first = piece * PIECE, n = s->n - first < PIECE ? s->n - first : PIECE, i = 0;
        const REAL *x = (const REAL *)s->x + first, *t = (const REAL *)s->target + first;
        if (s->each != NULL) {
            REAL *y = (REAL *)s->each + first;
            for (; i < n; i++) {
                y[i] = NAME(smooth_l1)(x[i], t[i], beta, scale);
            }
            continue;
        }
        REAL lanes[LANES] = {0};
        for (; i + LANES <= n; i += LANES) {
            for (int lane = 0; lane < LANES; lane++) {
                lanes[lane] += NAME(smooth_l1)(x[i + lane], t[i + lane], beta, scale);
            }
        }
        double total = 0;
        for (; i < n; i++) {
            total += NAME(smooth_l1)(x[i], t[i], beta, scale);
        }
        for (int lane = 0; lane < LANES; lane++) {
            total += lanes[lane];
        }
        s->sums[piece] = total;
    }
}

#undef REAL
#undef NAME
