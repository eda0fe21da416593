"""Which values of the forward part are saved for the gradients, and which are recomputed.

A minimum cut decides. Each value is two nodes of a flow network with an edge of the cost of saving
it in between: reading it in the backward, writing it where it would need no memory otherwise, and
the price of the memory it takes until then. An edge from the source to the first of the two has
the cost of running the operation again. What gradients read leads to the sink. Values on the
sink's side are recomputed; those of which only the second node is there are saved.

    x -> [mm] -> h -> [gelu] -> a -> [mm] ...      gradients read h and a

    cut behind h:    h is saved,           a is recomputed
    cut behind a, h: both are saved

The price of memory rises until the saved values take no more than the budget, a fraction of what
eager execution saves. Between the last two prices single regions are chosen, those first that free
most for their cost: the greedy solution of the knapsack problem (G. B. Dantzig, "Discrete-variable
extremum problems", Operations Research 5, 1957).

Regions in which so much is recomputed that it takes the place of what is not saved are divided, as
in T. Chen et al., "Training deep nets with sublinear memory cost", 2016: values at their narrow
places are saved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from graphwright.ir.graph.node import Node
from graphwright.ir.joint.min_cut import UNBOUNDED, FlowNetwork
from graphwright.ir.joint.recompute_costs import (
    bytes_of,
    can_repeat,
    is_fused,
    is_stored,
    is_view,
    work,
)
from graphwright.runtime.record import Record

PRICES = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0, 1e6)
"""What a byte of memory costs, in bytes moved: tried from the left. Memory that was not used just
before has to be brought into the caches, or to be asked of the system, before it is written."""
SCALE = 16
"""Capacities are whole numbers of a 16th of a byte."""
PARTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Into how many pieces a region may be divided."""


class Problem(Record, eq=False):
    """What is to be decided.

    Attributes:
        order: the joint graph's nodes, with their positions.
        needed: the values of the forward part that gradients read.
        early: the nodes that depend on no tangent; forwards: those that results are made of.
        held: inputs and results that gradients read: they are in memory anyway.
        copied: inputs and results that may change before the backward: saved as copies.
        again: values that the program says to recompute: they are not saved.
    """

    order: dict[Node, int]
    needed: Collection[Node]
    early: set[Node]
    forwards: set[Node]
    held: Collection[Node]
    copied: Collection[Node]
    again: Collection[Node]


def choose_saved(problem: Problem, budget: float) -> list[Node]:
    """The values to save, in the joint graph's order.

    Args:
        budget: the bytes that they should take at most, beside inputs.
    """
    chooser = _Chooser(problem)
    recomputed = chooser.within(budget)
    divided = chooser.narrow_places(recomputed)
    if divided:
        chooser.fixed |= divided
        recomputed = chooser.within(budget)
    return sorted(chooser.saved(recomputed), key=problem.order.__getitem__)


