"""Samples of matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.tensor import dtypes

from .sample import Arr, Bad, OpErrors, OpSamples, S


def _addmm(x: Any, a: Any, b: Any, beta: float = 1, alpha: float = 1) -> Any:
    return beta * x + alpha * (a @ b)


def _grouped(a: Any, b: Any, offs: Any) -> Any:
    """Rows in no group are 0."""
    if offs is None:
        return a @ b
    shape = (a.shape[-2], b.shape[-1])
    out = np.zeros((len(offs), *shape) if a.ndim == b.ndim else shape)
    start = 0
    for group, end in enumerate(offs):
        if a.ndim == b.ndim:
            out[group] = a[:, start:end] @ b[start:end]
        elif b.ndim == 3:
            out[start:end] = a[start:end] @ b[group]
        else:
            out[:, start:end] = a[group] @ b[:, start:end]
        start = end
    return out


_ENDS = Arr((2,), 3, 4, "pivots")
_ROWS, _MATRICES = Arr((8, 16)), Arr((2, 16, 24))

CONTRACTIONS: tuple[OpSamples | OpErrors, ...] = (
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
    OpSamples(
        "grouped_product",
        (
            S(Arr((5, 3)), Arr((2, 3, 4)), _ENDS),
            S(Arr((2, 3, 4)), Arr((4, 5)), _ENDS),
            S(Arr((2, 5)), Arr((5, 3)), _ENDS),
            S(Arr((0, 3)), Arr((1, 3, 4)), Arr((1,), 0, 1, "pivots")),
            S(Arr((2, 5, 3)), Arr((2, 3, 4)), None),
        ),
        _grouped,
        torch="",
    ),
    OpErrors(
        "grouped_mm",
        (
            Bad((_ROWS, _MATRICES), RuntimeError, "Have to provide offsets", True),
            Bad((_ROWS, Arr((16, 24))), RuntimeError, "Have to provide offsets", True),
            Bad(
                S(Arr((2, 8, 16)), _MATRICES, offs=_ENDS), RuntimeError, "no offset if both", True
            ),
            Bad(S(_ROWS, _MATRICES, offs=Arr((2,), 3, 4, "index")), RuntimeError, "int32", True),
            Bad(S(_ROWS, _MATRICES, offs=Arr((2, 1), 3, 4, "pivots")), RuntimeError, "1D", True),
            Bad(S(_ROWS, _MATRICES, offs=Arr((3,), 3, 4, "pivots")), RuntimeError, "match", True),
            Bad(
                S(Arr((2, 8, 16)), Arr((16, 24)), offs=Arr((3,), 3, 4, "pivots")),
                RuntimeError,
                "match",
                True,
            ),
            Bad(S(_ROWS, Arr((2, 20, 24)), offs=_ENDS), RuntimeError, "contraction dim", True),
            Bad((Arr((3, 8, 16)), _MATRICES), RuntimeError, "batched dimension", True),
            Bad(S(Arr((16,)), _MATRICES, offs=_ENDS), RuntimeError, "mat_a has to be 2", True),
            Bad(S(_ROWS, Arr((1, 2, 16, 24)), offs=_ENDS), RuntimeError, "mat_b has to be", True),
            Bad(S(Arr((8, 16), kind="int"), _MATRICES, offs=_ENDS), RuntimeError, "mat_a", True),
            Bad(S(_ROWS, _MATRICES, offs=_ENDS, bias=Arr((24,))), RuntimeError, "Bias", True),
            Bad(S(_ROWS, _MATRICES, offs=_ENDS, out_dtype=dtypes.float16), RuntimeError, "", True),
            Bad(S(_ROWS, _MATRICES, offs=[3, 3]), TypeError, "offs"),
        ),
    ),
)
