"""Ops that draw random numbers. Each draw takes one offset of a generator.

`rand` is the primitive: element i in row-major order is (word >> 8) * 2^-24 of Philox4x32-10;
half types keep the leading bits that they can hold, so that 1 is never drawn. The others are
made of it, but for `poisson` and `binomial`, which reject and therefore run eagerly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.creation.fill import check_size, contiguous_spec, require_cpu
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.int_arguments import as_index, as_ints
from graphwright.runtime.ops.kernels import HALVES, allocate, copy_into, wrap
from graphwright.runtime.ops.strides import contiguous_strides, preserved_strides
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.ops.value_checks import checked, inside
from graphwright.runtime.ops.views.layouts import row_major
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


for _name in ("rand", "randn"):
    define(
        f"{_name}_like(Tensor input, *, Generator? generator=None, dtype? dtype=None, "
        "device? device=None)",
        Kind.COMPOSITE,
        decompose=_like(_name),
        method=False,
        tags=("factory",),
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
)
define(
    "randint_like(Tensor input, object low=None, object high=None, *, dtype? dtype=None, "
    "device? device=None)",
    Kind.COMPOSITE,
    decompose=_randint_like,
    method=False,
    tags=("factory",),
)
define(
    "randperm(SymInt n, *, Generator? generator=None, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_randperm,
    eager=_randperm_eager,
    method=False,
    tags=("factory",),
)


# -- distributions


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
    require_cpu("normal", device)
    like = tensors[0] if len(tensors) == 1 else ops.add(mean, std)
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


for _schema, _function in (
    ("poisson(Tensor input, Generator? generator=None)", _poisson),
    ("binomial(Tensor count, Tensor prob, Generator? generator=None)", _binomial),
):
    define(
        _schema,
        Kind.OTHER,
        vjp=not_differentiable,
        eager=_function,
        method=False,
        tags=("data_dependent",),
    )
