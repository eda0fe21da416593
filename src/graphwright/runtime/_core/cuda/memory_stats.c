/* Figures of the allocator, by PyTorch's names, and the error that lists what takes the memory. */
#include "blocks.h"

GwFigures gw_cuda_figures[GW_CUDA_DEVICES];

static const char *const stat_names[] = {
    "allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes",
    "active_bytes", "inactive_split_bytes", "requested_bytes",
};
static const char *const kind_names[] = {"all", "small_pool", "large_pool"};
static const char *const count_names[] = {
    "num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free",
    "num_sync_all_streams", "num_oom_rejections",
};

void gw_figure_reset(GwFigure *figure, bool accumulated) {
    if (accumulated) {
        figure->allocated = figure->freed = 0;
    } else {
        figure->peak = figure->current;
    }
}

void gw_cuda_count(int device, GwCount count) { gw_cuda_figures[device].counts[count]++; }

int64_t gw_cuda_stat_now(int device, GwStat stat) {
    return gw_cuda_figures[device].stats[stat][GW_ALL_BLOCKS].current;
}

size_t gw_cuda_memory_limit(int device) {
    return gw_cuda_figures[device].limit != 0 ? gw_cuda_figures[device].limit : SIZE_MAX;
}

/* ---- out of memory ---- */

static void write_size(char *text, size_t size, double bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++) {
        bytes /= 1024;
    }
    snprintf(text, size, unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
}

enum { LISTED = 8 };

typedef struct {
    size_t bytes;
    int count;
} Group;

/* The largest sizes of live blocks, in falling order, and how many there are of each. */
static int largest(int device, Group *groups) {
    int n = 0;
    for (const GwCudaBlock *b = gw_cuda_live_blocks(device); b != NULL; b = b->next) {
        int at = 0;
        while (at < n && groups[at].bytes > b->requested) {
            at++;
        }
        if (at < n && groups[at].bytes == b->requested) {
            groups[at].count++;
        } else if (at < LISTED) {
            n = n < LISTED ? n + 1 : n;
            memmove(groups + at + 1, groups + at, (size_t)(n - at - 1) * sizeof *groups);
            groups[at] = (Group){b->requested, 1};
        }
    }
    return n;
}

static void list_largest(int device, char *text, size_t size) {
    Group groups[LISTED];
    int n = largest(device, groups);
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < n && used < size; i++) {
        char bytes[32];
        write_size(bytes, sizeof bytes, (double)groups[i].bytes);
        used += (size_t)snprintf(text + used, size - used, "%s%d x %s", i == 0 ? "" : ", ",
                                 groups[i].count, bytes);
    }
}

void gw_cuda_raise_out_of_memory(int device, size_t bytes) {
    size_t available = 0, total = 0;
    char wanted[32], capacity[32], rest[32], live[32], cached[32], limit[80] = "", blocks[512];
    gw_driver.cuMemGetInfo(&available, &total);
    int64_t held = gw_cuda_stat_now(device, GW_STAT_ALLOCATED_BYTES);
    int64_t reserved = gw_cuda_stat_now(device, GW_STAT_RESERVED_BYTES);
    write_size(wanted, sizeof wanted, (double)bytes);
    write_size(capacity, sizeof capacity, (double)total);
    write_size(rest, sizeof rest, (double)available);
    write_size(live, sizeof live, (double)held);
    write_size(cached, sizeof cached, (double)(reserved - held));
    list_largest(device, blocks, sizeof blocks);
    if (gw_cuda_figures[device].limit != 0) {
        char allowed[32];
        write_size(allowed, sizeof allowed, (double)gw_cuda_figures[device].limit);
        snprintf(limit, sizeof limit, " This process may have %s.", allowed);
    }
    PyErr_Format(gw_out_of_memory, "CUDA out of memory. Tried to allocate %s. GPU %d has a total "
                 "capacity of %s of which %s is free.%s Tensors have %s, and %s is reserved but "
                 "unallocated. The largest live blocks: %s.", wanted, device, capacity, rest,
                 limit, live, cached, blocks[0] != 0 ? blocks : "none");
}

/* ---- Python ---- */

bool gw_count_add(PyObject *made, const char *name, int64_t value) {
    PyObject *number = PyLong_FromLongLong(value);
    bool added = number != NULL && PyDict_SetItemString(made, name, number) == 0;
    Py_XDECREF(number);
    return added;
}

