"""What ONNX export refuses."""

from __future__ import annotations


class OnnxExporterError(RuntimeError):
    """A program that has no ONNX form, or whose file computes something else.

    The message names ops and the user's lines where there are some, and says what to do.
    """
