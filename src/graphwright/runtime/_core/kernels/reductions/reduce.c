/* Reductions over any dimensions of a tensor of any strides, on all threads.
 *
 * What is reduced is cut into blocks of a fixed size, whose partial results are merged in order:
 * the same input gives the same bits whatever the number of threads. Where the innermost
 * dimension is kept, many results are accumulated side by side. */
#include "arguments.h"
#include "loops.h"
#include "pool.h"
#include "reduce.h"

#include <stddef.h>

enum {
    BLOCK = 64 << 10,       /* elements of one partial result */
    COLUMNS = 1024,         /* results that are accumulated side by side */
    SHORT = 4096,           /* elements of rows of which several are reduced in one go */
    WIDENED = 2048,         /* elements of rows of half precision that are converted at a time, */
    WIDE_COLUMNS = WIDENED / 8,     /* and of a row of those that are accumulated side by side */
    GATHERED = 1024,        /* elements from apart that are brought together at a time */
    CROSSED = 16,           /* the shortest runs that are accumulated across one another */
    GRAIN = 16 << 10,       /* elements that are worth a thread */
    HOLD_GIL = 8 << 10,
};

typedef struct {
    int ndim;
    int64_t numel;
    int64_t sizes[GW_MAX_DIMS], steps[GW_MAX_DIMS], out[GW_MAX_DIMS];   /* innermost first */
} Space;

typedef struct {
    const GwReduction *kind;
    GwLoop widen;               /* half precision to float32, or NULL */
    int64_t width;              /* bytes of an element of the input */
    const char *in;
    char *out;
    Space kept, reduced;
    bool side_by_side;          /* the innermost dimension is kept */
    bool short_rows;            /* contiguous rows of few elements, their results in tiles */
    bool crosswise;             /* of contiguous runs, short ones: first one with another */
    int64_t tiles, tile;        /* of the innermost kept dimension */
    int64_t blocks, block;      /* of the reduced elements */
    int64_t out_step;
    char *partial;              /* [result][block], where there are several blocks */
} Job;

/* ---- spaces ---- */

static void add_dim(Space *s, int64_t size, int64_t step, int64_t out) {
    s->numel *= size;
    if (size == 1) {
        return;
    }
    int at = s->ndim++;
    for (; at > 0 && s->steps[at - 1] > step; at--) {
        s->sizes[at] = s->sizes[at - 1];
        s->steps[at] = s->steps[at - 1];
        s->out[at] = s->out[at - 1];
    }
    s->sizes[at] = size;
    s->steps[at] = step;
    s->out[at] = out;
}

static void join_dims(Space *s) {
    int last = 0;
    for (int d = 1; d < s->ndim; d++) {
        if (s->steps[d] == s->steps[last] * s->sizes[last]
            && s->out[d] == s->out[last] * s->sizes[last]) {
            s->sizes[last] *= s->sizes[d];
        } else {
            last++;
            s->sizes[last] = s->sizes[d];
            s->steps[last] = s->steps[d];
            s->out[last] = s->out[d];
        }
    }
    s->ndim = s->ndim > 0 ? last + 1 : 0;
}

typedef struct {
    int64_t index[GW_MAX_DIMS];
    int64_t in, out;            /* byte offsets */
} Position;

/* The position of element `at` of the dimensions from `first` on. */
static Position position(const Space *s, int first, int64_t at) {
    Position p = {.in = 0, .out = 0};
    for (int d = first; d < s->ndim; d++) {
        p.index[d] = at % s->sizes[d];
        at /= s->sizes[d];
        p.in += p.index[d] * s->steps[d];
        p.out += p.index[d] * s->out[d];
    }
    return p;
}

static void advance(const Space *s, int first, Position *p) {
    for (int d = first; d < s->ndim; d++) {
        p->in += s->steps[d];
        p->out += s->out[d];
        if (++p->index[d] < s->sizes[d]) {
            return;
        }
        p->in -= s->steps[d] * s->sizes[d];
        p->out -= s->out[d] * s->sizes[d];
        p->index[d] = 0;
    }
}

