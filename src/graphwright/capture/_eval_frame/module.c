/* The module: types, sentinels, and the readers that translated code calls. */
#include "eval_frame.h"
#include "code_cache.h"
#include "fields.h"

PyObject *ef_missing;
PyObject *ef_run_natively;

static PyObject *or_raise(PyObject *value, PyObject *error, PyObject *name) {
    if (value == NULL && !PyErr_Occurred()) {
        PyErr_SetObject(error, name);
    }
    return Py_XNewRef(value);
}

static PyObject *loaded_module(PyObject *Py_UNUSED(module), PyObject *name) {
    PyObject *found = PyDict_GetItemWithError(PyImport_GetModuleDict(), name);
    return or_raise(found, PyExc_ModuleNotFoundError, name);
}

static PyObject *function_global(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *function, *name;
    if (!PyArg_ParseTuple(args, "O!U", &PyFunction_Type, &function, &name)) {
        return NULL;
    }
    PyFunctionObject *f = (PyFunctionObject *)function;
    PyObject *value = PyDict_GetItemWithError(f->func_globals, name);
    if (value == NULL && !PyErr_Occurred()) {
        value = PyObject_GetItem(f->func_builtins, name);
        if (value != NULL) {
            return value;
        }
        PyErr_Clear();
    }
    return or_raise(value, PyExc_NameError, name);
}

/* The caller's name object is interned, as attribute lookups expect. */
static PyObject *interned(PyObject *name) {
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    return name;
}

static PyObject *instance_attribute(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *instance, *name;
    if (!PyArg_ParseTuple(args, "OU", &instance, &name)) {
        return NULL;
    }
    name = interned(name);
    PyObject *value = or_raise(ef_instance_attr(instance, name), PyExc_AttributeError, name);
    Py_DECREF(name);
    return value;
}

static PyObject *class_attribute(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *instance, *name;
    if (!PyArg_ParseTuple(args, "OU", &instance, &name)) {
        return NULL;
    }
    name = interned(name);
    PyObject *found = ef_class_attr((PyObject *)Py_TYPE(instance), name, NULL);
    PyObject *value = or_raise(found, PyExc_AttributeError, name);
    Py_DECREF(name);
    return value;
}

static PyObject *mro_attribute(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *cls, *name, *after = Py_None;
    if (!PyArg_ParseTuple(args, "O!U|O", &PyType_Type, &cls, &name, &after)) {
        return NULL;
    }
    name = interned(name);
    PyObject *value = or_raise(ef_class_attr(cls, name, after), PyExc_AttributeError, name);
    Py_DECREF(name);
    return value;
}

static PyObject *dict_entry(PyObject *args, bool of_value) {
    PyObject *dict, *value = NULL;
    Py_ssize_t position;
    if (!PyArg_ParseTuple(args, "O!n", &PyDict_Type, &dict, &position)) {
        return NULL;
    }
    PyObject *key = ef_dict_at(dict, position, &value);
    if (key == NULL) {
        return PyErr_SetString(PyExc_IndexError, "no such position in the dict"), NULL;
    }
    return Py_NewRef(of_value ? value : key);
}

/* Its own names, past what its class may define as `__dict__`. */
static PyObject *instance_dict(PyObject *Py_UNUSED(module), PyObject *instance) {
    if (PyType_Check(instance)) {
        return PyErr_SetString(PyExc_TypeError, "a class has no dict of an instance"), NULL;
    }
    return PyObject_GenericGetDict(instance, NULL);
}

static PyObject *dict_key(PyObject *Py_UNUSED(module), PyObject *args) {
    return dict_entry(args, false);
}

static PyObject *dict_value(PyObject *Py_UNUSED(module), PyObject *args) {
    return dict_entry(args, true);
}

static PyObject *referent(PyObject *Py_UNUSED(module), PyObject *reference) {
    if (!PyWeakref_CheckRef(reference)) {
        return PyErr_SetString(PyExc_TypeError, "a weak reference is needed"), NULL;
    }
    return Py_NewRef(ef_referent(reference));
}

/* What a class is listed by among the subclasses of its bases is the weak reference to it that has
 * no callback, of which there is one at a time. Such a reference, cleared, is passed over. */
static PyObject *unlist_subclass(PyObject *Py_UNUSED(module), PyObject *cls) {
    PyObject *reference = PyWeakref_NewRef(cls, NULL);
    if (reference == NULL) {
        return NULL;
    }
    _PyWeakref_ClearRef((PyWeakReference *)reference);
    Py_DECREF(reference);
    Py_RETURN_NONE;
}

