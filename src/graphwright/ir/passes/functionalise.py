"""No op writes to memory any more: in-place ops become functional ones, views follow.

Before::

    def forward(self, x, w):
        select = ops.select(x, 0, 1)
        mul_ = ops.mul_(select, w)
        add_ = ops.add_(x, 1)
        return (select, add_)

After::

    def forward(self, x, w):
        select = ops.select(x, 0, 1)
        mul = ops.mul(select, w)
        ...                                  # x with row 1 replaced by mul
        add = ops.add(cat, 1)
        return (add,)

with `mutated = [(0, 0)]` and both results described as views of input 0.

Tensors that share memory share a `Root`, which holds the current value of the memory as a pure
value, and each is the root seen through a chain of views. An in-place op computes the new value
of its view and puts it back through the chain; the other views are taken from the root anew when
they are next read. Results that share memory with inputs or with one another, and views with gaps
or overlaps, are left to the caller, who makes them from those tensors by the same view ops.
Where a tensor with a history is written under `no_grad`, or through `detach()`, its new value
carries the history that it had (`ir.joint.carried_history`). An intermediate without one that is
written with one through `detach()` has that history for the detached view, its views, and nothing
else.
An input that is the second name of another's memory, its `.data` (`second_names` of the module),
is a detached view of that one's root; memory written under the second name only is written there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_nodes
from graphwright.ir.joint.carried_history import carry
from graphwright.ir.joint.joint import dense_like, restrided
from graphwright.ir.lowered_graph import (
    ONE_OF_SEVERAL,
    OVERWRITTEN,
    UNRECORDED,
    CannotLower,
    OutputSpec,
    ViewStep,
)
from graphwright.ir.passes.algebra import same_sizes
from graphwright.ir.trace import (
    Replay,
    Rewrite,
    Tracer,
    copy_sources,
    finish,
    fresh_fake,
    inherit,
    refusals_of,
    tracing,
)
from graphwright.ir.views.inverse import REPEATING, new_value, put_back, view_again
from graphwright.ir.views.regions import Region, whole
from graphwright.runtime import _core
from graphwright.runtime.fake.fake_tensor import FakeTensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.strides import may_overlap
from graphwright.runtime.ops.table import Op
from graphwright.runtime.record import Record, field

CONSTANT = -2
"""The `input_index` of memory that belongs to a constant of the graph."""


class Write(Record, eq=False):
    """`value` was written to `region` of memory whose value was `before`."""

    region: Region
    value: Any
    before: Any


class Root(Record, frozen=False, eq=False):
    """One piece of memory: its present value, and how often it was written.

    `writes` lead to that value, the last at the end, as far as reads may look through them.

    `input_index` is the input it belongs to, -1 for memory of an intermediate, and `layout` the
    strides of its first tensor in eager execution. `tracked`: its value has a history on the
    tape; `severed`: it was written behind the tape's back since; `recorded`: a write was recorded.
    `apart`: a detached view of it was written with a history, which is that view's alone.
    `owner`: the `detach` whose result and its views have the history of `value`; others have none.
    `second`: the input by which alone it was written, where that is its second name.
    """

    value: Any
    input_index: int = -1
    layout: Any = None
    version: int = 0
    tracked: bool = False
    severed: bool = False
    recorded: bool = False
    apart: bool = False
    owner: Node | None = None
    second: int = -1
    writes: list[Write] = field(default_factory=list)

    def carry(self, before: Any, detached: bool) -> None:
        """Its value, written unseen by the tape, has the history that it had `before`.

        detached: whether what was written may have a history.
        """
        self.severed |= self.tracked
        if self.tracked or self.owner is not None:
            self.value = carry(self.value, before)
        elif detached:
            self.value = ops.detach(self.value)

    def disown(self) -> None:
        """Its value has no history, and its detached views one that is not known, if any had."""
        if self.owner is not None:
            self.owner, self.apart, self.value = None, True, ops.detach(self.value)

    def written_back(self) -> Any:
        """The new value for the caller's tensor, whose history no unseen write changes."""
        return ops.detach(self.value) if self.severed and not self.recorded else self.value


