"""Samples of inverses, solutions, determinants and factorisations."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sample import Arr, Bad, OpErrors, OpSamples, S

_SQUARE = (S(Arr((3, 3))), S(Arr((2, 2, 2))))
_PIVOTS = Arr((2, 2), 2.0, 3.0, kind="pivots")
_POSITIVE = (S(Arr((2, 1, 1), 1.0, 2.0)),)


def _sample(name: str, samples: Any, reference: Any, **options: bool) -> OpSamples:
    return OpSamples(name, samples, reference, torch="", strides=False, **options)


LINALG = (
    _sample("linalg_inv", _SQUARE, np.linalg.inv),
    _sample("inverse", _SQUARE, np.linalg.inv),
    _sample("linalg_det", _SQUARE, np.linalg.det),
    _sample("det", _SQUARE, np.linalg.det),
    _sample("cofactors", _SQUARE, lambda x: np.linalg.det(x)[..., None, None]
            * np.linalg.inv(x).swapaxes(-1, -2)),
    _sample("cofactors_backward", (S(Arr((3, 3)), Arr((3, 3))),
                                   S(Arr((2, 2, 2)), Arr((2, 2, 2)))), None),
    _sample("sign_and_log_det", _SQUARE, lambda x: tuple(np.linalg.slogdet(x))),
    _sample("linalg_slogdet", _SQUARE, lambda x: tuple(np.linalg.slogdet(x))),
    _sample("slogdet", _SQUARE, lambda x: tuple(np.linalg.slogdet(x))),
    _sample("logdet", _POSITIVE, lambda x: np.log(np.linalg.det(x))),
    _sample("solve_matrix", (S(Arr((3, 3)), Arr((3, 2))), S(Arr((2, 2, 2)), Arr((2, 1)))),
            np.linalg.solve),
    _sample(
        "linalg_solve",
        (S(Arr((3, 3)), Arr((3,))), S(Arr((3, 3)), Arr((3, 2))), S(Arr((2, 3, 3)), Arr((3, 1)))),
        np.linalg.solve,
    ),
    _sample(
        "linalg_solve_triangular",
        (S(Arr((3, 3), 1.0, 2.0), Arr((3, 2)), upper=True),),
        lambda a, b, upper: np.linalg.solve(np.triu(a), b),
    ),
    _sample("cholesky_factor", _POSITIVE, np.linalg.cholesky),
    _sample("linalg_cholesky", _POSITIVE, np.linalg.cholesky),
    _sample("cholesky", _POSITIVE, np.linalg.cholesky),
    _sample("cholesky_solve", (S(Arr((2, 2)), Arr((2, 2), 1.0, 2.0)),), None),
    _sample("cholesky_inverse", (S(Arr((2, 2), 1.0, 2.0)),), None),
    _sample("qr_factors", (S(Arr((4, 3)), "reduced"),), lambda a, mode: tuple(np.linalg.qr(a))),
    _sample("linalg_qr", (S(Arr((4, 3))), S(Arr((2, 2, 4)))), lambda a: tuple(np.linalg.qr(a))),
    _sample("qr", (S(Arr((3, 3))),), lambda a: tuple(np.linalg.qr(a))),
    _sample("symmetric_eigen", (S(Arr((2, 1, 1)), "L"),),
            lambda a, part: tuple(np.linalg.eigh(a)), double_grad=False),
    _sample("linalg_eigh", (S(Arr((2, 1, 1))),), lambda a: tuple(np.linalg.eigh(a)),
            double_grad=False),
    _sample("linalg_eigvalsh", (S(Arr((2, 1, 1))),), np.linalg.eigvalsh),
    _sample("singular_factors", (S(Arr((3, 2)), False),),
            lambda a, full: tuple(np.linalg.svd(a, full))),
    _sample("linalg_svd", (S(Arr((3, 2)), False), S(Arr((2, 3)), False)),
            lambda a, full: tuple(np.linalg.svd(a, full))),
    _sample("linalg_svdvals", (S(Arr((3, 2))), S(Arr((2, 2, 3)))),
            lambda a: np.linalg.svd(a, compute_uv=False)),
    _sample("linalg_pinv", (S(Arr((3, 2))), S(Arr((2, 3)))), np.linalg.pinv),
    _sample("pinverse", (S(Arr((3, 2))),), np.linalg.pinv),
    _sample("linalg_matrix_rank", (S(Arr((3, 2))),), np.linalg.matrix_rank, grad=False),
    _sample("linalg_cond", (S(Arr((2, 2))), S(Arr((2, 2)), 1)), np.linalg.cond),
    _sample("linalg_lstsq", (S(Arr((4, 2)), Arr((4, 1))),), None, grad=False),
    _sample("matrix_exp", (S(Arr((3, 3))), S(Arr((2, 2, 2), -9.0, 9.0))), None),
    _sample("general_eigen", (S(Arr((2, 1, 1))),), None, grad=False),
    _sample("linalg_eig", (S(Arr((2, 1, 1))),), None, grad=False),
    _sample("linalg_eigvals", (S(Arr((2, 2))),), None, grad=False),
    _sample("svd", (S(Arr((3, 2))),), None, double_grad=False),
    _sample("linalg_tensorinv", (S(Arr((2, 3, 6))),), np.linalg.tensorinv),
    _sample("linalg_tensorsolve", (S(Arr((2, 3, 6)), Arr((2, 3))),), np.linalg.tensorsolve),
    _sample("linalg_vander", (S(Arr((3,))), S(Arr((2, 3)), N=4)), None),
    _sample("lu_factors", (S(Arr((3, 3)), True), S(Arr((2, 4, 3)), True), S(Arr((2, 3)), True)),
            None),
    _sample("linalg_lu_factor", _SQUARE, None),
    _sample("linalg_lu_factor_ex", _SQUARE, None),
    _sample("linalg_lu", (*_SQUARE, S(Arr((4, 2))), S(Arr((2, 0, 3))), S(Arr((3, 0)))), None),
    _sample("lu", _SQUARE, None),
    _sample("lu_unpack", (S(Arr((2, 3, 2)), _PIVOTS),), None),
    _sample("linalg_lu_solve", (S(Arr((2, 2, 2), 1.0, 2.0), _PIVOTS, Arr((2, 2, 3))),), None),
    _sample("lu_solve", (S(Arr((2, 2, 3)), Arr((2, 2, 2), 1.0, 2.0), _PIVOTS),), None),
    _sample("order_of_pivots", (S(_PIVOTS, 4),), None, grad=False),
    _sample("first_bad_minor", (S(Arr((2, 3, 3))),), None, grad=False),
    _sample("linalg_cholesky_ex", _POSITIVE, lambda a: (np.linalg.cholesky(a), np.int32([0, 0]))),
    _sample("linalg_inv_ex", (S(Arr((3, 3))),), lambda a: (np.linalg.inv(a), np.int32(0))),
    _sample("linalg_solve_ex", (S(Arr((3, 3)), Arr((3,))),),
            lambda a, b: (np.linalg.solve(a, b), np.int32(0))),
    _sample("ldl_factors", (S(Arr((2, 4, 4)), False, True), S(Arr((3, 3)), True, False)), None,
            grad=False),
    _sample("linalg_ldl_factor", _SQUARE, None, grad=False),
    _sample("linalg_ldl_factor_ex", _SQUARE, None, grad=False),
    _sample("linalg_ldl_solve", (S(Arr((2, 2, 2), 1.0, 2.0), _PIVOTS, Arr((2, 2, 3))),), None,
            grad=False),
    _sample("qr_reflections", (S(Arr((3, 2))),), None, grad=False),
    _sample("geqrf", (S(Arr((3, 2))),), None, grad=False),
    _sample("linalg_householder_product", (S(Arr((3, 2)), Arr((2,))),), None),
    _sample("orgqr", (S(Arr((3, 2)), Arr((1,))),), None),
    _sample("ormqr", (S(Arr((3, 2)), Arr((2,)), Arr((3, 2))),), None),
    _sample("triangular_solve", (S(Arr((3, 2)), Arr((3, 3), 1.0, 2.0)),), None),
    OpErrors(
        "linalg_lu_factor",
        (Bad(S(Arr((2, 2)), pivot=False), RuntimeError, "pivoting", torch=False),),
    ),
    OpErrors(
        "linalg_inv",
        (
            Bad(S(Arr((2, 3))), RuntimeError, "square", torch=False),
            Bad(S(Arr((2, 2), kind="int")), RuntimeError, "floating", torch=False),
            Bad(S(Arr((2,))), RuntimeError, "2 dimensions", torch=False),
        ),
    ),
    OpErrors(
        "linalg_solve",
        (Bad(S(Arr((2, 2)), Arr((3, 1))), RuntimeError, "Incompatible", torch=False),),
    ),
)
