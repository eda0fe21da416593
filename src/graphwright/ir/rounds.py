"""Rounds: regions of a captured graph that are equal and follow one another.

Capture unrolls loops, over layers or over time::

    h1 = tanh(linear(x, w1))
    h2 = tanh(linear(h1, w2))
    ...
    h24 = tanh(linear(h23, w24))
    y = exp(h24)

`find_rounds` finds the period (two nodes here), and which arguments are another's in each round
(the weights). `shortened` is the graph with the first few of the rounds: what is compiled in its
place, and then lengthened again (`codegen.lengthening`).

Two rounds are equal where each node calls the same on the same constants and gives values of the
same type, and where its operands lie in the same places: as far before it as in the round before,
outside of the rounds and the same for all, or arguments that are one round's alone. A value that
was made before the rounds may stand for that of a round before the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import RECOMPUTED, ROUND, Node
from graphwright.runtime.fake.fake_tensor import FakeTensor
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.device import device as Device

KEPT = (3, 4)
"""Rounds of a shortened graph. Where the first and the last begin and end in kernels of their own,
there are two periods between these, which show how one follows another; where all of the first
and the last differ, it takes one round more."""
FEWEST = 8
"""Rounds from which on a graph is shortened."""
WINDOWS = (1, 8)
"""How many nodes in a row are compared to see after how many they come again."""
MOST_PERIODS = 16
"""How many lengths of a round are looked at, the most frequent first."""


_PLAIN = frozenset({type(None), bool, int, str})


class Rounds(Record):
    """The rounds of a graph: `count` times `period` calls from the call of number `first` on.

    slots: for each argument that every round has of its own the inputs that it is, by round.
    """

    first: int
    period: int
    count: int
    slots: tuple[tuple[int, ...], ...]

    @property
    def end(self) -> int:
        """The number of the first call behind them."""
        return self.first + self.period * self.count


class Removed(Record):
    """What the inputs of a shortened graph are in the whole one, which has `rounds` more.

    Attributes:
        names: of the inputs of the whole graph.
        inputs: for each input of the shortened graph its position in the whole one, or where the
            rounds have inputs of their own its round and its slot.
        slots: as in `Rounds`.
    """

    rounds: int
    names: tuple[str, ...]
    inputs: tuple[int | tuple[int, int], ...]
    slots: tuple[tuple[int, ...], ...]

    def position(self, place: int, later: int = 0) -> int:
        """The input of the whole graph that input `place` of the shortened one is; where it is
        one round's, that of so many rounds later."""
        found = self.inputs[place]
        if isinstance(found, int):
            return found
        number, slot = found
        return self.slots[slot][number + later]


class _Calls:
    """The calls of a graph, their operands as numbers: those of calls, and -1, -2, ... for inputs.

    keys: equal for calls that differ in operands alone.
    """

    def __init__(self, module: GraphModule, inputs: Sequence[Any]) -> None:
        self.inputs = inputs
        self.numbers: dict[Node, int] = {}
        self.nodes: list[Node] = []
        self.operands: list[list[int]] = []
        self.keys: list[int] = []
        self.types: list[Any] = []
        known: dict[Any, int] = {}
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self.numbers[node] = -1 - len(self.numbers)
                continue
            operands: list[int] = []
            parts = [_shape_of(part, self.numbers, operands) for part in (node.args, node.kwargs)]
            self.operands.append(operands)
            if node.op == "output":
                break
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.types.append(_type_of(node.meta.get("val")))
            target = node.target if isinstance(node.target, str) else id(node.target)
            facts = ("no_grad" in node.meta, RECOMPUTED in node.meta)
            key = (node.op, target, *parts, facts, self.types[-1])
            self.keys.append(known.setdefault(key, len(known)))

    def type_of(self, number: int) -> Any:
        """The type of a call's value, or of an input."""
        return self.types[number] if number >= 0 else _type_of(self.inputs[-1 - number])


