/* Pooling over windows of up to three dimensions. A dimension's windows are given by where each
 * begins and ends, so that strided, dilated, clipped and adaptive windows are the same thing. */
#define _GNU_SOURCE
#include "core.h"
#include "pool.h"

#include <math.h>
#include <string.h>

enum {
    AXES = 3,
    LINE = 64,          /* windows of a line that are worked on at a time */
    WIDEST = 2048,      /* elements of a line that are summed up first */
};

/* Windows along one axis: [begin[i], end[i]) in steps, inside the input. */
typedef struct {
    int64_t size, count, step;
    const int64_t *begin, *end;
    int64_t first, last;    /* windows [first, last) are equally long, */
    int64_t stride;         /* and begin this far apart */
} Axis;

typedef struct {
    Axis axis[AXES];
    int64_t in_plane, out_plane;
    const char *input;
    char *output;
    int64_t *indices;       /* where the maximum is in its plane, or NULL */
    const void *divisors;   /* [out_plane], of the element type */
} Windows;

#define REAL float
#define PLACE int32_t
#define NAME(x) x##_f32
#define IS_NAN(v) ((v) != (v))
#define LOWEST (-INFINITY)
#include "pool_large_kernel.h"
#define REAL double
#define PLACE int64_t
#define NAME(x) x##_f64
#define IS_NAN(v) ((v) != (v))
#define LOWEST (-INFINITY)
#include "pool_large_kernel.h"
#define REAL int64_t
#define PLACE int64_t
#define NAME(x) x##_i64
#define IS_NAN(v) false
#define LOWEST INT64_MIN
#define WHOLE
#include "pool_large_kernel.h"

static const gw_body *bodies_of(int type) {
    return type == NPY_FLOAT32 ? bodies_f32 : type == NPY_FLOAT64 ? bodies_f64 : bodies_i64;
}

/* ---- Python ---- */

static bool is_fit(PyArrayObject *array, int ndim, int type) {
    return PyArray_NDIM(array) == ndim && PyArray_TYPE(array) == type
           && PyArray_ISCARRAY_RO(array);
}

static bool fail(const char *message) {
    PyErr_SetString(PyExc_ValueError, message);
    return false;
}

/* The windows of an axis: an int64 array [2, count]. Every one must lie inside the input. */
static bool read_axis(Axis *axis, PyObject *bounds, PyObject *step) {
    axis->step = PyLong_AsLongLong(step);
    if (axis->step == -1 && PyErr_Occurred()) {
        return false;
    }
    if (!PyArray_Check(bounds) || !is_fit((PyArrayObject *)bounds, 2, NPY_INT64)
        || PyArray_DIM((PyArrayObject *)bounds, 0) != 2
        || PyArray_DIM((PyArrayObject *)bounds, 1) != axis->count || axis->step < 1) {
        return fail("windows are int64 arrays [2, count], one for each axis, with steps >= 1");
    }
    axis->begin = PyArray_DATA((PyArrayObject *)bounds);
    axis->end = axis->begin + axis->count;
    for (int64_t i = 0; i < axis->count; i++) {
        int64_t length;
        bool wraps = __builtin_sub_overflow(axis->end[i], axis->begin[i], &length);
        if (wraps || (length > 0 && (axis->begin[i] < 0 || axis->end[i] > axis->size))) {
            return fail("a window reaches outside the input");
        }
    }
    return true;
}

/* The longest run of equal windows from the first full one on; all but the clipped ones. */
static void find_regular(Axis *axis) {
    int64_t longest = 0, i = 0;
    for (int64_t j = 0; j < axis->count; j++) {
        int64_t length = axis->end[j] - axis->begin[j];
        longest = length > longest ? length : longest;
    }
    while (i < axis->count && axis->end[i] - axis->begin[i] != longest) {
        i++;
    }
    axis->first = i;
    axis->stride = i + 1 < axis->count ? axis->begin[i + 1] - axis->begin[i] : 1;
    for (i++; i < axis->count && axis->end[i] - axis->begin[i] == longest
              && axis->begin[i] - axis->begin[i - 1] == axis->stride; i++) {
    }
    bool usable = longest > 0 && axis->stride > 0;
    axis->last = usable ? i : axis->first;
}

static bool read_axes(Windows *windows, PyArrayObject *wide, PyArrayObject *narrow,
                      PyObject *bounds, PyObject *steps) {
    if (PyArray_DIM(wide, 0) != PyArray_DIM(narrow, 0) || PyTuple_GET_SIZE(bounds) != AXES
        || PyTuple_GET_SIZE(steps) != AXES) {
        return fail("pooling takes arrays [planes, 3 sizes], and windows and steps of 3 axes");
    }
    windows->in_plane = windows->out_plane = 1;
    for (int a = 0; a < AXES; a++) {
        Axis *axis = windows->axis + a;
        axis->size = PyArray_DIM(wide, a + 1);
        axis->count = PyArray_DIM(narrow, a + 1);
        if (!read_axis(axis, PyTuple_GET_ITEM(bounds, a), PyTuple_GET_ITEM(steps, a))) {
            return false;
        }
        windows->in_plane *= axis->size;
        windows->out_plane *= axis->count;
    }
    find_regular(windows->axis + 2);
    return true;
}

/* Over planes; a plane is the unit, of `work` elements. */
static void over_planes(gw_body body, void *closure, int64_t planes, int64_t work) {
    gw_ctx ctx;
    gw_context(&ctx);
    bool large = (double)planes * (double)work > 16e3;
    int64_t grain = work > 0 && work < 8192 ? 8192 / work : 1;
    PyThreadState *released = large ? PyEval_SaveThread() : NULL;
    gw_parallel_for(&ctx, body, closure, planes, grain);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
}

