"""Tensor: the user's face of the C core. Ops come from the generated mixin."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.methods import TensorMethods
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.apply_map import Elementwise
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dlpack import Exchange
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.elements import elements
from graphwright.runtime.tensor.indexing import Indexing
from graphwright.runtime.tensor.operators import Operators
from graphwright.runtime.tensor.printing import format_tensor
from graphwright.runtime.tensor.set_and_resize import Memory
from graphwright.runtime.tensor.subclasses import as_class, default, install
from graphwright.runtime.tensor.tensor_queries import Facts
from graphwright.runtime.tensor.to_and_type import Conversions
from graphwright.runtime.tensor.view_methods import Views
from graphwright.runtime.torch_function import PLAIN, has_say, without_overrides


class _Backward:
    """Filled by `autograd`: what tensors need of the engine."""

    __slots__ = ("register_accumulate_hook", "register_hook", "retain_grad", "run")

    def __init__(self) -> None:
        self.run: Callable[..., None]
        self.register_hook: Callable[..., Any]
        self.register_accumulate_hook: Callable[..., Any]
        self.retain_grad: Callable[..., None]


BACKWARD = _Backward()


class _Construct:
    """Filled by `legacy`: what `Tensor(...)` makes."""

    __slots__ = ("tensor",)

    def __init__(self) -> None:
        self.tensor: Callable[[DType, tuple[Any, ...]], Tensor]


CONSTRUCT = _Construct()


class AutogradExtra:
    """Rarely needed autograd state of one tensor."""

    __slots__ = ("__weakref__", "accumulate_hooks", "accumulator", "hooks", "retains_grad")

    def __init__(self) -> None:
        self.accumulator: Any = None  # weak reference to what stands for the leaf among nodes
        self.hooks: dict[int, Callable[..., Any]] = {}
        self.accumulate_hooks: dict[int, Callable[..., Any]] = {}
        self.retains_grad = False


def _rebuild(
    array: np.ndarray[Any, Any], dtype: DType, requires_grad: bool, cls: Any = None
) -> Tensor:
    """A copied or unpickled tensor, of a subclass if given, over `array`, which it takes over."""
    return as_it_was(_core.from_ndarray(Tensor, array, dtype), requires_grad, cls)


def _rebuild_meta(
    layout: tuple[tuple[int, ...], tuple[int, ...]],
    dtype: DType,
    requires_grad: bool,
    cls: Any = None,
) -> Tensor:
    """A copied or unpickled tensor of the meta device, of a subclass if given."""
    return as_it_was(_core.meta(Tensor, *layout, dtype, Device("meta")), requires_grad, cls)


def _rebuild_there(device: Device, *parts: Any) -> Tensor:
    """An unpickled tensor of a GPU. Raises RuntimeError where that is not there."""
    made: Tensor = _rebuild(*parts)
    made.data = made.data.to(device)
    return made


def as_it_was(tensor: Tensor, requires_grad: bool, cls: Any) -> Tensor:
    """What was pickled of a tensor, of the subclass `cls` if given."""
    if cls is not None:
        tensor = as_class(cls, tensor)
    tensor.requires_grad = requires_grad
    return tensor


def _to_number(tensor: Tensor) -> Any:
    """The one element, for a conversion that Python has asked for."""
    if tensor.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return tensor.item()


def _without_imaginary(value: Any, target: str) -> Any:
    if not isinstance(value, complex):
        return value
    if value.imag:
        raise RuntimeError(f"value cannot be converted to type {target} without overflow")
    return value.real


def _as_operand(value: Any) -> Any:
    return value if isinstance(value, _core.TensorBase) else ops.full((), value)


class Tensor(
    Operators, Indexing, Conversions, Elementwise, Exchange, Facts, Memory, Views, TensorMethods
):
    """An n-dimensional array of one dtype on one device, that can be differentiated."""

    __slots__ = ()
    __array_priority__ = 1000

    def __new__(cls, *args: Any, device: Any = None) -> Any:
        """`Tensor(2, 3)` is uninitialised, `Tensor([2, 3])` has these values, as the default
        dtype; of a subclass, one that shares their memory.

        Raises TypeError for other arguments.
        """
        made = CONSTRUCT.tensor(dtypes.get_default_dtype(), args)
        return made if cls is Tensor else made.as_subclass(cls)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        install(cls, Tensor)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """What `func` does with instances of a subclass: as with tensors, results become `cls`.

        NotImplemented where another argument's class, one of `types`, is no base of `cls`.
        """
        return default(cls, func, types, args, kwargs)

    @staticmethod
    def _make_subclass(cls: Any, data: Any, require_grad: bool = False) -> Any:
        """A leaf of a subclass over the memory of `data`."""
        made = as_class(cls, data.detach())
        made.requires_grad = require_grad
        return made

    def new(self, *args: Any) -> Tensor:
        """A new tensor of this one's dtype and device, of sizes or of values; as `Tensor(...)`.

        Example:
            >>> gw.ones(2, dtype=gw.int64).new([3, 4])
            tensor([3, 4])
        """
        return CONSTRUCT.tensor(self.dtype, args).to(self.device)

    def as_subclass(self, cls: Any) -> Any:
        """A view of the tensor as an object of a subclass, with the same history.

        What ops make of it is of that subclass too.

        Raises:
            TypeError: `cls` is no subclass of Tensor.

        Example:
            >>> class Named(gw.Tensor): pass
            >>> type(gw.ones(2).as_subclass(Named) + 1).__name__
            'Named'
        """
        if not (isinstance(cls, type) and issubclass(cls, Tensor)):
            raise TypeError(f"as_subclass(): expected a subclass of Tensor, not {cls!r}")
        return as_class(cls, self)

    @property
    def _autograd(self) -> AutogradExtra | None:
        return self._extra

    def _autograd_extra(self) -> AutogradExtra:
        extra: AutogradExtra | None = self._extra
        if extra is None:
            extra = self._extra = AutogradExtra()
        return extra

    def _literal(self, array: np.ndarray[Any, Any]) -> Tensor:
        """A real tensor over `array`, for constants written in Python."""
        return _core.from_ndarray(Tensor, array, dtypes.from_numpy_dtype(array.dtype))

    def _numbers(self, data: Any) -> Tensor | None:
        """A real tensor of plain Python numbers in lists; None where there are many or others."""
        made: Tensor | None = _core.literal(Tensor, data, None)
        return made

    # -- metadata

    def is_floating_point(self) -> bool:
        """Whether the dtype is one of floating point numbers; complex ones are not.

        Example:
            >>> gw.ones(2).is_floating_point()
            True
        """
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the dtype is one of complex numbers.

        Example:
            >>> gw.tensor([1 + 2j]).is_complex()
            True
        """
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the dtype has negative values.

        Example:
            >>> gw.tensor([1], dtype=gw.uint8).is_signed()
            False
        """
        return self.dtype.is_signed

    def is_conj(self) -> bool:
        """False: conjugates are computed, not marked."""
        return False

    def is_neg(self) -> bool:
        """False: negatives are computed, not marked."""
        return False

    @property
    def real(self) -> Tensor:
        """The real part: a view of a complex tensor; a real tensor itself.

        Example:
            >>> gw.tensor([1 + 2j]).real
            tensor([1.])
        """
        return ops.real(self)

    @real.setter
    def real(self, value: Any) -> None:
        ops.copy_(ops.real(self), _as_operand(value))

    @property
    def imag(self) -> Tensor:
        """The imaginary part, as a view.

        Raises:
            RuntimeError: the tensor is not complex.

        Example:
            >>> gw.tensor([1 + 2j]).imag
            tensor([2.])
        """
        return ops.imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        ops.copy_(ops.imag(self), _as_operand(value))

    # -- values

    # `item`, bool(), int() and float() of one element with data are C's (_core/tensor/item.c),
    # which turns to these for all other tensors.

    def _item(self) -> Any:
        if self.numel() != 1:
            raise RuntimeError(
                f"a Tensor with {self.numel()} elements cannot be converted to Scalar"
            )
        value = elements(self).item()
        return float(value) if self.dtype.is_floating_point else value

    def tolist(self) -> Any:
        """The elements as Python numbers, in nested lists; of a tensor without dims, its number.

        Raises:
            NotImplementedError: the tensor is on the meta device and has no data.

        Example:
            >>> gw.tensor([[1, 2], [3, 4]]).tolist()
            [[1, 2], [3, 4]]
        """
        if self.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        nd = elements(self)
        return (nd if nd.dtype.isbuiltin == 1 else nd.astype(np.float32)).tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """A NumPy array that shares memory with the tensor.

        Args:
            force: allow a tensor that requires a gradient, or is on a GPU, of which the array is
                a copy.

        Raises:
            RuntimeError: the tensor requires a gradient, and gradients are recorded.
            TypeError: the tensor is on a GPU, or on the meta device without data.

        Example:
            >>> gw.tensor([1, 2]).numpy()
            array([1, 2])
        """
        if force and _core.has_cuda_memory(self):
            return elements(self)
        if self.device.type != "cpu":
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to "
                "copy the tensor to host memory first."
            )
        if self.requires_grad and not force and _core.grad_enabled():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        return _core.shared_array(self)

    def _truth(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError(
                "Boolean value of Tensor with more than one value is ambiguous"
                if self.numel()
                else "Boolean value of Tensor with no values is ambiguous"
            )
        return bool(self.item())

    def _as_int(self) -> int:
        return int(_without_imaginary(_to_number(self), "int64_t"))

    def _as_float(self) -> float:
        return float(_without_imaginary(_to_number(self), "double"))

    def __complex__(self) -> complex:
        return complex(_to_number(self))

    def __index__(self) -> int:
        if self.dtype.is_floating_point or self.dtype.is_complex or self.numel() != 1:
            raise TypeError(
                "only integer tensors of a single element can be converted to an index"
            )
        return int(self.item())

    def __getitem__(self, key: Any) -> Tensor:
        """The view or copy that the key picks, as in PyTorch."""
        picked = _core.subscript(Tensor, self, key)
        return self._picked(key) if picked is None else picked

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write a number, an array or a tensor, which is broadcast, where the key picks."""
        if not _core.assign(Tensor, self, key, value):
            self._assign(key, value)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(ops.unbind(self, 0))

    def __reversed__(self) -> Tensor:
        """The first dim backwards, a copy; a 0-d tensor itself."""
        return ops.flip(self, (0,)) if self.ndim else self

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, Tensor | int | float | complex | np.generic):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(value)}."
            )
        other: Any = value
        return bool(ops.any(ops.eq(self, other)))

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        """A leaf; tensors copied together share memory where the originals do.

        Raises RuntimeError for tensors with history.
        """
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment."
            )
        known: Tensor | None = memo.get(id(self))
        if known is None:
            known = memo[id(self)] = self._with_memory_of_its_own(memo)
            known.requires_grad = self.requires_grad
            known.grad = copy.deepcopy(self.grad, memo)
            if self.__dict__:
                known.__dict__ = copy.deepcopy(self.__dict__, memo)
        return known

    def _with_memory_of_its_own(self, memo: dict[int, Any]) -> Tensor:
        """This layout over the copy of the whole memory, which `memo` knows once made."""
        if self.device.type == "meta":
            return _rebuild_meta((tuple(self.shape), self.stride()), self.dtype, False)
        if self._storage.nbytes == 0:
            return _rebuild(self._nd.copy("K"), self.dtype, False)
        cls, source = type(self), self.detach()
        key = id(self._storage)
        if key not in memo:
            size = (self._storage.nbytes,)
            whole = _core.as_view(Tensor, source, size, (1,), 0, dtypes.uint8)
            memo[key] = ops.clone(whole), self._storage
        layout = tuple(self.shape), self.stride(), self.storage_offset()
        made = _core.detach(cls, _core.as_view(cls, memo[key][0], *layout, self.dtype))
        return _core.mark_overriding(made) if has_say(cls) else made

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        kind = type(self) if has_say(type(self)) else None
        if self.device.type == "meta":
            layout = tuple(self.shape), self.stride()
            parts = (layout, self.dtype, self.requires_grad, kind)
            return _rebuild_meta, parts, self.__dict__ or None
        if self.device.type == "cuda":
            there = (self.device, elements(self), self.dtype, self.requires_grad, kind)
            return _rebuild_there, there, self.__dict__ or None
        array = _core.shared_array(self)    # pickle may hand it out as a buffer
        return _rebuild, (array, self.dtype, self.requires_grad, kind), self.__dict__ or None

    def __repr__(self) -> str:
        return format_tensor(self)

    def _repr_html_(self) -> str:
        values = None if self.is_fake or self.device.type == "meta" else elements(self)
        html = import_module("graphwright.report.notebook").tensor_html
        text: str = without_overrides(html, self, values)
        return text

    def __format__(self, spec: str) -> str:
        """A 0-d tensor as its number; others only without a `spec`, else TypeError."""
        if self.ndim == 0 and not self.is_fake and self.device.type != "meta":
            return format(self.item(), spec)
        return object.__format__(self, spec)

    # -- autograd

    def detach(self) -> Tensor:
        """A view through which no gradient flows: it does not require one.

        Example:
            >>> gw.ones(2, requires_grad=True).detach().requires_grad
            False
        """
        return ops.detach(self)

    def _alias(self) -> Tensor:
        """As `detach`, of the same class, and known to nobody else: ops do not see it made."""
        return _core.detach(type(self), self)

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to `.grad` of each leaf that it was computed from.

        Args:
            gradient: the gradient of what is differentiated by this tensor, of its shape; 1 if
                None, for a tensor of one element.
            retain_graph: keep what was saved for backward, for another call; as `create_graph`
                if None.
            create_graph: record the gradients' own computation, for higher derivatives.
            inputs: the tensor or tensors whose `.grad` is added to; all leaves if None.

        Raises:
            RuntimeError: the tensor does not require a gradient, has more than one element and
                no `gradient` is given, or its graph has been freed by a call before.

        Example:
            >>> x = gw.tensor([1.0, 2.0], requires_grad=True)
            >>> (x * x).sum().backward()
            >>> x.grad
            tensor([2., 4.])
        """
        BACKWARD.run(self, gradient, retain_graph, create_graph, inputs)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set whether a gradient is computed for this tensor, in place; returns the tensor.

        Args:
            requires_grad: whether one is.

        Raises:
            RuntimeError: the dtype is neither floating point nor complex, or the tensor is no
                leaf and `requires_grad` is False.

        Example:
            >>> gw.ones(2).requires_grad_()
            tensor([1., 1.], requires_grad=True)
        """
        if requires_grad is not True or self.grad_fn is None:
            self.requires_grad = requires_grad
        return self

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Call a function with the gradient of this tensor whenever that is computed.

        Args:
            hook: `hook(grad)` returns another gradient to go on with, or None.

        Returns: a handle, whose `remove()` ends that.

        Raises:
            RuntimeError: the tensor does not require a gradient.

        Example:
            >>> x = gw.ones(2, requires_grad=True)
            >>> handle = x.register_hook(lambda grad: 10 * grad)
            >>> x.sum().backward()
            >>> x.grad
            tensor([10., 10.])
        """
        return BACKWARD.register_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Any:
        """Call a function after each time that a gradient was added to `.grad` of this leaf.

        Args:
            hook: `hook(tensor)` is given this tensor; what it returns is ignored.

        Returns: a handle, whose `remove()` ends that.

        Raises:
            RuntimeError: the tensor does not require a gradient, or is no leaf.

        Example:
            >>> x = gw.ones(2, requires_grad=True)
            >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
            >>> x.sum().backward()
            tensor([1., 1.])
        """
        return BACKWARD.register_accumulate_hook(self, hook)

    def retain_grad(self) -> None:
        """Have `.grad` set by backward although this tensor is no leaf.

        Raises:
            RuntimeError: the tensor does not require a gradient.

        Example:
            >>> y = gw.ones(2, requires_grad=True) * 2
            >>> y.retain_grad()
            >>> y.sum().backward()
            >>> y.grad
            tensor([1., 1.])
        """
        BACKWARD.retain_grad(self)


PLAIN.append(Tensor)
