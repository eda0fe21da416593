/* A compiled kernel, and how its parameters lie. */
#ifndef GRAPHWRIGHT_CUDA_KERNEL_H
#define GRAPHWRIGHT_CUDA_KERNEL_H

#include "driver.h"

typedef enum {
    GW_ARG_POINTER, GW_ARG_SCRATCH, GW_ARG_INT, GW_ARG_UINT, GW_ARG_F16, GW_ARG_BF16, GW_ARG_F32,
    GW_ARG_F64
} GwArgKind;

typedef struct {
    const char *type;           /* as Triton's signatures have it */
    GwArgKind kind;
    int size;
} GwArgType;

enum { GW_MAX_PARAMETERS = 256 };

typedef struct {
    PyObject_HEAD
    PyObject *cubin, *ptx;      /* bytes or NULL */
    const char *name;           /* for good */
    int shared, warps;
    int count, bytes;           /* of the parameters */
    const GwArgType **types;
    uint16_t *offsets;
    void *functions[GW_CUDA_DEVICES];
} GwCudaKernel;

/* The function on an entered device, loaded at first; NULL with an exception. */
void *gw_cuda_function(GwCudaKernel *kernel, int device);

#endif
