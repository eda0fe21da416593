"""Fusion: which anchors share one kernel.

A group has common loops: kept axes, which number its results, and reduced axes, which its
reductions fold. A member lives on a level: ROW members run once per element of the whole domain,
OUTER members once per element of the kept axes. An anchor joins a group if its domain fits the
loops, if everything it reads from the group is what the same iteration computed (or, after a
reduction, the same row), and if no third group would have to run in between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import Enum

from graphwright.codegen.lowering.nodes import (
    Assembly,
    Gemm,
    Index,
    LoopNode,
    Mutation,
    Pointwise,
    Reduction,
    Shape,
    Source,
    row_major,
)
from graphwright.codegen.scheduler.affine import coefficient, estimate, volume
from graphwright.codegen.scheduler.anchors import Anchors
from graphwright.codegen.scheduler.domain import Dim, dim_symbol, refine
from graphwright.codegen.scheduler.reads import Access, bind
from graphwright.runtime.records import Record, field, replace
from graphwright.runtime.symbolic.expr import Expr, Int, as_int

MAX_MEMBERS = 48
MAX_WORK = 1000
"""Of one kernel, as its members' cost: the time to compile it grows faster than its length."""
SMALL_WORK = 1 << 15
"""Below this many element operations, parallelism is not worth its cost."""
MANY_ROWS = 8
WINDOW = 32
"""Reductions of at most this many elements run inside a vector of results."""
TALL_COLUMN = 256


class Style(Enum):
    """How the loops of a group are arranged."""

    POINTWISE = "pointwise"
    ROW = "row"
    COLUMN = "column"
    CHUNKED = "chunked"
    STREAMED = "streamed"
    MATRIX = "matrix"
    ASSEMBLY = "assembly"


STAGED = (Style.CHUNKED, Style.STREAMED)
"""Styles with a second stage, in which everything about whole rows is computed."""


class Member(Record):
    """An anchor in a group. `place` gives its domain's axes over the group's symbols; `step` is
    the number of the pass over the rows in which it runs (OUTER members: after `step` passes)."""

    name: str
    place: Index
    reads: tuple[Access, ...]
    row: bool
    step: int = 0


class Group(Record):
    """Anchors with common loops."""

    dims: tuple[Dim, ...]
    members: dict[str, Member]
    style: Style

    @property
    def kept(self) -> tuple[Dim, ...]:
        return tuple(d for d in self.dims if not d.reduced)

    @property
    def reduced(self) -> tuple[Dim, ...]:
        return tuple(d for d in self.dims if d.reduced)

    @property
    def steps(self) -> int:
        """How many passes over the rows there are."""
        return 1 + max((m.step for m in self.members.values() if m.row), default=-1)


class Grouping(Record, frozen=False):
    """Groups by id, who is where, what runs before what, and who reads what."""

    anchors: Anchors
    groups: dict[int, Group] = field(default_factory=dict)
    home: dict[str, int] = field(default_factory=dict)
    before: dict[int, set[int]] = field(default_factory=dict)
    reads: dict[str, tuple[Access, ...]] = field(default_factory=dict)
    readers: dict[str, list[str]] = field(default_factory=dict)


def group_anchors(anchors: Anchors) -> Grouping:
    """Fuse greedily, in the order of the graph; inputs are overwritten after all their readers."""
    state = Grouping(anchors)
    buffered = set(anchors.chosen) | {
        n for n, node in anchors.nodes.items() if isinstance(node, Source)}
    for name in anchors.chosen:
        if not isinstance(anchors.nodes[name], Gemm):
            state.reads[name] = tuple(anchors.reads.spliced(name, buffered))
            for source in sources_of(state, name):
                state.readers.setdefault(source, []).append(name)
    readers = _readers_of_mutated(state)
    overwriting = _readers_first(state, readers)
    for name in [n for n in anchors.chosen if n not in overwriting] + overwriting:
        _place(state, name, readers)
    return state


def _readers_first(state: Grouping, readers: dict[str, set[str]]) -> list[str]:
    """The mutations, each after the others that read what it overwrites, if there is an order."""
    nodes = state.anchors.nodes
    waiting = {n: node.target for n in state.anchors.chosen
               if isinstance(node := nodes[n], Mutation)}
    order: list[str] = []
    while waiting:
        free = (n for n, target in waiting.items()
                if not any(reader in waiting for reader in readers[target] if reader != n))
        name = next(free, next(iter(waiting)))
        del waiting[name]
        order.append(name)
    return order


