"""What eager execution would keep for its gradients, as far as anybody can write to it.

A node of the tape remembers the version of each tensor that it saves, and refuses to compute
gradients once the tensor was written in place. A lowered graph has one node on the tape, which
saves other tensors, and writes to memory in another order. So the graph is run once on fake
tensors with the tape on, as eager execution would run it, and the tape is read: which of the
caller's tensors it saved, and which tensors the graph itself wrote to after they were saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Any

from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node as IrNode
from graphwright.ir.graph.node import map_leaves
from graphwright.ir.joint.joint import Joint
from graphwright.ir.lowered_graph import Kept, OutputSpec
from graphwright.ir.trace import fresh_fake, refusals_of, tracing
from graphwright.runtime._core import TensorBase
from graphwright.runtime.fake.fake_tensor import FakeTensor, fake_kernel, fake_like
from graphwright.runtime.ops.table import Op
from graphwright.runtime.symbolic.symint import hint_of
from graphwright.runtime.tape.function import FunctionNode
from graphwright.runtime.tape.inplace import CopySlices
from graphwright.runtime.tape.node import Edge, Node, OpNode, gradient_edge
from graphwright.runtime.tape.saved import SavedTensor


class History:
    """The tape of a graph's fake tensors.

    inputs: what the graph was run on, as it left them; results: what it gave.
    """

    def __init__(self, inputs: Sequence[Any], begins: Sequence[_Begin], results: Sequence[Any]
                 ) -> None:
        self.inputs, self.begins, self.results = inputs, begins, results

    def kept(
        self, joint: Joint, outputs: Sequence[OutputSpec], mutated: Sequence[tuple[int, int]]
    ) -> list[Kept]:
        """What gradients read and the caller, or the graph, may have written; latest first.

        Args:
            outputs: how the caller gets the results; mutated: as in `Lowered`.
        """
        roots = self._roots(joint.tangents, outputs, mutated)
        nodes, above = reached(roots)
        below = self._leading(nodes, joint.grad_inputs)
        places = self._places(outputs)
        found: dict[object, Kept] = {}
        for node in nodes:
            for saved, maker in saved_by(node):
                tensor = saved.tensor
                place = places.get(id(tensor._storage))
                writes = tensor._version - saved.version
                if below[node] and (place is not None or writes):
                    known = (place, above[node], below[node]) if not writes else len(found)
                    found.setdefault(known, Kept(
                        place, writes, tensor._version, _bits(above[node]), _bits(below[node]),
                        tensor.dtype, tuple(tensor.shape), node.name(), maker))
        return list(found.values())

    def saved_bytes(
        self, joint: Joint, outputs: Sequence[OutputSpec], mutated: Sequence[tuple[int, int]]
    ) -> int:
        """How much memory eager execution keeps for the gradients, beside inputs and results, at
        the sizes of the trace."""
        nodes, _ = reached(self._roots(joint.tangents, outputs, mutated))
        places = self._places(outputs)
        tensors = [saved.tensor for node in nodes for saved, _ in saved_by(node)]
        bases = [tensor if tensor._base is None else tensor._base for tensor in tensors]
        sizes = {id(base._storage): base.dtype.itemsize * hint_of(base.numel()) for base in bases}
        return sum(size for storage, size in sizes.items() if storage not in places)

    def reaches(
        self, joint: Joint, outputs: Sequence[OutputSpec], mutated: Sequence[tuple[int, int]]
    ) -> list[frozenset[int]]:
        """For each of `joint.grad_inputs` the positions of the tangents that lead to it."""
        _, above = reached(self._roots(joint.tangents, outputs, mutated))
        return [_bits(above.get(self.begins[index], 0)) for index in joint.grad_inputs]

    def passages(
        self, joint: Joint, outputs: Sequence[OutputSpec], mutated: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """What `Lowered.passages` is: the ways through nodes that have saved something."""
        nodes, above = reached(self._roots(joint.tangents, outputs, mutated))
        below = self._leading(nodes, joint.grad_inputs)
        return sorted({
            (above[node], below[node]) for node in nodes if below[node] and has_saved(node)
        })

    def rereads(
        self, joint: Joint, outputs: Sequence[OutputSpec], mutated: Sequence[tuple[int, int]]
    ) -> list[int]:
        """What `Lowered.rereads` is: the passages behind what the nodes of each have saved."""
        ways = self.passages(joint, outputs, mutated)
        return self._behind_saved(joint, outputs, mutated, lambda way: 1 << ways.index(way), {})

    def arrivals(
        self, joint: Joint, outputs: Sequence[OutputSpec], mutated: Sequence[tuple[int, int]]
    ) -> list[int]:
        """`Lowered.arrivals`: results whose gradients reach nodes with saved values."""
        results: dict[Any, int] = {}
        for bit, tensors in enumerate(self._roots(joint.tangents, outputs, mutated)):
            for edge in map(edge_of, tensors):
                if edge is not None:
                    results[edge[0]] = results.get(edge[0], 0) | 1 << bit
        return self._behind_saved(joint, outputs, mutated, lambda way: 0, results)

    def ways(
        self, joint: Joint, outputs: Sequence[OutputSpec], mutated: Sequence[tuple[int, int]]
    ) -> dict[Node, int]:
        """Of nodes that have saved something, the places of their ways in `passages`."""
        nodes, above = reached(self._roots(joint.tangents, outputs, mutated))
        below = self._leading(nodes, joint.grad_inputs)
        places = {way: place for place, way in enumerate(self.passages(joint, outputs, mutated))}
        return {node: places[above[node], below[node]] for node in nodes
                if below[node] and has_saved(node)}

    def _behind_saved(
        self, joint: Joint, outputs: Sequence[OutputSpec], mutated: Sequence[tuple[int, int]],
        of_way: Callable[[tuple[int, int]], int], of_node: dict[Any, int],
    ) -> list[int]:
        """For each passage the bits of ways, and of nodes, behind what its nodes have saved."""
        nodes, above = reached(self._roots(joint.tangents, outputs, mutated))
        below = self._leading(nodes, joint.grad_inputs)
        numbers = {way: bit for bit, way in enumerate(self.passages(joint, outputs, mutated))}
        behind: dict[Any, int] = {}
        found = [0] * len(numbers)
        for node in reversed(nodes):
            way = (above[node], below[node])
            passed = way in numbers and has_saved(node)
            edges = [behind.get(edge[0], 0) for edge in node.edges if edge is not None]
            own = of_node.get(node, 0) | (of_way(way) if passed else 0)
            behind[node] = reduce(or_, edges, own)
            if passed:
                makers = [node if saved.is_output else saved.tensor.grad_fn
                          for saved, _ in saved_by(node)]
                bit = numbers[way]
                found[bit] = reduce(or_, [behind.get(maker, 0) for maker in makers], found[bit])
        return found

    def latest_first(
        self, joint: Joint, outputs: Sequence[OutputSpec], mutated: Sequence[tuple[int, int]]
    ) -> list[int]:
        """The positions of the tangents, those first whose tensors were made last."""
        edges = [[edge for edge in map(edge_of, tensors) if edge is not None]
                 for tensors in self._roots(joint.tangents, outputs, mutated)]
        made = [min([edge[0].sequence for edge in found if isinstance(edge[0], Node)], default=0)
                for found in edges]
        return sorted(range(len(made)), key=lambda number: -made[number])

    def _roots(
        self, tangents: Sequence[int], outputs: Sequence[OutputSpec],
        mutated: Sequence[tuple[int, int]],
    ) -> list[list[Any]]:
        """The fake tensors behind each of the tangents."""
        written = {place: index for index, place in mutated if place >= 0}
        roots: list[list[Any]] = []
        for tangent in tangents:
            index = written.get(tangent, -1)
            behind = [result for result, spec in zip(self.results, outputs, strict=True)
                      if (spec.kind in ("fresh", "output") and spec.index == tangent)
                      or (spec.kind == "input" and spec.index == index)]
            roots.append(behind if index < 0 else [*behind, self.inputs[index]])
        return roots

    def _leading(self, nodes: Sequence[Node], grad_inputs: Sequence[int]) -> dict[Node, int]:
        """For each node the gradients that it contributes to, as bits of a number."""
        leads: dict[Any, int] = {}
        for bit, index in enumerate(grad_inputs):
            begin = self.begins[index]
            leads[begin] = leads.get(begin, 0) | 1 << bit
        for node in reversed(nodes):
            for edge in node.edges:
                if edge is not None:
                    leads[node] = leads.get(node, 0) | leads.get(edge[0], 0)
        return {node: leads.get(node, 0) for node in nodes}

    def _places(self, outputs: Sequence[OutputSpec]) -> dict[int, tuple[str, int]]:
        """Where the caller has the memory of tensors, by the ids of their storages."""
        places = {id(fake._storage): ("input", index)
                  for index, fake in enumerate(self.inputs) if isinstance(fake, FakeTensor)}
        for result, spec in zip(self.results, outputs, strict=True):
            if spec.kind in ("fresh", "output"):
                places.setdefault(id(result._storage), ("output", spec.index))
        return places


class _Begin(Node):
    """Stands for the history of an input: with it, in-place writes to the input are allowed."""

    __slots__ = ()


class _AsEager:
    """The tracer of a run on fake tensors that makes the choices of eager execution."""

    whole_functions = False
    fused_kernels = True

    def record(self, op: Op, args: tuple[Any, ...]) -> Any:
        if op.meta is None and op.functional is None:
            return NotImplemented
        return fake_kernel(op, map_leaves(args, _fake))


def _fake(leaf: Any) -> Any:
    real = isinstance(leaf, TensorBase) and not isinstance(leaf, FakeTensor)
    return fake_like(leaf) if real else leaf


class _Run(Interpreter):
    """Raises CannotLower where an operation refuses its arguments."""

    def run_node(self, node: IrNode) -> Any:
        with refusals_of(node):
            return super().run_node(node)


def history_of(module: GraphModule, fake_inputs: Sequence[Any]) -> History:
    """Run a captured graph with the tape on. Raises: CannotLower where eager execution fails."""
    inputs = [fresh_fake(value) for value in fake_inputs]
    begins: list[Any] = [None] * len(inputs)
    for index, (value, given) in enumerate(zip(inputs, fake_inputs, strict=True)):
        if isinstance(value, FakeTensor) and given.requires_grad:
            begins[index] = _Begin("", ())
            begins[index].attach(value)
    with tracing(_AsEager(), autocast=True):
        results = _Run(module).run(*inputs)
    return History(inputs, begins, results)


def reached(roots: Sequence[Sequence[Any]]) -> tuple[list[Node], dict[Node, int]]:
    """The nodes behind lists of tensors, latest first; by which lists, as bits of a number."""
    above: dict[Node, int] = {}
    for bit, tensors in enumerate(roots):
        for edge in map(edge_of, tensors):
            if edge is not None and isinstance(edge[0], Node):
                above[edge[0]] = above.get(edge[0], 0) | 1 << bit
    pending = list(above)
    while pending:
        for edge in pending.pop().edges:
            if edge is not None and edge[0] not in above and isinstance(edge[0], Node):
                above[edge[0]] = 0
                pending.append(edge[0])
    nodes = sorted(above, key=lambda node: -node.sequence)
    for node in nodes:
        for edge in node.edges:
            if edge is not None and edge[0] in above:
                above[edge[0]] |= above[node]
    return nodes, above


def edge_of(tensor: FakeTensor) -> Edge:
    """The edge that receives the tensor's gradient; None for a view whose history is invalid."""
    try:
        return gradient_edge(tensor)
    except RuntimeError:
        return None


