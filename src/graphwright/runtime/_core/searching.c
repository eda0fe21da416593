/* Searching in tensors of few elements: what is not zero, membership, sorted boundaries, distinct
 * values. */
#include "walk.h"

#include <math.h>

enum { LARGEST = 32 << 10, PAIRS = 32 << 10, MOST_ROWS = 128, MOST_KEYS = 1024 };

static GwTensor *contiguous(PyObject *o, int64_t most) {
    GwTensor *t = gw_plain_tensor(o);
    return t != NULL && (t->flags & GW_CONTIGUOUS) != 0 && t->numel <= most ? t : NULL;
}

/* ---- what is not zero ---- */

/* Whether an element is not zero, whose sign does not count. */
static bool is_true(const char *p, int dtype) {
    switch (dtype) {
        case GW_BOOL: case GW_UINT8: case GW_INT8: return *p != 0;
        case GW_INT16: case GW_UINT16: return *(const uint16_t *)p != 0;
        case GW_FLOAT16: case GW_BFLOAT16: return (*(const uint16_t *)p & 0x7fff) != 0;
        case GW_INT32: case GW_UINT32: return *(const uint32_t *)p != 0;
        case GW_INT64: case GW_UINT64: return *(const uint64_t *)p != 0;
        case GW_FLOAT32: return *(const float *)p != 0;
        default: return *(const double *)p != 0;
    }
}

/* Positions in rows, stored dim by dim as PyTorch does. */
GW_KERNEL(argwhere) {
    GwTensor *input = gw_plain_tensor(args[0]);
    GwSteps w;
    int64_t count = 0, found = 0;
    if (input == NULL || input->ndim == 0 || input->dtype == GW_COMPLEX64
        || input->dtype == GW_COMPLEX128) {
        return NULL;
    }
    if (!gw_walk_begin(&w, 1, &input)) {
        return (PyObject *)gw_places_contiguous(cls, input);
    }
    for (int64_t i = 0; i < w.numel; i++, gw_walk_next(&w)) {
        count += is_true(w.at[0], input->dtype);
    }
    int64_t sizes[2] = {count, input->ndim}, strides[2] = {1, count > 0 ? count : 1};
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, 2, sizes, strides);
    for (int64_t i = 0; out != NULL && i < w.numel; i++, gw_walk_next(&w)) {
        if (found < count && is_true(w.at[0], input->dtype)) {
            for (int d = 0; d < input->ndim; d++) {
                ((int64_t *)out->data)[d * count + found] = w.place[d];
            }
            found++;
        }
    }
    return (PyObject *)out;
}

/* ---- membership, boundaries ---- */

#define SEARCH(T, name)                                                                    \
    static bool has_##name(const void *values, int64_t n, const void *wanted) {            \
        T x = *(const T *)wanted;                                                          \
        bool found = false;                                                                \
        for (int64_t i = 0; i < n; i++) {                                                  \
            found |= ((const T *)values)[i] == x;                                          \
        }                                                                                  \
        return found;                                                                      \
    }                                                                                      \
    static int64_t place_##name(const void *values, int64_t n, const void *wanted,         \
                                bool right) {                                              \
        T x = *(const T *)wanted;                                                          \
        int64_t low = 0, high = n;                                                         \
        while (low < high) {                                                               \
            int64_t middle = low + (high - low) / 2;                                       \
            T other = ((const T *)values)[middle];                                         \
            bool before = right ? !(other > x) : !(other >= x);                            \
            low = before ? middle + 1 : low;                                               \
            high = before ? high : middle;                                                 \
        }                                                                                  \
        return low;                                                                        \
    }

SEARCH(float, float)
SEARCH(double, double)
SEARCH(int32_t, int32)
SEARCH(int64_t, int64)

typedef struct {
    bool (*has)(const void *values, int64_t n, const void *wanted);
    int64_t (*place)(const void *values, int64_t n, const void *wanted, bool right);
} Search;

static bool search_of(int dtype, Search *search) {
    switch (dtype) {
        case GW_FLOAT32: *search = (Search){has_float, place_float}; return true;
        case GW_FLOAT64: *search = (Search){has_double, place_double}; return true;
        case GW_INT32: *search = (Search){has_int32, place_int32}; return true;
        case GW_INT64: *search = (Search){has_int64, place_int64}; return true;
        default: return false;
    }
}

