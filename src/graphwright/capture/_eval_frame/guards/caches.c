/* What `functools.lru_cache` keeps: found and filled without running the cached function.
 *
 * CPython shows neither. The layout of the object is that of 3.11 to 3.13; before it is relied on,
 * a cache is made whose contents are known and looked at. */
#include "eval_frame.h"

typedef struct Link {
    PyObject_HEAD
    struct Link *previous, *next;
    Py_hash_t hash;
    PyObject *key, *result;
} Link;

typedef struct {
    Link root;
    void *call;
    int typed;
    PyObject *results;      /* key -> result, or -> link where the size is bounded */
    Py_ssize_t hits;
    PyObject *function;
    Py_ssize_t max_size;    /* -1: any size */
    Py_ssize_t misses;
    PyObject *keyword_mark;
} Cache;

static PyTypeObject *cache_type;    /* NULL where the layout is another */

static bool is_cache(PyObject *value) {
    return cache_type != NULL && Py_TYPE(value) == cache_type;
}

/* The key of a call, as the cached function makes it; a new reference. */
static PyObject *key_of(const Cache *cache, PyObject *args, PyObject *kwargs) {
    Py_ssize_t n = PyTuple_GET_SIZE(args), n_keywords = kwargs ? PyDict_GET_SIZE(kwargs) : 0;
    if (!cache->typed && n_keywords == 0 && n == 1) {
        PyObject *only = PyTuple_GET_ITEM(args, 0);
        if (PyUnicode_CheckExact(only) || PyLong_CheckExact(only)) {
            return Py_NewRef(only);
        }
    }
    PyObject *key = PyList_New(0), *name, *value;
    bool failed = key == NULL;
    for (Py_ssize_t i = 0; i < n && !failed; i++) {
        failed = PyList_Append(key, PyTuple_GET_ITEM(args, i)) < 0;
    }
    failed = failed || (n_keywords && PyList_Append(key, cache->keyword_mark) < 0);
    for (Py_ssize_t at = 0; !failed && n_keywords && PyDict_Next(kwargs, &at, &name, &value);) {
        failed = PyList_Append(key, name) < 0 || PyList_Append(key, value) < 0;
    }
    for (Py_ssize_t i = 0; i < n && cache->typed && !failed; i++) {
        failed = PyList_Append(key, (PyObject *)Py_TYPE(PyTuple_GET_ITEM(args, i))) < 0;
    }
    for (Py_ssize_t at = 0; !failed && cache->typed && n_keywords
                            && PyDict_Next(kwargs, &at, &name, &value);) {
        failed = PyList_Append(key, (PyObject *)Py_TYPE(value)) < 0;
    }
    PyObject *made = failed ? NULL : PyList_AsTuple(key);
    Py_XDECREF(key);
    return made;
}

/* The key with the objects that it names by their place; a new reference. */
static PyObject *filled(PyObject *key, PyObject *const *objects, Py_ssize_t n) {
    if (n == 0 || !PyTuple_CheckExact(key)) {
        return Py_NewRef(key);
    }
    PyObject *made = PyTuple_New(PyTuple_GET_SIZE(key));
    for (Py_ssize_t i = 0, at = 0; made != NULL && i < PyTuple_GET_SIZE(key); i++) {
        PyObject *part = PyTuple_GET_ITEM(key, i);
        if (part == ef_missing && at < n) {
            part = objects[at++];
        }
        if (part == NULL) {
            Py_CLEAR(made);
        } else {
            PyTuple_SET_ITEM(made, i, Py_NewRef(part));
        }
    }
    return made;
}

PyObject *ef_cached_result(PyObject *function, PyObject *key, PyObject *const *objects,
                           Py_ssize_t n) {
    if (function == NULL || !is_cache(function)) {
        return NULL;
    }
    const Cache *cache = (Cache *)function;
    PyObject *whole = filled(key, objects, n);
    PyObject *found = whole == NULL || cache->max_size == 0
        ? NULL : PyDict_GetItemWithError(cache->results, whole);
    Py_XDECREF(whole);
    PyErr_Clear();
    return found == NULL || cache->max_size < 0 ? found : ((Link *)found)->result;
}

static Cache *checked(PyObject *function) {
    if (!is_cache(function)) {
        PyErr_SetString(PyExc_TypeError, "a function under functools.lru_cache is needed");
        return NULL;
    }
    return (Cache *)function;
}

static PyObject *cache_key(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *function, *given, *kwargs;
    if (!PyArg_ParseTuple(args, "OO!O!", &function, &PyTuple_Type, &given, &PyDict_Type, &kwargs)
        || checked(function) == NULL) {
        return NULL;
    }
    return key_of((Cache *)function, given, kwargs);
}

