/* The thread pool. A region's chunks are claimed one by one from a shared word, so that a worker
 * that wakes up late costs nothing but its share. */
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

enum {
    MAX_THREADS = 1024,
    WORKER_SPIN_NS = 100000,    /* longer than the gap between the kernels of one step */
    CALLER_SPIN_NS = 20000,
};

/* ---- sleeping until a word changes ---- */

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>

static void wait_while(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}
#else
static pthread_mutex_t sleep_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sleep_cond = PTHREAD_COND_INITIALIZER;

static void wait_while(_Atomic uint32_t *word, uint32_t value) {
    pthread_mutex_lock(&sleep_lock);
    while (atomic_load(word) == value) {
        pthread_cond_wait(&sleep_cond, &sleep_lock);
    }
    pthread_mutex_unlock(&sleep_lock);
}

static void wake(_Atomic uint32_t *word, int count) {
    GW_UNUSED(word);
    GW_UNUSED(count);
    pthread_mutex_lock(&sleep_lock);
    pthread_cond_broadcast(&sleep_cond);
    pthread_mutex_unlock(&sleep_lock);
}
#endif

static inline void pause_cpu(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- state ---- */

/* The region that runs. Stable from its publication until `remaining` is 0. */
static struct {
    gw_body body;
    void *closure;
    GwSplit split;
} region;

static _Atomic uint64_t claims;         /* chunks << 32 | next */
static _Atomic uint32_t remaining;      /* chunks not finished */
static _Atomic int caller_sleeps;
static _Atomic uint32_t epoch;          /* changes with each region; workers sleep on it */
static _Atomic int sleeping;
static _Atomic int busy;                /* a thread owns the region */
static _Atomic int threads;             /* 0: not decided yet */
static int workers;                     /* started; changed by the owner only */
static _Thread_local bool inside;

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
    return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : (int)count;
}

int gw_num_threads(void) {
    int n = atomic_load_explicit(&threads, memory_order_relaxed);
    if (n == 0) {
        n = default_threads();
        atomic_store(&threads, n);
    }
    return n;
}

static void run_serially(const GwSplit *split, gw_body body, void *closure) {
    for (int64_t chunk = 0; chunk < split->chunks; chunk++) {
        gw_run_chunk(split, body, closure, chunk);
    }
}

/* Takes chunks until there are none. */
static void work(void) {
    uint64_t word = atomic_load_explicit(&claims, memory_order_acquire);
    for (;;) {
        uint32_t chunks = (uint32_t)(word >> 32), next = (uint32_t)word;
        if (next >= chunks) {
            return;
        }
        if (!atomic_compare_exchange_weak_explicit(&claims, &word, word + 1,
                                                   memory_order_acq_rel, memory_order_acquire)) {
            continue;
        }
        gw_run_chunk(&region.split, region.body, region.closure, next);
        if (atomic_fetch_sub(&remaining, 1) == 1 && atomic_load(&caller_sleeps)) {
            wake(&remaining, 1);
        }
        word = atomic_load_explicit(&claims, memory_order_acquire);
    }
}

/* ---- workers ---- */

static bool has_work(void) {
    uint64_t word = atomic_load_explicit(&claims, memory_order_acquire);
    return (uint32_t)word < (uint32_t)(word >> 32);
}

/* Yields in between: the kernel may have put this worker on the caller's own CPU. */
static void spin_for_work(void) {
    int64_t start = now_ns();
    do {
        for (int i = 0; i < 64; i++) {
            if (has_work()) {
                return;
            }
            pause_cpu();
        }
        sched_yield();
    } while (now_ns() - start < WORKER_SPIN_NS);
}

static void *worker_main(void *argument) {
    int index = (int)(intptr_t)argument;
    inside = true;
    for (;;) {
        bool wanted = index < atomic_load(&threads) - 1;
        if (wanted) {
            work();
            spin_for_work();
        }
        uint32_t seen = atomic_load(&epoch);
        atomic_fetch_add(&sleeping, 1);
        if (!wanted || !has_work()) {
            wait_while(&epoch, seen);
        }
        atomic_fetch_sub(&sleeping, 1);
    }
    return NULL;
}

static void start_workers(int count) {
    while (workers < count) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        int failed = pthread_create(&thread, &attributes, worker_main, (void *)(intptr_t)workers);
        pthread_attr_destroy(&attributes);
        if (failed) {
            return;
        }
        workers++;
    }
}

/* In the child of a fork only the forking thread exists. */
static void reset_after_fork(void) {
    workers = 0;
    atomic_store(&claims, 0);
    atomic_store(&remaining, 0);
    atomic_store(&sleeping, 0);
    atomic_store(&busy, 0);
}

/* ---- regions ---- */

static void wait_for_the_rest(void) {
    int64_t start = now_ns();
    while (atomic_load_explicit(&remaining, memory_order_acquire) != 0) {
        if (now_ns() - start > CALLER_SPIN_NS) {
            atomic_store(&caller_sleeps, 1);
            uint32_t left = atomic_load(&remaining);
            if (left != 0) {
                wait_while(&remaining, left);
            }
            atomic_store(&caller_sleeps, 0);
        } else {
            pause_cpu();
        }
    }
}

static void publish(const GwSplit *split, gw_body body, void *closure) {
    region.body = body;
    region.closure = closure;
    region.split = *split;
    atomic_store_explicit(&remaining, (uint32_t)split->chunks, memory_order_relaxed);
    atomic_store(&claims, (uint64_t)split->chunks << 32);
    atomic_fetch_add(&epoch, 1);
    if (atomic_load(&sleeping) > 0) {
        bool surplus = workers > atomic_load(&threads) - 1;    /* may be woken in vain */
        wake(&epoch, surplus || split->chunks > workers ? workers : (int)split->chunks - 1);
    }
}

void gw_parallel_for(const gw_ctx *ctx, gw_body body, void *closure, int64_t n, int64_t grain) {
    GwSplit split = gw_split(n, grain, ctx->num_threads);
    if (split.chunks <= 1) {
        if (n > 0) {
            body(closure, 0, n);
        }
        return;
    }
    int idle = 0;
    if (inside || ctx->num_threads <= 1 || !atomic_compare_exchange_strong(&busy, &idle, 1)) {
        run_serially(&split, body, closure);
        return;
    }
    start_workers((int)ctx->num_threads - 1);
    inside = true;
    publish(&split, body, closure);
    work();
    wait_for_the_rest();
    inside = false;
    atomic_store(&busy, 0);
}

void gw_context(gw_ctx *ctx) {
    ctx->parallel_for = gw_parallel_for;
    ctx->gemm = gw_gemm;
    ctx->seed = 0;
    ctx->offset = 0;
    ctx->num_threads = gw_num_threads();
    ctx->error_info = NULL;
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
    if (n < 1 || n > MAX_THREADS) {
        return PyErr_Format(PyExc_ValueError, "the number of threads must be 1 to %d, got %ld",
                            MAX_THREADS, n);
    }
    int old = gw_num_threads();
    atomic_store(&threads, (int)n);
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
