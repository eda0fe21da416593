/* A CUDA driver for tests: the memory of its devices is the host's behind an offset, streams are
 * queues that run as late as allowed, and kernels go to a callback.
 *
 * FAKE_DEVICES, FAKE_VERSION, FAKE_CAPABILITY and FAKE_MISSING (a function's name) say what it is
 * like; with FAKE_NULL=1 launches do nothing, to time what comes before them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API __attribute__((visibility("default")))
enum { OK = 0, INVALID = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, NO_BINARY = 209, NOT_FOUND = 500,
       NOT_READY = 600, ILLEGAL_ADDRESS = 700 };
enum { DEVICES = 2, POISON = 0xCB, ALIGNMENT = 512, MAX_PARAMETERS = 32 };
#define OFFSET 0x400000000000ull    /* between what the host reaches and what the device does */

typedef int (*Launch)(const char *name, const unsigned *dims, unsigned shared,
                      const unsigned char *parameters, int bytes);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static Launch on_launch;
static size_t used[DEVICES], limit = (size_t)1 << 30;
static long launches;
static int broken;
static _Thread_local int current;

static int setting(const char *name, int usual) {
    const char *value = getenv(name);
    return value != NULL ? atoi(value) : usual;
}

static void *host(uint64_t address) { return (void *)(uintptr_t)(address - OFFSET); }

/* ---- faults on demand: the n-th call from now of a function gives a result ---- */

static struct {
    char name[64];
    int after, result;
} fault;

API void fake_fail(const char *name, int after, int result) {
    snprintf(fault.name, sizeof fault.name, "%s", name);
    fault.after = after;
    fault.result = result;
}

static int faulty(const char *name) {
    if (broken != OK) {
        return broken;
    }
    if (strcmp(fault.name, name) != 0 || --fault.after > 0) {
        return OK;
    }
    fault.name[0] = 0;
    return fault.result;
}

#define MAY_FAIL                            \
    do {                                    \
        int fails = faulty(__func__);       \
        if (fails != OK) {                  \
            return fails;                   \
        }                                   \
    } while (0)

/* ---- queues ---- */

typedef enum { COPY, FILL, RUN, MARK, WAIT } Kind;

typedef struct Event {
    int recorded, done;
    int device;
    struct Stream *stream;
    struct timespec at;
} Event;

typedef struct Function {
    char name[64];
    int count, sizes[MAX_PARAMETERS], bytes;
} Function;

typedef struct Work {
    struct Work *next;
    Kind kind;
    void *to;
    const void *from;
    size_t size, count;
    Event *event;
    const Function *function;
    unsigned dims[6], shared, pattern;
    unsigned char parameters[8 * MAX_PARAMETERS];
} Work;

typedef struct Stream {
    Work *head, **tail;
    int busy, device;
    struct Stream *link;
} Stream;

static Stream *streams;

static void drain(Stream *q, const Event *until);

static int run(const Work *w) {
    if (broken != OK) {
        return broken;
    }
    switch (w->kind) {
        case COPY: memmove(w->to, w->from, w->size); break;
        case FILL:
            for (size_t i = 0; i < w->count; i++) {
                memcpy((char *)w->to + i * w->size, &w->pattern, w->size);
            }
            break;
        case RUN:
            return on_launch != NULL && on_launch(w->function->name, w->dims, w->shared,
                                                  w->parameters, w->function->bytes) != 0
                   ? ILLEGAL_ADDRESS : OK;
        case MARK:
            clock_gettime(CLOCK_MONOTONIC, &w->event->at);
            w->event->done = 1;
            break;
        case WAIT: break;
    }
    return OK;
}

/* The first of the queue, without the lock while it runs: kernels may run Python. */
static void step(Stream *q) {
    while (q->busy) {
        pthread_cond_wait(&idle, &lock);
    }
    Work *w = q->head;
    if (w == NULL) {
        return;
    }
    q->busy = 1;
    if (w->kind == WAIT && w->event->recorded && !w->event->done) {
        drain(w->event->stream, w->event);
    }
    pthread_mutex_unlock(&lock);
    int result = run(w);
    pthread_mutex_lock(&lock);
    broken = result != OK ? result : broken;
    q->head = w->next;
    if (q->head == NULL) {
        q->tail = &q->head;
    }
    q->busy = 0;
    pthread_cond_broadcast(&idle);
    free(w);
}

/* All that is there now, or until an event has happened. */
static void drain(Stream *q, const Event *until) {
    while (q->head != NULL && !(until != NULL && until->done)) {
        step(q);
    }
}

static void drain_all(void) {
    for (Stream *q = streams; q != NULL; q = q->link) {
        drain(q, NULL);
    }
}

static int synchronized(Stream *q) {
    pthread_mutex_lock(&lock);
    if (q != NULL) {
        drain(q, NULL);
    } else {
        drain_all();
    }
    pthread_mutex_unlock(&lock);
    return broken;
}

