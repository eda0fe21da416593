"""Reading bytecode: decoded instructions, what lies in a try block, which locals are live."""

from __future__ import annotations

import dis
import linecache
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, overload

from graphwright.capture.frame.per_code import CodeTable, per_code
from graphwright.runtime.record import Record, replace

_SKIPPED = frozenset(["CACHE", "EXTENDED_ARG"])
_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
_NO_FALLTHROUGH = frozenset(
    [
        "RETURN_VALUE",
        "RETURN_CONST",
        "RAISE_VARARGS",
        "RERAISE",
        "JUMP_FORWARD",
        "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT",
    ]
)


class Instruction(Record):
    """One instruction, its EXTENDED_ARGs folded in.

    value: the decoded argument (name, constant, ...); target: index of the jump's destination in
    the instruction list, -1 where it does not jump; columns: its last line, first and last column
    where they are known; protected: a block's handler covers it.
    """

    index: int
    opname: str
    arg: int
    value: Any
    target: int
    line: int
    columns: tuple[int, int, int] | None
    offset: int
    protected: bool


class ExceptionHandler(Record):
    """Where an exception in instructions start..end-1 (by offset) goes: index, stack depth."""

    start: int
    end: int
    target: int
    depth: int
    push_lasti: bool


class Moved(Sequence[Instruction]):
    """The instructions of code that is other code behind a prologue.

    Each is made when somebody asks for it: resume functions repeat all of a function, of which
    they run a part.
    """

    def __init__(
        self, prologue: Sequence[Instruction], code: types.CodeType, units: int,
        handler: ExceptionHandler | None,
    ) -> None:
        """`units`: the length of the prologue; `handler`, of `code`, protects its RESUME."""
        self._made = {inst.index: inst for inst in prologue}
        self._original = decode(code)
        self._count, self._bytes = len(prologue), 2 * units
        self._start = next(inst.index for inst in self._original if inst.opname == "RESUME")
        self._handlers = exception_handlers(code)
        self._first = handler
        self._resumes = next(inst.offset for inst in prologue if inst.opname == "RESUME")

    def __len__(self) -> int:
        return self._count + len(self._original)

    @overload
    def __getitem__(self, index: int) -> Instruction: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Instruction]: ...
    def __getitem__(self, index: int | slice) -> Instruction | Sequence[Instruction]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        found = self._made.get(index)
        if found is None:
            found = self._made[index] = self._moved(self._original[index - self._count])
        return found

    def _moved(self, inst: Instruction) -> Instruction:
        """An instruction at its new place; what begins the function does nothing there."""
        return replace(
            inst,
            index=inst.index + self._count,
            opname=inst.opname if inst.index > self._start else "NOP",
            target=inst.target + self._count if inst.target >= 0 else -1,
            offset=inst.offset + self._bytes,
        )

    def handlers(self) -> tuple[ExceptionHandler, ...]:
        """The exception table at its new place."""
        moved = tuple(
            replace(
                handler,
                start=handler.start + self._bytes,
                end=handler.end + self._bytes,
                target=handler.target + self._count,
            )
            for handler in self._handlers
        )
        if self._first is None:
            return moved
        start, target = self._resumes, self._first.target + self._count
        return (replace(self._first, start=start, end=start + 2, target=target), *moved)


_moved: CodeTable[Moved] = CodeTable()


def note_moved(code: types.CodeType, instructions: Moved) -> None:
    """Say what the instructions of `code` are before anyone decodes it."""
    _moved[code] = instructions


def decode(code: types.CodeType) -> Sequence[Instruction]:
    """The instructions of `code` without caches and prefixes."""
    return _moved.get(code) or _decoded(code)


@per_code
def _decoded(code: types.CodeType) -> tuple[Instruction, ...]:
    raw = list(dis.get_instructions(code))
    kept = [inst for inst in raw if inst.opname not in _SKIPPED]
    by_offset = _offsets(raw, kept)
    ranges = _protected_ranges(code)
    line = code.co_firstlineno
    twofold = frozenset(code.co_varnames).intersection(code.co_freevars)
    result = []
    for index, inst in enumerate(kept):
        line = _line_of(inst) or line
        target = by_offset[inst.argval] if inst.opcode in _JUMPS else -1
        protected = any(start <= inst.offset < end for start, end in ranges)
        result.append(
            Instruction(
                index=index,
                opname=inst.opname,
                arg=inst.arg or 0,
                value=_told_apart(inst, twofold) if twofold else inst.argval,
                target=target,
                line=line,
                columns=_columns_of(inst),
                offset=inst.offset,
                protected=protected,
            )
        )
    return tuple(result)


def _told_apart(inst: dis.Instruction, twofold: frozenset[str]) -> Any:
    """What an instruction is about: in a class body of 3.12 and 3.13, a comprehension's variables,
    which are locals, have the names of the free variables that it reads."""
    if "_FAST" not in inst.opname:
        return inst.argval
    if isinstance(inst.argval, tuple):
        return tuple(f"{n} (a local)" if n in twofold else n for n in inst.argval)
    return f"{inst.argval} (a local)" if inst.argval in twofold else inst.argval


def _line_of(inst: dis.Instruction) -> int | None:
    positions = inst.positions
    return positions.lineno if positions is not None else None


def _columns_of(inst: dis.Instruction) -> tuple[int, int, int] | None:
    at = inst.positions
    if at is None or at.end_lineno is None or at.col_offset is None or at.end_col_offset is None:
        return None
    return at.end_lineno, at.col_offset, at.end_col_offset


