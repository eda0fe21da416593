/* Matrix products of bfloat16; see gemm_bfloat16.c. */
#ifndef GRAPHWRIGHT_GEMM_BFLOAT16_H
#define GRAPHWRIGHT_GEMM_BFLOAT16_H

#include "abi.h"

#include <stdbool.h>

/* Whether the processor has instructions for them. */
bool gw_has_bfloat16_products(void);
/* What gw_gemm does, of sizes other than 0. */
void gw_gemm_bfloat16(const gw_ctx *ctx, bool transa, bool transb, int64_t m, int64_t n,
                      int64_t k, double alpha, const void *a, int64_t lda, int64_t stride_a,
                      const void *b, int64_t ldb, int64_t stride_b, double beta, void *c,
                      int64_t ldc, int64_t stride_c, int64_t batch);

#endif
