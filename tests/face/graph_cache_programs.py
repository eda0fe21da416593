"""Programs whose graphs the cache keeps: run as a script, prints what each gave and what it took.

`python -m tests.face.graph_cache_programs` prints JSON: by program, its results and gradients,
eagerly and compiled, and which parts of its graphs were loaded or made.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import graphwright as gw
from graphwright import nn
from graphwright.capture.frame.record import CaptureRecord
from graphwright.capture.guards.guards import GuardKind
from graphwright.face.api import compilation_of
from graphwright.face.stage_dumps import compiled_graphs

Compile = Callable[..., Any]
PROGRAMS: dict[str, Callable[[Compile], list[Any]]] = {}


def program(function: Callable[[Compile], list[Any]]) -> Callable[[Compile], list[Any]]:
    PROGRAMS[function.__name__] = function
    return function


def leaf(*shape: int) -> gw.Tensor:
    return gw.randn(*shape, requires_grad=True)


@program
def static(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor, y: gw.Tensor) -> gw.Tensor:
        return gw.softmax(x @ y, -1).relu() + 1

    return [f(gw.randn(4, 5), gw.randn(5, 6))]


@program
def dynamic(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor, y: gw.Tensor) -> tuple[Any, ...]:
        if x.shape[0] > 3:
            return x + y, x.reshape(-1), x.shape[0] * 2
        return (x,)

    return [f(gw.randn(n, 3), gw.randn(n, 3)) for n in (5, 7, 9)]


@program
def assuming(compile: Compile) -> list[Any]:
    """Lowering assumes of its sizes what capture has not."""
    @compile
    def f(x: gw.Tensor) -> tuple[gw.Tensor, gw.Tensor]:
        return x.chunk(2)[0].exp(), nn.functional.avg_pool1d(x[None], 2)

    return [f(gw.randn(n, n)) for n in (6, 8, 9, 3, 2)]


@program
def dynamic_training(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor, w: gw.Tensor) -> gw.Tensor:
        return (x @ w).tanh().sum() * x.shape[0]

    found = []
    for n in (5, 7, 9):
        w = leaf(3, 2)
        f(gw.randn(n, 3), w).backward()
        found.append(w.grad)
    return found


@program
def mutation(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor, state: gw.Tensor) -> gw.Tensor:
        state.mul_(2)
        x[1:].add_(state[1:])
        return x.sum()

    x, state = gw.randn(4, 3), gw.randn(4, 3)
    return [f(x, state), x, state]


@program
def views(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor) -> tuple[Any, ...]:
        y = x + 1
        return y.t(), y[1:], x.t(), x, None, y

    x = gw.randn(3, 4)
    found = list(f(x))
    found[0].zero_()
    return [*found, found[3] is x, found[0]._base is not None]


@program
def random(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor) -> gw.Tensor:
        return nn.functional.dropout(x, 0.5) + gw.rand(4, 5)

    return [f(gw.ones(4, 5)), f(gw.ones(4, 5)), gw.rand(2)]


@program
def random_training(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor) -> gw.Tensor:
        return (nn.functional.dropout(x, 0.5) * gw.rand(4, 5)).exp().sum()

    x = leaf(4, 5)
    f(x).backward()
    return [x.grad, gw.rand(2)]


@program
def autocast(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor, w: gw.Tensor) -> gw.Tensor:
        with gw.autocast("cpu", dtype=gw.bfloat16):
            return x @ w

    w = leaf(4, 4)
    y = f(gw.randn(4, 4), w)
    y.float().sum().backward()
    return [y, w.grad]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)
        self.fc = nn.Linear(12, 2)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        y: gw.Tensor = self.norm(self.conv(x)).relu()
        z: gw.Tensor = self.fc(y.flatten(1))
        return z


@program
def module_training(compile: Compile) -> list[Any]:
    model = Net()
    compiled = compile(model)
    for _ in range(2):
        compiled(gw.randn(3, 2, 4, 4)).square().mean().backward()
    return [p.grad for p in model.parameters()] + list(model.buffers())


@program
def training_step(compile: Compile) -> list[Any]:
    model = Net()
    optimizer = gw.optim.AdamW(model.parameters())

    @compile
    def step(x: gw.Tensor) -> gw.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return [step(gw.randn(3, 2, 4, 4)) for _ in range(3)] + list(model.parameters())


@program
def gradients_of_gradients(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor) -> gw.Tensor:
        return (x.sin() * x).exp()

    x = leaf(5)
    first, = gw.autograd.grad(f(x).sum(), x, create_graph=True)
    return [first, *gw.autograd.grad(first.sum(), x)]


@program
def some_gradients(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor) -> tuple[gw.Tensor, gw.Tensor]:
        return x.exp(), x.log()

    x = gw.rand(5).add(1).requires_grad_()
    first, _ = f(x)
    first.sum().backward()
    return [x.grad]


@program
def gradients_on_the_way(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor) -> tuple[gw.Tensor, gw.Tensor]:
        y = x.sin()
        return y, y * y

    x = leaf(5)
    y, z = f(x)
    y.retain_grad()
    z.sum().backward()
    return [y.grad, x.grad]


@program
def expanded_gradient(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor, w: gw.Tensor) -> gw.Tensor:
        return x.t() @ w + x.sum()

    x, w = leaf(3, 3), leaf(3, 2)
    y = f(x, w)
    y.backward(gw.randn(2, 3).t())
    return [x.grad, w.grad]


@program
def overwritten(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor) -> gw.Tensor:
        return x.exp()

    x = leaf(3)
    y = f(x)
    y.data.mul_(2)
    y.detach().mul_(2)
    try:
        y.sum().backward()
    except RuntimeError as error:
        return [str(error)]
    return [x.grad]


@program
def segments(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor) -> tuple[Any, ...]:
        values, order = (x + gw.tensor([1.0, 2.0, 3.0])).exp().sort(-1)
        q, r = gw.linalg.qr(values @ values.t())
        return values * 2, order, (q @ r).sum()

    return list(f(gw.randn(4, 3)))


@program
def constants(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor) -> tuple[Any, ...]:
        table = gw.tensor([1.0, float("inf"), -0.0])
        return x * table, table, 3, None, "text", x.shape

    found = list(f(gw.ones(2, 3)))
    return [found[0], found[1], *found[2:]]


@program
def varying_number(compile: Compile) -> list[Any]:
    @compile
    def f(x: gw.Tensor, n: int) -> gw.Tensor:
        return x * n + x.narrow(0, n, 2).sum()

    return [f(gw.arange(10.0), n) for n in (2, 3, 4)]


def shown(value: Any) -> Any:
    """A result as JSON, with all that callers can tell apart."""
    if isinstance(value, gw.Tensor):
        return [str(value.dtype), list(value.shape), list(value.stride()), value.requires_grad,
                value.is_leaf, repr(value.tolist())]
    if isinstance(value, tuple | list):
        return [type(value).__name__, *map(shown, value)]
    return repr(value)


def graphs_of(record: CaptureRecord) -> Iterator[dict[str, Any]]:
    for _, found in compiled_graphs(record):
        yield {"loaded": found.loaded, "made": sorted({*found.programs} - {*found.loaded}),
               "passes": any("compile::pass" in span.name for span in found.spans),
               "kernels": found.kernels}


def run(name: str) -> dict[str, Any]:
    """What a program gives eagerly and compiled, and its graphs."""
    records: list[CaptureRecord] = []

    def compile(function: Any) -> Any:
        made = gw.compile(function)
        records.append(compilation_of(made).record)
        return made

    gw.manual_seed(0)
    eager = shown(PROGRAMS[name](lambda function: function))
    gw.manual_seed(0)
    compiled = shown(PROGRAMS[name](compile))
    graphs = [graph for record in records for graph in graphs_of(record)]
    guards = [str(guard.payload) for record in records for frame in record.frames
              for guard in frame.guards if guard.kind is GuardKind.RELATION]
    return {"eager": eager, "compiled": compiled, "graphs": graphs, "guards": guards}


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(PROGRAMS)
    results = {name: run(name) for name in chosen}
    print(json.dumps({"results": results, "llvmlite": "llvmlite" in sys.modules}))
