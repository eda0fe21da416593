"""`gw.compile`: what it takes, what it returns, and what it says to wrong arguments."""

from __future__ import annotations

import copy
import functools
import inspect
import math
import operator
import pickle
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.capture.exc import GraphBreakError
from graphwright.ir.graph.module import GraphModule

BACKENDS = ("eager", "llvm", "c")
X = gw.arange(6.0).reshape(2, 3)


def double_relu(x: gw.Tensor) -> gw.Tensor:
    return gw.relu(x + 1) * 2


class Scale(nn.Module):
    """Multiplies by a parameter and by a setting."""

    def __init__(self, factor: float = 2.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(gw.ones(3))
        self.factor = factor

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        return x * self.weight * self.factor


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_gives_the_eager_result_from_one_graph(backend: str) -> None:
    compiled = gw.compile(double_relu, backend=backend)
    x = gw.randn(5, 7)
    assert np.array_equal(compiled(x).numpy(), double_relu(x).numpy())
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.breaks, stats.recompiles) == (1, 0, 0)
    assert stats.kernels == (0 if backend == "eager" else 1)


def test_it_is_a_decorator_with_and_without_options() -> None:
    @gw.compile
    def plain(x: gw.Tensor) -> gw.Tensor:
        """Plain's docstring."""
        return x + 1

    @gw.compile(fullgraph=True)
    def strict(x: gw.Tensor) -> gw.Tensor:
        return x + 2

    x = gw.ones(2)
    assert plain(x).tolist() == [2.0, 2.0] and strict(x).tolist() == [3.0, 3.0]
    assert plain.__name__ == "plain" and plain.__doc__ == "Plain's docstring."


def test_methods_partials_and_callable_objects() -> None:
    class Model:
        def __init__(self) -> None:
            self.k = 3

        def f(self, x: gw.Tensor) -> gw.Tensor:
            return x * self.k

        __call__ = f

    model, x = Model(), gw.ones(2)
    assert gw.compile(model.f)(x).tolist() == [3.0, 3.0]
    assert gw.compile(model)(x).tolist() == [3.0, 3.0]
    assert gw.compile(functools.partial(gw.add, x))(x).tolist() == [2.0, 2.0]
    bound = gw.compile(model.f)
    model.k = 5
    assert bound(x).tolist() == [5.0, 5.0]


def test_what_a_partial_holds_is_guarded() -> None:
    def scaled(x: gw.Tensor, factor: float = 1.0, *, shift: float = 0.0) -> gw.Tensor:
        return x * factor + shift

    partial = functools.partial(functools.partial(scaled, factor=2), shift=3)
    compiled, x = gw.compile(partial, fullgraph=True), gw.ones(2)
    assert compiled(x).tolist() == partial(x).tolist() == [5.0, 5.0]
    assert compiled.__name__ == "scaled"
    assert inspect.signature(compiled) == inspect.signature(partial)
    partial.keywords["shift"] = 10
    assert compiled(x).tolist() == partial(x).tolist() == [12.0, 12.0]
    partial.__setstate__((scaled, (x,), {}, {}))  # type: ignore[attr-defined]
    assert compiled(x).tolist() == partial(x).tolist() == [1.0, 1.0]
    told = str(gw.explain(compiled)(x))
    assert "0 graph breaks" in told and "scaled (" in told


@pytest.mark.parametrize(("function", "args"), [
    (gw.relu, (X,)), (operator.add, (X, 1)), (gw.nn.functional.softmax, (X, -1)),
    (gw.Tensor.add, (X, 2)), (X.add, (3,)), (math.sqrt, (4.0,)), (len, (X,)),
], ids=["op", "operator", "functional", "method", "bound", "math", "builtin"])
def test_functions_of_the_library_and_builtins(function: Any, args: tuple[Any, ...]) -> None:
    compiled = gw.compile(function, fullgraph=True)
    for _ in range(2):
        assert str(compiled(*args)) == str(function(*args))
    assert compiled.__name__ == function.__name__


def test_static_and_class_methods_are_compiled_under_their_decorators() -> None:
    class Shifted:
        shift = 2

        @gw.compile(fullgraph=True)
        @staticmethod
        def one(x: gw.Tensor) -> gw.Tensor:
            return x + 1

        @gw.compile(fullgraph=True)
        @classmethod
        def own(cls, x: gw.Tensor) -> gw.Tensor:
            return x + cls.shift

    assert Shifted.one(X).tolist() == (X + 1).tolist()
    assert Shifted().own(X).tolist() == Shifted.own(X).tolist() == (X + 2).tolist()


