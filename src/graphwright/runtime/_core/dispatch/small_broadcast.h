/* Few elements of tensors that broadcast, walked in the order of the rows. */
#ifndef GRAPHWRIGHT_WALK_H
#define GRAPHWRIGHT_WALK_H

#include "loops.h"
#include "native.h"

enum { GW_WALK_MOST = 4096 };

typedef struct {
    int count, ndim;
    int64_t numel, sizes[GW_MAX_DIMS], place[GW_MAX_DIMS];
    int64_t steps[2][GW_MAX_DIMS];      /* in bytes */
    char *at[2];
} GwSteps;

/* False where they do not broadcast, or there are many elements. */
static inline bool gw_walk_begin(GwSteps *w, int count, GwTensor *const *tensors) {
    *w = (GwSteps){.count = count, .numel = 1};
    w->ndim = gw_broadcast(count, tensors, w->sizes);
    for (int d = 0; d < w->ndim; d++) {
        w->numel *= w->sizes[d];
    }
    for (int k = 0; k < count && w->ndim >= 0; k++) {
        const GwTensor *t = tensors[k];
        w->at[k] = t->data;
        for (int own = 0; own < t->ndim; own++) {
            int64_t step = t->sizes[own] == 1 ? 0 : t->strides[own] * gw_itemsize(t);
            w->steps[k][w->ndim - t->ndim + own] = step;
        }
    }
    return w->ndim >= 0 && w->numel <= GW_WALK_MOST;
}

/* To the next element; after the last one back to the first. */
static inline void gw_walk_next(GwSteps *w) {
    for (int d = w->ndim - 1; d >= 0; d--) {
        bool more = ++w->place[d] < w->sizes[d];
        for (int k = 0; k < w->count; k++) {
            w->at[k] += more ? w->steps[k][d] : -(w->sizes[d] - 1) * w->steps[k][d];
        }
        if (more) {
            return;
        }
        w->place[d] = 0;
    }
}

#endif
