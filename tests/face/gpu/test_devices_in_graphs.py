"""Compiled functions with tensors of several devices: copies, constants, guards, streams."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime.cuda import fallbacks

from .compiled import moved

SCALES = gw.arange(5.0)


def stats(compiled: Any) -> tuple[int, ...]:
    """Graphs, breaks, frames run as plain Python, recompiles, kernels."""
    found = gw.compiler.stats(compiled)
    return found.graphs, found.breaks, found.fallbacks, found.recompiles, found.kernels


def test_copies_within_a_graph(gpu: Any) -> None:
    def f(x: Any, w: Any) -> Any:
        return gw.softmax(x.cuda() @ w.to("cuda"), -1).cpu() + 1

    x, w = gw.randn(3, 4), gw.randn(4, 5, requires_grad=True)
    compiled = gw.compile(f)
    out = compiled(x, w)
    assert out.device.type == "cpu"
    gw.testing.assert_close(out, f(x, w))
    out.pow(2).sum().backward()
    got, w.grad = w.grad, None
    f(x, w).pow(2).sum().backward()
    assert got.device.type == "cpu"
    gw.testing.assert_close(got, w.grad)
    assert stats(compiled)[:4] == (1, 0, 0, 0)


def test_constants_of_a_graph(gpu: Any) -> None:
    closed_over = SCALES.cuda()

    def f(x: Any) -> Any:
        steps = gw.arange(5, device=x.device) + gw.ones_like(x) * gw.zeros(5, device="cuda")
        return x + closed_over + gw.tensor([1.0, 2.0, 3.0, 4.0, 5.0], device="cuda") + steps

    compiled = gw.compile(f)
    x = gw.randn(3, 5).cuda()
    for _ in range(2):
        assert gw.equal(compiled(x), f(x))
        closed_over.add_(1)
    assert stats(compiled)[:4] == (1, 0, 0, 0)


def test_numbers_on_the_cpu(gpu: Any) -> None:
    """A tensor of main memory without dims is a number to kernels."""
    compiled = gw.compile(lambda x, scale: x * scale)
    x = gw.randn(3, 5)
    for number in (2.0, 3.0):
        out = compiled(x.cuda(), gw.tensor(number))
        assert out.is_cuda and gw.equal(out.cpu(), x * number)
    assert stats(compiled) == (1, 0, 0, 0, 1)


def test_inputs_of_another_device_are_compiled_for_it(gpu: Any) -> None:
    compiled = gw.compile(lambda x: x * 2 + 1)
    x = gw.randn(3, 4)
    for count, device in enumerate(("cpu", "cuda:0", "cuda:1"), 1):
        there = x.to(device)
        for _ in range(2):
            out = compiled(there)
            assert out.device == there.device
            gw.testing.assert_close(out.cpu(), x * 2 + 1)
        assert stats(compiled)[0] == count and stats(compiled)[3] == count - 1
    for device in ("cuda:1", "cpu", "cuda:0"):
        assert compiled(x.to(device)).device == gw.device(device)
    assert stats(compiled)[0] == 3


def test_the_current_gpu_is_guarded(gpu: Any) -> None:
    """It is what "cuda" means, to copies and to new tensors."""
    made = gw.compile(lambda: gw.zeros(3, device="cuda") + 1)
    copied = gw.compile(lambda x: x.cuda() + gw.cuda.current_device())
    x = gw.zeros(3)
    for index in (0, 1, 0):
        with gw.cuda.device(index):
            assert made().device.index == index
            assert gw.equal(copied(x), gw.full((3,), float(index), device="cuda"))
    assert stats(made)[:4] == stats(copied)[:4] == (2, 0, 0, 1)

    def within(x: Any) -> Any:
        with gw.cuda.device(1):
            return x.cuda() * gw.ones(3, device="cuda")

    assert gw.compile(within)(x).device.index == 1 and gw.cuda.current_device() == 0


def test_two_gpus_in_one_graph(gpu: Any) -> None:
    def f(a: Any, b: Any) -> Any:
        total = a * 2 + b.to(a.device)
        return total, (total.to(b.device) * b).sum()

    a, b = gw.randn(4, 5), gw.randn(4, 5)
    compiled = gw.compile(f)
    total, product = compiled(a.to("cuda:0"), b.to("cuda:1"))
    assert (total.device.index, product.device.index) == (0, 1)
    gw.testing.assert_close((total.cpu(), product.cpu()), f(a, b))
    assert stats(compiled)[:4] == (1, 0, 0, 0)


@pytest.mark.parametrize("other", ["cpu", "cuda:1"])
def test_mixed_devices_are_refused_as_by_eager_ops(gpu: Any, other: str) -> None:
    x, y = gw.ones(3).to("cuda:0"), gw.ones(3).to(other)
    texts = []
    for add in (gw.add, gw.compile(gw.add)):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same") as caught:
            add(x, y)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_work_goes_to_the_current_stream(gpu: Any) -> None:
    compiled = gw.compile(lambda x: x * 2)
    x = gw.ones(4, device="cuda")
    compiled(x)
    gw.cuda.synchronize()
    stream, before = gw.cuda.Stream(), len(gpu.launches)
    with gw.cuda.stream(stream):
        out = compiled(x)
    gw.cuda.default_stream().synchronize()
    assert len(gpu.launches) == before          # nothing waits for the other stream
    stream.synchronize()
    assert len(gpu.launches) == before + 1
    assert gw.equal(out.cpu(), gw.full((4,), 2.0))


def test_threads_with_streams_of_their_own(gpu: Any) -> None:
    compiled = gw.compile(lambda x: gw.softmax(x @ x.t(), -1))
    x = gw.randn(4, 5)
    want = compiled(x.cuda()).cpu()
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(3):
            with gw.cuda.stream(gw.cuda.Stream()):
                got = compiled(x.cuda()).cpu()
            if not gw.equal(got, want):
                wrong.append(got)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(gpu.launches) == stats(compiled)[-1] * (1 + 12)


def test_views_of_inputs_are_written(gpu: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        rows = x[1:3]
        rows.mul_(2)
        x[:, 0] = y[:, 1]
        y.t().add_(1)
        x.view(-1)[::3] += 1
        return x.t(), rows

    here = gw.randn(4, 5), gw.randn(4, 5)
    there = moved(here, "cuda")
    compiled = gw.compile(f)
    transposed, rows = compiled(*there)
    want = f(*here)
    for got, expected in zip((transposed, rows, *there), (*want, *here), strict=True):
        gw.testing.assert_close(got.cpu(), expected)
    assert transposed.data_ptr() == there[0].data_ptr()
    assert rows._version == there[0]._version > 0
    assert stats(compiled)[:4] == (1, 0, 0, 0)


def test_graph_breaks(gpu: Any) -> None:
    def f(x: Any) -> Any:
        y = gw.sin(x)
        gw.compiler.graph_break()
        if y.sum() > 0:
            return y * 2, y.sum().item()
        return y - 1, y.sum().item()

    compiled = gw.compile(f)
    for x in (gw.ones(3), -gw.ones(3)):
        (got, total), (want, expected) = compiled(x.cuda()), f(x)
        gw.testing.assert_close(got.cpu(), want)
        assert abs(total - expected) < 1e-5
    graphs, breaks, as_plain_python, recompiles, _ = stats(compiled)
    assert breaks >= 2 and graphs >= 3 and (as_plain_python, recompiles) == (0, 0)


@pytest.mark.parametrize("mode", ["reduce-overhead", "max-autotune"])
def test_modes(gpu: Any, mode: str) -> None:
    compiled = gw.compile(lambda x: x * 2 + 1, mode=mode)
    assert gw.equal(compiled(gw.ones(4, device="cuda")).cpu(), gw.full((4,), 3.0))
    assert stats(compiled) == (1, 0, 0, 0, 1)


def test_branches_on_the_gpu(gpu: Any) -> None:
    def f(x: Any) -> Any:
        return gw.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))

    compiled = gw.compile(f)
    for x in (gw.ones(3), -gw.ones(3)):
        assert gw.equal(compiled(x.cuda()).cpu(), f(x))
    assert stats(compiled)[:4] == (1, 0, 0, 0) and fallbacks.counts() == {}


def test_gradients_of_other_strides(gpu: Any) -> None:
    """A backward that takes transposed gradients gets them laid out on their device."""
    compiled = gw.compile(lambda x: x.t() * 2)
    x = gw.randn(3, 4, requires_grad=True)
    there = moved(x, "cuda")
    grad = gw.randn(4, 3)
    compiled(there).backward(grad.cuda())
    assert gw.equal(there.grad.cpu(), (grad * 2).t())
