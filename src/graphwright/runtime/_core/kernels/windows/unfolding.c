/* im2col and col2im: the windows of images as columns, and columns added up in images. */
#include "arguments.h"
#include "pool.h"

#include <string.h>

enum { MOST = 1 << 20 };    /* of sizes, strides, paddings */

/* Images [planes, size] and columns [planes, kernel, count]. */
typedef struct {
    int64_t size[2], kernel[2], dilation[2], padding[2], stride[2], count[2];
    int64_t plane, columns;     /* elements of an image, and of its columns */
    const char *from;
    char *to;
} Windows;

/* What one tap reads along an axis: window i at i * stride + `at`, inside for begin <= i < end. */
typedef struct { int64_t at, begin, end; } Reach;

static Reach reach_of(const Windows *w, int axis, int64_t tap) {
    Reach r = {.at = tap * w->dilation[axis] - w->padding[axis]};
    int64_t step = w->stride[axis], room = w->size[axis] - r.at;
    r.end = room > 0 ? (room - 1) / step + 1 : 0;
    r.end = r.end < w->count[axis] ? r.end : w->count[axis];
    r.begin = r.at >= 0 ? 0 : (-r.at + step - 1) / step;
    return r;
}

/* For each tap and each row of windows that it reads: `statement` with the indices `i` and `k` of
 * elements of the image and of the columns. */
#define EACH_ELEMENT(statement)                                                           \
    for (int64_t tap = 0; tap < w->kernel[0] * w->kernel[1]; tap++) {                     \
        Reach down = reach_of(w, 0, tap / w->kernel[1]);                                  \
        Reach along = reach_of(w, 1, tap % w->kernel[1]);                                 \
        for (int64_t y = down.begin; y < down.end; y++) {                                 \
            int64_t line = (y * w->stride[0] + down.at) * w->size[1] + along.at;          \
            int64_t row = (tap * w->count[0] + y) * w->count[1];                          \
            for (int64_t x = along.begin; x < along.end; x++) {                           \
                int64_t i = line + x * w->stride[1], k = row + x;                         \
                statement;                                                                \
            }                                                                             \
        }                                                                                 \
    }

#define WINDOWS(T, suffix)                                                                \
    static void unfold_##suffix(void *closure, int64_t first, int64_t last) {             \
        const Windows *w = closure;                                                       \
        for (int64_t p = first; p < last; p++) {                                          \
            const T *image = (const T *)w->from + p * w->plane;                           \
            T *columns = (T *)w->to + p * w->columns;                                     \
            memset(columns, 0, (size_t)w->columns * sizeof(T));                           \
            EACH_ELEMENT(columns[k] = image[i])                                           \
        }                                                                                 \
    }                                                                                     \
    static void fold_##suffix(void *closure, int64_t first, int64_t last) {               \
        const Windows *w = closure;                                                       \
        for (int64_t p = first; p < last; p++) {                                          \
            T *image = (T *)w->to + p * w->plane;                                         \
            const T *columns = (const T *)w->from + p * w->columns;                       \
            memset(image, 0, (size_t)w->plane * sizeof(T));                               \
            EACH_ELEMENT(image[i] += columns[k])                                          \
        }                                                                                 \
    }

WINDOWS(float, f32)
WINDOWS(double, f64)

/* A contiguous tensor of float32 or float64; else NULL. */
static const GwTensor *dense(PyObject *o, int ndim) {
    const GwTensor *t = gw_plain_tensor(o);
    bool fits = t != NULL && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64)
                && (t->flags & GW_CONTIGUOUS) != 0 && t->ndim == ndim && t->numel > 0;
    return fits ? t : NULL;
}

/* kernel, dilation, padding, stride; the images' sizes are known. False where no window fits. */
static bool read_windows(Windows *w, PyObject *const *args) {
    bool plain = gw_plain_each(args[0], 2, 1, MOST, w->kernel)
                 && gw_plain_each(args[1], 2, 1, MOST, w->dilation)
                 && gw_plain_each(args[2], 2, 0, MOST, w->padding)
                 && gw_plain_each(args[3], 2, 1, MOST, w->stride);
    for (int a = 0; plain && a < 2; a++) {
        int64_t room = w->size[a] + 2 * w->padding[a] - w->dilation[a] * (w->kernel[a] - 1) - 1;
        plain = room >= 0;
        w->count[a] = room / w->stride[a] + 1;
    }
    if (!plain) {
        return false;
    }
    w->plane = w->size[0] * w->size[1];
    return !__builtin_mul_overflow(w->kernel[0] * w->kernel[1], w->count[0] * w->count[1],
                                   &w->columns);
}

/* Runs a pass over `planes` images; gives the output. */
static PyObject *passed(Windows *w, const GwTensor *in, GwTensor *out, int64_t planes,
                        gw_body single, gw_body wide) {
    if (out != NULL) {
        w->from = in->data;
        w->to = out->data;
        gw_run_tasks(out->dtype == GW_FLOAT32 ? single : wide, w, planes, w->columns);
    }
    return (PyObject *)out;
}

/* input [N, C, H, W], kernel, dilation, padding, stride */
GW_KERNEL(im2col) {
    const GwTensor *in = dense(args[0], 4);
    Windows w;
    int64_t sizes[3];
    if (in == NULL) {
        return NULL;
    }
    memcpy(w.size, in->sizes + 2, sizeof w.size);
    if (!read_windows(&w, args + 1)
        || __builtin_mul_overflow(in->sizes[1], w.kernel[0] * w.kernel[1], &sizes[1])) {
        return NULL;
    }
    sizes[0] = in->sizes[0];
    sizes[2] = w.count[0] * w.count[1];
    GwTensor *out = gw_tensor_empty(cls, in->dtype, 3, sizes, NULL);
    return passed(&w, in, out, in->sizes[0] * in->sizes[1], unfold_f32, unfold_f64);
}

/* input [N, C * kernel, windows], output size, kernel, dilation, padding, stride */
GW_KERNEL(col2im) {
    const GwTensor *in = dense(args[0], 3);
    Windows w;
    if (in == NULL || !gw_plain_each(args[1], 2, 1, MOST, w.size) || !read_windows(&w, args + 2)
        || in->sizes[1] % (w.kernel[0] * w.kernel[1]) != 0
        || in->sizes[2] != w.count[0] * w.count[1]) {
        return NULL;
    }
    int64_t channels = in->sizes[1] / (w.kernel[0] * w.kernel[1]);
    int64_t sizes[4] = {in->sizes[0], channels, w.size[0], w.size[1]};
    GwTensor *out = gw_tensor_empty(cls, in->dtype, 4, sizes, NULL);
    return passed(&w, in, out, sizes[0] * channels, fold_f32, fold_f64);
}

const GwKernelEntry gw_unfolding_kernels[] = {
    {"col2im", 6, col2im},
    {"im2col", 5, im2col},
    {NULL, 0, NULL},
};
