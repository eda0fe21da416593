/* Gathering and scattering: the loop nest of gather_nest.c. */
#ifndef GRAPHWRIGHT_PICK_H
#define GRAPHWRIGHT_PICK_H

#include "core.h"

#include <stdatomic.h>

enum { GW_PICK_READ, GW_PICK_STORE, GW_PICK_ADD, GW_PICK_MUL, GW_PICK_MAX, GW_PICK_MIN,
       GW_NUM_PICKS };

/* An index tensor as it lies in the domain. */
typedef struct {
    const char *data;
    bool wide;                      /* int64, not int32 */
    bool resolved;                  /* these are int64 numbers of bytes, one after the other */
    int64_t size, step;             /* of the indexed dim; step in bytes */
    int64_t strides[GW_MAX_DIMS];   /* in bytes */
} GwIndex;

typedef struct GwWalk GwWalk;
typedef void (*GwRow)(const GwWalk *w, char *mem, char *value, int64_t n);

/* What is walked: `sizes` of the domain, memory and values with their strides in bytes, and the
 * index tensors. */
struct GwWalk {
    int ndim, count, itemsize;
    int pick, dtype;                /* the kind, and of the memory */
    bool wrap;                      /* negative positions count from the end */
    bool reads;                     /* memory is not written */
    int64_t sizes[GW_MAX_DIMS], mem[GW_MAX_DIMS], value[GW_MAX_DIMS];
    GwIndex *indices;
    char *memory, *values;
    GwRow row;
    int split;                      /* the dim that threads share, or -1 */
    atomic_int *failed;
    int64_t *error;                 /* [2]: position, index tensor */
};

/* What a kind of pick does with a run of elements; NULL where the dtype has no such thing. */
GwRow gw_pick_row(int pick, int dtype);

/* Runs the nest over `numel` elements; false, with the position and which index in `error`, where
 * one is out of range. Needs the GIL. */
bool gw_pick(GwWalk *w, int64_t numel, int64_t error[2]);

#endif
