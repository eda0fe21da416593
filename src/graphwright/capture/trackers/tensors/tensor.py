"""Tensors: each stands for a node of the graph and has a fake tensor as its example."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.guards.constant_tensors import KNOWN, known_value
from graphwright.capture.guards.source import AttrSource, ConstSource, InstanceAttrSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SizeVariable,
    TupleVariable,
)
from graphwright.capture.trackers.effects.deferred_calls import HOOKS, register_hook
from graphwright.capture.trackers.tensors.inplace_views import (
    IN_PLACE_VIEWS,
    RESIZING,
    become_view,
)
from graphwright.runtime import _core
from graphwright.runtime.tensor import from_data
from graphwright.runtime.tensor.dtypes import float32
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator
    from graphwright.ir.graph.node import Node

_READ_BY_PYTHON = frozenset(
    [
        "item", "tolist", "numpy", "__array__", "__float__", "__int__", "__bool__", "__index__",
        "__dlpack__", "data_ptr", "__repr__", "__str__", "__format__", "__complex__", "nonzero",
    ]
)
_TEXTS: dict[str, Callable[[Any], str]] = {"__repr__": repr, "__str__": str, "__format__": str}
_VALUES = frozenset(["item", "tolist", "__float__", "__int__", "__bool__", "__index__"])
_TAPE = frozenset(
    [
        "register_hook", "register_post_accumulate_grad_hook", "retain_grad", "set_", "resize_",
        "share_memory_", "_detach", "_as_view",
    ]
)
_NOT_MODELLED = frozenset(
    [
        "grad_fn", "_version", "_nd", "_storage", "_base", "output_nr", "_backward_hooks",
        "_grad", "__dict__", "__class__",
    ]
)


_OF_CLASSES = frozenset(dir(type)) - frozenset(dir(object))


class TensorVariable(VariableTracker):
    """`node` computes it, `fake` has its metadata.

    memory: what the frame assigned to its `.data`: used in its place where nothing is recorded.
    hidden: what is used in its place while it does not require gradients.
    """

    mutable = True

    def __init__(self, node: Node, fake: Any, cls: type, source: Source | None = None) -> None:
        self.node = node
        self.fake = fake
        self.cls = cls
        self.source = source
        self.memory: TensorVariable | None = None
        self.hidden: TensorVariable | None = None
        self._shape: tuple[Any, VariableTracker] | None = None

    def describe(self) -> str:
        where = f" {self.source}" if self.source is not None else ""
        return f"tensor {self.fake.dtype}{list(self.fake.shape)}{where}"

    def python_type(self) -> type:
        return self.cls

    def as_node(self, tx: Translator) -> Any:
        return self.present().node

    def as_example(self) -> Any:
        return self.present().fake

    def present(self) -> TensorVariable:
        """What has its memory now; a break where a recorded use would need its history, too."""
        if self.memory is None:
            return self.hidden or self
        if not (self.fake.requires_grad and _core.grad_enabled()):
            return self.memory
        unsupported("GB0004", f"a use of {self.describe()} after an assignment to its .data")

    def has_tensor(self) -> bool:
        return True

    def hashes_by_identity(self, tx: Translator) -> bool:
        return True

    def truth(self, tx: Translator) -> bool:
        if KNOWN in self.node.meta and self.fake.numel() == 1:
            return bool(known_value(self.node))
        unsupported("GB0001", f"the truth value of {self.describe()}")

    def length(self, tx: Translator) -> VariableTracker:
        fake = self.present().fake
        if fake.ndim == 0:
            unsupported("GB0007", "TypeError: len() of a 0-d tensor")
        return tx.wrap_plain(fake.shape[0])

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in _OF_CLASSES:
            raise AttributeMissing("GB0007", f"'Tensor' object has no attribute {name!r}")
        if name in _READ_BY_PYTHON or name in _TAPE or callable(getattr(self.cls, name, None)):
            return TensorMethod(self, name)
        if name == "grad":
            return tx.gradient_of(self)
        if name == "data":
            return tx.output.data.read(tx, self)
        self.present()
        if name in ("is_leaf", "requires_grad", "grad_fn"):
            tx.output.tape.require_history()
        if name == "is_leaf":
            return self._is_leaf(tx)
        if name == "__class__":
            return tx.constant_class(self.cls)
        if name == "grad_fn" and not self._has_history(tx):
            return tx.constant(None)
        if name in _NOT_MODELLED:
            unsupported("GB0008", f"attribute {name!r} of a tensor")
        if not hasattr(self.cls, name):
            return self._given(tx, name)
        found = tx.output.run(tx, "call_function", getattr, [self, tx.constant(name)], {})
        return self._size(found) if name == "shape" else found

    def _size(self, found: VariableTracker) -> VariableTracker:
        """A tensor keeps its Size, one object, until it gets another shape."""
        fake = self.present().fake
        if self._shape is None or self._shape[0] is not fake:
            self._shape = fake, as_size(found, self if self._is_read() else None)
        return self._shape[1]

    def _is_read(self) -> bool:
        """Whether reading it from its source after the graph gives what it is now."""
        return self.source is not None and self.memory is None

    def _given(self, tx: Translator, name: str) -> VariableTracker:
        """An attribute that the user has set on a tensor."""
        pending = tx.side_effects.attribute(self, name)
        if pending is not None:
            return pending.realize()
        if self.source is not None and not tx.side_effects.is_deleted(self, name):
            source = InstanceAttrSource(self.source, name)
            if name in vars(tx.output.real_inputs()[self.node]):
                return tx.output.wrap_attribute(self, source, name)
            tx.guards.missing(source)
        raise AttributeMissing("GB0007", f"'Tensor' object has no attribute {name!r}")

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if name == "grad":
            tx.store_gradient(self, value)
        elif name == "data":
            tx.output.data.assign(tx, self, value)
        elif name == "requires_grad":
            if self._has_history(tx):
                unsupported("GB0007", f"RuntimeError: {self.describe()}.requires_grad is set")
            self.call_method(tx, "requires_grad_", [value], {})
        elif hasattr(self.cls, name):
            super().setattr(tx, name, value)
        else:
            self._own(tx)
            tx.side_effects.store_attribute(self, name, value)

    def delattr(self, tx: Translator, name: str) -> None:
        if hasattr(self.cls, name):
            super().delattr(tx, name)
        self._given(tx, name)
        self._own(tx)
        tx.side_effects.store_attribute(self, name, None)

    def _own(self, tx: Translator) -> None:
        """Note that the program sets attributes of the tensor, which are set after the graph."""
        if self.source is None and self not in tx.side_effects.created:
            tx.side_effects.track_new(self)

    def _is_leaf(self, tx: Translator) -> VariableTracker:
        if self.source is None:
            return tx.constant(self.fake.is_leaf)
        return tx.constant(not self._has_history(tx))

    def _has_history(self, tx: Translator) -> bool:
        """Whether `grad_fn` is not None."""
        if self.source is None or self.fake.grad_fn is not None:
            return self.fake.grad_fn is not None
        if not self.fake.requires_grad:
            return False
        source = AttrSource(self.source, "grad_fn")
        if tx.output.real_inputs()[self.node].grad_fn is None:
            tx.guards.equals(source, None)
            return False
        tx.guards.not_none(source)
        return True

    def call_method(
        self,
        tx: Translator,
        name: str,
        args: list[VariableTracker],
        kwargs: dict[str, VariableTracker],
    ) -> VariableTracker:
        return self.getattr(tx, name).call(tx, args, kwargs)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        return tx.tensor_operator("getitem", [self, key.realize().as_index(tx)])

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        tx.tensor_operator("setitem", [self, key.realize().as_index(tx), value])

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        unsupported("GB0001", f"membership test on {self.describe()}")

    def iterate(self, tx: Translator) -> VariableTracker:
        fake = self.present().fake
        if fake.ndim == 0:
            unsupported("GB0007", "TypeError: iteration over a 0-d tensor")
        count = int(fake.shape[0])
        rows = self.call_method(tx, "unbind", [tx.constant(0)], {})
        items = rows.unpack(tx)
        assert len(items) == count
        return tx.iterator_over(items)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push_output(self)


def as_size(value: VariableTracker, tensor: VariableTracker | None) -> VariableTracker:
    """Sizes as Python sees them; those of fake tensors may be plain tuples."""
    if type(value) in (TupleVariable, SizeVariable) and _shape_type() is Size:
        assert isinstance(value, TupleVariable)
        return SizeVariable(value.items, None, tensor)
    return value


@functools.cache
def _shape_type() -> type:
    """What `shape` of a real tensor is."""
    return type(_core.empty(Tensor, (1,), float32).shape)


def _new_of_array(
    tx: Translator,
    owner: TensorVariable,
    array: VariableTracker,
    kwargs: dict[str, VariableTracker],
) -> VariableTracker:
    """`owner.new_tensor(array, ...)`: `tensor` of the same dtype, unless another one is given."""
    chosen = kwargs.get("dtype", tx.constant(None)).realize().as_constant()
    dtype = tx.constant(owner.fake.dtype if chosen is None else chosen)
    make = tx.output.wrap(from_data.tensor, ConstSource(from_data.tensor))
    return make.call(tx, [array], {**kwargs, "dtype": dtype})


def _is_array(value: VariableTracker) -> bool:
    return issubclass(value.realize().python_type(), np.ndarray)


def _plain(tx: Translator, value: Any) -> VariableTracker:
    """A number, or nested lists of numbers."""
    if isinstance(value, list):
        return ListVariable([_plain(tx, item) for item in value])
    return tx.constant(value)


class TensorMethod(VariableTracker):
    """A bound method of a tensor."""

    def __init__(self, owner: TensorVariable, name: str) -> None:
        self.owner = owner
        self.method = name

    def python_type(self) -> type:
        return types.MethodType

    def describe(self) -> str:
        return f"Tensor.{self.method}"

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def call(
        self, tx: Translator, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker:
        name = self.method
        if name in _VALUES and KNOWN in self.owner.node.meta:
            return _plain(tx, tx.fold(getattr(known_value(self.owner.node), name)))
        if name == "item" and not args and not kwargs:
            number = tx.read_item(self.owner)
            if number is not None:
                return number
        if name == "numpy" and not args and not kwargs:
            array = tx.to_numpy(self.owner)
            if array is not None:
                return array
        if name in _TEXTS and not kwargs and len(args) == (name == "__format__"):
            spec = args[0].realize().as_constant() if args else None
            return tx.text(self.owner, _TEXTS[name], spec)
        if name in _READ_BY_PYTHON:
            unsupported("GB0002", f"Tensor.{name}()")
        if name == "storage_offset" and tx.output.data.begins_elsewhere(self.owner.present().fake):
            unsupported("GB0002", "Tensor.storage_offset() in the memory of an argument")
        if name == "is_inference":
            unsupported("GB0008", "whether memory was allocated in inference mode")
        if name in ("register_hook", "retain_grad") and self.owner.source is None:
            return tx.tape_method(name, self.owner, args, kwargs)
        if name in HOOKS:
            return register_hook(tx, self.owner, name, args, kwargs)
        if name in RESIZING:
            unsupported("GB0025", f"{name}() of {self.owner.describe()}")
        if name in _TAPE:
            unsupported("GB0004", f"Tensor.{name}() changes the autograd tape")
        if name == "__len__":
            return self.owner.length(tx)
        if name in IN_PLACE_VIEWS:
            return become_view(tx, self.owner, name, args, kwargs)
        if name in ("backward", "requires_grad_"):
            return tx.tape_method(name, self.owner, args, kwargs)
        if name == "new" and len(args) == 1 and isinstance(args[0].realize(), SizeVariable):
            args = args[0].unpack(tx)  # a Size means a shape, the tuple in its place would be data
        if name == "new_tensor" and len(args) == 1 and _is_array(args[0]):
            return _new_of_array(tx, self.owner, args[0], kwargs)
        result = tx.parts_of_method(self.owner.cls, name, [self.owner, *args], kwargs)
        if result is None:
            result = tx.output.run(tx, "call_method", name, [self.owner, *args], kwargs)
        return self.owner._size(result) if name == "size" and not args and not kwargs else result

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push(self.owner)
        cg.builder.load_attr(self.method)
