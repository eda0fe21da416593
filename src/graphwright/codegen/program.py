"""`NativeProgram`: what one graph becomes before it is emitted: steps over planned buffers."""

from __future__ import annotations

from typing import Protocol, Union

from graphwright.codegen.loops import Buffer, Kernel
from graphwright.runtime.record import Record
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


class Gemm(Record):
    """out = alpha * op(a) @ op(b) + beta * out, batched; row-major.

    Leading dimensions, strides and offsets count elements; offsets are from the buffers' starts.
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


Step = Union[Kernel, Gemm]


class Stage(Record):
    """What changes hands before step `first`: inputs that no later step reads, by position, are
    freed where nobody else has them; outputs that no earlier step wrote get memory. Blocks of
    temporaries are numbered behind the inputs among the dead, behind the outputs among the born.
    """

    first: int
    dead: tuple[int, ...]
    born: tuple[int, ...]


class Touching(Protocol):
    """A step that lists its buffers: a kernel of any kind."""

    @property
    def buffers(self) -> tuple[Buffer, ...]: ...


def step_buffers(step: Touching | Gemm) -> tuple[Buffer, ...]:
    """The buffers that a step touches, each once."""
    if not isinstance(step, Gemm):
        return step.buffers
    return tuple({buffer.name: buffer for buffer in (step.out, step.a, step.b)}.values())


class NativeProgram(Record):
    """One native function: `steps` in order over buffers placed by `slots`.

    `symbols` binds each size symbol to (input index, dim); dim -1 means the input is an int.
    `mutated` lists the inputs whose memory the program writes. `messages` are the texts of the
    errors that `Check` statements can end the run with, in the order of their ids. Outputs that
    are born in none of `stages` have memory from the start. `blocks` are the bytes of the large
    temporaries of a program in stages. `chained` are the numbers of the kernels that run on blocks
    of the product before them as these are complete (`scheduler/chained.py`).
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
