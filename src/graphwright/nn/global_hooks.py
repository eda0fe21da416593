"""Hooks on the calls of all modules, after `torch.nn.modules.module`: before a module's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.nn.hooks import REGISTRATION_HOOKS, ModuleHandle, every_module, plain_handle

Hook = Callable[..., Any]


def register_module_forward_pre_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, args)` before every module's `forward`; it may return new arguments."""
    return every_module.register_forward_pre_hook(hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> ModuleHandle:
    """Call `hook(module, args[, kwargs], output)` after every `forward`; it may return an output.

    With `always_call` it is called (with output None) also where `forward` raised.
    """
    return every_module.register_forward_hook(
        hook, with_kwargs=with_kwargs, always_call=always_call
    )


def register_module_full_backward_pre_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, grad_output)` before every module's backward."""
    return every_module.register_full_backward_pre_hook(hook)


def register_module_full_backward_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, grad_input, grad_output)` after every module's backward."""
    return every_module.register_full_backward_hook(hook)


register_module_backward_hook = register_module_full_backward_hook


def register_module_buffer_registration_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, name, buffer)` where a buffer is registered; it may give another."""
    return plain_handle(REGISTRATION_HOOKS["buffer"], hook)


def register_module_module_registration_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, name, child)` where a child is registered; it may give another."""
    return plain_handle(REGISTRATION_HOOKS["module"], hook)


def register_module_parameter_registration_hook(hook: Hook) -> ModuleHandle:
    """Call `hook(module, name, parameter)` where one is registered; it may give another."""
    return plain_handle(REGISTRATION_HOOKS["parameter"], hook)
