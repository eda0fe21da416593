/* Page-locked memory of the host, which copies read and write while the program goes on. A block
 * is kept for later ones of its size when it is freed, and used again when the streams are done
 * that it was noted for. */
#include "blocks.h"
#include "layout.h"

typedef struct HostBlock {
    struct HostBlock *next;     /* in its class, or of those that are waiting */
    char *data;
    size_t bytes;
    GwCudaUse *uses;
} HostBlock;

struct GwPinned {
    PyObject_HEAD
    HostBlock *block;
};

enum { CLASSES = 48, SMALLEST = 9 };    /* powers of two, from 512 bytes */
static HostBlock *free_blocks[CLASSES], *waiting;

/* Of blocks that there are, and of those that tensors have or copies still use. */
static GwFigure allocations, allocated_bytes, active_requests, active_bytes;
static const struct {
    const char *name;
    GwFigure *figure;
} figures[] = {
    {"active_bytes", &active_bytes}, {"active_requests", &active_requests},
    {"allocated_bytes", &allocated_bytes}, {"allocations", &allocations},
};

static void count(GwFigure *blocks, GwFigure *bytes, const HostBlock *b, int sign) {
    gw_figure_change(blocks, sign);
    gw_figure_change(bytes, sign * (int64_t)b->bytes);
}

static int class_of(size_t bytes) {
    return bytes <= (size_t)1 << SMALLEST ? 0 : 64 - __builtin_clzll(bytes - 1) - SMALLEST;
}

static void make_free(HostBlock *b) {
    int class = class_of(b->bytes);
    b->next = free_blocks[class];
    free_blocks[class] = b;
}

/* Whether no stream needs the block any more; -1 with an exception. */
static int is_idle(HostBlock *b) {
    while (b->uses != NULL) {
        GwCudaUse *use = b->uses;
        int done = gw_cuda_mark_is_done(use->event, use->stream->device);
        if (done != 1) {
            return done;
        }
        gw_cuda_mark_free(use->event, use->stream->device);
        b->uses = use->next;
        PyMem_RawFree(use);
    }
    return 1;
}

/* The list is taken first, as in gw_cuda_reclaim. */
static bool reclaim(void) {
    HostBlock *taken = waiting;
    int idle = 1;
    waiting = NULL;
    for (HostBlock *b = taken, *next; b != NULL; b = next) {
        next = b->next;
        idle = idle < 0 ? idle : is_idle(b);
        if (idle > 0) {
            count(&active_requests, &active_bytes, b, -1);
            make_free(b);
        } else {
            b->next = waiting;
            waiting = b;
        }
    }
    return idle >= 0;
}

static void release_all(void) {
    for (int class = 0; class < CLASSES; class++) {
        while (free_blocks[class] != NULL) {
            HostBlock *b = free_blocks[class];
            free_blocks[class] = b->next;
            gw_driver.cuMemFreeHost(b->data);
            count(&allocations, &allocated_bytes, b, -1);
            PyMem_RawFree(b);
        }
    }
}

