"""The numerical functions of the special functions' ops, by the ops' names."""

from __future__ import annotations

from functools import partial

from graphwright.runtime.ops.special import bessel, error, gamma
from graphwright.runtime.ops.special.numeric import Function
from graphwright.runtime.ops.special.polynomials import POLYNOMIALS

FUNCTIONS: dict[str, Function] = {
    "erfc": error.erfc, "erfinv": error.erfinv, "lgamma": gamma.lgamma, "digamma": gamma.digamma,
    "i0": bessel.i0, "special_erfcx": error.erfcx, "special_ndtri": error.ndtri,
    "special_log_ndtr": error.log_ndtr, "special_i0e": bessel.i0e, "special_i1": bessel.i1,
    "special_i1e": bessel.i1e, "special_airy_ai": bessel.airy_ai,
    "special_bessel_j0": bessel.j0, "special_bessel_j1": bessel.j1,
    "special_bessel_y0": bessel.y0, "special_bessel_y1": bessel.y1,
    "special_modified_bessel_i0": bessel.i0, "special_modified_bessel_i1": bessel.i1,
    "special_modified_bessel_k0": bessel.k0, "special_modified_bessel_k1": bessel.k1,
    "special_scaled_modified_bessel_k0": bessel.k0e,
    "special_scaled_modified_bessel_k1": bessel.k1e,
    "special_spherical_bessel_j0": bessel.spherical_j0,
    "special_zeta": gamma.zeta, "igamma": gamma.igamma, "igammac": gamma.igammac,
    **{f"special_{name}": function for name, function in POLYNOMIALS.items()},
}
"""What each op computes, of float64 arrays."""


def polygamma(order: int) -> Function:
    """The function of op `polygamma` for an order."""
    return partial(gamma.polygamma, order)
