"""The handlers of bytecode instructions, by family; one table per Python version.

A handler is `handler(tx, inst)`: it changes the translator's stack and locals, or its `ip` to
jump. Instructions without a handler are graph breaks.
"""

from __future__ import annotations

from graphwright.capture.vm.opcodes import (
    build,
    calls,
    class_bodies,
    control,
    exceptions,
    iteration,
    names,
    patterns,
    stack,
)
from graphwright.capture.vm.opcodes.registry import Handler, handlers_for

FAMILIES = (
    stack, names, build, calls, class_bodies, control, iteration, exceptions, patterns,
)  # fmt: skip

__all__ = ["FAMILIES", "Handler", "handlers_for"]
