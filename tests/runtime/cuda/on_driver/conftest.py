"""The fake driver that this process has, by the functions that it offers to tests."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

import pytest

import graphwright as gw


@pytest.fixture(scope="session")
def driver() -> ctypes.CDLL:
    library = ctypes.CDLL(os.environ["FAKE_DRIVER"])
    library.fake_used.restype = ctypes.c_size_t
    library.fake_launches.restype = ctypes.c_long
    library.fake_set_limit.argtypes = [ctypes.c_size_t]
    library.fake_fail.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
    return library


@pytest.fixture(autouse=True)
def synchronized() -> Iterator[None]:
    """Tests leave no work behind."""
    yield
    for device in range(gw.cuda.device_count()):
        gw.cuda.synchronize(device)
