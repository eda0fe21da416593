/* What hooked frames of one code object use, kept in the code object's extra slot.
 *
 * The collector does not see into that slot: callbacks are held weakly, and what they made goes
 * with them; and every cache is in one list that `reset_all` can empty.
 */
#include "eval_frame.h"
#include "code_cache.h"

#if PY_VERSION_HEX < 0x030C0000
#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#define PyUnstable_Code_GetExtra _PyCode_GetExtra
#define PyUnstable_Code_SetExtra _PyCode_SetExtra
#endif

static Py_ssize_t extra_index = -1;
static EfCodeCache *all_caches;
static bool finished;

/* The weak reference to a callback, which knows what the callback made. */
typedef struct {
    PyWeakReference base;
    EfCallbackCache *made;
} Holder;

static PyTypeObject *holder_type;

static EfCallbackCache **made_by(PyObject *reference) {
    return Py_IS_TYPE(reference, holder_type) ? &((Holder *)reference)->made : NULL;
}

static void link_item(EfCodeCache *cache, EfCallbackCache *item) {
    EfCallbackCache **made = made_by(item->callback);
    item->cache = cache;
    item->next = cache->first;
    if (item->next != NULL) {
        item->next->previous = item;
    }
    cache->first = item;
    if (made != NULL) {
        item->next_made = *made;
        if (item->next_made != NULL) {
            item->next_made->previous_made = item;
        }
        *made = item;
    }
}

static void unlink_item(EfCallbackCache *item) {
    EfCallbackCache **made = made_by(item->callback);
    *(item->previous != NULL ? &item->previous->next : &item->cache->first) = item->next;
    if (item->next != NULL) {
        item->next->previous = item->previous;
    }
    if (made != NULL) {
        *(item->previous_made != NULL ? &item->previous_made->next_made : made) = item->next_made;
    }
    if (item->next_made != NULL) {
        item->next_made->previous_made = item->previous_made;
    }
}

/* What it holds may end other code objects and callbacks: nothing refers to the item by then. */
static void free_item(EfCallbackCache *item) {
    unlink_item(item);
    ef_list_clear(&item->list);
    Py_DECREF(item->callback);
    PyMem_Free(item);
}

static void free_cache(void *extra) {
    EfCodeCache *cache = extra;
    if (cache == NULL) {
        return;
    }
    if (cache->previous != NULL) {
        cache->previous->next = cache->next;
    } else {
        all_caches = cache->next;
    }
    if (cache->next != NULL) {
        cache->next->previous = cache->previous;
    }
    while (cache->first != NULL) {
        free_item(cache->first);
    }
    PyMem_Free(cache);
}

#if EF_SUPPORTED

/* What `co_extra` points to: private to CPython, the same from 3.11 to 3.13. */
typedef struct {
    Py_ssize_t size;
    void *extras[1];
} CodeExtras;

/* Setting an extra makes room for the slots that others asked for later, too, and when a code
 * object ends CPython calls what frees each slot it has room for, empty or not. Some of these
 * functions are gone by then (those that ctypes makes, at exit): code whose later slots nobody
 * has set must have no room for them. */
static int set_extra(PyCodeObject *code, EfCodeCache *cache) {
    CodeExtras *before = code->co_extra;
    Py_ssize_t room = before == NULL ? 0 : before->size;
    if (PyUnstable_Code_SetExtra((PyObject *)code, extra_index, cache) < 0) {
        return -1;
    }
    ((CodeExtras *)code->co_extra)->size = Py_MAX(room, extra_index + 1);
    return 0;
}

static bool used_by_others(const CodeExtras *extras) {
    for (Py_ssize_t i = 0; i < extras->size; i++) {
        if (i != extra_index && extras->extras[i] != NULL) {
            return true;
        }
    }
    return false;
}

/* At exit: leave no room in code objects for slots that others asked for earlier, either. Frames
 * that run may use a cache: it stays, with nothing in it. */
static void drop_unused_extras(void) {
    for (EfCodeCache *cache = all_caches; cache != NULL; cache = cache->next) {
        PyCodeObject *code = cache->code;
        if (!used_by_others(code->co_extra)) {
            PyMem_Free(code->co_extra);
            code->co_extra = NULL;
        }
    }
}

#else

static int set_extra(PyCodeObject *code, EfCodeCache *cache) {
    return PyUnstable_Code_SetExtra((PyObject *)code, extra_index, cache);
}

static void drop_unused_extras(void) {}

#endif

/* Called by `atexit`: from now on code objects are given no caches. */
static PyObject *finish(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
    if (extra_index > 0 && !finished) {
        finished = true;
        ef_reset_codes();
        drop_unused_extras();
    }
    Py_RETURN_NONE;
}

