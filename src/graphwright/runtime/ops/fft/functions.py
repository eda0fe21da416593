"""The functions of `graphwright.fft`, in terms of three primitive transforms.

`norm` says where the factor 1/n is: "backward" (the default) on transforms back, "forward" on
the others, "ortho" its root on both.
"""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.creation.fill import require_cpu
from graphwright.runtime.ops.kernels import HALVES
from graphwright.runtime.ops.products.contractions import conjugated
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.tensor import dtypes

Plan = list[tuple[int, Any]]
"""The dims that are transformed and their sizes, in order."""


def _factor(name: str, norm: Any, plan: Plan, forward: bool) -> float:
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f"{name}: Invalid normalization mode: {norm!r}")
    count = math.prod(int(size) for _, size in plan)
    if norm == "ortho":
        return 1.0 / math.sqrt(count)
    return 1.0 / count if forward == (norm == "forward") else 1.0


def _number(name: str, input: Any, complex: bool) -> Any:
    """The input in a dtype that can be transformed."""
    if input.dtype in HALVES:
        raise RuntimeError(f"{name}: Unsupported dtype {input.dtype.name}: {describe(input)}")
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        input = ops.to_dtype(input, dtypes.get_default_dtype())
    if complex and not input.dtype.is_complex:
        return ops.to_dtype(input, input.dtype.to_complex())
    if not complex and input.dtype.is_complex:
        raise RuntimeError(
            f"{name} expects a real input tensor, but got {describe(input)}"
        )
    return input


def _one(name: str, input: Any, n: Any, dim: int, last: Any = None) -> Plan:
    """The plan of a transform over one dim; `last` computes the size where none is given."""
    if not input.ndim:
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    dim = wrap_dim(dim, input.ndim)
    size = input.shape[dim] if last is None else last(input.shape[dim])
    return _checked(name, input, [(dim, size if n is None else n)])


def _checked(name: str, input: Any, plan: Plan) -> Plan:
    for _, size in plan:
        if not hasattr(size, "__index__"):
            raise TypeError(f"{name}: sizes must be ints, not {type(size).__name__}")
        if size < 1:
            raise RuntimeError(
                f"{name}: Invalid number of data points ({size}) specified for {describe(input)}"
            )
    return plan


def _as_dims(name: str, value: Any) -> tuple[Any, ...]:
    values = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(hasattr(v, "__index__") for v in values):
        raise TypeError(f"{name}: sizes and dims must be ints, got {value!r}")
    return values


def _many(name: str, input: Any, s: Any, dim: Any, last: Any = None) -> Plan:
    """The plan of a transform over several dims: of `s`, of `dim`, or of all."""
    given = None if s is None else _as_dims(name, s)
    if dim is None:
        count = input.ndim if given is None else len(given)
        if count > input.ndim:
            raise RuntimeError(
                f"{name}: Got shape with {count} values but input tensor only has {input.ndim} "
                "dimensions."
            )
        dims: tuple[int, ...] = tuple(range(input.ndim - count, input.ndim))
    else:
        dims = tuple(wrap_dim(d, input.ndim) for d in _as_dims(name, dim))
    if len(set(dims)) != len(dims):
        raise RuntimeError(f"{name}: FFT dims must be unique, got {list(dims)}")
    if given is not None and len(given) != len(dims):
        raise RuntimeError(
            f"{name}: When given, dim and shape arguments must have the same length, got "
            f"{list(dims)} and {list(given)}"
        )
    sizes = [input.shape[d] for d in dims]
    if sizes and last is not None:
        sizes[-1] = last(sizes[-1])
    if given is not None:
        sizes = [old if new == -1 else new for old, new in zip(sizes, given, strict=True)]
    return _checked(name, input, list(zip(dims, sizes, strict=True)))


def _fitted(input: Any, plan: Plan) -> Any:
    """The input with the sizes of the plan: cut, or filled up with zeros."""
    for dim, size in plan:
        have = input.shape[dim]
        if size < have:
            input = ops.slice(input, dim, 0, size)
        elif size > have:
            after = [0, size - have]
            input = ops.constant_pad_nd(input, (0, 0) * (input.ndim - 1 - dim) + tuple(after))
    return input


def _c2c(name: str, input: Any, plan: Plan, norm: Any, forward: bool) -> Any:
    value = _fitted(_number(name, input, complex=True), plan)
    scale = _factor(name, norm, plan, forward)
    return ops.fft_c2c(value, tuple(dim for dim, _ in plan), scale, forward)


