/* Matrix products of float32 and float64 tensors, as BLAS takes them without a copy, and of
 * bfloat16 where the processor has them. */
#include "contract.h"
#include "gemm_bfloat16.h"
#include "loops.h"
#include "pool.h"

#include <math.h>

static const double LONG_WORK = 200e3;  /* multiplications that are worth giving up the GIL */
enum { FEW = 16 << 10 };                /* elements of a half type that are multiplied here */

/* A matrix, or `batch` of them `step` elements apart. */
typedef struct {
    const char *data;
    int64_t rows, columns, row_step, column_step, batch, step;
} Matrix;

static bool multiplies(const GwTensor *t) {
    return t != NULL && t->numel > 0
           && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64
               || (t->dtype == GW_BFLOAT16 && gw_has_bfloat16_products()));
}

/* Two tensors of one dtype that can be multiplied. */
static bool factors(PyObject *a, PyObject *b, const GwTensor **left, const GwTensor **right) {
    *left = gw_plain_tensor(a);
    *right = gw_plain_tensor(b);
    return multiplies(*left) && multiplies(*right) && (*left)->dtype == (*right)->dtype;
}

/* The last two dims of a tensor, whose batch goes on evenly through the others. */
static Matrix matrix(const GwTensor *t) {
    int row = t->ndim - 2;
    int64_t batch = 1;
    for (int d = 0; d < row; d++) {
        batch *= t->sizes[d];
    }
    return (Matrix){t->data, t->sizes[row], t->sizes[row + 1], t->strides[row],
                    t->strides[row + 1], batch, row > 0 ? t->strides[row - 1] : 0};
}

/* Whether all dims before the last two are one step apart from matrix to matrix. */
static bool is_even_batch(const GwTensor *t) {
    int64_t step = t->ndim > 2 ? t->strides[t->ndim - 3] : 0;
    for (int d = t->ndim - 3; d >= 0; d--) {
        if (t->sizes[d] != 1 && t->strides[d] != step) {
            return false;
        }
        step = t->sizes[d] == 1 ? step : step * t->sizes[d];
    }
    return true;
}

/* Whether both have several matrices in the same batch, over dims that can be walked as one. */
static bool same_batch(const GwTensor *a, const GwTensor *b) {
    return a->ndim == b->ndim && a->ndim > 2 && is_even_batch(a) && is_even_batch(b)
           && memcmp(a->sizes, b->sizes, (size_t)(a->ndim - 2) * sizeof(int64_t)) == 0;
}

static Matrix row_of(const GwTensor *t) {
    return (Matrix){t->data, 1, t->sizes[0], t->sizes[0] * t->strides[0], t->strides[0], 1, 0};
}

static Matrix column_of(const GwTensor *t) {
    return (Matrix){t->data, t->sizes[0], 1, t->strides[0], 1, 1, 0};
}

/* All dims but the last as one, of a contiguous tensor. */
static Matrix flat(const GwTensor *t) {
    int64_t columns = t->sizes[t->ndim - 1];
    return (Matrix){t->data, t->numel / columns, columns, columns, 1, 1, 0};
}

static Matrix turned(Matrix m) {
    return (Matrix){m.data, m.columns, m.rows, m.column_step, m.row_step, m.batch, m.step};
}

/* The leading dimension, and whether the matrix lies transposed; false where it needs a copy. */
static bool lies(const Matrix *m, int32_t *transposed, int64_t *leading) {
    *transposed = 0;
    if ((m->column_step == 1 || m->columns == 1)
        && (m->row_step >= m->columns || m->rows == 1)) {
        *leading = m->rows == 1 ? m->columns : m->row_step;
        return true;
    }
    *transposed = 1;
    *leading = m->columns == 1 ? m->rows : m->column_step;
    return (m->row_step == 1 || m->rows == 1)
           && (m->column_step >= m->rows || m->columns == 1);
}

typedef struct {
    Matrix a, b;
    int32_t flip_a, flip_b;
    int64_t lda, ldb;
} Product;

static bool fits(Product *p) {
    return p->a.columns == p->b.rows && p->a.batch == p->b.batch
           && lies(&p->a, &p->flip_a, &p->lda) && lies(&p->b, &p->flip_b, &p->ldb);
}

