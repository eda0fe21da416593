/* What tests set and read: configuration, faults on demand, counts of calls. */
#define _GNU_SOURCE
#include "fake.h"

#include <dlfcn.h>

Config config = {.arch = 80, .devices = 2, .memory = 8L << 30, .version = 13000, .legacy = 1};
static Config initial;
LoadCallback on_load;
LaunchCallback on_launch;

typedef struct {
    char name[64];
    long skip, times;           /* calls that pass before, calls that fail (-1: all) */
    int error;
} Fault;

enum { FAULTS = 32 };
static Fault faults[FAULTS];
static atomic_int faults_set;
static Counter *counters;
static pthread_mutex_t control_lock = PTHREAD_MUTEX_INITIALIZER;

API void gpusim_set_load(LoadCallback callback) { on_load = callback; }
API void gpusim_set_launch(LaunchCallback callback) { on_launch = callback; }

static long *setting(const char *name) {
    static const struct { const char *name; size_t at; } names[] = {
        {"arch", offsetof(Config, arch)}, {"devices", offsetof(Config, devices)},
        {"memory", offsetof(Config, memory)}, {"version", offsetof(Config, version)},
        {"null", offsetof(Config, null)}, {"seed", offsetof(Config, seed)},
        {"legacy", offsetof(Config, legacy)},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(names[i].name, name)) {
            return (long *)((char *)&config + names[i].at);
        }
    }
    return NULL;
}

/* arch (80 or 90), devices, memory (bytes of each), version (of the driver), null (kernels are
 * counted and not run), seed (0: what is demanded runs, threads in their order; else also other
 * streams' work, and atomic updates, in a random order), legacy (0: the NULL stream is refused). */
API int gpusim_set(const char *name, long value) {
    long *place = setting(name);
    if (place == NULL) {
        return INVALID_VALUE;
    }
    *place = value;
    return SUCCESS;
}

API void gpusim_restore(void) { config = initial; }

API long gpusim_seed(void) { return config.seed; }

/* Let calls of a function (or "kernel": kernels when they run) fail, after `skip` that do not. */
API int gpusim_fail(const char *name, long skip, long times, int error) {
    int result = OUT_OF_MEMORY;
    pthread_mutex_lock(&control_lock);
    for (int i = 0; i < FAULTS; i++) {
        if (faults[i].times == 0) {
            snprintf(faults[i].name, sizeof faults[i].name, "%s", name);
            faults[i].skip = skip, faults[i].times = times, faults[i].error = error;
            faults_set = 1;
            result = SUCCESS;
            break;
        }
    }
    pthread_mutex_unlock(&control_lock);
    return result;
}

API void gpusim_clear_faults(void) {
    pthread_mutex_lock(&control_lock);
    memset(faults, 0, sizeof faults);
    faults_set = 0;
    pthread_mutex_unlock(&control_lock);
}

bool fake_fails(const char *name, int *error) {
    bool found = false;
    if (!faults_set) {
        return false;
    }
    pthread_mutex_lock(&control_lock);
    for (int i = 0; i < FAULTS && !found; i++) {
        Fault *fault = &faults[i];
        if (fault->times == 0 || strcmp(fault->name, name)) {
            continue;
        }
        if (fault->skip > 0) {
            fault->skip--;
            continue;
        }
        if (fault->times > 0) {
            fault->times--;
        }
        *error = fault->error;
        found = true;
    }
    pthread_mutex_unlock(&control_lock);
    return found;
}

int fake_enter(Counter *counter) {
    int error = SUCCESS;
    counter->calls++;
    if (!counter->listed && !atomic_exchange(&counter->listed, true)) {
        pthread_mutex_lock(&control_lock);
        counter->next = counters;
        counters = counter;
        pthread_mutex_unlock(&control_lock);
    }
    fake_fails(counter->name, &error);
    return error;
}

/* Calls of the function since the counts were cleared. */
API long gpusim_calls(const char *name) {
    long calls = 0;
    pthread_mutex_lock(&control_lock);
    for (Counter *counter = counters; counter != NULL; counter = counter->next) {
        if (!strcmp(counter->name, name)) {
            calls += counter->calls;
        }
    }
    pthread_mutex_unlock(&control_lock);
    return calls;
}

API void gpusim_clear_calls(void) {
    pthread_mutex_lock(&control_lock);
    for (Counter *counter = counters; counter != NULL; counter = counter->next) {
        counter->calls = 0;
    }
    pthread_mutex_unlock(&control_lock);
}

/* GPU_SIM_ARCH=90 and so on; GPU_SIM_FAIL=cuMemAlloc_v2:3:1:2,... has name, skip, times, error. */
__attribute__((constructor)) static void read_environment(void) {
    static const char *names[] = {"arch", "devices", "memory", "version", "null", "seed",
                                  "legacy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char variable[32] = "GPU_SIM_";
        for (size_t at = 0; names[i][at]; at++) {
            variable[8 + at] = (char)(names[i][at] - 32);
        }
        const char *value = getenv(variable);
        if (value != NULL) {
            gpusim_set(names[i], strtol(value, NULL, 0));
        }
    }
    initial = config;
    const char *list = getenv("GPU_SIM_FAIL");
    while (list != NULL && *list) {
        char name[64];
        long skip, times;
        int error;
        if (sscanf(list, "%63[^:]:%ld:%ld:%d", name, &skip, &times, &error) != 4) {
            fprintf(stderr, "GPU_SIM_FAIL: %s is not name:skip:times:error\n", list);
            abort();
        }
        gpusim_fail(name, skip, times, error);
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
}

/* The name with the suffix of its newest version, or the plain name. A fault demanded of "without
 * cuLaunchKernel" makes this a driver that lacks cuLaunchKernel. */
API int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                            int *status) {
    static void *self;
    ENTER(cuGetProcAddress_v2);
    (void)version, (void)flags;
    if (self == NULL) {
        Dl_info info;
        dladdr((void *)cuGetProcAddress_v2, &info);
        self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }
    char versioned[128];
    int error;
    snprintf(versioned, sizeof versioned, "without %s", name);
    if (fake_fails(versioned, &error)) return error;
    snprintf(versioned, sizeof versioned, "%s_v2", name);
    *function = dlsym(self, versioned);
    if (*function == NULL) {
        *function = dlsym(self, name);
    }
    if (status != NULL) {
        *status = *function == NULL;
    }
    return *function != NULL ? SUCCESS : NOT_FOUND;
}
