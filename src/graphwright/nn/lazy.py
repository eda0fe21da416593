"""Modules whose input sizes are taken from the first input that they see."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.nn.layers.batch_norm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from graphwright.nn.layers.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from graphwright.nn.layers.linear import Linear
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.methods import TensorMethods
from graphwright.runtime.tensor.operators import Operators
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.torch_function import disabled_torch_function_impl


class UninitializedTensorMixin:
    """A tensor without a shape yet; `materialize` gives it one."""

    __slots__ = ()
    uninitialised = True
    _plain: type

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary tensor of `shape`, its values undefined."""
        tensor: Any = self
        dtype = tensor.dtype if dtype is None else dtype
        tensor.data = ops.empty(tuple(shape), dtype=dtype, device=device or tensor.device)
        tensor.__class__ = self._plain

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def share_memory_(self) -> Any:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        tensor: Any = self
        return type(self), (tensor.requires_grad, tensor.device, tensor.dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        known = memo.get(id(self))
        if known is None:
            tensor: Any = self
            known = memo[id(self)] = type(tensor)(
                requires_grad=tensor.requires_grad, dtype=tensor.dtype
            )
        return known

    def __repr__(self, **kwargs: Any) -> str:
        return f"<{type(self).__name__}>"


_ALLOWED = frozenset(
    {
        *("copy_", "size", "is_complex", "is_floating_point", "get_device", "to", "cpu", "cuda"),
        *("half", "float", "double", "bfloat16", "char", "short", "int", "long"),
        *("requires_grad_", "detach", "is_shared", "__hash__", "__class__", "__doc__"),
    }
)
"""What may be asked of a tensor before it has a shape: its dtype, its device, and to change."""


def _refusal(name: str) -> Any:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            f"Attempted to use an uninitialized parameter in Tensor.{name}. This error happens "
            "when you are using a `LazyModule` or explicitly manipulating "
            f"`graphwright.nn.parameter.{type(self).__name__}` objects. When using LazyModules "
            "Call `forward` with a dummy batch to initialize the parameters before calling "
            "graphwright functions"
        )

    return refuse


def _operations() -> list[str]:
    """The names of what a tensor computes: its ops and operators."""
    named = {name for name in vars(TensorMethods) if not name.startswith("_")}
    operators = {name for name in vars(Operators) if callable(getattr(Operators, name))}
    return sorted((named | operators | {"numel", "__len__"}) - _ALLOWED)


for _name in _operations():
    setattr(UninitializedTensorMixin, _name, _refusal(_name))


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A `Parameter` whose shape is not known yet."""

    __slots__ = ()
    _plain = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> UninitializedParameter:
        data = ops.empty((0,), device=device, dtype=dtype)
        return super().__new__(cls, data, requires_grad)  # type: ignore[return-value]

    def __init__(
        self, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        pass


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet."""

    __slots__ = ()
    __torch_function__ = disabled_torch_function_impl
    _plain = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None
    ) -> UninitializedBuffer:
        data = ops.empty((0,), device=device, dtype=dtype)
        return _core.detach(cls, data)


def is_lazy(tensor: Any) -> bool:
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(tensor, UninitializedTensorMixin)


