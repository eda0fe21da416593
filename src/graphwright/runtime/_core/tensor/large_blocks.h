/* Memory from the system: huge pages for large blocks, which take far fewer entries of the TLB. For the
 * core's allocator and for the memory of packaged models. */
#ifndef GRAPHWRIGHT_LARGE_BLOCKS_H
#define GRAPHWRIGHT_LARGE_BLOCKS_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

/* A multiple of 4096 bytes, aligned to as many; zeros from HUGE_PAGE on. NULL where there is no
 * memory. */
static void *map_block(size_t bytes) {
    if (bytes < HUGE_PAGE) {
        return aligned_alloc(4096, bytes);
    }
    size_t span = bytes + HUGE_PAGE;
    char *p = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    size_t lead = (size_t)(-(uintptr_t)p & (HUGE_PAGE - 1));
    if (lead > 0) {
        munmap(p, lead);
    }
    if (span - lead > bytes) {
        munmap(p + lead + bytes, span - lead - bytes);
    }
#ifdef MADV_HUGEPAGE
    madvise(p + lead, bytes, MADV_HUGEPAGE);
#endif
    return p + lead;
}

static void unmap_block(void *p, size_t bytes) {
    if (bytes < HUGE_PAGE) {
        free(p);
    } else {
        munmap(p, bytes);
    }
}

#endif
