/* The usual views of tensors with data, without a detour through their shape rules. */
#include "layout.h"
#include "views.h"

bool gw_view_begin(GwView *v, PyTypeObject *cls, PyObject *input) {
    v->cls = cls;
    v->tensor = gw_plain_tensor(input);
    if (v->tensor == NULL) {
        return false;
    }
    v->ndim = v->tensor->ndim;
    v->offset = v->tensor->offset;
    memcpy(v->sizes, v->tensor->sizes, (size_t)v->ndim * sizeof(int64_t));
    memcpy(v->strides, v->tensor->strides, (size_t)v->ndim * sizeof(int64_t));
    return true;
}

PyObject *gw_view_finish(const GwView *v) {
    PyObject *view = gw_view_of(v->cls, v->tensor, v->ndim, v->sizes, v->strides, v->offset);
    if (view == Py_None) {
        Py_CLEAR(view);
    }
    return view;
}

void gw_view_drop(GwView *v, int d) {
    v->ndim--;
    size_t rest = (size_t)(v->ndim - d) * sizeof(int64_t);
    memmove(v->sizes + d, v->sizes + d + 1, rest);
    memmove(v->strides + d, v->strides + d + 1, rest);
}

void gw_view_insert(GwView *v, int d) {
    int64_t stride = d < v->ndim ? v->sizes[d] * v->strides[d] : 1;
    size_t rest = (size_t)(v->ndim - d) * sizeof(int64_t);
    memmove(v->sizes + d + 1, v->sizes + d, rest);
    memmove(v->strides + d + 1, v->strides + d, rest);
    v->sizes[d] = 1;
    v->strides[d] = stride;
    v->ndim++;
}

bool gw_view_select(GwView *v, int d, PyObject *index) {
    int64_t at, size = v->sizes[d];
    if (!gw_plain_int(index, &at) || at < -size || at >= size) {
        return false;
    }
    v->offset += (at < 0 ? at + size : at) * v->strides[d];
    gw_view_drop(v, d);
    return true;
}

static bool bound_of(PyObject *o, int64_t size, int64_t missing, int64_t *bound) {
    *bound = missing;
    if (o == Py_None) {
        return true;
    }
    if (!gw_plain_int(o, bound)) {
        return false;
    }
    *bound += *bound < 0 ? size : 0;
    *bound = *bound < 0 ? 0 : *bound > size ? size : *bound;
    return true;
}

bool gw_view_slice(GwView *v, int d, PyObject *from, PyObject *to, PyObject *by) {
    int64_t start, end, step = 1;
    if (!bound_of(from, v->sizes[d], 0, &start)
        || !bound_of(to, v->sizes[d], v->sizes[d], &end)
        || (by != Py_None && !gw_plain_int(by, &step)) || step <= 0 || step > INT32_MAX) {
        return false;
    }
    v->offset += start * v->strides[d];
    v->sizes[d] = end > start ? (end - start + step - 1) / step : 0;
    v->strides[d] *= step;
    return true;
}

/* ---- dims in another order ---- */

static void swap(GwView *v, int a, int b) {
    int64_t size = v->sizes[a], stride = v->strides[a];
    v->sizes[a] = v->sizes[b];
    v->strides[a] = v->strides[b];
    v->sizes[b] = size;
    v->strides[b] = stride;
}

GW_KERNEL(transpose_view) {
    GwView v;
    int a, b;
    if (!gw_view_begin(&v, cls, args[0]) || !gw_plain_dim(args[1], v.ndim, &a)
        || !gw_plain_dim(args[2], v.ndim, &b)) {
        return NULL;
    }
    swap(&v, a, b);
    return gw_view_finish(&v);
}

GW_KERNEL(t_view) {
    GwView v;
    if (!gw_view_begin(&v, cls, args[0]) || v.ndim > 2) {
        return NULL;
    }
    if (v.ndim == 2) {
        swap(&v, 0, 1);
    }
    return gw_view_finish(&v);
}

GW_KERNEL(numpy_T_view) {
    GwView v;
    if (!gw_view_begin(&v, cls, args[0])) {
        return NULL;
    }
    for (int i = 0; i < v.ndim / 2; i++) {
        swap(&v, i, v.ndim - 1 - i);
    }
    return gw_view_finish(&v);
}

GW_KERNEL(mT_view) {
    GwView v;
    if (!gw_view_begin(&v, cls, args[0]) || v.ndim < 2) {
        return NULL;
    }
    swap(&v, v.ndim - 2, v.ndim - 1);
    return gw_view_finish(&v);
}

