/* Convolutions of up to three spatial dimensions and their gradients, without im2col.
 *
 * A channel is copied once into planes in which every tap of the kernel reads consecutive
 * elements for consecutive outputs: padded with zeros, and with stride s split into the s phases
 * (coordinates of equal remainder). Where there is neither padding nor stride the input itself
 * serves. The product of weights and windows is then computed by register tiles whose rows are
 * output channels and whose columns are positions, each tap reading the planes at an offset.
 *
 * The gradient with regard to the input is the same computation: for each phase of the input's
 * coordinates, the taps that reach it form a convolution of stride 1 over the output's gradient.
 * The gradient with regard to the weights multiplies the planes with the transposed gradient.
 *
 * Depthwise convolutions (depthwise.c), and those that are better taken as matrix products
 * (conv_columns.c), are computed in other ways. */
#define _GNU_SOURCE
#include "conv.h"

#include <stdlib.h>
#include <string.h>

/* The size of the fewest equal parts of n that are no larger than `most`. */
static inline int64_t even_part(int64_t n, int64_t most) {
    int64_t parts = (n + most - 1) / most;
    return (n + parts - 1) / parts;
}

/* Column j joins the last run, or opens one. */
static inline void extend(bool joins, int j, int *first, int *length, int *count) {
    if (joins) {
        length[*count - 1]++;
    } else {
        first[*count] = j;
        length[(*count)++] = 1;
    }
}

/* Panels that are not flat run on from image to image. */
static void find_columns(const Job *job, int64_t index, int width, Columns *c) {
    const Pass *pass = job->pass;
    int64_t slice = pass->flat ? index / pass->panels_per_slice : 0;
    int64_t first = (index - slice * pass->panels_per_slice) * width;
    int64_t line = pass->flat ? pass->from_step[1] : pass->count[2];
    int64_t total = pass->flat ? (pass->count[1] - 1) * line + pass->count[2]
                              : job->images * volume_of(pass->count);
    int64_t y = first / line, x = first % line;
    c->contiguous = pass->flat && first + width <= total;
    c->runs = c->segments = 0;
    c->step = pass->to_step[2];
    bool open = false;
    for (int j = 0; j < width && first + j < total; j++) {
        int64_t z = pass->flat ? slice : y / pass->count[1];
        int64_t own = pass->flat ? y : y % pass->count[1];
        int64_t image = pass->flat ? 0 : z / pass->count[0];
        z -= image * pass->count[0];
        c->from[j] = image * job->groups * job->depth * job->layout.plane + pass->from
                     + z * pass->from_step[0] + own * pass->from_step[1] + x;
        c->to[j] = image * job->groups * job->rows * job->out_plane + pass->to
                   + z * pass->to_step[0] + own * pass->to_step[1] + x * pass->to_step[2];
        bool valid = x < pass->count[2];
        extend(j > 0 && c->from[j] == c->from[j - 1] + 1, j, c->segment, c->segment_length,
               &c->segments);
        if (valid) {
            extend(open && c->to[j] == c->to[j - 1] + c->step, j, c->run, c->run_length,
                   &c->runs);
        }
        open = valid;
        if (++x == line) {
            x = 0;
            y++;
        }
    }
}

#define BYTES 32
#define TALLEST 6
#define KERNEL NARROW
#define REAL float
#define NAME(x) x##_f32
#include "conv_kernel.h"
#define BYTES 32
#define TALLEST 6
#define KERNEL NARROW
#define REAL double
#define NAME(x) x##_f64
#include "conv_kernel.h"
#define BYTES 32
#define TALLEST 6
#define KERNEL NARROW
#define REAL uint64_t
#define NAME(x) x##_i64
#include "conv_kernel.h"

/* With 32 vector registers of twice the size, tiles are taller. */
#ifdef HAS_WIDE
#define BYTES 64
#define TALLEST 12
#define KERNEL WIDE
#define REAL float
#define NAME(x) x##_wide_f32
#include "conv_kernel.h"
#define BYTES 64
#define TALLEST 12
#define KERNEL WIDE
#define REAL double
#define NAME(x) x##_wide_f64
#include "conv_kernel.h"
#endif

