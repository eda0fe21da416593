"""`cond` and `while_loop` in compiled code: one graph with graphs inside."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import graphwright as gw
from graphwright._higher_order_ops import while_loop

cond = gw.cond
LAYER = gw.nn.Linear(4, 4)
BIAS = gw.arange(4.0)
UP, DOWN = gw.ones(4), -gw.ones(4)


def leaves(value: Any) -> list[Any]:
    return list(gw.utils._pytree.tree_leaves(value))


def gradients(result: Any, inputs: Sequence[Any]) -> list[Any]:
    """Of a weighted sum of all results; zeros where there is none."""
    parts = [leaf for leaf in leaves(result) if isinstance(leaf, gw.Tensor) and leaf.requires_grad]
    if not parts:
        return [gw.zeros_like(one) for one in inputs]
    total = sum((part * (number + 1)).sum() for number, part in enumerate(parts))
    return list(gw.autograd.grad(total, inputs, allow_unused=True, materialize_grads=True))


def check(
    f: Callable[..., Any], *calls: Sequence[Any], backend: str = "llvm", breaks: int = 0,
    graphs: int = 1, recompiles: int = 0, **options: Any,
) -> None:
    """Values and gradients are Python's, by so many graphs, breaks and recompilations."""
    compiled = gw.compile(f, backend=backend, **options)
    for call in calls:
        given = [value.detach().clone().requires_grad_(value.is_floating_point())
                 for value in call]
        wanted = [value for value in given if value.requires_grad]
        expected, found = f(*given), compiled(*given)
        assert len(leaves(expected)) == len(leaves(found))
        for one, two in zip(leaves(expected), leaves(found), strict=True):
            gw.testing.assert_close(two, one)
        for one, two in zip(gradients(expected, wanted), gradients(found, wanted), strict=True):
            gw.testing.assert_close(two, one)
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.breaks, stats.recompiles) == (graphs, breaks, recompiles)
    assert stats.fallbacks == 0


def without_gradients(a: gw.Tensor) -> gw.Tensor:
    with gw.no_grad():
        total = a.sum()
    return a * total


def in_half(x: gw.Tensor) -> gw.Tensor:
    with gw.autocast("cpu", dtype=gw.bfloat16):
        square = x.expand(4, 4)
        return cond(x.sum() > 0, lambda a: (a @ a).float(), lambda a: a * 2, (square,))


def written_result(x: gw.Tensor) -> gw.Tensor:
    y = cond(x.sum() > 0, lambda a: a * a, lambda a: a - 1, (x,))
    y.add_(1)
    return y * x


BRANCHES: dict[str, Callable[..., Any]] = {
    "operands": lambda x: cond(x.sum() > 0, lambda a: a.sin(), lambda a: a * a, (x,)) * 2,
    "closures": lambda x: cond(x.sum() > 0, lambda: x * BIAS, lambda: x - BIAS),
    "layers": lambda x: cond(x.sum() > 0, LAYER, gw.nn.functional.gelu, (x,)),
    "one without gradients": lambda x: cond(
        x.sum() > 0, lambda a: a.sin(), lambda a: gw.ones(4), (x,)) + x,
    "containers": lambda x: cond(
        x.sum() > 0, lambda d: {"a": d["x"] + 1, "b": [d["x"] * 2, 3]},
        lambda d: {"a": d["x"] - 1, "b": [d["x"].exp(), 3]}, ({"x": x},)),
    "numbers as operands": lambda x: cond(
        x.sum() > 0, lambda a, n: a * n, lambda a, n: a + n, (x, 3)),
    "nested": lambda x: cond(
        x.sum() > 0,
        lambda a: cond(a[0] > 0.5, lambda b: b * x, lambda b: b.exp(), (a,)) + BIAS,
        lambda a: a - x.max(), (x,)),
    "in a row": lambda x: cond(x.sum() > 0, lambda a: a + 1, lambda a: a * 2, (x,)) * cond(
        x.max() > 0.5, lambda a: a * 2, lambda a: a * 3, (x,)),
    "in a loop": lambda x: functools.reduce(
        lambda y, n: cond(y.sum() > n, lambda a: a / 2, lambda a: a * 3, (y,)), range(3), x),
    "results with gaps": lambda x: cond(
        x.sum() > 0, lambda a: (a * 2).view(2, 2).T[0], lambda a: a.exp()[::2], (x,)),
    "of another layout": lambda x: cond(
        x.sum() > 0, lambda a: (a * 2).view(2, 2).T, lambda a: a.exp().view(2, 2), (x,)),
    "writes to its own": lambda x: cond(
        x.sum() > 0, lambda a: a.clone().add_(1).mul_(a), lambda a: a.exp(), (x,)),
    "no_grad": lambda x: cond(x.sum() > 0, without_gradients, lambda a: a.exp(), (x,)),
    "autocast": in_half,
    "result is written": written_result,
    "ops without native code": lambda x: cond(
        x.sum() > 0, lambda a: gw.linalg.inv(gw.diag(a + 1)).sum(0), lambda a: gw.sort(a)[0],
        (x,)),
    "a float as condition": lambda x: cond(
        x.sum().relu(), lambda a: a + 1, lambda a: a * 2, (x,)),
    "one element as condition": lambda x: cond(
        x[:1] > 0, lambda a: a + 1, lambda a: a * 2, (x,)),
}  # fmt: skip


