"""Writes to parts of arguments: compiled against eager execution, large parts and one small row.

Both write the same arguments anew in each call. The memory that they leave is compared first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphwright as gw
from benchmarks.result import Result, Wrong
from graphwright.report.measure import in_turns

SIDE = 2048
LARGE, SMALL = 1.2, 1.0
"""What compiled code may take, in eager execution's time."""

Program = Callable[..., Any]


def _rows(x: Any, y: Any) -> None:
    x[::2] = y[::2]


def _columns(x: Any, y: Any) -> None:
    x[:, ::2] = 0


def _row(x: Any, y: Any) -> None:
    x[3] = y[3]


def _inner(x: Any, y: Any) -> None:
    x[1:-1] += y[1:-1]


def _stencil(x: Any, y: Any) -> None:
    x[1:-1] = (x[:-2] + x[2:]) * 0.5


def _steps(x: Any, y: Any) -> None:
    h = y[0]
    for t in range(16):
        h = h * 0.5 + y[t]
        x[t] = h


def _cache(x: Any, y: Any) -> None:
    x[:, :, 5:6] = y


def _cache_then_sum(x: Any, y: Any) -> Any:
    x[:, :, 5:6] = y
    return x.sum(-1)


def _masked(x: Any, y: Any) -> None:
    x[y > 0] = y.sum()


def _cache_at_a_place(x: Any, y: Any) -> None:
    x[:, :, _PLACE[0]] = y[:, :, 0]


def _cache_copied(x: Any, y: Any) -> None:
    x.index_copy_(2, _PLACE, y)


def _cache_copied_then_sum(x: Any, y: Any) -> Any:
    x.index_copy_(2, _PLACE, y)
    return x.sum(-1)


def _cache_added(x: Any, y: Any) -> None:
    x.index_add_(2, _PLACE, y)


def _elements(x: Any, y: Any) -> None:
    x[_ROWS, _COLUMNS] = y


def _scattered(x: Any, y: Any) -> None:
    x.scatter_(0, _ROWS[None].expand(8, 64), y)


_PLACE = gw.tensor([5])
_ROWS, _COLUMNS = gw.arange(64), gw.arange(64).flip(0)
TABLE = ((SIDE, SIDE), (SIDE, SIDE))
ROW = ((1, 8, 128, 64), (1, 8, 1, 64))
LONG = ((1, 8, 1024, 64), (1, 8, 1, 64))
CASES: list[tuple[str, Program, tuple[tuple[int, ...], ...], float]] = [
    ("x[::2] = y", _rows, TABLE, LARGE),
    ("x[:, ::2] = 0", _columns, TABLE, LARGE),
    ("x[i] = y", _row, TABLE, LARGE),
    ("x[1:-1] += y", _inner, TABLE, LARGE),
    ("x[1:-1] = (x[:-2] + x[2:]) / 2", _stencil, TABLE, LARGE),
    ("x[t] = h in a loop of 16", _steps, TABLE, LARGE),
    ("cache[:, :, i:i+1] = k", _cache, ((8, 16, 1024, 64), (8, 16, 1, 64)), LARGE),
    ("cache[:, :, i:i+1] = k of 8x64", _cache, ROW, SMALL),
    ("the same, then all of it is read", _cache_then_sum, ROW, SMALL),
    ("cache[:, :, pos] = k of 8x64", _cache_at_a_place, LONG, SMALL),
    ("cache.index_copy_(2, pos, k)", _cache_copied, LONG, SMALL),
    ("cache.index_copy_(2, pos, k), then all of it is read", _cache_copied_then_sum, ROW, SMALL),
    ("cache.index_add_(2, pos, k)", _cache_added, LONG, SMALL),
    ("x[i, j] = y of 64 elements", _elements, ((SIDE, SIDE), (64,)), SMALL),
    ("x.scatter_(0, i, y) of 8x64", _scattered, ((SIDE, SIDE), (8, 64)), SMALL),
    ("x[mask] = y of 64 elements", _masked, ((64,), (64,)), SMALL),
]


def _measured(
    name: str, program: Program, shapes: tuple[tuple[int, ...], ...], target: float
) -> Result:
    given = [gw.randn(*shape) for shape in shapes]
    own = [x.clone() for x in given]
    compiled = gw.compile(program, fullgraph=True)
    program(*given)
    compiled(*own)
    if not all(gw.allclose(x, y, rtol=1e-5) for x, y in zip(own, given, strict=True)):
        raise Wrong(f"{name}: compiled code leaves other values than eager execution")
    cases = {"eager": lambda: program(*given), "compiled": lambda: compiled(*own)}
    timings = in_turns(cases, seconds=1.0)
    ratio = timings["compiled"].median / timings["eager"].median
    return Result("writes", name, "x eager", target, ratio, spread=timings["compiled"].spread)


def run() -> list[Result]:
    """All cases."""
    gw.manual_seed(0)
    return [_measured(*case) for case in CASES]
