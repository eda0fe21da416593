/* A list of launches over buffers and numbers, laid out for one native call. */
#ifndef GRAPHWRIGHT_CUDA_PROGRAM_H
#define GRAPHWRIGHT_CUDA_PROGRAM_H

#include "kernel.h"

typedef struct {
    int64_t i;
    double d;
    bool real;                  /* d holds it */
} GwNumber;

typedef enum { GW_FROM_BUFFER, GW_FROM_ARENA, GW_FROM_SCALAR, GW_FROM_CONSTANT } GwSource;

/* Where a value comes from that is known when the program runs. */
typedef struct {
    GwSource source;
    int index;                  /* of the buffer or scalar */
    int64_t value;              /* the constant, or bytes to add to an address */
} GwOperand;

typedef struct {
    const GwArgType *type;
    GwOperand from;
    uint32_t at;                /* in the bytes of all launches' parameters */
} GwPatch;

typedef enum { GW_DERIVE_ADD, GW_DERIVE_SUB, GW_DERIVE_MUL, GW_DERIVE_FLOORDIV,
               GW_DERIVE_CEILDIV, GW_DERIVE_MIN, GW_DERIVE_MAX, GW_NUM_DERIVATIONS } GwDerivation;

typedef struct {
    GwDerivation op;
    GwOperand a, b;
} GwDerived;

typedef struct {
    GwCudaKernel *kernel;
    GwOperand grid[3];
    uint32_t first;             /* of its parameters' addresses */
} GwLaunch;

typedef struct {
    PyObject_HEAD
    int buffers, scalars, derived, launches, patches;
    GwDerived *rules;
    GwLaunch *launch;
    GwPatch *patch;
    char *bytes;                /* parameters, of which patches overwrite some */
    uint32_t *places;           /* of each parameter in them */
    uint32_t size, parameters;
    GwOperand arena;
} GwCudaProgram;

/* program_read.c: fills an object of zeros; false with an exception. */
bool gw_program_read(GwCudaProgram *p, PyObject *launches, PyObject *derived, PyObject *arena);
void gw_program_clear(GwCudaProgram *p);
bool gw_number_write(char *to, const GwArgType *type, const GwNumber *number);
bool gw_number_read(PyObject *object, GwNumber *number);

#endif