@pytest.mark.parametrize("name", BRANCHES)
def test_branches_are_part_of_the_graph(name: str) -> None:
    options = {"strict": True} if name == "autocast" else {}
    check(BRANCHES[name], (UP,), (DOWN,), (UP * 0.1,), fullgraph=True, options=options)


@pytest.mark.parametrize("backend", ["eager", "c"])
@pytest.mark.parametrize("name", ["operands", "nested", "layers", "containers"])
def test_other_backends(name: str, backend: str) -> None:
    check(BRANCHES[name], (UP,), (DOWN,), backend=backend, fullgraph=True)


LOOPS: dict[str, Callable[..., Any]] = {
    "counted": lambda x: while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a.sin() * a + BIAS), (gw.tensor(0), x)),
    "by values": lambda x: while_loop(
        lambda a: a.abs().max() < 50, lambda a: (a * 2 + a.mean(),), (x,)),
    "one value": lambda x: while_loop(lambda a: a.abs().sum() < 50, lambda a: a * 2, (x,)),
    "no turn": lambda x: while_loop(
        lambda i, a: i < 0, lambda i, a: (i + 1, a * 2), (gw.tensor(0), x)),
    "weights": lambda x: while_loop(
        lambda i, a: i < 4, lambda i, a: (i + 1, LAYER(a).tanh() * x), (gw.tensor(0), x)),
    "carried on as it is": lambda x: while_loop(
        lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * b, b), (gw.tensor(0), x, x + 1)),
    "containers": lambda x: while_loop(
        lambda i, d: i < 3, lambda i, d: (i + 1, {"a": d["a"] * 2, "b": (d["a"],)}),
        (gw.tensor(0), {"a": x, "b": (x * 3,)})),
    "branches inside": lambda x: while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, cond(a.sum() > 8, lambda b: b / 3, lambda b: b * x * 4, (a,))),
        (gw.tensor(0), x)),
    "another layout": lambda x: while_loop(
        lambda a: a.abs().sum() < 50, lambda a: (a.T.exp().T * 2,), (x.view(2, 2).T,)),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_part_of_the_graph(name: str) -> None:
    check(LOOPS[name], (UP,), (DOWN * 2,), fullgraph=True)


@pytest.mark.parametrize("backend", ["eager", "c"])
@pytest.mark.parametrize("name", ["counted", "branches inside"])
def test_other_backends_loop(name: str, backend: str) -> None:
    check(LOOPS[name], (UP,), (DOWN,), backend=backend, fullgraph=True)


@pytest.mark.parametrize("f", [
    lambda x: cond(x.sum() > 0, lambda a: a * a.shape[0], lambda a: a - 1, (x,)),
    lambda x: while_loop(lambda a: a.abs().sum() < 50, lambda a: (a * 2 + a.shape[0],), (x,)),
])  # fmt: skip
def test_one_graph_serves_all_sizes(f: Callable[..., Any]) -> None:
    sizes = (gw.ones(3),), (-gw.ones(5),), (gw.ones(7),)
    check(f, *sizes, dynamic=True)
    check(f, *sizes, graphs=2, recompiles=1)


def test_sizes_of_other_tensors_come_along() -> None:
    def f(x: gw.Tensor, y: gw.Tensor) -> gw.Tensor:
        return cond(x.sum() > 0, lambda a: gw.zeros(y.shape[0]) + a.sum(),
                    lambda a: gw.arange(y.shape[0]) * a.max(), (x,))

    check(f, (UP, gw.ones(3)), (DOWN, gw.ones(5)), (UP, gw.ones(7)), dynamic=True)