bool gw_figure_add(PyObject *made, const char *name, const GwFigure *figure) {
    const struct {
        const char *name;
        int64_t value;
    } parts[] = {{"allocated", figure->allocated}, {"current", figure->current},
                 {"freed", figure->freed}, {"peak", figure->peak}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char key[96];
        snprintf(key, sizeof key, "%s.%s", name, parts[i].name);
        if (!gw_count_add(made, key, parts[i].value)) {
            return false;
        }
    }
    return true;
}

static PyObject *cuda_memory_stats(PyObject *self, PyObject *index) {
    GW_UNUSED(self);
    int device;
    PyObject *made = gw_cuda_index(index, &device) ? PyDict_New() : NULL;
    for (int stat = 0; made != NULL && stat < GW_NUM_STATS * GW_BLOCK_KINDS; stat++) {
        int name = stat / GW_BLOCK_KINDS, kind = stat % GW_BLOCK_KINDS;
        char key[64];
        snprintf(key, sizeof key, "%s.%s", stat_names[name], kind_names[kind]);
        if (!gw_figure_add(made, key, &gw_cuda_figures[device].stats[name][kind])) {
            Py_CLEAR(made);
        }
    }
    for (int i = 0; made != NULL && i < GW_NUM_COUNTS; i++) {
        if (!gw_count_add(made, count_names[i], gw_cuda_figures[device].counts[i])) {
            Py_CLEAR(made);
        }
    }
    return made;
}

static PyObject *cuda_reset_stats(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *index;
    int device, accumulated;
    if (!PyArg_ParseTuple(args, "Op:cuda_reset_stats", &index, &accumulated)
        || !gw_cuda_index(index, &device)) {
        return NULL;
    }
    for (int i = 0; i < GW_NUM_STATS * GW_BLOCK_KINDS; i++) {
        GwFigure *stat = gw_cuda_figures[device].stats[i / GW_BLOCK_KINDS];
        gw_figure_reset(&stat[i % GW_BLOCK_KINDS], accumulated != 0);
    }
    if (accumulated) {
        memset(gw_cuda_figures[device].counts, 0, sizeof gw_cuda_figures[device].counts);
    }
    Py_RETURN_NONE;
}

static PyObject *cuda_empty_cache(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    for (int device = 0; device < gw_cuda_device_count(); device++) {
        size_t released;
        if (gw_cuda_context(device) != NULL
            && (!gw_cuda_enter(device) || !gw_cuda_release_segments(device, &released))) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

static PyObject *cuda_set_memory_limit(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *index;
    Py_ssize_t limit;
    int device;
    if (!PyArg_ParseTuple(args, "On:cuda_set_memory_limit", &index, &limit)
        || !gw_cuda_index(index, &device)) {
        return NULL;
    }
    gw_cuda_figures[device].limit = limit < 0 ? 0 : (size_t)limit;
    Py_RETURN_NONE;
}

static PyObject *cuda_live_blocks(PyObject *self, PyObject *index) {
    GW_UNUSED(self);
    int device;
    PyObject *made = gw_cuda_index(index, &device) ? PyList_New(0) : NULL;
    for (const GwCudaBlock *b = made == NULL ? NULL : gw_cuda_live_blocks(device); b != NULL;
         b = b->next) {
        PyObject *item = Py_BuildValue("Knni", (unsigned long long)b->address,
                                       (Py_ssize_t)b->bytes, (Py_ssize_t)b->requested,
                                       b->stream->id);
        int failed = item == NULL ? -1 : PyList_Append(made, item);
        Py_XDECREF(item);
        if (failed < 0) {
            Py_DECREF(made);
            return NULL;
        }
    }
    return made;
}

PyMethodDef gw_cuda_stats_methods[] = {
    {"cuda_memory_stats", cuda_memory_stats, METH_O,
     "cuda_memory_stats(device): the allocator's figures, by PyTorch's names."},
    {"cuda_reset_stats", cuda_reset_stats, METH_VARARGS,
     "cuda_reset_stats(device, accumulated): what was allocated and freed in all is 0, or, if not "
     "accumulated, peaks are the present figures."},
    {"cuda_empty_cache", cuda_empty_cache, METH_NOARGS,
     "Give memory that nothing uses back to the driver."},
    {"cuda_set_memory_limit", cuda_set_memory_limit, METH_VARARGS,
     "cuda_set_memory_limit(device, bytes): the most to reserve; negative for no limit."},
    {"cuda_live_blocks", cuda_live_blocks, METH_O,
     "cuda_live_blocks(device): (address, bytes, requested bytes, stream) of what tensors have."},
    {NULL, NULL, 0, NULL},
};