static const Kernels *find_kernels(int type) {
    if (type == NPY_INT64) {
        return &kernels_i64;
    }
#ifdef HAS_WIDE
    if (gw_has_wide()) {
        return type == NPY_FLOAT32 ? &kernels_wide_f32 : &kernels_wide_f64;
    }
#endif
    return type == NPY_FLOAT32 ? &kernels_f32 : &kernels_f64;
}

/* ---- doing it ---- */

static void set_offsets(Memory *memory, const Job *job, Pass *pass, int64_t spare) {
    int64_t depth = gw_conv_times(memory, job->depth, pass->taps), at = 0;
    pass->offsets = gw_conv_take(memory, depth + spare, sizeof(int64_t));
    pass->weight_offsets = gw_conv_take(memory, depth, sizeof(int64_t));
    if (memory->failed != DONE) {
        return;
    }
    for (int64_t c = 0; c < job->depth; c++) {
        for (int64_t t = 0; t < pass->taps; t++) {
            pass->offsets[at] = c * job->layout.plane + pass->source[t];
            pass->weight_offsets[at++] = c * job->weight_depth + pass->weight[t];
        }
    }
    for (int64_t i = 0; i < spare; i++) {
        pass->offsets[at++] = 0;
    }
}

/* The height of tiles that wastes least: rows are filled up, and each tile loads its columns. */
static int64_t best_height(int64_t rows, int64_t tallest) {
    static const int heights[] = {12, 10, 8, 6, 4, 2, 1};
    int64_t best = 1, least = INT64_MAX;
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        int64_t cost = ((rows - 1) / heights[i] + 1) * (heights[i] + 1);
        if (heights[i] <= tallest && cost < least) {
            least = cost;
            best = heights[i];
        }
    }
    return best;
}

/* Images whose planes are made at a time. */
static int64_t chunk_of(int64_t images, int64_t bytes) {
    int64_t most = bytes > 0 && bytes < CHUNK ? CHUNK / bytes : 1;
    return most < images ? most : images;
}

static const void *after(const void *base, int64_t elements, int64_t size) {
    return base != NULL ? (const char *)base + elements * size : NULL;
}

/* How many images at a time, where planes are copied; all where they are not. */
static int64_t chunk_of_job(Memory *memory, const Conv *conv, const Job *job) {
    int64_t planes = gw_conv_times(memory, job->groups * job->depth, job->layout.plane);
    return gw_conv_is_identity(&job->layout)
               ? conv->images
               : chunk_of(conv->images, gw_conv_times(memory, planes, conv->kernels->size));
}

/* Lines' ends cost columns, but where panels run over them nothing needs to be gathered, which
 * costs as much as GATHERING rows do. */
static void cut_panels(const Job *job, Pass *pass) {
    int64_t images = job->images;
    int64_t width = job->kernels->panel;
    int64_t line = (pass->count[1] - 1) * pass->from_step[1] + pass->count[2];
    int64_t slice = (line + width - 1) / width;
    int64_t exact = (images * volume_of(pass->count) + width - 1) / width;
    pass->flat = images * pass->count[0] * slice * job->rows <= exact * (job->rows + GATHERING);
    pass->panels_per_slice = pass->flat ? slice : 0;
}

static void prepare_pass(Memory *memory, const gw_ctx *ctx, Job *job, Pass *pass) {
    set_offsets(memory, job, pass, 0);
    int64_t tiles = job->groups * job->tiles;
    int64_t rows = gw_conv_times(memory, gw_conv_times(memory, tiles, job->height), job->depth);
    int64_t weights = gw_conv_times(memory, rows, pass->taps);
    pass->packed = gw_conv_take(memory, weights, job->kernels->size);
    if (memory->failed == DONE) {
        cut_panels(job, pass);
        job->pass = pass;
        gw_parallel_for(ctx, job->kernels->pack_weights, job, tiles, 1);
    }
}

