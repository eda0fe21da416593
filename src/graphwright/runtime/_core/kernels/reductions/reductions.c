/* The reductions there are: sums, products, extrema and tests, each for its element types. */
#include "reduce.h"
#include "vector_math.h"

#include <math.h>

enum { FEW = 8 };   /* elements of rows that are reduced one element after the other */

#define FIRST(acc, count) (acc)

/* Before a loop over the lanes of a vector: it is to stay a loop until it is vectorised. */
#if defined(__GNUC__) && !defined(__clang__)
#define GW_AS_ONE_VECTOR _Pragma("GCC unroll 1")
#else
#define GW_AS_ONE_VECTOR
#endif

/* ---- sum: integers in int64, float32 in double ---- */

#define START 0
#define STEP(acc, x) ((acc) + (x))
#define MERGE(acc, more) ((acc) + (more))
#define FINISH FIRST
#define RESULT GW_INT64
#define TINY 128
#define NAME(part) sum_uint8_##part
#define T uint8_t
#define A uint64_t
#define L uint64_t
#define O uint64_t
#include "reduce_kernel.h"

#define NAME(part) sum_int8_##part
#define T int8_t
#define A uint64_t
#define L uint64_t
#define O uint64_t
#include "reduce_kernel.h"

#define NAME(part) sum_int16_##part
#define T int16_t
#define A uint64_t
#define L uint64_t
#define O uint64_t
#include "reduce_kernel.h"

#define NAME(part) sum_int32_##part
#define T int32_t
#define A uint64_t
#define L uint64_t
#define O uint64_t
#include "reduce_kernel.h"

#define NAME(part) sum_int64_##part
#define T int64_t
#define A uint64_t
#define L uint64_t
#define O uint64_t
#include "reduce_kernel.h"

#define NAME(part) sum_boolean_##part
#define T uint8_t
#define A uint64_t
#define L uint64_t
#define O uint64_t
#include "reduce_kernel.h"

#undef START
#undef STEP
#undef MERGE
#undef FINISH
#undef RESULT
#undef TINY

/* ---- sum of floats ---- */

#define START 0
#define STEP(acc, x) ((acc) + (x))
#define MERGE(acc, more) ((acc) + (more))
#define FINISH FIRST
#define RESULT (-1)
#define TINY 128
#define NAME(part) sum_float32_##part
#define T float
#define A double
#define L float
#define O float
#include "reduce_kernel.h"

#define NAME(part) sum_float64_##part
#define T double
#define A double
#define L double
#define O double
#include "reduce_kernel.h"

#undef START
#undef STEP
#undef MERGE
#undef FINISH
#undef RESULT
#undef TINY

/* ---- nansum: sum without the NaNs ---- */

#define START 0
#define STEP(acc, x) ((acc) + ((x) == (x) ? (x) : 0))
#define MERGE(acc, more) ((acc) + (more))
#define FINISH FIRST
#define RESULT (-1)
#define TINY 128
#define NAME(part) nansum_float32_##part
#define T float
#define A double
#define L float
#define O float
#include "reduce_kernel.h"

#define NAME(part) nansum_float64_##part
#define T double
#define A double
#define L double
#define O double
#include "reduce_kernel.h"

#undef START
#undef STEP
#undef MERGE
#undef FINISH
#undef RESULT
#undef TINY

/* ---- mean ---- */

#define START 0
#define STEP(acc, x) ((acc) + (x))
#define MERGE(acc, more) ((acc) + (more))
#define FINISH(acc, count) ((acc) / (double)(count))
#define RESULT (-1)
#define TINY 128
#define NAME(part) mean_float32_##part
#define T float
#define A double
#define L float
#define O float
#include "reduce_kernel.h"

#define NAME(part) mean_float64_##part
#define T double
#define A double
#define L double
#define O double
#include "reduce_kernel.h"

#undef START
#undef STEP
#undef MERGE
#undef FINISH
#undef RESULT
#undef TINY

/* ---- prod ---- */

#define START 1
#define STEP(acc, x) ((acc) * (x))
#define MERGE(acc, more) ((acc) * (more))
#define FINISH FIRST
#define RESULT (-1)
#define TINY 128
#define NAME(part) prod_float32_##part
#define T float
#define A float
#define L float
#define O float
#include "reduce_kernel.h"

