"""What this package calls itself before the programs that use it, and what it says of names that
it lacks.

Both change, for the whole process, where a program asks that `import torch` means graphwright.
"""

from __future__ import annotations

from collections.abc import Callable


def _missing(module: str, name: str) -> Exception:
    return AttributeError(f"module '{module}' has no attribute '{name}'")


class Naming:
    """`root`: the name of the package. `missing`: the error for a name that a module lacks."""

    root = "graphwright"
    missing: Callable[[str, str], Exception] = staticmethod(_missing)


NAMING = Naming()


def public_name(module: str) -> str:
    """`torch.nn.functional`, or with the root that there is, of the full name of a module."""
    rest = module.removeprefix("graphwright").removeprefix(".runtime")
    return NAMING.root + rest


def missing(module: str, name: str) -> Exception:
    """What a module's `__getattr__` raises: the AttributeError that says what is missing.

    module: the `__name__` of the module. Where a `from` import asks while graphwright stands in
    for PyTorch, an ImportError, as nothing else could say why the name is missing.
    """
    return NAMING.missing(public_name(module), name)
