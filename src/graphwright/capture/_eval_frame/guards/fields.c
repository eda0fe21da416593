/* Reading many attributes of one object, or many items of one dict, in one pass.
 *
 * An `EfFields` remembers in which form it found the object: the version of its class, and the
 * keys of the dict in their order. As long as both are unchanged, what is there and what is not
 * follows from comparing pointers. Otherwise each name is looked up, and the new form learned.
 */
#include "eval_frame.h"
#include "fields.h"

enum { DYNAMIC = -2, ABSENT = -1, MOST_LESSONS = 32, FREE_KEYS = 8, KEYS_PER_ABSENCE = 4 };

typedef struct {
    PyObject *name;
    PyObject *key;          /* the key as the dict holds it; owned */
    PyObject *value;        /* of absent ones: what the class holds; borrowed, by its version */
    int32_t dest;
    int32_t index;          /* in the table; ABSENT; DYNAMIC: look it up each time */
    bool own;               /* the instance's own dict only */
    bool must_miss;
} Field;

struct EfFields {
    EfFieldsKind kind;
    int32_t n;
    int lessons;
    bool known;
    bool has_dynamic;
    PyTypeObject *cls;      /* only compared, together with its version */
    unsigned int version;
    Py_ssize_t n_keys;      /* -1: the keys of the fields are compared one by one */
    PyObject **keys;        /* owned */
    Field fields[];
};

unsigned int ef_type_version(PyTypeObject *tp) {
#if PY_VERSION_HEX < 0x030D0000
    if (!(tp->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG)) {
        return 0;
    }
#endif
    return tp->tp_version_tag;
}

static void forget_keys(PyObject **keys, Py_ssize_t n) {
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_XDECREF(keys[i]);
    }
    PyMem_Free(keys);
}

static void forget(EfFields *f) {
    PyObject **keys = f->keys;
    Py_ssize_t n = f->n_keys;
    f->known = false;
    f->keys = NULL;
    f->n_keys = -1;
    forget_keys(keys, n);
    for (int32_t i = 0; i < f->n; i++) {
        Py_CLEAR(f->fields[i].key);
    }
}

void ef_fields_free(EfFields *f) {
    if (f != NULL) {
        forget(f);
        for (int32_t i = 0; i < f->n; i++) {
            Py_XDECREF(f->fields[i].name);
        }
        PyMem_Free(f);
    }
}

static int parse_field(Field *field, PyObject *item, int32_t n_registers) {
    PyObject *name;
    int dest, own, must_miss;
    if (!PyArg_ParseTuple(item, "Uipp", &name, &dest, &own, &must_miss)) {
        return -1;
    }
    if (dest < 0 || dest >= n_registers) {
        return PyErr_Format(PyExc_ValueError, "no register %d", dest), -1;
    }
    field->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&field->name);
    field->dest = dest;
    field->own = own != 0;
    field->must_miss = must_miss != 0;
    return 0;
}

EfFields *ef_fields(PyObject *kind, PyObject *items, int32_t n_registers) {
    long number = PyLong_AsLong(kind);
    if (number < EF_OF_INSTANCE || number > EF_OF_CLASS || !PyTuple_Check(items)) {
        return PyErr_SetString(PyExc_ValueError, "wrong kind of fields"), NULL;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    EfFields *f = PyMem_Calloc(1, sizeof *f + (size_t)n * sizeof(Field));
    if (f == NULL) {
        return PyErr_NoMemory(), NULL;
    }
    f->kind = (EfFieldsKind)number;
    f->n_keys = -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        f->n++;
        if (parse_field(&f->fields[i], PyTuple_GET_ITEM(items, i), n_registers) < 0) {
            ef_fields_free(f);
            return NULL;
        }
    }
    return f;
}

/* ---- in the form that is known ---- */

static bool same_keys(const EfFields *f, const EfTable *table) {
    if (table->n != f->n_keys) {
        return false;
    }
    for (Py_ssize_t i = 0; i < f->n_keys; i++) {
        if (table->entries[2 * i] != f->keys[i]) {
            return false;
        }
    }
    return true;
}

