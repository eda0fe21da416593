"""Numbers that try every decision of a float8 cast, and what they become by another library."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

NAMES = (
    "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
)  # fmt: skip
CODES = np.arange(256, dtype=np.uint8)

Array = np.ndarray[Any, Any]


def array_type(name: str) -> Any:
    """The NumPy dtype of that name."""
    return np.dtype(getattr(ml_dtypes, name))


def numbers(name: str) -> Array:
    """float32 numbers: every exponent with its ends and middle, and where the format rounds.

    Those are the values of all codes, what lies midway between neighbours, and the float32 numbers
    next to both; besides infinities, nan of several payloads, denormals and zeros of both signs.
    """
    exponents = np.arange(256, dtype=np.uint32) << 23
    mantissas = np.array([0, 1, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFF], np.uint32)
    bits = (exponents[:, None] | mantissas).reshape(-1)
    values = CODES.view(array_type(name)).astype(np.float64)
    values = np.unique(values[np.isfinite(values)])
    middles = ((values[1:] + values[:-1]) / 2).astype(np.float32)
    close = np.concatenate([values.astype(np.float32), middles])
    near = [np.nextafter(close, np.float32(way)) for way in (-np.inf, np.inf)]
    found = np.concatenate([bits.view(np.float32), close, *near])
    return np.concatenate([found, -found])


def expected(name: str, given: Array) -> Array:
    """The codes of numbers by ml_dtypes, but for what PyTorch's casts do otherwise.

    float8_e4m3fn takes its largest number for all greater ones, nan is 0x7f in float8_e5m2, and
    float8_e8m0fnu has no regard for signs, 2^-127 for 0, and 2^-126 for all between both.
    """
    with np.errstate(all="ignore"):
        if name == "float8_e8m0fnu":
            size = np.abs(given)
            codes = size.astype(array_type(name)).view(np.uint8)
            return np.where(size < 2.0**-126, size > 2.0**-127, codes)
        codes = given.astype(array_type(name)).view(np.uint8)
        sign = np.signbit(given).astype(np.uint8) << 7
        if name == "float8_e4m3fn":
            return np.where(np.abs(given) > 448, 0x7E | sign, codes)
        return np.where(np.isnan(given), 0x7F | sign, codes) if name == "float8_e5m2" else codes