def _shape_of(value: Any, numbers: dict[Node, int], operands: list[int]) -> Any:
    """What can be compared of an argument; the numbers of its nodes are added to `operands`."""
    kind = type(value)
    if kind is Node:
        operands.append(numbers[value])
        return Node
    if kind in _PLAIN:
        return kind, value
    if isinstance(value, tuple | list):
        return kind, *[_shape_of(part, numbers, operands) for part in value]
    if isinstance(value, dict):
        return kind, *[(key, _shape_of(part, numbers, operands)) for key, part in value.items()]
    if kind is slice:
        return _shape_of((slice, value.start, value.stop, value.step), numbers, operands)
    if kind in (float, complex):
        return kind, repr(value)
    if kind is SymInt:
        return kind, value.expr
    return (kind, str(value)) if kind is Device else id(value)


def _type_of(value: Any) -> Any:
    """All that lowering reads of a value."""
    if isinstance(value, tuple | list):
        return type(value), *map(_type_of, value)
    if not isinstance(value, FakeTensor):
        return _shape_of(value, {}, [])
    layout = (*value.shape, *value.stride(), value.storage_offset())
    return (value.dtype, tuple([size if type(size) is int else size.expr for size in layout]),
            value.device, value.requires_grad)


def find_rounds(module: GraphModule, inputs: Sequence[Any]) -> Rounds | None:
    """The rounds that most of the graph consists of; None where there are fewer than `FEWEST`.

    inputs: what the placeholders stand for.
    """
    if any(node.op in ("get_attr", "call_module") for node in module.graph.nodes):
        return None
    calls = _Calls(module, inputs)
    found = [(_saved(length, period), period, first, first + length)
             for period in _periods(calls.keys) for first, length in _runs(calls.keys, period)]
    for saved, period, first, end in sorted(found, reverse=True):
        rounds = _rounds(calls, period, first, end) if saved > 0 else None
        if rounds is not None and _are_closed(calls, module, rounds):
            return rounds
    return None


def _saved(length: int, period: int) -> int:
    """How many calls a shortened graph has less."""
    count = length // period
    return (count - max(KEPT)) * period if count >= FEWEST else 0


def _periods(keys: Sequence[int]) -> Iterable[int]:
    """After how many calls equal ones come again, the most frequent first."""
    gaps: Counter[int] = Counter()
    for width in WINDOWS:
        last: dict[tuple[int, ...], int] = {}
        for place in range(len(keys) - width + 1):
            window = tuple(keys[place:place + width])
            if window in last:
                gaps[place - last[window]] += 1
            last[window] = place
    return [gap for gap, _ in gaps.most_common(MOST_PERIODS)]


def _runs(keys: Sequence[int], period: int) -> Iterable[tuple[int, int]]:
    """The first call, and how many there are, where each is like the one `period` after it."""
    first = 0
    for place, (one, other) in enumerate(zip(keys, keys[period:], strict=False)):
        if one != other:
            if place > first:
                yield first, place - first + period
            first = place + 1
    if len(keys) - period > first:
        yield first, len(keys) - first


