/* Convolutions of float32 whose channels lie beside each other: [images, height, width, channels]. */
#ifndef GRAPHWRIGHT_CHANNELS_LAST_H
#define GRAPHWRIGHT_CHANNELS_LAST_H

#include "abi.h"

/* What `sizes` of the routine begin with; strides and so on of height, then width. */
typedef struct {
    int64_t images, in[2], out[2], kernel[2], stride[2], pad[2], dilation[2];
    int64_t groups, ins, outs;      /* channels of a group */
    int64_t joins;      /* whether all taps of a line are taken as one, whose numbers lie side by side:
                         * x may lie anyhow, and its channels have a stride, too. For few channels
                         * of one group, where nothing lies between the taps. */
} GwConvSizes;

/* arrays: the result [images, *out, groups * outs]; x [images, *in, groups * ins], whose pixels lie
 * anyhow, with the strides of images, lines and pixels behind the sizes; the weight [groups * outs, ins, *kernel]; the bias [groups * outs] or NULL. Each element
 * is one sum in the order of taps and channels, in parts of a fixed length: the same however many
 * threads, and whatever the other elements. */
int32_t gw_convolution_routine(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes,
                               const double *numbers, const gw_then *then);

#endif
