/* Recurrent layers: all steps of one direction in one call, and their gradient. A step is a
 * product with the hidden state and one pass over the gates.
 *
 * LSTM: Gers, Schmidhuber & Cummins (2000). GRU: Cho et al. (2014), the reset gate after the
 * product. */
#include "core.h"
#include "packed.h"
#include "routines.h"
#include "vector_math.h"

#include <stdlib.h>
#include <string.h>

enum { RNN_TANH, RNN_RELU, LSTM, GRU, KINDS };
enum { WIDEST = 4, LINE = 64 };     /* most numbers of a unit that a step saves; of a cache, in bytes */

/* Rows that are multiplied at once, which the second cache holds beside the weights: of the hidden
 * state, and of the input, over several steps. Multiplications worth a thread. */
enum { BLOCK = 96, INPUTS = 48 };
static const double THREAD_WORK = 400e3;

static const int GATES[KINDS] = {1, 1, 4, 3};

/* A matrix that rows are multiplied by: its panels, or NULL where it is read as it is. */
typedef struct {
    const void *data;
    const float *panels;
    bool transposed;
    int64_t n, k;
} Factor;

/* Arrays are contiguous, [steps, batch, ...], but for the strides of the input, in elements. */
typedef struct {
    gw_ctx ctx;
    int32_t code;
    int kind;
    bool reverse, save;
    int64_t steps, batch, width, hidden, gates, size;
    Factor weight, input_weight;    /* of the input: none where it is its share of the gates */
    const void *first, *first_cell;
    void *out, *cells, *saved;
    const void *input, *bias;
    int64_t input_step, input_row;
    void *gates_in, *own;           /* the shares of `ahead` steps, and of one */
    int64_t ahead;
    const void *grad;
    void *to_gates, *to_own, *slope, *to_cell;
} Recurrence;

/* A step, the state before it, and from the first row on its input's share of the gates. */
typedef struct {
    int64_t at;
    const void *hidden, *cell, *x;
    int64_t x_row;
} Step;

/* The input's share of the gates in some steps; how many elements steps and rows are apart. */
typedef struct {
    const void *data;
    int64_t step, row;
} Share;

/* Before a loop each of whose elements is read before it is written, and no other is. */
#define GW_ELEMENT_BY_ELEMENT _Pragma("GCC ivdep")

#define REAL float
#define SIGMOID gw_sigmoid_float
#define TANH gw_tanh_float
#define NAME(x) x##_f32
#include "recurrence_kernel.h"
#undef REAL
#undef SIGMOID
#undef TANH
#undef NAME
#define REAL double
#define SIGMOID gw_sigmoid_double
#define TANH gw_tanh_double
#define NAME(x) x##_f64
#include "recurrence_kernel.h"

/* The step that is taken as number `count`. */
static Step step_of(const Recurrence *r, int64_t count) {
    int64_t at = r->reverse ? r->steps - 1 - count : count, state = r->batch * r->hidden * r->size;
    if (count == 0) {
        return (Step){.at = at, .hidden = r->first, .cell = r->first_cell};
    }
    int64_t before = (r->reverse ? at + 1 : at - 1) * state;
    return (Step){.at = at, .hidden = (char *)r->out + before,
                  .cell = (char *)r->cells + (r->save ? before : 0)};
}

/* c [rows, n] = a [rows, k] @ factor + beta * c. */
static void multiply(const Recurrence *r, const Factor *f, int64_t rows, const void *a, int64_t lda,
                     double beta, void *c, int64_t ldc) {
    if (f->panels != NULL) {
        GwPackedProduct p = {rows, f->n, f->k, ldc, a, lda, f->k, 1, (float)beta, c};
        gw_multiply_packed(&r->ctx, &p, f->panels, NULL);
    } else {
        gw_gemm(&r->ctx, r->code, 0, f->transposed, rows, f->n, f->k, 1, a, lda, 0, f->data,
                f->transposed ? f->k : f->n, 0, beta, c, ldc, 0, 1);
    }
}

/* The input's share of the gates, of rows [begin, end) of `ahead` steps or fewer from number `count`
 * on: in order of memory, which is that of steps. */
static Share share_ahead(const Recurrence *r, int64_t count, int64_t begin, int64_t end) {
    int64_t wide = r->gates * r->hidden, rows = end - begin;
    int64_t steps = r->steps - count < r->ahead ? r->steps - count : r->ahead;
    int64_t first = r->reverse ? r->steps - count - steps : count;
    const char *input = (const char *)r->input
                        + (first * r->input_step + begin * r->input_row) * r->size;
    if (r->input_weight.data == NULL) {
        return (Share){input, r->input_step, r->input_row};
    }
    char *to = (char *)r->gates_in + begin * r->ahead * wide * r->size;
    if (rows == 1 || r->input_step == rows * r->input_row) {
        int64_t apart = rows == 1 ? r->input_step : r->input_row;
        multiply(r, &r->input_weight, steps * rows, input, apart, 0, to, wide);
    } else {
        for (int64_t step = 0; step < steps; step++) {
            multiply(r, &r->input_weight, rows, input + step * r->input_step * r->size,
                     r->input_row, 0, to + step * rows * wide * r->size, wide);
        }
    }
    return (Share){to, rows * wide, wide};
}

