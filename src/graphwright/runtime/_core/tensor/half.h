/* Numbers of the half types as float32 and back, without branches. */
#ifndef GRAPHWRIGHT_HALF_H
#define GRAPHWRIGHT_HALF_H

#include <stdint.h>
#include <string.h>

#define GW_HALF static inline __attribute__((always_inline))

GW_HALF uint32_t gw_half_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

GW_HALF float gw_half_float(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

GW_HALF float gw_from_bfloat16(uint16_t h) { return gw_half_float((uint32_t)h << 16); }

/* Rounds to nearest even; a NaN stays one. */
GW_HALF uint16_t gw_to_bfloat16(float f) {
    uint32_t bits = gw_half_bits(f);
    uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    uint32_t nan = (bits & 0x80000000) | 0x7fc00000;
    return (uint16_t)((f != f ? nan : rounded) >> 16);      /* the choice in 32 bits is quick */
}

GW_HALF float gw_from_float16(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;
    float normal = gw_half_float(rest + ((uint32_t)112 << 23));
    float special = gw_half_float(rest + ((uint32_t)224 << 23));
    float small = (float)(h & 0x7fff) * 0x1p-24f;
    float value = rest < ((uint32_t)1 << 23) ? small
                  : rest >= ((uint32_t)31 << 23) ? special : normal;
    return gw_half_float(gw_half_bits(value) | sign);
}

GW_HALF uint16_t gw_to_float16(float f) {
    uint32_t bits = gw_half_bits(f), sign = (bits >> 16) & 0x8000, rest = bits & 0x7fffffff;
    uint32_t normal = (rest - ((uint32_t)112 << 23) + 0xfff + ((rest >> 13) & 1)) >> 13;
    uint32_t small = gw_half_bits(gw_half_float(rest) + 0.5f)    /* rounded by the adder */
                     - gw_half_bits(0.5f);
    uint32_t value = rest < ((uint32_t)113 << 23) ? small : normal;
    value = rest >= 0x477ff000 ? 0x7c00 : value;
    value = rest > 0x7f800000 ? 0x7e00 : value;
    return (uint16_t)(sign | value);
}

#endif
