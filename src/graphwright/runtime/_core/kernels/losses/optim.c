/* Fused steps of optimisers over contiguous float32 or float64 tensors, on the pool. */
#include "core.h"
#include "pool.h"
#include "write_checks.h"

#include <math.h>

#ifdef __clang__
#define STEP static
#else
#define STEP GW_VECTORISED __attribute__((optimize("O3", "no-math-errno"))) static
#endif

enum { GRAIN = 16 << 10, RELEASE_GIL = 128 << 10, MAX_TENSORS = 5 };

/* The tensors of a call: contiguous, on the CPU, of one floating dtype and one size. */
typedef struct {
    GwTensor *tensors[MAX_TENSORS];   /* NULL where None was given */
    int dtype;
    int64_t n;
} Operands;

/* 1 where the fused step applies, 0 where not, -1 with an exception. */
static int collect(Operands *ops, PyObject *const *objects, int count) {
    ops->n = -1;
    for (int i = 0; i < count; i++) {
        ops->tensors[i] = NULL;
        if (objects[i] == Py_None) {
            continue;
        }
        GwTensor *t = gw_tensor_arg(objects[i]);
        if (t == NULL) {
            return -1;
        }
        if (t->data == NULL || t->device != GW_CPU || !(t->flags & GW_CONTIGUOUS)
            || (t->dtype != GW_FLOAT32 && t->dtype != GW_FLOAT64) || !gw_is_open(t->storage)
            || (ops->n >= 0 && (t->numel != ops->n || t->dtype != ops->dtype))) {
            return 0;
        }
        ops->n = t->numel;
        ops->dtype = t->dtype;
        ops->tensors[i] = t;
    }
    return ops->n >= 0;
}

static void *data_of(const Operands *ops, int i) {
    return ops->tensors[i] == NULL ? NULL : ops->tensors[i]->data;
}

static void run(const Operands *ops, gw_body body, void *closure) {
    gw_ctx ctx;
    gw_context(&ctx);
    PyThreadState *released = ops->n >= RELEASE_GIL ? PyEval_SaveThread() : NULL;
    gw_parallel_for(&ctx, body, closure, ops->n, GRAIN);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
}

/* All tensors but the gradient, which is the second, have been written. */
static void touch(const Operands *ops, int count) {
    for (int i = 0; i < count; i++) {
        if (i != 1 && ops->tensors[i] != NULL) {
            ops->tensors[i]->storage->version++;
        }
    }
}

typedef struct {
    void *param, *grad, *buffer;
    double lr, momentum, dampening, weight_decay;
    int first, nesterov, maximize;
} Sgd;

#define SGD_BODY(T, NAME)                                                                     \
    STEP void NAME(void *closure, int64_t begin, int64_t end) {                               \
        const Sgd *s = closure;                                                               \
        T *restrict p = s->param, *restrict b = s->buffer;                                    \
        const T *restrict g = s->grad;                                                        \
        const T lr = (T)s->lr, momentum = (T)s->momentum, decay = (T)s->weight_decay;         \
        const T fresh = (T)(1 - s->dampening), sign = s->maximize ? -1 : 1;                   \
        if (b == NULL) {                                                                      \
            for (int64_t i = begin; i < end; i++) {                                           \
                T d = sign * g[i];                                                            \
                d = decay != 0 ? d + decay * p[i] : d;                                        \
                p[i] -= lr * d;                                                               \
            }                                                                                 \
            return;                                                                           \
        }                                                                                     \
        for (int64_t i = begin; i < end; i++) {                                               \
            T d = sign * g[i];                                                                \
            d = decay != 0 ? d + decay * p[i] : d;                                            \
            T v = s->first ? d : momentum * b[i] + fresh * d;                                 \
            b[i] = v;                                                                         \
            p[i] -= lr * (s->nesterov ? d + momentum * v : v);                                \
        }                                                                                     \
    }
SGD_BODY(float, sgd_float)
SGD_BODY(double, sgd_double)

static PyObject *sgd_step(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *objects[3];
    Sgd s;
    if (!PyArg_ParseTuple(args, "OOOpddddpp", &objects[0], &objects[1], &objects[2], &s.first,
                          &s.lr, &s.momentum, &s.dampening, &s.weight_decay, &s.nesterov,
                          &s.maximize)) {
        return NULL;
    }
    Operands ops;
    int applies = collect(&ops, objects, 3);
    if (applies <= 0) {
        return applies < 0 ? NULL : Py_NewRef(Py_False);
    }
    s.param = data_of(&ops, 0);
    s.grad = data_of(&ops, 1);
    s.buffer = data_of(&ops, 2);
    run(&ops, ops.dtype == GW_FLOAT32 ? sgd_float : sgd_double, &s);
    touch(&ops, 3);
    return Py_NewRef(Py_True);
}

typedef struct {
    void *param, *grad, *mean, *square, *top;
    double beta1, beta2, eps, decay, shrink, size, root;
    int maximize;
} Adam;

