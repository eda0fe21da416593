"""The graph of one frame while it is translated: nodes, inputs, guards, side effects."""

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy

from graphwright.amp import state as amp
from graphwright.autograd.grad_mode import INFERENCE
from graphwright.capture.effects.class_templates import TemplateSource
from graphwright.capture.effects.frame_autograd import Tape
from graphwright.capture.effects.requires_grad import Recording
from graphwright.capture.effects.rng_reservations import Streams
from graphwright.capture.effects.side_effects import SideEffects
from graphwright.capture.exc import AttributeMissing, Unsupported, unsupported
from graphwright.capture.frame.budget import Budget
from graphwright.capture.frame.dynamic_marks import marks_of
from graphwright.capture.frame.state import FrameState
from graphwright.capture.guards.constant_tensors import note_known
from graphwright.capture.guards.frame_globals import GlobalNames
from graphwright.capture.guards.guards import GuardBuilder
from graphwright.capture.guards.scalar_sources import ScalarSource
from graphwright.capture.guards.source import ConstSource, MroSource, SizeSource, Source, readable
from graphwright.capture.guards.symbolic_strides import assume_nesting, holds_tensors
from graphwright.capture.guards.tensor_data_aliases import DataAliases
from graphwright.capture.trackers.base import Clock, IdVariable, VariableTracker
from graphwright.capture.trackers.callables.functions import CellVariable, FunctionVariable
from graphwright.capture.trackers.classes.classes import (
    BuiltinVariable,
    ClassVariable,
    OpaqueVariable,
)
from graphwright.capture.trackers.containers.mappings import container_of
from graphwright.capture.trackers.containers.sequences import SliceVariable, TupleVariable
from graphwright.capture.trackers.effects.warning_filters import run_in_block
from graphwright.capture.trackers.library.python_modules import PythonModuleVariable
from graphwright.capture.trackers.numbers.decomposed_calls import reconsider_as_parts
from graphwright.capture.trackers.numbers.scalar_operands import scalar_arguments, with_scalars
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.numbers.tensor_sizes import integer_arguments
from graphwright.capture.trackers.tensors.checkpointing import note_reread
from graphwright.capture.trackers.tensors.generators import with_drawings
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.lazy import LazyVariable
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.trackers.values.operator_tables import PLAIN
from graphwright.capture.vm.after_deferred_calls import refuse_shared_memory
from graphwright.capture.vm.fake_mode import FakeMode
from graphwright.capture.vm.wrap_results import plain_result, wrap_result
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.node import RECOMPUTED, Node
from graphwright.nn.module import Module
from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import FakeTensor, fake_like, make_fake
from graphwright.runtime.ops.strides import dense_order
from graphwright.runtime.symbolic.expr import Int
from graphwright.runtime.symbolic.relation import Relation
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tape.inplace import OF_LEAF
from graphwright.runtime.tape.node import requires_own_grad
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import int64
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.guards.lru_cache_lookups import Lookup
    from graphwright.capture.trackers.library.clock_and_random import Draw
    from graphwright.capture.vm.asserted_branches import Assumption
    from graphwright.capture.vm.object_protocols import Values

_USER_ERRORS = (
    RuntimeError,
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AttributeError,
)
Wrapper = Callable[["OutputGraph", Any, Source], VariableTracker]


