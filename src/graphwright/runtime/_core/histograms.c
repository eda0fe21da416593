/* Histograms of few elements: evenly spaced, between given edges, in several dimensions, and counts
 * of whole numbers. */
#include "native.h"

#include <math.h>

enum { LARGEST = 32 << 10 };

static GwTensor *few_elements(PyObject *o) {
    GwTensor *t = gw_plain_tensor(o);
    return t != NULL && (t->flags & GW_CONTIGUOUS) != 0 && t->numel <= LARGEST ? t : NULL;
}

static bool is_real(const GwTensor *t) {
    return t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64;
}

/* ---- evenly spaced ---- */

/* The bin of a value from `low` to `high` in double, of numbers whose difference, or that times the
 * bins, the elements' type does not have. */
static int64_t place_of(double value, double low, double high, int64_t bins) {
    double scale = high - low > 1 ? 0.5 : 1;
    double part = (value * scale - low * scale) / (high * scale - low * scale);
    return (int64_t)(part * (double)bins);
}

#define COUNT_EVENLY(T, name)                                                                 \
    static bool name(const GwTensor *t, T *counts, int64_t bins, double low, double high) { \
        const T *values = (const T *)t->data;                                              \
        if (low == high) {                                                                 \
            low = INFINITY;                                                                \
            high = -INFINITY;                                                              \
            for (int64_t i = 0; i < t->numel; i++) {                                       \
                low = values[i] >= low || low != low ? low : values[i];                    \
                high = values[i] <= high || high != high ? high : values[i];               \
            }                                                                              \
            double margin = low == high;                                                   \
            low -= margin;                                                                 \
            high += margin;                                                                \
        }                                                                                  \
        if (!isfinite(low) || !isfinite(high)) {                                           \
            return false;                                                                  \
        }                                                                                  \
        T least = (T)low, width = (T)(high - low);                                         \
        bool fits = width > 0 && isfinite(width * (T)bins);                                \
        for (int64_t i = 0; i < t->numel; i++) {                                           \
            if (values[i] >= low && values[i] <= high) {                                   \
                int64_t place = fits ? (int64_t)((values[i] - least) * (T)bins / width)    \
                                     : place_of(values[i], low, high, bins);               \
                counts[place < bins ? place : bins - 1]++;                                 \
            }                                                                              \
        }                                                                                  \
        return true;                                                                       \
    }

COUNT_EVENLY(float, histogram_float)
COUNT_EVENLY(double, histogram_double)

/* input, bins, min, max */
GW_KERNEL(histc) {
    const GwTensor *t = few_elements(args[0]);
    int64_t bins;
    double low, high;
    char bytes[16];
    if (t == NULL || t->numel == 0 || !is_real(t) || !gw_element(args[2], t->dtype, bytes)
        || !gw_element(args[3], t->dtype, bytes)
        || !gw_plain_int(args[1], &bins) || bins <= 0 || bins > LARGEST
        || !gw_plain_number(args[2], &low) || !gw_plain_number(args[3], &high) || high < low) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, 1, &bins, NULL);
    if (out == NULL) {
        return NULL;
    }
    memset(out->data, 0, (size_t)(bins * gw_itemsize(out)));
    bool done = t->dtype == GW_FLOAT32
                ? histogram_float(t, (float *)out->data, bins, low, high)
                : histogram_double(t, (double *)out->data, bins, low, high);
    if (!done) {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}

/* ---- between edges ---- */

/* Which of the bins between sorted edges a value is in, -1 where in none. The last one has both
 * its edges. */
#define FIND_BIN(T, name)                                                                  \
    static int64_t name(const void *edges, int64_t n, const void *wanted) {                \
        const T *bounds = edges;                                                           \
        T value = *(const T *)wanted;                                                      \
        if (!(value >= bounds[0] && value <= bounds[n - 1])) {                             \
            return -1;                                                                     \
        }                                                                                  \
        int64_t low = 0, high = n - 1;      /* of the last edge that is not greater */     \
        while (low < high) {                                                               \
            int64_t middle = (low + high + 1) / 2;                                         \
            low = bounds[middle] <= value ? middle : low;                                  \
            high = bounds[middle] <= value ? high : middle - 1;                            \
        }                                                                                  \
        return low < n - 1 ? low : n - 2;                                                  \
    }

FIND_BIN(float, find_bin_float)
FIND_BIN(double, find_bin_double)

