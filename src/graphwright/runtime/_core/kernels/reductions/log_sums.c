/* Running logarithms of sums of exponentials along one dim of contiguous tensors of few elements.
 * Lines are done side by side, in double. */
#include "native.h"
#include "vector_math.h"

enum { MOST = 64 << 10, LINES = 64 };       /* elements; lines side by side */

/* log(e^a + e^b) */
GW_INLINE double log_sum(double a, double b) {
    double large = a > b ? a : b, small = a > b ? b : a;
    double sum = large + gw_log1p_double(gw_exp_double(small - large));
    sum = __builtin_fabs(large) < __builtin_inf() ? sum : large;
    return a != a || b != b ? __builtin_nan("") : sum;
}

#define RUN(name, TYPE)                                                                         \
    GW_VECTOR_MATH static void name(const TYPE *x, TYPE *y, int64_t n, int64_t step,            \
                                    int64_t apart, int64_t lines) {                             \
        double totals[LINES];                                                                   \
        for (int64_t c = 0; c < lines; c++) {                                                   \
            totals[c] = (double)x[c * apart];                                                   \
            y[c * apart] = x[c * apart];                                                        \
        }                                                                                       \
        for (int64_t i = 1; i < n; i++) {                                                       \
            for (int64_t c = 0; c < lines; c++) {                                               \
                totals[c] = log_sum(totals[c], (double)x[i * step + c * apart]);                \
            }                                                                                   \
            for (int64_t c = 0; c < lines; c++) {                                               \
                y[i * step + c * apart] = (TYPE)totals[c];                                      \
            }                                                                                   \
        }                                                                                       \
    }

RUN(run_f32, float)
RUN(run_f64, double)

/* Lines of `n` elements, the first of which is at `at`. */
static void run_lines(const GwTensor *in, GwTensor *out, int64_t at, int64_t n, int64_t step,
                      int64_t apart, int64_t lines) {
    if (in->dtype == GW_FLOAT32) {
        run_f32((const float *)in->data + at, (float *)out->data + at, n, step, apart, lines);
    } else {
        run_f64((const double *)in->data + at, (double *)out->data + at, n, step, apart, lines);
    }
}

/* input, dim */
GW_KERNEL(logcumsumexp) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    int along;
    if (t == NULL || (t->flags & GW_CONTIGUOUS) == 0 || t->numel == 0 || t->numel > MOST
        || (t->dtype != GW_FLOAT32 && t->dtype != GW_FLOAT64)
        || !gw_plain_dim(args[1], t->ndim, &along)) {
        return NULL;
    }
    int64_t n = t->sizes[along], inner = 1;
    for (int d = along + 1; d < t->ndim; d++) {
        inner *= t->sizes[d];
    }
    int64_t lines = inner > 1 ? inner : t->numel / n, apart = inner > 1 ? 1 : n;
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, NULL);
    for (int64_t begin = 0; out != NULL && begin < t->numel; begin += n * lines) {
        for (int64_t line = 0; line < lines; line += LINES) {
            int64_t count = lines - line < LINES ? lines - line : LINES;
            run_lines(t, out, begin + line * apart, n, inner, apart, count);
        }
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_log_sum_kernels[] = {
    {"logcumsumexp", 2, logcumsumexp},
    {NULL, 0, NULL},
};