def _readers_of_mutated(state: Grouping) -> dict[str, set[str]]:
    """The anchors that read inputs that a mutation overwrites, by input."""
    nodes = state.anchors.nodes
    found: dict[str, set[str]] = {
        n.target: set() for n in nodes.values() if isinstance(n, Mutation)}
    if found:
        for name in state.anchors.chosen:
            for source in _read_names(state, name):
                if source in found:
                    found[source].add(name)
    return found


def _read_names(state: Grouping, name: str) -> list[str]:
    node = state.anchors.nodes[name]
    if isinstance(node, Gemm):
        return [node.a, node.b]
    return [a.source for a in state.reads[name] if a.source is not None and a.source != name]


def _place(state: Grouping, name: str, readers: dict[str, set[str]]) -> None:
    """Put an anchor into the best group that takes it, or into one of its own."""
    node = state.anchors.nodes[name]
    needs = {state.home[s] for s in _read_names(state, name) if s in state.home}
    if isinstance(node, Mutation):
        needs |= {state.home[r] for r in readers[node.target] if r in state.home}
    upstream = needs.union(*(state.before[g] for g in needs)) if needs else set()
    if isinstance(node, (Pointwise, Reduction, Mutation)):
        for candidate in _candidates(state, name, needs):
            if any(candidate in state.before[g] for g in needs if g != candidate):
                continue
            joined = join(state, state.groups[candidate], name)
            if joined is not None and (candidate in needs or shares_reads(state, joined, name)):
                state.groups[candidate] = joined
                state.home[name] = candidate
                _add_before(state, candidate, upstream - {candidate})
                return
    fresh = len(state.groups)
    state.groups[fresh] = single(state, name)
    state.home[name] = fresh
    state.before[fresh] = upstream


def shares_reads(state: Grouping, group: Group, name: str) -> bool:
    """Whether a member reads an element that others read in the same iteration."""
    own = set(_elements(state, group.members[name]))
    return any(not own.isdisjoint(_elements(state, m))
               for m in group.members.values() if m.name != name)


def _elements(state: Grouping, member: Member) -> Iterator[tuple[str, Index]]:
    symbols = bind(domain_of(state.anchors.nodes[member.name]), member.place)
    for access in member.reads:
        if access.source is not None and state.anchors.nodes[access.source].shape:
            yield access.source, tuple(i.subs(symbols) for i in access.index)


def _add_before(state: Grouping, group: int, earlier: set[int]) -> None:
    earlier = earlier - {group}
    for other, known in state.before.items():
        if other == group or group in known:
            known |= earlier


def _candidates(state: Grouping, name: str, needs: set[int]) -> list[int]:
    """Groups worth joining: those that `name` reads from, then those that read the same."""
    siblings = {
        state.home[reader] for source in sources_of(state, name)
        for reader in state.readers[source] if reader in state.home}
    size = volume(domain_of(state.anchors.nodes[name]))
    alike = [number for number in siblings - needs
             if volume([d.extent for d in state.groups[number].dims]) == size]
    result = [*sorted(needs, reverse=True), *sorted(alike, reverse=True)]
    return [g for g in result if has_room(state, state.groups[g], (name,))]


def has_room(state: Grouping, group: Group, names: Collection[str]) -> bool:
    """Whether a kernel with these further members is not too long."""
    work = state.anchors.work
    total = sum(work[member] for member in group.members) + sum(work[name] for name in names)
    return len(group.members) + len(names) <= MAX_MEMBERS and total <= MAX_WORK


def sources_of(state: Grouping, name: str) -> set[str]:
    """What the loops of an anchor read."""
    return {a.source for a in state.reads[name] if a.source is not None}


def domain_of(node: LoopNode) -> Shape:
    """The domain of an anchor's loops."""
    return node.domain if isinstance(node, Reduction) else node.shape


def single(state: Grouping, name: str) -> Group:
    """A group of one anchor."""
    node = state.anchors.nodes[name]
    if isinstance(node, Gemm):
        return Group((), {name: Member(name, (), (), False)}, Style.MATRIX)
    if isinstance(node, Assembly):
        member = Member(name, (), state.reads[name], False)
        return Group((), {name: member}, Style.ASSEMBLY)
    domain = domain_of(node)
    common = refine(domain, domain)
    assert common is not None, f"{name} has an empty domain"
    folded = _folded(node, common.first)
    dims = tuple(replace(d, reduced=d.symbol.name in folded) for d in common.dims)
    member = Member(name, common.first, state.reads[name], True)
    group = Group(dims, {name: member}, Style.POINTWISE)
    if not isinstance(node, Reduction):
        return group
    return replace(group, style=style_of(state, group))


