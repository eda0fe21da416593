"""Autocast in compiled functions: in the frame, around it, across breaks and in both graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.ir.pipeline import lower_graph
from graphwright.nn import functional as F

from ..captured import Captured

X = gw.arange(32, dtype=gw.float32).reshape(4, 8) / 32


def layer() -> Any:
    gw.manual_seed(0)
    return gw.nn.Linear(8, 8)


LAYER = layer()


def in_the_frame(x):
    with gw.autocast("cpu"):
        hidden = LAYER(x).relu()
        loss = F.mse_loss(hidden, x)
    return hidden, loss, LAYER(x)


def nested(x):
    with gw.autocast("cpu") as outer:
        first = LAYER(x)
        with gw.autocast("cpu", enabled=False):
            second = LAYER(x)
            with gw.autocast(device_type="cpu", dtype=gw.float16):
                third = LAYER(x)
        return first, second, third, gw.cat([first, second]), outer.fast_dtype


@gw.autocast("cpu")
def decorated(x):
    return LAYER(x)


def calls_what_is_decorated(x):
    return decorated(x) @ decorated(x).t(), LAYER(x)


def reads_the_state(x):
    states = [gw.is_autocast_enabled("cpu")]
    with gw.autocast("cpu", dtype=gw.float16, cache_enabled=False):
        states += [gw.is_autocast_enabled("cpu"), gw.get_autocast_dtype("cpu")]
        states += [gw.is_autocast_cache_enabled()]
    return x + 1, states


def made_of_ops_that_are_cast(x):
    with gw.autocast("cpu"):
        rows = x[None]
        return gw.einsum("ij,kj->ik", x, x), F.scaled_dot_product_attention(rows, rows, rows)


def with_one_manager(x):
    region = gw.autocast("cpu")
    with region:
        first = LAYER(x)
    with region:
        return first, LAYER(x)


def with_no_grad(x):
    with gw.autocast("cpu"), gw.no_grad():
        frozen = LAYER(x)
    return frozen, LAYER(x)


REGION = gw.autocast("cpu", dtype=gw.float16)


def with_a_global_manager(x):
    with REGION:
        return LAYER(x), F.l1_loss(x.half(), x.half())


PROGRAMS: list[Callable[..., Any]] = [
    in_the_frame,
    nested,
    calls_what_is_decorated,
    reads_the_state,
    made_of_ops_that_are_cast,
    with_one_manager,
    with_no_grad,
    with_a_global_manager,
]


def alike(actual: Any, expected: Any) -> None:
    """The same structure, dtypes and need of gradients; values up to roundings in 16 bits."""
    if isinstance(expected, gw.Tensor):
        assert (actual.dtype, actual.requires_grad) == (expected.dtype, expected.requires_grad)
        assert gw.allclose(actual.float(), expected.float(), rtol=0.02, atol=0.02)
    elif isinstance(expected, (tuple, list)):
        assert type(actual) is type(expected)
        for ours, theirs in zip(actual, expected, strict=True):
            alike(ours, theirs)
    else:
        assert actual == expected


def gradient(function: Callable[..., Any]) -> Any:
    LAYER.zero_grad()
    x = X.clone().requires_grad_()
    result = function(x)
    parts = [t for t in result if isinstance(t, gw.Tensor) and t.requires_grad]
    sum(part.float().square().sum() for part in parts).backward()
    return x.grad, LAYER.weight.grad


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_one_graph_as_eager(program: Callable[..., Any], backend: str) -> None:
    compiled = gw.compile(program, fullgraph=True, backend=backend)
    for _ in range(2):
        alike(compiled(X), program(X))
        assert not gw.is_autocast_enabled("cpu")
    alike(gradient(compiled), gradient(program))


def around(x):
    return LAYER(x), F.mse_loss(x, x), x @ x.t()


@pytest.mark.parametrize("backend", ["eager", "llvm"])
def test_the_mode_around_a_call_is_guarded(backend: str) -> None:
    compiled = gw.compile(around, fullgraph=True, backend=backend)
    alike(compiled(X), around(X))
    for region in (
        gw.autocast("cpu"),
        gw.autocast("cpu", dtype=gw.float16),
        gw.autocast("cpu", enabled=False),
    ):
        with region:
            alike(compiled(X), around(X))
            alike(gradient(compiled), gradient(around))
    alike(compiled(X), around(X))


def test_versions_are_kept_for_each_mode() -> None:
    captured = Captured(around)
    for _ in range(3):
        with gw.autocast("cpu"):
            captured(X)
        captured(X)
    assert captured.graphs == 2


def test_the_casts_are_in_the_graphs() -> None:
    captured = Captured(in_the_frame)
    captured(X)
    graph = captured.record.graphs[0].graph
    assert "set_autocast" in [getattr(node.target, "__name__", "") for node in graph.graph.nodes]
    inputs = [node.meta["val"] for node in graph.graph.placeholders]
    lowered = lower_graph(graph, inputs, needs_grad=True)
    dtypes = {
        node.meta["val"].dtype
        for node in lowered.forward.graph.nodes
        if getattr(node.target, "name", "") == "to_dtype"
    }
    assert gw.bfloat16 in dtypes


def broken(x):
    with gw.autocast("cpu") as region:
        first = LAYER(x)
        print("between")
        second = LAYER(first)
        with gw.autocast("cpu", enabled=False):
            print("disabled")
            third = LAYER(x)
    return first, second, third, LAYER(x), region.fast_dtype


def raising(x):
    try:
        with gw.autocast("cpu"):
            LAYER(x)
            raise KeyError("inside")
    except KeyError:
        return LAYER(x), gw.is_autocast_enabled("cpu")


def returning_while_on(x):
    gw.autocast("cpu").__enter__()
    return LAYER(x)


@pytest.mark.parametrize("program", [broken, raising], ids=lambda f: f.__name__)
def test_across_breaks(program: Callable[..., Any], capsys: Any) -> None:
    compiled = gw.compile(program)
    for _ in range(2):
        alike(compiled(X), program(X))
        assert not gw.is_autocast_enabled("cpu")
    alike(gradient(compiled), gradient(program))


def test_a_mode_that_the_frame_leaves_on_stays_on() -> None:
    compiled = gw.compile(returning_while_on)
    for _ in range(2):
        try:
            assert compiled(X).dtype is gw.bfloat16
            assert gw.is_autocast_enabled("cpu")
        finally:
            gw.set_autocast_enabled("cpu", False)


def test_a_warning_stays_a_warning() -> None:
    def refused(x):
        with gw.autocast("cpu", dtype=gw.float32):
            return LAYER(x)

    with pytest.warns(UserWarning, match="Disabling autocast"):
        assert gw.compile(refused)(X).dtype is gw.float32


def test_no_region_leaks_into_steps_that_run_eagerly() -> None:
    def sorted_product(x):
        with gw.autocast("cpu", enabled=False):
            values = gw.linalg.inv(x @ x.t() + gw.eye(4)) @ x
        return values

    compiled = gw.compile(sorted_product, fullgraph=True)
    with gw.autocast("cpu"):
        alike(compiled(X), sorted_product(X))


def test_second_derivatives_under_autocast() -> None:
    def second(function: Callable[..., Any]) -> Any:
        x = X.clone().requires_grad_()
        loss = function(x)[1]
        (first,) = gw.autograd.grad(loss, x, create_graph=True)
        return gw.autograd.grad(first.square().sum(), x)[0]

    alike(second(gw.compile(in_the_frame)), second(in_the_frame))


# -- grad mode, which is a mode of the thread too


def test_what_precedes_a_break_in_no_grad_keeps_its_gradient() -> None:
    def program(x):
        doubled = x * 2
        with gw.no_grad():
            print("between")
            other = doubled + 1
        return doubled, other

    x = X.clone().requires_grad_()
    compiled = gw.compile(program)
    assert [t.requires_grad for t in compiled(x)] == [True, False]


def test_gradients_switched_on_in_a_frame_without_them() -> None:
    def program(x):
        before = x * 3
        with gw.enable_grad():
            inside = x * 2
        return before, inside, x * 4

    x = X.clone().requires_grad_()
    compiled = gw.compile(program, fullgraph=True)
    with gw.no_grad():
        alike(compiled(x), program(x))
