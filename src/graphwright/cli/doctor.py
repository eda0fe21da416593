"""`graphwright doctor`: what this machine can do, and which backend will be used."""

from __future__ import annotations

import argparse
import importlib.util
import platform
import shlex
import sys
from collections.abc import Iterator
from typing import Any

import graphwright as gw
from graphwright.capture.frame.python_support import hook_problem
from graphwright.cli.options import add_json
from graphwright.cli.output import json_alone, say
from graphwright.codegen import cache, target
from graphwright.face import native_backends
from graphwright.runtime import blas
from graphwright.runtime.cuda import devices
from graphwright.version import __version__

OPTIONAL = (("triton", "compiles kernels for NVIDIA GPUs"),
            ("rich", "colours and tables on a terminal"),
            ("torch", "a peer of `bench` and of `python -m benchmarks`"),
            ("jax", "a peer of `bench` and of `python -m benchmarks`"))


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "doctor", help="what this machine can do and which backend is used",
        description="Check this machine: Python, the frame hook, backends, threads, the cache.")
    add_json(parser)
    parser.set_defaults(run=run)


def installed(name: str) -> bool:
    """Whether a library could be imported; it is not imported for that."""
    return importlib.util.find_spec(name) is not None


def compiler() -> str:
    """The C compiler's path, or why there is none."""
    try:
        return shlex.join(target.find_compiler().command)
    except target.CompilerMissing as missing:
        return str(missing)


def kernels() -> str:
    """Where compiled kernels are kept, and how many there are."""
    folder = cache.cache_folder()
    if folder is None:
        return "in memory only: GRAPHWRIGHT_CACHE_DIR is no absolute path"
    return f"{folder}: {entries(cache.kernel_cache())}"


def graphs() -> str:
    """Where the programs of graphs are kept, and how many there are."""
    kept = cache.graph_cache()
    if kept is None:
        return "off: GRAPHWRIGHT_GRAPH_CACHE is 0"
    if kept.folder is None:
        return "in memory only: GRAPHWRIGHT_CACHE_DIR is no absolute path"
    return f"{kept.folder}: {entries(kept)}"


def entries(kept: cache.KernelCache) -> str:
    """How many entries a cache has on disk, and their size."""
    sizes = [size for _, size in kept.entries()]
    return f"{len(sizes)} entries, {sum(sizes) / 2**20:.1f} MiB"


def lines() -> Iterator[tuple[str, str]]:
    """What is checked, and what was found."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield "Python", f"{python} ({sys.prefix})"
    yield "graphwright", __version__
    yield "frame hook", hook_problem() or "works on this Python"
    yield "processor", f"{platform.machine()}, {target.host().vector_bits}-bit vectors"
    yield "threads", str(gw.get_num_threads())
    yield "BLAS", str(blas.library_path() or "none found: matrix products use our own GEMM")
    yield "GPU", devices.summary()
    yield "llvm backend", "llvmlite is installed" if installed("llvmlite") else "no llvmlite"
    yield "c backend", compiler()
    yield "backend 'auto'", native_backends.resolve("auto")
    yield "kernel cache", kernels()
    yield "graph cache", graphs()
    for name, purpose in OPTIONAL:
        yield name, f"installed: {purpose}" if installed(name) else f"not installed ({purpose})"


def run(arguments: argparse.Namespace) -> None:
    """Print the table."""
    found = list(lines())
    if arguments.json:
        with json_alone(arguments.json) as emit:
            optional = dict(OPTIONAL)
            keys = {name: name.lower().replace(" ", "_").replace("'", "") for name, _ in found}
            emit({**{keys[name]: text for name, text in found if name not in optional},
                  "optional": {name: installed(name) for name in optional}})
        return
    width = max(len(name) for name, _ in found)
    for name, text in found:
        say(f"{name:<{width}}  {text}")
