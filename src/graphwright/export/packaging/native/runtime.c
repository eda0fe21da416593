/* What a packaged program needs beside its kernels: weights, checks of arguments, memory, threads and
 * products. The text before this one defines the kernels (`run`, `shapes`) and the tables of the
 * program (GW_...). */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GW_API __attribute__((visibility("default")))

enum { GW_MOST_THREADS = 64, MESSAGE = 256 };
#include "large_blocks.h"
#include "workers.h"

struct GW_MODEL {
    gw_ctx ctx;                 /* first: what kernels are handed */
    GwWorkers team;
    char *mapped;               /* the weights' file, whose pages become this model's when written */
    size_t length;
    char *copies;               /* of weights that cannot stay where they are */
    bool ready;                 /* it has weights */
    char *weight[GW_STATE + 1];
    void *arena;
    size_t arena_bytes;
    void *out[GW_OUTPUTS + 1];  /* memory of results that the caller gave none for */
    size_t out_bytes[GW_OUTPUTS + 1];
    int64_t error_info[4];
    char message[MESSAGE];
};

static int refuse(struct GW_MODEL *m, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(m->message, sizeof m->message, format, args);
    va_end(args);
    return 1;
}

/* ---- threads ---- */

static void parallel_for(const gw_ctx *ctx, gw_body body, void *closure, int64_t n, int64_t grain) {
    GwWorkers *team = &((struct GW_MODEL *)ctx)->team;
    run_on_workers(team, body, closure, n, grain, ctx->num_threads);
}

static void end_workers(GwWorkers *t) {
    atomic_store(&t->ending, true);
    atomic_fetch_add(&t->epoch, 1);
    wake(&t->epoch, t->started);
    for (int i = 0; i < t->started; i++) {
        pthread_join(t->worker[i].thread, NULL);
    }
}

/* ---- products, and convolutions, which are products ---- */

#if GW_PRODUCTS
#if defined(__clang__)
#pragma clang fp contract(fast)
#define NARROW
#elif defined(__SANITIZE_ADDRESS__)
#define NARROW      /* checks and -O3 take minutes to compile */
#else
#define NARROW \
    __attribute__((optimize("O3", "fp-contract=fast", "no-tree-loop-distribute-patterns")))
#endif
#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__SANITIZE_ADDRESS__)
#define HAS_WIDE 1
#define WIDE NARROW
#define gw_has_wide() true      /* the compiler drops the others */
#endif
#define GW_PARALLEL_FOR parallel_for
#include "own_products.h"

static bool by_library(const Product *p) {
    (void)p;
    return false;
}

static int32_t gemm(const gw_ctx *ctx, int32_t dtype, int32_t transa, int32_t transb, int64_t m,
                    int64_t n, int64_t k, double alpha, const void *a, int64_t lda,
                    int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, double beta,
                    void *c, int64_t ldc, int64_t stride_c, int64_t batch, const gw_then *then) {
    Product p = {m, n, k, lda, ldb, ldc, stride_a, stride_b, stride_c, a, b, c, alpha, beta,
                 dtype, transa != 0, transb != 0, false, true, false, NULL, 0, 0};
    multiply_all(ctx, &p, batch, then);
    return 0;
}
#endif

/* ---- weights ---- */

typedef struct {
    const char *name, *entry;   /* the entry of a file's header, up to the places of its data */
    int64_t bytes;
    int item;                   /* bytes of an element */
    bool written;               /* by the program */
} Weight;

static const Weight weights[] = GW_WEIGHTS;
static const char header[] = GW_HEADER;     /* of the file that is saved, its length before it */

static int refuse_file(struct GW_MODEL *m, const char *path, const char *problem, const char *name) {
    return refuse(m, "%s: %s%s", path, problem, name);
}

/* Where the weights lie in a safetensors file; other tensors in it are left alone. */
static int find_weights(struct GW_MODEL *m, const char *path, char *pages, size_t length,
                        char **places) {
    uint64_t text = 0;
    memcpy(&text, pages, length < 8 ? length : 8);
    if (length < 8 || text > length - 8 || text > GW_LONGEST_HEADER) {
        return refuse_file(m, path, "it is no safetensors file", "");
    }
    char *copy = malloc((size_t)text + 1);
    if (copy == NULL) {
        return refuse_file(m, path, "memory does not suffice", "");
    }
    memcpy(copy, pages + 8, (size_t)text);
    copy[text] = 0;
    int failed = 0;
    int64_t room = (int64_t)(length - 8 - text);
    for (int i = 0; i < GW_STATE && !failed; i++) {
        const char *at = strstr(copy, weights[i].entry);
        long long begin = -1, end = -1;
        if (at == NULL) {
            failed = refuse_file(m, path, "its header has no entry of this dtype and shape, "
                                 "written without spaces: ", weights[i].name);
        } else if (sscanf(at + strlen(weights[i].entry), "%lld,%lld]", &begin, &end) != 2
                   || begin < 0 || end > room || end - begin != weights[i].bytes) {
            failed = refuse_file(m, path, "the data lies elsewhere: ", weights[i].name);
        } else {
            places[i] = pages + 8 + text + begin;
        }
    }
    free(copy);
    return failed;
}

