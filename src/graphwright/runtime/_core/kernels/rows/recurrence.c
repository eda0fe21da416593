/* Recurrent layers: all steps of one direction in one call, and their gradient. A step is a
 * product with the hidden state and one pass over the gates.
 *
 * LSTM: Gers, Schmidhuber & Cummins (2000). GRU: Cho et al. (2014), the reset gate after the
 * product. */
#include "core.h"
#include "vector_math.h"

#include <string.h>

enum Kind { RNN_TANH, RNN_RELU, LSTM, GRU, KINDS };

enum { GRAIN = 4096 };      /* elements of a state worth a thread */

static const char *const NAMES[KINDS] = {"RNN_TANH", "RNN_RELU", "LSTM", "GRU"};
static const int GATES[KINDS] = {1, 1, 4, 3};

/* Arrays are contiguous, [steps, batch, ...]; `row` is the first of the current step's. */
typedef struct {
    int32_t code;
    int kind;
    int64_t steps, batch, hidden, gates, row, size;
    const void *x, *first, *first_cell, *weight, *bias;
    void *out, *cells, *kept, *own;
    const void *grad;
    void *to_gates, *to_own, *slope, *to_cell;
} Recurrence;

static const void *before(const Recurrence *r, const void *first, const void *all) {
    if (r->row == 0) {
        return first;
    }
    return (const char *)all + (r->row - r->batch) * r->hidden * r->size;
}

static const void *hidden_before(const Recurrence *r) { return before(r, r->first, r->out); }

static const void *cell_before(const Recurrence *r) { return before(r, r->first_cell, r->cells); }

#define REAL float
#define EXP gw_exp_float
#define TANH gw_tanh_float
#define NAME(x) x##_f32
#include "recurrence_kernel.h"
#undef REAL
#undef EXP
#undef TANH
#undef NAME
#define REAL double
#define EXP gw_exp_double
#define TANH gw_tanh_double
#define NAME(x) x##_f64
#include "recurrence_kernel.h"

static void pass(const gw_ctx *ctx, Recurrence *r, gw_body body) {
    gw_parallel_for(ctx, body, r, r->batch, GRAIN / (r->hidden > 0 ? r->hidden : 1) + 1);
}

static void run(const gw_ctx *ctx, Recurrence *r) {
    int64_t wide = r->gates * r->hidden;
    for (int64_t step = 0; step < r->steps; step++) {
        r->row = step * r->batch;
        gw_gemm(ctx, r->code, 0, 1, r->batch, wide, r->hidden, 1, hidden_before(r), r->hidden, 0,
                r->weight, r->hidden, 0, 0, r->own, wide, 0, 1);
        pass(ctx, r, r->code == GW_FLOAT32 ? advance_f32 : advance_f64);
    }
}

/* The gradient of the first state is left in `slope`. */
static void run_back(const gw_ctx *ctx, Recurrence *r) {
    int64_t wide = r->gates * r->hidden;
    for (int64_t step = r->steps - 1; step >= 0; step--) {
        r->row = step * r->batch;
        pass(ctx, r, r->code == GW_FLOAT32 ? go_back_f32 : go_back_f64);
        const char *to_own = (const char *)r->to_own + r->row * wide * r->size;
        gw_gemm(ctx, r->code, 0, 0, r->batch, r->hidden, wide, 1, to_own, wide, 0, r->weight,
                r->hidden, 0, r->kind == GRU, r->slope, r->hidden, 0, 1);
    }
}

/* ---- Python ---- */

/* The memory of a contiguous array of `count` elements. */
static bool array(const Recurrence *r, PyObject *object, int64_t count, const void **data) {
    PyArrayObject *a = (PyArrayObject *)object;
    int type = r->code == GW_FLOAT32 ? NPY_FLOAT : NPY_DOUBLE;
    if (!PyArray_Check(object) || PyArray_TYPE(a) != type || !PyArray_ISCARRAY_RO(a)
        || PyArray_SIZE(a) != count) {
        PyErr_SetString(PyExc_ValueError, "a recurrence takes contiguous arrays of one dtype "
                        "whose sizes fit together");
        return false;
    }
    *data = PyArray_DATA(a);
    return true;
}

static bool writable(const Recurrence *r, PyObject *object, int64_t count, void **data) {
    const void *found;
    if (!array(r, object, count, &found)) {
        return false;
    }
    if (!PyArray_ISWRITEABLE((PyArrayObject *)object)) {
        PyErr_SetString(PyExc_ValueError, "a recurrence's result must be writable");
        return false;
    }
    *data = PyArray_DATA((PyArrayObject *)object);
    return true;
}

/* Kind, dtype and sizes, from the kind's name and the gates [steps, batch, gates * hidden]. */
static bool describe(Recurrence *r, const char *name, PyObject *gates) {
    while (r->kind < KINDS && strcmp(name, NAMES[r->kind]) != 0) {
        r->kind++;
    }
    PyArrayObject *x = (PyArrayObject *)gates;
    if (r->kind == KINDS || !PyArray_Check(gates) || PyArray_NDIM(x) != 3
        || (PyArray_TYPE(x) != NPY_FLOAT && PyArray_TYPE(x) != NPY_DOUBLE)
        || PyArray_DIM(x, 2) % GATES[r->kind] != 0) {
        PyErr_SetString(PyExc_ValueError, "a recurrence takes gates [steps, batch, gates * "
                        "hidden] of float32 or float64");
        return false;
    }
    r->code = PyArray_TYPE(x) == NPY_FLOAT ? GW_FLOAT32 : GW_FLOAT64;
    r->size = PyArray_ITEMSIZE(x);
    r->steps = PyArray_DIM(x, 0);
    r->batch = PyArray_DIM(x, 1);
    r->gates = GATES[r->kind];
    r->hidden = PyArray_DIM(x, 2) / r->gates;
    return true;
}

