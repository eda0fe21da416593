"""Anomaly detection: each node remembers where it was made, and backward looks for nan."""

from __future__ import annotations

import linecache
import os
import sys
import warnings
from types import TracebackType
from typing import Any

from graphwright.runtime.errors import require_kind
from graphwright.runtime.ops import functions as ops

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


class _State:
    """Whether detection is on, and whether nan in gradients is an error."""

    __slots__ = ("check_nan", "enabled")

    def __init__(self) -> None:
        self.enabled = False
        self.check_nan = True


STATE = _State()


class set_detect_anomaly:
    """Switch detection on or off, at once; as a context manager, for the time of the block.

    While it is on, a backward that fails, or whose gradients hold nan (`check_nan`), raises
    RuntimeError that names the op and the line of the forward call. It makes ops slower.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        require_kind("set_detect_anomaly", "mode", mode, bool)
        require_kind("set_detect_anomaly", "check_nan", check_nan, bool)
        self._previous = STATE.enabled, STATE.check_nan
        STATE.enabled, STATE.check_nan = mode, check_nan

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        STATE.enabled, STATE.check_nan = self._previous


class detect_anomaly(set_detect_anomaly):
    """Detection for the time of a block: `with detect_anomaly():`."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(True, check_nan)
        STATE.enabled, STATE.check_nan = self._previous
        self._wanted = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._previous = STATE.enabled, STATE.check_nan
        STATE.enabled, STATE.check_nan = True, self._wanted


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on.

    Example:
        >>> gw.is_anomaly_enabled()
        False
    """
    return STATE.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether NaN in gradients is an error while anomaly detection is on.

    Example:
        >>> gw.is_anomaly_check_nan_enabled()
        True
    """
    return STATE.check_nan


Place = tuple[str, int, str]


def place() -> list[Place]:
    """The user's lines that are running, outermost first: file, line number, function."""
    found: list[Place] = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            found.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back  # type: ignore[assignment]
    return found[::-1]


def note(node: Any) -> None:
    """Keep in the node's metadata where it was made."""
    node.metadata["traceback_"] = place()


def described(node: Any) -> str:
    """The forward line of a node, or that it is not known."""
    lines: list[Place] = node.metadata.get("traceback_", [])
    if not lines:
        return "the forward call was made without anomaly detection, its line is not known"
    file, number, function = lines[-1]
    source = linecache.getline(file, number).strip()
    text = f"the forward call was {file}:{number} in {function}"
    return f"{text}: {source}" if source else text


def warn(node: Any) -> None:
    """Warn with the whole traceback of the forward call."""
    lines: list[Place] = node.metadata.get("traceback_", [])
    trace = "".join(
        f'  File "{file}", line {number}, in {function}\n'
        f"    {linecache.getline(file, number).strip()}\n"
        for file, number, function in lines
    )
    warnings.warn(
        f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
        f"{trace or described(node)}",
        stacklevel=2,
    )


def check(node: Any, grads: Any) -> None:
    """RuntimeError where a gradient that `node` has computed holds nan."""
    for number, grad in enumerate(grads):
        if grad is None or grad.is_fake:
            continue
        if ops.any(ops.isnan(grad)).item():
            warn(node)
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {number}th output; "
                f"{described(node)}"
            )
