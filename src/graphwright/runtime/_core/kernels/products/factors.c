/* Factors of matrices through the LAPACK that comes with BLAS, without the workspace queries and
 * copies of numpy.linalg, and in the precision of the matrices. It runs in the calling thread alone,
 * so that factors of long matrices are left to NumPy's, which has threads; what NumPy has not, or
 * only with the vectors, is found here for any. What a routine does not solve is left to Python,
 * which words the refusal. */
#include "matrices.h"

/* Fortran's: everything by address, the lengths of texts behind the other arguments. */
typedef const int *Int;
typedef void (*Potrf)(const char *, Int, void *, Int, int *, size_t);
typedef void (*Geqrf)(Int, Int, void *, Int, void *, void *, Int, int *);
typedef void (*Orgqr)(Int, Int, Int, void *, Int, const void *, void *, Int, int *);
typedef void (*Syevd)(const char *, const char *, Int, void *, Int, void *, void *, Int, int *,
                      Int, int *, size_t, size_t);
typedef void (*Gesdd)(const char *, Int, Int, void *, Int, void *, void *, Int, void *, Int,
                      void *, Int, int *, int *, size_t);

/* Zeros where row > column (`below`) or row < column of one matrix. */
static void clear_triangle(const GwMatrices *m, char *data, bool below) {
    size_t item = (size_t)gw_itemsize(m->tensor);
    for (int column = 0; column < m->columns; column++) {
        for (int row = 0; row < m->rows; row++) {
            if (below ? row > column : row < column) {
                memset(data + (size_t)(column * m->rows + row) * item, 0, item);
            }
        }
    }
}

/* ---- Cholesky ---- */

typedef struct {
    GwMatrices m;
    Potrf potrf;
} Cholesky;

static int cholesky_step(const void *what, int64_t i, void *room) {
    const Cholesky *c = what;
    char *a = gw_matrix_at(&c->m, i);
    int info;
    GW_UNUSED(room);
    c->potrf("L", &c->m.rows, a, &c->m.rows, &info, 1);
    clear_triangle(&c->m, a, false);
    return info;
}

GW_KERNEL(cholesky_factor) {
    const GwTensor *t = gw_plain_matrices(args[0], true, GW_LONGEST);
    Cholesky c = {.potrf = t == NULL ? NULL : (Potrf)gw_lapack(GW_POTRF, t->dtype)};
    if (c.potrf == NULL) {
        return NULL;
    }
    c.m = gw_copied_matrices(cls, t);
    bool done = c.m.tensor != NULL && gw_done_for(&c.m, cholesky_step, &c, 0)
                && gw_all_finite(c.m.tensor);
    return gw_kept((PyObject *)c.m.tensor, done);
}

/* ---- QR ---- */

static void copy_columns(const GwMatrices *to, char *dst, const GwMatrices *from, const char *src) {
    size_t item = (size_t)gw_itemsize(to->tensor), rows = (size_t)to->rows * item;
    for (int column = 0; column < to->columns; column++) {
        memcpy(dst + (size_t)column * rows, src + (size_t)(column * from->rows) * item, rows);
    }
}

typedef struct {
    GwMatrices a, q, r;
    Geqrf geqrf;
    Orgqr orgqr;
} Qr;

static int qr_step(const void *what, int64_t i, void *room) {
    const Qr *f = what;
    char *whole = gw_matrix_at(&f->a, i), *turns = gw_matrix_at(&f->q, i);
    char *upper = gw_matrix_at(&f->r, i);
    double *tau = room, *work = tau + f->q.columns;
    int length = GW_BLOCK * f->a.columns, info;
    f->geqrf(&f->a.rows, &f->a.columns, whole, &f->a.rows, tau, work, &length, &info);
    copy_columns(&f->q, turns, &f->a, whole);
    copy_columns(&f->r, upper, &f->a, whole);
    clear_triangle(&f->r, upper, true);
    if (info == 0) {
        f->orgqr(&f->q.rows, &f->q.columns, &f->q.columns, turns, &f->q.rows, tau, work, &length,
                 &info);
    }
    return info;
}

