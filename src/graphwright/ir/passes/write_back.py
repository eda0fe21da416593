"""New values of arguments that were mutated are written by the graph itself.

Before, with `mutated = [(0, 1), (1, 2)]`::

    def forward(self, x, cache, k):
        add = ops.add(x, 1)
        view_scatter = ops.view_scatter(cache, k, (("slice", 0, 3, 4, 1),))
        sum_1 = ops.sum(view_scatter)
        return (sum_1, add, view_scatter)

After, with `mutated = [(0, -1), (1, -1)]`::

    def forward(self, x, cache, k):
        add = ops.add(x, 1)
        slice_1 = ops.slice(cache, 0, 3, 4, 1)
        copy_ = ops.copy_(slice_1, k)
        sum_1 = ops.sum(cache)
        copy__1 = ops.copy_(x, add)
        return (sum_1,)

A part that is replaced is written where it is, be it places that tensors name (`index_put`
becomes `index_put_`), and what reads the new value reads the argument
from then on: the nodes are put in an order in which nothing reads the value before any more.
Where there is none, readers take a copy, and the parts are written at the end. Writes come after
all that may fail, an index out of range say: a call that raises has changed nothing. A new value
through which gradients flow, or which the backward graph needs, stays an output: the caller puts
it into the argument, where the tape sees it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from heapq import heapify, heappop, heappush
from typing import Any

from graphwright.ir.graph.lint import check_writes
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_nodes
from graphwright.ir.joint.joint import dense_like
from graphwright.ir.passes.algebra import same_sizes
from graphwright.ir.passes.dce import is_impure
from graphwright.ir.passes.decompose import is_primitive
from graphwright.ir.passes.keep_data_checks import may_refuse
from graphwright.runtime.fake.fake_tensor import fake_kernel
from graphwright.runtime.ops.table import TABLE, Op
from graphwright.runtime.record import Record
from graphwright.runtime.tensor import dtypes


class Chain(Record):
    """How an argument gets its new value: `versions` of it, one after the other. Each is a copy of
    the one before, at first of the argument, with a part replaced; or of a value of its own."""

    argument: Node
    versions: tuple[Node, ...]


def write_back(
    module: GraphModule, mutated: list[tuple[int, int]], keep: Collection[int]
) -> dict[int, int]:
    """See the module's docstring. `mutated` pairs arguments with outputs; `keep` are outputs.

    Returns: the outputs that are left, old index to new.
    """
    results = list(module.graph.output_node().args[0])
    arguments = module.graph.placeholders
    written = {place: arguments[index] for index, place in mutated if place not in keep}
    left = [place for place in range(len(results)) if place not in written]
    module.graph.set_results([results[place] for place in left])
    chains: list[Chain] = []
    for place, argument in written.items():
        chain = _chain(argument, results[place], chains)
        if chain.versions:
            chains.append(chain)
        else:
            _write(module, module.graph.output_node(), argument, (), results[place])
    _separate(module, chains, set(written.values()))
    for chain in _in_order(module, chains):
        _replace(module, chain)
        chains.remove(chain)
    for chain in chains:
        for version in chain.versions:
            _write_version(module, module.graph.output_node(), chain.argument, version)
    module.graph.eliminate_dead_code(is_impure)
    check_writes(module.graph)
    return {old: new for new, old in enumerate(left)}


def _is_part(node: Any) -> bool:
    """Whether a value is another one with a part replaced."""
    return isinstance(node, Node) and (
        getattr(node.target, "name", None) == "view_scatter" or _is_indexed(node))


def _is_indexed(node: Node) -> bool:
    """Whether index tensors select the replaced part, and it can be written in place."""
    name = getattr(node.target, "name", "")
    if name not in _IN_PLACE:
        return False
    value = node.meta["val"]
    if not value.ndim or value.dtype.is_complex or any(
        isinstance(size, int) and size == 0 for size in value.shape
    ):
        return False
    if any(place.meta["val"].dtype is dtypes.bool for place in _places(node)):
        return False
    adds = name in _ADDING or (name == "index_put" and node.args[3])
    return not adds or (value.dtype is not dtypes.bool and (
        value.dtype.itemsize >= 4 or not value.dtype.is_floating_point))


def _places(version: Node) -> list[Node]:
    """The index tensors that select the replaced part."""
    if version.target is TABLE["index_put"]:
        return [index for index in version.args[1] if index is not None]
    return [version.args[2]]


_IN_PLACE = {name: f"{name}_" for name in (
    "index_put", "scatter_src", "scatter_value", "scatter_add", "index_add")}
_ADDING = ("scatter_add", "index_add")


def _chain(argument: Node, value: Node, others: Collection[Chain]) -> Chain:
    """The versions that lead to `value`: none where another argument has them, or their memory is
    laid out otherwise."""
    taken = {version for chain in others for version in chain.versions}
    if value.target is TABLE["clone"] and _is_part(value.args[0]):
        value = value.args[0]
    versions: list[Node] = []
    while _is_part(value) and value not in taken:
        versions.insert(0, value)
        value = value.args[0]
    known = value is argument and all(
        same_sizes(v.meta["val"].stride(), argument.meta["val"].stride()) for v in versions)
    return Chain(argument, tuple(versions) if known else ())


def _separate(
    module: GraphModule, chains: Collection[Chain], written: Collection[Node]
) -> None:
    """What is written or returned, and is a view of memory that is written, becomes a copy."""
    versions = [version for chain in chains for version in chain.versions]
    memory = {*versions, *written}
    for version in versions:
        def apart(source: Node, version: Node = version) -> Node:
            return _copied(module, version, source) if _behind(source) in memory else source
        version.args = (version.args[0], *map_nodes(version.args[1:], apart))
    for copy in module.graph.find_nodes(op="call_function", target=TABLE["copy_"]):
        if _behind(copy.args[1]) in memory:
            copy.update_arg(1, _copied(module, copy, copy.args[1]))
    output = module.graph.output_node()
    module.graph.set_results([
        _copied(module, output, result)
        if isinstance(result, Node) and _behind(result) in versions else result
        for result in output.args[0]])


def _behind(node: Node) -> Node:
    """What a node is a view of in the end."""
    while _is_view(node):
        node = node.args[0]
    return node


def _is_view(node: Node) -> bool:
    """Whether code generation reads a node's input for it."""
    op = node.target
    return isinstance(op, Op) and (op.is_view or op.name in ("_unsafe_view", "flip"))