static void run_pass(const gw_ctx *ctx, Job *job, const Pass *pass) {
    job->pass = pass;
    int64_t parts = job->images * job->groups;
    if (job->height == 1) {
        gw_parallel_for(ctx, job->kernels->convolve_directly, job, parts, 1);
        return;
    }
    int64_t width = job->kernels->panel, places = job->images * volume_of(pass->count);
    job->panels = pass->flat ? pass->count[0] * pass->panels_per_slice
                             : (places + width - 1) / width;
    job->parts = pass->flat ? parts : job->groups;
    int64_t tasks = job->parts * job->panels, wanted = 4 * ctx->num_threads;
    job->blocks = tasks < wanted ? (wanted + tasks - 1) / tasks : 1;
    job->blocks = job->blocks < job->tiles ? job->blocks : job->tiles;
    job->block_tiles = (job->tiles + job->blocks - 1) / job->blocks;
    job->blocks = (job->tiles + job->block_tiles - 1) / job->block_tiles;
    gw_parallel_for(ctx, job->kernels->convolve, job, tasks * job->blocks, 1);
}

/* Runs the passes over all images, in chunks of images whose planes stay in the caches. */
static void run_passes(Memory *memory, const gw_ctx *ctx, const Conv *conv, Job *job,
                       const Pass *passes, int count) {
    int64_t size = conv->kernels->size, volume = volume_of(job->layout.size);
    int64_t channels = job->groups * job->depth, chunk = chunk_of_job(memory, conv, job);
    int64_t planes = gw_conv_times(memory, channels, job->layout.plane);
    bool copy = !gw_conv_is_identity(&job->layout);
    job->copies = copy ? gw_conv_take(memory, gw_conv_times(memory, chunk, planes), size) : NULL;
    if (memory->failed != DONE) {
        return;
    }
    for (int64_t first = 0; first < conv->images; first += chunk) {
        int64_t out = first * job->groups * job->rows * job->out_plane;
        job->images = conv->images - first < chunk ? conv->images - first : chunk;
        job->input = after(conv->a, first * channels * volume, size);
        job->planes = copy ? job->copies : job->input;
        job->output = (char *)conv->output + out * size;
        if (copy) {
            gw_parallel_for(ctx, conv->kernels->fill_planes, job, job->images * channels, 1);
        }
        for (int i = 0; i < count; i++) {
            run_pass(ctx, job, passes + i);
        }
    }
}

static void set_rows(const Conv *conv, Job *job) {
    bool direct = job->rows <= FEW_ROWS && conv->images * job->groups >= FEW_PARTS;
    job->height = direct ? 1 : job->rows == 1 ? 2 : best_height(job->rows, job->kernels->tallest);
    job->tiles = (job->rows + job->height - 1) / job->height;
}

static const int64_t *gathered_steps(Memory *memory, int width) {
    int64_t *steps = gw_conv_take(memory, K_BLOCK, sizeof(int64_t));
    for (int64_t i = 0; i < K_BLOCK && steps != NULL; i++) {
        steps[i] = i * width;
    }
    return steps;
}

static void forward(Memory *memory, const gw_ctx *ctx, const Conv *conv) {
    int64_t taps = volume_of(conv->kernel);
    Job job = {.layout = gw_conv_input_layout(memory, conv), .kernels = conv->kernels,
               .weights = conv->b, .bias = conv->bias, .groups = conv->groups,
               .depth = conv->ins, .rows = conv->outs, .out_plane = volume_of(conv->out),
               .weight_row = conv->ins * taps, .weight_depth = taps,
               .weight_group = conv->outs * conv->ins * taps};
    Pass pass;
    set_rows(conv, &job);
    job.images = chunk_of_job(memory, conv, &job);
    job.steps = gathered_steps(memory, conv->kernels->panel);
    gw_conv_input_pass(memory, conv, &job.layout, &pass);
    if (memory->failed == DONE) {
        prepare_pass(memory, ctx, &job, &pass);
        run_passes(memory, ctx, conv, &job, &pass, 1);
    }
}

void gw_conv_fill_with_bias(const Conv *conv, int64_t channels, int64_t plane) {
    size_t size = (size_t)conv->kernels->size;
    char *to = conv->output;
    for (int64_t i = 0; i < conv->images * channels; i++) {
        const char *bias = after(conv->bias, i % channels, (int64_t)size);
        if (bias == NULL) {
            memset(to, 0, (size_t)plane * size);
            to += (size_t)plane * size;
            continue;
        }
        for (int64_t j = 0; j < plane; j++, to += size) {
            memcpy(to, bias, size);
        }
    }
}

