"""`Module`, the base of all layers and models: parameters, buffers, submodules and hooks.

Names, messages and behaviour are PyTorch's. Everything here is plain Python over three dicts, so
that capture can interpret a module's call like any other code.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar, NoReturn, TypeVar, get_type_hints

from graphwright.nn.hooks import ModuleHooks, every_module, registered
from graphwright.nn.parameter import Buffer, Parameter
from graphwright.nn.state import ModuleState
from graphwright.nn.traversal import ModuleTraversal
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import bfloat16, dtype, float16, float32, float64
from graphwright.runtime.tensor.tensor import Tensor

T = TypeVar("T", bound="Module")

_STATE_DICTS = ("_parameters", "_buffers", "_modules")


class Module(ModuleTraversal, ModuleHooks, ModuleState):
    """Base class for layers and models.

    Assigning a `Parameter`, or another `Module`, to an attribute registers it; buffers are
    registered by `register_buffer`. Subclasses define `forward` and call `super().__init__()`
    before they assign anything.
    """

    training: bool
    call_super_init: bool = False
    _compiled_call_impl: Callable[..., Any] | None = None
    _compiler: ClassVar[Callable[..., Callable[..., Any]] | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            self._refuse_arguments(args, kwargs)
        state = self.__dict__
        state["training"] = True
        state["_parameters"] = {}
        state["_buffers"] = {}
        state["_non_persistent_buffers_set"] = set()
        self._init_hooks(state)
        state["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def _refuse_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NoReturn:
        name = f"{type(self).__name__}.__init__()"
        if kwargs:
            raise TypeError(f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'")
        raise TypeError(
            f"{name} takes 1 positional argument but {len(args) + 1} were given"
        )

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; to be defined by every subclass."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        if self._hooked or every_module._hooked:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """The call without regard to `compile()`: what `compile()` compiles."""
        if self._hooked or every_module._hooked:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile this module's call in place; arguments are those of `graphwright.compile`.

        `state_dict` keys, attributes and the module's identity stay as they are.
        """
        if Module._compiler is None:
            raise RuntimeError("Module.compile() needs `import graphwright` to have completed")
        self.__dict__["_compiled_call_impl"] = Module._compiler(self._call_impl, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        """The state for `copy` and `pickle`: without compiled code, which belongs to `self`."""
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    # Attributes

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        for kind in _STATE_DICTS:
            if kind in state:
                members = state[kind]
                if name in members:
                    return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if isinstance(value, Parameter):
            self._require_init("parameters")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._require_init("module")
            self._forget(name, keep="_modules")
            state["_modules"][name] = registered("module", self, name, value)
        elif isinstance(value, Buffer):
            self._require_init("buffers")
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)
        elif "_modules" in state and self._assign_member(name, value):
            pass
        else:
            object.__setattr__(self, name, value)

    def _assign_member(self, name: str, value: Any) -> bool:
        """Assign to a registered name what is neither Parameter nor Module; False if unknown."""
        state = self.__dict__
        for kind, wanted in (("_parameters", "Parameter"), ("_modules", "Module")):
            if name in state[kind]:
                if value is not None:
                    raise TypeError(
                        f"cannot assign '{type(value).__name__}' as "
                        f"{'parameter' if kind == '_parameters' else 'child module'} '{name}' "
                        f"(graphwright.nn.{wanted} or None expected)"
                    )
                state[kind][name] = None
                return True
        if name in state["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as buffer '{name}' "
                    "(graphwright.nn.Buffer, graphwright.Tensor or None expected)"
                )
            state["_buffers"][name] = value
            return True
        return False

    def __delattr__(self, name: str) -> None:
        state = self.__dict__
        for kind in _STATE_DICTS:
            if name in state[kind]:
                del state[kind][name]
                state["_non_persistent_buffers_set"].discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        members = [name for kind in _STATE_DICTS for name in self.__dict__.get(kind, ())]
        return sorted(name for name in {*super().__dir__(), *members} if not name[:1].isdigit())

    def _require_init(self, what: str) -> None:
        if "_modules" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _forget(self, name: str, keep: str) -> None:
        state = self.__dict__
        state.pop(name, None)
        for kind in _STATE_DICTS:
            if kind != keep:
                state[kind].pop(name, None)
        state["_non_persistent_buffers_set"].discard(name)

    # Registration

    def _check_name(self, kind: str, name: str, members: str) -> None:
        self._require_init(kind)
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            given = f", got: {name}" if kind == "module" else ""
            raise KeyError(f'{kind} name can\'t contain "."{given}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in self.__dict__[members] and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter (or None, for one that this configuration lacks) under `name`."""
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(graphwright.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                "created explicitly."
            )
        self._parameters[name] = registered("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but not trained; in `state_dict` unless not `persistent`."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' "
                "(graphwright Tensor or None required)"
            )
        self._buffers[name] = registered("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a child module under `name`."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = registered("module", self, name, module)

    add_module = register_module

    # Modes, gradients and whole trees

    def train(self: T, mode: bool = True) -> T:
        """Set training mode (dropout on, batch statistics used) here and in all submodules."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: T) -> T:
        """Set evaluation mode here and in all submodules."""
        return self.train(False)

    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Say for all parameters whether autograd records operations on them."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters (to None, or in place to zeros)."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                if parameter.grad.requires_grad:
                    parameter.grad = parameter.grad.detach()
                parameter.grad.zero_()

    def apply(self: T, fn: Callable[[Module], Any]) -> T:
        """Call `fn` on every submodule, children first, and on this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # Conversion

    def _apply(self: T, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> T:
        """Replace every parameter and buffer by `fn` of it; unchanged ones stay the same."""
        for child in self.children() if recurse else ():
            child._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = _convert_parameter(parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self: T, *args: Any, **kwargs: Any) -> T:
        """Convert parameters and buffers in place to a device, a dtype, or those of a tensor.

        `to(device)`, `to(dtype)`, `to(device, dtype)`, `to(tensor)`; a dtype, which must be a
        floating point or complex one, applies to such members only. Parameters stay the same
        objects, so that optimisers keep them, except where they change to or from "meta".
        `memory_format=channels_last` orders the dims of members with four of them.
        """
        order = kwargs.pop("memory_format", None)
        where, kind = _parse_to(args, kwargs)

        def convert(tensor: Tensor) -> Tensor:
            if order is not None and tensor.ndim == order.ndim:
                tensor = tensor.to(memory_format=order)
            number = tensor.dtype.is_floating_point or tensor.dtype.is_complex
            target = kind if number else None
            if where is None:
                return tensor if target is None else tensor.to(target)
            return tensor.to(where) if target is None else tensor.to(where, target)

        return self._apply(convert)

    def to_empty(self: T, *, device: Any, recurse: bool = True) -> T:
        """Give parameters and buffers new, uninitialised memory on a device."""
        return self._apply(lambda tensor: ops.empty_like(tensor, device=device), recurse)

    def float(self: T) -> T:
        """Convert floating point members to float32."""
        return self.to(float32)

    def double(self: T) -> T:
        """Convert floating point members to float64."""
        return self.to(float64)

    def half(self: T) -> T:
        """Convert floating point members to float16."""
        return self.to(float16)

    def bfloat16(self: T) -> T:
        """Convert floating point members to bfloat16."""
        return self.to(bfloat16)

    def type(self: T, dst_type: dtype) -> T:
        """Convert all members to `dst_type`."""
        return self._apply(lambda tensor: tensor.to(dst_type))

    def share_memory(self: T) -> T:
        """Move all parameters and buffers into shared memory, as `Tensor.share_memory_` does.

        Returns the module. RuntimeError where a parameter has no shape yet.
        """
        tensors = [*self.parameters(), *self.buffers()]
        for tensor in tensors:
            if getattr(tensor, "uninitialised", False):
                tensor.share_memory_()
        import_module("graphwright.multiprocessing.reductions").share(tensors)
        return self

    def cpu(self: T) -> T:
        """Move all members to the CPU."""
        return self.to("cpu")

    def cuda(self: T, device: int | Device | None = None) -> T:
        """Move all members to a GPU: a device or its index; the current one if None."""
        return self.to("cuda" if device is None else device)

    # Printing

    def extra_repr(self) -> str:
        """What a subclass shows between its parentheses."""
        return ""

    def _get_name(self) -> str:
        return self.__class__.__name__

    def _repr_html_(self) -> str:
        html: str = import_module("graphwright.report.notebook").module_html(self)
        return html

    def __repr__(self) -> str:
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [
            f"({name}): {_indent(repr(module))}" for name, module in self._modules.items()
        ]
        lines = extra + children
        if len(extra) == 1 and not children:
            return f"{self._get_name()}({extra[0]})"
        if not lines:
            return f"{self._get_name()}()"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


def _indent(text: str, spaces: int = 2) -> str:
    """`text` with every line but its first moved right."""
    return text.replace("\n", "\n" + " " * spaces)


def _convert_parameter(parameter: Parameter, fn: Callable[[Tensor], Tensor]) -> Parameter:
    converted = fn(parameter.detach())
    if "meta" not in (converted.device.type, parameter.device.type) or (
        converted.device == parameter.device
    ):
        moved = converted.device != parameter.device
        if moved or converted.dtype is not parameter.dtype or (
            converted.stride() != parameter.stride()
        ):
            parameter.data = converted
            if parameter.grad is not None:
                converted, parameter.grad = fn(parameter.grad.detach()), None
                parameter.grad = converted
        return parameter
    result = Parameter(converted, parameter.requires_grad)
    if parameter.grad is not None:
        result.grad = fn(parameter.grad.detach())
    return result


def _parse_to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dtype | None]:
    """The device and the dtype that arguments of `to` name."""
    where, kind = kwargs.pop("device", None), kwargs.pop("dtype", None)
    kwargs.pop("non_blocking", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    for value in args:
        if isinstance(value, Tensor):
            where, kind = value.device, value.dtype
        elif isinstance(value, dtype):
            kind = value
        elif isinstance(value, (str, Device)):
            where = value
        elif type(value) is int:
            where = Device("cuda", value)
        elif value is not None and not isinstance(value, bool):
            _refuse_to(value)
    if kind is not None and not (kind.is_floating_point or kind.is_complex):
        raise TypeError(
            "nn.Module.to only accepts floating point or complex dtypes, but got desired "
            f"dtype={kind}"
        )
    return where, kind


def _refuse_to(value: object) -> NoReturn:
    raise TypeError(
        f"to() received an invalid argument of type {type(value).__name__}: "
        "expected a device, a dtype or a tensor"
    )


Module.__annotations__ = get_type_hints(Module)  # subclasses' are evaluated with other globals
