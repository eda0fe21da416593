/* `CudaLauncher`: what it knows, and how it is read. */
#ifndef GRAPHWRIGHT_CUDA_LAUNCHER_H
#define GRAPHWRIGHT_CUDA_LAUNCHER_H

#include "program.h"
#include "reports.h"

typedef struct {
    int dtype, ndim;
    GwOperand *layout;          /* sizes, then strides */
} GwOutput;

typedef struct {
    int input, place;           /* the dimension of a size, GW_MAX_DIMS + that of a stride, -1: an
                                 * int */
} GwSymbol;

typedef struct {
    GwOperand value;
    int64_t most;
} GwLimit;

enum { GW_ALIGNMENT = 16 };
/* What kernels do with an input: nothing, use it, or take its address for a multiple of that. */
enum { GW_UNUSED_INPUT, GW_TOUCHED, GW_ALIGNED };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    GwCudaProgram *program;
    PyTypeObject *cls;
    PyObject *otherwise, *label, *messages, *generator;
    int n_inputs, n_outputs, n_symbols, n_mutated, n_limits, device;
    GwOutput *outputs;
    GwSymbol *symbols;
    int *mutated;
    GwLimit *limits;
    char *uses;                 /* of each input, one of those above */
    GwOperand *reported;        /* the numbers of the messages, see reports.h */
    int n_reported;
    unsigned long long rng_ops;
    GwReport *report;           /* of the last launch that may report, while it is awaited */
} GwCudaLauncher;

/* launcher_read.c: fills an object of zeros; false with an exception. */
bool gw_launcher_read(GwCudaLauncher *self, PyObject *args, PyObject *kwargs);
void gw_launcher_clear(GwCudaLauncher *self);

#endif
