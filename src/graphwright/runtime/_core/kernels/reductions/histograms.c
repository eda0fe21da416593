/* Histograms: evenly spaced, and of few elements between given edges, in several dimensions, and
 * counts of whole numbers. */
#include "native.h"
#include "vector_math.h"

#include <math.h>

enum { LARGEST = 32 << 10, CHUNK = 256 };

static GwTensor *few_elements(PyObject *o) {
    GwTensor *t = gw_plain_tensor(o);
    return t != NULL && (t->flags & GW_CONTIGUOUS) != 0 && t->numel <= LARGEST ? t : NULL;
}

static bool is_real(const GwTensor *t) {
    return t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64;
}

static void set_element(GwTensor *t, int64_t i, double value) {
    if (t->dtype == GW_FLOAT32) {
        ((float *)t->data)[i] = (float)value;
    } else {
        ((double *)t->data)[i] = value;
    }
}

/* ---- evenly spaced ---- */

/* The bin of a value from `low` to `high` in double, of numbers whose difference, or that times the
 * bins, the elements' type does not have. */
static int64_t place_of(double value, double low, double high, int64_t bins) {
    double scale = high - low > 1 ? 0.5 : 1;
    double part = (value * scale - low * scale) / (high * scale - low * scale);
    return (int64_t)(part * (double)bins);
}

typedef struct {
    int64_t bins;
    double low, high;
} Range;

/* Where values are in bins of the same width, `bins` for those beyond the range, whose bounds are
 * numbers of their type. */
#define COUNT_EVENLY(T, name)                                                              \
    GW_VECTOR_MATH static void name##_places(const T *values, int64_t n, const Range *r,   \
                                             int32_t *places) {                            \
        T least = (T)r->low, greatest = (T)r->high;                                        \
        T width = greatest - least, bins = (T)r->bins;                                     \
        int32_t most = (int32_t)r->bins - 1;                                               \
        for (int64_t i = 0; i < n; i++) {                                                  \
            bool inside = (values[i] >= least) & (values[i] <= greatest);                  \
            T part = (values[i] - least) * bins / width;                                   \
            int32_t place = (int32_t)(inside ? part : 0);                                  \
            place = place < most ? place : most;                                           \
            places[i] = inside ? place : most + 1;                                         \
        }                                                                                  \
    }                                                                                      \
    static void name##_same_width(const T *values, int64_t n, const Range *r,              \
                                  int64_t *counts) {                                       \
        int32_t places[CHUNK];                                                             \
        for (int64_t done = 0; done < n; done += CHUNK) {                                  \
            int64_t chunk = n - done < CHUNK ? n - done : CHUNK;                           \
            name##_places(values + done, chunk, r, places);                                \
            for (int64_t i = 0; i < chunk; i++) {                                          \
                counts[places[i]]++;                                                       \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
    static bool name(const GwTensor *t, int64_t *counts, Range *r) {                       \
        const T *values = (const T *)t->data;                                              \
        if (r->low == r->high) {                                                           \
            double low = INFINITY, high = -INFINITY;                                       \
            for (int64_t i = 0; i < t->numel; i++) {                                       \
                low = values[i] >= low || low != low ? low : values[i];                    \
                high = values[i] <= high || high != high ? high : values[i];               \
            }                                                                              \
            double margin = low == high;                                                   \
            r->low = low - margin;                                                         \
            r->high = high + margin;                                                       \
        }                                                                                  \
        if (!isfinite(r->low) || !isfinite(r->high)) {                                     \
            return false;                                                                  \
        }                                                                                  \
        T width = (T)r->high - (T)r->low;                                                  \
        if (width > 0 && isfinite(width * (T)r->bins)) {                                   \
            name##_same_width(values, t->numel, r, counts);                                \
            return true;                                                                   \
        }                                                                                  \
        for (int64_t i = 0; i < t->numel; i++) {                                           \
            if (values[i] >= (T)r->low && values[i] <= (T)r->high) {                       \
                int64_t place = place_of(values[i], r->low, r->high, r->bins);             \
                counts[place < r->bins ? place : r->bins - 1]++;                           \
            }                                                                              \
        }                                                                                  \
        return true;                                                                       \
    }

COUNT_EVENLY(float, histogram_float)
COUNT_EVENLY(double, histogram_double)

static bool count_evenly(const GwTensor *t, int64_t *counts, Range *r) {
    PyThreadState *released = t->numel > LARGEST ? PyEval_SaveThread() : NULL;
    bool done = t->dtype == GW_FLOAT32 ? histogram_float(t, counts, r)
                                       : histogram_double(t, counts, r);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
    return done;
}

/* input, bins, min, max */
GW_KERNEL(histc) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    Range r;
    char bytes[16];
    if (t == NULL || (t->flags & GW_CONTIGUOUS) == 0 || t->numel == 0 || !is_real(t)
        || !gw_element(args[2], t->dtype, bytes) || !gw_element(args[3], t->dtype, bytes)
        || !gw_plain_int(args[1], &r.bins) || r.bins <= 0 || r.bins > LARGEST
        || !gw_plain_number(args[2], &r.low) || !gw_plain_number(args[3], &r.high)
        || r.high < r.low) {
        return NULL;
    }
    int64_t *counts = calloc((size_t)r.bins + 1, sizeof *counts);
    if (counts == NULL) {
        return PyErr_NoMemory();
    }
    GwTensor *out = count_evenly(t, counts, &r)
                    ? gw_tensor_empty(cls, t->dtype, 1, &r.bins, NULL) : NULL;
    for (int64_t i = 0; out != NULL && i < r.bins; i++) {
        set_element(out, i, (double)counts[i]);
    }
    free(counts);
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