/* Copies weights that cannot stay where they are: those that are not aligned to their elements, and in
 * read-only pages those that the program writes. */
static int copy_weights(struct GW_MODEL *m, const char *path, bool read_only, char **places,
                        char **copies) {
    enum { LINE = 64 };
    size_t bytes = 0;
    bool wanted[GW_STATE + 1];
    for (int i = 0; i < GW_STATE; i++) {
        wanted[i] = (read_only && weights[i].written)
                    || (uintptr_t)places[i] % (unsigned)weights[i].item != 0;
        bytes += wanted[i] ? ((size_t)weights[i].bytes + LINE - 1) / LINE * LINE : 0;
    }
    char *at = *copies = bytes == 0 ? NULL : aligned_alloc(LINE, bytes);
    if (bytes > 0 && at == NULL) {
        return refuse_file(m, path, "memory does not suffice", "");
    }
    for (int i = 0; i < GW_STATE; i++) {
        if (wanted[i]) {
            memcpy(at, places[i], (size_t)weights[i].bytes);
            places[i] = at;
            at += ((size_t)weights[i].bytes + LINE - 1) / LINE * LINE;
        }
    }
    return 0;
}

static void drop_weights(struct GW_MODEL *m) {
    if (m->mapped != NULL) {
        munmap(m->mapped, m->length);
    }
    free(m->copies);
    m->mapped = m->copies = NULL;
}

/* The weights of a file in memory take the place of those that the model has. */
static int take_weights(struct GW_MODEL *m, const char *path, char *pages, size_t length,
                        bool read_only) {
    char *places[GW_STATE + 1] = {NULL}, *copies;
    if (find_weights(m, path, pages, length, places) != 0
        || copy_weights(m, path, read_only, places, &copies) != 0) {
        return 1;
    }
    drop_weights(m);
    memcpy(m->weight, places, sizeof places);
    m->copies = copies;
    m->ready = true;
    return 0;
}

static int take_embedded(struct GW_MODEL *m) {
#if GW_EMBEDDED_BYTES
    return take_weights(m, "the library", (char *)gw_embedded, GW_EMBEDDED_BYTES, true);
#else
    return refuse(m, "no path of weights is given");
#endif
}

/* Maps a file of weights; what the program writes stays in this process. */
static int map_weights(struct GW_MODEL *m, const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 8) {
        int failed = refuse_file(m, path, file < 0 ? strerror(errno) : "it is no safetensors file",
                                 "");
        if (file >= 0) {
            close(file);
        }
        return failed;
    }
    size_t length = (size_t)info.st_size;
    char *pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    if (pages == MAP_FAILED) {
        return refuse_file(m, path, strerror(errno), "");
    }
    if (take_weights(m, path, pages, length, false) != 0) {
        munmap(pages, length);
        return 1;
    }
    m->mapped = pages;
    m->length = length;
    return 0;
}

static bool write_all(int file, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t n = write(file, bytes, count);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        bytes += n;
        count -= (size_t)n;
    }
    return true;
}

/* ---- what callers see ---- */

GW_API void GW_NAME(free)(struct GW_MODEL *m) {
    if (m == NULL) {
        return;
    }
    end_workers(&m->team);
    drop_weights(m);
    unmap_block(m->arena, m->arena_bytes);
    for (int i = 0; i < GW_OUTPUTS; i++) {
        unmap_block(m->out[i], m->out_bytes[i]);
    }
    free(m);
}

GW_API int GW_NAME(create)(struct GW_MODEL **made, const char *weights, int threads, uint64_t seed) {
    if (made == NULL) {
        return 1;
    }
    struct GW_MODEL *m = *made = calloc(1, sizeof *m);
    if (m == NULL) {
        return 1;
    }
    threads = threads < 1 ? 1 : threads > GW_MOST_THREADS ? GW_MOST_THREADS : threads;
    m->ctx.parallel_for = parallel_for;
#if GW_PRODUCTS
    m->ctx.gemm = gemm;
#endif
    m->ctx.num_threads = threads;
    m->ctx.seed = seed;
    m->ctx.error_info = m->error_info;
    atomic_store(&m->team.threads, threads);
    return weights == NULL ? take_embedded(m) : map_weights(m, weights);
}

GW_API const char *GW_NAME(error)(const struct GW_MODEL *m) {
    return m == NULL ? "memory does not suffice" : m->message;
}

/* Memory of at least so many bytes, which a vector may begin; false with an error. */
static bool provide(struct GW_MODEL *m, void **place, size_t *have, int64_t bytes) {
    enum { PAGE = 4096 };
    size_t wanted = bytes < 1 ? PAGE : ((size_t)bytes + PAGE - 1) / PAGE * PAGE;
    if (*have < wanted) {
        unmap_block(*place, *have);
        *place = map_block(wanted);
        *have = *place == NULL ? 0 : wanted;
        if (*place != NULL && wanted < HUGE_PAGE) {
            memset(*place, 0, wanted);      /* vectors read lanes that they do not use */
        }
    }
    if (*place == NULL) {
        refuse(m, "memory does not suffice: %lld bytes are needed", (long long)bytes);
    }
    return *place != NULL;
}

