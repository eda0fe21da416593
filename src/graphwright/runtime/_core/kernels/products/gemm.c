/* Matrix products over the pool: through a BLAS whose calls start no threads, with own kernels
 * for few rows, where its vectors are shorter than the processor's, and where there is no BLAS. */
#define _GNU_SOURCE
#if defined(__GNUC__) && !defined(__clang__)
/* Python's builds let integers wrap, for which tiles of 6 rows take a seventh longer. */
#pragma GCC optimize("no-wrapv")
#endif
#include "core.h"
#include "gemm_bfloat16.h"
#include "packed.h"
#include "pool.h"
#include "widths.h"

#define GW_PARALLEL_FOR gw_parallel_for
#define GW_ONLY_FLOAT32 0
#include "own_products.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- BLAS ---- */

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };
typedef void (*Sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                      float, float *, int);
typedef void (*Dgemm)(int, int, int, int, int, int, double, const double *, int, const double *,
                      int, double, double *, int);
static Sgemm sgemm;
static Dgemm dgemm;
static void *blas_library;
static bool blas_is_wide;       /* its kernels use vectors of 64 bytes on this machine */

/* The library is opened by the first product that wants it. */
static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;
static char *blas_path;
static _Atomic bool blas_decided = true;

/* Open the library without threads of its own: OpenBLAS starts them as it is loaded, and they spin
 * for some 70 ms before they first sleep, on CPUs that the pool needs. */
static void *open_without_threads(const char *path) {
    static const char name[] = "OPENBLAS_NUM_THREADS";
    const char *set = getenv(name);
    char *before = set != NULL ? strdup(set) : NULL;
    setenv(name, "1", 1);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (before != NULL) {
        setenv(name, before, 1);
        free(before);
    } else {
        unsetenv(name);
    }
    return library;
}

