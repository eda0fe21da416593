"""Loop-level nodes: what each op of a graph is lowered to. Immutable data.

::

    LoopNode := Source(name, shape, strides, ...)       memory that exists before the graph runs
              | Pointwise(name, shape, body)            one value per element
              | Reduction(name, domain, axes, op, body) a fold over some axes of a domain
              | Scan(name, shape, axis, fold, body)     running folds along one axis
              | View(name, shape, source, index)        another node's elements, renamed
              | Gemm(name, a, b)                        a batched matrix product
              | Attention(name, query, key, value)      softmax(query @ key.T) @ value
              | Assembly(name, shape, parts)            a buffer written by several loops in turn
              | Mutation(name, target, index, body)     writes a part of an input's memory
              | Update(name, target, parts)             writes single elements of it
    Body     := prologue (Lets, Checks and Lookups), value

A body is written over the symbols `i0, i1, ...` of its domain and takes elements of other nodes by
`Read(source, index)`. Bodies are spliced into their consumers by substituting these symbols;
views disappear in the same way.
"""

from __future__ import annotations

from typing import Any, Union

from graphwright.codegen.loops import Check, Const, IndexOf, Let, Local, Value
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Int, Sym, add
from graphwright.runtime.symbolic.remembered import remembered
from graphwright.runtime.tensor.dtypes import dtype, int64

Shape = tuple[Expr, ...]
Index = tuple[Expr, ...]


class Read(Record):
    """Element `index` of the node named `source`; `other` where `mask` is false."""

    source: str
    index: Index
    dtype: dtype
    mask: Value | None = None
    other: Const | None = None


class Lookup(Let):
    """`loops.Search` in the node named `source`: its element k is at `index`, in which `place` is
    k. `value` is over locals and the local `element`. Only GPU programs have lookups."""

    source: str
    index: Index
    place: Sym
    length: Expr
    element: Local


class Body(Record):
    """`value`, computed after `prologue`; both over the symbols of a domain."""

    value: Any
    prologue: tuple[Let | Check, ...] = ()


class Source(Record):
    """Input `position` of the program, or a constant that is passed after the inputs."""

    name: str
    shape: Shape
    strides: Shape
    dtype: dtype
    position: int
    constant: bool = False


class Pointwise(Record):
    """out[i0, i1, ...] = body. `op` names the op it came from."""

    name: str
    shape: Shape
    dtype: dtype
    body: Body
    op: str = ""


class Reduction(Record):
    """out[kept axes] = fold by `op` over the axes `axes` of `domain`."""

    name: str
    domain: Shape
    axes: tuple[int, ...]
    dtype: dtype
    fold: str
    body: Body

    @property
    def shape(self) -> Shape:
        return tuple(e for d, e in enumerate(self.domain) if d not in self.axes)


class Scan(Record):
    """out[i] = fold by `fold` of body over the elements up to i along `axis`.

    `fold` is "sum", "prod", "max", "min" or "logaddexp". Only GPU programs have scans.
    """

    name: str
    shape: Shape
    dtype: dtype
    axis: int
    fold: str
    body: Body


class View(Record):
    """out[i0, i1, ...] = source[index]."""

    name: str
    shape: Shape
    dtype: dtype
    source: str
    index: Index


class Gemm(Record):
    """out[b, m, n] = sum over k of a[b, m, k] * b[b, k, n]; without batch the operands are 2-d."""

    name: str
    shape: Shape
    dtype: dtype
    a: str
    b: str
    inner: Expr


class Given(Record):
    """An operand of a routine: the last `dense` dims lie in memory row by row without gaps, the
    others anyhow. `apart`: the last of the others has a stride of at least one such block."""

    source: str
    dense: int
    apart: bool = False


class Routine(Record):
    """out = what a routine of the runtime core writes first, row-major: see `RoutineCall`.

    `operands` are None where the routine gets none. Only CPU programs have routines.
    """

    name: str
    shape: Shape
    dtype: dtype
    routine: str
    operands: tuple[Given | None, ...]
    sizes: Shape
    numbers: tuple[float, ...]
    byproducts: int


