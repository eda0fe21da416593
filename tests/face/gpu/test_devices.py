"""Where results lie whose operands are on the CPU and on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from .compared import assert_same

F = gw.nn.functional
Program = Callable[[Any, Any], Any]
WITH_A_NUMBER: dict[str, Program] = {
    "number first": lambda n, x: n * x,
    "number last": lambda n, x: x - n,
    "beside none with dims": lambda n, x: n + x[0],
    "comparison": lambda n, x: n >= x,
    "where": lambda n, x: gw.where(x > 1, n, x),
    "where of numbers": lambda n, x: gw.where(x > 1, 1.0, n),
    "condition": lambda n, x: gw.where(n > 0, x, -x),
    "three operands": lambda n, x: gw.addcmul(n, x, x),
    "bounds": lambda n, x: gw.clamp(x, -n, n),
    "masked": lambda n, x: x.masked_fill(x > 0, n),
    "row of a matrix": lambda n, x: x[n.long()],
    "filled": lambda n, x: gw.full_like(x, 0).fill_(n),
    "in place": lambda n, x: x.clone().mul_(n),
    "moved into memory": lambda n, x: n.clone().copy_(x[1]),
    "into another tensor": lambda n, x: gw.add(n, x, out=gw.empty(0, device=x.device)),
    "a factory into another tensor": lambda n, x: gw.zeros(3, out=gw.empty(0, device=x.device)),
    "indices in memory": lambda n, x: x[gw.tensor([2, 0])],
}
REFUSED: dict[str, tuple[Program, str]] = {
    "stacked": (lambda n, x: gw.stack([n, x[0]]), r"tensors\[0\] on cpu, tensors\[1\] on cuda:0"),
    "in place on a number": (
        lambda n, x: n.clone().add_(x[0]), "input on cpu, other on cuda:0"),
    "in place on the CPU": (lambda n, x: gw.ones(3).add_(x[0]), "input on cpu, other on cuda:0"),
    "a number of the GPU": (lambda n, x: gw.ones(3) * x[0], "input on cpu, other on cuda:0"),
    "many of a number": (lambda n, x: n.expand(3) * x, "input on cpu, other on cuda:0"),
    "in a list": (
        lambda n, x: gw.stack([n, x[0]]), r"tensors\[0\] on cpu, tensors\[1\] on cuda:0"),
    "out": (lambda n, x: gw.add(x, x, out=gw.empty(3)), "the result on cuda:0, out on cpu"),
    "indices on the GPU": (
        lambda n, x: gw.ones(3)[x.long()], r"indices should be either on cpu or .*\(cpu\)"),
}


def forms(program: Program) -> tuple[Program, Program]:
    return program, gw.compile(program, backend="llvm")


@pytest.mark.parametrize("name", WITH_A_NUMBER)
def test_numbers_go_with_tensors_of_a_gpu(gpu: Any, name: str) -> None:
    number, x = gw.tensor(2.0), gw.arange(3.0)
    want = WITH_A_NUMBER[name](number, x)
    place = "cpu" if name == "moved into memory" else "cuda"
    for run in forms(WITH_A_NUMBER[name]):
        assert_same(run(number, x.cuda()), want, place)


@pytest.mark.parametrize("name", REFUSED)
def test_other_mixtures_are_refused(gpu: Any, name: str) -> None:
    program, text = REFUSED[name]
    for run in forms(program):
        with pytest.raises(RuntimeError, match=text):
            run(gw.tensor(2.0), gw.arange(3.0).cuda())


def test_a_gradient_goes_to_the_device_of_what_it_is_of(gpu: Any) -> None:
    x = gw.arange(3.0).cuda()
    for run in forms(lambda n, x: (n * x).sum()):
        for y in (x, x[1]):
            number = gw.tensor(2.0, requires_grad=True)
            run(number, y).backward()
            assert number.grad.device.type == "cpu" and number.grad.item() == y.sum().item()
    source = gw.arange(3.0, requires_grad=True)
    (gw.zeros(3).cuda().copy_(source) * x).sum().backward()
    assert source.grad.device.type == "cpu" and source.grad.tolist() == [0.0, 1.0, 2.0]
    there = x.clone().requires_grad_()
    gw.zeros(3).copy_(there).sum().backward()
    assert there.grad.device == x.device and there.grad.tolist() == [1.0] * 3


def test_gradients_of_several_devices_are_clipped_together(gpu: Any) -> None:
    params = [gw.ones(4, device=device).requires_grad_() for device in ("cuda:0", "cuda:1", "cpu")]
    for param in params:
        param.grad = param.detach() * 2
    norm = gw.nn.utils.clip_grad_norm_(params, 1.0)
    assert norm.device == params[0].device and norm.item() == pytest.approx(48**0.5)
    assert [p.grad.tolist() for p in params] == [pytest.approx([2 / 48**0.5] * 4)] * 3


def test_packed_sequences_move_with_their_data(gpu: Any) -> None:
    packed = gw.nn.utils.rnn.pack_sequence([gw.ones(1, 2), gw.ones(3, 2)], enforce_sorted=False)
    for there in (packed.cuda(), packed.to("cuda"), packed.to(device="cuda", dtype=gw.float64)):
        assert there.is_cuda and there.batch_sizes.device.type == "cpu"
        assert_same(there[2:], packed[2:])
    assert packed.cpu() is packed and not packed.cuda().cpu().is_cuda
