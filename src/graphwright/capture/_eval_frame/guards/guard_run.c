/* Evaluating a guard program: no Python code runs, and hardly anything is allocated. */
#include "eval_frame.h"
#include "fields.h"

#if PY_VERSION_HEX >= 0x030D0000
extern int _PySet_NextEntry(PyObject *set, Py_ssize_t *pos, PyObject **key, Py_hash_t *hash);
#endif

static PyObject *lookup(PyObject *dict, PyObject *key) {
    PyObject *value = PyDict_GetItemWithError(dict, key);
    if (value == NULL && PyErr_Occurred()) {
        PyErr_Clear();
    }
    return value;
}

static PyObject *function_global(PyObject *function, PyObject *name) {
    if (function == NULL || !PyFunction_Check(function)) {
        return NULL;
    }
    PyFunctionObject *f = (PyFunctionObject *)function;
    PyObject *value = lookup(f->func_globals, name);
    if (value == NULL && PyDict_Check(f->func_builtins)) {
        value = lookup(f->func_builtins, name);
    }
    return value;
}

static PyObject *cell_contents(PyObject *function, int64_t index) {
    if (function == NULL || !PyFunction_Check(function)) {
        return NULL;
    }
    PyObject *closure = ((PyFunctionObject *)function)->func_closure;
    if (closure == NULL || index < 0 || index >= PyTuple_GET_SIZE(closure)) {
        return NULL;
    }
    PyObject *cell = PyTuple_GET_ITEM(closure, index);
    return PyCell_Check(cell) ? PyCell_GET(cell) : NULL;
}

static PyObject *default_value(PyObject *function, const EfInstruction *in) {
    if (function == NULL || !PyFunction_Check(function)) {
        return NULL;
    }
    PyFunctionObject *f = (PyFunctionObject *)function;
    if (in->op == EF_KWDEFAULT) {
        return f->func_kwdefaults != NULL && PyDict_Check(f->func_kwdefaults)
            ? lookup(f->func_kwdefaults, in->obj) : NULL;
    }
    return f->func_defaults != NULL && in->n >= 0 && in->n < PyTuple_GET_SIZE(f->func_defaults)
        ? PyTuple_GET_ITEM(f->func_defaults, in->n) : NULL;
}

static PyObject *keep(EfRegisters *regs, PyObject *made) {
    if (made == NULL) {
        PyErr_Clear();
    } else {
        regs->made[regs->n_made++] = made;
    }
    return made;
}

/* Immutable types are written in C. */
static bool is_builtin_sequence(PyObject *base) {
    PyTypeObject *tp = Py_TYPE(base);
    return ((tp->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) || !(tp->tp_flags & Py_TPFLAGS_HEAPTYPE))
        && tp->tp_as_sequence != NULL;
}

PyObject *ef_item(PyObject *base, PyObject *key, EfRegisters *regs) {
    if (base == NULL) {
        return NULL;
    }
    if (PyDict_Check(base)) {
        return lookup(base, key);
    }
    if (!PyLong_CheckExact(key)) {
        return NULL;
    }
    Py_ssize_t index = PyLong_AsSsize_t(key);
    if (index == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return NULL;
    }
    if (PyTuple_Check(base) || PyList_Check(base)) {
        Py_ssize_t n = Py_SIZE(base);
        index += index < 0 ? n : 0;
        if (index < 0 || index >= n) {
            return NULL;
        }
        return PyTuple_Check(base) ? PyTuple_GET_ITEM(base, index) : PyList_GET_ITEM(base, index);
    }
    if (is_builtin_sequence(base) && Py_TYPE(base)->tp_as_sequence->sq_item != NULL) {
        return keep(regs, PySequence_GetItem(base, index));
    }
    return NULL;
}

PyObject *ef_attribute(PyObject *base, PyObject *name, EfRegisters *regs) {
    PyObject *owned = NULL;
    PyObject *value = ef_attr(base, name, &owned);
    if (owned != NULL) {
        keep(regs, owned);
    }
    return value;
}

/* -1 for what is no container whose length is known without running Python code. */
static Py_ssize_t count_of(PyObject *v) {
    if (PyList_Check(v) || PyTuple_Check(v)) {
        return Py_SIZE(v);
    }
    if (PyDict_Check(v)) {
        return PyDict_Size(v);
    }
    if (PyAnySet_Check(v)) {
        return PySet_GET_SIZE(v);
    }
    if (PyUnicode_Check(v)) {
        return PyUnicode_GET_LENGTH(v);
    }
    if (PyBytes_Check(v)) {
        return PyBytes_GET_SIZE(v);
    }
    if (!is_builtin_sequence(v) || Py_TYPE(v)->tp_as_sequence->sq_length == NULL) {
        return -1;
    }
    Py_ssize_t length = PySequence_Size(v);
    PyErr_Clear();
    return length;
}

