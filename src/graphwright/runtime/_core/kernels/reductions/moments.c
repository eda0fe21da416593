/* Reductions of few elements over any dims, in double: variances and deviations, with or without
 * the mean, norms, distances, counts, means without NaN, the places of extrema. */
#include "loops.h"
#include "sort_orders.h"

#include <float.h>
#include <math.h>

enum { MOST = 1024 };

/* The elements, and which of the results each is part of. */
typedef struct {
    int dtype, ndim;
    int64_t count, results, each;   /* elements, results, elements of a result */
    int64_t sizes[GW_MAX_DIMS];     /* of the result, without the reduced dims or with 1 there */
    double values[MOST];
    int place[MOST];
} Few;

static double value_of(const char *p, int dtype) {
    switch (dtype) {
        case GW_BOOL: case GW_UINT8: return *(const uint8_t *)p;
        case GW_INT8: return *(const int8_t *)p;
        case GW_INT16: return *(const int16_t *)p;
        case GW_INT32: return *(const int32_t *)p;
        case GW_INT64: return (double)*(const int64_t *)p;
        case GW_FLOAT32: return *(const float *)p;
        default: return *(const double *)p;
    }
}

static bool is_real(int dtype) { return dtype == GW_FLOAT32 || dtype == GW_FLOAT64; }

/* Marks the dims that go: None means all, as does a sequence without any. */
static bool read_dims(PyObject *dim, int ndim, bool *reduced) {
    bool many = PyTuple_CheckExact(dim) || PyList_CheckExact(dim);
    Py_ssize_t count = many ? PySequence_Fast_GET_SIZE(dim) : dim == Py_None ? 0 : 1;
    for (int d = 0; d < ndim; d++) {
        reduced[d] = count == 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int d;
        if (!gw_wrapped_dim(many ? PySequence_Fast_GET_ITEM(dim, i) : dim, ndim, &d)
            || reduced[d]) {
            return false;
        }
        reduced[d] = true;
    }
    return true;
}

/* Reads one tensor, or the differences of two that broadcast. */
static void read_values(Few *f, int count, GwTensor *const *tensors, int ndim,
                        const int64_t *sizes, const int64_t *steps) {
    int64_t at[GW_MAX_DIMS] = {0};
    for (int64_t i = 0; i < f->count; i++) {
        int64_t place = 0;
        for (int k = 0; k < count; k++) {
            const GwTensor *t = tensors[k];
            int64_t offset = 0;
            for (int own = 0, d = ndim - t->ndim; own < t->ndim; own++, d++) {
                offset += t->sizes[own] == 1 ? 0 : at[d] * t->strides[own];
            }
            double value = value_of(t->data + offset * gw_itemsize(t), t->dtype);
            f->values[i] = k == 0 ? value : f->values[i] - value;
        }
        for (int d = 0; d < ndim; d++) {
            place += at[d] * steps[d];
        }
        f->place[i] = (int)place;
        for (int d = ndim - 1; d >= 0 && ++at[d] == sizes[d]; d--) {
            at[d] = 0;
        }
    }
}

static bool read_few(Few *f, int count, GwTensor *const *tensors, PyObject *dim, bool keepdim) {
    int64_t sizes[GW_MAX_DIMS], steps[GW_MAX_DIMS];
    bool reduced[GW_MAX_DIMS];
    int ndim = gw_broadcast(count, tensors, sizes);
    if (ndim < 0 || !read_dims(dim, ndim, reduced)) {
        return false;
    }
    f->dtype = tensors[0]->dtype;
    f->ndim = 0;
    f->count = f->results = f->each = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        steps[d] = reduced[d] ? 0 : f->results;
        *(reduced[d] ? &f->each : &f->results) *= sizes[d];
        f->count *= sizes[d];
        if (f->count == 0 || f->count > MOST) {
            return false;
        }
    }
    for (int d = 0; d < ndim; d++) {
        if (!reduced[d] || keepdim) {
            f->sizes[f->ndim++] = reduced[d] ? 1 : sizes[d];
        }
    }
    read_values(f, count, tensors, ndim, sizes, steps);
    return true;
}

