"""Special functions of GPUs are the CPU's own, written as Triton by tracing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen.gpu.rules import SPECIAL
from graphwright.codegen.triton.numeric_functions import numeric_source
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.special.catalogue import FUNCTIONS
from graphwright.runtime.ops.special.polynomials import LIMITED, MAX_STEPS

from ..lowered import tensor
from .programs import check_eager, program_of
from .simulated import run_program

VALUES = np.array([
    *(np.linspace(-12.3, 12.4, 40)), *np.arange(-3.0, 4.0), 0.46875, 0.7, 1.1, 2.0, 8.0, 25.0,
    40.5, 1e-30, -1e-30, 1e3, 1e10, -0.0, np.inf, -np.inf, np.nan,
])
"""Both sides of where the pieces of the functions meet, poles, and numbers that are none."""
QUICK = ("digamma", "special_i0e", "special_airy_ai", "special_chebyshev_polynomial_w",
         "special_hermite_polynomial_h")


def compared(function: Callable[..., Any], *arrays: Any, tolerance: float = 1e-11) -> None:
    pytest.importorskip("triton")
    with np.errstate(all="ignore"):
        check_eager(function, *map(tensor, arrays), tolerance=tolerance)


@pytest.mark.parametrize("name", [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in FUNCTIONS if name not in SPECIAL])
def test_a_function_as_on_the_cpu(name: str) -> None:
    op = getattr(ops, name)
    if "polynomial" in name:
        orders = np.array([-1.0, 0.0, 1.0, 2.9, 7.0, np.nan])
        high = np.array([] if name in LIMITED else [MAX_STEPS + 2.0, MAX_STEPS + 7.0])
        compared(lambda x, n: op(x[:, None], n), VALUES[::4], orders)
        compared(lambda x, n: op(x[:, None], n), np.linspace(-1.0001, 1.0001, 9), high,
                 tolerance=1e-9)
    elif name in ("special_zeta", "igamma", "igammac"):
        compared(lambda x, y: op(x[:, None], y), VALUES[::3], np.abs(VALUES[::5]))
    else:
        compared(op, VALUES)


def test_polygamma_of_each_order() -> None:
    compared(lambda x: (gw.polygamma(0, x), gw.polygamma(1, x), gw.polygamma(4, x)), VALUES[::2])


def test_one_number() -> None:
    compared(lambda x: gw.digamma(x), np.array([1.5]))
    compared(lambda x, y: gw.igamma(x, y), np.array(2.5), np.array([1.0, 3.0]))


def test_what_is_done_is_written_line_by_line() -> None:
    assert numeric_source("special_log_ndtr").startswith("""
@triton.jit
def gw_numeric_special_log_ndtr(x):
    v1 = x < -1.0
    v2 = x >= -1.0
    v3 = tl.where(v2, x, float("nan"))
""")


def test_a_repeated_step_is_a_loop_while_an_element_needs_it() -> None:
    text = numeric_source("special_legendre_polynomial_p")
    assert text.count("while ") == 1 and f"<= {float(MAX_STEPS)}" in text


@pytest.mark.parametrize("name", sorted(LIMITED))
def test_too_high_an_order_is_reported(name: str) -> None:
    pytest.importorskip("triton")
    x, n = np.full(2, 0.5), np.array([2.0, MAX_STEPS + 1.0])
    program = program_of(lambda x, n: getattr(ops, name)(x, n), tensor(x), tensor(n))
    (site,) = program.checks
    assert site.message == "the order n must be at most 65536, got {value}"
    _, device = run_program(program, [x, n])
    assert (int(device.error[0]) & ((1 << 53) - 1)) - (1 << 52) == MAX_STEPS + 1
