"""Commands within the test process: files for PyTorch are loaded in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import graphwright as gw


@pytest.fixture(autouse=True)
def torch_means_nothing_here() -> Iterator[None]:
    """The stand-in cannot be taken back: a test that installed it would change those after it."""
    yield
    assert gw.__name__ == "graphwright"
