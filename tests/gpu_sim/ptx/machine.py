"""Running a kernel: all threads of a group of blocks are lanes of NumPy arrays.

Lanes that branch apart are groups with an instruction each; the group that is furthest behind runs
first, and joins the next when it gets there. A barrier holds a group until its block is complete.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import (  # noqa: F401  (they register their forms)
    async_copies,
    atomics,
    barriers,
    conversions,
    floats,
    integers,
    matrix,
    moves,
    tensor_maps,
    warp,
    wgmma,
)
from .decode import Decoder, constant
from .memory import GLOBALS, PARAMETERS, SHARED_BASE, BlockMemory, GlobalMemory
from .text import Function, Immediate, Instruction, Module, Symbol, Vector, parse
from .threads import Blocks, Step, Threads
from .values import ASSERT, BITS, LAUNCH_FAILED, TYPES, Array, Fault, UnknownForm

PLAIN, BRANCH, BARRIER, ARRIVE, EXIT = range(5)
MOST_LANES, MOST_SHARED, RESIDENT = 32768, 1 << 26, 132
NEVER = 1 << 60
# What a register holds before it is written: NaN, -1, false.
UNWRITTEN_REGISTER = {bits: np.full(1, np.iinfo(bits).max, bits) for bits in BITS.values()} | {
    np.dtype(np.bool_): np.zeros(1, np.bool_)}
# What control instructions may have as modifiers.
CONTROL = {"bra": {"uni"}, "ret": {"uni"}, "exit": set(), "trap": set(), "call": {"uni"},
           "bar": {"sync", "arrive", "warp", "cta", "aligned"},
           "barrier": {"sync", "arrive", "cta", "aligned"}}
# Rounds in which every group waits, and turns of a loop while others wait for theirs.
MOST_IDLE, MOST_TURNS, MOST_LOOPS = 2000, 4000, 20_000_000


@dataclass
class Plan:
    """A function whose instructions are steps: (kind, step, guard, negated, target)."""

    function: Function
    code: list[tuple[int, Step, int, bool, int]]
    registers: list[Array]
    local: int
    barriers: dict[int, tuple[int, int | None]] = field(default_factory=dict)


class Program:
    """A PTX module, ready to launch its kernels.

    Raises:
        UnknownForm: an instruction, or a form of one, that is not known, named with its line.
    """

    def __init__(self, text: str) -> None:
        self.module: Module = parse(text)
        self.addresses, self.static = place_shared(self.module)
        self.plans: dict[str, Plan] = {}
        for function in self.module.functions.values():
            self.plans[function.name] = self.plan(function)

    def plan(self, function: Function) -> Plan:
        addresses, local = dict(self.addresses), 0
        for variable in function.local:
            local = (local + variable.align - 1) // variable.align * variable.align
            addresses[variable.name] = local
            local += variable.size
        decoder = Decoder(function, addresses)
        if function.entry:
            decoder.parameters, _ = parameter_layout(function)
        plan = Plan(function, [], [UNWRITTEN_REGISTER[r.type.bits] for r in function.registers],
                    local)
        for at, instruction in enumerate(function.code):
            plan.code.append(self.entry(plan, decoder, at, instruction))
        plan.code.append((EXIT, moves.nothing, -1, False, -1))
        return plan

    def entry(self, plan: Plan, decoder: Decoder, at: int,
              instruction: Instruction) -> tuple[int, Step, int, bool, int]:
        guard = instruction.guard.slot if instruction.guard is not None else -1
        opcode, modifiers = instruction.opcode, instruction.modifiers
        step: Step = moves.nothing
        kind, target = PLAIN, -1
        if set(modifiers) - CONTROL.get(opcode, set(modifiers)):
            raise UnknownForm(f"{plan.function.name}, line {instruction.line}: "
                              f"{instruction.text}: unknown form")
        if opcode == "bra":
            label = instruction.arguments[0]
            name = label.name if isinstance(label, Symbol) else ""
            if name not in plan.function.labels:
                raise UnknownForm(f"{plan.function.name}, line {instruction.line}: "
                                  f"{instruction.text}: no such label")
            kind, target = BRANCH, plan.function.labels[name]
        elif opcode in ("ret", "exit"):
            kind = EXIT
        elif opcode in ("bar", "barrier") and "warp" not in modifiers:
            kind = barrier_kind(plan, at, instruction)
        elif opcode in ("bar", "barrier"):
            step = Threads.whole_warps
        elif opcode == "trap":
            step = trap
        elif opcode == "call":
            step = self.call(instruction)
        else:
            step = decoder.step(instruction)
        return kind, step, guard, instruction.negated, target

    def call(self, instruction: Instruction) -> Step:
        """Run a function with registers of its own, by the lanes that call it."""
        arguments = [one for one in instruction.arguments if isinstance(one, Symbol)]
        lists = [[item.name for item in one.items if isinstance(item, Symbol)]
                 for one in instruction.arguments if isinstance(one, Vector)]
        name = arguments[0].name
        results = lists.pop(0) if isinstance(instruction.arguments[0], Vector) else []
        given = lists.pop(0) if lists else []
        if name == "__assertfail":
            return lambda t: failed_assertion(t, given)
        if name == "vprintf":
            return lambda t: printed(t, given, results)
        if name in self.module.extern or name not in self.module.functions:
            raise UnknownForm(f"line {instruction.line}: {instruction.text}: the function {name}")
        callee = self.module.functions[name]

        def step(t: Threads) -> None:
            plan = self.plans[name]
            inner = Threads(t.blocks, list(plan.registers), plan.local)
            inner.copies = t.copies
            for formal, actual in zip(callee.parameters, given, strict=True):
                inner.frame[formal.name] = t.frame[actual]
            members = np.ones(t.count, bool) if t.mask is None else t.mask
            Scheduler(inner, plan, members).run()
            for formal, actual in zip(callee.results, results, strict=True):
                t.frame[actual] = inner.frame[formal.name]
        return step

    def kernel(self, name: str) -> Plan:
        plan = self.plans.get(name)
        if plan is None or not plan.function.entry:
            raise UnknownForm(f"no kernel {name}")
        return plan

    def parameters(self, name: str) -> list[tuple[int, int]]:
        """Offset and size of each of a kernel's parameters."""
        return list(parameter_layout(self.kernel(name).function)[0].values())

    def parameter_size(self, name: str) -> int:
        """The bytes of a kernel's parameter block."""
        return parameter_layout(self.kernel(name).function)[1]

    def launch(self, name: str, grid: tuple[int, int, int], block: tuple[int, int, int],
               parameters: bytes, memory: GlobalMemory, shared: int = 0) -> list[str]:
        """Run a kernel over a grid; what it printed.

        `parameters` is the block of its parameters, each at its own alignment; `shared` the bytes
        of dynamic shared memory.

        Raises:
            Fault: with the kernel, the instruction, its line and a thread.
        """
        plan = self.kernel(name)
        size = self.parameter_size(name)
        if len(parameters) < size:
            raise Fault(f"{name}: {len(parameters)} bytes of parameters where it has {size}")
        wanted = plan.function.threads
        if wanted is not None and wanted != block:
            raise Fault(f"{name}: a block of {block} threads where it requires {wanted}")
        threads = math.prod(block)
        if threads % 32:
            raise Fault(f"{name}: a block of {threads} threads, which 32 does not divide")
        data = np.frombuffer(parameters, np.uint8)
        symbols = self.enter(memory, data)
        total = math.prod(grid)
        out: list[str] = []
        stride = SHARED_BASE + self.static + shared
        together = max(min(MOST_LANES // threads, MOST_SHARED // stride), RESIDENT)
        try:
            for first in range(0, total, together):
                count = min(together, total - first)
                blocks = Blocks(grid, block, first, count, memory, BlockMemory(
                    count, SHARED_BASE, self.static + shared, "shared", True),
                    data, symbols, out)
                t = Threads(blocks, list(plan.registers), plan.local)
                t.copies = async_copies.Copies()
                with np.errstate(all="ignore"):
                    Scheduler(t, plan, np.ones(t.count, bool)).run()
        finally:
            for address in symbols.values():
                memory.drop(address)
        return out

    def enter(self, memory: GlobalMemory, parameters: Array) -> dict[str, int]:
        """Place the parameter block and the module's global variables in memory."""
        symbols = {"parameters": memory.add(
            parameters if len(parameters) else np.zeros(16, np.uint8), PARAMETERS)}
        place = GLOBALS
        for variable in self.module.globals.values():
            data = np.frombuffer(variable.initial or bytes(variable.size), np.uint8).copy()
            symbols[variable.name] = memory.add(data, place)
            place += (len(data) + 511) // 256 * 256
        return symbols


def place_shared(module: Module) -> tuple[dict[str, int], int]:
    """Addresses of the module's shared variables, the dynamic array after them, their bytes."""
    addresses, at = {}, SHARED_BASE
    for variable in module.shared.values():
        at = (at + variable.align - 1) // variable.align * variable.align
        addresses[variable.name] = at
        at += variable.size
    at = (at + 15) // 16 * 16
    if module.dynamic is not None:
        addresses[module.dynamic] = at
    return addresses, at - SHARED_BASE


def parameter_layout(function: Function) -> tuple[dict[str, tuple[int, int]], int]:
    """Offset and size of each parameter, and the bytes of all."""
    layout, at = {}, 0
    for variable in function.parameters:
        at = (at + variable.align - 1) // variable.align * variable.align
        layout[variable.name] = (at, variable.size)
        at += variable.size
    return layout, at


def barrier_kind(plan: Plan, at: int, instruction: Instruction) -> int:
    """Note a barrier's number and how many threads it waits for (None: all of the block)."""
    modifiers = [m for m in instruction.modifiers if m not in ("cta", "aligned")]
    if modifiers not in (["sync"], ["arrive"]) or not all(
            isinstance(one, Immediate) for one in instruction.arguments):
        raise UnknownForm(f"{plan.function.name}, line {instruction.line}: {instruction.text}: "
                          "unknown form of a barrier")
    numbers = [constant(one) for one in instruction.arguments]
    plan.barriers[at] = (numbers[0], numbers[1] if len(numbers) > 1 else None)
    return BARRIER if modifiers == ["sync"] else ARRIVE


def trap(t: Threads) -> None:
    raise Fault(f"trap, {t.describe()(0)}", LAUNCH_FAILED)


def text_at(t: Threads, name: str, lane: int) -> str:
    """The string that an argument of a call points to."""
    address = int(np.ascontiguousarray(t.frame[name][lane]).view(np.uint64)[0])
    found = bytearray()
    while (letter := t.blocks.memory.read(address + len(found), 1)) != b"\0":
        found += letter
    return found.decode()


def failed_assertion(t: Threads, given: list[str]) -> None:
    lane = int(t.active()[0])
    message, file = text_at(t, given[0], lane), text_at(t, given[1], lane)
    line = int(np.ascontiguousarray(t.frame[given[2]][lane]).view(np.uint32)[0])
    raise Fault(f"{file}:{line}: assertion failed: {message}, {t.blocks.describe(lane)}", ASSERT)


def printed(t: Threads, given: list[str], results: list[str]) -> None:
    """Keep the format of what is printed, once for each thread."""
    for lane in t.active():
        t.blocks.printed.append(text_at(t, given[0], int(lane)))
    for name in results:
        t.frame[name] = np.zeros((t.count, TYPES["b32"].size), np.uint8)


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
        self.every: Array | None = None

    def run(self) -> None:
        try:
            while self.pending:
                pc, active = self.take()
                self.advance(pc, active)
            if self.waiting:
                self.incomplete()
        except Fault as fault:
            if fault.located:
                raise
            raise self.located(fault) from None

    def located(self, fault: Fault) -> Fault:
        """The fault with the instruction that raised it."""
        code = self.plan.function.code
        instruction = code[min(self.pc, len(code) - 1)]
        return Fault(f"{self.plan.function.name}, line {instruction.line}: {instruction.text}: "
                     f"{fault}", fault.code, located=True)

    def add(self, pc: int, lanes: Array) -> None:
        """Lanes that go on at `pc`."""
        known = self.pending.get(pc)
        self.pending[pc] = lanes if known is None else known | lanes

    def take(self) -> tuple[int, Array]:
        """The group that is furthest behind, of those that do not wait for others."""
        ready = [pc for pc in self.pending if pc not in self.yielded]
        if not ready:
            self.yielded.clear()
            self.idle += 1
            ready = list(self.pending)
            if self.idle > MOST_IDLE:
                self.pc = min(ready)
                raise Fault("deadlock: all threads wait in loops")
        pc = min(ready)
        return pc, self.pending.pop(pc)

    def advance(self, pc: int, active: Array) -> None:
        """Run a group until it ends, waits, or meets the next one."""
        t, code = self.t, self.plan.code
        self.narrow(active)
        self.limit = min((q for q in self.pending if q > pc), default=NEVER)
        while pc < self.limit:
            self.pc = pc
            kind, step, guard, negated, target = code[pc]
            mask = self.every
            if guard >= 0:
                mask = self.guarded(guard, negated)
                if mask is False:
                    pc += 1
                    continue
            if kind == PLAIN:
                t.mask = mask
                step(t)
                pc += 1
            elif kind == BRANCH:
                pc = self.branch(pc, target, mask)
                if pc < 0:
                    return
            elif kind == EXIT:
                self.idle = 0
                if not self.others(mask):
                    return
                pc += 1
            else:
                here = self.active if mask is None else mask
                if self.others(mask):
                    self.add(pc + 1, self.active)
                self.barrier(pc, here, kind)
                return
        self.add(pc, self.active)

    def narrow(self, active: Array) -> None:
        """Go on with these lanes; `every` is their mask, None for all lanes."""
        self.active = active
        self.every = None if active.all() else active

    def guarded(self, guard: int, negated: bool) -> Any:
        """The mask of the group's lanes whose guard holds; False where there are none."""
        chosen = self.t.registers[guard]
        if negated:
            chosen = ~chosen
        if len(chosen) == 1:
            return self.every if chosen[0] else False
        mask = chosen if self.every is None else chosen & self.active
        number = np.count_nonzero(mask)
        if number == 0:
            return False
        return None if number == self.t.count else mask

    def others(self, mask: Array | None) -> bool:
        """Go on with the group's lanes that are not of `mask`; whether there are any."""
        if mask is None or mask is self.every:
            return False
        rest = self.active & ~mask
        if not rest.any():
            return False
        self.narrow(rest)
        return True

    def branch(self, pc: int, target: int, mask: Array | None) -> int:
        """Where the group goes on; below zero where its lanes are pending."""
        taken, back = self.active if mask is None else mask, target <= pc
        parted = self.others(mask)
        if back and self.t.stalled:  # a loop that waits: others first
            self.t.stalled = False
            self.add(target, taken)
            self.yielded.add(target)
            if parted:
                self.idle = 0
                self.add(pc + 1, self.active)
            return -1
        if back:
            self.loops += 1
            if self.loops > MOST_LOOPS:
                raise Fault("an endless loop")
            if parted:
                self.add(pc + 1, self.active)
            if self.pending:
                self.add(target, taken)
                self.fair(target)
                return -1
            return target
        if parted:
            self.add(target, taken)
            self.limit = min(self.limit, target)
            return pc + 1
        if target >= self.limit:
            self.add(target, self.active)
            return -1
        return target

    def fair(self, target: int) -> None:
        """Let other groups run after very many turns of a loop, in case it waits for them."""
        turns = self.turns[target] = self.turns.get(target, 0) + 1
        if turns % MOST_TURNS == 0:
            self.yielded.add(target)

    def barrier(self, pc: int, lanes: Array, kind: int) -> None:
        """Hold the lanes until enough threads of their block are there."""
        self.idle = 0
        number, count = self.plan.barriers[pc]
        blocks = self.t.blocks
        shape = (blocks.count, blocks.threads)
        if kind == ARRIVE:
            before = self.arrived.get(number, np.zeros(blocks.count, np.int64))
            self.arrived[number] = before + lanes.reshape(shape).sum(1)
            self.add(pc + 1, lanes)
            held = self.waiting.setdefault(number, {})
        else:
            held = self.waiting.setdefault(number, {})
            held[pc] = held[pc] | lanes if pc in held else lanes
        there = sum((mask.reshape(shape).sum(1) for mask in held.values()),
                    np.zeros(blocks.count, np.int64))
        there = there + self.arrived.get(number, 0)
        needed = self.members.reshape(shape).sum(1) if count is None else np.int64(count)
        complete = (there >= needed) & (there > 0)
        if complete.any():
            self.release(number, complete, held)
        if not held:
            del self.waiting[number]

    def release(self, number: int, complete: Array, held: dict[int, Array]) -> None:
        """Let the lanes of complete blocks go on."""
        free = np.repeat(complete, self.t.blocks.threads)
        for pc, mask in list(held.items()):
            going = mask & free
            if going.any():
                self.t.mask = None if going.all() else going
                self.pc = pc
                self.t.whole_warps()
                self.add(pc + 1, going)
                still = mask & ~free
                if still.any():
                    held[pc] = still
                else:
                    del held[pc]
        if number in self.arrived:
            self.arrived[number] = np.where(complete, 0, self.arrived[number])

    def incomplete(self) -> None:
        """Raise the fault of a barrier at which threads still wait when all others have ended."""
        held = next(iter(self.waiting.values()))
        self.pc = min(held)
        blocks = self.t.blocks
        lane = int(held[self.pc].argmax())
        block = blocks.index[lane]
        there = int(held[self.pc].reshape(blocks.count, -1)[block].sum())
        raise Fault(f"a barrier that only {there} of {blocks.threads} threads of a block reach, "
                    f"{blocks.describe(lane)} among them")
