/* Reading attributes as `getattr` would, where that runs no Python code.
 *
 * Instance dictionaries are read in place: neither an instance's inline values (3.11 to 3.13 each
 * keep them elsewhere) nor its lazily made `__dict__` is turned into a dictionary by a guard.
 */
#define Py_BUILD_CORE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include "eval_frame.h"
#include "fields.h"

#if EF_SUPPORTED
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <internal/pycore_dict.h>
#include <internal/pycore_object.h>
#pragma GCC diagnostic pop
#endif

static PyObject *dict_get(PyObject *dict, PyObject *key) {
    PyObject *value = PyDict_GetItemWithError(dict, key);
    if (value == NULL && PyErr_Occurred()) {
        PyErr_Clear();
    }
    return value;
}

static PyObject *made_dict(PyObject *obj) {
    PyObject **pointer = _PyObject_GetDictPtr(obj);
    return pointer == NULL ? NULL : *pointer;
}

#if EF_SUPPORTED

/* Index of a string in the keys that instances of a class share, -1 if it is not there. */
static Py_ssize_t shared_index(PyDictKeysObject *keys, PyObject *name) {
    if (keys == NULL || !DK_IS_UNICODE(keys) || keys->dk_log2_size != keys->dk_log2_index_bytes) {
        return -2;
    }
    PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(keys);
    Py_hash_t hash = PyObject_Hash(name);
    size_t mask = (size_t)DK_SIZE(keys) - 1, perturb = (size_t)hash, i = (size_t)hash & mask;
    for (;;) {
        Py_ssize_t ix = ((const int8_t *)keys->dk_indices)[i];
        if (ix == DKIX_EMPTY) {
            return -1;
        }
        if (ix >= 0) {
            PyObject *key = entries[ix].me_key;
            if (key == name
                || (PyObject_Hash(key) == hash && PyUnicode_Compare(key, name) == 0)) {
                return ix;
            }
        }
        perturb >>= 5;
        i = (i * 5 + perturb + 1) & mask;
    }
}

/* The values of an instance that has no dictionary yet, or NULL. */
static PyDictValues *inline_values(PyObject *obj) {
#if PY_VERSION_HEX >= 0x030D0000
    if (!(Py_TYPE(obj)->tp_flags & Py_TPFLAGS_INLINE_VALUES)) {
        return NULL;
    }
    PyDictValues *values = _PyObject_InlineValues(obj);
    return values->valid ? values : NULL;
#elif PY_VERSION_HEX >= 0x030C0000
    PyDictOrValues dorv = *_PyObject_DictOrValuesPointer(obj);
    return _PyDictOrValues_IsValues(dorv) ? _PyDictOrValues_GetValues(dorv) : NULL;
#else
    return *_PyObject_ValuesPointer(obj);
#endif
}

static PyObject *managed_dict(PyObject *obj) {
#if PY_VERSION_HEX >= 0x030D0000
    return (PyObject *)_PyObject_GetManagedDict(obj);
#elif PY_VERSION_HEX >= 0x030C0000
    return _PyDictOrValues_GetDict(*_PyObject_DictOrValuesPointer(obj));
#else
    return *_PyObject_ManagedDictPointer(obj);
#endif
}

