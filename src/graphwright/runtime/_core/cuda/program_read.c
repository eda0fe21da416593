/* The Python description of a program, read once. */
#include "program.h"
#include "half.h"

/* ---- numbers ---- */

bool gw_number_read(PyObject *object, GwNumber *number) {
    number->real = PyFloat_Check(object);
    if (number->real) {
        number->d = PyFloat_AS_DOUBLE(object);
        return true;
    }
    if (!PyLong_Check(object)) {
        PyErr_Format(PyExc_TypeError, "a number of a program is an int or a float, not %s",
                     Py_TYPE(object)->tp_name);
        return false;
    }
    number->i = PyLong_AsLongLong(object);
    return number->i != -1 || !PyErr_Occurred();
}

static bool fits(const GwArgType *type, int64_t value) {
    int bits = 8 * type->size;
    if (bits == 64) {
        return true;
    }
    return type->kind == GW_ARG_UINT ? value >= 0 && value < INT64_C(1) << bits
           : value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1);
}

static bool write_int(char *to, const GwArgType *type, const GwNumber *number) {
    if (number->real) {
        PyErr_Format(PyExc_TypeError, "a float is no value of a parameter of type %s", type->type);
        return false;
    }
    if (!fits(type, number->i)) {
        PyErr_Format(PyExc_OverflowError, "%lld does not fit a parameter of type %s",
                     (long long)number->i, type->type);
        return false;
    }
    switch (type->size) {                           /* little-endian: the low bytes */
        case 8: memcpy(to, &number->i, 8); break;
        case 4: memcpy(to, &number->i, 4); break;
        case 2: memcpy(to, &number->i, 2); break;
        default: memcpy(to, &number->i, 1); break;
    }
    return true;
}

bool gw_number_write(char *to, const GwArgType *type, const GwNumber *number) {
    if (type->kind == GW_ARG_INT || type->kind == GW_ARG_UINT) {
        return write_int(to, type, number);
    }
    double d = number->real ? number->d : (double)number->i;
    float f = (float)d;
    uint16_t half;
    switch (type->kind) {
        case GW_ARG_F64: memcpy(to, &d, sizeof d); return true;
        case GW_ARG_F32: memcpy(to, &f, sizeof f); return true;
        case GW_ARG_F16: half = gw_to_float16(f); memcpy(to, &half, sizeof half); return true;
        case GW_ARG_BF16: half = gw_to_bfloat16(f); memcpy(to, &half, sizeof half); return true;
        default:
            PyErr_SetString(PyExc_TypeError, "a number is no value of a pointer");
            return false;
    }
}

/* ---- operands ---- */

static bool in_range(long index, int count, const char *what) {
    if (index < 0 || index >= count) {
        PyErr_Format(PyExc_IndexError, "the program has no %s %ld", what, index);
        return false;
    }
    return true;
}

bool gw_count_read(PyObject *given, int scalars, GwOperand *o) {
    const char *name;
    Py_ssize_t index;
    if (!PyTuple_Check(given)) {
        *o = (GwOperand){GW_FROM_CONSTANT, 0, PyLong_AsLongLong(given)};
        return o->value != -1 || !PyErr_Occurred();
    }
    if (!PyArg_ParseTuple(given, "sn:a reference of a program", &name, &index)) {
        return false;
    }
    if (strcmp(name, "scalar") != 0) {
        PyErr_SetString(PyExc_TypeError, "sizes are ints or scalars");
        return false;
    }
    *o = (GwOperand){GW_FROM_SCALAR, (int)index, 0};
    return in_range((long)index, scalars, "scalar");
}

/* The bytes into the arena are an int or a scalar. */
static bool read_arena(PyObject *bytes, int scalars, GwOperand *o) {
    if (!gw_count_read(bytes, scalars, o)) {
        return false;
    }
    o->index = o->source == GW_FROM_SCALAR ? o->index : -1;
    o->source = GW_FROM_ARENA;
    return true;
}

