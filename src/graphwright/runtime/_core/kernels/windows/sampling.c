/* Images read at places that a grid gives, and the gradients of both. A place is read as a few
 * elements of each axis, each with a weight; what lies outside counts as zero, or is brought
 * inside by the padding. */
#include "native.h"
#include "pool.h"

#include <math.h>

enum { AXES = 3, TAPS = 4, GRAIN = 4096 };
enum { BILINEAR, NEAREST, BICUBIC };
enum { ZEROS, BORDER, REFLECTION };

/* Images [N, C, sizes] with two or three sizes, then the first is 1; grids [N, points, axes]. */
typedef struct {
    int axes, mode, padding;
    bool corners;               /* -1 and 1 are the centres of the outermost elements */
    int64_t batch, channels, points, plane, sizes[AXES];
    const char *input, *grid;
    char *output;               /* of the reading; the rest is of the gradients */
    const char *grad;
    char *to_input, *to_grid;   /* or NULL */
    _Atomic bool far;           /* a place is no number, or beyond all images */
} Sampling;

#define REAL float
#define NAME(x) x##_f32
#include "sampling_kernel.h"
#define REAL double
#define NAME(x) x##_f64
#include "sampling_kernel.h"

/* ---- reading arguments ---- */

static bool plain_real(const GwTensor *t) {
    return t != NULL && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64)
           && (t->flags & GW_CONTIGUOUS) != 0 && t->numel > 0;
}

/* A number below `count`, or one of `names`. */
static bool choice(PyObject *o, const char *const *names, int count, int *chosen) {
    int64_t number;
    if (gw_plain_int(o, &number)) {
        *chosen = (int)number;
        return number >= 0 && number < count;
    }
    for (int i = 0; i < count; i++) {
        if (PyUnicode_Check(o) && PyUnicode_CompareWithASCIIString(o, names[i]) == 0) {
            *chosen = i;
            return true;
        }
    }
    return false;
}

