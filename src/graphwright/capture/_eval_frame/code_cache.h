/* Entries of hooked frames, per code object and callback. */
#ifndef GRAPHWRIGHT_CODE_CACHE_H
#define GRAPHWRIGHT_CODE_CACHE_H

#include "eval_frame.h"

struct EfCodeCache;

typedef struct EfCallbackCache {
    struct EfCallbackCache *previous, *next;                /* of the same code object */
    struct EfCallbackCache *previous_made, *next_made;      /* of the same callback */
    struct EfCodeCache *cache;
    PyObject *callback;     /* weak reference; the callback itself where it cannot have one */
    EfEntryList list;
} EfCallbackCache;

typedef struct EfCodeCache {
    struct EfCodeCache *previous, *next;
    PyCodeObject *code;     /* borrowed: whose extra it is */
    EfCallbackCache *first;
    bool skip;              /* never offer frames of this code to a callback */
} EfCodeCache;

int ef_code_cache_init(void);
EfCodeCache *ef_code_cache(PyCodeObject *code, bool create);    /* NULL: none, or no memory */
EfEntryList *ef_code_entries(EfCodeCache *cache, PyObject *callback);   /* NULL: no memory */
void ef_reset_code(PyCodeObject *code);
void ef_reset_codes(void);

#endif
