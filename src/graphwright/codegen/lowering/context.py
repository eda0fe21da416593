"""The state of one lowering, and the helpers that lowering rules are written in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphwright.codegen.loops import (
    Apply,
    Check,
    Const,
    IndexOf,
    Let,
    Local,
    Message,
    Philox,
    Value,
)
from graphwright.codegen.lowering.nodes import (
    Body,
    Index,
    LoopNode,
    Pointwise,
    Read,
    Reduction,
    Shape,
    View,
    axis_symbols,
    index_value,
)
from graphwright.runtime.ops.kernels import rounded_number
from graphwright.runtime.record import Record, replace
from graphwright.runtime.symbolic.expr import Expr, Int, Sym, as_expr
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype


class Tensor(Record):
    """The value of a graph node while it is lowered: a named loop node with a shape."""

    name: str
    shape: Shape
    dtype: dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def at(
        self, index: Index, mask: Value | None = None, other: Const | None = None
    ) -> Read | Const:
        """The element at `index`; a number in its place where there are no elements at all."""
        if any(extent == 0 for extent in self.shape):
            return const(0, self.dtype) if other is None else other
        return Read(self.name, index, self.dtype, mask, other)


class Unlowerable(Exception):
    """An op, or this use of it, has no lowering; it runs as an extern step."""


OUT_OF_RANGE = "index out of range: {value} is not in [0, {bound})"
_EAGER_NAMES = {
    "scatter_src": "scatter", "scatter_value": "scatter", "scatter_src_": "scatter_",
    "scatter_value_": "scatter_", "index_put_": "index_put", "index_add_": "index_add",
}
"""What errors of eager ops call some that have names of their own in graphs."""
_OUTSIDE = "index {index} is out of bounds for a dimension of size {bound}"
_WHOLE = {
    "embedding": "embedding(): index out of range in self: {index} is not in [0, {bound})",
    **dict.fromkeys(("cross_entropy", "nll_loss"), "nll_loss(): Target {index} is out of bounds."),
}
"""What eager ops say that have parts in graphs."""


class Lowering:
    """Collects loop nodes.

    strict: each node of a half type rounds its elements to it, as if they were stored.
    call: the call that is being lowered. names_calls: whether errors are to have its name, where
    they are raised without running it again. round: that of the call; rounds: those of the nodes,
    where they have one (see `ir.rounds`).
    """

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.call: Any = None
        self.names_calls = False
        self.nodes: dict[str, LoopNode] = {}
        self.round: int | None = None
        self.rounds: dict[str, int] = {}
        self.tensors: dict[str, Tensor] = {}
        self.rng_ops = 0
        self._locals = 0
        self._used: dict[str, int] = {}
        self._twins: dict[LoopNode, LoopNode] = {}

    def add(self, node: LoopNode) -> Tensor:
        """Record a node, or find the one that computes the same."""
        if isinstance(node, (Pointwise, Reduction)):
            twin = self._twins.setdefault(replace(node, name=""), node)
            if twin is not node:
                return Tensor(twin.name, twin.shape, twin.dtype)
        self.nodes[node.name] = node
        if self.round is not None:
            self.rounds[node.name] = self.round
        return Tensor(node.name, node.shape, node.dtype)

    def unique(self, hint: str) -> str:
        """A node name that is not taken yet."""
        count = self._used.get(hint, 0)
        name = f"{hint}.{count}" if count else hint
        while name in self.nodes:
            count += 1
            name = f"{hint}.{count}"
        self._used[hint] = count
        return name

    def local(self) -> str:
        """A name for a local that no other body uses."""
        self._locals += 1
        return f"t{self._locals}"

    def pointwise(
        self, hint: str, shape: Shape, dtype: dtype, function: Callable[[Index], Any],
        prologue: Sequence[Let | Check] = (),
    ) -> Tensor:
        """A node whose element at `index` is function(index)."""
        value = function(axis_symbols(shape))
        if self.strict and isinstance(value, Apply) and computed(dtype) is not dtype:
            return self.settled(hint, shape, dtype, value, prologue)
        body = Body(value, tuple(prologue))
        return self.add(Pointwise(self.unique(hint), shape, dtype, body, hint))

    def settled(
        self, hint: str, shape: Shape, dtype: dtype, value: Any,
        prologue: Sequence[Let | Check] = (),
    ) -> Tensor:
        """A node whose element is a local bound to `value`: what reads it does not see through to
        the operations behind, so that a half type is rounded and a divisor stays one."""
        let = Let(self.local(), value)
        body = Body(Local(let.name, dtype), (*prologue, let))
        return self.add(Pointwise(self.unique(hint), shape, dtype, body, hint))

    def converted(self, x: Tensor, dtype: dtype) -> Tensor:
        """The same numbers in a dtype."""
        return x if x.dtype is dtype else self.pointwise(
            "to_dtype", x.shape, dtype, lambda index: convert(x.at(index), dtype))

    def view(
        self, hint: str, source: Tensor, shape: Shape, function: Callable[[Index], Index]
    ) -> Tensor:
        """A renaming of `source`: element `index` is source[function(index)]."""
        index = function(axis_symbols(shape))
        return self.add(View(self.unique(hint), shape, source.dtype, source.name, index))

    def reduction(
        self, hint: str, domain: Shape, axes: Sequence[int], dtype: dtype, fold: str,
        function: Callable[[Index], Any],
    ) -> Tensor:
        """The fold of function(index) over `axes` of `domain`; the other axes remain.

        Axes of extent 1 do not need a loop; without any other axes the fold is its value, and
        over an empty axis it is its identity.
        """
        if any(domain[a] == 0 for a in axes):
            kept = tuple(e for d, e in enumerate(domain) if d not in axes)
            return self.pointwise(hint, kept, dtype, lambda index: identity(fold, dtype))
        body = Body(function(axis_symbols(domain)))
        if all(domain[a] == 1 for a in axes):
            value = body.value if not fold.startswith("arg") else Const(0, dtypes.int64)
            if fold == "sum" and dtype.is_floating_point:
                value = apply("add", value, const(0, dtype))    # sums of -0.0 are 0.0
            kept = tuple(e for d, e in enumerate(domain) if d not in axes)
            symbols = axis_symbols(domain)
            rename: dict[str, Expr] = dict(zip(
                [s.name for d, s in enumerate(symbols) if d not in axes and isinstance(s, Sym)],
                [s for s in axis_symbols(kept) if isinstance(s, Sym)], strict=True,
            ))
            return self.add(Pointwise(
                self.unique(hint), kept, dtype, Body(substitute(value, rename)), hint))
        return self.add(Reduction(self.unique(hint), domain, tuple(axes), dtype, fold, body))

    def outside(self, wrap: bool) -> str | Message:
        """The message for an index into the first argument of the call; `wrap`: 0 or more, or
        negative and counted from the end, where {index} is what it was before."""
        if not self.names_calls:
            return OUT_OF_RANGE
        name, x = self.call.op.name, self.call.args[0]
        index = "{index}" if wrap else "{value}"
        whole = _WHOLE.get(self.call.part_of)
        if whole is not None:
            return Message(whole.replace("{index}", index), ())
        sizes = ", ".join(f"{{{place}}}" for place in range(len(x.shape)))
        outside = _OUTSIDE.replace("{index}", index)
        return Message(f"{_EAGER_NAMES.get(name, name)}(): {outside}; the tensor is "
                       f"{x.dtype.name}[{sizes}]", x.shape)

    def check(
        self, value: Value, bound: Expr, message: str | Message
    ) -> tuple[Sym, list[Let | Check]]:
        """Bind an int64 value to a local that is checked to lie in [0, bound)."""
        name = self.local()
        let = Let(name, value)
        return Sym(name, 0, bound - 1), [
            let, Check(Local(name, dtypes.int64), bound, message)]


def substitute(value: Any, symbols: Mapping[str, Expr]) -> Any:
    """A value with index symbols replaced."""
    if not symbols:
        return value
    if isinstance(value, Apply):
        return Apply(value.op, tuple(substitute(a, symbols) for a in value.args), value.dtype)
    if isinstance(value, Read):
        mask = None if value.mask is None else substitute(value.mask, symbols)
        index = tuple(i.at(symbols) for i in value.index)
        return Read(value.source, index, value.dtype, mask, value.other)
    if isinstance(value, (IndexOf, Philox)):
        return replace(value, index=value.index.at(symbols))
    return value


def identity(fold: str, dtype: dtype) -> Const:
    """The value that a fold starts from."""
    if fold in ("sum", "prod"):
        return const(fold == "prod", dtype)
    if dtype is dtypes.bool:
        return const(fold in ("all", "min"), dtype)
    if dtype.is_floating_point:
        return const(float("-inf") if fold == "max" else float("inf"), dtype)
    bits = 8 * dtype.itemsize - (1 if dtype.is_signed else 0)
    low = -(1 << bits) if dtype.is_signed else 0
    return const(low if fold == "max" else (1 << bits) - 1, dtype)


def shape_of(sizes: Sequence[Any]) -> Shape:
    """Sizes (ints, SymInts) as expressions."""
    return tuple(as_expr(s) for s in sizes)


def broadcast_index(tensor: Tensor, index: Index, shape: Shape) -> Index:
    """The index of the element of `tensor` that takes part at `index` of the broadcast `shape`."""
    skip = len(shape) - tensor.ndim
    return tuple(
        Int(0) if e == 1 and shape[skip + d] != 1 else index[skip + d]
        for d, e in enumerate(tensor.shape)
    )


def broadcast(tensor: Tensor, index: Index, shape: Shape) -> Read | Const:
    """The element of `tensor` that takes part at `index` of the broadcast `shape`."""
    return tensor.at(broadcast_index(tensor, index, shape))


def const(value: Any, dtype: dtype) -> Const:
    """A Python number as a literal of `dtype`: ints wrap, floats beyond its range are infinite,
    those of float8 are rounded to it.

    Raises Unlowerable for a complex number.
    """
    if isinstance(value, complex):
        raise Unlowerable(f"the complex number {value}")
    if dtype is dtypes.bool:
        return Const(bool(value), dtype)
    if not dtype.is_floating_point:
        return Const(wrapped(int(value), dtype), dtype)
    number = float(value)
    if dtype in dtypes.FLOAT8:
        return Const(rounded_number(number, dtype), dtype)
    if dtype is not dtypes.float64 and abs(number) >= _BEYOND_FLOAT32:
        number = math.copysign(math.inf, number)
    return Const(number, dtype)


_BEYOND_FLOAT32 = 2.0**128 - 2.0**103
"""The least number that float32 rounds to infinity."""


def wrapped(value: int, dtype: dtype) -> int:
    """What is left of an int in as many bits as an integer dtype has."""
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.is_signed and value >> (bits - 1) else value


def apply(op: str, *args: Any, dtype: dtype | None = None) -> Apply:
    """op(*args); the dtype is the first argument's unless given."""
    return Apply(op, args, args[0].dtype if dtype is None else dtype)


