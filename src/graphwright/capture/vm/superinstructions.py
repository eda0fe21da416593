"""Code whose instructions work on one local each, where 3.13 has some on two.

Those on two reach only the first sixteen locals. Each becomes two, and what jumps over them, the
line table and the table of handlers follow:

    LOAD_FAST_LOAD_FAST a, b            LOAD_FAST a
    BINARY_OP +                   ->    LOAD_FAST b
    STORE_FAST_LOAD_FAST c, a           BINARY_OP +
                                        STORE_FAST c
                                        LOAD_FAST a
"""

from __future__ import annotations

import bisect
import dis
import types
from collections.abc import Iterator, Sequence

from graphwright.capture.frame.per_code import per_code
from graphwright.capture.vm.bytecode import PAIRS, Instruction, decode
from graphwright.capture.vm.bytecode_tables import (
    Place,
    caches_of,
    handler_table,
    instruction,
    line_table,
)

SECOND = 1 << 24


def unpaired(code: types.CodeType) -> tuple[types.CodeType, tuple[int, ...]]:
    """The code, and for each instruction the original's index: plus SECOND, the second of two."""
    instructions = decode(code)
    if any(inst.opname in PAIRS for inst in instructions):
        return _split(code)
    return code, tuple(range(len(instructions)))


@per_code
def _split(code: types.CodeType) -> tuple[types.CodeType, tuple[int, ...]]:
    instructions = decode(code)
    parts = [_Part(*single) for inst in instructions for single in _singles(inst)]
    starts = _placed(parts, _first_parts(parts))
    return _linked(code, parts, starts), tuple(part.index for part in parts)


class _Part:
    """An instruction of the new code; `index` is the original's, `units` the room it has."""

    __slots__ = ("arg", "index", "inst", "name", "units")

    def __init__(self, inst: Instruction, name: str, arg: int, index: int) -> None:
        self.inst, self.name, self.arg, self.index = inst, name, arg, index
        self.units = 0

    def encoded(self) -> bytes:
        return instruction(self.name, self.arg) + bytes(2 * caches_of(self.name))


def _singles(inst: Instruction) -> Iterator[tuple[Instruction, str, int, int]]:
    """What stands for an instruction: itself, or one for each of its locals."""
    if inst.opname not in PAIRS:
        yield inst, inst.opname, inst.arg, inst.index
        return
    indices = inst.index, inst.index + SECOND
    for loads, slot, index in zip(PAIRS[inst.opname], divmod(inst.arg, 16), indices, strict=True):
        yield inst, "LOAD_FAST" if loads else "STORE_FAST", slot, index


def _first_parts(parts: Sequence[_Part]) -> list[int]:
    """For each original instruction where in `parts` it begins; at the end the number of parts."""
    return [at for at, part in enumerate(parts) if part.index < SECOND] + [len(parts)]


def _placed(parts: Sequence[_Part], first: Sequence[int]) -> list[int]:
    """In which unit each original instruction begins; jumps get their distances.

    A jump that needs a prefix moves others further apart; no jump gets shorter.
    """
    while True:
        at = [0]
        for part in parts:
            at.append(at[-1] + part.units)
        for place, part in enumerate(parts):
            if part.inst.target >= 0:
                distance = at[first[part.inst.target]] - at[place + 1]
                part.arg = -distance if "BACKWARD" in part.name else distance
        sizes = [len(part.encoded()) // 2 for part in parts]
        if sizes == [part.units for part in parts]:
            return [at[place] for place in first]
        for part, size in zip(parts, sizes, strict=True):
            part.units = size


def _linked(
    code: types.CodeType, parts: Sequence[_Part], starts: Sequence[int]
) -> types.CodeType:
    """The code object of the parts."""
    offsets = [inst.offset for inst in decode(code)]

    def moved(offset: int) -> int:
        return starts[bisect.bisect_left(offsets, offset)]

    return code.replace(
        co_code=b"".join(part.encoded() for part in parts),
        co_linetable=line_table(_places(code, parts), code.co_firstlineno),
        co_exceptiontable=handler_table(
            (moved(e.start), moved(e.end), moved(e.target), e.depth, e.lasti)
            for e in dis._parse_exception_table(code)  # type: ignore[attr-defined]
        ),
    )


def _places(
    code: types.CodeType, parts: Sequence[_Part]
) -> Iterator[tuple[int, Place | None]]:
    positions = list(code.co_positions())
    for part in parts:
        line, last, start, end = positions[part.inst.offset // 2]
        columns = None if last is None or start is None or end is None else (last, start, end)
        yield part.units, (line, columns) if line is not None else None
