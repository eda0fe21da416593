/* The contract between graphwright and the native functions it compiles.
 *
 * A compiled graph is one object with two entry points, `run` and `shapes`. The emitters repeat
 * these declarations; whatever changes here changes GW_ABI_VERSION, which is part of the key of
 * every cached object. */
#ifndef GRAPHWRIGHT_ABI_H
#define GRAPHWRIGHT_ABI_H

#include <stdint.h>

#define GW_ABI_VERSION 3

typedef struct gw_ctx gw_ctx;
struct gw_weights;
typedef void (*gw_body)(void *closure, int64_t begin, int64_t end);
/* What follows a result: body over [0, count), whose iterations are independent. Of the result, whose
 * rows lie one after the other, iteration i touches elements [i * each, (i + 1) * each) alone: it may
 * run as soon as these are complete. */
typedef struct {
    gw_body body;
    void *closure;
    int64_t count, grain;   /* as parallel_for takes them */
    int64_t each;
} gw_then;

/* A routine of the runtime that compiled code calls. arrays: its results (NULL for those of which
 * nobody reads anything), then its operands (NULL for those that it is not given); sizes: those it
 * takes, then the strides of each operand, in elements; numbers: those it takes. Then runs
 * what follows the first result, as gemm does.
 * Returns GW_OK or GW_NO_MEMORY. */
typedef int32_t (*gw_routine)(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes,
                              const double *numbers, const gw_then *then);

struct gw_ctx {
    /* Runs body over [0, n) in chunks that depend on n, grain and num_threads alone. */
    void (*parallel_for)(const gw_ctx *ctx, gw_body body, void *closure, int64_t n,
                         int64_t grain);
    /* C[b] = alpha * op(A[b]) @ op(B[b]) + beta * C[b]. Row-major; leading dimensions and the
     * strides between batches in elements; dtype is the code of float32 or float64, and 65536 times
     * one of GW_ANY_WAY, ...: how, where that is possible. Then runs what
     * follows, on blocks of c as they are complete where it pays; `then` may be NULL.
     * Returns 0, or nonzero if the arguments are not valid. */
    int32_t (*gemm)(const gw_ctx *ctx, int32_t dtype, int32_t transa, int32_t transb, int64_t m,
                    int64_t n, int64_t k, double alpha, const void *a, int64_t lda,
                    int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, double beta,
                    void *c, int64_t ldc, int64_t stride_c, int64_t batch, const gw_then *then);
    uint64_t seed;       /* of the random numbers of this call; */
    uint64_t offset;     /* op r of the graph draws at offset + r */
    int64_t num_threads;
    int64_t *error_info; /* [4]: value, bound, message id, unused; set when run fails */
    /* Before the first step of a stage: inputs and blocks that are not read any more are freed,
     * outputs and blocks that are written from now on get memory, their places in ptrs set.
     * Returns GW_OK or GW_NO_MEMORY. Only programs with stages call it. */
    int32_t (*enter_stage)(const gw_ctx *ctx, int64_t stage);
    const gw_routine *routines; /* by number: see routines.h */
    /* Not for compiled code: right factors that gemm may read in another form, or NULL. */
    struct gw_weights *weights;
};

/* ptrs = inputs..., outputs..., arena, blocks...; sizes = the values of the size symbols, in order.
 * Returns GW_OK, GW_NO_MEMORY, or GW_INDEX_ERROR with error_info filled. */
typedef int32_t (*gw_run)(const gw_ctx *ctx, void **ptrs, const int64_t *sizes);

/* Writes the arena's bytes, then for each output its dims and its strides in elements. */
typedef void (*gw_shapes)(const int64_t *sizes, int64_t *out);

/* How a product is made: as it is usually fastest, by BLAS, by own kernels on factors as they lie, by
 * own kernels on panels of a parameter. */
enum { GW_ANY_WAY, GW_BY_LIBRARY, GW_BY_OWN, GW_BY_PANELS, GW_WAYS };

enum { GW_OK = 0, GW_INDEX_ERROR = 1, GW_NO_MEMORY = 2 };

#endif
