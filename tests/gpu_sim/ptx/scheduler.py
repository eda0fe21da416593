"""Running a kernel: all threads of a group of blocks are lanes of NumPy arrays.

Lanes that branch apart are groups with an instruction each; the group that is furthest behind runs
first, and joins the next when it gets there. A barrier holds a group until its block is complete.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from .text import Function
from .threads import Step, Threads
from .values import Array, Fault

NEVER = 1 << 60
# Rounds in which every group waits, and turns of a loop while others wait for theirs.
MOST_IDLE, MOST_TURNS, MOST_LOOPS = 2000, 4000, 20_000_000


class Kind(IntEnum):
    """What the scheduler does with an instruction."""

    PLAIN, BRANCH, BARRIER, ARRIVE, EXIT = range(5)


Entry = tuple[Kind, Step, int, bool, int]  # its step, its guard's register or -1, negated, target


@dataclass
class Plan:
    """A function whose instructions are entries.

    `barriers` has, for each barrier, its number and how many threads it waits for; None: for all
    of the block.
    """

    function: Function
    registers: list[Array]
    code: list[Entry] = field(default_factory=list)
    barriers: dict[int, tuple[int, int | None]] = field(default_factory=dict)


class Scheduler:
    """Runs the lanes of one call of a function."""

    def __init__(self, threads: Threads, plan: Plan, members: Array) -> None:
        self.t, self.plan, self.members = threads, plan, members
        self.pending: dict[int, Array] = {0: members}  # lanes, by where they go on
        self.yielded: set[int] = set()
        # Of each barrier: the lanes that wait, by instruction, and arrivals that do not wait.
        self.waiting: dict[int, dict[int, Array]] = {}
        self.arrived: dict[int, Array] = {}
        self.turns: dict[int, int] = {}
        self.idle = self.loops = self.pc = self.limit = 0
        self.active = members
        self.every: Array | None = None  # the active lanes as a mask, None for all lanes

    def run(self) -> None:
        try:
            while self.pending:
                self.advance(self.take())
            if self.waiting:
                self.incomplete()
        except Fault as fault:
            if fault.located:
                raise
            code = self.plan.function.code
            one = code[min(self.pc, len(code) - 1)]
            raise Fault(f"{self.plan.function.name}, line {one.line}: {one.text}: {fault}",
                        fault.code, located=True) from None

    def add(self, pc: int, lanes: Array) -> None:
        """Lanes that go on at `pc`."""
        known = self.pending.get(pc)
        self.pending[pc] = lanes if known is None else known | lanes

    def take(self) -> int:
        """Go on with the group that is furthest behind, of those that do not wait for others."""
        ready = [pc for pc in self.pending if pc not in self.yielded]
        if not ready:
            self.yielded.clear()
            self.idle += 1
            ready = list(self.pending)
            if self.idle > MOST_IDLE:
                self.pc = min(ready)
                raise Fault("deadlock: all threads wait in loops")
        pc = min(ready)
        self.narrow(self.pending.pop(pc))
        return pc

    def narrow(self, active: Array) -> None:
        """Go on with these lanes."""
        self.active = active
        self.every = None if active.all() else active

    def advance(self, pc: int) -> None:
        """Run the group until it ends, waits, or meets the next one."""
        t, code = self.t, self.plan.code
        self.limit = min((q for q in self.pending if q > pc), default=NEVER)
        while pc < self.limit:
            self.pc = pc
            kind, step, guard, negated, target = code[pc]
            mask = self.every
            if guard >= 0:
                chosen = self.guarded(guard, negated)
                if chosen is None:
                    pc += 1
                    continue
                mask = None if chosen is self.active and self.every is None else chosen
            if kind == Kind.PLAIN:
                t.mask = mask
                step(t)
                pc += 1
                continue
            here = self.active if mask is None else mask
            if kind == Kind.BRANCH:
                pc = self.branch(pc, target, here)
            elif kind == Kind.EXIT:
                self.idle = 0
                pc = pc + 1 if self.leave(here) else -1
            else:
                if self.leave(here):
                    self.add(pc + 1, self.active)
                self.barrier(pc, here, kind)
                pc = -1
            if pc < 0:
                return
        self.add(pc, self.active)

    def guarded(self, guard: int, negated: bool) -> Array | None:
        """The group's lanes whose guard holds; None where there are none."""
        chosen = self.t.registers[guard]
        chosen = ~chosen if negated else chosen
        if len(chosen) == 1:
            return self.active if chosen[0] else None
        lanes = chosen if self.every is None else chosen & self.active
        number = np.count_nonzero(lanes)
        return None if number == 0 else self.active if number == self.t.count else lanes

    def leave(self, lanes: Array) -> bool:
        """Go on with the group's other lanes; whether there are any."""
        if lanes is self.active:
            return False
        rest = self.active & ~lanes
        if not rest.any():
            return False
        self.narrow(rest)
        return True

    def branch(self, pc: int, target: int, taken: Array) -> int:
        """Where the group goes on; below zero where its lanes are pending."""
        back, parted = target <= pc, self.leave(taken)
        if parted and back:
            self.add(pc + 1, self.active)
        if back and self.t.stalled:  # a loop that waits: others first
            self.t.stalled = False
            self.idle = 0 if parted else self.idle
            self.yielded.add(target)
        elif back:
            self.loops += 1
            if self.loops > MOST_LOOPS:
                raise Fault("an endless loop")
            if not self.pending:
                return target
            turns = self.turns[target] = self.turns.get(target, 0) + 1
            if turns % MOST_TURNS == 0:  # in case the loop waits for others
                self.yielded.add(target)
        elif parted:
            self.add(target, taken)
            self.limit = min(self.limit, target)
            return pc + 1
        elif target < self.limit:
            return target
        self.add(target, taken)
        return -1

    def barrier(self, pc: int, lanes: Array, kind: Kind) -> None:
        """Hold the lanes until enough threads of their block are there."""
        self.idle = 0
        number, count = self.plan.barriers[pc]
        held = self.waiting.setdefault(number, {})
        arrived = self.arrived.get(number, np.zeros(self.t.blocks.count, np.int64))
        if kind == Kind.ARRIVE:
            arrived = arrived + self.per_block(lanes)
            self.add(pc + 1, lanes)
        else:
            held[pc] = held[pc] | lanes if pc in held else lanes
        there = arrived + sum(self.per_block(mask) for mask in held.values())
        needed = self.per_block(self.members) if count is None else np.int64(count)
        complete = (there >= needed) & (there > 0)
        self.arrived[number] = np.where(complete, 0, arrived)
        if complete.any():
            self.release(np.repeat(complete, self.t.blocks.threads), held)
        if not held:
            del self.waiting[number]

    def per_block(self, lanes: Array) -> Array:
        """How many lanes of each block are there."""
        return lanes.reshape(self.t.blocks.count, -1).sum(1)

    def release(self, free: Array, held: dict[int, Array]) -> None:
        """Let the lanes of complete blocks go on."""
        for pc, mask in list(held.items()):
            going, still = mask & free, mask & ~free
            self.t.mask, self.pc = going, pc
            self.t.whole_warps()
            if going.any():
                self.add(pc + 1, going)
            held[pc] = still
            if not still.any():
                del held[pc]

    def incomplete(self) -> None:
        """Raise the fault of a barrier at which threads still wait when all others have ended."""
        held = next(iter(self.waiting.values()))
        self.pc = min(held)
        blocks = self.t.blocks
        lane = int(held[self.pc].argmax())
        there = int(self.per_block(held[self.pc])[blocks.index[lane]])
        raise Fault(f"a barrier that only {there} of {blocks.threads} threads of a block reach, "
                    f"{blocks.describe(lane)} among them")