/* A tensor of that dtype, or a number that fits it. */
typedef struct {
    const GwTensor *tensor;
    const char *data;
    int64_t numel;
    char number[16];
} Wanted;

static bool read_wanted(Wanted *w, PyObject *o, int dtype) {
    w->tensor = contiguous(o, LARGEST);
    w->data = w->number;
    w->numel = 1;
    if (w->tensor == NULL) {
        return !gw_is_tensor(o) && gw_element(o, dtype, w->number);
    }
    w->data = w->tensor->data;
    w->numel = w->tensor->numel;
    return w->tensor->dtype == dtype;
}

/* elements, test_elements, assume_unique, invert */
GW_KERNEL(isin) {
    const GwTensor *elements = contiguous(args[0], LARGEST);
    Wanted tests;
    Search search;
    if (elements == NULL || !search_of(elements->dtype, &search)
        || !read_wanted(&tests, args[1], elements->dtype)
        || elements->numel * tests.numel > PAIRS || !PyBool_Check(args[3])) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, GW_BOOL, elements->ndim, elements->sizes, NULL);
    int size = gw_itemsize(elements);
    for (int64_t i = 0; out != NULL && i < elements->numel; i++) {
        bool found = search.has(tests.data, tests.numel, elements->data + i * size);
        out->data[i] = found != (args[3] == Py_True);
    }
    return (PyObject *)out;
}

/* Where values belong in sorted rows: in the only one, or each row of values in its own. */
static PyObject *places(PyTypeObject *cls, PyObject *sequence, PyObject *values,
                        PyObject *narrow, bool right) {
    const GwTensor *rows = contiguous(sequence, INT64_MAX);
    Wanted wanted;
    Search search;
    if (rows == NULL || rows->ndim == 0 || !search_of(rows->dtype, &search)
        || !read_wanted(&wanted, values, rows->dtype) || !PyBool_Check(narrow)) {
        return NULL;
    }
    const GwTensor *t = wanted.tensor;
    int ndim = t == NULL ? 0 : t->ndim, last = rows->ndim - 1;
    bool same = last == 0 || (ndim == rows->ndim && wanted.numel > 0
                && memcmp(t->sizes, rows->sizes, (size_t)last * sizeof(int64_t)) == 0);
    if (!same) {
        return NULL;
    }
    int64_t each = last == 0 ? wanted.numel : t->sizes[last], n = rows->sizes[last];
    int size = gw_itemsize(rows);
    GwTensor *out = gw_tensor_empty(cls, narrow == Py_True ? GW_INT32 : GW_INT64, ndim,
                                    t == NULL ? NULL : t->sizes, NULL);
    for (int64_t i = 0; out != NULL && i < wanted.numel; i++) {
        const char *row = rows->data + i / each * n * size;
        int64_t place = search.place(row, n, wanted.data + i * size, right);
        if (out->dtype == GW_INT32) {
            ((int32_t *)out->data)[i] = (int32_t)place;
        } else {
            ((int64_t *)out->data)[i] = place;
        }
    }
    return (PyObject *)out;
}

/* input, boundaries, out_int32, right */
GW_KERNEL(bucketize) {
    const GwTensor *boundaries = gw_plain_tensor(args[1]);
    bool plain = boundaries != NULL && boundaries->ndim == 1 && PyBool_Check(args[3]);
    return plain ? places(cls, args[1], args[0], args[2], args[3] == Py_True) : NULL;
}

/* sorted_sequence, input, out_int32, right, side, sorter */
GW_KERNEL(searchsorted) {
    bool plain = PyBool_Check(args[3]) && args[4] == Py_None && args[5] == Py_None;
    return plain ? places(cls, args[0], args[1], args[2], args[3] == Py_True) : NULL;
}

/* sequence, values, out_int32, right, sorter */
GW_KERNEL(search_positions) {
    bool plain = PyBool_Check(args[3]) && args[4] == Py_None;
    return plain ? places(cls, args[0], args[1], args[2], args[3] == Py_True) : NULL;
}

