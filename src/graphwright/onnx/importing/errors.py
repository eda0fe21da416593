"""What loading a model refuses."""

from __future__ import annotations

from collections.abc import Iterable


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