def _r2c(name: str, input: Any, plan: Plan, norm: Any, forward: bool) -> Any:
    """Over the last dim of the plan to half a spectrum, then over the others.

    In memory the others lie around the last dim, but inside of it after `ihfftn`.
    """
    if not plan:
        raise RuntimeError(f"{name} must transform at least one axis")
    value = _fitted(_number(name, input, complex=False), plan)
    *others, (dim, _) = plan
    half = ops.fft_r2c(value, dim, _factor(name, norm, plan, forward))
    half = half if forward else conjugated(half)
    dims = tuple(d for d, _ in others)
    inner = (dim,) if forward else ()
    return ops.fft_c2c(half, dims, 1.0, forward, inner) if dims else half


def _c2r(name: str, input: Any, plan: Plan, norm: Any, forward: bool) -> Any:
    """The opposite: over the other dims, then from half a spectrum."""
    if not plan:
        raise RuntimeError(f"{name} must transform at least one axis")
    *others, (dim, size) = plan
    halved: Plan = [*others, (dim, size // 2 + 1)]
    value = _fitted(_number(name, input, complex=True), halved)
    dims = tuple(d for d, _ in others)
    value = ops.fft_c2c(value, dims, 1.0, forward) if dims else value
    value = conjugated(value) if forward else value
    return ops.fft_c2r(value, dim, size, _factor(name, norm, plan, forward))


def _full_size(half: Any) -> Any:
    return 2 * (half - 1)


_ONE = "SymInt? n=None, int dim=-1, str? norm=None"
_SOME = "Ints? s=None, Ints dim=(-2, -1), str? norm=None"
_ALL = "Ints? s=None, Ints? dim=None, str? norm=None"


def _define_kind(kind: Any, name: str, forward: bool, last: Any) -> None:
    """The transforms over one dim, two and all: `<name>`, `<name>2`, `<name>n`."""

    def one(input: Any, n: Any, dim: int, norm: Any) -> Any:
        label = f"fft_{name}"
        return kind(label, input, _one(label, input, n, dim, last), norm, forward)

    def several(label: str) -> Any:
        def run(input: Any, s: Any, dim: Any, norm: Any) -> Any:
            return kind(label, input, _many(label, input, s, dim, last), norm, forward)

        return run

    for label, params, function in (
        (f"fft_{name}", _ONE, one),
        (f"fft_{name}2", _SOME, several(f"fft_{name}2")),
        (f"fft_{name}n", _ALL, several(f"fft_{name}n")),
    ):
        define(
            f"{label}(Tensor input, {params})",
            Kind.COMPOSITE,
            decompose=function,
            method=False,
            public=False,
        )


for _kind, _name, _forward, _last in (
    (_c2c, "fft", True, None),
    (_c2c, "ifft", False, None),
    (_r2c, "rfft", True, None),
    (_c2r, "irfft", False, _full_size),
    (_c2r, "hfft", True, _full_size),
    (_r2c, "ihfft", False, None),
):
    _define_kind(_kind, _name, _forward, _last)


# -- frequencies and their order


def _frequencies(name: str, n: Any, d: float, dtype: Any, device: Any, values: Any) -> Any:
    require_cpu(name, device)
    dtype = dtype or dtypes.get_default_dtype()
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype, got {dtype.name}")
    found = ops.cat(tuple(ops.arange(a, b, dtype=dtype, device=device) for a, b in values), 0)
    return ops.mul(found, 1.0 / (n * d) if n * d else math.inf)


def _fftfreq(n: int, d: float, dtype: Any, device: Any) -> Any:
    middle = (n + 1) // 2
    parts = ((0, middle), (middle - n, 0))
    return _frequencies("fft_fftfreq", n, d, dtype, device, parts)


def _rfftfreq(n: int, d: float, dtype: Any, device: Any) -> Any:
    return _frequencies("fft_rfftfreq", n, d, dtype, device, ((0, n // 2 + 1),))


for _name, _function in (("fft_fftfreq", _fftfreq), ("fft_rfftfreq", _rfftfreq)):
    define(
        f"{_name}(int n, float d=1.0, *, dtype? dtype=None, device? device=None)",
        Kind.COMPOSITE,
        decompose=_function,
        vjp=not_differentiable,
        method=False,
        public=False,
        tags=("factory",),
    )


def _shifted(input: Any, dim: Any, back: bool) -> Any:
    dims = range(input.ndim) if dim is None else _as_dims("fftshift", dim)
    places = tuple(wrap_dim(d, input.ndim) for d in dims)
    sizes = [input.shape[d] for d in places]
    return ops.roll(input, tuple((n + 1) // 2 if back else n // 2 for n in sizes), places)


for _name, _back in (("fft_fftshift", False), ("fft_ifftshift", True)):
    define(
        f"{_name}(Tensor input, Ints? dim=None)",
        Kind.COMPOSITE,
        decompose=lambda input, dim, back=_back: _shifted(input, dim, back),
        method=False,
        public=False,
    )
