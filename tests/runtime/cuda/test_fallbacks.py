"""The record of ops that ran on the CPU for want of a kernel, which needs no GPU to be kept."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator

import pytest

import graphwright as gw
from graphwright.runtime.cuda import fallbacks


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    mode = gw.cuda.get_fallback_mode()
    gw.cuda.reset_fallbacks()
    yield
    gw.cuda.set_fallback_mode(mode)
    gw.cuda.reset_fallbacks()


def test_calls_are_counted_by_op_and_reported_once() -> None:
    gw.cuda.set_fallback_mode("warn")
    with pytest.warns(UserWarning, match=r"^sort: graphwright has no kernel") as seen:
        for name in ("sort", "sort", "sort"):
            fallbacks.count(name)
    with pytest.warns(UserWarning, match="^cumsum: "):
        fallbacks.count("cumsum")
    assert len(seen) == 1 and gw.cuda.fallbacks() == {"sort": 3, "cumsum": 1}
    gw.cuda.reset_fallbacks()
    assert gw.cuda.fallbacks() == {}
    with pytest.warns(UserWarning, match="^sort: "):
        fallbacks.count("sort")


def test_modes() -> None:
    gw.cuda.set_fallback_mode("silent")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fallbacks.count("sort")
    assert gw.cuda.fallbacks() == {"sort": 1} and not fallbacks.strict()
    gw.cuda.set_fallback_mode("error")
    assert fallbacks.strict() and gw.cuda.get_fallback_mode() == "error"
    with pytest.raises(ValueError, match="'warn', 'silent', 'error' as mode, got 'strict'"):
        gw.cuda.set_fallback_mode("strict")


def test_threads_lose_no_count() -> None:
    gw.cuda.set_fallback_mode("silent")
    threads = [threading.Thread(target=lambda: [fallbacks.count("add") for _ in range(500)])
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gw.cuda.fallbacks() == {"add": 4000}


@pytest.mark.parametrize(("value", "mode"), [("1", "error"), ("0", "warn"), (None, "warn")])
def test_the_mode_at_the_start_is_the_environment_s(value: str | None, mode: str) -> None:
    environment = {name: text for name, text in os.environ.items()
                   if name != "GRAPHWRIGHT_CUDA_STRICT"}
    if value is not None:
        environment["GRAPHWRIGHT_CUDA_STRICT"] = value
    code = "import graphwright as gw; print(gw.cuda.get_fallback_mode())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                          text=True, check=True)
    assert done.stdout.strip() == mode
