"""What capture costs: translating a transformer, its guards, and the whole first call."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import graphwright as gw
from benchmarks.result import Result
from benchmarks.startup import first_calls, fresh
from graphwright import nn
from graphwright.capture.frame.frontend import Frontend

ROUNDS = 7
CALLS = 2000
MODELS = '''
import time
import graphwright as gw
from benchmarks.compile_time import {model}
gw.manual_seed(0)
model, x = {model}({size})
with gw.no_grad():
    expected = model(x)
    start = time.perf_counter()
    y = gw.compile(model, backend="llvm")(x)
    elapsed = time.perf_counter() - start
gw.testing.assert_close(y, expected, rtol=1e-3, atol=1e-4)
print(elapsed)
'''

STEPS = '''
import time
import graphwright as gw
from benchmarks.compile_time import {model}, training_step
gw.manual_seed(0)
model, x = {model}({size})
state = {{name: value.clone() for name, value in model.state_dict().items()}}
expected = training_step(model)(x)
model.load_state_dict(state)
step = gw.compile(training_step(model), backend="llvm")
start = time.perf_counter()
loss = step(x)
elapsed = time.perf_counter() - start
gw.testing.assert_close(loss, expected, rtol=1e-3, atol=1e-4)
print(elapsed)
'''

WAVES = '''
import time
import graphwright as gw
from benchmarks.compile_time import waves
gw.manual_seed(0)
function, x = waves({rounds}), gw.randn(64, 16)
with gw.no_grad():
    expected = function(x)
    start = time.process_time()
    y = gw.compile(function, backend="llvm")(x)
    elapsed = time.process_time() - start
gw.testing.assert_close(y, expected, rtol=1e-3, atol=1e-4)
print(elapsed)
'''


FIRST_CALLS = """
import time
import graphwright as gw
from benchmarks.compile_time import {model}, training_step
gw.manual_seed(0)
model, x = {model}({size})
gradients = gw.set_grad_enabled({training})
function = training_step(model) if {training} else model
function(x)
captured = []

def captured_alone(module, examples):
    def run(*inputs):
        captured.append(time.process_time())
        raise RuntimeError("nothing was compiled")
    return run