static PyObject *permuted(GwView *v, const int *dims) {
    for (int i = 0; i < v->ndim; i++) {
        v->sizes[i] = v->tensor->sizes[dims[i]];
        v->strides[i] = v->tensor->strides[dims[i]];
    }
    return gw_view_finish(v);
}

GW_KERNEL(permute_view) {
    GwView v;
    int dims[GW_MAX_DIMS];
    if (!gw_view_begin(&v, cls, args[0]) || !PyTuple_Check(args[1])
        || PyTuple_GET_SIZE(args[1]) != v.ndim) {
        return NULL;
    }
    for (int i = 0; i < v.ndim; i++) {
        if (!gw_plain_dim(PyTuple_GET_ITEM(args[1], i), v.ndim, &dims[i])) {
            return NULL;
        }
    }
    return permuted(&v, dims);
}

/* One dim or a sequence of different ones, also as bits: how many, or -1. */
static int read_dims(PyObject *o, int ndim, int *dims, uint32_t *bits) {
    bool several = PyTuple_Check(o) || PyList_Check(o);
    Py_ssize_t n = several ? PySequence_Fast_GET_SIZE(o) : 1;
    *bits = 0;
    if (n > ndim) {
        return -1;
    }
    for (int i = 0; i < (int)n; i++) {
        PyObject *dim = several ? PySequence_Fast_GET_ITEM(o, i) : o;
        if (!gw_wrapped_dim(dim, ndim, &dims[i]) || (*bits >> dims[i] & 1) != 0) {
            return -1;
        }
        *bits |= (uint32_t)1 << dims[i];
    }
    return (int)n;
}

GW_KERNEL(movedim_view) {
    GwView v;
    int from[GW_MAX_DIMS], to[GW_MAX_DIMS], dims[GW_MAX_DIMS], n;
    uint32_t taken, filled;
    if (PyLong_CheckExact(args[1]) != PyLong_CheckExact(args[2])) {
        return NULL;    /* one dim and a sequence do not go together */
    }
    if (!gw_view_begin(&v, cls, args[0]) || (n = read_dims(args[1], v.ndim, from, &taken)) < 0
        || read_dims(args[2], v.ndim, to, &filled) != n) {
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        dims[to[i]] = from[i];
    }
    for (int d = 0, next = 0; d < v.ndim; d++) {
        if ((filled >> d & 1) == 0) {
            for (; (taken >> next & 1) != 0; next++) {
            }
            dims[d] = next++;
        }
    }
    return permuted(&v, dims);
}

/* ---- parts ---- */

GW_KERNEL(select_view) {
    GwView v;
    int d;
    if (!gw_view_begin(&v, cls, args[0]) || !gw_plain_dim(args[1], v.ndim, &d)
        || !gw_view_select(&v, d, args[2])) {
        return NULL;
    }
    return gw_view_finish(&v);
}

GW_KERNEL(slice_view) {
    GwView v;
    int d;
    if (!gw_view_begin(&v, cls, args[0]) || !gw_plain_dim(args[1], v.ndim, &d)
        || !gw_view_slice(&v, d, args[2], args[3], args[4])) {
        return NULL;
    }
    return gw_view_finish(&v);
}

GW_KERNEL(narrow_view) {
    GwView v;
    int d;
    int64_t start, length;
    if (!gw_view_begin(&v, cls, args[0]) || !gw_plain_dim(args[1], v.ndim, &d)
        || !gw_plain_int(args[2], &start) || !gw_plain_int(args[3], &length)) {
        return NULL;
    }
    start += start < 0 ? v.sizes[d] : 0;
    if (start < 0 || length < 0 || start > v.sizes[d] || length > v.sizes[d] - start) {
        return NULL;
    }
    v.offset += start * v.strides[d];
    v.sizes[d] = length;
    return gw_view_finish(&v);
}

