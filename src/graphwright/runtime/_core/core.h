/* What the C files of `_core` share. */
#ifndef GRAPHWRIGHT_CORE_H
#define GRAPHWRIGHT_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL graphwright_core_ARRAY_API
#ifndef GW_IMPORT_ARRAY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "abi.h"
#include "capi.h"
#include "tensor.h"

#define GW_CLASS(name) ((PyTypeObject *)(name))
#define GW_UNUSED(x) ((void)(x))

/* ---- allocator.c: 64-byte aligned blocks, cached by size class ---- */
void *gw_block_alloc(size_t nbytes, size_t *block);   /* NULL when out of memory; needs the GIL */
void gw_block_free(void *p, size_t block);            /* needs the GIL */
bool gw_block_is_cached(size_t block);                /* once it is released */
bool gw_block_is_large(size_t nbytes);
/* The same of large blocks, without the GIL; profiles do not see it. */
void *gw_large_block_alloc(size_t nbytes, size_t *block);
void gw_large_block_free(void *p, size_t block);
int gw_allocator_init(void);
extern PyMethodDef gw_allocator_methods[];

/* ---- module.c ---- */
extern PyObject *gw_out_of_range;   /* an IndexError and a RuntimeError */
extern PyObject *gw_out_of_memory;  /* a MemoryError and a RuntimeError */

/* ---- launcher.c ---- */
/* Raises gw_out_of_range with a text in which {value}, {index}, {bound} and, for each of `sizes`, its
 * number are filled in. {index}: the value, or of a negative one what it was before the bound was
 * added. */
void gw_raise_out_of_range(PyObject *text, PyObject *sizes, int64_t value, int64_t bound);

/* ---- storage.c ---- */
extern PyTypeObject GwStorage_Type;
GwStorage *gw_storage_new(int64_t nbytes);                        /* memory of the allocator */
bool gw_storage_fill(GwStorage *s);     /* gives memory to one that has none yet */
GwStorage *gw_storage_borrow(PyObject *owner, char *data, int64_t nbytes, bool readonly);
GwStorage *gw_storage_meta(void);                                 /* no memory */

/* ---- dtype.c: what the Python classes dtype and device registered ---- */
typedef struct {
    PyObject *object;       /* graphwright.runtime.tensor.dtypes.dtype */
    PyArray_Descr *descr;
    int itemsize;
    bool floating;          /* float or complex: may require a gradient */
} GwDTypeInfo;
extern GwDTypeInfo gw_dtypes[GW_NUM_DTYPES];
int gw_dtype_code(PyObject *dtype);                    /* -1 with TypeError */
int gw_default_dtype(void);                            /* of Python's floats */
PyObject *gw_device_object(int code, int index);       /* new reference */
bool gw_is_dtype_or_device(PyObject *o);
int gw_device_parse(PyObject *device, int8_t *code, int16_t *index);
extern PyMethodDef gw_dtype_methods[], gw_float8_methods[];
extern PyMethodDef gw_dlpack_methods[];    /* dlpack.c */

/* ---- tensor.c: the type ---- */
extern PyTypeObject GwTensor_Type;
PyObject *gw_tensor_item(PyObject *self, PyObject *unused);    /* item.c */
extern PyNumberMethods gw_tensor_number;
PyObject *gw_set_view_hook(PyObject *self, PyObject *hook);
static inline bool gw_is_tensor(PyObject *o) { return PyObject_TypeCheck(o, &GwTensor_Type); }
static inline int gw_itemsize(const GwTensor *t) { return gw_dtypes[t->dtype].itemsize; }
GwTensor *gw_tensor_alloc(PyTypeObject *cls, int ndim);
bool gw_tensor_seal(GwTensor *t);      /* from sizes, strides: numel and the contiguous flag */
GwTensor *gw_tensor_arg(PyObject *o);  /* borrowed; TypeError unless initialised */
PyObject *gw_tensor_nd(GwTensor *t);   /* borrowed */
PyObject *gw_int_tuple(const int64_t *values, int n);
PyObject *gw_tensor_shape(GwTensor *t);    /* borrowed; a Size */
PyObject *gw_tensor_strides(GwTensor *t);  /* borrowed */