/* Rows [begin, end) of all steps. */
static void forward(void *closure, int64_t begin, int64_t end) {
    const Recurrence *r = closure;
    int64_t state = r->hidden * r->size, wide = WIDEST * r->hidden;
    Share share = {0};
    for (int64_t count = 0; count < r->steps; count++) {
        Step step = step_of(r, count);
        int64_t place = count % r->ahead;
        if (place == 0) {
            share = share_ahead(r, count, begin, end);
        }
        int64_t left = r->steps - (count - place), steps = left < r->ahead ? left : r->ahead;
        place = r->reverse ? steps - 1 - place : place;
        const char *x = (const char *)share.data + place * share.step * r->size;
        for (int64_t row = begin; row < end; row += BLOCK) {
            int64_t stop = end - row < BLOCK ? end : row + BLOCK;
            multiply(r, &r->weight, stop - row, (const char *)step.hidden + row * state, r->hidden,
                     0, (char *)r->own + row * wide * r->size, wide);
            step.x = x + (row - begin) * share.row * r->size;
            step.x_row = share.row;
            (r->code == GW_FLOAT32 ? advance_f32 : advance_f64)(r, &step, row, stop);
        }
    }
}

static void backward(void *closure, int64_t begin, int64_t end) {
    const Recurrence *r = closure;
    int64_t state = r->hidden * r->size, wide = r->gates * r->hidden;
    for (int64_t count = r->steps - 1; count >= 0; count--) {
        Step step = step_of(r, count);
        for (int64_t row = begin; row < end; row += BLOCK) {
            int64_t stop = end - row < BLOCK ? end : row + BLOCK;
            (r->code == GW_FLOAT32 ? go_back_f32 : go_back_f64)(r, &step, row, stop);
            multiply(r, &r->weight, stop - row,
                     (const char *)r->to_own + (step.at * r->batch + row) * wide * r->size, wide,
                     r->kind == GRU, (char *)r->slope + row * state, r->hidden);
        }
    }
}

/* Threads share the rows, each for all steps, without waiting for one another; where there are fewer
 * rows than threads, they share each step's product. */
static void over_rows(const gw_ctx *ctx, Recurrence *r, gw_body body) {
    double work = (double)r->steps * (double)r->batch * (double)(r->gates * r->hidden * r->hidden);
    r->ctx = *ctx;
    r->ctx.weights = NULL;      /* for the launch's own thread alone */
    if (ctx->num_threads == 1 || r->batch < ctx->num_threads || work < THREAD_WORK) {
        body(r, 0, r->batch);
        return;
    }
    r->ctx.num_threads = 1;
    gw_parallel_for(ctx, body, r, r->batch, (r->batch + ctx->num_threads - 1) / ctx->num_threads);
}

/* ---- routines ---- */

enum { SIZES = 8 };

static Recurrence described(const int64_t *sizes) {
    int kind = (int)sizes[0], code = (int32_t)sizes[1];
    return (Recurrence){
        .code = code, .kind = kind, .steps = sizes[2], .batch = sizes[3], .hidden = sizes[4],
        .reverse = sizes[5] != 0, .save = sizes[6] != 0, .gates = GATES[kind],
        .size = code == GW_FLOAT32 ? sizeof(float) : sizeof(double), .width = sizes[7],
    };
}

/* Where so many numbers are, or NULL where they still have no memory. */
typedef struct {
    void **at;
    int64_t count;
} Part;

static size_t in_lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static GwFactorForm form_of(const Factor *f) {
    return (GwFactorForm){f->n, f->k, f->transposed ? f->k : f->n, 1, 1, f->transposed};
}

/* Panels of a factor, where it has any in this launch; else how many bytes they would take. */
static size_t find_panels(const gw_ctx *ctx, const Recurrence *r, Factor *f) {
    enum { FEW = 4 };       /* rows that do not pay for packing */
    if (f->data == NULL) {
        return 0;
    }
    GwFactorForm form = form_of(f);
    f->panels = gw_packed_weight(ctx, f->data, &form);
    bool make = f->panels == NULL && r->code == GW_FLOAT32 && r->steps * r->batch >= FEW;
    return make ? in_lines(gw_panels_bytes(&form)) : 0;
}

static char *make_panels(const gw_ctx *ctx, Factor *f, char *memory, size_t bytes) {
    if (bytes > 0) {
        GwFactorForm form = form_of(f);
        float *panels = (float *)(void *)memory;
        gw_pack_panels(ctx, f->data, &form, panels);
        f->panels = panels;
    }
    return memory + bytes;
}

/* Memory for the parts that have none, and for panels of the weights, which are packed where this
 * launch keeps none. NULL where there is no memory; the caller frees it. */
