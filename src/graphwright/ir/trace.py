"""Tracing: run a function or a graph on fake tensors and record the ops that it runs.

`trace` is the one way in which graphs are made from graphs: normalisation, the joint graph and
decomposition are re-executions that differ in which ops they keep, and in whether the tape is on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from graphwright.amp.state import own_casts
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import RECOMPUTED, ROUND, Node, map_leaves, map_nodes
from graphwright.ir.local_writes import LocalWrites, same_layout
from graphwright.ir.lowered_graph import CannotLower
from graphwright.runtime import _core
from graphwright.runtime.dispatch import AUTOCAST, TRACE
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import FakeTensor, fake_kernel, fake_like, make_fake
from graphwright.runtime.op_errors import is_refusal
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.strides import dense_order
from graphwright.runtime.ops.table import TABLE, Op
from graphwright.runtime.symbolic.expr import Sym
from graphwright.runtime.symbolic.places import STRIDE, WHOLE, integers_of
from graphwright.runtime.symbolic.symint import IntLike, SymInt, sym_int
from graphwright.runtime.tensor import dtypes, from_data

Keep = Callable[[Op], bool]
Rewrite = Callable[["Tracer", tuple[Any, ...]], Any]


def _for_eager_kernel(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether an op on dtypes without native code has a kernel that computes it whole."""
    if op.eager is None:
        return False
    return any(
        isinstance(t, _core.TensorBase) and t.dtype in dtypes.EAGER_ONLY
        for arg in args
        for t in (arg if isinstance(arg, tuple) else (arg,))
    )


