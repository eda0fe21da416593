/* Spans: recorded in C, drained into Python lists when a profile stops. */
#include "core.h"
#include "pool.h"
#include "profiling.h"
#include "routines.h"

#include <pthread.h>
#include <time.h>

enum { FIRST_ITEMS = 256, DEEPEST_STACK = 256, GEMM_SIZES = 3 };

typedef struct {
    PyObject *name;         /* an op, a str, or the native code of a kernel */
    PyObject *shapes, *result, *stack;      /* or NULL */
    int64_t start, end;     /* ns; end is 0 while it is open */
    int64_t memory;         /* bytes allocated less bytes freed, outside of spans within */
    uint64_t value;         /* of a kernel: the address of its function */
    int32_t parent;         /* -1: none */
    uint8_t kind;
} Span;

typedef struct {
    int64_t time, bytes, live;
    uintptr_t address;
    int32_t span;
} MemoryEvent;

typedef struct Buffer {
    struct Buffer *next;
    int64_t number;         /* no other buffer has had it */
    uint64_t native_id, ident;
    Span *spans;
    MemoryEvent *events;
    size_t count, capacity, events_count, events_capacity;
    size_t lost;            /* spans for which memory did not suffice */
    int32_t open;           /* the innermost open span; -1: none */
    int32_t compiling;      /* how many spans of the compiler are open: its ops are not the program's */
} Buffer;

int gw_profiling;
static int64_t session = 1, started, buffers_made;
static Buffer *buffers;

static _Thread_local Buffer *own;
static _Thread_local int64_t own_session;

static const GwMark no_mark = {0, -1};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static Buffer *buffer(void) {
    if (own_session == session) {
        return own;
    }
    Buffer *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->number = ++buffers_made;
        made->native_id = PyThread_get_thread_native_id();
        made->ident = PyThread_get_thread_ident();
        made->open = -1;
        made->next = buffers;
        buffers = made;
        own = made;
        own_session = session;
    }
    return made;
}

/* Room for one more item; false where memory does not suffice. */
static bool grow(void **items, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) {
        return true;
    }
    size_t more = *capacity == 0 ? FIRST_ITEMS : *capacity * 2;
    void *moved = more > INT32_MAX ? NULL : realloc(*items, more * size);
    if (moved == NULL) {
        return false;
    }
    *items = moved;
    *capacity = more;
    return true;
}

static Span *add_span(Buffer *b, int kind, PyObject *name) {
    if (!grow((void **)&b->spans, b->count, &b->capacity, sizeof *b->spans)) {
        b->lost++;
        return NULL;
    }
    Span *span = &b->spans[b->count++];
    *span = (Span){.name = Py_NewRef(name), .kind = (uint8_t)kind, .parent = b->open};
    return span;
}

/* ---- what is recorded besides times; exceptions of it are nobody's ---- */

static PyObject *or_nothing(PyObject *made) {
    if (made == NULL) {
        PyErr_Clear();
    }
    return made;
}

static PyObject *shape_of(PyObject *item) {
    if (gw_is_tensor(item) && ((GwTensor *)item)->storage != NULL) {
        return Py_XNewRef(gw_tensor_shape((GwTensor *)item));
    }
    return PyTuple_New(0);
}

/* The shapes of arguments: of a list the list of those of its items; a bool as it is. */
static PyObject *shapes_of(PyObject *const *items, Py_ssize_t count) {
    PyObject *shapes = PyTuple_New(count);
    for (Py_ssize_t i = 0; shapes != NULL && i < count; i++) {
        PyObject *item = items[i], *shape;
        bool list = PyList_CheckExact(item) || PyTuple_CheckExact(item);
        if (list && PySequence_Fast_GET_SIZE(item) > 0
            && gw_is_tensor(PySequence_Fast_ITEMS(item)[0])) {
            shape = shapes_of(PySequence_Fast_ITEMS(item), PySequence_Fast_GET_SIZE(item));
        } else {
            shape = PyBool_Check(item) ? Py_NewRef(item) : shape_of(item);
        }
        if (shape == NULL) {
            Py_CLEAR(shapes);
        } else {
            PyTuple_SET_ITEM(shapes, i, shape);
        }
    }
    return or_nothing(shapes);
}