/* A tensor of few numbers that are real or, else, of any dtype that is read. */
static bool read_one(Few *f, PyObject *input, PyObject *dim, PyObject *keepdim, bool real) {
    GwTensor *t = gw_plain_tensor(input);
    bool known = t != NULL && (t->dtype <= GW_INT64 || is_real(t->dtype));
    return known && (is_real(t->dtype) || !real) && PyBool_Check(keepdim)
           && read_few(f, 1, &t, dim, keepdim == Py_True);
}

static GwTensor *result_of(PyTypeObject *cls, const Few *f, int dtype) {
    return gw_tensor_empty(cls, dtype, f->ndim, f->sizes, NULL);
}

/* The results, rounded to a new tensor of the values' dtype. */
static PyObject *rounded(PyTypeObject *cls, const Few *f, const double *results) {
    GwTensor *out = result_of(cls, f, f->dtype);
    for (int64_t i = 0; out != NULL && i < f->results; i++) {
        if (f->dtype == GW_FLOAT32) {
            ((float *)out->data)[i] = (float)results[i];
        } else {
            ((double *)out->data)[i] = results[i];
        }
    }
    return (PyObject *)out;
}

/* ---- moments: input, dim, unbiased, keepdim, correction ---- */

static void take_means(const Few *f, double *means) {
    memset(means, 0, (size_t)f->results * sizeof *means);
    for (int64_t i = 0; i < f->count; i++) {
        means[f->place[i]] += f->values[i];
    }
    for (int64_t i = 0; i < f->results; i++) {
        means[i] /= (double)f->each;
    }
}

static void take_variances(const Few *f, const double *means, double correction, bool root,
                           double *variances) {
    double freedom = (double)f->each - correction;
    memset(variances, 0, (size_t)f->results * sizeof *variances);
    for (int64_t i = 0; i < f->count; i++) {
        double gap = f->values[i] - means[f->place[i]];
        variances[f->place[i]] += gap * gap;
    }
    for (int64_t i = 0; i < f->results; i++) {
        double value = variances[i] / freedom;
        variances[i] = root ? sqrt(value) : value;
    }
}

/* Where there is nothing to divide by, Python warns. */
static PyObject *moments(PyTypeObject *cls, PyObject *const *args, bool root, bool with_mean) {
    Few f;
    double correction = args[2] != Py_False, means[MOST], variances[MOST];
    bool either = args[2] == Py_None || (PyBool_Check(args[2]) && args[4] == Py_None);
    if (!either || PyBool_Check(args[1])
        || (args[4] != Py_None && !gw_plain_number(args[4], &correction))
        || !read_one(&f, args[0], args[1], args[3], true)
        || (double)f.each <= correction) {
        return NULL;
    }
    take_means(&f, means);
    take_variances(&f, means, correction, root, variances);
    PyObject *moment = rounded(cls, &f, variances);
    if (moment == NULL || !with_mean) {
        return moment;
    }
    PyObject *mean = rounded(cls, &f, means);
    PyObject *both = mean == NULL ? NULL : PyTuple_Pack(2, moment, mean);
    Py_DECREF(moment);
    Py_XDECREF(mean);
    return both;
}

GW_KERNEL(var) { return moments(cls, args, false, false); }
GW_KERNEL(std) { return moments(cls, args, true, false); }
GW_KERNEL(var_mean) { return moments(cls, args, false, true); }
GW_KERNEL(std_mean) { return moments(cls, args, true, true); }

/* input, dim, keepdim, dtype */
GW_KERNEL(nanmean) {
    Few f;
    double totals[MOST] = {0}, known[MOST] = {0};
    if (args[3] != Py_None || !read_one(&f, args[0], args[1], args[2], true)) {
        return NULL;
    }
    for (int64_t i = 0; i < f.count; i++) {
        bool counts = f.values[i] == f.values[i];
        totals[f.place[i]] += counts ? f.values[i] : 0;
        known[f.place[i]] += counts;
    }
    for (int64_t i = 0; i < f.results; i++) {
        totals[i] /= known[i];
    }
    return rounded(cls, &f, totals);
}

/* input, dim */
GW_KERNEL(count_nonzero) {
    Few f;
    if (!read_one(&f, args[0], args[1], Py_False, false)) {
        return NULL;
    }
    GwTensor *out = result_of(cls, &f, GW_INT64);
    if (out != NULL) {
        int64_t *counts = (int64_t *)out->data;
        memset(counts, 0, (size_t)f.results * sizeof *counts);
        for (int64_t i = 0; i < f.count; i++) {
            counts[f.place[i]] += f.values[i] != 0;
        }
    }
    return (PyObject *)out;
}