/* ("buffer", i[, bytes]), ("arena", bytes), ("word",), ("scalar", i). */
static bool read_reference(const GwCudaProgram *p, PyObject *given, int scalars, GwOperand *o) {
    const char *name;
    PyObject *first = NULL;
    long long offset = 0;
    if (!PyArg_ParseTuple(given, "s|OL:a reference of a program", &name, &first, &offset)) {
        return false;
    }
    if (strcmp(name, "word") == 0 && first == NULL) {
        *o = (GwOperand){GW_FROM_WORD, 0, 0};
        return true;
    }
    if (strcmp(name, "arena") == 0 && first != NULL) {
        return read_arena(first, scalars, o);
    }
    Py_ssize_t index = first == NULL ? -1 : PyLong_AsSsize_t(first);
    if (index == -1 && PyErr_Occurred()) {
        return false;
    }
    *o = (GwOperand){GW_FROM_BUFFER, (int)index, offset};
    if (strcmp(name, "buffer") == 0) {
        return in_range((long)index, p->buffers, "buffer");
    }
    if (strcmp(name, "scalar") == 0) {
        o->source = GW_FROM_SCALAR;
        return in_range((long)index, scalars, "scalar");
    }
    PyErr_Format(PyExc_ValueError, "a program has no kind of operand '%s'", name);
    return false;
}

static const char *const derivations[] = {"add", "sub", "mul", "floordiv", "ceildiv", "min", "max"};

