"""Hooks of modules: around `forward`, around its backward, around `state_dict`.

A module that has none pays one attribute test per call (`_hooked`), and one for the hooks of all
modules, which `every_module` holds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from graphwright.runtime.tape.function import Function
from graphwright.runtime.tape.node import RemovableHandle
from graphwright.runtime.tensor.tensor import Tensor

CALL_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


class ModuleHandle(RemovableHandle):
    """What `register_*_hook` returns; `remove()` (or leaving a `with` block) removes it."""

    next_id = 0
    """An int and no iterator, which a graph that registers hooks could not go on from."""

    def __init__(self, hooks: dict[int, Any], *options: dict[int, Any], owner: Any = None) -> None:
        self.id = ModuleHandle.next_id
        ModuleHandle.next_id += 1
        self._hooks = hooks
        self._options = options
        self._owner = owner

    def remove(self) -> None:
        """Take the hook off; does nothing if it is off already."""
        self._hooks.pop(self.id, None)
        for members in self._options:
            members.pop(self.id, None)
        if self._owner is not None:
            self._owner._count_hooks()


class ModuleHooks:
    """The part of `Module` that registers hooks and calls them.

    All registrations return a `ModuleHandle`. `prepend=True` puts the hook before those
    already there.
    """

    _hooked: bool
    _forward_pre_hooks: dict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _forward_hooks: dict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _backward_pre_hooks: dict[int, Callable[..., Any]]
    _backward_hooks: dict[int, Callable[..., Any]]
    _state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _state_dict_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: dict[int, Callable[..., Any]]
    _is_full_backward_hook: bool | None
    forward: Callable[..., Any]

    def _init_hooks(self, state: dict[str, Any]) -> None:
        state["_hooked"] = False
        for name in ("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks"):
            state[name] = {}
        for name in ("_forward_hooks_with_kwargs", "_forward_hooks_always_called"):
            state[name] = {}
        for name in ("_backward_pre_hooks", "_backward_hooks"):
            state[name] = {}
        for name in ("_state_dict_pre_hooks", "_state_dict_hooks"):
            state[name] = {}
        for name in ("_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"):
            state[name] = {}
        state["_is_full_backward_hook"] = None

    def _count_hooks(self) -> None:
        state = self.__dict__
        state["_hooked"] = any(state[name] for name in CALL_HOOKS)

    def _add_call_hook(
        self,
        hooks: dict[int, Any],
        hook: Callable[..., Any],
        prepend: bool = False,
        **options: bool,
    ) -> ModuleHandle:
        """Enter `hook` in `hooks`, and its id in the dict of each option that is true."""
        chosen = [self.__dict__[name] for name, wanted in options.items() if wanted]
        handle = ModuleHandle(hooks, *chosen, owner=self)
        for members in chosen:
            members[handle.id] = True
        _insert(hooks, handle.id, hook, prepend)
        self._count_hooks()
        return handle

    # -- registration

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> ModuleHandle:
        """Call `hook(module, args[, kwargs])` before `forward`; it may return new arguments."""
        return self._add_call_hook(
            self._forward_pre_hooks, hook, prepend, _forward_pre_hooks_with_kwargs=with_kwargs
        )

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> ModuleHandle:
        """Call `hook(module, args[, kwargs], output)` after `forward`; it may return an output.

        With `always_call` it is called (with output None) also where `forward` raised.
        """
        return self._add_call_hook(
            self._forward_hooks,
            hook,
            prepend,
            _forward_hooks_with_kwargs=with_kwargs,
            _forward_hooks_always_called=always_call,
        )

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> ModuleHandle:
        """Call `hook(module, grad_output)` before the module's backward; it may return others."""
        return self._add_call_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> ModuleHandle:
        """Call `hook(module, grad_input, grad_output)` when the inputs' gradients are known.

        Both are tuples with None for what is no tensor; it may return another `grad_input`.
        RuntimeError where the module has a hook of `register_backward_hook`.
        """
        self._choose_backward_hooks(full=True)
        return self._add_call_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> ModuleHandle:
        """As `register_full_backward_hook`, which replaces it: a module has one kind of both."""
        self._choose_backward_hooks(full=False)
        return self._add_call_hook(self._backward_hooks, hook)

    def _choose_backward_hooks(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self._is_full_backward_hook = full

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> ModuleHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` collects this module."""
        return plain_handle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> ModuleHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after this module's entries.

        It changes the dict in place: `state_dict` raises RuntimeError where it returns anything.
        """

        def in_place(*args: Any) -> None:
            if hook(*args) is not None:
                raise RuntimeError("state_dict post-hook must return None")

        return plain_handle(self._state_dict_hooks, in_place)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> ModuleHandle:
        return plain_handle(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> ModuleHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)` before this module loads its entries."""

        def with_module(*args: Any) -> None:
            hook(self, *args)

        return plain_handle(self._load_state_dict_pre_hooks, with_module)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> ModuleHandle:
        if with_module:
            return self.register_load_state_dict_pre_hook(hook)
        return plain_handle(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> ModuleHandle:
        """Call `hook(module, incompatible_keys)` after this module and those below have loaded."""
        return plain_handle(self._load_state_dict_post_hooks, hook)

    # -- calling

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`forward` between the hooks; those of all modules come before the module's own."""
        if not every_module._forward_hooks_always_called and not self._forward_hooks_always_called:
            return self._call_between_hooks(args, kwargs, None)
        called: set[int] = set()
        try:
            return self._call_between_hooks(args, kwargs, called)
        except BaseException:
            for owner in (every_module, self):
                for hook_id, hook in list(owner._forward_hooks.items()):
                    if hook_id in owner._forward_hooks_always_called and hook_id not in called:
                        _run_forward_hook(self, owner, hook_id, hook, args, kwargs, None)
            raise

    def _call_between_hooks(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], called: set[int] | None
    ) -> Any:
        """The call where nothing raises; the forward hooks it ran are entered in `called`."""
        args, kwargs = _run_pre_hooks(self, every_module, args, kwargs)
        args, kwargs = _run_pre_hooks(self, self, args, kwargs)
        watch = backward_watch(self)
        if watch is not None:
            args = watch.inputs(args)
        result = self.forward(*args, **kwargs)
        for owner in (every_module, self):
            for hook_id, hook in list(owner._forward_hooks.items()):
                if called is not None:
                    called.add(hook_id)
                result = _run_forward_hook(self, owner, hook_id, hook, args, kwargs, result)
        return result if watch is None else watch.outputs(result)