/* ---- one partial result ---- */

/* Elements of half precision as float32. */
static void widen(const Job *job, const char *in, int64_t step, int64_t n, float *out) {
    char *pair[2] = {(char *)(uintptr_t)in, (char *)out};
    npy_intp count = n, steps[2] = {step, sizeof(float)};
    job->widen(pair, &count, steps, NULL);
}

/* Runs fold or columns over n elements, those of half precision through a buffer. */
static void feed(const Job *job, void *acc, const char *in, int64_t step, int64_t n) {
    const GwReduction *kind = job->kind;
    void (*run)(void *, const char *, int64_t, int64_t) = job->side_by_side ? kind->columns
                                                                            : kind->fold;
    GwPick pick = job->widen == NULL && !job->side_by_side ? gw_pick_of(job->width, step) : NULL;
    if (job->widen == NULL && pick == NULL) {
        run(acc, in, step, n);
        return;
    }
    _Alignas(64) char buffer[GATHERED * 8];
    int64_t most = pick != NULL ? GATHERED : WIDENED;
    for (int64_t done = 0; done < n; done += most) {
        int64_t count = n - done < most ? n - done : most;
        char *to = job->side_by_side ? (char *)acc + done * kind->width : acc;
        if (pick != NULL) {
            pick(in + done * step, count, buffer);
        } else {
            widen(job, in + done * step, step, count, (float *)(void *)buffer);
        }
        run(to, buffer, pick != NULL ? job->width : (int64_t)sizeof(float), count);
    }
}

/* Rows of contiguous elements, each into its own accumulator. */
static void fold_short_rows(const Job *job, void *acc, const char *in, int64_t rows) {
    int64_t size = job->reduced.numel, stride = job->kept.steps[0];
    if (job->widen == NULL) {
        job->kind->short_rows(acc, in, stride, rows, size);
        return;
    }
    float buffer[SHORT];
    int64_t most = size > WIDENED ? 1 : size > 0 ? WIDENED / size : rows, count;
    for (int64_t done = 0; done < rows; done += count) {
        count = rows - done < most ? rows - done : most;
        bool dense = stride == size * job->width;
        for (int64_t r = 0; r < (dense ? 1 : count); r++) {
            widen(job, in + (done + r) * stride, job->width, dense ? count * size : size,
                  buffer + r * size);
        }
        job->kind->short_rows((char *)acc + done * job->kind->width, (char *)buffer,
                              size * (int64_t)sizeof(float), count, size);
    }
}

/* Rows of at most WIDE_COLUMNS contiguous elements of half precision, several at a time. */
static void fold_wide_rows(const Job *job, void *acc, const char *in, int64_t stride,
                           int64_t rows, int64_t n) {
    float buffer[SHORT];
    int64_t most = WIDENED / n;
    for (int64_t done = 0; done < rows; done += most) {
        int64_t count = rows - done < most ? rows - done : most;
        for (int64_t r = 0; r < count; r++) {
            const char *row = in + (done + r) * stride;
            for (int64_t byte = 0; byte < n * job->width; byte += 64) {
                __builtin_prefetch(row + most * stride + byte);
            }
            widen(job, row, job->width, n, buffer + r * n);
        }
        job->kind->column_rows(acc, (char *)buffer, n * (int64_t)sizeof(float), count, n);
    }
}

/* Rows of contiguous elements into n results. */
static void fold_rows(const Job *job, void *acc, const char *in, int64_t stride, int64_t rows,
                      int64_t n) {
    if (job->widen == NULL) {
        job->kind->column_rows(acc, in, stride, rows, n);
        return;
    }
    for (int64_t done = 0; done < n; done += WIDE_COLUMNS) {
        int64_t count = n - done < WIDE_COLUMNS ? n - done : WIDE_COLUMNS;
        fold_wide_rows(job, (char *)acc + done * job->kind->width, in + done * job->width, stride,
                       rows, count);
    }
}

