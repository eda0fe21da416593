"""What is raised where an op refuses its arguments: PyTorch's type, and what was given.

The rules of ops say what is wrong; the dispatcher adds the op and its tensors here, in one place.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops.table import Op

_PLAIN = frozenset({IndexError, RuntimeError, TypeError, ValueError, NotImplementedError})
INTERNAL = (AttributeError, KeyError, OverflowError)


def _given(op: Op, args: tuple[Any, ...]) -> str:
    """`input: float32[3, 4], other: int64[5]`: the tensors among the arguments."""
    parts = []
    for slot, is_list in op.tensor_slots:
        if slot >= len(args):
            continue
        value = args[slot]
        if is_list and isinstance(value, list | tuple):
            parts.append(f"{op.names[slot]}: ({', '.join(describe(v) for v in value)})")
        elif value is not None:
            parts.append(f"{op.names[slot]}: {describe(value)}")
    return ", ".join(parts)


def _by_ufunc(error: Exception) -> bool:
    """Whether NumPy has no loop for the dtypes, or refuses a cast."""
    if not isinstance(error, TypeError):
        return False
    return type(error) is not TypeError or str(error).startswith("ufunc '")


def is_refusal(error: Exception) -> bool:
    """Whether an op has refused its arguments: what `refusal` gave."""
    return getattr(error, "described", False)


def complete(error: Exception) -> Exception:
    """The error, whose message says all that there is to say."""
    error.described = True  # type: ignore[attr-defined]
    return error


def refusal(op: Op, args: tuple[Any, ...], error: Exception) -> Exception:
    """What to raise for `error`, met while running `op`: itself, its message completed.

    An error of Python's own making becomes a RuntimeError, a dtype that NumPy has no loop for a
    NotImplementedError. Exceptions of other classes pass unchanged.
    """
    kind = type(error)
    by_ufunc = _by_ufunc(error)
    if by_ufunc or isinstance(error, INTERNAL):
        error = (NotImplementedError if by_ufunc else RuntimeError)(
            f"{op.name}(): not possible for these arguments ({kind.__name__}: {error})"
        )
    elif kind not in _PLAIN or len(error.args) != 1 or is_refusal(error):
        return error
    text = str(error.args[0])
    name = op.name.rstrip("_")
    if name not in text:
        text = f"{op.name}(): {text}"
    given = _given(op, args)
    error.args = (f"{text} [{given}]" if given else text,)
    return complete(error)