def _offsets(raw: list[dis.Instruction], kept: list[dis.Instruction]) -> dict[int, int]:
    """Byte offset -> index in `kept`; prefixes and caches count to what follows them."""
    result: dict[int, int] = {}
    position = 0
    for inst in raw:
        while position < len(kept) and kept[position].offset < inst.offset:
            position += 1
        result[inst.offset] = position
    return result


def _protected_ranges(code: types.CodeType) -> list[tuple[int, int]]:
    entries = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    return [(entry.start, entry.end) for entry in entries]


@per_code
def exception_handlers(code: types.CodeType) -> tuple[ExceptionHandler, ...]:
    """The exception table of `code`."""
    moved = _moved.get(code)
    if moved is not None:
        return moved.handlers()
    at = {inst.offset: inst.index for inst in decode(code)}
    entries = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    return tuple(
        ExceptionHandler(e.start, e.end, at[e.target], e.depth, bool(e.lasti)) for e in entries
    )


_OF_TRUTHS = frozenset({"POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "UNARY_NOT"})


def handler_of(code: types.CodeType, inst: Instruction) -> ExceptionHandler | None:
    """Where an exception of the instruction goes within its frame.

    From 3.13 on a branch takes a truth that the instruction before it has made, and may lie
    outside of the block; here both are one step.
    """
    if PYTHON >= (3, 13) and inst.opname in _OF_TRUTHS:
        inst = decode(code)[inst.index - 1]
    for handler in exception_handlers(code):
        if handler.start <= inst.offset < handler.end:
            return handler
    return None


def _successors(inst: Instruction) -> list[int]:
    following = [] if inst.opname in _NO_FALLTHROUGH else [inst.index + 1]
    return [*following, inst.target] if inst.target >= 0 else following


Uses = Callable[[Instruction], tuple[frozenset[str], frozenset[str]]]


@per_code
def _live_before(code: types.CodeType, uses: Uses) -> tuple[frozenset[str], ...]:
    """For each instruction, the names that may be read from there on before they are written."""
    instructions = decode(code)
    live: list[frozenset[str]] = [frozenset()] * (len(instructions) + 1)
    handlers = _handlers(code, instructions)
    changed = True
    while changed:
        changed = False
        for inst in reversed(instructions):
            after: frozenset[str] = frozenset()
            for successor in (*_successors(inst), *handlers[inst.index]):
                after |= live[successor]
            reads, writes = uses(inst)
            before = (after - writes) | reads
            if before != live[inst.index]:
                live[inst.index] = before
                changed = True
    return tuple(live)


def _handlers(code: types.CodeType, instructions: Sequence[Instruction]) -> list[list[int]]:
    """For each instruction, the indices of the exception handlers that cover it."""
    entries = exception_handlers(code)
    return [
        [e.target for e in entries if e.start <= inst.offset < e.end] for inst in instructions
    ]


def live_locals(code: types.CodeType, index: int) -> frozenset[str]:
    """The locals that the code may still read from instruction `index` on.

    Also where what another thread or a signal raises arrives in front of it, which may be a store.
    """
    live = _live_before(code, local_uses)
    handlers = _handlers(code, decode(code)[index:index + 1])
    return live[index].union(*(live[target] for targets in handlers for target in targets))


def read_cells(code: types.CodeType, index: int) -> frozenset[str]:
    """The cells that may be read from `index` on before they are bound there."""
    return _live_before(code, _cell_uses)[index]


@per_code
def read_after_deletion(code: types.CodeType) -> frozenset[str]:
    """The cells that the code empties and may then read."""
    emptied = [inst for inst in decode(code) if inst.opname == "DELETE_DEREF"]
    return frozenset(
        inst.value for inst in emptied if inst.value in read_cells(code, inst.index + 1)
    )


def _cell_uses(inst: Instruction) -> tuple[frozenset[str], frozenset[str]]:
    if inst.opname in ("LOAD_DEREF", "DELETE_DEREF"):
        return frozenset([inst.value]), frozenset()
    if inst.opname == "STORE_DEREF":
        return frozenset(), frozenset([inst.value])
    return frozenset(), frozenset()


def local_uses(inst: Instruction) -> tuple[frozenset[str], frozenset[str]]:
    """The local names that an instruction reads and those that it overwrites."""
    name = inst.opname
    if name in PAIRS:
        first, second = inst.value
        reads_first, reads_second = PAIRS[name]
        reads = {n for n, read in ((first, reads_first), (second, reads_second)) if read}
        writes = {n for n, read in ((first, reads_first), (second, reads_second)) if not read}
        return frozenset(reads), frozenset(writes - reads)
    if name in _READS:
        return frozenset([inst.value]), frozenset()
    if name == "STORE_FAST":
        return frozenset(), frozenset([inst.value])
    return frozenset(), frozenset()


_READS = frozenset(
    [
        "LOAD_FAST",
        "LOAD_FAST_CHECK",
        "LOAD_FAST_AND_CLEAR",
        "DELETE_FAST",
        "LOAD_CLOSURE",
        "LOAD_DEREF",
        "STORE_DEREF",
        "DELETE_DEREF",
        "LOAD_CLASSDEREF",
        "LOAD_FROM_DICT_OR_DEREF",
    ]
)
PAIRS = {
    "LOAD_FAST_LOAD_FAST": (True, True),
    "STORE_FAST_LOAD_FAST": (False, True),
    "STORE_FAST_STORE_FAST": (False, False),
}


def source_line(filename: str, line: int) -> str:
    """The user's text of one line, stripped; empty where the file cannot be read."""
    return linecache.getline(filename, line).strip()


PYTHON = sys.version_info[:2]