#define ADAM_BODY(T, NAME, SQRT)                                                              \
    STEP void NAME(void *closure, int64_t begin, int64_t end) {                               \
        const Adam *s = closure;                                                              \
        T *restrict p = s->param, *restrict m = s->mean, *restrict v = s->square;             \
        T *restrict top = s->top;                                                             \
        const T *restrict g = s->grad;                                                        \
        const T fresh1 = (T)(1 - s->beta1), beta2 = (T)s->beta2, fresh2 = (T)(1 - s->beta2);  \
        const T eps = (T)s->eps, decay = (T)s->decay, shrink = (T)s->shrink;                  \
        const T size = (T)s->size, root = (T)s->root, sign = s->maximize ? -1 : 1;            \
        for (int64_t i = begin; i < end; i++) {                                               \
            T d = sign * g[i];                                                                \
            d = decay != 0 ? d + decay * p[i] : d;                                            \
            T mean = m[i] + fresh1 * (d - m[i]);                                              \
            T square = beta2 * v[i] + fresh2 * d * d;                                         \
            m[i] = mean;                                                                      \
            v[i] = square;                                                                    \
            if (top != NULL) {                                                                \
                square = top[i] > square || top[i] != top[i] ? top[i] : square;               \
                top[i] = square;                                                              \
            }                                                                                 \
            p[i] = shrink * p[i] - size * (mean / (SQRT(square) / root + eps));               \
        }                                                                                     \
    }
ADAM_BODY(float, adam_float, sqrtf)
ADAM_BODY(double, adam_double, sqrt)

static PyObject *adam_step(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *objects[5];
    Adam s;
    double count, lr, weight_decay;
    int decoupled;
    if (!PyArg_ParseTuple(args, "OOOOOddddddpp", &objects[0], &objects[1], &objects[2],
                          &objects[3], &objects[4], &count, &lr, &s.beta1, &s.beta2, &s.eps,
                          &weight_decay, &s.maximize, &decoupled)) {
        return NULL;
    }
    Operands ops;
    int applies = collect(&ops, objects, 5);
    if (applies <= 0) {
        return applies < 0 ? NULL : Py_NewRef(Py_False);
    }
    s.param = data_of(&ops, 0);
    s.grad = data_of(&ops, 1);
    s.mean = data_of(&ops, 2);
    s.square = data_of(&ops, 3);
    s.top = data_of(&ops, 4);
    s.decay = decoupled ? 0 : weight_decay;
    s.shrink = decoupled ? 1 - lr * weight_decay : 1;
    s.size = lr / (1 - pow(s.beta1, count));
    s.root = sqrt(1 - pow(s.beta2, count));
    run(&ops, ops.dtype == GW_FLOAT32 ? adam_float : adam_double, &s);
    touch(&ops, 5);
    return Py_NewRef(Py_True);
}

/* The others: one body each, with the gradient and its weight decay read in the same way. `t` are
 * the state's tensors, `c` the rule's numbers, as optim/adaptive.py gives them. */
typedef struct {
    void *param, *grad, *state[3];
    double decay, c[8];
    int maximize;
} Rule;

#define RULE_BODY(T, NAME, SQRT, BODY)                                                        \
    STEP void NAME(void *closure, int64_t begin, int64_t end) {                               \
        const Rule *s = closure;                                                              \
        T *restrict p = s->param, *restrict t0 = s->state[0], *restrict t1 = s->state[1];     \
        T *restrict t2 = s->state[2];                                                         \
        const T *restrict g = s->grad;                                                        \
        const T decay = (T)s->decay, sign = s->maximize ? -1 : 1;                             \
        T c[8];                                                                               \
        for (int i = 0; i < 8; i++) {                                                         \
            c[i] = (T)s->c[i];                                                                \
        }                                                                                     \
        GW_UNUSED(t0);                                                                        \
        GW_UNUSED(t1);                                                                        \
        GW_UNUSED(t2);                                                                        \
        for (int64_t i = begin; i < end; i++) {                                               \
            T d = sign * g[i];                                                                \
            d = decay != 0 ? d + decay * p[i] : d;                                            \
            BODY(T, SQRT)                                                                     \
        }                                                                                     \
    }
