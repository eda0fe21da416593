"""Functions that give the same for the same constants: methods of numbers and text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.sequences import ListVariable
from graphwright.capture.trackers.values.constant import fold
from graphwright.capture.trackers.values.namespaces import may_change

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
Handler = Callable[["Translator", Args, Kwargs], VariableTracker]
PURE_TYPES = (int, float, complex, bool, str, bytes)


def pure_method(function: Any) -> Handler:
    """An unbound or class method of an immutable builtin type."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if args and not args[0].realize().is_constant() and hasattr(function, "__objclass__"):
            owner = args[0].realize()
            if not issubclass(owner.python_type(), function.__objclass__):
                unsupported("GB0007", f"TypeError: {function.__qualname__} of {owner.describe()}")
            return owner.call_method(tx, function.__name__, args[1:], kwargs)
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
