/* Products of few small tensors, summed over some of their dims: what einsum's plan says, tensordot,
 * inner, kron, batches of matrix products that broadcast, cross products. Larger ones are made of
 * matrix products. */
#include "layout.h"
#include "contract.h"
#include "product_nest.h"

/* Adds an operand, a tensor of the dtype of the others; false for any other. */
static bool add_operand(GwNest *n, PyObject *o) {
    const GwTensor *t = gw_plain_tensor(o);
    if (t == NULL || n->count == GW_NEST_OPERANDS || t->numel > GW_NEST_STEPS
        || !gw_is_nest_dtype(t->dtype) || (n->count > 0 && t->dtype != n->dtype)) {
        return false;
    }
    n->dtype = t->dtype;
    n->data[n->count++] = t->data;
    return true;
}

static bool is_floating(const GwNest *n) {
    return n->dtype == GW_FLOAT32 || n->dtype == GW_FLOAT64;
}

static PyObject *run(PyTypeObject *cls, GwNest *n, int ndim, const int64_t *sizes,
                     const int64_t *strides) {
    GwTensor *out = gw_tensor_empty(cls, n->dtype, ndim, sizes, strides);
    if (out != NULL) {
        gw_run_nest(n, out->data);
    }
    return (PyObject *)out;
}

/* The result's dims are the kept labels, contiguous. */
static PyObject *run_contiguous(PyTypeObject *cls, GwNest *n) {
    if (!gw_is_small_nest(n)) {
        return NULL;
    }
    gw_contiguous(n->sizes, n->kept, n->out);
    return run(cls, n, n->kept, n->sizes, NULL);
}

/* ---- einsum ---- */

static int read_ints(PyObject *tuple, int64_t *values) {
    int n = PyTuple_Check(tuple) ? (int)PyTuple_GET_SIZE(tuple) : -1;
    for (int i = 0; i < n && i < GW_NEST_LABELS; i++) {
        if (!gw_plain_int(PyTuple_GET_ITEM(tuple, i), &values[i])) {
            return -1;
        }
    }
    return n > GW_NEST_LABELS ? -1 : n;
}

static bool read_plan(GwNest *n, PyObject *operands, PyObject *sizes, PyObject *steps,
                      PyObject *strides) {
    Py_ssize_t count = PyTuple_GET_SIZE(steps);
    n->count = 0;
    n->labels = read_ints(sizes, n->sizes);
    n->kept = read_ints(strides, n->out);
    bool fits = count > 0 && count <= GW_NEST_OPERANDS && PyTuple_GET_SIZE(operands) == count
                && n->kept >= 0 && n->kept <= n->labels && gw_is_small_nest(n);
    for (int k = 0; fits && k < count; k++) {
        PyObject *operand = PyTuple_GET_ITEM(operands, k);
        fits = add_operand(n, operand) && is_floating(n)
               && (((GwTensor *)operand)->flags & GW_CONTIGUOUS) != 0
               && read_ints(PyTuple_GET_ITEM(steps, k), n->steps[k]) == n->labels;
        int64_t last = 0;
        for (int d = 0; fits && d < n->labels; d++) {
            fits = n->steps[k][d] >= 0;
            last += n->steps[k][d] * (n->sizes[d] - 1);
        }
        fits = fits && last < ((GwTensor *)operand)->numel;
    }
    return fits;
}

static PyObject *contract(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *cls, *operands, *sizes, *steps, *strides;
    GwNest n;
    if (!PyArg_ParseTuple(args, "OO!O!O!O!:contract", &cls, &PyTuple_Type, &operands,
                          &PyTuple_Type, &sizes, &PyTuple_Type, &steps, &PyTuple_Type, &strides)
        || gw_tensor_class(cls) == NULL) {
        return NULL;
    }
    if (!read_plan(&n, operands, sizes, steps, strides)) {
        Py_RETURN_NONE;
    }
    return run((PyTypeObject *)cls, &n, n.kept, n.sizes, n.out);
}

/* ---- pairs: dims of `a` and `b` that are summed, all others in turn are the result's ---- */

typedef struct {
    GwTensor *a, *b;
    int count;
    int left[GW_NEST_LABELS], right[GW_NEST_LABELS];
} Pair;

static bool begin(GwNest *n, Pair *p, PyObject *a, PyObject *b) {
    n->count = n->labels = p->count = 0;
    if (!add_operand(n, a) || !add_operand(n, b)) {
        return false;
    }
    p->a = (GwTensor *)a;
    p->b = (GwTensor *)b;
    return p->a->ndim + p->b->ndim <= GW_NEST_LABELS;
}

static void add_label(GwNest *n, int64_t size, int64_t left, int64_t right) {
    n->sizes[n->labels] = size;
    n->steps[0][n->labels] = left;
    n->steps[1][n->labels++] = right;
}

