"""Editing graphs: patterns, transformers, submodules, shapes, and what a node refuses."""

from __future__ import annotations

import operator
from collections import OrderedDict
from typing import Any

import pytest

import graphwright as gw
from graphwright import fx
from graphwright.fx.passes.shape_prop import ShapeProp
from graphwright.fx.subgraph_rewriter import replace_pattern_with_filters


def calls(module: fx.GraphModule) -> list[Any]:
    return [node.target for node in module.graph.nodes if node.op.startswith("call")]


def test_a_pattern_is_replaced_everywhere() -> None:
    def f(x: gw.Tensor, y: gw.Tensor) -> gw.Tensor:
        return gw.relu(x + y) * gw.relu(y + 1)

    traced = fx.symbolic_trace(f)
    matches = fx.replace_pattern(
        traced, lambda a, b: gw.relu(a + b), lambda a, b: gw.clamp(a + b, min=0))
    assert calls(traced) == [operator.add, gw.clamp, operator.add, gw.clamp, operator.mul]
    assert [match.anchor.name for match in matches] == ["relu", "relu"]
    assert [value for node, value in matches[1].nodes_map.items() if node.name == "b"] == [1]
    x, y = gw.randn(3), gw.randn(3)
    assert gw.equal(traced(x, y), f(x, y))
    traced.lint()


def test_matches_that_feed_one_another() -> None:
    traced = fx.symbolic_trace(lambda x: gw.neg(gw.neg(gw.neg(x))))
    fx.replace_pattern(traced, lambda a: gw.neg(a), lambda a: gw.abs(gw.neg(a)))
    assert calls(traced) == [gw.neg, gw.abs] * 3
    assert traced(gw.tensor([2.0])).tolist() == [2.0]


@pytest.mark.parametrize(("program", "pattern"), [
    # the sum is used outside of the match
    (lambda x: (gw.relu(x + 1), x + 1), lambda x: gw.relu(x - 1)),
    (lambda x: gw.relu(y := x + 1) + y, lambda x: gw.relu(x + 1)),
    # another literal, another argument by name, another function
    (lambda x: gw.sum(x, 1), lambda x: gw.sum(x, 0)),
    (lambda x: gw.sum(x, dim=1), lambda x: gw.sum(x, 1)),
    (lambda x: gw.sin(x), lambda x: gw.cos(x)),
    # one value where the pattern has two different ones, and the other way round
    (lambda x: x * x + 1, lambda x, y: x * y - 1),
    (lambda x, y: x * y, lambda x: x * x),
])  # fmt: skip
def test_what_does_not_match_stays(program: Any, pattern: Any) -> None:
    traced = fx.symbolic_trace(program)
    before = traced.code
    count = pattern.__code__.co_argcount
    replacement = (lambda x: x) if count == 1 else (lambda x, y: x)
    assert fx.replace_pattern(traced, pattern, replacement) == []
    assert traced.code == before


def test_overlapping_matches_are_replaced_once() -> None:
    traced = fx.symbolic_trace(lambda x: gw.exp(gw.exp(gw.exp(x))))
    fx.replace_pattern(traced, lambda x: gw.exp(gw.exp(x)), lambda x: gw.sin(x))
    assert calls(traced) == [gw.sin, gw.exp]


def test_patterns_with_several_results() -> None:
    traced = fx.symbolic_trace(lambda x, y: (x + y) / (x - y))
    fx.replace_pattern(traced, lambda a, b: (a + b, a - b), lambda a, b: (a - b, a + b))
    assert traced(3, 1) == 0.5


def test_a_path_out_of_a_match_and_back_is_no_match() -> None:
    traced = fx.symbolic_trace(lambda x: gw.relu(x) + gw.exp(gw.sin(gw.relu(x))))
    only = fx.symbolic_trace(lambda x: (y := gw.relu(x), gw.exp(gw.sin(y))))
    pattern = fx.symbolic_trace(lambda a, b: (gw.relu(a), gw.exp(b)))
    assert fx.replace_pattern(traced, pattern, lambda a, b: (a, b))
    assert fx.replace_pattern(only, pattern, lambda a, b: (a, b)) == []


def test_filters_and_callbacks_decide() -> None:
    traced = fx.symbolic_trace(lambda x: gw.relu(x) + gw.relu(x + 1))

    def of_argument(match: Any, graph: fx.Graph, pattern: fx.Graph) -> bool:
        return bool(match.placeholder_nodes[0].op == "placeholder")

    found = replace_pattern_with_filters(
        traced, lambda x: gw.relu(x), lambda x: gw.exp(gw.neg(x)), [of_argument])
    assert [node.name for node in found[0].replacements] == ["neg", "exp"]
    assert calls(traced) == [operator.add, gw.relu, gw.neg, gw.exp, operator.add]
    replace_pattern_with_filters(
        traced, lambda x: gw.relu(x + 7), ignore_literals=True,
        replacement_callback=lambda *_: fx.symbolic_trace(lambda x: x - 1).graph)
    assert calls(traced) == [gw.neg, gw.exp, operator.sub, operator.add]


