"""Functions of the standard library that give the same for the same texts: paths, patterns."""

from __future__ import annotations

import collections
import re
import struct
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.text import function_module
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import ListVariable, TupleVariable
from graphwright.capture.trackers.values.constant import fold

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_PURE: dict[str, tuple[str, ...]] = {
    "base64": ("b16decode", "b16encode", "b32decode", "b32encode", "b64decode", "b64encode",
               "urlsafe_b64decode", "urlsafe_b64encode"),
    "json": ("dumps", "loads"),
    "posixpath": ("basename", "dirname", "isabs", "join", "normcase", "normpath", "split",
                  "splitdrive", "splitext"),
    "re": ("compile", "escape", "findall", "fullmatch", "match", "search", "split", "sub", "subn"),
    "textwrap": ("dedent", "indent", "fill", "shorten", "wrap"),
}  # fmt: skip


def plain_value(value: VariableTracker) -> Any:
    """A constant, or plain containers of such."""
    value = value.realize()
    if type(value) is ListVariable or type(value) is TupleVariable:
        items = [plain_value(item) for item in value.items]
        return items if type(value) is ListVariable else tuple(items)
    if isinstance(value, DictVariable) and value.kind in (dict, collections.OrderedDict):
        pairs = value.entries.values()
        return value.kind((plain_value(key), plain_value(item)) for key, item in pairs)
    return value.as_constant()


def pure_library_function(
    function: types.FunctionType,
) -> Callable[[Translator, Args, Kwargs], VariableTracker] | None:
    """The handler of such a function; None for others. It is called while translating."""
    module = function_module(function)
    names = _PURE.get(module, ())
    if function.__name__ not in names:
        return None
    if getattr(sys.modules.get(module), function.__name__, None) is not function:
        return None

    return _folded(function)


def _folded(function: Any) -> Callable[[Translator, Args, Kwargs], VariableTracker]:
    """The handler of a function that gives the same for the same constants and containers."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        values = [plain_value(arg) for arg in args]
        keywords = {key: plain_value(value) for key, value in kwargs.items()}
        flags = [value for value in (*values, *keywords.values()) if type(value) is re.RegexFlag]
        if any(re.DEBUG in value for value in flags):
            unsupported("GB0003", f"{function.__name__}() that prints its pattern")
        try:
            return tx.constant(fold(function, *values, **keywords))
        except (re.error, struct.error, Warning) as error:
            unsupported("GB0007", f"{type(error).__name__}: {error}")

    return handler


PURE_FUNCTIONS: dict[Any, Any] = {
    function: _folded(function)
    for function in (
        *(str.maketrans, bytes.maketrans, struct.pack, struct.unpack, struct.calcsize),
    )
}
