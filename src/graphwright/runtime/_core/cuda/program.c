/* `CudaProgram`: launches of kernels, all of them in one call. */
#include "program.h"
#include "blocks.h"

static PyObject *program_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"launches", "buffers", "scalars", "derived", "arena", NULL};
    PyObject *launches, *derived = NULL, *arena = NULL;
    int buffers, scalars = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Oi|iOO:CudaProgram", names, &launches,
                                     &buffers, &scalars, &derived, &arena)) {
        return NULL;
    }
    if (buffers < 0 || scalars < 0) {
        PyErr_SetString(PyExc_ValueError, "a program has 0 or more buffers and scalars");
        return NULL;
    }
    GwCudaProgram *p = (GwCudaProgram *)cls->tp_alloc(cls, 0);
    PyObject *none = PyTuple_New(0), *zero = PyLong_FromLong(0);
    if (p != NULL && none != NULL && zero != NULL) {
        p->buffers = buffers;
        p->scalars = scalars;
        if (!gw_program_read(p, launches, derived == NULL ? none : derived,
                             arena == NULL ? zero : arena)) {
            Py_CLEAR(p);
        }
    }
    Py_XDECREF(none);
    Py_XDECREF(zero);
    return (PyObject *)p;
}

static void program_dealloc(PyObject *self) {
    PyTypeObject *cls = Py_TYPE(self);
    gw_program_clear((GwCudaProgram *)self);
    cls->tp_free(self);
}

/* ---- what a call works on ---- */

enum { FEW_NUMBERS = 64 };

typedef struct {
    const GwCudaProgram *program;
    GwCudaStream *stream;
    const GwNumber *numbers;
    GwRoom *room;
    uint64_t arena, word;
} Call;

