/* Orders of short lines: argsort, topk, the k-th, the median, the mode. Stable; NaN is the
 * greatest. */
#include "sort_orders.h"
#include "pool.h"

enum { LONGEST = 128, LARGEST = 8 << 10 };  /* of a line, of the tensor; longer ones: sort_long.c */
enum { SHORT = 24 };    /* elements of a line that is put in order here in large tensors, too */

/* The dim of a contiguous tensor along which lines are put in order. */
typedef struct {
    const GwTensor *t;
    int64_t lines, n, step;         /* elements of a line, and how far apart they are */
    bool descending;
    bool runs;                      /* whether it is asked where equal values start */
} Lines;

typedef struct {
    int place[LONGEST];             /* in order */
    int missing;                    /* NaNs */
    bool starts[LONGEST];           /* in order: whether the value before is another */
} Order;

/* Whether one value comes before another that stands later. */
#define ORDER(T, name)                                                                     \
    static void name(const char *line, const Lines *l, Order *order) {                     \
        T sorted[LONGEST];                                                                 \
        order->missing = 0;                                                                \
        for (int i = 0; i < (int)l->n; i++) {                                              \
            T value = *(const T *)(line + i * l->step);                                    \
            bool nan = value != value;                                                     \
            int at = i;                                                                    \
            order->missing += nan;                                                         \
            for (; at > 0; at--) {                                                         \
                T other = sorted[at - 1];                                                  \
                bool before = l->descending ? value > other || (nan && other == other)     \
                                            : value < other || (!nan && other != other);   \
                if (!before) {                                                             \
                    break;                                                                 \
                }                                                                          \
                sorted[at] = other;                                                        \
                order->place[at] = order->place[at - 1];                                   \
            }                                                                              \
            sorted[at] = value;                                                            \
            order->place[at] = i;                                                          \
        }                                                                                  \
        for (int i = 0; l->runs && i < (int)l->n; i++) {                                   \
            order->starts[i] = i == 0 || sorted[i] != sorted[i - 1];                       \
        }                                                                                  \
    }

ORDER(float, order_float)
ORDER(double, order_double)
ORDER(int32_t, order_int32)
ORDER(int64_t, order_int64)

typedef void (*OrderLine)(const char *line, const Lines *l, Order *order);

static OrderLine order_of(int dtype) {
    switch (dtype) {
        case GW_FLOAT32: return order_float;
        case GW_FLOAT64: return order_double;
        case GW_INT32: return order_int32;
        case GW_INT64: return order_int64;
        default: return NULL;
    }
}

/* The lines of a tensor; false where they are not short or its dtype is another. */
static bool begin(Lines *l, PyObject *input, PyObject *dim, bool descending) {
    const GwTensor *t = gw_plain_tensor(input);
    int d;
    if (t == NULL || (t->flags & GW_CONTIGUOUS) == 0 || t->numel == 0
        || order_of(t->dtype) == NULL || !gw_plain_dim(dim, t->ndim, &d)
        || t->sizes[d] > (t->numel > LARGEST ? SHORT : LONGEST)) {
        return false;
    }
    *l = (Lines){t, t->numel / t->sizes[d], t->sizes[d], t->strides[d] * gw_itemsize(t),
                 descending, false};
    return true;
}

/* The first of the places that are asked for, where it depends on the values. */
typedef int (*Rank)(const Lines *l, const Order *order);

/* Which places of the order of each line are asked for, and where they go. */
typedef struct {
    const Lines *l;
    int64_t first, count, inner;
    Rank rank;              /* gives `first` for each line, or NULL */
    int64_t *out;
} Wanted;

static void order_lines(void *closure, int64_t begin, int64_t end) {
    const Wanted *w = closure;
    const Lines *l = w->l;
    OrderLine order_line = order_of(l->t->dtype);
    int64_t item = gw_itemsize(l->t);
    for (int64_t line = begin; line < end; line++) {
        int64_t outer = line / w->inner, within = line % w->inner;
        Order order;
        order_line(l->t->data + (outer * l->n * w->inner + within) * item, l, &order);
        int64_t from = w->rank != NULL ? w->rank(l, &order) : w->first;
        int64_t *to = w->out + outer * w->count * w->inner + within;
        for (int64_t i = 0; i < w->count; i++) {
            to[i * w->inner] = order.place[from + i];
        }
    }
}