static int push(void *stream, Work work) {
    Stream *q = stream;
    if (q == NULL || q->device != current) {
        return INVALID;                     /* the legacy stream is never to be used */
    }
    Work *w = malloc(sizeof *w);
    *w = work;
    w->next = NULL;
    pthread_mutex_lock(&lock);
    *q->tail = w;
    q->tail = &w->next;
    pthread_mutex_unlock(&lock);
    return OK;
}

/* ---- for tests ---- */

API void fake_set_launch(Launch launch) { on_launch = launch; }
API void fake_set_limit(size_t bytes) { limit = bytes; }
API size_t fake_used(int device) { return used[device]; }
API long fake_launches(void) { return launches; }

/* ---- devices ---- */

API int cuInit(unsigned flags) {
    (void)flags;
    return setting("FAKE_DEVICES", DEVICES) == 0 ? NO_DEVICE : OK;
}

API int cuDriverGetVersion(int *version) {
    *version = setting("FAKE_VERSION", 13000);
    return OK;
}

API int cuDeviceGetCount(int *count) {
    *count = setting("FAKE_DEVICES", DEVICES);
    return OK;
}

API int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return OK;
}

API int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, (size_t)size, "fake GPU %d", device);
    return OK;
}

API int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    int capability = setting("FAKE_CAPABILITY", 90);
    *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10
             : attribute == 16 ? 4 : attribute == 10 ? 32 : 1024;
    return OK;
}

API int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    *bytes = limit;
    return OK;
}

API int cuDeviceCanAccessPeer(int *can, int device, int peer) {
    *can = device != peer;
    return OK;
}

API int cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = (void *)(uintptr_t)(device + 1);
    return OK;
}

API int cuCtxSetCurrent(void *context) {
    current = (int)(uintptr_t)context - 1;
    return OK;
}

API int cuCtxSynchronize(void) {
    MAY_FAIL;
    return synchronized(NULL);
}

API int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -3;
    return OK;
}

API int cuGetErrorName(int error, const char **name) {
    *name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_UNKNOWN";
    return OK;
}

API int cuGetErrorString(int error, const char **text) {
    *text = error == OUT_OF_MEMORY ? "out of memory"
            : error == ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
            : "unknown error";
    return OK;
}

/* ---- memory ---- */

API int cuMemGetInfo_v2(size_t *available, size_t *total) {
    *available = limit - used[current];
    *total = limit;
    return OK;
}

/* The size stands before the memory, which is poisoned when it is given and when it is taken. */
API int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    MAY_FAIL;
    void *memory;
    if (used[current] + bytes > limit
        || posix_memalign(&memory, ALIGNMENT, bytes + ALIGNMENT) != 0) {
        return OUT_OF_MEMORY;
    }
    ((size_t *)memory)[0] = bytes;
    ((size_t *)memory)[1] = (size_t)current;
    memset((char *)memory + ALIGNMENT, POISON, bytes);
    used[current] += bytes;
    *address = (uint64_t)(uintptr_t)memory + ALIGNMENT + OFFSET;
    return OK;
}

API int cuMemFree_v2(uint64_t address) {
    MAY_FAIL;
    synchronized(NULL);
    char *memory = (char *)host(address) - ALIGNMENT;
    size_t bytes = ((size_t *)(void *)memory)[0];
    used[((size_t *)(void *)memory)[1]] -= bytes;
    memset(memory + ALIGNMENT, POISON, bytes);
    free(memory);
    return OK;
}

API int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    (void)flags;
    MAY_FAIL;
    *memory = malloc(bytes);
    return *memory == NULL ? OUT_OF_MEMORY : OK;
}

API int cuMemFreeHost(void *memory) {
    free(memory);
    return OK;
}

API int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    MAY_FAIL;
    return push(stream, (Work){.kind = COPY, .to = host(to), .from = from, .size = bytes});
}

API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    MAY_FAIL;
    return push(stream, (Work){.kind = COPY, .to = to, .from = host(from), .size = bytes});
}

API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    MAY_FAIL;
    return push(stream, (Work){.kind = COPY, .to = host(to), .from = host(from), .size = bytes});
}

API int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
                          size_t bytes, void *stream) {
    return to_context == from_context ? INVALID : cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

static int fill(uint64_t to, unsigned pattern, size_t size, size_t count, void *stream) {
    return push(stream, (Work){.kind = FILL, .to = host(to), .pattern = pattern, .size = size,
                               .count = count});
}

API int cuMemsetD8Async(uint64_t to, unsigned char value, size_t count, void *stream) {
    return fill(to, value, 1, count, stream);
}

API int cuMemsetD16Async(uint64_t to, unsigned short value, size_t count, void *stream) {
    return fill(to, value, 2, count, stream);
}

API int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream) {
    return fill(to, value, 4, count, stream);
}

/* ---- streams and events ---- */

API int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    (void)priority;
    if (flags != 1) {
        return INVALID;
    }
    Stream *q = calloc(1, sizeof *q);
    q->tail = &q->head;
    q->device = current;
    pthread_mutex_lock(&lock);
    q->link = streams;
    streams = q;
    pthread_mutex_unlock(&lock);
    *stream = q;
    return OK;
}

