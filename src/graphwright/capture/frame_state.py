"""What is remembered between the captures of one code object: which sizes have varied."""

from __future__ import annotations

from typing import Any

from graphwright.capture.guards import TensorLayout
from graphwright.capture.marks import marks_of
from graphwright.capture.source import InstanceAttrSource, ItemSource, LocalSource, Source
from graphwright.runtime.records import Record, field


class FrameState(Record, frozen=False):
    """Per code object and front end.

    dynamic: True makes sizes symbolic from the start, False never, None once they have varied.
    """

    dynamic: bool | None = None
    sizes: dict[str, list[int | None]] = field(default_factory=dict)
    ints: dict[str, int | None] = field(default_factory=dict)
    floats: dict[str, str | None] = field(default_factory=dict)
    captures: int = 0

    def dynamic_dims(self, tensor: Any, source: Source) -> tuple[int, ...]:
        """The dimensions of an input that become symbolic in this capture."""
        shape = tuple(tensor.shape)
        seen = self.sizes.get(source.name())
        if seen is None or len(seen) != len(shape):
            seen = self.sizes[source.name()] = list(shape)
        for dim, size in enumerate(shape):
            if seen[dim] != size:
                seen[dim] = None
        marks = marks_of(tensor)
        if self.dynamic is False and not marks.dynamic:
            return ()
        all_of_them = self.dynamic is True and not _is_module_state(source)
        varies = [self.dynamic is not False and (all_of_them or size is None) for size in seen]
        dims = tuple(
            dim
            for dim, size in enumerate(shape)
            if size >= 2 and dim not in marks.static and (dim in marks.dynamic or varies[dim])
        )
        return dims if dims and stride_order(tensor) is not None else ()

    def int_is_dynamic(self, value: int, source: Source) -> bool:
        """Whether an int becomes symbolic in this capture: one that has varied, or an argument.

        Never 0 and 1, which mean something to most programs.
        """
        name = source.name()
        if self.ints.setdefault(name, value) != value:
            self.ints[name] = None
        if self.dynamic is False or value in (0, 1):
            return False
        from_the_start = self.dynamic is True and isinstance(source, LocalSource)
        return from_the_start or self.ints[name] is None

    def float_is_dynamic(self, value: float, source: Source) -> bool:
        """Whether a float argument becomes an input of the graph: one that has varied."""
        name = source.name()
        if self.floats.setdefault(name, repr(value)) != repr(value):
            self.floats[name] = None
        return self.dynamic is not False and (self.dynamic is True or self.floats[name] is None)


def _is_module_state(source: Source) -> bool:
    """Parameters and buffers keep their sizes."""
    if not isinstance(source, ItemSource):
        return False
    base = source.base
    return isinstance(base, InstanceAttrSource) and base.attr in ("_parameters", "_buffers")


def stride_order(tensor: Any) -> tuple[int, ...] | None:
    """The dimensions of a dense tensor, outermost first; None if its memory has gaps.

    Strides of dimensions of size 1 say nothing about memory, but programs can read them: they
    too have to be what the sizes give.
    """
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    order = sorted(range(len(shape)), key=lambda dim: (-strides[dim], dim))
    expected = 1
    for dim in reversed(order):
        if strides[dim] != expected:
            return None
        expected *= max(shape[dim], 1)
    return tuple(order)


def layout_of(tensor: Any, dynamic_dims: tuple[int, ...]) -> TensorLayout:
    """What a graph assumes of an input."""
    shape = tuple(tensor.shape)
    strides: Any = tuple(tensor.stride())
    if dynamic_dims:
        order = stride_order(tensor)
        assert order is not None
        strides = "contiguous" if order == tuple(range(len(shape))) else ("order", order)
    return TensorLayout(
        cls=type(tensor),
        dtype=tensor.dtype,
        device=tensor.device,
        sizes=tuple(None if dim in dynamic_dims else size for dim, size in enumerate(shape)),
        strides=strides,
        requires_grad=tensor.requires_grad,
    )
