"""Tensors print as PyTorch prints them, under every print option."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw


@pytest.fixture(autouse=True)
def usual_options() -> Iterator[None]:
    yield
    gw.set_printoptions(profile="default")


def arrays() -> Iterator[np.ndarray[Any, Any]]:
    random = np.random.default_rng(0)
    for shape in ((), (0,), (0, 3), (1,), (7,), (15,), (3, 1, 2), (1001,), (40, 30), (2, 2, 260)):
        yield np.asarray(random.normal(size=shape), np.float32)
        yield np.asarray(random.normal(size=shape) + 1j * random.normal(size=shape))
        yield np.asarray(random.integers(-50, 1000, shape))
        yield np.asarray(random.random(shape) > 0.5)
    inf, nan = np.inf, np.nan
    for row in ([nan, 1, 2], [inf, -inf, 1.5], [nan, nan], [1e10, 1.0], [1e-3, 1e3], [1e-5, 1.0],
                [1.0, 1001.0], [1e8], [1e9], [0.0, -0.0], [1.5e-4, 2.0], 1e-7, nan, [1j, -1e-9j],
                [complex(nan, -1), complex(inf, 2)], [1 - 2j, complex(1, -0.0)]):  # fmt: skip
        yield np.array(row)


OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"precision": 0}, {"precision": 8}, {"sci_mode": True}, {"sci_mode": False},
    {"linewidth": 40}, {"linewidth": 1}, {"edgeitems": 0}, {"threshold": 2, "edgeitems": 1},
    {"profile": "short"}, {"profile": "full", "linewidth": 120}, {"threshold": 0},
)  # fmt: skip


def plain(text: str) -> str:
    """Without the library's name, whose length decides where a dtype stands."""
    text = re.sub(r",\s+(dtype|requires_grad|grad_fn|size)=", r", \1=", text)
    return re.sub(r"\b(torch|graphwright)\.", "", text)


@pytest.mark.oracle
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_text_is_that_of_the_oracle(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    try:
        for lib in (torch, gw):
            lib.set_printoptions(**options)
        for array in arrays():
            theirs, ours = torch.from_numpy(array), gw.from_numpy(array)
            assert plain(repr(ours)) == plain(repr(theirs))
            if array.dtype == np.float32:
                for change in (lambda x: x.bfloat16(), lambda x: x.half() * 1,
                               lambda x: x.requires_grad_(), lambda x: x * 1):  # fmt: skip
                    assert plain(repr(change(ours))) == plain(repr(change(theirs)))
    finally:
        torch.set_printoptions(profile="default")


def test_suffixes_that_do_not_fit_get_a_line_of_their_own() -> None:
    x = gw.arange(12, dtype=gw.float64, requires_grad=True)
    assert repr(x) == (
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11.],\n"
        "       dtype=graphwright.float64, requires_grad=True)"
    )


def test_a_summary_shows_the_edges() -> None:
    gw.set_printoptions(threshold=5, edgeitems=1)
    assert repr(gw.arange(9).view(3, 3)) == (
        "tensor([[0,  ..., 2],\n        ...,\n        [6,  ..., 8]])"
    )


def test_the_scientific_mode_that_is_set_decides_the_width() -> None:
    gw.set_printoptions(sci_mode=True, precision=1)
    assert repr(gw.tensor([1.5, -0.25])) == "tensor([ 1.5e+00, -2.5e-01])"


LAST_WORDS = """
import graphwright as gw

class Last:
    def __init__(self, *held):
        self.held = held

    def __del__(self):
        print(*self.held)

last = Last(
    gw.tensor([1.0, 2e9, float("nan")]), gw.tensor([1, 2]), gw.tensor([True]), gw.tensor([1 + 2j]),
    gw.ones(2000), gw.ones(2, dtype=gw.bfloat16), gw.nn.Parameter(gw.ones(2)),
)
"""


def test_tensors_print_while_the_interpreter_ends() -> None:
    """Nothing can be imported any more, by NumPy's own functions either."""
    now, at_exit = (
        subprocess.run(
            [sys.executable, "-c", LAST_WORDS + how], check=True, text=True, capture_output=True
        )
        for how in ("del last", "")
    )
    assert at_exit.stderr == "" and at_exit.stdout == now.stdout != ""
