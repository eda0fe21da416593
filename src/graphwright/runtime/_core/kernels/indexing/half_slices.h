/* index_add of half precision. */
#ifndef GRAPHWRIGHT_HALF_SLICES_H
#define GRAPHWRIGHT_HALF_SLICES_H

#include "core.h"

/* Whether slices along `dim` are taken: contiguous ones of many elements. */
bool gw_fits_half_slices(const GwTensor *input, int dim, const GwTensor *source);

/* out = input with the slices of `source` added at the positions of the vector `index`; `out` may
 * be the input. All fit together. False, with nothing written, where a position is out of range,
 * or with MemoryError. */
bool gw_add_half_slices(const GwTensor *input, int dim, const GwTensor *index,
                        const GwTensor *source, GwTensor *out);

#endif
