"""Graphs of the same programs in PyTorch: node by node, and after rewriting."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import fx

torch = pytest.importorskip("torch")
torch_fx = pytest.importorskip("torch.fx")
pytestmark = pytest.mark.oracle

Program = Callable[[Any], Any]
"""From the library, ours or PyTorch's, to a function or module."""


def named(value: Any, node_type: type) -> Any:
    """A value that is written alike for both libraries."""
    if isinstance(value, node_type):
        return f"%{value.name}"
    if isinstance(value, tuple | list):
        items = [named(item, node_type) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {key: named(item, node_type) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*[named(part, node_type) for part in (value.start, value.stop, value.step)])
    if isinstance(value, gw.dtype | torch.dtype):
        return str(value).rpartition(".")[2]
    return value


def rows(graph: Any, node_type: type) -> list[tuple[Any, ...]]:
    return [
        (node.op, node.name, getattr(node.target, "__name__", node.target),
         named(node.args, node_type), named(node.kwargs, node_type))
        for node in graph.nodes
    ]


def both(program: Program, concrete_args: Callable[[Any], Any] | None = None) -> tuple[Any, Any]:
    made = []
    for library, package in ((gw, fx), (torch, torch_fx)):
        given = None if concrete_args is None else concrete_args(package)
        made.append(package.symbolic_trace(program(library), given))
    return made[0], made[1]


def small(t: Any) -> Any:
    class Block(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = t.nn.LayerNorm(4)
            self.layers = t.nn.ModuleList([t.nn.Linear(4, 4) for _ in range(2)])
            self.mlp = t.nn.Sequential(t.nn.Linear(4, 8), t.nn.GELU(), t.nn.Linear(8, 4))
            self.gate = t.nn.Parameter(t.ones(4))
            self.register_buffer("mask", t.ones(4))

        def forward(self, x: Any, deep: bool = True) -> Any:
            y = self.norm(x) * self.gate
            for layer in self.layers:
                y = t.nn.functional.relu(layer(y)) + y * self.mask
            return {"y": self.mlp(y), "gate": (self.gate + 1, self.norm.weight * 2)}

    return Block()


def conv(t: Any) -> Any:
    class Conv(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.bn = t.nn.Conv2d(3, 4, 3, bias=False), t.nn.BatchNorm2d(4)
            self.downSample = t.nn.Sequential(t.nn.Conv2d(3, 4, 1), t.nn.MaxPool2d(2))
            self.fc = t.nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            y = t.nn.functional.relu(self.bn(self.conv1(x)), inplace=True)
            y = t.nn.functional.adaptive_avg_pool2d(y, 1) + self.downSample(x).mean()
            return self.fc(t.flatten(y, 1)), x.new_zeros(x.shape[0])

    return Conv().eval()


def unpacking(t: Any) -> Any:
    def f(x: Any) -> Any:
        a, (b, c) = x.chunk(2)
        return a * b + c

    return f


PROGRAMS: dict[str, Program] = {
    "operators": lambda t: lambda x, y: (-x + (1 - x) ** 2 @ y, x // 2 % 3, ~(x > 0) & (y <= 1)),
    "functions": lambda t: lambda x: t.softmax(t.cat([x, t.relu(x)], dim=-1), 1),
    "functionals": lambda t: lambda x, w: t.nn.functional.dropout(
        t.nn.functional.conv2d(t.nn.functional.silu(x), w, stride=2), training=False),
    "losses": lambda t: lambda x, y: t.nn.functional.cross_entropy(x, y, label_smoothing=0.1)
    + t.nn.functional.mse_loss(x, y, reduction="sum"),
    "pools and norms": lambda t: lambda x, w: t.nn.functional.layer_norm(
        t.nn.functional.interpolate(t.nn.functional.max_pool2d(x, 2), scale_factor=2), (4,), w),
    "attention": lambda t: lambda q, k: t.nn.functional.scaled_dot_product_attention(
        q, k, k, is_causal=True).transpose(1, 2).reshape(q.shape[0], -1),
    "embedding": lambda t: lambda i, w: t.nn.functional.embedding(i, w, padding_idx=0),
    "methods": lambda t: lambda x: x.view(x.size(0), -1).to(t.float16).mul_(2).sum((0, 1)).mT,
    "indices": lambda t: lambda x, i: x[:, None, 1:i.shape[0], ..., i] + x[i > 0],
    "names": lambda t: lambda input, sum, max: t.max(input).max() + sum.sum() + abs(max).abs(),
    "defaults": lambda t: lambda x, *more, k=3, **named: x + more[0] * k + named["last"],
    "creation": lambda t: lambda x: t.arange(x.shape[0]) + t.zeros_like(x) + t.full((2,), x),
    "constants": lambda t: lambda x: x * t.ones(2) + t.zeros(2),
    "math": lambda t: lambda x: math.sqrt(x.shape[-1]) + math.floor(x),
    "unpacking": unpacking,
    "einsum": lambda t: lambda x, y: t.einsum("ij,jk->ik", x, y).addmm(x, y, alpha=2),
    "block": small,
    "convolutions": conv,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_graphs_are_pytorchs(name: str) -> None:
    ours, theirs = both(PROGRAMS[name])
    assert rows(ours.graph, fx.Node) == rows(theirs.graph, torch_fx.Node)


def lines(code: str) -> list[str]:
    """The statements of a graph's code, without annotations and what is freed, in one spelling.
    """
    kept = [re.sub(r";( del|  \w+ = ).*| : [\w.]+| -> [\w.]+", "", line).rstrip()
            for line in code.splitlines()]
    text = "\n".join(line for line in kept if line.strip())
    text = re.sub(r"torch\.(_C\._nn|functional)\.|graphwright\.nn\.functional\.|nn\.functional\.",
                  "torch.", text.replace("torch.nn.functional.", "torch."))
    text = text.replace("graphwright.", "torch.").replace(" = ", "=").replace('"', "'")
    return text.splitlines()


@pytest.mark.parametrize("name", ["operators", "functions", "functionals", "losses", "attention",
                                  "defaults", "constants", "block", "convolutions", "einsum"])
def test_code_is_pytorchs(name: str) -> None:
    ours, theirs = both(PROGRAMS[name])
    assert lines(ours.code) == lines(theirs.code)


def chosen(t: Any) -> Any:
    return lambda x, n, other=None: x * n if n > 1 and other is None else x


def of_dict(t: Any) -> Any:
    return lambda x, y: {"sum": x["a"] + x["b"][0], "y": [y]}


@pytest.mark.parametrize(("program", "concrete"), [
    (chosen, lambda p: {"n": 2, "other": None}),
    (of_dict, lambda p: {"x": {"a": p.PH, "b": [p.PH]}}),
])  # fmt: skip
def test_concrete_args_make_pytorchs_nodes(program: Program, concrete: Any) -> None:
    ours, theirs = both(program, concrete)

    def without_messages(graph: Any, kind: type) -> list[Any]:
        return [(*row[:3], row[3][:1] if "assert" in row[1] else row[3], row[4])
                for row in rows(graph, kind)]

    assert without_messages(ours.graph, fx.Node) == without_messages(theirs.graph, torch_fx.Node)


REWRITES: dict[str, tuple[Program, Program, Program]] = {
    "twice": (
        lambda t: lambda x, y: t.relu(x + y) * t.relu(y + 1),
        lambda t: lambda a, b: t.relu(a + b),
        lambda t: lambda a, b: t.clamp(a + b, min=0)),
    "chain": (
        lambda t: lambda x: t.neg(t.neg(t.neg(x))),
        lambda t: lambda a: t.neg(a),
        lambda t: lambda a: t.abs(t.neg(a))),
    "overlap": (
        lambda t: lambda x: t.exp(t.exp(t.exp(x))),
        lambda t: lambda a: t.exp(t.exp(a)),
        lambda t: lambda a: t.sin(a)),
    "leak": (
        lambda t: lambda x: (t.relu(x + 1), x + 1, (y := x + 2) + t.relu(y)),
        lambda t: lambda a: t.relu(a + 2),
        lambda t: lambda a: a),
    "lists": (
        lambda t: lambda x, w: t.cat([x, w]).sum() + t.cat([w, x]).sum(),
        lambda t: lambda a, b: t.cat([a, b]),
        lambda t: lambda a, b: t.stack([a, b])),
    "results": (
        lambda t: lambda x, y: (x + y) / (x - y),
        lambda t: lambda a, b: (a + b, a - b),
        lambda t: lambda a, b: (a - b, a + b)),
    "nothing": (
        lambda t: lambda x: x.sum(dim=1),
        lambda t: lambda a: a.sum(1),
        lambda t: lambda a: a),
}  # fmt: skip


@pytest.mark.parametrize("name", REWRITES)
def test_rewriting_gives_pytorchs_graph(name: str) -> None:
    found = []
    for library, package in ((gw, fx), (torch, torch_fx)):
        program, pattern, replacement = (make(library) for make in REWRITES[name])
        traced = package.symbolic_trace(program)
        matches = package.replace_pattern(traced, pattern, replacement)
        found.append((len(matches), rows(traced.graph, package.Node)))
    assert found[0] == found[1]


def test_names_are_pytorchs() -> None:
    made = []
    for package in (fx, torch_fx):
        graph = package.Graph()
        x = graph.placeholder("x")
        for name in ("a", "a", "a_1", "a_2", "a_0", "sum", "class", "1x", "x", "A.b", "a_2"):
            graph.create_node("call_method", "f", (x,), {}, name)
        for target in ("layers.0", "layers.0", "layers.1", "myLayer", "__len__", "add_", "AUrl"):
            graph.create_node("call_method", target, (x,), {})
        made.append([node.name for node in graph.nodes])
    assert made[0] == made[1]