class _Chooser:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.fixed: set[Node] = set()
        self._costs: dict[Node, tuple[int, float, float]] = {}

    def within(self, budget: float) -> set[Node]:
        """The nodes to recompute so that what is saved fits into the budget, if possible."""
        before: set[Node] = set()
        recomputed: set[Node] = set()
        for price in PRICES:
            before, recomputed = recomputed, self._cut(price)
            if self._bytes(recomputed) <= budget:
                break
        if price == PRICES[0] or self._bytes(recomputed) > budget:
            return recomputed
        return self._between(before, recomputed, budget)

    def saved(self, recomputed: set[Node]) -> set[Node]:
        """What has to be saved so that these can be recomputed, and the gradients computed."""
        read = {source for node in recomputed for source in node.all_input_nodes}
        read.update(self.problem.needed)
        return {node for node in read - recomputed if node.op != "get_attr"}

    def _bytes(self, recomputed: set[Node]) -> int:
        return sum(self._cost(node)[0] for node in self.saved(recomputed)
                   if node not in self.problem.held)

    def _cost(self, node: Node) -> tuple[int, float, float]:
        """The bytes of a value, and the costs of saving it, at no price, and of recomputing it."""
        if node not in self._costs:
            self._costs[node] = self._new_cost(node)
        return self._costs[node]

    def _new_cost(self, node: Node) -> tuple[int, float, float]:
        problem, size = self.problem, bytes_of(node)
        if node in problem.held or node in problem.again:
            return size, float(size), 0.0
        written = node in problem.copied or not is_stored(node, problem.forwards.__contains__)
        again = work(node) if node in problem.forwards else 0.0
        if is_fused(node) and is_stored(node, lambda user: user not in problem.early):
            again += 2 * size
        return size, float(size + size * written), again

    def _is_fixed(self, node: Node, price: float) -> bool:
        """Whether recomputing the node is impossible, or dearer than saving it."""
        if node in self.problem.again:
            return False
        if node.op != "call_function" or node in self.fixed or not can_repeat(node):
            return True
        size, saving, again = self._cost(node)
        return not is_view(node) and not isinstance(node.meta["val"], tuple) and (
            again > saving + price * size)

    def _cut(self, price: float) -> set[Node]:
        """The nodes to recompute where a byte of saved memory costs so much."""
        reached = self._reached(price)
        found: set[Node] = set()
        for part in self._regions(set(reached)):
            found |= self._part_of_cut({node: reached[node] for node in part}, price)
        return found

    def _part_of_cut(self, nodes: dict[Node, bool], price: float) -> set[Node]:
        """The same for nodes that are not connected with others."""
        numbers = {node: 2 * number for number, node in enumerate(nodes)}
        source, sink = 2 * len(nodes), 2 * len(nodes) + 1
        network = FlowNetwork(2 * len(nodes) + 2)
        for node, fixed in nodes.items():
            number = numbers[node]
            network.add(number, number + 1, self._capacity(node, price, fixed))
            again = UNBOUNDED if fixed else int(self._cost(node)[2] * SCALE)
            if again:
                network.add(source, number, again)
            if node in self.problem.needed:
                network.add(number + 1, sink, UNBOUNDED)
            if not fixed:
                for before in node.all_input_nodes:
                    if before in numbers:
                        network.add(numbers[before] + 1, number, UNBOUNDED)
        side = network.cut(source, sink)
        return {node for node, number in numbers.items() if number in side}

    def _reached(self, price: float) -> dict[Node, bool]:
        """The values that gradients read, and what they may be recomputed from, each with whether
        it is fixed."""
        reached: dict[Node, bool] = {}
        pending = [node for node in self.problem.needed if node.op != "get_attr"]
        while pending:
            node = pending.pop()
            if node not in reached:
                reached[node] = self._is_fixed(node, price)
                if not reached[node]:
                    pending += [n for n in node.all_input_nodes if n.op != "get_attr"]
        return reached

    def _capacity(self, node: Node, price: float, fixed: bool) -> int:
        """That of the edge whose cut saves the value: a view is saved as what it is a view of,
        unless that is larger."""
        size, saving, _ = self._cost(node)
        if node in self.problem.again:
            return UNBOUNDED
        if not fixed and node not in self.problem.needed:
            several = isinstance(node.meta["val"], tuple)
            if several or (is_view(node) and size >= bytes_of(node.all_input_nodes[0])):
                return UNBOUNDED
        price = 0.0 if node in self.problem.held else price
        return int((saving + price * size) * SCALE)

    def _between(self, few: set[Node], many: set[Node], budget: float) -> set[Node]:
        """`few`, and of what `many` has besides single regions until the budget is kept."""
        base, chosen = self._bytes(few), set(few)
        offers = []
        for number, region in enumerate(self._regions(many - few)):
            freed = base - self._bytes(few | region)
            cost = sum(self._cost(node)[2] for node in region)
            offers.append((-freed / (cost + 1), number, region))
        for _, _, region in sorted(offers, key=lambda offer: offer[:2]):
            if self._bytes(chosen) <= budget:
                break
            chosen |= region
        return chosen

    def _regions(self, nodes: set[Node]) -> Iterator[set[Node]]:
        """The nodes by what they are connected with, in the graph's order."""
        left = set(nodes)
        for first in sorted(nodes, key=self.problem.order.__getitem__):
            region, pending = set[Node](), [first]
            while pending:
                node = pending.pop()
                if node in left:
                    left.discard(node)
                    region.add(node)
                    pending += [*node.all_input_nodes, *node.users]
            if region:
                yield region

    def narrow_places(self, recomputed: set[Node]) -> set[Node]:
        """The values at which regions are divided."""
        found: set[Node] = set()
        for region in self._regions(recomputed):
            computed = [node for node in region & self.problem.forwards if not is_view(node)]
            found |= self._divisions(sorted(computed, key=self.problem.order.__getitem__))
        return found

    def _divisions(self, region: Sequence[Node]) -> set[Node]:
        """Where a region is divided so that what is saved there, and the largest piece of what is
        recomputed at a time, are least."""
        sizes = [self._cost(node)[0] if node in self.problem.needed else 0 for node in region]
        fronts = _fronts(region)
        widths = [sum(self._cost(node)[0] for node in front) for front in fronts]
        total = sum(sizes)
        best, chosen = float(total), list[int]()
        for parts in PARTS:
            places = _places(sizes, widths, total / parts)
            taken = {node for place in places for node in fronts[place]}
            cost = sum(self._cost(node)[0] for node in taken) + _largest(sizes, places)
            if cost < best:
                best, chosen = cost, places
        return {node for place in chosen for node in fronts[place]}


def _fronts(region: Sequence[Node]) -> list[set[Node]]:
    """Behind each node of a region those up to it that later ones read."""
    places = {node: place for place, node in enumerate(region)}
    last = [max([places.get(reader, -1) for reader in _readers(node)], default=-1)
            for node in region]
    fronts: list[set[Node]] = []
    open_: set[Node] = set()
    for place, node in enumerate(region):
        open_ = {before for before in open_ if last[places[before]] > place}
        if last[place] > place:
            open_.add(node)
        fronts.append(set(open_))
    return fronts


def _readers(node: Node) -> Iterator[Node]:
    """What reads the value, or a view of it."""
    pending = list(node.users)
    while pending:
        user = pending.pop()
        if is_view(user):
            pending += user.users
        else:
            yield user


def _places(sizes: Sequence[int], widths: Sequence[int], limit: float) -> list[int]:
    """Behind which nodes to divide: each piece has at most so many bytes where that is possible,
    and at least half as many, and is divided where it is narrowest."""
    places: list[int] = []
    piece, best = 0, -1
    for place, size in enumerate(sizes):
        piece += size
        if piece > limit and best >= 0:
            places.append(best)
            piece = sum(sizes[best + 1:place + 1])
            best = -1
        if piece >= limit / 2 and (best < 0 or widths[place] <= widths[best]):
            best = place
    return places


def _largest(sizes: Sequence[int], places: Sequence[int]) -> int:
    """The bytes of the largest piece."""
    ends = [*[place + 1 for place in places], len(sizes)]
    starts = [0, *ends[:-1]]
    return max(sum(sizes[start:end]) for start, end in zip(starts, ends, strict=True))
