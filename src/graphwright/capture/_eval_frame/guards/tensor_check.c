/* What guards ask of tensors, read from the struct that `_core` exports. */
#include "eval_frame.h"
#include "capi.h"

struct EfTensorSpec {
    PyTypeObject *cls;
    int8_t dtype, device;
    int16_t device_index;
    bool of_tensors, requires_grad, has_strides, has_order;
    int32_t ndim;
    int64_t min_size;
    int64_t dims[];     /* sizes (-1: any), strides (-1: any), order of strides */
};

static const GwCApi *core;

static const int never;
const int *ef_recording = &never;

int ef_need_core(void) {
    if (core == NULL) {
        core = gw_import_core();
        ef_recording = core == NULL ? &never : core->profiling;
    }
    return core == NULL ? -1 : 0;
}

int ef_grad_enabled(void) { return core->grad_enabled() != 0; }
uint32_t ef_modes(void) { return core->modes(); }

EfSpan ef_span_open(enum EfSpanKind kind, PyObject *name) {
    GwMark mark = core->span_begin(kind == EF_SPAN_CALL ? GW_SPAN_CALL : GW_SPAN_GUARDS, name);
    return (EfSpan){mark.buffer, mark.index};
}

void ef_span_close(EfSpan span) { core->span_end((GwMark){span.buffer, span.index}); }

static GwTensor *as_tensor(PyObject *value) {
    if (core == NULL || value == NULL || !PyObject_TypeCheck(value, core->tensor_type)) {
        return NULL;
    }
    GwTensor *t = (GwTensor *)value;
    return t->storage == NULL ? NULL : t;
}

/* Fill n values from a tuple; None becomes -1. */
static int fill(int64_t *out, PyObject *tuple, int32_t n) {
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != n) {
        return PyErr_SetString(PyExc_ValueError, "one number per dimension is needed"), -1;
    }
    for (int32_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        out[i] = item == Py_None ? -1 : PyLong_AsLongLong(item);
        if (out[i] == -1 && PyErr_Occurred()) {
            return -1;
        }
    }
    return 0;
}

static int check_order(const int64_t *order, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        if (order[i] < 0 || order[i] >= n) {
            return PyErr_SetString(PyExc_ValueError, "not a permutation of dimensions"), -1;
        }
    }
    return 0;
}

EfTensorSpec *ef_tensor_spec(PyObject *operands) {
    int reg, dtype, device, index, requires_grad;
    long long min_size;
    PyObject *cls, *sizes, *strides, *order;
    if (ef_need_core() < 0
        || !PyArg_ParseTuple(operands, "iO!iiipLO!OO", &reg, &PyType_Type, &cls, &dtype, &device,
                             &index, &requires_grad, &min_size, &PyTuple_Type, &sizes, &strides,
                             &order)) {
        return NULL;
    }
    int32_t n = (int32_t)PyTuple_GET_SIZE(sizes);
    EfTensorSpec *spec = PyMem_Calloc(1, sizeof *spec + (size_t)n * 3 * sizeof(int64_t));
    if (spec == NULL) {
        return PyErr_NoMemory(), NULL;
    }
    spec->cls = (PyTypeObject *)Py_NewRef(cls);
    spec->of_tensors = PyType_IsSubtype(spec->cls, core->tensor_type);
    spec->dtype = (int8_t)dtype;
    spec->device = (int8_t)device;
    spec->device_index = (int16_t)index;
    spec->requires_grad = requires_grad != 0;
    spec->min_size = min_size;
    spec->ndim = n;
    spec->has_strides = strides != Py_None;
    spec->has_order = order != Py_None;
    if (fill(spec->dims, sizes, n) < 0
        || (spec->has_strides && fill(spec->dims + n, strides, n) < 0)
        || (spec->has_order && fill(spec->dims + 2 * n, order, n) < 0)
        || (spec->has_order && check_order(spec->dims + 2 * n, n) < 0)) {
        ef_tensor_spec_free(spec);
        return NULL;
    }
    return spec;
}

void ef_tensor_spec_free(EfTensorSpec *spec) {
    if (spec != NULL) {
        Py_XDECREF(spec->cls);
        PyMem_Free(spec);
    }
}

PyObject *ef_tensor_spec_cls(const EfTensorSpec *spec) { return (PyObject *)spec->cls; }

static bool sizes_match(const EfTensorSpec *spec, const GwTensor *t) {
    for (int32_t i = 0; i < spec->ndim; i++) {
        int64_t wanted = spec->dims[i];
        if (wanted < 0 ? t->sizes[i] < spec->min_size : t->sizes[i] != wanted) {
            return false;
        }
    }
    return true;
}

static bool strides_match(const EfTensorSpec *spec, const GwTensor *t) {
    const int64_t *strides = spec->dims + spec->ndim;
    for (int32_t i = 0; i < spec->ndim; i++) {
        if (t->strides[i] != strides[i] && strides[i] != -1) {
            return false;
        }
    }
    return true;
}

/* Whether the tensor is dense with its dimensions nested in this order, outermost first. */
static bool order_matches(const EfTensorSpec *spec, const GwTensor *t) {
    const int64_t *order = spec->dims + 2 * spec->ndim;
    int64_t expected = 1;
    for (int32_t i = spec->ndim - 1; i >= 0; i--) {
        int64_t d = order[i];
        if (t->strides[d] != expected) {
            return false;
        }
        expected *= t->sizes[d] > 1 ? t->sizes[d] : 1;
    }
    return true;
}