/* ---- size.c ---- */
extern PyTypeObject GwSize_Type;
PyObject *gw_size_new(const int64_t *values, int n);
PyObject *gw_size_of(PyObject *sequence);

/* ---- layout.c, factory.c, alias.c: making tensors ---- */
PyTypeObject *gw_tensor_class(PyObject *cls);   /* borrowed; TypeError unless a subclass */
int64_t gw_contiguous(const int64_t *sizes, int ndim, int64_t *strides);  /* numel; -1 overflow */
GwTensor *gw_tensor_empty(PyTypeObject *cls, int dtype, int ndim, const int64_t *sizes,
                          const int64_t *strides);   /* strides NULL: C-contiguous */
/* The same without memory yet: its storage knows how many bytes it will have. */
GwTensor *gw_tensor_unfilled(PyTypeObject *cls, int dtype, int ndim, const int64_t *sizes,
                             const int64_t *strides);
GwTensor *gw_tensor_alias(GwTensor *t);     /* of the same class, without history */
/* A view of a tensor with data; None where it would reach out of the storage. */
PyObject *gw_view_of(PyTypeObject *cls, GwTensor *base, int ndim, const int64_t *sizes,
                     const int64_t *strides, int64_t offset);
extern PyMethodDef gw_factory_methods[], gw_alias_methods[];

/* ---- sharing.c: memory of several processes ---- */
extern PyTypeObject GwSharedMemory_Type;
extern PyMethodDef gw_sharing_methods[];

/* ---- modes.c: thread-local state of dispatch ---- */
enum { GW_FLAG_GRAD = 1, GW_FLAG_OVERLAP = 32, GW_FLAG_OVERRIDE = 128, GW_FLAG_FLOAT8 = 1024 };
/* the other bits: dispatch_flags */
int gw_grad_enabled(void);
int gw_set_grad_enabled(int enabled);
bool gw_user_disabled_grad(void);   /* not only while a node records its own kernel */
void gw_start_recording(void);     /* nothing is recorded until gw_set_grad_enabled */
uint32_t gw_modes(void);
int gw_dispatch_flags(PyObject *const *items, Py_ssize_t n);
bool gw_partly_shared(PyObject *const *items, Py_ssize_t n);   /* memory of the first two */
extern PyMethodDef gw_modes_methods[];

/* ---- philox.c ---- */
void gw_reserve_random(uint64_t n, uint64_t *seed, uint64_t *offset);
/* A draw of a generator of Python's, or of the default one for None, on this thread. False, without
 * an exception and with nothing drawn, where it is no generator. */
bool gw_draw_words(PyObject *generator, uint32_t *out, int64_t n);
bool gw_draw_uniform(PyObject *generator, float *out, int64_t n);
extern PyMethodDef gw_philox_methods[];

/* ---- pool.c, gemm.c, elf_loader.c, optim.c, launcher.c ---- */
extern PyMethodDef gw_pool_methods[];
extern PyMethodDef gw_gemm_methods[], gw_timing_methods[];
extern PyMethodDef gw_conv_methods[];
extern PyMethodDef gw_pooling_methods[];
extern PyMethodDef gw_resample_methods[];
extern PyMethodDef gw_object_methods[];
extern PyMethodDef gw_copy_methods[];
extern PyMethodDef gw_pick_methods[], gw_subscript_methods[];
extern PyMethodDef gw_optim_methods[];
extern PyMethodDef gw_rows_methods[], gw_lines_methods[];
extern PyMethodDef gw_attention_methods[];
extern PyTypeObject *const gw_code_type;
extern PyTypeObject GwLauncher_Type;

/* ---- casting.c, pointwise.c, dispatch.c ---- */
extern PyMethodDef gw_casting_methods[], gw_dispatch_methods[], gw_record_methods[];
extern PyTypeObject GwPointwise_Type, GwOpBase_Type, GwReduction_Type, GwNative_Type,
    GwQuiet_Type;
int gw_pointwise_init(void);

#endif
