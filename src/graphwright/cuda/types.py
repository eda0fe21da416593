"""`cuda.FloatTensor` and its like: classes that no tensor is an instance of."""

from __future__ import annotations

from typing import Any, NoReturn

from graphwright.compat import typed_constructors
from graphwright.runtime.naming import missing
from graphwright.runtime.tensor import storage
from graphwright.runtime.tensor.device import absence


class AbsentType(type):
    """The type of classes of tensors and storages on a GPU. Making one raises TypeError."""

    def __call__(cls, *args: Any) -> NoReturn:
        raise TypeError(f"type {cls.__module__}.{cls.__name__} is not available: "
                        f"{absence('cuda')}")


_made: dict[str, AbsentType] = {}


def named(name: str) -> AbsentType:
    """The class of that name. Raises AttributeError unless the CPU has one like it."""
    if not hasattr(typed_constructors if name.endswith("Tensor") else storage, name):
        raise missing("graphwright.cuda", name)
    made = AbsentType(name, (), {"__module__": "graphwright.cuda"})
    return _made.setdefault(name, made)
