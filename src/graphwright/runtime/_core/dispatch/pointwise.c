/* Pointwise: the eager kernel of an elementwise op. Plain calls (tensors of one supported dtype,
 * or of several where the op promotes, and Python numbers) run here, on our own kernels of the
 * ufunc's name or on NumPy's loops; all others go to `fallback`. */
#include "half.h"
#include "loops.h"
#include "native.h"
#include "promote.h"

#include <numpy/ufuncobject.h>
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyTypeObject *cls;      /* of results */
    PyObject *source;       /* a ufunc, or the name of kernels of our own */
    PyObject *fallback;
    PyObject *rest;         /* what the arguments after the operands have to be */
    uint32_t dtypes;        /* the codes that are computed here, as bits */
    uint32_t tensors;       /* the operands that may not be numbers, as bits */
    uint32_t numbers;       /* those that have to be numbers */
    uint32_t held;          /* those that the dtype has to hold where they are numbers */
    uint32_t exact;         /* those that are not rounded to a half type: see rounds() */
    int operands;
    bool to_bool;           /* the result is bool */
    bool masked;            /* operand 0 is bool and takes no part in the promotion */
    bool costly;
    bool inplace;           /* writes operand 0 and returns it */
    bool promotes;          /* takes operands of several dtypes */
    bool to_float;          /* promotes; bool and integers become the default dtype */
    bool powers;            /* by tensors */
    GwRow rows[GW_NUM_DTYPES];      /* our own kernels, which come before a ufunc's */
    GwRow mixed[GW_NUM_DTYPES];     /* of so many tensors with numbers behind them, or NULL */
    int mixed_tensors;
    GwLoopRef loops[GW_NUM_DTYPES];
} Pointwise;

/* ---- loops ---- */

static bool ufunc_loop(const PyUFuncObject *ufunc, int in, int out, GwLoopRef *found) {
    char from = (char)gw_dtypes[in].descr->type_num, to = (char)gw_dtypes[out].descr->type_num;
    for (int i = 0; i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + i * ufunc->nargs;
        bool fits = types[ufunc->nargs - 1] == to;
        for (int k = 0; k < ufunc->nargs - 1; k++) {
            fits = fits && types[k] == from;
        }
        if (fits && ufunc->functions[i] != NULL) {
            *found = (GwLoopRef){(GwLoop)ufunc->functions[i], ufunc->data[i]};
            return true;
        }
    }
    return false;
}

/* Half types are computed in float32, except where their bits are only moved, or by a kernel of
 * their own, if no operand is of another dtype or a number: only what is moved is rounded to them. */
static int computed_in(const Pointwise *p, int dtype, bool others) {
    bool own = !others && (p->masked || p->rows[dtype] != NULL);
    return gw_is_half(dtype) && !own ? GW_FLOAT32 : dtype;
}

/* The kernel of tensors and numbers, which are float32 for half types; returns their dtype. */
static int plan_mixed(const Pointwise *p, int dtype, GwPlan *plan) {
    int numbers = gw_is_half(dtype) ? GW_FLOAT32 : dtype;
    plan->count = plan->rows.count = p->operands + 1;
    plan->rows.trouble = 0;
    plan->rows.row = p->mixed[dtype];
    plan->rows.numbers = p->operands - p->mixed_tensors;
    for (int i = 0; i < plan->count; i++) {
        bool number = i >= p->mixed_tensors && i < p->operands;
        plan->rows.width[i] = gw_dtypes[number ? numbers : dtype].itemsize;
    }
    plan->loop = (GwLoopRef){gw_run_rows, &plan->rows};
    return numbers;
}

static bool find_loop(Pointwise *p, int dtype, GwPlan *plan) {
    plan->count = p->operands + 1;
    plan->rows.trouble = 0;
    if (p->rows[dtype] != NULL) {
        plan->rows.row = p->rows[dtype];
        plan->rows.count = plan->count;
        plan->rows.numbers = 0;
        for (int i = 0; i < plan->count; i++) {
            bool mask = (p->masked && i == 0) || (p->to_bool && i == p->operands);
            plan->rows.width[i] = mask ? 1 : gw_dtypes[dtype].itemsize;
        }
        plan->loop = (GwLoopRef){gw_run_rows, &plan->rows};
        return true;
    }
    GwLoopRef *loop = &p->loops[dtype];
    const PyUFuncObject *ufunc = (const PyUFuncObject *)p->source;
    if (loop->loop == NULL
        && (PyUnicode_Check(p->source) || ufunc->nargs != plan->count
            || !ufunc_loop(ufunc, dtype, p->to_bool ? GW_BOOL : dtype, loop))) {
        return false;
    }
    plan->loop = p->powers ? gw_power_loop(dtype, loop) : *loop;
    return true;
}

