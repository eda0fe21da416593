"""From a model's protobuf to steps: names, order, versions, attributes and constants resolved.

Bodies of If, Loop and others become Graphs; functions of the model are inlined. Names are made
unique over the whole model, so that all graphs run over one table of values.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import graphwright as gw
from graphwright.onnx.element_types import DTYPES
from graphwright.onnx.errors import InvalidModel, UnsupportedOperators
from graphwright.onnx.importing import opsets
from graphwright.onnx.importing.blocks import blocks
from graphwright.onnx.importing.ops import load_all
from graphwright.onnx.importing.steps import REFUSALS, Graph, Step
from graphwright.onnx.importing.tensors import sparse_value_of, value_of
from graphwright.onnx.importing.values import Narrow, Numbers, Sizes, as_tensor

DEEPEST = 40
"""How many bodies and functions may stand in each other."""
MOST_STEPS = 4_000_000
"""How many steps a model may have, once its functions are inlined."""
_SMALL = 1024
_MOST_IN_BLOCKS = 50_000
_DRAWS = {
    "Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike",
}  # fmt: skip
_GROWS = {
    "BlackmanWindow", "ConstantOfShape", "Expand", "EyeLike", "HammingWindow", "HannWindow",
    "MelWeightMatrix", "OneHot", "Pad", "Range", "Resize", "Tile", "Upsample",
}  # fmt: skip
"""Operators whose outputs are as large as the numbers say that they are given."""


class Scope:
    """Names that are visible in a graph, each with its unique one."""

    def __init__(
        self, outer: Scope | None = None, attributes: dict[str, Any] | None = None
    ) -> None:
        self._outer = outer
        self._names: dict[str, str] = {}
        self.attributes: dict[str, Any] | None = attributes
        if outer is not None and not attributes:
            self.attributes = outer.attributes
        self.depth: int = 0 if outer is None else outer.depth + 1

    def define(self, name: str, unique: str) -> None:
        """Make `name` mean `unique` here.

        Raises:
            InvalidModel: it means something already.
        """
        if name in self._names:
            raise InvalidModel(f"the name {name!r} is computed twice")
        self._names[name] = unique

    def given(self, attributes: Iterable[Any]) -> dict[str, Any]:
        """Attributes by name, those of the function's call in place of references to them."""
        found = {one.name: one for one in attributes}
        outer = self.attributes or {}
        return {name: outer.get(one.ref_attr_name) if one.ref_attr_name else one
                for name, one in found.items()
                if not one.ref_attr_name or one.ref_attr_name in outer}

    def find(self, name: str) -> str | None:
        """The unique name, or None where nothing of the name is visible."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._names.get(name)
            if found is not None:
                return found
            scope = scope._outer
        return None


class Resolver:
    """Makes the steps of one model.

    Attributes:
        constants: unique name -> Tensor or array of str; parameters among them.
        trained: names of the constants that are parameters: initializers of real numbers with
            dims, but for statistics and what operators read in Python.
        passing: names of the constants that `Constant` nodes and folding made.
    """

    def __init__(self, model: Any, folder: Path | None) -> None:
        self._model = model
        self._folder = folder
        self._versions = _versions(model.opset_import)
        self._functions = {
            (f.domain, f.name, getattr(f, "overload", "")): f for f in model.functions
        }
        self.constants: dict[str, Any] = {}
        self.trained: set[str] = set()
        self.passing: set[str] = set()
        self._known: dict[str, Sizes] = {}
        self._used: dict[str, int] = {}
        self._lacking: set[str] = set()
        self._n_steps = 0
        self._found: dict[tuple[str, str, int | None], tuple[opsets.Operator | None, Any]] = {}
        self._untrained: set[str] = set()
        self._tensors: set[str] = set()  # names of values that are tensors for sure

    def resolve(self) -> Graph:
        """The main graph.

        Raises:
            InvalidModel, UnsupportedOperators: as `load`.
        """
        load_all()
        if not self._versions:
            if self._model.ir_version >= 3:
                raise InvalidModel("the model imports no operator set")
            self._versions = {"": 1}
        expected = self._n_inlined(self._model.graph.node, {})
        if expected > MOST_STEPS:
            raise InvalidModel(f"{expected} nodes, counting those of functions: too many")
        if not self._model.HasField("graph"):
            raise InvalidModel("the model has no graph")
        graph = self._graph(self._model.graph, Scope(), self._versions)
        if self._lacking:
            raise UnsupportedOperators(self._lacking)
        self.trained -= self._untrained
        return graph

    def _n_inlined(self, nodes: Any, counts: dict[Any, int], depth: int = 0) -> int:
        """How many nodes there are once calls of functions are inlined.

        `counts` has those of functions that are known, and 0 for those being counted.
        """
        total = len(nodes)
        for node in nodes if self._functions else ():
            key = _called(node)
            function = self._functions.get(key)
            if function is None:
                continue
            if key not in counts:
                if depth > DEEPEST:
                    raise InvalidModel(f"functions call each other more than {DEEPEST} deep")
                counts[key] = 0
                counts[key] = self._n_inlined(function.node, counts, depth + 1)
            elif counts[key] == 0 and len(function.node):
                raise InvalidModel(f"the function {node.op_type!r} calls itself")
            total += counts[key]
        return total

    def _graph(self, proto: Any, outer: Scope, versions: dict[str, int]) -> Graph:
        scope = Scope(outer)
        if scope.depth > DEEPEST:
            raise InvalidModel(f"bodies stand in each other more than {DEEPEST} deep")
        graph = Graph(proto.name)
        self._initializers(proto, scope)
        held = {tensor.name for tensor in proto.initializer}
        for value in proto.input:
            if value.name not in held:
                graph.inputs.append(self._defined(value.name, scope))
                if scope.depth == 1 and value.type.tensor_type.elem_type in DTYPES:
                    self._tensors.add(graph.inputs[-1])
        for node in proto.node:
            self._node(node, scope, versions, graph.steps)
        for value in proto.output:
            graph.outputs.append(self._visible(value.name, scope, "the graph's output"))
        graph.known = [self._known.get(name) for name in graph.outputs]
        _end_lifetimes(graph)
        graph.parts = blocks(graph.steps) if len(graph.steps) <= _MOST_IN_BLOCKS else graph.steps
        return graph

    def _initializers(self, proto: Any, scope: Scope) -> None:
        declared = {value.name: value.type for value in proto.input}
        for tensor in proto.initializer:
            _check_declared(tensor, declared.get(tensor.name))
            if not tensor.name:
                raise InvalidModel("an initializer has no name")
            self._constant(
                self._defined(tensor.name, scope), value_of(tensor, self._folder), trained=True
            )
        for sparse in proto.sparse_initializer:
            dense = sparse_value_of(sparse, self._folder)
            self._constant(self._defined(sparse.values.name, scope), dense, trained=True)

    def _constant(self, name: str, value: Any, trained: bool = False) -> None:
        """Enter a constant; `trained` says that it is state of the model, not of a node."""
        self.constants[name] = value
        if isinstance(value, gw.Tensor):
            self._tensors.add(name)
        if not trained:
            self.passing.add(name)
        elif isinstance(value, gw.Tensor) and value.is_floating_point() and value.dim():
            self.trained.add(name)
        tensor = as_tensor(value)
        if isinstance(tensor, gw.Tensor) and tensor.dim() <= 1 and tensor.numel() <= _SMALL:
            scalar = tensor.dim() == 0
            numbers: Any = [tensor.item()] if scalar else tensor.tolist()
            if isinstance(value, Narrow) or name in self.trained or not _are_whole(numbers):
                self._known[name] = Numbers(numbers, scalar, tensor.dtype)
            else:
                kind = bool if tensor.dtype == gw.bool else int
                self._known[name] = Sizes(map(kind, numbers), scalar, tensor.dtype)

    def _defined(self, name: str, scope: Scope) -> str:
        """A unique name for `name`, which the scope has from now on."""
        if not isinstance(name, str):
            raise InvalidModel(f"the name {name!r} is not UTF-8")
        count = self._used.get(name, 0)
        self._used[name] = count + 1
        unique = name if count == 0 else f"{name}#{count + 1}"
        scope.define(name, unique)
        return unique

    def _visible(self, name: str, scope: Scope, reader: str) -> str:
        found = scope.find(name)
        if found is None:
            raise InvalidModel(
                f"{reader} reads {name!r}, which no earlier node computes: nodes have to be in "
                "order, without cycles"
            )
        return found

    def _node(self, node: Any, scope: Scope, versions: dict[str, int], steps: list[Step]) -> None:
        self._n_steps += 1
        if self._n_steps > MOST_STEPS:
            raise InvalidModel(f"more than {MOST_STEPS} nodes, counting those of functions")
        if not isinstance(node.op_type, str) or not isinstance(node.domain, str):
            raise InvalidModel(f"the operator {node.op_type!r} is not UTF-8")
        title = f"{node.op_type} {node.name!r}" if node.name else node.op_type
        domain = "" if node.domain == "ai.onnx" else node.domain
        inputs = [self._visible(n, scope, title) or None if n else None for n in node.input]
        function = self._functions.get(_called(node)) if self._functions else None
        if function is not None:
            self._inlined(function, node, inputs, scope, steps, title)
            return
        operator, schema = self._operator(domain, node.op_type, versions)
        if operator is None:
            for attribute in node.attribute:  # its bodies may lack further operators
                if attribute.type == attribute.GRAPH:
                    self._graph(attribute.g, scope, versions)
            self._outputs(node, scope)
            return
        _check(node, schema, title)
        attributes = self._attributes(node, operator, schema, scope, versions, title)
        outputs = self._outputs(node, scope)
        try:
            if operator.prepare is not None:
                attributes = operator.prepare(**attributes)
            if node.op_type == "Constant" and domain == "":
                self._constant(outputs[0], operator.function(**attributes))
                return
        except REFUSALS as error:
            raise InvalidModel(f"{title}: {error}") from error
        rule = opsets.SIZE_RULES.get(node.op_type) if domain == "" else None
        step = Step(title, operator, inputs, outputs, attributes, rule)
        self._untrained.update(
            name for i, (name, kind) in enumerate(zip(inputs, step.kinds, strict=True))
            if name is not None and (kind in opsets.IN_PYTHON or (node.op_type, i) in _STATE)
        )
        step.known = [None if name is None else self._known.get(name) for name in inputs]
        if self._folded(step, node.op_type):
            return
        if step.gives_tensors(self._tensors):
            self._tensors.update(outputs)
            step.make_plain(self._tensors)
        steps.append(step)

    def _outputs(self, node: Any, scope: Scope) -> list[str]:
        return [self._defined(name, scope) if name else "" for name in node.output]

    def _operator(
        self, domain: str, name: str, versions: dict[str, int]
    ) -> tuple[opsets.Operator | None, Any]:
        """What computes an operator, and its schema; notes it as lacking where nothing does."""
        key = (domain, name, versions.get(domain))
        if key not in self._found:
            self._found[key] = self._looked_up(*key)
        return self._found[key]

    def _looked_up(
        self, domain: str, name: str, version: int | None
    ) -> tuple[opsets.Operator | None, Any]:
        import onnx.defs

        shown = f"{domain or 'ai.onnx'}.{name}"
        if version is None:
            self._lacking.add(f"{shown} (the model imports no version of its domain)")
            return None, None
        if not 0 < version < 2**31:
            raise InvalidModel(f"the model imports version {version} of {domain or 'ai.onnx'!r}")
        schema = None
        with contextlib.suppress(onnx.defs.SchemaError):
            schema = onnx.defs.get_schema(name, version, domain)
        known = domain == "" or domain.startswith("ai.onnx.")
        since = schema.since_version if schema is not None else version
        found = opsets.find(domain, name, since) if schema is not None or not known else None
        if domain == "" and schema is None and name in _OF_ONNX_RUNTIME:
            found = opsets.find(opsets.MICROSOFT, name, 1)
        if domain == "" and version > onnx.defs.onnx_opset_version():
            found, since = None, version
        if found is None:
            self._lacking.add(f"{shown} {since}")
        return found, schema

    def _attributes(
        self, node: Any, operator: opsets.Operator, schema: Any, scope: Scope,
        versions: dict[str, int], title: str,
    ) -> dict[str, Any]:  # fmt: skip
        """The keywords of the operator's function for a node."""
        values = {
            name: self._attribute(attribute, scope, versions, title)
            for name, attribute in scope.given(node.attribute).items()
            if name not in _WITHOUT_EFFECT
        }
        for name, declared in schema.attributes.items() if schema is not None else ():
            if name in values or name in _WITHOUT_EFFECT:
                continue
            if declared.required:
                raise InvalidModel(f"{title}: the attribute {name!r} is missing")
            if declared.default_value.type and name in operator.names:
                values[name] = self._attribute(declared.default_value, scope, versions, title)
        unknown = sorted(set(values) - set(operator.names))
        if unknown:
            raise InvalidModel(f"{title}: no attribute {unknown[0]!r}")
        if "n_outputs" in operator.names:
            values["n_outputs"] = len(node.output)
        return values

    def _attribute(self, proto: Any, scope: Scope, versions: dict[str, int], title: str) -> Any:
        kind = proto.type
        field = _FIELDS.get(kind)
        if field is None:
            raise InvalidModel(f"{title}: attribute {proto.name!r} has type {kind}")
        value = getattr(proto, field)
        try:
            if kind == proto.STRING:
                return value.decode()
            if kind == proto.STRINGS:
                return [text.decode() for text in value]
        except UnicodeDecodeError as error:
            raise InvalidModel(f"{title}: attribute {proto.name!r} is not UTF-8") from error
        if kind == proto.GRAPH:
            return self._graph(value, scope, versions)
        if kind == proto.TENSOR:
            return value_of(value, self._folder)
        if kind == proto.SPARSE_TENSOR:
            return sparse_value_of(value, self._folder)
        return list(value) if kind in (proto.INTS, proto.FLOATS) else value

    def _inlined(
        self, function: Any, node: Any, inputs: list[str | None], scope: Scope,
        steps: list[Step], title: str,
    ) -> None:  # fmt: skip
        """The steps of a function's body in place of a node that calls it."""
        inner = Scope(None, scope.given([*function.attribute_proto, *node.attribute]))
        inner.depth = scope.depth + 1
        if inner.depth > DEEPEST:
            raise InvalidModel(f"{title}: functions call each other more than {DEEPEST} deep")
        for position, name in enumerate(function.input):
            actual = inputs[position] if position < len(inputs) else None
            inner.define(name, actual or "")
        versions = _versions(function.opset_import)
        for inside in function.node:
            self._node(inside, inner, versions, steps)
        for name, formal in zip(node.output, function.output, strict=False):
            if name:
                scope.define(name, self._visible(formal, inner, title))

    def _folded(self, step: Step, op_type: str) -> bool:
        """Whether the step's inputs are all constants, and its output became one too."""
        names = [name for name in step.inputs if name is not None]
        if not names or step.bodies or op_type in _DRAWS or len(step.outputs) != 1:
            return False
        if any(name not in self.constants or name in self.trained for name in names):
            return False
        value: Any = step.known_result()
        if value is None and op_type not in _GROWS:
            value = self._computed(step, names)
        value = as_tensor(value)
        if not isinstance(value, gw.Tensor) or value.numel() > _SMALL:
            return False
        self._constant(step.outputs[0], value)
        return True

    def _computed(self, step: Step, names: list[str]) -> Any:
        """What the step computes from small constants; None where they are not."""
        values = {name: self.constants[name] for name in names}
        tensors = [as_tensor(value) for value in values.values()]
        if any(not isinstance(x, gw.Tensor) or x.numel() > _SMALL for x in tensors):
            return None
        try:
            with gw.no_grad():
                step.run(values)
        except REFUSALS:
            return None  # the call reports it, if the node ever runs
        return values[step.outputs[0]]

    def inputs(self) -> list[tuple[str, Any]]:
        """(name, TypeProto) of what a call of the module takes, in order."""
        held = {tensor.name for tensor in self._model.graph.initializer}
        return [(v.name, v.type) for v in self._model.graph.input if v.name not in held]


