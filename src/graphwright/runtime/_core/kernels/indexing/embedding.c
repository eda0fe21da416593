/* Rows of tables at the places that indices give: of small ones, with the gradient of the table, and
 * summed in bags; one_hot. */
#include "native.h"
#include "pool.h"

#include <stdatomic.h>

enum {
    LARGEST = 1 << 16,      /* elements of the result */
    AHEAD = 6,              /* rows of a bag that are fetched before they are added */
};

/* Contiguous indices, of int64 or int32. */
typedef struct {
    const char *data;
    bool wide;
    int64_t count;
} Indices;

static bool read_indices(PyObject *o, Indices *indices) {
    const GwTensor *t = gw_plain_tensor(o);
    if (t == NULL || (t->dtype != GW_INT64 && t->dtype != GW_INT32)
        || (t->flags & GW_CONTIGUOUS) == 0) {
        return false;
    }
    *indices = (Indices){t->data, t->dtype == GW_INT64, t->numel};
    return true;
}

static int64_t index_at(const Indices *indices, int64_t i) {
    return indices->wide ? ((const int64_t *)indices->data)[i]
                         : ((const int32_t *)indices->data)[i];
}

/* Reads an index once, as other threads may write it; whether it is one of the rows. */
static bool read_row(const Indices *indices, int64_t i, int64_t rows, int64_t *row) {
    *row = index_at(indices, i);
    return *row >= 0 && *row < rows;
}

/* weight, indices, padding_idx, scale_grad_by_freq, sparse */
GW_KERNEL(embedding) {
    const GwTensor *weight = gw_plain_tensor(args[0]);
    Indices indices;
    if (weight == NULL || weight->ndim != 2 || (weight->flags & GW_CONTIGUOUS) == 0
        || !read_indices(args[1], &indices)) {
        return NULL;
    }
    const GwTensor *places = (const GwTensor *)args[1];
    int64_t rows = weight->sizes[0], width = weight->sizes[1], sizes[GW_MAX_DIMS];
    if (places->ndim == GW_MAX_DIMS || width == 0 || indices.count > LARGEST / width) {
        return NULL;
    }
    memcpy(sizes, places->sizes, (size_t)places->ndim * sizeof *sizes);
    sizes[places->ndim] = width;
    GwTensor *out = gw_tensor_empty(cls, weight->dtype, places->ndim + 1, sizes, NULL);
    size_t bytes = (size_t)(width * gw_itemsize(weight));
    for (int64_t i = 0, row; out != NULL && i < indices.count; i++) {
        if (!read_row(&indices, i, rows, &row)) {
            Py_CLEAR(out);
            break;
        }
        memcpy(out->data + (size_t)i * bytes, weight->data + (size_t)row * bytes, bytes);
    }
    return (PyObject *)out;
}

static void add_row(char *to, const char *from, int64_t n, int dtype) {
    for (int64_t i = 0; i < n; i++) {
        if (dtype == GW_FLOAT32) {
            ((float *)to)[i] += ((const float *)from)[i];
        } else {
            ((double *)to)[i] += ((const double *)from)[i];
        }
    }
}

