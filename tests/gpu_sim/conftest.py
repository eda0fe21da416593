"""A driver that nothing else in the process uses, and a cache for Triton of the run's own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .fake_driver import FakeDriver, build


@pytest.fixture(scope="session")
def own_driver(tmp_path_factory: pytest.TempPathFactory) -> FakeDriver:
    """A copy of the library, which has memory and errors of its own, apart from the runtime's."""
    return FakeDriver(Path(shutil.copy(build(), tmp_path_factory.mktemp("driver"))))


@pytest.fixture
def driver(own_driver: FakeDriver) -> Iterator[FakeDriver]:
    """A driver, as new."""
    own_driver.clear()
    yield own_driver
    own_driver.clear()


@pytest.fixture(scope="session", autouse=True)
def triton_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Triton's compiled kernels stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        if "TRITON_CACHE_DIR" not in os.environ:
            patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield
