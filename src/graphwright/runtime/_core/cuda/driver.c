/* Opens the driver's library and words its errors. */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

GwDriver gw_driver;

enum { OLDEST_VERSION = 12000 };    /* CUDA 12.0: the first that loads what Triton's ptxas makes */

static enum { UNTRIED, USABLE, ABSENT } state;
static char reason[512];            /* why there is no GPU to use */
static bool forked;
static char broken[1024];           /* the error after which the GPU cannot be used */
static int broken_code;

/* ---- the last kernels ---- */

static _Atomic(const char *) recent[GW_CUDA_RECENT];
static atomic_uint launched;

void gw_cuda_note_kernel(const char *name) {
    unsigned place = atomic_fetch_add_explicit(&launched, 1, memory_order_relaxed) % GW_CUDA_RECENT;
    atomic_store_explicit(&recent[place], name, memory_order_relaxed);
}

static void append(char *text, size_t size, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

/* "k3, k2, k1", the newest first. */
static void list_kernels(char *text, size_t size) {
    unsigned count = launched;
    for (unsigned i = 0; i < GW_CUDA_RECENT && i < count; i++) {
        append(text, size, i == 0 ? "" : ", ");
        append(text, size, recent[(count - 1 - i) % GW_CUDA_RECENT]);
    }
}

/* ---- errors ---- */

bool gw_cuda_waits(void) {
    static int waits = -1;
    if (waits < 0) {
        const char *value = getenv("GRAPHWRIGHT_CUDA_SYNC");
        waits = value != NULL && strcmp(value, "1") == 0;
    }
    return waits;
}

/* Whether an error ends the use of the GPU by this process: a fault of a kernel, from an illegal
 * address (700) to an unspecified failure (719), or of the hardware (214), or a lost context. */
static bool is_final(int result) {
    static const int final[] = {214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721};
    for (size_t i = 0; i < sizeof final / sizeof *final; i++) {
        if (final[i] == result) {
            return true;
        }
    }
    return false;
}

static void describe(char *text, size_t size, int result, const char *call) {
    const char *name = NULL, *meaning = NULL;
    if (gw_driver.cuGetErrorName(result, &name) != GW_CUDA_SUCCESS || name == NULL) {
        name = "an unknown error";
    }
    if (gw_driver.cuGetErrorString(result, &meaning) != GW_CUDA_SUCCESS || meaning == NULL) {
        meaning = "no description";
    }
    snprintf(text, size, "CUDA error: %s (%s, %d) in %s", meaning, name, result, call);
}

static void describe_final(char *text, size_t size) {
    if (launched > 0) {
        append(text, size, ".\nThe last kernels launched, newest first: ");
        list_kernels(text, size);
        append(text, size, gw_cuda_waits() ? "." :
               ". Kernels run later than they are launched, so an earlier one may have failed: "
               "set GRAPHWRIGHT_CUDA_SYNC=1 to wait for each");
    }
    append(text, size, ".\nThis process cannot use the GPU any more");
}

static void raise_error(const char *text, int code) {
    PyObject *error = PyObject_CallFunction(gw_accelerator_error, "s", text);
    PyObject *number = error == NULL ? NULL : PyLong_FromLong(code);
    if (number != NULL && PyObject_SetAttrString(error, "error_code", number) == 0) {
        PyErr_SetObject(gw_accelerator_error, error);
    }
    Py_XDECREF(number);
    Py_XDECREF(error);
}

bool gw_cuda_check(int result, const char *call) {
    if (result == GW_CUDA_SUCCESS) {
        return true;
    }
    char text[sizeof broken];
    describe(text, sizeof text, result, call);
    if (is_final(result)) {
        describe_final(text, sizeof text);
        if (broken[0] == 0) {
            memcpy(broken, text, sizeof broken);
            broken_code = result;
        }
    }
    raise_error(is_final(result) ? broken : text, result);
    return false;
}

bool gw_cuda_check_launch(int result, const char *kernel) {
    char call[160];
    snprintf(call, sizeof call, "the launch of %s", kernel);
    return gw_cuda_check(result, call);
}

/* ---- opening ---- */

static void mark_forked(void) { forked = state == USABLE; }

typedef int (*GetProcAddress)(const char *, void **, int, uint64_t, void *);

/* By the driver's own table, which knows an API's versions; from older drivers by name. */
static void *find(void *library, GetProcAddress get, const char *name, const char *exported) {
    void *found = NULL;
    if (get == NULL) {
        return dlsym(library, exported);
    }
    return get(name, &found, OLDEST_VERSION, 0, NULL) == GW_CUDA_SUCCESS ? found : NULL;
}

static const struct {
    const char *name, *exported;
    size_t place;
} functions[] = {
#define GW_ENTRY(name, exported, parameters) {#name, exported, offsetof(GwDriver, name)},
    GW_CUDA_FUNCTIONS(GW_ENTRY)
#undef GW_ENTRY
};

static bool resolve(void *library) {
    GetProcAddress get = NULL;
    *(void **)&get = dlsym(library, "cuGetProcAddress_v2");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = find(library, get, functions[i].name, functions[i].exported);
        if (found == NULL) {
            snprintf(reason, sizeof reason, "the CUDA driver lacks the function %s",
                     functions[i].name);
            return false;
        }
        memcpy((char *)&gw_driver + functions[i].place, &found, sizeof found);
    }
    return true;
}

