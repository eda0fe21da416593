/* Eager kernels in C of ops that are neither elementwise nor reductions. Each takes the plain
 * calls of its op; for any other it gives NULL without an exception, and the kernel in Python,
 * whose rules also word every refusal, does it. */
#ifndef GRAPHWRIGHT_NATIVE_H
#define GRAPHWRIGHT_NATIVE_H

#include "core.h"

/* `args` are the op's bound arguments, as many as its entry says; `cls` is the results' class. */
typedef PyObject *(*GwKernel)(PyTypeObject *cls, PyObject *const *args);

typedef struct {
    const char *name;       /* of the op */
    int nargs;
    GwKernel kernel;
} GwKernelEntry;

/* Each ends with a NULL name. */
extern const GwKernelEntry gw_view_kernels[], gw_creation_kernels[], gw_picking_kernels[],
    gw_joining_kernels[], gw_triangle_kernels[], gw_product_kernels[], gw_random_kernels[],
    gw_order_kernels[], gw_loss_kernels[], gw_copy_kernels[],
    gw_searching_kernels[], gw_boundary_kernels[], gw_contraction_kernels[], gw_moving_kernels[],
    gw_running_kernels[], gw_moment_kernels[], gw_mask_kernels[], gw_part_kernels[],
    gw_window_kernels[], gw_padding_kernels[], gw_lookup_kernels[], gw_pixel_kernels[],
    gw_view_copy_kernels[], gw_channel_kernels[], gw_sampling_kernels[], gw_conv_kernels[],
    gw_row_kernels[], gw_histogram_kernels[], gw_resample_kernels[], gw_same_kernels[],
    gw_piece_kernels[], gw_segment_kernels[], gw_shuffle_kernels[], gw_factor_kernels[],
    gw_equation_kernels[], gw_power_kernels[], gw_log_sum_kernels[], gw_probability_kernels[];

extern PyMethodDef gw_sampling_methods[];   /* sampling.c */

/* softmax_inner_dims.c: along a dim of a contiguous tensor of float32 or float64; NULL, without an exception,
 * where it is another. */
GwTensor *gw_softmax_lines(PyTypeObject *cls, const GwTensor *in, int dim, bool logarithm);
GwTensor *gw_softmax_slope_lines(PyTypeObject *cls, const GwTensor *grad, const GwTensor *result,
                                 int dim, bool logarithm);

/* gather_small.c */
PyObject *gw_index_kernel(PyTypeObject *cls, PyObject *const *args);
PyObject *gw_index_put_kernel(PyTypeObject *cls, PyObject *const *args);    /* in place */

/* compress.c: masked_select of contiguous tensors of one shape; NULL, without an exception, where
 * they are others. */
GwTensor *gw_select_contiguous(PyTypeObject *cls, const GwTensor *in, const GwTensor *mask);
/* The places where a contiguous mask holds, stored dim by dim; NULL as above. */
GwTensor *gw_places_contiguous(PyTypeObject *cls, const GwTensor *mask);

#define GW_KERNEL(name) static PyObject *name(PyTypeObject *cls, PyObject *const *args)

/* Whether the elements of a tensor are there to be read: it is neither fake nor symbolic. */
static inline bool gw_has_elements(const GwTensor *t) {
    return t->storage != NULL && t->data != NULL && t->device == GW_CPU
           && (t->flags & (GW_FAKE | GW_SYMBOLIC)) == 0;
}

/* A tensor with data on the CPU and known sizes; else NULL, without an exception. */
static inline GwTensor *gw_plain_tensor(PyObject *o) {
    return gw_is_tensor(o) && gw_has_elements((GwTensor *)o) ? (GwTensor *)o : NULL;
}

/* pointwise.c: what the kernel gives for the arguments, in `out`, which is not asked whether it may be
 * written; NULL without an exception where it is no Pointwise, the call no plain one, or `out` of
 * another dtype or shape or sharing memory with what is read, other than by the same elements. */
PyObject *gw_pointwise_out(PyObject *kernel, PyObject *const *args, Py_ssize_t nargs,
                           GwTensor *out);

/* Whether several places of a tensor are one element. */
static inline bool gw_repeats_elements(const GwTensor *t) {
    for (int d = 0; d < t->ndim; d++) {
        if (t->strides[d] == 0 && t->sizes[d] > 1) {
            return true;
        }
    }
    return false;
}

/* An int that fits; false, without an exception, for anything else. */
static inline bool gw_plain_int(PyObject *o, int64_t *value) {
    if (!PyLong_CheckExact(o)) {
        return false;
    }
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow == 0;
}

/* A float, or an int that fits; false, without an exception, for anything else. */
static inline bool gw_plain_number(PyObject *o, double *value) {
    int64_t whole = 0;
    bool floating = PyFloat_CheckExact(o), plain = floating || gw_plain_int(o, &whole);
    *value = floating ? PyFloat_AS_DOUBLE(o) : (double)whole;
    return plain;
}

/* A dim in 0..ndim-1. */
static inline bool gw_plain_dim(PyObject *o, int ndim, int *dim) {
    int64_t value;
    bool ok = gw_plain_int(o, &value) && value >= 0 && value < ndim;
    *dim = ok ? (int)value : 0;
    return ok;
}

/* As gw_plain_dim, but counted from the end where it is negative. */
static inline bool gw_wrapped_dim(PyObject *o, int ndim, int *dim) {
    int64_t value;
    bool ok = gw_plain_int(o, &value) && value >= -ndim && value < ndim;
    *dim = !ok ? 0 : (int)(value < 0 ? value + ndim : value);
    return ok;
}

/* The kernel that is the `run` of an op, without what it falls back on: NULL, without an exception,
 * where it does not take the call. Another callable is called. */
PyObject *gw_try_kernel(PyObject *run, PyObject *const *args, Py_ssize_t nargs);

/* The code of a dtype, `missing` for None, -1 for anything else; no exception. */
int gw_plain_dtype(PyObject *o, int missing);

/* creation.c: writes a number as an element, zeros behind it; false, without an exception, where it
 * does not plainly fit the dtype. */
bool gw_element(PyObject *number, int dtype, char bytes[16]);

/* Whether a device argument leaves the tensor on the CPU. */
bool gw_on_cpu(PyObject *device);

/* copy.c: between elements of one size that share no memory; strides, which may be negative where
 * it reads, in elements. Needs the GIL. */
void gw_copy_elements(int ndim, const int64_t *sizes, int itemsize, char *dst,
                      const int64_t *to, const char *src, const int64_t *from);

/* A number for each of `ndim` axes, all from `least` to `most`: from a tuple or list of them, or of
 * one, or from a number. No exception. */
bool gw_plain_each(PyObject *o, int ndim, int64_t least, int64_t most, int64_t *values);

/* Sizes of a tuple of ints that are not negative: how many, or -1. No exception. */
int gw_plain_sizes(PyObject *tuple, int64_t *sizes);

#endif