static PyObject *cached_function(PyObject *Py_UNUSED(module), PyObject *function) {
    const Cache *cache = checked(function);
    return cache == NULL ? NULL : Py_NewRef(cache->function);
}

static PyObject *cached_result(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    if (n < 2 || checked(PyTuple_GET_ITEM(args, 0)) == NULL) {
        return PyErr_Occurred() ? NULL
            : (PyErr_SetString(PyExc_TypeError, "a cached function and a key are needed"), NULL);
    }
    PyObject *found = ef_cached_result(PyTuple_GET_ITEM(args, 0), PyTuple_GET_ITEM(args, 1),
                                       &PyTuple_GET_ITEM(args, 2), n - 2);
    return Py_NewRef(found == NULL ? ef_missing : found);
}

static PyObject *give(PyObject *result, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs)) {
    return Py_NewRef(result);
}

static PyMethodDef giving = {"give", (PyCFunction)(void (*)(void))give,
                             METH_VARARGS | METH_KEYWORDS, NULL};

/* fill_cache(function, result, *args, **kwargs): a call that misses, in which the cached function
 * has already given `result`. A collection could call the function meanwhile. */
static PyObject *fill_cache(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs) {
    Cache *cache = PyTuple_GET_SIZE(args) < 2 ? NULL : checked(PyTuple_GET_ITEM(args, 0));
    if (cache == NULL) {
        return PyErr_Occurred() ? NULL
            : (PyErr_SetString(PyExc_TypeError, "a cached function and a result are needed"), NULL);
    }
    PyObject *given = PyTuple_GetSlice(args, 2, PyTuple_GET_SIZE(args));
    PyObject *stand_in = PyCFunction_New(&giving, PyTuple_GET_ITEM(args, 1));
    PyObject *made = NULL;
    if (given != NULL && stand_in != NULL) {
        PyObject *function = cache->function;
        int collects = PyGC_Disable();
        cache->function = stand_in;
        made = PyObject_Call((PyObject *)cache, given, kwargs);
        cache->function = function;
        if (collects) {
            PyGC_Enable();
        }
    }
    Py_XDECREF(given);
    Py_XDECREF(stand_in);
    return made;
}

PyMethodDef ef_cache_methods[] = {
    {"cache_key", cache_key, METH_VARARGS, NULL},
    {"cached_function", cached_function, METH_O, NULL},
    {"cached_result", cached_result, METH_VARARGS, NULL},
    {"fill_cache", (PyCFunction)(void (*)(void))fill_cache, METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

static bool is_as_expected(const Cache *cache, PyObject *function, PyObject *result) {
    PyObject *key, *kept;
    Py_ssize_t at = 0;
    return cache->function == function && cache->typed == 1 && cache->max_size == 77
        && cache->hits == 0 && cache->misses == 1 && PyDict_CheckExact(cache->results)
        && PyDict_Next(cache->results, &at, &key, &kept) && PyTuple_CheckExact(key)
        && kept == (PyObject *)cache->root.next && ((Link *)kept)->key == key
        && ((Link *)kept)->result == result && cache->keyword_mark != NULL;
}

/* Makes a cache of 77 results of `give`, calls it once, and looks whether all is where it should
 * be. The size of the type says first that there is as much to look at. */
int ef_caches_init(void) {
    PyObject *functools = PyImport_ImportModule("functools");
    PyObject *result = PyTuple_Pack(1, Py_None), *function = NULL, *decorator = NULL;
    PyObject *cache = NULL, *given = NULL;
    if (functools != NULL && result != NULL) {
        function = PyCFunction_New(&giving, result);
        decorator = PyObject_CallMethod(functools, "lru_cache", "ii", 77, 1);
    }
    if (function != NULL && decorator != NULL) {
        cache = PyObject_CallOneArg(decorator, function);
    }
    given = cache == NULL ? NULL : PyObject_CallOneArg(cache, Py_None);
    if (given == result && given != NULL
        && Py_TYPE(cache)->tp_basicsize >= (Py_ssize_t)sizeof(Cache)
        && is_as_expected((Cache *)cache, function, result)) {
        cache_type = (PyTypeObject *)Py_NewRef(Py_TYPE(cache));
    }
    Py_XDECREF(functools);
    Py_XDECREF(result);
    Py_XDECREF(function);
    Py_XDECREF(decorator);
    Py_XDECREF(cache);
    Py_XDECREF(given);
    return PyErr_Occurred() ? -1 : 0;
}

bool ef_reads_caches(void) {
    return cache_type != NULL;
}
