"""`Optimizer`: parameter groups, per-parameter state, hooks and saving; after `torch.optim`."""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeAlias

from graphwright.autograd.grad_mode import enable_grad, is_grad_enabled, set_grad_enabled
from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.spans import Kind, Timed
from graphwright.runtime.tape.node import RemovableHandle
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

Group = dict[str, Any]
Hook = Callable[..., Any]


_ALL_PRE: dict[int, Hook] = {}
_ALL_POST: dict[int, Hook] = {}


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before the steps of all optimisers."""
    return RemovableHandle(_ALL_PRE, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after the steps of all optimisers."""
    return RemovableHandle(_ALL_POST, hook)


class _Required:
    """The default of an option that every group must give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Base class of optimisers.

    `params`: tensors, (name, tensor) pairs or dicts with "params" and options of their own.
    `defaults`: options of groups that give none; "differentiable" among them says that steps are
    recorded for autograd, whose parameters then need not be leaves. Subclasses define
    `_update(group)`, or `step`.
    """

    _opt_called = False  # whether a step was made: schedules warn where they come first
    _hooks: Mapping[str, dict[int, Hook]] = MappingProxyType({})  # by moment

    def __init__(self, params: Iterable[Any], defaults: Mapping[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                "dicts, but got a Tensor"
            )
        self.defaults = dict(defaults)
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._own_hooks()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def _patch_step_function(self) -> None:
        """Without effect: what hooks need of `step` is done when a class is made."""

    # -- groups

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with their own options (missing ones come from the defaults).

        Raises TypeError for what is no dict or no tensor and for a set, ValueError for a
        non-leaf, a parameter of another group, partly given names or a missing required
        option; warns of a parameter given twice.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = param_group
        params = _listed(group["params"])
        named = [isinstance(param, tuple) for param in params]
        if any(named):
            if not all(named):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are "
                    "missing"
                )
            group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        for param in params:
            _check_param(param, self.defaults.get("differentiable", False))
        for name, value in self.defaults.items():
            if value is required and name not in group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization "
                    f"parameter {name}"
                )
            group.setdefault(name, value)
        self._check_new(group, params)
        group["params"] = params
        self.param_groups.append(group)

    def _check_new(self, group: Group, params: list[Tensor]) -> None:
        if len(set(map(id, params))) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters",
                stacklevel=4,
            )
        known = {id(param) for other in self.param_groups for param in other["params"]}
        if any(id(param) in known for param in params):
            raise ValueError("some parameters appear in more than one parameter group")
        if self.param_groups and ("param_names" in self.param_groups[0]) != (
            "param_names" in group
        ):
            without = "with" if "param_names" in group else "without"
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param "
                f"group {without} names to the optimizer"
            )

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters (to None, or in place to zeros).

        None is written without a look at what was there: a compiled step needs no guard then, and
        one version serves the first step and all others.
        """
        if _core.is_profiling():
            with Timed(_span_name(self, "zero_grad"), Kind.LIBRARY):
                return self._zero_grad(set_to_none)
        return self._zero_grad(set_to_none)

    def _zero_grad(self, set_to_none: bool) -> None:
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param.grad = None
                elif param.grad is not None:
                    if param.grad.requires_grad:
                        param.grad = param.grad.detach()
                    ops.fill_(param.grad, 0)

    # -- steps

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient; returns what `closure` gives, if any.

        `closure` computes the loss anew, gradients on.
        """
        self._opt_called = True
        if self._hooks or _ALL_PRE or _ALL_POST or _core.is_profiling():
            given = (self,) if closure is None else (self, closure)
            return _hooked_step(self, Optimizer._step, given, {})
        return self._step(closure)

    def _step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with set_grad_enabled(self.defaults.get("differentiable", False)):
            for group in self.param_groups:
                self._update(group)
        return loss

    def _update(self, group: Group) -> None:
        raise NotImplementedError

    def _state_of(self, param: Tensor, *like: str) -> dict[str, Any]:
        """The state of `param`; a fresh one has "step" and zeros like it under these names."""
        state = self.state[param]
        if not state:
            state["step"] = ops.zeros((), dtype=_scalar_dtype())
            values = param.detach()
            for name in like:
                state[name] = ops.zeros_like(values)
        return state

    # -- hooks

    def _own_hooks(self) -> defaultdict[str, dict[int, Hook]]:
        """The hooks by moment; first made here where a subclass leaves out `__init__`."""
        if "_hooks" not in self.__dict__:
            self._hooks = defaultdict(dict)
        made: Any = self._hooks
        return made

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before a step; it may give new (args, kwargs)."""
        return RemovableHandle(self._own_hooks()["step_pre"], hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after a step."""
        return RemovableHandle(self._own_hooks()["step_post"], hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict()`; before other hooks if `prepend`."""
        return self._add_hook("state_pre", hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict()`; a result replaces it."""
        return self._add_hook("state_post", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before loading; a result replaces the latter."""
        return self._add_hook("load_pre", hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer)` after loading."""
        return self._add_hook("load_post", hook, prepend)

    def _add_hook(self, moment: str, hook: Hook, prepend: bool) -> RemovableHandle:
        hooks = self._own_hooks()[moment]
        later = dict(hooks) if prepend else {}
        handle = RemovableHandle(hooks, hook)
        for number in later:
            hooks[number] = hooks.pop(number)
        return handle

    def _each(self, moment: str) -> tuple[Hook, ...]:
        return tuple(self._hooks[moment].values()) if moment in self._hooks else ()

    # -- saving

    def state_dict(self) -> dict[str, Any]:
        """{"state": by parameter number, "param_groups": with parameter numbers}."""
        for hook in self._each("state_pre"):
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        state = {numbers[id(param)]: dict(values) for param, values in self.state.items()}
        result: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in self._each("state_post"):
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict()` gave; tensors are copied to the parameters' dtypes.

        Raises ValueError where the groups differ in number or length.
        """
        for hook in self._each("load_pre"):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = state_dict["param_groups"]
        self._check_groups(saved)
        params: dict[Any, Tensor] = {}
        for group, other in zip(self.param_groups, saved, strict=True):
            params.update(zip(other["params"], group["params"], strict=True))
            options = {key: value for key, value in other.items() if key != "params"}
            own = group["params"]
            group.clear()
            group.update(deepcopy(options), params=own)
        state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        for number, values in state_dict["state"].items():
            if number not in params:
                state[number] = deepcopy(values)
                continue
            param = params[number]
            state[param] = {key: _restored(key, value, param) for key, value in values.items()}
        self.state = state
        for hook in self._each("load_post"):
            hook(self)

    def _check_groups(self, saved: list[Any]) -> None:
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        lengths = zip(self.param_groups, saved, strict=True)
        if any(len(group["params"]) != len(other["params"]) for group, other in lengths):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"{chr(10) if number else ''}Parameter Group {number}")
            options = sorted(key for key in group if key != "params")
            lines.extend(f"    {key}: {group[key]}" for key in options)
        return "\n".join([*lines, ")"])


ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A subclass's `step`, run with gradients recorded where `differentiable` is set, and else
    not."""

    @functools.wraps(func)
    def step(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        before = is_grad_enabled()
        set_grad_enabled(bool(self.defaults["differentiable"]))
        try:
            return func(self, *args, **kwargs)
        finally:
            set_grad_enabled(before)

    return step


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether an optimiser is (fused, foreach) by default: neither, on the CPU."""
    return False, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The devices whose steps CUDA graphs can hold: PyTorch's names of them."""
    names = ["cuda", "xpu", "hpu", "privateuseone"]
    return [*names, "xla"] if supports_xla else names


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A subclass's own `step`, with the step hooks around it."""

    @functools.wraps(step)
    def wrapper(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        if not (self._hooks or _ALL_PRE or _ALL_POST or _core.is_profiling()):
            return step(self, *args, **kwargs)
        return _hooked_step(self, step, (self, *args), kwargs)

    return wrapper


def _hooked_step(
    optimizer: Optimizer, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    for hook in (*_ALL_PRE.values(), *optimizer._each("step_pre")):
        changed = hook(optimizer, args, kwargs)
        if changed is None:
            continue
        if not isinstance(changed, tuple) or len(changed) != 2:
            raise RuntimeError(
                "a step pre-hook must return None or a tuple of (new_args, new_kwargs), but "
                f"got {changed}."
            )
        args, kwargs = changed
    with Timed(_span_name(optimizer, "step"), Kind.LIBRARY):
        result = step(*args, **kwargs)
    for hook in (*optimizer._each("step_post"), *_ALL_POST.values()):
        hook(optimizer, args, kwargs)
    return result


def _span_name(optimizer: Optimizer, method: str) -> str:
    return f"Optimizer.{method}#{type(optimizer).__name__}.{method}"


def _listed(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        return [params]
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering "
            "of tensors in sets will change between runs. Please use a list instead."
        )
    return list(params)


def _check_param(param: object, differentiable: bool) -> None:
    if not isinstance(param, Tensor):
        raise TypeError(f"optimizer can only optimize Tensors, but one of the params is "
                        f"{type(param).__name__}")  # fmt: skip
    if not (differentiable or param.is_leaf or param.retains_grad):
        raise ValueError("can't optimize a non-leaf Tensor")


def _restored(key: str, value: Any, param: Tensor) -> Any:
    """A saved state value for `param`: a copy, in its dtype and on its device but for scalars."""
    if isinstance(value, dict):
        return {name: _restored(key, item, param) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_restored(key, item, param) for item in value)
    if not isinstance(value, Tensor):
        return deepcopy(value)
    value = value.detach()
    scalar = value.ndim == 0 and param.ndim > 0
    if key == "step" or scalar or not param.dtype.is_floating_point:
        return value.clone()
    return value.to(param.device, param.dtype, copy=True)


def _scalar_dtype() -> Any:
    """The dtype of scalars in the state: float32, or float64 where that is the default."""
    return dtypes.float64 if dtypes.get_default_dtype() is dtypes.float64 else dtypes.float32


def number(value: Any) -> float:
    """An option as a Python number: learning rates and betas may be one-element tensors.

    Raises RuntimeError for a tensor that a recorded step would have to give a gradient.
    """
    if not isinstance(value, Tensor):
        return value
    if value.requires_grad and is_grad_enabled():
        raise RuntimeError(
            "differentiable=True: gradients are taken of lr and weight_decay of SGD, Adam and "
            "AdamW; other options must not require them"
        )
    return value.item()


def step_as_ops(group: Group, rule: str) -> Callable[..., Any] | None:
    """The rule in `optim.sgd_adam` where a step is to give lr or weight_decay a gradient."""
    options = [group[name] for name in ("lr", "weight_decay")]
    wanted = any([isinstance(value, Tensor) and value.requires_grad for value in options])
    if not (wanted and group["differentiable"]):
        return None
    found: Callable[..., Any] = getattr(
        import_module("graphwright.runtime.ops.optim.sgd_adam"), rule
    )
    return found


def require(condition: Any, what: str, value: object) -> None:
    """ValueError "Invalid `what`: `value`" unless `condition`."""
    if not condition:
        raise ValueError(f"Invalid {what}: {value}")


def require_rate(lr: Any) -> None:
    """ValueError unless `lr` is a non-negative number or one-element tensor."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    require(lr >= 0, "learning rate", lr)


def require_betas(betas: Any) -> None:
    """ValueError unless both betas are in [0, 1)."""
    if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
        raise ValueError("betas must be either both floats or both Tensors")
    for index, beta in enumerate(betas):
        if isinstance(beta, Tensor) and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{index}] must be 1-element")
        require(0 <= beta < 1, f"beta parameter at index {index}", beta)


def check_hints(
    differentiable: bool, fused: bool | None = None, foreach: bool | None = None
) -> None:
    """RuntimeError for hints that exclude each other."""
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
