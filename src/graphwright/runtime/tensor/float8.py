"""The float8 formats: what the bits of a byte mean, and what numbers become in it.

A format is described once. The eager casts (`_core/tensor/float8.c`), the casts of compiled code
(`codegen/emit/casts.py`) and `finfo` all follow from `FORMATS`.
"""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """A float8 format: sign (if any), exponent and mantissa, from the highest bit to the lowest.

    A code of exponent field e and mantissa field f is 2^(e - bias) (1 + f / 2^mantissa), or where
    e is 0, 2^(1 - bias) f / 2^mantissa. Without a mantissa it is 2^(e - bias) for every e. Numbers
    are rounded to float32, then to the nearest code, ties to the even mantissa (of a format
    without one: up, as float32's leading 1 is odd; but 2^-128, which has none, down).
    """

    mantissa: int
    """Bits of the mantissa field."""
    bias: int
    largest: int
    """The code of the largest finite number. Formats without a sign need all eight bits for it."""
    overflow: int
    """The code that greater numbers and infinity become: that number, an infinity, or nan."""
    nan: int
    """The code that nan becomes. Where it is 0x80, there is no -0."""

    @property
    def signed(self) -> bool:
        return self.largest < 0x80

    @property
    def has_infinity(self) -> bool:
        return self.overflow not in (self.largest, self.nan)

    @property
    def least_normal(self) -> int:
        """The code of the smallest positive normal number."""
        return 1 << self.mantissa if self.mantissa else 0


FORMATS = {
    "float8_e4m3fn": Format(mantissa=3, bias=7, largest=0x7E, overflow=0x7E, nan=0x7F),
    "float8_e5m2": Format(mantissa=2, bias=15, largest=0x7B, overflow=0x7C, nan=0x7F),
    "float8_e4m3fnuz": Format(mantissa=3, bias=8, largest=0x7F, overflow=0x80, nan=0x80),
    "float8_e5m2fnuz": Format(mantissa=2, bias=16, largest=0x7F, overflow=0x80, nan=0x80),
    "float8_e8m0fnu": Format(mantissa=0, bias=127, largest=0xFE, overflow=0xFF, nan=0xFF),
}
"""By the name of the dtype. What overflow becomes is PyTorch's choice on the CPU."""
