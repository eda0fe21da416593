/* Entry: one compiled version of a code object; lists of them, most recently hit first. */
#include "eval_frame.h"
#include <structmember.h>

enum { STACK_REGISTERS = 4096 };

static PyObject *entry_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"program", "code", "direct", "select", "hooked", "line", "keepalive",
                            "locks", NULL};
    PyObject *program, *code = Py_None, *direct = Py_None, *select = Py_None;
    PyObject *keepalive = Py_None, *locks = NULL;
    int hooked = 0, line = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|OOOpiOO!:Entry", names,
                                     &EfGuardProgram_Type, &program, &code, &direct, &select,
                                     &hooked, &line, &keepalive, &PyTuple_Type, &locks)) {
        return NULL;
    }
    if ((code == Py_None) == (direct == Py_None)) {
        PyErr_SetString(PyExc_TypeError, "an entry has either code or a direct callable");
        return NULL;
    }
    if (code != Py_None && !PyCode_Check(code)) {
        PyErr_SetString(PyExc_TypeError, "code must be a code object");
        return NULL;
    }
    if (direct != Py_None && !PyCallable_Check(direct)) {
        PyErr_SetString(PyExc_TypeError, "direct must be callable");
        return NULL;
    }
    if (select != Py_None && !PyLong_Check(select) && !PyTuple_Check(select)) {
        PyErr_SetString(PyExc_TypeError, "select must be None, an int or a tuple of ints");
        return NULL;
    }
    bool locked = locks != NULL && PyTuple_GET_SIZE(locks) > 0;
    if (locked && code == Py_None) {
        PyErr_SetString(PyExc_TypeError, "an entry with locks has code");
        return NULL;
    }
    EfEntry *e = (EfEntry *)type->tp_alloc(type, 0);
    if (e == NULL) {
        return NULL;
    }
    e->locks = locked ? Py_NewRef(locks) : NULL;
    e->program = (EfGuardProgram *)Py_NewRef(program);
    e->code = code == Py_None ? NULL : (PyCodeObject *)Py_NewRef(code);
    e->direct = direct == Py_None ? NULL : Py_NewRef(direct);
    e->select = select == Py_None ? NULL : Py_NewRef(select);
    e->keepalive = Py_NewRef(keepalive);
    e->hooked = hooked != 0;
    e->line = line;
    return (PyObject *)e;
}

static int entry_traverse(PyObject *self, visitproc visit, void *arg) {
    EfEntry *e = (EfEntry *)self;
    Py_VISIT((PyObject *)e->program);
    Py_VISIT((PyObject *)e->code);
    Py_VISIT(e->direct);
    Py_VISIT(e->select);
    Py_VISIT(e->locks);
    Py_VISIT(e->keepalive);
    Py_VISIT((PyObject *)e->made_for);
    Py_VISIT(e->made);
    return 0;
}

static int entry_clear(PyObject *self) {
    EfEntry *e = (EfEntry *)self;
    Py_CLEAR(e->keepalive);
    Py_CLEAR(e->made_for);
    Py_CLEAR(e->made);
    return 0;
}

