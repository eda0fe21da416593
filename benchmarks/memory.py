"""How much memory training steps take: the model compiled, and the whole step, against eager."""

from __future__ import annotations

import tempfile

from benchmarks.result import Result
from benchmarks.startup import fresh

STEPS = '''
import graphwright as gw
from graphwright import nn
from benchmarks.compile_time import Transformer
gw.manual_seed(0)
models = {{
    "mlp": lambda: nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024),
                                 nn.ReLU(), nn.Linear(1024, 10)),
    "transformer": lambda: Transformer(4, 256),
    "cnn": lambda: nn.Sequential(
        *(part for n in range(4) for part in (
            nn.Conv2d(16 if n else 3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())),
        nn.Flatten(), nn.Linear(16 * 32 * 32, 10)),
}}
model, x = models["{model}"](), gw.randn({shape})
optimizer = gw.optim.Adam(model.parameters(), lr=1e-4)
forward = gw.compile(model) if "{part}" == "model" else model

def step(x):
    optimizer.zero_grad()
    loss = forward(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss

if "{part}" == "step":
    step = gw.compile(step)
for _ in range(4):
    step(x)
print(gw.memory_stats()["peak"])
'''
CASES = {
    "mlp": ("the MLP 784-1024-1024-10, batch 256", "256, 784"),
    "transformer": ("4 transformer layers of width 256, 4x128", "4, 128, 256"),
    "cnn": ("4 convolutions with batch norm, 16x3x32x32", "16, 3, 32, 32"),
}


def peak(model: str, part: str) -> float:
    """MiB that tensors held at most over four training steps in a fresh process."""
    code = STEPS.format(model=model, shape=CASES[model][1], part=part)
    with tempfile.TemporaryDirectory() as cache:
        return fresh(code, cache) / 2**20


def run() -> list[Result]:
    """Each model with itself compiled, and with the whole step compiled."""
    results: list[Result] = []
    for model, (name, _) in CASES.items():
        eager = peak(model, "eager")
        for part, what in (("model", "compiled model"), ("step", "compiled step")):
            results.append(Result("memory", f"peak of training {name}, {what}", "x eager", None,
                                  peak(model, part) / eager, {"eager": 1.0},
                                  f"eager took {eager:.1f} MiB"))
    return results
