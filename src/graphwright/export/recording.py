"""Recording one call of a function or module as a graph of ops, whose inputs are its state and its
tensor arguments."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Sequence
from typing import Any, cast

from graphwright.capture.frame.code_owner import is_library, users_call
from graphwright.export.comparing import is_same_graph
from graphwright.export.dynamic_shapes import DerivedDim, Dim, Spec, specs_of
from graphwright.export.errors import ExportError
from graphwright.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    TensorArgument,
    output_specs,
)
from graphwright.export.ranges import Dims, RangeConstraints, ValueRanges, constraints_of
from graphwright.export.state import Known, State
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.ir.lowered_graph import CannotLower
from graphwright.ir.trace import Tracer, finish, tracing
from graphwright.nn.module import Module
from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import FakeTensor, WithoutData, fake_like, make_fake
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import Op
from graphwright.runtime.record import Record, replace
from graphwright.runtime.symbolic.relation import Relation
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import TreeSpec, tree_flatten, tree_unflatten


class Recording(Record):
    """A recorded call.

    in_spec: the structure of `(args, kwargs)`; out_spec: that of the result. state: the tensors of
    the first inputs, by name.
    """

    module: GraphModule
    signature: ExportGraphSignature
    in_spec: TreeSpec
    out_spec: TreeSpec
    state: dict[str, Tensor]
    constraints: RangeConstraints

    def replaced(self, module: GraphModule) -> Recording:
        """The same call by another graph of the same inputs."""
        outputs = output_specs(module.graph.output_node().args[0])
        signature = replace(self.signature, output_specs=outputs)
        return replace(self, module=module, signature=signature)


class _Env(ShapeEnv):
    """Remembers the user's line for which something was assumed of a size."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[Relation, str] = {}

    def _decide(self, relation: Relation) -> bool:
        before = set(self.guards)
        truth = super()._decide(relation)
        for fact in self.guards:
            if fact not in before:
                place = users_call()
                self.lines[fact] = "" if place is None else str(place).rstrip(": ")
        return truth


class _Tracer(Tracer):
    """Records every op as it is called, with the user's line."""

    whole_functions = False
    for_native_code = False

    def record(self, op: Op, args: tuple[Any, ...]) -> Any:
        place = users_call()
        self.stack = None if place is None else (place.file, place.line, place.source)
        if op.is_inplace or op.meta is not None or op.decompose is None:
            return super().record(op, args)
        return self._whole(op, args)

    def _whole(self, op: Op, args: tuple[Any, ...]) -> Any:
        """An op that is made of others as one node: it runs as it does eagerly."""
        nodes, fakes = map_leaves(args, self.node_of), map_leaves(args, self.fake_of)
        if is_optimiser_step(op):
            _note_writes(op, fakes)
            return self.add(op, nodes, None)
        before = _core.set_tracer(WithoutData())
        try:
            value = cast(Callable[..., Any], op.decompose)(*fakes)
        finally:
            _core.set_tracer(before)
        several = isinstance(value, list | tuple)
        self.add(op, nodes, tuple(value) if several else value)
        return value


class _Traced(Record):
    """A call as a graph.

    inputs: label, value and placeholder of each leaf of the arguments; None for what is no tensor.
    dims: symbol -> what was said of it, and which dim of which input it is.
    out_spec: the structure of the result.
    """

    module: GraphModule
    inputs: list[tuple[str, Any, Node | None]]
    dims: Dims
    out_spec: TreeSpec


