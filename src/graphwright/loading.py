"""Importing a part of the package that has many modules."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import Any


def load(*names: str) -> list[Any]:
    """Modules by full name, imported while the collector of cycles rests.

    What modules define stays, so that looking through it for garbage, again and again as it grows,
    finds none: a fifth of the time that the compiler's modules take. A collector that was off
    stays off.
    """
    rests = gc.isenabled()
    gc.disable()
    try:
        return [import_module(name) for name in names]
    finally:
        if rests:
            gc.enable()
