/* Triangles and diagonals of matrices: tril, triu, their positions, diag_embed. */
#include "native.h"

enum { LARGEST = 1 << 15 };     /* elements; larger ones are computed by threads */

static int64_t clamped(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* ---- tril, triu ---- */

/* Copies the kept columns [begin, end) of each row of contiguous matrices, zeros elsewhere. */
static void copy_triangle(const GwTensor *in, GwTensor *out, int64_t diagonal, bool lower) {
    int64_t rows = in->sizes[in->ndim - 2], columns = in->sizes[in->ndim - 1];
    size_t item = (size_t)gw_itemsize(in);
    const char *from = in->data;
    char *to = out->data;
    memset(to, 0, (size_t)out->numel * item);
    for (int64_t row = 0; row < in->numel / columns; row++) {
        int64_t edge = row % rows + diagonal;
        int64_t begin = lower ? 0 : clamped(edge, 0, columns);
        int64_t end = lower ? clamped(edge + 1, 0, columns) : columns;
        size_t at = ((size_t)row * (size_t)columns + (size_t)begin) * item;
        memcpy(to + at, from + at, (size_t)(end - begin) * item);
    }
}

static PyObject *triangle(PyTypeObject *cls, PyObject *const *args, bool lower) {
    const GwTensor *in = gw_plain_tensor(args[0]);
    int64_t diagonal;
    if (in == NULL || in->ndim < 2 || (in->flags & GW_CONTIGUOUS) == 0 || in->numel == 0
        || in->numel > LARGEST || !gw_plain_int(args[1], &diagonal) || diagonal > INT32_MAX
        || diagonal < -INT32_MAX) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, in->dtype, in->ndim, in->sizes, NULL);
    if (out != NULL) {
        copy_triangle(in, out, diagonal, lower);
    }
    return (PyObject *)out;
}

GW_KERNEL(tril) { return triangle(cls, args, true); }
GW_KERNEL(triu) { return triangle(cls, args, false); }

/* ---- the positions of a triangle ---- */

static void write_place(GwTensor *out, int64_t at, int64_t value) {
    if (out->dtype == GW_INT64) {
        ((int64_t *)out->data)[at] = value;
    } else {
        ((int32_t *)out->data)[at] = (int32_t)value;
    }
}

/* Counts the positions or, where `out` is given, writes rows and columns of `total`. */
static int64_t places(int64_t rows, int64_t columns, int64_t diagonal, bool lower, GwTensor *out,
                      int64_t total) {
    int64_t n = 0;
    for (int64_t row = 0; row < rows; row++) {
        int64_t begin = lower ? 0 : clamped(row + diagonal, 0, columns);
        int64_t end = lower ? clamped(row + diagonal + 1, 0, columns) : columns;
        for (int64_t column = begin; out != NULL && column < end; column++) {
            write_place(out, n + column - begin, row);
            write_place(out, total + n + column - begin, column);
        }
        n += end - begin;
    }
    return n;
}

static PyObject *triangle_indices(PyTypeObject *cls, PyObject *const *args, bool lower) {
    int64_t rows, columns, diagonal;
    int dtype = gw_plain_dtype(args[3], GW_INT64);
    if (!gw_plain_int(args[0], &rows) || !gw_plain_int(args[1], &columns)
        || !gw_plain_int(args[2], &diagonal) || !gw_on_cpu(args[4]) || rows < 0 || columns < 0
        || rows > LARGEST || columns > LARGEST || rows * columns > LARGEST
        || diagonal > LARGEST || diagonal < -LARGEST
        || (dtype != GW_INT64 && dtype != GW_INT32)) {
        return NULL;
    }
    int64_t sizes[2] = {2, places(rows, columns, diagonal, lower, NULL, 0)};
    GwTensor *out = gw_tensor_empty(cls, dtype, 2, sizes, NULL);
    if (out != NULL) {
        places(rows, columns, diagonal, lower, out, sizes[1]);
    }
    return (PyObject *)out;
}

GW_KERNEL(tril_indices) { return triangle_indices(cls, args, true); }
GW_KERNEL(triu_indices) { return triangle_indices(cls, args, false); }

/* ---- matrices with a given diagonal ---- */

/* The last dim of a contiguous tensor as a diagonal of the last two dims. */
static PyObject *embedded(PyTypeObject *cls, const GwTensor *in, int64_t shift) {
    int64_t sizes[GW_MAX_DIMS], n = in->sizes[in->ndim - 1];
    int64_t size = n + (shift < 0 ? -shift : shift);
    if (in->numel == 0 || in->numel / n * size * size > LARGEST) {
        return NULL;
    }
    memcpy(sizes, in->sizes, (size_t)in->ndim * sizeof(int64_t));
    sizes[in->ndim - 1] = sizes[in->ndim] = size;
    GwTensor *out = gw_tensor_empty(cls, in->dtype, in->ndim + 1, sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    size_t item = (size_t)gw_itemsize(in);
    memset(out->data, 0, (size_t)out->numel * item);
    int64_t first = shift < 0 ? -shift * size : shift;
    for (int64_t i = 0; i < in->numel; i++) {
        int64_t at = i / n * size * size + first + i % n * (size + 1);
        memcpy(out->data + (size_t)at * item, in->data + (size_t)i * item, item);
    }
    return (PyObject *)out;
}

static bool plain_shift(PyObject *o, int64_t *shift) {
    return gw_plain_int(o, shift) && *shift < LARGEST && *shift > -LARGEST;
}

static const GwTensor *contiguous(PyObject *o) {
    const GwTensor *t = gw_plain_tensor(o);
    return t != NULL && (t->flags & GW_CONTIGUOUS) != 0 && t->ndim < GW_MAX_DIMS ? t : NULL;
}

GW_KERNEL(diag_embed) {
    const GwTensor *in = contiguous(args[0]);
    int64_t shift;
    int a, b;
    if (in == NULL || in->ndim == 0 || !plain_shift(args[1], &shift)
        || !gw_wrapped_dim(args[2], in->ndim + 1, &a)
        || !gw_wrapped_dim(args[3], in->ndim + 1, &b) || a != in->ndim - 1 || b != in->ndim) {
        return NULL;
    }
    return embedded(cls, in, shift);
}

/* Of a vector; the diagonal of a matrix is left to the view. */
GW_KERNEL(diag) {
    const GwTensor *in = contiguous(args[0]);
    int64_t shift;
    return in == NULL || in->ndim != 1 || !plain_shift(args[1], &shift) ? NULL
           : embedded(cls, in, shift);
}

const GwKernelEntry gw_triangle_kernels[] = {
    {"diag", 2, diag},
    {"diag_embed", 4, diag_embed},
    {"tril", 2, tril},
    {"tril_indices", 5, tril_indices},
    {"triu", 2, triu},
    {"triu_indices", 5, triu_indices},
    {NULL, 0, NULL},
};