/* out = alpha a @ b + beta out. */
static void multiply(const Product *p, GwTensor *out, double alpha, double beta) {
    gw_ctx ctx;
    gw_context(&ctx);
    int64_t m = p->a.rows, n = p->b.columns, k = p->a.columns, batch = p->a.batch;
    bool large = (double)m * (double)n * (double)k * (double)batch > LONG_WORK;
    PyThreadState *released = large ? PyEval_SaveThread() : NULL;
    gw_gemm(&ctx, out->dtype, p->flip_a, p->flip_b, m, n, k, alpha, p->a.data, p->lda, p->a.step,
            p->b.data, p->ldb, p->b.step, beta, out->data, n, m * n, batch);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
}

static PyObject *product(PyTypeObject *cls, Product *p, int dtype, int ndim,
                         const int64_t *sizes) {
    GwTensor *out = fits(p) ? gw_tensor_empty(cls, dtype, ndim, sizes, NULL) : NULL;
    if (out != NULL) {
        multiply(p, out, 1, 0);
    }
    return (PyObject *)out;
}

/* ---- the ops ---- */

static PyObject *of_matrices(PyTypeObject *cls, const GwTensor *a, const GwTensor *b) {
    Product p = {.a = matrix(a), .b = matrix(b)};
    int64_t sizes[GW_MAX_DIMS];
    memcpy(sizes, a->sizes, (size_t)a->ndim * sizeof(int64_t));
    sizes[a->ndim - 1] = p.b.columns;
    return product(cls, &p, a->dtype, a->ndim, sizes);
}

/* The elements in another dtype, contiguous. */
static GwTensor *converted(PyTypeObject *cls, PyObject *o, int dtype) {
    GwTensor *t = (GwTensor *)o;
    GwTensor *out = gw_tensor_empty(cls, dtype, t->ndim, t->sizes, NULL);
    if (out != NULL && !gw_convert_tensor(out, t)) {
        Py_CLEAR(out);
    }
    return out;
}

/* Few elements of a half type, multiplied as float32. */
static PyObject *of_halves(PyTypeObject *cls, PyObject *const *args, GwKernel multiplied) {
    const GwTensor *a = gw_plain_tensor(args[0]), *b = gw_plain_tensor(args[1]);
    if (a == NULL || b == NULL || !gw_is_half(a->dtype) || a->dtype != b->dtype
        || a->numel > FEW || b->numel > FEW) {
        return NULL;
    }
    PyObject *wide[2] = {(PyObject *)converted(cls, args[0], GW_FLOAT32), NULL}, *out = NULL;
    wide[1] = wide[0] == NULL ? NULL : (PyObject *)converted(cls, args[1], GW_FLOAT32);
    PyObject *product = wide[1] == NULL ? NULL : multiplied(cls, wide);
    if (product != NULL) {
        out = (PyObject *)converted(cls, product, a->dtype);
    }
    Py_XDECREF(product);
    Py_XDECREF(wide[1]);
    Py_XDECREF(wide[0]);
    return out;
}

/* What is no product of floats for BLAS: `multiplied` is the kernel that was asked. */
static PyObject *of_others(PyTypeObject *cls, PyObject *const *args, GwKernel multiplied) {
    PyObject *out = gw_small_matmul(cls, args[0], args[1]);
    return out != NULL || PyErr_Occurred() ? out : of_halves(cls, args, multiplied);
}

/* Two tensors of so many dims. */
static bool of_ndim(PyObject *const *args, int ndim, const GwTensor **a, const GwTensor **b) {
    *a = gw_plain_tensor(args[0]);
    *b = gw_plain_tensor(args[1]);
    return *a != NULL && *b != NULL && (*a)->ndim == ndim && (*b)->ndim == ndim;
}

GW_KERNEL(mm) {
    const GwTensor *a, *b;
    if (!of_ndim(args, 2, &a, &b)) {
        return NULL;
    }
    return factors(args[0], args[1], &a, &b) ? of_matrices(cls, a, b) : of_others(cls, args, mm);
}

GW_KERNEL(bmm) {
    const GwTensor *a, *b;
    if (!of_ndim(args, 3, &a, &b) || a->sizes[0] != b->sizes[0]) {
        return NULL;
    }
    return factors(args[0], args[1], &a, &b) ? of_matrices(cls, a, b) : of_others(cls, args, bmm);
}

GW_KERNEL(dot) {
    const GwTensor *a, *b;
    if (!factors(args[0], args[1], &a, &b) || a->ndim != 1 || b->ndim != 1) {
        return NULL;
    }
    Product p = {.a = row_of(a), .b = column_of(b)};
    return product(cls, &p, a->dtype, 0, NULL);
}

static PyObject *matrix_by_vector(PyTypeObject *cls, Matrix a, const GwTensor *vector) {
    Product p = {.a = a, .b = column_of(vector)};
    return product(cls, &p, vector->dtype, 1, &a.rows);
}