static PyObject *slow_value(const EfFields *f, const Field *field, PyObject *base,
                            EfRegisters *regs) {
    if (f->kind == EF_OF_CLASS) {
        return ef_class_attr(base, field->name, NULL);
    }
    if (f->kind == EF_OF_DICT) {
        return ef_item(base, field->name, regs);
    }
    return field->own ? ef_instance_attr(base, field->name)
                      : ef_attribute(base, field->name, regs);
}

typedef enum { HOLDS, FAILS, UNKNOWN } Outcome;

/* After the others, because what makes a value may move the table. */
static Outcome read_dynamic(const EfFields *f, PyObject *base, EfRegisters *regs) {
    for (int32_t i = 0; i < f->n; i++) {
        const Field *field = &f->fields[i];
        if (field->index == DYNAMIC) {
            PyObject *value = slow_value(f, field, base, regs);
            if (field->must_miss && value != NULL) {
                return FAILS;
            }
            regs->registers[field->dest] = value;
        }
    }
    return HOLDS;
}

static Outcome read_known(const EfFields *f, PyObject *base, EfRegisters *regs) {
    EfTable table;
    if (f->kind != EF_OF_DICT) {
        PyTypeObject *cls = f->kind == EF_OF_CLASS ? (PyTypeObject *)base : Py_TYPE(base);
        if (cls != f->cls || ef_type_version(cls) != f->version) {
            return UNKNOWN;
        }
    }
    if (f->kind != EF_OF_CLASS
        && !(f->kind == EF_OF_DICT ? ef_dict_table(base, &table)
                                   : ef_instance_table(base, &table))) {
        return UNKNOWN;
    }
    if (f->n_keys >= 0 && !same_keys(f, &table)) {
        return UNKNOWN;
    }
    for (int32_t i = 0; i < f->n; i++) {
        const Field *field = &f->fields[i];
        PyObject *value = field->value;
        if (field->index >= 0) {
            if (f->n_keys < 0
                && (field->index >= table.n || table.entries[2 * field->index] != field->key)) {
                return UNKNOWN;
            }
            value = table.values != NULL ? table.values[field->index]
                                         : table.entries[2 * field->index + 1];
            if (value == NULL && !field->own && f->kind == EF_OF_INSTANCE) {
                return UNKNOWN;
            }
        } else if (field->index == DYNAMIC) {
            continue;
        }
        if (field->must_miss && value != NULL) {
            return FAILS;
        }
        regs->registers[field->dest] = value;
    }
    return f->has_dynamic ? read_dynamic(f, base, regs) : HOLDS;
}

/* ---- learning it ---- */

static Py_ssize_t index_of(const EfTable *table, PyObject *name) {
    for (Py_ssize_t i = 0; i < table->n; i++) {
        PyObject *key = table->entries[2 * i];
        if (key == name || (key != NULL && PyUnicode_Compare(key, name) == 0)) {
            return i;
        }
    }
    return ABSENT;
}