def computed(dtype: dtype) -> dtype:
    """The dtype in which arithmetic on `dtype` is done: float32 for narrower floats."""
    return dtypes.float32 if dtype.is_floating_point and dtype.itemsize < 4 else dtype


def convert(value: Any, dtype: dtype) -> Any:
    """`value` in `dtype`; to bool means "is not zero"."""
    if value.dtype is dtype:
        return value
    if isinstance(value, Const):
        return const(value.value, dtype)
    if dtype is dtypes.bool:
        wide = convert(value, computed(value.dtype))
        return apply("ne", wide, const(0, wide.dtype), dtype=dtype)
    return apply("cast", value, dtype=dtype)


def scalar(value: Any, dtype: dtype) -> Any:
    """A Python number, symbolic size or index expression as a value of `dtype`."""
    expr = value if isinstance(value, Expr) else getattr(value, "expr", None)
    if isinstance(expr, Int):
        return const(expr.value, dtype)
    if isinstance(expr, Expr):
        return convert(index_value(expr), dtype)
    return const(value, dtype)


def both(a: Any, b: Any | None) -> Any:
    """The conjunction of two masks, the second of which may be absent."""
    return a if b is None else apply("and", a, b)


def masked(value: Any, mask: Value) -> Any:
    """A value whose reads are only made where `mask` is true."""
    if isinstance(value, Apply):
        return Apply(value.op, tuple(masked(a, mask) for a in value.args), value.dtype)
    if isinstance(value, Read):
        other = const(0, value.dtype) if value.other is None else value.other
        return replace(value, mask=both(mask, value.mask), other=other)
    return value


def within(index: Expr, extent: Expr) -> Any | None:
    """The mask 0 <= index < extent, without what the index's range already proves."""
    low, high = index.range()[0], (extent - 1 - index).range()[0]
    value = index_value(index)
    mask = None
    if low is None or low < 0:
        mask = apply("ge", value, const(0, dtypes.int64), dtype=dtypes.bool)
    if high is None or high < 0:
        below = apply("lt", value, index_value(extent), dtype=dtypes.bool)
        mask = both(below, mask)
    return mask