def test_what_python_knows_is_chosen_while_translating() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return cond(x.shape[0] > 3, lambda a: a + 1, lambda a: a[:1], (x,))

    check(f, (UP,), (gw.ones(2),), (gw.ones(6),), dynamic=True, graphs=2, recompiles=1)


def test_the_graph_shows_its_graphs() -> None:
    seen: list[Any] = []

    def backend(module: Any, examples: Any) -> Any:
        seen.append(module)
        return module

    compiled = gw.compile(BRANCHES["closures"], backend=backend)
    expected = compiled(UP)
    (node,) = [n for n in seen[0].graph.nodes if getattr(n.target, "__name__", "") == "cond"]
    pred, *branches, operands = node.args
    assert (pred.op, len(operands), len(node.users)) == ("call_function", 2, 1)
    assert [[n.name for n in branch.graph.nodes] for branch in branches] == [
        [operands[0].name, operands[1].name, name, "output"] for name in ("mul", "sub")]
    assert "# cond_true\ndef forward(self, " in str(seen[0])
    assert gw.equal(copy.deepcopy(seen[0])(UP, BIAS)[0], expected)


def test_each_graph_is_compiled_once() -> None:
    compiled = gw.compile(BRANCHES["operands"], backend="llvm")
    with gw.no_grad():
        for value in (UP, DOWN, UP):
            compiled(value)
    loops = gw.compiler.dump(compiled, ["loops"])["loops"]
    assert loops.count("] = sin(") == 1
    assert gw.compiler.stats(compiled).kernels == 4


def test_gradients_of_gradients() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        return cond(x.sum() > 0, lambda a: a.sin() * a, lambda a: a**3, (x,))

    compiled = gw.compile(f, backend="llvm", fullgraph=True)
    for value in (UP, DOWN):
        x = value.clone().requires_grad_()
        found = []
        for run in (f, compiled):
            (slope,) = gw.autograd.grad(run(x).sum(), x, create_graph=True)
            found.append(gw.autograd.grad((slope * slope).sum(), x)[0])
        gw.testing.assert_close(found[0], found[1])


def test_loops_refuse_gradients_of_gradients() -> None:
    compiled = gw.compile(lambda x: LOOPS["counted"](x)[1], backend="llvm")
    x = UP.clone().requires_grad_()
    (slope,) = gw.autograd.grad(compiled(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="derivative for the gradient of while_loop is not"):
        gw.autograd.grad(slope.sum(), x)


def test_a_training_step_is_one_graph() -> None:
    def step(model: gw.nn.Module, optimiser: Any, x: gw.Tensor) -> gw.Tensor:
        optimiser.zero_grad()
        out = model(x)
        loss = cond(out.sum() > 0, lambda a: (a**2).mean(), lambda a: a.abs().mean() * 2, (out,))
        loss.backward()
        optimiser.step()
        return loss.detach()

    models = [gw.nn.Linear(4, 4)]
    models.append(copy.deepcopy(models[0]))
    optimisers = [gw.optim.SGD(model.parameters(), lr=0.1) for model in models]
    compiled = gw.compile(step)
    for value in (UP, DOWN, UP * 3):
        x = value.expand(2, 4).contiguous()
        gw.testing.assert_close(
            compiled(models[1], optimisers[1], x), step(models[0], optimisers[0], x))
        gw.testing.assert_close(models[1].weight, models[0].weight)
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.breaks) == (1, 0)


def test_gradients_inside_the_graph_and_computed_again() -> None:
    def inside(x: gw.Tensor) -> gw.Tensor:
        x = x.detach().requires_grad_()
        return gw.autograd.grad(BRANCHES["operands"](x).sum(), x)[0]

    def again(x: gw.Tensor) -> gw.Tensor:
        return gw.utils.checkpoint.checkpoint(BRANCHES["operands"], x, use_reentrant=False)

    for f in (inside, again, lambda x: gw.func.grad(lambda a: BRANCHES["operands"](a).sum())(x)):
        check(f, (UP,), (DOWN,), fullgraph=True)


def test_random_numbers_are_those_of_the_branch() -> None:
    def f(x: gw.Tensor) -> tuple[gw.Tensor, ...]:
        first = gw.rand(2)
        drawn = cond(x.sum() > 0, lambda a: a + gw.rand(4) + gw.rand(4), lambda a: a.exp(), (x,))
        return first, drawn, gw.rand(2)

    compiled = gw.compile(f, backend="llvm", fullgraph=True)
    for value in (UP, DOWN, UP):
        found = []
        for run in (f, compiled):
            gw.manual_seed(5)
            found.append(run(value))
        assert all(map(gw.equal, *found))
    assert gw.compiler.stats(compiled).graphs == 1