/* grad, indices, rows, padding_idx, scale_grad_by_freq */
GW_KERNEL(embedding_backward) {
    const GwTensor *grad = gw_plain_tensor(args[0]);
    Indices indices;
    int64_t rows, skipped;
    if (grad == NULL || (grad->dtype != GW_FLOAT32 && grad->dtype != GW_FLOAT64)
        || grad->ndim == 0 || (grad->flags & GW_CONTIGUOUS) == 0
        || !read_indices(args[1], &indices) || !gw_plain_int(args[2], &rows)
        || !gw_plain_int(args[3], &skipped) || args[4] != Py_False) {
        return NULL;
    }
    int64_t width = grad->sizes[grad->ndim - 1];
    if (width == 0 || rows <= 0 || rows > LARGEST / width || grad->numel > LARGEST
        || grad->numel != indices.count * width) {
        return NULL;
    }
    int64_t sizes[2] = {rows, width}, bytes = width * gw_itemsize(grad);
    GwTensor *out = gw_tensor_empty(cls, grad->dtype, 2, sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    memset(out->data, 0, (size_t)(rows * bytes));
    for (int64_t i = 0, row; i < indices.count; i++) {
        if (!read_row(&indices, i, rows, &row)) {
            Py_CLEAR(out);
            break;
        }
        if (row != skipped) {
            add_row(out->data + row * bytes, grad->data + i * bytes, width, grad->dtype);
        }
    }
    return (PyObject *)out;
}

/* ---- bags ---- */

typedef struct {
    const void *table, *samples;        /* samples: factors of the rows, or NULL */
    Indices indices;
    int64_t *bounds;                    /* [bags + 1], where they begin and end */
    int64_t rows, width, skipped;
    bool mean;
    void *out;
    int64_t *owners, *counts;           /* the bag of each index, how many rows each bag has */
    atomic_bool outside;                /* whether there was an index that is no row */
} Bags;

#define SUM_BAGS(T, name)                                                                  \
    GW_VECTORISED static void name(void *closure, int64_t begin, int64_t end) {            \
        Bags *b = closure;                                                                 \
        for (int64_t bag = begin; bag < end; bag++) {                                      \
            T *restrict total = (T *)b->out + bag * b->width;                              \
            int64_t count = 0;                                                             \
            memset(total, 0, (size_t)b->width * sizeof(T));                                \
            for (int64_t i = b->bounds[bag]; i < b->bounds[bag + 1]; i++) {                \
                int64_t row;                                                               \
                bool outside = !read_row(&b->indices, i, b->rows, &row);                   \
                b->owners[i] = bag;                                                        \
                if (outside || row == b->skipped) {                                        \
                    if (outside) {                                                         \
                        b->outside = true;                                                 \
                    }                                                                      \
                    continue;                                                              \
                }                                                                          \
                const T *from = (const T *)b->table + row * b->width;                      \
                int64_t next = i + AHEAD < b->indices.count ? index_at(&b->indices, i + AHEAD) : 0; \
                for (int64_t k = 0; k < b->width && next >= 0 && next < b->rows;           \
                     k += 64 / (int64_t)sizeof(T)) {                                       \
                    __builtin_prefetch((const T *)b->table + next * b->width + k);         \
                }                                                                          \
                if (b->samples == NULL) {                                                  \
                    for (int64_t k = 0; k < b->width; k++) {                               \
                        total[k] += from[k];                                               \
                    }                                                                      \
                } else {                                                                   \
                    T factor = ((const T *)b->samples)[i];                                 \
                    for (int64_t k = 0; k < b->width; k++) {                               \
                        total[k] += from[k] * factor;                                      \
                    }                                                                      \
                }                                                                          \
                count++;                                                                   \
            }                                                                              \
            for (int64_t k = 0; b->mean && count > 0 && k < b->width; k++) {               \
                total[k] /= (T)count;                                                      \
            }                                                                              \
            b->counts[bag] = count;                                                        \
        }                                                                                  \
    }

SUM_BAGS(float, sum_bags_float)
SUM_BAGS(double, sum_bags_double)

/* weight, indices, offsets, per_sample_weights, mode: sums and means of float32 and float64 */
static bool read_bags(PyObject *const *args, Bags *b, Indices *offsets) {
    const GwTensor *weight = gw_plain_tensor(args[0]), *samples = gw_plain_tensor(args[3]);
    bool sum = PyUnicode_Check(args[4]) && PyUnicode_CompareWithASCIIString(args[4], "sum") == 0;
    b->mean = PyUnicode_Check(args[4]) && PyUnicode_CompareWithASCIIString(args[4], "mean") == 0;
    if (weight == NULL || weight->ndim != 2 || (weight->flags & GW_CONTIGUOUS) == 0
        || (weight->dtype != GW_FLOAT32 && weight->dtype != GW_FLOAT64) || (!sum && !b->mean)
        || !read_indices(args[1], &b->indices) || ((GwTensor *)args[1])->ndim != 1
        || !read_indices(args[2], offsets) || ((GwTensor *)args[2])->ndim != 1
        || offsets->count == 0 || !gw_plain_int(args[5], &b->skipped)) {
        return false;
    }
    if (args[3] != Py_None
        && (samples == NULL || samples->dtype != weight->dtype || samples->ndim != 1
            || samples->numel != b->indices.count || (samples->flags & GW_CONTIGUOUS) == 0)) {
        return false;
    }
    b->table = weight->data;
    b->samples = samples == NULL ? NULL : samples->data;
    b->rows = weight->sizes[0];
    b->width = weight->sizes[1];
    return true;
}

/* Copies the offsets; whether they rise from 0 to at most the number of indices. */
static bool read_bounds(Bags *b, const Indices *offsets) {
    for (int64_t i = 0; i < offsets->count; i++) {
        b->bounds[i] = index_at(offsets, i);
        if ((i == 0 && b->bounds[i] != 0) || b->bounds[i] > b->indices.count
            || (i > 0 && b->bounds[i] < b->bounds[i - 1])) {
            return false;
        }
    }
    b->bounds[offsets->count] = b->indices.count;
    return true;
}

/* weight, indices, offsets, per_sample_weights, mode, padding_idx, scale_grad_by_freq */
GW_KERNEL(embedding_bag_parts) {
    Bags b = {0};
    Indices offsets;
    if (!read_bags(args, &b, &offsets)) {
        return NULL;
    }
    if ((b.bounds = PyMem_RawMalloc(((size_t)offsets.count + 1) * sizeof *b.bounds)) == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *all = NULL;
    if (read_bounds(&b, &offsets)) {
        int dtype = ((GwTensor *)args[0])->dtype;
        int64_t sizes[2] = {offsets.count, b.width}, none = 0;
        GwTensor *parts[4] = {
            gw_tensor_empty(cls, dtype, 2, sizes, NULL),
            gw_tensor_empty(cls, GW_INT64, 1, &b.indices.count, NULL),
            gw_tensor_empty(cls, GW_INT64, 1, &offsets.count, NULL),
            gw_tensor_empty(cls, GW_INT64, 1, &none, NULL),
        };
        if (parts[0] != NULL && parts[1] != NULL && parts[2] != NULL && parts[3] != NULL) {
            b.out = parts[0]->data;
            b.owners = (int64_t *)(void *)parts[1]->data;
            b.counts = (int64_t *)(void *)parts[2]->data;
            gw_run_tasks(dtype == GW_FLOAT32 ? sum_bags_float : sum_bags_double, &b, offsets.count,
                         b.indices.count * b.width / offsets.count + 1);
            all = b.outside ? NULL : PyTuple_Pack(4, parts[0], parts[1], parts[2], parts[3]);
        }
        for (int i = 0; i < 4; i++) {
            Py_XDECREF(parts[i]);
        }
    }
    PyMem_RawFree(b.bounds);
    return all;
}

typedef struct {
    const int64_t *places;
    int64_t *out, classes;
} OneHot;

static void one_hot_rows(void *closure, int64_t begin, int64_t end) {
    const OneHot *h = closure;
    memset(h->out + begin * h->classes, 0, (size_t)((end - begin) * h->classes) * sizeof *h->out);
    for (int64_t i = begin; i < end; i++) {
        int64_t place = h->places[i];   /* which another thread may have written meanwhile */
        if (place >= 0 && place < h->classes) {
            h->out[i * h->classes + place] = 1;
        }
    }
}

/* input, num_classes or -1 for as many as there are */
GW_KERNEL(one_hot) {
    const GwTensor *t = gw_plain_tensor(args[0]);
    int64_t classes, sizes[GW_MAX_DIMS], most = -1, least = 0;
    if (t == NULL || t->dtype != GW_INT64 || (t->flags & GW_CONTIGUOUS) == 0 || t->numel == 0
        || t->ndim == GW_MAX_DIMS || !gw_plain_int(args[1], &classes)
        || (classes <= 0 && classes != -1)) {
        return NULL;
    }
    const int64_t *places = (const int64_t *)t->data;
    for (int64_t i = 0; i < t->numel; i++) {
        least = places[i] < least ? places[i] : least;
        most = places[i] > most ? places[i] : most;
    }
    if (least < 0 || most == INT64_MAX || (classes >= 0 && most >= classes)) {
        return NULL;
    }
    classes = classes < 0 ? most + 1 : classes;
    if (classes > INT64_MAX / (int64_t)sizeof(int64_t) / t->numel) {
        return NULL;
    }
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof *sizes);
    sizes[t->ndim] = classes;
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, t->ndim + 1, sizes, NULL);
    if (out != NULL) {
        OneHot h = {places, (int64_t *)(void *)out->data, classes};
        gw_run_tasks(one_hot_rows, &h, t->numel, classes);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_lookup_kernels[] = {
    {"embedding", 5, embedding},
    {"embedding_backward", 5, embedding_backward},
    {"embedding_bag_parts", 7, embedding_bag_parts},
    {"one_hot", 2, one_hot},
    {NULL, 0, NULL},
};
