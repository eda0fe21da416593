"""Sources of values that objects written in C keep: caches, weak references, context variables."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from graphwright.capture import _eval_frame
from graphwright.capture.guards.source import DerivedSource, LoadWriter, Reloader, Source
from graphwright.capture.vm.asserted_branches import Refuted


class CachedSource(Source):
    """What a function under `functools.lru_cache` keeps for a key, found without a call.

    The key is the function's own; where it has MISSING it means the next of `objects`.
    otherwise: what a call would give where nothing is kept, a constant, or MISSING.
    """

    function: Source
    key: object
    objects: tuple[Source, ...] = ()
    otherwise: object = _eval_frame.MISSING
    read_first = True

    @property
    def root(self) -> Source:
        return self.function.root

    def name(self) -> str:
        parts = self.key if type(self.key) is tuple else (self.key,)
        objects = iter(self.objects)
        texts = [next(objects).name() if part is _eval_frame.MISSING else repr(part)
                 for part in parts]
        return f"{self.function.name()}.cache[{', '.join(texts)}]"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(kept)
        self.function.emit(cg)
        cg.load_const(self.key)
        for source in self.objects:
            source.emit(cg)
        cg.end_call(2 + len(self.objects))

    def loads(self, program: LoadWriter) -> int:
        operands = (self.function, *self.objects)
        return program.compute((self.key, self.otherwise), operands, "cached")


def kept(function: Any, key: Any, *objects: Any) -> Any:
    """What the guards have seen, unless another thread has cleared the cache since."""
    found = _eval_frame.cached_result(function, key, *objects)
    if found is _eval_frame.MISSING:
        raise Refuted(f"what {function.__qualname__} keeps has changed")
    return found


_eval_frame.skip_code(kept.__code__)


class ReferentSource(DerivedSource):
    """What a weak reference refers to, which the guards have seen; it is held from then on."""

    read_first = True

    def name(self) -> str:
        return f"{self.base.name()}()"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(referred)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("referent", self.base)


def referred(reference: Any) -> Any:
    """What the guards have seen, unless another thread or the collector has ended it since."""
    found = _eval_frame.referent(reference)
    if found is None:
        raise Refuted("what a weak reference led to is gone")
    return found


_eval_frame.skip_code(referred.__code__)


class ContextSource(DerivedSource):
    """The value of a context variable in the current context, or its own default if `defaults`."""

    read_first = True
    defaults: bool

    def name(self) -> str:
        return f"{self.base.name()}.get()"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(context_value)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("context", self.base, int(self.defaults))


def context_value(variable: ContextVar[Any]) -> Any:
    """`variable.get()`: compiled frames call this to load the value that the guards compared."""
    return variable.get()


_eval_frame.skip_code(context_value.__code__)


PLAIN: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    str: str.__str__,
    bytes: bytes.__bytes__,
    frozenset: frozenset.copy,
}
"""What gives the value alone of an instance of a subclass, past what its class makes of it."""


class PlainSource(DerivedSource):
    """The number, text, bytes or frozenset, of type `kind`, that an instance of a subclass is."""

    kind: type

    def name(self) -> str:
        return f"{self.kind.__name__}({self.base.name()})"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(PLAIN[self.kind])
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("plain", self.base)