static bool start(void) {
    int version = 0, result = gw_driver.cuInit(0);
    if (result == GW_CUDA_NO_DEVICE) {
        snprintf(reason, sizeof reason, "the CUDA driver finds no device");
        return false;
    }
    if (result == GW_CUDA_SUCCESS) {
        result = gw_driver.cuDriverGetVersion(&version);
    }
    if (result != GW_CUDA_SUCCESS) {
        describe(reason, sizeof reason, result, "cuInit");
        return false;
    }
    if (version < OLDEST_VERSION) {
        snprintf(reason, sizeof reason, "the CUDA driver is too old: it is of CUDA %d.%d, and "
                 "CUDA %d.%d is needed", version / 1000, version % 1000 / 10,
                 OLDEST_VERSION / 1000, OLDEST_VERSION % 1000 / 10);
        return false;
    }
    return gw_cuda_find_devices(reason, sizeof reason);
}

/* The library that GRAPHWRIGHT_LIBCUDA names, by default the system's; an empty name is no driver. */
static bool open_driver(void) {
    const char *named = getenv("GRAPHWRIGHT_LIBCUDA");
    const char *path = named == NULL ? "libcuda.so.1" : named;
    if (path[0] == 0) {
        snprintf(reason, sizeof reason, "GRAPHWRIGHT_LIBCUDA is empty, which switches GPUs off");
        return false;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(reason, sizeof reason, "the CUDA driver could not be opened (%s)", dlerror());
        return false;
    }
    return resolve(library) && start();
}

bool gw_cuda_usable(void) {
    if (state == UNTRIED) {
        state = ABSENT;
        if (open_driver()) {
            state = USABLE;
            pthread_atfork(NULL, NULL, mark_forked);
        }
    }
    return state == USABLE;
}

bool gw_cuda_was_opened(void) { return state == USABLE; }
bool gw_cuda_is_forked(void) { return forked; }

bool gw_cuda_require(void) {
    if (!gw_cuda_usable()) {
        PyErr_Format(PyExc_RuntimeError, "there is no CUDA device: %s", reason);
        return false;
    }
    if (forked) {
        PyErr_SetString(PyExc_RuntimeError,
                        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
                        "multiprocessing, you must use the 'spawn' start method");
        return false;
    }
    if (broken[0] != 0) {
        raise_error(broken, broken_code);
        return false;
    }
    return true;
}

/* ---- Python ---- */

static PyObject *cuda_absence(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    if (gw_cuda_usable()) {
        Py_RETURN_NONE;
    }
    return PyUnicode_DecodeUTF8(reason, (Py_ssize_t)strlen(reason), "replace");
}

static PyObject *cuda_is_forked(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    return PyBool_FromLong(forked);
}

static PyObject *cuda_driver_version(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    int version;
    if (!gw_cuda_require() || !GW_CUDA_CALL(cuDriverGetVersion, &version)) {
        return NULL;
    }
    return PyLong_FromLong(version);
}

PyMethodDef gw_cuda_driver_methods[] = {
    {"cuda_absence", cuda_absence, METH_NOARGS,
     "cuda_absence(): why there is no GPU to use; None where there is one. The driver is opened at "
     "the first call."},
    {"cuda_is_forked", cuda_is_forked, METH_NOARGS,
     "Whether this process was forked from one that used the driver, so that it cannot."},
    {"cuda_driver_version", cuda_driver_version, METH_NOARGS,
     "The version of CUDA that the driver is of: 12040 for 12.4."},
    {NULL, NULL, 0, NULL},
};
