"""The code that replaces a captured frame: graph, values, side effects, then return or go on."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from graphwright.capture.bytecode import PYTHON, Instruction, live_locals
from graphwright.capture.emit.assembler import CodeBuilder, Label
from graphwright.capture.emit.native import NATIVE, native_effect, run_natively
from graphwright.capture.emit.reconstruct import Load, Reconstructor, settled
from graphwright.capture.exc import unsupported
from graphwright.capture.graph_result import FinishedGraph, finish_graph
from graphwright.capture.resume import (
    Continuation,
    ResumePoint,
    check_resumable,
    closure_names,
    is_resume,
    needs_first_argument,
    parameter_order,
    resume_code,
)
from graphwright.capture.run_errors import BY_INDEX, name_of
from graphwright.capture.source import Source
from graphwright.capture.translator import RootTranslator
from graphwright.capture.variables.base import NULL, VariableTracker
from graphwright.capture.variables.functions import CellVariable
from graphwright.capture.variables.sequences import TupleVariable
from graphwright.capture.variables.tensor import TensorVariable
from graphwright.runtime import _core
from graphwright.runtime.records import Record

Backend = Callable[[Any, Sequence[Any]], Callable[..., Any]]
EXIT_SKIP = {(3, 11): 0, (3, 12): 1, (3, 13): 2}


class CompiledFrame(Record):
    """What replaces a frame: either translated code, or a callable and which results it gives.

    n_ops: tensor operations in the graph; 0 means that nothing was worth compiling.
    """

    code: types.CodeType | None
    direct: Callable[..., Any] | None
    select: int | tuple[int, ...] | None
    inputs: tuple[Source, ...]
    graph: FinishedGraph
    hooked: bool
    line: int


class FrameCompiler:
    """Writes the code of one frame once its translation has ended."""

    def __init__(self, tx: RootTranslator, backend: Backend) -> None:
        self.tx = tx
        self.output = tx.output
        self.backend = backend
        self.builder = CodeBuilder(tx.code)
        self.cg = Reconstructor(self.builder, tx.output)
        self._graph_at = len(self.builder.instructions)
        self.builder.line = self._graph_line()

    def _graph_line(self) -> int:
        """The line that a traceback through the graph shows: the first that can raise there."""
        lines: list[tuple[bool, int]] = []
        for node in self.output.graph.nodes:
            stack = node.meta.get("stack")
            if stack is not None and stack[0] == self.tx.code.co_filename:
                lines.append((name_of(node.target) not in BY_INDEX, stack[1]))
        return min(lines, key=lambda entry: entry[0])[1] if lines else self.tx.current.line

    # the whole frame is one graph

    def finish_return(self) -> CompiledFrame:
        """The frame ran to its `return`."""
        assert self.tx.returned is not None
        direct = self._direct(settled(self.tx.returned))
        if direct is not None:
            return direct
        self.builder.line = self.tx.current.line
        push = self.cg.hold(self.tx.returned)
        self._effects()
        push()
        self.builder.return_value()
        return self._finish(hooked=False)

    def _direct(self, value: VariableTracker) -> CompiledFrame | None:
        """No bytecode at all, where the result is a tensor of the graph or a tuple of them."""
        if self.output.side_effects or self.output.grad_nodes:
            return None
        single = isinstance(value, TensorVariable)
        parts = [value] if single else value.items if type(value) is TupleVariable else []
        tensors = [part for part in map(settled, parts) if isinstance(part, TensorVariable)]
        if not parts or len(tensors) != len(parts) or any(t.source is not None for t in tensors):
            return None
        for tensor in tensors:
            self.cg.outputs.setdefault(tensor.node, len(self.cg.outputs))
        graph = finish_graph(self.output, list(self.cg.outputs), self.backend)
        where = tuple(self.cg.outputs[tensor.node] for tensor in tensors)
        assert graph.run is not None
        return CompiledFrame(
            code=None,
            direct=graph.run,
            select=where[0] if single else where,
            inputs=graph.sources,
            graph=graph,
            hooked=False,
            line=self._graph_line(),
        )

    # the graph ends before an instruction

    def finish_break(self, inst: Instruction) -> CompiledFrame:
        """The graph ends before `inst`, which runs natively."""
        if inst.protected:
            unsupported("GB0012", "the break is inside of a with or try block")
        self.builder.line = inst.line
        if inst.opname in ("RAISE_VARARGS",):
            self._break_at_raise(inst)
        elif inst.opname == "FOR_ITER":
            self._break_at_loop(inst)
        elif "JUMP" in inst.opname and "IF" in inst.opname:
            self._break_at_branch(inst)
        elif inst.opname in NATIVE:
            self._break_at_instruction(inst)
        else:
            unsupported("GB0016", f"a break at {inst.opname}")
        return self._finish(hooked=True)

    def _break_at_raise(self, inst: Instruction) -> None:
        operands = [self.cg.hold(value) for value in self._operands(inst.arg)]
        self._effects()
        for push in operands:
            push()
        self.builder.emit("RAISE_VARARGS", inst.arg)

    def _operands(self, count: int) -> list[VariableTracker]:
        return self.tx.stack[len(self.tx.stack) - count :]

    def _break_at_instruction(self, inst: Instruction) -> None:
        pops, pushes = native_effect(inst)
        rest = self.tx.stack[: len(self.tx.stack) - pops]
        operands = [self.cg.hold(value) for value in self._operands(pops)]
        after = inst.index + 1
        resume = _Resume(self, after, rest)
        self._effects()
        for push in operands:
            push()
        run_natively(self.builder, inst, self.tx.keyword_names)
        resume.call([False] * pushes if not _adds_null(inst) else _null_layout())

    def _break_at_branch(self, inst: Instruction) -> None:
        keeps = inst.opname.endswith("_OR_POP")
        rest, condition = self.tx.stack[:-1], self.tx.stack[-1]
        push = self.cg.hold(condition)
        on_jump = _Resume(self, inst.target, [*rest, condition] if keeps else rest)
        otherwise = _Resume(self, inst.index + 1, rest)
        self._effects()
        label = Label()
        push()
        self._jump(inst, label)
        otherwise.call([])
        self.builder.mark(label)
        on_jump.call([])

    def _jump(self, inst: Instruction, label: Label) -> None:
        kind = inst.opname.replace("_OR_POP", "").rpartition("IF_")[2]
        if PYTHON >= (3, 13) and kind in ("TRUE", "FALSE"):
            self.builder.emit("TO_BOOL")
        prefix = "POP_JUMP_IF_" if PYTHON >= (3, 12) else "POP_JUMP_FORWARD_IF_"
        self.builder.emit(prefix + kind, label)

    def _break_at_loop(self, inst: Instruction) -> None:
        rest, iterator = self.tx.stack[:-1], self.tx.stack[-1]
        push = self.cg.hold(iterator)
        body = _Resume(self, inst.index + 1, [*rest, iterator])
        done = _Resume(self, inst.target + EXIT_SKIP[PYTHON], rest)
        self._effects()
        label = Label()
        push()
        self.builder.emit("FOR_ITER", label)
        name = self.builder.temporary()
        self.builder.store_local(name)
        self.builder.pop()
        body.call([False], lambda: self.builder.load_local(name))
        self.builder.mark(label)
        for extra in ("END_FOR", "POP_TOP")[: EXIT_SKIP[PYTHON]]:
            self.builder.emit(extra)
        done.call([])

    # common parts

    def _effects(self) -> None:
        self.output.guard_distinct()
        self.cg.evaluate_effects()
        self.cg.write_effects()
        if self.output.grad_nodes:
            self.builder.begin_call(_core.set_grad_enabled)
            self.builder.load_const(_core.grad_enabled())
            self.builder.end_call(1)
            self.builder.pop()

    def _finish(self, hooked: bool) -> CompiledFrame:
        graph = finish_graph(self.output, list(self.cg.outputs), self.backend)
        if graph.run is not None:
            self._insert_graph_call(graph)
        return CompiledFrame(
            code=self.builder.finish(),
            direct=None,
            select=None,
            inputs=(),
            graph=graph,
            hooked=hooked,
            line=self._graph_line(),
        )

    def _insert_graph_call(self, graph: FinishedGraph) -> None:
        """Put the call of the compiled graph in front of everything."""
        tail = self.builder.instructions[self._graph_at :]
        del self.builder.instructions[self._graph_at :]
        self.builder.line = self._graph_line()
        assert graph.run is not None
        self.builder.begin_call(graph.run)
        for source in graph.sources:
            source.emit(self.builder)
        self.builder.end_call(len(graph.sources))
        self.builder.store_local(self.cg.results)
        self.builder.instructions += tail


def _adds_null(inst: Instruction) -> bool:
    """Whether the instruction also pushes the NULL of a call."""
    if inst.opname == "LOAD_METHOD":
        return True
    names = ("LOAD_GLOBAL", "LOAD_SUPER_ATTR") if PYTHON < (3, 12) else (
        "LOAD_GLOBAL",
        "LOAD_ATTR",
        "LOAD_SUPER_ATTR",
    )
    return inst.opname in names and bool(inst.arg & 1)


def _null_layout() -> list[bool]:
    return [False, True] if PYTHON >= (3, 13) else [True, False]


class _Resume:
    """The call of a resume function: what it needs is evaluated early, the call written late."""

    def __init__(self, frame: FrameCompiler, index: int, rest: list[VariableTracker]) -> None:
        self.frame = frame
        self.index = index
        tx = frame.tx
        check_resumable(tx.code)
        self.nulls = [value is NULL for value in rest]
        self.stack = [frame.cg.hold(value) for value in rest]
        self.locals = self._hold_locals(live_locals(tx.code, index))
        self.cells = [self._hold_cell(name) for name in closure_names(tx.code)]

    def _hold_locals(self, live: frozenset[str]) -> dict[str, Load]:
        tx = self.frame.tx
        wanted = set(live)
        first = needs_first_argument(tx.code)
        if first is not None:
            wanted.add(first)
        return {
            name: self.frame.cg.hold(value)
            for name, value in sorted(tx.locals.items())
            if name in wanted and not isinstance(value, CellVariable) and value is not NULL
        }

    def _hold_cell(self, name: str) -> Load:
        cell = self.frame.tx.locals.get(name)
        if not isinstance(cell, CellVariable):
            unsupported("GB0016", f"the cell of {name!r} does not exist yet")
        return self.frame.cg.hold(cell)

    def call(self, pushed: list[bool], push_extra: Load | None = None) -> None:
        """Write the call. `pushed`: per value that the instruction left, whether it is a NULL.

        The values are on the stack, unless `push_extra` pushes the only one.
        """
        builder = self.frame.builder
        loads = [load for load, null in zip(self.stack, self.nulls, strict=True) if not null]
        loads += self._take(pushed) if push_extra is None else [push_extra]
        layout = (*self.nulls, *pushed)
        point = ResumePoint(self.index, layout, tuple(self.locals))
        code = resume_code(self.frame.tx.code, point)
        names = [f"$s{i}" for i, is_null in enumerate(layout) if not is_null]
        by_name = {**dict(zip(names, loads, strict=True)), **self.locals}
        order = parameter_order(self.frame.tx.code, names, tuple(self.locals))
        self._write(builder, code, [by_name[name] for name in order])

    def _take(self, pushed: list[bool]) -> list[Load]:
        """Move the values that the instruction left on the stack into temporaries."""
        builder = self.frame.builder
        names = [builder.temporary() for null in pushed if not null]
        for name in reversed(names):
            builder.store_local(name)
        return [lambda n=name: builder.load_local(n) for name in names]  # type: ignore[misc]

    def _write(self, builder: CodeBuilder, code: types.CodeType, args: list[Load]) -> None:
        def function() -> None:
            for cell in self.cells:
                cell()
            if self.cells:
                builder.build("tuple", len(self.cells))
            builder.make_function(code, bool(self.cells))

        if is_resume(self.frame.tx.code):
            builder.begin_call(Continuation)
            function()
            for arg in args:
                arg()
            builder.end_call(len(args) + 1)
            builder.return_value()
            return
        builder.begin_call_with(function)
        for arg in args:
            arg()
        builder.end_call(len(args))
        self._loop_over_continuations(builder)

    def _loop_over_continuations(self, builder: CodeBuilder) -> None:
        """result = f(...); while type(result) is Continuation: result = result(); return it."""
        result, again, done = builder.temporary(), Label(), Label()
        builder.store_local(result)
        builder.mark(again)
        builder.begin_call(type)
        builder.load_local(result)
        builder.end_call(1)
        builder.load_const(Continuation)
        builder.jump_if_not_identical(done)
        builder.begin_call_with(lambda: builder.load_local(result))
        builder.end_call(0)
        builder.store_local(result)
        builder.jump_back(again)
        builder.mark(done)
        builder.load_local(result)
        builder.return_value()

