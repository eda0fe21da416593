"""What all tests share: a kernel cache of their own, and the number of random programs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz-factor", type=int, default=1,
                     help="run this many times the usual number of random programs")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests marked `fuzz(n)` run with seeds 0 .. n * factor - 1."""
    marker = metafunc.definition.get_closest_marker("fuzz")
    if marker is not None:
        count = marker.args[0] * metafunc.config.getoption("--fuzz-factor")
        metafunc.parametrize("seed", range(count))


@pytest.fixture(scope="session", autouse=True)
def kernel_cache() -> Iterator[None]:
    """Compiled kernels of this run stay out of the user's cache."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("GRAPHWRIGHT_CACHE_DIR")
        os.environ["GRAPHWRIGHT_CACHE_DIR"] = folder
        yield
        if before is None:
            del os.environ["GRAPHWRIGHT_CACHE_DIR"]
        else:
            os.environ["GRAPHWRIGHT_CACHE_DIR"] = before
