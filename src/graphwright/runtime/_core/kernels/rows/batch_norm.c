/* Batch norm, that in training with its gradient, of contiguous [batch, channels, ...]: a channel
 * for each task, or where its elements lie apart, some rows of a tile of channels. Sums are made
 * in double, piece by piece; how they are cut depends on the shape alone. */
#include "native.h"
#include "vector_math.h"

#include <math.h>

enum {
    GROUP_BYTES = 2048,     /* of channels that are a task's */
    TILE_BYTES = 128,       /* of these that are done side by side */
    ROWS = 8,               /* of these that are summed in their own precision */
    PART_ROWS = 256,        /* of a task at least */
    MOST_PARTS = 64,
    SUMS = 3,               /* of each channel of a part */
    PIECE = 4096,           /* elements that are summed in their own precision */
};

typedef struct {
    const void *x, *grad, *weight, *bias;   /* the last two may be NULL */
    void *y;
    void *mean, *second;            /* [channels]; variance, or 1 / deviation in the backward */
    void *to_weight, *to_bias;      /* [channels] */
    int64_t batch, channels, inner;
    double count, eps;              /* elements of a channel */
    int64_t groups, parts, rows;    /* of channels; of the batch, of so many rows */
    double *sums;                   /* those of each part, [parts, SUMS, channels] */
    void *by;                       /* what the last pass needs, [4, channels] */
} Channels;

/* Before a loop that writes a fresh result, none of what it reads. */
#define GW_TOGETHER _Pragma("GCC ivdep")

#define REAL float
#define NAME(x) x##_f32
#include "sums_kernel.h"
#include "batch_norm_kernel.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) x##_f64
#include "sums_kernel.h"
#include "batch_norm_kernel.h"

/* Passes over channels whose elements lie apart: sums of each part of the batch, which `join`
 * puts together in the first and `settle` takes from there, and results. */
typedef struct {
    int64_t columns;                /* channels of a task */
    gw_body lines;                  /* of channels whose elements lie together */
    gw_body sums, results;
    void (*join)(Channels *b);
    void (*settle)(Channels *b);
} Passes;

/* Adds the sums of all parts to those of the first. */
static void join_sums(Channels *b) {
    for (int64_t i = SUMS * b->channels; i < b->parts * SUMS * b->channels; i++) {
        b->sums[i % (SUMS * b->channels)] += b->sums[i];
    }
}

/* Means and sums of squares around them, of parts that are as long as the first but at the end. */
static void join_moments(Channels *b) {
    double *means = b->sums, *squares = means + b->channels;
    for (int64_t part = 1; part < b->parts && part * b->rows < b->batch; part++) {
        int64_t known = part * b->rows, left = b->batch - known;
        double rows = (double)(left < b->rows ? left : b->rows);
        double share = rows / (rows + (double)known);
        const double *others = b->sums + part * SUMS * b->channels;
        for (int64_t c = 0; c < b->channels; c++) {
            double gap = others[c] - means[c];
            means[c] += gap * share;
            squares[c] += others[b->channels + c] + gap * gap * share * (double)known;
        }
    }
}

static const Passes forward_passes[] = {
    {COLUMNS_f32, forward_lines_f32, moments_of_f32, forward_columns_f32, join_moments,
     settle_moments_f32},
    {COLUMNS_f64, forward_lines_f64, moments_of_f64, forward_columns_f64, join_moments,
     settle_moments_f64},
};
static const Passes backward_passes[] = {
    {COLUMNS_f32, backward_lines_f32, slope_sums_of_f32, backward_columns_f32, join_sums,
     settle_slopes_f32},
    {COLUMNS_f64, backward_lines_f64, slope_sums_of_f64, backward_columns_f64, join_sums,
     settle_slopes_f64},
};

static bool run_columns(Channels *b, const Passes *passes) {
    b->groups = (b->channels + passes->columns - 1) / passes->columns;
    b->parts = (b->batch + PART_ROWS - 1) / PART_ROWS;
    b->parts = b->parts < MOST_PARTS ? b->parts : MOST_PARTS;
    b->rows = (b->batch + b->parts - 1) / b->parts;
    size_t sums = (size_t)(b->parts * SUMS * b->channels);
    b->sums = PyMem_Calloc(sums + (size_t)(4 * b->channels), sizeof(double));
    if (b->sums == NULL) {
        PyErr_NoMemory();
        return false;
    }
    b->by = b->sums + sums;
    int64_t tasks = b->groups * b->parts, each = b->batch * b->channels / tasks;
    gw_run_tasks(passes->sums, b, tasks, each);
    passes->join(b);
    passes->settle(b);
    gw_run_tasks(passes->results, b, tasks, each);
    PyMem_Free(b->sums);
    return true;
}

static bool run(Channels *b, const Passes *passes) {
    if (b->inner == 1) {
        return run_columns(b, passes);
    }
    gw_run_tasks(passes->lines, b, b->channels, b->batch * b->inner);
    return true;
}

/* Whether the channels of a place lie together, and the places one after the other. */
static bool lies_by_places(const GwTensor *t) {
    int64_t step = t->sizes[1];
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (d != 1 && t->sizes[d] != 1) {
            if (t->strides[d] != step) {
                return false;
            }
            step *= t->sizes[d];
        }
    }
    return t->ndim > 3 && t->strides[1] == 1;
}

