/* Maxima and means of the windows of small images, also of adaptive ones, and their gradients. Large
 * images are pool_large.c's, which the kernels in Python prepare. */
#include "native.h"

#include <math.h>

enum { AXES = 3, LARGEST = 1 << 14 };   /* elements of the input and of the output */

typedef struct {
    int64_t size, count, kernel, stride, padding, dilation;
} Axis;

/* Leading axes of images with fewer than three have one element and one window. */
typedef struct {
    int ndim, rank;
    int64_t planes, in_plane, out_plane;
    Axis axis[AXES];
    int64_t counts[GW_MAX_DIMS];    /* the sizes of the output */
    bool inside;                    /* means count only places inside the input */
    bool adaptive;                  /* window i of n is from i * size / n to (i + 1) * size / n */
    double divisor;                 /* of all means, or 0 */
} Windows;

typedef struct {
    int64_t begin, end, places;     /* places: how many a mean counts */
} Window;

static Window window_of(const Windows *w, int a, int64_t i) {
    const Axis *axis = &w->axis[a];
    if (w->adaptive) {
        int64_t begin = i * axis->size / axis->count;
        int64_t end = ((i + 1) * axis->size + axis->count - 1) / axis->count;
        return (Window){begin, end, end - begin};
    }
    int64_t start = i * axis->stride - axis->padding;
    int64_t end = start + (axis->kernel - 1) * axis->dilation + 1;
    int64_t limit = axis->size + axis->padding;
    Window window = {start, end < axis->size ? end : axis->size, (end < limit ? end : limit) - start};
    if (start < 0) {
        window.begin += (-start + axis->dilation - 1) / axis->dilation * axis->dilation;
    }
    if (w->inside) {
        window.places = window.end > window.begin ? window.end - window.begin : 1;
    }
    return window;
}

#define REAL float
#define NAME(x) x##_f32
#include "pool_small_kernel.h"
#define REAL double
#define NAME(x) x##_f64
#include "pool_small_kernel.h"

/* ---- reading arguments ---- */

static int axes_of(PyObject *sizes) {
    Py_ssize_t n = PyTuple_Check(sizes) ? PyTuple_GET_SIZE(sizes) : 0;
    return n <= AXES ? (int)n : 0;
}

static int64_t count_windows(const Axis *axis, bool ceil) {
    int64_t reach = (axis->kernel - 1) * axis->dilation + 1;
    int64_t room = axis->size + 2 * axis->padding - reach;
    if (room < 0 || 2 * axis->padding > reach) {
        return 0;
    }
    int64_t count = (room + (ceil ? axis->stride - 1 : 0)) / axis->stride + 1;
    return ceil && (count - 1) * axis->stride >= axis->size + axis->padding ? count - 1 : count;
}

/* The last `ndim` of the sizes lie along these axes, the others count planes. False where that are
 * no elements, or many. */
static bool set_axes(Windows *w, int ndim, int rank, const int64_t *sizes, const Axis *axes) {
    int missing = AXES - ndim, leading = rank - ndim;
    w->ndim = ndim;
    w->rank = rank;
    w->planes = w->in_plane = w->out_plane = 1;
    for (int d = 0; d < leading; d++) {
        w->counts[d] = sizes[d];
        w->planes *= sizes[d];
    }
    for (int a = 0; a < AXES; a++) {
        w->axis[a] = a < missing ? (Axis){1, 1, 1, 1, 0, 1} : axes[a - missing];
        if (a >= missing) {
            w->counts[leading + a - missing] = w->axis[a].count;
        }
        w->in_plane *= w->axis[a].size;
        w->out_plane *= w->axis[a].count;
    }
    return w->in_plane > 0 && w->out_plane > 0 && w->planes > 0
           && w->planes * w->in_plane <= LARGEST && w->planes * w->out_plane <= LARGEST;
}

/* kernel, stride, padding and (or NULL) dilation, for an input of these sizes. A missing stride
 * is the kernel. False for what is no plain call, also where windows do not fit. */
