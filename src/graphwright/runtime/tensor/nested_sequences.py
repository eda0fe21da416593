"""Nested sequences that are data: what is inside them, and whether they are an array.

Each sequence is looked at once a level, however often it occurs in it, and down to as many levels
as a tensor has dims: so sequences that contain themselves are refused like those that are too
deep, before NumPy follows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from graphwright.runtime.errors import OutOfMemoryError

MAX_DIMS = 32
_SEQUENCES = (list, tuple)


def kinds_of(data: Any) -> tuple[set[type], Exception | None]:
    """The types of what is inside nested sequences; what to raise for those that are no array.

    Raises ValueError for sequences deeper than a tensor has dims, OutOfMemoryError for more
    elements than there is memory for, as few sequences that occur often have.
    """
    if not isinstance(data, _SEQUENCES):
        return {type(data)}, None
    kinds: set[type] = set()
    wrong: Exception | None = None
    level, numel = [data], 1
    for dim in range(MAX_DIMS):
        wrong = wrong or _irregular(level, dim)
        sequences = [item for item in level if isinstance(item, _SEQUENCES)]
        numel *= len(sequences[0])
        level = list(chain.from_iterable(sequences))
        found = set(map(type, level))
        deeper = {kind for kind in found if issubclass(kind, _SEQUENCES)}
        kinds |= found - deeper
        if not deeper:
            if wrong is None and numel > len(level):
                _check_memory(numel)
            return kinds, wrong
        level = _distinct(level)
    raise ValueError(
        f"tensor(): too many dimensions '{min(kind.__name__ for kind in deeper)}': sequences are "
        f"nested more than {MAX_DIMS} deep, or contain themselves"
    )


def regular(data: Any) -> Any:
    """The data, whose nested sequences are an array. Raises what `kinds_of` raises and gives."""
    _, irregular = kinds_of(data)
    if irregular is not None:
        raise irregular
    return data


def _check_memory(numel: int) -> None:
    try:
        np.empty(numel, np.float64)
    except (MemoryError, ValueError):
        raise OutOfMemoryError(f"cannot allocate {8 * numel} bytes") from None


def ragged(data: Any) -> Exception:
    """What to raise for sequences and arrays that together are no array."""
    level, dim = [data], 0
    while level:
        wrong = _irregular(level, dim)
        if wrong is not None:
            return wrong
        level, dim = _distinct(chain.from_iterable(level)), dim + 1
    return ValueError("tensor(): the data is no array")


def _distinct(items: Iterable[Any]) -> list[Any]:
    return list({id(item): item for item in items}.values())


def _irregular(level: list[Any], dim: int) -> Exception | None:
    """What to raise where what is on a level differs in length, or only part has any."""
    parts = [item for item in level if isinstance(item, _SEQUENCES) or np.ndim(item)]
    if len(parts) != len(level):
        return TypeError(
            f"tensor(): not a sequence, at dim {dim}, where there are sequences and numbers"
        )
    lengths = [len(part) for part in parts]
    if len(set(lengths)) > 1:
        other = next(n for n in lengths if n != lengths[0])
        return ValueError(
            f"tensor(): expected sequence of length {lengths[0]} at dim {dim} (got {other})"
        )
    return None
