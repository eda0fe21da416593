/* Random permutations: the places in the order of random bits, as random/draws.py makes them.
 *
 * The keys are spread evenly, so two rounds of buckets by their highest bits leave about one key
 * in each; the second round runs on all threads, bucket by bucket. */
#include "native.h"
#include "pool.h"

enum { MOST_BITS = 13, LONGEST = 1 << 26 };

typedef struct {
    const uint64_t *keys;       /* in buckets by their first `bits` bits */
    uint64_t *out;
    const int64_t *ends;        /* of the buckets */
    int bits, rest;             /* of the two rounds */
    uint64_t places;            /* the bits of a key that are its place */
} Buckets;

static int bits_of(int64_t n) {
    int bits = 0;
    while (n >> bits != 0) {
        bits++;
    }
    return bits;
}

/* Random bits, their lowest replaced by the places; the sign's bit is turned round, so that signed
 * numbers are in the order of unsigned ones. False with MemoryError, or without an exception where
 * it is no generator. */
static bool draw_keys(PyObject *generator, uint64_t *keys, int64_t n, int bits) {
    static const struct { int drop, shift; } parts[3] = {{8, 40}, {8, 16}, {16, 0}};
    uint32_t *words = PyMem_RawMalloc((size_t)n * sizeof *words);
    if (words == NULL) {
        PyErr_NoMemory();
        return false;
    }
    bool drawn = true;
    for (int part = 0; drawn && part < 3; part++) {
        drawn = gw_draw_words(generator, words, n);
        for (int64_t i = 0; drawn && i < n; i++) {
            uint64_t own = (uint64_t)(words[i] >> parts[part].drop) << parts[part].shift;
            keys[i] = part == 0 ? own : keys[i] | own;
        }
    }
    PyMem_RawFree(words);
    for (int64_t i = 0; drawn && i < n; i++) {
        keys[i] = (keys[i] << bits | (uint64_t)i) ^ (uint64_t)1 << 63;
    }
    return drawn;
}

static void insert(uint64_t *keys, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        int64_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--) {
            keys[at] = keys[at - 1];
        }
        keys[at] = key;
    }
}

/* Where each of the values of `bits` bits below the first `skip` begins; `starts` has one more. */
static void count_starts(const uint64_t *keys, int64_t n, int skip, int bits, int64_t *starts) {
    memset(starts, 0, (((size_t)1 << bits) + 1) * sizeof *starts);
    for (int64_t i = 0; i < n; i++) {
        starts[(keys[i] << skip >> 1 >> (63 - bits)) + 1]++;
    }
    for (int64_t value = 0; value < (int64_t)1 << bits; value++) {
        starts[value + 1] += starts[value];
    }
}

/* `starts` become ends. */
static void distribute(const uint64_t *keys, int64_t n, int skip, int bits, int64_t *starts,
                       uint64_t *out) {
    for (int64_t i = 0; i < n; i++) {
        out[starts[keys[i] << skip >> 1 >> (63 - bits)]++] = keys[i];
    }
}

static void sort_buckets(void *closure, int64_t begin, int64_t end) {
    const Buckets *b = closure;
    int64_t starts[((int64_t)1 << MOST_BITS) + 1];
    for (int64_t bucket = begin; bucket < end; bucket++) {
        int64_t from = bucket == 0 ? 0 : b->ends[bucket - 1], n = b->ends[bucket] - from;
        uint64_t *out = b->out + from;
        count_starts(b->keys + from, n, b->bits, b->rest, starts);
        distribute(b->keys + from, n, b->bits, b->rest, starts, out);
        insert(out, n);
        for (int64_t i = 0; i < n; i++) {
            out[i] &= b->places;
        }
    }
}

/* Replaces the keys by their places in order. False with MemoryError. */
static bool order(uint64_t *keys, int64_t n, int bits) {
    int first = bits / 2, rest = bits - first;
    size_t buckets = (size_t)1 << first;
    uint64_t *moved = PyMem_RawMalloc((size_t)n * sizeof *moved);
    int64_t *starts = PyMem_RawMalloc((buckets + 1) * sizeof *starts);
    bool done = moved != NULL && starts != NULL;
    if (done) {
        Py_BEGIN_ALLOW_THREADS
        count_starts(keys, n, 0, first, starts);
        distribute(keys, n, 0, first, starts, moved);
        Py_END_ALLOW_THREADS
        Buckets b = {.keys = moved, .out = keys, .ends = starts, .bits = first, .rest = rest,
                     .places = ((uint64_t)1 << bits) - 1};
        gw_run_tasks(sort_buckets, &b, (int64_t)buckets, n / (int64_t)buckets);
    } else {
        PyErr_NoMemory();
    }
    PyMem_RawFree(moved);
    PyMem_RawFree(starts);
    return done;
}

/* n, generator, dtype, device */
GW_KERNEL(permutation) {
    int64_t n;
    if (!gw_plain_int(args[0], &n) || n < 0 || n > LONGEST - 1
        || gw_plain_dtype(args[2], GW_INT64) != GW_INT64 || !gw_on_cpu(args[3])) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, 1, &n, NULL);
    if (out != NULL) {
        uint64_t *keys = (uint64_t *)(void *)out->data;
        int bits = bits_of(n);
        if (!draw_keys(args[1], keys, n, bits) || !order(keys, n, bits)) {
            Py_CLEAR(out);
        }
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_shuffle_kernels[] = {
    {"randperm", 4, permutation},
    {NULL, 0, NULL},
};
