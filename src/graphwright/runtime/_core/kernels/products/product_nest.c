/* Nests of loops over products: of two floating operands as matrix products, where their strides
 * allow it; of all others one element of the result after the other. */
#include "product_nest.h"
#include "pool.h"

bool gw_is_small_nest(const GwNest *n) {
    int64_t steps = 1;
    for (int d = 0; d < n->labels; d++) {
        steps *= n->sizes[d];
        if (steps <= 0 || steps > GW_NEST_STEPS) {
            return false;
        }
    }
    return true;
}

/* ---- element by element ---- */

/* Values of T are summed up as SUM: doubles, or integers modulo 2^64. */
#define NEST(T, SUM, name)                                                                 \
    static SUM sum_##name(const GwNest *n, int label, const T *const *given) {             \
        const T *at[GW_NEST_OPERANDS];                                                     \
        SUM total = label < n->labels ? 0 : 1;                                             \
        if (n->count == 2 && label + 1 == n->labels) {                                     \
            const T *a = given[0], *b = given[1];                                          \
            int64_t step_a = n->steps[0][label], step_b = n->steps[1][label];              \
            for (int64_t i = 0; i < n->sizes[label]; i++, a += step_a, b += step_b) {      \
                total += (SUM)*a * (SUM)*b;                                                \
            }                                                                              \
            return total;                                                                  \
        }                                                                                  \
        for (int k = 0; k < n->count; k++) {                                               \
            at[k] = given[k];                                                              \
            total *= label < n->labels ? 1 : (SUM)*at[k];                                  \
        }                                                                                  \
        for (int64_t i = 0; label < n->labels && i < n->sizes[label]; i++) {               \
            total += sum_##name(n, label + 1, at);                                         \
            for (int k = 0; k < n->count; k++) {                                           \
                at[k] += n->steps[k][label];                                               \
            }                                                                              \
        }                                                                                  \
        return total;                                                                      \
    }                                                                                      \
    static void fill_##name(const GwNest *n, int label, const T *const *given, T *out) {   \
        const T *at[GW_NEST_OPERANDS];                                                     \
        if (label == n->kept) {                                                            \
            *out = (T)sum_##name(n, label, given);                                         \
            return;                                                                        \
        }                                                                                  \
        if (n->count == 2 && label + 1 == n->labels) {                                     \
            const T *a = given[0], *b = given[1];                                          \
            int64_t step_a = n->steps[0][label], step_b = n->steps[1][label];              \
            for (int64_t i = 0; i < n->sizes[label]; i++, out += n->out[label]) {          \
                *out = (T)((SUM)a[i * step_a] * (SUM)b[i * step_b]);                       \
            }                                                                              \
            return;                                                                        \
        }                                                                                  \
        memcpy(at, given, sizeof at);                                                      \
        for (int64_t i = 0; i < n->sizes[label]; i++, out += n->out[label]) {              \
            fill_##name(n, label + 1, at, out);                                            \
            for (int k = 0; k < n->count; k++) {                                           \
                at[k] += n->steps[k][label];                                               \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
    static void run_##name(const GwNest *n, char *out) {                                   \
        fill_##name(n, 0, (const T *const *)n->data, (T *)out);                            \
    }

NEST(float, double, float)
NEST(double, double, double)
NEST(uint8_t, uint64_t, uint8)
NEST(int8_t, uint64_t, int8)
NEST(int16_t, uint64_t, int16)
NEST(int32_t, uint64_t, int32)
NEST(int64_t, uint64_t, int64)

static void (*const runs[GW_NUM_DTYPES])(const GwNest *, char *) = {
    [GW_FLOAT32] = run_float, [GW_FLOAT64] = run_double, [GW_UINT8] = run_uint8,
    [GW_INT8] = run_int8, [GW_INT16] = run_int16, [GW_INT32] = run_int32,
    [GW_INT64] = run_int64,
};

bool gw_is_nest_dtype(int dtype) { return runs[dtype] != NULL; }

/* ---- as matrix products ---- */

/* The labels of a matrix product: out[row, column] = left[row, inner] right[inner, column], for
 * each value of all others; -1 for a row that there is not. */
typedef struct {
    int left, right, row, column, inner;
    int32_t flip_left, flip_right;
    int64_t lead_left, lead_right;
} Product;

static int64_t size_of(const GwNest *n, int label) { return label < 0 ? 1 : n->sizes[label]; }

static int64_t step_of(const GwNest *n, int operand, int label) {
    return label < 0 ? 0 : n->steps[operand][label];
}

/* The leading dimension of rows [rows, columns], and whether they lie transposed. */
static bool lies(const GwNest *n, int operand, int rows, int columns, int32_t *flip,
                 int64_t *lead) {
    int64_t down = step_of(n, operand, rows), along = step_of(n, operand, columns);
    int64_t height = size_of(n, rows), width = size_of(n, columns);
    *flip = along != 1;
    *lead = along == 1 ? (height == 1 ? width : down) : along;
    return along == 1 ? *lead >= width : (down == 1 || height == 1) && *lead >= height;
}

/* The one label that is summed over, of several values in both operands. */
static bool find_inner(const GwNest *n, Product *p) {
    p->inner = -1;
    for (int d = n->kept; d < n->labels; d++) {
        if (n->sizes[d] == 1) {
            continue;
        }
        if (p->inner >= 0 || n->steps[0][d] == 0 || n->steps[1][d] == 0) {
            return false;
        }
        p->inner = d;
    }
    return p->inner >= 0;
}

/* The columns follow each other in the result and are the right operand's alone; the rows are the
 * longest label of the left one alone. */
static bool find_sides(const GwNest *n, Product *p) {
    p->row = p->column = -1;
    for (int d = 0; d < n->kept; d++) {
        if (n->sizes[d] > 1 && n->out[d] == 1) {
            p->column = d;
        }
    }
    if (p->column < 0 || (n->steps[0][p->column] == 0) == (n->steps[1][p->column] == 0)) {
        return false;
    }
    p->right = n->steps[1][p->column] != 0;
    p->left = !p->right;
    for (int d = 0; d < n->kept; d++) {
        bool alone = n->steps[p->left][d] != 0 && n->steps[p->right][d] == 0;
        if (alone && n->sizes[d] > size_of(n, p->row) && n->out[d] >= n->sizes[p->column]) {
            p->row = d;
        }
    }
    return true;
}

static bool find_product(const GwNest *n, Product *p) {
    bool floating = n->dtype == GW_FLOAT32 || n->dtype == GW_FLOAT64;
    return floating && n->count == 2 && find_inner(n, p) && find_sides(n, p)
           && lies(n, p->left, p->row, p->inner, &p->flip_left, &p->lead_left)
           && lies(n, p->right, p->inner, p->column, &p->flip_right, &p->lead_right);
}

/* The products for all values of the labels from `label` on that are neither rows nor columns. */
static void multiply(const GwNest *n, const Product *p, const gw_ctx *ctx, int label,
                     const char *left, const char *right, char *out) {
    int64_t item = gw_dtypes[n->dtype].itemsize;
    while (label < n->kept && (label == p->row || label == p->column || n->sizes[label] == 1)) {
        label++;
    }
    if (label == n->kept) {
        int64_t columns = n->sizes[p->column];
        int64_t lead_out = p->row < 0 ? columns : n->out[p->row];
        gw_gemm(ctx, n->dtype, p->flip_left, p->flip_right, size_of(n, p->row), columns,
                n->sizes[p->inner], 1, left, p->lead_left, 0, right, p->lead_right, 0, 0, out,
                lead_out, 0, 1);
        return;
    }
    for (int64_t i = 0; i < n->sizes[label]; i++) {
        multiply(n, p, ctx, label + 1, left + i * n->steps[p->left][label] * item,
                 right + i * n->steps[p->right][label] * item, out + i * n->out[label] * item);
    }
}

void gw_run_nest(const GwNest *n, char *out) {
    Product p;
    if (!find_product(n, &p)) {
        runs[n->dtype](n, out);
        return;
    }
    gw_ctx ctx;
    gw_context(&ctx);
    multiply(n, &p, &ctx, 0, n->data[p.left], n->data[p.right], out);
}
