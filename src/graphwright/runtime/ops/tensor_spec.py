"""What a shape rule answers: the metadata of a tensor that does not exist yet."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.tensor.promotion import can_cast

Shape = tuple[Any, ...]


class TensorSpec:
    """Shape, strides (in elements), dtype and device of a tensor; sizes may be symbolic.

    `offset`: where it begins in its storage, if it stands for a tensor that exists.
    """

    __slots__ = ("device", "dtype", "offset", "shape", "strides")

    def __init__(
        self, shape: Shape, strides: Shape, dtype: Any, device: Any, offset: Any = 0
    ) -> None:
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.device = device
        self.offset = offset

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def stride(self) -> Shape:
        return self.strides

    def numel(self) -> Any:
        total: Any = 1
        for size in self.shape:
            total = total * size
        return total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (
            (self.shape, self.strides, self.dtype, self.device)
            == (other.shape, other.strides, other.dtype, other.device)
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.strides, self.dtype))

    def __repr__(self) -> str:
        return f"TensorSpec({self.shape}, {self.strides}, {self.dtype}, {self.device})"


class ViewSpec:
    """Shape and strides of a view; `offset` is counted from the input's own first element.

    `dtype`: how the memory is read, where not as the input's; strides and the input's offset
    with `offset` count elements of that.
    """

    __slots__ = ("dtype", "offset", "shape", "strides")

    def __init__(self, shape: Shape, strides: Shape, offset: Any = 0, dtype: Any = None) -> None:
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.dtype = dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ViewSpec) and (
            (self.shape, self.strides, self.offset)
            == (other.shape, other.strides, other.offset)
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.strides))

    def __repr__(self) -> str:
        return f"ViewSpec({self.shape}, {self.strides}, +{self.offset})"


def check_writable(name: str, target: Any, result: Any) -> None:
    """Raise RuntimeError where `result` does not fit into `target`."""
    if result.shape != target.shape:
        raise RuntimeError(
            f"{name}: output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}"
        )
    if not can_cast(result.dtype, target.dtype):
        raise RuntimeError(
            f"{name}: result type {result.dtype.name} can't be cast to the desired output type "
            f"{target.dtype.name}"
        )
