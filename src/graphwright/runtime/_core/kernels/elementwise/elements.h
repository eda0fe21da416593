/* Kernels of elementwise ops as functions over contiguous rows; elements.c runs them over any
 * layout. A family of kernels is a file elements_*.c with a table of its own. */
#ifndef GRAPHWRIGHT_ELEMENTS_H
#define GRAPHWRIGHT_ELEMENTS_H

#include "loops.h"
#include "vector_math.h"

typedef struct {
    const char *name;
    GwRow rows[GW_NUM_DTYPES];
} GwRowTable;

/* The families; each ends with an entry without a name. */
extern const GwRowTable gw_plain_rows[], gw_choice_rows[], gw_division_rows[],
    gw_smooth_rows[], gw_special_rows[], gw_analysis_rows[], gw_gamma_rows[], gw_float16_rows[],
    gw_bfloat16_rows[], gw_wide_rows[], gw_piece_rows[];

/* Whether the machine runs the kernels of elements_halves.c, log_avx512.c and erf_avx512.c. */
bool gw_has_float16_rows(void);
bool gw_has_bfloat16_rows(void);
bool gw_has_wide_rows(void);

/* A kernel of so many tensors and of numbers after them, which are float32 for half types. */
typedef struct {
    const char *name;
    int tensors;
    GwRow row;
} GwMixedRow;

extern const GwMixedRow gw_mixed_float16_rows[], gw_mixed_bfloat16_rows[],
    gw_mixed_bfloat16_quick_rows[],    gw_mixed_float32_rows[], gw_mixed_float64_rows[];

/* The row may be written where one of the inputs is read, element by element. */
#define GW_EACH(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)

#define GW_ROW(name) \
    GW_VECTOR_MATH static void name(char *const *args, int64_t n, int *trouble)

/* Rows of one, two and three operands x, y, z of type T, of which `expression` makes a result of
 * type R. */
#define GW_ROW_OF_1(name, T, R, expression)                                                \
    GW_ROW(name) {                                                                         \
        GW_UNUSED(trouble);                                                                \
        const T *a = (const T *)args[0];                                                   \
        R *out = (R *)args[1];                                                             \
        GW_EACH(i, n) {                                                                    \
            T x = a[i];                                                                    \
            out[i] = (R)(expression);                                                      \
        }                                                                                  \
    }
#define GW_ROW_OF_2(name, T, R, expression)                                                \
    GW_ROW(name) {                                                                         \
        GW_UNUSED(trouble);                                                                \
        const T *a = (const T *)args[0], *b = (const T *)args[1];                          \
        R *out = (R *)args[2];                                                             \
        GW_EACH(i, n) {                                                                    \
            T x = a[i], y = b[i];                                                          \
            out[i] = (R)(expression);                                                      \
        }                                                                                  \
    }
#define GW_ROW_OF_3(name, T, R, expression)                                                \
    GW_ROW(name) {                                                                         \
        GW_UNUSED(trouble);                                                                \
        const T *a = (const T *)args[0], *b = (const T *)args[1], *c = (const T *)args[2]; \
        R *out = (R *)args[3];                                                             \
        GW_EACH(i, n) {                                                                    \
            T x = a[i], y = b[i], z = c[i];                                                \
            out[i] = (R)(expression);                                                      \
        }                                                                                  \
    }
#define GW_ROW_OF_4(name, T, R, expression)                                                \
    GW_ROW(name) {                                                                         \
        GW_UNUSED(trouble);                                                                \
        const T *a = (const T *)args[0], *b = (const T *)args[1], *c = (const T *)args[2]; \
        const T *d = (const T *)args[3];                                                   \
        R *out = (R *)args[4];                                                             \
        GW_EACH(i, n) {                                                                    \
            T x = a[i], y = b[i], z = c[i], w = d[i];                                      \
            out[i] = (R)(expression);                                                      \
        }                                                                                  \
    }

/* The polynomial whose coefficients, the highest first, are in the table. */
#define GW_POLYNOMIAL(table, x) gw_polynomial(table, sizeof(table) / sizeof *(table), x)

GW_INLINE double gw_polynomial(const double *table, int count, double x) {
    double value = table[0];
    _Pragma("GCC unroll 32")
    for (int k = 1; k < count; k++) {
        value = value * x + table[k];
    }
    return value;
}

/* A row of one operand x of bfloat16 (half.h), without a detour over a buffer of float32. */
#define GW_BFLOAT16_ROW(name, expression)                                                  \
    GW_ROW(name##_bfloat16) {                                                              \
        GW_UNUSED(trouble);                                                                \
        const uint16_t *a = (const uint16_t *)args[0];                                     \
        uint16_t *out = (uint16_t *)args[1];                                               \
        GW_EACH(i, n) {                                                                    \
            float x = gw_from_bfloat16(a[i]);                                              \
            out[i] = gw_to_bfloat16(expression);                                           \
        }                                                                                  \
    }

#define GW_FLOAT_ROWS(name) \
    {#name, {[GW_FLOAT32] = name##_float32, [GW_FLOAT64] = name##_float64}}

#endif
