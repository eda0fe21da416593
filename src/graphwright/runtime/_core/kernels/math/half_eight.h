/* Numbers of half types in vectors of AVX2. */
#ifndef GRAPHWRIGHT_HALF_EIGHT_H
#define GRAPHWRIGHT_HALF_EIGHT_H

#include <immintrin.h>
#include <stdint.h>

/* As gw_to_bfloat16, in the lower half of 32 bits. */
__attribute__((target("avx2"), always_inline)) static inline __m256i gw_bfloat16_of_eight(__m256 x) {
    __m256i bits = _mm256_castps_si256(x), one = _mm256_set1_epi32(1);
    __m256i last = _mm256_and_si256(_mm256_srli_epi32(bits, 16), one);
    __m256i up = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), last);
    __m256i nan = _mm256_or_si256(_mm256_and_si256(bits, _mm256_set1_epi32(INT32_MIN)),
                                  _mm256_set1_epi32(0x7fc00000));
    __m256 chosen = _mm256_blendv_ps(_mm256_castsi256_ps(up), _mm256_castsi256_ps(nan),
                                     _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_srli_epi32(_mm256_castps_si256(chosen), 16);
}

#endif
