/* Ops that put elements into other places: flip, roll, rot90, writes through views, take. */
#include "layout.h"
#include "loops.h"
#include "pool.h"
#include "views.h"

/* ---- flip, rot90 ---- */

/* With the marked dims reversed, then dims `a` and `b` exchanged; in the input's layout. */
static PyObject *turned(PyTypeObject *cls, GwTensor *t, const bool *reversed, int a, int b) {
    int64_t to[GW_MAX_DIMS], sizes[GW_MAX_DIMS], from[GW_MAX_DIMS];
    const char *src = t->data;
    if (!gw_kept_strides(t, to)) {
        gw_contiguous(t->sizes, t->ndim, to);
    }
    for (int d = 0; d < t->ndim; d++) {
        from[d] = reversed[d] ? -t->strides[d] : t->strides[d];
        src += reversed[d] && t->numel > 0 ? (t->sizes[d] - 1) * t->strides[d] * gw_itemsize(t) : 0;
        sizes[d] = t->sizes[d];
    }
    if (a != b) {
        int64_t *const each[] = {to, sizes, from};
        for (int i = 0; i < 3; i++) {
            int64_t kept = each[i][a];
            each[i][a] = each[i][b];
            each[i][b] = kept;
        }
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, sizes, to);
    if (out != NULL) {
        gw_copy_elements(t->ndim, sizes, gw_itemsize(t), out->data, to, src, from);
    }
    return (PyObject *)out;
}

GW_KERNEL(flip) {
    GwTensor *t = gw_plain_tensor(args[0]);
    bool reversed[GW_MAX_DIMS] = {false};
    if (t == NULL || !PyTuple_Check(args[1])) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); i++) {
        int d;
        if (!gw_wrapped_dim(PyTuple_GET_ITEM(args[1], i), t->ndim, &d) || reversed[d]) {
            return NULL;
        }
        reversed[d] = true;
    }
    return turned(cls, t, reversed, 0, 0);
}

static PyObject *flipped(PyTypeObject *cls, PyObject *input, int dim) {
    GwTensor *t = gw_plain_tensor(input);
    bool reversed[GW_MAX_DIMS] = {false};
    if (t == NULL || t->ndim <= dim) {
        return NULL;
    }
    reversed[dim] = true;
    return turned(cls, t, reversed, 0, 0);
}

GW_KERNEL(fliplr) { return flipped(cls, args[0], 1); }
GW_KERNEL(flipud) { return flipped(cls, args[0], 0); }

/* input, k, dims */
GW_KERNEL(rot90) {
    GwTensor *t = gw_plain_tensor(args[0]);
    bool reversed[GW_MAX_DIMS] = {false};
    int64_t turns;
    int a, b;
    bool pair = (PyTuple_CheckExact(args[2]) || PyList_CheckExact(args[2]))
                && PySequence_Fast_GET_SIZE(args[2]) == 2;
    if (t == NULL || !pair || !gw_plain_int(args[1], &turns) || t->ndim < 2
        || !gw_wrapped_dim(PySequence_Fast_GET_ITEM(args[2], 0), t->ndim, &a)
        || !gw_wrapped_dim(PySequence_Fast_GET_ITEM(args[2], 1), t->ndim, &b) || a == b) {
        return NULL;
    }
    turns &= 3;
    if (turns == 0 && (t->flags & GW_CONTIGUOUS) == 0) {
        return NULL;
    }
    reversed[a] = turns == 2 || turns == 3;
    reversed[b] = turns == 2 || turns == 1;
    return turned(cls, t, reversed, a, turns % 2 == 1 ? b : a);
}

/* ---- roll ---- */

/* Copies into `dst` what is shifted along dim `d` and those after it: each is cut in two. */
static void roll_dims(const GwTensor *t, const int64_t *shifts, int d, int64_t *sizes,
                      const char *src, char *dst, const int64_t *to) {
    int item = gw_itemsize(t);
    while (d < t->ndim && shifts[d] == 0) {
        d++;
    }
    if (d == t->ndim) {
        gw_copy_elements(t->ndim, sizes, item, dst, to, src, t->strides);
        return;
    }
    int64_t shift = shifts[d], kept = t->sizes[d] - shift;
    sizes[d] = kept;
    roll_dims(t, shifts, d + 1, sizes, src, dst + shift * to[d] * item, to);
    sizes[d] = shift;
    roll_dims(t, shifts, d + 1, sizes, src + kept * t->strides[d] * item, dst, to);
    sizes[d] = t->sizes[d];
}

