/* The layout of Storage and TensorBase, readable by graphwright's other extensions. */
#ifndef GRAPHWRIGHT_TENSOR_H
#define GRAPHWRIGHT_TENSOR_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

enum GwDType {
    GW_BOOL, GW_UINT8, GW_INT8, GW_INT16, GW_INT32, GW_INT64,
    GW_FLOAT16, GW_BFLOAT16, GW_FLOAT32, GW_FLOAT64,
    GW_COMPLEX64, GW_COMPLEX128, GW_UINT16, GW_UINT32, GW_UINT64,
    GW_FLOAT8_E4M3FN, GW_FLOAT8_E5M2, GW_FLOAT8_E4M3FNUZ, GW_FLOAT8_E5M2FNUZ, GW_FLOAT8_E8M0FNU,
    GW_NUM_DTYPES
};

enum GwDevice { GW_CPU, GW_CUDA, GW_META, GW_NUM_DEVICES };

enum GwTensorFlag {
    GW_REQUIRES_GRAD = 1,
    GW_FAKE = 2,        /* made while tracing: claims a device, has no data */
    GW_SYMBOLIC = 4,    /* some size or stride is a SymInt: shape_obj and strides_obj decide */
    GW_CONTIGUOUS = 8,  /* not kept for symbolic tensors */
    GW_NO_GRAD_VIEW = 16,   /* made while nothing was recorded, or from such a view */
    GW_MULTI_VIEW = 32,     /* one of several views that one op made */
    GW_OVERRIDES = 64,      /* its class has a say in what ops do with it: __torch_function__ */
};

enum { GW_MAX_DIMS = 32, GW_INLINE_DIMS = 5 };

/* Memory and its version counter. Tensors that share memory share the Storage. */
typedef struct GwStorage {
    PyObject_HEAD
    char *data;         /* NULL without memory in the host's reach: on a GPU, or meta */
    int64_t nbytes;
    int64_t version;    /* counts in-place writes */
    PyObject *owner;    /* object whose memory this is, or NULL for the allocator's */
    size_t block;       /* size of the allocator's block, 0 if none */
    bool readonly;
    bool inference;     /* made in inference mode: its writes are not tracked */
    struct GwCudaBlock *cuda;   /* the memory of a tensor on a GPU, or NULL */
    struct GwPack *packs;   /* of packs.h */
    int64_t rewritten;      /* with `version`: grows with writes that others may have made */
    int32_t lent;           /* to how many who may write without being counted; see lending.c */
} GwStorage;

typedef struct GwTensor {
    PyObject_HEAD
    char *data;             /* first element; NULL without memory, and on a GPU */
    GwStorage *storage;     /* NULL only in an object that was never initialised */
    PyObject *nd;           /* ndarray over the data, made when first asked for */
    PyObject *base;         /* root of the views, or NULL */
    PyObject *grad;
    PyObject *grad_fn;
    PyObject *shape_obj;    /* tuples, made when first asked for; */
    PyObject *strides_obj;  /* they decide in symbolic tensors */
    PyObject *offset_obj;   /* a symbolic offset, or NULL */
    PyObject *weakrefs;
    PyObject *dict;         /* attributes that users have set, made when first needed */
    PyObject *extra;        /* AutogradExtra, or NULL */
    int64_t numel;          /* -1 in symbolic tensors */
    int64_t offset;         /* in elements, from the storage's start; -1 if symbolic */
    int64_t view_version;   /* of the storage when a view's grad_fn was last set */
    int64_t *sizes;         /* [ndim]; -1 where symbolic */
    int64_t *strides;       /* [ndim], in elements; -1 where symbolic */
    int32_t output_nr;
    int16_t device_index;   /* -1: the current one */
    int8_t device;
    int8_t dtype;
    int8_t ndim;
    uint8_t flags;
    int64_t inline_dims[2 * GW_INLINE_DIMS];
} GwTensor;

static inline bool gw_own_grad(const GwTensor *t) {
    return (t->flags & GW_REQUIRES_GRAD) != 0 || t->grad_fn != NULL;
}

/* Whether the dtype has the numbers of real or complex analysis, which may have gradients. */
static inline bool gw_is_inexact(int dtype) {
    return (dtype >= GW_FLOAT16 && dtype <= GW_COMPLEX128) || dtype >= GW_FLOAT8_E4M3FN;
}

/* A view requires a gradient as soon as its base does, unless its dtype cannot carry one. */
static inline bool gw_requires_grad(const GwTensor *t) {
    return gw_own_grad(t)
           || (t->base != NULL && gw_is_inexact(t->dtype)
               && gw_own_grad((const GwTensor *)t->base));
}

#endif
