"""Ops of tensors on a GPU, one by one: each runs as a program of the code generator."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.codegen.gpu.fallbacks import FALLBACKS
from graphwright.face import gpu_ops
from graphwright.runtime.ops.table import TABLE

from ...ir.test_every_op import CASES, split_arguments
from .compared import assert_same, on_gpu

DAILY = 30
UNLIKE = frozenset({"max_pool_backward", "empty_like", "empty_strided"})
"""Ops whose results differ from device to device: the samples have indices that no forward pass
gives, or nothing is written."""
STRIDED = ("view", "as_strided")
"""How the names of ops begin that depend on the strides of their input: a copy to a GPU is
dense."""


SAMPLES = [param for param in CASES if param.values[0].name not in UNLIKE]


def check_sample(entry: Any, sample: Any, draw: random.Random) -> None:
    """Assert that the op gives on the GPU what it gives on the CPU, from equal seeds, or refuses
    there what it refuses here, for tensors of a layout and dtype that are drawn."""
    layouts = ("contiguous", "strided")[:1 if entry.name.startswith(STRIDED) else 2]
    layout = draw.choice(layouts)
    dtype = draw.choice((gw.float32, gw.float64, gw.bfloat16))
    print(layout, dtype)
    inputs, fn = split_arguments(entry, sample, layout, dtype)
    here = [x.detach() for x in inputs]
    there = [on_gpu(x) for x in here]
    gw.manual_seed(5)
    try:
        want = fn(*here)
    except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            fn(*there)
        return
    if inputs:
        gw.cuda.reset_fallbacks()
        gw.manual_seed(5)
        assert_same(fn(*there), want)
        assert {*gw.cuda.fallbacks()} <= {*FALLBACKS}
        if TABLE[entry.name].is_inplace:
            assert_same(there[0], here[0])


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "sample"), SAMPLES)
def test_every_op_is_as_on_the_cpu(gpu: Any, draw: random.Random, entry: Any, sample: Any) -> None:
    check_sample(entry, sample, draw)


def test_ops_are_as_on_the_cpu(gpu: Any, draw: random.Random) -> None:
    for param in draw.sample(SAMPLES, k=DAILY):
        print(param.id)
        check_sample(*param.values, draw)


def put(x: Any, mask: Any) -> Any:
    y = x.clone()
    y[mask] = gw.arange(float(mask.sum()), device=x.device)
    return y


@pytest.mark.parametrize("fn", [
    gw.masked_select, lambda x, mask: x[mask], put, lambda x, mask: gw.where(mask)[1],
    lambda x, mask: gw.nonzero(x)], ids=["masked_select", "index", "put", "where", "nonzero"])
def test_sizes_that_values_decide(gpu: Any, fn: Callable[..., Any]) -> None:
    x = gw.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 4.0]])
    gw.cuda.reset_fallbacks()
    assert_same(fn(x.cuda(), (x > 1).cuda()), fn(x, x > 1))
    assert gw.cuda.fallbacks() == {}


def programs() -> int:
    """How many programs were compiled for ops so far."""
    return sum(map(len, gpu_ops._PROGRAMS.values()))


def test_other_sizes_run_the_same_program(gpu: Any) -> None:
    sums = [(3, 5), (7, 4), (100, 33)]
    gw.add(*(gw.ones(2, 9, device="cuda") for _ in range(2)), alpha=3)
    before = programs()
    for shape in sums:
        x, y = gw.randn(shape), gw.randn(shape)
        assert_same(gw.add(x.cuda(), y.cuda(), alpha=3), gw.add(x, y, alpha=3))
    assert programs() == before
    x, y = gw.randn(6, 5), gw.randn(5)
    assert_same(gw.add(x.cuda(), y.cuda(), alpha=3), gw.add(x, y, alpha=3))
    assert programs() == before + 1
    x = gw.randn(12, 10)[::2, ::2]
    assert_same(gw.add(on_gpu(x), on_gpu(y), alpha=3), gw.add(x, y, alpha=3))


@pytest.mark.parametrize("numbers", [(1, 1.0, True), (0.0, -0.0)])
def test_numbers_that_are_equal_but_not_the_same(gpu: Any, numbers: tuple[Any, ...]) -> None:
    for number in numbers:
        x = gw.tensor([2, 3])
        assert_same(x.cuda() / number, x / number)
        assert_same(x.cuda() * number, x * number)


def test_views_at_any_address(gpu: Any) -> None:
    x = gw.randn(1000)
    there = x.cuda()
    for first in range(5):
        assert_same(there[first:first + 700] * 2, x[first:first + 700] * 2)


def test_writes_in_place(gpu: Any) -> None:
    for write in (
        lambda x, y: x.add_(y), lambda x, y: x.mul_(x), lambda x, y: x.t().sub_(y.t()),
        lambda x, y: x[1:, ::2].copy_(y[1:, ::2] + 1), lambda x, y: x[2].zero_(),
        lambda x, y: x.masked_fill_(y > 0, 7.0), lambda x, y: x.clamp_(-0.5, 0.5),
        lambda x, y: x.index_add_(0, gw.tensor([1, 1]).to(x.device), y[:2]),
        lambda x, y: gw.add(x, y, out=x), lambda x, y: x.__setitem__((slice(None), 1), y[:, 0]),
    ):
        here, y = gw.randn(4, 6), gw.randn(4, 6)
        there, version = on_gpu(here), 0
        write(there, y.cuda())
        write(here, y)
        assert there._version > version
        assert_same(there, here)


def test_a_write_to_a_view_is_seen_by_its_base(gpu: Any) -> None:
    x = gw.zeros(4, 4, device="cuda")
    x.t()[1].add_(2)
    x.view(-1)[::5].mul_(3).add_(1)
    want = gw.zeros(4, 4)
    want.t()[1].add_(2)
    want.view(-1)[::5].mul_(3).add_(1)
    assert_same(x, want)


RANDOM: dict[str, Callable[[Any, Any], Any]] = {
    "rand": lambda d, g: gw.rand(5, 7, device=d, generator=g),
    "randn": lambda d, g: gw.randn(5, 7, device=d, generator=g),
    "randint": lambda d, g: gw.randint(-3, 1000, (40,), device=d, generator=g),
    "randperm": lambda d, g: gw.randperm(50, device=d, generator=g),
    "normal_": lambda d, g: gw.empty(33, device=d).normal_(1.0, 2.0, generator=g),
    "uniform_": lambda d, g: gw.empty(33, device=d).uniform_(-1.0, 2.0, generator=g),
    "bernoulli": lambda d, g: gw.bernoulli(gw.full((40,), 0.3, device=d), generator=g),
    "multinomial": lambda d, g: gw.multinomial(gw.arange(1.0, 9.0, device=d), 5, generator=g),
    "exponential_": lambda d, g: gw.empty(33, device=d).exponential_(generator=g),
}


@pytest.mark.parametrize("name", sorted(RANDOM))
@pytest.mark.parametrize("named", [False, True], ids=["default", "generator"])
def test_random_numbers_are_the_cpu_s(gpu: Any, name: str, named: bool) -> None:
    results = []
    for device in ("cpu", "cuda"):
        gw.manual_seed(3)
        generator = gw.Generator(device).manual_seed(11) if named else None
        results.append([RANDOM[name](device, generator) for _ in range(2)])
    assert_same(*reversed(results))
    assert not gw.equal(*results[0])


def test_dropout_and_its_gradient(gpu: Any) -> None:
    results = []
    for device in ("cpu", "cuda"):
        gw.manual_seed(5)
        x = gw.arange(24.0).view(4, 6).to(device).requires_grad_()
        out = gw.nn.functional.dropout(x, 0.4)
        out.sum().backward()
        results.append((out, x.grad))
    assert_same(*reversed(results))


def test_gradients(gpu: Any) -> None:
    results = []
    x, w, target = gw.randn(8, 5), gw.randn(5, 3), gw.arange(8) % 3
    for device in ("cpu", "cuda"):
        a, b = (t.clone().to(device).requires_grad_() for t in (x, w))
        loss = gw.nn.functional.cross_entropy(gw.tanh(a @ b), target.to(device))
        (first,) = gw.autograd.grad(loss, b, create_graph=True)
        (first * first).sum().backward()
        results.append((loss, a.grad, b.grad))
    assert_same(*reversed(results))


def test_what_has_no_kernel_runs_on_the_cpu_and_is_counted(
    gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = gw.randn(4, 4)
    gw.cuda.reset_fallbacks()
    with pytest.warns(UserWarning, match=r"symmetric_eigen: .* runs on the CPU"):
        values = gw.linalg.eigvalsh((x + x.t()).cuda())
    assert_same(values, gw.linalg.eigvalsh(x + x.t()))
    gw.linalg.eigvalsh((x + x.t()).cuda())
    assert gw.cuda.fallbacks() == {"symmetric_eigen": 2}
    assert_same((x.cuda() + 1).sum(0), (x + 1).sum(0))
    assert gw.cuda.fallbacks() == {"symmetric_eigen": 2}


def test_an_index_out_of_bounds_is_an_error_at_the_next_synchronisation(gpu: Any) -> None:
    x = gw.randn(6, 3).cuda()
    out = x[gw.tensor([1, 6], device="cuda")]
    with pytest.raises(IndexError, match=r"\b6\b"):
        gw.cuda.synchronize()
    gw.cuda.synchronize()
    assert out.shape == (2, 3)
    assert_same(x[gw.tensor([1, 5], device="cuda")], x.cpu()[[1, 5]])


def test_devices_are_not_mixed(gpu: Any) -> None:
    x, y = gw.ones(3).cuda(), gw.ones(3)
    with pytest.raises(RuntimeError, match="input on cuda:0, other on cpu"):
        x + y
    assert_same(x + gw.tensor(2.0), y + 2)
    assert_same(x[gw.tensor([0, 2])], y[[0, 2]])
    far = gw.ones(3, device="cuda:1")
    with pytest.raises(RuntimeError, match="input on cuda:0, other on cuda:1"):
        x * far
    assert_same(far * 3, y * 3)


def test_threads(gpu: Any) -> None:
    x, failed = gw.randn(16, 16), []
    want = [gw.softmax(x * n, -1) @ x for n in range(8)]

    def work(n: int) -> None:
        try:
            there = x.cuda()
            for _ in range(3):
                assert_same(gw.softmax(there * n, -1) @ there, want[n])
        except AssertionError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


FLOATS: dict[str, Callable[[Any, Any, float], Any]] = {
    "add": lambda x, y, v: gw.add(x, y, alpha=v),
    "mul": lambda x, y, v: x * v,
    "sub_": lambda x, y, v: x.sub_(y, alpha=v),
    "addcdiv_": lambda x, y, v: x.addcdiv_(y, y * y + 1, value=v),
    "lerp": lambda x, y, v: gw.lerp(x, y, v),
    "leaky_relu": lambda x, y, v: gw.nn.functional.leaky_relu(x, v),
    "clamp": lambda x, y, v: gw.clamp(x, max=v),
}


@pytest.mark.parametrize("name", sorted(FLOATS))
def test_floats_that_vary_need_a_few_programs(gpu: Any, name: str) -> None:
    for number in range(12):
        value = 0.1 * number + 0.01
        x, y = gw.randn(3, 4), gw.randn(3, 4)
        there = x.cuda(), y.cuda()
        gw.manual_seed(number)
        got = FLOATS[name](*there, value)
        gw.manual_seed(number)
        assert_same(got, FLOATS[name](x, y, value))
        if number == gpu_ops.FEW_FLOATS + 1:
            before = programs()
    assert programs() == before
