/* 64-byte aligned blocks. Small ones come from free-lists that the GIL protects; from 64 KiB on
 * they come from a bounded cache, because page faults cost more than most kernels. */
#include "core.h"
#include "large_blocks.h"
#include "packs.h"
#include "profiling.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    ALIGNMENT = 64,
    SMALL_LIMIT = 56 << 10,         /* larger requests round up to 64 KiB or more */
    LARGE_UNIT = 8 << 10,
    SMALL_CLASSES = 40,
    LARGE_CLASSES = 8 * 48,
    SMALL_CLASS_BYTES = 256 << 10,  /* what one small class keeps at most */
};

/* The head of a cached block lies in the block itself. */
typedef struct Block {
    struct Block *next;             /* in its class */
    struct Block *prev;
    struct Block *older, *newer;    /* large blocks: by the time of their release */
    size_t bytes;
    int class;
} Block;

static struct {
    Block *free;
    size_t bytes;
} small[SMALL_CLASSES];

static pthread_mutex_t large_lock = PTHREAD_MUTEX_INITIALIZER;
static Block *large[LARGE_CLASSES];
static Block *oldest, *newest;
static size_t cache_limit;          /* 0: not decided yet */

static struct {
    size_t live, peak, cached, hits, misses;
} stats;

/* ---- size classes ---- */

/* Multiples of `unit` up to 8 units; then `steps` (a power of two) classes per doubling. */
static int class_of(size_t nbytes, size_t unit, int steps, size_t *rounded) {
    size_t units = (nbytes + unit - 1) / unit;
    if (units <= (size_t)steps) {
        units = units == 0 ? 1 : units;
        *rounded = units * unit;
        return (int)units - 1;
    }
    int shift = 64 - __builtin_clzll(units - 1) - __builtin_ctz((unsigned)steps) - 1;
    size_t mantissa = (units + ((size_t)1 << shift) - 1) >> shift;
    *rounded = (mantissa << shift) * unit;
    return steps * (shift + 1) + (int)(mantissa - (size_t)steps) - 1;
}

static size_t physical_share(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size_t)sysconf(_SC_PHYS_PAGES);
    size_t share = page * pages / 16;
    const size_t low = (size_t)256 << 20, high = (size_t)1 << 30;
    return share < low ? low : share > high ? high : share;
}

