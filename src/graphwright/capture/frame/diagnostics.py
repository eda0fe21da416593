"""From what happened in a capture to the records that the user is shown."""

from __future__ import annotations

import re
import time
import types
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from graphwright.capture.breaks import BREAKS
from graphwright.capture.exc import Unsupported
from graphwright.capture.frame.code_owner import is_library, users_call
from graphwright.capture.frame.record import BreakRecord, Location, RecompileRecord
from graphwright.capture.frame.resume import is_resume, origin_of
from graphwright.capture.guards import guards
from graphwright.capture.vm.bytecode import decode
from graphwright.runtime.stderr_notices import warn

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph

_ROUNDS = 200


def place(code: types.CodeType) -> Location:
    """Where a function, or the one that a resume function belongs to, is defined.

    For a function of this package it is the line of the user's code that called it.
    """
    origin = origin_of(code).code
    of_user = users_call() if is_library(origin.co_filename) else None
    if of_user is not None:
        return Location(of_user.file, of_user.line, origin.co_qualname, True)
    return _location(origin, origin.co_firstlineno)


def resumed_at(code: types.CodeType) -> Location | None:
    """The line that a resume function goes on at; None for functions from their start."""
    if not is_resume(code):
        return None
    start = next(inst for inst in decode(code) if inst.opname == "RESUME")
    return _location(origin_of(code).code, start.line)


def _location(code: types.CodeType, line: int) -> Location:
    return Location(code.co_filename, line, code.co_qualname)


def break_record(
    reason: Unsupported, fallback: bool, code: types.CodeType | None = None
) -> BreakRecord:
    """The record of a graph break in the frame of `code`, which as a `fallback` runs plainly."""
    kind = reason.kind
    frame = place(code) if code is not None else None
    where = reason.location or frame or Location("<unknown>", 0, "<unknown>")
    return BreakRecord(kind.code, kind.title, reason.detail, kind.advice, where, fallback, frame)


def break_message(reason: Unsupported) -> str:
    """The text of the error where `fullgraph=True` meets a graph break."""
    broken = break_record(reason, fallback=False)
    where = broken.location
    return (
        f"{broken.code}: {broken.title}, where fullgraph=True allows no graph break\n"
        f'  File "{where.file}", line {where.line}, in {where.function}\n'
        f"    {where.source}\n"
        f"  Why: {broken.detail}\n"
        f"  What to do: {broken.advice}"
    )


# recompilations

_SPELLINGS = (
    (r"^(?:[LGC]|.*\.__globals__)\['(\w+)'\]", r"\1"),
    (r"\(\b[LGC]\['(\w+)'\]", r"(\1"),
    (r"\.__dict__\['_(?:parameters|modules|buffers)'\]\['(\w+)'\]", r".\1"),
    (r"\.__dict__\['(\w+)'\]", r".\1"),
    (r"type\(([^()]*)\)\.__mro__\['(\w+)'\]", r"\1.\2"),
    (r"^sys\.modules\['([\w.]+)'\]", r"\1"),
)


def _written_in(resumed: Location | None, source: str) -> str:
    """As the user would write it; what a break left on the stack has no name in the program."""
    if resumed is None:
        return as_written(source)
    where = f"at line {resumed.line}: {resumed.source}"
    return _HELD.sub(lambda found: f"<value {found[1]} held {where}>", as_written(source))


_HELD = re.compile(r"L\['\$s(\d+)'\]")


def as_written(source: str) -> str:
    """The name of a source as the user would write it: `L['self'].__dict__['w']` is `self.w`."""
    for pattern, spelling in _SPELLINGS:
        source = re.sub(pattern, spelling, source)
    return source


def recompile_record(
    code: types.CodeType, failures: Iterable[guards.GuardFailure | None]
) -> RecompileRecord | None:
    """Why no entry fits; None if that cannot be said."""
    found = [failure for failure in failures if failure is not None]
    if not found:
        return None
    kind = BREAKS[_recompile_code(found[0])]
    resumed = resumed_at(code)
    texts = tuple(
        f"{_written_in(resumed, failure.source)}: expected {as_written(failure.expected)}, "
        f"got {failure.actual}"
        for failure in found
    )
    return RecompileRecord(place(code), texts, kind.code, kind.title, kind.advice)


