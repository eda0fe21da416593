/* The threads that run a loop: for the core's pool, and for that of each packaged model. Each
 * thread has a share of a region's chunks, side by side, so that a loop over what the one before
 * wrote finds it in the cache of the same CPU. Chunks are claimed one by one, and those of a thread
 * that is late are taken by the others, from the far end.
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
    _Atomic uint64_t claims[GW_MOST_THREADS];   /* of each share: end << 32 | next */
    _Atomic uint32_t shares;
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

/* Claims a chunk of a share: the next one, or the last. */
static bool claim(_Atomic uint64_t *share, bool next, uint32_t *chunk) {
    uint64_t word = atomic_load_explicit(share, memory_order_acquire);
    while ((uint32_t)word < (uint32_t)(word >> 32)) {
        uint64_t left = next ? word + 1 : word - ((uint64_t)1 << 32);
        if (atomic_compare_exchange_weak_explicit(share, &word, left, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            *chunk = next ? (uint32_t)word : (uint32_t)(left >> 32);
            return true;
        }
    }
    return false;
}

/* Runs chunks until there are none: of the thread's own share, then of others'. */
static void work(GwWorkers *t, uint32_t self) {
    uint32_t shares = atomic_load(&t->shares), chunk;
    for (uint32_t i = 0; i < shares; i++) {
        while (claim(&t->claims[(self + i) % shares], i == 0, &chunk)) {
            gw_run_chunk(&t->region.split, t->region.body, t->region.closure, chunk);
            if (atomic_fetch_sub(&t->remaining, 1) == 1 && atomic_load(&t->caller_sleeps)) {
                wake(&t->remaining, 1);
            }
        }
    }
}

/* ---- workers ---- */

static bool has_work(GwWorkers *t) {
    uint32_t shares = atomic_load_explicit(&t->shares, memory_order_relaxed);
    for (uint32_t i = 0; i < shares; i++) {
        uint64_t word = atomic_load_explicit(&t->claims[i], memory_order_acquire);
        if ((uint32_t)word < (uint32_t)(word >> 32)) {
            return true;
        }
    }
    return atomic_load(&t->ending);
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
            work(t, (uint32_t)self->index + 1);
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

static void publish(GwWorkers *t, const GwSplit *split, gw_body body, void *closure,
                    int64_t num_threads) {
    int64_t chunks = split->chunks, shares = num_threads < chunks ? num_threads : chunks;
    shares = shares < GW_MOST_THREADS ? shares : GW_MOST_THREADS;
    t->region.body = body;
    t->region.closure = closure;
    t->region.split = *split;
    atomic_store_explicit(&t->remaining, (uint32_t)chunks, memory_order_relaxed);
    atomic_store_explicit(&t->shares, (uint32_t)shares, memory_order_relaxed);
    for (int64_t i = 0; i < shares; i++) {
        int64_t first = chunks * i / shares, end = chunks * (i + 1) / shares;
        atomic_store_explicit(&t->claims[i], (uint64_t)end << 32 | (uint64_t)first,
                              memory_order_release);
    }
    atomic_fetch_add(&t->epoch, 1);
    if (atomic_load(&t->sleeping) > 0) {
        bool surplus = t->started > atomic_load(&t->threads) - 1;   /* may be woken in vain */
        wake(&t->epoch, surplus || chunks > t->started ? t->started : (int)chunks - 1);
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
    publish(t, &split, body, closure, num_threads);
    work(t, 0);
    wait_for_the_rest(t);
    atomic_store(&t->busy, 0);
}

#endif
