/* Device and pinned memory: poisoned when it is allocated and when it is freed. Freed memory is held
 * back for a while, so that a use of it is seen as one; copies are checked against the blocks. */
#include "fake.h"

enum { ALLOCATED = 0xFF, FREED = 0xDB, ALIGNMENT = 512 };
static const size_t HELD_BACK = 256u << 20;

static Block *blocks;
static size_t count, room, held;
static long generation;


/* All blocks, freed ones too, into `out` where `size` suffices; how many there are. */
API size_t gpusim_blocks(Block *out, size_t size) {
    pthread_mutex_lock(&fake_lock);
    if (size >= count && out != NULL) {
        memcpy(out, blocks, count * sizeof *blocks);
    }
    size_t found = count;
    pthread_mutex_unlock(&fake_lock);
    return found;
}

API long gpusim_generation(void) { return generation; }

API size_t gpusim_used(int ordinal) { return fake_devices[ordinal].used; }

static Block *add(Block block) {
    if (count == room) {
        room = room ? 2 * room : 64;
        blocks = realloc(blocks, room * sizeof *blocks);
    }
    generation++;
    blocks[count] = block;
    return &blocks[count++];
}

static void drop(size_t at) {
    generation++;
    memmove(blocks + at, blocks + at + 1, (count - at - 1) * sizeof *blocks);
    count--;
}

const Block *fake_find(const Device *device, Address address, size_t bytes) {
    for (size_t i = 0; i < count; i++) {
        const Block *block = &blocks[i];
        if (!block->freed && address >= block->base
                && address + bytes <= block->base + block->bytes
                && (block->pinned || device == NULL || block->device == device->ordinal
                    || device->peers >> block->device & 1)) {
            return block;
        }
    }
    return NULL;
}

static int allocate(Device *device, size_t bytes, bool pinned, Address *address, void **host) {
    if (bytes == 0) return INVALID_VALUE;
    pthread_mutex_lock(&fake_lock);
    int result = OUT_OF_MEMORY;
    if (pinned || device->used + bytes <= (size_t)config.memory) {
        void *memory = NULL;
        size_t whole = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (posix_memalign(&memory, ALIGNMENT, whole + ALIGNMENT) == 0) {
            memset(memory, ALLOCATED, whole);
            Address base = (Address)(uintptr_t)memory + (pinned ? 0 : DEVICE_OFFSET);
            add((Block){base, bytes, memory, device->ordinal, pinned, 0, 0});
            device->used += pinned ? 0 : bytes;
            if (address != NULL) *address = base;
            if (host != NULL) *host = memory;
            result = SUCCESS;
        }
    }
    pthread_mutex_unlock(&fake_lock);
    return result;
}

static int release(Device *device, Address address, bool pinned) {
    int result = fake_drain_device(device), found = INVALID_VALUE;
    pthread_mutex_lock(&fake_lock);
    for (size_t i = 0; i < count; i++) {
        Block *block = &blocks[i];
        if (block->freed || block->base != address || block->pinned != pinned) {
            continue;
        }
        memset(block->host, FREED, block->bytes);
        block->freed = 1;
        fake_devices[block->device].used -= pinned ? 0 : block->bytes;
        held += block->bytes;
        generation++;
        found = SUCCESS;
        break;
    }
    for (size_t i = 0; i < count && held > HELD_BACK;) {
        if (blocks[i].freed) {
            held -= blocks[i].bytes;
            free(blocks[i].host);
            drop(i);
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&fake_lock);
    return found ? found : result;
}

API int cuMemAlloc_v2(Address *address, size_t bytes) {
    ENTER_CONTEXT(cuMemAlloc_v2);
    return allocate(device, bytes, false, address, NULL);
}

API int cuMemFree_v2(Address address) {
    ENTER_CONTEXT(cuMemFree_v2);
    return address == 0 ? SUCCESS : release(device, address, false);
}

API int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    ENTER_CONTEXT(cuMemHostAlloc);
    return flags & ~7u ? INVALID_VALUE : allocate(device, bytes, true, NULL, memory);
}

API int cuMemAllocHost_v2(void **memory, size_t bytes) {
    ENTER_CONTEXT(cuMemAllocHost_v2);
    return allocate(device, bytes, true, NULL, memory);
}

API int cuMemFreeHost(void *memory) {
    ENTER_CONTEXT(cuMemFreeHost);
    return release(device, (Address)(uintptr_t)memory, true);
}

API int cuMemHostGetDevicePointer_v2(Address *address, void *memory, unsigned flags) {
    ENTER_CONTEXT(cuMemHostGetDevicePointer_v2);
    (void)flags;
    pthread_mutex_lock(&fake_lock);
    const Block *block = fake_find(NULL, (Address)(uintptr_t)memory, 1);
    pthread_mutex_unlock(&fake_lock);
    if (block == NULL || !block->pinned) return INVALID_VALUE;
    *address = (Address)(uintptr_t)memory;
    return SUCCESS;
}

