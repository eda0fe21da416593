"""Hooks on the calls of all modules, after `torch.nn.modules.module`.

While there are any, `Module.__call__` is another function; without them modules pay nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.nn.hooks import REGISTRATION_HOOKS, BackwardWatch, ModuleHandle
from graphwright.runtime.nn.module import Module

Hook = Callable[..., Any]

_pre_hooks: dict[int, Hook] = {}
_hooks: dict[int, Hook] = {}
_backward_pre_hooks: dict[int, Hook] = {}
_backward_hooks: dict[int, Hook] = {}
_ALL = (_pre_hooks, _hooks, _backward_pre_hooks, _backward_hooks)

_plain_call = Module.__call__


def _call(self: Module, *args: Any, **kwargs: Any) -> Any:
    """`Module.__call__` between the hooks of all modules, which run first."""
    for hook in tuple(_pre_hooks.values()):
        changed = hook(self, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    watch = None
    if _backward_hooks or _backward_pre_hooks:
        watch = BackwardWatch(
            self, tuple(_backward_pre_hooks.values()), tuple(_backward_hooks.values())
        )
        args = watch.inputs(args)
    result = _plain_call(self, *args, **kwargs)
    for hook in tuple(_hooks.values()):
        changed = hook(self, args, result)
        result = result if changed is None else changed
    return result if watch is None else watch.outputs(result)


class _Switch:
    """Told by a handle that a hook has come or gone."""

    def _count_hooks(self) -> None:
        wanted = _call if any(_ALL) else _plain_call
        if Module.__call__ is not wanted:
            Module.__call__ = wanted  # type: ignore[method-assign]


_switch = _Switch()


def _register(hooks: dict[int, Hook], hook: Hook) -> ModuleHandle:
    handle = ModuleHandle(hooks, owner=_switch)
    hooks[handle.id] = hook
    _switch._count_hooks()
    return handle


def register_module_forward_pre_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, args)` before every module's `forward`; it may return new arguments."""
    return _register(_pre_hooks, hook)


def register_module_forward_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, args, output)` after every `forward`; it may return an output."""
    return _register(_hooks, hook)


def register_module_full_backward_pre_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, grad_output)` before every module's backward."""
    return _register(_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, grad_input, grad_output)` after every module's backward."""
    return _register(_backward_hooks, hook)


register_module_backward_hook = register_module_full_backward_hook


def register_module_buffer_registration_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, name, buffer)` where a buffer is registered; it may give another."""
    return _register(REGISTRATION_HOOKS["buffer"], hook)


def register_module_module_registration_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, name, child)` where a child is registered; it may give another."""
    return _register(REGISTRATION_HOOKS["module"], hook)


def register_module_parameter_registration_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, name, parameter)` where one is registered; it may give another."""
    return _register(REGISTRATION_HOOKS["parameter"], hook)