static int64_t wide_of(const Recurrence *r) { return r->gates * r->hidden; }
static int64_t rows_of(const Recurrence *r) { return r->steps * r->batch; }
static int64_t kept_of(const Recurrence *r) {
    return r->kind == LSTM || r->kind == GRU ? rows_of(r) * 4 * r->hidden : 0;
}
static int64_t cells_of(const Recurrence *r) {
    return r->kind == LSTM ? rows_of(r) * r->hidden : 0;
}

static PyObject *recurrence(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    const char *name;
    PyObject *x, *first, *first_cell, *weight, *bias, *out, *cells, *kept;
    Recurrence r = {0};
    if (!PyArg_ParseTuple(args, "sOOOOOOOO", &name, &x, &first, &first_cell, &weight, &bias, &out,
                          &cells, &kept)
        || !describe(&r, name, x)) {
        return NULL;
    }
    int64_t state = r.batch * r.hidden;
    if (!array(&r, x, rows_of(&r) * wide_of(&r), &r.x) || !array(&r, first, state, &r.first)
        || !array(&r, first_cell, r.kind == LSTM ? state : 0, &r.first_cell)
        || !array(&r, weight, wide_of(&r) * r.hidden, &r.weight)
        || !array(&r, bias, wide_of(&r), &r.bias)
        || !writable(&r, out, rows_of(&r) * r.hidden, &r.out)
        || !writable(&r, cells, cells_of(&r), &r.cells)
        || !writable(&r, kept, kept_of(&r), &r.kept)) {
        return NULL;
    }
    r.own = PyMem_RawMalloc((size_t)(r.batch * wide_of(&r) * r.size) + 1);
    if (r.own == NULL) {
        return PyErr_NoMemory();
    }
    gw_ctx ctx;
    gw_context(&ctx);
    Py_BEGIN_ALLOW_THREADS
    run(&ctx, &r);
    Py_END_ALLOW_THREADS
    PyMem_RawFree(r.own);
    Py_RETURN_NONE;
}

static PyObject *recurrence_backward(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    const char *name;
    PyObject *grad, *first, *first_cell, *weight, *out, *cells, *kept, *to_gates, *to_own, *slope,
        *to_cell;
    Recurrence r = {0};
    if (!PyArg_ParseTuple(args, "sOOOOOOOOOOO", &name, &grad, &first, &first_cell, &weight, &out,
                          &cells, &kept, &to_gates, &to_own, &slope, &to_cell)
        || !describe(&r, name, to_gates)) {
        return NULL;
    }
    int64_t state = r.batch * r.hidden, hiddens = rows_of(&r) * r.hidden;
    const void *given;
    if (!array(&r, grad, hiddens, &r.grad) || !array(&r, first, state, &r.first)
        || !array(&r, first_cell, r.kind == LSTM ? state : 0, &r.first_cell)
        || !array(&r, weight, wide_of(&r) * r.hidden, &r.weight)
        || !array(&r, out, hiddens, &given) || !array(&r, cells, cells_of(&r), &given)
        || !array(&r, kept, kept_of(&r), &given)
        || !writable(&r, to_gates, rows_of(&r) * wide_of(&r), &r.to_gates)
        || !writable(&r, to_own, rows_of(&r) * wide_of(&r), &r.to_own)
        || !writable(&r, slope, state, &r.slope)
        || !writable(&r, to_cell, r.kind == LSTM ? state : 0, &r.to_cell)) {
        return NULL;
    }
    r.out = PyArray_DATA((PyArrayObject *)out);
    r.cells = PyArray_DATA((PyArrayObject *)cells);
    r.kept = PyArray_DATA((PyArrayObject *)kept);
    gw_ctx ctx;
    gw_context(&ctx);
    Py_BEGIN_ALLOW_THREADS
    run_back(&ctx, &r);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

PyMethodDef gw_recurrence_methods[] = {
    {"recurrence", recurrence, METH_VARARGS,
     "recurrence(mode, gates, hidden, cell, weight, bias, out, cells, kept): the steps of an "
     "\"LSTM\", \"GRU\", \"RNN_TANH\" or \"RNN_RELU\" over gates [steps, batch, gates * hidden], "
     "the input's share. `cells` and `kept` receive what the gradient reads; `cell` and they are "
     "empty for kinds without."},
    {"recurrence_backward", recurrence_backward, METH_VARARGS,
     "recurrence_backward(mode, grad, hidden, cell, weight, out, cells, kept, to_gates, to_own, "
     "to_hidden, to_cell): the gradients of the input's and of the hidden state's shares of the "
     "gates (one array but for a GRU), and of the first state. to_hidden is zeros on entry, "
     "to_cell the gradient of the last cell."},
    {NULL, NULL, 0, NULL},
};
