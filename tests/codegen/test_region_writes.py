"""Writes to parts of arguments: what is written, what is read before and after, and no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.capture.exc import GraphBreakError
from graphwright.codegen.scheduler.affine import apart
from graphwright.runtime.symbolic.expr import Sym

from .writes import LAYOUTS, WAYS, agree

Cases = dict[str, Callable[..., Any]]


def rows(x: Any, y: Any) -> None:
    x[::2] = y[::2]


def a_row(x: Any, y: Any) -> None:
    x[-2] = y[0]


def columns(x: Any, y: Any) -> None:
    x[:, ::2] = 0
    x[..., 1] = y[:, 0]


def a_box(x: Any, y: Any) -> None:
    x[1:-1, 2:4] = y[1:-1, :2]


def through_views(x: Any, y: Any) -> None:
    x.t()[1] = 2
    x.diagonal().copy_(y.diagonal())
    x.unsqueeze(0)[0, 1:3].squeeze(0).mul_(3)


def in_place(x: Any, y: Any) -> None:
    x[1:-1] += y[1:-1]
    x[2:] *= 2


def part_of_a_part(x: Any, y: Any) -> None:
    half = x[1:]
    half[1:] = y[2:]
    half[0, 1:].add_(1)


def overlapping(x: Any, y: Any) -> None:
    x[1:4] = y[1:4]
    x[2:5] = x[2:5] * 2 + y[:3]
    x[0] = 1


def moved(x: Any, y: Any) -> None:
    x[1:] = x[:-1].clone()
    x[:, 1:] = x.flip(1)[:, 1:] + 1


def of_other_rows(x: Any, y: Any) -> None:
    x[0] = x[1]
    x[::2] = x[1::2].sum(0)


def stencil(x: Any, y: Any) -> None:
    for _ in range(3):
        x[1:-1] = (x[:-2] + x[2:]) * 0.5


def nothing(x: Any, y: Any) -> None:
    x[3:3] = 1
    x[2:1] += y[2:1]


def read_after(x: Any, y: Any) -> Any:
    x[1] = y[0]
    return x.sum(), x @ y.t(), x[1] * 2


def read_before_and_after(x: Any, y: Any) -> Any:
    before = x * 2
    x[1:3] = y[1:3]
    between = (x + before).sum(1)
    x[2:4].mul_(before[2:4])
    return before, between, x.exp()


def both_at_once(x: Any, y: Any) -> Any:
    old = x.clone()
    x[1:] = y[1:]
    return old * x


def crosswise(x: Any, y: Any) -> None:
    old = x[1:3].clone()
    x[1:3] = y[1:3]
    y[1:3] = old


def recurrence(x: Any, y: Any) -> Any:
    h = y[0]
    for t in range(5):
        h = h * 0.5 + y[t]
        x[t] = h
    return h


def ring(x: Any, y: Any) -> Any:
    for t in range(7):
        x[t % 5] = x[(t - 1) % 5] * 0.5 + y[t % 5]
    return x[1:].sum()


def result_is_a_view(x: Any, y: Any) -> Any:
    x[1:3] = y[1:3]
    return x[2], x


def all_then_a_part(x: Any, y: Any) -> Any:
    x.mul_(2)
    x[1] = y[1]
    return x + 1


def own_memory(x: Any, y: Any) -> Any:
    out = gw.zeros(5, 6)
    h = y[0]
    for t in range(4):
        h = h + x[t]
        out[t] = h
    return out


def mixed_types(x: Any, y: Any) -> None:
    x[1] = 1
    x[2:4] = y[2:4] > 0
    x[4] = y[4].to(gw.float64)


def turned_twice(x: Any, y: Any) -> Any:
    for _ in range(2):
        x[1:].copy_(x[1:].flip(0))
        y.copy_(y.flip(1))
    return x.sum()


def crosswise_turned(x: Any, y: Any) -> None:
    old = x.flip(0)
    x[1:] = y.flip(0)[1:]
    y[1:] = old[1:]


def turned_before(x: Any, y: Any) -> Any:
    old = x.flip(1)
    x[1:].mul_(2)
    return old + x.sum()


PROGRAMS: Cases = {f.__name__: f for f in (
    rows, a_row, columns, a_box, through_views, in_place, part_of_a_part, overlapping, moved,
    of_other_rows, stencil, nothing, read_after, read_before_and_after, both_at_once, crosswise,
    recurrence, ring, result_is_a_view, all_then_a_part, own_memory, mixed_types,
    turned_twice, crosswise_turned, turned_before)}

def compare(program: Callable[..., Any], backend: str, dynamic: bool | None, make: Any) -> None:
    agree(program, backend, dynamic, lambda: [make(), gw.randn(5, 6)])


@pytest.mark.parametrize(("backend", "dynamic", "layout"), WAYS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_eager(program: str, backend: str, dynamic: bool | None, layout: str) -> None:
    compare(PROGRAMS[program], backend, dynamic, LAYOUTS[layout])


@pytest.mark.parametrize("dtype", [gw.float64, gw.bfloat16, gw.int64, gw.int8, gw.bool])
def test_dtypes(dtype: Any) -> None:
    def program(x: Any, y: Any) -> Any:
        x[1] = y[0]
        x[2:, ::2] = y[2:, ::2]
        return x.sum()

    def make() -> Any:
        return (gw.randn(5, 6) * 3).to(dtype)
    compare(program, "llvm", None, make)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p != "mixed_types"])
def test_gradients(program: str) -> None:
    """Of what is written to a value with a history."""
    def run(x: Any, y: Any) -> Any:
        z = x * 1.5
        result = PROGRAMS[program](z, y * 2)
        given = result if isinstance(result, tuple) else () if result is None else (result,)
        return (z * z).sum() + sum((r * r).sum() for r in given)

    gradients = []
    for function in (run, gw.compile(run)):
        gw.manual_seed(2)
        x, y = gw.randn(5, 6, requires_grad=True), gw.randn(5, 6, requires_grad=True)
        function(x, y).backward()
        gradients.append((x.grad, y.grad))
    for got, expected in zip(*gradients, strict=True):
        assert (got is None) == (expected is None)
        assert expected is None or gw.allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_a_buffer_beside_gradients() -> None:
    """It is written in place, though the graph has a backward."""
    def run(buffer: Any, x: Any) -> Any:
        y = (x + buffer).exp().sum()
        with gw.no_grad():
            buffer[1:3] = x[:2] * 2
        return y + (buffer.sum() * x).sum()

    results = []
    for function in (run, gw.compile(run, fullgraph=True)):
        gw.manual_seed(3)
        buffer, x = gw.randn(5, 6), gw.randn(5, 6, requires_grad=True)
        function(buffer, x).backward()
        results.append((buffer, x.grad))
    for got, expected in zip(*results, strict=True):
        assert gw.allclose(got, expected, rtol=1e-4)


def test_what_was_written_without_gradients_has_none() -> None:
    def run(buffer: Any, x: Any) -> Any:
        h = x * 2
        with gw.no_grad():
            buffer[1] = h[0]
        return (buffer[1] * x[0]).sum()

    results = []
    for function in (run, gw.compile(run)):
        gw.manual_seed(3)
        buffer, x = gw.zeros(5, 6), gw.randn(5, 6, requires_grad=True)
        function(buffer, x).backward()
        results.append(x.grad)
    assert gw.allclose(*results)


def test_a_call_that_fails_has_written_nothing() -> None:
    @gw.compile
    def step(cache: Any, rows: Any, place: Any) -> Any:
        cache[1:3] = rows[1:3]
        return rows.index_select(0, place) + cache.sum()

    cache, rows_ = gw.zeros(5, 6), gw.ones(5, 6)
    step(cache, rows_, gw.tensor([0, 4]))
    cache.zero_()
    with pytest.raises(IndexError):
        step(cache, rows_, gw.tensor([0, 9]))
    eager = gw.zeros(5, 6)
    eager[1:3] = 1
    assert gw.equal(cache, eager)       # by the frame that runs again, once


def test_a_row_that_lies_in_all_rows() -> None:
    """The memory of an expanded argument shows it everywhere."""
    def write(x: Any) -> Any:
        x[0] = 1.0
        return x.sum()

    compiled = gw.compile(write)
    assert compiled(gw.zeros(4).expand(3, 4)).item() == 12
    assert compiled(gw.zeros(()).expand(4)).item() == write(gw.zeros(()).expand(4)).item()


def test_indices_that_never_meet() -> None:
    i, j = Sym("i0", 0, 9), Sym("i1", 0, Sym("s0", 2) - 1)
    assert apart((i * 2,), (i * 2 + 1,), [i], ())
    assert apart((i,), (i + 10,), [i], ())
    assert not apart((i,), (i + 9,), [i], ())
    assert apart((j,), (j + Sym("s0", 2),), [j], ())
    assert not apart((Sym("t1"),), (Sym("t1") + 1,), [i], {"t1"})


def part_of_windows(x: Any, y: Any) -> None:
    windows = x.as_strided((2, 2), (1, 1))
    windows[0] = 3


def one_window_of_several(x: Any, y: Any) -> None:
    windows = x.reshape(-1).unfold(0, 3, 1)
    windows[1].mul_(2)


def repeated_row(x: Any, y: Any) -> Any:
    rows = x[0].expand(3, 6)
    rows[1].add_(1)
    return rows * 2


def windows_of_a_result(x: Any, y: Any) -> Any:
    result = x * 2
    windows = result.flatten().as_strided((2, 2), (1, 1))
    windows[0] = 3
    return result, windows + 1


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize(
    "program", [part_of_windows, one_window_of_several, repeated_row, windows_of_a_result])
def test_parts_of_views_that_show_places_more_than_once(
    program: Callable[..., Any], dynamic: bool | None
) -> None:
    """The other places that show what was written show it too.

    Windows over gaps show memory that is none of the argument's: the graph ends before them.
    """
    for layout, make in LAYOUTS.items():
        whole = program is not part_of_windows or layout != "strided"
        agree(program, "llvm", dynamic, lambda make=make: [make(), gw.randn(5, 6)], whole)
    if program is part_of_windows:
        with pytest.raises(GraphBreakError, match="its own sizes and strides"):
            gw.compile(program, fullgraph=True, dynamic=dynamic)(LAYOUTS["strided"](), None)
