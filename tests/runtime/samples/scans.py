"""Samples of scans, differences and integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sample import Arr, Bad, OpErrors, OpSamples, S

_ALONG = (S(Arr((3, 4)), 1), S(Arr((3, 4)), 0), S(Arr((2, 3, 2)), -2), S(Arr(()), 0))


def _scan(ufunc: Any) -> Any:
    return lambda x, dim: ufunc.accumulate(x, dim) if x.ndim else x


def _running(ufunc: Any) -> Any:
    def reference(x: Any, dim: int) -> Any:
        if not x.ndim:
            return x, np.zeros((), np.int64)
        values = ufunc.accumulate(x, dim)
        steps = np.expand_dims(np.arange(x.shape[dim]), tuple(range(1, x.ndim - dim % x.ndim)))
        return values, np.maximum.accumulate(np.where(values == x, steps, 0), dim)

    return reference


def _diff(x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    extra = {"prepend": prepend, "append": append}
    return np.diff(x, n, dim, **{k: v for k, v in extra.items() if v is not None})


SCANS = (
    OpSamples("cumprod", _ALONG, _scan(np.multiply), strides=False, halves=True),
    OpSamples("logcumsumexp", _ALONG, _scan(np.logaddexp), strides=False),
    OpSamples("cummax", _ALONG, _running(np.maximum), strides=False),
    OpSamples("cummin", _ALONG, _running(np.minimum), strides=False),
    OpSamples("running_max", _ALONG, _running(np.maximum), strides=False, torch=""),
    OpSamples("running_min", _ALONG, _running(np.minimum), strides=False, torch=""),
    OpSamples(
        "diff",
        (
            S(Arr((3, 4))),
            S(Arr((3, 4)), 2, 0),
            S(Arr((3, 4)), 1, 1, Arr((3, 2)), Arr((3, 1))),
            S(Arr((3, 4)), 0, 1, Arr((3, 2), grad=False)),
        ),
        _diff,
        strides=False,
    ),
    OpSamples(
        "gradient",
        (
            S(Arr((4, 5))),
            S(Arr((4, 5)), dim=1, edge_order=2),
            S(Arr((5, 3)), spacing=2.0, dim=0),
        ),
        None,
        strides=False,
    ),
    OpSamples(
        "trapezoid",
        (
            S(Arr((3, 4))),
            S(Arr((3, 4)), dx=0.5, dim=0),
            S(Arr((3, 4)), Arr((4,))),
            S(Arr((3, 4)), Arr((3, 4)), dim=0),
        ),
        lambda y, x=None, dx=1.0, dim=-1: np.trapezoid(y, x, dx, dim),
        strides=False,
    ),
    OpSamples(
        "cumulative_trapezoid",
        (S(Arr((3, 4))), S(Arr((3, 4)), dx=0.5, dim=0), S(Arr((3, 4)), Arr((4,)))),
        None,
        strides=False,
    ),
    OpErrors(
        "cumsum",
        (
            Bad(S(Arr((3,)), 1), IndexError, "Dimension out of range"),
            Bad(S(Arr((3,)), "a"), TypeError),
        ),
    ),
    OpErrors(
        "diff",
        (
            Bad(S(Arr(())), RuntimeError, "at least one-dimensional"),
            Bad(S(Arr((3,)), -1), RuntimeError, "non-negative"),
            Bad(S(Arr((3, 2)), 1, 0, Arr((2, 3))), RuntimeError, "prepend or append"),
        ),
    ),
    OpErrors("logcumsumexp", (Bad(S(Arr((3,), kind="int"), 0), RuntimeError, "int64"),)),
)
