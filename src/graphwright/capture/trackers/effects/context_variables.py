"""`contextvars.ContextVar` in the frame: values are read with guards, and set after the graph."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.opaque_container_sources import ContextSource
from graphwright.capture.guards.source import AttrSource, ConstSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.sequences import SequenceMethod
from graphwright.capture.trackers.values.exceptions import raise_in_frame

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_ABSENT = object()
_METHODS = ("get", "set", "reset")


class ContextVariable(VariableTracker):
    """An existing context variable, guarded by identity."""

    mutable = True

    def __init__(self, value: ContextVar[Any], source: Source) -> None:
        self.value = value
        self.source: Source = source

    def python_type(self) -> type:
        return ContextVar

    def describe(self) -> str:
        return f"the context variable {self.source}"

    def has_tensor(self) -> bool:
        return False

    def hashes_by_identity(self, tx: Translator) -> bool:
        return True

    @staticmethod
    def methods() -> dict[str, Any]:
        """The methods that are interpreted, by name."""
        return dict.fromkeys(_METHODS)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "name":
            return tx.output.wrap(self.value.name, AttrSource(self.source, name))
        return SequenceMethod(self, name) if name in _METHODS else super().getattr(tx, name)

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        most, least = (1, 0) if name == "get" else (1, 1)
        if name not in _METHODS or kwargs or not least <= len(args) <= most:
            return super().call_method(tx, name, args, kwargs)
        self._check_part(tx, writes=name != "get")
        given = [arg.realize() for arg in args]
        if name == "get":
            return self._get(tx, *given)
        return self._set(tx, *given) if name == "set" else self._reset(tx, *given)

    def _check_part(self, tx: Translator, writes: bool) -> None:
        earlier = tx.side_effects.earlier
        if earlier is not None and (writes or self in earlier.contexts):
            unsupported("GB0004", f"{self.describe()}, which the frame changes")
        if writes:
            tx.side_effects.refuse_after_calls()

    def _get(self, tx: Translator, default: VariableTracker | None = None) -> VariableTracker:
        own = tx.side_effects.contexts.get(self)
        if own is not None:
            return own
        source = ContextSource(self.source, default is None)
        if default is None:
            try:
                value = self.value.get()
            except LookupError:
                value = _ABSENT
        else:
            value = self.value.get(_ABSENT)
        if value is not _ABSENT:
            return tx.output.wrap(value, source)
        tx.guards.missing(source)
        if default is None:
            raise_in_frame(LookupError, [self])
        return default

    def _set(self, tx: Translator, value: VariableTracker) -> VariableTracker:
        contexts = tx.side_effects.contexts
        before, contexts[self] = contexts.get(self), value
        return TokenVariable(self, before)

    def _reset(self, tx: Translator, token: VariableTracker) -> VariableTracker:
        known = isinstance(token, TokenVariable) and token.variable is self and not token.used
        if not known:
            unsupported("GB0004", f"{self.describe()}.reset({token.describe()})")
        assert isinstance(token, TokenVariable)
        token.used = True
        tx.side_effects.contexts.pop(self)
        if token.before is not None:
            tx.side_effects.contexts[self] = token.before
        return tx.constant(None)


class TokenVariable(VariableTracker):
    """What `set` gave in the frame: `before` is the frame's own value till then, if it had one."""

    mutable = True

    def __init__(self, variable: ContextVariable, before: VariableTracker | None) -> None:
        self.variable = variable
        self.before = before
        self.used = False

    def python_type(self) -> type:
        return Token

    def has_tensor(self) -> bool:
        return False

    def truth(self, tx: Translator) -> bool:
        return True


def wrap_context(output: OutputGraph, value: ContextVar[Any], source: Source) -> VariableTracker:
    """The rule of context variables."""
    if not isinstance(source, ConstSource):
        output.guards.id_match(source, value)
    return ContextVariable(value, source)
