"""The calls of vmap that this thread is in, as ops see them: a tuple, innermost last.

A rule of the n-th level runs its ops on what the tensors of that level hold, and these see only
the levels outside of it. The tuple is kept beside the other modes, and put back with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime import _core


class Level:
    """One call of vmap: how many examples it has, and how they draw random numbers.

    outside: the levels around it. depth: how many these are.
    outer_grad: whether what is outside records gradients, while a function such as `func.grad`
    that was called at this level has a setting of its own; None without such a one.
    """

    __slots__ = ("depth", "outer_grad", "outside", "randomness", "size", "transforms")

    def __init__(self, outside: tuple[Level, ...], size: Any, randomness: str) -> None:
        self.outside, self.depth = outside, len(outside)
        self.size, self.randomness = size, randomness
        self.outer_grad: bool | None = None
        self.transforms = 0


def innermost() -> Level | None:
    """The level that ops work in, or None outside of vmap."""
    levels = _core.levels()
    return levels[-1] if levels else None


def is_running(level: Level) -> bool:
    """Whether ops see the level."""
    levels = _core.levels()
    return level.depth < len(levels) and levels[level.depth] is level


def enter(size: Any, randomness: str) -> None:
    """Begin a level of `size` examples."""
    outside = _core.levels()
    _core.set_levels((*outside, Level(outside, size, randomness)))


def leave(depth: int) -> None:
    """End all levels but the first `depth`."""
    _core.set_levels(_core.levels()[:depth])


def begin_transform(home: int) -> None:
    """Note what is recorded outside of the `home`-th level, before a transform sets grad mode.

    Of transforms within one another the outermost knows.
    """
    level = _core.levels()[home - 1]
    if not level.transforms:
        level.outer_grad = _core.grad_enabled()
    level.transforms += 1


def end_transform(home: int) -> None:
    """The end of what `begin_transform` has begun."""
    level = _core.levels()[home - 1]
    level.transforms -= 1
    if not level.transforms:
        level.outer_grad = None


def below(level: Level, function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)` as the levels outside of `level` see it, with their grad mode."""
    outer = level.outer_grad
    if outer is None:
        outer = not _core.user_disabled_grad()
    return _core.with_grad_mode(outer, _outside, level, function, args)


def _outside(level: Level, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    _core.set_levels(level.outside)
    return function(*args)
