"""Samples of products beyond mm: with a term added, along named dims, einsum, distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sample import Arr, Bad, OpErrors, OpSamples, S


def _with_term(product: Any) -> Any:
    return lambda x, a, b, beta=1, alpha=1: beta * x + alpha * product(a, b)


def _pair_norms(a: Any, b: Any, p: float = 2.0, *unused: Any) -> Any:
    gaps = np.abs(a[..., :, None, :] - b[..., None, :, :])
    if p == float("inf"):
        return gaps.max(-1)
    return np.sum(gaps**p, -1) ** (1 / p)


PRODUCTS = (
    OpSamples("vdot", (S(Arr((4,)), Arr((4,))),), np.dot),
    OpSamples(
        "inner",
        (S(Arr((2, 4)), Arr((3, 4))), S(Arr((4,)), Arr((4,))), S(Arr(()), Arr((2, 3)))),
        np.inner,
        strides=False,
    ),
    OpSamples(
        "linalg_vecdot", (S(Arr((2, 4)), Arr((2, 4))), S(Arr((3, 1, 2)), Arr((2, 2)), dim=-1)),
        lambda a, b, dim=-1: (a * b).sum(dim), torch="",
    ),
    OpSamples(
        "addmv",
        (S(Arr((3,)), Arr((3, 4)), Arr((4,)), beta=0.5, alpha=2.0),),
        _with_term(np.matmul),
    ),
    OpSamples(
        "addr",
        (S(Arr((3, 4)), Arr((3,)), Arr((4,)), beta=0.5, alpha=2.0),),
        _with_term(np.outer),
        strides=False,
    ),
    OpSamples(
        "baddbmm",
        (
            S(Arr((2, 3, 2)), Arr((2, 3, 4)), Arr((2, 4, 2))),
            S(Arr((1, 2)), Arr((2, 3, 4)), Arr((2, 4, 2)), beta=0.5, alpha=2.0),
        ),
        _with_term(np.matmul),
        strides=False,
    ),
    OpSamples(
        "addbmm",
        (S(Arr((3, 2)), Arr((2, 3, 4)), Arr((2, 4, 2)), beta=0.5, alpha=2.0),),
        _with_term(lambda a, b: np.matmul(a, b).sum(0)),
        strides=False,
    ),
    OpSamples(
        "tensordot",
        (
            S(Arr((2, 3, 4)), Arr((3, 4, 2))),
            S(Arr((2, 3)), Arr((3, 2)), 1),
            S(Arr((2, 3, 4)), Arr((4, 5, 2)), ((0, 2), (2, 0))),
            S(Arr((2,)), Arr((3,)), 0),
        ),
        lambda a, b, dims=2: np.tensordot(a, b, dims),
        strides=False,
    ),
    OpSamples(
        "kron",
        (S(Arr((2, 3)), Arr((3, 2))), S(Arr((3,)), Arr((2, 2))), S(Arr(()), Arr((2,)))),
        np.kron,
        layouts=False,
        strides=False,
    ),
    OpSamples(
        "cross",
        (S(Arr((2, 3)), Arr((2, 3)), 1), S(Arr((3, 4)), Arr((3, 1)), 0)),
        lambda a, b, dim: np.cross(a, b, axisa=dim, axisb=dim, axisc=dim),
        strides=False,
    ),
    OpSamples(
        "linalg_cross", (S(Arr((2, 3)), Arr((1, 3))),), np.cross, strides=False, torch=""
    ),
    OpSamples(
        "linalg_multi_dot",
        (
            S((Arr((2, 3)), Arr((3, 4)), Arr((4, 2)))),
            S((Arr((3,)), Arr((3, 4)), Arr((4, 2)), Arr((2,)))),
        ),
        np.linalg.multi_dot,
        torch="",
    ),
    OpSamples(
        "chain_matmul",
        (S(Arr((2, 3)), Arr((3, 4)), Arr((4, 2))),),
        lambda *matrices: np.linalg.multi_dot(matrices),
    ),
    OpSamples(
        "matrix_power",
        (S(Arr((3, 3)), 3), S(Arr((2, 2, 2)), 5), S(Arr((2, 2)), 0), S(Arr((2, 2)), -2)),
        np.linalg.matrix_power,
        strides=False,
    ),
    OpSamples(
        "linalg_diagonal",
        (S(Arr((2, 3, 4))), S(Arr((3, 4)), offset=1)),
        lambda x, offset=0: np.diagonal(x, offset, -2, -1),
        torch="",
    ),
    OpSamples(
        "einsum",
        (
            S("ij,jk->ik", Arr((2, 3)), Arr((3, 4))),
            S("bij,bjk", Arr((2, 2, 3)), Arr((2, 3, 2))),
            S("...ij,...jk->...ik", Arr((2, 2, 3)), Arr((3, 2))),
            S("ii->i", Arr((3, 3))),
            S("iij,jk", Arr((2, 2, 3)), Arr((3, 2))),
            S("ij->", Arr((3, 4))),
            S("i,j", Arr((2,)), Arr((3,))),
            S("ab,bc,cd,de->ae", Arr((2, 3)), Arr((3, 4)), Arr((4, 2)), Arr((2, 3))),
            S("ij,ij,ij->i", Arr((2, 3)), Arr((2, 3)), Arr((2, 3))),
            S("bldn,bld,bld->bln", Arr((2, 3, 2, 2)), Arr((2, 3, 2)), Arr((2, 3, 2))),
        ),
        np.einsum,
        strides=False,
    ),
    OpSamples(
        "cdist",
        (
            S(Arr((3, 2)), Arr((4, 2))),
            S(Arr((2, 3, 2)), Arr((4, 2)), 1.0),
            S(Arr((3, 2)), Arr((4, 2)), 3.0),
            S(Arr((3, 2)), Arr((4, 2)), float("inf")),
            S(Arr((30, 2)), Arr((2, 2))),
        ),
        _pair_norms,
        strides=False,
    ),
    OpSamples(
        "pair_distances",
        (S(Arr((3, 2)), Arr((4, 2)), 2.0, None),),
        _pair_norms,
        strides=False,
        torch="",
    ),
    OpSamples(
        "einsum_nest",
        (
            S((Arr((3, 4)), Arr((4, 2))), "ij,jk->ki"),
            S((Arr((3, 2)), Arr((4, 2)), Arr((3,))), "ik,jk,i->j"),
        ),
        lambda operands, equation: np.einsum(equation, *operands),
        strides=False,
        torch="",
    ),
    OpErrors(
        "mm",
        (
            Bad(S(Arr((2, 3)), Arr((2, 3))), RuntimeError, "2x3 and 2x3", names_op=True),
            Bad(S(Arr((2, 3)), Arr((3,))), RuntimeError, "2-D", names_op=True),
            Bad(S(Arr((2, 2)), Arr((2, 2), kind="int")), RuntimeError, "dtype", names_op=True),
            Bad(
                S(Arr((2, 2), kind="bool"), Arr((2, 2), kind="bool")),
                RuntimeError, "bool", names_op=True,
            ),
        ),
    ),
    OpErrors(
        "matmul",
        (
            Bad(S(Arr((2, 3)), Arr((2, 3))), RuntimeError, "2x3 and 2x3"),
            Bad(S(Arr(()), Arr((2, 3))), RuntimeError, "at least 1D", names_op=True),
        ),
    ),
    OpErrors(
        "dot",
        (
            Bad(S(Arr((2,)), Arr((3,))), RuntimeError, "size", names_op=True),
            Bad(S(Arr((2, 2)), Arr((2,))), RuntimeError, "dimensions", names_op=True),
        ),
    ),
    OpErrors("addmm", (Bad(S(Arr((5,)), Arr((2, 3)), Arr((3, 4))), RuntimeError, "",
                           names_op=True),)),
    OpErrors(
        "einsum",
        (
            Bad(S("ij,jk->ik", Arr((2, 2))), RuntimeError, "fewer operands", names_op=True),
            Bad(S("i->ii", Arr((2,))), RuntimeError, "more than once", names_op=True),
            Bad(S("i->k", Arr((2,))), RuntimeError, "does not appear", names_op=True),
            Bad(S("..i", Arr((2,))), RuntimeError, "ellipsis", names_op=True),
            Bad(S("ij", Arr((2,))), RuntimeError, "number of subscripts", names_op=True),
            Bad(S("i,i", Arr((2,)), Arr((3,))), RuntimeError, "broadcast", names_op=True),
            Bad(S("i1", Arr((2, 2))), RuntimeError, "subscripts must be", names_op=True),
        ),
    ),
    OpErrors(
        "tensordot",
        (
            Bad(S(Arr((2, 3)), Arr((4, 2)), 1), RuntimeError, "contracted", names_op=True),
            Bad(S(Arr((2, 3)), Arr((4, 2)), 3), RuntimeError, "dims", names_op=True),
        ),
    ),
    OpErrors(
        "cdist",
        (
            Bad(S(Arr((2,)), Arr((2, 2))), RuntimeError, "2D", names_op=True),
            Bad(S(Arr((2, 3)), Arr((2, 2))), RuntimeError, "columns"),
            Bad(S(Arr((2, 2)), Arr((2, 2)), -1.0), RuntimeError, "non-negative", names_op=True),
        ),
    ),
)
