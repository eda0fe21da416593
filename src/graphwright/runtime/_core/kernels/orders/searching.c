/* Searching in tensors of few elements: what is not zero, membership, distinct values. */
#include "float8.h"
#include "searching.h"
#include "small_broadcast.h"

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
        || input->dtype == GW_COMPLEX128 || gw_is_float8(input->dtype)) {
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

/* ---- membership ---- */

#define SEARCH(T, name)                                                                    \
    static bool has_##name(const void *values, int64_t n, const void *wanted) {            \
        T x = *(const T *)wanted;                                                          \
        bool found = false;                                                                \
        for (int64_t i = 0; i < n; i++) {                                                  \
            found |= ((const T *)values)[i] == x;                                          \
        }                                                                                  \
        return found;                                                                      \
    }

SEARCH(float, float)
SEARCH(double, double)
SEARCH(int32_t, int32)
SEARCH(int64_t, int64)

typedef bool (*Search)(const void *values, int64_t n, const void *wanted);

static Search search_of(int dtype) {
    switch (dtype) {
        case GW_FLOAT32: return has_float;
        case GW_FLOAT64: return has_double;
        case GW_INT32: return has_int32;
        case GW_INT64: return has_int64;
        default: return NULL;
    }
}

bool gw_read_wanted(GwWanted *w, PyObject *o, int dtype) {
    w->tensor = contiguous(o, INT64_MAX);
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
    GwWanted tests;
    Search has = elements == NULL ? NULL : search_of(elements->dtype);
    if (has == NULL || PyBool_Check(args[1]) || !gw_read_wanted(&tests, args[1], elements->dtype)
        || elements->numel * tests.numel > PAIRS || !PyBool_Check(args[3])) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, GW_BOOL, elements->ndim, elements->sizes, NULL);
    int size = gw_itemsize(elements);
    for (int64_t i = 0; out != NULL && i < elements->numel; i++) {
        bool found = has(tests.data, tests.numel, elements->data + i * size);
        out->data[i] = found != (args[3] == Py_True);
    }
    return (PyObject *)out;
}

/* Whether contiguous tensors of one dtype are equal: one has the other's shape and elements. */
GW_KERNEL(equal) {
    GW_UNUSED(cls);
    const GwTensor *a = contiguous(args[0], LARGEST), *b = contiguous(args[1], LARGEST);
    Search has = a == NULL ? NULL : search_of(a->dtype);
    if (has == NULL || b == NULL || a->dtype != b->dtype) {
        return NULL;
    }
    bool same = a->ndim == b->ndim
                && memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof(int64_t)) == 0;
    int size = gw_itemsize(a);
    for (int64_t i = 0; same && i < a->numel; i++) {
        same = has(a->data + i * size, 1, b->data + i * size);
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
    {"equal", 2, equal},
    {"isin", 4, isin},
    {"unique", 5, unique},
    {"unique_consecutive", 4, unique_consecutive},
    {NULL, 0, NULL},
};
