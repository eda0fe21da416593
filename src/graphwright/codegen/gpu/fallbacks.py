"""The ops that GPU programs do not have, each with its reason: CPUs run them.

Every other op has a rule of `gpu_rules`, a decomposition, or is a view; tests hold the two sets
apart. Ops on complex numbers, and on unsigned integers of more than 8 bits, are without a rule,
too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.runtime.tensor import dtypes

_FACTORS = "factors a matrix step by step, by LAPACK"
_TRANSFORM = "transforms complex numbers"
_REJECTS = "draws numbers until one is accepted"

FALLBACKS: dict[str, str] = {
    **dict.fromkeys((
        "cholesky_factor", "cofactors", "cofactors_backward", "first_bad_minor", "general_eigen",
        "ldl_factors", "linalg_det", "linalg_inv", "linalg_ldl_solve", "lu_factors",
        "order_of_pivots", "qr_factors", "qr_reflections", "sign_and_log_det", "singular_factors",
        "solve_matrix", "symmetric_eigen"), _FACTORS),
    "matrix_exp": "scales and squares matrices as often as their norms say",
    **dict.fromkeys(("fft_c2c", "fft_c2r", "fft_r2c"), _TRANSFORM),
    **dict.fromkeys(("complex", "conjugated"), "makes complex numbers"),
    **dict.fromkeys(("binomial", "poisson", "standard_gamma"), _REJECTS),
    "standard_gamma_grad": "integrates by quadrature",
    "ctc_loss_parts": "follows all paths through time, step by step",
    "as_strided_scatter": "writes to the memory behind its argument, which may be more than that",
    "resample_table": "makes a table from sizes, before there are tensors",
}
"""Why each op has no GPU form."""
GENERATED = frozenset({"rand", "philox_uniform"})
"""Ops that draw from a generator's state, whose numbers are those of "rng_uniform"."""


def fallback_reason(op: Any, args: Sequence[Any]) -> str | None:
    """Why the CPU has to run an op on these arguments; None where a GPU program can.

    args: the op's arguments, lists of tensors among them.
    """
    reason = FALLBACKS.get(op.name)
    if reason is not None:
        return reason
    for arg in args:
        for tensor in arg if isinstance(arg, list | tuple) else (arg,):
            if getattr(tensor, "dtype", None) in dtypes.EAGER_ONLY:
                return f"{tensor.dtype.name} has no arithmetic in GPU programs"
    return None