static void *prepare(const gw_ctx *ctx, Recurrence *r, const Part *parts, int count) {
    size_t own = find_panels(ctx, r, &r->weight), input = find_panels(ctx, r, &r->input_weight);
    size_t total = LINE + own + input;
    bool fits = true;
    for (int i = 0; i < count; i++) {
        int64_t bytes = 0;
        if (*parts[i].at == NULL) {
            fits = fits && !__builtin_mul_overflow(parts[i].count, r->size, &bytes);
            fits = fits && !__builtin_add_overflow(total, in_lines((size_t)bytes), &total);
        }
    }
    char *memory = fits ? aligned_alloc(LINE, total) : NULL, *next = memory;
    if (memory == NULL) {
        return NULL;
    }
    next = make_panels(ctx, &r->weight, next, own);
    next = make_panels(ctx, &r->input_weight, next, input);
    for (int i = 0; i < count; i++) {
        if (*parts[i].at == NULL) {
            *parts[i].at = next;
            next += in_lines((size_t)(parts[i].count * r->size));
        }
    }
    return memory;
}

int32_t gw_recurrence_routine(const gw_ctx *ctx, void *const *arrays, const int64_t *sizes,
                              const double *numbers, const gw_then *then) {
    GW_UNUSED(numbers);
    Recurrence r = described(sizes);
    int64_t wide = r.gates * r.hidden, state = r.batch * r.hidden, all = r.steps * state;
    r.out = arrays[0];
    r.cells = arrays[1];
    r.saved = arrays[2];
    r.input = arrays[3];
    r.input_step = sizes[SIZES];
    r.input_row = sizes[SIZES + 1];
    r.first = arrays[4];
    r.first_cell = arrays[5];
    r.weight = (Factor){.data = arrays[6], .transposed = true, .n = wide, .k = r.hidden};
    r.input_weight = (Factor){.data = arrays[8], .transposed = true, .n = wide, .k = r.width};
    r.save = r.save && r.cells != NULL;
    r.ahead = r.batch < INPUTS ? INPUTS / (r.batch > 0 ? r.batch : 1) : 1;
    r.ahead = r.ahead < r.steps ? r.ahead : r.steps > 0 ? r.steps : 1;
    void *bias = NULL;
    const Part parts[] = {
        {&r.own, WIDEST * state}, {&bias, WIDEST * r.hidden}, {&r.out, all},
        {&r.cells, r.kind == LSTM ? (r.save ? all : state) : 0},
        {&r.gates_in, r.input_weight.data == NULL ? 0 : r.ahead * r.batch * wide},
    };
    void *memory = prepare(ctx, &r, parts, 5);
    if (memory == NULL) {
        return GW_NO_MEMORY;
    }
    (r.code == GW_FLOAT32 ? add_biases_f32 : add_biases_f64)(&r, arrays[9], arrays[7], bias);
    r.bias = bias;
    if (r.kind == LSTM && !r.save) {
        memcpy(r.cells, r.first_cell, (size_t)(state * r.size));
    }
    over_rows(ctx, &r, forward);
    gw_follow_all(ctx, then);
    free(memory);
    return GW_OK;
}

/* The gradient of the first state is left in `slope`. */
int32_t gw_recurrence_backward_routine(const gw_ctx *ctx, void *const *arrays,
                                       const int64_t *sizes, const double *numbers,
                                       const gw_then *then) {
    GW_UNUSED(numbers);
    Recurrence r = described(sizes);
    int64_t wide = r.gates * r.hidden, state = r.batch * r.hidden;
    r.to_gates = arrays[0];
    r.to_own = r.kind == GRU ? arrays[1] : NULL;
    r.slope = arrays[2];
    r.to_cell = arrays[3];
    r.grad = arrays[4];
    r.first = arrays[6];
    r.first_cell = arrays[7];
    r.weight = (Factor){.data = arrays[8], .transposed = false, .n = r.hidden, .k = wide};
    r.out = arrays[9];
    r.cells = arrays[10];
    r.saved = arrays[11];
    const Part parts[] = {
        {&r.to_gates, r.steps * r.batch * wide}, {&r.slope, state},
        {&r.to_own, r.kind == GRU ? r.steps * r.batch * wide : 0},
        {&r.to_cell, r.kind == LSTM ? state : 0},
    };
    void *memory = prepare(ctx, &r, parts, 4);
    if (memory == NULL) {
        return GW_NO_MEMORY;
    }
    r.to_own = r.kind == GRU ? r.to_own : r.to_gates;
    memset(r.slope, 0, (size_t)(state * r.size));
    if (r.kind == LSTM && arrays[5] != NULL) {
        memcpy(r.to_cell, arrays[5], (size_t)(state * r.size));
    } else if (r.kind == LSTM) {
        memset(r.to_cell, 0, (size_t)(state * r.size));
    }
    over_rows(ctx, &r, backward);
    gw_follow_all(ctx, then);
    free(memory);
    return GW_OK;
}
