"""One example for each code of the registry: a program that has it, and the same without.

Tests run them, compiled and plainly; `docs/graph_breaks.md` shows them. Nothing else imports this.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime.record import Record, field


class Example(Record):
    """before, after: sources that define `f`. calls, calls_after: statements that call `f`.

    calls_after: empty where they are those of before. options: of `gw.compile`, for both sources;
    options_after: for the second, where they differ.
    """

    before: str
    after: str
    calls: tuple[str, ...] = ("f(gw.ones(3))",)
    calls_after: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    options_after: dict[str, Any] = field(default_factory=dict)


TWICE = ("f(gw.ones(3))", "f(gw.ones(3))")
EXAMPLES: dict[str, Example] = {
    "GB0001": Example(
        """
def f(x):
    if x.sum() > 0:
        return x + 1
    return x - 1
""",
        """
def f(x):
    return gw.where(x.sum() > 0, x + 1, x - 1)
""",
    ),
    "GB0002": Example(
        """
def f(x, count):
    return x[: count.item()].sum()
""",
        """
def f(x, count):
    return gw.where(gw.arange(3) < count, x, 0).sum()
""",
        calls=("f(gw.ones(3), gw.tensor(2))",),
    ),
    "GB0003": Example(
        """
def f(x):
    y = x * 2
    print("doubled", end="")
    return y + 1
""",
        """
def f(x):
    return x * 2 + 1
""",
        calls_after=('print("doubling", end="")', "f(gw.ones(3))"),
    ),
    "GB0004": Example(
        """
import zlib

def f(x, name):
    return x * zlib.crc32(name)
""",
        """
import zlib

def f(x, seed):
    return x * seed
""",
        calls=('f(gw.ones(3), b"key")',),
        calls_after=('f(gw.ones(3), zlib.crc32(b"key"))',),
    ),
    "GB0005": Example(
        """
import sys
sys.modules.pop("colorsys", None)

def f(x):
    y = x * 2
    import colorsys
    return y + colorsys.ONE_THIRD
""",
        """
import colorsys

def f(x):
    return x * 2 + colorsys.ONE_THIRD
""",
    ),
    "GB0006": Example(
        """
def f(x):
    y = x * 2
    if y.ndim != 2:
        raise ValueError("a matrix is needed")
    return y.sum(1)
""",
        """
def f(x):
    y = x * 2
    if y.ndim != 2:
        raise ValueError("a matrix is needed")
    return y.sum(1)
""",
        calls_after=("f(gw.ones(3, 1))",),
    ),
    "GB0007": Example(
        """
def f(x):
    y = x * 2
    return y.reshape(7)
""",
        """
def f(x):
    y = x * 2
    return y.reshape(3, 1)
""",
    ),
    "GB0008": Example(
        """
import array
SCALES = array.array("d", [0.5, 2.0])

def f(x):
    y = x + 1
    return y * SCALES[0]
""",
        """
SCALES = [0.5, 2.0]

def f(x):
    y = x + 1
    return y * SCALES[0]
""",
    ),
    "GB0009": Example(
        """
@gw.compiler.disable
def scale(x):
    return x * 2

def f(x):
    return scale(x + 1)
""",
        """
def scale(x):
    return x * 2

def f(x):
    return scale(x + 1)
""",
    ),
    "GB0010": Example(
        """
import operator

class Settings:
    factor = 2
    scale = property(operator.attrgetter("factor"))

SETTINGS = Settings()

def f(x):
    y = x + 1
    return y * SETTINGS.scale
""",
        """
class Settings:
    factor = 2

    @property
    def scale(self):
        return self.factor

SETTINGS = Settings()

def f(x):
    y = x + 1
    return y * SETTINGS.scale
""",
    ),
    "GB0011": Example(
        """
def power(x, n):
    return x if n == 0 else x * power(x, n - 1)

def f(x):
    return power(x, 100)
""",
        """
def f(x):
    result = x
    for _ in range(100):
        result = x * result
    return result
""",
    ),
    "GB0013": Example(
        """
def f(x):
    async def later():
        return x

    y = x * 2
    later().close()
    return y
""",
        """
def f(x):
    return x * 2
