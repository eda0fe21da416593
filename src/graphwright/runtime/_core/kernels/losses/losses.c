/* nll_loss of log-probabilities [N, C, ..] with a class for each place, and its gradient; the
 * margins of classes. */
#include "half.h"
#include "losses.h"

enum { MEAN, SUM, EACH };

/* The targets of N x inner places, all of them in range or to be left out. */
typedef struct {
    const int64_t *classes;
    const char *weights;            /* of the classes, or NULL */
    int64_t places, columns, inner, ignored;
    double total;                   /* weight of the places that count */
    int reduction, dtype, ndim;     /* ndim of the target */
    int64_t sizes[GW_MAX_DIMS];
} Targets;

static double value_at(const char *data, int dtype, int64_t at) {
    switch (dtype) {
    case GW_FLOAT16: return (double)gw_from_float16(((const uint16_t *)data)[at]);
    case GW_BFLOAT16: return (double)gw_from_bfloat16(((const uint16_t *)data)[at]);
    case GW_FLOAT32: return (double)((const float *)data)[at];
    default: return ((const double *)data)[at];
    }
}

static double weight_of(const Targets *t, int64_t class) {
    return t->weights == NULL ? 1 : value_at(t->weights, t->dtype, class);
}

/* The class of a place, -1 where that is left out; also where another thread has written one that
 * there is not since read_targets. */
static int64_t class_at(const Targets *t, int64_t place) {
    int64_t class = t->classes[place];
    return class == t->ignored || class < 0 || class >= t->columns ? -1 : class;
}

/* Where the log-probability of a place's class is. */
static int64_t element_of(const Targets *t, int64_t place, int64_t class) {
    int64_t row = place / t->inner;
    return (row * t->columns + class) * t->inner + place % t->inner;
}

static bool read_reduction(PyObject *name, int *reduction) {
    static const char *const names[] = {"mean", "sum", "none"};
    for (int i = 0; i < 3; i++) {
        if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, names[i]) == 0) {
            *reduction = i;
            return true;
        }
    }
    return false;
}

/* The sizes [N, C, ..] of the input; false where there are no places. */
static bool read_sizes(Targets *t, int ndim, const int64_t *sizes) {
    if (ndim < 2) {
        return false;
    }
    t->columns = sizes[1];
    t->ndim = ndim - 1;
    t->sizes[0] = sizes[0];
    t->inner = 1;
    for (int d = 2; d < ndim; d++) {
        t->sizes[d - 1] = sizes[d];
        t->inner *= sizes[d];
    }
    t->places = sizes[0] * t->inner;
    return t->inner > 0;
}

static bool is_floating(const GwTensor *t) {
    return t != NULL && t->dtype >= GW_FLOAT16 && t->dtype <= GW_FLOAT64
           && (t->flags & GW_CONTIGUOUS) != 0;
}

static bool read_weights(Targets *t, PyObject *o) {
    const GwTensor *weights = gw_plain_tensor(o);
    t->weights = weights == NULL ? NULL : weights->data;
    return o == Py_None || (is_floating(weights) && weights->dtype == t->dtype && weights->ndim == 1
                            && weights->sizes[0] == t->columns);
}

/* target, weight, ignore_index, reduction; false where the call is not a plain one. */
static bool read_targets(Targets *t, PyObject *const *args) {
    const GwTensor *target = gw_plain_tensor(args[0]);
    if (target == NULL || target->dtype != GW_INT64 || target->ndim != t->ndim
        || (target->flags & GW_CONTIGUOUS) == 0
        || memcmp(target->sizes, t->sizes, (size_t)t->ndim * sizeof(int64_t)) != 0
        || !read_weights(t, args[1]) || !gw_plain_int(args[2], &t->ignored)
        || !read_reduction(args[3], &t->reduction)) {
        return false;
    }
    t->classes = (const int64_t *)target->data;
    t->total = 0;
    for (int64_t i = 0; i < t->places; i++) {
        int64_t class = t->classes[i];
        bool counts = class != t->ignored;
        if (counts && (class < 0 || class >= t->columns)) {
            return false;
        }
        t->total += counts ? weight_of(t, class) : 0;
    }
    return true;
}

static void set_value(char *data, int dtype, int64_t at, double value) {
    switch (dtype) {
    case GW_FLOAT16: ((uint16_t *)data)[at] = gw_to_float16((float)value); break;
    case GW_BFLOAT16: ((uint16_t *)data)[at] = gw_to_bfloat16((float)value); break;
    case GW_FLOAT32: ((float *)data)[at] = (float)value; break;
    default: ((double *)data)[at] = value; break;
    }
}

