/* The table of packs: each belongs to a storage and is dropped with it, or when the memory has been
 * written. A budget bounds them all; what no launch has read for long makes room for others. */
#include "packs.h"
#include "large_blocks.h"

#include <unistd.h>

enum { LONG_UNUSED = 1024, UNIT = 4096 };    /* launches; bytes */

static GwPack *oldest, *newest;
static uint64_t launches;
static int64_t limit = -1;      /* -1: not decided yet */
static struct {
    size_t bytes, reserved;
    int64_t packs, made, dropped, refused;
} stats;

static int64_t budget(void) {
    if (limit < 0) {
        limit = (int64_t)sysconf(_SC_PAGESIZE) * (int64_t)sysconf(_SC_PHYS_PAGES) / 8;
    }
    return limit;
}

static size_t in_units(size_t bytes) { return (bytes + UNIT - 1) / UNIT * UNIT; }

void *gw_panels_alloc(size_t bytes) { return map_block(in_units(bytes)); }

void gw_panels_free(void *panels, size_t bytes) { unmap_block(panels, in_units(bytes)); }

/* ---- one pack ---- */

static void link_newest(GwPack *p) {
    p->older = newest;
    p->newer = NULL;
    *(newest != NULL ? &newest->newer : &oldest) = p;
    newest = p;
}

static void unlink_age(GwPack *p) {
    *(p->newer != NULL ? &p->newer->older : &newest) = p->older;
    *(p->older != NULL ? &p->older->newer : &oldest) = p->newer;
}

static void free_pack(GwPack *p) {
    stats.bytes -= p->bytes;
    stats.packs--;
    gw_panels_free(p->panels, p->bytes);
    PyMem_RawFree(p);
}

/* Nobody finds it any more. Its memory goes when the last call that reads it ends. */
static void drop(GwPack *p) {
    GwPack **at = &p->storage->packs;
    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    unlink_age(p);
    p->storage = NULL;
    stats.dropped++;
    if (p->users == 0) {
        free_pack(p);
    }
}

static bool is_of(const GwPack *p, const GwFactor *f) {
    return p->factor.offset == f->offset && gw_same_form(&p->factor.form, &f->form);
}

void gw_packs_drop(GwStorage *s) {
    while (s->packs != NULL) {
        drop(s->packs);
    }
}

/* ---- what launches ask for ---- */

GwPack *gw_pack_find(GwStorage *s, const GwFactor *factor, int64_t writes) {
    if (s->packs != NULL && s->packs->writes != writes) {     /* all are of one time */
        gw_packs_drop(s);
    }
    GwPack *p = s->packs;
    while (p != NULL && !is_of(p, factor)) {
        p = p->next;
    }
    if (p != NULL) {
        p->users++;
        p->used = ++launches;
        unlink_age(p);
        link_newest(p);
    }
    return p;
}

void gw_pack_release(GwPack *p) {
    p->users--;
    if (p->storage == NULL && p->users == 0) {
        free_pack(p);
    }
}

/* Drops what was not read for long until so many bytes fit. */
static bool make_room(size_t bytes) {
    while (stats.bytes + stats.reserved + bytes > (size_t)budget()) {
        if (oldest == NULL || oldest->users > 0 || launches - oldest->used < LONG_UNUSED) {
            return false;
        }
        drop(oldest);
    }
    return true;
}

bool gw_pack_reserve(size_t bytes) {
    launches++;
    bool fits = make_room(bytes);
    stats.reserved += fits ? bytes : 0;
    stats.refused += !fits;
    return fits;
}

void gw_pack_cancel(size_t bytes) { stats.reserved -= bytes; }

void gw_pack_keep(GwStorage *s, const GwFactor *factor, int64_t writes, void *panels,
                  size_t bytes) {
    stats.reserved -= bytes;
    GwPack *known = gw_pack_find(s, factor, writes);    /* another thread may have been sooner */
    GwPack *p = known == NULL ? PyMem_RawMalloc(sizeof *p) : NULL;
    if (known != NULL) {
        gw_pack_release(known);
    }
    if (p == NULL) {
        gw_panels_free(panels, bytes);
        return;
    }
    *p = (GwPack){.next = s->packs, .storage = s, .factor = *factor, .writes = writes,
                  .used = launches, .bytes = bytes, .panels = panels};
    s->packs = p;
    link_newest(p);
    stats.bytes += bytes;
    stats.packs++;
    stats.made++;
}

int64_t gw_packed_bytes(void) { return (int64_t)stats.bytes; }

int64_t gw_packed_limit(void) { return budget(); }

void gw_drop_all_packs(void) {
    while (oldest != NULL) {
        drop(oldest);
    }
}

/* ---- Python ---- */

static PyObject *packed_weights(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    GW_UNUSED(args);
    return Py_BuildValue("{s:L,s:L,s:L,s:L}", "count", (long long)stats.packs, "made",
                         (long long)stats.made, "dropped", (long long)stats.dropped, "refused",
                         (long long)stats.refused);
}

static PyObject *set_packed_weights_limit(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    int64_t bytes = PyLong_AsLongLong(arg), before = budget();
    if (bytes == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (bytes < 0) {
        PyErr_SetString(PyExc_ValueError, "the limit of packed weights must not be negative");
        return NULL;
    }
    limit = bytes;
    while (stats.bytes > (size_t)limit && oldest != NULL) {
        drop(oldest);
    }
    return PyLong_FromLongLong(before);
}

PyMethodDef gw_pack_methods[] = {
    {"packed_weights", packed_weights, METH_NOARGS,
     "Parameters that compiled graphs keep in the form that matrix products and convolutions\n"
     "read. count: those there are now; made, dropped: how often one was packed, and its pack was\n"
     "dropped, since it was written to, its lifetime ended or room was needed; refused: how often\n"
     "there was no room."},
    {"set_packed_weights_limit", set_packed_weights_limit, METH_O,
     "set_packed_weights_limit(bytes): the most that packed weights may take, an eighth of the\n"
     "machine's memory if this was never called; returns the previous limit. Those used least\n"
     "recently are freed where it is exceeded.\n\nRaises ValueError for a negative number."},
    {NULL, NULL, 0, NULL},
};
