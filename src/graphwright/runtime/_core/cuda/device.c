/* The GPUs that can be used, their contexts, and which one a thread uses. */
#include "driver.h"

#include <stdatomic.h>

enum { OLDEST_CAPABILITY = 80 };    /* sm_80: the first that Triton compiles for in full */

/* Of CUdevice_attribute. */
enum {
    MAJOR = 75, MINOR = 76,
};

static struct {
    int ordinal;        /* the driver's number */
    void *context;      /* once it was entered */
} devices[GW_CUDA_DEVICES];
static int count;
static _Thread_local int current;
static _Thread_local int entered = -1;  /* whose context is the driver's current one */

bool gw_cuda_find_devices(char *why, size_t size) {
    int all = 0, result = gw_driver.cuDeviceGetCount(&all);
    bool old = false;
    snprintf(why, size, "the CUDA driver finds no device");
    for (int i = 0; result == GW_CUDA_SUCCESS && i < all && count < GW_CUDA_DEVICES; i++) {
        int device, major = 0, minor = 0;
        if (gw_driver.cuDeviceGet(&device, i) != GW_CUDA_SUCCESS
            || gw_driver.cuDeviceGetAttribute(&major, MAJOR, device) != GW_CUDA_SUCCESS
            || gw_driver.cuDeviceGetAttribute(&minor, MINOR, device) != GW_CUDA_SUCCESS) {
            continue;
        }
        if (10 * major + minor >= OLDEST_CAPABILITY) {
            devices[count++].ordinal = device;
        } else if (!old) {
            old = true;
            char name[128] = "?";
            gw_driver.cuDeviceGetName(name, sizeof name, device);
            snprintf(why, size, "the device %s is too old: it has compute capability %d.%d, and "
                     "%d.%d is needed", name, major, minor, OLDEST_CAPABILITY / 10,
                     OLDEST_CAPABILITY % 10);
        }
    }
    return count > 0;
}

int gw_cuda_device_count(void) { return count; }
int gw_cuda_current_device(void) { return current; }
int gw_cuda_ordinal(int device) { return devices[device].ordinal; }

int gw_cuda_device_at(int ordinal) {
    int device = count - 1;
    while (device >= 0 && devices[device].ordinal != ordinal) {
        device--;
    }
    return device;
}

enum { DEVICE_SHIFT = 24, TF32_SHIFT = 31 };
static atomic_bool tf32_products;

uint32_t gw_guarded_modes(void) {
    return gw_modes() | (uint32_t)current << DEVICE_SHIFT
           | (uint32_t)atomic_load_explicit(&tf32_products, memory_order_relaxed) << TF32_SHIFT;
}

void *gw_cuda_context(int device) { return devices[device].context; }

bool gw_cuda_enter(int device) {
    if (!gw_cuda_require()) {
        return false;
    }
    if (device < 0 || device >= count) {
        PyErr_Format(PyExc_RuntimeError, "CUDA error: invalid device ordinal: cuda:%d, where there "
                     "%s %d", device, count == 1 ? "is" : "are", count);
        return false;
    }
    if (devices[device].context == NULL
        && !GW_CUDA_CALL(cuDevicePrimaryCtxRetain, &devices[device].context,
                         devices[device].ordinal)) {
        devices[device].context = NULL;
        return false;
    }
    entered = device;
    return GW_CUDA_CALL(cuCtxSetCurrent, devices[device].context);
}

int gw_cuda_switch(int device) {
    int before = entered;
    gw_driver.cuCtxSetCurrent(devices[device].context);
    entered = device;
    return before;
}

void gw_cuda_switch_back(int before) {
    if (before >= 0 && before != entered) {
        gw_cuda_switch(before);
    }
}

bool gw_cuda_index(PyObject *number, int *device) {
    long value = PyLong_AsLong(number);
    if ((value == -1 && PyErr_Occurred()) || !gw_cuda_require()) {
        return false;
    }
    if (value < 0 || value >= count) {
        PyErr_Format(PyExc_RuntimeError, "CUDA error: invalid device ordinal: cuda:%ld, where "
                     "there %s %d", value, count == 1 ? "is" : "are", count);
        return false;
    }
    *device = (int)value;
    return true;
}

/* ---- Python ---- */

static PyObject *cuda_device_count(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    return PyLong_FromLong(gw_cuda_usable() ? count : 0);
}

static PyObject *cuda_ordinals(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    PyObject *made = PyTuple_New(gw_cuda_usable() ? count : 0);
    for (Py_ssize_t i = 0; made != NULL && i < PyTuple_GET_SIZE(made); i++) {
        PyObject *number = PyLong_FromLong(devices[i].ordinal);
        if (number == NULL) {
            Py_CLEAR(made);
            break;
        }
        PyTuple_SET_ITEM(made, i, number);
    }
    return made;
}

static PyObject *cuda_current_device(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    return gw_cuda_require() ? PyLong_FromLong(current) : NULL;
}

static PyObject *guarded_modes(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    return PyLong_FromUnsignedLong(gw_guarded_modes());
}

static PyObject *set_tf32_products(PyObject *self, PyObject *allowed) {
    GW_UNUSED(self);
    int truth = PyObject_IsTrue(allowed);
    if (truth < 0) {
        return NULL;
    }
    atomic_store_explicit(&tf32_products, truth != 0, memory_order_relaxed);
    Py_RETURN_NONE;
}

static PyObject *cuda_set_device(PyObject *self, PyObject *number) {
    GW_UNUSED(self);
    int device;
    if (!gw_cuda_index(number, &device)) {
        return NULL;
    }
    int before = current;
    current = device;
    return PyLong_FromLong(before);
}