def _folded(node: LoopNode, place: Index) -> set[str]:
    """The names of the group's symbols over which `node` folds."""
    if not isinstance(node, Reduction):
        return set()
    return {s.name for a in node.axes for s in place[a].symbols()}


def is_arg(node: Reduction) -> bool:
    """Whether it finds a position: of which no partial results are kept."""
    return node.fold.startswith("arg")


def style_of(state: Grouping, group: Group) -> Style:
    """The arrangement for a group's reductions, by sizes and by which axes are contiguous."""
    rows, length = volume([d.extent for d in group.kept]), volume(
        [d.extent for d in group.reduced])
    nodes = [state.anchors.nodes[n] for n in group.members]
    arg = any(isinstance(n, Reduction) and is_arg(n) for n in nodes)
    inner = contiguous_dim(state, group)
    static = all(as_int(d.extent) is not None for d in group.dims)
    small = static and rows * length <= SMALL_WORK
    if inner is not None and not inner.reduced:
        if (length > TALL_COLUMN or not static) and not small and not arg:
            return Style.STREAMED
        return Style.COLUMN
    if group.kept and length <= WINDOW and (
            inner is None or estimate(inner.extent) < 8) and not _last_kept_is_short(group):
        return Style.COLUMN
    if rows < MANY_ROWS and not small and not arg:
        return Style.CHUNKED
    return Style.ROW


def _last_kept_is_short(group: Group) -> bool:
    return estimate(group.kept[-1].extent) < 4


def contiguous_dim(state: Grouping, group: Group) -> Dim | None:
    """The axis along which most of what the group reads is contiguous."""
    votes: dict[int, int] = {}
    for member in group.members.values():
        node = state.anchors.nodes[member.name]
        symbols = bind(domain_of(node), member.place)
        for access in member.reads:
            if access.source is None:
                continue
            strides = strides_of(state.anchors, access.source)
            position: Expr = Int(0)
            for index, stride in zip(access.index, strides, strict=True):
                position = position + index.subs(symbols) * stride
            for n, dim in enumerate(group.dims):
                if as_int(dim.extent) != 1 and coefficient(position, dim.symbol) == 1:
                    weight = volume(state.anchors.nodes[access.source].shape)
                    votes[n] = votes.get(n, 0) + weight
    if not votes:
        return group.dims[-1] if group.dims else None
    return group.dims[max(votes, key=lambda n: (votes[n], n))]


def strides_of(anchors: Anchors, name: str) -> Shape:
    """The strides of a node's buffer, now or once it has one."""
    node = anchors.nodes[name]
    if isinstance(node, Source):
        return node.strides
    if name in anchors.storage:
        return anchors.storage[name].strides
    return row_major(node.shape)


def join(state: Grouping, group: Group, name: str) -> Group | None:
    """The group with `name` in it, or None where it does not fit."""
    node = state.anchors.nodes[name]
    if group.style in (Style.MATRIX, Style.ASSEMBLY) or any(e == 0 for e in domain_of(node)):
        return None
    if isinstance(node, Reduction):
        return _join_reduction(state, group, name, node)
    if not group.reduced:
        return join_level(state, group, name, row=True)
    if group.style in (Style.ROW, Style.COLUMN, Style.CHUNKED, Style.STREAMED):
        joined = join_level(state, group, name, row=True)
        if joined is not None:
            return joined
    return join_level(state, group, name, row=False)


def join_level(state: Grouping, group: Group, name: str, row: bool) -> Group | None:
    """Join a pointwise anchor on the level of rows' elements or of whole rows."""
    dims = group.dims if row else group.kept
    node = state.anchors.nodes[name]
    common = refine(tuple(d.extent for d in dims), domain_of(node))
    if common is None:
        return None
    group, place = _refined(group, dims, common.dims, common.first, common.second)
    member = Member(name, place, state.reads[name], row)
    return _with_member(state, group, member)


def _refined(
    group: Group, old: tuple[Dim, ...], new: tuple[Dim, ...], first: Index, second: Index
) -> tuple[Group, Index]:
    """The group over split axes, with fresh symbols, and `second` over these."""
    pieces: dict[str, list[Dim]] = {}
    for dim, expr in zip(old, first, strict=True):
        names = {s.name for s in expr.symbols()}
        pieces[dim.symbol.name] = [
            replace(d, reduced=dim.reduced) for d in new if d.symbol.name in names]
    dims: list[Dim] = []
    rename: dict[str, Expr] = {}
    moved: dict[str, Expr] = {}
    for dim in group.dims:
        total: Expr = Int(0)
        for piece in pieces.get(dim.symbol.name, [dim]):
            fresh = replace(piece, symbol=dim_symbol(len(dims), piece.extent))
            dims.append(fresh)
            total = total * piece.extent + fresh.symbol
            if dim.symbol.name in pieces:
                moved[piece.symbol.name] = fresh.symbol
        rename[dim.symbol.name] = total
    members = {
        n: replace(m, place=tuple(e.subs(rename) for e in m.place))
        for n, m in group.members.items()}
    return replace(group, dims=tuple(dims), members=members), tuple(
        e.subs(moved) for e in second)


