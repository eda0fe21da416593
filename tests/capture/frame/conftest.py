"""What tests of the frame hook share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture
def no_collection_by_itself() -> Iterator[None]:
    """A finalizer's frame is offered to the hook too, whenever a collection happens."""
    gc.disable()
    yield
    gc.enable()