GW_KERNEL(mv) {
    const GwTensor *a, *b;
    return !factors(args[0], args[1], &a, &b) || a->ndim != 2 || b->ndim != 1
           ? NULL : matrix_by_vector(cls, matrix(a), b);
}

/* All dims but the last of `a` as rows. */
static PyObject *of_rows(PyTypeObject *cls, const GwTensor *a, Matrix b) {
    int64_t sizes[GW_MAX_DIMS];
    Product p = {.a = flat(a), .b = b};
    memcpy(sizes, a->sizes, (size_t)a->ndim * sizeof(int64_t));
    sizes[a->ndim - 1] = b.columns;
    return product(cls, &p, a->dtype, a->ndim, sizes);
}

GW_KERNEL(matmul) {
    const GwTensor *a, *b;
    if (!factors(args[0], args[1], &a, &b)) {
        return of_others(cls, args, matmul);
    }
    if ((a->ndim == 2 && b->ndim == 2) || same_batch(a, b)) {
        return of_matrices(cls, a, b);
    }
    if (a->ndim == 1 && b->ndim == 1) {
        return dot(cls, args);
    }
    if (a->ndim == 2 && b->ndim == 1) {
        return matrix_by_vector(cls, matrix(a), b);
    }
    if (a->ndim == 1 && b->ndim == 2) {
        return matrix_by_vector(cls, turned(matrix(b)), a);
    }
    bool rows = a->ndim > 2 && b->ndim == 2 && (a->flags & GW_CONTIGUOUS) != 0;
    return rows ? of_rows(cls, a, matrix(b)) : gw_small_matmul(cls, args[0], args[1]);
}

/* ---- chains ---- */

/* Three matrices, of which the pair whose product costs less is multiplied first. */
GW_KERNEL(chain_of_three) {
    PyObject *const *items = PyTuple_Check(args[0]) && PyTuple_GET_SIZE(args[0]) == 3
                             ? PySequence_Fast_ITEMS(args[0]) : NULL;
    const GwTensor *a, *b, *c;
    if (items == NULL || !factors(items[0], items[1], &a, &b)
        || !factors(items[1], items[2], &b, &c)
        || a->ndim != 2 || b->ndim != 2 || c->ndim != 2) {
        return NULL;
    }
    double m = (double)a->sizes[0], k = (double)b->sizes[0], l = (double)b->sizes[1];
    double n = (double)c->sizes[1];
    bool left = m * k * l + m * l * n < k * l * n + m * k * n;
    PyObject *inner = of_matrices(cls, left ? a : b, left ? b : c);
    if (inner == NULL) {
        return NULL;
    }
    const GwTensor *first = (const GwTensor *)inner;
    PyObject *out = of_matrices(cls, left ? first : a, left ? c : first);
    Py_DECREF(inner);
    return out;
}

/* ---- with a term added ---- */

/* Writes a tensor that broadcasts to the result, to which products are added. */
static bool spread(const GwTensor *term, GwTensor *out) {
    int64_t from[GW_MAX_DIMS] = {0};
    int lead = term == NULL ? 0 : out->ndim - term->ndim;
    if (!multiplies(term) || term->dtype != out->dtype || lead < 0) {
        return false;
    }
    for (int d = 0; d < term->ndim; d++) {
        if (term->sizes[d] != out->sizes[lead + d] && term->sizes[d] != 1) {
            return false;
        }
        from[lead + d] = term->sizes[d] == 1 ? 0 : term->strides[d];
    }
    gw_copy_elements(out->ndim, out->sizes, gw_itemsize(out), out->data, out->strides, term->data,
                     from);
    return true;
}

/* beta * term + alpha * product; beta 0 ignores what is in the term. */
typedef struct {
    double beta, alpha;
} Factors;

static PyObject *with_term(PyTypeObject *cls, Product *p, const GwTensor *term, Factors by,
                           int dtype, int ndim, const int64_t *sizes) {
    GwTensor *out = fits(p) ? gw_tensor_empty(cls, dtype, ndim, sizes, NULL) : NULL;
    if (out == NULL) {
        return NULL;
    }
    if (!spread(term, out)) {
        Py_DECREF(out);
        return NULL;
    }
    multiply(p, out, by.alpha, by.beta);
    return (PyObject *)out;
}

