/* Batches of matrices for LAPACK: read, copied, made, and worked on one by one. */
#ifndef GRAPHWRIGHT_MATRICES_H
#define GRAPHWRIGHT_MATRICES_H

#include "native.h"

/* Side of a matrix that NumPy may factor instead: one thread is enough for it. What NumPy has not,
 * or only with more, has no limit. */
enum { GW_LONGEST = 1024 };
enum { GW_BLOCK = 64 };         /* columns that routines work on at once, or fewer */
enum { GW_POTRF, GW_GEQRF, GW_ORGQR, GW_SYEVD, GW_GESDD, GW_GESV, GW_GETRF, GW_ROUTINES };

/* Matrices one behind the other, each stored by columns. */
typedef struct {
    GwTensor *tensor;
    char *data;
    int rows, columns;
    int64_t count;
    size_t bytes;       /* of one */
} GwMatrices;

/* A routine's work on matrix i of a batch, with workspace: LAPACK's info. */
typedef int (*GwStep)(const void *what, int64_t i, void *room);

/* The routine for a dtype; NULL where there is no library or it lacks that. */
void *gw_lapack(int which, int dtype);
/* New matrices like the batch of `t`. */
GwMatrices gw_fresh_matrices(PyTypeObject *cls, const GwTensor *t, int64_t rows, int64_t columns);
GwMatrices gw_copied_matrices(PyTypeObject *cls, const GwTensor *t);
/* A tensor [*, size], or [*] for a negative one. */
GwTensor *gw_fresh_rows(PyTypeObject *cls, const GwTensor *t, int dtype, int64_t size);
/* Matrices of float32 or float64 with sides up to `longest`, or NULL. */
const GwTensor *gw_plain_matrices(PyObject *o, bool square, int64_t longest);
/* Of float32 or float64 in `data`. */
double gw_number_at(const GwTensor *t, const char *data, int64_t i);
/* Iterations need not end where there is an infinity or no number. */
bool gw_all_finite(const GwTensor *t);
/* The result if all went well, else NULL. */
PyObject *gw_kept(PyObject *out, bool done);
/* Whether a routine did its work on all matrices, which the threads share out; `doubles`: the
 * workspace. */
bool gw_done_for(const GwMatrices *m, GwStep step, const void *what, size_t doubles);

static inline char *gw_matrix_at(const GwMatrices *m, int64_t i) {
    return m->data + (size_t)i * m->bytes;
}

static inline int64_t gw_shorter_side(const GwTensor *t) {
    int64_t rows = t->sizes[t->ndim - 2], columns = t->sizes[t->ndim - 1];
    return rows < columns ? rows : columns;
}

#endif
