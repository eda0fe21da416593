"""The content of a captured graph: equal, in every process, for graphs that are lowered alike.

It names what lowering reads: the steps with their arguments, what the inputs are like and which of
them share memory, and what is known of symbolic sizes. A graph with anything in it that another
process cannot be asked to recognise, such as a function of the user's, has none.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import RECOMPUTED, Node
from graphwright.ir.graph.plain_values import PlainWriter
from graphwright.runtime.fake.fake_tensor import FakeTensor
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.device import cpu

PACKAGES = ("amp", "autograd", "codegen", "face", "ir", "nn", "runtime")
"""Those of graphwright whose functions may be steps, and that lower graphs."""
_OTHERS = ("_operator", "builtins")
_META = ("no_grad", RECOMPUTED)
"""The facts about a step that lowering reads."""


class NoContent(Exception):
    """Why a graph has no content that other processes can recognise."""


_PLAIN = PlainWriter(NoContent)


def content_of(graph: GraphModule, inputs: Sequence[Any]) -> list[Any]:
    """The content, as JSON. inputs: what the placeholders stand for. Raises: NoContent."""
    env = graph.meta.get("shape_env")
    memory: dict[int, int] = {}
    names: dict[int, str] = {}
    return [
        [_step(node, names) for node in graph.graph.nodes],
        [_input(value, memory) for value in inputs],
        [[name, list(place)] for name, place in graph.meta.get("symbols", {}).items()],
        list(graph.meta.get("second_names", {}).items()),
        [] if env is None else known_sizes(env),
    ]


def known_sizes(env: ShapeEnv) -> list[Any]:
    """The symbols with their bounds and values, and what was assumed of them."""
    return [[[name, symbol.lower, str(symbol.upper), env.values[name]]
             for name, symbol in env.symbols.items()],
            [str(fact) for fact in env.guards]]


def _step(node: Node, names: dict[int, str]) -> list[Any]:
    """A step; `names` are those of the functions that were called before, by id."""
    if node.op in ("get_attr", "call_module"):
        raise NoContent(f"{node.op} {node.target}")
    called = names.get(id(node.target))
    if called is None:
        called = names[id(node.target)] = _target(node)
    facts = [name for name in _META if node.meta.get(name)]
    return [node.name, node.op, called, _PLAIN.value(node.args),
            [[name, _PLAIN.value(value)] for name, value in node.kwargs.items()],
            facts, "stack" in node.meta]


def _target(node: Node) -> str:
    """The name of what a step calls, which leads to that very object."""
    if isinstance(node.target, str):
        return node.target
    module = getattr(node.target, "__module__", None) or ""
    name = getattr(node.target, "__qualname__", getattr(node.target, "__name__", ""))
    known = module in _OTHERS or any(
        module.startswith(f"graphwright.{package}.") for package in PACKAGES)
    found: Any = sys.modules.get(module) if known else None
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not node.target:
        raise NoContent(f"{node.name} calls {node.target}")
    return f"{module} {name}"


def _input(value: Any, memory: dict[int, int]) -> Any:
    if isinstance(value, SymInt):
        return _PLAIN.value(value)
    if type(value) is not FakeTensor:
        return ["value", type(value).__name__, _PLAIN.value(value)]
    if value.device != cpu or value._base is not None or hasattr(value, "position"):
        raise NoContent("an input on a GPU, or one that is a view")
    place = memory.setdefault(id(value._storage), len(memory))
    made_by = None if value.grad_fn is None else value.grad_fn.name()
    return [value.dtype.name, [_PLAIN.size(size) for size in value.shape],
            [_PLAIN.size(step) for step in value.stride()], _PLAIN.size(value.storage_offset()),
            value.requires_grad, made_by, value._version, place]
