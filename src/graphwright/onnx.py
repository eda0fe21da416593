"""What model code asks of `torch.onnx`: whether it is being exported. It never is."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NoReturn

from graphwright.runtime.naming import missing

__all__ = [
    "ONNXProgram", "OnnxExporterError", "export", "is_in_onnx_export",
    "register_custom_op_symbolic", "unregister_custom_op_symbolic",
]  # fmt: skip

__path__: list[str] = []


def __getattr__(name: str) -> Any:
    """The modules that ops are described with."""
    if not name.startswith(("symbolic_opset", "symbolic_helper")):
        raise missing(__name__, name)
    return import_module("graphwright.compat.onnx_symbols")


class OnnxExporterError(RuntimeError):
    """What goes wrong in an export."""


class ONNXProgram:
    """What an export gives; there are none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError("graphwright does not write ONNX: there are no ONNX programs")


def is_in_onnx_export() -> bool:
    """Whether the code runs for an export: False."""
    return False


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Any, opset_version: int, custom_opsets: Any = None
) -> None:
    """Without effect: how an op would be exported is not asked for."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Without effect, too."""


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    raise NotImplementedError(
        "onnx.export: graphwright does not write ONNX. Save the weights (torch.save of "
        "model.state_dict()) and export where PyTorch is installed"
    )
