"""Which methods tensors have: a graph that calls one, or uses an operator, is lowered by them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from graphwright.capture import _eval_frame
from graphwright.ir.graph_content import NoContent
from graphwright.runtime.fake.fake_tensor import FakeTensor

_DESCRIPTORS = ("__func__", "fget")
"""Where static methods, class methods and properties have their function."""


def methods_of_tensors() -> tuple[tuple[str, str, str], ...]:
    """The attributes of the classes of tensors, as (class, name, origin).

    Raises: NoContent where a program has put one of its own into a class.
    """
    return _methods(_eval_frame.type_version(FakeTensor))


@lru_cache(maxsize=1)
def _methods(version: int) -> tuple[tuple[str, str, str], ...]:
    """version: a number that is another one after any of the classes has been changed."""
    return tuple(sorted(
        (kind.__name__, name, _origin(name, value))
        for kind in FakeTensor.__mro__[:-1] for name, value in vars(kind).items()))


def _origin(name: str, value: Any) -> str:
    for attribute in _DESCRIPTORS:
        value = getattr(value, attribute, value)
    module = getattr(value, "__module__", None)
    if isinstance(module, str) and not module.startswith("graphwright."):
        raise NoContent(f"tensors have a method '{name}' of {module}")
    return f"{module} {getattr(value, '__qualname__', type(value).__name__)}"
