"""An exported program as a functional graph of ops that have an ONNX form.

Before::

    relu_ = ops.relu_(x)
    gelu = ops.gelu(x, 'none')
    hypot = ops.hypot(gelu, w)
    return (hypot,)

After, where GELU is kept and `hypot` is decomposed::

    relu = ops.relu(x)
    gelu = ops.gelu(relu, 'none')
    ...
    return (sqrt, relu)

with `written = [(0, 1)]`: input 0 has the value of output 1 afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import mul
from typing import Any, cast

from graphwright.export.exported_program import ExportedProgram
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.ir.lowered_graph import CannotLower
from graphwright.ir.passes import decompose
from graphwright.ir.passes.convolutions import REWRITES as CONVOLUTIONS
from graphwright.ir.passes.functionalise import functionalise
from graphwright.ir.trace import Rewrite, Tracer, trace
from graphwright.onnx.errors import OnnxExporterError
from graphwright.onnx.exporting.decompositions import DECOMPOSITIONS
from graphwright.onnx.exporting.folding import fold_constants
from graphwright.onnx.exporting.ops import FORMS, form_of
from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import WithoutData, fake_kernel, make_fake
from graphwright.runtime.ops.strides import infer_size
from graphwright.runtime.ops.table import TABLE, Op
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.relation import Relation
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import tree_flatten

Known = tuple[str, Tensor]
"""The name of a parameter, buffer or constant, and what it is."""


class Prepared(Record):
    """The graph; its outputs are the results of the program, then the inputs it writes to.

    state: for each input the state of the program that it is, None for the user's. written:
    (input, output that is its value afterwards). assumed: what making the graph assumed of sizes,
    beyond what the program holds for. Most of it is about the layout of memory, which a file does
    not have; `verifying` runs the file where it does not hold.
    """

    module: GraphModule
    state: list[Known | None]
    written: list[tuple[int, int]]
    assumed: list[Relation]


def prepare(program: ExportedProgram, opset: int) -> Prepared:
    """See the module's docstring.

    Raises: OnnxExporterError for what cannot be made functional, or fixes a dynamic size.
    """
    module = program.graph_module
    examples = [node.meta["val"] for node in module.graph.placeholders]
    recorded = module.meta.setdefault("recorded_facts", _facts_of(module))
    rewrites = {**_rewrites(opset, written=False), **_VALUES_ALONE}
    try:
        whole = _traced(module, examples, lambda op: True, _rewrites(opset, written=True))
        _copy_results(whole)
        functional = functionalise(whole, examples, rewrites=rewrites)
        values = [node.meta["val"] for node in functional.module.graph.placeholders]
        made = _traced(functional.module, values, lambda op: _kept(op, opset),
                       {**rewrites, **_LAST})
    except (CannotLower, DataDependent) as error:
        raise OnnxExporterError(f"the program cannot be written as ONNX: {error}") from error
    made.graph.eliminate_dead_code(lambda node: False)      # a file does not check values
    fold_constants(made, opset)
    facts = [fact for fact in _facts_of(module) if fact not in recorded]
    assumed = [fact for fact in facts if not program.constraints.imply(fact)]
    equal = next((fact for fact in assumed if fact.op == "=="), None)
    if equal is not None:
        raise OnnxExporterError(f"the file would hold only where {equal}: leave that size static, "
                                "or give sizes that are equal one Dim")
    return Prepared(made, state_of(program), functional.mutated, assumed)


def state_of(program: ExportedProgram) -> list[Known | None]:
    """What `Prepared.state` is."""
    state = {**program.state_dict, **program.constants}
    targets = {one.arg.name: one.target for one in program.graph_signature.input_specs}
    names = [targets[node.name] for node in program.graph.placeholders]
    return [None if name is None else (name, state[name]) for name in names]


def line_of(node: Node, *before: object) -> str:
    """The user's line of a node, " (FILE:LINE: TEXT)", with words before it; "" for nothing."""
    stack = node.meta.get("stack")
    lines = [] if stack is None else [f"{stack[0]}:{stack[1]}: {stack[2]}"]
    parts = [*map(str, before), *lines]
    return f" ({', '.join(parts)})" if parts else ""


