/* Weights in the form that products read them in, kept beside the memory that they were made from;
 * and who else may write to that memory. All of it is guarded by the GIL. */
#ifndef GRAPHWRIGHT_PACKS_H
#define GRAPHWRIGHT_PACKS_H

#include "core.h"
#include "packed.h"

/* The right factor of a product. */
typedef struct {
    int64_t offset;         /* of its first element, in bytes from the storage's start */
    GwFactorForm form;
} GwFactor;

typedef struct GwPack {
    struct GwPack *next;            /* of the same storage */
    struct GwPack *older, *newer;   /* by last use */
    GwStorage *storage;             /* NULL once it is dropped, while calls still read it */
    GwFactor factor;
    int64_t writes;                 /* gw_writes() of the storage it was made from */
    uint64_t used;                  /* the number of the launch that read it last */
    int users;
    size_t bytes;
    void *panels;
} GwPack;

/* ---- packs.c ---- */
/* The pack of what the memory has after so many writes, which the caller releases; NULL where there
 * is none. Packs of other times are dropped. */
GwPack *gw_pack_find(GwStorage *s, const GwFactor *factor, int64_t writes);
void gw_pack_release(GwPack *pack);
/* Whether there is room for so many bytes, which then are the caller's until it calls one of the
 * next two. */
bool gw_pack_reserve(size_t bytes);
void gw_pack_cancel(size_t bytes);
/* Takes over memory of gw_panels_alloc. `writes`: those before it was filled, and now. */
void gw_pack_keep(GwStorage *s, const GwFactor *factor, int64_t writes, void *panels, size_t bytes);
void gw_packs_drop(GwStorage *s);
void gw_drop_all_packs(void);
int64_t gw_packed_bytes(void);
int64_t gw_packed_limit(void);
void *gw_panels_alloc(size_t bytes);    /* these two also without the GIL */
void gw_panels_free(void *panels, size_t bytes);
extern PyMethodDef gw_pack_methods[];

/* ---- lending.c ---- */
/* Someone may write from now on, without being counted, as long as the memory lives. */
void gw_lend(GwStorage *s);
/* The same until the next call. */
void gw_lend_for_now(GwStorage *s);
void gw_lent_back(GwStorage *s);
/* Whether all writes to the memory are counted; then `writes` is a number that grows with them. */
bool gw_writes_are_counted(const GwTensor *t, int64_t *writes);
/* A storage with a version counter of its own over the memory of `owner`, which it is lent to; when
 * its lifetime ends, what was written through it is counted there. */
void gw_alias_begun(GwStorage *alias);
void gw_alias_ended(GwStorage *s);      /* any storage */
extern PyTypeObject GwLease_Type;
extern PyMethodDef gw_lending_methods[];

#endif