#define NAME(part) prod_float64_##part
#define T double
#define A double
#define L double
#define O double
#include "reduce_kernel.h"

#define NAME(part) prod_int64_##part
#define T int64_t
#define A uint64_t
#define L uint64_t
#define O int64_t
#include "reduce_kernel.h"

#undef START
#undef STEP
#undef MERGE
#undef FINISH
#undef RESULT
#undef TINY

/* ---- amax: a NaN is the result ---- */

#define ROWS_APART
#define BEFORE(a, b) ((a) > (b))
#define STEP(acc, x) ((x) != (x) ? (x) : (acc) < (x) ? (x) : (acc))
#define MERGE STEP
#define FINISH FIRST
#define RESULT (-1)
#define TINY 128
#define START -INFINITY
#define OWN_FOLD_ROW
#define NAME(part) amax_float32_##part
#define T float
#define A float
#define L float
#define O float
#define U uint32_t
#include "extreme_kernel.h"
#include "reduce_kernel.h"

#define NAME(part) amax_float64_##part
#define T double
#define A double
#define L double
#define O double
#define U uint64_t
#include "extreme_kernel.h"
#include "reduce_kernel.h"
#undef OWN_FOLD_ROW

#undef START
#define START 0
#define NAME(part) amax_uint8_##part
#define T uint8_t
#define A uint8_t
#define L uint8_t
#define O uint8_t
#include "reduce_kernel.h"

#undef START
#define START INT8_MIN
#define NAME(part) amax_int8_##part
#define T int8_t
#define A int8_t
#define L int8_t
#define O int8_t
#include "reduce_kernel.h"

#undef START
#define START INT16_MIN
#define NAME(part) amax_int16_##part
#define T int16_t
#define A int16_t
#define L int16_t
#define O int16_t
#include "reduce_kernel.h"

#undef START
#define START INT32_MIN
#define NAME(part) amax_int32_##part
#define T int32_t
#define A int32_t
#define L int32_t
#define O int32_t
#include "reduce_kernel.h"

#undef START
#define START INT64_MIN
#define NAME(part) amax_int64_##part
#define T int64_t
#define A int64_t
#define L int64_t
#define O int64_t
#include "reduce_kernel.h"

#undef START
#define START 0
#define NAME(part) amax_boolean_##part
#define T uint8_t
#define A uint8_t
#define L uint8_t
#define O uint8_t
#include "reduce_kernel.h"

#undef START
#undef STEP
#undef MERGE
#undef FINISH
#undef RESULT
#undef TINY
#undef ROWS_APART
#undef BEFORE

/* ---- amin: a NaN is the result ---- */

#define ROWS_APART
#define BEFORE(a, b) ((a) < (b))
#define STEP(acc, x) ((x) != (x) ? (x) : (acc) > (x) ? (x) : (acc))
#define MERGE STEP
#define FINISH FIRST
#define RESULT (-1)
#define TINY 128
#define START INFINITY
#define OWN_FOLD_ROW
#define NAME(part) amin_float32_##part
#define T float
#define A float
#define L float
#define O float
#define U uint32_t
#include "extreme_kernel.h"
#include "reduce_kernel.h"

#define NAME(part) amin_float64_##part
#define T double
#define A double
#define L double
#define O double
#define U uint64_t
#include "extreme_kernel.h"
#include "reduce_kernel.h"
#undef OWN_FOLD_ROW

#undef START
#define START UINT8_MAX
#define NAME(part) amin_uint8_##part
#define T uint8_t
#define A uint8_t
#define L uint8_t
#define O uint8_t
#include "reduce_kernel.h"

#undef START
#define START INT8_MAX
#define NAME(part) amin_int8_##part
#define T int8_t
#define A int8_t
#define L int8_t
#define O int8_t
#include "reduce_kernel.h"

#undef START
#define START INT16_MAX
#define NAME(part) amin_int16_##part
#define T int16_t
#define A int16_t
#define L int16_t
#define O int16_t
#include "reduce_kernel.h"

#undef START
#define START INT32_MAX
#define NAME(part) amin_int32_##part
#define T int32_t
#define A int32_t
#define L int32_t
#define O int32_t
#include "reduce_kernel.h"