def _facts_of(module: GraphModule) -> list[Relation]:
    """What was assumed of a graph's sizes so far."""
    env = module.meta.get("shape_env")
    return [] if env is None else env.guards


def _traced(
    module: GraphModule, examples: Sequence[Any], keep: Callable[[Op], bool],
    rewrites: dict[str, Rewrite],
) -> GraphModule:
    names = [node.name for node in module.graph.placeholders]
    return trace(module, examples, keep=keep, rewrites=rewrites, names=names)


def _kept(op: Op, opset: int) -> bool:
    """Ops with a form, and those that nothing else is made of: `translation` lists them."""
    if op.decompose is None:
        return True
    return any(one.since <= opset and one.accepts is None for one in FORMS.get(op.name, ()))


def _rewrites(opset: int, written: bool) -> dict[str, Rewrite]:
    """Composites, and ops whose form depends on their arguments, as one node where they have a
    form; otherwise as their parts.

    written: whether something may still be written in place: what may give a view of its
    argument is decomposed to the views that it is made of.
    """
    return {
        op.name: _whole_or_parts(op, opset, written) for op in map(TABLE.__getitem__, FORMS)
        if op.meta is None or (op.decompose is not None and not _kept(op, opset))}


def _whole_or_parts(op: Op, opset: int, written: bool) -> Rewrite:
    def rewrite(tracer: Tracer, args: tuple[Any, ...]) -> Any:
        if form_of(op.name, args, opset) is None:
            return NotImplemented
        fakes = map_leaves(args, tracer.fake_of)
        value = _result(op, fakes)
        if written and _memory(value) & _memory(fakes):
            return NotImplemented
        tracer.emit(op, args, tuple(value) if isinstance(value, list | tuple) else value)
        return value

    return rewrite


def _result(op: Op, fakes: tuple[Any, ...]) -> Any:
    """The fake tensors that an op gives."""
    if op.meta is not None:
        return fake_kernel(op, fakes)
    before = _core.set_tracer(WithoutData())
    try:
        return cast(Callable[..., Any], op.decompose)(*fakes)
    finally:
        _core.set_tracer(before)


def _memory(values: Any) -> set[int]:
    """Which memory tensors lie in."""
    return {id(one._storage) for one in tree_flatten(values)[0]
            if isinstance(one, _core.TensorBase)}


def _copy_results(module: GraphModule) -> None:
    """Each result is a tensor of its own: a file's outputs share no memory."""
    output = module.graph.output_node()
    results = []
    with module.graph.inserting_before(output):
        for result in output.args[0]:
            if isinstance(result, Node):
                copy = module.graph.call_function(TABLE["clone"], (result,))
                copy.meta["val"] = _dense(result.meta["val"])
                result = copy
            results.append(result)
    module.graph.set_results(results)


def _dense(value: Any, shape: Any = None) -> Any:
    """A fake tensor in row-major order: a file knows no strides.

    Whether a size is 0 is not asked: strides do not matter then.
    """
    shape = tuple(value.shape if shape is None else shape)
    strides = tuple(accumulate(shape[:0:-1], mul, initial=1))[: len(shape)]
    return make_fake(shape, strides[::-1], value.dtype, value.device)


def _copy(name: str) -> Rewrite:
    def rewrite(tracer: Tracer, args: tuple[Any, ...]) -> Any:
        return tracer.emit(TABLE[name], args, _dense(tracer.fake_of(args[0])))

    return rewrite


def _reshape(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """Whether memory could stay where it is is not asked."""
    value = tracer.fake_of(args[0])
    shape = infer_size("reshape", value.shape, args[1])
    return tracer.emit(TABLE["reshape"], (args[0], shape), _dense(value, shape))


_VALUES_ALONE: dict[str, Rewrite] = {
    "clone": _copy("clone"), "contiguous": _copy("contiguous"), "reshape": _reshape,
}
"""What asks nothing about memory any more."""
_LAST: dict[str, Rewrite] = {
    **{name: decompose.REWRITES[name] for name in ("detach", "copy", "fill", "as_strided")},
    **{name: CONVOLUTIONS[name] for name in ("conv_input_grad", "conv_weight_grad")},
    **DECOMPOSITIONS, "view": _reshape, "_unsafe_view": _reshape,
}
"""What is simpler where nothing is written in place any more."""
