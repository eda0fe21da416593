"""Operations on fake tensors while a frame is translated."""

from __future__ import annotations

from typing import Any

from graphwright.capture.vm.argument_kinds import check_kinds
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import WithoutData
from graphwright.runtime.ops.strides import dense_order
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.tensor.generator import ReservedDraws
from graphwright.runtime.tensor.view_methods import view_extent


class FakeMode(WithoutData):
    """The tracer of a capture, which looks at what the ops are given.

    random: whether some op draws random numbers.
    """

    def __init__(self) -> None:
        self.random = False

    def record(self, op: Op, args: tuple[Any, ...]) -> Any:
        check_kinds(op, args)
        if op.name == "as_strided":
            _check_strided(*args)
        result = super().record(op, args)
        if result is NotImplemented:
            return result
        self.random = self.random or op.kind is Kind.RANDOM or _drops(op)
        if op.name == "rand" and type(args[1]) is ReservedDraws:
            args[1].index += 1
        return result


def _drops(op: Op) -> bool:
    """Whether a composite op draws random numbers: its schema has a dropout or generator."""
    return any("dropout" in name or name == "generator" for name in op.schema.names)


def _check_strided(input: Any, size: Any, stride: Any, storage_offset: Any) -> None:
    """Raise DataDependent unless the view stays within the memory that `input` fills.

    The graph knows a tensor's own layout, but neither where in its storage it begins nor how
    large that storage is. Of symbolic sizes the comparison is a guard.
    """
    own = view_extent(input.shape, input.stride())
    whole = input.is_contiguous() or dense_order(input.shape, input.stride()) is not None
    if storage_offset is not None or not whole or view_extent(size, stride) > own:
        raise DataDependent(
            "as_strided() reads memory that its input does not cover by its own sizes and strides"
        )
