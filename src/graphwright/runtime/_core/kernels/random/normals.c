/* Normal random numbers in tensors of any size, on all threads: Box-Muller,
 * sqrt(-2 ln(1-u)) cos(2 pi v) of two draws of the generator, as in random/draws.py. */
#include "generator.h"
#include "pool.h"
#include "random.h"
#include "vector_math.h"

enum { PIECE = 1 << 10 };   /* elements at a time; a multiple of 4 */

typedef struct {
    void *out;
    int64_t numel;
    bool wide;                  /* float64 */
    GwPlace lengths, angles;    /* of draws */
    double by, plus;            /* of scaling */
} Normals;

/* cos x of 0 <= x <= 2 pi, to the accuracy of float32: Taylor's series around the quarters. */
GW_INLINE float cosine(float x) {
    double quarter = GW_RINT((double)x * 0.63661977236758134308);
    double r = (double)x - quarter * 1.57079632679489661923, s = r * r;
    double even = 1 + s * (-1.0 / 2 + s * (1.0 / 24 + s * (-1.0 / 720 + s / 40320)));
    double odd = r * (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s / 362880))));
    double value = quarter == 1 || quarter == 3 ? odd : even;
    return (float)(quarter == 1 || quarter == 2 ? -value : value);
}

GW_VECTOR_MATH static void combine(const float *lengths, const float *angles, int64_t n,
                                   float *restrict out) {
    for (int64_t i = 0; i < n; i++) {
        float length = GW_SQRT(gw_log1p_float(-lengths[i]) * -2.0f);
        out[i] = length * cosine(angles[i] * 6.28318530717958648f);
    }
}

/* As above, to the accuracy of float64. */
GW_INLINE double cosine_double(double x) {
    static const double even[] = {1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                                  -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1};
    static const double odd[] = {1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800,
                                 -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120,
                                 -1.0 / 6, 1};
    double quarter = GW_RINT(x * 0.63661977236758134308);
    double r = (x - quarter * 1.57079632673412561417) - quarter * 6.07710050650619224932e-11;
    double s = r * r, p = even[0], q = odd[0];
    for (int k = 1; k < 9; k++) {
        p = p * s + even[k];
        q = q * s + odd[k];
    }
    double value = quarter == 1 || quarter == 3 ? q * r : p;
    return quarter == 1 || quarter == 2 ? -value : value;
}

GW_VECTOR_MATH static void combine_doubles(const float *lengths, const float *angles, int64_t n,
                                           double *restrict out) {
    for (int64_t i = 0; i < n; i++) {
        double length = GW_SQRT(gw_log1p_double(-(double)lengths[i]) * -2.0);
        out[i] = length * cosine_double((double)angles[i] * 6.28318530717958647692);
    }
}

static int64_t piece_at(const Normals *n, int64_t piece) {
    int64_t left = n->numel - piece * PIECE;
    return left < PIECE ? left : PIECE;
}

static void draw_pieces(void *closure, int64_t begin, int64_t end) {
    const Normals *n = closure;
    float lengths[PIECE], angles[PIECE];
    for (int64_t piece = begin; piece < end; piece++) {
        int64_t at = piece * PIECE, count = piece_at(n, piece);
        gw_uniforms_at(&n->lengths, at, count, lengths);
        gw_uniforms_at(&n->angles, at, count, angles);
        if (n->wide) {
            combine_doubles(lengths, angles, count, (double *)n->out + at);
        } else {
            combine(lengths, angles, count, (float *)n->out + at);
        }
    }
}

static void run_pieces(gw_body body, Normals *n, GwTensor *t) {
    n->out = t->data;
    n->numel = t->numel;
    n->wide = t->dtype == GW_FLOAT64;
    gw_run_tasks(body, n, (t->numel + PIECE - 1) / PIECE, PIECE);
}

bool gw_draw_normal(PyObject *generator, GwTensor *out) {
    Normals n;
    bool taken = gw_take_place(generator, &n.lengths) && gw_take_place(generator, &n.angles);
    if (taken) {
        run_pieces(draw_pieces, &n, out);
    }
    return taken;
}

GW_VECTORISED static void scale_floats(float *x, int64_t n, float by, float plus) {
    for (int64_t i = 0; i < n; i++) {
        x[i] = x[i] * by + plus;
    }
}

GW_VECTORISED static void scale_doubles(double *x, int64_t n, double by, double plus) {
    for (int64_t i = 0; i < n; i++) {
        x[i] = x[i] * by + plus;
    }
}

static void scale_pieces(void *closure, int64_t begin, int64_t end) {
    const Normals *n = closure;
    for (int64_t piece = begin; piece < end; piece++) {
        int64_t at = piece * PIECE, count = piece_at(n, piece);
        if (n->wide) {
            scale_doubles((double *)n->out + at, count, n->by, n->plus);
        } else {
            scale_floats((float *)n->out + at, count, (float)n->by, (float)n->plus);
        }
    }
}

void gw_scale(GwTensor *t, double by, double plus) {
    Normals n = {.by = by, .plus = plus};
    run_pieces(scale_pieces, &n, t);
}
