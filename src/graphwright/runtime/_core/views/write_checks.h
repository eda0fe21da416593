/* Whether memory may be written: not that of inference mode outside of it. */
#ifndef GRAPHWRIGHT_WRITING_H
#define GRAPHWRIGHT_WRITING_H

#include "core.h"

/* modes.c: false with RuntimeError where it may not; fake tensors are not asked. */
bool gw_may_write(const GwTensor *t);

/* Whether a kernel may write there without gw_may_write having been asked. */
static inline bool gw_is_open(const GwStorage *s) { return !s->readonly && !s->inference; }

#endif
