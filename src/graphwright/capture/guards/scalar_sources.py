"""Sources of symbolic numbers: functions of numbers from outside, and 0-d inputs of the graph."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from graphwright.capture import _eval_frame
from graphwright.capture.guards.source import ConstSource, LoadWriter, Reloader, Source
from graphwright.runtime import _core
from graphwright.runtime.symbolic.expr import Add, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sym
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


class ComputedSource(Source):
    """`function(*operands)`: a function of numbers that is written in C and depends on them only.

    Where it may raise, a guard says that it does not; so translated frames compute it when they
    like.
    """

    function: Callable[..., Any]
    operands: tuple[Source, ...]

    def name(self) -> str:
        names = [operand.name() for operand in self.operands]
        sign = _SIGNS.get(self.function)
        if sign is None:
            return f"{self.function.__name__}({', '.join(names)})"
        return f"({names[0]} {sign} {names[1]})" if len(names) == 2 else f"({sign}{names[0]})"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(self.function)
        for operand in self.operands:
            operand.emit(cg)
        cg.end_call(len(self.operands))

    def loads(self, program: LoadWriter) -> int:
        return program.compute(self.function, self.operands)


def source_of(expr: Expr, env: ShapeEnv) -> Source:
    """The source of an expression over the integers of `env`."""
    if isinstance(expr, Int):
        return ConstSource(expr.value)
    if isinstance(expr, Sym):
        source = env.symbol_sources[expr.name]
        assert isinstance(source, Source)
        return source
    function = _FUNCTIONS[type(expr)]
    first, *rest = [source_of(part, env) for part in expr.args]
    for part in rest:
        first = ComputedSource(function, (first, part))
    return first


class ScalarSource(Source):
    """A number as the 0-d tensor that stands for it in a graph: float64, or `single` float32."""

    in_frame_only = True
    base: Source
    single: bool = False

    def name(self) -> str:
        return self.base.name()

    @property
    def maker(self) -> Callable[[Any], Any]:
        """The function that makes the tensor of the number."""
        return single_tensor if self.single else scalar_tensor

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(self.maker)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        raise NotImplementedError("guards look at numbers")


class WholeSource(ScalarSource):
    """An int as a 0-d tensor of int64."""

    @property
    def maker(self) -> Callable[[Any], Any]:
        return whole_tensor


def scalar_tensor(value: float) -> Any:
    """A 0-d float64 tensor: beside a floating tensor it counts as the number does."""
    return _core.from_ndarray(Tensor, numpy.array(value, numpy.float64), dtypes.float64)


def single_tensor(value: float) -> Any:
    """The same of float32, for operands whose dtype a float64 would change."""
    with numpy.errstate(over="ignore"):
        array = numpy.array(value, numpy.float32)
    return _core.from_ndarray(Tensor, array, dtypes.float32)


def whole_tensor(value: int) -> Any:
    """A 0-d int64 tensor: beside a tensor of ints or floats it counts as the number does."""
    return _core.from_ndarray(Tensor, numpy.array(value, numpy.int64), dtypes.int64)


_eval_frame.skip_code(whole_tensor.__code__)
_eval_frame.skip_code(scalar_tensor.__code__)
_eval_frame.skip_code(single_tensor.__code__)
_SIGNS: dict[Any, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.neg: "-", operator.pos: "+", operator.pow: "**", operator.floordiv: "//",
    operator.mod: "%", operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.eq: "==", operator.ne: "!=", operator.lshift: "<<", operator.rshift: ">>",
    operator.and_: "&", operator.or_: "|", operator.xor: "^", operator.invert: "~",
}
_FUNCTIONS: dict[type[Expr], Callable[..., Any]] = {
    Add: operator.add, Mul: operator.mul, FloorDiv: operator.floordiv, Mod: operator.mod,
    Min: min, Max: max,
}  # fmt: skip