static bool read_windows(Windows *w, int ndim, int rank, const int64_t *sizes,
                         PyObject *const *args, PyObject *dilation, bool ceil) {
    int64_t kernel[AXES], stride[AXES], padding[AXES], spread[AXES] = {1, 1, 1};
    bool same = args[1] == Py_None;
    if (ndim < 1 || ndim > AXES || rank < ndim || !gw_plain_each(args[0], ndim, 1, LARGEST, kernel)
        || !gw_plain_each(same ? args[0] : args[1], ndim, 1, LARGEST, stride)
        || !gw_plain_each(args[2], ndim, 0, LARGEST, padding)
        || (dilation != NULL && !gw_plain_each(dilation, ndim, 1, LARGEST, spread))) {
        return false;
    }
    Axis axes[AXES];
    for (int i = 0; i < ndim; i++) {
        axes[i] = (Axis){sizes[rank - ndim + i], 0, kernel[i], stride[i], padding[i], spread[i]};
        axes[i].count = count_windows(axes + i, ceil);
    }
    return set_axes(w, ndim, rank, sizes, axes);
}

/* A contiguous tensor of a type that has kernels here. */
static GwTensor *real_tensor(PyObject *o) {
    GwTensor *t = gw_plain_tensor(o);
    bool fit = t != NULL && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64)
               && (t->flags & GW_CONTIGUOUS) != 0;
    return fit ? t : NULL;
}

static bool is_true(PyObject *o) { return o == Py_True; }

/* The sizes of input and output behind the planes of a tensor of these sizes; the input's axes
 * have `cells` windows. False where they are not few elements. */
static bool read_cells(Windows *w, int ndim, int rank, const int64_t *sizes,
                       const int64_t *cells) {
    Axis axes[AXES];
    for (int i = 0; i < ndim; i++) {
        axes[i] = (Axis){sizes[rank - ndim + i], cells[i], 1, 1, 0, 1};
    }
    w->adaptive = true;
    return set_axes(w, ndim, rank, sizes, axes);
}

/* Cells of each axis as `output_size` gives them; None keeps the input's size. */
static bool read_output_size(PyObject *o, const GwTensor *input, int ndim, int64_t *cells) {
    bool sequence = PyTuple_Check(o) || PyList_Check(o);
    if (input->ndim <= ndim || (sequence && PySequence_Fast_GET_SIZE(o) != ndim)) {
        return false;
    }
    for (int i = 0; i < ndim; i++) {
        PyObject *one = sequence ? PySequence_Fast_GET_ITEM(o, i) : o;
        cells[i] = input->sizes[input->ndim - ndim + i];
        if (one != Py_None && (!gw_plain_int(one, &cells[i]) || cells[i] < 1)) {
            return false;
        }
    }
    return true;
}

/* ---- maxima ---- */

/* Every window has a place: dilation may leave the last ones of `ceil` without. */
static bool all_filled(const Windows *w) {
    for (int a = 0; a < AXES; a++) {
        for (int64_t i = 0; i < w->axis[a].count; i++) {
            Window window = window_of(w, a, i);
            if (window.begin >= window.end) {
                return false;
            }
        }
    }
    return true;
}

/* The maxima, and their places if asked. */
static PyObject *find_maxima(PyTypeObject *cls, const GwTensor *input, const Windows *w,
                             bool places) {
    GwTensor *out = gw_tensor_empty(cls, input->dtype, w->rank, w->counts, NULL);
    GwTensor *where = places ? gw_tensor_empty(cls, GW_INT64, w->rank, w->counts, NULL) : NULL;
    if (out == NULL || (places && where == NULL)) {
        Py_XDECREF(out);
        Py_XDECREF(where);
        return NULL;
    }
    int64_t *at = places ? (int64_t *)where->data : NULL;
    if (input->dtype == GW_FLOAT32) {
        maxima_f32(w, (const float *)input->data, (float *)out->data, at);
    } else {
        maxima_f64(w, (const double *)input->data, (double *)out->data, at);
    }
    return places ? Py_BuildValue("(NN)", out, where) : (PyObject *)out;
}

