"""`FakeTensor`: metadata that goes through the same ops, shape rules and tape as real tensors.

Sizes, strides and offset may be symbolic. Views of fake tensors share their storage and version
counter, so that aliasing can be read off them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NoReturn, TypeVar

from graphwright.runtime import _core
from graphwright.runtime.common_device import results_device
from graphwright.runtime.dispatch import HOOKS, OTHER_DEVICE
from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.fake.meta import mutate
from graphwright.runtime.ops.strides import dense_order, strides_in_order
from graphwright.runtime.ops.table import Op
from graphwright.runtime.ops.tensor_spec import TensorSpec, ViewSpec
from graphwright.runtime.symbolic.places import STRIDE, integers_of, value_at
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.symbolic.symint import IntLike, SymInt, hint_of
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.torch_function import disabled_torch_function_impl

Sizes = tuple[IntLike, ...]


def _refuse(what: str) -> Any:
    def method(self: FakeTensor, *args: Any, **kwargs: Any) -> NoReturn:
        raise DataDependent(
            f"{what} needs the values of a tensor of which only the type is known: "
            f"{describe(self)}"
        )
    return method


def is_fake(x: Any) -> bool:
    """Whether a value is a tensor without data, of the kind that graphs are traced with."""
    return isinstance(x, FakeTensor)


class FakeTensor(Tensor):
    """A tensor without data. Raises: DataDependent where its values are asked for.

    position: of a view, the 0-d tensor whose value it depends on where in its base it lies.
    """

    __slots__ = ("_offset", "position")
    __torch_function__ = disabled_torch_function_impl
    _offset: IntLike
    position: FakeTensor

    def storage_offset(self) -> Any:
        """Elements between the storage's start and the first element; may be symbolic."""
        offset = getattr(self, "_offset", None)     # most have none, and the error is slow
        return super().storage_offset() if offset is None else offset

    def __repr__(self) -> str:
        return f"FakeTensor({describe(self)})"

    def __deepcopy__(self, memo: dict[int, Any]) -> FakeTensor:
        """Another one of this layout. Raises: DataDependent in a graph for native code.

        That knows nothing of the memory around a tensor, all of which is copied.
        """
        if getattr(_core.tracer(), "for_native_code", False):
            raise DataDependent(f"copy.deepcopy of all the memory of {describe(self)}")
        return make_fake(self.shape, self.stride(), self.dtype, self.device, self.requires_grad)

    item = _refuse("item()")
    tolist = _refuse("tolist()")
    numpy = _refuse("numpy()")
    data_ptr = _refuse("data_ptr()")
    __bool__ = _refuse("bool()")
    __int__ = _refuse("int()")
    __float__ = _refuse("float()")
    __index__ = _refuse("use as an index")
    __array__ = _refuse("conversion to an array")


Fake = TypeVar("Fake", bound=FakeTensor)


def make_fake(
    shape: Sizes, strides: Sizes, dtype: Any, device: Any, requires_grad: bool = False
) -> FakeTensor:
    """A new fake tensor with its own storage."""
    fake: FakeTensor = _core.meta(FakeTensor, shape, strides, dtype, device, fake=True)
    if requires_grad:
        fake.requires_grad = True
    return fake


def fake_like(
    tensor: Any,
    shape_env: ShapeEnv | None = None,
    dynamic: Collection[int] = (),
    sources: Mapping[int, object] | None = None,
) -> FakeTensor:
    """A fake tensor with the type of `tensor`.

    Args:
        shape_env: where to make the symbols for what is at the places in `dynamic`: sizes, and
            strides (see `symbolic.places`).
        sources: place -> source object of its symbol.

    Strides of dense tensors (contiguous, or a permutation of that) follow from the sizes;
    strides of other tensors stay as they are where they are not asked to be symbols.
    """
    found = dict(integers_of(tensor))
    if shape_env is not None:
        for place in sorted(dynamic):
            source = None if sources is None else sources.get(place)
            found[place] = shape_env.create_symbol(value_at(tensor, place), source)
    rank = len(tensor.shape)
    shape = tuple(found[dim] for dim in range(rank))
    strides: Sizes = tuple(found[STRIDE + dim] for dim in range(rank))
    order = dense_order(tensor.shape, tensor.stride()) if dynamic else None
    if order is not None:
        strides = strides_in_order(shape, order)
    return make_fake(shape, strides, tensor.dtype, tensor.device, tensor.requires_grad)


def fake_kernel(op: Op, args: tuple[Any, ...]) -> Any:
    """What `op` gives for these arguments, by its shape rule alone."""
    placed = _core.dispatch_flags(args) & OTHER_DEVICE
    place = results_device(op, args) if placed else None
    if op.is_inplace:
        return mutate(op, args)
    assert op.meta is not None
    spec = op.meta(*args)
    if type(spec) is ViewSpec:
        view = _view(args[0], spec)
        return view if op.differentiable else _core.detach(FakeTensor, view)
    if type(spec) is TensorSpec:
        device = place or _indexed(spec.device)
        return _core.meta(FakeTensor, spec.shape, spec.strides, spec.dtype, device, True)
    return tuple([make_fake(s.shape, s.strides, s.dtype, place or _indexed(s.device))
                  for s in spec])


def _indexed(device: Device) -> Device:
    """The device, for "cuda" alone the current GPU where there is one."""
    if device.type != "cuda" or device.index is not None or _core.cuda_absence() is not None:
        return device
    return Device("cuda", _core.cuda_current_device())


class WithoutData:
    """While it is the thread's tracer, ops give fake tensors even without fake inputs."""

    def record(self, op: Op, args: tuple[Any, ...]) -> Any:
        """The op's result by its shape rule; NotImplemented to have it decomposed.

        Raises: DataDependent for an op that has neither.
        """
        if op.meta is None and op.functional is None:
            if op.decompose is None:
                raise DataDependent(f"{op.name}() works on the values when the program runs")
            return NotImplemented
        return fake_kernel(op, args)


def _view(source: Any, spec: ViewSpec) -> FakeTensor:
    offset = source.storage_offset() + spec.offset
    view = fake_view(FakeTensor, source, spec.shape, spec.strides, offset, spec.dtype)
    position = getattr(source, "position", None)
    if position is not None:
        view.position = position
    return view


def fake_view(
    cls: type[Fake], source: Any, shape: Sizes, strides: Sizes, offset: IntLike, dtype: Any
) -> Fake:
    """A view of a tensor without data; `dtype` None: of the same dtype."""
    read_as = () if dtype is None else (dtype,)
    view: Fake = _core.as_view(cls, source, shape, strides, hint_of(offset), *read_as)
    if type(offset) is SymInt:
        view._offset = offset
    return view


HOOKS.fake_kernel = fake_kernel
