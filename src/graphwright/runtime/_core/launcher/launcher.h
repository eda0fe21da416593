/* The Launcher's fields, which specification.c reads from its arguments. */
#ifndef GRAPHWRIGHT_LAUNCHER_H
#define GRAPHWRIGHT_LAUNCHER_H

#include "core.h"
#include "stages.h"
#include "weights.h"

enum { IDLE_ARENAS = 4 };

typedef struct {
    int dtype, ndim;
    bool symbolic, contiguous;
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS];
} Output;

typedef struct {
    Py_ssize_t input;
    int place;          /* the dimension of a size, GW_MAX_DIMS + that of a stride, -1: an int */
} Symbol;

typedef struct {
    char *memory;
    size_t capacity;
} Arena;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    gw_run run;
    gw_shapes shapes;
    PyTypeObject *cls;
    PyObject *keepalive, *label;
    PyObject *constants, *messages;     /* tuples */
    Py_ssize_t n_inputs, n_constants, n_outputs, n_symbols, n_mutated, n_shapes;
    Output *outputs;
    Symbol *symbols;
    Py_ssize_t *mutated;
    GwWeightInputs *weights;        /* or NULL */
    int64_t arena_bytes;    /* -1: from shapes() */
    unsigned long long rng_ops;
    bool single, release_gil, blas;
    GwStages stages;
    Arena idle[IDLE_ARENAS];
    int n_idle;
} Launcher;

/* False with an exception. */
bool gw_parse_launcher(Launcher *self, PyObject *args, PyObject *kwargs);

#endif
