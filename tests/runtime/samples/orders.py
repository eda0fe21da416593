"""Samples of sorting, order statistics, searching and distinct values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sample import Arr, Bad, OpErrors, OpSamples, S

_ALONG = (S(Arr((3, 5))), S(Arr((3, 5)), 0), S(Arr((2, 3, 5)), 1, True))


def _kth(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    places = np.expand_dims(np.take(np.argsort(x, dim), k - 1, dim), dim)
    return _picked(x, places, dim, keepdim)


def _picked(x: Any, places: Any, dim: int, keepdim: bool) -> Any:
    values = np.take_along_axis(x, places, dim)
    return (values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim))


def _median(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    if dim is None:
        return np.sort(x, None)[(x.size - 1) // 2]
    return _kth(x, (x.shape[dim] + 1) // 2, dim, keepdim)


def _quantile(
    x: Any, q: Any, dim: Any = None, keepdim: bool = False, interpolation: str = "linear"
) -> Any:
    return np.quantile(x, q, dim, keepdims=keepdim, method=interpolation)


_QUANTILES = (
    S(Arr((3, 5)), 0.3),
    S(Arr((3, 5)), 0.5, 1),
    S(Arr((3, 5)), Arr((2,), 0.1, 0.9, grad=False), 0),
    S(Arr((3, 5)), Arr((3,), 0.1, 0.9, grad=False), 1, True),
    S(Arr((2, 3, 4)), 0.7, 1, interpolation="lower"),
    S(Arr((5,)), 0.4, 0, interpolation="midpoint"),
    S(Arr((3, 4)), 0.6, 0, True, interpolation="higher"),
)

ORDERS = (
    OpSamples("msort", (S(Arr((4, 3))), S(Arr((5,)))), lambda x: np.sort(x, 0), strides=False),
    OpSamples(
        "kthvalue", (S(Arr((3, 5)), 2), S(Arr((3, 5)), 3, 0, True)), _kth, strides=False
    ),
    OpSamples(
        "kth_position",
        (S(Arr((3, 5)), 2, 1),),
        lambda x, k, dim: _kth(x, k, dim, True)[1],
        grad=False,
        torch="",
    ),
    OpSamples(
        "topk_positions",
        (S(Arr((3, 5)), 2, 1, True), S(Arr((3, 80)), 3, 1, False)),
        lambda x, k, dim, largest: np.take(
            np.argsort(-x if largest else x, dim), range(k), dim
        ),
        grad=False,
        torch="",
    ),
    OpSamples("median", (S(Arr((3, 4))), *_ALONG[1:]), _median, strides=False),
    OpSamples("nanmedian", (S(Arr((3, 4))), *_ALONG[1:]), _median, strides=False),
    OpSamples(
        "median_value", (S(Arr((3, 4)), False),), lambda x, skip: _median(x), torch=""
    ),
    OpSamples(
        "median_position",
        (S(Arr((3, 4)), 1, True),),
        lambda x, dim, skip: _median(x, dim, True)[1],
        grad=False,
        torch="",
    ),
    OpSamples("mode", _ALONG, None, strides=False),
    OpSamples(
        "mode_position",
        (S(Arr((3, 4)), 1),),
        lambda x, dim: np.argmin(x, dim, keepdims=True),
        grad=False,
        torch="",
    ),
    OpSamples("quantile", _QUANTILES, _quantile, strides=False),
    OpSamples("nanquantile", _QUANTILES, _quantile, strides=False),
    OpSamples(
        "unique",
        (S(Arr((3, 4), 0, 5, "index")), S(Arr((3, 4)), True, True, True), S(Arr((4, 2)), dim=0)),
        None,
        grad=False,
        strides=False,
    ),
    OpSamples(
        "unique_consecutive",
        (S(Arr((9,), 0, 2, "index"), True, True), S(Arr((5, 1), 0, 2, "index"), dim=0)),
        None,
        grad=False,
        strides=False,
    ),
    OpSamples(
        "searchsorted",
        (S(Arr((1,), 0, 9, "index"), Arr((2, 3), 0, 9, "index"), right=True),),
        None,
        grad=False,
        strides=False,
        torch="",
    ),
    OpSamples(
        "search_positions",
        (S(Arr((1,)), Arr((4,)), False, False, None),),
        lambda s, v, *unused: np.searchsorted(s, v),
        grad=False,
        torch="",
    ),
    OpSamples(
        "bucketize",
        (S(Arr((3, 4)), Arr((1,))),),
        lambda x, bounds: np.searchsorted(bounds, x),
        grad=False,
        strides=False,
    ),
    OpSamples(
        "isin",
        (
            S(Arr((3, 4), 0, 9, "index"), Arr((3,), 0, 9, "index")),
            S(Arr((3, 4), 0, 9, "index"), 3, invert=True),
        ),
        np.isin,
        grad=False,
    ),
    OpSamples("argwhere", (S(Arr((3, 4), kind="bool")),), np.argwhere, grad=False),
    OpErrors(
        "topk",
        (
            Bad(S(Arr((3,)), 4), RuntimeError, "out of range"),
            Bad(S(Arr((3,)), 1, 2), IndexError, "Dimension out of range"),
        ),
    ),
    OpErrors(
        "kthvalue",
        (
            Bad(S(Arr((3,)), 4), RuntimeError, "out of range", names_op=True),
            Bad(S(Arr((0, 2)), 1, 0), IndexError, "non-zero size", names_op=True),
        ),
    ),
    OpErrors("median", (Bad(S(Arr((0, 2)), 0), IndexError, "non-zero size", names_op=True),)),
    OpErrors("mode", (Bad(S(Arr((0, 2)), 0), IndexError, "non-zero size", names_op=True),)),
    OpErrors(
        "quantile",
        (
            Bad(S(Arr((3,)), 1.5), RuntimeError, "range", names_op=True),
            Bad(S(Arr((3,), kind="int"), 0.5), RuntimeError, "float or double", names_op=True),
            Bad(S(Arr((0,)), 0.5), RuntimeError, "non-empty", names_op=True),
            Bad(
                S(Arr((3,)), 0.5, interpolation="cubic"), RuntimeError, "linear", names_op=True
            ),
        ),
    ),
    OpErrors(
        "searchsorted",
        (
            Bad(S(Arr(()), Arr((3,))), RuntimeError, "dimension", names_op=True),
            Bad(S(Arr((2, 3)), Arr((3, 2))), RuntimeError, "match", names_op=True),
            Bad(S(Arr((3,)), Arr((3,)), side="middle"), RuntimeError, "side", names_op=True),
        ),
    ),
)
