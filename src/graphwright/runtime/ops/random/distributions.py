"""Ops that draw from distributions with parameters.

`poisson` and `binomial` reject numbers, so that they run eagerly: NumPy draws them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import HALVES, allocate, copy_into
from graphwright.runtime.ops.strides import preserved_strides
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.ops.value_checks import checked, inside
from graphwright.runtime.ops.views.layouts import row_major
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.generator import draw
from graphwright.runtime.tensor.tensor import Tensor


def _checked_std(std: Any) -> Any:
    if isinstance(std, Tensor):
        return checked(std, ops.ge(std, 0), "normal expects all elements of std >= 0.0")
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    return std


def _normal(
    mean: Any, std: Any, size: Any, generator: Any, dtype: Any, device: Any
) -> Any:
    """mean + std * randn, of the size given for numbers, else of the tensors' broadcast shape, in
    the dtype of the first of them."""
    std = _checked_std(std)
    tensors = [v for v in (mean, std) if isinstance(v, Tensor)]
    if not tensors:
        if size is None:
            raise TypeError("normal() received an invalid combination of arguments: no size")
        values = ops.randn(size, generator=generator, dtype=dtype, device=device)
        return ops.add(ops.mul(values, std), mean)
    like = tensors[0] if len(tensors) == 1 else ops.add(mean, std)
    if device is not None and Device(device).type != like.device.type:
        raise RuntimeError(f"normal: the tensors are on {like.device}, not on {device}")
    dtype = tensors[0].dtype
    values = ops.randn(
        tuple(like.shape), generator=generator, dtype=like.dtype, device=like.device
    )
    found = ops.add(ops.mul(values, std), mean)
    return found if found.dtype is dtype else ops.to_dtype(found, dtype)


define(
    "normal(Operand mean, Operand std=1.0, Size? size=None, *, Generator? generator=None, "
    "dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_normal,
    method=False,
    tags=("factory",),
    doc="""Random numbers of normal distributions, `mean + std * randn`.

    Gradients flow to `mean` and `std`.

    Args:
        mean: a number or a tensor.
        std: a number or a tensor that broadcasts with `mean`, at least 0.
        size: the shape where both are numbers, else it is not read.
        generator: the generator that draws; the default one if None.
        dtype: the dtype where both are numbers; the default dtype if None.
        device: where the result is; the default device if None.

    Returns: a tensor of shape `size`, or of the broadcast shape and dtype of the first tensor.

    Raises:
        RuntimeError: a standard deviation is negative, or the shapes do not broadcast.
        TypeError: both are numbers and there is no size.

    Example:
        >>> gw.normal(gw.zeros(2, 1), gw.ones(3)).shape
        graphwright.Size([2, 3])
    """,
)


def _check_probability(name: str, p: Any) -> None:
    if not 0.0 <= p <= 1.0:
        raise RuntimeError(f"{name} expects p to be in [0, 1], but got p={p}")


def _bernoulli(input: Any, p: Any, generator: Any) -> Any:
    """1 with probability p, by default the input's own elements."""
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"bernoulli: expected a floating point input, got {input.dtype}"
        )
    chances = input if p is None else p.item() if isinstance(p, Tensor) else p
    if isinstance(chances, Tensor):
        message = "Expected p_in >= 0 && p_in <= 1 to be true, but got false"
        chances = checked(chances, inside(chances, 0, 1), message)
    else:
        _check_probability("bernoulli", chances)
    values = ops.rand(
        tuple(input.shape), generator=generator, dtype=dtypes.float32, device=input.device
    )
    return row_major(ops.to_dtype(ops.lt(values, chances), input.dtype))


define(
    "bernoulli(Tensor input, float? p=None, *, Generator? generator=None)",
    Kind.COMPOSITE,
    decompose=_bernoulli,
    doc="""Random 0 or 1 of the Bernoulli distribution, 1 with the probability that is given.

    Args:
        input: a floating-point tensor of probabilities between 0 and 1.
        p: one probability in place of the elements of `input`; those if None.
        generator: the generator that draws; the default one if None.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: a probability is not between 0 and 1.

    Example:
        >>> gw.bernoulli(gw.tensor([0.0, 1.0]))
        tensor([0., 1.])
    """,
)


