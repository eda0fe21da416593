"""The order in which `einsum` contracts its operands: see einsum.py."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any

from graphwright.runtime.ops.strides import product

Labels = tuple[str, ...]
_EXHAUSTIVE = 6


def kept_after(chosen: frozenset[int], inputs: tuple[Labels, ...], output: Labels) -> Labels:
    """Labels of the product of the chosen operands that are needed later."""
    inside = sorted({x for i in chosen for x in inputs[i]})
    outside = {x for i, labels in enumerate(inputs) if i not in chosen for x in labels}
    return tuple(x for x in inside if x in outside or x in output)


def _cost(a: Labels, b: Labels, sizes: dict[str, int]) -> int:
    return int(product([sizes[x] for x in {*a, *b}]))


def _optimal(
    inputs: tuple[Labels, ...], output: Labels, sizes: dict[str, int]
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Pairs of sets of operands to contract, by dynamic programming over all sets."""
    count = len(inputs)
    best: dict[frozenset[int], tuple[int, tuple[Any, ...]]] = {
        frozenset([i]): (0, ()) for i in range(count)
    }
    labels = {frozenset([i]): inputs[i] for i in range(count)}
    for size in range(2, count + 1):
        for members in combinations(range(count), size):
            whole = frozenset(members)
            labels[whole] = kept_after(whole, inputs, output)
            options = []
            for part in range(1, size // 2 + 1):
                for some in combinations(members, part):
                    left = frozenset(some)
                    right = whole - left
                    step = _cost(labels[left], labels[right], sizes)
                    total = best[left][0] + best[right][0] + step
                    path = (*best[left][1], *best[right][1], (left, right))
                    options.append((total, path))
            best[whole] = min(options, key=lambda option: option[0])
    return list(best[frozenset(range(count))][1])


def _greedy(
    inputs: tuple[Labels, ...], output: Labels, sizes: dict[str, int]
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """The pair that shrinks memory most goes first; among equals the cheapest."""
    parts = {frozenset([i]): labels for i, labels in enumerate(inputs)}
    path = []

    def price(pair: tuple[frozenset[int], frozenset[int]]) -> tuple[int, int]:
        left, right = pair
        result = kept_after(left | right, inputs, output)
        space = [int(product([sizes[x] for x in x_s]))
                 for x_s in (result, parts[left], parts[right])]
        return space[0] - space[1] - space[2], _cost(parts[left], parts[right], sizes)

    while len(parts) > 1:
        pair = min(combinations(parts, 2), key=price)
        path.append(pair)
        for part in pair:
            del parts[part]
        whole = pair[0] | pair[1]
        parts[whole] = kept_after(whole, inputs, output)
    return path


@lru_cache(maxsize=1024)
def contraction_path(
    inputs: tuple[Labels, ...], output: Labels, sizes: tuple[tuple[str, int], ...]
) -> tuple[tuple[frozenset[int], frozenset[int]], ...]:
    """Which sets of operands to multiply, in order; every operand alone is there at first."""
    search = _optimal if len(inputs) <= _EXHAUSTIVE else _greedy
    return tuple(search(inputs, output, dict(sizes)))
