/* Products whose right factor was laid out for them before: panels of as many columns as two vectors
 * have, each with its k rows one after the other, the last one filled up with zeros. */
#ifndef GRAPHWRIGHT_PACKED_H
#define GRAPHWRIGHT_PACKED_H

#include "abi.h"

#include <stdbool.h>
#include <stddef.h>

/* How a right factor lies in memory: k rows of n columns, `ld` elements apart, or n of k, transposed.
 * A convolution's weight is `groups` such factors, one after the other, in whose columns the `taps`
 * of a channel lie side by side; in panels all channels of a tap do. */
typedef struct {
    int64_t n, k, ld, taps, groups;
    bool transposed;
} GwFactorForm;

/* One right factor of float32 that a launch may read as panels. */
typedef struct {
    const float *b;
    GwFactorForm form;
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

static inline bool gw_same_form(const GwFactorForm *a, const GwFactorForm *b) {
    return a->n == b->n && a->k == b->k && a->ld == b->ld && a->taps == b->taps
           && a->groups == b->groups && a->transposed == b->transposed;
}

int64_t gw_panel_width(void);
/* Panels of all groups. */
size_t gw_panels_bytes(const GwFactorForm *form);
/* Lays a factor out. */
void gw_pack_panels(const gw_ctx *ctx, const float *b, const GwFactorForm *form, float *panels);
/* The panels of a product's right factor; NULL where it is no weight, or has none and gets none.
 * Called by the thread that runs the launch. */
const float *gw_packed_weight(const gw_ctx *ctx, const float *b, const GwFactorForm *form);
/* c = alpha * op(a) @ b + beta * c, then what follows it (NULL: nothing). Each result is one sum in the
 * order of k, in parts of a fixed length: the same whatever the other rows, and however many threads. */
void gw_multiply_packed(const gw_ctx *ctx, const GwPackedProduct *p, const float *panels,
                        const gw_then *then);

#endif