/* ---- norms ---- */

static double term_of(double size, double order) {
    return order == 0 ? size != 0 : order == 1 ? size : order == 2 ? size * size : pow(size, order);
}

static void take_norms(const Few *f, double order, double *norms) {
    bool greatest = order == INFINITY, least = order == -INFINITY;
    for (int64_t i = 0; i < f->results; i++) {
        norms[i] = least ? INFINITY : 0;
    }
    for (int64_t i = 0; i < f->count; i++) {
        double *norm = &norms[f->place[i]], size = fabs(f->values[i]);
        bool takes = size != size || (greatest ? size > *norm : size < *norm);
        *norm = !greatest && !least ? *norm + term_of(size, order) : takes ? size : *norm;
    }
    for (int64_t i = 0; i < f->results && order != 0 && order != 1 && !greatest && !least; i++) {
        norms[i] = order == 2 ? sqrt(norms[i]) : pow(norms[i], 1 / order);
    }
}

static PyObject *norm_of(PyTypeObject *cls, const Few *f, double order) {
    double norms[MOST];
    take_norms(f, order, norms);
    return rounded(cls, f, norms);
}

/* None and "fro" mean 2; false for other names. */
static bool read_order(PyObject *o, double *order) {
    bool two = o == Py_None
               || (PyUnicode_Check(o) && PyUnicode_CompareWithASCIIString(o, "fro") == 0);
    bool known = gw_plain_number(o, order) || two;
    *order = two ? 2 : *order;
    return known;
}

/* Whether float32 has the order, which is rounded otherwise. */
static bool is_held(double order) { return isinf(order) || fabs(order) <= (double)FLT_MAX; }

/* input, order, dim, keepdim, dtype */
GW_KERNEL(norm) {
    Few f;
    double order;
    bool plain = args[4] == Py_None && read_order(args[1], &order) && is_held(order)
                 && read_one(&f, args[0], args[2], args[3], true);
    return plain ? norm_of(cls, &f, order) : NULL;
}

/* The same, of an order that is a number. */
GW_KERNEL(vector_norm) { return PyUnicode_Check(args[1]) ? NULL : norm(cls, args); }

static Py_ssize_t dims_in(PyObject *dim) {
    return PyTuple_CheckExact(dim) || PyList_CheckExact(dim) ? PySequence_Fast_GET_SIZE(dim) : -1;
}

/* A, order, dim, keepdim, dtype: Frobenius' norm of two dims. */
GW_KERNEL(matrix_norm) {
    bool frobenius = PyUnicode_Check(args[1]) && dims_in(args[2]) == 2;
    return frobenius ? norm(cls, args) : NULL;
}

/* The same; of vectors for a number, of all that is in the dims for None. */
GW_KERNEL(norm_by_order) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    Py_ssize_t dims = dims_in(args[2]);
    bool all = args[2] == Py_None;
    if (t == NULL || dims == 0 || dims > 2) {
        return NULL;
    }
    bool named = PyUnicode_Check(args[1]), pair = dims == 2 || (all && t->ndim == 2);
    bool vectors = dims != 2 && (!all || t->ndim == 1);
    return args[1] == Py_None || (named ? pair : vectors) ? norm(cls, args) : NULL;
}

/* input, other, order */
GW_KERNEL(dist) {
    GwTensor *both[2] = {gw_plain_tensor(args[0]), gw_plain_tensor(args[1])};
    Few f;
    double order;
    bool plain = both[0] != NULL && both[1] != NULL && both[0]->dtype == both[1]->dtype
                 && is_real(both[0]->dtype) && gw_plain_number(args[2], &order)
                 && is_held(order) && read_few(&f, 2, both, Py_None, false);
    return plain ? norm_of(cls, &f, order) : NULL;
}

