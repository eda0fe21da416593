"""Calling a module with other parameters than its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from graphwright.nn.module import Module
from graphwright.runtime.errors import require_kind
from graphwright.runtime.tensor.tensor import Tensor

Tensors = Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Tensors,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call of a module with other tensors in place of its parameters and buffers.

    The module is as before afterwards, also where the call raises.

    Args:
        module: a Module.
        parameter_and_buffer_dicts: tensors by name, a dict or a sequence of dicts without
            names in common.
        args: a positional argument of the module, or a tuple of them; none if None.
        kwargs: its keyword arguments.
        tie_weights: a tensor that is registered under several names is replaced under all of
            them.
        strict: the names must be those of the module exactly; otherwise one that it does not
            have is an attribute of it during the call.

    Returns: what the module returns.

    Raises:
        RuntimeError: names differ and `strict`.
        ValueError: `parameter_and_buffer_dicts` is no dict, and no sequence of dicts without
            common names.

    Example:
        >>> layer = nn.Linear(1, 1, bias=False)
        >>> gw.func.functional_call(layer, {"weight": gw.tensor([[3.0]])}, gw.tensor([2.0]))
        tensor([6.])
    """
    require_kind("functional_call", "module", module, Module)
    given = _merged(parameter_and_buffer_dicts)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _swapped(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def _merged(dicts: Tensors) -> dict[str, Tensor]:
    if isinstance(dicts, Mapping):
        return dict(dicts)
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, "
            f"but got {type(dicts)}"
        )
    if not all(isinstance(part, Mapping) for part in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    merged: dict[str, Tensor] = {}
    for part in dicts:
        repeated = merged.keys() & part.keys()
        if repeated:
            raise ValueError(
                f"{sorted(repeated)} appeared in multiple dictionaries; behavior of functional "
                "call is ambiguous"
            )
        merged.update(part)
    return merged


def _slots(module: Module) -> dict[str, tuple[dict[str, Any], str]]:
    """Every tensor's dotted name (shared ones under each) with its dict and key."""
    found = {}
    for prefix, owner in module.named_modules(remove_duplicate=False):
        for members in (owner._parameters, owner._buffers):
            for key, tensor in members.items():
                if tensor is not None:
                    found[f"{prefix}.{key}" if prefix else key] = (members, key)
    return found


def _tied(
    slots: dict[str, tuple[dict[str, Any], str]], given: dict[str, Tensor]
) -> dict[str, Tensor]:
    """`given` and the other names of the same tensors."""
    by_tensor: dict[int, list[str]] = {}
    for name, (members, key) in slots.items():
        by_tensor.setdefault(id(members[key]), []).append(name)
    complete = dict(given)
    for names in by_tensor.values():
        values = {id(given[n]): given[n] for n in names if n in given}
        if len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {names}, which are tied. Consider "
                "using tie_weights=False"
            )
        for value in values.values():
            complete.update(dict.fromkeys(names, value))
    return complete


def _refused(module: Module, unexpected: list[str], missing: list[str]) -> str:
    """The message of strict calls whose names are not the module's."""
    lines = [f"Error(s) in reparametrizing for {type(module).__name__}:"]
    for title, names in (("Unexpected", unexpected), ("Missing", missing)):
        if names:
            lines.append(f"\t{title} key(s): {', '.join(map(repr, names))}.")
    return "\n".join(lines)


def _attribute(module: Module, name: str) -> tuple[dict[str, Any], str]:
    """Where a tensor goes that the module has not registered: its owner's attributes."""
    require_kind("functional_call", "name of a tensor", name, str)
    path, _, key = name.rpartition(".")
    if not key:
        raise KeyError('tensor name can\'t be empty string ""')
    return vars(module.get_submodule(path)), key


_ABSENT: Any = object()


@contextmanager
def _swapped(
    module: Module, given: dict[str, Tensor], tie_weights: bool, strict: bool
) -> Iterator[None]:
    slots = _slots(module)
    complete = _tied(slots, given) if tie_weights else dict(given)
    unexpected = sorted(complete.keys() - slots.keys())
    missing = sorted(slots.keys() - complete.keys())
    if strict and (unexpected or missing):
        raise RuntimeError(_refused(module, unexpected, missing))
    slots.update({name: _attribute(module, name) for name in unexpected})
    previous = [(slots[name], slots[name][0].get(slots[name][1], _ABSENT)) for name in complete]
    try:
        for name, tensor in complete.items():
            if not isinstance(tensor, Tensor):
                raise TypeError(f"{tensor} is not an instance of graphwright.Tensor")
            members, key = slots[name]
            members[key] = tensor
        yield
    finally:
        for (members, key), tensor in previous:
            if tensor is _ABSENT:
                members.pop(key, None)
            else:
                members[key] = tensor
