/* Ops that read and write by position: gather, scatter, index and their relatives, for tensors
 * whose dtypes and shapes fit together. A position out of range is reported by the kernels in
 * Python, which then run. */
#include "half_slices.h"
#include "layout.h"
#include "native.h"
#include "gather_nest.h"

#include <math.h>

static bool is_index(const GwTensor *t) {
    return t != NULL && (t->dtype == GW_INT64 || t->dtype == GW_INT32);
}

/* Whether writing the memory would change the positions. */
static bool writes_index(int kind, const GwTensor *memory, const GwTensor *index) {
    return kind != GW_PICK_READ && memory->storage == index->storage;
}

static bool accumulates(int kind, int dtype) {
    return kind > GW_PICK_STORE && (dtype == GW_FLOAT16 || dtype == GW_BFLOAT16);
}

/* Begins a walk through `memory` whose domain has these sizes. */
static bool begin(GwWalk *w, int kind, const GwTensor *memory, int ndim, const int64_t *sizes,
                  GwIndex *indices) {
    *w = (GwWalk){.ndim = ndim, .itemsize = gw_itemsize(memory), .reads = kind == GW_PICK_READ,
                  .indices = indices, .memory = memory->data, .split = -1,
                  .pick = kind,
                  .dtype = memory->dtype, .row = gw_pick_row(kind, memory->dtype)};
    memcpy(w->sizes, sizes, (size_t)ndim * sizeof(int64_t));
    return w->row != NULL;
}

static void set_values(GwWalk *w, const GwTensor *values) {
    w->values = values->data;
    for (int d = 0; d < w->ndim; d++) {
        w->value[d] = values->strides[d] * w->itemsize;
    }
}

/* An index for dim `dim` of the memory, of which the walk knows no strides yet. */
static GwIndex *add_index(GwWalk *w, const GwTensor *index, const GwTensor *memory, int dim) {
    GwIndex *entry = &w->indices[w->count++];
    *entry = (GwIndex){.data = index->data, .wide = index->dtype == GW_INT64,
                       .size = memory->sizes[dim], .step = memory->strides[dim] * w->itemsize};
    return entry;
}

static int64_t bytes_of(const GwIndex *entry, int64_t stride) {
    return stride * (entry->wide ? 8 : 4);
}

/* The memory's own strides, but for the indexed dim. */
static void walk_memory(GwWalk *w, const GwTensor *memory, int dim) {
    for (int d = 0; d < w->ndim; d++) {
        w->mem[d] = d == dim ? 0 : memory->strides[d] * w->itemsize;
    }
}

static bool run(GwWalk *w) {
    int64_t error[2], numel = 1;
    for (int d = 0; d < w->ndim; d++) {
        numel *= w->sizes[d];
    }
    return gw_pick(w, numel, error);
}

static PyObject *done(GwTensor *out, bool right) {
    if (!right) {
        Py_DECREF(out);
        return NULL;
    }
    return (PyObject *)out;
}

/* ---- positions for every element: gather, scatter ---- */

/* Whether no dim of `index` but `skipped` is longer than that of `t`. */
static bool covers(const GwTensor *t, const GwTensor *index, int skipped) {
    if (t->ndim != index->ndim || index->ndim == 0 || index->numel == 0) {
        return false;
    }
    for (int d = 0; d < index->ndim; d++) {
        if (d != skipped && index->sizes[d] > t->sizes[d]) {
            return false;
        }
    }
    return true;
}

static void index_each(GwWalk *w, const GwTensor *index, const GwTensor *memory, int dim) {
    GwIndex *entry = add_index(w, index, memory, dim);
    for (int d = 0; d < w->ndim; d++) {
        entry->strides[d] = bytes_of(entry, index->strides[d]);
    }
    walk_memory(w, memory, dim);
}

