"""Samples of scans, orders and other composites."""

from __future__ import annotations

import numpy as np

from .sample import Arr, OpSamples, S

COMPOSITES = (
    OpSamples(
        "cumsum",
        (S(Arr((3, 4)), 1), S(Arr((3, 4)), 0), S(Arr(()), 0)),
        lambda x, dim: np.cumsum(x, dim) if x.ndim else x,
        strides=False,
    ),
    OpSamples(
        "argsort",
        (S(Arr((3, 4))), S(Arr((3, 4)), 0)),
        lambda x, dim=-1: np.argsort(x, dim),
        grad=False,
        strides=False,
    ),
    OpSamples(
        "sort",
        (S(Arr((3, 4))), S(Arr((3, 4)), 0, True)),
        None,
        strides=False,
    ),
    OpSamples("topk", (S(Arr((3, 5)), 2), S(Arr((3, 5)), 2, 0, False)), None, strides=False),
    OpSamples("tril", (S(Arr((3, 4))), S(Arr((2, 3, 3)), 1)), np.tril, strides=False),
    OpSamples("triu", (S(Arr((3, 4))), S(Arr((2, 3, 3)), -1)), np.triu, strides=False),
    OpSamples("allclose", (S(Arr((3,)), Arr((3,))),), lambda a, b: np.allclose(a, b), grad=False),
    OpSamples("equal", (S(Arr((3,)), Arr((3,))),), np.array_equal, grad=False),
    OpSamples(
        "one_hot",
        (S(Arr((2, 3), 0, 4, "index"), 4),),
        lambda x, n: np.eye(n, dtype=np.int64)[x],
        grad=False,
        torch="",
    ),
)