def saved_by(node: Node) -> Iterator[tuple[SavedTensor, tuple[str, int] | None]]:
    """What a node saved, and which output of which node that is."""
    if isinstance(node, CopySlices):
        node = node.inner
    if isinstance(node, FunctionNode):
        for value, number in node.context._saved or ():
            if value is not None:
                yield value, (node.name(), number) if value.is_output else _maker(value.tensor)
    elif isinstance(node, OpNode):
        for arg in node.args or ():
            values = arg if isinstance(arg, list) else [arg]
            yield from ((value, _maker(value.tensor)) for value in values
                        if isinstance(value, SavedTensor))
        for (number, _), value in zip(node.op.saved_outputs, node.saved_outputs, strict=True):
            if value is not None:
                yield value, (node.name(), number)


def has_saved(node: Node) -> bool:
    """Whether the node refuses to be passed again, unless the graph was retained."""
    if isinstance(node, CopySlices):
        node = node.inner
    if isinstance(node, FunctionNode):
        return bool(node.context._saved)
    return isinstance(node, OpNode) and node.has_saved()


def _maker(tensor: FakeTensor) -> tuple[str, int] | None:
    maker = tensor.grad_fn
    return None if maker is None or isinstance(maker, _Begin) else (maker.name(), tensor.output_nr)


def _bits(number: int) -> frozenset[int]:
    return frozenset(bit for bit in range(number.bit_length()) if number >> bit & 1)

