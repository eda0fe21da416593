"""Running ONNX models: by onnxruntime where it is installed, else by graphwright's own reader."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphwright.onnx.errors import OnnxExporterError
from graphwright.runtime.tensor.from_data import from_numpy
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.files import contiguous

Run = Callable[[Sequence[Tensor]], list[Tensor]]
"""A model: tensors in the order of its inputs to tensors in the order of its outputs."""

class NoRunner(OnnxExporterError):
    """No installed library can run a model."""


def runner(model: bytes | str, names: Sequence[str], own: Any) -> tuple[str, Run]:
    """What runs a model, by name.

    Args:
        model: the file's bytes, or its path.
        names: the inputs, in order.
        own: gives the `onnx.ModelProto`, for graphwright's own reader.

    Raises: NoRunner where there is neither library, or neither can run it.
    """
    reason = "onnxruntime is not installed"
    if importlib.util.find_spec("onnxruntime") is not None:
        try:
            return "onnxruntime", _by_onnxruntime(model, names)
        except _Lacks as error:
            reason = f"onnxruntime cannot run it ({error})"
    if importlib.util.find_spec("graphwright.onnx.importing") is not None:
        public = importlib.import_module("graphwright.onnx")
        try:
            return "graphwright.onnx.load", _by_graphwright(public.load(own()))
        except public.UnsupportedOperators as error:
            reason = f"{reason}, and graphwright.onnx.load cannot read it ({error})"
    raise NoRunner(f"the file cannot be verified: {reason}. Install onnxruntime where it can run "
                   "such a model, or pass verify=False")


class _Lacks(Exception):
    """onnxruntime has no kernel for an operator and dtype of the model."""


def _by_onnxruntime(model: bytes | str, names: Sequence[str]) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    refusals = onnxruntime.capi.onnxruntime_pybind11_state
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except refusals.NotImplemented as error:
        raise _Lacks(str(error).splitlines()[0]) from None
    except (refusals.InvalidGraph, refusals.Fail) as error:
        raise _Lacks(str(error).splitlines()[0]) from None
    given = {one.name for one in session.get_inputs()}
    for one in (*session.get_inputs(), *session.get_outputs()):
        if "bfloat16" in one.type or "float8" in one.type:      # NumPy has no such arrays
            raise _Lacks(f"'{one.name}' is a {one.type}")
    results = [one.name for one in session.get_outputs()]

    def run(tensors: Sequence[Tensor]) -> list[Tensor]:
        feeds = {name: contiguous(tensor)
                 for name, tensor in zip(names, tensors, strict=True) if name in given}
        try:
            found = session.run(results, feeds)
        except (refusals.Fail, refusals.InvalidArgument, refusals.RuntimeException) as error:
            raise OnnxExporterError(f"onnxruntime refuses to run the file: {error}") from None
        return [from_numpy(np.asarray(one)) for one in found]

    return run


def _by_graphwright(module: Callable[..., Any]) -> Run:
    def run(tensors: Sequence[Tensor]) -> list[Tensor]:
        found = module(*tensors)
        return list(found) if isinstance(found, tuple | list) else [found]

    return run
