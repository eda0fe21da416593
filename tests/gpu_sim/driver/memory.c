/* Device and pinned memory: poisoned when it is allocated and when it is freed. Freed memory is held
 * back for a while, so that a use of it is seen as one; copies are checked against the blocks. */
#include "fake.h"

enum { ALLOCATED = 0xFF, FREED = 0xDB, ALIGNMENT = 512 };
static const size_t HELD_BACK = 256u << 20;

typedef struct {
    Address base;               /* of pinned memory the host's */
    uint64_t bytes;
    char *host;
    Device *device;
    int32_t ordinal, pinned, freed, unused;
} Block;

static Block *blocks;
static size_t count, room, held;
API long gpusim_generation;     /* of the blocks: changes with them */

/* The first `size` blocks, freed ones too, into `out`; how many these are, or without it all. */
API size_t gpusim_blocks(Block *out, size_t size) {
    pthread_mutex_lock(&fake_lock);
    size_t found = out != NULL && size < count ? size : count;
    if (out != NULL) {
        memcpy(out, blocks, found * sizeof *blocks);
    }
    pthread_mutex_unlock(&fake_lock);
    return found;
}

static void add(Block block) {
    if (count == room) {
        room = room ? 2 * room : 64;
        blocks = realloc(blocks, room * sizeof *blocks);
    }
    gpusim_generation++;
    blocks[count++] = block;
}

static Address allocate(Device *device, size_t bytes, bool pinned) {
    void *memory = NULL;
    pthread_mutex_lock(&fake_lock);
    bool fits = pinned || device->used + bytes <= (size_t)gpusim_config.memory;
    Address base = 0;
    if (fits && posix_memalign(&memory, ALIGNMENT, bytes + ALIGNMENT) == 0) {
        memset(memory, ALLOCATED, bytes);
        base = (Address)(uintptr_t)memory + (pinned ? 0 : DEVICE_OFFSET);
        add((Block){base, bytes, memory, device, device->ordinal, pinned, 0, 0});
        device->used += pinned ? 0 : bytes;
    }
    pthread_mutex_unlock(&fake_lock);
    return base;
}

/* Gives the oldest of the freed blocks back to the host while there are too many. */
static void trim(void) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (blocks[i].freed && held > HELD_BACK) {
            held -= blocks[i].bytes;
            free(blocks[i].host);
        } else {
            blocks[kept++] = blocks[i];
        }
    }
    count = kept;
}

static int release(Device *device, Address address, bool pinned) {
    int result = fake_drain_device(device), found = INVALID_VALUE;
    pthread_mutex_lock(&fake_lock);
    for (size_t i = 0; i < count && found != SUCCESS; i++) {
        Block *block = &blocks[i];
        if (!block->freed && block->base == address && block->pinned == pinned) {
            memset(block->host, FREED, block->bytes);
            block->freed = 1;
            block->device->used -= pinned ? 0 : block->bytes;
            held += block->bytes;
            gpusim_generation++;
            found = SUCCESS;
        }
    }
    trim();
    pthread_mutex_unlock(&fake_lock);
    return found ? found : result;
}

API int cuMemAlloc_v2(Address *address, size_t bytes) {
    ENTER_CONTEXT(cuMemAlloc_v2);
    if (bytes == 0) return INVALID_VALUE;
    *address = allocate(device, bytes, false);
    return *address ? SUCCESS : OUT_OF_MEMORY;
}

API int cuMemFree_v2(Address address) {
    ENTER_CONTEXT(cuMemFree_v2);
    return address == 0 ? SUCCESS : release(device, address, false);
}

API int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    ENTER_CONTEXT(cuMemHostAlloc);
    if (bytes == 0 || flags & ~7u) return INVALID_VALUE;
    *memory = (void *)(uintptr_t)allocate(device, bytes, true);
    return *memory ? SUCCESS : OUT_OF_MEMORY;
}

API int cuMemFreeHost(void *memory) {
    ENTER_CONTEXT(cuMemFreeHost);
    return release(device, (Address)(uintptr_t)memory, true);
}