/* Places `first`.. of the order of each line, or from `rank` on. */
static PyObject *places(PyTypeObject *cls, const Lines *l, PyObject *dim, int64_t first,
                        int64_t count, Rank rank) {
    int64_t sizes[GW_MAX_DIMS];
    int d = (int)PyLong_AsLong(dim);
    memcpy(sizes, l->t->sizes, (size_t)l->t->ndim * sizeof(int64_t));
    sizes[d] = count;
    GwTensor *out = gw_tensor_empty(cls, GW_INT64, l->t->ndim, sizes, NULL);
    if (out != NULL) {
        int64_t inner = l->n == 1 ? 1 : l->t->strides[d];
        Wanted w = {l, first, count, inner, rank, (int64_t *)(void *)out->data};
        gw_run_tasks(order_lines, &w, l->lines, l->n * l->n);
    }
    return (PyObject *)out;
}

/* input, dim, descending, stable */
PyObject *gw_argsort_kernel(PyTypeObject *cls, PyObject *const *args) {
    Lines l;
    if (!PyBool_Check(args[2])) {
        return NULL;
    }
    bool descending = args[2] == Py_True, few = begin(&l, args[0], args[1], descending);
    return few ? places(cls, &l, args[1], 0, l.n, NULL)
               : gw_long_order(cls, args[0], args[1], -1, descending);
}

/* input, k, dim, largest */
PyObject *gw_topk_kernel(PyTypeObject *cls, PyObject *const *args) {
    Lines l;
    int64_t k;
    if (!gw_plain_int(args[1], &k) || !PyBool_Check(args[3]) || k < 0) {
        return NULL;
    }
    bool largest = args[3] == Py_True;
    if (!begin(&l, args[0], args[2], largest)) {
        return gw_long_order(cls, args[0], args[2], k, largest);
    }
    return k > l.n ? NULL : places(cls, &l, args[2], 0, k, NULL);
}

/* input, k, dim */
PyObject *gw_kth_kernel(PyTypeObject *cls, PyObject *const *args) {
    Lines l;
    int64_t k;
    if (!gw_plain_int(args[1], &k) || !begin(&l, args[0], args[2], false) || k < 1 || k > l.n) {
        return NULL;
    }
    return places(cls, &l, args[2], k - 1, 1, NULL);
}

/* The lower median; a NaN where there is one. */
static int median(const Lines *l, const Order *order) {
    return order->missing > 0 ? (int)l->n - order->missing : ((int)l->n - 1) / 2;
}

static int median_of_known(const Lines *l, const Order *order) {
    int known = (int)l->n - order->missing;
    return known > 0 ? (known - 1) / 2 : 0;
}

/* input, dim, skip_nan */
PyObject *gw_median_kernel(PyTypeObject *cls, PyObject *const *args) {
    Lines l;
    return !begin(&l, args[0], args[1], false) ? NULL
           : places(cls, &l, args[1], 0, 1, args[2] == Py_True ? median_of_known : median);
}

/* The last of the least of the most frequent values. */
static int most_frequent(const Lines *l, const Order *order) {
    int best = 0, longest = 0, start = 0;
    for (int i = 0; i < (int)l->n; i++) {
        start = order->starts[i] ? i : start;
        if (i - start + 1 > longest) {
            longest = i - start + 1;
            best = i;
        }
    }
    return best;
}

/* input, dim */
PyObject *gw_mode_kernel(PyTypeObject *cls, PyObject *const *args) {
    Lines l;
    if (!begin(&l, args[0], args[1], false)) {
        return NULL;
    }
    l.runs = true;
    return places(cls, &l, args[1], 0, 1, most_frequent);
}

PyObject *gw_median_of_all(PyTypeObject *cls, PyObject *input, bool skip_nan) {
    Rank rank = skip_nan ? median_of_known : median;
    const GwTensor *t = gw_plain_tensor(input);
    if (t == NULL || (t->flags & GW_CONTIGUOUS) == 0 || t->numel == 0
        || t->numel > LONGEST || order_of(t->dtype) == NULL) {
        return NULL;
    }
    GwTensor *quick = gw_median_of_few(cls, t, skip_nan);
    if (quick != NULL || PyErr_Occurred()) {
        return (PyObject *)quick;
    }
    int item = gw_itemsize(t);
    Lines l = {t, 1, t->numel, item, false, false};
    Order order;
    order_of(t->dtype)(t->data, &l, &order);
    GwTensor *out = gw_tensor_empty(cls, t->dtype, 0, NULL, NULL);
    if (out != NULL) {
        int place = order.place[rank(&l, &order)];
        memcpy(out->data, t->data + place * item, (size_t)item);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_order_kernels[] = {
    {"argsort", 4, gw_argsort_kernel},
    {"kth_position", 3, gw_kth_kernel},
    {"median_position", 3, gw_median_kernel},
    {"mode_position", 2, gw_mode_kernel},
    {"topk_positions", 4, gw_topk_kernel},
    {NULL, 0, NULL},
};