class _Call:
    """A call that is to be recorded, once for each choice of the sizes that are 1."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
        dynamic_shapes: Any,
    ) -> None:
        self.function, self.state = function, State(function)
        self.leaves, self.in_spec = tree_flatten((args, kwargs))
        names = parameter_names(function, args, kwargs)
        self.specs = specs_of(dynamic_shapes, names, self.in_spec, self.leaves)
        self.labels = argument_labels(names, self.in_spec)

    def trace(self, env: ShapeEnv, one: Any = None) -> _Traced:
        """The graph of the call, in which the sizes of the Dim `one` are 1."""
        tracer = _Tracer(lambda op: True)
        tracer.no_grad, tracer.taped = True, True
        put_back = self.state.saved()
        inputs: list[tuple[str, Any, Node | None]] = []
        dims: Dims = {}
        records = _core.grad_enabled() and not isinstance(self.function, Module)
        with tracing(tracer, True, grad=records):
            for label, leaf, spec in zip(self.labels, self.leaves, self.specs, strict=True):
                node = None
                if isinstance(leaf, Tensor):
                    leaf = _fake(env, leaf, spec, label, one, dims)
                    node = tracer.placeholder(_identifier(label), leaf)
                inputs.append((label, leaf, node))
            args, kwargs = tree_unflatten([value for _, value, _ in inputs], self.in_spec)
            try:
                results, out_spec = tree_flatten(_run(self.function, args, kwargs))
                return _Traced(finish(tracer, tuple(results)), inputs, dims, out_spec)
            finally:
                put_back()


def _fake(
    env: ShapeEnv, leaf: Tensor, spec: Spec, label: str, one: Any, dims: Dims
) -> FakeTensor:
    """A tensor without data whose sizes of `spec` are symbols, and 1 where they are the Dim `one`.
    """
    dynamic = {dim: said for dim, said in spec.items() if one is None or said is not one}
    if len(dynamic) < len(spec):
        shape = tuple([1 if dim in spec and dim not in dynamic else size
                       for dim, size in enumerate(leaf.shape)])
        leaf = make_fake(shape, contiguous_strides(shape), leaf.dtype, leaf.device,
                         leaf.requires_grad)
    fake = fake_like(leaf, env, dynamic)
    _declare(env, fake, dynamic, label, dims)
    return fake


def record(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
    dynamic_shapes: Any,
) -> Recording:
    """Record `function(*args, **kwargs)`.

    Raises: ExportError for what is no single graph, and for sizes that do not vary as asked.
    """
    call = _Call(function, args, kwargs, dynamic_shapes)
    env = _Env()
    traced = call.trace(env)
    module = traced.module
    placed = _lift(module, call.state)
    constraints = constraints_of(env, traced.dims)
    signature = _signature(module, placed, traced.inputs)
    tensors = {known.name: known.tensor for known in placed.values()}
    module.meta["recorded_facts"] = env.guards
    module.recompile()
    made = Recording(module, signature, call.in_spec, traced.out_spec, tensors, constraints)
    _extend_to_one(made, call, traced.dims)
    return made


def _extend_to_one(made: Recording, call: _Call, dims: Dims) -> None:
    """Let the range of a Dim begin at 1 where the graph of that size is the same.

    Raises: ExportError where the user has asked for it, and it is another.
    """
    for said in {id(said): said for said, _, _ in dims.values()}.values():
        if not isinstance(said, Dim) or (said.asked or 1) > 1:
            continue
        names = [name for name, (other, _, _) in dims.items() if other is said]
        if any(isinstance(other, DerivedDim) and other.root is said
               for other, _, _ in dims.values()):
            continue
        problem: Exception | None = None
        try:
            small = call.trace(_Env(), said).module
            _lift(small, call.state)
            same = is_same_graph(made.module.graph, small.graph, dict.fromkeys(names, 1))
        except Exception as error:      # whatever the program raises for that size
            same, problem = False, error
        if same:
            for name in names:
                upper = made.constraints.ranges[name].upper
                made.constraints.ranges[name] = ValueRanges(1, upper)
        elif said.asked == 1:
            raise ExportError(f"the program is another one where {said.__name__} is 1: give "
                              f"Dim('{said.__name__}') without min=1") from problem


def _run(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The call, with what no graph can hold as an ExportError that names the user's line."""
    try:
        return function(*args, **kwargs)
    except (DataDependent, CannotLower) as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__)
                  if not is_library(frame.filename)]
        last = frames[-1] if frames else None
        where = "" if last is None else f"\n  {last.filename}:{last.lineno}: {last.line}"
        raise ExportError(
            f"the program depends on the values of tensors ({error}), which one graph cannot "
            f"hold: use gw.where or gw.cond for choices, and masks for selections{where}"
        ) from error