def test_what_a_branch_raises_is_raised() -> None:
    compiled = gw.compile(
        lambda x, i: cond(x.sum() > 0, lambda a: a[i] * 2, lambda a: a[i] + 1, (x,)),
        backend="llvm", fullgraph=True)
    assert compiled(UP, gw.tensor([1, 2])).tolist() == [2.0, 2.0]
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        compiled(UP, gw.tensor([1, 5]))


SEEN: list[int] = []


@pytest.mark.parametrize(("f", "reason"), [
    (lambda x: cond(x.sum() > 0, lambda a: (SEEN.append(1), a + 1)[1], lambda a: a * 2, (x,)),
     "changes what is outside of it"),
    (lambda x: cond(x.sum() > 0, lambda a: a, lambda a: a * 2, (x,)), "returns what it is given"),
    (lambda x: cond(x.sum() > 0, lambda a: a[1:], lambda a: a[1:] * 2, (x,)), "a view of that"),
    (lambda x: cond(x.sum() > 0, lambda a: (b := a + 1, b), lambda a: (a, a), (x,)),
     "one tensor twice"),
    (lambda x: cond(x.sum() > 0, lambda a: (a + 1, 1), lambda a: (a + 2, 2), (x,)),
     "numbers that are not the same"),
    (lambda x: cond(x.sum() > 0, lambda a: gw.nn.functional.dropout(a), lambda a: a * 2, (x,)),
     "draws random numbers and needs gradients"),
    (lambda x: cond(x.sum() > 0, lambda a: gw.autograd.grad(a.sum(), a)[0], lambda a: a * 2, (x,)),
     "computes gradients"),
    (lambda x: cond(x.sum() > 0, lambda a: a + 1, lambda a: {}[a], (x,)), "raises KeyError"),
    (lambda x: while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * 2), (0, x)),
     "numbers that are not the same|a condition that is no tensor"),
])  # fmt: skip
def test_what_cannot_be_part_of_a_graph_runs_as_python(f: Any, reason: str) -> None:
    x = UP.clone().requires_grad_()
    with pytest.raises(RuntimeError, match=reason):
        gw.compile(f, fullgraph=True)(x)
    gw.manual_seed(1)
    expected = f(x)
    gw.manual_seed(1)
    compiled = gw.compile(f)
    for one, two in zip(leaves(expected), leaves(compiled(x)), strict=True):
        gw.testing.assert_close(two, one)
    assert gw.compiler.stats(compiled).breaks >= 1


def chosen(x: gw.Tensor, first: Any, second: Any) -> gw.Tensor:
    return cond(x.sum() > 0, lambda a: (first(), a + 1)[1], lambda a: (second(), a - 1)[1], (x,))


def writes_variable(x: gw.Tensor) -> Any:
    n = 0

    def add(more: int) -> None:
        nonlocal n
        n += more

    return chosen(x, lambda: add(1), lambda: add(10)), n


def writes_list(x: gw.Tensor) -> Any:
    seen: list[int] = []
    return chosen(x, lambda: seen.append(1), lambda: seen.append(2)), seen


def writes_attribute(x: gw.Tensor) -> Any:
    layer = gw.nn.Identity()
    layer.n = 0
    return chosen(x, lambda: setattr(layer, "n", 1), lambda: setattr(layer, "n", 2)), layer.n


def writes_function(x: gw.Tensor) -> Any:
    def first() -> None:
        first.n = 1

    first.n = 0
    return chosen(x, first, lambda: None), first.n


def advances_iterator(x: gw.Tensor) -> Any:
    numbers = iter([1, 2, 3])
    return chosen(x, lambda: next(numbers), lambda: None), next(numbers)


def advances_generator(x: gw.Tensor) -> Any:
    numbers = (n for n in (1, 2, 3))
    return chosen(x, lambda: next(numbers), lambda: None), next(numbers)


def makes_view_in_place(x: gw.Tensor) -> Any:
    y = (x * 2).view(4, 1)
    return chosen(x, lambda: y.t_(), lambda: None), y.shape[0]


def stores_gradient(x: gw.Tensor) -> Any:
    leaf = x.detach().clone().requires_grad_()
    return chosen(x, lambda: setattr(leaf, "grad", leaf.detach() * 2), lambda: None), leaf.grad


def asserts(x: gw.Tensor) -> Any:
    def positive() -> None:
        assert x.sum() > 0

    return chosen(x, positive, lambda: None)


