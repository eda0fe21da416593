"""What the numerical special functions share: Chebyshev sums, pieces, blocks.

The functions take and give float64 arrays. `kernel` makes an eager kernel of one: blocks of the
operands are converted to float64, so that temporaries stay in the cache, and the result is
rounded once to the dtype of `out`.

What branches or loops by the values of elements does so in `pieces` and `repeated`, and nothing
else looks at them: a function may be given stand-ins for arrays, which write down what is done
with them (`codegen.triton.numeric_functions`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Function = Callable[..., Array]
State = tuple[Array, ...]

_BLOCK = 1 << 14


def chebyshev(
    x: Array, coefficients: Sequence[float], low: float, high: float
) -> Array:
    """The sum of c_k T_k(t), t in [-1, 1] standing for x in [low, high], by Clenshaw."""
    t = (2.0 * x - (low + high)) / (high - low)
    twice = 2.0 * t
    ahead = np.zeros_like(t)
    value = np.full_like(t, coefficients[-1])
    for c in coefficients[-2:0:-1]:
        value, ahead = twice * value - ahead + c, value
    return t * value - ahead + coefficients[0]


def pieces(x: Array, parts: Sequence[tuple[Array, Function]], *others: Array) -> Array:
    """f(x) by the first of the (mask, f) that applies to each element; nan where none does."""
    if not isinstance(x, np.ndarray):
        return x.pieces(parts, *others)
    result = np.full(x.shape, np.nan)
    free = np.ones(x.shape, np.bool_)
    for mask, function in parts:
        chosen = mask & free
        free &= ~mask
        if chosen.any():
            result[chosen] = function(x[chosen], *(o[chosen] for o in others))
    return result


def repeated(
    step: Callable[..., State], state: State, limit: int,
    unfinished: Callable[..., Array] | None = None,
) -> State:
    """`state` after step(k, *state) for k = 1, 2, ... up to `limit`, while any element is
    unfinished(k, *state), which is looked at before each turn."""
    if not isinstance(state[0], np.ndarray):
        return state[0].repeated(step, state, limit, unfinished)
    for k in range(1, limit + 1):
        if unfinished is not None and not unfinished(k, *state).any():
            break
        state = step(k, *state)
    return state


def require(right: Array, message: Callable[[], str]) -> None:
    """ValueError unless all elements are right; whoever runs what stand-ins wrote has to look
    at them before."""
    if isinstance(right, np.ndarray) and not right.all():
        raise ValueError(message())


def kernel(function: Function) -> Callable[..., None]:
    """`out` = function(operands...) in float64, by blocks where all are contiguous."""

    def run(*arrays: Array) -> None:
        operands, out = arrays[:-1], arrays[-1]
        flat = out.flags.c_contiguous and all(
            a.flags.c_contiguous and a.shape == out.shape for a in operands
        )
        if not flat:
            wide = np.broadcast_arrays(*(a.astype(np.float64) for a in operands))
            out[...] = function(*(np.atleast_1d(w) for w in wide)).reshape(wide[0].shape)
            return
        sources, target = [a.reshape(-1) for a in operands], out.reshape(-1)
        for start in range(0, target.size, _BLOCK):
            stop = start + _BLOCK
            target[start:stop] = function(*(s[start:stop].astype(np.float64) for s in sources))

    return run
