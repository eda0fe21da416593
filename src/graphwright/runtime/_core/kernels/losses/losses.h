/* Losses whose kernels stand in files of their own. */
#ifndef GRAPHWRIGHT_LOSSES_H
#define GRAPHWRIGHT_LOSSES_H

#include "native.h"

/* log_probs, targets, input lengths, target lengths, blank */
PyObject *gw_ctc_loss_parts(PyTypeObject *cls, PyObject *const *args);

#endif
