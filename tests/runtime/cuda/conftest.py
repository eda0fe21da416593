"""A process has one driver: the tests of `on_driver` run in processes that have the fake one."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
collect_ignore = [] if os.environ.get("FAKE_DRIVER") else ["on_driver"]


@pytest.fixture(scope="session")
def fake_driver() -> Iterator[str]:
    """The path of the driver's library, compiled from fake_driver.c."""
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/libcuda.so.1"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror",
             "-fvisibility=hidden", str(HERE / "fake_driver.c"), "-o", library, "-lpthread",
             "-ldl"], check=True)
        yield library
