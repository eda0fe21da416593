"""cvt: between integers, floating-point types, packed halves and float8."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .decode import Form, form
from .floats import MODES, read, write
from .rounding import LARGEST, relu, saturate
from .threads import Reader, Step, Threads
from .values import TYPES, Array, Type

INTEGRAL: dict[str, Callable[[Array], Array]] = {
    "rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
# Of types that have not all of them.
ROUNDINGS = {"tf32": ("rn", "rna"), "bf16": ("rn", "rz"), "e4m3": ("rn",), "e5m2": ("rn",)}


@form("cvt")
def cvt(f: Form) -> Step:
    source, kind = f.type(), f.type()
    if source.kind != "f":
        return from_integer(f, source, kind)
    ftz = f.flag("ftz")
    if kind.kind != "f":
        integral, x, put = f.table(INTEGRAL), read(f, 1, source, ftz), f.write(0)
        return lambda t: put(t, to_integer(integral(x(t)), kind))
    name = (kind.half or kind).name
    mode = f.choice(*ROUNDINGS.get(name, (*MODES, *INTEGRAL)), default="rn")
    if name in LARGEST:
        f.need("satfinite")
    before = [change for change, wanted in (
        (relu, f.flag("relu")), (INTEGRAL.get(mode), mode in INTEGRAL),
        (saturate, f.flag("sat"))) if wanted and change is not None]
    pair = kind.half is not None and source.name == "f32"
    x = two(f) if pair else read(f, 1, source, ftz)
    put = write(f, 0, kind, ftz, "rn" if mode in INTEGRAL else mode)

    def step(t: Threads) -> None:
        values = x(t)
        for change in before:
            values = change(values)
        put(t, values)
    return step


def two(f: Form) -> Reader:
    """Two float32 that are packed: the first operand goes to the upper half."""
    upper, lower = f.read(1, TYPES["f32"]), f.read(2, TYPES["f32"])
    return lambda t: np.stack(np.broadcast_arrays(lower(t), upper(t)))


def to_integer(values: Array, kind: Type) -> Array:
    """Integral numbers to the type: values outside its range become its ends, NaN zero."""
    info = np.iinfo(kind.dtype)
    low, high = float(info.min), float(info.max)  # of 64 bits: the power of two above the end
    values = np.where(np.isnan(values), 0, values).astype(np.float64)
    inside = np.clip(values, low, np.nextafter(high, 0) if kind.size == 8 else high)
    return np.where(values >= high, info.max, inside.astype(kind.dtype)).astype(kind.dtype)


def from_integer(f: Form, source: Type, kind: Type) -> Step:
    """To integers, or floats; registers may be wider than the types."""
    if kind.kind == "f":
        f.need("rn")
        x, put = f.read(1, source), write(f, 0, kind)
        wide = kind.dtype if source.size == 8 and kind.size >= 4 else np.dtype(np.float64)
        return lambda t: put(t, x(t).astype(wide))
    if not f.flag("sat"):
        return f.apply(lambda values: values.astype(kind.dtype), source)
    info, limits = np.iinfo(kind.dtype), np.iinfo(source.dtype)
    low, high = max(info.min, limits.min), min(info.max, limits.max)
    return f.apply(lambda values: np.clip(values, low, high).astype(kind.dtype), source)