_OF_ONNX_RUNTIME = {"SimplifiedLayerNormalization"}
"""Operators that ONNX Runtime writes into the default domain, which has none of the name."""
_STATE = {("BatchNormalization", 3), ("BatchNormalization", 4)}
"""Inputs that are statistics, (operator, position)."""
_WITHOUT_EFFECT = {"consumed_inputs"}
_FIELDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings",
           11: "sparse_tensor", 13: "tp"}
"""Kind of an attribute -> the field of its message that has the value."""


def _are_whole(numbers: list[Any]) -> bool:
    """Whether all are whole, so small that floats have them and their neighbours exactly."""
    return all(isinstance(n, int) or (n.is_integer() and abs(n) < 2**20) for n in numbers)


def _called(node: Any) -> tuple[str, str, str]:
    """The key of the function that a node calls if the model has one of its name."""
    return (node.domain, node.op_type, getattr(node, "overload", ""))


def _check_declared(tensor: Any, declared: Any) -> None:
    """Refuse an initializer that is another tensor than the input of its name says."""
    if declared is None or not declared.HasField("tensor_type"):
        return
    kind = declared.tensor_type
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
    fits = not kind.HasField("shape") or (
        len(sizes) == len(tensor.dims)
        and all(a is None or a == b for a, b in zip(sizes, tensor.dims, strict=True))
    )
    if not fits or kind.elem_type not in (0, tensor.data_type):
        raise InvalidModel(
            f"initializer {tensor.name!r} has sizes {list(tensor.dims)} and element type "
            f"{tensor.data_type}, its input {sizes} and {kind.elem_type}"
        )


