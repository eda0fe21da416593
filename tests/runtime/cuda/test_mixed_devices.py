"""Tensors of several devices in one call: refused with the arguments' names, but for numbers and
indices in main memory. Ops that need a kernel run on the CPU here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.runtime.cuda.host_kernels import host_kernels

import graphwright as gw
from graphwright.nn import functional as F

pytestmark = pytest.mark.usefixtures("gpu", "kernels")
Call = Callable[[Any, Any, Any], Any]


@pytest.fixture
def kernels() -> Iterator[None]:
    with host_kernels():
        yield


def tensors() -> tuple[Any, Any, Any]:
    """A matrix in main memory, on one GPU and on the other."""
    here = gw.arange(6.0).reshape(2, 3)
    return here, here.cuda(), here.cuda(1)


REFUSED: dict[str, tuple[Call, str]] = {
    "an operator": (lambda c, g, h: g + c, "add: .*input on cuda:0, other on cpu"),
    "the other way round": (lambda c, g, h: c + g, "add: .*input on cpu, other on cuda:0"),
    "two GPUs": (lambda c, g, h: g * h, "mul: .*input on cuda:0, other on cuda:1"),
    "by name": (lambda c, g, h: gw.add(other=g, input=c), "input on cpu, other on cuda:0"),
    "a number of the GPU": (lambda c, g, h: c + g[0, 0], "input on cpu, other on cuda:0"),
    "beside an option": (lambda c, g, h: gw.clamp(g, max=c), "clamp: .*max on cpu"),
    "a list": (lambda c, g, h: gw.cat([g, c]), r"tensors\[0\] on cuda:0, tensors\[1\] on cpu"),
    "a list by name": (lambda c, g, h: gw.cat(tensors=[c, g]), r"tensors\[0\] on cpu"),
    "numbers in a list": (lambda c, g, h: gw.stack([g[0, 0], c[0, 0]]), r"tensors\[1\] on cpu"),
    "lists of several tensors": (lambda c, g, h: gw._foreach_add([g], [c]), "other on cpu"),
    "in place": (lambda c, g, h: g.add_(c), "add_: .*input on cuda:0, other on cpu"),
    "in place on the CPU": (lambda c, g, h: c.mul_(g), "mul_: .*input on cpu, other on cuda:0"),
    "a number of the CPU in place": (lambda c, g, h: c[0, 0].add_(g[0, 0]), "input on cpu"),
    "out": (lambda c, g, h: gw.add(g, g, out=c), "add: .*the result on cuda:0, out on cpu"),
    "out on the GPU": (lambda c, g, h: gw.exp(c, out=g), "the result on cpu, out on cuda:0"),
    "out on the other": (lambda c, g, h: gw.mm(g, g.t(), out=h), "out on cuda:1"),
    "a tuple of outs": (lambda c, g, h: gw.max(g, 1, out=(c, c.long())), "out on cpu"),
    "an index on the other": (
        lambda c, g, h: g[h[0].cpu().long().cuda(1)],
        r"index: indices should be either on cpu or on the same device as the indexed tensor "
        r"\(cuda:0\), but indices\[0\] is on cuda:1"),
    "an index of the GPU": (lambda c, g, h: c[gw.tensor([0]).cuda()],
                            r"tensor \(cpu\), but indices\[0\] is on cuda:0"),
    "a mask of the GPU": (lambda c, g, h: c[g > 2], r"tensor \(cpu\), but indices\[0\]"),
    "written values": (lambda c, g, h: g.__setitem__(gw.tensor([0]), c[:1]),
                       "index_put_: .*input on cuda:0, values on cpu"),
    "an index op": (lambda c, g, h: g.index_select(0, gw.tensor([0])), "index on cpu"),
    "a condition": (lambda c, g, h: gw.where(c > 2, g, g), "where: .*condition on cpu"),
    "a weight": (lambda c, g, h: F.linear(g, g, c[0]), "weight on cuda:0, bias on cpu"),
    "a module": (lambda c, g, h: gw.nn.Linear(3, 2)(g), "input on cuda:0, weight on cpu"),
    "a loss": (lambda c, g, h: F.mse_loss(g, c), "mse_loss: .*target on cpu"),
    "an equation": (lambda c, g, h: gw.einsum("ij,ij->", g, c), r"operands\[1\] on cpu"),
    "a question": (lambda c, g, h: gw.equal(g, c), "equal: .*other on cpu"),
    "a gradient": (lambda c, g, h: g.requires_grad_().sin().backward(c),
                   "invalid gradient at index 0 - expected device cuda:0 but got cpu"),
    "a gradient that is set": (lambda c, g, h: setattr(c, "grad", g),
                               "a gradient with device 'cuda:0' to a tensor with device 'cpu'"),
    "memory": (lambda c, g, h: gw.empty(0).set_(g), "to a storage on different device \"cuda:0\""),
    "no memory": (lambda c, g, h: g + c.to("meta"), "input on cuda:0, other on meta"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, text = REFUSED[name]
    with pytest.raises(RuntimeError, match=text):
        call(*tensors())


ALLOWED: dict[str, Call] = {
    "a number": lambda c, g, h: g + c[1, 1],
    "a number first": lambda c, g, h: c[1, 1] - g,
    "a number in place": lambda c, g, h: g.clone().mul_(c[1, 1]),
    "numbers as options": lambda c, g, h: gw.where(g > 2, g, c[1, 1]),
    "a filling": lambda c, g, h: g.masked_fill(g > 2, c[1, 1]),
    "a weight of a lerp": lambda c, g, h: gw.lerp(g, g + 1, c[0, 1]),
    "an index": lambda c, g, h: g[gw.tensor([1, 0])],
    "an index beside another": lambda c, g, h: g[gw.tensor([1, 0]), gw.tensor([1, 0]).cuda()],
    "a mask": lambda c, g, h: g[c > 2],
    "an array": lambda c, g, h: g[np.array([1, 0])],
    "a number as an index": lambda c, g, h: c[gw.tensor(1).cuda()],
    "written rows": lambda c, g, h: g.clone().index_put_((gw.tensor([0]),), g[1]),
    "a written number": lambda c, g, h: g.clone().index_put((gw.tensor([0]),), c[1, 1]),
    "a copy": lambda c, g, h: g.clone().copy_(c + 1),
}




@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_allowed(name: str) -> None:
    call = ALLOWED[name]
    here, there, other = tensors()
    found = call(here, there, other)
    with pytest.MonkeyPatch.context() as patch:     # the same on the CPU alone
        patch.setattr(gw.Tensor, "cuda", lambda self, device=None: self)
        expected = call(here, here, here)
    assert found.is_cuda == (name != "a number as an index")
    assert gw.equal(found.cpu(), expected)


def test_slices_are_copied_to() -> None:
    here, there, _ = tensors()
    there[0] = here[1]
    here[0] = there[1]
    assert here[0].tolist() == there[0].tolist() == [3.0, 4.0, 5.0]


def test_gradients_of_what_is_elsewhere_go_there() -> None:
    number = gw.tensor(3.0, requires_grad=True)
    there = gw.ones(2, 3, device="cuda:1", requires_grad=True)
    (there * number).sum().backward()
    assert number.grad.is_cpu and number.grad.item() == 6.0
    assert there.grad.device == there.device and there.grad.tolist() == [[3.0] * 3] * 2
    source = gw.ones(3, requires_grad=True)
    target = gw.zeros(2, 3, device="cuda")
    target[0] = source
    target.sum().backward()
    assert source.grad.is_cpu and source.grad.tolist() == [1.0] * 3