/* input, order, dim, greatest norm of the slices along it */
GW_KERNEL(renorm) {
    GwTensor *t = gw_plain_tensor(args[0]);
    Few f;
    double order, most, norms[MOST];
    int dim;
    if (t == NULL || t->ndim < 2 || !is_real(t->dtype) || (t->flags & GW_CONTIGUOUS) == 0
        || !gw_plain_number(args[1], &order) || !(order > 0) || !gw_plain_number(args[3], &most)
        || !(most >= 0) || !gw_wrapped_dim(args[2], t->ndim, &dim)
        || !read_few(&f, 1, &t, Py_None, false)) {
        return NULL;
    }
    for (int64_t i = 0; i < f.count; i++) {
        f.place[i] = t->sizes[dim] == 1 ? 0 : (int)(i / t->strides[dim] % t->sizes[dim]);
    }
    f.results = t->sizes[dim];
    take_norms(&f, order, norms);
    for (int64_t i = 0; i < f.count; i++) {
        double norm = norms[f.place[i]];
        f.values[i] *= norm > most ? most / (norm + 1e-7) : 1;
    }
    f.ndim = t->ndim;
    f.results = f.count;
    memcpy(f.sizes, t->sizes, (size_t)t->ndim * sizeof(int64_t));
    return rounded(cls, &f, f.values);
}

/* ---- places of extrema: input, dim or None, keepdim ---- */

static PyObject *position(PyTypeObject *cls, PyObject *const *args, bool greatest) {
    Few f;
    double best[MOST];
    int64_t seen[MOST] = {0};
    const GwTensor *t = gw_plain_tensor(args[0]);
    if (t == NULL || t->dtype == GW_BOOL) {
        return NULL;
    }
    bool wide = t->dtype == GW_INT64;       /* double does not hold these */
    if (wide || !read_one(&f, args[0], args[1], args[2], false)) {
        return gw_place_of_extreme(cls, args, greatest);
    }
    GwTensor *out = result_of(cls, &f, GW_INT64);
    for (int64_t i = 0; out != NULL && i < f.count; i++) {
        int place = f.place[i];
        double value = f.values[i], other = best[place];
        bool better = greatest ? value > other : value < other;
        if (seen[place] == 0 || (other == other && (better || value != value))) {
            best[place] = value;
            ((int64_t *)out->data)[place] = seen[place];
        }
        seen[place]++;
    }
    return (PyObject *)out;
}

GW_KERNEL(argmax) { return position(cls, args, true); }
GW_KERNEL(argmin) { return position(cls, args, false); }

/* ---- distances between all pairs of rows: x1, x2, order, mode ---- */

/* Whether the batches are the same, or that of `b` is one matrix for all. */
static bool fits_batch(const GwTensor *a, const GwTensor *b) {
    size_t batch = (size_t)(a->ndim - 2) * sizeof(int64_t);
    return b->ndim == 2 || (a->ndim == b->ndim && memcmp(a->sizes, b->sizes, batch) == 0);
}

/* Appends the differences of two rows, which count for one result. */
static void put_differences(Few *f, int place, const char *a, const char *b, int64_t width) {
    for (int64_t i = 0; i < width; i++, f->count++) {
        f->place[f->count] = place;
        f->values[f->count] = f->dtype == GW_FLOAT32
                              ? (double)((const float *)a)[i] - (double)((const float *)b)[i]
                              : ((const double *)a)[i] - ((const double *)b)[i];
    }
}

static bool has_rows(const GwTensor *t) {
    return t != NULL && t->ndim >= 2 && is_real(t->dtype) && (t->flags & GW_CONTIGUOUS) != 0
           && t->numel > 0 && t->numel <= MOST;
}

GW_KERNEL(pair_distances) {
    const GwTensor *a = gw_plain_tensor(args[0]), *b = gw_plain_tensor(args[1]);
    Few f;
    double order;
    if (!has_rows(a) || !has_rows(b) || a->dtype != b->dtype || !fits_batch(a, b)
        || !gw_plain_number(args[2], &order) || !(order >= 0) || args[3] != Py_None) {
        return NULL;
    }
    int64_t width = a->sizes[a->ndim - 1], rows = a->sizes[a->ndim - 2];
    int64_t others = b->sizes[b->ndim - 2], item = gw_itemsize(a);
    if (width != b->sizes[b->ndim - 1] || a->numel * others > MOST) {
        return NULL;
    }
    f.dtype = a->dtype;
    f.ndim = a->ndim;
    f.count = 0;
    f.results = a->numel / width * others;
    memcpy(f.sizes, a->sizes, (size_t)a->ndim * sizeof(int64_t));
    f.sizes[a->ndim - 1] = others;
    for (int64_t pair = 0; pair < f.results; pair++) {
        int64_t row = pair / others, other = pair % others;
        other += b->ndim == 2 ? 0 : row / rows * others;
        put_differences(&f, (int)pair, a->data + row * width * item, b->data + other * width * item,
                        width);
    }
    return norm_of(cls, &f, order);
}

