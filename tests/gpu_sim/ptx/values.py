"""PTX's types, and the fault that an instruction raises."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]

# The driver's error codes, as cuda.h has them.
INVALID_PTX, ILLEGAL_ADDRESS, ASSERT = 218, 700, 710
MISALIGNED_ADDRESS, LAUNCH_FAILED = 716, 719


class Fault(Exception):
    """A kernel did what ends it on a device: an illegal address, a barrier never completed, ...

    `code` is the driver's error code. The message gets the kernel, the instruction and its line
    where the fault leaves the interpreter; `located` says whether it has them.
    """

    def __init__(self, message: str, code: int = LAUNCH_FAILED, located: bool = False) -> None:
        super().__init__(message)
        self.code, self.located = code, located


class UnknownForm(Fault):
    """An instruction, or a form of one, that the interpreter does not know."""

    def __init__(self, message: str) -> None:
        super().__init__(message, INVALID_PTX)


class Type(NamedTuple):
    """A type: its kind (s, u, b, f, p for predicates), bytes, and how NumPy sees its values."""

    name: str
    kind: str
    size: int
    dtype: np.dtype[Any]

    @property
    def bits(self) -> np.dtype[Any]:
        """How its values are held in a register."""
        return BITS[self.size] if self.kind != "p" else np.dtype(np.bool_)

    @property
    def half(self) -> Type | None:
        """The type of the two values that a packed one holds."""
        return TYPES[self.name.removesuffix("x2")] if self.name.endswith("x2") else None


BITS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
TYPES = {
    f"{kind}{8 * size}": Type(f"{kind}{8 * size}", kind, size, np.dtype(f"{signs}{size}"))
    for kind, signs in (("u", "u"), ("s", "i"), ("b", "u")) for size in (1, 2, 4, 8)
}
for name, size, dtype in (
    ("f16", 2, np.float16), ("f32", 4, np.float32), ("f64", 8, np.float64),
    ("bf16", 2, ml_dtypes.bfloat16), ("tf32", 4, np.float32), ("f16x2", 4, np.uint32),
    ("bf16x2", 4, np.uint32), ("e4m3x2", 2, np.uint16), ("e5m2x2", 2, np.uint16),
    ("e4m3", 1, ml_dtypes.float8_e4m3fn), ("e5m2", 1, ml_dtypes.float8_e5m2),
):
    TYPES[name] = Type(name, "f", size, np.dtype(dtype))
for name in ("s16x2", "u16x2"):
    TYPES[name] = Type(name, name[0], 4, np.dtype(np.uint32))
PRED = TYPES["pred"] = Type("pred", "p", 1, np.dtype(np.bool_))
B32, U32 = TYPES["b32"], TYPES["u32"]


# What several instructions do with two numbers or more.
UFUNCS: dict[str, np.ufunc] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor}


def type_named(name: str) -> Type:
    """The type of that name.

    Raises:
        UnknownForm: there is none.
    """
    if name not in TYPES:
        raise UnknownForm(f"the type .{name}")
    return TYPES[name]


def halves(packed: Array) -> Array:
    """Two rows: the lower and the upper halves of bit patterns."""
    parts = np.ascontiguousarray(packed).view(BITS[packed.itemsize // 2])
    return parts.reshape(-1, 2).T


def joined(rows: Array) -> Array:
    """The bit patterns whose lower and upper halves are the two rows."""
    return np.ascontiguousarray(rows.T).view(BITS[2 * rows.itemsize])[:, 0]
