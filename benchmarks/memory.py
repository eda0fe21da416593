"""How much memory training steps take, compiled against eager, and how long a step is then."""

from __future__ import annotations

import json
import tempfile
from typing import Any

from benchmarks.result import Result
from benchmarks.startup import printed
from benchmarks.training_models import MODELS

STEPS = '''
import json
import time
from functools import partial
import graphwright as gw
from benchmarks.training_models import MODELS, batch_of, stepper

budget, whole = {budget}, {whole}
gw.manual_seed(0)
model = MODELS["{model}"][1](gw)
batch = batch_of(gw, "{model}")
compiler = None if budget is None else partial(
    gw.compile, options={{"activation_memory_budget": budget}})
step = stepper(gw, model, batch, compiler)
step = gw.compile(step) if whole else step
step()
state = gw.memory_stats()["live"] - sum(
    p.grad.numel() * p.grad.element_size() for p in model.parameters())
gw.reset_peak_memory_stats()
times = []
for _ in range({rounds}):
    start = time.perf_counter()
    step()
    times.append(time.perf_counter() - start)
print(json.dumps({{"peak": gw.memory_stats()["peak"], "state": state, "time": min(times)}}))
'''
ROUNDS = 8
BUDGETS = {1.0: 1.0, 0.5: 0.75}
"""Activation memory budgets, and what the peak may be of eager execution's."""


def steps(model: str, budget: float | None, whole: bool = False) -> dict[str, Any]:
    """Training steps by AdamW in a fresh process: with the loss function compiled, or eager for
    None, or the whole step compiled.

    Returns: "peak" and "state", the bytes held at most, and by parameters and optimizer; "time",
        the seconds of the shortest step.
    """
    code = STEPS.format(model=model, budget=budget, whole=whole, rounds=ROUNDS)
    with tempfile.TemporaryDirectory() as cache:
        found: dict[str, Any] = json.loads(printed(code, cache))
    return found


def row(what: str, target: float | None, eager: dict[str, Any], found: dict[str, Any]) -> Result:
    """A peak against eager execution's, and what else is known of both."""
    own = [values["peak"] - values["state"] for values in (found, eager)]
    return Result(
        "memory", f"peak of training {what}", "x eager", target, found["peak"] / eager["peak"],
        {"eager": 1.0},
        f"eager took {eager['peak'] / 2**20:.1f} MiB, {eager['state'] / 2**20:.1f} of them "
        f"parameters and optimizer; the others {own[0] / own[1]:.2f} x eager; "
        f"step {found['time'] / eager['time']:.2f} x eager")


def run() -> list[Result]:
    """Each model compiled, at each budget of saved activations, and its whole step compiled."""
    results: list[Result] = []
    for model, (name, _, _) in MODELS.items():
        eager = steps(model, None)
        results += [
            row(f"{name}, activation memory budget {budget}", target, eager, steps(model, budget))
            for budget, target in BUDGETS.items()]
        results.append(row(f"{name}, compiled step", None, eager, steps(model, None, whole=True)))
    return results
