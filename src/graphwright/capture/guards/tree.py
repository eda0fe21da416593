"""The same guards as a tree over their sources: each object is read once, in one pass.

What guards read of one object (attributes, items by string key, class attributes) becomes one
`fields` instruction, which also holds the guards that something is missing. It stands where the
first of its values is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import CodeType
from typing import Any

from graphwright.capture import _eval_frame
from graphwright.capture.guards.assembler import Assembler
from graphwright.capture.guards.source import Source

_INSTANCE, _DICT, _CLASS = range(3)
Group = tuple[int, Source]


class _Field:
    """One value in a group: its source, name, and what is known of it."""

    def __init__(self, source: Source, name: str, own: bool) -> None:
        self.source = source
        self.name = name
        self.own = own
        self.must_miss = False


class _Survey:
    """A `LoadWriter` that writes nothing: it groups the sources by what they are read from."""

    def __init__(self) -> None:
        self.groups: dict[Group, list[_Field]] = {}
        self.field_of: dict[Source, tuple[Group, _Field]] = {}
        self._known: set[Source] = set()
        self._current: list[Source] = []

    def visit(self, source: Source) -> None:
        if source not in self._known:
            self._known.add(source)
            self._current.append(source)
            source.loads(self)
            self._current.pop()

    def root(self, _op: str, *_operands: object) -> int:
        return 0

    def chain(self, op: str, base: Source, *operands: object) -> int:
        self.visit(base)
        kind = _kind(op, operands)
        if kind is not None:
            source = self._current[-1]
            field = _Field(source, str(operands[0]), op != "attr")
            group = (kind, base)
            self.groups.setdefault(group, []).append(field)
            self.field_of[source] = group, field
        return 0

    def compute(
        self, _function: object, operands: tuple[Source, ...], _op: str = "compute"
    ) -> int:
        for source in operands:
            self.visit(source)
        return 0

    def slot(self, _name: str) -> int:
        return 0

    def free(self, _name: str) -> int:
        return 0


def _kind(op: str, operands: Sequence[object]) -> int | None:
    """The kind of group in which a load is; None where it stands alone."""
    if op in ("attr", "instance_attr"):
        return _INSTANCE
    if op == "item" and type(operands[0]) is str:
        return _DICT
    if op == "mro_attr" and operands[1] is None:
        return _CLASS
    return None


class TreeAssembler(Assembler):
    """Writes the program that is run; `plain` is the one that finds which guard fails."""

    def __init__(self, code: CodeType, guards: Iterable[Any], inputs: Iterable[Source]) -> None:
        super().__init__(code)
        self._survey = _Survey()
        read: set[Source] = set()
        missing: dict[Source, None] = {}
        for guard in guards:
            for source in guard.sources:
                self._survey.visit(source)
            if guard.kind == "missing":
                missing[guard.sources[0]] = None
            else:
                read.update(guard.sources)
        for source in inputs:
            self._survey.visit(source)
            read.add(source)
        for source in missing:
            if source not in read and source in self._survey.field_of:
                self._survey.field_of[source][1].must_miss = True

    def load(self, source: Source) -> int:
        register = self._registers.get(source)
        if register is None and source in self._survey.field_of:
            self._write_group(self._survey.field_of[source][0])
            register = self._registers[source]
        return register if register is not None else super().load(source)

    def _write_group(self, group: Group) -> None:
        kind, base = group
        register = self.load(base)
        members = []
        for field in self._survey.groups[group]:
            self._registers[field.source] = self._count
            members.append((field.name, self._count, field.own, field.must_miss))
            self._count += 1
        self._instructions.append(("fields", register, kind, tuple(members)))

    def check(self, op: str, sources: Sequence[Source], payload: object) -> None:
        if op == "missing":
            found = self._survey.field_of.get(sources[0])
            if found is not None and found[1].must_miss:
                self.load(sources[0])
                return
        super().check(op, sources, payload)

    def program_over(
        self, plain: _eval_frame.GuardProgram, inputs: Iterable[Source]
    ) -> _eval_frame.GuardProgram:
        """The finished program, beside the plain one of the same guards."""
        registers = [self.load(source) for source in inputs]
        return self.program(plain.guards, registers, plain)
