/* The caching allocator of GPUs' memory. A block that is freed goes back to the stream that it was
 * allocated for, at once: what that stream is given later runs after what still uses the block.
 * Sizes are rounded, split and joined as PyTorch's allocator does it. */
#include "blocks.h"

enum {
    UNIT = 512,                         /* sizes are multiples of it */
    SMALL_LIMIT = 1 << 20,              /* up to this, blocks are parts of small segments */
    SMALL_SEGMENT = 2 << 20,
    MEDIUM_LIMIT = 10 << 20,            /* up to this, parts of segments of 20 MiB */
    MEDIUM_SEGMENT = 20 << 20,
    LARGE_UNIT = 2 << 20,               /* larger segments are multiples of it */
    STEPS = 4,                          /* bins per doubling of the size */
};

GwCudaBlock gw_cuda_nothing;
static GwCudaBlock *live[GW_CUDA_DEVICES];
static GwCudaBlock *waiting[GW_CUDA_DEVICES];   /* freed, while other streams may use them */

GwCudaBlock *gw_cuda_live_blocks(int device) { return live[device]; }

/* ---- lists ---- */

static void push(GwCudaBlock **head, GwCudaBlock *b) {
    b->previous = NULL;
    b->next = *head;
    if (*head != NULL) {
        (*head)->previous = b;
    }
    *head = b;
}

static void unlink_from(GwCudaBlock **head, GwCudaBlock *b) {
    *(b->previous != NULL ? &b->previous->next : head) = b->next;
    if (b->next != NULL) {
        b->next->previous = b->previous;
    }
}

/* Of sizes in [2^k, 2^(k+1)) units, STEPS bins; a block is in the bin of the largest size that it
 * serves. */
static int bin_of(size_t bytes) {
    size_t units = bytes / UNIT;
    if (units < STEPS) {
        return (int)units;
    }
    int shift = 63 - __builtin_clzll(units) - __builtin_ctz(STEPS);
    int bin = STEPS * (shift + 1) + (int)((units >> shift) - STEPS);
    return bin < GW_CUDA_BINS ? bin : GW_CUDA_BINS - 1;
}

static GwCudaPool *pool_of(const GwCudaStream *stream, bool small) { return stream->pools[small]; }

static void add_free(GwCudaBlock *b) {
    GwCudaPool *pool = pool_of(b->stream, b->small);
    int bin = bin_of(b->bytes);
    push(&pool->bins[bin], b);
    pool->used[bin / 64] |= UINT64_C(1) << (bin % 64);
}

static void remove_free(GwCudaBlock *b) {
    GwCudaPool *pool = pool_of(b->stream, b->small);
    int bin = bin_of(b->bytes);
    unlink_from(&pool->bins[bin], b);
    if (pool->bins[bin] == NULL) {
        pool->used[bin / 64] &= ~(UINT64_C(1) << (bin % 64));
    }
}

/* The smallest block of a bin that has so many bytes. */
static GwCudaBlock *best_in(GwCudaBlock *b, size_t bytes) {
    GwCudaBlock *best = NULL;
    for (; b != NULL; b = b->next) {
        if (b->bytes >= bytes && (best == NULL || b->bytes < best->bytes)) {
            best = b;
        }
    }
    return best;
}

static GwCudaBlock *find_free(const GwCudaStream *stream, bool small, size_t bytes) {
    const GwCudaPool *pool = pool_of(stream, small);
    int first = bin_of(bytes);
    for (int word = first / 64; word < (int)(sizeof pool->used / sizeof *pool->used); word++) {
        uint64_t bins = pool->used[word];
        if (word == first / 64) {
            bins &= ~UINT64_C(0) << (first % 64);
        }
        for (; bins != 0; bins &= bins - 1) {
            GwCudaBlock *best = best_in(pool->bins[64 * word + __builtin_ctzll(bins)], bytes);
            if (best != NULL) {
                return best;
            }
        }
    }
    return NULL;
}