bool ef_tensor_matches(const EfTensorSpec *spec, PyObject *value) {
    if (Py_TYPE(value) != spec->cls || !spec->of_tensors) {
        return false;
    }
    const GwTensor *t = (const GwTensor *)value;
    return t->storage != NULL && t->dtype == spec->dtype && t->ndim == spec->ndim
        && t->device == spec->device && t->device_index == spec->device_index
        && gw_requires_grad(t) == spec->requires_grad
        && (t->flags & (GW_FAKE | GW_SYMBOLIC)) == 0
        && sizes_match(spec, t) && (!spec->has_strides || strides_match(spec, t))
        && (!spec->has_order || order_matches(spec, t));
}

bool ef_tensor_size(PyObject *value, int64_t place, int64_t *size) {
    GwTensor *t = as_tensor(value);
    int64_t dim = place % GW_MAX_DIMS;
    if (t == NULL || dim < 0 || dim >= t->ndim || (t->flags & GW_SYMBOLIC)) {
        return false;
    }
    *size = place < GW_MAX_DIMS ? t->sizes[dim] : t->strides[dim];
    return true;
}

enum { FEW_EXTENTS = 16 };

typedef struct {
    uintptr_t begin, end;
    bool mutated;
} Extent;

static int item_size(int dtype) {
    static const int sizes[GW_NUM_DTYPES] = {
        [GW_BOOL] = 1, [GW_UINT8] = 1, [GW_INT8] = 1, [GW_INT16] = 2, [GW_INT32] = 4,
        [GW_INT64] = 8, [GW_FLOAT16] = 2, [GW_BFLOAT16] = 2, [GW_FLOAT32] = 4, [GW_FLOAT64] = 8,
        [GW_COMPLEX64] = 8, [GW_COMPLEX128] = 16, [GW_UINT16] = 2, [GW_UINT32] = 4,
        [GW_UINT64] = 8, [GW_FLOAT8_E4M3FN] = 1, [GW_FLOAT8_E5M2] = 1, [GW_FLOAT8_E4M3FNUZ] = 1,
        [GW_FLOAT8_E5M2FNUZ] = 1, [GW_FLOAT8_E8M0FNU] = 1};
    return sizes[dtype];
}

static bool extent_of(PyObject *value, Extent *extent) {
    GwTensor *t = as_tensor(value);
    if (t == NULL || (t->flags & GW_SYMBOLIC)) {
        return false;
    }
    extent->begin = extent->end = (uintptr_t)t->data;
    if (t->numel <= 0 || t->data == NULL) {
        return true;
    }
    for (int i = 0; i < t->ndim; i++) {
        int64_t reach = (t->sizes[i] - 1) * t->strides[i] * item_size(t->dtype);
        if (reach > 0) {
            extent->end += (uintptr_t)reach;
        } else {
            extent->begin -= (uintptr_t)-reach;
        }
    }
    extent->end += (uintptr_t)item_size(t->dtype);
    return true;
}

static int by_begin(const void *one, const void *two) {
    uintptr_t a = ((const Extent *)one)->begin, b = ((const Extent *)two)->begin;
    return (a > b) - (a < b);
}

static void sort_by_begin(Extent *extents, int n) {
    if (n > FEW_EXTENTS) {
        qsort(extents, (size_t)n, sizeof(Extent), by_begin);
        return;
    }
    for (int i = 1; i < n; i++) {
        Extent moved = extents[i];
        int j = i;
        for (; j > 0 && extents[j - 1].begin > moved.begin; j--) {
            extents[j] = extents[j - 1];
        }
        extents[j] = moved;
    }
}

/* Whether no mutated extent overlaps another one: in order of their begins, each is compared
   with the furthest end before it. */
static bool are_apart(Extent *extents, int n) {
    uintptr_t any_end = 0, mutated_end = 0;
    sort_by_begin(extents, n);
    for (int i = 0; i < n; i++) {
        const Extent *mine = &extents[i];
        if (mine->begin < (mine->mutated ? any_end : mutated_end)) {
            return false;
        }
        any_end = mine->end > any_end ? mine->end : any_end;
        if (mine->mutated && mine->end > mutated_end) {
            mutated_end = mine->end;
        }
    }
    return true;
}

/* Whether none of the first `n_mutated` tensors shares addresses with another of the group. */
bool ef_overlap_free(PyObject *const *registers, const int32_t *group, int n, int n_mutated) {
    Extent few[FEW_EXTENTS];
    Extent *extents = n <= FEW_EXTENTS ? few : PyMem_New(Extent, n);
    if (extents == NULL) {
        return false;
    }
    int found = 0;
    bool known = true;
    for (int i = 0; i < n && known; i++) {
        Extent *mine = &extents[found];
        known = extent_of(registers[group[i]], mine);
        mine->mutated = i < n_mutated;
        found += known && mine->begin < mine->end;
    }
    bool apart = known && are_apart(extents, found);
    if (extents != few) {
        PyMem_Free(extents);
    }
    return apart;
}
