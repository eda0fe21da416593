"""The tensor that a function under vmap sees: one example, which stands for all of the batch."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.batching.levels import Level
from graphwright.runtime.fake.fake_tensor import FakeTensor, fake_view
from graphwright.runtime.op_errors import complete
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def _refuse(what: str) -> Any:
    def method(self: BatchedTensor, *args: Any, **kwargs: Any) -> Any:
        if not self.batched:
            return getattr(self.value, what)(*args, **kwargs)
        raise complete(RuntimeError(
            f"vmap: It looks like you're calling .{what}() on a Tensor. We don't support vmap "
            f"over calling .{what}() on a Tensor, please try to rewrite what you're doing with "
            "other operations."
        ))

    return method


def _refuse_control(what: str) -> Any:
    def method(self: BatchedTensor) -> Any:
        if not self.batched:
            return getattr(self.value, what)()
        raise complete(RuntimeError(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent "
            "control flow. We don't support that yet: please write it with where()."
        ))

    return method


def _refuse_copies(what: str) -> Any:
    def method(self: BatchedTensor, *args: Any) -> Any:
        if not self.batched:
            return getattr(self.value, what)(*args)
        raise complete(NotImplementedError(
            "vmap: the memory of one example of a batch cannot be copied or pickled; use clone()"
        ))

    return method


class BatchedTensor(FakeTensor):
    """An example's shape, over the values of all examples.

    value: a tensor of a level below. If `batched` its first dimension counts examples; else it is
    what all examples share, and belongs to the level because gradients are taken there.
    Raises RuntimeError where values of single examples are asked for.
    """

    __slots__ = ("batched", "level", "value")
    value: Any
    level: Level
    batched: bool

    def __repr__(self) -> str:
        return f"BatchedTensor(lvl={self.level.depth + 1}, value={self.value!r})"

    item = _refuse("item")
    tolist = _refuse("tolist")
    numpy = _refuse("numpy")
    data_ptr = _refuse("data_ptr")
    __bool__ = _refuse_control("__bool__")
    __int__ = _refuse_control("__int__")
    __float__ = _refuse_control("__float__")
    __complex__ = _refuse_control("__complex__")
    __index__ = _refuse_control("__index__")
    __array__ = _refuse("__array__")
    __deepcopy__ = _refuse_copies("__deepcopy__")
    __reduce_ex__ = _refuse_copies("__reduce_ex__")

    def __format__(self, spec: str) -> str:
        """As text without a `spec`; with one a number is asked for."""
        number = bool(spec) and not self.ndim
        return format(self.item(), spec) if number else object.__format__(self, spec)

    def _alias(self) -> BatchedTensor:
        """The same example and memory, without a history at its level."""
        made: BatchedTensor = _core.detach(BatchedTensor, self)
        made.value, made.level, made.batched = self.value, self.level, self.batched
        return made

    def _adopt(self, view: BatchedTensor) -> None:
        """Hold what a view of this tensor holds, whose layout it has taken."""
        self.value = view.value

    @property
    def data(self) -> Tensor:
        """A view without any history."""
        return wrap(self.value.data, self.level, self.batched)

    @data.setter
    def data(self, value: Any) -> None:
        raise complete(RuntimeError("vmap: assigning to `data` of an example is not supported"))

    def new_zeros(self, *size: Any, **options: Any) -> Any:
        """As `Tensor.new_zeros`, with zeros for each example."""
        return self._made("new_zeros", size, options)

    def new_ones(self, *size: Any, **options: Any) -> Any:
        """As `Tensor.new_ones`, with ones for each example."""
        return self._made("new_ones", size, options)

    def new_empty(self, *size: Any, **options: Any) -> Any:
        """As `Tensor.new_empty`, for each example."""
        return self._made("new_empty", size, options)

    def new_full(self, size: Any, fill_value: Any, **options: Any) -> Any:
        """As `Tensor.new_full`, for each example."""
        return self._made("new_full", (size, fill_value), options)

    def _made(self, name: str, args: Any, options: Any) -> Any:
        """What the method of plain tensors makes, in as many copies as there are examples."""
        made = getattr(FakeTensor, name)(self, *args, **options)
        if not self.batched or isinstance(made, BatchedTensor):
            return made
        needs, made = made.requires_grad, made.detach()
        own = wrap(ops.clone(spread(made, self.level)), self.level)
        return own.requires_grad_(needs)


def wrap(value: Any, level: Level, batched: bool = True) -> BatchedTensor:
    """The example of `value`, whose first dimension counts examples if `batched`."""
    shape, strides = value.shape, value.stride()
    if batched:
        shape, strides = shape[1:], strides[1:]
    made: BatchedTensor = _core.meta(
        BatchedTensor, shape, strides, value.dtype, value.device, True)
    made.value, made.level, made.batched = value, level, batched
    return made


def wrap_view(source: BatchedTensor, value: Any) -> BatchedTensor:
    """The example of a view of what `source` holds, as a view of `source`."""
    offset = source.storage_offset() + value.storage_offset() - source.value.storage_offset()
    first = 1 if source.batched else 0
    made = fake_view(
        BatchedTensor, source, value.shape[first:], value.stride()[first:], offset, value.dtype)
    made.value, made.level, made.batched = value, source.level, source.batched
    return made


def spread(value: Any, level: Level) -> Any:
    """`value`, which all examples share, as that of each: a view."""
    return ops.expand(ops.unsqueeze(value, 0), (level.size, *value.shape))


def whole(tensor: BatchedTensor) -> Any:
    """The values of all examples, the first dimension counting them."""
    return tensor.value if tensor.batched else spread(tensor.value, tensor.level)