/* ---- statistics ---- */

static bool is_segment(const GwCudaBlock *b) { return b->before == NULL && b->after == NULL; }

/* A block that is free, of a segment others of which are not, cannot be given back. */
static void stat_split(const GwCudaBlock *b, int sign) {
    if (!is_segment(b)) {
        int device = b->stream->device;
        gw_cuda_stat(device, b->small, GW_STAT_INACTIVE_SPLIT, sign);
        gw_cuda_stat(device, b->small, GW_STAT_INACTIVE_SPLIT_BYTES, sign * (int64_t)b->bytes);
    }
}

static void stat_active(const GwCudaBlock *b, int sign) {
    gw_cuda_stat(b->stream->device, b->small, GW_STAT_ACTIVE, sign);
    gw_cuda_stat(b->stream->device, b->small, GW_STAT_ACTIVE_BYTES, sign * (int64_t)b->bytes);
}

static void stat_live(const GwCudaBlock *b, int sign) {
    int device = b->stream->device;
    gw_cuda_stat(device, b->small, GW_STAT_ALLOCATION, sign);
    gw_cuda_stat(device, b->small, GW_STAT_ALLOCATED_BYTES, sign * (int64_t)b->bytes);
    gw_cuda_stat(device, b->small, GW_STAT_REQUESTED_BYTES, sign * (int64_t)b->requested);
}

static void stat_segment(const GwCudaBlock *b, int sign) {
    gw_cuda_stat(b->stream->device, b->small, GW_STAT_SEGMENT, sign);
    gw_cuda_stat(b->stream->device, b->small, GW_STAT_RESERVED_BYTES, sign * (int64_t)b->bytes);
}

/* ---- free blocks ---- */

static GwCudaBlock *spare;      /* what described blocks that have joined others */

/* The block that follows takes the part from `bytes` on; false where there is no memory for it. */
static bool split(GwCudaBlock *b, size_t bytes) {
    GwCudaBlock *rest = spare;
    if (rest != NULL) {
        spare = rest->next;
    } else if ((rest = PyMem_RawMalloc(sizeof *rest)) == NULL) {
        return false;
    }
    *rest = (GwCudaBlock){.address = b->address + bytes, .bytes = b->bytes - bytes,
                          .stream = b->stream, .small = b->small, .before = b,
                          .after = b->after};
    if (b->after != NULL) {
        b->after->before = rest;
    }
    b->after = rest;
    b->bytes = bytes;
    stat_split(rest, 1);
    add_free(rest);
    return true;
}

static bool can_join(const GwCudaBlock *b) { return b != NULL && !b->live && b->uses == NULL; }

/* `b` takes over the free block that follows it. */
static void join(GwCudaBlock *b) {
    GwCudaBlock *rest = b->after;
    b->bytes += rest->bytes;
    b->after = rest->after;
    if (b->after != NULL) {
        b->after->before = b;
    }
    rest->next = spare;
    spare = rest;
}

/* To be used again, joined with its free neighbours. */
static void make_free(GwCudaBlock *b) {
    stat_active(b, -1);
    if (can_join(b->after)) {
        stat_split(b->after, -1);
        remove_free(b->after);
        join(b);
    }
    if (can_join(b->before)) {
        stat_split(b->before, -1);
        remove_free(b->before);
        b = b->before;
        join(b);
    }
    stat_split(b, 1);
    add_free(b);
}

/* ---- segments ---- */

/* GRAPHWRIGHT_CUDA_CACHING=0: each block is an allocation of the driver, of its very size, so that
 * tools that check accesses see where tensors end. */
static bool caches(void) {
    static int known = -1;
    if (known < 0) {
        const char *value = getenv("GRAPHWRIGHT_CUDA_CACHING");
        known = value == NULL || strcmp(value, "0") != 0;
    }
    return known;
}

