"""Strides that vary: parts of larger tensors, whose strides do not follow from their sizes.

A stride is fixed at first and symbolic once it has changed; how the dimensions lie in each other
(filled, with gaps, overlapping) is guarded.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import graphwright as gw

from ..captured import Captured

BACKENDS = ["eager", "llvm"]


def _columns(i: int, rows: int = 4) -> gw.Tensor:
    """12 columns of a tensor that has one more with each i."""
    return gw.randn(rows, 30 + i)[:, 5:17]


PROGRAMS: dict[str, Callable[[gw.Tensor], object]] = {
    "pointwise": lambda x: x * 2 + x.sum(0),
    "product": lambda x: x @ x.t(),
    "rows": lambda x: gw.softmax(x, -1),
    "views": lambda x: x[::2].flip(0).reshape(-1),
    "copies": lambda x: (x.contiguous(), x.clone(), x.t().clone()),
    "strides": lambda x: (x.stride(0) + 1, x * x.stride(0), x.is_contiguous()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_changed_stride_becomes_symbolic(name: str) -> None:
    captured = Captured(PROGRAMS[name])
    for i in range(5):
        assert captured.agrees(_columns(i))
    assert captured.graphs == 2
    assert captured.record.recompiles[0].reasons[0] == (
        "x.stride(): expected strides [30, 1], got (31, 1)"
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_sizes_and_strides_together(name: str) -> None:
    captured = Captured(PROGRAMS[name])
    for i in range(5):
        assert captured.agrees(_columns(i, rows=4 + i))
    assert captured.graphs == 2


def test_sizes_vary_and_strides_stay() -> None:
    """The filled part of a buffer, as in decoding with cached keys."""
    buffer = gw.randn(4, 64)
    captured = Captured(lambda x: gw.softmax(x, -1))
    for n in (10, 11, 12, 40, 63):
        assert captured.agrees(buffer[:, :n])
    assert captured.graphs == 2


def test_dynamic_from_the_start() -> None:
    captured = Captured(lambda x: x.sum(1), dynamic=True)
    for i in range(4):
        assert captured.agrees(_columns(i, rows=4 + i))
    assert captured.graphs == 1


def test_whether_there_are_gaps_is_guarded() -> None:
    """`contiguous` returns its argument where there are none."""
    def program(x: gw.Tensor) -> bool:
        return x.contiguous() is x

    captured = Captured(program)
    for wide in (14, 15, 12, 16):
        assert captured.agrees(gw.randn(4, wide)[:, :12])


def test_overlapping_rows_are_not_taken_for_apart() -> None:
    captured = Captured(lambda x: x.cumsum(0))
    for step in (9, 8, 7, 3, 2, 12):
        assert captured.agrees(gw.randn(200).as_strided((5, 8), (step, 1)))


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_write_to_repeated_elements_is_refused(backend: str, dynamic: bool | None) -> None:
    programs = [lambda x: x.add_(1), lambda x: x.clone().expand(3, *x.shape).mul_(2)]
    refused = "more than one element of the written-to tensor"
    for program, stride in zip(programs, (0, 1), strict=True):
        compiled = gw.compile(program, backend=backend, dynamic=dynamic)
        for size in (6, 7, 8):
            with pytest.raises(RuntimeError, match=refused):
                compiled(gw.zeros(9).as_strided((size,), (stride,)))
    for size in (6, 7, 8):
        filled = gw.compile(lambda x: x.fill_(3) * 2, backend=backend, dynamic=dynamic)
        assert filled(gw.zeros(1).expand(size)).tolist() == [6] * size


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_memory_between_is_left_alone(backend: str) -> None:
    compiled = gw.compile(lambda x: x.add_(1).sum(), backend=backend)
    for i in range(4):
        whole = gw.randn(4, 30 + i)
        expected = whole.clone()
        expected[:, 5:17] += 1
        compiled(whole[:, 5:17])
        gw.testing.assert_close(whole, expected)
    assert gw.compiler.stats(compiled).graphs == 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients(backend: str) -> None:
    def program(x: gw.Tensor) -> gw.Tensor:
        return gw.softmax(x, -1).pow(2).sum()

    compiled = gw.compile(program, backend=backend)
    for i in range(4):
        x = _columns(i).detach()
        first, second = x.clone().requires_grad_(), x.requires_grad_()
        program(first).backward()
        compiled(second).backward()
        gw.testing.assert_close(second.grad, first.grad)
    assert gw.compiler.stats(compiled).graphs == 2
