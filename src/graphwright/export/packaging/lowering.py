"""From an exported program to the native steps of a package."""

from __future__ import annotations

from graphwright.codegen.build import build_program
from graphwright.codegen.lowering.graph import (
    CannotLowerNode,
    LoweredGraph,
    TensorOutput,
    lower_graph,
    needs_eager,
)
from graphwright.codegen.lowering.rules import RULES
from graphwright.codegen.program import Gemm, NativeProgram
from graphwright.export.errors import ExportError
from graphwright.export.exported_program import ExportedProgram
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.lowered_graph import CannotLower
from graphwright.ir.passes.convolutions import without_convolutions
from graphwright.ir.pipeline import lower_graph as to_primitives
from graphwright.ir.trace import trace
from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import make_fake
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.tensor import dtypes


def lowered_program(program: ExportedProgram) -> tuple[LoweredGraph, NativeProgram]:
    """The program as native steps, its results in memory of their own.

    Raises: ExportError where a package cannot have it.
    """
    module = _with_own_results(program.graph_module)
    examples = [node.meta["val"] for node in module.graph.placeholders]
    for node in module.graph.placeholders:
        if not node.meta["val"].is_contiguous():
            raise ExportError(f"'{node.name}' is not in row-major order: export with contiguous "
                              "tensors")
    try:
        lowered = _core.with_grad_mode(
            False, to_primitives, module, examples, needs_grad=False).forward
        lowered = without_convolutions(lowered)
        eager = needs_eager(lowered, RULES)
        if eager:
            raise ExportError(f"{next(iter(eager)).name} runs in Python only, so that a package "
                              "cannot have it")
        given = [node.meta["val"] for node in lowered.graph.placeholders]
        graph = lower_graph(lowered, given, rules=RULES)
    except (CannotLower, CannotLowerNode, DataDependent) as error:
        raise ExportError(f"the program cannot be packaged: {error}") from error
    if not all(isinstance(one, TensorOutput) for one in graph.outputs):
        raise ExportError("a result of the program is no tensor of its own: return a tensor that "
                          "it computes")
    native = build_program(graph)
    for step in native.steps:
        if isinstance(step, Gemm) and step.out.dtype not in (dtypes.float32, dtypes.float64):
            raise ExportError(f"a package has no products of {step.out.dtype.name}: compute them "
                              "in float32")
    return graph, native


def _with_own_results(module: GraphModule) -> GraphModule:
    """The graph with a copy of each result, in row-major order."""
    names = [node.name for node in module.graph.placeholders]
    examples = [node.meta["val"] for node in module.graph.placeholders]
    made = trace(module, examples, keep=lambda op: True, names=names)
    output = made.graph.output_node()
    results = output.args[0]
    with made.graph.inserting_before(output):
        copies = []
        for result in results:
            if not isinstance(result, Node):
                continue
            fake = result.meta["val"]
            own = make_fake(fake.shape, contiguous_strides(fake.shape), fake.dtype, fake.device)
            for name in ("contiguous", "clone"):    # the first may give its argument back
                result = made.graph.call_function(TABLE[name], (result,))
                result.meta["val"] = own
            copies.append(result)
    output.args = (tuple(copies),)
    made.recompile()
    return made