class Alias(Record, frozen=False, eq=False):
    """A tensor of the graph before: `root` through `chain`. `value` is right at `version`.

    `region`: what the chain shows. `second`: the input that it is a view of, where that is the
    second name of the root's memory. `recorded`: whether the tape knows that it is a view.
    `windows`: the views on the way that may show some places more than once. `detachment`: the
    last `detach` on the way.
    """

    root: Root
    chain: tuple[ViewStep, ...] = ()
    region: Region = field(default_factory=Region)
    value: Any = None
    version: int = -1
    second: int = -1
    recorded: bool = True
    windows: tuple[FakeTensor, ...] = ()
    detachment: Node | None = None

    @property
    def detached(self) -> bool:
        """Whether the tape does not see through it to its root."""
        return any(op.name == "detach" for op, _ in self.chain)

    @property
    def owns(self) -> bool:
        """Whether the history of the root's value is that of its detached part."""
        return self.root.owner is not None and self.root.owner is self.detachment

    @property
    def has_history(self) -> bool:
        """Whether the tape has a history of it."""
        return self.owns or (self.root.tracked and not self.detached)

    @property
    def steps(self) -> tuple[ViewStep, ...]:
        """The chain, through which the history of the root's value is seen if it is its own."""
        if not self.owns:
            return self.chain
        return tuple(step for step in self.chain if step[0].name != "detach")

    def read(self, tracked: bool = False) -> Any:
        """Its present value. Raises: CannotLower if `tracked` and its history is not known."""
        if tracked and self.root.severed and not self.detached and not self.recorded:
            raise CannotLower("a view made under no_grad of what was written there is used with "
                              "gradients")
        if tracked:
            self.require_one_history()
        value = self._present() if self.chain else self.root.value
        return ops.detach(value) if self.root.owner is not None and not self.owns else value

    def _present(self) -> Any:
        if self.version != self.root.version:
            value, seen = self._found()
            for step in self.steps[seen:]:
                value = view_again(step, value)
            self.value, self.version = value, self.root.version
        return self.value

    def _found(self) -> tuple[Any, int]:
        """A value that it is a view of, and by how many of its steps that value is reached: what
        was written to its region, or the memory before writes that are apart from that."""
        value = self.root.value
        for write in reversed(self.root.writes):
            if self.region.within(write.region):
                return write.value, len(write.region.steps)
            if not self.region.apart(write.region):
                break
            value = write.before
        return value, 0

    def require_one_history(self) -> None:
        """Raises: CannotLower for a view that may have another history than the memory."""
        if self.root.apart and self.detached:
            raise CannotLower("a tensor was written through detach() with a history, and is then "
                              "used with gradients")

    def write(self, value: Any, seen: bool, owned: bool = False) -> None:
        """Make `value` its present value, and change the memory accordingly.

        `seen`: whether the tape sees it, and reads of the same region may take `value` itself;
        `owned`: whether it has a history, which is that of the detached part alone.
        """
        root = self.root
        if owned:
            root.owner = self.detachment
        elif not self.owns:
            root.disown()
        alone = not root.version or root.second == self.second
        root.second = self.second if alone else -1
        before, root.value = root.value, put_back(root.value, self.steps, value)
        root.writes = [*root.writes, Write(self.region, value, before)] if seen else []
        root.version += 1
        self.value, self.version = value, self.root.version
        if not seen and not owned:
            root.carry(before, self.detached)
            self.version = root.version if self.detached and not self.owns else -1


class Functional(Record, frozen=False):
    """The functional graph and how its outputs relate to the results of the one before.

    `mutated` pairs an input with the output that holds its new value.
    """

    module: GraphModule
    outputs: list[OutputSpec] = field(default_factory=list)
    mutated: list[tuple[int, int]] = field(default_factory=list)


def functionalise(
    module: GraphModule, fake_inputs: Sequence[Any], needs_grad: bool = False,
    rewrites: dict[str, Rewrite] | None = None,
) -> Functional:
    """See the module's docstring.

    rewrites: what runs in the place of ops, as `trace` takes it.
    Raises: CannotLower where a constant is mutated, or a view that cannot be put back; and with
        `needs_grad` where a value is changed without its history, and then differentiated.
    """
    tracer = Tracer(lambda op: True, rewrites)
    tracer.no_grad = True
    inherit(tracer.module, module)
    args = [fresh_fake(a) for a in fake_inputs]
    for node, arg in zip(module.graph.placeholders, args, strict=True):
        tracer.placeholder(node.name, arg)
    copy_sources(module.graph, tracer.graph)
    run = _Run(module, tracer, needs_grad, [
        needs_grad and isinstance(a, FakeTensor) and a.requires_grad for a in fake_inputs])
    with tracing(tracer):
        results = run.run(*args)
        specs, outputs, layouts = _describe_outputs(results, module.graph.output_node().args[0])
        mutated = []
        for root in run.inputs:
            if root.version:
                written = root.input_index if root.second < 0 else root.second
                mutated.append((written, len(outputs)))
                outputs.append(root.written_back())
    tracer.module.meta["layouts"] = layouts
    graph = finish(tracer, tuple(outputs))
    if not needs_grad:
        _read_where_written(graph, run.inputs)
    return Functional(graph, specs, mutated)


