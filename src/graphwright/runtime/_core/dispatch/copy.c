/* Copies between tensors of one dtype and any strides, on all threads.
 *
 * Dims are walked in the order of the destination. Where the source is dense along another dim
 * than the destination, both are walked in tiles, so that every cache line is used whole. */
#include "layout.h"
#include "loops.h"
#include "native.h"
#include "pool.h"

enum { TILE = 32, BYTE_TILE = 64, LINE = 64, GRAIN_BYTES = 64 << 10,
       FAR_BYTES = 1 << 20 };

typedef struct {
    int ndim, itemsize;
    int64_t sizes[GW_MAX_DIMS], to[GW_MAX_DIMS], from[GW_MAX_DIMS];   /* strides in bytes */
    char *dst;
    const char *src;
    int across;     /* the dim along which the source is dense, where it is not the last; or -1 */
    int split;      /* the dim that threads share */
    bool far;       /* more than the nearer caches hold */
} Copy;

typedef struct { uint64_t low, high; } Pair;

#define STRIDED(T)                                                      \
    for (int64_t i = 0; i < n; i++, dst += to, src += from) {           \
        *(T *)dst = *(const T *)src;                                    \
    }                                                                   \
    break;

#define REPEAT(T)                                                       \
    {                                                                   \
        T value = *(const T *)src;                                      \
        for (int64_t i = 0; i < n; i++) {                               \
            ((T *)dst)[i] = value;                                      \
        }                                                               \
        break;                                                          \
    }

GW_VECTORISED static void repeat_run(char *dst, const char *src, int64_t n, int size) {
    switch (size) {
    case 1: REPEAT(uint8_t)
    case 2: REPEAT(uint16_t)
    case 4: REPEAT(uint32_t)
    case 8: REPEAT(uint64_t)
    default: REPEAT(Pair)
    }
}

#define REVERSED(T)                                                     \
    for (int64_t i = 0; i < n; i++) {                                   \
        ((T *)(void *)dst)[i] = ((const T *)(const void *)src)[-i];     \
    }                                                                   \
    break;

/* From the last of dense elements to the first. */
GW_VECTORISED static void reverse_run(char *dst, const char *src, int64_t n, int size) {
    switch (size) {
    case 1: REVERSED(uint8_t)
    case 2: REVERSED(uint16_t)
    case 4: REVERSED(uint32_t)
    case 8: REVERSED(uint64_t)
    default: REVERSED(Pair)
    }
}

static void copy_run(char *dst, const char *src, int64_t n, int64_t to, int64_t from, int size) {
    if (to == size && from == size) {
        memcpy(dst, src, (size_t)(n * size));
        return;
    }
    if (to == size && from == 0) {
        repeat_run(dst, src, n, size);
        return;
    }
    if (to == size && from == -size) {
        reverse_run(dst, src, n, size);
        return;
    }
    GwPick pick = to == size ? gw_pick_of(size, from) : NULL;
    if (pick != NULL) {
        pick(src, n, dst);
        return;
    }
    switch (size) {
    case 1: STRIDED(uint8_t)
    case 2: STRIDED(uint16_t)
    case 4: STRIDED(uint32_t)
    case 8: STRIDED(uint64_t)
    default: STRIDED(Pair)
    }
}

/* Squares of 16 x 16 bytes, 8 x 8 elements of 2 and of 4 bytes and 4 x 4 of 8, transposed in
 * registers: rows are interleaved four times or thrice; pairs of elements change places, then pairs
 * of pairs, then halves. */
typedef uint8_t Sixteen __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t Small __attribute__((vector_size(16), aligned(2), may_alias));
typedef uint32_t Eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint64_t Four __attribute__((vector_size(32), aligned(8), may_alias));

#define MIXED(V, a, b, ...) __builtin_shuffle(a, b, (V){__VA_ARGS__})

static inline __attribute__((always_inline)) void
square8(const char *src, int64_t from, uint8_t *to, int64_t step) {
    Sixteen a[16], b[16];
    for (int k = 0; k < 16; k++) {
        a[k] = *(const Sixteen *)(const void *)(src + k * from);
    }
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < 8; k++) {
            b[2 * k] = MIXED(Sixteen, a[k], a[k + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                             22, 7, 23);
            b[2 * k + 1] = MIXED(Sixteen, a[k], a[k + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                 13, 29, 14, 30, 15, 31);
        }
        memcpy(a, b, sizeof a);
    }
    for (int k = 0; k < 16; k++) {
        *(Sixteen *)(to + k * step) = a[k];
    }
}

