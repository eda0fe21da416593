"""Helpers for layers: sizes given as one number or several, prefixes of saved names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that repeats one value `n` times, and makes a tuple of several."""

    def parse(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, Iterable) else (value,) * n

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(values: Sequence[Any], n: int) -> tuple[Any, ...]:
    """The values from the last to the first, each `n` times: the order that `F.pad` takes."""
    return tuple(value for value in reversed(values) for _ in range(n))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take `prefix` off the names (and their metadata) that begin with it, in place."""
    for name in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[name[len(prefix) :]] = state_dict.pop(name)
    metadata = getattr(state_dict, "_metadata", {})
    for name in list(metadata):
        if name in (prefix, prefix.rstrip(".")) or name.startswith(prefix):
            metadata[name[len(prefix) :]] = metadata.pop(name)
