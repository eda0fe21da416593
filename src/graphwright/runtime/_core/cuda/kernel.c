/* `CudaKernel`: what Triton made of a kernel, loaded on a device when it first runs there. */
#include "kernel.h"

static const GwArgType pointer = {"*", GW_ARG_POINTER, 8};
static const GwArgType types[] = {
    {"scratch", GW_ARG_SCRATCH, 8}, {"i1", GW_ARG_INT, 1}, {"i8", GW_ARG_INT, 1},
    {"i16", GW_ARG_INT, 2}, {"i32", GW_ARG_INT, 4}, {"i64", GW_ARG_INT, 8},
    {"u1", GW_ARG_UINT, 1}, {"u8", GW_ARG_UINT, 1}, {"u16", GW_ARG_UINT, 2},
    {"u32", GW_ARG_UINT, 4}, {"u64", GW_ARG_UINT, 8}, {"fp16", GW_ARG_F16, 2},
    {"bf16", GW_ARG_BF16, 2}, {"fp32", GW_ARG_F32, 4}, {"fp64", GW_ARG_F64, 8},
};

static const GwArgType *type_named(const char *name) {
    if (name[0] == '*') {
        return &pointer;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].type, name) == 0) {
            return &types[i];
        }
    }
    PyErr_Format(PyExc_NotImplementedError, "kernels with a parameter of type '%s' cannot be "
                 "launched", name);
    return NULL;
}

/* A copy of a name that stays when the kernel goes: the list of recent kernels refers to it. */
static const char *lasting(const char *name) {
    static PyObject *names;
    if (names == NULL && (names = PyDict_New()) == NULL) {
        return NULL;
    }
    PyObject *text = PyUnicode_FromString(name);
    PyObject *kept = text == NULL ? NULL : PyDict_SetDefault(names, text, text);
    Py_XDECREF(text);
    return kept == NULL ? NULL : PyUnicode_AsUTF8(kept);
}

static bool read_signature(GwCudaKernel *k, PyObject *signature) {
    PyObject *names = PySequence_Fast(signature, "signature must be a sequence of type names");
    if (names == NULL) {
        return false;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(names);
    k->types = PyMem_Calloc((size_t)n + 1, sizeof *k->types);
    k->offsets = PyMem_Calloc((size_t)n + 1, sizeof *k->offsets);
    bool good = n <= GW_MAX_PARAMETERS && k->types != NULL && k->offsets != NULL;
    if (!good) {
        PyErr_Format(PyExc_ValueError, "a kernel has at most %d parameters", GW_MAX_PARAMETERS);
    }
    for (Py_ssize_t i = 0; good && i < n; i++) {
        const char *name = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(names, i));
        const GwArgType *type = name == NULL ? NULL : type_named(name);
        good = type != NULL;
        if (good) {
            k->bytes = (k->bytes + type->size - 1) / type->size * type->size;
            k->types[i] = type;
            k->offsets[i] = (uint16_t)k->bytes;
            k->bytes += type->size;
            k->count++;
        }
    }
    Py_DECREF(names);
    return good;
}

static PyObject *kernel_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"name", "cubin", "ptx", "shared", "num_warps", "signature", NULL};
    const char *name;
    PyObject *cubin, *ptx, *signature;
    int shared, warps;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s$OOiiO:CudaKernel", names, &name, &cubin,
                                     &ptx, &shared, &warps, &signature)) {
        return NULL;
    }
    bool is_text = PyUnicode_Check(ptx);
    if ((cubin != Py_None && !PyBytes_Check(cubin))
        || (ptx != Py_None && !is_text && !PyBytes_Check(ptx))
        || (cubin == Py_None && ptx == Py_None)) {
        PyErr_SetString(PyExc_TypeError, "a kernel needs a cubin, as bytes, or PTX text");
        return NULL;
    }
    if (shared < 0 || warps < 1 || warps > 32) {
        PyErr_SetString(PyExc_ValueError, "a kernel has 1 to 32 warps, and 0 or more bytes of "
                        "shared memory");
        return NULL;
    }
    GwCudaKernel *k = (GwCudaKernel *)cls->tp_alloc(cls, 0);
    if (k == NULL) {
        return NULL;
    }
    k->cubin = cubin == Py_None ? NULL : Py_NewRef(cubin);
    k->ptx = ptx == Py_None ? NULL : is_text ? PyUnicode_AsUTF8String(ptx) : Py_NewRef(ptx);
    k->name = lasting(name);
    k->shared = shared;
    k->warps = warps;
    if (k->name == NULL || (is_text && k->ptx == NULL) || !read_signature(k, signature)) {
        Py_CLEAR(k);
    }
    return (PyObject *)k;
}

