/* Gathering and scattering: one loop nest for every op that reads or writes by position.
 *
 * The domain is the shape of the picked elements. Memory is walked with strides that are 0 along
 * indexed dims; each index tensor adds `value * step`. Writes to one place keep the domain's
 * row-major order whatever the number of threads: the nest is cut along a dim of the memory itself.
 */
#include "gather_nest.h"
#include "pool.h"

#include <complex.h>
#include <stdatomic.h>

enum { LINES_TO_RESOLVE = 4 };      /* that share their positions */

/* ---- one run of elements with fixed strides ---- */

#define ROW(name, T, STATEMENT)                                                            \
    GW_VECTORISED static void name(const GwWalk *w, char *mem, char *value, int64_t n) {   \
        int64_t ms = w->mem[w->ndim - 1], vs = w->value[w->ndim - 1];                      \
        if (ms == (int64_t)sizeof(T) && vs == (int64_t)sizeof(T)) {                        \
            for (int64_t i = 0; i < n; i++) {                                              \
                T *m = (T *)mem + i, *v = (T *)value + i;                                  \
                STATEMENT;                                                                 \
            }                                                                              \
            return;                                                                        \
        }                                                                                  \
        for (int64_t i = 0; i < n; i++, mem += ms, value += vs) {                          \
            T *m = (T *)mem, *v = (T *)value;                                              \
            STATEMENT;                                                                     \
        }                                                                                  \
    }

typedef struct { uint64_t low, high; } Pair;

