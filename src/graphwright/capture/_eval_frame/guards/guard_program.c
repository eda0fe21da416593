/* GuardProgram: guards parsed into instructions once, evaluated at every call. */
#include "eval_frame.h"

typedef enum {
    SHAPE_N,        /* (dst, int) */
    SHAPE_OBJ,      /* (dst, object) */
    SHAPE_BASE,     /* (dst, base) */
    SHAPE_BASE_N,   /* (dst, base, int) */
    SHAPE_BASE_OBJ, /* (dst, base, object) */
    SHAPE_MRO,      /* (dst, base, name, class or None) */
    SHAPE_CALL,     /* (dst, tuple of reg, function of numbers written in C, or key) */
    CHECK_REG,      /* (reg) */
    CHECK_TWO,      /* (reg, reg) */
    CHECK_N,        /* (reg, int) */
    CHECK_OBJ,      /* (reg, object) */
    CHECK_REF,      /* (reg, weak reference, or an object with the attribute `value`) */
    CHECK_STATE,    /* (int) */
    CHECK_GROUP,    /* (tuple of reg, int) */
    CHECK_SPEC,     /* see ef_tensor_spec */
    CHECK_SHAPES,   /* (symbols, steps) */
    LOAD_FIELDS     /* (base, kind, tuple of (name, dst, own, must miss)) */
} Format;

static const struct {
    const char *name;
    Format format;
} OPS[EF_NUM_OPS] = {
    [EF_SLOT] = {"slot", SHAPE_N},
    [EF_GLOBAL] = {"global", SHAPE_OBJ},
    [EF_FREE] = {"free", SHAPE_N},
    [EF_CONST] = {"const", SHAPE_OBJ},
    [EF_MODULE] = {"module", SHAPE_OBJ},
    [EF_FUNCTION_GLOBAL] = {"function_global", SHAPE_BASE_OBJ},
    [EF_ATTR] = {"attr", SHAPE_BASE_OBJ},
    [EF_INSTANCE_ATTR] = {"instance_attr", SHAPE_BASE_OBJ},
    [EF_CLASS_ATTR] = {"class_attr", SHAPE_BASE_OBJ},
    [EF_MRO_ATTR] = {"mro_attr", SHAPE_MRO},
    [EF_ITEM] = {"item", SHAPE_BASE_OBJ},
    [EF_TYPE] = {"type", SHAPE_BASE},
    [EF_CODE] = {"code", SHAPE_BASE},
    [EF_DEFAULT] = {"default", SHAPE_BASE_N},
    [EF_KWDEFAULT] = {"kwdefault", SHAPE_BASE_OBJ},
    [EF_CLOSURE] = {"closure", SHAPE_BASE_N},
    [EF_SIZE] = {"size", SHAPE_BASE_N},
    [EF_REGISTRATIONS] = {"registrations", SHAPE_N},
    [EF_CLASS] = {"class", SHAPE_OBJ},
    [EF_DICT_KEY] = {"dict_key", SHAPE_BASE_N},
    [EF_DICT_VALUE] = {"dict_value", SHAPE_BASE_N},
    [EF_LENGTH] = {"length", SHAPE_BASE},
    [EF_COMPUTE] = {"compute", SHAPE_CALL},
    [EF_CACHED] = {"cached", SHAPE_CALL},
    [EF_REFERENT] = {"referent", SHAPE_BASE},
    [EF_CONTEXT] = {"context", SHAPE_BASE_N},
    [EF_PLAIN] = {"plain", SHAPE_BASE},
    [EF_SUBCLASSES] = {"subclasses", SHAPE_BASE},
    [EF_CONTENTS] = {"contents", SHAPE_BASE},
    [EF_INSTANCE_DICT] = {"instance_dict", SHAPE_BASE},
    [EF_NEXT_ITEM] = {"next_item", SHAPE_BASE},
    [EF_AT_END] = {"at_end", SHAPE_BASE},
    [EF_CHECK_TYPE] = {"check type", CHECK_REF},
    [EF_CHECK_IS] = {"check is", CHECK_REF},
    [EF_CHECK_EQUALS] = {"check equals", CHECK_OBJ},
    [EF_CHECK_LENGTH] = {"check length", CHECK_N},
    [EF_CHECK_KEYS] = {"check keys", CHECK_OBJ},
    [EF_CHECK_MEMBERS] = {"check members", CHECK_OBJ},
    [EF_CHECK_MISSING] = {"check missing", CHECK_REG},
    [EF_CHECK_PRESENT] = {"check present", CHECK_REG},
    [EF_CHECK_NOT_NONE] = {"check not_none", CHECK_REG},
    [EF_CHECK_TRUTH] = {"check truth", CHECK_N},
    [EF_CHECK_TENSOR] = {"check tensor", CHECK_SPEC},
    [EF_CHECK_SAME] = {"check same", CHECK_TWO},
    [EF_CHECK_VERSION] = {"check version", CHECK_N},
    [EF_CHECK_DISTINCT] = {"check distinct", CHECK_GROUP},
    [EF_CHECK_NO_OVERLAP] = {"check no_overlap", CHECK_GROUP},
    [EF_CHECK_GRAD_MODE] = {"check grad_mode", CHECK_STATE},
    [EF_CHECK_MODES] = {"check modes", CHECK_STATE},
    [EF_CHECK_RELATION] = {"check relation", CHECK_SHAPES},
    [EF_FIELDS] = {"fields", LOAD_FIELDS},
};

