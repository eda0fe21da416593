/* Equations, inverses, determinants and LU through LAPACK: see factors.c. */
#include "matrices.h"

/* Fortran's: everything by address, the lengths of texts behind the other arguments. */
typedef const int *Int;
typedef void (*Gesv)(Int, Int, void *, Int, int *, void *, Int, int *);
typedef void (*Getrf)(Int, Int, void *, Int, int *, int *);

/* ---- equations ---- */

typedef struct {
    GwMatrices a, x;      /* both are overwritten: x by the solutions of a x = b */
    Gesv gesv;
} Equations;

static int equations_step(const void *what, int64_t i, void *room) {
    const Equations *e = what;
    int info;
    e->gesv(&e->a.rows, &e->x.columns, gw_matrix_at(&e->a, i), &e->a.rows, room,
            gw_matrix_at(&e->x, i), &e->x.rows, &info);
    return info;
}

static bool solve(const Equations *e) {
    return gw_done_for(&e->a, equations_step, e, (size_t)e->a.rows);
}

/* A, B */
GW_KERNEL(solve_matrix) {
    const GwTensor *t = gw_plain_matrices(args[0], true, GW_LONGEST);
    const GwTensor *b = gw_plain_matrices(args[1], false, GW_LONGEST);
    Equations e = {.gesv = t == NULL ? NULL : (Gesv)gw_lapack(GW_GESV, t->dtype)};
    if (e.gesv == NULL || b == NULL || b->dtype != t->dtype || b->ndim != t->ndim
        || memcmp(b->sizes, t->sizes, (size_t)(t->ndim - 1) * sizeof *t->sizes) != 0) {
        return NULL;
    }
    e.a = gw_copied_matrices(cls, t);
    e.x = gw_copied_matrices(cls, b);
    bool done = e.a.tensor != NULL && e.x.tensor != NULL && solve(&e);
    Py_XDECREF(e.a.tensor);
    return gw_kept((PyObject *)e.x.tensor, done);
}

static void set_identity(const GwMatrices *m) {
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
    const GwTensor *t = gw_plain_matrices(args[0], true, GW_LONGEST);
    Equations e = {.gesv = t == NULL ? NULL : (Gesv)gw_lapack(GW_GESV, t->dtype)};
    if (e.gesv == NULL) {
        return NULL;
    }
    e.a = gw_copied_matrices(cls, t);
    e.x = gw_fresh_matrices(cls, t, t->sizes[t->ndim - 1], t->sizes[t->ndim - 1]);
    bool done = e.a.tensor != NULL && e.x.tensor != NULL;
    if (done) {
        set_identity(&e.x);
        done = solve(&e);
    }
    Py_XDECREF(e.a.tensor);
    return gw_kept((PyObject *)e.x.tensor, done);
}

/* ---- LU, determinants ---- */

typedef struct {
    GwMatrices m;             /* overwritten by L and U */
    GwTensor *pivots, *info;    /* of each matrix */
    GwTensor *products;         /* of the diagonals, with the sign of the exchanges; or all three */
    Getrf getrf;
} Lu;

/* Of factors L U, after exchanges of rows. */
static double product_of_diagonal(const GwMatrices *m, const char *data, const int *places) {
    double product = 1;
    for (int64_t i = 0; i < m->rows; i++) {
        double value = gw_number_at(m->tensor, data, i * (m->rows + 1));
        product *= places[i] != i + 1 ? -value : value;
    }
    return product;
}

static int product_step(const void *what, int64_t i, void *room) {
    const Lu *f = what;
    char *data = gw_matrix_at(&f->m, i);
    int info;
    f->getrf(&f->m.rows, &f->m.rows, data, &f->m.rows, room, &info);
    double value = info == 0 ? product_of_diagonal(&f->m, data, room) : 0;
    if (f->products->dtype == GW_FLOAT32) {
        ((float *)f->products->data)[i] = (float)value;
    } else {
        ((double *)f->products->data)[i] = value;
    }
    return info;
}

