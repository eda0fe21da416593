"""Activations as functions; with `inplace` they overwrite and return their input."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.runtime.errors import require_tensor
from graphwright.runtime.ops import functions as ops
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
    """Elements below 0 set to 0: `max(x, 0)`.

    Args:
        input: a real tensor of any shape.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Example:
        >>> F.relu(gw.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return ops.relu_(input) if inplace else ops.relu(input)


def threshold(
    input: Tensor, threshold: float, value: float, inplace: bool = False
) -> Tensor:
    """Elements up to a threshold replaced: `x if x > threshold else value`.

    Args:
        input: a real tensor of any shape.
        threshold: the limit.
        value: what replaces elements up to it.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Example:
        >>> F.threshold(gw.tensor([-1.0, 2.0]), 0.5, 9.0)
        tensor([9., 2.])
    """
    function = ops.threshold_ if inplace else ops.threshold
    return function(input, threshold, value)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Elements limited to 0 to 6: `min(max(x, 0), 6)`.

    Args:
        input: a real tensor of any shape.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Example:
        >>> F.relu6(gw.tensor([-1.0, 2.0, 8.0]))
        tensor([0., 2., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)`, also called swish (Hendrycks and Gimpel, 2016).

    Args:
        input: floating point or complex.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        NotImplementedError: `input` holds integers.

    Example:
        >>> F.silu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.2689,  0.0000,  0.7311])
    """
    require_tensor("silu", "input", input)
    if input.dtype.is_complex:
        out = ops.div(input, ops.add(ops.exp(ops.neg(input)), 1))
        return input.copy_(out) if inplace else out
    return ops.silu_(input) if inplace else ops.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * tanh(softplus(x))` (Misra, 2019).

    Args:
        input: floating point, of any shape.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        NotImplementedError: `input` holds integers.

    Example:
        >>> F.mish(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.3034,  0.0000,  0.8651])
    """
    return ops.mish_(input) if inplace else ops.mish(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * relu6(x + 3) / 6`, a piecewise quadratic swish (Howard et al., 2019).

    Args:
        input: floating point, of any shape.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Example:
        >>> F.hardswish(gw.tensor([-4.0, 0.0, 3.0]))
        tensor([-0., 0., 3.])
    """
    return ops.hardswish_(input) if inplace else ops.hardswish(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`relu6(x + 3) / 6`, a piecewise linear sigmoid.

    Args:
        input: floating point, of any shape.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Example:
        >>> F.hardsigmoid(gw.tensor([-4.0, 0.0, 3.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    return ops.hardsigmoid_(input) if inplace else ops.hardsigmoid(input)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Self-normalising ELU: `scale * (max(x, 0) + min(0, alpha * (exp(x) - 1)))`.

    The constants, 1.0507 and 1.6733, are those of Klambauer et al. (2017).

    Args:
        input: floating point, of any shape.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Example:
        >>> F.selu(gw.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])
    """
    return ops.selu_(input) if inplace else ops.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))` (Barron, 2017).

    Args:
        input: floating point, of any shape.
        alpha: the negative limit is `-alpha`; not 0.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: `alpha` is 0.

    Example:
        >>> F.celu(gw.tensor([-1.0, 1.0]), alpha=2.0)
        tensor([-0.7869,  1.0000])
    """
    return ops.celu_(input, alpha) if inplace else ops.celu(input, alpha)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`x` above 0, `alpha * (exp(x) - 1)` below (Clevert et al., 2016).

    Args:
        input: floating point, of any shape.
        alpha: the negative limit is `-alpha`.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        NotImplementedError: `input` holds integers.

    Example:
        >>> F.elu(gw.tensor([-1.0, 1.0]))
        tensor([-0.6321,  1.0000])
    """
    return ops.elu_(input, alpha) if inplace else ops.elu(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`x` above 0, `negative_slope * x` below.

    Args:
        input: floating point, of any shape.
        negative_slope: the slope below 0.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        NotImplementedError: `input` holds integers.

    Example:
        >>> F.leaky_relu(gw.tensor([-1.0, 1.0]))
        tensor([-0.0100,  1.0000])
    """
    function = ops.leaky_relu_ if inplace else ops.leaky_relu
    return function(input, negative_slope)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Leaky relu whose slopes are drawn from [lower, upper) in training (Xu et al., 2015).

    Args:
        input: floating point, of any shape.
        lower: the least slope.
        upper: the greatest slope.
        training: draw a slope for each element; their mean is taken if False.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: `lower` is greater than `upper`.

    Example:
        >>> F.rrelu(gw.tensor([-1.0, 1.0]), 0.25, 0.75)
        tensor([-0.5000,  1.0000])
    """
    function = ops.rrelu_ if inplace else ops.rrelu
    return function(input, lower, upper, training)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Elements limited to [min_val, max_val].

    Args:
        input: a real tensor of any shape.
        min_val: the lower limit.
        max_val: the upper limit.
        inplace: overwrite `input` and return it.

    Returns: a tensor of the shape of `input`.

    Raises:
        ValueError: `min_val` is greater than `max_val`.

    Example:
        >>> F.hardtanh(gw.tensor([-2.0, 0.5, 2.0]))
        tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    function = ops.hardtanh_ if inplace else ops.hardtanh
    return function(input, min_val, max_val)


def softsign(input: Tensor) -> Tensor:
    """`x / (1 + |x|)`.

    Args:
        input: floating point, of any shape.

    Returns: a tensor of the shape of `input`.

    Example:
        >>> F.softsign(gw.tensor([-1.0, 0.0, 3.0]))
        tensor([-0.5000,  0.0000,  0.7500])
    """
    return ops.div(input, ops.add(ops.abs(input), 1))


def tanhshrink(input: Tensor) -> Tensor:
    """`x - tanh(x)`.

    Args:
        input: floating point, of any shape.

    Returns: a tensor of the shape of `input`.

    Example:
        >>> F.tanhshrink(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.2384,  0.0000,  0.2384])
    """
    return ops.sub(input, ops.tanh(input))


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Exponentials divided by their sum along a dim: `exp(x_i) / sum_j exp(x_j)`.

    Args:
        input: floating point.
        dim: the dim of the sum; None chooses 0 or 1 by the number of dims, with a warning.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` holds integers and `dtype` is None.

    Example:
        >>> F.softmax(gw.tensor([1.0, 1.0]), dim=0)
        tensor([0.5000, 0.5000])
    """
    return ops.softmax(input, _implicit_dim("softmax", input, dim, _stacklevel), dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Softmax of the negated input: `exp(-x_i) / sum_j exp(-x_j)`.

    Args:
        input: floating point.
        dim: the dim of the sum; None chooses 0 or 1 by the number of dims, with a warning.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` holds integers and `dtype` is None.

    Example:
        >>> F.softmin(gw.tensor([1.0, 1.0]), dim=0)
        tensor([0.5000, 0.5000])
    """
    dim = _implicit_dim("softmin", input, dim, _stacklevel)
    return ops.softmax(ops.neg(input), dim, dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Logarithm of softmax along a dim: `x_i - log(sum_j exp(x_j))`.

    Args:
        input: floating point.
        dim: the dim of the sum; None chooses 0 or 1 by the number of dims, with a warning.
        dtype: what `input` is converted to first; nothing if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` holds integers and `dtype` is None.

    Example:
        >>> F.log_softmax(gw.tensor([1.0, 1.0]), dim=0)
        tensor([-0.6931, -0.6931])
    """
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
    """Samples of the Gumbel-softmax distribution along a dim (Jang et al., 2016).

    `softmax((logits + g) / tau)` with g drawn from the standard Gumbel distribution.

    Args:
        logits: unnormalised logarithms of probabilities, floating point.
        tau: the temperature.
        hard: return one-hot vectors, whose gradient is that of the soft samples.
        eps: has no effect; warns if given.
        dim: the dim of the classes.

    Returns: a tensor of the shape of `logits` that sums up to 1 along `dim`.

    Example:
        >>> F.gumbel_softmax(gw.zeros(2, 3), hard=True).sum(-1)
        tensor([1., 1.])
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
    """Vectors divided by their norm: `x / max(||x||_p, eps)`.

    Args:
        input: floating point or complex.
        p: order of the norm.
        dim: the dim of the vectors.
        eps: least norm that is divided by.
        out: a tensor that the result is written to; a new one if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> F.normalize(gw.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    length = ops.expand(ops.clamp_min(ops.norm(input, p, dim, True), eps), input.shape)
    result = ops.div(input, length)
    return result if out is None else out.copy_(result)
