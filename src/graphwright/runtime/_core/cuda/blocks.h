/* Memory of GPUs, and memory of the host that they reach: who has it, and who may have it next. */
#ifndef GRAPHWRIGHT_CUDA_BLOCKS_H
#define GRAPHWRIGHT_CUDA_BLOCKS_H

#include "driver.h"

/* A stream, beside the block's own, in whose work a block is needed. */
typedef struct GwCudaUse {
    struct GwCudaUse *next;
    GwCudaStream *stream;
    void *event;                /* recorded when the block was freed, or NULL */
} GwCudaUse;

/* A part of a segment, which is what the driver allocates; parts that are free join. */
typedef struct GwCudaBlock {
    uint64_t address;           /* 0 for no memory: of tensors without elements */
    size_t bytes, requested;
    GwCudaStream *stream;       /* whose later work may write to it at once when it is freed */
    struct GwCudaBlock *before, *after;     /* neighbours in the segment */
    struct GwCudaBlock *next, *previous;    /* of its list: free ones of a bin, or live ones */
    GwCudaUse *uses;
    PyObject *owner;            /* of memory of another library, else NULL */
    bool live, small;
} GwCudaBlock;

enum { GW_CUDA_BINS = 160 };

/* The free blocks of a stream. */
struct GwCudaPool {
    GwCudaBlock *bins[GW_CUDA_BINS];    /* by size */
    uint64_t used[(GW_CUDA_BINS + 63) / 64];
};

/* ---- memory.c; all of it needs the GIL ---- */
/* On an entered device, for the work of its current stream; NULL with OutOfMemoryError. */
GwCudaBlock *gw_cuda_alloc(int device, size_t bytes);
/* Memory of another library, which `owner` keeps until what the current stream has then is done. */
GwCudaBlock *gw_cuda_adopt(int device, uint64_t address, size_t bytes, PyObject *owner);
void gw_cuda_free(GwCudaBlock *block);
bool gw_cuda_record_use(GwCudaBlock *block, GwCudaStream *stream);  /* or MemoryError */
bool gw_cuda_release_segments(int device, size_t *released);
GwCudaBlock *gw_cuda_live_blocks(int device);
extern GwCudaBlock gw_cuda_nothing;     /* the block of tensors without elements */

/* ---- memory_stats.c ---- */
typedef struct {
    int64_t current, peak, allocated, freed;
} GwFigure;
static inline void gw_figure_change(GwFigure *figure, int64_t by) {
    figure->current += by;
    if (by > 0) {
        figure->allocated += by;
        figure->peak = figure->current > figure->peak ? figure->current : figure->peak;
    } else {
        figure->freed -= by;
    }
}

void gw_figure_reset(GwFigure *figure, bool accumulated);   /* else the peak is the present one */
/* Adds `name.current` and its like to a dict, in the order of their names. */
bool gw_figure_add(PyObject *made, const char *name, const GwFigure *figure);
bool gw_count_add(PyObject *made, const char *name, int64_t value);
typedef enum {
    GW_STAT_ALLOCATION, GW_STAT_SEGMENT, GW_STAT_ACTIVE, GW_STAT_INACTIVE_SPLIT,
    GW_STAT_ALLOCATED_BYTES, GW_STAT_RESERVED_BYTES, GW_STAT_ACTIVE_BYTES,
    GW_STAT_INACTIVE_SPLIT_BYTES, GW_STAT_REQUESTED_BYTES, GW_NUM_STATS
} GwStat;
typedef enum {
    GW_COUNT_RETRIES, GW_COUNT_OOMS, GW_COUNT_ALLOCS, GW_COUNT_FREES, GW_COUNT_SYNCS,
    GW_COUNT_REJECTIONS, GW_NUM_COUNTS
} GwCount;
enum { GW_ALL_BLOCKS, GW_SMALL_BLOCKS, GW_LARGE_BLOCKS, GW_BLOCK_KINDS };
typedef struct {
    GwFigure stats[GW_NUM_STATS][GW_BLOCK_KINDS];
    int64_t counts[GW_NUM_COUNTS];
    size_t limit;               /* of reserved bytes; 0: none */
} GwFigures;
extern GwFigures gw_cuda_figures[GW_CUDA_DEVICES];
static inline void gw_cuda_stat(int device, bool small, GwStat stat, int64_t by) {
    GwFigure *figures = gw_cuda_figures[device].stats[stat];
    gw_figure_change(&figures[GW_ALL_BLOCKS], by);
    gw_figure_change(&figures[small ? GW_SMALL_BLOCKS : GW_LARGE_BLOCKS], by);
}

void gw_cuda_count(int device, GwCount count);
int64_t gw_cuda_stat_now(int device, GwStat stat);
size_t gw_cuda_memory_limit(int device);    /* of reserved bytes */
void gw_cuda_raise_out_of_memory(int device, size_t bytes);
extern PyMethodDef gw_cuda_stats_methods[];

/* ---- pinned.c: page-locked memory of the host ---- */
typedef struct GwPinned GwPinned;
extern PyTypeObject GwPinned_Type;
GwPinned *gw_pinned_new(size_t bytes);      /* new reference; NULL with OutOfMemoryError */
char *gw_pinned_data(GwPinned *pinned);
bool gw_pinned_use(GwPinned *pinned, GwCudaStream *stream);  /* its work reads or writes it */
GwPinned *gw_pinned_of(const GwTensor *t);  /* borrowed; NULL where the memory is not pinned */
extern PyMethodDef gw_pinned_methods[];

/* ---- device_tensors.c ---- */
bool gw_on_gpu(const GwTensor *t);          /* has memory there: no fake tensor */
uint64_t gw_cuda_address(const GwTensor *t);
/* Gives a tensor without storage memory of another library on a device; false with an exception. */
bool gw_cuda_lend(GwTensor *t, int device, uint64_t address, int64_t bytes, PyObject *owner,
                  bool readonly);
/* Of class, shape, strides and dtype: a tensor to be given memory, of so many bytes. */
GwTensor *gw_tensor_described(PyObject *const args[4], int64_t *bytes);
/* A new tensor on an entered device, which the current stream may write to; or NULL. strides NULL:
 * C-contiguous. */
GwTensor *gw_cuda_tensor_empty(PyTypeObject *cls, int dtype, int ndim, const int64_t *sizes,
                               const int64_t *strides, int device);
extern PyMethodDef gw_cuda_tensor_methods[];

/* ---- transfer.c ---- */
bool gw_cuda_upload(GwTensor *to, const GwTensor *from);    /* dense, of an entered device */
extern PyMethodDef gw_cuda_transfer_methods[];

#endif