/* args: input, kernel, stride, padding, dilation, ceil */
static PyObject *maxima(PyTypeObject *cls, PyObject *const *args, int ndim, bool places) {
    const GwTensor *input = real_tensor(args[0]);
    Windows w = {0};
    if (input == NULL || !PyBool_Check(args[5])
        || !read_windows(&w, ndim, input->ndim, input->sizes, args + 1, args[4], is_true(args[5]))
        || !all_filled(&w)) {
        return NULL;
    }
    return find_maxima(cls, input, &w, places);
}

GW_KERNEL(max_pool_with_indices) { return maxima(cls, args, axes_of(args[1]), true); }

/* Of [C, sizes] or [N, C, sizes]. */
static PyObject *maxima_of(PyTypeObject *cls, PyObject *const *args, int ndim, bool places) {
    const GwTensor *input = real_tensor(args[0]);
    bool fit = input != NULL && (input->ndim == ndim + 1 || input->ndim == ndim + 2);
    return fit ? maxima(cls, args, ndim, places) : NULL;
}

GW_KERNEL(max_pool1d) { return maxima_of(cls, args, 1, false); }
GW_KERNEL(max_pool2d) { return maxima_of(cls, args, 2, false); }
GW_KERNEL(max_pool3d) { return maxima_of(cls, args, 3, false); }
GW_KERNEL(max_pool1d_with_indices) { return maxima_of(cls, args, 1, true); }
GW_KERNEL(max_pool2d_with_indices) { return maxima_of(cls, args, 2, true); }
GW_KERNEL(max_pool3d_with_indices) { return maxima_of(cls, args, 3, true); }

/* input, output_size */
GW_KERNEL(adaptive_max_pool) {
    const GwTensor *input = real_tensor(args[0]);
    int64_t cells[GW_MAX_DIMS];
    int ndim = input == NULL ? 0 : axes_of(args[1]);
    Windows w = {0};
    return ndim == 0 || !read_output_size(args[1], input, ndim, cells)
           || !read_cells(&w, ndim, input->ndim, input->sizes, cells)
           ? NULL : find_maxima(cls, input, &w, true);
}

static PyObject *cell_maxima(PyTypeObject *cls, PyObject *const *args, int ndim) {
    const GwTensor *input = real_tensor(args[0]);
    int64_t cells[AXES];
    Windows w = {0};
    return input == NULL || input->ndim > ndim + 2
           || !read_output_size(args[1], input, ndim, cells)
           || !read_cells(&w, ndim, input->ndim, input->sizes, cells)
           ? NULL : find_maxima(cls, input, &w, true);
}

GW_KERNEL(adaptive_max_pool1d) { return cell_maxima(cls, args, 1); }
GW_KERNEL(adaptive_max_pool2d) { return cell_maxima(cls, args, 2); }
GW_KERNEL(adaptive_max_pool3d) { return cell_maxima(cls, args, 3); }

/* grad, indices, input_size, kernel, stride, padding, dilation */
GW_KERNEL(max_pool_backward) {
    const GwTensor *grad = real_tensor(args[0]), *indices = gw_plain_tensor(args[1]);
    int64_t sizes[GW_MAX_DIMS], planes = 1, plane = 1;
    int rank = gw_plain_sizes(args[2], sizes), ndim = axes_of(args[3]);
    if (grad == NULL || indices == NULL || indices->dtype != GW_INT64
        || (indices->flags & GW_CONTIGUOUS) == 0 || indices->numel != grad->numel
        || rank < ndim || ndim == 0) {
        return NULL;
    }
    for (int d = 0; d < rank; d++) {
        *(d < rank - ndim ? &planes : &plane) *= sizes[d];
    }
    if (planes <= 0 || plane <= 0 || planes * plane > LARGEST || grad->numel % planes != 0) {
        return NULL;
    }
    const int64_t *at = (const int64_t *)indices->data;
    for (int64_t i = 0; i < grad->numel; i++) {
        if (at[i] < 0 || at[i] >= plane) {
            return NULL;
        }
    }
    GwTensor *out = gw_tensor_empty(cls, grad->dtype, rank, sizes, NULL);
    if (out != NULL) {
        memset(out->data, 0, (size_t)(out->numel * gw_itemsize(out)));
        if (grad->dtype == GW_FLOAT32) {
            add_at_f32((float *)out->data, (const float *)grad->data, at, planes, plane,
                       grad->numel / planes);
        } else {
            add_at_f64((double *)out->data, (const double *)grad->data, at, planes, plane,
                       grad->numel / planes);
        }
    }
    return (PyObject *)out;
}

