"""`functools.cmp_to_key`: the function that it gives, and its type."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.vm.polyfills import cmp_to_key

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
KEY_TYPE: type = type(functools.cmp_to_key(lambda a, b: 0))


class KeyFunctionVariable(VariableTracker):
    """What makes keys that `compare` compares."""

    mutable = True

    def __init__(self, function: VariableTracker, compare: VariableTracker) -> None:
        self.function = function
        self.compare = compare

    def python_type(self) -> type:
        return KEY_TYPE

    def parts(self) -> Args:
        return [self.function, self.compare]

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if any(name in vars(base) for base in KEY_TYPE.__mro__):
            unsupported("GB0008", f"{name!r} of what functools.cmp_to_key gives")
        raise AttributeMissing("GB0007", f"{KEY_TYPE.__name__} has no attribute {name!r}")

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if len(args) + len(kwargs) != 1 or kwargs.keys() - {"obj"}:
            unsupported("GB0007", "TypeError: the function takes one object")
        return self.function.call(tx, args, kwargs)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(functools.cmp_to_key)
        cg.push(self.compare)
        cg.builder.end_call(1)


def key_function(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`functools.cmp_to_key(mycmp)`."""
    made = tx.plain_function(cmp_to_key).call(tx, args, kwargs)  # type: ignore[arg-type]
    (compare,) = [*args, *kwargs.values()]
    return KeyFunctionVariable(made, compare)
