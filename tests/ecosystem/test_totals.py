"""How the models that this run compiled were captured, all together."""

from __future__ import annotations

import pytest

from .rows import Rows
from .tables import MODELS


@pytest.fixture
def complete(rows: Rows) -> Rows:
    if not rows.rows.keys() >= MODELS.keys():
        pytest.skip("a share of all models, and not all ran")
    return rows


def test_models_are_nearly_all_whole_graphs(complete: Rows) -> None:
    models = [row for row in complete.rows.values() if row.compiled is not None]
    whole = [row for row in models if not row.breaks]
    assert len(whole) >= 0.95 * len(models)


def test_breaks_are_at_most_five_per_thousand_nodes(complete: Rows) -> None:
    broken = sum(len(row.breaks) for row in complete.rows.values())
    nodes = sum(row.nodes for row in complete.rows.values())
    assert 1000 * broken <= 5 * nodes
