"""`GraphModule`."""

from __future__ import annotations

from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.nn import Module

__all__ = ["GraphModule"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
"""The key of `GraphModule.meta` under which programs keep attributes that copies are to have."""


class _CodeOnlyModule(Module):
    """A module of the attributes in a dict, from which a graph's values are copied."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def _copy_attr(from_module: Module, to_module: GraphModule, target: str) -> None:
    """Hold in a graph's module what another has at a path.

    Raises AttributeError where it has nothing there.
    """
    to_module._take(from_module, target)
