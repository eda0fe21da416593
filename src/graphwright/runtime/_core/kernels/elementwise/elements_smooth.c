/* Elementwise kernels made of exp, log and erf: activations, their gradients, logarithms of sums. */
#include "elements.h"

#define REAL float
#define F(name) gw_##name##_float
#define NAME(name) name##_float32
#include "elements_smooth_kernel.h"
#undef REAL
#undef F
#undef NAME
#define REAL double
#define F(name) gw_##name##_double
#define NAME(name) name##_float64
#include "elements_smooth_kernel.h"

#define NAMES(name) GW_FLOAT_ROWS(name)

const GwRowTable gw_smooth_rows[] = {
    NAMES(sigmoid), NAMES(silu), NAMES(gated), NAMES(erf), NAMES(normal_cdf),
    NAMES(gelu), NAMES(gelu_tanh), NAMES(logsigmoid), NAMES(softplus), NAMES(mish), NAMES(softsign), NAMES(tanhshrink),
    NAMES(elu), NAMES(celu), NAMES(selu), NAMES(logaddexp), NAMES(logaddexp2), NAMES(xlogy),
    NAMES(xlog1py), NAMES(logit), NAMES(entr), NAMES(sigmoid_backward), NAMES(tanh_backward),
    NAMES(logit_backward),
    NAMES(silu_backward), NAMES(gelu_backward), NAMES(gelu_tanh_backward),
    NAMES(softplus_backward), NAMES(logsigmoid_backward), NAMES(mish_backward),
    NAMES(elu_backward), NAMES(celu_backward), NAMES(selu_backward),
    {NULL, {NULL}},
};
