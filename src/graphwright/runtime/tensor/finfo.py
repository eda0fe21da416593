"""`finfo` and `iinfo`: the numeric limits of dtypes, as in PyTorch."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.float8 import FORMATS


@cache
def _limits(real: DType) -> tuple[Any, ...]:
    """bits, eps, max, min, tiny, resolution and name of a floating point dtype."""
    if real in dtypes.FLOAT8:
        return _float8_limits(real)
    limits: Any = ml_dtypes.finfo(real.numpy) if real is dtypes.bfloat16 else np.finfo(real.numpy)
    numbers = (float(n) for n in (limits.eps, limits.max, limits.min, limits.smallest_normal))
    return int(limits.bits), *numbers, float(f"{float(limits.resolution):.0e}"), real.name


def _float8_limits(real: DType) -> tuple[Any, ...]:
    """`_limits` of a float8 dtype. PyTorch gives float8_e5m2fnuz half of its epsilon; so do we."""
    form = FORMATS[real.name]
    codes = np.array([form.largest, form.least_normal], np.uint8)
    largest, tiny = codes.view(real.numpy).astype(np.float64).tolist()
    eps = 2.0**-form.mantissa / (2 if real is dtypes.float8_e5m2fnuz else 1)
    return 8, eps, largest, -largest if form.signed else tiny, tiny, 1.0, real.name


def exceeds(number: float, real: DType) -> bool:
    """Whether a number lies outside of all that a floating point dtype holds.

    Ints lose their sign where the dtype has none, as in PyTorch.
    """
    _, _, largest, least, *_ = _limits(real)
    if abs(number) == math.inf:
        return real in dtypes.FLOAT8 and not FORMATS[real.name].has_infinity
    return abs(number) > largest or (number < least and isinstance(number, float))


class finfo:
    """Limits of a floating point dtype (default: the default dtype); of a complex one's parts.

    Attributes:
        bits: of one element.
        eps: distance from 1.0 to the next larger number.
        max, min: largest and smallest (most negative) number.
        tiny, smallest_normal: smallest positive normal number.
        resolution: approximate decimal resolution, `10**-digits`.
        dtype: the dtype's name.

    Raises TypeError for integer dtypes and bool.
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")
    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    resolution: float
    smallest_normal: float
    dtype: str

    def __new__(cls, type: DType | None = None) -> finfo:
        known = _FLOATS.get(type)
        return _float_limits(type) if known is None else known

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"finfo: '{name}' cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return finfo, (getattr(dtypes, self.dtype),)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.tiny:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


_FLOATS: dict[DType | None, finfo] = {}
"""Those that were asked for."""


def _float_limits(type: DType | None) -> finfo:
    """The limits of a dtype that is not in `_FLOATS` yet, or of the default dtype."""
    given = dtypes.get_default_dtype() if type is None else type
    if not isinstance(given, DType) or not (given.is_floating_point or given.is_complex):
        raise TypeError(
            f"finfo() requires a floating point input type, got {given!r}; "
            "use iinfo for integers"
        )
    made = object.__new__(finfo)
    fields = ("bits", "eps", "max", "min", "tiny", "resolution", "dtype")
    for name, value in zip(fields, _limits(given.to_real()), strict=True):
        object.__setattr__(made, name, value)
    object.__setattr__(made, "smallest_normal", made.tiny)
    if type is not None:
        _FLOATS[type] = made
    return made


class iinfo:
    """Limits of an integer dtype: `bits`, `max`, `min`, `dtype` (its name).

    Raises TypeError for other dtypes and bool.
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, type: DType) -> None:
        if not isinstance(type, DType) or type.numpy.kind not in "iu":
            raise TypeError(f"iinfo() requires an integer input type, got {type!r}")
        limits = np.iinfo(type.numpy)
        self.bits = int(limits.bits)
        self.max = int(limits.max)
        self.min = int(limits.min)
        self.dtype = type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)