static void input_gradient(Memory *memory, const gw_ctx *ctx, const Conv *conv) {
    int64_t taps = volume_of(conv->kernel), number[AXES], count = 0;
    Job job = {.layout = gw_conv_gradient_layout(memory, conv), .kernels = conv->kernels,
               .weights = conv->b, .bias = conv->bias, .groups = conv->groups,
               .depth = conv->outs, .rows = conv->ins, .out_plane = volume_of(conv->in),
               .weight_row = taps, .weight_depth = conv->ins * taps,
               .weight_group = conv->outs * conv->ins * taps};
    bool gaps = false;
    for (int a = 0; a < AXES; a++) {
        number[a] = gw_conv_phases(conv, a);
        gaps = gaps || number[a] < conv->stride[a];
    }
    set_rows(conv, &job);
    job.images = chunk_of_job(memory, conv, &job);
    job.steps = gathered_steps(memory, conv->kernels->panel);
    Pass *passes = gw_conv_take(memory, volume_of(number), sizeof(Pass));
    for (int64_t i = 0; i < volume_of(number) && memory->failed == DONE; i++) {
        int64_t phase[AXES] = {i / number[2] / number[1], i / number[2] % number[1],
                               i % number[2]};
        if (gw_conv_gradient_pass(memory, conv, &job.layout, phase, passes + count)) {
            prepare_pass(memory, ctx, &job, passes + count++);
        }
    }
    if (memory->failed == DONE) {
        if (gaps) {
            gw_conv_fill_with_bias(conv, conv->groups * conv->ins, job.out_plane);
        }
        run_passes(memory, ctx, conv, &job, passes, (int)count);
    }
}

/* Adds the products of one chunk of images to the gradient of the weights. */
static void add_weight_products(const gw_ctx *ctx, const Conv *conv, Job *job, bool dots) {
    if (dots) {
        gw_parallel_for(ctx, conv->kernels->weight_dots, job, job->groups * job->rows, 1);
        return;
    }
    gw_parallel_for(ctx, conv->kernels->transpose_gradient, job, job->images * job->groups, 1);
    gw_parallel_for(ctx, conv->kernels->weight_tiles, job, job->groups * job->tiles, 1);
}

static void weight_gradient(Memory *memory, const gw_ctx *ctx, const Conv *conv) {
    int64_t size = conv->kernels->size, lanes = conv->kernels->lanes;
    Job job = {.layout = gw_conv_input_layout(memory, conv), .kernels = conv->kernels,
               .groups = conv->groups, .depth = conv->ins, .rows = conv->outs,
               .out_plane = volume_of(conv->out)};
    Pass pass;
    gw_conv_input_pass(memory, conv, &job.layout, &pass);
    int64_t depth = gw_conv_times(memory, job.depth, pass.taps), channels = job.groups * job.depth;
    bool dots = job.rows <= FEW_ROWS, copy = !gw_conv_is_identity(&job.layout);
    job.tiles = (depth + WEIGHT_HEIGHT - 1) / WEIGHT_HEIGHT;
    job.padded_rows = (job.rows + lanes - 1) / lanes * lanes;
    set_offsets(memory, &job, &pass, job.tiles * WEIGHT_HEIGHT - depth);
    job.pass = &pass;
    int64_t columns = gw_conv_times(memory, job.groups, job.out_plane);
    int64_t grads = gw_conv_times(memory, columns, job.padded_rows);
    int64_t planes = gw_conv_times(memory, channels, job.layout.plane);
    int64_t per_image = gw_conv_times(memory, planes > grads ? planes : grads, size);
    int64_t chunk = chunk_of(conv->images, per_image);
    int64_t height = job.groups * job.tiles * WEIGHT_HEIGHT;
    int64_t result = gw_conv_times(memory, height, job.padded_rows);
    void *sums = dots ? conv->output : gw_conv_take(memory, result, size);
    job.copies = copy ? gw_conv_take(memory, chunk, planes * size) : NULL;
    job.transposed = dots ? NULL : gw_conv_take(memory, chunk, grads * size);
    if (memory->failed != DONE) {
        return;
    }
    memset(sums, 0, (size_t)((dots ? job.groups * job.rows * depth : result) * size));
    job.output = sums;
    for (int64_t first = 0; first < conv->images; first += chunk) {
        job.images = conv->images - first < chunk ? conv->images - first : chunk;
        job.gradient = after(conv->a, first * job.groups * job.rows * job.out_plane, size);
        job.input = after(conv->b, first * channels * volume_of(conv->in), size);
        job.planes = copy ? job.copies : job.input;
        if (copy) {
            gw_parallel_for(ctx, conv->kernels->fill_planes, &job, job.images * channels, 1);
        }
        add_weight_products(ctx, conv, &job, dots);
    }
    if (!dots) {
        job.copies = conv->output;
        gw_parallel_for(ctx, conv->kernels->transpose_weights, &job, job.groups * job.rows, 16);
    }
}

