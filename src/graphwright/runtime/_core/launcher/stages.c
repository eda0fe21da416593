#include "stages.h"

#include "profiling.h"

/* ---- construction ---- */

static bool read_positions(PyObject *tuple, Py_ssize_t limit, Py_ssize_t *count,
                           Py_ssize_t **positions) {
    Py_ssize_t n = PyTuple_Check(tuple) ? PyTuple_GET_SIZE(tuple) : -1;
    *positions = n < 0 ? NULL : PyMem_New(Py_ssize_t, n + 1);
    if (*positions == NULL) {
        return n < 0 ? PyErr_Format(PyExc_ValueError, "Launcher: a stage is (dead, born)") != NULL
                     : PyErr_NoMemory() != NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t position = PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, i));
        if (position < 0 || position >= limit) {
            return PyErr_Occurred() ? false
                   : PyErr_Format(PyExc_ValueError, "Launcher: a stage names no input or output")
                         != NULL;
        }
        (*positions)[i] = position;
    }
    *count = n;
    return true;
}

static bool read_blocks(GwStages *stages, PyObject *list) {
    stages->n_blocks = PyList_GET_SIZE(list);
    stages->blocks = PyMem_Calloc((size_t)stages->n_blocks + 1, sizeof *stages->blocks);
    if (stages->blocks == NULL) {
        return PyErr_NoMemory() != NULL;
    }
    for (Py_ssize_t i = 0; i < stages->n_blocks; i++) {
        stages->blocks[i] = PyLong_AsSize_t(PyList_GET_ITEM(list, i));
        if (PyErr_Occurred()) {
            return false;
        }
        if (!gw_block_is_large(stages->blocks[i])) {
            return PyErr_Format(PyExc_ValueError, "Launcher: a block is too small") != NULL;
        }
    }
    return true;
}

static bool read_stage(GwStages *stages, GwStage *stage, PyObject *pair) {
    PyObject *dead, *born;
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
        return PyErr_Format(PyExc_ValueError, "Launcher: a stage is (dead, born)") != NULL;
    }
    dead = PyTuple_GET_ITEM(pair, 0);
    born = PyTuple_GET_ITEM(pair, 1);
    return read_positions(dead, stages->n_inputs + stages->n_blocks, &stage->n_dead, &stage->dead)
           && read_positions(born, stages->n_outputs + stages->n_blocks, &stage->n_born,
                             &stage->born);
}

bool gw_parse_stages(GwStages *stages, PyObject *list, PyObject *blocks) {
    if (!read_blocks(stages, blocks)) {
        return false;
    }
    Py_ssize_t late = stages->n_outputs + stages->n_blocks;
    stages->list = PyMem_Calloc((size_t)PyList_GET_SIZE(list) + 1, sizeof *stages->list);
    stages->late = PyMem_Calloc((size_t)late + 1, sizeof *stages->late);
    if (stages->list == NULL || stages->late == NULL) {
        return PyErr_NoMemory() != NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        GwStage *stage = &stages->list[i];
        stages->count = i + 1;
        if (!read_stage(stages, stage, PyList_GET_ITEM(list, i))) {
            return false;
        }
        for (Py_ssize_t n = 0; n < stage->n_born; n++) {
            stages->late[stage->born[n]] = true;
        }
    }
    return true;
}

void gw_free_stages(GwStages *stages) {
    for (Py_ssize_t i = 0; i < stages->count; i++) {
        PyMem_Free(stages->list[i].dead);
        PyMem_Free(stages->list[i].born);
    }
    PyMem_Free(stages->list);
    PyMem_Free(stages->late);
    PyMem_Free(stages->blocks);
}

/* ---- one call ---- */

/* Whether nothing but this reference leads to the tensor, and no other tensor to its memory. */
static bool is_own(PyObject *o) {
    const GwTensor *t = (GwTensor *)o;
    return Py_REFCNT(o) == 1 && gw_is_tensor(o) && t->weakrefs == NULL
           && Py_REFCNT(t->storage) == 1 && t->storage->owner == NULL
           && t->storage->cuda == NULL && gw_block_is_large(t->storage->block);
}

