"""Whether code runs for an export to ONNX."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class _Exports:
    """How many exports are running. As PyTorch's mark it holds for all threads."""

    running = 0


_EXPORTS = _Exports()


def is_in_onnx_export() -> bool:
    """Whether the code runs for an export to ONNX: it may choose what has an ONNX form."""
    return _EXPORTS.running > 0


@contextmanager
def exporting() -> Iterator[None]:
    """Within it code is exported."""
    _EXPORTS.running += 1
    try:
        yield
    finally:
        _EXPORTS.running -= 1
