"""Samples of moments, norms, counts, histograms and covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sample import Arr, Bad, OpErrors, OpSamples, S


def _var(x: Any, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Any:
    return np.var(x, axis=dim, ddof=correction, keepdims=keepdim)


def _std(x: Any, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Any:
    return np.std(x, axis=dim, ddof=correction, keepdims=keepdim)


def _with_mean(moment: Any) -> Any:
    def reference(
        x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, correction: Any = 1
    ) -> Any:
        by = correction if unbiased else 0
        return moment(x, dim, by, keepdim), np.mean(x, axis=dim, keepdims=keepdim)

    return reference


_MOMENTS = (S(Arr((3, 4)), 1), S(Arr((2, 3, 4)), (0, 2), 0, True), S(Arr((3, 4)), None, 0.5))
_PAIRS = (S(Arr((3, 4))), S(Arr((3, 4)), 1, False), S(Arr((3, 4)), 0, correction=0))


def _segments(x: Any, reduce: str, lengths: Any, axis: int = 0, initial: Any = None) -> Any:
    """The segments of the last dim of `lengths` one after another."""
    if axis:
        rows = [_segments(r, reduce, n, axis - 1) for r, n in zip(x, lengths, strict=True)]
        return np.stack(rows)
    ends = np.cumsum(lengths)
    parts = [x[end - n : end] for n, end in zip(lengths, ends, strict=True)]
    by = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}[reduce]
    found = np.stack([by(part, axis=0) for part in parts])
    return found if initial is None else np.maximum(found, initial)


_TWOS = Arr((3,), 2, 3, "index", grad=False)


def _p_norm(x: Any, p: float = 2, dim: Any = None, keepdim: bool = False) -> Any:
    size = np.abs(x)
    if p == float("inf"):
        return np.max(size, axis=dim, keepdims=keepdim)
    if p == 0:
        return np.sum(size != 0, axis=dim, keepdims=keepdim)
    return np.sum(size**p, axis=dim, keepdims=keepdim) ** (1 / p)


_NORMS = (
    S(Arr((3, 4))),
    S(Arr((3, 4)), 1.0, 1),
    S(Arr((3, 4)), 3.0, (0, 1), True),
    S(Arr((3, 4)), float("inf"), 0),
    S(Arr((3, 4)), 1.5, 0),
    S(Arr((3, 4)), 0.5, 1),
    S(Arr((3, 4)), 0.0, 1),
)

def _numbers_of_segments(bounds: Any, size: int, whole: bool) -> Any:
    found = np.searchsorted(bounds, np.arange(size), "right") - 1
    return np.where(found < 0, len(bounds) - 1, found)


STATISTICS = (
    OpSamples(
        "segment_reduce",
        (
            S(Arr((6,)), "sum", lengths=_TWOS),
            S(Arr((6, 2)), "mean", lengths=_TWOS),
            S(Arr((6, 2)), "prod", lengths=_TWOS),
            S(Arr((6,)), "min", lengths=_TWOS),
            S(Arr((6, 2)), "max", lengths=_TWOS, initial=0.5),
            S(Arr((2, 6)), "max", lengths=Arr((2, 3), 2, 3, "index"), axis=1),
        ),
        _segments,
    ),
    OpSamples(
        "segment_numbers",
        (S(Arr((3,), 2, 3, "index"), 6, False), S(Arr((1,), 0, 1, "index"), 3, False)),
        _numbers_of_segments,
        grad=False,
        torch="",
    ),
    OpSamples("variance", _MOMENTS, _var, torch=""),
    OpSamples("deviation", _MOMENTS, _std, torch=""),
    OpSamples("var_mean", _PAIRS, _with_mean(_var)),
    OpSamples("std_mean", _PAIRS, _with_mean(_std)),
    OpSamples(
        "nansum", (S(Arr((3, 4))), S(Arr((3, 4)), 1, True)),
        lambda x, dim=None, keepdim=False: np.nansum(x, axis=dim, keepdims=keepdim),
    ),
    OpSamples(
        "nanmean", (S(Arr((3, 4))), S(Arr((3, 4)), 1, True)),
        lambda x, dim=None, keepdim=False: np.nanmean(x, axis=dim, keepdims=keepdim),
    ),
    OpSamples(
        "count_nonzero",
        (S(Arr((3, 4), 0, 2, "index")), S(Arr((3, 4), kind="bool"), 1)),
        lambda x, dim=None: np.count_nonzero(x, axis=dim),
        grad=False,
    ),
    OpSamples(
        "aminmax",
        (S(Arr((3, 4))), S(Arr((3, 4)), dim=1, keepdim=True)),
        lambda x, dim=None, keepdim=False: (
            np.min(x, axis=dim, keepdims=keepdim),
            np.max(x, axis=dim, keepdims=keepdim),
        ),
    ),
    OpSamples("trace", (S(Arr((3, 4))), S(Arr((2, 2)))), np.trace),
    OpSamples(
        "linalg_vector_norm", _NORMS, _p_norm, torch="",
    ),
    OpSamples("p_norm", (S(Arr((3, 4)), 2.0, (1,)),), _p_norm, torch=""),
    OpSamples(
        "linalg_matrix_norm",
        (
            S(Arr((3, 4))),
            S(Arr((2, 3, 4)), 1),
            S(Arr((3, 4)), float("-inf")),
            S(Arr((3, 4)), "nuc"),
            S(Arr((3, 4)), 2),
        ),
        lambda x, ord="fro": np.linalg.norm(x, ord, (-2, -1)),
        torch="",
    ),
    OpSamples(
        "linalg_norm",
        (S(Arr((3, 4))), S(Arr((3, 4)), 1), S(Arr((4,)), 3.0), S(Arr((2, 3)), None, 1)),
        np.linalg.norm,
        torch="",
    ),
    OpSamples(
        "dist",
        (S(Arr((3, 4)), Arr((3, 4))), S(Arr((3, 4)), Arr((4,)), 1)),
        lambda a, b, p=2: _p_norm(a - b, p),
    ),
    OpSamples("renorm", (S(Arr((3, 4)), 2, 0, 1.0), S(Arr((2, 3, 2)), 1, 2, 0.5)), None),
    OpSamples("histc", (S(Arr((9,)), 4, -1.0, 1.0), S(Arr((9,)), 3)), None, grad=False),
    OpSamples("histogram", (S(Arr((9,)), 4), S(Arr((9,)), 3, range=(-1.0, 1.0))), None,
              grad=False),
    OpSamples(
        "histogramdd",
        (S(Arr((9, 2)), (3, 4), range=(-2.0, 2.0, -1.0, 1.0)), S(Arr((6, 3)), 2)),
        None,
        grad=False,
    ),
    OpSamples(
        "histogram_edges", (S(Arr((9,)), 4, (0.0, 1.0)),),
        lambda x, bins, range: np.histogram_bin_edges(x, bins, range), grad=False, torch="",
    ),
    OpSamples(
        "histogram_counts", (S(Arr((1,)), Arr((1,)), None, False),),
        lambda x, edges, *unused: np.zeros(0), grad=False, torch="",
    ),
    OpSamples(
        "histogramdd_counts", (S(Arr((4, 2)), (Arr((1,)), Arr((1,))), None),),
        lambda x, edges, weight: np.zeros((0, 0)), grad=False, torch="",
    ),
    OpSamples(
        "bincount",
        (S(Arr((9,), 0, 5, "index")), S(Arr((9,), 0, 5, "index"), minlength=8)),
        lambda x, minlength=0: np.bincount(x, minlength=minlength),
        grad=False,
    ),
    OpSamples(
        "cov",
        (S(Arr((3, 5))), S(Arr((5,))), S(Arr((3, 5)), correction=0)),
        lambda x, correction=1: np.cov(x, ddof=correction),
    ),
    OpSamples("corrcoef", (S(Arr((3, 5))),), np.corrcoef, double_grad=False),
    OpErrors(
        "amax",
        (
            Bad(S(Arr((0,))), RuntimeError, "Specify the reduction dim", names_op=True),
            Bad(S(Arr((0, 3)), 0), IndexError, "non-zero size", names_op=True),
            Bad(S(Arr((3,)), (0, 0)), RuntimeError, "multiple times"),
            Bad(S(Arr((3,)), 1), IndexError, "Dimension out of range"),
        ),
    ),
    OpErrors(
        "max",
        (
            Bad(S(Arr((0,))), RuntimeError, "Specify the reduction dim", names_op=True),
            Bad(S(Arr((0, 3)), 0), IndexError, "non-zero size", names_op=True),
        ),
    ),
    OpErrors(
        "argmax",
        (
            Bad(S(Arr((0,))), IndexError, "", names_op=True),
            Bad(S(Arr((3,), kind="bool")), RuntimeError, "bool", names_op=True),
        ),
    ),
    OpErrors(
        "segment_reduce",
        (
            Bad(S(Arr((4,)), "sum"), RuntimeError, "lengths or offsets", names_op=True),
            Bad(S(Arr((4,)), "sum", lengths=_TWOS), RuntimeError, "sum to", names_op=True),
            Bad(S(Arr((6,)), "median", lengths=_TWOS), RuntimeError, "median", names_op=True),
            Bad(S(Arr((4,)), "sum", lengths=Arr((2,), 1, 3)), RuntimeError, "int32 or int64"),
            Bad(S(Arr((2, 6)), "sum", lengths=_TWOS, axis=1), RuntimeError, "dims of data"),
            Bad(
                S(Arr((6,), kind="int"), "sum", lengths=_TWOS), RuntimeError, "int", names_op=True
            ),
        ),
    ),
    OpErrors("mean", (Bad(S(Arr((3,), kind="int")), RuntimeError, "dtype", names_op=True),)),
    OpErrors("var", (Bad(S(Arr((3,), kind="int")), RuntimeError, "floating"),)),
    OpErrors("norm", (Bad(S(Arr((3,), kind="int")), RuntimeError, "floating"),)),
    OpErrors(
        "trace",
        (Bad(S(Arr((3,))), RuntimeError, "expected a matrix", names_op=True),),
    ),
    OpErrors(
        "bincount",
        (
            Bad(S(Arr((2, 2), 0, 3, "index")), RuntimeError, "1-d", names_op=True),
            Bad(S(Arr((3,))), RuntimeError, "integral", names_op=True),
        ),
    ),
    OpErrors("histc", (Bad(S(Arr((3,)), 0), RuntimeError, "bins", names_op=True),)),
    OpErrors("cov", (Bad(S(Arr((2, 2, 2))), RuntimeError, "two or fewer", names_op=True),)),
)