/* Whole runs from `begin` on, side by side; what they make is then halved until one remains. */
static void fold_crosswise(const Job *job, void *acc, const char *in, int64_t begin, int64_t end) {
    _Alignas(64) char lanes[COLUMNS * 8];
    const GwReduction *kind = job->kind;
    int64_t n = job->reduced.sizes[0], stride = job->reduced.steps[1];
    kind->start(lanes, n);
    fold_rows(job, lanes, in + begin / n * stride, stride, (end - begin) / n, n);
    for (; n > 1; n = (n + 1) / 2) {
        int64_t half = (n + 1) / 2;
        kind->merge(lanes, lanes + half * kind->width, n - half);
    }
    kind->merge(acc, lanes, 1);
}

/* Reduced elements [begin, end) of the result at `in`. */
static void fold_range(const Job *job, void *acc, const char *in, int64_t begin, int64_t end) {
    const Space *s = &job->reduced;
    if (begin >= end) {
        return;
    }
    if (s->ndim == 0) {
        feed(job, acc, in, 0, end - begin);
        return;
    }
    if (job->crosswise) {
        fold_crosswise(job, acc, in, begin, end);
        return;
    }
    int64_t inner = s->sizes[0];
    Position p = position(s, 1, begin / inner);
    int64_t first = begin % inner;
    while (begin < end) {
        int64_t n = inner - first < end - begin ? inner - first : end - begin;
        feed(job, acc, in + p.in + first * s->steps[0], s->steps[0], n);
        begin += n;
        first = 0;
        advance(s, 1, &p);
    }
}

/* The same for n results side by side, `step` bytes apart. */
static void fold_columns(const Job *job, void *acc, const char *in, int64_t step, int64_t n,
                         int64_t begin, int64_t end) {
    if (begin >= end) {
        return;
    }
    if (step == job->width && job->reduced.ndim == 1) {
        int64_t stride = job->reduced.steps[0];
        fold_rows(job, acc, in + begin * stride, stride, end - begin, n);
        return;
    }
    Position p = position(&job->reduced, 0, begin);
    for (; begin < end; begin++) {
        feed(job, acc, in + p.in, step, n);
        advance(&job->reduced, 0, &p);
    }
}

static void finish(const Job *job, const void *acc, char *out, int64_t n) {
    job->kind->finish(acc, out, job->out_step, n, job->reduced.numel);
}

/* Whether the innermost kept dimension is cut into tiles. */
static bool tiled(const Job *job) { return job->side_by_side || job->short_rows; }

/* ---- tasks: [kept outer][tile][block] ---- */

static void run_tasks(void *closure, int64_t begin, int64_t end) {
    const Job *job = closure;
    _Alignas(64) char acc[COLUMNS * 8];
    int first = tiled(job) ? 1 : 0;
    for (int64_t task = begin; task < end; task++) {
        int64_t block = task % job->blocks, rest = task / job->blocks;
        int64_t tile = rest % job->tiles;
        Position p = position(&job->kept, first, rest / job->tiles);
        int64_t from = block * job->block, to = from + job->block, n = 1;
        to = to < job->reduced.numel ? to : job->reduced.numel;
        const char *in = job->in + p.in;
        char *out = job->out + p.out;
        if (tiled(job)) {
            int64_t column = tile * job->tile;
            n = job->kept.sizes[0] - column < job->tile ? job->kept.sizes[0] - column : job->tile;
            in += column * job->kept.steps[0];
            out += column * job->kept.out[0];
        }
        job->kind->start(acc, n);
        if (job->short_rows) {
            fold_short_rows(job, acc, in, n);
        } else if (job->side_by_side) {
            fold_columns(job, acc, in, job->kept.steps[0], n, from, to);
        } else {
            fold_range(job, acc, in, from, to);
        }
        if (job->blocks == 1) {
            finish(job, acc, out, n);
        } else {
            memcpy(job->partial + task * job->tile * job->kind->width, acc,
                   (size_t)(n * job->kind->width));
        }
    }
}

