"""Lower a whole graph of primitives: `lower_graph(module, fake_inputs) -> LoweredGraph`."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from graphwright.codegen.lowering import (
    contractions,
    creation,
    indexing,
    pointwise,
    reductions,
    views,
    windows,
    writes,
)
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    Unlowerable,
    broadcast,
    convert,
    shape_of,
)
from graphwright.codegen.lowering.nodes import (
    Body,
    LoopNode,
    Mutation,
    Shape,
    Source,
    View,
    axis_symbols,
)
from graphwright.codegen.lowering.routines import ROUTINES, TAKES
from graphwright.codegen.lowering.rules import RULES, Call, Rule
from graphwright.codegen.lowering.writes import resolved
from graphwright.ir.graph.node import LISTS, ROUND, Node
from graphwright.runtime.record import Record, field
from graphwright.runtime.symbolic.expr import Expr, Int, Sym
from graphwright.runtime.symbolic.places import STRIDE, WHOLE
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype, int64

FAMILIES = (contractions, creation, indexing, pointwise, reductions, views, windows,
            writes)
"""The modules whose import fills the table of rules."""
CPU_RULES: Mapping[str, Rule] = {**RULES, **ROUTINES}
"""Of programs that have the runtime core at hand."""
TRAINING_RULES: Mapping[str, Rule] = {
    name: rule for name, rule in CPU_RULES.items() if name != "convolution"}
"""Of those that are part of a training step."""


class TensorOutput(Record):
    """A result that the program allocates, with the strides that eager execution gives it."""

    source: str
    shape: Shape
    strides: Shape
    dtype: dtype


class InputOutput(Record):
    """A result that is the input at `position` itself."""

    position: int


class ConstantOutput(Record):
    """A result that is known: None, a number, a constant tensor."""

    value: Any


class SizeOutput(Record):
    """A result that is a size: an int, computed from the inputs' shapes."""

    expr: Expr


class CannotLowerNode(Exception):
    """A node of the graph has no lowering; it has to run as an eager op."""

    def __init__(self, node: Any, reason: str) -> None:
        super().__init__(f"{node}: {reason}")
        self.node = node


OutputSpec = TensorOutput | InputOutput | ConstantOutput | SizeOutput


class LoweredGraph(Record):
    """Loop nodes in execution order, and how they meet the outside.

    `inputs` counts the inputs; `constants` are tensors passed after them. `symbols` binds size
    symbols to (input, dim), dim -1 meaning an int input. `mutated` are the inputs that are
    written, be it no element of them. `rounds`: of the nodes that have one (see `ir.rounds`).
    """

    nodes: dict[str, LoopNode]
    inputs: tuple[Source, ...]
    outputs: tuple[OutputSpec, ...]
    constants: tuple[Any, ...]
    symbols: tuple[tuple[str, int, int], ...]
    rng_ops: int
    mutated: tuple[int, ...] = ()
    rounds: dict[str, int] = field(default_factory=dict)


def _dtypes(node: Any) -> set[Any]:
    """The dtypes of a node's tensors, in and out."""
    found = set()
    for value in (node, *node.all_input_nodes):
        val = value.meta.get("val")
        for part in val if isinstance(val, tuple | list) else (val,):
            if hasattr(part, "dtype"):
                found.add(part.dtype)
    return found


def needs_eager(module: Any, rules: Mapping[str, Rule] = CPU_RULES) -> set[Any]:
    """The nodes of `module.graph` that have no native code, whatever their sizes are."""
    return {
        node
        for node in module.graph.nodes
        if node.op == "call_function"
        and (not _has_rule(node, rules) or _dtypes(node) & dtypes.EAGER_ONLY)
    }


def _has_rule(node: Any, rules: Mapping[str, Rule]) -> bool:
    if node.target is operator.getitem or getattr(node.target, "is_view", False):
        return True
    name = getattr(node.target, "name", "")
    rule = rules.get(name)
    return name == "copy_" or (rule is not None and (rule not in TAKES or TAKES[rule](node)))


