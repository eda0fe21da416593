"""From written instructions to a code object: slots, jumps, stack depth, tables, for 3.11 to 3.13.

Jumps only go forward, which is all that the replacement of a frame needs. So one walk from the
first instruction to the last knows the stack's depth everywhere, and one walk back knows how far
each jump goes, and with it how many bytes it takes:

    IS_OP 0                                  IS_OP 0
    POP_JUMP_IF_FALSE label                  POP_JUMP_IF_FALSE 2
    LOAD_CONST value           ->            LOAD_CONST 1
    RETURN_VALUE                             RETURN_VALUE
    label: LOAD_FAST error                   LOAD_FAST 0
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

from graphwright.capture.vm.bytecode_tables import (
    Place,
    caches_of,
    handler_table,
    instruction,
    line_table,
)
from graphwright.runtime.record import Record

_CODE = dis.opmap
JUMPS = frozenset(dis.opname[code] for code in (*dis.hasjrel, *dis.hasjabs))
LEAVES = frozenset(["RETURN_VALUE", "RAISE_VARARGS", "RERAISE"])
_CONSTANTS = frozenset(["LOAD_CONST", "KW_NAMES"])


class Label:
    """A place to jump to."""

    __slots__ = ()


class Free(Record):
    """The argument of an instruction on a free variable."""

    name: str


class Written(Record):
    """One instruction: name, argument (none: an empty tuple), line, columns if they matter.

    columns: last line, first and last column, which a traceback underlines. Arguments are names
    of locals and attributes, constants, `Free` variables, labels, operators of comparisons, and
    numbers for all else; (flag, name) where the lowest bit says something. `TRY_BEGIN handler` and
    `TRY_END` enclose what a handler covers.
    """

    name: str
    arg: tuple[Any, ...]
    line: int
    columns: tuple[int, int, int] | None = None


class _Step:
    """An instruction with its argument as a number; jumps have a label until they are placed."""

    __slots__ = ("arg", "columns", "line", "name", "target")

    def __init__(self, written: Written, arg: int, target: Label | None) -> None:
        self.name, self.line, self.columns = written.name, written.line, written.columns
        self.arg, self.target = arg, target


class _Block:
    """The instructions from `start` to before `end`, whose exceptions go to `handler`."""

    __slots__ = ("depth", "end", "handler", "start")

    def __init__(self, start: int, handler: Label) -> None:
        self.start, self.end, self.handler, self.depth = start, start, handler, 0


class Encoder:
    """Makes one code object.

    slots: the first locals, those that the caller binds among them; free: the names of the free
    variables.
    """

    def __init__(self, slots: Iterable[str], free: tuple[str, ...]) -> None:
        self.locals = {name: slot for slot, name in enumerate(slots)}
        self.free = {name: slot for slot, name in enumerate(free)}
        self.names: dict[str, int] = {}
        self.constants: list[Any] = []
        self._constant_at: dict[int, int] = {}
        self.steps: list[_Step] = []
        self.at: dict[Label, int] = {}
        self.blocks: list[_Block] = []

    def encode(self, written: Iterable[Written | Label], like: types.CodeType) -> types.CodeType:
        """The code object; name, file, flags and arguments are those of `like`."""
        items = list(written)
        for item in items:
            if isinstance(item, Written) and item.name in _LOCALS and type(item.arg[0]) is str:
                self.locals.setdefault(item.arg[0], len(self.locals))
        for item in items:
            self._take(item)
        size = self._measure()
        units, starts = self._place()
        return like.replace(
            co_code=b"".join(units),
            co_consts=tuple(self.constants),
            co_names=tuple(self.names),
            co_varnames=tuple(self.locals),
            co_nlocals=len(self.locals),
            co_cellvars=(),
            co_freevars=tuple(self.free),
            co_stacksize=size,
            co_linetable=line_table(self._places(units), like.co_firstlineno),
            co_exceptiontable=handler_table(
                (starts[b.start], starts[b.end], starts[self.at[b.handler]], b.depth, False)
                for b in self.blocks if b.end > b.start
            ),
        )

    # arguments

    def _take(self, item: Written | Label) -> None:
        if isinstance(item, Label):
            self.at[item] = len(self.steps)
        elif item.name == "TRY_BEGIN":
            self.blocks.append(_Block(len(self.steps), item.arg[0]))
        elif item.name == "TRY_END":
            self.blocks[-1].end = len(self.steps)
        else:
            target = item.arg[0] if item.name in JUMPS else None
            arg = self._number(item) if item.arg and target is None else 0
            self.steps.append(_Step(item, arg, target))

    def _number(self, item: Written) -> int:
        """The argument as a number."""
        name, value = item.name, item.arg[0]
        if type(value) is Free:
            return len(self.locals) + self.free[value.name]
        if name in _CONSTANTS:
            return self._constant(value)
        if name in _LOCALS:
            return self.locals[value]
        if name in _NAMES:
            flag, text = value if type(value) is tuple else (None, value)
            index = self.names.setdefault(text, len(self.names))
            return index if flag is None else index << 1 | flag
        if name == "COMPARE_OP":
            return _comparisons()[value]
        assert type(value) is int, f"{name} {value!r}"
        return value

    def _constant(self, value: object) -> int:
        """The place of a constant: each object has its own, equal ones are not one object."""
        place = self._constant_at.setdefault(id(value), len(self.constants))
        if place == len(self.constants):
            self.constants.append(value)
        return place

    # stack

    def _measure(self) -> int:
        """The greatest depth of the stack; blocks learn at which depth they begin."""
        arriving: dict[int, int] = {}
        opening = {block.start: block for block in self.blocks if block.end > block.start}
        depth = most = 0
        for index, step in enumerate(self.steps):
            depth = max(depth, arriving.get(index, 0))
            if index in opening:
                block = opening[index]
                block.depth = depth
                arriving[self.at[block.handler]] = depth + 1
            code = _CODE[step.name]
            arg = step.arg if step.name in _WITH_ARGUMENT else None
            if step.target is not None:
                place = self.at[step.target]
                there = depth + dis.stack_effect(code, arg, jump=True)
                arriving[place] = max(there, arriving.get(place, 0))
            most = max(most, depth)
            depth += dis.stack_effect(code, arg, jump=False)
            assert depth >= 0, f"nothing is on the stack for {step.name}"
            most = max(most, depth)
            if step.name in LEAVES:
                depth = 0
        return most

    # places

    def _place(self) -> tuple[list[bytes], list[int]]:
        """The bytes of each step with its caches, and in which unit it begins; jumps are set."""
        left = [0] * (len(self.steps) + 1)
        units = [b""] * len(self.steps)
        for index in range(len(self.steps) - 1, -1, -1):
            step = self.steps[index]
            if step.target is not None:
                assert self.at[step.target] > index, "a jump back"
                step.arg = left[index + 1] - left[self.at[step.target]]
            units[index] = instruction(step.name, step.arg) + bytes(2 * caches_of(step.name))
            left[index] = left[index + 1] + len(units[index]) // 2
        return units, [left[0] - rest for rest in left]

    def _places(self, units: list[bytes]) -> Iterable[tuple[int, Place]]:
        """How many units stand for which place in the source."""
        for step, part in zip(self.steps, units, strict=True):
            yield len(part) // 2, (step.line, step.columns)


@functools.cache
def _comparisons() -> dict[str, int]:
    """What the argument of COMPARE_OP is for each operator: as Python itself writes it."""
    found: dict[str, int] = {}
    for symbol in ("<", "<=", "==", "!=", ">", ">="):
        code = compile(f"a {symbol} b", "", "eval")
        comparing = (inst for inst in dis.get_instructions(code) if inst.opname == "COMPARE_OP")
        found[symbol] = next(comparing).arg or 0
    return found


def _named(codes: Iterable[int]) -> frozenset[str]:
    return frozenset(dis.opname[code] for code in codes)


def _having_argument() -> frozenset[str]:
    known = getattr(dis, "hasarg", None)
    takes: Callable[[int], bool] = known.__contains__ if known is not None else (
        lambda code: code >= dis.HAVE_ARGUMENT
    )
    return frozenset(name for name, code in _CODE.items() if takes(code))


_LOCALS, _NAMES = _named([*dis.haslocal, *dis.hasfree]), _named(dis.hasname)
_WITH_ARGUMENT = _having_argument()