def _recompile_code(failure: guards.GuardFailure) -> str:
    if failure.guard.kind is guards.GuardKind.TENSOR:
        return "GB0101" if re.search(r"\.shape\[\d+\]$|\.ndim$", failure.source) else "GB0102"
    return _RECOMPILE_CODES[failure.guard.kind]


_RECOMPILE_CODES = {
    guards.GuardKind.RELATION: "GB0101",
    guards.GuardKind.EQUALS: "GB0103",
    guards.GuardKind.TRUTH: "GB0103",
    guards.GuardKind.NOT_NONE: "GB0103",
    guards.GuardKind.TYPE: "GB0104",
    guards.GuardKind.IDENTITY: "GB0105",
    guards.GuardKind.VERSION: "GB0105",
    guards.GuardKind.LENGTH: "GB0106",
    guards.GuardKind.KEYS: "GB0106",
    guards.GuardKind.MEMBERS: "GB0106",
    guards.GuardKind.MISSING: "GB0107",
    guards.GuardKind.PRESENT: "GB0107",
    guards.GuardKind.SAME: "GB0108",
    guards.GuardKind.DISTINCT: "GB0108",
    guards.GuardKind.NO_OVERLAP: "GB0108",
    guards.GuardKind.GRAD_MODE: "GB0109",
    guards.GuardKind.MODES: "GB0109",
}


def limit_reason(code: types.CodeType, limit: int) -> Unsupported:
    """That a code object has as many entries as it may."""
    reason = Unsupported("GB0100", f"more than {limit} versions were needed")
    reason.note_location(place(code))
    return reason


def warn_of_limit(code: types.CodeType, limit: int, recompile: RecompileRecord | None) -> None:
    """The one warning about it: the reasons why the versions there are do not fit."""
    where = place(code)
    if recompile is None:
        problem = (
            "was captured again and again, and no version of it stayed (GB0100): calls run as "
            "plain Python"
        )
    else:
        problem = "\n  ".join([
            f"was compiled {limit} times, the most there may be (GB0100); calls that fit none of "
            "the versions run as plain Python. The last one did not fit because",
            *recompile.reasons,
        ])
    text = f"graphwright: {where.function} ({where.file}:{where.line}) {problem}"
    warn(text, RuntimeWarning, 3)


def warn_of_static_sizes(output: OutputGraph) -> None:
    """A size that the user marked dynamic, of which the program allows one value only."""
    env = output.shape_env
    for relation in env.guards:
        symbols = [symbol.name for symbol in relation.symbols()]
        if relation.op != "==" or len(symbols) != 1 or symbols[0] not in output.marked:
            continue
        source = as_written(str(env.symbol_sources[symbols[0]]))
        warn(
            f"graphwright: {source} was marked dynamic, but the program needs it to be "
            f"{env.values[symbols[0]]}; other sizes recompile",
            RuntimeWarning,
            4,
        )


# what guards cost


def guard_costs(
    wanted: Sequence[guards.Guard],
    code: types.CodeType,
    function: types.FunctionType,
    slots: tuple[object, ...],
) -> tuple[float, ...]:
    """Nanoseconds per evaluation of each guard alone, over those of no guard at all.

    What a call costs without a guard is the least of all times, for a busy machine may have
    delayed the rounds that had none.
    """
    times = [check_time([guard], code, function, slots) for guard in wanted]
    nothing = min([check_time([], code, function, slots), *times])
    return tuple(spent - nothing for spent in times)


def check_time(
    wanted: Sequence[guards.Guard],
    code: types.CodeType,
    function: types.FunctionType,
    slots: tuple[object, ...],
) -> float:
    """Nanoseconds per evaluation of guards, called from Python; the best of three rounds."""
    check = guards.compile(wanted, code).check
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter_ns()
        for _ in range(_ROUNDS):
            check(function, slots)
        best = min(best, (time.perf_counter_ns() - start) / _ROUNDS)
    return best
