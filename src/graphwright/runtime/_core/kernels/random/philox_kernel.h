/* One instruction set's draws. Included for each with PHILOX(name), PHILOX_TARGET, LANES, and
 * MULTIPLY(a, b): the products of the lower halves of 64-bit lanes. */

typedef uint64_t PHILOX(Lanes) __attribute__((vector_size(8 * LANES)));
enum { PHILOX(STEP) = 4 * LANES * VECTORS };

/* The words of LANES * VECTORS counters from `block` on, in the order of the elements. Each word is
 * the lower half of a lane, and what the products leave in the upper halves is not read. */
PHILOX_TARGET static inline void PHILOX(blocks)(uint64_t block, uint64_t offset, uint64_t seed,
                                                uint32_t words[PHILOX(STEP)]) {
    PHILOX(Lanes) x[VECTORS][4], zero = {0}, m0 = zero + 0xD2511F53u, m1 = zero + 0xCD9E8D57u;
    for (int v = 0; v < VECTORS; v++) {
        PHILOX(Lanes) counter;
        for (int i = 0; i < LANES; i++) {
            counter[i] = block + (uint64_t)(v * LANES + i);
        }
        x[v][0] = counter;
        x[v][1] = counter >> 32;
        x[v][2] = zero + (offset & LOW);
        x[v][3] = zero + (offset >> 32);
    }
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++) {
        for (int v = 0; v < VECTORS; v++) {
            PHILOX(Lanes) p0 = MULTIPLY(m0, x[v][0]), p1 = MULTIPLY(m1, x[v][2]);
            x[v][0] = (p1 >> 32) ^ x[v][1] ^ k0;
            x[v][2] = (p0 >> 32) ^ x[v][3] ^ k1;
            x[v][1] = p1;
            x[v][3] = p0;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int v = 0; v < VECTORS; v++) {
        PHILOX(Lanes) low = (x[v][0] & LOW) | x[v][1] << 32, high = (x[v][2] & LOW) | x[v][3] << 32;
        for (int i = 0; i < LANES; i++) {
            uint64_t pair[2] = {low[i], high[i]};
            memcpy(words + 4 * (v * LANES + i), pair, sizeof pair);
        }
    }
}

/* Elements [begin, end); begin is a multiple of 4. */
PHILOX_TARGET static void PHILOX(words)(const Draw *draw, int64_t begin, int64_t end) {
    uint32_t words[PHILOX(STEP)];
    for (int64_t i = begin; i < end; i += PHILOX(STEP)) {
        PHILOX(blocks)((uint64_t)i >> 2, draw->place.offset, draw->place.seed, words);
        size_t n = (size_t)(end - i < PHILOX(STEP) ? end - i : PHILOX(STEP));
        memcpy((uint32_t *)draw->out + (i - draw->first), words, n * sizeof *words);
    }
}

PHILOX_TARGET static void PHILOX(uniform)(const Draw *draw, int64_t begin, int64_t end) {
    uint32_t words[PHILOX(STEP)];
    float uniforms[PHILOX(STEP)];
    for (int64_t i = begin; i < end; i += PHILOX(STEP)) {
        PHILOX(blocks)((uint64_t)i >> 2, draw->place.offset, draw->place.seed, words);
        for (int j = 0; j < PHILOX(STEP); j++) {
            uniforms[j] = (float)(int32_t)(words[j] >> 8) * 0x1p-24f;
        }
        size_t n = (size_t)(end - i < PHILOX(STEP) ? end - i : PHILOX(STEP));
        memcpy((float *)draw->out + (i - draw->first), uniforms, n * sizeof *uniforms);
    }
}

#undef PHILOX
#undef PHILOX_TARGET
#undef LANES
#undef MULTIPLY
