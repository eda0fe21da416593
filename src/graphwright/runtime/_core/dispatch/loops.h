/* Elementwise loops and the iteration that runs them over tensors. */
#ifndef GRAPHWRIGHT_LOOPS_H
#define GRAPHWRIGHT_LOOPS_H

#include "core.h"

/* NumPy's signature: pointers of inputs and output, the count, byte steps, private data. */
typedef void (*GwLoop)(char **args, const npy_intp *count, const npy_intp *steps, void *data);

enum { GW_MAX_OPERANDS = 6, GW_SCALAR_BYTES = 16 };

typedef struct {
    GwLoop loop;
    void *data;
} GwLoopRef;

/* Our own kernels: contiguous rows of the operands, the output last. `trouble` is set where the
 * arguments have to be refused (an integer divided by zero). */
typedef void (*GwRow)(char *const *args, int64_t n, int *trouble);

typedef struct {
    GwRow row;
    int count;
    int numbers;                    /* so many of the last operands before the output are numbers */
    int width[GW_MAX_OPERANDS];     /* bytes of an element */
    int trouble;
} GwRowRun;

/* The loop of a row kernel; `data` is its GwRowRun. */
void gw_run_rows(char **args, const npy_intp *count, const npy_intp *steps, void *data);

/* Brings elements of `width` bytes together of which there is one in 2, 3 or 4; NULL for other
 * distances. */
typedef void (*GwPick)(const char *from, int64_t n, char *to);
GwPick gw_pick_of(int64_t width, int64_t step);

/* The loop of powers by tensors, for the one that NumPy has, which has to stay where it is. */
GwLoopRef gw_power_loop(int dtype, GwLoopRef *numpy);

/* graphwright's own kernel of that name for the dtype; NULL where there is none. */
GwRow gw_own_row(const char *name, int dtype);
/* The one of tensors, whose number is written, with numbers after them (of float32 for half types);
 * it is given each number once. */
GwRow gw_mixed_row(const char *name, int dtype, int *tensors);

/* One elementwise run: operands (the output is the last) over one iteration space, whose
 * dimension 0 is the innermost. Where `convert` is set, the operand passes through a buffer. */
typedef struct {
    GwLoopRef loop;
    GwRowRun rows;                      /* what the loop is given, where the kernel is our own */
    int count;                          /* operands, the output included */
    int ndim;
    int64_t numel;
    int64_t sizes[GW_MAX_DIMS];
    char *data[GW_MAX_OPERANDS];
    npy_intp steps[GW_MAX_OPERANDS][GW_MAX_DIMS];   /* in bytes */
    GwLoop convert[GW_MAX_OPERANDS];
    int width[GW_MAX_OPERANDS];         /* item size where it is computed; of a mask 1 */
    bool buffered;
    bool costly;                        /* a transcendental function: smaller grains */
    _Alignas(16) char scalars[GW_MAX_OPERANDS][GW_SCALAR_BYTES];
} GwPlan;

/* Sizes to which the tensors broadcast; -1, without an exception, where they do not. */
int gw_broadcast(int count, GwTensor *const *tensors, int64_t *sizes);
/* Strides of the pointwise result; false where they are those of a contiguous tensor. `numbers`:
   an operand is one, which has no dims to be like those of the others. */
bool gw_result_strides(int count, GwTensor *const *tensors, bool numbers, int ndim,
                       const int64_t *sizes, int64_t *strides);
/* Sets operand `at` of the plan to a tensor broadcast to `sizes`. */
void gw_plan_tensor(GwPlan *plan, int at, const GwTensor *t, int ndim, const int64_t *sizes);
/* Orders and joins the dimensions of `sizes` for the operands that are set. */
void gw_plan_finish(GwPlan *plan, int ndim, const int64_t *sizes);
/* Brings inputs of which there is one element in 2, 3 or 4 together before the loop reads them: costly
 * functions of NumPy are fast on contiguous elements alone. */
void gw_plan_gather(GwPlan *plan);
/* Runs it, on all threads and without the GIL where it is long enough. Needs the GIL. */
void gw_plan_run(GwPlan *plan);
/* The same where the innermost rows are short and can be put together; false, and nothing done,
 * where they cannot. Needs no GIL. */
bool gw_run_short_rows(const GwPlan *plan, gw_ctx *ctx, int64_t grain);
/* Writes the elements of `in`, broadcast and cast; false where the dtypes, shapes or an overlap of
 * the memory do not allow it. */
bool gw_convert_tensor(GwTensor *out, GwTensor *in);
/* Whether writing `out` could change what is still to be read of `in`, layouts considered. */
bool gw_may_clobber(const GwTensor *out, const GwTensor *in);

/* The loop that converts elements of one dtype to another; NULL where there is none. */
GwLoop gw_convert_loop(int from, int to);
void gw_float_from_half(const uint16_t *in, float *out, int64_t n);
void gw_half_from_float(const float *in, uint16_t *out, int64_t n);

double gw_bessel_i0(double x);      /* elements_special.c */

/* A sequence of dtypes as bits by code; false with an exception. */
bool gw_dtype_bits(PyObject *sequence, uint32_t *bits);

static inline bool gw_is_half(int dtype) { return dtype == GW_FLOAT16 || dtype == GW_BFLOAT16; }

#endif