def parameter_names(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[str]:
    """The names of the arguments given, positional ones first.

    Raises: ExportError where they do not fit the function.
    """
    called = function.forward if isinstance(function, Module) else function
    try:
        signature = inspect.signature(called)
        bound = signature.bind(*args, **kwargs)
    except ValueError:
        return [*(f"arg_{number}" for number in range(len(args))), *kwargs]
    except TypeError as error:
        raise ExportError(f"the arguments do not fit the function: {error}") from None
    names: list[str] = []
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{name}_{number}" for number in range(len(value))]
        elif kind is not inspect.Parameter.VAR_KEYWORD and name not in kwargs:
            names.append(name)
    return [*names, *kwargs]


def argument_labels(names: Sequence[str], spec: TreeSpec) -> list[str]:
    """A name for each leaf: `x`, or `batch.image` within containers."""
    arguments, keywords = spec.children_specs
    found: list[str] = []

    def note(label: str, part: TreeSpec) -> None:
        if part.is_leaf():
            found.append(label)
            return
        keys = part.context if isinstance(part.context, list) else range(part.num_children)
        for key, child in zip(keys, part.children_specs, strict=True):
            note(f"{label}.{key}", child)

    for name, child in zip(
        names, [*arguments.children_specs, *keywords.children_specs], strict=True
    ):
        note(name, child)
    return found


def _identifier(label: str) -> str:
    text = "".join(char if char.isalnum() else "_" for char in label)
    return text if text.isidentifier() else f"_{text}"


def _declare(env: ShapeEnv, fake: FakeTensor, spec: Spec, label: str, dims: Dims) -> None:
    """Let sizes of one Dim be equal, and note which symbol is which dim of which input."""
    for dim, said in spec.items():
        size: Any = fake.shape[dim]
        assert isinstance(size, SymInt)
        symbol, hint = str(size), env.hint(size.expr)       # another one once they are equal
        if isinstance(said, Dim | DerivedDim):
            root = next((s for s, (known, _, _) in dims.items() if known is said.root), None)
            if root is not None:
                wanted = said.factor * SymInt(env.symbols[root], env) + said.term
                if env.hint(wanted.expr) != hint:
                    raise ExportError(f"{said!r} is {env.hint(wanted.expr)} by an input before, "
                                      f"and {hint} as dim {dim} of '{label}'")
                env.evaluate_bool(Relation("==", size.expr, wanted.expr))
            elif said is not said.root:
                raise ExportError(f"dim {dim} of '{label}' is {said}, and no dim before it is "
                                  f"{said.root.__name__}")
            elif not said.root.min <= hint <= (said.root.max or hint):
                raise ExportError(f"dim {dim} of '{label}' is {hint}, which {said!r} excludes")
        dims[symbol] = (said, label, dim)


def _lift(module: GraphModule, state: State) -> dict[Node, Known]:
    """The state among the graph's constants as inputs before the user's.

    A module's parameters and buffers are inputs whether the graph reads them or not.
    """
    graph = module.graph
    used: dict[int, tuple[Known, Node | None]] = {}
    if "" in state.modules:
        used = {id(one.tensor): (one, None) for one in state.known.values()}
    for number, node in enumerate([n for n in graph.nodes if n.op == "get_attr"]):
        tensor = module.attr(str(node.target))
        known = state.known.get(id(tensor)) or Known(
            tensor, f"constant_{number}", InputKind.CONSTANT_TENSOR)
        used[id(tensor)] = (known, node)
    order = {key: place for place, key in enumerate(state.known)}
    found = sorted(used.items(), key=lambda item: (
        list(InputKind).index(item[1][0].kind), order.get(item[0], len(order))))
    placed: dict[Node, Known] = {}
    first = next(iter(graph.nodes))
    for _, (known, constant) in found:
        with graph.inserting_before(first):
            made = graph.placeholder(f"{known.kind.value[0]}_{_identifier(known.name)}")
        if constant is None:
            made.meta["val"] = fake_like(known.tensor)
        else:
            made.meta.update(constant.meta)
            constant.replace_all_uses_with(made)
            graph.erase_node(constant)
        placed[made] = known
    for held in (module._buffers, module._parameters):
        for name in [name for name in held if name.startswith("constant")]:
            del held[name]
    module.meta["symbols"] = {symbol: (place + len(placed), dim)
                              for symbol, (place, dim) in module.meta["symbols"].items()}
    return placed


def _signature(
    module: GraphModule, placed: dict[Node, Known], inputs: list[tuple[str, Any, Node | None]]
) -> ExportGraphSignature:
    specs = [InputSpec(known.kind, TensorArgument(node.name), known.name, known.persistent)
             for node, known in placed.items()]
    for label, value, node in inputs:
        arg = ConstantArgument(label, value) if node is None else TensorArgument(node.name)
        specs.append(InputSpec(InputKind.USER_INPUT, arg, None))
    outputs = output_specs(module.graph.output_node().args[0])
    return ExportGraphSignature(specs, outputs, _written(module))


def _written(module: GraphModule) -> tuple[str, ...]:
    """The placeholders whose memory was written, by an op or what it is made of."""
    return tuple([node.name for node in module.graph.placeholders
                  if node.meta["val"]._storage._version > 0])


def _note_writes(op: Op, args: tuple[Any, ...]) -> None:
    """An optimiser's step writes the parameter and its state."""
    for name, value in zip(op.names, args, strict=True):
        if name != "grad" and isinstance(value, FakeTensor):
            _core.bump_version(value)


def is_optimiser_step(op: Op) -> bool:
    """Whether an op is the step of an optimiser for one parameter."""
    return op.family.startswith("optim.")
