"""SGD, Adam, AdamW: 20 steps against PyTorch's, state, groups, errors, the compiler's form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn, optim
from graphwright.optim.optimizer import required
from graphwright.runtime.ops.table import op

OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd_momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "sgd_dampened": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    "sgd_nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    "sgd_maximize": ("SGD", {"lr": 0.1, "momentum": 0.5, "maximize": True}),
    "adam": ("Adam", {"lr": 0.05}),
    "adam_decay": ("Adam", {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    "adam_amsgrad": ("Adam", {"lr": 0.05, "amsgrad": True, "maximize": True}),
    "adamw": ("AdamW", {"lr": 0.05}),
    "adamw_amsgrad": ("AdamW", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.3}),
    "adamax": ("Adamax", {"lr": 0.05, "weight_decay": 0.1}),
    "nadam": ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "radam": ("RAdam", {"lr": 0.05, "weight_decay": 0.1}),
    "rmsprop": ("RMSprop", {"lr": 0.05, "centered": True, "momentum": 0.5}),
    "adagrad": ("Adagrad", {"lr": 0.05, "lr_decay": 0.1}),
    "adadelta": ("Adadelta", {"lr": 0.05, "maximize": True}),
    "asgd": ("ASGD", {"lr": 0.05, "t0": 2}),
    "rprop": ("Rprop", {"lr": 0.05}),
}
STEPS = [f"{name}_step_" for name in ("sgd", "adam", "adamax", "nadam", "radam", "rmsprop",
                                      "adagrad", "adadelta", "asgd", "rprop")]  # fmt: skip


def _train(library: Any, optimizer: Any, params: list[Any], steps: int) -> None:
    """Minimise a function whose gradients change sign and size."""
    for step in range(steps):
        optimizer.zero_grad()
        first, second = params
        loss = ((first * second - step * 0.1) ** 2).sum() + (second.sin() * first).sum()
        loss.backward()
        optimizer.step()


def _start(dtype: Any) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((3, 4)).astype(dtype), rng.standard_normal(4).astype(dtype)]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPTIONS)
def test_twenty_steps(name: str, dtype: Any) -> None:
    torch = pytest.importorskip("torch")
    kind, options = OPTIONS[name]
    ours = [nn.Parameter(gw.tensor(a)) for a in _start(dtype)]
    theirs = [torch.nn.Parameter(torch.tensor(a)) for a in _start(dtype)]
    _train(gw, getattr(optim, kind)(ours, **options), ours, 20)
    _train(torch, getattr(torch.optim, kind)(theirs, **options), theirs, 20)
    tolerance = 2e-4 if dtype is np.float32 else 1e-9
    for mine, reference in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(
            mine.detach().numpy(), reference.detach().numpy(), rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("name", OPTIONS)
def test_the_decomposition_equals_the_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, options = OPTIONS[name]
    results = []
    for decomposed in (False, True):
        if decomposed:
            for entry in map(op, STEPS):
                monkeypatch.setattr(entry, "run", entry.decompose)
        params = [nn.Parameter(gw.tensor(a)) for a in _start(np.float64)]
        _train(gw, getattr(optim, kind)(params, **options), params, 5)
        results.append([p.detach().numpy() for p in params])
    for kernel, rules in zip(*results, strict=True):
        np.testing.assert_allclose(kernel, rules, rtol=1e-7 if name == "nadam" else 1e-12)


@pytest.mark.parametrize("nesterov", [False, True])
def test_infinite_gradients_with_momentum(nesterov: bool) -> None:
    """A parameter goes where an infinite gradient sends it; NaN is only from NaN."""
    param = nn.Parameter(gw.zeros(4))
    optimizer = optim.SGD([param], lr=0.5, momentum=0.5, nesterov=nesterov)
    param.grad = gw.tensor([float("inf"), -float("inf"), float("nan"), -0.0])
    for _ in range(2):
        optimizer.step()
        np.testing.assert_array_equal(
            param.detach().numpy(), [-float("inf"), float("inf"), float("nan"), 0.0]
        )
        buffer = optimizer.state[param]["momentum_buffer"].numpy()
        np.testing.assert_array_equal(buffer, param.grad.numpy())
        assert np.signbit(buffer[3])


def _after(
    decomposed: bool, kind: str, grads: list[list[float]], **options: Any
) -> list[np.ndarray]:
    """A parameter of ones and its optimiser's state after steps with those gradients."""
    with pytest.MonkeyPatch.context() as patch:
        for entry in map(op, STEPS) if decomposed else ():
            patch.setattr(entry, "run", entry.decompose)
        param = nn.Parameter(gw.ones(len(grads[0])))
        optimizer = getattr(optim, kind)([param], lr=0.5, **options)
        for grad in grads:
            param.grad = gw.tensor(grad)
            optimizer.step()
    state = optimizer.state[param]
    return [param.detach().numpy(), *(state[name].numpy() for name in sorted(state))]


