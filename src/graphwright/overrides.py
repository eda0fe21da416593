"""Functions for classes that override functions, by PyTorch's names: `torch.overrides`.

The protocol itself, `__torch_function__`, is described in `graphwright.runtime.torch_function`.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from graphwright.autograd.grad_mode import ThreadMode
from graphwright.runtime import _core
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.torch_function import FUNCTIONS, MODES, decide, name_of, overriding

_NAMESPACES = ("", ".nn.functional", ".nn.init", ".linalg", ".fft", ".special", ".functional")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether the class of one of the arguments, or a mode, has a say in what functions do."""
    if MODES.stack:
        return True
    return _core.overrides_enabled() and bool(overriding(relevant_args))


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], /, *args: Any, **kwargs: Any
) -> Any:
    """What the arguments' classes make of `public_api(*args, **kwargs)`.

    A function of a library calls it, with the arguments whose classes matter, where
    `has_torch_function(relevant_args)` is true; where it is not, `public_api` is called. Raises
    TypeError if no class has an answer.
    """
    asked = overriding(relevant_args)
    if not asked and not MODES.stack:
        return public_api(*args, **kwargs)
    return decide(public_api, asked, args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """A decorator that makes a function overridable.

    `dispatcher(*args, **kwargs)` gives those of the function's arguments whose classes matter.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def overridable(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(overridable, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return overridable

    return decorate


def is_tensor_like(value: Any) -> bool:
    """Whether a value is a tensor, or its class has `__torch_function__`."""
    return type(value) is Tensor or hasattr(value, "__torch_function__")


def _members(space: Any) -> list[Callable[..., Any]]:
    kinds = (
        types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType,
        _core.OpFunction,
    )  # fmt: skip
    names = [name for name in dir(space) if not name.startswith("_")]
    return [member for name in names if isinstance(member := getattr(space, name), kinds)]


@functools.cache
def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The functions that ask their arguments' classes, by the module or class they are in."""
    root = __name__.partition(".")[0]
    spaces = [import_module(root + space) for space in _NAMESPACES]
    ignored = get_ignored_functions()
    return {
        space: [function for function in _members(space) if function not in ignored]
        for space in (*spaces, Tensor)
    }


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Functions that ask no class: those that take no tensors."""
    root = import_module(__name__.partition(".")[0])
    names = ("arange", "as_tensor", "asarray", "can_cast", "empty", "eye", "from_numpy", "full",
             "get_default_dtype", "is_tensor", "linspace", "logspace", "manual_seed", "ones",
             "promote_types", "rand", "randint", "randn", "randperm", "seed", "tensor", "zeros")
    return {getattr(root, name) for name in names} | {Tensor.as_subclass}


@functools.cache
def _methods() -> frozenset[Any]:
    return frozenset(
        member
        for name in dir(Tensor)
        if callable(member := getattr(Tensor, name)) and not isinstance(member, type)
    )


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether a function is a method of `Tensor`, or reads one of its properties."""
    return func in _methods() or getattr(func, "__name__", "") == "__get__"


def resolve_name(func: Any) -> str | None:
    """The name that users know a function by, such as `graphwright.add`; None if unknown."""
    for space, functions in get_overridable_functions().items():
        if func in functions:
            return f"{_name_of_space(space)}.{func.__name__}"
    return name_of(func) if is_tensor_method_or_property(func) else None


def _name_of_space(space: Any) -> str:
    return "graphwright.Tensor" if space is Tensor else space.__name__.replace(".runtime", "")


class TorchFunctionMode:
    """While it is entered, this thread's functions go through `__torch_function__` of the mode.

    A subclass defines `__torch_function__(self, func, types, args=(), kwargs=None)`, which is
    called with every operation, of plain tensors and of none as well; in it, functions are not
    asked again by the same mode. Modes nest, the innermost is asked first.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        MODES.stack.append(self)
        _core.set_modes(_core.modes() | FUNCTIONS)
        return self

    def __exit__(self, *exception: Any) -> None:
        """RuntimeError where the thread is in no mode."""
        if not MODES.stack:
            raise RuntimeError("trying to pop from empty mode stack")
        MODES.stack.pop()
        if not MODES.stack:
            _core.set_modes(_core.modes() & ~FUNCTIONS)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that leaves functions as they are."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass(ThreadMode):
    """While it is entered, subclasses of tensors are treated as plain ones."""

    def __init__(self) -> None:
        super().__init__(False)

    def _present(self) -> bool:
        return _core.overrides_enabled()

    def _change(self, mode: bool) -> None:
        _core.set_overrides_enabled(mode)
