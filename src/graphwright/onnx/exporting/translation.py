"""A functional graph of ops as an ONNX graph."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphwright.export.exported_program import ExportedProgram
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.onnx.element_types import ELEMENT_TYPES
from graphwright.onnx.errors import OnnxExporterError
from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops import form_of, has_form
from graphwright.onnx.exporting.preparing import Prepared, line_of
from graphwright.runtime.ops.table import Op
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.files import contiguous
from graphwright.utils._pytree import tree_leaves


class OnnxGraph(Record):
    """An ONNX graph whose large tensors are arrays.

    inputs: names in order; outputs: names in order, first those of results. values: the name of
    each node of the program's graph that has one, in order. initializers: name -> array and dtype.
    info: names with dtype and shape. dims: the names of size symbols. properties: for which sizes
    the program holds, as files say it.
    """

    nodes: list[Any]
    inputs: list[Value]
    outputs: list[Value]
    initializers: dict[str, tuple[np.ndarray[Any, Any], Any]]
    values: dict[Node, Value]
    info: list[Value]
    opset: int
    dims: Mapping[str, str]
    properties: Mapping[str, str]


def translate(
    program: ExportedProgram, prepared: Prepared, opset: int, dims: Mapping[str, str],
    input_names: Sequence[str] = (), output_names: Sequence[str] = (),
) -> OnnxGraph:
    """The graph as ONNX nodes.

    dims: the names of size symbols. input_names, output_names: names of the first inputs and
    outputs, in order.

    Raises: OnnxExporterError that lists all ops and dtypes without a form.
    """
    _check_forms(prepared, opset)
    run = _Translation(prepared, opset, dims, input_names, output_names)
    return run.graph(_properties(program, dims))


def _properties(program: ExportedProgram, dims: Mapping[str, str]) -> dict[str, str]:
    found = {f"size.{dims.get(name, name)}": str(one)
             for name, one in program.range_constraints.items() if one.lower != one.upper}
    if program.constraints.relations:
        found["sizes"] = ", ".join(map(str, program.constraints.relations))
    return found


def _check_forms(prepared: Prepared, opset: int) -> None:
    found: dict[str, None] = {}
    for node in prepared.module.graph.nodes:
        for value in tree_leaves(node.meta.get("val")):
            if hasattr(value, "dtype") and value.dtype not in _WRITTEN:
                found[f"a tensor of {value.dtype.name}{line_of(node)}"] = None
        if node.op != "call_function" or node.target is operator.getitem:
            continue
        if not has_form(node, opset):
            name = getattr(node.target, "name", getattr(node.target, "__name__", node.target))
            found[f"{name}{line_of(node)}"] = None
    if found:
        raise OnnxExporterError(
            f"these have no ONNX form at opset {opset}: {'; '.join(found)}")


_WRITTEN = {dtype for dtype in ELEMENT_TYPES
            if not dtype.is_complex and dtype is not dtypes.float8_e8m0fnu}
"""The dtypes of ONNX's that files are written with: its operators take no complex numbers."""


