"""GPU programs as callables: kernels are compiled, and a call of the core launches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from graphwright.codegen.gpu.counts import Counts
from graphwright.codegen.gpu.tile_ir import CheckSite, GpuProgram
from graphwright.codegen.gpu.wide_accesses import MULTIPLE, deciding_sizes, multiples
from graphwright.codegen.loops import Message
from graphwright.codegen.target import KernelFailure
from graphwright.codegen.triton.compiler import CannotCompile, CompiledKernel
from graphwright.codegen.triton.launches import Argument, Kind, Launch, compile_launches
from graphwright.runtime import _core
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Sym, minimum
from graphwright.runtime.symbolic.places import value_at
from graphwright.runtime.tensor.generator import CUDA_GENERATORS
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.runtime._core import CudaOperand

ALIGNMENT = 16
"""Kernels are compiled for addresses that are multiples of it, which allocations have; a view that
begins elsewhere has kernels of its own."""


MOST_VARIANTS = 8
"""Of a program. After so many, sizes that are multiples have no kernels of their own."""


class Variant(Record):
    """What the kernels of a launcher are compiled for: inputs of which those at the positions
    `unaligned` begin anywhere, all sizes within 32 bits or not (`narrow`), and of the sizes that
    decide how wide accesses are those named `multiples` being multiples of 16 and the others not;
    None if any may be any."""

    unaligned: frozenset[int]
    narrow: bool
    multiples: frozenset[str] | None


class Launchers:
    """The launchers of a program for one GPU. The first is made for aligned inputs, sizes that fit
    in 32 bits, and the multiples of 16 that there are when the program is made.

    A call goes to the first; one that it does not hold for to the last that was needed beside it,
    and then here. instead: what runs a call whose own kernels cannot be compiled; it is given the
    failure and the inputs. Without it the failure is raised.
    """

    def __init__(
        self, program: GpuProgram, device: int, label: str = "graph",
        instead: Callable[..., Any] | None = None,
    ) -> None:
        self.program = program
        self.device = device
        self.label = label
        self.instead = instead
        symbols = {name for name, _, _ in program.symbols}
        deciding = [deciding_sizes(step) for step in program.steps] if symbols else []
        self.deciding = frozenset(symbols.intersection(frozenset[str]().union(*deciding)))
        self._made: dict[Variant, Any] = {}
        self._failed: dict[Variant, str] = {}

    def first(self) -> Any:
        """The launcher that calls go to.

        Raises: as `launcher`.
        """
        return self.launcher(
            Variant(frozenset(), True, self.program.multiples & self.deciding))

    def __call__(self, *inputs: Any, **generator: Any) -> Any:
        """Run a call that the launchers so far do not hold for.

        Raises: as `launcher`, but KernelFailure only without `instead`.
        """
        try:
            launcher = self.launcher(self._variant(inputs))
        except KernelFailure as failure:
            if self.instead is None:
                raise
            launcher = partial(self.instead, failure)
        else:
            self.first().otherwise = launcher
        return launcher(*inputs, **generator)

    def launcher(self, variant: Variant) -> Any:
        """The launcher of a variant.

        Raises: TritonMissing for a kernel that is not in the cache; KernelFailure for one that
            cannot be compiled.
        """
        if variant in self._failed:
            raise KernelFailure(self._failed[variant])
        if variant not in self._made:
            try:
                self._made[variant] = _launcher(self, variant)
            except KernelFailure as failure:
                self._failed[variant] = str(failure)
                raise
        return self._made[variant]

    def _variant(self, inputs: Sequence[Any]) -> Variant:
        unaligned = frozenset(n for n, x in enumerate(inputs)
                              if isinstance(x, _core.TensorBase) and _core.has_cuda_memory(x)
                              and x.data_ptr() % ALIGNMENT)
        sizes = {name: value_at(inputs[position], place)
                 for name, position, place in self.program.symbols}
        narrow = all(size.evaluate(sizes) < step.most
                     for step in self.program.steps for size in step.limited)
        found = multiples(self.program.symbols, inputs) & self.deciding
        variant = Variant(unaligned, narrow, found)
        if variant not in self._made and len(self._made) >= MOST_VARIANTS:
            return Variant(unaligned, narrow, None)
        return variant


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


def _launcher(launchers: Launchers, variant: Variant) -> Any:
    program = launchers.program
    names = [buffer.name for n, buffer in enumerate(program.inputs) if n in variant.unaligned]
    launches = compile_launches(program, arch_of(launchers.device), names, variant.narrow,
                                variant.multiples or ())
    symbols = [name for name, _, _ in program.symbols]
    counts = Counts(symbols, len(symbols) + (2 if program.rng_ops else 0))
    buffers = _buffers(program, counts)
    steps = [(_kernel(launch.kernel), (counts.of(launch.grid), 1, 1),
              [_operand(a, buffers, counts) for a in launch.arguments]) for launch in launches]
    outputs = tuple((o.buffer.dtype, tuple(map(counts.of, o.shape)),
                     tuple(map(counts.of, o.strides))) for o in program.outputs)
    checks = tuple(_check(site, counts) for site in program.checks)
    limits = (*(_limits(launches, counts) if variant.narrow else ()),
              *_multiples(launchers.deciding, variant, counts))
    arena = counts.of(program.arena_bytes)
    n_inputs = len(program.inputs)
    core = _core.CudaProgram(steps, n_inputs + len(outputs), counts.first, counts.derived, arena)
    touched = {a.name for launch in launches for a in launch.arguments if a.kind is Kind.BUFFER}
    return _core.CudaLauncher(
        program=core, n_inputs=n_inputs, outputs=outputs,
        symbols=tuple((position, place) for _, position, place in program.symbols),
        mutated=program.mutated,
        touched=tuple((n, n not in variant.unaligned) for n, buffer in enumerate(program.inputs)
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


def _multiples(
    deciding: frozenset[str], variant: Variant, counts: Counts
) -> Iterator[tuple[Any, int]]:
    """That those sizes alone are multiples which the variant is for, as limits."""
    if variant.multiples is None:
        return
    for name in sorted(deciding):
        rest = Sym(name, 0) % MULTIPLE
        yield counts.of(rest if name in variant.multiples else 1 - minimum(rest, 1)), 1


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
