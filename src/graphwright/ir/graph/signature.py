"""`Signature`: how the arguments and results of a graph's calls are nested.

A graph's placeholders and results are flat. Where its function took or returned containers, the
signature says which, and calls of the graph flatten and rebuild them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from graphwright.utils._pytree import TreeSpec, tree_flatten


class Signature(NamedTuple):
    """Names of the arguments, the structure of their tuple, and of the result (None: as it is)."""

    names: tuple[str, ...]
    arguments: TreeSpec
    results: TreeSpec | None = None

    def flatten(self, args: Sequence[Any]) -> list[Any]:
        """One value for each placeholder.

        Raises: ValueError where an argument is not nested as it was when the graph was traced.
        """
        return _leaves(self.arguments, tuple(args), "the arguments")

    def result(self, values: Any) -> Any:
        """The result that these, one for each of the graph's, are the leaves of."""
        return values if self.results is None else self.results.unflatten(values)


def _leaves(spec: TreeSpec, tree: Any, what: str) -> list[Any]:
    """The parts of `tree` where `spec` has leaves."""
    if spec.is_leaf():
        return [tree]
    parts, own = tree_flatten(tree, lambda part: part is not tree)
    if own.type is not spec.type or own.num_children != spec.num_children:
        raise ValueError(
            f"{what} have {spec.num_children} parts in a {spec.type.__name__} in this graph, "
            f"got {own.num_children} in a {type(tree).__name__}")
    if isinstance(tree, dict):
        keys = spec.context[1] if spec.type is defaultdict else spec.context
        missing = [key for key in keys if key not in tree]
        if missing:
            raise ValueError(f"{what} have no {missing[0]!r}, which this graph takes")
        parts = [tree[key] for key in keys]
    return [leaf for part, inner in zip(parts, spec.children_specs, strict=True)
            for leaf in _leaves(inner, part, f"parts of {what}")]
