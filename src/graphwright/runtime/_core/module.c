/* The module: types, functions, and the capsule for graphwright's other extensions. */
#define GW_IMPORT_ARRAY
#include "core.h"
#include "binding.h"
#include "blocks.h"
#include "contract.h"
#include "driver.h"
#include "tensor_flags.h"
#include "generator.h"
#include "native.h"
#include "node.h"
#include "packs.h"
#include "pool.h"
#include "profiling.h"
#include "routines.h"

static PyObject *dtype_object(int code) {
    return code >= 0 && code < GW_NUM_DTYPES ? gw_dtypes[code].object : NULL;
}

static const GwCApi api = {
    .version = GW_CAPI_VERSION,
    .tensor_size = sizeof(GwTensor),
    .tensor_type = &GwTensor_Type,
    .grad_enabled = gw_grad_enabled,
    .set_grad_enabled = gw_set_grad_enabled,
    .modes = gw_guarded_modes,
    .dtype_object = dtype_object,
    .num_threads = gw_num_threads,
    .profiling = &gw_profiling,
    .span_begin = gw_span_begin,
    .span_end = gw_span_end,
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "graphwright.runtime._core",
    .m_doc = "Tensors, memory, threads, random numbers and the launching of compiled graphs.",
    .m_size = -1,
};

PyObject *gw_out_of_range, *gw_out_of_memory, *gw_accelerator_error;

/* An exception that is caught as either of two. */
static int add_exception(PyObject *module, PyObject **place, const char *name, const char *doc,
                         PyObject *first, PyObject *second) {
    PyObject *bases = PyTuple_Pack(2, first, second);
    if (bases == NULL) {
        return -1;
    }
    *place = PyErr_NewExceptionWithDoc(name, doc, bases, NULL);
    Py_DECREF(bases);
    return *place == NULL ? -1 : PyModule_AddObjectRef(module, strrchr(name, '.') + 1, *place);
}

/* PyTorch raises IndexError for some ops and RuntimeError for others; and RuntimeError where
 * Python has MemoryError. */
static int add_exceptions(PyObject *module) {
    gw_accelerator_error = PyErr_NewExceptionWithDoc(
        "graphwright.runtime._core.AcceleratorError",
        "The driver of a GPU reports an error; `error_code` is its number.", PyExc_RuntimeError,
        NULL);
    if (gw_accelerator_error == NULL
        || PyModule_AddObjectRef(module, "AcceleratorError", gw_accelerator_error) < 0) {
        return -1;
    }
    int failed = add_exception(module, &gw_out_of_range, "graphwright.runtime._core.OutOfRange",
                               "A position lies outside of its dimension.",
                               PyExc_IndexError, PyExc_RuntimeError);
    return failed < 0 ? failed
           : add_exception(module, &gw_out_of_memory,
                           "graphwright.runtime._core.OutOfMemoryError",
                           "Memory does not suffice.", PyExc_MemoryError, PyExc_RuntimeError);
}

static int add_contents(PyObject *module) {
    PyMethodDef *const tables[] = {
        gw_dtype_methods, gw_float8_methods, gw_dlpack_methods, gw_factory_methods,
        gw_alias_methods, gw_allocator_methods, gw_modes_methods, gw_casting_methods, gw_dispatch_methods,
        gw_op_function_methods,
        gw_record_methods, gw_philox_methods, gw_pool_methods, gw_gemm_methods, gw_conv_methods,
        gw_pooling_methods, gw_resample_methods, gw_object_methods,
        gw_contraction_methods, gw_copy_methods, gw_pick_methods, gw_subscript_methods,
        gw_optim_methods, gw_rows_methods, gw_lines_methods, gw_attention_methods,
        gw_node_methods, gw_gradient_methods, gw_tape_methods,
        gw_sampling_methods, gw_literal_methods, gw_fact_methods, gw_sharing_methods,
        gw_profiling_methods, gw_cuda_driver_methods, gw_cuda_device_methods,
        gw_cuda_stream_methods, gw_cuda_stats_methods, gw_pinned_methods, gw_cuda_tensor_methods,
        gw_cuda_transfer_methods, gw_pack_methods, gw_lending_methods,
        gw_routine_methods, gw_timing_methods,
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (PyModule_AddFunctions(module, tables[i]) < 0) {
            return -1;
        }
    }
    PyObject *capsule = PyCapsule_New((void *)&api, GW_CAPI_NAME, NULL);
    if (PyModule_AddObjectRef(module, "_C_API", capsule) < 0) {
        Py_XDECREF(capsule);
        return -1;
    }
    Py_DECREF(capsule);
    if (PyModule_AddIntConstant(module, "ABI_VERSION", GW_ABI_VERSION) < 0) {
        return -1;
    }
    if (gw_add_routine_names(module) < 0) {
        return -1;
    }
    PyTypeObject *const types[] = {&GwStorage_Type, &GwSize_Type, &GwTensor_Type, gw_code_type,
                                   &GwLauncher_Type, &GwPointwise_Type, &GwOpBase_Type,
                                   &GwOpFunction_Type, &GwOpMethod_Type,
                                   &GwReduction_Type, &GwNative_Type, &GwNode_Type, &GwQuiet_Type,
                                   &GwGenerator_Type, &GwSharedMemory_Type, &GwCudaEvent_Type,
                                   &GwCudaKernel_Type, &GwCudaProgram_Type, &GwCudaLauncher_Type,
                                   &GwPinned_Type, &GwLease_Type};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (PyModule_AddType(module, types[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

PyMODINIT_FUNC PyInit__core(void) {
    import_array();
    if (gw_pool_init() != 0 || gw_allocator_init() != 0 || gw_profiling_init() != 0) {
        return PyErr_NoMemory();
    }
    if (gw_pointwise_init() != 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && (add_exceptions(module) < 0 || add_contents(module) < 0)) {
        Py_CLEAR(module);
    }
    return module;
}
