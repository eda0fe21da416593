"""Activations as functions; with `inplace` they overwrite and return their input."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.runtime.errors import require_tensor
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor.tensor import Tensor

relu_ = ops.relu_
elu_ = ops.elu_
selu_ = ops.selu_
celu_ = ops.celu_
leaky_relu_ = ops.leaky_relu_
hardtanh_ = ops.hardtanh_
threshold_ = ops.threshold_
rrelu_ = ops.rrelu_
sigmoid = ops.sigmoid
tanh = ops.tanh
gelu = ops.gelu
softplus = ops.softplus
logsigmoid = ops.logsigmoid
prelu = ops.prelu
glu = ops.glu
hardshrink = ops.hardshrink
softshrink = ops.softshrink


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0)."""
    return ops.relu_(input) if inplace else ops.relu(input)


def threshold(
    input: Tensor, threshold: float, value: float, inplace: bool = False
) -> Tensor:
    """x where x > threshold, else `value`."""
    function = ops.threshold_ if inplace else ops.threshold
    return function(input, threshold, value)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6)."""
    return hardtanh(input, 0.0, 6.0, inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x), of complex numbers too."""
    require_tensor("silu", "input", input)
    if input.dtype.is_complex:
        out = ops.div(input, ops.add(ops.exp(ops.neg(input)), 1))
        return input.copy_(out) if inplace else out
    return ops.silu_(input) if inplace else ops.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x)) (Misra, 2019)."""
    return ops.mish_(input) if inplace else ops.mish(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * relu6(x + 3) / 6 (Howard et al., 2019)."""
    return ops.hardswish_(input) if inplace else ops.hardswish(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6."""
    return ops.hardsigmoid_(input) if inplace else ops.hardsigmoid(input)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Scaled ELU of Klambauer et al. (2017)."""
    return ops.selu_(input) if inplace else ops.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)) (Barron, 2017)."""
    return ops.celu_(input, alpha) if inplace else ops.celu(input, alpha)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where x > 0, else alpha * (exp(x) - 1)."""
    return ops.elu_(input, alpha) if inplace else ops.elu(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where x > 0, else negative_slope * x."""
    function = ops.leaky_relu_ if inplace else ops.leaky_relu
    return function(input, negative_slope)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Leaky relu with slopes drawn in [lower, upper) in training, their mean otherwise.

    Xu et al. (2015).
    """
    function = ops.rrelu_ if inplace else ops.rrelu
    return function(input, lower, upper, training)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x limited to [min_val, max_val]. ValueError if min_val > max_val."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    function = ops.hardtanh_ if inplace else ops.hardtanh
    return function(input, min_val, max_val)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return ops.div(input, ops.add(ops.abs(input), 1))


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return ops.sub(input, ops.tanh(input))


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`, computed in `dtype` if given."""
    return ops.softmax(input, _implicit_dim("softmax", input, dim, _stacklevel), dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """softmax(-x) along `dim`, computed in `dtype` if given."""
    dim = _implicit_dim("softmin", input, dim, _stacklevel)
    return ops.softmax(ops.neg(input), dim, dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """log(softmax(x)) along `dim`, computed in `dtype` if given."""
    return ops.log_softmax(input, _implicit_dim("log_softmax", input, dim, _stacklevel), dtype)


def _implicit_dim(name: str, input: Tensor, dim: int | None, stacklevel: int) -> int:
    """`dim`; where none is given, the one that PyTorch's oldest code chose, with a warning."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if input.ndim in (0, 1, 3) else 1


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Samples of the Gumbel-softmax distribution (Jang et al., 2016) along `dim`.

    With `hard` one-hot samples whose gradient is that of the soft ones; `eps` has no effect.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = ops.neg(ops.log(ops.rand_like(logits)))
    gumbels = ops.neg(ops.log(noise))
    soft = ops.softmax(ops.div(ops.add(logits, gumbels), tau), dim)
    if not hard:
        return soft
    index = ops.argmax(soft, dim, True)
    chosen = ops.scatter(ops.zeros_like(logits), dim, index, 1.0)
    return ops.add(ops.sub(chosen, soft.detach()), soft)


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None
) -> Tensor:
    """x / max(||x||_p, eps) along `dim`."""
    length = ops.expand(ops.clamp_min(ops.norm(input, p, dim, True), eps), input.shape)
    result = ops.div(input, length)
    return result if out is None else out.copy_(result)
