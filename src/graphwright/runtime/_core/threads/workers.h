/* The threads that run a loop: for the core's pool, and for that of each packaged model. A region's
 * chunks are claimed one by one from a shared word, so that a worker that wakes up late costs nothing
 * but its share.
 *
 * Included behind the declarations of abi.h, with GW_MOST_THREADS defined. */
#ifndef GRAPHWRIGHT_WORKERS_H
#define GRAPHWRIGHT_WORKERS_H

#include "split.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum {
    WORKER_SPIN_NS = 20000,     /* longer than the gap between most kernels of one step */
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
    (void)word, (void)count;
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

typedef struct GwWorkers GwWorkers;

typedef struct {
    GwWorkers *team;
    int index;
    pthread_t thread;
} GwWorker;

struct GwWorkers {
    /* The region that runs. Stable from its publication until `remaining` is 0. */
    struct {
        gw_body body;
        void *closure;
        GwSplit split;
    } region;
    _Atomic uint64_t claims;        /* chunks << 32 | next */
    _Atomic uint32_t remaining;     /* chunks not finished */
    _Atomic int caller_sleeps;
    _Atomic uint32_t epoch;         /* changes with each region; workers sleep on it */
    _Atomic int sleeping;
    _Atomic int busy;               /* a thread owns the region */
    _Atomic int threads;            /* wanted, the caller among them; 0: not decided yet */
    _Atomic bool ending;
    int started;                    /* workers; changed by the owner only */
    GwWorker worker[GW_MOST_THREADS];
};

static void run_serially(const GwSplit *split, gw_body body, void *closure) {
    for (int64_t chunk = 0; chunk < split->chunks; chunk++) {
        gw_run_chunk(split, body, closure, chunk);
    }
}

/* Takes chunks until there are none. */
static void work(GwWorkers *t) {
    uint64_t word = atomic_load_explicit(&t->claims, memory_order_acquire);
    for (;;) {
        uint32_t chunks = (uint32_t)(word >> 32), next = (uint32_t)word;
        if (next >= chunks) {
            return;
        }
        if (!atomic_compare_exchange_weak_explicit(&t->claims, &word, word + 1,
                                                   memory_order_acq_rel, memory_order_acquire)) {
            continue;
        }
        gw_run_chunk(&t->region.split, t->region.body, t->region.closure, next);
        if (atomic_fetch_sub(&t->remaining, 1) == 1 && atomic_load(&t->caller_sleeps)) {
            wake(&t->remaining, 1);
        }
        word = atomic_load_explicit(&t->claims, memory_order_acquire);
    }
}

/* ---- workers ---- */

static bool has_work(GwWorkers *t) {
    uint64_t word = atomic_load_explicit(&t->claims, memory_order_acquire);
    return (uint32_t)word < (uint32_t)(word >> 32) || atomic_load(&t->ending);
}

/* Yields in between: the kernel may have put this worker on the caller's own CPU. */
static void spin_for_work(GwWorkers *t) {
    int64_t start = now_ns();
    do {
        for (int i = 0; i < 64; i++) {
            if (has_work(t)) {
                return;
            }
            pause_cpu();
        }
        sched_yield();
    } while (now_ns() - start < WORKER_SPIN_NS);
}

static void *worker_main(void *argument) {
    GwWorker *self = argument;
    GwWorkers *t = self->team;
    while (!atomic_load(&t->ending)) {
        bool wanted = self->index < atomic_load(&t->threads) - 1;
        if (wanted) {
            work(t);
            spin_for_work(t);
        }
        uint32_t seen = atomic_load(&t->epoch);
        atomic_fetch_add(&t->sleeping, 1);
        if ((!wanted && !atomic_load(&t->ending)) || !has_work(t)) {
            wait_while(&t->epoch, seen);
        }
        atomic_fetch_sub(&t->sleeping, 1);
    }
    return NULL;
}

static void start_workers(GwWorkers *t, int count) {
    while (t->started < count && t->started < GW_MOST_THREADS) {
        GwWorker *one = &t->worker[t->started];
        one->team = t;
        one->index = t->started;
        if (pthread_create(&one->thread, NULL, worker_main, one) != 0) {
            return;
        }
        t->started++;
    }
}

/* ---- regions ---- */

static void wait_for_the_rest(GwWorkers *t) {
    int64_t start = now_ns();
    while (atomic_load_explicit(&t->remaining, memory_order_acquire) != 0) {
        if (now_ns() - start > CALLER_SPIN_NS) {
            atomic_store(&t->caller_sleeps, 1);
            uint32_t left = atomic_load(&t->remaining);
            if (left != 0) {
                wait_while(&t->remaining, left);
            }
            atomic_store(&t->caller_sleeps, 0);
        } else {
            pause_cpu();
        }
    }
}

static void publish(GwWorkers *t, const GwSplit *split, gw_body body, void *closure) {
    t->region.body = body;
    t->region.closure = closure;
    t->region.split = *split;
    atomic_store_explicit(&t->remaining, (uint32_t)split->chunks, memory_order_relaxed);
    atomic_store(&t->claims, (uint64_t)split->chunks << 32);
    atomic_fetch_add(&t->epoch, 1);
    if (atomic_load(&t->sleeping) > 0) {
        bool surplus = t->started > atomic_load(&t->threads) - 1;   /* may be woken in vain */
        wake(&t->epoch, surplus || split->chunks > t->started ? t->started
                                                              : (int)split->chunks - 1);
    }
}

/* Runs body over [0, n) in chunks that depend on n, grain and num_threads alone. A region within
 * another one, or beside one of another thread, runs on the thread that calls. */
static void run_on_workers(GwWorkers *t, gw_body body, void *closure, int64_t n, int64_t grain,
                           int64_t num_threads) {
    GwSplit split = gw_split(n, grain, num_threads);
    if (split.chunks <= 1) {
        if (n > 0) {
            body(closure, 0, n);
        }
        return;
    }
    int idle = 0;
    if (num_threads <= 1 || !atomic_compare_exchange_strong(&t->busy, &idle, 1)) {
        run_serially(&split, body, closure);
        return;
    }
    start_workers(t, (int)num_threads - 1);
    publish(t, &split, body, closure);
    work(t);
    wait_for_the_rest(t);
    atomic_store(&t->busy, 0);
}

#endif
