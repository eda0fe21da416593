"""PTX modules, ready to launch: their instructions as steps, their variables placed, calls."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from . import asynchronous, atomics, floats, integers, matrix, moves, warp
from .decode import Form, Scope, decoded, form
from .memory import GLOBALS, PARAMETERS, SHARED_BASE, BlockMemory, GlobalMemory
from .moves import nothing
from .scheduler import Kind, Plan, Scheduler
from .text import Function, Instruction, Symbol, Variable, Vector, parse
from .threads import Blocks, Step, Threads
from .values import ASSERT, BITS, Array, Fault, UnknownForm

# Their decoders are registered when they are imported.
FAMILIES = asynchronous, atomics, floats, integers, matrix, moves, warp
MOST_LANES, MOST_SHARED, RESIDENT = 32768, 1 << 26, 132
# What a register holds before it is written: NaN, -1, false.
UNWRITTEN_REGISTER = {bits: np.full(1, np.iinfo(bits).max, bits) for bits in BITS.values()} | {
    np.dtype(np.bool_): np.zeros(1, np.bool_)}


class Program:
    """A PTX module.

    Raises:
        UnknownForm: an instruction, or a form of one, that is not known, named with its line.
    """

    def __init__(self, text: str) -> None:
        self.module = parse(text)
        self.target = self.module.target
        shared, end = placed(self.module.shared.values(), SHARED_BASE)
        end = (end + 15) // 16 * 16
        self.addresses, self.static = {name: at for name, (at, _) in shared.items()}, end
        if self.module.dynamic is not None:
            self.addresses[self.module.dynamic] = end
        functions = self.module.functions
        # Of kernels: offset and size of each parameter, and the bytes of the block of all.
        self.entries = {name: placed(one.parameters) for name, one in functions.items()
                        if one.entry}
        # Bytes of a thread's local memory: functions have theirs side by side, as one may give
        # another the address of a variable. None of them calls itself.
        self.local = 0
        self.plans: dict[str, Plan] = {}
        for function in functions.values():
            self.plans[function.name] = self.plan(function)

    def plan(self, function: Function) -> Plan:
        local, self.local = placed(function.local, self.local)
        scope = Scope(self.addresses | {name: at for name, (at, _) in local.items()},
                      self.entries[function.name][0] if function.entry else {})
        plan = Plan(function, [UNWRITTEN_REGISTER[r.type.bits] for r in function.registers])
        for at, one in enumerate(function.code):
            try:
                kind, step, target = self.entry(plan, scope, at, one)
            except UnknownForm as error:
                raise UnknownForm(f"{function.name}, line {one.line}: {one.text}: unknown form: "
                                  f"{error}") from None
            guard = one.guard.slot if one.guard is not None else -1
            plan.code.append((kind, step, guard, one.negated, target))
        plan.code.append((Kind.EXIT, nothing, -1, False, -1))
        return plan

    def entry(self, plan: Plan, scope: Scope, at: int,
              instruction: Instruction) -> tuple[Kind, Step, int]:
        form, opcode = Form(scope, instruction), instruction.opcode
        kind, step, target = Kind.PLAIN, nothing, -1
        if opcode == "bra":
            form.flag("uni")
            label = form.operand(0)
            if not isinstance(label, Symbol) or label.name not in plan.function.labels:
                raise UnknownForm("no such label")
            kind, target = Kind.BRANCH, plan.function.labels[label.name]
        elif opcode in ("ret", "exit"):
            form.flag("uni")
            kind = Kind.EXIT
        elif opcode in ("bar", "barrier"):
            form.flag("cta", "aligned")
            if form.flag("warp"):
                form.need("sync")
                step = Threads.whole_warps
            else:
                kind = Kind.BARRIER if form.choice("sync", "arrive") == "sync" else Kind.ARRIVE
                numbers = [form.constant(one) for one in form.operands]
                plan.barriers[at] = numbers[0], numbers[1] if numbers[1:] else None
        elif opcode == "call":
            form.flag("uni")
            step = call(self, form)
        else:
            return kind, decoded(scope, instruction), target
        form.done()
        return kind, step, target

    def pack(self, name: str, values: Sequence[int | float | bytes]) -> bytes:
        """The parameter block of a kernel; parameters without a value are zero."""
        layout, size = self.entries[name]
        block = bytearray(size)
        for value, (at, width) in zip(values, layout.values(), strict=False):
            if isinstance(value, float):
                value = struct.pack({2: "<e", 4: "<f", 8: "<d"}[width], value)
            elif not isinstance(value, bytes):
                value = (int(value) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            block[at:at + width] = value
        return bytes(block)

    def launch(self, name: str, grid: tuple[int, ...], block: tuple[int, ...], parameters: bytes,
               memory: GlobalMemory, shared: int = 0) -> None:
        """Run a kernel over a grid.

        `parameters` is the block of its parameters, each at its own alignment; `shared` the bytes
        of dynamic shared memory.

        Raises:
            Fault: with the kernel, the instruction, its line and a thread.
        """
        if name not in self.entries:
            raise UnknownForm(f"no kernel {name}")
        size, required = self.entries[name][1], self.module.functions[name].threads
        if len(parameters) < size:
            raise Fault(f"{name}: {len(parameters)} bytes of parameters where it has {size}")
        if required not in (None, block):
            raise Fault(f"{name}: a block of {block} threads where it requires {required}")
        threads, total = math.prod(block), math.prod(grid)
        if threads % 32:
            raise Fault(f"{name}: a block of {threads} threads, which 32 does not divide")
        data = np.frombuffer(parameters, np.uint8)
        end = self.static + shared
        together = max(min(MOST_LANES // threads, MOST_SHARED // end), RESIDENT)
        symbols = self.enter(memory, data)
        try:
            for first in range(0, total, together):
                count = min(together, total - first)
                blocks = Blocks(
                    grid, block, first, count, memory,
                    BlockMemory(count, SHARED_BASE, end - SHARED_BASE, "shared", True), data,
                    symbols)
                self.run(name, blocks)
        finally:
            for address in symbols.values():
                memory.drop(address)

    def run(self, name: str, blocks: Blocks) -> None:
        plan = self.plans[name]
        threads = Threads(blocks, list(plan.registers),
                          BlockMemory(blocks.lanes, 0, self.local, "local", False),
                          asynchronous.Copies(blocks.lanes))
        with np.errstate(all="ignore"):
            Scheduler(threads, plan, threads.members()).run()

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


@lru_cache(maxsize=1024)
def program(text: str | bytes) -> Program:
    """The module of a text, which is read once in a process."""
    return Program(text.decode() if isinstance(text, bytes) else text)


def placed(variables: Iterable[Variable], at: int = 0) -> tuple[dict[str, tuple[int, int]], int]:
    """Offset and size of each variable, one after the other at its alignment; the end of all."""
    layout = {}
    for one in variables:
        at = (at + one.align - 1) // one.align * one.align
        layout[one.name] = (at, one.size)
        at += one.size
    return layout, at


# ---- calls

def call(program: Program, f: Form) -> Step:
    """`call (results), name, (arguments)`: by the lanes that call, with registers of its own."""
    lists = [[item.name for item in one.items if isinstance(item, Symbol)]
             for one in f.operands if isinstance(one, Vector)]
    name = next(one.name for one in f.operands if isinstance(one, Symbol))
    results = lists.pop(0) if isinstance(f.operand(0), Vector) else []
    given = lists.pop(0) if lists else []
    if name == "__assertfail":
        return lambda t: failed_assertion(t, given)
    callee = program.module.functions.get(name)
    if callee is None:
        raise UnknownForm(f"the function {name}")

    def step(t: Threads) -> None:
        plan = program.plans[name]
        inner = Threads(t.blocks, list(plan.registers), t.local, t.copies)
        for formal, actual in zip(callee.parameters, given, strict=True):
            inner.frame[formal.name] = t.frame[actual]
        Scheduler(inner, plan, t.members()).run()
        for formal, actual in zip(callee.results, results, strict=True):
            t.frame[actual] = inner.frame[formal.name]
    return step


def text_at(t: Threads, name: str, lane: int) -> str:
    """The string that an argument of a call points to."""
    address = int(t.frame[name][lane].view(np.uint64)[0])
    found = bytearray()
    while (letter := t.blocks.memory.read(address + len(found), 1)) != b"\0":
        found += letter
    return found.decode()


def failed_assertion(t: Threads, given: list[str]) -> None:
    lane = int(t.active()[0])
    message, file = text_at(t, given[0], lane), text_at(t, given[1], lane)
    line = int(t.frame[given[2]][lane].view(np.uint32)[0])
    raise Fault(f"{file}:{line}: assertion failed: {message}, {t.blocks.describe(lane)}", ASSERT)


@form("trap")
def trap(f: Form) -> Step:
    def step(t: Threads) -> None:
        raise Fault(f"trap, {t.blocks.describe(int(t.active()[0]))}")
    return step