/* Runs the plan; false with an exception where the kernel refuses the numbers. */
static bool run_plan(GwPlan *plan) {
    gw_plan_run(plan);
    if (plan->rows.trouble != 0) {
        PyErr_SetString(PyExc_RuntimeError, "ZeroDivisionError");
        return false;
    }
    return true;
}

/* ---- operands ---- */

/* Whether an operand that is not of the half type of the result is rounded to it first, as all are
 * but exact ones: numbers, and tensors without dims that are not the first operand. */
static bool rounds(const Pointwise *p, int i, const GwTensor *t) {
    return (p->exact >> i & 1) == 0 || (t != NULL && (i == 0 || t->ndim > 0));
}

/* Whether a half type has all values of the dtype. */
static bool fits_half(int dtype) { return gw_dtypes[dtype].itemsize == 1; }

typedef struct {
    GwTensor *tensors[GW_MAX_OPERANDS];
    int slots[GW_MAX_OPERANDS];     /* which operand each tensor is */
    int count;
    int dtype;                      /* of the tensors or promoted; -1 if there is none */
    bool mixed;                     /* some are of another dtype */
} Operands;

static bool is_number(PyTypeObject *type) {
    return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type;
}

/* Whether operand `i` takes part in the promotion. */
static bool is_value(const Pointwise *p, int i) { return !p->masked || i > 0; }

/* Whether bool operands are promoted; subtraction, for one, refuses them. */
static bool takes_truths(const Pointwise *p) {
    return p->to_float || (p->dtypes >> GW_BOOL & 1) != 0;
}

/* Sets the promoted dtype of operands that are not all of one; false where the op does not promote
 * them. */
static bool promote(const Pointwise *p, PyObject *const *args, Operands *found) {
    GwPromotion promotion = GW_NO_PROMOTION;
    bool truths = takes_truths(p);
    for (int i = p->masked; p->promotes && i < p->operands; i++) {
        if (gw_is_tensor(args[i])) {
            const GwTensor *t = (const GwTensor *)args[i];
            if (!gw_can_promote(t->dtype) || (t->dtype == GW_BOOL && !truths)) {
                return false;
            }
            gw_promote_tensor(&promotion, t);
        } else if (PyBool_Check(args[i]) && !truths) {
            return false;
        } else {
            gw_promote_number(&promotion, args[i]);
        }
    }
    int dtype = gw_promoted(&promotion);
    found->mixed = true;
    found->dtype = p->to_float && dtype >= 0 && dtype < GW_FLOAT16 ? gw_default_dtype() : dtype;
    for (int i = 0; found->dtype >= 0 && gw_is_half(found->dtype) && i < found->count; i++) {
        const GwTensor *t = found->tensors[i];
        if (t->ndim > 0 && t->dtype != found->dtype && !fits_half(t->dtype)) {
            return false;
        }
    }
    return found->dtype >= 0 && (p->dtypes >> found->dtype & 1) != 0;
}

/* Whether a number leaves tensors of `dtype` what they are. */
static bool leaves_dtype(const Pointwise *p, PyTypeObject *number, int dtype) {
    if (number == &PyBool_Type) {
        return takes_truths(p);
    }
    return dtype >= GW_FLOAT16 || (number == &PyLong_Type && dtype != GW_BOOL);
}

/* Whether the operands are of one dtype that the op has, which the numbers leave alone. */
static bool of_one_dtype(const Pointwise *p, PyObject *const *args, const Operands *found) {
    bool one = !found->mixed && found->dtype >= 0 && (p->dtypes >> found->dtype & 1) != 0;
    for (int i = 0; one && found->count < p->operands && i < p->operands; i++) {
        PyTypeObject *type = Py_TYPE(args[i]);
        one = !is_number(type) || leaves_dtype(p, type, found->dtype);
    }
    return one;
}