typedef int64_t (*FindBin)(const void *edges, int64_t n, const void *wanted);

static double element(const GwTensor *t, int64_t i) {
    return t->dtype == GW_FLOAT32 ? ((const float *)t->data)[i] : ((const double *)t->data)[i];
}

static void set_element(GwTensor *t, int64_t i, double value) {
    if (t->dtype == GW_FLOAT32) {
        ((float *)t->data)[i] = (float)value;
    } else {
        ((double *)t->data)[i] = value;
    }
}

/* Edges of at least one bin, of a dtype. */
static GwTensor *read_edges(PyObject *o, int dtype) {
    GwTensor *t = few_elements(o);
    return t != NULL && t->ndim == 1 && t->numel >= 2 && t->dtype == dtype ? t : NULL;
}

/* What each of `count` values weighs; false, without an exception, where it is not plain. */
static bool read_weight(PyObject *o, int dtype, int64_t count, const GwTensor **weight) {
    *weight = o == Py_None ? NULL : few_elements(o);
    return o == Py_None
           || (*weight != NULL && (*weight)->dtype == dtype && (*weight)->numel == count);
}

/* Counts as densities: over their sum and the widths of the bins. */
static void divide_by_widths(double *counts, const GwTensor *edges) {
    double total = 0;
    for (int64_t i = 0; i < edges->numel - 1; i++) {
        total += counts[i];
    }
    for (int64_t i = 0; i < edges->numel - 1; i++) {
        counts[i] /= total * (element(edges, i + 1) - element(edges, i));
    }
}

static void move_counts(const double *counts, GwTensor *out) {
    for (int64_t i = 0; i < out->numel; i++) {
        set_element(out, i, counts[i]);
    }
}

/* input, edges, weight, density */
GW_KERNEL(histogram_counts) {
    const GwTensor *t = few_elements(args[0]), *weight;
    const GwTensor *edges = t == NULL || !is_real(t) ? NULL : read_edges(args[1], t->dtype);
    if (edges == NULL || !read_weight(args[2], t->dtype, t->numel, &weight)) {
        return NULL;
    }
    int64_t bins = edges->numel - 1, item = gw_itemsize(t);
    GwTensor *out = gw_tensor_empty(cls, t->dtype, 1, &bins, NULL);
    double *counts = out == NULL ? NULL : PyMem_Calloc((size_t)bins, sizeof(double));
    if (counts == NULL) {
        Py_XDECREF(out);
        return PyErr_NoMemory();
    }
    FindBin find_bin = t->dtype == GW_FLOAT32 ? find_bin_float : find_bin_double;
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t place = find_bin(edges->data, edges->numel, t->data + i * item);
        if (place >= 0) {
            counts[place] += weight == NULL ? 1 : element(weight, i);
        }
    }
    if (args[3] == Py_True) {
        divide_by_widths(counts, edges);
    }
    move_counts(counts, out);
    PyMem_Free(counts);
    return (PyObject *)out;
}

/* The edges along each of the last dim's places; the number of bins of all, or 0. */
static int64_t read_axes(PyObject *list, const GwTensor *points, GwTensor **edges,
                         int64_t *sizes) {
    int dims = (int)points->sizes[points->ndim - 1];
    if (!PyTuple_Check(list) || PyTuple_GET_SIZE(list) != dims) {
        return 0;
    }
    int64_t total = 1;
    for (int d = 0; d < dims; d++) {
        edges[d] = read_edges(PyTuple_GET_ITEM(list, d), points->dtype);
        if (edges[d] == NULL || total > LARGEST / (edges[d]->numel - 1)) {
            return 0;
        }
        sizes[d] = edges[d]->numel - 1;
        total *= sizes[d];
    }
    return total;
}

/* Which of all bins a point is in, -1 where in none. */
static int64_t find_cell(GwTensor *const *edges, int dims, const char *point, int64_t item) {
    FindBin find_bin = edges[0]->dtype == GW_FLOAT32 ? find_bin_float : find_bin_double;
    int64_t cell = 0;
    for (int d = 0; d < dims; d++) {
        int64_t place = find_bin(edges[d]->data, edges[d]->numel, point + d * item);
        if (place < 0) {
            return -1;
        }
        cell = cell * (edges[d]->numel - 1) + place;
    }
    return cell;
}

