"""Running ONNX models: by onnxruntime where it can, else by graphwright's own reader."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphwright.onnx.errors import OnnxExporterError, UnsupportedOperators
from graphwright.onnx.importing.loading import load
from graphwright.runtime.tensor.from_data import from_numpy
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.files import contiguous

Run = Callable[[Sequence[Tensor]], list[Tensor]]
"""A model: tensors in the order of its inputs to tensors in the order of its outputs."""


class NoRunner(OnnxExporterError):
    """Neither onnxruntime nor graphwright can run a model."""


def runner(model: bytes | str, names: Sequence[str]) -> tuple[str, Run]:
    """What runs a model, by name.

    Args:
        model: the file's bytes, or its path.
        names: the inputs, in order.

    Raises: NoRunner where neither can run it.
    """
    reason = "onnxruntime is not installed"
    if importlib.util.find_spec("onnxruntime") is not None:
        try:
            return "onnxruntime", _by_onnxruntime(model, names)
        except _Lacks as error:
            reason = f"onnxruntime cannot run it ({error})"
    try:
        return "graphwright.onnx.load", _by_graphwright(load(model))
    except UnsupportedOperators as error:
        raise NoRunner(
            f"the file cannot be verified: {reason}, and graphwright.onnx.load cannot read it "
            f"({error}). Install onnxruntime where it can run such a model, or pass verify=False"
        ) from None


class _Lacks(Exception):
    """onnxruntime has no kernel for an operator and dtype of the model."""


def _by_onnxruntime(model: bytes | str, names: Sequence[str]) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    refusals = onnxruntime.capi.onnxruntime_pybind11_state
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except (refusals.NotImplemented, refusals.InvalidGraph, refusals.Fail) as error:
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
