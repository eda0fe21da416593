"""The op functions: what `ops` means in rules.

Generated from the op table by `python -m graphwright.runtime.ops.generate`; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphwright.runtime.dispatch import dispatch as _dispatch
from graphwright.runtime.ops.normalise import (
    as_pair,
    as_pair_optional,
    as_size,
    as_tensors,
    varargs,
    wrap_dim,
    wrap_dim_optional,
    wrap_dims,
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
_adam_step_ = _op("adam_step_")
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
_any = _op("any")
_arange = _op("arange")
_argmax = _op("argmax")
_argmin = _op("argmin")
_argsort = _op("argsort")
_as_strided = _op("as_strided")
_atan2 = _op("atan2")
_atan2_ = _op("atan2_")
_avg_pool2d = _op("avg_pool2d")
_batch_norm = _op("batch_norm")
_batch_norm_backward = _op("batch_norm_backward")
_batch_norm_train = _op("batch_norm_train")
_binary_cross_entropy = _op("binary_cross_entropy")
_binary_cross_entropy_with_logits = _op("binary_cross_entropy_with_logits")
_bitwise_and = _op("bitwise_and")
_bitwise_and_ = _op("bitwise_and_")
_bitwise_not = _op("bitwise_not")
_bitwise_not_ = _op("bitwise_not_")
_bitwise_or = _op("bitwise_or")
_bitwise_or_ = _op("bitwise_or_")
_bitwise_xor = _op("bitwise_xor")
_bitwise_xor_ = _op("bitwise_xor_")
_bmm = _op("bmm")
_cat = _op("cat")
_ceil = _op("ceil")
_ceil_ = _op("ceil_")
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
_cos = _op("cos")
_cos_ = _op("cos_")
_cross_entropy = _op("cross_entropy")
_cumsum = _op("cumsum")
_detach = _op("detach")
_diagonal = _op("diagonal")
_diagonal_backward = _op("diagonal_backward")
_div = _op("div")
_div_ = _op("div_")
_dot = _op("dot")
_dropout = _op("dropout")
_elu = _op("elu")
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
_ge = _op("ge")
_gelu = _op("gelu")
_gelu_backward = _op("gelu_backward")
_group_norm = _op("group_norm")
_gt = _op("gt")
_hardtanh = _op("hardtanh")
_im2col = _op("im2col")
_index = _op("index")
_index_add = _op("index_add")
_index_add_ = _op("index_add_")
_index_put = _op("index_put")
_index_put_ = _op("index_put_")
_index_select = _op("index_select")
_isclose = _op("isclose")
_isfinite = _op("isfinite")
_isinf = _op("isinf")
_isnan = _op("isnan")
_kl_div = _op("kl_div")
_l1_loss = _op("l1_loss")
_layer_norm = _op("layer_norm")
_layer_norm_backward = _op("layer_norm_backward")
_le = _op("le")
_leaky_relu = _op("leaky_relu")
_lerp = _op("lerp")
_lerp_ = _op("lerp_")
_linear = _op("linear")
_linspace = _op("linspace")
_log = _op("log")
_log1p = _op("log1p")
_log1p_ = _op("log1p_")
_log2 = _op("log2")
_log2_ = _op("log2_")
_log_ = _op("log_")
_log_softmax = _op("log_softmax")
_log_softmax_backward = _op("log_softmax_backward")
_logical_and = _op("logical_and")
_logical_not = _op("logical_not")
_logical_or = _op("logical_or")
_logical_xor = _op("logical_xor")
_logsigmoid = _op("logsigmoid")
_logsumexp = _op("logsumexp")
_lt = _op("lt")
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
_min = _op("min")
_minimum = _op("minimum")
_mm = _op("mm")
_movedim = _op("movedim")
_mse_loss = _op("mse_loss")
_mul = _op("mul")
_mul_ = _op("mul_")
_mv = _op("mv")
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
_permute = _op("permute")
_philox_uniform = _op("philox_uniform")
_pow = _op("pow")
_pow_ = _op("pow_")
_prod = _op("prod")
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
_repeat = _op("repeat")
_reshape = _op("reshape")
_reshape_as = _op("reshape_as")
_rms_norm = _op("rms_norm")
_rng_uniform = _op("rng_uniform")
_roll = _op("roll")
_round = _op("round")
_round_ = _op("round_")
_rsqrt = _op("rsqrt")
_rsqrt_ = _op("rsqrt_")
_scaled_dot_product_attention = _op("scaled_dot_product_attention")
_scatter = _op("scatter")
_scatter_ = _op("scatter_")
_scatter_add = _op("scatter_add")
_scatter_add_ = _op("scatter_add_")
_select = _op("select")
_select_backward = _op("select_backward")
_sgd_step_ = _op("sgd_step_")
_sigmoid = _op("sigmoid")
_sigmoid_ = _op("sigmoid_")
_sign = _op("sign")
_sign_ = _op("sign_")
_silu = _op("silu")
_silu_backward = _op("silu_backward")
_sin = _op("sin")
_sin_ = _op("sin_")
_slice = _op("slice")
_slice_backward = _op("slice_backward")
_smooth_l1_loss = _op("smooth_l1_loss")
_softmax = _op("softmax")
_softmax_backward = _op("softmax_backward")
_softplus = _op("softplus")
_sort = _op("sort")
_split = _op("split")
_sqrt = _op("sqrt")
_sqrt_ = _op("sqrt_")
_square = _op("square")
_squeeze = _op("squeeze")
_stack = _op("stack")
_std = _op("std")
_sub = _op("sub")
_sub_ = _op("sub_")
_sum = _op("sum")
_sum_to_size = _op("sum_to_size")
_t = _op("t")
_tan = _op("tan")
_tan_ = _op("tan_")
_tanh = _op("tanh")
_tanh_ = _op("tanh_")
_to_dtype = _op("to_dtype")
_topk = _op("topk")
_transpose = _op("transpose")
_tril = _op("tril")
_triu = _op("triu")
_trunc = _op("trunc")
_trunc_ = _op("trunc_")
_unbind = _op("unbind")
_unflatten = _op("unflatten")
_uniform_ = _op("uniform_")
_unsqueeze = _op("unsqueeze")
_var = _op("var")
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
    _bound = (input, wrap_dims(dim, input.ndim), keepdim)
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
    _bound = (input, wrap_dims(dim, input.ndim), keepdim)
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
    _bound = (input, wrap_dims(dim, input.ndim), keepdim)
    if out is not None:
        return with_out(_amin, _bound, out)
    return _dispatch(_amin, _bound)


def any(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    _bound = (input, wrap_dims(dim, input.ndim), keepdim)
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
    _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
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
    _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    if out is not None:
        return with_out(_argmin, _bound, out)
    return _dispatch(_argmin, _bound)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return _dispatch(_argsort, (input, wrap_dim(dim, input.ndim), descending, stable))


def as_strided(
    input: Tensor,
    size: int | Sequence[int],
    stride: int | Sequence[int],
    storage_offset: int | None = None,
) -> Any:
    return _dispatch(_as_strided, (input, as_size(size), as_size(stride), storage_offset))


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


def cat(tensors: Sequence[Tensor], dim: int = 0, *, out: Any = None) -> Any:
    _bound = (as_tensors(tensors, "cat"), wrap_dim(dim, tensors[0].ndim))
    if out is not None:
        return with_out(_cat, _bound, out)
    return _dispatch(_cat, _bound)


def ceil(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_ceil, _bound, out)
    return _dispatch(_ceil, _bound)


def ceil_(input: Tensor) -> Any:
    return _dispatch(_ceil_, (input,))


def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    return _dispatch(_chunk, (input, chunks, wrap_dim(dim, input.ndim)))


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


def cos(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_cos, _bound, out)
    return _dispatch(_cos, _bound)


def cos_(input: Tensor) -> Any:
    return _dispatch(_cos_, (input,))


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


def cumsum(input: Tensor, dim: int, *, dtype: DType | None = None, out: Any = None) -> Any:
    _bound = (input, wrap_dim(dim, input.ndim), dtype)
    if out is not None:
        return with_out(_cumsum, _bound, out)
    return _dispatch(_cumsum, _bound)


def detach(input: Tensor) -> Any:
    return _dispatch(_detach, (input,))


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return _dispatch(
        _diagonal, (input, offset, wrap_dim(dim1, input.ndim), wrap_dim(dim2, input.ndim))
    )


def diagonal_backward(
    grad: Tensor,
    size: int | Sequence[int],
    offset: int,
    dim1: int,
    dim2: int,
) -> Any:
    return _dispatch(_diagonal_backward, (grad, as_size(size), offset, dim1, dim2))


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
    return _dispatch(
        _flatten, (input, wrap_dim(start_dim, input.ndim), wrap_dim(end_dim, input.ndim))
    )


def flip(input: Tensor, dims: int | Sequence[int] | None) -> Any:
    return _dispatch(_flip, (input, wrap_dims(dims, input.ndim)))


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


def gather(input: Tensor, dim: int, index: Tensor, *, out: Any = None) -> Any:
    _bound = (input, wrap_dim(dim, input.ndim), index)
    if out is not None:
        return with_out(_gather, _bound, out)
    return _dispatch(_gather, _bound)


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


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    return _dispatch(_hardtanh, (input, min_val, max_val))


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


def index_add(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: float = 1,
    out: Any = None,
) -> Any:
    _bound = (input, wrap_dim(dim, input.ndim), index, source, alpha)
    if out is not None:
        return with_out(_index_add, _bound, out)
    return _dispatch(_index_add, _bound)


def index_add_(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Any:
    return _dispatch(_index_add_, (input, wrap_dim(dim, input.ndim), index, source, alpha))


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
    _bound = (input, wrap_dim(dim, input.ndim), index)
    if out is not None:
        return with_out(_index_select, _bound, out)
    return _dispatch(_index_select, _bound)


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


def lerp(input: Tensor, end: Tensor, weight: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, end, weight)
    if out is not None:
        return with_out(_lerp, _bound, out)
    return _dispatch(_lerp, _bound)


def lerp_(input: Tensor, end: Tensor, weight: Tensor | float) -> Any:
    return _dispatch(_lerp_, (input, end, weight))


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
    _bound = (input, wrap_dim(dim, input.ndim), dtype)
    if out is not None:
        return with_out(_log_softmax, _bound, out)
    return _dispatch(_log_softmax, _bound)


def log_softmax_backward(grad: Tensor, out: Tensor, dim: int) -> Any:
    return _dispatch(_log_softmax_backward, (grad, out, dim))


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
    _bound = (input, wrap_dims(dim, input.ndim), keepdim)
    if out is not None:
        return with_out(_logsumexp, _bound, out)
    return _dispatch(_logsumexp, _bound)


def lt(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_lt, _bound, out)
    return _dispatch(_lt, _bound)


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
    _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    if out is not None:
        return with_out(_mean, _bound, out)
    return _dispatch(_mean, _bound)


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


def mm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Any:
    _bound = (input, mat2)
    if out is not None:
        return with_out(_mm, _bound, out)
    return _dispatch(_mm, _bound)


def movedim(input: Tensor, source: Any, destination: Any) -> Any:
    return _dispatch(_movedim, (input, source, destination))


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    return _dispatch(_mse_loss, (input, target, reduction))


def mul(input: Tensor | float, other: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, other)
    if out is not None:
        return with_out(_mul, _bound, out)
    return _dispatch(_mul, _bound)


def mul_(input: Tensor, other: Tensor | float) -> Any:
    return _dispatch(_mul_, (input, other))


def mv(input: Tensor, vec: Tensor, *, out: Any = None) -> Any:
    _bound = (input, vec)
    if out is not None:
        return with_out(_mv, _bound, out)
    return _dispatch(_mv, _bound)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Any:
    return _dispatch(_narrow, (input, wrap_dim(dim, input.ndim), start, length))


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


def nonzero(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_nonzero, _bound, out)
    return _dispatch(_nonzero, _bound)


def norm(
    input: Tensor,
    p: Any = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Any = None,
) -> Any:
    _bound = (input, p, wrap_dims(dim, input.ndim), keepdim)
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


def permute(input: Tensor, dims: Sequence[int]) -> Any:
    return _dispatch(_permute, (input, wrap_permutation(dims, input.ndim)))


def philox_uniform(
    size: int | Sequence[int],
    dtype: DType,
    device: Device | str | None,
    seed: int,
    offset: int,
) -> Any:
    return _dispatch(_philox_uniform, (as_size(size), dtype, device, seed, offset))


def pow(input: Tensor | float, exponent: Tensor | float, *, out: Any = None) -> Any:
    _bound = (input, exponent)
    if out is not None:
        return with_out(_pow, _bound, out)
    return _dispatch(_pow, _bound)


def pow_(input: Tensor, exponent: Tensor | float) -> Any:
    return _dispatch(_pow_, (input, exponent))


def prod(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
    _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    if out is not None:
        return with_out(_prod, _bound, out)
    return _dispatch(_prod, _bound)


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


def rng_uniform(
    size: int | Sequence[int],
    dtype: DType,
    device: Device | str | None,
    rng_index: int,
) -> Any:
    return _dispatch(_rng_uniform, (as_size(size), dtype, device, rng_index))


def roll(input: Tensor, shifts: int, dim: int) -> Any:
    return _dispatch(_roll, (input, shifts, wrap_dim(dim, input.ndim)))


def round(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_round, _bound, out)
    return _dispatch(_round, _bound)


def round_(input: Tensor) -> Any:
    return _dispatch(_round_, (input,))


def rsqrt(input: Tensor, *, out: Any = None) -> Any:
    _bound = (input,)
    if out is not None:
        return with_out(_rsqrt, _bound, out)
    return _dispatch(_rsqrt, _bound)


def rsqrt_(input: Tensor) -> Any:
    return _dispatch(_rsqrt_, (input,))


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


def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | float,
    *,
    out: Any = None,
) -> Any:
    _bound = (input, wrap_dim(dim, input.ndim), index, src)
    if out is not None:
        return with_out(_scatter, _bound, out)
    return _dispatch(_scatter, _bound)


def scatter_(input: Tensor, dim: int, index: Tensor, src: Tensor | float) -> Any:
    return _dispatch(_scatter_, (input, wrap_dim(dim, input.ndim), index, src))


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Any = None) -> Any:
    _bound = (input, wrap_dim(dim, input.ndim), index, src)
    if out is not None:
        return with_out(_scatter_add, _bound, out)
    return _dispatch(_scatter_add, _bound)


def scatter_add_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
    return _dispatch(_scatter_add_, (input, wrap_dim(dim, input.ndim), index, src))


def select(input: Tensor, dim: int, index: int) -> Any:
    return _dispatch(_select, (input, wrap_dim(dim, input.ndim), index))


def select_backward(grad: Tensor, size: int | Sequence[int], dim: int, index: Any) -> Any:
    return _dispatch(_select_backward, (grad, as_size(size), dim, index))


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
    return _dispatch(_slice, (input, wrap_dim(dim, input.ndim), start, end, step))


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


def softmax(input: Tensor, dim: int, dtype: DType | None = None, *, out: Any = None) -> Any:
    _bound = (input, wrap_dim(dim, input.ndim), dtype)
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


def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: bool = False,
    *,
    out: Any = None,
) -> Any:
    _bound = (input, wrap_dim(dim, input.ndim), descending, stable)
    if out is not None:
        return with_out(_sort, _bound, out)
    return _dispatch(_sort, _bound)


def split(input: Tensor, split_size: Any, dim: int = 0) -> Any:
    return _dispatch(_split, (input, split_size, wrap_dim(dim, input.ndim)))


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
    return _dispatch(_squeeze, (input, wrap_dims(dim, input.ndim)))


def stack(tensors: Sequence[Tensor], dim: int = 0, *, out: Any = None) -> Any:
    _bound = (as_tensors(tensors, "stack"), wrap_dim(dim, tensors[0].ndim + 1))
    if out is not None:
        return with_out(_stack, _bound, out)
    return _dispatch(_stack, _bound)


def std(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    correction: float = 1,
    keepdim: bool = False,
    out: Any = None,
) -> Any:
    _bound = (input, wrap_dims(dim, input.ndim), correction, keepdim)
    if out is not None:
        return with_out(_std, _bound, out)
    return _dispatch(_std, _bound)


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
    _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    if out is not None:
        return with_out(_sum, _bound, out)
    return _dispatch(_sum, _bound)


def sum_to_size(input: Tensor, size: int | Sequence[int]) -> Any:
    return _dispatch(_sum_to_size, (input, as_size(size)))


def t(input: Tensor) -> Any:
    return _dispatch(_t, (input,))


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
    _bound = (input, k, wrap_dim(dim, input.ndim), largest, sorted)
    if out is not None:
        return with_out(_topk, _bound, out)
    return _dispatch(_topk, _bound)


def transpose(input: Tensor, dim0: int, dim1: int) -> Any:
    return _dispatch(_transpose, (input, wrap_dim(dim0, input.ndim), wrap_dim(dim1, input.ndim)))


def tril(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Any:
    _bound = (input, diagonal)
    if out is not None:
        return with_out(_tril, _bound, out)
    return _dispatch(_tril, _bound)


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
    return _dispatch(_unbind, (input, wrap_dim(dim, input.ndim)))


def unflatten(input: Tensor, dim: int, sizes: int | Sequence[int]) -> Any:
    return _dispatch(_unflatten, (input, wrap_dim(dim, input.ndim), as_size(sizes)))


def uniform_(input: Tensor, low: float = 0.0, high: float = 1.0) -> Any:
    return _dispatch(_uniform_, (input, low, high))


def unsqueeze(input: Tensor, dim: int) -> Any:
    return _dispatch(_unsqueeze, (input, wrap_dim(dim, input.ndim + 1)))


def var(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    *,
    correction: float = 1,
    keepdim: bool = False,
    out: Any = None,
) -> Any:
    _bound = (input, wrap_dims(dim, input.ndim), correction, keepdim)
    if out is not None:
        return with_out(_var, _bound, out)
    return _dispatch(_var, _bound)


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
concat = cat
concatenate = cat
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
    return _dispatch(_transpose, (input, wrap_dim(axis0, input.ndim), wrap_dim(axis1, input.ndim)))
swapdims = transpose
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
    "any",
    "arange",
    "arctan2",
    "argmax",
    "argmin",
    "argsort",
    "as_strided",
    "atan2",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "bmm",
    "cat",
    "ceil",
    "chunk",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "clone",
    "concat",
    "concatenate",
    "conv2d",
    "cos",
    "cumsum",
    "detach",
    "diagonal",
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
    "greater",
    "greater_equal",
    "gt",
    "index_add",
    "index_put",
    "index_select",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "lerp",
    "less",
    "less_equal",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log_softmax",
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
    "min",
    "minimum",
    "mm",
    "moveaxis",
    "movedim",
    "mul",
    "multiply",
    "mv",
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
    "permute",
    "pow",
    "prod",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "reciprocal",
    "relu",
    "remainder",
    "repeat",
    "reshape",
    "reshape_as",
    "roll",
    "round",
    "rsqrt",
    "scatter",
    "scatter_add",
    "select",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "sub",
    "subtract",
    "sum",
    "sum_to_size",
    "swapaxes",
    "swapdims",
    "t",
    "tan",
    "tanh",
    "topk",
    "transpose",
    "tril",
    "triu",
    "true_divide",
    "trunc",
    "unbind",
    "unflatten",
    "unsafe_chunk",
    "unsafe_split",
    "unsqueeze",
    "var",
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