static PyObject *length_of(PyObject *v) {
    Py_ssize_t length = count_of(v);
    return length < 0 ? NULL : PyLong_FromSsize_t(length);
}

static PyObject *entry_of_dict(PyObject *dict, const EfInstruction *in) {
    PyObject *value = NULL;
    PyObject *key = ef_dict_at(dict, in->n, &value);
    return in->op == EF_DICT_KEY ? key : value;
}

static PyObject *meant(const EfInstruction *in) {
    return in->weak ? ef_referent(in->obj) : in->obj;
}

/* `abc.get_cache_token()`, which is written in C. */
static PyObject *registrations(void) {
    static PyObject *token;
    if (token == NULL) {
        PyObject *module = PyImport_ImportModule("_abc");
        token = module == NULL ? NULL : PyObject_GetAttrString(module, "get_cache_token");
        Py_XDECREF(module);
    }
    return token == NULL ? NULL : PyObject_CallNoArgs(token);
}

/* Types whose values are numbers and run no Python code. */
static bool is_plain_number(PyObject *v) {
    return v != NULL && (PyFloat_CheckExact(v) || PyLong_CheckExact(v) || PyBool_Check(v));
}

enum { MOST_OPERANDS = 4 };

/* What a function of numbers gives; NULL if it raises. */
static PyObject *compute(const EfInstruction *in, const EfRegisters *regs) {
    const int32_t *operands = in->data;
    PyObject *values[MOST_OPERANDS];
    if (in->b > MOST_OPERANDS) {
        return NULL;
    }
    for (int32_t i = 0; i < in->b; i++) {
        values[i] = regs->registers[operands[i]];
        if (!is_plain_number(values[i])) {
            return NULL;
        }
    }
    return PyObject_Vectorcall(in->obj, values, (size_t)in->b, NULL);
}

enum { MOST_KEY_OBJECTS = 8 };

/* What the cached function in the first register keeps for a key; the operand is a pair of the key
 * and what it would give where nothing is kept, if that is known. */
static PyObject *cached(const EfInstruction *in, const EfRegisters *regs) {
    const int32_t *operands = in->data;
    PyObject *objects[MOST_KEY_OBJECTS];
    if (in->b < 1 || in->b > MOST_KEY_OBJECTS || !PyTuple_Check(in->obj)
        || PyTuple_GET_SIZE(in->obj) != 2) {
        return NULL;
    }
    PyObject *key = PyTuple_GET_ITEM(in->obj, 0), *otherwise = PyTuple_GET_ITEM(in->obj, 1);
    for (int32_t i = 1; i < in->b; i++) {
        objects[i - 1] = regs->registers[operands[i]];
    }
    PyObject *found = ef_cached_result(regs->registers[operands[0]], key, objects, in->b - 1);
    return found == NULL && otherwise != ef_missing ? otherwise : found;
}

static PyObject *referent(PyObject *reference) {
    return PyWeakref_CheckRef(reference) ? ef_referent(reference) : NULL;
}

/* The direct subclasses of a class, in a new list. */
static PyObject *subclasses(PyObject *cls) {
    return !PyType_Check(cls) ? NULL
        : PyObject_CallMethod((PyObject *)&PyType_Type, "__subclasses__", "O", cls);
}

/* The value of a context variable in the current context, or its default where that may be. */
static PyObject *context_value(PyObject *variable, bool or_default) {
    PyObject *value = NULL;
    if (!PyContextVar_CheckExact(variable)
        || PyContextVar_Get(variable, or_default ? NULL : ef_missing, &value) < 0) {
        return NULL;
    }
    if (value == ef_missing) {
        Py_CLEAR(value);
    }
    return value;
}