@pytest.mark.parametrize("kind", ["Adam", "NAdam", "RAdam", "RMSprop", "Adadelta"])
def test_gradients_whose_squares_overflow(kind: str) -> None:
    """Their share of the running mean of squares does not, in kernels and in rules."""
    kernel, rules = (_after(decomposed, kind, [[2e19, 1.0]] * 7) for decomposed in (False, True))
    for left, right in zip(kernel, rules, strict=True):
        assert np.isfinite(left).all()
        np.testing.assert_allclose(left, right, rtol=1e-5)


@pytest.mark.parametrize("decomposed", [False, True])
def test_radam_whose_variance_is_never_rectified(decomposed: bool) -> None:
    param, *_ = _after(decomposed, "RAdam", [[1.0, -1.0]] * 2, betas=(0.5, 0.6))
    np.testing.assert_allclose(param, [0.0, 2.0], atol=1e-6)


@pytest.mark.parametrize("decomposed", [False, True])
def test_an_average_that_has_not_begun_is_the_parameter(decomposed: bool) -> None:
    """Also where a difference to it would be NaN, or rounded."""
    param, average, *_ = _after(decomposed, "ASGD", [[float("inf"), 0.1, 1e-3]] * 3)
    np.testing.assert_array_equal(param, average)
    assert np.isneginf(param[0])


@pytest.mark.parametrize("name", OPTIONS)
def test_state_survives_saving(name: str) -> None:
    kind, options = OPTIONS[name]
    params = [nn.Parameter(gw.tensor(a)) for a in _start(np.float64)]
    optimizer = getattr(optim, kind)(params, **options)
    _train(gw, optimizer, params, 3)
    twins = [nn.Parameter(p.detach().clone()) for p in params]
    other = getattr(optim, kind)(twins, lr=99.0)
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["lr"] == options["lr"]
    _train(gw, optimizer, params, 3)
    _train(gw, other, twins, 3)
    for a, b in zip(params, twins, strict=True):
        assert np.array_equal(a.detach().numpy(), b.detach().numpy())


@pytest.mark.parametrize("name", OPTIONS)
def test_a_state_that_was_emptied_begins_anew(name: str) -> None:
    """Whether cleared or loaded from a new optimizer's: as in a fresh optimizer."""
    kind, options = OPTIONS[name]
    params = [nn.Parameter(gw.tensor(a)) for a in _start(np.float64)]
    optimizer = getattr(optim, kind)(params, **options)
    _train(gw, optimizer, params, 2)
    for empty in (optimizer.state.clear, lambda: optimizer.load_state_dict(
            {**optimizer.state_dict(), "state": {}})):
        twins = [nn.Parameter(p.detach().clone()) for p in params]
        empty()
        _train(gw, optimizer, params, 3)
        _train(gw, getattr(optim, kind)(twins, **options), twins, 3)
        for a, b in zip(params, twins, strict=True):
            assert np.array_equal(a.detach().numpy(), b.detach().numpy())


def test_non_contiguous_parameters_and_half_precision() -> None:
    base = gw.tensor(np.arange(6.0).reshape(2, 3))
    param = nn.Parameter(base.transpose(0, 1))
    param.grad = gw.ones(3, 2, dtype=gw.float64)
    optim.SGD([param], lr=1.0).step()
    assert param.detach().tolist() == [[-1, 2], [0, 3], [1, 4]]
    half = nn.Parameter(gw.ones(4, dtype=gw.bfloat16))
    half.grad = gw.ones(4, dtype=gw.bfloat16)
    optim.Adam([half], lr=0.5).step()
    np.testing.assert_allclose(half.detach().float().numpy(), [0.5] * 4, atol=0.01)


def test_groups_have_their_own_options() -> None:
    a, b = nn.Parameter(gw.zeros(1)), nn.Parameter(gw.zeros(1))
    optimizer = optim.SGD([{"params": [a], "lr": 1.0}, {"params": b}], lr=0.1)
    a.grad, b.grad = gw.ones(1), gw.ones(1)
    optimizer.step()
    np.testing.assert_allclose([a.item(), b.item()], [-1.0, -0.1], rtol=1e-6)
    optimizer.zero_grad()
    optimizer.step()
    assert a.grad is None and a.item() == -1.0


