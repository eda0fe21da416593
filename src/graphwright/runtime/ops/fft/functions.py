"""The functions of `graphwright.fft`, in terms of three primitive transforms.

`norm` says where the factor 1/n is: "backward" (the default) on transforms back, "forward" on
the others, "ortho" its root on both.
"""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
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


_FACTORS = '{} by "backward" or None, 1 / sqrt(n) by "ortho", {} by "forward"'
_ONE_DOC = """{what}.

    {how}

    Args:
        input: {input}; integers are taken as the default dtype.
        n: the length of the {side}, for which `input` is cut or filled up with zeros;
            {length} if None.
        dim: the dim that is transformed.
        norm: the factor of the result:
            {factors}.

    Returns: a {result} tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `n` is less than 1, `norm` is unknown, or `input` is
            {refused}.

    Example:
        >>> {example}
    """
_MANY_DOC = """{what}, along {dims}.

    It is `fft.{name}` along the last of these dims, `fft.{other}` along the others.

    Args:
        input: {input}; integers are taken as the default dtype.
        s: the length of the {side} along each of these dims, as `n` of `fft.{name}` and
            `fft.{other}`; -1 is their None, as is None for all.
        dim: {dim}.
        norm: the factor of the result, with n the product of the lengths:
            {factors}.

    Returns: a {result} tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is {refused}.

    Example:
        >>> gw.fft.{label}(gw.ones(4, 6)).shape
        graphwright.Size([4, {size}])
    """
_ALL_DIMS = "the dims that are transformed; the last `len(s)` if None, all without `s`"


def _define_kind(kind: Any, name: str, last: Any, other: str, size: int, **doc: str) -> None:
    """The transforms over one dim, two and all: `<name>`, `<name>2`, `<name>n`.

    `other`: the transform along all dims but the last; `size`: what 6 elements are made.
    """
    forward = other == "fft"
    factors = ("1", "1 / n") if forward else ("1 / n", "1")
    texts = {**doc, "name": name, "other": other, "factors": _FACTORS.format(*factors)}

    def one(input: Any, n: Any, dim: int, norm: Any) -> Any:
        label = f"fft_{name}"
        return kind(label, input, _one(label, input, n, dim, last), norm, forward)

    def several(label: str) -> Any:
        def run(input: Any, s: Any, dim: Any, norm: Any) -> Any:
            return kind(label, input, _many(label, input, s, dim, last), norm, forward)

        return run

    for suffix, params, template, dims, dim in (
        ("", _ONE, _ONE_DOC, "", ""),
        ("2", _SOME, _MANY_DOC, "two dims", "the two dims"),
        ("n", _ALL, _MANY_DOC, "several dims", _ALL_DIMS),
    ):
        label = f"fft_{name}{suffix}"
        define(
            f"{label}(Tensor input, {params})",
            Kind.COMPOSITE,
            decompose=several(label) if suffix else one,
            method=False,
            public=False,
            doc=template.format(label=name + suffix, dims=dims, dim=dim, size=size, **texts),
        )


_define_kind(
    _c2c,
    "fft",
    None,
    "fft",
    6,
    what="Discrete Fourier transform",
    how="`X[k] = sum_j x[j] * exp(-2 pi i j k / n)`.",
    input="real or complex",
    refused="of half precision",
    side="transform",
    length="that of `input`",
    result="complex",
    example="""gw.fft.fft(gw.tensor([0.0, 1.0, 2.0, 3.0]))
        tensor([ 6.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])""",
)
_define_kind(
    _c2c,
    "ifft",
    None,
    "ifft",
    6,
    what="Inverse discrete Fourier transform",
    how="`x[j] = 1 / n * sum_k X[k] * exp(2 pi i j k / n)`.",
    input="real or complex",
    refused="of half precision",
    side="transform",
    length="that of `input`",
    result="complex",
    example="""gw.fft.ifft(gw.tensor([4.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])""",
)
_define_kind(
    _r2c,
    "rfft",
    None,
    "fft",
    4,
    what="Fourier transform of a real signal, the non-negative frequencies",
    how="The other frequencies are conjugates of these `n // 2 + 1`.",
    input="real",
    refused="complex or of half precision",
    side="signal",
    length="that of `input`",
    result="complex",
    example="""gw.fft.rfft(gw.tensor([0.0, 1.0, 2.0, 3.0]))
        tensor([ 6.+0.j, -2.+2.j, -2.+0.j])""",
)
_define_kind(
    _c2r,
    "irfft",
    _full_size,
    "ifft",
    10,
    what="Inverse of `fft.rfft`: the real signal of a half spectrum",
    how="The imaginary parts of the frequencies 0 and `n / 2` are taken for 0.",
    input="the `n // 2 + 1` frequencies from 0",
    refused="of half precision",
    side="result",
    length="2 (m - 1) of m frequencies",
    result="real",
    example="""gw.fft.irfft(gw.tensor([6.0, -2 + 2j, -2.0]))
        tensor([0., 1., 2., 3.])""",
)
_define_kind(
    _c2r,
    "hfft",
    _full_size,
    "fft",
    10,
    what="Fourier transform of a Hermitian signal, of which half is given",
    how="The spectrum of a signal with `x[-j] = conj(x[j])` is real.",
    input="the `n // 2 + 1` elements from 0",
    refused="of half precision",
    side="result",
    length="2 (m - 1) of m elements",
    result="real",
    example="""gw.fft.hfft(gw.tensor([0.0, 1.0, 2.0, 3.0]))
        tensor([ 9., -4.,  0., -1.,  0., -4.])""",
)
_define_kind(
    _r2c,
    "ihfft",
    None,
    "ifft",
    4,
    what="Inverse of `fft.hfft`: half the Hermitian signal of a real spectrum",
    how="The other elements are conjugates of these `n // 2 + 1`.",
    input="real",
    refused="complex or of half precision",
    side="spectrum",
    length="that of `input`",
    result="complex",
    example="""gw.fft.ihfft(gw.tensor([4.0, 0.0, 0.0, 0.0])).real
        tensor([1., 1., 1.])""",
)