static size_t segment_bytes(size_t bytes) {
    return !caches() ? bytes
           : bytes <= SMALL_LIMIT ? SMALL_SEGMENT
           : bytes < MEDIUM_LIMIT ? MEDIUM_SEGMENT
           : (bytes + LARGE_UNIT - 1) / LARGE_UNIT * LARGE_UNIT;
}

/* A new free segment, or NULL: with *result of the driver, which may be out of memory. */
static GwCudaBlock *new_segment(GwCudaStream *stream, size_t bytes, bool small, int *result) {
    int64_t reserved = gw_cuda_stat_now(stream->device, GW_STAT_RESERVED_BYTES);
    if (bytes > gw_cuda_memory_limit(stream->device)
        || (size_t)reserved > gw_cuda_memory_limit(stream->device) - bytes) {
        gw_cuda_count(stream->device, GW_COUNT_REJECTIONS);
        *result = GW_CUDA_OUT_OF_MEMORY;
        return NULL;
    }
    uint64_t address = 0;
    GW_CUDA_WAIT(*result, cuMemAlloc, &address, bytes);
    if (*result != GW_CUDA_SUCCESS) {
        return NULL;
    }
    GwCudaBlock *b = PyMem_RawCalloc(1, sizeof *b);
    if (b == NULL) {
        gw_driver.cuMemFree(address);
        *result = GW_CUDA_OUT_OF_MEMORY;
        return NULL;
    }
    *b = (GwCudaBlock){.address = address, .bytes = bytes, .stream = stream, .small = small};
    stat_segment(b, 1);
    gw_cuda_count(stream->device, GW_COUNT_ALLOCS);
    return b;
}

/* Takes the free segments of one pool out of it, into a list. */
static void collect_segments(const GwCudaStream *stream, bool small, GwCudaBlock **found) {
    GwCudaPool *pool = pool_of(stream, small);
    for (int bin = 0; pool != NULL && bin < GW_CUDA_BINS; bin++) {
        for (GwCudaBlock *b = pool->bins[bin], *next; b != NULL; b = next) {
            next = b->next;
            if (is_segment(b)) {
                remove_free(b);
                push(found, b);
            }
        }
    }
}

static void destroy_uses(GwCudaBlock *b) {
    for (GwCudaUse *use = b->uses, *next; use != NULL; use = next) {
        next = use->next;
        gw_cuda_mark_free(use->event, use->stream->device);
        PyMem_RawFree(use);
    }
    b->uses = NULL;
}

/* Whether no stream uses a freed block any more: 1, 0, or -1 with an exception. */
static int is_unused(const GwCudaBlock *b) {
    int done = 1;
    for (const GwCudaUse *use = b->uses; use != NULL && done > 0; use = use->next) {
        done = gw_cuda_mark_is_done(use->event, use->stream->device);
    }
    return done;
}

/* Owners may run any code when they are released. */
static void release_owners(GwCudaBlock *b) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    for (GwCudaBlock *next; b != NULL; b = next) {
        next = b->next;
        PyObject *owner = b->owner;
        PyMem_RawFree(b);
        Py_DECREF(owner);
    }
    PyErr_Restore(type, value, traceback);
}

/* The list is taken first: asking a driver that runs kernels in Python lets other threads run. */
bool gw_cuda_reclaim(int device) {
    GwCudaBlock *taken = waiting[device], *foreign = NULL;
    int unused = 1;
    waiting[device] = NULL;
    for (GwCudaBlock *b = taken, *next; b != NULL; b = next) {
        next = b->next;
        unused = unused < 0 ? unused : is_unused(b);
        if (unused <= 0) {
            push(&waiting[device], b);
            continue;
        }
        destroy_uses(b);
        if (b->owner != NULL) {
            push(&foreign, b);
        } else {
            make_free(b);
        }
    }
    release_owners(foreign);
    return unused >= 0;
}