/* Code objects and lines by turns, the innermost frame first. */
static PyObject *python_stack(void) {
    PyObject *list = PyList_New(0);
    PyFrameObject *frame = (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame());
    for (int depth = 0; list != NULL && frame != NULL && depth < DEEPEST_STACK; depth++) {
        PyObject *code = (PyObject *)PyFrame_GetCode(frame);
        PyObject *line = PyLong_FromLong(PyFrame_GetLineNumber(frame));
        if (line == NULL || PyList_Append(list, code) < 0 || PyList_Append(list, line) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(line);
        Py_DECREF(code);
        Py_SETREF(frame, PyFrame_GetBack(frame));
    }
    Py_XDECREF((PyObject *)frame);
    return or_nothing(list);
}

/* ---- spans ---- */

/* The span's number, -1 where it is not recorded. What it calls may run Python code, which may
 * stop the profile: the buffer is looked up again after it. */
static GwMark begin(int kind, PyObject *name, PyObject *shapes) {
    PyObject *stack = gw_profiling & GW_PROFILE_STACK ? python_stack() : NULL;
    Buffer *b = gw_profiling != 0 ? buffer() : NULL;
    bool hidden = b == NULL || (b->compiling > 0 && kind != GW_SPAN_COMPILE);
    Span *span = hidden ? NULL : add_span(b, kind, name);
    if (span == NULL) {
        Py_XDECREF(shapes);
        Py_XDECREF(stack);
        return no_mark;
    }
    span->shapes = shapes;
    span->stack = stack;
    b->open = (int32_t)b->count - 1;
    b->compiling += kind == GW_SPAN_COMPILE;
    span->start = now();
    return (GwMark){b->number, b->open};
}

GwMark gw_span_begin(int kind, PyObject *name) { return begin(kind, name, NULL); }

GwMark gw_span_begin_op(PyObject *op, PyObject *const *items, Py_ssize_t count) {
    Buffer *b = buffer();
    if (b == NULL || b->compiling > 0) {
        return no_mark;
    }
    bool asked = (gw_profiling & GW_PROFILE_SHAPES) != 0;
    return begin(GW_SPAN_OP, op, asked ? shapes_of(items, count) : NULL);
}

static void close_span(Buffer *b, int64_t time) {
    Span *span = &b->spans[b->open];
    span->end = time;
    b->compiling -= span->kind == GW_SPAN_COMPILE;
    b->open = span->parent;
}

/* Whether the mark is one of this thread and of the active profile. */
static bool is_current(GwMark mark) {
    return mark.index >= 0 && own_session == session && own->number == mark.buffer
           && (size_t)mark.index < own->count;
}

/* The buffer in which the mark's span is open; or NULL. */
static Buffer *buffer_of(GwMark mark) {
    return is_current(mark) && own->spans[mark.index].end == 0 ? own : NULL;
}

/* Spans within it that are still open, of generators for instance, end with it. */
void gw_span_end(GwMark mark) {
    Buffer *b = buffer_of(mark);
    int64_t time = b == NULL ? 0 : now();
    while (b != NULL && b->open >= mark.index) {
        close_span(b, time);
    }
}

void gw_span_end_op(GwMark mark, PyObject *result) {
    Buffer *b = buffer_of(mark);
    gw_span_end(mark);
    if (result != NULL && PyTuple_Check(result) && PyTuple_GET_SIZE(result) > 0) {
        result = PyTuple_GET_ITEM(result, 0);
    }
    if (b != NULL && result != NULL && (gw_profiling & GW_PROFILE_RESULTS) != 0
        && gw_is_tensor(result)) {
        PyObject *shape = or_nothing(shape_of(result));    /* may run code that stops the profile */
        if (is_current(mark) && own->spans[mark.index].result == NULL) {
            own->spans[mark.index].result = shape;
        } else {
            Py_XDECREF(shape);
        }
    }
}

void gw_span_cancel(GwMark mark) {
    Buffer *b = buffer_of(mark);
    if (b == NULL || (size_t)mark.index + 1 != b->count) {
        gw_span_end(mark);
        return;
    }
    Span *span = &b->spans[mark.index];
    PyObject *shapes = span->shapes, *stack = span->stack, *name = span->name;
    b->open = span->parent;
    b->count--;
    Py_XDECREF(shapes);
    Py_XDECREF(stack);
    Py_DECREF(name);
}

void gw_profile_memory(const void *address, int64_t bytes, int64_t live) {
    Buffer *b = buffer();
    if (b == NULL || !grow((void **)&b->events, b->events_count, &b->events_capacity,
                           sizeof *b->events)) {
        return;
    }
    b->events[b->events_count++] = (MemoryEvent){now(), bytes, live, (uintptr_t)address, b->open};
    if (b->open >= 0) {
        b->spans[b->open].memory += bytes;
    }
}

/* ---- kernels ---- */

typedef struct {
    int64_t start, end, sizes[GEMM_SIZES];  /* of a product; else only the first, of the loop */
    gw_body body;           /* NULL: a product, or where there is one, */
    uint64_t routine;       /* 1 and its number */
} Kernel;

struct GwKernels {
    int32_t (*gemm)(const gw_ctx *, int32_t, int32_t, int32_t, int64_t, int64_t, int64_t, double,
                    const void *, int64_t, int64_t, const void *, int64_t, int64_t, double,
                    void *, int64_t, int64_t, int64_t, const gw_then *);    /* what is timed */
    Kernel *list;
    size_t count, capacity;
};

/* Of the call that this thread is in. Workers, and what is called within a loop, have none. */
static _Thread_local GwKernels *recorded;

static void add_kernel(GwKernels *to, Kernel kernel) {
    if (grow((void **)&to->list, to->count, &to->capacity, sizeof *to->list)) {
        to->list[to->count++] = kernel;
    }
}

static void timed_parallel_for(const gw_ctx *ctx, gw_body body, void *closure, int64_t n,
                               int64_t grain) {
    GwKernels *to = recorded;
    Kernel kernel = {.start = now(), .sizes = {n}, .body = body};
    recorded = NULL;
    gw_parallel_for(ctx, body, closure, n, grain);
    recorded = to;
    kernel.end = now();
    if (to != NULL) {
        add_kernel(to, kernel);
    }
}

/* What follows a product runs after it, so that each has its time. */
static int32_t timed_gemm(const gw_ctx *ctx, int32_t dtype, int32_t transa, int32_t transb,
                          int64_t m, int64_t n, int64_t k, double alpha, const void *a, int64_t lda,
                          int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b,
                          double beta, void *c, int64_t ldc, int64_t stride_c, int64_t batch,
                          const gw_then *then) {
    GwKernels *to = recorded;
    Kernel kernel = {.start = now(), .sizes = {m, n, k}};
    recorded = NULL;
    int32_t code = (to != NULL ? to->gemm : gw_gemm_then)(
        ctx, dtype, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
        ldc, stride_c, batch, NULL);
    recorded = to;
    kernel.end = now();
    if (to != NULL) {
        add_kernel(to, kernel);
    }
    if (then != NULL) {
        timed_parallel_for(ctx, then->body, then->closure, then->count, then->grain);
    }
    return code;
}

static int32_t timed_routine(uint64_t number, const gw_ctx *ctx, void *const *arrays,
                             const int64_t *sizes, const double *numbers, const gw_then *then) {
    GwKernels *to = recorded;
    Kernel kernel = {.start = now(), .routine = number + 1};
    recorded = NULL;
    int32_t code = gw_routines[number](ctx, arrays, sizes, numbers, NULL);
    recorded = to;
    kernel.end = now();
    if (to != NULL) {
        add_kernel(to, kernel);
    }
    if (then != NULL && code == GW_OK) {
        timed_parallel_for(ctx, then->body, then->closure, then->count, then->grain);
    }
    return code;
}

#define TIMED(NUMBER)                                                                            \
    static int32_t timed_##NUMBER(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes,  \
                                  const double *numbers, const gw_then *then) {                  \
        return timed_routine(NUMBER, ctx, arrays, sizes, numbers, then);                         \
    }
