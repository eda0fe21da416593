"""Context managers: grad mode is interpreted here, others through their own methods."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.source import Source
from graphwright.capture.variables.base import VariableTracker
from graphwright.runtime import _core
from graphwright.runtime.autograd import modes

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]

GRAD_MODES: tuple[type, ...] = (modes.no_grad, modes.enable_grad, modes.set_grad_enabled)


class GradModeVariable(VariableTracker):
    """An instance of `no_grad`, `enable_grad` or `set_grad_enabled`."""

    mutable = True

    def __init__(
        self,
        cls: type,
        mode: bool,
        source: Source | None = None,
        previous: Iterable[bool] = (),
    ) -> None:
        self.cls = cls
        self.mode = mode
        self.source = source
        self.previous = list(previous)

    def python_type(self) -> type:
        return self.cls

    def enter(self, tx: Translator) -> VariableTracker:
        """`__enter__`."""
        if self.cls is not modes.set_grad_enabled:
            self._note_change(tx)
            self.previous.append(_core.grad_enabled())
        tx.output.set_grad_mode(tx, self.mode)
        return tx.constant(None)

    def leave(self, tx: Translator) -> VariableTracker:
        """`__exit__` without an exception."""
        if not self.previous:
            unsupported("GB0007", f"{self.describe()} is left without being entered")
        self._note_change(tx)
        tx.output.set_grad_mode(tx, self.previous.pop())
        return tx.constant(None)

    def _note_change(self, tx: Translator) -> None:
        if self.source is not None:
            tx.side_effects.mutate(self)

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        if name == "_fresh" and self.cls is not modes.set_grad_enabled:
            return GradModeVariable(self.cls, self.mode)
        unsupported("GB0008", f"{self.cls.__name__}.{name}()")

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return GradModeMethod(self, name)

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        unsupported("GB0004", f"{self.cls.__name__} used as a decorator inside of the frame")

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(rebuild)
        for part in (self.cls, self.mode, tuple(self.previous)):
            cg.builder.load_const(part)
        cg.builder.end_call(3)


def rebuild(cls: type, mode: bool, previous: tuple[bool, ...]) -> Any:
    """A context manager of a block that was entered, without entering it again."""
    made: Any = object.__new__(cls)
    made._mode = mode
    made._previous = list(previous)
    return made


def set_previous(manager: Any, previous: tuple[bool, ...]) -> None:
    """Give an existing context manager the modes that it will restore."""
    manager._previous[:] = previous


class GradModeMethod(VariableTracker):
    """`_fresh` or `__enter__`/`__exit__`, bound."""

    def __init__(
        self, owner: GradModeVariable, name: str, source: Source | None = None
    ) -> None:
        self.owner = owner
        self.method = name
        self.source = source

    def parts(self) -> Iterable[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push(self.owner)
        cg.builder.load_attr(self.method)

    def python_type(self) -> type:
        return types.MethodType

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.method == "__enter__":
            return self.owner.enter(tx)
        if self.method == "__exit__":
            return self.owner.leave(tx)
        return self.owner.call_method(tx, self.method, args, kwargs)


def make_grad_mode(cls: type, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`no_grad()`, `enable_grad()` or `set_grad_enabled(mode)`, called in the frame."""
    if cls is not modes.set_grad_enabled:
        if args or kwargs:
            unsupported("GB0004", f"{cls.__name__} used as a decorator inside of the frame")
        return GradModeVariable(cls, cls is modes.enable_grad)
    (mode,) = [*args, *kwargs.values()]
    made = GradModeVariable(cls, tx.truth(mode))
    made.previous.append(_core.grad_enabled())
    tx.output.set_grad_mode(tx, made.mode)
    return made


def enter_context(tx: Translator, manager: VariableTracker) -> VariableTracker:
    """What `with manager as x` binds to x."""
    if isinstance(manager, GradModeVariable):
        return manager.enter(tx)
    return manager.getattr(tx, "__enter__").call(tx, [], {})


def exit_method(tx: Translator, manager: VariableTracker) -> VariableTracker:
    """The bound `__exit__`, which Python reads before it calls `__enter__`."""
    return manager.getattr(tx, "__exit__")


def is_grad_mode_instance(value: Any) -> bool:
    """Whether `value` is an instance that `GradModeVariable` can stand for."""
    return type(value) in GRAD_MODES