/* The module stays loaded: its function may be in a queue still. */
static void kernel_dealloc(PyObject *self) {
    GwCudaKernel *k = (GwCudaKernel *)self;
    PyTypeObject *cls = Py_TYPE(self);
    Py_XDECREF(k->cubin);
    Py_XDECREF(k->ptx);
    PyMem_Free((void *)k->types);
    PyMem_Free(k->offsets);
    cls->tp_free(self);
}

/* ---- loading ---- */

static int load_image(void **module, const char *image) {
    int result;
    GW_CUDA_WAIT(result, cuModuleLoadData, module, image);
    return result;
}

/* The machine code, or the text where that is for another GPU; false with an exception. */
static bool load_module(GwCudaKernel *k, void **module) {
    int result = GW_CUDA_NO_BINARY;
    if (k->cubin != NULL) {
        result = load_image(module, PyBytes_AS_STRING(k->cubin));
    }
    if ((result == GW_CUDA_NO_BINARY || result == GW_CUDA_INVALID_IMAGE) && k->ptx != NULL) {
        result = load_image(module, PyBytes_AS_STRING(k->ptx));     /* bytes end in a NUL */
    }
    if (result == GW_CUDA_NO_BINARY || result == GW_CUDA_INVALID_IMAGE) {
        PyErr_Format(PyExc_RuntimeError, "the kernel %s was compiled for another GPU%s", k->name,
                     k->ptx == NULL ? ", and there is no PTX text of it" : "");
        return false;
    }
    return gw_cuda_check(result, "cuModuleLoadData");
}

enum { MAX_DYNAMIC_SHARED = 8, STATIC_LIMIT = 48 << 10 };

void *gw_cuda_function(GwCudaKernel *k, int device) {
    void *module = NULL, *function = NULL;
    if (k->functions[device] != NULL || !load_module(k, &module)) {
        return k->functions[device];
    }
    int result = gw_driver.cuModuleGetFunction(&function, module, k->name);
    bool good = gw_cuda_check(result, "cuModuleGetFunction")
                && (k->shared <= STATIC_LIMIT
                    || GW_CUDA_CALL(cuFuncSetAttribute, function, MAX_DYNAMIC_SHARED, k->shared));
    if (!good) {
        gw_driver.cuModuleUnload(module);
        return NULL;
    }
    if (k->functions[device] == NULL) {     /* another thread may have been first */
        k->functions[device] = function;
    }
    return k->functions[device];
}

/* ---- Python ---- */

static PyObject *get_name(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    return PyUnicode_FromString(((GwCudaKernel *)self)->name);
}

static PyObject *get_parameters(PyObject *self, void *closure) {
    GW_UNUSED(closure);
    const GwCudaKernel *k = (GwCudaKernel *)self;
    PyObject *made = PyTuple_New(k->count);
    for (int i = 0; made != NULL && i < k->count; i++) {
        PyObject *item = Py_BuildValue("ii", k->offsets[i], k->types[i]->size);
        if (item == NULL) {
            Py_CLEAR(made);
            break;
        }
        PyTuple_SET_ITEM(made, i, item);
    }
    return made;
}

static PyObject *kernel_load(PyObject *self, PyObject *index) {
    int device;
    if (!gw_cuda_index(index, &device) || !gw_cuda_enter(device)
        || gw_cuda_function((GwCudaKernel *)self, device) == NULL) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyGetSetDef kernel_getset[] = {
    {"name", get_name, NULL, "The entry of the kernel in its module.", NULL},
    {"parameters", get_parameters, NULL, "(offset, size) in bytes of each parameter.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef kernel_methods[] = {
    {"load", kernel_load, METH_O, "load(device): now, and not when it first runs there."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject GwCudaKernel_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.CudaKernel",
    .tp_doc = "CudaKernel(name, *, cubin, ptx, shared, num_warps, signature): a compiled kernel. "
              "The signature has a type for each parameter of the PTX: \"*fp32\" and its like, "
              "\"i32\", \"fp32\" ..., and \"scratch\" for a pointer to memory that it does not use.",
    .tp_basicsize = sizeof(GwCudaKernel),
    .tp_new = kernel_new,
    .tp_dealloc = kernel_dealloc,
    .tp_getset = kernel_getset,
    .tp_methods = kernel_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};