def _join_reduction(
    state: Grouping, group: Group, name: str, node: Reduction
) -> Group | None:
    common = refine(tuple(d.extent for d in group.dims), node.domain)
    if common is None:
        return None
    had = bool(group.reduced)
    group, place = _refined(group, group.dims, common.dims, common.first, common.second)
    folded = _folded(node, place)
    if had and {d.symbol.name for d in group.reduced} != folded:
        return None
    if had and group.style in STAGED and is_arg(node):
        return None
    dims = tuple(replace(d, reduced=d.symbol.name in folded) for d in group.dims)
    member = Member(name, place, state.reads[name], True)
    group = replace(group, dims=dims)
    if not had:
        alone = Group(dims, {name: member}, Style.POINTWISE)
        group = replace(group, style=style_of(state, alone))
        if not _rows_may_store(group):
            return None
    return _with_member(state, group, member)


def _rows_may_store(group: Group) -> bool:
    """Whether members may be stored element by element in this arrangement."""
    if group.style is Style.COLUMN:
        return volume([d.extent for d in group.reduced]) <= TALL_COLUMN
    return True


def _with_member(state: Grouping, group: Group, member: Member) -> Group | None:
    """The group with the member in its proper pass, if what it reads there allows it."""
    step = 0
    node = state.anchors.nodes[member.name]
    symbols = bind(domain_of(node), member.place)
    for access in member.reads:
        source = group.members.get(access.source or "")
        if source is None:
            continue
        index = tuple(i.subs(symbols) for i in access.index)
        if index != written_at(state.anchors.nodes[source.name], source):
            return None
        step = max(step, _step_after(state, source))
    if isinstance(node, Mutation):
        hazard = _mutation_step(state, group, member, node)
        if hazard is None:
            return None
        step = max(step, hazard) if member.row else step
    elif _reads_mutated_here(state, group, member):
        return None
    if step and member.row and not _may_pass_again(group):
        return None
    if not member.row and group.style in STAGED:
        step = 1
    if member.row and not isinstance(node, Reduction) and not _rows_may_store(group):
        return None
    members = {**group.members, member.name: replace(member, step=step)}
    return replace(group, members=members)


def _step_after(state: Grouping, source: Member) -> int:
    """The first pass in which the value of `source` is known."""
    reduction = isinstance(state.anchors.nodes[source.name], Reduction)
    return source.step + 1 if source.row and reduction else source.step


def _may_pass_again(group: Group) -> bool:
    """Whether a second pass over the rows is worth being in the same kernel."""
    if group.style is Style.ROW:
        return True
    return group.style is Style.COLUMN and volume(
        [d.extent for d in group.reduced]) <= TALL_COLUMN


def written_at(node: LoopNode, member: Member) -> Index:
    """The index of the element that the current iteration computes."""
    if isinstance(node, Reduction):
        return tuple(e for d, e in enumerate(member.place) if d not in node.axes)
    return member.place


def _mutation_step(
    state: Grouping, group: Group, member: Member, node: Mutation
) -> int | None:
    """The pass after all reads of the overwritten memory, None where they are elsewhere."""
    step = 0
    for other in (*group.members.values(), member):
        symbols = bind(domain_of(state.anchors.nodes[other.name]), other.place)
        for access in other.reads:
            if access.source != node.target:
                continue
            if tuple(i.subs(symbols) for i in access.index) != member.place:
                return None
            step = max(step, other.step)
    return step


def _reads_mutated_here(state: Grouping, group: Group, member: Member) -> bool:
    """Whether the group overwrites an input that `member` reads."""
    sources = {a.source for a in member.reads}
    return any(isinstance(n, Mutation) and n.target in sources
               for n in (state.anchors.nodes[m] for m in group.members))


def in_order(state: Grouping) -> list[Group]:
    """Groups sorted so that each comes after those before it, otherwise as they were made."""
    done: set[int] = set()
    order: list[Group] = []
    pending = sorted(state.groups)
    while pending:
        for number in pending:
            if state.before[number] <= done:
                break
        else:
            raise AssertionError("groups depend on each other in a circle")
        done.add(number)
        pending.remove(number)
        order.append(state.groups[number])
    return order
