"""Tensor: the user's face of the C core. Ops come from the generated mixin."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops._methods import TensorMethods
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.apply_map import Elementwise
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dlpack import Exchange
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.indexing import Indexing
from graphwright.runtime.tensor.operators import Operators
from graphwright.runtime.tensor.printing import format_tensor
from graphwright.runtime.tensor.set_and_resize import Memory
from graphwright.runtime.tensor.subclasses import as_class, default, install
from graphwright.runtime.tensor.tensor_queries import Facts
from graphwright.runtime.tensor.to_and_type import Conversions
from graphwright.runtime.tensor.view_methods import Views
from graphwright.runtime.torch_function import PLAIN, has_say


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
        """As `Tensor(...)`, of this tensor's dtype."""
        return CONSTRUCT.tensor(self.dtype, args)

    def as_subclass(self, cls: Any) -> Any:
        """The same memory and history as an object of a subclass, of which results are too.

        Raises TypeError for other classes.
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
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    def is_conj(self) -> bool:
        """False: conjugates are computed, not marked."""
        return False

    def is_neg(self) -> bool:
        """False: negatives are computed, not marked."""
        return False

    @property
    def real(self) -> Tensor:
        """The real part, a view of a complex tensor; a real tensor itself."""
        return ops.real(self)

    @real.setter
    def real(self, value: Any) -> None:
        ops.copy_(ops.real(self), _as_operand(value))

    @property
    def imag(self) -> Tensor:
        """The imaginary part, a view. Raises RuntimeError for real tensors."""
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
        value = self._nd.item()
        return float(value) if self.dtype.is_floating_point else value

    def tolist(self) -> Any:
        """Nested lists of Python numbers. NotImplementedError for the meta device."""
        if self.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        nd = self._nd
        return (nd if nd.dtype.isbuiltin == 1 else nd.astype(np.float32)).tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """An array over the same memory.

        Raises RuntimeError where grad is required and recorded, unless `force`, TypeError for the
        meta device.
        """
        if self.device.type == "meta":
            raise TypeError(
                "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the "
                "tensor to host memory first."
            )
        if self.requires_grad and not force and _core.grad_enabled():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        return self._nd.view()

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
        return _rebuild, (self._nd, self.dtype, self.requires_grad, kind), self.__dict__ or None

    def __repr__(self) -> str:
        return format_tensor(self)

    def __format__(self, spec: str) -> str:
        """A 0-d tensor as its number; others only without a `spec`, else TypeError."""
        if self.ndim == 0 and not self.is_fake and self.device.type != "meta":
            return format(self.item(), spec)
        return object.__format__(self, spec)

    # -- autograd

    def detach(self) -> Tensor:
        """The same memory and version counter, without history."""
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
        """Accumulate into the leaves' `.grad` the gradient of this tensor."""
        BACKWARD.run(self, gradient, retain_graph, create_graph, inputs)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` and return self. A tensor with a history, which requires gradients
        already, stays as it is; RuntimeError for integer dtypes, and where that is to be unset.
        """
        if requires_grad is not True or self.grad_fn is None:
            self.requires_grad = requires_grad
        return self

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Call `hook(grad)` when this tensor's gradient is computed; it may replace it."""
        return BACKWARD.register_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Any:
        """Call `hook(self)` after a gradient was accumulated into `.grad`."""
        return BACKWARD.register_accumulate_hook(self, hook)

    def retain_grad(self) -> None:
        """Keep `.grad` for this tensor although it is no leaf."""
        BACKWARD.retain_grad(self)


PLAIN.append(Tensor)
