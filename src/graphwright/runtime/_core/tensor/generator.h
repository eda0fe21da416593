/* The base of Python's Generator, and where draws of one are in its stream: philox.c. */
#ifndef GRAPHWRIGHT_GENERATOR_H
#define GRAPHWRIGHT_GENERATOR_H

#include "core.h"

extern PyTypeObject GwGenerator_Type;

typedef struct {
    uint64_t seed, offset;
} GwPlace;

/* Takes the place of the next draw. False, with what the generator raised, or without an exception
 * where it is none. */
bool gw_take_place(PyObject *generator, GwPlace *place);
/* Takes the places of n draws of an object whose base is GwGenerator_Type. */
void gw_take_places(PyObject *generator, uint64_t n, GwPlace *place);
/* Elements [begin, begin + n) of a draw as numbers in [0, 1); begin is a multiple of 4. */
void gw_uniforms_at(const GwPlace *place, int64_t begin, int64_t n, float *out);

#endif
