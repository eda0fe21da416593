/* What is searched for: shared by membership and by the places in sorted rows. */
#ifndef GRAPHWRIGHT_SEARCHING_H
#define GRAPHWRIGHT_SEARCHING_H

#include "native.h"

/* A contiguous tensor of one dtype, or a number that fits it. */
typedef struct {
    const GwTensor *tensor;     /* NULL: a number */
    const char *data;
    int64_t numel;
    char number[16];
} GwWanted;

bool gw_read_wanted(GwWanted *w, PyObject *o, int dtype);

#endif
