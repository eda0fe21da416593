/* Batch norm in training and its gradient, of contiguous [batch, channels, ...], a channel or a
 * tile of channels for each task. Sums are made in double, piece by piece; how they are cut depends
 * on the shape alone. */
#include "native.h"
#include "vector_math.h"

#include <math.h>

enum {
    COLUMNS = 128,          /* channels that are done side by side */
    ROWS = 16,              /* of these that are summed in their own precision */
    PIECE = 4096,           /* elements that are summed in their own precision */
};

typedef struct {
    const void *x, *grad, *weight, *bias;   /* the last two may be NULL */
    void *y;
    void *mean, *second;            /* [channels]; variance, or 1 / deviation in the backward */
    void *to_weight, *to_bias;      /* [channels] */
    int64_t batch, channels, inner;
    double count, eps;              /* elements of a channel */
} Channels;

/* Before a loop that writes a fresh result, none of what it reads. */
#define GW_TOGETHER _Pragma("GCC ivdep")

#define REAL float
#define NAME(x) x##_f32
#include "sums_kernel.h"
#include "channels_kernel.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) x##_f64
#include "sums_kernel.h"
#include "channels_kernel.h"

static void run(Channels *b, gw_body lines, gw_body columns) {
    bool single = b->inner == 1;
    int64_t tasks = single ? (b->channels + COLUMNS - 1) / COLUMNS : b->channels;
    gw_run_tasks(single ? columns : lines, b, tasks, b->batch * b->channels * b->inner / tasks);
}

/* A contiguous tensor of float32 or float64 with elements and channels; else NULL. */
static const GwTensor *read_input(PyObject *o, Channels *b) {
    const GwTensor *t = gw_plain_tensor(o);
    if (t == NULL || (t->dtype != GW_FLOAT32 && t->dtype != GW_FLOAT64) || t->ndim < 2
        || (t->flags & GW_CONTIGUOUS) == 0 || t->numel == 0) {
        return NULL;
    }
    b->x = t->data;
    b->batch = t->sizes[0];
    b->channels = t->sizes[1];
    b->inner = t->numel / (b->batch * b->channels);
    b->count = (double)(b->batch * b->inner);
    return t;
}

/* The data of a contiguous [channels] of the dtype; false for anything else. */
static bool read_channels(PyObject *o, const Channels *b, int dtype, const void **data) {
    const GwTensor *t = gw_plain_tensor(o);
    bool fits = t != NULL && t->dtype == dtype && t->ndim == 1 && t->sizes[0] == b->channels
                && (t->flags & GW_CONTIGUOUS) != 0;
    *data = fits ? t->data : NULL;
    return fits;
}

static PyObject *three(GwTensor *a, GwTensor *b, GwTensor *c) {
    PyObject *result = a == NULL || b == NULL || c == NULL ? NULL : PyTuple_Pack(3, a, b, c);
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(c);
    return result;
}

/* input, weight, bias, eps: the result, mean and variance */
GW_KERNEL(batch_norm_train) {
    Channels b = {0};
    const GwTensor *x = read_input(args[0], &b);
    if (x == NULL || !PyFloat_CheckExact(args[3])
        || (args[1] != Py_None && !read_channels(args[1], &b, x->dtype, &b.weight))
        || (args[2] != Py_None && !read_channels(args[2], &b, x->dtype, &b.bias))) {
        return NULL;
    }
    b.eps = PyFloat_AS_DOUBLE(args[3]);
    GwTensor *out = gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, NULL);
    GwTensor *mean = gw_tensor_empty(cls, x->dtype, 1, &b.channels, NULL);
    GwTensor *variance = gw_tensor_empty(cls, x->dtype, 1, &b.channels, NULL);
    if (out != NULL && mean != NULL && variance != NULL) {
        b.y = out->data;
        b.mean = mean->data;
        b.second = variance->data;
        bool single = x->dtype == GW_FLOAT32;
        run(&b, single ? forward_lines_f32 : forward_lines_f64,
            single ? forward_columns_f32 : forward_columns_f64);
    }
    return three(out, mean, variance);
}

/* grad, input, weight, mean, rstd: the gradients of input, weight and bias */
GW_KERNEL(batch_norm_backward) {
    Channels b = {0}, of_grad = {0};
    const void *mean, *rstd;
    const GwTensor *grad = read_input(args[0], &of_grad), *x = read_input(args[1], &b);
    if (x == NULL || grad == NULL || grad->dtype != x->dtype || grad->ndim != x->ndim
        || memcmp(grad->sizes, x->sizes, (size_t)x->ndim * sizeof(int64_t)) != 0
        || (args[2] != Py_None && !read_channels(args[2], &b, x->dtype, &b.weight))
        || !read_channels(args[3], &b, x->dtype, &mean)
        || !read_channels(args[4], &b, x->dtype, &rstd)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, NULL);
    GwTensor *to_weight = gw_tensor_empty(cls, x->dtype, 1, &b.channels, NULL);
    GwTensor *to_bias = gw_tensor_empty(cls, x->dtype, 1, &b.channels, NULL);
    if (out != NULL && to_weight != NULL && to_bias != NULL) {
        b.grad = grad->data;
        b.y = out->data;
        b.mean = (void *)(uintptr_t)mean;
        b.second = (void *)(uintptr_t)rstd;
        b.to_weight = to_weight->data;
        b.to_bias = to_bias->data;
        bool single = x->dtype == GW_FLOAT32;
        run(&b, single ? backward_lines_f32 : backward_lines_f64,
            single ? backward_columns_f32 : backward_columns_f64);
    }
    return three(out, to_weight, to_bias);
}

const GwKernelEntry gw_channel_kernels[] = {
    {"batch_norm_train", 4, batch_norm_train},
    {"batch_norm_backward", 5, batch_norm_backward},
    {NULL, 0, NULL},
};
