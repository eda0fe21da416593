"""Resume functions: the rest of a function from one of its instructions on.

A resume function is the original code behind a prologue that puts the stack back and jumps. It is
made once per place and shape of the stack, so that each iteration of a loop resumes in the same
code. The frame that breaks returns it with its arguments as a `Continuation` to the evaluator in
C, which runs it once that frame is gone: there is one frame of the user's function at a time, and
loops with breaks do not get deeper.
"""

from __future__ import annotations

import dis
import types
import weakref
from collections.abc import Iterable, Sequence
from typing import NoReturn

from graphwright.capture.exc import Unsupported
from graphwright.capture.frame.per_code import CodeTable, per_code
from graphwright.capture.vm.bytecode import (
    PYTHON,
    Instruction,
    Moved,
    decode,
    handler_of,
    live_locals,
    note_moved,
    read_after_deletion,
    read_cells,
)
from graphwright.capture.vm.bytecode_tables import instruction
from graphwright.capture.vm.code_surgery import local_names, rebuilt
from graphwright.capture.vm.superinstructions import SECOND, unpaired
from graphwright.runtime.locks import Lock
from graphwright.runtime.record import Record


class Origin(Record):
    """Where the code of a resume function comes from.

    positions: for each of its instructions the index of the original one, -1 for the prologue;
    plus SECOND for the second half of what is one instruction on two locals there. Empty: they
    are the same.
    """

    code: types.CodeType
    positions: tuple[int, ...] = ()

    def index(self, index: int) -> int:
        """The original's instruction for one of the resume function's."""
        return self.positions[index] if self.positions else index


VALUE, IS_NULL, POSITION = 0, 1, 2


class ResumePoint(Record):
    """Where a resume function begins, and with which values.

    index: its first instruction, as in `Origin.positions`. locals: the names of those passed.
    stack: the kind of each value on it: VALUE is an argument, IS_NULL the NULL of a call or of an
    unbound local, POSITION the place of the instruction that raised.
    """

    index: int
    stack: tuple[int, ...]
    locals: tuple[str, ...]


_Made = weakref.WeakValueDictionary[ResumePoint, types.CodeType]
_Positions = tuple[int, ...]
_origins: CodeTable[tuple[weakref.ref[types.CodeType], _Positions]] = CodeTable()
_made: CodeTable[_Made] = CodeTable()
_lock = Lock()
_SLOTS_OF_PAIRS = 16
_LASTI = 2
_SEES_FRAME = frozenset(
    [
        "breakpoint", "set_trace", "settrace", "setprofile", "set_events", "set_local_events",
        "register_callback", "_getframe", "currentframe", "tb_frame", "f_back", "f_locals",
        "f_trace", "walk_stack", "walk_tb", "extract_stack", "extract_tb", "print_stack",
    ]
)
_BUILTINS = frozenset(["locals", "vars", "dir", "eval", "exec"])


def origin_of(code: types.CodeType) -> Origin:
    """The original code of a resume function; for other code the code itself.

    The original owns its resume functions through its cache entries; one that outlived the
    original counts as other code.
    """
    known = _origins.get(code)
    original = known[0]() if known is not None else None
    return Origin(code) if known is None or original is None else Origin(original, known[1])


def is_resume(code: types.CodeType) -> bool:
    """Whether it is the code of a resume function."""
    return code in _origins


def live_behind(code: types.CodeType, index: int) -> frozenset[str]:
    """The locals that may still be read from an instruction on: found out once per original."""
    origin = origin_of(code)
    at = origin.index(index)
    return live_locals(origin.code, at) if 0 <= at < SECOND else live_locals(code, index)


def reads_empty_cell(code: types.CodeType, index: int, name: str, empty: bool) -> bool:
    """Whether a cell of the function itself may be read without a value from `index` on.

    empty: whether it has none there.
    """
    origin = origin_of(code)
    if name not in origin.code.co_cellvars:
        return False
    at = origin.index(index)
    if at >= SECOND or at < 0:
        origin, at = Origin(code), index
    return (empty and name in read_cells(origin.code, at)) or name in read_after_deletion(
        origin.code
    )


