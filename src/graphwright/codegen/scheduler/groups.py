"""Fusion: which anchors share one kernel.

A group has common loops: kept axes, which number its results, and reduced axes, which its
reductions fold. A member lives on a level: ROW members run once per element of the whole domain,
OUTER members once per element of the kept axes. An anchor joins a group if its domain fits the
loops, if everything it reads from the group is what the same iteration computed (or, after a
reduction, the same row), and if no third group would have to run in between.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from enum import Enum

from graphwright.codegen.lowering.nodes import (
    CALLS,
    Assembly,
    Attention,
    Byproduct,
    Gemm,
    Index,
    LoopNode,
    Mutation,
    Pointwise,
    Reduction,
    Scan,
    Shape,
    Source,
    Update,
    index_at,
    linear,
    row_major,
)
from graphwright.codegen.scheduler.affine import apart, coefficient, estimate, volume
from graphwright.codegen.scheduler.loop_domain import Dim, dim_symbol, refine
from graphwright.codegen.scheduler.materialised import Anchors
from graphwright.codegen.scheduler.precedence import Precedence
from graphwright.codegen.scheduler.reads import Access
from graphwright.codegen.scheduler.write_order import settled
from graphwright.runtime.record import Record, field, replace
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
    ROUTINE = "routine"
    ASSEMBLY = "assembly"


ALONE = (Style.MATRIX, Style.ROUTINE, Style.ASSEMBLY)
"""Styles of groups that nothing joins."""
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
    """Groups by id, who is where, what runs before what, and who reads what; see `Order` and
    `Precedence`."""

    anchors: Anchors
    after: dict[str, set[str]]
    checked: frozenset[str]
    groups: dict[int, Group] = field(default_factory=dict)
    home: dict[str, int] = field(default_factory=dict)
    precedence: Precedence = field(default_factory=Precedence)
    reads: dict[str, tuple[Access, ...]] = field(default_factory=dict)
    readers: dict[str, list[str]] = field(default_factory=dict)
    arrange: Callable[[Grouping, Group], Style] | None = None


def group_anchors(
    anchors: Anchors, arrange: Callable[[Grouping, Group], Style] | None = None
) -> Grouping:
    """Fuse greedily, in an order in which the anchors can run.

    arrange: the style of groups with reductions; by default that for CPUs, `style_of`.
    """
    order = settled(anchors)
    state = Grouping(anchors, reads=order.reads, after=order.after, checked=order.checked,
                     arrange=arrange or style_of)
    for name in order.names:
        for source in sources_of(state, name):
            state.readers.setdefault(source, []).append(name)
    for name in order.names:
        _place(state, name)
    return state


def _place(state: Grouping, name: str) -> None:
    """Put an anchor into the best group that takes it, or into one of its own."""
    node = state.anchors.nodes[name]
    needs = {state.home[earlier] for earlier in state.after[name]}
    if isinstance(node, (Pointwise, Reduction, Mutation)):
        for candidate in _candidates(state, name, needs):
            if state.precedence.has_after(candidate, needs):
                continue
            joined = join(state, state.groups[candidate], name)
            if joined is not None and (candidate in needs or shares_reads(state, joined, name)):
                state.groups[candidate] = joined
                state.home[name] = candidate
                state.precedence.add(candidate, needs)
                return
    if isinstance(node, Byproduct):
        number = state.home[name] = state.home[node.of]
        group = state.groups[number]
        member = Member(name, (), (), False)
        state.groups[number] = replace(group, members={**group.members, name: member})
        return
    fresh = len(state.groups)
    state.groups[fresh] = single(state, name)
    state.home[name] = fresh
    state.precedence.add(fresh, needs)


def shares_reads(state: Grouping, group: Group, name: str) -> bool:
    """Whether a member reads an element that another member reads in the same iteration."""
    own = set(_elements(state, group.members[name]))
    return any(not own.isdisjoint(_elements(state, m))
               for m in group.members.values() if m.name != name)


def _elements(state: Grouping, member: Member) -> Iterator[tuple[str, Index]]:
    domain = domain_of(state.anchors.nodes[member.name])
    for access in member.reads:
        if access.source is not None and state.anchors.nodes[access.source].shape:
            yield access.source, index_at(access.index, domain, member.place)


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
    return {a.source for a in state.reads.get(name, ()) if a.source is not None}


def domain_of(node: LoopNode) -> Shape:
    """The domain of an anchor's loops."""
    return node.domain if isinstance(node, (Reduction, Mutation)) else node.shape


def single(state: Grouping, name: str) -> Group:
    """The group of one anchor alone, with the loops of its style: matrix, assembly or elements."""
    node = state.anchors.nodes[name]
    if isinstance(node, CALLS):
        style = Style.MATRIX if isinstance(node, Gemm) else Style.ROUTINE
        return Group((), {name: Member(name, (), (), False)}, style)
    if isinstance(node, (Assembly, Attention, Scan, Update)):
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
    return replace(group, style=_arranged(state, group))


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
            inner is None or _row_length(state, group, inner) < 8
    ) and not _last_kept_is_short(group):
        return Style.COLUMN
    if rows < MANY_ROWS and not small and not arg:
        return Style.CHUNKED
    return Style.ROW


def _arranged(state: Grouping, group: Group) -> Style:
    assert state.arrange is not None, "a grouping without styles"
    return state.arrange(state, group)


def _last_kept_is_short(group: Group) -> bool:
    return estimate(group.kept[-1].extent) < 4


