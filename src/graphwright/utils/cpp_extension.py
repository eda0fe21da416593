"""Building code against PyTorch's C++ library, which is not here: every way to raises
NotImplementedError.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "CUDA_HOME", "ROCM_HOME", "BuildExtension", "CUDAExtension", "CppExtension", "SyclExtension",
    "include_paths", "library_paths", "load", "load_inline",
]  # fmt: skip

CUDA_HOME: str | None = None
ROCM_HOME: str | None = None


def load(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    raise NotImplementedError(
        "utils.cpp_extension: graphwright has no C++ library of PyTorch's to build extensions "
        "against. graphwright.library.custom_op makes an op of a function in any library"
    )


load_inline = include_paths = library_paths = load
CppExtension = CUDAExtension = SyclExtension = load


class BuildExtension:
    """The command of setuptools that builds extensions."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        load()

    with_options = load
