"""Symbolic tracing: which graph a program becomes, what its module is, and what is refused."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright import fx
from graphwright.runtime.ops.functions import softmax

F, gelu = gw.nn.functional, gw.nn.functional.gelu


def nodes(graph: fx.Graph) -> list[tuple[str, str]]:
    return [(node.op, node.name) for node in graph.nodes]


class Net(gw.nn.Module):
    """Layers, a Sequential, a parameter, a buffer and a function kept as an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = gw.nn.Linear(3, 4)
        self.tail = gw.nn.Sequential(gw.nn.Linear(4, 4), gw.nn.ReLU())
        self.scale = gw.nn.Parameter(gw.full((4,), 2.0))
        self.register_buffer("shift", gw.ones(4), persistent=False)
        self.activation = F.silu

    def forward(self, x: gw.Tensor, twice: bool = False) -> gw.Tensor:
        y = self.activation(self.linear(x)) * self.scale + self.shift
        return self.tail(y)


def test_the_code_of_a_module() -> None:
    traced = fx.symbolic_trace(Net())
    assert traced.code == (
        "def forward(self, x, twice=False):\n"
        "    linear = self.linear(x); del x\n"
        "    silu = graphwright.nn.functional.silu(linear, inplace=False); del linear\n"
        "    scale = self.scale\n"
        "    mul = silu * scale; del silu; del scale\n"
        "    shift = self.shift\n"
        "    add = mul + shift; del mul; del shift\n"
        "    tail_0 = getattr(self.tail, '0')(add); del add\n"
        "    tail_1 = getattr(self.tail, '1')(tail_0); del tail_0\n"
        "    return tail_1\n"
    )
    assert str(traced).startswith("Net(\n  (linear): Linear(")


def test_a_traced_module_shares_what_it_names() -> None:
    model = Net()
    traced = fx.symbolic_trace(model)
    assert isinstance(traced, fx.GraphModule) and isinstance(traced, gw.nn.Module)
    assert traced.linear is model.linear and traced.scale is model.scale
    assert list(traced.state_dict()) == [
        "scale", "linear.weight", "linear.bias", "tail.0.weight", "tail.0.bias"]
    x = gw.randn(2, 3)
    assert gw.equal(traced(x), model(x)) and gw.equal(traced(x=x), model(x))
    assert gw.equal(fx.Interpreter(traced).run(x), model(x))
    assert traced.training and not fx.symbolic_trace(model.eval()).training
    traced.lint()


def test_copies_and_pickles_have_graphs_of_their_own() -> None:
    traced = fx.symbolic_trace(Net())
    x = gw.randn(2, 3)
    for twin in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced))):
        assert nodes(twin.graph) == nodes(traced.graph) and twin.graph.owning_module is twin
        assert gw.equal(twin(x), traced(x)) and twin.scale is not traced.scale
        twin.graph.output_node().args = (twin.graph.placeholders[0],)
        twin.recompile()
        assert twin(x) is x and twin.code != traced.code
    shallow = copy.copy(traced)
    assert shallow.graph is not traced.graph and shallow.scale is traced.scale


@pytest.mark.parametrize("backend", ["eager", "c", "llvm"])
def test_a_traced_module_compiles_to_one_graph(backend: str) -> None:
    model = Net()
    compiled = gw.compile(fx.symbolic_trace(model), fullgraph=True, backend=backend)
    x = gw.randn(2, 3)
    gw.testing.assert_close(compiled(x), model(x))
    compiled(x).sum().backward()
    assert model.scale.grad is not None
    found = gw.compiler.stats(compiled)
    assert (found.graphs, found.breaks, found.recompiles) == (1, 0, 0)


def test_functions_are_recorded_wherever_the_program_has_them() -> None:
    table: dict[str, Callable[..., Any]] = {"tanh": gw.tanh}

    def f(x: gw.Tensor) -> gw.Tensor:
        return softmax(gelu(table["tanh"](x)), dim=-1) + gw.linalg.norm(x, dim=1)

    graph = fx.symbolic_trace(f).graph
    assert [(node.target, node.kwargs) for node in graph.nodes if node.op == "call_function"][:4] \
        == [(gw.tanh, {}), (gelu, {}), (gw.softmax, {"dim": -1}), (gw.linalg.norm, {"dim": 1})]


def test_operators_indices_attributes_and_methods() -> None:
    def f(x: gw.Tensor, y: gw.Tensor) -> Any:
        rows = x.shape[0] // 2
        return 1 - x[:rows, None] @ -y, x.T.reshape(rows, -1), y.abs() ** 2 > 0

    traced = fx.symbolic_trace(f)
    assert [name for _, name in nodes(traced.graph)] == [
        "x", "y", "getattr_1", "getitem", "floordiv", "getitem_1", "neg", "matmul", "sub",
        "getattr_2", "reshape", "abs_1", "pow_1", "gt", "output"]
    x, y = gw.randn(4, 3), gw.randn(3, 2)
    for found, expected in zip(traced(x, y), f(x, y), strict=True):
        assert gw.equal(found, expected)