static bool read_derived(GwCudaProgram *p, PyObject *derived) {
    PyObject *rules = PySequence_Fast(derived, "derived scalars must be a sequence");
    if (rules == NULL) {
        return false;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(rules);
    p->rules = PyMem_Calloc((size_t)n + 1, sizeof *p->rules);
    bool good = p->rules != NULL;
    for (Py_ssize_t i = 0; good && i < n; i++) {
        const char *name;
        PyObject *a, *b;
        GwDerived *rule = &p->rules[i];
        good = PyArg_ParseTuple(PySequence_Fast_GET_ITEM(rules, i), "sOO:a derived scalar", &name,
                                &a, &b)
               && gw_count_read(a, p->scalars + (int)i, &rule->a)
               && gw_count_read(b, p->scalars + (int)i, &rule->b);
        int op = 0;
        while (good && op < GW_NUM_DERIVATIONS && strcmp(derivations[op], name) != 0) {
            op++;
        }
        if (good && op == GW_NUM_DERIVATIONS) {
            PyErr_Format(PyExc_ValueError, "scalars are not derived by '%s'", name);
            good = false;
        }
        rule->op = (GwDerivation)op;
        p->derived = (int)i + 1;
    }
    Py_DECREF(rules);
    return good;
}

/* ---- launches ---- */

static bool add_patch(GwCudaProgram *p, const GwArgType *type, const GwOperand *from,
                      uint32_t at) {
    GwPatch *grown = PyMem_Realloc(p->patch, (size_t)(p->patches + 1) * sizeof *grown);
    if (grown == NULL) {
        PyErr_NoMemory();
        return false;
    }
    p->patch = grown;
    p->patch[p->patches++] = (GwPatch){type, *from, at};
    return true;
}

static bool read_argument(GwCudaProgram *p, const GwArgType *type, PyObject *given, uint32_t at) {
    bool is_pointer = type->kind == GW_ARG_POINTER;
    if (given == Py_None && is_pointer) {
        return true;                            /* null */
    }
    if (!PyTuple_Check(given)) {
        GwNumber number;
        return gw_number_read(given, &number) && gw_number_write(p->bytes + at, type, &number);
    }
    GwOperand from;
    if (!read_reference(p, given, p->scalars + p->derived, &from)) {
        return false;
    }
    if (is_pointer == (from.source == GW_FROM_SCALAR)) {
        PyErr_Format(PyExc_TypeError, "a parameter of type %s cannot have %s", type->type,
                     is_pointer ? "a scalar" : "an address");
        return false;
    }
    return add_patch(p, type, &from, at);
}

/* Room for the parameters of one more kernel. */
static bool add_room(GwCudaProgram *p, const GwCudaKernel *k, uint32_t *start) {
    *start = (p->size + 15) / 16 * 16;
    char *bytes = PyMem_Realloc(p->bytes, *start + (size_t)k->bytes + 16);
    if (bytes != NULL) {
        p->bytes = bytes;
    }
    uint32_t *places = PyMem_Realloc(
        p->places, (p->parameters + (size_t)k->count + 1) * sizeof *places);
    if (places != NULL) {
        p->places = places;
    }
    if (bytes == NULL || places == NULL) {
        PyErr_NoMemory();
        return false;
    }
    memset(p->bytes + p->size, 0, *start + (size_t)k->bytes - p->size);
    for (int i = 0; i < k->count; i++) {
        p->places[p->parameters + (uint32_t)i] = *start + k->offsets[i];
    }
    p->size = *start + (uint32_t)k->bytes;
    p->parameters += (uint32_t)k->count;
    return true;
}

static bool read_arguments(GwCudaProgram *p, const GwCudaKernel *k, PyObject *args,
                           uint32_t start) {
    Py_ssize_t given = PySequence_Fast_GET_SIZE(args), used = 0;
    for (int i = 0; i < k->count; i++) {
        if (k->types[i]->kind == GW_ARG_SCRATCH) {
            continue;
        }
        if (used < given && !read_argument(p, k->types[i], PySequence_Fast_GET_ITEM(args, used),
                                           start + k->offsets[i])) {
            return false;
        }
        used++;
    }
    if (used != given) {
        PyErr_Format(PyExc_TypeError, "the kernel %s takes %zd arguments, but %zd are given",
                     k->name, used, given);
        return false;
    }
    return true;
}

static bool read_launch(GwCudaProgram *p, PyObject *given, GwLaunch *launch) {
    PyObject *kernel, *grid[3], *args;
    if (!PyArg_ParseTuple(given, "O!(OOO)O:a launch", &GwCudaKernel_Type, &kernel, &grid[0],
                          &grid[1], &grid[2], &args)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (!gw_count_read(grid[i], p->scalars + p->derived, &launch->grid[i])) {
            return false;
        }
        launch->sized = launch->sized || launch->grid[i].source == GW_FROM_SCALAR;
    }
    uint32_t start;
    launch->first = p->parameters;
    GwCudaKernel *k = (GwCudaKernel *)kernel;
    PyObject *items = add_room(p, k, &start)
                      ? PySequence_Fast(args, "a launch's arguments must be a sequence") : NULL;
    bool good = items != NULL && read_arguments(p, k, items, start);
    Py_XDECREF(items);
    if (good) {
        launch->kernel = (GwCudaKernel *)Py_NewRef(kernel);
        p->launches++;
    }
    return good;
}

bool gw_program_read(GwCudaProgram *p, PyObject *launches, PyObject *derived, PyObject *arena) {
    if (!read_derived(p, derived) || !gw_count_read(arena, p->scalars + p->derived, &p->arena)) {
        return false;
    }
    PyObject *items = PySequence_Fast(launches, "launches must be a sequence");
    if (items == NULL) {
        return false;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(items);
    p->launch = PyMem_Calloc((size_t)n + 1, sizeof *p->launch);
    bool good = p->launch != NULL;
    for (Py_ssize_t i = 0; good && i < n; i++) {
        good = read_launch(p, PySequence_Fast_GET_ITEM(items, i), &p->launch[i]);
    }
    Py_DECREF(items);
    return good;
}

void gw_program_clear(GwCudaProgram *p) {
    for (int i = 0; i < p->launches; i++) {
        Py_DECREF(p->launch[i].kernel);
    }
    PyMem_Free(p->launch);
    PyMem_Free(p->rules);
    PyMem_Free(p->patch);
    PyMem_Free(p->bytes);
    PyMem_Free(p->places);
    PyMem_RawFree(p->own.bytes);
}