enum Part { MAXIMUM, SUM, SPREAD };

static PyObject *pool_windows(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    int part;
    PyArrayObject *input, *output;
    PyObject *extra, *bounds, *steps;
    if (!PyArg_ParseTuple(args, "iO!O!OO!O!", &part, &PyArray_Type, &input, &PyArray_Type,
                          &output, &extra, &PyTuple_Type, &bounds, &PyTuple_Type, &steps)) {
        return NULL;
    }
    int type = PyArray_TYPE(output);
    bool known = type == NPY_FLOAT32 || type == NPY_FLOAT64 || type == NPY_INT64;
    if (part < MAXIMUM || part > SPREAD || !known || (part != MAXIMUM && type == NPY_INT64)
        || !is_fit(input, 4, type) || !is_fit(output, 4, type) || !PyArray_ISWRITEABLE(output)) {
        fail("pool_windows takes contiguous arrays [planes, 3 sizes] of float32, float64 or "
             "(maxima) int64");
        return NULL;
    }
    Windows windows = {.input = PyArray_DATA(input), .output = PyArray_DATA(output)};
    PyArrayObject *wide = part == SPREAD ? output : input;
    PyArrayObject *narrow = part == SPREAD ? input : output;
    if (!read_axes(&windows, wide, narrow, bounds, steps)) {
        return NULL;
    }
    if (part == MAXIMUM && extra != Py_None) {
        if (!PyArray_Check(extra) || !is_fit((PyArrayObject *)extra, 4, NPY_INT64)
            || !PyArray_SAMESHAPE((PyArrayObject *)extra, output)
            || !PyArray_ISWRITEABLE((PyArrayObject *)extra)) {
            fail("indices must be int64 and of the output's shape");
            return NULL;
        }
        windows.indices = PyArray_DATA((PyArrayObject *)extra);
    } else if (part != MAXIMUM) {
        if (!PyArray_Check(extra) || !is_fit((PyArrayObject *)extra, 1, type)
            || PyArray_DIM((PyArrayObject *)extra, 0) != windows.out_plane) {
            fail("divisors must be of the values' type, one for each window");
            return NULL;
        }
        windows.divisors = PyArray_DATA((PyArrayObject *)extra);
    }
    if (windows.in_plane + windows.out_plane > 0) {
        over_planes(bodies_of(type)[part], &windows, PyArray_DIM(output, 0),
                    windows.in_plane + windows.out_plane);
    }
    Py_RETURN_NONE;
}

typedef struct {
    const char *values;
    const int64_t *indices;
    char *output;
    int64_t count, size;    /* of a plane's values, and of the plane that indices point into */
    _Atomic int64_t bad;    /* an index that is out of range, or -1 (which stands for none) */
} Places;

#define REAL float
#define NAME(x) x##_f32
#include "places_kernel.h"
#define REAL double
#define NAME(x) x##_f64
#include "places_kernel.h"
#define REAL uint64_t
#define NAME(x) x##_i64
#include "places_kernel.h"

static PyObject *plane_places(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    int part;
    PyArrayObject *values, *indices, *output;
    if (!PyArg_ParseTuple(args, "iO!O!O!", &part, &PyArray_Type, &values, &PyArray_Type, &indices,
                          &PyArray_Type, &output)) {
        return NULL;
    }
    int type = PyArray_TYPE(output);
    bool fit = (type == NPY_FLOAT32 || type == NPY_FLOAT64 || type == NPY_INT64)
               && part >= 0 && part < 3 && is_fit(values, 2, type)
               && is_fit(indices, 2, NPY_INT64) && is_fit(output, 2, type)
               && PyArray_ISWRITEABLE(output)
               && PyArray_SAMESHAPE(indices, part == 2 ? output : values)
               && PyArray_DIM(values, 0) == PyArray_DIM(output, 0);
    if (!fit) {
        fail("plane_places takes contiguous arrays [planes, size] whose shapes fit together");
        return NULL;
    }
    PyArrayObject *wide = part == 2 ? values : output;
    Places places = {PyArray_DATA(values), PyArray_DATA(indices), PyArray_DATA(output),
                     PyArray_DIM(indices, 1), PyArray_DIM(wide, 1), -1};
    const gw_body *bodies = type == NPY_FLOAT32 ? places_f32
                            : type == NPY_FLOAT64 ? places_f64 : places_i64;
    over_planes(bodies[part], &places, PyArray_DIM(output, 0), places.count + places.size);
    if (places.bad != -1) {
        return PyErr_Format(PyExc_IndexError, "index %lld is out of range for a plane of %lld",
                            (long long)places.bad, (long long)places.size);
    }
    Py_RETURN_NONE;
}

PyMethodDef gw_pooling_methods[] = {
    {"pool_windows", pool_windows, METH_VARARGS,
     "pool_windows(part, input, output, extra, bounds, steps): part 0 writes the maximum of each "
     "window of input [planes, D, H, W] (extra: int64 indices of the output's shape, or None), "
     "part 1 its sum divided by extra (one divisor a window), part 2 is the transpose of part 1: "
     "spreads input over the windows of output. bounds: for each axis int64 [2, count], begins "
     "and ends; steps: between a window's elements."},
    {"plane_places", plane_places, METH_VARARGS,
     "plane_places(part, values, indices, output): for each plane, part 0 output = 0 and then "
     "output[indices] += values, part 1 output = 0 and then output[indices] = values, part 2 "
     "output = values[indices]. IndexError out of range."},
    {NULL, NULL, 0, NULL},
};
