"""What a bug report needs: `python -m graphwright.utils.collect_env`, after PyTorch's."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from graphwright.runtime import _core, blas
from graphwright.runtime.cuda import devices
from graphwright.version import __version__

_PACKAGES = ("numpy", "ml_dtypes", "llvmlite", "scipy-openblas32", "triton", "tensorboardX")


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def processor() -> str | None:
    """The CPU's name, as Linux has it; None where it has none."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return None
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else None


def _facts() -> Iterator[tuple[str, str]]:
    yield "graphwright version", __version__
    yield "Python version", f"{sys.version.splitlines()[0]} ({platform.architecture()[0]})"
    yield "Python platform", platform.platform()
    yield "libc version", "-".join(platform.libc_ver())
    yield "CPU", f"{processor() or 'unknown'} ({platform.machine()})"
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield "CPU cores", f"{usable} usable of {os.cpu_count()}"
    yield "Threads", str(_core.num_threads())
    yield "BLAS", str(blas.library_path() or "none found: matrix products use our own GEMM")
    yield "Backends", _backends()
    yield "Kernel cache", _cache()
    yield "Is CUDA available", str(devices.is_available())
    yield "GPU", devices.summary()
    for name in sorted(os.environ):
        if name.startswith("GRAPHWRIGHT_"):
            yield name, os.environ[name]
    for name in _PACKAGES:
        yield f"[pip3] {name}", _installed(name)


def _backends() -> str:
    """The names that `compile(backend=...)` takes."""
    from importlib import import_module

    return ", ".join(import_module("graphwright.compiler").list_backends())


def _cache() -> str:
    from importlib import import_module

    folder = import_module("graphwright.codegen.cache").cache_folder()
    return "in memory only" if folder is None else str(folder)


def get_pretty_env_info() -> str:
    """A line for each fact: versions, processor, threads, backends, the kernel cache."""
    return "\n".join(f"{name}: {value}" for name, value in _facts())


def main() -> None:
    """Print them."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
