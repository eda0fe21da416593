"""Finding the BLAS library and handing it to the core."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from graphwright.runtime import _core


def library_path() -> Path | None:
    """The shared library of the scipy-openblas32 package, which is not imported; or None."""
    spec = importlib.util.find_spec("scipy_openblas32")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "lib"
    for name in ("libscipy_openblas.so", "libscipy_openblas.dylib"):
        if (folder / name).exists():
            return folder / name
    return None


def use_installed() -> bool:
    """Take matrix products from the installed BLAS, opened when first needed; False if none.

    Without one the core's own kernels do the work.
    """
    path = library_path()
    _core.set_blas(None if path is None else str(path))
    return path is not None
