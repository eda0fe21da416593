"""A real use of each further library gives what PyTorch recorded, eagerly and compiled."""

from __future__ import annotations

import pytest

from .record import recorded
from .rows import Rows
from .uses import USES


@pytest.mark.parametrize("name", USES)
def test_a_library_gives_the_same_results_as_under_pytorch(name: str, rows: Rows) -> None:
    use = USES[name]
    row = rows.row(name, use.kind, recorded(use))
    assert not row.error
    assert row.eager == []
    assert row.compiled == []
