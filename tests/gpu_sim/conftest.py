"""The driver of the process, as new for each test, and a cache for Triton of the run's own."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .fake_driver import FakeDriver

DEFAULTS = {"arch": 80, "devices": 1, "memory": 8 << 30, "version": 13000, "null": 0, "seed": 0}


@pytest.fixture
def driver() -> Iterator[FakeDriver]:
    found = FakeDriver.shared()
    found.clear()
    yield found
    found.clear()
    for name, value in DEFAULTS.items():
        found.set(name, value)


@pytest.fixture(scope="session", autouse=True)
def triton_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Triton's compiled kernels stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        if "TRITON_CACHE_DIR" not in os.environ:
            patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield
