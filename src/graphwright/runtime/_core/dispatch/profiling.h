/* Spans of time, recorded while a profile is active: what ran, on which thread, from when to when.
 *
 * Each thread writes into a buffer of its own; the GIL guards the buffers. While no profile is
 * active nothing but `gw_profiling` is read. */
#ifndef GRAPHWRIGHT_PROFILING_H
#define GRAPHWRIGHT_PROFILING_H

#include "abi.h"
#include "capi.h"

/* What a profile records besides times; 0: no profile is active. */
enum { GW_PROFILE_ACTIVE = 1, GW_PROFILE_SHAPES = 2, GW_PROFILE_MEMORY = 4, GW_PROFILE_STACK = 8,
       GW_PROFILE_RESULTS = 16 };

extern int gw_profiling;

#define GW_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* An op's span; its arguments' shapes are recorded with it. */
GwMark gw_span_begin_op(PyObject *op, PyObject *const *items, Py_ssize_t count);
/* With the op's result, or NULL; of several the first one's shape is recorded. Keeps a pending exception. */
void gw_span_end_op(GwMark mark, PyObject *result);
GwMark gw_span_begin(int kind, PyObject *name);
void gw_span_end(GwMark mark);
void gw_span_cancel(GwMark mark);   /* nothing ran: the span, the latest one, is forgotten */

void gw_profile_memory(const void *address, int64_t bytes, int64_t live);

/* The kernels of one call of native code, which runs without the GIL: `ctx` records what is run
 * through it, on this thread, until gw_kernels_end writes spans named by `code`. */
typedef struct GwKernels GwKernels;
GwKernels *gw_kernels_begin(gw_ctx *ctx);           /* NULL: not recorded */
void gw_kernels_end(GwKernels *kernels, PyObject *code);

int gw_profiling_init(void);
extern PyMethodDef gw_profiling_methods[];

#endif
