"""Resume functions: the rest of a function from one of its instructions on.

A resume function is the original code behind a prologue that puts the stack back and jumps. It is
made once per place and shape of the stack, so that each iteration of a loop resumes in the same
code. The frame that breaks returns it with its arguments as a `Continuation` to the evaluator in
C, which runs it once that frame is gone: there is one frame of the user's function at a time, and
loops with breaks do not get deeper.
"""

from __future__ import annotations

import threading
import types
import weakref
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture.bytecode import PAIRS, PYTHON, decode
from graphwright.capture.exc import Unsupported
from graphwright.runtime.records import Record

if TYPE_CHECKING:
    from bytecode import Bytecode, Instr, Label


class Origin(Record):
    """Where the code of a resume function comes from.

    positions: for each of its instructions the index of the original one, -1 for the prologue.
    Empty: they are the same.
    """

    code: types.CodeType
    positions: tuple[int, ...] = ()

    def index(self, index: int) -> int:
        """The original's instruction for one of the resume function's."""
        return self.positions[index] if self.positions else index


VALUE, IS_NULL, POSITION = 0, 1, 2


class ResumePoint(Record):
    """index: the instruction to go on with; locals: those passed.

    stack: what lies on it, VALUE for each argument, IS_NULL for the NULLs of calls and of locals
    that are not bound, POSITION for the place of the instruction that raised.
    """

    index: int
    stack: tuple[int, ...]
    locals: tuple[str, ...]


_Made = dict[ResumePoint, types.CodeType]
_origins: weakref.WeakKeyDictionary[types.CodeType, Origin] = weakref.WeakKeyDictionary()
_made: weakref.WeakKeyDictionary[types.CodeType, _Made] = weakref.WeakKeyDictionary()
_lock = threading.Lock()
_PROLOGUE_POSITION = 2
_SEES_FRAME = frozenset(
    ["locals", "vars", "dir", "eval", "exec", "_getframe", "breakpoint", "set_trace"]
)


def origin_of(code: types.CodeType) -> Origin:
    """The original of a resume function's code; any other code is its own."""
    return _origins.get(code) or Origin(code)


def is_resume(code: types.CodeType) -> bool:
    """Whether it is the code of a resume function."""
    return code in _origins


def check_resumable(code: types.CodeType) -> None:
    """A break unless the code may be cut in pieces."""
    origin = origin_of(code).code
    seen = _SEES_FRAME.intersection(origin.co_names)
    if seen:
        _refuse(f"the function looks at its own frame ({', '.join(sorted(seen))})")
    if needs_first_argument(origin) in origin.co_cellvars:
        _refuse("super() with a captured first argument")
    instructions = decode(origin)
    start = next(i for i, inst in enumerate(instructions) if inst.opname == "RESUME")
    if any(inst.opname == "MAKE_CELL" for inst in instructions[start:]):
        _refuse("a comprehension's variable is captured by a function")


def _refuse(detail: str) -> NoReturn:
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
    with _lock:
        known = _made.setdefault(origin.code, {})
        if point not in known:
            known[point], shift = _build(origin.code, point)
            positions = _positions(origin.code, known[point], shift)
            _origins[known[point]] = Origin(origin.code, positions)
        return known[point]


def closure_names(code: types.CodeType) -> tuple[str, ...]:
    """The free variables of resume functions of `code`, in order."""
    origin = origin_of(code).code
    return origin.co_freevars + tuple(c for c in origin.co_cellvars if c not in origin.co_freevars)


def _positions(code: types.CodeType, made: types.CodeType, shift: int) -> tuple[int, ...]:
    """For each instruction of a resume function the index of the original one.

    3.13 has instructions on two locals; here they are two.
    """
    result = [-1] * shift
    remaining = iter(decode(made)[shift:])
    for inst in decode(code):
        found = next(remaining)
        result.append(inst.index)
        if inst.opname in PAIRS and found.opname not in PAIRS:
            next(remaining)
            result.append(-1)
    return tuple(result)