#define RULE(NAME, BODY)                                                                      \
    RULE_BODY(float, NAME##_float, sqrtf, BODY)                                               \
    RULE_BODY(double, NAME##_double, sqrt, BODY)

/* Running means: t0 += c0 * (d - t0); t1 = c1 * t1 + c2 * d * d. */
#define MEANS(T)                                                                              \
    T mean = t0[i] + c[0] * (d - t0[i]), square = c[1] * t1[i] + c[2] * d * d;                \
    t0[i] = mean;                                                                             \
    t1[i] = square;

/* c: 1 - beta1, beta2, eps, rate */
#define ADAMAX(T, SQRT)                                                                       \
    T mean = t0[i] + c[0] * (d - t0[i]);                                                      \
    T kept = t1[i] * c[1], size = (d < 0 ? -d : d) + c[2];                                    \
    T top = kept > size || kept != kept ? kept : size;                                        \
    t0[i] = mean;                                                                             \
    t1[i] = top;                                                                              \
    p[i] -= c[3] * mean / top;
/* c: 1 - beta1, beta2, 1 - beta2, 1 - beta2**t, eps, rate of d, rate of the mean, shrink */
#define NADAM(T, SQRT)                                                                        \
    MEANS(T)                                                                                  \
    p[i] = c[7] * p[i] - (c[5] * d + c[6] * mean) / (SQRT(square / c[3]) + c[4]);
/* c: 1 - beta1, beta2, 1 - beta2, whether rectified, eps, rate, -, shrink */
#define RADAM(T, SQRT)                                                                        \
    MEANS(T)                                                                                  \
    p[i] = c[7] * p[i] - c[5] * mean / (c[3] != 0 ? SQRT(square) + c[4] : 1);
/* c: alpha, 1 - alpha, eps, rate, momentum */
#define RMSPROP(T, SQRT)                                                                      \
    T square = c[0] * t0[i] + c[1] * d * d;                                                   \
    t0[i] = square;                                                                           \
    if (t2 != NULL) {                                                                         \
        T mean = t2[i] + c[1] * (d - t2[i]);                                                  \
        t2[i] = mean;                                                                         \
        square -= mean * mean;                                                                \
    }                                                                                         \
    T step = d / (SQRT(square) + c[2]);                                                       \
    if (t1 != NULL) {                                                                         \
        step = c[4] * t1[i] + step;                                                           \
        t1[i] = step;                                                                         \
    }                                                                                         \
    p[i] -= c[3] * step;
/* c: eps, rate */
#define ADAGRAD(T, SQRT)                                                                      \
    T total = t0[i] + d * d;                                                                  \
    t0[i] = total;                                                                            \
    p[i] -= c[1] * d / (SQRT(total) + c[0]);
/* c: rho, 1 - rho, eps, rate */
#define ADADELTA(T, SQRT)                                                                     \
    T square = c[0] * t0[i] + c[1] * d * d;                                                   \
    T delta = SQRT(t1[i] + c[2]) / SQRT(square + c[2]) * d;                                   \
    t0[i] = square;                                                                           \
    t1[i] = c[0] * t1[i] + c[1] * delta * delta;                                              \
    p[i] -= c[3] * delta;

RULE(adamax, ADAMAX)
RULE(nadam, NADAM)
RULE(radam, RADAM)
RULE(rmsprop, RMSPROP)
RULE(adagrad, ADAGRAD)
RULE(adadelta, ADADELTA)

static const struct {
    const char *name;
    gw_body single, twice;
} rules[] = {
    {"adamax", adamax_float, adamax_double},       {"nadam", nadam_float, nadam_double},
    {"radam", radam_float, radam_double},          {"rmsprop", rmsprop_float, rmsprop_double},
    {"adagrad", adagrad_float, adagrad_double},    {"adadelta", adadelta_float, adadelta_double},
};

static PyObject *rule_step(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    const char *name;
    PyObject *objects[5], *numbers;
    Rule s = {0};
    if (!PyArg_ParseTuple(args, "sOOOOOO!dp", &name, &objects[0], &objects[1], &objects[2],
                          &objects[3], &objects[4], &PyTuple_Type, &numbers, &s.decay,
                          &s.maximize)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers) && i < 8; i++) {
        s.c[i] = PyFloat_AsDouble(PyTuple_GET_ITEM(numbers, i));
        if (s.c[i] == -1.0 && PyErr_Occurred()) {
            return NULL;
        }
    }
    Operands ops;
    int applies = collect(&ops, objects, 5);
    if (applies <= 0) {
        return applies < 0 ? NULL : Py_NewRef(Py_False);
    }
    s.param = data_of(&ops, 0);
    s.grad = data_of(&ops, 1);
    for (int i = 0; i < 3; i++) {
        s.state[i] = data_of(&ops, 2 + i);
    }
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].name, name) == 0) {
            run(&ops, ops.dtype == GW_FLOAT32 ? rules[i].single : rules[i].twice, &s);
            touch(&ops, 5);
            return Py_NewRef(Py_True);
        }
    }
    return PyErr_Format(PyExc_ValueError, "no step is called %s", name);
}

PyMethodDef gw_optim_methods[] = {
    {"sgd_step", sgd_step, METH_VARARGS,
     "sgd_step(param, grad, buffer, first, lr, momentum, dampening, weight_decay, nesterov, "
     "maximize): False, with nothing done, unless all are contiguous and of one wide dtype."},
    {"adam_step", adam_step, METH_VARARGS,
     "adam_step(param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, step, lr, beta1, beta2, eps, "
     "weight_decay, maximize, decoupled): as sgd_step."},
    {"rule_step", rule_step, METH_VARARGS,
     "rule_step(name, param, grad, state0, state1, state2, numbers, weight_decay, maximize): a "
     "step of the optimiser of that name; otherwise as sgd_step."},
    {NULL, NULL, 0, NULL},
};
