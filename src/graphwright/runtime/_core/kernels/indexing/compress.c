/* The elements of contiguous tensors where a mask of their shape holds, and the places where
 * something is not 0, on all threads: blocks are counted, and each then writes behind those before
 * it. Every element is written, and the place moves on where it counts, so nothing is guessed.
 * Both bounds are kept, those of the block and of its count: another thread may write the mask. */
#include "native.h"
#include "pool.h"

enum { BLOCK = 64 << 10 };

typedef struct {
    const char *in;             /* of masked_select */
    const uint8_t *mask;
    int64_t n;
    int64_t *starts;            /* of the blocks; first how many of each count */
    char *out;
    int64_t total;              /* of all blocks */
    int ndim, itemsize;         /* of the places; of the elements */
    int64_t sizes[GW_MAX_DIMS];
} Job;

GW_VECTORISED static int64_t count_block(const uint8_t *mask, int64_t n) {
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++) {
        total += mask[i] != 0;
    }
    return total;
}

/* Elements of the block that begins there. */
static int64_t block_size(const Job *job, int64_t from) {
    return job->n - from < BLOCK ? job->n - from : BLOCK;
}

static void count(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    for (int64_t block = begin; block < end; block++) {
        int64_t from = block * BLOCK;
        job->starts[block] = count_block(job->mask + from, block_size(job, from));
    }
}

/* Whether the next eight elements of the mask are all 0. */
static bool none_of_eight(const uint8_t *mask) {
    uint64_t eight;
    memcpy(&eight, mask, sizeof eight);
    return eight == 0;
}

#define SELECT(name, T)                                                                    \
    static void name(const Job *job, int64_t from, int64_t left, int64_t to) {             \
        const T *in = (const T *)(const void *)job->in + from;                             \
        T *out = (T *)(void *)job->out + to;                                               \
        const uint8_t *mask = job->mask + from;                                            \
        int64_t n = block_size(job, from);                                                 \
        for (int64_t i = 0; i < n && left > 0; i++) {                                      \
            int64_t taken = mask[i] != 0;                                                  \
            *out = in[i];                                                                  \
            out += taken;                                                                  \
            left -= taken;                                                                 \
        }                                                                                  \
    }

SELECT(select8, uint8_t)
SELECT(select16, uint16_t)
SELECT(select32, uint32_t)
SELECT(select64, uint64_t)

static void (*const selects[])(const Job *, int64_t, int64_t, int64_t) = {
    select8, select16, select32, select64,
};

/* The places in one row of the last dim, whose other indices are `outer`, from `at` on. */
static int64_t write_row(const Job *job, const uint8_t *mask, int64_t *left, int64_t first,
                         int64_t n, const int64_t *outer, int64_t at) {
    int64_t *out = (int64_t *)(void *)job->out, last = job->ndim - 1, begin = at;
    for (int64_t i = 0; i < n && *left > 0; i++) {
        if (i + 8 <= n && none_of_eight(mask + i)) {
            i += 7;
            continue;
        }
        out[last * job->total + at] = first + i;
        int64_t taken = mask[i] != 0;
        at += taken;
        *left -= taken;
    }
    for (int d = 0; d < last; d++) {
        for (int64_t k = begin; k < at; k++) {
            out[d * job->total + k] = outer[d];
        }
    }
    return at;
}

static void write_places(const Job *job, int64_t from, int64_t left, int64_t at) {
    int64_t index[GW_MAX_DIMS], rest = from, end = from + block_size(job, from);
    int last = job->ndim - 1;
    for (int d = last; d >= 0; d--) {
        index[d] = rest % job->sizes[d];
        rest /= job->sizes[d];
    }
    while (left > 0 && from < end) {
        int64_t n = job->sizes[last] - index[last];
        n = n < end - from ? n : end - from;
        at = write_row(job, job->mask + from, &left, index[last], n, index, at);
        from += n;
        index[last] = 0;
        for (int d = last - 1; d >= 0 && ++index[d] == job->sizes[d]; d--) {
            index[d] = 0;
        }
    }
}

static void write_blocks(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    for (int64_t block = begin; block < end; block++) {
        int64_t start = job->starts[block], left = job->starts[block + 1] - start;
        if (job->in != NULL) {
            selects[__builtin_ctz((unsigned)job->itemsize)](job, block * BLOCK, left, start);
        } else {
            write_places(job, block * BLOCK, left, start);
        }
    }
}

/* Counts, then makes the result and fills it: the elements, or their places dim by dim. */
static GwTensor *compressed(PyTypeObject *cls, Job *job, int dtype) {
    int64_t blocks = (job->n + BLOCK - 1) / BLOCK;
    job->starts = PyMem_RawMalloc((size_t)(blocks + 1) * sizeof *job->starts);
    if (job->starts == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    gw_run_tasks(count, job, blocks, BLOCK);
    for (int64_t block = 0; block < blocks; block++) {
        int64_t own = job->starts[block];
        job->starts[block] = job->total;
        job->total += own;
    }
    job->starts[blocks] = job->total;
    int64_t sizes[2] = {job->total, job->ndim};
    int64_t strides[2] = {1, job->total > 1 ? job->total : 1};
    GwTensor *out = gw_tensor_empty(cls, dtype, job->in != NULL ? 1 : 2, sizes,
                                    job->in != NULL ? NULL : strides);
    if (out != NULL) {
        job->out = out->data;
        gw_run_tasks(write_blocks, job, blocks, BLOCK);
    }
    PyMem_RawFree(job->starts);
    return out;
}

static bool is_mask(const GwTensor *t) {
    return t->dtype == GW_BOOL && (t->flags & GW_CONTIGUOUS) != 0;
}

GwTensor *gw_select_contiguous(PyTypeObject *cls, const GwTensor *in, const GwTensor *mask) {
    if (!is_mask(mask) || (in->flags & GW_CONTIGUOUS) == 0 || in->ndim != mask->ndim
        || memcmp(in->sizes, mask->sizes, (size_t)in->ndim * sizeof(int64_t)) != 0
        || gw_itemsize(in) > 8) {
        return NULL;
    }
    Job job = {.in = in->data, .mask = (const uint8_t *)mask->data, .n = in->numel,
               .itemsize = gw_itemsize(in)};
    return compressed(cls, &job, in->dtype);
}

GwTensor *gw_places_contiguous(PyTypeObject *cls, const GwTensor *mask) {
    if (!is_mask(mask)) {
        return NULL;
    }
    Job job = {.mask = (const uint8_t *)mask->data, .n = mask->numel, .ndim = mask->ndim};
    memcpy(job.sizes, mask->sizes, (size_t)mask->ndim * sizeof(int64_t));
    return compressed(cls, &job, GW_INT64);
}
