/* What tests set: settings and errors on demand. FakeDriver writes both as they lie here. */
#define _GNU_SOURCE
#include "fake.h"

#include <dlfcn.h>

API Config gpusim_config = {80, 2, 8L << 30, 13000, 0, 0, 0};

API struct {
    char name[48];              /* of a call, or what else can fail */
    long skip, times;           /* calls that pass before, calls that fail (-1: all) */
    long error;
} gpusim_demands[DEMANDS];

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
