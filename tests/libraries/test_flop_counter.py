"""`utils.flop_counter`: operations by module and op; the figures of a forward are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.utils.flop_counter import FlopCounterMode


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.out = nn.Linear(4 * 16 * 16, 10)

    def forward(self, x: Any) -> Any:
        return self.out(self.up(gw.relu(self.conv(x))).flatten(1))


CONV, UP, OUT = 2 * 2 * 8 * 64 * 3 * 9, 2 * 2 * 8 * 64 * 4 * 4, 2 * 2 * 1024 * 10


def test_a_forward_counts_by_module_and_op() -> None:
    net, x = Net(), gw.randn(2, 3, 8, 8)
    with FlopCounterMode(display=False) as counter:
        net(x)
    assert counter.get_flop_counts() == {
        "Global": {"convolution": CONV + UP, "linear": OUT},
        "Net": {"convolution": CONV + UP, "linear": OUT},
        "Net.conv": {"convolution": CONV}, "Net.up": {"convolution": UP},
        "Net.out": {"linear": OUT},
    }
    assert counter.get_total_flops() == CONV + UP + OUT
    net(x)
    assert counter.get_total_flops() == CONV + UP + OUT     # nothing counts outside of it


def test_a_backward_counts_both_gradients() -> None:
    net, x = Net(), gw.randn(2, 3, 8, 8)
    with FlopCounterMode(display=False) as counter:
        net(x).sum().backward()
    # The first layer's input needs none.
    assert counter.get_total_flops() == 2 * CONV + 3 * UP + 3 * OUT
    assert net.conv.weight.grad is not None


@pytest.mark.parametrize(("run", "flops"), [
    (lambda: gw.ones(2, 3) @ gw.ones(3, 4), 2 * 2 * 3 * 4),
    (lambda: gw.bmm(gw.ones(5, 2, 3), gw.ones(5, 3, 4)), 5 * 2 * 2 * 3 * 4),
    (lambda: gw.addmm(gw.ones(4), gw.ones(2, 3), gw.ones(3, 4)), 2 * 2 * 3 * 4),
    (lambda: gw.einsum("ab,cb->ac", gw.ones(2, 3), gw.ones(4, 3)), 2 * 2 * 3 * 4),
    (lambda: nn.functional.scaled_dot_product_attention(*[gw.ones(2, 5, 4)] * 3),
     2 * 2 * 2 * 5 * 5 * 4),
    (lambda: nn.LSTM(3, 4)(gw.ones(5, 2, 3)), 2 * 5 * 2 * 16 * (3 + 4)),
    (lambda: gw.softmax(gw.ones(2, 3) + 1, -1), 0),
])
def test_ops(run: Any, flops: int) -> None:
    with FlopCounterMode(display=False) as counter:
        run()
    assert counter.get_total_flops() == flops


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), FlopCounterMode(depth=1):
        Net()(gw.ones(2, 3, 8, 8))
        raise ZeroDivisionError
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["Module", "FLOP", "%", "Total"], ["Global", f"{CONV + UP + OUT:,}", "100.00%"],
        ["Net", f"{CONV + UP + OUT:,}", "100.00%"]]
    assert (gw.ones(2) + 1).tolist() == [2.0, 2.0]
