/* The CUDA driver, opened when a GPU is first asked for. All state here is guarded by the GIL,
 * which is released around calls that wait; the streams and devices of a process live for ever. */
#ifndef GRAPHWRIGHT_CUDA_DRIVER_H
#define GRAPHWRIGHT_CUDA_DRIVER_H

#include "core.h"

enum { GW_CUDA_DEVICES = 16 };

/* name, what the library exports, parameters */
#define GW_CUDA_FUNCTIONS(F)                                                                    \
    F(cuInit, "cuInit", (unsigned flags))                                                       \
    F(cuDriverGetVersion, "cuDriverGetVersion", (int *version))                                 \
    F(cuGetErrorName, "cuGetErrorName", (int error, const char **name))                         \
    F(cuGetErrorString, "cuGetErrorString", (int error, const char **text))                     \
    F(cuDeviceGetCount, "cuDeviceGetCount", (int *count))                                       \
    F(cuDeviceGet, "cuDeviceGet", (int *device, int ordinal))                                   \
    F(cuDeviceGetName, "cuDeviceGetName", (char *name, int size, int device))                   \
    F(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))    \
    F(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *bytes, int device))                     \
    F(cuDeviceGetUuid, "cuDeviceGetUuid_v2", (unsigned char *uuid, int device))                 \
    F(cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer", (int *can, int device, int peer))         \
    F(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (void **context, int device))       \
    F(cuCtxSetCurrent, "cuCtxSetCurrent", (void *context))                                      \
    F(cuCtxSynchronize, "cuCtxSynchronize", (void))                                             \
    F(cuCtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange", (int *least, int *greatest))  \
    F(cuMemGetInfo, "cuMemGetInfo_v2", (size_t *free, size_t *total))                           \
    F(cuMemAlloc, "cuMemAlloc_v2", (uint64_t *address, size_t bytes))                           \
    F(cuMemFree, "cuMemFree_v2", (uint64_t address))                                            \
    F(cuPointerGetAttribute, "cuPointerGetAttribute",                                           \
      (void *value, int attribute, uint64_t address))                                           \
    F(cuMemHostAlloc, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags))          \
    F(cuMemFreeHost, "cuMemFreeHost", (void *memory))                                           \
    F(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                \
      (uint64_t to, const void *from, size_t bytes, void *stream))                              \
    F(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                \
      (void *to, uint64_t from, size_t bytes, void *stream))                                    \
    F(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                \
      (uint64_t to, uint64_t from, size_t bytes, void *stream))                                 \
    F(cuMemcpyPeerAsync, "cuMemcpyPeerAsync",                                                   \
      (uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes,          \
       void *stream))                                                                           \
    F(cuMemsetD8Async, "cuMemsetD8Async",                                                       \
      (uint64_t to, unsigned char value, size_t count, void *stream))                           \
    F(cuMemsetD16Async, "cuMemsetD16Async",                                                     \
      (uint64_t to, unsigned short value, size_t count, void *stream))                          \
    F(cuMemsetD32Async, "cuMemsetD32Async",                                                     \
      (uint64_t to, unsigned value, size_t count, void *stream))                                \
    F(cuStreamCreateWithPriority, "cuStreamCreateWithPriority",                                 \
      (void **stream, unsigned flags, int priority))                                            \
    F(cuStreamSynchronize, "cuStreamSynchronize", (void *stream))                               \
    F(cuStreamQuery, "cuStreamQuery", (void *stream))                                           \
    F(cuStreamWaitEvent, "cuStreamWaitEvent", (void *stream, void *event, unsigned flags))      \
    F(cuStreamIsCapturing, "cuStreamIsCapturing", (void *stream, int *status))                  \
    F(cuEventCreate, "cuEventCreate", (void **event, unsigned flags))                           \
    F(cuEventDestroy, "cuEventDestroy_v2", (void *event))                                       \
    F(cuEventRecord, "cuEventRecord", (void *event, void *stream))                              \
    F(cuEventSynchronize, "cuEventSynchronize", (void *event))                                  \
    F(cuEventQuery, "cuEventQuery", (void *event))                                              \
    F(cuEventElapsedTime, "cuEventElapsedTime", (float *ms, void *start, void *end))            \
    F(cuModuleLoadData, "cuModuleLoadData", (void **module, const void *image))                 \
    F(cuModuleUnload, "cuModuleUnload", (void *module))                                         \
    F(cuModuleGetFunction, "cuModuleGetFunction",                                               \
      (void **function, void *module, const char *name))                                        \
    F(cuFuncSetAttribute, "cuFuncSetAttribute", (void *function, int attribute, int value))     \
    F(cuLaunchKernel, "cuLaunchKernel",                                                         \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,     \
       unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters,    \
       void **extra))

typedef struct {
#define GW_FIELD(name, exported, parameters) int (*name) parameters;
    GW_CUDA_FUNCTIONS(GW_FIELD)
#undef GW_FIELD
} GwDriver;

extern GwDriver gw_driver;