static void take(GwBlock *owned, PyObject **given) {
    GwStorage *storage = ((GwTensor *)*given)->storage;
    *owned = (GwBlock){storage->data, storage->block};
    storage->data = NULL;
    storage->block = 0;
    Py_CLEAR(*given);
}

static void take_dead(GwStaging *staging, PyObject **given) {
    for (Py_ssize_t i = 0; i < staging->stages->count; i++) {
        const GwStage *stage = &staging->stages->list[i];
        for (Py_ssize_t n = 0; n < stage->n_dead; n++) {
            Py_ssize_t input = stage->dead[n];
            if (input < staging->stages->n_inputs && given[input] != NULL
                && is_own(given[input])) {
                take(&staging->owned[input], &given[input]);
            }
        }
    }
}

bool gw_staging_begin(GwStaging *staging, const GwStages *stages, void **output_ptrs,
                      PyObject **given, PyObject *result) {
    staging->stages = stages;
    staging->output_ptrs = output_ptrs;
    staging->result = result;
    staging->owned = NULL;
    staging->profiled = stages->count > 0 && (gw_profiling & GW_PROFILE_MEMORY) != 0;
    if (stages->count == 0) {
        return true;
    }
    size_t count = (size_t)(stages->n_inputs + stages->n_blocks);
    staging->owned = PyMem_Calloc(count + 1, sizeof *staging->owned);
    if (staging->owned == NULL) {
        return PyErr_NoMemory() != NULL;
    }
    if (given != NULL) {
        take_dead(staging, given);
    }
    return true;
}

static void release(const GwStaging *staging, GwBlock *owned) {
    if (owned->memory != NULL) {
        (staging->profiled ? gw_block_free : gw_large_block_free)(owned->memory, owned->bytes);
        owned->memory = NULL;
    }
}

void gw_staging_end(GwStaging *staging) {
    if (staging->owned != NULL) {
        for (Py_ssize_t i = 0; i < staging->stages->n_inputs + staging->stages->n_blocks; i++) {
            release(staging, &staging->owned[i]);
        }
        PyMem_Free(staging->owned);
    }
}

static char *allocate(const GwStaging *staging, size_t bytes, size_t *block) {
    return (staging->profiled ? gw_block_alloc : gw_large_block_alloc)(bytes, block);
}

static bool fill(const GwStaging *staging, Py_ssize_t output) {
    PyObject *result = staging->result;
    GwTensor *t = (GwTensor *)(PyTuple_CheckExact(result) ? PyTuple_GET_ITEM(result, output)
                                                          : result);
    GwStorage *storage = t->storage;
    size_t block;
    if (storage->data == NULL) {
        char *memory = allocate(staging, (size_t)storage->nbytes, &block);
        if (memory == NULL) {
            return false;
        }
        storage->block = block;
        storage->data = t->data = staging->output_ptrs[output] = memory;
    }
    return true;
}

static bool begin_block(const GwStaging *staging, Py_ssize_t number) {
    const GwStages *stages = staging->stages;
    GwBlock *owned = &staging->owned[stages->n_inputs + number];
    owned->memory = allocate(staging, stages->blocks[number], &owned->bytes);
    staging->output_ptrs[stages->n_outputs + 1 + number] = owned->memory;
    return owned->memory != NULL;
}

int32_t gw_enter_stage(const gw_ctx *ctx, int64_t number) {
    GwStaging *staging = (GwStaging *)ctx;
    const GwStages *stages = staging->stages;
    const GwStage *stage = &stages->list[number];
    for (Py_ssize_t i = 0; i < stage->n_dead; i++) {
        release(staging, &staging->owned[stage->dead[i]]);
    }
    for (Py_ssize_t i = 0; i < stage->n_born; i++) {
        Py_ssize_t block = stage->born[i] - stages->n_outputs;
        if (!(block < 0 ? fill(staging, stage->born[i]) : begin_block(staging, block))) {
            return GW_NO_MEMORY;
        }
    }
    return GW_OK;
}
