/* Devices, their attributes, primary contexts and the words of errors. */
#include "fake.h"

Device fake_devices[DEVICES];
static atomic_bool initialized;
static _Thread_local Device *current, *pushed[16];
static _Thread_local int depth;

bool fake_is_ready(void) { return initialized; }
Device *fake_current(void) { return current != NULL && current->retained > 0 ? current : NULL; }

API int cuInit(unsigned flags) {
    ENTER(cuInit);
    if (flags != 0) return INVALID_VALUE;
    if (config.devices == 0) return NO_DEVICE;
    for (int i = 0; i < DEVICES; i++) {
        fake_devices[i].ordinal = i;
    }
    initialized = true;
    return SUCCESS;
}

/* After an error that ends the use of a device: what is enqueued is dropped, the error cleared. */
API void gpusim_reset(void) {
    for (int i = 0; i < DEVICES; i++) {
        fake_drain_device(&fake_devices[i]);
        fake_devices[i].sticky = 0;
    }
}

API int gpusim_sticky(int ordinal) { return fake_devices[ordinal].sticky; }

API int cuDriverGetVersion(int *version) {
    ENTER(cuDriverGetVersion);
    *version = (int)config.version;
    return SUCCESS;
}

API int cuDeviceGetCount(int *count) {
    ENTER_READY(cuDeviceGetCount);
    *count = (int)config.devices;
    return SUCCESS;
}

static bool exists(int ordinal) { return ordinal >= 0 && ordinal < config.devices; }

API int cuDeviceGet(int *found, int ordinal) {
    ENTER_READY(cuDeviceGet);
    if (!exists(ordinal)) return INVALID_DEVICE;
    *found = ordinal;
    return SUCCESS;
}

API int cuDeviceGetName(char *name, int size, int ordinal) {
    ENTER_READY(cuDeviceGetName);
    if (!exists(ordinal)) return INVALID_DEVICE;
    snprintf(name, (size_t)size, "simulated GPU %d (sm_%ld)", ordinal, config.arch);
    return SUCCESS;
}

API int cuDeviceGetUuid_v2(char *uuid, int ordinal) {
    ENTER_READY(cuDeviceGetUuid_v2);
    if (!exists(ordinal)) return INVALID_DEVICE;
    memset(uuid, 0, 16);
    memcpy(uuid, "simulated GPU", 13);
    uuid[15] = (char)ordinal;
    return SUCCESS;
}

API int cuDeviceTotalMem_v2(size_t *bytes, int ordinal) {
    ENTER_READY(cuDeviceTotalMem_v2);
    if (!exists(ordinal)) return INVALID_DEVICE;
    *bytes = (size_t)config.memory;
    return SUCCESS;
}

long fake_attribute(const Device *device, int attribute) {
    bool hopper = config.arch >= 90;
    switch (attribute) {
    case 1: case 2: case 3: return 1024;                /* threads, x and y of a block */
    case 4: return 64;
    case 5: return 0x7FFFFFFF;                          /* x, y, z of a grid */
    case 6: case 7: return 65535;
    case 8: return 49152;                               /* shared memory of a block, by default */
    case 9: return 65536;                               /* constant memory */
    case 10: return 32;
    case 12: case 82: return 65536;                     /* registers of a block, of a processor */
    case 13: return hopper ? 1980000 : 1410000;         /* kHz */
    case 14: return 512;
    case 15: case 31: case 35: return 1;                /* overlap, concurrency, ECC */
    case 16: return hopper ? 132 : 108;                 /* multiprocessors */
    case 17: case 18: case 20: return 0;
    case 19: case 41: case 78: case 83: case 95: return 1;
    case 33: return 1 + device->ordinal;                /* PCI bus, device, domain */
    case 34: case 50: return 0;
    case 36: return hopper ? 3201000 : 1593000;
    case 37: return hopper ? 6144 : 5120;
    case 38: return hopper ? 60 << 20 : 40 << 20;       /* L2 */
    case 39: return 2048;
    case 40: return 3;
    case 75: return config.arch / 10;
    case 76: return config.arch % 10;
    case 81: return hopper ? 233472 : 167936;           /* shared memory of a processor */
    case 97: return hopper ? 232448 : 166912;           /* of a block that asks for it */
    case 106: return 32;
    case 111: return 1024;
    case 115: return 0;                                 /* memory pools */
    case 120: return hopper;                            /* clusters */
    default: return -1;
    }
}

