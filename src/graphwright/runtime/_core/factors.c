/* Factors of few small matrices through the LAPACK that comes with BLAS, without the workspace
 * queries and copies of numpy.linalg. What a routine does not solve is left to Python, which words
 * the refusal. */
#include "native.h"
#include "pool.h"

#include <dlfcn.h>
#include <math.h>

enum { LONGEST = 32, LARGEST = 4096 };      /* a side of a matrix, all elements */
enum { POTRF, GEQRF, ORGQR, SYEVD, GESDD, GESV, GETRF, ROUTINES };

/* Fortran's: everything by address, the lengths of texts behind the other arguments. */
typedef const int *Int;
typedef void (*Potrf)(const char *, Int, void *, Int, int *, size_t);
typedef void (*Geqrf)(Int, Int, void *, Int, void *, void *, Int, int *);
typedef void (*Orgqr)(Int, Int, Int, void *, Int, const void *, void *, Int, int *);
typedef void (*Syevd)(const char *, const char *, Int, void *, Int, void *, void *, Int, int *,
                      Int, int *, size_t, size_t);
typedef void (*Gesdd)(const char *, Int, Int, void *, Int, void *, void *, Int, void *, Int,
                      void *, Int, int *, int *, size_t);
typedef void (*Gesv)(Int, Int, void *, Int, int *, void *, Int, int *);
typedef void (*Getrf)(Int, Int, void *, Int, int *, int *);

/* The routine for a dtype; NULL where there is no library or it lacks that. */
static void *routine(int which, int dtype) {
    static const char *const names[ROUTINES] = {"potrf", "geqrf", "orgqr", "syevd", "gesdd", "gesv",
                                                "getrf"};
    static void *found[2][ROUTINES], *library;
    void *opened = gw_blas_library();
    if (opened != library) {
        for (int i = 0; i < 2 * ROUTINES; i++) {
            char name[32];
            snprintf(name, sizeof name, "scipy_%c%s_", i < ROUTINES ? 's' : 'd',
                     names[i % ROUTINES]);
            found[i / ROUTINES][i % ROUTINES] = opened != NULL ? dlsym(opened, name) : NULL;
        }
        library = opened;
    }
    return found[dtype == GW_FLOAT64][which];
}

/* Matrices one behind the other, each stored by columns. */
typedef struct {
    GwTensor *tensor;
    char *data;
    int rows, columns;
    int64_t count;
    size_t bytes;       /* of one */
} Matrices;

static Matrices matrices(GwTensor *t) {
    int rows = t == NULL ? 0 : (int)t->sizes[t->ndim - 2];
    int columns = t == NULL ? 0 : (int)t->sizes[t->ndim - 1];
    int64_t each = (int64_t)rows * columns;
    return (Matrices){t, t == NULL ? NULL : t->data, rows, columns, each > 0 ? t->numel / each : 0,
                      t == NULL ? 0 : (size_t)each * (size_t)gw_itemsize(t)};
}

/* New matrices like the batch of `t`. */
static Matrices fresh(PyTypeObject *cls, const GwTensor *t, int64_t rows, int64_t columns) {
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS];
    int last = t->ndim - 1;
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof *sizes);
    sizes[last - 1] = columns;
    sizes[last] = rows;
    gw_contiguous(sizes, t->ndim, strides);
    sizes[last - 1] = rows;
    sizes[last] = columns;
    strides[last] = strides[last - 1];
    strides[last - 1] = 1;
    return matrices(gw_tensor_empty(cls, t->dtype, t->ndim, sizes, strides));
}

static Matrices copied(PyTypeObject *cls, const GwTensor *t) {
    Matrices m = fresh(cls, t, t->sizes[t->ndim - 2], t->sizes[t->ndim - 1]);
    if (m.tensor != NULL) {
        gw_copy_elements(t->ndim, t->sizes, gw_itemsize(t), m.data, m.tensor->strides, t->data,
                         t->strides);
    }
    return m;
}

/* A tensor [*, size], or [*] for a negative one. */
static GwTensor *fresh_rows(PyTypeObject *cls, const GwTensor *t, int64_t size) {
    int64_t sizes[GW_MAX_DIMS];
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof *sizes);
    sizes[t->ndim - 2] = size;
    return gw_tensor_empty(cls, t->dtype, t->ndim - (size < 0 ? 2 : 1), sizes, NULL);
}

/* Few small matrices of float32 or float64, or NULL. */
static const GwTensor *plain_matrices(PyObject *o, bool square) {
    const GwTensor *t = gw_plain_tensor(o);
    bool plain = t != NULL && t->ndim >= 2 && t->numel > 0 && t->numel <= LARGEST
                 && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64);
    if (!plain || t->sizes[t->ndim - 2] > LONGEST || t->sizes[t->ndim - 1] > LONGEST
        || (square && t->sizes[t->ndim - 1] != t->sizes[t->ndim - 2])) {
        return NULL;
    }
    return t;
}

