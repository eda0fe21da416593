"""`gw.onnx`: programs as ONNX files, after `torch.onnx`, and ONNX files as modules.

`export` writes a function or module as an ONNX model, and runs the file before it leaves it;
`load` reads a model as a module.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphwright.onnx.errors import OnnxExporterError
from graphwright.onnx.marks import is_in_onnx_export
from graphwright.runtime.naming import missing

if TYPE_CHECKING:
    from graphwright.onnx.exporting.program import ONNXProgram
    from graphwright.onnx.importing.errors import InvalidModel, UnsupportedOperators
    from graphwright.onnx.importing.loading import load

__all__ = [
    "InvalidModel", "ONNXProgram", "OnnxExporterError", "UnsupportedOperators", "export",
    "is_in_onnx_export", "load", "register_custom_op_symbolic", "unregister_custom_op_symbolic",
]  # fmt: skip

_LAZY = {
    "InvalidModel": "importing.errors", "ONNXProgram": "exporting.program",
    "UnsupportedOperators": "importing.errors", "load": "importing.loading",
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


_REFUSED: dict[str, tuple[Any, str]] = {
    "custom_translation_table": (None, "graphwright exports by its own forms"),
    "custom_opsets": (None, "graphwright writes ONNX's own operators only"),
    "export_modules_as_functions": (False, "graphwright writes one flat graph"),
    "export_params": (True, "graphwright writes no models without weights"),
    "report": (False, "`verify` says what is wrong with a file"),
    "profile": (False, "gw.profiler measures an export"),
    "dump_exported_program": (False, "gw.export.save writes the exported program"),
}
"""Options of PyTorch's that mean something else than the default: their default, and why not."""
_WITHOUT_EFFECT = frozenset([
    "verbose", "dynamo", "optimize", "fallback", "artifacts_dir", "do_constant_folding",
    "autograd_inlining", "training", "operator_export_type",
])
"""Options of PyTorch's that choose among its exporters, or what it prints."""


def _check_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name in _REFUSED:
            default, why = _REFUSED[name]
            if value is not default and value != default:
                raise NotImplementedError(f"onnx.export: {name}={value!r} is not there: {why}")
        elif name not in _WITHOUT_EFFECT:
            raise TypeError(f"onnx.export() got an unexpected keyword argument '{name}'")


def export(
    model: Callable[..., Any], args: tuple[Any, ...] = (),
    f: str | os.PathLike[str] | None = None, *, kwargs: dict[str, Any] | None = None,
    input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None,
    opset_version: int | None = None, dynamic_shapes: Any = None,
    dynamic_axes: Mapping[str, Any] | None = None, verify: bool = True,
    external_data: bool | None = None, keep_initializers_as_inputs: bool = False,
    strict: bool = False, **options: Any,
) -> Any:
    """Write a function or a module as an ONNX model.

    The call is recorded as by `gw.export.export`, in the mode, training or eval, that the module
    is in. Ops that ONNX has stay whole; others become those that they are made
    of. What the program writes in place (statistics of batch norm, a cache among the arguments)
    is a further output, NAME_updated.

    Args:
        model: a function, an `nn.Module` or an `ExportedProgram`.
        args: its arguments, tensors and containers of them; one tensor alone is one argument.
        f: the path of the file; None: nothing is written.
        kwargs: arguments by keyword.
        input_names, output_names: names of the first inputs and outputs; others are named after
            the program's arguments and ops.
        opset_version: from 18 to 26, 23 if None: the first with Attention.
        dynamic_shapes: as `gw.export.export` takes it; a text stands for `Dim.DYNAMIC` with that
            name.
        dynamic_axes: the same in PyTorch's older form, by `input_names`.
        verify: run the model before anything is written, on the arguments and on other sizes,
            and compare with the program.
        external_data: write large tensors to a second file, `f` with ".data"; None: where the
            model would be larger than the 2 GB that one file can hold.
        keep_initializers_as_inputs: list the weights among the inputs.
        strict: also follow the function's bytecode, as `gw.export.export` does; PyTorch's export
            to ONNX does not.
        options: PyTorch's other options; those that would change the file are refused.

    Returns: an `ONNXProgram`: `model_proto`, `save(path)`, and the model itself to be called.

    Raises:
        OnnxExporterError: (a RuntimeError) the function is no single graph, has ops without an
            ONNX form (all are named), holds for fewer sizes than asked for, or its model computes
            something else (the first value that differs is named); nothing is written.
        ImportError: the package onnx is not installed.
        OSError: the path cannot be written.
        TypeError, NotImplementedError: an option that there is not.

    Example:
        >>> batch = gw.export.Dim("batch")
        >>> layer = gw.nn.Linear(4, 2)
        >>> made = gw.onnx.export(layer, (gw.rand(3, 4),), dynamic_shapes=({0: batch},))
        >>> [node.op_type for node in made.model_proto.graph.node]
        ['Gemm']
    """
    _check_options(options)
    exporter = import_module("graphwright.onnx.exporting.exporter")
    return exporter.export_model(
        model, tuple(args) if isinstance(args, tuple | list) else (args,), f,
        kwargs=dict(kwargs or {}), input_names=list(input_names or ()),
        output_names=list(output_names or ()), opset_version=opset_version,
        dynamic_shapes=dynamic_shapes, dynamic_axes=dynamic_axes, verify=verify,
        external_data=external_data, keep_initializers_as_inputs=keep_initializers_as_inputs,
        strict=strict)
