"""Operations that may fail when the graph runs, because of the values of tensors.

Python would raise at the operation; the compiled graph raises where it is called. That is the
same for the caller, but not for a `try` block around the operation, nor for a `with` block whose
manager looks at exceptions: there such operations are graph breaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.capture.bytecode import exception_handlers
from graphwright.capture.exc import unsupported
from graphwright.capture.variables.context import GradModeMethod

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator
    from graphwright.capture.variables.base import VariableTracker

BY_INDEX = frozenset(
    [
        *("getitem", "setitem", "__getitem__", "__setitem__", "index_select", "gather"),
        *("scatter_src", "scatter_value", "scatter_reduce", "scatter_extreme", "index_reduce"),
        *("take", "put", "masked_scatter", "repeat_positions", "repeat_interleave"),
        *("embedding", "scatter", "scatter_add", "index_add", "index_put", "take_along_dim"),
        *("nll_loss", "cross_entropy", "one_hot", "index_copy", "index_fill", "index"),
    ]
)
_BY_DIVISION = frozenset(
    [
        *("floordiv", "ifloordiv", "mod", "imod", "floor_divide", "remainder", "fmod", "div"),
        *("__floordiv__", "__mod__"),
    ]
)


def name_of(target: Any) -> str:
    """The name of an operation, without the underscore of in-place forms."""
    name: str = getattr(target, "__name__", None) or getattr(target, "name", None) or str(target)
    return name if name.startswith("__") else name.rstrip("_")


def may_raise(target: Any, args: list[VariableTracker], result: Any) -> bool:
    """Whether the operation can fail for some values of tensors of these types."""
    name = name_of(target)
    if name in BY_INDEX:
        return sum(arg.has_tensor() for arg in args) > 1
    dtype = getattr(result, "dtype", None)
    return name in _BY_DIVISION and dtype is not None and not dtype.is_floating_point


def refuse_in_handlers(tx: Translator, target: Any) -> None:
    """A break if a handler of some frame could see the operation's exception."""
    frame: Translator | None = tx
    while frame is not None:
        if _is_watched(frame):
            unsupported("GB0012", f"{name_of(target)} may raise inside of the block")
        frame = frame.parent


def _is_watched(frame: Translator) -> bool:
    offset = frame.current.offset
    for handler in exception_handlers(frame.code):
        if not handler.start <= offset < handler.end:
            continue
        first, second = frame.instructions[handler.target : handler.target + 2]
        if first.opname != "PUSH_EXC_INFO":
            continue
        if second.opname != "WITH_EXCEPT_START":
            return True
        if not isinstance(frame.stack[handler.depth - 1], GradModeMethod):
            return True
    return False