def test_tensors_of_the_program_become_attributes() -> None:
    weight = gw.arange(3.0)
    traced = fx.symbolic_trace(lambda x: x * weight + weight + gw.ones(3))
    assert [node.target for node in traced.graph.find_nodes(op="get_attr")] == [
        "_tensor_constant0", "_tensor_constant0", "_tensor_constant1"]
    assert traced(gw.ones(3)).tolist() == [1.0, 3.0, 5.0]


def test_defaults_and_starred_parameters() -> None:
    def f(x: int, *more: int, scale: int = 3, **named: int) -> int:
        return x + more[0] * scale + named["last"]

    traced = fx.symbolic_trace(f)
    assert traced.code.splitlines()[0] == "def forward(self, x, scale=3, *more, **named):"
    assert traced(1, 5, 10, last=7) == 1 + 10 * 5 + 7


def test_unpacking_knows_how_many() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        a, (b, c) = x
        return a + b * c

    assert fx.symbolic_trace(f)((1, (2, 3))) == 7


def test_concrete_args_choose_a_branch_and_are_checked() -> None:
    def f(x: gw.Tensor, twice: bool, name: str | None = None) -> gw.Tensor:
        return x * 2 if twice and name is None else x

    traced = fx.symbolic_trace(f, {"twice": True, "name": None})
    x = gw.ones(2)
    assert traced(x, True).tolist() == [2.0, 2.0]
    with pytest.raises(AssertionError, match="twice was True when the graph was traced"):
        traced(x, False)
    with pytest.raises(AssertionError, match="name was None when the graph was traced"):
        traced(x, True, "a")
    traced.graph.eliminate_dead_code()
    assert len(traced.graph.find_nodes(op="call_function")) == 4


def test_placeholders_in_containers_keep_the_structure() -> None:
    def f(pair: dict[str, Any], x: gw.Tensor) -> dict[str, Any]:
        return {"sum": pair["a"] + pair["b"][0], "x": [x]}

    traced = fx.symbolic_trace(f, {"pair": {"a": fx.PH, "b": [fx.PH]}})
    assert [node.name for node in traced.graph.placeholders] == ["pair_1", "pair_2", "x"]
    assert traced({"b": [2], "a": 1}, 3) == {"sum": 3, "x": [3]}
    assert fx.Interpreter(traced).run({"a": 1, "b": [2]}, 3) == {"sum": 3, "x": [3]}
    with pytest.raises(ValueError, match=r"have 1 parts in a list in this graph, got 2"):
        traced({"a": 1, "b": [2, 3]}, 3)
    with pytest.raises(ValueError, match="have no 'a', which this graph takes"):
        traced({"c": 1, "b": [2]}, 3)


def counted(x: Any) -> int:
    return len(x)


@fx.wrap
def clipped(x: Any, limit: int) -> Any:
    return x if x < limit else limit


fx.wrap("counted")
fx.wrap("len")


def test_wrapped_functions_are_leaves() -> None:
    traced = fx.symbolic_trace(lambda x: clipped(counted(x), limit=2) + len(x) + math.sqrt(x[0]))
    calls = traced.graph.find_nodes(op="call_function")
    assert [node.target for node in calls if node.name != "add"][:3] == [counted, clipped, len]
    assert calls[0].meta["is_wrapped"]
    assert traced([4.0, 1.0, 1.0]) == 2 + 3 + 2.0
    assert clipped(5, 3) == 3 and len([1]) == 1 and math.sqrt(4) == 2


def test_tracers_say_what_is_a_leaf() -> None:
    class Deep(fx.Tracer):
        def is_leaf_module(self, m: gw.nn.Module, name: str) -> bool:
            return isinstance(m, gw.nn.ReLU)

    model = Net()
    module = fx.GraphModule(model, Deep().trace(model))
    assert [node.target for node in module.graph.find_nodes(op="call_module")] == ["tail.1"]
    assert module.graph.find_nodes(op="call_function", target=F.linear)
    x = gw.randn(2, 3)
    assert gw.equal(module(x), model(x))
    assert next(iter(module.graph.find_nodes(op="call_module"))).meta["nn_module_stack"] == {
        "tail": ("tail", gw.nn.Sequential), "tail.1": ("tail.1", gw.nn.ReLU)}