API int cuMemGetInfo_v2(size_t *available, size_t *total) {
    ENTER_CONTEXT(cuMemGetInfo_v2);
    *total = (size_t)config.memory;
    *available = *total - device->used;
    return SUCCESS;
}

/* 2: where the memory is (1 host, 2 device); 9: its device. */
API int cuPointerGetAttribute(void *value, int attribute, Address address) {
    ENTER_CONTEXT(cuPointerGetAttribute);
    pthread_mutex_lock(&fake_lock);
    const Block *block = fake_find(NULL, address, 1);
    Block found = block != NULL ? *block : (Block){0};
    pthread_mutex_unlock(&fake_lock);
    if (block == NULL) return INVALID_VALUE;
    if (attribute == 2) {
        *(unsigned *)value = found.pinned ? 1 : 2;
    } else if (attribute == 9) {
        *(int *)value = found.device;
    } else {
        return NOT_SUPPORTED;
    }
    return SUCCESS;
}

/* ---- copies and fills ---- */

/* The host's place of a range of device memory, or NULL. */
static void *range(const Device *device, Address address, size_t bytes) {
    pthread_mutex_lock(&fake_lock);
    const Block *block = fake_find(device, address, bytes);
    void *place = block == NULL ? NULL
        : (char *)block->host + (address - block->base);
    pthread_mutex_unlock(&fake_lock);
    return place;
}

static int copy(Device *device, void *handle, void *to, const void *from, size_t bytes,
                bool wait) {
    Stream *stream = fake_stream(device, handle);
    if (stream == NULL) return INVALID_HANDLE;
    if (bytes == 0) return SUCCESS;
    if (to == NULL || from == NULL) return INVALID_VALUE;
    Operation *operation = fake_operation(COPY, 0);
    operation->to = to, operation->from = from, operation->bytes = bytes;
    return fake_push(stream, operation, wait);
}

/* A pageable source is read, and a pageable target written, as late as a pinned one. */
API int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) {
    ENTER_CONTEXT(cuMemcpyHtoDAsync_v2);
    return copy(device, stream, range(device, to, bytes), from, bytes, false);
}

API int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) {
    ENTER_CONTEXT(cuMemcpyDtoHAsync_v2);
    return copy(device, stream, to, range(device, from, bytes), bytes, false);
}

API int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *stream) {
    ENTER_CONTEXT(cuMemcpyDtoDAsync_v2);
    return copy(device, stream, range(device, to, bytes), range(device, from, bytes), bytes,
                false);
}

API int cuMemcpyPeerAsync(Address to, void *to_context, Address from, void *from_context,
                          size_t bytes, void *stream) {
    ENTER_CONTEXT(cuMemcpyPeerAsync);
    return copy(device, stream, range(to_context, to, bytes), range(from_context, from, bytes),
                bytes, false);
}

API int cuMemcpyAsync(Address to, Address from, size_t bytes, void *stream) {
    ENTER_CONTEXT(cuMemcpyAsync);
    void *target = range(device, to, bytes), *source = range(device, from, bytes);
    return copy(device, stream, target ? target : (void *)(uintptr_t)to,
                source ? source : (void *)(uintptr_t)from, bytes, false);
}

API int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
    ENTER_CONTEXT(cuMemcpyHtoD_v2);
    return copy(device, NULL, range(device, to, bytes), from, bytes, true);
}

API int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
    ENTER_CONTEXT(cuMemcpyDtoH_v2);
    return copy(device, NULL, to, range(device, from, bytes), bytes, true);
}

API int cuMemcpyDtoD_v2(Address to, Address from, size_t bytes) {
    ENTER_CONTEXT(cuMemcpyDtoD_v2);
    return copy(device, NULL, range(device, to, bytes), range(device, from, bytes), bytes, true);
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
    return fake_push(stream, operation, false);
}

API int cuMemsetD8Async(Address to, unsigned char value, size_t elements, void *stream) {
    ENTER_CONTEXT(cuMemsetD8Async);
    return fill(device, stream, to, value, 1, elements);
}

API int cuMemsetD16Async(Address to, unsigned short value, size_t elements, void *stream) {
    ENTER_CONTEXT(cuMemsetD16Async);
    return fill(device, stream, to, value, 2, elements);
}

API int cuMemsetD32Async(Address to, unsigned value, size_t elements, void *stream) {
    ENTER_CONTEXT(cuMemsetD32Async);
    return fill(device, stream, to, value, 4, elements);
}
