"""PyTorch's type promotion: categories, dimensioned and 0-d tensors, Python numbers.

An operand takes part at one of three levels: tensors with dimensions, 0-d tensors, Python
numbers. A lower level only counts where its category (bool < integer < float) is higher than
that of the levels above it.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime import dtypes
from graphwright.runtime.dtypes import dtype as DType

_INTEGERS = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)

_SCALAR_CATEGORY = {bool: 0, int: 1, float: 2}


def category(dtype: DType) -> int:
    """0 for bool, 1 for integers, 2 for floating point."""
    if dtype.is_floating_point:
        return 2
    return 0 if dtype is dtypes.bool else 1


def _promote(a: DType, b: DType) -> DType:
    if a is b:
        return a
    category_a, category_b = category(a), category(b)
    if category_a != category_b:
        return a if category_a > category_b else b
    if category_a == 2:
        if {a, b} == {dtypes.float16, dtypes.bfloat16}:
            return dtypes.float32
        return a if _FLOATS.index(a) > _FLOATS.index(b) else b
    wide, narrow = (a, b) if _INTEGERS.index(a) > _INTEGERS.index(b) else (b, a)
    if narrow is dtypes.uint8 and wide is dtypes.int8:
        return dtypes.int16
    return wide


_PAIRS: dict[tuple[DType, DType], DType] = {
    (a, b): _promote(a, b)
    for a in (dtypes.bool, *_INTEGERS, *_FLOATS)
    for b in (dtypes.bool, *_INTEGERS, *_FLOATS)
}


def promote_types(a: DType, b: DType) -> DType:
    """The smallest dtype to which both can be promoted."""
    return _PAIRS[a, b]


def _scalar_category(value: Any) -> int:
    found = _SCALAR_CATEGORY.get(type(value))
    if found is not None:
        return found
    return 2 if isinstance(value, float) else 0 if isinstance(value, bool) else 1


def _scalar_dtype(rank: int) -> DType:
    if rank == 2:
        return dtypes.get_default_dtype()
    return dtypes.int64 if rank == 1 else dtypes.bool


def result_dtype(operands: tuple[Any, ...]) -> DType:
    """The dtype in which PyTorch computes a pointwise op on these operands."""
    levels: list[DType | None] = [None, None, None]
    for operand in operands:
        dtype = getattr(operand, "dtype", None)
        if dtype is None:
            level, dtype = 2, _scalar_dtype(_scalar_category(operand))
        else:
            level = 0 if len(operand.shape) else 1
        seen = levels[level]
        levels[level] = dtype if seen is None else _PAIRS[seen, dtype]
    result: DType | None = None
    for dtype in levels:
        if dtype is not None and (result is None or category(dtype) > category(result)):
            result = dtype
    assert result is not None
    return result


def can_cast(source: DType, target: DType) -> bool:
    """Whether a result of `source` may be written in place into `target`."""
    return category(source) <= category(target)


def to_float(dtype: DType) -> DType:
    """Integers and bool become the default dtype, as for ops like `exp`."""
    return dtype if dtype.is_floating_point else dtypes.get_default_dtype()