/* Collects the tensors; false where the call is not a plain one. */
static bool collect(const Pointwise *p, PyObject *const *args, Operands *found) {
    found->count = 0;
    found->dtype = -1;
    found->mixed = false;
    for (int i = 0; i < p->operands; i++) {
        PyTypeObject *type = Py_TYPE(args[i]);
        if (is_number(type)) {
            if (!is_value(p, i) || (p->tensors >> i & 1) != 0) {
                return false;
            }
            continue;
        }
        if ((p->numbers >> i & 1) != 0 || (type != p->cls && !gw_is_tensor(args[i]))) {
            return false;
        }
        GwTensor *t = (GwTensor *)args[i];
        if (!gw_has_elements(t)) {
            return false;
        }
        if (!is_value(p, i)) {
            if (t->dtype != GW_BOOL) {
                return false;
            }
        } else if (found->dtype < 0) {
            found->dtype = t->dtype;
        } else if (found->dtype != t->dtype) {
            found->mixed = true;
        }
        found->slots[found->count] = i;
        found->tensors[found->count++] = t;
    }
    return of_one_dtype(p, args, found) || (found->count > 0 && promote(p, args, found));
}

/* Writes a Python number as an element; false where it would change the dtype of the result. */
static bool write_number(PyObject *number, int dtype, char *to) {
    bool floating = dtype == GW_FLOAT32 || dtype == GW_FLOAT64 || gw_is_half(dtype);
    if (PyFloat_CheckExact(number)) {
        double value = PyFloat_AS_DOUBLE(number);
        if (dtype == GW_FLOAT16) {
            *(uint16_t *)to = gw_to_float16((float)value);
        } else if (dtype == GW_BFLOAT16) {
            *(uint16_t *)to = gw_to_bfloat16((float)value);
        } else if (dtype == GW_FLOAT32) {
            *(float *)to = (float)value;
        } else if (dtype == GW_FLOAT64) {
            *(double *)to = value;
        }
        return floating;
    }
    int overflow;
    int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow != 0 || (dtype == GW_BOOL && !PyBool_Check(number))) {
        return false;
    }
    switch (dtype) {
        case GW_BOOL: case GW_UINT8: case GW_INT8: *(int8_t *)to = (int8_t)value; return true;
        case GW_INT16: *(int16_t *)to = (int16_t)value; return true;
        case GW_INT32: *(int32_t *)to = (int32_t)value; return true;
        case GW_INT64: *(int64_t *)to = value; return true;
        case GW_FLOAT16: *(uint16_t *)to = gw_to_float16((float)value); return true;
        case GW_BFLOAT16: *(uint16_t *)to = gw_to_bfloat16((float)value); return true;
        case GW_FLOAT32: *(float *)to = (float)value; return true;
        case GW_FLOAT64: *(double *)to = (double)value; return true;
        default: return false;
    }
}

/* Converts one element. */
static void convert_one(const char *from, int dtype, char *to, int wanted) {
    char *both[] = {(char *)from, to};
    npy_intp one = 1, steps[] = {gw_dtypes[dtype].itemsize, gw_dtypes[wanted].itemsize};
    gw_convert_loop(dtype, wanted)(both, &one, steps, NULL);
}

/* Rounds an element of `dtype` to `half` and writes it as one of `computed`. */
static void write_rounded(const char *from, int dtype, int half, char *to, int computed) {
    uint16_t rounded;
    convert_one(from, dtype, (char *)&rounded, half);
    convert_one((char *)&rounded, half, to, computed);
}

/* Lets operand `i` of the plan be its scalar, an element of `dtype`. */
static void plan_scalar(GwPlan *plan, int i, int dtype) {
    plan->data[i] = plan->scalars[i];
    plan->width[i] = gw_dtypes[dtype].itemsize;
    plan->convert[i] = NULL;
    for (int d = 0; d < GW_MAX_DIMS; d++) {
        plan->steps[i][d] = 0;
    }
}

/* Sets the numbers of the plan for a result of `dtype`, as elements of `computed`. */
static bool plan_numbers(const Pointwise *p, PyObject *const *args, int dtype, int computed,
                         GwPlan *plan) {
    for (int i = 0; i < p->operands; i++) {
        if (gw_is_tensor(args[i])) {
            continue;
        }
        if (!write_number(args[i], computed, plan->scalars[i])) {
            return false;
        }
        if (dtype != computed && gw_is_half(dtype) && rounds(p, i, NULL)) {
            write_rounded(plan->scalars[i], computed, dtype, plan->scalars[i], computed);
        }
        plan_scalar(plan, i, computed);
    }
    return true;
}

