"""A recorded graph as JSON, and back. docs/export.md describes the schema.

Reading makes nothing but ops of the op table, plain values and tensors: no name in a file is ever
imported or called.
"""

from __future__ import annotations

import json
import operator
import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from graphwright.export.errors import ExportError, InvalidProgram
from graphwright.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    TensorArgument,
    output_specs,
)
from graphwright.export.ranges import RangeConstraints, ValueRanges
from graphwright.export.recording import Recording
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.graph.plain_values import DEEPEST, PlainReader, PlainWriter
from graphwright.ir.trace import bind_symbols
from graphwright.runtime.fake.fake_tensor import make_fake
from graphwright.runtime.ops.families import load_all
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.symbolic.expr import Sym
from graphwright.runtime.symbolic.relation import Relation
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import TreeSpec
from graphwright.version import __version__

FORMAT, FORMAT_VERSION = "graphwright.export", 1
MOST_NODES = 1_000_000
_CONTAINERS = {"tuple": tuple, "list": list, "dict": dict, "ordered_dict": OrderedDict}
_SYMBOL = re.compile(r"s[0-9]{1,9}")
_RELATIONS = ("==", "!=", "<", "<=", ">", ">=")
_PLAIN = PlainWriter(ExportError)


# -- writing


def encoded(recording: Recording) -> str:
    """The program as JSON. Raises ExportError for what a file cannot hold."""
    graph, signature = recording.module.graph, recording.signature
    env = recording.module.meta.get("shape_env")
    values = {node.name: node.meta["val"] for node in graph.placeholders}
    written = {
        "format": FORMAT, "format_version": FORMAT_VERSION, "graphwright": __version__,
        "symbols": {name: [one.lower, one.upper]
                    for name, one in recording.constraints.ranges.items()},
        "hints": dict(env.values) if env is not None else {},
        "relations": [[one.op, _PLAIN.expression(one.lhs), _PLAIN.expression(one.rhs)]
                      for one in recording.constraints.relations],
        "inputs": [_input(one, values) for one in signature.input_specs],
        "nodes": [_node(node) for node in graph.nodes if node.op not in ("placeholder", "output")],
        "outputs": [_PLAIN.value(part) for part in graph.output_node().args[0]],
        "mutated": list(signature.mutated),
        "arguments": _structure(recording.in_spec), "results": _structure(recording.out_spec),
        "rng_ops": recording.module.meta.get("rng_ops", 0),
    }
    return json.dumps(written, allow_nan=False, separators=(",", ":"))


