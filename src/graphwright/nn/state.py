"""`state_dict` and `load_state_dict`: a module's tensors by dotted name."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from graphwright.autograd.grad_mode import no_grad
from graphwright.nn.parameter import Parameter
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.nn.module import Module

EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """What `load_state_dict` did not find, and what it found but could not place."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class StateDict(OrderedDict[str, Any]):
    """A module's tensors by name; `_metadata` has the versions of its modules."""

    _metadata: OrderedDict[str, Any]

    def copy(self) -> StateDict:
        """A shallow copy with the same metadata."""
        result = StateDict(self)
        result._metadata = self._metadata.copy()
        return result

    def __repr__(self) -> str:
        return repr(OrderedDict(self))


class ModuleState:
    """The part of `Module` that saves and loads its tensors."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_pre_hooks: dict[int, Any]
    _state_dict_hooks: dict[int, Any]
    _load_state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_post_hooks: dict[int, Any]

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Parameters and persistent buffers by dotted name, detached unless `keep_vars`.

        They share memory with the module's own. `destination`, a dict, is filled where given.
        The three may be positional, in this order, with a FutureWarning.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead.",
                FutureWarning,
                stacklevel=2,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if prefix == "" and len(args) > 1 else prefix
            keep_vars = args[2] if keep_vars is False and len(args) > 2 else keep_vars
        if destination is None:
            destination = StateDict()
            destination._metadata = OrderedDict()
        local = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, local)
            destination = destination if changed is None else changed
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Enter this module's own tensors; subclasses may add or rename."""
        for name, members in self._own_members():
            tensor = members[name]
            kept = keep_vars or getattr(tensor, "uninitialised", False)
            destination[prefix + name] = tensor if kept else tensor.detach()
        if type(self).get_extra_state is not ModuleState.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _own_members(self) -> list[tuple[str, dict[str, Any]]]:
        """(name, the dict that holds it) of what this module saves."""
        own = [(n, self._parameters) for n, p in self._parameters.items() if p is not None]
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                own.append((name, self._buffers))
        return own

    def get_extra_state(self) -> Any:
        """Further state to save; to be defined together with `set_extra_state`."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take over what `get_extra_state` had given."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called."
        )

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy values into parameters and buffers (with `assign`, take the tensors themselves).

        Returns the missing and the unexpected keys. Raises RuntimeError on a size mismatch and,
        if `strict`, on any missing or unexpected key.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        loading = _Loading(state_dict, strict, assign)
        loading.load(self, "")
        errors = loading.errors
        if strict:
            errors = _key_errors(loading.missing, loading.unexpected) + errors
        if errors:
            details = "\n\t".join(errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{details}"
            )
        return _IncompatibleKeys(loading.missing, loading.unexpected)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own tensors; subclasses may convert what older versions saved."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                error_msgs,
            )  # fmt: skip
        own = self._own_members()
        for name, members in own:
            key = prefix + name
            if key not in state_dict:
                missing_keys.append(key)
                continue
            value = _as_scalar(state_dict[key], members[name])
            assign = local_metadata.get("assign_to_params_buffers", False)
            problem = _mismatch(key, members[name], value)
            if not problem and not assign:
                problem = _check_devices(key, members[name], value)
            if problem:
                error_msgs.append(problem)
            else:
                _load_one(members, name, value, assign)
        if type(self).set_extra_state is not ModuleState.set_extra_state:
            if prefix + EXTRA_STATE in state_dict:
                self.set_extra_state(state_dict[prefix + EXTRA_STATE])
            else:
                missing_keys.append(prefix + EXTRA_STATE)


class _Loading:
    """One `load_state_dict`: what was asked and what was found."""

    def __init__(self, state: Mapping[str, Any], strict: bool, assign: bool) -> None:
        self.state = OrderedDict(state)
        self.metadata = getattr(state, "_metadata", None) or {}
        self.strict, self.assign = strict, assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module: Any, prefix: str) -> None:
        """Load `module` and all below it; unexpected keys are found last."""
        self._load_tree(module, prefix)
        self.unexpected += [key for key in self.state if not _known(module, key)]

    def _load_tree(self, module: Any, prefix: str) -> None:
        local = dict(self.metadata.get(prefix[:-1], {}))
        if self.assign:
            local["assign_to_params_buffers"] = True
        module._load_from_state_dict(
            self.state, prefix, local, True, self.missing, self.unexpected, self.errors
        )
        for name, child in module._modules.items():
            if child is not None:
                self._load_tree(child, f"{prefix}{name}.")
        keys = _IncompatibleKeys(self.missing, self.unexpected)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, keys) is not None:
                raise AssertionError(
                    "Hooks registered with `register_load_state_dict_post_hook` are not expected "
                    "to return new values: they change incompatible_keys in place."
                )


def _known(module: Module, key: str) -> bool:
    """Whether a module of the tree has a tensor (or extra state) of that dotted name."""
    path, _, name = key.rpartition(".")
    here: Any = module
    for part in path.split(".") if path else ():
        here = here._modules.get(part)
        if here is None:
            return False
    if name == EXTRA_STATE:
        return bool(type(here).set_extra_state is not ModuleState.set_extra_state)
    return any(name == own for own, _ in here._own_members())


def _as_scalar(value: Any, current: Tensor) -> Any:
    """`value`; the scalar in it where the module has one and a vector of one was saved."""
    if not isinstance(value, Tensor) or getattr(current, "uninitialised", False):
        return value
    return value[0] if current.ndim == 0 and tuple(value.shape) == (1,) else value


def _mismatch(name: str, current: Tensor, value: Any) -> str | None:
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{name}", expected graphwright.Tensor or '
            f"Tensor-like object from checkpoint but received {type(value)}"
        )
    if getattr(current, "uninitialised", False):
        return None
    if tuple(value.shape) != tuple(current.shape):
        return (
            f"size mismatch for {name}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {current.shape}."
        )
    return None


def _check_devices(name: str, current: Tensor, value: Tensor) -> str | None:
    """What forbids a copy; a warning where it has no effect."""
    if value.is_meta and not current.is_meta:
        return (
            f'While copying the parameter named "{name}", whose dimensions in the model are '
            f"{current.shape} and whose dimensions in the checkpoint are {value.shape}, an "
            "exception occurred : ('Cannot copy out of meta tensor; no data!',)."
        )
    if current.is_meta and not value.is_meta:
        warnings.warn(
            f"for {name}: copying from a non-meta parameter in the checkpoint to a meta parameter "
            "in the current model, which is a no-op. (Did you mean to pass `assign=True` to "
            "assign items in the state dictionary to their corresponding key in the module "
            "instead of copying them in place?)",
            stacklevel=6,
        )
    return None


def _load_one(members: dict[str, Any], key: str, value: Tensor, assign: bool) -> None:
    current = members[key]
    if getattr(current, "uninitialised", False):
        current.materialize(tuple(value.shape))
    if not assign:
        with no_grad():
            current.copy_(value)
    elif isinstance(current, Parameter):
        given = value if isinstance(value, Parameter) else Parameter(value, False)
        members[key] = given.requires_grad_(current.requires_grad)
    else:
        members[key] = value


def _key_errors(missing: list[str], unexpected: list[str]) -> list[str]:
    return [
        f"{title} key(s) in state_dict: " + ", ".join(f'"{key}"' for key in keys) + ". "
        for title, keys in (("Unexpected", unexpected), ("Missing", missing))
        if keys
    ][::-1]
