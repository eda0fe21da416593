"""Small ONNX models that tests make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

FLOAT, INT64, BOOL, STRING = 1, 7, 9, 8
Declared = tuple[int, Sequence[int | str | None]]


def value(name: str, kind: int = FLOAT, shape: Sequence[int | str | None] | None = None) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, kind, shape)


def model(
    nodes: Sequence[Any], inputs: Mapping[str, Declared], outputs: Sequence[str],
    held: Mapping[str, Any] | None = None, opset: int = 17, functions: Sequence[Any] = (),
    domains: Mapping[str, int] | None = None,
) -> Any:
    """A model of nodes; `held` are its initializers, as arrays."""
    from onnx import helper, numpy_helper

    graph = helper.make_graph(
        list(nodes), "graph", [value(name, *declared) for name, declared in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (held or {}).items()],
    )
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(name, version) for name, version in (domains or {}).items()]
    return helper.make_model(
        graph, opset_imports=imports, functions=list(functions), ir_version=10
    )


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], **options: Any) -> Any:
    from onnx import helper

    return helper.make_node(op, list(inputs), list(outputs), **options)
