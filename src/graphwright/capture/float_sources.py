"""Sources of floats that vary: arithmetic on arguments, and the tensors that graphs get."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy

from graphwright.capture import _eval_frame
from graphwright.capture.source import LoadWriter, Reloader, Source
from graphwright.runtime import _core, dtypes
from graphwright.runtime.tensor import Tensor


class FloatSource(Source):
    """`function(*operands)` of floats: + - *, signs and abs, or / by a constant but zero.

    These never raise, so that the translated frame may compute them when it likes.
    """

    function: Callable[..., float]
    operands: tuple[Source, ...]

    def name(self) -> str:
        names = [operand.name() for operand in self.operands]
        sign = _SIGNS[self.function]
        return f"({names[0]} {sign} {names[1]})" if len(names) == 2 else f"{sign}({names[0]})"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(self.function)
        for operand in self.operands:
            operand.emit(cg)
        cg.end_call(len(self.operands))

    def loads(self, program: LoadWriter) -> int:
        raise NotImplementedError("guards look at arguments only")


class ScalarSource(Source):
    """A float as the 0-d tensor that stands for it in a graph: float64, or `single` float32."""

    base: Source
    single: bool = False

    def name(self) -> str:
        return self.base.name()

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(single_tensor if self.single else scalar_tensor)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        raise NotImplementedError("guards look at arguments only")


def scalar_tensor(value: float) -> Any:
    """A 0-d float64 tensor: beside a floating tensor it counts as the number does."""
    return _core.from_ndarray(Tensor, numpy.array(value, numpy.float64), dtypes.float64)


def single_tensor(value: float) -> Any:
    """The same of float32, for operands whose dtype a float64 would change."""
    with numpy.errstate(over="ignore"):
        array = numpy.array(value, numpy.float32)
    return _core.from_ndarray(Tensor, array, dtypes.float32)


_eval_frame.skip_code(scalar_tensor.__code__)
_eval_frame.skip_code(single_tensor.__code__)
_SIGNS: dict[Any, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.neg: "-", operator.pos: "+", operator.abs: "abs",
}
