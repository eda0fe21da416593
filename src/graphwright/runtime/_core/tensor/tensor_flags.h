/* The base of TensorBase, and promotion for Python. */
#ifndef GRAPHWRIGHT_FACTS_H
#define GRAPHWRIGHT_FACTS_H

#include "core.h"

extern PyTypeObject GwFacts_Type;
extern PyMethodDef gw_fact_methods[];

PyObject *gw_tensor_numel(GwTensor *t);     /* tensor.c: an int, or symbolic */

#endif
