/* What follows a product, on parts of its result that are complete: for the core, and for packages of
 * exported programs. Included behind the declarations of abi.h. */
#ifndef GRAPHWRIGHT_FOLLOWING_H
#define GRAPHWRIGHT_FOLLOWING_H

#include <stdint.h>

/* How many iterations touch the first `elements` of `total` alone. */
static inline int64_t gw_iterations_within(const gw_then *t, int64_t elements, int64_t total) {
    int64_t whole = elements < total ? elements / t->each : t->count;
    return whole < t->count ? whole : t->count;
}

/* Runs what follows elements [begin, end) of `total`. An iteration that begins earlier has its other
 * elements from the same thread, or from before the threads were started. */
static inline void gw_follow(const gw_then *t, int64_t begin, int64_t end, int64_t total) {
    int64_t first = gw_iterations_within(t, begin, total);
    int64_t last = gw_iterations_within(t, end, total);
    if (first < last) {
        t->body(t->closure, first, last);
    }
}

/* The least number of rows of n elements that end where an iteration does. */
static inline int64_t gw_whole_rows(const gw_then *t, int64_t n) {
    int64_t common = t->each, rest = n;
    while (rest != 0) {
        int64_t next = common % rest;
        common = rest;
        rest = next;
    }
    return t->each / common;
}

#endif
