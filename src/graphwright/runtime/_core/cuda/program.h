/* A list of launches over buffers and numbers, laid out for one native call. */
#ifndef GRAPHWRIGHT_CUDA_PROGRAM_H
#define GRAPHWRIGHT_CUDA_PROGRAM_H

#include "kernel.h"

typedef struct {
    int64_t i;
    double d;
    bool real;                  /* d holds it */
} GwNumber;

typedef enum { GW_FROM_BUFFER, GW_FROM_ARENA, GW_FROM_WORD, GW_FROM_SCALAR, GW_FROM_CONSTANT } GwSource;

/* Where a value comes from that is known when the program runs. */
typedef struct {
    GwSource source;
    int index;                  /* of the buffer or scalar; of a scalar to add to the arena, or -1 */
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
    bool sized;                 /* the grid depends on scalars */
    uint32_t first;             /* of its parameters' addresses */
} GwLaunch;

/* What a call works on, one block of memory. */
typedef struct {
    char *bytes;                /* parameters, all that patches do not overwrite */
    void **parameters;          /* the address of each */
    unsigned (*grids)[3];       /* those that are not sized */
} GwRoom;

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
    GwRoom own;                 /* made by the first call; others have it while it is not `busy` */
    bool busy;
} GwCudaProgram;

/* program_read.c: fills an object of zeros; false with an exception. */
bool gw_program_read(GwCudaProgram *p, PyObject *launches, PyObject *derived, PyObject *arena);
void gw_program_clear(GwCudaProgram *p);
bool gw_number_write(char *to, const GwArgType *type, const GwNumber *number);
bool gw_number_read(PyObject *object, GwNumber *number);
/* An int, or ("scalar", i) of `scalars`. */
bool gw_count_read(PyObject *given, int scalars, GwOperand *o);

/* program.c */
/* The int of a constant or scalar; false with an exception. */
bool gw_count_value(const GwOperand *o, const GwNumber *numbers, int64_t *value);
/* After the program's scalars in `numbers`, those that follow from them. */
bool gw_program_derive(const GwCudaProgram *p, GwNumber *numbers);
/* Puts all launches into the current stream of an entered device, which the buffers are on.
 * word: the address of the word that kernels report errors in, or 0. */
bool gw_program_launch(GwCudaProgram *p, GwCudaStream *stream, GwTensor *const *buffers,
                       const GwNumber *numbers, uint64_t word);

#endif
