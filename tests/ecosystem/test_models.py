"""Tiny models of transformers and timm: eagerly and compiled they do what PyTorch recorded."""

from __future__ import annotations

import pytest

from .record import recorded
from .rows import Rows
from .tables import MODELS


@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_pytorch_s_results_eagerly_and_compiled(name: str, rows: Rows) -> None:
    case = MODELS[name]
    row = rows.row(name, case.kind, recorded(case))
    assert not row.error
    assert row.eager == []
    assert row.compiled == []
    if not case.decides:
        assert row.breaks == row.decoding.get("breaks", []) == []
        assert row.decoding.get("graphs", 0) <= case.compilations