def test_a_class_is_compiled_by_the_calls_of_its_instances() -> None:
    @gw.compile(fullgraph=True)
    class Net(gw.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.seen = gw.compiler.is_compiling()

        def forward(self, x: gw.Tensor) -> tuple[gw.Tensor, bool]:
            return x * 2, gw.compiler.is_compiling()

    net = Net()
    assert isinstance(net, Net) and not net.seen
    y, compiled = net(X)
    assert compiled and y.tolist() == (X * 2).tolist()


def test_calls_of_a_compiled_class_are_part_of_a_graph_that_makes_them() -> None:
    @gw.compile
    class Doubled(Scale):
        @gw.compile
        def shifted(self, x: gw.Tensor) -> gw.Tensor:
            return self(x) + 1

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Doubled()

        def forward(self, x: gw.Tensor) -> gw.Tensor:
            return self.inner(x) + self.inner.shifted(x)

    compiled = gw.compile(Outer(), fullgraph=True, backend="eager")
    assert gw.equal(compiled(X), 4 * X + 1)
    assert gw.compiler.stats(compiled).graphs == 1
    assert gw.compiler.stats(Doubled.__call__).graphs == 0


def test_a_class_may_be_compiled_again() -> None:
    class Doubler:
        def __call__(self, x: gw.Tensor) -> tuple[gw.Tensor, bool]:
            return x * 2, gw.compiler.is_compiling()

    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    assert gw.compile(gw.compile(Doubler), backend=backend) is Doubler
    y, compiled = Doubler()(X)
    assert compiled and y.tolist() == (X * 2).tolist() and len(graphs) == 1


def test_a_module_shares_everything_with_the_original() -> None:
    module = Scale()
    compiled = gw.compile(module)
    x = gw.ones(3)
    assert compiled(x).tolist() == [2.0, 2.0, 2.0]
    assert isinstance(compiled, Scale)
    assert list(compiled.state_dict()) == list(module.state_dict()) == ["weight"]
    assert compiled.weight is module.weight
    compiled.factor = 5.0
    assert module.factor == 5.0 and compiled(x).tolist() == [5.0, 5.0, 5.0]
    compiled.eval()
    assert not module.training


def test_module_compile_works_in_place() -> None:
    module = Scale()
    module.compile()
    assert module(gw.ones(3)).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_of_a_compiled_module_are_compiled_and_apart(
    copier: Callable[[Any], Any],
) -> None:
    original = gw.compile(Scale())
    other = copier(original)
    with gw.no_grad():
        other.weight.fill_(10)
    assert original(gw.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert other(gw.ones(3)).tolist() == [20.0, 20.0, 20.0]
    assert gw.compiler.stats(other).graphs == 1


def test_training_through_a_compiled_module_updates_the_original() -> None:
    module = Scale()
    compiled = gw.compile(module)
    compiled(gw.ones(3)).sum().backward()
    assert module.weight.grad is not None
    assert module.weight.grad.tolist() == [2.0, 2.0, 2.0]


def test_graphs_print_as_source_and_as_a_table() -> None:
    shown: list[str] = []

    def backend(module: Any, examples: Any) -> Any:
        shown.extend((str(module), str(module.graph)))
        return module

    gw.compile(lambda x: (x + 1).sum(-1), backend=backend)(X)
    source, table = shown
    assert "add = x + 1  # float32[2, 3]" in source
    assert source.startswith("GraphModule()\n\ndef forward(self, x)")
    assert [line.split()[0] for line in table.splitlines()] == [
        "op", "-------------", "placeholder", "call_function", "call_method", "output"]


def test_a_users_backend_gets_the_graph_and_fake_inputs() -> None:
    seen: list[tuple[GraphModule, Sequence[Any]]] = []

    def backend(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        seen.append((graph, inputs))
        return graph.forward

    compiled = gw.compile(double_relu, backend=backend)
    assert compiled(gw.ones(2)).tolist() == [4.0, 4.0]
    (graph, inputs), = seen
    assert next(iter(graph.graph.nodes)).op == "placeholder"
    assert inputs[0].shape == (2,) and inputs[0].dtype is gw.float32


def test_errors_of_a_users_backend_reach_the_caller() -> None:
    def backend(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        raise LookupError("this backend has no kernels")

    with pytest.raises(LookupError, match="no kernels"):
        gw.compile(double_relu, backend=backend)(gw.ones(2))


def test_disable_returns_the_function_itself() -> None:
    assert gw.compile(double_relu, disable=True) is double_relu


def test_a_disabled_function_breaks_the_graph_and_runs_as_it_is() -> None:
    calls: list[bool] = []

    @gw.compiler.disable
    def helper(x: gw.Tensor) -> gw.Tensor:
        calls.append(gw.compiler.is_compiling())
        return x + 1

    def f(x: gw.Tensor) -> gw.Tensor:
        return helper(x * 2) * 3

    compiled = gw.compile(f)
    assert compiled(gw.ones(2)).tolist() == [9.0, 9.0]
    assert calls == [False]
    assert gw.compiler.stats(compiled).breaks == 1


def test_is_compiling_is_true_only_in_captured_code() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return x + 1 if gw.compiler.is_compiling() else x - 1

    assert f(gw.zeros(1)).tolist() == [-1.0]
    assert gw.compile(f)(gw.zeros(1)).tolist() == [1.0]


def test_reset_forgets_everything() -> None:
    compiled = gw.compile(double_relu)
    compiled(gw.ones(2))
    gw.compiler.reset()
    assert gw.compiler.stats(compiled).graphs == 0
    compiled(gw.ones(2))
    assert gw.compiler.stats(compiled).graphs == 1


def test_fullgraph_names_place_reason_and_advice() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        y = x * 2
        print("between")
        return y + 1

    with pytest.raises(GraphBreakError) as caught:
        gw.compile(f, fullgraph=True)(gw.ones(2))
    text = str(caught.value)
    assert __file__ in text and 'print("between")' in text
    assert "Why:" in text and "What to do:" in text


@pytest.mark.parametrize(("arguments", "error", "text"), [
    ({"backend": "cuda"}, ValueError, "aot_eager, auto, c, eager, inductor, llvm"),
    ({"backend": 3}, TypeError, "not int"),
    ({"mode": "fastest"}, ValueError, "max-autotune"),
    ({"options": {"x": 1}}, ValueError, "unknown options 'x'; valid keys are 'recompile_limit'"),
    ({"options": {1: 2}}, ValueError, "unknown options 1; valid keys are"),
    ({"options": ["recompile_limit"]}, TypeError, "'options' must be dict, not list"),
])
def test_wrong_arguments(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        gw.compile(double_relu, **arguments)


@pytest.mark.parametrize("model", [3, "f", int, types.SimpleNamespace])
def test_what_cannot_be_compiled(model: Any) -> None:
    with pytest.raises(TypeError):
        gw.compile(model)


def test_stats_and_dump_want_what_compile_returned() -> None:
    with pytest.raises(TypeError, match="not returned by"):
        gw.compiler.stats(double_relu)
    with pytest.raises(ValueError, match="unknown stages wasm"):
        gw.compiler.dump(gw.compile(double_relu), ["wasm"])


def test_the_stages_of_a_training_step() -> None:
    compiled = gw.compile(double_relu, backend="llvm")
    x = gw.ones(4, requires_grad=True)
    compiled(x).sum().backward()
    texts = gw.compiler.dump(compiled)
    assert list(texts) == ["bytecode", "graph", "joint", "loops", "llvm", "asm"]
    assert "# backward" in texts["joint"]
    assert "vector" in texts["loops"]


def test_bytecode_of_what_runs() -> None:
    """Where the hook calls the graph there is none; a break needs some."""
    def broken(x: gw.Tensor) -> gw.Tensor:
        y = x + 1
        print("", end="")
        return y

    texts = []
    for function in (double_relu, broken):
        compiled = gw.compile(function, backend="llvm")
        compiled(gw.ones(4))
        texts.append(gw.compiler.dump(compiled, ["bytecode"])["bytecode"])
    plain, resumed = texts
    assert plain.count("# original") == plain.count("# translated") == 1
    assert plain.endswith("no bytecode: the frame hook calls the graph and returns its result\n")
    assert "no bytecode" not in resumed.split("# original")[1]
    assert "Continued" in resumed.split("# translated")[1]


def test_explain_prints_graphs_breaks_and_guards() -> None:
    def f(x: gw.Tensor, k: int) -> gw.Tensor:
        y = x * k
        print("", end="")
        return y + 1

    text = gw.explain(f)(gw.ones(2), 3).text(guards=True)
    assert text.splitlines()[1].startswith("2 graphs, 1 graph break,")
    assert 'print("", end="")' in text
    assert "L['k']" in text


def test_an_explanation_offers_the_bytecode_of_its_frames() -> None:
    from bytecode import Bytecode

    def f(x: gw.Tensor) -> gw.Tensor:
        y = x + 1
        print(end="")
        return y * 2

    frames = gw.explain(f)(gw.ones(2)).bytecode
    assert len(frames) == 2 and isinstance(frames[0][0], Bytecode)
    assert frames[0][0].to_code().co_code == f.__code__.co_code
    assert isinstance(frames[0][1], Bytecode)