def _multinomial(input: Any, num_samples: int, replacement: bool, generator: Any) -> Any:
    """Indices drawn with the rows of `input` as weights.

    Without replacement the greatest of weight / exponential noise win; with it the cumulative
    sums are searched for uniform numbers.
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, got shape {list(input.shape)}")
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {input.dtype}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > input.shape[-1]:
        raise RuntimeError(
            f"cannot sample n_sample > prob_dist.size(-1) samples without replacement: "
            f"{num_samples} of shape {list(input.shape)}"
        )
    message = "probability tensor contains either `inf`, `nan` or element < 0"
    input = checked(input, ops.logical_and(ops.ge(input, 0), ops.isfinite(input)), message)
    message = "invalid multinomial distribution (sum of probabilities <= 0)"
    input = checked(input, ops.gt(ops.sum(input, -1, keepdim=True), 0), message)
    weights = input if input.dtype not in HALVES else ops.to_dtype(input, dtypes.float32)
    if replacement and num_samples > 1:
        return _searched(weights, num_samples, generator)
    noise = ops.rand(
        tuple(input.shape), generator=generator, dtype=weights.dtype, device=input.device
    )
    noise = ops.clamp(ops.neg(ops.log1p(ops.neg(noise))), 2.0**-25, None)
    return ops.topk(ops.div(weights, noise), num_samples, -1)[1]


def _searched(weights: Any, count: int, generator: Any) -> Any:
    sums = ops.cumsum(weights, -1)
    sums = ops.div(sums, ops.narrow(sums, -1, sums.shape[-1] - 1, 1))
    values = ops.rand(
        (*weights.shape[:-1], count),
        generator=generator,
        dtype=weights.dtype,
        device=weights.device,
    )
    return ops.searchsorted(sums, values, right=True)


define(
    "multinomial(Tensor input, SymInt num_samples, bool replacement=False, *, "
    "Generator? generator=None)",
    Kind.COMPOSITE,
    decompose=_multinomial,
    doc="""Indices drawn at random with the elements of each row as weights.

    Args:
        input: a floating-point tensor of weights, of shape [n] or [m, n], of any sum above 0.
        num_samples: the number of indices for each row.
        replacement: whether an index may be drawn again.
        generator: the generator that draws; the default one if None.

    Returns: an int64 tensor of shape [num_samples] or [m, num_samples].

    Raises:
        RuntimeError: `input` has another dtype or number of dims; a weight is negative or not
            finite, or all of a row are 0; `num_samples` is below 1, or above n without
            replacement.

    Example:
        >>> gw.multinomial(gw.tensor([0.0, 2.0]), 3, replacement=True)
        tensor([1, 1, 1])
    """,
)


def drawn_by_numpy(name: str, like: Any, generator: Any, draw_counts: Any) -> Tensor:
    """Numbers of NumPy's samplers, whose Philox is keyed with our seed and offset."""
    bits = np.random.Philox(key=np.array(draw(generator), np.uint64))
    try:
        values = draw_counts(np.random.Generator(bits))
    except ValueError as error:
        raise RuntimeError(f"{name}: {error}") from error
    out = allocate(like.shape, preserved_strides(like.shape, like.stride()), like.dtype)
    copy_into(out, np.asarray(values))
    return out


def _poisson(input: Any, generator: Any) -> Tensor:
    if not input.dtype.is_floating_point:
        raise NotImplementedError(
            f"poisson: expected a floating point input, got {input.dtype}"
        )
    rates = input._nd.astype(np.float64)
    if not (rates >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return drawn_by_numpy("poisson", input, generator, lambda g: g.poisson(rates))


def _binomial(count: Any, prob: Any, generator: Any) -> Tensor:
    if not count.dtype.is_floating_point or count.dtype is not prob.dtype:
        raise RuntimeError(
            f"binomial: expected floating point inputs of one dtype, got {count.dtype} and "
            f"{prob.dtype}"
        )
    require_dtype("binomial", count.dtype, halves=False)
    counts, chances = np.broadcast_arrays(count._nd.astype(np.int64), prob._nd.astype(np.float64))
    like = ops.add(count, prob)
    return drawn_by_numpy("binomial", like, generator, lambda g: g.binomial(counts, chances))


for _schema, _function, _doc in (
    (
        "poisson(Tensor input, Generator? generator=None)",
        _poisson,
        """Random numbers of Poisson distributions with the rates that are given.

        Args:
            input: a floating-point tensor of rates, at least 0.
            generator: the generator that draws; the default one if None.

        Returns: a tensor of whole numbers, of the shape and dtype of `input`.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.
            RuntimeError: a rate is negative or nan.

        Example:
            >>> gw.poisson(gw.tensor([0.0, 0.0]))
            tensor([0., 0.])
        """,
    ),
    (
        "binomial(Tensor count, Tensor prob, Generator? generator=None)",
        _binomial,
        """Random numbers of binomial distributions: successes among `count` trials.

        Args:
            count: a tensor of float32 or float64, the numbers of trials, at least 0.
            prob: a tensor of the dtype of `count` that broadcasts with it, the probabilities.
            generator: the generator that draws; the default one if None.

        Returns: a tensor of whole numbers, of the broadcast shape and that dtype.

        Raises:
            NotImplementedError: the dtype is a half-precision one.
            RuntimeError: the dtypes differ or are not floating-point; a number of trials or a
                probability is out of range.

        Example:
            >>> gw.binomial(gw.tensor([10.0, 3.0]), gw.tensor([1.0, 0.0]))
            tensor([10.,  0.])
        """,
    ),
):
    define(
        _schema,
        Kind.OTHER,
        vjp=not_differentiable,
        eager=_function,
        method=False,
        tags=("data_dependent",),
        doc=_doc,
    )
