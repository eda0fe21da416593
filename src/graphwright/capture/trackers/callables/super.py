"""`super()`."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.guards.source import AttrSource, ClassSource, MroSource
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.classes import ClassVariable
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup, may_change, mro_of
from graphwright.capture.trackers.values.objects import bind_class_attribute

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator


class SuperVariable(VariableTracker):
    """`super(cls, owner)`."""

    def __init__(self, cls: type, owner: VariableTracker) -> None:
        self.cls = cls
        self.owner = owner

    @classmethod
    def of(cls, tx: Translator, base: type, owner: VariableTracker) -> SuperVariable:
        """The call; a break where `owner` is no instance or subclass of `base`."""
        made = cls(base, owner)
        kind = made._kind()
        if may_change(kind) and base is not object:
            source = MroSource(ClassSource.of(kind), "__class__", base)     # what `object` has
            tx.guards.id_match(source, lookup(kind, "__class__", base))
        return made

    def python_type(self) -> type:
        return super

    def parts(self) -> Iterable[VariableTracker]:
        return [self.owner]

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        owner, kind = self.owner, self._kind()
        of_class = isinstance(owner, ClassVariable) and kind is owner.value
        if tx.written_in_class(kind, name, self.cls) is not None:
            unsupported("GB0008", f"super().{name}, which the frame has changed")
        static = lookup(kind, name, self.cls)
        source = MroSource(ClassSource.of(kind), name, self.cls)
        if static is ABSENT:
            tx.guards.missing(source)
            raise AttributeMissing("GB0007", f"'super' object has no attribute {name!r}")
        if static in (type.__dict__["__call__"], type.__dict__["__init__"]):
            return tx.bound_method(tx.output.wrap(static, source), owner)
        if of_class and isinstance(static, (types.FunctionType, property)):
            return tx.output.wrap(static, source)
        if isinstance(static, property) and isinstance(static.fget, types.FunctionType):
            getter = tx.output.wrap(static.fget, AttrSource(source, "fget"))
            return getter.call(tx, [owner], {})
        return bind_class_attribute(tx, static, source, owner, name)

    def _kind(self) -> type:
        """The class whose MRO is searched."""
        owner = self.owner
        kind = owner.value if isinstance(owner, ClassVariable) else owner.python_type()
        if not self._is_base(kind) and isinstance(owner, ClassVariable):
            kind = owner.python_type()
        if not self._is_base(kind):
            unsupported("GB0007", "TypeError: super(type, obj): obj must be an instance of type")
        return kind

    def _is_base(self, kind: type) -> bool:
        return self.cls in (mro_of(kind) or ())    # None while the class is being made

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(super)
        cg.builder.load_const(self.cls)
        cg.push(self.owner)
        cg.builder.end_call(2)