/* The instance's dictionary where it has one; *inline_value is set where it has inline values. */
static PyObject *dict_of(PyObject *obj, PyObject *name, bool *found_inline,
                         PyObject **inline_value) {
    PyTypeObject *tp = Py_TYPE(obj);
    if (!(tp->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
        return made_dict(obj);
    }
    PyDictValues *values = inline_values(obj);
    if (values == NULL) {
        return managed_dict(obj);
    }
    Py_ssize_t ix = shared_index(((PyHeapTypeObject *)tp)->ht_cached_keys, name);
    if (ix == -2) {
        return made_dict(obj);
    }
    *found_inline = true;
    *inline_value = ix < 0 ? NULL : values->values[ix];
    return NULL;
}

static bool table_of(PyDictKeysObject *keys, PyDictValues *values, EfTable *table) {
    if (!DK_IS_UNICODE(keys)) {
        return false;
    }
    table->entries = (PyObject *const *)DK_UNICODE_ENTRIES(keys);
    table->values = values == NULL ? NULL : values->values;
    table->n = keys->dk_nentries;
    return true;
}

bool ef_dict_table(PyObject *dict, EfTable *table) {
    if (dict == NULL || !PyDict_Check(dict)) {
        return false;
    }
    PyDictObject *d = (PyDictObject *)dict;
    return table_of(d->ma_keys, d->ma_values, table);
}

bool ef_instance_table(PyObject *obj, EfTable *table) {
    PyTypeObject *tp = Py_TYPE(obj);
    if (!(tp->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
        return ef_dict_table(made_dict(obj), table);
    }
    PyDictValues *values = inline_values(obj);
    if (values == NULL) {
        return ef_dict_table(managed_dict(obj), table);
    }
    PyDictKeysObject *keys = ((PyHeapTypeObject *)tp)->ht_cached_keys;
    return keys != NULL && table_of(keys, values, table);
}

PyObject *ef_instance_attr(PyObject *obj, PyObject *name) {
    bool found_inline = false;
    PyObject *value = NULL;
    PyObject *dict = dict_of(obj, name, &found_inline, &value);
    return found_inline || dict == NULL ? value : dict_get(dict, name);
}

#else

bool ef_dict_table(PyObject *Py_UNUSED(dict), EfTable *Py_UNUSED(table)) { return false; }
bool ef_instance_table(PyObject *Py_UNUSED(obj), EfTable *Py_UNUSED(table)) { return false; }

PyObject *ef_instance_attr(PyObject *obj, PyObject *name) {
    PyObject *dict = made_dict(obj);
    return dict == NULL ? NULL : dict_get(dict, name);
}

#endif

static PyObject *own_class_dict(PyTypeObject *cls, PyObject *name) {
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *dict = PyType_GetDict(cls);
    PyObject *value = dict == NULL ? NULL : dict_get(dict, name);
    Py_XDECREF(dict);
    return value;
#else
    return cls->tp_dict == NULL ? NULL : dict_get(cls->tp_dict, name);
#endif
}

PyObject *ef_class_attr(PyObject *cls, PyObject *name, PyObject *after) {
    if (!PyType_Check(cls)) {
        return NULL;
    }
    PyTypeObject *tp = (PyTypeObject *)cls;
    if (after == NULL || after == Py_None) {
        return _PyType_Lookup(tp, name);
    }
    PyObject *mro = tp->tp_mro;
    bool behind = false;
    for (Py_ssize_t i = 0; mro != NULL && i < PyTuple_GET_SIZE(mro); i++) {
        PyObject *base = PyTuple_GET_ITEM(mro, i);
        PyObject *value = behind ? own_class_dict((PyTypeObject *)base, name) : NULL;
        if (value != NULL) {
            return value;
        }
        behind = behind || base == after;
    }
    return NULL;
}

/* Descriptors whose `__get__` is known to be plain C. */
static bool is_plain_descriptor(PyObject *descr) {
    PyTypeObject *tp = Py_TYPE(descr);
    return tp == &PyMemberDescr_Type || tp == &PyGetSetDescr_Type || tp == &PyFunction_Type
        || tp == &PyMethodDescr_Type || tp == &PyWrapperDescr_Type || tp == &PyStaticMethod_Type
        || tp == &PyClassMethod_Type || tp == &PyClassMethodDescr_Type;
}

static PyObject *bind_descriptor(PyObject *descr, PyObject *obj, PyObject *cls,
                                 PyObject **owned) {
    if (!is_plain_descriptor(descr)) {
        return NULL;
    }
    if (obj != NULL && Py_TYPE(descr) == &PyMemberDescr_Type) {
        PyMemberDef *member = ((PyMemberDescrObject *)descr)->d_member;
        if (member->type == T_OBJECT_EX && !(member->flags & ~READONLY)) {
            return *(PyObject **)((char *)obj + member->offset);
        }
    }
    if (Py_TYPE(descr) == &PyFunction_Type && obj == NULL) {
        return descr;
    }
    PyObject *value = Py_TYPE(descr)->tp_descr_get(descr, obj, cls);
    if (value == NULL) {
        PyErr_Clear();
    }
    *owned = value;
    return value;
}

static PyObject *resolve(PyObject *descr, PyObject *obj, PyObject *cls, PyObject **owned) {
    if (descr == NULL || Py_TYPE(descr)->tp_descr_get == NULL) {
        return descr;
    }
    return bind_descriptor(descr, obj, cls, owned);
}

static bool is_data_descriptor(PyObject *descr) {
    return descr != NULL && Py_TYPE(descr)->tp_descr_set != NULL
        && Py_TYPE(descr)->tp_descr_get != NULL;
}

bool ef_is_generic(PyTypeObject *tp) {
    static PyObject *name, *builtin[3];
    if (tp->tp_getattro == PyObject_GenericGetAttr
        || tp->tp_getattro == PyModule_Type.tp_getattro
        || tp->tp_getattro == PyType_Type.tp_getattro) {
        return true;
    }
    if (name == NULL) {
        name = PyUnicode_InternFromString("__getattribute__");
        builtin[0] = _PyType_Lookup(&PyBaseObject_Type, name);
        builtin[1] = _PyType_Lookup(&PyModule_Type, name);
        builtin[2] = _PyType_Lookup(&PyType_Type, name);
    }
    PyObject *found = _PyType_Lookup(tp, name);
    return (tp->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && found != NULL
        && (found == builtin[0] || found == builtin[1] || found == builtin[2]);
}

static PyObject *attr_of_class(PyObject *cls, PyObject *name, PyObject **owned) {
    PyObject *meta = _PyType_Lookup(Py_TYPE(cls), name);
    if (is_data_descriptor(meta)) {
        return bind_descriptor(meta, cls, (PyObject *)Py_TYPE(cls), owned);
    }
    PyObject *value = _PyType_Lookup((PyTypeObject *)cls, name);
    if (value != NULL) {
        return resolve(value, NULL, cls, owned);
    }
    return resolve(meta, cls, (PyObject *)Py_TYPE(cls), owned);
}

PyObject *ef_attr(PyObject *obj, PyObject *name, PyObject **owned) {
    PyTypeObject *tp = Py_TYPE(obj);
    if (tp == &PyMethod_Type) {
        PyObject *own = _PyType_Lookup(tp, name);
        return own != NULL ? resolve(own, obj, (PyObject *)tp, owned)
                           : ef_attr(PyMethod_GET_FUNCTION(obj), name, owned);
    }
    if (!ef_is_generic(tp)) {
        return NULL;
    }
    if (PyType_Check(obj)) {
        return attr_of_class(obj, name, owned);
    }
    PyObject *descr = _PyType_Lookup(tp, name);
    if (is_data_descriptor(descr)) {
        return bind_descriptor(descr, obj, (PyObject *)tp, owned);
    }
    PyObject *value = ef_instance_attr(obj, name);
    return value != NULL ? value : resolve(descr, obj, (PyObject *)tp, owned);
}
