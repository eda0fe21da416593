/* Channels moved into space and back, and shuffled, in small images. */
#include "native.h"

enum { LARGEST = 1 << 15, SPLIT = 6 };

/* A walk of the input in the order of the contiguous output: sizes and strides (in elements) of
 * the output's dims, split where they are joined of several. */
typedef struct {
    int64_t sizes[SPLIT], strides[SPLIT];
} Walk;

static void gather(const Walk *w, char *out, const char *in, int itemsize) {
    const int64_t *n = w->sizes, *s = w->strides;
    for (int64_t a = 0; a < n[0]; a++) {
        for (int64_t b = 0; b < n[1]; b++) {
            for (int64_t c = 0; c < n[2]; c++) {
                for (int64_t d = 0; d < n[3]; d++) {
                    for (int64_t e = 0; e < n[4]; e++) {
                        int64_t at = a * s[0] + b * s[1] + c * s[2] + d * s[3] + e * s[4];
                        for (int64_t f = 0; f < n[5]; f++, out += itemsize) {
                            memcpy(out, in + (at + f * s[5]) * itemsize, (size_t)itemsize);
                        }
                    }
                }
            }
        }
    }
}

/* An image [*, C, H, W] that is contiguous and small; NULL for anything else. */
static const GwTensor *image(PyObject *o, PyObject *factor, int64_t *r) {
    const GwTensor *t = gw_plain_tensor(o);
    bool fit = t != NULL && t->ndim >= 3 && (t->flags & GW_CONTIGUOUS) != 0 && t->numel > 0
               && t->numel <= LARGEST && gw_plain_int(factor, r) && *r > 0 && *r <= LARGEST;
    return fit ? t : NULL;
}

static PyObject *rearranged(PyTypeObject *cls, const GwTensor *t, const int64_t *sizes,
                            const Walk *walk) {
    GwTensor *out = gw_tensor_empty(cls, t->dtype, t->ndim, sizes, NULL);
    if (out != NULL) {
        gather(walk, out->data, t->data, gw_itemsize(t));
    }
    return (PyObject *)out;
}

GW_KERNEL(pixel_shuffle) {
    int64_t r, sizes[GW_MAX_DIMS];
    const GwTensor *t = image(args[0], args[1], &r);
    if (t == NULL || t->sizes[t->ndim - 3] % (r * r) != 0) {
        return NULL;
    }
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof *sizes);
    int64_t *last = sizes + t->ndim - 3, h = last[1], w = last[2], plane = h * w;
    int64_t channels = t->numel / (r * r * plane);      /* of all images, one behind another */
    Walk walk = {{1, channels, h, r, w, r}, {0, r * r * plane, w, r * plane, 1, plane}};
    last[0] /= r * r;
    last[1] *= r;
    last[2] *= r;
    return rearranged(cls, t, sizes, &walk);
}

GW_KERNEL(pixel_unshuffle) {
    int64_t r, sizes[GW_MAX_DIMS];
    const GwTensor *t = image(args[0], args[1], &r);
    if (t == NULL || t->sizes[t->ndim - 2] % r != 0 || t->sizes[t->ndim - 1] % r != 0) {
        return NULL;
    }
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof *sizes);
    int64_t *last = sizes + t->ndim - 3, width = last[2], plane = last[1] * width;
    int64_t channels = t->numel / plane;
    last[0] *= r * r;
    last[1] /= r;
    last[2] /= r;
    Walk walk = {{1, channels, r, r, last[1], last[2]}, {0, plane, width, 1, r * width, r}};
    return rearranged(cls, t, sizes, &walk);
}

GW_KERNEL(channel_shuffle) {
    int64_t groups;
    const GwTensor *t = image(args[0], args[1], &groups);
    if (t == NULL || t->sizes[1] % groups != 0) {
        return NULL;
    }
    int64_t each = t->sizes[1] / groups, plane = t->numel / (t->sizes[0] * t->sizes[1]);
    Walk walk = {{1, 1, t->sizes[0], each, groups, plane},
                 {0, 0, t->sizes[1] * plane, plane, each * plane, 1}};
    return rearranged(cls, t, t->sizes, &walk);
}

const GwKernelEntry gw_pixel_kernels[] = {
    {"channel_shuffle", 2, channel_shuffle},
    {"pixel_shuffle", 2, pixel_shuffle},
    {"pixel_unshuffle", 2, pixel_unshuffle},
    {NULL, 0, NULL},
};