/* Results of the driver that decide what happens. */
enum {
    GW_CUDA_SUCCESS = 0, GW_CUDA_INVALID_VALUE = 1, GW_CUDA_OUT_OF_MEMORY = 2,
    GW_CUDA_NO_DEVICE = 100,
    GW_CUDA_INVALID_IMAGE = 200, GW_CUDA_NO_BINARY = 209, GW_CUDA_NOT_READY = 600
};

typedef struct GwCudaStream GwCudaStream;

/* ---- driver.c ---- */
bool gw_cuda_usable(void);      /* a driver and a device; opens the driver at the first call */
/* RuntimeError, and false, without these; in a fork of a process that used them; after an error
 * that the GPU does not recover from. */
bool gw_cuda_require(void);
bool gw_cuda_is_forked(void);   /* the driver cannot be used, as the parent process used it */
bool gw_cuda_was_opened(void);
extern PyObject *gw_accelerator_error;  /* a RuntimeError with `error_code` */
/* AcceleratorError, and false, unless the result of the driver's function `call` is success. */
bool gw_cuda_check(int result, const char *call);
bool gw_cuda_check_launch(int result, const char *kernel);
enum { GW_CUDA_RECENT = 8 };    /* kernels that errors name */
void gw_cuda_note_kernel(const char *name);     /* a name that is never freed */
extern PyMethodDef gw_cuda_driver_methods[];
bool gw_cuda_waits(void);       /* GRAPHWRIGHT_CUDA_SYNC=1: after each kernel and copy */
#define GW_CUDA_CALL(function, ...) \
    gw_cuda_check(gw_driver.function(__VA_ARGS__), #function)
/* A call that waits, without the GIL. */
#define GW_CUDA_WAIT(result, function, ...)                 \
    do {                                                    \
        Py_BEGIN_ALLOW_THREADS                              \
        result = gw_driver.function(__VA_ARGS__);           \
        Py_END_ALLOW_THREADS                                \
    } while (0)

/* ---- device.c ---- */
bool gw_cuda_find_devices(char *why, size_t size);  /* true where there is one to use */
int gw_cuda_device_count(void);
int gw_cuda_current_device(void);           /* of this thread */
int gw_cuda_ordinal(int device);            /* the driver's number of a device */
int gw_cuda_device_at(int ordinal);         /* -1 where there is none to use */
uint32_t gw_guarded_modes(void);            /* gw_modes, and above them the current device and TF32 */
bool gw_cuda_enter(int device);             /* the thread's calls are for this device; or false */
void *gw_cuda_context(int device);          /* of a device that was entered, else NULL */
/* For calls on the way, such as finalizers': from the device that the thread has entered, if any,
 * to another one that was entered once; and back. */
int gw_cuda_switch(int device);
void gw_cuda_switch_back(int before);
bool gw_cuda_index(PyObject *number, int *device);  /* a device that exists, or RuntimeError */
extern PyMethodDef gw_cuda_device_methods[];

/* ---- stream.c ---- */
typedef struct GwCudaPool GwCudaPool;

struct GwCudaStream {
    void *handle;
    int device, priority, id;
    bool foreign;                /* another library's */
    GwCudaPool *pools[2];        /* memory.c: free blocks, large and small */
};

GwCudaStream *gw_cuda_current_stream(int device);   /* of an entered device; NULL with exception */
GwCudaStream *gw_cuda_stream_of(PyObject *id);      /* or NULL with an exception */
GwCudaStream *gw_cuda_stream_at(int id);            /* NULL past the last */
bool gw_cuda_synchronize_stream(const GwCudaStream *stream);
/* Waits, on the way; false where that fails. The exception that is set stays. */
bool gw_cuda_settle(const GwCudaStream *stream);
/* Where that fails, what has the memory that the stream may use is never released. */
void gw_cuda_settle_or_keep(const GwCudaStream *stream, PyObject *memory);
extern PyMethodDef gw_cuda_stream_methods[];

/* ---- memory.c ---- */
/* Makes the blocks of an entered device free that no stream uses any more; false with an exception. */
bool gw_cuda_reclaim(int device);

/* ---- event.c ---- */
extern PyTypeObject GwCudaEvent_Type;
/* An event without timing that was recorded in a stream, on an entered device; or NULL. */
void *gw_cuda_mark(const GwCudaStream *stream);
int gw_cuda_mark_is_done(void *event, int device);      /* 1, 0, or -1 with an exception */
void gw_cuda_mark_free(void *event, int device);
bool gw_cuda_stream_waits_for(const GwCudaStream *waiting, const GwCudaStream *other);

/* ---- reports.c ---- */
/* Raises what kernels have reported. Those of the stream, or where that is NULL of the device, are
 * done; of the others only what is there by now is seen. */
bool gw_cuda_reports(const GwCudaStream *stream, int device);

/* ---- kernel.c, program.c, launcher.c ---- */
extern PyTypeObject GwCudaKernel_Type, GwCudaProgram_Type, GwCudaLauncher_Type;

#endif