class LazyModuleMixin(Module):
    """Mixin of modules which infer sizes at the first call, then become `cls_to_become`.

    Subclasses define `initialize_parameters(*args, **kwargs)`, called with the arguments of the
    first call.
    """

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(_infer, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give every uninitialised parameter and buffer its shape and values."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self)}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of this module has no shape yet."""
        own = [*self._parameters.values(), *self._buffers.values()]
        return any(is_lazy(tensor) for tensor in own)


def _infer(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
    module._initialize_hook.remove()
    del module._initialize_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


class _FromInput(LazyModuleMixin):
    """A lazy form of a layer whose first argument is a size found in its input.

    Takes the layer's other arguments. At the first call a layer of the right size is made, and
    what it has becomes this module's own.
    """

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Initializing zero-element tensors")
            super().__init__(0, *args, **kwargs)
        self.__dict__["_arguments"] = (args, kwargs)
        dtype = kwargs.get("dtype")
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = UninitializedParameter(dtype=dtype)
        for name, buffer in self._buffers.items():
            if buffer is not None and buffer.ndim:
                self._buffers[name] = UninitializedBuffer(dtype=dtype)

    def _size(self, input: Tensor) -> int:
        """What the layer's first argument is for this input."""
        raise NotImplementedError

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take shapes and initial values for `input`."""
        given, named = self.__dict__.pop("_arguments")
        assert self.cls_to_become is not None
        built = self.cls_to_become(self._size(input), *given, **named)
        pairs = ((self._parameters, built._parameters), (self._buffers, built._buffers))
        for own, theirs in pairs:
            for name, tensor in own.items():
                if is_lazy(tensor):
                    tensor.materialize(theirs[name].shape, theirs[name].device, tensor.dtype)
                    with no_grad():
                        tensor.copy_(theirs[name])
        own_kinds = (int, float, str, tuple, list)
        values = {k: v for k, v in vars(built).items() if isinstance(v, own_kinds)}
        self.__dict__.update({**values, "training": self.training, "_hooked": self._hooked})


class LazyLinear(_FromInput, Linear):
    """`Linear(in_features, ...)` whose `in_features` is the input's last size."""

    cls_to_become = Linear

    def _size(self, input: Tensor) -> int:
        return int(input.shape[-1])


class _LazyChannels(_FromInput):
    """Channels are dim 1 of a batch, dim 0 without one."""

    spatial = 1

    def _size(self, input: Tensor) -> int:
        if input.ndim not in (self.spatial + 1, self.spatial + 2):
            raise RuntimeError(
                f"Expected {self.spatial + 1}D (unbatched) or {self.spatial + 2}D (batched) input "
                f"to {type(self).__name__}, but got input of size: {list(input.shape)}"
            )
        return int(input.shape[-self.spatial - 1])


class _LazyFeatures(_FromInput):
    """Features are dim 1."""

    def _size(self, input: Tensor) -> int:
        return int(input.shape[1])


class _LazyInstances(_LazyFeatures):
    """A lazy instance norm: it has weights and running statistics by default."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            eps, momentum, affine, track_running_stats, device=device, dtype=dtype, **kwargs
        )


class LazyConv1d(_LazyChannels, Conv1d):
    """`Conv1d(in_channels, ...)` whose `in_channels` is found in the input."""

    cls_to_become = Conv1d
    spatial = 1


class LazyConvTranspose1d(_LazyChannels, ConvTranspose1d):
    """`ConvTranspose1d(in_channels, ...)` whose `in_channels` is found in the input."""

    cls_to_become = ConvTranspose1d
    spatial = 1


class LazyConv2d(_LazyChannels, Conv2d):
    """`Conv2d(in_channels, ...)` whose `in_channels` is found in the input."""

    cls_to_become = Conv2d
    spatial = 2


class LazyConvTranspose2d(_LazyChannels, ConvTranspose2d):
    """`ConvTranspose2d(in_channels, ...)` whose `in_channels` is found in the input."""

    cls_to_become = ConvTranspose2d
    spatial = 2


class LazyConv3d(_LazyChannels, Conv3d):
    """`Conv3d(in_channels, ...)` whose `in_channels` is found in the input."""

    cls_to_become = Conv3d
    spatial = 3


class LazyConvTranspose3d(_LazyChannels, ConvTranspose3d):
    """`ConvTranspose3d(in_channels, ...)` whose `in_channels` is found in the input."""

    cls_to_become = ConvTranspose3d
    spatial = 3


class LazyBatchNorm1d(_LazyFeatures, BatchNorm1d):
    """`BatchNorm1d(num_features, ...)` whose `num_features` is the input's dim 1."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyFeatures, BatchNorm2d):
    """`BatchNorm2d(num_features, ...)` whose `num_features` is the input's dim 1."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyFeatures, BatchNorm3d):
    """`BatchNorm3d(num_features, ...)` whose `num_features` is the input's dim 1."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyInstances, InstanceNorm1d):
    """`InstanceNorm1d(num_features, ...)` whose `num_features` is the input's dim 1."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstances, InstanceNorm2d):
    """`InstanceNorm2d(num_features, ...)` whose `num_features` is the input's dim 1."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstances, InstanceNorm3d):
    """`InstanceNorm3d(num_features, ...)` whose `num_features` is the input's dim 1."""

    cls_to_become = InstanceNorm3d
