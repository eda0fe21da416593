"""Ops that draw random numbers. Each draw takes one offset of a generator.

`rand` is the primitive: element i in row-major order is (word >> 8) * 2^-24 of Philox4x32-10;
half types keep the leading bits that they can hold, so that 1 is never drawn. The others are
made of it, but for those of distributions.py that say otherwise.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_size, contiguous_spec, require_cpu
from graphwright.runtime.ops.int_arguments import as_index, as_ints
from graphwright.runtime.ops.kernels import HALVES, wrap
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.symbolic.symint import hint_of
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.generator import ReservedDraws, draw, drawn_at
from graphwright.runtime.tensor.tensor import Tensor

HELD = {dtypes.float16: 2.0**11, dtypes.bfloat16: 2.0**8}
"""Uniform numbers of half types are whole multiples of one over this."""


def uniform(size: tuple[int, ...], dtype: DType, seed: int, offset: int) -> Tensor:
    """Uniform numbers of one draw in [0, 1)."""
    check_size("rand", size)
    out = _core.empty(Tensor, size, dtypes.float32)
    values = out._nd
    _core.philox_uniform(values, seed, offset)
    if dtype is dtypes.float32:
        return out
    held = HELD.get(dtype)
    if held is not None:
        values = np.floor(values * np.float32(held)) / np.float32(held)
    return wrap(values, dtype)


def parts_dtype(dtype: DType) -> DType:
    """The dtype of a complex number's parts."""
    return dtypes.float64 if dtype.itemsize == 16 else dtypes.float32


def _complex(name: str, scale: float) -> Any:
    """The op of complex numbers: two draws as real and imaginary parts."""

    def decompose(size: Any, generator: Any, dtype: DType, device: Any) -> Any:
        parts = [
            getattr(ops, name)(
                size, generator=generator, dtype=parts_dtype(dtype), device=device
            )
            for _ in range(2)
        ]
        if scale != 1.0:
            parts = [ops.mul(p, scale) for p in parts]
        return ops.complex(*parts)

    return decompose


_complex_rand, _complex_randn = _complex("rand", 1.0), _complex("randn", math.sqrt(0.5))


def _float_or_default(name: str, dtype: Any) -> DType:
    target: DType = dtype or dtypes.get_default_dtype()
    if not target.is_floating_point:
        raise NotImplementedError(
            f"{name}: expected a floating point dtype, got {target}"
        )
    return target


def _rand_meta(size: tuple[Any, ...], generator: Any, dtype: Any, device: Any) -> Any:
    check_size("rand", size)
    if dtype is not None and dtype.is_complex:
        raise DataDependent("random complex numbers are drawn when the program runs")
    if generator is not None and type(generator) is not ReservedDraws:
        raise DataDependent("a generator draws its numbers when the program runs")
    return contiguous_spec(size, _float_or_default("rand", dtype), device)


def _rand_eager(size: tuple[int, ...], generator: Any, dtype: Any, device: Any) -> Tensor:
    require_cpu("rand", device)
    check_size("rand", size)
    if dtype is not None and dtype.is_complex:
        return _complex_rand(size, generator, dtype, device)
    return uniform(size, _float_or_default("rand", dtype), *draw(generator))


define(
    "rand(Size* size, *, Generator? generator=None, dtype? dtype=None, device? device=None)",
    Kind.RANDOM,
    meta=_rand_meta,
    vjp=not_differentiable,
    eager=_rand_eager,
    method=False,
    tags=("factory",),
    doc="""Random numbers of the uniform distribution on [0, 1).

    They are made of words of Philox4x32-10: Salmon et al., "Parallel random numbers", 2011.

    Args:
        size: the shape, as one sequence or as several integers.
        generator: the generator that draws; the default one if None.
        dtype: a floating-point or complex dtype; the default dtype if None.
        device: where the result is; the default device if None.

    Raises:
        NotImplementedError: `dtype` is bool or an integer dtype.
        RuntimeError: a size is negative.

    Example:
        >>> gw.rand(2, 3).shape
        graphwright.Size([2, 3])
    """,
)
define(
    "philox_uniform(Size size, dtype dtype, device? device, Tensor place, int index)",
    Kind.RANDOM,
    meta=lambda size, dtype, device, place, index: contiguous_spec(size, dtype, device),
    vjp=not_differentiable,
    eager=lambda size, dtype, device, place, index: uniform(size, dtype, *drawn_at(place, index)),
    method=False,
    public=False,
)
define(
    "rng_uniform(Size size, dtype dtype, device? device, int rng_index)",
    Kind.RANDOM,
    meta=lambda size, dtype, device, rng_index: contiguous_spec(size, dtype, device),
    vjp=not_differentiable,
    eager=lambda size, dtype, device, rng_index: uniform(size, dtype, *draw(None)),
    method=False,
    public=False,
)