bool gw_view_diagonal(GwView *v, PyObject *offset, PyObject *first, PyObject *second) {
    int64_t shift;
    int a, b;
    if (!gw_plain_int(offset, &shift) || !gw_plain_dim(first, v->ndim, &a)
        || !gw_plain_dim(second, v->ndim, &b) || a == b || shift > INT32_MAX
        || shift < -INT32_MAX) {
        return false;
    }
    int64_t rows = v->sizes[a] + (shift < 0 ? shift : 0);
    int64_t columns = v->sizes[b] - (shift > 0 ? shift : 0);
    int64_t length = rows < columns ? rows : columns, step = v->strides[a] + v->strides[b];
    if (length > 0) {
        v->offset += shift >= 0 ? shift * v->strides[b] : -shift * v->strides[a];
    }
    gw_view_drop(v, a > b ? a : b);
    gw_view_drop(v, a > b ? b : a);
    v->sizes[v->ndim] = length > 0 ? length : 0;
    v->strides[v->ndim++] = step;
    return true;
}

GW_KERNEL(diagonal_view) {
    GwView v;
    bool found = gw_view_begin(&v, cls, args[0]) && gw_view_diagonal(&v, args[1], args[2], args[3]);
    return found ? gw_view_finish(&v) : NULL;
}

GW_KERNEL(unfold_view) {
    GwView v;
    int d;
    int64_t size, step;
    if (!gw_view_begin(&v, cls, args[0]) || v.ndim == GW_MAX_DIMS || !gw_plain_dim(args[1], v.ndim, &d)
        || !gw_plain_int(args[2], &size) || !gw_plain_int(args[3], &step) || size < 0
        || size > v.sizes[d] || step <= 0 || step > INT32_MAX) {
        return NULL;
    }
    v.sizes[v.ndim] = size;
    v.strides[v.ndim++] = v.strides[d];
    v.sizes[d] = (v.sizes[d] - size) / step + 1;
    v.strides[d] *= step;
    return gw_view_finish(&v);
}

/* ---- dims of size 1 ---- */

GW_KERNEL(unsqueeze_view) {
    GwView v;
    int d;
    if (!gw_view_begin(&v, cls, args[0]) || v.ndim == GW_MAX_DIMS
        || !gw_plain_dim(args[1], v.ndim + 1, &d)) {
        return NULL;
    }
    gw_view_insert(&v, d);
    return gw_view_finish(&v);
}

/* Of all dims or of one. */
GW_KERNEL(squeeze_view) {
    GwView v;
    int dims[GW_MAX_DIMS];
    uint32_t chosen = UINT32_MAX;
    if (!gw_view_begin(&v, cls, args[0])
        || (args[1] != Py_None && read_dims(args[1], v.ndim, dims, &chosen) < 0)) {
        return NULL;
    }
    for (int d = v.ndim - 1; d >= 0; d--) {
        if (v.sizes[d] == 1 && (chosen >> d & 1) != 0) {
            gw_view_drop(&v, d);
        }
    }
    return gw_view_finish(&v);
}

static PyObject *expanded(GwView *v, int ndim, const int64_t *sizes) {
    int lead = ndim - v->ndim;
    if (lead < 0) {
        return NULL;
    }
    for (int d = ndim - 1; d >= 0; d--) {
        int64_t have = d >= lead ? v->tensor->sizes[d - lead] : 1, step;
        if (sizes[d] != have && (have != 1 || sizes[d] < 0)) {
            return NULL;
        }
        if (d >= lead) {
            step = v->tensor->strides[d - lead];
        } else {        /* of a new dim: around all that follow */
            step = lead < ndim ? v->sizes[d + 1] * v->strides[d + 1] : 0;
        }
        v->sizes[d] = sizes[d];
        v->strides[d] = sizes[d] == have ? step : 0;
    }
    v->ndim = ndim;
    return gw_view_finish(v);
}

/* Reads sizes of which -1 keeps what the tensor has; how many, or -1. */
static int sizes_to_expand(const GwView *v, PyObject *tuple, int64_t *sizes) {
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > GW_MAX_DIMS) {
        return -1;
    }
    int ndim = (int)PyTuple_GET_SIZE(tuple), lead = ndim - v->ndim;
    for (int d = 0; d < ndim; d++) {
        if (!gw_plain_int(PyTuple_GET_ITEM(tuple, d), &sizes[d])) {
            return -1;
        }
        if (sizes[d] == -1 && d >= lead && lead >= 0) {
            sizes[d] = v->sizes[d - lead];
        }
    }
    return ndim;
}

GW_KERNEL(expand_view) {
    GwView v;
    int64_t sizes[GW_MAX_DIMS];
    if (!gw_view_begin(&v, cls, args[0])) {
        return NULL;
    }
    int ndim = sizes_to_expand(&v, args[1], sizes);
    return ndim < 0 ? NULL : expanded(&v, ndim, sizes);
}