/* points [.., dims], a tuple of edges, weight */
GW_KERNEL(histogramdd_counts) {
    const GwTensor *t = few_elements(args[0]), *weight;
    GwTensor *edges[GW_MAX_DIMS];
    int64_t sizes[GW_MAX_DIMS];
    if (t == NULL || t->ndim < 2 || t->numel == 0 || !is_real(t)
        || t->sizes[t->ndim - 1] > GW_MAX_DIMS) {
        return NULL;
    }
    int dims = (int)t->sizes[t->ndim - 1];
    int64_t count = t->numel / dims, total = read_axes(args[1], t, edges, sizes);
    if (total == 0 || !read_weight(args[2], t->dtype, count, &weight)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, dims, sizes, NULL);
    double *counts = out == NULL ? NULL : PyMem_Calloc((size_t)total, sizeof(double));
    if (counts == NULL) {
        Py_XDECREF(out);
        return PyErr_NoMemory();
    }
    int64_t item = gw_itemsize(t);
    for (int64_t i = 0; i < count; i++) {
        int64_t cell = find_cell(edges, dims, t->data + i * dims * item, item);
        if (cell >= 0) {
            counts[cell] += weight == NULL ? 1 : element(weight, i);
        }
    }
    move_counts(counts, out);
    PyMem_Free(counts);
    return (PyObject *)out;
}

static bool read_range(PyObject *range, double *low, double *high) {
    bool given = PyTuple_Check(range) || PyList_Check(range);
    return given && PySequence_Fast_GET_SIZE(range) == 2
           && gw_plain_number(PySequence_Fast_GET_ITEM(range, 0), low)
           && gw_plain_number(PySequence_Fast_GET_ITEM(range, 1), high);
}

/* The range asked for, or that of the values. False where it is not finite. */
static bool find_range(const GwTensor *t, PyObject *range, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    if (range != Py_None && !read_range(range, low, high)) {
        return false;
    }
    for (int64_t i = 0; range == Py_None && i < t->numel; i++) {
        double value = element(t, i);
        *low = value >= *low ? *low : value;
        *high = value <= *high ? *high : value;
        if (isnan(value)) {
            return false;
        }
    }
    return isfinite(*low) && isfinite(*high) && *low <= *high;
}

/* input, bins, range: evenly spaced, with a margin around a single value. */
GW_KERNEL(histogram_edges) {
    const GwTensor *t = few_elements(args[0]);
    int64_t bins;
    double low, high;
    if (t == NULL || t->numel == 0 || !is_real(t) || !gw_plain_int(args[1], &bins) || bins < 1
        || bins > LARGEST || !find_range(t, args[2], &low, &high)) {
        return NULL;
    }
    double margin = low == high ? 0.5 : 0;
    low -= margin;
    high += margin;
    int64_t size = bins + 1;
    GwTensor *out = gw_tensor_empty(cls, t->dtype, 1, &size, NULL);
    double step = (high - low) / (double)bins;
    for (int64_t i = 0; out != NULL && i < size; i++) {
        set_element(out, i, i < bins ? low + (double)i * step : high);
    }
    return (PyObject *)out;
}

/* ---- of whole numbers ---- */

/* input, weights, minlength */
GW_KERNEL(bincount) {
    const GwTensor *t = few_elements(args[0]);
    int64_t least, bins;
    if (t == NULL || t->ndim != 1 || t->dtype != GW_INT64 || args[1] != Py_None
        || !gw_plain_int(args[2], &least) || least < 0 || least > LARGEST) {
        return NULL;
    }
    const int64_t *values = (const int64_t *)t->data;
    bins = least;
    for (int64_t i = 0; i < t->numel; i++) {
        if (values[i] < 0 || values[i] >= LARGEST) {
            return NULL;
        }
        bins = values[i] >= bins ? values[i] + 1 : bins;
    }
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, 1, &bins, NULL);
    if (out != NULL) {
        memset(out->data, 0, (size_t)bins * sizeof(int64_t));
        for (int64_t i = 0; i < t->numel; i++) {
            ((int64_t *)out->data)[values[i]]++;
        }
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_histogram_kernels[] = {
    {"bincount", 3, bincount},
    {"histc", 4, histc},
    {"histogram_counts", 4, histogram_counts},
    {"histogram_edges", 3, histogram_edges},
    {"histogramdd_counts", 3, histogramdd_counts},
    {NULL, 0, NULL},
};