#undef START
#define START INT64_MAX
#define NAME(part) amin_int64_##part
#define T int64_t
#define A int64_t
#define L int64_t
#define O int64_t
#include "reduce_kernel.h"

#undef START
#define START 1
#define NAME(part) amin_boolean_##part
#define T uint8_t
#define A uint8_t
#define L uint8_t
#define O uint8_t
#include "reduce_kernel.h"

#undef START
#undef STEP
#undef MERGE
#undef FINISH
#undef RESULT
#undef TINY
#undef ROWS_APART
#undef BEFORE

/* ---- any: of what is not 0 ---- */

#define START 0
#define STEP(acc, x) ((acc) | ((x) != 0))
#define MERGE(acc, more) ((acc) | (more))
#define FINISH FIRST
#define RESULT GW_BOOL
#define TINY 128
#define NAME(part) any_boolean_##part
#define T uint8_t
#define A uint8_t
#define L uint8_t
#define O uint8_t
#include "reduce_kernel.h"

#undef START
#undef STEP
#undef MERGE
#undef FINISH
#undef RESULT
#undef TINY

/* ---- all: of what is not 0 ---- */

#define START 1
#define STEP(acc, x) ((acc) & ((x) != 0))
#define MERGE(acc, more) ((acc) & (more))
#define FINISH FIRST
#define RESULT GW_BOOL
#define TINY 128
#define NAME(part) all_boolean_##part
#define T uint8_t
#define A uint8_t
#define L uint8_t
#define O uint8_t
#include "reduce_kernel.h"

#undef START
#undef STEP
#undef MERGE
#undef FINISH
#undef RESULT
#undef TINY

/* ---- by name ---- */

static const struct {
    const char *name;
    const GwReduction *kinds[GW_NUM_DTYPES];
} table[] = {
    {"sum", {
        [GW_UINT8] = &sum_uint8_reduction,
        [GW_INT8] = &sum_int8_reduction,
        [GW_INT16] = &sum_int16_reduction,
        [GW_INT32] = &sum_int32_reduction,
        [GW_INT64] = &sum_int64_reduction,
        [GW_BOOL] = &sum_boolean_reduction,
        [GW_FLOAT32] = &sum_float32_reduction,
        [GW_FLOAT64] = &sum_float64_reduction,
    }},
    {"nansum", {
        [GW_FLOAT32] = &nansum_float32_reduction,
        [GW_FLOAT64] = &nansum_float64_reduction,
    }},
    {"mean", {
        [GW_FLOAT32] = &mean_float32_reduction,
        [GW_FLOAT64] = &mean_float64_reduction,
    }},
    {"prod", {
        [GW_FLOAT32] = &prod_float32_reduction,
        [GW_FLOAT64] = &prod_float64_reduction,
        [GW_INT64] = &prod_int64_reduction,
    }},
    {"amax", {
        [GW_FLOAT32] = &amax_float32_reduction,
        [GW_FLOAT64] = &amax_float64_reduction,
        [GW_UINT8] = &amax_uint8_reduction,
        [GW_INT8] = &amax_int8_reduction,
        [GW_INT16] = &amax_int16_reduction,
        [GW_INT32] = &amax_int32_reduction,
        [GW_INT64] = &amax_int64_reduction,
        [GW_BOOL] = &amax_boolean_reduction,
    }},
    {"amin", {
        [GW_FLOAT32] = &amin_float32_reduction,
        [GW_FLOAT64] = &amin_float64_reduction,
        [GW_UINT8] = &amin_uint8_reduction,
        [GW_INT8] = &amin_int8_reduction,
        [GW_INT16] = &amin_int16_reduction,
        [GW_INT32] = &amin_int32_reduction,
        [GW_INT64] = &amin_int64_reduction,
        [GW_BOOL] = &amin_boolean_reduction,
    }},
    {"any", {
        [GW_BOOL] = &any_boolean_reduction,
    }},
    {"all", {
        [GW_BOOL] = &all_boolean_reduction,
    }},
};

const GwReduction *gw_reduction(const char *name, int dtype) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return table[i].kinds[dtype];
        }
    }
    return NULL;
}