static int64_t floor_divide(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

bool gw_count_value(const GwOperand *o, const GwNumber *numbers, int64_t *value) {
    if (o->source == GW_FROM_CONSTANT) {
        *value = o->value;
        return true;
    }
    if (numbers[o->index].real) {
        PyErr_Format(PyExc_TypeError, "scalar %d of the program must be an int", o->index);
        return false;
    }
    *value = numbers[o->index].i;
    return true;
}

static bool derive(const GwDerived *rule, const GwNumber *numbers, GwNumber *result) {
    int64_t a, b, out = 0;
    if (!gw_count_value(&rule->a, numbers, &a) || !gw_count_value(&rule->b, numbers, &b)) {
        return false;
    }
    bool divides = rule->op == GW_DERIVE_FLOORDIV || rule->op == GW_DERIVE_CEILDIV;
    bool bad = divides && b <= 0;
    switch (rule->op) {
        case GW_DERIVE_ADD: bad = __builtin_add_overflow(a, b, &out); break;
        case GW_DERIVE_SUB: bad = __builtin_sub_overflow(a, b, &out); break;
        case GW_DERIVE_MUL: bad = __builtin_mul_overflow(a, b, &out); break;
        case GW_DERIVE_FLOORDIV: out = bad ? 0 : floor_divide(a, b); break;
        case GW_DERIVE_CEILDIV: out = bad || a == INT64_MIN ? 0 : -floor_divide(-a, b); break;
        case GW_DERIVE_MIN: out = a < b ? a : b; break;
        default: out = a > b ? a : b; break;
    }
    if (bad) {
        PyErr_SetString(PyExc_OverflowError, "a derived scalar of a program does not fit, or is a "
                        "quotient by a number below 1");
        return false;
    }
    *result = (GwNumber){.i = out};
    return true;
}

bool gw_program_derive(const GwCudaProgram *p, GwNumber *numbers) {
    for (int i = 0; i < p->derived; i++) {
        if (!derive(&p->rules[i], numbers, &numbers[p->scalars + i])) {
            return false;
        }
    }
    return true;
}

static bool patch(const Call *call, GwTensor *const *buffers) {
    const GwCudaProgram *p = call->program;
    char *bytes = call->room->bytes;
    for (int i = 0; i < p->patches; i++) {
        const GwPatch *patch = &p->patch[i];
        uint64_t address;
        switch (patch->from.source) {
            case GW_FROM_BUFFER:
                address = gw_cuda_address(buffers[patch->from.index])
                          + (uint64_t)patch->from.value;
                break;
            case GW_FROM_ARENA:
                address = call->arena + (uint64_t)(patch->from.index < 0 ? patch->from.value
                                                   : call->numbers[patch->from.index].i);
                break;
            case GW_FROM_WORD: address = call->word; break;
            default:
                if (!gw_number_write(bytes + patch->at, patch->type,
                                     &call->numbers[patch->from.index])) {
                    return false;
                }
                continue;
        }
        memcpy(bytes + patch->at, &address, sizeof address);
    }
    return true;
}

enum { MAX_GRID_X = 0x7fffffff, MAX_GRID_YZ = 65535 };

/* A grid with a size of 0 is a kernel that has nothing to do. */
static bool set_grid(const GwLaunch *launch, const GwNumber *numbers, unsigned *grid) {
    for (int d = 0; d < 3; d++) {
        int64_t size;
        if (!gw_count_value(&launch->grid[d], numbers, &size)) {
            return false;
        }
        if (size < 0 || size > (d == 0 ? MAX_GRID_X : MAX_GRID_YZ)) {
            PyErr_Format(PyExc_ValueError, "the kernel %s cannot run on a grid of %lld in its "
                         "dimension %d", launch->kernel->name, (long long)size, d);
            return false;
        }
        grid[d] = (unsigned)size;
    }
    return true;
}

/* Of the launches whose grids depend on scalars, or of the others. */
static bool set_grids(const GwCudaProgram *p, bool sized, const GwNumber *numbers,
                      unsigned (*grids)[3]) {
    for (int i = 0; i < p->launches; i++) {
        if (p->launch[i].sized == sized && !set_grid(&p->launch[i], numbers, grids[i])) {
            return false;
        }
    }
    return true;
}

static bool make_room(const GwCudaProgram *p, GwRoom *room) {
    size_t addresses = p->parameters * sizeof *room->parameters;
    size_t size = (p->size + 15) / 16 * 16;
    room->bytes = PyMem_RawMalloc(
        size + addresses + (size_t)p->launches * sizeof *room->grids + 1);
    if (room->bytes == NULL) {
        PyErr_NoMemory();
        return false;
    }
    if (p->size > 0) {
        memcpy(room->bytes, p->bytes, p->size);
    }
    room->parameters = (void **)(room->bytes + size);
    for (uint32_t i = 0; i < p->parameters; i++) {
        room->parameters[i] = room->bytes + p->places[i];
    }
    room->grids = (unsigned (*)[3])(room->bytes + size + addresses);
    if (!set_grids(p, false, NULL, room->grids)) {
        PyMem_RawFree(room->bytes);
        room->bytes = NULL;
        return false;
    }
    return true;
}

/* ---- launching ---- */

static bool is_empty(const unsigned *grid) {
    return grid[0] == 0 || grid[1] == 0 || grid[2] == 0;
}

/* The last of the launches before `end` are named where the GPU reports an error. */
static void note_launches(const GwCudaProgram *p, const GwRoom *room, int end) {
    int first = end;
    for (int names = 0; first > 0 && names < GW_CUDA_RECENT; first--) {
        names += !is_empty(room->grids[first - 1]);
    }
    for (int i = first; i < end; i++) {
        if (!is_empty(room->grids[i])) {
            gw_cuda_note_kernel(p->launch[i].kernel->name);
        }
    }
}

static int launch_all(const Call *call, bool wait, const GwLaunch **failed) {
    const GwCudaProgram *p = call->program;
    const GwRoom *room = call->room;
    int device = call->stream->device, result = GW_CUDA_SUCCESS, i = 0;
    for (; i < p->launches && result == GW_CUDA_SUCCESS; i++) {
        const GwLaunch *launch = &p->launch[i];
        const unsigned *grid = room->grids[i];
        if (is_empty(grid)) {
            continue;
        }
        const GwCudaKernel *k = launch->kernel;
        *failed = launch;
        result = gw_driver.cuLaunchKernel(
            k->functions[device], grid[0], grid[1], grid[2], (unsigned)k->warps * 32, 1, 1,
            (unsigned)k->shared, call->stream->handle, room->parameters + launch->first, NULL);
        if (wait && result == GW_CUDA_SUCCESS) {
            result = gw_driver.cuStreamSynchronize(call->stream->handle);
        }
    }
    note_launches(p, room, i);
    return result;
}

static bool load_all(const GwCudaProgram *p, int device) {
    for (int i = 0; i < p->launches; i++) {
        GwCudaKernel *k = p->launch[i].kernel;
        if (k->functions[device] == NULL && gw_cuda_function(k, device) == NULL) {
            return false;
        }
    }
    return true;
}

static bool run_call(Call *call, GwTensor *const *buffers) {
    if (!patch(call, buffers)
        || !set_grids(call->program, true, call->numbers, call->room->grids)) {
        return false;
    }
    const GwLaunch *failed = NULL;
    bool wait = gw_cuda_waits();
    int result;
    Py_BEGIN_ALLOW_THREADS
    result = launch_all(call, wait, &failed);
    Py_END_ALLOW_THREADS
    return result == GW_CUDA_SUCCESS || gw_cuda_check_launch(result, failed->kernel->name);
}

/* The intermediate results are in the arena, which the work of the stream that comes later may
 * overwrite. */
static bool run_with_arena(Call *call, GwTensor *const *buffers) {
    int64_t arena;
    if (!gw_count_value(&call->program->arena, call->numbers, &arena)) {
        return false;
    }
    if (arena < 0) {
        PyErr_SetString(PyExc_ValueError, "the arena of a program cannot have a negative size");
        return false;
    }
    GwCudaBlock *block = gw_cuda_alloc(call->stream->device, (size_t)arena);
    if (block == NULL) {
        return false;
    }
    call->arena = block->address;
    bool good = run_call(call, buffers);
    gw_cuda_free(block);
    return good;
}

bool gw_program_launch(GwCudaProgram *p, GwCudaStream *stream, GwTensor *const *buffers,
                       const GwNumber *numbers, uint64_t word) {
    GwRoom fresh = {NULL, NULL, NULL};
    bool is_own = !p->busy;             /* else another thread is launching it */
    Call call = {.program = p, .stream = stream, .numbers = numbers, .word = word,
                 .room = is_own ? &p->own : &fresh};
    if (!load_all(p, stream->device)
        || (call.room->bytes == NULL && !make_room(p, call.room))) {
        return false;
    }
    p->busy = true;
    bool good = run_with_arena(&call, buffers);
    if (is_own) {
        p->busy = false;
    }
    PyMem_RawFree(fresh.bytes);
    return good;
}

/* ---- Python ---- */

/* The device that all buffers are on; -1 with an exception. */
static int device_of(const GwCudaProgram *p, PyObject *tensors) {
    int device = p->buffers == 0 ? gw_cuda_current_device() : -1;
    for (int i = 0; i < p->buffers; i++) {
        PyObject *object = PyTuple_GET_ITEM(tensors, i);
        const GwTensor *t = gw_is_tensor(object) ? (GwTensor *)object : NULL;
        if (t == NULL || !gw_on_gpu(t)) {
            PyErr_Format(PyExc_TypeError, "buffer %d of the program is no tensor on a GPU", i);
            return -1;
        }
        if (device >= 0 && t->device_index != device) {
            PyErr_Format(PyExc_RuntimeError, "buffer %d of the program is on cuda:%d, others are "
                         "on cuda:%d", i, t->device_index, device);
            return -1;
        }
        device = t->device_index;
    }
    return device;
}

static bool run(GwCudaProgram *p, PyObject *tensors, PyObject *scalars) {
    int device = device_of(p, tensors);
    GwCudaStream *stream = device < 0 || !gw_cuda_enter(device) ? NULL
                           : gw_cuda_current_stream(device);
    GwNumber few_numbers[FEW_NUMBERS], *numbers = few_numbers;
    int count = p->scalars + p->derived;
    if (count > FEW_NUMBERS) {
        numbers = PyMem_RawMalloc((size_t)count * sizeof *numbers);
    }
    if (numbers == NULL) {
        PyErr_NoMemory();
        return false;
    }
    bool good = stream != NULL;
    for (int i = 0; good && i < p->scalars; i++) {
        good = gw_number_read(PyTuple_GET_ITEM(scalars, i), &numbers[i]);
    }
    GwTensor *const *buffers = (GwTensor *const *)((PyTupleObject *)tensors)->ob_item;
    good = good && gw_program_derive(p, numbers)
           && gw_program_launch(p, stream, buffers, numbers, 0);
    if (numbers != few_numbers) {
        PyMem_RawFree(numbers);
    }
    return good;
}

static PyObject *program_run(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    GwCudaProgram *p = (GwCudaProgram *)self;
    bool good = (nargs == 1 || nargs == 2) && PyTuple_Check(args[0])
                && (nargs == 1 || PyTuple_Check(args[1]));
    if (!good) {
        PyErr_SetString(PyExc_TypeError, "run(buffers, scalars=()) takes tuples");
        return NULL;
    }
    Py_ssize_t scalars = nargs == 2 ? PyTuple_GET_SIZE(args[1]) : 0;
    if (PyTuple_GET_SIZE(args[0]) != p->buffers || scalars != p->scalars) {
        return PyErr_Format(PyExc_TypeError, "the program takes %d buffers and %d scalars, but %zd "
                            "and %zd are given", p->buffers, p->scalars,
                            PyTuple_GET_SIZE(args[0]), scalars);
    }
    return run(p, args[0], nargs == 2 ? args[1] : NULL) ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef program_methods[] = {
    {"run", (PyCFunction)(void (*)(void))program_run, METH_FASTCALL,
     "run(buffers, scalars=()): launch all kernels on the current stream of the buffers' device."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject GwCudaProgram_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.CudaProgram",
    .tp_doc = "CudaProgram(launches, buffers, scalars=0, derived=(), arena=0): launches of kernels "
              "over so many tensors and numbers, run in one call.",
    .tp_basicsize = sizeof(GwCudaProgram),
    .tp_new = program_new,
    .tp_dealloc = program_dealloc,
    .tp_methods = program_methods,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};