/* One shift and dim, or as many of both. */
static bool read_shifts(PyObject *shifts, PyObject *dims, const GwTensor *t, int64_t *found) {
    bool many = PyTuple_CheckExact(shifts) || PyList_CheckExact(shifts);
    bool several = PyTuple_CheckExact(dims) || PyList_CheckExact(dims);
    Py_ssize_t count = many ? PySequence_Fast_GET_SIZE(shifts) : 1;
    if (count == 0 || count != (several ? PySequence_Fast_GET_SIZE(dims) : 1)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t shift;
        int d;
        if (!gw_wrapped_dim(several ? PySequence_Fast_GET_ITEM(dims, i) : dims, t->ndim, &d)
            || !gw_plain_int(many ? PySequence_Fast_GET_ITEM(shifts, i) : shifts, &shift)) {
            return false;
        }
        int64_t size = t->sizes[d], rest = (found[d] + shift % size) % size;
        found[d] = rest < 0 ? rest + size : rest;
    }
    return true;
}

/* Of a contiguous tensor, whose elements are one row. */
static PyObject *roll_all(PyTypeObject *cls, const GwTensor *t, PyObject *shifts) {
    int64_t shift;
    bool row = PyTuple_CheckExact(shifts) && PyTuple_GET_SIZE(shifts) == 1;
    if ((t->flags & GW_CONTIGUOUS) == 0
        || !gw_plain_int(row ? PyTuple_GET_ITEM(shifts, 0) : shifts, &shift)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, NULL);
    if (out != NULL) {
        shift = (shift % t->numel + t->numel) % t->numel;
        size_t moved = (size_t)(shift * gw_itemsize(t));
        size_t kept = (size_t)(t->numel * gw_itemsize(t)) - moved;
        memcpy(out->data + moved, t->data, kept);
        memcpy(out->data, t->data + kept, moved);
    }
    return (PyObject *)out;
}

/* input, shifts, dims */
GW_KERNEL(roll) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    int64_t shifts[GW_MAX_DIMS] = {0}, sizes[GW_MAX_DIMS];
    if (t == NULL || t->numel == 0) {
        return NULL;
    }
    if ((t->ndim == 4 || t->ndim == 5) && !gw_row_major(t)) {
        return NULL;        /* an image, whose parts may be joined with the channels last */
    }
    if (args[2] == Py_None) {
        return roll_all(cls, t, args[1]);
    }
    if (!read_shifts(args[1], args[2], t, shifts)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, NULL);
    if (out != NULL) {
        memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof(int64_t));
        roll_dims(t, shifts, 0, sizes, t->data, out->data, out->strides);
    }
    return (PyObject *)out;
}

/* ---- writes through a view: a copy of the input, part of which holds `src` ---- */

static GwTensor *copy_of(PyTypeObject *cls, PyObject *input) {
    GwTensor *t = gw_plain_tensor(input);
    return t == NULL ? NULL : gw_copy_of_row(cls, t);
}

/* Writes `src` to the part, if that is one. */
static PyObject *written(GwTensor *out, const GwView *part, bool is_part, PyObject *source) {
    const GwTensor *src = gw_plain_tensor(source);
    bool fits = is_part && src != NULL && src->dtype == out->dtype && src->ndim == part->ndim
                && memcmp(src->sizes, part->sizes, (size_t)src->ndim * sizeof(int64_t)) == 0;
    if (!fits) {
        Py_XDECREF(out);
        return NULL;
    }
    int64_t skipped = (part->offset - out->offset) * gw_itemsize(out);
    gw_copy_elements(part->ndim, part->sizes, gw_itemsize(out), out->data + skipped,
                     part->strides, src->data, src->strides);
    return (PyObject *)out;
}

/* input, src, dim, start, end, step */
GW_KERNEL(slice_scatter) {
    GwTensor *out = copy_of(cls, args[0]);
    GwView part;
    int d;
    bool found = out != NULL && gw_view_begin(&part, cls, (PyObject *)out)
                 && gw_plain_dim(args[2], out->ndim, &d)
                 && gw_view_slice(&part, d, args[3], args[4], args[5]);
    return written(out, &part, found, args[1]);
}

/* input, src, dim, index */
GW_KERNEL(select_scatter) {
    GwTensor *out = copy_of(cls, args[0]);
    GwView part;
    int d;
    bool found = out != NULL && gw_view_begin(&part, cls, (PyObject *)out)
                 && gw_plain_dim(args[2], out->ndim, &d) && gw_view_select(&part, d, args[3]);
    return written(out, &part, found, args[1]);
}

