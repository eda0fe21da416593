"""`Optimizer`: parameter groups, per-parameter state, and their saving; after `torch.optim`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

from graphwright.runtime.autograd.modes import enable_grad, no_grad
from graphwright.runtime.tensor import Tensor

Group = dict[str, Any]


class Optimizer:
    """Base class of optimisers.

    `params`: tensors, (name, tensor) pairs or dicts with "params" and options of their own.
    `defaults`: options of groups that give none. Subclasses define `_update(group)`.
    """

    def __init__(self, params: Iterable[Any], defaults: Mapping[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                "dicts, but got a Tensor"
            )
        self.defaults = dict(defaults)
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with their own options (missing ones come from the defaults).

        Raises TypeError for what is not a tensor, ValueError for a non-leaf, a repeated
        parameter or a missing required option.
        """
        group = dict(param_group)
        params = group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        if params and isinstance(params[0], tuple):
            group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        for param in params:
            _check_param(param)
        if len(set(map(id, params))) != len(params):
            raise ValueError("some parameters appear more than once in one parameter group")
        known = {id(param) for other in self.param_groups for param in other["params"]}
        if any(id(param) in known for param in params):
            raise ValueError("some parameters appear in more than one parameter group")
        group["params"] = params
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters (to None, or to zeros)."""
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                if set_to_none:
                    param.grad = None
                else:
                    param.grad = param.grad.detach() * 0

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient; returns what `closure` gives, if any.

        `closure` computes the loss anew, gradients on.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                self._update(group)
        return loss

    def _update(self, group: Group) -> None:
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """{"state": by parameter number, "param_groups": with parameter numbers}."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers[id(param)] = len(numbers)
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        state = {numbers[id(param)]: dict(values) for param, values in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict()` gave; tensors are copied to the parameters' dtypes.

        Raises ValueError where the groups differ in number or length.
        """
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        lengths = zip(self.param_groups, saved, strict=True)
        if any(len(group["params"]) != len(other["params"]) for group, other in lengths):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        params: dict[int, Tensor] = {}
        for group, other in zip(self.param_groups, saved, strict=True):
            params.update(zip(other["params"], group["params"], strict=True))
            options = {key: value for key, value in other.items() if key != "params"}
            group.update(deepcopy(options))
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            param = params[number]
            self.state[param] = {
                key: _restored(key, value, param) for key, value in values.items()
            }

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            options = sorted(key for key in group if key not in ("params", "param_names"))
            lines.extend(f"    {key}: {group[key]}" for key in options)
        return "\n".join([*lines, ")"])


def _check_param(param: object) -> None:
    if not isinstance(param, Tensor):
        raise TypeError(f"optimizer can only optimize Tensors, but one of the params is "
                        f"{type(param).__name__}")  # fmt: skip
    if not param.is_leaf:
        raise ValueError("can't optimize a non-leaf Tensor")


def _restored(key: str, value: Any, param: Tensor) -> Any:
    """A saved state value for `param`: a copy, in its dtype and on its device but for "step"."""
    if not isinstance(value, Tensor):
        return deepcopy(value)
    if key == "step":
        return value.detach().clone()
    return value.detach().to(param.device, param.dtype).clone()


def require(condition: bool, what: str, value: object) -> None:
    """ValueError "Invalid `what`: `value`" unless `condition`."""
    if not condition:
        raise ValueError(f"Invalid {what}: {value}")
