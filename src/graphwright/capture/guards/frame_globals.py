"""The globals of the captured function and of those it calls, as the frame sees them."""

from __future__ import annotations

import builtins
import types
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.patched_builtins import builtins_of
from graphwright.capture.guards.source import (
    AttrSource,
    ConstSource,
    ForeignGlobalSource,
    GlobalSource,
    Source,
)
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.exceptions import raise_in_frame

if TYPE_CHECKING:
    from graphwright.capture.effects.side_effects import SideEffects
    from graphwright.capture.guards.guards import GuardBuilder


class GlobalNames:
    """What an `OutputGraph` knows of globals, and what the frame has written to them."""

    guards: GuardBuilder
    side_effects: SideEffects

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function

    def wrap(self, value: Any, source: Source) -> VariableTracker:
        """The tracker, with guards, of a value that the program reads from `source`."""
        raise NotImplementedError

    def constant(self, value: Any) -> VariableTracker:
        """The tracker of a value that needs no guard."""
        raise NotImplementedError

    def root_global(self, name: str) -> VariableTracker:
        """A global, or builtin, of the captured function."""
        return self._global(self.function, GlobalSource(name), name)

    def deletable_global(self, name: str) -> VariableTracker:
        """The value of a global of the captured function that a `del` releases."""
        existing = self.function.__globals__
        if name in builtins_of(self.function):
            unsupported("GB0005", f"del of global {name!r}, which is a builtin too")
        if name in existing:
            self.wrap(existing[name], GlobalSource(name)).realize()
        else:
            self.guards.missing(GlobalSource(name))
        return self.root_global(name)

    def foreign_global(
        self, function: types.FunctionType, source: Source, name: str
    ) -> VariableTracker:
        """A global as an inlined function sees it."""
        if function.__globals__ is self.function.__globals__ and name in self.side_effects.globals:
            return self.root_global(name)
        return self._global(function, ForeignGlobalSource(source, name), name)

    def guard_builtin(self, function: types.FunctionType, name: str) -> None:
        """A break unless what an instruction of the function looks up by itself is Python's."""
        found = builtins_of(function).get(name)
        if found is not vars(builtins)[name] or type(found) is not types.BuiltinFunctionType:
            unsupported("GB0005", f"an instruction that calls {name}, which is not Python's own")
        self.guards.id_match(AttrSource(ConstSource(builtins, "builtins"), name), found)

    def _global(self, function: types.FunctionType, source: Source, name: str) -> VariableTracker:
        if name in self.side_effects.globals and (
            function.__globals__ is self.function.__globals__
        ):
            written = self.side_effects.globals[name]
            if written is None:
                self._not_defined(name)
            return written
        module = self.side_effects.modules.get(id(function.__globals__))
        if module is not None:
            written = self.side_effects.attribute(module, name)
            if written is not None:
                return written
            if self.side_effects.is_deleted(module, name):
                unsupported("GB0005", f"global {name!r}, which the frame has deleted")
        if name in function.__globals__:
            return self.wrap(function.__globals__[name], source)
        found = builtins_of(function)
        if name not in found:
            self.guards.missing(source)
            self._not_defined(name)
        return self.wrap(found[name], source)

    def _not_defined(self, name: str) -> NoReturn:
        text = self.constant(f"name {name!r} is not defined")
        raise_in_frame(NameError, [text], name=self.constant(name))
