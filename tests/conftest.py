"""What all tests share: a kernel cache of their own, and the number of random programs."""

from __future__ import annotations

import gc
import importlib
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import graphwright as gw
from graphwright.compat.module_names import Aliases
from graphwright.runtime import _core

COMPILER = shutil.which(os.environ.get("CC", "cc"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz-factor", type=int, default=1,
                     help="run this many times the usual number of random programs")
    parser.addoption("--share", type=float, default=1.0,
                     help="of the test files but those of capture and the core, run this share")
    parser.addoption("--share-seed", type=int, default=0, help="draws them")
    parser.addoption("--hardware", action="store_true",
                     help="use the machine's own GPU where tests would simulate one")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the files that `--share` does not draw."""
    share, draw = config.getoption("--share"), random.Random(config.getoption("--share-seed"))
    files = sorted({item.path for item in items})
    here = Path(__file__).parent
    whole = (here / "capture", here / "runtime" / "core")
    kept = {path for path in files
            if draw.random() < share or any(folder in path.parents for folder in whole)}
    config.hook.pytest_deselected(items=[item for item in items if item.path not in kept])
    items[:] = [item for item in items if item.path in kept]
    if not config.getoption("--hardware"):
        choose_driver(items)


def choose_driver(items: list[pytest.Item]) -> None:
    """A process opens its CUDA driver once, when it first asks for a GPU: it is the simulated one
    (`tests/gpu_sim`) where a test asks for that, and none otherwise."""
    needed = any("simulated_driver" in getattr(item, "fixturenames", ()) for item in items)
    os.environ["GRAPHWRIGHT_LIBCUDA"] = str(simulator().build()) if needed and COMPILER else ""


def simulator() -> ModuleType:
    """The module of the simulated driver."""
    return importlib.import_module("tests.gpu_sim.fake_driver")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests marked `fuzz(n)` run with seeds 0 .. n * factor - 1."""
    marker = metafunc.definition.get_closest_marker("fuzz")
    if marker is not None:
        count = marker.args[0] * metafunc.config.getoption("--fuzz-factor")
        metafunc.parametrize("seed", range(count))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many random programs ran, and what was found, by how they were captured."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    properties = [entry for report in reports for entry in report.user_properties]
    totals: dict[str, Counter[str]] = {}
    for options, *found in (value for name, value in properties if name == "random programs"):
        totals.setdefault(options, Counter()).update(found)
    if totals:
        totals["in all"] = sum(totals.values(), Counter())
        terminalreporter.section("random programs")
    for options, found in totals.items():
        terminalreporter.write_line(
            f"{options}: {found.total()} programs, {found['graph']} with a graph, "
            f"{found['mismatch']} mismatches"
        )


@pytest.fixture
def draw() -> random.Random:
    """Draws what a test takes of a longer list, by a seed that is printed."""
    seed = random.randrange(1 << 30)
    print("seed", seed)
    return random.Random(seed)


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


@pytest.fixture(scope="session", autouse=True)
def like_torch() -> Iterator[None]:
    """`import like_torch.x.y` finds what `import torch.x.y` does under `graphwright.as_torch`."""
    def lacking(name: str) -> None:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    finder = Aliases("like_torch", lambda name, module: None, lacking, lambda context: ())
    sys.meta_path.insert(0, finder)
    yield
    sys.meta_path.remove(finder)


class Hardware:
    """Stands for the simulated driver where a real GPU is used: a test that asks it for anything
    is skipped."""

    def __getattr__(self, name: str) -> Any:
        pytest.skip(f"only the simulated driver has '{name}'")


@pytest.fixture(scope="session")
def simulated_driver(request: pytest.FixtureRequest) -> Any:
    """The simulated GPUs' driver, which is this process's: their kernels run in the interpreter.
    Skips where there is no C compiler."""
    if request.config.getoption("--hardware"):
        return Hardware()
    if not COMPILER:
        pytest.skip("the simulated driver needs a C compiler")
    driver, absence = simulator().FakeDriver.shared(), _core.cuda_absence()
    assert absence is None, f"a module asked for a GPU while it was imported: {absence}"
    return driver


@pytest.fixture
def gpu(simulated_driver: Any) -> Iterator[Any]:
    """Two simulated GPUs of compute capability 8.0 as `cuda:0` and `cuda:1`; the value is their
    `FakeDriver`, for faults and for what was launched. Never gives the NULL stream work. A kernel
    that fails ends the use of GPUs by the process: run that in a process of its own."""
    simulated = not isinstance(simulated_driver, Hardware)
    if simulated:
        simulated_driver.clear()
    gw.cuda.reset_fallbacks()
    yield simulated_driver
    for device in range(gw.cuda.device_count()):
        gw.cuda.synchronize(device)
    if simulated:
        simulated_driver.clear()


@pytest.fixture
def no_gpu() -> None:
    """Skips a test of what a program is told that has no GPU, where other tests need one."""
    if os.environ.get("GRAPHWRIGHT_LIBCUDA"):
        pytest.skip("this process has simulated GPUs")


@pytest.fixture
def frozen_heap() -> Iterator[None]:
    """Collections during the test look only at objects that the test makes."""
    gc.freeze()
    yield
    gc.unfreeze()
