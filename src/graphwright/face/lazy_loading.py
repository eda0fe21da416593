"""Importing a part of the package that has many modules, and what imports it when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from graphwright.runtime.collecting import collector_at_rest
from graphwright.runtime.dispatch import HOOKS
from graphwright.runtime.ops.table import Op


def load(*names: str) -> list[Any]:
    """Modules by full name, imported while the collector of cycles rests.

    It would take a fifth of the time that the compiler's modules take.
    """
    with collector_at_rest():
        return [import_module(name) for name in names]


def _run_on_gpu(op: Op, args: tuple[Any, ...]) -> Any:
    """`gpu_ops.run_op`, which takes its own place from here on."""
    (gpu_ops,) = load("graphwright.face.gpu_ops")
    HOOKS.gpu_kernel = gpu_ops.run_op
    return gpu_ops.run_op(op, args)


HOOKS.gpu_kernel = _run_on_gpu