/* ---- Python ---- */

static const int64_t LARGEST = INT32_MAX;

static bool is_fit(PyArrayObject *array, int ndim, int type) {
    return PyArray_NDIM(array) == ndim && PyArray_TYPE(array) == type
           && PyArray_ISCARRAY_RO(array);
}

/* Shapes [images, channels, 3 sizes] of input and output, [outs, ins, 3 sizes] of the weights. */
static bool read_shapes(Conv *conv, const npy_intp *x, const npy_intp *w, const npy_intp *g) {
    for (int i = 0; i < 5; i++) {
        if (x[i] > LARGEST || w[i] > LARGEST || g[i] > LARGEST) {
            return false;
        }
    }
    conv->images = x[0];
    conv->ins = w[1];
    conv->outs = w[0] / conv->groups;
    for (int a = 0; a < AXES; a++) {
        conv->in[a] = x[2 + a];
        conv->kernel[a] = w[2 + a];
        conv->out[a] = g[2 + a];
    }
    return g[0] == x[0] && g[1] == w[0] && w[0] % conv->groups == 0
           && x[1] == w[1] * conv->groups;
}

static bool read_geometry(Conv *conv, PyObject *tuple) {
    long long v[10];
    if (!PyArg_ParseTuple(tuple, "LLLLLLLLLL", v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7,
                          v + 8, v + 9)) {
        return false;
    }
    bool fit = v[9] >= 1 && v[9] <= LARGEST;
    for (int a = 0; a < AXES; a++) {
        conv->stride[a] = v[a];
        conv->pad[a] = v[3 + a];
        conv->dilation[a] = v[6 + a];
        fit = fit && v[a] >= 1 && v[a] <= LARGEST && v[3 + a] >= -LARGEST && v[3 + a] <= LARGEST
              && v[6 + a] >= 1 && v[6 + a] <= LARGEST;
    }
    conv->groups = v[9];
    if (!fit) {
        PyErr_SetString(PyExc_ValueError, "strides, dilations and groups must be positive, and "
                        "all numbers less than 2**31");
    }
    return fit;
}

typedef void (*Way)(Memory *, const gw_ctx *, const Conv *);

/* How a convolution's parts are computed; it depends on the shapes alone. */
static const Way *way_of(const Conv *conv) {
    static const Way general[] = {forward, input_gradient, weight_gradient};
    static const Way depthwise[] = {
        gw_depthwise_forward, gw_depthwise_input_gradient, gw_depthwise_weight_gradient};
    static const Way columns[] = {
        gw_conv_columns_forward, gw_conv_columns_input_gradient, gw_conv_columns_weight_gradient};
    return gw_depthwise_takes(conv) ? depthwise : gw_conv_columns_take(conv) ? columns : general;
}

