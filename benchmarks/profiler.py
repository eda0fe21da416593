"""What profiling costs a training step, and how much of it the spans explain.

    python -m benchmarks.profiler [--steps 300]

One step of an MLP, 784-512-512-10, batch 128, Adam: eagerly and with the model compiled. Steps are
timed by turns: without a profile, with one, and with one that records shapes and memory, so that a
change of speed meets all alike. Compared are times that one in ten steps stays below. Losses must
be the same but for the rounding of products on several threads. "coverage" is the share of the
steps' time that spans within `ProfilerStep#n` take up.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn
from graphwright.profiler import profile, schedule

BLOCK = 10
TOLERANCE = 1e-4
FORMS: dict[str, dict[str, bool] | None] = {
    "off": None, "on": {},
    "with shapes and memory": {"record_shapes": True, "profile_memory": True},
}


def training_step(compiled: bool) -> Callable[[], float]:
    """A step that returns its loss; each call of this begins with the same weights."""
    gw.manual_seed(0)
    model: Any = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    x, y = gw.randn(128, 784), gw.randint(0, 10, (128,))
    optimizer = gw.optim.Adam(model.parameters(), lr=1e-4)
    forward = gw.compile(model) if compiled else model

    def step() -> float:
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(x), y)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


def block(step: Callable[[], float], options: dict[str, bool] | None, times: list[float],
          losses: list[float]) -> None:
    """`BLOCK` steps, each timed."""
    recorded = None if options is None else profile(**options)
    if recorded is not None:
        recorded.start()
    for _ in range(BLOCK):
        start = time.perf_counter()
        losses.append(step())
        times.append(time.perf_counter() - start)
    if recorded is not None:
        recorded.stop()


def undisturbed(times: list[float]) -> float:
    """The time that one in ten steps stays below: others had to wait for the machine."""
    return statistics.quantiles(times, n=10)[0]


def coverage(step: Callable[[], float]) -> tuple[float, int]:
    """The share of steps within spans, and the spans of a step."""
    with profile(schedule=schedule(wait=0, warmup=2, active=20, repeat=1)) as recorded:
        for _ in range(22):
            step()
            recorded.step()
    events = recorded.events()
    steps = [event for event in events if event.name.startswith("ProfilerStep#")]
    if len(steps) != 20:
        raise SystemExit(f"20 steps should be recorded, but there are {len(steps)}")
    whole = sum(event.cpu_time_total for event in steps)
    return 1 - sum(event.self_cpu_time_total for event in steps) / whole, len(events) // 20


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    arguments = parser.parse_args()
    for compiled in (False, True):
        steps = {name: training_step(compiled) for name in FORMS}
        times: dict[str, list[float]] = {name: [] for name in FORMS}
        losses: dict[str, list[float]] = {name: [] for name in FORMS}
        for name, step in steps.items():
            losses[name] += [step() for _ in range(5)]
        for _ in range(max(arguments.steps // BLOCK, 1)):
            for name, options in FORMS.items():
                block(steps[name], options, times[name], losses[name])
        for name, found in losses.items():
            worst = max(abs(a - b) / abs(b) for a, b in zip(found, losses["off"], strict=True))
            if worst > TOLERANCE:
                raise SystemExit(f"losses {name} differ by {worst:.1e} from those without")
        print("compiled model" if compiled else "eager")
        off = undisturbed(times["off"])
        for name, found in times.items():
            time_ = undisturbed(found)
            print(f"  {name:<24} {1e3 * time_:7.3f} ms  {100 * (time_ / off - 1):+5.1f} %")
        share, spans = coverage(steps["on"])
        print(f"  coverage {100 * share:.1f} % by {spans} spans a step")


if __name__ == "__main__":
    main()