@pytest.mark.parametrize("inlined", [False, True])
@pytest.mark.parametrize("f", [
    writes_variable, writes_list, writes_attribute, writes_function, advances_iterator,
    advances_generator, makes_view_in_place, stores_gradient, asserts,
])  # fmt: skip
def test_only_the_branch_that_is_taken_has_effects(f: Any, inlined: bool) -> None:
    compiled = gw.compile((lambda x: f(x)) if inlined else f)
    for value in (UP, DOWN, UP):
        for one, two in zip(leaves(f(value)), leaves(compiled(value)), strict=True):
            gw.testing.assert_close(two, one)
    assert gw.compiler.stats(compiled).breaks >= 1


def test_branches_may_change_what_they_make() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        def first(a: gw.Tensor) -> gw.Tensor:
            parts, count = [], {"n": 0}
            for number in iter((1, 2)):
                parts.append(a * number)
                count["n"] += number
            return sum(parts) * count["n"]

        return cond(x.sum() > 0, first, lambda a: a - 1, (x,))

    check(f, (UP,), (DOWN,), fullgraph=True)


@pytest.mark.parametrize("compiled", [False, True])
def test_writes_to_what_is_given_are_refused(compiled: bool) -> None:
    def branch(x: gw.Tensor) -> gw.Tensor:
        return cond(x.sum() > 0, lambda a: a.add_(1), lambda a: a - 1, (x,))

    def loop(x: gw.Tensor) -> Any:
        return while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.mul_(2)), (gw.tensor(0), x))

    for f in (branch, loop):
        with pytest.raises(RuntimeError, match="changes a tensor in place that it is given"):
            (gw.compile(f) if compiled else f)(gw.ones(3))


@pytest.mark.parametrize(("first", "second", "text"), [
    (lambda a: a[:2] + 1, lambda a: a * 2, r"float32\[2\] and float32\[4\]"),
    (lambda a: a.long(), lambda a: a * 2, r"int64\[4\] and float32\[4\]"),
    (lambda a: (a + 1,), lambda a: [a * 2], r"\(a tensor\) and \[a tensor\]"),
    (lambda a: {"a": a + 1}, lambda a: a * 2, r"{'a': a tensor} and a tensor"),
    (lambda a: (a + 1, 1), lambda a: (a + 1, None), r"\(a tensor, 1\) and \(a tensor, None\)"),
])  # fmt: skip
def test_branches_of_different_results_are_refused(first: Any, second: Any, text: str) -> None:
    compiled = gw.compile(lambda x: cond(x.sum() > 0, first, second, (x,)))
    with pytest.raises(RuntimeError, match=f"cond: the branches give {text}"):
        compiled(UP)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("body", "text"), [
    (lambda i, a: (i + 1, a[:2] * 2), r"float32\[4\] and (gives )?float32\[2\]"),
    (lambda i, a: (i + 1, a.double()), r"float32\[4\] and (gives )?float64\[4\]"),
    (lambda i, a: (i + 1,), r"gives (1 values|\(a tensor, a tensor\) and \(a tensor\))"),
    (lambda i, a: (i + 1, [a * 2]), "gives "),
])  # fmt: skip
def test_bodies_of_other_results_are_refused(body: Any, text: str, compiled: bool) -> None:
    def f(x: gw.Tensor) -> Any:
        return while_loop(lambda i, a: i < 3, body, (gw.tensor(0), x))

    with pytest.raises(RuntimeError, match="while_loop: the body .*" + text):
        (gw.compile(f) if compiled else f)(UP)


@pytest.mark.parametrize("compiled", [False, True])
def test_loops_return_nothing_that_they_were_given(compiled: bool) -> None:
    def f(x: gw.Tensor) -> Any:
        return while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a * 2), (gw.tensor(0), x))

    x = gw.ones(2)
    out = (gw.compile(f) if compiled else f)(x)[1]
    out.add_(1)
    assert x.tolist() == [1.0, 1.0]


def test_the_names_of_pytorch() -> None:
    assert gw._higher_order_ops.cond is gw.cond is gw.ops.higher_order.cond
    assert gw.while_loop is while_loop

    def f(x: gw.Tensor) -> Any:
        return gw.ops.higher_order.while_loop(
            lambda a, b: a.sum() < 50, lambda a, b: (a * b,), (x,), (x + 1,))

    check(lambda x: f(x)[0], (UP,), fullgraph=True)


def test_vmap_refuses_a_branch_on_its_examples() -> None:
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        gw.compile(gw.vmap(lambda a: cond(a.sum() > 0, lambda b: b + 1, lambda b: b - 1, (a,))))(
            gw.ones(2, 3))