/* Whether contiguous tensors of one dtype are equal: one has the other's shape and elements. */
GW_KERNEL(equal) {
    GW_UNUSED(cls);
    const GwTensor *a = contiguous(args[0], LARGEST), *b = contiguous(args[1], LARGEST);
    Search search;
    if (a == NULL || b == NULL || a->dtype != b->dtype || !search_of(a->dtype, &search)) {
        return NULL;
    }
    bool same = a->ndim == b->ndim
                && memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof(int64_t)) == 0;
    int size = gw_itemsize(a);
    for (int64_t i = 0; same && i < a->numel; i++) {
        same = search.has(a->data + i * size, 1, b->data + i * size);
    }
    return PyBool_FromLong(same);
}

/* ---- distinct values ---- */

/* Rows: the elements, or the slices along a dim. Their keys are ordered as the elements are. */
typedef struct {
    const GwTensor *t;
    int dim;                        /* -1: each element is a row */
    int64_t count, width, inner;    /* inner: neighbouring elements of a slice */
    int order[MOST_ROWS];           /* of the rows */
    int group[MOST_ROWS];           /* that a row, by its place in `order`, belongs to */
    int groups;
    int64_t keys[MOST_KEYS];
} Rows;

static int64_t key_of(const char *p, int dtype) {
    switch (dtype) {
        case GW_BOOL: case GW_UINT8: return *(const uint8_t *)p;
        case GW_INT8: return *(const int8_t *)p;
        case GW_INT16: return *(const int16_t *)p;
        case GW_INT32: return *(const int32_t *)p;
        case GW_INT64: return *(const int64_t *)p;
        default: break;
    }
    double value = dtype == GW_FLOAT32 ? *(const float *)p : *(const double *)p;
    int64_t bits;
    value = value == 0 ? 0 : value;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? INT64_MAX : bits < 0 ? INT64_MIN - bits : bits;
}

static int64_t place_of(const Rows *r, int64_t row, int64_t k) {
    return (k / r->inner * r->count + row) * r->inner + k % r->inner;
}

static bool has_keys(int dtype) {
    return dtype <= GW_INT64 || dtype == GW_FLOAT32 || dtype == GW_FLOAT64;
}

/* False where there are too many rows, other dtypes, or NaNs among slices. */
static bool read_rows(Rows *r, PyObject *input, PyObject *dim) {
    const GwTensor *t = contiguous(input, MOST_KEYS);
    if (t == NULL || t->numel == 0 || !has_keys(t->dtype)
        || (dim != Py_None && !gw_plain_dim(dim, t->ndim, &r->dim))) {
        return false;
    }
    r->t = t;
    r->dim = dim == Py_None ? -1 : r->dim;
    r->count = r->dim < 0 ? t->numel : t->sizes[r->dim];
    r->width = t->numel / r->count;
    r->inner = r->dim < 0 || r->count == 1 ? 1 : t->strides[r->dim];
    bool floats = t->dtype >= GW_FLOAT32, slices = r->dim >= 0;
    for (int64_t i = 0; r->count <= MOST_ROWS && i < t->numel; i++) {
        r->keys[i] = key_of(t->data + i * gw_itemsize(t), t->dtype);
        if (floats && slices && r->keys[i] == INT64_MAX) {
            return false;
        }
    }
    return r->count <= MOST_ROWS;
}

