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

static void free_item(EfCallbackCache *item) {
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
    EfCallbackCache *item = cache->first;
    while (item != NULL) {
        EfCallbackCache *next = item->next;
        free_item(item);
        item = next;
    }
    PyMem_Free(cache);
}

int ef_code_cache_init(void) {
    extra_index = PyUnstable_Eval_RequestCodeExtraIndex(free_cache);
    if (extra_index < 0) {
        PyErr_SetString(PyExc_ImportError, "no code extra slot is left");
        return -1;
    }
    return 0;
}

EfCodeCache *ef_code_cache(PyCodeObject *code, bool create) {
    void *extra = NULL;
    if (PyUnstable_Code_GetExtra((PyObject *)code, extra_index, &extra) < 0) {
        PyErr_Clear();
        return NULL;
    }
    if (extra != NULL || !create) {
        return extra;
    }
    EfCodeCache *cache = PyMem_Calloc(1, sizeof *cache);
    if (cache == NULL) {
        return NULL;
    }
    if (PyUnstable_Code_SetExtra((PyObject *)code, extra_index, cache) < 0) {
        PyErr_Clear();
        PyMem_Free(cache);
        return NULL;
    }
    cache->next = all_caches;
    if (all_caches != NULL) {
        all_caches->previous = cache;
    }
    all_caches = cache;
    return cache;
}

static bool is_for(const EfCallbackCache *item, PyObject *callback) {
    return item->callback == callback
        || (PyWeakref_CheckRefExact(item->callback)
            && ((PyWeakReference *)item->callback)->wr_object == callback);
}

/* Take an item that holds this reference out of the cache; NULL if there is none. */
static EfCallbackCache *take_out(EfCodeCache *cache, PyObject *reference) {
    for (EfCallbackCache **link = &cache->first; *link != NULL; link = &(*link)->next) {
        EfCallbackCache *item = *link;
        if (item->callback == reference) {
            *link = item->next;
            return item;
        }
    }
    return NULL;
}

/* A callback is gone. Freeing what it made may free code and with it caches: begin again. */
static PyObject *forget(PyObject *Py_UNUSED(module), PyObject *reference) {
    EfCodeCache *cache = all_caches;
    while (cache != NULL) {
        EfCallbackCache *item = take_out(cache, reference);
        if (item != NULL) {
            free_item(item);
        }
        cache = item != NULL ? all_caches : cache->next;
    }
    Py_RETURN_NONE;
}

static PyObject *weak_or_strong(PyObject *callback) {
    static PyMethodDef definition = {"forget", forget, METH_O, NULL};
    static PyObject *listener;
    if (listener == NULL) {
        listener = PyCFunction_New(&definition, NULL);
    }
    PyObject *reference = listener == NULL ? NULL : PyWeakref_NewRef(callback, listener);
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
    item->next = cache->first;
    cache->first = item;
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

/* It may free code objects too, and with them caches. */
void ef_reset_codes(void) {
    EfCodeCache *cache = all_caches;
    while (cache != NULL) {
        EfEntryList *list = used_list(cache);
        if (list == NULL) {
            cache = cache->next;
        } else {
            ef_list_clear(list);
            cache = all_caches;
        }
    }
}
