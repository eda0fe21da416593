"""Arguments of operations: a graph has only those that are of their parameter's kind.

Kernels and generated code read a number each in its own way where a parameter has no number: what
plain Python makes of that, a value or its exception, is for the plain call to say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.capture.exc import unsupported
from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops.table import Op
from graphwright.runtime.symbolic.symint import SymInt

_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1


def check_kinds(op: Op, args: tuple[Any, ...]) -> None:
    """A break where an argument is not of the kind that the op's schema names."""
    for param, value in zip(op.schema.params, args, strict=False):
        kind = _KINDS.get(param.type)
        if kind is None or value is param.default or kind(value):
            continue
        unsupported(
            "GB0008",
            f"{op.name}() of a {type(value).__name__} where its argument {param.name!r} is "
            f"{param.type.rstrip('?*')}",
        )


def _is_int(value: Any) -> bool:
    return type(value) is SymInt or (type(value) is int and _LEAST <= value <= _GREATEST)


def _is_bool(value: Any) -> bool:
    return type(value) is bool


def _is_real(value: Any) -> bool:
    return type(value) in (float, int, SymInt)


def _is_number(value: Any) -> bool:
    return type(value) in (float, int, SymInt, bool, complex)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, TensorBase)


def _is_operand(value: Any) -> bool:
    return isinstance(value, TensorBase) or _is_number(value)


def _are_ints(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(map(_is_int, value))


def _are_tensors(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(map(_is_tensor, value))


def _or_none(kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or kind(value)


_REQUIRED_KINDS: dict[str, Callable[[Any], bool]] = {
    "Tensor": _is_tensor,
    "Tensor[]": _are_tensors,
    "Operand": _is_operand,
    "Scalar": _is_number,
    "float": _is_real,
    "int": _is_int,
    "SymInt": _is_int,
    "bool": _is_bool,
    "Size": _are_ints,
    "IntPair": _are_ints,
}
_KINDS = {
    **_REQUIRED_KINDS,
    **{f"{name}?": _or_none(kind) for name, kind in _REQUIRED_KINDS.items()},
    "Size*": _are_ints,
}
