"""In-place random fills: the values of a draw of the tensor's shape are copied into it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import HALVES
from graphwright.runtime.ops.random.draws import bounds, drawn, whole_bounds
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor


def _require_float(name: str, input: Any, complex: bool = False) -> None:
    if not input.dtype.is_floating_point and not (complex and input.dtype.is_complex):
        raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.name}'")


def _noise(input: Any, generator: Any) -> Any:
    """Uniform numbers of the input's shape, float32 at least."""
    wide = input.dtype.is_floating_point and input.dtype not in HALVES
    dtype = input.dtype if wide else dtypes.float32
    return ops.rand(tuple(input.shape), generator=generator, dtype=dtype, device=input.device)


def _uniform(input: Any, low: float, high: float, generator: Any) -> Any:
    _require_float("check_uniform_bounds", input, complex=True)
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
        )
    most = finfo(input.dtype).max
    for name, value in (("from", low), ("to", high), ("to - from", high - low)):
        if not -most <= value <= most:
            raise RuntimeError(f"uniform_: {name}={value} is out of bounds for {input.dtype}")
    values = ops.rand(
        tuple(input.shape), generator=generator, dtype=input.dtype, device=input.device
    )
    return ops.copy_(input, ops.add(ops.mul(values, high - low), low))


def _normal(input: Any, mean: float, std: float, generator: Any) -> Any:
    _require_float("normal_", input, complex=True)
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    values = ops.randn(
        tuple(input.shape), generator=generator, dtype=input.dtype, device=input.device
    )
    return ops.copy_(input, ops.add(ops.mul(values, std), mean))


def _log_normal(input: Any, mean: float, std: float, generator: Any) -> Any:
    _require_float("log_normal_", input)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    values = ops.randn(
        tuple(input.shape), generator=generator, dtype=input.dtype, device=input.device
    )
    return ops.copy_(input, ops.exp(ops.add(ops.mul(values, std), mean)))


def _exponential(input: Any, lambd: float, generator: Any) -> Any:
    """-ln(1 - u) / lambd."""
    _require_float("exponential_", input)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    values = ops.log1p(ops.neg(_noise(input, generator)))
    return ops.copy_(input, ops.mul(values, -1.0 / lambd))


def _cauchy(input: Any, median: float, sigma: float, generator: Any) -> Any:
    """median + sigma tan(pi (u - 1/2))."""
    _require_float("cauchy_", input)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    angle = ops.mul(ops.sub(_noise(input, generator), 0.5), math.pi)
    return ops.copy_(input, ops.add(ops.mul(ops.tan(angle), sigma), median))


def _geometric(input: Any, p: float, generator: Any) -> Any:
    """1 + floor(ln(1 - u) / ln(1 - p))."""
    if input.dtype is dtypes.bool or input.dtype.is_complex:
        raise NotImplementedError(f"\"geometric_\" not implemented for '{input.dtype.name}'")
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    values = ops.log1p(ops.neg(_noise(input, generator)))
    trials = ops.add(ops.floor(ops.mul(values, 1.0 / math.log1p(-p))), 1)
    return ops.copy_(input, trials)


def _random(input: Any, low: Any, to: Any, generator: Any) -> Any:
    """Whole numbers in [low, to); of one bound [0, low); without any, all from 0 that the dtype
    holds. None, given beside `low`, stands for all above it. Bounds that are absent are `...`.
    """
    if to is ...:
        low, to = ..., low
    if low is None or (to is None and low is ...):
        raise TypeError("random_(): a bound must be int, not None, unless it is 'to' after 'from'")
    if to is None or to is ...:
        to = bounds(input.dtype)[1] + 1
    low, to = whole_bounds("random_", 0 if low is ... else low, to)
    values = drawn(low, to, tuple(input.shape), generator, input.dtype, input.device)
    return ops.copy_(input, values)


def _bernoulli(input: Any, p: Any, generator: Any) -> Any:
    """1 with probability p, a number or a tensor that broadcasts to the input."""
    if input.dtype.is_complex:
        raise NotImplementedError(f"\"bernoulli_\" not implemented for '{input.dtype.name}'")
    if isinstance(p, Tensor):
        chances = ops.expand(p, tuple(input.shape))
        if not chances.dtype.is_floating_point:
            raise RuntimeError(f"bernoulli_: expected p of floating point dtype, got {p.dtype}")
        return ops.copy_(input, ops.bernoulli(chances, generator=generator))
    if not 0.0 <= p <= 1.0:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    values = ops.rand(
        tuple(input.shape), generator=generator, dtype=dtypes.float32, device=input.device
    )
    return ops.copy_(input, ops.lt(values, p))