static double element(const GwTensor *t, const char *data, int64_t i) {
    return t->dtype == GW_FLOAT32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* Iterations need not end where there is an infinity or no number. */
static bool all_finite(const GwTensor *t) {
    bool finite = true;
    for (int64_t i = 0; finite && i < t->numel; i++) {
        finite = isfinite(element(t, t->data, i));
    }
    return finite;
}

/* Zeros where row > column (`below`) or row < column of one matrix. */
static void clear_triangle(const Matrices *m, char *data, bool below) {
    size_t item = (size_t)gw_itemsize(m->tensor);
    for (int column = 0; column < m->columns; column++) {
        for (int row = 0; row < m->rows; row++) {
            if (below ? row > column : row < column) {
                memset(data + (size_t)(column * m->rows + row) * item, 0, item);
            }
        }
    }
}

/* The result if all went well, else NULL. */
static PyObject *kept(PyObject *out, bool done) {
    if (!done) {
        Py_CLEAR(out);
    }
    return out;
}

/* ---- Cholesky ---- */

GW_KERNEL(cholesky_factor) {
    const GwTensor *t = plain_matrices(args[0], true);
    Potrf potrf = t == NULL ? NULL : (Potrf)routine(POTRF, t->dtype);
    if (potrf == NULL) {
        return NULL;
    }
    Matrices m = copied(cls, t);
    bool done = m.tensor != NULL;
    for (int64_t i = 0; done && i < m.count; i++) {
        char *a = m.data + (size_t)i * m.bytes;
        int info;
        potrf("L", &m.rows, a, &m.rows, &info, 1);
        clear_triangle(&m, a, false);
        done = info == 0;
    }
    return kept((PyObject *)m.tensor, done && all_finite(m.tensor));
}

/* ---- QR ---- */

static void copy_columns(const Matrices *to, char *dst, const Matrices *from, const char *src) {
    size_t item = (size_t)gw_itemsize(to->tensor), rows = (size_t)to->rows * item;
    for (int column = 0; column < to->columns; column++) {
        memcpy(dst + (size_t)column * rows, src + (size_t)(column * from->rows) * item, rows);
    }
}

static bool factor_qr(const Matrices *a, const Matrices *q, const Matrices *r) {
    Geqrf geqrf = (Geqrf)routine(GEQRF, a->tensor->dtype);
    Orgqr orgqr = (Orgqr)routine(ORGQR, a->tensor->dtype);
    double tau[LONGEST], work[32 * LONGEST];
    int length = 32 * LONGEST, info = geqrf == NULL || orgqr == NULL;
    for (int64_t i = 0; info == 0 && i < a->count; i++) {
        char *whole = a->data + (size_t)i * a->bytes, *turns = q->data + (size_t)i * q->bytes;
        char *upper = r->data + (size_t)i * r->bytes;
        geqrf(&a->rows, &a->columns, whole, &a->rows, tau, work, &length, &info);
        copy_columns(q, turns, a, whole);
        copy_columns(r, upper, a, whole);
        clear_triangle(r, upper, true);
        if (info == 0) {
            orgqr(&q->rows, &q->columns, &q->columns, turns, &q->rows, tau, work, &length, &info);
        }
    }
    return info == 0;
}

/* A, mode */
GW_KERNEL(qr_factors) {
    const GwTensor *t = plain_matrices(args[0], false);
    if (t == NULL || !PyUnicode_Check(args[1])
        || PyUnicode_CompareWithASCIIString(args[1], "reduced") != 0) {
        return NULL;
    }
    int64_t rows = t->sizes[t->ndim - 2], columns = t->sizes[t->ndim - 1];
    int64_t side = rows < columns ? rows : columns;
    Matrices a = copied(cls, t), q = fresh(cls, t, rows, side), r = fresh(cls, t, side, columns);
    bool done = a.tensor != NULL && q.tensor != NULL && r.tensor != NULL
                && factor_qr(&a, &q, &r);
    Py_XDECREF(a.tensor);
    PyObject *out = done ? PyTuple_Pack(2, q.tensor, r.tensor) : NULL;
    Py_XDECREF(q.tensor);
    Py_XDECREF(r.tensor);
    return out;
}

/* ---- symmetric eigenvalues ---- */

/* Overwrites the matrices, by the eigenvectors where `vectors`. */
static bool find_eigen(const Matrices *m, GwTensor *values, char triangle, bool vectors) {
    Syevd syevd = (Syevd)routine(SYEVD, m->tensor->dtype);
    double work[1 + 6 * LONGEST + 2 * LONGEST * LONGEST];
    int whole[3 + 5 * LONGEST], length = (int)(sizeof work / sizeof *work);
    int whole_length = (int)(sizeof whole / sizeof *whole);
    int info = syevd == NULL || !all_finite(m->tensor);
    size_t item = (size_t)gw_itemsize(values);
    for (int64_t i = 0; info == 0 && i < m->count; i++) {
        syevd(vectors ? "V" : "N", &triangle, &m->rows, m->data + (size_t)i * m->bytes, &m->rows,
              values->data + (size_t)(i * m->rows) * item, work, &length, whole, &whole_length,
              &info, 1, 1);
    }
    return info == 0;
}

/* A, UPLO */
static PyObject *eigen(PyTypeObject *cls, PyObject *const *args, bool vectors) {
    const GwTensor *t = plain_matrices(args[0], true);
    const char *name = PyUnicode_Check(args[1]) ? PyUnicode_AsUTF8(args[1]) : NULL;
    if (name == NULL) {
        PyErr_Clear();
    }
    bool upper = name != NULL && (strcmp(name, "U") == 0 || strcmp(name, "u") == 0);
    bool lower = name != NULL && (strcmp(name, "L") == 0 || strcmp(name, "l") == 0);
    if (t == NULL || (!upper && !lower)) {
        return NULL;
    }
    Matrices m = copied(cls, t);
    GwTensor *values = m.tensor == NULL ? NULL : fresh_rows(cls, t, m.rows);
    bool done = values != NULL && find_eigen(&m, values, upper ? 'U' : 'L', vectors);
    PyObject *out = !done ? NULL
                    : vectors ? PyTuple_Pack(2, values, m.tensor) : Py_NewRef((PyObject *)values);
    Py_XDECREF(m.tensor);
    Py_XDECREF(values);
    return out;
}

GW_KERNEL(symmetric_eigen) { return eigen(cls, args, true); }
GW_KERNEL(linalg_eigvalsh) { return eigen(cls, args, false); }

/* ---- singular values ---- */

/* Of the matrices, which are overwritten; `u` and `vh` NULL: without vectors. */
static bool find_singular(const Matrices *m, GwTensor *values, const Matrices *u,
                          const Matrices *vh) {
    Gesdd gesdd = (Gesdd)routine(GESDD, m->tensor->dtype);
    int length = 4 * LONGEST * LONGEST + 8 * LONGEST, whole[8 * LONGEST];
    int info = gesdd == NULL || !all_finite(m->tensor), side = (int)values->sizes[values->ndim - 1];
    bool full = u != NULL && (u->columns > side || vh->rows > side);
    size_t item = (size_t)gw_itemsize(values);
    double work[4 * LONGEST * LONGEST + 8 * LONGEST];
    for (int64_t i = 0; info == 0 && i < m->count; i++) {
        gesdd(u == NULL ? "N" : full ? "A" : "S", &m->rows, &m->columns,
              m->data + (size_t)i * m->bytes, &m->rows,
              values->data + (size_t)(i * side) * item,
              u == NULL ? NULL : u->data + (size_t)i * u->bytes, &m->rows,
              u == NULL ? NULL : vh->data + (size_t)i * vh->bytes,
              u == NULL ? &m->columns : &vh->rows, work, &length, whole, &info, 1);
    }
    return info == 0;
}

static int64_t shorter_side(const GwTensor *t) {
    int64_t rows = t->sizes[t->ndim - 2], columns = t->sizes[t->ndim - 1];
    return rows < columns ? rows : columns;
}

GW_KERNEL(linalg_svdvals) {
    const GwTensor *t = plain_matrices(args[0], false);
    if (t == NULL) {
        return NULL;
    }
    Matrices m = copied(cls, t);
    GwTensor *values = m.tensor == NULL ? NULL : fresh_rows(cls, t, shorter_side(t));
    bool done = values != NULL && find_singular(&m, values, NULL, NULL);
    Py_XDECREF(m.tensor);
    return kept((PyObject *)values, done);
}

/* A, full_matrices; u and vh are stored by columns. */
GW_KERNEL(singular_factors) {
    const GwTensor *t = plain_matrices(args[0], false);
    if (t == NULL || !PyBool_Check(args[1])) {
        return NULL;
    }
    int64_t rows = t->sizes[t->ndim - 2], columns = t->sizes[t->ndim - 1];
    int64_t side = shorter_side(t);
    bool full = args[1] == Py_True;
    Matrices m = copied(cls, t), u = fresh(cls, t, rows, full ? rows : side);
    Matrices vh = fresh(cls, t, full ? columns : side, columns);
    GwTensor *values = fresh_rows(cls, t, side);
    bool done = m.tensor != NULL && u.tensor != NULL && vh.tensor != NULL && values != NULL
                && find_singular(&m, values, &u, &vh);
    PyObject *out = done ? PyTuple_Pack(3, u.tensor, values, vh.tensor) : NULL;
    Py_XDECREF(m.tensor);
    Py_XDECREF(u.tensor);
    Py_XDECREF(vh.tensor);
    Py_XDECREF(values);
    return out;
}

/* ---- equations ---- */

/* Overwrites both: x by the solutions of a x = b. */
static bool solve(const Matrices *a, const Matrices *x) {
    Gesv gesv = (Gesv)routine(GESV, a->tensor->dtype);
    int places[LONGEST], info = gesv == NULL;
    for (int64_t i = 0; info == 0 && i < a->count; i++) {
        gesv(&a->rows, &x->columns, a->data + (size_t)i * a->bytes, &a->rows, places,
             x->data + (size_t)i * x->bytes, &x->rows, &info);
    }
    return info == 0;
}

/* A, B */
GW_KERNEL(solve_matrix) {
    const GwTensor *t = plain_matrices(args[0], true), *b = plain_matrices(args[1], false);
    if (t == NULL || b == NULL || b->dtype != t->dtype || b->ndim != t->ndim
        || memcmp(b->sizes, t->sizes, (size_t)(t->ndim - 1) * sizeof *t->sizes) != 0) {
        return NULL;
    }
    Matrices a = copied(cls, t), x = copied(cls, b);
    bool done = a.tensor != NULL && x.tensor != NULL && solve(&a, &x);
    Py_XDECREF(a.tensor);
    return kept((PyObject *)x.tensor, done);
}

static void set_identity(const Matrices *m) {
    memset(m->data, 0, m->bytes * (size_t)m->count);
    for (int64_t i = 0; i < m->count * m->rows; i++) {
        int64_t at = i / m->rows * m->rows * m->rows + i % m->rows * (m->rows + 1);
        if (m->tensor->dtype == GW_FLOAT32) {
            ((float *)m->data)[at] = 1;
        } else {
            ((double *)m->data)[at] = 1;
        }
    }
}

GW_KERNEL(linalg_inv) {
    const GwTensor *t = plain_matrices(args[0], true);
    if (t == NULL) {
        return NULL;
    }
    Matrices a = copied(cls, t), x = fresh(cls, t, a.rows, a.rows);
    bool done = a.tensor != NULL && x.tensor != NULL;
    if (done) {
        set_identity(&x);
        done = solve(&a, &x);
    }
    Py_XDECREF(a.tensor);
    return kept((PyObject *)x.tensor, done);
}

/* ---- determinants ---- */

/* Of factors L U, after exchanges of rows. */
static double product_of_diagonal(const Matrices *m, const char *data, const int *places) {
    double product = 1;
    for (int64_t i = 0; i < m->rows; i++) {
        double value = element(m->tensor, data, i * (m->rows + 1));
        product *= places[i] != i + 1 ? -value : value;
    }
    return product;
}

GW_KERNEL(linalg_det) {
    const GwTensor *t = plain_matrices(args[0], true);
    Getrf getrf = t == NULL ? NULL : (Getrf)routine(GETRF, t->dtype);
    if (getrf == NULL) {
        return NULL;
    }
    Matrices a = copied(cls, t);
    GwTensor *out = a.tensor == NULL ? NULL : fresh_rows(cls, t, -1);
    int places[LONGEST], info = 0;
    for (int64_t i = 0; out != NULL && info == 0 && i < a.count; i++) {
        char *data = a.data + (size_t)i * a.bytes;
        getrf(&a.rows, &a.rows, data, &a.rows, places, &info);
        double value = info == 0 ? product_of_diagonal(&a, data, places) : 0;
        if (t->dtype == GW_FLOAT32) {
            ((float *)out->data)[i] = (float)value;
        } else {
            ((double *)out->data)[i] = value;
        }
    }
    Py_XDECREF(a.tensor);
    return kept((PyObject *)out, info == 0);
}

const GwKernelEntry gw_factor_kernels[] = {
    {"cholesky_factor", 1, cholesky_factor},
    {"linalg_det", 1, linalg_det},
    {"linalg_eigvalsh", 2, linalg_eigvalsh},
    {"linalg_inv", 1, linalg_inv},
    {"linalg_svdvals", 1, linalg_svdvals},
    {"qr_factors", 2, qr_factors},
    {"singular_factors", 2, singular_factors},
    {"solve_matrix", 2, solve_matrix},
    {"symmetric_eigen", 2, symmetric_eigen},
    {NULL, 0, NULL},
};