def test_a_graph_module_is_traced_again() -> None:
    once = fx.symbolic_trace(Net())
    assert fx.symbolic_trace(once).code == once.code


def test_classes_that_are_made_of_traced_values() -> None:
    class Pair(metaclass=fx.ProxyableClassMeta):
        def __init__(self, left: Any, right: Any) -> None:
            self.left, self.right = left, right

    traced = fx.symbolic_trace(lambda x: Pair(x, x + 1).right)
    assert traced(gw.ones(1)).tolist() == [2.0] and Pair(1, 2).left == 1


def test_proxies_of_nodes_add_to_their_graph() -> None:
    graph = fx.Graph()
    x = fx.Proxy(graph.placeholder("x"))
    graph.output(gw.relu(-x).node)
    assert fx.GraphModule({}, graph)(gw.tensor([-1.0])).tolist() == [1.0]


@pytest.mark.parametrize(("program", "kind", "text"), [
    (lambda x: x if x.sum() > 0 else -x, fx.TraceError, r"branches on Proxy\(gt\), whose value"),
    (lambda x: [y for y in x], fx.TraceError, r"iterates over Proxy\(x\), whose length"),
    (lambda x: max(*x), fx.TraceError, "in a loop or as "),
    (lambda x: sorted(x), fx.TraceError, "hide the loop"),
    (lambda x: x.__len__(), RuntimeError, r"the length of Proxy\(x\) is not known"),
    (lambda x: int(x), TypeError, "Proxy"),
    (lambda x: range(x.shape[0]), TypeError, "Attribute|Proxy"),
    (lambda x: gw.nn.Linear(2, 2)(x), NameError, "Linear is called but is no submodule"),
    (lambda x: x + gw.nn.Parameter(gw.ones(2)), NameError, "a parameter is used that"),
    (lambda x: gw.cat([x, {x: 1}]), RuntimeError, "a key of a dict depends on"),
    (lambda x: gw.add(x, object()), NotImplementedError, "a object cannot be an argument"),
])  # fmt: skip
def test_what_needs_a_value_is_refused(program: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        fx.symbolic_trace(program)
    assert gw.relu(gw.ones(1)).item() == 1.0 and not fx._symbolic_trace.is_fx_tracing()


def test_only_python_functions_are_traced() -> None:
    with pytest.raises(TypeError, match="only Python functions and modules can be traced"):
        fx.symbolic_trace(len)
    with pytest.raises(NotImplementedError, match="at the top level of a module"):
        fx.wrap("len")
    with pytest.raises(RuntimeError, match="wrap takes a function or the name of one"):
        fx.wrap(3)


def test_values_of_two_traces_do_not_mix() -> None:
    def outer(x: gw.Tensor) -> gw.Tensor:
        fx.symbolic_trace(lambda y: gw.add(x, y))
        return x

    with pytest.raises(RuntimeError, match="values of 2 different traces"):
        fx.symbolic_trace(outer)


def test_other_threads_compute_while_a_program_is_traced() -> None:
    started, done = threading.Event(), threading.Event()
    found: list[list[float]] = []

    def work() -> None:
        started.wait(10)
        found.append(F.relu(gw.tensor([-1.0, 2.0])).tolist())
        done.set()

    def f(x: gw.Tensor) -> gw.Tensor:
        started.set()
        assert done.wait(10)
        return F.relu(x)

    thread = threading.Thread(target=work)
    thread.start()
    assert len(fx.symbolic_trace(f).graph.nodes) == 3
    thread.join()
    assert found == [[0.0, 2.0]]


def test_tracing_causes_no_recompilation() -> None:
    model = Net()
    compiled = gw.compile(model)
    x = gw.randn(2, 3)
    compiled(x)
    fx.symbolic_trace(model)
    compiled(x)
    found = gw.compiler.stats(compiled)
    assert (found.graphs, found.recompiles, found.breaks) == (1, 0, 0)


UNCHANGED = """
import torch, torch.fx
from torch.fx.passes.shape_prop import ShapeProp

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())

    def forward(self, x):
        return torch.nn.functional.silu(self.layers(x))

net, x = Net(), torch.ones(2, 3)
out = net(x)
traced = torch.fx.symbolic_trace(net)
print([node.name for node in traced.graph.nodes], torch.equal(traced(x), out))
"""


@pytest.mark.parametrize("options", [(), ("--compile",)])
def test_programs_find_it_as_torch_fx(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "script.py").write_text(UNCHANGED)
    done = subprocess.run(
        [sys.executable, "-m", "graphwright", "run", *options, str(tmp_path / "script.py")],
        capture_output=True, text=True, check=True)
    assert done.stdout == "['x', 'layers_0', 'layers_1', 'silu', 'output'] True\n"