static inline __attribute__((always_inline)) void
square16(const char *src, int64_t from, uint16_t *to, int64_t step) {
    Small a[8], b[8];
    for (int k = 0; k < 8; k++) {
        a[k] = *(const Small *)(const void *)(src + k * from);
    }
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < 4; k++) {
            b[2 * k] = MIXED(Small, a[k], a[k + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            b[2 * k + 1] = MIXED(Small, a[k], a[k + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        memcpy(a, b, sizeof a);
    }
    for (int k = 0; k < 8; k++) {
        *(Small *)(to + k * step) = a[k];
    }
}

static inline __attribute__((always_inline)) void
square32(const char *src, int64_t from, uint32_t *to, int64_t step) {
    Eight a[8], b[8];
    for (int k = 0; k < 8; k++) {
        a[k] = *(const Eight *)(const void *)(src + k * from);
    }
    for (int k = 0; k < 8; k += 2) {
        b[k] = MIXED(Eight, a[k], a[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        b[k + 1] = MIXED(Eight, a[k], a[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int k = 0; k < 8; k += 4) {
        for (int j = 0; j < 2; j++) {
            a[k + 2 * j] = MIXED(Eight, b[k + j], b[k + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            a[k + 2 * j + 1] = MIXED(Eight, b[k + j], b[k + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    for (int k = 0; k < 4; k++) {
        *(Eight *)(to + k * step) = MIXED(Eight, a[k], a[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        *(Eight *)(to + (k + 4) * step) = MIXED(Eight, a[k], a[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

static inline __attribute__((always_inline)) void
square64(const char *src, int64_t from, uint64_t *to, int64_t step) {
    Four a[4], b[4];
    for (int k = 0; k < 4; k++) {
        a[k] = *(const Four *)(const void *)(src + k * from);
    }
    for (int k = 0; k < 4; k += 2) {
        b[k] = MIXED(Four, a[k], a[k + 1], 0, 4, 2, 6);
        b[k + 1] = MIXED(Four, a[k], a[k + 1], 1, 5, 3, 7);
    }
    for (int k = 0; k < 2; k++) {
        *(Four *)(to + k * step) = MIXED(Four, b[k], b[k + 2], 0, 1, 4, 5);
        *(Four *)(to + (k + 2) * step) = MIXED(Four, b[k], b[k + 2], 2, 3, 6, 7);
    }
}

/* Asks for so many rows of so many bytes: no processor guesses that the next line is a row away. */
static inline __attribute__((always_inline)) void
ask_for(const char *at, int64_t rows, int64_t step, int64_t bytes, const int write) {
    for (int64_t i = 0; i < rows && step >= LINE; i++, at += step) {
        for (int64_t byte = 0; byte < bytes; byte += LINE) {
            if (write) {
                __builtin_prefetch(at + byte, 1);
            } else {
                __builtin_prefetch(at + byte);
            }
        }
    }
}

/* Through a small buffer, so that each line of either side is touched once: rows that lie a power
 * of two apart share their place in the caches. SQUARE fills a part of it of `edge` x `edge`. */
#define TRANSPOSE(T, TILE, edge, SQUARE)                                                    \
    {                                                                                       \
        T block[TILE][TILE + 1];                                                            \
        int64_t columns_done = columns - columns % (edge), rows_done = rows - rows % (edge); \
        for (int64_t k = 0; k < columns_done; k += (edge)) {                                \
            for (int64_t i = 0; i < rows_done; i += (edge)) {                               \
                SQUARE(src + k * from + i * (int64_t)sizeof(T), from, &block[i][k], TILE + 1); \
            }                                                                               \
        }                                                                                   \
        for (int64_t k = 0; k < columns; k++) {                                             \
            const T *s = (const T *)(src + k * from);                                       \
            for (int64_t i = k < columns_done ? rows_done : 0; i < rows; i++) {             \
                block[i][k] = s[i];                                                         \
            }                                                                               \
        }                                                                                   \
        for (int64_t i = 0; i < rows; i++) {                                                \
            memcpy(dst + i * to, block[i], (size_t)columns * sizeof(T));                    \
        }                                                                                   \
        break;                                                                              \
    }

/* The same without such squares: none fits into a tile. */
#define NO_SQUARE(src, from, to, step) ((void)(to))
#define PLAIN_TRANSPOSE(T) TRANSPOSE(T, TILE, TILE + 1, NO_SQUARE)

/* rows x columns: the destination is dense along columns, the source along rows. `ahead` columns
 * follow in the next tile; -1 where both are near. */
GW_VECTORISED static void tile(char *dst, const char *src, int64_t rows, int64_t columns,
                               int64_t ahead, int64_t to, int64_t from, int size) {
    ask_for(dst, ahead < 0 ? 0 : rows, to, columns * size, 1);
    ask_for(src + columns * from, ahead, from, rows * size, 0);
    switch (size) {
    case 1: TRANSPOSE(uint8_t, BYTE_TILE, 16, square8)
    case 2: TRANSPOSE(uint16_t, TILE, 8, square16)
    case 4: TRANSPOSE(uint32_t, TILE, 8, square32)
    case 8: TRANSPOSE(uint64_t, TILE, 4, square64)
    default: PLAIN_TRANSPOSE(Pair)
    }
}

static int64_t at_most(int64_t n, int64_t most) { return n < most ? n : most; }

static void copy_plane(const Copy *c, const int64_t *sizes, char *dst, const char *src) {
    int a = c->across, last = c->ndim - 1;
    int64_t edge = c->itemsize == 1 ? BYTE_TILE : TILE;
    for (int64_t i = 0; i < sizes[a]; i += edge) {
        int64_t rows = at_most(sizes[a] - i, edge);
        for (int64_t k = 0; k < sizes[last]; k += edge) {
            int64_t columns = at_most(sizes[last] - k, edge);
            int64_t ahead = c->far ? at_most(sizes[last] - k - columns, edge) : -1;
            tile(dst + i * c->to[a] + k * c->to[last], src + i * c->from[a] + k * c->from[last],
                 rows, columns, ahead, c->to[a], c->from[last], c->itemsize);
        }
    }
}

static void copy_part(void *closure, int64_t begin, int64_t end) {
    const Copy *c = closure;
    int64_t sizes[GW_MAX_DIMS], place[GW_MAX_DIMS] = {0};
    memcpy(sizes, c->sizes, sizeof sizes);
    sizes[c->split] = end - begin;
    char *dst = c->dst + begin * c->to[c->split];
    const char *src = c->src + begin * c->from[c->split];
    int last = c->ndim - 1;
    for (;;) {
        if (c->across >= 0) {
            copy_plane(c, sizes, dst, src);
        } else {
            copy_run(dst, src, sizes[last], c->to[last], c->from[last], c->itemsize);
        }
        int d = last - 1;
        for (; d >= 0; d--) {
            if (d == c->across) {
                continue;
            }
            dst += c->to[d];
            src += c->from[d];
            if (++place[d] < sizes[d]) {
                break;
            }
            dst -= sizes[d] * c->to[d];
            src -= sizes[d] * c->from[d];
            place[d] = 0;
        }
        if (d < 0) {
            return;
        }
    }
}

/* Dims from the destination's slowest to its fastest, without those of size 1, merged. Strides
 * are in elements. */
static void arrange(Copy *c, int ndim, const int64_t *sizes, const int64_t *to_strides,
                    const int64_t *from_strides) {
    int order[GW_MAX_DIMS], n = 0;
    for (int d = 0; d < ndim; d++) {
        if (sizes[d] != 1) {
            int at = n++;
            for (; at > 0 && to_strides[order[at - 1]] < to_strides[d]; at--) {
                order[at] = order[at - 1];
            }
            order[at] = d;
        }
    }
    c->ndim = 0;
    for (int i = 0; i < n; i++) {
        int64_t size = sizes[order[i]], to = to_strides[order[i]] * c->itemsize;
        int64_t from = from_strides[order[i]] * c->itemsize;
        int at = c->ndim - 1;
        if (at >= 0 && c->to[at] == to * size && c->from[at] == from * size) {
            c->sizes[at] *= size;
        } else {
            c->sizes[++at] = size;
            c->ndim++;
        }
        c->to[at] = to;
        c->from[at] = from;
    }
    if (c->ndim == 0) {
        c->ndim = 1;
        c->sizes[0] = 1;
        c->to[0] = c->from[0] = c->itemsize;
    }
}

/* Walks a dim from its end. */
static void reverse(Copy *c, int d) {
    c->dst += (c->sizes[d] - 1) * c->to[d];
    c->src += (c->sizes[d] - 1) * c->from[d];
    c->to[d] = -c->to[d];
    c->from[d] = -c->from[d];
}

static void choose(Copy *c, int64_t num_threads) {
    int last = c->ndim - 1;
    c->across = -1;
    for (int d = 0; d < last && c->to[last] == c->itemsize; d++) {
        if (c->from[d] == -c->itemsize) {
            reverse(c, d);
        }
        if (c->from[d] == c->itemsize && c->from[last] != 0 && c->sizes[d] >= 4
            && c->sizes[last] >= 4) {
            c->across = d;
        }
    }
    c->split = last;
    for (int d = 0; d <= last; d++) {
        if (c->sizes[d] >= 4 * num_threads) {
            c->split = d;
            return;
        }
        c->split = c->sizes[d] > c->sizes[c->split] ? d : c->split;
    }
}

static void run(Copy *c, int64_t numel) {
    gw_ctx ctx;
    gw_context(&ctx);
    choose(c, ctx.num_threads);
    int64_t n = c->sizes[c->split], each = numel / n * c->itemsize;
    c->far = n * each >= FAR_BYTES;
    int64_t grain = each >= GRAIN_BYTES ? 1 : GRAIN_BYTES / each;
    if (n <= grain) {
        copy_part(c, 0, n);
    } else {
        gw_parallel_for(&ctx, copy_part, c, n, grain);
    }
}

static bool same_sizes(const GwTensor *a, const GwTensor *b) {
    return a->ndim == b->ndim
           && memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof(int64_t)) == 0;
}

void gw_copy_elements(int ndim, const int64_t *sizes, int itemsize, char *dst,
                      const int64_t *to, const char *src, const int64_t *from) {
    Copy c = {.itemsize = itemsize, .dst = dst, .src = src};
    int64_t numel = 1;
    for (int d = 0; d < ndim; d++) {
        numel *= sizes[d];
    }
    if (numel == 0) {
        return;
    }
    arrange(&c, ndim, sizes, to, from);
    if (numel * itemsize < GRAIN_BYTES) {
        run(&c, numel);
    } else {
        Py_BEGIN_ALLOW_THREADS
        run(&c, numel);
        Py_END_ALLOW_THREADS
    }
}

/* Between tensors of one dtype and shape that share no memory. Needs the GIL. */
static void copy_tensor(GwTensor *dst, const GwTensor *src) {
    gw_copy_elements(dst->ndim, dst->sizes, gw_itemsize(dst), dst->data, dst->strides, src->data,
                     src->strides);
}

static PyObject *copy_strided(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    if (nargs != 2) {
        return PyErr_Format(PyExc_TypeError, "copy_strided(dst, src) got %zd arguments", nargs);
    }
    GwTensor *dst = gw_tensor_arg(args[0]), *src = dst == NULL ? NULL : gw_tensor_arg(args[1]);
    if (src == NULL) {
        return NULL;
    }
    if (dst->data == NULL || src->data == NULL || dst->dtype != src->dtype
        || !same_sizes(dst, src) || dst->storage->readonly) {
        PyErr_SetString(PyExc_TypeError, "copy_strided: the tensors do not fit together");
        return NULL;
    }
    copy_tensor(dst, src);
    Py_RETURN_NONE;
}

GW_KERNEL(copy_) {
    GW_UNUSED(cls);
    GwTensor *dst = gw_plain_tensor(args[0]), *src = gw_plain_tensor(args[1]);
    if (dst == NULL || src == NULL || dst->storage->readonly || gw_repeats_elements(dst)) {
        return NULL;
    }
    bool moves = dst->dtype == src->dtype && same_sizes(dst, src) && dst->storage != src->storage;
    if (moves) {
        copy_tensor(dst, src);
    } else if (!gw_convert_tensor(dst, src)) {
        return NULL;
    }
    dst->storage->version++;
    return Py_NewRef(args[0]);
}

/* A copy in the layout of `strides`, NULL for a contiguous one. */
static PyObject *fresh_copy(PyTypeObject *cls, GwTensor *t, const int64_t *strides) {
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, strides);
    if (out != NULL && (t->flags & out->flags & GW_CONTIGUOUS) != 0
        && t->numel * gw_itemsize(t) < GRAIN_BYTES) {
        memcpy(out->data, t->data, (size_t)(t->numel * gw_itemsize(t)));
    } else if (out != NULL) {
        copy_tensor(out, t);
    }
    return (PyObject *)out;
}

GW_KERNEL(clone_tensor) {
    GwTensor *t = gw_plain_tensor(args[0]);
    int64_t strides[GW_MAX_DIMS];
    if (t == NULL) {
        return NULL;
    }
    bool strided = gw_kept_strides(t, strides);
    return fresh_copy(cls, t, strided ? strides : NULL);
}

/* The elements of one tensor in the layout and dtype of another. */
GW_KERNEL(copy_in_layout) {
    GwTensor *like = gw_plain_tensor(args[0]), *src = gw_plain_tensor(args[1]);
    if (like == NULL || src == NULL || !same_sizes(like, src)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_like(cls, like, like->dtype);
    if (out != NULL && like->dtype == src->dtype) {
        copy_tensor(out, src);
    } else if (out != NULL && !gw_convert_tensor(out, src)) {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}

GW_KERNEL(contiguous) {
    GwTensor *t = gw_plain_tensor(args[0]);
    return t == NULL ? NULL : fresh_copy(cls, t, NULL);
}

const GwKernelEntry gw_copy_kernels[] = {
    {"clone", 1, clone_tensor},
    {"contiguous", 1, contiguous},
    {"copy", 2, copy_in_layout},
    {"copy_", 2, copy_},
    {NULL, 0, NULL},
};

PyMethodDef gw_copy_methods[] = {
    {"copy_strided", (PyCFunction)(void (*)(void))copy_strided, METH_FASTCALL,
     "copy_strided(dst, src): the elements of src into dst, which has its shape and dtype and "
     "shares no memory with it."},
    {NULL, NULL, 0, NULL},
};
