"""Tiny models of transformers and timm: eagerly and compiled they do what PyTorch recorded."""

from __future__ import annotations

import pytest

from .record import recorded
from .rows import Rows
from .tables import MODELS

NOT_EXPORTED = frozenset({
    *("deberta", "jetmoe", "led", "llava", "prophetnet", "recurrent_gemma"),
    *("switch_transformers", "vilt", "wav2vec2"),
})
"""Models that decide by the values of tensors, or assign tensors to attributes."""


@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_pytorch_s_results_eagerly_and_compiled(name: str, rows: Rows) -> None:
    case = MODELS[name]
    row = rows.row(name, case.kind, recorded(case))
    assert not row.error
    assert row.eager == []
    assert row.compiled == []
    if row.exported:
        assert name in NOT_EXPORTED and row.exported[0].startswith("refused: ")
    if not case.decides:
        assert row.breaks == row.decoding.get("breaks", []) == []
        assert row.decoding.get("graphs", 0) <= case.compilations
