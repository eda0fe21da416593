"""The forms of `add`, `addcmul`, `addmm` and their like that take numbers by position.

`x.add_(-lr, grad)` stands for `x.add_(grad, alpha=-lr)`, as in programs for early versions of
PyTorch, which still takes them with a warning.
"""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops.out import with_out
from graphwright.runtime.ops.table import Op

_PRODUCTS = ("beta", "alpha")
_FUNCTIONAL = {
    "add": ("alpha",),
    "addbmm": _PRODUCTS,
    "addcdiv": ("value",),
    "addcmul": ("value",),
    "addmm": _PRODUCTS,
    "addmv": _PRODUCTS,
    "addr": _PRODUCTS,
    "baddbmm": _PRODUCTS,
    "sub": ("alpha",),
}
NUMBERS = {
    **_FUNCTIONAL,
    **{f"{name}_": numbers for name, numbers in _FUNCTIONAL.items()},
    "rsub": ("alpha",),
}
"""The numbers that come by position, in their order; one alone is the first."""

BEHIND = frozenset({"rsub", "subtract", "subtract_"})
"""The names under which `alpha` comes last: `rsub(x, 1, 2)` is `rsub(x, 1, alpha=2)`."""


def _is_number(value: Any) -> bool:
    return not isinstance(value, TensorBase) or not (value.ndim or value.requires_grad)


def number_first(
    op: Op, given: tuple[Any, ...], out: Any = None, *, method: bool = False
) -> Any:
    """Run `op` on arguments in the older order: numbers stand about the first tensor.

    `beta` is before it, except in a `method`, the others are behind it; a tensor without
    dimensions counts as a number. Raises TypeError where they are not so.
    """
    names = NUMBERS[op.name]
    behind = len(op.names) - len(names) - 1
    leading, rest = list(given[:-behind]), given[-behind:]
    at = 0 if method or names[0] != "beta" else 1
    first = leading.pop(at) if at < len(leading) else None
    number = op.schema.params[0].type == "Operand" and isinstance(first, int | float | complex)
    wrong = not isinstance(first, TensorBase) and not number
    if wrong or not all(map(_is_number, leading)) or not 1 <= len(leading) <= len(names):
        raise _invalid(op.name, given)
    warnings.warn(
        f"{op.name}: {' and '.join(names[: len(leading)])} by position is deprecated; give it by "
        "name, after the tensors",
        stacklevel=3,
    )
    values = dict(zip(names, leading, strict=False))
    bound = (first, *rest, *(values.get(name, 1) for name in names))
    return dispatch(op, bound) if out is None else with_out(op, bound, out)


def number_behind(op: Op, name: str, given: tuple[Any, ...], out: Any = None) -> Any:
    """Run `op`, called `name`, with `alpha` last; it and the one before it are numbers.

    Raises TypeError where they are not so.
    """
    if len(given) != 3 or not all(map(_is_number, given[1:])):
        raise _invalid(name, given)
    return dispatch(op, given) if out is None else with_out(op, given, out)


def _invalid(name: str, given: tuple[Any, ...]) -> TypeError:
    kinds = ", ".join(type(value).__name__ for value in given)
    return TypeError(f"{name}() received an invalid combination of arguments: ({kinds})")