def test_a_step_is_seen_by_the_version_check() -> None:
    weight = nn.Parameter(gw.ones(2))
    loss = (weight * weight).sum()
    weight.grad = gw.ones(2)
    optim.SGD([weight], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_closure() -> None:
    weight = nn.Parameter(gw.ones(1))
    optimizer = optim.SGD([weight], lr=0.5)

    def closure() -> gw.Tensor:
        optimizer.zero_grad()
        loss = (weight * weight).sum()
        loss.backward()
        return loss

    with gw.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert weight.item() == 0.0


def test_refused() -> None:
    weight = nn.Parameter(gw.ones(1))
    with pytest.raises(ValueError, match="empty parameter list"):
        optim.SGD([], lr=1)
    with pytest.raises(TypeError, match="iterable of Tensors"):
        optim.SGD(weight, lr=1)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        optim.Adam([weight], lr=-1)
    with pytest.raises(ValueError, match=r"beta parameter at index 1: 1\.5"):
        optim.Adam([weight], betas=(0.9, 1.5))
    with pytest.raises(ValueError, match="non-leaf"):
        optim.SGD([weight * 2], lr=1)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([weight, weight], lr=1)
    with pytest.raises(ValueError, match="more than one parameter group"):
        optim.SGD([{"params": weight}, {"params": weight}])
    with pytest.raises(TypeError, match="ordered collections"):
        optim.SGD([{"params": {weight}}])
    with pytest.raises(TypeError, match="must be a dict"):
        optim.SGD([weight]).add_param_group([weight])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="required optimization parameter rate"):
        optim.Optimizer([weight], {"rate": required})
    with pytest.raises(ValueError, match="Nesterov"):
        optim.SGD([weight], lr=1, nesterov=True)
    two = [nn.Parameter(gw.ones(1)), nn.Parameter(gw.ones(1))]
    with pytest.raises(ValueError, match="doesn't match the size"):
        optim.SGD([weight], lr=1).load_state_dict(optim.SGD(two, lr=1).state_dict())


def test_printing() -> None:
    text = repr(optim.SGD([nn.Parameter(gw.ones(1))], lr=0.5))
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: Fal")
    assert "\n    lr: 0.5\n" in text


@pytest.mark.parametrize("name", OPTIONS)
def test_compiled_steps(name: str) -> None:
    kind, options = OPTIONS[name]
    results = []
    for compiled in (False, True):
        params = [nn.Parameter(gw.tensor(a)) for a in _start(np.float64)]
        optimizer = getattr(optim, kind)(params, **options)

        def step(optimizer: Any = optimizer, params: Any = params) -> Any:
            optimizer.zero_grad()
            loss = ((params[0] * params[1]) ** 2).sum()
            loss.backward()
            optimizer.step()
            return loss

        run = gw.compile(step) if compiled else step
        for _ in range(4):
            run()
        results.append([p.detach().numpy() for p in params])
    for eager, native in zip(*results, strict=True):
        np.testing.assert_allclose(native, eager, rtol=1e-7 if name == "nadam" else 1e-10)


def test_hooks_around_steps_and_states() -> None:
    weight = nn.Parameter(gw.ones(1))
    optimizer = optim.SGD([weight], lr=0.5)
    seen: list[str] = []
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before")),
        optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after")),
    ]
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("saving"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append("loading"))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    weight.grad = gw.ones(1)
    optimizer.step()
    state = optimizer.state_dict()
    assert state["more"] == 1
    optimizer.load_state_dict(state)
    assert seen == ["before", "after", "saving", "loading", "loaded"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert seen[-1] == "loaded" and weight.item() == 0.0


def test_a_subclass_with_its_own_step() -> None:
    class Plain(optim.Optimizer):
        @gw.no_grad()
        def step(self, closure: Any = None) -> Any:
            for group in self.param_groups:
                for param in group["params"]:
                    param.sub_(param.grad * group["lr"])

    weight = nn.Parameter(gw.ones(1))
    optimizer = Plain([("weight", weight)], {"lr": 0.25})
    seen: list[int] = []
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(1))
    weight.grad = gw.ones(1)
    optimizer.step()
    assert weight.item() == 0.75 and seen == [1]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight"]