/* A tensor of float32 or float64 with elements and channels, contiguous or by places; or NULL. */
static const GwTensor *read_input(PyObject *o, Channels *b) {
    const GwTensor *t = gw_plain_tensor(o);
    if (t == NULL || (t->dtype != GW_FLOAT32 && t->dtype != GW_FLOAT64) || t->ndim < 2
        || t->numel == 0) {
        return NULL;
    }
    bool contiguous = (t->flags & GW_CONTIGUOUS) != 0;
    if (!contiguous && !lies_by_places(t)) {
        return NULL;
    }
    b->x = t->data;
    b->channels = t->sizes[1];
    b->batch = contiguous ? t->sizes[0] : t->numel / b->channels;
    b->inner = t->numel / (b->batch * b->channels);
    b->count = (double)(b->batch * b->inner);
    return t;
}

/* An empty result in the layout of the input. */
static GwTensor *like(PyTypeObject *cls, const GwTensor *x) {
    bool contiguous = (x->flags & GW_CONTIGUOUS) != 0;
    return gw_tensor_empty(cls, x->dtype, x->ndim, x->sizes, contiguous ? NULL : x->strides);
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
    GwTensor *out = like(cls, x);
    GwTensor *mean = gw_tensor_empty(cls, x->dtype, 1, &b.channels, NULL);
    GwTensor *variance = gw_tensor_empty(cls, x->dtype, 1, &b.channels, NULL);
    if (out != NULL && mean != NULL && variance != NULL) {
        b.y = out->data;
        b.mean = mean->data;
        b.second = variance->data;
        if (!run(&b, &forward_passes[x->dtype == GW_FLOAT64])) {
            Py_CLEAR(out);
        }
    }
    return three(out, mean, variance);
}

static bool has_gradient(PyObject *o) {
    return gw_is_tensor(o) && gw_requires_grad((GwTensor *)o);
}

/* input, weight, bias, mean, variance, training, momentum, eps: not in training */
GW_KERNEL(batch_norm) {
    Channels b = {0};
    const void *mean, *variance;
    const GwTensor *x = args[5] == Py_False ? read_input(args[0], &b) : NULL;
    if (x == NULL || !PyFloat_CheckExact(args[7]) || has_gradient(args[3])
        || has_gradient(args[4])
        || (args[1] != Py_None && !read_channels(args[1], &b, x->dtype, &b.weight))
        || (args[2] != Py_None && !read_channels(args[2], &b, x->dtype, &b.bias))
        || !read_channels(args[3], &b, x->dtype, &mean)
        || !read_channels(args[4], &b, x->dtype, &variance)) {
        return NULL;
    }
    b.eps = PyFloat_AS_DOUBLE(args[7]);
    b.mean = (void *)(uintptr_t)mean;
    b.by = PyMem_Malloc((size_t)(2 * b.channels * gw_itemsize(x)));
    GwTensor *out = b.by == NULL ? (GwTensor *)PyErr_NoMemory() : like(cls, x);
    if (out != NULL) {
        b.y = out->data;
        bool single = x->dtype == GW_FLOAT32;
        (single ? settle_affine_f32 : settle_affine_f64)(&b, variance);
        if (b.inner == 1) {
            gw_run_tasks(single ? affine_columns_f32 : affine_columns_f64, &b, b.batch,
                         b.channels);
        } else {
            gw_run_tasks(single ? affine_lines_f32 : affine_lines_f64, &b, b.batch * b.channels,
                         b.inner);
        }
    }
    PyMem_Free(b.by);
    return (PyObject *)out;
}

/* grad, input, weight, mean, rstd: the gradients of input, weight and bias */
GW_KERNEL(batch_norm_backward) {
    Channels b = {0}, of_grad = {0};
    const void *mean, *rstd;
    const GwTensor *grad = read_input(args[0], &of_grad), *x = read_input(args[1], &b);
    if (x == NULL || grad == NULL || grad->dtype != x->dtype || grad->ndim != x->ndim
        || of_grad.inner != b.inner
        || memcmp(grad->sizes, x->sizes, (size_t)x->ndim * sizeof(int64_t)) != 0
        || (args[2] != Py_None && !read_channels(args[2], &b, x->dtype, &b.weight))
        || !read_channels(args[3], &b, x->dtype, &mean)
        || !read_channels(args[4], &b, x->dtype, &rstd)) {
        return NULL;
    }
    GwTensor *out = like(cls, x);
    GwTensor *to_weight = gw_tensor_empty(cls, x->dtype, 1, &b.channels, NULL);
    GwTensor *to_bias = gw_tensor_empty(cls, x->dtype, 1, &b.channels, NULL);
    if (out != NULL && to_weight != NULL && to_bias != NULL) {
        b.grad = grad->data;
        b.y = out->data;
        b.mean = (void *)(uintptr_t)mean;
        b.second = (void *)(uintptr_t)rstd;
        b.to_weight = to_weight->data;
        b.to_bias = to_bias->data;
        if (!run(&b, &backward_passes[x->dtype == GW_FLOAT64])) {
            Py_CLEAR(out);
        }
    }
    return three(out, to_weight, to_bias);
}

const GwKernelEntry gw_channel_kernels[] = {
    {"batch_norm", 8, batch_norm},
    {"batch_norm_train", 4, batch_norm_train},
    {"batch_norm_backward", 5, batch_norm_backward},
    {NULL, 0, NULL},
};