def test_a_replacement_brings_its_submodules() -> None:
    class Two(gw.nn.Module):
        def __init__(self, kind: Any) -> None:
            super().__init__()
            self.layer, self.other = kind(), gw.nn.Tanh()

        def forward(self, x: gw.Tensor) -> gw.Tensor:
            return self.other(self.layer(x))

    class Gelu(gw.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gelu = gw.nn.GELU()

        def forward(self, x: gw.Tensor) -> gw.Tensor:
            return self.gelu(x)

    traced = fx.symbolic_trace(Two(gw.nn.ReLU))
    pattern = fx.Graph()
    pattern.output(pattern.call_module("layer", (pattern.placeholder("x"),)))
    fx.replace_pattern(traced, pattern, fx.symbolic_trace(Gelu()))
    assert calls(traced) == ["gelu", "other"]
    assert not hasattr(traced, "layer") and isinstance(traced.gelu, gw.nn.GELU)


def test_patterns_that_say_nothing_are_refused() -> None:
    traced = fx.symbolic_trace(lambda x: x + 1)
    with pytest.raises(ValueError, match="a pattern without any operation"):
        fx.replace_pattern(traced, lambda x: x, lambda x: x)
    with pytest.raises(ValueError, match="does not use its argument y"):
        fx.replace_pattern(traced, lambda x, y: x + 1, lambda x, y: x)
    with pytest.raises(ValueError, match="takes 1 arguments, the replacement 2"):
        fx.replace_pattern(traced, lambda x: x + 1, lambda x, y: x + y)
    with pytest.raises(ValueError, match="returns 1 values, the replacement 2"):
        fx.replace_pattern(traced, lambda x: x + 1, lambda x: (x, x))
    with pytest.raises(ValueError, match="needs a replacement"):
        replace_pattern_with_filters(traced, lambda x: x + 1)


def test_transformers_record_what_they_compute() -> None:
    class Model(gw.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = gw.nn.Linear(2, 2)
            self.bias = gw.nn.Parameter(gw.ones(2))

        def forward(self, x: gw.Tensor, scale: int = 3) -> gw.Tensor:
            return gw.relu(self.linear(x)).mul(scale) + self.bias

    class Negate(fx.Transformer):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            found = super().call_function(target, args, kwargs)
            return gw.neg(found) if target is gw.relu else found

        def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_method("div" if target == "mul" else target, args, kwargs)

    model = Model()
    changed = Negate(fx.symbolic_trace(model)).transform()
    x = gw.randn(4, 2)
    assert gw.equal(changed(x), -gw.relu(model.linear(x)) / 3 + model.bias)
    assert changed.linear is model.linear


def test_interpreters_change_what_nodes_mean() -> None:
    class Count(fx.Interpreter):
        seen: tuple[str, ...] = ()

        def run_node(self, n: fx.Node) -> Any:
            self.seen += (n.name,)
            return super().run_node(n)

        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(gw.cos if target is gw.sin else target, args, kwargs)

    traced = fx.symbolic_trace(lambda x, y=2: gw.sin(x) * y)
    run = Count(traced)
    assert run.run(gw.zeros(1)).tolist() == [2.0] and run.seen == (
        "x", "y", "sin", "mul", "output")
    sin = traced.graph.find_nodes(op="call_function", target=gw.sin)[0]
    x, y = traced.graph.placeholders
    assert fx.Interpreter(traced).run(initial_env={x: 0, y: 5, sin: 3}) == 15
    with pytest.raises(TypeError, match="the graph takes 2 arguments, 3 were given"):
        run.run(1, 2, 3)


def test_shapes_of_all_values() -> None:
    traced = fx.symbolic_trace(lambda x: (x.mT.contiguous().chunk(2), 1))
    ShapeProp(traced).propagate(gw.ones(2, 4, dtype=gw.float64))
    known = {node.name: node.meta.get("tensor_meta") for node in traced.graph.nodes}
    assert known["getattr_1"][:4] == (gw.Size([4, 2]), gw.float64, False, (1, 4))
    assert known["getattr_1"].memory_format is None
    assert known["contiguous"].memory_format is gw.contiguous_format
    assert [part.shape for part in known["chunk"]] == [(2, 2), (2, 2)]
    assert traced.graph.output_node().meta["type"] is tuple
    with pytest.raises(RuntimeError, match=r"ShapeProp could not run %chunk : \[num_users=1\]"):
        ShapeProp(fx.symbolic_trace(lambda x: x.chunk("a"))).propagate(gw.ones(2))


def test_submodules_come_and_go() -> None:
    module = fx.GraphModule({"a.b": gw.nn.ReLU(), "weight": gw.ones(2)}, graph_of("a.b", "weight"))
    assert module.add_submodule("a.c.d", gw.nn.Tanh()) and not module.add_submodule(
        "weight.x", gw.nn.Tanh())
    assert module.delete_submodule("a.c.d") and not module.delete_submodule("a.c.d")
    module.delete_all_unused_submodules()
    assert [path for path, _ in module.named_modules()] == ["", "a", "a.b"]
    assert list(dict(module.named_buffers())) == ["weight"]
    with pytest.raises(RuntimeError, match="the graph names 'weight', which the mapping has not"):
        fx.GraphModule({"a.b": gw.nn.ReLU()}, graph_of("a.b", "weight"))
    with pytest.raises(AttributeError, match="weight"):
        fx.GraphModule(gw.nn.Module(), graph_of("a.b", "weight"))


def graph_of(submodule: str, constant: str) -> fx.Graph:
    graph = fx.Graph()
    graph.output(graph.call_module(submodule, (graph.get_attr(constant),)))
    return graph


def test_dead_calls_of_submodules_go_unless_they_are_impure() -> None:
    graph = graph_of("layer", "weight")
    graph.output_node().args = (1,)
    module = fx.GraphModule({"layer": gw.nn.ReLU(), "weight": gw.ones(2)}, graph)
    module.layer._is_impure = True
    assert not graph.eliminate_dead_code()
    module.layer._is_impure = False
    assert graph.eliminate_dead_code() and len(graph.nodes) == 1


def test_graphs_are_copied_into_graphs() -> None:
    inner = fx.symbolic_trace(lambda x, y: gw.relu(x) + y).graph
    graph = fx.Graph()
    a = graph.placeholder("a")
    total = graph.graph_copy(inner, dict(zip(inner.placeholders, (a, a), strict=True)))
    graph.output(graph.call_function(gw.neg, (total,)))
    assert fx.GraphModule({}, graph)(gw.ones(1)).tolist() == [-2.0]


def test_arguments_of_nodes_cannot_be_changed_in_place() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_function(gw.cat, ([x, x],), {"dim": 0})
    for change in (lambda: node.args[0].append(x), lambda: node.kwargs.update(dim=1),
                   lambda: node.args[0].__setitem__(0, 1), lambda: node.kwargs.pop("dim")):
        with pytest.raises(TypeError, match="cannot be changed: assign a changed copy"):
            change()
    node.args = ([*node.args[0], 1],)
    assert node.args == ([x, x, 1],) and hash(node.args[0])


def test_nodes_carry_what_programs_note_on_them() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x", type_expr=int, default_value=3)
    other = graph.call_function(operator.add, (x, 1))
    x.replace_all_uses_with(other, propagate_meta=True)
    x.tag, x.meta["seen"] = "mine", True
    assert (x.type, x.args, x.tag, x.stack_trace) == (int, (3,), "mine", None)
    assert other.format_node() == (
        "%add : [num_users=0] = call_function[target=add](args = (%x, 1), kwargs = {})")
    assert graph.owning_module is None and fx.map_arg(([x], {"a": x}), lambda n: n.name) == (
        ["x"], {"a": "x"})

    @fx.has_side_effect
    def log(value: Any) -> None:
        return None

    graph.call_function(log, (x,))
    graph.output(x)
    assert graph.eliminate_dead_code() and [n.name for n in graph.nodes] == ["x", "log", "output"]


def test_results_in_dicts_of_other_classes() -> None:
    """Nodes in an OrderedDict are found, and the result is a plain dict, as in PyTorch."""
    model = gw.nn.Sequential(gw.nn.Linear(2, 2), gw.nn.ReLU())
    graph = fx.symbolic_trace(model).graph
    output = next(iter(reversed(graph.nodes)))
    value = output.args[0]
    graph.erase_node(output)
    graph.output(OrderedDict(first=value, again=value))
    x = gw.randn(3, 2)
    found = fx.GraphModule(model, graph)(x)
    assert type(found) is dict and gw.equal(found["again"], model(x))
    assert graph._tracer_cls is fx.Tracer

    class Two(gw.nn.Module):
        def forward(self, x: Any) -> Any:
            return OrderedDict(out=x + 1)

    assert fx.symbolic_trace(Two())(x)["out"].shape == (3, 2)
