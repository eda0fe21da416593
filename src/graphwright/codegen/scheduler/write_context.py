"""What the writers of loop nests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from graphwright.codegen.loops import Buffer
from graphwright.codegen.lowering.nodes import Mutation, Reduction, index_at
from graphwright.codegen.scheduler.affine import coefficient, estimate, volume
from graphwright.codegen.scheduler.groups import Group, Member, domain_of, is_arg, written_at
from graphwright.codegen.scheduler.loop_domain import Dim
from graphwright.codegen.scheduler.materialised import Anchors, Storage
from graphwright.codegen.scheduler.writer import Names, Writer
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr
from graphwright.runtime.tensor.dtypes import dtype


class Writing(Record):
    """What writing a group takes: the group, where buffers are, names of locals.

    `temp(name, dtype, size)` makes a buffer that lives for this kernel.
    """

    anchors: Anchors
    storage: dict[str, Storage]
    group: Group
    names: Names
    temp: Callable[[str, dtype, Expr], Buffer]

    def writer(self, inner: Sequence[Dim]) -> Writer:
        """A writer whose inner scope runs over `inner`."""
        sources = {access.source for m in self.group.members.values() for access in m.reads}
        return Writer(
            self.anchors, self.storage, {d.symbol.name for d in inner}, self.names, sources)

    def indices(self) -> list[Expr]:
        """Every index expression that the group's memory accesses and index values use."""
        return list(self._indices())

    def _indices(self) -> Iterator[Expr]:
        for member in self.group.members.values():
            node = self.anchors.nodes[member.name]
            domain = domain_of(node)
            for access in member.reads:
                index = index_at(access.index, domain, member.place)
                if access.source is None:
                    yield index[0]
                elif access.source in self.storage:
                    yield self.storage[access.source].at(index)
            target = node.target if isinstance(node, Mutation) else member.name
            if target in self.storage:
                yield self.storage[target].at(written_at(node, member))

    def reduced(self) -> list[Dim]:
        """The axes that are folded, the one along which memory is read in longest steps first.

        Folds that return positions (argmax) count them in the order of the axes, which stays.
        """
        dims = list(self.group.reduced)
        nodes = [self.anchors.nodes[name] for name in self.group.members]
        if any(isinstance(node, Reduction) and is_arg(node) for node in nodes):
            return dims
        steps = {dim: [coefficient(index, dim.symbol) for index in self._indices()]
                 for dim in dims}
        total = {dim: sum(abs(estimate(step)) for step in found if step is not None)
                 for dim, found in steps.items()}
        return sorted(dims, key=lambda dim: -total[dim])

    def store_index(self) -> Expr | None:
        """The index of the first store: the order of loops follows it."""
        for member in self.group.members.values():
            node = self.anchors.nodes[member.name]
            target = node.target if isinstance(node, Mutation) else member.name
            if target in self.storage:
                return self.storage[target].at(written_at(node, member))
        return None

    def work(self) -> int:
        """The operations of one element of the domain."""
        cost = sum(self.anchors.reads.cost[m.name] + len(m.reads) + 1
                   for m in self.group.members.values() if m.row)
        return max(1, cost)

    def row_work(self) -> int:
        """The operations of one row."""
        return self.work() * volume([d.extent for d in self.group.reduced])

    def on_level(self, step: int, row: bool) -> list[Member]:
        """The members that run in pass `step`, or before it for those outside rows."""
        return [m for m in self.group.members.values() if m.row == row and m.step == step]