# -- floats


def _randn(size: tuple[Any, ...], generator: Any, dtype: Any, device: Any) -> Any:
    """Box-Muller: sqrt(-2 ln(1-u)) cos(2 pi v) for independent uniforms u, v."""
    if dtype is not None and dtype.is_complex:
        return _complex_randn(size, generator, dtype, device)
    target = _float_or_default("randn", dtype)
    if target in HALVES:
        values = ops.randn(size, generator=generator, dtype=dtypes.float32, device=device)
        return ops.to_dtype(values, target)
    radius = ops.rand(size, generator=generator, dtype=target, device=device)
    angle = ops.rand(size, generator=generator, dtype=target, device=device)
    length = ops.sqrt(ops.mul(ops.log1p(ops.neg(radius)), -2.0))
    return ops.mul(length, ops.cos(ops.mul(angle, 2.0 * math.pi)))


define(
    "randn(Size* size, *, Generator? generator=None, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_randn,
    method=False,
    tags=("factory",),
    doc="""Random numbers of the standard normal distribution, by the transform of Box and Muller.

    Of complex numbers, the variance of each part is 1/2.

    Args:
        size: the shape, as one sequence or as several integers.
        generator: the generator that draws; the default one if None.
        dtype: a floating-point or complex dtype; the default dtype if None.
        device: where the result is; the default device if None.

    Raises:
        NotImplementedError: `dtype` is bool or an integer dtype.
        RuntimeError: a size is negative.

    Example:
        >>> gw.randn(2, 3).shape
        graphwright.Size([2, 3])
    """,
)


def _laid_out(input: Any, values: Any) -> Any:
    """Fresh values in the layout of `empty_like(input)`."""
    if input.stride() == contiguous_strides(input.shape):
        return values
    place = None if values.device == input.device else values.device
    return ops.copy(ops.empty_like(input, dtype=values.dtype, device=place), values)


def _like(name: str) -> Any:
    def decompose(input: Any, generator: Any, dtype: Any, device: Any) -> Any:
        values = getattr(ops, name)(
            tuple(input.shape),
            generator=generator,
            dtype=dtype or input.dtype,
            device=device or input.device,
        )
        return _laid_out(input, values)

    return decompose


for _name, _what in (("rand", "uniform numbers on [0, 1)"), ("randn", "standard normal numbers")):
    define(
        f"{_name}_like(Tensor input, *, Generator? generator=None, dtype? dtype=None, "
        "device? device=None)",
        Kind.COMPOSITE,
        decompose=_like(_name),
        method=False,
        tags=("factory",),
        doc=f"""Tensor of the shape of `input` with {_what}: see `{_name}`.

        Args:
            input: a tensor of any shape.
            generator: the generator that draws; the default one if None.
            dtype: a floating-point or complex dtype; that of `input` if None.
            device: where the result is; the device of `input` if None.

        Raises:
            NotImplementedError: the dtype is bool or an integer one.

        Example:
            >>> gw.{_name}_like(gw.zeros(2, 3)).shape
            graphwright.Size([2, 3])
        """,
    )


# -- integers

_LOW, _HIGH = -(1 << 63), (1 << 63) - 1


def _bits_of_uniforms(size: Any, generator: Any, device: Any) -> Any:
    def part() -> Any:
        values = ops.rand(size, generator=generator, dtype=dtypes.float64, device=device)
        return ops.to_dtype(ops.mul(values, 2.0**24), dtypes.int64)

    high = ops.bitwise_left_shift(part(), 40)
    middle = ops.bitwise_left_shift(part(), 16)
    low = ops.bitwise_right_shift(part(), 8)
    return ops.bitwise_or(ops.bitwise_or(high, middle), low)


def _bits_eager(size: tuple[int, ...], generator: Any, device: Any) -> Tensor:
    require_cpu("random_bits", device)
    bits = _core.empty(Tensor, size, dtypes.int64)
    words = np.empty(size, np.uint32)
    total = bits._nd
    for number, (drop, shift) in enumerate(((8, 40), (8, 16), (16, 0))):
        _core.philox_words(words, *draw(generator))
        part = (words >> np.uint32(drop)).astype(np.int64) << shift
        if number:
            np.bitwise_or(total, part, total)
        else:
            np.copyto(total, part)
    return bits