static int find_op(PyObject *name) {
    for (int op = 0; op < EF_NUM_OPS; op++) {
        if (PyUnicode_CompareWithASCIIString(name, OPS[op].name) == 0) {
            return op;
        }
    }
    PyErr_Format(PyExc_ValueError, "unknown guard instruction %R", name);
    return -1;
}

static int as_register(const EfGuardProgram *p, PyObject *number, int32_t *out) {
    long value = PyLong_AsLong(number);
    if (value < 0 || value >= p->n_registers) {
        if (!PyErr_Occurred()) {
            PyErr_Format(PyExc_ValueError, "no register %ld", value);
        }
        return -1;
    }
    *out = (int32_t)value;
    return 0;
}

static int as_int64(PyObject *number, int64_t *out) {
    *out = PyLong_AsLongLong(number);
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Names are interned, so that lookups compare pointers; what the program compares or has as a
 * key is left as it is. */
static PyObject *operand(const EfInstruction *in, PyObject *value) {
    Py_INCREF(value);
    if (PyUnicode_CheckExact(value) && in->op != EF_CONST && in->op != EF_ITEM
        && in->op != EF_CHECK_EQUALS) {
        PyUnicode_InternInPlace(&value);
    }
    return value;
}

static int parse_reference(EfInstruction *in, PyObject *reference) {
    in->weak = PyWeakref_CheckRefExact(reference);
    in->obj = in->weak ? Py_NewRef(reference) : PyObject_GetAttrString(reference, "value");
    if (in->obj == NULL) {
        return -1;
    }
    PyObject *target = in->weak ? ef_referent(in->obj) : in->obj;
    in->n = in->op == EF_CHECK_TYPE && PyType_Check(target)
        && ef_is_generic((PyTypeObject *)target);
    return 0;
}

static int parse_group(EfGuardProgram *p, EfInstruction *in, PyObject *group) {
    if (!PyTuple_Check(group)) {
        return PyErr_SetString(PyExc_TypeError, "a group of registers is a tuple"), -1;
    }
    in->b = (int32_t)PyTuple_GET_SIZE(group);
    int32_t *registers = in->data = PyMem_Calloc((size_t)in->b + 1, sizeof *registers);
    if (registers == NULL) {
        return PyErr_NoMemory(), -1;
    }
    for (int32_t i = 0; i < in->b; i++) {
        if (as_register(p, PyTuple_GET_ITEM(group, i), &registers[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static const int OPERANDS[] = {
    [SHAPE_N] = 2, [SHAPE_OBJ] = 2, [SHAPE_BASE] = 2, [SHAPE_BASE_N] = 3, [SHAPE_BASE_OBJ] = 3,
    [SHAPE_MRO] = 4, [SHAPE_CALL] = 3, [CHECK_REG] = 1, [CHECK_TWO] = 2, [CHECK_N] = 2,
    [CHECK_OBJ] = 2, [CHECK_REF] = 2, [CHECK_STATE] = 1, [CHECK_GROUP] = 2, [CHECK_SPEC] = 9,
    [CHECK_SHAPES] = 2, [LOAD_FIELDS] = 3};

static int parse_load(EfGuardProgram *p, EfInstruction *in, Format format, PyObject *item) {
    PyObject **arg = &PyTuple_GET_ITEM(item, 1);
    if (as_register(p, arg[0], &in->a) < 0
        || (format >= SHAPE_BASE && format != SHAPE_CALL
            && as_register(p, arg[1], &in->b) < 0)) {
        return -1;
    }
    switch (format) {
    case SHAPE_N: return as_int64(arg[1], &in->n);
    case SHAPE_BASE_N: return as_int64(arg[2], &in->n);
    case SHAPE_OBJ:
        if (in->op == EF_CLASS && !PyWeakref_CheckRefExact(arg[1])) {
            return PyErr_SetString(PyExc_TypeError, "a weak reference is needed"), -1;
        }
        in->weak = in->op == EF_CLASS;
        in->obj = operand(in, arg[1]);
        return 0;
    case SHAPE_BASE_OBJ: in->obj = operand(in, arg[2]); return 0;
    case SHAPE_MRO:
        in->obj = operand(in, arg[2]);
        in->data = Py_NewRef(arg[3]);
        return 0;
    case SHAPE_CALL:
        in->obj = Py_NewRef(arg[2]);
        return parse_group(p, in, arg[1]);
    default: return 0;
    }
}

static int parse_check(EfGuardProgram *p, EfInstruction *in, Format format, PyObject *item) {
    PyObject **arg = &PyTuple_GET_ITEM(item, 1);
    if (format <= CHECK_REF && as_register(p, arg[0], &in->a) < 0) {
        return -1;
    }
    switch (format) {
    case CHECK_TWO: return as_register(p, arg[1], &in->b);
    case CHECK_N: return as_int64(arg[1], &in->n);
    case CHECK_OBJ: in->obj = operand(in, arg[1]); return 0;
    case CHECK_REF: return parse_reference(in, arg[1]);
    case CHECK_STATE: return ef_need_core() < 0 ? -1 : as_int64(arg[0], &in->n);
    case CHECK_GROUP:
        return parse_group(p, in, arg[0]) < 0 ? -1 : as_int64(arg[1], &in->n);
    case LOAD_FIELDS:
        if (as_register(p, arg[0], &in->b) < 0) {
            return -1;
        }
        in->data = ef_fields(arg[1], arg[2], p->n_registers);
        return in->data == NULL ? -1 : 0;
    case CHECK_SHAPES:
        in->data = ef_shape_program(arg[0], arg[1], p->n_registers);
        return in->data == NULL ? -1 : 0;
    default: return 0;
    }
}

static int parse_spec(EfGuardProgram *p, EfInstruction *in, PyObject *item) {
    PyObject *operands = PyTuple_GetSlice(item, 1, PyTuple_GET_SIZE(item));
    int failed = operands == NULL
        || as_register(p, PyTuple_GET_ITEM(operands, 0), &in->a) < 0
        || (in->data = ef_tensor_spec(operands)) == NULL;
    Py_XDECREF(operands);
    return failed ? -1 : 0;
}

static int parse_instruction(EfGuardProgram *p, EfInstruction *in, PyObject *item) {
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) < 1
        || !PyUnicode_Check(PyTuple_GET_ITEM(item, 0))) {
        return PyErr_SetString(PyExc_TypeError, "an instruction is a tuple with a name"), -1;
    }
    int op = find_op(PyTuple_GET_ITEM(item, 0));
    if (op < 0) {
        return -1;
    }
    in->op = (uint8_t)op;
    Format format = OPS[op].format;
    if (format != CHECK_SPEC && PyTuple_GET_SIZE(item) != OPERANDS[format] + 1) {
        return PyErr_Format(PyExc_ValueError, "wrong operands in %R", item), -1;
    }
    if (format == CHECK_SPEC) {
        return parse_spec(p, in, item);
    }
    if (op < EF_FIRST_CHECK) {
        return parse_load(p, in, format, item);
    }
    if ((op == EF_CHECK_KEYS && !PyTuple_Check(PyTuple_GET_ITEM(item, 2)))
        || (op == EF_CHECK_MEMBERS && !PyFrozenSet_Check(PyTuple_GET_ITEM(item, 2))
            && !PyTuple_Check(PyTuple_GET_ITEM(item, 2)))) {
        return PyErr_Format(PyExc_TypeError, "wrong operands in %R", item), -1;
    }
    return parse_check(p, in, format, item);
}

static int parse_program(EfGuardProgram *p, PyObject *instructions) {
    Py_ssize_t n = PyList_GET_SIZE(instructions), checks = 0;
    p->code = PyMem_Calloc((size_t)n + 1, sizeof *p->code);
    if (p->code == NULL) {
        return PyErr_NoMemory(), -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        EfInstruction *in = &p->code[i];
        p->n_code = (int32_t)i + 1;
        in->op = EF_SLOT;
        if (parse_instruction(p, in, PyList_GET_ITEM(instructions, i)) < 0) {
            return -1;
        }
        checks += in->op >= EF_FIRST_CHECK;
        if (in->op == EF_SLOT && (in->n < 0 || in->n >= p->n_slots)) {
            return PyErr_SetString(PyExc_ValueError, "no such argument slot"), -1;
        }
    }
    if (p->plain == NULL && checks != PyList_GET_SIZE(p->guards)) {
        return PyErr_SetString(PyExc_ValueError, "one guard is needed for each check"), -1;
    }
    return 0;
}

static int parse_inputs(EfGuardProgram *p, PyObject *inputs) {
    p->n_inputs = (int32_t)PyList_GET_SIZE(inputs);
    p->inputs = PyMem_Calloc((size_t)p->n_inputs + 1, sizeof *p->inputs);
    if (p->inputs == NULL) {
        return PyErr_NoMemory(), -1;
    }
    for (int32_t i = 0; i < p->n_inputs; i++) {
        if (as_register(p, PyList_GET_ITEM(inputs, i), &p->inputs[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *instructions, *guards, *inputs, *plain = Py_None;
    int n_registers, n_slots;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0) {
        return PyErr_SetString(PyExc_TypeError, "GuardProgram takes no keyword arguments"), NULL;
    }
    if (!PyArg_ParseTuple(args, "O!iO!O!i|O:GuardProgram", &PyList_Type, &instructions,
                          &n_registers, &PyList_Type, &guards, &PyList_Type, &inputs,
                          &n_slots, &plain)) {
        return NULL;
    }
    if (plain != Py_None && !PyObject_TypeCheck(plain, &EfGuardProgram_Type)) {
        return PyErr_SetString(PyExc_TypeError, "plain must be a GuardProgram"), NULL;
    }
    EfGuardProgram *p = (EfGuardProgram *)type->tp_alloc(type, 0);
    if (p == NULL) {
        return NULL;
    }
    p->n_registers = n_registers;
    p->n_slots = n_slots;
    p->guards = Py_NewRef(guards);
    p->plain = plain == Py_None ? NULL : Py_NewRef(plain);
    if (parse_program(p, instructions) < 0 || parse_inputs(p, inputs) < 0) {
        Py_DECREF(p);
        return NULL;
    }
    return (PyObject *)p;
}

static int program_traverse(PyObject *self, visitproc visit, void *arg) {
    EfGuardProgram *p = (EfGuardProgram *)self;
    Py_VISIT(p->guards);
    Py_VISIT(p->plain);
    for (int32_t i = 0; i < p->n_code; i++) {
        Py_VISIT(p->code[i].obj);
        if (p->code[i].op == EF_MRO_ATTR) {
            Py_VISIT((PyObject *)p->code[i].data);
        } else if (p->code[i].op == EF_CHECK_TENSOR && p->code[i].data != NULL) {
            Py_VISIT(ef_tensor_spec_cls(p->code[i].data));
        }
    }
    return 0;
}

static void free_data(EfInstruction *in) {
    switch (in->op) {
    case EF_MRO_ATTR: Py_XDECREF((PyObject *)in->data); break;
    case EF_CHECK_TENSOR: ef_tensor_spec_free(in->data); break;
    case EF_CHECK_RELATION: ef_shape_free(in->data); break;
    case EF_FIELDS: ef_fields_free(in->data); break;
    default: PyMem_Free(in->data);
    }
    in->data = NULL;
}

/* The instructions go as a whole: a program without some of them would say yes too often. */
static int program_clear(PyObject *self) {
    EfGuardProgram *p = (EfGuardProgram *)self;
    EfInstruction *code = p->code;
    int32_t n = p->n_code;
    p->code = NULL;
    p->n_code = -1;
    for (int32_t i = 0; i < n; i++) {
        Py_CLEAR(code[i].obj);
        free_data(&code[i]);
    }
    PyMem_Free(code);
    Py_CLEAR(p->guards);
    Py_CLEAR(p->plain);
    return 0;
}

static void program_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    program_clear(self);
    PyMem_Free(((EfGuardProgram *)self)->inputs);
    Py_TYPE(self)->tp_free(self);
}

static int same_slots(EfGuardProgram *p, PyObject *const *args, Py_ssize_t nargs) {
    if (nargs != 2 || !PyFunction_Check(args[0]) || !PyTuple_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "a function and a tuple of slots are needed");
        return -1;
    }
    if (p->n_code < 0) {
        PyErr_SetString(PyExc_RuntimeError, "this guard program is being destroyed");
        return -1;
    }
    if (PyTuple_GET_SIZE(args[1]) != p->n_slots) {
        PyErr_Format(PyExc_ValueError, "%d slots are needed", p->n_slots);
        return -1;
    }
    return 0;
}

/* Evaluate with registers of its own; the caller frees them through `finish`. */
static int evaluate(EfGuardProgram *p, PyFunctionObject *function, PyObject *const *slots,
                    EfRegisters *regs, int *failed) {
    regs->n_made = 0;
    regs->registers = PyMem_Calloc((size_t)p->n_registers * 2 + 2, sizeof(PyObject *));
    if (regs->registers == NULL) {
        return PyErr_NoMemory(), -1;
    }
    regs->made = regs->registers + p->n_registers + 1;
    *failed = ef_guard_run(p, function, slots, regs);
    return 0;
}

/* The same of the arguments (function, slots) of a method. */
static int evaluate_given(EfGuardProgram *p, PyObject *const *args, EfRegisters *regs,
                          int *failed) {
    return evaluate(p, (PyFunctionObject *)args[0], &PyTuple_GET_ITEM(args[1], 0), regs, failed);
}

static void finish(EfRegisters *regs) {
    ef_registers_release(regs);
    PyMem_Free(regs->registers);
}

int ef_guards_hold(EfGuardProgram *p, PyFunctionObject *function, PyObject *const *slots) {
    EfRegisters regs;
    int failed;
    if (evaluate(p, function, slots, &regs, &failed) < 0) {
        return -1;
    }
    finish(&regs);
    return failed == -1;
}

static PyObject *program_check(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    EfGuardProgram *p = (EfGuardProgram *)self;
    EfRegisters regs;
    int failed;
    if (same_slots(p, args, nargs) < 0 || evaluate_given(p, args, &regs, &failed) < 0) {
        return NULL;
    }
    finish(&regs);
    return PyBool_FromLong(failed == -1);
}

static PyObject *or_missing(PyObject *value) {
    return Py_NewRef(value == NULL ? ef_missing : value);
}

/* The values that a failed check looked at. */
static PyObject *looked_at(const EfInstruction *in, PyObject *const *registers) {
    switch (in->op) {
    case EF_CHECK_GRAD_MODE: return Py_BuildValue("(O)", ef_grad_enabled() ? Py_True : Py_False);
    case EF_CHECK_MODES: return Py_BuildValue("(I)", (unsigned)ef_modes());
    case EF_CHECK_RELATION: return ef_shape_values(in->data, registers);
    case EF_CHECK_SAME:
        return Py_BuildValue("(NN)", or_missing(registers[in->a]), or_missing(registers[in->b]));
    case EF_CHECK_DISTINCT:
    case EF_CHECK_NO_OVERLAP: break;
    default: return Py_BuildValue("(N)", or_missing(registers[in->a]));
    }
    PyObject *values = PyTuple_New(in->b);
    for (int32_t i = 0; values != NULL && i < in->b; i++) {
        PyTuple_SET_ITEM(values, i, or_missing(registers[((const int32_t *)in->data)[i]]));
    }
    return values;
}

static PyObject *program_failure(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    EfGuardProgram *p = (EfGuardProgram *)self;
    if (p->plain != NULL) {
        return program_failure(p->plain, args, nargs);
    }
    EfRegisters regs;
    int failed;
    if (same_slots(p, args, nargs) < 0 || evaluate_given(p, args, &regs, &failed) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    if (failed == -1) {
        result = Py_NewRef(Py_None);
    } else {
        int ordinal = 0;
        for (int i = 0; i < failed; i++) {
            ordinal += p->code[i].op >= EF_FIRST_CHECK;
        }
        PyObject *values = looked_at(&p->code[failed], regs.registers);
        result = values == NULL ? NULL : Py_BuildValue("(iN)", ordinal, values);
    }
    finish(&regs);
    return result;
}

static PyObject *program_inputs(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    EfGuardProgram *p = (EfGuardProgram *)self;
    EfRegisters regs;
    int failed;
    if (same_slots(p, args, nargs) < 0 || evaluate_given(p, args, &regs, &failed) < 0) {
        return NULL;
    }
    PyObject *values = failed == -1 ? PyTuple_New(p->n_inputs) : NULL;
    if (failed != -1) {
        PyErr_SetString(PyExc_RuntimeError, "the guards do not hold");
    }
    for (int32_t i = 0; values != NULL && i < p->n_inputs; i++) {
        PyTuple_SET_ITEM(values, i, or_missing(regs.registers[p->inputs[i]]));
    }
    finish(&regs);
    return values;
}

bool ef_guard_is_dead(const EfGuardProgram *p) {
    for (int32_t i = 0; i < p->n_code; i++) {
        const EfInstruction *in = &p->code[i];
        if ((in->weak && ef_referent(in->obj) == Py_None)
            || (in->op == EF_CHECK_KEYS && ef_keys_are_dead(in->obj))) {
            return true;
        }
    }
    return p->n_code < 0;
}

static PyObject *program_is_dead(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    return PyBool_FromLong(ef_guard_is_dead((EfGuardProgram *)self));
}

static PyObject *get_guards(PyObject *self, void *Py_UNUSED(closure)) {
    return or_missing(((EfGuardProgram *)self)->guards);
}

static PyObject *get_n_checks(PyObject *self, void *Py_UNUSED(closure)) {
    PyObject *guards = ((EfGuardProgram *)self)->guards;
    return PyLong_FromSsize_t(guards == NULL ? 0 : PyList_GET_SIZE(guards));
}

static PyMethodDef methods[] = {
    {"check", (PyCFunction)(void (*)(void))program_check, METH_FASTCALL, NULL},
    {"failure", (PyCFunction)(void (*)(void))program_failure, METH_FASTCALL, NULL},
    {"inputs", (PyCFunction)(void (*)(void))program_inputs, METH_FASTCALL, NULL},
    {"is_dead", program_is_dead, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef getset[] = {
    {"guards", get_guards, NULL, NULL, NULL},
    {"n_checks", get_n_checks, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject EfGuardProgram_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.capture._eval_frame.GuardProgram",
    .tp_basicsize = sizeof(EfGuardProgram),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Guards as a straight line of loads and checks.",
    .tp_new = program_new,
    .tp_dealloc = program_dealloc,
    .tp_traverse = program_traverse,
    .tp_clear = program_clear,
    .tp_methods = methods,
    .tp_getset = getset,
};
