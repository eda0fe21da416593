"""Learning rate schedules against PyTorch's over 50 steps: rates, momenta, saving, errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn, optim
from graphwright.optim import lr_scheduler as schedules

Make = Callable[[Any, Any], Any]

MAKERS: dict[str, Make] = {
    "step": lambda s, o: s.StepLR(o, 7, gamma=0.5),
    "multi_step": lambda s, o: s.MultiStepLR(o, [3, 10, 10, 30], gamma=0.3),
    "constant": lambda s, o: s.ConstantLR(o, factor=0.25, total_iters=8),
    "linear": lambda s, o: s.LinearLR(o, start_factor=0.2, end_factor=0.9, total_iters=12),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.93),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, T_max=12, eta_min=0.001),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=5, T_mult=2, eta_min=0.01),
    "one_cycle": lambda s, o: s.OneCycleLR(o, max_lr=[0.5, 1.0], total_steps=60),
    "one_cycle_linear": lambda s, o: s.OneCycleLR(
        o, max_lr=0.5, epochs=6, steps_per_epoch=10, anneal_strategy="linear", three_phase=True
    ),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.2, step_size_up=4, step_size_down=6),
    "cyclic_halving": lambda s, o: s.CyclicLR(o, 0.01, 0.2, step_size_up=4, mode="triangular2"),
    "cyclic_range": lambda s, o: s.CyclicLR(
        o, [0.01, 0.02], [0.2, 0.4], step_size_up=5, mode="exp_range", gamma=0.97
    ),
    "cyclic_own": lambda s, o: s.CyclicLR(
        o, 0.01, 0.2, step_size_up=5, scale_fn=lambda x: 1 / x, cycle_momentum=False
    ),
    "polynomial": lambda s, o: s.PolynomialLR(o, total_iters=30, power=2.0),
    "lambda": lambda s, o: s.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (1 + e)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95),
    "sequential": lambda s, o: s.SequentialLR(
        o,
        [s.ConstantLR(o, 0.1, total_iters=20), s.ExponentialLR(o, 0.9), s.StepLR(o, 4)],
        milestones=[10, 30],
    ),
    "sequential_warmup": lambda s, o: s.SequentialLR(
        o,
        [s.LinearLR(o, 0.1, total_iters=5), s.CosineAnnealingLR(o, 40)],
        milestones=[5],
    ),
    "sequential_restarts": lambda s, o: s.SequentialLR(
        o, [s.StepLR(o, 4), s.CosineAnnealingWarmRestarts(o, 6)], milestones=[9]
    ),
    "chained": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, total_iters=4), s.ExponentialLR(o, 0.95)], optimizer=o
    ),
    "sequential_of_chained": lambda s, o: s.SequentialLR(
        o,
        [
            s.ChainedScheduler([s.ConstantLR(o, 0.1, total_iters=3), s.ExponentialLR(o, 0.9)]),
            s.StepLR(o, 2),
        ],
        milestones=[6],
    ),
    "sequential_of_sequential": lambda s, o: s.SequentialLR(
        o,
        [
            s.SequentialLR(o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)], [3]),
            s.StepLR(o, 2),
        ],
        milestones=[6],
    ),
}


def _optimizer(library: Any, kind: str = "SGD") -> Any:
    params = [library.nn.Parameter(library.ones(2)) for _ in range(2)]
    options = {"momentum": 0.5} if kind == "SGD" else {}
    groups = [{"params": [params[0]]}, {"params": [params[1]], "lr": 0.3}]
    return getattr(library.optim, kind)(groups, lr=0.1, **options)


def _rates(optimizer: Any) -> list[float]:
    values = []
    for group in optimizer.param_groups:
        values += [group["lr"], group.get("momentum", 0.0), group.get("betas", (0.0,))[0]]
    return values


def _run(scheduler: Any, optimizer: Any, steps: int) -> list[list[float]]:
    seen = [_rates(optimizer) + list(scheduler.get_last_lr())]
    for _ in range(steps):
        optimizer.step()
        scheduler.step()
        seen.append(_rates(optimizer) + list(scheduler.get_last_lr()))
    return seen


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", MAKERS)
def test_fifty_steps(name: str, kind: str) -> None:
    torch = pytest.importorskip("torch")
    results = []
    for library, module in ((gw, schedules), (torch, torch.optim.lr_scheduler)):
        optimizer = _optimizer(library, kind)
        results.append(_run(MAKERS[name](module, optimizer), optimizer, 50))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12, atol=1e-15)


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["step", "multi_step", "linear", "exponential", "cosine",
                                  "polynomial", "lambda", "multiplicative"])  # fmt: skip
def test_resumed_at_an_epoch(name: str) -> None:
    torch = pytest.importorskip("torch")
    makers: dict[str, Make] = {
        "step": lambda s, o: s.StepLR(o, 7, last_epoch=5),
        "multi_step": lambda s, o: s.MultiStepLR(o, [3, 6, 9], last_epoch=5),
        "linear": lambda s, o: s.LinearLR(o, total_iters=12, last_epoch=5),
        "exponential": lambda s, o: s.ExponentialLR(o, 0.9, last_epoch=5),
        "cosine": lambda s, o: s.CosineAnnealingLR(o, 12, last_epoch=5),
        "polynomial": lambda s, o: s.PolynomialLR(o, 30, last_epoch=5),
        "lambda": lambda s, o: s.LambdaLR(o, lambda e: 0.9**e, last_epoch=5),
        "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.9, last_epoch=5),
    }
    results = []
    for library, module in ((gw, schedules), (torch, torch.optim.lr_scheduler)):
        optimizer = _optimizer(library)
        with pytest.raises(KeyError, match="initial_lr"):
            makers[name](module, optimizer)
        for group in optimizer.param_groups:
            group["initial_lr"] = 0.7
        results.append(_run(makers[name](module, optimizer), optimizer, 10))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


@pytest.mark.oracle
@pytest.mark.parametrize("options", [
    {"patience": 2}, {"mode": "max", "patience": 1, "factor": 0.5, "min_lr": [0.01, 0.05]},
    {"threshold_mode": "abs", "threshold": 0.1, "cooldown": 3, "patience": 0},
])  # fmt: skip
def test_plateau(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    metrics = np.random.default_rng(0).random(50).round(2)
    results = []
    for library, module in ((gw, schedules), (torch, torch.optim.lr_scheduler)):
        optimizer = _optimizer(library)
        scheduler = module.ReduceLROnPlateau(optimizer, **options)
        seen = []
        for metric in metrics:
            scheduler.step(library.tensor(metric))
            seen.append(_rates(optimizer) + list(scheduler.get_last_lr()))
        results.append(seen)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize("name", MAKERS)
def test_state_survives(name: str) -> None:
    optimizer = _optimizer(gw)
    scheduler = MAKERS[name](schedules, optimizer)
    _run(scheduler, optimizer, 12)
    other = _optimizer(gw)
    twin = MAKERS[name](schedules, other)
    other.load_state_dict(optimizer.state_dict())
    twin.load_state_dict(scheduler.state_dict())
    assert _run(scheduler, optimizer, 12) == _run(twin, other, 12)


@pytest.mark.oracle
def test_jumping_to_an_epoch() -> None:
    torch = pytest.importorskip("torch")
    results = []
    for library, module in ((gw, schedules), (torch, torch.optim.lr_scheduler)):
        optimizer = _optimizer(library)
        scheduler = module.StepLR(optimizer, 3)
        restarts = module.CosineAnnealingWarmRestarts(optimizer, 3, T_mult=2)
        seen = []
        for epoch in (4, 9, 2):
            with pytest.warns(UserWarning, match="epoch parameter"):
                scheduler.step(epoch)
            seen.append(_rates(optimizer))
            restarts.step(epoch + 0.5)
            seen.append(_rates(optimizer))
        results.append(seen)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12)


def test_a_tensor_rate_is_written_in_place() -> None:
    rate = gw.tensor(0.5)
    optimizer = optim.SGD([nn.Parameter(gw.ones(2))], lr=rate)  # type: ignore[arg-type]
    scheduler = schedules.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert rate.item() == 0.25 and optimizer.param_groups[0]["lr"] is rate
    assert scheduler.get_last_lr()[0] is not rate


def test_a_step_before_the_optimizers_warns() -> None:
    scheduler = schedules.StepLR(_optimizer(gw), 2)
    with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`"):
        scheduler.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


@pytest.mark.parametrize("name", ["StepLR", "LinearLR", "ConstantLR", "PolynomialLR"])
def test_rates_are_those_of_a_step(name: str) -> None:
    """`get_lr` goes on from the present rates, so that asking outside of a step misleads."""
    optimizer = gw.optim.SGD([gw.ones(1, requires_grad=True)], 0.5)
    rest = (2,) if name == "StepLR" else ()
    schedule = getattr(gw.optim.lr_scheduler, name)(optimizer, *rest)
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        schedule.get_lr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        schedule.step()
    assert schedule.state_dict()["_get_lr_called_within_step"] is False


def test_refused() -> None:
    optimizer = _optimizer(gw)
    refused: list[tuple[type[Exception], Callable[[], Any]]] = [
        (TypeError, lambda: schedules.StepLR(3, 1)),  # type: ignore[arg-type]
        (ValueError, lambda: schedules.LambdaLR(optimizer, [lambda e: 1.0])),
        (TypeError, lambda: schedules.MultiplicativeLR(optimizer, 3)),  # type: ignore[arg-type]
        (ValueError, lambda: schedules.ConstantLR(optimizer, factor=2)),
        (ValueError, lambda: schedules.LinearLR(optimizer, start_factor=0)),
        (ValueError, lambda: schedules.LinearLR(optimizer, end_factor=2)),
        (ValueError, lambda: schedules.CosineAnnealingWarmRestarts(optimizer, 0)),
        (ValueError, lambda: schedules.CosineAnnealingWarmRestarts(optimizer, 2, T_mult=0)),
        (ValueError, lambda: schedules.OneCycleLR(optimizer, 1.0)),
        (ValueError, lambda: schedules.OneCycleLR(optimizer, 1.0, total_steps=0)),
        (ValueError, lambda: schedules.OneCycleLR(optimizer, 1.0, 9, anneal_strategy="no")),
        (ValueError, lambda: schedules.CyclicLR(optimizer, 0.1, 1.0, mode="no")),
        (ValueError, lambda: schedules.CyclicLR(optimizer, [0.1], 1.0)),
        (ValueError, lambda: schedules.ReduceLROnPlateau(optimizer, factor=1.0)),
        (ValueError, lambda: schedules.ReduceLROnPlateau(optimizer, mode="no")),
        (ValueError, lambda: schedules.ReduceLROnPlateau(optimizer, min_lr=[0.1])),
        (ValueError, lambda: schedules.SequentialLR(optimizer, [], [])),
        (ValueError, lambda: schedules.ChainedScheduler(
            [schedules.StepLR(optimizer, 1), schedules.StepLR(_optimizer(gw), 1)])),
    ]  # fmt: skip
    for kind, call in refused:
        with pytest.raises(kind):
            call()


def test_last_rates_stay_as_they_were_where_rates_are_tensors() -> None:
    optimizer = optim.SGD([nn.Parameter(gw.ones(1))], lr=gw.tensor(0.5))
    plateau = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    kept = []
    for _ in range(3):
        optimizer.step()
        plateau.step(1.0)
        kept.append(plateau.get_last_lr()[0])
    assert [round(rate.item(), 5) for rate in kept] == [0.5, 0.05, 0.005]


def test_composed_schedules_step_by_one_epoch_only() -> None:
    optimizer = _optimizer(gw)
    parts = [schedules.StepLR(optimizer, 2), schedules.ExponentialLR(optimizer, 0.9)]
    for composed in (
        schedules.SequentialLR(optimizer, parts, [3]), schedules.ChainedScheduler(parts)
    ):
        with pytest.raises(TypeError):
            composed.step(0)  # type: ignore[call-arg]


def test_a_schedule_that_starts_anew_has_made_no_step() -> None:
    """Nor has it to be warned of the optimiser's, which comes after."""
    optimizer = _optimizer(gw)
    late = schedules.ExponentialLR(optimizer, 0.5)
    both = schedules.SequentialLR(optimizer, [schedules.StepLR(optimizer, 9), late], [2])
    for _ in range(3):
        optimizer.step()
        both.step()
    assert [late.last_epoch, late.state_dict()["_step_count"]] == [1, 2]
    assert optimizer.param_groups[0]["lr"] == 0.05