static PyObject *is_constant(PyObject *Py_UNUSED(module), PyObject *value) {
    return PyBool_FromLong(ef_is_constant(value));
}

static PyObject *capturing(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyBool_FromLong(ef_capturing());
}

static PyObject *in_main_interpreter(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    return PyBool_FromLong(PyInterpreterState_Get() == PyInterpreterState_Main());
}

/* Zero: the interpreter has no versions left, and no guard on one holds. */
static PyObject *type_version(PyObject *Py_UNUSED(module), PyObject *cls) {
    if (!PyType_Check(cls)) {
        PyErr_Format(PyExc_TypeError, "%R is no class", cls);
        return NULL;
    }
    PyTypeObject *tp = (PyTypeObject *)cls;
    PyObject *name = PyUnicode_InternFromString("__class__");
    if (name == NULL) {
        return NULL;
    }
    _PyType_Lookup(tp, name);       /* gives the class a version */
    Py_DECREF(name);
    unsigned int version = ef_type_version(tp);
    return PyLong_FromLongLong(version != 0 ? (long long)version : -1);
}

static PyMethodDef methods[] = {
    {"type_version", type_version, METH_O, NULL},
    {"in_main_interpreter", in_main_interpreter, METH_NOARGS, NULL},
    {"loaded_module", loaded_module, METH_O, NULL},
    {"function_global", function_global, METH_VARARGS, NULL},
    {"instance_attribute", instance_attribute, METH_VARARGS, NULL},
    {"instance_dict", instance_dict, METH_O, NULL},
    {"class_attribute", class_attribute, METH_VARARGS, NULL},
    {"mro_attribute", mro_attribute, METH_VARARGS, NULL},
    {"dict_key", dict_key, METH_VARARGS, NULL},
    {"dict_value", dict_value, METH_VARARGS, NULL},
    {"referent", referent, METH_O, NULL},
    {"unlist_subclass", unlist_subclass, METH_O, NULL},
    {"is_constant", is_constant, METH_O, NULL},
    {"capturing", capturing, METH_NOARGS, NULL},
    {"set_stance", ef_set_stance, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_eval_frame",
    .m_doc = "The frame hook, the dispatcher of compiled functions and guard programs.",
    .m_size = -1,
    .m_methods = methods,
};

/* An instance of a class that has nothing but a name. */
static PyObject *sentinel(const char *name) {
    PyObject *cls = PyObject_CallFunction((PyObject *)&PyType_Type, "s()N", name,
                                          Py_BuildValue("{s:s}", "__module__", definition.m_name));
    PyObject *value = cls == NULL ? NULL : PyObject_CallNoArgs(cls);
    Py_XDECREF(cls);
    return value;
}

static int add_contents(PyObject *module) {
    PyTypeObject *types[] = {&EfGuardProgram_Type, &EfEntry_Type, &EfCompiledFunction_Type,
                             &EfContinuation_Type};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (PyModule_AddType(module, types[i]) < 0) {
            return -1;
        }
    }
    ef_missing = sentinel("Missing");
    ef_run_natively = sentinel("RunNatively");
    if (ef_missing == NULL || ef_run_natively == NULL || ef_code_cache_init() < 0
        || ef_caches_init() < 0) {
        return -1;
    }
    return PyModule_AddObjectRef(module, "MISSING", ef_missing) < 0
        || PyModule_AddObjectRef(module, "RUN_NATIVELY", ef_run_natively) < 0
        || PyModule_AddObjectRef(module, "SUPPORTED", EF_SUPPORTED ? Py_True : Py_False) < 0
        || PyModule_AddObjectRef(module, "READS_CACHES", ef_reads_caches() ? Py_True : Py_False) < 0
        || PyModule_AddFunctions(module, ef_cache_methods) < 0
        || PyModule_AddFunctions(module, ef_hook_methods) < 0
        || PyModule_AddFunctions(module, ef_generator_methods) < 0
        || PyModule_AddFunctions(module, ef_iterator_methods) < 0
        || PyModule_AddFunctions(module, ef_continuation_methods) < 0
        || ef_add_subscripted(module) < 0 ? -1 : 0;
}

PyMODINIT_FUNC PyInit__eval_frame(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && (add_contents(module) < 0 || ef_interruptions_init() < 0)) {
        Py_CLEAR(module);
    }
    return module;
}