/* A, mode */
GW_KERNEL(qr_factors) {
    const GwTensor *t = gw_plain_matrices(args[0], false, GW_LONGEST);
    if (t == NULL || !PyUnicode_Check(args[1])
        || PyUnicode_CompareWithASCIIString(args[1], "reduced") != 0) {
        return NULL;
    }
    int64_t rows = t->sizes[t->ndim - 2], columns = t->sizes[t->ndim - 1];
    int64_t side = rows < columns ? rows : columns;
    Qr f = {.geqrf = (Geqrf)gw_lapack(GW_GEQRF, t->dtype),
            .orgqr = (Orgqr)gw_lapack(GW_ORGQR, t->dtype)};
    if (f.geqrf == NULL || f.orgqr == NULL) {
        return NULL;
    }
    f.a = gw_copied_matrices(cls, t);
    f.q = gw_fresh_matrices(cls, t, rows, side);
    f.r = gw_fresh_matrices(cls, t, side, columns);
    size_t room = (size_t)(side + GW_BLOCK * columns);
    bool done = f.a.tensor != NULL && f.q.tensor != NULL && f.r.tensor != NULL
                && gw_done_for(&f.a, qr_step, &f, room);
    Py_XDECREF(f.a.tensor);
    PyObject *out = done ? PyTuple_Pack(2, f.q.tensor, f.r.tensor) : NULL;
    Py_XDECREF(f.q.tensor);
    Py_XDECREF(f.r.tensor);
    return out;
}

/* ---- symmetric eigenvalues ---- */

typedef struct {
    GwMatrices m;         /* overwritten, by the eigenvectors where `vectors` */
    GwTensor *values;
    Syevd syevd;
    char triangle;
    bool vectors;
} Eigen;

/* Doubles for floating point; behind them are 3 + 5 n ints. */
static int eigen_length(const Eigen *e) {
    int n = e->m.rows;
    return 1 + 6 * n + (e->vectors ? 2 * n * n : GW_BLOCK * n);
}

static int eigen_step(const void *what, int64_t i, void *room) {
    const Eigen *e = what;
    int n = e->m.rows, length = eigen_length(e), whole_length = 3 + 5 * n, info;
    char *values = e->values->data + (size_t)(i * n) * (size_t)gw_itemsize(e->values);
    e->syevd(e->vectors ? "V" : "N", &e->triangle, &n, gw_matrix_at(&e->m, i), &n, values, room,
             &length, (int *)((double *)room + length), &whole_length, &info, 1, 1);
    return info;
}

/* A, UPLO */
static PyObject *eigen(PyTypeObject *cls, PyObject *const *args, bool vectors) {
    const GwTensor *t = gw_plain_matrices(args[0], true, vectors ? GW_LONGEST : INT32_MAX);
    const char *name = PyUnicode_Check(args[1]) ? PyUnicode_AsUTF8(args[1]) : NULL;
    if (name == NULL) {
        PyErr_Clear();
    }
    bool upper = name != NULL && (strcmp(name, "U") == 0 || strcmp(name, "u") == 0);
    bool lower = name != NULL && (strcmp(name, "L") == 0 || strcmp(name, "l") == 0);
    Eigen e = {.triangle = upper ? 'U' : 'L', .vectors = vectors,
               .syevd = t == NULL ? NULL : (Syevd)gw_lapack(GW_SYEVD, t->dtype)};
    if (e.syevd == NULL || (!upper && !lower)) {
        return NULL;
    }
    e.m = gw_copied_matrices(cls, t);
    e.values = e.m.tensor == NULL ? NULL : gw_fresh_rows(cls, t, t->dtype, e.m.rows);
    bool done = e.values != NULL && gw_all_finite(e.m.tensor)
                && gw_done_for(&e.m, eigen_step, &e, (size_t)(eigen_length(&e) + 3 + 5 * e.m.rows));
    PyObject *out = !done ? NULL
                    : vectors ? PyTuple_Pack(2, e.values, e.m.tensor)
                              : Py_NewRef((PyObject *)e.values);
    Py_XDECREF(e.m.tensor);
    Py_XDECREF(e.values);
    return out;
}

GW_KERNEL(symmetric_eigen) { return eigen(cls, args, true); }
GW_KERNEL(linalg_eigvalsh) { return eigen(cls, args, false); }

/* ---- singular values ---- */

