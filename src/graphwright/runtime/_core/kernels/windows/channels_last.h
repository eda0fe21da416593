/* Convolutions of float32 whose channels lie beside each other: [images, height, width, channels]. */
#ifndef GRAPHWRIGHT_CHANNELS_LAST_H
#define GRAPHWRIGHT_CHANNELS_LAST_H

#include "abi.h"

/* What `sizes` of gw_conv_channels_last are, in order; strides and so on of height, then width. */
typedef struct {
    int64_t images, in[2], out[2], kernel[2], stride[2], pad[2], dilation[2];
    int64_t groups, ins, outs;      /* channels of a group */
    int64_t has_bias;
} GwConvSizes;

/* arrays: x [images, *in, groups * ins], the weight [groups * outs, ins, *kernel], where has_bias the
 * bias [groups * outs], and the result [images, *out, groups * outs]. Returns 0, or 1 where there is
 * no memory. Each element is one sum in the order of taps and channels, in parts of a fixed length:
 * the same however many threads, and whatever the other elements. */
int32_t gw_conv_channels_last(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes);

#endif