start = time.process_time()
gw.compile(function, backend={backend})(x)
print((captured or [time.process_time()])[0] - start)
"""


class Block(nn.Module):
    """A pre-norm transformer block with `heads` heads of attention, written out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def split(self, x: gw.Tensor) -> gw.Tensor:
        """[batch, time, width] to [batch, heads, time, width / heads]."""
        batch, time, width = x.shape
        return x.reshape(batch, time, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        """[batch, time, width] to the same."""
        y = self.norm1(x)
        q, k, v = self.split(self.query(y)), self.split(self.key(y)), self.split(self.value(y))
        scores = (q @ k.transpose(-2, -1)) / q.shape[-1] ** 0.5
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(*x.shape)
        x = x + self.out(mixed)
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """Blocks one after the other, then a layer norm."""

    def __init__(self, layers: int, width: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        """[batch, time, width] to the same."""
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class Unrolled(nn.Module):
    """An LSTM cell applied step by step to [time, batch, features]."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inputs, self.states = nn.Linear(width, 4 * width), nn.Linear(width, 4 * width)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        """[time, batch, width] to [batch, width]."""
        h = c = gw.zeros(x.shape[1], x.shape[2])
        for step in x:
            i, f, g, o = (self.inputs(step) + self.states(h)).chunk(4, dim=-1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return h


class Dense(nn.Module):
    """Convolutions whose inputs are all channels before them, each with a batch norm: no two of
    them have the same sizes."""

    def __init__(self, layers: int, growth: int) -> None:
        super().__init__()
        widths = [growth * (n + 1) for n in range(layers)]
        self.norms = nn.ModuleList([nn.BatchNorm2d(width) for width in widths])
        self.convs = nn.ModuleList([nn.Conv2d(width, growth, 3, padding=1) for width in widths])

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        """[batch, growth, height, width] to [batch, growth * (layers + 1), height, width]."""
        for norm, conv in zip(self.norms, self.convs, strict=True):
            x = gw.cat([x, conv(norm(x).relu())], 1)
        return x


def transformer(layers: int) -> tuple[nn.Module, gw.Tensor]:
    """A model of so many layers and its input."""
    return Transformer(layers).eval(), gw.randn(2, 8, 64)


def lstm(steps: int) -> tuple[nn.Module, gw.Tensor]:
    """An unrolled LSTM of so many steps and its input."""
    return Unrolled(32).eval(), gw.randn(steps, 4, 32)


def dense(layers: int) -> tuple[nn.Module, gw.Tensor]:
    """A densely connected net of so many convolutions and its images."""
    return Dense(layers, 16), gw.randn(2, 16, 4, 4)


def waves(rounds: int) -> Callable[[gw.Tensor], gw.Tensor]:
    """A plain loop of so many rounds, four operations each, which capture unrolls."""

    def run(x: gw.Tensor) -> gw.Tensor:
        for _ in range(rounds):
            x = gw.sin(x) + gw.cos(x) * 0.5
        return x

    return run


def training_step(model: nn.Module) -> Callable[[gw.Tensor], gw.Tensor]:
    """Loss, gradients and a step of plain gradient descent, as one function."""
    optimizer = gw.optim.SGD(model.parameters(), lr=1e-3)

    def step(x: gw.Tensor) -> gw.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


class _Translated(Exception):
    """Raised by the backend: capture is over, nothing is to be compiled."""


def _stop(_module: Any, _examples: Sequence[Any]) -> Callable[..., Any]:
    def run(*_inputs: Any) -> Any:
        raise _Translated

    return run


def _translate(model: nn.Module, x: gw.Tensor) -> tuple[float, Any, Callable[..., Any]]:
    """Seconds of one capture; the entry that it made, and the function it is for."""

    def call(x: gw.Tensor) -> gw.Tensor:
        return model(x)

    compiled = Frontend(_stop).compile(call)
    start = perf_counter()
    with contextlib.suppress(_Translated):
        compiled(x)
    return perf_counter() - start, compiled.entries[0], call


def translation() -> list[Result]:
    """Capture alone, of 12 and of 24 layers in turns; and evaluating the guards of 12."""
    small, x = transformer(12)
    large, _ = transformer(24)
    seconds: dict[int, list[float]] = {12: [], 24: []}
    with gw.no_grad():
        for _ in range(ROUNDS):
            for layers, model in ((12, small), (24, large)):
                seconds[layers].append(_translate(model, x)[0])
        _, entry, call = _translate(small, x)
        guards = _seconds_of(entry.program, call, x)
    base = min(seconds[12])
    return [
        Result("compile time", "translate a 12-layer transformer", "s", 0.3, base),
        Result("compile time", "translate 24 layers, over 12", "x", 2.2,
               min(seconds[24]) / base),
        Result("compile time", f"its {entry.program.n_checks} guards", "us", 10.0,
               guards * 1e6),
    ]


def _seconds_of(program: Any, function: Callable[..., Any], x: gw.Tensor) -> float:
    """Of one evaluation: the fastest round of several."""
    slots, rounds = (x,), []
    for _ in range(ROUNDS):
        start = perf_counter()
        for _ in range(CALLS // ROUNDS):
            program.check(function, slots)
        rounds.append((perf_counter() - start) / (CALLS // ROUNDS))
    return min(rounds)


def first_call(model: str, size: int, name: str, code: str = MODELS) -> list[Result]:
    """Capture, lowering and code generation in fresh processes, cache cold and warm."""
    cold, warm = first_calls(code.format(model=model, size=size), rounds=3)
    return [
        Result("compile time", f"first call of {name}, cold cache", "s", None, cold),
        Result("compile time", f"first call of {name}, warm cache", "s", None, warm),
    ]


def over_capture(model: str, size: int, name: str, training: bool) -> Result:
    """CPU seconds of the first call, cache warm, over those of its capture (least, in turns)."""
    codes = _with_and_without_compiler(model, size, training)
    with tempfile.TemporaryDirectory() as cache:
        fresh(codes[0], cache)
        rounds = [[fresh(code, cache) for code in codes] for _ in range(ROUNDS)]
    warm, capture = [min(seconds) for seconds in zip(*rounds, strict=True)]
    return Result("compile time", f"first call of {name}, warm cache, over its capture", "x", 1.5,
                  warm / capture)


def _with_and_without_compiler(model: str, size: int, training: bool) -> list[str]:
    """A program that prints the seconds of a first call, and one those of its capture alone."""
    return [FIRST_CALLS.format(model=model, size=size, training=training, backend=backend)
            for backend in ('"llvm"', "captured_alone")]


def equal_layers() -> Result:
    """CPU seconds of the first call without those of capture, cache cold: 24 layers over one."""
    seconds: dict[int, list[float]] = {1: [], 24: []}
    for _ in range(ROUNDS):
        for layers, found in seconds.items():
            with tempfile.TemporaryDirectory() as cache:
                whole, capture = [fresh(code, cache) for code in _with_and_without_compiler(
                    "transformer", layers, training=False)]
            found.append(whole - capture)
    return Result("compile time", "compile 24 equal layers after capture, over one", "x", 1.5,
                  min(seconds[24]) / min(seconds[1]))


def unrolled_loops() -> list[Result]:
    """CPU seconds of the first call, cache cold, of 300 rounds; of 3,000 over those of 300."""
    seconds = {rounds: first_calls(WAVES.format(rounds=rounds), rounds=3)[0]
               for rounds in (300, 3000)}
    return [
        Result("compile time", "first call of a loop of 300 rounds", "s", 1.0, seconds[300]),
        Result("compile time", "first call of 3,000 rounds, over 300", "x", 12.0,
               seconds[3000] / seconds[300]),
    ]


def run() -> list[Result]:
    """All cases of this group."""
    return [
        *translation(),
        *unrolled_loops(),
        equal_layers(),
        *first_call("transformer", 12, "a 12-layer transformer"),
        over_capture("transformer", 12, "a 12-layer transformer", training=False),
        over_capture("transformer", 12, "a training step of 12 transformer layers", training=True),
        *first_call("lstm", 50, "an LSTM of 50 steps, unrolled"),
        *first_call("transformer", 12, "a training step of 12 transformer layers", STEPS),
        *first_call("lstm", 50, "a training step of 50 LSTM cells", STEPS),
        *first_call("dense", 40, "a training step of 40 dense convolutions", STEPS),
    ]
