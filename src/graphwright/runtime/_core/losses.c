/* nll_loss of rows of log-probabilities [N, C] with a class each, and its gradient. */
#include "native.h"

#include <math.h>

enum { MEAN, SUM, EACH };

/* The targets of rows, all of them in range or to be left out. */
typedef struct {
    const int64_t *classes;
    int64_t rows, columns, ignored, counted;
    int reduction, dtype;
} Targets;

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

/* target, weight, ignore_index, reduction; false where the call is not a plain one. */
static bool read_targets(Targets *t, PyObject *const *args) {
    const GwTensor *target = gw_plain_tensor(args[0]);
    if (target == NULL || target->dtype != GW_INT64 || target->ndim != 1
        || (target->flags & GW_CONTIGUOUS) == 0 || target->sizes[0] != t->rows
        || args[1] != Py_None || !gw_plain_int(args[2], &t->ignored)
        || !read_reduction(args[3], &t->reduction)) {
        return false;
    }
    t->classes = (const int64_t *)target->data;
    t->counted = 0;
    for (int64_t i = 0; i < t->rows; i++) {
        bool counts = t->classes[i] != t->ignored;
        if (counts && (t->classes[i] < 0 || t->classes[i] >= t->columns)) {
            return false;
        }
        t->counted += counts;
    }
    return true;
}

static double value_at(const char *data, int dtype, int64_t at) {
    return dtype == GW_FLOAT32 ? ((const float *)data)[at] : ((const double *)data)[at];
}

static void set_value(char *data, int dtype, int64_t at, double value) {
    if (dtype == GW_FLOAT32) {
        ((float *)data)[at] = (float)value;
    } else {
        ((double *)data)[at] = value;
    }
}

static bool is_real(const GwTensor *t) {
    return t != NULL && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64)
           && (t->flags & GW_CONTIGUOUS) != 0;
}

/* input, target, weight, ignore_index, reduction */
GW_KERNEL(nll_loss) {
    const GwTensor *input = gw_plain_tensor(args[0]);
    if (!is_real(input) || input->ndim != 2) {
        return NULL;
    }
    Targets t = {.rows = input->sizes[0], .columns = input->sizes[1], .dtype = input->dtype};
    if (!read_targets(&t, args + 1)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t.dtype, t.reduction == EACH, &t.rows, NULL);
    if (out == NULL) {
        return NULL;
    }
    double total = 0;
    for (int64_t i = 0; i < t.rows; i++) {
        bool counts = t.classes[i] != t.ignored;
        double loss = counts ? -value_at(input->data, t.dtype, i * t.columns + t.classes[i]) : 0;
        total += loss;
        if (t.reduction == EACH) {
            set_value(out->data, t.dtype, i, loss);
        }
    }
    if (t.reduction != EACH) {
        double each = t.counted > 0 ? total / (double)t.counted : NAN;
        set_value(out->data, t.dtype, 0, t.reduction == MEAN ? each : total);
    }
    return (PyObject *)out;
}

/* grad, size, target, weight, ignore_index, reduction */
GW_KERNEL(nll_loss_backward) {
    const GwTensor *grad = gw_plain_tensor(args[0]);
    int64_t sizes[GW_MAX_DIMS];
    if (!is_real(grad) || gw_plain_sizes(args[1], sizes) != 2) {
        return NULL;
    }
    Targets t = {.rows = sizes[0], .columns = sizes[1], .dtype = grad->dtype};
    if (!read_targets(&t, args + 2) || grad->numel != (t.reduction == EACH ? t.rows : 1)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, t.dtype, 2, sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    memset(out->data, 0, (size_t)(out->numel * gw_itemsize(out)));
    for (int64_t i = 0; i < t.rows; i++) {
        double g = -value_at(grad->data, t.dtype, t.reduction == EACH ? i : 0);
        if (t.classes[i] != t.ignored) {
            g = t.reduction == MEAN ? g / (double)t.counted : g;
            set_value(out->data, t.dtype, i * t.columns + t.classes[i], g);
        }
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_loss_kernels[] = {
    {"nll_loss", 5, nll_loss},
    {"nll_loss_backward", 6, nll_loss_backward},
    {NULL, 0, NULL},
};