def _read_where_written(module: GraphModule, roots: Sequence[Root]) -> None:
    """Memory that is written under its second name is read under it, too."""
    arguments = module.graph.placeholders
    for root in roots:
        if root.second >= 0:
            arguments[root.input_index].replace_all_uses_with(arguments[root.second])


class _Run(Replay):
    """Runs the graph on `Alias`es; gives the output node's argument with aliases in it."""

    def __init__(
        self, module: GraphModule, tracer: Tracer, needs_grad: bool, tracked: Sequence[bool]
    ) -> None:
        super().__init__(module, tracer, traced=not module.meta.get("second_names"))
        self.needs_grad = needs_grad
        self.inputs: list[Root] = []
        self.roots: dict[int, Root] = {}
        self.second_names: dict[int, int] = module.meta.get("second_names", {})
        self.tracked = tracked
        self.with_history = True

    def run_node(self, node: Node) -> Any:
        self.with_history = not node.meta.get("no_grad")
        if node.op == "output":
            return map_nodes(node.args[0], self.env.__getitem__)
        target = node.target
        if isinstance(target, Op) and (target.is_inplace or target.is_view):
            with self.provenance(node), refusals_of(node):
                return (self._mutate if target.is_inplace else self._view)(target, node)
        return self._own(node, super().run_node(node))

    def value_of(self, leaf: Any) -> Any:
        value = super().value_of(leaf)
        return value.read(self.with_history) if isinstance(value, Alias) else value

    def _own(self, node: Node, value: Any) -> Any:
        """A new tensor is the root of its memory."""
        if isinstance(value, FakeTensor):
            root = Root(value, layout=node.meta["val"].stride(), tracked=self._has_history(node))
            if node.op == "placeholder":
                root.input_index = self._position - 1
                first = self.second_names.get(root.input_index)
                if first is not None:
                    region = whole(value).through(*_DETACHED[0], value, value)
                    return Alias(self.roots[first], _DETACHED, region, second=root.input_index)
                self.roots[root.input_index] = root
                root.tracked = self.tracked[root.input_index]
                self.inputs.append(root)
            return Alias(root, region=whole(value))
        if isinstance(value, _core.TensorBase):
            return Alias(Root(self.tracer.fake_of(value), CONSTANT))
        return value

    def _view(self, op: Op, node: Node) -> Alias:
        parent: Alias = self.env[node.args[0]]
        step = (op, self.fetch_args_kwargs_from_env(node)[0][1:])
        value = view_again(step, parent.read())
        region = parent.region.through(*step, parent.read(), value)
        root = parent.root
        version = -1 if root.writes else root.version
        windows = parent.windows
        detachment = node if op.name == "detach" else parent.detachment
        if parent.chain and parent.chain[-1][0].name in REPEATING:
            windows = (*windows, node.args[0].meta["val"])
        return Alias(root, (*parent.chain, step), region, value, version, parent.second,
                     parent.recorded and self.with_history, windows, detachment)

    def _mutate(self, op: Op, node: Node) -> Alias:
        alias: Alias = self.env[node.args[0]]
        if alias.root.input_index == CONSTANT:
            raise CannotLower(f"{op.name} writes to a constant of the graph")
        view, memory = node.args[0].meta["val"], alias.root
        on_the_way = any(may_overlap(shown.shape, shown.stride()) for shown in alias.windows)
        if on_the_way or _may_repeat(view.shape, view.stride()) or (
                alias.chain and may_overlap(memory.value.shape, memory.layout)):
            raise CannotLower(f"{op.name} writes to some places more than once")
        args = self.fetch_args_kwargs_from_env(node)[0]
        if op.name == "copy_" and args[0] is args[1] and memory.version:
            return alias
        seen = not self.needs_grad or (self.with_history and not alias.detached)
        history = self._has_history(node)
        owned = not seen and history and self._may_own(alias)
        alias.write(new_value(op, args), seen, owned)
        if history and not owned:
            memory.tracked |= seen
            memory.recorded |= seen
            memory.apart |= not seen
        return alias

    def _has_history(self, node: Node) -> bool:
        inputs = [self.env[n] for n in node.all_input_nodes] if self.with_history else []
        return any(a.has_history for a in inputs if isinstance(a, Alias))

    @staticmethod
    def _may_own(alias: Alias) -> bool:
        """Whether what is written with a history has it to itself: nothing else of the memory has
        one, and the memory is no caller's."""
        root = alias.root
        free = root.owner is None and not root.tracked and not root.apart
        return alias.owns or (free and root.input_index == -1 and alias.detachment is not None)


