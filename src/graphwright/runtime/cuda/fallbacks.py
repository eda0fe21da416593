"""Which ops of tensors on a GPU ran on the CPU, and which graphs op by op, for want of a kernel.

An op on the CPU costs a copy there and back. A warning reports each op and each graph once;
GRAPHWRIGHT_CUDA_STRICT=1, or the mode "error", has them refused.
"""

from __future__ import annotations

import os
import threading
from collections import Counter

from graphwright.runtime.stderr_notices import warn

MODES = ("warn", "silent", "error")


class _Record:
    """How often each op ran on the CPU, and what is to be done about it.

    failures: what was said of kernels that cannot be compiled, by their op or graph.
    """

    __slots__ = ("counts", "failures", "lock", "mode")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failures: dict[str, str] = {}
        self.lock = threading.Lock()
        self.mode = "error" if os.environ.get("GRAPHWRIGHT_CUDA_STRICT") == "1" else "warn"


_RECORD = _Record()


def count(op_name: str) -> None:
    """Note that an op runs on the CPU; the first time a UserWarning says so.

    Raises: NotImplementedError in the mode "error".
    """
    failure = _RECORD.failures.get(op_name)
    lacking = f"{op_name}: graphwright has no kernel for these arguments on cuda" + (
        "" if failure is None else f" ({failure})")
    if strict():
        raise NotImplementedError(
            f"{lacking}, and running it on the CPU is an error here (GRAPHWRIGHT_CUDA_STRICT)")
    with _RECORD.lock:
        _RECORD.counts[op_name] += 1
        first = _RECORD.counts[op_name] == 1
    if first and _RECORD.mode == "warn":
        warn(f"{lacking}; it runs on the CPU, with a copy there and back "
             "(graphwright.cuda.fallbacks() counts such calls)", UserWarning, 2)


def failed(op_name: str, failure: Exception) -> None:
    """Note why an op has no kernel, for the warning that comes where it runs on the CPU."""
    with _RECORD.lock:
        _RECORD.failures[op_name] = str(failure)


def op_by_op(graph: str, failure: Exception) -> None:
    """Note that a graph runs op by op; the first time a UserWarning says so.

    Raises: the failure in the mode "error".
    """
    if strict():
        raise failure
    with _RECORD.lock:
        first = graph not in _RECORD.failures
        _RECORD.failures[graph] = str(failure)
    if first and _RECORD.mode == "warn":
        warn(f"the graph '{graph}' runs op by op: {failure}", UserWarning, 2)


def counts() -> dict[str, int]:
    """How often each op ran on the CPU, by its name, since the start or `clear`."""
    with _RECORD.lock:
        return dict(_RECORD.counts)


def clear() -> None:
    """Count anew, and warn anew."""
    with _RECORD.lock:
        _RECORD.counts.clear()
        _RECORD.failures.clear()


def mode() -> str:
    """"warn", "silent" or "error"."""
    return _RECORD.mode


def set_mode(mode: str) -> None:
    """Set what becomes of ops without a kernel. Raises ValueError for what is none of `MODES`."""
    if mode not in MODES:
        raise ValueError(f"expected one of {', '.join(map(repr, MODES))} as mode, got {mode!r}")
    _RECORD.mode = mode


def strict() -> bool:
    """Whether ops without a kernel are to be refused."""
    return _RECORD.mode == "error"