def _build(code: types.CodeType, point: ResumePoint) -> tuple[types.CodeType, int]:
    import bytecode
    from bytecode import Bytecode, Instr, Label

    body = Bytecode.from_code(code, conserve_exception_block_stackdepth=True)
    target = Label()
    instructions = _rename(code, body, point.index, target)
    line = decode(code)[point.index].line
    stack_names = argument_names(point.stack)
    prologue = _prologue(code, point, target, line)
    result = Bytecode([*prologue, *instructions])
    result.argnames = _parameter_order(code, stack_names, point.locals)
    result.argcount = len(result.argnames)
    result.freevars = list(closure_names(code))
    result.name, result.qualname = code.co_name, code.co_qualname
    result.filename, result.first_lineno = code.co_filename, code.co_firstlineno
    varying = bytecode.CompilerFlags.VARARGS | bytecode.CompilerFlags.VARKEYWORDS
    result.flags = bytecode.CompilerFlags(code.co_flags) & ~varying
    made = result.to_code(
        stacksize=code.co_stacksize + len(point.stack) + 2, compute_exception_stack_depths=False
    )
    return made, sum(isinstance(inst, Instr) for inst in prologue)


def argument_names(stack: tuple[int, ...]) -> list[str]:
    """The names of the parameters that hold the stack's values."""
    return [f"$s{i}" for i, kind in enumerate(stack) if kind == VALUE]


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


def needs_first_argument(code: types.CodeType) -> str | None:
    """The parameter that a `super()` without arguments in the code would look for."""
    origin = origin_of(code).code
    if "__class__" in origin.co_freevars and origin.co_argcount:
        return origin.co_varnames[0]
    return None


def _prologue(
    code: types.CodeType, point: ResumePoint, target: Label, line: int
) -> list[Any]:
    from bytecode import Instr

    names = closure_names(code)
    prologue = [Instr("COPY_FREE_VARS", len(names), lineno=line)] if names else []
    prologue.append(Instr("RESUME", 0, lineno=line))
    for position, kind in enumerate(point.stack):
        if kind == IS_NULL:
            prologue.append(Instr("PUSH_NULL", lineno=line))
        elif kind == POSITION:
            prologue.append(Instr("LOAD_CONST", _PROLOGUE_POSITION, lineno=line))
        else:
            prologue.append(Instr("LOAD_FAST", f"$s{position}", lineno=line))
    prologue.append(Instr("JUMP_FORWARD", target, lineno=line))
    return prologue


def _rename(code: types.CodeType, body: Bytecode, index: int, target: Label) -> list[Any]:
    """The original instructions with cells turned into free variables and the label placed."""
    from bytecode import Instr

    result: list[Any] = []
    position = 0
    started = False
    for item in body:
        if not isinstance(item, Instr):
            result.append(item)
            continue
        if position == index:
            result.append(target)
        position += 1
        if not started and item.name in ("MAKE_CELL", "COPY_FREE_VARS", "RESUME"):
            started = item.name == "RESUME"
            item = Instr("NOP", lineno=item.lineno or code.co_firstlineno)
        result += [_as_free(code, single) for single in _singles(item)]
    return result


def _singles(inst: Instr) -> list[Instr]:
    """An instruction on two locals as two on one: the assembler gets pairs of high slots wrong."""
    from bytecode import Instr

    if inst.name not in PAIRS:
        return [inst]
    assert isinstance(inst.arg, tuple)
    names = ["LOAD_FAST" if loads else "STORE_FAST" for loads in PAIRS[inst.name]]
    return [
        Instr(name, arg, location=inst.location)
        for name, arg in zip(names, inst.arg, strict=True)
    ]


def _as_free(code: types.CodeType, inst: Instr) -> Instr:
    from bytecode import CellVar, FreeVar, Instr

    arg = inst.arg
    if isinstance(arg, CellVar):
        return Instr(inst.name, FreeVar(arg.name), location=inst.location)
    if isinstance(arg, str) and arg in code.co_cellvars and inst.name in _LOADS_CELL:
        return Instr("LOAD_FAST", FreeVar(arg), location=inst.location)
    return inst


_LOADS_CELL = ("LOAD_FAST", "LOAD_FAST_CHECK") if PYTHON >= (3, 13) else ()
