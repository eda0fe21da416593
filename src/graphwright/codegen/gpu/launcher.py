"""GPU programs as callables: kernels are compiled, and a call of the core launches them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from graphwright.codegen.gpu.counts import Counts
from graphwright.codegen.gpu.tile_ir import CheckSite, GpuProgram
from graphwright.codegen.loops import Message
from graphwright.codegen.target import KernelFailure
from graphwright.codegen.triton.compiler import CannotCompile, CompiledKernel
from graphwright.codegen.triton.launches import Argument, Kind, Launch, compile_launches
from graphwright.runtime import _core
from graphwright.runtime.symbolic.expr import Expr
from graphwright.runtime.symbolic.places import value_at
from graphwright.runtime.tensor.generator import CUDA_GENERATORS
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.runtime._core import CudaOperand

ALIGNMENT = 16
"""Kernels are compiled for addresses that are multiples of it, which allocations have; a view that
begins elsewhere has kernels of its own."""


class Launchers:
    """The launchers of a program for one GPU, by which inputs begin at odd addresses and whether
    all sizes fit in 32 bits. The first is made for aligned inputs and sizes that fit.

    instead: what runs a call whose own kernels cannot be compiled; it is given the failure and the
    inputs. Without it the failure is raised.
    """

    def __init__(
        self, program: GpuProgram, device: int, label: str = "graph",
        instead: Callable[..., Any] | None = None,
    ) -> None:
        self.program = program
        self.device = device
        self.label = label
        self.instead = instead
        self._made: dict[tuple[frozenset[int], bool], Any] = {}
        self._failed: dict[tuple[frozenset[int], bool], str] = {}

    def __call__(self, *inputs: Any, **generator: Any) -> Any:
        """Run a call that a launcher does not hold for.

        Raises: as `launcher`, but KernelFailure only without `instead`.
        """
        try:
            launcher = self.launcher(self._unaligned(inputs), self._is_narrow(inputs))
        except KernelFailure as failure:
            if self.instead is None:
                raise
            launcher = partial(self.instead, failure)
        return launcher(*inputs, **generator)

    def launcher(self, unaligned: frozenset[int] = frozenset(), narrow: bool = True) -> Any:
        """The launcher for inputs of which those at the positions `unaligned` begin anywhere.

        Raises: TritonMissing for a kernel that is not in the cache; KernelFailure for one that
            cannot be compiled.
        """
        key = unaligned, narrow
        if key in self._failed:
            raise KernelFailure(self._failed[key])
        if key not in self._made:
            try:
                self._made[key] = _launcher(self, unaligned, narrow)
            except KernelFailure as failure:
                self._failed[key] = str(failure)
                raise
        return self._made[key]

    def _unaligned(self, inputs: Sequence[Any]) -> frozenset[int]:
        return frozenset(n for n, x in enumerate(inputs)
                         if isinstance(x, _core.TensorBase) and _core.has_cuda_memory(x)
                         and x.data_ptr() % ALIGNMENT)

    def _is_narrow(self, inputs: Sequence[Any]) -> bool:
        sizes = {name: value_at(inputs[position], place)
                 for name, position, place in self.program.symbols}
        return all(size.evaluate(sizes) < step.most
                   for step in self.program.steps for size in step.limited)


def arch_of(device: int) -> int:
    """The compute capability of a GPU: 90 for 9.0."""
    facts = _core.cuda_device_facts(device)
    return int(10 * facts["major"] + facts["minor"])


@lru_cache(maxsize=1 << 14)
def _kernel(compiled: CompiledKernel) -> Any:
    """What the core loads on each device that it runs on.

    Raises: CannotCompile for a kernel that needs scratch memory.
    """
    if compiled.scratch_bytes:
        raise CannotCompile(f"{compiled.name} needs {compiled.scratch_bytes} bytes of scratch "
                            "memory for each program, which launches do not have")
    return _core.CudaKernel(
        compiled.name, cubin=compiled.cubin, ptx=compiled.ptx, shared=compiled.shared_bytes,
        num_warps=compiled.num_warps, signature=(*compiled.signature, "scratch", "scratch"))


def _launcher(launchers: Launchers, unaligned: frozenset[int], narrow: bool) -> Any:
    program = launchers.program
    names = [buffer.name for n, buffer in enumerate(program.inputs) if n in unaligned]
    launches = compile_launches(program, arch_of(launchers.device), names, narrow)
    symbols = [name for name, _, _ in program.symbols]
    counts = Counts(symbols, len(symbols) + (2 if program.rng_ops else 0))
    buffers = _buffers(program, counts)
    steps = [(_kernel(launch.kernel), (counts.of(launch.grid), 1, 1),
              [_operand(a, buffers, counts) for a in launch.arguments]) for launch in launches]
    outputs = tuple((o.buffer.dtype, tuple(map(counts.of, o.shape)),
                     tuple(map(counts.of, o.strides))) for o in program.outputs)
    checks = tuple(_check(site, counts) for site in program.checks)
    limits = _limits(launches, counts) if narrow else ()
    arena = counts.of(program.arena_bytes)
    n_inputs = len(program.inputs)
    core = _core.CudaProgram(steps, n_inputs + len(outputs), counts.first, counts.derived, arena)
    touched = {a.name for launch in launches for a in launch.arguments if a.kind is Kind.BUFFER}
    return _core.CudaLauncher(
        program=core, n_inputs=n_inputs, outputs=outputs,
        symbols=tuple((position, place) for _, position, place in program.symbols),
        mutated=program.mutated,
        touched=tuple((n, n not in unaligned) for n, buffer in enumerate(program.inputs)
                      if buffer.name in touched),
        limits=limits, checks=checks, cls=Tensor, otherwise=launchers,
        generator=CUDA_GENERATORS.of(launchers.device), rng_ops=program.rng_ops,
        device=launchers.device, label=launchers.label)


def _check(site: CheckSite, counts: Counts) -> tuple[str, Any, tuple[Any, ...]]:
    """The text of an error, its bound, and the sizes that the text has by number."""
    text, sizes = (site.message.text, site.message.sizes) if isinstance(
        site.message, Message) else (site.message, ())
    return text, counts.of(site.bound), tuple(map(counts.of, sizes))


def _limits(launches: Sequence[Launch], counts: Counts) -> tuple[tuple[Any, int], ...]:
    """What has to be small for 32 bits, as (number, bound), where that is not known already."""
    least: dict[Expr, int] = {}
    for launch in launches:
        for size in launch.limited:
            if size.symbols():
                least[size] = min(launch.most, least.get(size, launch.most))
    return tuple((counts.of(size), most) for size, most in least.items())


def _buffers(program: GpuProgram, counts: Counts) -> dict[str, CudaOperand]:
    """Where each buffer is: an input, an output, or in the arena."""
    first = {"input": 0, "output": len(program.inputs)}
    found: dict[str, CudaOperand] = {}
    for name, slot in program.slots.items():
        if slot.kind == "arena":
            assert slot.offset is not None
            found[name] = ("arena", counts.of(slot.offset))
        else:
            found[name] = ("buffer", first[slot.kind] + slot.index)
    return found


def _operand(
    argument: Argument, buffers: dict[str, CudaOperand], counts: Counts
) -> CudaOperand:
    if argument.kind is Kind.BUFFER:
        return buffers[argument.name]
    if argument.kind is Kind.SIZE:
        return ("scalar", counts.scalars[argument.name])
    if argument.kind is Kind.ERROR:
        return ("word",)
    seed = len(counts.scalars)
    return ("scalar", seed + (argument.kind is Kind.OFFSET))
