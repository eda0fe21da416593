/* A stand-in for the CUDA driver. Device memory is host memory behind an offset that no host pointer
 * survives; streams are queues that run as late as they may; kernels go to a callback. */
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

enum {
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100,
    INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600,
    ILLEGAL_ADDRESS = 700, LAUNCH_OUT_OF_RESOURCES = 701, LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801
};

enum { DEVICES = 8, HOST_OFFSET_SHIFT = 46 };
#define DEVICE_OFFSET (1ull << HOST_OFFSET_SHIFT)

/* ---- control.c: configuration, calls counted, faults on demand ---- */

/* What GPU_SIM_<NAME> and gpusim_set change. */
typedef struct {
    long arch, devices, memory, version, null, seed, legacy;
} Config;
extern Config config;

typedef struct Counter {
    const char *name;
    atomic_long calls;
    atomic_bool listed;
    struct Counter *next;
} Counter;

int fake_enter(Counter *counter);       /* count a call; the error that was demanded of it */
bool fake_fails(const char *name, int *error);  /* the same for what is no call: "kernel" */

/* First in each function: errors on demand, before cuInit, without a context, and sticky ones. */
#define ENTER(call)                             \
    do {                                        \
        static Counter counter = {.name = #call};    \
        int error = fake_enter(&counter);       \
        if (error) return error;                \
    } while (0)
#define ENTER_READY(call)                       \
    do {                                        \
        ENTER(call);                            \
        if (!fake_is_ready()) return NOT_INITIALIZED; \
    } while (0)
#define ENTER_CONTEXT(call)                     \
    Device *device = fake_current();            \
    do {                                        \
        ENTER_READY(call);                      \
        if (!device) return INVALID_CONTEXT;    \
        if (device->sticky) return device->sticky; \
    } while (0)

/* Set by the tests: whether a module's text can be run, and running a kernel. Both return an error
 * of the driver or 0. */
typedef int (*LoadCallback)(const char *ptx);
typedef int (*LaunchCallback)(const char *ptx, const char *name, const unsigned *grid_and_block,
                              unsigned shared, const void *parameters, size_t bytes, int device);
extern LoadCallback on_load;
extern LaunchCallback on_launch;

/* ---- device.c ---- */

typedef struct Stream Stream;

typedef struct {
    int ordinal, retained, sticky;
    size_t used;
    Stream *legacy;             /* the NULL stream */
    unsigned peers;             /* devices whose memory may be accessed */
} Device;

extern Device fake_devices[DEVICES];
bool fake_is_ready(void);
Device *fake_current(void);     /* of the thread's current context, or NULL */
long fake_attribute(const Device *device, int attribute);   /* -1: unknown */

/* ---- stream.c: queues ---- */

extern pthread_mutex_t fake_lock;

typedef struct Function Function;

typedef struct {
    Stream *stream;
    uint64_t sequence;
} Point;

typedef struct Operation {
    enum { COPY, FILL, KERNEL, RECORD, WAIT, HOST } kind;
    struct Operation *next;
    uint64_t sequence;
    void *to;
    const void *from;
    size_t bytes;
    uint32_t value;             /* FILL: of `width` bytes each */
    int width;
    Point point;                /* WAIT: for the stream to get there */
    atomic_llong *time;         /* RECORD: when, in nanoseconds */
    void (*host)(void *);
    Function *function;
    unsigned dims[6], shared;
    size_t parameter_bytes;
    char parameters[];
} Operation;

/* A new operation with room for parameters. */
Operation *fake_operation(int kind, size_t parameter_bytes);
Stream *fake_stream(Device *device, void *handle);      /* NULL: no such stream here */
/* Append; where `wait` is set, return only when it has run. */
int fake_push(Stream *stream, Operation *operation, bool wait);
int fake_drain_device(Device *device);

/* ---- memory.c ---- */

typedef struct {
    Address base;               /* device address: of pinned memory the host's */
    uint64_t bytes;
    void *host;
    int32_t device, pinned, freed, reserved;
} Block;

/* The block that holds all of a range of the device, or NULL; the lock is held. */
const Block *fake_find(const Device *device, Address address, size_t bytes);

/* ---- module.c ---- */

int fake_run_kernel(const Operation *operation, int device);

#endif
