/* Native: a kernel in C as the `run` of an op, with the kernel in Python that it falls back on. */
#include "arguments.h"
#include "random.h"

#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyTypeObject *cls;
    PyObject *fallback;
    PyTypeObject *results;      /* the class of a result that is a tuple, or NULL */
    const GwKernelEntry *entry;
} Native;

static const GwKernelEntry *const tables[] = {
    gw_view_kernels, gw_creation_kernels, gw_picking_kernels, gw_joining_kernels,
    gw_triangle_kernels, gw_product_kernels, gw_random_kernels, gw_order_kernels,
    gw_loss_kernels, gw_copy_kernels, gw_searching_kernels, gw_boundary_kernels,
    gw_contraction_kernels, gw_moving_kernels, gw_running_kernels, gw_moment_kernels,
    gw_mask_kernels, gw_part_kernels, gw_window_kernels, gw_padding_kernels, gw_lookup_kernels,
    gw_pixel_kernels, gw_view_copy_kernels,
    gw_channel_kernels, gw_sampling_kernels, gw_conv_kernels, gw_row_kernels,
    gw_histogram_kernels, gw_resample_kernels, gw_same_kernels, gw_piece_kernels,
    gw_segment_kernels, gw_shuffle_kernels, gw_factor_kernels, gw_equation_kernels,
    gw_casting_kernels, gw_power_kernels,
    gw_unfolding_kernels, gw_detaching_kernels, gw_selecting_kernels,
    gw_attention_kernels, gw_distribution_kernels,
    gw_log_sum_kernels, gw_probability_kernels,
};

static const GwKernelEntry *find(const char *name) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const GwKernelEntry *entry = tables[i]; entry->name != NULL; entry++) {
            if (strcmp(entry->name, name) == 0) {
                return entry;
            }
        }
    }
    return NULL;
}

int gw_plain_dtype(PyObject *o, int missing) {
    if (o == Py_None) {
        return missing;
    }
    for (int code = 0; code < GW_NUM_DTYPES; code++) {
        if (gw_dtypes[code].object == o) {
            return code;
        }
    }
    return -1;
}

bool gw_on_cpu(PyObject *device) {
    if (device == Py_None) {
        return true;
    }
    if (PyUnicode_CheckExact(device)) {
        return PyUnicode_CompareWithASCIIString(device, "cpu") == 0;
    }
    PyObject *cpu = gw_device_object(GW_CPU, -1);
    bool same = cpu == device;
    if (cpu == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(cpu);
    return same;
}

int gw_plain_sizes(PyObject *given, int64_t *sizes) {
    bool sequence = PyTuple_Check(given) || PyList_Check(given);
    if (!sequence || PySequence_Fast_GET_SIZE(given) > GW_MAX_DIMS) {
        return -1;
    }
    int n = (int)PySequence_Fast_GET_SIZE(given);
    for (int i = 0; i < n; i++) {
        if (!gw_plain_int(PySequence_Fast_GET_ITEM(given, i), &sizes[i]) || sizes[i] < 0) {
            return -1;
        }
    }
    return n;
}

bool gw_plain_each(PyObject *o, int ndim, int64_t least, int64_t most, int64_t *values) {
    bool sequence = PyTuple_Check(o) || PyList_Check(o);
    Py_ssize_t n = sequence ? PySequence_Fast_GET_SIZE(o) : 1;
    if (n != 1 && n != ndim) {
        return false;
    }
    for (int i = 0; i < ndim; i++) {
        PyObject *one = sequence ? PySequence_Fast_GET_ITEM(o, n == 1 ? 0 : i) : o;
        if (!gw_plain_int(one, &values[i]) || values[i] < least || values[i] > most) {
            return false;
        }
    }
    return true;
}

/* What the kernel gives, or NULL, perhaps without an exception. */
static PyObject *run_kernel(const Native *native, PyObject *const *args) {
    PyObject *out = native->entry->kernel(native->cls, args);
    if (out != NULL && native->results != NULL && PyTuple_CheckExact(out)) {
        PyObject *one = PyTuple_Pack(1, out);
        Py_SETREF(out, one == NULL ? NULL : PyTuple_Type.tp_new(native->results, one, NULL));
        Py_XDECREF(one);
    }
    return out;
}

static PyObject *native_call(PyObject *self, PyObject *const *args, size_t nargsf,
                             PyObject *kwnames) {
    const Native *native = (Native *)self;
    if (kwnames == NULL && PyVectorcall_NARGS(nargsf) == native->entry->nargs) {
        PyObject *out = run_kernel(native, args);
        if (out != NULL || PyErr_Occurred()) {
            return out;
        }
    }
    return PyObject_Vectorcall(native->fallback, args, nargsf, kwnames);
}

PyObject *gw_try_kernel(PyObject *run, PyObject *const *args, Py_ssize_t nargs) {
    if (Py_TYPE(run) != &GwNative_Type) {
        return PyObject_Vectorcall(run, args, (size_t)nargs, NULL);
    }
    const Native *native = (const Native *)run;
    return nargs == native->entry->nargs ? run_kernel(native, args) : NULL;
}

/* ---- the type ---- */

static PyObject *native_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"cls", "name", "fallback", "results", NULL};
    PyObject *cls, *fallback, *results = NULL;
    const char *name;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsO|O!:Native", names, &cls, &name, &fallback,
                                     &PyType_Type, &results)
        || gw_tensor_class(cls) == NULL) {
        return NULL;
    }
    if (results != NULL && !PyType_IsSubtype((PyTypeObject *)results, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "results must be a class of tuples");
        return NULL;
    }
    const GwKernelEntry *entry = find(name);
    if (entry == NULL) {
        return PyErr_Format(PyExc_ValueError, "there is no kernel in C of the op '%s'", name);
    }
    Native *native = (Native *)type->tp_alloc(type, 0);
    if (native == NULL) {
        return NULL;
    }
    native->call = native_call;
    native->cls = (PyTypeObject *)Py_NewRef(cls);
    native->fallback = Py_NewRef(fallback);
    bool named = results != NULL && results != (PyObject *)&PyTuple_Type;
    native->results = named ? (PyTypeObject *)Py_NewRef(results) : NULL;
    native->entry = entry;
    return (PyObject *)native;
}

static int native_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((Native *)self)->cls);
    Py_VISIT(((Native *)self)->fallback);
    Py_VISIT(((Native *)self)->results);
    return 0;
}

static int native_clear(PyObject *self) {
    Py_CLEAR(((Native *)self)->fallback);
    return 0;
}

static void native_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((Native *)self)->cls);
    Py_XDECREF(((Native *)self)->fallback);
    Py_XDECREF(((Native *)self)->results);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *has(PyObject *type, PyObject *name) {
    GW_UNUSED(type);
    const char *text = PyUnicode_AsUTF8(name);
    return text == NULL ? NULL : PyBool_FromLong(find(text) != NULL);
}

static PyMethodDef native_methods[] = {
    {"has", has, METH_O | METH_STATIC, "has(name): whether the op of that name has a kernel."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef native_members[] = {
    {"fallback", T_OBJECT, offsetof(Native, fallback), READONLY,
     "What runs where the call is not a plain one."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject GwNative_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.Native",
    .tp_doc = "Native(cls, name, fallback[, results]): the kernel in C of the op of that name, whose "
              "results are of `cls`; several are a tuple of the class `results`.",
    .tp_basicsize = sizeof(Native),
    .tp_new = native_new,
    .tp_dealloc = native_dealloc,
    .tp_traverse = native_traverse,
    .tp_clear = native_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Native, call),
    .tp_methods = native_methods,
    .tp_members = native_members,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
};
