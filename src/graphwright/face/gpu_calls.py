"""What a call of an op has in common with others: the key that its GPU program is kept by.

Sizes of 2 and more become symbols, equal ones the same symbol, and so do the strides of tensors
with gaps; what is left of the call is its kind::

    add(x: float32[64, 100], y: float32[100], alpha=1)
    add((float32, (s0, s1), dense), (float32, (s1,), dense), alpha=1)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.cuda.precision import float32_products
from graphwright.runtime.fake.fake_tensor import make_fake
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.strides import dense_order, strides_in_order
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.tensor.device import cpu
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import float64
from graphwright.runtime.tensor.generator import Generator


class Slot(Record):
    """Stands for input `index` among the arguments of a call."""

    index: int


class Call:
    """A call of an op: its inputs, and the rest of its arguments.

    inputs: its tensors, each once, and the sizes among its arguments. template: the arguments,
    with a `Slot` for each input. generator: where its random numbers come from, if it names one.
    devices: where its tensors with dims are, and where its result is to be. floats: how many of
    its arguments are floats; with `varied` these are inputs, too, as tensors without dims.
    """

    def __init__(self, op: Op, args: tuple[Any, ...], varied: bool = False) -> None:
        self.op = op
        self.varied = varied
        self.floats = 0
        self.inputs: list[Any] = []
        self.generator: Any = None
        self.devices: set[Device] = set()
        self._places: dict[int, Slot] = {}
        sized = op.kind in (Kind.CREATION, Kind.RANDOM)
        self.template = tuple([
            self._float(arg) if type(arg) is float else
            self._taken(arg, sized and param.type == "Size")
            for arg, param in zip(args, op.schema.params, strict=False)])

    def _float(self, number: float) -> Any:
        self.floats += 1
        return self._added(ops.full((), number, dtype=float64)) if self.varied else number

    def _taken(self, arg: Any, sized: bool) -> Any:
        if isinstance(arg, _core.TensorBase):
            return self._tensor(arg)
        if isinstance(arg, list | tuple):
            return type(arg)([self._taken(item, sized) for item in arg]) if type(arg) in (
                list, tuple) else tuple([self._taken(item, sized) for item in arg])
        if isinstance(arg, Generator):
            self.generator = arg
            return None
        if isinstance(arg, Device):
            self.devices.add(arg)
        if sized and type(arg) is int and arg > 1:
            return self._added(arg)
        return arg

    def _tensor(self, tensor: Any) -> Slot:
        slot = self._places.get(id(tensor))
        if slot is None:
            slot = self._places[id(tensor)] = self._added(tensor)
            if tensor.ndim or tensor.is_cuda:
                self.devices.add(tensor.device)
        return slot

    def _added(self, value: Any) -> Slot:
        self.inputs.append(value)
        return Slot(len(self.inputs) - 1)

    @property
    def device(self) -> Device:
        """The one device that it runs on."""
        (device,) = self.devices
        return device

    def key(self, exact: bool) -> tuple[Any, ...]:
        """What calls have in common that run the same program; with `exact` also their sizes."""
        known: dict[int, int] = {}
        layouts = [_layout(value, known, exact) for value in self.inputs]
        return (self.op.name, self.device, _hashable(self.template), tuple(layouts), exact,
                self.generator is None, self.varied, float32_products())

    def is_floating(self) -> bool:
        """Whether all of its tensors have floating point numbers, and there are some."""
        dtypes = [x.dtype for x in self.inputs if isinstance(x, _core.TensorBase)]
        return bool(dtypes) and all(dtype.is_floating_point for dtype in dtypes)

    def kind(self) -> tuple[Any, ...]:
        """What calls have in common that differ in floats alone, and in sizes."""
        template = tuple([None if type(arg) is float else arg for arg in self.template])
        known: dict[int, int] = {}
        layouts = [_layout(value, known, exact=False) for value in self.inputs]
        return self.op.name, self.device, _hashable(template), tuple(layouts)

    def fakes(self, env: ShapeEnv, exact: bool) -> list[Any]:
        """Fake inputs, with symbols for sizes unless they are to be `exact`."""
        made = _Fakes(env, exact, self.device)
        return [made.of(value) for value in self.inputs]

    def arguments(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments, with these values for the inputs; the default generator draws."""
        def filled(item: Any) -> Any:
            if type(item) is Slot:
                return values[item.index]
            if type(item) in (list, tuple):
                return type(item)([filled(part) for part in item])
            return item

        return tuple([filled(item) for item in self.template])


def _hashable(value: Any) -> Any:
    """A key of constants: 1, 1.0 and True are apart, and so are 0.0 and -0.0."""
    if isinstance(value, list | tuple):
        return tuple([_hashable(item) for item in value])
    if isinstance(value, float):
        return float, value.hex()
    if isinstance(value, complex):
        return complex, value.real.hex(), value.imag.hex()
    return (type(value), value) if isinstance(value, int) else value


def _is_dense(tensor: Any) -> tuple[int, ...] | None:
    return dense_order(tensor.shape, tensor.stride())


def _pattern(values: Sequence[int], known: dict[int, int]) -> Iterator[Any]:
    """Sizes of 0 and 1, and a negative number for each other one, equal ones the same."""
    for value in values:
        yield value if value < 2 else -1 - known.setdefault(value, len(known))


def _layout(value: Any, known: dict[int, int], exact: bool) -> Any:
    if not isinstance(value, _core.TensorBase):
        return value if exact else next(_pattern((value,), known))
    kind = value.dtype, value.is_cuda or not value.ndim
    if exact:
        return *kind, tuple(value.shape), tuple(value.stride())
    order = _is_dense(value)
    rest = order if order is not None else tuple([min(step, 2) for step in value.stride()])
    return *kind, tuple(_pattern(value.shape, known)), order is None, tuple(rest)


class _Fakes:
    """Makes fake inputs whose equal sizes have one symbol."""

    def __init__(self, env: ShapeEnv, exact: bool, device: Any) -> None:
        self.env = env
        self.exact = exact
        self.device = device
        self._sizes: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """A fake tensor like a tensor, on the GPU; a symbol for a size."""
        if not isinstance(value, _core.TensorBase):
            return self._size(value)
        shape = tuple([self._size(size) for size in value.shape])
        order = _is_dense(value)
        if order is not None:
            strides = strides_in_order(shape, order)
        else:
            strides = tuple([self._stride(step) for step in value.stride()])
        device = self.device if value.device == cpu and not value.ndim else value.device
        return make_fake(shape, strides, value.dtype, device)

    def _size(self, size: int) -> Any:
        if self.exact or size < 2:
            return size
        if size not in self._sizes:
            self._sizes[size] = self.env.create_symbol(size)
        return self._sizes[size]

    def _stride(self, step: int) -> Any:
        return step if self.exact or step < 2 else self.env.create_symbol(step)
