"""More globals of random programs: frames that fail and hold what ends visibly, weak references.

It is a continuation of the text of `world_language`.
"""

import random  # noqa: F401
import weakref

import graphwright as gw


def ends_badly(log, n):
    kept = Mortal(log)  # noqa: F821
    if n % 2:
        raise Trouble(n)  # noqa: F821
    log.append(type(kept).__name__)
    return n


def ends_deeper(log, n, t):
    kept = [Mortal(log)]  # noqa: F821
    t = t * 2
    log.append(ends_badly(log, n))
    return t + len(kept)


class Named:
    """Can be referred to weakly, and has methods that `weakref` and `del` make visible."""

    def __init__(self, v):
        self.v = v

    def __repr__(self):
        return f"Named({self.v})"


WEAK = weakref.WeakValueDictionary()


def weakly(thing):
    WEAK["last"] = thing
    return weakref.ref(thing)


def of_each(t):
    return t.tanh().sum() * 2


class Turning(gw.nn.Module):
    """Made anew by programs: few parameters, of known values."""

    def __init__(self, n):
        super().__init__()
        self.weight = gw.nn.Parameter(gw.ones(4) * n)
        self.n = n

    def forward(self, t):
        return t * self.weight + self.n
