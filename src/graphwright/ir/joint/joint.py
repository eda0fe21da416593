"""The joint graph: a functional graph and the gradients of its outputs, in one trace.

The tape runs on fake tensors while the graph is traced, and then the engine walks it under the
same tracer: the backward part consists of the same vjps, on the same composites, that eager
execution uses.

Before::

    def forward(self, x, w):
        linear = ops.linear(x, w)
        relu = ops.relu(linear)
        return (relu,)

After (`w` requires grad)::

    def forward(self, x, w, tangent0):
        linear = ops.linear(x, w)
        relu = ops.relu(linear)
        relu_backward = ...tangent0...
        ...
        return (relu, mm)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from graphwright.autograd import grad
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.lowered_graph import CannotLower
from graphwright.ir.trace import (
    Replay,
    Tracer,
    by_memory,
    copy_sources,
    finish,
    fresh_fake,
    inherit,
    tracing,
)
from graphwright.runtime import _core
from graphwright.runtime.fake.fake_tensor import FakeTensor, make_fake
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import UNLISTED, Op
from graphwright.runtime.record import Record
from graphwright.runtime.tape.engine import gradients_in_order
from graphwright.runtime.tape.node import gradient_edge, leading_to


class Joint(Record):
    """A joint graph.

    Its outputs are those of the forward part (`n_forward`), then a gradient, or None, for each
    input of `grad_inputs`, which are in the order in which eager execution completes them. Its
    placeholders are the forward's, then one for each output listed in `tangents`.
    """

    module: GraphModule
    n_forward: int
    tangents: list[int]
    grad_inputs: list[int]

    def read_by_gradients(self) -> set[int]:
        """The positions of the inputs that the values of gradients depend on."""
        results = self.module.graph.output_node().args[0]
        pending = [node for node in results[self.n_forward:] if isinstance(node, Node)]
        reached: set[Node] = set()
        while pending:
            node = pending.pop()
            if node not in reached:
                reached.add(node)
                pending += node.all_input_nodes
        arguments = self.module.graph.placeholders
        return {index for index, node in enumerate(arguments) if node in reached}


def trace_joint(
    module: GraphModule, fake_inputs: Sequence[Any], given: Collection[int] | None = None,
    grad_inputs: Sequence[int] = (),
) -> Joint | None:
    """The joint graph of a functional graph; None if no output requires grad.

    Args:
        given: the outputs that have a gradient, if not all that require grad do.
        grad_inputs: the order of the inputs' gradients, if not that of eager execution.

    Raises: CannotLower where a gradient is refused, or is made by what tensors hold.
    """
    tracer = Tracer(lambda op: True, {"as_strided": by_memory})
    tracer.differentiable = True
    inherit(tracer.module, module)
    args = [fresh_fake(a, isinstance(a, _core.TensorBase) and a.requires_grad)
            for a in fake_inputs]
    for node, arg in zip(module.graph.placeholders, args, strict=True):
        tracer.placeholder(node.name, arg)
    copy_sources(module.graph, tracer.graph)
    wanted = [i for i, arg in enumerate(args) if isinstance(arg, FakeTensor) and arg.requires_grad]
    with tracing(tracer):
        outputs = Replay(module, tracer).run(*args)
        tracer.stack, tracer.recomputed = None, False
        roots = [i for i, out in enumerate(outputs)
                 if isinstance(out, FakeTensor) and out.requires_grad
                 and (given is None or i in given)]
        if not roots:
            return None
        layouts = _layouts(module, outputs)
        tangents = [restrided(outputs[i], layouts[i]) for i in roots]
        for i, tangent in enumerate(tangents):
            tracer.placeholder(f"tangent{i}", tangent)
        grads = _traced_gradients(
            tuple([outputs[i] for i in roots]), tuple([args[i] for i in wanted]), tangents)
    if grad_inputs:
        grads.sort(key=lambda found: grad_inputs.index(wanted[found[0]]))
    joint = finish(tracer, (*outputs, *[grad for _, grad in grads]))
    joint.meta["layouts"] = layouts
    return Joint(joint, len(outputs), roots, [wanted[position] for position, _ in grads])


def _traced_gradients(
    outputs: tuple[Any, ...], inputs: tuple[Any, ...], tangents: Sequence[Any]
) -> list[tuple[int, Any]]:
    """The gradients on fake tensors, with the inputs' positions, in the order of eager execution.

    What a rule refuses is refused when `backward` is called.
    """
    try:
        return gradients_in_order(outputs, tangents, inputs)
    except RuntimeError as refused:
        raise CannotLower(f"its gradient: {refused}") from refused


class Retaped:
    """What a joint graph gives, with the functional graph run on the tape.

    For graphs with functions of the user's own, whose backward may not be the derivative of what
    forward computes, and with parts without gradients: derivatives of gradients are then those
    of eager calls.
    """

    def __init__(
        self, module: GraphModule, tangents: Sequence[int], grad_inputs: Sequence[int]
    ) -> None:
        """tangents, grad_inputs: as in `Joint`."""
        self.module = module.copy()
        for node in self.module.graph.nodes:
            if is_function_call(node):
                node.target = node.target.call  # type: ignore[union-attr]
        self.n_inputs = len(module.graph.placeholders)
        self.tangents, self.grad_inputs = tangents, grad_inputs

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        inputs = list(values[: self.n_inputs])
        for index in self.grad_inputs:
            edge = gradient_edge(inputs[index])
            if edge is not None:
                inputs[index] = leading_to(inputs[index], edge)
        outputs = _OnTheTape(self.module).run(*inputs)
        roots = [outputs[index] for index in self.tangents]
        wanted = [inputs[index] for index in self.grad_inputs]
        grads = grad(roots, wanted, values[self.n_inputs :], create_graph=_core.grad_enabled(),
                     allow_unused=True)
        return (*outputs, *grads)


class ByResults(Interpreter):
    """Runs a joint graph to gradients of gradients: from a result they go on by its own edge.

    Eager execution saves the results themselves, so hooks on them meet these gradients.
    """

    def __init__(self, joint: GraphModule, edges: dict[int, tuple[Any, int]]) -> None:
        """edges: those of results, by their positions."""
        super().__init__(joint)
        results = joint.graph.output_node().args[0]
        self.edges = {results[index]: edge for index, edge in edges.items()
                      if results[index].op != "placeholder"}

    def run_node(self, node: Node) -> Any:
        value = super().run_node(node)
        edge = self.edges.get(node)
        return value if edge is None else leading_to(value, edge)


class _OnTheTape(Interpreter):
    """Runs each node in the grad mode that it had."""

    def run_node(self, node: Node) -> Any:
        enabled = _core.set_grad_enabled(not node.meta.get("no_grad"))
        try:
            return super().run_node(node)
        finally:
            _core.set_grad_enabled(enabled)


def needs_tape(module: GraphModule) -> bool:
    """Whether derivatives of the graph's gradients cannot be had from the joint graph."""
    return any(node.meta.get("no_grad") or is_function_call(node) for node in module.graph.nodes)


