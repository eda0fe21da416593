"""The code that replaces a captured frame: graph, values, side effects, then return or go on."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphwright.amp import state as amp
from graphwright.autograd.grad_mode import INFERENCE
from graphwright.capture import _eval_frame
from graphwright.capture.effects.data_dependent_errors import BY_INDEX, name_of
from graphwright.capture.effects.finalizers import ends_with_frame, may_end
from graphwright.capture.effects.requires_grad import record
from graphwright.capture.emit.assembler import CodeBuilder, Label, n_argument_slots
from graphwright.capture.emit.native import (
    LETS_GO,
    NATIVE,
    UNBOUND,
    looks_below,
    native_effect,
    raise_unbound,
    run_natively,
)
from graphwright.capture.emit.numpy_words import keeper
from graphwright.capture.emit.reconstruct import Load, Reconstructor, settled
from graphwright.capture.emit.replay import Listener, Replay
from graphwright.capture.emit.resuming import Caught, Escaping, ResumeCall, handler_around
from graphwright.capture.exc import unsupported
from graphwright.capture.frame.resume import (
    IS_NULL,
    VALUE,
    in_order,
    is_resume,
    needs_first_argument,
    refuse_any_break,
    stack_parameters,
)
from graphwright.capture.guards.lru_cache_lookups import Lookup
from graphwright.capture.guards.source import LocalSource, Source
from graphwright.capture.trackers.base import NULL, VariableTracker
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.effects.context import set_inference
from graphwright.capture.trackers.library.clock_and_random import Draw, local_of
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.vm.bytecode import PYTHON, Instruction
from graphwright.capture.vm.finish_graph import FinishedGraph, finish_graph, switches_inference
from graphwright.capture.vm.translator import RootTranslator
from graphwright.random import manual_seed
from graphwright.runtime import _core
from graphwright.runtime.record import Record

Backend = Callable[[Any, Sequence[Any]], Callable[..., Any]]
EXIT_SKIP = {(3, 11): 0, (3, 12): 1, (3, 13): 2}


class CompiledFrame(Record):
    """What replaces a frame: either translated code, or a callable and which results it gives.

    n_ops: tensor operations in the graph; 0 means that nothing was worth compiling. locks: those
    that are held while the code runs.
    """

    code: types.CodeType | None
    direct: Callable[..., Any] | None
    select: int | tuple[int, ...] | None
    inputs: tuple[Source, ...]
    graph: FinishedGraph
    hooked: bool
    line: int
    locks: tuple[Any, ...] = ()


class FrameCompiler:
    """Writes the code of one frame once its translation has ended."""

    def __init__(
        self, tx: RootTranslator, backend: Backend, listener: Listener | None = None
    ) -> None:
        """listener: called when a graph fails where plain Python does not."""
        self.tx = tx
        self.listener = listener
        self.output = tx.output
        self.backend = backend
        self.builder = CodeBuilder(tx.code)
        self.builder.unchecked = is_resume(tx.code)
        self.cg = Reconstructor(self.builder, tx.output)
        self._caught: Caught | Escaping | None = None
        self._kept: dict[str, Load] = {}
        self._columns: tuple[int, int, int] | None = None
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

    def release(self) -> None:
        """Release the frame's values, which would wait for the collector of cycles."""
        self._caught = None
        self._kept.clear()
        self.cg.release()

    # the whole frame is one graph

    def finish_return(self) -> CompiledFrame:
        """The frame ran to its `return`."""
        assert self.tx.returned is not None
        self.output.guard_hashed()
        direct = self._direct(settled(self.tx.returned))
        if direct is not None:
            return direct
        self.builder.line = self.tx.current.line
        push = self.cg.hold(self.tx.returned)
        self._effects()
        push()
        self._end_locals()
        self.builder.return_value()
        return self._finish(hooked=False)

    def _end_locals(self) -> None:
        """Release locals in Python's order, also where resume parameters hold them."""
        tx = self.tx
        values = [tx.locals[name] for name in in_order(tx.code, tx.locals)]
        sources = [value.source for value in values if may_end(value)]
        slots = [source.local for source in sources if isinstance(source, LocalSource)]
        if len(slots) > 1 and any(name in slots for name in stack_parameters(tx.code)):
            for name in slots:
                self.builder.load_const(None)
                self.builder.store_local(name)

    def _direct(self, value: VariableTracker) -> CompiledFrame | None:
        """No bytecode at all, where the result is a tensor of the graph or a tuple of them."""
        output = self.output
        if output.side_effects or output.restored is not None:
            return None
        if output.grad_nodes or output.autocast_nodes or output.seed is not None:
            return None
        if switches_inference(output) or output.assumptions or output.draws or output.streams:
            return None
        if output.mutated_inputs() or output.fake_mode.random:
            return None
        if any(source.in_frame_only for source in output.inputs.values()):
            return None
        single = isinstance(value, TensorVariable)
        parts = [value] if single else value.items if type(value) is TupleVariable else []
        tensors = [part for part in map(settled, parts) if isinstance(part, TensorVariable)]
        if not parts or len(tensors) != len(parts) or any(t.source is not None for t in tensors):
            return None
        if any(output.tape.leaving(tensor).finish is not None for tensor in tensors):
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
        self.builder.line, self._columns = inst.line, inst.columns
        write = self._breaker(inst)
        if write is None:
            unsupported("GB0016", f"a break at {inst.opname}")
        self.tx.check_handlers()
        self._caught = handler_around(self, inst)
        self.builder.unchecked |= self._caught is not None
        if write != self._break_at_end and not isinstance(self._caught, Caught):
            self._kept = self._kept_locals()
        write(inst)
        if self._caught is not None:
            self._caught.write()
        return self._finish(hooked=True)

    def _breaker(self, inst: Instruction) -> Callable[[Instruction], None] | None:
        """The method that writes a break at this kind of instruction."""
        if inst.opname in ("RAISE_VARARGS", "RERAISE"):
            return self._break_at_raise
        if inst.opname == "FOR_ITER":
            return self._break_at_loop
        if "JUMP" in inst.opname and "IF" in inst.opname:
            return self._break_at_branch
        if inst.opname in UNBOUND and inst.value not in self.tx.locals:
            return self._break_at_unbound
        if inst.opname in LETS_GO:
            return self._break_at_end
        return self._break_at_instruction if inst.opname in NATIVE else None

    def _natively(
        self, write: Callable[[], None], operands: Sequence[Callable[[], None]] = ()
    ) -> None:
        """Write what the user's instruction does, under the block that is around it."""
        if self._caught is not None:
            self.builder.begin_try(self._caught.label)
        for push in operands:
            push()
        for name, push in self._kept.items():
            push()
            self.builder.store_local(name)
        moved = [name.removesuffix("$") for name in self._kept if name.endswith("$")]
        self.builder.forget_unused([*self._unbound_arguments(), *moved])
        self.builder.columns = self._columns
        unchecked, self.builder.unchecked = self.builder.unchecked, False
        write()
        self.builder.unchecked = unchecked
        self.builder.columns = None
        if self._caught is not None:
            self.builder.end_try()

    def _kept_locals(self) -> dict[str, Load]:
        """What is put into locals while the instruction runs, where its traceback keeps it.

        Of what may end visibly, arguments are there already; but those behind others go last.
        """
        code, kept = self.tx.code, dict[str, Load]()
        arguments = code.co_varnames[: n_argument_slots(code)]
        for name in in_order(code, self.tx.locals):
            value = self.tx.locals[name]
            if ends_with_frame(value) and (kept or not self._is_argument(name)):
                kept[f"{name}$" if name in arguments else name] = self.cg.hold(value)
        return kept

    def _unbound_arguments(self) -> list[str]:
        """The arguments that the frame's code has deleted or bound to something else."""
        code, first = self.tx.code, needs_first_argument(self.tx.code)
        names = code.co_varnames[: n_argument_slots(code)]
        return [name for name in names if name != first and not self._is_argument(name)]

    def _is_argument(self, name: str) -> bool:
        """Whether the local still is what the caller gave."""
        source = getattr(self.tx.locals.get(name), "source", None)
        return isinstance(source, LocalSource) and source.local == name

    def _break_at_raise(self, inst: Instruction) -> None:
        count = inst.arg if inst.opname == "RAISE_VARARGS" else 1
        operands = [self.cg.hold(value) for value in self._operands(count)]
        self._effects()

        def write() -> None:
            if inst.opname == "RERAISE":
                self.builder.emit("RERAISE", 0)
            else:
                self.builder.emit("RAISE_VARARGS", inst.arg)

        self._natively(write, operands)

    def _break_at_end(self, inst: Instruction) -> None:
        """The last reference to a value goes with the frame."""
        self.tx.let_go(inst)
        resume = ResumeCall(self, inst.index + 1, self.tx.stack)
        self._effects()
        self._caught = None
        resume.call([])

    def _break_at_unbound(self, inst: Instruction) -> None:
        """A local that has no value: the error that Python would raise."""
        self._effects()
        self._natively(lambda: raise_unbound(self.builder, inst))

    def _operands(self, count: int) -> list[VariableTracker]:
        return self.tx.stack[len(self.tx.stack) - count :]

    def _break_at_instruction(self, inst: Instruction) -> None:
        self._check_first_argument()
        pops, pushes = native_effect(inst)
        rest = self.tx.stack[: len(self.tx.stack) - pops]
        seen = looks_below(inst)
        none = self.tx.constant(None)
        below = [none if value is NULL else value for value in rest[len(rest) - seen :]]
        operands = [self.cg.hold(value) for value in (*below, *self._operands(pops))]
        resume = ResumeCall(self, inst.index + 1, rest)
        self._effects()

        def write() -> None:
            run_natively(self.builder, inst, self.tx.keyword_names)
            if seen:
                self.builder.drop_below(seen)

        self._natively(write, operands)
        resume.call(_null_layout() if _adds_null(inst) else [VALUE] * pushes)

    def _check_first_argument(self) -> None:
        """`super()` looks for it in the frame, where it still is what the caller gave."""
        first = needs_first_argument(self.tx.code)
        if first in self.tx.code.co_cellvars or first is None or self._is_argument(first):
            return
        refuse_any_break("super() in a function that changes its first argument")

    def _break_at_branch(self, inst: Instruction) -> None:
        keeps = inst.opname.endswith("_OR_POP")
        rest, condition = self.tx.stack[:-1], self.tx.stack[-1]
        push = self.cg.hold(condition)
        on_jump = ResumeCall(self, inst.target, [*rest, condition] if keeps else rest)
        otherwise = ResumeCall(self, inst.index + 1, rest)
        self._effects()
        label = Label()

        self._natively(lambda: self._jump(inst, label), [push])
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
        body = ResumeCall(self, inst.index + 1, [*rest, iterator])
        done = ResumeCall(self, inst.target + EXIT_SKIP[PYTHON], rest)
        self._effects()
        label = Label()

        self._natively(lambda: self.builder.emit("FOR_ITER", label), [push])
        name = self.builder.temporary()
        self.builder.store_local(name)
        self.builder.pop()
        body.call([VALUE], [lambda: self.builder.load_local(name)])
        self.builder.mark(label)
        for extra in ("END_FOR", "POP_TOP")[: EXIT_SKIP[PYTHON]]:
            self.builder.emit(extra)
        done.call([])

    # common parts

    def _effects(self) -> None:
        self.output.guard_hashed()
        self.output.guard_distinct()
        restored = self.cg.hold(self.output.restored or NULL)
        self.cg.evaluate_effects()
        self.cg.write_effects()
        if self.output.restored is not None:
            restored()
            self.builder.emit("POP_EXCEPT")
        if self.output.grad_nodes:
            self.builder.begin_call(_core.set_grad_enabled)
            self.builder.load_const(_core.grad_enabled())
            self.builder.end_call(1)
            self.builder.pop()
        inference = bool(_core.modes() & INFERENCE)
        if inference is not bool(self.output.initial_modes & INFERENCE):
            self.builder.begin_call(set_inference)
            self.builder.load_const(inference)
            self.builder.end_call(1)
            self.builder.pop()
        if self.output.autocast_nodes:
            self.builder.begin_call(amp.set_autocast)
            self.builder.load_const(amp.current())
            self.builder.end_call(1)
            self.builder.pop()
        self.cg.make_calls()

    def _lookups(self) -> list[Lookup]:
        """The lookups before the graph: those of calls on symbolic sizes."""
        return [lookup for lookup in self.output.lookups.values() if lookup.step is not None]

    def _finish(self, hooked: bool) -> CompiledFrame:
        self.builder.settle()
        graph = finish_graph(self.output, list(self.cg.outputs), self.backend)
        before = self.output.seed is not None or self.output.draws or self.output.streams
        if graph.run is not None or before or self.cg.made or self._lookups():
            self._insert_graph_call(graph)
        if is_resume(self.tx.code):
            Replay(self.builder, self.tx.code, self.listener).protect_beginning()
        return CompiledFrame(
            code=self.builder.finish(all_locals=isinstance(self._caught, Caught)),
            direct=None,
            select=None,
            inputs=(),
            graph=graph,
            hooked=hooked,
            line=self._graph_line(),
            locks=tuple(self.output.side_effects.locks.values()),
        )

    def _insert_graph_call(self, graph: FinishedGraph) -> None:
        """Put the call of the compiled graph in front of everything."""
        builder = self.builder
        tail = builder.instructions[self._graph_at :]
        del builder.instructions[self._graph_at :]
        builder.line = self._graph_line()
        unchecked, builder.unchecked = builder.unchecked, True
        seed = self.output.seed
        replay = Replay(builder, self.tx.code, self.listener)
        draws = self.output.draws
        made, lookups = self.cg.made, self._lookups()
        may_fail = bool(graph.run is not None or seed is not None or made or lookups)
        kept = [draw for draw in draws if may_fail]
        drawn_from = _keepers([draw for draw in kept if draw.owner is None])
        random = self.output.fake_mode.random or seed is not None
        begun = tuple(self.output.recording.begun)
        owners = [draw.owner for draw in kept if draw.owner is not None]
        streams = self.output.streams.existing() if may_fail else []
        own = list(dict.fromkeys([*streams, *owners]))
        replay.keep(random, drawn_from, graph.kept, begun, own)
        for number, draw in enumerate(draws):
            self._draw(number, draw)
        self.output.streams.write(builder)
        builder.begin_try(replay.handler)
        for source, name in made.items():
            source.emit(builder)
            builder.store_local(name)
        for lookup in lookups:
            lookup.emit(builder)
            builder.store_local(f"$kept{lookup.number}")
        if seed is not None:
            builder.begin_call(manual_seed)
            self.cg.push(seed)
            builder.end_call(1)
            builder.pop()
        for source in begun:
            builder.begin_call(record)
            self._load(source, made)
            builder.end_call(1)
            builder.pop()
        if not self.output.tape.gradients_read:
            for source in self.output.tape.forgotten:
                self.cg.forget_gradient(source)
        builder.begin_call(graph.run or _no_results)
        for source in graph.sources:
            self._load(source, made)
        builder.end_call(len(graph.sources))
        builder.end_try()
        builder.store_local(self.cg.results)
        replay.look_for_signals()
        builder.instructions += tail
        replay.write()
        builder.unchecked = unchecked

    def _load(self, source: Source, made: dict[Source, str]) -> None:
        """Push an argument of the graph; `made`: locals with those that exist already."""
        if source in made:
            self.builder.load_local(made[source])
        else:
            source.emit(self.builder)

    def _draw(self, number: int, draw: Draw) -> None:
        """Draw a number that the frame asks for later."""
        builder = self.builder
        owner = draw.owner
        if owner is None:
            builder.begin_call(draw.function)
        else:
            builder.begin_call_with(partial(_load_method, builder, owner, draw.function.__name__))
        for value in (*draw.args, *draw.kwargs.values()):
            builder.load_const(value)
        builder.end_call(len(draw.args) + len(draw.kwargs), tuple(draw.kwargs))
        builder.store_local(local_of(number))


def _load_method(builder: CodeBuilder, owner: Source, name: str) -> None:
    owner.emit(builder)
    builder.load_attr(name)


def _keepers(draws: Sequence[Draw]) -> list[Any]:
    """What keeps the states of the generators that are drawn from, each once."""
    by_generator: dict[int, list[Draw]] = {}
    for draw in draws:
        by_generator.setdefault(id(draw.generator), []).append(draw)
    return [
        keeper(group[0].generator, [draw.function.__name__ for draw in group])
        for group in by_generator.values()
    ]


def _no_results() -> tuple[()]:
    """What runs in place of a graph without operations."""
    return ()


_eval_frame.skip_code(_no_results.__code__)


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


def _null_layout() -> list[int]:
    return [VALUE, IS_NULL] if PYTHON >= (3, 13) else [IS_NULL, VALUE]
