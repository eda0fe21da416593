"""The op functions: what `ops` means in rules.

Generated from the op table by `python -m graphwright.runtime.ops.generate`; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphwright.runtime.dispatch import dispatch as _dispatch
from graphwright.runtime.dispatch import refuse_bound
from graphwright.runtime.ops.normalise import (
    as_pair,
    as_pair_optional,
    as_size,
    as_tensors,
    varargs,
    wrap_dim,
    wrap_dim_optional,
    wrap_dims,
    wrap_dims_exact,
    wrap_dims_optional,
    wrap_permutation,
)
from graphwright.runtime.ops.out import with_out
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.ops.table import op as _op

if TYPE_CHECKING:
    from graphwright.runtime.device import device as Device
    from graphwright.runtime.dtypes import dtype as DType
    from graphwright.runtime.tensor import Tensor
_abs = _op("abs")
_abs_ = _op("abs_")
_adadelta_step_ = _op("adadelta_step_")
_adagrad_step_ = _op("adagrad_step_")
_adam_step_ = _op("adam_step_")
_adamax_step_ = _op("adamax_step_")
_adaptive_avg_pool2d = _op("adaptive_avg_pool2d")
_add = _op("add")
_add_ = _op("add_")
_addcdiv = _op("addcdiv")
_addcdiv_ = _op("addcdiv_")
_addcmul = _op("addcmul")
_addcmul_ = _op("addcmul_")
_addmm = _op("addmm")
_alias = _op("alias")
_all = _op("all")
_allclose = _op("allclose")
_amax = _op("amax")
_amin = _op("amin")
_aminmax = _op("aminmax")
_any = _op("any")
_arange = _op("arange")
_argmax = _op("argmax")
_argmin = _op("argmin")
_argsort = _op("argsort")
_argwhere = _op("argwhere")
_as_strided = _op("as_strided")
_asgd_step_ = _op("asgd_step_")
_atan2 = _op("atan2")
_atan2_ = _op("atan2_")
_avg_pool2d = _op("avg_pool2d")
_batch_norm = _op("batch_norm")
_batch_norm_backward = _op("batch_norm_backward")
_batch_norm_train = _op("batch_norm_train")
_binary_cross_entropy = _op("binary_cross_entropy")
_binary_cross_entropy_with_logits = _op("binary_cross_entropy_with_logits")
_bincount = _op("bincount")
_bitwise_and = _op("bitwise_and")
_bitwise_and_ = _op("bitwise_and_")
_bitwise_not = _op("bitwise_not")
_bitwise_not_ = _op("bitwise_not_")
_bitwise_or = _op("bitwise_or")
_bitwise_or_ = _op("bitwise_or_")
_bitwise_xor = _op("bitwise_xor")
_bitwise_xor_ = _op("bitwise_xor_")
_bmm = _op("bmm")
_bucketize = _op("bucketize")
_ceil = _op("ceil")
_ceil_ = _op("ceil_")
_celu = _op("celu")
_celu_ = _op("celu_")
_chunk = _op("chunk")
_clamp = _op("clamp")
_clamp_ = _op("clamp_")
_clamp_max = _op("clamp_max")
_clamp_min = _op("clamp_min")
_clone = _op("clone")
_col2im = _op("col2im")
_constant_pad = _op("constant_pad")
_contiguous = _op("contiguous")
_conv2d = _op("conv2d")
_conv2d_input_grad = _op("conv2d_input_grad")
_conv2d_weight_grad = _op("conv2d_weight_grad")
_copy = _op("copy")
_copy_ = _op("copy_")
_corrcoef = _op("corrcoef")
_cos = _op("cos")
_cos_ = _op("cos_")
_cosine_embedding_loss = _op("cosine_embedding_loss")
_cosine_similarity = _op("cosine_similarity")
_count_nonzero = _op("count_nonzero")
_cov = _op("cov")
_cross_entropy = _op("cross_entropy")
_cummax = _op("cummax")
_cummin = _op("cummin")
_cumprod = _op("cumprod")
_cumprod_ = _op("cumprod_")
_cumsum = _op("cumsum")
_cumsum_ = _op("cumsum_")
_cumulative_trapezoid = _op("cumulative_trapezoid")
_detach = _op("detach")
_deviation = _op("deviation")
_diagonal = _op("diagonal")
_diagonal_backward = _op("diagonal_backward")
_diff = _op("diff")
_dist = _op("dist")
_div = _op("div")
_div_ = _op("div_")
_dot = _op("dot")
_dropout = _op("dropout")
_elu = _op("elu")
_elu_ = _op("elu_")
_embedding = _op("embedding")
_embedding_backward = _op("embedding_backward")
_empty = _op("empty")
_empty_like = _op("empty_like")
_eq = _op("eq")
_equal = _op("equal")
_erf = _op("erf")
_erf_ = _op("erf_")
_exp = _op("exp")
_exp_ = _op("exp_")
_expand = _op("expand")
_expand_as = _op("expand_as")
_expm1 = _op("expm1")
_expm1_ = _op("expm1_")
_eye = _op("eye")
_fill = _op("fill")
_fill_ = _op("fill_")
_flatten = _op("flatten")
_flip = _op("flip")
_floor = _op("floor")
_floor_ = _op("floor_")
_floor_divide = _op("floor_divide")
_fmod = _op("fmod")
_fmod_ = _op("fmod_")
_full = _op("full")
_full_like = _op("full_like")
_gather = _op("gather")
_gaussian_nll_loss = _op("gaussian_nll_loss")
_ge = _op("ge")
_gelu = _op("gelu")
_gelu_backward = _op("gelu_backward")
_glu = _op("glu")
_gradient = _op("gradient")
_group_norm = _op("group_norm")
_gt = _op("gt")
_hardshrink = _op("hardshrink")
_hardsigmoid = _op("hardsigmoid")
_hardsigmoid_ = _op("hardsigmoid_")
_hardswish = _op("hardswish")
_hardswish_ = _op("hardswish_")
_hardtanh = _op("hardtanh")
_hardtanh_ = _op("hardtanh_")
_hinge_embedding_loss = _op("hinge_embedding_loss")
_histc = _op("histc")
_histogram = _op("histogram")
_histogram_counts = _op("histogram_counts")
_histogram_edges = _op("histogram_edges")
_huber_loss = _op("huber_loss")
_im2col = _op("im2col")
_index = _op("index")
_index_put = _op("index_put")
_index_put_ = _op("index_put_")
_index_select = _op("index_select")
_instance_norm = _op("instance_norm")
_isclose = _op("isclose")
_isfinite = _op("isfinite")
_isin = _op("isin")
_isinf = _op("isinf")
_isnan = _op("isnan")
_kl_div = _op("kl_div")
_kth_position = _op("kth_position")
_kthvalue = _op("kthvalue")
_l1_loss = _op("l1_loss")
_layer_norm = _op("layer_norm")
_layer_norm_backward = _op("layer_norm_backward")
_le = _op("le")
_leaky_relu = _op("leaky_relu")
_leaky_relu_ = _op("leaky_relu_")
_lerp = _op("lerp")
_lerp_ = _op("lerp_")
_linalg_matrix_norm = _op("linalg_matrix_norm")
_linalg_norm = _op("linalg_norm")
_linalg_vector_norm = _op("linalg_vector_norm")
_linear = _op("linear")
_linspace = _op("linspace")
_local_response_norm = _op("local_response_norm")
_log = _op("log")
_log1p = _op("log1p")
_log1p_ = _op("log1p_")
_log2 = _op("log2")
_log2_ = _op("log2_")
_log_ = _op("log_")
_log_softmax = _op("log_softmax")
_log_softmax_backward = _op("log_softmax_backward")
_logcumsumexp = _op("logcumsumexp")
_logical_and = _op("logical_and")
_logical_not = _op("logical_not")
_logical_or = _op("logical_or")
_logical_xor = _op("logical_xor")
_logsigmoid = _op("logsigmoid")
_logsumexp = _op("logsumexp")
_lt = _op("lt")
_margin_ranking_loss = _op("margin_ranking_loss")
_masked_fill = _op("masked_fill")
_masked_fill_ = _op("masked_fill_")
_masked_select = _op("masked_select")
_matmul = _op("matmul")
_max = _op("max")
_max_pool2d = _op("max_pool2d")
_max_pool2d_backward = _op("max_pool2d_backward")
_max_pool2d_with_indices = _op("max_pool2d_with_indices")
_maximum = _op("maximum")
_mean = _op("mean")
_median = _op("median")
_median_position = _op("median_position")
_median_value = _op("median_value")
_min = _op("min")
_minimum = _op("minimum")
_mish = _op("mish")
_mish_ = _op("mish_")
_mm = _op("mm")
_mode = _op("mode")
_mode_position = _op("mode_position")
_movedim = _op("movedim")
_mse_loss = _op("mse_loss")
_msort = _op("msort")
_mul = _op("mul")
_mul_ = _op("mul_")
_multi_margin_loss = _op("multi_margin_loss")
_multilabel_margin_loss = _op("multilabel_margin_loss")
_multilabel_soft_margin_loss = _op("multilabel_soft_margin_loss")
_mv = _op("mv")
_nadam_step_ = _op("nadam_step_")
_nanmean = _op("nanmean")
_nanmedian = _op("nanmedian")
_nanquantile = _op("nanquantile")
_nansum = _op("nansum")
_narrow = _op("narrow")
_native_dropout = _op("native_dropout")
_native_layer_norm = _op("native_layer_norm")
_ne = _op("ne")
_neg = _op("neg")
_neg_ = _op("neg_")
_nll_loss = _op("nll_loss")
_nll_loss_backward = _op("nll_loss_backward")
_nonzero = _op("nonzero")
_norm = _op("norm")
_normal_ = _op("normal_")
_one_hot = _op("one_hot")
_ones = _op("ones")
_ones_like = _op("ones_like")
_outer = _op("outer")
_p_norm = _op("p_norm")
_pairwise_distance = _op("pairwise_distance")
_pdist = _op("pdist")
_permute = _op("permute")
_philox_uniform = _op("philox_uniform")
_poisson_nll_loss = _op("poisson_nll_loss")
_pow = _op("pow")
_pow_ = _op("pow_")
_prelu = _op("prelu")
_prod = _op("prod")
_put = _op("put")
_put_ = _op("put_")
_quantile = _op("quantile")
_radam_step_ = _op("radam_step_")
_rand = _op("rand")
_rand_like = _op("rand_like")
_randint = _op("randint")
_randn = _op("randn")
_randn_like = _op("randn_like")
_randperm = _op("randperm")
_reciprocal = _op("reciprocal")
_reciprocal_ = _op("reciprocal_")
_relu = _op("relu")
_relu_ = _op("relu_")
_remainder = _op("remainder")
_remainder_ = _op("remainder_")
_renorm = _op("renorm")
_renorm_ = _op("renorm_")
_repeat = _op("repeat")
_reshape = _op("reshape")
_reshape_as = _op("reshape_as")
_rms_norm = _op("rms_norm")
_rmsprop_step_ = _op("rmsprop_step_")
_rng_uniform = _op("rng_uniform")
_roll = _op("roll")
_round = _op("round")
_round_ = _op("round_")
_rprop_step_ = _op("rprop_step_")
_rrelu = _op("rrelu")
_rrelu_ = _op("rrelu_")
_rsqrt = _op("rsqrt")
_rsqrt_ = _op("rsqrt_")
_running_max = _op("running_max")
_running_min = _op("running_min")
_scaled_dot_product_attention = _op("scaled_dot_product_attention")
_search_positions = _op("search_positions")
_searchsorted = _op("searchsorted")
_select = _op("select")
_select_backward = _op("select_backward")
_selu = _op("selu")
_selu_ = _op("selu_")
_sgd_step_ = _op("sgd_step_")
_sigmoid = _op("sigmoid")
_sigmoid_ = _op("sigmoid_")
_sign = _op("sign")
_sign_ = _op("sign_")
_silu = _op("silu")
_silu_ = _op("silu_")
_silu_backward = _op("silu_backward")
_sin = _op("sin")
_sin_ = _op("sin_")
_slice = _op("slice")
_slice_backward = _op("slice_backward")
_smooth_l1_loss = _op("smooth_l1_loss")
_soft_margin_loss = _op("soft_margin_loss")
_softmax = _op("softmax")
_softmax_backward = _op("softmax_backward")
_softplus = _op("softplus")
_softshrink = _op("softshrink")
_sort = _op("sort")
_split = _op("split")
_sqrt = _op("sqrt")
_sqrt_ = _op("sqrt_")
_square = _op("square")
_squeeze = _op("squeeze")
_std = _op("std")
_std_mean = _op("std_mean")
_sub = _op("sub")
_sub_ = _op("sub_")
_sum = _op("sum")
_sum_to_size = _op("sum_to_size")
_t = _op("t")
_take = _op("take")
_take_along_dim = _op("take_along_dim")
_tan = _op("tan")
_tan_ = _op("tan_")
_tanh = _op("tanh")
_tanh_ = _op("tanh_")
_threshold = _op("threshold")
_threshold_ = _op("threshold_")
_to_dtype = _op("to_dtype")
_topk = _op("topk")
_topk_positions = _op("topk_positions")
_trace = _op("trace")
_transpose = _op("transpose")
_trapezoid = _op("trapezoid")
_tril = _op("tril")
_triplet_margin_loss = _op("triplet_margin_loss")
_triu = _op("triu")
_trunc = _op("trunc")
_trunc_ = _op("trunc_")
_unbind = _op("unbind")
_unflatten = _op("unflatten")
_uniform_ = _op("uniform_")
_unique = _op("unique")
_unique_consecutive = _op("unique_consecutive")
_unsqueeze = _op("unsqueeze")
_var = _op("var")
_var_mean = _op("var_mean")
_variance = _op("variance")
_view = _op("view")
_view_as = _op("view_as")
_where = _op("where")
_zero_ = _op("zero_")
_zeros = _op("zeros")
_zeros_like = _op("zeros_like")


def _require(requires_grad: bool, out: Any) -> Any:
    if requires_grad:
        out.requires_grad = True
    return out


def abs(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_abs, _bound, out)
    return _dispatch(_abs, _bound)


def abs_(input: Tensor) -> Any:
    return _dispatch(_abs_, (input,))


def adadelta_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    square_avg: Tensor,
    acc_delta: Tensor,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _adadelta_step_,
        (
            param,
            grad,
            step,
            square_avg,
            acc_delta,
            lr,
            rho,
            eps,
            weight_decay,
            maximize,
        ),
    )


def adagrad_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    total: Tensor,
    lr: float,
    lr_decay: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _adagrad_step_, (param, grad, step, total, lr, lr_decay, eps, weight_decay, maximize)
    )


def adam_step_(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    max_exp_avg_sq: Tensor | None,
    step: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    decoupled: bool,
) -> Any:
    return _dispatch(
        _adam_step_,
        (
            param,
            grad,
            exp_avg,
            exp_avg_sq,
            max_exp_avg_sq,
            step,
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            maximize,
            decoupled,
        ),
    )


def adamax_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    exp_avg: Tensor,
    exp_inf: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _adamax_step_,
        (
            param,
            grad,
            step,
            exp_avg,
            exp_inf,
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            maximize,
        ),
    )


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int]) -> Any:
    return _dispatch(_adaptive_avg_pool2d, (input, as_size(output_size)))


def add(input: Tensor | float, other: Tensor | float, *, alpha: float = 1, out: Any = None) -> Any:
    _bound = (input, other, alpha)
    if out is not None:
        return with_out(_add, _bound, out)
    return _dispatch(_add, _bound)


def add_(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Any:
    return _dispatch(_add_, (input, other, alpha))


def addcdiv(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: float = 1,
    out: Any = None,
) -> Any:
    _bound = (input, tensor1, tensor2, value)
    if out is not None:
        return with_out(_addcdiv, _bound, out)
    return _dispatch(_addcdiv, _bound)


def addcdiv_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Any:
    return _dispatch(_addcdiv_, (input, tensor1, tensor2, value))


def addcmul(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: float = 1,
    out: Any = None,
) -> Any:
    _bound = (input, tensor1, tensor2, value)
    if out is not None:
        return with_out(_addcmul, _bound, out)
    return _dispatch(_addcmul, _bound)


def addcmul_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Any:
    return _dispatch(_addcmul_, (input, tensor1, tensor2, value))


def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
    out: Any = None,
) -> Any:
    _bound = (input, mat1, mat2, beta, alpha)
    if out is not None:
        return with_out(_addmm, _bound, out)
    return _dispatch(_addmm, _bound)


def alias(input: Tensor) -> Any:
    return _dispatch(_alias, (input,))


def all(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dims_exact(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_all, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_all, _bound, out)
    return _dispatch(_all, _bound)


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Any:
    return _dispatch(_allclose, (input, other, rtol, atol, equal_nan))


def amax(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dims_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_amax, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_amax, _bound, out)
    return _dispatch(_amax, _bound)


def amin(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dims_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_amin, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_amin, _bound, out)
    return _dispatch(_amin, _bound)


def aminmax(
    input: Tensor,
    *,
    dim: int | None = None,
    keepdim: bool = False,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_aminmax, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_aminmax, _bound, out)
    return _dispatch(_aminmax, _bound)


def any(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dims_exact(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_any, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_any, _bound, out)
    return _dispatch(_any, _bound)


def arange(
    start: float,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (start, end, step, dtype, device)
    if out is not None:
        return with_out(_arange, _bound, out)
    return _require(requires_grad, _dispatch(_arange, _bound))


def argmax(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_argmax, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_argmax, _bound, out)
    return _dispatch(_argmax, _bound)


def argmin(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_argmin, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_argmin, _bound, out)
    return _dispatch(_argmin, _bound)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), descending, stable)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_argsort, (input, dim, descending, stable), _error) from None
    return _dispatch(_argsort, _bound)


def argwhere(input: Tensor) -> Any:
    return _dispatch(_argwhere, (input,))


def as_strided(
    input: Tensor,
    size: int | Sequence[int],
    stride: int | Sequence[int],
    storage_offset: int | None = None,
) -> Any:
    return _dispatch(_as_strided, (input, as_size(size), as_size(stride), storage_offset))


def asgd_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    average: Tensor,
    eta: Tensor,
    mu: Tensor,
    lr: float,
    lambd: float,
    alpha: float,
    t0: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _asgd_step_,
        (
            param,
            grad,
            step,
            average,
            eta,
            mu,
            lr,
            lambd,
            alpha,
            t0,
            weight_decay,
            maximize,
        ),
    )


def atan2(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_atan2, _bound, out)
    return _dispatch(_atan2, _bound)


def atan2_(input: Tensor, other: Tensor | float) -> Any:
    return _dispatch(_atan2_, (input, other))


def avg_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    count_include_pad: bool = True,
    *,
    out: Any = None,
) -> Any:
    _bound = (
        input,
        as_pair(kernel_size),
        as_pair_optional(stride),
        as_pair(padding),
        count_include_pad,
    )
    if out is not None:
        return with_out(_avg_pool2d, _bound, out)
    return _dispatch(_avg_pool2d, _bound)


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    return _dispatch(
        _batch_norm, (input, weight, bias, running_mean, running_var, training, momentum, eps)
    )


def batch_norm_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
) -> Any:
    return _dispatch(_batch_norm_backward, (grad, input, weight, mean, rstd))


def batch_norm_train(input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Any:
    return _dispatch(_batch_norm_train, (input, weight, bias, eps))


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_binary_cross_entropy, (input, target, weight, reduction))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: str = "mean",
) -> Any:
    return _dispatch(
        _binary_cross_entropy_with_logits, (input, target, weight, pos_weight, reduction)
    )


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
    return _dispatch(_bincount, (input, weights, minlength))


def bitwise_and(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_bitwise_and, _bound, out)
    return _dispatch(_bitwise_and, _bound)


def bitwise_and_(input: Tensor, other: Tensor | float) -> Any:
    return _dispatch(_bitwise_and_, (input, other))


def bitwise_not(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_bitwise_not, _bound, out)
    return _dispatch(_bitwise_not, _bound)


def bitwise_not_(input: Tensor) -> Any:
    return _dispatch(_bitwise_not_, (input,))


def bitwise_or(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_bitwise_or, _bound, out)
    return _dispatch(_bitwise_or, _bound)


def bitwise_or_(input: Tensor, other: Tensor | float) -> Any:
    return _dispatch(_bitwise_or_, (input, other))


def bitwise_xor(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_bitwise_xor, _bound, out)
    return _dispatch(_bitwise_xor, _bound)


def bitwise_xor_(input: Tensor, other: Tensor | float) -> Any:
    return _dispatch(_bitwise_xor_, (input, other))


def bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Any:
    _bound = (input, mat2)
    if out is not None:
        return with_out(_bmm, _bound, out)
    return _dispatch(_bmm, _bound)


def bucketize(
    input: Tensor | float,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Any = None,
) -> Any:
    _bound = (input, boundaries, out_int32, right)
    if out is not None:
        return with_out(_bucketize, _bound, out)
    return _dispatch(_bucketize, _bound)


def ceil(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_ceil, _bound, out)
    return _dispatch(_ceil, _bound)


def ceil_(input: Tensor) -> Any:
    return _dispatch(_ceil_, (input,))


def celu(input: Tensor, alpha: float = 1.0) -> Any:
    return _dispatch(_celu, (input, alpha))


def celu_(input: Tensor, alpha: float = 1.0) -> Any:
    return _dispatch(_celu_, (input, alpha))


def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    try:
        _bound = (input, chunks, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_chunk, (input, chunks, dim), _error) from None
    return _dispatch(_chunk, _bound)


def clamp(
    input: Tensor,
    min: Tensor | float | None = None,
    max: Tensor | float | None = None,
    *,
    out: Any = None,
) -> Any:
    _bound = (input, min, max)
    if out is not None:
        return with_out(_clamp, _bound, out)
    return _dispatch(_clamp, _bound)


def clamp_(
    input: Tensor,
    min: Tensor | float | None = None,
    max: Tensor | float | None = None,
) -> Any:
    return _dispatch(_clamp_, (input, min, max))


def clamp_max(input: Tensor, max: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, max)
    if out is not None:
        return with_out(_clamp_max, _bound, out)
    return _dispatch(_clamp_max, _bound)


def clamp_min(input: Tensor, min: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, min)
    if out is not None:
        return with_out(_clamp_min, _bound, out)
    return _dispatch(_clamp_min, _bound)


def clone(input: Tensor) -> Any:
    return _dispatch(_clone, (input,))


def col2im(
    input: Tensor,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int],
    padding: int | Sequence[int],
    stride: int | Sequence[int],
) -> Any:
    return _dispatch(
        _col2im,
        (
            input,
            as_pair(output_size),
            as_pair(kernel_size),
            as_pair(dilation),
            as_pair(padding),
            as_pair(stride),
        ),
    )


def constant_pad(input: Tensor, pad: int | Sequence[int], value: float = 0) -> Any:
    return _dispatch(_constant_pad, (input, as_size(pad), value))


def contiguous(input: Tensor) -> Any:
    return _dispatch(_contiguous, (input,))


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Any:
    return _dispatch(
        _conv2d, (input, weight, bias, as_pair(stride), padding, as_pair(dilation), groups)
    )


def conv2d_input_grad(
    grad: Tensor,
    weight: Tensor,
    input_size: int | Sequence[int],
    stride: int | Sequence[int],
    padding: int | Sequence[int],
    dilation: int | Sequence[int],
    groups: int,
) -> Any:
    return _dispatch(
        _conv2d_input_grad,
        (
            grad,
            weight,
            as_size(input_size),
            as_pair(stride),
            as_pair(padding),
            as_pair(dilation),
            groups,
        ),
    )


def conv2d_weight_grad(
    grad: Tensor,
    input: Tensor,
    weight_size: int | Sequence[int],
    stride: int | Sequence[int],
    padding: int | Sequence[int],
    dilation: int | Sequence[int],
    groups: int,
) -> Any:
    return _dispatch(
        _conv2d_weight_grad,
        (
            grad,
            input,
            as_size(weight_size),
            as_pair(stride),
            as_pair(padding),
            as_pair(dilation),
            groups,
        ),
    )


def copy(input: Tensor, src: Tensor) -> Any:
    return _dispatch(_copy, (input, src))


def copy_(input: Tensor, src: Tensor) -> Any:
    return _dispatch(_copy_, (input, src))


def corrcoef(input: Tensor) -> Any:
    return _dispatch(_corrcoef, (input,))


def cos(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_cos, _bound, out)
    return _dispatch(_cos, _bound)


def cos_(input: Tensor) -> Any:
    return _dispatch(_cos_, (input,))


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_cosine_embedding_loss, (input1, input2, target, margin, reduction))


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Any:
    return _dispatch(_cosine_similarity, (x1, x2, dim, eps))


def count_nonzero(input: Tensor, dim: int | Sequence[int] | None = None) -> Any:
    try:
        _bound = (input, wrap_dims(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_count_nonzero, (input, dim), _error) from None
    return _dispatch(_count_nonzero, _bound)


def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Any:
    return _dispatch(_cov, (input, correction, fweights, aweights))


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    return _dispatch(
        _cross_entropy, (input, target, weight, ignore_index, reduction, label_smoothing)
    )


def cummax(input: Tensor, dim: int, *, out: Any = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_cummax, (input, dim), _error) from None
    if out is not None:
        return with_out(_cummax, _bound, out)
    return _dispatch(_cummax, _bound)


def cummin(input: Tensor, dim: int, *, out: Any = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_cummin, (input, dim), _error) from None
    if out is not None:
        return with_out(_cummin, _bound, out)
    return _dispatch(_cummin, _bound)


def cumprod(input: Tensor, dim: int, *, dtype: DType | None = None, out: Any = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_cumprod, (input, dim, dtype), _error) from None
    if out is not None:
        return with_out(_cumprod, _bound, out)
    return _dispatch(_cumprod, _bound)


def cumprod_(input: Tensor, dim: int, *, dtype: DType | None = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_cumprod_, (input, dim, dtype), _error) from None
    return _dispatch(_cumprod_, _bound)


def cumsum(input: Tensor, dim: int, *, dtype: DType | None = None, out: Any = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_cumsum, (input, dim, dtype), _error) from None
    if out is not None:
        return with_out(_cumsum, _bound, out)
    return _dispatch(_cumsum, _bound)


def cumsum_(input: Tensor, dim: int, *, dtype: DType | None = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_cumsum_, (input, dim, dtype), _error) from None
    return _dispatch(_cumsum_, _bound)


def cumulative_trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: float | None = None,
    dim: int = -1,
) -> Any:
    return _dispatch(_cumulative_trapezoid, (y, x, dx, dim))


def detach(input: Tensor) -> Any:
    return _dispatch(_detach, (input,))


def deviation(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    correction: float = 1,
    keepdim: bool = False,
) -> Any:
    try:
        _bound = (input, wrap_dims(dim, input.ndim), correction, keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_deviation, (input, dim, correction, keepdim), _error) from None
    return _dispatch(_deviation, _bound)


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    try:
        _bound = (input, offset, wrap_dim(dim1, input.ndim), wrap_dim(dim2, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_diagonal, (input, offset, dim1, dim2), _error) from None
    return _dispatch(_diagonal, _bound)


def diagonal_backward(
    grad: Tensor,
    size: int | Sequence[int],
    offset: int,
    dim1: int,
    dim2: int,
) -> Any:
    return _dispatch(_diagonal_backward, (grad, as_size(size), offset, dim1, dim2))


def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, n, wrap_dim(dim, input.ndim), prepend, append)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_diff, (input, n, dim, prepend, append), _error) from None
    if out is not None:
        return with_out(_diff, _bound, out)
    return _dispatch(_diff, _bound)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Any:
    return _dispatch(_dist, (input, other, p))


def div(
    input: Tensor | float,
    other: Tensor | float,
    *,
    rounding_mode: str | None = None,
    out: Any = None,
) -> Any:
    _bound = (input, other, rounding_mode)
    if out is not None:
        return with_out(_div, _bound, out)
    return _dispatch(_div, _bound)


def div_(input: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Any:
    return _dispatch(_div_, (input, other, rounding_mode))


def dot(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_dot, _bound, out)
    return _dispatch(_dot, _bound)


def dropout(input: Tensor, p: float, train: bool) -> Any:
    return _dispatch(_dropout, (input, p, train))


def elu(input: Tensor, alpha: float = 1.0) -> Any:
    return _dispatch(_elu, (input, alpha))


def elu_(input: Tensor, alpha: float = 1.0) -> Any:
    return _dispatch(_elu_, (input, alpha))


def embedding(weight: Tensor, indices: Tensor, padding_idx: int | None = None) -> Any:
    return _dispatch(_embedding, (weight, indices, padding_idx))


def embedding_backward(grad: Tensor, indices: Tensor, rows: int, padding_idx: int | None) -> Any:
    return _dispatch(_embedding_backward, (grad, indices, rows, padding_idx))


def empty(
    *size: Any,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (as_size(varargs(size)), dtype, device)
    if out is not None:
        return with_out(_empty, _bound, out)
    return _require(requires_grad, _dispatch(_empty, _bound))


def empty_like(input: Tensor, *, dtype: DType | None = None, requires_grad: bool = False) -> Any:
    return _require(requires_grad, _dispatch(_empty_like, (input, dtype)))


def eq(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_eq, _bound, out)
    return _dispatch(_eq, _bound)


def equal(input: Tensor, other: Tensor) -> Any:
    return _dispatch(_equal, (input, other))


def erf(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_erf, _bound, out)
    return _dispatch(_erf, _bound)


def erf_(input: Tensor) -> Any:
    return _dispatch(_erf_, (input,))


def exp(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_exp, _bound, out)
    return _dispatch(_exp, _bound)


def exp_(input: Tensor) -> Any:
    return _dispatch(_exp_, (input,))


def expand(input: Tensor, size: int | Sequence[int]) -> Any:
    return _dispatch(_expand, (input, as_size(size)))


def expand_as(input: Tensor, other: Tensor) -> Any:
    return _dispatch(_expand_as, (input, other))


def expm1(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_expm1, _bound, out)
    return _dispatch(_expm1, _bound)


def expm1_(input: Tensor) -> Any:
    return _dispatch(_expm1_, (input,))


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (n, m, dtype, device)
    if out is not None:
        return with_out(_eye, _bound, out)
    return _require(requires_grad, _dispatch(_eye, _bound))


def fill(input: Tensor, value: Tensor | float) -> Any:
    return _dispatch(_fill, (input, value))


def fill_(input: Tensor, value: Tensor | float) -> Any:
    return _dispatch(_fill_, (input, value))


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    try:
        _bound = (input, wrap_dim(start_dim, input.ndim), wrap_dim(end_dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_flatten, (input, start_dim, end_dim), _error) from None
    return _dispatch(_flatten, _bound)


def flip(input: Tensor, dims: int | Sequence[int] | None) -> Any:
    try:
        _bound = (input, wrap_dims(dims, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_flip, (input, dims), _error) from None
    return _dispatch(_flip, _bound)


def floor(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_floor, _bound, out)
    return _dispatch(_floor, _bound)


def floor_(input: Tensor) -> Any:
    return _dispatch(_floor_, (input,))


def floor_divide(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_floor_divide, _bound, out)
    return _dispatch(_floor_divide, _bound)


def fmod(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_fmod, _bound, out)
    return _dispatch(_fmod, _bound)


def fmod_(input: Tensor, other: Tensor | float) -> Any:
    return _dispatch(_fmod_, (input, other))


def full(
    size: int | Sequence[int],
    fill_value: float,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (as_size(size), fill_value, dtype, device)
    if out is not None:
        return with_out(_full, _bound, out)
    return _require(requires_grad, _dispatch(_full, _bound))


def full_like(
    input: Tensor,
    fill_value: float,
    *,
    dtype: DType | None = None,
    requires_grad: bool = False,
) -> Any:
    return _require(requires_grad, _dispatch(_full_like, (input, fill_value, dtype)))


def gather(
    input: Tensor,
    dim: int,
    index: Tensor,
    *,
    sparse_grad: bool = False,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index, sparse_grad)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_gather, (input, dim, index, sparse_grad), _error) from None
    if out is not None:
        return with_out(_gather, _bound, out)
    return _dispatch(_gather, _bound)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_gaussian_nll_loss, (input, target, var, full, eps, reduction))


def ge(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_ge, _bound, out)
    return _dispatch(_ge, _bound)


def gelu(input: Tensor, *, approximate: str = "none", out: Any = None) -> Any:
    _bound = (input, approximate)
    if out is not None:
        return with_out(_gelu, _bound, out)
    return _dispatch(_gelu, _bound)


def gelu_backward(grad: Tensor, input: Tensor, approximate: str) -> Any:
    return _dispatch(_gelu_backward, (grad, input, approximate))


def glu(input: Tensor, dim: int = -1) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_glu, (input, dim), _error) from None
    return _dispatch(_glu, _bound)


def gradient(input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> Any:
    return _dispatch(_gradient, (input, spacing, dim, edge_order))


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Any:
    return _dispatch(_group_norm, (input, num_groups, weight, bias, eps))


def gt(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_gt, _bound, out)
    return _dispatch(_gt, _bound)


def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Any = None) -> Any:
    _bound = (input, lambd)
    if out is not None:
        return with_out(_hardshrink, _bound, out)
    return _dispatch(_hardshrink, _bound)


def hardsigmoid(input: Tensor) -> Any:
    return _dispatch(_hardsigmoid, (input,))


def hardsigmoid_(input: Tensor) -> Any:
    return _dispatch(_hardsigmoid_, (input,))


def hardswish(input: Tensor) -> Any:
    return _dispatch(_hardswish, (input,))


def hardswish_(input: Tensor) -> Any:
    return _dispatch(_hardswish_, (input,))


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    return _dispatch(_hardtanh, (input, min_val, max_val))


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    return _dispatch(_hardtanh_, (input, min_val, max_val))


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_hinge_embedding_loss, (input, target, margin, reduction))


def histc(
    input: Tensor,
    bins: int = 100,
    min: float = 0,
    max: float = 0,
    *,
    out: Any = None,
) -> Any:
    _bound = (input, bins, min, max)
    if out is not None:
        return with_out(_histc, _bound, out)
    return _dispatch(_histc, _bound)


def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    return _dispatch(_histogram, (input, bins, range, weight, density))


def histogram_counts(input: Tensor, edges: Tensor, weight: Tensor | None, density: bool) -> Any:
    return _dispatch(_histogram_counts, (input, edges, weight, density))


def histogram_edges(input: Tensor, bins: int, range: Any) -> Any:
    return _dispatch(_histogram_edges, (input, bins, range))


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Any:
    return _dispatch(_huber_loss, (input, target, reduction, delta))


def im2col(
    input: Tensor,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int],
    padding: int | Sequence[int],
    stride: int | Sequence[int],
) -> Any:
    return _dispatch(
        _im2col,
        (
            input,
            as_pair(kernel_size),
            as_pair(dilation),
            as_pair(padding),
            as_pair(stride),
        ),
    )


def index(input: Tensor, indices: Sequence[Tensor | None]) -> Any:
    return _dispatch(_index, (input, as_tensors(indices, "index")))


def index_put(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Any:
    return _dispatch(_index_put, (input, as_tensors(indices, "index_put"), values, accumulate))


def index_put_(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Any:
    return _dispatch(_index_put_, (input, as_tensors(indices, "index_put_"), values, accumulate))


def index_select(input: Tensor, dim: int, index: Tensor, *, out: Any = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_index_select, (input, dim, index), _error) from None
    if out is not None:
        return with_out(_index_select, _bound, out)
    return _dispatch(_index_select, _bound)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> Any:
    return _dispatch(
        _instance_norm,
        (
            input,
            weight,
            bias,
            running_mean,
            running_var,
            use_input_stats,
            momentum,
            eps,
        ),
    )


def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Any:
    return _dispatch(_isclose, (input, other, rtol, atol, equal_nan))


def isfinite(input: Tensor) -> Any:
    return _dispatch(_isfinite, (input,))


def isin(
    elements: Tensor | float,
    test_elements: Tensor | float,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Any = None,
) -> Any:
    _bound = (elements, test_elements, assume_unique, invert)
    if out is not None:
        return with_out(_isin, _bound, out)
    return _dispatch(_isin, _bound)


def isinf(input: Tensor) -> Any:
    return _dispatch(_isinf, (input,))


def isnan(input: Tensor) -> Any:
    return _dispatch(_isnan, (input,))


def kl_div(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    return _dispatch(_kl_div, (input, target, reduction, log_target))


def kth_position(input: Tensor, k: int, dim: int) -> Any:
    try:
        _bound = (input, k, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_kth_position, (input, k, dim), _error) from None
    return _dispatch(_kth_position, _bound)


def kthvalue(
    input: Tensor,
    k: int,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, k, wrap_dim(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_kthvalue, (input, k, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_kthvalue, _bound, out)
    return _dispatch(_kthvalue, _bound)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    return _dispatch(_l1_loss, (input, target, reduction))


def layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Any:
    return _dispatch(_layer_norm, (input, as_size(normalized_shape), weight, bias, eps))


def layer_norm_backward(
    grad: Tensor,
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
) -> Any:
    return _dispatch(
        _layer_norm_backward, (grad, input, as_size(normalized_shape), weight, mean, rstd)
    )


def le(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_le, _bound, out)
    return _dispatch(_le, _bound)


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Any:
    return _dispatch(_leaky_relu, (input, negative_slope))


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Any:
    return _dispatch(_leaky_relu_, (input, negative_slope))


def lerp(input: Tensor, end: Tensor, weight: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, end, weight)
    if out is not None:
        return with_out(_lerp, _bound, out)
    return _dispatch(_lerp, _bound)


def lerp_(input: Tensor, end: Tensor, weight: Tensor | float) -> Any:
    return _dispatch(_lerp_, (input, end, weight))


def linalg_matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2,
    -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Any:
    return _dispatch(_linalg_matrix_norm, (A, ord, dim, keepdim, dtype))


def linalg_norm(
    A: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Any:
    return _dispatch(_linalg_norm, (A, ord, dim, keepdim, dtype))


def linalg_vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Any:
    return _dispatch(_linalg_vector_norm, (x, ord, dim, keepdim, dtype))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Any = None) -> Any:
    _bound = (input, weight, bias)
    if out is not None:
        return with_out(_linear, _bound, out)
    return _dispatch(_linear, _bound)


def linspace(
    start: float,
    end: float,
    steps: int,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (start, end, steps, dtype, device)
    if out is not None:
        return with_out(_linspace, _bound, out)
    return _require(requires_grad, _dispatch(_linspace, _bound))


def local_response_norm(
    input: Tensor,
    size: int,
    alpha: float = 0.0001,
    beta: float = 0.75,
    k: float = 1.0,
) -> Any:
    return _dispatch(_local_response_norm, (input, size, alpha, beta, k))


def log(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_log, _bound, out)
    return _dispatch(_log, _bound)


def log1p(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_log1p, _bound, out)
    return _dispatch(_log1p, _bound)


def log1p_(input: Tensor) -> Any:
    return _dispatch(_log1p_, (input,))


def log2(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_log2, _bound, out)
    return _dispatch(_log2, _bound)


def log2_(input: Tensor) -> Any:
    return _dispatch(_log2_, (input,))


def log_(input: Tensor) -> Any:
    return _dispatch(_log_, (input,))


def log_softmax(input: Tensor, dim: int, dtype: DType | None = None, *, out: Any = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_log_softmax, (input, dim, dtype), _error) from None
    if out is not None:
        return with_out(_log_softmax, _bound, out)
    return _dispatch(_log_softmax, _bound)


def log_softmax_backward(grad: Tensor, out: Tensor, dim: int) -> Any:
    return _dispatch(_log_softmax_backward, (grad, out, dim))


def logcumsumexp(input: Tensor, dim: int, *, out: Any = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_logcumsumexp, (input, dim), _error) from None
    if out is not None:
        return with_out(_logcumsumexp, _bound, out)
    return _dispatch(_logcumsumexp, _bound)


def logical_and(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_logical_and, _bound, out)
    return _dispatch(_logical_and, _bound)


def logical_not(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_logical_not, _bound, out)
    return _dispatch(_logical_not, _bound)


def logical_or(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_logical_or, _bound, out)
    return _dispatch(_logical_or, _bound)


def logical_xor(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_logical_xor, _bound, out)
    return _dispatch(_logical_xor, _bound)


def logsigmoid(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_logsigmoid, _bound, out)
    return _dispatch(_logsigmoid, _bound)


def logsumexp(
    input: Tensor,
    dim: int | Sequence[int] | None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dims(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_logsumexp, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_logsumexp, _bound, out)
    return _dispatch(_logsumexp, _bound)


def lt(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_lt, _bound, out)
    return _dispatch(_lt, _bound)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_margin_ranking_loss, (input1, input2, target, margin, reduction))


def masked_fill(input: Tensor, mask: Tensor, value: Tensor | float) -> Any:
    return _dispatch(_masked_fill, (input, mask, value))


def masked_fill_(input: Tensor, mask: Tensor, value: Tensor | float) -> Any:
    return _dispatch(_masked_fill_, (input, mask, value))


def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Any:
    _bound = (input, mask)
    if out is not None:
        return with_out(_masked_select, _bound, out)
    return _dispatch(_masked_select, _bound)


def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_matmul, _bound, out)
    return _dispatch(_matmul, _bound)


def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    _bound = (input, dim, keepdim)
    if out is not None:
        return with_out(_max, _bound, out)
    return _dispatch(_max, _bound)


def max_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Any:
    return _dispatch(
        _max_pool2d,
        (
            input,
            as_pair(kernel_size),
            as_pair_optional(stride),
            as_pair(padding),
            as_pair(dilation),
            ceil_mode,
        ),
    )


def max_pool2d_backward(
    grad: Tensor,
    indices: Tensor,
    input_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int],
    padding: int | Sequence[int],
    dilation: int | Sequence[int],
) -> Any:
    return _dispatch(
        _max_pool2d_backward,
        (
            grad,
            indices,
            as_size(input_size),
            as_pair(kernel_size),
            as_pair(stride),
            as_pair(padding),
            as_pair(dilation),
        ),
    )


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Any:
    return _dispatch(
        _max_pool2d_with_indices,
        (
            input,
            as_pair(kernel_size),
            as_pair_optional(stride),
            as_pair(padding),
            as_pair(dilation),
            ceil_mode,
        ),
    )


def maximum(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_maximum, _bound, out)
    return _dispatch(_maximum, _bound)


def mean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_mean, (input, dim, keepdim, dtype), _error) from None
    if out is not None:
        return with_out(_mean, _bound, out)
    return _dispatch(_mean, _bound)


def median(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_median, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_median, _bound, out)
    return _dispatch(_median, _bound)


def median_position(input: Tensor, dim: int, skip_nan: bool) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), skip_nan)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_median_position, (input, dim, skip_nan), _error) from None
    return _dispatch(_median_position, _bound)


def median_value(input: Tensor, skip_nan: bool) -> Any:
    return _dispatch(_median_value, (input, skip_nan))


def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    _bound = (input, dim, keepdim)
    if out is not None:
        return with_out(_min, _bound, out)
    return _dispatch(_min, _bound)


def minimum(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_minimum, _bound, out)
    return _dispatch(_minimum, _bound)


def mish(input: Tensor) -> Any:
    return _dispatch(_mish, (input,))


def mish_(input: Tensor) -> Any:
    return _dispatch(_mish_, (input,))


def mm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Any:
    _bound = (input, mat2)
    if out is not None:
        return with_out(_mm, _bound, out)
    return _dispatch(_mm, _bound)


def mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_mode, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_mode, _bound, out)
    return _dispatch(_mode, _bound)


def mode_position(input: Tensor, dim: int) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_mode_position, (input, dim), _error) from None
    return _dispatch(_mode_position, _bound)


def movedim(input: Tensor, source: Any, destination: Any) -> Any:
    return _dispatch(_movedim, (input, source, destination))


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    return _dispatch(_mse_loss, (input, target, reduction))


def msort(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_msort, _bound, out)
    return _dispatch(_msort, _bound)


def mul(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_mul, _bound, out)
    return _dispatch(_mul, _bound)


def mul_(input: Tensor, other: Tensor | float) -> Any:
    return _dispatch(_mul_, (input, other))


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_multi_margin_loss, (input, target, p, margin, weight, reduction))


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    return _dispatch(_multilabel_margin_loss, (input, target, reduction))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_multilabel_soft_margin_loss, (input, target, weight, reduction))


def mv(input: Tensor, vec: Tensor, *, out: Any = None) -> Any:
    _bound = (input, vec)
    if out is not None:
        return with_out(_mv, _bound, out)
    return _dispatch(_mv, _bound)


def nadam_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    mu_product: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    momentum_decay: float,
    decoupled: bool,
    maximize: bool,
) -> Any:
    return _dispatch(
        _nadam_step_,
        (
            param,
            grad,
            step,
            exp_avg,
            exp_avg_sq,
            mu_product,
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            momentum_decay,
            decoupled,
            maximize,
        ),
    )


def nanmean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_nanmean, (input, dim, keepdim, dtype), _error) from None
    if out is not None:
        return with_out(_nanmean, _bound, out)
    return _dispatch(_nanmean, _bound)


def nanmedian(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_nanmedian, (input, dim, keepdim), _error) from None
    if out is not None:
        return with_out(_nanmedian, _bound, out)
    return _dispatch(_nanmedian, _bound)


def nanquantile(
    input: Tensor,
    q: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Any = None,
) -> Any:
    _bound = (input, q, dim, keepdim, interpolation)
    if out is not None:
        return with_out(_nanquantile, _bound, out)
    return _dispatch(_nanquantile, _bound)


def nansum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_nansum, (input, dim, keepdim, dtype), _error) from None
    if out is not None:
        return with_out(_nansum, _bound, out)
    return _dispatch(_nansum, _bound)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), start, length)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_narrow, (input, dim, start, length), _error) from None
    return _dispatch(_narrow, _bound)


def native_dropout(input: Tensor, p: float) -> Any:
    return _dispatch(_native_dropout, (input, p))


def native_layer_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Any:
    return _dispatch(_native_layer_norm, (input, as_size(normalized_shape), weight, bias, eps))


def ne(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_ne, _bound, out)
    return _dispatch(_ne, _bound)


def neg(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_neg, _bound, out)
    return _dispatch(_neg, _bound)


def neg_(input: Tensor) -> Any:
    return _dispatch(_neg_, (input,))


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_nll_loss, (input, target, weight, ignore_index, reduction))


def nll_loss_backward(
    grad: Tensor,
    size: int | Sequence[int],
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
) -> Any:
    return _dispatch(
        _nll_loss_backward, (grad, as_size(size), target, weight, ignore_index, reduction)
    )


def nonzero(input: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
    _bound = (input, as_tuple)
    if out is not None:
        return with_out(_nonzero, _bound, out)
    return _dispatch(_nonzero, _bound)


def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    *,
    out: Any = None,
) -> Any:
    _bound = (input, p, dim, keepdim, dtype)
    if out is not None:
        return with_out(_norm, _bound, out)
    return _dispatch(_norm, _bound)


def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0) -> Any:
    return _dispatch(_normal_, (input, mean, std))


def one_hot(input: Tensor, num_classes: int = -1) -> Any:
    return _dispatch(_one_hot, (input, num_classes))


def ones(
    *size: Any,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (as_size(varargs(size)), dtype, device)
    if out is not None:
        return with_out(_ones, _bound, out)
    return _require(requires_grad, _dispatch(_ones, _bound))


def ones_like(input: Tensor, *, dtype: DType | None = None, requires_grad: bool = False) -> Any:
    return _require(requires_grad, _dispatch(_ones_like, (input, dtype)))


def outer(input: Tensor, vec2: Tensor, *, out: Any = None) -> Any:
    _bound = (input, vec2)
    if out is not None:
        return with_out(_outer, _bound, out)
    return _dispatch(_outer, _bound)


def p_norm(
    input: Tensor,
    ord: float,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
) -> Any:
    try:
        _bound = (input, ord, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_p_norm, (input, ord, dim, keepdim, dtype), _error) from None
    return _dispatch(_p_norm, _bound)


def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    eps: float = 1e-06,
    keepdim: bool = False,
) -> Any:
    return _dispatch(_pairwise_distance, (x1, x2, p, eps, keepdim))


def pdist(input: Tensor, p: float = 2.0) -> Any:
    return _dispatch(_pdist, (input, p))


def permute(input: Tensor, dims: Sequence[int]) -> Any:
    try:
        _bound = (input, wrap_permutation(dims, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_permute, (input, dims), _error) from None
    return _dispatch(_permute, _bound)


def philox_uniform(
    size: int | Sequence[int],
    dtype: DType,
    device: Device | str | None,
    seed: int,
    offset: int,
) -> Any:
    return _dispatch(_philox_uniform, (as_size(size), dtype, device, seed, offset))


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-08,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_poisson_nll_loss, (input, target, log_input, full, eps, reduction))


def pow(input: Tensor | float, exponent: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, exponent)
    if out is not None:
        return with_out(_pow, _bound, out)
    return _dispatch(_pow, _bound)


def pow_(input: Tensor, exponent: Tensor | float) -> Any:
    return _dispatch(_pow_, (input, exponent))


def prelu(input: Tensor, weight: Tensor) -> Any:
    return _dispatch(_prelu, (input, weight))


def prod(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_prod, (input, dim, keepdim, dtype), _error) from None
    if out is not None:
        return with_out(_prod, _bound, out)
    return _dispatch(_prod, _bound)


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
    return _dispatch(_put, (input, index, source, accumulate))


def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
    return _dispatch(_put_, (input, index, source, accumulate))


def quantile(
    input: Tensor,
    q: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Any = None,
) -> Any:
    _bound = (input, q, dim, keepdim, interpolation)
    if out is not None:
        return with_out(_quantile, _bound, out)
    return _dispatch(_quantile, _bound)


def radam_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
) -> Any:
    return _dispatch(
        _radam_step_,
        (
            param,
            grad,
            step,
            exp_avg,
            exp_avg_sq,
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            decoupled,
            maximize,
        ),
    )


def rand(
    *size: Any,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (as_size(varargs(size)), dtype, device)
    if out is not None:
        return with_out(_rand, _bound, out)
    return _require(requires_grad, _dispatch(_rand, _bound))


def rand_like(input: Tensor, *, dtype: DType | None = None, requires_grad: bool = False) -> Any:
    return _require(requires_grad, _dispatch(_rand_like, (input, dtype)))


def randint(
    low: int,
    high: Any,
    size: Any = None,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (low, high, size, dtype, device)
    if out is not None:
        return with_out(_randint, _bound, out)
    return _require(requires_grad, _dispatch(_randint, _bound))


def randn(
    *size: Any,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (as_size(varargs(size)), dtype, device)
    if out is not None:
        return with_out(_randn, _bound, out)
    return _require(requires_grad, _dispatch(_randn, _bound))


def randn_like(input: Tensor, *, dtype: DType | None = None, requires_grad: bool = False) -> Any:
    return _require(requires_grad, _dispatch(_randn_like, (input, dtype)))


def randperm(
    n: int,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (n, dtype, device)
    if out is not None:
        return with_out(_randperm, _bound, out)
    return _require(requires_grad, _dispatch(_randperm, _bound))


def reciprocal(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_reciprocal, _bound, out)
    return _dispatch(_reciprocal, _bound)


def reciprocal_(input: Tensor) -> Any:
    return _dispatch(_reciprocal_, (input,))


def relu(input: Tensor) -> Any:
    return _dispatch(_relu, (input,))


def relu_(input: Tensor) -> Any:
    return _dispatch(_relu_, (input,))


def remainder(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_remainder, _bound, out)
    return _dispatch(_remainder, _bound)


def remainder_(input: Tensor, other: Tensor | float) -> Any:
    return _dispatch(_remainder_, (input, other))


def renorm(input: Tensor, p: float, dim: int, maxnorm: float, *, out: Any = None) -> Any:
    try:
        _bound = (input, p, wrap_dim(dim, input.ndim), maxnorm)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_renorm, (input, p, dim, maxnorm), _error) from None
    if out is not None:
        return with_out(_renorm, _bound, out)
    return _dispatch(_renorm, _bound)


def renorm_(input: Tensor, p: float, dim: int, maxnorm: float) -> Any:
    try:
        _bound = (input, p, wrap_dim(dim, input.ndim), maxnorm)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_renorm_, (input, p, dim, maxnorm), _error) from None
    return _dispatch(_renorm_, _bound)


def repeat(input: Tensor, repeats: int | Sequence[int]) -> Any:
    return _dispatch(_repeat, (input, as_size(repeats)))


def reshape(input: Tensor, shape: int | Sequence[int]) -> Any:
    return _dispatch(_reshape, (input, as_size(shape)))


def reshape_as(input: Tensor, other: Tensor) -> Any:
    return _dispatch(_reshape_as, (input, other))


def rms_norm(
    input: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Any:
    return _dispatch(_rms_norm, (input, as_size(normalized_shape), weight, eps))


def rmsprop_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    square_avg: Tensor,
    momentum_buffer: Tensor | None,
    grad_avg: Tensor | None,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _rmsprop_step_,
        (
            param,
            grad,
            step,
            square_avg,
            momentum_buffer,
            grad_avg,
            lr,
            alpha,
            eps,
            weight_decay,
            momentum,
            maximize,
        ),
    )


def rng_uniform(
    size: int | Sequence[int],
    dtype: DType,
    device: Device | str | None,
    rng_index: int,
) -> Any:
    return _dispatch(_rng_uniform, (as_size(size), dtype, device, rng_index))


def roll(input: Tensor, shifts: int, dim: int) -> Any:
    try:
        _bound = (input, shifts, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_roll, (input, shifts, dim), _error) from None
    return _dispatch(_roll, _bound)


def round(input: Tensor, *, decimals: int = 0, out: Any = None) -> Any:
    _bound = (input, decimals)
    if out is not None:
        return with_out(_round, _bound, out)
    return _dispatch(_round, _bound)


def round_(input: Tensor, *, decimals: int = 0) -> Any:
    return _dispatch(_round_, (input, decimals))


def rprop_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    previous: Tensor,
    step_size: Tensor,
    shrink: float,
    grow: float,
    smallest: float,
    largest: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _rprop_step_,
        (
            param,
            grad,
            step,
            previous,
            step_size,
            shrink,
            grow,
            smallest,
            largest,
            maximize,
        ),
    )


def rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
) -> Any:
    return _dispatch(_rrelu, (input, lower, upper, training))


def rrelu_(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
) -> Any:
    return _dispatch(_rrelu_, (input, lower, upper, training))


def rsqrt(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_rsqrt, _bound, out)
    return _dispatch(_rsqrt, _bound)


def rsqrt_(input: Tensor) -> Any:
    return _dispatch(_rsqrt_, (input,))


def running_max(input: Tensor, dim: int) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_running_max, (input, dim), _error) from None
    return _dispatch(_running_max, _bound)


def running_min(input: Tensor, dim: int) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_running_min, (input, dim), _error) from None
    return _dispatch(_running_min, _bound)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Any:
    return _dispatch(
        _scaled_dot_product_attention, (query, key, value, attn_mask, dropout_p, is_causal, scale)
    )


def search_positions(
    sequence: Tensor,
    values: Tensor | float,
    out_int32: bool,
    right: bool,
    sorter: Tensor | None,
) -> Any:
    return _dispatch(_search_positions, (sequence, values, out_int32, right, sorter))


def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Any = None,
) -> Any:
    _bound = (sorted_sequence, input, out_int32, right, side, sorter)
    if out is not None:
        return with_out(_searchsorted, _bound, out)
    return _dispatch(_searchsorted, _bound)


def select(input: Tensor, dim: int, index: int) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_select, (input, dim, index), _error) from None
    return _dispatch(_select, _bound)


def select_backward(grad: Tensor, size: int | Sequence[int], dim: int, index: Any) -> Any:
    return _dispatch(_select_backward, (grad, as_size(size), dim, index))


def selu(input: Tensor) -> Any:
    return _dispatch(_selu, (input,))


def selu_(input: Tensor) -> Any:
    return _dispatch(_selu_, (input,))


def sgd_step_(
    param: Tensor,
    grad: Tensor,
    momentum_buffer: Tensor | None,
    first: bool,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
) -> Any:
    return _dispatch(
        _sgd_step_,
        (
            param,
            grad,
            momentum_buffer,
            first,
            lr,
            momentum,
            dampening,
            weight_decay,
            nesterov,
            maximize,
        ),
    )


def sigmoid(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_sigmoid, _bound, out)
    return _dispatch(_sigmoid, _bound)


def sigmoid_(input: Tensor) -> Any:
    return _dispatch(_sigmoid_, (input,))


def sign(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_sign, _bound, out)
    return _dispatch(_sign, _bound)


def sign_(input: Tensor) -> Any:
    return _dispatch(_sign_, (input,))


def silu(input: Tensor) -> Any:
    return _dispatch(_silu, (input,))


def silu_(input: Tensor) -> Any:
    return _dispatch(_silu_, (input,))


def silu_backward(grad: Tensor, input: Tensor) -> Any:
    return _dispatch(_silu_backward, (grad, input))


def sin(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_sin, _bound, out)
    return _dispatch(_sin, _bound)


def sin_(input: Tensor) -> Any:
    return _dispatch(_sin_, (input,))


def slice(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int | None = 1,
) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), start, end, step)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_slice, (input, dim, start, end, step), _error) from None
    return _dispatch(_slice, _bound)


def slice_backward(
    grad: Tensor,
    size: int | Sequence[int],
    dim: int,
    start: Any,
    end: Any,
    step: Any,
) -> Any:
    return _dispatch(_slice_backward, (grad, as_size(size), dim, start, end, step))


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    return _dispatch(_smooth_l1_loss, (input, target, reduction, beta))


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    return _dispatch(_soft_margin_loss, (input, target, reduction))


def softmax(input: Tensor, dim: int, dtype: DType | None = None, *, out: Any = None) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_softmax, (input, dim, dtype), _error) from None
    if out is not None:
        return with_out(_softmax, _bound, out)
    return _dispatch(_softmax, _bound)


def softmax_backward(grad: Tensor, out: Tensor, dim: int) -> Any:
    return _dispatch(_softmax_backward, (grad, out, dim))


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0, *, out: Any = None) -> Any:
    _bound = (input, beta, threshold)
    if out is not None:
        return with_out(_softplus, _bound, out)
    return _dispatch(_softplus, _bound)


def softshrink(input: Tensor, lambd: float = 0.5, *, out: Any = None) -> Any:
    _bound = (input, lambd)
    if out is not None:
        return with_out(_softshrink, _bound, out)
    return _dispatch(_softshrink, _bound)


def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: Any = False,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), descending, stable)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_sort, (input, dim, descending, stable), _error) from None
    if out is not None:
        return with_out(_sort, _bound, out)
    return _dispatch(_sort, _bound)


def split(input: Tensor, split_size: Any, dim: int = 0) -> Any:
    try:
        _bound = (input, split_size, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_split, (input, split_size, dim), _error) from None
    return _dispatch(_split, _bound)


def sqrt(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_sqrt, _bound, out)
    return _dispatch(_sqrt, _bound)


def sqrt_(input: Tensor) -> Any:
    return _dispatch(_sqrt_, (input,))


def square(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_square, _bound, out)
    return _dispatch(_square, _bound)


def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Any:
    try:
        _bound = (input, wrap_dims(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_squeeze, (input, dim), _error) from None
    return _dispatch(_squeeze, _bound)


def std(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Any = None,
) -> Any:
    _bound = (input, dim, unbiased, keepdim, correction)
    if out is not None:
        return with_out(_std, _bound, out)
    return _dispatch(_std, _bound)


def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Any:
    return _dispatch(_std_mean, (input, dim, unbiased, keepdim, correction))


def sub(input: Tensor | float, other: Tensor | float, *, alpha: float = 1, out: Any = None) -> Any:
    _bound = (input, other, alpha)
    if out is not None:
        return with_out(_sub, _bound, out)
    return _dispatch(_sub, _bound)


def sub_(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Any:
    return _dispatch(_sub_, (input, other, alpha))


def sum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_sum, (input, dim, keepdim, dtype), _error) from None
    if out is not None:
        return with_out(_sum, _bound, out)
    return _dispatch(_sum, _bound)


def sum_to_size(input: Tensor, size: int | Sequence[int]) -> Any:
    return _dispatch(_sum_to_size, (input, as_size(size)))


def t(input: Tensor) -> Any:
    return _dispatch(_t, (input,))


def take(input: Tensor, index: Tensor, *, out: Any = None) -> Any:
    _bound = (input, index)
    if out is not None:
        return with_out(_take, _bound, out)
    return _dispatch(_take, _bound)


def take_along_dim(
    input: Tensor,
    indices: Tensor,
    dim: int | None = None,
    *,
    out: Any = None,
) -> Any:
    _bound = (input, indices, dim)
    if out is not None:
        return with_out(_take_along_dim, _bound, out)
    return _dispatch(_take_along_dim, _bound)


def tan(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_tan, _bound, out)
    return _dispatch(_tan, _bound)


def tan_(input: Tensor) -> Any:
    return _dispatch(_tan_, (input,))


def tanh(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_tanh, _bound, out)
    return _dispatch(_tanh, _bound)


def tanh_(input: Tensor) -> Any:
    return _dispatch(_tanh_, (input,))


def threshold(input: Tensor, threshold: float, value: float) -> Any:
    return _dispatch(_threshold, (input, threshold, value))


def threshold_(input: Tensor, threshold: float, value: float) -> Any:
    return _dispatch(_threshold_, (input, threshold, value))


def to_dtype(input: Tensor, dtype: DType) -> Any:
    return _dispatch(_to_dtype, (input, dtype))


def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Any = None,
) -> Any:
    try:
        _bound = (input, k, wrap_dim(dim, input.ndim), largest, sorted)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_topk, (input, k, dim, largest, sorted), _error) from None
    if out is not None:
        return with_out(_topk, _bound, out)
    return _dispatch(_topk, _bound)


def topk_positions(input: Tensor, k: int, dim: int, largest: bool) -> Any:
    try:
        _bound = (input, k, wrap_dim(dim, input.ndim), largest)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_topk_positions, (input, k, dim, largest), _error) from None
    return _dispatch(_topk_positions, _bound)


def trace(input: Tensor) -> Any:
    return _dispatch(_trace, (input,))


def transpose(input: Tensor, dim0: int, dim1: int) -> Any:
    try:
        _bound = (input, wrap_dim(dim0, input.ndim), wrap_dim(dim1, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_transpose, (input, dim0, dim1), _error) from None
    return _dispatch(_transpose, _bound)


def trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: float | None = None,
    dim: int = -1,
) -> Any:
    return _dispatch(_trapezoid, (y, x, dx, dim))


def tril(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Any:
    _bound = (input, diagonal)
    if out is not None:
        return with_out(_tril, _bound, out)
    return _dispatch(_tril, _bound)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    return _dispatch(
        _triplet_margin_loss, (anchor, positive, negative, margin, p, eps, swap, reduction)
    )


def triu(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Any:
    _bound = (input, diagonal)
    if out is not None:
        return with_out(_triu, _bound, out)
    return _dispatch(_triu, _bound)


def trunc(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_trunc, _bound, out)
    return _dispatch(_trunc, _bound)


def trunc_(input: Tensor) -> Any:
    return _dispatch(_trunc_, (input,))


def unbind(input: Tensor, dim: int = 0) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_unbind, (input, dim), _error) from None
    return _dispatch(_unbind, _bound)


def unflatten(input: Tensor, dim: int, sizes: int | Sequence[int]) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim), as_size(sizes))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_unflatten, (input, dim, sizes), _error) from None
    return _dispatch(_unflatten, _bound)


def uniform_(input: Tensor, low: float = 0.0, high: float = 1.0) -> Any:
    return _dispatch(_uniform_, (input, low, high))


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    try:
        _bound = (
            input,
            sorted,
            return_inverse,
            return_counts,
            wrap_dim_optional(dim, input.ndim),
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(
            _unique,
            (
                input,
                sorted,
                return_inverse,
                return_counts,
                dim,
            ),
            _error,
        ) from None
    return _dispatch(_unique, _bound)


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    try:
        _bound = (input, return_inverse, return_counts, wrap_dim_optional(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(
            _unique_consecutive,
            (
                input,
                return_inverse,
                return_counts,
                dim,
            ),
            _error,
        ) from None
    return _dispatch(_unique_consecutive, _bound)


def unsqueeze(input: Tensor, dim: int) -> Any:
    try:
        _bound = (input, wrap_dim(dim, input.ndim + 1))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_unsqueeze, (input, dim), _error) from None
    return _dispatch(_unsqueeze, _bound)


def var(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Any = None,
) -> Any:
    _bound = (input, dim, unbiased, keepdim, correction)
    if out is not None:
        return with_out(_var, _bound, out)
    return _dispatch(_var, _bound)


def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Any:
    return _dispatch(_var_mean, (input, dim, unbiased, keepdim, correction))


def variance(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    correction: float = 1,
    keepdim: bool = False,
) -> Any:
    try:
        _bound = (input, wrap_dims(dim, input.ndim), correction, keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_variance, (input, dim, correction, keepdim), _error) from None
    return _dispatch(_variance, _bound)


def view(input: Tensor, size: int | Sequence[int]) -> Any:
    return _dispatch(_view, (input, as_size(size)))


def view_as(input: Tensor, other: Tensor) -> Any:
    return _dispatch(_view_as, (input, other))


def where(
    condition: Tensor,
    input: Tensor | float,
    other: Tensor | float,
    *,
    out: Any = None,
) -> Any:
    _bound = (condition, input, other)
    if out is not None:
        return with_out(_where, _bound, out)
    return _dispatch(_where, _bound)


def zero_(input: Tensor) -> Any:
    return _dispatch(_zero_, (input,))


def zeros(
    *size: Any,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    requires_grad: bool = False,
) -> Any:
    _bound = (as_size(varargs(size)), dtype, device)
    if out is not None:
        return with_out(_zeros, _bound, out)
    return _require(requires_grad, _dispatch(_zeros, _bound))


def zeros_like(input: Tensor, *, dtype: DType | None = None, requires_grad: bool = False) -> Any:
    return _require(requires_grad, _dispatch(_zeros_like, (input, dtype)))


absolute = abs
absolute_ = abs_
arctan2 = atan2
arctan2_ = atan2_
clip = clamp
clip_ = clamp_
divide = div
divide_ = div_
fix = trunc
fix_ = trunc_
ger = outer
greater = gt
greater_equal = ge
less = lt
less_equal = le
moveaxis = movedim
multiply = mul
multiply_ = mul_
negative = neg
negative_ = neg_
not_equal = ne
subtract = sub
subtract_ = sub_


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Any:
    try:
        _bound = (input, wrap_dim(axis0, input.ndim), wrap_dim(axis1, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        raise refuse_bound(_transpose, (input, axis0, axis1), _error) from None
    return _dispatch(_transpose, _bound)
swapdims = transpose
trapz = trapezoid
true_divide = div
true_divide_ = div_
unsafe_chunk = chunk
unsafe_split = split


__all__ = [
    "abs",
    "absolute",
    "add",
    "addcdiv",
    "addcmul",
    "addmm",
    "all",
    "allclose",
    "amax",
    "amin",
    "aminmax",
    "any",
    "arange",
    "arctan2",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "as_strided",
    "atan2",
    "bincount",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "bmm",
    "bucketize",
    "ceil",
    "celu",
    "chunk",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "clone",
    "conv2d",
    "corrcoef",
    "cos",
    "cosine_similarity",
    "count_nonzero",
    "cov",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "detach",
    "diagonal",
    "diff",
    "dist",
    "div",
    "divide",
    "dot",
    "dropout",
    "embedding",
    "empty",
    "empty_like",
    "eq",
    "equal",
    "erf",
    "exp",
    "expand",
    "expand_as",
    "expm1",
    "eye",
    "fix",
    "flatten",
    "flip",
    "floor",
    "floor_divide",
    "fmod",
    "full",
    "full_like",
    "gather",
    "ge",
    "ger",
    "gradient",
    "greater",
    "greater_equal",
    "gt",
    "hardshrink",
    "histc",
    "histogram",
    "index_put",
    "index_select",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "kthvalue",
    "le",
    "lerp",
    "less",
    "less_equal",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log_softmax",
    "logcumsumexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "lt",
    "masked_fill",
    "masked_select",
    "matmul",
    "max",
    "max_pool2d",
    "maximum",
    "mean",
    "median",
    "min",
    "minimum",
    "mm",
    "mode",
    "moveaxis",
    "movedim",
    "msort",
    "mul",
    "multiply",
    "mv",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow",
    "ne",
    "neg",
    "negative",
    "nonzero",
    "norm",
    "not_equal",
    "ones",
    "ones_like",
    "outer",
    "pairwise_distance",
    "pdist",
    "permute",
    "pow",
    "prelu",
    "prod",
    "put",
    "quantile",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "reciprocal",
    "relu",
    "remainder",
    "renorm",
    "repeat",
    "reshape",
    "reshape_as",
    "roll",
    "round",
    "rrelu",
    "rsqrt",
    "searchsorted",
    "select",
    "selu",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "std",
    "std_mean",
    "sub",
    "subtract",
    "sum",
    "sum_to_size",
    "swapaxes",
    "swapdims",
    "t",
    "take",
    "take_along_dim",
    "tan",
    "tanh",
    "threshold",
    "topk",
    "trace",
    "transpose",
    "trapezoid",
    "trapz",
    "tril",
    "triu",
    "true_divide",
    "trunc",
    "unbind",
    "unflatten",
    "unique",
    "unique_consecutive",
    "unsafe_chunk",
    "unsafe_split",
    "unsqueeze",
    "var",
    "var_mean",
    "view",
    "view_as",
    "where",
    "zeros",
    "zeros_like",
]

for _name, _function in list(globals().items()):
    if _name in TABLE:
        _op(_name).call = _op(_name).public = _function
        _function.__gw_op__ = _op(_name)

for _name, _entry in (
    ("swapaxes", _transpose),
):
    globals()[_name].__gw_op__ = _entry
