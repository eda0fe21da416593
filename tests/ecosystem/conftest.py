"""Runs of the whole table or of a sample, and the table that they are written into."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from .document import write
from .rows import Rows

PACKAGES = ("transformers", "timm", "captum", "skorch", "torchmetrics", "einops")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ecosystem")
    group.addoption("--sample", type=int, default=None, metavar="N",
                    help="run N models and uses of each file, drawn by --seed, not all")
    group.addoption("--seed", type=int, default=None, help="of the sample; printed")
    group.addoption("--table", type=Path, default=None, metavar="FILE",
                    help="write what was found into this Markdown file")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--sample", None) and config.getoption("--seed") is None:
        config.option.seed = random.randrange(10**6)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config,
) -> None:
    if config.getoption("--sample", None):
        terminalreporter.write_line(f"the sample of --seed {config.option.seed}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip where the libraries are not installed; keep a sample of each file's cases."""
    own = [item for item in items if Path(__file__).parent in item.path.parents]
    lacking = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if lacking:
        reason = f"{', '.join(lacking)} not installed; `make ecosystem` installs and runs"
        for item in own:
            item.add_marker(pytest.mark.skip(reason=reason))
        return
    size = config.getoption("--sample", None)
    if size is None:
        return
    draw = random.Random(config.option.seed)
    dropped = []
    for path in dict.fromkeys(item.path for item in own):
        cases = [item for item in own if item.path == path and hasattr(item, "callspec")]
        dropped += draw.sample(cases, max(len(cases) - size, 0))
    config.hook.pytest_deselected(items=dropped)
    items[:] = [item for item in items if item not in dropped]


@pytest.fixture(scope="session")
def rows(pytestconfig: pytest.Config) -> Iterator[Rows]:
    """What the worker answered, a row for each model and use."""
    found = Rows()
    yield found
    found.close()
    table = pytestconfig.getoption("--table", None)
    if table is not None:
        write(table, found)
