/* Relations between sizes, evaluated in C without making Python ints. */
#include "eval_frame.h"

enum { STACK_LIMIT = 64 };

typedef enum {
    SP_CONST, SP_SYMBOL, SP_ADD, SP_MUL, SP_FLOORDIV, SP_MOD, SP_MIN, SP_MAX,
    SP_EQ, SP_NE, SP_LT, SP_LE, SP_GT, SP_GE
} ShapeOp;

static const char *const OPERATORS[] = {"const", "symbol", "+", "*", "//", "%", "min", "max",
                                        "==", "!=", "<", "<=", ">", ">="};
enum { N_OPERATORS = sizeof OPERATORS / sizeof *OPERATORS };

typedef struct {
    int32_t reg;
    int32_t place;      /* -1: the register holds an int, not a tensor */
} ShapeSymbol;

typedef struct {
    int64_t value;
    ShapeOp op;
} ShapeStep;

struct EfShapeProgram {
    int n_symbols, n_steps;
    ShapeSymbol *symbols;
    ShapeStep *steps;
};

void ef_shape_free(EfShapeProgram *program) {
    if (program != NULL) {
        PyMem_Free(program->symbols);
        PyMem_Free(program->steps);
        PyMem_Free(program);
    }
}

static int parse_symbols(EfShapeProgram *p, PyObject *symbols, Py_ssize_t n_registers) {
    p->n_symbols = (int)PyList_GET_SIZE(symbols);
    p->symbols = PyMem_Calloc((size_t)p->n_symbols + 1, sizeof *p->symbols);
    if (p->symbols == NULL) {
        return PyErr_NoMemory(), -1;
    }
    for (int i = 0; i < p->n_symbols; i++) {
        ShapeSymbol *s = &p->symbols[i];
        if (!PyArg_ParseTuple(PyList_GET_ITEM(symbols, i), "ii", &s->reg, &s->place)) {
            return -1;
        }
        if (s->reg < 0 || s->reg >= n_registers) {
            return PyErr_SetString(PyExc_ValueError, "no such register"), -1;
        }
    }
    return 0;
}

static int parse_step(EfShapeProgram *p, PyObject *item, ShapeStep *step, int *depth) {
    const char *name;
    PyObject *operand = NULL;
    if (!PyArg_ParseTuple(item, "s|O", &name, &operand)) {
        return -1;
    }
    int op = 0;
    while (op < N_OPERATORS && strcmp(name, OPERATORS[op]) != 0) {
        op++;
    }
    if (op == N_OPERATORS) {
        return PyErr_Format(PyExc_ValueError, "unknown operator %s", name), -1;
    }
    step->op = (ShapeOp)op;
    bool push = step->op <= SP_SYMBOL;
    step->value = push && operand != NULL ? PyLong_AsLongLong(operand) : 0;
    if (PyErr_Occurred()) {
        return -1;
    }
    if (step->op == SP_SYMBOL && (step->value < 0 || step->value >= p->n_symbols)) {
        return PyErr_SetString(PyExc_ValueError, "no such symbol"), -1;
    }
    *depth += push ? 1 : -1;
    if (*depth < 1 || *depth > STACK_LIMIT) {
        return PyErr_SetString(PyExc_ValueError, "unbalanced shape program"), -1;
    }
    return 0;
}

EfShapeProgram *ef_shape_program(PyObject *symbols, PyObject *code, Py_ssize_t n_registers) {
    if (!PyList_Check(symbols) || !PyList_Check(code)) {
        PyErr_SetString(PyExc_TypeError, "a relation needs lists of symbols and of steps");
        return NULL;
    }
    EfShapeProgram *p = PyMem_Calloc(1, sizeof *p);
    if (p == NULL || parse_symbols(p, symbols, n_registers) < 0) {
        ef_shape_free(p);
        return NULL;
    }
    p->n_steps = (int)PyList_GET_SIZE(code);
    p->steps = PyMem_Calloc((size_t)p->n_steps + 1, sizeof *p->steps);
    int depth = 0, failed = p->steps == NULL;
    for (int i = 0; !failed && i < p->n_steps; i++) {
        failed = parse_step(p, PyList_GET_ITEM(code, i), &p->steps[i], &depth) < 0;
    }
    if (!failed && depth != 1) {
        PyErr_SetString(PyExc_ValueError, "unbalanced shape program");
        failed = 1;
    }
    if (failed) {
        ef_shape_free(p);
        return NULL;
    }
    return p;
}

static bool symbol_value(const ShapeSymbol *s, PyObject *const *registers, int64_t *value) {
    PyObject *object = registers[s->reg];
    if (object == NULL) {
        return false;
    }
    if (s->place >= 0) {
        return ef_tensor_size(object, s->place, value);
    }
    int overflow;
    *value = PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : 0;
    return PyLong_CheckExact(object) && !overflow;
}

static bool divide(int64_t a, int64_t b, int64_t *quotient, int64_t *remainder) {
    if (b == 0 || (b == -1 && a == INT64_MIN)) {
        return false;
    }
    *quotient = a / b;
    *remainder = a % b;
    if (*remainder != 0 && (*remainder < 0) != (b < 0)) {
        *remainder += b;
        *quotient -= 1;
    }
    return true;
}

/* *a = *a op b; false where int64 does not hold the result. */
static bool apply(ShapeOp op, int64_t *a, int64_t b) {
    int64_t quotient, remainder;
    switch (op) {
    case SP_ADD: return !__builtin_add_overflow(*a, b, a);
    case SP_MUL: return !__builtin_mul_overflow(*a, b, a);
    case SP_FLOORDIV:
    case SP_MOD:
        if (!divide(*a, b, &quotient, &remainder)) {
            return false;
        }
        *a = op == SP_MOD ? remainder : quotient;
        return true;
    case SP_MIN: *a = *a < b ? *a : b; return true;
    case SP_MAX: *a = *a > b ? *a : b; return true;
    case SP_EQ: *a = *a == b; return true;
    case SP_NE: *a = *a != b; return true;
    case SP_LT: *a = *a < b; return true;
    case SP_LE: *a = *a <= b; return true;
    case SP_GT: *a = *a > b; return true;
    case SP_GE: *a = *a >= b; return true;
    case SP_CONST:
    case SP_SYMBOL: break;
    }
    return false;
}

bool ef_shape_holds(const EfShapeProgram *p, PyObject *const *registers) {
    int64_t stack[STACK_LIMIT];
    int depth = 0;
    for (int i = 0; i < p->n_steps; i++) {
        const ShapeStep *step = &p->steps[i];
        if (step->op == SP_CONST) {
            stack[depth++] = step->value;
        } else if (step->op == SP_SYMBOL) {
            if (!symbol_value(&p->symbols[step->value], registers, &stack[depth++])) {
                return false;
            }
        } else {
            depth--;
            if (!apply(step->op, &stack[depth - 1], stack[depth])) {
                return false;
            }
        }
    }
    return stack[0] != 0;
}

PyObject *ef_shape_values(const EfShapeProgram *p, PyObject *const *registers) {
    PyObject *values = PyTuple_New(p->n_symbols);
    for (int i = 0; values != NULL && i < p->n_symbols; i++) {
        int64_t value;
        PyObject *item = symbol_value(&p->symbols[i], registers, &value)
            ? PyLong_FromLongLong(value) : Py_NewRef(ef_missing);
        if (item == NULL) {
            Py_CLEAR(values);
        } else {
            PyTuple_SET_ITEM(values, i, item);
        }
    }
    return values;
}