TIMED(GW_ROUTINE_ATTENTION)
TIMED(GW_ROUTINE_ATTENTION_BACKWARD)
TIMED(GW_ROUTINE_RECURRENCE)
TIMED(GW_ROUTINE_RECURRENCE_BACKWARD)
TIMED(GW_ROUTINE_CONVOLUTION)
#undef TIMED

static const gw_routine timed_routines[GW_ROUTINES] = {
    [GW_ROUTINE_ATTENTION] = timed_GW_ROUTINE_ATTENTION,
    [GW_ROUTINE_ATTENTION_BACKWARD] = timed_GW_ROUTINE_ATTENTION_BACKWARD,
    [GW_ROUTINE_RECURRENCE] = timed_GW_ROUTINE_RECURRENCE,
    [GW_ROUTINE_RECURRENCE_BACKWARD] = timed_GW_ROUTINE_RECURRENCE_BACKWARD,
    [GW_ROUTINE_CONVOLUTION] = timed_GW_ROUTINE_CONVOLUTION,
};

GwKernels *gw_kernels_begin(gw_ctx *ctx) {
    Buffer *b = buffer();
    GwKernels *made = b == NULL || b->compiling > 0 ? NULL : calloc(1, sizeof *made);
    if (made != NULL) {
        ctx->parallel_for = timed_parallel_for;
        made->gemm = ctx->gemm;
        ctx->gemm = timed_gemm;
        ctx->routines = timed_routines;
        recorded = made;
    }
    return made;
}

