/* Values of lines with their places, in one call: the extrema along a dim, and what the orders of
 * sort_short.c select of few elements. A pair of tensors, whose named tuple Native makes. */
#include "sort_orders.h"
#include "pool.h"
#include "vector_math.h"

enum {
    LARGEST = 8 << 10,      /* elements of the tensor: of more, the parts take long anyway */
    SHORT = 32,             /* elements of a line that is searched here in large tensors, too */
    COLUMNS = 256,          /* neighbouring lines that are searched side by side */
};

/* Before a loop over lines, whose elements are written where no other line is read. */
#define GW_APART _Pragma("GCC ivdep")

/* A contiguous tensor read as [outer, n, inner] along a dim. */
typedef struct {
    const GwTensor *t;
    int dim;
    int64_t outer, n, inner;
} Lines;

static bool read_lines(PyObject *input, PyObject *dim, Lines *l) {
    const GwTensor *t = gw_plain_tensor(input);
    if (t == NULL || (t->flags & GW_CONTIGUOUS) == 0 || t->numel == 0
        || !gw_wrapped_dim(dim, t->ndim, &l->dim)) {
        return false;
    }
    l->t = t;
    l->n = t->sizes[l->dim];
    l->outer = l->inner = 1;
    for (int d = 0; d < t->ndim; d++) {
        *(d < l->dim ? &l->outer : &l->inner) *= d == l->dim ? 1 : t->sizes[d];
    }
    return true;
}

/* An empty tensor of `count` elements of each line; of one, without its dim where `keepdim` says
 * so. */
static GwTensor *selection(PyTypeObject *cls, const Lines *l, int dtype, int64_t count,
                           bool keepdim) {
    int64_t sizes[GW_MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < l->t->ndim; d++) {
        if (d != l->dim) {
            sizes[ndim++] = l->t->sizes[d];
        } else if (keepdim) {
            sizes[ndim++] = count;
        }
    }
    return gw_tensor_empty(cls, dtype, ndim, sizes, NULL);
}

/* ---- extrema: the first of equal ones, or the first NaN ---- */

typedef struct Extremes Extremes;

typedef struct {
    void (*rows)(const Extremes *e, int64_t begin, int64_t end);
    void (*columns)(const Extremes *e, int64_t outer, int64_t column, int64_t count);
} Search;

struct Extremes {
    const Lines *l;
    const Search *search;
    bool greatest;
    char *values;
    int64_t *places;
    int64_t tiles;      /* of neighbouring lines, of one outer index */
};

/* `count` neighbouring lines, side by side: the first of all, then the second.. */
#define FIND(T, BEFORE)                                                                        \
    for (int64_t i = 1; i < n; i++) {                                                          \
        const T *row = x + i * inner;                                                          \
        GW_APART                                                                               \
        for (int64_t j = 0; j < count; j++) {                                                  \
            T value = row[j], best = out[j];                                                   \
            bool better = ((value BEFORE best) | (value != value)) & (best == best);           \
            out[j] = better ? value : best;                                                    \
            places[j] = better ? i : places[j];                                                \
        }                                                                                      \
    }

/* Lines [begin, end), whose elements are neighbours. */
#define FIND_IN_ROWS(T, BEFORE)                                                                \
    for (int64_t line = begin; line < end; line++) {                                           \
        const T *x = (const T *)(const void *)e->l->t->data + line * n;                        \
        T best = x[0];                                                                         \
        int64_t place = 0;                                                                     \
        for (int64_t i = 1; i < n && best == best; i++) {                                      \
            bool better = (x[i] BEFORE best) | (x[i] != x[i]);                                 \
            best = better ? x[i] : best;                                                       \
            place = better ? i : place;                                                        \
        }                                                                                      \
        ((T *)(void *)e->values)[line] = best;                                                 \
        e->places[line] = place;                                                               \
    }

