/* Recording an op for autograd: see record.c. */
#ifndef GRAPHWRIGHT_RECORD_H
#define GRAPHWRIGHT_RECORD_H

#include "core.h"

enum { GW_RECIPE_INPUTS = 8 };

/* What is kept of an op's arguments and output. */
typedef struct {
    bool known;                     /* read from the op */
    bool by_parts;                  /* without a gradient of its own: its parts are recorded */
    bool plain;                     /* recorded here; the rest counts only then */
    bool saves_output, several_outputs;
    int output_need;                /* the parameter whose gradient the output serves; -1: any */
    int inputs;
    int slots[GW_RECIPE_INPUTS];    /* of the tensor parameters */
    int needs[GW_RECIPE_INPUTS];
    bool saved[GW_RECIPE_INPUTS];
} GwRecipe;

/* The base of Op. */
typedef struct {
    PyObject_HEAD
    PyObject *run;      /* what computes the op on real tensors; NULL until it is used */
    bool known;         /* `inplace` has been set */
    bool inplace;       /* whether it writes its first argument */
    GwRecipe recipe;
} GwOpBase;

bool gw_read_recipe(PyObject *op, GwRecipe *recipe);
/* Whether this op can be recorded here, now. No exception. */
bool gw_can_record(PyObject *op, GwRecipe *recipe);
/* Runs the kernel and hangs a new node on its result. */
PyObject *gw_record(PyObject *op, const GwRecipe *recipe, PyObject *run, PyObject *args);

#endif