def _scaled(size: Any, low: Any, width: Any, generator: Any, device: Any) -> Any:
    values = ops.rand(size, generator=generator, dtype=dtypes.float64, device=device)
    return ops.add(ops.to_dtype(ops.floor(ops.mul(values, width)), dtypes.int64), low)


def _scaled_eager(
    size: tuple[int, ...], low: int, width: int, generator: Any, device: Any
) -> Tensor:
    require_cpu("random_scaled", device)
    out = _core.empty(Tensor, size, dtypes.int64)
    values = np.empty(size, np.float32)
    _core.philox_uniform(values, *draw(generator))
    np.copyto(out._nd, np.multiply(values, width, dtype=np.float64), casting="unsafe")
    if low:
        np.add(out._nd, low, out._nd)
    return out


define(
    "random_bits(Size size, Generator? generator, device? device)",
    Kind.COMPOSITE,
    decompose=_bits_of_uniforms,
    eager=_bits_eager,
    method=False,
    public=False,
)
define(
    "random_scaled(Size size, int low, int width, Generator? generator, device? device)",
    Kind.COMPOSITE,
    decompose=_scaled,
    eager=_scaled_eager,
    method=False,
    public=False,
)


def _integers(low: Any, width: Any, size: Any, generator: Any, device: Any) -> Any:
    """int64 numbers in [low, low + width): floor(u width) up to 2^24, else 64 bits modulo.

    The bits are 24, 24 and 16 of three draws.
    """
    if width <= 1 << 24:
        return ops.random_scaled(size, low, width, generator, device)
    bits = ops.random_bits(size, generator, device)
    if width <= _HIGH:
        return ops.add(ops.remainder(ops.bitwise_and(bits, _HIGH), width), low)
    if width < 1 << 64:
        inside = ops.lt(ops.bitwise_xor(bits, _LOW), width - (1 << 63))
        bits = ops.where(inside, bits, ops.add(bits, (1 << 64) - width))
    return ops.add(bits, low)


_FLOAT_DIGITS = {
    dtypes.float16: 11, dtypes.bfloat16: 8, dtypes.float32: 24, dtypes.float64: 53,
}


def bounds(dtype: DType) -> tuple[int, int]:
    """The least and greatest integer that a dtype holds exactly."""
    if dtype is dtypes.bool:
        return 0, 1
    digits = _FLOAT_DIGITS.get(dtype)
    if digits is not None:
        return -(1 << digits), 1 << digits
    bits = 8 * dtype.itemsize
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if dtype.is_signed else (0, (1 << bits) - 1)


def whole_bounds(name: str, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds as ints, None as it is. Raises TypeError for what counts as no int."""
    first, last = (
        None if bound is None else as_index(f"{name}(): a bound", bound) for bound in (low, high)
    )
    return first, last


def _check_range(low: Any, high: Any, dtype: DType) -> None:
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    if dtype.is_complex:
        raise NotImplementedError(f"randint: not implemented for {dtype}")
    least, greatest = bounds(dtype)
    for name, value in (("from", low), ("to - 1", high - 1)):
        if not least <= value <= greatest:
            raise RuntimeError(f"{name} is out of bounds for {dtype}: {value}")


def drawn(low: Any, high: Any, size: Any, generator: Any, dtype: Any, device: Any) -> Any:
    target = dtype or dtypes.int64
    _check_range(low, high, target)
    values = _integers(low, high - low, size, generator, device)
    return values if target is dtypes.int64 else ops.to_dtype(values, target)


def _randint(
    low: Any, high: Any, size: Any, generator: Any, dtype: Any, device: Any
) -> Any:
    """randint(high, size) and randint(low, high, size), each also by name."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    low, high = whole_bounds("randint", low or 0, high)
    if size is None or high is None:
        raise TypeError("randint() received an invalid combination of arguments: no size")
    shape = as_ints("randint(): argument 'size'", size)
    check_size("randint", shape)
    return drawn(low, high, shape, generator, dtype, device)


def _randint_like(input: Any, low: Any, high: Any, dtype: Any, device: Any) -> Any:
    """`low` alone is the bound above, as `high` alone is."""
    if low is None and high is None:
        raise TypeError("randint_like() missing 1 required positional argument: 'high'")
    first, last = (0, low) if high is None else (low or 0, high)
    first, last = (int(v.item()) if isinstance(v, Tensor) else v for v in (first, last))
    shape, place = tuple(input.shape), device or input.device
    return _laid_out(input, drawn(first, last, shape, None, dtype or input.dtype, place))


def _permutation_dtype(n: int, dtype: Any) -> DType:
    """The dtype of a permutation. Raises RuntimeError for what it cannot hold."""
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}")
    target: DType = dtype or dtypes.int64
    if n - 1 > bounds(target)[1]:
        raise RuntimeError(f"n = {n} is too large for a permutation of dtype {target}")
    return target


