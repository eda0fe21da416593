"""Products of scaled float8 matrices, which are computed in float32."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.dispatch import dispatch_as_given
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Kind, define, op
from graphwright.runtime.tensor import dtypes

_DIVIDED = frozenset({dtypes.float8_e4m3fn, dtypes.float8_e5m2})


def _are_scales(a: Any, b: Any, scale_a: Any, scale_b: Any) -> bool:
    """Whether there is one scale for each matrix, or one for each row of a and column of b."""
    if scale_a.dtype is not dtypes.float32 or scale_b.dtype is not dtypes.float32:
        return False
    if scale_a.numel() == 1 and scale_b.numel() == 1:
        return True
    rows, columns = (a.shape[0], 1), (1, b.shape[1])
    return tuple(scale_a.shape) == rows and tuple(scale_b.shape) == columns


def _check(a: Any, b: Any, scale_a: Any, scale_b: Any, bias: Any) -> None:
    for name, matrix in (("input", a), ("mat2", b)):
        if matrix.ndim != 2:
            raise RuntimeError(f"_scaled_mm: {name} must be a matrix, got {describe(matrix)}")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"_scaled_mm: shapes cannot be multiplied, got {describe(a)} and {describe(b)}"
        )
    if bias is not None and bias.numel() != b.shape[1]:
        raise RuntimeError(
            f"_scaled_mm: bias must be of size {b.shape[1]}, got {describe(bias)}"
        )
    if not {a.dtype, b.dtype} <= dtypes.FLOAT8 or not _are_scales(a, b, scale_a, scale_b):
        raise ValueError(
            "_scaled_mm: takes two float8 matrices and float32 scales: one for each matrix, or "
            "[rows, 1] and [1, columns]; got "
            + ", ".join(map(describe, (a, b, scale_a, scale_b)))
        )


def _scaled(matrix: Any, scale: Any) -> Any:
    """The matrix times one scale, or those of its rows or columns."""
    single = ops.reshape(scale, ()) if scale.numel() == 1 else scale
    return ops.mul(ops.to_dtype(matrix, dtypes.float32), single)


def _scaled_mm(
    input: Any, mat2: Any, scale_a: Any, scale_b: Any, bias: Any, scale_result: Any,
    out_dtype: Any, use_fast_accum: bool,
) -> Any:
    _check(input, mat2, scale_a, scale_b, bias)
    out = dispatch_as_given(op("mm"), (_scaled(input, scale_a), _scaled(mat2, scale_b)))
    if bias is not None:
        out = ops.add(out, ops.to_dtype(bias, dtypes.float32))
    if scale_result is not None and out_dtype in _DIVIDED:
        out = ops.div(out, scale_result)
    dtype = input.dtype if out_dtype is None else out_dtype
    return out if dtype is out.dtype else ops.to_dtype(out, dtype)


define(
    "_scaled_mm(Tensor input, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, "
    "Tensor? scale_result=None, dtype? out_dtype=None, bool use_fast_accum=False)",
    Kind.COMPOSITE,
    decompose=_scaled_mm,
    method=False,
    public=False,
)
"""(input * scale_a) @ (mat2 * scale_b) + bias, rounded once to `out_dtype` (input's by default).

`scale_result` divides it where `out_dtype` is float8_e4m3fn or float8_e5m2. `use_fast_accum`
changes nothing: sums are float32.

Raises RuntimeError for shapes that do not fit, ValueError where the matrices are no float8 or the
scales no float32 numbers of the matrices, or of rows and columns.
"""