/* ---- the run ---- */

static bool all_contiguous(const Operands *found, const GwTensor *out) {
    for (int i = 0; i < found->count; i++) {
        const GwTensor *t = found->tensors[i];
        if ((t->flags & GW_CONTIGUOUS) == 0 || t->numel != out->numel || t->ndim != out->ndim) {
            return false;
        }
    }
    return (out->flags & GW_CONTIGUOUS) != 0;
}

/* Sets the tensors and the output of the plan, with the conversions to and from `computed`. */
static void plan_tensors(const Pointwise *p, const Operands *found, const GwTensor *out,
                         int computed, GwPlan *plan) {
    int last = p->operands;
    bool flat = all_contiguous(found, out), converts = false;
    for (int i = 0; i <= found->count; i++) {
        const GwTensor *t = i < found->count ? found->tensors[i] : out;
        int at = i < found->count ? found->slots[i] : last;
        if (at != last && found->mixed && gw_is_half(found->dtype) && t->dtype != found->dtype
            && !fits_half(t->dtype) && rounds(p, at, t)) {
            write_rounded(t->data, t->dtype, found->dtype, plan->scalars[at], computed);
            plan_scalar(plan, at, computed);
            continue;
        }
        if (flat) {
            plan->data[at] = t->data;
            plan->steps[at][0] = gw_itemsize(t);
        } else {
            gw_plan_tensor(plan, at, t, out->ndim, out->sizes);
        }
        bool mask = (p->masked && at == 0) || (p->to_bool && at == last);
        bool convert = !mask && t->dtype != computed;
        converts = converts || convert;
        plan->convert[at] = !convert ? NULL
                            : at == last ? gw_convert_loop(computed, t->dtype)
                                         : gw_convert_loop(t->dtype, computed);
        plan->width[at] = mask ? 1 : gw_dtypes[computed].itemsize;
    }
    if (flat) {
        plan->ndim = 1;
        plan->numel = plan->sizes[0] = out->numel;
        plan->buffered = converts;
    } else {
        gw_plan_finish(plan, out->ndim, out->sizes);
        if (plan->costly && plan->loop.loop != gw_run_rows) {
            gw_plan_gather(plan);
        }
    }
}

/* Whether the dtype holds the numbers that it has to hold. Chosen ones are cast to half types by
 * way of float64. */
static bool holds_numbers(const Pointwise *p, PyObject *const *args, int dtype) {
    char bytes[16];
    bool held = true;
    dtype = p->masked && gw_is_half(dtype) ? GW_FLOAT64 : dtype;
    for (int i = 0; held && i < p->operands; i++) {
        if ((p->held >> i & 1) != 0 && !gw_is_tensor(args[i])) {
            held = gw_element(args[i], dtype, bytes);
        }
    }
    return held;
}

static bool prepare(Pointwise *p, PyObject *const *args, Operands *found, int *computed,
                    GwPlan *plan) {
    if (!collect(p, args, found)) {
        return false;
    }
    bool numbers = found->count != p->operands;
    if (numbers && p->held != 0 && !holds_numbers(p, args, found->dtype)) {
        return false;
    }
    plan->costly = p->costly;
    if (numbers && !found->mixed && p->mixed[found->dtype] != NULL
        && found->count == p->mixed_tensors && found->slots[found->count - 1] == found->count - 1) {
        *computed = found->dtype;
        return plan_numbers(p, args, found->dtype, plan_mixed(p, found->dtype, plan), plan);
    }
    *computed = computed_in(p, found->dtype, found->mixed || (numbers && !p->masked));
    return find_loop(p, *computed, plan)
           && (!numbers || plan_numbers(p, args, found->dtype, *computed, plan));
}

/* The result of a plain call; NULL without an exception where it is not one. */
static GwTensor *compute(Pointwise *p, PyObject *const *args) {
    GwPlan plan;
    Operands found;
    int computed;
    if (!prepare(p, args, &found, &computed, &plan)) {
        return NULL;
    }
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS];
    int ndim = gw_broadcast(found.count, found.tensors, sizes);
    if (ndim < 0) {
        return NULL;
    }
    bool numbers = (p->operands == 2 || p->masked)
                   && found.count + __builtin_popcount(p->numbers) < p->operands;
    bool strided = gw_result_strides(found.count, found.tensors, numbers, ndim, sizes, strides);
    GwTensor *out = gw_tensor_empty(p->cls, p->to_bool ? GW_BOOL : found.dtype, ndim, sizes,
                                    strided ? strides : NULL);
    if (out != NULL) {
        plan_tensors(p, &found, out, computed, &plan);
        if (!run_plan(&plan)) {
            Py_CLEAR(out);
        }
    }
    return out;
}

