/* Modules of PTX text, whose reading and running is Python's, and launches. */
#include "fake.h"

enum { MODULE = 0x30D01E, DEAD = 0xDEAD };

/* A kernel's parameters: where each lies in the block that a launch has; its block's size. */
typedef struct {
    int count;
    unsigned required[3];       /* threads of a block, 0: any */
    size_t bytes, offsets[PARAMETERS], sizes[PARAMETERS];
} Layout;

/* What Python does; each returns an error of the driver or 0. */
static struct {
    int (*load)(const char *ptx);
    int (*find)(const char *ptx, const char *name, Layout *layout);
    int (*launch)(const char *ptx, const char *name, const unsigned *grid_and_block,
                  unsigned shared, const void *parameters, size_t bytes, int device);
} interpreter;

typedef struct {
    int magic;
    Device *device;
    char *text;
} Module;

struct Function {
    Module *module;
    char *name;
    Layout layout;
    unsigned most_shared;
};

API void gpusim_attach(void *load, void *find, void *launch) {
    *(void **)&interpreter.load = load;
    *(void **)&interpreter.find = find;
    *(void **)&interpreter.launch = launch;
}

/* Machine code is refused, so that the text is passed. */
API int cuModuleLoadData(void **handle, const void *image) {
    ENTER_CONTEXT(cuModuleLoadData);
    if (!memcmp(image, "\177ELF", 4)) return NO_BINARY_FOR_GPU;
    int error = gpusim_config.null ? SUCCESS
        : interpreter.load ? interpreter.load(image) : NOT_SUPPORTED;
    if (error) return error;
    Module *module = calloc(1, sizeof *module);
    module->magic = MODULE, module->device = device, module->text = strdup(image);
    *handle = module;
    return SUCCESS;
}

static Module *module_of(const Device *device, void *handle) {
    Module *module = handle;
    return module != NULL && module->magic == MODULE && module->device == device ? module : NULL;
}

/* Its text stays, for kernels of it may still be enqueued. */
API int cuModuleUnload(void *handle) {
    ENTER_CONTEXT(cuModuleUnload);
    Module *module = module_of(device, handle);
    if (module == NULL) return INVALID_HANDLE;
    module->magic = DEAD;
    return SUCCESS;
}

API int cuModuleGetFunction(void **handle, void *module_handle, const char *name) {
    ENTER_CONTEXT(cuModuleGetFunction);
    Module *module = module_of(device, module_handle);
    if (module == NULL) return INVALID_HANDLE;
    Function *function = calloc(1, sizeof *function);
    int error = gpusim_config.null ? SUCCESS
        : interpreter.find(module->text, name, &function->layout);
    if (error) {
        free(function);
        return error;
    }
    function->module = module, function->name = strdup(name);
    function->most_shared = (unsigned)fake_attribute(device, 8);
    *handle = function;
    return SUCCESS;
}

API int cuFuncSetAttribute(void *handle, int attribute, int value) {
    ENTER_CONTEXT(cuFuncSetAttribute);
    Function *function = handle;
    if (attribute != 8) return NOT_SUPPORTED;   /* 8: dynamic shared memory */
    if (value < 0 || value > fake_attribute(device, 97)) return INVALID_VALUE;
    function->most_shared = (unsigned)value;
    return SUCCESS;
}

/* ---- launches ---- */

int fake_run_kernel(const Operation *operation, int device) {
    const Function *function = operation->function;
    int error = fake_demanded("kernel");
    return error ? error : interpreter.launch(
        function->module->text, function->name, operation->dims, operation->shared,
        operation->parameters, function->layout.bytes, device);
}

static bool is_valid(const Device *device, const Function *function, const unsigned *dims,
                     unsigned shared) {
    const unsigned *required = function->layout.required;
    for (int i = 0; i < 3; i++) {
        if (dims[i] == 0 || dims[i] > (unsigned)fake_attribute(device, 5 + i)
                || dims[3 + i] == 0 || dims[3 + i] > (unsigned)fake_attribute(device, 2 + i)
                || (required[i] && dims[3 + i] != required[i])) {
            return false;
        }
    }
    return (size_t)dims[3] * dims[4] * dims[5] <= 1024 && shared <= function->most_shared;
}

API int cuLaunchKernel(void *handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                       void *stream_handle, void **parameters, void **extra) {
    ENTER_CONTEXT(cuLaunchKernel);
    if (gpusim_config.null) return SUCCESS;
    Function *function = handle;
    const Layout *layout = &function->layout;
    unsigned dims[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
    Stream *stream = fake_stream(device, stream_handle);
    if (stream == NULL || module_of(device, function->module) == NULL) return INVALID_HANDLE;
    if (!is_valid(device, function, dims, shared)) return INVALID_VALUE;
    if (extra != NULL) return NOT_SUPPORTED;    /* parameters as one block */
    for (int i = 0; i < layout->count; i++) {
        if (parameters == NULL || parameters[i] == NULL) return INVALID_VALUE;
    }
    Operation *operation = fake_operation(KERNEL, layout->bytes);
    operation->function = function, operation->shared = shared;
    memcpy(operation->dims, dims, sizeof dims);
    for (int i = 0; i < layout->count; i++) {
        memcpy(operation->parameters + layout->offsets[i], parameters[i], layout->sizes[i]);
    }
    fake_push(stream, operation);
    return SUCCESS;
}
