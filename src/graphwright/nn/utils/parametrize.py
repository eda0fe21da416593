"""Parameters computed from others at every access, after `torch.nn.utils.parametrize`.

`register_parametrization(layer, "weight", P)` makes `layer.weight` read as `P(original)`, where
`original` is what is trained: `layer.parametrizations.weight.original`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.nn.containers import ModuleDict, ModuleList
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.runtime.errors import require_kind
from graphwright.runtime.tensor.tensor import Tensor


class _Cache:
    """Values kept while a `cached()` block is open; `depth` counts the open ones."""

    depth = 0
    values: dict[tuple[int, str], Any] = {}  # noqa: RUF012


@contextmanager
def cached() -> Iterator[None]:
    """Within the block a parametrised tensor is computed once and then reused."""
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if _Cache.depth == 0:
            _Cache.values = {}


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, applied in order to `original` (or `original0`, ...)."""

    original: Tensor

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        value = _right_inverse(self, original, registers=True)
        self.is_tensor = isinstance(value, Tensor)
        self.ntensors = 1 if self.is_tensor else len(value)
        if self.is_tensor:
            if original.dtype is not value.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: "
                    f"{value.dtype}"
                )
            _register(self, "original", _with_value(original, value))
        else:
            for i, part in enumerate(value):
                _register(self, f"original{i}", _like(original, part))
        if not unsafe:
            _check_shape(original, self())

    def originals(self) -> list[Tensor]:
        """The trained tensors."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the parametrised tensor becomes `value`, where defined.

        Raises RuntimeError where a parametrisation has no `right_inverse`.
        """
        for module in self:
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement right_inverse."
                )
        with no_grad():
            new = _right_inverse(self, value, registers=False)
            parts = (new,) if isinstance(new, Tensor) else tuple(new)
            if len(parts) != self.ntensors:
                raise ValueError(
                    f"right_inverse gave {len(parts)} tensors, but there are {self.ntensors}"
                )
            for own, part in zip(self.originals(), parts, strict=True):
                if part.dtype is not own.dtype:
                    raise ValueError(
                        "The tensors that right_inverse gives must keep their dtypes: "
                        f"{own.dtype} became {part.dtype}"
                    )
                own.data = part.detach().clone()

    def forward(self) -> Tensor:
        members = list(self)
        value: Tensor = members[0](*self.originals())
        for module in members[1:]:
            value = module(value)
        return value


def _right_inverse(modules: ModuleList, value: Tensor, registers: bool) -> Any:
    """The originals from which the parametrisations make `value`.

    registers: those whose `right_inverse` raises NotImplementedError take the value as it is.
    """
    result: Any = value
    with no_grad():
        for module in reversed(list(modules)):
            if hasattr(module, "right_inverse"):
                try:
                    result = module.right_inverse(result)
                except NotImplementedError:
                    if not registers:
                        raise
    parts = result if isinstance(result, Sequence) else [result]
    if not all(isinstance(part, Tensor) for part in parts):
        raise ValueError(
            "'right_inverse' must return a Tensor or a Sequence of tensors, "
            f"got {type(result).__name__}"
        )
    return result


def _like(original: Tensor, value: Tensor) -> Tensor:
    """A leaf with `value`, of the kind (Parameter or buffer) that `original` is."""
    if isinstance(original, Parameter):
        return Parameter(value.detach(), original.requires_grad)
    return value.detach()


