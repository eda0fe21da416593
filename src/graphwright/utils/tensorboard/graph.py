"""The graph of a module's ops, in TensorBoard's form: what one call runs, within its modules."""

from __future__ import annotations

from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.nn.module import Module
from graphwright.runtime.ops.table import Op
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import tree_leaves
from graphwright.utils.module_tracer import ModuleTracer, run_untraced


def graph_of(model: Any, inputs: Any) -> Any:
    """A GraphDef of tensorboardX's: inputs, parameters, ops and outputs, named by modules.

    Raises TypeError where `model` is no module.
    """
    if not isinstance(model, Module):
        raise TypeError(f"add_graph: model must be a Module, but is a {type(model).__name__}")
    args = inputs if isinstance(inputs, tuple | list) else () if inputs is None else (inputs,)
    recorder = _Recorder(model)
    for number, tensor in enumerate(_tensors(args)):
        recorder.add_source(f"input/{number}", "Input", tensor)
    output = recorder.run(args)
    for number, tensor in enumerate(_tensors(output)):
        recorder.add(f"output/{number}", "Output", [recorder.name_of(tensor)], tensor)
    return recorder.graph


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


class _Recorder(ModuleTracer):
    """The tracer of one call; nodes are known by the tensors that they make."""

    def __init__(self, model: Module) -> None:
        from tensorboardX.proto.graph_pb2 import GraphDef
        from tensorboardX.proto.versions_pb2 import VersionDef

        super().__init__()
        self.graph = GraphDef(versions=VersionDef(producer=22))
        self._model = model
        self._root = type(model).__name__
        self._paths = {id(part): f"{self._root}/{path.replace('.', '/')}".rstrip("/")
                       for path, part in model.named_modules()}
        values = [*model.named_parameters(), *model.named_buffers()]
        self._parameters = {id(value): (name, value) for name, value in values}
        self._names: dict[int, str] = {}
        self._alive: list[Tensor] = []      # so that no id is another tensor's
        self._taken: dict[str, int] = {}

    def run(self, args: Any) -> Any:
        """Call the model."""
        self.start()
        try:
            with no_grad():
                return self._model(*args)
        finally:
            self.stop()

    def path_of(self, module: Module) -> str:
        """Its names in the model, between slashes."""
        return self._paths.get(id(module), self._root)

    def record(self, op: Op, args: tuple[Any, ...]) -> Any:
        """Run an op, and add its node."""
        out = run_untraced(op, args)
        scope = self.inside[-1] if self.inside else self._root
        sources = [self.name_of(tensor) for tensor in _tensors(args)]
        made = _tensors(out)
        name = self.add(f"{scope}/{op.name}", f"aten::{op.name}", sources, *made)
        for number, tensor in enumerate(made):
            self._know(tensor, name if number == 0 else f"{name}:{number}")
        return out

    def name_of(self, tensor: Tensor) -> str:
        """The node that made a tensor: one of its own for what no op has made."""
        if id(tensor) not in self._names:
            found = self._parameters.get(id(tensor))
            if found is None:
                self.add_source("constant", "Const", tensor)
            else:
                path = found[0].replace(".", "/")
                self.add_source(f"{self._root}/{path}", "Parameter", tensor)
        return self._names[id(tensor)]

    def add_source(self, name: str, kind: str, tensor: Tensor) -> None:
        """Add what no op has made."""
        self._know(tensor, self.add(name, kind, [], tensor))

    def _know(self, tensor: Tensor, name: str) -> None:
        self._names[id(tensor)] = name
        self._alive.append(tensor)

    def add(self, name: str, kind: str, sources: list[str], *made: Tensor) -> str:
        """Add a node; its name, with a number where there is one of that name."""
        from tensorboardX.proto.attr_value_pb2 import AttrValue
        from tensorboardX.proto.tensor_shape_pb2 import TensorShapeProto

        count = self._taken[name] = self._taken.get(name, -1) + 1
        unique = f"{name}_{count}" if count else name
        node = self.graph.node.add(name=unique, op=kind, input=sources)
        shapes = [TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in t.shape])
                  for t in made]
        node.attr["_output_shapes"].CopyFrom(
            AttrValue(list=AttrValue.ListValue(shape=shapes)))
        return unique
