"""Going on in resume functions: what follows a break, and the handlers of the block around it."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from graphwright.capture._eval_frame import continued
from graphwright.capture.effects.caller_frame_access import check_readers
from graphwright.capture.effects.finalizers import (
    arguments_that_end,
    handed_over,
    holds_any,
    may_end,
)
from graphwright.capture.emit.assembler import CodeBuilder, Label
from graphwright.capture.emit.reconstruct import Load
from graphwright.capture.exc import unsupported
from graphwright.capture.frame.resume import (
    IS_NULL,
    POSITION,
    VALUE,
    ResumePoint,
    argument_names,
    check_resumable,
    closure_names,
    in_order,
    live_behind,
    needs_first_argument,
    parameter_order,
    reads_empty_cell,
    resume_code,
    stack_parameters,
)
from graphwright.capture.trackers.base import NULL, VariableTracker
from graphwright.capture.trackers.callables.functions import CellVariable
from graphwright.capture.vm.bytecode import Instruction, decode, handler_of

if TYPE_CHECKING:
    from graphwright.capture.emit.frame import FrameCompiler


class Caught:
    """Where an exception of the native instruction goes: the handler of the block around it.

    The handler is a resume function too. Where it begins by making the exception the one being
    handled, that happens here, so that resume functions start with the thread's state as it is.
    """

    def __init__(self, frame: FrameCompiler, target: int, depth: int, lasti: bool) -> None:
        self.frame = frame
        self.label = Label()
        instructions = decode(frame.tx.code)
        self.pushes = instructions[target].opname == "PUSH_EXC_INFO"
        self.lasti = lasti
        start = target + self.pushes
        self.resume = ResumeCall(frame, start, frame.tx.stack[:depth])

    @staticmethod
    def of(frame: FrameCompiler, inst: Instruction) -> Caught | None:
        """The handler around an instruction, if there is one."""
        found = handler_of(frame.tx.code, inst)
        if found is None:
            return None
        return Caught(frame, found.target, found.depth, found.push_lasti)

    def write(self) -> None:
        """Write the handler; the exception is on the stack."""
        builder = self.frame.builder
        builder.mark(self.label)
        if self.pushes:
            builder.emit("PUSH_EXC_INFO")
        names = [builder.temporary() for _ in range(1 + self.pushes)]
        for name in reversed(names):
            builder.store_local(name)
        loads: list[Load] = [lambda n=name: builder.load_local(n) for name in names]  # type: ignore[misc]
        self.resume.call([POSITION] * self.lasti + [VALUE] * len(names), loads)


class Escaping:
    """Writes what happens where an exception of the native instruction leaves the frame.

    The parameters that hold the stack's values are cleared: the traceback keeps the frame, which
    would keep the values alive.
    """

    def __init__(self, frame: FrameCompiler) -> None:
        self.frame = frame
        self.label = Label()

    def write(self) -> None:
        """Write what happens before the exception, which is on the stack, goes on."""
        builder = self.frame.builder
        builder.mark(self.label)
        for name in stack_parameters(self.frame.tx.code):
            builder.load_const(None)
            builder.store_local(name)
        builder.emit("RERAISE", 0)


def handler_around(frame: FrameCompiler, inst: Instruction) -> Caught | Escaping | None:
    """What an exception of an instruction that runs natively needs, if anything."""
    caught = Caught.of(frame, inst)
    if caught is None and stack_parameters(frame.tx.code):
        return Escaping(frame)
    return caught


class ResumeCall:
    """Going on in a resume function: what it needs is evaluated early, the end written late."""

    def __init__(self, frame: FrameCompiler, index: int, rest: list[VariableTracker]) -> None:
        self.frame = frame
        self.index = index
        tx = frame.tx
        check_resumable(tx.code)
        check_readers(tx.output.function, tx.code)
        self.kinds = [IS_NULL if value is NULL else VALUE for value in rest]
        self.stack = [frame.cg.hold(value) for value in rest]
        self.locals = self._hold_locals(live_behind(tx.code, index))
        self.cells = [self._hold_cell(name) for name in closure_names(tx.code)]

    def _hold_locals(self, live: frozenset[str]) -> dict[str, Load]:
        tx = self.frame.tx
        wanted = set(live)
        handed = handed_over(tx.stack)
        first = needs_first_argument(tx.code)
        if first is not None:
            wanted.add(first)
        return {
            name: self.frame.cg.hold(tx.locals[name])
            for name in in_order(tx.code, tx.locals)
            if (name in wanted or may_end(tx.locals[name]) or holds_any(tx.locals[name], handed))
            and not isinstance(tx.locals[name], CellVariable)
            and tx.locals[name] is not NULL
        }

    def _hold_cell(self, name: str) -> Load:
        cell = self.frame.tx.locals.get(name)
        if not isinstance(cell, CellVariable):
            unsupported("GB0016", f"the cell of {name!r} does not exist yet")
        self._check_bound(name, cell)
        return self.frame.cg.hold(cell)

    def _check_bound(self, name: str, cell: CellVariable) -> None:
        """No break where an empty cell of the function itself would be read behind it.

        In the resume function it is a free variable, of which Python raises another error.
        """
        if reads_empty_cell(self.frame.tx.code, self.index, name, cell.contents is None):
            unsupported("GB0016", f"{name!r} may be read while it has no value")

    def call(self, pushed: list[int], extra: list[Load] | None = None) -> None:
        """End the frame. `pushed`: the kinds of what the instruction left on the stack.

        The values are there, unless `extra` pushes them. The traceback of an exception may keep
        the frame, which must not hold what may end before it.
        """
        builder = self.frame.builder
        kinds = zip(self.stack, self.kinds, strict=True)
        loads = [load for load, kind in kinds if kind == VALUE]
        loads += self._take(pushed) if extra is None else extra
        layout = (*self.kinds, *pushed)
        point = ResumePoint(self.index, layout, tuple(self.locals))
        code = resume_code(self.frame.tx.code, point)
        names = argument_names(layout)
        by_name = {**dict(zip(names, loads, strict=True)), **self.locals}
        order = parameter_order(self.frame.tx.code, names, tuple(self.locals))
        tx = self.frame.tx
        held = [*stack_parameters(tx.code), *arguments_that_end(tx)]
        self._write(builder, code, [by_name[name] for name in order], held)

    def _take(self, pushed: list[int]) -> list[Load]:
        """Move the values that the instruction left on the stack into temporaries."""
        builder = self.frame.builder
        names = [builder.temporary() for kind in pushed if kind == VALUE]
        for name in reversed(names):
            builder.store_local(name)
        return [lambda n=name: builder.load_local(n) for name in names]  # type: ignore[misc]

    def _write(
        self,
        builder: CodeBuilder,
        code: types.CodeType,
        args: list[Load],
        held: list[str],
    ) -> None:
        """Return the continuation: whoever evaluates the frame goes on with it.

        It is made by a subscript: behind a call Python handles signals, and what those raise
        would be raised outside of the blocks that the continuation goes on in.
        """
        builder.load_const(continued)
        for cell in self.cells:
            cell()
        if self.cells:
            builder.build("tuple", len(self.cells))
        builder.make_function(code, bool(self.cells))
        for arg in args:
            arg()
        builder.build("tuple", len(args) + 1)
        builder.subscript()
        builder.forget_unused(held, ends=True)
        builder.return_value()