static PyObject *sizes_of(const Kernel *kernel) {
    const int64_t *s = kernel->sizes;
    if (kernel->routine != 0) {
        return PyTuple_New(0);
    }
    return kernel->body != NULL ? Py_BuildValue("(L)", (long long)s[0])
           : Py_BuildValue("(LLL)", (long long)s[0], (long long)s[1], (long long)s[2]);
}

void gw_kernels_end(GwKernels *kernels, PyObject *code) {
    recorded = NULL;
    Buffer *b = gw_profiling != 0 ? buffer() : NULL;
    for (size_t i = 0; b != NULL && i < kernels->count; i++) {
        const Kernel *kernel = &kernels->list[i];
        PyObject *sizes = or_nothing(sizes_of(kernel));
        Span *span = kernel->start < started ? NULL : add_span(b, GW_SPAN_KERNEL, code);
        if (span == NULL) {
            Py_XDECREF(sizes);
            continue;
        }
        span->shapes = sizes;
        span->start = kernel->start;
        span->end = kernel->end;
        span->value = kernel->routine != 0 ? kernel->routine
                                           : (uint64_t)(uintptr_t)kernel->body;
    }
    free(kernels->list);
    free(kernels);
}

/* ---- Python ---- */

static PyObject *or_none(PyObject *item) { return item != NULL ? item : Py_None; }

static PyObject *span_tuple(const Span *s) {
    return Py_BuildValue("(iOLLiLOOOK)", s->kind, s->name, (long long)s->start, (long long)s->end,
                         (int)s->parent, (long long)s->memory, or_none(s->shapes),
                         or_none(s->result), or_none(s->stack),
                         (unsigned long long)s->value);
}

static PyObject *memory_tuple(const MemoryEvent *e) {
    return Py_BuildValue("(LLLKi)", (long long)e->time, (long long)e->bytes, (long long)e->live,
                         (unsigned long long)e->address, (int)e->span);
}

static PyObject *spans_list(const Buffer *b) {
    PyObject *list = PyList_New((Py_ssize_t)b->count);
    for (size_t i = 0; list != NULL && i < b->count; i++) {
        PyObject *item = span_tuple(&b->spans[i]);
        if (item == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SET_ITEM(list, (Py_ssize_t)i, item);
        }
    }
    return list;
}

static PyObject *memory_list(const Buffer *b) {
    PyObject *list = PyList_New((Py_ssize_t)b->events_count);
    for (size_t i = 0; list != NULL && i < b->events_count; i++) {
        PyObject *item = memory_tuple(&b->events[i]);
        if (item == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SET_ITEM(list, (Py_ssize_t)i, item);
        }
    }
    return list;
}

static void free_buffer(Buffer *b) {
    for (size_t i = 0; i < b->count; i++) {
        Py_DECREF(b->spans[i].name);
        Py_XDECREF(b->spans[i].shapes);
        Py_XDECREF(b->spans[i].result);
        Py_XDECREF(b->spans[i].stack);
    }
    free(b->spans);
    free(b->events);
    free(b);
}

