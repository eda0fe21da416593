/* The most that one core multiplies and adds: ten chains of fused operations on whole registers,
   none of which waits for another. */

#if defined(__AVX512F__)
typedef float V __attribute__((vector_size(64)));
#elif defined(__AVX__)
typedef float V __attribute__((vector_size(32)));
#else
typedef float V __attribute__((vector_size(16)));
#endif

/* Operations of a turn. */
int operations(void) { return 2 * 10 * sizeof(V) / sizeof(float); }

float run(long turns) {
    V m = (V){0} + 0.999f, c = (V){0} + 0.1f, s = {0};
    V s0 = s, s1 = s + 1, s2 = s + 2, s3 = s + 3, s4 = s + 4, s5 = s + 5, s6 = s + 6, s7 = s + 7,
      s8 = s + 8, s9 = s + 9;
    for (long turn = 0; turn < turns; turn++) {
        s0 = s0 * m + c; s1 = s1 * m + c; s2 = s2 * m + c; s3 = s3 * m + c; s4 = s4 * m + c;
        s5 = s5 * m + c; s6 = s6 * m + c; s7 = s7 * m + c; s8 = s8 * m + c; s9 = s9 * m + c;
    }
    s = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9;
    return s[0];
}
