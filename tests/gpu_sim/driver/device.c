/* Devices, their attributes and primary contexts, and the words of errors. */
#include "fake.h"

static Device devices[DEVICES];
atomic_bool fake_ready;
_Thread_local Device *fake_current;

API int cuInit(unsigned flags) {
    ENTER(cuInit);
    if (flags != 0) return INVALID_VALUE;
    if (gpusim_config.devices == 0) return NO_DEVICE;
    for (int i = 0; i < DEVICES; i++) {
        devices[i].ordinal = i;
    }
    fake_ready = true;
    return SUCCESS;
}

/* Runs, or after an error drops, what is enqueued, then ends the state of error. */
API void gpusim_reset(void) {
    for (int i = 0; i < DEVICES; i++) {
        fake_drain_device(&devices[i]);
        devices[i].sticky = SUCCESS;
    }
}

API int cuDriverGetVersion(int *version) {
    ENTER(cuDriverGetVersion);
    *version = (int)gpusim_config.version;
    return SUCCESS;
}

API int cuDeviceGetCount(int *count) {
    ENTER_READY(cuDeviceGetCount);
    *count = (int)gpusim_config.devices;
    return SUCCESS;
}

#define ENTER_DEVICE(call, ordinal)                                                     \
    ENTER_READY(call);                                                                  \
    if ((ordinal) < 0 || (ordinal) >= gpusim_config.devices) return INVALID_DEVICE

API int cuDeviceGet(int *found, int ordinal) {
    ENTER_DEVICE(cuDeviceGet, ordinal);
    *found = ordinal;
    return SUCCESS;
}

API int cuDeviceGetName(char *name, int size, int ordinal) {
    ENTER_DEVICE(cuDeviceGetName, ordinal);
    snprintf(name, (size_t)size, "simulated GPU %d (sm_%ld)", ordinal, gpusim_config.arch);
    return SUCCESS;
}

API int cuDeviceGetUuid_v2(char *uuid, int ordinal) {
    ENTER_DEVICE(cuDeviceGetUuid_v2, ordinal);
    memcpy(uuid, "simulated GPU  ", 15);
    uuid[15] = (char)ordinal;
    return SUCCESS;
}

API int cuDeviceTotalMem_v2(size_t *bytes, int ordinal) {
    ENTER_DEVICE(cuDeviceTotalMem_v2, ordinal);
    *bytes = (size_t)gpusim_config.memory;
    return SUCCESS;
}

/* What an A100 and an H100 say. */
static const struct { int attribute; long ampere, hopper; } attributes[] = {
    {1, 1024, 1024}, {2, 1024, 1024}, {3, 1024, 1024}, {4, 64, 64},     /* threads of a block */
    {5, 0x7FFFFFFF, 0x7FFFFFFF}, {6, 65535, 65535}, {7, 65535, 65535},  /* blocks of a grid */
    {8, 49152, 49152}, {97, 166912, 232448}, {81, 167936, 233472},      /* shared memory */
    {10, 32, 32}, {82, 65536, 65536},
    {13, 1410000, 1980000}, {36, 1593000, 3201000}, {37, 5120, 6144},   /* clocks, bus */
    {16, 108, 132}, {38, 40 << 20, 60 << 20}, {39, 2048, 2048},
    {18, 0, 0}, {34, 0, 0}, {50, 0, 0}, {84, 0, 0},
};

long fake_attribute(const Device *device, int attribute) {
    if (attribute == 75) return gpusim_config.arch / 10;
    if (attribute == 76) return gpusim_config.arch % 10;
    if (attribute == 33) return 1 + device->ordinal;    /* PCI bus */
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (attributes[i].attribute == attribute) {
            return gpusim_config.arch >= 90 ? attributes[i].hopper : attributes[i].ampere;
        }
    }
    return -1;
}

API int cuDeviceGetAttribute(int *value, int attribute, int ordinal) {
    ENTER_DEVICE(cuDeviceGetAttribute, ordinal);
    long found = fake_attribute(&devices[ordinal], attribute);
    if (found < 0) return INVALID_VALUE;
    *value = (int)found;
    return SUCCESS;
}

API int cuDeviceCanAccessPeer(int *can, int ordinal, int peer) {
    ENTER_DEVICE(cuDeviceCanAccessPeer, ordinal);
    if (peer < 0 || peer >= gpusim_config.devices) return INVALID_DEVICE;
    *can = ordinal != peer;
    return SUCCESS;
}

/* ---- contexts: only primary ones; a context is its device ---- */

API int cuDevicePrimaryCtxRetain(void **context, int ordinal) {
    ENTER_DEVICE(cuDevicePrimaryCtxRetain, ordinal);
    devices[ordinal].retained = true;
    *context = &devices[ordinal];
    return SUCCESS;
}

API int cuCtxSetCurrent(void *context) {
    ENTER_READY(cuCtxSetCurrent);
    Device *device = context;
    if (device != NULL && (device < devices || device >= devices + DEVICES || !device->retained)) {
        return INVALID_CONTEXT;
    }
    fake_current = device;
    return SUCCESS;
}

API int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    ENTER_CONTEXT(cuCtxGetStreamPriorityRange);
    *least = 0;
    *greatest = -5;
    return SUCCESS;
}

API int cuCtxSynchronize(void) {
    ENTER_CONTEXT(cuCtxSynchronize);
    return fake_drain_device(device);
}

/* ---- errors ---- */

#define NAME(number, name, text) case number: *found = "CUDA_ERROR_" #name; return SUCCESS;
#define TEXT(number, name, text) case number: *found = text; return SUCCESS;
#define WORDS(function, CASE)                           \
    API int function(int error, const char **found) {   \
        switch (error) {                                \
            ERRORS(CASE)                                \
            default: *found = NULL;                     \
        }                                               \
        return INVALID_VALUE;                           \
    }
WORDS(cuGetErrorName, NAME)
WORDS(cuGetErrorString, TEXT)
