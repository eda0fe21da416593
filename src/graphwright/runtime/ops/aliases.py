"""Second names of ops. An alias is the same function under another name.

`ALIASES` maps a name to an op's name, or to `Renamed` where PyTorch gives the parameters other
names too, or takes numbers by position elsewhere. Where the op has an in-place form `op_`,
`alias_` is made as well. An alias whose target is not in the table is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from graphwright.runtime.record import Record


class Renamed(Record):
    """An alias of `target` whose parameters have other names: new name by old name."""

    target: str
    parameters: Mapping[str, str]


_AXES = {"dim0": "axis0", "dim1": "axis1"}

ALIASES: dict[str, str | Renamed] = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "fix": "trunc",
    "ger": "outer",
    "greater": "gt",
    "greater_equal": "ge",
    "igamma": "gammainc",
    "igammac": "gammaincc",
    "less": "lt",
    "less_equal": "le",
    "moveaxis": "movedim",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "row_stack": "vstack",
    "subtract": Renamed("sub", {}),
    "swapaxes": Renamed("transpose", _AXES),
    "swapdims": "transpose",
    "trapz": "trapezoid",
    "true_divide": "div",
    "unsafe_chunk": "chunk",
    "unsafe_split_with_sizes": "split_with_sizes",
}


def names_of_aliases(known: Collection[str]) -> Iterator[tuple[str, str, bool]]:
    """The aliases of these ops and of their in-place forms; of each, its op, and whether it has
    names of parameters of its own."""
    for name, alias in ALIASES.items():
        renamed = isinstance(alias, Renamed)
        target = alias.target if isinstance(alias, Renamed) else alias
        for suffix in ("", "_"):
            if target + suffix in known and name + suffix not in known:
                yield name + suffix, target + suffix, renamed
