"""Whether code runs for an export to ONNX."""

from __future__ import annotations

from graphwright.compat.compiler_marks import Exports

EXPORTS = Exports()


def is_in_onnx_export() -> bool:
    """Whether the code runs for an export to ONNX: it may choose what has an ONNX form."""
    return EXPORTS.running > 0