GW_KERNEL(gather) {
    const GwTensor *input = gw_plain_tensor(args[0]), *index = gw_plain_tensor(args[2]);
    GwWalk w;
    GwIndex entry;
    int dim;
    if (input == NULL || !is_index(index) || !gw_plain_dim(args[1], input->ndim, &dim)
        || !covers(input, index, dim)
        || !begin(&w, GW_PICK_READ, input, index->ndim, index->sizes, &entry)) {
        return NULL;
    }
    GwTensor *out = gw_tensor_empty(cls, input->dtype, index->ndim, index->sizes, NULL);
    if (out == NULL) {
        return NULL;
    }
    set_values(&w, out);
    index_each(&w, index, input, dim);
    return done(out, run(&w));
}

/* A contiguous copy of a contiguous tensor; NULL without an exception for others. */
static GwTensor *copy_of(PyTypeObject *cls, const GwTensor *t) {
    if ((t->flags & GW_CONTIGUOUS) == 0) {
        return NULL;
    }
    GwTensor *copy = gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, NULL);
    if (copy != NULL && t->numel > 0) {
        memcpy(copy->data, t->data, (size_t)(t->numel * gw_itemsize(t)));
    }
    return copy;
}

static bool writable(const GwTensor *t) { return !t->storage->readonly; }

/* Scatters `src`, a tensor or a number, into `target`. */
static bool scatter_into(int kind, GwTensor *target, int dim, const GwTensor *index,
                         PyObject *src) {
    GwWalk w;
    GwIndex entry;
    char number[16];
    const GwTensor *values = gw_plain_tensor(src);
    if (writes_index(kind, target, index)
        || !begin(&w, kind, target, index->ndim, index->sizes, &entry)) {
        return false;
    }
    if (values != NULL) {
        if (values->dtype != target->dtype || values->storage == target->storage
            || !covers(values, index, -1)) {
            return false;
        }
        set_values(&w, values);
    } else if (gw_is_tensor(src) || !gw_element(src, target->dtype, number)) {
        return false;
    } else {
        w.values = number;
    }
    index_each(&w, index, target, dim);
    return run(&w);
}

static PyObject *scatter(PyTypeObject *cls, PyObject *const *args, int kind) {
    const GwTensor *input = gw_plain_tensor(args[0]), *index = gw_plain_tensor(args[2]);
    int dim;
    if (input == NULL || !is_index(index) || !gw_plain_dim(args[1], input->ndim, &dim)
        || !covers(input, index, dim) || accumulates(kind, input->dtype)) {
        return NULL;
    }
    GwTensor *out = copy_of(cls, input);
    return out == NULL ? NULL : done(out, scatter_into(kind, out, dim, index, args[3]));
}

static PyObject *scatter_inplace(PyObject *const *args, int kind) {
    GwTensor *input = gw_plain_tensor(args[0]);
    const GwTensor *index = gw_plain_tensor(args[2]);
    int dim;
    if (input == NULL || !writable(input) || !is_index(index)
        || !gw_plain_dim(args[1], input->ndim, &dim) || !covers(input, index, dim)
        || accumulates(kind, input->dtype) || !scatter_into(kind, input, dim, index, args[3])) {
        return NULL;
    }
    input->storage->version++;
    return Py_NewRef(args[0]);
}

GW_KERNEL(scatter_store) { return scatter(cls, args, GW_PICK_STORE); }
GW_KERNEL(scatter_add) { return scatter(cls, args, GW_PICK_ADD); }

GW_KERNEL(scatter_store_) {
    GW_UNUSED(cls);
    return scatter_inplace(args, GW_PICK_STORE);
}

GW_KERNEL(scatter_add_) {
    GW_UNUSED(cls);
    return scatter_inplace(args, GW_PICK_ADD);
}

/* What a reduction of floats leaves as it is, a new reference. */
static PyObject *neutral(int kind) {
    return PyFloat_FromDouble(kind == GW_PICK_MUL ? 1 : kind == GW_PICK_MAX ? -INFINITY
                              : INFINITY);
}

