"""More globals of random programs: settings, tables of functions, closures, an optimiser.

It is a continuation of the text of `world_models`. Between two calls some of them change.
"""

import math  # noqa: F401
import types

import graphwright as gw


def noting(log):
    def hook(module, inputs, output):
        log.append(tuple(output.shape))

    return hook


def turned(factor):
    """A function whose factor can be changed from outside."""
    def scaled(t):
        return t * factor

    def turn(value):
        nonlocal factor
        factor = value

    scaled.turn = turn
    return scaled


def configured(t, *, by=1, shift=0.0, name="plain"):
    return t * by + shift if name == "plain" else t - by


def hidden(t, state):
    """Reads a table of tensors and leaves one there."""
    before = state.get("hidden")
    state["hidden"] = t.detach()
    return t if before is None else t + before


class Squared(gw.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * t

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


def swapped(t):
    return t - 1


SETTINGS = types.SimpleNamespace()
CONFIG = {}
TABLE = {}
OPTIMIZERS = []
scaled = turned(1)
chosen = swapped


def settle(variant, net):
    """Everything as it is at the beginning of a call of a variant."""
    global scaled, chosen
    vars(SETTINGS).clear()
    vars(SETTINGS).update(
        factor=1 + variant % 3, rate=0.5, activation=("relu", "gelu")[variant % 2], notes=["new"],
    )
    CONFIG.clear()
    CONFIG.update(most=2.0 + variant // 4, options={"by": variant % 4, "shift": 0.5})
    if variant % 5 == 4:
        CONFIG["options"]["name"] = "other"
    TABLE.clear()
    TABLE.update({"mean": gw.mean, "sum": gw.sum, "none": gw.amax})
    scaled.turn(variant % 4)
    if variant % 7 == 6:
        scaled = turned(5)
    chosen = (swapped, Obj.twice, decorated)[variant // 3 % 3]  # noqa: F821
    OPTIMIZERS[:] = [gw.optim.SGD(net.parameters(), lr=0.5, momentum=0.5 * (variant % 2))]
