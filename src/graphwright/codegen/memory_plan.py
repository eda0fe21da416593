"""The memory plan: where every temporary lives in the arena, and which are results in disguise.

A temporary whose last reader is the kernel that writes another buffer, element for element at the
same index, becomes that buffer: nothing is copied, and the kernel works in place. Others lie in
the memory of a large result that is written only once they are dead, or get offsets in one arena;
temporaries that are never alive together share memory.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from graphwright.codegen.loops import (
    Accumulate,
    Apply,
    Buffer,
    Check,
    Fold,
    For,
    Kernel,
    Let,
    Load,
    Reduce,
    Stmt,
    Store,
)
from graphwright.codegen.program import (
    Gemm,
    RoutineCall,
    Slot,
    Stage,
    Step,
    Touching,
    operand_names,
    step_buffers,
)
from graphwright.codegen.scheduler.buffer_access import touched, touches
from graphwright.runtime.record import Record, replace
from graphwright.runtime.symbolic.expr import Expr, Int, as_int

Placed = tuple[int, int, int, int]
"""First byte and the one behind the last, first and last step that it lives in."""

ALIGNMENT = 64
LARGE = 1 << 16
"""Bytes from which a result lends its memory, and a temporary takes it."""
BLOCK = 64
"""What is placed is known by blocks of so many steps."""
MOST_BLOCKS = 4
"""Who lives in more blocks looks at all that is placed."""


class MemoryPlan(Record):
    """The steps over the buffers that remain, where the temporaries among these are, and when
    what has memory of its own is born and dies."""

    steps: tuple[Step, ...]
    slots: dict[str, Slot]
    arena_bytes: Expr
    stages: tuple[Stage, ...] = ()
    blocks: tuple[int, ...] = ()


def plan_memory(
    steps: Sequence[Step], temps: Sequence[Buffer], outputs: Sequence[Buffer] = (),
    chained: Collection[int] = (),
) -> MemoryPlan:
    """Place what is left of the temporaries once steps work in place. `outputs` in the results'
    order; `chained` as in `NativeProgram`."""
    lives = lifetimes(steps, chained)
    lent = _lent(outputs, lives)
    slots, total = place([t for t in temps if t.name in lives], lives, lent)
    return MemoryPlan(tuple(steps), slots, total)


def plan_stages(
    steps: Sequence[Step], temps: Sequence[Buffer], outputs: Sequence[Buffer],
    inputs: Sequence[Buffer], mutated: Collection[int], chained: Collection[int] = (),
) -> MemoryPlan:
    """The same for a program in stages: large temporaries and outputs get memory when they are
    first written, and give it back, as inputs do, when they were last read.

    mutated: positions of the inputs that it writes, which it does not free.
    """
    lives = lifetimes(steps, chained)
    alive = [t for t in temps if t.name in lives]
    large = [t for t in alive if as_int(t.size) is not None and _bytes(t) >= LARGE]
    slots, total = place([t for t in alive if t not in large], lives, [])
    slots |= {buffer.name: Slot("block", number) for number, buffer in enumerate(large)}
    born = [(lives[buffer.name][0], number) for number, buffer in enumerate((*outputs, *large))
            if buffer.name in lives and _may_be_large(buffer)]
    dead = [(lives.get(buffer.name, (0, -1))[1], number)
            for number, buffer in enumerate((*inputs, *large))
            if number not in mutated and _may_be_large(buffer)]
    return MemoryPlan(tuple(steps), slots, total, _stages(born, dead),
                      tuple(_bytes(t) for t in large))


def _stages(born: list[tuple[int, int]], dead: list[tuple[int, int]]) -> tuple[Stage, ...]:
    """One before each step in which something is born. What is born and dies: (step, number)."""
    stages: list[Stage] = []
    for first in sorted({step for step, _ in born}):
        ended = tuple(sorted(number for step, number in dead if step < first))
        dead = [(step, number) for step, number in dead if step >= first]
        begun = tuple(number for step, number in born if step == first)
        stages.append(Stage(first, ended, begun))
    return tuple(stages)


def _may_be_large(buffer: Buffer) -> bool:
    size = as_int(buffer.size)
    return size is None or size * buffer.dtype.itemsize >= LARGE


def lifetimes(
    steps: Sequence[Touching | Gemm], chained: Collection[int] = ()
) -> dict[str, tuple[int, int]]:
    """The first and last step that touch each buffer. `chained` ones run while those before do:
    what either touches lives in both."""
    lives: dict[str, tuple[int, int]] = {}
    for number, step in enumerate(steps):
        first = number - 1 if number in chained else number
        last = number + 1 if number + 1 in chained else number
        for buffer in step_buffers(step):
            lives[buffer.name] = (lives.get(buffer.name, (first, last))[0], last)
    return lives


def in_place(
    steps: tuple[Step, ...], temps: set[str], chained: Collection[int] = ()
) -> tuple[Step, ...]:
    """Replace temporaries by the buffers that take over from them; in a chained kernel not those
    that its product still reads."""
    lives = lifetimes(steps)
    heirs: dict[str, Buffer] = {}
    for number, step in enumerate(steps):
        if isinstance(step, Kernel):
            before = steps[number - 1] if number in chained else None
            free = temps if before is None or isinstance(before, Kernel) else (
                temps - operand_names(before))
            heirs.update((old.name, new) for old, new in _takeovers(step, number, lives, free))
    last: dict[str, Buffer] = {}
    for name, heir in reversed(heirs.items()):
        last[name] = last.get(heir.name, heir)
    return tuple(replaced(step, last) for step in steps)


class Use(Record):
    """The touches of one buffer in a kernel: the first and the last, whether the first stores,
    the indices as text, and the outermost loops."""

    first: int
    last: int
    stored: bool
    indices: frozenset[str]
    rows: frozenset[Any]

    def then(self, later: Use) -> Use:
        """The touches of what is first this buffer, then another."""
        return Use(self.first, later.last, self.stored, self.indices | later.indices,
                   self.rows | later.rows)


def _takeovers(
    step: Kernel, number: int, lives: dict[str, tuple[int, int]], temps: set[str]
) -> Iterator[tuple[Buffer, Buffer]]:
    """(donor, heir) for each temporary that dies in this kernel where a buffer born here can take
    over; `lives` follow."""
    buffers, uses = list(step.buffers), dict[str, Use]()
    while True:
        donors = [b for b in buffers if b.name in temps and lives[b.name][1] == number]
        heirs = [b for b in buffers
                 if b.role in ("temp", "output") and lives[b.name][0] == number]
        if not donors or not heirs:
            return
        uses = uses or _uses(step)
        pair = next(((donor, heir) for donor in donors for heir in heirs
                     if donor.name != heir.name and _may_take_over(donor, heir, uses)), None)
        if pair is None:
            return
        old, new = pair
        lives[new.name] = (lives.pop(old.name)[0], lives[new.name][1])
        uses[new.name] = uses.pop(old.name).then(uses[new.name])
        buffers.remove(new)
        buffers[buffers.index(old)] = new
        yield pair


def _uses(step: Kernel) -> dict[str, Use]:
    uses: dict[str, Use] = {}
    for place, touch in enumerate(touches(step.body)):
        name = touch.buffer.name
        use = Use(place, place, touch.store, frozenset((str(touch.index),)),
                  frozenset((touch.loops[:1],)))
        uses[name] = uses[name].then(use) if name in uses else use
    return uses


def _may_take_over(donor: Buffer, heir: Buffer, uses: Mapping[str, Use]) -> bool:
    """Whether the donor is only touched where, and before, the heir is written.

    Every element of the heir is to be written in the iteration that last reads the donor's: both
    are indexed alike, and loops other than the one around the last touch belong to the same row,
    since inner axes of the index alone do not distinguish rows.
    """
    if donor.dtype is not heir.dtype or donor.size != heir.size:
        return False
    old, new = uses[donor.name], uses[heir.name]
    if old.last > new.first or not new.stored:
        return False
    return len(old.indices | new.indices) == 1 and len(old.rows | new.rows) == 1


def replaced(step: Step, new: Mapping[str, Buffer]) -> Step:
    """The step with the buffers that `new` maps by name replaced."""
    if all(b.name not in new for b in step_buffers(step)):
        return step
    if isinstance(step, Gemm):
        out, a, b = (new.get(x.name, x) for x in (step.out, step.a, step.b))
        return replace(step, out=out, a=a, b=b)
    if isinstance(step, RoutineCall):
        return step.with_buffers(new)
    body = tuple(_replaced_stmt(s, new) for s in step.body)
    return Kernel(step.name, touched(body), body)


def _replaced_stmt(stmt: Any, new: Mapping[str, Buffer]) -> Stmt:
    if isinstance(stmt, For):
        return replace(stmt, body=tuple(_replaced_stmt(s, new) for s in stmt.body))
    if isinstance(stmt, Reduce):
        folds = tuple(Fold(f.name, f.op, _replaced_value(f.value, new)) for f in stmt.folds)
        prologue = tuple(_replaced_stmt(s, new) for s in stmt.prologue)
        return replace(stmt, folds=folds, prologue=prologue)
    value = _replaced_value(stmt.value, new)
    if isinstance(stmt, (Store, Accumulate)):
        buffer = new.get(stmt.buffer.name, stmt.buffer)
        return replace(stmt, buffer=buffer, value=value)
    assert isinstance(stmt, (Let, Check)), f"unknown statement {stmt}"
    return replace(stmt, value=value)


def _replaced_value(value: Any, new: Mapping[str, Buffer]) -> Any:
    if isinstance(value, Apply):
        return Apply(value.op, tuple(_replaced_value(a, new) for a in value.args), value.dtype)
    if isinstance(value, Load):
        mask = None if value.mask is None else _replaced_value(value.mask, new)
        buffer = new.get(value.buffer.name, value.buffer)
        return Load(buffer, value.index, mask, value.other)
    return value


class Space:
    """Memory from `start` on for buffers, each at the lowest offset that is free while it lives.

    capacity: its bytes; None if it grows. used: how many of them are taken at any time.
    """

    def __init__(self, capacity: int | None = None) -> None:
        self.capacity = capacity
        self.used = 0
        self._placed: list[Placed] = []
        self._by_block: dict[int, list[Placed]] = {}

    def take(self, size: int, life: tuple[int, int]) -> int | None:
        """The offset for so many bytes, None where there is no room."""
        offset, (first, last) = 0, life
        for start, end, born, dead in self._around(first, last):
            if born <= last and first <= dead:
                if offset + size <= start:
                    break
                offset = max(offset, end)
        if self.capacity is not None and offset + size > self.capacity:
            return None
        placed = (offset, offset + size, first, last)
        insort(self._placed, placed)
        for block in range(first // BLOCK, last // BLOCK + 1):
            insort(self._by_block.setdefault(block, []), placed)
        self.used = max(self.used, offset + size)
        return offset

    def _around(self, first: int, last: int) -> Sequence[Placed]:
        """What may live in those steps, in the order of the offsets."""
        begin, end = first // BLOCK, last // BLOCK
        if begin == end:
            return self._by_block.get(begin, ())
        if end - begin > MOST_BLOCKS:
            return self._placed
        blocks = [self._by_block.get(block, ()) for block in range(begin, end + 1)]
        return sorted({placed for block in blocks for placed in block})


class Loan(Record):
    """The memory of a large result until step `first` writes it."""

    index: int
    first: int
    space: Space


def _lent(outputs: Sequence[Buffer], lives: dict[str, tuple[int, int]]) -> list[Loan]:
    """What the results lend, the smallest first."""
    loans: list[Loan] = []
    for index, buffer in enumerate(outputs):
        size = as_int(buffer.size)
        if size is not None and buffer.name in lives:
            capacity = size * buffer.dtype.itemsize // ALIGNMENT * ALIGNMENT
            if capacity >= LARGE:
                loans.append(Loan(index, lives[buffer.name][0], Space(capacity)))
    return sorted(loans, key=lambda loan: (loan.space.capacity, loan.index))


def place(
    temps: Sequence[Buffer], lives: dict[str, tuple[int, int]], lent: Sequence[Loan]
) -> tuple[dict[str, Slot], Expr]:
    """Slots, and the arena's size. Static sizes first, the largest first; buffers of symbolic size
    follow one another."""
    sizes = {t.name: _bytes(t) for t in temps if as_int(t.size) is not None}
    arena, slots = Space(), dict[str, Slot]()
    for name in sorted(sizes, key=lambda name: (-sizes[name], lives[name])):
        slot = _borrowed(sizes[name], lives[name], lent)
        if slot is None:
            slot = Slot("arena", 0, Int(arena.take(sizes[name], lives[name]) or 0))
        slots[name] = slot
    offsets, total = _place_symbolic(
        [t for t in temps if as_int(t.size) is None], lives, Int(arena.used))
    slots |= {name: Slot("arena", 0, offset) for name, offset in offsets.items()}
    return slots, total


def _borrowed(size: int, life: tuple[int, int], lent: Sequence[Loan]) -> Slot | None:
    """A place in a result that is written after the temporary's life."""
    if size < LARGE:
        return None
    for loan in lent:
        if life[1] < loan.first:
            offset = loan.space.take(size, life)
            if offset is not None:
                return Slot("output", loan.index, Int(offset))
    return None


def _place_symbolic(
    temps: list[Buffer], lives: dict[str, tuple[int, int]], total: Expr
) -> tuple[dict[str, Expr], Expr]:
    """A buffer takes the place of one of the same size that is no longer alive, or a new one."""
    offsets: dict[str, Expr] = {}
    free: dict[Expr, list[tuple[int, Expr]]] = {}
    for buffer in sorted(temps, key=lambda b: lives[b.name]):
        size = (buffer.size * buffer.dtype.itemsize + (ALIGNMENT - 1)) // ALIGNMENT * ALIGNMENT
        first, last = lives[buffer.name]
        for n, (end, offset) in enumerate(free.setdefault(size, [])):
            if end < first:
                offsets[buffer.name] = offset
                free[size][n] = (last, offset)
                break
        else:
            offsets[buffer.name] = total
            free[size].append((last, total))
            total = total + size
    return offsets, total


def _bytes(buffer: Buffer) -> int:
    size = as_int(buffer.size)
    assert size is not None, f"{buffer.name} has a symbolic size"
    return -(-size * buffer.dtype.itemsize // ALIGNMENT) * ALIGNMENT