GW_API int GW_NAME(run)(struct GW_MODEL *m, const gw_tensor *inputs, gw_tensor *outputs) {
    if (m == NULL) {
        return 1;
    }
    if (!m->ready) {
        return refuse(m, "the model has no weights: creating it has failed");
    }
    if ((GW_INPUTS > 0 && inputs == NULL) || (GW_OUTPUTS > 0 && outputs == NULL)) {
        return refuse(m, "inputs and outputs have to be arrays of gw_tensor");
    }
    static const int ranks[] = GW_RANKS, alignments[] = GW_ALIGNMENTS;
    for (int i = 0; i < GW_INPUTS; i++) {
        if (inputs[i].data == NULL || (ranks[i] > 0 && inputs[i].sizes == NULL)) {
            return refuse(m, "input %d has no data or no sizes", i);
        }
        if (inputs[i].rank != ranks[i]) {
            return refuse(m, "input %d has %d dims, not %d", i, (int)inputs[i].rank, ranks[i]);
        }
        if ((uintptr_t)inputs[i].data % (unsigned)alignments[i] != 0) {
            return refuse(m, "input %d is not aligned to its elements", i);
        }
    }
    int64_t sizes[GW_SYMBOLS + 1], shape[1 + 2 * GW_OUTPUT_DIMS] = GW_SHAPES;
    if (read_sizes(m, inputs, sizes) != 0) {
        return 1;
    }
    shapes(sizes, shape);       /* what depends on sizes */
    void *pointers[GW_POINTERS];
    for (int i = 0; i < GW_STATE; i++) {
        pointers[i < GW_FIRST_INPUT ? i : i + GW_INPUTS] = m->weight[i];
    }
    for (int i = 0; i < GW_INPUTS; i++) {
        pointers[GW_FIRST_INPUT + i] = inputs[i].data;
    }
    static const int out_ranks[] = GW_OUT_RANKS, out_bytes[] = GW_OUT_ITEMS;
    const int64_t *dims = shape + 1;
    for (int i = 0; i < GW_OUTPUTS; i++, dims += 2 * out_ranks[i - 1]) {
        int64_t bytes = out_bytes[i];
        for (int d = 0; d < out_ranks[i]; d++) {
            bytes *= dims[d];
            if (outputs[i].sizes != NULL) {
                outputs[i].sizes[d] = dims[d];
            }
        }
        outputs[i].rank = out_ranks[i];
        if (outputs[i].data == NULL || outputs[i].data == m->out[i]) {
            if (!provide(m, &m->out[i], &m->out_bytes[i], bytes)) {
                return 1;
            }
            outputs[i].data = m->out[i];
        } else if ((uintptr_t)outputs[i].data % (unsigned)out_bytes[i] != 0) {
            return refuse(m, "output %d is not aligned to its elements", i);
        }
        pointers[GW_FIRST_OUTPUT + i] = outputs[i].data;
    }
    if (!provide(m, &m->arena, &m->arena_bytes, shape[0])) {
        return 1;
    }
    pointers[GW_POINTERS - 1] = m->arena;
    int32_t failed = run(&m->ctx, pointers, sizes);
    m->ctx.offset += GW_RNG_OPS;
    if (failed) {
        static const char *const messages[] = GW_MESSAGES;
        return refuse(m, "%s (%lld, with a bound of %lld)", messages[m->error_info[2]],
                      (long long)m->error_info[0], (long long)m->error_info[1]);
    }
    return 0;
}

GW_API int GW_NAME(load)(struct GW_MODEL *m, const char *path) {
    return m == NULL ? 1 : path == NULL ? refuse(m, "no path is given") : map_weights(m, path);
}

GW_API int GW_NAME(save)(struct GW_MODEL *m, const char *path) {
    char temporary[4096];
    if (m == NULL || !m->ready || path == NULL
        || snprintf(temporary, sizeof temporary, "%s.new-XXXXXX", path) >= (int)sizeof temporary) {
        return m == NULL ? 1 : refuse(m, "there is nothing to save, or no path");
    }
    int file = mkstemp(temporary);
    if (file < 0) {
        return refuse(m, "%s: %s", path, strerror(errno));
    }
    bool whole = write_all(file, header, sizeof header - 1);
    static const int order[] = GW_ORDER;
    for (int i = 0; i < GW_STATE && whole; i++) {
        whole = write_all(file, m->weight[order[i]], (size_t)weights[order[i]].bytes);
    }
    whole = whole && fchmod(file, 0644) == 0 && fsync(file) == 0;
    whole = close(file) == 0 && whole && rename(temporary, path) == 0;
    if (!whole) {
        int failed = refuse(m, "%s: %s", path, strerror(errno));
        unlink(temporary);
        return failed;
    }
    return 0;
}
