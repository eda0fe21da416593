"""Where the value of a symbol is found in an argument of a graph.

A place is the number of a dimension whose size it is, that plus STRIDE for the dimension's stride
in elements, or WHOLE where the argument is the integer itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphwright.runtime.symbolic.symint import IntLike

WHOLE = -1
STRIDE = 32     # tensors have at most so many dimensions


def value_at(argument: Any, place: int) -> Any:
    """The integer at a place of an argument; symbolic if the argument is so."""
    if place == WHOLE:
        return argument
    return argument.shape[place] if place < STRIDE else argument.stride()[place - STRIDE]


def values_of(
    symbols: Mapping[str, tuple[int, int]], arguments: Sequence[Any]
) -> dict[str, Any]:
    """The values of symbols that are found in (argument, place), by name."""
    return {name: value_at(arguments[index], place) for name, (index, place) in symbols.items()}


def text_at(argument: str, place: int) -> str:
    """The same as Python source, for an argument of that name."""
    if place == WHOLE:
        return argument
    if place < STRIDE:
        return f"{argument}.shape[{place}]"
    return f"{argument}.stride({place - STRIDE})"


def integers_of(tensor: Any) -> Iterator[tuple[int, IntLike]]:
    """All places of a tensor and what is there, sizes first."""
    yield from enumerate(tensor.shape)
    yield from enumerate(tensor.stride(), STRIDE)