class EveryModule(ModuleHooks):
    """The owner of the hooks on the calls of all modules."""

    def __init__(self) -> None:
        self._init_hooks(self.__dict__)


every_module = EveryModule()


def _run_pre_hooks(
    module: Any, owner: ModuleHooks, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    for hook_id, hook in list(owner._forward_pre_hooks.items()):
        if hook_id in owner._forward_pre_hooks_with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(
                    "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                    f"but got {changed}."
                )
            args, kwargs = changed
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


def _run_forward_hook(
    module: Any, owner: ModuleHooks, hook_id: int, hook: Any, args: Any, kwargs: Any, result: Any
) -> Any:
    if hook_id in owner._forward_hooks_with_kwargs:
        changed = hook(module, args, kwargs, result)
    else:
        changed = hook(module, args, result)
    return result if changed is None else changed


REGISTRATION_HOOKS: dict[str, dict[int, Callable[..., Any]]] = {
    "buffer": {},
    "module": {},
    "parameter": {},
}
"""What is called with (module, name, what is registered) whenever any module gets a member."""


def registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """`value`, or what a hook on the registration of all modules' members gave instead."""
    for hook in REGISTRATION_HOOKS[kind].values():
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value


def _insert(hooks: dict[int, Any], key: int, hook: Any, prepend: bool) -> None:
    later = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[key] = hook
    hooks.update(later)


def plain_handle(hooks: dict[int, Any], hook: Callable[..., Any]) -> ModuleHandle:
    handle = ModuleHandle(hooks)
    hooks[handle.id] = hook
    return handle


# -- backward hooks


class BackwardHookFunction(Function):
    """The identity on several tensors, whose backward hands all gradients to `seen` at once."""

    @staticmethod
    def forward(ctx: Any, seen: Callable[[tuple[Any, ...]], Any], *tensors: Any) -> Any:
        ctx.seen = seen
        ctx.set_materialize_grads(False)
        return tuple(tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, *ctx.seen(grads))


def backward_hooks(module: Any) -> tuple[list[Any], list[Any]]:
    """The hooks before and after the backward of a module, those of all modules first."""
    every = every_module
    return (
        [*every._backward_pre_hooks.values(), *module._backward_pre_hooks.values()],
        [*every._backward_hooks.values(), *module._backward_hooks.values()],
    )


def backward_watch(module: Any) -> BackwardWatch | None:
    """What leads the gradients of one call to the backward hooks; None where there are none."""
    pre_hooks, hooks = backward_hooks(module)
    return BackwardWatch(module, pre_hooks, hooks) if pre_hooks or hooks else None


class BackwardWatch:
    """The backward hooks of one call: identities before and after `forward` see gradients."""

    def __init__(self, module: Any, pre_hooks: Sequence[Any], hooks: Sequence[Any]) -> None:
        self.module = module
        self.pre_hooks, self.hooks = pre_hooks, hooks
        self.input_places: list[int] = []
        self.output_places: list[int] = []
        self.n_inputs = self.n_outputs = 0
        self.grad_outputs: tuple[Any, ...] | None = None

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """`args` with the tensors that require gradients led through a boundary."""
        return _through(self.enter, args) if self.hooks else args

    def outputs(self, result: Any) -> Any:
        """The result, led through a boundary."""
        single = isinstance(result, Tensor)
        if not single and not isinstance(result, tuple):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                stacklevel=3,
            )
            return result
        passed = _through(self.leave, (result,) if single else result)
        return passed[0] if single else passed

    def enter(self, count: int, places: list[int], tensors: Sequence[Tensor]) -> Any:
        """The inputs that require gradients, at these places among `count`, led through."""
        self.n_inputs, self.input_places = count, places
        return BackwardHookFunction.apply(self._seen_inputs, *tensors) if places else ()

    def leave(self, count: int, places: list[int], tensors: Sequence[Tensor]) -> Any:
        """The same of the outputs."""
        self.n_outputs, self.output_places = count, places
        return BackwardHookFunction.apply(self._seen_outputs, *tensors) if places else ()

    def _seen_outputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        full = _placed(grads, self.output_places, self.n_outputs)
        for hook in self.pre_hooks:
            changed = hook(self.module, full)
            if changed is not None:
                full = _same_length("Backward pre hook", "grad_output", changed, full)
        self.grad_outputs = full
        if self.hooks and not self.input_places:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients.",
                stacklevel=2,
            )
            for hook in self.hooks:
                changed = hook(self.module, (None,) * self.n_inputs, full)
                nothing = isinstance(changed, tuple) and all(one is None for one in changed)
                if changed is not None and not nothing:
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should "
                        "always return None or None for all gradients."
                    )
        return tuple(full[i] for i in self.output_places)

    def _seen_inputs(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.grad_outputs is None:  # the gradient did not come through the module's output
            return grads
        full = _placed(grads, self.input_places, self.n_inputs)
        for hook in self.hooks:
            changed = hook(self.module, full, self.grad_outputs)
            if changed is not None:
                full = _same_length("Backward hook", "grad_input", changed, full)
        self.grad_outputs = None
        return tuple(full[i] for i in self.input_places)


def _through(lead: Callable[..., Any], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """`values`, of which those that require gradients are led through a boundary."""
    places = [i for i, v in enumerate(values) if isinstance(v, Tensor) and v.requires_grad]
    passed = list(values)
    led = lead(len(values), places, [values[i] for i in places])
    for place, tensor in zip(places, led, strict=True):
        passed[place] = tensor
    return tuple(passed)


def _placed(grads: tuple[Any, ...], places: list[int], length: int) -> tuple[Any, ...]:
    full: list[Any] = [None] * length
    for place, grad in zip(places, grads, strict=True):
        full[place] = grad
    return tuple(full)


def _same_length(who: str, what: str, changed: Any, full: tuple[Any, ...]) -> tuple[Any, ...]:
    changed = changed if isinstance(changed, tuple) else (changed,)
    if len(changed) != len(full):
        raise RuntimeError(
            f"{who} returned an invalid number of {what}, got {len(changed)}, "
            f"but expected {len(full)}"
        )
    return changed
