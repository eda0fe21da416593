"""`view(dtype)`: the same memory read as another dtype, in one graph."""

from __future__ import annotations

import math
from typing import Any

import pytest

import graphwright as gw
from graphwright.testing import assert_close

from ..captured import Captured
from ..pictures import picture


def bits(x: Any) -> Any:
    return x.view(gw.int32), (x + 0.5).view(gw.int32) >> 23, x.view(gw.int32) & 0x7FFFFFFF


def there_and_back(x: Any) -> Any:
    """Newton's step for the inverse of the root, from a guess by the exponent's bits."""
    y = (0x5F3759DF - (x.view(gw.int32) >> 1)).view(gw.float32)
    return y * (1.5 - 0.5 * x * y * y)


def written(x: Any) -> Any:
    x.view(gw.int32).bitwise_and_(0x7FFFFFFF)
    return x + 1


def written_by_both_names(x: Any) -> Any:
    shown = x.view(gw.int32)
    x.mul_(2)
    y = x * 1
    inner = y.view(gw.int32)
    inner[0] = 0
    return shown, shown + 1, y, inner


def smaller_items(x: Any) -> Any:
    return x.view(gw.uint8), x.view(gw.int16)[:, ::2], x.half().view(gw.int8)


def laid_out_otherwise(x: Any) -> Any:
    return x.t().view(gw.int32) + 1, x[1:, ::2].view(gw.int32), x.half().view(gw.bfloat16)


PROGRAMS = [bits, there_and_back, written, written_by_both_names, smaller_items,
            laid_out_otherwise]  # fmt: skip


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_one_graph_reads_other_bytes(program: Any, backend: str) -> None:
    compiled = gw.compile(program, backend=backend, fullgraph=True)
    for step in range(3):
        plain, ours = (gw.arange(8.0).reshape(2, 4) - 3 + step for _ in range(2))
        expected = program(plain)
        found = compiled(ours)
        assert picture(found) == picture(expected)
        assert picture(ours) == picture(plain)


@pytest.mark.parametrize("backend", ["eager", "llvm"])
def test_bits_of_special_numbers(backend: str) -> None:
    x = gw.tensor([math.nan, -0.0, math.inf, 1e-42, -math.inf])
    compiled = gw.compile(lambda x: x.view(gw.int32), backend=backend, fullgraph=True)
    assert compiled(x).tolist() == [0x7FC00000, -0x80000000, 0x7F800000, 714, -0x800000]


def test_no_gradient_goes_through_bits() -> None:
    def signed(x: Any) -> Any:
        sign = 1 + 2 * (x.view(gw.int32) >> 31)
        (x * sign).sum().backward()
        return x.view(gw.int32).requires_grad, x.grad

    compiled = gw.compile(signed, fullgraph=True)
    plain, ours = (gw.tensor([1.0, -2.0, 3.0], requires_grad=True) for _ in range(2))
    assert_close(compiled(ours)[1], signed(plain)[1])


def test_larger_items_depend_on_where_the_tensor_begins() -> None:
    def doubled(x: Any) -> Any:
        return x.view(gw.int64) + 1

    captured = Captured(doubled)
    whole = gw.arange(10, dtype=gw.int32)
    for begin in (0, 2):
        assert captured.agrees(whole[begin:])
    with pytest.raises(RuntimeError, match="offset must be divisible"):
        captured(whole[1:9])
    assert set(captured.breaks) == {"GB0002"}
    assert "where in its memory" in captured.record.breaks[0].detail