GW_KERNEL(expand_as_view) {
    GwView v;
    const GwTensor *other = gw_plain_tensor(args[1]);
    return other == NULL || !gw_view_begin(&v, cls, args[0]) ? NULL
           : expanded(&v, other->ndim, other->sizes);
}

/* ---- another shape, of row-major tensors with elements ---- */

static bool reshapes(const GwView *v) {
    return v->tensor->numel > 0 && gw_row_major(v->tensor);
}

GW_KERNEL(view_view) {
    GwView v;
    if (!gw_view_begin(&v, cls, args[0]) || !PyTuple_Check(args[1]) || !reshapes(&v)
        || PyTuple_GET_SIZE(args[1]) > GW_MAX_DIMS) {
        return NULL;
    }
    v.ndim = (int)PyTuple_GET_SIZE(args[1]);
    int hole = -1;
    int64_t known = 1;
    for (int i = 0; i < v.ndim; i++) {
        if (!gw_plain_int(PyTuple_GET_ITEM(args[1], i), &v.sizes[i]) || v.sizes[i] == 0
            || v.sizes[i] < -1 || (v.sizes[i] == -1 && hole >= 0)) {
            return NULL;
        }
        if (v.sizes[i] == -1) {
            hole = i;
        } else if (__builtin_mul_overflow(known, v.sizes[i], &known)) {
            return NULL;
        }
    }
    if (hole >= 0) {
        v.sizes[hole] = v.tensor->numel / known;
        known *= v.sizes[hole];
    }
    if (known != v.tensor->numel) {
        return NULL;
    }
    gw_contiguous(v.sizes, v.ndim, v.strides);
    return gw_view_finish(&v);
}

static PyObject *like(PyTypeObject *cls, PyObject *input, PyObject *other) {
    GwView v;
    const GwTensor *model = gw_plain_tensor(other);
    if (model == NULL || !gw_view_begin(&v, cls, input) || !reshapes(&v)
        || model->numel != v.tensor->numel) {
        return NULL;
    }
    v.ndim = model->ndim;
    memcpy(v.sizes, model->sizes, (size_t)v.ndim * sizeof(int64_t));
    gw_contiguous(v.sizes, v.ndim, v.strides);
    return gw_view_finish(&v);
}

GW_KERNEL(view_as_view) {
    return like(cls, args[0], args[1]);
}

/* The tensor itself where nothing is to be joined. */
GW_KERNEL(flatten_view) {
    GwView v;
    int first, last;
    if (!gw_view_begin(&v, cls, args[0]) || !reshapes(&v) || !gw_plain_dim(args[1], v.ndim, &first)
        || !gw_plain_dim(args[2], v.ndim, &last) || first > last) {
        return NULL;
    }
    if (first == last) {
        return Py_NewRef(args[0]);
    }
    for (int d = last; d > first; d--) {
        v.sizes[d - 1] *= v.sizes[d];
        gw_view_drop(&v, d);
    }
    gw_contiguous(v.sizes, v.ndim, v.strides);
    return gw_view_finish(&v);
}

/* A dim in parts; one of their sizes may be -1. */
GW_KERNEL(unflatten_view) {
    GwView v;
    int d;
    Py_ssize_t n = PyTuple_Check(args[2]) ? PyTuple_GET_SIZE(args[2]) : 0;
    if (n == 0 || !gw_view_begin(&v, cls, args[0]) || !gw_plain_dim(args[1], v.ndim, &d)
        || v.ndim + n - 1 > GW_MAX_DIMS) {
        return NULL;
    }
    int64_t sizes[GW_MAX_DIMS], known = 1, whole = v.sizes[d], stride = v.strides[d];
    int missing = -1;
    for (int i = 0; i < (int)n; i++) {
        if (!gw_plain_int(PyTuple_GET_ITEM(args[2], i), &sizes[i]) || sizes[i] < -1
            || sizes[i] == 0 || sizes[i] > whole || (sizes[i] < 0 && missing >= 0)) {
            return NULL;
        }
        missing = sizes[i] < 0 ? i : missing;
        known *= sizes[i] < 0 ? 1 : sizes[i];
        if (known > whole) {
            return NULL;
        }
    }
    if (missing >= 0) {
        sizes[missing] = whole / known;
        known *= sizes[missing];
    }
    if (known != whole || !reshapes(&v)) {
        return NULL;
    }
    gw_view_drop(&v, d);
    for (int i = (int)n - 1; i >= 0; i--) {
        gw_view_insert(&v, d);
        v.sizes[d] = sizes[i];
        v.strides[d] = stride;
        stride *= sizes[i];
    }
    return gw_view_finish(&v);
}