_DETACHED: tuple[ViewStep, ...] = ((ops.detach.__gw_op__, ()),)  # type: ignore[attr-defined]


def _may_repeat(shape: tuple[Any, ...], strides: tuple[Any, ...]) -> bool:
    """Whether some elements may lie in the same place, unless all do."""
    some = any(isinstance(stride, int) and stride for stride in strides)
    return some and may_overlap(shape, strides)


def _describe_outputs(
    results: Any, nodes: Sequence[Any]
) -> tuple[list[OutputSpec], list[Any], list[Any]]:
    """How the caller gets its results; the tensors the graph must return for that; their strides.

    `nodes` are the results in the graph before.
    """
    if not isinstance(results, (tuple, list)):
        raise CannotLower("the graph's result is not a tuple or list")
    aliases: dict[Root, set[int]] = {}
    for result in results:
        if isinstance(result, tuple | list):
            raise CannotLower("a result of the graph is itself a tuple or list")
        if isinstance(result, Alias):
            aliases.setdefault(result.root, set()).add(id(result))
    specs: list[OutputSpec] = []
    outputs: list[Any] = []
    layouts: list[Any] = []
    places: dict[Root, int] = {}
    for result, node in zip(results, nodes, strict=True):
        if not isinstance(result, Alias):
            specs.append(OutputSpec("value", value=result))
            continue
        root = result.root
        result.require_one_history()
        if result.owns and len(aliases[root]) > 1:
            raise CannotLower("results share memory, of which one has a history of its own")
        if root.input_index >= 0:
            index, views = root.input_index, result.chain
            if result.second >= 0:
                index, views = result.second, views[len(_DETACHED):]
            _check_known(views)
            origin = _origin(node) if views else 0
            specs.append(OutputSpec("input", index, views, origin=origin))
            continue
        stride = node.meta["val"].stride()
        only = len(aliases[root]) == 1
        origin = _origin(node) if result.chain else 0
        alone = only and not origin & OVERWRITTEN and (
            not result.chain or _is_dense(result.value, stride))
        if root not in places:
            if may_overlap(root.value.shape, root.layout or root.value.stride()):
                raise CannotLower("some elements of a result lie in the same place")
            places[root] = len(outputs)
            outputs.append(result.read(True) if alone else Alias(root).read(True))
            layouts.append(stride if alone else root.layout)
            kind = "fresh" if alone or not result.chain else "output"
        else:
            kind = "output"
        views = () if alone else result.chain
        _check_known(views)
        specs.append(OutputSpec(kind, places[root], views, origin=origin if views else 0))
    return specs, outputs, layouts


def _check_known(chain: Sequence[ViewStep]) -> None:
    """The caller, who makes the views that are results, knows no positions that a graph makes."""
    if any(op.name == "select_at" for op, _ in chain):
        raise CannotLower("a result is a view at a position that a tensor holds")


def _is_dense(value: Any, stride: Any) -> bool:
    """Whether a tensor of that type and stride has neither gaps nor overlaps."""
    return same_sizes(dense_like(restrided(value, stride)).stride(), stride)


def _origin(node: Node) -> int:
    """How a view came about, where that decides whether it may be read or written."""
    view = _core.view_origin(node.meta["val"])
    restricted = view & (UNRECORDED | ONE_OF_SEVERAL)
    return restricted | view & OVERWRITTEN if restricted else 0
