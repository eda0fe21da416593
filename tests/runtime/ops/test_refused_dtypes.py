"""Dtypes that an op has no kernel for in PyTorch: refused alike, eagerly and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

HALVES = ("float16", "bfloat16")
INTEGERS = ("uint8", "int64")
_POLYNOMIALS = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    *("hermite_polynomial_h", "hermite_polynomial_he"),
    *("laguerre_polynomial_l", "legendre_polynomial_p"),
)
_SPECIAL = """
    airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 erfcx log_ndtr modified_bessel_i0
    modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtri scaled_modified_bessel_k0
    scaled_modified_bessel_k1 spherical_bessel_j0
"""

# name: dtypes, shapes of the arguments, the call for a library's `nn.functional`
FUNCTIONS: dict[str, tuple[tuple[str, ...], tuple[tuple[int, ...], ...], Callable[..., Any]]] = {
    "adaptive_max_pool1d": (INTEGERS, ((1, 4),), lambda F, x: F.adaptive_max_pool1d(x, 2)),
    "adaptive_max_pool2d": (INTEGERS, ((1, 4, 4),), lambda F, x: F.adaptive_max_pool2d(x, 2)),
    "grid_sample": (
        ("bool", *INTEGERS), ((1, 1, 2, 2), (1, 2, 2, 2)),
        lambda F, x, g: F.grid_sample(x, g, align_corners=False),
    ),
    "interpolate": (
        ("bool", "int64", "complex64"), ((1, 1, 2, 2),), lambda F, x: F.interpolate(x, 4)
    ),
    "interpolate of rows": (
        INTEGERS, ((1, 1, 2),), lambda F, x: F.interpolate(x, 4, mode="linear")
    ),
    "unfold": (INTEGERS, ((1, 1, 2, 2),), lambda F, x: F.unfold(x, 2)),
    "fold": (INTEGERS, ((1, 4, 1),), lambda F, x: F.fold(x, 2, 2)),
    "linear": (("bool",), ((2, 3), (4, 3)), lambda F, x, w: F.linear(x, w)),
    "pad by edges": (("bool",), ((1, 2, 2),), lambda F, x: F.pad(x, (1, 1), "replicate")),
    "pad by mirrors": (("bool",), ((1, 2, 2),), lambda F, x: F.pad(x, (1, 1), "reflect")),
    "hardtanh": (("bool",), ((2,),), lambda F, x: F.hardtanh(x)),
    "pdist": ((*HALVES, *INTEGERS), ((2, 2),), lambda F, x: F.pdist(x)),
}


def _refused(lib: Any, name: str, dtype: str) -> Callable[..., Any]:
    """The call, on whatever makes it: a compiled function for instance."""
    _, shapes, function = FUNCTIONS[name]
    given = [lib.ones(shape, dtype=getattr(lib, dtype)) for shape in shapes]
    return lambda wrap: wrap(lambda *args: function(lib.nn.functional, *args))(*given)


CASES = [(name, dtype) for name, (refused, *_) in FUNCTIONS.items() for dtype in refused]


@pytest.mark.parametrize("wrap", [lambda f: f, gw.compile], ids=["eager", "compiled"])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_functions(name: str, dtype: str, wrap: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError, match=rf"(?i)(not |only )(implemented|support).*{dtype}"):
        _refused(gw, name, dtype)(wrap)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_torch_refuses_them_with_the_same_exception(name: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError) as ours:
        _refused(gw, name, dtype)(lambda f: f)
    with pytest.raises(RuntimeError) as theirs:
        _refused(torch, name, dtype)(lambda f: f)
    assert type(ours.value) is type(theirs.value)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", [*_SPECIAL.split(), *_POLYNOMIALS, "zeta"])
def test_special_functions_without_half_precision(name: str, dtype: str) -> None:
    x = gw.full((3,), 0.5, dtype=getattr(gw, dtype))
    rest = (x,) if name in (*_POLYNOMIALS, "zeta") else ()
    function = getattr(gw.special, name)
    for call in (function, gw.compile(function)):
        with pytest.raises(NotImplementedError, match=f"{name}.*{dtype}"):
            call(x, *rest)
    assert function(x.float(), *(r.float() for r in rest)).dtype is gw.float32


@pytest.mark.parametrize("dtype", HALVES)
def test_draws_and_losses_without_half_precision(dtype: str) -> None:
    F = gw.nn.functional
    x = gw.ones(2, 3, dtype=getattr(gw, dtype))
    labels = gw.tensor([0, 2])
    calls = {
        "binomial": lambda: gw.binomial(x, x),
        "ctc_loss": lambda: F.ctc_loss(x[:, None], gw.tensor([[1]]), [2], [1]),
        "multi_margin_loss": lambda: F.multi_margin_loss(x, labels),
        "multilabel_margin_loss": lambda: F.multilabel_margin_loss(x, gw.zeros(2, 3).long()),
    }
    for name, call in calls.items():
        with pytest.raises(NotImplementedError, match=f"{name}.*{dtype}"):
            call()


def test_complex_nan_to_num_has_no_gradient() -> None:
    x = gw.tensor([1 + 2j, complex("nan")], requires_grad=True)
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        gw.nan_to_num(x)
    assert gw.nan_to_num(x.detach()).tolist() == [1 + 2j, 0j]
