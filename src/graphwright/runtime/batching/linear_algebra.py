"""Ops on the last dimensions of tensors with any number of leading ones."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import BatchedTensor, whole
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op

_CORE = {
    "cofactors_backward": (2, 2),
    "linalg_ldl_solve": (2, 1, 2),
    "pair_distances": (2, 2),
    "solve_matrix": (2, 2),
}
"""How many dimensions of each tensor are not leading ones."""


@rule(
    "cholesky_factor", "cofactors", "first_bad_minor", "general_eigen", "ldl_factors",
    "linalg_det", "linalg_inv", "lu_factors", "matrix_exp", "order_of_pivots", "qr_factors",
    "qr_reflections", "sign_and_log_det", "singular_factors", "symmetric_eigen",
)  # fmt: skip
def of_one(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The batch is one leading dimension more."""
    return dispatch(op, (args[0].value, *args[1:]))


@rule(*_CORE)
def of_several(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The same for tensors whose leading dimensions are broadcast."""
    tensors = [arg for arg in args if type(arg) is BatchedTensor]
    leading = [t.ndim - core for t, core in zip(tensors, _CORE[op.name], strict=True)]
    most = max(leading)
    values = [
        ops.reshape(whole(t), (level.size, *(1,) * (most - n), *t.shape))
        for t, n in zip(tensors, leading, strict=True)
    ]
    return dispatch(op, (*values, *args[len(tensors) :]))