API int cuMemGetInfo_v2(size_t *available, size_t *total) {
    ENTER_CONTEXT(cuMemGetInfo_v2);
    *total = (size_t)gpusim_config.memory;
    *available = *total - device->used;
    return SUCCESS;
}

/* ---- copies and fills ---- */

/* The block that has a range, of the device if there is one, or NULL; the lock is held. */
static const Block *find(const Device *device, Address address, size_t bytes) {
    for (size_t i = 0; i < count; i++) {
        const Block *block = &blocks[i];
        if (!block->freed && address >= block->base
                && address + bytes <= block->base + block->bytes
                && (device == NULL || block->pinned || block->device == device)) {
            return block;
        }
    }
    return NULL;
}

/* The host's place of a range that the device has or can reach, or NULL. */
static void *range(const Device *device, Address address, size_t bytes) {
    pthread_mutex_lock(&fake_lock);
    const Block *block = find(device, address, bytes);
    void *place = block == NULL ? NULL : block->host + (address - block->base);
    pthread_mutex_unlock(&fake_lock);
    return place;
}

API int cuPointerGetAttribute(void *value, int attribute, Address address) {
    ENTER_CONTEXT(cuPointerGetAttribute);
    if (attribute != 9) return NOT_SUPPORTED;   /* 9: the memory's device */
    pthread_mutex_lock(&fake_lock);
    const Block *block = find(NULL, address, 1);
    *(int *)value = block == NULL ? -1 : block->ordinal;
    pthread_mutex_unlock(&fake_lock);
    return block == NULL ? INVALID_VALUE : SUCCESS;
}

/* A pageable source is read, and a pageable target written, as late as a pinned one. */
static int copy(Device *device, void *handle, void *to, const void *from, size_t bytes) {
    Stream *stream = fake_stream(device, handle);
    if (stream == NULL) return INVALID_HANDLE;
    if (bytes == 0) return SUCCESS;
    if (to == NULL || from == NULL) return INVALID_VALUE;
    Operation *operation = fake_operation(COPY, 0);
    operation->to = to, operation->from = from, operation->bytes = bytes;
    fake_push(stream, operation);
    return SUCCESS;
}

API int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) {
    ENTER_CONTEXT(cuMemcpyHtoDAsync_v2);
    return copy(device, stream, range(device, to, bytes), from, bytes);
}

API int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) {
    ENTER_CONTEXT(cuMemcpyDtoHAsync_v2);
    return copy(device, stream, to, range(device, from, bytes), bytes);
}

API int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *stream) {
    ENTER_CONTEXT(cuMemcpyDtoDAsync_v2);
    return copy(device, stream, range(device, to, bytes), range(device, from, bytes), bytes);
}

API int cuMemcpyPeerAsync(Address to, void *to_context, Address from, void *from_context,
                          size_t bytes, void *stream) {
    ENTER_CONTEXT(cuMemcpyPeerAsync);
    return copy(device, stream, range(to_context, to, bytes), range(from_context, from, bytes),
                bytes);
}

static int fill(Device *device, void *handle, Address to, uint32_t value, int width,
                size_t elements) {
    Stream *stream = fake_stream(device, handle);
    if (stream == NULL) return INVALID_HANDLE;
    if (elements == 0) return SUCCESS;
    void *place = range(device, to, elements * (size_t)width);
    if (place == NULL || to % (Address)width) return INVALID_VALUE;
    Operation *operation = fake_operation(FILL, 0);
    operation->to = place, operation->value = value, operation->width = width;
    operation->bytes = elements * (size_t)width;
    fake_push(stream, operation);
    return SUCCESS;
}

#define FILL_OF(bits, type)                                                                 \
    API int cuMemsetD##bits##Async(Address to, type value, size_t elements, void *stream) { \
        ENTER_CONTEXT(cuMemsetD##bits##Async);                                              \
        return fill(device, stream, to, value, bits / 8, elements);                         \
    }
FILL_OF(8, unsigned char)
FILL_OF(16, unsigned short)
FILL_OF(32, unsigned)