GW_KERNEL(ravel_view) {
    GwView v;
    if (!gw_view_begin(&v, cls, args[0]) || !reshapes(&v)) {
        return NULL;
    }
    v.ndim = 1;
    v.sizes[0] = v.tensor->numel;
    v.strides[0] = 1;
    return gw_view_finish(&v);
}

GW_KERNEL(alias_view) {
    GwView v;
    return gw_view_begin(&v, cls, args[0]) ? gw_view_finish(&v) : NULL;
}

/* ---- several views ---- */

/* Parts of `length` elements of dim `d`, the last perhaps shorter; `drop`: single ones, without
 * that dim. A tuple of views that are not to be written in place where gradients are recorded. */
static PyObject *cut_into(const GwView *whole, int d, int64_t length, bool drop) {
    int64_t size = whole->sizes[d], count = (size + length - 1) / length;
    PyObject *views = count <= INT32_MAX ? PyTuple_New((Py_ssize_t)count) : NULL;
    for (int64_t i = 0; views != NULL && i < count; i++) {
        GwView part = *whole;
        int64_t left = size - i * length;
        part.offset += i * length * part.strides[d];
        part.sizes[d] = left < length ? left : length;
        if (drop) {
            gw_view_drop(&part, d);
        }
        PyObject *view = gw_view_finish(&part);
        if (view == NULL) {
            Py_CLEAR(views);
            break;
        }
        ((GwTensor *)view)->flags |= GW_MULTI_VIEW;
        PyTuple_SET_ITEM(views, (Py_ssize_t)i, view);
    }
    return views;
}

GW_KERNEL(unbind_view) {
    GwView v;
    int d;
    if (!gw_view_begin(&v, cls, args[0]) || !gw_plain_dim(args[1], v.ndim, &d)) {
        return NULL;
    }
    return cut_into(&v, d, 1, true);
}

GW_KERNEL(split_view) {
    GwView v;
    int d;
    int64_t length;
    if (PyTuple_Check(args[1]) || PyList_Check(args[1])) {     /* recorded as split_with_sizes */
        bool recording = !gw_grad_enabled() && !gw_user_disabled_grad();
        return recording ? NULL : gw_split_with_sizes(cls, args);
    }
    if (!gw_view_begin(&v, cls, args[0]) || !gw_plain_dim(args[2], v.ndim, &d)
        || !gw_plain_int(args[1], &length) || length <= 0 || length > INT32_MAX
        || v.sizes[d] == 0) {
        return NULL;
    }
    return cut_into(&v, d, length, false);
}

GW_KERNEL(chunk_view) {
    GwView v;
    int d;
    int64_t count;
    if (!gw_view_begin(&v, cls, args[0]) || !gw_plain_dim(args[2], v.ndim, &d)
        || !gw_plain_int(args[1], &count) || count <= 0 || v.sizes[d] == 0) {
        return NULL;
    }
    return cut_into(&v, d, (v.sizes[d] - 1) / count + 1, false);
}

const GwKernelEntry gw_view_kernels[] = {
    {"alias", 1, alias_view},
    {"broadcast_to", 2, expand_view},
    {"chunk", 3, chunk_view},
    {"diagonal", 4, diagonal_view},
    {"expand", 2, expand_view},
    {"expand_as", 2, expand_as_view},
    {"flatten", 3, flatten_view},
    {"mT", 1, mT_view},
    {"movedim", 3, movedim_view},
    {"narrow", 4, narrow_view},
    {"numpy_T", 1, numpy_T_view},
    {"permute", 2, permute_view},
    {"ravel", 1, ravel_view},
    {"reshape", 2, view_view},
    {"reshape_as", 2, view_as_view},
    {"select", 3, select_view},
    {"slice", 5, slice_view},
    {"split", 3, split_view},
    {"squeeze", 2, squeeze_view},
    {"t", 1, t_view},
    {"transpose", 3, transpose_view},
    {"unbind", 2, unbind_view},
    {"unflatten", 3, unflatten_view},
    {"unfold", 4, unfold_view},
    {"unsqueeze", 2, unsqueeze_view},
    {"view", 2, view_view},
    {"view_as", 2, view_as_view},
    {NULL, 0, NULL},
};
