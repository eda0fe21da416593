"""Compiled kernels by what decides them: from memory, from disk, or from `pool`'s processes.

An entry is found whichever Triton made it; it counts only if that is the one that is installed,
or none is. So kernels can be compiled ahead for a machine that has no Triton.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from graphwright.codegen.cache import kernel_cache
from graphwright.codegen.target import KernelFailure, TritonMissing, program_identity
from graphwright.codegen.triton import worker
from graphwright.codegen.triton.canonical import canonical
from graphwright.codegen.triton.names import ERROR, OFFSET, SEED
from graphwright.codegen.triton.writer import TritonKernel
from graphwright.runtime.record import Record
from graphwright.runtime.tensor.dtypes import FLOAT8

ARCHITECTURES = (80, 86, 87, 89, 90, 100, 103, 120, 121)
"""The compute capabilities that kernels are compiled for."""
_POINTERS = {
    "bool": "*i8", "uint8": "*u8", "int8": "*i8", "int16": "*i16", "int32": "*i32",
    "int64": "*i64", "float16": "*fp16", "bfloat16": "*bf16", "float32": "*fp32",
    "float64": "*fp64",
}
_TOOLS = ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "TRITON_LIBDEVICE_PATH")
"""The variables that name parts of Triton which are not its own; it is given no others."""
_QUOTED_LINES = 12


class CannotCompile(KernelFailure):
    """A kernel that Triton or its assembler does not compile; the message quotes them."""


class CompiledKernel(Record):
    """A kernel for one GPU architecture.

    signature: the types of its parameters in order, as Triton spells them ("*fp32", "i64"). After
    them come two addresses of scratch memory: `scratch_bytes` for each program, which is 0 for
    most, and one that may be null. registers: of one thread; spill_bytes: that its code moves
    between registers and memory; None where the assembler has not reported them. key: what the
    cache knows it by, equal for equal kernels. triton: the version that compiled it.
    """

    key: str
    name: str
    ptx: str
    cubin: bytes
    num_warps: int
    shared_bytes: int
    scratch_bytes: int
    registers: int | None
    spill_bytes: int | None
    signature: tuple[str, ...]
    triton: str


class Request(Record):
    """A kernel to compile for compute capability `arch` (90: Hopper).

    unaligned: names of buffers whose addresses are no multiples of 16 bytes; allocators give such
    to all, but views may begin anywhere. contracts: see `GpuProgram`. multiples: names of sizes
    that are multiples of 16.
    """

    kernel: TritonKernel
    arch: int = 90
    unaligned: Collection[str] = ()
    contracts: bool = True
    multiples: Collection[str] = ()

    def job(self) -> dict[str, Any]:
        """All that decides the machine code, for `worker.build`."""
        kernel = canonical(self.kernel)
        return {
            "name": kernel.name, "source": kernel.source, "signature": signature(kernel),
            "constants": kernel.blocks, "arch": self.arch,
            "aligned": [*[place for place, buffer in enumerate(kernel.buffers)
                          if buffer.name not in self.unaligned],
                        *[place for place, size in enumerate(kernel.sizes, len(kernel.buffers))
                          if size in self.multiples]],
            "options": {"num_stages": 3, "num_warps": kernel.num_warps,
                        "enable_fp_fusion": self.contracts},
            "variables": {name: os.environ[name] for name in _TOOLS if name in os.environ}}


def signature(kernel: TritonKernel) -> dict[str, str]:
    """The type of each parameter, as Triton spells it."""
    types = ["*u8" if b.dtype in FLOAT8 else _POINTERS[b.dtype.name] for b in kernel.buffers]
    sizes = ["i64" if kernel.wide else "i32"] * len(kernel.sizes)
    found = dict(zip(kernel.parameters, [*types, *sizes], strict=True))
    if kernel.checked:
        found[ERROR] = "*i64"
    if kernel.random:
        found |= {SEED: "i64", OFFSET: "i64"}
    return found | dict.fromkeys(kernel.blocks, "constexpr")


def compile_kernel(
    kernel: TritonKernel, arch: int = 90, unaligned: Collection[str] = ()
) -> CompiledKernel:
    """One kernel; see `Request` and `compile_kernels`."""
    return compile_kernels([Request(kernel, arch, unaligned)])[0]


def compile_kernels(requests: Sequence[Request]) -> list[CompiledKernel]:
    """Compiled kernels, in the order of the requests. Those that are not in the cache are compiled
    in processes of their own, several at once.

    Raises: TritonMissing where one is not in the cache; CannotCompile for the first that cannot
        be compiled, when all others are.
    """
    jobs = [request.job() for request in requests]
    keys = [_key(job) for job in jobs]
    cache, version = kernel_cache(), triton_version()

    def is_current(entry: bytes) -> bool:
        return version in (None, worker.unpack(entry)[0]["triton"])

    entries = {key: cache.get(key, is_current) for key in dict.fromkeys(keys)}
    missing = {key: job for key, job in zip(keys, jobs, strict=True) if entries[key] is None}
    if missing:
        names = {key: request.kernel.name for key, request in zip(keys, requests, strict=True)}
        if version is None:
            raise TritonMissing(", ".join(names[key] for key in missing))
        for key, answer in _build(missing).items():
            error = worker.error_in(answer)
            if error is not None:
                raise CannotCompile(
                    f"{names[key]} cannot be compiled for sm_{missing[key]['arch']} by Triton "
                    f"{version}: " + "\n".join(error.strip().splitlines()[:_QUOTED_LINES]))
            entries[key] = answer
    made = {key: _compiled(key, entry) for key, entry in entries.items() if entry is not None}
    return [made[key] for key in keys]


def _build(missing: Mapping[str, dict[str, Any]]) -> dict[str, bytes]:
    """Have kernels compiled. The answers; those that are no errors are in the cache then.

    Raises: CannotCompile if there can be no process.
    """
    from graphwright.codegen.triton import pool

    cache = kernel_cache()

    def received(key: str, answer: bytes) -> None:
        answers[key] = answer
        if worker.error_in(answer) is None:
            cache.put(key, answer)

    with pool.LOCK:
        # another thread may have compiled some meanwhile
        known = {key: cache.known(key) for key in missing}
        answers = {key: entry for key, entry in known.items() if entry is not None}
        try:
            pool.run({key: job for key, job in missing.items() if key not in answers}, received)
        except OSError as error:
            raise CannotCompile(
                f"kernels cannot be compiled in another process: {error}") from error
    return {key: answers[key] for key in missing}


def _compiled(key: str, entry: bytes) -> CompiledKernel:
    header, ptx, cubin = worker.unpack(entry)
    kinds = tuple(header.pop("signature"))
    return CompiledKernel(key=key, ptx=ptx.decode(), cubin=cubin, signature=kinds, **header)


# -- the cache's key ------------------------------------------------------------------------------

def _key(job: Mapping[str, Any]) -> str:
    """The name of all that decides the code, on every machine, but the version of Triton."""
    tools = [program_identity(path) for path in job["variables"].values()]
    text = json.dumps([job, tools, _worker_identity()])
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def _worker_identity() -> str:
    """What changes when kernels are compiled, or entries written, in another way."""
    with open(worker.__file__, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def triton_version() -> str | None:
    """The version of Triton that would be imported, without importing it; None without one."""
    spec = find_spec("triton")
    if spec is None or spec.origin is None:
        return None
    return _version_in(spec.origin)


@lru_cache(maxsize=1)
def _version_in(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        found = re.search(r"""^__version__ = ['"](.+)['"]""", file.read(), re.MULTILINE)
    return found.group(1) if found else "of an unknown version"
