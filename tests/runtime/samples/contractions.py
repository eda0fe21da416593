"""Samples of matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sample import Arr, OpSamples, S


def _addmm(x: Any, a: Any, b: Any, beta: float = 1, alpha: float = 1) -> Any:
    return beta * x + alpha * (a @ b)


CONTRACTIONS = (
    OpSamples(
        "mm",
        (S(Arr((3, 4)), Arr((4, 2))), S(Arr((0, 4)), Arr((4, 2))), S(Arr((3, 0)), Arr((0, 2)))),
        np.matmul,
        halves=True,
    ),
    OpSamples(
        "bmm",
        (S(Arr((2, 3, 4)), Arr((2, 4, 2))), S(Arr((2, 3, 0)), Arr((2, 0, 2)))),
        np.matmul,
    ),
    OpSamples(
        "broadcast_matmul",
        (S(Arr((2, 1, 3, 4)), Arr((3, 4, 2))), S(Arr((1, 2, 3)), Arr((2, 3, 1)))),
        np.matmul,
        strides=False,
        torch="",
    ),
    OpSamples(
        "matmul",
        (
            S(Arr((3, 4)), Arr((4, 2))),
            S(Arr((4,)), Arr((4,))),
            S(Arr((4,)), Arr((4, 2))),
            S(Arr((3, 4)), Arr((4,))),
            S(Arr((2, 3, 4)), Arr((4, 2))),
            S(Arr((2, 3, 4)), Arr((2, 4, 2))),
            S(Arr((2, 1, 3, 4)), Arr((3, 4, 2))),
            S(Arr((3, 4)), Arr((2, 4, 2))),
        ),
        np.matmul,
        strides=False,
    ),
    OpSamples("mv", (S(Arr((3, 4)), Arr((4,))),), np.matmul),
    OpSamples("dot", (S(Arr((4,)), Arr((4,))),), np.dot),
    OpSamples("outer", (S(Arr((3,)), Arr((4,))),), np.outer),
    OpSamples(
        "addmm",
        (
            S(Arr((3, 2)), Arr((3, 4)), Arr((4, 2))),
            S(Arr((2,)), Arr((3, 4)), Arr((4, 2)), beta=0.5, alpha=2.0),
        ),
        _addmm,
        strides=False,
    ),
)
