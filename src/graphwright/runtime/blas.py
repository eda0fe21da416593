"""Finding the BLAS library and handing it to the core."""

from __future__ import annotations

import importlib.util
import os
from functools import lru_cache

from graphwright.runtime import _core


def library_path() -> str | None:
    """The shared library of the scipy-openblas32 package, which is not imported; or None."""
    spec = importlib.util.find_spec("scipy_openblas32")
    if spec is None or spec.origin is None:
        return None
    for name in ("libscipy_openblas.so", "libscipy_openblas.dylib"):
        path = os.path.join(os.path.dirname(spec.origin), "lib", name)
        if os.path.exists(path):
            return path
    return None


def use_installed() -> bool:
    """Take matrix products from the installed BLAS, opened when first needed; False if none.

    Without one the core's own kernels do the work.
    """
    path = library_path()
    _core.set_blas(path)
    return path is not None


@lru_cache(maxsize=1)
def prepare() -> None:
    """`use_installed`, once: for each family of ops whose kernels multiply matrices."""
    use_installed()
