"""What each configuration of the templates takes of a GPU, as a table: `python -m
tests.codegen.gpu.resource_table` writes resources.txt beside this file.

Registers of a thread, bytes of a thread's stack (0: nothing is spilled), bytes of shared memory of
a program, the tensor cores' instructions, and how many of the loads and stores of global memory
have 16 bytes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graphwright as gw
from graphwright.codegen.gpu.build import build_gpu_program
from graphwright.codegen.triton import CompiledKernel, compile_kernels, kernel_requests
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.record import Record

from .programs import graph_of

F = gw.nn.functional
TABLE = Path(__file__).with_name("resources.txt")
ARCHITECTURES = (80, 90)
SHARED_BYTES = {80: 163 * 1024, 90: 227 * 1024}
"""Shared memory of a program, by architecture."""


class Configuration(Record):
    """A function of tensors of these shapes and one dtype.

    tensor_cores: whether its products are theirs; wide: whether what they load and store has 16
    bytes an access, by architecture.
    """

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    dtype: Any
    precision: str = "ieee"
    tensor_cores: bool = True
    wide: tuple[int, ...] = ARCHITECTURES
    dynamic: bool = False


def _attention(causal: bool) -> Callable[..., Any]:
    return lambda q, k, v: ops.fused_attention(q, k, v, None, causal, 0.125)[0]


def _masked(q: Any, k: Any, v: Any, mask: Any) -> Any:
    return ops.fused_attention(q, k, v, mask, False, 0.125)[0]


SQUARE, LARGE = (1024, 1024), (4096, 4096)
PRODUCTS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "product": (lambda x, y: x @ y, (SQUARE, SQUARE)),
    "large product": (lambda x, y: x @ y, (LARGE, LARGE)),
    "product, left turned": (lambda x, y: x.t() @ y, (SQUARE, SQUARE)),
    "product, right turned": (lambda x, y: x @ y.t(), (SQUARE, SQUARE)),
    "batched product": (lambda x, y: x @ y, ((16, 512, 256), (16, 256, 512))),
    "ragged product": (lambda x, y: x @ y, ((1000, 777), (777, 501))),
    "small product": (lambda x, y: x @ y, ((16, 4096), LARGE)),
}
KINDS = {
    "bfloat16": (gw.bfloat16, "ieee"), "float16": (gw.float16, "ieee"),
    "float32": (gw.float32, "ieee"), "tf32": (gw.float32, "tf32"),
    "tf32x3": (gw.float32, "tf32x3"), "float64": (gw.float64, "ieee"),
}


def _wide(name: str, kind: str) -> tuple[int, ...]:
    """Rows that begin at any element are read one by one; so are those that sm_90 has to turn
    for its tensor cores, which take tf32 only along the inner axis."""
    if name.startswith("ragged"):
        return ()
    turned = name not in ("product, right turned", "small product")
    return (80,) if kind == "tf32" and turned else ARCHITECTURES


ATTENTION = {
    f"{kind} attention of {depth}{', causal' if causal else ''}": Configuration(
        _attention(causal), ((8, 1024, depth),) * 3, getattr(gw, kind),
        tensor_cores=kind != "float32")
    for kind in ("bfloat16", "float16", "float32") for depth in (64, 128, 256)
    for causal in (False, True)
}
CONFIGURATIONS: dict[str, Configuration] = {
    **{f"{kind} {name}": Configuration(function, shapes, dtype, precision, kind != "float32",
                                       _wide(name, kind))
       for name, (function, shapes) in PRODUCTS.items()
       for kind, (dtype, precision) in KINDS.items()},
    "float16 linear layer and gelu": Configuration(
        lambda x, w, b: F.gelu(F.linear(x, w, b)), (SQUARE, SQUARE, (1024,)), gw.float16),
    "bfloat16 product of symbolic sizes": Configuration(
        lambda x, y: x @ y, (SQUARE, SQUARE), gw.bfloat16, dynamic=True),
    **ATTENTION,
    "bfloat16 attention with a mask": Configuration(
        _masked, (*((8, 1024, 64),) * 3, (1024, 1024)), gw.bfloat16),
    "bfloat16 convolution": Configuration(
        lambda x, w: F.conv2d(x, w, padding=1), ((8, 64, 32, 32), (64, 64, 3, 3)), gw.bfloat16),
    "float32 convolution": Configuration(
        lambda x, w: F.conv2d(x, w, padding=1), ((8, 64, 32, 32), (64, 64, 3, 3)), gw.float32,
        tensor_cores=False),
    "depthwise convolution": Configuration(
        lambda x, w: F.conv2d(x, w, padding=1, groups=64), ((8, 64, 32, 32), (64, 1, 3, 3)),
        gw.float32, tensor_cores=False, wide=()),
}


class Resources(Record):
    """The line of one kernel."""

    registers: int
    stack: int
    shared: int
    instructions: tuple[str, ...]
    wide_loads: int
    loads: int
    wide_stores: int
    stores: int

    def text(self) -> str:
        """As it stands in the table."""
        accessed = f"{self.wide_loads:3}/{self.loads:<3} {self.wide_stores:3}/{self.stores:<3}"
        names = " ".join(self.instructions) or "-"
        return f"{self.registers:4} {self.stack:5} {self.shared:7} {accessed} {names}"


def compiled(configuration: Configuration, arch: int) -> dict[str, CompiledKernel]:
    """The kernels of a configuration by their names, in order."""
    inputs = [gw.zeros(shape, dtype=configuration.dtype) for shape in configuration.shapes]
    module, fakes = graph_of(configuration.function, inputs, configuration.dynamic)
    program = build_gpu_program(module, fakes, precision=configuration.precision)
    requests = kernel_requests(program, arch, narrow=configuration.dynamic,
                               multiples=program.multiples)
    return {request.kernel.name: made
            for request, made in zip(requests, compile_kernels(requests), strict=True)}


def resources(kernel: CompiledKernel) -> Resources:
    """What the assembler says that a kernel takes, and what is in its text."""
    import triton

    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.cubin)
        file.flush()
        shown = subprocess.run([tool, "--dump-resource-usage", file.name], capture_output=True,
                               text=True, check=True).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+) .*LOCAL:(\d+)", shown)
    assert found is not None, shown
    registers, stack, local = map(int, found.groups())
    cores = {re.sub(r"\.aligned|\.sync|_async", "", name) for name in re.findall(
        r"\b(mma\.sync\S+|wgmma\.mma_async\S+)", kernel.ptx)}
    loads, stores = accesses(kernel.ptx, "ld"), accesses(kernel.ptx, "st")
    return Resources(registers, stack + local, kernel.shared_bytes, tuple(sorted(cores)),
                     loads.count(16), len(loads), stores.count(16), len(stores))


def accesses(ptx: str, kind: str) -> list[int]:
    """The bytes of each load or store of global memory, asynchronous copies among the loads."""
    found = [int(count or 1) * int(bits) // 8 for count, bits in re.findall(
        rf"\b{kind}\.global\S*?(?:\.v(\d))?\.[bfsu](\d+)\b", ptx)]
    if kind == "ld":
        found += [int(size, 16) if size.startswith("0x") else int(size) for size in re.findall(
            r"cp\.async\.c[ag]\.shared\.global[^;]*?\], (0x[0-9a-f]+|\d+)", ptx)]
    return found


def version() -> str:
    """Of Triton, whose assembler counts the registers."""
    import triton

    return f"triton {triton.__version__}"


def lines(name: str, arch: int) -> dict[str, Resources]:
    """The resources of each kernel of a configuration."""
    return {f"{name} | sm_{arch} | {kernel}": resources(found)
            for kernel, found in compiled(CONFIGURATIONS[name], arch).items()}


def committed() -> tuple[str, dict[str, str]]:
    """The version that the table was written with, and its lines by their names."""
    head, _, *rows = TABLE.read_text().splitlines()
    return head, dict(row.rsplit(" |", 1) for row in rows)


def main() -> None:
    """Write the table."""
    rows = [version(),
            "configuration | architecture | kernel | registers, stack, shared, 16-byte loads and "
            "stores, tensor cores"]
    for name in CONFIGURATIONS:
        for arch in ARCHITECTURES:
            rows += [f"{key} |{made.text()}" for key, made in lines(name, arch).items()]
            print(*rows[-1:], file=sys.stderr)
    TABLE.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
