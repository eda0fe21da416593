/* A stand-in for the CUDA driver. Device memory is host memory behind an offset that no host pointer
 * survives; streams are queues that run as late as they may; Python interprets modules and kernels. */
#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

typedef uint64_t Address;

/* The errors of cuda.h that happen here: number, name, meaning. */
#define ERRORS(E)                                                                       \
    E(1, INVALID_VALUE, "invalid argument")                                             \
    E(2, OUT_OF_MEMORY, "out of memory")                                                \
    E(3, NOT_INITIALIZED, "initialization error")                                       \
    E(100, NO_DEVICE, "no CUDA-capable device is detected")                             \
    E(101, INVALID_DEVICE, "invalid device ordinal")                                    \
    E(201, INVALID_CONTEXT, "invalid device context")                                   \
    E(209, NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device") \
    E(218, INVALID_PTX, "a PTX JIT compilation failed")                                 \
    E(400, INVALID_HANDLE, "invalid resource handle")                                   \
    E(500, NOT_FOUND, "named symbol not found")                                         \
    E(600, NOT_READY, "device not ready")                                               \
    E(700, ILLEGAL_ADDRESS, "an illegal memory access was encountered")                 \
    E(710, ASSERT, "device-side assert triggered")                                      \
    E(715, ILLEGAL_INSTRUCTION, "an illegal instruction was encountered")               \
    E(716, MISALIGNED_ADDRESS, "misaligned address")                                    \
    E(719, LAUNCH_FAILED, "unspecified launch failure")                                 \
    E(801, NOT_SUPPORTED, "operation not supported")                                    \
    E(999, UNKNOWN, "unknown error")
enum {
    SUCCESS = 0,
#define ENTRY(number, name, text) name = number,
    ERRORS(ENTRY)
#undef ENTRY
};

enum { DEVICES = 8, PARAMETERS = 256, DEMANDS = 8 };
#define DEVICE_OFFSET (1ull << 46)

/* ---- control.c: settings, errors on demand, calls counted ---- */

typedef struct {
    long arch, devices, memory, version, seed, legacy, null;
} Config;
extern Config gpusim_config;

typedef struct {
    const char *name;
    atomic_long calls;
} Counter;

int fake_enter(Counter *counter);       /* count a call; the error that was demanded of it */
int fake_demanded(const char *name);    /* that of what is no call, such as "kernel"; or 0 */

/* The counters of all functions lie behind each other. */
#define IN_COUNTERS __attribute__((section("counters"), used))

/* First in each function: errors on demand, before cuInit, without a context, and sticky ones. */
#define ENTER(call)                                     \
    do {                                                \
        static Counter counter IN_COUNTERS = {#call, 0}; \
        int error = fake_enter(&counter);               \
        if (error) return error;                        \
    } while (0)
#define ENTER_READY(call)                               \
    do {                                                \
        ENTER(call);                                    \
        if (!fake_ready) return NOT_INITIALIZED;   \
    } while (0)
#define ENTER_CONTEXT(call)                             \
    Device *device = fake_current;                      \
    do {                                                \
        ENTER_READY(call);                              \
        if (!device) return INVALID_CONTEXT;            \
        if (device->sticky) return device->sticky;      \
    } while (0)

/* ---- device.c ---- */

typedef struct Stream Stream;

typedef struct {
    int ordinal, sticky;
    bool retained;
    size_t used;
    Stream *legacy;             /* the NULL stream */
} Device;

extern atomic_bool fake_ready;                  /* after cuInit */
extern _Thread_local Device *fake_current;      /* of the thread's current context, or NULL */
long fake_attribute(const Device *device, int attribute);   /* -1: unknown */

/* ---- stream.c: queues ---- */

extern pthread_mutex_t fake_lock;

typedef struct Function Function;

typedef struct {
    Stream *stream;
    uint64_t sequence;
} Point;

typedef struct Operation {
    enum { COPY, FILL, KERNEL, RECORD, WAIT } kind;
    struct Operation *next;
    uint64_t sequence;
    void *to;
    const void *from;
    size_t bytes;
    uint32_t value;             /* FILL: of `width` bytes each */
    int width;
    Point point;                /* WAIT: for the stream to get there */
    atomic_llong *time;         /* RECORD: when, in nanoseconds */
    Function *function;
    unsigned dims[6], shared;
    char parameters[];
} Operation;

/* A new operation with room for parameters. */
Operation *fake_operation(int kind, size_t parameter_bytes);
Stream *fake_stream(Device *device, void *handle);      /* NULL: no such stream here */
Point fake_push(Stream *stream, Operation *operation);   /* where it is in its queue */
int fake_drain_device(Device *device);

/* ---- module.c ---- */

int fake_run_kernel(const Operation *operation, int device);

#endif