#define MOVES(T, suffix)                 \
    ROW(read_##suffix, T, *v = *m)       \
    ROW(store_##suffix, T, *m = *v)

MOVES(uint8_t, 1)
MOVES(uint16_t, 2)
MOVES(uint32_t, 4)
MOVES(uint64_t, 8)
MOVES(Pair, 16)

/* A nan wins, as in maximum and minimum. */
#define ORDERED(T, suffix)                                     \
    ROW(max_##suffix, T, *m = *v > *m || *v != *v ? *v : *m)   \
    ROW(min_##suffix, T, *m = *v < *m || *v != *v ? *v : *m)
#define ARITHMETIC(T, U, suffix)                               \
    ROW(add_##suffix, T, *m = (T)((U)*m + (U)*v))              \
    ROW(mul_##suffix, T, *m = (T)((U)*m * (U)*v))

ROW(or_bool, uint8_t, *m = *m | *v)
ROW(and_bool, uint8_t, *m = *m & *v)
ARITHMETIC(uint8_t, unsigned, u8) ORDERED(uint8_t, u8)
ARITHMETIC(int8_t, unsigned, i8) ORDERED(int8_t, i8)
ARITHMETIC(uint16_t, unsigned, u16) ORDERED(uint16_t, u16)
ARITHMETIC(int16_t, unsigned, i16) ORDERED(int16_t, i16)
ARITHMETIC(uint32_t, uint32_t, u32) ORDERED(uint32_t, u32)
ARITHMETIC(int32_t, uint32_t, i32) ORDERED(int32_t, i32)
ARITHMETIC(uint64_t, uint64_t, u64) ORDERED(uint64_t, u64)
ARITHMETIC(int64_t, uint64_t, i64) ORDERED(int64_t, i64)
ARITHMETIC(float, float, f32) ORDERED(float, f32)
ARITHMETIC(double, double, f64) ORDERED(double, f64)
ROW(add_c64, float complex, *m += *v)
ROW(mul_c64, float complex, *m *= *v)
ROW(add_c128, double complex, *m += *v)
ROW(mul_c128, double complex, *m *= *v)

#define NUMERIC(suffix) {add_##suffix, mul_##suffix, max_##suffix, min_##suffix}

static const GwRow accumulators[GW_NUM_DTYPES][4] = {
    [GW_BOOL] = {or_bool, and_bool, or_bool, and_bool},
    [GW_UINT8] = NUMERIC(u8), [GW_INT8] = NUMERIC(i8),
    [GW_UINT16] = NUMERIC(u16), [GW_INT16] = NUMERIC(i16),
    [GW_UINT32] = NUMERIC(u32), [GW_INT32] = NUMERIC(i32),
    [GW_UINT64] = NUMERIC(u64), [GW_INT64] = NUMERIC(i64),
    [GW_FLOAT32] = NUMERIC(f32), [GW_FLOAT64] = NUMERIC(f64),
    [GW_COMPLEX64] = {add_c64, mul_c64, NULL, NULL},
    [GW_COMPLEX128] = {add_c128, mul_c128, NULL, NULL},
};

GwRow gw_pick_row(int pick, int dtype) {
    static const GwRow moves[5][2] = {
        {read_1, store_1}, {read_2, store_2}, {read_4, store_4}, {read_8, store_8},
        {read_16, store_16},
    };
    if (pick > GW_PICK_STORE) {
        return accumulators[dtype][pick - GW_PICK_ADD];
    }
    int size = gw_dtypes[dtype].itemsize, log = 0;
    while ((1 << log) < size) {
        log++;
    }
    return moves[log][pick];
}

/* ---- the nest ---- */

typedef struct {
    char *mem, *value;
    const char *at[GW_MAX_DIMS];    /* of each index tensor */
} Cursor;

static void fail(const GwWalk *w, int64_t position, int which) {
    if (atomic_exchange(w->failed, 1) == 0) {
        w->error[0] = position;
        w->error[1] = which;
    }
}

/* The bytes that index tensor k adds for its value at `at`; false out of range. */
static inline bool resolve(const GwWalk *w, int k, const char *at, int64_t *bytes) {
    const GwIndex *index = &w->indices[k];
    if (index->resolved) {
        *bytes += *(const int64_t *)at;
        return true;
    }
    int64_t given = index->wide ? *(const int64_t *)at : *(const int32_t *)at;
    int64_t position = given < 0 && w->wrap ? given + index->size : given;
    if ((uint64_t)position >= (uint64_t)index->size) {
        fail(w, given, k);
        return false;
    }
    *bytes += position * index->step;
    return true;
}

static bool whole_row(const GwWalk *w, const Cursor *c, int64_t n) {
    int64_t bytes = 0;
    for (int k = 0; k < w->count; k++) {
        if (!resolve(w, k, c->at[k], &bytes)) {
            return false;
        }
    }
    w->row(w, c->mem + bytes, c->value, n);
    return true;
}

static bool each_alone(const GwWalk *w, const Cursor *c, int64_t n) {
    int last = w->ndim - 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t bytes = i * w->mem[last];
        for (int k = 0; k < w->count; k++) {
            if (!resolve(w, k, c->at[k] + i * w->indices[k].strides[last], &bytes)) {
                return false;
            }
        }
        w->row(w, c->mem + bytes, c->value + i * w->value[last], 1);
    }
    return true;
}

/* Elements whose positions differ, through one int64 index: the usual case. */
#define EACH(name, T, STATEMENT)                                                           \
    static bool name(const GwWalk *w, const Cursor *c, int64_t n) {                        \
        const GwIndex *index = w->indices;                                                 \
        int last = w->ndim - 1;                                                            \
        int64_t stride = index->strides[last], ms = w->mem[last], vs = w->value[last];     \
        const char *at = c->at[0];                                                         \
        char *mem = c->mem, *value = c->value;                                             \
        if (index->resolved && ms == 0 && vs == (int64_t)sizeof(T)) {                      \
            const int64_t *bytes = (const int64_t *)(const void *)at;                      \
            _Pragma("GCC unroll 4")                                                        \
            for (int64_t i = 0; i < n; i++) {                                              \
                T *m = (T *)(mem + bytes[i]), *v = (T *)value + i;                         \
                STATEMENT;                                                                 \
            }                                                                              \
            return true;                                                                   \
        }                                                                                  \
        if (index->resolved) {                                                             \
            return each_alone(w, c, n);                                                    \
        }                                                                                  \
        for (int64_t i = 0; i < n; i++, at += stride, mem += ms, value += vs) {            \
            int64_t given = *(const int64_t *)at;                                          \
            int64_t position = given < 0 && w->wrap ? given + index->size : given;         \
            if ((uint64_t)position >= (uint64_t)index->size) {                             \
                fail(w, given, 0);                                                         \
                return false;                                                              \
            }                                                                              \
            T *m = (T *)(mem + position * index->step), *v = (T *)value;                   \
            STATEMENT;                                                                     \
        }                                                                                  \
        return true;                                                                       \
    }
#define EACH_MOVE(T, suffix)                      \
    EACH(read_each_##suffix, T, *v = *m)          \
    EACH(store_each_##suffix, T, *m = *v)

EACH_MOVE(uint8_t, 1)
EACH_MOVE(uint16_t, 2)
EACH_MOVE(uint32_t, 4)
EACH_MOVE(uint64_t, 8)
EACH_MOVE(Pair, 16)
EACH(add_each_f32, float, *m += *v)
EACH(add_each_f64, double, *m += *v)
EACH(add_each_i64, uint64_t, *m += *v)

typedef bool (*Each)(const GwWalk *w, const Cursor *c, int64_t n);

/* NULL where elements take the general way. */
static Each each_of(const GwWalk *w) {
    static const Each moves[5][2] = {
        {read_each_1, store_each_1}, {read_each_2, store_each_2}, {read_each_4, store_each_4},
        {read_each_8, store_each_8}, {read_each_16, store_each_16},
    };
    static const Each adding[GW_NUM_DTYPES] = {
        [GW_FLOAT32] = add_each_f32, [GW_FLOAT64] = add_each_f64, [GW_INT64] = add_each_i64,
    };
    if (w->count != 1 || !w->indices[0].wide || w->pick > GW_PICK_ADD) {
        return NULL;
    }
    return w->pick == GW_PICK_ADD ? adding[w->dtype] : moves[__builtin_ctz((unsigned)w->itemsize)]
                                                            [w->pick];
}

static bool run_row(const GwWalk *w, const Cursor *c, int64_t n) {
    int last = w->ndim - 1;
    bool fixed = true;
    for (int k = 0; k < w->count; k++) {
        fixed = fixed && w->indices[k].strides[last] == 0;
    }
    if (fixed) {
        return whole_row(w, c, n);
    }
    Each each = each_of(w);
    return (each != NULL ? each : each_alone)(w, c, n);
}

static void move(const GwWalk *w, Cursor *c, int dim, int64_t by) {
    c->mem += by * w->mem[dim];
    c->value += by * w->value[dim];
    for (int k = 0; k < w->count; k++) {
        c->at[k] += by * w->indices[k].strides[dim];
    }
}

/* Indices begin..end of the shared dim; the others in full. */
static void run_part(void *closure, int64_t begin, int64_t end) {
    const GwWalk *w = closure;
    int64_t sizes[GW_MAX_DIMS], place[GW_MAX_DIMS] = {0};
    int last = w->ndim - 1;
    Cursor c = {.mem = w->memory, .value = w->values};
    for (int k = 0; k < w->count; k++) {
        c.at[k] = w->indices[k].data;
    }
    memcpy(sizes, w->sizes, sizeof sizes);
    if (w->split >= 0) {
        sizes[w->split] = end - begin;
        move(w, &c, w->split, begin);
    }
    for (;;) {
        if (!run_row(w, &c, sizes[last])) {
            return;
        }
        int d = last - 1;
        for (; d >= 0; d--) {
            move(w, &c, d, 1);
            if (++place[d] < sizes[d]) {
                break;
            }
            move(w, &c, d, -sizes[d]);
            place[d] = 0;
        }
        if (d < 0) {
            return;
        }
    }
}

/* ---- setting up ---- */

static bool mergeable(const GwWalk *w, int a, int b) {
    if (w->mem[a] != w->mem[b] * w->sizes[b] || w->value[a] != w->value[b] * w->sizes[b]) {
        return false;
    }
    for (int k = 0; k < w->count; k++) {
        if (w->indices[k].strides[a] != w->indices[k].strides[b] * w->sizes[b]) {
            return false;
        }
    }
    return true;
}

static void copy_dim(GwWalk *w, int to, int from) {
    w->sizes[to] = w->sizes[from];
    w->mem[to] = w->mem[from];
    w->value[to] = w->value[from];
    for (int k = 0; k < w->count; k++) {
        w->indices[k].strides[to] = w->indices[k].strides[from];
    }
}

/* Drops dims of size 1 and merges neighbours that are walked as one. */
static void coalesce(GwWalk *w) {
    int kept = 0;
    for (int d = 0; d < w->ndim; d++) {
        if (w->sizes[d] == 1) {
            continue;
        }
        if (kept > 0) {
            int64_t outer = w->sizes[kept - 1];
            copy_dim(w, kept, d);
            if (mergeable(w, kept - 1, kept)) {
                copy_dim(w, kept - 1, kept);
                w->sizes[kept - 1] *= outer;
                continue;
            }
        }
        copy_dim(w, kept++, d);
    }
    if (kept == 0) {
        w->sizes[0] = 1;
        w->mem[0] = w->value[0] = 0;
        for (int k = 0; k < w->count; k++) {
            w->indices[k].strides[0] = 0;
        }
        kept = 1;
    }
    w->ndim = kept;
}

/* Reads share any dim; writes only one that no index leads along, so that places which differ in it
 * are different. */
static int shared_dim(const GwWalk *w, int64_t num_threads) {
    int best = -1;
    for (int d = 0; d < w->ndim; d++) {
        if (!w->reads && w->mem[d] == 0) {
            continue;
        }
        if (w->sizes[d] >= 4 * num_threads) {
            return d;
        }
        if (best < 0 || w->sizes[d] > w->sizes[best]) {
            best = d;
        }
    }
    return best;
}

static void run(GwWalk *w, int64_t numel) {
    gw_ctx ctx;
    gw_context(&ctx);
    w->split = shared_dim(w, ctx.num_threads);
    int64_t n = w->split < 0 ? 1 : w->sizes[w->split];
    int64_t each = numel / n, grain = each >= 16384 ? 1 : 16384 / each;
    if (w->split < 0 || n <= grain) {
        run_part(w, 0, n);
        return;
    }
    gw_parallel_for(&ctx, run_part, w, n, grain);
}

/* A tuple of ints, `scale` times each. */
static bool scaled(PyObject *tuple, int ndim, int64_t scale, int64_t *out) {
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != ndim) {
        PyErr_SetString(PyExc_TypeError, "pick: a tuple with one int for each dim is expected");
        return false;
    }
    for (int d = 0; d < ndim; d++) {
        int64_t value = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, d));
        if (value == -1 && PyErr_Occurred()) {
            return false;
        }
        out[d] = value * scale;
    }
    return true;
}

/* From (tensor, strides, size, step). */
static bool read_index(PyObject *entry, int ndim, int itemsize, GwIndex *index) {
    if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) != 4) {
        PyErr_SetString(PyExc_TypeError, "pick: an index is (tensor, strides, size, step)");
        return false;
    }
    GwTensor *t = gw_tensor_arg(PyTuple_GET_ITEM(entry, 0));
    if (t == NULL) {
        return false;
    }
    if (t->data == NULL || (t->dtype != GW_INT64 && t->dtype != GW_INT32)) {
        PyErr_SetString(PyExc_TypeError, "pick: an index tensor must be int32 or int64");
        return false;
    }
    index->resolved = false;
    index->data = t->data;
    index->wide = t->dtype == GW_INT64;
    index->size = PyLong_AsLongLong(PyTuple_GET_ITEM(entry, 2));
    index->step = PyLong_AsLongLong(PyTuple_GET_ITEM(entry, 3)) * itemsize;
    return !PyErr_Occurred()
           && scaled(PyTuple_GET_ITEM(entry, 1), ndim, index->wide ? 8 : 4, index->strides);
}

/* Whether each line of the last dim is led by the same positions, and there are several lines. */
static bool repeats_positions(const GwWalk *w) {
    int last = w->ndim - 1;
    bool same = w->count == 1 && w->indices[0].strides[last] != 0;
    int64_t lines = 1;
    for (int d = 0; same && d < last; d++) {
        same = w->indices[0].strides[d] == 0;
        lines *= w->sizes[d];
    }
    return same && lines >= LINES_TO_RESOLVE;
}

/* The bytes that the positions of every line add, in memory that the caller frees, where that pays;
 * NULL otherwise, and where a position is out of range. */
static int64_t *resolve_line(GwWalk *w) {
    int last = w->ndim - 1;
    int64_t n = w->sizes[last];
    int64_t *bytes = repeats_positions(w) ? PyMem_RawCalloc((size_t)n, sizeof *bytes) : NULL;
    GwIndex *index = &w->indices[0];
    for (int64_t i = 0; bytes != NULL && i < n; i++) {
        if (!resolve(w, 0, index->data + i * index->strides[last], &bytes[i])) {
            PyMem_RawFree(bytes);
            return NULL;
        }
    }
    if (bytes != NULL) {
        index->data = (const char *)bytes;
        index->resolved = index->wide = true;
        index->strides[last] = sizeof *bytes;
    }
    return bytes;
}

bool gw_pick(GwWalk *w, int64_t numel, int64_t error[2]) {
    atomic_int failed = 0;
    w->failed = &failed;
    w->error = error;
    coalesce(w);
    if (numel > 16384) {
        Py_BEGIN_ALLOW_THREADS
        int64_t *bytes = resolve_line(w);
        if (!atomic_load(&failed)) {
            run(w, numel);
        }
        PyMem_RawFree(bytes);
        Py_END_ALLOW_THREADS
    } else if (numel > 0) {
        w->split = -1;
        run_part(w, 0, 1);
    }
    return !atomic_load(&failed);
}

static PyObject *pick(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (nargs != 8) {
        return PyErr_Format(PyExc_TypeError, "pick takes 8 arguments, got %zd", nargs);
    }
    int kind = (int)PyLong_AsLong(args[0]);
    GwTensor *memory = gw_tensor_arg(args[2]), *values = gw_tensor_arg(args[4]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    Py_ssize_t ndim = PyTuple_Check(args[1]) ? PyTuple_GET_SIZE(args[1]) : -1;
    Py_ssize_t count = PyTuple_Check(args[6]) ? PyTuple_GET_SIZE(args[6]) : -1;
    if (ndim < 0 || ndim > GW_MAX_DIMS || count < 0 || count > GW_MAX_DIMS || kind < 0
        || kind >= GW_NUM_PICKS || memory->data == NULL || values->data == NULL
        || memory->dtype != values->dtype) {
        PyErr_SetString(PyExc_TypeError, "pick: arguments do not fit together");
        return NULL;
    }
    GwIndex indices[GW_MAX_DIMS];
    int itemsize = gw_itemsize(memory);
    GwWalk w = {.ndim = (int)ndim, .count = (int)count, .itemsize = itemsize, .indices = indices,
              .memory = memory->data, .values = values->data, .split = -1, .reads = kind == GW_PICK_READ,
              .pick = kind, .dtype = memory->dtype,
              .wrap = PyObject_IsTrue(args[7]) == 1, .row = gw_pick_row(kind, memory->dtype)};
    if (w.row == NULL) {
        PyErr_SetString(PyExc_TypeError, "pick: not defined for this dtype");
        return NULL;
    }
    if (!scaled(args[1], w.ndim, 1, w.sizes) || !scaled(args[3], w.ndim, itemsize, w.mem)
        || !scaled(args[5], w.ndim, itemsize, w.value)) {
        return NULL;
    }
    int64_t numel = 1;
    for (int d = 0; d < w.ndim; d++) {
        numel *= w.sizes[d];
    }
    if (numel == 0) {
        Py_RETURN_NONE;
    }
    for (int k = 0; k < w.count; k++) {
        if (!read_index(PyTuple_GET_ITEM(args[6], k), w.ndim, itemsize, &indices[k])) {
            return NULL;
        }
    }
    int64_t error[2] = {0, 0};
    if (!gw_pick(&w, numel, error)) {
        return Py_BuildValue("LL", (long long)error[0], (long long)error[1]);
    }
    Py_RETURN_NONE;
}

PyMethodDef gw_pick_methods[] = {
    {"pick", (PyCFunction)(void (*)(void))pick, METH_FASTCALL,
     "pick(kind, domain, memory, memory_strides, values, value_strides, indices, wrap): for every "
     "element of the domain, values = memory (kind 0), memory = values (1), or memory combined "
     "with values by + (2), * (3), max (4) or min (5), at the memory position that the strides "
     "and the indices give. Strides are in elements; indices are (tensor, strides, size of the "
     "indexed dim, its stride). Returns None, or (position, which index) where one is out of "
     "range; `wrap` lets negative ones count from the end."},
    {NULL, NULL, 0, NULL},
};