API int cuDeviceGetAttribute(int *value, int attribute, int ordinal) {
    ENTER_READY(cuDeviceGetAttribute);
    if (!exists(ordinal)) return INVALID_DEVICE;
    long found = fake_attribute(&fake_devices[ordinal], attribute);
    if (found < 0) return INVALID_VALUE;
    *value = (int)found;
    return SUCCESS;
}

API int cuDeviceCanAccessPeer(int *can, int ordinal, int peer) {
    ENTER_READY(cuDeviceCanAccessPeer);
    if (!exists(ordinal) || !exists(peer)) return INVALID_DEVICE;
    *can = ordinal != peer;
    return SUCCESS;
}

/* ---- contexts: only primary ones; a context is its device ---- */

static Device *device_of(void *context) {
    Device *device = context;
    return device >= fake_devices && device < fake_devices + DEVICES ? device : NULL;
}

API int cuDevicePrimaryCtxRetain(void **context, int ordinal) {
    ENTER_READY(cuDevicePrimaryCtxRetain);
    if (!exists(ordinal)) return INVALID_DEVICE;
    fake_devices[ordinal].retained++;
    *context = &fake_devices[ordinal];
    return SUCCESS;
}

API int cuDevicePrimaryCtxRelease_v2(int ordinal) {
    ENTER_READY(cuDevicePrimaryCtxRelease_v2);
    if (!exists(ordinal)) return INVALID_DEVICE;
    if (fake_devices[ordinal].retained == 0) return INVALID_CONTEXT;
    fake_devices[ordinal].retained--;
    return SUCCESS;
}

API int cuDevicePrimaryCtxGetState(int ordinal, unsigned *flags, int *active) {
    ENTER_READY(cuDevicePrimaryCtxGetState);
    if (!exists(ordinal)) return INVALID_DEVICE;
    *flags = 0;
    *active = fake_devices[ordinal].retained > 0;
    return SUCCESS;
}

API int cuCtxSetCurrent(void *context) {
    ENTER_READY(cuCtxSetCurrent);
    if (context != NULL && device_of(context) == NULL) return INVALID_CONTEXT;
    current = context;
    return SUCCESS;
}

API int cuCtxGetCurrent(void **context) {
    ENTER_READY(cuCtxGetCurrent);
    *context = current;
    return SUCCESS;
}

API int cuCtxPushCurrent_v2(void *context) {
    ENTER_READY(cuCtxPushCurrent_v2);
    if (device_of(context) == NULL) return INVALID_CONTEXT;
    if (depth == sizeof pushed / sizeof *pushed) return INVALID_VALUE;
    pushed[depth++] = current;
    current = context;
    return SUCCESS;
}

API int cuCtxPopCurrent_v2(void **context) {
    ENTER_READY(cuCtxPopCurrent_v2);
    if (depth == 0) return INVALID_CONTEXT;
    if (context != NULL) *context = current;
    current = pushed[--depth];
    return SUCCESS;
}

API int cuCtxGetDevice(int *ordinal) {
    ENTER_CONTEXT(cuCtxGetDevice);
    *ordinal = device->ordinal;
    return SUCCESS;
}

API int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    ENTER_CONTEXT(cuCtxGetStreamPriorityRange);
    *least = 0;
    *greatest = -5;
    return SUCCESS;
}

API int cuCtxEnablePeerAccess(void *peer, unsigned flags) {
    ENTER_CONTEXT(cuCtxEnablePeerAccess);
    Device *other = device_of(peer);
    if (other == NULL) return INVALID_CONTEXT;
    if (flags != 0 || other == device) return INVALID_VALUE;
    device->peers |= 1u << other->ordinal;
    return SUCCESS;
}

API int cuCtxSynchronize(void) {
    ENTER_CONTEXT(cuCtxSynchronize);
    return fake_drain_device(device);
}

/* ---- errors ---- */

static const struct { int error; const char *name, *text; } errors[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {710, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static int describe(int error, const char **found, bool name) {
    *found = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].error == error) {
            *found = name ? errors[i].name : errors[i].text;
            return SUCCESS;
        }
    }
    return INVALID_VALUE;
}

API int cuGetErrorName(int error, const char **name) { return describe(error, name, true); }
API int cuGetErrorString(int error, const char **text) { return describe(error, text, false); }

API unsigned gpusim_peers(int ordinal) { return fake_devices[ordinal].peers; }
