/* Batches of matrices for LAPACK. */
#include "matrices.h"
#include "pool.h"

#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

void *gw_lapack(int which, int dtype) {
    static const char *const names[GW_ROUTINES] = {
        "potrf", "geqrf", "orgqr", "syevd", "gesdd", "gesv", "getrf",
    };
    static void *found[2][GW_ROUTINES], *library;
    void *opened = gw_blas_library();
    if (opened != library) {
        for (int i = 0; i < 2 * GW_ROUTINES; i++) {
            char name[32];
            snprintf(name, sizeof name, "scipy_%c%s_", i < GW_ROUTINES ? 's' : 'd',
                     names[i % GW_ROUTINES]);
            found[i / GW_ROUTINES][i % GW_ROUTINES] = opened != NULL ? dlsym(opened, name) : NULL;
        }
        library = opened;
    }
    return found[dtype == GW_FLOAT64][which];
}

static GwMatrices matrices(GwTensor *t) {
    if (t == NULL) {
        return (GwMatrices){0};
    }
    int rows = (int)t->sizes[t->ndim - 2], columns = (int)t->sizes[t->ndim - 1];
    int64_t each = (int64_t)rows * columns;
    return (GwMatrices){t, t->data, rows, columns, each > 0 ? t->numel / each : 0,
                        (size_t)each * (size_t)gw_itemsize(t)};
}

GwMatrices gw_fresh_matrices(PyTypeObject *cls, const GwTensor *t, int64_t rows, int64_t columns) {
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

GwMatrices gw_copied_matrices(PyTypeObject *cls, const GwTensor *t) {
    GwMatrices m = gw_fresh_matrices(cls, t, t->sizes[t->ndim - 2], t->sizes[t->ndim - 1]);
    if (m.tensor != NULL) {
        gw_copy_elements(t->ndim, t->sizes, gw_itemsize(t), m.data, m.tensor->strides, t->data,
                         t->strides);
    }
    return m;
}

GwTensor *gw_fresh_rows(PyTypeObject *cls, const GwTensor *t, int dtype, int64_t size) {
    int64_t sizes[GW_MAX_DIMS];
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof *sizes);
    sizes[t->ndim - 2] = size;
    return gw_tensor_empty(cls, dtype, t->ndim - (size < 0 ? 2 : 1), sizes, NULL);
}

const GwTensor *gw_plain_matrices(PyObject *o, bool square, int64_t longest) {
    const GwTensor *t = gw_plain_tensor(o);
    bool plain = t != NULL && t->ndim >= 2 && t->numel > 0
                 && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64);
    if (!plain || t->sizes[t->ndim - 2] > longest || t->sizes[t->ndim - 1] > longest
        || t->sizes[t->ndim - 2] * t->sizes[t->ndim - 1] > INT32_MAX
        || (square && t->sizes[t->ndim - 1] != t->sizes[t->ndim - 2])) {
        return NULL;
    }
    return t;
}

typedef struct {
    GwStep step;
    const void *what;
    size_t room;
    atomic_bool failed;
} Batch;

static void run_steps(void *closure, int64_t begin, int64_t end) {
    Batch *b = closure;
    void *room = malloc(b->room + 1);
    bool good = room != NULL;
    for (int64_t i = begin; good && i < end; i++) {
        good = b->step(b->what, i, room) == 0;
    }
    if (!good) {
        atomic_store(&b->failed, true);
    }
    free(room);
}

bool gw_done_for(const GwMatrices *m, GwStep step, const void *what, size_t doubles) {
    Batch b = {step, what, doubles * sizeof(double), false};
    int64_t side = m->rows < m->columns ? m->rows : m->columns;
    gw_run_tasks(run_steps, &b, m->count, side * m->rows * m->columns);
    return !atomic_load(&b.failed);
}

double gw_number_at(const GwTensor *t, const char *data, int64_t i) {
    return t->dtype == GW_FLOAT32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

bool gw_all_finite(const GwTensor *t) {
    bool finite = true;
    for (int64_t i = 0; finite && i < t->numel; i++) {
        finite = isfinite(gw_number_at(t, t->data, i));
    }
    return finite;
}

PyObject *gw_kept(PyObject *out, bool done) {
    if (!done) {
        Py_CLEAR(out);
    }
    return out;
}
