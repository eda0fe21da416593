"""The element types of tensors, named as in PyTorch and NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.naming import NAMING
from graphwright.runtime.tensor.float8 import FORMATS


class dtype:
    """An element type. There is one object for each; compare with `is` or `==`.

    Attributes:
        name: as in `graphwright.<name>`.
        code: the small integer that stands for it in native code.
        itemsize: bytes of one element.
        numpy: the `numpy.dtype` of the memory (those of bfloat16 and float8 are ml_dtypes').
        is_floating_point, is_complex, is_signed: as in PyTorch.
    """

    __slots__ = (
        "code",
        "is_complex",
        "is_floating_point",
        "is_signed",
        "itemsize",
        "name",
        "numpy",
    )

    name: str
    code: int
    itemsize: int
    numpy: np.dtype[Any]
    is_floating_point: bool
    is_complex: bool
    is_signed: bool

    def __init__(self, name: str, code: int, numpy: np.dtype[Any], kind: str) -> None:
        self.name = name
        self.code = code
        self.itemsize = numpy.itemsize
        self.numpy = numpy
        self.is_floating_point = kind == "f"
        self.is_complex = kind == "c"
        self.is_signed = FORMATS[name].signed if name in FORMATS else kind in "fci"

    def __repr__(self) -> str:
        return f"{NAMING.root}.{self.name}"

    def to_complex(self) -> dtype:
        """The complex dtype of this precision. Raises RuntimeError for integers and bool."""
        if self.is_complex:
            return self
        if not self.is_floating_point or self.name in FORMATS:
            raise RuntimeError(f"there is no complex dtype for {self.name}")
        return complex128 if self is float64 else complex64

    def to_real(self) -> dtype:
        """The dtype of real and imaginary part; real dtypes themselves."""
        if not self.is_complex:
            return self
        return float64 if self is complex128 else float32

    def __reduce__(self) -> str:
        return self.name

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> dtype:
        return self


class AbsentDtype:
    """An element type of PyTorch's that no tensor has here: a name to compare with.

    Attributes: as of `dtype`. Functions that are given one raise TypeError.
    """

    __slots__ = ("is_complex", "is_floating_point", "is_signed", "itemsize", "name")

    def __init__(self, name: str, itemsize: int, kind: str) -> None:
        self.name, self.itemsize = name, itemsize
        self.is_complex, self.is_floating_point = kind == "c", kind == "f"
        self.is_signed = True

    def __repr__(self) -> str:
        return f"{NAMING.root}.{self.name}"

    def __reduce__(self) -> str:
        return self.name


complex32 = AbsentDtype("complex32", 4, "c")
float4_e2m1fn_x2 = AbsentDtype("float4_e2m1fn_x2", 1, "f")


def _register(name: str, code: int, numpy: Any, kind: str) -> dtype:
    result = dtype(name, code, np.dtype(numpy), kind)
    _core.register_dtype(code, result, result.numpy, kind in "fc")
    BY_NAME[name] = result
    BY_NUMPY[result.numpy] = result
    return result


BY_NAME: dict[str, dtype] = {}
BY_NUMPY: dict[np.dtype[Any], dtype] = {}

bool_ = _register("bool", 0, np.bool_, "b")
uint8 = _register("uint8", 1, np.uint8, "u")
int8 = _register("int8", 2, np.int8, "i")
int16 = _register("int16", 3, np.int16, "i")
int32 = _register("int32", 4, np.int32, "i")
int64 = _register("int64", 5, np.int64, "i")
float16 = _register("float16", 6, np.float16, "f")
bfloat16 = _register("bfloat16", 7, ml_dtypes.bfloat16, "f")
float32 = _register("float32", 8, np.float32, "f")
float64 = _register("float64", 9, np.float64, "f")
complex64 = _register("complex64", 10, np.complex64, "c")
complex128 = _register("complex128", 11, np.complex128, "c")
uint16 = _register("uint16", 12, np.uint16, "u")
uint32 = _register("uint32", 13, np.uint32, "u")
uint64 = _register("uint64", 14, np.uint64, "u")
float8_e4m3fn = _register("float8_e4m3fn", 15, ml_dtypes.float8_e4m3fn, "f")
float8_e5m2 = _register("float8_e5m2", 16, ml_dtypes.float8_e5m2, "f")
float8_e4m3fnuz = _register("float8_e4m3fnuz", 17, ml_dtypes.float8_e4m3fnuz, "f")
float8_e5m2fnuz = _register("float8_e5m2fnuz", 18, ml_dtypes.float8_e5m2fnuz, "f")
float8_e8m0fnu = _register("float8_e8m0fnu", 19, ml_dtypes.float8_e8m0fnu, "f")

bool = bool_
BY_CODE: tuple[dtype, ...] = tuple(sorted(BY_NAME.values(), key=lambda d: d.code))

EAGER_ONLY = frozenset({complex64, complex128, uint16, uint32, uint64})
"""Dtypes without native code: compiled graphs run their ops as eager steps."""

FLOAT8 = frozenset({float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu})
for _dtype in FLOAT8:
    _core.register_float8(_dtype.code, FORMATS[_dtype.name])

_default = [float32]


def from_numpy_dtype(numpy: Any) -> dtype:
    """The dtype of arrays of the NumPy dtype `numpy`, or of what `np.dtype` takes.

    Raises:
        TypeError: if no tensor can have such elements.
    """
    key = np.dtype(numpy)
    found = BY_NUMPY.get(key) or BY_NUMPY.get(key.newbyteorder("="))
    if found is None:
        names = ", ".join(BY_NAME)
        raise TypeError(f"no graphwright dtype for NumPy's {key}; supported: {names}")
    return found


def get_default_dtype() -> dtype:
    """Dtype of tensors made from Python floats; float32 at first.

    Example:
        >>> gw.get_default_dtype()
        graphwright.float32
    """
    return _default[0]


def set_default_dtype(value: dtype) -> None:
    """Set the dtype of tensors made from Python floats.

    Args:
        value: a floating point dtype, but float8.

    Raises:
        TypeError: another dtype, or none.

    Example:
        >>> gw.set_default_dtype(gw.float32)
        >>> gw.tensor(1.0).dtype
        graphwright.float32
    """
    if not isinstance(value, dtype) or not value.is_floating_point or value in FLOAT8:
        raise TypeError(
            f"only floating point dtypes but float8 can be the default, not {value!r}"
        )
    _default[0] = value
    _core.set_default_dtype(value)


@contextmanager
def default_dtype(value: dtype) -> Iterator[None]:
    """Within it `value` is the default dtype, in all threads."""
    before = get_default_dtype()
    if before is value:
        yield
        return
    set_default_dtype(value)
    try:
        yield
    finally:
        set_default_dtype(before)
