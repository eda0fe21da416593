"""The loop nests that graphs are lowered to: immutable data, and the whole grammar.

::

    Kernel := name, buffers, body                one fused kernel
    Stmt   := For(axis, kind, body)              a loop; kind says how it runs
            | Let(name, value)                   a scalar local, visible to the statements after it
            | Reduce(axes, kind, folds, prologue)
                                                 one pass over `axes`; each Fold(name, op, value)
                                                 leaves its result in a local
            | Store(buffer, index, value, mask)  write one element
            | Accumulate(buffer, index, value)   buffer[index] += value (never run in parallel)
            | Check(index, bound, message)       0 <= index < bound, or the run ends with an error
            | Search(name, buffer, index, ...)   how far a sorted row comes before something
    Value  := Const | Load | Apply | Local | IndexOf | Philox
    index  := an integer Expr over axis symbols, size symbols and int64 Locals (as Sym(name))

Loops run in one of three ways. PARALLEL loops are outermost and their iterations are independent;
they are split over the thread pool. SERIAL loops run in order. A VECTOR loop is innermost, or
holds only serial loops and reductions: its iterations are independent and become SIMD lanes.
An extent may mention the symbols of enclosing axes (`min(4096, n - b*4096)` in a blocked loop).
Distinct buffers of one kernel never overlap, unless both are inputs that are only read.

Softmax over the rows of an R x N matrix is one kernel::

    for r in parallel(R):
        m = reduce max over j in vector(N): x[r*N + j]
        s = reduce sum over j in vector(N): exp(x[r*N + j] - m)
        for j in vector(N):
            y[r*N + j] = exp(x[r*N + j] - m) / s

Values carry their dtype. Storage of `bool` is one byte, 0 or 1. Half-precision values are loaded,
cast to float32 for arithmetic and cast back before the store: the casts are explicit `Apply`s.
"""

from __future__ import annotations

from enum import Enum
from typing import Union

from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Sym
from graphwright.runtime.tensor.dtypes import dtype


class LoopKind(Enum):
    """How the iterations of a loop run."""

    PARALLEL = "parallel"
    SERIAL = "serial"
    VECTOR = "vector"


class Buffer(Record):
    """A contiguous piece of memory that kernels address by element.

    `size` counts elements. `role` is "input", "output", "temp" (lives in the arena) or "constant".
    """

    name: str
    dtype: dtype
    size: Expr
    role: str


class Axis(Record):
    """A loop variable running over [0, extent)."""

    symbol: Sym
    extent: Expr


class Const(Record):
    """A literal. Floats may be inf or nan."""

    value: bool | int | float
    dtype: dtype


class Load(Record):
    """buffer[index], or `other` where `mask` is false (the element is then not touched)."""

    buffer: Buffer
    index: Expr
    mask: Value | None = None
    other: Const | None = None

    @property
    def dtype(self) -> dtype:
        return self.buffer.dtype


class Apply(Record):
    """A scalar operation of `SCALAR_OPS` on values of equal dtype (`cast` and `bitcast` aside)."""

    op: str
    args: tuple[Value, ...]
    dtype: dtype


class Local(Record):
    """The value that an earlier `Let` or `Reduce` bound to `name`."""

    name: str
    dtype: dtype


class IndexOf(Record):
    """An index expression as a value (int64)."""

    index: Expr
    dtype: dtype


class Philox(Record):
    """Uniform [0, 1) float32 number `index` of the graph's random op `rng_index`.

    Philox4x32-10 (Salmon et al., SC'11) as `graphwright.random` defines it.
    """

    rng_index: int
    index: Expr
    dtype: dtype


Value = Union[Const, Load, Apply, Local, IndexOf, Philox]


class Let(Record):
    """name = value."""

    name: str
    value: Value


class Fold(Record):
    """name = fold of `value` with `op` (of `REDUCE_OPS`), from the op's identity.

    Sums of n float32 numbers are at most 4 log2(n) eps of the sum of their magnitudes off.
    `value` has the dtype of the result, for argmax and argmin the dtype that is compared.
    """

    name: str
    op: str
    value: Value


