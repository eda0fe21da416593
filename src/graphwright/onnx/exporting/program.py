"""`ONNXProgram`: an ONNX model and the program that it was made from."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from graphwright.export.exported_program import ExportedProgram
from graphwright.onnx.exporting.preparing import Prepared
from graphwright.onnx.exporting.running import Run, runner
from graphwright.onnx.exporting.translation import OnnxGraph
from graphwright.onnx.exporting.verifying import Verification
from graphwright.onnx.exporting.writing import (
    LARGEST,
    check_valid,
    model_of,
    weight_bytes,
    write,
)
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import tree_flatten


class ONNXProgram:
    """What `gw.onnx.export` gives.

    Attributes:
        exported_program: the program that the model was made from.
        verified_by: what ran the model and agreed, "onnxruntime" or "graphwright.onnx.load"; None
            where `verify=False`.

    Calling it runs the model, on the arguments of the program, and gives the list of its outputs:
    the tensors of the result in order, then those that the program writes in place.
    """

    def __init__(
        self, program: ExportedProgram, prepared: Prepared, graph: OnnxGraph,
        keep_inputs: bool = False,
    ) -> None:
        self.exported_program = program
        self.verified_by: str | None = None
        self._prepared, self._graph, self._keep_inputs = prepared, graph, keep_inputs
        self._run: Run | None = None

    @property
    def model_proto(self) -> Any:
        """The `onnx.ModelProto`, weights included."""
        return model_of(self._graph, keep_inputs=self._keep_inputs)

    def save(
        self, destination: str | os.PathLike[str], *, include_initializers: bool = True,
        keep_initializers_as_inputs: bool = False, external_data: bool | None = None,
    ) -> None:
        """Write the model to a file, whole or not at all.

        Args:
            destination: the path.
            include_initializers: has to be True.
            keep_initializers_as_inputs: list the weights among the inputs, where a caller can
                give others.
            external_data: write large tensors to a second file, `destination` with ".data";
                None: where the model would be larger than the 2 GB that one file can hold.

        Raises: OSError where the path cannot be written.
        """
        if not include_initializers:
            raise NotImplementedError("ONNXProgram.save: include_initializers=False is not there: "
                                      "graphwright writes no models without weights")
        write(self._graph, destination, external=self._is_external(external_data),
              keep_inputs=keep_initializers_as_inputs or self._keep_inputs)

    def _is_external(self, asked: bool | None) -> bool:
        return weight_bytes(self._graph) > LARGEST if asked is None else asked

    def publish(
        self, path: str | os.PathLike[str] | None, external_data: bool | None,
        example: tuple[Any, ...] | None,
    ) -> None:
        """Check that the model is valid, verify it on an example unless that is None, and then
        write to a path if there is one."""
        check = None if example is None else Verification(
            self.exported_program, self._prepared, self._graph, example)
        if self._is_external(external_data):
            self._published(path, check)
            return
        model = self.model_proto
        check_valid(model)
        if check is not None:
            self.verified_by = check.check(model.SerializeToString())
        if path is not None:
            self.save(path, external_data=False)

    def _published(self, path: str | os.PathLike[str] | None, check: Verification | None) -> None:
        """Check files beside the path, then move them there."""
        place = None if path is None else Path(os.path.realpath(path))
        folder = None if place is None else place.parent
        with tempfile.TemporaryDirectory(prefix=".onnx-", dir=folder) as hidden:
            name = "model.onnx" if place is None else place.name
            written = write(self._graph, Path(hidden) / name, external=True,
                            keep_inputs=self._keep_inputs)
            check_valid(written[-1])
            if check is not None:
                self.verified_by = check.check(written[-1])
            if folder is not None:
                for one in written:
                    os.replace(one, folder / os.path.basename(one))

    def __call__(self, *args: Any, **kwargs: Any) -> list[Tensor]:
        if self._run is None:
            names = [one.name for one in self._graph.inputs]
            _, self._run = runner(self.model_proto.SerializeToString(), names)
        leaves, _ = tree_flatten((args, kwargs))
        return self._run([one for one in leaves if isinstance(one, Tensor)])

    def __repr__(self) -> str:
        nodes, weights = len(self._graph.nodes), weight_bytes(self._graph)
        inputs = ", ".join(one.name for one in self._graph.inputs)
        outputs = ", ".join(one.name for one in self._graph.outputs)
        return (f"ONNXProgram({nodes} nodes, opset {self._graph.opset}, {weights:,} bytes of "
                f"weights; {inputs} -> {outputs})")
