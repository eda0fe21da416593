"""What reading and writing ONNX files refuses."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module


class OnnxExporterError(RuntimeError):
    """A program that has no ONNX form, or whose file computes something else.

    The message names ops and the user's lines where there are some, and says what to do.
    """


class InvalidModel(ValueError):
    """A model that is cut short, damaged or not well-formed, or whose weights do not fit it.

    Raised by `load`, and by the call of a loaded model for a node that its inputs do not fit.
    """


class UnsupportedOperators(NotImplementedError):
    """A model uses operators that cannot be computed here.

    Attributes:
        operators: all of them, as "domain.Name version", sorted.
    """

    def __init__(self, operators: Iterable[str]) -> None:
        self.operators = sorted(set(operators))
        super().__init__(
            "graphwright.onnx.load: no implementation of these operators: "
            + ", ".join(self.operators)
        )


def require_onnx(name: str) -> None:
    """Raise an ImportError that says what `name` needs where the onnx library is not installed."""
    try:
        import_module("onnx")
    except ImportError as error:
        raise ImportError(
            f"{name} needs the onnx library: pip install 'graphwright[onnx]'") from error