/* input, src, offset, dim1, dim2 */
GW_KERNEL(diagonal_scatter) {
    GwTensor *out = copy_of(cls, args[0]);
    GwView part;
    bool found = out != NULL && gw_view_begin(&part, cls, (PyObject *)out)
                 && gw_view_diagonal(&part, args[2], args[3], args[4]);
    return written(out, &part, found, args[1]);
}

/* ---- elements by position, which may count from the end ---- */

/* Reads out[o, j, i] = in[o, index[o, j, i], i]; false where a position is out of range. */
static bool read_places(const GwTensor *t, const GwTensor *index, GwTensor *out, int64_t n,
                        int64_t count, int64_t inner) {
    const int64_t *places = (const int64_t *)index->data;
    size_t item = (size_t)gw_itemsize(t);
    for (int64_t at = 0; at < index->numel; at++) {
        int64_t place = places[at] < 0 ? places[at] + n : places[at];
        if (place < 0 || place >= n) {
            return false;
        }
        int64_t from = (at / (count * inner) * n + place) * inner + at % inner;
        memcpy(out->data + (size_t)at * item, t->data + (size_t)from * item, item);
    }
    return true;
}

static bool plain_places(const GwTensor *t, const GwTensor *index) {
    return t != NULL && index != NULL && index->dtype == GW_INT64
           && (t->flags & index->flags & GW_CONTIGUOUS) != 0 && index->numel > 0
           && index->numel <= 4096;
}