API int cuStreamSynchronize(void *stream) {
    MAY_FAIL;
    return synchronized(stream);
}

/* Asking brings the queue forward by one step, so that who polls comes to an end. */
API int cuStreamQuery(void *stream) {
    Stream *q = stream;
    pthread_mutex_lock(&lock);
    int ready = q->head == NULL;
    if (!ready && !q->busy) {
        step(q);
    }
    pthread_mutex_unlock(&lock);
    return broken != OK ? broken : ready ? OK : NOT_READY;
}

API int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)flags;
    return push(stream, (Work){.kind = WAIT, .event = event});
}

API int cuStreamIsCapturing(void *stream, int *status) {
    (void)stream;
    *status = 0;
    return OK;
}

API int cuEventCreate(void **event, unsigned flags) {
    (void)flags;
    Event *e = calloc(1, sizeof *e);
    e->device = current;
    *event = e;
    return OK;
}

/* The event stays: work of other streams may refer to it. */
API int cuEventDestroy_v2(void *event) {
    return ((Event *)event)->device == current ? OK : INVALID;
}

API int cuEventRecord(void *event, void *stream) {
    MAY_FAIL;
    Event *e = event;
    if (e->device != current) {
        return INVALID;
    }
    e->recorded = 1;
    e->done = 0;
    e->stream = stream;
    return push(stream, (Work){.kind = MARK, .event = e});
}

API int cuEventSynchronize(void *event) {
    Event *e = event;
    pthread_mutex_lock(&lock);
    if (e->recorded) {
        drain(e->stream, e);
    }
    pthread_mutex_unlock(&lock);
    return broken;
}

API int cuEventQuery(void *event) {
    MAY_FAIL;
    Event *e = event;
    if (e->device != current) {
        return INVALID;
    }
    if (!e->recorded || e->done) {
        return OK;
    }
    cuStreamQuery(e->stream);
    return broken != OK ? broken : NOT_READY;
}

API int cuEventElapsedTime(float *ms, void *start, void *end) {
    const Event *a = start, *b = end;
    if (!a->done || !b->done) {
        return NOT_READY;
    }
    *ms = (float)((b->at.tv_sec - a->at.tv_sec) * 1e3 + (b->at.tv_nsec - a->at.tv_nsec) * 1e-6);
    return OK;
}

/* ---- modules ---- */

API int cuModuleLoadData(void **module, const void *image) {
    MAY_FAIL;
    if (memcmp(image, "\177ELF", 4) == 0) {
        return NO_BINARY;
    }
    *module = strdup(image);
    return OK;
}

API int cuModuleUnload(void *module) {
    free(module);
    return OK;
}

/* Bits in the type of a parameter, such as `.param .u64 .ptr`. */
static int bits_of(const char *type) {
    while (*type != 0 && (*type < '0' || *type > '9')) {
        type++;
    }
    return atoi(type);
}

API int cuModuleGetFunction(void **function, void *module, const char *name) {
    char entry[128];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const char *at = strstr(module, entry), *end = at == NULL ? NULL : strchr(at, ')');
    if (end == NULL) {
        return NOT_FOUND;
    }
    Function *f = calloc(1, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    while ((at = strstr(at + 1, ".param .")) != NULL && at < end && f->count < MAX_PARAMETERS) {
        int size = bits_of(at + 8) / 8;
        f->sizes[f->count++] = size;
        f->bytes = (f->bytes + size - 1) / size * size + size;
    }
    *function = f;
    return OK;
}

API int cuFuncSetAttribute(void *function, int attribute, int value) {
    (void)function;
    return attribute == 8 && value <= 232448 ? OK : INVALID;
}

API int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, void *stream, void **parameters,
                       void **extra) {
    (void)extra;
    static int null = -1;
    if (null < 0) {
        null = setting("FAKE_NULL", 0);
    }
    if (null) {
        return OK;
    }
    MAY_FAIL;
    const Function *f = function;
    Work w = {.kind = RUN, .function = f, .shared = shared, .dims = {gx, gy, gz, bx, by, bz}};
    int at = 0;
    for (int i = 0; i < f->count; i++) {
        at = (at + f->sizes[i] - 1) / f->sizes[i] * f->sizes[i];
        memcpy(w.parameters + at, parameters[i], (size_t)f->sizes[i]);
        at += f->sizes[i];
    }
    launches++;
    return push(stream, w);
}

/* As the driver does it, by a function's name without its version. */
API int cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags,
                            int *status) {
    (void)version;
    (void)flags;
    (void)status;
    const char *missing = getenv("FAKE_MISSING");
    *found = NULL;
    if (missing == NULL || strcmp(missing, name) != 0) {
        char versioned[128];
        Dl_info own;
        dladdr((void *)cuInit, &own);
        void *self = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
        snprintf(versioned, sizeof versioned, "%s_v2", name);
        *found = dlsym(self, versioned);
        *found = *found != NULL ? *found : dlsym(self, name);
    }
    return *found != NULL ? OK : NOT_FOUND;
}