def _copied(module: GraphModule, before: Node, value: Node) -> Node:
    with module.graph.inserting_before(before):
        copy = module.graph.call_function(TABLE["clone"], (value,))
    copy.meta = {**value.meta, "val": dense_like(value.meta["val"])}
    return copy


def _in_order(module: GraphModule, chains: Collection[Chain]) -> list[Chain]:
    """The chains whose versions can take the place of one another in the argument's memory, the
    graph's nodes in an order in which they do."""
    chosen = list(chains)
    order = _order(module, chosen) if chosen else None
    if chosen and order is None:
        chosen = []
        for chain in chains:
            found = _order(module, [*chosen, chain])
            if found is not None:
                order, chosen = found, [*chosen, chain]
    for node in order or ():
        module.graph.output_node().prepend(node)
    return chosen


def _order(module: GraphModule, chains: Collection[Chain]) -> list[Node] | None:
    """The nodes, each version as late as may be, after what reads the one before or may fail."""
    nodes = [n for n in module.graph.nodes if n.op not in ("placeholder", "get_attr", "output")]
    place = {node: number for number, node in enumerate(nodes)}
    after = {node: {n for n in node.all_input_nodes if n in place} for node in nodes}
    indexed = {v for chain in chains for v in chain.versions if _is_indexed(v)}
    failing = {node for node in nodes if _may_fail(node)} - indexed
    failing |= {index for version in indexed for index in _places(version) if index in place}
    late: set[Node] = {n for n in nodes if isinstance(n.target, Op) and n.target.is_inplace}
    for copy in late:
        after[copy] |= (failing | set(_readers(copy.args[0]))) - {copy}
    for chain in chains:
        before = chain.argument
        for version in chain.versions:
            after[version] |= (failing | set(_readers(before))) - {version}
            late.add(version)
            before = version
    followers: dict[Node, list[Node]] = {node: [] for node in nodes}
    for node, earlier in after.items():
        for other in earlier:
            followers[other].append(node)
    waits = {node: len(earlier) for node, earlier in after.items()}
    ready = [(node in late, place[node]) for node in nodes if not waits[node]]
    heapify(ready)
    order: list[Node] = []
    while ready:
        node = nodes[heappop(ready)[1]]
        order.append(node)
        for other in followers[node]:
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, (other in late, place[other]))
    return order if len(order) == len(nodes) else None


def _readers(node: Node) -> Iterator[Node]:
    """What reads a value, its views among it."""
    for user in node.users:
        if user.op != "output":
            yield user
            if _is_view(user):
                yield from _readers(user)


def _may_fail(node: Node) -> bool:
    """Whether a node could raise: by what tensors hold, or as a call of its own."""
    op = node.target
    return isinstance(op, Op) and not op.is_inplace and (
        may_refuse(node) or not is_primitive(op))


def _replace(module: GraphModule, chain: Chain) -> None:
    """Write each version where it stands; what reads it reads the argument."""
    for version in chain.versions:
        _write_version(module, version, chain.argument, version)
        version.replace_all_uses_with(chain.argument)
        module.graph.erase_node(version)


def _write_version(module: GraphModule, before: Node, argument: Node, version: Node) -> None:
    """Write to the argument what a version replaces."""
    if not _is_indexed(version):
        _write(module, before, argument, version.args[2], version.args[1])
        return
    in_place = TABLE[_IN_PLACE[getattr(version.target, "name", "")]]
    with module.graph.inserting_before(before):
        _call(module, version, in_place, (argument, *version.args[1:]))


def _write(
    module: GraphModule, before: Node, argument: Node, views: Any, source: Node
) -> None:
    """Copy `source` to the argument's view through `views`."""
    with module.graph.inserting_before(before):
        target = argument
        for name, *args in views:
            target = _call(module, before, TABLE[name], (target, *args))
        _call(module, before, TABLE["copy_"], (target, source))


def _call(module: GraphModule, like: Node, op: Op, args: tuple[Any, ...]) -> Node:
    node = module.graph.call_function(op, args)
    value = args[0].meta["val"]
    if op.is_view:
        value = fake_kernel(op, (value, *args[1:]))
    node.meta = {**like.meta, "val": value}
    return node
