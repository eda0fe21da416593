"""Writes to places that tensors name: in the argument's memory, and nothing beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..ir.lowering import captured, lower_graph
from .writes import LAYOUTS, WAYS, agree

Program = Callable[..., Any]


def a_row(x: Any, y: Any, i: Any, j: Any) -> None:
    x[i] = y[:3]


def a_column(x: Any, y: Any, i: Any, j: Any) -> None:
    x[:, i] = y[:, :3]


def elements(x: Any, y: Any, i: Any, j: Any) -> None:
    x[i, j] = y[0, :3]


def one_of_each(x: Any, y: Any, i: Any, j: Any) -> None:
    x[i[0]] = y[0]
    x[:, j[1]] = y[:, 1]
    x[j[0], i[2]] = 3


def numbers(x: Any, y: Any, i: Any, j: Any) -> None:
    x[i] = 1
    x.index_fill_(1, i + 1, 2)


def copied(x: Any, y: Any, i: Any, j: Any) -> Any:
    return x.index_copy_(0, i, y[:3] * 2).sum()


def added(x: Any, y: Any, i: Any, j: Any) -> Any:
    x.index_add_(0, i, y[1:4])
    x.index_put_((j, i), y[0, :3], accumulate=True)
    return x + 1


def scattered(x: Any, y: Any, i: Any, j: Any) -> None:
    index = (j[:, None] + i) % 5
    x.scatter_(0, index, y)
    x.scatter_(1, index, 4)
    x.scatter_add_(0, index, y)


def own_elements(x: Any, y: Any, i: Any, j: Any) -> None:
    x[i, j] = x[j, i] * 2
    x[i] = x[i - 1] + x[0]


def own_positions(x: Any, y: Any, i: Any, j: Any) -> None:
    """The places follow from what was written before."""
    x[i] = y[:3]
    x[(x[:, 0] > 0).long()[:2]] = y[:2]


def read_before_and_after(x: Any, y: Any, i: Any, j: Any) -> Any:
    before = x * 2
    x[i] = y[:3]
    between = (x + before).sum(1)
    x[:, j] += before[:, :3]
    return before, between, x.exp() @ y.t()


def beside_regions(x: Any, y: Any, i: Any, j: Any) -> Any:
    x[1:3] = y[1:3]
    x[i] = x[1:4] * 2
    x[::2].mul_(2)
    return x.sum()


def parts(x: Any, y: Any, i: Any, j: Any) -> None:
    x[1:][:, i] = y[1:, :3]
    x.t()[j] = y.t()[:3]


def loop(x: Any, y: Any, i: Any, j: Any) -> Any:
    h = y[0]
    for t in range(3):
        h = h * 0.5 + x[i[t]]
        x[i[t]] = h
    return h


def crosswise(x: Any, y: Any, i: Any, j: Any) -> None:
    x[i], y[i] = y[i], x[i]


def view_of_what_is_written(x: Any, y: Any, i: Any, j: Any) -> None:
    x[i] = x[:3]
    x.index_copy_(0, i, x[2:])


PROGRAMS: dict[str, Program] = {f.__name__: f for f in (
    a_row, a_column, elements, one_of_each, numbers, copied, added, scattered, own_elements,
    own_positions, read_before_and_after, beside_regions, parts, loop, crosswise,
    view_of_what_is_written)}

def arguments(make: Callable[[], Any], dtype: Any) -> list[Any]:
    values = [(make() * 3).to(dtype) if dtype is not gw.float32 else make(), gw.randn(5, 6)]
    return [values[0], values[1].to(dtype), gw.tensor([3, 1, 0]), gw.tensor([0, 2, 4])]


def compare(
    program: Program, backend: str, dynamic: bool | None, make: Any, dtype: Any = gw.float32
) -> None:
    agree(program, backend, dynamic, lambda: arguments(make, dtype))


@pytest.mark.parametrize(("backend", "dynamic", "layout"), WAYS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_eager(program: str, backend: str, dynamic: bool | None, layout: str) -> None:
    compare(PROGRAMS[program], backend, dynamic, LAYOUTS[layout])


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", [
    gw.float64, gw.float16, gw.bfloat16, gw.int64, gw.int32, gw.int8, gw.bool, gw.complex64])
def test_dtypes(dtype: Any, backend: str) -> None:
    def program(x: Any, y: Any, i: Any, j: Any) -> Any:
        x[i] = y[:3]
        x[j, i] = y[0, :3]
        x.index_add_(0, i, y[1:4])
        return x * 1
    compare(program, backend, None, LAYOUTS["contiguous"], dtype)


def test_repeated_places_are_written_in_order_and_added_up() -> None:
    def program(x: Any, y: Any, i: Any, j: Any) -> Any:
        again = gw.cat([i, i, j])
        x.index_add_(0, again, y.repeat(2, 1)[:9])
        x[again] = y.repeat(2, 1)[:9]
    compare(program, "llvm", None, LAYOUTS["contiguous"])


def test_gradients_of_what_is_written_to_a_value_with_a_history() -> None:
    def run(x: Any, y: Any, program: Program) -> Any:
        z = x * 1.5
        program(z, y * 2, gw.tensor([3, 1, 0]), gw.tensor([0, 2, 4]))
        return (z * z).sum()

    for program in (a_row, elements, copied, added, own_elements):
        gradients = []
        for function in (run, gw.compile(run)):
            gw.manual_seed(2)
            x, y = gw.randn(5, 6, requires_grad=True), gw.randn(5, 6, requires_grad=True)
            function(x, y, program).backward()
            gradients.append((x.grad, y.grad))
        for got, expected in zip(*gradients, strict=True):
            assert (got is None) == (expected is None)
            assert expected is None or gw.allclose(got, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("program", [
    lambda c, i, k: c.__setitem__((slice(None), slice(None), i[0]), k[:, :, 0]),
    lambda c, i, k: c.__setitem__((slice(None), slice(None), i), k),
    lambda c, i, k: c.index_copy_(2, i, k),
    lambda c, i, k: c.index_add_(2, i, k),
    lambda c, i, k: c.index_fill_(2, i, 1.5),
    lambda c, i, k: c.scatter_(2, i.view(1, 1, 1, 1).expand(1, 2, 1, 4), k),
])
def test_a_cache_is_written_where_it_is(program: Program) -> None:
    """By one op in place: no copy of the cache, nor a read of it."""
    def decode(cache: Any, i: Any, k: Any) -> Any:
        program(cache, i, k)
        return (cache * k).sum(-1)

    cache = [gw.ones(1, 2, 16, 4), gw.tensor([5]), gw.randn(1, 2, 1, 4)]
    lowered = lower_graph(*captured(decode, cache), needs_grad=[False] * 3)
    names = [node.target.name for node in lowered.forward.graph.nodes
             if node.op == "call_function"]
    assert not {"copy_", "clone", "index", "index_put", "scatter_src"} & set(names)
    assert len([name for name in names if name.endswith("_")]) == 1


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_places_out_of_range_write_nothing(backend: str) -> None:
    """All of them are looked at before the first is written."""
    @gw.compile(backend=backend)
    def step(cache: Any, rows: Any, places: Any, others: Any) -> Any:
        cache[1:3] = rows[1:3]
        cache[places] = rows[:2]
        cache.index_add_(1, others, rows[:, :2])
        return rows.sum()

    cache, rows = gw.zeros(5, 6), gw.ones(5, 6)
    fine = gw.tensor([0, 4])
    step(cache, rows, fine, fine)
    for places, others in ((gw.tensor([0, 9]), fine), (fine, gw.tensor([1, -9]))):
        cache.zero_()
        with pytest.raises(IndexError):
            step(cache, rows, places, others)
        eager = gw.zeros(5, 6)
        with pytest.raises(IndexError):
            eager[1:3] = rows[1:3]
            eager[places] = rows[:2]
            eager.index_add_(1, others, rows[:, :2])
        assert gw.equal(cache, eager)       # by the frame that runs again, once


def test_no_places() -> None:
    def program(x: Any, places: Any) -> Any:
        x[places] = 1.0
        x.index_add_(0, places, x[places])
        return x.sum()

    compiled = gw.compile(program, fullgraph=True)
    for places in (gw.tensor([], dtype=gw.int64), gw.tensor([1, 2]), gw.tensor([0])):
        assert compiled(gw.zeros(4, 3), places).item() == program(gw.zeros(4, 3), places).item()


def test_buffers_of_modules() -> None:
    class Cache(gw.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("keys", gw.zeros(1, 2, 8, 4))

        def forward(self, place: Any, k: Any) -> Any:
            self.keys.index_copy_(2, place, k)
            return (self.keys * k).sum(-1)

    eager, module = Cache(), Cache()
    compiled = gw.compile(module, fullgraph=True)
    for step in range(8):
        k, place = gw.randn(1, 2, 1, 4), gw.tensor([step])
        assert gw.allclose(compiled(place, k), eager(place, k), rtol=1e-5, atol=1e-6)
        assert gw.equal(module.keys, eager.keys)
    assert gw.compiler.stats(compiled).graphs == 1
