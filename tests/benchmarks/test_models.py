"""The models that benchmarks measure: one graph each, eager's results, and what rows say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.architectures.cases import CASES, Case, drawn_weights
from benchmarks.model_process import LIBRARIES, distance, doubles
from benchmarks.models import NEEDS, Found, prepare, rows_of, summary_of
from tests.benchmarks.small import SMALL

import graphwright as gw


def run(lib: Any, case: Case, compiled: bool = False) -> list[np.ndarray]:
    model = case.model(lib, drawn_weights(case.build(gw, **case.sizes)))
    function = lib.compile(model, fullgraph=True) if compiled else model
    with lib.no_grad():
        return doubles(function(*map(lib.from_numpy, case.arguments())))


@pytest.mark.parametrize("name", SMALL)
def test_each_model_is_one_graph_with_eagers_results(name: str) -> None:
    case = SMALL[name]
    tolerance = 3e-2 if case.dtype == "bfloat16" else 1e-5
    for found, wanted in zip(run(gw, case, compiled=True), run(gw, case), strict=True):
        assert found.shape == wanted.shape and np.isfinite(wanted).all()
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.oracle
@pytest.mark.parametrize("name", SMALL)
def test_each_model_is_the_same_over_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    case = SMALL[name]
    tolerance = 3e-2 if case.dtype == "bfloat16" else 1e-4
    for found, wanted in zip(run(gw, case), run(torch, case), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.oracle
@pytest.mark.parametrize("name", [name for name, case in SMALL.items() if case.jax_form])
def test_forms_for_jax_are_the_same_models(name: str, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    case = SMALL[name]
    np.savez(tmp_path / "weights.npz", **drawn_weights(case.build(gw, **case.sizes)))
    tolerance = 3e-2 if case.dtype == "bfloat16" else 1e-4
    (found,), (wanted,) = doubles(LIBRARIES["JAX jit"](case, tmp_path)()()), run(gw, case)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_small_models_are_of_all_architectures_that_are_measured() -> None:
    assert {case.build for case in CASES.values()} == {case.build for case in SMALL.values()}
    assert len(CASES) == 25
    assert {*NEEDS, "eager"} == set(LIBRARIES)


def test_a_prepared_case_has_its_weights_and_results_in_float64(tmp_path: Path) -> None:
    notes: list[str] = []
    case = SMALL["bert"]._replace(published=tmp_path / "absent.safetensors")
    error = prepare(case, tmp_path, notes)
    assert notes == ["random weights: `make minilm` fetches the published ones"]
    with np.load(tmp_path / "exact.npz") as exact, np.load(tmp_path / "weights.npz") as weights:
        (array,) = exact.values()
        assert array.dtype == np.float64
        assert distance(gw.from_numpy(array), [array]) == 0
        assert "encoder.layer.0.attention.self.query.weight" in weights
    assert 0 < error < 1e-6


# -- rows


def said(seconds: float, error: float = 1e-7) -> dict[str, float]:
    return {"first_s": 10 * seconds, "rmse": error, "peak_bytes": 5e7, "median_s": seconds,
            "spread": 0.1, "least_s": seconds}


def found(**turns: dict[str, float]) -> Found:
    named = {name.replace("_", " "): values for name, values in turns.items()}
    return Found(SMALL["bert"], 1e-7, named, named, ["a note"])


def test_the_target_is_a_share_of_the_best_peers_time() -> None:
    one = found(graphwright=said(0.002), eager=said(0.001), torch_eager=said(0.004),
                OpenVINO=said(0.0015))
    row, cold, warm, peak = rows_of(one)
    assert (row.unit, row.value, row.target) == ("ms", 2.0, pytest.approx(1.5 / 0.9))
    assert row.met is False and row.spread == 0.1
    assert row.peers == {"eager": 1.0, "torch eager": 4.0, "OpenVINO": 1.5}
    assert row.note == (
        "0.75x the best peer, 0.75x by the least times; RMSE 1.00x eager's; a note")
    assert (cold.value, warm.value, peak.value) == (0.02, 0.02, 50.0)
    assert peak.peers == {"torch eager": 50.0, "OpenVINO": 50.0}
    mean, worst, error = summary_of([one, found(graphwright=said(1.0), OpenVINO=said(3.0))])
    assert mean.value == pytest.approx((4 / 9) ** 0.5) and mean.met
    assert worst.value == pytest.approx(4 / 3) and worst.met is False
    assert error.value == 1.0 and error.met


def test_without_peers_there_is_no_target() -> None:
    one = found(graphwright=said(0.002), eager=said(0.001))
    row = next(rows_of(one))
    assert row.target is None and row.value == 2.0 and row.note == "RMSE 1.00x eager's; a note"
    assert [result.name for result in summary_of([one])] == [
        "all models: distance from float64, worst"]


def test_a_result_that_is_far_from_float64_is_not_timed() -> None:
    row = next(rows_of(found(graphwright=said(0.002, error=3e-7), eager=said(0.001))))
    assert row.value is None and row.met is False and row.note.startswith("RMSE 3.00x eager's")
