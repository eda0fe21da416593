"""ONNX graphs as protobuf messages and files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from graphwright.onnx.element_types import ELEMENT_TYPES
from graphwright.onnx.errors import OnnxExporterError
from graphwright.onnx.exporting.builder import Value
from graphwright.onnx.exporting.translation import OnnxGraph, dim_text
from graphwright.saving.files import write_atomically
from graphwright.version import __version__

IR_VERSION = 10
"""The first version with metadata of nodes; runtimes read all older ones."""
LARGEST = (1 << 31) - (1 << 20)
"""Bytes of tensors beyond which they lie in a file of their own: protobuf ends at 2 GB."""
_ALIGNMENT = 64


def weight_bytes(graph: OnnxGraph) -> int:
    """The bytes of all tensors of a graph."""
    return sum(array.nbytes for array, _ in graph.initializers.values())


def model_of(
    graph: OnnxGraph, *, external: str | None = None, keep_inputs: bool = False,
    also: list[Value] | None = None,
) -> Any:
    """The `onnx.ModelProto` of a graph.

    external: the name of the file that tensors lie in, in the order of `_places`.
    keep_inputs: list tensors among the inputs, where a caller can replace them. also: values that
    are further outputs.
    """
    import onnx

    names = {one.name for one in graph.outputs}
    outputs = [*graph.outputs, *[one for one in also or [] if one.name not in names]]
    inputs = list(graph.inputs)
    if keep_inputs:
        inputs += [Value(name, dtype, array.shape)
                   for name, (array, dtype) in graph.initializers.items()]
    proto = onnx.helper.make_graph(
        graph.nodes, "main", [_typed(one, graph) for one in inputs],
        [_typed(one, graph) for one in outputs],
        value_info=[_typed(one, graph) for one in graph.info if also is None])
    places = dict(_places(graph)) if external is not None else {}
    for name, (array, dtype) in graph.initializers.items():
        tensor = proto.initializer.add()
        tensor.name, tensor.data_type = name, ELEMENT_TYPES[dtype]
        tensor.dims.extend(array.shape)
        if name in places:
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", external), ("offset", places[name]),
                               ("length", array.nbytes)):
                tensor.external_data.add(key=key, value=str(value))
        else:
            tensor.raw_data = array.tobytes()
    model = onnx.helper.make_model(
        proto, opset_imports=[onnx.helper.make_opsetid("", graph.opset)], ir_version=IR_VERSION,
        producer_name="graphwright", producer_version=__version__)
    for key, text in graph.properties.items():
        model.metadata_props.add(key=key, value=text)
    return model


def _typed(value: Value, graph: OnnxGraph) -> Any:
    import onnx

    shape = [dim_text(size, graph.dims) for size in value.shape]
    return onnx.helper.make_tensor_value_info(value.name, ELEMENT_TYPES[value.dtype], shape)


_SMALL = 1024
"""Tensors of fewer bytes stay in the file itself, where readers look for shapes and axes."""


def _places(graph: OnnxGraph) -> Iterator[tuple[str, int]]:
    """Where each large tensor begins in the file beside."""
    end = 0
    for name, (array, _) in graph.initializers.items():
        if array.nbytes >= _SMALL:
            begin = -(-end // _ALIGNMENT) * _ALIGNMENT
            yield name, begin
            end = begin + array.nbytes


def _external_parts(graph: OnnxGraph) -> Iterator[Any]:
    """The bytes of that file."""
    end = 0
    for name, begin in _places(graph):
        array = graph.initializers[name][0]
        yield bytes(begin - end)
        yield array.reshape(-1).view("uint8").data
        end = begin + array.nbytes


def write(
    graph: OnnxGraph, path: str | os.PathLike[str], *, external: bool, keep_inputs: bool = False
) -> list[str]:
    """Write a graph to a path, each file whole or not at all; with `external` its large tensors
    to the same name with `.data`. Returns the paths, the model's last."""
    target = os.fspath(path)
    beside = f"{target}.data" if external else None
    model = model_of(graph, external=None if beside is None else os.path.basename(beside),
                     keep_inputs=keep_inputs)
    if beside is not None:
        write_atomically(beside, _external_parts(graph))
    write_atomically(target, [model.SerializeToString()])
    return [target] if beside is None else [beside, target]


def check_valid(model: Any) -> None:
    """Raise OnnxExporterError for a model, or the path of one, that ONNX's rules forbid."""
    import onnx

    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise OnnxExporterError(f"the model would not be valid: {error}") from None