/* The number, text, bytes or frozenset that an instance of a subclass is. */
static PyObject *plain_value(PyObject *v) {
    if (PyLong_Check(v)) {
        return PyLong_Type.tp_as_number->nb_int(v);
    }
    if (PyFloat_Check(v)) {
        return PyFloat_FromDouble(PyFloat_AS_DOUBLE(v));
    }
    if (PyComplex_Check(v)) {
        Py_complex value = ((PyComplexObject *)v)->cval;
        return PyComplex_FromCComplex(value);
    }
    if (PyUnicode_Check(v)) {
        return PyUnicode_FromObject(v);
    }
    if (PyBytes_Check(v)) {
        return PyBytes_FromStringAndSize(PyBytes_AS_STRING(v), PyBytes_GET_SIZE(v));
    }
    return PyFrozenSet_Check(v) ? PyFrozenSet_New(v) : NULL;
}

static PyObject *load(const EfInstruction *in, PyFunctionObject *function,
                      PyObject *const *slots, EfRegisters *regs) {
    PyObject *base;
    switch (in->op) {
    case EF_SLOT: return slots[in->n];
    case EF_GLOBAL: return function_global((PyObject *)function, in->obj);
    case EF_FREE: return cell_contents((PyObject *)function, in->n);
    case EF_CONST: return in->obj;
    case EF_MODULE: return lookup(PyImport_GetModuleDict(), in->obj);
    case EF_CLASS: return meant(in) == Py_None ? NULL : meant(in);
    case EF_REGISTRATIONS: return keep(regs, registrations());
    case EF_COMPUTE: return keep(regs, compute(in, regs));
    case EF_CACHED: return cached(in, regs);
    default: break;
    }
    base = regs->registers[in->b];
    if (base == NULL) {
        return NULL;
    }
    switch (in->op) {
    case EF_FUNCTION_GLOBAL: return function_global(base, in->obj);
    case EF_ATTR: return ef_attribute(base, in->obj, regs);
    case EF_INSTANCE_ATTR: return ef_instance_attr(base, in->obj);
    case EF_CLASS_ATTR: return ef_class_attr((PyObject *)Py_TYPE(base), in->obj, NULL);
    case EF_MRO_ATTR: return ef_class_attr(base, in->obj, in->data);
    case EF_ITEM: return ef_item(base, in->obj, regs);
    case EF_TYPE: return (PyObject *)Py_TYPE(base);
    case EF_CODE: return PyFunction_Check(base) ? ((PyFunctionObject *)base)->func_code : NULL;
    case EF_DEFAULT:
    case EF_KWDEFAULT: return default_value(base, in);
    case EF_CLOSURE: return cell_contents(base, in->n);
    case EF_DICT_KEY:
    case EF_DICT_VALUE: return entry_of_dict(base, in);
    case EF_LENGTH: return keep(regs, length_of(base));
    case EF_REFERENT: return referent(base);
    case EF_SUBCLASSES: return keep(regs, subclasses(base));
    case EF_NEXT_ITEM: return keep(regs, ef_next_item(base));
    case EF_AT_END: return keep(regs, ef_at_end(base));
    case EF_CONTENTS: return keep(regs, ef_contents(base));
    case EF_INSTANCE_DICT: return keep(regs, PyObject_GenericGetDict(base, NULL));
    case EF_PLAIN: return keep(regs, plain_value(base));
    case EF_CONTEXT: return keep(regs, context_value(base, in->n != 0));
    default: break;
    }
    int64_t size;
    return ef_tensor_size(base, in->n, &size) ? keep(regs, PyLong_FromLongLong(size)) : NULL;
}

static bool is_meant(const EfInstruction *in, PyObject *value) {
    PyObject *wanted = meant(in);
    return value == wanted && !(in->weak && wanted == Py_None);
}

/* The class, which since has not been given another way to read attributes. */
static bool has_type(EfInstruction *in, PyTypeObject *tp) {
    if (!is_meant(in, (PyObject *)tp)) {
        return false;
    }
    if (!(tp->tp_flags & Py_TPFLAGS_HEAPTYPE)
        || (in->version != 0 && in->version == ef_type_version(tp))) {
        return true;
    }
    if (ef_is_generic(tp) != in->n) {
        return false;
    }
    in->version = ef_type_version(tp);
    return true;
}

static bool has_in_order(PyObject *set, PyObject *members) {
    Py_ssize_t at = 0;
    PyObject *member;
    Py_hash_t hash;
    for (Py_ssize_t i = 0; _PySet_NextEntry(set, &at, &member, &hash); i++) {
        PyObject *wanted = PyTuple_GET_ITEM(members, i);
        if (member != wanted && !ef_same_constant(member, wanted)) {
            return false;
        }
    }
    return true;
}

/* `members`: a frozenset, or a tuple where the order counts. Sets that were filled alike are in the
   same order, so the walk along both mostly suffices. */
