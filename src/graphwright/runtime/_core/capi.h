/* What `_core` offers to graphwright's other extensions, through the capsule
 * "graphwright.runtime._core._C_API". */
#ifndef GRAPHWRIGHT_CAPI_H
#define GRAPHWRIGHT_CAPI_H

#include "tensor.h"

#define GW_CAPI_VERSION 2
#define GW_CAPI_NAME "graphwright.runtime._core._C_API"

enum GwMode { GW_MODE_TRACE = 1, GW_MODE_AUTOCAST = 2, GW_MODE_INFERENCE = 4,
              GW_MODE_COMPILING = 8 };

/* What a span of a profile is of; runtime/spans.py has the same. */
enum GwSpanKind { GW_SPAN_OP, GW_SPAN_GRAPH, GW_SPAN_KERNEL, GW_SPAN_CALL, GW_SPAN_GUARDS,
                  GW_SPAN_COMPILE, GW_SPAN_NODE, GW_SPAN_LIBRARY, GW_SPAN_LABEL, GW_SPAN_KINDS };

/* An open span, by its buffer and number; nothing is open where the number is negative. */
typedef struct {
    int64_t buffer;
    int32_t index;
} GwMark;

typedef struct GwCApi {
    int32_t version;                            /* GW_CAPI_VERSION */
    int32_t tensor_size;                        /* sizeof(GwTensor), a check of the layout */
    PyTypeObject *tensor_type;                  /* TensorBase */
    int (*grad_enabled)(void);
    int (*set_grad_enabled)(int enabled);       /* returns the previous value */
    uint32_t (*modes)(void);
    PyObject *(*dtype_object)(int code);        /* borrowed; NULL if not registered */
    int (*num_threads)(void);
    const int *profiling;                       /* not 0 while a profile is active */
    GwMark (*span_begin)(int kind, PyObject *name);
    void (*span_end)(GwMark mark);
} GwCApi;

static inline const GwCApi *gw_import_core(void) {
    const GwCApi *api = (const GwCApi *)PyCapsule_Import(GW_CAPI_NAME, 0);
    if (api != NULL && (api->version != GW_CAPI_VERSION
                        || api->tensor_size != (int32_t)sizeof(GwTensor))) {
        PyErr_SetString(PyExc_ImportError,
                        "graphwright's extensions were built from different sources; rebuild");
        return NULL;
    }
    return api;
}

#endif
