"""Graphs of a GPU that run op by op, where a kernel of theirs cannot be compiled.

    uniform = ops.rng_uniform((8, 4), float32, cuda:0, 1)
    mul = ops.mul(x, uniform)

becomes, with the draws that the whole graph takes beforehand,

    uniform = drawn((8, 4), float32, cuda:0, 1, seed, offset)
    mul = ops.mul(x, uniform)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.codegen.results import Result
from graphwright.codegen.segment_runner import EagerStep, SegmentedProgram
from graphwright.codegen.target import KernelFailure
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.runtime.cuda import fallbacks
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.generator import CUDA_GENERATORS, CudaGenerator


def op_by_op(module: GraphModule, device: Device, draws: int) -> Callable[..., Any]:
    """A graph of primitives on one GPU as a callable of its inputs, which takes so many draws."""
    if not draws:
        return _eager(module)
    run, index = _eager(_with_draws(module)), device.index or 0

    def with_draws(*inputs: Any) -> Any:
        return run(*inputs, *CUDA_GENERATORS.of(index).take(draws))

    return with_draws


class Instead:
    """Runs the calls of a graph op by op whose own kernels cannot be compiled; see `Launchers`.

    results: of the graph; those that are None are returned.
    """

    def __init__(
        self, module: GraphModule, device: Device, label: str, draws: int,
        results: Sequence[Result],
    ) -> None:
        self.module = module
        self.device = device
        self.label = label
        self.draws = draws
        self.results = results
        self._run: Callable[..., Any] | None = None

    def __call__(self, failure: KernelFailure, *inputs: Any) -> tuple[Any, ...]:
        """The tensors that a launcher would return for the inputs, after which come constants.

        Raises: the failure where that is to be an error: see `runtime.cuda.fallbacks`.
        """
        fallbacks.op_by_op(self.label, failure)
        if self._run is None:
            self._run = op_by_op(self.module, self.device, self.draws)
        values = self._run(*inputs[:len(self.module.graph.placeholders)])
        return tuple([value for value, result in zip(values, self.results, strict=True)
                      if result is None])


def _eager(module: GraphModule) -> SegmentedProgram:
    calls = [EagerStep(node) for node in module.graph.nodes if node.op == "call_function"]
    return SegmentedProgram(module, calls, dict(module.meta.get("symbols", {})))


def _with_draws(module: GraphModule) -> GraphModule:
    """The graph with two more inputs, the seed and the offset of its random numbers."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in module.graph.placeholders:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    place = graph.placeholder("seed"), graph.placeholder("offset")
    for node in module.graph.nodes:
        if getattr(node.target, "name", None) == "rng_uniform":
            copies[node] = graph.call_function(drawn, (*node.args, *place))
        elif node not in copies:
            copies[node] = graph.node_copy(node, copies.__getitem__)
    made = GraphModule(module, graph)
    made.meta.update(module.meta)
    return made


def drawn(size: Any, dtype: Any, device: Any, index: int, seed: int, offset: int) -> Any:
    """The numbers of one of the draws that begin at an offset."""
    generator = CudaGenerator(device)
    generator._set(seed, offset + index)
    return ops.rand(size, generator=generator, dtype=dtype, device=device)
