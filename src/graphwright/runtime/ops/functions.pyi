"""The op functions. Written by tools/stubs.py; do not edit."""

from builtins import bool as _bool
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence
from typing import Any, overload

from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops import return_types
from graphwright.runtime.tensor.device import device as _Device
from graphwright.runtime.tensor.dtypes import dtype as _DType
from graphwright.runtime.tensor.generator import Generator as _Generator
from graphwright.runtime.tensor.memory_format import layout as _Layout
from graphwright.runtime.tensor.memory_format import memory_format as _MemoryFormat
from graphwright.runtime.tensor.tensor import Tensor

_Number = _int | _float | _complex | _bool
_Dims = _int | Sequence[_int]
def _scaled_mm(
    input: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: _DType | None = None,
    use_fast_accum: _bool = False,
) -> Tensor: ...
def _unsafe_view(input: Tensor, size: Sequence[_int]) -> Tensor: ...
def abs(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def abs_(input: Tensor) -> Tensor: ...
def acos(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def acos_(input: Tensor) -> Tensor: ...
def acosh(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def acosh_(input: Tensor) -> Tensor: ...
def adadelta_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    square_avg: Tensor,
    acc_delta: Tensor,
    lr: _float,
    rho: _float,
    eps: _float,
    weight_decay: _float,
    maximize: _bool,
) -> Tensor: ...
def adagrad_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    total: Tensor,
    lr: _float,
    lr_decay: _float,
    eps: _float,
    weight_decay: _float,
    maximize: _bool,
) -> Tensor: ...
def adam_step_(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    max_exp_avg_sq: Tensor | None,
    step: Tensor,
    lr: _float,
    beta1: _float,
    beta2: _float,
    eps: _float,
    weight_decay: _float,
    maximize: _bool,
    decoupled: _bool,
) -> Tensor: ...
def adamax_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    exp_avg: Tensor,
    exp_inf: Tensor,
    lr: _float,
    beta1: _float,
    beta2: _float,
    eps: _float,
    weight_decay: _float,
    maximize: _bool,
) -> Tensor: ...
def adaptive_avg_pool(input: Tensor, output_size: Sequence[_int]) -> Tensor: ...
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor: ...
def adaptive_avg_pool2d(input: Tensor, output_size: _int | Sequence[_int | None]) -> Tensor: ...
def adaptive_avg_pool3d(input: Tensor, output_size: _int | Sequence[_int | None]) -> Tensor: ...
def adaptive_avg_pool_backward(grad: Tensor, input_size: Sequence[_int], ndim: _int) -> Tensor: ...
def adaptive_max_pool(input: Tensor, output_size: Sequence[_int]) -> tuple[Tensor, Tensor]: ...
def adaptive_max_pool1d(
    input: Tensor,
    output_size: _int | Sequence[_int],
) -> tuple[Tensor, Tensor]: ...
def adaptive_max_pool2d(
    input: Tensor,
    output_size: _int | Sequence[_int | None],
) -> tuple[Tensor, Tensor]: ...
def adaptive_max_pool3d(
    input: Tensor,
    output_size: _int | Sequence[_int | None],
) -> tuple[Tensor, Tensor]: ...
def add(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    alpha: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def add_(input: Tensor, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor: ...
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def addbmm_(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
) -> Tensor: ...
def addcdiv(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def addcdiv_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Tensor: ...
def addcmul(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def addcmul_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _Number = 1) -> Tensor: ...
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def addmm_(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
) -> Tensor: ...
def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def addmv_(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
) -> Tensor: ...
def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def addr_(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
) -> Tensor: ...
def adjoint(input: Tensor) -> Tensor: ...
def affine_grid_generator(theta: Tensor, size: Sequence[_int], align_corners: _bool) -> Tensor: ...
def alias(input: Tensor) -> Tensor: ...
def alias_copy(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def all(
    input: Tensor,
    dim: _Dims | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
) -> _bool: ...
def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def amax(
    input: Tensor,
    dim: _Dims | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def amin(
    input: Tensor,
    dim: _Dims | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def aminmax(
    input: Tensor,
    *,
    dim: _int | None = None,
    keepdim: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.aminmax: ...
def angle(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def any(
    input: Tensor,
    dim: _Dims | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def arange(
    start: _Number | None = None,
    end: _Number | None = None,
    step: _Number = 1,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def argmax(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def argmin(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def argsort(
    input: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    stable: _bool = False,
) -> Tensor: ...
def argwhere(input: Tensor) -> Tensor: ...
def as_strided(
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor: ...
def as_strided_copy(
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor: ...
def asgd_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    average: Tensor,
    eta: Tensor,
    mu: Tensor,
    lr: _float,
    lambd: _float,
    alpha: _float,
    t0: _float,
    weight_decay: _float,
    maximize: _bool,
) -> Tensor: ...
def asin(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def asin_(input: Tensor) -> Tensor: ...
def asinh(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def asinh_(input: Tensor) -> Tensor: ...
def atan(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def atan2(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def atan2_(input: Tensor, other: Tensor) -> Tensor: ...
def atan_(input: Tensor) -> Tensor: ...
def atanh(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def atanh_(input: Tensor) -> Tensor: ...
def atleast_1d(input: Tensor) -> tuple[Tensor, ...]: ...
def atleast_2d(input: Tensor) -> Tensor: ...
def atleast_3d(input: Tensor) -> Tensor: ...
def attention_backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    out: Tensor,
    levels: Tensor,
    is_causal: _bool,
    scale: _float,
) -> tuple[Tensor, ...]: ...
def avg_pool(
    input: Tensor,
    kernel_size: Sequence[_int],
    stride: Sequence[_int],
    padding: Sequence[_int],
    ceil_mode: _bool,
    count_include_pad: _bool,
    divisor_override: Any,
) -> Tensor: ...
def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor: ...
def avg_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def avg_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def avg_pool_backward(
    grad: Tensor,
    input_size: Sequence[_int],
    kernel_size: Sequence[_int],
    stride: Sequence[_int],
    padding: Sequence[_int],
    ceil_mode: _bool,
    count_include_pad: _bool,
    divisor_override: Any,
) -> Tensor: ...
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def baddbmm_(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: _Number = 1,
    alpha: _Number = 1,
) -> Tensor: ...
def bartlett_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
) -> Tensor: ...
def batch_norm_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
) -> tuple[Tensor, Tensor, Tensor]: ...
def batch_norm_train(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]: ...
def bernoulli(
    input: Tensor,
    p: _float | None = None,
    *,
    generator: _Generator | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: _Generator | None = None) -> Tensor: ...
def bilinear(
    input1: Tensor,
    input2: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
) -> Tensor: ...
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: _str = 'mean',
) -> Tensor: ...
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: _str = 'mean',
) -> Tensor: ...
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor: ...
def binomial(count: Tensor, prob: Tensor, generator: _Generator | None = None) -> Tensor: ...
def bitwise_and(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def bitwise_and_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def bitwise_left_shift(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def bitwise_left_shift_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def bitwise_not(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def bitwise_not_(input: Tensor) -> Tensor: ...
def bitwise_or(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def bitwise_or_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def bitwise_right_shift(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def bitwise_right_shift_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def bitwise_xor(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def bitwise_xor_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def blackman_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def block_diag(tensors: Sequence[Tensor]) -> Tensor: ...
def bmm(
    input: Tensor,
    mat2: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def broadcast_matmul(input: Tensor, other: Tensor) -> Tensor: ...
def broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
def broadcast_to(input: Tensor, size: Sequence[_int]) -> Tensor: ...
def bucketize(
    input: Tensor | _Number,
    boundaries: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def cartesian_prod(tensors: Sequence[Tensor]) -> Tensor: ...
def cat(
    tensors: Sequence[Tensor],
    dim: _int = 0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def cauchy_(
    input: Tensor,
    median: _float = 0.0,
    sigma: _float = 1.0,
    *,
    generator: _Generator | None = None,
) -> Tensor: ...
def cdist(x1: Tensor, x2: Tensor, p: _float = 2.0, compute_mode: _str | None = None) -> Tensor: ...
def ceil(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def ceil_(input: Tensor) -> Tensor: ...
def celu(input: Tensor, alpha: _float = 1.0) -> Tensor: ...
def celu_(input: Tensor, alpha: _float = 1.0) -> Tensor: ...
def celu_backward(grad: Tensor, input: Tensor, alpha: _float) -> Tensor: ...
def chain_matmul(*matrices: Any) -> Tensor: ...
def channel_shuffle(input: Tensor, groups: _int) -> Tensor: ...
def cholesky(
    input: Tensor,
    upper: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def cholesky_factor(A: Tensor) -> Tensor: ...
def cholesky_inverse(
    L: Tensor,
    upper: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def cholesky_solve(
    B: Tensor,
    L: Tensor,
    upper: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
def clamp(
    input: Tensor,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def clamp_(
    input: Tensor,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
) -> Tensor: ...
def clamp_max(
    input: Tensor,
    max: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def clamp_max_(input: Tensor, max: Tensor | _Number) -> Tensor: ...
def clamp_min(
    input: Tensor,
    min: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def clamp_min_(input: Tensor, min: Tensor | _Number) -> Tensor: ...
def clone(input: Tensor, *, memory_format: _MemoryFormat | None = None) -> Tensor: ...
def cofactors(A: Tensor) -> Tensor: ...
def cofactors_backward(grad: Tensor, A: Tensor) -> Tensor: ...
def col2im(
    input: Tensor,
    output_size: _int | Sequence[_int],
    kernel_size: _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    stride: _int | Sequence[_int],
) -> Tensor: ...
def column_stack(
    tensors: Sequence[Tensor],
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor: ...
def complex(
    real: Tensor,
    imag: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def conj(input: Tensor) -> Tensor: ...
def conj_physical(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def conj_physical_(input: Tensor) -> Tensor: ...
def conjugated(input: Tensor) -> Tensor: ...
def constant_pad(input: Tensor, pad: Sequence[_int], value: _Number = 0) -> Tensor: ...
def constant_pad_nd(input: Tensor, pad: Sequence[_int], value: _Number = 0) -> Tensor: ...
def contiguous(input: Tensor) -> Tensor: ...
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] | _str = 0,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor: ...
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] | _str = 0,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor: ...
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] | _str = 0,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor: ...
def conv_input_grad(
    grad: Tensor,
    weight: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
    groups: _int,
) -> Tensor: ...
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] = 0,
    output_padding: _int | Sequence[_int] = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = 1,
) -> Tensor: ...
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] = 0,
    output_padding: _int | Sequence[_int] = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = 1,
) -> Tensor: ...
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] = 0,
    output_padding: _int | Sequence[_int] = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = 1,
) -> Tensor: ...
def conv_weight_grad(
    grad: Tensor,
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
    groups: _int,
) -> Tensor: ...
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
    transposed: _bool,
    output_padding: Sequence[_int],
    groups: _int,
) -> Tensor: ...
def copy(input: Tensor, src: Tensor) -> Tensor: ...
def copy_(input: Tensor, src: Tensor) -> Tensor: ...
def copysign(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def copysign_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def corrcoef(input: Tensor) -> Tensor: ...
def cos(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def cos_(input: Tensor) -> Tensor: ...
def cosh(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def cosh_(input: Tensor) -> Tensor: ...
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0.0,
    reduction: _str = 'mean',
) -> Tensor: ...
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor: ...
def count_nonzero(input: Tensor, dim: _Dims | None = None) -> Tensor: ...
def cov(
    input: Tensor,
    *,
    correction: _int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor: ...
def cross(
    input: Tensor,
    other: Tensor,
    dim: _int | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: _int = -100,
    reduction: _str = 'mean',
    label_smoothing: _float = 0.0,
) -> Tensor: ...
def ctc_loss_parts(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: _int,
) -> tuple[Tensor, Tensor]: ...
def cummax(
    input: Tensor,
    dim: _int,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.cummax: ...
def cummin(
    input: Tensor,
    dim: _int,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.cummin: ...
def cumprod(
    input: Tensor,
    dim: _int,
    *,
    dtype: _DType | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def cumprod_(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor: ...
def cumsum(
    input: Tensor,
    dim: _int,
    *,
    dtype: _DType | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def cumsum_(input: Tensor, dim: _int, *, dtype: _DType | None = None) -> Tensor: ...
def cumulative_trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: _Number | None = None,
    dim: _int = -1,
) -> Tensor: ...
def deg2rad(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def deg2rad_(input: Tensor) -> Tensor: ...
def det(input: Tensor) -> Tensor: ...
def detach(input: Tensor) -> Tensor: ...
def detach_copy(input: Tensor) -> Tensor: ...
def deviation(
    input: Tensor,
    dim: _Dims | None = None,
    correction: _Number = 1,
    keepdim: _bool = False,
) -> Tensor: ...
def diag(
    input: Tensor,
    diagonal: _int = 0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor: ...
def diagflat(input: Tensor, offset: _int = 0) -> Tensor: ...
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor: ...
def diagonal_backward(
    grad: Tensor,
    size: Sequence[_int],
    offset: _int,
    dim1: _int,
    dim2: _int,
) -> Tensor: ...
def diagonal_copy(
    input: Tensor,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def diagonal_scatter(
    input: Tensor,
    src: Tensor,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
) -> Tensor: ...
def diff(
    input: Tensor,
    n: _int = 1,
    dim: _int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def digamma(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def digamma_(input: Tensor) -> Tensor: ...
def dist(input: Tensor, other: Tensor, p: _Number = 2) -> Tensor: ...
def div(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    rounding_mode: _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def div_(
    input: Tensor,
    other: Tensor | _Number,
    *,
    rounding_mode: _str | None = None,
) -> Tensor: ...
def dot(
    input: Tensor,
    tensor: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def dsplit(
    input: Tensor,
    indices_or_sections: _int | Sequence[_int] | None = None,
    *,
    sections: _int | Sequence[_int] | None = None,
    indices: _int | Sequence[_int] | None = None,
) -> tuple[Tensor, ...]: ...
def dstack(
    tensors: Sequence[Tensor],
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def einsum(equation: Any, *operands: Any) -> Tensor: ...
def einsum_nest(operands: Sequence[Tensor], equation: Any) -> Tensor: ...
def elu(input: Tensor, alpha: _float = 1.0) -> Tensor: ...
def elu_(input: Tensor, alpha: _float = 1.0) -> Tensor: ...
def elu_backward(grad: Tensor, input: Tensor, alpha: _float) -> Tensor: ...
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: _int = -1,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
) -> Tensor: ...
def embedding_backward(
    grad: Tensor,
    indices: Tensor,
    rows: _int,
    padding_idx: _int,
    scale_grad_by_freq: _bool,
) -> Tensor: ...
def embedding_bag_parts(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    per_sample_weights: Tensor | None,
    mode: _str,
    padding_idx: _int,
    scale_grad_by_freq: _bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def embedding_renorm_(
    weight: Tensor,
    indices: Tensor,
    max_norm: _float,
    norm_type: _float,
) -> Tensor: ...
def empty(
    *size: _int | Sequence[_int],
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    memory_format: _MemoryFormat | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def empty_like(
    input: Tensor,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    memory_format: _MemoryFormat | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def empty_permuted(
    size: Sequence[_int],
    physical_layout: Sequence[_int],
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def empty_strided(
    size: Sequence[_int],
    stride: Sequence[_int],
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def eq(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def eq_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def equal(input: Tensor, other: Tensor) -> _bool: ...
def erf(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def erf_(input: Tensor) -> Tensor: ...
def erfc(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def erfc_(input: Tensor) -> Tensor: ...
def erfinv(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def erfinv_(input: Tensor) -> Tensor: ...
def exp(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def exp2(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def exp2_(input: Tensor) -> Tensor: ...
def exp_(input: Tensor) -> Tensor: ...
def expand(input: Tensor, size: Sequence[_int]) -> Tensor: ...
def expand_as(input: Tensor, other: Tensor) -> Tensor: ...
def expand_copy(
    input: Tensor,
    size: Sequence[_int],
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def expm1(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def expm1_(input: Tensor) -> Tensor: ...
def exponential_(
    input: Tensor,
    lambd: _float = 1.0,
    *,
    generator: _Generator | None = None,
) -> Tensor: ...
def eye(
    n: _int,
    m: _int | None = None,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def fft_c2c(
    input: Tensor,
    dims: Any,
    scale: _float,
    forward: _bool,
    inner: Any = (),
) -> Tensor: ...
def fft_c2r(input: Tensor, dim: _int, size: _int, scale: _float) -> Tensor: ...
def fft_fft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_fft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = (-2, -1),
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_fftfreq(
    n: _int,
    d: _float = 1.0,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def fft_fftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_fftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor: ...
def fft_hfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_hfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = (-2, -1),
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_hfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_ifft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_ifft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = (-2, -1),
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_ifftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_ifftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor: ...
def fft_ihfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_ihfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = (-2, -1),
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_ihfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_irfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_irfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = (-2, -1),
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_irfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_r2c(input: Tensor, dim: _int, scale: _float) -> Tensor: ...
def fft_rfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_rfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = (-2, -1),
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fft_rfftfreq(
    n: _int,
    d: _float = 1.0,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def fft_rfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fill(input: Tensor, value: Tensor | _Number) -> Tensor: ...
def fill_(input: Tensor, value: Tensor | _Number) -> Tensor: ...
def fill_diagonal_(input: Tensor, fill_value: _Number, wrap: _bool = False) -> Tensor: ...
def first_bad_minor(A: Tensor) -> Tensor: ...
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor: ...
def flip(input: Tensor, dims: Sequence[_int]) -> Tensor: ...
def fliplr(input: Tensor) -> Tensor: ...
def flipud(input: Tensor) -> Tensor: ...
def float_power(
    input: Tensor | _Number,
    exponent: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def float_power_(input: Tensor, exponent: Tensor | _Number) -> Tensor: ...
def floor(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def floor_(input: Tensor) -> Tensor: ...
def floor_divide(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def floor_divide_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def fmax(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fmin(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fmod(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def fmod_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def frac(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def frac_(input: Tensor) -> Tensor: ...
def fractional_max_pool(
    input: Tensor,
    samples: Tensor,
    kernel_size: Sequence[_int],
    output_size: Sequence[_int],
) -> tuple[Tensor, Tensor]: ...
def frexp(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.frexp: ...
def frexp_parts(input: Tensor) -> tuple[Tensor, Tensor]: ...
def full(
    size: Sequence[_int],
    fill_value: _Number,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def full_like(
    input: Tensor,
    fill_value: _Number,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    memory_format: _MemoryFormat | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def fused_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    is_causal: _bool,
    scale: _float,
) -> tuple[Tensor, Tensor]: ...
def gated(input: Tensor, gate: Tensor) -> Tensor: ...
def gather(
    input: Tensor,
    dim: _int,
    index: Tensor,
    *,
    sparse_grad: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor,
    full: _bool = False,
    eps: _float = 1e-06,
    reduction: _str = 'mean',
) -> Tensor: ...
def gcd(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def gcd_(input: Tensor, other: Tensor) -> Tensor: ...
def ge(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def ge_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def gelu(
    input: Tensor,
    *,
    approximate: _str = 'none',
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def gelu_backward(grad: Tensor, input: Tensor, approximate: _str) -> Tensor: ...
def general_eigen(A: Tensor) -> tuple[Tensor, Tensor]: ...
def geometric_(input: Tensor, p: _float, *, generator: _Generator | None = None) -> Tensor: ...
def geqrf(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.geqrf: ...
def glu(input: Tensor, dim: _int = -1) -> Tensor: ...
def gradient(
    input: Tensor,
    *,
    spacing: Any = None,
    dim: _int | Sequence[_int] | None = None,
    edge_order: _int = 1,
) -> tuple[Tensor, ...]: ...
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: _str,
    padding_mode: _str,
    align_corners: _bool,
) -> Tensor: ...
def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor: ...
def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor: ...
def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor: ...
def group_norm(
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
) -> Tensor: ...
def group_norm_backward(
    grad: Tensor,
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]: ...
def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: _DType | None = None,
) -> Tensor: ...
def grouped_product(
    mat_a: Tensor,
    mat_b: Tensor,
    offs: Tensor | None,
    columns_a: _bool = False,
    columns_b: _bool = False,
) -> Tensor: ...
def gt(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def gt_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def hamming_window(
    window_length: _int,
    periodic: _bool = True,
    alpha: _float = 0.54,
    beta: _float = 0.46,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def hann_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def hardshrink(
    input: Tensor,
    lambd: _float = 0.5,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def hardshrink_backward(grad: Tensor, input: Tensor, lambd: _float) -> Tensor: ...
def hardsigmoid(input: Tensor) -> Tensor: ...
def hardsigmoid_(input: Tensor) -> Tensor: ...
def hardsigmoid_backward(grad: Tensor, input: Tensor) -> Tensor: ...
def hardswish(input: Tensor) -> Tensor: ...
def hardswish_(input: Tensor) -> Tensor: ...
def hardswish_backward(grad: Tensor, input: Tensor) -> Tensor: ...
def hardtanh(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor: ...
def hardtanh_(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor: ...
def hardtanh_backward(grad: Tensor, input: Tensor, min_val: _float, max_val: _float) -> Tensor: ...
def heaviside(
    input: Tensor,
    values: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def heaviside_(input: Tensor, values: Tensor) -> Tensor: ...
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: _float = 1.0,
    reduction: _str = 'mean',
) -> Tensor: ...
def histc(
    input: Tensor,
    bins: _int = 100,
    min: _Number = 0,
    max: _Number = 0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.histogram: ...
def histogram_counts(
    input: Tensor,
    edges: Tensor,
    weight: Tensor | None,
    density: _bool,
) -> Tensor: ...
def histogram_edges(input: Tensor, bins: _int, range: Any) -> Tensor: ...
def histogramdd(
    input: Tensor,
    bins: Any,
    range: Any = None,
    weight: Tensor | None = None,
    density: _bool = False,
) -> return_types.histogramdd: ...
def histogramdd_counts(
    input: Tensor,
    edges: Sequence[Tensor],
    weight: Tensor | None,
) -> Tensor: ...
def hsplit(
    input: Tensor,
    indices_or_sections: _int | Sequence[_int] | None = None,
    *,
    sections: _int | Sequence[_int] | None = None,
    indices: _int | Sequence[_int] | None = None,
) -> tuple[Tensor, ...]: ...
def hstack(
    tensors: Sequence[Tensor],
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: _str = 'mean',
    delta: _float = 1.0,
) -> Tensor: ...
def hypot(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def hypot_(input: Tensor, other: Tensor) -> Tensor: ...
def i0(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def i0_(input: Tensor) -> Tensor: ...
def igamma(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def igamma_(input: Tensor, other: Tensor) -> Tensor: ...
def igammac(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def igammac_(input: Tensor, other: Tensor) -> Tensor: ...
def im2col(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    stride: _int | Sequence[_int],
) -> Tensor: ...
def imag(input: Tensor) -> Tensor: ...
def index(input: Tensor, indices: Sequence[Tensor | None]) -> Tensor: ...
def index_add(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def index_add_(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: _Number = 1,
) -> Tensor: ...
def index_copy(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def index_copy_(input: Tensor, dim: _int, index: Tensor, source: Tensor) -> Tensor: ...
def index_fill(input: Tensor, dim: _int, index: Tensor, value: Tensor | _Number) -> Tensor: ...
def index_fill_(input: Tensor, dim: _int, index: Tensor, value: Tensor | _Number) -> Tensor: ...
def index_put(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: _bool = False,
) -> Tensor: ...
def index_put_(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: _bool = False,
) -> Tensor: ...
def index_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    reduce: _str,
    *,
    include_self: _bool = True,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def index_reduce_(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    reduce: _str,
    *,
    include_self: _bool = True,
) -> Tensor: ...
def index_select(
    input: Tensor,
    dim: _int,
    index: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def inner(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: _bool,
    momentum: _float,
    eps: _float,
) -> Tensor: ...
def interpolate(
    input: Tensor,
    size: Sequence[_int],
    mode: _str,
    align_corners: _bool,
    scale_factors: Any,
    antialias: _bool,
) -> Tensor: ...
def inverse(input: Tensor) -> Tensor: ...
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
) -> Tensor: ...
def isfinite(input: Tensor) -> Tensor: ...
def isin(
    elements: Tensor | _Number,
    test_elements: Tensor | _Number,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def isinf(input: Tensor) -> Tensor: ...
def isnan(input: Tensor) -> Tensor: ...
def isneginf(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def isposinf(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def isreal(input: Tensor) -> Tensor: ...
def istft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    normalized: _bool = False,
    onesided: Any = None,
    length: _int | None = None,
    return_complex: _bool = False,
) -> Tensor: ...
def kaiser_window(
    window_length: _int,
    periodic: _bool = True,
    beta: _float = 12.0,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def kl_div(
    input: Tensor,
    target: Tensor,
    reduction: _str = 'mean',
    log_target: _bool = False,
) -> Tensor: ...
def kron(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def kth_position(input: Tensor, k: _int, dim: _int) -> Tensor: ...
def kthvalue(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.kthvalue: ...
def l1_loss(input: Tensor, target: Tensor, reduction: _str = 'mean') -> Tensor: ...
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
) -> Tensor: ...
def layer_norm_backward(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
) -> Tensor: ...
def layer_norm_gradients(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
) -> tuple[Tensor, Tensor, Tensor]: ...
def lcm(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def lcm_(input: Tensor, other: Tensor) -> Tensor: ...
def ldexp(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def ldexp_(input: Tensor, other: Tensor) -> Tensor: ...
def ldl_factors(A: Tensor, hermitian: _bool, strict: _bool) -> tuple[Tensor, Tensor, Tensor]: ...
def le(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def le_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def leaky_relu(input: Tensor, negative_slope: _float = 0.01) -> Tensor: ...
def leaky_relu_(input: Tensor, negative_slope: _float = 0.01) -> Tensor: ...
def leaky_relu_backward(grad: Tensor, input: Tensor, negative_slope: _float) -> Tensor: ...
def lerp(
    input: Tensor,
    end: Tensor,
    weight: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def lerp_(input: Tensor, end: Tensor, weight: Tensor | _Number) -> Tensor: ...
def lgamma(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def lgamma_(input: Tensor) -> Tensor: ...
def linalg_cholesky(
    A: Tensor,
    *,
    upper: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_cholesky_ex(
    A: Tensor,
    *,
    upper: _bool = False,
    check_errors: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_cholesky_ex: ...
def linalg_cond(
    A: Tensor,
    p: _Number | _str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_cross(
    input: Tensor,
    other: Tensor,
    *,
    dim: _int = -1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_det(A: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def linalg_diagonal(
    A: Tensor,
    *,
    offset: _int = 0,
    dim1: _int = -2,
    dim2: _int = -1,
) -> Tensor: ...
def linalg_eig(
    A: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_eig: ...
def linalg_eigh(
    A: Tensor,
    UPLO: _str = 'L',
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_eigh: ...
def linalg_eigvals(A: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def linalg_eigvalsh(
    A: Tensor,
    UPLO: _str = 'L',
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_householder_product(
    input: Tensor,
    tau: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_inv(A: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def linalg_inv_ex(
    A: Tensor,
    *,
    check_errors: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_inv_ex: ...
def linalg_ldl_factor(
    A: Tensor,
    *,
    hermitian: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_ldl_factor: ...
def linalg_ldl_factor_ex(
    A: Tensor,
    *,
    hermitian: _bool = False,
    check_errors: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_ldl_factor_ex: ...
def linalg_ldl_solve(
    LD: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    hermitian: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_lstsq(
    A: Tensor,
    B: Tensor,
    rcond: _float | None = None,
    *,
    driver: _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_lstsq: ...
def linalg_lu(
    A: Tensor,
    *,
    pivot: _bool = True,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_lu: ...
def linalg_lu_factor(
    A: Tensor,
    *,
    pivot: _bool = True,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_lu_factor: ...
def linalg_lu_factor_ex(
    A: Tensor,
    *,
    pivot: _bool = True,
    check_errors: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_lu_factor_ex: ...
def linalg_lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    adjoint: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_matrix_norm(
    A: Tensor,
    ord: _Number | _str = 'fro',
    dim: _int | Sequence[_int] = (-2, -1),
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_matrix_rank(
    A: Tensor,
    tol: Tensor | _Number | None = None,
    hermitian: _bool = False,
    *,
    atol: Tensor | _Number | None = None,
    rtol: Tensor | _Number | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_multi_dot(
    tensors: Sequence[Tensor],
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_norm(
    A: Tensor,
    ord: _Number | _str | None = None,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_pinv(
    A: Tensor,
    rcond: Tensor | _Number | None = None,
    hermitian: _bool = False,
    *,
    atol: Tensor | _Number | None = None,
    rtol: Tensor | _Number | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_qr(
    A: Tensor,
    mode: _str = 'reduced',
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_qr: ...
def linalg_slogdet(
    A: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_slogdet: ...
def linalg_solve(
    A: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    check_errors: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_solve_ex: ...
def linalg_solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: _bool,
    left: _bool = True,
    unitriangular: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_svd(
    A: Tensor,
    full_matrices: _bool = True,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.linalg_svd: ...
def linalg_svdvals(A: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def linalg_tensorinv(
    A: Tensor,
    ind: _int = 2,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_tensorsolve(
    A: Tensor,
    B: Tensor,
    dims: Sequence[_int] | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_vander(x: Tensor, *, N: _int | None = None) -> Tensor: ...
def linalg_vecdot(
    x: Tensor,
    y: Tensor,
    *,
    dim: _int = -1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linalg_vector_norm(
    x: Tensor,
    ord: _Number = 2,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def linspace(
    start: Any,
    end: Any,
    steps: _int,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def local_response_norm(
    input: Tensor,
    size: _int,
    alpha: _float = 0.0001,
    beta: _float = 0.75,
    k: _float = 1.0,
) -> Tensor: ...
def log(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def log10(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def log10_(input: Tensor) -> Tensor: ...
def log1p(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def log1p_(input: Tensor) -> Tensor: ...
def log2(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def log2_(input: Tensor) -> Tensor: ...
def log_(input: Tensor) -> Tensor: ...
def log_normal_(
    input: Tensor,
    mean: _float = 1.0,
    std: _float = 2.0,
    *,
    generator: _Generator | None = None,
) -> Tensor: ...
def log_softmax(
    input: Tensor,
    dim: _int,
    dtype: _DType | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def log_softmax_backward(grad: Tensor, out: Tensor, dim: _int) -> Tensor: ...
def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def logaddexp2(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def logcumsumexp(
    input: Tensor,
    dim: _int,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def logdet(input: Tensor) -> Tensor: ...
def logical_and(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def logical_and_(input: Tensor, other: Tensor) -> Tensor: ...
def logical_not(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def logical_not_(input: Tensor) -> Tensor: ...
def logical_or(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def logical_or_(input: Tensor, other: Tensor) -> Tensor: ...
def logical_xor(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def logical_xor_(input: Tensor, other: Tensor) -> Tensor: ...
def logit(
    input: Tensor,
    eps: _float | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def logit_(input: Tensor, eps: _float | None = None) -> Tensor: ...
def logit_backward(grad: Tensor, input: Tensor, eps: _float | None) -> Tensor: ...
def logsigmoid(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def logsigmoid_backward(grad: Tensor, input: Tensor) -> Tensor: ...
def logspace(
    start: Any,
    end: Any,
    steps: _int,
    base: _float = 10.0,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def logsumexp(
    input: Tensor,
    dim: _Dims,
    keepdim: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def lt(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def lt_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def lu(
    A: Tensor,
    pivot: _bool = True,
    get_infos: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]: ...
def lu_factors(
    A: Tensor,
    pivot: _bool,
    strict: _bool = False,
) -> tuple[Tensor, Tensor, Tensor]: ...
def lu_solve(
    input: Tensor,
    LU_data: Tensor,
    LU_pivots: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: _bool = True,
    unpack_pivots: _bool = True,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.lu_unpack: ...
def mH(input: Tensor) -> Tensor: ...
def mT(input: Tensor) -> Tensor: ...
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0.0,
    reduction: _str = 'mean',
) -> Tensor: ...
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | _Number) -> Tensor: ...
def masked_fill_(input: Tensor, mask: Tensor, value: Tensor | _Number) -> Tensor: ...
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor: ...
def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor: ...
def masked_select(
    input: Tensor,
    mask: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def matmul(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def matrix_H(input: Tensor) -> Tensor: ...
def matrix_exp(A: Tensor) -> Tensor: ...
def matrix_power(
    input: Tensor,
    n: _int,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
@overload
def max(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
@overload
def max(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> return_types.max: ...
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
) -> Tensor: ...
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
) -> tuple[Tensor, Tensor]: ...
def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
) -> Tensor: ...
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
) -> tuple[Tensor, Tensor]: ...
def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
) -> Tensor: ...
def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
) -> tuple[Tensor, Tensor]: ...
def max_pool_backward(
    grad: Tensor,
    indices: Tensor,
    input_size: Sequence[_int],
    kernel_size: Sequence[_int],
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
) -> Tensor: ...
def max_pool_with_indices(
    input: Tensor,
    kernel_size: Sequence[_int],
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
    ceil_mode: _bool,
) -> tuple[Tensor, Tensor]: ...
def max_unpool(
    input: Tensor,
    indices: Tensor,
    output_size: Sequence[_int],
    ndim: _int,
) -> Tensor: ...
def maximum(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def mean(
    input: Tensor,
    dim: _Dims | None = None,
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
@overload
def median(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
@overload
def median(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> return_types.median: ...
def median_position(input: Tensor, dim: _int, skip_nan: _bool) -> Tensor: ...
def median_value(input: Tensor, skip_nan: _bool) -> Tensor: ...
def meshgrid(tensors: Sequence[Tensor], *, indexing: _str | None = None) -> tuple[Tensor, ...]: ...
@overload
def min(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
@overload
def min(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> return_types.min: ...
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def minimum(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def mish(input: Tensor) -> Tensor: ...
def mish_(input: Tensor) -> Tensor: ...
def mish_backward(grad: Tensor, input: Tensor) -> Tensor: ...
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def mode(
    input: Tensor,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.mode: ...
def mode_position(input: Tensor, dim: _int) -> Tensor: ...
def movedim(
    input: Tensor,
    source: _int | Sequence[_int],
    destination: _int | Sequence[_int],
) -> Tensor: ...
def mse_loss(input: Tensor, target: Tensor, reduction: _str = 'mean') -> Tensor: ...
def msort(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def mul(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def mul_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: _int = 1,
    margin: _float = 1.0,
    weight: Tensor | None = None,
    reduction: _str = 'mean',
) -> Tensor: ...
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: _str = 'mean') -> Tensor: ...
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: _str = 'mean',
) -> Tensor: ...
def multinomial(
    input: Tensor,
    num_samples: _int,
    replacement: _bool = False,
    *,
    generator: _Generator | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def mv(input: Tensor, vec: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def mvlgamma(
    input: Tensor,
    p: _int,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def mvlgamma_(input: Tensor, p: _int) -> Tensor: ...
def nadam_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    mu_product: Tensor,
    lr: _float,
    beta1: _float,
    beta2: _float,
    eps: _float,
    weight_decay: _float,
    momentum_decay: _float,
    decoupled: _bool,
    maximize: _bool,
) -> Tensor: ...
def nan_to_num(
    input: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def nan_to_num_(
    input: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
) -> Tensor: ...
def nanmean(
    input: Tensor,
    dim: _Dims | None = None,
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
@overload
def nanmedian(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
@overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Tensor | Sequence[Tensor] | None = None) -> return_types.nanmedian: ...
def nanquantile(
    input: Tensor,
    q: Tensor | _Number,
    dim: Any = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = 'linear',
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def nansum(
    input: Tensor,
    dim: _Dims | None = None,
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def narrow(input: Tensor, dim: _int, start: _int | Tensor, length: _int) -> Tensor: ...
def narrow_copy(
    input: Tensor,
    dim: _int,
    start: _int | Tensor,
    length: _int,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def native_dropout(input: Tensor, p: _float) -> tuple[Tensor, Tensor]: ...
def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]: ...
def ne(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def ne_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def neg(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def neg_(input: Tensor) -> Tensor: ...
def nextafter(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def nextafter_(input: Tensor, other: Tensor) -> Tensor: ...
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: _int = -100,
    reduction: _str = 'mean',
) -> Tensor: ...
def nll_loss_backward(
    grad: Tensor,
    size: Sequence[_int],
    target: Tensor,
    weight: Tensor | None,
    ignore_index: _int,
    reduction: _str,
) -> Tensor: ...
def nonzero(
    input: Tensor,
    *,
    as_tuple: _bool = False,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def nonzero_static(
    input: Tensor,
    *,
    size: _int,
    fill_value: _int = -1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def norm(
    input: Tensor,
    p: _Number | _str | None = 'fro',
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    dtype: _DType | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def normal(
    mean: Tensor | _Number,
    std: Tensor | _Number = 1.0,
    size: Sequence[_int] | None = None,
    *,
    generator: _Generator | None = None,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def normal_(
    input: Tensor,
    mean: _float = 0.0,
    std: _float = 1.0,
    *,
    generator: _Generator | None = None,
) -> Tensor: ...
def normal_cdf(input: Tensor) -> Tensor: ...
def numpy_T(input: Tensor) -> Tensor: ...
def one_hot(input: Tensor, num_classes: _int = -1) -> Tensor: ...
def ones(
    *size: _int | Sequence[_int],
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def ones_like(
    input: Tensor,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    memory_format: _MemoryFormat | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def order_of_pivots(pivots: Tensor, rows: _int) -> Tensor: ...
def orgqr(input: Tensor, input2: Tensor) -> Tensor: ...
def ormqr(
    input: Tensor,
    input2: Tensor,
    input3: Tensor,
    left: _bool = True,
    transpose: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def outer(
    input: Tensor,
    vec2: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def p_norm(
    input: Tensor,
    ord: _float,
    dim: _Dims | None = None,
    keepdim: _bool = False,
    dtype: _DType | None = None,
) -> Tensor: ...
def pad(
    input: Tensor,
    pad: Sequence[_int],
    mode: _str = 'constant',
    value: _Number | None = None,
) -> Tensor: ...
def pair_distances(x1: Tensor, x2: Tensor, p: _float, compute_mode: _str | None) -> Tensor: ...
def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    eps: _float = 1e-06,
    keepdim: _bool = False,
) -> Tensor: ...
def pdist(input: Tensor, p: _float = 2.0) -> Tensor: ...
def permute(input: Tensor, dims: Sequence[_int]) -> Tensor: ...
def permute_copy(
    input: Tensor,
    dims: Sequence[_int],
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def philox_uniform(
    size: Sequence[_int],
    dtype: _DType,
    device: _Device | _str | _str | None,
    place: Tensor,
    index: _int,
) -> Tensor: ...
def pinverse(input: Tensor, rcond: _float = 1e-15) -> Tensor: ...
def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor: ...
def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor: ...
def poisson(input: Tensor, generator: _Generator | None = None) -> Tensor: ...
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: _bool = True,
    full: _bool = False,
    eps: _float = 1e-08,
    reduction: _str = 'mean',
) -> Tensor: ...
def polar(
    abs: Tensor,
    angle: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def polygamma(
    n: _int,
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def positive(input: Tensor) -> Tensor: ...
def pow(
    input: Tensor | _Number,
    exponent: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def pow_(input: Tensor, exponent: Tensor | _Number) -> Tensor: ...
def pow_number(input: Tensor, exponent: Tensor) -> Tensor: ...
def pow_number_(input: Tensor, exponent: Tensor) -> Tensor: ...
def prelu(input: Tensor, weight: Tensor) -> Tensor: ...
def prod(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor: ...
def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor: ...
def qr(
    input: Tensor,
    some: _bool = True,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.qr: ...
def qr_factors(A: Tensor, mode: _str) -> tuple[Tensor, Tensor]: ...
def qr_reflections(input: Tensor) -> tuple[Tensor, Tensor]: ...
def quantile(
    input: Tensor,
    q: Tensor | _Number,
    dim: Any = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = 'linear',
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def rad2deg(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def rad2deg_(input: Tensor) -> Tensor: ...
def radam_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    lr: _float,
    beta1: _float,
    beta2: _float,
    eps: _float,
    weight_decay: _float,
    decoupled: _bool,
    maximize: _bool,
) -> Tensor: ...
def rand(
    *size: _int | Sequence[_int],
    generator: _Generator | None = None,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def rand_like(
    input: Tensor,
    *,
    generator: _Generator | None = None,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    memory_format: _MemoryFormat | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def randint(
    low: _int | None = None,
    high: Any = None,
    size: Any = None,
    *,
    generator: _Generator | None = None,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def randint_like(
    input: Tensor,
    low: Any = None,
    high: Any = None,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    memory_format: _MemoryFormat | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def randn(
    *size: _int | Sequence[_int],
    generator: _Generator | None = None,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def randn_like(
    input: Tensor,
    *,
    generator: _Generator | None = None,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    memory_format: _MemoryFormat | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def random_(
    input: Tensor,
    from_: Any = ...,
    to: Any = ...,
    *,
    generator: _Generator | None = None,
) -> Tensor: ...
def random_bits(
    size: Sequence[_int],
    generator: _Generator | None,
    device: _Device | _str | _str | None,
) -> Tensor: ...
def random_scaled(
    size: Sequence[_int],
    low: _int,
    width: _int,
    generator: _Generator | None,
    device: _Device | _str | _str | None,
) -> Tensor: ...
def randperm(
    n: _int,
    *,
    generator: _Generator | None = None,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def range(
    start: _Number,
    end: _Number,
    step: _Number = 1,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def ravel(input: Tensor) -> Tensor: ...
def real(input: Tensor) -> Tensor: ...
def reciprocal(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def reciprocal_(input: Tensor) -> Tensor: ...
def recurrence(
    mode: _str,
    input: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    input_weight: Tensor | None = None,
    input_bias: Tensor | None = None,
    reverse: _bool = False,
    save: _bool = True,
) -> tuple[Tensor, ...]: ...
def recurrence_backward(
    grad: Tensor,
    last: Tensor | None,
    mode: _str,
    input: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    input_weight: Tensor | None,
    input_bias: Tensor | None,
    reverse: _bool,
    out: Tensor,
    cells: Tensor,
    saved: Tensor,
) -> tuple[Tensor, ...]: ...
def relu(input: Tensor) -> Tensor: ...
def relu_(input: Tensor) -> Tensor: ...
def relu_backward(grad: Tensor, input: Tensor) -> Tensor: ...
def remainder(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def remainder_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def renorm(
    input: Tensor,
    p: _Number,
    dim: _int,
    maxnorm: _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def renorm_(input: Tensor, p: _Number, dim: _int, maxnorm: _Number) -> Tensor: ...
def repeat(input: Tensor, repeats: Sequence[_int]) -> Tensor: ...
def repeat_interleave(
    input: Tensor,
    repeats: Any = None,
    dim: _int | None = None,
    *,
    output_size: _int | None = None,
) -> Tensor: ...
def repeat_positions(repeats: Tensor, output_size: _int | None = None) -> Tensor: ...
def require_values(input: Tensor, ok: Tensor, message: _str) -> Tensor: ...
def resample(input: Tensor, dim: _int, index: Tensor, weight: Tensor) -> Tensor: ...
def resample_backward(
    grad: Tensor,
    dim: _int,
    index: Tensor,
    weight: Tensor,
    size: _int,
) -> Tensor: ...
def resample_table(
    mode: _str,
    size: _int,
    count: _int,
    align_corners: _bool,
    factor: Any,
    antialias: _bool,
    double: _bool,
    of_bytes: _bool,
) -> tuple[Tensor, Tensor]: ...
def reshape(input: Tensor, shape: Sequence[_int]) -> Tensor: ...
def reshape_as(input: Tensor, other: Tensor) -> Tensor: ...
def resolve_conj(input: Tensor) -> Tensor: ...
def resolve_neg(input: Tensor) -> Tensor: ...
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None = None,
    eps: _float | None = None,
) -> Tensor: ...
def rmsprop_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    square_avg: Tensor,
    momentum_buffer: Tensor | None,
    grad_avg: Tensor | None,
    lr: _float,
    alpha: _float,
    eps: _float,
    weight_decay: _float,
    momentum: _float,
    maximize: _bool,
) -> Tensor: ...
def rng_uniform(
    size: Sequence[_int],
    dtype: _DType,
    device: _Device | _str | _str | None,
    rng_index: _int,
) -> Tensor: ...
def roll(
    input: Tensor,
    shifts: _int | Sequence[_int],
    dims: _int | Sequence[_int] | None = None,
) -> Tensor: ...
def rot90(input: Tensor, k: _int = 1, dims: _int | Sequence[_int] = (0, 1)) -> Tensor: ...
def round(
    input: Tensor,
    *,
    decimals: _int = 0,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def round_(input: Tensor, *, decimals: _int = 0) -> Tensor: ...
def rprop_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    previous: Tensor,
    step_size: Tensor,
    shrink: _float,
    grow: _float,
    smallest: _float,
    largest: _float,
    maximize: _bool,
) -> Tensor: ...
def rrelu(
    input: Tensor,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
) -> Tensor: ...
def rrelu_(
    input: Tensor,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
) -> Tensor: ...
def rsqrt(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def rsqrt_(input: Tensor) -> Tensor: ...
def rsub(input: Tensor, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor: ...
def running_max(input: Tensor, dim: _int) -> tuple[Tensor, Tensor]: ...
def running_min(input: Tensor, dim: _int) -> tuple[Tensor, Tensor]: ...
def scalar_tensor(
    s: _Number,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    *,
    scale: _float | None = None,
    enable_gqa: _bool = False,
) -> Tensor: ...
def scatter(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor | _Number | None = None,
    value: Tensor | _Number | None = None,
    *,
    reduce: _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def scatter_(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor | _Number | None = None,
    value: Tensor | _Number | None = None,
    *,
    reduce: _str | None = None,
) -> Tensor: ...
def scatter_add(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def scatter_add_(input: Tensor, dim: _int, index: Tensor, src: Tensor) -> Tensor: ...
def scatter_combined(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: _str,
) -> Tensor: ...
def scatter_extreme(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: _str,
    include_self: _bool = True,
) -> Tensor: ...
def scatter_planes(
    input: Tensor,
    indices: Tensor,
    output_size: Sequence[_int],
    ndim: _int,
) -> Tensor: ...
def scatter_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: _str,
    *,
    include_self: _bool = True,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def scatter_reduce_(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: _str,
    *,
    include_self: _bool = True,
) -> Tensor: ...
def scatter_src(input: Tensor, dim: _int, index: Tensor, src: Tensor) -> Tensor: ...
def scatter_src_(input: Tensor, dim: _int, index: Tensor, src: Tensor) -> Tensor: ...
def scatter_value(input: Tensor, dim: _int, index: Tensor, value: _Number) -> Tensor: ...
def scatter_value_(input: Tensor, dim: _int, index: Tensor, value: _Number) -> Tensor: ...
def search_positions(
    sequence: Tensor,
    values: Tensor | _Number,
    out_int32: _bool,
    right: _bool,
    sorter: Tensor | None,
) -> Tensor: ...
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | _Number,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: _str | None = None,
    sorter: Tensor | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def segment_numbers(bounds: Tensor, size: _int, whole: _bool) -> Tensor: ...
def segment_reduce(
    data: Tensor,
    reduce: _str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: _int = 0,
    unsafe: _bool = False,
    initial: _Number | None = None,
) -> Tensor: ...
def select(input: Tensor, dim: _int, index: _int) -> Tensor: ...
def select_at(input: Tensor, dim: _int, index: Tensor) -> Tensor: ...
def select_backward(grad: Tensor, size: Sequence[_int], dim: _int, index: Any) -> Tensor: ...
def select_copy(input: Tensor, dim: _int, index: _int) -> Tensor: ...
def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int) -> Tensor: ...
def selu(input: Tensor) -> Tensor: ...
def selu_(input: Tensor) -> Tensor: ...
def selu_backward(grad: Tensor, input: Tensor) -> Tensor: ...
def sgd_step_(
    param: Tensor,
    grad: Tensor,
    momentum_buffer: Tensor | None,
    first: _bool,
    lr: _float,
    momentum: _float,
    dampening: _float,
    weight_decay: _float,
    nesterov: _bool,
    maximize: _bool,
) -> Tensor: ...
def sgn(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def sgn_(input: Tensor) -> Tensor: ...
def sigmoid(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def sigmoid_(input: Tensor) -> Tensor: ...
def sigmoid_backward(grad: Tensor, output: Tensor) -> Tensor: ...
def sign(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def sign_(input: Tensor) -> Tensor: ...
def sign_and_log_det(A: Tensor) -> tuple[Tensor, Tensor]: ...
def signbit(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def silu(input: Tensor) -> Tensor: ...
def silu_(input: Tensor) -> Tensor: ...
def silu_backward(grad: Tensor, input: Tensor) -> Tensor: ...
def sin(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def sin_(input: Tensor) -> Tensor: ...
def sinc(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def sinc_(input: Tensor) -> Tensor: ...
def singular_factors(A: Tensor, full_matrices: _bool) -> tuple[Tensor, Tensor, Tensor]: ...
def sinh(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def sinh_(input: Tensor) -> Tensor: ...
def slice(
    input: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int | None = 1,
) -> Tensor: ...
def slice_backward(
    grad: Tensor,
    size: Sequence[_int],
    dim: _int,
    start: Any,
    end: Any,
    step: Any,
) -> Tensor: ...
def slice_copy(
    input: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int | None = 1,
) -> Tensor: ...
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int | None = 1,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def slogdet(input: Tensor) -> return_types.slogdet: ...
def sloped(input: Tensor, slope: Tensor) -> Tensor: ...
def sloped_backward(grad: Tensor, input: Tensor, slope: Tensor) -> tuple[Tensor, Tensor]: ...
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    reduction: _str = 'mean',
    beta: _float = 1.0,
) -> Tensor: ...
def soft_margin_loss(input: Tensor, target: Tensor, reduction: _str = 'mean') -> Tensor: ...
def softmax(
    input: Tensor,
    dim: _int,
    dtype: _DType | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def softmax_backward(grad: Tensor, out: Tensor, dim: _int) -> Tensor: ...
def softplus(
    input: Tensor,
    beta: _float = 1.0,
    threshold: _float = 20.0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def softplus_backward(grad: Tensor, input: Tensor, beta: _float, threshold: _float) -> Tensor: ...
def softshrink(
    input: Tensor,
    lambd: _float = 0.5,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def softshrink_backward(grad: Tensor, input: Tensor, lambd: _float) -> Tensor: ...
def solve_matrix(A: Tensor, B: Tensor) -> Tensor: ...
def sort(
    input: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    stable: Any = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.sort: ...
def special_airy_ai(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def special_bessel_j0(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_bessel_j1(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_bessel_y0(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_bessel_y1(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_chebyshev_polynomial_t(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_chebyshev_polynomial_u(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_chebyshev_polynomial_v(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_chebyshev_polynomial_w(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_entr(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def special_erfcx(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def special_hermite_polynomial_h(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_hermite_polynomial_he(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_i0e(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def special_i1(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def special_i1e(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def special_laguerre_polynomial_l(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_legendre_polynomial_p(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_log_ndtr(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def special_modified_bessel_i0(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_modified_bessel_i1(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_modified_bessel_k0(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_modified_bessel_k1(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_ndtr(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def special_ndtri(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def special_scaled_modified_bessel_k0(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_scaled_modified_bessel_k1(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_shifted_chebyshev_polynomial_t(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_shifted_chebyshev_polynomial_u(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_shifted_chebyshev_polynomial_v(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_shifted_chebyshev_polynomial_w(
    input: Tensor | _Number,
    n: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_spherical_bessel_j0(
    input: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_xlog1py(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def special_zeta(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def split(
    input: Tensor,
    split_size: _int | Sequence[_int],
    dim: _int = 0,
) -> tuple[Tensor, ...]: ...
def split_copy(
    input: Tensor,
    split_size: _int,
    dim: _int = 0,
) -> tuple[Tensor, Tensor, Tensor]: ...
def split_with_sizes(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
) -> tuple[Tensor, ...]: ...
def split_with_sizes_copy(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]: ...
def sqrt(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def sqrt_(input: Tensor) -> Tensor: ...
def square(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def square_(input: Tensor) -> Tensor: ...
def squeeze(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor: ...
def squeeze_copy(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def stack(
    tensors: Sequence[Tensor],
    dim: _int = 0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def standard_gamma(concentration: Tensor, generator: _Generator | None = None) -> Tensor: ...
def standard_gamma_grad(concentration: Tensor, sample: Tensor) -> Tensor: ...
def std(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: _bool = False,
    *,
    correction: _Number | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: _bool = False,
    *,
    correction: _Number | None = None,
) -> tuple[Tensor, Tensor]: ...
def stft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    pad_mode: _str = 'reflect',
    normalized: _bool = False,
    onesided: Any = None,
    return_complex: Any = None,
    align_to_window: Any = None,
) -> Tensor: ...
def sub(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    alpha: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def sub_(input: Tensor, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor: ...
def sum(
    input: Tensor,
    dim: _Dims | None = None,
    keepdim: _bool = False,
    *,
    dtype: _DType | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def sum_to_size(input: Tensor, size: Sequence[_int]) -> Tensor: ...
def svd(
    input: Tensor,
    some: _bool = True,
    compute_uv: _bool = True,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.svd: ...
def symmetric_eigen(A: Tensor, UPLO: _str) -> tuple[Tensor, Tensor]: ...
def t(input: Tensor) -> Tensor: ...
def t_copy(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def take(
    input: Tensor,
    index: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def take_along_dim(
    input: Tensor,
    indices: Tensor,
    dim: _int | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def tan(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def tan_(input: Tensor) -> Tensor: ...
def tanh(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def tanh_(input: Tensor) -> Tensor: ...
def tanh_backward(grad: Tensor, output: Tensor) -> Tensor: ...
def tensor_split(
    input: Tensor,
    indices_or_sections: _int | Sequence[_int] | Tensor | None = None,
    dim: _int = 0,
    *,
    sections: _int | Sequence[_int] | None = None,
    indices: _int | Sequence[_int] | Tensor | None = None,
) -> tuple[Tensor, ...]: ...
def tensordot(
    a: Tensor,
    b: Tensor,
    dims: Any = 2,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def threshold(input: Tensor, threshold: _Number, value: _Number) -> Tensor: ...
def threshold_(input: Tensor, threshold: _Number, value: _Number) -> Tensor: ...
def threshold_backward(grad: Tensor, input: Tensor, threshold: _Number) -> Tensor: ...
def tile(input: Tensor, dims: Sequence[_int]) -> Tensor: ...
def to_dtype(input: Tensor, dtype: _DType) -> Tensor: ...
def topk(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    largest: _bool = True,
    sorted: _bool = True,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.topk: ...
def topk_positions(input: Tensor, k: _int, dim: _int, largest: _bool) -> Tensor: ...
def trace(input: Tensor) -> Tensor: ...
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...
def transpose_copy(
    input: Tensor,
    dim0: _int,
    dim1: _int,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: _Number | None = None,
    dim: _int = -1,
) -> Tensor: ...
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: _bool = True,
    transpose: _bool = False,
    unitriangular: _bool = False,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> return_types.triangular_solve: ...
def tril(
    input: Tensor,
    diagonal: _int = 0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def tril_(input: Tensor, diagonal: _int = 0) -> Tensor: ...
def tril_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: _float = 1.0,
    p: _float = 2.0,
    eps: _float = 1e-06,
    swap: _bool = False,
    reduction: _str = 'mean',
) -> Tensor: ...
def triu(
    input: Tensor,
    diagonal: _int = 0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def triu_(input: Tensor, diagonal: _int = 0) -> Tensor: ...
def triu_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def trunc(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def trunc_(input: Tensor) -> Tensor: ...
def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unbind_copy(
    input: Tensor,
    dim: _int = 0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def unflatten(input: Tensor, dim: _int, sizes: Sequence[_int]) -> Tensor: ...
def unfold(input: Tensor, dimension: _int, size: _int, step: _int) -> Tensor: ...
def unfold_copy(
    input: Tensor,
    dimension: _int,
    size: _int,
    step: _int,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def uniform_(
    input: Tensor,
    from_: _float = 0.0,
    to: _float = 1.0,
    *,
    generator: _Generator | None = None,
) -> Tensor: ...
def unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Tensor: ...
def unique_consecutive(
    input: Tensor,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Tensor: ...
def unsafe_split(input: Tensor, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unsqueeze(input: Tensor, dim: _int) -> Tensor: ...
def unsqueeze_copy(
    input: Tensor,
    dim: _int,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor: ...
def var(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: _bool = False,
    *,
    correction: _Number | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: _bool = False,
    *,
    correction: _Number | None = None,
) -> tuple[Tensor, Tensor]: ...
def variance(
    input: Tensor,
    dim: _Dims | None = None,
    correction: _Number = 1,
    keepdim: _bool = False,
) -> Tensor: ...
def vdot(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def view(input: Tensor, size: Sequence[_int]) -> Tensor: ...
def view_as(input: Tensor, other: Tensor) -> Tensor: ...
def view_as_complex(input: Tensor) -> Tensor: ...
def view_as_complex_copy(input: Tensor) -> Tensor: ...
def view_as_real(input: Tensor) -> Tensor: ...
def view_as_real_copy(input: Tensor) -> Tensor: ...
def view_copy(
    input: Tensor,
    size: Any,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def view_dtype(input: Tensor, dtype: _DType) -> Tensor: ...
def view_scatter(input: Tensor, src: Tensor, views: Any) -> Tensor: ...
def vsplit(
    input: Tensor,
    indices_or_sections: _int | Sequence[_int] | None = None,
    *,
    sections: _int | Sequence[_int] | None = None,
    indices: _int | Sequence[_int] | None = None,
) -> tuple[Tensor, ...]: ...
def vstack(
    tensors: Sequence[Tensor],
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def where(
    condition: Tensor,
    input: Tensor | _Number | None = None,
    other: Tensor | _Number | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def xlogy(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def xlogy_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def zero_(input: Tensor) -> Tensor: ...
def zeros(
    *size: _int | Sequence[_int],
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def zeros_like(
    input: Tensor,
    *,
    dtype: _DType | None = None,
    device: _Device | _str | _str | None = None,
    memory_format: _MemoryFormat | None = None,
    layout: _Layout | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor: ...
def absolute(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def absolute_(input: Tensor) -> Tensor: ...
def arccos(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def arccos_(input: Tensor) -> Tensor: ...
def arccosh(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def arccosh_(input: Tensor) -> Tensor: ...
def arcsin(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def arcsin_(input: Tensor) -> Tensor: ...
def arcsinh(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def arcsinh_(input: Tensor) -> Tensor: ...
def arctan(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def arctan2(
    input: Tensor,
    other: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def arctan2_(input: Tensor, other: Tensor) -> Tensor: ...
def arctan_(input: Tensor) -> Tensor: ...
def arctanh(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def arctanh_(input: Tensor) -> Tensor: ...
def clip(
    input: Tensor,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def clip_(
    input: Tensor,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
) -> Tensor: ...
def concat(
    tensors: Sequence[Tensor],
    dim: _int = 0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def concatenate(
    tensors: Sequence[Tensor],
    dim: _int = 0,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def divide(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    rounding_mode: _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def divide_(
    input: Tensor,
    other: Tensor | _Number,
    *,
    rounding_mode: _str | None = None,
) -> Tensor: ...
def fix(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def fix_(input: Tensor) -> Tensor: ...
def ger(
    input: Tensor,
    vec2: Tensor,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def greater(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def greater_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def greater_equal(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def greater_equal_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def less(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def less_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def less_equal(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def less_equal_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def moveaxis(
    input: Tensor,
    source: _int | Sequence[_int],
    destination: _int | Sequence[_int],
) -> Tensor: ...
def multiply(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def multiply_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def negative(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Tensor: ...
def negative_(input: Tensor) -> Tensor: ...
def not_equal(
    input: Tensor,
    other: Tensor | _Number,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def not_equal_(input: Tensor, other: Tensor | _Number) -> Tensor: ...
def row_stack(
    tensors: Sequence[Tensor],
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def subtract(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    alpha: _Number = 1,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def subtract_(input: Tensor, other: Tensor | _Number, *, alpha: _Number = 1) -> Tensor: ...
def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor: ...
def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...
def trapz(
    y: Tensor,
    x: Tensor | None = None,
    *,
    dx: _Number | None = None,
    dim: _int = -1,
) -> Tensor: ...
def true_divide(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    rounding_mode: _str | None = None,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Tensor: ...
def true_divide_(
    input: Tensor,
    other: Tensor | _Number,
    *,
    rounding_mode: _str | None = None,
) -> Tensor: ...
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unsafe_split_with_sizes(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
) -> tuple[Tensor, ...]: ...