static void merge_blocks(const Job *job, int64_t results) {
    int64_t width = job->tile * job->kind->width;
    int first = tiled(job) ? 1 : 0;
    for (int64_t result = 0; result < results; result++) {
        char *acc = job->partial + result * job->blocks * width;
        int64_t tile = result % job->tiles, n = 1, column = 0;
        Position p = position(&job->kept, first, result / job->tiles);
        if (tiled(job)) {
            column = tile * job->tile;
            n = job->kept.sizes[0] - column < job->tile ? job->kept.sizes[0] - column : job->tile;
            column *= job->kept.out[0];
        }
        for (int64_t block = 1; block < job->blocks; block++) {
            job->kind->merge(acc, acc + block * width, n);
        }
        finish(job, acc, job->out + p.out + column, n);
    }
}

/* False with MemoryError. */
static bool run_job(Job *job) {
    int64_t outer = job->kept.numel, inner = 1;
    job->tile = job->tiles = 1;
    if (tiled(job)) {
        inner = job->kept.sizes[0];
        outer = job->kept.numel / inner;
        int64_t most = job->widen != NULL && job->side_by_side ? WIDE_COLUMNS : COLUMNS;
        job->tile = inner < most ? inner : most;
        job->tiles = (inner + job->tile - 1) / job->tile;
        job->out_step = job->kept.out[0];
    }
    job->block = job->short_rows ? SHORT : BLOCK / job->tile;
    if (job->crosswise) {
        job->block = BLOCK / job->reduced.sizes[0] * job->reduced.sizes[0];
    }
    job->blocks = (job->reduced.numel + job->block - 1) / job->block;
    job->blocks = job->blocks < 1 ? 1 : job->blocks;
    int64_t results = outer * job->tiles, tasks = results * job->blocks;
    int64_t each = job->reduced.numel / job->blocks * job->tile + 1;
    job->partial = NULL;
    if (job->blocks > 1) {
        job->partial = PyMem_RawMalloc((size_t)(tasks * job->tile * job->kind->width));
        if (job->partial == NULL) {
            PyErr_NoMemory();
            return false;
        }
    }
    if (job->kept.numel * job->reduced.numel < HOLD_GIL) {
        run_tasks(job, 0, tasks);
    } else {
        gw_ctx ctx;
        gw_context(&ctx);
        int64_t grain = GRAIN / each < 1 ? 1 : GRAIN / each;
        Py_BEGIN_ALLOW_THREADS
        gw_parallel_for(&ctx, run_tasks, job, tasks, grain);
        Py_END_ALLOW_THREADS
    }
    if (job->blocks > 1) {
        merge_blocks(job, results);
        PyMem_RawFree(job->partial);
    }
    return true;
}

/* ---- Reduction: the eager kernel ---- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyTypeObject *cls;
    PyObject *name, *fallback;
    bool dtype;             /* takes a dtype after keepdim */
    bool truths;            /* of bool, which the others are converted to */
    bool needs_elements;    /* has no result for none */
    uint32_t dtypes;
} Reduction;

/* The dims that are reduced, as bits; false where they are not plain. */
static bool read_dims(PyObject *dims, int ndim, uint32_t *bits) {
    if (dims == Py_None) {
        *bits = ((uint64_t)1 << ndim) - 1;
        return true;
    }
    if (!PyTuple_CheckExact(dims) || (PyTuple_GET_SIZE(dims) == 0 && ndim > 0)) {
        return false;
    }
    *bits = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dims); i++) {
        PyObject *item = PyTuple_GET_ITEM(dims, i);
        Py_ssize_t d = PyLong_CheckExact(item) ? PyLong_AsSsize_t(item) : -1;
        if (d < 0 || d >= ndim) {
            PyErr_Clear();
            return false;
        }
        *bits |= (uint32_t)1 << d;
    }
    return true;
}