#define DISTANCES(TYPE)                                                             \
    for (int64_t i = 0; i < rows; i++) {                                            \
        for (int64_t j = i + 1; j < rows; j++) {                                    \
            const TYPE *a = (const TYPE *)(const void *)t->data + i * size;         \
            const TYPE *b = (const TYPE *)(const void *)t->data + j * size;         \
            double sum = 0;                                                         \
            for (int64_t k = 0; k < size; k++) {                                    \
                double difference = (double)(TYPE)(a[k] - b[k]);                    \
                sum += difference * difference;                                     \
            }                                                                       \
            *((TYPE *)(void *)out->data + place++) = (TYPE)sqrt(sum);               \
        }                                                                           \
    }

/* Those of order 2, without copies of the differences. */
static PyObject *distances_of_pairs(PyTypeObject *cls, const GwTensor *t) {
    int64_t rows = t->sizes[0], size = t->sizes[1], count = rows * (rows - 1) / 2, place = 0;
    GwTensor *out = gw_tensor_empty(cls, t->dtype, 1, &count, NULL);
    if (out != NULL && t->dtype == GW_FLOAT32) {
        DISTANCES(float)
    } else if (out != NULL) {
        DISTANCES(double)
    }
    return (PyObject *)out;
}

/* input, order: distances between the rows of a matrix and those behind them. */
GW_KERNEL(pdist) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    Few f;
    double order;
    if (!has_rows(t) || t->ndim != 2 || !gw_plain_number(args[1], &order) || !(order >= 0)) {
        return NULL;
    }
    int64_t rows = t->sizes[0], width = t->sizes[1], item = gw_itemsize(t);
    f.dtype = t->dtype;
    f.ndim = 1;
    f.count = 0;
    f.results = rows * (rows - 1) / 2;
    f.sizes[0] = f.results;
    if (f.results == 0 || f.results > MOST || f.results * width > MOST) {
        return NULL;
    }
    if (order == 2 && (t->flags & GW_CONTIGUOUS) != 0) {
        return distances_of_pairs(cls, t);
    }
    for (int64_t first = 0, pair = 0; first < rows; first++) {
        for (int64_t second = first + 1; second < rows; second++, pair++) {
            put_differences(&f, (int)pair, t->data + first * width * item,
                            t->data + second * width * item, width);
        }
    }
    return norm_of(cls, &f, order);
}

/* ---- the sum of a matrix' diagonal ---- */

GW_KERNEL(trace) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    if (t == NULL || t->ndim != 2 || t->numel == 0
        || (!is_real(t->dtype) && t->dtype != GW_INT64)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, 0, NULL, NULL);
    int64_t n = t->sizes[0] < t->sizes[1] ? t->sizes[0] : t->sizes[1], whole = 0;
    int64_t step = (t->strides[0] + t->strides[1]) * gw_itemsize(t);
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        const char *p = t->data + i * step;
        if (t->dtype == GW_INT64) {
            whole = (int64_t)((uint64_t)whole + (uint64_t)*(const int64_t *)p);
        } else {
            total += value_of(p, t->dtype);
        }
    }
    if (out != NULL && t->dtype == GW_INT64) {
        *(int64_t *)out->data = whole;
    } else if (out != NULL && t->dtype == GW_FLOAT32) {
        *(float *)out->data = (float)total;
    } else if (out != NULL) {
        *(double *)out->data = total;
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_moment_kernels[] = {
    {"argmax", 3, argmax},
    {"argmin", 3, argmin},
    {"count_nonzero", 2, count_nonzero},
    {"dist", 3, dist},
    {"linalg_matrix_norm", 5, matrix_norm},
    {"linalg_norm", 5, norm_by_order},
    {"linalg_vector_norm", 5, vector_norm},
    {"nanmean", 4, nanmean},
    {"norm", 5, norm},
    {"p_norm", 5, norm},
    {"cdist", 4, pair_distances},
    {"pair_distances", 4, pair_distances},
    {"pdist", 2, pdist},
    {"renorm", 4, renorm},
    {"std", 5, std},
    {"std_mean", 5, std_mean},
    {"trace", 1, trace},
    {"var", 5, var},
    {"var_mean", 5, var_mean},
    {NULL, 0, NULL},
};
