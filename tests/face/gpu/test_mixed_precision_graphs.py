"""autocast and GradScaler with compiled functions on the simulated GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import graphwright as gw
from graphwright.runtime.cuda import fallbacks

from .networks import Classifier

F = gw.nn.functional
STEPS, OVERFLOW = 4, 2


def products(x: Any, w: Any) -> Any:
    """A product, which autocast narrows, what it widens, and what it leaves."""
    y = x @ w
    return y, gw.softmax(y, -1), gw.relu(x)


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
def test_ops_are_cast_in_graphs_as_eagerly(gpu: Any, dtype: Any) -> None:
    def f(x: Any, w: Any) -> Any:
        with gw.autocast("cuda", dtype=dtype):
            return products(x, w)

    x, w = gw.randn(4, 5), gw.randn(5, 6)
    compiled = gw.compile(f)
    results = compiled(x.cuda(), w.cuda())
    assert [out.dtype for out in results] == [dtype, gw.float32, gw.float32]
    for got, eager, exact in zip(results, f(x.cuda(), w.cuda()), products(x, w), strict=True):
        assert got.dtype == eager.dtype
        gw.testing.assert_close(got, eager, rtol=1e-2, atol=1e-2)
        gw.testing.assert_close(got.cpu().float(), exact, rtol=5e-2, atol=5e-2)
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.breaks, stats.recompiles) == (1, 0, 0)


def test_each_dtype_is_compiled_by_itself(gpu: Any) -> None:
    compiled = gw.compile(lambda x, w: x @ w)
    x, w = gw.randn(4, 5).cuda(), gw.randn(5, 6).cuda()
    for count, (device, dtype, want) in enumerate((
            ("cuda", gw.float16, gw.float16), ("cuda", gw.bfloat16, gw.bfloat16),
            ("cpu", gw.bfloat16, gw.float32)), 1):
        for _ in range(2):
            with gw.autocast(device, dtype=dtype):
                assert compiled(x, w).dtype == want
        assert gw.compiler.stats(compiled).graphs == count


class Scaled(NamedTuple):
    """The losses of some steps, of which the gradients of one overflow, the parameters and the
    scale after them, and the counts of the compiled function."""

    losses: list[float]
    parameters: list[Any]
    scale: float
    stats: Any


def train(
    compiled: str, optimiser: Callable[..., Any], clip: bool = False, device: str = "cuda"
) -> Scaled:
    """Train the classifier with a GradScaler; compiled: "nothing", "forward" or "step"."""
    gw.compiler.reset()
    gw.manual_seed(0)
    model, x, y = Classifier().eval(), gw.randn(5, 6), gw.randn(5, 3)
    model, x, y = model.to(device), x.to(device), y.to(device)
    steps = optimiser(model.parameters())
    scaler = gw.amp.GradScaler(device, init_scale=1024.0, growth_interval=2)

    def forward(x: Any, y: Any) -> Any:
        with gw.autocast(device, dtype=gw.float16):
            return F.mse_loss(model(x), y)

    loss_of = gw.compile(forward) if compiled == "forward" else forward

    def step(x: Any, y: Any) -> Any:
        loss = loss_of(x, y)
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(steps)
            gw.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        scaler.step(steps)
        scaler.update()
        steps.zero_grad()
        return loss

    run = gw.compile(step) if compiled == "step" else step
    losses = [run(x, y * float("inf") if number == OVERFLOW else y).item()
              for number in range(STEPS)]
    stats = gw.compiler.stats(run if compiled == "step" else loss_of) \
        if compiled != "nothing" else None
    return Scaled(losses, list(model.parameters()), scaler.get_scale(), stats)


OPTIMISERS: dict[str, Callable[..., Any]] = {
    "SGD": lambda p: gw.optim.SGD(p, 0.1),
    "AdamW, fused": lambda p: gw.optim.AdamW(p, 0.01, fused=True),
    "Adam, foreach, capturable": lambda p: gw.optim.Adam(p, 0.01, foreach=True, capturable=True),
}


@pytest.mark.parametrize("compiled", ["step", *(
    pytest.param(how, marks=pytest.mark.slow) for how in ("forward", "nothing"))])
@pytest.mark.parametrize(("name", "clip"), [
    ("SGD", True), pytest.param("AdamW, fused", False, marks=pytest.mark.slow),
    pytest.param("Adam, foreach, capturable", True, marks=pytest.mark.slow)])
def test_steps_whose_gradients_overflow_are_left_out(
    gpu: Any, name: str, clip: bool, compiled: str
) -> None:
    fallbacks.clear()
    eager = train("nothing", OPTIMISERS[name], clip, "cpu")
    assert eager.scale == 1024.0                # grown after two steps, halved by the third
    assert eager.losses[OVERFLOW] == float("inf")
    assert eager.losses[OVERFLOW + 1] < eager.losses[OVERFLOW - 1]
    found = train(compiled, OPTIMISERS[name], clip)
    assert found.scale == eager.scale
    gw.testing.assert_close(found.losses, eager.losses, rtol=2e-3, atol=2e-3)
    for got, want in zip(found.parameters, eager.parameters, strict=True):
        gw.testing.assert_close(got.cpu(), want, rtol=5e-3, atol=5e-3)
    if compiled != "nothing":
        assert found.stats.fallbacks == 0 and found.stats.kernels > 2
    assert fallbacks.counts() == {} and not gpu.faults


@pytest.mark.parametrize("options", [{}, {"norm_type": float("inf")}, {"foreach": True}])
def test_norms_are_clipped_where_the_gradients_are(gpu: Any, options: dict[str, Any]) -> None:
    found = []
    for device in ("cpu", "cuda"):
        parameters = [gw.ones(shape, device=device).requires_grad_() for shape in ((3, 4), (5,))]
        for scale, parameter in enumerate(parameters, 2):
            parameter.grad = gw.full(parameter.shape, float(scale), device=device)
        norm = gw.nn.utils.clip_grad_norm_(parameters, 1.0, **options)
        assert norm.device.type == device
        found.append([norm.cpu(), *(p.grad.cpu() for p in parameters)])
    gw.testing.assert_close(*found)
