/* The base of Python's Generator: philox.c. */
#ifndef GRAPHWRIGHT_GENERATOR_H
#define GRAPHWRIGHT_GENERATOR_H

#include "core.h"

extern PyTypeObject GwGenerator_Type;

#endif
