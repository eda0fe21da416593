"""`gw.onnx`: programs as ONNX files, after `torch.onnx`, and ONNX files as modules.

`export` writes a function or module as an ONNX model, and runs the file before it leaves it;
`load` reads a model as a module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphwright.onnx.errors import InvalidModel, OnnxExporterError, UnsupportedOperators
from graphwright.onnx.marks import is_in_onnx_export
from graphwright.runtime.naming import missing

if TYPE_CHECKING:
    from graphwright.onnx.exporting.exporter import export
    from graphwright.onnx.exporting.program import ONNXProgram
    from graphwright.onnx.importing.loading import load

__all__ = [
    "InvalidModel", "ONNXProgram", "OnnxExporterError", "UnsupportedOperators", "export",
    "is_in_onnx_export", "load", "register_custom_op_symbolic", "unregister_custom_op_symbolic",
]  # fmt: skip

_LAZY = {
    "ONNXProgram": "exporting.program", "export": "exporting.exporter",
    "load": "importing.loading",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """What reads and writes models, imported when asked for, and PyTorch's modules of symbols."""
    if name in _LAZY:
        module = import_module(f"graphwright.onnx.{_LAZY[name]}")
        globals()[name] = getattr(module, name)
        return globals()[name]
    if not name.startswith(("symbolic_opset", "symbolic_helper")):
        raise missing(__name__, name)
    return import_module("graphwright.compat.onnx_symbols")


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Any, opset_version: int, custom_opsets: Any = None
) -> None:
    """Without effect: how an op of TorchScript would be exported is not asked for."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Without effect, too."""