GW_KERNEL(linalg_det) {
    const GwTensor *t = gw_plain_matrices(args[0], true, GW_LONGEST);
    Lu f = {.getrf = t == NULL ? NULL : (Getrf)gw_lapack(GW_GETRF, t->dtype)};
    if (f.getrf == NULL) {
        return NULL;
    }
    f.m = gw_copied_matrices(cls, t);
    f.products = f.m.tensor == NULL ? NULL : gw_fresh_rows(cls, t, t->dtype, -1);
    bool done = f.products != NULL && gw_done_for(&f.m, product_step, &f, (size_t)f.m.rows);
    Py_XDECREF(f.m.tensor);
    return gw_kept((PyObject *)f.products, done);
}

static int lu_step(const void *what, int64_t i, void *room) {
    const Lu *f = what;
    int *info = (int *)f->info->data + i;
    GW_UNUSED(room);
    f->getrf(&f->m.rows, &f->m.columns, gw_matrix_at(&f->m, i), &f->m.rows,
             (int *)f->pivots->data + i * gw_shorter_side(f->m.tensor), info);
    return *info < 0;
}

static bool none_is_singular(const Lu *f) {
    bool none = true;
    for (int64_t i = 0; i < f->m.count; i++) {
        none = none && ((const int *)f->info->data)[i] == 0;
    }
    return none;
}

/* A, pivot, strict */
GW_KERNEL(lu_factors) {
    const GwTensor *t = gw_plain_matrices(args[0], false, INT32_MAX);
    Lu f = {.getrf = t == NULL ? NULL : (Getrf)gw_lapack(GW_GETRF, t->dtype)};
    if (f.getrf == NULL || args[1] != Py_True || !PyBool_Check(args[2])) {
        return NULL;
    }
    f.m = gw_copied_matrices(cls, t);
    f.pivots = gw_fresh_rows(cls, t, GW_INT32, gw_shorter_side(t));
    f.info = gw_fresh_rows(cls, t, GW_INT32, -1);
    bool done = f.m.tensor != NULL && f.pivots != NULL && f.info != NULL
                && gw_done_for(&f.m, lu_step, &f, 0)
                && (args[2] == Py_False || none_is_singular(&f));
    PyObject *out = done ? PyTuple_Pack(3, f.m.tensor, f.pivots, f.info) : NULL;
    Py_XDECREF(f.m.tensor);
    Py_XDECREF(f.pivots);
    Py_XDECREF(f.info);
    return out;
}

/* Exchanges of rows, counted from 1, as an order of the rows; false where one is none of theirs. */
static bool put_in_order(const int *pivots, int64_t count, int64_t *order, int64_t rows) {
    for (int64_t i = 0; i < rows; i++) {
        order[i] = i;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t other = (int64_t)pivots[i] - 1;
        if (other < 0 || other >= rows || i >= rows) {
            return false;
        }
        int64_t held = order[i];
        order[i] = order[other];
        order[other] = held;
    }
    return true;
}

/* pivots, rows */
GW_KERNEL(order_of_pivots) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    int64_t rows;
    if (t == NULL || t->ndim == 0 || t->dtype != GW_INT32 || (t->flags & GW_CONTIGUOUS) == 0
        || t->numel == 0 || !gw_plain_int(args[1], &rows) || rows < 0) {
        return NULL;
    }
    int64_t sizes[GW_MAX_DIMS], count = t->sizes[t->ndim - 1];
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof *sizes);
    sizes[t->ndim - 1] = rows;
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, t->ndim, sizes, NULL);
    bool good = out != NULL;
    for (int64_t i = 0; good && i < t->numel / count; i++) {
        good = put_in_order((const int *)t->data + i * count, count,
                            (int64_t *)out->data + i * rows, rows);
    }
    return gw_kept((PyObject *)out, good);
}

const GwKernelEntry gw_equation_kernels[] = {
    {"linalg_det", 1, linalg_det},
    {"linalg_inv", 1, linalg_inv},
    {"lu_factors", 3, lu_factors},
    {"order_of_pivots", 2, order_of_pivots},
    {"solve_matrix", 2, solve_matrix},
    {NULL, 0, NULL},
};