#define SEARCH(T, name)                                                                        \
    static void name##_rows(const Extremes *e, int64_t begin, int64_t end) {                   \
        int64_t n = e->l->n;                                                                   \
        if (e->greatest) {                                                                     \
            FIND_IN_ROWS(T, >)                                                                 \
        } else {                                                                               \
            FIND_IN_ROWS(T, <)                                                                 \
        }                                                                                      \
    }                                                                                          \
    GW_VECTOR_MATH static void name##_columns(const Extremes *e, int64_t outer,                \
                                              int64_t column, int64_t count) {                 \
        int64_t n = e->l->n, inner = e->l->inner, at = outer * inner + column;                 \
        const T *x = (const T *)(const void *)e->l->t->data + outer * n * inner + column;      \
        T *out = (T *)(void *)e->values + at;                                                  \
        int64_t *places = e->places + at;                                                      \
        memcpy(out, x, (size_t)count * sizeof(T));                                             \
        memset(places, 0, (size_t)count * sizeof(int64_t));                                    \
        if (e->greatest) {                                                                     \
            FIND(T, >)                                                                         \
        } else {                                                                               \
            FIND(T, <)                                                                         \
        }                                                                                      \
    }

SEARCH(uint8_t, search_uint8)
SEARCH(int8_t, search_int8)
SEARCH(int16_t, search_int16)
SEARCH(int32_t, search_int32)
SEARCH(int64_t, search_int64)
SEARCH(float, search_float)
SEARCH(double, search_double)

#define ROWS_AND_COLUMNS(name) {name##_rows, name##_columns}

static const Search searches[GW_NUM_DTYPES] = {
    [GW_BOOL] = ROWS_AND_COLUMNS(search_uint8), [GW_UINT8] = ROWS_AND_COLUMNS(search_uint8),
    [GW_INT8] = ROWS_AND_COLUMNS(search_int8), [GW_INT16] = ROWS_AND_COLUMNS(search_int16),
    [GW_INT32] = ROWS_AND_COLUMNS(search_int32), [GW_INT64] = ROWS_AND_COLUMNS(search_int64),
    [GW_FLOAT32] = ROWS_AND_COLUMNS(search_float), [GW_FLOAT64] = ROWS_AND_COLUMNS(search_double),
};

static void run_tiles(void *closure, int64_t begin, int64_t end) {
    const Extremes *e = closure;
    if (e->l->inner == 1) {
        e->search->rows(e, begin, end);
        return;
    }
    for (int64_t task = begin; task < end; task++) {
        int64_t column = task % e->tiles * COLUMNS, left = e->l->inner - column;
        e->search->columns(e, task / e->tiles, column, left < COLUMNS ? left : COLUMNS);
    }
}

/* Values and places in new tensors. `args`: input, dim, keepdim. False, with or without an
 * exception, where there are none. */
static bool search(PyTypeObject *cls, PyObject *const *args, bool greatest, GwTensor **values,
                   GwTensor **places) {
    Lines l;
    if (!PyBool_Check(args[2]) || !read_lines(args[0], args[1], &l)
        || searches[l.t->dtype].rows == NULL
        || (l.inner == 1 && l.n > SHORT && l.t->numel > LARGEST)) {
        return false;
    }
    bool keepdim = args[2] == Py_True;
    *values = selection(cls, &l, l.t->dtype, 1, keepdim);
    *places = *values == NULL ? NULL : selection(cls, &l, GW_INT64, 1, keepdim);
    if (*places == NULL) {
        Py_XDECREF(*values);
        return false;
    }
    Extremes e = {&l, &searches[l.t->dtype], greatest, (*values)->data,
                  (int64_t *)(void *)(*places)->data, (l.inner + COLUMNS - 1) / COLUMNS};
    int64_t width = l.inner < COLUMNS ? l.inner : COLUMNS;
    gw_run_tasks(run_tiles, &e, l.outer * e.tiles, l.n * width);
    return true;
}

PyObject *gw_place_of_extreme(PyTypeObject *cls, PyObject *const *args, bool greatest) {
    GwTensor *values, *places;
    if (!search(cls, args, greatest, &values, &places)) {
        return NULL;
    }
    Py_DECREF(values);
    return (PyObject *)places;
}

static PyObject *extreme(PyTypeObject *cls, PyObject *const *args, bool greatest) {
    GwTensor *values, *places;
    if (!search(cls, args, greatest, &values, &places)) {
        return NULL;
    }
    PyObject *pair = PyTuple_Pack(2, values, places);
    Py_DECREF(values);
    Py_DECREF(places);
    return pair;
}

GW_KERNEL(max) { return extreme(cls, args, true); }
GW_KERNEL(min) { return extreme(cls, args, false); }

