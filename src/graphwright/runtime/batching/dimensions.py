"""Ops along dimensions: reductions, scans, sorting. The example's are one further back."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op


def shifted(kind: str, value: Any, rank: int) -> Any:
    """An argument of a schema type that names dimensions, for a batch of examples of `rank`."""
    if kind in ("Dim", "Dim?", "NewDim"):
        return None if value is None else value + 1
    if kind in ("Dims", "Dims?", "DimsExact", "DimsGiven", "LoneDim"):
        if value is None or (kind != "DimsExact" and not value):
            return tuple(range(1, max(rank, 1) + 1))
        return tuple([dim + 1 for dim in value])
    return value


@rule(
    "all", "amax", "amin", "any", "argsort", "cumprod", "cumsum", "kth_position", "logcumsumexp",
    "mean", "median_position", "mode_position", "p_norm", "prod", "running_max", "running_min",
    "sum", "topk_positions", "variance",
)  # fmt: skip
def along(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The op of a batch; an example without dimensions has one while it runs."""
    value, rank = args[0].value, args[0].ndim
    if not rank:
        value = ops.unsqueeze(value, 1)
    others = [
        shifted(param.type, arg, rank)
        for param, arg in zip(op.schema.params[1:], args[1:], strict=True)
    ]
    out = dispatch(op, (value, *others))
    if rank:
        return out
    if isinstance(out, tuple):
        return tuple([_without_dimensions(item) for item in out])
    return _without_dimensions(out)


def _without_dimensions(value: Any) -> Any:
    return ops.reshape(value, (value.shape[0],))


@rule("argmax", "argmin")
def positions(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Without a dim the place among all elements of the example."""
    input, dim, keepdim = args
    if dim is not None:
        return along(op, args, level)
    count = input.value.shape[0]
    found = dispatch(op, (ops.reshape(input.value, (count, -1)), 1, False))
    return ops.reshape(found, (count, *(1,) * input.ndim)) if keepdim else found


@rule("fft_c2c", "fft_c2r", "fft_r2c")
def transforms(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Fourier transforms along one dim or several, counted from either end."""
    input, dims, *rest = args
    rank = input.ndim
    moved = (
        tuple([dim % rank + 1 for dim in dims])
        if isinstance(dims, tuple | list)
        else dims % rank + 1
    )
    if op.name == "fft_c2c":
        rest[-1] = tuple([dim + 1 for dim in rest[-1]])
    return dispatch(op, (input.value, moved, *rest))
