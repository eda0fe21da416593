"""The folds of `Reduce`: identities, one step, and the merging of accumulators and lanes."""

from __future__ import annotations

from collections.abc import Callable

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.regs import BITS, FLOATS, Reg
from graphwright.codegen.emit.scalar import maximum, minimum
from graphwright.codegen.loops import Fold

Combine = Callable[[Builder, Reg, Reg], Reg]

_COMBINE: dict[str, Combine] = {
    "sum": lambda b, x, y: x + y,
    "prod": lambda b, x, y: x * y,
    "max": lambda b, x, y: maximum(b, y, x),
    "min": lambda b, x, y: minimum(b, y, x),
    "any": lambda b, x, y: x | y,
    "all": lambda b, x, y: x & y,
}


def is_positional(fold: Fold) -> bool:
    return fold.op in ("argmax", "argmin")


def loses_bits(fold: Fold) -> bool:
    """Whether each step rounds, so that long chains of them are avoided."""
    return fold.op == "sum" and fold.value.dtype.is_floating_point


def total(b: Builder, fold: Fold, state: list[Reg], wide: bool, across: bool) -> list[Reg]:
    """The state as it is added to those of other blocks: sums in float64 if that is `wide`.
    `across`: the lanes are of one result, so that half of them are enough."""
    value = state[-1]
    if not loses_bits(fold) or value.kind == "f64":
        return state
    kind = "f64" if wide else value.kind
    if not across or value.lanes == 1:
        return [value.to(kind)]
    low, high = b.halves(value)
    return [low.to(kind) + high.to(kind)]


def _least(kind: str) -> float | int:
    if kind in FLOATS:
        return float("-inf")
    return 0 if kind in ("u8", "b") else -(1 << (BITS[kind] - 1))


def _greatest(kind: str) -> float | int:
    if kind in FLOATS:
        return float("inf")
    if kind == "b":
        return 1
    return 255 if kind == "u8" else (1 << (BITS[kind] - 1)) - 1


def identity(b: Builder, fold: Fold, kind: str, lanes: int, position_kind: str) -> list[Reg]:
    """What the fold starts from: a value, for argmax and argmin a value and its position."""
    if fold.op in ("max", "argmax"):
        start = _least(kind)
    elif fold.op in ("min", "argmin"):
        start = _greatest(kind)
    else:
        start = 1 if fold.op in ("prod", "all") else 0
    first = b.broadcast(b.const(start, kind), lanes)
    if is_positional(fold):
        return [first, b.broadcast(b.const(0, position_kind), lanes)]
    return [first]


def step(b: Builder, fold: Fold, state: list[Reg], value: Reg, position: Reg) -> list[Reg]:
    """The state after one more value."""
    if not is_positional(fold):
        return [_COMBINE[fold.op](b, state[0], value)]
    best, where = state
    better = _beats(b, fold, value, best)
    return [b.select(better, value, best), b.select(better, position, where)]


def _beats(b: Builder, fold: Fold, value: Reg, best: Reg) -> Reg:
    """Whether `value` replaces `best` that came before it: nan beats all but nan."""
    if value.kind == "b":
        value, best = value.to("i8"), best.to("i8")
    if value.kind not in FLOATS:
        return value > best if fold.op == "argmax" else value < best
    return ~(value <= best if fold.op == "argmax" else value >= best) & best.eq(best)


def merge(b: Builder, fold: Fold, one: list[Reg], two: list[Reg]) -> list[Reg]:
    """Two partial states as one; equal extremes keep the lower position."""
    if not is_positional(fold):
        return [_COMBINE[fold.op](b, one[0], two[0])]
    (x, i), (y, j) = one, two
    replaces = _beats(b, fold, y, x)
    tied = ~_beats(b, fold, x, y) & (j < i)
    chosen = replaces | tied
    return [b.select(chosen, y, x), b.select(chosen, j, i)]


def across_lanes(b: Builder, fold: Fold, state: list[Reg]) -> list[Reg]:
    """A state of scalars from a state of vectors, halving it until one lane is left."""
    while state[0].lanes > 1:
        halves = [b.halves(part) for part in state]
        state = merge(b, fold, [low for low, _ in halves], [high for _, high in halves])
    return state