class Tracer:
    """Records ops into a graph: what `dispatch` hands to while it is the thread's tracer.

    Args:
        keep: the ops to record as they are; others are decomposed where they can be.
        rewrites: op name -> function(tracer, args) that runs instead of recording that op.
    """

    whole_functions = True
    """A call of an `autograd.Function` is one op, not what its forward does."""
    for_native_code = True
    """Ops that only eager kernels can run raise `DataDependent`."""
    differentiable = False
    """Whether callers may record gradients of the graph, parts traced under no_grad included."""

    def __init__(self, keep: Keep, rewrites: dict[str, Rewrite] | None = None) -> None:
        self.keep = keep
        self.rewrites = rewrites or {}
        self.module = GraphModule({}, Graph())
        self.stack: Any = None
        self.part_of: str | None = None
        self.round: int | None = None
        self.no_grad = False
        self.recomputed = False
        self.taped = False
        self.functional = False
        self.local_writes = LocalWrites()
        self.rng_ops = 0
        self._nodes: dict[int, tuple[Any, Node]] = {}
        self._by_storage: dict[int, list[Any]] = {}
        self._constants: dict[int, FakeTensor] = {}
        self._last_placeholder: Node | None = None

    @property
    def graph(self) -> Graph:
        return self.module.graph

    def record(self, op: Op, args: tuple[Any, ...]) -> Any:
        """Add `op(*args)` to the graph; its value on fake tensors. NotImplemented: decompose.

        While `functional` is set, when nobody would make ops functional any more, one that writes
        to what was made meanwhile is recorded as what it writes.

        Raises: CannotLower for an op that is neither to be kept nor to be decomposed, or that
            writes to anything else while `functional` is set; DataDependent for one whose shape
            depends on values.
        """
        if self.functional and op.is_inplace:
            return self.local_writes.write(op, args)
        value = self._record(op, args)
        if self.functional and not op.is_view:
            value = map_leaves(value, lambda each: self._apart(each, args))
        if self.functional or (op.is_view and self.local_writes.some):
            self.local_writes.note(op, args, value)
        return value

    def _apart(self, value: Any, args: tuple[Any, ...]) -> Any:
        """A tensor of its own for what an op gives: a rewrite may give what was there before."""
        given = isinstance(value, _core.TensorBase) and any(value is arg for arg in args)
        if not given and not self.local_writes.knows(value):
            return value
        own = fresh_fake(value)
        self._remember(own, self.node_of(value))
        return own

    def _record(self, op: Op, args: tuple[Any, ...]) -> Any:
        rewrite = self.rewrites.get(op.name)
        if rewrite is not None:
            return rewrite(self, args)
        if not op.is_inplace and (
            op.meta is None or not (self.keep(op) or _for_eager_kernel(op, args))
        ):
            if op.meta is None and op.decompose is None:
                raise DataDependent(f"{op.name}: the result's shape depends on values")
            if op.decompose is None:
                raise CannotLower(f"{op.name} has no lowering")
            return NotImplemented
        nodes = map_leaves(args, self.node_of)
        if self._constants:
            args = map_leaves(args, self.fake_of)
        return self.add(op, nodes, fake_kernel(op, args))

    def emit(self, op: Op, args: tuple[Any, ...], value: Any) -> Any:
        """Add a node for `op(*args)`, which gives `value` on fake tensors."""
        return self.add(op, map_leaves(args, self.node_of), value)

    def records(self, op: Op) -> bool:
        """Whether `record` adds a node for such a call, whatever its arguments."""
        return op.name not in self.rewrites and op.meta is not None and self.keep(op)

    def add(self, op: Op, args: tuple[Any, ...], value: Any) -> Any:
        """Add a node for an op of nodes, which gives `value` on fake tensors."""
        node = self.graph.call_function(op, args)
        self._describe(node, value)
        if type(value) is tuple:
            for index, item in enumerate(value):
                part = self.graph.call_function(operator.getitem, (node, index))
                self._describe(part, item)
                self._remember(item, part)
        elif not op.is_inplace:
            self._remember(value, node)
        return value

    def placeholder(self, name: str, value: Any) -> Node:
        """Add an argument of the graph, before the other kinds of nodes."""
        graph = self.graph
        with graph.inserting_after(self._last_placeholder):
            node = self._last_placeholder = graph.placeholder(name)
        node.meta["val"] = value
        self._remember(value, node)
        return node

    def fake_of(self, leaf: Any) -> Any:
        """The fake tensor that stands for a real one; anything else as it is."""
        if not isinstance(leaf, _core.TensorBase) or isinstance(leaf, FakeTensor):
            return leaf
        fake = self._constants.get(id(leaf))
        if fake is None:
            fake = self._constants[id(leaf)] = fake_like(leaf)
            path = self.module.add_attr("constant", leaf)
            with self.graph.inserting_after(self._last_placeholder):
                node = self.graph.get_attr(path)
            node.meta["val"] = fake
            self._remember(fake, node)
        return fake

    def node_of(self, leaf: Any) -> Any:
        """The node whose value a tensor is; anything else as it is.

        Raises: ValueError for a fake tensor that this trace has not made.
        """
        if not isinstance(leaf, _core.TensorBase):
            return leaf
        leaf = self.local_writes.present(leaf)
        found = self._nodes.get(id(leaf))
        if found is not None:
            return found[1]
        if not isinstance(leaf, FakeTensor):
            return self.node_of(self.fake_of(leaf))
        for twin in self._by_storage.get(id(leaf._storage), ()):
            if same_layout(leaf, twin):
                return self._nodes[id(twin)][1]
        raise ValueError(f"{leaf!r} was not made by this trace")

    def _describe(self, node: Node, value: Any) -> None:
        """Set the node's metadata. Raises: CannotLower for a tensor without memory."""
        if isinstance(value, FakeTensor) and value.device.type == "meta":
            raise CannotLower(f"{node.name} is a tensor on device '{value.device}'")
        node.meta["val"] = value
        if self.stack is not None:
            node.meta["stack"] = self.stack
        if self.part_of is not None:
            node.meta["part_of"] = self.part_of
        if self.round is not None:
            node.meta[ROUND] = self.round
        if self.recomputed:
            node.meta[RECOMPUTED] = True
        if self.no_grad and self._without_gradients():
            node.meta["no_grad"] = True

    def _without_gradients(self) -> bool:
        """Whether the user has turned gradients off; the tape does too, to run an op's kernel."""
        return _core.user_disabled_grad() if self.taped else not _core.grad_enabled()

    def _remember(self, value: Any, node: Node) -> None:
        if isinstance(value, FakeTensor):
            self._nodes[id(value)] = (value, node)
            self._by_storage.setdefault(id(value._storage), []).append(value)


