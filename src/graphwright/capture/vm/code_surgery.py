"""Code objects cut at the level of bytes: other slots, other free variables, a prologue in front.

Jumps are relative, so that what is put in front of the code moves nothing inside of it:

    RESUME                      COPY_FREE_VARS, RESUME          (the prologue)
    LOAD_FAST a (slot 0)        LOAD_FAST $s0 (slot 0)
    LOAD_FAST b (slot 1)        JUMP_FORWARD to BINARY_OP; NOP
    BINARY_OP +           ->    NOP
    RETURN_VALUE                LOAD_FAST a (slot 1)
                                LOAD_FAST b (slot 2)
                                BINARY_OP +
                                RETURN_VALUE
"""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Sequence

from graphwright.capture.exc import unsupported
from graphwright.capture.frame.per_code import per_code
from graphwright.capture.vm.bytecode import PAIRS
from graphwright.capture.vm.bytecode_tables import handler_table, instruction, line_entries
from graphwright.runtime.record import Record

_CODE = dis.opmap
_SLOTS = frozenset([*dis.haslocal, *dis.hasfree])
_TOO_MANY = "the function has too many variables"
_EXTENDED, _NOP = _CODE["EXTENDED_ARG"], _CODE["NOP"]
_HEAD = frozenset(_CODE[name] for name in ("MAKE_CELL", "COPY_FREE_VARS", "RESUME"))
_PAIRS = frozenset(_CODE[name] for name in PAIRS if name in _CODE)


def rebuilt(
    code: types.CodeType,
    prologue: Sequence[tuple[str, int]],
    line: int,
    parameters: Sequence[str],
    free: tuple[str, ...],
    stack: int,
    constant: object,
    handler: tuple[int, int, bool] | None,
) -> types.CodeType:
    """The code with a prologue at `line` in front, its cells turned into free variables.

    `parameters` become its first locals, `free` its free variables; `stack` says how much more
    of it the prologue needs, `constant` follows the constants. Arguments of the prologue's
    instructions are final. `handler` is where exceptions of its RESUME go: a unit of the code, the
    stack's depth there, and whether it wants the place.
    """
    names = local_names(code, parameters)
    parts = [instruction(name, arg) for name, arg in prologue]
    head = b"".join(parts)
    resume = [name for name, _ in prologue].index("RESUME")
    start = sum(len(part) for part in parts[:resume]) // 2
    varying = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    return code.replace(
        co_argcount=len(parameters),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_consts=(*code.co_consts, constant),
        co_nlocals=len(names),
        co_varnames=names,
        co_cellvars=(),
        co_freevars=free,
        co_flags=code.co_flags & ~varying,
        co_stacksize=code.co_stacksize + stack,
        co_code=head + _renumbered(code, _slots(code, names, free)),
        co_linetable=_lines(len(head) // 2, line - code.co_firstlineno) + code.co_linetable,
        co_exceptiontable=_moved_handlers(code, len(head) // 2, start, handler),
    )


def local_names(code: types.CodeType, parameters: Sequence[str]) -> tuple[str, ...]:
    """The locals of the rebuilt code, in order."""
    taken = {*parameters, *code.co_cellvars}
    return (*parameters, *(name for name in code.co_varnames if name not in taken))


def _slots(
    code: types.CodeType, names: tuple[str, ...], free: tuple[str, ...]
) -> list[int]:
    """The new slot of each local, cell and free variable of the code; -1 for a dropped local."""
    by_local = {name: slot for slot, name in enumerate(names)}
    by_free = {name: len(names) + slot for slot, name in enumerate(free)}
    cells = frozenset(code.co_cellvars)
    result = [by_free[n] if n in cells else by_local.get(n, -1) for n in code.co_varnames]
    pure = [name for name in code.co_cellvars if name not in code.co_varnames]
    return result + [by_free[name] for name in (*pure, *code.co_freevars)]


def _renumbered(code: types.CodeType, slots: Sequence[int]) -> bytes:
    """The instructions on new slots; the function's own beginning does nothing."""
    result = bytearray(code.co_code)
    uses = _uses(code)
    for first, at in uses.head:
        _write(result, first, at, _NOP, 0)
    for at in uses.pairs:
        high, low = divmod(result[at + 1], 16)
        if max(slots[high], slots[low]) >= 16:
            unsupported("GB0016", _TOO_MANY)
        result[at + 1] = slots[high] << 4 | slots[low]
    for first, at, slot in uses.single:
        if slots[slot] != slot:
            _write(result, first, at, result[at], slots[slot])
    return bytes(result)


class _Uses(Record):
    """Where code has instructions on slots, by the offsets of their first prefix and their own.

    head: those that begin the function. pairs: those on two slots, which have no prefixes.
    single: the others, with their slots.
    """

    head: tuple[tuple[int, int], ...]
    pairs: tuple[int, ...]
    single: tuple[tuple[int, int, int], ...]


@per_code
def _uses(code: types.CodeType) -> _Uses:
    raw = code.co_code
    head, pairs, single = [], [], []
    started, prefix, first = False, 0, 0
    for at in range(0, len(raw), 2):
        opcode = raw[at]
        if opcode == _EXTENDED:
            prefix = (prefix | raw[at + 1]) << 8
            continue
        if not started and opcode in _HEAD:
            started = opcode == _CODE["RESUME"]
            head.append((first, at))
        elif opcode in _PAIRS:
            pairs.append(at)
        elif opcode in _SLOTS:
            single.append((first, at, prefix | raw[at + 1]))
        prefix, first = 0, at + 2
    return _Uses(tuple(head), tuple(pairs), tuple(single))


def _write(units: bytearray, first: int, at: int, opcode: int, arg: int) -> None:
    """Overwrite an instruction, whose EXTENDED_ARG prefixes begin at `first`."""
    size = (at - first) // 2 + 1
    if arg >= 1 << 8 * size:
        unsupported("GB0016", _TOO_MANY)
    units[at] = opcode
    units[first + 1 : at + 2 : 2] = arg.to_bytes(size, "big")


def _lines(units: int, delta: int) -> bytes:
    """The line table of a prologue: one line, and back to the first by its last unit."""
    return line_entries(units - 1, delta) + line_entries(1, -delta)


def _moved_handlers(
    code: types.CodeType, units: int, start: int, handler: tuple[int, int, bool] | None
) -> bytes:
    """The exception table of code that begins so many units later, and `handler` at `start`."""
    first = []
    if handler is not None:
        target, depth, lasti = handler
        first = [(start, start + 1, target + units, depth, lasti)]
    moved = [
        (e.start // 2 + units, e.end // 2 + units, e.target // 2 + units, e.depth, e.lasti)
        for e in dis._parse_exception_table(code)  # type: ignore[attr-defined]
    ]
    return handler_table([*first, *moved])