typedef struct {
    GwMatrices m, u, vh;      /* m is overwritten; u and vh without tensors: no vectors are found */
    GwTensor *values;
    Gesdd gesdd;
    int side;               /* the shorter one */
} Singular;

/* Doubles for floating point; behind them are 8 ints for each value. */
static int64_t singular_length(const Singular *s) {
    int64_t side = s->side, squares = s->u.tensor == NULL ? 0 : 5 * side * side;
    return squares + 16 * side + (GW_BLOCK + 2) * ((int64_t)s->m.rows + s->m.columns);
}

static int singular_step(const void *what, int64_t i, void *room) {
    const Singular *s = what;
    bool vectors = s->u.tensor != NULL;
    bool full = vectors && (s->u.columns > s->side || s->vh.rows > s->side);
    int length = (int)singular_length(s), info;
    char *values = s->values->data + (size_t)(i * s->side) * (size_t)gw_itemsize(s->values);
    s->gesdd(!vectors ? "N" : full ? "A" : "S", &s->m.rows, &s->m.columns, gw_matrix_at(&s->m, i),
             &s->m.rows, values, vectors ? gw_matrix_at(&s->u, i) : NULL, &s->m.rows,
             vectors ? gw_matrix_at(&s->vh, i) : NULL, vectors ? &s->vh.rows : &s->m.columns, room,
             &length, (int *)((double *)room + length), &info, 1);
    return info;
}

static bool find_singular(const Singular *s) {
    int64_t length = singular_length(s);
    return length <= INT32_MAX && gw_all_finite(s->m.tensor)
           && gw_done_for(&s->m, singular_step, s, (size_t)(length + 8 * (int64_t)s->side));
}

GW_KERNEL(linalg_svdvals) {
    const GwTensor *t = gw_plain_matrices(args[0], false, INT32_MAX);
    Singular s = {.gesdd = t == NULL ? NULL : (Gesdd)gw_lapack(GW_GESDD, t->dtype)};
    if (s.gesdd == NULL) {
        return NULL;
    }
    s.side = (int)gw_shorter_side(t);
    s.m = gw_copied_matrices(cls, t);
    s.values = s.m.tensor == NULL ? NULL : gw_fresh_rows(cls, t, t->dtype, s.side);
    bool done = s.values != NULL && find_singular(&s);
    Py_XDECREF(s.m.tensor);
    return gw_kept((PyObject *)s.values, done);
}

/* A, full_matrices; u and vh are stored by columns. */
GW_KERNEL(singular_factors) {
    const GwTensor *t = gw_plain_matrices(args[0], false, GW_LONGEST);
    Singular s = {.gesdd = t == NULL ? NULL : (Gesdd)gw_lapack(GW_GESDD, t->dtype)};
    if (s.gesdd == NULL || !PyBool_Check(args[1])) {
        return NULL;
    }
    int64_t rows = t->sizes[t->ndim - 2], columns = t->sizes[t->ndim - 1];
    bool full = args[1] == Py_True;
    s.side = (int)gw_shorter_side(t);
    s.m = gw_copied_matrices(cls, t);
    s.u = gw_fresh_matrices(cls, t, rows, full ? rows : s.side);
    s.vh = gw_fresh_matrices(cls, t, full ? columns : s.side, columns);
    s.values = gw_fresh_rows(cls, t, t->dtype, s.side);
    bool done = s.m.tensor != NULL && s.u.tensor != NULL && s.vh.tensor != NULL
                && s.values != NULL && find_singular(&s);
    PyObject *out = done ? PyTuple_Pack(3, s.u.tensor, s.values, s.vh.tensor) : NULL;
    Py_XDECREF(s.m.tensor);
    Py_XDECREF(s.u.tensor);
    Py_XDECREF(s.vh.tensor);
    Py_XDECREF(s.values);
    return out;
}

const GwKernelEntry gw_factor_kernels[] = {
    {"cholesky_factor", 1, cholesky_factor},
    {"linalg_eigvalsh", 2, linalg_eigvalsh},
    {"linalg_svdvals", 1, linalg_svdvals},
    {"qr_factors", 2, qr_factors},
    {"singular_factors", 2, singular_factors},
    {"symmetric_eigen", 2, symmetric_eigen},
    {NULL, 0, NULL},
};
