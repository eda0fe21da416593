/* Sine and cosine of numbers of half types. */
#ifndef GRAPHWRIGHT_COARSE_WAVE_H
#define GRAPHWRIGHT_COARSE_WAVE_H

#include "vector_math.h"

/* The sine of x + quarters pi / 2 for half types, to 3e-6 of it where |x| <= 65504: pi / 2 in three
 * parts. */
GW_INLINE float coarse_wave(float x, int32_t quarters) {
    float shifted = x * 0.63661977236758134308f + 12582912.0f, n = shifted - 12582912.0f;
    float r = GW_FMA(-n, 1.57079601f, x);
    r = GW_FMA(-n, 3.13916473e-07f, r);
    r = GW_FMA(-n, 5.39030253e-15f, r);
    int32_t turn = gw_bits_float(shifted) + quarters;
    float s = r * r, sine = 2.724378140946123e-06f, cosine = -2.7295830827614617e-07f;
    sine = (sine * s - 0.00019840038872556747f) * s + 0.008333331785217696f;
    sine = GW_COPYSIGN(r + r * s * (sine * s - 0.1666666666362283f), r);    /* of 0, too */
    cosine = (cosine * s + 2.4800560429914505e-05f) * s - 0.001388888759732781f;
    cosine = 1 + s * (s * (cosine * s + 0.04166666666412721f) - 0.5f);
    float value = (turn & 1) != 0 ? cosine : sine;
    return (turn & 2) != 0 ? -value : value;
}

#endif
