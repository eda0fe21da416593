/* Recording an op for autograd: see autograd_record.c. */
#ifndef GRAPHWRIGHT_RECORD_H
#define GRAPHWRIGHT_RECORD_H

#include "core.h"

enum { GW_RECIPE_PARAMS = 24, GW_RECIPE_OUTPUTS = 6 };

enum GwParamKind { GW_PARAM_VALUE, GW_PARAM_TENSOR, GW_PARAM_LIST };

/* Parameters by what they take: a bit for each. */
typedef struct {
    uint32_t integers;      /* one int or several */
    uint32_t tensors;       /* a tensor, and nothing else */
    uint32_t optional;      /* a tensor or None */
    uint32_t bools;
    uint32_t numbers;       /* one that may be left out, too */
    uint32_t never_none;    /* of the integers and numbers, those that may not be left out */
    uint32_t singles;       /* one int, or a tensor or a number: neither a sequence nor a text */
} GwKinds;

/* What is kept of an op's arguments and outputs. */
typedef struct {
    bool known;             /* read from the op */
    bool by_parts;          /* without a vjp: unless `plain`, its parts are recorded */
    bool plain;             /* recorded here; the rest counts only then */
    bool flat;              /* no parameter is a list of tensors */
    int8_t params, outputs; /* how many of the following */
    GwKinds kinds;
    struct {
        uint8_t kind;
        bool saved;
        int8_t need;        /* saved only where that parameter needs a gradient; -1: always */
    } param[GW_RECIPE_PARAMS];
    struct {
        int8_t number, need;
    } output[GW_RECIPE_OUTPUTS];    /* those that are saved */
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
/* The same of an op that is recorded by parts otherwise; NULL, without an exception, where its
 * kernel does not take the call. */
PyObject *gw_record_whole(PyObject *op, const GwRecipe *recipe, PyObject *run, PyObject *args);

/* autograd_gradients.c: Context and fit_gradient of tape/node.py. */
void gw_set_gradient_classes(PyObject *context, PyObject *fit);

#endif
