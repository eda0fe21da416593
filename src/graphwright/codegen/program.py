"""`NativeProgram`: what one graph becomes before it is emitted: steps over planned buffers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, Union

from graphwright.codegen.loops import Buffer, Kernel
from graphwright.runtime.record import Record, replace
from graphwright.runtime.symbolic.expr import Expr


class Slot(Record):
    """Where a buffer lives at run time.

    `kind` is "input", "output" or "block" (`index` counts among them) or "arena". `offset`, in
    bytes: of a temporary, in the arena or in a result that is not written yet.
    """

    kind: str
    index: int = 0
    offset: Expr | None = None


class Output(Record):
    """A tensor the program allocates and returns: dims and strides in elements."""

    buffer: Buffer
    shape: tuple[Expr, ...]
    strides: tuple[Expr, ...]


ANY, LIBRARY, OWN, PANELS = range(4)
"""How a product is made (abi.h): as it is usually fastest, or in one of the three ways."""


class Gemm(Record):
    """out = alpha * op(a) @ op(b) + beta * out, batched; row-major.

    Leading dimensions, strides and offsets count elements; offsets are from the buffers' starts.
    `way`: how it is made.
    """

    out: Buffer
    a: Buffer
    b: Buffer
    transa: bool
    transb: bool
    m: Expr
    n: Expr
    k: Expr
    lda: Expr
    ldb: Expr
    ldc: Expr
    batch: Expr
    stride_a: Expr
    stride_b: Expr
    stride_c: Expr
    offset_a: Expr
    offset_b: Expr
    alpha: float = 1.0
    beta: float = 0.0
    way: int = ANY


class RoutineCall(Record):
    """A call of a routine of the runtime core, by name (`_core.ROUTINES`).

    results: None for those that nobody reads. operands: buffers with offsets in elements, None
    for those that are not given. sizes: what the routine takes, then the operands' strides.
    """

    routine: str
    results: tuple[Buffer | None, ...]
    operands: tuple[tuple[Buffer | None, Expr], ...]
    sizes: tuple[Expr, ...]
    numbers: tuple[float, ...]

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Those that it writes, then those that it reads, each once."""
        found = (*self.results, *(buffer for buffer, _ in self.operands))
        return tuple({b.name: b for b in found if b is not None}.values())

    def with_buffers(self, new: Mapping[str, Buffer]) -> RoutineCall:
        """The same call on other buffers, by the names of those they stand for."""
        def other(buffer: Buffer | None) -> Buffer | None:
            return None if buffer is None else new.get(buffer.name, buffer)
        operands = tuple((other(buffer), offset) for buffer, offset in self.operands)
        return replace(self, results=tuple(map(other, self.results)), operands=operands)


Step = Union[Kernel, Gemm, RoutineCall]


class Stage(Record):
    """What changes hands before step `first`: inputs that no later step reads, by position, are
    freed where nobody else has them; outputs that no earlier step wrote get memory. Blocks of
    temporaries are numbered behind the inputs among the dead, behind the outputs among the born.
    """

    first: int
    dead: tuple[int, ...]
    born: tuple[int, ...]


class Touching(Protocol):
    """A step that lists its buffers: a kernel of any kind, or the call of a routine."""

    @property
    def buffers(self) -> tuple[Buffer, ...]: ...


def step_buffers(step: Touching | Gemm) -> tuple[Buffer, ...]:
    """The buffers that a step touches, each once."""
    if not isinstance(step, Gemm):
        return step.buffers
    return tuple({buffer.name: buffer for buffer in (step.out, step.a, step.b)}.values())


def operand_names(step: Gemm | RoutineCall) -> set[str]:
    """The buffers that a call reads."""
    if isinstance(step, Gemm):
        return {step.a.name, step.b.name}
    return {buffer.name for buffer, _ in step.operands if buffer is not None}


class NativeProgram(Record):
    """One native function: `steps` in order over buffers placed by `slots`.

    `symbols` binds each size symbol to (input index, dim); dim -1 means the input is an int.
    `mutated` lists the inputs whose memory the program writes. `messages` are the texts of the
    errors that `Check` statements can end the run with, in the order of their ids. Outputs that
    are born in none of `stages` have memory from the start. `blocks` are the bytes of the large
    temporaries of a program in stages. `chained` are the numbers of the kernels that run on blocks
    of the product before them as these are complete (`scheduler/chained.py`). `texts` are those of
    the steps (`cache_key.step_text`), where they are known.
    """

    inputs: tuple[Buffer, ...]
    outputs: tuple[Output, ...]
    slots: dict[str, Slot]
    arena_bytes: Expr
    steps: tuple[Step, ...]
    symbols: tuple[tuple[str, int, int], ...]
    rng_ops: int
    mutated: tuple[int, ...]
    messages: tuple[str, ...]
    constants: tuple[Buffer, ...] = ()
    stages: tuple[Stage, ...] = ()
    blocks: tuple[int, ...] = ()
    chained: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