def _rounds(calls: _Calls, period: int, first: int, end: int) -> Rounds | None:
    """The most rounds within these calls whose operands follow one another."""
    begin, best = first, (0, 0)
    for place in range(first, end - period + 1):
        if place == end - period or not _follow(calls, place, period, begin):
            best = max(best, (place + period - begin, -begin))
            begin = place + 1
    length, begin = best[0], -best[1]
    if not _saved(length, period):
        return None
    slots = _slots(calls, period, begin, length // period)
    return None if slots is None else Rounds(begin, period, length // period, slots)


def _follow(calls: _Calls, place: int, period: int, first: int) -> bool:
    """Whether the operands of the call a round later follow those of a call."""
    for one, other in zip(calls.operands[place], calls.operands[place + period], strict=True):
        if other >= first:
            moved = one == other - period
            begun = one < first and other < first + period
            if not (moved or begun) or place + period - other > period:
                return False
            if begun and calls.type_of(one) != calls.type_of(other):
                return False
        elif one != other and max(one, other) >= 0:
            return False
    return True


def _slots(
    calls: _Calls, period: int, first: int, count: int
) -> tuple[tuple[int, ...], ...] | None:
    """See `Rounds`; None where some rounds share what others have of their own."""
    slots: dict[tuple[int, ...], None] = {}
    common: set[int] = set()
    for place in range(first, first + period):
        rows = [calls.operands[place + number * period] for number in range(count)]
        for column in zip(*rows, strict=True):
            if column[-1] >= 0:
                common.update(-1 - number for number in column if number < 0)
                continue
            if len(set(column)) == 1:
                common.add(-1 - column[0])
                continue
            if len({calls.type_of(number) for number in column}) > 1:
                return None
            slots[tuple([-1 - number for number in column])] = None
    own = [position for slot in slots for position in slot]
    apart = len(set(own)) == len(own) and common.isdisjoint(own)
    return tuple(slots) if apart else None


def _are_closed(calls: _Calls, module: GraphModule, rounds: Rounds) -> bool:
    """Whether nothing outside reads what is within, but the values of the last round; and whether
    the memory of the rounds' own inputs is no other input's."""
    if not _hang_together(calls, rounds):
        return False
    own = {position for slot in rounds.slots for position in slot}
    last = rounds.end - rounds.period
    for place, operands in enumerate(calls.operands):
        if rounds.first <= place < rounds.end:
            continue
        for operand in operands:
            if rounds.first <= operand < last or -1 - operand in own:
                return False
    names = module.meta.get("second_names", {})
    if own.intersection(names) or own.intersection(names.values()):
        return False
    return _have_own_memory(calls.inputs, own)


def _hang_together(calls: _Calls, rounds: Rounds) -> bool:
    """Whether the calls of a round are one chain with those of the round before.

    Where another runs beside it (`t = t + dt`, which no layer reads), passes may fold all of it
    into one value, which shows in no step of a round.
    """
    leader = list(range(rounds.period))

    def find(place: int) -> int:
        while leader[place] != place:
            place = leader[place]
        return place
    for place in range(rounds.first + rounds.period, rounds.first + 2 * rounds.period):
        for operand in calls.operands[place]:
            if operand >= rounds.first:
                one, other = ((number - rounds.first) % rounds.period
                              for number in (place, operand))
                leader[find(one)] = find(other)
    return len({find(place) for place in range(rounds.period)}) == 1


def _have_own_memory(inputs: Sequence[Any], own: set[int]) -> bool:
    """Whether these inputs are tensors that share memory with no other."""
    for position in own:
        value = inputs[position]
        if type(value) is not FakeTensor or value._base is not None:
            return False
    memory = Counter(id(value._storage) for value in inputs if isinstance(value, FakeTensor))
    return all(memory[id(inputs[position]._storage)] == 1 for position in own)


def shortened(
    module: GraphModule, rounds: Rounds, count: int
) -> tuple[GraphModule, Removed] | None:
    """The graph with the first `count` rounds alone, whose nodes have their round in their meta.

    None where a size is known from an input of a round that is not kept.
    """
    own = {position: (number, slot) for slot, positions in enumerate(rounds.slots)
           for number, position in enumerate(positions)}
    names = tuple([node.name for node in module.graph.placeholders])
    kept = [n for n in range(len(names)) if n not in own or own[n][0] < count]
    removed = Removed(rounds.count - count, names, tuple([own.get(n, n) for n in kept]),
                      rounds.slots)
    places = {position: place for place, position in enumerate(kept)}
    symbols = module.meta.get("symbols", {})
    if any(position not in places for position, _ in symbols.values()):
        return None
    short = GraphModule({}, _shortened(module.graph, rounds, count, places))
    short.meta = {
        **module.meta,
        "symbols": {name: (places[position], dim) for name, (position, dim) in symbols.items()},
        "second_names": {places[one]: places[other] for one, other
                         in module.meta.get("second_names", {}).items()}}
    return short, removed


def _shortened(graph: Graph, rounds: Rounds, count: int, places: dict[int, int]) -> Graph:
    short, new = Graph(), dict[Node, Node]()
    short.signature = graph.signature
    calls: list[Node] = []
    end, kept = rounds.end, rounds.first + count * rounds.period
    for position, node in enumerate(graph.nodes):
        if node.op == "placeholder":
            if position in places:
                new[node] = short.node_copy(node)
            continue
        place = len(calls)
        calls.append(node)
        if kept <= place < end:
            if place >= end - rounds.period:    # the last round is the last that is kept
                new[node] = new[calls[place - end + kept]]
            continue
        new[node] = copy = short.node_copy(node, new.__getitem__)
        if rounds.first <= place < kept:
            copy.meta[ROUND] = (place - rounds.first) // rounds.period
    return short