static int call_at_exit(PyMethodDef *definition) {
    PyObject *atexit = PyImport_ImportModule("atexit");
    PyObject *function = atexit == NULL ? NULL : PyCFunction_New(definition, NULL);
    PyObject *done = function == NULL ? NULL
        : PyObject_CallMethod(atexit, "register", "O", function);
    Py_XDECREF(atexit);
    Py_XDECREF(function);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

static int make_holder_type(void) {
    static PyType_Slot slots[] = {{0, NULL}};
    static PyType_Spec spec = {
        .name = "graphwright.capture._eval_frame.holder",
        .basicsize = sizeof(Holder),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots};
    if (holder_type == NULL) {
        PyObject *made = PyType_FromSpecWithBases(&spec, (PyObject *)&_PyWeakref_RefType);
        holder_type = (PyTypeObject *)made;
    }
    return holder_type == NULL ? -1 : 0;
}

int ef_code_cache_init(void) {
    static PyMethodDef definition = {"finish", finish, METH_NOARGS, NULL};
    extra_index = PyUnstable_Eval_RequestCodeExtraIndex(free_cache);
    if (extra_index < 0) {
        PyErr_SetString(PyExc_ImportError, "no code extra slot is left");
        return -1;
    }
    if (make_holder_type() < 0) {
        return -1;
    }
    return call_at_exit(&definition);
}

EfCodeCache *ef_code_cache(PyCodeObject *code, bool create) {
    void *extra = NULL;
    if (PyUnstable_Code_GetExtra((PyObject *)code, extra_index, &extra) < 0) {
        PyErr_Clear();
        return NULL;
    }
    if (extra != NULL || !create || finished) {
        return extra;
    }
    EfCodeCache *cache = PyMem_Calloc(1, sizeof *cache);
    if (cache == NULL) {
        return NULL;
    }
    if (set_extra(code, cache) < 0) {
        PyErr_Clear();
        PyMem_Free(cache);
        return NULL;
    }
    cache->code = code;
    cache->next = all_caches;
    if (all_caches != NULL) {
        all_caches->previous = cache;
    }
    all_caches = cache;
    return cache;
}

static bool is_for(const EfCallbackCache *item, PyObject *callback) {
    return item->callback == callback
        || (Py_IS_TYPE(item->callback, holder_type)
            && ((PyWeakReference *)item->callback)->wr_object == callback);
}

/* A callback is gone, and what it made goes, too. */
static PyObject *forget(PyObject *Py_UNUSED(module), PyObject *reference) {
    EfCallbackCache **made = made_by(Py_NewRef(reference));
    while (made != NULL && *made != NULL) {
        free_item(*made);
    }
    Py_DECREF(reference);
    Py_RETURN_NONE;
}

static PyObject *known_holder(PyObject *callback) {
    Py_ssize_t offset = Py_TYPE(callback)->tp_weaklistoffset;
    PyWeakReference *reference = NULL;
    if (offset != 0) {
        reference = *(PyWeakReference **)((char *)callback + offset);
    }
    while (reference != NULL && !Py_IS_TYPE(reference, holder_type)) {
        reference = reference->wr_next;
    }
    return Py_XNewRef((PyObject *)reference);
}

static PyObject *weak_or_strong(PyObject *callback) {
    static PyMethodDef definition = {"forget", forget, METH_O, NULL};
    static PyObject *listener;
    if (listener == NULL) {
        listener = PyCFunction_New(&definition, NULL);
    }
    PyObject *reference = known_holder(callback);
    if (reference == NULL && listener != NULL) {
        PyObject *args[] = {callback, listener};
        reference = PyObject_Vectorcall((PyObject *)holder_type, args, 2, NULL);
    }
    if (reference == NULL) {
        PyErr_Clear();
        return Py_NewRef(callback);
    }
    return reference;
}

EfEntryList *ef_code_entries(EfCodeCache *cache, PyObject *callback) {
    for (EfCallbackCache *item = cache->first; item != NULL; item = item->next) {
        if (is_for(item, callback)) {
            return &item->list;
        }
    }
    EfCallbackCache *item = PyMem_Calloc(1, sizeof *item);
    if (item == NULL) {
        return NULL;
    }
    item->callback = weak_or_strong(callback);
    link_item(cache, item);
    return &item->list;
}

/* A list of entries that is not as new; NULL if the cache has none. */
static EfEntryList *used_list(EfCodeCache *cache) {
    for (EfCallbackCache *item = cache->first; item != NULL; item = item->next) {
        if (item->list.n != 0 || item->list.skip || item->list.limit_told) {
            return &item->list;
        }
    }
    return NULL;
}

/* Clearing a list may end its callback, and with it lists of the same cache: begin again. */
void ef_reset_code(PyCodeObject *code) {
    EfCodeCache *cache = ef_code_cache(code, false);
    EfEntryList *list;
    while (cache != NULL && (list = used_list(cache)) != NULL) {
        ef_list_clear(list);
    }
}

/* It may free code objects too, and with them caches: those of the code that is held stay. */
void ef_reset_codes(void) {
    EfCodeCache *cache = all_caches;
    PyCodeObject *code = cache == NULL ? NULL : (PyCodeObject *)Py_NewRef(cache->code);
    while (cache != NULL) {
        EfEntryList *list;
        while ((list = used_list(cache)) != NULL) {
            ef_list_clear(list);
        }
        cache = cache->next;
        PyCodeObject *next = cache == NULL ? NULL : (PyCodeObject *)Py_NewRef(cache->code);
        Py_SETREF(code, next);
    }
}
