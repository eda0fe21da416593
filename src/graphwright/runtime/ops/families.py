"""The modules that define ops, and how an entry of the table is completed when it is first used.

`import graphwright` imports none of them: which one defines an op is in `op_names.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from graphwright.runtime.fake import meta
from graphwright.runtime.ops.errstate import quietly
from graphwright.runtime.ops.op_names import FAMILIES, NAMES
from graphwright.runtime.ops.table import Kind, Op, define, is_defined, publish


def load_all() -> None:
    """Define every op."""
    for family in FAMILIES:
        load(family)


def load(family: str) -> None:
    """Import a family and publish what it defines.

    Raises ImportError where this thread is in the midst of importing it: a signal handler.
    """
    module = import_module(f"graphwright.runtime.ops.{family}")
    if getattr(module.__spec__, "_initializing", False):
        raise ImportError(f"the ops of '{family}' are used while '{family}' is being imported")
    publish(module)


def complete(entry: Op, attribute: str) -> None:
    """Set a field that is not set: define the entry, or attach its kernel.

    An op that no family defines has a schema without parameters and a kernel that says so.
    """
    if not is_defined(entry):
        _define(entry)
    if attribute == "eager" and entry.is_inplace:
        entry.eager = import_module("graphwright.runtime.ops.inplace").derived(entry)
    elif attribute == "run":
        entry.run = _kernel(entry)


def _define(entry: Op) -> None:
    family = NAMES.get(entry.name)
    if family is not None:
        load(family)
    if not is_defined(entry):
        load_all()
    if not is_defined(entry):
        define(f"{entry.name}()", Kind.OTHER)


def _kernel(entry: Op) -> Callable[..., Any]:
    """What runs an op on real tensors: C where it can, else NumPy, else its decomposition."""
    run = entry.eager or entry.decompose or entry.undefined
    import_module("graphwright.runtime.ops.native.composite_gradients").attach(entry)
    native = import_module("graphwright.runtime.ops.native.c_kernels")
    return native.kernel(entry, quietly(meta.minding_device(entry, run)))


meta.install()