/* ---- means ---- */

/* ceil_mode, count_include_pad, divisor_override */
static bool read_means(Windows *w, PyObject *ceil, PyObject *include, PyObject *divisor) {
    int64_t value = 0;
    w->inside = include == Py_False;
    bool ok = PyBool_Check(ceil) && PyBool_Check(include)
              && (divisor == Py_None || (gw_plain_int(divisor, &value) && value != 0));
    w->divisor = (double)value;
    return ok;
}

static PyObject *find_means(PyTypeObject *cls, const GwTensor *input, const Windows *w) {
    GwTensor *out = gw_tensor_empty(cls, input->dtype, w->rank, w->counts, NULL);
    if (out != NULL && input->dtype == GW_FLOAT32) {
        means_f32(w, (const float *)input->data, (float *)out->data);
    } else if (out != NULL) {
        means_f64(w, (const double *)input->data, (double *)out->data);
    }
    return (PyObject *)out;
}

/* Each mean's part, added at the places it was made of, in a tensor of these sizes. */
static PyObject *spread_means(PyTypeObject *cls, const GwTensor *grad, const Windows *w,
                              const int64_t *sizes) {
    GwTensor *out = gw_tensor_empty(cls, grad->dtype, w->rank, sizes, NULL);
    if (out != NULL) {
        memset(out->data, 0, (size_t)(out->numel * gw_itemsize(out)));
        if (grad->dtype == GW_FLOAT32) {
            spread_f32(w, (const float *)grad->data, (float *)out->data);
        } else {
            spread_f64(w, (const double *)grad->data, (double *)out->data);
        }
    }
    return (PyObject *)out;
}

/* args: input, kernel, stride, padding, ceil, include */
static PyObject *means(PyTypeObject *cls, PyObject *const *args, PyObject *divisor, int ndim) {
    const GwTensor *input = real_tensor(args[0]);
    Windows w = {0};
    if (input == NULL || !read_means(&w, args[4], args[5], divisor)
        || !read_windows(&w, ndim, input->ndim, input->sizes, args + 1, NULL, is_true(args[4]))) {
        return NULL;
    }
    return find_means(cls, input, &w);
}

GW_KERNEL(avg_pool) { return means(cls, args, args[6], axes_of(args[1])); }

/* Of [C, sizes] or [N, C, sizes]. */
static PyObject *means_of(PyTypeObject *cls, PyObject *const *args, PyObject *divisor, int ndim) {
    const GwTensor *input = real_tensor(args[0]);
    bool fit = input != NULL && (input->ndim == ndim + 1 || input->ndim == ndim + 2);
    return fit ? means(cls, args, divisor, ndim) : NULL;
}

GW_KERNEL(avg_pool1d) { return means_of(cls, args, Py_None, 1); }
GW_KERNEL(avg_pool2d) { return means_of(cls, args, args[6], 2); }
GW_KERNEL(avg_pool3d) { return means_of(cls, args, args[6], 3); }