def is_function_call(node: Node) -> bool:
    """Whether a node is a call of an `autograd.Function`."""
    return isinstance(node.target, Op) and node.target.family == UNLISTED


def _layouts(module: GraphModule, outputs: Sequence[Any]) -> list[Any]:
    """The strides that each output will have: those promised to the user, if none overlap."""
    promised = [*module.meta.get("layouts", ()), *[None] * len(outputs)]
    return [apart_like(out if strides is None else restrided(out, strides)).stride()
            if isinstance(out, FakeTensor) else None
            for out, strides in zip(outputs, promised, strict=False)]


def restrided(tensor: Any, strides: Any) -> FakeTensor:
    """A fake tensor of the same type with other strides."""
    return make_fake(tensor.shape, strides, tensor.dtype, tensor.device)


def dense_like(tensor: Any) -> FakeTensor:
    """A fake tensor of the same type whose elements lie without gaps.

    Strides are kept where they leave none, and are row-major otherwise.
    """
    shape, strides = tensor.shape, tensor.stride()
    expected: Any = 1
    for dim in sorted(range(len(shape)), key=lambda d: _stride_order(strides, d)):
        if shape[dim] != 1 and strides[dim] != expected:
            strides = contiguous_strides(shape)
            break
        expected = expected * shape[dim]
    return make_fake(shape, strides, tensor.dtype, tensor.device)


def apart_like(tensor: Any) -> FakeTensor:
    """A fake tensor of the same type of which no two elements are in one place.

    Strides are kept where they see to that, gaps included, and are row-major otherwise. Of
    symbolic ones that depends on their values, which are guarded.
    """
    shape, strides = tensor.shape, tensor.stride()
    span: Any = 1
    for dim in sorted(range(len(shape)), key=lambda d: _stride_order(strides, d)):
        if shape[dim] != 1 and strides[dim] < span and all(size != 0 for size in shape):
            return dense_like(tensor)
        span = strides[dim] * (shape[dim] - 1) + span
    return make_fake(shape, strides, tensor.dtype, tensor.device)


def _stride_order(strides: Sequence[Any], dim: int) -> tuple[Any, int]:
    stride = strides[dim]
    return (getattr(stride, "hint", stride), -dim)