def _input(one: InputSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(one.arg, ConstantArgument):
        return {"kind": "constant", "name": one.arg.name, "value": _PLAIN.value(one.arg.value)}
    fake = values[one.arg.name]
    found = {"kind": one.kind.value, "name": one.arg.name, "dtype": fake.dtype.name,
             "shape": [_PLAIN.size(size) for size in fake.shape],
             "stride": [_PLAIN.size(stride) for stride in fake.stride()]}
    if one.target is not None:
        found |= {"target": one.target, "persistent": one.persistent is not False}
    return found


def _node(node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {"name": node.name, "op": _PLAIN.op(node.target)}
    found["args"] = [_PLAIN.value(arg) for arg in node.args]
    if node.meta.get("no_grad"):
        found["no_grad"] = True
    if node.meta.get("stack") is not None:
        file, line, text = node.meta["stack"]
        found["line"] = [re.split(r"[\\/]", file)[-1], line, text]
    return found


def _structure(spec: TreeSpec) -> Any:
    if spec.is_leaf():
        return None
    for name, kind in _CONTAINERS.items():
        if spec.type is kind:
            found: dict[str, Any] = {name: [_structure(child) for child in spec.children_specs]}
            if kind in (dict, OrderedDict):
                found["keys"] = [_key(key) for key in spec.context or ()]
            return found
    raise ExportError(f"a file cannot hold a {spec.type.__name__} among arguments or results: use "
                      "tuples, lists and dicts")


def _key(key: Any) -> Any:
    if type(key) in (str, int):
        return key
    raise ExportError(f"a file cannot hold {key!r} as a key of a dict: use strings and ints")


# -- reading


class _Reader:
    """Makes a graph of what a file says; each part is checked before it is used."""

    def __init__(self, written: Any) -> None:
        self.nodes: dict[str, Node] = {}
        self.env = ShapeEnv()
        self.plain = PlainReader(self.env, self.nodes, InvalidProgram)
        self.written = self.plain.checked(written, dict, "the program")

    def field(self, name: str, kind: type[Any]) -> Any:
        return self.plain.checked(self.written.get(name), kind, f"'{name}' of the program")

    def recording(self, state: dict[str, Tensor]) -> Recording:
        load_all()
        constraints = self._constraints()
        module = GraphModule({}, Graph())
        specs = [self._input(module.graph, self.plain.checked(one, dict, "an input"), state)
                 for one in self.field("inputs", list)]
        nodes = self.field("nodes", list)
        if len(nodes) > MOST_NODES:
            raise InvalidProgram(f"the program has {len(nodes)} nodes, more than {MOST_NODES}")
        for one in nodes:
            self._add(module.graph, self.plain.checked(one, dict, "a node"))
        results = [self.plain.value(one) for one in self.field("outputs", list)]
        module.graph.output(tuple(results))
        arguments = self.structure(self.written.get("arguments"))
        if arguments.is_leaf() or arguments.type is not tuple or arguments.num_children != 2:
            raise InvalidProgram("the arguments are not a tuple and a dict")
        outcome = self.structure(self.written.get("results"))
        outputs = output_specs(results)
        users = [one for one in specs if one.kind is InputKind.USER_INPUT]
        if arguments.num_leaves != len(users) or outcome.num_leaves != len(outputs):
            raise InvalidProgram("the structure of arguments or results has another number of "
                                 "leaves than the graph")
        mutated = tuple([self.plain.checked(one, str, "a name of an input")
                         for one in self.field("mutated", list)])
        if not {*mutated} <= {one.arg.name for one in specs}:
            raise InvalidProgram("the program says that it writes to what is no input")
        module.meta["rng_ops"] = self.plain.count(self.written.get("rng_ops"))
        bind_symbols(module)
        return Recording(module, ExportGraphSignature(specs, outputs, mutated), arguments, outcome,
                         state, constraints)

    def _constraints(self) -> RangeConstraints:
        hints = self.field("hints", dict)
        ranges: dict[str, ValueRanges] = {}
        for name, hint in hints.items():
            if not _SYMBOL.fullmatch(name) or type(hint) is not int or not 0 <= hint < 1 << 62:
                raise InvalidProgram(f"{name!r:.40} is no size symbol with a value")
            self.env.symbols[name] = Sym(name, 2)
            self.env.values[name] = hint
        for name, bounds in self.field("symbols", dict).items():
            if name not in self.env.symbols or type(bounds) is not list or len(bounds) != 2:
                raise InvalidProgram(f"{name!r:.40} has no range")
            upper = None if bounds[1] is None else self.plain.count(bounds[1])
            ranges[name] = ValueRanges(self.plain.count(bounds[0]), upper)
        relations = []
        for one in self.field("relations", list):
            if type(one) is not list or len(one) != 3 or one[0] not in _RELATIONS:
                raise InvalidProgram("a relation between sizes is malformed")
            lhs, rhs = [self.plain.expression(side) for side in one[1:]]
            relations.append(Relation(one[0], lhs, rhs))
        return RangeConstraints(ranges, tuple(relations))

    def _input(self, graph: Graph, one: dict[str, Any], state: dict[str, Tensor]) -> InputSpec:
        name, kind = one.get("name"), one.get("kind")
        if kind == "constant":
            arg = ConstantArgument(self.plain.checked(name, str, "a name of an input"),
                                   self.plain.value(one.get("value")))
            return InputSpec(InputKind.USER_INPUT, arg, None)
        if kind not in [known.value for known in InputKind]:
            raise InvalidProgram(f"{kind!r:.40} is no kind of input")
        node = graph.placeholder(self._new_name(name))
        dtype = self.plain.dtype(one.get("dtype"))
        shape, stride = self.plain.sizes(one.get("shape")), self.plain.sizes(one.get("stride"))
        if len(shape) != len(stride) or len(shape) > 32:
            raise InvalidProgram(f"the input {name!r:.40} has sizes and strides of two lengths")
        target = one.get("target")
        if target is not None:
            self.plain.checked(target, str, "a tensor's name")
        tensor = None if target is None else state.get(target)
        needs = InputKind(kind) is not InputKind.USER_INPUT
        if needs != (tensor is not None):
            raise InvalidProgram(f"the input {name!r:.40} has no tensor named {target!r:.60}")
        if tensor is not None and (tuple(tensor.shape) != shape or tensor.dtype is not dtype):
            raise InvalidProgram(f"the tensor {target!r:.60} does not fit its input")
        node.meta["val"] = make_fake(shape, stride, dtype, Device("cpu"),
                                     tensor is not None and tensor.requires_grad)
        self.nodes[node.name] = node
        persistent = bool(one.get("persistent")) if InputKind(kind) is InputKind.BUFFER else None
        return InputSpec(InputKind(kind), TensorArgument(node.name), target, persistent)

    def _new_name(self, name: Any) -> str:
        if type(name) is not str or not name.isidentifier() or name in self.nodes:
            raise InvalidProgram(f"{name!r:.60} is no new name for a node")
        return name

    def _add(self, graph: Graph, one: dict[str, Any]) -> None:
        name = self._new_name(one.get("name"))
        given = self.plain.checked(one.get("args"), list, f"'args' of the node {name}")
        args = tuple([self.plain.value(arg) for arg in given])
        op = one.get("op")
        if op == "getitem":
            if len(args) != 2 or not isinstance(args[0], Node) or type(args[1]) is not int:
                raise InvalidProgram(f"the node {name} does not pick one of several results")
            target: Any = operator.getitem
        else:
            entry = TABLE.get(op) if type(op) is str else None
            if entry is None or not entry.schema.params:
                raise InvalidProgram(f"the node {name} is of an op {op!r:.60}, which this version "
                                     "of graphwright lacks")
            if len(args) != len(entry.schema.params):
                raise InvalidProgram(f"the node {name} has {len(args)} arguments for the "
                                     f"{len(entry.schema.params)} parameters of {op}")
            target = entry
        node = graph.call_function(target, args)
        node.name = name
        self.nodes[name] = node
        if one.get("no_grad") is True:
            node.meta["no_grad"] = True
        line = one.get("line")
        if line is not None:
            if type(line) is not list or [type(part) for part in line] != [str, int, str]:
                raise InvalidProgram(f"the node {name} has a malformed line")
            node.meta["stack"] = tuple(line)

    def structure(self, written: Any, depth: int = 0) -> TreeSpec:
        """How arguments or results are nested."""
        if written is None:
            return TreeSpec(None)
        fields = self.plain.checked(written, dict, "a structure")
        kind = next((name for name in _CONTAINERS if name in fields), None)
        if kind is None or depth > DEEPEST or type(fields[kind]) is not list:
            raise InvalidProgram("the structure of arguments or results is malformed")
        children = [self.structure(child, depth + 1) for child in fields[kind]]
        keys = fields.get("keys")
        named = kind in ("dict", "ordered_dict")
        if named and (type(keys) is not list or len(keys) != len(children)
                      or any(type(key) not in (str, int) for key in keys)):
            raise InvalidProgram("a dict among arguments or results has no keys")
        return TreeSpec(_CONTAINERS[kind], keys if named else None, children)


def decoded(text: str, state: dict[str, Tensor]) -> Recording:
    """The program that `encoded` wrote, on these tensors. Raises InvalidProgram."""
    try:
        written = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidProgram(f"the program is not JSON ({error})") from None
    reader = _Reader(written)
    if reader.written.get("format") != FORMAT:
        raise InvalidProgram("the file is no exported program of graphwright")
    version = reader.written.get("format_version")
    if type(version) is not int or version > FORMAT_VERSION:
        raise InvalidProgram(f"the program is of the format's version {version!r:.20}, and this "
                             f"graphwright reads up to {FORMAT_VERSION}: use a newer one")
    return reader.recording(state)