class OutputGraph(GlobalNames):
    """Everything that translating one frame produces.

    graph: where operations go; whole: the frame's own, which has the inputs.
    marked: names of the size symbols that the user asked for.
    seed: of the random numbers, where the frame says it. inference: whether the operations of
        the graph, if there are any, run in inference mode.
    recomputed: whether operations are recomputed for gradients. reread: what those read
        that was there before, with its version and the step. without_history: whether Python
        records none of them.
    restored: the exception being handled again once those of the frame's start are done with.
    handling: the real one that the thread handles where the translation is.
    wrap_value: the table-driven function that makes a tracker of an existing value.
    """

    def __init__(
        self, function: types.FunctionType, state: FrameState, wrap_value: Wrapper
    ) -> None:
        super().__init__(function)
        self.state = state
        self.graph = self.whole = Graph()
        self.guards = GuardBuilder()
        self.side_effects = SideEffects()
        self.shape_env = ShapeEnv()
        self.inputs: dict[Node, Source] = {}
        self.n_ops = 0
        self.budget = Budget(state.patience)
        self.grad_nodes = 0
        self.autocast_nodes = 0
        self.ids: dict[VariableTracker, IdVariable] = {}
        self.hashed: dict[VariableTracker, None] = {}
        self.restored: VariableTracker | None = None
        self.handling = sys.exception()
        self.initial_grad_mode = _core.grad_enabled()
        self.initial_modes = _core.modes()
        self.fake_mode = FakeMode()
        self.int_inputs: dict[Source, Node] = {}
        self._wrap_value = wrap_value
        self._by_source: dict[Source, VariableTracker] = {}
        self._by_identity: dict[int, VariableTracker] = {}
        self._alive: list[Any] = []
        self._tensors: dict[int, TensorVariable] = {}
        self._versions: dict[Node, int] = {}
        self._cells: dict[int, CellVariable] = {}
        self._floats: dict[Source, TensorVariable] = {}
        self.marked: set[str] = set()
        self._real: dict[Node, Any] = {}
        self.check_read: Callable[[VariableTracker, Source], None] | None = None
        self.shared: list[tuple[FakeTensor, int, int]] = []
        self.seed: VariableTracker | None = None
        self.inference: bool | None = None
        self.draws: list[Draw] = []
        self.watches: list[Any] = []
        self.lookups: dict[VariableTracker, Lookup] = {}
        self.streams = Streams()
        self.assumptions: list[Assumption] = []
        self.recomputed = self.without_history = False
        self.reread: dict[int, tuple[FakeTensor, int, int]] = {}
        self.tape = Tape(self)
        self.data = DataAliases(self)
        self.recording = Recording(self)
        self.integers = False

    def release(self) -> None:
        """Release the user's objects; the graph and the guards stay."""
        for tracker in (*self._by_identity.values(), *self.side_effects.created):
            tracker.release()
        for known in (self._by_source, self._by_identity, self._cells, self._real, self.ids):
            known.clear()
        self.handling = None
        self.hashed.clear()
        self._alive.clear()
        self.side_effects = SideEffects()

    # existing values

    def wrap(self, value: Any, source: Source) -> VariableTracker:
        """The tracker of an existing value, with the guards that it needs."""
        fresh = bool(self.side_effects.calls) and source not in self._by_source
        known = self._wrap(value, source)
        if fresh and not isinstance(known, _UNAFFECTED):
            self.side_effects.refuse_after_calls(tensors=True)
        if self.check_read is not None:
            self.check_read(known, source)
        return known

    def _wrap(self, value: Any, source: Source) -> VariableTracker:
        known = self._by_source.get(source)
        if known is not None:
            return known
        known = self._by_identity.get(id(value))
        if known is None:
            known = self._wrap_value(self, value, source)
            if known.mutable:
                self._by_identity[id(value)] = known
                self._alive.append(value)
        elif known.source is not None and not isinstance(source, ConstSource):
            self.guards.same_object(known.source, source)
        self._by_source[source] = known
        return known

    def wrap_place(self, value: Any, source: Source) -> VariableTracker:
        """As `wrap`; nothing is known of the value, and no guard made, where it keeps varying."""
        known = self.tracked(value)
        wanted = (known is not None and known.source is None) or bool(self.side_effects.calls)
        of_graph = issubclass(type(value), (_core.TensorBase, Module))
        if not (wanted or of_graph) and self.state.leaves_alone(source):
            self._by_source.setdefault(source, OpaqueVariable(value, source))
        return self.wrap(value, source)

    def wrap_lazily(self, value: Any, source: Source) -> VariableTracker:
        """As `wrap`, once somebody looks."""
        return self._by_source.get(source) or LazyVariable(self, value, source)

    def wrap_attribute(
        self, owner: TensorVariable, source: Source, name: str
    ) -> VariableTracker:
        """An attribute of a real input tensor that is not part of its type."""
        return self.wrap(getattr(self._real[owner.node], name), source)

    def stands_for(self, value: Any, tracker: VariableTracker) -> None:
        """Let an object made while translating be the tracker wherever it is met."""
        self._by_identity[id(value)] = tracker
        self._alive.append(value)

    def read_anew(self, attr: str) -> None:
        """An attribute of classes that the frame makes is no longer what it was."""
        for source in [s for s in self._by_source if isinstance(s, MroSource)]:
            if source.attr == attr and isinstance(source.base, TemplateSource):
                del self._by_source[source]

    def tracked(self, value: Any) -> VariableTracker | None:
        """The tracker of a mutable object that was wrapped before."""
        return self._by_identity.get(id(value))

    def met(self) -> list[VariableTracker]:
        """The trackers of all mutable objects that were wrapped."""
        return list(self._by_identity.values())

    def constant(self, value: Any) -> VariableTracker:
        """The tracker of a value that needs no guard; each run makes lists and dicts anew."""
        if isinstance(value, VariableTracker):
            return value
        if type(value) in (tuple, list, dict):
            return container_of(value, self.constant)
        if type(value) is slice:
            return SliceVariable([*map(self.constant, (value.start, value.stop, value.step))])
        if isinstance(value, _NEEDS_WRAPPING):
            return self.wrap(value, ConstSource(value))
        return ConstantVariable(value)

    def code_constant(self, value: Any) -> VariableTracker:
        """The tracker of a constant of code: a tuple is one object wherever it is loaded."""
        if type(value) is not tuple or not value:
            return self.constant(value)
        source = ConstSource(value)
        known = self._by_source.get(source)
        if known is None:
            items = [self.code_constant(item) for item in value]
            known = self._by_source[source] = TupleVariable(items, source)
        return known

    def cell(
        self, cell: types.CellType, contents: Source, push: Callable[[Any], None]
    ) -> CellVariable:
        """The tracker of an existing cell."""
        known = self._cells.get(id(cell))
        if known is not None:
            return known
        try:
            value = self.wrap_lazily(cell.cell_contents, contents)
        except ValueError:
            self.guards.missing(contents)
            value = None
        known = self._cells[id(cell)] = CellVariable(value, push)
        return known

    # graphs that are thrown away

    @contextmanager
    def rehearsing(self) -> Iterator[SideEffects]:
        """Operations go into another graph, which is forgotten; gives the block's effects."""
        graph, effects = self.graph, self.side_effects
        counts = self.n_ops, self.grad_nodes
        if effects.globals or any(cell.push_cell is not None for cell in effects.cells):
            unsupported("GB0004", "a Function after the frame has changed globals or cells")
        self.graph, self.side_effects = Graph(), SideEffects(effects)
        try:
            yield self.side_effects
        finally:
            self.graph, self.side_effects = graph, effects
            self.n_ops, self.grad_nodes = counts

    def _is_rehearsal(self) -> bool:
        return self.side_effects.earlier is not None

    def stand_in(self, fake: FakeTensor) -> TensorVariable:
        """A tensor like another one, with memory of its own, of the graph to be forgotten."""
        node = self.graph.placeholder("stand_in")
        copy = make_fake(fake.shape, fake.stride(), fake.dtype, fake.device, fake.requires_grad)
        node.meta["val"] = copy
        variable = self._tensors[id(copy)] = TensorVariable(node, copy, Tensor)
        return variable

    def note_shared(self, inputs: list[VariableTracker], result: VariableTracker) -> None:
        """Remember results of an operation that are aliases of its arguments.

        In graphs that are derived from this one they are copies: neither the result nor the
        argument may be written, nor leave the graph.
        """
        storages = {id(v.fake._storage) for v in inputs if isinstance(v, TensorVariable)}
        for made in (result, *result.parts()):
            if isinstance(made, TensorVariable) and id(made.fake._storage) in storages:
                self.shared.append((made.fake, made.fake._storage._version, Clock.step))

    # graphs within the graph

    @contextmanager
    def subgraph(self, graph: Graph | None = None) -> Iterator[Graph]:
        """Within the block operations go into `graph`, by default a new one; it is given.

        They may take values of the graph around it. Inputs of the frame are those of the whole.
        """
        outer, counts = self.graph, (self.grad_nodes, self.autocast_nodes)
        self.graph = Graph() if graph is None else graph
        try:
            yield self.graph
        finally:
            self.graph = outer
            self.grad_nodes, self.autocast_nodes = counts

    def memory_versions(self) -> dict[int, int]:
        """How often the memory of each tensor was written, by the id of its storage."""
        known = (variable.fake._storage for variable in self._tensors.values())
        return {id(storage): storage._version for storage in known}

    # inputs

    def tensor_input(self, value: Any, source: Source) -> TensorVariable:
        """Make a tensor an argument of the graph."""
        places = self.state.dynamic_places(value, source)
        sources = {place: SizeSource(source, place) for place in places}
        fake = fake_like(value, self.shape_env, places, sources)
        if places and dense_order(value.shape, value.stride()) is None:
            assume_nesting(fake, value)
        self._bound(fake, value, places)
        variable = self.add_input(value, fake, source, type(value))
        if self.recording.begins(value, source):
            self.recording.begin(variable)
        return variable

    def add_input(
        self, value: Any, fake: FakeTensor, source: Source, cls: type
    ) -> TensorVariable:
        """An argument of the graph that `fake` stands for."""
        self.budget.meet_tensor()
        node = self._placeholder(readable(source), source)
        node.meta["val"] = fake
        variable = TensorVariable(node, fake, cls, source)
        self._tensors[id(fake)] = variable
        self._versions[node] = fake._storage._version
        self._real[node] = value
        return variable

    def _bound(self, fake: FakeTensor, value: Any, places: tuple[int, ...]) -> None:
        """Guards on the bounds that the user gave for symbolic sizes, whose names it notes."""
        for dim, (least, most) in marks_of(value).dynamic.items():
            size = fake.shape[dim]
            if dim in places and isinstance(size, SymInt):
                self.marked.update(symbol.name for symbol in size.expr.symbols())
                for op, bound in ((">=", least), ("<=", most)):
                    if bound is not None:
                        relation = Relation(op, size.expr, Int(bound))
                        self.shape_env.evaluate_bool(relation)

    def float_input(self, value: float, source: ScalarSource) -> TensorVariable:
        """Make a symbolic number an argument of the graph: a 0-d tensor."""
        known = self._floats.get(source)
        if known is None:
            fake = fake_like(source.maker(value))
            node = self._placeholder(readable(source.base), source)
            node.meta["val"] = fake
            known = self._floats[source] = TensorVariable(node, fake, Tensor)
            self._tensors[id(fake)] = known
        return known

    def place_input(self, source: Source) -> Node:
        """Draws that were reserved of a generator as an argument of the graph."""
        node = self._placeholder(readable(source), source)
        node.meta["val"] = make_fake((2,), (1,), int64, Device("cpu"))
        return node

    def int_input(self, value: int, source: Source) -> VariableTracker:
        """Make an int a symbol of the graph."""
        symbol = self.shape_env.create_symbol(value, source, size=False)
        assert isinstance(symbol, SymInt)
        return SymIntVariable(symbol, source)

    def _placeholder(self, name: str, source: Source) -> Node:
        if self.check_read is not None:
            unsupported("GB0004", f"a Function that reads the tensor {source}")
        last = next(reversed(self.inputs), None)
        with self.whole.inserting_after(last) if last else self.whole.inserting_before(
            next(iter(self.whole.nodes), None)
        ):
            node = self.whole.placeholder(name)
        node.meta["source"] = source
        self.inputs[node] = source
        return node

    def symbol_input(self, source: Source) -> Node:
        """The int placeholder for a symbol that is an argument itself."""
        node = self.int_inputs.get(source)
        if node is None:
            node = self.int_inputs[source] = self._placeholder(readable(source), source)
        return node

    def mutated_inputs(self) -> list[Node]:
        """The tensor inputs whose memory the graph writes."""
        return [
            node
            for node, version in self._versions.items()
            if node.meta["val"]._storage._version != version
        ]

    def guard_hashed(self) -> None:
        """Guard that objects which are different keys of a dict or set stay different objects."""
        found = [key.identity_source() for key in self.hashed]
        sources = list(dict.fromkeys(source for source in found if source is not None))
        if len(sources) > 1:
            self.guards.no_alias(sources)

    def guard_distinct(self) -> None:
        """What the frame wrote must not also be another object that it read."""
        written = [*self.side_effects.containers(), *self.side_effects.attributes]
        written = [getattr(value, "owner", None) or value for value in written]
        kinds = {owner.python_type() for owner in written if owner.source is not None}
        for lookup in self.lookups.values():
            lookup.check_writes(kinds)
        for kind in kinds:
            alike = [
                known.source
                for known in self._by_identity.values()
                if known.source is not None and known.has_type(kind)
            ]
            self.guards.no_alias(alike)
        if len(generators := self.streams.existing()) > 1:
            self.guards.no_alias(generators)

    def real_inputs(self) -> dict[Node, Any]:
        """The tensors of this call, by placeholder."""
        return self._real

    # operations

    def run(
        self,
        tx: Values,
        kind: str,
        target: Any,
        args: list[VariableTracker],
        kwargs: dict[str, VariableTracker],
    ) -> VariableTracker:
        """Run an operation on fake tensors and add it to the graph."""
        args, kwargs, drawings = with_drawings(tx, args, kwargs)
        if target in PLAIN and not isinstance(args[0].realize(), TensorVariable):
            target = PLAIN[target]
        with_tensors = with_scalars(tx, kind, target, args, kwargs)
        if with_tensors is not None:
            return with_tensors
        args = [arg.realize() for arg in args]
        kwargs = {key: value.realize() for key, value in kwargs.items()}
        args, kwargs = scalar_arguments(tx, target, args, kwargs)
        if self.integers:
            args, kwargs = integer_arguments(tx, target, args, kwargs)
        examples = [arg.as_example() for arg in args]
        keywords = {key: value.as_example() for key, value in kwargs.items()}
        if self.side_effects.calls:
            refuse_shared_memory(self, (*examples, *keywords.values()))
        if self.recomputed:
            note_reread(self, (*args, *kwargs.values()))
        drew, self.fake_mode.random = self.fake_mode.random, False
        fixed = self.shape_env.fixed
        run = run_in_block(self._run_fake) if self.side_effects.blocks else self._run_fake
        result = run(kind, target, examples, keywords)
        if self.shape_env.fixed > fixed:
            reconsider_as_parts(self.state, target, [*args, *kwargs.values()])
        for drawing in drawings:
            drawing.finish()
        random = self.fake_mode.random
        self.fake_mode.random = drew or random
        if result is not None and not holds_tensors(result):
            return plain_result(self, result, target)
        self._note_inference()
        nodes = tuple([arg.as_node(tx) for arg in args])  # type: ignore[arg-type]
        keyword_nodes = {key: value.as_node(tx) for key, value in kwargs.items()}  # type: ignore
        node = self.graph.create_node(kind, target, nodes, keyword_nodes)
        node.meta["stack"] = tx.location()  # type: ignore[attr-defined]
        node.meta["val"] = result
        if self.recomputed:
            node.meta[RECOMPUTED] = True
        self.n_ops += 1
        self.budget.meet_tensor()
        self.integers = note_known(node, result, random) or self.integers
        self.data.check([*args, *kwargs.values()], result)
        self.recording.check_writes()
        for arg in args:
            if isinstance(arg, TensorVariable) and arg.present().fake is result:
                return arg
        return wrap_result(self, node, result)

    def _note_inference(self) -> None:
        """A break where a graph would run partly in inference mode."""
        present = bool(_core.modes() & INFERENCE)
        if self.inference not in (None, present):
            unsupported("GB0004", "operations with and without inference mode in one graph")
        self.inference = present

    def _run_fake(
        self, kind: str, target: Any, examples: list[Any], keywords: dict[str, Any]
    ) -> Any:
        previous = _core.set_tracer(self.fake_mode)
        try:
            if kind == "call_method":
                return getattr(examples[0], target)(*examples[1:], **keywords)
            return target(*examples, **keywords)
        except DataDependent as error:
            unsupported("GB0002", str(error))
        except Unsupported:
            raise
        except AttributeError as error:
            if target is getattr:
                raise AttributeMissing("GB0007", f"AttributeError: {error}") from error
            unsupported("GB0007", f"AttributeError: {error}")
        except _USER_ERRORS as error:
            written = OF_LEAF in str(error)
            if written and self.tape.note_earlier([*examples, *keywords.values()]):
                return self._run_fake(kind, target, examples, keywords)
            unsupported("GB0007", f"{type(error).__name__}: {error}")
        finally:
            _core.set_tracer(previous)

    def computed(self, node: Node, value: Any) -> TensorVariable:
        """The tracker of a tensor that a node computes."""
        known = self._tensors.get(id(value))
        if known is not None:
            return known
        if not isinstance(value, FakeTensor):
            value = fake_like(value)
            node.meta["val"] = value
        if requires_own_grad(value) and value.is_leaf and not self._is_rehearsal():
            self.tape.note_leaf(value)
        variable = self._tensors[id(value)] = TensorVariable(node, value, Tensor)
        return variable

    def detached(self, owner: TensorVariable) -> TensorVariable:
        """An alias of a tensor that stands for it in operations."""
        node = self.graph.call_method("detach", (owner.node,))
        fake = node.meta["val"] = self._run_fake("call_method", "detach", [owner.fake], {})
        self._tensors[id(fake)] = owner
        return TensorVariable(node, fake, Tensor)

    def rebind(self, owner: TensorVariable, view: VariableTracker) -> None:
        """A tensor becomes a view of itself: what stands for it stands for the view."""
        assert isinstance(view, TensorVariable)
        self.side_effects.touch(owner)
        owner.node, owner.fake = view.node, view.fake
        self._tensors[id(view.fake)] = owner

    def variable_of(self, fake: FakeTensor) -> TensorVariable:
        """The tracker of a fake tensor that the frame works with."""
        return self._tensors[id(fake)]

    def set_grad_mode(self, tx: Values, enabled: bool) -> None:
        """Change grad mode, here and in the graph."""
        if _core.grad_enabled() == enabled:
            return
        _core.set_grad_enabled(enabled)
        self._switch(tx, _core.set_grad_enabled, enabled)
        self.grad_nodes += 1

    def set_autocast(self, tx: Values, bits: int) -> None:
        """Change autocast's state, here and in the graph."""
        if amp.current() == bits:
            return
        amp.set_autocast(bits)
        self._switch(tx, amp.set_autocast, bits)
        self.autocast_nodes += 1

    def _switch(self, tx: Values, function: Callable[..., Any], value: Any) -> None:
        """Add a node that changes a mode for those after it."""
        node = self.graph.call_function(function, (value,))
        node.meta["stack"] = tx.location()  # type: ignore[attr-defined]
        node.meta["val"] = None


_UNAFFECTED = (
    FunctionVariable, ClassVariable, BuiltinVariable, PythonModuleVariable, ObjectVariable,
)  # fmt: skip
_NEEDS_WRAPPING = (
    types.FunctionType, types.ModuleType, types.BuiltinFunctionType, type, range, enum.Enum,
    numpy.generic, _core.OpFunction,
)  # fmt: skip
