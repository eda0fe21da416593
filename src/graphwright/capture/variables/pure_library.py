"""Functions of the standard library that give the same for the same texts: paths, patterns."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.constant import fold

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_PURE: dict[str, tuple[str, ...]] = {
    "posixpath": ("basename", "dirname", "isabs", "join", "normcase", "normpath", "split",
                  "splitdrive", "splitext"),
    "re": ("compile", "escape", "findall", "fullmatch", "match", "search", "split", "sub", "subn"),
    "textwrap": ("dedent", "indent", "fill", "shorten", "wrap"),
}  # fmt: skip


def pure_library_function(
    function: types.FunctionType,
) -> Callable[[Translator, Args, Kwargs], VariableTracker] | None:
    """The handler of such a function; None for others. It is called while translating."""
    names = _PURE.get(function.__module__, ())
    if function.__name__ not in names:
        return None
    if getattr(sys.modules.get(function.__module__), function.__name__, None) is not function:
        return None

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        values: list[Any] = [arg.realize().as_constant() for arg in args]
        keywords = {key: value.realize().as_constant() for key, value in kwargs.items()}
        return tx.constant(fold(function, *values, **keywords))

    return handler
