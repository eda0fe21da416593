/* Powers by tensors with NumPy's loops, and ldexp: numbers times powers of two. */
#include "elements.h"
#include "native.h"

/* ---- NumPy's loops of powers ---- */

enum { ROW = 256 };

/* They take the one exponent 0.5 of a whole row for a root, of which -0 and -inf have another
 * than the power: they are shown as many. `data` is NumPy's own loop. */
#define POWER(name, T)                                                                     \
    static void name(char **args, const npy_intp *count, const npy_intp *steps, void *data) { \
        const GwLoopRef *numpy = data;                                                     \
        if (*count == 0 || steps[1] != 0 || *(const T *)args[1] != (T)0.5) {               \
            numpy->loop(args, count, steps, numpy->data);                                  \
            return;                                                                        \
        }                                                                                  \
        T exponents[ROW];                                                                  \
        for (int i = 0; i < ROW; i++) {                                                    \
            exponents[i] = (T)0.5;                                                         \
        }                                                                                  \
        const npy_intp widths[3] = {steps[0], sizeof(T), steps[2]};                        \
        for (npy_intp done = 0; done < *count; done += ROW) {                              \
            npy_intp n = *count - done < ROW ? *count - done : ROW;                        \
            char *at[3] = {args[0] + done * steps[0], (char *)exponents,                   \
                           args[2] + done * steps[2]};                                     \
            numpy->loop(at, &n, widths, numpy->data);                                      \
        }                                                                                  \
    }

POWER(power_float32, float)
POWER(power_float64, double)

GwLoopRef gw_power_loop(int dtype, GwLoopRef *numpy) {
    GwLoop loop = dtype == GW_FLOAT32 ? power_float32 : dtype == GW_FLOAT64 ? power_float64 : NULL;
    return loop != NULL ? (GwLoopRef){loop, numpy} : *numpy;
}

/* ---- ldexp ---- */

/* The exact product in float64, rounded once: behind these exponents all are 0 or infinite. */
GW_INLINE float scaled_float(float x, int64_t exponent) {
    int64_t e = exponent < -300 ? -300 : exponent > 300 ? 300 : exponent;
    return (float)((double)x * gw_double_bits((e + 1023) << 52));
}

/* By three factors, each of which float64 holds. */
GW_INLINE double scaled_double(double x, int64_t exponent) {
    int64_t e = exponent < -3000 ? -3000 : exponent > 3000 ? 3000 : exponent, third = e / 3;
    double factor = gw_double_bits((third + 1023) << 52);
    return x * factor * factor * gw_double_bits((e - 2 * third + 1023) << 52);
}

#define LDEXP(name, T, I, scaled)                                                          \
    GW_ROW(name) {                                                                         \
        GW_UNUSED(trouble);                                                                \
        const T *x = (const T *)args[0];                                                   \
        const I *exponents = (const I *)args[1];                                           \
        T *out = (T *)args[2];                                                             \
        GW_EACH(i, n) {                                                                    \
            out[i] = scaled(x[i], exponents[i]);                                           \
        }                                                                                  \
    }

LDEXP(ldexp_float32_int32, float, int32_t, scaled_float)
LDEXP(ldexp_float32_int64, float, int64_t, scaled_float)
LDEXP(ldexp_float64_int32, double, int32_t, scaled_double)
LDEXP(ldexp_float64_int64, double, int64_t, scaled_double)

/* input, other */
GW_KERNEL(ldexp_op) {
    GwTensor *both[2] = {gw_plain_tensor(args[0]), gw_plain_tensor(args[1])};
    int64_t sizes[GW_MAX_DIMS], strides[GW_MAX_DIMS];
    if (both[0] == NULL || both[1] == NULL
        || (both[0]->dtype != GW_FLOAT32 && both[0]->dtype != GW_FLOAT64)
        || (both[1]->dtype != GW_INT32 && both[1]->dtype != GW_INT64)) {
        return NULL;
    }
    int ndim = gw_broadcast(2, both, sizes), width = gw_itemsize(both[0]);
    if (ndim < 0) {
        return NULL;
    }
    bool strided = gw_result_strides(2, both, false, ndim, sizes, strides);
    GwTensor *out = gw_tensor_empty(cls, both[0]->dtype, ndim, sizes, strided ? strides : NULL);
    if (out == NULL) {
        return NULL;
    }
    bool single = width == sizeof(float), narrow = both[1]->dtype == GW_INT32;
    GwPlan plan = {.count = 3,
                   .rows = {.row = single ? narrow ? ldexp_float32_int32 : ldexp_float32_int64
                                   : narrow ? ldexp_float64_int32 : ldexp_float64_int64,
                            .count = 3, .width = {width, gw_itemsize(both[1]), width}}};
    plan.loop = (GwLoopRef){gw_run_rows, &plan.rows};
    memcpy(plan.width, plan.rows.width, sizeof plan.width);
    gw_plan_tensor(&plan, 0, both[0], ndim, sizes);
    gw_plan_tensor(&plan, 1, both[1], ndim, sizes);
    gw_plan_tensor(&plan, 2, out, ndim, sizes);
    gw_plan_finish(&plan, ndim, sizes);
    gw_plan_run(&plan);
    return (PyObject *)out;
}

const GwKernelEntry gw_power_kernels[] = {
    {"ldexp", 2, ldexp_op},
    {NULL, 0, NULL},
};
