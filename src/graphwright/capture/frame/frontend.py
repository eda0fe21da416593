"""`Frontend`: from a frame to a cache entry; the callback of the dispatcher and of the hook."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from graphwright.amp.state import own_casts
from graphwright.capture import _eval_frame
from graphwright.capture.effects.finalizers import check_places
from graphwright.capture.emit.assembler import n_argument_slots
from graphwright.capture.emit.frame import CompiledFrame, FrameCompiler
from graphwright.capture.exc import (
    BackendFailed,
    GraphBreakError,
    InternalCaptureError,
    Reconsidered,
    RestartTranslation,
    Signal,
    SkipFrame,
    Unsupported,
)
from graphwright.capture.frame.budget import MOST_STEPS, MOST_WITHOUT_TENSORS
from graphwright.capture.frame.code_owner import is_library
from graphwright.capture.frame.diagnostics import (
    break_message,
    break_record,
    check_time,
    guard_costs,
    limit_reason,
    place,
    recompile_record,
    resumed_at,
    warn_of_limit,
    warn_of_static_sizes,
)
from graphwright.capture.frame.expected_breaks import ExpectedBreaks
from graphwright.capture.frame.per_code import CodeTable
from graphwright.capture.frame.record import (
    RUNS_EAGERLY,
    CaptureRecord,
    FrameRecord,
    GraphRecord,
    RecompileRecord,
)
from graphwright.capture.frame.resume import origin_of
from graphwright.capture.frame.signal_handlers import raised_by_handler
from graphwright.capture.frame.stance import RecompileError, stance
from graphwright.capture.frame.state import FrameState
from graphwright.capture.frame.tensorless import places_without_tensors
from graphwright.capture.guards import guards
from graphwright.capture.guards.instance_dict_aliases import check_instance_dicts
from graphwright.capture.guards.patched_builtins import builtins_are_intact
from graphwright.capture.guards.source import AttrSource, ClassSource, ConstSource, ItemSource
from graphwright.capture.trackers.effects.locks import LOCKS, may_be_held
from graphwright.capture.trackers.tensors.checkpointing import check_reread
from graphwright.capture.trackers.values.namespaces import instance_dict
from graphwright.capture.trackers.values.wrap import wrap_value
from graphwright.capture.vm.allowed import is_disabled, may_capture
from graphwright.capture.vm.bytecode import PYTHON, Instruction
from graphwright.capture.vm.opcodes import handlers_for
from graphwright.capture.vm.output_graph import OutputGraph
from graphwright.capture.vm.translator import RootTranslator
from graphwright.nn.module import Module
from graphwright.runtime import _core
from graphwright.runtime.dispatch import MAPPED
from graphwright.runtime.spans import Timed
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

Backend = Callable[[Any, Sequence[Any]], Callable[..., Any]]
_UNCAPTURED = (
    inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
)
_MOST_RESTARTS = 12
_MOST_CAPTURES = 8
_MOST_REFUTATIONS = 2


class Frontend:
    """Captures frames and compiles their graphs with one backend.

    Args:
        backend: `backend(graph_module, example_inputs)` gives a callable that takes the values
            of the placeholders and returns a sequence with the graph's outputs. The examples are
            fake tensors, and `SymInt`s for symbolic int arguments.
        fullgraph: raise GraphBreakError instead of breaking the graph.
        dynamic: None: sizes become symbolic once they vary; True: from the start; False: never.
        record: where to note what happens.
        limit: how many entries one code object may have.
        tensorless: translate frames without tensor operations too. For finding out whether
            capture leaves plain Python alone; slow.
        everywhere: under the hook translate frames of every file but those of this package,
            `tensorless` ones too.
    """

    strict = False
    """Whether bugs of capture itself raise InternalCaptureError: else the frame runs natively."""

    def __init__(
        self,
        backend: Backend,
        *,
        fullgraph: bool = False,
        dynamic: bool | None = None,
        record: CaptureRecord | None = None,
        limit: int = 8,
        tensorless: bool = False,
        everywhere: bool = False,
    ) -> None:
        self.backend = backend
        self.tensorless = tensorless or everywhere
        self.everywhere = everywhere
        self.fullgraph = fullgraph
        self.dynamic = dynamic
        self.record = record if record is not None else CaptureRecord()
        self.limit = limit
        self._states: CodeTable[FrameState] = CodeTable()
        self._roots: CodeTable[None] = CodeTable()
        self._failed: CodeTable[None] = CodeTable()
        self._expected = ExpectedBreaks()

    def compile(self, function: types.FunctionType) -> _eval_frame.CompiledFunction:
        """A callable that captures `function` at its first call and at each guard failure."""
        code = function.__code__
        self._roots[code] = None
        if code.co_flags & _UNCAPTURED:
            reason = Unsupported("GB0013", f"{code.co_name} is a generator or coroutine itself")
            reason.note_location(place(code))
            self.record.add(break_record(reason, True, code))
        return _eval_frame.CompiledFunction(function, self, self.limit)

    def reset(self) -> None:
        """Forget which sizes have varied, what failed, and what was recorded."""
        self._states.clear()
        self._failed.clear()
        self.record.clear()

    # the callback

    def __call__(
        self,
        function: types.FunctionType,
        code: types.CodeType,
        slots: tuple[Any, ...],
        entries: tuple[_eval_frame.Entry, ...] = (),
    ) -> Any:
        """A cache entry, or how the frame runs natively: see `_eval_frame.CompiledFunction`."""
        if not builtins_are_intact() or _core.modes() & MAPPED:
            return _eval_frame.RUN_NATIVELY     # vmap maps what a plain call does
        is_root = code in self._roots
        if code.co_flags & _UNCAPTURED or is_disabled(function):
            return None
        if not _has_lines(code):
            self.record.skip(place(code), "the code has no line numbers")
            return None
        file = _file_of(function, code)
        anywhere = self.everywhere and not is_library(file)
        if not (is_root or anywhere or may_capture(file, code.co_name)):
            return None
        entries = tuple(entry for entry in entries if entry.code is not code)
        if entries and stance() == "eager_on_recompile":
            return _eval_frame.RUN_NATIVELY
        state = self._state(code)
        places = None
        if is_root and not self.tensorless and not self.fullgraph:
            places = places_without_tensors(function, slots)
            if places is not None and state.tensorless:
                return places
        state.expects_tensors = places is None
        state.patience = self._patience(state)
        self._note_recompile(function, code, slots, entries, state)
        state.captures += 1
        if state.captures > _MOST_CAPTURES * self.limit:
            self.limit_reached(function, code, slots, entries)
            return None
        try:
            with (Timed(f"compile::capture {code.co_qualname}", into=self.record.spans),
                  self.record.watch(place(code))):
                frame, output, restart = self._translate(function, code, slots, state)
        except SkipFrame as skip:
            return self._skipped(function, code, slots, skip, state, places)
        _guard_state(output)
        if output.marked:
            warn_of_static_sizes(output)
        try:
            with Timed(f"compile::guards {code.co_qualname}", into=self.record.spans):
                program = guards.compile(output.guards.guards, code, frame.inputs)
        except OverflowError:  # relations of sizes have 64 bits: take all ints as constants
            state.dynamic = False
            return self(function, code, slots)
        unstable = guards.explain_failure(program, function, slots)
        if unstable is not None and frame.locks:    # another thread has changed it meanwhile
            return _eval_frame.RUN_NATIVELY
        if unstable is not None:
            return self._unstable(code, unstable)
        costs: tuple[float, ...] = ()
        if self.record.measured:
            if self.record.measured == "each":
                costs = guard_costs(program.guards, code, function, slots)
            costs = (*costs, check_time(program.guards, code, function, slots))
        return self._entry(code, frame, output, restart, program, costs)

    def _state(self, code: types.CodeType) -> FrameState:
        """What is remembered of a code object."""
        state = self._states.get(code)
        if state is None:
            versions = self.limit if self.tensorless else 0
            state = self._states[code] = FrameState(self.dynamic, versions)
            state.refutations = None if self.fullgraph else _MOST_REFUTATIONS
        return state

    def _patience(self, state: FrameState) -> int:
        """How many instructions without a tensor a frame may take: all there are for one graph."""
        whole = self.tensorless or (self.fullgraph and state.expects_tensors)
        return MOST_STEPS if whole else MOST_WITHOUT_TENSORS

    def _unstable(self, code: types.CodeType, failure: guards.GuardFailure) -> None:
        """A guard that does not even hold for the call it was made of."""
        reason = Unsupported("GB0019", str(failure))
        reason.note_location(place(code))
        self._refuse_break(code, reason)
        self.record.add(break_record(reason, True, code))
        self.record.skip(place(code), f"a value changes whenever it is read: {failure}")

    def limit_reached(
        self,
        function: types.FunctionType,
        code: types.CodeType,
        slots: tuple[Any, ...],
        entries: tuple[_eval_frame.Entry, ...],
    ) -> None:
        """All entries exist and none fits: this and later calls of its kind run natively."""
        recompile = self._note_recompile(function, code, slots, entries)
        reason = limit_reason(code, self.limit)
        self.record.add(break_record(reason, True, code))
        self.record.skip(place(code), reason.detail)
        warn_of_limit(code, self.limit, recompile)

    def graph_failed(self, code: types.CodeType, failure: str) -> None:
        """A graph raised `failure`, and the code itself, run in its place, gave a result."""
        if code in self._failed:
            return
        self._failed[code] = None
        reason = Unsupported("GB0022", failure)
        reason.note_location(place(code))
        self.record.add(break_record(reason, True, code))

    def _note_recompile(
        self,
        function: types.FunctionType,
        code: types.CodeType,
        slots: tuple[Any, ...],
        entries: tuple[_eval_frame.Entry, ...],
        state: FrameState | None = None,
    ) -> RecompileRecord | None:
        failures = [guards.explain_failure(entry.program, function, slots) for entry in entries]
        for failure in failures:
            if state is not None and failure is not None:
                state.note_failure(failure.guard.sources)
        found = recompile_record(code, failures)
        if found is not None:
            if stance() == "fail_on_recompile":
                raise RecompileError(f"set_stance('fail_on_recompile'): {found}")
            self.record.add(found)
        return found

    # translating

    def _translate(
        self,
        function: types.FunctionType,
        code: types.CodeType,
        slots: tuple[Any, ...],
        state: FrameState,
    ) -> tuple[CompiledFrame, OutputGraph, RestartTranslation | None]:
        """Translate until no new break turns up, then write the code."""
        restart = self._expected.take(code, slots, state.patience)
        if restart is not None and restart.pointless:
            raise SkipFrame(restart.reason)
        attempts = 0
        while attempts < _MOST_RESTARTS:
            attempts += 1
            attempt = functools.partial(self._attempt, function, code, slots, state, restart)
            try:
                with own_casts():
                    frame, output = _core.keeping_modes(attempt)
                reached = restart is not None and restart.reached
                return frame, output, restart if reached else None
            except Reconsidered as learned:
                learned.drop_frames()
                state.lessons.add(learned.lesson)
                attempts -= 1
            except RestartTranslation as found:
                if not (found.pointless and found.reason.code == "GB0018"):
                    self._refuse_break(code, found.reason)
                restart = found.without_frames()
                self._expected.note(restart.reason)
                if found.pointless:
                    raise SkipFrame(restart.reason) from restart.reason
            except Unsupported as reason:
                reason.drop_frames()
                earlier = _earlier(reason, restart)
                if restart is not None:
                    reason = _uncut(reason, restart.reason)
                self._refuse_break(code, reason)
                if earlier is None:
                    raise SkipFrame(reason) from reason
                restart = earlier.without_frames()
        raise SkipFrame(restart.reason if restart is not None else None)

    def _attempt(
        self,
        function: types.FunctionType,
        code: types.CodeType,
        slots: tuple[Any, ...],
        state: FrameState,
        restart: RestartTranslation | None,
    ) -> tuple[CompiledFrame, OutputGraph]:
        if _core.place() is not None:
            raise SkipFrame(None)
        output = OutputGraph(function, state, wrap_value)
        names = code.co_varnames[: n_argument_slots(code)]
        output.guards.grad_mode(_core.grad_enabled())
        output.guards.modes(_core.guarded_modes())
        output.guards.class_version(ClassSource.of(Tensor), Tensor)
        tx: RootTranslator | None = None
        try:
            given = dict(zip(names, slots, strict=True))
            tx = RootTranslator(output, code, given, restart, handlers_for(PYTHON))
            inst = tx.run_to_break()
            if output.side_effects.locks and (inst is not None or not may_be_held(output)):
                raise Reconsidered(LOCKS)
            if not self.tensorless and not output.n_ops and (
                inst is None or not self._worth_cutting(code, slots)
            ):
                _guard_state(output)
                raise SkipFrame(None, tuple(output.guards.guards))
            expected = restart if restart is not None and restart.is_expected() else None
            if expected and not self.tensorless and _is_pointless(output, expected.reason):
                raise SkipFrame(expected.reason)
            frame = self._finish(tx, inst)
        except RestartTranslation as found:
            found.pointless = not self.tensorless and _is_pointless(output, found.reason)
            raise
        except (Reconsidered, Unsupported, SkipFrame, GraphBreakError):
            raise
        except BackendFailed as failed:
            raise failed.error from failed.error.__cause__
        except RecursionError as error:
            raise SkipFrame(Unsupported("GB0011", "Python's recursion limit")) from error
        except Exception as error:
            if raised_by_handler(error):
                raise
            if self.strict or self.fullgraph:
                raise InternalCaptureError(_bug_message(code, tx, error)) from error
            raise SkipFrame(_bug(code, tx, error)) from error
        finally:
            if tx is not None:
                tx.release()
            Signal.forget()
        return frame, output

    def _finish(self, tx: RootTranslator, inst: Instruction | None) -> CompiledFrame:
        compiler = FrameCompiler(tx, self._call_backend, self.graph_failed)
        try:
            check_places(tx)
            check_instance_dicts(tx)
            check_reread(tx.output)
            return compiler.finish_return() if inst is None else compiler.finish_break(inst)
        except Unsupported as reason:
            reason.blame(tx.last_native)
            raise
        finally:
            compiler.release()

    def _worth_cutting(self, code: types.CodeType, slots: tuple[Any, ...]) -> bool:
        """Whether the rest of a frame that breaks before any operation may have some."""
        return origin_of(code).code in self._roots or any(map(_holds_tensors, slots))

    def _call_backend(self, module: Any, examples: Sequence[Any]) -> Callable[..., Any]:
        """Call the backend; its errors become BackendFailed, those of capture do not."""
        try:
            return self.backend(module, examples)
        except Exception as error:
            raise BackendFailed(error) from error

    def _refuse_break(self, code: types.CodeType, reason: Unsupported) -> None:
        if self.fullgraph:
            raise GraphBreakError(break_message(reason)) from None

    # entries

    def _entry(
        self,
        code: types.CodeType,
        frame: CompiledFrame,
        output: OutputGraph,
        restart: RestartTranslation | None,
        program: _eval_frame.GuardProgram,
        costs: tuple[float, ...],
    ) -> _eval_frame.Entry:
        graphs = self._note_graphs(code, frame)
        broken = None
        if restart is not None:
            broken = break_record(restart.reason, False, code)
            self.record.add(broken)
        self.record.add(
            FrameRecord(
                place(code),
                tuple(program.guards),
                code,
                frame.code,
                resumed_at(code),
                graphs[0] if graphs else None,
                broken,
                costs[:-1],
                costs[-1] if costs else 0.0,
                tuple(graphs[1:]),
            )
        )
        return _eval_frame.Entry(
            program,
            code=frame.code,
            direct=frame.direct,
            select=frame.select,
            hooked=frame.hooked,
            line=frame.line,
            locks=frame.locks,
        )

    def _note_graphs(self, code: types.CodeType, frame: CompiledFrame) -> list[GraphRecord]:
        """Record the graph, or its pieces; and that the backend left one to run op by op."""
        graphs = []
        for module, n_ops in frame.graph.pieces:
            n_inputs = len(module.graph.placeholders)
            graphs.append(GraphRecord(module, place(code), n_ops, n_inputs))
            self.record.add(graphs[-1])
            if RUNS_EAGERLY in module.meta:
                reason = Unsupported("GB0020", module.meta[RUNS_EAGERLY])
                reason.note_location(place(code))
                self.record.add(break_record(reason, True, code))
        return graphs

    def _skipped(
        self,
        function: types.FunctionType,
        code: types.CodeType,
        slots: tuple[Any, ...],
        skip: SkipFrame,
        state: FrameState,
        places: tuple[Any, ...] | None,
    ) -> Any:
        """How to run a call that has nothing to compile.

        A call without tensors runs natively, and so does every call with values of the same types.
        Of calls with tensors those run natively that pass the guards found so far; if the
        translation did not reach the frame's end, the functions that it calls are still captured.
        A frame that the hook met, not a compiled function's own, runs natively for good.
        """
        if skip.reason is not None:
            skip.reason.note_location(place(code))
            self.record.add(break_record(skip.reason, True, code))
        self.record.skip(place(code), str(skip))
        if code not in self._roots:
            return None
        if places is not None:
            state.tensorless = True
            return places
        if skip.reason is not None:
            return _eval_frame.Entry(guards.compile([], code), code=code, hooked=True)
        program = guards.compile(list(skip.guards), code)
        if state.captures >= self.limit or guards.explain_failure(program, function, slots):
            return None
        return _eval_frame.Entry(program, code=code)


def _guard_state(output: OutputGraph) -> None:
    """Guards on what every graph depends on: defaults of tensors, and relations of sizes."""
    holder = ItemSource(AttrSource(ConstSource(dtypes, "dtypes"), "_default"), 0)
    output.guards.id_match(holder, dtypes.get_default_dtype())
    env = output.shape_env
    for relation in env.guards:
        symbols = {symbol.name: env.symbol_sources[symbol.name] for symbol in relation.symbols()}
        output.guards.shape_relation(relation.op, relation.lhs, relation.rhs, symbols)  # type: ignore[arg-type]


def _is_pointless(output: OutputGraph, reason: Unsupported) -> bool:
    """Whether to leave a frame that breaks without an operation to Python, nothing resumed.

    There are no tensors, or it breaks inside of a loop that would break again.
    """
    loops = reason.code == "GB0018" and reason.cut_at is not None
    return not output.n_ops and (loops or not (output.state.expects_tensors or output.inputs))


def _has_lines(code: types.CodeType) -> bool:
    """Whether tracebacks show lines of the code: in code that replaces it they always do."""
    return any(line is not None for _, _, line in code.co_lines())


def _file_of(function: types.FunctionType, code: types.CodeType) -> str:
    """The file of a function; that of its module where its code was generated."""
    if not code.co_filename.startswith("<"):
        return code.co_filename
    found = function.__globals__.get("__file__")
    return found if isinstance(found, str) else code.co_filename


def _earlier(
    reason: Unsupported, restart: RestartTranslation | None
) -> RestartTranslation | None:
    """A break before what could not be rebuilt was made, if that is a break further ahead."""
    step = reason.cut_at
    if step is None or step < 0:
        return None
    if restart is None:
        return RestartTranslation(step, reason)
    return RestartTranslation(step, restart.reason) if step < restart.step else None


def _uncut(reason: Unsupported, broken: Unsupported) -> Unsupported:
    """Why the frame cannot be cut in two, at the place and for the reason of its break."""
    both = Unsupported(reason.code, f"{reason.detail}; the break: {broken.detail}")
    both.location = reason.location or broken.location
    return both


def _holds_tensors(value: Any, depth: int = 2) -> bool:
    """Whether a value is, or holds, tensors or modules."""
    kind = type(value)
    if issubclass(kind, (_core.TensorBase, Module)):
        return True
    if depth and kind in (list, tuple, dict):
        members = list(value.values() if kind is dict else value)
        return any(_holds_tensors(member, depth - 1) for member in members[:100])
    if depth and not issubclass(kind, type):
        members = list(instance_dict(value).values())
        return any(_holds_tensors(member, depth - 1) for member in members[:100])
    return False


def _bug(code: types.CodeType, tx: RootTranslator | None, error: Exception) -> Unsupported:
    """The graph break of a frame that capture failed on."""
    reason = Unsupported("GB0021", f"{type(error).__name__}: {error}")
    reason.note_location(tx.place() if tx is not None else place(code))
    return reason


def _bug_message(code: types.CodeType, tx: RootTranslator | None, error: Exception) -> str:
    at = tx.place() if tx is not None else place(code)
    return (
        f"capture failed on {at.file}:{at.line}: {at.source}\n"
        f"  {type(error).__name__}: {error}\n"
        "  This is a bug in graphwright: please report it with this traceback. "
        "gw.compiler.disable on the function avoids it."
    )
