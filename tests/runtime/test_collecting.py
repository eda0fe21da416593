"""The collector of cycles does not look through what a long piece of work has made at its end."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import gc
from graphwright.runtime.collecting import collector_at_rest

FROZEN = {frozen}
gc.collect()
if FROZEN:
    gc.freeze()
looked = []
before = len(gc.get_objects(2))
with collector_at_rest():
    made = [[] for _ in range({count})]
    cycle = [made[0]]
    cycle.append(cycle)
    del cycle
gc.callbacks.append(lambda phase, info: looked.append(info["generation"]))
grown = len(gc.get_objects(2)) - before
print(grown > {count}, gc.get_freeze_count() > 0, gc.isenabled())
more = [[] for _ in range(2000)]
print(0 in looked, gc.collect() > 0)    # the cycle
"""


def run(count: int, frozen: bool) -> list[str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(count=count, frozen=frozen)],
                          capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_many_new_objects_join_the_oldest_generation_and_garbage_is_found_there() -> None:
    assert run(200_000, frozen=False) == ["True", "False", "True", "True", "True"]


def test_few_objects_grow_old_as_ever() -> None:
    assert run(5_000, frozen=False)[0] == "False"


def test_objects_that_the_program_has_frozen_stay_frozen() -> None:
    assert run(200_000, frozen=True)[:2] == ["False", "True"]
