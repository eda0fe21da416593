"""Kinds as LLVM types."""

from __future__ import annotations

import struct

from graphwright.codegen.emit.regs import BITS, FLOATS, NARROW

TYPES = {
    "b": "i1", "i8": "i8", "u8": "i8", "i16": "i16", "i32": "i32", "i64": "i64",
    "f32": "float", "f64": "double", "ptr": "ptr", "void": "void",
}
TYPES |= {kind: TYPES[integer] for kind, integer in NARROW.items()}


def type_of(kind: str, lanes: int) -> str:
    scalar = TYPES[kind]
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def suffix(kind: str, lanes: int) -> str:
    """The type's name in the name of an overloaded intrinsic."""
    name = f"f{BITS[kind]}" if kind in FLOATS else f"i{BITS[kind]}"
    return name if lanes == 1 else f"v{lanes}{name}"


def to_float32(value: float) -> float:
    try:
        struct.pack("<f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value