GW_KERNEL(linear) {
    const GwTensor *x, *weight;
    if (!factors(args[0], args[1], &x, &weight) || x->ndim == 0 || weight->ndim != 2
        || (x->flags & GW_CONTIGUOUS) == 0) {
        return NULL;
    }
    Matrix w = turned(matrix(weight));
    if (args[2] == Py_None) {
        return of_rows(cls, x, w);
    }
    const GwTensor *bias = gw_plain_tensor(args[2]);
    if (bias == NULL || bias->ndim != 1 || bias->sizes[0] != w.columns) {
        return NULL;
    }
    int64_t sizes[GW_MAX_DIMS];
    Product p = {.a = flat(x), .b = w};
    memcpy(sizes, x->sizes, (size_t)x->ndim * sizeof(int64_t));
    sizes[x->ndim - 1] = w.columns;
    return with_term(cls, &p, bias, (Factors){1, 1}, x->dtype, x->ndim, sizes);
}

/* A number that the dtype holds. */
static bool plain_factor(PyObject *o, int dtype, double *value) {
    char bytes[16];
    int64_t whole = 0;
    bool number = PyFloat_CheckExact(o);
    bool plain = (number || gw_plain_int(o, &whole)) && gw_element(o, dtype, bytes);
    *value = number ? PyFloat_AS_DOUBLE(o) : (double)whole;
    return plain;
}

/* input, two factors of so many dims, beta, alpha. Left to Python: alpha 0, after which BLAS reads
 * no factors, and one that is not finite, which BLAS may multiply a factor's zeros by. */
typedef struct {
    const GwTensor *term, *a, *b;
    Factors by;
} Sum;

static bool read_sum(Sum *s, PyObject *const *args, int left, int right) {
    s->term = gw_plain_tensor(args[0]);
    return s->term != NULL && factors(args[1], args[2], &s->a, &s->b) && s->a->ndim == left
           && s->b->ndim == right && plain_factor(args[3], s->a->dtype, &s->by.beta)
           && plain_factor(args[4], s->a->dtype, &s->by.alpha) && s->by.alpha != 0
           && isfinite(s->by.alpha);
}

static PyObject *added(PyTypeObject *cls, PyObject *const *args, int ndim) {
    Sum s;
    if (!read_sum(&s, args, ndim, ndim)) {
        return NULL;
    }
    Product p = {.a = matrix(s.a), .b = matrix(s.b)};
    int64_t sizes[3] = {p.a.batch, p.a.rows, p.b.columns};
    return with_term(cls, &p, s.term, s.by, s.a->dtype, ndim, sizes + 3 - ndim);
}

GW_KERNEL(addmm) { return added(cls, args, 2); }
GW_KERNEL(baddbmm) { return added(cls, args, 3); }

GW_KERNEL(addmv) {
    Sum s;
    if (!read_sum(&s, args, 2, 1)) {
        return NULL;
    }
    Product p = {.a = matrix(s.a), .b = column_of(s.b)};
    return with_term(cls, &p, s.term, s.by, s.a->dtype, 1, &p.a.rows);
}

GW_KERNEL(addr) {
    Sum s;
    if (!read_sum(&s, args, 1, 1)) {
        return NULL;
    }
    Product p = {.a = column_of(s.a), .b = row_of(s.b)};
    int64_t sizes[2] = {p.a.rows, p.b.columns};
    return with_term(cls, &p, s.term, s.by, s.a->dtype, 2, sizes);
}

/* The sum over the batch, one product after the other. */
GW_KERNEL(addbmm) {
    Sum s;
    if (!read_sum(&s, args, 3, 3) || s.a->sizes[0] != s.b->sizes[0] || gw_is_half(s.a->dtype)) {
        return NULL;
    }
    Product p = {.a = matrix(s.a), .b = matrix(s.b)};
    int64_t sizes[2] = {p.a.rows, p.b.columns}, batch = p.a.batch, item = gw_itemsize(s.a);
    p.a.batch = p.b.batch = 1;
    GwTensor *out = (GwTensor *)with_term(cls, &p, s.term, s.by, s.a->dtype, 2, sizes);
    for (int64_t i = 1; out != NULL && i < batch; i++) {
        p.a.data += p.a.step * item;
        p.b.data += p.b.step * item;
        multiply(&p, out, s.by.alpha, 1);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_product_kernels[] = {
    {"addbmm", 5, addbmm},
    {"addmm", 5, addmm},
    {"addmv", 5, addmv},
    {"addr", 5, addr},
    {"baddbmm", 5, baddbmm},
    {"bmm", 2, bmm},
    {"chain_matmul", 1, chain_of_three},
    {"dot", 2, dot},
    {"linalg_multi_dot", 1, chain_of_three},
    {"linear", 3, linear},
    {"matmul", 2, matmul},
    {"mm", 2, mm},
    {"mv", 2, mv},
    {NULL, 0, NULL},
};