/* Puts the dims of the input into the two spaces, for a result laid out like `out`. */
static void plan_spaces(Job *job, const GwTensor *in, const GwTensor *out, uint32_t dims,
                        bool keepdim) {
    int itemsize = gw_itemsize(in), to = 0;
    job->width = itemsize;
    job->kept.ndim = job->reduced.ndim = 0;
    job->kept.numel = job->reduced.numel = 1;
    for (int d = 0; d < in->ndim; d++) {
        bool reduce = (dims >> d & 1) != 0;
        int64_t step = in->strides[d] * itemsize;
        if (reduce) {
            add_dim(&job->reduced, in->sizes[d], step, 0);
        } else {
            add_dim(&job->kept, in->sizes[d], step, out->strides[to] * gw_itemsize(out));
        }
        to += !reduce || keepdim;
    }
    join_dims(&job->kept);
    join_dims(&job->reduced);
    job->side_by_side = job->kept.ndim > 0 && job->reduced.ndim > 0
                        && job->kept.steps[0] < job->reduced.steps[0]
                        && job->kept.sizes[0] > 1;
    bool runs = !job->side_by_side && job->reduced.ndim > 0
                && job->reduced.steps[0] == itemsize;
    job->short_rows = runs && job->kept.ndim > 0 && job->reduced.ndim == 1
                      && job->reduced.numel <= SHORT;
    job->crosswise = runs && job->reduced.ndim == 2
                     && job->reduced.sizes[0] >= CROSSED && job->reduced.sizes[0] <= COLUMNS
                     && job->reduced.sizes[1] >= job->reduced.sizes[0] / CROSSED;
}

static GwTensor *result_like(const Reduction *r, const GwTensor *in, int dtype, uint32_t dims,
                             bool keepdim) {
    int64_t sizes[GW_MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < in->ndim; d++) {
        bool reduce = (dims >> d & 1) != 0;
        if (!reduce || keepdim) {
            sizes[ndim++] = reduce ? 1 : in->sizes[d];
        }
    }
    return gw_tensor_empty(r->cls, dtype, ndim, sizes, NULL);
}

/* Half precision is reduced in float32, and the float32 results are rounded. */
static bool round_result(const GwTensor *wide, GwTensor *out) {
    npy_intp count = wide->numel, steps[2] = {sizeof(float), 2};
    char *pair[2] = {wide->data, out->data};
    gw_convert_loop(GW_FLOAT32, out->dtype)(pair, &count, steps, NULL);
    return true;
}

/* The input in the dtype that it is reduced in: a bool, or the one given after keepdim. A new
 * reference; NULL, without an exception, where the call is not a plain one. */
static GwTensor *reduced_as(const Reduction *r, PyObject *const *args) {
    GwTensor *in = gw_plain_tensor(args[0]);
    if (in == NULL) {
        return NULL;
    }
    int dtype = r->dtype ? gw_plain_dtype(args[3], in->dtype) : r->truths ? GW_BOOL : in->dtype;
    bool half = dtype != in->dtype && dtype >= 0 && gw_is_half(dtype);  /* would round each element */
    int taken = r->truths ? in->dtype : dtype;
    if (dtype < 0 || half || (r->dtypes >> taken & 1) == 0) {
        return NULL;
    }
    return dtype == in->dtype ? (GwTensor *)Py_NewRef(args[0]) : gw_cast(r->cls, in, dtype);
}

/* Whether a result of that kind has the dtype that is asked for after keepdim. */
static bool gives(const Reduction *r, const GwReduction *kind, PyObject *const *args) {
    return !r->dtype || args[3] == Py_None || kind->result < 0
           || kind->result == gw_plain_dtype(args[3], -1);
}

