/* Products whose right factor was laid out for them before: panels of as many columns as two vectors
 * have, each with its k rows one after the other, the last one filled up with zeros. */
#ifndef GRAPHWRIGHT_PACKED_H
#define GRAPHWRIGHT_PACKED_H

#include "abi.h"

#include <stdbool.h>
#include <stddef.h>

/* One right factor of float32 that a launch may read as panels. */
typedef struct {
    const float *b;         /* as it lies in memory: `ld` from row to row, */
    int64_t n, k, ld;
    bool transposed;        /* which are its columns */
    bool may_pack;          /* where there are no panels: whether they may be made */
    const float *panels;    /* NULL where there are none yet */
} GwWeight;

struct gw_weights {
    int64_t count, next;    /* the one that is probably asked for next */
    GwWeight *list;
};

typedef struct {
    int64_t m, n, k, ldc;
    const float *a;         /* rows of k numbers, `lda` apart */
    int64_t lda, depth;     /* rows of the panels: k, or more of which the first are multiplied */
    float alpha, beta;
    float *c;
} GwPackedProduct;

size_t gw_panels_bytes(int64_t n, int64_t k);
/* Lays a factor out as panels, on this thread. */
void gw_pack_panels(const GwWeight *weight, float *panels);
/* The weight that a product's right factor is; NULL where it is none, or has no panels and gets
 * none. Called by the thread that runs the launch. */
const GwWeight *gw_packed_weight(const gw_ctx *ctx, const float *b, bool transposed, int64_t n,
                                 int64_t k, int64_t ld);
/* c = alpha * op(a) @ b + beta * c, then what follows it (NULL: nothing). Each result is one sum in the
 * order of k, in parts of a fixed length: the same whatever the other rows, and however many threads. */
void gw_multiply_packed(const gw_ctx *ctx, const GwPackedProduct *p, const float *panels,
                        const gw_then *then);

#endif