/* input, target, weight, ignore_index, reduction */
GW_KERNEL(nll_loss) {
    const GwTensor *input = gw_plain_tensor(args[0]);
    Targets t;
    if (!is_floating(input) || !read_sizes(&t, input->ndim, input->sizes)) {
        return NULL;
    }
    t.dtype = input->dtype;
    if (!read_targets(&t, args + 1)) {
        return NULL;
    }
    bool each = t.reduction == EACH;
    GwTensor *out = gw_tensor_empty(cls, t.dtype, each ? t.ndim : 0, t.sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    double total = 0;
    for (int64_t i = 0; i < t.places; i++) {
        int64_t class = class_at(&t, i);
        double loss = class < 0 ? 0 : -weight_of(&t, class)
                                      * value_at(input->data, t.dtype, element_of(&t, i, class));
        total += loss;
        if (each) {
            set_value(out->data, t.dtype, i, loss);
        }
    }
    if (!each) {
        set_value(out->data, t.dtype, 0, t.reduction == MEAN ? total / t.total : total);
    }
    return (PyObject *)out;
}

/* grad, size, target, weight, ignore_index, reduction */
GW_KERNEL(nll_loss_backward) {
    const GwTensor *grad = gw_plain_tensor(args[0]);
    int64_t sizes[GW_MAX_DIMS];
    Targets t;
    int ndim = is_floating(grad) ? gw_plain_sizes(args[1], sizes) : -1;
    if (!read_sizes(&t, ndim, sizes)) {
        return NULL;
    }
    t.dtype = grad->dtype;
    if (!read_targets(&t, args + 2) || grad->numel != (t.reduction == EACH ? t.places : 1)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t.dtype, ndim, sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    memset(out->data, 0, (size_t)(out->numel * gw_itemsize(out)));
    for (int64_t i = 0; i < t.places; i++) {
        int64_t class = class_at(&t, i);
        if (class >= 0) {
            double g = -value_at(grad->data, t.dtype, t.reduction == EACH ? i : 0);
            g *= weight_of(&t, class);
            g = t.reduction == MEAN ? g / t.total : g;
            set_value(out->data, t.dtype, element_of(&t, i, class), g);
        }
    }
    return (PyObject *)out;
}

/* ---- multi_margin_loss ---- */

/* sum over j != class of max(0, margin - x[class] + x[j])^p / columns of a row. */
static double margin_of_row(const GwTensor *input, int64_t row, int64_t columns, int64_t class,
                            double margin, bool square) {
    double own = value_at(input->data, input->dtype, row * columns + class), total = 0;
    for (int64_t j = 0; j < columns; j++) {
        double gap = value_at(input->data, input->dtype, row * columns + j) - own + margin;
        gap = j == class || gap < 0 ? 0 : gap;
        total += square ? gap * gap : gap;
    }
    return total / (double)columns;
}

/* input [N, C] or [C], target [N] or [], p, margin, weight, reduction */
GW_KERNEL(multi_margin_loss) {
    const GwTensor *input = gw_plain_tensor(args[0]), *target = gw_plain_tensor(args[1]);
    Targets t = {.dtype = is_floating(input) ? input->dtype : -1};
    int64_t p;
    double margin, total = 0;
    if (t.dtype < GW_FLOAT32 || input->ndim < 1 || input->ndim > 2 || input->numel == 0
        || target == NULL || target->dtype != GW_INT64 || target->ndim > 1
        || (target->flags & GW_CONTIGUOUS) == 0 || !gw_plain_int(args[2], &p) || (p != 1 && p != 2)
        || !gw_plain_number(args[3], &margin) || !read_reduction(args[5], &t.reduction)) {
        return NULL;
    }
    t.columns = input->sizes[input->ndim - 1];
    t.places = input->numel / t.columns;
    bool each = t.reduction == EACH;
    if (target->numel != t.places || !read_weights(&t, args[4])) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t.dtype, each ? target->ndim : 0, target->sizes, NULL);
    for (int64_t i = 0; out != NULL && i < t.places; i++) {
        int64_t class = ((const int64_t *)target->data)[i];
        if (class < 0 || class >= t.columns) {
            Py_CLEAR(out);
            break;
        }
        double loss = margin_of_row(input, i, t.columns, class, margin, p == 2);
        loss *= weight_of(&t, class);
        total += loss;
        if (each) {
            set_value(out->data, t.dtype, i, loss);
        }
    }
    if (out != NULL && !each) {
        set_value(out->data, t.dtype, 0, t.reduction == MEAN ? total / (double)t.places : total);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_loss_kernels[] = {
    {"ctc_loss_parts", 5, gw_ctc_loss_parts},
    {"multi_margin_loss", 6, multi_margin_loss},
    {"nll_loss", 5, nll_loss},
    {"nll_loss_backward", 6, nll_loss_backward},
    {NULL, 0, NULL},
};