static void entry_dealloc(PyObject *self) {
    EfEntry *e = (EfEntry *)self;
    PyObject_GC_UnTrack(self);
    entry_clear(self);
    Py_CLEAR(e->program);
    Py_CLEAR(e->code);
    Py_CLEAR(e->direct);
    Py_CLEAR(e->select);
    Py_CLEAR(e->locks);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *entry_is_dead(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    return PyBool_FromLong(ef_guard_is_dead(((EfEntry *)self)->program));
}

static PyMethodDef methods[] = {
    {"is_dead", entry_is_dead, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {
    {"program", T_OBJECT, offsetof(EfEntry, program), READONLY, NULL},
    {"code", T_OBJECT, offsetof(EfEntry, code), READONLY, NULL},
    {"direct", T_OBJECT, offsetof(EfEntry, direct), READONLY, NULL},
    {"select", T_OBJECT, offsetof(EfEntry, select), READONLY, NULL},
    {"keepalive", T_OBJECT, offsetof(EfEntry, keepalive), READONLY, NULL},
    {"locks", T_OBJECT, offsetof(EfEntry, locks), READONLY, NULL},
    {"hooked", T_BOOL, offsetof(EfEntry, hooked), READONLY, NULL},
    {"line", T_INT, offsetof(EfEntry, line), READONLY, NULL},
    {"hits", T_LONGLONG, offsetof(EfEntry, hits), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

PyTypeObject EfEntry_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.capture._eval_frame.Entry",
    .tp_basicsize = sizeof(EfEntry),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "One compiled version of a code object.",
    .tp_new = entry_new,
    .tp_dealloc = entry_dealloc,
    .tp_traverse = entry_traverse,
    .tp_clear = entry_clear,
    .tp_methods = methods,
    .tp_members = members,
};

int ef_entry_fits(const EfEntry *entry, PyCodeObject *original) {
    const int layout = CO_VARARGS | CO_VARKEYWORDS;
    const int kinds = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
    const PyCodeObject *code = entry->code;
    if (entry->program->n_slots != ef_code_slots(original)) {
        return PyErr_SetString(PyExc_ValueError, "the guards are for other arguments"), -1;
    }
    if (code == NULL) {
        return 0;
    }
    if (code->co_argcount != original->co_argcount
        || code->co_posonlyargcount != original->co_posonlyargcount
        || code->co_kwonlyargcount != original->co_kwonlyargcount
        || (code->co_flags & layout) != (original->co_flags & layout)
        || (code->co_flags & kinds) != 0
        || (code->co_flags & (CO_OPTIMIZED | CO_NEWLOCALS)) != (CO_OPTIMIZED | CO_NEWLOCALS)
        || code->co_nfreevars != original->co_nfreevars) {
        PyErr_Format(PyExc_ValueError,
                     "translated code of %U has another layout of arguments or free variables",
                     original->co_qualname);
        return -1;
    }
    return 0;
}

/* The code with every argument slot positional, so that slots can be passed on as they are. */
static PyObject *positional_code(PyCodeObject *code) {
    if (code->co_kwonlyargcount == 0 && !(code->co_flags & (CO_VARARGS | CO_VARKEYWORDS))) {
        return Py_NewRef((PyObject *)code);
    }
    PyObject *replace = PyObject_GetAttrString((PyObject *)code, "replace");
    PyObject *none = PyTuple_New(0);
    PyObject *changes = Py_BuildValue(
        "{s:i,s:i,s:i}", "co_argcount", ef_code_slots(code), "co_kwonlyargcount", 0, "co_flags",
        code->co_flags & ~(CO_VARARGS | CO_VARKEYWORDS));
    PyObject *result = replace == NULL || none == NULL || changes == NULL
        ? NULL : PyObject_Call(replace, none, changes);
    Py_XDECREF(replace);
    Py_XDECREF(none);
    Py_XDECREF(changes);
    return result;
}

PyObject *ef_entry_function(EfEntry *entry, PyFunctionObject *function) {
    if (entry->made_for == function) {
        return entry->made;
    }
    PyObject *code = positional_code(entry->code);
    if (code == NULL || ef_hook_skip((PyCodeObject *)code) < 0) {
        Py_XDECREF(code);
        return NULL;
    }
    PyObject *made = PyFunction_New(code, function->func_globals);
    Py_DECREF(code);
    if (made == NULL) {
        return NULL;
    }
    if (function->func_closure != NULL
        && PyFunction_SetClosure(made, function->func_closure) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    Py_XSETREF(entry->made, made);
    Py_XSETREF(entry->made_for, (PyFunctionObject *)Py_NewRef((PyObject *)function));
    return made;
}

/* ---- lists ---- */

static void to_front(EfEntryList *list, int32_t i) {
    EfEntry *hit = list->items[i];
    memmove(list->items + 1, list->items, (size_t)i * sizeof *list->items);
    list->items[0] = hit;
}

static PyObject *select_outputs(PyObject *select, PyObject *outputs) {
    if (select == NULL) {
        return Py_NewRef(outputs);
    }
    if (PyLong_Check(select)) {
        return PySequence_GetItem(outputs, PyLong_AsSsize_t(select));
    }
    Py_ssize_t n = PyTuple_GET_SIZE(select);
    PyObject *result = PyTuple_New(n);
    for (Py_ssize_t i = 0; result != NULL && i < n; i++) {
        Py_ssize_t index = PyLong_AsSsize_t(PyTuple_GET_ITEM(select, i));
        PyObject *item = PyErr_Occurred() ? NULL : PySequence_GetItem(outputs, index);
        if (item == NULL) {
            Py_CLEAR(result);
        } else {
            PyTuple_SET_ITEM(result, i, item);
        }
    }
    return result;
}

#if PY_VERSION_HEX >= 0x030D0000
extern void _PyTraceback_Add(const char *, const char *, int);
#endif

/* The user's function appears in the traceback of an error in a direct call. */
static void add_traceback(const EfEntry *entry, PyFunctionObject *function) {
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const char *name = PyUnicode_AsUTF8(code->co_name);
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    if (name != NULL && file != NULL) {
        _PyTraceback_Add(name, file, entry->line > 0 ? entry->line : code->co_firstlineno);
    }
}

/* The same call through a Python frame that looks like one of the function. */
static PyObject *call_visibly(EfEntry *entry, PyFunctionObject *function, PyObject **inputs) {
    PyCodeObject *guise = (PyCodeObject *)function->func_code;
    if (entry->made == NULL) {
        PyCodeObject *code = ef_visible_code(guise, guise->co_firstlineno);
        if (code == NULL || ef_hook_skip(code) < 0) {
            Py_XDECREF((PyObject *)code);
            return NULL;
        }
        entry->made = PyFunction_New((PyObject *)code, function->func_globals);
        Py_DECREF((PyObject *)code);
        if (entry->made == NULL) {
            return NULL;
        }
    }
    Py_ssize_t n = entry->program->n_inputs;
    PyObject *args[n + 1];
    args[0] = entry->direct;
    memcpy(args + 1, inputs, (size_t)n * sizeof *inputs);
    PyObject *made = Py_NewRef(entry->made);
    PyObject *outputs = PyObject_Vectorcall(made, args, (size_t)n + 1, NULL);
    Py_DECREF(made);
    return outputs;
}

/* Call the backend with the inputs that the guards have just read. */
static PyObject *call_direct(EfEntry *entry, PyFunctionObject *function, PyObject **inputs) {
    int32_t n = entry->program->n_inputs;
    for (int32_t i = 0; i < n; i++) {
        Py_INCREF(inputs[i]);
    }
    PyObject *outputs = ef_profiled() ? call_visibly(entry, function, inputs)
        : PyObject_Vectorcall(entry->direct, inputs,
                              (size_t)n | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    for (int32_t i = 0; i < n; i++) {
        Py_DECREF(inputs[i]);
    }
    PyObject *result = outputs;
    if (outputs != NULL && entry->select != NULL) {
        result = select_outputs(entry->select, outputs);
        Py_DECREF(outputs);
    }
    return result;
}

static _Thread_local PyObject *failure;   /* how the last direct call that raised failed */

PyObject *ef_take_failure(void) {
    PyObject *taken = failure;
    failure = NULL;
    return taken;
}

/* Clears the error, of which only the text is kept: its traceback would keep the call's values
 * alive. False for what is no failure of the call, such as an interrupt: that stays raised. */
static bool forget_error(void) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return false;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    int outside = ef_came_from_outside(value);
    if (outside != 0) {
        if (outside > 0) {
            PyErr_Restore(type, value, traceback);
        } else {        /* another came meanwhile, and is raised */
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(traceback);
        }
        return false;
    }
    PyException_SetTraceback(value, Py_None);
    PyObject *text = PyUnicode_FromFormat("%s: %S", Py_TYPE(value)->tp_name, value);
    if (text == NULL) {
        PyErr_Clear();
    }
    Py_XSETREF(failure, text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return true;
}

static bool gather(const EfGuardProgram *program, PyObject *const *registers,
                   PyObject **inputs) {
    for (int32_t i = 0; i < program->n_inputs; i++) {
        inputs[i] = registers[program->inputs[i]];
        if (inputs[i] == NULL) {
            return false;
        }
    }
    return true;
}

static EfOutcome attempt_in(EfEntryList *list, int32_t i, PyFunctionObject *function,
                            PyObject *const *slots, PyObject **memory, EfEntry **hit,
                            PyObject **result) {
    EfEntry *entry = list->items[i];
    EfGuardProgram *program = entry->program;
    EfRegisters regs = {memory, memory + program->n_registers, 0};
    PyObject **inputs = memory + 2 * program->n_registers + 1;
    Py_INCREF(entry);
    EfSpan span = ef_span_begin(EF_SPAN_GUARDS, function->func_qualname);
    bool holds = ef_guard_run(program, function, slots, &regs) == -1
        && (entry->direct == NULL || gather(program, regs.registers, inputs));
    ef_span_end(span);
    EfOutcome outcome = EF_MISS;
    if (holds) {
        outcome = EF_HIT;
        entry->hits++;
        if (i > 0) {
            to_front(list, i);
        }
        if (entry->direct != NULL) {
            *result = call_direct(entry, function, inputs);
            outcome = *result != NULL ? EF_HIT : forget_error() ? EF_NATIVE : EF_ERROR;
            if (outcome == EF_ERROR) {
                add_traceback(entry, function);
            }
        }
    }
    ef_registers_release(&regs);
    if (outcome == EF_HIT) {
        *hit = entry;
    } else {
        Py_DECREF(entry);
    }
    return outcome;
}

static EfOutcome attempt(EfEntryList *list, int32_t i, PyFunctionObject *function,
                         PyObject *const *slots, EfEntry **hit, PyObject **result) {
    EfGuardProgram *program = list->items[i]->program;
    size_t need = (size_t)program->n_registers * 2 + (size_t)program->n_inputs + 1;
    if (need <= STACK_REGISTERS) {
        PyObject *memory[need];
        return attempt_in(list, i, function, slots, memory, hit, result);
    }
    PyObject **memory = PyMem_Malloc(need * sizeof *memory);
    if (memory == NULL) {
        return PyErr_NoMemory(), EF_ERROR;
    }
    EfOutcome outcome = attempt_in(list, i, function, slots, memory, hit, result);
    PyMem_Free(memory);
    return outcome;
}

EfOutcome ef_list_lookup(EfEntryList *list, PyFunctionObject *function, PyObject *const *slots,
                         EfEntry **hit, PyObject **result) {
    for (int32_t i = 0; i < list->n; i++) {
        EfOutcome outcome = attempt(list, i, function, slots, hit, result);
        if (outcome != EF_MISS) {
            return outcome;
        }
    }
    return EF_MISS;
}

int ef_list_add(EfEntryList *list, EfEntry *entry) {
    if (list->n == list->capacity) {
        int32_t capacity = list->capacity == 0 ? 2 : list->capacity * 2;
        EfEntry **items = PyMem_Realloc(list->items, (size_t)capacity * sizeof *items);
        if (items == NULL) {
            return PyErr_NoMemory(), -1;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->n++] = (EfEntry *)Py_NewRef((PyObject *)entry);
    to_front(list, list->n - 1);
    return 0;
}

void ef_list_clear(EfEntryList *list) {
    EfEntry **items = list->items;
    EfTensorless *tensorless = list->tensorless;
    int32_t n = list->n;
    *list = (EfEntryList){NULL, NULL, 0, 0, false, false};
    ef_tensorless_free(tensorless);
    for (int32_t i = 0; i < n; i++) {
        Py_DECREF(items[i]);
    }
    PyMem_Free(items);
}

int ef_list_traverse(EfEntryList *list, visitproc visit, void *arg) {
    for (int32_t i = 0; i < list->n; i++) {
        Py_VISIT((PyObject *)list->items[i]);
    }
    return ef_tensorless_traverse(list->tensorless, visit, arg);
}

PyObject *ef_list_tuple(const EfEntryList *list) {
    PyObject *tuple = PyTuple_New(list->n);
    for (int32_t i = 0; tuple != NULL && i < list->n; i++) {
        PyTuple_SET_ITEM(tuple, i, Py_NewRef((PyObject *)list->items[i]));
    }
    return tuple;
}
