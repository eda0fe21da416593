"""Which sizes of an exported program's inputs are dynamic, and over which range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphwright.export.errors import ExportError
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import TreeSpec

LEAST = 2
"""Sizes 0 and 1 are special to broadcasting and emptiness: a dynamic size is at least 2 when it is
recorded. Whether the program is the same for 1 is found out by recording it once more."""


class Hint:
    """How a size is dynamic that has no name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Dim.{self.name}"


class _Size:
    """`factor * root + term`: times an int, plus or minus one, it is another such size."""

    root: Dim
    factor: int
    term: int

    def __mul__(self, factor: int) -> DerivedDim:
        return DerivedDim(self.root, self.factor * factor, self.term * factor)

    def __add__(self, term: int) -> DerivedDim:
        return DerivedDim(self.root, self.factor, self.term + term)

    def __sub__(self, term: int) -> DerivedDim:
        return self + -term

    __rmul__, __radd__ = __mul__, __add__


class Dim(_Size):
    """A dynamic size with a name: inputs that share the Dim have it in common.

    `Dim.DYNAMIC`: a dynamic size of its own, over whatever range the program holds for.
    `Dim.AUTO`: the same, or static where the program holds for one size alone. `Dim.STATIC`, None
    or an int: static. `2 * batch + 1` is a size that follows from another.

    Args:
        name: an identifier.
        min, max: the sizes that the program has to hold for; None: from 2 on, or from 1 where the
            program is the same one for that, and no bound. Size 0 is never among them.

    Raises:
        ValueError: the name is no identifier, or `max` is less than `min`.

    Example:
        >>> from graphwright.export import Dim
        >>> Dim("batch", max=64), 2 * Dim("half")
        (Dim('batch', min=2, max=64), 2*half)
    """

    AUTO, DYNAMIC, STATIC = Hint("AUTO"), Hint("DYNAMIC"), Hint("STATIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"Dim takes an identifier as its name, not {name!r}")
        self.__name__ = name
        self.root, self.factor, self.term = self, 1, 0
        self.min, self.max = LEAST if min is None or min < LEAST else min, max
        self.asked = min
        if max is not None and max < self.min:
            raise ValueError(f"Dim('{name}'): max={max} is less than min={self.min}")

    def __repr__(self) -> str:
        most = "" if self.max is None else f", max={self.max}"
        return f"Dim('{self.__name__}', min={self.min}{most})"


class DerivedDim(_Size):
    """A size that follows from a Dim."""

    def __init__(self, root: Dim, factor: int, term: int) -> None:
        if type(factor) is not int or type(term) is not int or factor < 1:
            raise TypeError("a derived Dim is an int times a Dim, plus or minus an int")
        self.root, self.factor, self.term = root, factor, term

    def __repr__(self) -> str:
        scaled = self.root.__name__ if self.factor == 1 else f"{self.factor}*{self.root.__name__}"
        return scaled if not self.term else f"{scaled} {'+-'[self.term < 0]} {abs(self.term)}"


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Several `Dim`s of one range."""
    return tuple([Dim(name, min=min, max=max) for name in names])


Spec = dict[int, Any]
"""The dims of one tensor that are not static: a Dim, a DerivedDim, DYNAMIC or AUTO each."""


def specs_of(
    dynamic_shapes: Any, names: Sequence[str], spec: TreeSpec, leaves: Sequence[Any]
) -> list[Spec]:
    """What is said of each leaf of `(args, kwargs)`.

    Args:
        dynamic_shapes: None; a mapping from parameter name, or a sequence in their order, to what
            is said of each: None, a mapping from dim or a sequence over dims for a tensor, or for
            a container one of the same structure.
        names: the parameters' names, positional ones first.
        spec: the structure of `(args, kwargs)`.
        leaves: its leaves.

    Raises: ExportError for what does not fit the arguments.
    """
    if dynamic_shapes is None:
        return [{} for _ in leaves]
    arguments, keywords = spec.children_specs
    children = [*arguments.children_specs, *keywords.children_specs]
    if isinstance(dynamic_shapes, Mapping):
        unknown = [name for name in dynamic_shapes if name not in names]
        if unknown:
            raise ExportError(f"dynamic_shapes names {unknown[0]!r}, which is no argument given: "
                              f"these are {', '.join(names)}")
        said = [dynamic_shapes.get(name) for name in names]
    else:
        said = _sequence(dynamic_shapes, "dynamic_shapes")
        if len(said) != len(names):
            raise ExportError(f"dynamic_shapes has {len(said)} items for {len(names)} arguments")
    found: list[Spec] = []
    given = iter(leaves)
    for name, one, child in zip(names, said, children, strict=True):
        _collect(one, child, given, name, found)
    return found


def _collect(said: Any, spec: TreeSpec, leaves: Any, name: str, found: list[Spec]) -> None:
    if spec.is_leaf():
        found.append(_of_tensor(said, next(leaves), name))
        return
    parts: list[Any] = [None] * spec.num_children
    keys = spec.context if isinstance(spec.context, list) else None
    if isinstance(said, Mapping) and keys is not None:
        unknown = [key for key in said if key not in keys]
        if unknown:
            raise ExportError(f"dynamic_shapes of '{name}' names {unknown[0]!r}, which it lacks")
        parts = [said.get(key) for key in keys]
    elif said is not None:
        parts = _sequence(said, f"dynamic_shapes of '{name}'")
        if isinstance(said, Mapping) or len(parts) != spec.num_children:
            raise ExportError(f"dynamic_shapes of '{name}' is not nested as the argument")
    for index, (part, child) in enumerate(zip(parts, spec.children_specs, strict=True)):
        key = index if keys is None else repr(keys[index])
        _collect(part, child, leaves, f"{name}[{key}]", found)


def _sequence(said: Any, what: str) -> list[Any]:
    if not isinstance(said, Sequence | Mapping) or isinstance(said, str):
        raise ExportError(f"{what} is {said!r}, not a mapping or a sequence")
    return list(said)


def _of_tensor(said: Any, leaf: Any, name: str) -> Spec:
    if said is None:
        return {}
    if not isinstance(leaf, Tensor):
        raise ExportError(f"dynamic_shapes says sizes of '{name}', which is no tensor")
    if isinstance(said, Mapping):
        items = said
    else:
        items = dict(enumerate(_sequence(said, f"dynamic_shapes of '{name}'")))
    spec: Spec = {}
    for place, one in items.items():
        if type(place) is not int or not -leaf.ndim <= place < leaf.ndim:
            raise ExportError(f"dynamic_shapes of '{name}' names dim {place!r} of a tensor that "
                              f"has {leaf.ndim}")
        dim = place % leaf.ndim
        size = leaf.shape[dim]
        if one is None or one is Dim.STATIC:
            continue
        if type(one) is int:
            if one != size:
                raise ExportError(f"dim {dim} of '{name}' is said to be {one} and is {size}")
            continue
        if not isinstance(one, Dim | DerivedDim | Hint):
            raise ExportError(f"dim {dim} of '{name}' is said to be {one!r}, which is no Dim")
        if size < LEAST and one is Dim.AUTO:
            continue
        if size < LEAST:
            raise ExportError(
                f"dim {dim} of '{name}' has size {size} in the example, and sizes 0 and 1 are "
                f"special: give an example with a size of {LEAST} or more")
        spec[dim] = one
    return spec