static bool holds(const int *dims, int count, int dim) {
    for (int i = 0; i < count; i++) {
        if (dims[i] == dim) {
            return true;
        }
    }
    return false;
}

static PyObject *run_pair(PyTypeObject *cls, GwNest *n, const Pair *p) {
    for (int d = 0; d < p->a->ndim; d++) {
        if (!holds(p->left, p->count, d)) {
            add_label(n, p->a->sizes[d], p->a->strides[d], 0);
        }
    }
    for (int d = 0; d < p->b->ndim; d++) {
        if (!holds(p->right, p->count, d)) {
            add_label(n, p->b->sizes[d], 0, p->b->strides[d]);
        }
    }
    n->kept = n->labels;
    for (int i = 0; i < p->count; i++) {
        int64_t size = p->a->sizes[p->left[i]];
        if (size != p->b->sizes[p->right[i]]) {
            return NULL;
        }
        add_label(n, size, p->a->strides[p->left[i]], p->b->strides[p->right[i]]);
    }
    return run_contiguous(cls, n);
}

/* Distinct dims of a list or tuple; false for anything else. */
static bool read_dims(PyObject *list, int ndim, int *dims, int *count) {
    if (!PyList_CheckExact(list) && !PyTuple_CheckExact(list)) {
        return false;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
    for (*count = 0; *count < n && n <= ndim; ++*count) {
        int *dim = &dims[*count];
        if (!gw_wrapped_dim(PySequence_Fast_GET_ITEM(list, *count), ndim, dim)
            || holds(dims, *count, *dim)) {
            return false;
        }
    }
    return *count == n;
}

/* dims: the last of `a` and the first of `b`, or a list for each. */
GW_KERNEL(tensordot) {
    GwNest n;
    Pair p;
    int64_t count;
    int other;
    PyObject *dims = args[2];
    if (!begin(&n, &p, args[0], args[1])) {
        return NULL;
    }
    if (gw_plain_int(dims, &count)) {
        if (count < 0 || count > p.a->ndim || count > p.b->ndim) {
            return NULL;
        }
        for (; p.count < count; p.count++) {
            p.left[p.count] = p.a->ndim - (int)count + p.count;
            p.right[p.count] = p.count;
        }
        return run_pair(cls, &n, &p);
    }
    bool lists = (PyList_CheckExact(dims) || PyTuple_CheckExact(dims))
                 && PySequence_Fast_GET_SIZE(dims) == 2
                 && read_dims(PySequence_Fast_GET_ITEM(dims, 0), p.a->ndim, p.left, &p.count)
                 && read_dims(PySequence_Fast_GET_ITEM(dims, 1), p.b->ndim, p.right, &other);
    return lists && other == p.count ? run_pair(cls, &n, &p) : NULL;
}

GW_KERNEL(inner) {
    GwNest n;
    Pair p;
    if (!begin(&n, &p, args[0], args[1]) || p.a->ndim == 0 || p.b->ndim == 0) {
        return NULL;
    }
    p.count = 1;
    p.left[0] = p.a->ndim - 1;
    p.right[0] = p.b->ndim - 1;
    return run_pair(cls, &n, &p);
}

/* ---- Kronecker's product, matrices that broadcast ---- */

static int64_t size_at(const GwTensor *t, int d) { return d < 0 ? 1 : t->sizes[d]; }

static int64_t stride_at(const GwTensor *t, int d) {
    return d < 0 || t->sizes[d] == 1 ? 0 : t->strides[d];
}

GW_KERNEL(kron) {
    GwNest n;
    Pair p;
    int64_t sizes[GW_NEST_LABELS];
    if (!begin(&n, &p, args[0], args[1])
        || !gw_row_major(p.a) || !gw_row_major(p.b)) {   /* the result lies as they do */
        return NULL;
    }
    int ndim = p.a->ndim > p.b->ndim ? p.a->ndim : p.b->ndim;
    for (int d = 0; d < ndim && 2 * ndim <= GW_NEST_LABELS; d++) {
        int left = d - (ndim - p.a->ndim), right = d - (ndim - p.b->ndim);
        add_label(&n, size_at(p.a, left), stride_at(p.a, left), 0);
        add_label(&n, size_at(p.b, right), 0, stride_at(p.b, right));
        sizes[d] = size_at(p.a, left) * size_at(p.b, right);
    }
    n.kept = n.labels;
    if (2 * ndim > GW_NEST_LABELS || !gw_is_small_nest(&n)) {
        return NULL;
    }
    gw_contiguous(n.sizes, n.kept, n.out);
    return run(cls, &n, ndim, sizes, NULL);
}

PyObject *gw_small_matmul(PyTypeObject *cls, PyObject *left, PyObject *right) {
    GwNest n;
    Pair p;
    if (!begin(&n, &p, left, right) || p.a->ndim < 2 || p.b->ndim < 2) {
        return NULL;
    }
    int ndim = p.a->ndim > p.b->ndim ? p.a->ndim : p.b->ndim, a = p.a->ndim, b = p.b->ndim;
    for (int d = 0; d < ndim - 2; d++) {
        int own = d - (ndim - a), other = d - (ndim - b);
        int64_t size = size_at(p.a, own), wide = size_at(p.b, other);
        if (size != wide && size != 1 && wide != 1) {
            return NULL;
        }
        add_label(&n, size == 1 ? wide : size, stride_at(p.a, own), stride_at(p.b, other));
    }
    add_label(&n, p.a->sizes[a - 2], p.a->strides[a - 2], 0);
    add_label(&n, p.b->sizes[b - 1], 0, p.b->strides[b - 1]);
    n.kept = n.labels;
    add_label(&n, p.a->sizes[a - 1], p.a->strides[a - 1], p.b->strides[b - 2]);
    return p.a->sizes[a - 1] == p.b->sizes[b - 2] ? run_contiguous(cls, &n) : NULL;
}

GW_KERNEL(broadcast_matmul) { return gw_small_matmul(cls, args[0], args[1]); }

/* ---- cross products ---- */

#define CROSS(T, name)                                                                     \
    static void name(const GwNest *n, int dim, int label, const T *a, const T *b, T *out) {  \
        if (label == dim) {                                                                \
            label++;                                                                       \
        }                                                                                  \
        if (label < n->labels) {                                                           \
            for (int64_t i = 0; i < n->sizes[label]; i++) {                                \
                name(n, dim, label + 1, a + i * n->steps[0][label],                        \
                     b + i * n->steps[1][label], out + i * n->out[label]);                 \
            }                                                                              \
            return;                                                                        \
        }                                                                                  \
        int64_t p = n->steps[0][dim], q = n->steps[1][dim];                                \
        for (int i = 0; i < 3; i++) {                                                      \
            int j = (i + 1) % 3, k = (i + 2) % 3;                                          \
            out[i * n->out[dim]] = a[j * p] * b[k * q] - a[k * p] * b[j * q];              \
        }                                                                                  \
    }

CROSS(float, cross_float)
CROSS(double, cross_double)

/* `dim` None: the first of size 3. */
static PyObject *cross_product(PyTypeObject *cls, PyObject *const *args) {
    GwNest n;
    Pair p;
    int dim = 0;
    if (!begin(&n, &p, args[0], args[1]) || p.a->ndim != p.b->ndim || p.a->ndim == 0) {
        return NULL;
    }
    while (args[2] == Py_None && dim < p.a->ndim - 1 && p.a->sizes[dim] != 3) {
        dim++;
    }
    if ((args[2] != Py_None && !gw_wrapped_dim(args[2], p.a->ndim, &dim))
        || p.a->sizes[dim] != 3 || p.b->sizes[dim] != 3) {
        return NULL;
    }
    for (int d = 0; d < p.a->ndim; d++) {
        int64_t size = p.a->sizes[d], other = p.b->sizes[d];
        if (size != other && size != 1 && other != 1) {
            return NULL;
        }
        add_label(&n, size == 1 ? other : size, stride_at(p.a, d), stride_at(p.b, d));
    }
    n.kept = n.labels;
    GwTensor *out = is_floating(&n) && gw_is_small_nest(&n)
                    ? gw_tensor_empty(cls, n.dtype, n.kept, n.sizes, NULL) : NULL;
    gw_contiguous(n.sizes, n.kept, n.out);
    if (out != NULL && n.dtype == GW_FLOAT32) {
        cross_float(&n, dim, 0, (const float *)n.data[0], (const float *)n.data[1],
                    (float *)out->data);
    } else if (out != NULL) {
        cross_double(&n, dim, 0, (const double *)n.data[0], (const double *)n.data[1],
                     (double *)out->data);
    }
    return (PyObject *)out;
}

GW_KERNEL(cross) { return cross_product(cls, args); }

const GwKernelEntry gw_contraction_kernels[] = {
    {"broadcast_matmul", 2, broadcast_matmul},
    {"cross", 3, cross},
    {"inner", 2, inner},
    {"kron", 2, kron},
    {"linalg_cross", 3, cross},
    {"tensordot", 3, tensordot},
    {NULL, 0, NULL},
};

PyMethodDef gw_contraction_methods[] = {
    {"contract", contract, METH_VARARGS,
     "contract(cls, operands, sizes, steps, strides): the sum of the products of contiguous "
     "tensors. `sizes` are those of the labels: the result's dims, whose `strides` follow, then "
     "those that are summed over; `steps` has for each operand the strides of all labels. None "
     "where the operands are no floats, or the nest is long."},
    {NULL, NULL, 0, NULL},
};
