"""The tests that the onnx library has for backends, as cases that run eagerly and compiled."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import graphwright as gw

RANDOM = "random numbers: those of NumPy's generator are expected"
NOISE = "numbers near 0 are expected as they are after float32 rounding in NumPy"
HALF = "float16: NumPy rounds other intermediate results, by more than the tolerance"
WHOLE = (
    "align_corners takes the size of the output, as the specification and ONNX Runtime do; "
    "the test takes its input's size times the scale"
)
UNDEFINED = (
    "numbers beyond the type's range, whose cast ONNX leaves undefined: what is expected depends "
    "on the version of ml_dtypes"
)
REASONS = {
    "bernoulli(_double|_seed)?(_expanded)?": RANDOM,
    "training_dropout(_default)?(_mask)?": RANDOM,
    "dft_inverse(_opset19)?": NOISE,
    "attention_4d_causal_fp16(_expanded)?": HALF,
    "linear_attention_fp16": HALF,
    "resize_downsample_scales_(cubic|linear)_align_corners": WHOLE,
    "cast(like)?_FLOAT(16)?_to_U?INT[24](_expanded)?": UNDEFINED,
    "loop16_seq_none": "a sequence of tensors of which one has no dims: onnx cannot compare it",
}
"""Pattern of a test's name without "test_" -> why it does not pass."""


class Case(NamedTuple):
    """One test: a model, or the folder of one, and how close results have to be."""

    name: str
    kind: str
    test: Any

    def __str__(self) -> str:
        return self.name


@functools.cache
def cases(kind: str) -> list[Case]:
    """All tests of a kind, "node", "pytorch-converted", "pytorch-operator" or "simple"."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of the overflows that tests are about
        found = load_model_tests(kind=kind)
    return [Case(test.name, kind, test) for test in sorted(found, key=lambda test: test.name)]


def reason(case: Case) -> str | None:
    """Why a test does not pass; None for those that do."""
    if case.kind != "node":
        return None
    name = case.name.removeprefix("test_")
    return next((why for pattern, why in REASONS.items()
                 if re.fullmatch(pattern, name)), None)


def run(case: Case, compiled: bool) -> None:
    """Run one test through onnx.backend's interface; raises what is wrong."""
    from onnx.backend.test.runner import Runner

    from graphwright.onnx.backend import GraphwrightBackend

    model = case.test.model or _read(case)
    prepared = GraphwrightBackend.prepare(model, "CPU", compiled=compiled)
    for inputs, expected in _data_sets(case, model):
        found = prepared.run(inputs)
        Runner.assert_similar_outputs(expected, list(found), case.test.rtol, case.test.atol)


def _read(case: Case) -> Any:
    import onnx

    return onnx.load(Path(case.test.model_dir) / "model.onnx")


def _data_sets(case: Case, model: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    from onnx.backend.test.runner import Runner, _normalize_tensor

    for inputs, outputs in case.test.data_sets or ():
        yield [_normalize_tensor(x) for x in inputs], [_normalize_tensor(x) for x in outputs]
    if case.test.data_sets is not None:
        return
    for folder in sorted(Path(case.test.model_dir).glob("test_data_set*")):
        found: list[list[Any]] = []
        for title, values in (("input", model.graph.input), ("output", model.graph.output)):
            found.append([])
            for i in range(len(list(folder.glob(f"{title}_*.pb")))):
                path = str(folder / f"{title}_{i}.pb")
                Runner._load_proto(None, path, found[-1], values[i].type)
        yield found[0], found[1]


WRONG = (AssertionError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)


def outcome(case: Case, compiled: bool) -> str | None:
    """None where the test passes, else what it says."""
    try:
        run(case, compiled)
    except WRONG as error:
        return f"{type(error).__name__}: {error}"
    finally:
        if compiled:
            gw.compiler.reset()
    return None
