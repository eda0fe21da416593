"""call: functions of the module, and the one of the system that fails an assertion; trap."""

from __future__ import annotations

from typing import Any

import numpy as np

from .decode import Form, form
from .scheduler import Scheduler
from .text import Symbol, Vector
from .threads import Step, Threads
from .values import ASSERT, Fault, UnknownForm


@form("trap")
def trap(f: Form) -> Step:
    def step(t: Threads) -> None:
        raise Fault(f"trap, {t.blocks.describe(int(t.active()[0]))}")
    return step


def call(program: Any, f: Form) -> Step:
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
        inner = Threads(t.blocks, list(plan.registers), plan.local, t.copies)
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
