/* Kernels that are made twice: in vectors of 64 bytes for AVX-512, and of 32 for the rest, since
 * compilers split in memory what no register holds. Unlike GW_VECTORISED with multiply-adds,
 * which ISO C leaves apart. */
#ifndef GRAPHWRIGHT_WIDTHS_H
#define GRAPHWRIGHT_WIDTHS_H

#include <stdbool.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) \
    && !defined(__SANITIZE_ADDRESS__)
#define HAS_WIDE 1
#define GW_MULTIPLY_ADDS /* without calls of memset for a few elements */ \
    optimize("O3", "fp-contract=fast", "no-tree-loop-distribute-patterns")
#define WIDE __attribute__((target("arch=x86-64-v4"), GW_MULTIPLY_ADDS))
#define NARROW \
    __attribute__((target_clones("arch=x86-64-v3", "default"), GW_MULTIPLY_ADDS))
#else
#define NARROW
#endif

#ifdef HAS_WIDE
static inline bool gw_has_wide(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
           && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
           && __builtin_cpu_supports("avx512vl");
}
#endif

#endif