static PyObject *cuda_is_initialized(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    bool any = false;
    for (int i = 0; i < count; i++) {
        any = any || devices[i].context != NULL;
    }
    return PyBool_FromLong(any && !gw_cuda_is_forked());
}

static const struct {
    const char *name;
    int attribute;
} facts[] = {
    {"major", MAJOR}, {"minor", MINOR}, {"multi_processor_count", 16}, {"warp_size", 10},
    {"max_threads_per_block", 1}, {"max_threads_per_multi_processor", 39},
    {"regs_per_multiprocessor", 82}, {"shared_memory_per_block", 8},
    {"shared_memory_per_block_optin", 97}, {"shared_memory_per_multiprocessor", 81},
    {"L2_cache_size", 38}, {"memory_bus_width", 37}, {"memory_clock_rate", 36},
    {"clock_rate", 13}, {"is_integrated", 18}, {"is_multi_gpu_board", 84}, {"pci_bus_id", 33},
    {"pci_device_id", 34}, {"pci_domain_id", 50},
};

static bool add_number(PyObject *made, const char *name, PyObject *number) {
    bool added = number != NULL && PyDict_SetItemString(made, name, number) == 0;
    Py_XDECREF(number);
    return added;
}

static PyObject *cuda_device_facts(PyObject *self, PyObject *number) {
    GW_UNUSED(self);
    int index, value;
    char name[256] = "";
    unsigned char uuid[16];
    size_t total;
    if (!gw_cuda_index(number, &index)) {
        return NULL;
    }
    int device = devices[index].ordinal;
    if (!GW_CUDA_CALL(cuDeviceGetName, name, sizeof name, device)
        || !GW_CUDA_CALL(cuDeviceTotalMem, &total, device)
        || !GW_CUDA_CALL(cuDeviceGetUuid, uuid, device)) {
        return NULL;
    }
    PyObject *made = Py_BuildValue("{s:s,s:n,s:y#}", "name", name, "total_memory",
                                   (Py_ssize_t)total, "uuid", uuid, (Py_ssize_t)sizeof uuid);
    for (size_t i = 0; made != NULL && i < sizeof facts / sizeof *facts; i++) {
        int result = gw_driver.cuDeviceGetAttribute(&value, facts[i].attribute, device);
        if (result == GW_CUDA_INVALID_VALUE) {
            continue;                       /* the driver does not know it */
        }
        if (!gw_cuda_check(result, "cuDeviceGetAttribute")
            || !add_number(made, facts[i].name, PyLong_FromLong(value))) {
            Py_CLEAR(made);
        }
    }
    return made;
}

static PyObject *cuda_memory_info(PyObject *self, PyObject *number) {
    GW_UNUSED(self);
    int device;
    size_t available, total;
    if (!gw_cuda_index(number, &device) || !gw_cuda_enter(device)
        || !GW_CUDA_CALL(cuMemGetInfo, &available, &total)) {
        return NULL;
    }
    return Py_BuildValue("nn", (Py_ssize_t)available, (Py_ssize_t)total);
}

static PyObject *cuda_synchronize(PyObject *self, PyObject *number) {
    GW_UNUSED(self);
    int device, result;
    if (!gw_cuda_index(number, &device) || !gw_cuda_enter(device)) {
        return NULL;
    }
    GW_CUDA_WAIT(result, cuCtxSynchronize);
    return gw_cuda_check(result, "cuCtxSynchronize") && gw_cuda_reclaim(device)
           && gw_cuda_reports(NULL, device)
           ? Py_NewRef(Py_None) : NULL;
}

static PyObject *cuda_can_access_peer(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    PyObject *first, *second;
    int device, peer, can;
    if (!PyArg_ParseTuple(args, "OO:cuda_can_access_peer", &first, &second)
        || !gw_cuda_index(first, &device) || !gw_cuda_index(second, &peer)
        || !GW_CUDA_CALL(cuDeviceCanAccessPeer, &can, devices[device].ordinal,
                         devices[peer].ordinal)) {
        return NULL;
    }
    return PyBool_FromLong(can);
}

PyMethodDef gw_cuda_device_methods[] = {
    {"cuda_device_count", cuda_device_count, METH_NOARGS, "How many GPUs can be used."},
    {"cuda_ordinals", cuda_ordinals, METH_NOARGS,
     "The driver's numbers of the GPUs that can be used, by their indices."},
    {"cuda_current_device", cuda_current_device, METH_NOARGS, "The index that this thread uses."},
    {"guarded_modes", guarded_modes, METH_NOARGS,
     "The modes of this thread, its current GPU, and whether products of float32 are computed as "
     "TF32 there: what compiled code is guarded by."},
    {"set_tf32_products", set_tf32_products, METH_O,
     "set_tf32_products(allowed): what `guarded_modes` says of products of float32."},
    {"cuda_set_device", cuda_set_device, METH_O,
     "cuda_set_device(index): this thread uses it from now on. Returns the one before."},
    {"cuda_is_initialized", cuda_is_initialized, METH_NOARGS, "Whether a GPU was used."},
    {"cuda_device_facts", cuda_device_facts, METH_O,
     "cuda_device_facts(index): name, memory and the attributes that the driver knows, by PyTorch's "
     "names."},
    {"cuda_memory_info", cuda_memory_info, METH_O,
     "cuda_memory_info(index): (free, total) bytes of the GPU."},
    {"cuda_synchronize", cuda_synchronize, METH_O,
     "cuda_synchronize(index): wait for all that the GPU has to do."},
    {"cuda_can_access_peer", cuda_can_access_peer, METH_VARARGS,
     "cuda_can_access_peer(index, peer): whether one GPU reads the other's memory itself."},
    {NULL, NULL, 0, NULL},
};