static PyObject *of_row(PyTypeObject *cls, const GwTensor *t, const GwTensor *index, int ndim,
                        const int64_t *sizes) {
    GwTensor *out = gw_tensor_empty(cls, t->dtype, ndim, sizes, NULL);
    if (out != NULL && !read_places(t, index, out, t->numel, index->numel, 1)) {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}

GW_KERNEL(take) {
    const GwTensor *t = gw_plain_tensor(args[0]), *index = gw_plain_tensor(args[1]);
    return plain_places(t, index) ? of_row(cls, t, index, index->ndim, index->sizes) : NULL;
}

/* input, indices, dim */
GW_KERNEL(take_along_dim) {
    const GwTensor *t = gw_plain_tensor(args[0]), *index = gw_plain_tensor(args[1]);
    int64_t inner = 1;
    int dim;
    if (!plain_places(t, index)) {
        return NULL;
    }
    if (args[2] == Py_None) {
        return of_row(cls, t, index, 1, &index->numel);
    }
    if (t->ndim != index->ndim || !gw_wrapped_dim(args[2], t->ndim, &dim)) {
        return NULL;
    }
    for (int d = 0; d < t->ndim; d++) {
        if (d != dim && t->sizes[d] != index->sizes[d]) {
            return NULL;
        }
        inner *= d > dim ? t->sizes[d] : 1;
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, index->ndim, index->sizes, NULL);
    if (out != NULL && !read_places(t, index, out, t->sizes[dim], index->sizes[dim], inner)) {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}

/* ---- slices along a dim: written, or repeated ---- */

/* Elements before a dim, along it, and behind it. */
typedef struct {
    int64_t outer, n, inner;
} Slices;

static Slices slices_of(const GwTensor *t, int dim) {
    Slices s = {1, t->sizes[dim], 1};
    for (int d = 0; d < t->ndim; d++) {
        s.outer *= d < dim ? t->sizes[d] : 1;
        s.inner *= d > dim ? t->sizes[d] : 1;
    }
    return s;
}

/* Puts an element everywhere in the slices of these positions; false where one is out of range. */
static bool fill_slices(GwTensor *out, const Slices *s, const GwTensor *index, const char *bytes) {
    const int64_t *places = (const int64_t *)index->data;
    size_t item = (size_t)gw_itemsize(out);
    for (int64_t i = 0; i < index->numel; i++) {
        int64_t place = places[i] < 0 ? places[i] + s->n : places[i];
        if (place < 0 || place >= s->n) {
            return false;
        }
        for (int64_t o = 0; o < s->outer; o++) {
            char *to = out->data + (size_t)((o * s->n + place) * s->inner) * item;
            for (int64_t j = 0; j < s->inner; j++, to += item) {
                memcpy(to, bytes, item);
            }
        }
    }
    return true;
}

/* A number that fits the dtype, or a tensor of one such number. */
static bool read_value(PyObject *value, int dtype, char bytes[16]) {
    if (!gw_is_tensor(value)) {
        return gw_element(value, dtype, bytes);
    }
    const GwTensor *t = gw_plain_tensor(value);
    bool fits = t != NULL && t->ndim == 0 && t->dtype == dtype;
    if (fits) {
        memcpy(bytes, t->data, (size_t)gw_itemsize(t));
    }
    return fits;
}

/* input, dim, index, value */
GW_KERNEL(index_fill) {
    const GwTensor *t = gw_plain_tensor(args[0]), *index = gw_plain_tensor(args[2]);
    char bytes[16];
    int dim;
    if (t == NULL || index == NULL || index->ndim > 1 || index->dtype != GW_INT64
        || (index->flags & GW_CONTIGUOUS) == 0 || !gw_plain_dim(args[1], t->ndim, &dim)
        || !read_value(args[3], t->dtype, bytes)) {
        return NULL;
    }
    Slices slices = slices_of(t, dim);
    GwTensor *out = copy_of(cls, args[0]);
    if (out != NULL && !fill_slices(out, &slices, index, bytes)) {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}

/* Slices that are each written several times. */
typedef struct {
    const char *from;
    char *to;
    int64_t repeats;
    size_t bytes;       /* of a slice */
} Repeated;

/* Elements begin to end, as slices of one; the loops over a known number are unrolled. */
#define REPEAT_TIMES(T, times)                                                             \
    for (int64_t i = begin; i < end; i++) {                                                \
        for (int64_t k = 0; k < (times); k++) {                                            \
            to[i * (times) + k] = from[i];                                                 \
        }                                                                                  \
    }
#define REPEAT(bits)                                                                       \
    GW_VECTORISED static void repeat##bits(const Repeated *r, int64_t begin, int64_t end) { \
        typedef uint##bits##_t T;                                                          \
        const T *from = (const T *)(const void *)r->from;                                  \
        T *restrict to = (T *)(void *)r->to;                                               \
        switch (r->repeats) {                                                              \
        case 2: REPEAT_TIMES(T, 2) break;                                                  \
        case 3: REPEAT_TIMES(T, 3) break;                                                  \
        case 4: REPEAT_TIMES(T, 4) break;                                                  \
        case 8: REPEAT_TIMES(T, 8) break;                                                  \
        default: REPEAT_TIMES(T, r->repeats) break;                                        \
        }                                                                                  \
    }

REPEAT(8)
REPEAT(16)
REPEAT(32)
REPEAT(64)

static void repeat_slices(void *closure, int64_t begin, int64_t end) {
    const Repeated *r = closure;
    bool aligned = (uintptr_t)r->from % r->bytes == 0;
    switch (aligned ? r->bytes : 0) {
    case 1: repeat8(r, begin, end); return;
    case 2: repeat16(r, begin, end); return;
    case 4: repeat32(r, begin, end); return;
    case 8: repeat64(r, begin, end); return;
    default: break;
    }
    for (int64_t i = begin; i < end; i++) {
        for (int64_t k = 0; k < r->repeats; k++) {
            memcpy(r->to + (size_t)(i * r->repeats + k) * r->bytes,
                   r->from + (size_t)i * r->bytes, r->bytes);
        }
    }
}

/* input, repeats: a number, dim, output_size */
GW_KERNEL(repeat_interleave) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    int64_t repeats, sizes[GW_MAX_DIMS];
    int dim = 0, ndim = 1;
    if (t == NULL || t->numel == 0 || (t->flags & GW_CONTIGUOUS) == 0 || args[3] != Py_None
        || !gw_plain_int(args[1], &repeats) || repeats < 1 || repeats > INT32_MAX
        || t->numel > INT32_MAX
        || (args[2] != Py_None && !gw_wrapped_dim(args[2], t->ndim, &dim))) {
        return NULL;
    }
    Slices slices = {1, t->numel, 1};
    sizes[0] = t->numel;
    if (args[2] != Py_None) {
        slices = slices_of(t, dim);
        ndim = t->ndim;
        memcpy(sizes, t->sizes, (size_t)ndim * sizeof *sizes);
    }
    sizes[dim] *= repeats;
    GwTensor *out = gw_tensor_empty(cls, t->dtype, ndim, sizes, NULL);
    if (out != NULL) {
        Repeated r = {t->data, out->data, repeats, (size_t)(slices.inner * gw_itemsize(t))};
        gw_run_tasks(repeat_slices, &r, slices.outer * slices.n, slices.inner * repeats);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_moving_kernels[] = {
    {"diagonal_scatter", 5, diagonal_scatter},
    {"flip", 2, flip},
    {"fliplr", 1, fliplr},
    {"flipud", 1, flipud},
    {"index_fill", 4, index_fill},
    {"repeat_interleave", 4, repeat_interleave},
    {"roll", 3, roll},
    {"rot90", 3, rot90},
    {"select_scatter", 4, select_scatter},
    {"slice_scatter", 6, slice_scatter},
    {"take", 2, take},
    {"take_along_dim", 3, take_along_dim},
    {NULL, 0, NULL},
};
