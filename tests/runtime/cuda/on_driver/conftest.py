"""The fake driver that this process has, by the functions that it offers to tests."""

from __future__ import annotations

import ctypes
import gc
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
def empty_gpus(driver: ctypes.CDLL) -> Iterator[None]:
    """Tests leave no memory behind, and start with none."""
    gc.collect()
    gw.cuda.empty_cache()
    for device in range(gw.cuda.device_count()):
        gw.cuda.reset_peak_memory_stats(device)
    yield
    driver.fake_set_limit(1 << 30)
    gc.collect()
    gw.cuda.synchronize()
