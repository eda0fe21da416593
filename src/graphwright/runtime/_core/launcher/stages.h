/* Stages of a compiled graph: inputs are freed, and outputs get memory, while it runs.
 *
 * Only large blocks come and go so: that needs no GIL, which long graphs release. */
#ifndef GRAPHWRIGHT_STAGES_H
#define GRAPHWRIGHT_STAGES_H

#include "core.h"

typedef struct {
    Py_ssize_t n_dead, n_born;
    Py_ssize_t *dead, *born;    /* of inputs, then blocks; of outputs, then blocks */
} GwStage;

typedef struct {
    Py_ssize_t count;
    GwStage *list;
    Py_ssize_t n_inputs, n_outputs, n_blocks;
    size_t *blocks;             /* [n_blocks]: their bytes, each large */
    bool *late;                 /* [n_outputs + n_blocks]: those that are born in a stage */
} GwStages;

typedef struct {
    char *memory;
    size_t bytes;
} GwBlock;

/* Of one call. */
typedef struct {
    gw_ctx ctx;                 /* first: what the native code hands back */
    const GwStages *stages;
    void **output_ptrs;         /* the arena's, and those of blocks, follow */
    PyObject *result;           /* a tuple of tensors, or the lone one */
    GwBlock *owned;             /* [n_inputs + n_blocks]: what inputs had, and blocks have */
    bool profiled;              /* the GIL is held, and profiles see the memory */
} GwStaging;

/* list: of (dead, born), tuples of ints; blocks: a list of ints. Of what is counted `stages` has
 * the numbers of inputs and outputs. False with an exception. */
bool gw_parse_stages(GwStages *stages, PyObject *list, PyObject *blocks);
void gw_free_stages(GwStages *stages);

/* given: the inputs, owned by the call, or NULL; those whose memory is freed within are released
 * and set to NULL. False with MemoryError. */
bool gw_staging_begin(GwStaging *staging, const GwStages *stages, void **output_ptrs,
                      PyObject **given, PyObject *result);
void gw_staging_end(GwStaging *staging);
int32_t gw_enter_stage(const gw_ctx *ctx, int64_t stage);

#endif
