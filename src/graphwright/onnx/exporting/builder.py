"""`Builder`: the nodes of an ONNX graph while they are written, and constants and sizes among
them, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import numpy as np

from graphwright.ir.graph.node import Node
from graphwright.onnx.element_types import ELEMENT_TYPES
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sym
from graphwright.runtime.symbolic.expr import as_expr as expression
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType


class Value(Record):
    """A value of the graph. `known_shape` is that of the program's tensor, None for a value
    between."""

    name: str
    dtype: DType
    known_shape: tuple[Any, ...] | None = None

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes of a value whose shape is known."""
        assert self.known_shape is not None
        return self.known_shape

    @property
    def ndim(self) -> int:
        """The number of its dims."""
        return len(self.shape)


_NARROW = frozenset([dtypes.uint8, dtypes.int8, dtypes.uint16, dtypes.int16])


def computed_in(dtype: DType, bools: bool = False) -> DType:
    """The dtype, or int32 for narrow integers, for which runtimes have few kernels; where `bools`,
    for bools too."""
    return dtypes.int32 if dtype in _NARROW or (bools and dtype is dtypes.bool) else dtype


class Builder:
    """Writes nodes. Names are unique, those of a form begin with its op's node.

    opset: the version of ONNX's operators. dims: the names of size symbols. symbols: the input
    and dim that each is read from.

    For a form: `node` is that of its op, `values` are those of the nodes before, `used` is which
    of several results are read; it puts in `unlike` results that have another shape than the
    program's.
    """

    node: Node
    used: frozenset[int] = frozenset()

    def __init__(self, opset: int, dims: Mapping[str, str]) -> None:
        self.opset, self.dims = opset, dims
        self.symbols: dict[str, tuple[Value, int]] = {}
        self.nodes: list[Any] = []
        self.constants: dict[str, tuple[np.ndarray[Any, Any], DType]] = {}
        self.names: set[str] = set()
        self.values: dict[Node, Any] = {}
        self.unlike: set[int] = set()
        self._prefix = ""
        self._note: Mapping[str, str] = {}
        self._known: dict[Any, Value] = {}

    def unique(self, name: str) -> str:
        """The name, or with a number where it is taken; it is taken then."""
        found, number = name, 0
        while found in self.names:
            number += 1
            found = f"{name}_{number}"
        self.names.add(found)
        return found

    @contextmanager
    def within(self, prefix: str, note: Mapping[str, str]) -> Iterator[int]:
        """Within it nodes are those of one op, or serve all; gives how many there were before."""
        before = self._prefix, self._note
        self._prefix, self._note = prefix, note
        try:
            yield len(self.nodes)
        finally:
            self._prefix, self._note = before

    # -- nodes

    def op(
        self, kind: str, *inputs: Any, dtype: DType | None = None,
        shape: tuple[Any, ...] | None = None, **attributes: Any,
    ) -> Value:
        """Add a node of an ONNX operator with one result; attributes that are None are left out.

        inputs: `Value`s; numbers, which become constants of the first value's dtype; arrays and
            lists of ints; None for one that is left out.
        dtype: of the result; that of the first input if None.
        shape: of the result, for forms that read it.
        """
        (made,) = self.several(1, kind, *inputs, dtype=dtype, **attributes)
        return made if shape is None else Value(made.name, made.dtype, shape)

    def several(
        self, count: int, kind: str, *inputs: Any, dtype: DType | None = None, **attributes: Any
    ) -> tuple[Value, ...]:
        """The same of an operator with several results, all of one dtype."""
        import onnx

        first = next((one for one in inputs if isinstance(one, Value)), None)
        given = [self._operand(one, first) for one in inputs]
        kind_of_result = dtype if dtype is not None else next(
            one.dtype for one in given if one is not None)
        stem = f"{self._prefix}.{kind.lower()}" if self._prefix else kind.lower()
        results = [self.unique(stem if number == 0 else f"{stem}_out{number}")
                   for number in range(count)]
        names = ["" if one is None else one.name for one in given]
        while names and not names[-1]:
            names.pop()
        node = onnx.helper.make_node(kind, names, results, results[0], **{
            name: value for name, value in attributes.items() if value is not None})
        for key, text in self._note.items():
            node.metadata_props.add(key=key, value=text)
        self.nodes.append(node)
        return tuple([Value(name, kind_of_result) for name in results])

    def _operand(self, one: Any, first: Value | None) -> Value | None:
        if one is None or isinstance(one, Value):
            return one
        if isinstance(one, np.ndarray):
            return self.constant(one, dtypes.from_numpy_dtype(one.dtype))
        if isinstance(one, list | tuple):
            return self.sizes(one)
        assert first is not None
        return self.constant(one, first.dtype)

    def math(self, kind: str, *inputs: Any, dtype: DType, **attributes: Any) -> Value:
        """A node that computes in `dtype`, narrow integers in int32; operands are cast."""
        wide = computed_in(dtype)
        found = self.op(kind, *[self.operand(one, wide) for one in inputs], **attributes)
        return self.cast(found, dtype)

    def compare(self, kind: str, *inputs: Any, dtype: DType) -> Value:
        """A node that compares operands in `dtype`; bools and narrow integers in int32."""
        operands = [self.operand(one, computed_in(dtype, bools=True)) for one in inputs]
        return self.op(kind, *operands, dtype=dtypes.bool)

    def test(self, kind: str, *inputs: Any, **attributes: Any) -> Value:
        """A node whose result is a bool for each element."""
        return self.op(kind, *inputs, dtype=dtypes.bool, **attributes)

    def operand(self, one: Any, dtype: DType) -> Value:
        """A tensor, number or symbolic size as a value of that dtype."""
        if isinstance(one, SymInt):
            return self.cast(self.scalar(one), dtype)
        return self.cast(one, dtype) if isinstance(one, Value) else self.constant(one, dtype)

    def cast(self, value: Value, dtype: DType) -> Value:
        """The value in that dtype."""
        if value.dtype is dtype:
            return value
        return self.op("Cast", value, dtype=dtype, shape=value.known_shape,
                       to=ELEMENT_TYPES[dtype])

    # -- constants and sizes

    def constant(self, number: Any, dtype: DType) -> Value:
        """An array or number of a dtype, once for each content."""
        with np.errstate(over="ignore"):
            array = np.asarray(number).astype(dtype.numpy)
        stem = f"{_text(array)}_{dtype.name}" if array.ndim == 0 else "constant"
        if array.ndim == 1 and array.size <= 6 and dtype is dtypes.int64 and np.all(
                abs(array) < _SHOWN):
            stem = "_".join(["ints", *map(_text, array)])
        return self._once((dtype, array.shape, array.tobytes()),
                          lambda: self.initial(stem, array, dtype))

    def initial(self, name: str, array: np.ndarray[Any, Any], dtype: DType) -> Value:
        """A tensor that the file holds."""
        found = Value(self.unique(name), dtype, array.shape)
        self.constants[found.name] = (array, dtype)
        return found

    def sizes(self, numbers: Sequence[Any]) -> Value:
        """A vector of integers, of which some may be symbolic sizes."""
        if not any(isinstance(one, SymInt) for one in numbers):
            return self.constant(np.array([int(one) for one in numbers], np.int64), dtypes.int64)
        if len(numbers) == 1:
            return self.size(numbers[0])
        return self._once(
            tuple(expression(one) for one in numbers),
            lambda: self.op("Concat", *[self.size(one) for one in numbers], axis=0), "sizes")

    def size(self, number: Any) -> Value:
        """An integer or symbolic size as a vector of one element."""
        expr = number if isinstance(number, Expr) else expression(number)
        return self._once(expr, lambda: self._computed(expr), "size")

    def scalar(self, number: Any) -> Value:
        """The same without dims."""
        if not isinstance(number, SymInt):
            return self.constant(number, dtypes.int64)
        return self._once(("scalar", number.expr),
                          lambda: self.op("Squeeze", self.size(number), [0]), "size")

    def once(self, kind: str, value: Value, *inputs: Any, **attributes: Any) -> Value:
        """What `op` gives, one node for all calls with the same inputs and attributes."""
        key = (kind, value.name, *[tuple(map(expression, one)) for one in inputs],
               *[(name, str(one)) for name, one in attributes.items()])
        return self._once(key, lambda: self.op(kind, value, *inputs, **attributes))

    def _once(self, key: Any, make: Callable[[], Value], prefix: str | None = None) -> Value:
        """What is known under a key, or made; with a prefix by nodes that belong to no op."""
        found = self._known.get(key)
        if found is None:
            own = (self._prefix, self._note) if prefix is None else (prefix, {})
            with self.within(*own):
                found = self._known[key] = make()
        return found

    def shared(self) -> set[str]:
        """The names of constants and sizes, which nodes of several ops read."""
        return {one.name for one in self._known.values()}

    def _computed(self, expr: Expr) -> Value:
        if isinstance(expr, Int):
            return self.constant(np.array([expr.value], np.int64), dtypes.int64)
        if isinstance(expr, Sym):
            source, dim = self.symbols[expr.name]
            with self.within(self.dims.get(expr.name, expr.name), {}):
                return self.op("Shape", source, dtype=dtypes.int64, start=dim, end=dim + 1)
        parts = [self.size(part) for part in expr.args]
        if isinstance(expr, FloorDiv):
            least = expr.args[0].range()[0]
            if least is None or least < 0:
                parts[0] = self.op("Sub", parts[0], self.op("Mod", *parts))
            return self.op("Div", *parts)
        if isinstance(expr, Mod):
            return self.op("Mod", *parts)
        if isinstance(expr, Min | Max):
            return self.op(type(expr).__name__, *parts)
        kind = "Mul" if isinstance(expr, Mul) else "Add"
        return reduce(lambda one, other: self.op(kind, one, other), parts)


_SHOWN = 1_000_000
"""Integers below are part of the names of constants."""


def _text(number: Any) -> str:
    """A number as a part of a name."""
    return str(number).replace("-", "minus_").replace("+", "").replace(".", "_")
