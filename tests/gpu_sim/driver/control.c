/* What tests set: settings and errors on demand. */
#define _GNU_SOURCE
#include "fake.h"

#include <ctype.h>
#include <dlfcn.h>

Config config = {.arch = 80, .devices = 2, .memory = 8L << 30, .version = 13000};
static Config initial;

static struct {
    char name[64];
    long skip, times;           /* calls that pass before, calls that fail (-1: all) */
    int error;
} demands[32];
enum { DEMANDS = sizeof demands / sizeof *demands };
static atomic_bool demanding;
static pthread_mutex_t control_lock = PTHREAD_MUTEX_INITIALIZER;

static const struct { const char *name; long *place; } settings[] = {
#define SETTING(name) {#name, &config.name},
    SETTINGS(SETTING)
#undef SETTING
};
enum { COUNT = sizeof settings / sizeof *settings };

/* The place of a setting, or NULL. */
API long *gpusim_setting(const char *name) {
    for (int i = 0; i < COUNT; i++) {
        if (!strcmp(settings[i].name, name)) {
            return settings[i].place;
        }
    }
    return NULL;
}

API int gpusim_fail(const char *name, long skip, long times, int error) {
    int result = OUT_OF_MEMORY;
    pthread_mutex_lock(&control_lock);
    for (int i = 0; i < DEMANDS && result != SUCCESS; i++) {
        if (demands[i].times == 0) {
            snprintf(demands[i].name, sizeof demands[i].name, "%s", name);
            demands[i].skip = skip, demands[i].times = times, demands[i].error = error;
            demanding = true;
            result = SUCCESS;
        }
    }
    pthread_mutex_unlock(&control_lock);
    return result;
}

int fake_demanded(const char *name) {
    int error = SUCCESS;
    if (!demanding) {
        return SUCCESS;
    }
    pthread_mutex_lock(&control_lock);
    for (int i = 0; i < DEMANDS && error == SUCCESS; i++) {
        if (demands[i].times == 0 || strcmp(demands[i].name, name)) {
            continue;
        }
        if (demands[i].skip > 0) {
            demands[i].skip--;
            continue;
        }
        demands[i].times -= demands[i].times > 0;
        error = demands[i].error;
    }
    pthread_mutex_unlock(&control_lock);
    return error;
}

/* The settings that the process began with, and no errors on demand. */
API void gpusim_restore(void) {
    pthread_mutex_lock(&control_lock);
    config = initial;
    memset(demands, 0, sizeof demands);
    demanding = false;
    pthread_mutex_unlock(&control_lock);
}

/* GPU_SIM_ARCH=90 and so on; GPU_SIM_FAIL=cuMemAlloc_v2:3:1:2,... has name, skip, times, error. */
__attribute__((constructor)) static void read_environment(void) {
    for (int i = 0; i < COUNT; i++) {
        char variable[32] = "GPU_SIM_";
        for (size_t at = 0; settings[i].name[at]; at++) {
            variable[8 + at] = (char)toupper(settings[i].name[at]);
        }
        const char *value = getenv(variable);
        *settings[i].place = value ? strtol(value, NULL, 0) : *settings[i].place;
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
