"""Windows of signals, after `torch.signal.windows`.

Each makes a 1-d tensor of `M` float32 or float64 values whose largest is 1. `sym=True` gives a
symmetric window, for filters; `sym=False` one period of a periodic one, for spectra: the first M
values of the symmetric window of M + 1.

All raise ValueError for a negative `M`, other dtypes, and layouts that do not exist.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.memory_format import strided

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _window(values: Callable[..., Any]) -> Callable[..., Any]:
    """The public function of `values(M, sym, dtype, device, **options)`, for M of 1 and more."""

    @wraps(values)
    def function(
        M: int,
        *,
        sym: bool = True,
        dtype: Any = None,
        layout: Any = strided,
        device: Any = None,
        requires_grad: bool = False,
        **options: Any,
    ) -> Any:
        name = values.__name__
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if layout is not strided:
            raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
        dtype = dtypes.get_default_dtype() if dtype is None else dtype
        if dtype not in (dtypes.float32, dtypes.float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
        made = values(max(M, 1), sym, dtype, device, **options)[:M]
        return made.requires_grad_(True) if requires_grad else made

    return function


def _places(M: int, start: float, step: float, dtype: Any, device: Any) -> Any:
    """start, start + step, ..: M values."""
    return ops.linspace(start, start + (M - 1) * step, M, dtype=dtype, device=device)


def _periods(M: int, sym: bool) -> int:
    """The steps from the first value to where the window is as at the first value again."""
    return max(M - 1, 1) if sym else M


def _centre(M: int, sym: bool) -> float:
    return (M if not sym and M > 1 else M - 1) / 2


@_window
def exponential(
    M: int, sym: bool, dtype: Any, device: Any, center: float | None = None, tau: float = 1.0
) -> Any:
    """exp(-|n - center| / tau); `center` is the middle, and may differ where `sym` is False."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = _centre(M, sym) if center is None else center
    return ops.exp(ops.neg(ops.abs(_places(M, -middle / tau, 1 / tau, dtype, device))))


@_window
def cosine(M: int, sym: bool, dtype: Any, device: Any) -> Any:
    """sin(pi (n + 0.5) / M)."""
    step = math.pi / (M + 1 if not sym and M > 1 else M)
    return ops.sin(_places(M, 0.5 * step, step, dtype, device))


@_window
def gaussian(M: int, sym: bool, dtype: Any, device: Any, std: float = 1.0) -> Any:
    """exp(-(n - centre)^2 / (2 std^2))."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    step = 1 / (std * math.sqrt(2))
    return ops.exp(
        ops.neg(ops.square(_places(M, -_centre(M, sym) * step, step, dtype, device)))
    )


@_window
def kaiser(M: int, sym: bool, dtype: Any, device: Any, beta: float = 12.0) -> Any:
    """I0(beta sqrt(1 - x^2)) / I0(beta) for x from -1 to 1."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M == 1:
        return ops.ones((1,), dtype=dtype, device=device)
    places = ops.clamp_max(_places(M, -beta, 2 * beta / _periods(M, sym), dtype, device), beta)
    scale = ops.i0(ops.full((), beta, dtype=dtype, device=device))
    return ops.div(ops.i0(ops.sqrt(ops.sub(beta * beta, ops.square(places)))), scale)


@_window
def bartlett(M: int, sym: bool, dtype: Any, device: Any) -> Any:
    """1 - |x| for x from -1 to 1."""
    if M == 1:
        return ops.ones((1,), dtype=dtype, device=device)
    return ops.sub(1, ops.abs(_places(M, -1.0, 2 / _periods(M, sym), dtype, device)))


def _cosines(M: int, sym: bool, dtype: Any, device: Any, a: Iterable[float]) -> Any:
    """The sum of (-1)^i a[i] cos(2 pi i x) for x from 0 to 1."""
    if M == 1:
        return ops.ones((1,), dtype=dtype, device=device)
    places = _places(M, 0.0, 2 * math.pi / _periods(M, sym), dtype, device)
    total = ops.zeros_like(places)
    for i, factor in enumerate(a):
        total = ops.add(total, ops.cos(ops.mul(places, i)), alpha=(-1) ** i * factor)
    return total


@_window
def general_cosine(M: int, sym: bool, dtype: Any, device: Any, a: Iterable[float]) -> Any:
    """The sum of (-1)^i a[i] cos(2 pi i x) for x from 0 to 1.

    Raises TypeError where `a` is not iterable, ValueError where it is empty.
    """
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    factors = list(a)
    if not factors:
        raise ValueError("Coefficients cannot be empty")
    return _cosines(M, sym, dtype, device, factors)


@_window
def general_hamming(M: int, sym: bool, dtype: Any, device: Any, alpha: float = 0.54) -> Any:
    """alpha - (1 - alpha) cos(2 pi x) for x from 0 to 1."""
    return _cosines(M, sym, dtype, device, [alpha, 1.0 - alpha])


@_window
def hamming(M: int, sym: bool, dtype: Any, device: Any) -> Any:
    """0.54 - 0.46 cos(2 pi x) for x from 0 to 1."""
    return _cosines(M, sym, dtype, device, [0.54, 0.46])


@_window
def hann(M: int, sym: bool, dtype: Any, device: Any) -> Any:
    """0.5 - 0.5 cos(2 pi x) for x from 0 to 1."""
    return _cosines(M, sym, dtype, device, [0.5, 0.5])


@_window
def blackman(M: int, sym: bool, dtype: Any, device: Any) -> Any:
    """0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x) for x from 0 to 1."""
    return _cosines(M, sym, dtype, device, [0.42, 0.5, 0.08])


@_window
def nuttall(M: int, sym: bool, dtype: Any, device: Any) -> Any:
    """Four cosines whose side lobes are small; Nuttall, 1981."""
    return _cosines(M, sym, dtype, device, [0.3635819, 0.4891775, 0.1365995, 0.0106411])