class Reduce(Record):
    """One pass over `axes` that computes `folds`; the results are locals visible after it.

    `kind` VECTOR makes the last axis run in SIMD lanes; SERIAL keeps the order of the loops.
    `prologue` statements (Lets, Checks, Stores) run in the innermost loop before the folds'
    values; with VECTOR their iterations are independent as in a VECTOR loop.
    """

    axes: tuple[Axis, ...]
    kind: LoopKind
    folds: tuple[Fold, ...]
    prologue: tuple[Stmt, ...] = ()


class Store(Record):
    """buffer[index] = value, where `mask` is true or absent."""

    buffer: Buffer
    index: Expr
    value: Value
    mask: Value | None = None


class Accumulate(Record):
    """buffer[index] += value; only in serial loops, or where no two iterations share an index.

    `fold` is "sum", or in kernels for GPUs, which do it atomically, "max".
    """

    buffer: Buffer
    index: Expr
    value: Value
    fold: str = "sum"


class Message(Record):
    """The text of an error, in which {0}, {1} and so on stand for sizes."""

    text: str
    sizes: tuple[Expr, ...]


class Search(Let):
    """name = how many elements of a sorted row come before something, found by bisection.

    Element k of `length` is buffer[index] with k for `place`. It comes before where `value`, of
    the local `element`, is true, as all elements before it do. Only in kernels for GPUs.
    """

    buffer: Buffer
    index: Expr
    place: Sym
    length: Expr
    element: Local


class Check(Record):
    """End the run with error 1 and `message` unless 0 <= value < bound. Only kernels for GPUs have
    messages with sizes."""

    value: Value
    bound: Expr
    message: str | Message

    @property
    def text(self) -> str:
        """The message, without sizes."""
        return self.message.text if isinstance(self.message, Message) else self.message


class For(Record):
    """A loop over `axis`. `grain` is the least number of parallel iterations worth a thread."""

    axis: Axis
    kind: LoopKind
    body: tuple[Stmt, ...]
    grain: int = 1


Stmt = Union[For, Let, Reduce, Store, Accumulate, Check]


class Kernel(Record):
    """One fused kernel. `buffers` lists what the body touches, in order of first use."""

    name: str
    buffers: tuple[Buffer, ...]
    body: tuple[Stmt, ...]


JUMPING_OPS = frozenset({
    *("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "sign"),
    *("floor", "ceil", "round", "trunc", "floordiv", "truncdiv", "remainder", "fmod"),
})
"""Scalar operations in which the least change of an argument can change the result much: they take
values of half precision as they would be stored."""

REDUCE_OPS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")
"""Folds. max/min propagate nan; argmax/argmin give the int64 row-major position of the first
extreme element among `axes`, nan counting as extreme; any/all work on bool."""

SCALAR_OPS = {
    "add": 2, "sub": 2, "mul": 2, "div": 2, "floordiv": 2, "truncdiv": 2, "remainder": 2,
    "fmod": 2, "pow": 2, "atan2": 2, "max": 2, "min": 2,
    "neg": 1, "abs": 1, "sign": 1, "sqrt": 1, "rsqrt": 1, "reciprocal": 1,
    "exp": 1, "expm1": 1, "log": 1, "log1p": 1, "log2": 1, "sin": 1, "cos": 1, "tan": 1,
    "tanh": 1, "sigmoid": 1, "erf": 1, "normal_cdf": 1,
    "floor": 1, "ceil": 1, "round": 1, "trunc": 1,
    "isnan": 1, "isinf": 1,
    "eq": 2, "ne": 2, "lt": 2, "le": 2, "gt": 2, "ge": 2,
    "and": 2, "or": 2, "xor": 2, "not": 1, "shl": 2, "shr": 2,
    "where": 3, "fma": 3, "cast": 1, "bitcast": 1,
}
"""Scalar operations and their arity. max/min propagate nan; `round` rounds halves to even;
comparisons give bool; `remainder` and `floordiv` follow Python's sign rule; and/or/xor/not act
bitwise on integers and logically on bool; `where` takes (bool, value, value)."""