/* input, grid, mode, padding, align_corners */
static bool read_sampling(Sampling *s, PyObject *const *args) {
    static const char *const modes[] = {"bilinear", "nearest", "bicubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    const GwTensor *input = gw_plain_tensor(args[0]), *grid = gw_plain_tensor(args[1]);
    if (!plain_real(input) || !plain_real(grid) || input->dtype != grid->dtype
        || (input->ndim != 4 && input->ndim != 5) || grid->ndim != input->ndim
        || grid->sizes[0] != input->sizes[0] || grid->sizes[grid->ndim - 1] != input->ndim - 2
        || !choice(args[2], modes, 3, &s->mode) || !choice(args[3], paddings, 3, &s->padding)
        || !PyBool_Check(args[4]) || (s->mode == BICUBIC && input->ndim == 5)) {
        return false;
    }
    s->axes = input->ndim - 2;
    s->corners = args[4] == Py_True;
    s->batch = input->sizes[0];
    s->channels = input->sizes[1];
    s->points = grid->numel / (s->batch * s->axes);
    s->plane = 1;
    s->sizes[0] = 1;
    for (int a = 0; a < s->axes; a++) {
        s->sizes[AXES - s->axes + a] = input->sizes[2 + a];
        s->plane *= input->sizes[2 + a];
    }
    s->input = input->data;
    s->grid = grid->data;
    return true;
}

static void over(gw_body body, Sampling *s, int64_t n, int64_t work) {
    gw_ctx ctx;
    gw_context(&ctx);
    int64_t grain = work >= GRAIN ? 1 : GRAIN / (work > 0 ? work : 1);
    if (n <= grain) {
        body(s, 0, n);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    gw_parallel_for(&ctx, body, s, n, grain);
    Py_END_ALLOW_THREADS
}

/* ---- Python ---- */

GW_KERNEL(sample) {
    Sampling s = {0};
    if (!read_sampling(&s, args)) {
        return NULL;
    }
    const GwTensor *input = (const GwTensor *)args[0], *grid = (const GwTensor *)args[1];
    int64_t sizes[GW_MAX_DIMS] = {s.batch, s.channels};
    memcpy(sizes + 2, grid->sizes + 1, (size_t)s.axes * sizeof *sizes);
    GwTensor *out = gw_tensor_empty(cls, input->dtype, input->ndim, sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    s.output = out->data;
    over(input->dtype == GW_FLOAT32 ? read_f32 : read_f64, &s, s.batch * s.points, s.channels * 8);
    if (s.far) {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}

/* A zeroed tensor like `t`, or None. */
static PyObject *zeros_like(PyTypeObject *cls, const GwTensor *t, bool needed) {
    if (!needed) {
        return Py_NewRef(Py_None);
    }
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, NULL);
    if (out != NULL) {
        memset(out->data, 0, (size_t)(out->numel * gw_itemsize(out)));
    }
    return (PyObject *)out;
}

static PyObject *sampling_gradients(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    Sampling s = {0};
    PyTypeObject *cls = nargs == 9 ? gw_tensor_class(args[0]) : NULL;
    const GwTensor *grad = cls != NULL ? gw_plain_tensor(args[1]) : NULL;
    if (cls == NULL) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "expected 9 arguments");
    }
    if (!plain_real(grad) || !read_sampling(&s, args + 2)
        || grad->dtype != ((const GwTensor *)args[2])->dtype
        || grad->numel != s.batch * s.channels * s.points) {
        Py_RETURN_NONE;
    }
    PyObject *to_input = zeros_like(cls, (const GwTensor *)args[2], args[7] == Py_True);
    PyObject *to_grid = zeros_like(cls, (const GwTensor *)args[3], args[8] == Py_True);
    if (to_input == NULL || to_grid == NULL) {
        Py_XDECREF(to_input);
        Py_XDECREF(to_grid);
        return NULL;
    }
    s.grad = grad->data;
    s.to_input = to_input == Py_None ? NULL : ((GwTensor *)to_input)->data;
    s.to_grid = to_grid == Py_None ? NULL : ((GwTensor *)to_grid)->data;
    over(grad->dtype == GW_FLOAT32 ? spread_f32 : spread_f64, &s, s.batch,
         s.points * s.channels * 16);
    return Py_BuildValue("(NN)", to_input, to_grid);
}

/* ---- affine maps of grids ---- */

/* Where element i of n is between -1 and 1: elements' centres, the outermost ones' (`corners`) or
 * between their edges. */
static double between(int64_t i, int64_t n, bool corners) {
    if (n == 1) {
        return 0;
    }
    double place = -1 + 2 * (double)i / (double)(n - 1);
    return corners ? place : place * (double)(n - 1) / (double)n;
}

/* theta [axes, axes + 1] at (x, y, .., 1) for all places of an image. */
static void map_grid(const char *theta, char *out, int dtype, int axes, const int64_t *sizes,
                     bool corners) {
    int64_t points = 1, at[AXES] = {0};
    for (int a = 0; a < axes; a++) {
        points *= sizes[a];
    }
    for (int64_t p = 0; p < points; p++) {
        for (int row = 0; row < axes; row++) {
            double sum = 0;
            for (int k = 0; k <= axes; k++) {
                int a = axes - 1 - k, i = row * (axes + 1) + k;
                double factor = k == axes ? 1 : between(at[a], sizes[a], corners);
                sum += factor * (dtype == GW_FLOAT32 ? (double)((const float *)theta)[i]
                                                     : ((const double *)theta)[i]);
            }
            if (dtype == GW_FLOAT32) {
                ((float *)out)[p * axes + row] = (float)sum;
            } else {
                ((double *)out)[p * axes + row] = sum;
            }
        }
        for (int a = axes - 1; a >= 0 && ++at[a] == sizes[a]; a--) {
            at[a] = 0;
        }
    }
}

/* theta, size, align_corners; grids of few places */
GW_KERNEL(affine_grid_generator) {
    const GwTensor *theta = gw_plain_tensor(args[0]);
    int64_t sizes[GW_MAX_DIMS], points = 1;
    int axes = gw_plain_sizes(args[1], sizes) - 2;
    if (!plain_real(theta) || (axes != 2 && axes != 3) || !PyBool_Check(args[2])
        || theta->ndim != 3 || theta->sizes[0] != sizes[0] || theta->sizes[1] != axes
        || theta->sizes[2] != axes + 1) {
        return NULL;
    }
    int64_t out_sizes[AXES + 2] = {sizes[0]};
    for (int a = 0; a < axes; a++) {
        points *= out_sizes[a + 1] = sizes[a + 2];
        if (points <= 0 || points * sizes[0] > GRAIN) {
            return NULL;
        }
    }
    out_sizes[axes + 1] = axes;
    GwTensor *out = gw_tensor_empty(cls, theta->dtype, axes + 2, out_sizes, NULL);
    for (int64_t n = 0; out != NULL && n < sizes[0]; n++) {
        map_grid(theta->data + n * axes * (axes + 1) * gw_itemsize(theta),
                 out->data + n * points * axes * gw_itemsize(out), theta->dtype, axes, sizes + 2,
                 args[2] == Py_True);
    }
    return (PyObject *)out;
}

const GwKernelEntry gw_sampling_kernels[] = {
    {"affine_grid_generator", 3, affine_grid_generator},
    {"grid_sample", 5, sample},
    {"grid_sampler", 5, sample},
    {"grid_sampler_2d", 5, sample},
    {"grid_sampler_3d", 5, sample},
    {NULL, 0, NULL},
};

PyMethodDef gw_sampling_methods[] = {
    {"sampling_gradients", (PyCFunction)(void (*)(void))sampling_gradients, METH_FASTCALL,
     "sampling_gradients(cls, grad, input, grid, mode, padding, align_corners, to_input, "
     "to_grid): the gradients of grid_sample, None for one that is not asked for; None where the "
     "tensors are no plain ones."},
    {NULL, NULL, 0, NULL},
};
