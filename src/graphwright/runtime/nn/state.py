"""`state_dict` and `load_state_dict`: a module's tensors by dotted name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from graphwright.runtime.autograd.modes import no_grad
from graphwright.runtime.nn.parameter import Parameter
from graphwright.runtime.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.runtime.nn.module import Module


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` did not find, and what it found but could not place."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


def _slots(module: Module, prefix: str = "") -> Iterator[tuple[str, dict[str, Any], str]]:
    """(dotted name, owning dict, key) of all saved tensors, shared ones under every name."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield prefix + name, module._parameters, name
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            yield prefix + name, module._buffers, name
    for name, child in module._modules.items():
        if child is not None:
            yield from _slots(child, f"{prefix}{name}.")


def state_of(module: Module, prefix: str, keep_vars: bool) -> dict[str, Tensor]:
    """Saved tensors of `module` by name; they share memory with the module's own."""
    return {
        name: members[key] if keep_vars else members[key].detach()
        for name, members, key in _slots(module, prefix)
    }


def load_into(
    module: Module, state: Mapping[str, Any], strict: bool, assign: bool
) -> IncompatibleKeys:
    """Give `module` the values in `state`; see `Module.load_state_dict`."""
    if not isinstance(state, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state)}.")
    missing: list[str] = []
    errors: list[str] = []
    known = set()
    for name, members, key in _slots(module):
        known.add(name)
        if name not in state:
            missing.append(name)
            continue
        problem = _mismatch(name, members[key], state[name])
        if problem:
            errors.append(problem)
        else:
            _load_one(members, key, state[name], assign)
    unexpected = [name for name in state if name not in known]
    if strict:
        errors = _key_errors(missing, unexpected) + errors
    if errors:
        details = "\n\t".join(errors)
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{details}"
        )
    return IncompatibleKeys(missing, unexpected)


def _mismatch(name: str, current: Tensor, value: Any) -> str | None:
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{name}", expected a Tensor from checkpoint but '
            f"received {type(value).__name__}"
        )
    if tuple(value.shape) != tuple(current.shape):
        return (
            f"size mismatch for {name}: copying a param with shape {tuple(value.shape)} from "
            f"checkpoint, the shape in current model is {tuple(current.shape)}."
        )
    return None


def _load_one(members: dict[str, Any], key: str, value: Tensor, assign: bool) -> None:
    current = members[key]
    if not assign:
        with no_grad():
            current.copy_(value)
    elif isinstance(current, Parameter) and not isinstance(value, Parameter):
        members[key] = Parameter(value, current.requires_grad)
    else:
        members[key] = value


def _key_errors(missing: list[str], unexpected: list[str]) -> list[str]:
    return [
        f"{title} key(s) in state_dict: " + ", ".join(f'"{key}"' for key in keys) + ". "
        for title, keys in (("Unexpected", unexpected), ("Missing", missing))
        if keys
    ][::-1]
