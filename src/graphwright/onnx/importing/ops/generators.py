"""Constants, ranges, and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.element_types import dtype_of
from graphwright.onnx.importing.opsets import Tensors, op, sizes_rule
from graphwright.onnx.importing.tensors import element_type
from graphwright.onnx.importing.values import Narrow, Sizes, as_tensor


def _is_wide(value: Any) -> bool:
    return not isinstance(value, Narrow)


@op("Constant")
def constant(
    *, value: Any = None, sparse_value: Any = None, value_float: float | None = None,
    value_floats: list[float] | None = None, value_int: int | None = None,
    value_ints: list[int] | None = None, value_string: str | None = None,
    value_strings: list[str] | None = None,
) -> Any:  # fmt: skip
    """The value of the one attribute that is given."""
    if value is not None or sparse_value is not None:
        return value if value is not None else sparse_value
    numbers = value_float if value_float is not None else value_floats
    if numbers is not None:
        return gw.tensor(numbers, dtype=gw.float32)
    whole = value_int if value_int is not None else value_ints
    if whole is not None:
        return gw.tensor(whole, dtype=gw.int64)
    text = value_string if value_string is not None else value_strings
    if text is None:
        raise ValueError("Constant: no attribute has a value")
    return np.array(text, dtype=object)


@op("ConstantOfShape", gives_tensors=lambda attributes: _is_wide(attributes.get("value")))
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


def _generator(seed: float | None) -> Any:
    if seed is None:
        return None
    generator = gw.Generator()
    generator.manual_seed(int(np.float32(seed).view(np.uint32)))
    return generator


@op("RandomNormal")
def random_normal(
    *, shape: list[int], dtype: int = 1, mean: float, scale: float, seed: float | None = None
) -> Tensor:
    """Normally distributed numbers of a mean and a deviation."""
    drawn = gw.randn(shape, dtype=gw.float32, generator=_generator(seed))
    return (drawn * scale + mean).to(dtype_of(dtype))


@op("RandomUniform")
def random_uniform(
    *, shape: list[int], dtype: int = 1, low: float, high: float, seed: float | None = None
) -> Tensor:
    """Uniformly distributed numbers from `low` to below `high`."""
    drawn = gw.rand(shape, dtype=gw.float32, generator=_generator(seed))
    return (drawn * (high - low) + low).to(dtype_of(dtype))


@op("RandomNormalLike")
def random_normal_like(
    x: Tensor, *, dtype: int | None = None, mean: float, scale: float, seed: float | None = None
) -> Tensor:
    """RandomNormal of x's sizes and, by default, its dtype."""
    number = element_type(x) if dtype is None else dtype
    return random_normal(shape=list(x.shape), dtype=number, mean=mean, scale=scale, seed=seed)


@op("RandomUniformLike")
def random_uniform_like(
    x: Tensor, *, dtype: int | None = None, low: float, high: float, seed: float | None = None
) -> Tensor:
    """RandomUniform of x's sizes and, by default, its dtype."""
    number = element_type(x) if dtype is None else dtype
    return random_uniform(shape=list(x.shape), dtype=number, low=low, high=high, seed=seed)


@op("Bernoulli")
def bernoulli(x: Tensor, *, dtype: int | None = None, seed: float | None = None) -> Tensor:
    """1 with the probability that each element of x is, else 0."""
    drawn = gw.rand(list(x.shape), dtype=gw.float32, generator=_generator(seed)) < x
    return drawn.to(x.dtype if dtype is None else dtype_of(dtype))


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
        kept = gw.ones_like(x, dtype=gw.bool)
        return (x, kept) if n_outputs > 1 else x
    generator = None
    if seed is not None:
        generator = gw.Generator()
        generator.manual_seed(seed)
    kept = gw.rand(list(x.shape), dtype=gw.float32, generator=generator) >= ratio
    scaled = gw.where(kept, x / (1.0 - ratio), gw.zeros_like(x)) if ratio < 1.0 else x * 0
    return (scaled, kept) if n_outputs > 1 else scaled


@op("Dropout")
def dropout_of_inference(
    x: Tensor, *, ratio: float = 0.5, is_test: int = 1, n_outputs: int = 1
) -> Tensors:
    """x, and a mask that keeps everything; versions before 7 may ask for training."""
    if not is_test:
        kept = F.dropout(gw.ones_like(x), ratio, training=True)
        return (x * kept, kept) if n_outputs > 1 else x * kept
    return (x, gw.ones_like(x, dtype=gw.bool)) if n_outputs > 1 else x