static bool never_changes(PyObject *value) {
    PyTypeObject *tp = Py_TYPE(value);
    return (tp->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) || !(tp->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

/* What the class says about an attribute that is read through an instance: whether that stays as
 * it is for as long as the class has this version. */
static bool is_settled(PyObject *of_class, bool in_instance) {
    if (of_class == NULL) {
        return true;
    }
    PyTypeObject *tp = Py_TYPE(of_class);
    return never_changes(of_class)
        && (tp->tp_descr_get == NULL || (in_instance && tp->tp_descr_set == NULL));
}

static void learn_field(EfFields *f, Field *field, const EfTable *table) {
    bool through_class = f->kind == EF_OF_INSTANCE && !field->own;
    PyObject *of_class = through_class ? _PyType_Lookup(f->cls, field->name) : NULL;
    Py_ssize_t index = index_of(table, field->name);
    bool in_instance = index != ABSENT
        && (table->values != NULL ? table->values[index] : table->entries[2 * index + 1]) != NULL;
    field->value = NULL;
    field->index = DYNAMIC;
    if (!is_settled(of_class, in_instance)) {
        return;
    }
    if (in_instance) {
        field->index = (int32_t)index;
        field->key = Py_NewRef(table->entries[2 * index]);
    } else if (index == ABSENT) {
        field->index = ABSENT;
        field->value = of_class;
    } else if (field->own || f->kind == EF_OF_DICT) {
        field->index = (int32_t)index;
        field->key = Py_NewRef(table->entries[2 * index]);
    }
}

/* Absence follows from all keys; where there are too many to compare, it is looked up. */
static void learn_keys(EfFields *f, const EfTable *table) {
    Py_ssize_t absences = 0;
    for (int32_t i = 0; i < f->n; i++) {
        absences += f->fields[i].index == ABSENT;
    }
    bool few = table->n <= FREE_KEYS + KEYS_PER_ABSENCE * absences;
    PyObject **keys = absences == 0 || !few
        ? NULL : PyMem_Malloc(((size_t)table->n + 1) * sizeof *keys);
    if (keys != NULL) {
        for (Py_ssize_t i = 0; i < table->n; i++) {
            keys[i] = Py_XNewRef(table->entries[2 * i]);
        }
        f->keys = keys;
        f->n_keys = table->n;
        return;
    }
    for (int32_t i = 0; i < f->n; i++) {
        if (f->fields[i].index == ABSENT) {
            f->fields[i].index = DYNAMIC;
        }
    }
}

static void learn_class(EfFields *f, PyObject *base) {
    if (!PyType_Check(base)) {
        return;
    }
    f->cls = (PyTypeObject *)base;
    for (int32_t i = 0; i < f->n; i++) {
        f->fields[i].index = ABSENT;
        f->fields[i].value = _PyType_Lookup(f->cls, f->fields[i].name);
    }
    f->version = ef_type_version(f->cls);
    f->known = f->version != 0;
}

static void learn(EfFields *f, PyObject *base) {
    EfTable table;
    forget(f);
    if (++f->lessons > MOST_LESSONS) {
        return;
    }
    if (f->kind == EF_OF_CLASS) {
        learn_class(f, base);
        return;
    }
    if (f->kind == EF_OF_INSTANCE) {
        f->cls = Py_TYPE(base);
        if (PyType_Check(base) || PyMethod_Check(base) || !ef_is_generic(f->cls)) {
            return;
        }
        _PyType_Lookup(f->cls, f->fields[0].name);      /* gives the class a version */
        f->version = ef_type_version(f->cls);
        if (f->version == 0) {
            return;
        }
    }
    if (!(f->kind == EF_OF_DICT ? ef_dict_table(base, &table)
                                : ef_instance_table(base, &table))) {
        return;
    }
    for (int32_t i = 0; i < f->n; i++) {
        learn_field(f, &f->fields[i], &table);
    }
    learn_keys(f, &table);
    f->has_dynamic = false;
    for (int32_t i = 0; i < f->n; i++) {
        f->has_dynamic = f->has_dynamic || f->fields[i].index == DYNAMIC;
    }
    f->known = true;
}

bool ef_fields_read(EfFields *f, PyObject *base, EfRegisters *regs) {
    if (base != NULL && f->known) {
        int n_made = regs->n_made;
        Outcome outcome = read_known(f, base, regs);
        if (outcome != UNKNOWN) {
            return outcome == HOLDS;
        }
        while (regs->n_made > n_made) {
            Py_DECREF(regs->made[--regs->n_made]);
        }
    }
    for (int32_t i = 0; i < f->n; i++) {
        const Field *field = &f->fields[i];
        PyObject *value = base == NULL ? NULL : slow_value(f, field, base, regs);
        if (field->must_miss && value != NULL) {
            return false;
        }
        regs->registers[field->dest] = value;
    }
    if (base != NULL && f->lessons <= MOST_LESSONS) {
        learn(f, base);
    }
    return true;
}