class Byproduct(Record):
    """What the routine `of` writes as its result `number`; the first of these is 1."""

    name: str
    shape: Shape
    dtype: dtype
    of: str
    number: int


class Attention(Record):
    """out[*, n, e] = sum over m of softmax(query . key * scale + mask)[*, n, m] * value[*, m, e].

    The bodies are over (*, n, d), (*, m, d), (*, m, e) and (*, n, m); `keys` is the extent of m,
    `depth` that of d. `causal`: query n attends to the keys up to n only. `levels`: the result is,
    in place of that, each row's greatest score and 1 / the sum of its exponentials. Only GPU
    programs have attention.
    """

    name: str
    shape: Shape
    dtype: dtype
    query: Body
    key: Body
    value: Body
    mask: Body | None
    keys: Expr
    depth: Expr
    causal: bool
    scale: float
    levels: bool


class Part(Record):
    """One loop nest of an `Assembly`: out[index] = value, or += where `accumulate`.

    Iterations along the axes `serial` may write the same element and run in order. `fold` is
    "sum", or in GPU programs "max": what `accumulate` does.
    """

    domain: Shape
    index: Index
    body: Body
    accumulate: bool = False
    serial: tuple[int, ...] = ()
    fold: str = "sum"


class Assembly(Record):
    """A buffer filled by `parts`, one after the other (cat, scatter)."""

    name: str
    shape: Shape
    dtype: dtype
    parts: tuple[Part, ...]


class Mutation(Record):
    """target[index] = body for all of `domain`, in the memory of an input; then all of `target`.

    `target` is that input, or the mutation of it that comes before; `shape` is the input's.
    """

    name: str
    shape: Shape
    dtype: dtype
    target: str
    domain: Shape
    index: Index
    body: Body


class Update(Record):
    """`parts` write elements of an input that data picks, in its memory; then all of `target`.

    No body has a Check: positions are checked, and stored, before anything is written.
    """

    name: str
    shape: Shape
    dtype: dtype
    target: str
    parts: tuple[Part, ...]


LoopNode = Union[
    Source, Pointwise, Reduction, Scan, View, Gemm, Routine, Byproduct, Attention, Assembly,
    Mutation, Update]
CALLS = (Gemm, Routine)
"""What takes its operands from memory, and is no loop of the program."""
WRITES = (Mutation, Update)
"""What leaves its values in an input's memory."""


def axis_symbol(position: int, extent: Expr, prefix: str = "i") -> Sym:
    """The symbol of axis `position`, known to run over [0, extent)."""
    return Sym(f"{prefix}{position}", 0, extent - 1)


@remembered
def axis_symbols(shape: Shape) -> Index:
    """The symbols over which a body with this domain is written; 0 for axes of extent 1."""
    return tuple(
        Int(0) if e == 1 else axis_symbol(d, e) for d, e in enumerate(shape)
    )


def bind(shape: Shape, index: Index) -> dict[str, Expr]:
    """The substitution that puts `index` for the symbols of a domain."""
    return {f"i{d}": i for d, (i, e) in enumerate(zip(index, shape, strict=True)) if e != 1}


@remembered
def index_at(index: Index, domain: Shape, place: Index) -> Index:
    """An index over the symbols of a domain, at a place in it."""
    symbols = bind(domain, place)
    return tuple([i.at(symbols) for i in index])


@remembered
def row_major(shape: Shape) -> Shape:
    """The strides of a contiguous tensor of this shape."""
    strides: list[Expr] = []
    step: Expr = Int(1)
    for extent in reversed(shape):
        strides.append(step)
        step = step * extent if extent != 0 else step
    return tuple(reversed(strides))


@remembered
def linear(index: Index, strides: Shape) -> Expr:
    """The offset, in elements, of `index`."""
    return add(*[i * s for i, s in zip(index, strides, strict=True)])


def index_value(index: Expr) -> IndexOf:
    """An index expression as an int64 value."""
    return IndexOf(index, int64)