def check_resumable(code: types.CodeType) -> None:
    """A break unless the code may be cut in pieces."""
    obstacle = _obstacle(origin_of(code).code)
    if obstacle is not None:
        refuse_any_break(obstacle)


@per_code
def _obstacle(code: types.CodeType) -> str | None:
    """Why a function's code cannot be cut anywhere, if it cannot."""
    instructions = decode(code)
    seen = _SEES_FRAME.intersection(code.co_names) | _read_builtins(code, instructions)
    if seen:
        return f"the function looks at its own frame ({', '.join(sorted(seen))})"
    if needs_first_argument(code) in code.co_cellvars:
        return "super() with a captured first argument"
    start = next(i for i, inst in enumerate(instructions) if inst.opname == "RESUME")
    if any(inst.opname == "MAKE_CELL" for inst in instructions[start:]):
        return "a comprehension's variable is captured by a function"
    return None


def _read_builtins(
    code: types.CodeType, instructions: Sequence[Instruction]
) -> frozenset[str]:
    """The builtins that look at a frame and are read as such: methods have such names too."""
    if not _BUILTINS.intersection(code.co_names):
        return frozenset()
    if {"builtins", "__builtins__"}.intersection(code.co_names):
        return _BUILTINS.intersection(code.co_names)
    read = [inst.value for inst in instructions if inst.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    return _BUILTINS.intersection(read)


def refuse_any_break(detail: str) -> NoReturn:
    """No break anywhere in the code."""
    reason = Unsupported("GB0016", detail)
    reason.blame(-1)
    raise reason


def resume_code(code: types.CodeType, point: ResumePoint) -> types.CodeType:
    """The code of the function that goes on at `point` of `code`.

    Its parameters are the stack's values, then `point.locals`; its free variables are those of
    the original followed by its cell variables. The blocks around the point are those of the
    original: its exception table comes along.
    """
    origin = origin_of(code)
    point = ResumePoint(origin.index(point.index), point.stack, point.locals)
    with _lock.now:
        known = _made.get(origin.code)
        if known is None:
            known = _made[origin.code] = weakref.WeakValueDictionary()
        made = known.get(point)
        if made is None:
            made, positions = _build(origin.code, point)
            _origins[made] = weakref.ref(origin.code), positions
            known[point] = made
        return made


def closure_names(code: types.CodeType) -> tuple[str, ...]:
    """The free variables of resume functions of `code`, in order."""
    origin = origin_of(code).code
    return origin.co_freevars + tuple(c for c in origin.co_cellvars if c not in origin.co_freevars)


def _build(code: types.CodeType, point: ResumePoint) -> tuple[types.CodeType, tuple[int, ...]]:
    """The code of the resume function, and the original's index of each instruction."""
    stack_names = argument_names(point.stack)
    parameters = _parameter_order(code, stack_names, point.locals)
    cut, positions = code, tuple(range(len(decode(code))))
    if point.index >= SECOND or len(local_names(code, parameters)) > _SLOTS_OF_PAIRS:
        cut, positions = unpaired(code)
    target = positions.index(point.index)
    unit = _first_unit(cut, decode(cut)[target].offset)
    prologue = _prologue(cut, point, parameters, unit)
    line = decode(code)[point.index % SECOND].line
    depth = len(point.stack) + 2
    made = rebuilt(cut, prologue, line, parameters, closure_names(code), depth, _LASTI,
                   _handler_at(cut, target))
    note_moved(made, _decoded(made, cut, prologue, line, target))
    return made, (-1,) * len(prologue) + positions


def _handler_at(code: types.CodeType, index: int) -> tuple[int, int, bool] | None:
    """Where an exception of an instruction goes: the target's unit, the stack's depth, lasti."""
    found = handler_of(code, decode(code)[index])
    if found is None:
        return None
    target = _first_unit(code, decode(code)[found.target].offset)
    return target, found.depth, found.push_lasti


def _decoded(
    made: types.CodeType,
    cut: types.CodeType,
    prologue: list[tuple[str, int]],
    line: int,
    target: int,
) -> Moved:
    """The instructions of the made code, whose prologue jumps to one of the code behind it."""
    offset, head, handler = 0, [], handler_of(cut, decode(cut)[target])
    for index, (name, arg) in enumerate(prologue):
        size = len(instruction(name, arg))
        value: object = arg
        if name == "LOAD_CONST":
            value = made.co_consts[arg]
        elif name.endswith(("_FAST", "_AND_CLEAR")):
            value = made.co_varnames[arg]
        goes_to = len(prologue) + target if name == "JUMP_FORWARD" else -1
        at = offset + size - 2
        protected = name == "RESUME" and handler is not None
        head.append(Instruction(index, name, arg, value, goes_to, line, None, at, protected))
        offset += size
    return Moved(head, cut, offset // 2, handler)


def _first_unit(code: types.CodeType, offset: int) -> int:
    """Where the instruction at an offset begins with its prefixes, in units."""
    raw = code.co_code
    while offset and raw[offset - 2] == dis.EXTENDED_ARG:
        offset -= 2
    return offset // 2


def argument_names(stack: tuple[int, ...]) -> list[str]:
    """The names of the parameters that hold the stack's values."""
    return [f"$s{i}" for i, kind in enumerate(stack) if kind == VALUE]


def stack_parameters(code: types.CodeType) -> list[str]:
    """The parameters of a resume function's code that hold values of the stack."""
    return [name for name in code.co_varnames[: code.co_argcount] if name.startswith("$s")]


def parameter_order(
    code: types.CodeType, stack_names: list[str], local_names: tuple[str, ...]
) -> list[str]:
    """The parameters of a resume function: `super()` wants the first one to stay first."""
    origin = origin_of(code).code
    return _parameter_order(origin, stack_names, local_names)


def _parameter_order(
    code: types.CodeType, stack_names: list[str], local_names: tuple[str, ...]
) -> list[str]:
    first = [name for name in local_names if needs_first_argument(code) == name]
    rest = [name for name in local_names if name not in first]
    return [*first, *stack_names, *rest]


def in_order(code: types.CodeType, names: Iterable[str]) -> list[str]:
    """Locals in the order in which the end of the function releases them."""
    origin = origin_of(code).code
    places = {name: i for i, name in enumerate((*origin.co_varnames, *origin.co_cellvars))}
    return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def needs_first_argument(code: types.CodeType) -> str | None:
    """The parameter that a `super()` without arguments in the code would look for."""
    origin = origin_of(code).code
    if "__class__" in origin.co_freevars and origin.co_argcount:
        return origin.co_varnames[0]
    return None


def _prologue(
    code: types.CodeType, point: ResumePoint, parameters: list[str], target: int
) -> list[tuple[str, int]]:
    """Put the stack back, and jump to a unit of the code behind.

    What signals raise is raised at RESUME, which is inside of the blocks that the jump goes to.
    """
    names = closure_names(code)
    prologue = [("COPY_FREE_VARS", len(names))] if names else []
    for position, kind in enumerate(point.stack):
        if kind == IS_NULL:
            prologue.append(("PUSH_NULL", 0))
        elif kind == POSITION:
            prologue.append(("LOAD_CONST", len(code.co_consts)))
        else:
            prologue += _moved(parameters.index(f"$s{position}"))
    return [*prologue, ("RESUME", 0), ("JUMP_FORWARD", target + 1), ("NOP", 0)]


def _moved(slot: int) -> list[tuple[str, int]]:
    """Push an argument, of which the frame keeps nothing: it may end once it leaves the stack."""
    if PYTHON >= (3, 12):
        return [("LOAD_FAST_AND_CLEAR", slot)]
    return [("LOAD_FAST", slot), ("DELETE_FAST", slot)]
