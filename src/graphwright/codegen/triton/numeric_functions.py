"""NumPy functions of float64 arrays as Triton functions: `numeric_source`.

A function of `runtime.ops.special` is run on stand-ins for its arrays. What it does with them is
written down, a line for each operation::

    np.log1p(-x * x) - 2.5    ->    v1 = -x
                                    v2 = v1 * x
                                    v3 = libdevice.log1p(v2)
                                    v4 = v3 - 2.5

All pieces of a function are computed, of nan where they do not apply; a repeated step is a loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np

from graphwright.codegen.triton.scalar_formats import (
    FLOAT_FORMATS,
    FORMATS_OF_ALL,
    spelled_number,
)
from graphwright.runtime.ops.special.catalogue import FUNCTIONS, polygamma
from graphwright.runtime.ops.special.numeric import Function

PREFIX = "gw_numeric_"
"""What the name of such a function begins with."""

_OPERATIONS = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "div", np.negative: "neg",
    np.power: "pow", np.remainder: "remainder", np.minimum: "min", np.maximum: "max",
    np.abs: "abs", np.exp: "exp", np.expm1: "expm1", np.log: "log", np.log1p: "log1p",
    np.sqrt: "sqrt", np.sin: "sin", np.cos: "cos", np.tan: "tan", np.sinh: "sinh",
    np.cosh: "cosh", np.arccos: "acos", np.arccosh: "acosh", np.floor: "floor", np.rint: "round",
    np.trunc: "trunc", np.copysign: "copysign", np.isnan: "isnan", np.isinf: "isinf",
    np.isfinite: "isfinite", np.equal: "eq", np.not_equal: "ne", np.less: "lt",
    np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge", np.bitwise_and: "and",
    np.bitwise_or: "or",
}
"""The scalar operations that NumPy's functions are."""


def numeric_function(name: str) -> Function:
    """The function of an op; `polygamma_3` is `polygamma` of order 3."""
    op, _, order = name.rpartition("_")
    return polygamma(int(order)) if op == "polygamma" else FUNCTIONS[name]


@lru_cache(maxsize=256)
def numeric_source(name: str) -> str:
    """The Triton function `PREFIX + name`, of float64 tensors that broadcast.

    Raises: KeyError for an op without a numerical function.
    """
    function = numeric_function(name)
    parameters = list(signature(function).parameters)
    writer = _Writer()
    for first, second in pairwise(parameters):
        writer.add(f"{first}, {second} = tl.broadcast({first}, {second})")
    result = function(*(Traced(writer, p) for p in parameters))
    writer.add(f"return {writer.text(result)}")
    head = f"\n@triton.jit\ndef {PREFIX}{name}({', '.join(parameters)}):\n"
    return head + "".join(f"    {line}\n" for line in writer.lines)


class _Writer:
    """The lines of one function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.margin = ""
        self.count = 0

    def add(self, line: str) -> None:
        self.lines.append(self.margin + line)

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def value(self, text: str) -> Traced:
        """A new variable that is `text`."""
        name = self.name()
        self.add(f"{name} = {text}")
        return Traced(self, name)

    def text(self, value: Any) -> str:
        """A variable or a number beside one."""
        return value.name if isinstance(value, Traced) else spelled_number(float(value))

    def apply(self, operation: str, *args: Any) -> Traced:
        """The result of a scalar operation, of which one argument is a variable."""
        table = FORMATS_OF_ALL if operation in FORMATS_OF_ALL else FLOAT_FORMATS
        texts = [self.text(a) for a in args]
        if operation not in FORMATS_OF_ALL:
            texts = [t if isinstance(a, Traced) else _full(t)
                     for t, a in zip(texts, args, strict=True)]
        one = [_full("1.0")] if len(texts) == 1 else []
        return self.value(table[operation].format(*texts, *one))


def _full(text: str) -> str:
    return f"tl.full((), {text}, tl.float64)"


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """Stands for a float64 array, or for one of bools: the variable `name`."""

    def __init__(self, writer: _Writer, name: str) -> None:
        self.writer, self.name = writer, name

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        if ufunc is np.square:
            return self * self
        if ufunc is np.invert:
            return self.writer.value(f"{self.name} == 0")
        return self.writer.apply(_OPERATIONS[ufunc], *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return _FUNCTIONS[function](*args, **options)

    def like(self, value: float) -> Traced:
        """A number in the shape of this."""
        return self.writer.value(f"tl.where({self.name} == {self.name}, "
                                 f"{_full(spelled_number(value))}, {spelled_number(value)})")

    def pieces(self, parts: Sequence[tuple[Traced, Function]], *others: Traced) -> Any:
        """`numeric.pieces` of this."""
        result: Any = math.nan
        for mask, function in reversed(parts):
            given = (_where(mask, value, math.nan) for value in (self, *others))
            result = _where(mask, function(*given), result)
        return result

    def repeated(
        self, step: Callable[..., Any], state: Sequence[Traced], limit: int,
        unfinished: Callable[..., Traced] | None,
    ) -> tuple[Traced, ...]:
        """`numeric.repeated` of a state that this is the first of."""
        writer = self.writer
        turn = writer.value(_full("1.0"))
        kept = tuple(writer.value(value.name) for value in state)

        def more() -> str:
            if unfinished is None:
                return f"{turn.name} <= {float(limit)}"
            mask = unfinished(turn, *kept)
            return f"gw_any({mask.name}) & ({turn.name} <= {float(limit)})"
        again = writer.name()
        writer.add(f"{again} = {more()}")
        writer.add(f"while {again}:")
        writer.margin += "    "
        found = step(turn, *kept)
        for variable, value in zip(kept, [writer.value(writer.text(v)) for v in found],
                                   strict=True):
            writer.add(f"{variable.name} = {value.name}")
        writer.add(f"{turn.name} = {turn.name} + 1.0")
        writer.add(f"{again} = {more()}")
        writer.margin = writer.margin[4:]
        return kept


def _where(mask: Traced, one: Any, two: Any) -> Traced:
    if not isinstance(one, Traced) and not isinstance(two, Traced):
        return mask.writer.value(f"tl.where({mask.name}, {_full(spelled_number(float(one)))}, "
                                 f"{spelled_number(float(two))})")
    return mask.writer.apply("where", mask, one, two)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.full_like: lambda x, value: x.like(float(value)),
    np.ones_like: lambda x: x.like(1.0),
    np.zeros_like: lambda x: x.like(0.0),
}

