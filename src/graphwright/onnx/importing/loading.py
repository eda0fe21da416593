"""`load`: from a file to a module."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from graphwright.onnx.errors import InvalidModel, require_onnx
from graphwright.onnx.importing.graphs import Resolver
from graphwright.onnx.importing.model import OnnxModule
from graphwright.runtime.collecting import collector_at_rest


def load(model: Any, *, folder: str | os.PathLike[str] | None = None) -> OnnxModule:
    """Read an ONNX model as a module, which runs eagerly and compiled, and which trains.

    Initializers of floating-point numbers become parameters under their names in the file; those
    without dims, statistics and sizes become buffers, as other initializers do. A call takes the
    graph's inputs in order, or by name, as tensors (NumPy arrays of str for strings, lists for
    sequences), and returns the output, or a tuple of several. Needs the `onnx` library,
    `pip install graphwright[onnx]`.

    Args:
        model: a path, the file's bytes, or an onnx.ModelProto.
        folder: where external data are, by default the folder of the path.

    Returns:
        the module, in training mode as modules are; ONNX's operators do not look at it.

    Raises:
        InvalidModel: the file is cut short, damaged or not well-formed, its external data lie
            outside of the folder or are too short, or its weights do not fit the graph.
        UnsupportedOperators: operators that are not there, all of them by name and version.
        FileNotFoundError: there is no file at the path.
        ImportError: the `onnx` library is not installed.

    Example:
        >>> model = gw.onnx.load("model.onnx")  # doctest: +SKIP
        >>> fast = gw.compile(model)  # doctest: +SKIP
    """
    require_onnx("graphwright.onnx.load")
    proto, found = _read(model)
    if folder is not None:
        found = Path(folder)
    with collector_at_rest():
        resolver = Resolver(proto, found)
        graph = resolver.resolve()
    return OnnxModule(graph, resolver.inputs(), resolver.constants, resolver.trained,
                      resolver.passing)


def _read(model: Any) -> tuple[Any, Path | None]:
    """The ModelProto, and the folder of its file if it has one."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    if isinstance(model, ModelProto):
        return model, None
    folder = None
    if isinstance(model, (str, os.PathLike)):
        path = Path(model)
        folder = path.parent
        model = path.read_bytes()
    if not isinstance(model, (bytes, bytearray, memoryview)):
        raise TypeError(
            f"onnx.load() takes a path, bytes or a ModelProto, not {type(model).__name__}"
        )
    proto = ModelProto()
    try:
        proto.ParseFromString(bytes(model))
    except DecodeError as error:
        raise InvalidModel(f"not an ONNX model, or one that is cut short: {error}") from error
    return proto, folder
