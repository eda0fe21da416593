"""Where the nodes of a graph run: on the CPU, or on one GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.common_device import is_number
from graphwright.runtime.tensor.device import cpu
from graphwright.runtime.tensor.device import device as Device


def _devices(values: Iterable[Any]) -> Iterator[Device]:
    """The devices of tensors; those on the CPU without dims are numbers, which are anywhere."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _devices(value)
        elif isinstance(value, TensorBase) and not is_number(value):
            yield value.device


def _values(node: Any) -> list[Any]:
    return [value.meta.get("val") for value in (node, *node.all_input_nodes)]


def home_of(node: Any) -> Device | None:
    """The device that a node runs on; None where its tensors are on several."""
    found = set(_devices(_values(node)))
    return None if len(found) > 1 else next(iter(found), cpu)


def homes(module: Any) -> set[Device | None]:
    """The devices that a graph's calls run on; those of its inputs where it has no calls."""
    nodes = list(module.graph.nodes)
    calls = [n for n in nodes if n.op == "call_function"]
    return {home_of(n) for n in calls or [n for n in nodes if n.op == "placeholder"]} or {cpu}
