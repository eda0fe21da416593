"""Constants, ranges, and random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.element_types import dtype_of
from graphwright.onnx.importing.opsets import Tensors, op, sizes_rule
from graphwright.onnx.importing.tensors import element_type
from graphwright.onnx.importing.values import Narrow, Sizes, as_tensor


@op("Constant")
def constant(
    *, value: Any = None, sparse_value: Any = None, value_float: float | None = None,
    value_floats: list[float] | None = None, value_int: int | None = None,
    value_ints: list[int] | None = None, value_string: str | None = None,
    value_strings: list[str] | None = None,
) -> Any:  # fmt: skip
    """The value of the one attribute that is given."""
    for whole in (value, sparse_value):
        if whole is not None:
            return whole
    for numbers, dtype in ((value_float, gw.float32), (value_floats, gw.float32),
                           (value_int, gw.int64), (value_ints, gw.int64)):
        if numbers is not None:
            return gw.tensor(numbers, dtype=dtype)
    for text in (value_string, value_strings):
        if text is not None:
            return np.array(text, dtype=object)
    raise ValueError("Constant: no attribute has a value")


@op("ConstantOfShape",
    gives_tensors=lambda attributes: not isinstance(attributes.get("value"), Narrow))
def constant_of_shape(shape: list[int], *, value: Any = None) -> Any:
    """A tensor of the sizes, filled with the one element of `value`, by default a float32 0."""
    tensor = as_tensor(value)
    if tensor is None:
        return gw.zeros(shape)
    filled = tensor.reshape([]).expand(shape).clone()
    return Narrow(filled, value.kind) if isinstance(value, Narrow) else filled


@op("Range")
def range_(start: Any, limit: Any, delta: Any, *, stash_type: int = 1) -> Any:
    """Numbers from `start` to before `limit`, a `delta` from each to the next."""
    ends = [as_tensor(value).item() for value in (start, limit, delta)]
    dtype = as_tensor(start).dtype
    if dtype in (gw.float16, gw.bfloat16):
        return gw.arange(*ends, dtype=gw.float32).to(dtype)
    return gw.arange(*ends, dtype=dtype)


@sizes_rule("Range")
def _numbered(start: Sizes, limit: Sizes, delta: Sizes, **_: Any) -> Any:
    ends = [start.values[0], limit.values[0], delta.values[0]]
    if ends[2] == 0:
        return None
    if start.dtype.is_floating_point or any(type(n) is not int for n in ends):
        return gw.arange(*ends, dtype=start.dtype)
    return start.like(range(*ends)) if len(range(*ends)) <= 64 else None


@sizes_rule("ConstantOfShape")
def _filled(shape: Sizes, value: Any = None) -> Sizes | None:
    if not isinstance(value, Tensor) or value.dtype != gw.int64 or len(shape.values) != 1:
        return None
    count = shape.values[0]
    return Sizes([int(value)] * count) if type(count) is int and count <= 64 else None


@op("EyeLike")
def eye_like(x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    """Ones on the k-th diagonal of a matrix of x's sizes."""
    rows, columns = x.shape
    place = gw.arange(columns).unsqueeze(0) - gw.arange(rows).unsqueeze(1)
    return (place == k).to(x.dtype if dtype is None else dtype_of(dtype))


def _drawn(shape: Any, seed: float | None, draw: Callable[..., Tensor] = gw.rand) -> Tensor:
    """Random float32 numbers, the same for each seed."""
    return draw(list(shape), dtype=gw.float32, generator=_generator(seed))


def _generator(seed: float | None) -> Any:
    if seed is None:
        return None
    number = seed if isinstance(seed, int) else int(np.float32(seed).view(np.uint32))
    return gw.Generator().manual_seed(number)


@op("RandomNormal")
def random_normal(
    *, shape: list[int], dtype: int = 1, mean: float, scale: float, seed: float | None = None
) -> Tensor:
    """Normally distributed numbers of a mean and a deviation."""
    return (_drawn(shape, seed, gw.randn) * scale + mean).to(dtype_of(dtype))


@op("RandomUniform")
def random_uniform(
    *, shape: list[int], dtype: int = 1, low: float, high: float, seed: float | None = None
) -> Tensor:
    """Uniformly distributed numbers from `low` to below `high`."""
    return (_drawn(shape, seed) * (high - low) + low).to(dtype_of(dtype))


def _like(name: str, draw: Callable[..., Tensor]) -> None:
    """Enter the operator that draws numbers of a tensor's sizes and, by default, its dtype."""
    @op(name, options_of=(draw,))
    def compute(x: Tensor, *, dtype: int | None = None, **options: Any) -> Tensor:
        number = element_type(x) if dtype is None else dtype
        return draw(shape=list(x.shape), dtype=number, **options)


_like("RandomNormalLike", random_normal)
_like("RandomUniformLike", random_uniform)


@op("Bernoulli")
def bernoulli(x: Tensor, *, dtype: int | None = None, seed: float | None = None) -> Tensor:
    """1 with the probability that each element of x is, else 0."""
    return (_drawn(x.shape, seed) < x).to(x.dtype if dtype is None else dtype_of(dtype))


@op("Multinomial")
def multinomial(
    x: Tensor, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None
) -> Tensor:
    """Classes drawn with the logarithms x of probabilities, (batch, classes)."""
    drawn = gw.multinomial(
        gw.softmax(x.float(), dim=1), sample_size, replacement=True, generator=_generator(seed)
    )
    return drawn.to(dtype_of(dtype))


@op("Dropout", since=12)
def dropout(
    x: Tensor, ratio: float = 0.5, training_mode: bool = False, *, seed: int | None = None,
    n_outputs: int = 1,
) -> Tensors:  # fmt: skip
    """x, in training with elements zeroed at a rate and others scaled; the mask of those kept."""
    if not training_mode or ratio == 0.0:
        return _with_mask(x, None, n_outputs)
    kept = _drawn(x.shape, seed) >= ratio
    scaled = gw.where(kept, x / (1.0 - ratio), gw.zeros_like(x)) if ratio < 1.0 else x * 0
    return _with_mask(scaled, kept, n_outputs)


def _with_mask(x: Tensor, kept: Tensor | None, n_outputs: int) -> Tensors:
    """A result and, where it is asked for, which elements were kept, by default all."""
    if n_outputs == 1:
        return x
    return x, gw.ones_like(x, dtype=gw.bool) if kept is None else kept


@op("Dropout")
def dropout_of_inference(
    x: Tensor, *, ratio: float = 0.5, is_test: int = 1, n_outputs: int = 1
) -> Tensors:
    """x, and a mask that keeps everything; versions before 7 may ask for training."""
    if is_test:
        return _with_mask(x, None, n_outputs)
    kept = F.dropout(gw.ones_like(x), ratio, training=True)
    return _with_mask(x * kept, kept, n_outputs)