/* Gives up the GIL where there is enough work. */
static enum Error run(const Conv *conv, enum Part part) {
    Memory memory = {NULL, DONE};
    gw_ctx ctx;
    gw_context(&ctx);
    double work = (double)conv->images * (double)volume_of(conv->out) * (double)conv->groups
                  * (double)conv->ins * (double)conv->outs * (double)volume_of(conv->kernel);
    if (work < 100e3) {
        ctx.num_threads = 1;
    }
    PyThreadState *released = work > 20e3 ? PyEval_SaveThread() : NULL;
    way_of(conv)[part](&memory, &ctx, conv);
    gw_conv_give_back(&memory);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
    return memory.failed;
}

bool gw_conv_run(Conv *conv, enum Part part, int type) {
    conv->type = type;
    conv->kernels = find_kernels(type);
    enum Error failed = run(conv, part);
    if (failed == NO_MEMORY) {
        PyErr_NoMemory();
    } else if (failed == TOO_LARGE) {
        PyErr_SetString(PyExc_MemoryError, "a convolution of this size does not fit in memory");
    }
    return failed == DONE;
}

static PyObject *convolve(PyObject *self, PyObject *args) {
    GW_UNUSED(self);
    int part;
    PyArrayObject *a, *b, *out;
    PyObject *bias, *geometry;
    if (!PyArg_ParseTuple(args, "iO!O!OO!O!", &part, &PyArray_Type, &a, &PyArray_Type, &b, &bias,
                          &PyArray_Type, &out, &PyTuple_Type, &geometry)) {
        return NULL;
    }
    Conv conv;
    int type = PyArray_TYPE(out);
    if (!read_geometry(&conv, geometry)) {
        return NULL;
    }
    bool fit = (type == NPY_FLOAT32 || type == NPY_FLOAT64 || type == NPY_INT64)
               && part >= 0 && part < PARTS && is_fit(a, 5, type) && is_fit(b, 5, type)
               && is_fit(out, 5, type) && PyArray_ISWRITEABLE(out);
    PyArrayObject *x = part == FORWARD ? a : part == INPUT_GRADIENT ? out : b;
    PyArrayObject *w = part == WEIGHT_GRADIENT ? out : b, *g = part == FORWARD ? out : a;
    fit = fit && read_shapes(&conv, PyArray_DIMS(x), PyArray_DIMS(w), PyArray_DIMS(g));
    if (fit && bias != Py_None) {
        fit = PyArray_Check(bias) && part != WEIGHT_GRADIENT
              && is_fit((PyArrayObject *)bias, 1, type)
              && PyArray_DIM((PyArrayObject *)bias, 0) == PyArray_DIM(out, 1);
    }
    if (!fit) {
        PyErr_SetString(PyExc_ValueError, "convolve takes contiguous arrays of 5 dimensions, all "
                        "of float32, float64 or int64, whose shapes fit together");
        return NULL;
    }
    if (PyArray_SIZE(out) == 0) {
        Py_RETURN_NONE;
    }
    conv.a = PyArray_DATA(a);
    conv.b = PyArray_DATA(b);
    conv.bias = bias != Py_None ? PyArray_DATA((PyArrayObject *)bias) : NULL;
    conv.output = PyArray_DATA(out);
    conv.kernels = find_kernels(type);
    if (PyArray_SIZE(a) == 0 || PyArray_SIZE(b) == 0) {
        conv.images = PyArray_DIM(out, 0);
        gw_conv_fill_with_bias(&conv, PyArray_DIM(out, 1),
                       PyArray_SIZE(out) / PyArray_DIM(out, 0) / PyArray_DIM(out, 1));
        Py_RETURN_NONE;
    }
    return gw_conv_run(&conv, (enum Part)part, type) ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef gw_conv_methods[] = {
    {"convolve", convolve, METH_VARARGS,
     "convolve(part, a, b, bias, out, geometry): part 0 writes the cross-correlation of a "
     "[N, C_in, D, H, W] with b [C_out, C_in // groups, kd, kh, kw] plus bias [C_out] (or None) "
     "to out [N, C_out, ...]; part 1 the gradient with regard to a, given a = the output's "
     "gradient, plus bias [C_in]; part 2 that with regard to b, given a = the output's gradient, "
     "b = the input. geometry: 3 strides, 3 paddings before the first element, 3 dilations, "
     "groups. Whatever lies outside the input is zero."},
    {NULL, NULL, 0, NULL},
};
