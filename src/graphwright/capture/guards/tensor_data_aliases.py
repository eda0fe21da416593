"""`tensor.data`: an alias of a tensor, whose writes neither the tape nor the version counts.

The alias of an argument is an argument of the graph itself, read as `tensor.data` when the graph
starts; `second_names` lists the pairs for the passes. A tensor that is saved for backward must not
be written through its alias: eager gradients would be computed from the new values. Such a write
ends the graph, as long as the tape of the frame keeps what it has saved. An
assignment to `.data` waits for the end of the graph, which goes on with what was assigned; where
operations on the tensor are recorded, it cannot be used under its own name from there on.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.guards.source import DerivedSource, LoadWriter, Reloader, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.ir.graph.node import RECOMPUTED, Node
from graphwright.runtime.fake.fake_tensor import FakeTensor, make_fake
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator


class DataSource(DerivedSource):
    """`base.data` of a tensor: guards look at the tensor itself. number: of how many reads."""

    number: int = 0
    makes_objects = True

    def name(self) -> str:
        return f"{self.base.name()}.data"

    def emit(self, cg: Reloader) -> None:
        self.base.emit(cg)
        cg.load_attr("data")

    def loads(self, program: LoadWriter) -> int:
        return self.base.loads(program)


class _Pair:
    """A tensor and its alias, and how often each was written before."""

    def __init__(self, owner: TensorVariable, alias: TensorVariable) -> None:
        self.owner = owner
        self.alias = alias
        self.versions = self._versions()

    def _versions(self) -> tuple[int, int]:
        return self.owner.fake._storage._version, self.alias.fake._storage._version

    def written(self) -> list[FakeTensor]:
        """The tensors that the last operation wrote through the other name, without a version."""
        before, self.versions = self.versions, self._versions()
        by_owner, by_alias = (
            now != then for now, then in zip(self.versions, before, strict=True)
        )
        if by_alias:
            return [self.owner.fake, self.alias.fake]
        return [self.alias.fake] if by_owner else []

    def uses(self) -> Iterator[tuple[Node, FakeTensor]]:
        """Results, in other storages, of operations on either name or on a view of it."""
        storages = {id(name.fake._storage) for name in (self.owner, self.alias)}
        pending = [_views_to(self.owner.node)[-1], self.alias.node]
        seen = set(pending)
        while pending:
            for user in pending.pop().users:
                made = user.meta.get("val")
                for value in made if isinstance(made, (tuple, list)) else (made,):
                    if not isinstance(value, FakeTensor):
                        continue
                    if id(value._storage) not in storages:
                        yield user, value
                    elif user not in seen:
                        seen.add(user)
                        pending.append(user)


class DataAliases:
    """The `.data` of the tensors of one frame."""

    def __init__(self, output: OutputGraph) -> None:
        self.output = output
        self._pairs: dict[int, _Pair] = {}
        self._known: dict[TensorVariable, TensorVariable] = {}
        self._reads: Counter[TensorVariable] = Counter()
        self._apart: set[Node] = set()
        self._assigned: dict[int, tuple[FakeTensor, int]] = {}
        self._views: dict[int, Any] = {}

    def read(self, tx: Translator, owner: TensorVariable) -> VariableTracker:
        """`owner.data`: another object at each read."""
        assigned = tx.side_effects.attribute(owner, "data")
        if assigned is not None:
            return self._detached(tx, assigned)
        if owner.source is None:
            alias = self._detached(tx, owner)
            self._pairs[id(alias.fake._storage)] = _Pair(owner, alias)
            return alias
        if owner not in self._known:
            tx.side_effects.refuse_after_calls(tensors=True)
            self._known[owner] = self._input(owner)
            pair = _Pair(owner, self._known[owner])
            for tensor in (owner, self._known[owner]):
                self._pairs[id(tensor.fake._storage)] = pair
        alias = self._known[owner]
        source = DataSource(owner.source, self._reads[owner])
        self._reads[owner] += 1
        return TensorVariable(alias.node, alias.fake, Tensor, source)

    def _detached(self, tx: Translator, owner: VariableTracker) -> TensorVariable:
        """The alias of a tensor that the graph makes: a view of it, until it leaves the frame."""
        alias = self.output.run(tx, "call_method", "detach", [owner], {})
        assert isinstance(alias, TensorVariable)
        self._apart.add(alias.node)
        return alias

    def is_apart(self, value: TensorVariable) -> bool:
        """Whether it is the alias of a tensor that the graph makes, or a view of one."""
        return bool(self._apart) and any(node in self._apart for node in _views_to(value.node))

    def _input(self, owner: TensorVariable) -> TensorVariable:
        fake = owner.fake
        alias = make_fake(fake.shape, fake.stride(), fake.dtype, fake.device, False)
        real = self.output.real_inputs()[owner.node].data
        assert owner.source is not None
        return self.output.add_input(real, alias, DataSource(owner.source), Tensor)

    def assign(self, tx: Translator, owner: TensorVariable, value: VariableTracker) -> None:
        """`owner.data = value`."""
        value = value.realize()
        known = self._known.get(owner)
        own = isinstance(value.source, DataSource) and value.source.base == owner.source
        if known is not None and own and owner.memory is None:
            return
        plain = isinstance(value, TensorVariable) and not value.fake.requires_grad
        fits = owner.source is not None and owner.hidden is None
        if not plain or not fits or value.as_example().dtype is not owner.fake.dtype:
            unsupported("GB0004", f"assignment of {value.describe()} to .data")
        tx.side_effects.store_attribute(owner, "data", value)
        assert isinstance(value, TensorVariable)
        owner.memory = value
        self._assigned[id(value.fake._storage)] = value.fake, value.fake._storage._version

    def begins_elsewhere(self, fake: FakeTensor) -> bool:
        """Whether a tensor is over the memory of an argument, or laid out as one in its own."""
        owner = next(node for node in self.output.graph.nodes
                     if getattr(node.meta.get("val"), "_storage", None) is fake._storage)
        return owner.op == "placeholder" or owner.target is copy.deepcopy

    def check(self, args: Sequence[VariableTracker], result: Any) -> None:
        """A break before a write under one name of what gradients need as it was.

        args, result: those of the operation that was added to the graph.
        """
        if self._assigned:
            self._check_assigned(args, result)
        if not self._pairs:
            return
        for pair in self._touched(args):
            written = pair.written()
            if not written:
                continue
            torn = False
            if pair.alias.source is None:
                torn = written[0] is pair.owner.fake and bool(pair.owner.fake.requires_grad)
            if not torn:
                torn = self._is_kept(pair, {id(fake._storage) for fake in written})
            if torn:
                unsupported("GB0004", f"a write to {pair.owner.describe()} under another name, "
                            ".data or its own, before gradients are computed from it")

    def _check_assigned(self, args: Sequence[VariableTracker], result: Any) -> None:
        """A break before a write to what was assigned, by the name of the tensor it was given.

        The graph would count it among those to the other tensor, which gradients do not read.
        """
        first = args[0].realize() if args else None
        if not isinstance(first, TensorVariable):
            return
        present = first.present().fake
        of_view = id(first.fake) in self._views
        by_name = of_view or (first.memory is not None and first.fake.requires_grad)
        for key, (fake, version) in self._assigned.items():
            if fake._storage._version == version:
                continue
            if by_name and id(present._storage) == key:
                unsupported("GB0004", f"a write to {first.describe()} after an assignment to "
                            "its .data")
            self._assigned[key] = fake, fake._storage._version
        if of_view or first.memory is not None:
            for made in result if isinstance(result, (tuple, list)) else (result,):
                shared = getattr(made, "_storage", None) is present._storage
                if shared and made is not present:
                    self._views[id(made)] = made

    def check_leaves(self, value: TensorVariable) -> None:
        """A break before a view leaves the frame as one of what was assigned."""
        if id(value.fake) in self._views:
            reason = Unsupported("GB0004", "a view of a tensor leaves after an assignment to its "
                                 ".data")
            reason.blame(value.born)
            raise reason

    def _is_kept(self, pair: _Pair, storages: set[int]) -> bool:
        """Whether gradients will be computed from one of these memories."""
        recorded = [(node, made) for node, made in pair.uses() if made.requires_grad]
        if any(RECOMPUTED in node.meta for node, _ in recorded):
            return True
        return self.output.tape.keeps_memory([made for _, made in recorded], storages)

    def _touched(self, args: Sequence[VariableTracker]) -> list[_Pair]:
        """The pairs whose memory an operation may read or write."""
        parts = [part.realize() for arg in args for part in (arg, *arg.parts())]
        found = [self._pairs.get(id(part.present().fake._storage))
                 for part in parts if isinstance(part, TensorVariable)]
        return list(dict.fromkeys(pair for pair in found if pair is not None))


def second_names(output: OutputGraph) -> dict[int, int]:
    """Which arguments of the finished graph are the `.data` of which others, by position."""
    places = {source: place for place, source in enumerate(
        output.inputs[node] for node in output.graph.placeholders)}
    return {
        place: places[source.base]
        for source, place in places.items()
        if isinstance(source, DataSource) and source.base in places
    }


def _views_to(node: Node) -> list[Node]:
    """The node of a tensor, that of which it is a view or which it wrote, and so on."""
    found = [node]
    storage = getattr(node.meta.get("val"), "_storage", None)
    while found[-1].op != "placeholder" and found[-1].args:
        base = found[-1].args[0]
        if storage is None or not isinstance(base, Node):
            break
        made = base.meta.get("val")
        parts = made if isinstance(made, (tuple, list)) else (made,)
        if not any(getattr(part, "_storage", None) is storage for part in parts):
            break
        found.append(base)
    return found


def memory_source(source: Source) -> Source:
    """The name of a memory that counts: the tensor itself, of its `.data`."""
    return source.base if isinstance(source, DataSource) else source