static bool has_wide_kernels(void *name_of_core) {
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
    const char *name = name_of_core == NULL ? "" : ((const char *(*)(void))name_of_core)();
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        if (strcasecmp(name, wide[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void open_blas(void) {
    sgemm = NULL;
    dgemm = NULL;
    blas_library = NULL;
    void *library = blas_path != NULL ? open_without_threads(blas_path) : NULL;
    if (library == NULL) {
        return;
    }
    void *s = dlsym(library, "scipy_cblas_sgemm"), *d = dlsym(library, "scipy_cblas_dgemm");
    void *set_threads = dlsym(library, "scipy_openblas_set_num_threads");
    if (s == NULL || d == NULL || set_threads == NULL) {
        dlclose(library);
        return;
    }
    ((void (*)(int))set_threads)(1);
    blas_is_wide = has_wide_kernels(dlsym(library, "scipy_openblas_get_corename"));
    sgemm = (Sgemm)s;
    dgemm = (Dgemm)d;
    blas_library = library;
}

static bool use_blas(void) {
    if (!atomic_load_explicit(&blas_decided, memory_order_acquire)) {
        pthread_mutex_lock(&blas_lock);
        if (!atomic_load(&blas_decided)) {
            open_blas();
            atomic_store_explicit(&blas_decided, true, memory_order_release);
        }
        pthread_mutex_unlock(&blas_lock);
    }
    return sgemm != NULL;
}

void *gw_blas_library(void) { return use_blas() ? blas_library : NULL; }

static bool fits_blas(const Product *p) {
    const int64_t most = INT32_MAX;
    bool rows_apart = p->lda >= (p->transa ? p->m : p->k) && p->ldb >= (p->transb ? p->k : p->n)
                      && p->ldc >= p->n;
    return rows_apart && use_blas() && p->m <= most && p->n <= most && p->k <= most && p->lda <= most
           && p->ldb <= most && p->ldc <= most;
}

/* OpenBLAS uses vectors of 32 bytes on processors with AVX-512 that are not Intel's. There own
 * kernels take half the time, but where few rows pay for packing b: transposed b in float32, or one
 * that no cache holds; and where a, transposed, is that large in float64. */
static bool own_is_faster(const Product *p) {
#ifdef HAS_WIDE
    enum { LARGE = 1 << 22 };
    if (blas_is_wide || !gw_has_wide()) {
        return false;
    }
    if (p->dtype == GW_FLOAT64) {
        return !p->transa || p->m * p->k < 2 * LARGE;
    }
    int64_t few = !p->transb ? 0 : p->k < 2048 ? 24 : 48;
    few = p->k * p->n > LARGE && few < 32 ? 32 : few;
    return p->m > few;
#else
    GW_UNUSED(p);
    return false;
#endif
}

/* OpenBLAS packs both factors into a buffer of the thread's, and its kernels for AVX2 prefetch what
 * follows the panel of a that they read. While there are few columns, it packs one panel at a time,
 * and nothing was ever written after it: each prefetch then walks the page tables in vain, and the
 * product takes four times as long. With more columns than it takes at once it packs all of a, which
 * maps these pages. */
static void map_buffer(void) {
    enum { ROWS = 64, COLUMNS = 512, INNER = 160 };
    float *zeros = calloc(ROWS * INNER + INNER * COLUMNS + ROWS * COLUMNS, sizeof *zeros);
    if (zeros != NULL) {
        float *b = zeros + ROWS * INNER, *c = b + INNER * COLUMNS;
        sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, ROWS, COLUMNS, INNER, 1.0f, zeros, INNER, b, COLUMNS,
              0.0f, c, COLUMNS);
        free(zeros);
    }
}

static void call_blas(const Product *p) {
    static _Thread_local bool is_mapped;
    if (!is_mapped) {
        is_mapped = true;
        map_buffer();
    }
    int ta = p->transa ? TRANS : NO_TRANS, tb = p->transb ? TRANS : NO_TRANS;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    if (p->dtype == GW_FLOAT32) {
        sgemm(ROW_MAJOR, ta, tb, m, n, k, (float)p->alpha, p->a, (int)p->lda, p->b, (int)p->ldb,
              (float)p->beta, p->c, (int)p->ldc);
    } else {
        dgemm(ROW_MAJOR, ta, tb, m, n, k, p->alpha, p->a, (int)p->lda, p->b, (int)p->ldb, p->beta,
              p->c, (int)p->ldc);
    }
}

static bool by_library(const Product *p) {
    if (!fits_blas(p) || (!p->library && own_is_faster(p))) {
        return false;
    }
    call_blas(p);
    return true;
}

/* By the panels that the launch has of b, or gets; false where it has none, and where a library with
 * vectors of 64 bytes has so many rows that packing b is little. */
static bool by_panels(const gw_ctx *ctx, const Product *p, int64_t batch, const gw_then *then,
                      int32_t way) {
    enum { MANY_ROWS = 256 };
    bool wanted = way == GW_BY_PANELS
                  || (way == GW_ANY_WAY && !(p->m > MANY_ROWS && use_blas() && blas_is_wide));
    if (ctx->weights == NULL || p->dtype != GW_FLOAT32 || p->transa || batch != 1 || p->m == 0
        || !wanted) {
        return false;
    }
    GwFactorForm form = {p->n, p->k, p->ldb, 1, 1, p->transb};
    const float *panels = gw_packed_weight(ctx, p->b, &form);
    if (panels == NULL) {
        return false;
    }
    GwPackedProduct q = {p->m, p->n, p->k, p->ldc, p->a, p->lda, p->k, (float)p->alpha,
                         (float)p->beta, p->c};
    gw_multiply_packed(ctx, &q, panels, then);
    return true;
}

int32_t gw_gemm_then(const gw_ctx *ctx, int32_t dtype, int32_t transa, int32_t transb, int64_t m,
                     int64_t n, int64_t k, double alpha, const void *a, int64_t lda,
                     int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, double beta,
                     void *c, int64_t ldc, int64_t stride_c, int64_t batch, const gw_then *then) {
    int32_t way = dtype >> 16;
    dtype &= UINT16_MAX;
    bool halves = dtype == GW_BFLOAT16;
    if ((dtype != GW_FLOAT32 && dtype != GW_FLOAT64 && !halves) || m < 0 || n < 0 || k < 0
        || batch < 0) {
        return -1;
    }
    Product p = {m, n, k, lda, ldb, ldc, stride_a, stride_b, stride_c, a, b, c, alpha, beta,
                 dtype, transa != 0, transb != 0, false, way == GW_BY_OWN, way == GW_BY_LIBRARY, NULL,
                 0, 0};
    if (halves) {
        if (m > 0 && n > 0 && batch > 0) {
            gw_gemm_bfloat16(ctx, transa != 0, transb != 0, m, n, k, alpha, a, lda, stride_a, b,
                             ldb, stride_b, beta, c, ldc, stride_c, batch);
        }
        if (then != NULL) {
            gw_parallel_for(ctx, then->body, then->closure, then->count, then->grain);
        }
    } else if (!by_panels(ctx, &p, batch, then, way)) {
        multiply_all(ctx, &p, batch, then);
    }
    return 0;
}

int32_t gw_gemm(const gw_ctx *ctx, int32_t dtype, int32_t transa, int32_t transb, int64_t m,
                int64_t n, int64_t k, double alpha, const void *a, int64_t lda, int64_t stride_a,
                const void *b, int64_t ldb, int64_t stride_b, double beta, void *c, int64_t ldc,
                int64_t stride_c, int64_t batch) {
    return gw_gemm_then(ctx, dtype, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb,
                        stride_b, beta, c, ldc, stride_c, batch, NULL);
}

int32_t gw_own_gemm(const gw_ctx *ctx, int32_t dtype, int32_t transa, int32_t transb, int64_t m,
                    int64_t n, int64_t k, double alpha, const void *a, int64_t lda,
                    int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, double beta,
                    void *c, int64_t ldc, int64_t stride_c, int64_t batch, const gw_then *then) {
    dtype &= UINT16_MAX;
    if (dtype == GW_BFLOAT16) {
        return gw_gemm_then(ctx, dtype, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb,
                            stride_b, beta, c, ldc, stride_c, batch, then);
    }
    if ((dtype != GW_FLOAT32 && dtype != GW_FLOAT64) || m < 0 || n < 0 || k < 0 || batch < 0) {
        return -1;
    }
    Product p = {m, n, k, lda, ldb, ldc, stride_a, stride_b, stride_c, a, b, c, alpha, beta,
                 dtype, transa != 0, transb != 0, false, true, false, NULL, 0, 0};
    multiply_all(ctx, &p, batch, then);
    return 0;
}

/* ---- Python ---- */

static PyObject *set_blas(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    PyObject *path = NULL;
    if (arg != Py_None && !PyUnicode_FSConverter(arg, &path)) {
        return NULL;
    }
    char *copy = path != NULL ? strdup(PyBytes_AS_STRING(path)) : NULL;
    Py_XDECREF(path);
    pthread_mutex_lock(&blas_lock);
    free(blas_path);
    blas_path = copy;
    atomic_store(&blas_decided, false);
    pthread_mutex_unlock(&blas_lock);
    Py_RETURN_NONE;
}

static PyObject *has_blas(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return PyBool_FromLong(use_blas());
}

static PyObject *has_bfloat16_products(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return PyBool_FromLong(gw_has_bfloat16_products());
}

/* One operand: its leading dimension, and whether it lies transposed in memory. */
static bool operand(PyArrayObject *array, bool *transposed, int64_t *leading) {
    int last = PyArray_NDIM(array) - 1;
    int64_t size = PyArray_ITEMSIZE(array);
    int64_t rows = PyArray_DIM(array, last - 1), cols = PyArray_DIM(array, last);
    int64_t row = PyArray_STRIDE(array, last - 1) / size, col = PyArray_STRIDE(array, last) / size;
    *transposed = false;
    if (rows == 0 || cols == 0) {
        *leading = cols > 0 ? cols : 1;
        return true;
    }
    if ((col == 1 || cols == 1) && (row >= cols || rows == 1)) {
        *leading = rows == 1 ? cols : row;
        return true;
    }
    if ((row == 1 || rows == 1) && (col >= rows || cols == 1)) {
        *transposed = true;
        *leading = cols == 1 ? rows : col;
        return true;
    }
    return false;
}

static int64_t batch_stride(PyArrayObject *array) {
    return PyArray_NDIM(array) == 3 && PyArray_DIM(array, 0) > 1
               ? PyArray_STRIDE(array, 0) / PyArray_ITEMSIZE(array) : 0;
}

static bool check_operands(PyArrayObject *a, PyArrayObject *b, PyArrayObject *out) {
    int ndim = PyArray_NDIM(out), type = PyArray_TYPE(out);
    if ((ndim != 2 && ndim != 3) || PyArray_NDIM(a) != ndim || PyArray_NDIM(b) != ndim
        || (type != NPY_FLOAT && type != NPY_DOUBLE) || PyArray_TYPE(a) != type
        || PyArray_TYPE(b) != type || !PyArray_ISBEHAVED_RO(a) || !PyArray_ISBEHAVED_RO(b)
        || !PyArray_ISBEHAVED(out)) {
        PyErr_SetString(PyExc_ValueError, "gemm takes matrices or batches of them, all of "
                        "float32 or all of float64");
        return false;
    }
    return true;
}

static PyObject *run_gemm(Product *p, int64_t batch) {
    gw_ctx ctx;
    gw_context(&ctx);
    bool large = (double)p->m * (double)p->n * (double)p->k * (double)batch > PARALLEL_WORK;
    PyThreadState *released = large ? PyEval_SaveThread() : NULL;
    gw_gemm(&ctx, p->dtype, p->transa, p->transb, p->m, p->n, p->k, p->alpha, p->a, p->lda,
            p->stride_a, p->b, p->ldb, p->stride_b, p->beta, p->c, p->ldc, p->stride_c, batch);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
    Py_RETURN_NONE;
}

static PyObject *gemm(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyArrayObject *a, *b, *out;
    int transa = 0, transb = 0;
    double alpha = 1, beta = 0;
    if (!PyArg_ParseTuple(args, "O!O!O!|ppdd", &PyArray_Type, &a, &PyArray_Type, &b, &PyArray_Type,
                          &out, &transa, &transb, &alpha, &beta)
        || !check_operands(a, b, out)) {
        return NULL;
    }
    bool flip_a, flip_b, flip_out;
    Product p = {.alpha = alpha, .beta = beta};
    if (!operand(a, &flip_a, &p.lda) || !operand(b, &flip_b, &p.ldb)
        || !operand(out, &flip_out, &p.ldc) || flip_out) {
        PyErr_SetString(PyExc_ValueError, "each matrix must have one stride of 1 and rows that "
                        "do not overlap; out must be row-major");
        return NULL;
    }
    int last = PyArray_NDIM(out) - 1;
    int64_t batch = last == 2 ? PyArray_DIM(out, 0) : 1;
    p.m = PyArray_DIM(out, last - 1);
    p.n = PyArray_DIM(out, last);
    p.k = PyArray_DIM(a, transa ? last - 1 : last);
    if (PyArray_DIM(a, transa ? last : last - 1) != p.m
        || PyArray_DIM(b, transb ? last : last - 1) != p.k
        || PyArray_DIM(b, transb ? last - 1 : last) != p.n
        || (last == 2 && (PyArray_DIM(a, 0) != batch || PyArray_DIM(b, 0) != batch))) {
        PyErr_SetString(PyExc_ValueError, "the shapes of a, b and out do not fit together");
        return NULL;
    }
    p.transa = (transa != 0) != flip_a;
    p.transb = (transb != 0) != flip_b;
    p.stride_a = batch_stride(a);
    p.stride_b = batch_stride(b);
    p.stride_c = batch_stride(out);
    p.a = PyArray_DATA(a);
    p.b = PyArray_DATA(b);
    p.c = PyArray_DATA(out);
    p.dtype = PyArray_TYPE(out) == NPY_FLOAT ? GW_FLOAT32 : GW_FLOAT64;
    return run_gemm(&p, batch);
}

PyMethodDef gw_gemm_methods[] = {
    {"set_blas", set_blas, METH_O,
     "set_blas(path): take matrix products from this library of scipy-openblas32, opened when "
     "first needed; own kernels do the work if it does not load, or for None."},
    {"has_blas", has_blas, METH_NOARGS, "Whether a BLAS library is in use; opens it."},
    {"has_bfloat16_products", has_bfloat16_products, METH_NOARGS,
     "Whether the processor multiplies matrices of bfloat16."},
    {"gemm", gemm, METH_VARARGS,
     "gemm(a, b, out, transa=False, transb=False, alpha=1.0, beta=0.0): "
     "out = alpha * op(a) @ op(b) + beta * out for matrices or batches of them (3 dimensions)."},
    {NULL, NULL, 0, NULL},
};