static bool has_members(PyObject *set, PyObject *members) {
    bool ordered = PyTuple_Check(members);
    Py_ssize_t count = ordered ? PyTuple_GET_SIZE(members) : PySet_GET_SIZE(members);
    if (!PyAnySet_Check(set) || PySet_GET_SIZE(set) != count) {
        return false;
    }
    if (ordered) {
        return has_in_order(set, members);
    }
    Py_ssize_t at = 0, wanted_at = 0;
    PyObject *member, *wanted;
    Py_hash_t hash;
    bool same = true;
    while (same && _PySet_NextEntry(set, &at, &member, &hash)) {
        same = _PySet_NextEntry(members, &wanted_at, &wanted, &hash)
            && (member == wanted || ef_same_constant(member, wanted));
    }
    if (same) {
        return true;
    }
    PyObject *frozen = PyFrozenSet_New(set);
    same = frozen != NULL && ef_same_constant(frozen, members);
    Py_XDECREF(frozen);
    PyErr_Clear();
    return same;
}

static bool has_truth(PyObject *v, int64_t truth) {
    PyTypeObject *tp = Py_TYPE(v);
    if ((tp->tp_flags & Py_TPFLAGS_HEAPTYPE) && !(tp->tp_flags & Py_TPFLAGS_IMMUTABLETYPE)) {
        return false;
    }
    int found = PyObject_IsTrue(v);
    PyErr_Clear();
    return found == (int)truth;
}

static bool are_distinct(PyObject *const *registers, const int32_t *group, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        if (registers[group[i]] == NULL) {
            return false;
        }
        for (int32_t j = 0; j < i; j++) {
            if (registers[group[i]] == registers[group[j]]) {
                return false;
            }
        }
    }
    return true;
}

static bool check_group(const EfInstruction *in, PyObject *const *registers) {
    switch (in->op) {
    case EF_CHECK_DISTINCT: return are_distinct(registers, in->data, in->b);
    case EF_CHECK_NO_OVERLAP: return ef_overlap_free(registers, in->data, in->b, (int)in->n);
    case EF_CHECK_GRAD_MODE: return ef_grad_enabled() == in->n;
    case EF_CHECK_MODES: return (int64_t)ef_modes() == in->n;
    default: return ef_shape_holds(in->data, registers);
    }
}

static bool check(EfInstruction *in, PyObject *const *registers) {
    if (in->op >= EF_CHECK_DISTINCT) {
        return check_group(in, registers);
    }
    PyObject *value = registers[in->a];
    if (value == NULL || in->op == EF_CHECK_MISSING) {
        return value == NULL && in->op == EF_CHECK_MISSING;
    }
    switch (in->op) {
    case EF_CHECK_TENSOR: return ef_tensor_matches(in->data, value);
    case EF_CHECK_TYPE: return has_type(in, Py_TYPE(value));
    case EF_CHECK_IS: return is_meant(in, value);
    case EF_CHECK_EQUALS: return value == in->obj || ef_same_constant(value, in->obj);
    case EF_CHECK_LENGTH: return count_of(value) == in->n;
    case EF_CHECK_KEYS: return ef_has_keys(value, in->obj);
    case EF_CHECK_MEMBERS: return has_members(value, in->obj);
    case EF_CHECK_PRESENT: return true;
    case EF_CHECK_NOT_NONE: return value != Py_None;
    case EF_CHECK_TRUTH: return has_truth(value, in->n);
    case EF_CHECK_SAME: return value == registers[in->b];
    case EF_CHECK_VERSION:
        return PyType_Check(value) && ef_type_version((PyTypeObject *)value) == in->n;
    default: return false;
    }
}

int ef_guard_run(const EfGuardProgram *program, PyFunctionObject *function,
                 PyObject *const *slots, EfRegisters *regs) {
    EfInstruction *code = program->code;
    for (int32_t i = 0; i < program->n_code; i++) {
        EfInstruction *in = &code[i];
        if (in->op < EF_FIRST_CHECK) {
            regs->registers[in->a] = load(in, function, slots, regs);
        } else if (in->op == EF_FIELDS) {
            if (!ef_fields_read(in->data, regs->registers[in->b], regs)) {
                return i;
            }
        } else if (!check(in, regs->registers)) {
            return i;
        }
    }
    return program->n_code < 0 ? 0 : -1;
}

void ef_registers_release(EfRegisters *regs) {
    while (regs->n_made > 0) {
        Py_DECREF(regs->made[--regs->n_made]);
    }
}
