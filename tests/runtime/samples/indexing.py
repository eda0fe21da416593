"""Samples of ops that pick, scatter and join."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sample import Arr, OpSamples, S


def _index(shape: tuple[int, ...], size: int) -> Arr:
    return Arr(shape, 0, size, "index")


class _Distinct(Arr):
    """Positions of which none repeats along the last dim."""

    def values(self, salt: str) -> np.ndarray[Any, Any]:
        row = np.random.default_rng(3).permutation(int(self.high))[: self.shape[-1]]
        return np.broadcast_to(row, self.shape).copy()


def _distinct(shape: tuple[int, ...]) -> Arr:
    return _Distinct(shape, 0, 4, "index")


def _index_add(x: Any, dim: int, index: Any, source: Any, alpha: float = 1) -> Any:
    out = np.moveaxis(x.copy(), dim, 0)
    np.add.at(out, index, alpha * np.moveaxis(source, dim, 0))
    return np.moveaxis(out, 0, dim)


def _pad(x: Any, pad: tuple[int, ...], value: float = 0) -> Any:
    out = x
    for i in range(len(pad) // 2):
        axis, (before, after) = x.ndim - 1 - i, pad[2 * i : 2 * i + 2]
        size = out.shape[axis]
        out = np.take(out, np.arange(max(-before, 0), size - max(-after, 0)), axis)
        widths = [(0, 0)] * x.ndim
        widths[axis] = (max(before, 0), max(after, 0))
        out = np.pad(out, widths, constant_values=value)
    return out


INDEXING = (
    OpSamples(
        "cat",
        (
            S((Arr((2, 3)), Arr((4, 3))), 0),
            S((Arr((2, 3)), Arr((2, 1)), Arr((2, 0))), -1),
            S((Arr((2, 3)), Arr((0,))), 0),
        ),
        None,
    ),
    OpSamples("stack", (S((Arr((2, 3)), Arr((2, 3))), 1), S((Arr(()), Arr(())))), np.stack),
    OpSamples(
        "index_select",
        (S(Arr((3, 4)), 0, _index((5,), 3)), S(Arr((2, 3, 4)), -1, _index((2,), 4))),
        lambda x, dim, index: np.take(x, index, dim),
    ),
    OpSamples(
        "index_add",
        (
            S(Arr((3, 4)), 0, _index((5,), 3), Arr((5, 4))),
            S(Arr((3, 4)), 1, _index((2,), 4), Arr((3, 2)), alpha=0.5),
        ),
        _index_add,
    ),
    OpSamples(
        "gather",
        (S(Arr((3, 4)), 1, _index((3, 2), 4)), S(Arr((3, 4)), 0, _index((5, 4), 3))),
        lambda x, dim, index: np.take_along_axis(x, index, dim),
        strides=False,
    ),
    OpSamples(
        "scatter_add",
        (
            S(Arr((3, 4)), 1, _index((3, 6), 4), Arr((3, 6))),
            S(Arr((3, 4)), 0, _index((2, 3), 3), Arr((2, 4))),
        ),
        None,
    ),
    OpSamples(
        "scatter",
        (
            S(Arr((3, 4)), 1, _index((3, 1), 4), Arr((3, 1))),
            S(Arr((3, 4)), 0, _index((1, 4), 3), 0.5),
        ),
        None,
    ),
    OpSamples(
        "constant_pad",
        (
            S(Arr((3, 4)), (1, 2)),
            S(Arr((3, 4)), (1, -1, 0, 2), 0.5),
            S(Arr((2, 2, 2)), (0, 0, 1, 1)),
        ),
        _pad,
        torch="",
    ),
    OpSamples(
        "index",
        (
            S(Arr((3, 4)), (_index((5,), 3),)),
            S(Arr((3, 4)), (_index((5,), 3), _index((5,), 4))),
            S(Arr((2, 3, 4)), (None, _index((2, 2), 3))),
            S(Arr((2, 3, 4)), (_index((2,), 2), None, _index((2,), 4))),
        ),
        lambda x, indices: x[tuple(slice(None) if i is None else i for i in indices)],
        torch="",
    ),
    OpSamples(
        "index_put",
        (
            S(Arr((3, 4)), (_index((1,), 3),), Arr((1, 4))),
            S(Arr((3, 4)), (_index((5,), 3), _index((5,), 4)), Arr(()), True),
            S(Arr((3, 4)), (_index((5,), 3),), Arr((4,)), accumulate=True),
        ),
        None,
        torch="index_put",
    ),
    OpSamples("nonzero_static", (S(Arr((3, 4), kind="bool"), size=2),),
              lambda x, size: np.argwhere(x)[:size], grad=False),
    OpSamples("nonzero", (S(Arr((3, 4), kind="bool")),), np.argwhere, grad=False, strides=False),
    OpSamples(
        "masked_select",
        (S(Arr((3, 4)), Arr((3, 4), kind="bool")), S(Arr((3, 4)), Arr((4,), kind="bool"))),
        lambda x, mask: x[np.broadcast_to(mask, x.shape)],
    ),
    OpSamples(
        "scatter_src",
        (
            S(Arr((3, 4)), 1, _distinct((3, 2)), Arr((3, 2))),
            S(Arr((3, 4)), 1, _distinct((2, 2)), Arr((3, 3))),
        ),
        None,
        torch="",
    ),
    OpSamples("scatter_value", (S(Arr((3, 4)), 1, _index((3, 2), 4), 0.5),), None, torch=""),
    OpSamples(
        "scatter_combined",
        (
            S(Arr((3, 4)), 1, _index((3, 5), 4), Arr((3, 5)), "add"),
            S(Arr((3, 4)), 0, _index((5, 4), 3), Arr((5, 4)), "multiply"),
        ),
        None,
        torch="",
        grad=False,
    ),
    OpSamples(
        "scatter_extreme",
        (
            S(Arr((3, 4)), 1, _index((3, 5), 4), Arr((3, 5)), "amax"),
            S(Arr((3, 4)), 1, _index((3, 5), 4), Arr((3, 5)), "amin", False),
            S(Arr((3, 4), 0.5, 1.5), 1, _index((3, 5), 4), Arr((3, 5), 0.5, 1.5), "prod"),
        ),
        None,
        torch="",
    ),
    OpSamples(
        "scatter_reduce",
        tuple(
            S(Arr((3, 4), 0.5, 1.5), 1, _index((3, 5), 4), Arr((3, 5), 0.5, 1.5), reduce,
              include_self=own)
            for reduce in ("sum", "prod", "mean", "amax", "amin", "max", "min")
            for own in (True, False)
        ),
        None,
    ),
    OpSamples(
        "index_reduce",
        (
            S(Arr((3, 4)), 0, _index((5,), 3), Arr((5, 4)), "mean"),
            S(Arr((3, 4)), 1, _index((3,), 4), Arr((3, 3)), "amax", include_self=False),
        ),
        None,
        strides=False,
    ),
    OpSamples(
        "index_copy", (S(Arr((3, 4)), 1, _distinct((2,)), Arr((3, 2))),), None, strides=False
    ),
    OpSamples(
        "index_fill",
        (
            S(Arr((3, 4)), 0, _index((2,), 3), 0.5),
            S(Arr((3, 4)), 1, _index((2,), 4), Arr(())),
            S(Arr((3, 4)), 0, _index((7,), 3), Arr(())),
        ),
        None,
        strides=False,
    ),
    OpSamples("take", (S(Arr((3, 4)), _index((2, 3), 12)),), np.take),
    OpSamples(
        "take_along_dim",
        (S(Arr((3, 4)), _index((3, 2), 4), 1), S(Arr((3, 4)), _index((5,), 12))),
        lambda x, indices, dim=None: np.take_along_axis(x, indices, dim),
        strides=False,
        layouts=False,
    ),
    OpSamples(
        "put",
        (
            S(Arr((3, 4)), _distinct((3,)), Arr((3,))),
            S(Arr((3, 4)), _index((5,), 12), Arr((5,)), True),
        ),
        None,
        torch="put",
        strides=False,
    ),
    OpSamples(
        "masked_scatter",
        (S(Arr((3, 4)), Arr((3, 4), kind="bool"), Arr((12,))),),
        None,
        torch="masked_scatter",
    ),
)
