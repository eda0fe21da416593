"""What lowering a graph gives: the graphs, and how they meet the caller's tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.python_emitter import Script
from graphwright.runtime import _core
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.later import Later
from graphwright.runtime.ops.table import Op
from graphwright.runtime.record import Record, field
from graphwright.runtime.symbolic.places import values_of
from graphwright.runtime.symbolic.symint import SymInt

if TYPE_CHECKING:
    from graphwright.ir.graph.node import Node
    from graphwright.ir.joint.joint import Joint
    from graphwright.ir.joint.retape_plan import Apart
    from graphwright.ir.rounds import Removed

ViewStep = tuple[Op, tuple[Any, ...]]
"""A view op and its arguments after the tensor."""

UNRECORDED, ONE_OF_SEVERAL, OVERWRITTEN = 1, 2, 8    # bits of `_core.view_origin`


class CannotLower(Exception):
    """The graph is valid, but has something in it that the pipeline does not support."""


class OutputSpec(Record):
    """How the caller gets one of its results.

    kind "fresh": output `index` of the forward graph. "output": a view of that output, or the
    same tensor where `views` is empty. "input": a view of input `index`, or that input itself.
    "value": `value`, which is no tensor of the graph (a constant, or a size).

    origin: of a view, how it came about, from `_core.view_origin`: it decides whether the
    caller may read or write it where gradients are recorded, and whether it has a history,
    whatever the mode at the graph's end.
    """

    kind: str
    index: int = -1
    views: tuple[ViewStep, ...] = ()
    value: Any = None
    origin: int = 0

    def write(self, script: Script, inputs: Sequence[str], outputs: Sequence[str]) -> str:
        """The text of the result, after the statements that make it.

        Views are made by ops: autograd and version counters see them.
        """
        if self.kind == "value":
            value = self.value
            return script.value(value, {}) if type(value) is SymInt else script.constant(value)
        result = (inputs if self.kind == "input" else outputs)[self.index]
        if not (self.views or self.origin & (ONE_OF_SEVERAL | OVERWRITTEN)):
            return result
        name = f"v{len(script.lines)}"
        recorded = script.constant(not self.origin & UNRECORDED)
        for op, args in self.views:
            given = f"({result}, {script.values(args, {})})"
            made = script.call(_core.with_grad_mode, recorded, script.constant(dispatch),
                               script.constant(op), given)
            script.add(f"{name} = {made}")
            result = name
        if self.origin & ONE_OF_SEVERAL:
            script.add(script.call(_core.mark_multi_view, result))
        if self.origin & OVERWRITTEN:
            script.add(script.call(_core.mark_overwritten, result))
        return result


class Saved(Record):
    """A value that the backward graph takes from the forward's call.

    kind "output": output `index` of the forward graph. "input": the forward's input `index`, to
    be kept by the caller and version-checked. "size": the value of `size` for the call's sizes.
    """

    kind: str
    index: int = -1
    size: SymInt | None = None


class Kept(Record):
    """A tensor that a node of the tape saves in eager execution; see `ir.joint.eager_tape`.

    Attributes:
        place: ("input", i) or ("output", i) where the caller has its memory, else None.
        writes: how often the graph itself wrote to it after it was saved.
        version: its version when the graph ends, if it began with 0.
        tangents, gradients: positions in `Lowered.tangents` and `Lowered.grad_inputs`: it is
            read on the way from one of these to one of those.
        dtype, shape, saver, maker: what the error says about it: its type, the name of the node
            that saved it, name and output number of the one that made it.
    """

    place: tuple[str, int] | None
    writes: int
    version: int
    tangents: frozenset[int]
    gradients: frozenset[int]
    dtype: Any
    shape: tuple[Any, ...]
    saver: str
    maker: tuple[str, int] | None


class Activations(Record):
    """What a forward saves for the gradients, beside inputs and results.

    Attributes:
        saved: the names of the values, with their bytes at the sizes of the trace.
        eager_bytes: what eager execution saves.
        recomputed: the names of the operations that run again in the backward.
    """

    saved: tuple[tuple[str, int], ...]
    eager_bytes: int
    recomputed: tuple[str, ...]

    @property
    def saved_bytes(self) -> int:
        """The bytes of all saved values."""
        return sum(size for _, size in self.saved)


class Origin(Record, eq=False):
    """What a joint graph was made from, for others from the same: `ir.joint.absent_gradients`.

    Attributes:
        functional: the graph; inputs: what its placeholders stand for.
        joint: what was made of it, its outputs numbered as that numbers them.
        split: the joint graph of primitives that was split.
        nodes: its values in `Lowered.saved`, in that order.
    """

    functional: GraphModule
    inputs: Sequence[Any]
    joint: Joint
    split: GraphModule
    nodes: Sequence[Node]


class Graphs(Record):
    """The graphs that lowering makes.

    Attributes:
        forward: takes the captured graph's inputs. Returns the user's fresh results, then the
            new values of mutated inputs that need gradients, then what is saved for `backward`.
            It may end in `copy_(placeholder, value)` nodes.
        backward: takes `Lowered.saved`, then a gradient for each of `Lowered.tangents`; returns
            one gradient for each of `Lowered.grad_inputs`, or None for it. None if nothing
            requires grad.
        joint: gives the forward's outputs and then the gradients, by eager ops.
        origin: what `joint` and `backward` were made from.
    """

    forward: GraphModule
    backward: GraphModule | None = None
    joint: Callable[..., Any] | None = None
    origin: Origin | None = None


class Ends(Record):
    """How a forward graph meets its callers.

    Attributes:
        n_inputs, n_outputs: how many there are.
        symbols: size symbol -> (input, place in it: see `runtime.symbolic.places`).
        second_names: input -> the first of the inputs that are the same tensor.
        has_steps: whether it computes or writes anything.
    """

    n_inputs: int
    n_outputs: int
    symbols: dict[str, tuple[int, int]]
    second_names: dict[int, int]
    has_steps: bool

    def bind_sizes(self, args: Sequence[Any]) -> dict[str, Any]:
        """The values of the size symbols for these arguments."""
        return values_of(self.symbols, args)


def ends_of(forward: GraphModule) -> Ends:
    """The ends of a forward graph."""
    steps = ("call_function", "call_method", "call_module")
    results = forward.graph.output_node().args[0]
    count = len(results) if isinstance(results, (tuple, list)) else 1
    return Ends(len(forward.graph.placeholders), count, dict(forward.symbols),
                dict(forward.meta.get("second_names", {})),
                any(node.op in steps for node in forward.graph.nodes))


class Shortened(Record):
    """The forward graph of a graph with few of its rounds (see `ir.rounds`), and what the whole
    graph has more. `longer` lowers it with more rounds, where these are too few."""

    forward: GraphModule
    removed: Removed
    longer: Callable[[], Lowered | None] | None


class Lowered(Record, frozen=False):
    """A graph, lowered: how its programs are called, and the graphs that they are made from.

    Attributes:
        graphs: `forward`, `backward`, `joint` and `origin` are theirs; lowered when they are first
            asked for, where programs were loaded that need none.
        ends: how the forward graph meets its callers.
        outputs: for each result of the captured graph, how to get it.
        n_user_outputs: how many outputs of `forward` come before the saved ones.
        mutated: (input, output of `forward` holding its new value; -1 where `forward` itself
            writes the input).
        has_backward: whether there is a `backward`.
        saved: what `backward` takes first, in order.
        activations: what of that is made for `backward` alone.
        tangents: the outputs of `forward` whose gradients it takes, in order, dense in memory.
        grad_inputs: the inputs for which it returns gradients.
        reaches: for each of these the positions of the tangents that its gradient depends on.
        passages: the ways through the tape that can be gone once, unless it is retained, as eager
            execution saves something there: from which of `tangents` to which of `grad_inputs`,
            as bits of two numbers.
        rereads: for each of these, as bits of a number, those that gradients of its gradients go:
            they begin with what was saved there.
        arrivals: for each of these, as bits of a number, those of `tangents` whose outputs such
            gradients arrive at.
        latest_first: the positions of `tangents` in the order in which eager execution gets
            through with their gradients.
        apart: how a call is decomposed; None where no result is computed from another.
        reusable: whether there are others, on which nothing is saved.
        joint_tangents: the positions of `tangents` among the outputs of `joint`.
        expanded: of each gradient the dims of stride 0 that eager execution gives it; None where
            no graph describes the gradients.
        rng_ops: how many offsets the forward takes from the generator.
        kept: what gradients refuse to have been written in place, the first to be read first.
        made: the places in `kept` whose tensors are results, or inputs that the call writes.
        read: the inputs that the values of gradients depend on.
        shortened: what the program is made of, where `graphs` are left for later.
    """

    graphs: Graphs | Later[Graphs]
    ends: Ends
    outputs: list[OutputSpec] = field(default_factory=list)
    n_user_outputs: int = 0
    mutated: list[tuple[int, int]] = field(default_factory=list)
    has_backward: bool = False
    saved: list[Saved] = field(default_factory=list)
    activations: Activations | None = None
    tangents: list[int] = field(default_factory=list)
    grad_inputs: list[int] = field(default_factory=list)
    reaches: list[frozenset[int]] = field(default_factory=list)
    passages: list[tuple[int, int]] = field(default_factory=list)
    rereads: list[int] = field(default_factory=list)
    arrivals: list[int] = field(default_factory=list)
    latest_first: list[int] = field(default_factory=list)
    apart: Apart | None = None
    reusable: bool = False
    joint_tangents: list[int] = field(default_factory=list)
    expanded: list[tuple[int, ...]] | None = None
    rng_ops: int = 0
    kept: list[Kept] = field(default_factory=list)
    made: list[tuple[str, int]] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    shortened: Shortened | None = None

    def made_graphs(self) -> Graphs:
        """The graphs, lowered now if that was left for later."""
        graphs = self.graphs
        return graphs if isinstance(graphs, Graphs) else graphs.get()

    @property
    def forward(self) -> GraphModule:
        """See `Graphs`."""
        return self.made_graphs().forward

    @property
    def backward(self) -> GraphModule | None:
        """See `Graphs`."""
        return self.made_graphs().backward

    @property
    def joint(self) -> Callable[..., Any] | None:
        """See `Graphs`."""
        return self.made_graphs().joint

    @property
    def origin(self) -> Origin | None:
        """See `Graphs`."""
        return self.made_graphs().origin

    def is_plain(self) -> bool:
        """Whether the forward's outputs are the captured graph's results as they stand."""
        straight = [OutputSpec("fresh", i) for i in range(len(self.outputs))]
        return (self.outputs == straight and len(straight) == self.n_user_outputs
                and all(output < 0 for _, output in self.mutated))

    def written(self) -> list[int]:
        """Positions of the inputs that the call writes; of an alias its base's position, too."""
        first = self.ends.second_names
        return sorted({name for index, _ in self.mutated
                       for name in (index, first.get(index, index))})

    def results(self) -> Callable[..., tuple[Any, ...]]:
        """A function `(*inputs, outputs of forward) -> results of the call`."""
        script, inputs = self._script("outputs")
        self._finish(script, inputs)
        return script.function()

    def inference(self, forward: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
        """A function of the inputs: calls `forward`, writes what it mutates, gives the results.

        Nothing that it writes gets a history: a leaf may be written here in any grad mode. A
        forward that computes nothing is not called.
        """
        script, inputs = self._script()
        if self._computes():
            script.add(f"outputs = {script.call(forward, *inputs)}")
        for number, output in self.mutated:
            if output >= 0:
                script.add(script.call(_core.with_grad_mode, "False", f"{inputs[number]}.copy_",
                                       f"outputs[{output}]"))
        self._finish(script, inputs)
        return script.function()

    def _script(self, *more: str) -> tuple[Script, list[str]]:
        inputs = [f"i{number}" for number in range(self.ends.n_inputs)]
        return Script([*inputs, *more], self.ends.symbols), inputs

    def _finish(self, script: Script, inputs: Sequence[str]) -> None:
        outputs = [f"outputs[{number}]" for number in range(self.ends.n_outputs)]
        found = [spec.write(script, inputs, outputs) for spec in self.outputs]
        script.add(f"return ({''.join([f'{text}, ' for text in found])})")

    def _computes(self) -> bool:
        """Whether an output of `forward` is read, or it does anything beside."""
        read = any(spec.kind in ("fresh", "output") for spec in self.outputs)
        return read or bool(self.mutated) or self.rng_ops > 0 or self.ends.has_steps