""",
    ),
    "GB0014": Example(
        """
from graphwright.runtime import _core

class Labelled(gw.Tensor):
    label = "mine"

def f(x, y):
    z = x * 2
    return z + y
""",
        """
def f(x, y):
    z = x * 2
    return z + y
""",
        calls=("f(gw.ones(3), _core.detach(Labelled, gw.ones(3)))",),
        calls_after=("f(gw.ones(3), gw.ones(3))",),
    ),
    "GB0015": Example(
        """
def f(x):
    parts = [x + 1]
    parts.append(parts)
    return parts
""",
        """
def f(x):
    return [x + 1]
""",
    ),
    "GB0016": Example(
        """
def f(x):
    y = x + 1
    names = dir()
    return y * len(names)
""",
        """
def f(x):
    y = x + 1
    names = ["x", "y"]
    return y * len(names)
""",
    ),
    "GB0017": Example(
        """
def f(x, numbers):
    for number in numbers:
        x = x + number
    return x
""",
        """
def f(x, numbers):
    for number in numbers:
        x = x + number
    return x
""",
        calls=("f(gw.ones(3), memoryview(bytes([1, 2, 3])))",),
        calls_after=("f(gw.ones(3), [1, 2, 3])",),
    ),
    "GB0018": Example(
        """
def f(x):
    total = 0
    for number in range(90_000):
        total = total + number % 7
    return x + total
""",
        """
def f(x, total):
    return x + total
""",
        calls_after=("f(gw.ones(3), sum(number % 7 for number in range(90_000)))",),
    ),
    "GB0019": Example(
        """
import time

DEADLINE = float("inf")

def f(x):
    if time.monotonic() < DEADLINE:
        x = x * 2
    return x + 1
""",
        """
def f(x, in_time):
    if in_time:
        x = x * 2
    return x + 1
""",
        calls_after=("f(gw.ones(3), True)",),
    ),
    "GB0020": Example(
        """
def f(w):
    y = w * 2
    shown = y.detach()
    shown.add_(w)
    return shown
""",
        """
def f(w):
    y = w * 2
    return y.detach() + w
""",
        calls=("f(gw.ones(3, requires_grad=True))",),
        options={"backend": "llvm"},
    ),
    "GB0023": Example(
        """
def f(x):
    scale = gw.nn.Parameter(gw.ones(3))
    return x * scale
""",
        """
scale = gw.nn.Parameter(gw.ones(3))

def f(x):
    return x * scale
""",
        calls=("f(gw.ones(3))",),
    ),
    "GB0024": Example(
        """
from graphwright.utils.checkpoint import checkpoint

layer = gw.nn.Sequential(gw.nn.GELU(), gw.nn.BatchNorm1d(3))

def f(x):
    return checkpoint(layer, x, use_reentrant=False)
""",
        """
from graphwright.utils.checkpoint import checkpoint

layer = gw.nn.Sequential(gw.nn.GELU(), gw.nn.BatchNorm1d(3))

def f(x):
    return layer[1](checkpoint(layer[0], x, use_reentrant=False))
""",
        calls=("f(gw.arange(6.0).reshape(2, 3))",),
    ),
    "GB0025": Example(
        """
def f(x):
    y = x * 2
    x.t_()
    return x + y.t()
""",
        """
def f(x):
    y = x * 2
    return x.t() + y.t()
""",
        calls=("f(gw.ones(2, 3))",),
    ),
    "GB0026": Example(
        """
SEEN = []

def f(x):
    def double(y):
        SEEN.append("large")
        return y * 2

    return gw.cond(x.sum() > 0, double, lambda y: y + 1, (x,))
""",
        """
def f(x):
    return gw.cond(x.sum() > 0, lambda y: y * 2, lambda y: y + 1, (x,))
""",
        calls=("f(gw.ones(3))", "f(-gw.ones(3))"),
    ),
    "GB0027": Example(
        """
LAYER = gw.nn.Tanh()
LAYER.register_full_backward_hook(lambda module, inputs, outputs: None)

def f(x):
    y = LAYER(x).sum()
    y.backward()
    return y * 2
""",
        """
LAYER = gw.nn.Tanh()
LAYER.register_full_backward_hook(lambda module, inputs, outputs: None)