/* NULL without an exception where the call is not a plain one. */
static GwTensor *reduce(const Reduction *r, GwTensor *in, PyObject *const *args) {
    uint32_t dims;
    if (!PyBool_Check(args[2]) || !read_dims(args[1], in->ndim, &dims)
        || (in->numel == 0 && r->needs_elements)) {
        return NULL;
    }
    bool half = gw_is_half(in->dtype), keepdim = args[2] == Py_True;
    Job job;
    job.kind = gw_reduction(PyUnicode_AsUTF8(r->name), half ? GW_FLOAT32 : in->dtype);
    if (job.kind == NULL || !gives(r, job.kind, args)) {
        return NULL;
    }
    int dtype = job.kind->result >= 0 ? job.kind->result : in->dtype;
    GwTensor *out = result_like(r, in, dtype, dims, keepdim);
    GwTensor *wide = out == NULL || !half ? (GwTensor *)Py_XNewRef(out)
                                          : result_like(r, in, GW_FLOAT32, dims, keepdim);
    if (wide != NULL) {
        job.widen = half ? gw_convert_loop(in->dtype, GW_FLOAT32) : NULL;
        job.in = in->data;
        job.out = wide->data;
        job.out_step = 0;
        plan_spaces(&job, in, wide, dims, keepdim);
        bool done = job.kept.numel == 0 || run_job(&job);
        if (!done || (half && !round_result(wide, out))) {
            Py_CLEAR(out);
        }
        Py_DECREF(wide);
    } else {
        Py_CLEAR(out);
    }
    return out;
}

static PyObject *reduction_call(PyObject *self, PyObject *const *args, size_t nargsf,
                                PyObject *kwnames) {
    const Reduction *r = (Reduction *)self;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (kwnames == NULL && nargs == 3 + r->dtype) {
        GwTensor *in = reduced_as(r, args), *out = in == NULL ? NULL : reduce(r, in, args);
        Py_XDECREF(in);
        if (out != NULL || PyErr_Occurred()) {
            return (PyObject *)out;
        }
    }
    return PyObject_Vectorcall(r->fallback, args, nargsf, kwnames);
}

static PyObject *reduction_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"cls", "name", "dtypes", "fallback", "dtype", "needs_elements",
                            "truths", NULL};
    PyObject *cls, *name, *dtypes, *fallback;
    int dtype = 0, needs_elements = 0, truths = 0;
    uint32_t bits = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OUOO|ppp:Reduction", names, &cls, &name,
                                     &dtypes, &fallback, &dtype, &needs_elements, &truths)
        || gw_tensor_class(cls) == NULL || !gw_dtype_bits(dtypes, &bits)) {
        return NULL;
    }
    Reduction *r = (Reduction *)type->tp_alloc(type, 0);
    if (r != NULL) {
        r->call = reduction_call;
        r->cls = (PyTypeObject *)Py_NewRef(cls);
        r->name = Py_NewRef(name);
        r->fallback = Py_NewRef(fallback);
        r->dtype = dtype != 0;
        r->needs_elements = needs_elements != 0;
        r->truths = truths != 0;
        r->dtypes = bits;
    }
    return (PyObject *)r;
}

static int reduction_traverse(PyObject *self, visitproc visit, void *arg) {
    Reduction *r = (Reduction *)self;
    Py_VISIT(r->cls);
    Py_VISIT(r->fallback);
    return 0;
}

static int reduction_clear(PyObject *self) {
    Py_CLEAR(((Reduction *)self)->fallback);
    return 0;
}

static void reduction_dealloc(PyObject *self) {
    Reduction *r = (Reduction *)self;
    PyObject_GC_UnTrack(self);
    Py_XDECREF(r->cls);
    Py_XDECREF(r->name);
    Py_XDECREF(r->fallback);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject GwReduction_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.Reduction",
    .tp_doc = "Reduction(cls, name, dtypes, fallback, dtype=False, needs_elements=False, "
              "truths=False): the eager kernel of name(input, dim, keepdim), or with a dtype after "
              "these; what it does not know goes to `fallback`. `truths`: whether elements are 0 "
              "is all that counts.",
    .tp_basicsize = sizeof(Reduction),
    .tp_new = reduction_new,
    .tp_dealloc = reduction_dealloc,
    .tp_traverse = reduction_traverse,
    .tp_clear = reduction_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Reduction, call),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
};