/* Writes `out`, or operand 0 where that is NULL. NULL without an exception where the call is not a
 * plain one, or what is written would be another tensor's elements or of another dtype. */
static GwTensor *compute_into(Pointwise *p, PyObject *const *args, GwTensor *given) {
    GwPlan plan;
    Operands found;
    int computed;
    int64_t sizes[GW_MAX_DIMS];
    if ((given == NULL && !gw_is_tensor(args[0])) || !prepare(p, args, &found, &computed, &plan)) {
        return NULL;
    }
    GwTensor *out = given == NULL ? (GwTensor *)args[0] : given;
    int ndim = gw_broadcast(found.count, found.tensors, sizes);
    int result = p->to_bool ? GW_BOOL : found.dtype;
    if (ndim != out->ndim || out->storage->readonly || gw_repeats_elements(out)
        || (p->to_bool || given != NULL ? result != out->dtype
                                        : gw_category(result) > gw_category(out->dtype))
        || memcmp(sizes, out->sizes, (size_t)ndim * sizeof(int64_t)) != 0) {
        return NULL;
    }
    for (int i = given == NULL; i < found.count; i++) {
        if (gw_may_clobber(out, found.tensors[i])) {
            return NULL;
        }
    }
    plan_tensors(p, &found, out, computed, &plan);
    bool done = run_plan(&plan);
    out->storage->version++;        /* after the write: a pack made meanwhile is of the older one */
    return done ? (GwTensor *)Py_NewRef(out) : NULL;
}

static bool is_same(PyObject *a, PyObject *b) {
    return a == b || (PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b)
                      && PyUnicode_Compare(a, b) == 0);
}

/* Whether the arguments after the operands are what they have to be. */
static bool is_plain(const Pointwise *p, PyObject *const *args, Py_ssize_t nargs) {
    Py_ssize_t rest = PyTuple_GET_SIZE(p->rest);
    bool plain = nargs == p->operands + rest;
    for (Py_ssize_t i = 0; plain && i < rest; i++) {
        plain = is_same(args[p->operands + i], PyTuple_GET_ITEM(p->rest, i));
    }
    return plain;
}

PyObject *gw_pointwise_out(PyObject *kernel, PyObject *const *args, Py_ssize_t nargs,
                           GwTensor *out) {
    Pointwise *p = (Pointwise *)kernel;
    if (Py_TYPE(kernel) != &GwPointwise_Type || p->inplace || !is_plain(p, args, nargs)) {
        return NULL;
    }
    return (PyObject *)compute_into(p, args, out);
}

static PyObject *pointwise_call(PyObject *self, PyObject *const *args, size_t nargsf,
                                PyObject *kwnames) {
    Pointwise *p = (Pointwise *)self;
    if (kwnames == NULL && is_plain(p, args, PyVectorcall_NARGS(nargsf))) {
        GwTensor *out = p->inplace ? compute_into(p, args, NULL) : compute(p, args);
        if (out != NULL || PyErr_Occurred()) {
            return (PyObject *)out;
        }
    }
    return PyObject_Vectorcall(p->fallback, args, nargsf, kwnames);
}

/* ---- the type ---- */

bool gw_dtype_bits(PyObject *sequence, uint32_t *bits) {
    Py_ssize_t n = PySequence_Size(sequence);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        int code = item == NULL ? -1 : gw_dtype_code(item);
        Py_XDECREF(item);
        if (code < 0) {
            return false;
        }
        *bits |= (uint32_t)1 << code;
    }
    return n >= 0;
}