/* ---- what an order selects ---- */

#define GATHER(U)                                                                              \
    for (int64_t i = 0; i < outer; i++) {                                                      \
        for (int64_t at = 0; at < count * l->inner; at++) {                                    \
            int64_t to = i * count * l->inner + at, place = places[to];                        \
            ((U *)(void *)out)[to] = ((const U *)(const void *)l->t->data)[                    \
                (i * l->n + place) * l->inner + at % l->inner];                                \
        }                                                                                      \
    }

static void gather(const Lines *l, const int64_t *places, int64_t count, char *out) {
    int64_t outer = l->outer;
    if (gw_itemsize(l->t) == 4) {
        GATHER(uint32_t)
    } else {
        GATHER(uint64_t)
    }
}

/* The lines of few elements. */
static bool read_few(PyObject *input, PyObject *dim, Lines *l) {
    return read_lines(input, dim, l) && l->t->numel <= LARGEST;
}

/* The values beside `places`, those along the dim of the lines; steals these, which may be NULL. */
static PyObject *with_values(PyTypeObject *cls, const Lines *l, PyObject *places, bool keepdim) {
    if (places == NULL) {
        return NULL;
    }
    GwTensor *wide = (GwTensor *)places;
    int64_t count = wide->sizes[l->dim];
    GwTensor *values = selection(cls, l, l->t->dtype, count, keepdim);
    GwTensor *narrow = keepdim ? (GwTensor *)Py_NewRef(places)
                       : values == NULL ? NULL : selection(cls, l, GW_INT64, 1, false);
    PyObject *pair = NULL;
    if (values != NULL && narrow != NULL) {
        gather(l, (const int64_t *)(const void *)wide->data, count, values->data);
        if (!keepdim) {
            memcpy(narrow->data, wide->data, (size_t)wide->numel * sizeof(int64_t));
        }
        pair = PyTuple_Pack(2, values, narrow);
    }
    Py_XDECREF(values);
    Py_XDECREF(narrow);
    Py_DECREF(places);
    return pair;
}

/* input, dim, descending, stable */
GW_KERNEL(sort) {
    Lines l;
    PyObject *const order[] = {args[0], args[1], args[2], Py_False};
    return read_few(args[0], args[1], &l)
           ? with_values(cls, &l, gw_argsort_kernel(cls, order), true) : NULL;
}

/* input, k, dim, largest, sorted */
GW_KERNEL(topk) {
    Lines l;
    return read_few(args[0], args[2], &l)
           ? with_values(cls, &l, gw_topk_kernel(cls, args), true) : NULL;
}

/* input, k, dim, keepdim */
GW_KERNEL(kthvalue) {
    Lines l;
    return PyBool_Check(args[3]) && read_few(args[0], args[2], &l)
           ? with_values(cls, &l, gw_kth_kernel(cls, args), args[3] == Py_True) : NULL;
}

/* input, dim, keepdim */
GW_KERNEL(mode) {
    Lines l;
    return PyBool_Check(args[2]) && read_few(args[0], args[1], &l)
           ? with_values(cls, &l, gw_mode_kernel(cls, args), args[2] == Py_True) : NULL;
}

/* input, dim or None for all elements, keepdim */
static PyObject *middle(PyTypeObject *cls, PyObject *const *args, PyObject *skip_nan) {
    Lines l;
    if (args[1] == Py_None) {
        return gw_median_of_all(cls, args[0], skip_nan == Py_True);
    }
    PyObject *const order[] = {args[0], args[1], skip_nan};
    return PyBool_Check(args[2]) && read_few(args[0], args[1], &l)
           ? with_values(cls, &l, gw_median_kernel(cls, order), args[2] == Py_True) : NULL;
}

GW_KERNEL(median) { return middle(cls, args, Py_False); }
GW_KERNEL(nanmedian) { return middle(cls, args, Py_True); }

const GwKernelEntry gw_selecting_kernels[] = {
    {"kthvalue", 4, kthvalue},
    {"max", 3, max},
    {"median", 3, median},
    {"min", 3, min},
    {"mode", 3, mode},
    {"nanmedian", 3, nanmedian},
    {"sort", 4, sort},
    {"topk", 5, topk},
    {NULL, 0, NULL},
};
