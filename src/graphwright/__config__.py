"""How this was built, as `torch.__config__` says it."""

from __future__ import annotations

from graphwright import version as own_version
from graphwright.backends import cpu
from graphwright.runtime import _core, blas

__all__ = ["parallel_info", "show"]


def show() -> str:
    """Text for a report: the version, matrix products, the processor, and what is not there."""
    return (
        f"graphwright {own_version.__version__} built with:\n"
        f"  - matrix products: {blas.library_path() or 'its own'}\n"
        f"  - CPU capability usage: {cpu.get_cpu_capability()}\n"
        "  - Build settings: USE_CUDA=OFF, USE_CUDNN=OFF, USE_MKL=OFF, USE_MKLDNN=OFF, "
        "USE_OPENMP=OFF\n"
    )


def parallel_info() -> str:
    """Text for a report: how many threads there are."""
    return f"graphwright's own pool of threads:\n\tget_num_threads() : {_core.num_threads()}\n"