/* grad, input_size, kernel, stride, padding, ceil, include, divisor */
GW_KERNEL(avg_pool_backward) {
    const GwTensor *grad = real_tensor(args[0]);
    int64_t sizes[GW_MAX_DIMS];
    int rank = gw_plain_sizes(args[1], sizes);
    Windows w = {0};
    if (grad == NULL || !read_means(&w, args[5], args[6], args[7])
        || !read_windows(&w, axes_of(args[2]), rank, sizes, args + 2, NULL, is_true(args[5]))
        || grad->numel != w.planes * w.out_plane) {
        return NULL;
    }
    return spread_means(cls, grad, &w, sizes);
}

/* input, output_size */
GW_KERNEL(adaptive_avg_pool) {
    const GwTensor *input = real_tensor(args[0]);
    int64_t cells[GW_MAX_DIMS];
    int ndim = input == NULL ? 0 : axes_of(args[1]);
    Windows w = {0};
    return ndim == 0 || !read_output_size(args[1], input, ndim, cells)
           || !read_cells(&w, ndim, input->ndim, input->sizes, cells)
           ? NULL : find_means(cls, input, &w);
}

static PyObject *cell_means(PyTypeObject *cls, PyObject *const *args, int ndim) {
    const GwTensor *input = real_tensor(args[0]);
    int64_t cells[AXES];
    Windows w = {0};
    return input == NULL || input->ndim > ndim + 2
           || !read_output_size(args[1], input, ndim, cells)
           || !read_cells(&w, ndim, input->ndim, input->sizes, cells)
           ? NULL : find_means(cls, input, &w);
}

GW_KERNEL(adaptive_avg_pool1d) { return cell_means(cls, args, 1); }
GW_KERNEL(adaptive_avg_pool2d) { return cell_means(cls, args, 2); }
GW_KERNEL(adaptive_avg_pool3d) { return cell_means(cls, args, 3); }

/* grad, input_size, ndim */
GW_KERNEL(adaptive_avg_pool_backward) {
    const GwTensor *grad = real_tensor(args[0]);
    int64_t sizes[GW_MAX_DIMS], ndim;
    int rank = gw_plain_sizes(args[1], sizes);
    Windows w = {0};
    return grad == NULL || !gw_plain_int(args[2], &ndim) || ndim < 1 || ndim > AXES || rank < ndim
           || grad->ndim != rank
           || !read_cells(&w, (int)ndim, rank, sizes, grad->sizes + rank - ndim)
           || grad->numel != w.planes * w.out_plane
           ? NULL : spread_means(cls, grad, &w, sizes);
}

const GwKernelEntry gw_window_kernels[] = {
    {"adaptive_avg_pool", 2, adaptive_avg_pool},
    {"adaptive_avg_pool1d", 2, adaptive_avg_pool1d},
    {"adaptive_avg_pool2d", 2, adaptive_avg_pool2d},
    {"adaptive_avg_pool3d", 2, adaptive_avg_pool3d},
    {"adaptive_avg_pool_backward", 3, adaptive_avg_pool_backward},
    {"adaptive_max_pool", 2, adaptive_max_pool},
    {"adaptive_max_pool1d", 2, adaptive_max_pool1d},
    {"adaptive_max_pool2d", 2, adaptive_max_pool2d},
    {"adaptive_max_pool3d", 2, adaptive_max_pool3d},
    {"avg_pool", 7, avg_pool},
    {"avg_pool1d", 6, avg_pool1d},
    {"avg_pool2d", 7, avg_pool2d},
    {"avg_pool3d", 7, avg_pool3d},
    {"avg_pool_backward", 8, avg_pool_backward},
    {"max_pool1d", 6, max_pool1d},
    {"max_pool1d_with_indices", 6, max_pool1d_with_indices},
    {"max_pool2d", 6, max_pool2d},
    {"max_pool2d_with_indices", 6, max_pool2d_with_indices},
    {"max_pool3d", 6, max_pool3d},
    {"max_pool3d_with_indices", 6, max_pool3d_with_indices},
    {"max_pool_backward", 7, max_pool_backward},
    {"max_pool_with_indices", 6, max_pool_with_indices},
    {NULL, 0, NULL},
};
