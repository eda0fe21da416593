"""PyTorch's type promotion: categories, dimensioned and 0-d tensors, Python numbers.

An operand takes part at one of three levels: tensors with dimensions, 0-d tensors, Python
numbers. A lower level only counts where its category (bool < integer < float < complex) is
higher than that of the levels above it.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType

_INTEGERS = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_UNSIGNED = (dtypes.uint16, dtypes.uint32, dtypes.uint64)
_FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)

_SCALAR_CATEGORY = {bool: 0, int: 1, float: 2, complex: 3}


def category(dtype: DType) -> int:
    """0 for bool, 1 for integers, 2 for floating point, 3 for complex."""
    if dtype.is_floating_point:
        return 2
    if dtype.is_complex:
        return 3
    return 0 if dtype is dtypes.bool else 1


def _promote(a: DType, b: DType) -> DType | None:
    """None where PyTorch knows no common dtype: uint16, uint32, uint64 go with floats only, and
    a float8 dtype with itself."""
    if a is b:
        return a
    if a in dtypes.FLOAT8 or b in dtypes.FLOAT8:
        return None
    category_a, category_b = category(a), category(b)
    if (a in _UNSIGNED or b in _UNSIGNED) and 2 not in (category_a, category_b):
        return None
    if 3 in (category_a, category_b):
        wide = {a, b} & {dtypes.complex128, dtypes.float64}
        return dtypes.complex128 if wide else dtypes.complex64
    if category_a != category_b:
        return a if category_a > category_b else b
    if category_a == 2:
        if {a, b} == {dtypes.float16, dtypes.bfloat16}:
            return dtypes.float32
        return a if _FLOATS.index(a) > _FLOATS.index(b) else b
    wide_int, narrow = (a, b) if _INTEGERS.index(a) > _INTEGERS.index(b) else (b, a)
    if narrow is dtypes.uint8 and wide_int is dtypes.int8:
        return dtypes.int16
    return wide_int


_PAIRS: dict[tuple[DType, DType], DType | None] = {
    (a, b): _promote(a, b) for a in dtypes.BY_CODE for b in dtypes.BY_CODE
}


def promote_types(type1: DType, type2: DType) -> DType:
    """Smallest dtype to which two dtypes can be promoted.

    Args:
        type1: a dtype.
        type2: a dtype.

    Returns: a dtype.

    Raises:
        RuntimeError: uint16, uint32 or uint64 with another integer, bool or complex dtype; a
            float8 dtype with another one.
        TypeError: an argument is no dtype.

    Example:
        >>> gw.promote_types(gw.int64, gw.float16)
        graphwright.float16
    """
    for value in (type1, type2):
        if not isinstance(value, DType):
            raise TypeError(f"promote_types(): expected a dtype, not {type(value).__name__}")
    found = _PAIRS[type1, type2]
    if found is None:
        float8 = {type1, type2} & dtypes.FLOAT8
        kinds = "Float8 Types" if float8 else "uint16, uint32, uint64 types"
        raise RuntimeError(
            f"Promotion for {kinds} is not supported, attempted to promote "
            f"{type1.name} and {type2.name}"
        )
    return found


def _scalar_category(value: Any) -> int:
    found = _SCALAR_CATEGORY.get(type(value))
    if found is not None:
        return found
    if isinstance(value, complex):
        return 3
    return 2 if isinstance(value, float) else 0 if isinstance(value, bool) else 1


def _scalar_dtype(rank: int) -> DType:
    if rank >= 2:
        default = dtypes.get_default_dtype()
        return default if rank == 2 else default.to_complex()
    return dtypes.int64 if rank == 1 else dtypes.bool


def result_dtype(operands: tuple[Any, ...]) -> DType:
    """The dtype in which PyTorch computes a pointwise op on these operands."""
    return _core.result_dtype(*operands) or _general_result_dtype(operands)


def _general_result_dtype(operands: tuple[Any, ...]) -> DType:
    """`result_dtype` by the rules above, of dtypes and numbers of all kinds."""
    levels: list[DType | None] = [None, None, None]
    for operand in operands:
        dtype = getattr(operand, "dtype", None)
        if dtype is None:
            level, dtype = 2, _scalar_dtype(_scalar_category(operand))
        else:
            level = 0 if len(operand.shape) else 1
        seen = levels[level]
        levels[level] = dtype if seen is None else promote_types(seen, dtype)
    result: DType | None = None
    for dtype in levels:
        if dtype is None:
            continue
        if result is None:
            result = dtype
        elif category(dtype) > category(result):
            result = _raised(result, dtype)
    assert result is not None
    return result


def _raised(high: DType, low: DType) -> DType:
    """`low`, of a higher category but a lower level: a float keeps its width when complex."""
    if low in dtypes.FLOAT8:
        return promote_types(high, low)
    if low.is_complex and high.is_floating_point:
        return high.to_complex()
    return low


def result_type(tensor1: Any, tensor2: Any) -> DType:
    """Dtype of a pointwise op on two operands.

    Args:
        tensor1: a tensor or a Python number.
        tensor2: a tensor or a Python number.

    Returns: a dtype.

    Raises:
        TypeError: an operand is neither.

    Example:
        >>> gw.result_type(gw.tensor([1, 2]), 1.0)
        graphwright.float32
    """
    found = _core.result_dtype(tensor1, tensor2)
    if found is not None:
        return found
    for value in (tensor1, tensor2):
        if not hasattr(value, "dtype") and not isinstance(value, int | float | complex):
            raise TypeError(
                f"result_type(): expected a Tensor or a number, not {type(value).__name__}"
            )
    return _general_result_dtype((tensor1, tensor2))


def can_cast(from_: DType, to: DType) -> bool:
    """Whether a result of one dtype may be written in place into another."""
    return from_ is to or category(from_) <= category(to)


def to_float(dtype: DType) -> DType:
    """Integers and bool become the default dtype, as for ops like `exp`."""
    if dtype.is_floating_point or dtype.is_complex:
        return dtype
    return dtypes.get_default_dtype()