_FILLS: tuple[tuple[str, Callable[..., Any], str], ...] = (
    (
        "uniform_(Tensor input, float from_=0.0, float to=1.0, *, {})",
        _uniform,
        """Fill with random numbers of the uniform distribution on [from_, to).

        Args:
            input: a floating-point or complex tensor of any shape.
            from_: the lower bound, also by the name `from`.
            to: the upper bound.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is of integers or bool.
            RuntimeError: `from_` is above `to`, or the dtype does not hold the bounds.

        Example:
            >>> gw.empty(2).uniform_(3.0, 3.0)
            tensor([3., 3.])
        """,
    ),
    (
        "normal_(Tensor input, float mean=0.0, float std=1.0, *, {})",
        _normal,
        """Fill with random numbers of a normal distribution, `mean + std * randn`.

        Args:
            input: a floating-point or complex tensor of any shape.
            mean: the mean.
            std: the standard deviation, at least 0.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is of integers or bool.
            RuntimeError: `std` is negative.

        Example:
            >>> gw.empty(2).normal_(3.0, 0.0)
            tensor([3., 3.])
        """,
    ),
    (
        "log_normal_(Tensor input, float mean=1.0, float std=2.0, *, {})",
        _log_normal,
        """Fill with random numbers whose logarithms are normally distributed.

        Args:
            input: a floating-point tensor of any shape.
            mean: the mean of the logarithms.
            std: the standard deviation of the logarithms, above 0.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.
            RuntimeError: `std` is not above 0.

        Example:
            >>> gw.all(gw.empty(9).log_normal_() > 0)
            tensor(True)
        """,
    ),
    (
        "exponential_(Tensor input, float lambd=1.0, *, {})",
        _exponential,
        """Fill with random numbers of the exponential distribution, `-log(1 - u) / lambd`.

        Args:
            input: a floating-point tensor of any shape.
            lambd: the rate, above 0.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.
            RuntimeError: `lambd` is not above 0.

        Example:
            >>> gw.all(gw.empty(9).exponential_() >= 0)
            tensor(True)
        """,
    ),
    (
        "cauchy_(Tensor input, float median=0.0, float sigma=1.0, *, {})",
        _cauchy,
        """Fill with random numbers of a Cauchy distribution, `median + sigma tan(pi (u - 1/2))`.

        Args:
            input: a floating-point tensor of any shape.
            median: the median.
            sigma: the half width at half maximum, above 0.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.
            RuntimeError: `sigma` is not above 0.

        Example:
            >>> gw.empty(2, 3).cauchy_().shape
            graphwright.Size([2, 3])
        """,
    ),
    (
        "geometric_(Tensor input, float p, *, {})",
        _geometric,
        """Fill with random numbers of trials up to the first success, at least 1.

        Args:
            input: a tensor of integers or floating-point numbers.
            p: the probability of success, above 0 and below 1.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is of bool or complex.
            RuntimeError: `p` is not above 0 and below 1.

        Example:
            >>> gw.all(gw.empty(9).geometric_(0.5) >= 1)
            tensor(True)
        """,
    ),
    (
        "random_(Tensor input, object from_=..., object to=..., *, {})",
        _random,
        """Fill with random integers of the uniform distribution on [from_, to).

        Without bounds they are from 0 to the greatest integer that the dtype holds exactly.

        Args:
            input: a tensor of any real dtype.
            from_: the least integer, also by the name `from`; given alone, the bound above.
            to: the bound above, which is never drawn; None stands for all that the dtype holds.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is complex.
            RuntimeError: the bounds cross, or the dtype does not hold the integers.
            TypeError: a bound is not an integer.

        Example:
            >>> gw.empty(2).random_(3, 4)
            tensor([3., 3.])
        """,
    ),
    (
        "bernoulli_(Tensor input, object p=0.5, *, {})",
        _bernoulli,
        """Fill with random 0 or 1, 1 with probability `p`.

        Args:
            input: a tensor of any real dtype.
            p: a number between 0 and 1, or a floating-point tensor that broadcasts to `input`.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is complex.
            RuntimeError: `p` is not between 0 and 1, or a tensor of another dtype or shape.

        Example:
            >>> gw.empty(2).bernoulli_(gw.tensor([0.0, 1.0]))
            tensor([0., 1.])
        """,
    ),
)
for _schema, _function, _doc in _FILLS:
    define(
        _schema.format("Generator? generator=None"),
        Kind.COMPOSITE,
        decompose=_function,
        public=False,
        doc=_doc,
    )
