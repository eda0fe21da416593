"""PyTorch's own operator samples (see `torch_suite`): a few here, all by `make exhaustive`."""

from __future__ import annotations

from typing import Any

import pytest

from . import torch_suite

pytestmark = pytest.mark.oracle

# Operators that differ on purpose: the kinds of comparison, and the reason.
DELIBERATE: dict[str, tuple[tuple[str, ...], str]] = {
    **{
        f"special.{name}": (
            ("value", "method", "inplace", "compiled"),
            "PyTorch's float64 values are wrong from the eighth digit on",
        )
        for name in ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1")
    },
    **{
        f"__{name}__": (
            ("error",), "called on the class, a reflected operator takes any object as self"
        )
        for name in ("radd", "rdiv", "rmul", "rand", "ror", "rxor")
    },
    "addbmm": (("inplace",), "PyTorch gives the tensor that is written in place another shape"),
    "as_strided_scatter": (
        ("gradient",), "PyTorch's gradient of input keeps the elements that were written over"
    ),
    **{
        name: (("gradient",), "PyTorch's gradient of the triangle that is not read is not zero")
        for name in ("cholesky_inverse", "cholesky_solve")
    },
    "cholesky": (
        ("gradient",), "PyTorch's gradient has an imaginary diagonal, which A cannot have"
    ),
    "linalg.cholesky_ex": (
        ("gradient",), "PyTorch's gradient has an imaginary diagonal, which A cannot have"
    ),
    "linalg.cholesky": (
        ("gradient",), "PyTorch's gradient has an imaginary diagonal, which A cannot have"
    ),
    **{
        name: (("strides", "method"), "a conjugate is computed, not marked: it is a new tensor")
        for name in ("conj", "conj_physical")
    },
    "histogramdd": (("strides",), "PyTorch gives edges back with the gaps that they came with"),
    **{
        f"masked.{name}": (
            ("value",), "PyTorch takes a broken correction from the count in single precision"
        )
        for name in ("std", "var")
    },
    **{
        name: (
            ("value", "strides", "gradient", "compiled"),
            "random projections: signs, and vectors of values that are zero, are not laid down",
        )
        for name in ("pca_lowrank", "svd_lowrank")
    },
    "nn.functional.max_unpool2d.grad": (
        ("strides",), "PyTorch keeps channels last; here results are row-major"
    ),
    "nn.functional.interpolate.bilinear": (
        ("strides",), "PyTorch keeps channels last for bytes; here results are row-major"
    ),
    "nn.functional.interpolate.bicubic": (
        ("strides", "value", "compiled"),
        "as bilinear; PyTorch's weights of bytes come from float32, here from float64",
    ),
    "istft": (("gradient",), "PyTorch gives none of a window that is shorter than a frame"),
    "linalg.householder_product": (
        ("gradient",), "of no reflections PyTorch gives zeros, here the result depends on nothing"
    ),
    **{
        f"polygamma.polygamma_n_{order}": (
            ("value", "method", "inplace", "compiled"),
            "PyTorch's values at the poles are large, not infinite",
        )
        for order in range(5)
    },
    "special.polygamma.special_polygamma_n_0": (
        ("value", "compiled"), "PyTorch's values at the poles are large, not infinite"
    ),
    **{
        name: (
            ("value", "method", "gradient", "compiled"),
            "the sign (or phase) of an eigenvector is not laid down",
        )
        for name in ("linalg.eig", "linalg.eigh")
    },
}


def _names() -> list[str]:
    try:
        _, database = torch_suite.torch_database()
    except ImportError:
        return []
    return sorted(torch_suite.full_name(i) for i in database if torch_suite.ours(i) is not None)


NAMES = _names()


def _report(name: str, found: list[Any]) -> str:
    """What differs and is not deliberate; empty where all is well."""
    kinds = DELIBERATE.get(name, ((), ""))[0]
    return "\n".join(str(difference) for difference in found if difference.kind not in kinds)


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_torch(name: str) -> None:
    report = _report(name, torch_suite.check(name, ("float32", "float64", "int64"), limit=6))
    assert not report, report[:2000]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_torch_exhaustively(name: str) -> None:
    report = _report(name, torch_suite.check(name, torch_suite.ALL_DTYPES, 400, compiled=True))
    assert not report, report[:2000]
