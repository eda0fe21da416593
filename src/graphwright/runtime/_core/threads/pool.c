/* The thread pool of the core: one team of workers, and how many threads it has. */
#define _GNU_SOURCE
#include "core.h"
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { GW_MOST_THREADS = 1024 };
#include "workers.h"

static GwWorkers team;

/* ---- how many threads ---- */

static double read_quota(const char *path, const char *format) {
    double quota, period = 100000;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    int n = fscanf(file, format, &quota, &period);
    fclose(file);
    return n >= 1 && quota > 0 && period > 0 ? quota / period : 0;
}

/* CPUs that the control group may use; 0 if there is no limit. */
static double cgroup_cpus(void) {
    double cpus = read_quota("/sys/fs/cgroup/cpu.max", "%lf %lf");
    char line[512], path[600];
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "0::/", 4) == 0) {
            line[strcspn(line, "\n")] = 0;
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", line + 3);
            double own = read_quota(path, "%lf %lf");
            cpus = own > 0 && (cpus == 0 || own < cpus) ? own : cpus;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return cpus > 0 ? cpus : read_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "%lf");
}

static int default_threads(void) {
    const char *setting = getenv("GRAPHWRIGHT_NUM_THREADS");
    long count = setting != NULL ? strtol(setting, NULL, 10) : 0;
    if (count < 1) {
        count = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
        cpu_set_t set;
        if (sched_getaffinity(0, sizeof set, &set) == 0) {
            count = CPU_COUNT(&set);
        }
#endif
        double quota = cgroup_cpus();
        long limit = (long)(quota + 0.999);
        count = quota > 0 && limit < count ? limit : count;
    }
    return count < 1 ? 1 : count > GW_MOST_THREADS ? GW_MOST_THREADS : (int)count;
}

int gw_num_threads(void) {
    int n = atomic_load_explicit(&team.threads, memory_order_relaxed);
    if (n == 0) {
        n = default_threads();
        atomic_store(&team.threads, n);
    }
    return n;
}

/* In the child of a fork only the forking thread exists. */
static void reset_after_fork(void) {
    team.started = 0;
    atomic_store(&team.shares, 0);
    atomic_store(&team.remaining, 0);
    atomic_store(&team.sleeping, 0);
    atomic_store(&team.busy, 0);
}

void gw_parallel_for(const gw_ctx *ctx, gw_body body, void *closure, int64_t n, int64_t grain) {
    run_on_workers(&team, body, closure, n, grain, ctx->num_threads);
}

void gw_context(gw_ctx *ctx) {
    ctx->parallel_for = gw_parallel_for;
    ctx->gemm = gw_gemm_then;
    ctx->seed = 0;
    ctx->offset = 0;
    ctx->num_threads = gw_num_threads();
    ctx->error_info = NULL;
    ctx->routines = NULL;
    ctx->weights = NULL;
}

void gw_run_tasks(gw_body body, void *closure, int64_t tasks, int64_t each) {
    enum { GRAIN = 16 << 10, HOLD_GIL = 8 << 10 };
    if (tasks * each < HOLD_GIL) {
        body(closure, 0, tasks);
        return;
    }
    gw_ctx ctx;
    gw_context(&ctx);
    Py_BEGIN_ALLOW_THREADS
    gw_parallel_for(&ctx, body, closure, tasks, each < GRAIN ? GRAIN / (each + 1) + 1 : 1);
    Py_END_ALLOW_THREADS
}

int gw_pool_init(void) { return pthread_atfork(NULL, NULL, reset_after_fork); }

/* ---- Python ---- */

static PyObject *num_threads(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return PyLong_FromLong(gw_num_threads());
}

static PyObject *set_num_threads(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    long n = PyLong_AsLong(arg);
    if (n == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (n < 1 || n > GW_MOST_THREADS) {
        return PyErr_Format(PyExc_ValueError, "the number of threads must be 1 to %d, got %ld",
                            GW_MOST_THREADS, n);
    }
    int old = gw_num_threads();
    atomic_store(&team.threads, (int)n);
    return PyLong_FromLong(old);
}

typedef struct {
    char *dst;
    const char *src;
} Copy;

/* Vectors of AVX2 through plain loads and stores, as a generated kernel would do it. */
typedef char Line __attribute__((vector_size(32), aligned(1), may_alias));

GW_VECTORISED static void copy_chunk(void *closure, int64_t begin, int64_t end) {
    const Copy *copy = closure;
    int64_t i = begin;
    for (; i + (int64_t)sizeof(Line) <= end; i += sizeof(Line)) {
        Line line = *(const Line *)(copy->src + i);
        __asm__ volatile("" ::: "memory");
        *(Line *)(copy->dst + i) = line;
    }
    for (; i < end; i++) {
        copy->dst[i] = copy->src[i];
    }
}

static PyObject *copy_bytes(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    Py_buffer dst, src;
    if (!PyArg_ParseTuple(args, "w*y*", &dst, &src)) {
        return NULL;
    }
    if (dst.len != src.len) {
        PyErr_SetString(PyExc_ValueError, "dst and src differ in size");
    } else {
        gw_ctx ctx;
        gw_context(&ctx);
        Copy copy = {dst.buf, src.buf};
        Py_BEGIN_ALLOW_THREADS
        gw_parallel_for(&ctx, copy_chunk, &copy, dst.len, 32 << 10);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&dst);
    PyBuffer_Release(&src);
    if (PyErr_Occurred()) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef gw_pool_methods[] = {
    {"num_threads", num_threads, METH_NOARGS, "Threads that kernels run on."},
    {"set_num_threads", set_num_threads, METH_O, "Returns the previous number."},
    {"copy_bytes", copy_bytes, METH_VARARGS,
     "copy_bytes(dst, src): copy on all threads with plain vector loads and stores (none past "
     "the caches); the yardstick of the benchmarks."},
    {NULL, NULL, 0, NULL},
};