def _bit_length(n: Any) -> int:
    """The number of bits of n, which a graph is specialised to, not to n itself."""
    count = hint_of(n).bit_length()
    return count if n < 1 << count and n >= 1 << (count - 1) else int(n).bit_length()


def _randperm(n: Any, generator: Any, dtype: Any, device: Any) -> Any:
    """Random bits, their lowest replaced by the places, put in order: the places that remain."""
    target = _permutation_dtype(n, dtype)
    shift = _bit_length(n)
    keys = ops.bitwise_left_shift(ops.random_bits((n,), generator, device), shift)
    keys = ops.bitwise_or(keys, ops.arange(n, device=device))
    order = ops.bitwise_and(ops.sort(keys)[0], (1 << shift) - 1)
    return order if target is dtypes.int64 else ops.to_dtype(order, target)


def _randperm_eager(n: int, generator: Any, dtype: Any, device: Any) -> Tensor:
    target = _permutation_dtype(n, dtype)
    shift = int(n).bit_length()
    bits = _bits_eager((n,), generator, device)
    keys = bits._nd
    np.left_shift(keys, shift, keys)
    np.bitwise_or(keys, np.arange(n), keys)
    keys.sort()
    np.bitwise_and(keys, (1 << shift) - 1, keys)
    return bits if target is dtypes.int64 else wrap(keys, target)


define(
    "randint(SymInt? low=None, object high=None, object size=None, *, Generator? generator=None, "
    "dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_randint,
    method=False,
    tags=("factory",),
    doc="""Random integers of the uniform distribution on [low, high).

    The calls are `randint(high, size)` and `randint(low, high, size)`.

    Args:
        low: the least integer; 0 if it is not given.
        high: the bound above, which is never drawn.
        size: the shape, a sequence of integers.
        generator: the generator that draws; the default one if None.
        dtype: a real dtype that holds the bounds; int64 if None.
        device: where the result is; the default device if None.

    Raises:
        NotImplementedError: `dtype` is complex.
        RuntimeError: `low` is not below `high`, or the dtype does not hold the integers.
        TypeError: there is no size, or a bound is not an integer.

    Example:
        >>> gw.randint(3, 4, (2,))
        tensor([3, 3])
    """,
)
define(
    "randint_like(Tensor input, object low=None, object high=None, *, dtype? dtype=None, "
    "device? device=None)",
    Kind.COMPOSITE,
    decompose=_randint_like,
    method=False,
    tags=("factory",),
    doc="""Tensor of the shape of `input` with random integers on [low, high): see `randint`.

    Args:
        input: a tensor of any shape.
        low: the least integer; where it is given alone, the bound above.
        high: the bound above, which is never drawn.
        dtype: a real dtype that holds the bounds; that of `input` if None.
        device: where the result is; the device of `input` if None.

    Raises:
        NotImplementedError: the dtype is complex.
        RuntimeError: `low` is not below `high`, or the dtype does not hold the integers.
        TypeError: there is no bound.

    Example:
        >>> gw.randint_like(gw.zeros(2), 3, 4)
        tensor([3., 3.])
    """,
)
define(
    "randperm(SymInt n, *, Generator? generator=None, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_randperm,
    eager=_randperm_eager,
    method=False,
    tags=("factory",),
    doc="""Random permutation of the integers from 0 to n - 1.

    Args:
        n: the number of integers, at least 0.
        generator: the generator that draws; the default one if None.
        dtype: a dtype that holds n - 1; int64 if None.
        device: where the result is; the default device if None.

    Returns: a tensor of shape [n].

    Raises:
        RuntimeError: `n` is negative, or the dtype does not hold n - 1.

    Example:
        >>> gw.randperm(4).sort().values
        tensor([0, 1, 2, 3])
    """,
)