static int kind_of(PyObject *name) {
    static const struct { const char *name; int kind; } kinds[] = {
        {"prod", GW_PICK_MUL}, {"amax", GW_PICK_MAX}, {"amin", GW_PICK_MIN},
    };
    for (int i = 0; PyUnicode_Check(name) && i < 3; i++) {
        if (PyUnicode_CompareWithASCIIString(name, kinds[i].name) == 0) {
            return kinds[i].kind;
        }
    }
    return -1;
}

/* input, dim, index, src, reduce, include_self: of floats. */
GW_KERNEL(scatter_extreme) {
    const GwTensor *input = gw_plain_tensor(args[0]), *index = gw_plain_tensor(args[2]);
    int dim, kind = kind_of(args[4]);
    if (input == NULL || (input->dtype != GW_FLOAT32 && input->dtype != GW_FLOAT64)
        || !is_index(index) || !gw_plain_dim(args[1], input->ndim, &dim)
        || !covers(input, index, dim) || kind < 0 || !PyBool_Check(args[5])) {
        return NULL;
    }
    GwTensor *out = copy_of(cls, input);
    if (out == NULL) {
        return NULL;
    }
    bool right = true;
    if (args[5] == Py_False) {
        PyObject *start = neutral(kind);
        right = start != NULL && scatter_into(GW_PICK_STORE, out, dim, index, start);
        Py_XDECREF(start);
    }
    return done(out, right && scatter_into(kind, out, dim, index, args[3]));
}

/* ---- positions of whole slices: index_select, index_add, index_copy ---- */

/* Whether `index` is a vector of positions along `dim` of `slices`, which fit into `t`. */
static bool slices_fit(const GwTensor *t, const GwTensor *slices, const GwTensor *index, int dim) {
    if (slices->dtype != t->dtype || slices->ndim != t->ndim || index->ndim != 1
        || slices->sizes[dim] != index->sizes[0]) {
        return false;
    }
    for (int d = 0; d < t->ndim; d++) {
        if (d != dim && slices->sizes[d] != t->sizes[d]) {
            return false;
        }
    }
    return true;
}

/* Moves slices between `memory` and the places along `dim` of `values`. */
static bool move_slices(int kind, const GwTensor *memory, const GwTensor *values, int dim,
                        const GwTensor *index) {
    GwWalk w;
    GwIndex entry;
    if (writes_index(kind, memory, index)
        || !begin(&w, kind, memory, values->ndim, values->sizes, &entry)) {
        return false;
    }
    set_values(&w, values);
    add_index(&w, index, memory, dim)->strides[dim] = bytes_of(&entry, index->strides[0]);
    walk_memory(&w, memory, dim);
    return run(&w);
}

GW_KERNEL(index_select) {
    const GwTensor *input = gw_plain_tensor(args[0]), *index = gw_plain_tensor(args[2]);
    int64_t sizes[GW_MAX_DIMS];
    int dim;
    if (input == NULL || !is_index(index) || index->ndim != 1
        || !gw_plain_dim(args[1], input->ndim, &dim)) {
        return NULL;
    }
    memcpy(sizes, input->sizes, (size_t)input->ndim * sizeof(int64_t));
    sizes[dim] = index->sizes[0];
    GwTensor *out = gw_tensor_empty(cls, input->dtype, input->ndim, sizes, NULL);
    if (out != NULL && out->numel == 0 && index->numel != 0) {  /* Python looks at the positions */
        Py_CLEAR(out);
    }
    return out == NULL ? NULL : done(out, move_slices(GW_PICK_READ, input, out, dim, index));
}

