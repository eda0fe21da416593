/* Triangles and diagonals of matrices: tril, triu, their positions, diag_embed. */
#include "native.h"
#include "pool.h"

enum { LARGEST = 1 << 15 };     /* elements; larger ones are for threads */

static int64_t clamped(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* ---- tril, triu ---- */

typedef struct {
    const char *from;
    char *to;
    int64_t rows, columns, diagonal, itemsize;
    bool lower;
} Triangle;

/* Copies the kept columns of some rows of contiguous matrices, zeros beside them. */
static void copy_rows(void *closure, int64_t first, int64_t last) {
    const Triangle *t = closure;
    size_t size = (size_t)t->itemsize;
    for (int64_t row = first; row < last; row++) {
        int64_t edge = row % t->rows + t->diagonal;
        int64_t begin = t->lower ? 0 : clamped(edge, 0, t->columns);
        int64_t end = t->lower ? clamped(edge + 1, 0, t->columns) : t->columns;
        size_t at = (size_t)(row * t->columns) * size, kept = (size_t)begin * size;
        size_t bytes = (size_t)(end - begin) * size;
        memset(t->to + at, 0, kept);
        memcpy(t->to + at + kept, t->from + at + kept, bytes);
        memset(t->to + at + kept + bytes, 0, (size_t)(t->columns - end) * size);
    }
}

static void copy_triangle(Triangle *t, int64_t numel) {
    int64_t rows = numel / t->columns;
    if (numel <= LARGEST) {
        copy_rows(t, 0, rows);
        return;
    }
    gw_ctx ctx;
    gw_context(&ctx);
    Py_BEGIN_ALLOW_THREADS
    gw_parallel_for(&ctx, copy_rows, t, rows, LARGEST / t->columns + 1);
    Py_END_ALLOW_THREADS
}

static PyObject *triangle(PyTypeObject *cls, PyObject *const *args, bool lower) {
    const GwTensor *in = gw_plain_tensor(args[0]);
    int64_t diagonal;
    if (in == NULL || in->ndim < 2 || (in->flags & GW_CONTIGUOUS) == 0 || in->numel == 0
        || !gw_plain_int(args[1], &diagonal) || diagonal > INT32_MAX || diagonal < -INT32_MAX) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, in->dtype, in->ndim, in->sizes, NULL);
    if (out != NULL) {
        Triangle t = {in->data, out->data, in->sizes[in->ndim - 2], in->sizes[in->ndim - 1],
                      diagonal, gw_itemsize(in), lower};
        copy_triangle(&t, in->numel);
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

/* The last dim as a diagonal of dims `a` and `b` of the result. */
static PyObject *embedded(PyTypeObject *cls, const GwTensor *in, int64_t shift, int a, int b) {
    int64_t sizes[GW_MAX_DIMS], to[GW_MAX_DIMS], n = in->sizes[in->ndim - 1];
    int64_t size = n + (shift < 0 ? -shift : shift);
    if (a == b || in->numel == 0 || in->ndim == GW_MAX_DIMS || size > INT32_MAX) {
        return NULL;
    }
    for (int d = 0, own = 0; d <= in->ndim; d++) {
        sizes[d] = d == a || d == b ? size : in->sizes[own++];
    }
    GwTensor *out = gw_tensor_empty(cls, in->dtype, in->ndim + 1, sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    for (int d = 0, own = 0; d <= in->ndim; d++) {
        if (d != a && d != b) {
            to[own++] = out->strides[d];
        }
    }
    to[in->ndim - 1] = out->strides[a] + out->strides[b];
    int item = gw_itemsize(in);
    int64_t first = shift < 0 ? -shift * out->strides[a] : shift * out->strides[b];
    memset(out->data, 0, (size_t)(out->numel * item));
    gw_copy_elements(in->ndim, in->sizes, item, out->data + first * item, to, in->data,
                     in->strides);
    return (PyObject *)out;
}

static bool plain_shift(PyObject *o, int64_t *shift) {
    return gw_plain_int(o, shift) && *shift < LARGEST && *shift > -LARGEST;
}

GW_KERNEL(diag_embed) {
    const GwTensor *in = gw_plain_tensor(args[0]);
    int64_t shift;
    int a, b;
    if (in == NULL || in->ndim == 0 || in->ndim == GW_MAX_DIMS || !plain_shift(args[1], &shift)
        || !gw_wrapped_dim(args[2], in->ndim + 1, &a)
        || !gw_wrapped_dim(args[3], in->ndim + 1, &b)) {
        return NULL;
    }
    return embedded(cls, in, shift, a, b);
}

/* Of a vector the matrix, of a matrix a copy of the diagonal. */
GW_KERNEL(diag) {
    const GwTensor *in = gw_plain_tensor(args[0]);
    int64_t shift;
    if (in == NULL || in->ndim < 1 || in->ndim > 2 || !plain_shift(args[1], &shift)) {
        return NULL;
    }
    if (in->ndim == 1) {
        return embedded(cls, in, shift, 0, 1);
    }
    int64_t rows = in->sizes[0] + (shift < 0 ? shift : 0);
    int64_t columns = in->sizes[1] - (shift > 0 ? shift : 0);
    int64_t length = rows < columns ? rows : columns, step = in->strides[0] + in->strides[1];
    GwTensor *out = length <= 0 ? NULL : gw_tensor_empty(cls, in->dtype, 1, &length, NULL);
    if (out != NULL) {
        int64_t first = shift < 0 ? -shift * in->strides[0] : shift * in->strides[1];
        gw_copy_elements(1, &length, gw_itemsize(in), out->data, out->strides,
                         in->data + first * gw_itemsize(in), &step);
    }
    return (PyObject *)out;
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