def f(x):
    return LAYER(x).sum() * 2
""",
        calls=("f(gw.ones(2, 3, requires_grad=True))",),
        calls_after=("f(gw.ones(2, 3, requires_grad=True)).backward()",),
    ),
    "GB0100": Example(
        """
def f(x, name):
    return x + len(name)
""",
        """
def f(x, length):
    return x + length
""",
        calls=tuple(f'f(gw.ones(3), "{"a" * n}")' for n in range(2, 6)),
        calls_after=tuple(f"f(gw.ones(3), {n})" for n in range(2, 6)),
        options={"options": {"recompile_limit": 2}},
        options_after={"dynamic": True},
    ),
    "GB0101": Example(
        """
def f(x):
    return x * 2
""",
        """
def f(x):
    return x * 2
""",
        calls=("f(gw.ones(3))", "f(gw.ones(4))"),
        options_after={"dynamic": True},
    ),
    "GB0102": Example(
        """
def f(x):
    return x * 2
""",
        """
def f(x):
    return x.float() * 2
""",
        calls=("f(gw.ones(3))", "f(gw.ones(3).double())"),
        calls_after=("f(gw.ones(3))", "f(gw.ones(3).double().float())"),
    ),
    "GB0103": Example(
        """
def f(x, double):
    return x * 2 if double else x
""",
        """
def f(x, double):
    return gw.where(double, x * 2, x)
""",
        calls=("f(gw.ones(3), True)", "f(gw.ones(3), False)"),
        calls_after=("f(gw.ones(3), gw.tensor(True))", "f(gw.ones(3), gw.tensor(False))"),
    ),
    "GB0104": Example(
        """
def f(parts):
    return parts[0] + parts[1]
""",
        """
def f(parts):
    return parts[0] + parts[1]
""",
        calls=("f([gw.ones(3), gw.ones(3)])", "f((gw.ones(3), gw.ones(3)))"),
        calls_after=("f([gw.ones(3), gw.ones(3)])", "f([gw.zeros(3), gw.ones(3)])"),
    ),
    "GB0105": Example(
        """
def f(x, activation):
    return activation(x * 2)
""",
        """
def f(x, activation):
    return activation(x * 2)
""",
        calls=("f(gw.ones(3), gw.relu)", "f(gw.ones(3), gw.tanh)"),
        calls_after=("f(gw.ones(3), gw.relu)", "f(gw.zeros(3), gw.relu)"),
    ),
    "GB0106": Example(
        """
def f(parts):
    return sum(part * 2 for part in parts)
""",
        """
def f(parts):
    return (parts * 2).sum(0)
""",
        calls=("f([gw.ones(3)])", "f([gw.ones(3), gw.ones(3)])"),
        calls_after=("f(gw.ones(3, 3))", "f(gw.ones(2, 3))"),
        options_after={"dynamic": True},
    ),
    "GB0107": Example(
        """
class Settings:
    pass

SETTINGS = Settings()

def f(x):
    return x * getattr(SETTINGS, "scale", 1)
""",
        """
class Settings:
    pass

SETTINGS = Settings()
SETTINGS.scale = 2

def f(x):
    return x * getattr(SETTINGS, "scale", 1)
""",
        calls=("f(gw.ones(3))", "SETTINGS.scale = 2", "f(gw.ones(3))"),
        calls_after=("f(gw.ones(3))", "f(gw.ones(3))"),
    ),
    "GB0108": Example(
        """
X, Y = gw.ones(3), gw.ones(3)

def f(x, y):
    return x + y
""",
        """
X, Y = gw.ones(3), gw.ones(3)

def f(x, y):
    return x + y
""",
        calls=("f(X, X)", "f(X, Y)"),
        calls_after=("f(X, Y)", "f(Y, X)"),
    ),
    "GB0109": Example(
        """
def f(x):
    return x * 2
""",
        """
def f(x):
    return x * 2
""",
        calls=("f(gw.ones(3))", "with gw.no_grad(): f(gw.ones(3))"),
        calls_after=TWICE,
    ),
}
INJECTED = frozenset({"GB0021", "GB0022"})
"""Codes that no known program has; tests make them happen."""