def test_averaged_models() -> None:
    from graphwright.optim.swa_utils import AveragedModel, get_ema_avg_fn

    net = nn.Linear(2, 1)
    mean, moving = AveragedModel(net), AveragedModel(net, avg_fn=get_ema_avg_fn(0.5))
    history = []
    for value in (1.0, 2.0, 6.0):
        with gw.no_grad():
            net.weight.fill_(value)
        history.append(value)
        mean.update_parameters(net)
        moving.update_parameters(net)
    assert mean.module.weight.detach().tolist() == [[3.0, 3.0]] and mean.n_averaged.item() == 3
    assert moving.module.weight.detach().tolist() == [[3.75, 3.75]]
    assert mean(gw.ones(1, 2)).shape == (1, 1)


def test_an_optimiser_around_another_may_leave_out_its_own_beginning() -> None:
    class Around(gw.optim.Optimizer):
        def __init__(self, inner: gw.optim.Optimizer) -> None:
            self.inner = inner
            self.param_groups = inner.param_groups

        def step(self, closure: Any = None) -> Any:
            return self.inner.step(closure)

    weight = gw.nn.Parameter(gw.ones(2))
    weight.grad = gw.ones(2)
    around, seen = Around(gw.optim.SGD([weight], lr=0.5)), []
    around.step()
    around.register_step_post_hook(lambda *given: seen.append(given))
    around.step()
    assert weight.tolist() == [0.0, 0.0] and len(seen) == 1


def test_hooks_on_the_steps_of_all_optimisers() -> None:
    from graphwright.optim import optimizer as of_optimizers

    seen: list[str] = []
    weight = nn.Parameter(gw.ones(1))
    weight.grad = gw.ones(1)
    step: Any = optim.SGD([weight])
    other: Any = optim.LBFGS([weight])
    step.name, other.name = "SGD", "LBFGS"
    with (
        of_optimizers.register_optimizer_step_pre_hook(lambda o, *_: seen.append(o.name)),
        of_optimizers.register_optimizer_step_post_hook(lambda *_: seen.append("after")),
    ):
        step.step()
        other.step(lambda: gw.zeros(1))
    step.step()
    assert seen == ["SGD", "after", "LBFGS", "after"]


def test_a_hook_on_the_state_may_be_put_before_the_others() -> None:
    seen: list[str] = []
    optimizer = optim.SGD([nn.Parameter(gw.ones(1))])
    optimizer.register_state_dict_pre_hook(lambda _: seen.append("second"))
    optimizer.register_state_dict_pre_hook(lambda _: seen.append("first"), prepend=True)
    optimizer.state_dict()
    assert seen == ["first", "second"]


def test_sparse_adam_refuses_dense_gradients() -> None:
    parameter = gw.nn.Parameter(gw.ones(2))
    optimizer = gw.optim.SparseAdam([parameter])
    optimizer.step()
    parameter.sum().backward()
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        optimizer.step()
    with pytest.raises(ValueError, match="beta parameter at index 0"):
        gw.optim.SparseAdam([parameter], betas=(1.0, 0.9))


def test_averages_are_given_the_count_as_a_tensor() -> None:
    from graphwright.optim.swa_utils import AveragedModel

    counts: list[int] = []

    def last(averaged: gw.Tensor, current: gw.Tensor, count: gw.Tensor) -> gw.Tensor:
        counts.append(int(count.item()))
        return current

    net = gw.nn.Linear(1, 1, bias=False)
    averaged = AveragedModel(net, avg_fn=last)
    for _ in range(3):
        averaged.update_parameters(net)
    assert counts == [1, 2]


def test_averages_of_buffers_include_those_of_integers_and_complex_numbers() -> None:
    from graphwright.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    net = gw.nn.Module()
    net.register_buffer("count", gw.tensor(0))
    net.register_buffer("phase", gw.tensor(0j))
    models = [
        AveragedModel(net, use_buffers=True),
        AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.5), use_buffers=True),
    ]
    for value in (0, 10, 20):
        net.count.fill_(value)
        net.phase.fill_(value * 1j)
        for model in models:
            model.update_parameters(net)
    assert [(m.module.count.item(), m.module.phase.item()) for m in models] == [
        (10, 10j), (12, 12.5j),
    ]


def test_named_parameters_are_told_of_with_their_names() -> None:
    optimizer = optim.SGD([("weight", nn.Parameter(gw.ones(1)))], lr=0.1)
    assert "    param_names: ['weight']\n" in repr(optimizer)