static PyObject *pointwise_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"cls", "source", "operands", "dtypes", "fallback", "rest", "to_bool",
                            "masked", "costly", "inplace", "tensors", "numbers", "promotes",
                            "to_float", "held", "exact", "powers", NULL};
    PyObject *cls, *source, *dtypes, *fallback, *rest = NULL;
    int operands, to_bool = 0, masked = 0, costly = 0, inplace = 0, tensors = 0, numbers = 0;
    int promotes = 0, to_float = 0, held = 0, exact = -1, powers = 0;
    uint32_t bits = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOiOO|O!ppppiippiip:Pointwise", names, &cls,
                                     &source, &operands, &dtypes, &fallback, &PyTuple_Type, &rest,
                                     &to_bool, &masked, &costly, &inplace, &tensors, &numbers,
                                     &promotes, &to_float, &held, &exact, &powers)
        || gw_tensor_class(cls) == NULL || !gw_dtype_bits(dtypes, &bits)) {
        return NULL;
    }
    if (operands < 1 || operands >= GW_MAX_OPERANDS) {
        return PyErr_Format(PyExc_ValueError, "an elementwise kernel takes 1 to %d operands",
                            GW_MAX_OPERANDS - 1);
    }
    if (!PyUnicode_Check(source) && !PyObject_TypeCheck(source, &PyUFunc_Type)) {
        return PyErr_Format(PyExc_TypeError, "expected a ufunc or a name, got %R", source);
    }
    Pointwise *p = (Pointwise *)type->tp_alloc(type, 0);
    if (p == NULL) {
        return NULL;
    }
    p->call = pointwise_call;
    p->cls = (PyTypeObject *)Py_NewRef(cls);
    p->source = Py_NewRef(source);
    p->fallback = Py_NewRef(fallback);
    p->rest = rest != NULL ? Py_NewRef(rest) : PyTuple_New(0);
    p->dtypes = bits;
    p->tensors = (uint32_t)tensors;
    p->numbers = (uint32_t)numbers;
    p->held = (uint32_t)held;
    p->exact = (uint32_t)(exact >= 0 ? exact : numbers);
    p->operands = operands;
    p->to_bool = to_bool != 0;
    p->masked = masked != 0;
    p->costly = costly != 0;
    p->inplace = inplace != 0;
    p->promotes = promotes != 0 || to_float != 0;
    p->to_float = to_float != 0;
    p->powers = powers != 0;
    const char *name = PyUnicode_Check(source) ? PyUnicode_AsUTF8(source)
                                               : ((PyUFuncObject *)source)->name;
    if (name == NULL) {
        Py_DECREF(p);
        return NULL;
    }
    for (int d = 0; d < GW_NUM_DTYPES; d++) {
        p->rows[d] = gw_own_row(name, d);
    }
    for (int d = GW_FLOAT16; d <= GW_FLOAT64 && !p->to_bool && !p->masked; d++) {
        p->mixed[d] = gw_mixed_row(name, d, &p->mixed_tensors);
    }
    return (PyObject *)p;
}

static int pointwise_traverse(PyObject *self, visitproc visit, void *arg) {
    Pointwise *p = (Pointwise *)self;
    Py_VISIT(p->cls);
    Py_VISIT(p->source);
    Py_VISIT(p->fallback);
    Py_VISIT(p->rest);
    return 0;
}

static int pointwise_clear(PyObject *self) {
    Pointwise *p = (Pointwise *)self;
    Py_CLEAR(p->fallback);
    return 0;
}

static void pointwise_dealloc(PyObject *self) {
    Pointwise *p = (Pointwise *)self;
    PyObject_GC_UnTrack(self);
    Py_XDECREF(p->cls);
    Py_XDECREF(p->source);
    Py_XDECREF(p->fallback);
    Py_XDECREF(p->rest);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef pointwise_members[] = {
    {"fallback", T_OBJECT, offsetof(Pointwise, fallback), READONLY,
     "What runs where the call is not a plain one."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject GwPointwise_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.Pointwise",
    .tp_doc = "Pointwise(cls, source, operands, dtypes, fallback, rest=(), to_bool=False, "
              "masked=False, costly=False, inplace=False, tensors=0, numbers=0, promotes=False, "
              "to_float=False, held=0, exact=numbers, powers=False): an eager kernel whose plain calls run the loops of `source`, a "
              "ufunc or a name.",
    .tp_basicsize = sizeof(Pointwise),
    .tp_new = pointwise_new,
    .tp_dealloc = pointwise_dealloc,
    .tp_traverse = pointwise_traverse,
    .tp_clear = pointwise_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Pointwise, call),
    .tp_members = pointwise_members,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
};

int gw_pointwise_init(void) {
    import_umath1(-1);
    return 0;
}
