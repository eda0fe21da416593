/* The thread pool and the products that run on it; usable without the GIL. */
#ifndef GRAPHWRIGHT_POOL_H
#define GRAPHWRIGHT_POOL_H

#include "abi.h"
#include "split.h"

void gw_parallel_for(const gw_ctx *ctx, gw_body body, void *closure, int64_t n, int64_t grain);
int gw_num_threads(void);
void gw_context(gw_ctx *ctx);   /* filled in, without random numbers and error_info */
/* Called with the GIL: tasks [0, tasks) of `each` elements, at once where these are few, else without
 * the GIL by the threads. */
void gw_run_tasks(gw_body body, void *closure, int64_t tasks, int64_t each);
int gw_pool_init(void);

int32_t gw_gemm(const gw_ctx *ctx, int32_t dtype, int32_t transa, int32_t transb, int64_t m,
                int64_t n, int64_t k, double alpha, const void *a, int64_t lda, int64_t stride_a,
                const void *b, int64_t ldb, int64_t stride_b, double beta, void *c, int64_t ldc,
                int64_t stride_c, int64_t batch);

/* The same, then what follows, as abi.h has it. */
int32_t gw_gemm_then(const gw_ctx *ctx, int32_t dtype, int32_t transa, int32_t transb, int64_t m,
                     int64_t n, int64_t k, double alpha, const void *a, int64_t lda,
                     int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, double beta,
                     void *c, int64_t ldc, int64_t stride_c, int64_t batch, const gw_then *then);

/* By own kernels alone, which packages of exported programs have: same bits as theirs. */
int32_t gw_own_gemm(const gw_ctx *ctx, int32_t dtype, int32_t transa, int32_t transb, int64_t m,
                    int64_t n, int64_t k, double alpha, const void *a, int64_t lda,
                    int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, double beta,
                    void *c, int64_t ldc, int64_t stride_c, int64_t batch, const gw_then *then);

/* The opened library of BLAS and LAPACK, whose names begin with scipy_; NULL where there is none. */
void *gw_blas_library(void);

/* Compiled for several instruction sets, picked when loaded. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) \
    && !defined(__SANITIZE_ADDRESS__)
#define GW_VECTORISED \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"),           \
                   optimize("O3", "no-trapping-math", "no-math-errno")))
#else
#define GW_VECTORISED
#endif

#endif