def _row_length(state: Grouping, group: Group, inner: Dim) -> int:
    """How many elements, as an estimate, a fold over `inner` reads one after the other: those of
    the reduced axes before it, too, that continue in memory."""
    length = inner.extent
    indices = [i for i, _ in _positions(state, group) if coefficient(i, inner.symbol) == 1]
    for dim in reversed(group.dims[:group.dims.index(inner)]):
        if not dim.reduced or any(coefficient(i, dim.symbol) != length for i in indices):
            break
        length = length * dim.extent
    return estimate(length)


def contiguous_dim(state: Grouping, group: Group) -> Dim | None:
    """The axis along which most of what the group reads is contiguous."""
    votes: dict[int, int] = {}
    for position, weight in _positions(state, group):
        for n, dim in enumerate(group.dims):
            if as_int(dim.extent) != 1 and coefficient(position, dim.symbol) == 1:
                votes[n] = votes.get(n, 0) + weight
    if not votes:
        return group.dims[-1] if group.dims else None
    return group.dims[max(votes, key=lambda n: (votes[n], n))]


def _positions(state: Grouping, group: Group) -> Iterator[tuple[Expr, int]]:
    """Where the group reads in memory, over its axes, and how many elements the source has."""
    for member in group.members.values():
        domain = domain_of(state.anchors.nodes[member.name])
        for access in member.reads:
            if access.source is None:
                continue
            strides = strides_of(state.anchors, access.source)
            position = linear(index_at(access.index, domain, member.place), strides)
            yield position, volume(state.anchors.nodes[access.source].shape)


def strides_of(anchors: Anchors, name: str) -> Shape:
    """The strides of a node's buffer, now or once it has one."""
    node = anchors.nodes[anchors.reads.memory(name)]
    if isinstance(node, Source):
        return node.strides
    if name in anchors.storage:
        return anchors.storage[name].strides
    return row_major(node.shape)


def join(state: Grouping, group: Group, name: str) -> Group | None:
    """The group with `name` in it, or None where it does not fit."""
    node = state.anchors.nodes[name]
    if group.style in ALONE or any(e == 0 for e in domain_of(node)):
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
        n: replace(m, place=tuple(e.at(rename) for e in m.place))
        for n, m in group.members.items()}
    return replace(group, dims=tuple(dims), members=members), tuple(
        e.at(moved) for e in second)


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
        group = replace(group, style=_arranged(state, alone))
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
    domain = domain_of(node)
    for access in member.reads:
        source = group.members.get(access.source or "")
        if source is None:
            continue
        index = index_at(access.index, domain, member.place)
        if index != written_at(state.anchors.nodes[source.name], source):
            return None
        step = max(step, _step_after(state, source))
    if isinstance(node, Mutation):
        hazard = _mutation_step(state, group, member, node)
        if hazard is None:
            return None
        step = max(step, hazard) if member.row else step
    if _is_written_here(state, group, member) or not _may_write_together(state, group, member):
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
    if isinstance(node, Mutation):
        return index_at(node.index, node.domain, member.place)
    if isinstance(node, Reduction):
        return tuple(e for d, e in enumerate(member.place) if d not in node.axes)
    return member.place


def _mutation_step(
    state: Grouping, group: Group, member: Member, node: Mutation
) -> int | None:
    """The pass after all reads of what is overwritten, None where other iterations have them."""
    written, step = written_at(node, member), 0
    for other in (*group.members.values(), member):
        found = state.anchors.nodes[other.name]
        if other is not member and isinstance(found, Mutation) and _same_memory(
                state, member.name, other.name) and not _is_apart(
                state, group, written_at(found, other), written):
            return None
        for index in _reads_of(state, other, member.name):
            if index == written:
                step = max(step, other.step)
            elif not _is_apart(state, group, index, written):
                return None
    return step


def _is_written_here(state: Grouping, group: Group, member: Member) -> bool:
    """Whether the group overwrites what `member` reads."""
    for other in group.members.values():
        node = state.anchors.nodes[other.name]
        if isinstance(node, Mutation) and not all(
                _is_apart(state, group, index, written_at(node, other))
                for index in _reads_of(state, member, other.name)):
            return True
    return False


def _same_memory(state: Grouping, one: str, two: str) -> bool:
    memory = state.anchors.reads.memory
    return memory(one) == memory(two)


def _reads_of(state: Grouping, member: Member, name: str) -> Iterator[Index]:
    """Where a member reads the memory of `name`."""
    domain = domain_of(state.anchors.nodes[member.name])
    for access in member.reads:
        if access.source is not None and _same_memory(state, access.source, name):
            yield index_at(access.index, domain, member.place)


def _is_apart(state: Grouping, group: Group, one: Index, two: Index) -> bool:
    axes = [d.symbol for d in group.dims]
    return apart(one, two, axes, state.anchors.reads.locals)


def _may_write_together(state: Grouping, group: Group, member: Member) -> bool:
    """Whether no iteration writes to an input while another may still end the run."""
    names = {*group.members, member.name}
    return state.checked.isdisjoint(names) or not any(
        isinstance(state.anchors.nodes[name], Mutation) for name in names)


def in_order(state: Grouping) -> list[Group]:
    """Groups sorted so that each comes after those before it, otherwise as they were made."""
    done = 0
    order: list[Group] = []
    pending = sorted(state.groups)
    while pending:
        for number in pending:
            if not state.precedence.before[number] & ~done:
                break
        else:
            raise AssertionError("groups depend on each other in a circle")
        done |= 1 << number
        pending.remove(number)
        order.append(state.groups[number])
    return order