class _Translation:
    """One walk over the graph."""

    def __init__(
        self, prepared: Prepared, opset: int, dims: Mapping[str, str],
        input_names: Sequence[str], output_names: Sequence[str],
    ) -> None:
        self.module, self.prepared = prepared.module, prepared
        self.g = Builder(opset, dims)
        self.inputs: list[Value] = []
        self.asked_outputs = list(output_names)
        self._arguments(input_names)
        self.g.names.update(self.asked_outputs)

    def _arguments(self, names: Sequence[str]) -> None:
        """The state as initializers, the user's tensors as inputs."""
        nodes = self.module.graph.placeholders
        known = dict(zip(nodes, self.prepared.state, strict=True))
        users = [node for node, own in known.items() if own is None]
        if len(names) > len(users):
            raise ValueError(f"onnx.export: input_names has {len(names)} names for "
                             f"{len(users)} inputs")
        asked = dict(zip(users, names, strict=False))
        self.g.names.update(names)
        for node in users:
            fake = node.meta["val"]
            name = asked.get(node) or self.g.unique(node.name)
            self.g.values[node] = Value(name, fake.dtype, tuple(fake.shape))
            self.inputs.append(self.g.values[node])
        for node, own in known.items():
            if own is not None:
                self.g.values[node] = self._initial(*own)
        for symbol, (place, dim) in self.module.meta["symbols"].items():
            self.g.symbols[symbol] = (self.g.values[nodes[place]], dim)

    def _initial(self, name: str, tensor: Tensor) -> Value:
        return self.g.initial(name, contiguous(tensor), tensor.dtype)

    def graph(self, properties: Mapping[str, str]) -> OnnxGraph:
        """The whole graph."""
        values: dict[Node, Value] = {}
        for node in self.module.graph.nodes:
            if node.op == "get_attr":
                tensor = self.module.attr(str(node.target))
                self.g.values[node] = self._initial(node.name, tensor)
            elif node.op == "call_function":
                found = self._call(node)
                self.g.values[node] = found
                if isinstance(found, Value) and found.known_shape is not None:
                    values[node] = found
        outputs = self._outputs()
        values = {node: self._renamed(one) for node, one in values.items()}
        nodes, initializers = self._alive(outputs)
        made = {name for one in nodes for name in one.output}
        named = {one.name for one in outputs}
        info = {one.name: one for one in values.values() if one.name in made - named}
        return OnnxGraph(nodes, self.inputs, outputs, initializers, values,
                         list(info.values()), self.g.opset, self.g.dims, properties)

    def _call(self, node: Node) -> Any:
        args = map_leaves(node.args, lambda one: self.g.values[one] if isinstance(one, Node)
                          else one)
        if node.target is operator.getitem:
            return args[0][args[1]]
        g, out = self.g, node.meta["val"]
        assert isinstance(node.target, Op)
        found = form_of(node.target.name, args, g.opset)
        assert found is not None
        g.node, g.unlike = node, set()
        g.used = frozenset(user.args[1] for user in node.users
                           if user.target is operator.getitem and user.users)
        with g.within(node.name, _note(node)) as start:
            made = found.emit(g, out, *args)
        if not isinstance(made, tuple):
            return self._named(made, node.name, out, start)
        return tuple([
            one if one is None or place in g.unlike else self._named(
                one, f"{node.name}.{place}" if place else node.name, fake, start)
            for place, (one, fake) in enumerate(zip(made, out, strict=True))])

    def _named(self, value: Value, name: str, out: Any, start: int) -> Value:
        """The value under the name of the program's node, where one of its own nodes made it."""
        own_nodes = self.g.nodes[start:]
        if value.name in self.g.shared() or not any(
                value.name in node.output for node in own_nodes):
            name = value.name
        else:
            name = self.g.unique(name)
            _rename(own_nodes, {value.name: name})
        return Value(name, out.dtype, tuple(out.shape))

    def _outputs(self) -> list[Value]:
        """The results, each by a name of its own; then what is written."""
        results = self.module.graph.output_node().args[0]
        taken = {one.name for one in self.inputs} | set(self.g.constants)
        updated = {output: f"{self._target(place)}_updated"
                   for place, output in self.prepared.written}
        outputs: list[Value] = []
        wanted: list[str | None] = []
        for place, result in enumerate(results):
            if not isinstance(result, Node):
                continue        # a number is the same in every call, and no output
            value: Value = self.g.values[result]
            if value.name in taken:
                value = self.g.op("Identity", value, shape=value.known_shape)
            taken.add(value.name)
            outputs.append(value)
            wanted.append(updated.get(place))
        return self._with_names(outputs, wanted)

    def _target(self, place: int) -> str:
        """The name of an input: of state the program's own."""
        own = self.prepared.state[place]
        return self.module.graph.placeholders[place].name if own is None else own[0]

    def _with_names(self, outputs: list[Value], wanted: list[str | None]) -> list[Value]:
        """The outputs under the names asked for, the first ones by the user."""
        asked = self.asked_outputs
        if len(asked) > len(outputs):
            raise ValueError(f"onnx.export: output_names has {len(asked)} names for "
                             f"{len(outputs)} outputs")
        wanted = [*asked, *wanted[len(asked):]]
        new = {}
        for place, (old, name) in enumerate(zip(outputs, wanted, strict=True)):
            if name is not None:
                new[old.name] = name if place < len(asked) else self.g.unique(name)
        _rename(self.g.nodes, new)
        self.new = new
        return [self._renamed(one) for one in outputs]

    def _renamed(self, one: Value) -> Value:
        return Value(self.new.get(one.name, one.name), one.dtype, one.known_shape)

    def _alive(self, outputs: Sequence[Value]) -> tuple[list[Any], dict[str, Any]]:
        """The nodes and tensors that outputs depend on."""
        needed = {one.name for one in outputs}
        kept = []
        for node in reversed(self.g.nodes):
            if needed.intersection(node.output):
                needed.update(node.input)
                kept.append(node)
        return kept[::-1], {name: found for name, found in self.g.constants.items()
                            if name in needed}


def _rename(nodes: Sequence[Any], new: Mapping[str, str]) -> None:
    for node in nodes:
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                if name in new:
                    names[place] = new[name]
        node.name = new.get(node.name, node.name)


def _note(node: Node) -> dict[str, str]:
    """The user's line, for readers of the file; of its path the name alone."""
    stack = node.meta.get("stack")
    if stack is None:
        return {}
    return {"source": f"{os.path.basename(stack[0])}:{stack[1]}: {stack[2]}"}


def dim_text(size: Any, dims: Mapping[str, str]) -> Any:
    """A size as a file has it: a number, or the name or expression of a dynamic one."""
    if not isinstance(size, SymInt):
        return int(size)
    expr: Expr = size.expr
    text = str(expr)
    for symbol in sorted(expr.symbols(), key=lambda one: -len(one.name)):
        text = text.replace(symbol.name, dims.get(symbol.name, symbol.name))
    return text

