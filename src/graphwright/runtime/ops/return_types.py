"""The named tuples that ops with several results return: `max(dim)` gives a `return_types.max`.

Their names and fields are PyTorch's. Each class is made when it is first asked for.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from graphwright.runtime.naming import NAMING, missing

_VALUES = ("values", "indices")

FIELDS: dict[str, tuple[str, ...]] = {
    "aminmax": ("min", "max"),
    "cummax": _VALUES,
    "cummin": _VALUES,
    "frexp": ("mantissa", "exponent"),
    "geqrf": ("a", "tau"),
    "histogram": ("hist", "bin_edges"),
    "histogramdd": ("hist", "bin_edges"),
    "kthvalue": _VALUES,
    "linalg_cholesky_ex": ("L", "info"),
    "linalg_eig": ("eigenvalues", "eigenvectors"),
    "linalg_eigh": ("eigenvalues", "eigenvectors"),
    "linalg_inv_ex": ("inverse", "info"),
    "linalg_ldl_factor": ("LD", "pivots"),
    "linalg_ldl_factor_ex": ("LD", "pivots", "info"),
    "linalg_lstsq": ("solution", "residuals", "rank", "singular_values"),
    "linalg_lu": ("P", "L", "U"),
    "linalg_lu_factor": ("LU", "pivots"),
    "linalg_lu_factor_ex": ("LU", "pivots", "info"),
    "linalg_qr": ("Q", "R"),
    "linalg_slogdet": ("sign", "logabsdet"),
    "linalg_solve_ex": ("result", "info"),
    "linalg_svd": ("U", "S", "Vh"),
    "lu_unpack": ("P", "L", "U"),
    "max": _VALUES,
    "median": _VALUES,
    "min": _VALUES,
    "mode": _VALUES,
    "nanmedian": _VALUES,
    "qr": ("Q", "R"),
    "slogdet": ("sign", "logabsdet"),
    "sort": _VALUES,
    "svd": ("U", "S", "V"),
    "topk": _VALUES,
    "triangular_solve": ("solution", "cloned_coefficient"),
}
"""What each op's result is made of."""


def __dir__() -> list[str]:
    return list(FIELDS)


def _text(result: Any) -> str:
    """The class and a line for each field, as PyTorch prints it."""
    fields = zip(result._fields, result, strict=True)
    lines = ",\n".join(f"{field}={value!r}" for field, value in fields)
    return f"{NAMING.root}.return_types.{type(result).__name__}(\n{lines})"


def __getattr__(name: str) -> Any:
    """The class of one op's results. Raises AttributeError for an op without any."""
    if name not in FIELDS:
        raise missing("graphwright.return_types", name)
    made = namedtuple(name, FIELDS[name], module="graphwright.return_types")  # type: ignore[misc]
    made.__repr__ = _text  # type: ignore[method-assign]
    made.__doc__ = f"What `{name.replace('linalg_', 'linalg.')}` returns."
    return globals().setdefault(name, made)     # another thread may have been first