/* Of an entered device: gives all that nothing uses back to the driver. */
bool gw_cuda_release_segments(int device, size_t *released) {
    *released = 0;
    if (waiting[device] != NULL) {
        int result;
        gw_cuda_count(device, GW_COUNT_SYNCS);
        GW_CUDA_WAIT(result, cuCtxSynchronize);
        if (!gw_cuda_check(result, "cuCtxSynchronize")) {
            return false;
        }
    }
    if (!gw_cuda_reclaim(device)) {
        return false;
    }
    GwCudaBlock *found = NULL;
    for (int id = 0;; id++) {
        const GwCudaStream *stream = gw_cuda_stream_at(id);
        if (stream == NULL) {
            break;
        }
        if (stream->device == device) {
            collect_segments(stream, false, &found);
            collect_segments(stream, true, &found);
        }
    }
    bool good = true;
    for (GwCudaBlock *b = found, *next; b != NULL; b = next) {
        next = b->next;
        int result;
        GW_CUDA_WAIT(result, cuMemFree, b->address);
        if (result != GW_CUDA_SUCCESS) {
            good = good && gw_cuda_check(result, "cuMemFree");
            add_free(b);
            continue;
        }
        stat_segment(b, -1);
        gw_cuda_count(device, GW_COUNT_FREES);
        *released += b->bytes;
        PyMem_RawFree(b);
    }
    return good;
}

/* A segment of the driver, for which unused ones are given back where there is no more memory. */
static GwCudaBlock *obtain(GwCudaStream *stream, size_t bytes, bool small) {
    int device = stream->device, result;
    size_t wanted = segment_bytes(bytes), released;
    GwCudaBlock *b = new_segment(stream, wanted, small, &result);
    if (b == NULL && result == GW_CUDA_OUT_OF_MEMORY) {
        if (!gw_cuda_release_segments(device, &released)) {
            return NULL;
        }
        gw_cuda_count(device, GW_COUNT_RETRIES);
        b = find_free(stream, small, bytes);    /* freed meanwhile, while the GIL was not held */
        if (b != NULL) {
            stat_split(b, -1);
            remove_free(b);
            return b;
        }
        b = new_segment(stream, wanted, small, &result);
    }
    if (b != NULL) {
        return b;
    }
    if (result != GW_CUDA_OUT_OF_MEMORY) {
        gw_cuda_check(result, "cuMemAlloc");
        return NULL;
    }
    gw_cuda_count(device, GW_COUNT_OOMS);
    gw_cuda_raise_out_of_memory(device, bytes);
    return NULL;
}

static bool have_pools(GwCudaStream *stream) {
    for (int i = 0; i < 2; i++) {
        if (stream->pools[i] == NULL
            && (stream->pools[i] = PyMem_RawCalloc(1, sizeof *stream->pools[i])) == NULL) {
            PyErr_NoMemory();
            return false;
        }
    }
    return true;
}

GwCudaBlock *gw_cuda_alloc(int device, size_t requested) {
    if (requested == 0) {
        return &gw_cuda_nothing;
    }
    GwCudaStream *stream = gw_cuda_current_stream(device);
    if (stream == NULL || !have_pools(stream) || !gw_cuda_reclaim(device)) {
        return NULL;
    }
    if (requested > (size_t)1 << 48) {
        gw_cuda_raise_out_of_memory(device, requested);
        return NULL;
    }
    size_t bytes = caches() ? (requested + UNIT - 1) / UNIT * UNIT : requested;
    bool small = bytes <= SMALL_LIMIT;
    GwCudaBlock *b = find_free(stream, small, bytes);
    if (b != NULL) {
        stat_split(b, -1);
        remove_free(b);
    } else if ((b = obtain(stream, bytes, small)) == NULL) {
        return NULL;
    }
    size_t rest = b->bytes - bytes;
    if (rest >= UNIT && (small || rest > SMALL_LIMIT) && !split(b, bytes)) {
        stat_split(b, 1);
        add_free(b);
        PyErr_NoMemory();
        return NULL;
    }
    b->live = true;
    b->requested = requested;
    push(&live[device], b);
    stat_active(b, 1);
    stat_live(b, 1);
    return b;
}