static bool append_buffer(PyObject *list, const Buffer *b) {
    PyObject *spans = spans_list(b), *events = spans == NULL ? NULL : memory_list(b);
    PyObject *item = events == NULL ? NULL
                     : Py_BuildValue("(KKOOn)", (unsigned long long)b->native_id,
                                     (unsigned long long)b->ident, spans, events,
                                     (Py_ssize_t)b->lost);
    bool done = item != NULL && PyList_Append(list, item) == 0;
    Py_XDECREF(spans);
    Py_XDECREF(events);
    Py_XDECREF(item);
    return done;
}

static PyObject *start_profile(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    long flags = PyLong_AsLong(arg);
    if (flags == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (gw_profiling != 0) {
        PyErr_SetString(PyExc_RuntimeError, "a profile is active already: stop it before another "
                        "one is started");
        return NULL;
    }
    session++;
    started = now();
    gw_profiling = GW_PROFILE_ACTIVE | (int)flags;
    Py_RETURN_NONE;
}

static PyObject *stop_profile(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    if (gw_profiling == 0) {
        PyErr_SetString(PyExc_RuntimeError, "no profile is active");
        return NULL;
    }
    int64_t stopped = now();
    Buffer *taken = buffers;
    buffers = NULL;
    gw_profiling = 0;
    session++;              /* marks of open spans mean nothing from here on */
    PyObject *list = PyList_New(0);
    while (taken != NULL) {
        Buffer *next = taken->next;
        while (taken->open >= 0) {
            close_span(taken, stopped);
        }
        if (list != NULL && !append_buffer(list, taken)) {
            Py_CLEAR(list);
        }
        free_buffer(taken);
        taken = next;
    }
    return list == NULL ? NULL
           : Py_BuildValue("(LLN)", (long long)started, (long long)stopped, list);
}

static PyObject *is_profiling(PyObject *self, PyObject *unused) {
    GW_UNUSED(self);
    GW_UNUSED(unused);
    return PyBool_FromLong(gw_profiling != 0);
}

static PyObject *begin_span(PyObject *self, PyObject *const *given, Py_ssize_t nargs) {
    GW_UNUSED(self);
    long kind = nargs == 2 ? PyLong_AsLong(given[1]) : -1;
    if (kind < 0 || kind >= GW_SPAN_KINDS || !PyUnicode_Check(given[0])) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "begin_span(name, kind) takes a str and a kind");
        }
        return NULL;
    }
    GwMark mark = gw_profiling == 0 ? no_mark : gw_span_begin((int)kind, given[0]);
    if (mark.index < 0) {
        Py_RETURN_NONE;
    }
    return PyLong_FromLongLong(((long long)mark.buffer << 32) | mark.index);
}

static PyObject *end_span(PyObject *self, PyObject *token) {
    GW_UNUSED(self);
    if (token == Py_None) {
        Py_RETURN_NONE;
    }
    long long mark = PyLong_AsLongLong(token);
    if (mark == -1 && PyErr_Occurred()) {
        return NULL;
    }
    gw_span_end((GwMark){mark >> 32, (int32_t)(mark & 0x7fffffff)});
    Py_RETURN_NONE;
}

PyMethodDef gw_profiling_methods[] = {
    {"start_profile", start_profile, METH_O,
     "start_profile(flags): record from here on, on all threads. flags: 2 shapes of arguments, 4 "
     "memory, 8 the Python stack, 16 shapes of results. RuntimeError where it is done already."},
    {"stop_profile", stop_profile, METH_NOARGS,
     "stop_profile(): (start, end, threads), times in ns of the monotonic clock. A thread is "
     "(native id, ident, spans, memory events, number of spans lost); a span is (kind, name, "
     "start, end, number of the parent or -1, bytes, shapes, result's shape, stack, address); a "
     "memory event is (time, bytes, live bytes, address, number of the span or -1)."},
    {"is_profiling", is_profiling, METH_NOARGS, "Whether a profile is active."},
    {"begin_span", (PyCFunction)(void (*)(void))begin_span, METH_FASTCALL,
     "begin_span(name, kind): what end_span takes; None where nothing is recorded."},
    {"end_span", end_span, METH_O, "end_span(begun): end that span, and all open ones within it."},
    {NULL, NULL, 0, NULL},
};

/* A forked process has no profile: nobody would read what it records. */
static void forget(void) {
    gw_profiling = 0;
    buffers = NULL;
    session++;
}

int gw_profiling_init(void) { return pthread_atfork(NULL, NULL, forget); }