static PyObject *write_slices(PyTypeObject *cls, PyObject *const *args, int kind) {
    const GwTensor *input = gw_plain_tensor(args[0]), *index = gw_plain_tensor(args[2]);
    const GwTensor *source = gw_plain_tensor(args[3]);
    int dim;
    if (input == NULL || source == NULL || !is_index(index)
        || !gw_plain_dim(args[1], input->ndim, &dim) || !slices_fit(input, source, index, dim)) {
        return NULL;
    }
    if (accumulates(kind, input->dtype)) {
        GwTensor *sums = gw_fits_half_slices(input, dim, source)
                         ? gw_tensor_empty(cls, input->dtype, input->ndim, input->sizes, NULL) : NULL;
        return sums == NULL ? NULL
               : done(sums, gw_add_half_slices(input, dim, index, source, sums));
    }
    GwTensor *out = copy_of(cls, input);
    return out == NULL ? NULL : done(out, move_slices(kind, out, source, dim, index));
}

static bool is_one(PyObject *alpha) {
    int64_t value;
    return gw_plain_int(alpha, &value) && value == 1;
}

/* A contiguous tensor of floats times a number; NULL, without an exception, for others. */
static GwTensor *scaled(PyTypeObject *cls, const GwTensor *t, PyObject *factor) {
    _Alignas(16) char number[16];
    GwTensor *out = t == NULL || (t->dtype != GW_FLOAT32 && t->dtype != GW_FLOAT64)
                    || !gw_element(factor, t->dtype, number) ? NULL : copy_of(cls, t);
    for (int64_t i = 0; out != NULL && i < out->numel; i++) {
        if (out->dtype == GW_FLOAT32) {
            ((float *)out->data)[i] *= *(const float *)(const void *)number;
        } else {
            ((double *)out->data)[i] *= *(const double *)(const void *)number;
        }
    }
    return out;
}

/* input, dim, index, source, alpha */
GW_KERNEL(index_add) {
    if (is_one(args[4])) {
        return write_slices(cls, args, GW_PICK_ADD);
    }
    GwTensor *source = scaled(cls, gw_plain_tensor(args[3]), args[4]);
    PyObject *const with[] = {args[0], args[1], args[2], (PyObject *)source};
    PyObject *out = source == NULL ? NULL : write_slices(cls, with, GW_PICK_ADD);
    Py_XDECREF(source);
    return out;
}

GW_KERNEL(index_add_) {
    GW_UNUSED(cls);
    GwTensor *input = gw_plain_tensor(args[0]);
    const GwTensor *index = gw_plain_tensor(args[2]), *source = gw_plain_tensor(args[3]);
    int dim;
    if (input == NULL || !writable(input) || source == NULL || source->storage == input->storage
        || !is_index(index) || !gw_plain_dim(args[1], input->ndim, &dim) || !is_one(args[4])
        || !slices_fit(input, source, index, dim)) {
        return NULL;
    }
    bool halves = accumulates(GW_PICK_ADD, input->dtype);
    bool added = !halves ? move_slices(GW_PICK_ADD, input, source, dim, index)
                 : index->storage != input->storage && gw_fits_half_slices(input, dim, source)
                       && gw_add_half_slices(input, dim, index, source, input);
    if (!added) {
        return NULL;
    }
    input->storage->version++;
    return Py_NewRef(args[0]);
}

GW_KERNEL(index_copy) {
    const GwTensor *index = gw_plain_tensor(args[2]);
    bool wide = index != NULL && index->dtype == GW_INT64;
    return wide ? write_slices(cls, args, GW_PICK_STORE) : NULL;
}

/* ---- x[i, j]: several index tensors, of one shape when broadcast ---- */

typedef struct {
    int count, ndim;                    /* index tensors; the domain's dims */
    int dims[GW_MAX_DIMS];              /* that they index */
    GwTensor *tensors[GW_MAX_DIMS];
    int front, at;                      /* dims that the indices make, and where those begin */
    int64_t sizes[GW_MAX_DIMS];         /* of the domain */
} Places;

