"""Names that a program asks of `torch` and graphwright does not have: errors, and a report."""

from __future__ import annotations

import importlib
import os
import sys
from functools import partial
from types import FrameType, ModuleType
from typing import Any, NoReturn

from graphwright.runtime import naming

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_IMPORTLIB = os.path.dirname(importlib.__file__) + os.sep
_FROZEN = "<frozen importlib._bootstrap>"
_WHY = "graphwright, which stands in for PyTorch here, lacks it"

_asked: dict[str, dict[tuple[str, int], None]] = {}


class Report(dict[str, list[str]]):
    """Name -> the places that asked for it, as "FILE:LINE". As text, one line for each name, with
    the first three of its places."""

    def __str__(self) -> str:
        if not self:
            return "nothing was asked for that graphwright lacks"
        lines = [f"  {name}: {_shown(places)}" for name, places in self.items()]
        return "\n".join(["asked for, and not in graphwright:", *lines])


def _shown(places: list[str]) -> str:
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    return ", ".join(places[:3]) + more


def report() -> Report:
    """The names below `torch` that were asked for so far and that graphwright lacks.

    Names that `hasattr` or `getattr` with a default asked for, and modules that
    `importlib.util.find_spec` did, are among them.
    """
    places = sorted((name, [f"{file}:{line}" for file, line in where])
                    for name, where in _asked.items())
    return Report(places)


def _note(name: str, frame: FrameType | None) -> None:
    """Note that the frame, or the first of its callers that is not of this package, asked."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_PACKAGE, _IMPORTLIB, "<frozen importlib.")):
            _asked.setdefault(name, {})[file, frame.f_lineno] = None
            return
        frame = frame.f_back


def missing(module: str, name: str) -> Exception:
    """The error of a module's `__getattr__`, which is two calls away.

    ImportError where `from MODULE import NAME` asks: Python's own would not say what is missing.
    """
    if name.startswith("__"):
        return AttributeError(f"module '{module}' has no attribute '{name}'")
    frame: FrameType = sys._getframe(2).f_back  # type: ignore[assignment]
    text = f"module '{module}' has no attribute '{name}': {_WHY}"
    if frame.f_code.co_filename == _FROZEN:  # a `from` import will ask for a module of the name
        return AttributeError(text)
    _note(f"{module}.{name}", frame)
    if frame.f_code.co_code[frame.f_lasti] == _import_from():
        return ImportError(f"cannot import name '{name}' from '{module}': {_WHY}", name=module)
    return AttributeError(text)


def _import_from() -> int:
    from opcode import opmap

    return opmap["IMPORT_FROM"]


def missing_module(name: str) -> None:
    """Raise ModuleNotFoundError where a finder, which calls this, is asked for what is imported.

    Where a module is only looked for, nothing is raised. Where this package's own code says `from
    graphwright import X`, which Python looks for below the name that the package has now, X is
    imported, so that Python finds it as an attribute.
    """
    frame: FrameType | None = sys._getframe(2)
    if frame is not None and frame.f_code.co_name == "_find_spec":
        frame = frame.f_back
    asker = frame
    if frame is None or frame.f_code.co_name != "_find_and_load_unlocked":
        _note(name, asker)
        return
    error = ModuleNotFoundError(f"No module named '{name}': {_WHY}", name=name)
    while frame is not None and frame.f_code.co_filename == _FROZEN:
        if frame.f_code.co_name == "_handle_fromlist":  # which goes on to ask for an attribute
            if _is_own(frame.f_back):
                importlib.import_module(f"graphwright{name.removeprefix('torch')}")
            raise error
        frame = frame.f_back
    _note(name, asker)
    raise error


def _is_own(frame: FrameType | None) -> bool:
    """Whether a frame, or its caller behind frames of importlib, runs this package's code."""
    while frame is not None and frame.f_code.co_filename == _FROZEN:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_PACKAGE)


def watch(name: str, module: Any) -> None:
    """Let a module of that public name say by `missing` what it lacks, modules below it too."""
    if not isinstance(module, ModuleType):
        return
    vars(module).setdefault("__path__", [])
    if "__getattr__" not in vars(module):
        vars(module)["__getattr__"] = partial(_raise_missing, name)


def watch_below(name: str, module: Any) -> None:
    """The same of a module and of those that it has imported below itself."""
    watch(name, module)
    real = getattr(module, "__name__", name)
    for known, below in tuple(sys.modules.items()):
        if known.startswith(f"{real}."):
            watch(name + known.removeprefix(real), below)


def _raise_missing(module: str, name: str) -> NoReturn:
    raise naming.missing(module, name)
