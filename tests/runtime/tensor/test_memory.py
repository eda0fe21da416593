"""Training neither grows the process nor leaves anything to the collector."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import pytest

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn

SCRIPT = """
import gc, os, sys
import graphwright as gw, graphwright.nn.functional as F
from graphwright import nn
from graphwright.optim.lr_scheduler import CosineAnnealingLR

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

compiled, steps = sys.argv[1] == "compiled", int(sys.argv[2])
model = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.LayerNorm(64), nn.Dropout(0.1),
                      nn.Linear(64, 4))
optimizer = gw.optim.Adam(model.parameters(), lr=1e-3)
schedule = CosineAnnealingLR(optimizer, steps)

def loss_of(x, y):
    return F.cross_entropy(model(x), y)

run = gw.compile(loss_of) if compiled else loss_of
gc.disable()

def train(count):
    for _ in range(count):
        x = gw.randn(32, 16)
        optimizer.zero_grad()
        run(x, x[:, :4].argmax(1)).backward()
        optimizer.step()
        schedule.step()

train(max(200, steps // 10))
gc.collect()
before = resident()
train(steps)
print(resident() - before, gc.collect())
"""


def _growth(how: str, steps: int) -> tuple[int, int]:
    command = [sys.executable, "-c", SCRIPT, how, str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    grown, collected = map(int, done.stdout.split())
    return grown, collected


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/statm")
@pytest.mark.parametrize("how", ["eager", "compiled"])
def test_training_does_not_grow(how: str) -> None:
    grown, collected = _growth(how, 1000)
    assert grown < 1 << 20 and collected == 0


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/statm")
@pytest.mark.parametrize("how", ["eager", "compiled"])
def test_ten_thousand_steps_do_not_grow(how: str) -> None:
    grown, collected = _growth(how, 10_000)
    assert grown < 1 << 20 and collected == 0


def test_layers_leave_nothing_to_the_collector() -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Flatten(), nn.Linear(36, 3))  # fmt: skip
    optimizer = gw.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step() -> Any:
        optimizer.zero_grad()
        out = model(gw.randn(2, 1, 8, 8))
        loss = F.cross_entropy(out, gw.tensor([0, 1]))
        loss.backward()
        optimizer.step()
        return loss.item()

    step()
    step()      # the first with momentum
    while gc.collect():     # what ends with garbage of others may leave more of it
        pass
    gc.disable()
    try:
        step()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_stats_and_the_cache() -> None:
    """The keys that are documented, and that the cache is given back."""
    keys = {"live", "peak", "cached", "cache_limit", "hits", "misses"}
    assert keys <= gw.memory_stats().keys()
    before = gw.memory_stats()["live"]
    big = gw.ones(1 << 18)
    held = gw.memory_stats()
    assert held["live"] - before >= big.nbytes and held["peak"] >= held["live"]
    del big
    assert gw.memory_stats()["live"] <= before and gw.memory_stats()["cached"] >= 1 << 20
    gw.empty_cache()
    assert gw.memory_stats()["cached"] == 0