/* The index tensors; false where one is no tensor of positions. */
static bool collect(PyObject *indices, int kind, const GwTensor *memory, Places *p) {
    p->count = 0;
    if (!PyTuple_Check(indices) || PyTuple_GET_SIZE(indices) > memory->ndim) {
        return false;
    }
    for (int d = 0; d < PyTuple_GET_SIZE(indices); d++) {
        PyObject *item = PyTuple_GET_ITEM(indices, d);
        if (item == Py_None) {
            continue;
        }
        GwTensor *t = gw_plain_tensor(item);
        if (!is_index(t) || (t->flags & GW_CONTIGUOUS) == 0 || memory->sizes[d] == 0
            || writes_index(kind, memory, t)) {
            return false;
        }
        p->dims[p->count] = d;
        p->tensors[p->count++] = t;
    }
    return p->count > 0;
}

static bool is_indexed(const Places *p, int dim) {
    for (int k = 0; k < p->count; k++) {
        if (p->dims[k] == dim) {
            return true;
        }
    }
    return false;
}

/* The sizes that the index tensors broadcast to, at most as many as fit; false otherwise. */
static bool broadcast(Places *p, int64_t *sizes) {
    p->front = 0;
    for (int k = 0; k < p->count; k++) {
        p->front = p->tensors[k]->ndim > p->front ? p->tensors[k]->ndim : p->front;
    }
    for (int d = 0; d < p->front; d++) {
        sizes[d] = 1;
        for (int k = 0; k < p->count; k++) {
            int own = d - (p->front - p->tensors[k]->ndim);
            int64_t size = own >= 0 ? p->tensors[k]->sizes[own] : 1;
            if (size != 1 && sizes[d] != 1 && sizes[d] != size) {
                return false;
            }
            sizes[d] = size != 1 ? size : sizes[d];
        }
    }
    return true;
}

/* Lays out the domain and the walk: dims before the indexed ones, those that the indices make, and
 * the others; indices that are apart come first. */
static bool lay_out(Places *p, GwWalk *w, int kind, const GwTensor *memory, GwIndex *indices) {
    int64_t front[GW_MAX_DIMS], steps[GW_MAX_DIMS] = {0};
    int first = p->dims[0], n = 0;
    if (!broadcast(p, front) || memory->ndim - p->count + p->front > GW_MAX_DIMS) {
        return false;
    }
    bool together = p->dims[p->count - 1] - first == p->count - 1;
    for (int d = 0; d <= memory->ndim; d++) {
        if (d == (together ? first : 0)) {
            p->at = n;
            memcpy(p->sizes + n, front, (size_t)p->front * sizeof(int64_t));
            n += p->front;
        }
        if (d < memory->ndim && !is_indexed(p, d)) {
            p->sizes[n] = memory->sizes[d];
            steps[n++] = memory->strides[d];
        }
    }
    p->ndim = n;
    if (!begin(w, kind, memory, n, p->sizes, indices)) {
        return false;
    }
    w->wrap = true;
    for (int d = 0; d < n; d++) {
        w->mem[d] = steps[d] * w->itemsize;
    }
    return true;
}

static void index_places(const Places *p, GwWalk *w, const GwTensor *memory) {
    for (int k = 0; k < p->count; k++) {
        const GwTensor *t = p->tensors[k];
        GwIndex *entry = add_index(w, t, memory, p->dims[k]);
        for (int own = 0; own < t->ndim; own++) {
            int64_t stride = t->sizes[own] == 1 ? 0 : t->strides[own];
            entry->strides[p->at + p->front - t->ndim + own] = bytes_of(entry, stride);
        }
    }
}

/* The result's dims in the order of the strides of what is read, as of a pointwise op. */
static void strides_of(const Places *p, const GwWalk *w, int64_t *strides) {
    GwTensor layouts[GW_MAX_DIMS + 1], *operands[GW_MAX_DIMS + 1];
    int64_t steps[GW_MAX_DIMS + 1][GW_MAX_DIMS];
    for (int k = 0; k <= w->count; k++) {
        operands[k] = &layouts[k];
        layouts[k].ndim = (int8_t)p->ndim;
        layouts[k].sizes = (int64_t *)p->sizes;
        layouts[k].strides = steps[k];
        for (int d = 0; d < p->ndim; d++) {
            steps[k][d] = k == 0 ? w->mem[d] : w->indices[k - 1].strides[d];
        }
    }
    gw_dense_strides(w->count + 1, operands, p->ndim, p->sizes, strides);
}