/* Large blocks are counted without the GIL, too. */
static void count_live(size_t bytes) {
    size_t live = __atomic_add_fetch(&stats.live, bytes, __ATOMIC_RELAXED);
    size_t peak = __atomic_load_n(&stats.peak, __ATOMIC_RELAXED);
    while (live > peak && !__atomic_compare_exchange_n(&stats.peak, &peak, live, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* ---- small blocks ---- */

static void *small_alloc(size_t nbytes, size_t *block) {
    size_t bytes;
    int class = class_of(nbytes, ALIGNMENT, 4, &bytes);
    *block = bytes;
    Block *b = small[class].free;
    if (b != NULL) {
        small[class].free = b->next;
        small[class].bytes -= bytes;
        return b;
    }
    return aligned_alloc(ALIGNMENT, bytes);
}

static void small_free(void *p, size_t bytes) {
    size_t rounded;
    int class = class_of(bytes, ALIGNMENT, 4, &rounded);
    if (small[class].bytes + bytes > SMALL_CLASS_BYTES) {
        free(p);
        return;
    }
    Block *b = p;
    b->next = small[class].free;
    small[class].free = b;
    small[class].bytes += bytes;
}

/* ---- large blocks ---- */

static void unlink_block(Block *b) {
    *(b->prev != NULL ? &b->prev->next : &large[b->class]) = b->next;
    if (b->next != NULL) {
        b->next->prev = b->prev;
    }
    *(b->older != NULL ? &b->older->newer : &oldest) = b->newer;
    *(b->newer != NULL ? &b->newer->older : &newest) = b->older;
    stats.cached -= b->bytes;
}

static void link_block(Block *b) {
    b->prev = NULL;
    b->next = large[b->class];
    if (b->next != NULL) {
        b->next->prev = b;
    }
    large[b->class] = b;
    b->newer = NULL;
    b->older = newest;
    *(newest != NULL ? &newest->newer : &oldest) = b;
    newest = b;
    stats.cached += b->bytes;
}

/* Gives the blocks released longest ago back to the system until at most `keep` bytes stay. */
static void trim(size_t keep) {
    while (stats.cached > keep) {
        Block *b = oldest;
        unlink_block(b);
        unmap_block(b, b->bytes);
    }
}

static int large_class(size_t nbytes, size_t *bytes) {
    return class_of(nbytes, LARGE_UNIT, 8, bytes);
}

static void *large_alloc(size_t nbytes, size_t *block) {
    size_t bytes;
    int class = large_class(nbytes, &bytes);
    *block = bytes;
    pthread_mutex_lock(&large_lock);
    Block *b = large[class];
    if (b != NULL) {
        unlink_block(b);
        stats.hits++;
    } else {
        stats.misses++;
    }
    pthread_mutex_unlock(&large_lock);
    if (b != NULL) {
        return b;
    }
    void *p = map_block(bytes);
    if (p == NULL) {
        pthread_mutex_lock(&large_lock);
        trim(0);
        pthread_mutex_unlock(&large_lock);
        p = map_block(bytes);
    }
    return p;
}

static void large_free(void *p, size_t bytes) {
    Block *b = p;
    pthread_mutex_lock(&large_lock);
    if (cache_limit == 0) {
        cache_limit = physical_share();
    }
    if (bytes > cache_limit) {
        pthread_mutex_unlock(&large_lock);
        unmap_block(p, bytes);
        return;
    }
    size_t rounded;
    b->class = large_class(bytes, &rounded);
    b->bytes = bytes;
    trim(cache_limit - bytes);
    link_block(b);
    pthread_mutex_unlock(&large_lock);
}

bool gw_block_is_large(size_t nbytes) { return nbytes > SMALL_LIMIT; }

void *gw_large_block_alloc(size_t nbytes, size_t *block) {
    void *p = nbytes > (size_t)PTRDIFF_MAX / 2 ? NULL : large_alloc(nbytes, block);
    if (p != NULL) {
        count_live(*block);
    }
    return p;
}

void gw_large_block_free(void *p, size_t block) {
    __atomic_sub_fetch(&stats.live, block, __ATOMIC_RELAXED);
    large_free(p, block);
}

void *gw_block_alloc(size_t nbytes, size_t *block) {
    void *p;
    if (gw_block_is_large(nbytes)) {
        p = gw_large_block_alloc(nbytes, block);
    } else {
        p = small_alloc(nbytes, block);
        if (p != NULL) {
            count_live(*block);
        }
    }
    if (p != NULL && GW_UNLIKELY(gw_profiling & GW_PROFILE_MEMORY)) {
        gw_profile_memory(p, (int64_t)*block, (int64_t)stats.live);
    }
    return p;
}

void gw_block_free(void *p, size_t block) {
    if (GW_UNLIKELY(gw_profiling & GW_PROFILE_MEMORY)) {
        gw_profile_memory(p, -(int64_t)block, (int64_t)(stats.live - block));
    }
    if (gw_block_is_large(block)) {
        gw_large_block_free(p, block);
    } else {
        __atomic_sub_fetch(&stats.live, block, __ATOMIC_RELAXED);
        small_free(p, block);
    }
}

bool gw_block_is_cached(size_t block) {
    pthread_mutex_lock(&large_lock);
    if (cache_limit == 0) {
        cache_limit = physical_share();
    }
    bool cached = block > SMALL_LIMIT && block <= cache_limit;
    pthread_mutex_unlock(&large_lock);
    return cached;
}

static void lock_cache(void) { pthread_mutex_lock(&large_lock); }
static void unlock_cache(void) { pthread_mutex_unlock(&large_lock); }

int gw_allocator_init(void) { return pthread_atfork(lock_cache, unlock_cache, unlock_cache); }

/* ---- Python ---- */

static PyObject *memory_stats(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    pthread_mutex_lock(&large_lock);
    if (cache_limit == 0) {
        cache_limit = physical_share();
    }
    size_t cached = stats.cached, hits = stats.hits, misses = stats.misses, limit = cache_limit;
    pthread_mutex_unlock(&large_lock);
    return Py_BuildValue("{s:n,s:n,s:n,s:n,s:n,s:n,s:L,s:L}", "live", (Py_ssize_t)stats.live,
                         "peak", (Py_ssize_t)stats.peak, "cached", (Py_ssize_t)cached, "cache_limit",
                         (Py_ssize_t)limit, "hits", (Py_ssize_t)hits, "misses",
                         (Py_ssize_t)misses, "packed_weights", (long long)gw_packed_bytes(),
                         "packed_weights_limit", (long long)gw_packed_limit());
}

static PyObject *reset_peak_memory_stats(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    __atomic_store_n(&stats.peak, stats.live, __ATOMIC_RELAXED);
    Py_RETURN_NONE;
}

static PyObject *empty_cache(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    for (int class = 0; class < SMALL_CLASSES; class++) {
        while (small[class].free != NULL) {
            Block *b = small[class].free;
            small[class].free = b->next;
            free(b);
        }
        small[class].bytes = 0;
    }
    gw_drop_all_packs();
    pthread_mutex_lock(&large_lock);
    trim(0);
    pthread_mutex_unlock(&large_lock);
    Py_RETURN_NONE;
}

static PyObject *set_cache_limit(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    Py_ssize_t limit = PyLong_AsSsize_t(arg);
    if (limit == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (limit < 1) {
        PyErr_SetString(PyExc_ValueError, "the cache limit must be at least 1 byte");
        return NULL;
    }
    pthread_mutex_lock(&large_lock);
    size_t old = cache_limit == 0 ? physical_share() : cache_limit;
    cache_limit = (size_t)limit;
    trim(cache_limit);
    pthread_mutex_unlock(&large_lock);
    return PyLong_FromSize_t(old);
}

PyMethodDef gw_allocator_methods[] = {
    {"memory_stats", memory_stats, METH_NOARGS,
     "Of blocks of 64 KiB and more. live: bytes that tensors hold; peak: the most they have held;\n"
     "cached: bytes kept for the next tensors; cache_limit: the most that are kept; hits, misses:\n"
     "how often a block came from the cache, or had to be asked of the system. Besides,\n"
     "packed_weights: bytes of parameters that compiled graphs keep in the form that matrix\n"
     "products read; packed_weights_limit: the most of them."},
    {"reset_peak_memory_stats", reset_peak_memory_stats, METH_NOARGS,
     "Let `peak` begin anew, from what tensors hold now."},
    {"empty_cache", empty_cache, METH_NOARGS,
     "Give all cached memory back to the system, packed weights included."},
    {"set_cache_limit", set_cache_limit, METH_O,
     "Set how many bytes of released large blocks are kept; returns the previous limit."},
    {NULL, NULL, 0, NULL},
};