static int compare_rows(const Rows *r, int a, int b) {
    for (int64_t k = 0; k < r->width; k++) {
        int64_t x = r->keys[place_of(r, a, k)], y = r->keys[place_of(r, b, k)];
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

/* Whether two rows of equal keys are equal: a NaN equals nothing. */
static bool never_equal(const Rows *r, int row) {
    return r->t->dtype >= GW_FLOAT32 && r->keys[place_of(r, row, 0)] == INT64_MAX;
}

static void order_rows(Rows *r, bool sorted) {
    for (int i = 0; i < (int)r->count; i++) {
        int at = i;
        for (; sorted && at > 0 && compare_rows(r, i, r->order[at - 1]) < 0; at--) {
            r->order[at] = r->order[at - 1];
        }
        r->order[at] = i;
    }
    r->groups = 0;
    for (int i = 0; i < (int)r->count; i++) {
        int row = r->order[i];
        bool same = i > 0 && compare_rows(r, r->order[i - 1], row) == 0 && !never_equal(r, row);
        r->groups += !same;
        r->group[i] = r->groups - 1;
    }
}

/* The first row of each group, one after the other in memory. */
static GwTensor *first_rows(PyTypeObject *cls, const Rows *r) {
    int64_t sizes[GW_MAX_DIMS] = {r->groups}, strides[GW_MAX_DIMS] = {r->width};
    int ndim = r->dim < 0 ? 1 : r->t->ndim, size = gw_itemsize(r->t);
    if (r->dim >= 0) {
        memcpy(sizes, r->t->sizes, (size_t)ndim * sizeof(int64_t));
        sizes[r->dim] = 1;
        gw_contiguous(sizes, ndim, strides);
        sizes[r->dim] = r->groups;
        strides[r->dim] = r->width;
    }
    GwTensor *out = gw_tensor_empty(cls, r->t->dtype, ndim, sizes, strides);
    for (int i = 0, last = -1; out != NULL && i < (int)r->count; i++) {
        for (int64_t k = 0; r->group[i] != last && k < r->width; k++) {
            int64_t to = r->group[i] * r->width + k;
            memcpy(out->data + to * size, r->t->data + place_of(r, r->order[i], k) * size,
                   (size_t)size);
        }
        last = r->group[i];
    }
    return out;
}

static GwTensor *groups_of_rows(PyTypeObject *cls, const Rows *r) {
    bool whole = r->dim < 0;
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, whole ? r->t->ndim : 1,
                                    whole ? r->t->sizes : &r->count, NULL);
    for (int i = 0; out != NULL && i < (int)r->count; i++) {
        ((int64_t *)out->data)[r->order[i]] = r->group[i];
    }
    return out;
}

static GwTensor *rows_of_groups(PyTypeObject *cls, const Rows *r) {
    int64_t groups = r->groups;
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, 1, &groups, NULL);
    if (out != NULL) {
        memset(out->data, 0, (size_t)groups * sizeof(int64_t));
        for (int i = 0; i < (int)r->count; i++) {
            ((int64_t *)out->data)[r->group[i]]++;
        }
    }
    return out;
}

/* The distinct rows; with them, where asked for, each row's group and the groups' sizes. */
static PyObject *distinct(PyTypeObject *cls, PyObject *const *args, bool sorted) {
    Rows r;
    if (!PyBool_Check(args[1]) || !PyBool_Check(args[2]) || !read_rows(&r, args[0], args[3])) {
        return NULL;
    }
    order_rows(&r, sorted);
    bool inverse = args[1] == Py_True, counts = args[2] == Py_True;
    if (!inverse && !counts) {
        return (PyObject *)first_rows(cls, &r);
    }
    PyObject *parts = PyTuple_New(1 + inverse + counts);
    for (int i = 0; parts != NULL && i < 1 + inverse + counts; i++) {
        GwTensor *part = i == 0 ? first_rows(cls, &r)
                         : i == 1 && inverse ? groups_of_rows(cls, &r) : rows_of_groups(cls, &r);
        if (part == NULL) {
            Py_CLEAR(parts);
        } else {
            PyTuple_SET_ITEM(parts, i, (PyObject *)part);
        }
    }
    return parts;
}

/* input, sorted, return_inverse, return_counts, dim */
GW_KERNEL(unique) {
    PyObject *const without[] = {args[0], args[2], args[3], args[4]};
    return distinct(cls, without, true);
}

/* input, return_inverse, return_counts, dim */
GW_KERNEL(unique_consecutive) { return distinct(cls, args, false); }

const GwKernelEntry gw_searching_kernels[] = {
    {"argwhere", 1, argwhere},
    {"bucketize", 4, bucketize},
    {"equal", 2, equal},
    {"isin", 4, isin},
    {"search_positions", 5, search_positions},
    {"searchsorted", 6, searchsorted},
    {"unique", 5, unique},
    {"unique_consecutive", 4, unique_consecutive},
    {NULL, 0, NULL},
};