GwCudaBlock *gw_cuda_adopt(int device, uint64_t address, size_t bytes, PyObject *owner) {
    GwCudaStream *stream = gw_cuda_current_stream(device);
    GwCudaBlock *b = stream == NULL ? NULL : PyMem_RawCalloc(1, sizeof *b);
    GwCudaUse *use = b == NULL ? NULL : PyMem_RawMalloc(sizeof *use);
    if (use == NULL) {
        PyMem_RawFree(b);
        return stream == NULL ? NULL : (GwCudaBlock *)PyErr_NoMemory();
    }
    *use = (GwCudaUse){.stream = stream};
    *b = (GwCudaBlock){.address = address, .bytes = bytes, .requested = bytes, .stream = stream,
                       .uses = use, .owner = Py_NewRef(owner)};
    return b;
}

/* Events after the present work of the streams that use a block; false where that fails. */
static bool mark_uses(GwCudaBlock *b) {
    bool marked = true;
    for (GwCudaUse *use = b->uses; use != NULL && marked; use = use->next) {
        int before = gw_cuda_switch(use->stream->device);
        use->event = gw_cuda_mark(use->stream);
        marked = use->event != NULL;
        gw_cuda_switch_back(before);
    }
    return marked;
}

/* Gives the memory of a block that is a segment back to the driver, which waits for its uses. */
static void give_back(GwCudaBlock *b) {
    int before = gw_cuda_switch(b->stream->device);
    gw_cuda_check(gw_driver.cuMemFree(b->address), "cuMemFree");
    gw_cuda_switch_back(before);
    stat_active(b, -1);
    stat_segment(b, -1);
    gw_cuda_count(b->stream->device, GW_COUNT_FREES);
    destroy_uses(b);
    PyMem_RawFree(b);
}

/* Waits for the uses of a block, which no events mark; false where that fails. */
static bool end_uses(GwCudaBlock *b) {
    for (const GwCudaUse *use = b->uses; use != NULL; use = use->next) {
        if (!gw_cuda_settle(use->stream)) {
            return false;
        }
    }
    destroy_uses(b);
    return true;
}

/* A block whose uses are not known to end is never used again, nor given back. */
static void release(GwCudaBlock *b) {
    int device = b->stream->device;
    if (b->owner == NULL) {
        unlink_from(&live[device], b);
        stat_live(b, -1);
        b->live = false;
        if (!caches()) {
            give_back(b);
            return;
        }
    }
    if (b->uses != NULL && mark_uses(b)) {
        push(&waiting[device], b);
    } else if (end_uses(b)) {
        if (b->owner == NULL) {
            make_free(b);
        } else {
            b->next = NULL;
            release_owners(b);
        }
    }
}

/* In a forked process the memory is the parent's. */
void gw_cuda_free(GwCudaBlock *b) {
    if (b == &gw_cuda_nothing || gw_cuda_is_forked()) {
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    release(b);
    PyErr_Restore(type, value, traceback);
}

bool gw_cuda_record_use(GwCudaBlock *b, GwCudaStream *stream) {
    if (b == &gw_cuda_nothing || stream == b->stream) {
        return true;
    }
    for (const GwCudaUse *use = b->uses; use != NULL; use = use->next) {
        if (use->stream == stream) {
            return true;
        }
    }
    GwCudaUse *use = PyMem_RawMalloc(sizeof *use);
    if (use == NULL) {
        PyErr_NoMemory();
        return false;
    }
    *use = (GwCudaUse){b->uses, stream, NULL};
    b->uses = use;
    return true;
}
