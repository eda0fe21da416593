/* How a loop is cut into chunks, for the core's pool and for that of packages: results depend on it.
 * Included behind the declarations of abi.h. */
#ifndef GRAPHWRIGHT_SPLIT_H
#define GRAPHWRIGHT_SPLIT_H

#include <stdint.h>

enum { CHUNKS_PER_THREAD = 4 };

/* How [0, n) is cut: `chunks` runs of whole grains, the first ones longer by one. Depends on
 * n, grain and the number of threads alone. */
typedef struct {
    int64_t n, grain, units, chunks;
} GwSplit;

static inline GwSplit gw_split(int64_t n, int64_t grain, int64_t num_threads) {
    GwSplit split;
    split.grain = grain < 1 ? 1 : grain;
    split.units = n <= 0 ? 0 : (n - 1) / split.grain + 1;
    int64_t most = num_threads <= 1 ? 1 : num_threads * CHUNKS_PER_THREAD;
    split.chunks = split.units < most ? split.units : most;
    split.n = n;
    return split;
}

static inline void gw_run_chunk(const GwSplit *split, gw_body body, void *closure, int64_t chunk) {
    int64_t whole = split->units / split->chunks, rest = split->units % split->chunks;
    int64_t first = chunk * whole + (chunk < rest ? chunk : rest);
    int64_t last = first + whole + (chunk < rest ? 1 : 0);
    int64_t end = last * split->grain;
    body(closure, first * split->grain, end < split->n ? end : split->n);
}

#endif