def by_memory(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """`as_strided` of the contiguous view of its base, for which its strides are right.

    A rewrite. Other layouts of its input may change in lowering; contiguous ones can be restored.
    Raises: CannotLower where memory has gaps.
    """
    value, *rest = map_leaves(args, tracer.fake_of)
    if not value.is_contiguous():
        order = dense_order(value.shape, value.stride())
        if order is None:
            raise CannotLower("as_strided of a tensor whose elements do not lie side by side")
        value = ops.permute(value, order[::-1])
    op = TABLE["as_strided"]
    return tracer.emit(op, (value, *rest), fake_kernel(op, (value, *rest)))


@contextmanager
def tracing(tracer: Any, autocast: bool = False, grad: bool = True) -> Iterator[Any]:
    """Within the block the thread's ops are recorded by `tracer`.

    autocast: whether the thread's autocast goes on, and its casts are recorded; otherwise ops run
    in their arguments' dtypes. grad: the grad mode at first. Modes are restored afterwards.
    """
    modes, previous, before = _core.modes(), _core.tracer(), _core.grad_enabled()
    _core.set_tracer(tracer)
    _core.set_modes((modes if autocast else modes & ~AUTOCAST) | TRACE)
    _core.set_grad_enabled(grad)
    try:
        with own_casts():
            yield tracer
    finally:
        _core.set_modes(modes)
        _core.set_tracer(previous)
        _core.set_grad_enabled(before)


@contextmanager
def refusals_of(node: Node) -> Iterator[None]:
    """CannotLower where a node refuses its arguments within the block."""
    try:
        yield
    except Exception as error:
        if not is_refusal(error):
            raise
        reason = f"{node.name} raises {type(error).__name__}: {error}"
        raise CannotLower(reason) from error


class Replay(Interpreter):
    """Runs a graph under a tracer, handing on where each node came from.

    A node whose op is kept, and whose operands are all as they were, is copied with its value:
    shape rules run only behind what has changed.

    traced: whether the graph's nodes and their values are those of an earlier trace.

    Raises: CannotLower for a node that refuses its arguments, as one that picks from a tensor by
        a constant out of bounds does: the program raises there, too.
    """

    def __init__(self, module: GraphModule, tracer: Tracer, traced: bool = False) -> None:
        super().__init__(module)
        self.tracer = tracer
        self.traced = traced and not module.meta.get("symbols") and not any(
            getattr(node.target, "is_inplace", False) for node in module.graph.nodes)
        self.copies: dict[Node, Node] = {}

    def run_node(self, node: Node) -> Any:
        if node.op == "output":
            return super().run_node(node)
        if self._is_as_before(node):
            value = self._copied(node)
        elif node.op == "placeholder":
            value = super().run_node(node)
        else:
            with self.provenance(node), refusals_of(node):
                value = super().run_node(node)
                value = ops.clone(value) if _is_written(node, value) else value
        if self.traced and _is_alike(value, node.meta.get("val")):
            self.copies[node] = self.tracer.node_of(value)
        return value

    def _is_as_before(self, node: Node) -> bool:
        """Whether running a node again would add a copy of it, with a value like the one it has.

        A value with a history is of a trace on the tape, which this trace is not on.
        """
        op = node.target
        if not self.traced or type(op) is not Op or op.is_view or "no_grad" in node.meta:
            return False
        value = node.meta["val"]
        return (self.tracer.records(op) and type(value) is FakeTensor and not value.requires_grad
                and all(operand in self.copies for operand in node.all_input_nodes))

    def _copied(self, node: Node) -> Any:
        self._start(node)
        args = map_nodes(node.args, self.copies.__getitem__)
        return self.tracer.add(cast(Op, node.target), args, node.meta["val"])

    def _start(self, node: Node) -> None:
        """What is recorded from now on comes from where `node` does, or is a part of it."""
        op = node.target
        whole = op.name if type(op) is Op and not self.tracer.records(op) else None
        self.tracer.part_of = node.meta.get("part_of", whole)
        self.tracer.stack = node.meta.get("stack")
        self.tracer.round = node.meta.get(ROUND)
        self.tracer.recomputed = RECOMPUTED in node.meta

    @contextmanager
    def provenance(self, node: Node) -> Iterator[None]:
        """Within the block ops come from the user's line of `node`, and run in its grad mode."""
        self._start(node)
        if not node.meta.get("no_grad"):
            yield
            return
        enabled = _core.grad_enabled()
        _core.set_grad_enabled(False)
        try:
            yield
        finally:
            _core.set_grad_enabled(enabled)


def _is_alike(value: Any, before: Any) -> bool:
    """Whether shape rules cannot distinguish a value from that of the node in an earlier trace."""
    if type(value) is not FakeTensor or type(before) is not FakeTensor or value.requires_grad:
        return False
    return value is before or (
        value.dtype is before.dtype and value.shape == before.shape
        and value.stride() == before.stride() and value.device == before.device)


def _is_written(node: Node, value: Any) -> bool:
    """Whether a node makes a tensor of numbers to which the graph writes: each run has its own."""
    if not isinstance(value, _core.TensorBase) or isinstance(value, FakeTensor):
        return False
    of_numbers = isinstance(
        next(iter(node.args), None), bool | int | float | complex | list | tuple)
    made = node.target is from_data.tensor or (
        of_numbers and node.target in (from_data.as_tensor, from_data.asarray))
    storage = getattr(node.meta.get("val"), "_storage", None)
    return made and storage is not None and storage._version > 0


def fresh_fake(value: Any, requires_grad: bool = False) -> Any:
    """A fake tensor of the same type with its own storage and no history.

    Sizes are simplified by what their environment has learnt. Ints come back as they are.
    """
    if not isinstance(value, _core.TensorBase):
        return _simplified(value)
    shape = tuple([_simplified(size) for size in value.shape])
    strides = tuple([_simplified(stride) for stride in value.stride()])
    return make_fake(shape, strides, value.dtype, value.device, requires_grad)


def _simplified(size: Any) -> Any:
    return sym_int(size.expr, size.env) if type(size) is SymInt else size


def trace(
    target: Callable[..., Any] | GraphModule,
    fake_args: Sequence[Any],
    *,
    keep: Keep,
    rewrites: dict[str, Rewrite] | None = None,
    names: Sequence[str] | None = None,
    taped: bool = False,
    modes: bool = False,
) -> GraphModule:
    """The graph of the ops that `target` runs on these arguments.

    Args:
        fake_args: fake tensors (copied, so that theirs is not mutated), ints and `SymInt`s.
        keep: which ops to record whole; others are recorded as their decompositions.
        rewrites: op name -> function(tracer, args) to run instead of recording the op.
        names: of the placeholders; those of `target` if it is a graph.
        taped: whether arguments that require grad do so in the trace, so that the tape runs
            where grad mode is on.
        modes: whether the thread's grad mode and autocast are those at first, and what the graph
            does to autocast is followed; otherwise grad mode is on at first.

    Nodes are `call_function` of an `Op` on its fully bound arguments. Real tensors met on the
    way become `get_attr`. `meta` of the module: "symbols", "shape_env", "rng_ops".
    """
    tracer = Tracer(keep, rewrites)
    tracer.no_grad, tracer.taped = True, taped
    args = [fresh_fake(a, taped and isinstance(a, _core.TensorBase) and a.requires_grad)
            for a in fake_args]
    run: Callable[..., Any] = target
    if isinstance(target, GraphModule):
        names = names or [node.name for node in target.graph.placeholders]
        run = Replay(target, tracer, traced=not (taped or modes)).run
        inherit(tracer.module, target)
    names = names or [f"arg{i}" for i in range(len(args))]
    for name, arg in zip(names, args, strict=True):
        tracer.placeholder(name, arg)
    if isinstance(target, GraphModule):
        copy_sources(target.graph, tracer.graph)
    with tracing(tracer, modes, grad=_core.grad_enabled() or not modes):
        result = run(*args)
    return finish(tracer, result)


def inherit(module: GraphModule, origin: GraphModule) -> None:
    """Give `module` the constants' names and the facts of the graph it is made from."""
    module.meta.update(origin.meta)
    for name, value in (*origin._buffers.items(), *origin._parameters.items()):
        if name.startswith("constant"):
            module.add_attr(name, value)


def copy_sources(origin: Graph, graph: Graph) -> None:
    """Copy what capture noted on the placeholders."""
    for old, new in zip(origin.placeholders, graph.placeholders, strict=False):
        if "source" in old.meta:
            new.meta["source"] = old.meta["source"]


def finish(tracer: Tracer, result: Any) -> GraphModule:
    """Close the graph with its output; note where its size symbols come from."""
    module = tracer.module
    output = tracer.graph.output(map_leaves(result, tracer.node_of))
    output.meta["val"] = result
    module.meta["rng_ops"] = max(tracer.rng_ops, module.meta.get("rng_ops", 0))
    bind_symbols(module)
    return module


def bind_symbols(module: GraphModule) -> None:
    """Set meta["symbols"] and meta["shape_env"] from the placeholders' values."""
    inputs = [node.meta.get("val") for node in module.graph.placeholders]
    module.meta["symbols"] = symbols_of(inputs)
    envs = [value.env for _, _, value in _symbolic(inputs)]
    module.meta["shape_env"] = envs[-1] if envs else module.meta.get("shape_env")


def symbols_of(inputs: Sequence[Any]) -> dict[str, tuple[int, int]]:
    """Where the values of symbols are found: name -> (number of the input, place in it)."""
    symbols: dict[str, tuple[int, int]] = {}
    for place, index, value in _symbolic(inputs):
        if isinstance(value.expr, Sym):
            symbols.setdefault(value.expr.name, (index, place))
    return symbols


def _symbolic(inputs: Sequence[Any]) -> list[tuple[int, int, SymInt]]:
    """The symbolic integers that inputs give, sizes first: (place, number of the input, value)."""
    found = [(place, index, value) for index, given in enumerate(inputs)
             for place, value in _integers(given) if type(value) is SymInt]
    return sorted(found, key=lambda item: item[0] >= STRIDE)


def _integers(value: Any) -> Iterable[tuple[int, IntLike]]:
    """The integers that an input gives, with their places."""
    if type(value) is SymInt:
        return [(WHOLE, value)]
    return integers_of(value) if hasattr(value, "shape") else ()