def _check(node: Any, schema: Any, title: str) -> None:
    """Refuse a node that has not the inputs, outputs and kinds of attributes of its operator."""
    if not node.output:
        raise InvalidModel(f"{title}: no outputs")
    if schema is None:
        return
    if not schema.min_input <= len(node.input) <= schema.max_input:
        raise InvalidModel(
            f"{title}: {len(node.input)} inputs, where the operator takes {schema.min_input} to "
            f"{schema.max_input}"
        )
    if len(node.output) > schema.max_output:
        raise InvalidModel(
            f"{title}: {len(node.output)} outputs, where the operator has {schema.max_output}"
        )
    formals = list(schema.inputs)
    for name, formal in zip(node.input, formals + formals[-1:] * len(node.input), strict=False):
        if not name and formal.option != formal.option.Optional:
            raise InvalidModel(f"{title}: the input {formal.name!r} is missing")
    for attribute in node.attribute:
        declared = schema.attributes.get(attribute.name)
        if declared is None and attribute.name not in _WITHOUT_EFFECT:
            raise InvalidModel(f"{title}: no attribute {attribute.name!r}")
        if declared is not None and attribute.type != declared.type.value:
            raise InvalidModel(
                f"{title}: the attribute {attribute.name!r} is no {declared.type.name}"
            )


def _versions(imports: Iterable[Any]) -> dict[str, int]:
    return {("" if o.domain == "ai.onnx" else o.domain): o.version for o in imports}


def _end_lifetimes(graph: Graph) -> None:
    """Note with each step the values of the graph that nothing reads after it."""
    read = set(graph.outputs)
    own = {name for step in graph.steps for name in step.outputs} | set(graph.inputs)
    for step in reversed(graph.steps):
        ended = (own & (_reads(step) | set(step.outputs))) - read
        step.ended = tuple(sorted(ended - {""}))
        read |= ended


def _reads(step: Step) -> set[str]:
    """Names of what the step and its bodies read."""
    names = {name for name in step.inputs if name is not None}
    for key in step.bodies:
        body: Graph = step.attributes[key]
        names.update(body.outputs)
        for inner in body.steps:
            names |= _reads(inner)
    return names
