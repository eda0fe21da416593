/* The reductions of one kind, as functions on accumulators; see reduce_kernel.h. */
#ifndef GRAPHWRIGHT_REDUCE_H
#define GRAPHWRIGHT_REDUCE_H

#include "core.h"

typedef struct {
    int width;                                                  /* bytes of an accumulator */
    int result;                                                 /* dtype; -1: the input's */
    void (*start)(void *acc, int64_t n);
    void (*fold)(void *acc, const char *in, int64_t step, int64_t n);       /* into one */
    void (*columns)(void *acc, const char *in, int64_t step, int64_t n);    /* into n */
    /* `rows` contiguous ones, `stride` bytes apart, into n */
    void (*column_rows)(void *acc, const char *in, int64_t stride, int64_t rows, int64_t n);
    void (*short_rows)(void *acc, const char *in, int64_t stride, int64_t rows, int64_t n);
    void (*merge)(void *acc, const void *more, int64_t n);
    void (*finish)(const void *acc, char *out, int64_t step, int64_t n, int64_t count);
} GwReduction;

/* The reduction of that name over elements of the dtype; NULL where there is none. */
const GwReduction *gw_reduction(const char *name, int dtype);

#endif
