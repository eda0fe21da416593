/* Modules of PTX text, their kernels' parameters, launches, and tensor maps. */
#define _GNU_SOURCE
#include "fake.h"

#include <ctype.h>

enum { MODULE = 0x30D01E, DEAD = 0xDEAD, PARAMETERS = 256, DEFAULT_SHARED = 49152 };

typedef struct Module {
    int magic;
    Device *device;
    char *text;
    Function *functions;
} Module;

struct Function {
    Module *module;
    char name[256];
    int count;                  /* parameters: sizes and offsets in the block */
    size_t sizes[PARAMETERS], offsets[PARAMETERS], bytes;
    unsigned required[3];       /* threads of a block, 0: any */
    long most_shared;
    Function *next;
};

/* ---- what the launch needs of the text ---- */

static const char *skip_space(const char *at) {
    while (isspace((unsigned char)*at)) {
        at++;
    }
    return at;
}

/* The bytes of .u32 and so on. */
static size_t type_size(const char *at) {
    static const struct { const char *name; size_t size; } types[] = {
        {"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}};
    while (isalpha((unsigned char)*at)) {
        at++;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t length = strlen(types[i].name);
        if (!strncmp(at, types[i].name, length) && !isdigit((unsigned char)at[length])) {
            return types[i].size;
        }
    }
    return 0;
}

/* `.param .align 64 .b8 name[128]`, `.param .u64 .ptr .global .align 1 name`. */
static bool parameter(Function *function, const char *at, const char *end) {
    size_t size = 0, align = 0, elements = 1;
    bool pointer = false;
    at = skip_space(at + strlen(".param"));
    while (at < end && *at == '.') {
        if (!strncmp(at, ".align", 6)) {
            char *after;
            long value = strtol(at + 6, &after, 10);
            align = pointer ? align : (size_t)value;
            at = skip_space(after);
            continue;
        }
        if (!strncmp(at, ".ptr", 4)) {
            pointer = true;
        } else if (!pointer || size == 0) {
            size = type_size(at + 1);
        }
        while (at < end && !isspace((unsigned char)*at)) {
            at++;
        }
        at = skip_space(at);
    }
    const char *bracket = strchr(at, '[');
    if (bracket != NULL && bracket < end) {
        elements = (size_t)strtoul(bracket + 1, NULL, 10);
    }
    if (size == 0 || function->count == PARAMETERS) {
        return false;
    }
    align = align ? align : size;
    size_t offset = (function->bytes + align - 1) / align * align;
    function->sizes[function->count] = size * elements;
    function->offsets[function->count++] = offset;
    function->bytes = offset + size * elements;
    return true;
}

/* Reads `.entry name(...) .reqntid 128`; false where it is none. */
static bool read_entry(Function *function, const char *at) {
    const char *open = strpbrk(at, "({"), *close = open != NULL ? strchr(open, ')') : NULL;
    if (open == NULL) return false;
    if (*open == '(' && close != NULL) {
        const char *item = open + 1;
        while (item < close) {
            const char *end = memchr(item, ',', (size_t)(close - item));
            end = end != NULL ? end : close;
            item = skip_space(item);
            if (item < end && !parameter(function, item, end)) return false;
            item = end + 1;
        }
        at = close;
    }
    const char *body = strchr(at, '{'), *required = strstr(at, ".reqntid");
    if (body != NULL && required != NULL && required < body) {
        unsigned *threads = function->required;
        threads[0] = threads[1] = threads[2] = 1;
        sscanf(required, ".reqntid %u , %u , %u", threads, threads + 1, threads + 2);
    }
    return true;
}

static Function *find_function(Module *module, const char *name) {
    for (Function *known = module->functions; known != NULL; known = known->next) {
        if (!strcmp(known->name, name)) return known;
    }
    for (const char *at = module->text; (at = strstr(at, ".entry")) != NULL; at++) {
        const char *start = skip_space(at + 6);
        size_t length = strcspn(start, " \t\r\n({");
        if (length != strlen(name) || strncmp(start, name, length)) {
            continue;
        }
        Function *function = calloc(1, sizeof *function);
        function->module = module, function->most_shared = DEFAULT_SHARED;
        snprintf(function->name, sizeof function->name, "%s", name);
        if (!read_entry(function, start + length)) {
            free(function);
            return NULL;
        }
        function->next = module->functions;
        return module->functions = function;
    }
    return NULL;
}

/* ---- modules ---- */

/* PTX runs on its architecture and later ones, but one with a suffix (sm_90a) on that alone. */
static int check_target(const char *text) {
    const char *version = strstr(text, ".version"), *target = strstr(text, ".target");
    int arch;
    char suffix = 0;
    if (version == NULL || target == NULL || sscanf(target, ".target sm_%d%c", &arch, &suffix) < 1) {
        return INVALID_PTX;
    }
    bool exact = isalpha((unsigned char)suffix);
    return exact ? (arch == config.arch ? SUCCESS : NO_BINARY_FOR_GPU)
        : (arch <= config.arch ? SUCCESS : NO_BINARY_FOR_GPU);
}

static int load(Device *device, void **handle, const char *image) {
    if (!memcmp(image, "\177ELF", 4)) return NO_BINARY_FOR_GPU;     /* machine code: pass the PTX */
    int error = check_target(image);
    if (!error && on_load != NULL) {
        error = on_load(image);
    }
    if (error) return error;
    Module *module = calloc(1, sizeof *module);
    module->magic = MODULE, module->device = device;
    module->text = strdup(image);
    *handle = module;
    return SUCCESS;
}

API int cuModuleLoadData(void **module, const void *image) {
    ENTER_CONTEXT(cuModuleLoadData);
    return load(device, module, image);
}

API int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                           void **values) {
    ENTER_CONTEXT(cuModuleLoadDataEx);
    (void)count, (void)options, (void)values;
    return load(device, module, image);
}

/* Its text stays, for kernels of it may still be enqueued. */
API int cuModuleUnload(void *handle) {
    ENTER_CONTEXT(cuModuleUnload);
    Module *module = handle;
    if (module == NULL || module->magic != MODULE) return INVALID_HANDLE;
    module->magic = DEAD;
    return SUCCESS;
}

API int cuModuleGetFunction(void **function, void *handle, const char *name) {
    ENTER_CONTEXT(cuModuleGetFunction);
    Module *module = handle;
    if (module == NULL || module->magic != MODULE || module->device != device) {
        return INVALID_HANDLE;
    }
    Function *found = find_function(module, name);
    if (found == NULL) return NOT_FOUND;
    *function = found;
    return SUCCESS;
}

API int cuFuncSetAttribute(void *handle, int attribute, int value) {
    ENTER_CONTEXT(cuFuncSetAttribute);
    Function *function = handle;
    if (attribute == 8) {                       /* dynamic shared memory */
        if (value < 0 || value > fake_attribute(device, 97)) return INVALID_VALUE;
        function->most_shared = value;
        return SUCCESS;
    }
    return attribute == 9 ? SUCCESS : NOT_SUPPORTED;    /* 9: how L1 and shared memory divide */
}

API int cuFuncGetAttribute(int *value, int attribute, void *handle) {
    ENTER_CONTEXT(cuFuncGetAttribute);
    const Function *function = handle;
    switch (attribute) {
    case 0: *value = 1024; return SUCCESS;
    case 8: *value = (int)function->most_shared; return SUCCESS;
    default: return NOT_SUPPORTED;      /* registers and spills are of machine code */
    }
}

/* The offset and the bytes of a parameter: what cuLaunchKernel reads there. */
API int cuFuncGetParamInfo(void *handle, size_t index, size_t *offset, size_t *bytes) {
    ENTER_CONTEXT(cuFuncGetParamInfo);
    const Function *function = handle;
    if (index >= (size_t)function->count) return INVALID_VALUE;
    *offset = function->offsets[index];
    if (bytes != NULL) *bytes = function->sizes[index];
    return SUCCESS;
}

/* ---- launches ---- */

int fake_run_kernel(const Operation *operation, int device) {
    int error;
    if (fake_fails("kernel", &error)) return error;
    if (on_launch == NULL) return NOT_SUPPORTED;
    return on_launch(operation->function->module->text, operation->function->name,
                     operation->dims, operation->shared, operation->parameters,
                     operation->parameter_bytes, device);
}

static int check_launch(const Device *device, const Function *function, const unsigned *dims,
                        unsigned shared) {
    if (function->module->magic != MODULE || function->module->device != device) {
        return INVALID_HANDLE;
    }
    for (int i = 0; i < 3; i++) {
        if (dims[i] == 0 || dims[i] > (unsigned)fake_attribute(device, 5 + i)) return INVALID_VALUE;
        if (dims[3 + i] == 0 || dims[3 + i] > (unsigned)fake_attribute(device, 2 + i)) {
            return INVALID_VALUE;
        }
        if (function->required[0] && dims[3 + i] != function->required[i]) return INVALID_VALUE;
    }
    if ((size_t)dims[3] * dims[4] * dims[5] > 1024) return INVALID_VALUE;
    return shared > function->most_shared ? INVALID_VALUE : SUCCESS;
}

/* Parameters come as pointers, or as the block itself (`extra`: 1, block, 2, size, 0). */
static int pack(Operation *operation, const Function *function, void **parameters, void **extra) {
    if (parameters != NULL) {
        for (int i = 0; i < function->count; i++) {
            if (parameters[i] == NULL) return INVALID_VALUE;
            memcpy(operation->parameters + function->offsets[i], parameters[i],
                   function->sizes[i]);
        }
        return SUCCESS;
    }
    const void *block = NULL;
    size_t size = 0;
    for (; extra != NULL && *extra != NULL; extra += 2) {
        if (extra[0] == (void *)1) block = extra[1];
        else if (extra[0] == (void *)2) size = *(size_t *)extra[1];
        else return INVALID_VALUE;
    }
    if (function->count > 0 && (block == NULL || size < function->bytes)) return INVALID_VALUE;
    if (block != NULL) memcpy(operation->parameters, block, function->bytes);
    return SUCCESS;
}

static int launch(Device *device, Function *function, const unsigned *dims, unsigned shared,
                  void *handle, void **parameters, void **extra) {
    Stream *stream = fake_stream(device, handle);
    if (stream == NULL) return INVALID_HANDLE;
    int error = check_launch(device, function, dims, shared);
    if (error) return error;
    Operation *operation = fake_operation(KERNEL, function->bytes);
    operation->function = function, operation->shared = shared;
    memcpy(operation->dims, dims, sizeof operation->dims);
    error = pack(operation, function, parameters, extra);
    if (error) {
        free(operation);
        return error;
    }
    return fake_push(stream, operation, false);
}

API int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                       void *stream, void **parameters, void **extra) {
    ENTER_CONTEXT(cuLaunchKernel);
    if (config.null) return SUCCESS;
    unsigned dims[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
    return launch(device, function, dims, shared, stream, parameters, extra);
}

typedef struct {
    unsigned dims[6], shared;
    void *stream;
    const void *attributes;
    unsigned count;
} LaunchConfig;

/* Attributes (clusters, programmatic dependence) are not modelled. */
API int cuLaunchKernelEx(const LaunchConfig *how, void *function, void **parameters,
                         void **extra) {
    ENTER_CONTEXT(cuLaunchKernelEx);
    if (how->count > 0) return NOT_SUPPORTED;
    if (config.null) return SUCCESS;
    return launch(device, function, how->dims, how->shared, how->stream, parameters, extra);
}

/* ---- tensor maps: the layout that the interpreter reads (tensor_maps.py) ---- */

typedef struct {
    uint64_t address;
    uint8_t type, rank, swizzle, interleave, fill, unused[3];
    uint32_t dims[5], box[5], element_strides[5];
    uint32_t padding;
    uint64_t strides[5];
} TensorMap;
_Static_assert(offsetof(TensorMap, strides) == 80, "the layout of tensor_maps.py");

API int cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address,
                               const uint64_t *dims, const uint64_t *strides,
                               const uint32_t *box, const uint32_t *element_strides,
                               int interleave, int swizzle, int promotion, int fill) {
    static const size_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 4, 2};
    static const size_t widths[] = {SIZE_MAX, 32, 64, 128};
    ENTER_READY(cuTensorMapEncodeTiled);
    (void)promotion;
    if (config.arch < 90 || interleave != 0) return NOT_SUPPORTED;
    if (type < 0 || type > 10 || rank < 1 || rank > 5 || swizzle < 0 || swizzle > 3) {
        return INVALID_VALUE;
    }
    if ((uintptr_t)address % 16 || (uintptr_t)map % 64) return INVALID_VALUE;
    if (box[0] * sizes[type] % 16 || box[0] * sizes[type] > widths[swizzle]) return INVALID_VALUE;
    TensorMap made = {(uint64_t)(uintptr_t)address, (uint8_t)type, (uint8_t)(rank - 1),
                      (uint8_t)swizzle, 0, (uint8_t)fill, {0}, {0}, {0}, {0}, 0, {0}};
    for (uint32_t i = 0; i < rank; i++) {
        if (box[i] == 0 || box[i] > 256 || dims[i] == 0 || element_strides[i] != 1) {
            return INVALID_VALUE;
        }
        made.dims[i] = (uint32_t)dims[i], made.box[i] = box[i];
        made.element_strides[i] = element_strides[i];
        if (i + 1 < rank) {
            if (strides[i] % 16) return INVALID_VALUE;
            made.strides[i] = strides[i];
        }
    }
    memset(map, 0, 128);
    memcpy(map, &made, sizeof made);
    return SUCCESS;
}
