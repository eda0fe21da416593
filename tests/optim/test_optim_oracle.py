"""Every optimiser against PyTorch's over 20 steps, with the options PyTorch's own tests sweep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn, optim

pytestmark = pytest.mark.oracle
NAMES = ["ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "NAdam", "RAdam",
         "RMSprop", "Rprop", "SGD"]  # fmt: skip


def _info(name: str) -> Any:
    pytest.importorskip("torch")
    from torch.testing._internal.common_optimizers import optim_db

    return next(info for info in optim_db if info.optim_cls.__name__ == name)


def _converted(value: Any) -> Any:
    """Options of PyTorch's samples with our tensors in place of theirs."""
    if hasattr(value, "detach"):
        return gw.tensor(value.tolist(), dtype=gw.float32)
    return tuple(map(_converted, value)) if isinstance(value, tuple) else value


def _start(dtype: Any) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((3, 4)).astype(dtype), rng.standard_normal(4).astype(dtype)]


def _train(optimizer: Any, params: list[Any], steps: int) -> None:
    for step in range(steps):

        def closure(step: int = step) -> Any:
            optimizer.zero_grad()
            first, second = params
            loss = ((first * second - step * 0.1) ** 2).sum() + (second.sin() * first).sum()
            loss = loss + (first**4).sum() * 0.1
            loss.backward()
            return loss

        optimizer.step(closure)


def _cases(name: str) -> Iterator[dict[str, Any]]:
    for sample in _info(name).optim_inputs_func(device="cpu"):
        if sample.params is None or name == "LBFGS":
            yield sample.kwargs


def _compare(ours: list[Any], theirs: list[Any], tolerance: float) -> None:
    for mine, reference in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(
            mine.detach().numpy(), reference.detach().numpy(), rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_trajectories(name: str, dtype: Any) -> None:
    torch = pytest.importorskip("torch")
    cases = list(_cases(name))
    if name == "LBFGS":
        cases += [{"line_search_fn": "strong_wolfe", "max_iter": 10, "history_size": 3}]
    assert cases
    for options in cases:
        if options.get("differentiable"):
            continue
        ours = [nn.Parameter(gw.tensor(a)) for a in _start(dtype)]
        theirs = [torch.nn.Parameter(torch.tensor(a)) for a in _start(dtype)]
        own = {key: _converted(value) for key, value in options.items()}
        optimizer = getattr(optim, name)(ours, **own)
        reference = getattr(torch.optim, name)(theirs, **options)
        steps = 3 if name == "LBFGS" else 20
        _train(optimizer, ours, steps)
        _train(reference, theirs, steps)
        loose = name == "LBFGS" and dtype is np.float32
        tolerance = (2e-2 if loose else 5e-4) if dtype is np.float32 else 1e-7
        _compare(ours, theirs, tolerance)
        _same_layout(optimizer.state_dict(), reference.state_dict())


def _same_layout(mine: Any, reference: Any) -> None:
    assert mine["state"].keys() == reference["state"].keys()
    for number, values in reference["state"].items():
        assert mine["state"][number].keys() == values.keys()
        for key, value in values.items():
            if key == "al":
                assert len(mine["state"][number][key]) == len(value)
            if hasattr(value, "detach") and hasattr(mine["state"][number][key], "detach"):
                assert tuple(value.shape) == mine["state"][number][key].shape
                kind = str(mine["state"][number][key].dtype).removeprefix("graphwright.")
                assert str(value.dtype).removeprefix("torch.") == kind
    for own, group in zip(mine["param_groups"], reference["param_groups"], strict=True):
        assert own.keys() == group.keys()


@pytest.mark.parametrize("name", NAMES)
def test_errors(name: str) -> None:
    torch = pytest.importorskip("torch")
    for case in _info(name).optim_error_inputs_func(device="cpu", dtype=torch.float32):
        sample = case.optimizer_error_input
        if case.error_on.name != "CONSTRUCTION_ERROR" or "fused" in sample.kwargs:
            continue
        options = {key: _converted(value) for key, value in sample.kwargs.items()}
        params = [nn.Parameter(gw.ones(2))] if sample.params is None else _ours(sample.params, {})
        warns = issubclass(case.error_type, Warning)
        expected = pytest.warns if warns else pytest.raises
        with expected(case.error_type):
            getattr(optim, name)(params, **options)


def _ours(value: Any, seen: dict[int, Any]) -> Any:
    """PyTorch's parameters, groups of them, or whatever else its error samples give."""
    if id(value) in seen:
        return seen[id(value)]
    if hasattr(value, "detach"):
        made = gw.tensor(value.detach().tolist())
        made.requires_grad = value.requires_grad
        result: Any = made if value.is_leaf else made * 2
    elif isinstance(value, dict):
        result = {key: _ours(item, seen) for key, item in value.items()}
    elif isinstance(value, list | tuple | set):
        result = type(value)(_ours(item, seen) for item in value)
    else:
        return value
    seen[id(value)] = result
    return result


@pytest.mark.parametrize("name", NAMES)
def test_defaults(name: str) -> None:
    torch = pytest.importorskip("torch")
    mine = getattr(optim, name)([nn.Parameter(gw.ones(2))])
    theirs = getattr(torch.optim, name)([torch.nn.Parameter(torch.ones(2))])
    assert mine.defaults == theirs.defaults
