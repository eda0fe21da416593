"""Samples of reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sample import Arr, OpSamples, S


def _dims(call: Any) -> Any:
    """A NumPy reduction under the names dim and keepdim."""

    def reference(x: Any, dim: Any = None, keepdim: bool = False, **kwargs: Any) -> Any:
        axis = tuple(dim) if isinstance(dim, list | tuple) else dim
        if axis == () or x.ndim == 0:
            axis = None
        return call(x, axis=axis, keepdims=keepdim, **kwargs)

    return reference


def _reduction(name: str, call: Any, empty: bool = True, **options: Any) -> OpSamples:
    samples = [
        S(Arr((3, 4))),
        S(Arr((3, 4)), 1),
        S(Arr((2, 3, 4)), (0, -1)),
        S(Arr((2, 3, 4)), -2, True),
        S(Arr((2, 3, 4)), dim=[0, 1, 2], keepdim=True),
        S(Arr(())),
        S(Arr((5,)), 0),
    ]
    if empty:
        samples += [S(Arr((0, 3)), 0), S(Arr((0, 3)))]
    else:
        samples += [S(Arr((0, 3)), 1)]
    return OpSamples(name, tuple(samples), _dims(call), **options)


def _one_dim(name: str, call: Any) -> OpSamples:
    samples = (S(Arr((3, 4))), S(Arr((3, 4)), 1), S(Arr((2, 3, 4)), -2, True), S(Arr(())))
    return OpSamples(name, samples, _dims(call), grad=False)


def _var(x: Any, dim: Any = None, *, correction: float = 1, keepdim: bool = False) -> Any:
    return np.var(x, axis=dim, ddof=correction, keepdims=keepdim)


_MOMENTS = (
    S(Arr((3, 4))),
    S(Arr((3, 4)), 1),
    S(Arr((2, 3, 4)), (0, -1), keepdim=True),
    S(Arr((3, 4)), 0, correction=0),
)


def _logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
    return np.log(np.sum(np.exp(x), axis=dim, keepdims=keepdim))


def _norm(x: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False) -> Any:
    power = 2 if p == "fro" else p
    if power == float("inf"):
        return np.max(np.abs(x), axis=dim, keepdims=keepdim)
    return np.sum(np.abs(x) ** power, axis=dim, keepdims=keepdim) ** (1 / power)


REDUCTIONS = (
    _reduction("sum", np.sum, halves=True),
    _reduction("mean", np.mean, halves=True),
    OpSamples(
        "prod",
        (S(Arr((3, 4))), S(Arr((3, 4)), 1), S(Arr((2, 3)), 0, True), S(Arr((0, 3)), 0)),
        _dims(np.prod),
    ),
    _reduction("amax", np.max, empty=False, halves=True),
    _reduction("amin", np.min, empty=False, halves=True),
    _one_dim("argmax", np.argmax),
    _one_dim("argmin", np.argmin),
    OpSamples(
        "any",
        (
            S(Arr((3, 4), kind="bool")),
            S(Arr((3, 4), kind="bool"), 1),
            S(Arr((0, 3), kind="bool"), 0),
        ),
        _dims(np.any),
        grad=False,
    ),
    OpSamples(
        "all",
        (
            S(Arr((3, 4), kind="bool")),
            S(Arr((3, 4), kind="bool"), 1),
            S(Arr((0, 3), kind="bool"), 0),
        ),
        _dims(np.all),
        grad=False,
    ),
    OpSamples("var", _MOMENTS, _var),
    OpSamples("std", _MOMENTS, lambda *a, **k: np.sqrt(_var(*a, **k))),
    OpSamples("logsumexp", (S(Arr((3, 4)), 1), S(Arr((2, 3, 4)), (0, 2), True)), _logsumexp),
    OpSamples(
        "norm",
        (
            S(Arr((3, 4))),
            S(Arr((3, 4)), 1, 0),
            S(Arr((3, 4)), 3, 1, True),
            S(Arr((3, 4)), float("inf"), 1),
        ),
        _norm,
    ),
    OpSamples(
        "max",
        (S(Arr((3, 4))), S(Arr((3, 4)), 1), S(Arr((3, 4)), 0, True)),
        lambda x, dim=None, keepdim=False: (
            x.max()
            if dim is None
            else (x.max(dim, keepdims=keepdim), np.argmax(x, dim, keepdims=keepdim))
        ),
    ),
    OpSamples(
        "min",
        (S(Arr((3, 4))), S(Arr((3, 4)), 1), S(Arr((3, 4)), Arr((4,)))),
        lambda x, dim=None, keepdim=False: (
            x.min()
            if dim is None
            else np.minimum(x, dim)
            if isinstance(dim, np.ndarray)
            else (x.min(dim, keepdims=keepdim), np.argmin(x, dim, keepdims=keepdim))
        ),
    ),
    OpSamples(
        "sum_to_size",
        (
            S(Arr((2, 3, 4)), (3, 1)),
            S(Arr((3, 4)), (3, 4)),
            S(Arr((3, 4)), ()),
            S(Arr((2, 3)), (3,)),
        ),
        None,
        torch="sum_to_size",
    ),
)
