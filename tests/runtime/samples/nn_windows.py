"""Samples of convolution, pooling, padding, resizing; references are written out in NumPy."""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np

from .sample import Arr, Bad, OpErrors, OpSamples, S

Array = np.ndarray[Any, Any]


def _each(value: Any, ndim: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,) * ndim


def _windows(x: Array, kernel: Any, stride: Any, pad: Any, dilation: Any, fill: float) -> Array:
    """[N, C, *windows, *kernel]"""
    ndim = x.ndim - 2
    kernel, stride, pad, dilation = (_each(v, ndim) for v in (kernel, stride, pad, dilation))
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in pad)), constant_values=fill)
    spread = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
    view = np.lib.stride_tricks.sliding_window_view(x, spread, tuple(range(2, ndim + 2)))
    steps = (*(slice(None, None, s) for s in stride), *(slice(None, None, d) for d in dilation))
    return view[(slice(None), slice(None), *steps)]


def _conv(
    x: Array, w: Array, b: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Array:  # fmt: skip
    ndim = w.ndim - 2
    batched = x if x.ndim == w.ndim else x[None]
    if padding == "same":
        total = [d * (k - 1) for d, k in zip(_each(dilation, ndim), w.shape[2:], strict=True)]
        sides = [(t // 2, t - t // 2) for t in total]
        batched, padding = np.pad(batched, ((0, 0), (0, 0), *sides)), 0
    padding = 0 if padding == "valid" else padding
    windows = _windows(batched, w.shape[2:], stride, padding, dilation, 0)
    ins, outs = w.shape[1], w.shape[0] // groups
    places, taps = "abc"[:ndim], "xyz"[:ndim]
    parts = [
        np.einsum(
            f"ni{places}{taps},oi{taps}->no{places}",
            windows[:, g * ins : (g + 1) * ins],
            w[g * outs : (g + 1) * outs],
        )
        for g in range(groups)
    ]
    out = np.concatenate(parts, 1)
    out = out + (0 if b is None else b.reshape(-1, *(1,) * ndim))
    return out if x.ndim == w.ndim else out[0]


def _transposed(forward: Any, size: tuple[int, ...], cotangent: Array) -> Array:
    """The transpose of a linear function, by its values on unit vectors."""
    unit, result = np.zeros(size), np.zeros(size)
    for place in np.ndindex(*size):
        unit[place] = 1
        result[place] = (forward(unit) * cotangent).sum()
        unit[place] = 0
    return result


def _conv_transpose(
    x: Array, w: Array, b: Any = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Array:  # fmt: skip
    ndim = w.ndim - 2
    batched = x if x.ndim == w.ndim else x[None]
    options = [_each(v, ndim) for v in (stride, padding, output_padding, dilation)]
    sizes = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + extra + 1
        for n, k, s, p, extra, d in zip(batched.shape[2:], w.shape[2:], *options, strict=True)
    )
    size = (len(batched), w.shape[1] * groups, *sizes)

    def forward(y: Array) -> Array:
        out = _conv(y, w, None, stride, padding, dilation, groups)
        return out[tuple(slice(n) for n in batched.shape)]

    out = _transposed(forward, size, batched)
    out = out + (0 if b is None else b.reshape(-1, *(1,) * ndim))
    return out if x.ndim == w.ndim else out[0]


def _convolution(
    x: Array, w: Array, b: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Array:  # fmt: skip
    if transposed:
        return _conv_transpose(x, w, b, stride, padding, output_padding, groups, dilation)
    return _conv(x, w, b, stride, padding, dilation, groups)


def _im2col(x: Array, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Array:
    windows = _windows(x, kernel, stride, padding, dilation, 0)
    n, c, oh, ow, kh, kw = windows.shape
    return windows.transpose(0, 1, 4, 5, 2, 3).reshape(n, c * kh * kw, oh * ow)


def _col2im(columns: Array, size: Any, kernel: Any, dilation: Any, pad: Any, stride: Any) -> Array:
    channels = columns.shape[1] // prod(_each(kernel, 2))
    shape = (columns.shape[0], channels, *_each(size, 2))
    return _transposed(lambda x: _im2col(x, kernel, dilation, pad, stride), shape, columns)


def _input_grad(grad: Array, w: Array, size: Any, *options: Any) -> Array:
    return _transposed(lambda x: _conv(x, w, None, *options), size, grad)


def _weight_grad(grad: Array, x: Array, size: Any, *options: Any) -> Array:
    return _transposed(lambda w: _conv(x, w, None, *options), size, grad)


# Pooling


def _max_pool(
    x: Array, kernel: Any, stride: Any = None, pad: Any = 0, dilation: Any = 1, ceil: bool = False
) -> Array:
    stride = kernel if stride is None else stride
    windows = _windows(x, kernel, stride, pad, dilation, -np.inf)
    return windows.max(tuple(range(x.ndim, windows.ndim)))


def _avg_pool(
    x: Array, kernel: Any, stride: Any = None, pad: Any = 0, ceil: bool = False,
    count_include_pad: bool = True, divisor: Any = None,
) -> Array:  # fmt: skip
    stride = kernel if stride is None else stride
    axes = tuple(range(x.ndim, 2 * x.ndim - 2))
    total = _windows(x, kernel, stride, pad, 1, 0).sum(axes)
    if divisor is not None or count_include_pad:
        return total / (divisor or prod(_each(kernel, x.ndim - 2)))
    return total / _windows(np.ones_like(x), kernel, stride, pad, 1, 0).sum(axes)


def _cells(x: Array, size: Any, fold: Any) -> Array:
    ndim = x.ndim - 2
    sizes = [n if c is None else c for n, c in zip(x.shape[2:], _each(size, ndim), strict=True)]
    out = np.zeros((*x.shape[:2], *sizes))
    for cell in itertools.product(*map(range, sizes)):
        box = tuple(
            slice(i * n // c, -(-(i + 1) * n // c))
            for i, n, c in zip(cell, x.shape[2:], sizes, strict=True)
        )
        out[(..., *cell)] = fold(x[(..., *box)], tuple(range(-ndim, 0)))
    return out


def _adaptive_max(x: Array, size: Any) -> tuple[Array, Array]:
    places = np.broadcast_to(np.arange(prod(x.shape[2:])).reshape(x.shape[2:]), x.shape)
    best = _cells(x, size, np.max)
    indices = np.zeros(best.shape, np.int64)
    for place in np.ndindex(*best.shape):
        lead = place[:2]
        indices[place] = places[lead][x[lead] == best[place]][0]
    return best, indices


def _scatter(x: Array, indices: Array, size: Any, ndim: int) -> Array:
    out = np.zeros((*size[:-ndim], prod(size[-ndim:])))
    flat = indices.reshape(*indices.shape[:-ndim], -1)
    for place in np.ndindex(*flat.shape):
        out[(*place[:-1], flat[place])] += x.reshape(flat.shape)[place]
    return out.reshape(size)


_LINE, _IMAGE, _VOLUME = Arr((2, 2, 7)), Arr((2, 2, 5, 6)), Arr((1, 2, 4, 5, 3))
_PLANE = Arr((2, 5, 6))
_GRAD = ((1, 1), (0, 0), (1, 1), 1)
_POOLS = (
    S(_IMAGE, 2),
    S(_IMAGE, (3, 2), (2, 1), (1, 0)),
    S(_IMAGE, 3, 2, 1),
    S(Arr((0, 2, 5, 6)), 2),
)
_POOLS_1D = (S(_LINE, 2), S(_LINE, (3,), 2, 1))
_POOLS_3D = (S(_VOLUME, 2), S(_VOLUME, (2, 3, 2), (1, 2, 1), (1, 1, 0)))
_MAX = ((3, 2), (2, 1), (1, 0), (1, 1))
_MEAN = ((3, 2), (2, 1), (1, 0), False, False, None)

CONVOLUTIONS = (
    OpSamples(
        "conv1d",
        (
            S(_LINE, Arr((3, 2, 3)), Arr((3,)), 2, 1),
            S(_LINE, Arr((2, 1, 2)), None, padding="same", groups=2, dilation=3),
            S(Arr((2, 7)), Arr((3, 2, 3)), padding="valid"),
        ),
        _conv,
    ),
    OpSamples(
        "conv2d",
        (
            S(_IMAGE, Arr((3, 2, 3, 2)), Arr((3,))),
            S(_IMAGE, Arr((3, 2, 3, 2)), None, (2, 1), (1, 2)),
            S(_IMAGE, Arr((2, 1, 2, 2)), Arr((2,)), 1, 0, (2, 3), 2),
            S(Arr((2, 5, 6)), Arr((3, 2, 3, 2)), Arr((3,)), padding=1),
            S(Arr((1, 2, 4, 4)), Arr((1, 2, 2, 3)), padding="same"),
            S(Arr((0, 2, 5, 6)), Arr((3, 2, 3, 2)), Arr((3,))),
            S(Arr((3, 2, 2, 3)), Arr((4, 2, 2, 3)), Arr((4,))),
            S(Arr((3, 2, 1, 1)), Arr((4, 2, 1, 1)), None, 2, 0, 3),
        ),
        _conv,
        errors=(
            Bad((Arr((1, 3, 5, 5)), Arr((2, 4, 3, 3))), RuntimeError, "channels", names_op=False),
            Bad((Arr((1, 1, 2, 2)), Arr((1, 1, 3, 3))), RuntimeError, "does not fit",
                names_op=False),
            Bad((Arr((1, 1, 4, 4)), Arr((1, 1, 3, 3)), Arr((2,))), RuntimeError, "bias",
                names_op=False),
            Bad((Arr((4, 4)), Arr((1, 1, 3, 3))), RuntimeError, "Expected 3D"),
            Bad((Arr((1, 1, 4, 4)), Arr((1, 1, 3, 3)), None, (1, 1, 1)), RuntimeError, "stride"),
            Bad((Arr((1, 1, 4, 4)), Arr((1, 1, 3, 3)), None, 2, "same"), RuntimeError, "strided",
                names_op=False),
        ),
    ),
    OpSamples(
        "conv3d",
        (
            S(_VOLUME, Arr((2, 2, 2, 3, 2)), Arr((2,)), (1, 2, 1), (0, 1, 1)),
            S(_VOLUME, Arr((2, 1, 2, 2, 2)), None, groups=2),
        ),
        _conv,
        double_grad=False,
    ),
    OpSamples(
        "conv_transpose1d",
        (
            S(_LINE, Arr((2, 3, 3)), Arr((3,)), 2, 1, 1),
            S(_LINE, Arr((2, 1, 2)), None, 3, groups=2, dilation=2),
            S(Arr((2, 7)), Arr((2, 3, 3))),
        ),
        _conv_transpose,
    ),
    OpSamples(
        "conv_transpose2d",
        (
            S(Arr((2, 2, 3, 4)), Arr((2, 3, 3, 2)), Arr((3,)), (2, 1), (1, 0), (1, 0)),
            S(Arr((1, 2, 3, 3)), Arr((2, 1, 2, 2)), Arr((2,)), groups=2, dilation=2),
        ),
        _conv_transpose,
    ),
    OpSamples(
        "conv_transpose3d",
        (S(Arr((1, 2, 2, 3, 2)), Arr((2, 1, 2, 2, 2)), Arr((1,)), 2),),
        _conv_transpose,
        double_grad=False,
    ),
    OpSamples(
        "convolution",
        (
            S(_IMAGE, Arr((3, 2, 3, 2)), Arr((3,)), (1, 1), (1, 0), (1, 1), False, (0, 0), 1),
            S(_LINE, Arr((2, 3, 2)), None, (2,), (0,), (1,), True, (1,), 1),
        ),
        _convolution,
        double_grad=False,
    ),
    OpSamples(
        "conv_input_grad",
        (
            S(Arr((2, 3, 3, 4)), Arr((3, 2, 2, 2)), (2, 2, 4, 5), *_GRAD),
            S(Arr((2, 2, 2, 3)), Arr((2, 1, 2, 2)), (2, 2, 4, 4), (2, 2), (1, 1), (2, 1), 2),
        ),
        _input_grad,
        torch="",
    ),
    OpSamples(
        "conv_weight_grad",
        (
            S(Arr((2, 3, 3, 4)), Arr((2, 2, 4, 5)), (3, 2, 2, 2), *_GRAD),
            S(Arr((2, 2, 2, 3)), Arr((2, 2, 4, 4)), (2, 1, 2, 2), (2, 2), (1, 1), (2, 1), 2),
        ),
        _weight_grad,
        torch="",
    ),
    OpSamples(
        "im2col",
        (S(_IMAGE, (3, 2), (1, 1), (0, 0), (1, 1)), S(_IMAGE, (2, 2), (2, 1), (1, 0), (2, 3)),
         S(Arr((0, 2, 5, 6)), 2, 1, 0, 1)),
        _im2col,
        torch="",
    ),
    OpSamples(
        "col2im",
        (S(Arr((2, 12, 15)), (5, 6), (3, 2), (1, 1), (0, 0), (1, 1)),
         S(Arr((2, 8, 6)), (5, 6), (2, 2), (2, 1), (1, 0), (2, 3))),
        _col2im,
        torch="",
    ),
)  # fmt: skip

def _no_adaptive(kind: str, n: int) -> tuple[Bad, ...]:
    """Too few dimensions, empty ones, and what is no size, by the pool's number of dimensions."""
    low, size = (3,) * n, (2,) * n
    none_left = (1, *low[1:], 0) if kind == "avg" else (1, 0, *low)
    few = Bad(S(Arr(low), size), RuntimeError, "expected") if n == 1 else Bad(
        S(Arr(low), size), ValueError, f"at least {n + 1}"
    )
    return (
        few,
        Bad(S(Arr(low), 2), RuntimeError, "expected"),
        Bad(S(Arr(none_left), 2), RuntimeError, "expected"),
        Bad(S(Arr((2, *low)), None), TypeError, "tuple of ints"),
        Bad(S(Arr((2, *low)), 1.5), TypeError, "tuple of ints"),
    )


POOLING = (
    OpSamples("max_pool1d", _POOLS_1D, _max_pool),
    OpSamples(
        "max_pool2d",
        (*_POOLS, S(_IMAGE, 2, 1, 0, 2)),
        _max_pool,
        errors=(
            Bad((Arr((1, 1, 4, 4)), 2, None, 2), RuntimeError, "pad should be", names_op=False),
            Bad((Arr((1, 1, 1, 4)), 2), RuntimeError, "too small", names_op=False),
            Bad((Arr((4, 4)), 2), RuntimeError, "non-empty 3D"),
            Bad((Arr((1, 1, 4, 4)), 0), RuntimeError, "greater than zero", names_op=False),
        ),
    ),
    OpSamples("max_pool3d", _POOLS_3D, _max_pool),
    *(
        OpSamples(f"max_pool{n}d_with_indices", pools, None, torch="")
        for n, pools in ((1, _POOLS_1D), (2, _POOLS), (3, _POOLS_3D))
    ),
    OpSamples(
        "max_pool_with_indices",
        (S(_IMAGE, *_MAX, False), S(_PLANE, (2,), (2,), (0,), (1,), True)),
        None,
        torch="",
    ),
    OpSamples(
        "max_pool_backward",
        (
            S(Arr((1, 2, 2, 2)), Arr((1, 2, 2, 2), 0, 5, "index"), (1, 2, 4, 4), (2, 2), (2, 2),
              (0, 0), (1, 1)),
        ),
        None,
        torch="",
        grad=False,
    ),
    OpSamples(
        "scatter_planes",
        (
            S(Arr((2, 3, 2)), Arr((2, 3, 2), 0, 4, "index"), (2, 3, 4), 1),
            S(Arr((2, 2, 3)), Arr((2, 2, 3), 0, 6, "index"), (2, 2, 3), 2),
        ),
        _scatter,
        torch="",
    ),
    OpSamples(
        "max_unpool",
        (S(Arr((1, 2, 1, 2)), Arr((1, 2, 1, 2), 0, 1, "index"), (2, 3), 2),),
        None,
        torch="",
        grad=False,
        errors=(
            Bad((Arr((1, 1, 1, 1)), Arr((1, 1, 1, 1), 9, 10, "index"), (2, 3), 2), RuntimeError,
                "invalid max index", torch=False),
            Bad((Arr((1, 1, 1, 1)), Arr((1, 1, 1, 1)), (2, 3), 2), RuntimeError, "int64",
                torch=False),
        ),
    ),
    OpSamples("avg_pool1d", (*_POOLS_1D, S(_LINE, 3, 2, 1, False, False)), _avg_pool),
    OpSamples(
        "avg_pool2d",
        (*_POOLS, S(_IMAGE, 3, 2, 1, False, False), S(_IMAGE, 2, divisor_override=3)),
        lambda *a, divisor_override=None: _avg_pool(*a, divisor=divisor_override),
        torch="",
    ),
    OpSamples("avg_pool3d", (*_POOLS_3D, S(_VOLUME, 3, 2, 1, False, False)), _avg_pool, torch=""),
    OpSamples("avg_pool", (S(_IMAGE, *_MEAN), S(_LINE, (2,), (2,), (1,), True, True, None)), None,
              torch=""),
    OpSamples("avg_pool_backward", (S(Arr((2, 2, 3, 5)), (2, 2, 5, 6), *_MEAN),), None, torch=""),
    *(
        OpSamples(
            f"adaptive_avg_pool{n}d", samples, lambda x, size: _cells(x, size, np.mean),
            torch="adaptive_avg_pool1d" if n == 1 else "", errors=_no_adaptive("avg", n),
        )
        for n, samples in (
            (1, (S(_LINE, 3), S(_LINE, 1))),
            (2, (S(_IMAGE, (2, 4)), S(_IMAGE, (None, 1)), S(_IMAGE, 1))),
            (3, (S(_VOLUME, (2, 3, 4)), S(_VOLUME, 1))),
        )
    ),
    *(
        OpSamples(
            f"adaptive_max_pool{n}d", samples, _adaptive_max,
            torch="adaptive_max_pool1d" if n == 1 else "", errors=_no_adaptive("max", n),
        )
        for n, samples in (
            (1, (S(_LINE, 3),)),
            (2, (S(_IMAGE, (2, 4)), S(_IMAGE, (None, 1)))),
            (3, (S(_VOLUME, (2, 3, 2)),)),
        )
    ),
    OpSamples("adaptive_avg_pool", (S(_IMAGE, (2, 4)), S(_PLANE, (3,))), None, torch=""),
    OpSamples("adaptive_avg_pool_backward", (S(Arr((2, 2, 2, 4)), (2, 2, 5, 6), 2),), None,
              torch=""),
    OpSamples("adaptive_max_pool", (S(_IMAGE, (2, 4)),), None, torch=""),
)  # fmt: skip


# Padding, resizing, shuffling


def _pad(x: Array, pad: Any, mode: str = "constant", value: Any = None) -> Array:
    sides = [(0, 0)] * (x.ndim - len(pad) // 2)
    sides += [(pad[2 * i], pad[2 * i + 1]) for i in reversed(range(len(pad) // 2))]
    inner = tuple(slice(max(-a, 0), n - max(-b, 0))
                  for n, (a, b) in zip(x.shape, sides, strict=True))  # fmt: skip
    outer = [(max(a, 0), max(b, 0)) for a, b in sides]
    if mode == "constant":
        return np.pad(x[inner], outer, constant_values=0 if value is None else value)
    kind = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    return np.pad(x[inner], outer, kind)  # type: ignore[call-overload, no-any-return]


def _resample(x: Array, dim: int, index: Array, weight: Array) -> Array:
    moved = np.moveaxis(x, dim, -1)
    return np.moveaxis((moved[..., index] * weight).sum(-1), -1, dim)


def _resample_backward(g: Array, dim: int, index: Array, weight: Array, size: int) -> Array:
    shape = (*g.shape[:dim], size, *g.shape[dim + 1 :])
    return _transposed(lambda x: _resample(x, dim, index, weight), shape, g)


def _shuffle(x: Array, r: int) -> Array:
    *lead, c, h, w = x.shape
    split = x.reshape(*lead, c // r // r, r, r, h, w)
    n = len(lead)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return split.transpose(order).reshape(*lead, c // r // r, h * r, w * r)


def _unshuffle(x: Array, r: int) -> Array:
    *lead, c, h, w = x.shape
    split = x.reshape(*lead, c, h // r, r, w // r, r)
    n = len(lead)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return split.transpose(order).reshape(*lead, c * r * r, h // r, w // r)


def _bilinear(x: Array, size: Any) -> Array:
    """Corners aligned."""
    for axis, count in zip((2, 3), size, strict=True):
        n = x.shape[axis]
        source = np.arange(count) * ((n - 1) / (count - 1) if count > 1 else 0)
        low = np.minimum(source.astype(int), n - 1)
        part = (source - low).reshape(-1, *(1,) * (3 - axis))
        high = np.minimum(low + 1, n - 1)
        x = x.take(low, axis) * (1 - part) + x.take(high, axis) * part
    return x


def _nearest(x: Array, size: Any) -> Array:
    for axis, count in enumerate(size, 2):
        x = x.take(np.arange(count) * x.shape[axis] // count, axis)
    return x


_PLACES, _FACTORS = Arr((4, 2), 0, 5, "index"), Arr((4, 2), grad=False)

SHAPING = (
    OpSamples(
        "pad",
        (
            S(_IMAGE, (1, 2)),
            S(_IMAGE, (-1, 2, 0, -2), "constant", 0.5),
            *(S(_IMAGE, (2, 1, 0, 3), mode) for mode in ("reflect", "replicate", "circular")),
            S(_LINE, (2, 0), "reflect"),
            S(_VOLUME, (1, 1, 2, 0, 0, 1), "replicate"),
            S(_LINE, (-1, 2), "circular"),
        ),
        _pad,
        torch="",
        errors=(
            Bad((_LINE, (7, 0), "reflect"), RuntimeError, "Padding size", names_op=False),
            Bad((_LINE, (8, 0), "circular"), RuntimeError, "more than once", names_op=False),
            Bad((_LINE, (1,)), RuntimeError, "divisible by 2", names_op=False),
            Bad((_LINE, (1, 1, 1, 1, 1, 1), "replicate"), NotImplementedError, "non-constant",
                names_op=False),
            Bad((_LINE, (1, 1), "mirror"), NotImplementedError, "mode", names_op=False),
        ),
    ),
    OpSamples("constant_pad_nd", (S(_IMAGE, (1, 2)), S(_IMAGE, (-1, 2, 0, -2), 0.5)),
              lambda x, pad, value=0: _pad(x, pad, "constant", value)),
    OpSamples("resample", (S(Arr((2, 5, 3)), 1, _PLACES, _FACTORS),
                           S(Arr((2, 5)), 1, _PLACES, _FACTORS)), _resample, torch=""),
    OpSamples("resample_backward", (S(Arr((2, 4, 3)), 1, _PLACES, _FACTORS, 5),
                                    S(Arr((2, 4)), 1, _PLACES, _FACTORS, 6)), _resample_backward,
              torch=""),
    OpSamples(
        "interpolate",
        (S(_IMAGE, (7, 3), "bilinear", True, None, False), S(_IMAGE, (1, 9), "bilinear", True,
                                                             None, False)),
        lambda x, size, *rest: _bilinear(x, size),
        torch="",
    ),
    OpSamples("pixel_shuffle", (S(Arr((2, 8, 3, 2)), 2), S(Arr((9, 2, 2)), 3)), _shuffle,
              errors=(Bad((Arr((3, 2, 2)), 2), RuntimeError, "divisible"),)),
    OpSamples("pixel_unshuffle", (S(Arr((2, 2, 4, 6)), 2), S(Arr((1, 3, 3)), 3)), _unshuffle,
              errors=(Bad((Arr((3, 3, 2)), 2), RuntimeError, "divisible"),)),
    OpSamples(
        "channel_shuffle",
        (S(Arr((2, 6, 3)), 2), S(Arr((1, 4, 2, 2)), 4)),
        lambda x, g: x.reshape(len(x), g, -1, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape),
        errors=(Bad((Arr((1, 3, 2)), 2), RuntimeError, "divisible", names_op=False),),
    ),
)  # fmt: skip

# Sampling


def _bilinear_at(x: Array, grid: Array, mode: str, padding: str, align: bool) -> Array:
    """Zeros outside; edges at -1 and 1."""
    out = np.zeros((*x.shape[:2], *grid.shape[1:3]))
    height, width = x.shape[2:]
    for n, i, j in np.ndindex(*grid.shape[:3]):
        column, row = (((c + 1) * s - 1) / 2 for c, s in zip(grid[n, i, j], (width, height),
                                                              strict=True))
        for y, x0 in itertools.product(*(map(int, (np.floor(v), np.floor(v) + 1))
                                         for v in (row, column))):
            if 0 <= y < height and 0 <= x0 < width:
                weight = (1 - abs(row - y)) * (1 - abs(column - x0))
                out[n, :, i, j] += weight * x[n, :, y, x0]
    return out


_GRID = Arr((2, 3, 2, 2), -1.3, 1.3)
_THETA = Arr((2, 2, 3))

SAMPLING = (
    OpSamples("grid_sample", (S(_IMAGE, _GRID, "bilinear", "zeros", False),), _bilinear_at,
              torch="", double_grad=False,
              errors=(Bad((_IMAGE, Arr((2, 3, 2, 3)), "bilinear", "zeros", True), RuntimeError,
                          "last dimension"),
                      Bad((_IMAGE, _GRID, "cubic", "zeros", True), ValueError, "mode"))),
    OpSamples("grid_sampler_2d", (S(_IMAGE, _GRID, 2, 1, True), S(_IMAGE, _GRID, 0, 2, True)),
              None, double_grad=False),
    OpSamples("grid_sampler_3d",
              (S(_VOLUME, Arr((1, 2, 2, 1, 3), -1.2, 1.2), 0, 2, False),), None,
              double_grad=False),
    OpSamples("grid_sampler", (S(_IMAGE, _GRID, 1, 1, False),), None, double_grad=False),
    OpSamples("affine_grid_generator", (S(_THETA, (2, 1, 3, 4), True),
                                        S(_THETA, (2, 1, 1, 4), False)), None),
    OpSamples("fractional_max_pool",
              (S(Arr((1, 2, 6, 7)), Arr((1, 2, 2), 0.1, 0.9, grad=False), (2, 3), (3, 2)),
               S(Arr((1, 2, 6, 1)), Arr((1, 2, 2), 0.1, 0.9, grad=False), (2, 1), (3, 0))),
              None, torch="",
              errors=(Bad((Arr((1, 1, 3, 3)), Arr((1, 1, 2), 0, 1), (3, 3), (2, 2)), RuntimeError,
                          "too large", torch=False),)),
)  # fmt: skip

WINDOWS: tuple[OpSamples | OpErrors, ...] = (
    *CONVOLUTIONS,
    *POOLING,
    *SHAPING,
    *SAMPLING,
)
