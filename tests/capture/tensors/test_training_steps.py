"""Whole training steps as one graph; calls that wait until the graph has run."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.capture.frame import frontend
from graphwright.nn.utils import clip_grad_norm_
from graphwright.optim import lr_scheduler

from ..captured import Captured
from ..pictures import picture

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: gw.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda p: gw.optim.Adam(p, lr=0.01),
    "AdamW": lambda p: gw.optim.AdamW(p, lr=0.01, amsgrad=True),
    "RMSprop": lambda p: gw.optim.RMSprop(p, lr=0.01),
    "Adagrad": lambda p: gw.optim.Adagrad(p, lr=0.01),
}


class Trainer:
    """A small model, its optimiser and schedule."""

    def __init__(self, make: Callable[[Any], Any] = OPTIMIZERS["Adam"]) -> None:
        gw.manual_seed(4)
        self.model = nn.Linear(4, 2)
        self.optimizer = make(self.model.parameters())
        self.schedule = lr_scheduler.StepLR(self.optimizer, 2)
        self.average = gw.zeros(2, 4)
        self.steps = 0

    def backward(self, x: Any) -> Any:
        loss = self.model(x).pow(2).mean()
        loss.backward()
        return loss

    def state(self, rounded: bool = False) -> Any:
        states = [self.model.state_dict(), self.optimizer.state_dict()]
        return [picture(dict(state), rounded) for state in states], self.steps


def step(trainer: Trainer, x: Any) -> Any:
    trainer.optimizer.zero_grad()
    loss = trainer.backward(x)
    trainer.optimizer.step()
    return loss.detach()


def zero_last(trainer: Trainer, x: Any) -> Any:
    loss = trainer.backward(x)
    trainer.optimizer.step()
    trainer.optimizer.zero_grad()
    return loss.detach()


def clipped(trainer: Trainer, x: Any) -> Any:
    trainer.optimizer.zero_grad()
    loss = trainer.backward(x)
    norm = clip_grad_norm_(trainer.model.parameters(), 0.1)
    trainer.optimizer.step()
    return loss.detach(), norm


def scheduled(trainer: Trainer, x: Any) -> Any:
    trainer.optimizer.zero_grad()
    loss = trainer.backward(x)
    trainer.optimizer.step()
    trainer.schedule.step()
    return loss.detach() * 2


def counted(trainer: Trainer, x: Any) -> Any:
    loss = step(trainer, x)
    trainer.steps += 1
    return loss


def model_after_the_step(trainer: Trainer, x: Any) -> Any:
    return step(trainer, x), trainer.model(x).sum().detach()


def view_after_the_step(trainer: Trainer, x: Any) -> Any:
    flat = trainer.model.weight.view(-1)
    step(trainer, x)
    return flat.detach() + 1


def gradient_after_the_step(trainer: Trainer, x: Any) -> Any:
    trainer.optimizer.zero_grad()
    trainer.backward(x)
    gradient = trainer.model.weight.grad
    trainer.optimizer.step()
    gradient.zero_()
    return gradient


def rate_after_the_step(trainer: Trainer, x: Any) -> Any:
    loss = scheduled(trainer, x)
    return loss * trainer.optimizer.param_groups[0]["lr"]


def guarded(trainer: Trainer, x: Any) -> Any:
    trainer.optimizer.zero_grad()
    loss = trainer.backward(x)
    try:
        trainer.optimizer.step()
    finally:
        trainer.steps += 1
    return loss.detach()


def by_closure(trainer: Trainer, x: Any) -> Any:
    def closure() -> Any:
        trainer.optimizer.zero_grad()
        return trainer.backward(x)

    return trainer.optimizer.step(closure).detach()


def two_steps(trainer: Trainer, x: Any) -> Any:
    return step(trainer, x) + step(trainer, x)


def epoch(trainer: Trainer, x: Any) -> Any:
    losses = []
    for factor in (0.5, 1.0, 2.0):
        losses.append(scheduled(trainer, x * factor))
    return gw.stack(losses).mean()


def moving_average(trainer: Trainer, x: Any) -> Any:
    loss = step(trainer, x)
    with gw.no_grad():
        trainer.average.lerp_(trainer.model.weight, 0.1)
    return loss


WHOLE = [step, zero_last, clipped, scheduled]
NOTICED = [
    counted, model_after_the_step, view_after_the_step, gradient_after_the_step,
    rate_after_the_step, guarded, by_closure, two_steps, moving_average,
]  # fmt: skip


def history(
    function: Callable[..., Any], trainer: Trainer, rounded: bool = False
) -> list[Any]:
    gw.manual_seed(7)
    inputs = gw.randn(4, 3, 4)
    return [(picture(function(trainer, x), rounded), trainer.state(rounded)) for x in inputs]


@pytest.mark.parametrize("program", WHOLE, ids=lambda program: program.__name__)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_training_step_is_one_graph(program: Any, optimizer: str) -> None:
    make = OPTIMIZERS[optimizer]
    captured = Captured(program, fullgraph=True)
    assert history(captured, Trainer(make)) == history(program, Trainer(make))
    assert captured.graphs <= 2


@pytest.mark.parametrize("program", NOTICED, ids=lambda program: program.__name__)
def test_a_step_that_what_follows_could_notice_is_in_the_graph(program: Any) -> None:
    captured = Captured(program, fullgraph=True)
    assert history(captured, Trainer(), True) == history(program, Trainer(), True)
    assert captured.graphs


def test_what_is_learned_about_a_frame_takes_none_of_its_attempts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frontend, "_MOST_RESTARTS", 1)
    captured = Captured(two_steps)
    assert history(captured, Trainer(), True) == history(two_steps, Trainer(), True)
    assert captured.graphs and not captured.breaks


SEVERAL: dict[str, Callable[[Any], Any]] = {
    **OPTIMIZERS,
    "ASGD": gw.optim.ASGD,
    "Adadelta": gw.optim.Adadelta,
    "Adamax": gw.optim.Adamax,
    "Muon": lambda params: gw.optim.Muon([p for p in params if p.ndim == 2]),
    "NAdam": gw.optim.NAdam,
    "RAdam": gw.optim.RAdam,
    "Rprop": gw.optim.Rprop,
}


@pytest.mark.parametrize(
    ("optimizer", "backend"),
    [*((name, "eager") for name in SEVERAL), ("SGD", "llvm"), ("Adam", "llvm")],
)
def test_several_steps_of_one_frame_are_one_graph(optimizer: str, backend: str) -> None:
    """Muon calculates in bfloat16."""
    make, near = SEVERAL[optimizer], 1e-2 if optimizer == "Muon" else 1e-5
    ours, plain = Trainer(make), Trainer(make)
    compiled: Any = gw.compile(epoch, fullgraph=True, backend=backend)
    gw.manual_seed(7)
    for x in gw.randn(6, 3, 4):
        assert gw.allclose(compiled(ours, x), epoch(plain, x), atol=near)
    for found, expected in zip(ours.model.parameters(), plain.model.parameters(), strict=True):
        assert gw.allclose(found, expected, atol=near)
    assert ours.schedule.state_dict() == plain.schedule.state_dict()
    assert gw.compiler.stats(compiled).graphs <= 6


@pytest.mark.parametrize("make", [
    lambda optimizer: lr_scheduler.ExponentialLR(optimizer, 0.9),
    lambda optimizer: lr_scheduler.CosineAnnealingLR(optimizer, 50),
    lambda optimizer: lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch)),
    lambda optimizer: lr_scheduler.LinearLR(optimizer, total_iters=40),
    lambda optimizer: lr_scheduler.OneCycleLR(optimizer, 0.2, 60, anneal_strategy="linear"),
], ids=["exponential", "cosine", "function", "linear", "cycle"])  # fmt: skip
def test_rates_that_change_with_each_step_make_no_versions(make: Any) -> None:
    """The second and third call find what varies; all later ones fit."""
    def trainer() -> Trainer:
        made = Trainer()
        made.schedule = make(made.optimizer)
        return made

    captured, ours, plain = Captured(epoch, fullgraph=True), trainer(), trainer()
    gw.manual_seed(7)
    for x in gw.randn(10, 3, 4):
        assert gw.allclose(captured(ours, x), epoch(plain, x), atol=1e-5)
        assert ours.schedule.get_last_lr() == plain.schedule.get_last_lr()
    assert captured.graphs <= 4


def test_no_step_and_no_change_of_the_rate_recompiles() -> None:
    captured = Captured(step)
    trainer = Trainer()
    for number in range(12):
        captured(trainer, gw.ones(3, 4))
        trainer.optimizer.param_groups[0]["lr"] = 0.1 / (number + 1)
    assert captured.graphs == 1


@pytest.mark.parametrize("owner", ["model", "optimizer"])
def test_a_step_that_resets_the_gradients_does_not_ask_whether_there_were_any(owner: str) -> None:
    def program(trainer: Trainer, x: Any) -> Any:
        getattr(trainer, owner).zero_grad()
        loss = trainer.backward(x)
        trainer.optimizer.step()
        return loss.detach()

    captured = Captured(program, fullgraph=True)
    assert history(captured, Trainer()) == history(program, Trainer())
    assert captured.graphs == 1


def test_hooks_that_come_later_are_called() -> None:
    captured, calls = Captured(step), []
    trainer = Trainer()
    captured(trainer, gw.ones(3, 4))
    trainer.optimizer.register_step_post_hook(lambda *args: calls.append(len(args)))
    captured(trainer, gw.ones(3, 4))
    assert calls == [3]


def fitted(x: Any) -> Any:
    """A model, its optimiser and schedule that end with the frame."""
    gw.manual_seed(4)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2))
    optimizer = gw.optim.Adam(model.parameters(), lr=0.01)
    schedule = lr_scheduler.StepLR(optimizer, 2)
    for _ in range(3):
        model.train()
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        schedule.step()
    model.eval()
    with gw.no_grad():
        return model(x), optimizer.param_groups[0]["lr"]


def latent(x: Any) -> Any:
    """What an input of a function has to be for a wanted output."""
    point = gw.zeros(3, 4, requires_grad=True)
    optimizer = gw.optim.SGD([point], lr=0.1, momentum=0.9)
    for _ in range(3):
        optimizer.zero_grad()
        (point.sin() - x).square().sum().backward()
        optimizer.step()
    return point.detach()


@pytest.mark.parametrize("program", [fitted, latent])
@pytest.mark.parametrize("backend", ["eager", "llvm"])
def test_optimisers_that_the_frame_makes_are_interpreted(program: Any, backend: str) -> None:
    compiled: Any = gw.compile(program, fullgraph=True, backend=backend)
    for x in gw.randn(2, 3, 4):
        assert picture(compiled(x), True) == picture(program(x), True)
    assert gw.compiler.stats(compiled).graphs == 1


def test_an_optimiser_that_leaves_the_frame_is_a_whole_one() -> None:
    def make(trainer: Trainer, x: Any) -> Any:
        groups = [{"params": [p], "lr": 1 / (1 + p.ndim)} for p in trainer.model.parameters()]
        optimizer = gw.optim.Adam(groups)
        return optimizer, lr_scheduler.ExponentialLR(optimizer, 0.5), x * 2

    captured, ours, plain = Captured(make, fullgraph=True), Trainer(), Trainer()
    for function, trainer in ((captured, ours), (make, plain)):
        trainer.optimizer, trainer.schedule, _ = function(trainer, gw.ones(3))
        scheduled(trainer, gw.ones(3, 4))
    assert repr(ours.optimizer) == repr(plain.optimizer)
    assert ours.state() == plain.state()


class CountedSchedule(lr_scheduler.StepLR):
    """Steps that do something of their own before those of the class they derive from."""

    steps = 0

    def step(self, epoch: int | None = None) -> None:
        self.steps += 1
        super().step(epoch)


class CountedOptimizer(gw.optim.SGD):
    resets = 0

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.resets += 1
        super().zero_grad(set_to_none)


@pytest.mark.parametrize("program", [scheduled, zero_last, two_steps])
def test_steps_that_derive_from_those_of_the_library_run_once(program: Any) -> None:
    def trainer() -> Trainer:
        made = Trainer(lambda params: CountedOptimizer(params, lr=0.1))
        made.schedule = CountedSchedule(made.optimizer, 2)
        return made

    captured, ours, plain = Captured(program), trainer(), trainer()
    assert history(captured, ours, True) == history(program, plain, True)
    assert ours.schedule.state_dict() == plain.schedule.state_dict()
    assert ours.optimizer.resets == plain.optimizer.resets > 0


def test_a_step_that_the_object_replaces_runs_once() -> None:
    def trainer() -> Trainer:
        made = Trainer()
        own = made.optimizer.step

        def replaced() -> None:
            made.steps += 1
            own()

        made.optimizer.step = replaced
        return made

    captured, ours, plain = Captured(step), trainer(), trainer()
    assert history(captured, ours, True) == history(step, plain, True)
    assert ours.steps == 4


# logging

LOGGER = logging.getLogger("graphwright.tests.training")
TEXT = io.StringIO()


@pytest.fixture(autouse=True)
def handler() -> Any:
    handler = logging.StreamHandler(TEXT)
    handler.setFormatter(logging.Formatter("%(levelname)s %(funcName)s %(lineno)d %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    TEXT.seek(0)
    TEXT.truncate()
    yield
    LOGGER.removeHandler(handler)


def texts(x: Any) -> Any:
    y = x + 1
    LOGGER.info("shape %s of %d", "of x", x.shape[0])
    LOGGER.debug("not shown")
    z = y * 2
    LOGGER.warning(f"{x.ndim} dimensions")
    return z


def helper(x: Any) -> Any:
    LOGGER.info("in the helper")
    return x * 2


def in_a_helper(x: Any) -> Any:
    return helper(x) + 1


def tensors(x: Any) -> Any:
    LOGGER.info("sum %s", x.sum())
    return x * 2


@pytest.mark.parametrize(("program", "whole"), [(texts, True), (in_a_helper, False),
                                                (tensors, True)])  # fmt: skip
def test_records_are_those_of_plain_python(program: Any, whole: bool) -> None:
    program(gw.ones(2, 3))
    expected = TEXT.getvalue()
    captured = Captured(program)
    TEXT.seek(0)
    TEXT.truncate()
    captured(gw.ones(2, 3))
    assert TEXT.getvalue() == expected
    assert (not captured.breaks) == whole


# batch normalisation over all that was seen


@pytest.mark.parametrize("backend", ["eager", "llvm"])
def test_a_batch_norm_that_averages_over_all_batches_is_one_graph(backend: str) -> None:
    ours, expected = (nn.BatchNorm1d(4, momentum=None) for _ in range(2))
    compiled: Any = gw.compile(ours, fullgraph=True, backend=backend)
    for number in range(4):
        x = gw.full((3, 4), float(number)) + gw.arange(12.0).reshape(3, 4)
        assert gw.allclose(compiled(x), expected(x), atol=1e-6)
        assert gw.allclose(ours.running_mean, expected.running_mean)
        assert gw.allclose(ours.running_var, expected.running_var)
        assert ours.num_batches_tracked.item() == number + 1


# inputs that are overwritten by one another


def counted_average(average: Any, count: Any, x: Any) -> Any:
    """The factor is needed where the average is, after the count was overwritten."""
    count.add_(1)
    factor = 1.0 / count.double()
    mean = x.mean(0)
    average.mul_(1 - factor)
    average.add_(mean * factor)
    return x - mean


def crosswise(average: Any, count: Any, x: Any) -> Any:
    """Each is overwritten with what the other was."""
    factor, first = count + 1, average[0] * 2
    mean = x.mean(0)
    average.copy_(average * factor + mean)
    count.copy_(first)
    return mean


@pytest.mark.parametrize("program", [counted_average, crosswise])
def test_overwritten_inputs_are_read_as_they_were(program: Any) -> None:
    compiled: Any = gw.compile(program, fullgraph=True, backend="llvm")
    ours = gw.ones(4), gw.ones(()), gw.arange(12.0).reshape(3, 4)
    expected = [tensor.clone() for tensor in ours]
    for _ in range(3):
        assert gw.allclose(compiled(*ours), program(*expected))
        assert all(gw.allclose(a, b) for a, b in zip(ours, expected, strict=True))


def scaled(trainer: Trainer, scaler: Any, x: Any) -> Any:
    trainer.optimizer.zero_grad()
    loss = trainer.model(x).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(trainer.optimizer)
    clip_grad_norm_(trainer.model.parameters(), 0.5)
    scaler.step(trainer.optimizer)
    scaler.update()
    return loss.detach()


def scaled_history(function: Callable[..., Any]) -> list[Any]:
    """Ten steps, of which one overflows."""
    trainer = Trainer(OPTIMIZERS["SGD"])
    scaler = gw.amp.GradScaler("cpu", init_scale=4.0, growth_interval=3)
    inputs = [gw.full((3, 4), float("inf") if n == 5 else n / 4) for n in range(10)]
    return [
        (picture(function(trainer, scaler, x)), scaler.get_scale(), trainer.state())
        for x in inputs
    ]


def test_a_scaled_step_breaks_only_where_gradients_may_have_overflowed() -> None:
    captured = Captured(scaled)
    assert repr(scaled_history(captured)) == repr(scaled_history(scaled))
    assert set(captured.breaks) == {"GB0001"}
    assert captured.graphs
