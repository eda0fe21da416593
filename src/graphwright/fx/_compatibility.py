"""`compatibility`, which PyTorch marks its own functions with; libraries import it from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


def compatibility(is_backward_compatible: bool) -> Callable[[F], F]:
    """A decorator that leaves the function as it is."""
    return lambda function: function
