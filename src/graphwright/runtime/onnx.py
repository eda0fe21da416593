"""What model code asks of `torch.onnx`: whether it is being exported. It never is."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["ONNXProgram", "OnnxExporterError", "export", "is_in_onnx_export"]


class OnnxExporterError(RuntimeError):
    """What goes wrong in an export."""


class ONNXProgram:
    """What an export gives; there are none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError("graphwright does not write ONNX: there are no ONNX programs")


def is_in_onnx_export() -> bool:
    """Whether the code runs for an export: False."""
    return False


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    raise NotImplementedError(
        "onnx.export: graphwright does not write ONNX. Save the weights (torch.save of "
        "model.state_dict()) and export where PyTorch is installed"
    )
