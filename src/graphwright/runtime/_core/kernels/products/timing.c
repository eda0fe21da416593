/* How long a product takes, made one way or another: what `mode="max-autotune"` measures. */
#include "core.h"
#include "packed.h"
#include "packs.h"
#include "pool.h"

#include <stdlib.h>
#include <time.h>

enum { LEAST_RUNS = 3, MOST_RUNS = 50 };
static const double LONG_ENOUGH = 4e-3;     /* seconds of all runs */

typedef struct {
    int32_t dtype, way;
    int transa, transb;
    int64_t m, n, k, batch;
    void *a, *b, *c;
} Timed;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run_once(const gw_ctx *ctx, const Timed *t) {
    gw_gemm(ctx, t->dtype | t->way << 16, t->transa, t->transb, t->m, t->n, t->k, 1, t->a,
            t->transa ? t->m : t->k, t->m * t->k, t->b, t->transb ? t->k : t->n, t->k * t->n, 0,
            t->c, t->n, t->m * t->n, t->batch);
}

/* The least of some runs, after one that makes what is kept between runs. */
static double least_time(gw_ctx *ctx, const Timed *t) {
    GwFactorForm form = {t->n, t->k, t->transb ? t->k : t->n, 1, 1, t->transb != 0};
    GwWeight weight = {.b = t->b, .form = form, .may_pack = true};
    struct gw_weights weights = {1, 0, &weight};
    ctx->weights = t->way == GW_BY_PANELS ? &weights : NULL;
    run_once(ctx, t);
    double least = INFINITY, total = 0;
    for (int run = 0; run < LEAST_RUNS || (run < MOST_RUNS && total < LONG_ENOUGH); run++) {
        double start = now();
        run_once(ctx, t);
        double taken = now() - start;
        least = taken < least ? taken : least;
        total += taken;
    }
    if (weight.panels != NULL) {
        gw_panels_free((void *)weight.panels, gw_panels_bytes(&weight.form));
    }
    return least;
}

/* Room for so many elements, none of them a number that is slow. */
static void *filled(int64_t count, int32_t dtype) {
    size_t size = dtype == GW_FLOAT32 ? sizeof(float) : sizeof(double);
    void *memory = malloc((size_t)count * size);
    for (int64_t i = 0; memory != NULL && i < count; i++) {
        if (dtype == GW_FLOAT32) {
            ((float *)memory)[i] = 1;
        } else {
            ((double *)memory)[i] = 1;
        }
    }
    return memory;
}

static PyObject *time_product(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    enum { MOST = 1 << 28 };
    Timed t = {0};
    long long m, n, k, batch;
    if (!PyArg_ParseTuple(args, "iippLLLL", &t.dtype, &t.way, &t.transa, &t.transb, &m, &n, &k,
                          &batch)) {
        return NULL;
    }
    if ((t.dtype != GW_FLOAT32 && t.dtype != GW_FLOAT64) || t.way < 0 || t.way >= GW_WAYS || m < 1
        || n < 1 || k < 1 || batch < 1 || m > MOST / k / batch || n > MOST / k / batch
        || m > MOST / n / batch) {
        PyErr_SetString(PyExc_ValueError, "time_product takes float32 or float64, a way, and "
                        "matrices of 1 to 2 ** 28 elements");
        return NULL;
    }
    t.m = m, t.n = n, t.k = k, t.batch = batch;
    t.a = filled(m * k * batch, t.dtype);
    t.b = filled(k * n * batch, t.dtype);
    t.c = filled(m * n * batch, t.dtype);
    PyObject *result = NULL;
    if (t.a != NULL && t.b != NULL && t.c != NULL) {
        gw_ctx ctx;
        gw_context(&ctx);
        double least;
        Py_BEGIN_ALLOW_THREADS
        least = least_time(&ctx, &t);
        Py_END_ALLOW_THREADS
        result = PyFloat_FromDouble(least);
    } else {
        PyErr_NoMemory();
    }
    free(t.a);
    free(t.b);
    free(t.c);
    return result;
}

PyMethodDef gw_timing_methods[] = {
    {"time_product", time_product, METH_VARARGS,
     "time_product(dtype, way, transa, transb, m, n, k, batch): seconds that a product of this\n"
     "form takes on the threads that there are now."},
    {NULL, NULL, 0, NULL},
};