def lower_graph(
    module: Any, fake_inputs: Sequence[Any], strict: bool = False,
    rules: Mapping[str, Rule] = CPU_RULES,
) -> LoweredGraph:
    """Lower every node of `module.graph`. strict: half types are rounded by each node.

    rules: by the names of ops; by default those for CPUs.

    Raises: CannotLowerNode for a node without a lowering.
    """
    return GraphLowering(module, fake_inputs, strict, rules).run()


class GraphLowering:
    """One pass over a graph's nodes in order."""

    def __init__(
        self, module: Any, fake_inputs: Sequence[Any], strict: bool = False,
        rules: Mapping[str, Rule] = CPU_RULES,
    ) -> None:
        self.module = module
        self.rules = rules
        self.fake_inputs = list(fake_inputs)
        self.context = Lowering(strict)
        self.context.rng_ops = module.meta.get("rng_ops", 0)
        self.env: dict[Any, Any] = {}
        self.sources: list[Source] = []
        self.positions: dict[Any, int] = {}
        self.constants: list[Any] = []
        self.symbols: dict[str, tuple[int, int]] = dict(module.meta.get("symbols", {}))
        self.outputs: list[OutputSpec] = []
        self.mutated: set[int] = set()

    def run(self) -> LoweredGraph:
        visit = {
            "placeholder": self.placeholder, "get_attr": self.get_attr,
            "call_function": self.call_function, "output": self.output,
        }
        for node in self.module.graph.nodes:
            handler = visit.get(node.op)
            if handler is None:
                raise CannotLowerNode(node, f"{node.op} {node.target}")
            try:
                handler(node)
            except Unlowerable as reason:
                raise CannotLowerNode(node, str(reason)) from reason
        count = len(self.positions)
        for n, source in enumerate(s for s in self.sources if s.constant):
            placed = Source(source.name, source.shape, source.strides, source.dtype,
                            count + n, True)
            self.context.nodes[source.name] = placed
        sources = tuple(
            node for node in self.context.nodes.values() if isinstance(node, Source))
        symbols = tuple((name, i, d) for name, (i, d) in self.symbols.items())
        return LoweredGraph(self.context.nodes, sources, tuple(self.outputs),
                            tuple(self.constants), symbols, self._random_ops(),
                            tuple(sorted(self.mutated)), self.context.rounds)

    def _random_ops(self) -> int:
        """How many random ops the program ran: those whose results nobody needs count, too."""
        return max(self.context.rng_ops, self.module.meta.get("rng_ops", 0))

    def placeholder(self, node: Any) -> None:
        position = len(self.positions)
        self.positions[node] = position
        val = self.fake_inputs[position] if position < len(self.fake_inputs) else node.meta["val"]
        if not hasattr(val, "dtype"):
            self._int_input(node, val, position)
            return
        shape, strides = shape_of(val.shape), shape_of(val.stride())
        for place, extent in (*enumerate(shape), *enumerate(strides, STRIDE)):
            if isinstance(extent, Sym):
                self.symbols.setdefault(extent.name, (position, place))
        source = Source(node.name, shape, strides, val.dtype, position)
        self._add_source(node, source)

    def _int_input(self, node: Any, val: Any, position: int) -> None:
        expr = getattr(val, "expr", None)
        if isinstance(expr, Sym):
            self.symbols.setdefault(expr.name, (position, WHOLE))
        self.env[node] = val
        source = Source(node.name, (), (), int64, position)
        self.sources.append(source)
        self.context.add(source)

    def _add_source(self, node: Any, source: Source) -> None:
        self.sources.append(source)
        self.env[node] = self.context.add(source)

    def get_attr(self, node: Any) -> None:
        value = self.module.attr(str(node.target))
        if not hasattr(value, "dtype"):
            self.env[node] = value
            return
        self.constants.append(value)
        name = self.context.unique(node.name)
        self._add_source(node, Source(
            name, shape_of(value.shape), shape_of(value.stride()), value.dtype, -1, True))

    def call_function(self, node: Any) -> None:
        args = self._values(node.args)
        if node.target is operator.getitem:
            self.env[node] = args[0][args[1]]
            return
        name = getattr(node.target, "name", None)
        sole = node.args and isinstance(node.args[0], Node) and len(node.args[0].users) == 1
        call = Call(node.name, node.target, args, node.meta.get("val"), sole,
                    node.meta.get("part_of", name))
        self.context.call, self.context.round = call, node.meta.get(ROUND)
        if name == "copy_":
            self.env[node] = self._mutation(call, *args[:2])
        elif getattr(node.target, "is_inplace", False) and name in self.rules:
            self.env[node] = self._update(call)
        elif name in self.rules:
            self.env[node] = self._lowered(call)
        elif getattr(node.target, "is_view", False):
            self.env[node] = self._generic_view(node, call, args[0])
        else:
            raise Unlowerable(str(name or node.target))

    def _lowered(self, call: Call) -> Any:
        return self.rules[call.op.name](self.context, call, *call.args)

    def _values(self, value: Any) -> Any:
        kind = type(value)
        if kind is tuple or kind in LISTS:
            return kind([self._values(v) for v in value])
        if hasattr(value, "users") and hasattr(value, "meta"):
            return self.env[value]
        return value

    def _generic_view(self, node: Any, call: Call, x: Tensor) -> Tensor:
        val = node.args[0].meta["val"]
        spec = call.op.meta(val, *call.args[1:])
        shape, strides = shape_of(spec.shape), shape_of(spec.strides)
        (offset,) = shape_of((spec.offset,))
        return views.by_strides(
            self.context, x, shape_of(val.stride()), shape, strides, offset)

    def _mutation(self, call: Call, target: Tensor, src: Any) -> Tensor:
        """A write to an input, or a view of it as it is by now; from here on that is the input."""
        memory = self._behind(target)
        self.mutated.add(self.positions[memory])
        shape, dtype = target.shape, target.dtype
        value = src
        if not isinstance(src, Tensor) or (src.shape, src.dtype) != (shape, dtype):
            value = self.context.pointwise(
                "copy", shape, dtype,
                lambda index: convert(broadcast(src, index, shape), dtype)
                if isinstance(src, Tensor) else pointwise.operand(src, index, call, dtype))
        if any(extent == 0 for extent in shape):
            return value
        body = Body(value.at(axis_symbols(shape)))
        known = self.env[memory]
        self.env[memory] = self.context.add(Mutation(
            self.context.unique(call.name), known.shape, dtype, known.name, shape,
            resolved(self.context, target, known), body))
        return value

    def _update(self, call: Call) -> Any:
        """A write to elements of an input that data picks; from here on that is the input."""
        memory = self._behind(call.args[0])
        self.mutated.add(self.positions[memory])
        written = self._lowered(call)
        self.env[memory] = written
        return written

    def _behind(self, target: Tensor) -> Node:
        """The argument of the graph that `target` is a view of."""
        node = self.context.nodes[target.name]
        while isinstance(node, View):
            node = self.context.nodes[node.source]
        for argument in self.positions:
            if getattr(self.env[argument], "name", None) == node.name:
                return argument
        raise Unlowerable("copy_ into something that is not an input")

    def output(self, node: Any) -> None:
        results = node.args[0]
        for result in results if isinstance(results, (tuple, list)) else (results,):
            self.outputs.append(self._output(result))

    def _output(self, result: Any) -> OutputSpec:
        value = self._values(result)
        if result is not value and result in self.positions:
            return InputOutput(self.positions[result])
        if isinstance(value, Tensor):
            constants = [s.name for s in self.sources if s.constant]
            if value.name in constants:
                return ConstantOutput(self.constants[constants.index(value.name)])
            val = result.meta["val"]
            return TensorOutput(value.name, shape_of(val.shape), shape_of(val.stride()), val.dtype)
        expr = getattr(value, "expr", None)
        if isinstance(expr, Expr) and not isinstance(expr, Int):
            return SizeOutput(expr)
        return ConstantOutput(value)
