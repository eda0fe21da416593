/* What tests set and ask: settings, errors on demand, counts of calls. FakeDriver writes the first
 * two as they lie here; the environment has their first values, GPU_SIM_ARCH=90 and so on, and
 * GPU_SIM_FAIL=cuMemAlloc_v2:3:1:2,... of name, skip, times, error. */
#define _GNU_SOURCE
#include "fake.h"

#include <dlfcn.h>

API Config gpusim_config = {80, 2, 8L << 30, 13000, 0, 0, 0};

API struct {
    char name[48];              /* of a call, or what else can fail */
    long skip, times;           /* calls that pass before, calls that fail (-1: all) */
    long error;
} gpusim_demands[DEMANDS];

__attribute__((constructor)) static void read_environment(void) {
    static const char *const names[] = {"ARCH", "DEVICES", "MEMORY", "VERSION", "SEED", "LEGACY",
                                        "NULL"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char variable[32];
        snprintf(variable, sizeof variable, "GPU_SIM_%s", names[i]);
        const char *value = getenv(variable);
        long *setting = (long *)&gpusim_config + i;
        *setting = value ? strtol(value, NULL, 0) : *setting;
    }
    const char *list = getenv("GPU_SIM_FAIL");
    for (int i = 0; list != NULL && i < DEMANDS; i++) {
        sscanf(list, "%47[^:]:%ld:%ld:%ld", gpusim_demands[i].name, &gpusim_demands[i].skip,
               &gpusim_demands[i].times, &gpusim_demands[i].error);
        list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
    }
}

API void gpusim_clear_faults(void) { memset(gpusim_demands, 0, sizeof gpusim_demands); }

int fake_demanded(const char *name) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    long error = SUCCESS;
    for (int i = 0; i < DEMANDS && error == SUCCESS; i++) {
        if (gpusim_demands[i].times == 0 || strcmp(gpusim_demands[i].name, name)) {
            continue;
        }
        pthread_mutex_lock(&lock);
        if (gpusim_demands[i].skip > 0) {
            gpusim_demands[i].skip--;
        } else if (gpusim_demands[i].times != 0) {
            gpusim_demands[i].times -= gpusim_demands[i].times > 0;
            error = gpusim_demands[i].error;
        }
        pthread_mutex_unlock(&lock);
    }
    return (int)error;
}

int fake_enter(Counter *counter) {
    counter->calls++;
    return gpusim_config.null ? SUCCESS : fake_demanded(counter->name);
}

extern Counter __start_counters[], __stop_counters[];

/* Calls since `gpusim_clear_calls`. */
API long gpusim_calls(const char *name) {
    long calls = 0;
    for (Counter *counter = __start_counters; counter < __stop_counters; counter++) {
        calls += strcmp(counter->name, name) ? 0 : counter->calls;
    }
    return calls;
}

API void gpusim_clear_calls(void) {
    for (Counter *counter = __start_counters; counter < __stop_counters; counter++) {
        counter->calls = 0;
    }
}

/* The name with the suffix of its newest version, or the plain name. An error demanded of "without
 * cuLaunchKernel" makes this a driver that lacks cuLaunchKernel. */
API int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                            int *status) {
    ENTER(cuGetProcAddress_v2);
    (void)version, (void)flags, (void)status;
    char text[128];
    snprintf(text, sizeof text, "without %s", name);
    int error = fake_demanded(text);
    if (error) return error;
    Dl_info info;
    dladdr((void *)cuGetProcAddress_v2, &info);
    void *self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    snprintf(text, sizeof text, "%s_v2", name);
    *function = dlsym(self, text);
    *function = *function ? *function : dlsym(self, name);
    dlclose(self);
    return *function != NULL ? SUCCESS : NOT_FOUND;
}