# -- frequencies and their order


def _frequencies(name: str, n: Any, d: float, dtype: Any, device: Any, values: Any) -> Any:
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


def _define_frequencies(name: str, function: Any, doc: str) -> None:
    define(
        f"{name}(int n, float d=1.0, *, dtype? dtype=None, device? device=None)",
        Kind.COMPOSITE,
        decompose=function,
        vjp=not_differentiable,
        method=False,
        public=False,
        tags=("factory",),
        doc=doc,
    )


_define_frequencies(
    "fft_fftfreq",
    _fftfreq,
    doc="""Frequencies of the elements of `fft.fft`, in cycles per unit of `d`.

    `[0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1] / (n * d)`.

    Args:
        n: the length of the transform.
        d: the distance between samples.
        dtype: floating point or complex; the default dtype if None.
        device: the CPU.

    Returns: a tensor of shape `(n,)`.

    Raises:
        RuntimeError: `dtype` is that of integers.

    Example:
        >>> gw.fft.fftfreq(5)
        tensor([ 0.0000,  0.2000,  0.4000, -0.4000, -0.2000])
    """,
)
_define_frequencies(
    "fft_rfftfreq",
    _rfftfreq,
    doc="""Frequencies of the elements of `fft.rfft`, in cycles per unit of `d`.

    `[0, 1, ..., n // 2] / (n * d)`.

    Args:
        n: the length of the signal.
        d: the distance between samples.
        dtype: floating point or complex; the default dtype if None.
        device: the CPU.

    Returns: a tensor of shape `(n // 2 + 1,)`.

    Raises:
        RuntimeError: `dtype` is that of integers.

    Example:
        >>> gw.fft.rfftfreq(4)
        tensor([0.0000, 0.2500, 0.5000])
    """,
)


def _shifted(input: Any, dim: Any, back: bool) -> Any:
    dims = range(input.ndim) if dim is None else _as_dims("fftshift", dim)
    places = tuple(wrap_dim(d, input.ndim) for d in dims)
    sizes = [input.shape[d] for d in places]
    return ops.roll(input, tuple((n + 1) // 2 if back else n // 2 for n in sizes), places)


define(
    "fft_fftshift(Tensor input, Ints? dim=None)",
    Kind.COMPOSITE,
    decompose=lambda input, dim: _shifted(input, dim, False),
    method=False,
    public=False,
    doc="""Spectrum with frequency 0 in the middle: rolled by `n // 2` along the dims.

    Args:
        input: a tensor.
        dim: the dim or dims that are rolled; all if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.fft.fftshift(gw.tensor([0, 1, 2, -2, -1]))
        tensor([-2, -1,  0,  1,  2])
    """,
)
define(
    "fft_ifftshift(Tensor input, Ints? dim=None)",
    Kind.COMPOSITE,
    decompose=lambda input, dim: _shifted(input, dim, True),
    method=False,
    public=False,
    doc="""Inverse of `fft.fftshift`: rolled by `(n + 1) // 2` along the dims.

    Args:
        input: a tensor.
        dim: the dim or dims that are rolled; all if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.fft.ifftshift(gw.tensor([-2, -1, 0, 1, 2]))
        tensor([ 0,  1,  2, -2, -1])
    """,
)