static HostBlock *obtain(size_t bytes) {
    HostBlock *b = PyMem_RawCalloc(1, sizeof *b);
    if (b == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    void *data = NULL;
    int result = 0;
    for (int attempt = 0; attempt < 2; attempt++) {
        GW_CUDA_WAIT(result, cuMemHostAlloc, &data, bytes, 1 /* for every context */);
        if (result != GW_CUDA_OUT_OF_MEMORY) {
            break;
        }
        release_all();
    }
    if (result != GW_CUDA_SUCCESS) {
        PyMem_RawFree(b);
        if (result == GW_CUDA_OUT_OF_MEMORY) {
            PyErr_Format(gw_out_of_memory, "cannot pin %zu bytes of the host's memory", bytes);
        } else {
            gw_cuda_check(result, "cuMemHostAlloc");
        }
        return NULL;
    }
    b->data = data;
    b->bytes = bytes;
    count(&allocations, &allocated_bytes, b, 1);
    return b;
}

GwPinned *gw_pinned_new(size_t bytes) {
    if (!gw_cuda_enter(gw_cuda_current_device()) || !reclaim()) {
        return NULL;
    }
    int class = class_of(bytes);
    if (class >= CLASSES - SMALLEST) {
        PyErr_Format(gw_out_of_memory, "cannot pin %zu bytes of the host's memory", bytes);
        return NULL;
    }
    HostBlock *b = free_blocks[class];
    if (b != NULL) {
        free_blocks[class] = b->next;
    } else if ((b = obtain((size_t)1 << (class + SMALLEST))) == NULL) {
        return NULL;
    }
    GwPinned *pinned = PyObject_New(GwPinned, &GwPinned_Type);
    if (pinned == NULL) {
        make_free(b);
        return NULL;
    }
    pinned->block = b;
    count(&active_requests, &active_bytes, b, 1);
    return pinned;
}

char *gw_pinned_data(GwPinned *pinned) { return pinned->block->data; }

/* One event for each stream, recorded anew with each use. */
static bool note_use(HostBlock *b, GwCudaStream *stream) {
    for (GwCudaUse *use = b->uses; use != NULL; use = use->next) {
        if (use->stream == stream) {
            return GW_CUDA_CALL(cuEventRecord, use->event, stream->handle);
        }
    }
    GwCudaUse *use = PyMem_RawMalloc(sizeof *use);
    if (use == NULL) {
        PyErr_NoMemory();
        return false;
    }
    *use = (GwCudaUse){b->uses, stream, gw_cuda_mark(stream)};
    if (use->event == NULL) {
        PyMem_RawFree(use);
        return false;
    }
    b->uses = use;
    return true;
}

/* Memory whose use cannot be noted is given to nobody before the use has ended. */
bool gw_pinned_use(GwPinned *pinned, GwCudaStream *stream) {
    bool noted = note_use(pinned->block, stream);
    if (!noted) {
        gw_cuda_settle_or_keep(stream, (PyObject *)pinned);
    }
    return noted;
}

GwPinned *gw_pinned_of(const GwTensor *t) {
    for (const GwStorage *s = t->storage; s != NULL && s->owner != NULL;
         s = (const GwStorage *)s->owner) {
        if (Py_IS_TYPE(s->owner, &GwPinned_Type)) {
            return (GwPinned *)s->owner;
        }
        if (!Py_IS_TYPE(s->owner, &GwStorage_Type)) {
            return NULL;
        }
    }
    return NULL;
}

/* Whether the block is idle is asked when memory is next needed. */
static void pinned_dealloc(PyObject *self) {
    HostBlock *b = ((GwPinned *)self)->block;
    if (!gw_cuda_is_forked()) {
        b->next = waiting;
        waiting = b;
    }
    PyObject_Free(self);
}

PyTypeObject GwPinned_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.PinnedMemory",
    .tp_doc = "Page-locked memory of the host.",
    .tp_basicsize = sizeof(GwPinned),
    .tp_dealloc = pinned_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

/* ---- Python ---- */

static PyObject *pinned_empty(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GW_UNUSED(self);
    int64_t bytes;
    if (!gw_expect_args(nargs, 4, "pinned_empty(cls, shape, strides, dtype)")) {
        return NULL;
    }
    GwTensor *t = gw_tensor_described(args, &bytes);
    GwPinned *pinned = t == NULL ? NULL : gw_pinned_new((size_t)bytes);
    if (pinned == NULL) {
        Py_XDECREF(t);
        return NULL;
    }
    t->data = gw_pinned_data(pinned);
    t->storage = gw_storage_borrow((PyObject *)pinned, t->data, bytes, false);
    Py_DECREF(pinned);
    if (t->storage == NULL) {
        Py_CLEAR(t);
    }
    return (PyObject *)t;
}

static PyObject *is_pinned(PyObject *self, PyObject *object) {
    GW_UNUSED(self);
    GwTensor *t = gw_tensor_arg(object);
    return t == NULL ? NULL : PyBool_FromLong(gw_pinned_of(t) != NULL);
}

static PyObject *pinned_stats(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    PyObject *made = PyDict_New();
    for (size_t i = 0; made != NULL && i < sizeof figures / sizeof *figures; i++) {
        if (!gw_figure_add(made, figures[i].name, figures[i].figure)) {
            Py_CLEAR(made);
        }
    }
    if (made != NULL && (!gw_count_add(made, "num_host_alloc", allocations.allocated)
                         || !gw_count_add(made, "num_host_free", allocations.freed))) {
        Py_CLEAR(made);
    }
    return made;
}

static PyObject *reset_pinned_stats(PyObject *self, PyObject *accumulated) {
    GW_UNUSED(self);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        gw_figure_reset(figures[i].figure, accumulated == Py_True);
    }
    Py_RETURN_NONE;
}

static PyObject *empty_pinned_cache(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    if (!gw_cuda_enter(gw_cuda_current_device()) || !reclaim()) {
        return NULL;
    }
    release_all();
    Py_RETURN_NONE;
}

PyMethodDef gw_pinned_methods[] = {
    {"pinned_empty", FASTCALL(pinned_empty), METH_FASTCALL,
     "pinned_empty(cls, shape, strides, dtype): a tensor in page-locked memory."},
    {"is_pinned", is_pinned, METH_O, "is_pinned(tensor): whether its memory is page-locked."},
    {"pinned_stats", pinned_stats, METH_NOARGS,
     "Figures of pinned memory, by PyTorch's names: of the blocks that there are, and of those that "
     "tensors have or copies still use."},
    {"reset_pinned_stats", reset_pinned_stats, METH_O,
     "reset_pinned_stats(accumulated): as cuda_reset_stats."},
    {"empty_pinned_cache", empty_pinned_cache, METH_NOARGS,
     "Give pinned memory that nothing uses back to the system."},
    {NULL, NULL, 0, NULL},
};
