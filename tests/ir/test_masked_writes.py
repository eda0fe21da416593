"""Values put where a mask holds are chosen, if no value belongs to one of the places alone."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

from .lowering import captured, check, lower_graph, tensor

X = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
ROWS = tensor([True, False])
COLUMNS = tensor([False, True, True])
ALL = tensor([[True, False, True], [False, False, True]])


def put(x: Any, mask: Any, values: Any) -> Any:
    x[mask] = values


def put_columns(x: Any, mask: Any, values: Any) -> Any:
    x[:, mask] = values


CHOSEN = [
    (put, ALL, [7.0]), (put, ALL, 7.0), (put, ROWS, 7.0), (put, ROWS, [7.0]),
    (put, ROWS, [7.0, 8.0, 9.0]), (put, ROWS, [[7.0, 8.0, 9.0]]), (put, ROWS, [[7.0]]),
    (put_columns, COLUMNS, 7.0), (put_columns, COLUMNS, [[7.0], [8.0]]),
    (put_columns, COLUMNS, [[7.0]]),
]


@pytest.mark.parametrize(("fn", "mask", "values"), CHOSEN)
@pytest.mark.parametrize("dtype", [gw.float64, gw.float32])
def test_as_eager(fn: Any, mask: Any, values: Any, dtype: Any) -> None:
    lowered = check(fn, X.to(dtype), mask, tensor(values).to(dtype))
    names = [node.target.name for node in lowered.forward.graph.nodes
             if node.op == "call_function"]
    assert "where" in names and "index_put" not in names


@pytest.mark.parametrize(("fn", "mask", "values"), CHOSEN)
def test_gradients(fn: Any, mask: Any, values: Any) -> None:
    def run(x: Any, values: Any) -> Any:
        x = x * 2
        fn(x, mask, values * 3)
        return (x * x,)

    given = tensor(values, requires_grad=True)
    check(run, tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True), given)


def test_a_value_for_each_place() -> None:
    """The first place takes the first: that is not the mask's alone to tell."""
    module, fakes = captured(put, [X, ALL, tensor([7.0, 8.0, 9.0])])
    names = [node.target.name for node in
             lower_graph(module, fakes, needs_grad=False).forward.graph.nodes
             if node.op == "call_function"]
    assert "index_put" in names
    check(put, X, ALL, tensor([7.0, 8.0, 9.0]))


def add(x: Any, mask: Any, values: Any) -> Any:
    x.index_put_((mask,), values, accumulate=True)


@pytest.mark.parametrize(("fn", "mask", "values"), [
    (put, ALL, [7.0, 8.0, 9.0]), (put, ROWS, [[7.0, 8.0, 9.0]]),
    (put_columns, COLUMNS, [[7.0, 8.0], [9.0, 10.0]]), (put_columns, COLUMNS, [7.0, 8.0]),
    (add, ALL, [7.0, 8.0, 9.0]), (add, ALL, 7.0), (add, ROWS, [7.0, 8.0, 9.0]),
])  # fmt: skip
@pytest.mark.parametrize("mask_dtype", [gw.bool, gw.uint8])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.filterwarnings("ignore:indexing with dtype")
def test_gradients_of_values_for_each_place(
    fn: Any, mask: Any, values: Any, mask_dtype: Any, dynamic: bool
) -> None:
    """One native graph each way: as many elements are picked as there are values."""
    def run(x: Any, mask: Any, values: Any) -> Any:
        x = x * 2
        fn(x, mask, values * 3)
        return (x * x * x).sum()

    compiled = gw.compile(run, dynamic=dynamic)
    grads = []
    for function in (run, compiled):
        x = X.clone().requires_grad_()
        given = tensor(values, requires_grad=True)
        function(x, mask.to(mask_dtype), given).backward()
        grads.append((x.grad.tolist(), given.grad.tolist()))
    assert grads[0] == grads[1]
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.breaks, stats.fallbacks) == (1, 0, 0)
