/* Orders of long lines on all threads: argsort by digits, the first of an order by a heap. Stable;
 * NaN is the greatest. */
#include "sort_orders.h"
#include "pool.h"
#include "vector_math.h"

#include <stdatomic.h>

enum { GRAIN = 16 << 10, FEW = 8 };     /* elements; a heap holds at most a FEWth of a line */

typedef struct Sorting Sorting;

struct Sorting {
    const char *in;
    int64_t *out;
    int64_t n, count;           /* elements of a line, and how many of its order are wanted */
    int64_t inner, itemsize;    /* lines side by side; bytes of an element */
    int64_t step, out_step;     /* from one element of a line to the next: bytes, places */
    bool descending;
    size_t memory;              /* bytes that a line needs */
    void (*line)(const Sorting *s, const char *line, int64_t *out, void *memory);
    atomic_bool failed;
};

/* Unsigned numbers in the order of floats: negative ones are turned over, -0 is 0. */
GW_INLINE uint32_t float_key(float x) {
    uint32_t bits = (uint32_t)gw_bits_float(x + 0.0f);
    uint32_t key = bits ^ (bits >> 31 ? UINT32_MAX : (uint32_t)1 << 31);
    return x != x ? UINT32_MAX : key;
}

GW_INLINE uint64_t double_key(double x) {
    uint64_t bits = (uint64_t)gw_bits_double(x + 0.0);
    uint64_t key = bits ^ (bits >> 63 ? UINT64_MAX : (uint64_t)1 << 63);
    return x != x ? UINT64_MAX : key;
}

#define T float
#define U uint32_t
#define KEY(x) float_key(x)
#define NAME(x) x##_f32
#include "sort_long_kernel.h"
#define T double
#define U uint64_t
#define KEY(x) double_key(x)
#define NAME(x) x##_f64
#include "sort_long_kernel.h"
#define T int32_t
#define U uint32_t
#define KEY(x) ((uint32_t)(x) ^ ((uint32_t)1 << 31))
#define NAME(x) x##_i32
#include "sort_long_kernel.h"
#define T int64_t
#define U uint64_t
#define KEY(x) ((uint64_t)(x) ^ ((uint64_t)1 << 63))
#define NAME(x) x##_i64
#include "sort_long_kernel.h"

/* Lines [begin, end). */
static void run_lines(void *closure, int64_t begin, int64_t end) {
    Sorting *s = closure;
    void *memory = PyMem_RawMalloc(s->memory);
    if (memory == NULL) {
        atomic_store(&s->failed, true);
        return;
    }
    for (int64_t line = begin; line < end; line++) {
        int64_t outer = line / s->inner, within = line % s->inner;
        s->line(s, s->in + (outer * s->n * s->inner + within) * s->itemsize,
                s->out + outer * s->count * s->inner + within, memory);
    }
    PyMem_RawFree(memory);
}

/* What orders a line of the dtype; false where nothing does. */
static bool choose(Sorting *s, int dtype) {
    bool few = s->count > 0 && s->count <= s->n / FEW;
    size_t item = 8;
    switch (dtype) {
        case GW_FLOAT32: s->line = few ? pick_line_f32 : sort_line_f32; break;
        case GW_INT32: s->line = few ? pick_line_i32 : sort_line_i32; break;
        case GW_FLOAT64: s->line = few ? pick_line_f64 : sort_line_f64, item = 16; break;
        case GW_INT64: s->line = few ? pick_line_i64 : sort_line_i64, item = 16; break;
        default: return false;
    }
    s->memory = item * (size_t)(few ? s->count : 2 * s->n);
    return true;
}

PyObject *gw_long_order(PyTypeObject *cls, PyObject *input, PyObject *dim, int64_t count,
                        bool descending) {
    const GwTensor *t = gw_plain_tensor(input);
    int64_t sizes[GW_MAX_DIMS];
    int d;
    if (t == NULL || (t->flags & GW_CONTIGUOUS) == 0 || t->numel == 0
        || !gw_plain_dim(dim, t->ndim, &d) || t->sizes[d] > UINT32_MAX || count > t->sizes[d]) {
        return NULL;
    }
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof(int64_t));
    sizes[d] = count < 0 ? t->sizes[d] : count;
    Sorting s = {.in = t->data, .n = t->sizes[d], .count = sizes[d], .inner = 1,
                 .itemsize = gw_itemsize(t), .descending = descending};
    for (int i = d + 1; i < t->ndim; i++) {
        s.inner *= t->sizes[i];
    }
    s.step = s.inner * s.itemsize;
    s.out_step = s.inner;
    if (!choose(&s, t->dtype)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, t->ndim, sizes, NULL);
    if (out == NULL || s.count == 0) {
        return (PyObject *)out;
    }
    s.out = (int64_t *)(void *)out->data;
    gw_ctx ctx;
    gw_context(&ctx);
    Py_BEGIN_ALLOW_THREADS
    gw_parallel_for(&ctx, run_lines, &s, t->numel / s.n, GRAIN / s.n + 1);
    Py_END_ALLOW_THREADS
    if (atomic_load(&s.failed)) {
        Py_DECREF(out);
        return PyErr_NoMemory();
    }
    return (PyObject *)out;
}