PyObject *gw_index_kernel(PyTypeObject *cls, PyObject *const *args) {
    const GwTensor *input = gw_plain_tensor(args[0]);
    GwIndex indices[GW_MAX_DIMS];
    Places p;
    GwWalk w;
    if (input == NULL || !collect(args[1], GW_PICK_READ, input, &p)
        || !lay_out(&p, &w, GW_PICK_READ, input, indices)) {
        return NULL;
    }
    index_places(&p, &w, input);
    int64_t strides[GW_MAX_DIMS];
    bool contiguous = gw_row_major(input) || p.ndim < 2;
    if (!contiguous) {
        strides_of(&p, &w, strides);
    }
    GwTensor *out = gw_tensor_empty(cls, input->dtype, p.ndim, p.sizes,
                                    contiguous ? NULL : strides);
    if (out == NULL) {
        return NULL;
    }
    set_values(&w, out);
    return done(out, run(&w));
}

/* Strides of `values` where they are broadcast to the domain; false where they are not. */
static bool broadcast_values(GwWalk *w, const GwTensor *values) {
    int lead = w->ndim - values->ndim;
    if (lead < 0) {
        return false;
    }
    w->values = values->data;
    for (int d = 0; d < values->ndim; d++) {
        bool one = values->sizes[d] == 1;
        if (!one && values->sizes[d] != w->sizes[lead + d]) {
            return false;
        }
        w->value[lead + d] = one ? 0 : values->strides[d] * w->itemsize;
    }
    return true;
}

static bool put_into(const GwTensor *target, PyObject *const *args) {
    const GwTensor *values = gw_plain_tensor(args[2]);
    GwIndex indices[GW_MAX_DIMS];
    Places p;
    GwWalk w;
    int kind = args[3] == Py_True ? GW_PICK_ADD : GW_PICK_STORE;
    if (values == NULL || values->dtype != target->dtype || values->storage == target->storage
        || accumulates(kind, target->dtype) || !collect(args[1], kind, target, &p)
        || !lay_out(&p, &w, kind, target, indices) || !broadcast_values(&w, values)) {
        return false;
    }
    index_places(&p, &w, target);
    return run(&w);
}

GW_KERNEL(index_put) {
    GwTensor *input = gw_plain_tensor(args[0]);
    GwTensor *out = input == NULL ? NULL : gw_copy_of_row(cls, input);
    return out == NULL ? NULL : done(out, put_into(out, args));
}

PyObject *gw_index_put_kernel(PyTypeObject *cls, PyObject *const *args) {
    GW_UNUSED(cls);
    GwTensor *input = gw_plain_tensor(args[0]);
    if (input == NULL || !writable(input) || !put_into(input, args)) {
        return NULL;
    }
    input->storage->version++;
    return Py_NewRef(args[0]);
}

const GwKernelEntry gw_picking_kernels[] = {
    {"gather", 4, gather},
    {"index", 2, gw_index_kernel},
    {"index_add", 5, index_add},
    {"index_add_", 5, index_add_},
    {"index_copy", 4, index_copy},
    {"index_put", 4, index_put},
    {"index_put_", 4, gw_index_put_kernel},
    {"index_select", 3, index_select},
    {"scatter_add", 4, scatter_add},
    {"scatter_add_", 4, scatter_add_},
    {"scatter_extreme", 6, scatter_extreme},
    {"scatter_src", 4, scatter_store},
    {"scatter_src_", 4, scatter_store_},
    {"scatter_value", 4, scatter_store},
    {"scatter_value_", 4, scatter_store_},
    {NULL, 0, NULL},
};
