"""Functions that give the same for the same constants: methods of numbers and text, caches."""

from __future__ import annotations

import dis
import functools
import math
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.source import ConstSource
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.class_guards import may_change
from graphwright.capture.variables.constant import fold
from graphwright.capture.variables.sequences import ListVariable

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
Handler = Callable[["Translator", Args, Kwargs], VariableTracker]
PURE_TYPES = (int, float, complex, bool, str, bytes)


def pure_method(function: Any) -> Handler:
    """An unbound or class method of an immutable builtin type."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if args and not args[0].realize().is_constant() and hasattr(function, "__objclass__"):
            return args[0].realize().call_method(tx, function.__name__, args[1:], kwargs)
        values = [_pure_argument(tx, arg) for arg in args]
        keywords = {key: value.realize().as_constant() for key, value in kwargs.items()}
        made = fold(function, *values, **keywords)
        if may_change(type(made)):    # an instance of a user's class, which each call makes anew
            unsupported("GB0004", f"creation of a {type(made).__name__}")
        return tx.constant(made)

    return handler


def _pure_argument(tx: Translator, arg: VariableTracker) -> Any:
    arg = arg.realize()
    if isinstance(arg, ListVariable):
        return [item.as_constant() for item in arg.unpack(tx)]
    return arg.as_constant()


_PURE_MODULES = (math, operator, functools)
_CONSTANTS = (int, float, complex, bool, str, bytes, type(None))
_NATIVE = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


def is_pure(function: Any, handlers: Any, seen: frozenset[Any] = frozenset()) -> bool:
    """Whether what a function reads besides its arguments are functions and classes only."""
    function = getattr(function, "__wrapped__", function)
    if isinstance(function, type):
        return True
    if isinstance(function, types.ModuleType):
        return function in _PURE_MODULES
    if not isinstance(function, types.FunctionType):
        return isinstance(function, _NATIVE) and function in handlers
    if function in seen or function in handlers:
        return True
    seen |= {function}
    code = function.__code__
    values = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    if "STORE_GLOBAL" in {inst.opname for inst in dis.get_instructions(code)}:
        return False
    return all(type(value) in _CONSTANTS for value in defaults) and all(
        is_pure(value, handlers, seen) for value in (*values, *cells)
    )


def cached_call(
    function: Any, handlers: Any, tx: Translator, args: Args, kwargs: Kwargs
) -> VariableTracker:
    """A call of a function under `functools.lru_cache`: inlined, as if it were not cached."""
    wrapped = function.__wrapped__
    if not isinstance(wrapped, types.FunctionType) or not is_pure(wrapped, handlers):
        what = getattr(wrapped, "__qualname__", "function")
        unsupported("GB0004", f"call of the cached {what}, which reads more than its arguments")
    values = [arg.realize() for arg in (*args, *kwargs.values())]
    if not all(value.is_constant() for value in values):
        unsupported("GB0004", f"call of the cached {wrapped.__qualname__} on other than constants")
    result = tx.output.wrap(wrapped, ConstSource(wrapped, wrapped.__qualname__)).call(
        tx, args, kwargs
    )
    if not result.realize().is_constant():
        unsupported("GB0004", f"the cached {wrapped.__qualname__}() keeps what it returns")
    return result