def _with_value(original: Tensor, value: Tensor) -> Tensor:
    """`original` itself with another value: optimisers that know it go on training it."""
    if value is not original:
        original.data = value.detach()
    return original


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_shape(original: Tensor, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
    if value.dtype is not original.dtype:
        raise ValueError(
            "Registering a parametrization may not change the dtype of the tensor, unless "
            f"`unsafe` flag is enabled.\nunparametrized dtype: {original.dtype}\n"
            f"parametrized dtype: {value.dtype}"
        )
    if tuple(value.shape) != tuple(original.shape):
        raise ValueError(
            "Registering a parametrization may not change the shape of the tensor, unless "
            f"`unsafe` flag is enabled.\nunparametrized shape: {original.shape}\n"
            f"parametrized shape: {value.shape}"
        )


def _property(name: str) -> property:
    def read(self: Any) -> Any:
        if not _Cache.depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _Cache.values:
            _Cache.values[key] = self.parametrizations[name]()
        return _Cache.values[key]

    def write(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def _copy_parametrized(self: Any, memo: dict[int, Any]) -> Any:
    known = memo.get(id(self))
    if known is None:
        known = memo[id(self)] = self.__new__(self.__class__)
        known.__dict__ = copy.deepcopy(Module.__getstate__(self), memo)
    return known


def _refuse_pickling(module: Module) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(): their "
        "classes are made when a parametrization is registered"
    )


def _parametrized_class(module: Module) -> None:
    """Give `module` a class of its own, in which properties can shadow its parameters."""
    base = module.__class__
    members = {"__getstate__": _refuse_pickling, "__module__": base.__module__}
    if not hasattr(base, "__deepcopy__"):
        members["__deepcopy__"] = _copy_parametrized
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), members)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Make `module.<tensor_name>` read as `parametrization` of a trained original.

    A second registration for the same name is applied to the result of the first. Raises
    ValueError where there is no such tensor, or where shape or dtype would change (unless
    `unsafe`).
    """
    name = "register_parametrization"
    require_kind(name, "module", module, Module)
    require_kind(name, "tensor_name", tensor_name, str)
    require_kind(name, "parametrization", parametrization, Module)
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        original = getattr(module, tensor_name)
        listed = ParametrizationList([parametrization], original, unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _parametrized_class(module)
            module.parametrizations = ModuleDict()
        setattr(module.__class__, tensor_name, _property(tensor_name))
        module.parametrizations[tensor_name] = listed
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    return module


def _append(module: Module, name: str, parametrization: Module, unsafe: bool) -> None:
    listed = module.parametrizations[name]
    if not unsafe:
        value = getattr(module, name)
        _check_shape(value, parametrization(value))
        if hasattr(parametrization, "right_inverse"):
            with no_grad():
                _check_shape(value, parametrization.right_inverse(value))
    listed.append(parametrization)
    listed.unsafe |= unsafe


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether anything (or the tensor of that name) in `module` is parametrised."""
    require_kind("is_parametrized", "module", module, Module)
    listed = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(listed, ModuleDict):
        return False
    return len(listed) > 0 if tensor_name is None else tensor_name in listed


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Turn the tensor back into a plain one: with its present value, or with the original's.

    Raises ValueError where it is not parametrised, or where `leave_parametrized` is false and
    there is more than one original.
    """
    require_kind("remove_parametrizations", "tensor_name", tensor_name, str)
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    listed = module.parametrizations[tensor_name]
    if not leave_parametrized and not listed.is_tensor:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    original = listed.originals()[0]
    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name).detach().clone()
        if isinstance(original, Parameter):
            if listed.is_tensor:
                original.data = value
            else:
                original = Parameter(value, original.requires_grad)
        else:
            original = value
    delattr(module.__class__, tensor_name)
    del module.parametrizations[tensor_name]
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = module.__class__.__bases__[0]
    _register(module, tensor_name, original)
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that `module` had before anything was parametrised."""
    cls: type = module.__class__
    return cls.__bases__[0] if is_parametrized(module) else cls


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give `to_module` the parametrisations and the originals of `from_module`: they share them.

    Tensors that `to_module` lacks are made; ValueError where those it has do not fit.
    """
    require_kind("transfer_parametrizations_and_params", "to_module", to_module, Module)
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        source = from_module.parametrizations[name]
        for module in source:
            register_parametrization(to_module, name, module)
        target = to_module.parametrizations[name]
        if source.is_tensor:
            target.original = source.original
        for i in () if source.is_tensor else range(source.ntensors):
            setattr(target, f"original{i}", getattr(source, f"original{i}"))
    return to_module
